// The server's drawing of a chart, which stands until the chart itself has been drawn.

/**
 * Where the server drew the points of operations, emptied for those that can be worked with; null once it is gone.
 * @returns {Element | null}
 */
export function firstPoints() {
  const marks = document.querySelector('[data-figure="ops"] .op-points');
  marks?.replaceChildren();
  return marks;
}

/** @param {"ops" | "program" | "links" | "no-flops"} name */
export function dropFirstFigure(name) {
  document.querySelector(`[data-figure="${name}"]`)?.remove();
}
