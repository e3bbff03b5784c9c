// The server's drawing of a chart, which stands until the chart itself has been drawn.

/** @param {"ops" | "program" | "links" | "no-flops"} name */
export function dropFirstFigure(name) {
  document.querySelector(`[data-figure="${name}"]`)?.remove();
}
