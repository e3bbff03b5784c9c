import assert from "node:assert/strict";
import { test } from "node:test";

import { inOrder, seriesName } from "../../../static/js/state/run-order.js";

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

test("the day at the end of a title is not part of its series", () => {
  assert.equal(seriesName("train_step · 2024-06-11"), "train_step");
  for (const title of ["train_step", " · 2024-06-11", "a · 2024-06-11 b"])
    assert.equal(seriesName(title), title);
  const runs = [
    { id: "other", title: "other", created_at: "2026-01-03" },
    { id: "before", title: "train_step · 2024-06-10", created_at: "2026-01-01" },
  ];
  assert.equal(inOrder("train_step · 2024-06-11", runs, [])[0].id, "before");
});
