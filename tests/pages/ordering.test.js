import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.js";
import { fixed } from "../../src/ordinate/server/static/dom.js";
import { foundInWords, partInWords } from "../../src/ordinate/server/static/owner-ordering.js";

/** @type {any} */
const top = { aim: ["top:10"], wanted: 10, measure: "recall", expected: 0.843, expected_low: 0.7, expected_high: 1, withheld: null };

test("what an aim has found is a share with its interval, or why there is none", () => {
  assert.equal(foundInWords(top), "Aim: top:10. About 84\u00a0% of the wanted items are among the 10 that are marked (70 to 100\u00a0%).");
  const early = { ...top, expected: null, expected_low: null, expected_high: null, withheld: "there are fewer than 3 answers per item" };
  assert.equal(foundInWords(early), "Aim: top:10. How much of it is found is not known: there are fewer than 3 answers per item.");
  assert.equal(
    foundInWords({ ...top, aim: ["above:a", "above:b"], measure: "right grade" }),
    "Aim: above:a, above:b. About 84\u00a0% of the items are in the right grade (70 to 100\u00a0%).",
  );
});

test("a score that rounds to zero has no sign", () => {
  assert.deepEqual([-0.004, -0, 0.001, -0.006, -10, 2.5].map(fixed), ["0.00", "0.00", "0.00", "-0.01", "-10.00", "2.50"]);
});

test("an item is wanted or not, or in a grade, with a probability", () => {
  /** @type {any} */
  const row = { part: 1, membership: 0.934 };
  assert.equal(partInWords(row, top), "wanted, 93\u00a0%");
  assert.equal(partInWords({ ...row, part: 2, membership: 0.04 }, top), "not wanted, 4\u00a0%");
  assert.equal(partInWords({ ...row, part: 2 }, { ...top, measure: "right grade" }), "grade 2, 93\u00a0%");
  assert.equal(partInWords(row, null), "");
  assert.equal(partInWords({ ...row, part: null, membership: null }, top), "");
});
