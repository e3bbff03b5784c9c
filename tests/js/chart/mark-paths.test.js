import assert from "node:assert/strict";
import { test } from "node:test";

import { arrowHead, markPath } from "../../../static/js/chart/mark-paths.js";

test("every symbol has an outline around its point, an unknown one a circle", () => {
  assert.equal(markPath("circle", 5, 5, 2), markPath("never heard of", 5, 5, 2));
  const outlines = ["circle", "square", "diamond", "triangle-up"].map((one) =>
    markPath(one, 5, 5, 2),
  );
  assert.equal(new Set(outlines).size, 4);
});

test("the head of an arrow has its tip at the end", () => {
  assert.match(arrowHead([0, 0], [10, 0], 5), /^M10 0L5\.\d+ -?\d/);
});
