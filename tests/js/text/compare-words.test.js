import assert from "node:assert/strict";
import { test } from "node:test";

import { fromTo, termsInWords, timeScale } from "../../../static/js/text/compare-words.js";

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
