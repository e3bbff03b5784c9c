// Which roof, peak or level of the page data is meant: looked up, never computed. Pure.

/** @import { ComputeRoof, Maybe, Measure, MemoryRoof, Page, Roofs } from "../types/page-data.js" */
/** @import { Model, Row, View } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */

/** Memory levels that have columns, outermost first. @param {Pick<Page, "levels">} page */
export const shownLevels = (page) => page.levels.filter((level) => level.is_shown);

/**
 * The key under which a roof is set by hand.
 * @param {Roofs} roofs
 * @param {ComputeRoof | MemoryRoof} roof
 */
export function keyOf(roofs, roof) {
  if ("gbs" in roof) return roof.id;
  return roof === roofs.compute[0] || !roof.unit ? "compute" : roof.unit;
}

/**
 * The compute roof that an op or program point is compared with.
 * @param {Pick<Page, "roofs">} page
 * @param {Maybe} unit its `compute_unit`, null without one
 */
export const computeRoof = ({ roofs }, unit) => roofs.compute[unit ?? 0] ?? null;

/** True for keys of rates; the others are memory levels. @param {string} key */
export const isRateKey = (key) => key === "compute" || /^(matrix|vector)_/.test(key);

/**
 * True where anything but the profile's own peaks was chosen.
 * @param {Pick<ViewState, "dev" | "peaks">} choice
 */
export const isWhatIf = ({ dev, peaks }) => dev !== null || Object.keys(peaks).length > 0;

/** The names of a main memory in a device list; a profile has one of them, and says which. */
const MAIN_LEVELS = ["hbm", "dram"];

/**
 * Whether the profile has a peak of this name that can be set.
 * @param {Pick<Page, "levels" | "units" | "roofs">} page
 * @param {string} key
 */
export function isPeakOf({ levels, units, roofs }, key) {
  if (key === "compute") return true;
  if (MAIN_LEVELS.includes(key)) return levels.some((level) => level.is_main);
  return (
    levels.some(({ id }) => id === key) ||
    units.some(({ id }) => id === key) ||
    roofs.compute.some(({ unit }) => unit === key)
  );
}

/** Above this, a ratio over 1 is more than rounding; as in the analysis. */
const OVER = 1.0005;

/** @param {Measure} ratio */
export const isOver = (ratio) => ratio !== null && ratio > OVER;

/**
 * Whether the FLOPs of an op ran on a unit without a known peak.
 * @param {Model} model
 * @param {View} view
 * @returns {(row: Row) => boolean}
 */
export function unheldReader(model, view) {
  if (model.units.length === 0) return () => false;
  const [unit, rate] = [view.reader("compute_unit"), view.reader("flop_rate_gflops")];
  return (row) => unit(row) === null && (rate(row) ?? 0) > 0;
}

/**
 * The label of the unit without a known peak that an op uses most; null where its work has a roof.
 * @param {Model} model
 * @param {View} view
 * @param {Row} row
 */
export function unheldUnit(model, view, row) {
  if (!unheldReader(model, view)(row)) return null;
  const held = new Set(model.roofs.compute.flatMap((roof) => [roof.unit, ...roof.covers]));
  const unheld = model.units
    .filter(({ id }) => !held.has(id))
    .map(({ label, columns }) => ({ label, rate: view.reader(columns.rate)(row) ?? 0 }))
    .sort((a, b) => b.rate - a.rate);
  return unheld[0]?.label ?? null;
}
