// Where ops without FLOPs lie on the strip of a comparison: by share of the memory's peak. Pure.

import { memoryShare } from "./arrow-places.js";
import { spread } from "./axes.js";

/** @import { ChangeRow, Roofs } from "../types/comparison.js" */
/** @import { Range } from "./axes.js" */

/**
 * @typedef {object} StripRow
 * @property {ChangeRow} row
 * @property {number | null} a log10 of the share; null where that side has none
 * @property {number | null} b
 * @property {number} lane from 0 (top) to 1: rows that changed do not hide each other
 */

/**
 * @param {readonly ChangeRow[]} rows
 * @param {{ a: Roofs, b: Roofs }} roofs
 * @param {ReadonlySet<string>} hot
 * @returns {StripRow[]} the quiet ones first
 */
export function stripRows(rows, roofs, hot) {
  const found = rows.flatMap((row) => {
    const a = memoryShare(row.a, roofs.a);
    const b = memoryShare(row.b, roofs.b);
    return a === null && b === null ? [] : [{ row, a: log(a), b: log(b), lane: 0 }];
  });
  found.sort((x, y) => Number(hot.has(x.row.key)) - Number(hot.has(y.row.key)));
  const isHot = found.map(({ row }) => hot.has(row.key));
  const many = isHot.filter(Boolean).length;
  let number = 0;
  return found.map((one, i) => {
    if (!isHot[i]) return { ...one, lane: (i * 0.618) % 1 };
    number += 1;
    return { ...one, lane: number / (many + 1) };
  });
}

/** @param {number | null} share */
const log = (share) => (share === null ? null : Math.log10(share));

/** Shares from the least to the peak and a little above, log10. @param {readonly StripRow[]} rows @returns {Range} */
export function stripRange(rows) {
  const shares = rows.flatMap(({ a, b }) => [a, b]).filter((one) => one !== null);
  const kept = shares.filter((one) => one > -4);
  return spread([0, ...kept], [0.15, 0.2], 1.5);
}
