// Where the time changed, by category, and how sure the pairs are, by tier of matching.

import { percent } from "../text/format.js";
import { html, part, svg } from "../ui/dom.js";
import { mark } from "../ui/marks.js";

/** @import { Comparison } from "../types/comparison.js" */
/** @import { TimeScale } from "../text/compare-words.js" */

const MOST = 12;

/**
 * A bar to the left or right of a middle line.
 * @param {number} us
 * @param {number} largest
 */
export function deltaBar(us, largest) {
  const length = largest > 0 ? Math.max(1, (Math.abs(us) / largest) * 49) : 0;
  const attributes = {
    class: "delta",
    viewBox: "0 0 100 12",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  const x = us < 0 ? 50 - length : 50;
  return svg(
    "svg",
    attributes,
    svg("line", { class: "middle", x1: 50, x2: 50, y1: 0, y2: 12 }),
    svg("rect", { class: us < 0 ? "less" : "more", x, y: 2, width: length, height: 8 }),
  );
}

/**
 * @param {object} options
 * @param {Comparison} options.found
 * @param {TimeScale} options.scale
 * @param {number} options.least us
 * @param {(category: string) => void} options.onCategory
 */
export function createWhere({ found, scale, least, onCategory }) {
  const shown = found.categories.filter(({ change_us: us }) => Math.abs(us) > least).slice(0, MOST);
  const largest = Math.max(0, ...shown.map(({ change_us: us }) => Math.abs(us)));
  /** @type {Map<string, HTMLElement>} */
  const buttons = new Map();
  const items = shown.map(({ category, change_us: us }) => {
    const style = found.page.styles[category];
    const on = { click: () => onCategory(category) };
    const button = html(
      "button",
      { type: "button", title: category, "aria-pressed": "false", on },
      mark(style?.symbol ?? "circle", `var(${style?.token ?? "--c12"})`),
      html("span", { class: "nm" }, category || "no category"),
      deltaBar(us, largest),
      html("span", { class: "v" }, scale.change(us)),
    );
    buttons.set(category, button);
    return html("li", {}, button);
  });
  const nothing = html(
    "li",
    { class: "muted quiet" },
    "No category changed by more than 0.01 % of the time.",
  );
  part("where-unit").textContent = `change in ${scale.unit}`;
  part("where").replaceChildren(...(items.length > 0 ? items : [nothing]));
  showTiers(found);
  return {
    /** @param {string | null} category */
    show(category) {
      for (const [name, button] of buttons)
        button.setAttribute("aria-pressed", String(name === category));
    },
  };
}

/** @param {Comparison} found */
function showTiers({ matched, page }) {
  const paired = 1 - (matched.only ?? 0);
  const tiers = page.tiers.filter(({ id }) => matched[id]);
  part("sure").textContent =
    tiers.length > 0
      ? `How sure: ${percent(paired, 0)} of the time has a partner`
      : "How sure: no operation has a time";
  part("tier-bar").replaceChildren(
    ...tiers.map(({ id }) => html("i", { class: `tier-${id}`, vars: { "--share": matched[id] } })),
  );
  part("tiers").replaceChildren(
    ...tiers.map(({ id, label }) =>
      html(
        "li",
        {},
        html("i", { class: `tier-${id}` }),
        html("span", {}, id === "only" ? label : `${id} · ${label}`),
        html("b", {}, percent(matched[id])),
      ),
    ),
  );
}
