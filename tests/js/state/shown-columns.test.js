import assert from "node:assert/strict";
import { test } from "node:test";

import {
  columnChoice,
  columnPresets,
  isXprofPreset,
  shownColumns,
} from "../../../static/js/state/shown-columns.js";
import { column } from "../builders.js";

/** @param {string} id @param {boolean} [standard] */
const counted = (id, standard = false) => column(id, { default: standard });
const TPU = [
  counted("rank"),
  counted("name", true),
  counted("memory_bandwidth_gibs"),
  counted("hbm_bandwidth_gibs", true),
  counted("roofline_efficiency_ratio", true),
];

test("the name always comes first, unknown ids are left out", () => {
  assert.deepEqual(
    shownColumns(TPU, ["rank", "nonsense", "name"]).map((c) => c.id),
    ["name", "rank"],
  );
});

test("no choice means the page's default", () => {
  assert.deepEqual(
    shownColumns(TPU, []).map((c) => c.id),
    ["name", "hbm_bandwidth_gibs", "roofline_efficiency_ratio"],
  );
});

test("XProf's unit is for XProf's columns alone", () => {
  const { xprof, standard } = columnPresets(TPU);
  assert.ok(isXprofPreset(TPU, xprof));
  assert.ok(!isXprofPreset(TPU, []));
  assert.ok(!isXprofPreset(TPU, standard));
  assert.ok(!isXprofPreset(TPU, [...xprof, "memory_bandwidth_gibs"]));
});

test("XProf's preset has the memory sum only on devices with CMEM", () => {
  assert.deepEqual(columnPresets(TPU).xprof, [
    "name",
    "rank",
    "hbm_bandwidth_gibs",
    "roofline_efficiency_ratio",
  ]);
  assert.ok(
    columnPresets([...TPU, counted("cmem_read_bandwidth_gibs")]).xprof.includes(
      "memory_bandwidth_gibs",
    ),
  );
});

test("a preset is its name in the address, and the default is nothing", () => {
  const { xprof, standard, all } = columnPresets(TPU);
  assert.deepEqual(columnChoice(TPU, standard), []);
  assert.deepEqual(columnChoice(TPU, all), ["all"]);
  assert.deepEqual(columnChoice(TPU, xprof), ["xprof"]);
  assert.deepEqual(columnChoice(TPU, ["name", "rank"]), ["name", "rank"]);
  assert.equal(shownColumns(TPU, ["all"]).length, TPU.length);
  assert.ok(isXprofPreset(TPU, ["xprof"]));
  assert.ok(!isXprofPreset(TPU, ["all"]));
});
