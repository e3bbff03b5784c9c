import assert from "node:assert/strict";
import { test } from "node:test";

import {
  colourOf,
  gridOf,
  histogramOf,
  hostAt,
  moved,
  shadeOf,
  sharedStart,
} from "../../../static/js/chart/heat-places.js";
import { hostRow } from "../runs.js";

test("large runs have columns in eights, and every host a cell", () => {
  for (const [count, columns] of [
    [1024, 32],
    [4096, 64],
    [1025, 32],
    [100, 8],
    [6, 3],
    [1, 2],
  ]) {
    const grid = gridOf(count, 320);
    assert.equal(grid.columns, columns, String(count));
    assert.ok(grid.columns * grid.rows >= count && grid.cell * grid.columns <= 320);
  }
});

test("what all names begin with is left out of cells, but numbers stay whole", () => {
  assert.equal(sharedStart(["host-0010", "host-0011", "host-0019"]), "host-".length);
  assert.equal(sharedStart(["rank10", "rank1"]), "rank".length);
  assert.equal(sharedStart(["a", "b"]), 0);
  assert.equal(sharedStart(["alone-1"]), 0);
  assert.equal(sharedStart([]), 0);
});

test("cells of few hosts are large, and never wider than the map", () => {
  assert.deepEqual(gridOf(3, 376), { columns: 2, rows: 2, cell: 150, height: 300 });
  assert.equal(gridOf(20, 376).cell, 376 / 5);
  assert.equal(gridOf(64, 376).cell, 34);
});

test("a colour says nothing where hosts cannot be judged", () => {
  const medians = { ratio: 1, work: 100, wait: 1, bandwidth: 500 };
  assert.equal(shadeOf("ratio", 1.05, { isJudged: true, medians }), 8);
  for (const metric of /** @type {const} */ (["ratio", "work", "wait", "bandwidth"]))
    assert.equal(shadeOf(metric, 7, { isJudged: false, medians }), 3);
});

test("the host under a place, and none beside the map", () => {
  const grid = gridOf(1000, 320);
  assert.equal(hostAt(grid, 1000, 5, 5), 0);
  assert.equal(hostAt(grid, 1000, 15, 25), 2 * 32 + 1);
  assert.equal(hostAt(grid, 1000, 325, 5), null);
  assert.equal(hostAt(grid, 1000, 315, 315), null);
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

test("colours turn where more is better: bandwidth, and waiting", () => {
  assert.equal(colourOf("ratio", 1.001, 1), 3);
  assert.equal(colourOf("ratio", 1.05, 1), 8);
  assert.equal(colourOf("ratio", 0.9, 1), 0);
  assert.equal(colourOf("bandwidth", 450, 500), 8);
  assert.equal(colourOf("wait", 0, 10), 8);
  assert.equal(colourOf("wait", 10, 10), 4 - 1);
  assert.equal(colourOf("wait", 20, 10), 0);
  assert.equal(colourOf("work", 5, 0), 3);
});

test("the histogram counts each known host once, and leaves outliers to dots", () => {
  const hosts = [1, 1.01, 1.02, 1.02].map((ratio) => hostRow({ ratio }));
  hosts.push(hostRow({ ratio: 1.5, kind: "slow chip" }), hostRow({ ratio: null }));
  const { bins, outliers } = histogramOf(hosts, "ratio", 10);
  assert.equal(
    bins.reduce((sum, { count }) => sum + count, 0),
    4,
  );
  assert.equal(outliers.length, 1);
  assert.equal(histogramOf([hostRow({})], "ratio", 10).bins.length, 1);
  assert.equal(histogramOf([hostRow({ wait: null })], "wait", 10).bins.length, 0);
});
