// The form of the rules, with the fields of the real page: what is shown, and what is sent.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { show } from "./page.js";
import { parsed, written } from "../../src/ordinate/server/static/cells.js";
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
let refusal = "";
const page = {
  api: { get: async () => RULES, patch: async (/** @type {string} */ _path, /** @type {any} */ changes) => ({ ...RULES, ...(sent = changes) }) },
  attempt: (/** @type {() => Promise<unknown>} */ act) => act().then(() => true, (error) => ((refusal = error.message), false)),
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
  assert.equal(field("practice").value, 'a | "b | c"\nd | e | left');
  assert.equal(field("makers").value, '"essay | 1" | Ann');
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

test("an id that has a bar comes back as it was, and is never taken for two", async () => {
  show(form);
  await new Rules(/** @type {any} */ (page), () => {}).look();
  field("practice").value += '\n"x|left" | "say ""no"""|tie';
  assert.deepEqual((await save()).practice, [{ left: "a", right: "b | c" }, { left: "d", right: "e", expected: "left" }, { left: "x|left", right: 'say "no"', expected: "tie" }]);
  for (const [name, value] of [["practice", "a | b | c | left"], ["makers", "essay | 1 | Ann"]]) {
    field(name ?? "").value = value ?? "";
    refusal = "";
    assert.equal(await save(), null);
    assert.match(refusal, /bars, where at most [12] can be; put an id that has a bar itself into quotation marks/);
    await new Rules(/** @type {any} */ (page), () => {}).look();
  }
});

test("an aim is read as people write it", async () => {
  show(form);
  await new Rules(/** @type {any} */ (page), () => {}).look();
  field("aim").value = " Above: essay 1 \nabove :b:c";
  assert.deepEqual(await save(), { aim: ["above:essay 1", "above:b:c"] });
  field("aim").value = "top: 10";
  assert.deepEqual(await save(), { aim: ["top:10"] });
});

test("what is wrong with a practice pair is said in the words of the page", async () => {
  show(form);
  for (const [value, said] of [["p1", /“p1” lacks an item; write both/], ["p1 | p2 | up", /ends with “up”; the right answer is left, right or tie, or none/]]) {
    await new Rules(/** @type {any} */ (page), () => {}).look();
    field("practice").value = /** @type {string} */ (value);
    assert.equal(await save(), null);
    assert.match(refusal, /** @type {RegExp} */ (said));
  }
});

test("rows of cells are read as they were written", () => {
  for (const rows of [[["a", "b"]], [["a|b", 'c"d', " e "], ["", "x"]], [['"q"', "two\nlines"], ["|", "||"]], [['""', "é"]]]) assert.deepEqual(parsed(written(rows)), rows);
  assert.deepEqual(parsed(' a|b \n\n "c | d" |\n"x" y | z'), [["a", "b"], ["c | d", ""], ['"x" y', "z"]]);
});
