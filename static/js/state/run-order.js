// Runs to compare with, in the order in which they are likely wanted. Pure.

/**
 * @typedef {object} ListedRun
 * @property {string} id
 * @property {string} title
 * @property {string} [created_at]
 * @property {{ device: string }} [summary]
 */

/**
 * Runs of the same title first, then all others, each once and the newest first.
 * @param {string} title
 * @param {readonly ListedRun[]} alike found by the words of the title
 * @param {readonly ListedRun[]} newest
 * @returns {ListedRun[]}
 */
export function inOrder(title, alike, newest) {
  const all = new Map([...alike, ...newest].map((run) => [run.id, run]));
  return [...all.values()].sort(
    (x, y) =>
      Number(y.title === title) - Number(x.title === title) ||
      (y.created_at ?? "").localeCompare(x.created_at ?? ""),
  );
}
