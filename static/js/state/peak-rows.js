// Which peaks can be set by hand, in order, and what they are now. Pure.

import { keyOf } from "../text/roofs.js";

/** @import { ComputeRoof, MemoryRoof } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */

/**
 * @typedef {object} PeakRow
 * @property {string} key under which it is set
 * @property {"gflops" | "gbs"} kind unit of its value
 * @property {string} label
 * @property {ComputeRoof | MemoryRoof | null} roof null: not known
 */

/**
 * The main peak and the memories, then further compute units; also what has no peak yet.
 * @param {Model} model under the chosen peaks
 * @returns {PeakRow[]}
 */
export function peakRows(model) {
  const { compute, memory } = model.roofs;
  const [main, ...others] = compute.map((roof) =>
    rateRow(keyOf(model.roofs, roof), roof.label, roof),
  );
  const levels = model.levels.filter(
    ({ roof, is_main: isMain, is_link: isLink, columns }) =>
      roof || isMain || isLink || isCounted(model, columns.bandwidth),
  );
  const beside = memory.filter((roof) => !levels.some(({ id }) => id === roof.id));
  return [
    main ?? rateRow("compute", "Compute", null),
    ...levels.map(({ id, label, roof }) => bandwidthRow(id, label, roof)),
    ...beside.map((roof) => bandwidthRow(roof.id, roof.label, roof)),
    ...others,
    ...(main ? unitsWithoutRoof(model) : []),
  ];
}

/** @param {string} key @param {string} label @param {ComputeRoof | null} roof @returns {PeakRow} */
const rateRow = (key, label, roof) => ({ key, kind: "gflops", label, roof });

/** @param {string} key @param {string} label @param {MemoryRoof | null} roof @returns {PeakRow} */
const bandwidthRow = (key, label, roof) => ({ key, kind: "gbs", label, roof });

/** @param {Model} model @param {`${string}_gibs`} bandwidth column of a level */
const isCounted = ({ ops }, bandwidth) =>
  ops.columns[bandwidth]?.some((value) => (value ?? 0) > 0) ?? false;

/** @param {Model} model */
const unitsWithoutRoof = (model) =>
  model.units
    .filter(
      ({ id }) => !model.roofs.compute.some((roof) => roof.unit === id || roof.covers.includes(id)),
    )
    .map(({ id, label }) => rateRow(id, label, null));

/**
 * The present value of a peak, in the unit it is set in; null: not known.
 * @param {Model} model
 * @param {string} key
 */
export function valueOf({ roofs }, key) {
  const roof = [...roofs.compute, ...roofs.memory].find((one) => keyOf(roofs, one) === key);
  if (!roof) return null;
  return "gflops" in roof ? roof.gflops : roof.gbs;
}

const SIX_DIGITS = 1e-4; // as fields and addresses carry them

/** @param {number} a @param {number | null} b */
export const isSamePeak = (a, b) => b !== null && Math.abs(a - b) <= Math.abs(b) * SIX_DIGITS;
