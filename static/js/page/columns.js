// Columns of both tables: which are shown, how a value becomes a cell. One element per cell: marks, bars and
// glyphs are drawn by the style sheet, which keeps a page of rows light.

import { columnScale, DASH } from "../text/format.js";
import { rateWord } from "../text/provenance.js";
import { AT_BEST, COST_WORDS, isOver } from "../text/words.js";

/**
 * @typedef {import("../state/model.js").Column} Column
 * @typedef {import("../state/model.js").Row} Row
 */

/** XProf's own columns and order; what a profile does not have is left out. */
const XPROF_IDS = [
  "name",
  "rank",
  "program_id",
  "program",
  "category",
  "occurrences",
  "total_time_us",
  "flop_rate_gflops",
  "model_flop_rate_gflops",
  "bound_by",
  "hbm_bandwidth_gibs",
  "source",
  "memory_bandwidth_gibs",
  "cmem_read_bandwidth_gibs",
  "cmem_write_bandwidth_gibs",
  "roofline_efficiency_ratio",
  "compute_efficiency_ratio",
  "memory_utilisation_ratio",
];
/** XProf shows these only on devices with CMEM. */
const CMEM_ONLY = new Set([
  "memory_bandwidth_gibs",
  "cmem_read_bandwidth_gibs",
  "cmem_write_bandwidth_gibs",
]);

/** @param {readonly Column[]} columns */
export function columnPresets(columns) {
  const known = new Set(columns.map((column) => column.id));
  const hasCmem = known.has("cmem_read_bandwidth_gibs");
  return {
    standard: columns.filter((column) => column.default).map((column) => column.id),
    xprof: XPROF_IDS.filter((id) => known.has(id) && (hasCmem || !CMEM_ONLY.has(id))),
    all: columns.map((column) => column.id),
  };
}

/**
 * The shown columns: the name first, whatever else was chosen.
 * @param {readonly Column[]} columns
 * @param {readonly string[]} chosen ids; empty means the page's default
 */
export function shownColumns(columns, chosen) {
  const ids = chosen.length > 0 ? chosen : columnPresets(columns).standard;
  const byId = new Map(columns.map((column) => [column.id, column]));
  return ["name", ...ids.filter((id) => id !== "name")].map((id) => byId.get(id)).filter(Boolean);
}

/** Writes only what changed: most cells of a page survive a keystroke. */
function setText(cell, text) {
  if (cell.firstChild === null) cell.append(text);
  else if (cell.firstChild.nodeValue !== text) cell.firstChild.nodeValue = text;
}

function setClass(cell, name) {
  if (cell.className !== name) cell.className = name;
}

function setVariable(cell, name, value) {
  if (cell.style.getPropertyValue(name) !== value) cell.style.setProperty(name, value);
}

const LEFT = new Set(["text", "category", "bound", "roof", "source", "program"]);
/** Bars are read against the whole for efficiencies, against the largest for shares of time. */
const BARS = new Set(["self_share_ratio", "roofline_efficiency_ratio"]);

/**
 * @template R
 * @param {Column} column
 * @param {object} context
 * @param {(row: R) => any} context.read
 * @param {readonly R[]} context.rows
 * @param {import("../state/model.js").Model} context.model
 * @param {(row: R) => string} context.barToken
 * @param {number} context.largestShare
 * @param {boolean} context.head
 * @param {(row: R) => string} [context.headText]
 * @returns {import("../ui/table.js").TableColumn<R>}
 */
export function tableColumn(column, context) {
  const largest = LEFT.has(column.unit)
    ? 0
    : context.rows.reduce((most, row) => Math.max(most, context.read(row) ?? 0), 0);
  const scale = columnScale(column.unit, largest);
  return {
    id: column.id,
    label: column.label,
    sub: [
      [scale.unit, column.sub].filter(Boolean).join(" "),
      rateWord(context.model.profile.provenance, column.id),
    ]
      .filter(Boolean)
      .join(", "),
    help: column.help,
    align: LEFT.has(column.unit) ? "left" : "right",
    head: context.head,
    paint: context.head ? paintHead(context) : painter(column, scale, context),
  };
}

function paintHead({ read, headText = read }) {
  return (cell, row) => {
    const button = cell.firstElementChild;
    setText(button, headText(row));
    if (cell.title !== headText(row)) cell.title = headText(row);
  };
}

function painter(column, scale, context) {
  if (column.id === "cost")
    return (cell, row) => paintText(cell, COST_WORDS[context.read(row)] ?? DASH, "left");
  if (column.unit === "category") return categoryPainter(context);
  if (column.unit === "bound") return boundPainter(context);
  if (column.unit === "roof")
    return (cell, row) =>
      paintText(cell, context.model.roofs.compute[context.read(row)]?.label ?? DASH, "left");
  if (LEFT.has(column.unit))
    return (cell, row) => paintText(cell, scale.text(context.read(row)), "left clip", true);
  if (BARS.has(column.id)) return barPainter(column, scale, context);
  return (cell, row) => {
    const value = context.read(row);
    paintText(cell, scale.text(value), value === 0 ? "zero" : "");
  };
}

function paintText(cell, text, className, titled = false) {
  setText(cell, text);
  setClass(cell, className);
  if (titled && cell.title !== text) cell.title = text;
}

function categoryPainter({ read, model }) {
  return (cell, row) => {
    const category = model.categories[read(row)];
    paintText(cell, category.name, `left clip category mark-${category.symbol}`, true);
    setVariable(cell, "--mark", `var(${category.token})`);
  };
}

function boundPainter({ read, model }) {
  return (cell, row) => {
    const bound = model.bounds[read(row)];
    const named = row.cost && row.cost !== "known" && bound?.kind === "none";
    paintText(
      cell,
      named ? COST_WORDS[row.cost] : (bound?.label ?? DASH),
      `left bound bound-${bound?.kind ?? "none"}`,
    );
    setVariable(cell, "--mark", `var(${bound?.token ?? "--ink-3"})`);
  };
}

function barPainter(column, scale, { read, barToken, largestShare, model }) {
  const isShare = column.id === "self_share_ratio";
  return (cell, row) => {
    const value = read(row);
    const filled = value === null ? 0 : isShare ? value / (largestShare || 1) : value;
    const over = !isShare && isOver(value);
    const text = !isShare && row.timing === "predicted" ? AT_BEST : scale.text(value);
    paintText(cell, text, value === null ? "" : over ? "bar over" : "bar");
    setVariable(cell, "--v", String(Math.min(100, Math.round(filled * 1000) / 10)));
    setVariable(
      cell,
      "--fill",
      `var(${isShare ? model.categories[row.category].token : barToken(row)})`,
    );
  };
}
