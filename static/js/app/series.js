// The page of a series: three panels over one axis of runs; each point is a link to its profile.

import { panelPlaces, stepLine, straightLine } from "../chart/series-places.js";
import { dateTime, duration, percent } from "../text/format.js";
import { findAll, svg } from "../ui/dom.js";

/** @import { SeriesPlace, SeriesRun } from "../chart/series-places.js" */

const PANEL = 128; // pixels
const HEAD = 24;
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
    title: "Share of roof",
    read: (run) => run.efficiency_ratio,
    text: (value) => percent(value),
    line: straightLine,
  },
];

/** @param {SVGSVGElement} root @param {SeriesRun[]} runs */
function draw(root, runs) {
  const width = root.clientWidth;
  root.setAttribute("viewBox", `0 0 ${width} ${PANELS.length * PANEL}`);
  root.replaceChildren(...PANELS.flatMap((_, i) => panel(i, runs, width)));
}

/** @param {number} number @param {SeriesRun[]} runs @param {number} width */
function panel(number, runs, width) {
  const { name, title, read, text, line } = PANELS[number];
  const top = number * PANEL + HEAD;
  const box = { left: LEFT, right: width - RIGHT, top, bottom: top + PANEL - HEAD - 6 };
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

for (const root of findAll(SVGSVGElement, "[data-series]")) {
  /** @type {SeriesRun[]} */
  const runs = JSON.parse(root.dataset.series ?? "[]");
  new ResizeObserver(() => draw(root, runs)).observe(root);
}
for (const time of findAll(HTMLTimeElement, "time")) time.textContent = dateTime(time.dateTime);
document.body.dataset.ready = "true";
