import assert from "node:assert/strict";
import { test } from "node:test";

import { freestSpot } from "../../../static/js/chart/roof-label-places.js";

/** @import { Spot } from "../../../static/js/chart/roof-label-places.js" */

/** @type {Spot[]} */
const SPOTS = [
  { x: 100, y: 100, angle: -45, anchor: "middle" },
  { x: 200, y: 20, angle: 0, anchor: "end" },
];

test("a label stays where it covers no point", () => {
  assert.equal(freestSpot(SPOTS, "HBM", [{ px: 100, py: 140, radius: 8 }]), SPOTS[0]);
});

test("a label leaves a place that has a point along its slanted line", () => {
  const point = { px: 115, py: 85, radius: 8 };
  assert.equal(freestSpot(SPOTS, "HBM 819 GB/s", [point]), SPOTS[1]);
  assert.equal(freestSpot(SPOTS, "HBM 819 GB/s", [point, { ...point, px: 190, py: 22 }]), SPOTS[0]);
});
