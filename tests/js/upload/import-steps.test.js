import assert from "node:assert/strict";
import { test } from "node:test";

import {
  STEPS,
  drawnImport,
  drawnUpload,
  isBefore,
  stepState,
  timeLeft,
} from "../../../static/js/upload/import-steps.js";

test("the upload fills the first half of the bar", () => {
  const drawn = drawnUpload({ sent: 512, total: 1024, fraction: 0.5, rate: 256, secondsLeft: 2 });
  assert.equal(drawn.step, "upload");
  assert.equal(drawn.fraction, 0.25);
  assert.equal(drawn.detail, "50\u202f% of 1.00\u00a0KiB, 256\u00a0B/s");
  assert.equal(drawn.left, "about 2\u00a0s left");
});

test("a finished upload waits for the server", () => {
  const drawn = drawnUpload({ sent: 9, total: 9, fraction: 1, rate: 9, secondsLeft: 0 });
  assert.match(drawn.detail, /the server/);
  assert.equal(drawn.left, "");
});

test("the import fills the second half, and every phase belongs to a step", () => {
  for (const phase of ["queued", "unpack", "recognise", "read", "analyse", "store"]) {
    const { step, fraction } = drawnImport({ phase, fraction: 0, overall: 0.5, elapsed_s: 0 });
    assert.ok(STEPS.includes(step), phase);
    assert.equal(fraction, 0.75);
  }
});

test("the time left of an import is told when it can be known", () => {
  const at = { phase: "read", fraction: 0.5, overall: 0.25 };
  assert.equal(drawnImport({ ...at, elapsed_s: 0.5 }).left, "");
  assert.equal(drawnImport({ ...at, elapsed_s: 3 }).left, "about 9\u00a0s left");
});

test("a queued import says what it waits for beside its turn", () => {
  const queued = { phase: "queued", fraction: 0, overall: 0, elapsed_s: 9 };
  assert.equal(
    drawnImport({ ...queued, waits_for: "disk", needs_bytes: 3 << 20 }).detail,
    "waiting for room on the server’s disk: 3.00\u00a0MiB are needed; it starts by itself",
  );
  assert.match(drawnImport({ ...queued, waits_for: "disk", needs_bytes: null }).detail, /disk; it/);
  assert.match(drawnImport({ ...queued, waits_for: "store" }).detail, /database or object store/);
  assert.match(
    drawnImport({ ...queued, waits_for: "machine" }).detail,
    /not by the file; it tries/,
  );
  assert.equal(drawnImport({ ...queued, waits_for: null }).detail, "waiting to start");
});

test("a waiting import says what it waits for", () => {
  assert.match(
    drawnImport({ phase: "queued", fraction: 0, overall: 0, elapsed_s: 9 }).detail,
    /waiting/,
  );
  assert.equal(
    drawnImport({ phase: "unpack", fraction: 0.4, overall: 0.04, elapsed_s: 9 }).detail,
    "unpacking 40\u202f%",
  );
});

test("steps before the current one are done, later ones wait", () => {
  assert.deepEqual(
    STEPS.map((step) => stepState(step, "read")),
    ["done", "done", "now", "next", "next"],
  );
});

test("an import that waits again is before the step that it had reached", () => {
  const { step } = drawnImport({ phase: "queued", fraction: 0, overall: 0, elapsed_s: 9 });
  assert.ok(isBefore(step, "store"));
  assert.ok(!isBefore("read", "read"));
});

test("time left is rounded up and has sensible units", () => {
  assert.equal(timeLeft(null), "");
  assert.equal(timeLeft(Number.POSITIVE_INFINITY), "");
  assert.equal(timeLeft(0.3), "less than 1\u00a0s left");
  assert.equal(timeLeft(8.2), "about 9\u00a0s left");
  assert.equal(timeLeft(70), "about 2\u00a0min left");
  assert.equal(timeLeft(7000), "about 2\u00a0h left");
});
