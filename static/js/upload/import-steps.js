// How far an import is, as its card says it: step, fraction, words. Pure.

import { bytes, percent } from "../text/format.js";

/** @import { Sent } from "./meter.js" */

/**
 * The share of the bar that belongs to the upload; measured on one machine the two take about as
 * long.
 */
const UPLOAD_SHARE = 0.5;

/** Before this much, the time left is a guess. */
const KNOWN_AFTER_S = 1.5;
const KNOWN_AFTER_FRACTION = 0.05;

/** The rows of the card, in order; the server's phases before `recognise` belong to it. */
export const STEPS = Object.freeze(["upload", "recognise", "read", "analyse", "store"]);
/** @type {Record<string, string | undefined>} */
const STEP_OF_PHASE = { queued: "recognise", unpack: "recognise" };

/**
 * @typedef {object} ServerProgress
 * @property {string} phase queued, unpack, recognise, read, analyse or store
 * @property {number} fraction of the phase
 * @property {number} overall of the import
 * @property {number} elapsed_s
 * @property {"disk" | "store" | "machine" | null} [waits_for] of a queued import, beside its turn
 * @property {number | null} [needs_bytes] of the disk
 *
 * @typedef {object} Drawn what the card shows
 * @property {string} step the current one; later ones wait, earlier ones are done
 * @property {number} fraction of the bar
 * @property {string} detail beside the current step
 * @property {string} left time left
 */

/** An import before the server has said anything of it. @type {ServerProgress} */
export const QUEUED = Object.freeze({ phase: "queued", fraction: 0, overall: 0, elapsed_s: 0 });

/**
 * @param {Sent} sent
 * @returns {Drawn}
 */
export function drawnUpload(sent) {
  const rate = sent.rate === null ? "" : `, ${bytes(sent.rate)}/s`;
  return {
    step: "upload",
    fraction: sent.fraction * UPLOAD_SHARE,
    detail:
      sent.fraction < 1
        ? `${percent(sent.fraction, 0)} of ${bytes(sent.total)}${rate}`
        : "the server is taking it in",
    left: sent.fraction < 1 ? timeLeft(sent.secondsLeft) : "",
  };
}

/**
 * @param {ServerProgress} progress
 * @returns {Drawn}
 */
export function drawnImport(progress) {
  const { phase, fraction, overall, elapsed_s: elapsed } = progress;
  const known = elapsed >= KNOWN_AFTER_S && overall >= KNOWN_AFTER_FRACTION;
  return {
    step: STEP_OF_PHASE[phase] ?? phase,
    fraction: UPLOAD_SHARE + overall * (1 - UPLOAD_SHARE),
    detail: phase === "queued" ? waiting(progress) : phaseDetail(phase, fraction),
    left: known ? timeLeft((elapsed * (1 - overall)) / overall) : "",
  };
}

/** @param {ServerProgress} progress */
function waiting({ waits_for: what, needs_bytes: needs }) {
  if (what === "store") return "waiting: the server’s database or object store was away";
  if (what === "machine")
    return "interrupted by the server, not by the file; it tries again by itself";
  if (what !== "disk") return "waiting to start";
  const room = needs ? `: ${bytes(needs)} are needed` : "";
  return `waiting for room on the server’s disk${room}; it starts by itself`;
}

/** @param {string} phase @param {number} fraction */
function phaseDetail(phase, fraction) {
  const share = fraction > 0 ? percent(fraction, 0) : "";
  return phase === "unpack" ? `unpacking ${share}`.trim() : share;
}

/** @param {string} step @param {string} other */
export const isBefore = (step, other) => STEPS.indexOf(step) < STEPS.indexOf(other);

/** @param {string} step @param {string} current @returns {"done" | "now" | "next"} */
export function stepState(step, current) {
  if (step === current) return "now";
  return isBefore(step, current) ? "done" : "next";
}

/** "about 9 s left"; empty while nothing is known. @param {number | null | undefined} seconds */
export function timeLeft(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) return "";
  if (seconds < 1) return "less than 1\u00a0s left";
  if (seconds < 55) return `about ${Math.ceil(seconds)}\u00a0s left`;
  if (seconds < 3300) return `about ${Math.ceil(seconds / 60)}\u00a0min left`;
  return `about ${Math.ceil(seconds / 3600)}\u00a0h left`;
}
