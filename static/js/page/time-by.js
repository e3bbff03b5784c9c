// "Time by …": one grouping of the operations beside the chart. A row filters to its operations.

import { groupId } from "../state/group-keys.js";
import { groupTree } from "../state/groups.js";
import { parseValue } from "../state/query.js";
import { listed, standsOut, usualGrouping } from "../state/time-by.js";
import { toggled } from "../state/filter.js";
import { columnScale, percent } from "../text/format.js";
import { counted } from "../text/words.js";
import { find, findAll, html, part, svg } from "../ui/dom.js";
import { choose } from "../ui/select.js";
import { mark } from "../ui/marks.js";
import { nameOf } from "./group-table.js";

/** @import { Model } from "../types/model.js" */
/** @import { GroupBy, ViewState } from "../types/view-state.js" */
/** @import { Listed } from "../state/time-by.js" */
/** @import { Store } from "../state/store.js" */
/** @import { VisibleOps } from "./visible-ops.js" */

/** @type {Record<string, number>} */
const FACTORS = { s: 1e6, ms: 1e3, µs: 1 };
const LEAST = 0.001; // of the list's unit: shorter times have no digits to compare

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {() => void} options.onFirst renders the list, whose server's rows have been clicked on
 */
export function createTimeBy({ model, store, onFirst }) {
  const select = find(HTMLSelectElement, "#time-by");
  const list = part("categories");
  /** The server's choice, where it wrote the list. @type {GroupBy | null} */
  let usual = list.childElementCount > 0 ? parseValue("timeby", select.value) : null;
  select.addEventListener("change", () =>
    store.set({ timeby: parseValue("timeby", select.value), by: null, group: null, page: 1 }),
  );
  part("time-by-table").addEventListener("click", () => {
    store.set({ by: shownBy(store.get()), tab: "ops" });
    find(HTMLElement, ".group-bar").scrollIntoView({ block: "start" });
  });
  // The rows that the server wrote have no listeners: a click on one is meant for the row in its place.
  let isWritten = usual !== null;
  list.addEventListener("click", (event) => {
    const place = isWritten
      ? buttonsIn(list).findIndex((one) => one.contains(targetOf(event)))
      : -1;
    if (place < 0) return;
    onFirst();
    buttonsIn(list)[place]?.click();
  });
  /** @param {ViewState} state */
  const shownBy = (state) => {
    usual ??= usualGrouping(model, model.view(state.infeed));
    return state.timeby ?? state.by ?? usual;
  };
  return {
    /** @param {VisibleOps} visible @param {ViewState} state */
    render(visible, state) {
      isWritten = false;
      const by = shownBy(state);
      choose(select, by);
      const rows = by === "category" ? visible.besidesCategory : visible.besidesGroup;
      const groups = listed(groupTree(model, visible.view, rows, by));
      const scale = scaleOf(groups);
      part("time-by-unit").textContent = scale.unit;
      part("time-by-note").hidden = groups.every(({ median }) => median === null);
      const keepFocus = focusOf(list);
      const open = new Set(state.open);
      list.classList.toggle(
        "some",
        by === "category" ? state.cat.length > 0 : state.group !== null,
      );
      list.replaceChildren(
        ...groups.flatMap((one) => items(one, 0, { model, store, state, by, open, scale })),
      );
      keepFocus();
    },
  };
}

/** @param {HTMLElement} list */
const buttonsIn = (list) => findAll(HTMLButtonElement, "button", list);

/** @param {Event} event */
const targetOf = ({ target }) => (target instanceof Node ? target : null);

/** Rows are made anew: what gives the focus back to the row that has it now. @param {HTMLElement} list */
function focusOf(list) {
  const at = document.activeElement;
  const id = list.contains(at) ? at?.closest("li")?.dataset.group : undefined;
  const kind = at?.classList.contains("time-caret") ? ".time-caret" : ".time-row";
  return () => {
    const item = [...list.children].find(
      (one) => id !== undefined && one instanceof HTMLElement && one.dataset.group === id,
    );
    const button = item?.querySelector(kind);
    if (button instanceof HTMLElement) button.focus({ preventScroll: true });
  };
}

/** @param {readonly Listed[]} groups */
function scaleOf(groups) {
  const longest = groups.reduce((most, { time }) => Math.max(most, time), 0);
  // Where no time was measured, it is not zero.
  const { unit, text } = columnScale("time_us", longest);
  /** @param {number | null} us */
  const amount = (us) =>
    us !== null && us > 0 && us < LEAST * FACTORS[unit] ? `<${LEAST}` : text(us);
  return { isTimed: longest > 0, longest: longest || 1, unit, text: amount };
}

/**
 * @typedef {object} Drawing
 * @property {Model} model
 * @property {Store} store
 * @property {ViewState} state
 * @property {GroupBy} by
 * @property {ReadonlySet<string>} open
 * @property {ReturnType<typeof scaleOf>} scale
 */

/** A group, and those in it where it is open. @param {Listed} group @param {number} level @param {Drawing} drawing @returns {HTMLElement[]} */
function items(group, level, drawing) {
  const id = groupId(group.path);
  const isOpen = drawing.open.has(id);
  const inside = isOpen ? listed(group.children) : [];
  const item = html(
    "li",
    { "data-group": id, vars: { "--level": level } },
    caret(group, id, isOpen, drawing.store),
    row(group, id, drawing),
  );
  return [item, ...inside.flatMap((one) => items(one, level + 1, drawing))];
}

/** @param {Listed} group @param {string} id @param {boolean} isOpen @param {Store} store */
function caret(group, id, isOpen, store) {
  if (group.children.length === 0) return null;
  return html(
    "button",
    {
      type: "button",
      class: "time-caret",
      "aria-expanded": isOpen,
      "aria-label": `Groups in ${nameOf(group)}`,
      on: { click: () => store.set({ open: toggled(store.get().open, id) }) },
    },
    "›",
  );
}

/** @param {Listed} group @param {string} id @param {Drawing} drawing */
function row(group, id, { model, store, state, by, scale }) {
  const category =
    by === "category" ? model.categories.find(({ name }) => name === group.name) : null;
  const isChosen = category ? state.cat.includes(group.name) : state.group === id;
  const click = () =>
    category
      ? store.set({ cat: toggled(store.get().cat, group.name), page: 1 })
      : store.set({ by, group: isChosen ? null : id, page: 1 });
  return html(
    "button",
    {
      type: "button",
      class: standsOut(group) ? "time-row odd" : "time-row",
      title: `${group.path.join(" / ") || nameOf(group)}: ${counted(group.rows.length, String(group.rows.length), "op")}, ${percent(group.share)}`,
      "aria-pressed": isChosen,
      on: { click },
    },
    category ? mark(category.symbol, `var(${category.token})`) : null,
    html("span", { class: "name" }, nameOf(group)),
    html("span", { class: "num" }, scale.text(scale.isTimed ? group.time : null)),
    html("span", { class: "eff" }, percent(group.efficiency, 0)),
    html("span", { class: "eff" }, scale.text(group.saving)),
    bar(group, scale.longest),
  );
}

/** The time as a bar, with a tick at the median of the twins. @param {Listed} group @param {number} longest */
function bar({ time, median }, longest) {
  /** @param {number} us */
  const at = (us) => `${Math.min(100, (100 * us) / longest).toFixed(1)}%`;
  const tick = svg("line", { x1: at(median ?? 0), x2: at(median ?? 0), y1: 0, y2: "100%" });
  return svg(
    "svg",
    { class: "time-bar", "aria-hidden": "true" },
    svg("rect", { width: at(time), height: "100%" }),
    ...(median === null ? [] : [tick]),
  );
}
