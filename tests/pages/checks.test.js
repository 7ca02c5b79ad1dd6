// The checks of the answers: what is asked for when the box is opened, and what is shown.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { show } from "./page.js";
import { Checks } from "../../src/ordinate/server/static/owner-checks.js";

const template = readFileSync(new URL("../../src/ordinate/server/templates/owner.html", import.meta.url), "utf8");
const box = /<details id="checks">[\s\S]*?<\/details>/.exec(template)?.[0] ?? "";

/** @param {string} check @param {string} state */
const row = (check, state) => ({ check, state, value: 0.5, threshold: 0.4, found: `Found of ${check}.`, advice: state === "failed" ? "Ask for more." : "" });

/** What the server answers, one after the other; each waits until it is released. @type {{sentence: string, checks: object[]}[]} */
let answers = [];
/** @type {(() => void)[]} */
let release = [];
/** @type {string[]} */
let asked = [];
let refuses = false;
const page = /** @type {any} */ ({
  api: {
    get: async (/** @type {string} */ path) => {
      asked.push(path);
      const answer = answers.shift();
      await new Promise((resolve) => release.push(() => resolve(undefined)));
      return answer;
    },
  },
  attempt: async (/** @type {() => Promise<unknown>} */ act) => {
    if (refuses) return false;
    await act();
    return true;
  },
});

const settled = () => new Promise((resolve) => setTimeout(resolve));
/** @param {string} id */
const text = (id) => document.getElementById(id)?.textContent;
const details = () => /** @type {HTMLDetailsElement} */ (document.getElementById("checks"));

/** @param {boolean} open */
function toggle(open) {
  details().open = open;
}

test.beforeEach(() => {
  show(box);
  [answers, release, asked, refuses] = [[], [], [], false];
  new Checks(page);
});

test("nothing is asked for until the box is opened; then each check has a row, and those that failed stand out", async () => {
  answers = [{ sentence: "Use this order with care.", checks: [row("enough answers", "failed"), row("sides", "passed"), row("halves", "not run")] }];
  await settled();
  assert.deepEqual(asked, []);
  toggle(true);
  assert.match(text("checks-words") ?? "", /^One moment/);
  assert.equal(document.getElementById("checks-table")?.hidden, true);
  release[0]?.();
  await settled();
  assert.deepEqual(asked, ["/check"]);
  assert.equal(text("checks-words"), "Use this order with care.");
  assert.equal(document.getElementById("checks-table")?.hidden, false);
  const rows = [...document.querySelectorAll("#checks-rows tr")];
  assert.deepEqual(rows.map((one) => one.querySelector("th")?.textContent), ["✗ failed: enough answers", "✓ passed: sides", "– not run: halves"]);
  assert.deepEqual(rows.map((one) => one.className), ["noticeable", "", ""]);
  assert.deepEqual([...(rows[0]?.querySelectorAll("td") ?? [])].map((one) => one.textContent), ["Found of enough answers.", "Ask for more."]);
});

test("closing asks for nothing, and opening again asks anew", async () => {
  answers = [{ sentence: "First.", checks: [row("a", "passed")] }, { sentence: "Second.", checks: [] }];
  toggle(true);
  toggle(false);
  toggle(true);
  assert.equal(asked.length, 2);
  release[1]?.();
  await settled();
  release[0]?.(); // the older answer comes later, and is not shown
  await settled();
  assert.equal(text("checks-words"), "Second.");
  assert.equal(document.querySelectorAll("#checks-rows tr").length, 0);
});

test("what the server refuses is not left waiting for ever", async () => {
  refuses = true;
  toggle(true);
  await settled();
  assert.equal(text("checks-words"), "Not known now; close this and open it again.");
});

test("words of the server are text, not markup", async () => {
  answers = [{ sentence: "<b>1</b>", checks: [{ ...row("<i>2</i>", "passed"), found: "<script>3</script>", advice: "<img src=x>" }] }];
  toggle(true);
  release[0]?.();
  await settled();
  assert.equal(document.querySelectorAll("b, i, script, img").length, 0);
  assert.equal(text("checks-words"), "<b>1</b>");
});
