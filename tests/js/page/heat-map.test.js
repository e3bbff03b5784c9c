import assert from "node:assert/strict";
import { test } from "node:test";

import { columnsOf, moved } from "../../../static/js/page/heat-map.js";

test("large runs have columns in eights", () => {
  const counts = [1024, 4096, 1025, 100, 6, 1];
  assert.deepEqual(counts.map(columnsOf), [32, 64, 32, 8, 3, 2]);
});

test("keys move by host, row and eight rows, and stay on the map", () => {
  assert.equal(moved("ArrowRight", 5, 32, 1000), 6);
  assert.equal(moved("ArrowUp", 5, 32, 1000), 5);
  assert.equal(moved("ArrowDown", 5, 32, 1000), 37);
  assert.equal(moved("PageDown", 5, 32, 1000), 261);
  assert.equal(moved("End", 5, 32, 1000), 999);
  assert.equal(moved("ArrowRight", 999, 32, 1000), 999);
  assert.equal(moved("x", 5, 32, 1000), null);
});
