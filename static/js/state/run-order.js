// Runs to compare with, in the order in which they are likely wanted. Pure.

/**
 * @typedef {object} ListedRun
 * @property {string} id
 * @property {string} title
 * @property {string} [created_at]
 * @property {{ device: string }} [summary]
 */

/**
 * The series that a title belongs to: the title without the day at its end, as the server has it.
 * @param {string} title
 */
export const seriesName = (title) => title.replace(/(?<=.) · \d{4}-\d\d-\d\d$/, "");

/**
 * Runs of the same series first, then all others, each once and the newest first.
 * @param {string} title
 * @param {readonly ListedRun[]} alike found by the words of the title
 * @param {readonly ListedRun[]} newest
 * @returns {ListedRun[]}
 */
export function inOrder(title, alike, newest) {
  const name = seriesName(title);
  const all = new Map([...alike, ...newest].map((run) => [run.id, run]));
  return [...all.values()].sort(
    (x, y) =>
      Number(seriesName(y.title) === name) - Number(seriesName(x.title) === name) ||
      (y.created_at ?? "").localeCompare(x.created_at ?? ""),
  );
}
