// A menu of runs to compare with: those with the same title first, then the newest.

import { dateTime } from "../text/format.js";
import { find, html, inputPart, part } from "../ui/dom.js";
import { inOrder, seriesName } from "../state/run-order.js";

/** @import { ListedRun } from "../state/run-order.js" */

const MOST = 30;
const PAUSE_MS = 150;

/**
 * @param {object} options
 * @param {string} options.title of the run at hand
 * @param {readonly string[]} options.without ids that are not offered
 * @param {(run: ListedRun) => string} options.addressOf where choosing a run leads
 */
export function wireRunPicker({ title, without, addressOf }) {
  const menu = part("run-picker");
  const field = inputPart("run-search", menu);
  const list = part("run-list", menu);
  const note = part("run-note", menu);
  find(HTMLAnchorElement, "[data-series-link]", menu).href =
    `/s/${encodeURIComponent(seriesName(title))}`;
  let asked = 0;

  async function fill() {
    asked += 1;
    const mine = asked;
    try {
      const runs = field.value.trim() ? await search(field.value) : await usual(title);
      if (mine === asked) show(runs.filter(({ id }) => !without.includes(id)));
    } catch {
      if (mine === asked) note.textContent = "The list of runs could not be read.";
    }
  }

  /** @param {ListedRun[]} runs */
  function show(runs) {
    list.replaceChildren(...runs.slice(0, MOST).map(item));
    note.textContent = runs.length > 0 ? "" : "No other run is stored here.";
  }

  /** @param {ListedRun} run */
  function item(run) {
    const details = [run.summary?.device, run.created_at && dateTime(run.created_at)];
    const words = details.filter(Boolean).join(" · ");
    const link = html(
      "a",
      { href: addressOf(run) },
      html("b", {}, run.title),
      html("small", {}, words),
    );
    return html("li", {}, link);
  }

  menu.addEventListener("toggle", (event) => {
    if (event.newState === "open") fill();
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(fill, PAUSE_MS);
  });
}

/** @param {string} title */
async function usual(title) {
  const [alike, newest] = await Promise.all([search(seriesName(title)), search("")]);
  return inOrder(title, alike, newest);
}

/** @param {string} words @returns {Promise<ListedRun[]>} */
async function search(words) {
  const query = new URLSearchParams({ q: words.slice(0, 200), limit: String(MOST + 1) });
  const response = await fetch(`/api/v1/profiles?${query}`, {
    headers: { Accept: "application/json" },
  });
  if (!response.ok) throw new Error(String(response.status));
  return (await response.json()).profiles;
}
