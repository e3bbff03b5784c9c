// The map of hosts as cells, and the histogram below, which is the key of its colours.

import { hostSaid, METRIC_WORDS, metricText } from "../text/run-words.js";
import { find, part, svg } from "../ui/dom.js";
import { gridOf, histogramOf, hostAt, moved, shadeOf, sharedStart } from "./heat-places.js";

/** @import { HostRow, MetricId, RunModel } from "../types/run.js" */
/** @import { Bin, Grid } from "./heat-places.js" */

const NAMED = 8; // outliers with a name beside their ring
const CHARACTER = 6.6; // pixels
const LONGEST_NAME = 14; // characters
const NAMED_CELL = 60; // pixels: such a cell has the name and the value of its host in it
const INSET = 7; // pixels
const LINE = 15; // pixels
const BINS = 26;
const HISTOGRAM = 92; // pixels
const BASE = 22; // pixels below the bars
const BARS = 0.7; // of the width; the rest is for outliers
const DOT = 4.2;

/**
 * @param {object} options
 * @param {RunModel} options.model
 * @param {(host: HostRow) => void} options.onOpen
 * @param {(host: HostRow | null, event: PointerEvent) => void} options.onHover
 */
export function createHeatMap({ model, onOpen, onHover }) {
  const { hosts } = model;
  const shared = sharedStart(hosts.map(({ name }) => name));
  const root = find(SVGSVGElement, "[data-heat]");
  const histogram = find(SVGSVGElement, "[data-histogram]");
  /** @type {Grid} */
  let grid = gridOf(hosts.length, 1);
  let current = -1;
  let metric = /** @type {MetricId} */ ("ratio");

  /** @param {MouseEvent} event */
  const under = (event) => {
    const frame = root.getBoundingClientRect();
    const at = hostAt(grid, hosts.length, event.clientX - frame.left, event.clientY - frame.top);
    return at === null ? null : hosts[at];
  };
  root.addEventListener("pointermove", (event) => onHover(under(event), event));
  root.addEventListener("pointerleave", (event) => onHover(null, event));
  root.addEventListener("click", (event) => {
    const host = under(event);
    if (host) onOpen(host);
  });
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && current >= 0) {
      event.preventDefault(); // the focus moves: the same key would press what gets it
      onOpen(hosts[current]);
    }
    const next = moved(event.key, Math.max(0, current), grid.columns, hosts.length);
    if (next === null) return;
    event.preventDefault();
    current = current < 0 ? 0 : next;
    mark();
    part("said").textContent = hostSaid(hosts[current], metric);
  });

  function mark() {
    root.querySelector(".at")?.remove();
    if (current >= 0) root.append(ring(current, grid, "at"));
  }

  return {
    /** @param {MetricId} wanted @param {string} host name of the open one */
    draw(wanted, host) {
      metric = wanted;
      if (root.clientWidth === 0) return; // before it is laid out
      grid = gridOf(hosts.length, root.clientWidth);
      const open = hosts.findIndex(({ name }) => name === host);
      if (open >= 0) current = open;
      root.setAttribute("height", String(Math.ceil(grid.height)));
      const outliers = hosts.filter(({ kind }) => kind !== "");
      root.replaceChildren(
        svg("g", { class: "cells" }, ...hosts.map((one) => cell(one, grid, metric, model))),
        ...outliers.map(({ at }) => ring(at, grid, "ring")),
        ...(grid.cell < NAMED_CELL
          ? outliers.slice(0, NAMED).map((one) => nameOf(one, grid, root.clientWidth))
          : hosts.flatMap((one) => wordsIn(one, shared, grid, metric))),
      );
      mark();
      drawHistogram(histogram, model, metric);
    },
  };
}

/** @param {number} at @param {Grid} grid */
const corner = (at, { columns, cell }) => ({
  x: (at % columns) * cell,
  y: Math.floor(at / columns) * cell,
});

/** @param {HostRow} host @param {Grid} grid @param {MetricId} metric @param {RunModel} model */
function cell(host, grid, metric, model) {
  const value = host[metric];
  const side = grid.cell;
  const gap = side > 8 ? 1 : 0.4;
  const name =
    host.state !== "read"
      ? "unread"
      : value === null
        ? "unknown"
        : `heat-${shadeOf(metric, value, model)}`;
  const { x, y } = corner(host.at, grid);
  return svg("rect", {
    class: name,
    x: x + gap / 2,
    y: y + gap / 2,
    width: side - gap,
    height: side - gap,
    rx: side > 10 ? 1.5 : 0,
  });
}

/** @param {number} at @param {Grid} grid @param {string} name */
function ring(at, grid, name) {
  const { x, y } = corner(at, grid);
  const side = grid.cell;
  return svg("rect", { class: name, x, y, width: side, height: side, rx: 2 });
}

/** The end of a name is what tells hosts apart. @param {string} name @param {number} most characters */
const shortened = (name, most) => (name.length > most ? `…${name.slice(1 - most)}` : name);

/** What a large cell says: the host, and its value where it fits. @param {HostRow} host @param {number} shared characters that all names begin with @param {Grid} grid @param {MetricId} metric */
function wordsIn(host, shared, grid, metric) {
  const most = Math.floor((grid.cell - 2 * INSET) / CHARACTER);
  const { x, y } = corner(host.at, grid);
  const value = host.state === "read" ? metricText(metric, host[metric]) : host.state;
  const name = host.name.length > most ? host.name.slice(shared) : host.name;
  const lines = [shortened(name, most), ...(value.length > most ? [] : [value])];
  return lines.map((text, i) =>
    svg("text", { class: "call", x: x + INSET, y: y + INSET + LINE * i + 11 }, text),
  );
}

/** @param {HostRow} host @param {Grid} grid @param {number} width */
function nameOf(host, grid, width) {
  const { x, y } = corner(host.at, grid);
  const text = shortened(host.name, LONGEST_NAME);
  const isRight = x + grid.cell + 5 + text.length * CHARACTER < width;
  return svg(
    "text",
    {
      class: "call",
      x: isRight ? x + grid.cell + 4 : x - 4,
      y: y + grid.cell / 2 + 4,
      "text-anchor": isRight ? "start" : "end",
    },
    text,
  );
}

/** @param {SVGSVGElement} root @param {RunModel} model @param {MetricId} metric */
function drawHistogram(root, model, metric) {
  const width = root.clientWidth;
  const { bins, outliers } = histogramOf(model.hosts, metric, BINS);
  root.setAttribute("viewBox", `0 0 ${width} ${HISTOGRAM}`);
  root.setAttribute("height", String(HISTOGRAM));
  root.setAttribute("aria-label", histogramSaid(bins, outliers, metric));
  if (bins.length === 0) {
    const words = `${METRIC_WORDS[metric].label}: not known`;
    root.replaceChildren(svg("text", { x: 4, y: HISTOGRAM / 2 }, words));
    return;
  }
  if (bins.length === 1 && outliers.length === 0) {
    root.replaceChildren(...oneValue(bins[0], width, metric, model));
    return;
  }
  const [low, high] = [bins[0].from, bins[bins.length - 1].to];
  const right = outliers.length > 0 ? BARS * width : width - 4;
  const toX = (/** @type {number} */ value) => 4 + ((value - low) / (high - low)) * (right - 4);
  root.replaceChildren(
    ...bins.map((bin) => bar(bin, bins, toX, metric, model)),
    svg("line", { x1: 0, x2: width, y1: HISTOGRAM - BASE, y2: HISTOGRAM - BASE }),
    tick(metricText(metric, low), 4, "start"),
    tick(metricText(metric, high), right, "end"),
    ...outlierDots(outliers, { metric, model, low, high, toX, right, width }),
  );
}

/** All hosts have one value: a bar as wide as one of many, with its value below. @param {Bin} bin @param {number} width @param {MetricId} metric @param {RunModel} model */
function oneValue(bin, width, metric, model) {
  const ends = (/** @type {number} */ value) => width / 2 + (value === bin.from ? -1 : 1) * 6;
  return [
    bar(bin, [bin], ends, metric, model),
    svg("line", { x1: 0, x2: width, y1: HISTOGRAM - BASE, y2: HISTOGRAM - BASE }),
    tick(metricText(metric, bin.from), width / 2, "middle"),
  ];
}

/** @param {Bin} bin @param {Bin[]} bins @param {(value: number) => number} toX @param {MetricId} metric @param {RunModel} model */
function bar(bin, bins, toX, metric, model) {
  const most = Math.max(...bins.map(({ count }) => count));
  const height = bin.count > 0 ? Math.max(1.5, (bin.count / most) * (HISTOGRAM - BASE - 14)) : 0;
  const colour = shadeOf(metric, (bin.from + bin.to) / 2, model);
  const x = toX(bin.from);
  return svg("rect", {
    class: `bar heat-${colour}`,
    x,
    y: HISTOGRAM - BASE - height,
    width: Math.max(1, toX(bin.to) - x - 1),
    height,
  });
}

/** @param {string} text @param {number} x @param {"start" | "middle" | "end"} anchor */
const tick = (text, x, anchor) => svg("text", { x, y: HISTOGRAM - 6, "text-anchor": anchor }, text);

/**
 * Outliers: those beyond the others lie on an axis of their own, right of a cut.
 * @param {readonly HostRow[]} outliers
 * @param {{ metric: MetricId, model: RunModel, low: number, high: number, toX: (value: number) => number, right: number, width: number }} axis
 */
function outlierDots(outliers, { metric, model, low, high, toX, right, width }) {
  const far = outliers
    .map((host) => host[metric] ?? 0)
    .filter((value) => value > high || value < low);
  const [from, to] = [Math.min(...far), Math.max(...far)];
  const beyond = (/** @type {number} */ value) =>
    right + 22 + (to > from ? (value - from) / (to - from) : 0.5) * (width - right - 44);
  const nodes = outliers.map((host) => {
    const value = host[metric] ?? 0;
    const isFar = value > high || value < low;
    const name = `${host.name} ${metricText(metric, value)}`;
    return svg(
      "circle",
      {
        class: `dot heat-${shadeOf(metric, value, model)}`,
        cx: isFar ? beyond(value) : toX(value),
        cy: HISTOGRAM - BASE - 6,
        r: DOT,
      },
      svg("title", {}, name),
    );
  });
  if (far.length === 0) return nodes;
  const ends = to > from ? [tick(metricText(metric, from), beyond(from), "middle")] : [];
  const isRoom = beyond(to) - beyond(from) > 60 || ends.length === 0;
  return [...nodes, ...(isRoom ? ends : []), tick(metricText(metric, to), width, "end")];
}

/** @param {Bin[]} bins @param {readonly HostRow[]} outliers @param {MetricId} metric */
function histogramSaid(bins, outliers, metric) {
  const { label } = METRIC_WORDS[metric];
  if (bins.length === 0) return `${label} of the hosts is not known`;
  const [low, high] = [bins[0].from, bins[bins.length - 1].to];
  const others = outliers.length > 0 ? `; ${outliers.length} stand out` : "";
  return `${label} over hosts, from ${metricText(metric, low)} to ${metricText(metric, high)}${others}. Also the key of the colours.`;
}
