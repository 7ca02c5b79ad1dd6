import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.js";
import { Scrolling } from "../../src/ordinate/server/static/scrolling.js";

/** A text that is so long in a box that is so high. @param {number} scrollHeight @param {number} clientHeight */
function text(scrollHeight, clientHeight) {
  const element = document.createElement("div");
  Object.defineProperties(element, { scrollHeight: { value: scrollHeight }, clientHeight: { value: clientHeight } });
  return element;
}

/** As a browser does after scrolling. @param {HTMLElement} element @param {number} top */
function scrolled(element, top) {
  element.scrollTop = top;
  element.dispatchEvent(new Event("scroll"));
}

test("the other text follows to the same share of its length", () => {
  const [long, longer] = [text(1100, 100), text(5100, 100)];
  const scrolling = new Scrolling();
  scrolling.show([long, longer]);
  scrolled(long, 500);
  assert.equal(longer.scrollTop, 2500);
  scrolled(longer, 2400);
  assert.equal(long.scrollTop, 500, "the one that follows does not lead back");
});

test("apart, each scrolls alone", () => {
  const [long, longer] = [text(1100, 100), text(5100, 100)];
  const scrolling = new Scrolling();
  scrolling.together = false;
  scrolling.show([long, longer]);
  scrolled(long, 500);
  assert.equal(longer.scrollTop, 0);
});

test("keys scroll the longer text, and only where there is something to scroll", () => {
  const [short, long] = [text(100, 100), text(1100, 100)];
  const scrolling = new Scrolling();
  scrolling.show([short, long]);
  assert.equal(scrolling.scrollBy(0.5), true);
  assert.deepEqual([short.scrollTop, long.scrollTop], [0, 50]);
  scrolling.show([short, short]);
  assert.equal(scrolling.scrollBy(0.5), false);
  assert.equal(new Scrolling().any, false);
});

test("a new pair begins at the top", () => {
  const long = text(1100, 100);
  const scrolling = new Scrolling();
  scrolling.show([long]);
  long.scrollTop = 300;
  scrolling.show([long]);
  assert.equal(long.scrollTop, 0);
});
