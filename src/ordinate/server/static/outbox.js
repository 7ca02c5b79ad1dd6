// Answers, and undos of answers, on their way to the server. Each is kept in the browser until the server has
// acknowledged or refused it. An answer's key is its idempotency key, and an undo names the answer by that key: sent
// twice, even by two tabs, each is done once.

import { isTemporary, NoNetwork, Refused } from "./api.js";
import { unique } from "./storage.js";

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15_000;

/**
 * What the page says of an answer.
 * @typedef {{query: string, answer: import("./api.js").Answer, reason?: string, shown_at?: string, answered_at?: string,
 *   duration_ms?: number, client?: string}} Told
 */
/** @typedef {{key: string, at: number, sent: boolean, body: Told, items?: string, undo?: undefined}} AnswerEntry `items`: of the pair */
/** @typedef {{key: string, at: number, sent: boolean, body: Told, items?: undefined, undo: string}} UndoEntry `undo`: the key of the answer */
/** @typedef {AnswerEntry | UndoEntry} Entry */
/**
 * @typedef {object} Listener
 * @property {(body: Told) => object} prepare what to send of an answer
 * @property {(entry: Entry, response: any) => void} accepted
 * @property {(entry: AnswerEntry, error: Refused) => void} refused
 * @property {(error: Refused) => void} stopped the link does not count any more
 * @property {() => void} changed
 */

export class Outbox {
  #api;
  #kept;
  #start;
  #listener;
  /** @type {Promise<void> | null} */
  #sending = null;
  #pause = FIRST_PAUSE;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {NoNetwork | Refused | null} what keeps answers waiting */
  trouble = null;

  /**
   * @param {Pick<import("./api.js").Api, "post">} api
   * @param {import("./storage.js").Kept} kept
   * @param {string} owner whose answers they are: those of others in this browser stay where they are
   * @param {Listener} listener
   */
  constructor(api, kept, owner, listener) {
    this.#api = api;
    this.#kept = kept;
    this.#start = `answer:${owner}:`;
    this.#listener = listener;
    addEventListener("online", () => this.flush());
    addEventListener("offline", () => {
      this.trouble ??= new NoNetwork("the browser is offline");
      this.#listener.changed();
    });
  }

  /** Oldest first; those of other tabs and of earlier visits, too. @returns {Entry[]} */
  get entries() {
    return this.#kept
      .names(this.#start)
      .filter((name) => !name.includes(":", this.#start.length)) // that is somebody's whose name only begins like this one's
      .map((name) => this.#kept.get(name))
      .filter((entry) => entry !== undefined)
      .sort((one, other) => one.at - other.at);
  }

  // How many answers will be added to those that the server has.
  get pending() {
    return this.entries.reduce((sum, { body, undo }) => sum + (body.answer === "skip" ? 0 : undo ? -1 : 1), 0);
  }

  /** Whether an answer to a query waits, or to another one of the same items. @param {string} query @param {string} [items] */
  has(query, items) {
    return this.entries.some((entry) => entry.body.query === query || (items !== undefined && entry.items === items));
  }

  /** Returns the key of the answer. @param {Told} body @param {string} [items] of the pair */
  add(body, items) {
    return this.#append({ body, items });
  }

  /**
   * Take an answer back: one that was certainly not sent is forgotten, for any other an undo is sent after it.
   * @param {string} key
   * @param {Told} body
   */
  takeBack(key, body) {
    const waiting = this.entries.find((entry) => entry.key === key);
    if (waiting && !waiting.sent) {
      this.#drop(waiting);
      this.#listener.changed();
    } else this.#append({ body, undo: key });
  }

  // Send what waits, one after the other. Resolves when nothing waits or nothing can be sent just now.
  flush() {
    clearTimeout(this.#timer);
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  /** @param {{body: Told, items?: string, undo?: string}} what */
  #append(what) {
    const key = unique();
    const at = Math.max(Date.now(), (this.entries.at(-1)?.at ?? 0) + 1);
    this.#kept.set(this.#start + key, { key, at, sent: false, ...what });
    this.#listener.changed();
    this.flush();
    return key;
  }

  async #sendAll() {
    let entry;
    while ((entry = this.entries[0]) !== undefined) {
      if (navigator.onLine === false && !entry.sent) {
        this.#wait(new NoNetwork("the browser is offline"));
        return;
      }
      this.#kept.set(this.#start + entry.key, { ...entry, sent: true });
      let response;
      try {
        response = await this.#send(entry);
      } catch (error) {
        if (isTemporary(error)) {
          this.#wait(error);
          return;
        }
        if (!(error instanceof Refused)) throw error;
        if (error.final) {
          this.trouble = error;
          this.#listener.changed();
          this.#listener.stopped(error);
          return;
        }
        this.#drop(entry);
        this.#clear();
        // An undo is refused where the answer was refused, or where it was taken back already.
        if (entry.undo === undefined) this.#listener.refused(entry, error);
        continue;
      }
      this.#drop(entry);
      this.#clear();
      this.#listener.accepted(entry, response);
    }
    this.#clear();
  }

  /** @param {Entry} entry */
  #send(entry) {
    if (entry.undo !== undefined) return this.#api.post("/undo", { key: entry.undo });
    return this.#api.post("/answers", this.#listener.prepare(entry.body), { "Idempotency-Key": entry.key });
  }

  /** @param {NoNetwork | Refused} error */
  #wait(error) {
    this.trouble = error;
    const after = error instanceof Refused && error.retryAfter;
    this.#timer = setTimeout(() => this.flush(), after ? after * 1000 : this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    this.#listener.changed();
  }

  #clear() {
    this.trouble = null;
    this.#pause = FIRST_PAUSE;
    this.#listener.changed();
  }

  /** @param {Entry} entry */
  #drop(entry) {
    this.#kept.remove(this.#start + entry.key);
  }
}
