// Ops as a tree of groups: the same sums as presentation/groups.py makes for exports. Pure.

import { isOf, keysOf, NOT_KNOWN } from "./group-keys.js";

/** @import { Model, Row, View } from "../types/model.js" */
/** @import { GroupBy } from "../types/view-state.js" */

export const SLOWER = 1.1; // times the median of equal sisters
const FEWEST_SISTERS = 3;
const SAME_WORK = 0.01;

/**
 * @typedef {object} OpSum
 * @property {number} share of the program's time
 * @property {number} time self time per core, µs
 * @property {number | null} efficiency share of the roof, weighted by time, each op at most 1
 * @property {number | null} saving per core, µs
 * @property {number | null} flop of the ops that say it
 * @property {number} flopKnown share of the time
 * @property {number | null} bytes
 * @property {number} bytesKnown
 * @property {number | null} intensity FLOP per byte of the ops that say both
 * @property {number} intensityKnown share of the time
 *
 * @typedef {object} InTree
 * @property {string} name empty: not known, or no deeper group
 * @property {readonly string[]} path
 * @property {Row[]} rows
 * @property {Group[]} children
 * @property {number} sisters
 * @property {number | null} slower time over the median of the sisters
 *
 * @typedef {OpSum & InTree} Group
 *
 * @typedef {object} Readers what a group sums up, of one op; null: not known
 * @property {(row: Row) => number} time
 * @property {(row: Row) => number | null} efficiency
 * @property {(row: Row) => number | null} saving
 * @property {(row: Row) => number | null} flop
 * @property {(row: Row) => number | null} bytes
 */

/**
 * @param {Model} model
 * @param {View} view
 * @param {readonly Row[]} rows
 * @param {GroupBy} by
 * @returns {Group[]} longest first
 */
export function groupTree(model, view, rows, by) {
  const keyOf = keysOf(model, view, by);
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  return split(keyed, [], readersOf(model, view));
}

/** The ops of one group. @param {Model} model @param {View} view @param {GroupBy} by @param {string} id */
export function groupFilter(model, view, by, id) {
  const keyOf = keysOf(model, view, by);
  /** @param {Row} row */
  return (row) => isOf(id, keyOf(row));
}

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
    saving: view.reader("saving_per_core_us"),
    flop: work(rate, 1e3),
    bytes: work(bandwidth, 2 ** 30 / 1e6),
  };
}

/** @typedef {{ row: Row, key: readonly string[] }} Keyed */

/**
 * @param {Keyed[]} keyed
 * @param {readonly string[]} above
 * @param {Readers} read
 * @returns {Group[]}
 */
function split(keyed, above, read) {
  const level = above.length;
  /** @type {Map<string, Keyed[]>} */
  const members = new Map();
  for (const one of keyed) {
    const name = one.key[level] ?? NOT_KNOWN;
    const found = members.get(name);
    if (found) found.push(one);
    else members.set(name, [one]);
  }
  if (level && members.size === 1 && members.has(NOT_KNOWN)) return [];
  const groups = [...members].map(([name, at]) => group(at, [...above, name], read));
  return withSisters(groups.sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1)));
}

/** @param {Keyed[]} keyed @param {readonly string[]} path @param {Readers} read @returns {Group} */
function group(keyed, path, read) {
  const rows = keyed.map(({ row }) => row);
  const name = path[path.length - 1];
  return {
    ...sums(rows, read),
    name,
    path,
    rows,
    children: name === NOT_KNOWN ? [] : split(keyed, path, read),
    sisters: 0,
    slower: null,
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
    saving: known(rows, read.saving, read.time)[0],
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

/** Holds groups with sisters of equal work against their median. @param {Group[]} groups */
function withSisters(groups) {
  /** @type {Map<string, Group[]>} */
  const families = new Map();
  for (const one of groups) {
    if (!/\d/.test(one.name) || (one.flop === null && one.bytes === null)) continue;
    const name = one.name.replace(/\d+/g, "#");
    families.set(name, [...(families.get(name) ?? []), one]);
  }
  for (const family of families.values())
    for (const sisters of ofEqualWork(family)) {
      const usual = median(sisters.map(({ time }) => time));
      if (sisters.length < FEWEST_SISTERS || usual === 0) continue;
      for (const one of sisters)
        Object.assign(one, { sisters: sisters.length, slower: one.time / usual });
    }
  return groups;
}

/** @param {Group[]} family @returns {Group[][]} */
function ofEqualWork(family) {
  /** @type {Group[][]} */
  const parts = [];
  for (const one of family) {
    const equal = parts.find(([first]) => isEqual(first, one));
    if (equal) equal.push(one);
    else parts.push([one]);
  }
  return parts;
}

/** @param {Group} a @param {Group} b */
const isEqual = (a, b) =>
  a.rows.length === b.rows.length &&
  namesOf(a.children) === namesOf(b.children) &&
  isNear(a.flop, b.flop) &&
  isNear(a.bytes, b.bytes);

/** @param {Group[]} groups */
const namesOf = (groups) => JSON.stringify(groups.map(({ name }) => name).sort());

/** @param {number | null} a @param {number | null} b */
const isNear = (a, b) =>
  a === null || b === null ? a === b : Math.abs(a - b) <= SAME_WORK * Math.max(a, b);

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
