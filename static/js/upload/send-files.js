// Sends files to the server and says how far they are.

import { connectionProblem, Problem, problemFromAnswer } from "../text/problem.js";
import { csrfHeaders } from "./change.js";
import { folderOf } from "./dropped-files.js";
import { createMeter } from "./meter.js";
import { totalBytes } from "./refusal.js";

/** @import { Sent } from "./meter.js" */

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
    const kept = " Your files are still selected.";
    const fail = async () => reject((await unreadable(files)) ?? connectionProblem(kept));
    request.open("POST", url);
    request.setRequestHeader("Accept", "application/json");
    for (const [name, value] of Object.entries(csrfHeaders()))
      request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) =>
      onProgress(meter(event.loaded, performance.now())),
    );
    request.addEventListener("load", () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText));
      else reject(problemOf(request));
    });
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

/** @param {XMLHttpRequest} request */
const problemOf = (request) =>
  problemFromAnswer(
    request.status,
    request.responseText,
    request.getResponseHeader("X-Request-Id") ?? "",
  );

/** @param {readonly File[]} files */
function formOf(files) {
  const form = new FormData();
  const folder = files[0] && folderOf(files[0]);
  if (folder) form.append("folder", folder);
  for (const file of files) form.append("file", file, file.name);
  return form;
}

/**
 * A file that changed or vanished since it was chosen fails the request like a lost connection.
 * @param {readonly File[]} files
 */
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
