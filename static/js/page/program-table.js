// The table of the program and its steps.

import { programColumns } from "../state/shown-columns.js";
import { pointValue } from "../state/model.js";
import { count } from "../text/format.js";
import { programName } from "../text/words.js";
import { find, part } from "../ui/dom.js";
import { Table } from "../ui/table.js";
import { tableColumn } from "./cells.js";

/** @import { Column, ProgramPoint, Unit } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */
/** @import { PinMark, TableColumn } from "../ui/table.js" */

/** @param {ProgramPoint} point */
export const keyOfPoint = (point) => `${point.scope} ${point.label}`;

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {(point: ProgramPoint) => void} options.onSelect
 * @param {(point: ProgramPoint | null) => void} options.onLight
 * @param {(column: TableColumn<ProgramPoint> | null, anchor: HTMLElement) => void} options.onHelp
 */
export function createProgramTable({ model, store, onSelect, onLight, onHelp }) {
  let page = 1;
  const grid = new Table({
    table: find(HTMLTableElement, "#program-table"),
    caption: "Program and steps",
    sortable: false,
    keyOf: keyOfPoint,
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
    if (!grid.hasColumns) setColumns();
    const { step } = store.get();
    const chosen = points().find((point) => point.label === step);
    grid.show(points(), page);
    grid.select(chosen ? keyOfPoint(chosen) : null);
    grid.empty.hidden = points().length > 0;
    grid.empty.textContent = "The profile has no program totals.";
    part("program-count").textContent = count(points().length);
  }

  const setColumns = () =>
    grid.setColumns(
      programColumns(model.program_columns, store.get().pcols).map((column, i) =>
        pointColumn(column, model, points(), i === 0),
      ),
      "",
    );

  return {
    setColumns,
    show,
    /** @param {ProgramPoint | null} point */
    light: (point) => grid.light(point ? keyOfPoint(point) : null),
    /** Marks of pinned points. @param {ReadonlyMap<string, PinMark>} pins by key */
    pin: (pins) => grid.pin(pins),
  };
}

/** @typedef {ReturnType<typeof createProgramTable>} ProgramTable */

/**
 * Rates that lack the work of a part of the time.
 * @param {ProgramPoint} point
 * @param {Unit} unit
 */
function isLowerBound(point, unit) {
  if (unit === "gflops") return point.flop_is_least ?? false;
  return unit === "gibs" && (point.bytes_is_least ?? false);
}

/**
 * @param {Column} column
 * @param {Model} model
 * @param {ProgramPoint[]} points
 * @param {boolean} head
 */
function pointColumn(column, model, points, head) {
  /** @param {ProgramPoint} point */
  const token = (point) => model.bounds[point.bound_by]?.token ?? "--ink-3";
  return tableColumn(column, {
    read: (point) => pointValue(point, column.id),
    rows: points,
    model,
    barToken: token,
    shareToken: token,
    costOf: () => null,
    timingOf: () => "measured",
    causeOf: () => null,
    notShownOf: () => null,
    isLeast: isLowerBound,
    head,
    headText: programName,
    headTitle: programName,
    chipsOf: () => [],
    chips: false,
    sourcePrefix: "",
  });
}
