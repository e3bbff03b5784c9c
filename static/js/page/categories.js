// Time by category: legend, share chart and filter in one list.

import { html, mark, part } from "../ui/dom.js";
import { count, percent } from "../text/format.js";

const LEAST_VISIBLE = 0.0015; // below this a part of the stack is no pixel wide

/**
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {(category: string) => void} options.onToggle
 */
export function createCategories({ model, onToggle }) {
  const stack = part("stack");
  const list = part("categories");
  /** @type {Map<number, ReturnType<typeof createEntry>>} made once, then only moved and rewritten */
  const entries = new Map();

  function createEntry(index) {
    const category = model.categories[index];
    const share = html("span", { class: "num" });
    const efficiency = html("span", { class: "eff" });
    const button = html(
      "button",
      { type: "button", on: { click: () => onToggle(category.name) } },
      mark(category.symbol, `var(${category.token})`),
      html("span", { class: "name" }, category.name),
      share,
      efficiency,
    );
    // The stack repeats the list for the pointer; keyboards and readers have the list.
    const piece = html("button", {
      type: "button",
      tabindex: -1,
      vars: { background: `var(${category.token})` },
      on: { click: () => onToggle(category.name) },
    });
    return { category, item: html("li", {}, button), button, share, efficiency, piece };
  }

  return {
    /**
     * @param {import("../state/filter.js").CategoryTotal[]} totals longest first
     * @param {readonly string[]} chosen
     */
    render(totals, chosen) {
      list.classList.toggle("some", chosen.length > 0);
      const ordered = totals.map((total) => {
        if (!entries.has(total.category)) entries.set(total.category, createEntry(total.category));
        const entry = entries.get(total.category);
        const pressed = chosen.includes(entry.category.name);
        entry.button.setAttribute("aria-pressed", String(pressed));
        entry.button.title = `${entry.category.name}: ${count(total.ops)} ${total.ops === 1 ? "op" : "ops"}`;
        entry.share.textContent = percent(total.share);
        entry.efficiency.textContent = percent(total.efficiency, 0);
        entry.piece.hidden = total.share < LEAST_VISIBLE;
        entry.piece.title = `${entry.category.name} ${percent(total.share)}`;
        entry.piece.classList.toggle("off", chosen.length > 0 && !pressed);
        entry.piece.style.flex = `${total.share * 1000} 0 0`;
        return entry;
      });
      if (
        !sameOrder(
          list,
          ordered.map((entry) => entry.item),
        )
      ) {
        list.replaceChildren(...ordered.map((entry) => entry.item));
        stack.replaceChildren(...ordered.map((entry) => entry.piece));
      }
    },
  };
}

/** Moving elements would take the focus from the entry just clicked. */
function sameOrder(parent, wanted) {
  return (
    parent.children.length === wanted.length &&
    wanted.every((node, i) => parent.children[i] === node)
  );
}
