// The work of steps over hosts: band, median and the slowest host, on a cut axis of time. Pure.

/** @import { RunStep } from "../types/run.js" */

const ROOM = 0.08; // of the range, above and below
const LEAST_RANGE = 0.02; // of the largest: noise of a hundredth must not fill the panel
const TICKS = 6;
const LEAST_DIGITS = 3;

/** @typedef {{ left: number, right: number, top: number, bottom: number }} StepBox pixels */

/**
 * @param {readonly RunStep[]} steps @param {StepBox} box
 * @returns {{ toX: (at: number) => number, toY: (us: number) => number, ticks: number[] }}
 */
export function stepScale(steps, { left, right, top, bottom }) {
  const low = Math.min(...steps.map(({ least }) => least));
  const high = Math.max(...steps.map(({ most }) => most));
  const span = Math.max(high - low, high * LEAST_RANGE, Number.MIN_VALUE);
  const beyond = (span - (high - low)) / 2 + ROOM * span; // steps that are alike lie in the middle
  const [from, to] = [Math.max(0, low - beyond), high + beyond];
  return {
    toX: (at) =>
      steps.length > 1 ? left + (at * (right - left)) / (steps.length - 1) : (left + right) / 2,
    toY: (us) => bottom - ((us - from) * (bottom - top)) / (to - from),
    ticks: roundTicks(from, to),
  };
}

/** @param {number} from @param {number} to */
function roundTicks(from, to) {
  const raw = (to - from) / TICKS;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10) * power;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, i) => (first + i) * step);
}

/** Digits with which neighbouring ticks differ, at least three. @param {readonly number[]} ticks */
export function digitsOf(ticks) {
  if (ticks.length < 2) return LEAST_DIGITS;
  const power = (/** @type {number} */ us) => Math.floor(Math.log10(us) + 1e-9);
  return Math.max(LEAST_DIGITS, power(ticks[ticks.length - 1]) - power(ticks[1] - ticks[0]) + 1);
}

/**
 * The hosts that are critical most often, the first `most` of them: each gets a colour and a shape.
 * @param {readonly RunStep[]} steps @param {number} most
 * @returns {{ name: string, count: number }[]}
 */
export function criticalHosts(steps, most) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { critical } of steps) counts.set(critical, (counts.get(critical) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, most);
}
