import assert from "node:assert/strict";
import { test } from "node:test";

import { createModel } from "../../../static/js/state/model.js";
import { isShare, logPlace, opPlaces } from "../../../static/js/state/places.js";
import { pageWith } from "../builders.js";

test("an op without FLOPs or bytes has no place", () => {
  assert.deepEqual(logPlace(10, 1000), [1, 3]);
  for (const [x, y] of [
    [0, 1],
    [1, 0],
    [null, 1],
    [1, null],
  ])
    assert.equal(logPlace(x, y), null);
});

test("places are those of the chosen axes", () => {
  const model = createModel(
    pageWith([
      ["dot", "dot", "Compute", "known", 0.9, 100, 1000],
      ["copy", "copy", "HBM", "known", 0.1],
    ]),
  );
  const view = model.view("in");
  const place = opPlaces(model, view, { x: "auto", y: "rate" });
  assert.deepEqual(view.rows.map(place), [[2, 3], null]);
  assert.deepEqual(view.rows.map(opPlaces(model, view, { x: "auto", y: "share" })), [null, null]);
  assert.ok(!isShare({ x: "joined", y: "share" }));
});
