// Requests to the server, and what it gives. A refusal is a Refused with the server's own words; no answer is a NoNetwork.

/**
 * An item as a browser gets to see it.
 * @typedef {object} Item
 * @property {string} id
 * @property {string | null} [text]
 * @property {string | null} [text_html] where the text is Markdown
 * @property {string | null} [image_url]
 * @property {string | null} [thumbnail_url]
 * @property {string | null} [audio_url]
 * @property {string | null} [video_url]
 * @property {string | null} [html_url]
 * @property {string | null} [link]
 */

/**
 * A pair that this annotator was given.
 * @typedef {object} Query
 * @property {string} id
 * @property {Item} left
 * @property {Item} right
 * @property {string | null} [expires_at]
 * @property {boolean} [practice] whether its answer never counts
 * @property {string | null} [expected] the right answer of a practice pair, if one is known
 */

/** The answers that the judging page gives; the API takes "both-bad", too.
 * @typedef {"left" | "right" | "tie" | "skip" | "left-much" | "left-slightly" | "right-slightly" | "right-much"} Answer */
/** @typedef {"budget" | "total-budget" | "exhausted"} Finished */
/** @typedef {{serverTime: number}} Timed what the server said, and when: in milliseconds, by its clock */
/** @typedef {{queries: Query[], finished: Finished | null, paused: boolean, over: boolean, held: boolean, retry_after?: number | null, question_html: string} & Timed} Queries */
/** @typedef {{your_answers: number, answers: number}} Counts */
/** @typedef {Counts & {next: Query[], finished: Finished | null, paused: boolean, question_html: string} & Timed} Accepted */
/** @typedef {Counts & {query: Query, was: string} & Timed} Undone */

/** @typedef {{target: number, more_answers: number | null, more_answers_low: number | null, more_answers_high: number | null, seconds: number | null, withheld: string | null}} Forecast */

/**
 * Where the study stands.
 * @typedef {object} Status
 * @property {number} items
 * @property {number} answers those that count
 * @property {string} basis what results follow from: as long as it is the same, so is the ordering
 * @property {number} open
 * @property {number | null} goal
 * @property {number | null} [last_hour] for owners and viewers: answers within the last hour
 * @property {number | null} expected_error if people answered sensibly; null: withheld, or not known yet
 * @property {string | null} [withheld] why it is not to be believed
 * @property {boolean | null} better_than_coins null: there are no random pairs to tell by
 * @property {[number, number][]} error_history
 * @property {Forecast | null} forecast
 * @property {{name: string | null, answers: number, skips: number, budget: number | null}} your
 * @property {boolean} ties_allowed
 * @property {"running" | "paused" | "over" | "finished"} state
 * @property {string} state_in_words
 * @property {boolean} paused
 * @property {Finished | null} finished
 * @property {string | null} [deadline] when no more pairs are given out
 * @property {boolean} [over] whether that has passed
 * @property {number | null} [answers_by_deadline] at the pace of the last day
 * @property {string | null} problem for owners and viewers: why answers cannot be stored at the moment
 */

/** @typedef {ReturnType<typeof connect>} Api */

export class Refused extends Error {
  /** @param {number} status @param {string} detail @param {number} [retryAfter] in seconds @param {string} [type] of the problem */
  constructor(status, detail, retryAfter, type) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
    this.type = type;
  }

  // Whoever has this page may not go on with it. That a pair is somebody else's, as after the study was put back to an
  // earlier state, is about this pair alone.
  get final() {
    return this.status === 401 || (this.status === 403 && this.type !== "urn:ordinate:NotYourQuery");
  }

  // The owner wants no more answers of this annotator.
  get leftOut() {
    return this.type === "urn:ordinate:AnnotatorExcluded";
  }

  // Another link was opened in this browser, so that the session of this page is gone.
  get otherSession() {
    return this.type === "urn:ordinate:OtherSession";
  }

  // The server is busy, restarting or failing: the same request may succeed later.
  get temporary() {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }

  // The study itself refuses this very request, and would again. All else is said by a server that does not serve the
  // study at the moment, or by a proxy before it.
  get settled() {
    return !this.temporary && (this.type ?? "").startsWith("urn:ordinate:");
  }
}

export class NoNetwork extends Error {}

/**
 * Whether the same request may succeed later, by this page.
 * @param {unknown} error
 * @returns {error is NoNetwork | Refused}
 */
export const isTemporary = (error) => error instanceof NoNetwork || (error instanceof Refused && !error.final && !error.settled);

const TIMEOUT = 75_000; // a busy server may take its time
// The scripts are in /static/ of the server, so this also holds where a proxy puts the server behind a prefix.
export const root = new URL("..", import.meta.url);

/** Requests about one study. @param {{study: string, csrf: string}} page */
export const connect = ({ study, csrf }) => connectAt(`studies/${encodeURIComponent(study)}`, csrf);

/** @param {string} place the part of the API @param {string} csrf */
export function connectAt(place, csrf) {
  const start = new URL(`api/v1/${place}`, root).href;

  /**
   * Returns the JSON body, with `serverTime`: clocks of phones are often wrong.
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body] what becomes JSON, or a Blob that is sent as it is
   * @param {Record<string, string>} [headers]
   * @param {number} [timeout] in milliseconds; 0: none
   */
  async function send(method, path, body, headers = {}, timeout = TIMEOUT) {
    const raw = body instanceof Blob;
    const sent = body === undefined || raw ? body : JSON.stringify(body);
    let response;
    try {
      response = await fetch(start + path, {
        method,
        headers: { Accept: "application/json", "Content-Type": raw ? "application/octet-stream" : "application/json", "X-CSRF-Token": csrf, ...headers },
        body: sent,
        credentials: "same-origin",
        // It arrives although the page closes meanwhile; browsers refuse to send more than 64 KiB in this way.
        keepalive: method === "POST" && timeout > 0 && String(sent).length < 10_000,
        signal: timeout ? AbortSignal.timeout?.(timeout) : undefined,
      });
    } catch (error) {
      throw new NoNetwork(messageOf(error));
    }
    let content;
    try {
      content = await response.json();
    } catch (error) {
      if (response.ok) throw new NoNetwork(messageOf(error));
      content = {};
    }
    if (!response.ok) {
      const after = Number(response.headers.get("Retry-After")) || undefined;
      throw new Refused(response.status, content.detail ?? `the server answered ${response.status}`, after, content.type);
    }
    const clock = Date.parse(response.headers.get("Date") ?? "");
    return Object.assign(content, { serverTime: Number.isNaN(clock) ? Date.now() : clock });
  }

  return {
    /** The address of a part, for pictures. @param {string} path */
    address: (path) => start + path,
    /** @param {string} path */
    get: (path) => send("GET", path),
    /** @param {string} path @param {unknown} [body] @param {Record<string, string>} [headers] */
    post: (path, body, headers) => send("POST", path, body, headers),
    /** For what may take an hour. @param {string} path @param {unknown} body */
    postSlowly: (path, body) => send("POST", path, body, {}, 0),
    /** @param {string} path @param {Blob} body */
    put: (path, body) => send("PUT", path, body, {}, 0),
    /** @param {string} path @param {unknown} body */
    patch: (path, body) => send("PATCH", path, body),
    /** @param {string} path */
    remove: (path) => send("DELETE", path),
  };
}

/** @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));
