// The pointer on a drawing of ours: the drawn place under it, and clicks.

import { nearest } from "./points.js";

/** @import { PixelPlace } from "./marks.js" */

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
