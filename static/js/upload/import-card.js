// The card of an import in `_cards.html`: its steps, its bar, and what a screen reader says.

import { bytes, percent, significant } from "../text/format.js";
import { find, html, part } from "../ui/dom.js";
import { isBefore, STEPS, stepState } from "./import-steps.js";

/** @import { Parcel } from "../text/problem.js" */
/** @import { Drawn } from "./import-steps.js" */

export class ImportCard {
  #card;
  #bar;
  #steps;
  #pageTitle = document.title;
  #name = "";
  #step = "upload";

  /** @param {HTMLElement} card */
  constructor(card) {
    this.#card = card;
    this.#bar = find(HTMLProgressElement, "[data-bar]", card);
    this.#steps = STEPS.map((step) => ({
      step,
      row: find(HTMLElement, `[data-step="${step}"]`, card),
    }));
  }

  /** Names what is imported. @param {Parcel} parcel */
  begin({ names, size }) {
    this.#name = names.length > 1 ? `${names.length} files` : (names[0] ?? "");
    part("name", this.#card).textContent = this.#name;
    part("name", this.#card).title = names.join("\n");
    part("size", this.#card).textContent = size > 0 ? bytes(size) : "";
    for (const { row } of this.#steps) part("detail", row).textContent = "";
    this.draw({ step: "upload", fraction: 0, detail: "", left: "" });
  }

  /** @param {Drawn} drawn */
  draw({ step, fraction, detail, left }) {
    // The bar never runs backwards, whatever the estimates say, but for an import that begins again.
    const goesOn = step !== "upload" && !isBefore(step, this.#step);
    this.#bar.value = Math.max(goesOn ? this.#bar.value : 0, fraction);
    this.#step = step;
    const share = percent(this.#bar.value, 0);
    this.#write({ share, left });
    part("trouble", this.#card).hidden = true;
    for (const one of this.#steps) {
      one.row.dataset.state = stepState(one.step, step);
      if (one.step !== "upload") part("detail", one.row).textContent = "";
    }
    this.#detail(step, detail);
    document.title = `${share} · ${this.#name} · Roofline`;
    this.#announce(step);
  }

  /**
   * The result of the upload, once it is over.
   * @param {number} total bytes
   * @param {number} milliseconds
   */
  noteUpload(total, milliseconds) {
    const rate = milliseconds > 0 ? `, ${bytes((total * 1000) / milliseconds)}/s` : "";
    const time = significant(milliseconds / 1000, 2);
    this.#detail("upload", `${bytes(total)} in ${time}\u00a0s${rate}`);
  }

  /** The server does not answer for now. */
  trouble() {
    part("trouble", this.#card).hidden = false;
  }

  /** The profile is ready: the browser is about to show it. */
  finish() {
    this.#bar.value = 1;
    this.#write({ share: percent(1, 0), left: "opening" });
    for (const { row } of this.#steps) row.dataset.state = "done";
  }

  /** Gives the window its own title back. */
  end() {
    document.title = this.#pageTitle;
  }

  /** @param {{ share: string, left: string }} words */
  #write({ share, left }) {
    part("share", this.#card).textContent = share;
    part("left", this.#card).textContent = left;
  }

  /** @param {string} step @param {string} text */
  #detail(step, text) {
    const found = this.#steps.find((one) => one.step === step);
    if (found) part("detail", found.row).textContent = text;
  }

  /** Says a step once when it begins; percents would never stop talking. @param {string} step */
  #announce(step) {
    const said = part("said", this.#card);
    const row = this.#steps.find((one) => one.step === step)?.row;
    const label = row ? part("label", row).textContent : "";
    if (said.textContent !== label) said.replaceChildren(html("span", {}, label));
  }
}
