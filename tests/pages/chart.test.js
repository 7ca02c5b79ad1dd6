import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.js";
import { deadlineInWords, drawChart, errorInShort, errorInWords, errorTable, forecastInWords, niceStep, upToNow } from "../../src/ordinate/server/static/chart.js";

/** @typedef {import("../../src/ordinate/server/static/chart.js").History} History */
/** @param {number} answers @param {number | null} error @param {History} history @returns {any} */
const status = (answers, error, history) => ({ answers, expected_error: error, error_history: history });

test("what is known now is added where it is newer", () => {
  assert.deepEqual(upToNow(status(5, 0.3, [[0, 0.5]])), [[0, 0.5], [5, 0.3]]);
  assert.deepEqual(upToNow(status(5, 0.5, [[0, 0.5]])), [[0, 0.5]], "the results do not follow the answers yet");
  assert.deepEqual(upToNow(status(5, null, [[0, 0.5]])), [[0, 0.5]]);
  assert.deepEqual(upToNow(status(5, 0.3, [[5, 0.31]])), [[5, 0.31]]);
});

test("the error in short is a share, or why there is none", () => {
  const study = { answers: 40, expected_error: 0.081, better_than_coins: true, withheld: null };
  const none = { ...study, expected_error: null };
  assert.equal(errorInShort(study), "8.1\u00a0%");
  assert.equal(errorInShort({ ...none, withheld: "the features miss something" }), "withheld");
  assert.equal(errorInShort({ ...none, better_than_coins: false, withheld: "the answers cannot be told" }), "not known yet");
  assert.equal(errorInShort({ ...study, answers: 0, withheld: "there are no answers yet" }), "not known yet");
  assert.equal(errorInShort({ ...none, better_than_coins: null }), "not known yet");
});

test("the error in words says what it presumes, and nothing before there are answers", () => {
  assert.equal(errorInWords([]), "How good the ordering is will be known after some answers.");
  assert.equal(errorInWords([[0, 0.5]]), errorInWords([]));
  assert.equal(
    errorInWords([[0, 0.5], [1200, 0.081]]),
    "If people answered sensibly, about 8.1\u00a0% of pairs are in the wrong order now, after 1,200 answers; it was 50\u00a0% after 0 answers.",
  );
});

test("a forecast has two digits, its interval and the time that it takes", () => {
  /** @type {any} */
  const forecast = { target: 0.1, more_answers: 412, more_answers_low: 283, more_answers_high: 1561, seconds: 7300, withheld: null };
  assert.equal(forecastInWords(forecast, true), "The error falls to 10 % after about 410 more answers (280 to 1,600), about 2 hours at the pace of the newest answers.");
  assert.equal(forecastInWords({ ...forecast, seconds: null }), "The error falls to 10 % after about 410 more answers (280 to 1,600), if people answered sensibly.");
  assert.equal(forecastInWords({ ...forecast, more_answers: 0, more_answers_high: 0 }, true), "An error of 10 % is reached.");
  assert.equal(forecastInWords({ ...forecast, more_answers: 0, more_answers_high: 52 }, true), "An error of 10 % is reached; to be sure of it may take 52 more answers.");
  assert.equal(forecastInWords({ ...forecast, more_answers: null, withheld: "there are no answers yet" }, true), "");
});

test("the line goes from the first answer to the last, downwards as the error falls", () => {
  const svg = drawChart([[0, 0.5], [50, 0.25], [100, 0]], null);
  const points = (svg.querySelector(".line")?.getAttribute("points") ?? "").split(" ").map((point) => point.split(",").map(Number));
  assert.equal(points.length, 3);
  const [[x0, y0], [x1, y1], [x2, y2]] = /** @type {[number, number][]} */ (points);
  assert.ok(Math.abs(x1 - (x0 + x2) / 2) < 0.11 && Math.abs(y1 - (y0 + y2) / 2) < 0.11);
  assert.ok(y0 < y2);
  assert.equal(svg.querySelector(".goal"), null);
  assert.equal(drawChart([[0, 0.5]], 200).querySelectorAll(".goal").length, 1);
});

test("labels are at round distances, about five of them", () => {
  assert.deepEqual([1, 7, 30, 100, 260, 9000].map(niceStep), [1, 2, 10, 20, 100, 2000]);
});

test("the table has at most so many rows and the last one", () => {
  const history = /** @type {History} */ (Array.from({ length: 100 }, (_, answers) => [answers, 0.5 - answers / 1000]));
  const rows = errorTable(history, 12).querySelectorAll("tbody tr");
  assert.ok(rows.length <= 13);
  assert.equal(rows[rows.length - 1]?.textContent, "9940\u00a0%");
});

test("a deadline says whether the target will be reached by then", () => {
  const forecast = { target: 0.1, more_answers: 500, more_answers_low: 300, more_answers_high: 800, seconds: null };
  /** @param {object} changes */
  const words = (changes) => deadlineInWords(/** @type {any} */ ({ deadline: "2030-01-31T12:00:00Z", over: false, answers_by_deadline: 900, forecast, better_than_coins: true, ...changes }));
  assert.equal(words({ deadline: null }), "");
  assert.match(words({ over: true }), /^The time was over on .*: no more pairs are given out\.$/);
  assert.match(words({ answers_by_deadline: null }), /^Deadline: [^:]+:00[^:]*\.$/);
  assert.match(words({}), /about 900 more answers will come until then: 10 % will be reached, if people answer sensibly\.$/);
  assert.match(words({ answers_by_deadline: 612 }), /about 610 more .*: 10 % will probably be reached/);
  assert.match(words({ answers_by_deadline: 400 }), /: 10 % may not be reached; that takes about 500\.$/);
  assert.match(words({ answers_by_deadline: 200 }), /: 10 % will not be reached; that takes about 500\.$/);
  assert.match(words({ better_than_coins: false }), /will come until then\.$/);
  assert.match(words({ forecast: null }), /will come until then\.$/);
});
