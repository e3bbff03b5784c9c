// Transfers against the peaks of their links: one lane per link, so that links of all speeds share an axis.

import { laneCount, linkGeometry, transferRows } from "./link-places.js";
import { createOverlay } from "./overlay.js";
import { trackPointer } from "./pointer.js";
import { shapePath } from "./shapes.js";
import { linkLaneText, linkNote } from "../text/link-words.js";
import { find, html, part, svg } from "../ui/dom.js";
import { watchedSize } from "../ui/size.js";

/** @import { Model, Row } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */
/** @import { LinkLane, LinkPlace } from "./link-places.js" */

const LANE = 46;
const MARGIN = { l: 96, r: 14, t: 4, b: 24 };
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {(row: Row | null, event: PointerEvent) => void} options.onHover
 * @param {(row: Row, event: PointerEvent) => void} options.onClick
 * @param {(key: string) => void} options.onAsk a peak is asked for, by its key
 */
export function createLinkStrip({ model, store, onHover, onClick, onAsk }) {
  const root = find(SVGSVGElement, "#link-chart");
  const box = find(HTMLElement, ".plot-links");
  const overlay = createOverlay(box);
  const size = watchedSize(root);
  /** @type {ReturnType<typeof linkGeometry> | null} */
  let geometry = null;
  /** @type {{ place: LinkPlace, node: Element }[]} */
  let marks = [];
  /** @type {ReadonlySet<Row>} */
  let shown = new Set();

  /** Finds the places of the marks, which can be pointed at from then on. */
  function place() {
    const count = laneCount(model, store.get());
    box.hidden = count === 0;
    part("links-box").hidden = transferRows(model, store.get()).length === 0;
    box.style.setProperty("--lanes", String(count));
    geometry = linkGeometry(model, store.get(), { ...size.get(), margin: MARGIN, lane: LANE });
    return geometry;
  }

  function draw() {
    // Its height goes with its lanes, whose number may change here.
    size.forget();
    const { lanes, toX } = place();
    const { width, height } = size.get();
    marks = lanes.flatMap((lane) =>
      lane.places.map((place) => ({ place, node: markNode(lane, place) })),
    );
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    root.replaceChildren(...axisNodes(lanes, toX, width), ...marks.map(({ node }) => node));
    part("link-asks").replaceChildren(...lanes.flatMap((lane) => ask(model, lane, onAsk)));
    fade();
    markSelection();
  }

  function fade() {
    for (const { place, node } of marks) node.classList.toggle("ghost", !shown.has(place.row));
    if (!geometry) return;
    const lanes = [...geometry.lanes, ...geometry.empty];
    part("links-note").textContent = linkNote(model, lanes, shown);
  }

  /** @param {number | null | undefined} op */
  const placeOf = (op) => places().find(({ row }) => row.op === op) ?? null;
  const places = () => geometry?.lanes.flatMap((lane) => lane.places) ?? [];
  const markSelection = () => overlay.select(placeOf(store.get().op));

  trackPointer(root, {
    places: () => places().filter(({ row }) => shown.has(row)),
    onHover: (place, event) => onHover(place?.row ?? null, event),
    onClick: ({ row }, event) => onClick(row, event),
  });

  return {
    place,
    draw,
    /** @param {ReadonlySet<Row>} rows */
    show(rows) {
      shown = rows;
      fade();
      markSelection();
    },
    /** @param {Row | null} row */
    light: (row) => overlay.hover(placeOf(row?.op)),
  };
}

/** @param {LinkLane} lane @param {LinkPlace} place */
function markNode({ token }, { isOff, symbol, px, py, radius }) {
  const node = svg("path", {
    class: isOff ? "dot open" : "dot",
    d: shapePath(isOff ? "right" : symbol, radius),
    transform: `translate(${px.toFixed(1)} ${py.toFixed(1)})`,
  });
  node.style.setProperty(isOff ? "stroke" : "fill", `var(${token})`);
  return node;
}

/** @param {LinkLane[]} lanes @param {(share: number) => number} toX @param {number} width */
function axisNodes(lanes, toX, width) {
  const bottom = MARGIN.t + lanes.length * LANE;
  const ticks = TICKS.flatMap((share) => {
    const x = toX(share).toFixed(1);
    const text = `${share * 100}\u202f%`;
    return [
      svg("line", { class: "grid-line", x1: x, x2: x, y1: MARGIN.t, y2: bottom }),
      svg("text", { x, y: bottom + 16, "text-anchor": "middle" }, text),
    ];
  });
  return [...ticks, ...lanes.flatMap((lane, k) => laneNodes(lane, k, toX(1), width))];
}

/** @param {LinkLane} lane @param {number} k @param {number} peakX @param {number} width */
function laneNodes({ label, roof, token, top }, k, peakX, width) {
  const middle = top + LANE / 2;
  /** @type {SVGElement[]} */
  const nodes = [
    svg("text", { class: "lane-name", x: 12, y: middle - 2 }, label),
    svg("text", { x: 12, y: middle + 13 }, linkLaneText(roof)),
  ];
  if (k > 0) nodes.push(svg("line", { class: "grid-line", x1: 0, x2: width, y1: top, y2: top }));
  if (!roof) return nodes;
  const line = svg("line", {
    class: "roof-line",
    x1: peakX,
    x2: peakX,
    y1: top + 2,
    y2: top + LANE - 2,
  });
  line.style.setProperty("stroke", `var(${token})`);
  return [...nodes, line];
}

/**
 * Where no peak is known, the lane asks for it.
 * @param {Model} model
 * @param {LinkLane} lane
 * @param {(key: string) => void} onAsk
 */
function ask(model, { id, label, roof, rows, top }, onAsk) {
  if (roof) return [];
  const n = `${rows.length} ${rows.length === 1 ? "transfer" : "transfers"}`;
  const key = id ?? model.levels.find(({ is_link: isLink }) => isLink)?.id ?? "";
  const words =
    id === null
      ? "Which link joins the devices is not known."
      : `The peak of ${label} is not known.`;
  const title = `${n}. ${words}`;
  const on = { click: () => onAsk(key) };
  return [
    html(
      "p",
      { vars: { "--top": `${top}px` } },
      html("span", { class: "sr" }, `${n}. ${words} `),
      html("button", { class: "btn small", type: "button", title, on }, "Set the peak…"),
    ),
  ];
}
