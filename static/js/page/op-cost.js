// The expected cost of the op in the drawer: the server fills its own form in from the op's shapes.

import { opReader } from "../text/op-facts.js";
import { findAll, html } from "../ui/dom.js";

/** @import { Model, Row, View } from "../types/model.js" */
/** @import { Landing } from "./landings.js" */
/** @typedef {(landings: readonly Landing[] | null) => void} OnLand */

const PAUSE_MS = 150;

/** The measured values of one call, for the address. @param {Model} model @param {View} view @param {Row} row */
function measured(model, view, row) {
  const get = opReader(view, row);
  const main = model.levels[0];
  const query = new URLSearchParams({ category: model.categories[row.category].name });
  if (row.timing === "measured") set(query, "measured_us", get("avg_time_us"));
  set(query, "each_us", get("avg_time_us"));
  set(query, "calls", get("occurrences"));
  set(query, "rate_gflops", get("flop_rate_gflops"));
  if (main) set(query, "intensity", get(main.columns.intensity));
  return query;
}

/** @param {URLSearchParams} query @param {string} key @param {number | null} value */
function set(query, key, value) {
  if (value) query.set(key, String(Number(value.toPrecision(9))));
}

/**
 * The card, empty until the server answers; it stays empty where the shapes are not known.
 * @param {string | undefined} url of the ops' costs; a shared page has none
 * @param {Model} model
 * @param {View} view
 * @param {Row} row
 * @param {OnLand} onLand shows where the op would land, or nothing
 */
export function costCard(url, model, view, row, onLand) {
  const card = html("div", { class: "op-cost-place", hidden: true });
  if (url) fill(card, `${url}/${row.op}/cost`, measured(model, view, row)).catch(() => {});
  const level = model.levels[0]?.id ?? "";
  const land = () => onLand(landingOf(card, row.name, level));
  for (const name of ["pointerenter", "focusin", OP_COST_CHANGED])
    card.addEventListener(name, land);
  for (const name of ["pointerleave", "focusout"]) card.addEventListener(name, () => onLand(null));
  return card;
}

const OP_COST_CHANGED = "op-cost-changed";

/** Where the estimate puts the op; null where it is not known. @param {HTMLElement} card @param {string} name @param {string} level */
function landingOf(card, name, level) {
  const text = card.querySelector("section")?.dataset.opLanding;
  return text ? [{ name, level, ...JSON.parse(text) }] : null;
}

/** @param {HTMLElement} card @param {string} url @param {URLSearchParams} query */
async function fill(card, url, query) {
  const found = await content(`${url}?${query}`);
  if (!found) return;
  card.replaceChildren(html("h3", {}, "What should this cost?"), found);
  card.hidden = false;
  for (const form of findAll(HTMLFormElement, "[data-op-cost-form]", found))
    follow(form, found, url);
}

/** @param {string} address @returns {Promise<HTMLElement | null>} */
async function content(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  if (response.status !== 200) return null;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const found = page.querySelector("section");
  return found ? document.adoptNode(found) : null;
}

/** A change of the form changes all around it. @param {HTMLFormElement} form @param {HTMLElement} shown @param {string} url */
function follow(form, shown, url) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  form.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => change(form, shown, url).catch(() => {}), PAUSE_MS);
  });
}

/** @param {HTMLFormElement} form @param {HTMLElement} shown @param {string} url */
async function change(form, shown, url) {
  const query = new URLSearchParams();
  for (const [key, value] of new FormData(form))
    if (typeof value === "string" && value) query.set(key, value);
  const next = await content(`${url}?${query}`);
  if (!next) return;
  const details = form.closest("details");
  shown.dataset.opLanding = next.dataset.opLanding ?? "";
  for (const part of [...shown.children]) if (part !== details) part.remove();
  // The form stays where it is, with its focus; only the link stands below it.
  for (const part of [...next.children]) {
    if (part instanceof HTMLAnchorElement) shown.append(part);
    else if (!(part instanceof HTMLDetailsElement)) shown.insertBefore(part, details);
  }
  shown.dispatchEvent(new Event(OP_COST_CHANGED, { bubbles: true }));
}
