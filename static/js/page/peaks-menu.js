// The menu of peaks: each can be set by hand, another device's can be taken, other devices can be compared with.

import { isWhatIf } from "../text/roofs.js";
import { peakBandwidth, peakRate } from "../text/format.js";
import { parseAmount } from "../text/amounts.js";
import { isSamePeak, peakRows, valueOf } from "../state/peak-rows.js";
import { buttonPart, find, findAll, html, inputPart, part } from "../ui/dom.js";
import { showMenu } from "../ui/menu.js";
import { createDevicePicker } from "./device-picker.js";
import { createPeakField } from "./peak-field.js";

/** @import { ComputeRoof, MemoryRoof } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { ChosenHardware } from "../state/chosen-hardware.js" */
/** @import { PeakRow } from "../state/peak-rows.js" */
/** @import { Store } from "../state/store.js" */
/** @import { PeakField } from "./peak-field.js" */

export class PeaksMenu {
  #options;
  #menu = find(HTMLElement, "#menu-peaks");
  #button = buttonPart("peaks-button");
  #resets = findAll(HTMLButtonElement, "[data-peaks-reset]");
  #list = part("peak-list");
  #picker;
  /** @type {string | null} the key of the field that cannot be read */
  #wrong = null;
  /** @type {PeakField[]} */
  #fields = [];
  /** @type {string | null} the peak that the menu opens at */
  #wanted = null;

  /** @param {{ model: Model, store: Store, hardware: ChosenHardware }} options */
  constructor(options) {
    const { model, store } = options;
    this.#options = options;
    this.#picker = createDevicePicker(options);
    part("peaks-per").textContent = `per ${model.device.core_word}`;
    for (const reset of this.#resets)
      reset.addEventListener("click", () => store.set({ dev: null, peaks: {}, zoom: null }));
    this.#menu.addEventListener("toggle", (event) => {
      if (event.newState === "open") this.#open();
    });
  }

  render() {
    const state = this.#options.store.get();
    const choice = part("peaks-choice");
    choice.textContent = this.#label(state);
    // The profile's own peaks are the usual case, and their origins stand beside them.
    choice.classList.toggle("sr", this.#hasPeaks && !isWhatIf(state));
    this.#button.classList.toggle("changed", isWhatIf(state));
    // Without a peak there is no roof: setting one is the first thing to do.
    this.#button.classList.toggle("primary", !this.#hasPeaks);
    for (const reset of this.#resets) reset.hidden = !isWhatIf(state);
    if (!this.#menu.matches(":popover-open")) return;
    const { model, hardware } = this.#options;
    const { compute, memory } = (hardware.own ?? model).roofs;
    this.#renderFields(peakRows(model));
    part("peak-note").hidden = compute.length + memory.length > 0;
    this.#picker.render();
  }

  /** Opens the list of devices below a button. @param {HTMLElement} anchor */
  compare(anchor) {
    showMenu(this.#menu, anchor);
    inputPart("device-search").focus();
  }

  /** Opens the menu at one peak. @param {string} key */
  edit(key) {
    this.#wanted = key;
    showMenu(this.#menu, this.#button);
  }

  /** "H100, 2 set by you". @param {ViewState} state */
  #label({ dev, peaks }) {
    const device = dev === null ? null : (this.#options.model.device.part?.name ?? dev);
    const edited = Object.keys(peaks).length;
    if (edited > 0) return `${device ?? "Profile"}, ${edited} set by you`;
    return device ?? (this.#hasPeaks ? "From the profile" : "Choose the device…");
  }

  get #hasPeaks() {
    const { compute, memory } = this.#options.model.roofs;
    return compute.length + memory.length > 0;
  }

  #open() {
    this.#wrong = null;
    this.render();
    this.#picker.open();
    this.#fields.find(({ key }) => key === this.#wanted)?.focus();
    this.#wanted = null;
  }

  /**
   * Fields stay while their peaks do, so that the keyboard keeps its place.
   * @param {PeakRow[]} rows
   */
  #renderFields(rows) {
    if (String(rows.map(({ key }) => key)) !== String(this.#fields.map(({ key }) => key))) {
      this.#fields = rows.map((row) => this.#field(row));
      this.#list.replaceChildren(...this.#fields.map(({ item }) => item));
    }
    const { peaks } = this.#options.store.get();
    this.#fields.forEach((field, i) => {
      const { key, roof } = rows[i];
      const status = { isWrong: this.#wrong === key, isSet: key in peaks };
      field.show(rows[i], status, this.#differences(roof));
    });
  }

  /** @param {PeakRow} row */
  #field(row) {
    const coreWord = this.#options.model.device.core_word;
    return createPeakField(row, coreWord, (text) => this.#set(row, text));
  }

  /** @param {PeakRow} row @param {string} text what was written; nothing undoes what was set */
  #set({ key, kind }, text) {
    const { model, store } = this.#options;
    const value = text.trim() === "" ? undefined : parseAmount(text, kind);
    this.#wrong = value === null ? key : null;
    if (value === null) return this.render();
    const { [key]: before, ...others } = store.get().peaks;
    // A value that already counts need not be set: leaving a field untouched changes nothing.
    const isKept = value !== undefined && isSamePeak(value, valueOf(model, key));
    const shown = isKept ? before : value;
    const peaks = shown === undefined ? others : { ...others, [key]: shown };
    return store.set({ peaks, zoom: null });
  }

  /**
   * Where profile and catalogue say different things about a peak.
   * @param {ComputeRoof | MemoryRoof | null} roof
   */
  #differences(roof) {
    const { model, store } = this.#options;
    const { comparisons, part: catalogued } = model.device;
    const found = isWhatIf(store.get()) ? null : comparisons.find(({ id }) => id === roof?.id);
    if (!found) return [];
    const text = found.unit === "gflops" ? peakRate : peakBandwidth;
    const own = found.profile === null ? "The profile has none" : `Profile ${text(found.profile)}`;
    const words = `${own}, catalogue ${text(found.catalogue)}. ${found.explanation} `;
    const on = { click: () => store.set({ dev: catalogued?.id ?? null, zoom: null }) };
    const use = html("button", { class: "linkish", type: "button", on }, "Use the catalogue’s");
    return [html("p", { class: "explained muted" }, words, catalogued ? use : null)];
  }
}
