// Sends files to the server and says how far they are.

import { csrfHeaders } from "./csrf.js";
import { bytes, count } from "../text/format.js";
import { Problem, connectionProblem, problemFromAnswer } from "../text/problem.js";

/** Rates are taken over this much of the past: short enough to follow, long enough to be calm. */
const WINDOW_MS = 3000;
/** Before this, a rate says more about buffers than about the network. */
const SETTLED_MS = 400;

/**
 * @typedef {object} Sent
 * @property {number} sent bytes
 * @property {number} total bytes
 * @property {number} fraction 0 to 1
 * @property {number | null} rate bytes per second; null while it cannot be told
 * @property {number | null} secondsLeft
 */

/**
 * Turns "so many bytes by now" into rate and time left.
 * @param {number} total bytes
 * @param {number} startedAt milliseconds
 * @returns {(sent: number, now: number) => Sent}
 */
export function createMeter(total, startedAt) {
  const samples = [{ at: startedAt, sent: 0 }];
  return (sent, now) => {
    samples.push({ at: now, sent });
    while (samples.length > 2 && now - samples[1].at >= WINDOW_MS) samples.shift();
    const [first] = samples;
    const settled = now - startedAt >= SETTLED_MS && sent > first.sent;
    const rate = settled ? ((sent - first.sent) * 1000) / (now - first.at) : null;
    return {
      sent,
      total,
      rate,
      fraction: total > 0 ? Math.min(1, sent / total) : 0,
      secondsLeft: rate === null ? null : Math.max(0, total - sent) / rate,
    };
  };
}

/** "about 9 s left"; empty while nothing is known. */
export function timeLeft(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) return "";
  if (seconds < 1) return "less than 1\u00a0s left";
  if (seconds < 55) return `about ${Math.ceil(seconds)}\u00a0s left`;
  if (seconds < 3300) return `about ${Math.ceil(seconds / 60)}\u00a0min left`;
  return `about ${Math.ceil(seconds / 3600)}\u00a0h left`;
}

/**
 * Refuses files before a byte is sent, where that is possible.
 * @param {readonly { name: string, size: number }[]} files
 * @param {{ maxBytes: number, maxFiles: number }} limits
 * @returns {Problem | null}
 */
export function refusal(files, { maxBytes, maxFiles }) {
  if (files.length > maxFiles) {
    return new Problem(`${count(files.length)} files are more than one profile may have.`, {
      remedy: `This server takes up to ${count(maxFiles)} files at once: one per host. Drop the hosts of one run only.`,
      code: "upload-rejected",
    });
  }
  const total = totalBytes(files);
  if (total > maxBytes) {
    return new Problem(`The files have ${bytes(total)}, more than this server takes.`, {
      remedy: `The limit is ${bytes(maxBytes)}. Compress the files with gzip, or capture fewer steps.`,
      code: "upload-too-large",
    });
  }
  const empty = files.find((file) => file.size === 0);
  if (empty) {
    return new Problem(`${empty.name} is empty.`, {
      remedy:
        "Capture or export the profile again; the profiler writes the file when the capture ends.",
      code: "upload-rejected",
    });
  }
  return null;
}

/** @param {readonly { size: number }[]} files */
export const totalBytes = (files) => files.reduce((total, file) => total + file.size, 0);

/**
 * Uploads `files` as the hosts of one profile.
 * XMLHttpRequest, because fetch cannot tell how much of a body it has sent.
 * @param {string} url
 * @param {readonly File[]} files
 * @param {{ onProgress: (sent: Sent) => void, signal: AbortSignal }} options
 * @returns {Promise<{ id: string, url: string, state: string }>} also after an abort that came too late;
 *   rejects with a `Problem`, or an AbortError
 */
export function sendFiles(url, files, { onProgress, signal }) {
  const request = new XMLHttpRequest();
  const meter = createMeter(totalBytes(files), performance.now());
  return new Promise((resolve, reject) => {
    const fail = async () => reject((await unreadable(files)) ?? connectionProblem());
    request.open("POST", url);
    request.setRequestHeader("Accept", "application/json");
    for (const [name, value] of Object.entries(csrfHeaders()))
      request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) =>
      onProgress(meter(event.loaded, performance.now())),
    );
    request.addEventListener("load", () =>
      request.status === 201
        ? resolve(JSON.parse(request.responseText))
        : reject(
            problemFromAnswer(
              request.status,
              request.responseText,
              request.getResponseHeader("X-Request-Id") ?? "",
            ),
          ),
    );
    request.addEventListener("error", fail);
    request.addEventListener("abort", () =>
      reject(new DOMException("The upload was cancelled.", "AbortError")),
    );
    // After the last byte the server has begun, even if the client hangs up: its answer is needed to cancel there.
    let sent = false;
    request.upload.addEventListener("load", () => {
      sent = true;
    });
    signal.addEventListener("abort", () => {
      if (!sent) request.abort();
    });
    request.send(formOf(files));
  });
}

function formOf(files) {
  const form = new FormData();
  for (const file of files) form.append("file", file, file.name);
  return form;
}

/** A file that changed or vanished since it was chosen fails the request like a lost connection. */
async function unreadable(files) {
  for (const file of files) {
    try {
      await file.slice(0, 1).arrayBuffer();
    } catch {
      return new Problem(`${file.name} can no longer be read.`, {
        remedy: "It was changed, moved or deleted after it was chosen. Choose it again.",
        code: "unreadable-file",
      });
    }
  }
  return null;
}
