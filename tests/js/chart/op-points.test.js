import assert from "node:assert/strict";
import { test } from "node:test";

import { createScale } from "../../../static/js/chart/axes.js";
import { marksOf } from "../../../static/js/chart/op-points.js";
import { outline } from "../../../static/js/chart/outlines.js";
import { createModel } from "../../../static/js/state/model.js";
import { pageWith, PAINT } from "../builders.js";

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
