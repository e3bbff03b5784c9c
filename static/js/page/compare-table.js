// The tables of a comparison: pairs, groups and ops of one run, with their terms as words.

import { shownRows } from "../state/compare-rows.js";
import { fromTo, termsInWords } from "../text/compare-words.js";
import { count, percent, significant } from "../text/format.js";
import { find, html, part, svg } from "../ui/dom.js";
import { boundGlyph, mark } from "../ui/marks.js";
import { Table } from "../ui/table.js";

/** @import { ChangeRow, Comparison, CompareState, TabId } from "../types/comparison.js" */
/** @import { TimeScale } from "../text/compare-words.js" */
/** @import { TableColumn } from "../ui/table.js" */

/** @type {Record<TabId, string>} */
const CAPTIONS = {
  changed: "Operations that changed",
  same: "Operations that did not change by more than 0.01 % of the time",
  groups: "Groups of operations that became others",
  "only-a": "Operations that only A has",
  "only-b": "Operations that only B has",
};

/**
 * @param {object} options
 * @param {Comparison} options.found
 * @param {Record<TabId, ChangeRow[]>} options.rows
 * @param {TimeScale} options.scale
 * @param {(row: ChangeRow) => void} options.onSelect
 * @param {(change: Partial<CompareState>) => void} options.onChange
 */
export function createCompareTable({ found, rows, scale, onSelect, onChange }) {
  const total = Object.values(rows)
    .flat()
    .reduce((sum, row) => sum + Math.abs(row.changeUs), 0);
  const largest = Math.max(
    0,
    ...Object.values(rows)
      .flat()
      .map((row) => Math.abs(row.changeUs)),
  );
  const element = find(HTMLTableElement, "[data-table]");
  /** @type {CompareState | null} */
  let shown = null;
  /** @type {ChangeRow[]} */
  let listed = [];
  const table = new Table({
    table: element,
    caption: "Operations",
    sortable: true,
    keyOf: (/** @type {ChangeRow} */ row) => row.key,
    onSelect,
    onLight: () => {},
    onSort: (id) => onChange({ sort: nextSort(shown?.sort ?? "", id), page: 1 }),
    onPage: (page) => onChange({ page }),
    onHelp: (column, anchor) => {
      anchor.title = column?.help ?? "";
    },
  });
  element.caption?.classList.add("sr");
  const columns = columnsOf(found, scale, { total, largest });
  const value = valueReader(total);

  return {
    /** @param {CompareState} state */
    show(state) {
      const isNew = shown === null || shown.tab !== state.tab;
      shown = state;
      if (isNew) table.setColumns(columns, state.sort);
      table.showSort(state.sort);
      listed = shownRows(rows[state.tab], state, value);
      if (element.caption) element.caption.textContent = CAPTIONS[state.tab];
      table.show(listed, state.page);
      const empty = part("empty");
      empty.hidden = listed.length > 0;
      empty.textContent = emptyWords(rows[state.tab].length, state.tab);
      const sum = listed.reduce((all, row) => all + row.changeUs, 0);
      part("sum").textContent =
        `Their change: ${scale.change(sum)} ${scale.unit} of ${scale.change(found.change_us)} ${scale.unit}`;
    },
    select: (/** @type {string | null} */ key) => table.select(key),
    get listed() {
      return listed;
    },
  };
}

/** @param {number} all rows of the tab @param {TabId} tab */
function emptyWords(all, tab) {
  if (all > 0) return `No operation of ${count(all)} matches`;
  switch (tab) {
    case "changed":
      return "No operation changed by more than 0.01 % of the time.";
    case "same":
      return "Every operation changed.";
    case "groups":
      return "No operations were split or merged.";
    default:
      return "Every operation has a partner.";
  }
}

/** Numbers descend first, words ascend. @param {string} sort @param {string} id */
function nextSort(sort, id) {
  if (sort === `-${id}`) return id;
  if (sort === id) return `-${id}`;
  return id === "name" || id === "category" || id === "bound" ? id : `-${id}`;
}

/** The key of a sorted column. @param {number} total @returns {(row: ChangeRow, column: string) => number | string} */
const valueReader = (total) => (row, column) => {
  switch (column) {
    case "name":
      return row.name;
    case "category":
      return row.category;
    case "bound":
      return `${row.b?.bound ?? row.a?.bound ?? ""}`;
    case "tier":
      return Number(row.tier) || 10;
    case "calls":
      return row.b?.calls ?? row.a?.calls ?? NaN;
    case "a":
      return row.a?.timeUs ?? NaN;
    case "b":
      return row.b?.timeUs ?? NaN;
    case "roof":
      return row.b?.efficiency ?? row.a?.efficiency ?? NaN;
    case "share":
      return total > 0 ? Math.abs(row.changeUs) / total : 0;
    default:
      return Math.abs(row.changeUs);
  }
};

/**
 * @param {Comparison} found
 * @param {TimeScale} scale
 * @param {{ total: number, largest: number }} of all rows
 * @returns {TableColumn<ChangeRow>[]}
 */
function columnsOf({ page }, scale, { total, largest }) {
  const { unit } = scale;
  /** @param {string} id @param {string} label @param {string} sub @param {string} help @param {(cell: HTMLElement, row: ChangeRow) => void} paint @param {"left" | "right"} [align] @returns {TableColumn<ChangeRow>} */
  const column = (id, label, sub, help, paint, align = "right") => ({
    id,
    label,
    sub,
    help,
    align,
    head: id === "name",
    paint,
  });
  const tierLabels = new Map(page.tiers.map(({ id, label }) => [id, label]));
  return [
    column("name", "Operation", "A → B", "Names in A and B", paintName, "left"),
    column("category", "Category", "", "Category in B", paintCategory, "left"),
    column("tier", "Pair", "tier", "How sure the pair is: 1 is the surest", (cell, { tier }) => {
      cell.replaceChildren(
        html(
          "span",
          { class: "tier", title: tierLabels.get(tier) ?? "" },
          tier === "only" ? "–" : tier,
        ),
      );
    }),
    column(
      "calls",
      "Calls",
      `per ${page.per.replace(/^an? |^in the /, "")}`,
      "Calls per unit and core",
      (cell, { a, b }) => {
        cell.textContent = fromTo(a && significant(a.calls), b && significant(b.calls));
      },
    ),
    column(
      "a",
      "A",
      unit,
      "Time in A",
      (cell, { a }) => void (cell.textContent = a ? scale.text(a.timeUs) : "–"),
    ),
    column(
      "b",
      "B",
      unit,
      "Time in B",
      (cell, { b }) => void (cell.textContent = b ? scale.text(b.timeUs) : "–"),
    ),
    column("change", "Change", unit, "B − A", (cell, { changeUs }) => {
      cell.className =
        scale.change(changeUs) === "0" ? "zero" : `delta-${changeUs < 0 ? "good" : "bad"}`;
      cell.replaceChildren(deltaBar(changeUs, largest), html("span", {}, scale.change(changeUs)));
    }),
    column(
      "share",
      "Share",
      "of |change|",
      "Share of the sum of all changes, whatever their sign",
      (cell, { changeUs }) => {
        cell.textContent = percent(total > 0 ? Math.abs(changeUs) / total : 0);
      },
    ),
    column(
      "terms",
      "Terms",
      unit,
      "What the change comes from; the terms add up to it",
      (cell, { terms }) => {
        cell.classList.add("terms");
        cell.textContent = termsInWords(terms, scale);
      },
      "left",
    ),
    column("bound", "Bound", "A → B", "The resource at the lowest roof", paintBound, "left"),
    column("roof", "Share of roof", "A → B", "Time at the roof ÷ time", (cell, { a, b }) => {
      cell.textContent = fromTo(a && percent(a.efficiency, 0), b && percent(b.efficiency, 0));
    }),
  ];

  /** @param {HTMLElement} cell @param {ChangeRow} row */
  function paintName(cell, row) {
    const button = find(HTMLButtonElement, "button", cell);
    button.textContent = row.name;
    button.title = [row.name, row.path, row.b?.source ?? row.a?.source ?? ""]
      .filter(Boolean)
      .join("\n");
  }

  /** @param {HTMLElement} cell @param {ChangeRow} row */
  function paintCategory(cell, { category }) {
    const style = page.styles[category];
    cell.replaceChildren(
      html(
        "span",
        { class: "badge" },
        mark(style?.symbol ?? "circle", `var(${style?.token ?? "--c12"})`),
        category,
      ),
    );
  }

  /** @param {HTMLElement} cell @param {ChangeRow} row */
  function paintBound(cell, { a, b }) {
    const before = a?.bound ? (page.bounds[a.bound] ?? null) : null;
    const after = b?.bound ? (page.bounds[b.bound] ?? null) : null;
    const last = after ?? before;
    const words = fromTo(
      before?.label ?? (a ? "unknown" : null),
      after?.label ?? (b ? "unknown" : null),
    );
    cell.replaceChildren(html("span", { class: "badge" }, last ? boundGlyph(last) : null, words));
  }
}

/**
 * A bar to the left or right of a middle line.
 * @param {number} us
 * @param {number} largest
 */
function deltaBar(us, largest) {
  const length = largest > 0 ? Math.max(1, (Math.abs(us) / largest) * 49) : 0;
  const attributes = {
    class: "delta",
    viewBox: "0 0 100 12",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  };
  const x = us < 0 ? 50 - length : 50;
  return svg(
    "svg",
    attributes,
    svg("line", { class: "middle", x1: 50, x2: 50, y1: 0, y2: 12 }),
    svg("rect", { class: us < 0 ? "less" : "more", x, y: 2, width: length, height: 8 }),
  );
}
