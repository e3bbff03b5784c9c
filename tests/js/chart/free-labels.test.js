import assert from "node:assert/strict";
import { test } from "node:test";

import { freeLabels } from "../../../static/js/chart/free-labels.js";

/** @type {[number, number, number, number]} */
const FRAME = [0, 0, 300, 200];
const OPTIONS = { most: 5, character: 6, inside: FRAME, taken: [] };

test("labels of one place go to different sides, and none leaves the frame", () => {
  const one = { text: "fusion", px: 150, py: 100, radius: 5 };
  const found = freeLabels([one, one, { ...one, px: 290 }], OPTIONS);
  assert.equal(found.length, 3);
  assert.notDeepEqual(found[0], found[1]);
  assert.equal(found[2].anchor, "end", "there is no room at the right");
});

test("a label without room is left out, and there are at most so many", () => {
  const one = {
    text: "a name that is far too long for this frame to hold",
    px: 150,
    py: 100,
    radius: 5,
  };
  assert.deepEqual(freeLabels([one], OPTIONS), []);
  const short = { ...one, text: "a" };
  assert.equal(freeLabels([short, short, short], { ...OPTIONS, most: 2 }).length, 2);
  assert.deepEqual(freeLabels([short], { ...OPTIONS, taken: [FRAME] }), []);
});
