import assert from "node:assert/strict";
import { test } from "node:test";

import { toMarkdown, toTsv } from "../../../static/js/text/copied.js";

test("names stand in code, and neither bars, backticks nor lines break the table", () => {
  const text = toMarkdown(
    ["Operation", "Time | self"],
    [
      ["a|b`c\nd", "1.20 ms"],
      ["<img>", "*"],
    ],
  );
  assert.deepEqual(text.split("\n"), [
    "| Operation | Time \\| self |",
    "| --- | ---: |",
    "| `` a\\|b`c d `` | 1.20 ms |",
    "| `<img>` | \\* |",
    "",
  ]);
});

test("tab-separated text has raw numbers, nothing for missing ones, and no formulas", () => {
  const text = toTsv(
    ["name", "us"],
    [
      ["=1+1", 2.5],
      ["a\tb", null],
    ],
  );
  assert.equal(text, "name\tus\n'=1+1\t2.5\na b\t\n");
});
