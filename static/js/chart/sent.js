// A figure that came with its page, drawn into its box, and again in another size or in other colours.

import { onThemeChange } from "../ui/theme.js";
import { trackMarks } from "./card.js";
import { Mount } from "./mount.js";

/** @import { Pointed } from "./card.js" */
/** @import { ChartFigure } from "../types/figure.js" */

/**
 * @param {HTMLElement} box
 * @param {object} [options]
 * @param {(pointed: Pointed | null, event: PointerEvent) => void} [options.onHover] a mark
 * @param {(pointed: Pointed, event: PointerEvent) => void} [options.onClick] a mark
 * @param {() => void} [options.onDrawn]
 */
export function createChart(box, { onHover = () => {}, onClick, onDrawn = () => {} } = {}) {
  const mount = new Mount(box, {
    onDrawn,
    wire: (plot) =>
      trackMarks(box, plot, {
        isShown: ({ role }) => role === "marks" && onClick !== undefined,
        onHover,
        onClick: (pointed, event) => onClick?.(pointed, event),
      }),
  });
  let frame = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => mount.redraw());
  }).observe(box);
  onThemeChange(() => mount.redraw());
  return {
    /** @param {ChartFigure} figure */
    show: (figure) => mount.show(figure),
  };
}

/** The figure in the data of a box. @param {HTMLElement} box @returns {ChartFigure} */
export const sentFigure = (box) => JSON.parse(box.dataset.figure ?? "{}");
