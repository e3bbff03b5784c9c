// The pointer on a chart that Plotly has drawn: the mark under it, clicks, the wheel, and rectangles dragged over it.

import { areaOf } from "./marks.js";

/** @import { PlotElement, PlotEvent } from "../types/plotly.js" */
/** @import { Box } from "../types/view-state.js" */

/**
 * @typedef {object} Pointed what the pointer is on
 * @property {string} role of its trace: "marks", "ridges", "program"
 * @property {number | string | null} row `customdata`
 * @property {number} x
 * @property {number} y values of the axes
 *
 * @typedef {{ x: number, y: number, width: number, height: number }} Rectangle pixels of the chart
 */

const CLICK_REACH = 4; // pixels a press may move and still be a click
const LARGEST_TURN = 50; // of one event: a mouse's wheel says 100 or more, two fingers a few pixels

/**
 * Tells of marks that are pointed at and clicked; those for which `isShown` is false are not there.
 * @param {HTMLElement} box
 * @param {PlotElement} plot the same element, drawn
 * @param {object} handlers
 * @param {(pointed: Pointed) => boolean} handlers.isShown
 * @param {(pointed: Pointed | null, event: PointerEvent) => void} handlers.onHover
 * @param {(pointed: Pointed, event: PointerEvent) => void} handlers.onClick
 */
export function trackMarks(box, plot, { isShown, onHover, onClick }) {
  /** @type {Pointed | null} */
  let current = null;
  /** @param {Pointed | null} pointed @param {PointerEvent} event */
  const hover = (pointed, event) => {
    if (pointed === null && current === null) return;
    current = pointed;
    box.classList.toggle("pointing", pointed !== null);
    onHover(pointed, event);
  };
  plot.on("plotly_hover", ({ points, event }) => hover(firstShown(points, isShown), event));
  plot.on("plotly_unhover", ({ event }) => hover(null, event));
  plot.on("plotly_click", ({ points, event }) => {
    const pointed = firstShown(points, isShown);
    if (pointed && event.button === 0) onClick(pointed, event);
  });
  box.addEventListener("pointerleave", (event) => hover(null, event));
}

/** @param {PlotEvent["points"]} points @param {(pointed: Pointed) => boolean} isShown */
function firstShown(points, isShown) {
  for (const { data, customdata, x, y } of points) {
    const pointed = { role: data.meta.role, row: customdata ?? null, x, y };
    if (isShown(pointed)) return pointed;
  }
  return null;
}

/**
 * The wheel with Ctrl, which is also what two fingers on a touchpad are; without Ctrl the page scrolls.
 * @param {HTMLElement} box
 * @param {(factor: number, at: { x: number, y: number }) => void} onZoom factor below 1 zooms in; place in shares of the plot
 */
export function trackWheel(box, onZoom) {
  box.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const turn = Math.max(-LARGEST_TURN, Math.min(LARGEST_TURN, event.deltaY));
      const area = areaOf(box);
      const { x, y } = pointIn(box, event);
      onZoom(Math.exp(turn / 100), {
        x: (x - area.x) / area.width,
        y: 1 - (y - area.y) / area.height,
      });
    },
    { passive: false, capture: true },
  );
}

/**
 * Dragging a rectangle over a chart.
 * @param {HTMLElement} box
 * @param {object} handlers
 * @param {() => boolean} handlers.enabled
 * @param {(rectangle: Rectangle) => void} handlers.onDrag
 * @param {(rectangle: Rectangle | null) => void} handlers.onEnd null: a mere click
 */
export function trackRectangle(box, { enabled, onDrag, onEnd }) {
  /** @type {{ x: number, y: number } | null} */
  let start = null;
  /** @param {Rectangle | null} drawn */
  const end = (drawn) => {
    start = null;
    const isDrawn = drawn && (drawn.width > CLICK_REACH || drawn.height > CLICK_REACH);
    onEnd(isDrawn ? drawn : null);
  };
  box.addEventListener(
    "pointerdown",
    (event) => {
      if (!enabled() || event.button !== 0) return;
      start = pointIn(box, event);
      event.preventDefault();
    },
    { capture: true },
  );
  window.addEventListener("pointermove", (event) => {
    if (start) onDrag(rectangleBetween(start, pointIn(box, event)));
  });
  window.addEventListener("pointerup", (event) => {
    if (start) end(rectangleBetween(start, pointIn(box, event)));
  });
  window.addEventListener("pointercancel", () => {
    if (start) end(null);
  });
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

/** @typedef {{ x: number, y: number, width: number, height: number }} Area of the plot, in pixels of the chart */

/**
 * A rectangle's part of the axes.
 * @param {Rectangle} rectangle
 * @param {Area} area
 * @param {Box} shown ranges of the axes
 * @returns {Box}
 */
export function boxOf({ x, y, width, height }, area, [x0, x1, y0, y1]) {
  /** @param {number} px */
  const across = (px) => x0 + ((px - area.x) / area.width) * (x1 - x0);
  /** @param {number} py */
  const up = (py) => y1 - ((py - area.y) / area.height) * (y1 - y0);
  return [across(x), across(x + width), up(y + height), up(y)];
}

/**
 * The rectangle of a part of the axes, cut at the plot.
 * @param {Box} box
 * @param {Area} area
 * @param {Box} shown ranges of the axes
 * @returns {Rectangle}
 */
export function rectangleOf(box, area, [x0, x1, y0, y1]) {
  /** @param {number} share */
  const cut = (share) => Math.min(1, Math.max(0, share));
  const [left, right] = [box[0], box[1]].map((x) => cut((x - x0) / (x1 - x0)));
  const [bottom, top] = [box[2], box[3]].map((y) => cut((y - y0) / (y1 - y0)));
  return {
    x: area.x + left * area.width,
    y: area.y + (1 - top) * area.height,
    width: (right - left) * area.width,
    height: (top - bottom) * area.height,
  };
}

/**
 * Ranges that show more or less around a place.
 * @param {Box} shown
 * @param {number} factor below 1 zooms in
 * @param {{ x: number, y: number }} at shares of the plot that stay where they are
 * @returns {Box}
 */
export function zoomedBy([x0, x1, y0, y1], factor, at = { x: 0.5, y: 0.5 }) {
  const [x, y] = [x0 + at.x * (x1 - x0), y0 + at.y * (y1 - y0)];
  return [
    x - (x - x0) * factor,
    x + (x1 - x) * factor,
    y - (y - y0) * factor,
    y + (y1 - y) * factor,
  ];
}

/**
 * @param {Box} shown
 * @param {number} right part of the width
 * @param {number} up part of the height
 * @returns {Box}
 */
export function pannedBy([x0, x1, y0, y1], right, up) {
  const [x, y] = [right * (x1 - x0), up * (y1 - y0)];
  return [x0 + x, x1 + x, y0 + y, y1 + y];
}
