// What some chosen ops add up to. Pure.

/** @import { Model, Row, View } from "../types/model.js" */

/**
 * @typedef {object} OpSum
 * @property {number} share of the program's time
 * @property {number} time self time per core, µs
 * @property {number | null} efficiency share of the roof, weighted by time, each op at most 1
 * @property {number | null} gain of the subject's time, µs
 * @property {number | null} flop of the ops that say it
 * @property {number} flopKnown share of the time
 * @property {number | null} bytes
 * @property {number} bytesKnown
 * @property {number | null} intensity FLOP per byte of the ops that say both
 * @property {number} intensityKnown share of the time
 *
 * @typedef {object} Readers what is summed up, of one op; null: not known
 * @property {(row: Row) => number} time
 * @property {(row: Row) => number | null} efficiency
 * @property {(row: Row) => number | null} gain
 * @property {(row: Row) => number | null} flop
 * @property {(row: Row) => number | null} bytes
 */

/** The sums of some ops. @param {Model} model @param {View} view @param {readonly Row[]} rows */
export const sumOf = (model, view, rows) => sums(rows, readersOf(model, view));

/** @param {Model} model @param {View} view @returns {Readers} */
function readersOf(model, view) {
  const containers = new Set(model.ops.groups?.containers ?? []);
  const total = view.reader("total_time_us");
  const [rate, bandwidth] = [view.reader("flop_rate_gflops"), view.reader("memory_bandwidth_gibs")];
  const time = view.reader("self_time_per_core_us");
  // Rates are work over the total time of all cores; a container's work is that of the ops in it.
  /** @param {typeof rate} read @param {number} scale @returns {(row: Row) => number | null} */
  const work = (read, scale) => (row) => {
    const [per, us] = [read(row), total(row)];
    return containers.has(row.op) || per === null || us === null ? null : per * us * scale;
  };
  return {
    time: (row) => time(row) ?? 0,
    efficiency: view.reader("roofline_efficiency_ratio"),
    gain: view.reader("gain_us"),
    flop: work(rate, 1e3),
    bytes: work(bandwidth, 2 ** 30 / 1e6),
  };
}

/** @param {readonly Row[]} rows @param {Readers} read @returns {OpSum} */
function sums(rows, read) {
  const time = sum(rows, read.time);
  const placed = rows.filter((row) => read.efficiency(row) !== null);
  const placedTime = sum(placed, read.time);
  const reached = sum(placed, (row) => read.time(row) * Math.min(1, read.efficiency(row) ?? 0));
  const [flop, flopKnown] = known(rows, read.flop, read.time);
  const [moved, bytesKnown] = known(rows, read.bytes, read.time);
  const both = rows.filter((row) => read.flop(row) !== null && read.bytes(row) !== null);
  const bothBytes = sum(both, (row) => read.bytes(row) ?? 0);
  return {
    share: sum(rows, (row) => row.share),
    time,
    efficiency: placedTime > 0 ? reached / placedTime : null,
    gain: known(rows, read.gain, read.time)[0],
    flop,
    flopKnown,
    bytes: moved,
    bytesKnown,
    intensity: bothBytes > 0 ? sum(both, (row) => read.flop(row) ?? 0) / bothBytes : null,
    intensityKnown: time > 0 ? sum(both, read.time) / time : 0,
  };
}

/** @param {readonly Row[]} rows @param {(row: Row) => number} of */
const sum = (rows, of) => rows.reduce((total, row) => total + of(row), 0);

/**
 * The sum of what is known, and of which share of the time it is.
 * @param {readonly Row[]} rows
 * @param {(row: Row) => number | null} of
 * @param {(row: Row) => number} time
 * @returns {[number | null, number]}
 */
function known(rows, of, time) {
  const those = rows.filter((row) => of(row) !== null);
  const total = sum(rows, time);
  const share = total > 0 ? sum(those, time) / total : 0;
  return [those.length ? sum(those, (row) => of(row) ?? 0) : null, share];
}
