import assert from "node:assert/strict";
import { test } from "node:test";

import { bySeverity, reasons, severityOf } from "../../../static/js/text/diagnostics.js";

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

test("the most severe come first, in the order in which they were found", () => {
  assert.deepEqual(
    bySeverity(ALL).map(({ message }) => message),
    ["b", "d", "a", "e"],
  );
});

test("a severity that this page does not know counts as a note", () => {
  const unheard = /** @type {Diagnostic["severity"]} */ ("fatal");
  assert.equal(severityOf({ severity: unheard }), "info");
});

test("three reasons at most, each with what to do", () => {
  assert.deepEqual(reasons(ALL), ["b Do c.", "d", "a"]);
});
