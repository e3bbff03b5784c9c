// Time by category: legend, share chart and filter in one list.

import { count, percent } from "../text/format.js";
import { html, part } from "../ui/dom.js";
import { mark } from "../ui/marks.js";

/** @import { Category } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { CategoryTotal } from "../state/filter.js" */

const LEAST_VISIBLE = 0.0015; // below this a part of the stack is less than a pixel wide

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {(category: string) => void} options.onToggle
 */
export function createCategories({ model, onToggle }) {
  const stack = part("stack");
  const list = part("categories");
  /** @type {Map<number, Entry>} made once, then only moved and rewritten */
  const entries = new Map();

  /** @param {number} index */
  function entryAt(index) {
    const category = model.categories[index];
    const entry = entries.get(index) ?? createEntry(category, () => onToggle(category.name));
    entries.set(index, entry);
    return entry;
  }

  return {
    /**
     * @param {CategoryTotal[]} totals longest first
     * @param {readonly string[]} chosen
     */
    render(totals, chosen) {
      list.classList.toggle("some", chosen.length > 0);
      const ordered = totals.map((total) => {
        const entry = entryAt(total.category);
        writeEntry(entry, total, chosen);
        return entry;
      });
      const items = ordered.map(({ item }) => item);
      if (hasChildren(list, items)) return;
      list.replaceChildren(...items);
      stack.replaceChildren(...ordered.map(({ piece }) => piece));
    },
  };
}

/** @typedef {ReturnType<typeof createEntry>} Entry */

/** @param {Category} category @param {() => void} onClick */
function createEntry({ name, symbol, token }, onClick) {
  const share = html("span", { class: "num" });
  const efficiency = html("span", { class: "eff" });
  const button = html(
    "button",
    { type: "button", on: { click: onClick } },
    mark(symbol, `var(${token})`),
    html("span", { class: "name" }, name),
    share,
    efficiency,
  );
  // The stack repeats the list for the pointer; keyboards and readers have the list.
  const piece = html("button", {
    type: "button",
    tabindex: -1,
    vars: { background: `var(${token})` },
    on: { click: onClick },
  });
  return { name, item: html("li", {}, button), button, share, efficiency, piece };
}

/** @param {Entry} entry @param {CategoryTotal} total @param {readonly string[]} chosen */
function writeEntry({ name, button, share, efficiency, piece }, total, chosen) {
  const pressed = chosen.includes(name);
  button.setAttribute("aria-pressed", String(pressed));
  button.title = `${name}: ${count(total.ops)} ${total.ops === 1 ? "op" : "ops"}`;
  share.textContent = percent(total.share);
  efficiency.textContent = percent(total.efficiency, 0);
  piece.hidden = total.share < LEAST_VISIBLE;
  piece.title = `${name} ${percent(total.share)}`;
  piece.classList.toggle("off", chosen.length > 0 && !pressed);
  piece.style.flex = `${total.share * 1000} 0 0`;
}

/**
 * Moving elements would take the focus from the entry just clicked.
 * @param {Element} parent
 * @param {Element[]} wanted
 */
const hasChildren = (parent, wanted) =>
  parent.children.length === wanted.length &&
  wanted.every((node, i) => parent.children[i] === node);
