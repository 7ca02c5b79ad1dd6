// What the server refuses is said above the page for as long as it matters.

import assert from "node:assert/strict";
import { test } from "node:test";
import { show } from "./page.js";

const { attempt, attemptAgain } = await import("../../src/ordinate/server/static/attempt.js");
const { NoNetwork, Refused } = await import("../../src/ordinate/server/static/api.js");

const works = async () => {};
const refused = async () => {
  throw new Refused(422, "the study has no item 'x'");
};
const offline = async () => {
  throw new NoNetwork("no route");
};
const said = () => document.getElementById("trouble")?.textContent;

test("why a press was refused stays until the next press", async () => {
  show('<p id="trouble"></p>');
  assert.equal(await attempt(refused), false);
  await attemptAgain(works);
  assert.equal(said(), "The study has no item 'x'.");
  assert.equal(await attempt(works), true);
  assert.equal(said(), "");
});

test("what a look said goes with the next look, and only looks are tried again", async () => {
  show('<p id="trouble"></p>');
  await attemptAgain(offline);
  assert.equal(said(), "The server cannot be reached. The page tries again by itself.");
  await attemptAgain(works);
  assert.equal(said(), "");
  await attempt(offline);
  assert.equal(said(), "The server cannot be reached. Try again once it is back.");
});

test("other errors are not swallowed", async () => {
  show('<p id="trouble"></p>');
  const bug = async () => {
    throw new TypeError("a bug");
  };
  await assert.rejects(attempt(bug), TypeError);
  await assert.rejects(attemptAgain(bug), TypeError);
});
