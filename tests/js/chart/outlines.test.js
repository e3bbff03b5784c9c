import assert from "node:assert/strict";
import { test } from "node:test";

import { outline } from "../../../static/js/chart/outlines.js";

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
