// Operations without FLOPs have no place on a log chart: here they lie by achieved bandwidth against its peak.

import { bandwidthTicks, createScale } from "./axes.js";
import { part, svg } from "../ui/dom.js";
import { count, percent } from "../text/format.js";
import { createOverlay, trackPointer } from "./overlay.js";
import { markerSize, packDiscs } from "./points.js";
import { shareOf } from "../state/filter.js";

const MARGIN = { l: 84, r: 14, t: 6, b: 26 };
const LARGEST = 30;
const EDGE_RADIUS = 3.5;
const LABEL_HALF = 38; // half the width of a tick label

/** Paths around the origin, by half the marker's size. */
const SHAPES = {
  circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  diamond: (r) => `M0 ${-1.3 * r}L${1.3 * r} 0 0 ${1.3 * r} ${-1.3 * r} 0z`,
  "triangle-up": (r) => `M0 ${-r}L${1.15 * r} ${r}H${-1.15 * r}z`,
  left: (r) => `M${-r} 0L${r} ${-r}V${r}z`,
  right: (r) => `M${r} 0L${-r} ${-r}V${r}z`,
};
const shape = (symbol, radius) => (SHAPES[symbol] ?? SHAPES.circle)(Number(radius.toFixed(2)));

/**
 * @typedef {import("../state/model.js").Row} Row
 *
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 * @param {(row: Row | null, event: PointerEvent) => void} options.onHover
 * @param {(row: Row) => void} options.onClick
 */
export function createNoFlopsStrip({ model, store, onHover, onClick }) {
  const root = document.getElementById("no-flop-chart");
  const overlay = createOverlay(root.parentElement);
  /** @type {{ row: Row, px: number, py: number, radius: number, node: Element }[]} */
  let places = [];
  /** @type {Row[]} ops without FLOPs */
  let without = [];
  /** @type {Row[]} ops with FLOPs that the chosen x axis has no place for */
  let placeless = [];
  /** @type {ReadonlySet<Row>} */
  let shown = new Set();
  let drawn = false;

  /** @param {(row: Row) => [number, number] | null} place position on the chart above */
  function draw(place) {
    const state = store.get();
    const view = model.view(state.infeed);
    const level = model.levels[0] ?? null;
    const roof = level?.roof ?? null;
    showKey(roof);
    const bandwidth = bandwidthReader(view, level);
    const off = view.rows.filter((row) => row.cost !== "idle" && place(row) === null);
    const rate = view.reader("flop_rate_gflops");
    without = off.filter((row) => !(rate(row) > 0));
    placeless = off.filter((row) => rate(row) > 0);
    const moving = without.filter((row) => bandwidth(row) > 0);
    const box = { width: root.clientWidth, height: root.clientHeight, margin: MARGIN };
    const scale = createScale([bandwidthRange(moving.map(bandwidth), roof), [0, 1]], box);
    places = layOut(moving, bandwidth, scale, model, state.size);
    root.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    root.replaceChildren(...axisNodes(scale, roof), ...places.map((one) => one.node));
    drawn = true;
    fade();
    markSelection();
  }

  function fade() {
    for (const { row, node } of places) node.classList.toggle("ghost", !shown.has(row));
    note();
  }

  function note() {
    const here = without.filter((row) => shown.has(row));
    const above = places.filter((one) => shown.has(one.row) && one.edge === "right").length;
    const drawn = places.filter((one) => shown.has(one.row)).length;
    const parts = [
      `${count(here.length)} ${here.length === 1 ? "op" : "ops"}`,
      `${percent(shareOf(here))} of time`,
    ];
    if (above > 0) parts.push(`${above} off scale ▷`);
    if (here.length > drawn) parts.push(`${count(here.length - drawn)} without known traffic`);
    const hidden = placeless.filter((row) => shown.has(row)).length;
    if (hidden > 0)
      parts.push(
        `besides, ${count(hidden)} without bytes of ${model.axis(store.get().x).label}: in the table only`,
      );
    const text = parts.join(" · ");
    part("strip-note").textContent = text;
    part("strip-note").title = text;
  }

  function markSelection() {
    const selected = store.get().op;
    overlay.select(places.find((one) => one.row.op === selected) ?? null);
  }

  trackPointer(root, {
    places: () => places.filter((one) => shown.has(one.row)),
    onHover: (one, event) => onHover(one?.row ?? null, event),
    onClick: (one) => onClick(one.row),
  });

  return {
    draw,
    markSelection,
    /** @param {ReadonlySet<Row>} rows */
    show(rows) {
      shown = rows;
      if (!drawn) return;
      fade();
      markSelection();
    },
    /** @param {Row | null} row */
    light: (row) => overlay.hover(places.find((one) => one.row.op === row?.op) ?? null),
  };
}

/** Bandwidth of the outermost level; where only the sum is known, that. */
function bandwidthReader(view, level) {
  const own = view.reader(level ? `${level.id}_bandwidth_gibs` : "memory_bandwidth_gibs");
  const sum = view.reader("memory_bandwidth_gibs");
  return (row) => own(row) ?? sum(row) ?? 0;
}

/** From the data, at least two decades, at most three below the peak, and a little past it. */
function bandwidthRange(values, roof) {
  const logs = values.map(Math.log10);
  const highest = roof ? Math.log10(roof.gibs * 2) : Math.max(1, ...logs) + 0.1;
  const lowest = Math.min(highest - 2, ...logs) - 0.1;
  return [Math.max(lowest, highest - 4), highest];
}

function layOut(rows, bandwidth, scale, model, mode) {
  const [low, high] = scale.xRange;
  const inset = 0.02 * (high - low);
  const ordered = [...rows]
    .sort((a, b) => b.share - a.share)
    .map((row) => {
      const value = Math.log10(bandwidth(row));
      const edge = value > high - inset ? "right" : value < low + inset ? "left" : null;
      const { symbol, token } = model.categories[row.category];
      const radius = edge ? EDGE_RADIUS : markerSize(row.share, symbol, mode, LARGEST) / 2;
      return {
        row,
        edge,
        token,
        symbol: edge ?? symbol,
        x: scale.toX(Math.min(high - inset, Math.max(low + inset, value))),
        radius,
      };
    });
  const middle = scale.toY(0.5);
  const { discs, offsets } = packSmaller(ordered, scale.plotHeight / 2);
  return discs.map(({ row, edge, token, symbol, x, radius }, i) => {
    const py = middle + offsets[i];
    const node = svg("path", {
      class: edge ? "dot open" : "dot",
      d: shape(symbol, radius),
      transform: `translate(${x.toFixed(1)} ${py.toFixed(1)})`,
    });
    node.style.setProperty(edge ? "stroke" : "fill", `var(${token})`);
    return { row, edge, px: x, py, radius, node };
  });
}

/** Discs that do not all fit are drawn smaller, in the same proportions, until nearly all do. */
function packSmaller(ordered, halfHeight) {
  const edge = ordered.filter((disc) => disc.edge !== null);
  const free = ordered.filter((disc) => disc.edge === null);
  for (let factor = 1; ; factor *= 0.8) {
    const discs = free.map((disc) => ({ ...disc, radius: Math.max(2, disc.radius * factor) }));
    const { offsets, crowded } = packDiscs(discs, halfHeight);
    if (crowded <= discs.length * 0.03 || factor < 0.5) {
      return {
        discs: [...discs, ...edge],
        offsets: [...offsets, ...packDiscs(edge, halfHeight).offsets],
      };
    }
  }
}

function axisNodes(scale, roof) {
  const ticks = bandwidthTicks(scale.xRange, scale.plotWidth);
  const bottom = scale.height - scale.margin.b;
  const nodes = ticks.values.flatMap((value, i) => {
    const x = scale.toX(Math.log10(value)).toFixed(1);
    const fits = Number(x) < scale.width - LABEL_HALF;
    return [
      svg("line", { class: "grid-line", x1: x, x2: x, y1: scale.margin.t, y2: bottom }),
      svg(
        "text",
        { x: fits ? x : scale.width - 4, y: bottom + 16, "text-anchor": fits ? "middle" : "end" },
        ticks.labels[i],
      ),
    ];
  });
  if (roof) {
    const x = scale.toX(Math.log10(roof.gibs)).toFixed(1);
    const line = svg("line", { class: "roof-line", x1: x, x2: x, y1: scale.margin.t, y2: bottom });
    line.style.setProperty("stroke", `var(${roof.token})`);
    nodes.push(line);
  }
  return nodes;
}

function showKey(roof) {
  const key = part("strip-key");
  key.hidden = roof === null;
  if (roof === null) return;
  key.style.setProperty("--swatch", `var(${roof.token})`);
  key.lastElementChild.textContent = `${roof.label} peak`;
}
