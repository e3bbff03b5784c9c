// The menu of downloads: tables as CSV, the chart as a picture, as they are shown.

import { saveAllOps, saveChart, saveGroups, saveOps, saveProgram } from "./downloads.js";

/** @import { Model } from "../types/model.js" */
/** @import { Paint } from "../chart/looks.js" */
/** @import { Store } from "../state/store.js" */
/** @import { PageView } from "./page-view.js" */

/**
 * @param {object} options
 * @param {PageView} options.view
 * @param {Store} options.store
 * @param {Model} options.model
 * @param {Paint} options.paint
 * @param {string} options.title of the profile
 * @returns {(what: string) => void} "csv-shown", "csv-groups", "csv-all", "png" or "svg"
 */
export function createDownload({ view, store, model, paint, title }) {
  function saveShown() {
    const state = store.get();
    if (state.tab === "program") saveProgram(model, title, state);
    else saveOps(model, title, state, view.parts.opTable.grid.rows);
  }

  /** @param {"png" | "svg"} format */
  function savePicture(format) {
    if (!view.charts) return;
    const picture = { model, title, state: store.get(), shown: view.visible.set };
    saveChart(view.charts.Plotly, picture, paint, format);
  }

  /** @type {Record<string, (() => void) | undefined>} */
  const actions = {
    "csv-shown": saveShown,
    "csv-groups": () => saveGroups(title, view.parts.groupTable.tree),
    "csv-all": () => saveAllOps(model, title),
    png: () => savePicture("png"),
    svg: () => savePicture("svg"),
  };
  return (what) => actions[what]?.();
}
