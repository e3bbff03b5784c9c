import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import { marksOf, outline } from "../../../static/js/chart/op-points.js";
import { createModel } from "../../../static/js/state/model.js";
import { pageWith, PAINT } from "../builders.js";

test("marks have the outlines that the chart library draws in pictures", () => {
  assert.equal(outline("circle", 3), "M3,0A3,3 0 1 1 0,-3A3,3 0 0 1 3,0Z");
  assert.equal(outline("square", 2), "M2,2L-2,2L-2,-2L2,-2Z");
  assert.equal(outline("diamond", 10), "M13,0L0,13L-13,0L0,-13Z");
  assert.equal(outline("triangle-up", 10), "M-11.55,5L11.55,5L0,-10Z");
  assert.equal(outline("triangle-right", 4), "M-2,-4.62L-2,4.62L4,0Z");
});

test("the star of the program has five rays, the first upwards", () => {
  const corners = outline("star", 10)
    .slice(1, -1)
    .split("L")
    .map((corner) => corner.split(",").map(Number));
  assert.equal(corners.length, 10);
  assert.equal(corners[0][1], -14);
  assert.equal(corners[5][1], 5.35);
});

test("the star of the program lies above the marks; those at the edge are triangles", () => {
  const scale = createScale(
    [
      [0, 2],
      [0, 2],
    ],
    { width: 300, height: 200, margin: { l: 40, r: 10, t: 5, b: 30 } },
  );
  const { rows } = createModel(pageWith([["a", "c", "HBM", "known", 1]])).view("in");
  const point = { row: rows[0], x: 1, y: 1, px: 140, py: 105, radius: 4 };
  const marks = marksOf(
    {
      points: [
        { ...point, edge: null, pinned: false },
        { ...point, edge: "left", pinned: true },
      ],
      star: { px: 50, py: 10, radius: 8 },
      scale,
      look: () => ({ token: "--c1", symbol: "square" }),
    },
    PAINT,
  );
  assert.deepEqual(
    marks.map((mark) => [mark.class, mark.color]),
    [
      ["point", "--c1"],
      ["point pinned", "--c1"],
      ["star", "--star"],
    ],
  );
  assert.equal(marks[0].transform, "translate(100,100)");
  assert.equal(marks[1].d, outline("triangle-left", 4));
});
