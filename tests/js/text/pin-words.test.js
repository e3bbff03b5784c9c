import assert from "node:assert/strict";
import { test } from "node:test";

import { pinFacts, pinTexts } from "../../../static/js/text/pin-words.js";
import { pageWith, plain } from "../builders.js";

/** @import { PinRecord } from "../../../static/js/text/pin-words.js" */

/** @type {PinRecord} */
const record = {
  pin: 1,
  kind: "operation",
  program: "",
  name: "fusion.1",
  note: "why?",
  time_per_core_us: 1500,
  self_share_ratio: 0.25,
  roofline_efficiency_ratio: null,
  bound_by: "HBM",
};
const [, hbm, unknown] = pageWith([]).bounds;

test("numbers of a pin in one line; an unknown one is a dash", () => {
  assert.equal(plain(pinFacts(record, hbm)), "1.50 ms · 25.0 % · – of roof · HBM");
  const point = { ...record, kind: /** @type {const} */ ("program"), self_share_ratio: null };
  assert.equal(plain(pinFacts(point, unknown)), "1.50 ms · – of roof");
});

test("a row to paste", () => {
  const texts = ["fusion.1", "why?", "1.50 ms", "25.0 %", "–", "HBM"];
  assert.deepEqual(pinTexts(record).map(plain), texts);
  assert.equal(pinTexts({ ...record, bound_by: null }).at(-1), "–");
});
