// A run whose hosts arrive: its progress, and the page anew when more is said of it, never under a pointer.

import { count } from "../text/format.js";
import { findAll, part } from "../ui/dom.js";

/** @typedef {{ state: string, read: number, total: number, expected_hosts?: number, version: number }} RunStatus */

const STATES = ["reading", "complete", "cancelled", "failed"];

/** Whether a pointer or the focus is on what would be drawn anew. */
const isInUse = () =>
  document.querySelector(":is(.run-zone, .tables, .drawer):is(:hover, :focus-within)") !== null;

/** @param {() => boolean} isBusy */
function reloadWhenFree(isBusy) {
  if (!isBusy()) location.reload();
  else setTimeout(() => reloadWhenFree(isBusy), 500);
}

/** @param {RunStatus} status */
function showProgress({ read, total: found, expected_hosts: expected = 0 }) {
  const total = Math.max(found, expected);
  const known = total > 0 ? ` of ${count(total)}` : "";
  for (const text of findAll(HTMLElement, "[data-read]"))
    text.textContent = `${count(read)}${known} hosts read`;
  for (const bar of findAll(HTMLProgressElement, "[data-progress]")) {
    if (total <= 0) continue;
    bar.max = total;
    bar.value = read;
  }
}

/** @param {string} url of the events @param {number} drawn the version that the page shows */
function follow(url, drawn) {
  const source = new EventSource(url);
  for (const state of STATES)
    source.addEventListener(state, (event) => {
      /** @type {RunStatus} */
      const status = JSON.parse(event.data);
      showProgress(status);
      if (status.state === "reading" && status.version === drawn) return;
      source.close();
      reloadWhenFree(isInUse);
    });
}

const { eventsUrl, version } = part("version").dataset;
if (eventsUrl) follow(eventsUrl, Number(version));
