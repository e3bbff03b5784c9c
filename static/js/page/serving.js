// The card of a language-model server: a row per phase and batch, as the server wrote it down.

import { quantity } from "../text/format.js";
import { html, part } from "../ui/dom.js";

/** @import { Serving, ServingColumn } from "../types/page-data.js" */

/** @param {Serving | null | undefined} serving */
export function showServing(serving) {
  if (!serving) return;
  part("serving").hidden = false;
  part("serving-note").textContent = serving.note;
  part("serving-head").replaceChildren(...serving.columns.map(headCell));
  part("serving-rows").replaceChildren(
    ...serving.rows.map((row) =>
      html("tr", {}, ...row.map((value, k) => cell(serving.columns[k], value, k === 0))),
    ),
  );
}

/** @param {ServingColumn} column @param {number} place */
const headCell = ({ label, help }, place) =>
  html("th", { scope: "col", class: place === 0 ? "left" : null, title: help || null }, label);

/**
 * @param {ServingColumn | undefined} column
 * @param {string | number | null} value
 * @param {boolean} isFirst
 */
function cell(column, value, isFirst) {
  const text = quantity(value, column?.unit ?? "text");
  return isFirst ? html("th", { scope: "row", class: "left" }, text) : html("td", {}, text);
}
