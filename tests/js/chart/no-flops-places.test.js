import assert from "node:assert/strict";
import { test } from "node:test";

import { stripGeometry, stripNote } from "../../../static/js/chart/no-flops-places.js";
import { opPlaces } from "../../../static/js/state/places.js";
import { createModel } from "../../../static/js/state/model.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { pageWith, plain } from "../builders.js";

/** @import { OpTuple } from "../builders.js" */

const BOX = { width: 600, height: 120, margin: { l: 84, r: 14, t: 6, b: 26 } };

/** @param {OpTuple[]} ops @param {(number | null)[]} bandwidths GiB/s */
function strip(ops, bandwidths) {
  const page = pageWith(ops);
  page.ops.columns.hbm_bandwidth_gibs = bandwidths;
  const model = createModel(page);
  const place = opPlaces(model, model.view("in"), DEFAULTS);
  const geometry = stripGeometry(model, DEFAULTS, place, BOX);
  return { geometry, rows: model.view("in").rows };
}

/** @type {OpTuple[]} */
const OPS = [
  ["fusion", "fusion", "HBM", "known", 0.5, 10, 100],
  ["copy", "copy", "HBM", "no_flops", 0.2],
  ["start", "copy", "HBM", "no_flops", 0.1],
  ["secret", "custom", "Unknown", "unknown", 0.1],
  ["IDLE", "IDLE", "Unknown", "idle", 0.1],
];
const BANDWIDTHS = [500, 93.13, 1e6, null, null];

test("ops without FLOPs lie by their bandwidth, those with a place on the chart are not here", () => {
  const { geometry } = strip(OPS, BANDWIDTHS);
  assert.deepEqual(
    geometry.places.map(({ row }) => row.name),
    ["copy", "start"],
  );
  const [copy] = geometry.places;
  assert.ok(Math.abs(copy.px - geometry.scale.toX(Math.log10(93.13 * 1.073741824))) < 1e-9);
  assert.deepEqual(
    geometry.without.map(({ name }) => name),
    ["copy", "start", "secret"],
  );
});

test("ops far above the peak are marks at the edge", () => {
  const { geometry } = strip(OPS, BANDWIDTHS);
  assert.deepEqual(
    geometry.places.map(({ edge }) => edge),
    [null, "right"],
  );
});

test("the note counts what is here, off the scale, and without known traffic", () => {
  const { geometry, rows } = strip(OPS, BANDWIDTHS);
  assert.equal(
    plain(stripNote(geometry, new Set(rows), "HBM")),
    "3 ops · 40.0 % of time · 1 off scale ▷ · 1 without known traffic",
  );
  assert.match(plain(stripNote(geometry, new Set([rows[1]]), "HBM")), /^1 op · 20\.0 %/);
});

test("where every op has a place on the chart there is nothing to say", () => {
  const { geometry, rows } = strip(OPS.slice(0, 1), BANDWIDTHS.slice(0, 1));
  assert.equal(stripNote(geometry, new Set(rows), "HBM"), "");
});

test("ops with FLOPs but without bytes of the axis are named", () => {
  const { geometry, rows } = strip([["dot", "dot", "Compute", "known", 1, undefined, 50]], [null]);
  assert.match(stripNote(geometry, new Set(rows), "L2"), /besides, 1 without bytes of L2/);
});

test("a crowd is drawn smaller rather than on top of each other", () => {
  const many = /** @type {OpTuple[]} */ (
    Array.from({ length: 150 }, (_, i) => [`copy.${i}`, "copy", "HBM", "no_flops", 0.006])
  );
  const { geometry } = strip(
    many,
    many.map(() => 100),
  );
  assert.ok(geometry.places.every(({ radius }) => radius < 4.5));
});
