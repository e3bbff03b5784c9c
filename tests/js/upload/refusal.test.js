import assert from "node:assert/strict";
import { test } from "node:test";

import { refusal, totalBytes } from "../../../static/js/upload/refusal.js";
import { there } from "../builders.js";

const LIMITS = { maxBytes: 1000, maxFiles: 2 };
/** @param {string} name @param {number} size */
const file = (name, size) => ({ name, size });

test("files within the limits are not refused", () => {
  assert.equal(refusal([file("a", 500), file("b", 500)], LIMITS), null);
});

test("refusals say what is wrong and what to do", () => {
  /** @type {[ReturnType<typeof file>[], RegExp, string][]} */
  const cases = [
    [[file("a", 1), file("b", 1), file("c", 1)], /3 files/, "upload-rejected"],
    [[file("a", 1001)], /1,001.B is more than/, "upload-too-large"],
    [[file("a", 5), file("empty.pb", 0)], /empty\.pb is empty/, "upload-rejected"],
  ];
  for (const [files, message, code] of cases) {
    const problem = there(refusal(files, LIMITS));
    assert.match(problem.message, message);
    assert.equal(problem.code, code);
    assert.notEqual(problem.remedy, "");
    assert.equal(problem.canRetry, false);
  }
});

test("sizes add up", () => {
  assert.equal(totalBytes([file("a", 2), file("b", 3)]), 5);
});
