import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { attribute, logMean } from "../../../static/js/metrics/attribution.js";

const golden = JSON.parse(
  readFileSync(new URL("../../golden/compare/attribution.json", import.meta.url), "utf8"),
);

test("the browser attributes as the server does", () => {
  assert.ok(golden.length > 0);
  for (const { a, b, terms } of golden) {
    /** @type {Record<string, number>} */
    const found = { ...attribute(a, b) };
    const scale = Math.max(a.time_us, b.time_us, 1);
    for (const [name, value] of Object.entries(terms)) {
      assert.ok(
        Math.abs(found[name] - value) <= 1e-12 * scale,
        `${name}: ${found[name]}, ${value}`,
      );
    }
    const sum = Object.values(found).reduce((x, y) => x + y, 0);
    assert.ok(Math.abs(sum - (b.time_us - a.time_us)) <= 1e-9 * scale);
  }
});

test("the same FLOPs on a slower unit are peaks", () => {
  const tf32 = {
    calls: 1,
    time_us: 40,
    flop: [4e9, 0],
    bytes: [1e6],
    flop_peaks: [156e6, 19.5e6],
    bytes_peaks: [2e6],
    is_known: true,
  };
  const { work, peaks } = attribute(tf32, { ...tf32, flop: [0, 4e9], time_us: 320 });
  assert.equal(work, 0);
  assert.ok(Math.abs(peaks - 280) < 1e-9);
});

test("the logarithmic mean of equal numbers is that number", () => {
  assert.equal(logMean(4, 4), 4);
  assert.equal(logMean(0, 4), 0);
});
