// The address at which runs are compared: the oldest is A, the newest B. Pure.

/** @typedef {{ id: string, created: string }} DatedRun `created`: ISO 8601 */

/**
 * Runs between the oldest and the newest are compared with A, too.
 * @param {readonly DatedRun[]} runs two or more
 */
export function compareAddress(runs) {
  const ordered = [...runs].sort((x, y) => x.created.localeCompare(y.created));
  const [a, ...others] = ordered.map(({ id }) => encodeURIComponent(id));
  const b = others.pop();
  const query = others.map((id) => `vs=${id}`).join("&");
  return `/c/${a}..${b}${query ? `?${query}` : ""}`;
}
