// What a page asks the server for, with its problem in words.

import { connectionProblem, problemFromAnswer } from "../text/problem.js";

/**
 * The header that proves that one of the server's own pages asks for a change; none where the server wants none.
 * @returns {Record<string, string>}
 */
export function csrfHeaders() {
  const token = document.querySelector('meta[name="csrf-token"]')?.getAttribute("content");
  return token ? { "X-CSRF-Token": token } : {};
}

/**
 * The answer's body, `null` without one; throws a `Problem`, or an AbortError.
 * @param {string} url
 * @param {RequestInit} request
 * @returns {Promise<any>}
 */
async function ask(url, request) {
  const headers = { Accept: "application/json", ...request.headers };
  let response;
  try {
    response = await fetch(url, { ...request, headers });
  } catch (error) {
    throw request.signal?.aborted ? error : connectionProblem();
  }
  if (!response.ok) throw problemFromAnswer(response.status, await response.text());
  return response.status === 204 ? null : response.json();
}

/** As it is now. @param {string} url */
export const read = (url) => ask(url, { cache: "no-store" });

/**
 * A change that a page asks for.
 * @param {"POST" | "PATCH" | "DELETE"} method
 * @param {string} url
 * @param {object} [body]
 * @param {AbortSignal} [signal]
 */
export function change(method, url, body, signal) {
  const type = body && { "Content-Type": "application/json" };
  const headers = { ...csrfHeaders(), ...type };
  return ask(url, { method, headers, body: body && JSON.stringify(body), signal });
}
