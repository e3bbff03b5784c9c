import assert from "node:assert/strict";
import { test } from "node:test";

import { isRoofShown, shownRoofs } from "../../../static/js/chart/shown-roofs.js";
import { unheldUnit } from "../../../static/js/text/roofs.js";
import { createModel } from "../../../static/js/state/model.js";
import { computeRoof, level, memoryRoof, pageWith, programPoint, workUnit } from "../builders.js";

/** @import { Model } from "../../../static/js/types/model.js" */
/** @import { Roofs } from "../../../static/js/types/page-data.js" */
/** @import { ViewState } from "../../../static/js/types/view-state.js" */
/** @import { OpTuple } from "../builders.js" */

/** @type {OpTuple} */
const COPY = ["copy", "copy", "HBM", "known", 1, 10, 5];

/** One op, bound by HBM if not given; VMEM has a roof too, and no op is bound by it. */
function page(op = COPY) {
  const found = pageWith([op]);
  found.levels.push(level("vmem_read", "VMEM Read"));
  found.roofs.memory.push(memoryRoof(5000, { id: "vmem_read" }));
  return found;
}

/** @param {Roofs} roofs */
const idsOf = ({ memory, compute }) => [...memory, ...compute].map(({ id }) => id);
/** @param {Model} model @param {ViewState["roofs"]} roofs */
const shown = (model, roofs) =>
  idsOf(shownRoofs(model, model.view("in"), { roofs, x: "bottleneck" }));

test("a memory's roof is drawn where some op is bound by it, all of them on request", () => {
  const model = createModel(page());
  assert.deepEqual(shown(model, "auto"), ["hbm", "peak"]);
  assert.deepEqual(shown(model, "all"), ["hbm", "vmem_read", "peak"]);
  assert.deepEqual(shown(model, "none"), []);
});

/** All work on int8, whose peak is not known; the first compute roof is that of fp32. */
function int8() {
  const found = page(["kernel", "other", "Unknown", "known", 1, 466, 115_000]);
  found.units.push(workUnit("vector_fp32", "Vector fp32"), workUnit("matrix_int8", "Matrix int8"));
  found.roofs.compute[0].unit = "vector_fp32";
  found.ops.columns.compute_unit = [null];
  found.ops.columns.vector_fp32_flop_rate_gflops = [1];
  found.ops.columns.matrix_int8_flop_rate_gflops = [115_000];
  return found;
}

test("a compute roof that is about none of the work is not drawn, and its unit is named", () => {
  const model = createModel(int8());
  const view = model.view("in");
  assert.deepEqual(shown(model, "auto"), ["hbm"]);
  assert.deepEqual(shown(model, "all"), ["hbm", "vmem_read", "peak"]);
  assert.equal(unheldUnit(model, view, view.rows[0]), "Matrix int8");
});

test("a program's line leads only to a roof that is drawn", () => {
  const model = createModel(page());
  const drawn = shownRoofs(model, model.view("in"), { roofs: "auto", x: "bottleneck" });
  /** @param {string} id */
  const bound = (id) => programPoint({ bound_by: model.bounds.findIndex((one) => one.id === id) });
  assert.ok(isRoofShown(model, drawn, bound("HBM")));
  assert.ok(isRoofShown(model, drawn, bound("Compute")));
  assert.ok(!isRoofShown(model, drawn, bound("Unknown")));
  assert.ok(!isRoofShown(model, { memory: [], compute: [] }, bound("HBM")));
});

test("one compute roof can be chosen by its precision", () => {
  const found = page();
  found.roofs.compute.push(computeRoof(5000, { id: "vector_fp32", unit: "vector_fp32" }));
  const model = createModel(found);
  /** @param {string | null} prec @param {ViewState["roofs"]} roofs */
  const chosen = (prec, roofs) =>
    idsOf(shownRoofs(model, model.view("in"), { roofs, x: "bottleneck", prec }));
  assert.deepEqual(chosen("vector_fp32", "auto"), ["hbm", "vector_fp32"]);
  assert.deepEqual(chosen("vector_fp32", "all"), ["hbm", "vmem_read", "vector_fp32"]);
  assert.deepEqual(chosen("vector_fp32", "none"), []);
  assert.deepEqual(chosen(null, "auto"), ["hbm", "peak"]);
});
