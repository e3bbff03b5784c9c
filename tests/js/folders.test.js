import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

const ROOT = join(
  import.meta.dirname ?? dirname(new URL(import.meta.url).pathname),
  "../../static/js",
);

/** The floors of `static/js`, the highest first: modules import from their own folder and from lower floors. */
const FLOORS = [["app"], ["page", "upload"], ["chart"], ["state", "ui"], ["text"], ["metrics"]];
const floorOf = (name) => FLOORS.findIndex((folders) => folders.includes(name.split("/")[0]));

const modules = readdirSync(ROOT, { recursive: true }).filter((name) => name.endsWith(".js"));

/** The modules that one module loads; imports in comments are of types. */
function importsOf(name) {
  const text = readFileSync(join(ROOT, name), "utf-8");
  return [...text.matchAll(/^[a-z}].* from "(\.[^"]+)"/gm)].map(([, path]) =>
    normalize(join(dirname(name), path)),
  );
}

test("every module lies in a folder that has a floor", () => {
  assert.ok(modules.length > 50);
  for (const name of modules) assert.ok(floorOf(name) >= 0, name);
});

test("modules import from their own folder and from lower floors only", () => {
  for (const name of modules) {
    for (const other of importsOf(name)) {
      const isOwn = dirname(other) === dirname(name);
      assert.ok(isOwn || floorOf(other) > floorOf(name), `${name} imports ${other}`);
    }
  }
});
