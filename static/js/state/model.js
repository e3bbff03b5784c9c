// The page data as the other modules use it: rows of a view, readers of columns. Pure.

import { shownLevels } from "../text/roofs.js";

/** @import { Facts, OpColumns, Page, PageView, ProgramPoint, SentPage, SentProgram, SentView, Value, ViewOfPeaks } from "../types/page-data.js" */
/** @import { Other } from "../types/other-devices.js" */
/** @import { Infeed, Level, Model, Row, View } from "../types/model.js" */

/** The x axis on which every memory level of an op is a point; the usual one of many kernel reports. */
export const JOINED = "joined";

/**
 * The page data of what was measured and of what follows under the chosen peaks, with program points as objects: there
 * are few of them where the page reads them one by one.
 * @param {Facts} facts
 * @param {ViewOfPeaks} view
 * @param {Infeed} infeed
 * @returns {Page}
 */
export function unpacked(facts, view, infeed) {
  const page = /** @type {SentPage} */ ({ ...facts, ...view });
  const [measured, shown] = [facts, view].map(
    ({ views }) => /** @type {Record<Infeed, SentView>} */ (views)[infeed],
  );
  const columns = { ...measured.columns, ...shown.columns };
  const program = pointsOf(shown.program);
  const ops = { ...facts.ops, ...view.ops };
  return {
    ...page,
    ops: /** @type {Page["ops"]} */ ({
      ...ops,
      columns: { ...facts.ops.columns, ...view.ops.columns },
    }),
    views: /** @type {Page["views"]} */ ({
      [infeed]: { ...measured, ...shown, columns, program },
    }),
  };
}

/** @param {SentProgram} program */
function pointsOf({ count, columns }) {
  const entries = Object.entries(columns);
  /** @param {number} row */
  const point = (row) => Object.fromEntries(entries.map(([id, column]) => [id, column[row]]));
  return Array.from({ length: count }, (_, row) => /** @type {ProgramPoint} */ (point(row)));
}

/**
 * @param {Page} first
 * @param {Other[]} [beside] devices it is compared with
 * @returns {Model}
 */
export function createModel(first, beside = []) {
  /** @type {Map<Infeed, View>} */
  const views = new Map();
  /** @type {Model} */
  const model = {
    ...shownOf(first, beside),
    findings: new Map(),
    coreWord: first.device.core_word === "TensorCore" ? "core" : first.device.core_word,
    use(next, others = []) {
      views.clear();
      Object.assign(model, shownOf(next, others));
    },
    view(infeed) {
      const view = views.get(infeed) ?? createView(model, infeed);
      views.set(infeed, view);
      return view;
    },
    axis: (id) => model.x_axes.find((axis) => axis.id === id) ?? model.x_axes[0],
    column: (id) => model.columns.find((column) => column.id === id) ?? null,
  };
  return model;
}

/** @param {Page} page @param {Other[]} others devices it is compared with */
const shownOf = (page, others) => ({
  ...page,
  others,
  levels: levelsOf(page),
});

/**
 * @param {Page} page
 * @param {Infeed} infeed
 * @returns {View}
 */
function createView(page, infeed) {
  const source = page.views[infeed] ?? page.views.in ?? page.views.out;
  if (!source) throw new Error("The page data have no view.");
  const shared = page.ops.columns;
  const rows = source.op.map((op, position) => createRow(page.ops, source.columns, op, position));
  markCoverage(rows);
  return {
    ...source,
    rows,
    byOp: new Map(rows.map((row) => [row.op, row])),
    reader: /** @type {View["reader"]} */ ((id) => createReader(shared, source.columns, id)),
  };
}

/** @type {readonly string[]} */
const NO_CHIPS = [];

/**
 * @param {Page["ops"]} ops
 * @param {PageView["columns"]} own
 * @param {number} op
 * @param {number} position
 * @returns {Row}
 */
function createRow({ columns: shared, names }, own, op, position) {
  const name = String(shared.name[op] ?? "");
  return {
    op,
    position,
    name,
    lowerName: name.toLowerCase(),
    short: names?.short[op] ?? name,
    chips: names?.chips[op] ?? NO_CHIPS,
    category: shared.category[op],
    bound: shared.bound_by[op],
    cost: shared.cost[op],
    part: shared.part?.[op] ?? null,
    timing: shared.timing?.[op] ?? "measured",
    share: own.self_share_ratio[position] ?? 0,
    covered: 0,
  };
}

/** Idle time is not work: "cover 90 %" means 90 % of the busy time. @param {Row[]} rows */
function markCoverage(rows) {
  const busy = rows.filter((row) => row.cost !== "idle");
  const total = busy.reduce((sum, row) => sum + row.share, 0) || 1;
  let sum = 0;
  for (const row of [...busy].sort((a, b) => b.share - a.share)) {
    row.covered = sum / total;
    sum += row.share;
  }
  for (const row of rows) if (row.cost === "idle") row.covered = 1;
}

/**
 * @param {OpColumns} shared
 * @param {PageView["columns"]} own
 * @param {string} id
 * @returns {(row: Row) => Value}
 */
function createReader(shared, own, id) {
  // A program without a name is known by its id.
  if (id === "program")
    return (row) => shared.program?.[row.op] || shared.program_id?.[row.op] || null;
  const [ofView, ofOps] = [own[id], shared[id]];
  if (ofView) return (row) => ofView[row.position] ?? null;
  if (ofOps) return (row) => ofOps[row.op] ?? null;
  return () => null;
}

/**
 * The value of a program point in one column; null where missing.
 * @param {ProgramPoint} point
 * @param {string} id
 * @returns {Value}
 */
export function pointValue(point, id) {
  const value = point[id];
  return value === undefined || typeof value === "boolean" ? null : value;
}

/**
 * Whether host transfers can be left out: other profilers than XProf's have none, and the switch would do nothing.
 * @param {Pick<Page, "device" | "categories">} page
 */
export const canDropInfeed = ({ device, categories }) =>
  device.kind === "tpu" || categories.some(({ name }) => /infeed|outfeed/.test(name));

/** @param {Page} page @returns {Level[]} */
function levelsOf(page) {
  return shownLevels(page).map((level) => ({
    ...level,
    roof: page.roofs.memory.find((roof) => roof.id === level.id) ?? null,
  }));
}
