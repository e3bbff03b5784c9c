import assert from "node:assert/strict";
import { test } from "node:test";

import { countsText, rateWord } from "../../../static/js/text/provenance.js";
import { there } from "../builders.js";

test("rates carry a word where they were counted by hardware or estimated", () => {
  assert.equal(rateWord({ flop: "estimated", bytes: "measured" }, "flop_rate_gflops"), "estimated");
  assert.equal(
    rateWord({ flop: "estimated", bytes: "measured" }, "matrix_bf16_flop_rate_gflops"),
    "estimated",
  );
  assert.equal(
    rateWord({ flop: "estimated", bytes: "measured" }, "hbm_bandwidth_gibs"),
    "measured",
  );
  assert.equal(rateWord({ flop: "modelled", bytes: "stated" }, "flop_rate_gflops"), "");
  assert.equal(rateWord({ flop: "estimated", bytes: "estimated" }, "self_time_per_core_us"), "");
  assert.equal(rateWord(undefined, "flop_rate_gflops"), "");
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
