import assert from "node:assert/strict";
import { test } from "node:test";

import { reasons } from "../../../static/js/text/diagnostics.js";

/** @import { Diagnostic } from "../../../static/js/types/page-data.js" */

/**
 * @param {Diagnostic["severity"]} severity
 * @param {string} message
 * @param {string} [remedy]
 * @returns {Diagnostic}
 */
const found = (severity, message, remedy = "") => ({
  severity,
  code: message,
  message,
  remedy,
  count: 1,
  filter: null,
});

const ALL = [
  found("info", "a"),
  found("error", "b", "Do c."),
  found("warning", "d"),
  found("info", "e"),
];

test("three reasons at most, the most severe first, each with what to do", () => {
  assert.deepEqual(reasons(ALL), ["b Do c.", "d", "a"]);
});
