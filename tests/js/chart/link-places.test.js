import assert from "node:assert/strict";
import { test } from "node:test";

import { laneCount, linkGeometry } from "../../../static/js/chart/link-places.js";
import { DEFAULTS } from "../../../static/js/state/query.js";
import { modelWithTransfers } from "../transfers.js";

const BOX = { width: 600, height: 120, margin: { l: 96, r: 14, t: 4, b: 24 }, lane: 46 };
const { lanes, toX } = linkGeometry(modelWithTransfers(), DEFAULTS, BOX);

test("each link has a lane, what is not known has the last", () => {
  assert.deepEqual(
    lanes.map(({ id, rows }) => [id, rows.map(({ name }) => name)]),
    [
      ["ici", ["all-reduce", "all-reduce-done"]],
      [null, ["mystery"]],
    ],
  );
  assert.deepEqual(
    lanes.map(({ top }) => top),
    [4, 50],
  );
});

test("a transfer lies by its share of the peak, inside its lane", () => {
  const [first, second] = lanes[0].places;
  assert.equal(first.px, toX(0.44));
  assert.ok(first.py > 4 && first.py < 50);
  assert.deepEqual([first.isOff, second.isOff], [false, true]);
  assert.ok(second.px < BOX.width - BOX.margin.r, "a mark off the scale stays in the strip");
});

test("a link of which no share is known has no lane, but is counted", () => {
  const model = modelWithTransfers();
  const view = model.view("in");
  const reader = view.reader;
  view.reader = (id) => (id === "roofline_efficiency_ratio" ? () => null : reader(id));
  const found = linkGeometry(model, DEFAULTS, BOX);
  assert.deepEqual(
    [found.lanes.map(({ id }) => id), found.empty.map(({ id, rows }) => [id, rows.length])],
    [[null], [["ici", 2]]],
  );
  assert.equal(laneCount(model, DEFAULTS), 1);
});

test("without a peak nothing is placed", () => {
  assert.deepEqual(lanes[1].places, []);
});
