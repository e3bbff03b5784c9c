import assert from "node:assert/strict";
import { test } from "node:test";

import { stripRange, stripRows } from "../../../static/js/chart/strip-places.js";
import { changeRow, rowSide } from "../comparisons.js";

const ROOFS = {
  a: { gflops: 1000, gbs: 1000, memory: "HBM" },
  b: { gflops: 1000, gbs: 2000, memory: "HBM" },
};
const copy = rowSide({ flop: 0, bytes: 1e6, timeUs: 10 });

test("each side is held against its own peak, and rows with FLOPs are left out", () => {
  const rows = [changeRow("p0", { a: copy, b: copy }), changeRow("p1")];
  const found = stripRows(rows, ROOFS, new Set(["p0"]));
  assert.equal(found.length, 1);
  assert.ok(Math.abs(10 ** (found[0].a ?? 0) - 0.1) < 1e-12);
  assert.ok(Math.abs(10 ** (found[0].b ?? 0) - 0.05) < 1e-12);
});

test("rows that changed are drawn last and each in a lane of its own", () => {
  const rows = ["p0", "p1", "p2"].map((key) => changeRow(key, { a: copy, b: copy }));
  const found = stripRows(rows, ROOFS, new Set(["p0", "p1"]));
  assert.deepEqual(
    found.map(({ row }) => row.key),
    ["p2", "p0", "p1"],
  );
  assert.notEqual(found[1].lane, found[2].lane);
});

test("the axis reaches from the least share to above the peak", () => {
  const [low, high] = stripRange(
    stripRows([changeRow("p0", { a: copy, b: null })], ROOFS, new Set()),
  );
  assert.ok(low < -1 && high > 0);
});
