// The page of a profile: which part is rendered when which part of the view state changes.

import { DEFAULTS, isFiltered } from "../state/query.js";
import { createCharts } from "./charts.js";
import { createHoverCard } from "./hover-card.js";
import { createLight } from "./light.js";
import { createParts } from "./page-parts.js";
import { showPieces, wirePieces } from "./pieces.js";
import { createSelection } from "./selection.js";
import { painted, turn } from "../ui/turns.js";
import { filterResult, visibleOps } from "./visible-ops.js";

/** @import { Model } from "../types/model.js" */
/** @import { KeptNote } from "../types/pins.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { ChosenHardware } from "../state/chosen-hardware.js" */
/** @import { Store } from "../state/store.js" */
/** @import { NoteKeeper } from "./pins.js" */
/** @import { Charts } from "./charts.js" */

/** The state that changes the page data: other peaks, another device, a comparison. */
const HARDWARE = /** @type {const} */ (["dev", "peaks", "vs", "listing"]);
/** The state that changes the rows. */
const VIEW = /** @type {const} */ ([...HARDWARE, "infeed"]);
/** The state that changes which rows are shown; a selected area lies on the x axis. */
const SHOWN = /** @type {const} */ ([
  ...VIEW,
  "q",
  "cat",
  "bound",
  "part",
  "finding",
  "by",
  "group",
  "min",
  "cover",
  "box",
  "x",
  "y",
]);

/** The state that leaves the charts as they are. @type {ReadonlySet<keyof ViewState>} */
const BESIDE_CHARTS = new Set(["sort", "page", "cols", "pcols", "open", "tab", "pins"]);

/** Parts beside what was asked for: they follow a change one frame later, with the small charts. */
const BESIDE = new Set(["by module", "lists of choices"]);

/** Parts that are out of sight when a page opens. */
const LATER = new Set([
  "columns of the program",
  "column menu",
  "lists of choices",
  "table of the program",
  "other devices",
]);

/** Those of the fold with all operations, unless it is open. */
const OF_CLOSED_TABLE = ["columns", "table of operations"];

/** What the server writes, where it has written this very view: it can be worked with as it is. */
const WRITTEN = "by module";
const PIECES = "pieces of the server";

/** What is seen in the table of operations alone. */
const OF_TABLE = /** @type {const} */ (["sort", "page", "cols", "by"]);

/** Whether a link shows something that the table is needed for. @param {ViewState} state */
const isOfTable = (state) =>
  isFiltered(state) || OF_TABLE.some((key) => String(state[key]) !== String(DEFAULTS[key]));

/**
 * @typedef {object} PagePart
 * @property {string} part
 * @property {readonly (keyof ViewState)[]} keys of the state that it depends on
 * @property {(state: ViewState) => void} render
 *
 * @typedef {object} PageOptions
 * @property {Model} model under the chosen peaks
 * @property {Store} store
 * @property {ChosenHardware} hardware
 * @property {string} partsUrl of the subject on other parts
 * @property {(url: string) => Promise<any>} read
 * @property {string} figuresUrl of the figures of other views
 * @property {string} opsUrl of the details of ops
 * @property {string} opsQuery what to append to each of these addresses
 * @property {readonly KeptNote[]} notes kept with the profile
 * @property {NoteKeeper | null} keeper of notes
 */

export class PageView {
  #options;
  #card;
  #light;
  /** @type {Charts | null} null before their library is there */
  #charts = null;
  #visible;
  /** Parts that wait for the next frame. @type {Set<PagePart>} */
  #beside = new Set();
  /** Parts that are rendered once the page can be worked with. */
  #later = new Set(LATER);

  /** @param {PageOptions} options */
  constructor(options) {
    const { model, store } = options;
    this.#options = options;
    this.#card = createHoverCard(model);
    this.#light = createLight({
      card: this.#card,
      view: () => model.view(store.get().infeed),
      lit: () => ({ parts: this.parts, charts: this.#charts }),
    });
    this.selection = createSelection({ store, table: () => this.parts.opTable.grid });
    this.parts = createParts({
      ...options,
      light: this.#light,
      selection: this.selection,
      onLand: (landings) => this.#charts?.op.land(landings),
      onPins: () => this.#charts?.markPins(),
    });
    this.#visible = visibleOps(model, store.get());
  }

  /** What the filter bar says of the ops that are left. */
  get filterResult() {
    return filterResult(this.#visible);
  }

  get charts() {
    return this.#charts;
  }

  /** The ops that the filters leave. */
  get visible() {
    return this.#visible;
  }

  /**
   * Renders what can be seen when a page opens, in one piece, but for the charts; follows the state from now on.
   * @param {{ isWritten: boolean }} options whether the server has written this very view
   */
  start({ isWritten }) {
    const { store } = this.#options;
    if (isWritten) this.#later.add(WRITTEN);
    if (isOfTable(store.get())) this.parts.folds.open("ops");
    if (!this.parts.folds.isOpen("ops")) for (const part of OF_CLOSED_TABLE) this.#later.add(part);
    wirePieces({
      onFollow: this.parts.follow,
      onEdit: (key) => this.parts.peaksMenu.edit(key),
    });
    for (const { part, render } of this.#table)
      if (!this.#later.has(part) && !(isWritten && part === PIECES)) render(store.get());
    store.subscribe((state, previous) => this.#update(state, previous));
  }

  /** Renders what is out of sight when a page opens, and leaves the thread to the browser in between. */
  async finish() {
    for (const { render } of this.#table.filter(({ part }) => this.#later.has(part))) {
      await turn();
      render(this.#options.store.get());
    }
  }

  /** Makes the charts: they can be pointed at, chosen and filtered from when they are drawn. */
  async startCharts() {
    const { model, store, figuresUrl } = this.#options;
    const [light, selection] = [this.#light, this.selection];
    this.#charts = createCharts({
      model,
      store,
      figuresUrl,
      light,
      selection,
      pinned: () => this.parts.pins.shown,
      onAsk: (key) => this.parts.peaksMenu.edit(key),
    });
    this.#charts.gain?.show(this.#visible.set);
    await this.#charts.gain?.draw();
    this.#charts.op.show(this.#visible.set);
    this.#charts.links.show(this.#visible.set);
    await this.#charts.draw(this.#visible);
  }

  /** The same content in other colours, or on paper: at once. */
  redraw() {
    this.#charts?.redraw();
  }

  /**
   * The parts in the order in which they are rendered.
   * @type {PagePart[]}
   */
  #table = [
    { part: PIECES, keys: VIEW, render: () => showPieces(this.#options.model.pieces) },
    {
      part: "time to gain",
      keys: [...HARDWARE, "part"],
      render: () => {
        this.#charts?.gain?.draw();
        this.#charts?.gain?.render();
      },
    },
    {
      part: "advice",
      keys: [...HARDWARE, "finding"],
      render: (state) => this.parts.advice.render(state),
    },
    { part: "peaks menu", keys: HARDWARE, render: () => this.parts.peaksMenu.render() },
    {
      part: "columns",
      keys: [...VIEW, "cols"],
      render: (state) => this.parts.opTable.setColumns(state),
    },
    {
      part: "columns of the program",
      keys: [...VIEW, "pcols"],
      render: () => this.parts.programTable.setColumns(),
    },
    {
      part: "column menu",
      keys: [...VIEW, "cols", "pcols"],
      render: () => this.parts.columnMenu.render(),
    },
    {
      part: "program list",
      keys: [...VIEW, "step"],
      render: () => this.parts.programList.render(),
    },
    {
      part: "filter bar",
      keys: [...SHOWN, "roofs", "prec", "size", "fit"],
      render: (state) => this.parts.filterBar.render(state, filterResult(this.#visible)),
    },
    {
      part: "lists of choices",
      keys: [...VIEW, "min", "x", "roofs", "prec"],
      render: (state) => this.parts.filterBar.renderLists(state),
    },
    {
      part: "clocks",
      keys: [...VIEW, "by"],
      render: (state) => this.parts.clocksCard.render(state),
    },
    {
      part: "by module",
      keys: [...VIEW, "by", "group", "open"],
      render: (state) => this.parts.byModule.render(state),
    },
    {
      part: "table of operations",
      keys: [...SHOWN, "cols", "sort", "page", "op", "sel"],
      render: (state) => this.parts.opTable.show(this.#visible.shown, state),
    },
    {
      part: "pins",
      keys: [...VIEW, "op", "step", "pins"],
      render: (state) => this.parts.pins.render(state),
    },
    { part: "sum", keys: [...VIEW, "sel"], render: (state) => this.parts.picked.render(state) },
    {
      part: "table of the program",
      keys: [...VIEW, "step", "pcols"],
      render: () => this.parts.programTable.show(),
    },
    {
      part: "other devices",
      keys: [...VIEW, "tab"],
      render: () => this.parts.otherDevices.render(),
    },
    { part: "folds", keys: ["tab"], render: ({ tab }) => this.parts.folds.open(tab) },
    { part: "drawer", keys: [...SHOWN, "op"], render: (state) => this.#showDrawer(state) },
    {
      part: "empty states",
      keys: SHOWN,
      render: (state) => this.parts.emptyStates.show(this.#visible, state),
    },
  ];

  /** @param {ViewState} state @param {ViewState} previous */
  #update(state, previous) {
    /** @param {readonly (keyof ViewState)[]} keys */
    const changed = (keys) => keys.some((key) => state[key] !== previous[key]);
    if (changed(VIEW)) this.parts.drawer.forget();
    if (changed(SHOWN)) this.#visible = visibleOps(this.#options.model, state);
    this.#card.hide();
    const parts = this.#table.filter(({ keys }) => changed(keys));
    for (const { part, render } of parts) if (!BESIDE.has(part)) render(state);
    this.#renderBeside(parts.filter(({ part }) => BESIDE.has(part)));
    const all = /** @type {(keyof ViewState)[]} */ (Object.keys(state));
    if (changed(all.filter((key) => !BESIDE_CHARTS.has(key)))) this.#updateCharts();
  }

  /** Renders what lies beside, after the next frame: once, however often the state has changed by then. @param {PagePart[]} parts */
  async #renderBeside(parts) {
    const isWaiting = this.#beside.size > 0;
    for (const one of parts) this.#beside.add(one);
    if (isWaiting || parts.length === 0) return;
    await painted();
    await turn();
    const due = [...this.#beside];
    this.#beside.clear();
    for (const { render } of due) render(this.#options.store.get());
  }

  #updateCharts() {
    const charts = this.#charts;
    if (!charts) return;
    charts.gain?.show(this.#visible.set);
    charts.op.show(this.#visible.set);
    charts.op.markSelection();
    charts.program.markSelection();
    charts.draw(this.#visible);
    charts.links.show(this.#visible.set);
  }

  /** @param {ViewState} state */
  #showDrawer({ op }) {
    const { view, shown } = this.#visible;
    const row = op === null ? null : (view.byOp.get(op) ?? null);
    this.parts.drawer.show(view, row, { hidden: !shown.some((one) => one.op === op) });
  }
}
