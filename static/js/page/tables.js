// Both tables of the page, and the column chooser.

import { columnPresets, shownColumns, tableColumn } from "./columns.js";
import { html, part } from "../ui/dom.js";
import { sortRows } from "../state/filter.js";
import { count, percent } from "../text/format.js";
import { menuCheck } from "../ui/menu.js";
import { createTable } from "../ui/table.js";
import { programName } from "../text/words.js";

/** @typedef {import("../state/model.js").Row} Row */

const sortColumn = (sort) => (sort.startsWith("-") ? sort.slice(1) : sort);

/** A second click on a header turns the order; numbers start with the largest. */
function nextSort(sort, id, column) {
  if (sortColumn(sort) === id) return sort.startsWith("-") ? id : `-${id}`;
  return ["text", "category", "bound", "roof", "source", "program"].includes(column.unit) ||
    id === "rank"
    ? id
    : `-${id}`;
}

/**
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 * @param {(row: Row) => void} options.onSelect
 * @param {(row: Row | null) => void} options.onLight
 * @param {(column: any, anchor: HTMLElement) => void} options.onHelp
 */
export function createOpTable({ model, store, onSelect, onLight, onHelp }) {
  const grid = createTable({
    table: /** @type {any} */ (document.getElementById("op-table")),
    caption: "Operations",
    sortable: true,
    keyOf: (row) => String(row.op),
    onSelect,
    onLight,
    onHelp,
    onSort: (id) => store.set({ sort: nextSort(store.get().sort, id, model.column(id)), page: 1 }),
    onPage: (page) => store.set({ page }),
  });
  const beyond = html("span", { class: "beyond" });
  document.querySelector("#panel-ops [data-page-text]").after(beyond);

  function setColumns(state) {
    const view = model.view(state.infeed);
    const barToken = (row) => model.bounds[row.bound].token;
    const columns = shownColumns(model.columns, state.cols).map((column) =>
      tableColumn(column, {
        read: view.reader(column.id),
        rows: view.rows,
        model,
        barToken,
        largestShare: view.largestShare,
        head: column.id === "name",
      }),
    );
    grid.setColumns(columns, state.sort);
    beyond.textContent =
      view.beyond?.ops > 0
        ? `${count(view.beyond.ops)} shorter operations, ${percent(view.beyond.share_ratio)} of the time, are not listed`
        : "";
  }

  /** What the header says, in the cell's own terms: "idle" and "no cost" sort as missing. */
  function valueReader(state) {
    const id = sortColumn(state.sort);
    const read = model.view(state.infeed).reader(id);
    const unit = model.column(id)?.unit;
    if (unit === "category") return (row) => model.categories[read(row)].name;
    if (unit === "bound") return (row) => model.bounds[read(row)].label;
    if (unit === "roof") return (row) => model.roofs.compute[read(row)]?.label ?? null;
    return read;
  }

  return {
    grid,
    setColumns,
    /** @param {Row[]} shown @param {import("../state/query.js").ViewState} state */
    show(shown, state) {
      grid.showSort(state.sort);
      grid.show(sortRows(shown, valueReader(state), state.sort.startsWith("-")), state.page);
      grid.select(state.op === null ? null : String(state.op));
      const total = model.view(state.infeed).rows.length;
      part("ops-count").textContent =
        shown.length === total ? count(total) : `${count(shown.length)} of ${count(total)}`;
    },
  };
}

const programKey = (point) => `${point.scope} ${point.label}`;

/**
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 * @param {(point: any) => void} options.onSelect
 * @param {(point: any | null) => void} options.onLight
 * @param {(column: any, anchor: HTMLElement) => void} options.onHelp
 */
export function createProgramTable({ model, store, onSelect, onLight, onHelp }) {
  let page = 1;
  const grid = createTable({
    table: /** @type {any} */ (document.getElementById("program-table")),
    caption: "Program and steps",
    sortable: false,
    keyOf: programKey,
    onSelect,
    onLight,
    onHelp,
    onSort: () => {},
    onPage: (wanted) => {
      page = wanted;
      show();
    },
  });
  const points = () => model.view(store.get().infeed).program;

  function show() {
    const state = store.get();
    const chosen = points().find((point) => point.label === state.step);
    grid.show(points(), page);
    grid.select(chosen ? programKey(chosen) : null);
    grid.empty.hidden = points().length > 0;
    grid.empty.textContent = "The profile has no program totals.";
    part("program-count").textContent = count(points().length);
  }

  return {
    grid,
    setColumns() {
      const barToken = (point) => model.bounds[point.bound_by]?.token ?? "--ink-3";
      const [first, ...others] = model.program_columns;
      const make = (column, head) =>
        tableColumn(column, {
          read: (point) => point[column.id] ?? null,
          rows: points(),
          model,
          barToken,
          largestShare: 1,
          head,
          headText: programName,
        });
      grid.setColumns([make(first, true), ...others.map((column) => make(column, false))], "");
    },
    show,
    /** @param {any | null} point */
    light: (point) => grid.light(point ? programKey(point) : null),
  };
}

/**
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 */
export function createColumnMenu({ model, store }) {
  const button = part("columns-button");
  const presets = () => columnPresets(model.columns);
  const shownIds = () => shownColumns(model.columns, store.get().cols).map((column) => column.id);
  // The default is written as no choice, so that links stay short and follow a better default.
  const choose = (ids) =>
    store.set({ cols: String(ids) === String(presets().standard) ? [] : ids });
  let entries = [];

  const toggle = (id, checked) => {
    const ids = shownIds();
    // A new column comes where the full order has it.
    const order = checked
      ? model.columns
          .map((column) => column.id)
          .filter((other) => other === id || ids.includes(other))
      : ids.filter((other) => other !== id);
    choose(order);
  };
  const preset = (name, text, title) =>
    html(
      "button",
      { type: "button", class: "btn small", title, on: { click: () => choose(presets()[name]) } },
      text,
    );
  part("column-presets").replaceChildren(
    preset("standard", "Standard", "The columns this page starts with"),
    preset("xprof", "XProf’s", "The columns of XProf’s own table"),
    preset("all", "All", "Every column"),
  );

  let filled = "";
  /** The entries of the model's present columns: a comparison adds some. */
  function fill() {
    const ids = String(model.columns.map((column) => column.id));
    if (ids === filled) return;
    filled = ids;
    entries = model.columns
      .filter((column) => column.id !== "name")
      .map((column) => {
        const label = menuCheck({
          value: column.id,
          checked: false,
          title: column.help,
          content: [
            html("span", { class: "text" }, column.label),
            html("span", { class: "hint" }, column.sub),
          ],
          onChange: (checked) => toggle(column.id, checked),
        });
        return { id: column.id, box: label.querySelector("input") };
      });
    part("column-list").replaceChildren(...entries.map(({ box }) => box.parentElement));
  }
  fill();

  return {
    fill,
    render() {
      const ids = new Set(shownIds());
      for (const { id, box } of entries) box.checked = ids.has(id);
      button.textContent = `Columns ${ids.size} of ${model.columns.length}`;
    },
  };
}
