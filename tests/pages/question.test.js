import assert from "node:assert/strict";
import { test } from "node:test";

import { show } from "./page.js";

// Sizes are not known here.
globalThis.ResizeObserver = /** @type {any} */ (class { observe() {} });
const { Question } = await import("../../src/ordinate/server/static/question.js");

const LINK = '<p>Which is <a href="https://a.example/?a=1&amp;b=2" target="_blank">better</a>?</p>\n';

test("the question changes when a new pair is shown, and only where it is another one", () => {
  show(`<div id="question">${LINK}</div><button id="question-button" hidden></button>`);
  const question = new Question();
  const words = () => document.getElementById("question")?.textContent;
  assert.equal(question.follow(), false, "nothing was heard");
  question.hear(LINK);
  assert.equal(question.follow(), false, "it is the same");
  question.hear("<p>Which is <em>kinder</em>?</p>\n");
  assert.equal(words(), "Which is better?\n", "not yet");
  assert.equal(question.follow(), true);
  assert.equal(question.words, "Which is kinder?");
  assert.equal(question.follow(), false, "it is said once");
});
