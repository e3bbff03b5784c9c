// A change that a page asks the server for, with its problem in words.

import { csrfHeaders } from "./csrf.js";
import { connectionProblem, problemFromAnswer } from "../text/problem.js";

/**
 * The answer's body, `null` without one; throws a `Problem`.
 * @param {"POST" | "PATCH" | "DELETE"} method
 * @param {string} url
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export async function change(method, url, body) {
  const headers = {
    ...csrfHeaders(),
    Accept: "application/json",
    ...(body ? { "Content-Type": "application/json" } : {}),
  };
  let response;
  try {
    response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw connectionProblem();
  }
  if (!response.ok) throw problemFromAnswer(response.status, await response.text());
  return response.status === 204 ? null : response.json();
}
