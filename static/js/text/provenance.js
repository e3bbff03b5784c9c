// Whether FLOPs and bytes were counted, modelled or estimated: one quiet word where rates are shown. Pure.

/** @import { Obtained, Provenance } from "../types/page-data.js" */

/** @type {Record<Obtained, string>} */
const MEANINGS = {
  measured: "counted by the hardware while the program ran",
  modelled: "computed by the compiler’s cost model, not counted by the hardware",
  estimated: "estimated from the shapes of operators, so rates and intensities are estimates too",
  stated: "as the file states them; it does not say how they were obtained",
};

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

/** "FLOPs and bytes measured", with what that means. @param {Provenance | undefined} provenance */
export function countsText(provenance) {
  if (!provenance?.flop) return null;
  const { flop, bytes } = provenance;
  /** @param {string} what @param {Obtained} kind */
  const meaning = (what, kind) => `${what} are ${MEANINGS[kind] ?? kind}.`;
  return flop === bytes
    ? { text: `FLOPs and bytes ${flop}`, meaning: meaning("FLOPs and bytes", flop) }
    : {
        text: `FLOPs ${flop}, bytes ${bytes}`,
        meaning: `${meaning("FLOPs", flop)} ${meaning("Bytes", bytes)}`,
      };
}
