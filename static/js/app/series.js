// The page of a series: three panels over one axis of runs, each point a link to its profile, and
// the gate's mark for each run, which chooses it.

import { bandsOf, panelPlaces, runPlace, stepLine, straightLine } from "../chart/series-places.js";
import { onArrival } from "../page/arrivals.js";
import { gateMark, showGate } from "../page/series-gate.js";
import { dateTime, duration, percent } from "../text/format.js";
import { findAll, part, svg } from "../ui/dom.js";

/** @import { SeriesPlace, SeriesRun } from "../chart/series-places.js" */

const PANEL = 128; // pixels, at least
const MOST_PANEL = 220;
const HEAD = 24;
const GATE = 36;
const LEFT = 74;
const RIGHT = 18;

/** @type {{ name: string, title: string, read: (run: SeriesRun) => number | null, text: (value: number) => string, line: (places: SeriesPlace[]) => string }[]} */
const PANELS = [
  { name: "time", title: "Time", read: (run) => run.time_us, text: duration, line: straightLine },
  {
    name: "roof",
    title: "Roof time, exact",
    read: (run) => run.roof_us,
    text: duration,
    line: stepLine,
  },
  {
    name: "share",
    title: "Of the roof",
    read: (run) => run.roof_ratio,
    text: (value) => percent(value),
    line: straightLine,
  },
];

class SeriesView {
  /** @param {SVGSVGElement} root */
  constructor(root) {
    this.root = root;
    /** @type {SeriesRun[]} */
    this.runs = JSON.parse(root.dataset.series ?? "[]");
    const wanted = new URLSearchParams(location.search).get("run");
    const at = this.runs.findIndex(({ id }) => id === wanted);
    this.chosen = at < 0 ? lastWorth(this.runs) : at;
  }

  /** @param {number} at */
  choose(at) {
    this.chosen = Math.max(0, Math.min(this.runs.length - 1, at));
    const query = new URLSearchParams(location.search);
    query.set("run", this.runs[this.chosen].id);
    history.replaceState(null, "", `${location.pathname}?${query}`);
    this.draw();
    this.show();
  }

  show() {
    return showGate(this.runs[this.chosen], this.runs, part("gate").dataset.checkUrl ?? "");
  }

  draw() {
    const width = this.root.clientWidth;
    if (width <= LEFT + RIGHT) return; // before it is laid out
    const room = (this.root.clientHeight - GATE) / PANELS.length;
    const each = Math.max(PANEL, Math.min(MOST_PANEL, room));
    const height = PANELS.length * each + GATE;
    const box = { left: LEFT, right: width - RIGHT };
    const place = (/** @type {number} */ at) => runPlace(at, this.runs.length, box);
    const x = place(this.chosen);
    this.root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.root.replaceChildren(
      ...bandsOf(this.runs, box).map(({ from, to }) =>
        svg("rect", { class: "regressed", x: from, width: to - from, y: 0, height }),
      ),
      svg("line", { class: "chosen-run", x1: x, x2: x, y1: 6, y2: height - GATE + 6 }),
      ...PANELS.flatMap((_, i) => panel(i, this.runs, width, each)),
      svg("text", { class: "tick", x: LEFT - 14, y: height - 13, "text-anchor": "end" }, "gate"),
      ...this.runs.map((run, at) =>
        gateMark(run, place(at), height - 17, at === this.chosen, () => this.choose(at)),
      ),
    );
  }
}

/** The newest run that is not like those before it, else the newest. @param {readonly SeriesRun[]} runs */
function lastWorth(runs) {
  const at = runs.findLastIndex(({ gate }) => ["broken", "accepted"].includes(gate));
  return at < 0 ? runs.length - 1 : at;
}

/** @param {number} number @param {SeriesRun[]} runs @param {number} width @param {number} height of each panel */
function panel(number, runs, width, height) {
  const { name, title, read, text, line } = PANELS[number];
  const top = number * height + HEAD;
  const box = { left: LEFT, right: width - RIGHT, top, bottom: top + height - HEAD - 6 };
  const { places, ticks } = panelPlaces(runs, read, box);
  const empty = places.length === 0 ? " (not known)" : "";
  return [
    svg("text", { class: "panel-title", x: LEFT, y: top - 8 }, title + empty),
    ...ticks.flatMap(({ value, y }) => [
      svg("line", { class: "gl", x1: LEFT, x2: width - RIGHT, y1: y, y2: y }),
      svg("text", { class: "tick", x: LEFT - 8, y: y + 4, "text-anchor": "end" }, text(value)),
    ]),
    svg("path", { class: `series-line ${name}`, d: line(places) }),
    ...places.map((place) => point(place, `${title}: ${text(place.value)}`, name)),
  ];
}

/** @param {SeriesPlace} place @param {string} words @param {string} name */
function point({ run, x, y }, words, name) {
  const said = `${run.title}, ${dateTime(run.created_at)}. ${words}`;
  return svg(
    "a",
    { href: run.url, "aria-label": said },
    svg("title", {}, said),
    svg("circle", { class: "reach", cx: x, cy: y, r: 12 }),
    svg("circle", { class: `series-point ${name}`, cx: x, cy: y, r: 4.5 }),
  );
}

/** Arrow keys choose the run before or after, wherever the focus is. @param {SeriesView} view */
function wireKeys(view) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const isMark = event.target instanceof Element && event.target.closest(".gate-mark");
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined && !(isMark && [" ", "Enter"].includes(event.key))) return;
    event.preventDefault();
    if (step !== undefined) view.choose(view.chosen + step);
    if (isMark) focusChosen(view);
  });
}

/** @param {SeriesView} view */
function focusChosen(view) {
  const mark = view.root.querySelector('.gate-mark[aria-pressed="true"]');
  if (mark instanceof SVGElement) mark.focus();
}

for (const root of findAll(SVGSVGElement, "[data-series]")) {
  const view = new SeriesView(root);
  wireKeys(view);
  new ResizeObserver(() => view.draw()).observe(root);
  view.show();
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
