import assert from "node:assert/strict";
import test from "node:test";

import { Problem } from "../../../static/js/text/problem.js";
import { attempt } from "../../../static/js/upload/attempt.js";

/** A line for faults that shows an earlier one. */
const shown = () => /** @type {HTMLElement} */ ({ hidden: false, textContent: "An earlier one." });

test("an action that succeeds hides an earlier problem", async () => {
  const fault = shown();
  await attempt(fault, async () => assert.equal(fault.hidden, true));
  assert.equal(fault.hidden, true);
});

test("a problem is shown with its remedy", async () => {
  const fault = shown();
  await attempt(fault, async () => {
    throw new Problem("It is full.", { remedy: "Delete some." });
  });
  assert.deepEqual([fault.hidden, fault.textContent], [false, "It is full. Delete some."]);
});

test("any other error is told as a lost connection", async () => {
  const fault = shown();
  await attempt(fault, async () => {
    throw new TypeError("fetch");
  });
  assert.equal(fault.hidden, false);
  assert.doesNotMatch(fault.textContent ?? "", /fetch|TypeError|undefined/);
});
