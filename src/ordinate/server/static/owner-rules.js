// The rules that an owner may change while people judge. Only what was changed is sent.

import { Refused } from "./api.js";
import { parsed, written } from "./cells.js";
import { byId, setText } from "./dom.js";

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */
/** @typedef {string | number | boolean | null | number[] | string[] | object[]} Value */

/** @param {Field} field */
const numberIn = (field) => (field.value === "" ? null : Number(field.value));
/** @param {number} value rounding errors are not shown, and not sent */
const rounded = (value) => Number(value.toPrecision(10));
/** @param {number} share */
const inPercent = (share) => rounded(100 * share);
/** @param {Value} value */
const asIs = (value) => value ?? "";

/**
 * How a rule is shown in its field, and read from it; empty means no limit.
 * @type {Record<string, {show: (value: any) => Value, read: (field: Field) => Value}>}
 */
const FIELDS = {
  question: { show: asIs, read: (field) => field.value.trim() || null },
  // An id may hold commas, so each mark has a line of its own.
  aim: { show: (aim) => aim.join("\n"), read: (field) => lines(field.value) },
  guidelines: { show: asIs, read: (field) => field.value.trim() || null },
  practice: {
    show: (/** @type {{left: string, right: string, expected: string | null}[]} */ pairs) => written(pairs.map(({ left, right, expected }) => [left, right, ...(expected ? [expected] : [])])),
    read: (field) => parsed(field.value).map(practicePair),
  },
  deadline: { show: (/** @type {string | null} */ time) => (time === null ? "" : localTime(time)), read: (field) => (field.value === "" ? null : new Date(field.value).toISOString()) },
  makers: {
    show: (/** @type {{item: string, name: string}[]} */ makers) => written(makers.map(({ item, name }) => [item, name])),
    read: (field) => parsed(field.value).map(maker),
  },
  closing: { show: asIs, read: (field) => field.value.trim() || null },
  seats: { show: asIs, read: numberIn },
  cuts: { show: (cuts) => cuts.join(", "), read: (field) => (field.value.match(/\d+/g) ?? []).map(Number) },
  misplaced: {
    show: (share) => (share === null ? "" : inPercent(share)),
    read: (field) => (field.value === "" ? null : rounded(Number(field.value) / 100)),
  },
  budget: { show: asIs, read: numberIn },
  target: {
    show: (share) => (share === null ? "" : inPercent(share)),
    read: (field) => (field.value === "" ? null : rounded(Number(field.value) / 100)),
  },
  annotator_budget: { show: asIs, read: numberIn },
  repeat: { show: inPercent, read: (field) => Number(field.value) / 100 },
  random: { show: inPercent, read: (field) => Number(field.value) / 100 },
  lease: {
    show: (seconds) => (seconds === null ? "" : rounded(seconds / 60)),
    read: (field) => (field.value === "" ? null : rounded(60 * Number(field.value))),
  },
  theme: { show: asIs, read: (field) => field.value },
  brightness: { show: asIs, read: (field) => Number(field.value || 100) },
  contrast: { show: asIs, read: (field) => Number(field.value || 100) },
  invert: { show: asIs, read: isChecked },
  markdown: { show: asIs, read: isChecked },
  after_models: { show: asIs, read: isChecked },
  ties: { show: asIs, read: isChecked },
  strengths: { show: asIs, read: isChecked },
  again: { show: asIs, read: isChecked },
};

/** As a field for local times takes it: "2030-01-31T12:00". @param {string} time */
function localTime(time) {
  const there = new Date(time);
  return new Date(there.getTime() - 60_000 * there.getTimezoneOffset()).toISOString().slice(0, 16);
}

/** @param {string} text */
const rows = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** @param {string} text */
function lines(text) {
  // People write a space after a colon.
  const given = rows(text).map((line) => line.replace(/^(top|bottom|above)\s*:\s*/i, (_, kind) => `${kind.toLowerCase()}:`));
  return given.length ? given : ["order"];
}

/** "essay-12 | Ann"; what is missing is refused by the server. @param {string[]} row */
function maker(row) {
  const [item = "", name = ""] = ofAtMost(2, row);
  return { item, name };
}

/** "photo-01 | photo-07 | left". @param {string[]} row */
function practicePair(row) {
  const [left = "", right = "", said = ""] = ofAtMost(3, row);
  if (!left || !right) throw new Refused(422, `the practice pair “${written([row])}” lacks an item; write both with a bar between them, as in a | b`);
  const expected = said.toLowerCase();
  if (!["", "left", "right", "tie"].includes(expected)) throw new Refused(422, `the practice pair “${written([row])}” ends with “${said}”; the right answer is left, right or tie, or none`);
  return { left, right, ...(expected ? { expected } : {}) };
}

/** Nobody guesses which of several bars belongs to an id. @param {number} most @param {string[]} row */
function ofAtMost(most, row) {
  if (row.length <= most) return row;
  throw new Refused(422, `“${written([row])}” has ${row.length - 1} bars, where at most ${most - 1} can be; put an id that has a bar itself into quotation marks, as in "a | b"`);
}

/** @param {Field} field */
function isChecked(field) {
  return field instanceof HTMLInputElement && field.checked;
}

/** @param {string} name */
function fieldOf(name) {
  const field = byId(`rule-${name}`);
  if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement) return field;
  throw new Error(`rule-${name} is no field`);
}

export class Rules {
  #page;
  /** @type {Record<string, Value>} */
  #shown = {};
  #showPaused;

  /** @param {import("./owner.js").Page} page @param {(paused: boolean) => void} showPaused */
  constructor(page, showPaused) {
    this.#page = page;
    this.#showPaused = showPaused;
    byId("rules-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    byId("rules-form").addEventListener("input", () => setText(byId("rules-saved"), "Not saved yet"));
  }

  async look() {
    this.#show(await this.#page.api.get("/rules"));
  }

  /** @param {{paused: boolean} & Record<string, Value>} rules */
  #show(rules) {
    this.#showPaused(rules.paused);
    byId("rules-form").inert = false; // what is typed before the rules are known would be overwritten
    for (const [name, { show, read }] of Object.entries(FIELDS)) {
      const field = fieldOf(name);
      const value = show(rules[name] ?? null);
      if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = value === true;
      else field.value = String(value);
      this.#shown[name] = read(field);
    }
  }

  async #save() {
    const done = await this.#page.attempt(async () => {
      const read = Object.entries(FIELDS).map(([name, field]) => /** @type {const} */ ([name, field.read(fieldOf(name))]));
      const changes = Object.fromEntries(read.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(this.#shown[name])));
      this.#show(await this.#page.api.patch("/rules", changes));
    });
    setText(byId("rules-saved"), done ? "Saved" : "Not saved");
    if (done) this.#page.announce("The rules are saved.");
  }
}
