import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import { obstaclesOf } from "../../../static/js/chart/obstacles.js";
import { ridge } from "../../../static/js/chart/roofs.js";
import { pageWith } from "../builders.js";

const BOX = { width: 600, height: 400, margin: { l: 80, r: 10, t: 10, b: 40 } };

test("roofs, their labels, ridges and the words at the foot are in the way", () => {
  const { roofs } = pageWith([]);
  const [main] = roofs.memory;
  const scale = createScale(
    [
      [-1, 4],
      [1, 6],
    ],
    BOX,
  );
  const [flat] = roofs.compute;
  const corner = ridge(main, flat);
  const chart = { shown: roofs, scale, main, flat, corner, points: [{ px: 1, py: 2, radius: 3 }] };
  const found = obstaclesOf(chart, [{ px: 9, py: 9, radius: 4 }]);
  assert.equal(found.lines.length, roofs.memory.length + roofs.compute.length);
  assert.deepEqual(found.discs, [
    { px: 1, py: 2, radius: 3 },
    { px: 9, py: 9, radius: 5 },
  ]);
  const end = found.lines[found.lines.length - 1];
  assert.ok(Math.abs(end[1] - scale.toY(Math.log10(flat.gflops))) < 1e-9, "a flat roof is flat");
  assert.ok(found.taken.length > 5, "a slanted label is a chain of boxes");
  const tenth = scale.toY(Math.log10(flat.gflops) - 1);
  assert.ok(found.taken.some(([, , right, bottom]) => right === 590 && bottom === tenth));
  const shares = obstaclesOf({ ...chart, isShare: true }, []).taken;
  assert.ok(!shares.some(([, , , bottom]) => bottom === tenth), "heights are not rates");
  const bare = { ...chart, shown: { memory: [], compute: [] } };
  assert.deepEqual(obstaclesOf(bare, []).taken, []);
});
