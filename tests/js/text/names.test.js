import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { middleCut, withoutPrefix } from "../../../static/js/text/names.js";

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
