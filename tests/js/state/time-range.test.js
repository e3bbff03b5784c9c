import assert from "node:assert/strict";
import { test } from "node:test";

import {
  addressOfClock,
  addressOfHost,
  addressOfRange,
  binAt,
  lanePaths,
  moved,
  rangeAround,
  readMs,
  stepAt,
  stepLabels,
} from "../../../static/js/state/time-range.js";

/** @import { TimeStrip } from "../../../static/js/types/page-data.js" */

/** @type {TimeStrip} */
const STRIP = {
  edges_us: [0, 10, 20, 30, 45],
  steps: [
    { label: "7", begin_us: 0, end_us: 20 },
    { label: "8", begin_us: 20, end_us: 45 },
  ],
  kinds: [
    { id: "work", label: "work", token: "--tl-work" },
    { id: "exposed.ici", label: "exposed ICI", token: "--roof-ici" },
  ],
  lanes: [],
  range: null,
};

test("a time is in the bin that begins with it", () => {
  assert.deepEqual(
    [0, 9.9, 10, 29, 30, 44, 99].map((us) => binAt(STRIP, us)),
    [0, 0, 1, 2, 3, 3, 3],
  );
});

test("names of steps have room before the next one, or are numbers, or are left out", () => {
  /** @param {number} pixels */
  const texts = (pixels) => stepLabels(STRIP, pixels).map(({ text }) => text);
  assert.deepEqual(texts(300), ["step 7", "step 8"]);
  assert.deepEqual(texts(80), ["7", "8"]);
  assert.deepEqual(texts(30), ["7"]);
});

test("a range covers whole bins, whichever end was first", () => {
  assert.deepEqual(rangeAround(STRIP, 12, 31), [1, 4]);
  assert.deepEqual(rangeAround(STRIP, 31, 12), [1, 4]);
  assert.deepEqual(rangeAround(STRIP, 10, 30), [1, 3]);
  assert.deepEqual(rangeAround(STRIP, 12, 12), [1, 2]);
});

test("a range moves by bins and stays in the capture; its end moves alone", () => {
  assert.deepEqual(moved(STRIP, [1, 3], 1, false), [2, 4]);
  assert.deepEqual(moved(STRIP, [1, 3], 10, false), [2, 4]);
  assert.deepEqual(moved(STRIP, [1, 3], -10, false), [0, 2]);
  assert.deepEqual(moved(STRIP, [1, 3], -5, true), [1, 2]);
  assert.deepEqual(moved(STRIP, [1, 3], 9, true), [1, 4]);
});

test("a click is in one step", () => {
  assert.equal(stepAt(STRIP, 19)?.label, "7");
  assert.equal(stepAt(STRIP, 20)?.label, "8");
  assert.equal(stepAt(STRIP, 50), null);
});

test("the address of a range keeps filters, and drops what counts ops of another list", () => {
  const place = { pathname: "/p/x", search: "?v=1&q=conv&op=3&page=2&from_us=1&to_us=2" };
  assert.equal(addressOfRange(place, [10, 20]), "/p/x?v=1&q=conv&from_us=10&to_us=20");
  assert.equal(addressOfRange(place, null), "/p/x?v=1&q=conv");
  assert.equal(addressOfRange({ pathname: "/p/x", search: "" }, null), "/p/x");
});

test("the address of a host has times of its own, that of a clock keeps all", () => {
  const place = { pathname: "/p/x", search: "?q=conv&op=3&pin=2&from_us=1&to_us=2&host=a" };
  assert.equal(addressOfHost(place, "b & c"), "/p/x?q=conv&host=b+%26+c");
  assert.equal(addressOfHost(place, ""), "/p/x?q=conv");
  assert.equal(addressOfClock({ pathname: "/p/x", search: "?op=3" }, true), "/p/x?op=3&dvfs=on");
  assert.equal(addressOfClock({ pathname: "/p/x", search: "?dvfs=on" }, false), "/p/x");
});

test("milliseconds are read with a point or a comma", () => {
  assert.equal(readMs(" 12.5 "), 12_500);
  assert.equal(readMs("12,5"), 12_500);
  for (const text of ["", "x", "-1", "1e999"]) assert.equal(readMs(text), null);
});

test("a lane is stacked, and the smallest wait can be seen", () => {
  const paths = lanePaths(STRIP, { work: [100, 0, 50, 0], "exposed.ici": [1, 0, 50, 0] });
  assert.equal(paths.get("work"), "M0 100V0H10V100ZM20 100V50H30V100Z");
  assert.equal(paths.get("exposed.ici"), "M0 4V0H10V4ZM20 50V0H30V50Z");
});
