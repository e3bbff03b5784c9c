import assert from "node:assert/strict";
import { test } from "node:test";

import { withRoofs } from "../../../static/js/metrics/whatif.js";
import { computeRoof, memoryRoof, pageWith, programPoint, workUnit } from "../builders.js";

/** @import { Bound } from "../../../static/js/types/page-data.js" */

/**
 * The arithmetic itself is held against the analysis in Python; here is what stays and what
 * follows.
 */
function page() {
  const base = pageWith([
    ["matmul", "fusion", "Compute", "known", 0.6],
    ["copy", "copy", "HBM", "no_flops", 0.3],
    ["secret", "custom-call", "Unknown", "unknown", 0.1],
  ]);
  const [compute, hbm, unknown] = base.bounds;
  /** @type {Bound[]} as the server orders them */
  const bounds = [unknown, compute, hbm];
  Object.assign(base.ops.columns, {
    bound_by: [1, 2, 0],
    self_time_per_core_us: [600, 300, 100],
    flop_rate_gflops: [80_000, 0, null],
    operational_intensity: [800, 0, null],
    memory_bandwidth_gibs: [93.1323, 465.661, null],
    hbm_bandwidth_gibs: [93.1323, 465.661, null],
    hbm_intensity: [800, 0, null],
  });
  const total = programPoint({ flop_rate_gflops: 50_000, hbm_bandwidth_gibs: 186.265 });
  const view = { ...base.views.in, program: [total], total_time_per_core_us: 1000 };
  return { ...base, bounds, views: { in: view, out: view } };
}

const half = { compute: [computeRoof(100_000)], memory: [memoryRoof(500)] };

test("an op is bound by what it uses most of", () => {
  const { columns } = withRoofs(page(), {
    compute: [computeRoof(160_000)],
    memory: [memoryRoof(1000)],
  }).ops;
  assert.deepEqual(columns.bound_by, [1, 2, 0]);
  assert.deepEqual(
    columns.roofline_efficiency_ratio.map((share) => share && Math.round(share * 1000) / 1000),
    [0.5, 0.5, null],
  );
});

test("with less bandwidth the same op is bound by memory, and saves less", () => {
  const own = withRoofs(page(), { compute: [computeRoof(100_000)], memory: [memoryRoof(1000)] });
  const less = withRoofs(page(), half);
  assert.equal(own.ops.columns.bound_by[1], 2);
  assert.ok((own.ops.columns.saving_per_core_us[1] ?? 0) > 149);
  assert.ok((less.ops.columns.saving_per_core_us[1] ?? 1) < 1);
});

test("an op whose work is unknown has no share of any roof", () => {
  const { columns } = withRoofs(page(), half).ops;
  assert.equal(columns.roofline_efficiency_ratio[2], null);
  assert.equal(columns.attainable_gflops?.[2], null);
  assert.equal(columns.saving_per_core_us[2], null);
});

test("rates, times and shares of time stay as they were measured", () => {
  const before = page();
  const after = withRoofs(before, half);
  for (const id of /** @type {const} */ (["flop_rate_gflops", "self_time_per_core_us"]))
    assert.deepEqual(after.ops.columns[id], before.ops.columns[id]);
  assert.deepEqual(
    after.views.in.columns.self_share_ratio,
    before.views.in.columns.self_share_ratio,
  );
});

test("ridges follow from the main compute roof, and device fields name the new peaks", () => {
  const base = page();
  const used = { label: "MFU", value: 0.2, unit: "ratio", origin: null, help: "" };
  base.device.fields.push({ ...used, id: "mfu" }); // a share of the peaks that the server knew
  const { roofs, device } = withRoofs(base, half);
  assert.equal(roofs.memory[0].ridge_flop_per_byte, 200);
  assert.deepEqual(
    device.fields.map(({ id }) => id),
    ["peak_flop_rate", "peak_hbm_bandwidth", "hbm_ridge_point"],
  );
});

test("without any peak nothing binds, and the page says so", () => {
  const { ops, bounds } = withRoofs(page(), { compute: [], memory: [] });
  assert.deepEqual(ops.columns.bound_by, [0, 0, 0]);
  assert.equal(bounds[0].label, "no peak");
});

test("work split by unit is held against that unit's roof", () => {
  const base = page();
  base.units.push(workUnit("matrix_bf16", "bf16"), workUnit("vector_fp32", "fp32"));
  base.ops.columns.matrix_bf16_flop_rate_gflops = [72_000, 0, null];
  base.ops.columns.vector_fp32_flop_rate_gflops = [8_000, 0, null];
  const compute = [
    computeRoof(720_000, { id: "matrix_bf16", unit: "matrix_bf16" }),
    computeRoof(16_000, { id: "vector_fp32", unit: "vector_fp32" }),
  ];
  const { columns } = withRoofs(base, { compute, memory: [memoryRoof(1000)] }).ops;
  assert.equal(columns.compute_unit?.[0], 1);
  assert.equal(columns.compute_efficiency_ratio?.[0], 0.5);
});
