// The page of a series: each point of its chart is a link to its profile, and the gate's mark of each run chooses it.

import { createChart, sentFigure } from "../chart/sent.js";
import { onArrival } from "../page/arrivals.js";
import { showGate } from "../page/series-gate.js";
import { dateTime } from "../text/format.js";
import { findAll, part } from "../ui/dom.js";

const marks = findAll(HTMLButtonElement, ".gate-mark");

/** The newest run that is not like those before it, else the newest. */
function lastWorth() {
  const at = marks.findLastIndex(({ dataset }) => ["bad", "warn"].includes(dataset.tone ?? ""));
  return at < 0 ? marks.length - 1 : at;
}

/** @param {number} wanted @param {boolean} [isMoved] the focus goes along */
function choose(wanted, isMoved = false) {
  const at = Math.max(0, Math.min(marks.length - 1, wanted));
  marks.forEach((mark, i) => {
    mark.setAttribute("aria-pressed", String(i === at));
    mark.tabIndex = i === at ? 0 : -1;
  });
  if (isMoved) marks[at].focus();
  return showGate(marks[at], at + 1, part("gate").dataset.checkUrl ?? "");
}

/** @param {number} at @param {boolean} [isMoved] */
function chooseByHand(at, isMoved) {
  choose(at, isMoved);
  const query = new URLSearchParams(location.search);
  query.set("run", part("gate").dataset.run ?? "");
  history.replaceState(null, "", `${location.pathname}?${query}`);
}

/** Arrow keys choose the run before or after, wherever the focus is. @param {KeyboardEvent} event */
function follow(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const chosen = marks.findIndex((mark) => mark.ariaPressed === "true");
  chooseByHand(chosen + step, document.activeElement?.matches(".gate-mark"));
}

for (const box of findAll(HTMLElement, "[data-series]")) {
  const wanted = new URLSearchParams(location.search).get("run");
  const at = marks.findIndex(({ dataset }) => dataset.run === wanted);
  choose(at < 0 ? lastWorth() : at);
  marks.forEach((mark, i) => mark.addEventListener("click", () => chooseByHand(i)));
  addEventListener("keydown", follow);
  const onClick = (/** @type {{ row: number | string | null }} */ { row }) =>
    location.assign(marks[Number(row)].dataset.url ?? "");
  createChart(box, { onClick }).show(sentFigure(box));
}
for (const time of findAll(HTMLTimeElement, "time")) time.textContent = dateTime(time.dateTime);
document.body.dataset.ready = "true";

// A run that arrives while the page is open extends it.
onArrival(
  {
    name: part("series-name").dataset.seriesName ?? "",
    by: part("series-name").dataset.by ?? "title",
  },
  () => location.reload(),
);
