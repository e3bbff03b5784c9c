// Operations without FLOPs have no place on a log chart: here they lie by achieved bandwidth against its peak.

import { bandwidthTicks } from "./axes.js";
import { stripGeometry, stripNote } from "./no-flops-places.js";
import { createOverlay } from "./overlay.js";
import { trackPointer } from "./pointer.js";
import { shapePath } from "./shapes.js";
import { find, part, svg } from "../ui/dom.js";
import { watchedSize } from "../ui/size.js";

/** @import { MemoryRoof } from "../types/page-data.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Scale } from "./axes.js" */
/** @import { StripGeometry, StripPlace } from "./no-flops-places.js" */

const MARGIN = { l: 84, r: 14, t: 6, b: 26 };
const LABEL_HALF = 38; // half the width of a tick label

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {(row: Row | null, event: PointerEvent) => void} options.onHover
 * @param {(row: Row, event: PointerEvent) => void} options.onClick
 */
export function createNoFlopsStrip({ model, store, onHover, onClick }) {
  const root = find(SVGSVGElement, "#no-flop-chart");
  const frame = find(HTMLElement, ".plot-strip");
  const overlay = createOverlay(frame);
  const size = watchedSize(root);
  /** @type {StripGeometry | null} null before the first drawing */
  let geometry = null;
  /** @type {{ place: StripPlace, node: Element }[]} */
  let marks = [];
  /** @type {ReadonlySet<Row>} */
  let shown = new Set();

  /**
   * Finds the places of the marks, which can be pointed at from then on.
   * @param {(row: Row) => [number, number] | null} position on the chart above
   */
  function place(position) {
    const around = part("strip-box");
    if (frame.hidden || around.hidden) size.forget();
    frame.hidden = around.hidden = false; // it is measured
    const box = { ...size.get(), margin: MARGIN };
    geometry = stripGeometry(model, store.get(), position, box);
    frame.hidden = geometry.places.length === 0;
    around.hidden = geometry.without.length + geometry.placeless.length === 0;
    return { ...geometry, box };
  }

  /** @param {(row: Row) => [number, number] | null} position on the chart above */
  function draw(position) {
    const { places, scale, roof, box } = place(position);
    marks = places.map((one) => ({ place: one, node: markNode(one) }));
    root.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    root.replaceChildren(...axisNodes(scale, roof), ...marks.map(({ node }) => node));
    showKey(roof);
    fade();
    markSelection();
  }

  function fade() {
    if (!geometry) return;
    for (const { place, node } of marks) node.classList.toggle("ghost", !shown.has(place.row));
    const text = stripNote(geometry, shown, model.axis(store.get().x).label);
    part("strip-note").textContent = text;
    part("strip-note").title = text;
  }

  /** @param {number | null | undefined} op */
  const placeOf = (op) => geometry?.places.find(({ row }) => row.op === op) ?? null;
  const markSelection = () => overlay.select(placeOf(store.get().op));

  trackPointer(root, {
    places: () => geometry?.places.filter(({ row }) => shown.has(row)) ?? [],
    onHover: (place, event) => onHover(place?.row ?? null, event),
    onClick: ({ row }, event) => onClick(row, event),
  });

  return {
    place,
    draw,
    /** Draws in the size that it has by now. @param {(row: Row) => [number, number] | null} position */
    drawAnew(position) {
      size.forget();
      draw(position);
    },
    markSelection,
    /** @param {ReadonlySet<Row>} rows */
    show(rows) {
      shown = rows;
      fade();
      if (geometry) markSelection();
    },
    /** @param {Row | null} row */
    light: (row) => overlay.hover(placeOf(row?.op)),
  };
}

/** @typedef {ReturnType<typeof createNoFlopsStrip>} NoFlopsStrip */

/** @param {StripPlace} place */
function markNode({ edge, token, symbol, px, py, radius }) {
  const node = svg("path", {
    class: edge ? "dot open" : "dot",
    d: shapePath(symbol, radius),
    transform: `translate(${px.toFixed(1)} ${py.toFixed(1)})`,
  });
  node.style.setProperty(edge ? "stroke" : "fill", `var(${token})`);
  return node;
}

/** @param {Scale} scale @param {MemoryRoof | null} roof */
function axisNodes(scale, roof) {
  const ticks = bandwidthTicks(scale.xRange, scale.plotWidth);
  const nodes = ticks.values.flatMap((value, i) =>
    tickNodes(scale, Number(scale.toX(Math.log10(value)).toFixed(1)), ticks.labels[i]),
  );
  return roof ? [...nodes, roofNode(scale, roof)] : nodes;
}

/** @param {Scale} scale @param {number} x @param {string} label */
function tickNodes({ width, height, margin }, x, label) {
  const bottom = height - margin.b;
  const fits = x < width - LABEL_HALF;
  const text = { x: fits ? x : width - 4, y: bottom + 16, "text-anchor": fits ? "middle" : "end" };
  return [
    svg("line", { class: "grid-line", x1: x, x2: x, y1: margin.t, y2: bottom }),
    svg("text", text, label),
  ];
}

/** @param {Scale} scale @param {MemoryRoof} roof */
function roofNode(scale, roof) {
  const x = scale.toX(Math.log10(roof.gbs)).toFixed(1);
  const { margin, height } = scale;
  const line = { class: "roof-line", x1: x, x2: x, y1: margin.t, y2: height - margin.b };
  const node = svg("line", line);
  node.style.setProperty("stroke", `var(${roof.token})`);
  return node;
}

/** @param {MemoryRoof | null} roof */
function showKey(roof) {
  const key = part("strip-key");
  key.hidden = roof === null;
  if (roof === null) return;
  key.style.setProperty("--swatch", `var(${roof.token})`);
  find(HTMLElement, "span", key).textContent = `${roof.label} peak`;
}
