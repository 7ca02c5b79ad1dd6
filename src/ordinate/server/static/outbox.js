// Answers on their way to the server. Each is kept in the browser, under a name of its own, until the server has
// acknowledged or refused it. The name is also its idempotency key: sent twice, by two tabs even, it is one answer.

import { NoNetwork, Refused } from "./api.js";
import { browser, unique } from "./kept.js";

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15_000;

export class Outbox {
  #api;
  #start;
  #on;
  #sending = null;
  #pause = FIRST_PAUSE;
  #timer;

  // on: {accepted(entry, response), refused(entry, error), stopped(error), changed()}
  constructor(api, owner, on) {
    this.#api = api;
    this.#start = `answer:${owner}:`;
    this.#on = on;
    this.trouble = null; // null, or the NoNetwork or Refused that keeps answers waiting
    addEventListener("online", () => this.flush());
    addEventListener("offline", () => {
      this.trouble ??= new NoNetwork("the browser is offline");
      this.#on.changed();
    });
  }

  // Oldest first; those of other tabs and of earlier visits, too.
  get entries() {
    return browser
      .names(this.#start)
      .map((name) => browser.get(name))
      .filter((entry) => entry !== undefined)
      .sort((one, other) => one.at - other.at);
  }

  has(query) {
    return this.entries.some((entry) => entry.body.query === query);
  }

  add(body) {
    const key = unique();
    const at = Math.max(Date.now(), (this.entries.at(-1)?.at ?? 0) + 1);
    browser.set(this.#start + key, { key, at, body, tried: false });
    this.#on.changed();
    this.flush();
  }

  // Take the newest answer back if it has certainly not been sent. Returns its query.
  takeBack() {
    const newest = this.entries.at(-1);
    if (newest === undefined || newest.tried) return undefined;
    this.#drop(newest);
    this.#on.changed();
    return newest.body.query;
  }

  // Send what waits, one after the other. Resolves when nothing waits or nothing can be sent just now.
  flush() {
    clearTimeout(this.#timer);
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #sendAll() {
    let entry;
    while ((entry = this.entries[0]) !== undefined) {
      if (navigator.onLine === false && !entry.tried) {
        this.#wait(new NoNetwork("the browser is offline"));
        return;
      }
      browser.set(this.#start + entry.key, { ...entry, tried: true });
      let response;
      try {
        response = await this.#api.post("/answers", this.#on.dress(entry.body), { "Idempotency-Key": entry.key });
      } catch (error) {
        if (error instanceof NoNetwork || error.passing) {
          this.#wait(error);
          return;
        }
        if (!(error instanceof Refused)) throw error;
        if (error.status === 401 || error.status === 403) {
          this.trouble = error;
          this.#on.changed();
          this.#on.stopped(error);
          return;
        }
        this.#drop(entry);
        this.#clear();
        this.#on.refused(entry, error);
        continue;
      }
      this.#drop(entry);
      this.#clear();
      this.#on.accepted(entry, response);
    }
    this.#clear();
  }

  #wait(error) {
    this.trouble = error;
    this.#timer = setTimeout(() => this.flush(), error.retryAfter ? error.retryAfter * 1000 : this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    this.#on.changed();
  }

  #clear() {
    this.trouble = null;
    this.#pause = FIRST_PAUSE;
    this.#on.changed();
  }

  #drop(entry) {
    browser.remove(this.#start + entry.key);
  }
}
