import assert from "node:assert/strict";
import { test } from "node:test";

import { pointLabels } from "../../../static/js/chart/point-labels.js";
import { cloud, stored, written } from "../label-cases.js";

/** @import { Box } from "../../../static/js/chart/point-labels.js" */

/** @type {{ lines: [], discs: [], taken: [], inside: Box, most: number }} */
const FREE = { lines: [], discs: [], taken: [], inside: [0, 0, 300, 200], most: 7 };
const POINT = { px: 150, py: 100, radius: 5, width: 60 };

test("names stand where the golden file has them", () => {
  assert.equal(written(), stored());
});

test("no name hides a roof, a point, another name, or leaves the frame, at any size", () => {
  for (const seed of [1, 2, 3, 4, 5])
    for (const [width, height] of [
      [300, 280],
      [560, 420],
      [1400, 700],
    ]) {
      const chart = cloud({ seed, points: 150, width, height, most: 12 });
      const labels = pointLabels(chart.wanted, chart);
      const boxes = labels.map(({ of, x, y }) => [x, y - 10, x + chart.wanted[of].width, y + 3]);
      for (const [i, [left, top, right, bottom]] of boxes.entries()) {
        assert.ok(left >= 0 && top >= 0 && right <= width && bottom <= height);
        for (const { px, py, radius } of chart.discs) {
          const [x, y] = [Math.min(right, Math.max(left, px)), Math.min(bottom, Math.max(top, py))];
          assert.ok(Math.hypot(x - px, y - py) > radius - 0.2);
        }
        for (const other of boxes.slice(i + 1))
          assert.ok(left > other[2] || right < other[0] || top > other[3] || bottom < other[1]);
      }
    }
});

test("a name stands beside its point; farther away a line leads to it", () => {
  const [near] = pointLabels([POINT], FREE);
  assert.deepEqual([near.of, near.x, near.leader], [0, 158, null]);
  /** @type {[number, number, number, number][]} */
  const lines = [
    [0, 86, 300, 86],
    [0, 114, 300, 114],
    [136, 0, 136, 200],
    [164, 0, 164, 200],
  ];
  const [far] = pointLabels([POINT], { ...FREE, lines });
  assert.ok(far.leader);
  assert.ok(Math.abs(Math.hypot(far.leader[0] - 150, far.leader[1] - 100) - 5) < 0.1);
});

test("a name without a free place is left out, and there are at most so many", () => {
  assert.deepEqual(pointLabels([POINT], { ...FREE, taken: [[0, 0, 300, 200]] }), []);
  assert.deepEqual(pointLabels([{ ...POINT, width: 400 }], FREE), []);
  assert.equal(pointLabels([POINT, POINT, POINT], { ...FREE, most: 2 }).length, 2);
});
