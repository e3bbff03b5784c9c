// The column chooser of the tables of operations and of the program.

import {
  columnChoice,
  columnPresets,
  programColumns,
  shownColumns,
  withColumn,
} from "../state/shown-columns.js";
import { html, part } from "../ui/dom.js";
import { menuCheck } from "../ui/menu.js";

/** @import { Column } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Preset } from "../state/shown-columns.js" */

/** @type {readonly (readonly [Preset, text: string, title: string])[]} */
const PRESETS = [
  ["standard", "Standard", "The columns this page starts with"],
  ["all", "All", "Every column"],
];

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 */
export function createColumnMenu({ model, store }) {
  const buttons = { ops: part("columns-button"), program: part("program-columns") };
  let isOfProgram = false; // the table whose button was pressed last
  const columns = () => (isOfProgram ? model.program_columns : model.columns);
  const shownIds = () => {
    const { cols, pcols } = store.get();
    const shown = isOfProgram
      ? programColumns(model.program_columns, pcols)
      : shownColumns(model.columns, cols);
    return shown.map((column) => column.id);
  };
  /** @param {readonly string[]} ids */
  const choose = (ids) =>
    store.set(
      isOfProgram
        ? { pcols: ids.length === model.program_columns.length ? [] : ids }
        : { cols: columnChoice(model.columns, ids) },
    );
  part("column-presets").replaceChildren(
    ...PRESETS.map(([name, text, title]) =>
      presetButton(text, title, () => choose(columnPresets(model.columns)[name])),
    ),
  );
  /** @type {{ id: string, box: HTMLInputElement }[]} */
  let entries = [];
  let filled = "";

  /** The entries of the model's present columns: a comparison adds some. */
  function fill() {
    const ids = String(columns().map((column) => column.id));
    part("column-presets").hidden = isOfProgram;
    if (ids === filled) return;
    filled = ids;
    const head = isOfProgram ? columns()[0]?.id : "name";
    const checks = columns()
      .filter(({ id }) => id !== head)
      .map((column) =>
        columnCheck(column, (isWanted) =>
          choose(withColumn(columns(), shownIds(), column.id, isWanted)),
        ),
      );
    entries = checks;
    part("column-list").replaceChildren(...checks.map(({ label }) => label));
  }
  function render() {
    fill();
    const ids = new Set(shownIds());
    for (const { id, box } of entries) box.checked = ids.has(id);
  }
  for (const [table, button] of Object.entries(buttons))
    button.addEventListener("click", () => {
      isOfProgram = table === "program";
      render();
    });
  return { render };
}

/** @param {string} text @param {string} title @param {() => void} onClick */
const presetButton = (text, title, onClick) =>
  html("button", { type: "button", class: "btn small", title, on: { click: onClick } }, text);

/** @param {Column} column @param {(isWanted: boolean) => void} onChange */
function columnCheck({ id, label, sub, help }, onChange) {
  const words = [html("span", { class: "text" }, label), html("span", { class: "hint" }, sub)];
  const check = menuCheck({ value: id, checked: false, title: help, content: words, onChange });
  return { id, ...check };
}
