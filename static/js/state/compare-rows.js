// Rows of a comparison: what changed, what did not, groups, and ops of one run. Pure.

/** @import { ChangeRow, Comparison, CompareState, GroupData, OnlyData, PairData, RowSide, SideData, TabId } from "../types/comparison.js" */

/** An op changed when its time did by more than this share of the longer side. */
const LEAST_CHANGE = 1e-4;

/** The tabs in order. @type {readonly TabId[]} */
export const TABS = ["changed", "same", "groups", "only-a", "only-b"];

/**
 * All rows by tab, the largest change first.
 * @param {Comparison} found
 * @returns {Record<TabId, ChangeRow[]>}
 */
export function rowsOf(found) {
  const least = leastChange(found);
  const pairs = found.ops.map(pairRow);
  return {
    changed: pairs.filter((row) => Math.abs(row.changeUs) > least),
    same: pairs.filter((row) => Math.abs(row.changeUs) <= least),
    groups: found.groups.map(groupRow),
    "only-a": found.only_a.map((one, i) => onlyRow(one, i, "a")),
    "only-b": found.only_b.map((one, i) => onlyRow(one, i, "b")),
  };
}

/**
 * The tab to open: runs without any pair have nothing to show under "Changed".
 * @param {Record<TabId, ChangeRow[]>} rows
 * @param {TabId} wanted
 */
export function openedTab(rows, wanted) {
  if (wanted !== "changed" || rows.changed.length > 0 || rows.same.length > 0) return wanted;
  return TABS.find((tab) => rows[tab].length > 0) ?? wanted;
}

/** Changes up to this, in us, are not worth a row. @param {Comparison} found */
const leastChange = (found) => LEAST_CHANGE * Math.max(found.a_us, found.b_us);

/** @param {PairData} pair @param {number} index @returns {ChangeRow} */
function pairRow(pair, index) {
  const a = sideOf(pair.a_side, pair.a_names);
  const b = sideOf(pair.b_side, pair.b_names);
  return {
    key: `p${index}`,
    kind: "pair",
    name: pairName(pair),
    searched: [...pair.a_names, ...pair.b_names, pair.path].join("\n").toLowerCase(),
    category: pair.category,
    path: pair.path,
    tier: pair.tier,
    a,
    b,
    changeUs: pair.change_us,
    terms: pair.terms,
  };
}

/** @param {PairData} pair */
function pairName({ a, b, a_names: before, b_names: after }) {
  if (before.length === 1 && after.length === 1) return a === b ? a : `${a} → ${b}`;
  return `${a} and twins, ${before.length} → ${after.length}`;
}

/** @param {GroupData} group @param {number} index @returns {ChangeRow} */
function groupRow(group, index) {
  const words = [group.scope, ...group.a, ...group.b];
  return {
    key: `g${index}`,
    kind: "group",
    name: `${group.scope || "without a scope"}, ${group.a.length} → ${group.b.length} ops`,
    searched: words.join("\n").toLowerCase(),
    category: group.category,
    path: group.scope,
    tier: "9",
    a: together(group.a_sides, group.a),
    b: together(group.b_sides, group.b),
    changeUs: group.change_us,
    terms: group.terms,
  };
}

/** @param {OnlyData} one @param {number} index @param {"a" | "b"} kind @returns {ChangeRow} */
function onlyRow(one, index, kind) {
  const side = sideOf(one, [one.name]);
  const changeUs = kind === "a" ? -one.time_us : one.time_us;
  return {
    key: `${kind}${index}`,
    kind,
    name: one.name,
    searched: `${one.name}\n${one.path}`.toLowerCase(),
    category: one.category,
    path: one.path,
    tier: "only",
    a: kind === "a" ? side : null,
    b: kind === "b" ? side : null,
    changeUs,
    terms: { [kind === "a" ? "gone" : "new"]: changeUs },
  };
}

/** @param {SideData} side @param {string[]} names @returns {RowSide} */
function sideOf(side, names) {
  return {
    names,
    timeUs: side.time_us,
    calls: side.calls,
    flop: product(side.flop_per_call, side.calls),
    bytes: product(side.main_memory_bytes_per_call, side.calls),
    efficiency: side.roofline_efficiency_ratio,
    bound: side.bound_by,
    source: side.source,
  };
}

/** The ops of a group as one. @param {SideData[]} sides @param {string[]} names @returns {RowSide} */
function together(sides, names) {
  const all = sides.map((side) => sideOf(side, []));
  const first = all[0];
  return {
    names,
    timeUs: sum(all.map(({ timeUs }) => timeUs)),
    calls: sum(all.map(({ calls }) => calls)),
    flop: knownSum(all.map(({ flop }) => flop)),
    bytes: knownSum(all.map(({ bytes }) => bytes)),
    efficiency: all.length === 1 ? first.efficiency : null,
    bound: all.every(({ bound }) => bound === first?.bound) ? (first?.bound ?? null) : null,
    source: first?.source ?? "",
  };
}

/** @param {number | null} perCall @param {number} calls */
const product = (perCall, calls) => (perCall === null ? null : perCall * calls);

/** @param {number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** @param {(number | null)[]} values @returns {number | null} */
const knownSum = (values) =>
  values.reduce(
    (total, value) => (total === null || value === null ? null : total + value),
    /** @type {number | null} */ (0),
  );

/**
 * The rows that the filters leave, sorted.
 * @param {readonly ChangeRow[]} rows
 * @param {CompareState} state
 * @param {(row: ChangeRow, column: string) => number | string} value
 */
export function shownRows(rows, state, value) {
  const wanted = filterOf(state);
  const isDescending = state.sort.startsWith("-");
  const column = isDescending ? state.sort.slice(1) : state.sort;
  const sign = isDescending ? -1 : 1;
  return rows
    .filter(wanted)
    .map((row) => ({ row, at: value(row, column) }))
    .sort((x, y) => sign * compareValues(x.at, y.at))
    .map(({ row }) => row);
}

/** @param {CompareState} state @returns {(row: ChangeRow) => boolean} */
function filterOf({ q }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return (row) => words.every((word) => row.searched.includes(word));
}

/** Unknown numbers (NaN) come before all others. @param {number | string} x @param {number | string} y */
function compareValues(x, y) {
  if (typeof x === "string" || typeof y === "string")
    return String(x).localeCompare(String(y), "en");
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(y)) - Number(Number.isNaN(x));
  return x - y;
}
