// A page's questions to the server, with their problems in words.

import { connectionProblem, problemFromAnswer } from "../text/problem.js";

/**
 * The answer's body; throws a `Problem`.
 * @param {string} url
 * @returns {Promise<any>}
 */
export async function read(url) {
  let response;
  try {
    response = await fetch(url, { cache: "no-store", headers: { Accept: "application/json" } });
  } catch {
    throw connectionProblem();
  }
  if (!response.ok) throw problemFromAnswer(response.status, await response.text());
  return response.json();
}
