import assert from "node:assert/strict";
import { test } from "node:test";

import { landingTraces } from "../../../static/js/page/landings.js";
import { createModel } from "../../../static/js/state/model.js";
import { emptyFigure, pageWith } from "../builders.js";

const PAGE = createModel(
  pageWith([
    ["a", "c", "HBM", "known", 0.5],
    ["a", "c", "HBM", "known", 0.3],
    ["b", "c", "HBM", "known", 0.2],
  ]),
);
const MARKS = {
  uid: "marks-0",
  name: "c",
  meta: { role: "marks" },
  mode: /** @type {const} */ ("markers"),
  x: [1, 2, 3],
  y: [10, 20, 30],
  customdata: [0, 1, 2],
  marker: { size: [9, 8, 7] },
};
const FIGURE = { ...emptyFigure("op"), data: [MARKS, { ...MARKS, uid: "marks-below" }] };
const HALF = { name: "a", time_ratio: 0.5, flop_ratio: 1, bytes_ratio: 0.25, level: "hbm" };

test("ops of one name move by what is left of their time and bytes", () => {
  const [ways, marks] = landingTraces([HALF], FIGURE, PAGE, { x: "auto", y: "rate" });
  assert.deepEqual(
    [marks.x, marks.y],
    [
      [4, 8],
      [20, 40],
    ],
  );
  assert.deepEqual(marks.marker?.size, [9, 8]);
  assert.deepEqual(ways.x, [1, 4, null, 2, 8, null]);
});

test("bytes of another level do not move an op along the axis", () => {
  const [, marks] = landingTraces([{ ...HALF, level: "l2" }], FIGURE, PAGE, {
    x: "auto",
    y: "rate",
  });
  assert.deepEqual(marks.x, [1, 2]);
});

test("nothing lands where heights are shares, where levels are joined, and without such ops", () => {
  const axes = /** @type {const} */ ([["auto", "share"]]);
  for (const [x, y] of axes) assert.deepEqual(landingTraces([HALF], FIGURE, PAGE, { x, y }), []);
  const joined = {
    ...FIGURE,
    data: [MARKS, { ...MARKS, meta: { role: /** @type {const} */ ("joined") } }],
  };
  assert.deepEqual(landingTraces([HALF], joined, PAGE, { x: "auto", y: "rate" }), []);
  const other = { ...HALF, name: "z" };
  assert.deepEqual(landingTraces([other], FIGURE, PAGE, { x: "auto", y: "rate" }), []);
});
