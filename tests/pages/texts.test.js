import assert from "node:assert/strict";
import { test } from "node:test";

import { settingOf, withoutFences } from "../../src/ordinate/server/static/texts.js";

const PROSE = "Schools should start later. Teenagers fall asleep late, and lessons at eight reach nobody who is awake.";
const PYTHON = "def area(width, height):\n    return width * height";
const BRACES = "int main() {\n  int sum = 0;\n  return sum;\n}";

test("short texts are short only where both are", () => {
  assert.equal(settingOf(["A cat", "A dog"]), "short");
  assert.equal(settingOf(["A cat", PROSE]), "prose");
  assert.equal(settingOf(["one\ntwo\nthree\nfour", "A dog"]), "prose");
});

test("code is code even where only one looks like it", () => {
  for (const text of [PYTHON, BRACES, "```\nx\n```", "import os\nfrom pathlib import Path;\n\nfor x in y:\n\tprint(x)"])
    assert.equal(settingOf([text, "A cat"]), "code", text);
});

test("prose with indents, lists and keywords is no code", () => {
  for (const text of [PROSE, `  ${PROSE}\n\n${PROSE}\n${PROSE}`, "If it rains, we stay.\nFor now, we wait.", "- one\n- two\n- three\n- four", "return", "A line in {braces};"])
    assert.notEqual(settingOf([text, PROSE]), "code", text);
});

test("fences around code are not shown", () => {
  assert.equal(withoutFences("```python\nx = 1\ny = 2\n```\n"), "x = 1\ny = 2");
  assert.equal(withoutFences(PYTHON), PYTHON);
});
