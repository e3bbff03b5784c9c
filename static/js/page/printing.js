// Printing: the page takes the layout of paper, which does not depend on the window, and shows every table.

import { findAll } from "../ui/dom.js";

const PAGE_WIDTH = 1256; // CSS pixels of the page on paper, before it is scaled to its size: page.css
const LARGEST_TABLE = 0.67; // of the size on the screen

/** Makes each table so small that its last column fits. */
function fitTables() {
  for (const table of findAll(HTMLTableElement, ".grid")) {
    const zoom = Math.min(LARGEST_TABLE, PAGE_WIDTH / Math.max(1, table.offsetWidth));
    table.style.setProperty("--grid-zoom", zoom.toFixed(3));
  }
}

/**
 * @param {object} page
 * @param {() => void} page.redraw draws the charts in the size that they have now
 * @param {{ print: (isPaper: boolean) => void }} page.folds
 */
export function wirePrinting({ redraw, folds }) {
  // On paper the page is shorter, which would move a window that stands near its end.
  let place = 0;
  addEventListener("beforeprint", () => {
    place = scrollY;
    document.body.classList.add("printing");
    folds.print(true);
    fitTables();
    redraw();
  });
  addEventListener("afterprint", () => {
    document.body.classList.remove("printing");
    folds.print(false);
    redraw();
    scrollTo(scrollX, place);
  });
}
