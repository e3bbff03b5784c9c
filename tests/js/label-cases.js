// Where names of points stand: tests/golden/labels/labels.json, to which any other drawing of the chart can be held.
// After a change write it again with `node tests/js/label-cases.js --write`, and read the difference.

import { readFileSync, writeFileSync } from "node:fs";

import { pointLabels } from "../../static/js/chart/point-labels.js";

/** @import { Box, Disc, Line } from "../../static/js/chart/point-labels.js" */

export const GOLDEN = new URL("../golden/labels/labels.json", import.meta.url);

/**
 * Numbers that look random and are the same everywhere (Park and Miller, 1988).
 * @param {number} seed
 */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/**
 * @typedef {object} Case
 * @property {(Disc & { width: number })[]} wanted
 * @property {Disc[]} discs
 * @property {Line[]} lines
 * @property {Box[]} taken
 * @property {Box} inside
 * @property {number} most
 */

/**
 * A cloud of points under a roof.
 * @param {{ seed: number, points: number, width: number, height: number, most: number }} options
 * @returns {Case}
 */
export function cloud({ seed, points, width, height, most }) {
  const random = randomNumbers(seed);
  /** @param {number} low @param {number} high */
  const within = (low, high) => Math.round(10 * (low + random() * (high - low))) / 10;
  const discs = Array.from({ length: points }, (_, i) => ({
    px: within(40, width - 20),
    py: within(60, height - 20),
    radius: Math.max(2.5, Math.round(180 / (i + 10))),
  }));
  return {
    wanted: discs.slice(0, 2 * most).map((disc) => ({ ...disc, width: within(30, 130) })),
    discs,
    lines: [
      [0, height * 0.7, width * 0.6, 40],
      [width * 0.6, 40, width, 40],
    ],
    taken: [
      [0, 0, 160, 32],
      [width - 120, 24, width, 40],
    ],
    inside: [2, 2, width - 2, height - 2],
    most,
  };
}

/** @type {Case[]} */
const CASES = [
  cloud({ seed: 7, points: 12, width: 560, height: 420, most: 7 }),
  cloud({ seed: 11, points: 200, width: 560, height: 420, most: 7 }),
  cloud({ seed: 13, points: 300, width: 1100, height: 620, most: 12 }),
  cloud({ seed: 17, points: 60, width: 300, height: 340, most: 3 }),
];

export const written = () =>
  `${JSON.stringify(
    CASES.map((one) => ({ ...one, labels: pointLabels(one.wanted, one) })),
    null,
    1,
  )}\n`;

if (process.argv.includes("--write")) writeFileSync(GOLDEN, written());

export const stored = () => readFileSync(GOLDEN, "utf-8");
