// Whether FLOPs and bytes were counted, modelled or estimated: one quiet word where rates are shown. Pure.

/** @import { Obtained, Provenance } from "../types/page-data.js" */

/** Worth a word beside every rate: the others are the usual case, and said once. */
/** @type {ReadonlySet<Obtained>} */
const TOLD = new Set(["measured", "estimated"]);

/**
 * "estimated" for a column of rates, "" where nothing needs saying.
 * @param {Provenance | undefined} provenance
 * @param {string} unit of the column
 */
export function rateWord(provenance, unit) {
  if (!provenance) return "";
  if (unit === "gflops") return told(provenance.flop);
  return unit === "gibs" ? told(provenance.bytes) : "";
}

/** @param {Obtained} kind */
const told = (kind) => (TOLD.has(kind) ? kind : "");
