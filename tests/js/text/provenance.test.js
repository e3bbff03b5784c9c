import assert from "node:assert/strict";
import { test } from "node:test";

import { rateWord } from "../../../static/js/text/provenance.js";

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
