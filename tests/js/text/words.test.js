import assert from "node:assert/strict";
import { test } from "node:test";

import { counted, placeSentence, programName } from "../../../static/js/text/words.js";
import { plain } from "../builders.js";

/** @import { PlacedOp } from "../../../static/js/text/words.js" */

/** @param {Partial<PlacedOp>} change @returns {PlacedOp} */
const op = (change) => ({
  cost: "known",
  coreWord: "core",
  bound: { id: "HBM", label: "HBM", kind: "slanted" },
  efficiency: 0.0606,
  computeEfficiency: 0.001,
  savingUs: 13_200,
  savingShare: 0.027,
  ...change,
});
/** @param {Partial<PlacedOp>} change */
const say = (change) => plain(placeSentence(op(change)));

test("a counted op: its share of the roof and what reaching it saves", () => {
  assert.equal(
    say({}),
    "6.1 % of the HBM roof. At the roof it would save 13.2 ms per core (2.7 % of the time).",
  );
});

test("an op above its roof is explained, not praised", () => {
  assert.match(
    say({
      efficiency: 3.28,
      computeEfficiency: 3.28,
      bound: { id: "Compute", label: "compute", kind: "flat" },
    }),
    /^328 % of the compute peak: .*estimate/,
  );
  assert.match(say({ efficiency: 1.4, savingUs: null }), /asynchronous/);
});

test("idle, unknown and peakless ops say so", () => {
  assert.match(say({ cost: "idle" }), /waited/);
  assert.match(say({ cost: "unknown", efficiency: null }), /neither FLOPs nor bytes/);
  assert.match(say({ efficiency: null }), /No peak is known/);
  assert.match(say({ cost: "no_flops" }), /^Does no FLOPs\. 6\.1 %/);
});

test("a prediction has no share of a roof", () => {
  assert.match(say({ timing: "predicted", efficiency: null }), /at best it reaches the HBM roof/);
  /** @type {Partial<PlacedOp>} */
  const without = {
    timing: "predicted",
    efficiency: null,
    bound: { id: "Unknown", label: "no peak", kind: "none" },
  };
  assert.match(say(without), /no roof is known/);
  assert.match(say({ timing: "rate", savingUs: null }), /^6\.1 % of the HBM roof\.$/);
});

test("names and counts", () => {
  assert.equal(programName({ scope: "step", label: "4" }), "Step 4");
  assert.equal(programName({ scope: "total_hw", label: "Total (HW)" }), "Total (HW)");
  assert.equal(counted(1, "1", "host"), "1 host");
  assert.equal(counted(3, "3", "host"), "3 hosts");
});
