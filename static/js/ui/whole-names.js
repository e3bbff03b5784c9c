// Copies of a table have whole names where the table shows short ones, and a tab between cells.

import { findAll } from "./dom.js";

/** @param {HTMLTableElement} table its row headers carry the whole name as their title */
export function copyWholeNames(table) {
  table.addEventListener("copy", (event) => {
    const selection = getSelection();
    if (!selection?.rangeCount || !event.clipboardData) return;
    const part = selection.getRangeAt(0).cloneContents();
    const rows = [...part.querySelectorAll("tr:not([hidden])")];
    if (rows.length === 0) return; // a part of one cell is copied as it is
    for (const row of rows)
      for (const head of findAll(HTMLElement, "th[title]", row)) head.textContent = head.title;
    event.clipboardData.setData("text/plain", rows.map(lineOf).join("\n"));
    event.preventDefault();
  });
}

/** @param {Element} row */
const lineOf = (row) => findAll(HTMLTableCellElement, "th, td", row).map(textOf).join("\t");

/** @param {Element} cell */
const textOf = ({ textContent }) => (textContent ?? "").trim();
