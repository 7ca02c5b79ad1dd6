import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { show } from "./page.js";
import { listKeys, listenToKeys, rowOf, rowsFor } from "../../src/ordinate/server/static/keys.js";

const always = () => true;
const never = () => false;

test("each key does one thing, with capitals and without", () => {
  const keys = rowsFor(always).flatMap((row) => row.keys);
  assert.equal(new Set(keys).size, keys.length);
  for (const [key, does] of [["ArrowLeft", "left"], ["S", "skip"], ["s", "skip"], ["Backspace", "undo"], ["+", "zoom-in"]])
    assert.equal(rowOf(key ?? "", always)?.does, does);
  assert.equal(rowOf("x", always), undefined);
});

test("keys for pictures, sounds and ties are there only with these", () => {
  assert.equal(rowOf("+", never), undefined);
  assert.equal(rowOf(" ", (what) => what !== "ties"), undefined);
  assert.equal(rowOf("1", (what) => what === "players")?.does, "play-left");
  assert.equal(rowOf("ArrowLeft", never)?.does, "left");
  assert.equal(rowOf("4", never), undefined);
  const strengths = ["4", "5", "6", "7"].map((key) => rowOf(key, (what) => what === "strengths")?.does);
  assert.deepEqual(strengths, ["left-much", "left-slightly", "right-slightly", "right-much"]);
});

/** @type {string[]} */
let done = [];
show('<input type="checkbox" id="keys-on"><table id="keys"></table><button id="a">A</button><input id="text"><div id="question" tabindex="0"></div>');
listenToKeys((action) => done.push(action), always);

/** @param {string} key @param {object} options */
function press(key, options = {}) {
  const event = Object.assign(new Event("keydown", { cancelable: true }), { key, repeat: false, ...options });
  dispatchEvent(event);
  return event;
}

beforeEach(() => {
  done = [];
  /** @type {HTMLElement} */ (document.activeElement)?.blur();
});

test("a key held down answers once, but goes on zooming", () => {
  press("ArrowLeft");
  for (let times = 0; times < 20; times++) press("ArrowLeft", { repeat: true });
  press("u", { repeat: true });
  for (let times = 0; times < 3; times++) press("+", { repeat: true });
  assert.deepEqual(done, ["left", "zoom-in", "zoom-in", "zoom-in"]);
});

test("Enter and Space held down do not press a focused button again", () => {
  document.getElementById("a")?.focus();
  for (const key of ["Enter", " "]) {
    assert.equal(press(key).defaultPrevented, false);
    assert.equal(press(key, { repeat: true }).defaultPrevented, true);
  }
  assert.deepEqual(done, [], "the space key belongs to the button");
});

test("letters that are typed, and keys with Ctrl, do nothing", () => {
  press("s", { ctrlKey: true });
  document.getElementById("text")?.focus();
  press("s");
  press("ArrowLeft");
  assert.deepEqual(done, []);
});

test("arrows scroll the texts, unless the question has the focus", () => {
  press("ArrowDown");
  press("ArrowLeft", { shiftKey: true });
  document.getElementById("question")?.focus();
  press("ArrowDown");
  assert.deepEqual(done, ["scroll", "move"]);
});

test("keys can be switched off", () => {
  const on = /** @type {HTMLInputElement} */ (document.getElementById("keys-on"));
  assert.equal(on.checked, true);
  on.checked = false;
  press("ArrowLeft");
  on.checked = true;
  assert.deepEqual(done, []);
});

test("the help lists the keys that do something now", () => {
  listKeys(never);
  const without = document.querySelectorAll("#keys tr").length;
  listKeys(always);
  assert.ok(document.querySelectorAll("#keys tr").length > without);
  assert.equal(document.querySelector("#keys th")?.textContent, "←");
});
