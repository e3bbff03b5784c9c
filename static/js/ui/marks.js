// Small pictures beside words: the marks of categories and steps, the glyphs of bounds.

import { html, svg } from "./dom.js";
import { shownCategory } from "../text/words.js";

/** @import { Bound, Category } from "../types/page-data.js" */

const CIRCLE = "M6 1.4a4.6 4.6 0 1 0 0 9.2 4.6 4.6 0 0 0 0-9.2z";
/** @type {Record<string, string>} */
const MARKS = {
  square: "M1.8 1.8h8.4v8.4H1.8z",
  "triangle-up": "M6 1 11.2 10.4H.8z",
  diamond: "M6 .4 11.6 6 6 11.6.4 6z",
  star: "M6 .3 7.5 4.3l4.2.2-3.3 2.7 1.1 4.1L6 9 2.5 11.3l1.1-4.1L.3 4.5l4.2-.2z",
  "star-open": "M6 1.4 7.1 4.9l3.6.1-2.9 2.2 1 3.4L6 8.5l-2.8 2.1 1-3.4L1.300 5l3.6-.1z",
};

/**
 * The mark of a category or step, as drawn on the chart.
 * @param {string} symbol
 * @param {string} fill a CSS colour
 */
export function mark(symbol, fill) {
  const path = svg("path", { d: MARKS[symbol] ?? CIRCLE });
  const open = symbol.endsWith("-open");
  path.style.setProperty("fill", open ? "none" : fill);
  if (open) path.style.setProperty("stroke", fill);
  return svg("svg", { class: "mark", viewBox: "0 0 12 12", "aria-hidden": "true" }, path);
}

const GLYPHS = { flat: "M1 5h12", slanted: "M1 9 13 1", none: "M1 5h12", link: "M1 5h12" };

/** Flat, slanted or dashed: what bounds an op, without relying on colour. @param {Pick<Bound, "kind" | "token" | "dash">} bound */
export function boundGlyph({ kind, token, dash }) {
  const path = svg("path", { d: GLYPHS[kind] });
  path.style.setProperty("stroke", `var(${token})`);
  const glyph = svg("svg", { class: "glyph", viewBox: "0 0 14 10", "aria-hidden": "true" }, path);
  if (kind === "none" || kind === "link" || dash === "dot") glyph.classList.add("dotted");
  else if (dash !== "solid") glyph.classList.add("dashed");
  return glyph;
}

/** Glyph and word together. @param {Bound} bound @param {string} [word] */
export function boundBadge(bound, word = bound.label) {
  return html("span", { class: "badge" }, boundGlyph(bound), word);
}

/** Mark and word together. @param {Category} category */
export function categoryBadge(category) {
  return html(
    "span",
    { class: "badge" },
    mark(category.symbol, `var(${category.token})`),
    shownCategory(category.name),
  );
}
