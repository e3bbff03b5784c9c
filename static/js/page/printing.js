// Printing the page as it is on the screen: charts have fixed sizes, so the layout is frozen and scaled to the paper.

import { find } from "../ui/dom.js";

const PAPER_WIDTH = 1040; // CSS pixels of a landscape A4 page between its margins

/**
 * @returns {Record<string, string>} custom properties that the layout follows, at their present values
 */
function frozenLayout() {
  /** @param {string} selector */
  const box = (selector) => find(HTMLElement, selector).getBoundingClientRect();
  const { width } = box("#main");
  return {
    "--rail": `${box(".rail").width}px`,
    "--side": `${box(".side").width}px`,
    "--chart": `${box(".plot-ops").height}px`,
    "--print-width": `${width}px`,
    "--print-zoom": String(Math.min(1, PAPER_WIDTH / width)),
  };
}

export function wirePrinting() {
  const style = document.body.style;
  /** @type {string[]} */
  let names = [];
  addEventListener("beforeprint", () => {
    const layout = frozenLayout();
    names = Object.keys(layout);
    for (const name of names) style.setProperty(name, layout[name]);
  });
  addEventListener("afterprint", () => {
    for (const name of names) style.removeProperty(name);
  });
}
