import assert from "node:assert/strict";
import { test } from "node:test";

import { bounded, LARGEST, scaled, WHOLE } from "../../src/ordinate/server/static/zoom.js";

/**
 * Where on the screen a place of the picture is, both in shares of the box from its middle.
 * @param {import("../../src/ordinate/server/static/zoom.js").View} view
 * @param {[number, number]} place
 */
const onScreen = ({ scale, x, y }, [across, down]) => [x + scale * across, y + scale * down];

/** @param {number[]} found @param {number[]} expected */
const close = (found, expected) => found.forEach((value, place) => assert.ok(Math.abs(value - (expected[place] ?? NaN)) < 1e-12));

test("the place that is enlarged stays where it is", () => {
  for (const factor of [1.5, 4]) {
    const view = scaled(WHOLE, factor, 0.2, -0.3);
    close(onScreen(view, [0.2, -0.3]), [0.2, -0.3]);
    assert.equal(view.scale, factor);
  }
});

test("so it does in a picture that is enlarged and moved already", () => {
  const before = { scale: 4, x: 0.6, y: -0.4 };
  const after = scaled(before, 1.5, -0.1, 0.25);
  /** @type {[number, number]} the place of the picture that is at this place of the box */
  const place = [(-0.1 - before.x) / 4, (0.25 - before.y) / 4];
  close(onScreen(before, place), [-0.1, 0.25]);
  close(onScreen(after, place), [-0.1, 0.25]);
});

test("in and out again by the same factor is the whole picture", () => {
  const view = scaled(scaled(WHOLE, 3, 0.4, 0.1), 1 / 3, -0.2, 0.3);
  close([view.scale, view.x, view.y], [1, 0, 0]);
});

test("nothing is smaller than whole or larger than the limit", () => {
  assert.deepEqual(scaled(WHOLE, 0.1, 0.3, 0.3), { scale: 1, x: 0, y: 0 });
  assert.equal(scaled(WHOLE, 1e6, 0, 0).scale, LARGEST);
});

test("the picture always covers its box", () => {
  const view = bounded({ scale: 3, x: 5, y: -5 });
  assert.deepEqual(view, { scale: 3, x: 1, y: -1 });
  close(onScreen(view, [-0.5, 0.5]), [-0.5, 0.5]);
  assert.deepEqual(bounded({ scale: 3, x: 0.5, y: -0.2 }), { scale: 3, x: 0.5, y: -0.2 });
});
