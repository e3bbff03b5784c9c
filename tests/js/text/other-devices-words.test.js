import assert from "node:assert/strict";
import { test } from "node:test";

import { otherDevices, ownBounds, summarise } from "../../../static/js/metrics/other-devices.js";
import { createModel } from "../../../static/js/state/model.js";
import {
  deviceNotes,
  impossibleText,
  leftText,
  limitsText,
} from "../../../static/js/text/other-devices-words.js";
import { knownBandwidth, knownDevice, knownRate, pageWith, plain, SOURCES } from "../builders.js";

function page() {
  const base = pageWith([
    ["matmul", "fusion", "Compute", "known", 0.5],
    ["secret", "custom-call", "Unknown", "unknown", 0.3],
    ["IDLE", "IDLE", "Unknown", "idle", 0.2],
  ]);
  Object.assign(base.ops.columns, {
    self_time_per_core_us: [500, 300, 200],
    flop_rate_gflops: [90_000, null, null],
    operational_intensity: [900, null, null],
    memory_bandwidth_gibs: [93.1, null, null],
    hbm_bandwidth_gibs: [93.1, null, null],
    hbm_intensity: [900, null, null],
    roofline_efficiency_ratio: [0.9, null, null],
  });
  base.device.part = { id: "here", name: "Here" };
  return base;
}

const HERE = knownDevice("here", { memory_bytes: 16e9 });
const SMALL = knownDevice("small", {
  memory_bytes: 4e9,
  devices_per_chip: 2,
  scope: "half a chip",
  compute: [knownRate("matrix_bf16", 50_000, "Tensor bf16")],
  memory: [knownBandwidth("hbm", 500)],
});
const LIST = { sources: SOURCES, devices: [HERE, SMALL] };

test("limits are told by their share of the bound", () => {
  const { bounds } = pageWith([]);
  const byBound = new Map([
    [0, 75],
    [1, 25],
    [2, 0],
  ]);
  assert.equal(plain(limitsText({ byBound, boundUs: 100 }, bounds)), "compute 75 % · HBM 25 %");
  assert.equal(limitsText({ byBound: new Map(), boundUs: 0 }, bounds), "–");
});

test("parts that are left out are named with their share and their reason", () => {
  const model = createModel(page());
  const text = plain(leftText(summarise(model.view("in"), ownBounds(page())), model));
  assert.match(
    text,
    /1 operation \(30\.0 % of the time: secret\) without counted work is left out\./,
  );
  assert.match(text, /Idle time \(20\.0 %\) is left out\./);
});

test("what to know of a device: part of a chip, less memory, one rate for all precisions", () => {
  const model = createModel(page());
  const [other] = otherDevices(page(), LIST, ["small"]);
  const summary = summarise(model.view("in"), other);
  const notes = deviceNotes({ other, summary, model, list: LIST }).map(plain);
  assert.equal(notes[0], "One device is a part of a chip: half a chip.");
  assert.match(notes[1], /^Less memory: 3\.73 GiB instead of 14\.9 GiB/);
  assert.match(notes[2], /held against Tensor bf16/);
});

test("without the list of devices nothing is said of memory", () => {
  const model = createModel(page());
  const [other] = otherDevices(page(), LIST, ["small"]);
  const summary = summarise(model.view("in"), other);
  const notes = deviceNotes({ other, summary, model, list: null }).join(" ");
  assert.doesNotMatch(notes, /Less memory/);
});

test("a least time above the measured one is told", () => {
  assert.match(impossibleText({ boundUs: 195, measuredUs: 94 }), /longer than the measured one/);
  assert.equal(impossibleText({ boundUs: 60, measuredUs: 94 }), "");
});
