// Marks over a chart that need no new drawing: rings, numbers of pins, the selection rectangle.

import { svg } from "../ui/dom.js";

/** @import { Rectangle } from "./card.js" */
/** @import { PixelPlace } from "./marks.js" */

const RING = 4.5; // pixels between a mark and its ring

/** @param {PixelPlace | null} place */
const ring = (place) => (place ? { cx: place.px, cy: place.py, r: place.radius + RING } : null);

/** @param {SVGElement} shape @param {Record<string, number> | null} attributes null: hidden */
function show(shape, attributes) {
  shape.style.display = attributes ? "" : "none";
  for (const [name, value] of Object.entries(attributes ?? {}))
    shape.setAttribute(name, String(value));
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
  const area = svg("rect", { class: "selection" });
  const pinned = svg("g", { class: "pinned-points" });
  const layers = svg(
    "svg",
    { class: "overlay", "aria-hidden": "true" },
    pinned,
    area,
    selected,
    hovered,
  );
  box.append(layers);
  for (const shape of [area, selected, hovered]) show(shape, null);
  return {
    /** @param {PixelPlace | null} place */
    hover: (place) => show(hovered, ring(place)),
    /** @param {PixelPlace | null} place */
    select: (place) => show(selected, ring(place)),
    /** While the chart is dragged these would stand elsewhere. @param {boolean} isMoving */
    moving: (isMoving) => layers.classList.toggle("moving", isMoving),
    /** The numbers of pins, above their points. @param {readonly PinPlace[]} pins */
    pins: (pins) => pinned.replaceChildren(...pins.flatMap(pinNodes)),
    /** @param {Rectangle | null} rectangle */
    area: (rectangle) => show(area, rectangle && { ...rectangle }),
  };
}
