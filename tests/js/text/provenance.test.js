import assert from "node:assert/strict";
import { test } from "node:test";

import { countsText, rateWord } from "../../../static/js/text/provenance.js";
import { there } from "../builders.js";

/** @import { Provenance } from "../../../static/js/types/page-data.js" */

test("rates carry a word where they were counted by hardware or estimated", () => {
  /** @type {Provenance} */
  const mixed = { flop: "estimated", bytes: "measured" };
  assert.equal(rateWord(mixed, "gflops"), "estimated");
  assert.equal(rateWord(mixed, "gibs"), "measured");
  assert.equal(rateWord({ flop: "modelled", bytes: "stated" }, "gflops"), "");
  assert.equal(rateWord(mixed, "time_us"), "");
  assert.equal(rateWord(undefined, "gflops"), "");
});

test("the page says once how FLOPs and bytes were obtained", () => {
  assert.equal(
    there(countsText({ flop: "modelled", bytes: "modelled" })).text,
    "FLOPs and bytes modelled",
  );
  const { text, meaning } = there(countsText({ flop: "measured", bytes: "estimated" }));
  assert.equal(text, "FLOPs measured, bytes estimated");
  assert.match(meaning, /counted by the hardware.*estimated from the shapes/);
  assert.equal(countsText(undefined), null);
});
