import assert from "node:assert/strict";
import { test } from "node:test";

import { Kept, unique } from "../../src/ordinate/server/static/storage.js";
import { MemoryStorage } from "./memory.js";

for (const [where, storage] of /** @type {const} */ ([["a browser that stores", new MemoryStorage()], ["one that does not", null]]))
  test(`what is kept comes back, in ${where}`, () => {
    const kept = new Kept(storage);
    assert.equal(kept.lasting, storage !== null);
    assert.equal(kept.get("a"), undefined);
    kept.set("a", { one: [1, null] });
    kept.set("a:b", false);
    assert.deepEqual(kept.get("a"), { one: [1, null] });
    assert.equal(kept.get("a:b"), false);
    assert.deepEqual(kept.names("a").sort(), ["a", "a:b"]);
    assert.deepEqual(kept.names("a:"), ["a:b"]);
    kept.remove("a");
    assert.equal(kept.get("a"), undefined);
    assert.deepEqual(kept.names(""), ["a:b"]);
  });

test("names of other programs are left alone", () => {
  const storage = new MemoryStorage();
  storage.setItem("other", "no JSON");
  const kept = new Kept(storage);
  kept.set("mine", 1);
  assert.deepEqual(kept.names(""), ["mine"]);
  assert.equal(storage.getItem("ordinate:mine"), "1");
});

test("on a full disk the newest value counts, and nothing comes twice", () => {
  const kept = new Kept(new MemoryStorage(40));
  kept.set("answer", "short");
  kept.set("answer", "x".repeat(100));
  assert.equal(kept.get("answer"), "x".repeat(100));
  assert.deepEqual(kept.names(""), ["answer"]);
  kept.set("answer", "again");
  assert.equal(kept.get("answer"), "again");
  kept.remove("answer");
  assert.equal(kept.get("answer"), undefined);
});

test("unique names differ", () => {
  const names = new Set(Array.from({ length: 1000 }, unique));
  assert.equal(names.size, 1000);
  assert.match(unique(), /^[0-9a-f]{32}$/);
});
