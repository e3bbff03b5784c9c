// Filters with many entries: chips for what binds, and the menu of categories.

import { count } from "../text/format.js";
import { html, inputPart, part } from "../ui/dom.js";
import { boundGlyph, mark } from "../ui/marks.js";
import { menuCheck } from "../ui/menu.js";
import { shownCategory } from "../text/words.js";

/** @import { Bound, Category } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */

/**
 * @param {Model} model
 * @param {HTMLElement} group
 * @param {(bound: string) => void} onToggle
 */
export function createBoundChips(model, group, onToggle) {
  // "No cost" is not a resource: last, wherever the data have it. Its number stays its place in the data.
  const chips = model.bounds
    .map((bound, index) => ({ bound, index, ...boundChip(bound, () => onToggle(bound.id)) }))
    .sort((a, b) => Number(a.bound.kind === "none") - Number(b.bound.kind === "none"));
  group.replaceChildren(...chips.map(({ chip }) => chip));
  return {
    /**
     * @param {readonly string[]} chosen
     * @param {ReadonlyMap<number, number>} counts ops by index
     */
    render(chosen, counts) {
      for (const { bound, index, chip, number } of chips) {
        const n = counts.get(index) ?? 0;
        const pressed = chosen.includes(bound.id);
        // A bound that no op of this view has would be a button without effect.
        chip.hidden = n === 0 && !pressed;
        chip.setAttribute("aria-pressed", String(pressed));
        number.textContent = count(n);
      }
    },
  };
}

/** @param {Bound} bound @param {() => void} onClick */
function boundChip(bound, onClick) {
  const number = html("span", { class: "count" });
  const chip = html(
    "button",
    { class: "chip", type: "button", "data-bound": bound.id, on: { click: onClick } },
    boundGlyph(bound),
    bound.label,
    number,
  );
  return { chip, number };
}

/**
 * @param {Model} model
 * @param {(category: string) => void} onToggle
 */
export function createCategoryMenu(model, onToggle) {
  const search = inputPart("category-search");
  const entries = [...model.categories]
    .sort((a, b) => a.name.localeCompare(b.name, "en"))
    .map((category) => categoryCheck(category, () => onToggle(category.name)));
  part("category-list").replaceChildren(...entries.map(({ label }) => label));
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    for (const { name, label } of entries) label.hidden = !name.toLowerCase().includes(wanted);
  });
  return {
    /** @param {readonly string[]} chosen */
    render(chosen) {
      for (const { name, box } of entries) box.checked = chosen.includes(name);
    },
  };
}

/** @param {Category} category @param {() => void} onChange */
function categoryCheck({ name, symbol, token }, onChange) {
  const content = [
    mark(symbol, `var(${token})`),
    html("span", { class: "text" }, shownCategory(name)),
  ];
  return { name, ...menuCheck({ value: name, checked: false, title: name, content, onChange }) };
}
