import assert from "node:assert/strict";
import { test } from "node:test";

import {
  atLeast,
  boundWord,
  counted,
  partLabel,
  placeSentence,
  programName,
} from "../../../static/js/text/words.js";
import { GOLDEN, plain } from "../builders.js";

/** @import { PlacedOp } from "../../../static/js/text/words.js" */

/** @param {Partial<PlacedOp>} change @returns {PlacedOp} */
const op = (change) => ({
  cost: "known",
  bound: { id: "HBM", label: "HBM", kind: "slanted" },
  efficiency: 0.0606,
  aboveRoof: null,
  unheld: null,
  gainUs: 13_200,
  ...change,
});
/** @param {Partial<PlacedOp>} change */
const say = (change) => plain(placeSentence(op(change), GOLDEN.templates));

test("a counted op: its share of the roof and what reaching it saves", () => {
  assert.equal(say({}), "6.1 % of the HBM roof. At the roof it would save 13.2 ms.");
});

test("an op says where to stop", () => {
  assert.match(say({ efficiency: 0.81, sustained: 0.85 }), /this roof sustains, so stop here/);
  assert.doesNotMatch(say({ efficiency: 0.8, sustained: 0.85 }), /stop here/);
  assert.match(say({ efficiency: 0.95 }), /stop here/);
});

test("an op above its roof is explained, not praised", () => {
  /** @type {PlacedOp["bound"]} */
  const compute = { id: "Compute", label: "compute", kind: "flat" };
  assert.equal(
    say({ efficiency: 3.28, aboveRoof: "own_estimate", bound: compute }),
    "328 % of the compute peak. It is a custom op, whose work is the estimate that its author gave.",
  );
  assert.match(say({ efficiency: 1_924_471, aboveRoof: "asynchronous" }), /^1,924,471× of the HBM/);
});

test("an op without a rate says why it has no share of the roof", () => {
  const notShown = "Not a rate: its bytes move in the time of other ops.";
  assert.equal(say({ efficiency: null, notShown }), notShown);
  assert.match(say({ efficiency: 0.0606, notShown }), /^6\.1 % of the HBM roof/);
  assert.match(say({ cost: "transfer", efficiency: null, notShown }), /^It moves data over a link/);
});

test("idle, unknown and peakless ops say so", () => {
  assert.match(say({ cost: "idle" }), /waited/);
  assert.match(say({ cost: "unknown", efficiency: null }), /^Neither FLOPs nor bytes/);
  assert.match(say({ efficiency: null }), /^No peak of the unit or memory/);
  assert.match(say({ efficiency: null, unheld: "Matrix int8" }), /^The peak of Matrix int8/);
  assert.match(say({ cost: "flops_unknown", efficiency: null }), /^Its FLOPs are not known/);
  assert.match(say({ cost: "bytes_unknown", efficiency: null }), /^Its bytes are not known/);
  assert.match(say({ cost: "flops_unknown" }), /^Its FLOPs are not known, but few\. 6\.1 %/);
  assert.match(say({ cost: "no_flops" }), /^Does no FLOPs\. 6\.1 %/);
});

test("a transfer is bound by its link, and says why its bytes seem too fast", () => {
  assert.equal(
    say({ cost: "transfer", efficiency: null }),
    "It moves data over a link. The link binds it, not a memory.",
  );
  assert.match(
    say({ cost: "transfer", efficiency: null, aboveRoof: "asynchronous" }),
    /not a memory\. It starts or ends an asynchronous transfer/,
  );
});

test("where nothing binds an op its cost stands in place of the bound", () => {
  const words = { costs: { transfer: "transfer", idle: "idle" } };
  const none = { kind: /** @type {const} */ ("none"), label: "unknown" };
  const hbm = { kind: /** @type {const} */ ("slanted"), label: "HBM" };
  assert.equal(boundWord(words, none, "transfer"), "transfer");
  assert.equal(boundWord(words, none, "known"), "unknown");
  assert.equal(boundWord(words, none, null), "unknown");
  assert.equal(boundWord(words, hbm, "no_flops"), "HBM");
  assert.equal(boundWord(words, undefined, null), "–");
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
  assert.match(say({ timing: "rate", gainUs: null }), /^6\.1 % of the HBM roof\.$/);
});

test("lower bounds are named", () => {
  assert.equal(atLeast("3 GB/s", true), "≥\u00a03 GB/s");
  assert.equal(atLeast("3 GB/s", undefined), "3 GB/s");
});

test("names and counts", () => {
  assert.equal(programName({ scope: "step", label: "4" }), "Step 4");
  assert.equal(programName({ scope: "total_hw", label: "Total (HW)" }), "Total (HW)");
  assert.equal(counted(1, "1", "host"), "1 host");
  assert.equal(counted(3, "3", "host"), "3 hosts");
});

const parts = [{ id: "below_roof.hbm", label: "below the HBM roof", time_us: 1 }];
const budget = { total_us: 1, floor_us: 0, parts };

test("a part has the words of the server, a kind of parts its own", () => {
  assert.equal(partLabel(budget, "below_roof.hbm"), "Below the HBM roof");
  assert.equal(partLabel(budget, "at_roof"), "At the roof");
  assert.equal(partLabel(null, "idle"), "Idle");
});
