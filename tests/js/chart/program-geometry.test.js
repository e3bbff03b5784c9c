import assert from "node:assert/strict";
import { test } from "node:test";

import { programGeometry } from "../../../static/js/chart/program-geometry.js";
import { createModel } from "../../../static/js/state/model.js";
import { computeRoof, memoryRoof, pageWith, programPoint, there } from "../builders.js";

/** @import { ProgramPoint } from "../../../static/js/types/page-data.js" */

const BOX = { width: 300, height: 250, margin: { l: 70, r: 10, t: 8, b: 38 } };
const place = { bottleneck_intensity: 50, flop_rate_gflops: 20_000, bound_by: 1 };
const MODEL = createModel(pageWith([]));
/** @param {ProgramPoint[]} points */
const geometry = (points) => programGeometry(MODEL, points, MODEL.roofs, BOX);

const TOTAL = programPoint({ ...place, attainable_gflops: 50_000, roofline_efficiency_ratio: 0.4 });
const STEPS = Array.from({ length: 5 }, (_, i) =>
  programPoint({ ...place, scope: "step", label: String(i), order: i / 4 }),
);

test("the whole program is drawn above its steps, with its gap to the roof", () => {
  const { places, total } = geometry([TOTAL, ...STEPS]);
  assert.equal(places.at(-1)?.point, TOTAL);
  assert.equal(there(total).share, 0.4);
  assert.ok(Math.abs(there(total).roof - Math.log10(50_000)) < 1e-12);
});

test("points without FLOPs or bytes have no place, and no gap is drawn", () => {
  const nowhere = programPoint({ bottleneck_intensity: null, flop_rate_gflops: 5 });
  const { places, total } = geometry([nowhere]);
  assert.deepEqual([places, total], [[], null]);
});

test("thousands of steps on one spot need few marks; an outlier keeps its own", () => {
  const many = Array.from({ length: 2000 }, (_, i) => ({ ...STEPS[0], label: String(i) }));
  const odd = programPoint({ ...place, scope: "step", label: "odd", is_outlier: true });
  const { places } = geometry([TOTAL, ...many, odd]);
  assert.ok(places.length < 10);
  assert.ok(places.some(({ point }) => point === odd));
});

test("the range holds the points, the ridge and the roof's label", () => {
  const { scale, corner } = geometry([TOTAL]);
  assert.ok(there(corner).x < scale.xRange[1] && there(corner).y < scale.yRange[1]);
  assert.ok(scale.yRange[0] < Math.log10(20_000));
});

test("the gap is read against the memory that binds, not the outermost one", () => {
  const page = pageWith([]);
  page.bounds.push({ ...page.bounds[1], id: "L2", label: "L2", spoken: "L2-bound", level: "l2" });
  const roofs = {
    compute: [computeRoof(100_000)],
    memory: [memoryRoof(1000), memoryRoof(9000, { id: "l2" })],
  };
  const found = programGeometry(createModel(page), [{ ...TOTAL, bound_by: 3 }], roofs, BOX);
  assert.equal(found.main?.id, "l2");
});

test("no gap leads to a roof that is not drawn", () => {
  const none = { memory: [], compute: MODEL.roofs.compute };
  assert.equal(programGeometry(MODEL, [TOTAL], none, BOX).total, null);
});
