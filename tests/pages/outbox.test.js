import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import "./page.js";
import { NoNetwork, Refused } from "../../src/ordinate/server/static/api.js";
import { Outbox } from "../../src/ordinate/server/static/outbox.js";
import { Kept } from "../../src/ordinate/server/static/storage.js";

/** @typedef {import("../../src/ordinate/server/static/outbox.js").Told} Told */

/** @type {{path: string, body: any, key: string | undefined}[]} what reached the server */
let arrived;
/** @type {(() => Promise<object>)[]} what the server does with the next requests; then it accepts */
let replies;
/** @type {string[]} */
let events;
/** @type {Kept} */
let kept;

const api = {
  /** @param {string} path @param {any} body @param {Record<string, string>} [headers] */
  post: async (path, body, headers) => {
    arrived.push({ path, body, key: headers?.["Idempotency-Key"] });
    return (await replies.shift()?.()) ?? {};
  },
};
/** @param {Error} error */
const fails = (error) => () => Promise.reject(error);
/** @param {string} query @param {import("../../src/ordinate/server/static/api.js").Answer} answer @returns {Told} */
const told = (query, answer = "left") => ({ query, answer });

const open = () =>
  new Outbox(api, kept, "study:ann", {
    prepare: (body) => ({ ...body, count: 5 }),
    accepted: (entry) => events.push(`accepted ${entry.undo ? "undo of " : ""}${entry.body.query}`),
    refused: (entry, error) => events.push(`refused ${entry.body.query}: ${error.message}`),
    stopped: (error) => events.push(`stopped: ${error.message}`),
    changed: () => {},
  });

beforeEach(() => {
  arrived = [];
  replies = [];
  events = [];
  kept = new Kept(null);
  mock.timers.reset();
});

test("an answer is sent with a key of its own, and gone once it is accepted", async () => {
  const outbox = open();
  const key = outbox.add(told("q1"));
  assert.ok(outbox.has("q1"));
  assert.equal(outbox.pending, 1);
  await outbox.flush();
  assert.deepEqual(arrived, [{ path: "/answers", body: { query: "q1", answer: "left", count: 5 }, key }]);
  assert.deepEqual(events, ["accepted q1"]);
  assert.deepEqual(outbox.entries, []);
  assert.equal(outbox.pending, 0);
});

test("answers arrive in the order in which they were given", async () => {
  const outbox = open();
  for (const query of ["q1", "q2", "q3"]) outbox.add(told(query));
  await outbox.flush();
  assert.deepEqual(arrived.map(({ body }) => body.query), ["q1", "q2", "q3"]);
});

test("without a network answers wait, are sent again with the same key, and a reload keeps them", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  replies = [fails(new NoNetwork("away"))];
  const key = open().add(told("q1"));
  await new Promise(setImmediate);
  const reloaded = open();
  assert.deepEqual(reloaded.entries.map(({ body }) => body.query), ["q1"]);
  await reloaded.flush();
  assert.deepEqual(arrived.map((one) => one.key), [key, key]);
  assert.deepEqual(events, ["accepted q1"]);
});

test("a busy server is asked again after the time that it says", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  replies = [fails(new Refused(503, "busy", 7))];
  const outbox = open();
  outbox.add(told("q1"));
  await new Promise(setImmediate);
  assert.ok(outbox.trouble instanceof Refused);
  mock.timers.tick(6999);
  assert.equal(arrived.length, 1);
  mock.timers.tick(1);
  await new Promise(setImmediate);
  assert.equal(arrived.length, 2);
  assert.equal(outbox.trouble, null);
});

test("pauses grow up to a limit while the network is away", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  replies = Array.from({ length: 8 }, () => fails(new NoNetwork("away")));
  open().add(told("q1"));
  const pauses = [];
  for (let sent = 1; sent < 8; sent++) {
    await new Promise(setImmediate);
    let waited = 0;
    while (arrived.length === sent && waited < 60) {
      mock.timers.tick(1000);
      waited += 1;
    }
    pauses.push(waited);
  }
  assert.deepEqual(pauses, [1, 2, 4, 8, 15, 15, 15]);
});

test("a refused answer is dropped and told of, and the next one is sent", async () => {
  replies = [fails(new Refused(409, "too late", undefined, "urn:ordinate:AlreadyAnswered"))];
  const outbox = open();
  outbox.add(told("q1"));
  outbox.add(told("q2"));
  await outbox.flush();
  assert.deepEqual(events, ["refused q1: too late", "accepted q2"]);
});

for (const [status, detail, type] of /** @type {[number, string, string | undefined][]} */ ([
  [404, "no study 'essays' is served here", "about:blank"],
  [404, "the server answered 404", undefined],
  [400, "the server answered 400", undefined],
  [408, "the body did not arrive within 30 s", "about:blank"],
  [409, "ann is the name of a model", "about:blank"],
  [413, "the server answered 413", undefined],
  [503, "the study cannot be opened at the moment", "urn:ordinate:TryLater"],
]))
  test(`what says nothing of an answer (${status} "${detail}") drops none`, async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const refusal = new Refused(status, detail, undefined, type);
    replies = [fails(refusal)];
    const outbox = open();
    for (const query of ["q1", "q2", "q3"]) outbox.add(told(query));
    await outbox.flush();
    assert.deepEqual([events, outbox.entries.length, arrived.length], [[], 3, 1]);
    assert.equal(outbox.trouble, refusal);
    mock.timers.tick(1000);
    await outbox.flush();
    assert.deepEqual(events, ["accepted q1", "accepted q2", "accepted q3"]);
  });

for (const status of [401, 403])
  test(`a link that does not count any more (${status}) stops sending and keeps what waits`, async () => {
    replies = [fails(new Refused(status, "revoked"))];
    const outbox = open();
    outbox.add(told("q1"));
    outbox.add(told("q2"));
    await outbox.flush();
    assert.deepEqual(events, ["stopped: revoked"]);
    assert.equal(outbox.entries.length, 2);
  });

test("an answer to a pair that is somebody else's is dropped and told of, and the next one is sent", async () => {
  replies = [fails(new Refused(403, "given to somebody else", undefined, "urn:ordinate:NotYourQuery"))];
  const outbox = open();
  outbox.add(told("q1"));
  outbox.add(told("q2"));
  await outbox.flush();
  assert.deepEqual(events, ["refused q1: given to somebody else", "accepted q2"]);
});

test("an answer that was not sent is taken back without the server", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  replies = [fails(new NoNetwork("away"))];
  const outbox = open();
  outbox.add(told("q1"));
  const second = outbox.add(told("q2"));
  await new Promise(setImmediate);
  outbox.takeBack(second, told("q2"));
  assert.deepEqual(outbox.entries.map(({ body }) => body.query), ["q1"]);
  await outbox.flush();
  assert.deepEqual(events, ["accepted q1"]);
});

test("an answer that may have arrived is followed by its undo, and by a new answer", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  replies = [fails(new NoNetwork("the response was lost"))];
  const outbox = open();
  const key = outbox.add(told("q1"));
  await new Promise(setImmediate);
  outbox.takeBack(key, told("q1"));
  assert.equal(outbox.pending, 0);
  outbox.add(told("q1", "right"));
  assert.equal(outbox.pending, 1);
  await outbox.flush();
  assert.deepEqual(events, ["accepted q1", "accepted undo of q1", "accepted q1"]);
  assert.deepEqual(arrived.slice(1).map(({ path, body }) => [path, body.answer ?? body.key]), [
    ["/answers", "left"],
    ["/undo", key],
    ["/answers", "right"],
  ]);
});

test("a skip that is on its way is not counted as an answer", () => {
  const outbox = open();
  outbox.add(told("q1", "skip"));
  assert.equal(outbox.pending, 0);
});

test("an undo that the server has done already is no error", async () => {
  replies = [async () => ({}), fails(new Refused(409, "taken back already", undefined, "urn:ordinate:NothingToUndo"))];
  const outbox = open();
  const key = outbox.add(told("q1"));
  await outbox.flush();
  outbox.takeBack(key, told("q1"));
  await outbox.flush();
  assert.deepEqual(events, ["accepted q1"]);
  assert.deepEqual(outbox.entries, []);
});

test("an answer also stands for another query of the same pair while it waits", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  replies = [fails(new NoNetwork("away"))];
  const outbox = open();
  outbox.add(told("q1"), "a and b");
  await new Promise(setImmediate);
  const reloaded = open();
  assert.deepEqual([reloaded.has("q9", "a and b"), reloaded.has("q9", "a and c"), reloaded.has("q9")], [true, false, false]);
  await reloaded.flush();
  assert.equal(reloaded.has("q9", "a and b"), false);
  assert.deepEqual(arrived.at(-1)?.body, { query: "q1", answer: "left", count: 5 });
});

test("answers of others in this browser stay where they are", async () => {
  kept.set("answer:study:bob:k", { key: "k", at: 1, sent: false, body: told("theirs") });
  kept.set("answer:study:ann: the second:k", { key: "k", at: 1, sent: false, body: told("hers") });
  const outbox = open();
  outbox.add(told("q1"));
  await outbox.flush();
  assert.deepEqual(events, ["accepted q1"]);
  assert.ok(kept.get("answer:study:bob:k"));
  assert.ok(kept.get("answer:study:ann: the second:k"));
});
