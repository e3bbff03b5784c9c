// The operations of a comparison: tabs, search, sorting and pages of one table.

import { openedTab, rowsOf, TABS } from "../state/compare-rows.js";
import { timeScale } from "../text/compare-words.js";
import { count } from "../text/format.js";
import { find, part } from "../ui/dom.js";
import { wireTabs } from "../ui/keyboard.js";
import { createCompareTable } from "./compare-table.js";

/** @import { ChangeRow, Comparison, CompareState } from "../types/comparison.js" */

export class CompareOps {
  /** @type {ChangeRow | null} */
  #selected = null;

  /**
   * @param {Comparison} found
   * @param {CompareState} state
   * @param {(state: CompareState) => void} onState what the reader chose has changed
   */
  constructor(found, state, onState) {
    const rows = rowsOf(found);
    this.state = { ...state, tab: openedTab(rows, state.tab) };
    this.onState = onState;
    this.rows = rows;
    this.table = createCompareTable({
      found,
      rows,
      scale: timeScale(Math.max(found.a_us, found.b_us)),
      onSelect: (row) => this.#toggle(row),
      onChange: (change) => this.set(change),
    });
    this.showTab = wireTabs(part("tabs"), (id) =>
      this.set({ tab: TABS.find((tab) => tab === id), page: 1 }),
    );
    for (const id of TABS) part(`count="${id}"`).textContent = count(rows[id].length);
    const field = find(HTMLInputElement, "#filter-name");
    field.value = state.q;
    field.addEventListener("input", () => this.set({ q: field.value, page: 1 }));
    this.show();
  }

  /** The rows of the table, as they are sorted and filtered. */
  get listed() {
    return this.table.listed;
  }

  /** @param {Partial<CompareState>} change */
  set(change) {
    this.state = { ...this.state, ...change };
    this.onState(this.state);
    this.show();
  }

  show() {
    this.table.show(this.state);
    this.showTab(this.state.tab);
  }

  /** Selects another row of the table. @param {number} step */
  move(step) {
    const rows = this.listed;
    const at = rows.findIndex((row) => row === this.#selected);
    const next = rows[at < 0 ? 0 : at + step];
    if (next && next !== this.#selected) this.#toggle(next);
  }

  unselect() {
    if (this.#selected) this.#toggle(this.#selected);
  }

  /** @param {ChangeRow} row */
  #toggle(row) {
    this.#selected = this.#selected === row ? null : row;
    this.table.select(this.#selected?.key ?? null);
  }
}
