import assert from "node:assert/strict";
import { test } from "node:test";

import { shapePath } from "../../../static/js/chart/shapes.js";

test("a shape has its size, an unknown one is a circle", () => {
  assert.equal(shapePath("square", 2), "M-2 -2h4v4h-4z");
  assert.equal(shapePath("star", 2), shapePath("circle", 2));
});
