import assert from "node:assert/strict";
import { test } from "node:test";

import { createMeter } from "../../../static/js/upload/meter.js";

test("a meter tells no rate before it has settled", () => {
  const at = createMeter(1000, 0);
  assert.deepEqual(at(500, 100), {
    sent: 500,
    total: 1000,
    fraction: 0.5,
    rate: null,
    secondsLeft: null,
  });
});

test("a meter tells rate and time left from the recent past", () => {
  const at = createMeter(10_000, 0);
  at(4000, 1000); // a fast start that must not count for ever
  at(4500, 5000);
  const { rate, secondsLeft } = at(5000, 6000);
  assert.equal(rate, 1000 / 5);
  assert.equal(secondsLeft, 5000 / 200);
});

test("a standstill has no time left to tell", () => {
  const at = createMeter(1000, 0);
  at(500, 500);
  at(500, 4000);
  assert.equal(at(500, 8000).secondsLeft, null);
});

test("multipart overhead never shows more than everything", () => {
  assert.equal(createMeter(1000, 0)(1200, 10).fraction, 1);
});
