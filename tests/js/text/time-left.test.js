import assert from "node:assert/strict";
import { test } from "node:test";

import { timeLeft } from "../../../static/js/text/time-left.js";

test("time left is rounded up and has sensible units", () => {
  assert.equal(timeLeft(null), "");
  assert.equal(timeLeft(Number.POSITIVE_INFINITY), "");
  assert.equal(timeLeft(0.3), "less than 1\u00a0s left");
  assert.equal(timeLeft(8.2), "about 9\u00a0s left");
  assert.equal(timeLeft(70), "about 2\u00a0min left");
  assert.equal(timeLeft(7000), "about 2\u00a0h left");
});
