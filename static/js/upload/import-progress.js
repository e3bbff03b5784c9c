// Follows one import: asks the server how far it is, and draws the card. For the home page and for
// the page of a profile that is not ready yet.

import { csrfHeaders } from "./csrf.js";
import { html, part } from "../ui/dom.js";
import { bytes, percent, significant } from "../text/format.js";
import { listen } from "./import-events.js";
import { Problem, problemFromAnswer } from "../text/problem.js";
import { timeLeft } from "./upload.js";

/** The share of the bar that belongs to the upload; measured on one machine the two take about as long. */
const UPLOAD_SHARE = 0.5;

const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 500;
const DELAY_GROWTH = 1.3;

/** Before this much, the time left is a guess. */
const KNOWN_AFTER_S = 1.5;
const KNOWN_AFTER_FRACTION = 0.05;

/** Answers of a proxy or a server that is starting: worth asking again. */
const PASSING_STATUSES = new Set([502, 503, 504]);

/** The rows of the card, in order; the server's phases before `recognise` belong to it. */
export const STEPS = Object.freeze(["upload", "recognise", "read", "analyse", "store"]);
const STEP_OF_PHASE = { queued: "recognise", unpack: "recognise" };

/**
 * @typedef {object} ServerProgress
 * @property {string} phase queued, unpack, recognise, read, analyse or store
 * @property {number} fraction of the phase
 * @property {number} overall of the import
 * @property {number} elapsed_s
 *
 * @typedef {object} Drawn what the card shows
 * @property {string} step the current one; later ones wait, earlier ones are done
 * @property {number} fraction of the bar
 * @property {string} detail beside the current step
 * @property {string} left time left
 */

/** How long to wait before asking for the `attempt`th time (from 0): quick at first, then calmer. */
export function pollDelay(attempt) {
  return Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * DELAY_GROWTH ** attempt);
}

/**
 * @param {import("./upload.js").Sent} sent
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
export function drawnImport({ phase, fraction, overall, elapsed_s: elapsed }) {
  const known = elapsed >= KNOWN_AFTER_S && overall >= KNOWN_AFTER_FRACTION;
  return {
    step: STEP_OF_PHASE[phase] ?? phase,
    fraction: UPLOAD_SHARE + overall * (1 - UPLOAD_SHARE),
    detail: phaseDetail(phase, fraction),
    left: known ? timeLeft((elapsed * (1 - overall)) / overall) : "",
  };
}

function phaseDetail(phase, fraction) {
  if (phase === "queued") return "waiting to start";
  const share = fraction > 0 ? percent(fraction, 0) : "";
  return phase === "unpack" ? `unpacking ${share}`.trim() : share;
}

/** @returns {"done" | "now" | "next"} */
export function stepState(step, current) {
  const distance = STEPS.indexOf(step) - STEPS.indexOf(current);
  return distance < 0 ? "done" : distance === 0 ? "now" : "next";
}

/**
 * Asks until the import ends. A server that does not answer is asked again: the import goes on there.
 * @param {string} statusUrl
 * @param {object} options
 * @param {(progress: ServerProgress) => void} options.onProgress
 * @param {() => void} options.onTrouble
 * @param {AbortSignal} options.signal
 * @param {number} [options.patienceMs] stop asking after this
 * @returns {Promise<boolean>} whether the profile is ready; rejects with a `Problem`, or an AbortError
 */
export async function followImport(
  statusUrl,
  { onProgress, onTrouble, signal, patienceMs = Infinity },
) {
  const startedAt = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const status = await askOnce(statusUrl, signal);
    if (status === null) onTrouble();
    else if (hasEnded(status)) return true;
    else onProgress(status.progress);
    if (performance.now() - startedAt > patienceMs) return false;
    await pause(pollDelay(attempt), signal);
  }
}

/**
 * The same, told by the server as it happens; asks where its events do not come through.
 * @param {string} statusUrl
 * @param {{ onProgress: (progress: ServerProgress) => void, onTrouble: () => void, signal: AbortSignal }} options
 */
export async function followImportEvents(statusUrl, options) {
  let last = null;
  const heard = await listen(`${statusUrl}/events`, {
    onStatus: (status) => {
      last = status;
      if (status.progress) options.onProgress(status.progress);
    },
    onTrouble: options.onTrouble,
    signal: options.signal,
  });
  options.signal.throwIfAborted();
  return heard && hasEnded(last) ? true : followImport(statusUrl, options);
}

/** Whether the profile is ready; throws if it never will be. */
function hasEnded(status) {
  if (status.state === "failed") throw new Problem(status.message, status);
  return status.state === "ready";
}

/** The status, or null when the server cannot be reached for now. */
async function askOnce(url, signal) {
  let response;
  try {
    response = await fetch(url, {
      signal,
      cache: "no-store",
      headers: { Accept: "application/json" },
    });
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
  if (PASSING_STATUSES.has(response.status)) return null;
  if (!response.ok) throw problemFromAnswer(response.status, await response.text());
  return response.json();
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

const OWN_IMPORT = "roofline-import";

/**
 * The user who uploaded may cancel, also on the profile's own page. Others with the link may not: to
 * cancel is to delete, and the profile may be an old one whose results are being computed again.
 */
export function rememberOwnImport(statusUrl) {
  try {
    sessionStorage.setItem(OWN_IMPORT, statusUrl);
  } catch {
    // Storage can be forbidden; cancelling then ends with the home page.
  }
}

/** Whether this tab uploaded what is imported under `statusUrl`. */
export function isOwnImport(statusUrl) {
  try {
    return sessionStorage.getItem(OWN_IMPORT) === statusUrl;
  } catch {
    return false;
  }
}

/** Once the import is over, there is nothing left to cancel. */
export function forgetOwnImport() {
  try {
    sessionStorage.removeItem(OWN_IMPORT);
  } catch {
    // Nothing was remembered either.
  }
}

/** Cancels an import, or deletes the profile if it was quicker. */
export async function cancelImport(statusUrl) {
  const response = await fetch(statusUrl, { method: "DELETE", headers: csrfHeaders() });
  // Not found: it ended by itself, which is what the user wanted.
  if (!response.ok && response.status !== 404)
    throw problemFromAnswer(response.status, await response.text());
}

/**
 * The card of `_import.html`.
 * @param {HTMLElement} card
 */
export function createImportCard(card) {
  const bar = /** @type {HTMLProgressElement} */ (part("bar", card));
  const steps = new Map(STEPS.map((step) => [step, card.querySelector(`[data-step="${step}"]`)]));
  const said = part("said", card);
  const pageTitle = document.title;
  let name = "";

  const detail = (step) => part("detail", /** @type {HTMLElement} */ (steps.get(step)));

  return {
    /** Names what is imported. @param {import("../text/problem.js").Parcel} parcel */
    begin({ names, size }) {
      name = names.length > 1 ? `${names.length} files` : names[0];
      part("name", card).textContent = name;
      part("name", card).title = names.join("\n");
      part("size", card).textContent = bytes(size);
      for (const step of STEPS) detail(step).textContent = "";
      this.draw({ step: "upload", fraction: 0, detail: "", left: "" });
    },

    /** @param {Drawn} drawn */
    draw({ step, fraction, detail: text, left }) {
      // The bar never runs backwards, whatever the estimates say.
      bar.value = Math.max(step === "upload" ? 0 : bar.value, fraction);
      const share = percent(bar.value, 0);
      part("share", card).textContent = share;
      part("left", card).textContent = left;
      part("trouble", card).hidden = true;
      for (const [each, row] of steps) row.dataset.state = stepState(each, step);
      detail(step).textContent = text;
      document.title = `${share} · ${name} · Roofline`;
      announce(said, steps.get(step));
    },

    /** What the upload was, once it is over. */
    noteUpload(total, milliseconds) {
      const rate = milliseconds > 0 ? `, ${bytes((total * 1000) / milliseconds)}/s` : "";
      detail("upload").textContent =
        `${bytes(total)} in ${significant(milliseconds / 1000, 2)}\u00a0s${rate}`;
    },

    /** The server does not answer for now. */
    trouble() {
      part("trouble", card).hidden = false;
    },

    /** The profile is ready: the browser is about to show it. */
    finish() {
      bar.value = 1;
      part("share", card).textContent = percent(1, 0);
      part("left", card).textContent = "opening";
      for (const row of steps.values()) row.dataset.state = "done";
    },

    /** Gives the window its own title back. */
    end() {
      document.title = pageTitle;
    },
  };
}

/** Says a step once when it begins; percents would never stop talking. */
function announce(said, row) {
  const label = part("label", row).textContent;
  if (said.textContent !== label) said.replaceChildren(html("span", {}, label ?? ""));
}
