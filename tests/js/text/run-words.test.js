import assert from "node:assert/strict";
import { test } from "node:test";

import { hostSaid, metricText, signedShare, waitNote } from "../../../static/js/text/run-words.js";
import { hostRow } from "../runs.js";

test("values have their unit, and what is not known a dash", () => {
  assert.equal(metricText("ratio", 1.0733), "1.073");
  assert.equal(metricText("bandwidth", 512), "512\u00a0GB/s");
  assert.equal(metricText("wait", null), "–");
  assert.equal(signedShare(0.073), "+7.3\u202f%");
  assert.equal(signedShare(-0.01), "−1.0\u202f%");
});

test("a move is announced with host, value and verdict", () => {
  assert.equal(
    hostSaid(hostRow({ name: "h7", kind: "slow chip" }), "ratio"),
    "h7, Same-work ratio 1.000, slow chip",
  );
  assert.equal(hostSaid(hostRow({ name: "x", state: "unreadable" }), "work"), "x, unreadable");
});

test("a wait that is not exact says how it stands", () => {
  assert.equal(waitNote("exact"), "");
  assert.equal(waitNote(null), "");
  assert.equal(waitNote("at most"), "at most");
});
