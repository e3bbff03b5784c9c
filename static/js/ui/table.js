// A native, paged table over rows of any kind. Rows and cells are made once and repainted: typing in a
// filter changes texts, not elements.

import { count } from "../text/format.js";
import { around, find, html, part } from "./dom.js";
import { painted, turn } from "./turns.js";

const ROWS_PER_PAGE = 50;
/**
 * Rows that are painted at once: more than most windows show of a table, and few of one that is out of sight. The others
 * follow a frame later.
 */
const ROWS_AT_ONCE = { seen: 20, unseen: 3 };
const ON_PAPER = 20; // rows of a page that are printed: page.css
const MOST_CHIPS = 3;
/** With very many columns half a page keeps the document as light as usual. */
const MANY_COLUMNS = 24;
/** @type {Record<string, number | undefined>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

/**
 * @template R
 * @typedef {object} TableColumn
 * @property {string} id
 * @property {string} label
 * @property {string} sub second header line: unit and qualifier
 * @property {string} help
 * @property {"left" | "right"} align
 * @property {boolean} head the row header: first, sticky, holds the button that selects the row
 * @property {boolean} [chips] the row header has room for words beside the button
 * @property {(cell: HTMLElement, row: R) => void} paint
 */

/**
 * @template R
 * @typedef {object} TableOptions
 * @property {HTMLTableElement} table
 * @property {string} caption
 * @property {boolean} sortable
 * @property {(row: R) => string} keyOf
 * @property {(row: R, event: MouseEvent) => void} onSelect
 * @property {(row: R | null) => void} onLight
 * @property {(id: string) => void} onSort
 * @property {(page: number) => void} onPage
 * @property {(column: TableColumn<R> | null, anchor: HTMLElement) => void} onHelp
 */

/** @typedef {{ number: number, note: string }} PinMark */

/** @template R */
export class Table {
  /** @type {TableOptions<R>} */
  #options;
  /** @type {TableColumn<R>[]} */
  #columns = [];
  /** @type {HTMLTableRowElement[]} made once per set of columns */
  #pool = [];
  /** @type {R[]} */
  #rows = [];
  #page = 1;
  /** @type {string | null} */
  #litKey = null;
  /** @type {string | null} */
  #selectedKey = null;
  /** @type {ReadonlySet<string>} */
  #pickedKeys = new Set();
  /** @type {ReadonlyMap<string, PinMark>} */
  #pins = new Map();
  /** @type {string | null} */
  #focusKey = null;
  #painting = 0;
  #isSeen = true;

  /** @param {TableOptions<R>} options */
  constructor(options) {
    const { table, caption, onPage } = options;
    const panel = table.closest("[role=tabpanel], .tables") ?? document;
    this.#options = options;
    this.head = table.createTHead();
    this.body = table.tBodies[0];
    this.scroller = find(HTMLElement, ".grid-wrap", panel);
    this.empty = part("empty", panel);
    this.pageText = part("page-text", panel);
    this.previous = find(HTMLButtonElement, '[data-page-by="-1"]', panel);
    this.next = find(HTMLButtonElement, '[data-page-by="1"]', panel);
    table.createCaption().textContent = caption;
    this.previous.addEventListener("click", () => onPage(this.#page - 1));
    this.next.addEventListener("click", () => onPage(this.#page + 1));
    this.#wireRows();
    new IntersectionObserver(([entry]) => {
      this.#isSeen = entry.isIntersecting;
    }).observe(this.scroller);
  }

  /** All rows, sorted as they are shown. */
  get rows() {
    return this.#rows;
  }

  get hasColumns() {
    return this.#columns.length > 0;
  }

  /**
   * Columns that only mean something else, as under other peaks, keep their cells.
   * @param {TableColumn<R>[]} wanted
   * @param {string} sort
   */
  setColumns(wanted, sort) {
    const before = this.#columns;
    const isSame =
      wanted.length === before.length &&
      wanted.every(({ id, head }, i) => id === before[i].id && head === before[i].head);
    this.#columns = wanted;
    if (!isSame) {
      this.#pool = before.length === 0 ? this.#written() : [];
      this.body.replaceChildren(...this.#pool);
    }
    this.head.replaceChildren(html("tr", {}, ...wanted.map((column) => this.#header(column))));
    this.showSort(sort);
  }

  /** @param {string} sort column id, "-" first for descending */
  showSort(sort) {
    const descending = sort.startsWith("-");
    const id = descending ? sort.slice(1) : sort;
    [...this.head.rows[0].cells].forEach((cell, i) => {
      if (this.#columns[i].id === id)
        cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  }

  /**
   * @param {R[]} all sorted
   * @param {number} wantedPage first is 1; kept inside what exists
   */
  show(all, wantedPage) {
    this.#rows = all;
    this.#page = Math.min(Math.max(1, wantedPage), this.#pages);
    this.#options.table.hidden = all.length === 0;
    this.#paint();
  }

  /** @param {string | null} key */
  light(key) {
    this.#litKey = key;
    this.#mark();
  }

  /** @param {string | null} key */
  select(key) {
    this.#selectedKey = key;
    if (key !== null) this.#focusKey = key;
    this.#mark();
  }

  /** Marks several rows. @param {readonly string[]} keys */
  pick(keys) {
    this.#pickedKeys = new Set(keys);
    this.#mark();
  }

  /** Marks pinned rows with their numbers and notes. @param {ReadonlyMap<string, PinMark>} pins by key */
  pin(pins) {
    this.#pins = pins;
    this.#mark();
  }

  /** The page that holds this row; null when it is not among the rows. @param {string} key */
  pageOf(key) {
    const index = this.#rows.findIndex((row) => this.#options.keyOf(row) === key);
    return index < 0 ? null : this.#pageAt(index);
  }

  /**
   * Brings a row into sight inside the table; the page stays, since the eye may be on the chart.
   * @param {string} key
   */
  scrollTo(key) {
    const row = this.#pool[this.#shownKeys().indexOf(key)];
    if (!row) return;
    const { scroller } = this;
    const top = row.offsetTop - this.head.offsetHeight;
    const bottom = row.offsetTop + row.offsetHeight - scroller.clientHeight;
    if (scroller.scrollTop > top) scroller.scrollTop = top;
    else if (scroller.scrollTop < bottom) scroller.scrollTop = bottom;
  }

  get #pageSize() {
    return this.#columns.length > MANY_COLUMNS ? ROWS_PER_PAGE / 2 : ROWS_PER_PAGE;
  }

  get #pages() {
    return Math.max(1, Math.ceil(this.#rows.length / this.#pageSize));
  }

  /** @param {number} index of a row */
  #pageAt(index) {
    return Math.floor(index / this.#pageSize) + 1;
  }

  #shown() {
    return this.#rows.slice((this.#page - 1) * this.#pageSize, this.#page * this.#pageSize);
  }

  #shownKeys() {
    return this.#shown().map(this.#options.keyOf);
  }

  /** The row that an event happened on. @param {Event} event */
  #rowOf(event) {
    const element = around(event, "tbody tr");
    const at = element instanceof HTMLTableRowElement ? this.#pool.indexOf(element) : -1;
    return this.#shown()[at] ?? null;
  }

  #wireRows() {
    const { keyOf, onSelect, onLight } = this.#options;
    this.body.addEventListener("click", (event) => {
      const row = this.#rowOf(event);
      if (row) onSelect(row, event);
    });
    // Shift with a click adds a row to others: it must not mark the text between them.
    this.body.addEventListener("mousedown", (event) => {
      if (event.shiftKey) event.preventDefault();
    });
    this.body.addEventListener("pointerover", (event) => onLight(this.#rowOf(event)));
    this.body.addEventListener("pointerleave", () => onLight(null));
    this.body.addEventListener("focusin", (event) => {
      const row = this.#rowOf(event);
      if (!row) return;
      this.#focusKey = keyOf(row);
      onLight(row);
    });
    this.body.addEventListener("focusout", () => onLight(null));
    this.body.addEventListener("keydown", (event) => this.#moveFocus(event, STEPS[event.key] ?? 0));
  }

  /**
   * Arrow keys walk through all rows, over the page's end.
   * @param {KeyboardEvent} event
   * @param {number} step 0: another key
   */
  #moveFocus(event, step) {
    const row = this.#rowOf(event);
    const index = row ? this.#rows.indexOf(row) + step : -1;
    if (step === 0 || index < 0 || index >= this.#rows.length) return;
    event.preventDefault();
    this.#focusKey = this.#options.keyOf(this.#rows[index]);
    const wanted = this.#pageAt(index);
    if (wanted !== this.#page) this.#options.onPage(wanted);
    this.#paint();
    this.#pool[index % this.#pageSize]?.querySelector("button")?.focus();
  }

  /** @param {TableColumn<R>} column */
  #header(column) {
    const { onHelp } = this.#options;
    const left = column.align === "left" ? "left" : null;
    const header = html("th", { scope: "col", class: left }, this.#headerContent(column));
    header.addEventListener("pointerenter", () => onHelp(column, header));
    header.addEventListener("pointerleave", () => onHelp(null, header));
    header.addEventListener("focusin", () => onHelp(column, header));
    header.addEventListener("focusout", () => onHelp(null, header));
    return header;
  }

  /** @param {TableColumn<R>} column */
  #headerContent({ id, label, sub }) {
    const { sortable, onSort } = this.#options;
    const words = [html("span", {}, label), sub ? html("small", {}, sub) : null];
    if (!sortable) return html("div", { "data-column": id }, ...words);
    const on = { click: () => onSort(id) };
    return html("button", { type: "button", "data-column": id, on }, ...words);
  }

  /** Rows that the server wrote, where they have these columns: painting writes only what differs. */
  #written() {
    const rows = [...this.body.rows];
    const fits =
      this.#columns[0]?.head && rows.every(({ cells }) => cells.length === this.#columns.length);
    if (!fits) return [];
    for (const row of rows) {
      const words = row.querySelector(".row-name");
      const chips = this.#columns[0].chips ? MOST_CHIPS : 0;
      while (words && words.childElementCount <= chips)
        words.append(html("span", { class: "op-chip" }));
    }
    return rows;
  }

  #createRow() {
    const cells = this.#columns.map(({ align, head, chips = false }) => {
      const left = align === "left" ? "left" : null;
      if (!head) return html("td", { class: left });
      const button = html("button", { type: "button", tabindex: -1 });
      const boxes = Array.from({ length: chips ? MOST_CHIPS : 0 }, () =>
        html("span", { class: "op-chip" }),
      );
      return html(
        "th",
        { scope: "row", class: left },
        html("div", { class: "row-name" }, button, ...boxes),
      );
    });
    return html("tr", {}, ...cells);
  }

  #paint() {
    const visible = this.#shown();
    while (this.#pool.length < visible.length) {
      const row = this.#createRow();
      this.#pool.push(row);
      this.body.append(row);
    }
    const keys = this.#shownKeys();
    const focused = keys.findIndex((key) => key === this.#focusKey);
    const tabStop = Math.max(0, focused);
    const atOnce = this.#isSeen ? ROWS_AT_ONCE.seen : ROWS_AT_ONCE.unseen;
    this.#pool.forEach((element, i) => {
      element.hidden = visible[i] === undefined;
      if (i < atOnce || i === tabStop) this.#paintRow(element, visible[i], i === tabStop);
    });
    if (this.#pool.length > atOnce) this.#paintOthers(visible, { atOnce, tabStop });
    this.#mark(keys);
    this.#paintPager(visible.length);
  }

  /** Rows that few windows show, after the frame with the first ones. @param {R[]} visible @param {{ atOnce: number, tabStop: number }} painted */
  async #paintOthers(visible, { atOnce, tabStop }) {
    this.#painting += 1;
    const mine = this.#painting;
    await painted();
    await turn();
    if (mine !== this.#painting) return;
    this.#pool.forEach((element, i) => {
      if (i >= atOnce && i !== tabStop) this.#paintRow(element, visible[i], false);
    });
  }

  /**
   * @param {HTMLTableRowElement} element
   * @param {R | undefined} row undefined: the page has fewer rows
   * @param {boolean} isTabStop
   */
  #paintRow(element, row, isTabStop) {
    if (row === undefined) return;
    this.#columns.forEach((column, c) => column.paint(element.cells[c], row));
    const button = element.querySelector("button");
    if (button) button.tabIndex = isTabStop ? 0 : -1;
  }

  #mark(keys = this.#shownKeys()) {
    this.#pool.forEach((element, i) => {
      element.classList.toggle("lit", keys[i] !== undefined && keys[i] === this.#litKey);
      element.classList.toggle("picked", this.#pickedKeys.has(keys[i]));
      this.#markPin(element, this.#pins.get(keys[i]));
      const selected =
        keys[i] !== undefined && (keys[i] === this.#selectedKey || this.#pickedKeys.has(keys[i]));
      if ((element.getAttribute("aria-selected") === "true") !== selected)
        element.setAttribute("aria-selected", String(selected));
    });
  }

  /** Beside the name: the style sheet writes it, so that a row has no more elements. @param {HTMLElement} element @param {PinMark | undefined} pin */
  #markPin(element, pin) {
    const name = element.querySelector(".row-name");
    if (!(name instanceof HTMLElement) || (!pin && name.dataset.pin === undefined)) return;
    if (!pin) {
      delete name.dataset.pin;
      delete name.dataset.note;
    } else {
      name.dataset.pin = String(pin.number);
      name.dataset.note = pin.note;
    }
  }

  /** @param {number} visible rows on this page */
  #paintPager(visible) {
    const first = (this.#page - 1) * this.#pageSize;
    const all = count(this.#rows.length);
    /** @param {number} last */
    const text = (last) => (last > 0 ? `Rows ${first + 1}–${first + last} of ${all}` : "No rows");
    this.pageText.textContent = text(visible);
    this.pageText.dataset.paper = text(Math.min(visible, ON_PAPER));
    this.previous.disabled = this.#page <= 1;
    this.next.disabled = this.#page >= this.#pages;
  }
}
