// The card "By module": the groups of the subject's time, as the server divided it. A row filters to its operations; the
// list is one control: up and down move, right opens, left closes, Enter filters, G regroups.

import { groupId } from "../state/group-keys.js";
import { parseValue } from "../state/query.js";
import { toggled } from "../state/filter.js";
import { find, findAll, html, part, svg } from "../ui/dom.js";
import { activate, activeIn } from "../ui/keyboard.js";
import { choose } from "../ui/select.js";

/** @import { GroupList, GroupRow, LayerInstances } from "../types/contract.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Store } from "../state/store.js" */

/** @param {object} options @param {Model} options.model @param {Store} options.store */
export function createByModule({ model, store }) {
  const select = find(HTMLSelectElement, "#group-by");
  const list = part("groups");
  let isWhole = false;
  /** @type {Set<string>} */
  const opened = new Set();
  select.addEventListener("change", () => regroup(store, select.value));
  list.addEventListener("click", ({ target }) => {
    const item = target instanceof Element ? target.closest("li") : null;
    activate(list, item ?? undefined);
    if (item) act(item, "Enter");
  });
  list.addEventListener("keydown", (event) => {
    const item = activeIn(list);
    if (
      !(item instanceof HTMLLIElement) ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      !act(item, event.key)
    )
      return;
    event.preventDefault();
    event.stopPropagation();
  });
  /** What a key does on a row; false: nothing. @param {HTMLLIElement} item @param {string} key */
  function act(item, key) {
    const state = store.get();
    const id = item.dataset.group;
    const items = itemsOf(list);
    const isOpen = item.ariaExpanded;
    if (key === "ArrowDown" || key === "ArrowUp")
      activate(list, items[items.indexOf(item) + (key === "ArrowDown" ? 1 : -1)]);
    else if ((key === "Enter" || key === " ") && item.hasAttribute("data-more")) {
      isWhole = true;
      render(state);
    } else if (item.dataset.layers && opens(key, isOpen ?? "")) {
      const { layers } = item.dataset;
      if (!opened.delete(layers)) opened.add(layers);
      render(state);
    } else if ((key === "Enter" || key === " ") && id !== undefined)
      store.set({ by: byOf(model, state), group: state.group === id ? null : id, page: 1 });
    else if (id !== undefined && isOpen !== null && key.startsWith("Arrow") && opens(key, isOpen))
      store.set({ open: toggled(state.open, id) });
    else return false;
    return true;
  }
  /** @param {ViewState} state */
  function render(state) {
    const { groups } = model;
    const by = byOf(model, state);
    const shown = groups.lists.find((one) => one.id === by);
    part("groups-card").hidden = !shown || !part("clocks-card").hidden;
    if (!shown) return;
    fillSelect(select, groups.lists, shown.id);
    part("groups-unit").textContent = groups.unit;
    const kept = itemsOf(list).findIndex((one) => one === activeIn(list));
    list.replaceChildren(
      ...rowsOf(shown, isWhole).flatMap((one) => items(one, 1, { shown, state })),
      ...(shown.more && !isWhole
        ? [
            plainRow(shown.more.name, shown.more.cells[0], {
              "data-more": "",
              title: shown.more.title,
            }),
          ]
        : []),
      plainRow("waiting", shown.waiting, { "data-waiting": "", title: groups.waiting_title }),
      ...groups.layers.flatMap((one, k) => layersItems(one, String(k), opened)),
    );
    part("groups-note").hidden = !shown.rows.some(({ cells }) => cells[1].endsWith("*"));
    activate(list, itemsOf(list)[Math.max(kept, 0)]);
  }
  activate(list, itemsOf(list)[0]);
  return { render };
}

/** The grouping that is shown. @param {Model} model @param {ViewState} state */
export const byOf = ({ groups }, { by }) =>
  groups.lists.some(({ id }) => id === by) ? by : parseValue("by", groups.by ?? "");

/** @param {Store} store @param {string} by */
export const regroup = (store, by) =>
  store.set({ by: parseValue("by", by), group: null, open: [], page: 1 });

/** The next grouping, behind the last one the first. @param {Model} model @param {Store} store */
export function nextGrouping(model, store) {
  const ids = model.groups.lists.map(({ id }) => id);
  const next = ids[(ids.indexOf(byOf(model, store.get()) ?? "") + 1) % ids.length];
  if (next) regroup(store, next);
}

/** @param {HTMLElement} list */
const itemsOf = (list) => findAll(HTMLLIElement, "li", list);

/** @param {HTMLSelectElement} select @param {readonly GroupList[]} lists @param {string} by */
function fillSelect(select, lists, by) {
  if (select.options.length !== lists.length)
    select.replaceChildren(...lists.map(({ id, label }) => html("option", { value: id }, label)));
  choose(select, by);
}

/** @param {GroupList} list @param {boolean} isWhole */
const rowsOf = ({ rows, shown }, isWhole) => (isWhole ? rows : rows.slice(0, shown));

/**
 * A group, and those in it where it is open.
 * @param {GroupRow} row
 * @param {number} level
 * @param {{ shown: GroupList, state: ViewState }} drawing
 * @returns {HTMLElement[]}
 */
function items(row, level, drawing) {
  const { shown, state } = drawing;
  const id = groupId(row.path);
  const isOpen = row.path.length > 0 && state.open.includes(id);
  const width = `${((100 * row.time_us) / shown.rows[0].time_us).toFixed(1)}%`;
  const item = html(
    "li",
    {
      role: "treeitem",
      title: row.title,
      "aria-level": level,
      "aria-selected": row.path.length > 0 && state.group === id,
      "aria-expanded": row.groups.length > 0 ? isOpen : null,
      "data-group": row.path.length > 0 ? id : null,
      vars: { "--level": level - 1 },
    },
    html("span", { class: "name" }, html("bdi", {}, row.name)),
    bar(width),
    ...row.cells.map((cell) => html("span", { class: "num" }, cell)),
  );
  return [item, ...(isOpen ? row.groups : []).flatMap((one) => items(one, level + 1, drawing))];
}

/** @param {string} name @param {string} time @param {import("../ui/dom.js").Attributes} attributes @param {number} [percent] */
const plainRow = (name, time, attributes, percent) =>
  html(
    "li",
    { role: "treeitem", "aria-level": 1, "aria-selected": false, ...attributes },
    html("span", { class: "name" }, html("bdi", {}, name)),
    percent === undefined ? html("span", {}) : bar(`${percent.toFixed(1)}%`),
    html("span", { class: "num" }, time),
  );

/** @param {string} width */
const bar = (width) =>
  svg("svg", { class: "time-bar", "aria-hidden": "true" }, svg("rect", { width, height: "100%" }));

/** Whether a key opens a row that is closed, or closes one that is open. @param {string} key @param {string} isOpen */
const opens = (key, isOpen) =>
  ["Enter", " ", isOpen === "true" ? "ArrowLeft" : "ArrowRight"].includes(key);

/**
 * What there is to say of the instances of a module; where it is open, all of them in their order, on one scale.
 * @param {LayerInstances} layers @param {string} k @param {ReadonlySet<string>} opened
 */
function layersItems({ line, stands_out, instances, rest }, k, opened) {
  const head = plainRow(line, "", {
    class: stands_out ? "odd" : null,
    "aria-expanded": opened.has(k),
    "data-layers": k,
  });
  if (!opened.has(k)) return [head];
  const longest = Math.max(...instances.map((one) => one.time_us)) || 1;
  const rows = instances.map(({ name, text, time_us: us }) =>
    plainRow(name, text, { "aria-level": 2, "data-instance": "" }, (100 * us) / longest),
  );
  return [head, ...rows, plainRow("all other work", rest, { "aria-level": 2 })];
}
