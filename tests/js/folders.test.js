import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../static/js", import.meta.url));

/**
 * The floors of `static/js`, the highest first: modules import from their own folder and from
 * lower floors.
 */
const FLOORS = [["app"], ["page", "upload"], ["chart"], ["state", "ui"], ["text"], ["metrics"]];
/** @param {string} name */
const floorOf = (name) => FLOORS.findIndex((folders) => folders.includes(name.split("/")[0]));

const modules = readdirSync(ROOT, { encoding: "utf-8", recursive: true }).filter((name) =>
  name.endsWith(".js"),
);

/** The modules that one module loads; imports in comments are of types. @param {string} name */
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
