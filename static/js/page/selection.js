// The selected operation and the selected program point: by the chart, the tables and the keyboard. Pure.

/** @import { ProgramPoint } from "../types/page-data.js" */
/** @import { Row } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Table } from "../ui/table.js" */

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
  return {
    /** Selects an op; the selected one is left. @param {Row} row */
    toggle({ op }) {
      if (store.get().op === op) store.set({ op: null });
      else choose(op, store.get().page);
    },
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
    closeOp: () => store.set({ op: null }),
    close: () => store.set({ op: null, step: null }),
  };
}

/** @typedef {ReturnType<typeof createSelection>} Selection */
