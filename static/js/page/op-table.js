// The table of operations.

import { sortRows } from "../state/filter.js";
import { nextSort, shownColumns, sortColumn } from "../state/shown-columns.js";
import { columnScale, count, percent } from "../text/format.js";
import { middleCut } from "../text/names.js";
import { find, html, part } from "../ui/dom.js";
import { Table } from "../ui/table.js";
import { copyWholeNames } from "../ui/whole-names.js";
import { entryOf, tableColumn } from "./cells.js";

/** @import { Column, Value } from "../types/page-data.js" */
/** @import { Model, Row, View } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Store } from "../state/store.js" */
/** @import { TableColumn } from "../ui/table.js" */

/** @param {Row} row */
const keyOf = (row) => String(row.op);

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {(row: Row, event: MouseEvent) => void} options.onSelect
 * @param {(row: Row | null) => void} options.onLight
 * @param {(column: TableColumn<Row> | null, anchor: HTMLElement) => void} options.onHelp
 */
export function createOpTable({ model, store, onSelect, onLight, onHelp }) {
  copyWholeNames(find(HTMLTableElement, "#op-table"));
  countLetters();
  addEventListener("resize", countLetters);
  const grid = new Table({
    table: find(HTMLTableElement, "#op-table"),
    caption: "Operations",
    sortable: true,
    keyOf,
    onSelect,
    onLight,
    onHelp,
    onSort: (id) => {
      const column = model.column(id);
      if (column) store.set({ sort: nextSort(store.get().sort, column), page: 1 });
    },
    onPage: (page) => store.set({ page }),
  });
  const rest = find(HTMLTableElement, "#op-table").createTFoot();

  return {
    grid,
    /** @param {ViewState} state */
    setColumns(state) {
      const view = model.view(state.infeed);
      const shown = shownColumns(model.columns, state.cols);
      grid.setColumns(
        shown.map((column) => opColumn(column, model, view)),
        state.sort,
      );
      rest.replaceChildren(...restRow(model, view, shown));
    },
    /** @param {Row[]} shown @param {ViewState} state */
    show(shown, state) {
      if (!grid.hasColumns) this.setColumns(state);
      grid.showSort(state.sort);
      const read = valueReader(model, state);
      grid.show(sortRows(shown, read, state.sort.startsWith("-")), state.page);
      grid.pick(state.sel.map(String));
      grid.select(state.op === null ? null : String(state.op));
      const { rows, beyond } = model.view(state.infeed);
      part("ops-count").textContent = countText(shown.length, rows.length + (beyond?.ops ?? 0));
    },
  };
}

/** @typedef {ReturnType<typeof createOpTable>} OpTable */

/** @param {Column} column @param {Model} model @param {View} view */
const opColumn = (column, model, view) =>
  tableColumn(withBeginning(column, model), {
    read: workReader(view, column),
    rows: view.rows,
    model,
    barToken: (row) => model.bounds[row.bound].token,
    shareToken: (row) => model.categories[row.category].token,
    costOf: (row) => row.cost,
    timingOf: (row) => row.timing,
    causeOf: view.reader("above_roof"),
    notShownOf: view.reader("not_shown"),
    isLeast: () => false,
    head: column.id === "name",
    chips: column.id === "name",
    headText: (row) => middleCut(row.short, letters),
    headTitle: (row) => row.name,
    chipsOf: (row) => row.chips,
    sourcePrefix: model.ops.names?.source_prefix ?? "",
  });

/**
 * The column, with what all of its texts begin with in its header.
 * @param {Column} column
 * @param {Model} model
 * @returns {Column}
 */
function withBeginning(column, { ops: { names } }) {
  const beginning = { name: names?.prefix, source: names?.source_prefix }[column.id];
  return beginning ? { ...column, sub: `all begin with ${beginning}` } : column;
}

/** Letters of a name that have room in the first column: wider windows have a wider one. */
let letters = 0;

function countLetters() {
  const { clientWidth: width } = document.documentElement;
  letters = width >= 2200 ? 72 : width >= 1700 ? 52 : width < 620 ? 20 : 36;
}

/** @param {number} shown @param {number} all */
const countText = (shown, all) => (shown === all ? count(all) : `${count(shown)} of ${count(all)}`);

/**
 * Operations that are not listed, with the rest of the time: the list adds up to the subject.
 * @param {Model} model
 * @param {View} view
 * @param {readonly Column[]} columns
 */
function restRow({ subject }, { beyond, rows, reader }, columns) {
  if (!subject || !(beyond?.ops > 0)) return [];
  const times = rows.map((row) => Number(reader("width_us")(row)));
  const time = times.reduce((left, one) => left - one, subject.time_us);
  const scale = columnScale("time_us", Math.max(...times));
  /** @type {Record<string, string>} */
  const texts = { width_us: scale.text(time), share_ratio: percent(time / subject.time_us) };
  const cells = columns.map(({ id }) => html("td", {}, texts[id] ?? ""));
  const name = html("th", { scope: "row" }, `${count(beyond.ops)} more operations`);
  return [html("tr", { class: "rest" }, name, ...cells.slice(1))];
}

/**
 * Values of a column. Starts of asynchronous operations have no bandwidth: their bytes move until long
 * after their time.
 * @param {View} view
 * @param {Column} column
 * @returns {(row: Row) => Value}
 */
function workReader(view, { id, unit }) {
  const read = view.reader(id);
  if (unit !== "gibs") return read;
  const isStart = view.reader("is_start");
  return (row) => (isStart(row) ? null : read(row));
}

/**
 * The header's order, in the cell's own terms: "idle" and "no cost" sort as missing.
 * @param {Model} model
 * @param {ViewState} state
 * @returns {(row: Row) => Value}
 */
function valueReader(model, state) {
  const id = sortColumn(state.sort);
  const column = model.column(id);
  const view = model.view(state.infeed);
  const read = column ? workReader(view, column) : view.reader(id);
  switch (column?.unit) {
    case "category":
      return (row) => entryOf(model.categories, read(row))?.name ?? null;
    case "bound":
      return (row) => entryOf(model.bounds, read(row))?.label ?? null;
    case "roof":
      return (row) => entryOf(model.roofs.compute, read(row))?.label ?? null;
    default:
      return read;
  }
}
