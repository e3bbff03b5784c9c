import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";

import { importsOf, isPure, MODULES, saysPure, testOf } from "./modules.js";

/**
 * The floors of `static/js`, the highest first: modules import from their own folder and from
 * lower floors.
 */
const FLOORS = [["app"], ["page", "upload"], ["chart"], ["state", "ui"], ["text"]];
/** @param {string} name */
const floorOf = (name) => FLOORS.findIndex((folders) => folders.includes(dirname(name)));

test("every module lies in a folder that has a floor", () => {
  assert.ok(MODULES.length > 50);
  for (const name of MODULES) assert.ok(floorOf(name) >= 0, name);
});

test("modules import from their own folder and from lower floors only", () => {
  for (const name of MODULES) {
    for (const other of importsOf(name)) {
      const isOwn = dirname(other) === dirname(name);
      assert.ok(isOwn || floorOf(other) > floorOf(name), `${name} imports ${other}`);
    }
  }
});

test("modules that need no browser say so in their heads, and no others do", () => {
  for (const name of MODULES) assert.equal(saysPure(name), isPure(name), name);
  assert.ok(isPure("text/format.js") && !isPure("ui/dom.js"));
});

test("every pure module has a test that imports it", () => {
  const pure = MODULES.filter(isPure);
  assert.ok(pure.length > 35);
  for (const name of pure)
    assert.ok(testOf(name)?.includes(`static/js/${name}"`), `tests/js has no test of ${name}`);
});
