import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import "./page.js";
import judge from "../../src/ordinate/notebook/judge.js";

/** @type {{do: string, query: string | null}[]} what reached the kernel */
let sent;
/** @type {any} */
let state;
/** @type {() => void} */
let changed;
/** @type {HTMLElement} */
let box;

const pair = { query: "q-1", left: { id: "a", text: "<b>first</b>" }, right: { id: "b" } };
const model = {
  get: () => state,
  /** @param {string} _event @param {() => void} does */
  on: (_event, does) => void (changed = does),
  off: () => {},
  /** @param {any} message */
  send: (message) => void sent.push(message),
};
/** @param {string} key */
const press = (key) => box.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

beforeEach(() => {
  sent = [];
  state = { question: "Which is clearer?", answers: 0, skips: 0, said: "", number: 1, ties: true, strengths: false, pair };
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  judge.render({ model, el });
  box = /** @type {HTMLElement} */ (el.firstElementChild);
});

test("a key answers the pair once, until the kernel shows the next one", () => {
  press("ArrowLeft");
  press("ArrowLeft");
  assert.deepEqual(sent, [{ do: "left", query: "q-1" }]);
  state = { ...state, answers: 1, number: 2, pair: { ...pair, query: "q-2" } };
  changed();
  for (const key of [" ", "x"]) press(key);
  assert.deepEqual(sent.slice(1), [{ do: "tie", query: "q-2" }]);
});

test("the notebook gets no key that was an answer, and every other one", () => {
  const reached = /** @type {string[]} */ ([]);
  document.body.addEventListener("keydown", (event) => reached.push(event.key));
  for (const key of ["ArrowRight", "Enter"]) press(key);
  assert.deepEqual(reached, ["Enter"]);
});

test("a picture is not called by its id, which is not shown", () => {
  state = { ...state, pair: { ...pair, left: { id: "good-17", image: "data:image/png;base64," } } };
  changed();
  assert.equal(box.querySelector(".pair button")?.getAttribute("aria-label"), "Left: a picture");
  assert.equal(box.querySelector("img")?.alt, "The left picture");
  assert.match(box.querySelector('[role="status"]')?.textContent ?? "", /Left: a picture\. Right: b\./);
});

test("ties are named where there are any, and a skip can be taken back before any answer", () => {
  assert.match(box.getAttribute("aria-label") ?? "", /Space is a tie, S skips/);
  state = { ...state, ties: false, skips: 1 };
  changed();
  assert.doesNotMatch(box.getAttribute("aria-label") ?? "", /tie/);
  press("u");
  assert.deepEqual(sent.map((one) => one.do), ["undo"]);
});

test("texts are texts, and are read aloud with the side", () => {
  const [left] = box.querySelectorAll(".pair button");
  assert.equal(left?.textContent, "<b>first</b>");
  assert.equal(left?.getAttribute("aria-label"), "Left: <b>first</b>");
  assert.match(box.querySelector('[role="status"]')?.textContent ?? "", /0 answers\. Left: <b>first<\/b>\. Right: b\./);
});

test("what cannot be done is disabled: undo without answers, ties where there are none, all without a pair", () => {
  const enabled = () => [...box.querySelectorAll(".pair button, .others:last-of-type button")].map((button) => !(/** @type {HTMLButtonElement} */ (button).disabled));
  assert.deepEqual(enabled(), [true, true, true, true, false]);
  state = { ...state, answers: 3, ties: false, pair: null, said: "No pair is left." };
  changed();
  assert.deepEqual(enabled(), [false, false, false, false, true]);
  press("ArrowLeft");
  press("u");
  assert.deepEqual(sent, [{ do: "undo", query: null }]);
});

test("how much better is asked where the study asks it, by keys and by buttons", () => {
  const group = /** @type {HTMLElement} */ (box.querySelector('[aria-label="Or how much better"]'));
  press("4");
  assert.ok(group.hidden);
  assert.deepEqual(sent, []);
  for (const [number, does] of ["left-much", "left-slightly", "right-slightly", "right-much"].entries()) {
    state = { ...state, strengths: true, number: state.number + 1 };
    changed();
    press(`${4 + number}`);
    assert.deepEqual(sent.splice(0), [{ do: does, query: "q-1" }]);
    changed();
    group.querySelectorAll("button")[number]?.click();
    assert.deepEqual(sent.splice(0), [{ do: does, query: "q-1" }]);
  }
  assert.ok(!group.hidden);
  assert.match(box.getAttribute("aria-label") ?? "", /4 to 7 say how much better/);
});
