import assert from "node:assert/strict";
import { test } from "node:test";

import { relativeTime } from "../../../static/js/text/relative-time.js";

test("times are told from now", () => {
  const now = new Date(2026, 10, 21, 12, 0, 0);
  /** @param {number} milliseconds */
  const ago = (milliseconds) =>
    relativeTime(new Date(now.getTime() - milliseconds).toISOString(), now);
  const minute = 60_000;
  assert.equal(ago(-5000), "just now");
  assert.equal(ago(4 * minute), "4\u00a0min ago");
  assert.equal(ago(130 * minute), "2\u00a0h ago");
  assert.equal(ago(13 * 60 * minute), "yesterday");
  assert.equal(ago(20 * 24 * 60 * minute), "1 Nov");
  assert.equal(ago(400 * 24 * 60 * minute), "17 Oct 2025");
  assert.equal(relativeTime("nonsense", now), "–");
});
