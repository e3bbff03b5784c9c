// What lies over a chart without redrawing it: rings, the gap to the roof, the selection rectangle, the pointer.

import { svg } from "../ui/dom.js";
import { nearest } from "./points.js";

const CLICK_REACH = 4; // pixels a press may move and still be a click

/**
 * @typedef {{ px: number, py: number, radius: number }} Place in pixels of the chart
 */

/**
 * @param {HTMLElement} box the positioned parent of the chart
 */
export function createOverlay(box) {
  const hovered = svg("circle", { class: "ring hovered" });
  const selected = svg("circle", { class: "ring selected" });
  const gap = svg("line", { class: "gap" });
  const area = svg("rect", { class: "selection" });
  const layer = svg(
    "svg",
    { class: "overlay", "aria-hidden": "true" },
    area,
    gap,
    selected,
    hovered,
  );
  box.append(layer);
  for (const shape of [hovered, selected, gap, area]) shape.style.display = "none";

  const show = (shape, attributes) => {
    shape.style.display = attributes ? "" : "none";
    for (const [name, value] of Object.entries(attributes ?? {}))
      shape.setAttribute(name, String(value));
  };
  const ring = (place) => (place ? { cx: place.px, cy: place.py, r: place.radius + 4.5 } : null);
  return {
    layer,
    /** @param {Place | null} place */
    hover: (place) => show(hovered, ring(place)),
    /**
     * @param {Place | null} place
     * @param {number | null} [roofY] pixel height of the roof above the point
     */
    select(place, roofY = null) {
      show(selected, ring(place));
      const visible =
        place !== null && roofY !== null && Math.abs(roofY - place.py) > place.radius + 6;
      show(
        gap,
        visible
          ? {
              x1: place.px,
              x2: place.px,
              y1: place.py + Math.sign(roofY - place.py) * (place.radius + 4.5),
              y2: roofY,
            }
          : null,
      );
    },
    /** @param {{ x: number, y: number, width: number, height: number } | null} rectangle */
    area: (rectangle) => show(area, rectangle),
  };
}

/**
 * Finds the drawn place under the pointer, whatever library drew it.
 * @template {Place} T
 * @param {HTMLElement | SVGElement} element
 * @param {object} handlers
 * @param {() => Iterable<T>} handlers.places
 * @param {(place: T | null, event: PointerEvent) => void} handlers.onHover
 * @param {(place: T) => void} handlers.onClick
 */
export function trackPointer(element, { places, onHover, onClick }) {
  let current = null;
  let pressed = null;
  const at = (event) => {
    const frame = element.getBoundingClientRect();
    return nearest(places(), event.clientX - frame.left, event.clientY - frame.top);
  };
  const hover = (place, event) => {
    current = place;
    element.classList.toggle("pointing", place !== null);
    onHover(place, event);
  };
  element.addEventListener("pointermove", (event) => {
    if (event.buttons !== 0) return;
    const place = at(event);
    if (place !== null || current !== null) hover(place, event);
  });
  element.addEventListener("pointerleave", (event) => {
    if (current !== null) hover(null, event);
  });
  element.addEventListener(
    "pointerdown",
    (event) => {
      pressed =
        event.button === 0 ? { x: event.clientX, y: event.clientY, place: at(event) } : null;
    },
    { capture: true },
  );
  // While a button is down the drag layer of the chart library covers the page: listen above it.
  window.addEventListener(
    "pointerup",
    (event) => {
      const start = pressed;
      pressed = null;
      if (
        start?.place &&
        Math.hypot(event.clientX - start.x, event.clientY - start.y) <= CLICK_REACH
      )
        onClick(start.place);
    },
    { capture: true },
  );
}

/**
 * Dragging a rectangle over a chart.
 * @param {HTMLElement} element
 * @param {object} handlers
 * @param {() => boolean} handlers.enabled
 * @param {(rectangle: { x: number, y: number, width: number, height: number }) => void} handlers.onDrag
 * @param {(rectangle: { x: number, y: number, width: number, height: number } | null) => void} handlers.onEnd null: a mere click
 */
export function trackRectangle(element, { enabled, onDrag, onEnd }) {
  let start = null;
  const point = (event) => {
    const frame = element.getBoundingClientRect();
    return {
      x: Math.min(frame.width, Math.max(0, event.clientX - frame.left)),
      y: Math.min(frame.height, Math.max(0, event.clientY - frame.top)),
    };
  };
  const rectangle = (event) => {
    const end = point(event);
    return {
      x: Math.min(start.x, end.x),
      y: Math.min(start.y, end.y),
      width: Math.abs(end.x - start.x),
      height: Math.abs(end.y - start.y),
    };
  };
  element.addEventListener(
    "pointerdown",
    (event) => {
      if (!enabled() || event.button !== 0) return;
      start = point(event);
      event.preventDefault();
    },
    { capture: true },
  );
  window.addEventListener("pointermove", (event) => {
    if (start) onDrag(rectangle(event));
  });
  window.addEventListener("pointerup", (event) => {
    if (!start) return;
    const drawn = rectangle(event);
    start = null;
    onEnd(drawn.width > CLICK_REACH || drawn.height > CLICK_REACH ? drawn : null);
  });
  window.addEventListener("pointercancel", () => {
    if (!start) return;
    start = null;
    onEnd(null);
  });
}
