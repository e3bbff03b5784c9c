import assert from "node:assert/strict";
import { test } from "node:test";

import { fitting, segmentTexts } from "../../../static/js/chart/bar-labels.js";

/** Six pixels for each letter. @param {string} text */
const measure = (text) => 6 * text.length;

test("a segment holds the longest text that fits, or nothing", () => {
  const texts = segmentTexts("at the HBM roof", "24.0");
  assert.deepEqual(texts, ["HBM 24.0", "24.0"]);
  assert.equal(fitting(100, texts, measure), "HBM 24.0");
  assert.equal(fitting(6 * 8 + 13, texts, measure), "24.0");
  assert.equal(fitting(30, texts, measure), "");
});

test("waiting is named without its kind", () => {
  assert.equal(segmentTexts("exposed host transfers", "76.0")[0], "host transfers 76.0");
  assert.equal(segmentTexts("idle", "12.2")[0], "idle 12.2");
});
