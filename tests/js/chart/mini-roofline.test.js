import assert from "node:assert/strict";
import { test } from "node:test";

import { miniGeometry } from "../../../static/js/chart/mini-roofline.js";

const MEMORY = { gbs: 1000 };
const COMPUTE = { gflops: 100_000 };

test("the op stands below its roof, at its share", () => {
  const { share, ridge, point } = miniGeometry({ memory: MEMORY, compute: COMPUTE, place: [1, 3] });
  assert.ok(Math.abs(share - 0.1) < 1e-12);
  assert.ok(Math.abs(Number(ridge) - 100) < 1e-9);
  assert.ok(point.y > point.roofY, "pixels grow downwards");
});

test("right of the ridge the compute roof counts", () => {
  const { share, point, bend } = miniGeometry({ memory: MEMORY, compute: COMPUTE, place: [3, 4] });
  assert.ok(Math.abs(share - 0.1) < 1e-12);
  assert.ok(Math.abs(point.roofY - bend.y) < 1e-9);
});

test("everything lies inside the picture, also without a compute peak", () => {
  for (const compute of [COMPUTE, null]) {
    const { point, start, bend, ridge } = miniGeometry({
      memory: MEMORY,
      compute,
      place: [0.5, 2],
    });
    for (const { x, y } of [point, start, bend]) {
      assert.ok(x >= 8 - 1e-9 && x <= 292 + 1e-9, `${x}`);
      assert.ok(y >= 14 - 1e-9 && y <= 100 + 1e-9, `${y}`);
    }
    assert.equal(ridge === null, compute === null);
  }
});
