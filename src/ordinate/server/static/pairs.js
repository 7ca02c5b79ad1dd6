// The pairs that this tab holds: one on the screen, some ahead that are loaded already.

import { tab, unique } from "./kept.js";

// How many pairs a tab holds: enough to judge on through a short loss of the network, few enough that the newest
// answers decide what is asked.
export const HELD = 5;
const MOST = 20; // of one request

export class Pairs {
  #make;
  #told = new Set();

  // make(query): a pair ready to be put on the screen
  constructor(make) {
    this.#make = make;
    this.current = null;
    this.ahead = [];
  }

  get held() {
    return this.ahead.length + (this.current === null ? 0 : 1);
  }

  // How many to ask the server for; answers on their way still count as open there.
  wanted(waiting, held = HELD) {
    return Math.min(held + waiting, MOST);
  }

  // Add what the server listed and is not here yet. isTold(id): an answer to it is on its way. Returns how many.
  add({ queries, serverTime }, isTold) {
    const before = this.ahead.length;
    for (const query of queries) {
      if (this.#told.has(query.id) || isTold(query.id) || this.find(query.id)) continue;
      const pair = this.#make(query);
      timed(pair, query.expires_at, serverTime);
      this.ahead.push(pair);
    }
    return this.ahead.length - before;
  }

  // The next pair comes to the screen: after a reload the one that was there. Returns it, or null.
  advance() {
    const kept = this.ahead.findIndex((pair) => pair.id === tab.get("current"));
    this.current = this.ahead.splice(Math.max(kept, 0), 1)[0] ?? null;
    if (this.current) tab.set("current", this.current.id);
    return this.current;
  }

  // The pair on the screen has got its answer.
  tell() {
    const pair = this.current;
    this.#told.add(pair.id);
    tab.remove("current");
    this.current = null;
    return pair;
  }

  // A query whose answer was taken back comes to the screen again; what was there waits.
  reopen(pair) {
    this.#told.delete(pair.id);
    this.ahead = this.ahead.filter((other) => other.id !== pair.id);
    if (this.current && this.current.id !== pair.id) this.ahead.unshift(this.current);
    this.current = pair;
    tab.set("current", pair.id);
  }

  find(id) {
    return this.current?.id === id ? this.current : this.ahead.find((pair) => pair.id === id);
  }

  // Answered in another tab, expired, withdrawn: it is gone. True where it was on the screen.
  drop(id) {
    this.ahead = this.ahead.filter((pair) => pair.id !== id);
    if (this.current?.id !== id) return false;
    tab.remove("current");
    this.current = null;
    return true;
  }

  toldElsewhere(id) {
    this.#told.add(id);
    return this.drop(id);
  }

  undoneElsewhere(id) {
    this.#told.delete(id);
  }

  dropExpired() {
    this.ahead = this.ahead.filter((pair) => pair.until > Date.now());
  }
}

// Note until when the pair is this annotator's, on this device's clock.
export function timed(pair, expiresAt, serverTime) {
  pair.span = expiresAt == null ? Infinity : Date.parse(expiresAt) - serverTime;
  pair.until = Date.now() + pair.span;
}

// The name of this tab. A duplicated tab has a copy of the name; the one that had it first keeps it.
export async function tabName(channel) {
  const kept = tab.get("name");
  let taken = false;
  if (kept && channel) {
    const nonce = unique();
    channel.postMessage({ is: "name?", name: kept, nonce });
    const listen = ({ data }) => {
      taken ||= data.is === "name!" && data.nonce === nonce;
    };
    channel.addEventListener("message", listen);
    await new Promise((resolve) => setTimeout(resolve, 40));
    channel.removeEventListener("message", listen);
  }
  const name = kept && !taken ? kept : unique();
  if (taken) tab.remove("current");
  tab.set("name", name);
  channel?.addEventListener("message", ({ data }) => {
    if (data.is === "name?" && data.name === name) channel.postMessage({ is: "name!", nonce: data.nonce });
  });
  return name;
}
