// The page data as the other modules use it: rows of a view, readers of columns. Pure.

import { levelIds } from "../metrics/peaks.js";

/**
 * @typedef {object} Row one op in one view
 * @property {number} op index into `ops`: its name in links
 * @property {number} position index into the view's columns
 * @property {string} name
 * @property {string} lowerName
 * @property {number} category index into `categories`
 * @property {number} bound index into `bounds`
 * @property {"known" | "no_flops" | "unknown" | "idle"} cost
 * @property {"measured" | "rate" | "predicted"} timing how its rates were obtained
 * @property {number} share of the view's time
 * @property {number} covered share of the busy time made by longer ops
 *
 * @typedef {object} Column
 * @property {string} id
 * @property {string} label
 * @property {string} unit
 * @property {string} sub
 * @property {boolean} default
 * @property {string} help
 *
 * @typedef {object} View
 * @property {Row[]} rows by self time
 * @property {Map<number, Row>} byOp
 * @property {(id: string) => (row: Row) => any} reader a column's values; null where missing
 * @property {number} largestShare
 * @property {any[]} program
 * @property {{ headline: any[], lead: any[] }} verdict
 * @property {any[]} categories
 * @property {{ ops: number, share_ratio: number }} beyond
 */

/** The x axis on which every memory level of an op is a point. */
export const JOINED = "joined";

/**
 * The page data as sent, with program points as objects: there are few of them where the page reads them one by one.
 * @param {any} page changed in place
 */
export function unpacked(page) {
  for (const view of Object.values(page.views)) view.program = pointsOf(view.program);
  return page;
}

/** @param {{ count: number, columns: Record<string, any[]> }} program */
function pointsOf({ count, columns }) {
  const entries = Object.entries(columns);
  return Array.from({ length: count }, (_, row) =>
    Object.fromEntries(entries.map(([id, column]) => [id, column[row]])),
  );
}

/**
 * @param {any} first the JSON of `/page`, unpacked
 */
export function createModel(first) {
  let page = first;
  const views = new Map();
  const model = {
    /**
     * From now on the model is of this page data: those of the server under other peaks.
     * @param {any} next
     * @param {import("../metrics/other-devices.js").Other[]} [others] devices it is compared with
     */
    use(next, others = []) {
      page = next;
      views.clear();
      Object.assign(model, page, { others, levels: levelsOf(page), x_axes: axesOf(page) });
    },
    /**
     * @param {"in" | "out"} infeed
     * @returns {View} built on first use: most visits only ever see one
     */
    view(infeed) {
      if (!views.has(infeed)) views.set(infeed, createView(page, page.views[infeed]));
      return views.get(infeed);
    },
    /** @param {string} id */
    axis: (id) => model.x_axes.find((axis) => axis.id === id) ?? model.x_axes[0],
    /** @param {string} id a column of the op table */
    column: (id) => page.columns.find((column) => column.id === id) ?? null,
    /** The short word for one of the device's cores: "core" for a TensorCore. */
    coreWord: page.device.core_word === "TensorCore" ? "core" : page.device.core_word,
    /** @type {import("../metrics/other-devices.js").Other[]} */
    others: [],
    /** @type {ReturnType<typeof levelsOf>} memory levels that have columns, outermost first */
    levels: [],
  };
  model.use(first);
  return /** @type {typeof model & any} */ (model);
}

/** @typedef {ReturnType<typeof createModel>} Model */

function createView(page, source) {
  const shared = page.ops.columns;
  const rows = source.op.map((op, position) => createRow(shared, source.columns, op, position));
  markCoverage(rows);
  return {
    ...source,
    rows,
    byOp: new Map(rows.map((row) => [row.op, row])),
    reader: (id) => createReader(shared, source.columns, id),
    largestShare: rows.reduce((largest, row) => Math.max(largest, row.share), 0),
  };
}

function createRow(shared, own, op, position) {
  const name = String(shared.name[op] ?? "");
  return {
    op,
    position,
    name,
    lowerName: name.toLowerCase(),
    category: shared.category[op],
    bound: shared.bound_by[op],
    cost: shared.cost[op],
    timing: shared.timing?.[op] ?? "measured",
    share: own.self_share_ratio[position] ?? 0,
    covered: 0,
  };
}

/** Idle time is not work: "cover 90 %" means 90 % of the busy time. */
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

function createReader(shared, own, id) {
  // A program without a name is known by its id.
  if (id === "program") return (row) => shared.program[row.op] || shared.program_id[row.op] || null;
  if (own[id]) return (row) => own[id][row.position] ?? null;
  if (shared[id]) return (row) => shared[id][row.op] ?? null;
  return () => null;
}

function levelsOf(page) {
  const label = new Map(page.x_axes.map((axis) => [axis.id, axis.label]));
  return levelIds(page).map((id) => ({
    id,
    label: label.get(id) ?? id,
    roof: page.roofs.memory.find((roof) => roof.id === id) ?? null,
  }));
}

/** With traffic counted at several levels, all of them can be seen at once. */
function axesOf(page) {
  const isCounted = (axis) =>
    axis.id !== "total" && page.ops.columns[axis.column]?.some((value) => value > 0);
  const counted = page.x_axes.filter((axis, i) => i > 0 && isCounted(axis));
  return counted.length < 2
    ? page.x_axes
    : [...page.x_axes, { id: JOINED, label: "every level, joined", column: page.x_axes[0].column }];
}
