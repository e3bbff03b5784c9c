// The selected operation and the selected program point: by the chart, the tables and the keyboard. Pure.

/** @import { ProgramPoint } from "../types/page-data.js" */
/** @import { Row } from "../types/model.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Table } from "../ui/table.js" */

/** @typedef {{ shiftKey: boolean, ctrlKey: boolean, metaKey: boolean }} Modifiers */
/** @typedef {Pick<Table<Row>, "rows" | "pageOf" | "scrollTo">} SelectedTable */

/**
 * @param {object} options
 * @param {Store} options.store
 * @param {() => SelectedTable} options.table of operations
 */
export function createSelection({ store, table }) {
  /** @param {number} op @param {number} fallback the page where the row is not in the table */
  function choose(op, fallback) {
    store.set({ op, page: table().pageOf(String(op)) ?? fallback });
    table().scrollTo(String(op));
  }
  /** Selects an op; the selected one is left. @param {Row} row */
  function toggle({ op }) {
    if (store.get().op === op) store.set({ op: null });
    else choose(op, store.get().page);
  }
  /**
   * Adds an op to those of which the sum is shown, or takes it out; the selected op is the first of them.
   * @param {Row} row
   */
  function pick({ op }) {
    const { op: chosen, sel } = store.get();
    const before = sel.length === 0 && chosen !== null && chosen !== op ? [chosen] : sel;
    const isIn = before.includes(op);
    store.set({ sel: isIn ? before.filter((one) => one !== op) : [...before, op] });
  }
  return {
    toggle,
    pick,
    /** A click on an op: with Shift, Ctrl or Cmd it is one of several. @param {Row} row @param {Modifiers} event */
    click: (row, event) =>
      event.shiftKey || event.ctrlKey || event.metaKey ? pick(row) : toggle(row),
    /** Selects a program point; the selected one is left. @param {ProgramPoint} point */
    togglePoint({ label }) {
      store.set({ step: store.get().step === label ? null : label });
    },
    /** Through the operations in the table's order. @param {number} step */
    move(step) {
      const { rows } = table();
      const index = rows.findIndex((row) => row.op === store.get().op);
      const next = rows[index < 0 ? 0 : index + step];
      if (next) choose(next.op, 1);
    },
    /** Selects the operation or the program point of a pin. @param {Pick<ShownPin, "row" | "point">} pin */
    showPin({ row, point }) {
      if (row) choose(row.op, store.get().page);
      else if (point) store.set({ step: point.label });
    },
    closeOp: () => store.set({ op: null }),
    close: () => store.set({ op: null, sel: [], step: null }),
  };
}

/** @typedef {ReturnType<typeof createSelection>} Selection */
