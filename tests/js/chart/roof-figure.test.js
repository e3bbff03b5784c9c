import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import { roofParts, roofPlaces } from "../../../static/js/chart/roof-figure.js";
import { ridge } from "../../../static/js/chart/roofs.js";
import { computeRoof, memoryRoof, PAINT, plain, there } from "../builders.js";

const HBM = memoryRoof(1000);
const PEAK = computeRoof(100_000);
const scale = createScale(
  [
    [-1, 4],
    [1, 6],
  ],
  { width: 700, height: 500, margin: { l: 80, r: 20, t: 10, b: 40 } },
);
const chart = {
  shown: {
    memory: [HBM],
    compute: [PEAK, computeRoof(8000, { id: "vector_fp32", label: "Vector <fp32>" })],
  },
  main: HBM,
  flat: PEAK,
  corner: ridge(HBM, PEAK),
  scale,
};
/** @param {ReturnType<typeof roofParts>} parts */
const texts = ({ annotations }) => annotations.map(({ text }) => plain(text));

test("a roof is a line, and the main one is the thickest", () => {
  const { traces } = roofParts(chart, PAINT, { small: true });
  assert.deepEqual(
    traces.map(({ name }) => name),
    ["HBM", "Compute", "Vector <fp32>", "ridge points"],
  );
  assert.deepEqual(
    traces.slice(0, 3).map(({ line }) => line?.width),
    [2, 2, 1.2],
  );
  assert.ok(Math.abs(Number(traces[3].x[0]) - 100) < 1e-9);
});

test("what programs reach at best is a thin line below its roof", () => {
  const sustained = { low_ratio: 0.8, ratio: 0.85, source: "a guide" };
  const shown = { memory: [HBM], compute: [computeRoof(100_000, { sustained })] };
  const { traces } = roofParts({ ...chart, shown, flat: shown.compute[0] }, PAINT, { small: true });
  const line = there(traces.find(({ name }) => name === "Compute, reached at best"));
  assert.deepEqual(
    line.y.map((y) => Math.round(Number(y))),
    [85_000, 85_000],
  );
  assert.ok(Math.abs(Number(line.x[0]) - 85) < 1e-9, "it begins at the slanted roof");
  assert.ok(Number(line.line?.width) < 1);
});

test("labels name roofs and their peaks, without markup", () => {
  const found = texts(roofParts(chart, PAINT, { small: false }));
  assert.ok(found.includes("HBM 1,000 GB/s"), String(found));
  assert.ok(found.includes("Compute 100 TFLOP/s"));
  assert.ok(found.includes("Vector fp32 8 TFLOP/s"));
});

test("distances and regions are told on the large chart only", () => {
  const large = roofParts(chart, PAINT, { small: false });
  assert.ok(large.traces.some(({ name }) => name === "10 % of roof"));
  for (const text of ["← memory-bound", "compute-bound →", "ridge 100 FLOP/B"])
    assert.ok(texts(large).includes(text), text);
  const small = roofParts(chart, PAINT, { small: true });
  assert.ok(!texts(small).some((text) => /roof|bound|ridge/.test(text)));
  assert.equal(small.shapes.length, 3, "the regions are tinted on both");
});

test("a tenth of the roof lies a decade below it", () => {
  const { traces } = roofParts(chart, PAINT, { small: false });
  const tenth = traces.find(({ name }) => name === "10 % of roof");
  assert.ok(Math.abs(Number(tenth?.y.at(-1)) - 10_000) < 1e-6);
});

test("without a roof there is neither region nor distance", () => {
  const none = {
    ...chart,
    shown: { memory: [], compute: [] },
    main: null,
    flat: null,
    corner: null,
  };
  const { annotations, shapes } = roofParts(none, PAINT, { small: false });
  assert.deepEqual([annotations, shapes], [[], []]);
});

test("a roof is bent where its two parts meet", () => {
  assert.deepEqual(
    roofPlaces(HBM, PEAK, scale).map((x) => Math.round(x * 1e6) / 1e6),
    [-4, 2, 7],
  );
  assert.deepEqual(roofPlaces(HBM, null, scale), [-4, 7]);
});
