// Why the time changed: a waterfall of terms from A to B. A row filters chart and table.

import { waterfall } from "../chart/waterfall-places.js";
import { TERM_HINTS, TERM_NAMES } from "../text/compare-words.js";
import { html, part, svg } from "../ui/dom.js";

/** @import { Comparison } from "../types/comparison.js" */
/** @import { TimeScale } from "../text/compare-words.js" */

const HEIGHT = 30;
/** Terms that ops cannot explain: nothing is left to filter. */
const OF_NO_OP = new Set(["idle", "communication", "transfers"]);

/**
 * @param {object} options
 * @param {Comparison} options.found
 * @param {TimeScale} options.scale
 * @param {number} options.least us; smaller terms have no bar
 * @param {(term: string) => void} options.onTerm
 */
export function createWhy({ found, scale, least, onTerm }) {
  const list = part("waterfall");
  const drawn = waterfall(found.terms, found.a_us, Math.max(least, scale.least));
  /** @type {Map<string, HTMLElement>} */
  const buttons = new Map();
  const steps = drawn.bars.map(({ id, us, left, width, end }) => {
    const direction = us < 0 ? "less" : "more";
    const kind = id === "unknown" ? `${direction} unexplained` : direction;
    const lane = laneNode([bar(kind, left, width), carry(end)]);
    const name = html(
      "span",
      { class: "t" },
      TERM_NAMES[id] ?? id,
      html("small", {}, TERM_HINTS[id] ?? ""),
    );
    const value = html("span", { class: `v ${us < 0 ? "good" : "bad"}` }, scale.change(us));
    if (OF_NO_OP.has(id)) return html("li", {}, html("div", { class: "step" }, name, lane, value));
    const on = { click: () => onTerm(id) };
    const button = html(
      "button",
      { class: "step", type: "button", "aria-pressed": "false", on },
      name,
      lane,
      value,
    );
    buttons.set(id, button);
    return html("li", {}, button);
  });
  list.replaceChildren(
    endNode("A", found.a_us, drawn.a, drawn.isCut, scale),
    ...steps,
    endNode("B", found.b_us, drawn.b, drawn.isCut, scale),
    html("li", { class: "quiet" }, footWords(drawn.zero, drawn.isCut, scale)),
  );
  return {
    /** @param {string | null} term */
    show(term) {
      for (const [id, button] of buttons) button.setAttribute("aria-pressed", String(id === term));
    },
  };
}

/** @param {string[]} zero @param {boolean} isCut @param {TimeScale} scale */
function footWords(zero, isCut, scale) {
  const names = zero.map((id) => (TERM_NAMES[id] ?? id).toLowerCase()).join(", ");
  return `${zero.length > 0 ? `About 0: ${names}. ` : ""}In ${scale.unit}${isCut ? "; the axis is cut" : ""}.`;
}

/** @param {string} letter @param {number} us @param {number} length percent @param {boolean} isCut @param {TimeScale} scale */
function endNode(letter, us, length, isCut, scale) {
  const nodes = [bar("whole", 0, length), carry(length), ...(isCut ? [cut()] : [])];
  const value = html("span", { class: "v" }, scale.text(us));
  return html(
    "li",
    {},
    html(
      "div",
      { class: "step end" },
      html("span", { class: "t" }, letter),
      laneNode(nodes),
      value,
    ),
  );
}

/** @param {SVGElement[]} nodes */
function laneNode(nodes) {
  const attributes = {
    class: "lane",
    viewBox: `0 0 100 ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  return svg("svg", attributes, ...nodes);
}

/** @param {string} kind @param {number} x @param {number} width */
const bar = (kind, x, width) => svg("rect", { class: kind, x, y: 8, width, height: 14 });

/** From this bar to the next. @param {number} x */
const carry = (x) => svg("line", { class: "carry", x1: x, x2: x, y1: 22, y2: HEIGHT + 8 });

const cut = () => svg("path", { class: "cut", d: "M7 4 5 26h3.500L10.500 4z" });
