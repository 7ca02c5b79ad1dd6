// What the log shows of a person that deserves a look.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { modelInWords, oddities } = await import("../../src/ordinate/server/static/owner-people.js");
const { sideOf } = await import("../../src/ordinate/server/static/owner-answers.js");
/** @param {object} more */
const person = (more) => /** @type {any} */ ({ answers: 100, decided: 100, left: 50, resting: false, excluded: false, ...more });

test("an even, patient person is not mentioned", () => {
  assert.deepEqual(oddities(person({}), 0, 0.02), []);
  assert.deepEqual(oddities(person({ left: 64 }), 9, null), []);
});

test("one side, very fast answers, rest and exclusion are", () => {
  assert.deepEqual(oddities(person({ left: 66 }), 0, null), ["mostly left"]);
  assert.deepEqual(oddities(person({ left: 34 }), 10, null), ["10 very fast", "mostly right"]);
  assert.deepEqual(oddities(person({ excluded: true, resting: true }), 0, null), ["left out", "rests"]);
});

test("whoever may toss coins is", () => {
  assert.deepEqual(oddities(person({}), 0, 0.87), ["may toss coins (87\u00a0%)"]);
});

test("of few answers no side is told", () => {
  assert.deepEqual(oddities(person({ answers: 19, decided: 19, left: 19 }), 0, null), []);
});

test("a strength does not change the side", () => {
  assert.deepEqual(["left", "left-much", "right-slightly", "tie", "both-bad", "skip"].map(sideOf), ["left", "left", "right", null, null, null]);
});

test("a model is said to be one", () => {
  assert.equal(modelInWords({ model: "gpt" }), "The model gpt answers under this name. ");
  assert.equal(modelInWords({ model: null }), "");
  const found = { with_people: 0.7, with_people_low: 0.554, with_people_high: 0.82 };
  assert.equal(
    modelInWords({ model: "gpt" }, found),
    "The model gpt answers under this name. It agrees with people on 70\u00a0% of the pairs that both decided (55\u00a0% to 82\u00a0%). ",
  );
  assert.equal(modelInWords({ model: "gpt" }, { with_people: null, with_people_low: null, with_people_high: null }), "The model gpt answers under this name. ");
});

test("who prefers long or short items, compared with others", () => {
  assert.deepEqual(oddities(person({}), 0, null, 0.1), []);
  assert.deepEqual(oddities(person({}), 0, null, 0.4), ["prefers long"]);
  assert.deepEqual(oddities(person({}), 0, null, -0.4), ["prefers short"]);
});
