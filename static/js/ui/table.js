// A native, paged table over rows of any kind. Rows and cells are made once and repainted: typing in a
// filter changes texts, not elements.

import { html } from "./dom.js";

const ROWS_PER_PAGE = 50;
/** With very many columns half a page keeps the document as light as usual. */
const MANY_COLUMNS = 24;

/**
 * @template R
 * @typedef {object} TableColumn
 * @property {string} id
 * @property {string} label
 * @property {string} sub second header line: unit and qualifier
 * @property {string} help
 * @property {"left" | "right"} align
 * @property {boolean} head the row header: first, sticky, holds the button that selects the row
 * @property {(cell: HTMLElement, row: R) => void} paint
 */

/**
 * @template R
 * @param {object} options
 * @param {HTMLTableElement} options.table
 * @param {string} options.caption
 * @param {boolean} options.sortable
 * @param {(row: R) => string} options.keyOf
 * @param {(row: R) => void} options.onSelect
 * @param {(row: R | null) => void} options.onLight
 * @param {(id: string) => void} options.onSort
 * @param {(page: number) => void} options.onPage
 * @param {(column: TableColumn<R> | null, anchor: HTMLElement) => void} options.onHelp
 */
export function createTable({
  table,
  caption,
  sortable,
  keyOf,
  onSelect,
  onLight,
  onSort,
  onPage,
  onHelp,
}) {
  const head = table.tHead;
  const body = table.tBodies[0];
  const panel = table.closest("[role=tabpanel]");
  const scroller = table.closest(".grid-wrap");
  const pageText = panel.querySelector("[data-page-text]");
  const [previous, next] = panel.querySelectorAll("[data-page-by]");
  /** @type {TableColumn<R>[]} */
  let columns = [];
  /** @type {HTMLTableRowElement[]} made once per set of columns */
  let pool = [];
  /** @type {R[]} */
  let rows = [];
  let page = 1;
  let litKey = null;
  let selectedKey = null;
  let focusKey = null;
  table.caption.textContent = caption;

  const pageSize = () => (columns.length > MANY_COLUMNS ? ROWS_PER_PAGE / 2 : ROWS_PER_PAGE);
  const pages = () => Math.max(1, Math.ceil(rows.length / pageSize()));
  const onPageNow = () => rows.slice((page - 1) * pageSize(), page * pageSize());
  const rowOf = (event) => {
    const element = event.target.closest?.("tbody tr");
    return element ? (onPageNow()[pool.indexOf(element)] ?? null) : null;
  };

  body.addEventListener("click", (event) => {
    const row = rowOf(event);
    if (row) onSelect(row);
  });
  body.addEventListener("pointerover", (event) => onLight(rowOf(event)));
  body.addEventListener("pointerleave", () => onLight(null));
  body.addEventListener("focusin", (event) => {
    const row = rowOf(event);
    if (!row) return;
    focusKey = keyOf(row);
    onLight(row);
  });
  body.addEventListener("focusout", () => onLight(null));
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) moveFocus(event, step);
  });
  previous.addEventListener("click", () => onPage(page - 1));
  next.addEventListener("click", () => onPage(page + 1));

  /** Arrow keys walk through all rows, over the page's end. */
  function moveFocus(event, step) {
    const row = rowOf(event);
    const index = rows.indexOf(row) + step;
    if (!row || index < 0 || index >= rows.length) return;
    event.preventDefault();
    focusKey = keyOf(rows[index]);
    const wanted = Math.floor(index / pageSize()) + 1;
    if (wanted !== page) onPage(wanted);
    paint();
    pool[index % pageSize()]?.querySelector("button")?.focus();
  }

  /** Columns that only mean something else, as under other peaks, keep their cells. */
  function setColumns(wanted, sort) {
    const isSame =
      wanted.length === columns.length &&
      wanted.every(({ id, head: isHead }, i) => id === columns[i].id && isHead === columns[i].head);
    columns = wanted;
    if (!isSame) {
      pool = [];
      body.replaceChildren();
    }
    head.replaceChildren(html("tr", {}, ...columns.map((column) => createHeader(column))));
    showSort(sort);
  }

  function createHeader(column) {
    const label = [
      html("span", {}, column.label),
      column.sub ? html("small", {}, column.sub) : null,
    ];
    const content = sortable
      ? html(
          "button",
          { type: "button", "data-column": column.id, on: { click: () => onSort(column.id) } },
          ...label,
        )
      : html("div", { "data-column": column.id }, ...label);
    const header = html(
      "th",
      { scope: "col", class: column.align === "left" ? "left" : null },
      content,
    );
    header.addEventListener("pointerenter", () => onHelp(column, header));
    header.addEventListener("pointerleave", () => onHelp(null, header));
    header.addEventListener("focusin", () => onHelp(column, header));
    header.addEventListener("focusout", () => onHelp(null, header));
    return header;
  }

  function showSort(sort) {
    const descending = sort.startsWith("-");
    const id = descending ? sort.slice(1) : sort;
    [...head.rows[0].cells].forEach((cell, i) => {
      if (columns[i].id === id)
        cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  }

  function createRow() {
    const cells = columns.map((column) => {
      const align = column.align === "left" ? "left" : null;
      return column.head
        ? html(
            "th",
            { scope: "row", class: align },
            html("button", { type: "button", tabindex: -1 }),
          )
        : html("td", { class: align });
    });
    return /** @type {HTMLTableRowElement} */ (html("tr", {}, ...cells));
  }

  function paint() {
    const visible = onPageNow();
    while (pool.length < visible.length) {
      pool.push(createRow());
      body.append(pool.at(-1));
    }
    const keys = visible.map(keyOf);
    const tabStop = Math.max(0, keys.indexOf(focusKey));
    pool.forEach((element, i) => {
      element.hidden = i >= visible.length;
      if (element.hidden) return;
      columns.forEach((column, c) => column.paint(element.cells[c], visible[i]));
      element.querySelector("button").tabIndex = i === tabStop ? 0 : -1;
    });
    mark(keys);
    paintPager(visible.length);
  }

  function mark(keys = onPageNow().map(keyOf)) {
    pool.forEach((element, i) => {
      element.classList.toggle("lit", keys[i] !== undefined && keys[i] === litKey);
      const selected = keys[i] !== undefined && keys[i] === selectedKey;
      if ((element.getAttribute("aria-selected") === "true") !== selected)
        element.setAttribute("aria-selected", String(selected));
    });
  }

  function paintPager(visible) {
    const first = (page - 1) * pageSize();
    pageText.textContent =
      visible > 0
        ? `Rows ${first + 1}–${first + visible} of ${rows.length.toLocaleString("en-GB")}`
        : "No rows";
    previous.disabled = page <= 1;
    next.disabled = page >= pages();
  }

  return {
    /** @param {TableColumn<R>[]} wanted @param {string} sort */
    setColumns,
    showSort,
    /**
     * @param {R[]} all sorted
     * @param {number} wantedPage first is 1; kept inside what exists
     */
    show(all, wantedPage) {
      rows = all;
      page = Math.min(Math.max(1, wantedPage), pages());
      table.hidden = rows.length === 0;
      paint();
    },
    /** @param {string | null} key */
    light(key) {
      litKey = key;
      mark();
    },
    /** @param {string | null} key */
    select(key) {
      selectedKey = key;
      if (key !== null) focusKey = key;
      mark();
    },
    /** The page that holds this row; null when it is not among the rows. */
    pageOf(key) {
      const index = rows.findIndex((row) => keyOf(row) === key);
      return index < 0 ? null : Math.floor(index / pageSize()) + 1;
    },
    /**
     * Brings a row into sight inside the table; the page stays, since the eye may be on the chart.
     * @param {string} key
     */
    scrollTo(key) {
      const row = pool[onPageNow().findIndex((one) => keyOf(one) === key)];
      if (!row) return;
      const top = row.offsetTop - head.offsetHeight;
      const bottom = row.offsetTop + row.offsetHeight - scroller.clientHeight;
      if (scroller.scrollTop > top) scroller.scrollTop = top;
      else if (scroller.scrollTop < bottom) scroller.scrollTop = bottom;
    },
    get rows() {
      return rows;
    },
    empty: panel.querySelector("[data-empty]"),
  };
}
