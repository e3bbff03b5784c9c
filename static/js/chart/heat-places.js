// The map of hosts: cells in rows, their colours by the distance from the median host, moves by keys, and
// the histogram that is the key of the colours. Pure.

/** @import { HostRow, MetricId, RunModel } from "../types/run.js" */

const LARGEST_CELL = 34; // pixels, of many hosts
const LARGEST_OF_FEW = 150; // pixels: the cells of few hosts fill the card, and have room for names
const NODE = 8; // columns come in eights, as ranks of a node do
const WHOLE_NODES_FROM = 64; // hosts
const SHAPE = 1.05; // width of the map ÷ its height

/** Shares of the median at which the colour changes; from the fifth on a host is slower. */
const EDGES = [-0.006, -0.004, -0.002, 0.002, 0.004, 0.006, 0.02, 0.04];
const WAIT_EDGES = [-0.9, -0.6, -0.35, -0.12, 0.12, 0.35, 0.6, 0.9];
/** Colours that say nothing: as the median, and not known. */
const EVEN = 3;

/** @typedef {{ columns: number, rows: number, cell: number, height: number }} Grid pixels */

/** @param {number} count @param {number} width pixels @returns {Grid} */
export function gridOf(count, width) {
  let columns = Math.max(1, Math.ceil(Math.sqrt(count * SHAPE)));
  if (count >= WHOLE_NODES_FROM) columns = Math.round(Math.sqrt(count) / NODE) * NODE;
  const largest = count < WHOLE_NODES_FROM ? LARGEST_OF_FEW : LARGEST_CELL;
  const cell = Math.min(largest, width / columns);
  const rows = Math.ceil(count / columns);
  return { columns, rows, cell, height: rows * cell };
}

/** How many characters all names begin with, whole numbers apart; 0 for one name. @param {readonly string[]} names */
export function sharedStart(names) {
  const [first = "", ...others] = names;
  let end = 0;
  while (end < first.length && others.every((name) => name[end] === first[end])) end += 1;
  return others.length === 0 ? 0 : first.slice(0, end).replace(/\d+$/, "").length;
}

/** The host at a place of the map; null beside it. @param {Grid} grid @param {number} count @param {number} x @param {number} y */
export function hostAt({ columns, cell }, count, x, y) {
  const [column, row] = [Math.floor(x / cell), Math.floor(y / cell)];
  const at = row * columns + column;
  return x >= 0 && y >= 0 && column < columns && at < count ? at : null;
}

/** Where a key leads from a host; null: the key is not one of the map's. @param {string} key @param {number} at @param {number} columns @param {number} count */
export function moved(key, at, columns, count) {
  /** @type {Record<string, number | undefined>} */
  const steps = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: NODE * columns,
    PageUp: -NODE * columns,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  if (step === undefined) return null;
  const wanted = at + step;
  if (Math.abs(step) === columns && (wanted < 0 || wanted >= count)) return at;
  return Math.max(0, Math.min(count - 1, wanted));
}

/**
 * Which of nine colours a value has: 0 is fastest, 3 as the median, 8 slowest. A host that waits
 * least is the suspect, as is one of low bandwidth.
 * @param {MetricId} metric @param {number} value @param {number | null} median
 */
export function colourOf(metric, value, median) {
  if (median === null || median === 0) return EVEN;
  const away = value / median - 1;
  if (metric === "wait") return away === 0 ? EVEN : classOf(-away, WAIT_EDGES);
  return classOf(metric === "bandwidth" ? -away : away, EDGES);
}

/**
 * The colour of a value in a run: it says nothing where hosts cannot be judged, as with three of them.
 * @param {MetricId} metric @param {number} value @param {Pick<RunModel, "isJudged" | "medians">} model
 */
export const shadeOf = (metric, value, { isJudged, medians }) =>
  isJudged ? colourOf(metric, value, medians[metric]) : EVEN;

/** @param {number} away @param {readonly number[]} edges */
function classOf(away, edges) {
  const above = edges.findIndex((edge) => away < edge);
  return above < 0 ? edges.length : above;
}

/** @typedef {{ from: number, to: number, count: number }} Bin */

/**
 * How many hosts have which value; outliers stay out, since they would take the whole axis.
 * @param {readonly HostRow[]} hosts @param {MetricId} metric @param {number} most bins
 * @returns {{ bins: Bin[], outliers: HostRow[] }}
 */
export function histogramOf(hosts, metric, most) {
  const known = hosts.filter((host) => host[metric] !== null);
  const outliers = known.filter(({ kind }) => kind !== "");
  const values = known.filter(({ kind }) => kind === "").map((host) => host[metric] ?? 0);
  if (values.length === 0) return { bins: [], outliers };
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const width = (high - low) / most || Math.abs(low) * 1e-3 || 1;
  const bins = Array.from({ length: high > low ? most : 1 }, (_, i) => ({
    from: low + i * width,
    to: low + (i + 1) * width,
    count: 0,
  }));
  for (const value of values)
    bins[Math.min(bins.length - 1, Math.floor((value - low) / width))].count += 1;
  return { bins, outliers };
}
