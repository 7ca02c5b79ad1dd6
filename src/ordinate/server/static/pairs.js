// The pairs that this tab holds: one on the screen, some ahead that are loaded already.

import { tab, unique } from "./storage.js";

/** @typedef {import("./api.js").Query} Query */
/**
 * A pair and until when it is this annotator's, on this device's clock.
 * @template {{id: string}} Content
 * @typedef {Content & {items: string, span: number, until: number, renewing?: boolean}} Leased
 */

// How many pairs a tab holds: enough to judge on through a short loss of the network, few enough that the newest
// answers decide what is asked.
export const HELD = 5;
const MOST = 20; // of one request

/** @template {{id: string}} Content */
export class Pairs {
  #make;
  #kept;
  /** @type {Set<string>} */
  #answered = new Set();
  /** @type {Leased<Content> | null} */
  current = null;
  /** @type {Leased<Content>[]} */
  ahead = [];

  /** @param {(query: Query) => Content} make loads what the query shows @param {string} owner whose pairs they are, in which study */
  constructor(make, owner) {
    this.#make = make;
    this.#kept = `current:${owner}`;
  }

  get held() {
    return this.ahead.length + (this.current === null ? 0 : 1);
  }

  /**
   * How many to ask the server for; answers on their way still count as open there.
   * @param {number} waiting
   */
  wanted(waiting, held = HELD) {
    return Math.min(held + waiting, MOST);
  }

  /**
   * Add what the server listed and is not here yet. Returns how many. After a long time without a network the server may
   * list a pair again, by another id, that is here or answered here: the answer to the first one settles both.
   * @param {{queries: Query[], serverTime: number}} given
   * @param {(query: Query) => boolean} isAnswered whether an answer to the query, or to another one of the same pair, is on its way
   */
  add({ queries, serverTime }, isAnswered) {
    const before = this.ahead.length;
    for (const query of queries) {
      if (this.#answered.has(query.id) || isAnswered(query) || this.#holds(itemsOf(query))) continue;
      this.ahead.push(this.load(query, serverTime));
    }
    return this.ahead.length - before;
  }

  /** @param {Query} query @param {number} serverTime @returns {Leased<Content>} */
  load(query, serverTime) {
    return Object.assign(this.#make(query), { items: itemsOf(query) }, leaseOf(query.expires_at, serverTime));
  }

  // The next pair comes to the screen: after a reload the one that was there. Returns it, or null.
  advance() {
    const kept = this.ahead.findIndex((pair) => pair.id === tab.get(this.#kept));
    this.current = this.ahead.splice(Math.max(kept, 0), 1)[0] ?? null;
    if (this.current) tab.set(this.#kept, this.current.id);
    return this.current;
  }

  // The pair on the screen was answered.
  answer() {
    const pair = this.current;
    if (pair === null) throw new Error("there is no pair on the screen");
    this.#answered.add(pair.id);
    tab.remove(this.#kept);
    this.current = null;
    return pair;
  }

  /** A pair whose answer was taken back comes to the screen again; what was there waits. @param {Leased<Content>} pair */
  reopen(pair) {
    this.#answered.delete(pair.id);
    this.ahead = this.ahead.filter((other) => other.items !== pair.items);
    if (this.current && this.current.items !== pair.items) this.ahead.unshift(this.current);
    this.current = pair;
    tab.set(this.#kept, pair.id);
  }

  /** @param {string} items */
  #holds(items) {
    return this.current?.items === items || this.ahead.some((pair) => pair.items === items);
  }

  /** @param {string} id */
  find(id) {
    return this.current?.id === id ? this.current : this.ahead.find((pair) => pair.id === id);
  }

  /** Answered in another tab, expired, withdrawn: it is gone. True where it was on the screen. @param {string} id */
  drop(id) {
    this.ahead = this.ahead.filter((pair) => pair.id !== id);
    if (this.current?.id !== id) return false;
    tab.remove(this.#kept);
    this.current = null;
    return true;
  }

  /** @param {string} id */
  answeredElsewhere(id) {
    this.#answered.add(id);
    return this.drop(id);
  }

  /** Its answer was refused, or taken back in another tab: the server may list it again. @param {string} id */
  reopenQuery(id) {
    this.#answered.delete(id);
  }

  forgetAnswered() {
    this.#answered.clear();
  }

  dropExpired() {
    this.ahead = this.ahead.filter((pair) => pair.until > Date.now());
  }
}

/** The two items, whichever side they are on. @param {Query} query */
export const itemsOf = ({ left, right }) => JSON.stringify([left.id, right.id].sort());

/**
 * How long a pair is this annotator's, and until when on this device's clock.
 * @param {string | null | undefined} expiresAt
 * @param {number} serverTime
 */
export function leaseOf(expiresAt, serverTime) {
  const span = expiresAt == null ? Infinity : Date.parse(expiresAt) - serverTime;
  return { span, until: Date.now() + span };
}

/**
 * The name of this tab. A duplicated tab has a copy of the name; the one that had it first keeps it.
 * @param {BroadcastChannel | null} channel
 * @returns {Promise<string>}
 */
export async function tabName(channel) {
  const kept = tab.get("name");
  let taken = false;
  if (kept && channel) {
    const nonce = unique();
    channel.postMessage({ is: "name?", name: kept, nonce });
    /** @param {MessageEvent} event */
    const listen = ({ data }) => {
      taken ||= data.is === "name!" && data.nonce === nonce;
    };
    channel.addEventListener("message", listen);
    await new Promise((resolve) => setTimeout(resolve, 40));
    channel.removeEventListener("message", listen);
  }
  const name = kept && !taken ? kept : unique();
  if (taken) for (const start of ["current:", "recent:"]) tab.names(start).forEach((one) => tab.remove(one));
  tab.set("name", name);
  channel?.addEventListener("message", ({ data }) => {
    if (data.is === "name?" && data.name === name) channel.postMessage({ is: "name!", nonce: data.nonce });
  });
  return name;
}
