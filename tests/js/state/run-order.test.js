import assert from "node:assert/strict";
import { test } from "node:test";

import { inOrder } from "../../../static/js/state/run-order.js";

test("runs of the same title come first, then the newest, each once", () => {
  const run = (
    /** @type {string} */ id,
    /** @type {string} */ title,
    /** @type {string} */ at,
  ) => ({
    id,
    title,
    created_at: at,
  });
  const alike = [run("1", "train", "2026-01-01"), run("2", "train", "2026-01-03")];
  const newest = [run("3", "other", "2026-02-01"), run("2", "train", "2026-01-03")];
  assert.deepEqual(
    inOrder("train", alike, newest).map(({ id }) => id),
    ["2", "1", "3"],
  );
});
