import assert from "node:assert/strict";
import { test } from "node:test";

import {
  captureWords,
  fromTo,
  signedDuration,
  termsInWords,
  timeScale,
} from "../../../static/js/text/compare-words.js";
import { plain } from "../builders.js";

test("all times of a comparison have one unit and show a ten-thousandth of the whole", () => {
  const scale = timeScale(97_700);
  assert.equal(scale.unit, "ms");
  assert.equal(scale.text(97_700), "97.70");
  assert.equal(scale.change(-6280), "−6.28");
  assert.equal(scale.change(110), "+0.11");
  assert.equal(scale.change(-4), "0", "less than a digit shows");
  assert.equal(timeScale(512).text(51.26), "51.3");
  assert.equal(timeScale(0).text(0), "0");
  assert.equal(timeScale(2e9).unit, "s");
});

test("terms are words, the largest first, without those that are shown as 0", () => {
  const scale = timeScale(97_700);
  const terms = { closeness: 110, traffic: -2530, work: 0, calls: 3 };
  assert.equal(termsInWords(terms, scale), "traffic −2.53, hardware use +0.11");
  assert.equal(termsInWords(terms, scale, 1), "traffic −2.53");
});

test("a value is said once where both sides have it", () => {
  assert.equal(fromTo("HBM", "HBM"), "HBM");
  assert.equal(fromTo("HBM", "compute"), "HBM → compute");
  assert.equal(fromTo(null, "compute"), "compute");
  assert.equal(fromTo(null, null), "–");
});

test("a change has its sign and the prefix that reads best", () => {
  assert.equal(plain(signedDuration(-1500)), "−1.50 ms");
  assert.equal(signedDuration(0), "0");
});

test("without three captures a side nothing is called tested", () => {
  const one = captureWords({ a: [1], b: [2], p: null, least: 3, unit: "step" });
  assert.equal(
    one.strong + one.rest,
    "Not tested against noise: median step of one capture a side.",
  );
  assert.ok(one.isCaution);
  assert.ok(captureWords({ a: [1, 2, 3], b: [1, 2], p: null, least: 3, unit: "step" }).isCaution);
  const tested = captureWords({ a: [4, 5, 6], b: [1, 2, 3], p: 0.05, least: 3, unit: "capture" });
  assert.equal(tested.strong, "3 + 3 captures. ");
  assert.equal(
    tested.rest,
    "Each B is faster than each A. Chance of this order without a change: 1 in 20.",
  );
  const mixed = captureWords({ a: [1, 5, 6], b: [2, 3, 4], p: 0.5, least: 3, unit: "step" });
  assert.match(mixed.rest, /^The times of both overlap/);
  assert.equal(mixed.strong, "Median step of 3 + 3 captures. ");
});
