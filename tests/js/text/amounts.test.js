import assert from "node:assert/strict";
import { test } from "node:test";

import { inGbs, parseAmount } from "../../../static/js/text/amounts.js";

test("a gigabyte is 10^9 bytes, a gibibyte 2^30", () => {
  assert.equal(inGbs(1), 1.073741824);
});

test("amounts are read as people write them", () => {
  assert.equal(parseAmount("1.2 TB/s", "gbs"), 1200);
  assert.equal(parseAmount("1555 GB/s", "gbs"), 1555);
  assert.equal(parseAmount("1,555 gb/s", "gbs"), 1555);
  assert.equal(parseAmount("1,2 TB/s", "gbs"), 1200);
  assert.equal(parseAmount("1 GiB/s", "gbs"), 1.073741824);
  assert.equal(parseAmount("989 TFLOP/s", "gflops"), 989_000);
  assert.equal(parseAmount("2.1PFLOPS", "gflops"), 2_100_000);
  assert.equal(parseAmount("1e3", "gbs"), 1000);
  assert.equal(parseAmount("1.555,2 GB/s", "gbs"), 1555.2);
  assert.equal(parseAmount("1,555.2 GB/s", "gbs"), 1555.2);
  assert.equal(parseAmount("0,125 TB/s", "gbs"), 125);
  assert.equal(parseAmount("1'638 GB/s", "gbs"), 1638);
  assert.equal(parseAmount("1\u202f638\u00a0GB/s", "gbs"), 1638);
});

test("anything but a positive amount of the right kind is refused", () => {
  for (const text of [
    "",
    "fast",
    "-3 GB/s",
    "0",
    "989 TFLOP/s",
    "12 parsecs",
    "1.2.3 TB/s",
    "1e300 GB/s",
  ])
    assert.equal(parseAmount(text, "gbs"), null, text);
  assert.equal(parseAmount("3 TB/s", "gflops"), null);
});
