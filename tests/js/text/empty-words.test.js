import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyWords, noProgramText, reasons } from "../../../static/js/text/empty-words.js";
import { programPoint } from "../builders.js";

/** @import { Diagnostic } from "../../../static/js/types/page-data.js" */

const found = {
  format: "XSpace (JAX)",
  all: 5,
  beyond: 0,
  isSearching: false,
  isPattern: false,
  shown: 5,
  axis: "HBM",
  diagnostics: [],
};

test("a profile without operations says so, and filters are not the cause", () => {
  const { title, clear } = emptyWords({ ...found, all: 0, shown: 0 });
  assert.match(title, /no operations/);
  assert.equal(clear, false);
});

test("it says how to capture some, in the words of its own profiler", () => {
  /** @param {string} format */
  const code = (format) => emptyWords({ ...found, format, all: 0, shown: 0 }).code;
  assert.match(code("XSpace (JAX)") ?? "", /^with jax\.profiler\.trace/);
  assert.match(code("PyTorch profiler (Kineto)") ?? "", /^with torch\.profiler/);
  assert.equal(code("Nsight Compute"), undefined);
  assert.equal(emptyWords({ ...found, shown: 0 }).code, undefined);
});

test("missing steps are not why a profile has no operations", () => {
  /** @type {import("../../../static/js/types/page-data.js").Diagnostic} */
  const steps = {
    code: "no-steps",
    severity: "warning",
    message: "No steps.",
    remedy: "",
    count: 1,
    filter: null,
  };
  const device = { ...steps, code: "no-device", message: "Only /host:CPU." };
  /** @param {(typeof steps)[]} diagnostics */
  const lines = (diagnostics) => emptyWords({ ...found, all: 0, shown: 0, diagnostics }).lines;
  assert.deepEqual(lines([steps]), ["The capture holds no ops of a device."]);
  assert.deepEqual(lines([steps, device]), ["Only /host:CPU."]);
});

test("filters that leave nothing can be cleared", () => {
  const { title, clear } = emptyWords({ ...found, all: 236, shown: 0 });
  assert.equal(title, "No operation of 236 matches");
  assert.equal(clear, true);
  const many = { ...found, all: 1000, beyond: 19_000, shown: 0 };
  assert.equal(emptyWords(many).title, "No operation of 20,000 matches");
  assert.equal(
    emptyWords({ ...many, isSearching: true }).title,
    "Looking through 20,000 operations",
  );
  const words = emptyWords({ ...many, isPattern: true });
  assert.equal(words.title, "No operation of the 1,000 longest matches");
});

test("operations without a place are named with the memory of the axis", () => {
  const every = emptyWords(found);
  assert.match(every.title, /^None of the operations has both FLOPs and bytes of HBM/);
  assert.equal(every.clear, false);
  const some = emptyWords({ ...found, shown: 2 });
  assert.match(some.title, /^None of the filtered operations/);
  assert.equal(some.clear, true);
});

test("the program's empty chart says what is missing", () => {
  assert.match(noProgramText([]), /no program totals/);
  assert.match(noProgramText([programPoint({ total_time_us: null })]), /No time was measured/);
  assert.match(noProgramText([programPoint({ total_time_us: 1 })]), /too little of the time/);
});

/**
 * @param {Diagnostic["severity"]} severity
 * @param {string} message
 * @param {string} [remedy]
 * @returns {Diagnostic}
 */
const diagnostic = (severity, message, remedy = "") => ({
  severity,
  code: message,
  message,
  remedy,
  count: 1,
  filter: null,
});

const ALL = [
  diagnostic("info", "a"),
  diagnostic("error", "b", "Do c."),
  diagnostic("warning", "d"),
  diagnostic("info", "e"),
];

test("three reasons at most, the most severe first, each with what to do", () => {
  assert.deepEqual(reasons(ALL), ["b Do c.", "d", "a"]);
});
