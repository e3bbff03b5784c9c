import assert from "node:assert/strict";
import { test } from "node:test";

import { waterfall } from "../../../static/js/chart/waterfall-places.js";

test("bars go from the largest help to the largest loss and end at B", () => {
  const found = waterfall({ traffic: -30, new: 10, idle: 0, closeness: -5 }, 100, 0.1);
  assert.deepEqual(
    found.bars.map(({ id }) => id),
    ["traffic", "closeness", "new"],
  );
  assert.deepEqual(found.zero, ["idle"]);
  const last = found.bars[found.bars.length - 1];
  assert.ok(Math.abs(last.end - found.b) < 1e-9);
  const [first] = found.bars;
  assert.ok(Math.abs(first.left + first.width - found.a) < 1e-9, "it begins at the end of A");
  assert.ok(found.isCut);
  for (const { left, width } of found.bars) assert.ok(left >= 0 && left + width <= 100);
});

test("a change as large as A is drawn from zero", () => {
  const found = waterfall({ gone: -100 }, 100, 0.1);
  assert.equal(found.isCut, false);
  assert.equal(found.b, 0);
  const rounded = waterfall({ gone: -0.1, idle: -0.2, calls: -0.30000000000000004 }, 0.6, 0);
  assert.equal(rounded.b, 0, "a sum a rounding below zero has no negative width");
});

test("without a change there are two equal ends and no bar", () => {
  const found = waterfall({ traffic: 0 }, 100, 0.1);
  assert.equal(found.bars.length, 0);
  assert.equal(found.a, found.b);
});
