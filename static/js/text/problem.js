// Failures in the words that the page shows. Pure.

import { bytes } from "./format.js";

/** A failure with what to do about it; `canRetry` when the same files may succeed unchanged. */
export class Problem extends Error {
  /**
   * @param {string} message
   * @param {{ remedy?: string, code?: string, reference?: string, canRetry?: boolean,
   *           found?: Record<string, unknown>, details?: Record<string, any>, retry_url?: string }} [more]
   */
  constructor(
    message,
    {
      remedy = "",
      code = "",
      reference = "",
      canRetry = false,
      found = {},
      details = {},
      retry_url = "",
    } = {},
  ) {
    super(message);
    /** Where a POST imports the files again that the server has kept; empty where it has not. */
    this.retryUrl = retry_url;
    this.remedy = remedy;
    this.code = code;
    /** The server's id of the request, to find it in the log. */
    this.reference = reference;
    this.canRetry = canRetry;
    this.found = found;
    /** The message as the server's data. */
    this.details = details;
  }
}

/** The connection failed. @param {string} [more] what to say besides */
export function connectionProblem(more = "") {
  return new Problem("The server could not be reached.", {
    remedy: `Check that it is running and that the network is up, then try again.${more}`,
    code: "no-connection",
    canRetry: true,
  });
}

/** What was caught, as a problem: what the server did not describe is a lost connection. @param {unknown} error */
export const problemOf = (error) => (error instanceof Problem ? error : connectionProblem());

/** The same as a line of text. @param {unknown} error */
export function problemWords(error) {
  const { message, remedy } = problemOf(error);
  return `${message} ${remedy}`;
}

/**
 * The problem an answer of the server describes. What stands between (a proxy, say) answers in
 * other words, so anything that is not our JSON becomes a sentence with its status.
 * @param {number} status
 * @param {string} text the body
 * @param {string} [reference]
 */
export function problemFromAnswer(status, text, reference = "") {
  const answer = parse(text);
  if (typeof answer?.message === "string") {
    const canRetry = status >= 500;
    return new Problem(answer.message, { ...answer, reference, canRetry });
  }
  return new Problem(`The server answered with status ${status}.`, {
    remedy:
      status === 413
        ? "The upload is larger than a proxy in front of the server allows. Send it from the server's own network."
        : "Try again; if it happens again, look into the server's log.",
    code: `status-${status}`,
    reference,
    canRetry: status >= 500,
  });
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * The files that are imported.
 * @typedef {object} Parcel
 * @property {readonly string[]} names of the files
 * @property {number} size of all of them, bytes
 */

/**
 * The rows of the details list.
 * @param {Problem} problem
 * @param {Parcel} parcel
 * @returns {[string, string][]}
 */
export function problemDetails(problem, { names, size }) {
  const rows = Object.entries(problem.found).map(([term, value]) => [term, String(value)]);
  if (names.length > 0)
    rows.push([names.length > 1 ? "Files" : "File", names.join(", ")], ["Size", bytes(size)]);
  const reference = [problem.code, problem.reference].filter(Boolean).join(" · ");
  if (reference) rows.push(["Reference", reference]);
  return /** @type {[string, string][]} */ (rows);
}

/**
 * The text that "Copy report" puts on the clipboard.
 * @param {{ message: string, remedy: string, details: readonly (readonly [string, string])[] }} shown
 * @param {{ address: string, now: Date }} context
 */
export function reportText({ message, remedy, details }, { address, now }) {
  const rows = [...details, ["Address", address], ["Time", now.toISOString()]];
  return [message, remedy, "", ...rows.map(([term, value]) => `${term}: ${value}`), ""].join("\n");
}
