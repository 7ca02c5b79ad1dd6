import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.js";
import { expectedInWords } from "../../src/ordinate/server/static/owner-answers.js";

test("no answer is certain", () => {
  assert.deepEqual([0, 0.004, 0.006, 0.25, 0.97, 0.9999].map(expectedInWords), [
    "expected with more than 99\u00a0% probability",
    "expected with more than 99\u00a0% probability",
    "expected with 99\u00a0% probability",
    "expected with 75\u00a0% probability",
    "expected with 3.0\u00a0% probability",
    "expected with less than 0.1\u00a0% probability",
  ]);
});
