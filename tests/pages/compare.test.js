// Two items side by side: the sentence, the table of third items, and answers that overtake each other.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { show } from "./page.js";
import { comparedInWords, Comparing } from "../../src/ordinate/server/static/owner-compare.js";

const template = readFileSync(new URL("../../src/ordinate/server/templates/owner.html", import.meta.url), "utf8");
const dialog = /<dialog id="item"[\s\S]*?<\/dialog>/.exec(template)?.[0] ?? "";

/** @param {string} id */
const item = (id) => ({ id, text: `The text of ${id}` });
/** @param {object} [more] @returns {any} */
const found = (more) => ({
  left: item("a"), right: item("b"), higher: "a", probability: 0.8472, left_won: 3, right_won: 1, ties: 0, through: [], through_in_all: 0, ...more,
});

test("the sentence names the higher one, how sure that is, and what it rests on", () => {
  assert.equal(
    comparedInWords(found()),
    "a is above b with a probability of 85\u00a0%, if people answered sensibly. Compared with each other 4 times: a won 3, b won 1; 0 other items stood against both.",
  );
  assert.match(comparedInWords(found({ higher: "b", ties: 1, through_in_all: 1 })), /^b is above a .* 5 times: a won 3, b won 1, 1 tie; 1 other item stood/);
});

test("nothing is certain, and items that never met are said not to have", () => {
  assert.match(comparedInWords(found({ probability: 0.9999, left_won: 0, right_won: 0 })), /99\u00a0%.* They were not compared with each other;/);
});

/** What came to the server, and how each is answered. @type {{path: string, answer: (value: any) => void, refuse: () => void}[]} */
let asked = [];
const page = /** @type {any} */ ({
  api: {
    get: (/** @type {string} */ path) =>
      path.startsWith("/answers")
        ? Promise.resolve({ answers: [], total: 0, next_cursor: null })
        : new Promise((resolve, reject) => asked.push({ path, answer: resolve, refuse: () => reject(new Error("refused")) })),
  },
  attempt: async (/** @type {() => Promise<unknown>} */ act) => {
    try {
      await act();
      return true;
    } catch {
      const trouble = document.getElementById("trouble");
      if (trouble) trouble.textContent = "The study has no item.";
      return false;
    }
  },
});
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
/** @param {string} id */
const text = (id) => document.getElementById(id)?.textContent ?? "";

/** @param {string} other */
function compare(other) {
  /** @type {HTMLInputElement} */ (document.getElementById("compare-with")).value = other;
  document.getElementById("compare-form")?.dispatchEvent(new Event("submit", { cancelable: true }));
}

/** @returns {Comparing} */
function begun() {
  show(`<div id="trouble"></div>${dialog}`);
  asked = [];
  const comparing = new Comparing(page);
  comparing.begin("a", ["a", "b", "c & d"]);
  return comparing;
}

test("other items are offered, and any id is asked for as it is", async () => {
  begun();
  assert.deepEqual([...document.querySelectorAll("#compare-ids option")].map((one) => one.getAttribute("value")), ["b", "c & d"]);
  compare(" c & d ");
  assert.equal(text("compare-words"), "One moment.");
  assert.equal(asked[0]?.path, "/compare?left=a&right=c%20%26%20d");
});

test("both items, which is higher, and the third items are shown", async () => {
  begun();
  compare("b");
  const through = [{ item: item("z"), left_won: 1.5, left_answers: 2, right_won: 0, right_answers: 1 }];
  asked[0]?.answer(found({ through, through_in_all: 1 }));
  await settled();
  assert.match(text("compare-words"), /^a is above b/);
  assert.deepEqual([...document.querySelectorAll("#compare-body .both > div")].map((one) => one.classList.contains("won")), [true, false]);
  assert.deepEqual([...document.querySelectorAll("#compare-body table th, #compare-body table td")].map((one) => one.textContent), ["Against", "a won", "b won", "z", "1.5 of 2", "0 of 1"]);
});

test("what was overtaken is not shown: neither by another question, nor by another item", async () => {
  const comparing = begun();
  compare("b");
  compare("c");
  asked[1]?.answer(found({ right: item("c") }));
  await settled();
  asked[0]?.answer(found());
  await settled();
  assert.match(text("compare-words"), /^a is above c/);
  compare("b");
  comparing.begin("x", []);
  asked[2]?.refuse();
  await settled();
  assert.equal(text("compare-words"), "");
  assert.equal(document.getElementById("compare-body")?.childElementCount, 0);
});

test("a refusal is said in the dialog, which covers the place for it", async () => {
  begun();
  compare("nothing");
  asked[0]?.refuse();
  await settled();
  assert.equal(text("compare-words"), "The study has no item.");
});
