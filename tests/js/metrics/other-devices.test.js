import assert from "node:assert/strict";
import { test } from "node:test";

import {
  estimate,
  otherDevices,
  ownBounds,
  summarise,
  withOthers,
} from "../../../static/js/metrics/other-devices.js";
import { deviceNotes, leftText, limitsText } from "../../../static/js/text/other-devices-words.js";
import { createModel } from "../../../static/js/state/model.js";
import { withRoofs } from "../../../static/js/metrics/whatif.js";
import {
  knownBandwidth,
  knownDevice,
  knownRate,
  pageWith,
  SOURCES,
  there,
  workUnit,
} from "../builders.js";

/** @import { KnownDevice } from "../../../static/js/types/device-list.js" */

// The builder's peak has four digits.
/** @param {number | null | undefined} a @param {number} b */
const near = (a, b) => assert.ok(Math.abs(there(a) - b) < 1e-4 * Math.abs(b), `${a} is not ${b}`);
/**
 * @param {string} id
 * @param {number | null} gflops
 * @param {number | null} gbs
 * @param {Partial<KnownDevice>} [extra]
 */
const device = (id, gflops, gbs, extra = {}) =>
  knownDevice(id, {
    compute: gflops ? [knownRate("matrix_bf16", gflops, "Tensor bf16")] : [],
    memory: gbs ? [knownBandwidth("hbm", gbs)] : [],
    ...extra,
  });
const LIST = {
  sources: SOURCES,
  devices: [
    device("twice", 200_000, 2000),
    device("wide", 100_000, 100_000),
    device("blind", 100_000, null),
    device("half", 50_000, 500),
  ],
};

/** 90 TFLOP/s at 90 % of the peak; 465.65 GiB/s at 50 % of HBM; one op whose work is unknown. */
function page() {
  const base = pageWith([
    ["matmul", "fusion", "Compute", "known", 0.5],
    ["copy", "copy", "HBM", "no_flops", 0.3],
    ["secret", "custom-call", "Unknown", "unknown", 0.2],
  ]);
  Object.assign(base.ops.columns, {
    self_time_per_core_us: [500, 300, 200],
    flop_rate_gflops: [90_000, 0, null],
    operational_intensity: [900, 0, null],
    memory_bandwidth_gibs: [93.13225746154785, 465.66128730773926, null],
    hbm_bandwidth_gibs: [93.13225746154785, 465.66128730773926, null],
    hbm_intensity: [900, 0, null],
  });
  base.bounds = [base.bounds[2], base.bounds[0], base.bounds[1]];
  base.views.in.total_time_per_core_us = 1000;
  base.views.out.total_time_per_core_us = 1000;
  return withRoofs(base, base.roofs);
}

test("a lower bound is the longest of compute and memory time", () => {
  const [twice, wide] = otherDevices(page(), LIST, ["twice", "wide"]);
  near(twice.us[0], 225);
  near(twice.us[1], 75);
  assert.equal(twice.us[2], null);
  near(wide.us[0], 450);
  near(wide.us[1], 1.5);
});

test("the sum counts what is known, and names the rest", () => {
  const model = createModel(page());
  const [twice, blind] = otherDevices(page(), LIST, ["twice", "blind", "nobody"]);
  const sum = summarise(model.view("in"), twice);
  near(sum.boundUs, 300);
  near(sum.measuredUs, 800);
  near(sum.estimateUs, 400);
  near(sum.coveredShare, 0.8);
  assert.deepEqual(sum.changed, { ops: 0, share: 0 });
  assert.equal(
    leftText(sum, model),
    "1 operation (20.0\u202f% of the time: secret) without counted work is left out.",
  );
  assert.equal(limitsText(sum, model.bounds), "compute 75\u202f% · HBM 25\u202f%");
  const none = summarise(model.view("in"), blind);
  assert.equal(none.boundUs, 0);
  assert.match(leftText(none, model), /No memory bandwidth is known: 2 operations/);
});

test("this device's own bound is self time by share of roof", () => {
  const sum = summarise(createModel(page()).view("in"), ownBounds(page()));
  near(sum.boundUs, 600);
});

test("the estimate keeps the share of the roof, or the wait of an op far from it", () => {
  near(estimate(100, 0.5, 20), 40);
  near(estimate(100, 0.01, 0.5), 99.5);
  near(estimate(100, 1.5, 30), 30);
  assert.equal(estimate(100, null, 30), 100);
});

test("each device adds its time and its bound to the table", () => {
  const own = page();
  const others = otherDevices(own, LIST, ["twice", "half"]);
  const seen = withOthers(own, others);
  assert.equal(seen.columns.length, own.columns.length + 4);
  near(seen.ops.columns.on_half_us?.[0], 900);
  assert.equal(seen.ops.columns.on_twice_bound?.[0], "compute");
  assert.equal(seen.ops.columns.on_twice_bound?.[2], null);
});

test("what one must know is said: memory, precision, part of a chip", () => {
  const model = createModel({
    ...page(),
    device: { ...page().device, part: { id: "twice", name: "Twice" } },
  });
  const list = {
    ...LIST,
    devices: [
      ...LIST.devices,
      device("small", 10, 10, { memory_bytes: 4e9, devices_per_chip: 2, scope: "half a chip" }),
    ],
  };
  const [small] = otherDevices(page(), list, ["small"]);
  const notes = deviceNotes({
    other: small,
    summary: summarise(model.view("in"), small),
    model,
    list,
  }).join(" ");
  assert.match(notes, /half a chip/);
  assert.match(notes, /may not fit/);
  assert.match(notes, /held against Tensor bf16/);
});

test("work of a unit that a device lacks is held against the one that does it there", () => {
  const own = page();
  own.units.push(workUnit("matrix_fp32", "Matrix fp32"));
  own.ops.columns.matrix_fp32_flop_rate_gflops = [90_000, 0, null];
  const list = {
    ...LIST,
    devices: [
      ...LIST.devices,
      device("simple", null, 1000, { compute: [knownRate("vector_fp32", 9_000, "Vector fp32")] }),
      device("other", 100_000, 1000),
    ],
  };
  const [simple, other] = otherDevices(own, list, ["simple", "other"]);
  near(simple.us[0], 5000);
  assert.deepEqual(simple.standIns, [{ unit: "matrix_fp32", label: "Vector fp32" }]);
  assert.equal(other.why[0], "rate:matrix_fp32");
});
