// Where the runs of a series lie in a panel of its own for each number. Pure.

/**
 * @typedef {object} SeriesRun
 * @property {string} id
 * @property {string} url
 * @property {string} title
 * @property {string} created_at
 * @property {number} time_us
 * @property {number | null} roof_us
 * @property {number | null} roof_ratio
 * @property {string} gate
 * @property {string | null} base_id
 * @property {string[]} rules
 * @property {string} accepted_until
 *
 * @typedef {{ run: SeriesRun, value: number, x: number, y: number }} SeriesPlace pixels
 * @typedef {{ value: number, y: number }} Tick
 */

const ROOM = 0.18; // of the range, above and below: each panel has its own cut axis
const LEAST_RANGE = 0.02; // of the largest value: noise of a hundredth must not fill a panel

/**
 * Where run `at` of `count` lies across; a single one in the middle.
 * @param {number} at @param {number} count @param {{ left: number, right: number }} box pixels
 */
export const runPlace = (at, count, { left, right }) =>
  count > 1 ? left + (at * (right - left)) / (count - 1) : (left + right) / 2;

/**
 * Stretches of runs that broke a rule; neighbours share one.
 * @param {readonly Pick<SeriesRun, "gate">[]} runs @param {{ left: number, right: number }} box pixels
 * @returns {{ from: number, to: number }[]}
 */
export function bandsOf(runs, box) {
  const half = runs.length > 1 ? (box.right - box.left) / (runs.length - 1) / 2 : 12;
  /** @type {{ from: number, to: number }[]} */
  const bands = [];
  runs.forEach(({ gate }, at) => {
    if (gate !== "broken") return;
    const x = runPlace(at, runs.length, box);
    if (at > 0 && runs[at - 1].gate === "broken") bands[bands.length - 1].to = x + half;
    else bands.push({ from: x - half, to: x + half });
  });
  return bands;
}

/**
 * @param {readonly SeriesRun[]} runs in the order of time
 * @param {(run: SeriesRun) => number | null} read
 * @param {{ left: number, right: number, top: number, bottom: number }} box pixels
 * @returns {{ places: SeriesPlace[], ticks: Tick[] }}
 */
export function panelPlaces(runs, read, { left, right, top, bottom }) {
  const known = runs.flatMap((run, i) => {
    const value = read(run);
    return value === null ? [] : [{ run, value, x: runPlace(i, runs.length, { left, right }) }];
  });
  if (known.length === 0) return { places: [], ticks: [] };
  const values = known.map(({ value }) => value);
  const high = Math.max(...values);
  const low = Math.min(...values);
  const range = Math.max(high - low, LEAST_RANGE * high) || 1;
  const middle = (high + low) / 2;
  const from = Math.max(0, middle - range * (0.5 + ROOM));
  const to = middle + range * (0.5 + ROOM);
  const toY = (/** @type {number} */ value) =>
    bottom - ((value - from) * (bottom - top)) / (to - from);
  const ends = high > low ? [low, high] : [high];
  return {
    places: known.map((one) => ({ ...one, y: toY(one.value) })),
    ticks: ends.map((value) => ({ value, y: toY(value) })),
  };
}

/** A line of steps: roof time holds until the next run changes it. @param {readonly SeriesPlace[]} places */
export const stepLine = (places) =>
  places.map(({ x, y }, i) => (i === 0 ? `M${x} ${y}` : `H${x}V${y}`)).join("");

/** @param {readonly SeriesPlace[]} places */
export const straightLine = (places) =>
  places.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${x} ${y}`).join("");
