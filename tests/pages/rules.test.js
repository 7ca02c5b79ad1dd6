// The form of the rules, with the fields of the real page: what is shown, and what is sent.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { show } from "./page.js";
import { Rules } from "../../src/ordinate/server/static/owner-rules.js";

const template = readFileSync(new URL("../../src/ordinate/server/templates/owner.html", import.meta.url), "utf8");
const form = /<form id="rules-form"[\s\S]*?<\/form>/.exec(template)?.[0] ?? "";

const RULES = {
  aim: ["order"], lease: 600, annotator_budget: null, budget: 70, target: 0.05, cuts: [10, 50], misplaced: null, repeat: 0.05, random: 0.1,
  ties: true, again: false, variety: 0.8, paused: false, theme: "auto", brightness: 100, contrast: 100, invert: false, markdown: false,
  question: null, guidelines: null, closing: null, seats: null, resting: [],
  practice: [{ left: "a", right: "b | c", expected: null }, { left: "d", right: "e", expected: "left" }],
  makers: [{ item: "essay | 1", name: "Ann" }], deadline: "2030-01-31T12:00:00.000+00:00",
};

/** @type {any} */
let sent = null;
const page = {
  api: { get: async () => RULES, patch: async (/** @type {string} */ _path, /** @type {any} */ changes) => ({ ...RULES, ...(sent = changes) }) },
  attempt: async (/** @type {() => Promise<unknown>} */ act) => (await act(), true),
  announce: () => {},
};

/** @param {string} name */
const field = (name) => /** @type {HTMLInputElement} */ (document.getElementById(`rule-${name}`));

async function save() {
  sent = null;
  document.getElementById("rules-form")?.dispatchEvent(new Event("submit", { cancelable: true }));
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  return sent;
}

test("rules are shown as people write them, and only what was changed is sent", async () => {
  show(form);
  const rules = new Rules(/** @type {any} */ (page), () => {});
  await rules.look();
  assert.equal(field("practice").value, "a | b | c\nd | e | left");
  assert.equal(field("makers").value, "essay | 1 | Ann");
  assert.equal(new Date(field("deadline").value).toISOString(), "2030-01-31T12:00:00.000Z");
  assert.equal(field("lease").value, "10");
  assert.deepEqual(await save(), {});
  field("practice").value = " p1|p2 | Right \n\n p3 | p4 ";
  field("makers").value = "x | Bob\ny|Cy";
  field("deadline").value = "";
  field("budget").value = "";
  assert.deepEqual(await save(), {
    practice: [{ left: "p1", right: "p2", expected: "right" }, { left: "p3", right: "p4" }],
    makers: [{ item: "x", name: "Bob" }, { item: "y", name: "Cy" }],
    deadline: null,
    budget: null,
  });
});
