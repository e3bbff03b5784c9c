// The card of a language-model server: a column per phase and batch, a row per figure.

import { quantity } from "../text/format.js";
import { html, part } from "../ui/dom.js";

/** @import { Serving, ServingFigure } from "../types/page-data.js" */

/** @param {Serving | null | undefined} serving */
export function showServing(serving) {
  if (!serving) return;
  part("serving").hidden = false;
  part("serving-note").textContent = serving.note;
  const phases = serving.phases.map(({ label }) => html("th", { scope: "col" }, label));
  part("serving-head").replaceChildren(html("td", {}), ...phases);
  part("serving-rows").replaceChildren(...serving.figures.map(row));
}

/** @param {ServingFigure} figure */
const row = ({ label, help, unit, values }) =>
  html(
    "tr",
    {},
    html("th", { scope: "row", class: "left", title: help || null }, label),
    ...values.map((value) => html("td", {}, quantity(value, unit))),
  );
