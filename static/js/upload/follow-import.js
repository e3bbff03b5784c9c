// Follows one import until it ends: told by the server as it happens, or by asking.

import { Problem, problemFromAnswer } from "../text/problem.js";
import { csrfHeaders } from "./change.js";
import { listen } from "./import-events.js";

/** @import { ServerProgress } from "./import-steps.js" */

/**
 * The server's word on an import.
 * @typedef {object} ImportStatus
 * @property {"importing" | "ready" | "failed"} state
 * @property {ServerProgress} [progress] while importing
 * @property {string} [message] when it failed
 * @property {string} [remedy]
 * @property {string} [code]
 * @property {Record<string, unknown>} [found]
 * @property {string} [retry_url] where a POST imports the files again
 *
 * @typedef {object} FollowOptions
 * @property {(progress: ServerProgress) => void} onProgress
 * @property {() => void} onTrouble the server does not answer for now
 * @property {AbortSignal} signal
 */

const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 500;
const DELAY_GROWTH = 1.3;

/** Answers of a proxy or a server that is starting: worth asking again. */
const PASSING_STATUSES = new Set([502, 503, 504]);

/**
 * How long to wait before asking for the `attempt`th time (from 0): quick at first, then calmer.
 * @param {number} attempt
 */
export function pollDelay(attempt) {
  return Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * DELAY_GROWTH ** attempt);
}

/**
 * Asks until the import ends. A server that does not answer is asked again: the import goes on there.
 * @param {string} statusUrl
 * @param {FollowOptions & { patienceMs?: number }} options `patienceMs`: stop asking after this
 * @returns {Promise<boolean>} whether the profile is ready; rejects with a `Problem`, or an AbortError
 */
export async function followImport(statusUrl, options) {
  const { onProgress, onTrouble, signal, patienceMs = Infinity } = options;
  const startedAt = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const status = await askOnce(statusUrl, signal);
    if (status === null) onTrouble();
    else if (hasEnded(status)) return true;
    else if (status.progress) onProgress(status.progress);
    if (performance.now() - startedAt > patienceMs) return false;
    await pause(pollDelay(attempt), signal);
  }
}

/**
 * The same, told by the server as it happens; asks where its events do not come through.
 * @param {string} statusUrl
 * @param {FollowOptions & { patienceMs?: number }} options `patienceMs`: stop listening after this
 * @returns {Promise<boolean>} as above
 */
export async function followImportEvents(statusUrl, options) {
  const { onProgress, onTrouble, signal, patienceMs } = options;
  const [stopped, release] = stoppedBy(signal, patienceMs);
  const last = await listen(`${statusUrl}/events`, {
    onStatus: ({ progress }) => {
      if (progress) onProgress(progress);
    },
    onTrouble,
    signal: stopped,
  }).finally(release);
  signal.throwIfAborted();
  if (last) return hasEnded(last);
  return stopped.aborted ? false : followImport(statusUrl, options);
}

/**
 * A signal that follows another one, or time; and what lets go of both.
 * @param {AbortSignal} signal
 * @param {number} [milliseconds] not given: never
 * @returns {[AbortSignal, () => void]}
 */
function stoppedBy(signal, milliseconds) {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const timer = milliseconds === undefined ? undefined : setTimeout(stop, milliseconds);
  signal.addEventListener("abort", stop);
  const release = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  };
  return [controller.signal, release];
}

/** Whether the profile is ready; throws if it never will be. @param {ImportStatus} status */
function hasEnded(status) {
  if (status.state === "failed") throw new Problem(status.message ?? "", status);
  return status.state === "ready";
}

/**
 * The status, or null when the server cannot be reached for now.
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<ImportStatus | null>}
 */
async function askOnce(url, signal) {
  let response;
  try {
    const headers = { Accept: "application/json" };
    response = await fetch(url, { signal, cache: "no-store", headers });
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
  if (PASSING_STATUSES.has(response.status)) return null;
  if (!response.ok) throw problemFromAnswer(response.status, await response.text());
  return response.json();
}

/** @param {number} milliseconds @param {AbortSignal} signal @returns {Promise<void>} */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Cancels an import, or deletes the profile if it was quicker. @param {string} statusUrl */
export async function cancelImport(statusUrl) {
  const response = await fetch(statusUrl, { method: "DELETE", headers: csrfHeaders() });
  // Not found: it ended by itself, which is what the user wanted.
  if (!response.ok && response.status !== 404)
    throw problemFromAnswer(response.status, await response.text());
}
