// Details of the selected op, over the right column.

import { count } from "../text/format.js";
import { buttonPart, find, findAll, html, part } from "../ui/dom.js";
import { costCard } from "./op-cost.js";
import { opDetails, originDetails } from "./op-details.js";

/** @import { OnLand } from "./op-cost.js" */
/** @import { OpDetails } from "../types/page-data.js" */
/** @import { Model, Row, View } from "../types/model.js" */

const NO_ANSWER = "The server did not answer; the numbers above are complete.";

const MOST_LISTED = 1000;

export class Drawer {
  #options;
  #drawer = find(HTMLElement, "#drawer");
  #body = part("drawer-body");
  /** @type {Map<number, Promise<OpDetails>>} details already asked for */
  #details = new Map();
  /** @type {number | null} the op shown */
  #current = null;

  /**
   * @param {{ model: Model, detailsUrl: (op: number) => string, onClose: () => void, onMove: (step: number) => void, onLand: OnLand }} options
   */
  constructor(options) {
    const { onClose, onMove } = options;
    this.#options = options;
    buttonPart("drawer-close").addEventListener("click", onClose);
    for (const button of findAll(HTMLElement, "[data-drawer-by]", this.#drawer))
      button.addEventListener("click", () => onMove(Number(button.dataset.drawerBy)));
    addEventListener("scroll", () => this.#dock(), { passive: true });
    addEventListener("resize", () => this.#dock());
  }

  /** The numbers have changed: the open op is written anew. */
  forget() {
    this.#details.clear();
    this.#current = null;
  }

  /**
   * @param {View} view
   * @param {Row | null} row
   * @param {{ hidden: boolean }} status `hidden`: a filter hides the op
   */
  show(view, row, { hidden }) {
    this.#drawer.hidden = row === null;
    document.body.classList.toggle("with-drawer", row !== null);
    if (row !== null) this.#dock();
    if (row !== null && this.#current !== row.op) this.#fill(view, row);
    this.#current = row?.op ?? null;
    if (row !== null) part("hidden-note", this.#body).hidden = !hidden;
  }

  /** @param {View} view @param {Row} row */
  #fill(view, row) {
    const { model } = this.#options;
    const rank = view.reader("rank")(row);
    part("drawer-place").textContent =
      `Operation ${count(rank)} of ${count(view.rows.length)} by self time`;
    const origin = html("div", { class: "origin-details" }, muted("Loading…"));
    const costsUrl = Number(rank) > MOST_LISTED ? "" : find(HTMLElement, "#main").dataset.costsUrl;
    const cost = costCard(costsUrl, model, view, row, this.#options.onLand);
    this.#body.replaceChildren(...opDetails(model, view, row), origin, cost);
    this.#body.scrollTop = 0;
    this.#fillOrigin(row, origin);
  }

  /** @param {Row} row @param {HTMLElement} target */
  async #fillOrigin({ op }, target) {
    const content = await this.#fetch(op).then(
      (found) => originDetails(found, this.#options.model.levels),
      () => [muted(NO_ANSWER)],
    );
    if (this.#current === op) target.replaceChildren(...content);
  }

  /** A failure is asked again the next time the op is opened. @param {number} op */
  #fetch(op) {
    const known = this.#details.get(op) ?? readDetails(this.#options.detailsUrl(op));
    this.#details.set(op, known);
    known.catch(() => this.#details.delete(op));
    return known;
  }

  /** Its top follows the charts. */
  #dock() {
    if (this.#drawer.hidden) return;
    const charts = part("zone").getBoundingClientRect();
    const top = Math.max(charts.top, find(HTMLElement, ".topbar").offsetHeight);
    this.#drawer.style.setProperty("--top", `${Math.round(top)}px`);
  }
}

/** @param {string} text */
const muted = (text) => html("p", { class: "muted" }, text);

/** @param {string} url @returns {Promise<OpDetails>} */
async function readDetails(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}
