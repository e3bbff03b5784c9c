// Printing: the page takes the layout of paper, which does not depend on the window, and shows every table.

import { findAll } from "../ui/dom.js";

const PAGE_WIDTH = 1256; // CSS pixels of the page on paper, before it is scaled to its size: page.css
const LARGEST_TABLE = 0.67; // of the size on the screen

/** Shows the tables that have rows, each so small that its last column fits. */
function fitTables() {
  for (const table of findAll(HTMLTableElement, ".grid")) {
    const panel = table.closest("[role=tabpanel]");
    const isEmpty = table.hidden || table.tBodies[0].rows.length === 0;
    if (panel instanceof HTMLElement) panel.hidden = isEmpty;
    const zoom = Math.min(LARGEST_TABLE, PAGE_WIDTH / Math.max(1, table.offsetWidth));
    table.style.setProperty("--grid-zoom", zoom.toFixed(3));
  }
}

/**
 * @param {object} page
 * @param {() => void} page.redraw draws the charts in the size that they have now
 * @param {() => void} page.showTab hides all tables but the chosen one again
 */
export function wirePrinting({ redraw, showTab }) {
  // On paper the page is shorter, which would move a window that stands near its end.
  let place = 0;
  addEventListener("beforeprint", () => {
    place = scrollY;
    document.body.classList.add("printing");
    fitTables();
    redraw();
  });
  addEventListener("afterprint", () => {
    document.body.classList.remove("printing");
    showTab();
    redraw();
    scrollTo(scrollX, place);
  });
}
