import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import { joinLevels, levelDots } from "../../../static/js/chart/joined-levels.js";
import { createModel, JOINED } from "../../../static/js/state/model.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { level, pageWith } from "../builders.js";

/** @import { OpTuple } from "../builders.js" */

/** @param {OpTuple[]} ops */
function twoLevels(ops) {
  const page = pageWith(ops);
  page.bounds.push({
    id: "L2",
    label: "L2",
    spoken: "L2-bound",
    kind: "slanted",
    token: "--roof-l2",
    dash: "dash",
    level: "l2",
  });
  page.levels.push(level("l2", "L2"));
  page.x_axes.push(
    { id: "hbm", label: "HBM", column: "hbm_intensity" },
    { id: "l2", label: "L2", column: "l2_intensity" },
  );
  page.ops.columns.hbm_intensity = ops.map(() => 100);
  page.ops.columns.l2_intensity = ops.map((_, i) => (i === 1 ? null : 10));
  return page;
}

/** @type {OpTuple[]} */
const OPS = Array.from({ length: 60 }, (_, i) => [
  `op${i}`,
  "fusion",
  "HBM",
  "known",
  1 / (i + 2),
  100,
  50,
]);
const scale = createScale(
  [
    [0, 3],
    [0, 3],
  ],
  { width: 600, height: 400, margin: { l: 80, r: 20, t: 10, b: 40 } },
);

test("the joined axis exists where several levels were counted", () => {
  assert.ok(createModel(twoLevels(OPS)).x_axes.some(({ id }) => id === JOINED));
  assert.ok(!createModel(pageWith(OPS)).x_axes.some(({ id }) => id === JOINED));
});

test("an op has a point per level on one line; the longest and the selected one are joined", () => {
  const model = createModel(twoLevels(OPS));
  const view = model.view("in");
  const dots = levelDots(
    model,
    view,
    view.rows.map((row) => ({ row })),
  );
  assert.equal(dots.length, 2 * 60 - 1);
  const joined = joinLevels(dots, scale, { ...DEFAULTS, op: 59 }, new Set(view.rows));
  const drawn = new Set(joined.dots.map(({ row }) => row.op));
  assert.equal(drawn.size, 51);
  assert.ok(drawn.has(59));
  assert.equal(joined.lines.length, 50);
  assert.equal(joined.left, 10);
  const first = joined.dots.filter(({ row }) => row.op === 0);
  assert.deepEqual(
    first.filter(({ isBound }) => isBound).map(({ level }) => level.id),
    ["hbm"],
  );
  const few = joinLevels(dots, scale, { ...DEFAULTS }, new Set(view.rows.slice(0, 3)));
  assert.equal(new Set(few.dots.map(({ row }) => row.op)).size, 3);
});
