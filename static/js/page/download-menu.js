// The menu of downloads: tables as CSV, the chart as a picture, as they are shown.

import { copyText } from "../ui/clipboard.js";
import { find } from "../ui/dom.js";
import {
  copyChart,
  opsText,
  pinsText,
  saveAllOps,
  saveChart,
  saveOps,
  savePins,
  saveProgram,
} from "./downloads.js";
import { toast } from "./toast.js";
import { drawnOps } from "./visible-ops.js";

/** @import { Model } from "../types/model.js" */
/** @import { Paint, Picture } from "../chart/save.js" */
/** @import { ChosenHardware } from "../state/chosen-hardware.js" */
/** @import { Store } from "../state/store.js" */
/** @import { PageView } from "./page-view.js" */

/**
 * @param {object} options
 * @param {PageView} options.view
 * @param {Store} options.store
 * @param {Model} options.model
 * @param {ChosenHardware} options.hardware
 * @param {Paint} options.paint
 * @param {string} options.title of the profile
 * @returns {(what: string) => void} "csv-shown", "csv-program", "csv-all", "png" or "svg",
 *   "csv-pins" and "json-pins", and "copy-pins", "copy-markdown", "copy-tsv" and "copy-image"
 */
export function createDownload({ view, store, model, hardware, paint, title }) {
  function saveShown() {
    const { opTable, pins } = view.parts;
    saveOps(model, title, store.get(), opTable.grid.rows, pins.shown);
  }

  async function saveAll() {
    try {
      saveAllOps(await hardware.both(store.get()), title);
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error));
    }
  }

  /** The chart as it is drawn; null before that. @returns {Picture | null} */
  function picture() {
    const figure = view.charts?.op.figure;
    const { infeed } = store.get();
    return figure
      ? {
          model,
          figure,
          title,
          infeed,
          all: model.view(infeed).rows,
          drawn: drawnOps(view.visible),
          pins: view.parts.pins.shown,
          source: sourceText(),
        }
      : null;
  }

  /** @param {"png" | "svg"} format */
  function savePicture(format) {
    const shown = picture();
    if (shown) saveChart(shown, paint, format);
  }

  /** @param {import("./downloads.js").TextFormat} format */
  async function copyTable(format) {
    const copied = await copyText(chosenText({ view, store, model }, format));
    toast(copied ? "Table copied" : "Copying is not allowed here: download it as CSV");
  }

  async function copyPins() {
    const copied = await copyText(pinsText(view.parts.pins.records()));
    toast(copied ? "Pins copied" : "Copying is not allowed here: download them as CSV");
  }

  async function copyImage() {
    const shown = picture();
    if (!shown) return;
    const copied = await copyChart(shown, paint);
    toast(copied ? "Chart copied as a picture" : "Copying is not allowed here: saved as a file");
  }

  /** @type {Record<string, (() => void) | undefined>} */
  const actions = {
    "copy-markdown": () => copyTable("markdown"),
    "copy-tsv": () => copyTable("tsv"),
    "copy-image": copyImage,
    "csv-shown": saveShown,
    "csv-program": () => saveProgram(model, title, store.get()),
    "csv-all": saveAll,
    "copy-pins": copyPins,
    "csv-pins": () => savePins(title, view.parts.pins.records(), "csv"),
    "json-pins": () => savePins(title, view.parts.pins.records(), "json"),
    png: () => savePicture("png"),
    svg: () => savePicture("svg"),
  };
  return (what) => actions[what]?.();
}

/** The program, its version, and the address of this view. */
const sourceText = () =>
  `Roofline ${find(HTMLElement, "#main").dataset.version} · ${location.href}`;

/**
 * The chosen operations as text to paste, or all in the table where none is chosen.
 * @param {{ view: PageView, store: Store, model: Model }} page
 * @param {import("./downloads.js").TextFormat} format
 */
export function chosenText({ view, store, model }, format) {
  const state = store.get();
  const { rows } = view.parts.opTable.grid;
  const { byOp } = model.view(state.infeed);
  const chosen = state.sel.flatMap((op) => byOp.get(op) ?? []);
  return opsText(model, state, chosen.length > 0 ? chosen : rows, format);
}
