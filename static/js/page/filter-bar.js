// The filter bar and the chart's own controls: view state in, events out.

import { toggled } from "../state/filter.js";
import { keyOf } from "../text/roofs.js";
import { canDropInfeed, JOINED } from "../state/model.js";
import { isFiltered, parseValue, withoutFilters } from "../state/query.js";
import { count, percent } from "../text/format.js";
import { buttonPart, find, findAll, html, part } from "../ui/dom.js";
import { choose, offer } from "../ui/select.js";
import { createBoundChips, createCategoryMenu } from "./filter-choices.js";
import { partLabel, shownCategory } from "../text/words.js";

/** @import { Model } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Store } from "../state/store.js" */

/**
 * The ops that the filters leave.
 * @typedef {object} FilterResult
 * @property {number} shown ops
 * @property {number} all ops
 * @property {number | null} share of the time; null: none was measured
 * @property {string | null} error of the pattern
 * @property {ReadonlyMap<number, number>} boundCounts ops by index into `bounds`
 */

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 */
export function createFilterBar({ model, store }) {
  /** @param {Partial<ViewState>} values */
  const change = (values) => store.set({ ...values, page: 1 });
  const fields = createFields(model, store, change);
  const switches = createSwitches(store);
  const chips = createBoundChips(model, find(HTMLElement, "#filter-bound"), (id) =>
    change({ bound: toggled(store.get().bound, id) }),
  );
  /** @type {ReturnType<typeof createCategoryMenu> | null} */
  let menu = null;
  const clear = buttonPart("clear");
  const active = createActiveChips(model, change);
  clear.addEventListener("click", () => store.set(withoutFilters(store.get())));

  return {
    /** @param {ViewState} state @param {FilterResult} result */
    render(state, result) {
      fields.render(state);
      switches.render(state);
      showError(result.error);
      active(state);
      clear.disabled = !isFiltered(state);
      chips.render(state.bound, result.boundCounts);
      menu?.render(state.cat);
      showResult(result);
    },
    /** What is in menus: it may follow later. @param {ViewState} state */
    renderLists(state) {
      fields.renderLists(state);
      menu ??= createCategoryMenu(model, (category) =>
        change({ cat: toggled(store.get().cat, category) }),
      );
      menu.render(state.cat);
    },
  };
}

/**
 * Chips of the filters that are on, beside the subject: each one takes its filter away.
 * @param {Model} model
 * @param {(values: Partial<ViewState>) => void} change
 */
function createActiveChips(model, change) {
  /** @type {readonly [name: string, off: Partial<ViewState>, text: (state: ViewState) => string | null][]} */
  const chips = [
    ["q", { q: "" }, ({ q }) => q || null],
    ["bound", { bound: [] }, ({ bound }) => bound.map((id) => boundLabel(model, id)).join(", ")],
    ["part", { part: null }, ({ part }) => part && partLabel(model.budget, part)],
    [
      "finding",
      { finding: null },
      ({ finding }) => finding && (model.findings.get(finding)?.title ?? finding),
    ],
    ["group", { group: null }, ({ by, group }) => by && group],
    ["box", { box: null }, ({ box }) => box && "Selected area"],
    ["category", { cat: [] }, ({ cat }) => (cat.length ? categoryLabel(cat) : null)],
    ["min", { min: 0 }, ({ min }) => (min > 0 ? `share ≥ ${min}\u202f%` : null)],
    ["cover", { cover: 100 }, ({ cover }) => (cover < 100 ? `cover ${cover}\u202f%` : null)],
    ["infeed", { infeed: "in" }, ({ infeed }) => (infeed === "out" ? "no infeed, outfeed" : null)],
  ];
  for (const [name, off] of chips)
    part(`${name}-chip`).addEventListener("click", () => change(off));
  /** @param {ViewState} state */
  return (state) => {
    for (const [name, , text] of chips) {
      const words = text(state);
      part(`${name}-chip`).hidden = !words;
      part(`${name}-chip-text`).textContent = words ?? "";
    }
  };
}

/** @param {Model} model @param {string} id */
const boundLabel = ({ bounds }, id) => bounds.find((one) => one.id === id)?.label ?? id;

/**
 * The fields that hold one value each.
 * @param {Model} model
 * @param {Store} store
 * @param {(values: Partial<ViewState>) => void} change
 */
function createFields(model, store, change) {
  const name = find(HTMLInputElement, "#filter-name");
  const least = find(HTMLSelectElement, "#filter-min");
  const cover = find(HTMLInputElement, "#filter-cover");
  const infeed = find(HTMLInputElement, "#filter-infeed");
  const axis = find(HTMLSelectElement, "#chart-axis");
  const roofs = find(HTMLSelectElement, "#chart-roofs");
  name.addEventListener("input", () => change({ q: name.value }));
  least.addEventListener("change", () => change({ min: Number(least.value) }));
  cover.addEventListener("input", () => change({ cover: Number(cover.value) }));
  infeed.addEventListener("change", () => change({ infeed: infeed.checked ? "in" : "out" }));
  axis.addEventListener("change", () => store.set({ x: axis.value, zoom: null, box: null }));
  roofs.addEventListener("change", () => store.set({ roofs: parseValue("roofs", roofs.value) }));
  const precision = find(HTMLSelectElement, "#chart-precision");
  precision.addEventListener("change", () => store.set({ prec: precision.value || null }));
  const holder = infeed.closest("label");
  if (holder) holder.hidden = !canDropInfeed(model);
  return {
    /** @param {ViewState} state */
    render(state) {
      if (name.value !== state.q) name.value = state.q;
      cover.value = String(state.cover);
      part("cover-text").textContent = `${state.cover}\u202f%`;
      infeed.checked = state.infeed === "in";
    },
    /** Lists in menus. @param {ViewState} state */
    renderLists(state) {
      showMinimum(least, state.min);
      offer(
        axis,
        model.x_axes.map(({ id, label }) => ({ value: id, label })),
      );
      choose(axis, model.axis(state.x).id);
      choose(roofs, state.roofs);
      showPrecisions(precision, model, state.prec);
    },
  };
}

/**
 * The compute roofs to choose from: other peaks may have others.
 * @param {HTMLSelectElement} select
 * @param {Model} model
 * @param {string | null} chosen
 */
function showPrecisions(select, { roofs }, chosen) {
  const options = roofs.compute.map((roof) => ({ value: keyOf(roofs, roof), label: roof.label }));
  offer(select, [{ value: "", label: "in use" }, ...options]);
  choose(select, chosen ?? "");
  select.disabled = options.length < 2;
}

/**
 * A link may carry any number; the list then gets it as one more choice.
 * @param {HTMLSelectElement} select
 * @param {number} value
 */
function showMinimum(select, value) {
  const found = [...select.options].find((option) => Number(option.value) === value);
  const option = found ?? html("option", { value }, `${value}\u202f%`);
  if (!found) select.append(option);
  choose(select, option.value);
}

/** The switches of the chart: buttons, one of which is pressed. @param {Store} store */
function createSwitches(store) {
  const sizes = findAll(HTMLButtonElement, '[data-set="size"]');
  const fits = findAll(HTMLButtonElement, '[data-set="fit"]');
  const heights = findAll(HTMLButtonElement, '[data-set="y"]');
  for (const button of heights)
    button.addEventListener("click", () => store.set(heightChange(parseValue("y", button.value))));
  for (const button of sizes)
    button.addEventListener("click", () => store.set({ size: parseValue("size", button.value) }));
  for (const button of fits)
    button.addEventListener("click", () =>
      store.set({ fit: parseValue("fit", button.value), zoom: null }),
    );
  return {
    /** @param {ViewState} state */
    render({ size, fit, x, y }) {
      for (const button of heights) {
        press(button, button.value === y);
        button.disabled = x === JOINED;
      }
      for (const button of sizes) press(button, button.value === size);
      for (const button of fits) press(button, button.value === fit);
    },
  };
}

/** Another height: a zoom or an area of the old one means nothing. @param {ViewState["y"]} y */
const heightChange = (y) => ({ y, zoom: null, box: null });

/** The other height, for the key Y. @param {Store} store */
export const turnHeight = (store) =>
  store.set(heightChange(store.get().y === "share" ? "rate" : "share"));

/** @param {HTMLElement} button @param {boolean} isPressed */
const press = (button, isPressed) => button.setAttribute("aria-pressed", String(isPressed));

/** @param {string | null} error of the pattern */
function showError(error) {
  const shown = find(HTMLElement, "#filter-name-error");
  const reason = (error ?? "").replace(/^Invalid regular expression: /, "");
  find(HTMLElement, "#filter-name").setAttribute("aria-invalid", String(error !== null));
  shown.hidden = error === null;
  shown.textContent = error === null ? "" : `Not a valid pattern, so not applied: ${reason}`;
}

/** @param {readonly string[]} chosen */
function categoryLabel(chosen) {
  return chosen.length === 1 ? shownCategory(chosen[0]) : `${chosen.length} categories`;
}

/** @param {number} share */
const shareOfTime = (share) => [
  " · ",
  html("b", {}, percent(share)),
  html("span", { class: "wide" }, " of time"),
];

/** @param {FilterResult} result */
function showResult({ shown, all, share }) {
  const total = shown === all ? count(all) : `${count(shown)} of ${count(all)}`;
  part("result").replaceChildren(
    html("b", {}, total),
    ` ${all === 1 ? "op" : "ops"}`,
    ...(share === null ? [] : shareOfTime(share)),
  );
}
