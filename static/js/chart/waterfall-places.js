// Where the bars of a waterfall of terms lie, on an axis that is cut below them. Pure.

/** @import { Terms } from "../types/comparison.js" */

/**
 * A bar from one end to the other, in percent of the lane.
 * @typedef {object} Bar
 * @property {string} id
 * @property {number} us
 * @property {number} left
 * @property {number} width
 * @property {number} end where the next bar begins
 *
 * @typedef {object} Waterfall
 * @property {Bar[]} bars from the largest help to the largest loss
 * @property {string[]} zero terms too small for a bar
 * @property {number} a end of A's bar
 * @property {number} b end of B's bar
 * @property {boolean} isCut whether the axis begins above zero
 */

const ROOM_BELOW = 0.28; // of the range of the bars: what stays of A and B below the cut
const ROOM_ABOVE = 0.01;
const LEAST_WIDTH = 0.8; // percent

/**
 * @param {Terms} terms in us
 * @param {number} aUs
 * @param {number} least terms up to this have no bar
 * @returns {Waterfall}
 */
export function waterfall(terms, aUs, least) {
  const shown = Object.entries(terms).filter(([, us]) => Math.abs(us) > least);
  shown.sort(([, x], [, y]) => x - y);
  const rest = Object.entries(terms).filter(([, us]) => Math.abs(us) <= least);
  const ends = [aUs];
  for (const [, us] of shown) ends.push(ends[ends.length - 1] + us);
  const last = aUs + Object.values(terms).reduce((total, us) => total + us, 0);
  const low = Math.min(...ends, last);
  const high = Math.max(...ends, last);
  const start = Math.max(0, low - ROOM_BELOW * (high - low || high));
  const length = (high - start) * (1 + ROOM_ABOVE) || 1;
  const at = (/** @type {number} */ us) => Math.max(0, (100 * (us - start)) / length);
  return {
    bars: shown.map(([id, us], i) => ({
      id,
      us,
      left: Math.min(at(ends[i]), at(ends[i + 1])),
      width: Math.max(LEAST_WIDTH, (100 * Math.abs(us)) / length),
      end: at(ends[i + 1]),
    })),
    zero: rest.map(([id]) => id),
    a: at(aUs),
    b: at(last),
    isCut: start > 0,
  };
}
