import assert from "node:assert/strict";
import { test } from "node:test";

import { moved } from "../../../static/js/page/heat-map.js";

test("keys move by host, row and eight rows, and stay on the map", () => {
  assert.equal(moved("ArrowRight", 5, 32, 1000), 6);
  assert.equal(moved("ArrowUp", 5, 32, 1000), 5);
  assert.equal(moved("ArrowDown", 5, 32, 1000), 37);
  assert.equal(moved("PageDown", 5, 32, 1000), 261);
  assert.equal(moved("End", 5, 32, 1000), 999);
  assert.equal(moved("ArrowRight", 999, 32, 1000), 999);
  assert.equal(moved("x", 5, 32, 1000), null);
});
