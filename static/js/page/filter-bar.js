// The filter bar and the chart's own controls: view state in, events out.

import { boundGlyph, html, mark, part } from "../ui/dom.js";
import { count, percent } from "../text/format.js";
import { menuCheck } from "../ui/menu.js";
import { isFiltered, withoutFilters } from "../state/query.js";

/** @param {string} id */
const byId = (id) => /** @type {any} */ (document.getElementById(id));

/** The list with an entry taken out or put in. */
export const toggled = (list, entry) =>
  list.includes(entry) ? list.filter((item) => item !== entry) : [...list, entry];

/**
 * Whether host transfers can be left out: other profilers than XProf's have none, and the switch would do nothing.
 * @param {any} page
 */
export const canDropInfeed = (page) =>
  page.device.kind === "tpu" || page.categories.some(({ name }) => /infeed|outfeed/.test(name));

/**
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 */
export function createFilters({ model, store }) {
  const name = byId("filter-name");
  const error = byId("filter-name-error");
  const bounds = byId("filter-bound");
  const change = (values) => store.set({ ...values, page: 1 });

  name.addEventListener("input", () => change({ q: name.value }));
  byId("filter-min").addEventListener("change", (event) =>
    change({ min: Number(event.target.value) }),
  );
  byId("filter-cover").addEventListener("input", (event) =>
    change({ cover: Number(event.target.value) }),
  );
  byId("filter-infeed").addEventListener("change", (event) =>
    change({ infeed: event.target.checked ? "in" : "out" }),
  );
  byId("filter-infeed").closest(".switch").hidden = !canDropInfeed(model);
  byId("chart-axis").addEventListener("change", (event) =>
    store.set({ x: event.target.value, zoom: null, box: null }),
  );
  byId("chart-roofs").addEventListener("change", (event) =>
    store.set({ roofs: event.target.value }),
  );
  part("clear").addEventListener("click", () => store.set(withoutFilters(store.get())));
  part("box-chip").addEventListener("click", () => change({ box: null }));
  for (const button of document.querySelectorAll("[data-set]")) {
    button.addEventListener("click", () => {
      const key = button.dataset.set;
      store.set({ [key]: button.value, ...(key === "fit" ? { zoom: null } : {}) });
    });
  }
  byId("chart-axis").replaceChildren(
    ...model.x_axes.map((axis) => html("option", { value: axis.id }, axis.label)),
  );
  const chips = createBoundChips(model, bounds, (id) =>
    change({ bound: toggled(store.get().bound, id) }),
  );
  const menu = createCategoryMenu(model, (category) =>
    change({ cat: toggled(store.get().cat, category) }),
  );

  function showMinimum(value) {
    const select = byId("filter-min");
    // A link may carry any number; the list then gets it as one more choice.
    if (![...select.options].some((option) => Number(option.value) === value)) {
      select.append(html("option", { value }, `${value}\u202f%`));
    }
    select.value = [...select.options].find((option) => Number(option.value) === value).value;
  }

  return {
    /**
     * @param {import("../state/query.js").ViewState} state
     * @param {{ shown: number, all: number, share: number, error: string | null, boundCounts: Map<number, number> }} result
     */
    render(state, result) {
      if (name.value !== state.q) name.value = state.q;
      name.setAttribute("aria-invalid", String(result.error !== null));
      error.hidden = result.error === null;
      error.textContent =
        result.error === null
          ? ""
          : `Not a valid pattern, so not applied: ${result.error.replace(/^Invalid regular expression: /, "")}`;
      showMinimum(state.min);
      byId("filter-cover").value = String(state.cover);
      part("cover-text").textContent = `${state.cover}\u202f%`;
      byId("filter-infeed").checked = state.infeed === "in";
      byId("chart-axis").value = model.axis(state.x).id;
      byId("chart-roofs").value = state.roofs;
      part("box-chip").hidden = state.box === null;
      part("clear").disabled = !isFiltered(state);
      for (const button of document.querySelectorAll("[data-set]")) {
        button.setAttribute("aria-pressed", String(state[button.dataset.set] === button.value));
      }
      chips.render(state.bound, result.boundCounts);
      menu.render(state.cat);
      part("category-label").textContent = categoryLabel(state.cat);
      const total =
        result.shown === result.all
          ? count(result.all)
          : `${count(result.shown)} of ${count(result.all)}`;
      part("result").replaceChildren(
        html("b", {}, total),
        ` ${result.all === 1 ? "op" : "ops"} · `,
        html("b", {}, percent(result.share)),
        html("span", { class: "wide" }, " of time"),
      );
    },
  };
}

function categoryLabel(chosen) {
  if (chosen.length === 0) return "All categories";
  return chosen.length === 1 ? chosen[0] : `${chosen.length} categories`;
}

function createBoundChips(model, group, onToggle) {
  // "No cost" is no resource: last, wherever the data have it. Its number stays its place in the data.
  const ordered = model.bounds
    .map((bound, index) => ({ bound, index }))
    .sort((a, b) => (a.bound.kind === "none") - (b.bound.kind === "none"));
  const chips = ordered.map(({ bound, index }) => {
    const number = html("span", { class: "count" });
    const chip = html(
      "button",
      {
        class: "chip",
        type: "button",
        "data-bound": bound.id,
        on: { click: () => onToggle(bound.id) },
      },
      boundGlyph(bound),
      bound.label,
      number,
    );
    return { bound, index, chip, number };
  });
  group.replaceChildren(...chips.map(({ chip }) => chip));
  return {
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

function createCategoryMenu(model, onToggle) {
  const list = part("category-list");
  const search = part("category-search");
  const entries = [...model.categories]
    .sort((a, b) => a.name.localeCompare(b.name, "en"))
    .map((category) => {
      const label = menuCheck({
        value: category.name,
        checked: false,
        title: category.name,
        content: [
          mark(category.symbol, `var(${category.token})`),
          html("span", { class: "text" }, category.name),
        ],
        onChange: () => onToggle(category.name),
      });
      return { category, label, box: label.querySelector("input") };
    });
  list.replaceChildren(...entries.map(({ label }) => label));
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    for (const { category, label } of entries)
      label.hidden = !category.name.toLowerCase().includes(wanted);
  });
  return {
    render(chosen) {
      for (const { category, box } of entries) box.checked = chosen.includes(category.name);
    },
  };
}
