import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { middleCut, toldApart, withoutPrefix } from "../../../static/js/text/names.js";

const { cut } = JSON.parse(
  readFileSync(new URL("../../golden/names/names.json", import.meta.url), "utf-8"),
);

test("long names lose their middle, as on the server", () => {
  for (const [text, width, expected] of cut) assert.equal(middleCut(text, width), expected);
});

test("a common beginning is left out where it is there", () => {
  assert.equal(withoutPrefix("/home/me/a.py:3", "/home/me/"), "a.py:3");
  assert.equal(withoutPrefix("/usr/b.py", "/home/me/"), "/usr/b.py");
  assert.equal(withoutPrefix("a", ""), "a");
});

test("equal names are told apart by the chips that differ, else by a number", () => {
  const rows = [
    { short: "aten::mm", chips: ["bf16", "8×128"] },
    { short: "aten::mm", chips: ["bf16", "4×64"] },
    { short: "aten::mm", chips: ["bf16", "8×128"] },
    { short: "aten::add", chips: ["f32"] },
    { short: "a_name_that_is_much_too_long_0", chips: ["f32"] },
    { short: "a_name_that_is_much_too_long_0", chips: ["1024×2048×4096"] },
  ];
  assert.deepEqual(toldApart(rows, 22), [
    "aten::mm 8×128",
    "aten::mm 4×64",
    "aten::mm 8×128 2",
    "aten::add",
    "a_name_that…_long_0 f32",
    "a_nam…_0 1024×2048×4096",
  ]);
});
