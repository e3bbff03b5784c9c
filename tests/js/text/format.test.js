import assert from "node:assert/strict";
import { test } from "node:test";

import {
  bandwidth,
  bytes,
  columnScale,
  count,
  DASH,
  dateTime,
  decimalBytes,
  duration,
  flopRate,
  flops,
  intensity,
  opRate,
  peakBandwidth,
  peakRate,
  percent,
  quantity,
  share,
  significant,
  stated,
} from "../../../static/js/text/format.js";
import { GOLDEN, plain } from "../builders.js";

/** @type {Record<string, (value: number) => string>} */
const WRITERS = {
  flops,
  decimalBytes,
  peakRate,
  peakBandwidth,
  stated,
  significant,
  intensity,
  share,
};

test("missing is a dash and zero is a zero", () => {
  for (const format of [
    significant,
    count,
    flopRate,
    bandwidth,
    duration,
    percent,
    intensity,
    bytes,
  ]) {
    assert.equal(format(null), DASH);
    assert.match(format(0), /^0/);
    assert.equal(format(Number.NaN), DASH);
  }
});

test("every function writes the characters that the server writes", () => {
  for (const [name, cases] of Object.entries(GOLDEN.writers))
    for (const [value, text] of cases) assert.equal(WRITERS[name](value), text, `${name} ${value}`);
});

test("three significant digits, integer digits never dropped", () => {
  assert.equal(significant(764_427.5), "764,428");
  assert.equal(significant(139.4), "139");
  assert.equal(significant(0.060606), "0.0606");
  assert.equal(significant(-2.3456), "-2.35");
});

test("rounding up to the next power keeps three digits", () => {
  assert.equal(significant(9.996), "10.0");
  assert.equal(significant(99.96), "100");
  assert.equal(significant(999.6), "1,000");
});

test("numbers are rounded and grouped as the browser's own formatter does", () => {
  const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
  const decimals = new Intl.NumberFormat("en-GB", {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
  for (let i = 0; i < 2000; i++) {
    const [large, tie] = [Math.sqrt(i) * 1.7e6 ** (i / 2000), 1 + (2 * i + 1) / 1000];
    assert.equal(count(large), whole.format(large), String(large));
    assert.equal(significant(-tie), decimals.format(-tie), String(tie)); // 1.005 is -1.01
  }
});

test("very small numbers become powers of ten", () => {
  assert.equal(plain(significant(0.0000123)), "1.2 × 10⁻⁵");
});

test("no float noise in a percent", () => {
  assert.equal(plain(percent(0.07)), "7.0 %");
  assert.equal(plain(percent(0.0004)), "<0.1 %");
  assert.equal(plain(percent(0.00004, 0)), "<1 %");
  assert.equal(plain(percent(1)), "100 %");
  assert.equal(plain(percent(3.275)), "328 %");
  assert.equal(percent(278), "278×");
});

test("units follow the size of the value", () => {
  assert.equal(plain(flopRate(139_000)), "139 TFLOP/s");
  assert.equal(plain(opRate(139_000)), "139 TOP/s");
  assert.equal(plain(quantity(2, "gops")), "2.00 GOP/s");
  assert.equal(plain(flopRate(999.96)), "1.00 TFLOP/s");
  assert.equal(plain(flopRate(0.0000001)), "0.100 kFLOP/s");
  assert.equal(plain(bandwidth(1287.45, 4)), "1,287 GB/s");
  assert.equal(plain(bandwidth(20_480)), "20.5 TB/s");
  assert.equal(plain(bandwidth(0.05)), "50.0 MB/s");
  assert.equal(plain(duration(488_448.7)), "488 ms");
  assert.equal(plain(duration(1_500_000)), "1.50 s");
  assert.equal(plain(duration(0.25)), "250 ns");
  assert.equal(plain(bytes(1_475_219)), "1.41 MiB");
  assert.equal(plain(bytes(12)), "12 B");
});

test("dates are written out and a bad one is missing", () => {
  assert.equal(dateTime("2025-03-11T20:14:59Z"), "11 Mar 2025, 20:14 UTC");
  assert.equal(dateTime(null), DASH);
});

test("a quantity of an unknown unit is its text", () => {
  assert.equal(quantity("Yes", "text"), "Yes");
  assert.equal(quantity(null, "gflops"), DASH);
  assert.equal(plain(quantity(0.5, "ratio")), "50.0 %");
});

test("a column keeps one unit for all its rows", () => {
  const time = columnScale("time_us", 25_000);
  assert.equal(time.unit, "ms");
  assert.equal(time.text(250), "0.250");
  assert.equal(time.text(null), DASH);
  assert.equal(columnScale("time_us", 12).unit, "µs");
  assert.equal(columnScale("gflops", 932_000).unit, "TFLOP/s");
  assert.equal(columnScale("gflops", 900).unit, "GFLOP/s");
});

test("bandwidths are in GB/s", () => {
  const ours = columnScale("gibs", 100);
  assert.deepEqual([ours.unit, ours.text(100), ours.text(null)], ["GB/s", "107", DASH]);
  assert.equal(plain(quantity(100, "gibs")), "107 GB/s");
  assert.equal(plain(quantity(100, "gbs")), "100 GB/s");
});

test("peaks are written with the digits they have", () => {
  assert.equal(peakRate(918000), "918\u00a0TFLOP/s");
  assert.equal(peakRate(311869), "311.87\u00a0TFLOP/s");
  assert.equal(peakBandwidth(1525.5), "1,525.5\u00a0GB/s");
  assert.equal(peakBandwidth(null), "–");
});
