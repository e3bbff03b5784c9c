import assert from "node:assert/strict";
import { test } from "node:test";

import { pollDelay } from "../../../static/js/upload/follow-import.js";

test("polling starts at 100 ms and backs off to 500 ms", () => {
  assert.equal(pollDelay(0), 100);
  assert.ok(pollDelay(1) > 100);
  assert.equal(pollDelay(100), 500);
});
