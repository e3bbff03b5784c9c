// A change of time as terms that add up to it: calls, work, traffic, peaks, closeness. Pure.
//
// The same as `roofline.compare.attribution`, which explains the formula;
// tests/golden/compare/attribution.json holds both to it.

const SAME_FLOP = 1e-9;

/**
 * One side of a pair. `flop` and `bytes` are work per call by resource; a peak of 0 is not known.
 *
 * @typedef {object} Costs
 * @property {number} calls
 * @property {number} time_us
 * @property {number[]} flop
 * @property {number[]} bytes
 * @property {number[]} flop_peaks FLOP per us
 * @property {number[]} bytes_peaks bytes per us
 * @property {boolean} is_known whether its bound is known
 */

/**
 * @typedef {object} Terms in us; they add up to the change
 * @property {number} calls
 * @property {number} work
 * @property {number} traffic
 * @property {number} peaks
 * @property {number} closeness
 * @property {number} unknown
 */

/**
 * The logarithmic mean; 0 where one of the two is.
 *
 * @param {number} x
 * @param {number} y
 */
export function logMean(x, y) {
  if (!(x > 0 && y > 0)) return 0;
  const ratio = Math.log(x / y);
  if (Math.abs(ratio) < 1e-4) return Math.sqrt(x) * Math.sqrt(y) * (1 + (ratio * ratio) / 24);
  return (x - y) / ratio;
}

/**
 * The terms of one pair.
 *
 * @param {Costs} a
 * @param {Costs} b
 * @returns {Terms}
 */
export function attribute(a, b) {
  const change = b.time_us - a.time_us;
  const weight = logMean(b.time_us, a.time_us);
  const sides = [withPeaksOf(a, b), withPeaksOf(b, a)];
  const known = a.is_known && b.is_known && sides.every((side) => roofUs(side, side, side) > 0);
  const timed = a.time_us > 0 && b.time_us > 0;
  const called = a.calls > 0 && b.calls > 0;
  const [work, traffic, peaks] =
    known && timed ? shapley(sides).map((phi) => weight * phi) : [0, 0, 0];
  const calls = called && timed ? weight * Math.log(b.calls / a.calls) : 0;
  const rest = change - (calls + work + traffic + peaks);
  return { calls, work, traffic, peaks, closeness: known ? rest : 0, unknown: known ? 0 : rest };
}

/**
 * The longest of work ÷ peak: FLOPs of one side, bytes and peaks of the same or the other.
 *
 * @param {Costs} flop
 * @param {Costs} bytes
 * @param {Costs} peaks
 */
export function roofUs(flop, bytes, peaks) {
  let longest = 0;
  flop.flop.forEach((work, k) => {
    if (peaks.flop_peaks[k] > 0) longest = Math.max(longest, work / peaks.flop_peaks[k]);
  });
  bytes.bytes.forEach((work, k) => {
    if (peaks.bytes_peaks[k] > 0) longest = Math.max(longest, work / peaks.bytes_peaks[k]);
  });
  return longest;
}

/**
 * `side` with the other side's peak where its own is not known: no change of that peak.
 *
 * @param {Costs} side
 * @param {Costs} other
 * @returns {Costs}
 */
function withPeaksOf(side, other) {
  return {
    ...side,
    flop_peaks: side.flop_peaks.map((peak, k) => (peak > 0 ? peak : other.flop_peaks[k])),
    bytes_peaks: side.bytes_peaks.map((peak, k) => (peak > 0 ? peak : other.bytes_peaks[k])),
  };
}

/**
 * The Shapley values of ln rho for FLOPs, bytes and peaks; where a mixture has no work at all,
 * FLOPs and bytes share their joint value equally. An equal count of FLOPs by other units is a
 * change of peaks.
 *
 * @param {Costs[]} sides
 * @returns {[number, number, number]}
 */
function shapley(sides) {
  const [before, after] = sides.map(({ flop }) => flop.reduce((sum, work) => sum + work, 0));
  const isEqual = Math.abs(after - before) <= SAME_FLOP * before;
  const rho = [0, 1].map((f) =>
    [0, 1].map((m) => [0, 1].map((p) => roofUs(sides[isEqual ? p : f], sides[m], sides[p]))),
  );
  if (rho.flat(2).every((value) => value > 0)) {
    return [phi(rho, 0), phi(rho, 1), phi(rho, 2)];
  }
  const all = rho.map((one) => one.map((two) => two.map((value) => Math.log(value || 1))));
  const peaks = (all[0][0][1] - all[0][0][0] + all[1][1][1] - all[1][1][0]) / 2;
  const half = (all[1][1][1] - all[0][0][0] - peaks) / 2;
  return [half, half, peaks];
}

/**
 * One player's mean gain over the six orders, in which three players can be replaced.
 *
 * @param {number[][][]} rho
 * @param {number} player
 */
function phi(rho, player) {
  const gain = (/** @type {number} */ first, /** @type {number} */ second) => {
    const before = [first, second];
    const after = [first, second];
    before.splice(player, 0, 0);
    after.splice(player, 0, 1);
    return Math.log(at(rho, after)) - Math.log(at(rho, before));
  };
  return gain(0, 0) / 3 + (gain(1, 0) + gain(0, 1)) / 6 + gain(1, 1) / 3;
}

/**
 * @param {number[][][]} rho
 * @param {number[]} place
 */
function at(rho, [first, second, third]) {
  return rho[first][second][third];
}
