// Packed forms of vendored files hold what the files hold.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";

const FOLDER = new URL("../../static/vendor/", import.meta.url);

test("a packed file is its file", () => {
  const names = readdirSync(FOLDER, { recursive: true }).map(String);
  const packed = names.filter((name) => name.endsWith(".br"));
  assert.ok(packed.length > 0);
  for (const name of packed) {
    const file = readFileSync(new URL(name.slice(0, -3), FOLDER));
    assert.ok(brotliDecompressSync(readFileSync(new URL(name, FOLDER))).equals(file), name);
  }
});
