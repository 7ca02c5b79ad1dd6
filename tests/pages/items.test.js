import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.js";
import { inWords, UNCHANGED } from "../../src/ordinate/server/static/appearance.js";
import { makeContent } from "../../src/ordinate/server/static/content.js";
import { sizeInWords } from "../../src/ordinate/server/static/dom.js";

/** @param {import("../../src/ordinate/server/static/api.js").Item} left @param {import("../../src/ordinate/server/static/api.js").Item} right */
const pair = (left, right) => makeContent({ id: "q", left, right });

test("texts are shown as they are, and nothing in them becomes an element", () => {
  const { left, right } = pair({ id: "a", text: "<b>x</b> " + "long ".repeat(30) }, { id: "b", text: "y" });
  assert.equal(left.text?.textContent, "<b>x</b> " + "long ".repeat(30));
  assert.equal(left.element.querySelector("b"), null);
  assert.equal(right.state, "shown");
});

test("an id is shown only where there is nothing else, since it may give the answer away", () => {
  const { left, right } = pair({ id: "good-17", text: "a text" }, { id: "good-18" });
  assert.doesNotMatch(left.element.textContent ?? "", /good-17/);
  assert.equal(right.element.textContent, "good-18");
});

test("a link leads to the web and nowhere else", () => {
  const { left, right } = pair({ id: "a", link: "https://example.org/" }, { id: "b", link: "javascript:alert(1)" });
  assert.equal(left.element.querySelector("a")?.getAttribute("rel"), "noopener noreferrer");
  assert.equal(right.element.querySelector("a"), null);
});

test("a sound that does not play keeps the pair from being answered, and says so once", () => {
  const { left } = pair({ id: "a", audio_url: "/media/s/0/audio" }, { id: "b", text: "y" });
  let changes = 0;
  left.onchange = () => changes++;
  for (let times = 0; times < 2; times++) left.player?.dispatchEvent(new Event("error"));
  assert.equal(left.state, "failed");
  assert.equal(changes, 1);
  assert.equal(left.element.querySelectorAll(".failure").length, 1);
});

test("a page of which the server says nothing did not load", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(AbortSignal, "timeout", (/** @type {number} */ after) => {
    const ending = new AbortController();
    setTimeout(() => ending.abort(), after);
    return ending.signal;
  });
  /** @type {string[]} */
  const asked = [];
  t.mock.method(globalThis, "fetch", (/** @type {string} */ address, /** @type {RequestInit} */ { method, signal }) => {
    asked.push(`${method} ${address}`);
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  });
  const { left } = pair({ id: "a", html_url: "/media/s/0/html" }, { id: "b", text: "y" });
  document.body.append(left.element);
  left.arrive();
  for (const wait of ["the frame", "the server"]) {
    assert.equal(left.state, "loading", wait);
    t.mock.timers.tick(10_000);
    await new Promise(setImmediate);
  }
  assert.deepEqual(asked, ["HEAD /media/s/0/html"]);
  assert.equal(left.state, "failed");
  assert.equal(left.element.querySelector(".failure p")?.textContent, "This page did not load.");
  left.element.remove();
});

test("sizes are short", () => {
  assert.deepEqual([1, 48_200, 1_240_000, 24_600_000].map(sizeInWords), ["1 kB", "49 kB", "1.2 MB", "25 MB"]);
});

test("what is changed about pictures, in words", () => {
  assert.equal(inWords(UNCHANGED), "");
  assert.equal(
    inWords({ brightness: 121, contrast: 91, invert: true, ground: "black" }),
    "brightness 121 %, contrast 91 %, inverted, black ground",
  );
});
