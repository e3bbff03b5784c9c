import assert from "node:assert/strict";
import { test } from "node:test";

import { droppedFiles } from "../../../static/js/upload/dropped-files.js";

/** @param {string} name */
const file = (name) => ({
  name,
  isDirectory: false,
  file: (/** @type {(file: { name: string }) => void} */ resolve) => resolve({ name }),
});

/** @typedef {{ name: string }} Entry */

/**
 * A folder gives its entries in portions, then an empty one.
 * @param {string} name
 * @param {...Entry} entries
 */
function folder(name, ...entries) {
  const createReader = () => {
    const portions = [entries, []];
    return {
      readEntries: (/** @type {(portion: Entry[]) => void} */ resolve) =>
        resolve(portions.shift() ?? []),
    };
  };
  return { name, isDirectory: true, createReader };
}

/**
 * The names that a drop of these entries gives: the part of a DataTransfer that is read.
 * @param {...Entry} entries
 */
async function namesOf(...entries) {
  const files = entries.map((entry) => ({ name: entry.name }));
  const items = entries.map((entry) => ({ webkitGetAsEntry: () => entry }));
  const transfer = /** @type {unknown} */ ({ files, items });
  const found = await droppedFiles(/** @type {DataTransfer} */ (transfer));
  return found.map(({ name }) => name);
}

test("files are taken as they are", async () => {
  assert.deepEqual(await namesOf(file("b.csv"), file("a.txt")), ["b.csv", "a.txt"]);
});

test("a profiler's log folder gives its captures, in order of host, and not what else it holds", async () => {
  const run = folder(
    "run",
    file("host_1.xplane.pb"),
    file("host_0.xplane.pb"),
    file("host_0.trace.json.gz"),
  );
  assert.deepEqual(await namesOf(folder("plugins", run)), ["host_0.xplane.pb", "host_1.xplane.pb"]);
});

test("a folder without captures gives tables, documents and reports: a workload of rocprof-compute", async () => {
  const workload = folder(
    "MI200",
    file("pmc_perf.csv"),
    file("log.txt"),
    file("roofline.csv"),
    folder("perfmon", file("a.txt")),
  );
  assert.deepEqual(await namesOf(workload), ["pmc_perf.csv", "roofline.csv"]);
});

test("a folder of pictures gives nothing", async () => {
  assert.deepEqual(await namesOf(folder("shots", file("a.png"))), []);
});
