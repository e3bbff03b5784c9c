// The pointer on a chart: the drawn place under it, clicks, and rectangles dragged over it.

import { nearest } from "./points.js";

/** @import { Rectangle } from "./op-geometry.js" */
/** @import { PixelPlace } from "./overlay.js" */

const CLICK_REACH = 4; // pixels a press may move and still be a click

/**
 * @template {PixelPlace} T
 * @typedef {object} PointerHandlers
 * @property {() => Iterable<T>} places
 * @property {(place: T | null, event: PointerEvent) => void} onHover
 * @property {(place: T, event: PointerEvent) => void} onClick
 */

/**
 * Finds the drawn place under the pointer, whatever library drew it.
 * @template {PixelPlace} T
 * @param {HTMLElement | SVGSVGElement} element
 * @param {PointerHandlers<T>} handlers
 */
export function trackPointer(element, { places, onHover, onClick }) {
  /** @param {PointerEvent} event */
  const at = (event) => {
    const frame = element.getBoundingClientRect();
    return nearest(places(), event.clientX - frame.left, event.clientY - frame.top);
  };
  trackHover(element, at, onHover);
  trackClicks(element, at, onClick);
}

/**
 * @template {PixelPlace} T
 * @param {HTMLElement | SVGSVGElement} element
 * @param {(event: PointerEvent) => T | null} at
 * @param {PointerHandlers<T>["onHover"]} onHover
 */
function trackHover(element, at, onHover) {
  /** @type {T | null} */
  let current = null;
  /** @param {T | null} place @param {PointerEvent} event */
  const hover = (place, event) => {
    if (place === null && current === null) return;
    current = place;
    element.classList.toggle("pointing", place !== null);
    onHover(place, event);
  };
  /** @param {PointerEvent} event */
  const move = (event) => {
    if (event.buttons === 0) hover(at(event), event);
  };
  /** @param {PointerEvent} event */
  const leave = (event) => hover(null, event);
  listen(element, "pointermove", move);
  listen(element, "pointerleave", leave);
}

/**
 * @template {PixelPlace} T
 * @param {HTMLElement | SVGSVGElement} element
 * @param {(event: PointerEvent) => T | null} at
 * @param {PointerHandlers<T>["onClick"]} onClick
 */
function trackClicks(element, at, onClick) {
  /** @type {{ x: number, y: number, place: T | null } | null} */
  let pressed = null;
  /** @param {PointerEvent} event */
  const press = (event) => {
    pressed = event.button === 0 ? { x: event.clientX, y: event.clientY, place: at(event) } : null;
  };
  /** @param {PointerEvent} event */
  const release = (event) => {
    const start = pressed;
    pressed = null;
    if (!start?.place) return;
    const moved = Math.hypot(event.clientX - start.x, event.clientY - start.y);
    if (moved <= CLICK_REACH) onClick(start.place, event);
  };
  listen(element, "pointerdown", press, { capture: true });
  // While a button is down the drag layer of the chart library covers the page: listen above it.
  window.addEventListener("pointerup", release, { capture: true });
}

/**
 * HTML and SVG elements have the same pointer events, but no common type that says so.
 * @param {HTMLElement | SVGSVGElement} element
 * @param {"pointermove" | "pointerleave" | "pointerdown"} type
 * @param {(event: PointerEvent) => void} listener
 * @param {AddEventListenerOptions} [options]
 */
function listen(element, type, listener, options) {
  if (element instanceof HTMLElement) element.addEventListener(type, listener, options);
  else element.addEventListener(type, listener, options);
}

/**
 * Dragging a rectangle over a chart.
 * @param {HTMLElement} element
 * @param {object} handlers
 * @param {() => boolean} handlers.enabled
 * @param {(rectangle: Rectangle) => void} handlers.onDrag
 * @param {(rectangle: Rectangle | null) => void} handlers.onEnd null: a mere click
 */
export function trackRectangle(element, { enabled, onDrag, onEnd }) {
  /** @type {{ x: number, y: number } | null} */
  let start = null;
  /** @param {Rectangle | null} drawn */
  const end = (drawn) => {
    start = null;
    const isDrawn = drawn && (drawn.width > CLICK_REACH || drawn.height > CLICK_REACH);
    onEnd(isDrawn ? drawn : null);
  };
  element.addEventListener(
    "pointerdown",
    (event) => {
      if (!enabled() || event.button !== 0) return;
      start = pointIn(element, event);
      event.preventDefault();
    },
    { capture: true },
  );
  window.addEventListener("pointermove", (event) => {
    if (start) onDrag(rectangleBetween(start, pointIn(element, event)));
  });
  window.addEventListener("pointerup", (event) => {
    if (start) end(rectangleBetween(start, pointIn(element, event)));
  });
  window.addEventListener("pointercancel", () => {
    if (start) end(null);
  });
}

const LARGEST_TURN = 50; // of one event: a mouse's wheel says 100 or more, two fingers a few pixels

/**
 * The wheel with Ctrl, which is also what two fingers on a touchpad are; without Ctrl the page scrolls.
 * @param {HTMLElement} element
 * @param {(factor: number, at: { x: number, y: number }) => void} onZoom factor below 1 zooms in
 */
export function trackWheel(element, onZoom) {
  element.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const turn = Math.max(-LARGEST_TURN, Math.min(LARGEST_TURN, event.deltaY));
      onZoom(Math.exp(turn / 100), pointIn(element, event));
    },
    { passive: false },
  );
}

/**
 * Where an event happened in pixels of an element, kept inside it.
 * @param {HTMLElement} element
 * @param {MouseEvent} event
 */
function pointIn(element, event) {
  const frame = element.getBoundingClientRect();
  return {
    x: Math.min(frame.width, Math.max(0, event.clientX - frame.left)),
    y: Math.min(frame.height, Math.max(0, event.clientY - frame.top)),
  };
}

/** @param {{ x: number, y: number }} a @param {{ x: number, y: number }} b @returns {Rectangle} */
const rectangleBetween = (a, b) => ({
  x: Math.min(a.x, b.x),
  y: Math.min(a.y, b.y),
  width: Math.abs(b.x - a.x),
  height: Math.abs(b.y - a.y),
});
