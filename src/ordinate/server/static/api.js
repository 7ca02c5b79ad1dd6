// Requests to the server. A refusal is a Refused with the server's own words; no answer at all is a NoNetwork.

export class Refused extends Error {
  constructor(status, detail, retryAfter) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  // The server is busy, restarting or failing: the same request may succeed later.
  get passing() {
    return this.status === 429 || this.status >= 500;
  }
}

export class NoNetwork extends Error {}

const PATIENCE = 75_000; // a busy server may take its time

export function connect({ study, csrf }) {
  const start = `/api/v1/studies/${encodeURIComponent(study)}`;

  // Returns the JSON body, with `serverTime` in milliseconds: clocks of phones are often wrong.
  async function send(method, path, body, headers = {}) {
    let response;
    try {
      response = await fetch(start + path, {
        method,
        headers: { Accept: "application/json", "Content-Type": "application/json", "X-CSRF-Token": csrf, ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials: "same-origin",
        keepalive: method === "POST",
        signal: AbortSignal.timeout?.(PATIENCE),
      });
    } catch (error) {
      throw new NoNetwork(error.message);
    }
    let content;
    try {
      content = await response.json();
    } catch (error) {
      if (response.ok) throw new NoNetwork(error.message);
      content = {};
    }
    if (!response.ok) {
      const after = Number(response.headers.get("Retry-After")) || undefined;
      throw new Refused(response.status, content.detail ?? `the server answered ${response.status}`, after);
    }
    const clock = Date.parse(response.headers.get("Date") ?? "");
    return Object.assign(content, { serverTime: Number.isNaN(clock) ? Date.now() : clock });
  }

  return {
    get: (path) => send("GET", path),
    post: (path, body, headers) => send("POST", path, body, headers),
    patch: (path, body) => send("PATCH", path, body),
    address: (path) => start + path,
  };
}
