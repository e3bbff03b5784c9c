// The view of a comparison: waterfall, charts, categories and table show the same rows and filters.

import { createCompareChart } from "../chart/compare-chart.js";
import { createCompareStrip } from "../chart/compare-strip.js";
import {
  TABS,
  TABS_OF_TERMS,
  filterOf,
  leastChange,
  mostOfChange,
  openedTab,
  rowsOf,
} from "../state/compare-rows.js";
import { TERM_NAMES, timeScale } from "../text/compare-words.js";
import { middleCut } from "../text/names.js";
import { find, findAll, part } from "../ui/dom.js";
import { createCompareCard } from "./compare-card.js";
import { createCompareTable } from "./compare-table.js";
import { createWhere } from "./compare-where.js";
import { createWhy } from "./compare-why.js";

/** @import { ChangeRow, Comparison, CompareState, TabId } from "../types/comparison.js" */

const NAME_SHOWN = 22;

export class CompareView {
  /** @type {ChangeRow | null} */
  #selected = null;

  /**
   * @param {Comparison} found
   * @param {CompareState} state
   * @param {(state: CompareState) => void} onState what the reader chose has changed
   */
  constructor(found, state, onState) {
    const least = leastChange(found);
    const scale = timeScale(Math.max(found.a_us, found.b_us));
    const rows = rowsOf(found);
    this.state = { ...state, tab: openedTab(rows, state.tab) };
    this.scale = scale;
    this.onState = onState;
    this.rows = rows;
    this.every = Object.values(rows).flat();
    this.most = mostOfChange(this.every);
    const moved = this.every.filter(({ changeUs }) => Math.abs(changeUs) > least);
    this.all = new Set(moved.map(({ key }) => key));
    const card = createCompareCard(found, least / 100);
    const onClick = (/** @type {ChangeRow} */ row) => this.#toggle(row);
    const onHover = (/** @type {ChangeRow | null} */ row, /** @type {PointerEvent} */ event) => {
      card.show(row, event);
      this.#light(row);
    };
    this.chart = createCompareChart({
      found,
      onHover,
      onClick,
      labelOf: (row) => {
        const name = row.b?.names[0] ?? row.name;
        const short = middleCut(found.page.short_names[name] ?? name, NAME_SHOWN);
        return `${short} ${scale.change(row.changeUs)} ${scale.unit}`;
      },
    });
    this.strip = createCompareStrip({ found, onHover, onClick });
    this.why = createWhy({ found, scale, least, onTerm: (term) => this.#chooseTerm(term) });
    this.where = createWhere({
      found,
      scale,
      least,
      onCategory: (category) =>
        this.set({ category: this.state.category === category ? null : category, page: 1 }),
    });
    this.table = createCompareTable({
      found,
      rows,
      scale,
      onLight: (row) => this.#light(row),
      onSelect: onClick,
      onChange: (change) => this.set(change),
    });
    this.showTab = wireTabs((tab) => this.set({ tab, page: 1 }));
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
    const { state } = this;
    this.why.show(state.term);
    this.where.show(state.category);
    this.table.show(state);
    this.showTab(state.tab, this.rows);
    for (const button of findAll(HTMLElement, "[data-arrows]"))
      button.setAttribute("aria-pressed", String(button.dataset.arrows === state.arrows));
    showChip(state);
    this.draw();
  }

  draw() {
    const { every, state } = this;
    const hot = state.arrows === "all" ? this.all : this.most;
    const shown = { rows: every, hot, isWanted: filterOf(state) };
    this.chart.draw(shown);
    this.strip.draw(shown);
    this.#light(null);
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
    const tab = TABS.find((id) => this.rows[id].includes(row));
    if (this.#selected && tab && tab !== this.state.tab) this.set({ tab, page: 1 });
    this.table.select(this.#selected?.key ?? null);
    this.#light(null);
  }

  /** @param {ChangeRow | null} row null: the selected one, if any */
  #light(row) {
    const key = (row ?? this.#selected)?.key ?? null;
    this.chart.light(key);
    this.strip.light(key);
    this.table.light(row?.key ?? null);
  }

  /** @param {string} term */
  #chooseTerm(term) {
    const isOff = this.state.term === term;
    const tab = isOff ? this.state.tab : (TABS_OF_TERMS[term] ?? "changed");
    this.set({ term: isOff ? null : term, tab, page: 1 });
  }
}

/** @param {CompareState} state */
function showChip({ term, category }) {
  const chip = part("filter-chip");
  const words = [term && (TERM_NAMES[term] ?? term), category].filter(Boolean);
  chip.hidden = words.length === 0;
  find(HTMLElement, "span", chip).textContent = words.join(", ");
}

/**
 * Tabs as the ARIA pattern has them; all of them show the same panel.
 * @param {(tab: TabId) => void} onChoose
 */
function wireTabs(onChoose) {
  const tabs = TABS.map((id) => ({ id, button: find(HTMLElement, `#tab-${id}`) }));
  tabs.forEach(({ id, button }, i) => {
    button.addEventListener("click", () => onChoose(id));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs[(i + step + tabs.length) % tabs.length];
      next.button.focus();
      onChoose(next.id);
    });
  });
  /** @param {TabId} chosen @param {Record<TabId, ChangeRow[]>} rows */
  return (chosen, rows) => {
    for (const { id, button } of tabs) {
      button.setAttribute("aria-selected", String(id === chosen));
      button.tabIndex = id === chosen ? 0 : -1;
      part(`count="${id}"`).textContent = rows[id].length.toLocaleString("en-GB");
    }
    find(HTMLElement, "#panel").setAttribute("aria-labelledby", `tab-${chosen}`);
  };
}
