// Marks over a chart that need no new drawing: rings, the gap to the roof, the selection rectangle.

import { svg } from "../ui/dom.js";
import { lineBetween } from "./landing-places.js";

/** @import { Move } from "./landing-places.js" */
/** @import { Rectangle } from "./op-geometry.js" */
/** @import { Ceiling, OwnCeilings } from "./own-ceilings.js" */
/** @import { PointLabel } from "./point-labels.js" */

/** @typedef {{ px: number, py: number, radius: number }} PixelPlace in pixels of the chart */

const RING = 4.5; // pixels between a mark and its ring
const LEAST_GAP = 6; // pixels beyond the ring that are worth a line

/** @param {PixelPlace | null} place */
const ring = (place) => (place ? { cx: place.px, cy: place.py, r: place.radius + RING } : null);

/** @param {SVGElement} shape @param {Record<string, number> | null} attributes null: hidden */
function show(shape, attributes) {
  shape.style.display = attributes ? "" : "none";
  for (const [name, value] of Object.entries(attributes ?? {}))
    shape.setAttribute(name, String(value));
}

/**
 * @param {PixelPlace | null} place
 * @param {number | null} roofY
 */
function gapLine(place, roofY) {
  if (place === null || roofY === null) return null;
  const distance = roofY - place.py;
  if (Math.abs(distance) <= place.radius + LEAST_GAP) return null;
  const y1 = place.py + Math.sign(distance) * (place.radius + RING);
  return { x1: place.px, x2: place.px, y1, y2: roofY };
}

/** @typedef {{ text: string, label: PointLabel, isStrong: boolean, token: string | null }} Named */

/** @param {Named} named */
function nameNodes({ text, label: { x, y, leader }, isStrong, token }) {
  const name = svg("text", { x, y, class: isStrong ? "strong" : null }, text);
  if (token) name.style.fill = `var(${token})`;
  if (!leader) return [name];
  const [x1, y1, x2, y2] = leader;
  return [svg("line", { class: "leader", x1, y1, x2, y2 }), name];
}

/** @param {OwnCeilings} own */
function ownNodes({ ceilings, dots, frame: [left, top, right, bottom] }) {
  const frame = { x: left, y: top, width: right - left, height: bottom - top };
  const clip = svg("clipPath", { id: "own-ceilings" }, svg("rect", frame));
  const lines = ceilings.map(({ line: [x1, y1, x2, y2], token, dash }) =>
    coloured(svg("line", { class: `ceiling ${dash}`, x1, y1, x2, y2 }), token),
  );
  return [
    svg("defs", {}, clip),
    svg("g", { "clip-path": "url(#own-ceilings)" }, ...lines, ...dots.flatMap(dotNodes)),
    ...ceilings.flatMap(({ labels, token }) => labels.map((label) => labelNode(label, token))),
  ];
}

/** @param {OwnCeilings["dots"][number]} dot */
const dotNodes = ({ px, py, roofY, token }) => [
  coloured(svg("line", { class: "drop", x1: px, x2: px, y1: py, y2: roofY }), token),
  coloured(svg("circle", { class: "clock", cx: px, cy: py, r: 4 }), token),
];

/** @param {Ceiling["labels"][number]} label @param {string} token */
function labelNode({ text, x, y, angle, anchor }, token) {
  const transform = `translate(${x.toFixed(1)},${(y + 4).toFixed(1)}) rotate(${angle.toFixed(2)},0,-4)`;
  return coloured(svg("text", { transform, "text-anchor": anchor }, text), token);
}

/** @template {SVGElement} Node @param {Node} node @param {string} token */
function coloured(node, token) {
  node.style.setProperty("--token", `var(${token})`);
  return node;
}

/** @param {Move} move */
function landingNodes({ from, to }) {
  const line = lineBetween(from, to);
  const mark = svg("circle", { class: "landing", cx: to.px, cy: to.py, r: to.radius });
  if (!line) return [mark];
  const [x1, y1, x2, y2] = line;
  return [svg("line", { class: "landing", x1, y1, x2, y2 }), mark];
}

/** @typedef {{ place: PixelPlace, number: number }} PinPlace */

/** A drop with its number; its tip is on the mark. @param {PinPlace} pin */
function pinNodes({ place: { px, py, radius }, number }) {
  const tip = py - radius - 1;
  const path = `M${px},${tip} l-4.5,-6 a8,8 0 1 1 9,0 z`;
  return [
    svg("path", { class: "pin", d: path }),
    svg("text", { class: "pin", x: px, y: tip - 9, "text-anchor": "middle" }, String(number)),
  ];
}

/** @param {HTMLElement} box the positioned parent of the chart */
export function createOverlay(box) {
  const hovered = svg("circle", { class: "ring hovered" });
  const selected = svg("circle", { class: "ring selected" });
  const gap = svg("line", { class: "gap" });
  const area = svg("rect", { class: "selection" });
  const shapes = [area, gap, selected, hovered];
  const names = svg("g", { class: "op-labels" });
  const landings = svg("g", { class: "landings" });
  const own = svg("g", { class: "own-ceilings" });
  const picked = svg("g", { class: "picked-ops" });
  const pinned = svg("g", { class: "pinned-points" });
  box.append(
    svg(
      "svg",
      { class: "overlay", "aria-hidden": "true" },
      landings,
      own,
      picked,
      pinned,
      ...shapes,
      names,
    ),
  );
  for (const shape of shapes) show(shape, null);
  return {
    /** @param {PixelPlace | null} place */
    hover: (place) => show(hovered, ring(place)),
    /**
     * @param {PixelPlace | null} place
     * @param {number | null} [roofY] pixel height of the roof above the point
     */
    select(place, roofY = null) {
      show(selected, ring(place));
      show(gap, gapLine(place, roofY));
    },
    /** @param {OwnCeilings | null} ceilings of the selected op */
    own: (ceilings) => own.replaceChildren(...(ceilings ? ownNodes(ceilings) : [])),
    /** While the chart is dragged names would stand elsewhere. @param {boolean} isMoving */
    moving(isMoving) {
      for (const layer of [names, own, picked, pinned, landings])
        layer.classList.toggle("moving", isMoving);
    },
    /** Rings around several operations. @param {readonly PixelPlace[]} places */
    pick: (places) =>
      picked.replaceChildren(
        ...places.map((place) => svg("circle", { class: "picked", ...ring(place) })),
      ),
    /** The numbers of pins, above their points. @param {readonly PinPlace[]} pins */
    pins: (pins) => pinned.replaceChildren(...pins.flatMap(pinNodes)),
    /** Hollow marks where points would land, and lines to them. @param {readonly Move[]} moves */
    land: (moves) => landings.replaceChildren(...moves.flatMap(landingNodes)),
    /** @param {readonly Named[]} labels */
    name: (labels) => names.replaceChildren(...labels.flatMap(nameNodes)),
    /** @param {Rectangle | null} rectangle */
    area: (rectangle) => show(area, rectangle && { ...rectangle }),
  };
}
