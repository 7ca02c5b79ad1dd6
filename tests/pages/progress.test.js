// How far judging is, in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { show } from "./page.js";

const { Progress } = await import("../../src/ordinate/server/static/progress.js");

/** What the last page says first. @param {object} status @param {object} [your] @param {number} [pending] */
async function told(status, your = {}, pending = 0) {
  show(`<button id="progress-button"></button><span id="progress-text"></span><div id="meter"><div id="meter-fill"></div></div>
    <dialog id="details"><div id="details-body"></div></dialog>`);
  const known = { answers: 6, items: 3, goal: null, error_history: [], withheld: null, better_than_coins: null };
  const api = { get: async () => ({ ...known, your: { answers: 12, budget: null, ...your }, ...status }) };
  const progress = new Progress(/** @type {any} */ (api), () => pending, () => {}, () => {});
  await progress.look();
  return [progress.report()[0]?.textContent, document.getElementById("progress-text")?.textContent];
}

test("one's own answers are all that were given, everybody's those that count", async () => {
  assert.deepEqual(await told({}), ["You gave 12 answers. Everybody together gave 6 that count, to pairs of 3 items.", "12 answers"]);
});

test("one is told in the singular", async () => {
  assert.equal((await told({ answers: 1 }, { answers: 1 }))[0], "You gave 1 answer. Everybody together gave 1 that counts, to pairs of 3 items.");
});

test("goals are told beside them, and answers on their way are one's own already", async () => {
  assert.deepEqual(await told({ goal: 1500 }, {}, 2), [
    "You gave 14 answers. Everybody together gave 6 that count, of 1,500 wanted, to pairs of 3 items.",
    "You: 14 · all: 8 of 1500",
  ]);
  assert.deepEqual(await told({}, { budget: 40 }), [
    "You gave 12 answers of the 40 you are asked for. Everybody together gave 6 that count, to pairs of 3 items.",
    "12 of 40 answers",
  ]);
});
