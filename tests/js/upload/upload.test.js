import assert from "node:assert/strict";
import { test } from "node:test";
import { createMeter, refusal, timeLeft, totalBytes } from "../../../static/js/upload/upload.js";

const LIMITS = { maxBytes: 1000, maxFiles: 2 };
const file = (name, size) => ({ name, size });

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

test("time left is rounded up and has sensible units", () => {
  assert.equal(timeLeft(null), "");
  assert.equal(timeLeft(Number.POSITIVE_INFINITY), "");
  assert.equal(timeLeft(0.3), "less than 1\u00a0s left");
  assert.equal(timeLeft(8.2), "about 9\u00a0s left");
  assert.equal(timeLeft(70), "about 2\u00a0min left");
  assert.equal(timeLeft(7000), "about 2\u00a0h left");
});

test("files within the limits are not refused", () => {
  assert.equal(refusal([file("a", 500), file("b", 500)], LIMITS), null);
});

test("refusals say what is wrong and what to do", () => {
  const cases = [
    [[file("a", 1), file("b", 1), file("c", 1)], /3 files/, "upload-rejected"],
    [[file("a", 1001)], /1,001.B, more than/, "upload-too-large"],
    [[file("a", 5), file("empty.pb", 0)], /empty\.pb is empty/, "upload-rejected"],
  ];
  for (const [files, message, code] of cases) {
    const problem = refusal(files, LIMITS);
    assert.match(problem.message, message);
    assert.equal(problem.code, code);
    assert.notEqual(problem.remedy, "");
    assert.equal(problem.canRetry, false);
  }
});

test("sizes add up", () => {
  assert.equal(totalBytes([file("a", 2), file("b", 3)]), 5);
});
