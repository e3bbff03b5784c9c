import assert from "node:assert/strict";
import { test } from "node:test";

import {
  columnChoice,
  columnPresets,
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

test("a preset is its name in the address, and the default is nothing", () => {
  const { standard, all } = columnPresets(TPU);
  assert.deepEqual(columnChoice(TPU, standard), []);
  assert.deepEqual(columnChoice(TPU, all), ["all"]);
  assert.deepEqual(columnChoice(TPU, ["name", "rank"]), ["name", "rank"]);
  assert.equal(shownColumns(TPU, ["all"]).length, TPU.length);
});
