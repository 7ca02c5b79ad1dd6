import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import "./page.js";
import { itemsOf, leaseOf, Pairs } from "../../src/ordinate/server/static/pairs.js";

/** @param {string[]} ids @param {string | null} expires_at */
const given = (ids, expires_at = null) => ({
  queries: ids.map((id) => ({ id, left: { id: `${id} left` }, right: { id: `${id} right` }, expires_at })),
  serverTime: Date.now(),
});
const open = (owner = "study:ann") => new Pairs(({ id }) => ({ id }), owner);
const none = () => false;

beforeEach(() => sessionStorage.clear());

test("pairs come in the order of the server, each once", () => {
  const pairs = open();
  assert.equal(pairs.add(given(["q1", "q2"]), none), 2);
  assert.equal(pairs.add(given(["q1", "q2", "q3"]), none), 1);
  assert.equal(pairs.advance()?.id, "q1");
  assert.equal(pairs.add(given(["q1"]), none), 0, "it is on the screen");
  assert.equal(pairs.held, 3);
});

test("what was answered does not come back, here or in another tab or while the answer waits", () => {
  const pairs = open();
  pairs.add(given(["q1", "q2", "q3"]), none);
  pairs.advance();
  assert.equal(pairs.answer().id, "q1");
  assert.equal(pairs.answeredElsewhere("q2"), false, "it was not on the screen");
  assert.equal(pairs.add(given(["q1", "q2", "q3", "q4"]), ({ id }) => id === "q4"), 0);
  assert.deepEqual(pairs.ahead.map(({ id }) => id), ["q3"]);
  pairs.reopenQuery("q2");
  assert.equal(pairs.add(given(["q1", "q2"]), none), 1);
  pairs.forgetAnswered();
  assert.equal(pairs.add(given(["q1", "q2"]), none), 1);
});

test("a pair that the server lists again by another id is not shown twice", () => {
  const pairs = open();
  /** @param {string} id @param {string} left @param {string} right */
  const listed = (id, left, right) => ({ queries: [{ id, left: { id: left }, right: { id: right } }], serverTime: Date.now() });
  pairs.add(listed("q1", "a", "b"), none);
  assert.equal(pairs.add(listed("q2", "b", "a"), none), 0, "it is ahead");
  const first = pairs.advance();
  assert.equal(pairs.add(listed("q2", "b", "a"), none), 0, "it is on the screen");
  pairs.answer();
  assert.equal(pairs.add(listed("q2", "b", "a"), (query) => itemsOf(query) === first?.items), 0, "its answer is on its way");
  assert.equal(pairs.add(listed("q3", "b", "c"), none), 1);
  assert.equal(pairs.add(listed("q2", "b", "a"), none), 1, "it is asked again later");
  pairs.reopen(/** @type {any} */ (first));
  assert.deepEqual([pairs.current?.id, ...pairs.ahead.map(({ id }) => id)], ["q1", "q3"]);
});

test("after a reload the pair that was on the screen comes first", () => {
  const before = open();
  before.add(given(["q1", "q2"]), none);
  before.advance();
  before.answer();
  assert.equal(before.advance()?.id, "q2");
  const after = open();
  after.add(given(["q3", "q2"]), none);
  assert.equal(after.advance()?.id, "q2");
});

test("what was on the screen is remembered for each person of each study", () => {
  for (const owner of ["study:ann", "study:bob", "other:ann"]) {
    const pairs = open(owner);
    pairs.add(given(["q1", "q2"]), none);
    assert.equal(pairs.advance()?.id, "q1", owner);
    pairs.answer();
    pairs.advance();
  }
});

test("a pair that is reopened takes the place of the one on the screen, which waits", () => {
  const pairs = open();
  pairs.add(given(["q1", "q2", "q3"]), none);
  pairs.advance();
  const first = pairs.answer();
  pairs.advance();
  pairs.reopen(first);
  assert.equal(pairs.current?.id, "q1");
  assert.deepEqual(pairs.ahead.map(({ id }) => id), ["q2", "q3"]);
  assert.equal(pairs.answer().id, "q1");
  assert.equal(pairs.advance()?.id, "q2");
});

test("a pair that is gone leaves the screen or the queue", () => {
  const pairs = open();
  pairs.add(given(["q1", "q2"]), none);
  pairs.advance();
  assert.equal(pairs.drop("q2"), false);
  assert.equal(pairs.drop("q1"), true);
  assert.equal(pairs.held, 0);
  assert.equal(pairs.advance(), null);
  assert.throws(() => pairs.answer(), /no pair on the screen/);
});

test("leases are kept on this device's clock, however wrong it is", () => {
  const wrong = Date.now() - 86_400_000;
  const { span, until } = leaseOf(new Date(wrong + 60_000).toISOString(), wrong);
  assert.equal(span, 60_000);
  assert.ok(Math.abs(until - Date.now() - 60_000) < 1000);
  assert.equal(leaseOf(null, wrong).until, Infinity);
});

test("expired pairs are dropped, but for the one on the screen", () => {
  const pairs = open();
  pairs.add(given(["q1", "q2"], new Date(Date.now() - 1).toISOString()), none);
  pairs.add(given(["q3"]), none);
  pairs.advance();
  pairs.dropExpired();
  assert.equal(pairs.current?.id, "q1");
  assert.deepEqual(pairs.ahead.map(({ id }) => id), ["q3"]);
});

test("no more pairs are asked for than one request may have", () => {
  assert.equal(open().wanted(0), 5);
  assert.equal(open().wanted(2, 1), 3);
  assert.equal(open().wanted(100), 20);
});
