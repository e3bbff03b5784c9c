import assert from "node:assert/strict";
import { test } from "node:test";

import { drawnOps, filterResult, visibleOps } from "../../../static/js/page/visible-ops.js";
import { createModel } from "../../../static/js/state/model.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { pageWith } from "../builders.js";

const model = createModel(
  pageWith([
    ["fusion.1", "fusion", "HBM", "known", 0.6, 10, 100],
    ["fusion.2", "fusion", "Compute", "known", 0.3, 1000, 90_000],
    ["copy.1", "copy", "HBM", "no_flops", 0.1],
  ]),
);

test("the visible ops are those that pass the filters, with their places", () => {
  const visible = visibleOps(model, { ...DEFAULTS, bound: ["HBM"] });
  assert.deepEqual(
    visible.shown.map(({ name }) => name),
    ["fusion.1", "copy.1"],
  );
  assert.deepEqual(visible.place(visible.shown[0]), [1, 2]);
  assert.deepEqual(
    drawnOps(visible).map(({ name }) => name),
    ["fusion.1"],
  );
  assert.ok(visible.set.has(visible.shown[1]));
});

test("a finding leaves its operations, or the part of the time that it is about", () => {
  model.findings = new Map([
    ["G1:a", { title: "Fuse a", ops: new Set([0, 2]), part: null }],
    ["H1:idle", { title: "Launch ahead", ops: new Set(), part: "idle" }],
  ]);
  const shown = (/** @type {string} */ finding) =>
    visibleOps(model, { ...DEFAULTS, finding }).shown.map(({ name }) => name);
  assert.deepEqual(shown("G1:a"), ["fusion.1", "copy.1"]);
  assert.deepEqual(shown("H1:idle"), []);
});

test("a selected area lies on the chosen axis", () => {
  const visible = visibleOps(model, { ...DEFAULTS, box: [0, 2, 1, 3] });
  assert.deepEqual(
    visible.shown.map(({ name }) => name),
    ["fusion.1"],
  );
});

test("the filter bar is told counts, share of time and a bad pattern", () => {
  const result = filterResult(visibleOps(model, { ...DEFAULTS, q: "copy" }));
  assert.deepEqual([result.shown, result.all, result.error], [1, 3, null]);
  assert.ok(Math.abs((result.share ?? 0) - 0.1) < 1e-12);
  assert.deepEqual([...result.boundCounts].sort(), [
    [0, 1],
    [1, 2],
  ]);
  assert.match(filterResult(visibleOps(model, { ...DEFAULTS, q: "/(/" })).error ?? "", /group/i);
});
