import assert from "node:assert/strict";
import { test } from "node:test";

import { groupTree } from "../../../static/js/state/groups.js";
import { createModel } from "../../../static/js/state/model.js";
import { listed, standsOut, usualGrouping } from "../../../static/js/state/time-by.js";
import { pageWith } from "../builders.js";

/** @import { OpTuple } from "../builders.js" */

/** @type {OpTuple[]} */
const OPS = [
  ["a", "fusion", "HBM", "known", 0.2, 1, 10],
  ["b", "fusion", "HBM", "known", 0.2, 1, 10],
  ["c", "fusion", "HBM", "known", 0.2, 1, 10],
  ["d", "fusion", "HBM", "known", 0.2, 1, 10],
  ["copy", "copy", "HBM", "known", 0.2, 1, 10],
  ["IDLE", "IDLE", "Unknown", "idle", 0.1],
];

/** @param {string[]} layers */
function made(layers) {
  const page = pageWith(OPS);
  page.ops.columns.self_time_per_core_us = [10, 30, 20, 10, 500, 1];
  page.ops.groups = {
    names: ["net", "IDLE", ...layers],
    containers: [],
    layer: [[0, 2], [0, 3], [0, 4], [0, 5], [], [1]],
    source: [],
    kernel: [],
    dtype: [],
    phase: [],
  };
  const model = createModel(page);
  const view = model.view("in");
  return { model, view, tree: listed(groupTree(model, view, view.rows, "layer")) };
}

test("layers stand together in their natural order, and a slow one stands out", () => {
  const { model, view, tree } = made(["layer_2", "layer_10", "layer_1", "layer_3"]);
  assert.deepEqual(
    tree.map(({ name }) => name),
    ["", "layer_1", "layer_2", "layer_3", "layer_10", "IDLE"],
  );
  assert.deepEqual(
    tree.map(({ median }) => median),
    [null, 15, 15, 15, 15, null],
  );
  assert.deepEqual(
    tree.filter(standsOut).map(({ name }) => name),
    ["layer_1", "layer_10"],
  );
  assert.equal(usualGrouping(model, view), "layer");
});

test("without layers the usual grouping is by category", () => {
  const { model, view } = made(["attention", "mlp", "norm", "head"]);
  assert.equal(usualGrouping(model, view), "category");
});
