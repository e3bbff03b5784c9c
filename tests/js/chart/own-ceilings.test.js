import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import { ownCeilings, ownObstacles } from "../../../static/js/chart/own-ceilings.js";
import { createModel, JOINED } from "../../../static/js/state/model.js";
import { level, memoryRoof, pageWith, plain, there } from "../builders.js";

const scale = createScale(
  [
    [-1, 4],
    [1, 6],
  ],
  { width: 600, height: 400, margin: { l: 80, r: 10, t: 10, b: 40 } },
);

/** An op at 20 FLOP/B of HBM and 2 of VMEM, 94 % and 40 % of its 10 µs; L2 is not one of its memories. */
function opened() {
  const page = pageWith([["fusion.1", "fusion", "HBM", "known", 0.5, 20, 10_000]]);
  page.levels = [level("hbm", "HBM"), level("vmem_read", "VMEM Read"), level("l2", "L2")];
  page.roofs.memory = [
    memoryRoof(1000),
    memoryRoof(20_000, { id: "vmem_read", label: "VMEM Read" }),
    memoryRoof(5000, { id: "l2", label: "L2" }),
  ];
  Object.assign(page.ops.columns, {
    total_time_us: [10],
    hbm_intensity: [20],
    vmem_read_intensity: [2],
    l2_intensity: [null],
    hbm_clock_us: [9.4],
    vmem_read_clock_us: [4],
    l2_clock_us: [null],
  });
  const model = createModel(page);
  const view = model.view("in");
  return { model, view, point: { row: view.rows[0], x: Math.log10(20), y: 4 } };
}

/** @param {string} axis */
function own(axis) {
  const { model, view, point } = opened();
  return ownCeilings(model, view, point, { scale, axis });
}

test("exactly the ceilings of the op are drawn, with a dot per clock at its own intensity", () => {
  const { ceilings, dots } = there(own("bottleneck"));
  assert.deepEqual(
    ceilings.map(({ token }) => token),
    ["--roof-hbm", "--roof-hbm", "--roof-compute"],
  );
  assert.deepEqual(
    dots.map(({ text }) => plain(text)),
    ["94 % of HBM", "40 % of VMEM Read"],
  );
  const [hbm, vmem] = dots;
  assert.ok(Math.abs(hbm.px - scale.toX(Math.log10(20))) < 1e-9);
  assert.ok(Math.abs(vmem.px - scale.toX(Math.log10(2))) < 1e-9);
  assert.equal(hbm.py, scale.toY(4));
  assert.ok(Math.abs(hbm.roofY - scale.toY(Math.log10(20_000))) < 1e-9);
});

test("on the axis of one level its ceiling alone is drawn, and none where all are joined", () => {
  const { dots } = there(own("vmem_read"));
  assert.deepEqual(
    dots.map(({ text }) => plain(text)),
    ["40 % of VMEM Read"],
  );
  assert.equal(own(JOINED), null);
});

test("without any known ceiling nothing is drawn", () => {
  const { model, view, point } = opened();
  model.roofs.compute = [];
  model.levels = [];
  assert.equal(ownCeilings(model, view, point, { scale, axis: "bottleneck" }), null);
});

test("names keep away from the op, its dots, ceilings and drops", () => {
  const found = there(own("bottleneck"));
  const around = ownObstacles(found, { px: 1, py: 1, radius: 9 }, (text) => 6 * text.length);
  assert.equal(around.lines.length, 5);
  assert.equal(around.discs.length, 3);
  assert.ok(around.taken.length >= 1);
});
