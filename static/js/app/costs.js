// Calculator and model: the answer follows the form, computed by the server for its address.

import { createChart, sentFigure } from "../chart/sent.js";
import { copyWithFeedback } from "../ui/clipboard.js";
import { find, findAll } from "../ui/dom.js";

const PAUSE_MS = 120;
const LARGEST = 1e9;

const form = find(HTMLFormElement, "[data-cost-form]");
let latest = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let pause;

/** @returns {string} the address of what the form says; empty fields are left out */
function address() {
  const query = new URLSearchParams();
  for (const [key, value] of new FormData(form)) {
    if (typeof value !== "string" || !value) continue;
    if (isChosenMore(key)) query.append(key, value);
    else query.set(key, value);
  }
  return `${form.action}?${query}`;
}

/** Fields of which several may be chosen. @param {string} key */
function isChosenMore(key) {
  return form.elements.namedItem(key) instanceof RadioNodeList;
}

/** @type {Map<string, { box: HTMLElement, show: ReturnType<typeof createChart>["show"] }>} */
const charts = new Map();

/** Draws the charts of the answer; one that was there before moves within its box. */
function drawCharts() {
  for (const sent of findAll(HTMLElement, "[data-figure]")) {
    const figure = sentFigure(sent);
    const { box, show } = charts.get(figure.id) ?? { box: sent, ...createChart(sent) };
    if (box !== sent) sent.replaceWith(box);
    charts.set(figure.id, { box, show });
    show(figure);
  }
}

async function follow() {
  const number = ++latest;
  const url = address();
  const response = await fetch(url, { headers: { accept: "text/html" } });
  const text = await response.text();
  if (number !== latest) return; // the form has moved on
  const page = new DOMParser().parseFromString(text, "text/html");
  const answer = page.querySelector("[data-cost-answer]");
  if (!answer) return form.submit(); // another kind of page: let the browser show it
  find(HTMLElement, "[data-cost-answer]").replaceWith(document.adoptNode(answer));
  drawCharts();
  followForm(page);
  history.replaceState(null, "", url);
}

/** Marks fields that the server could not read; the network's words. @param {Document} page */
function followForm(page) {
  const words = page.querySelector("[data-follows]")?.textContent ?? "";
  for (const one of findAll(HTMLElement, "[data-follows]")) one.textContent = words;
  for (const field of findAll(HTMLInputElement, "[data-cost-form] .field")) {
    const same = page.querySelector(`[data-cost-form] .field[name="${CSS.escape(field.name)}"]`);
    field.ariaInvalid = same?.getAttribute("aria-invalid") ?? null;
  }
}

function followSoon() {
  clearTimeout(pause);
  pause = setTimeout(() => follow().catch(() => form.submit()), PAUSE_MS);
}

/** Up doubles a number, down halves it. @param {KeyboardEvent} event */
function step(event) {
  const field = event.target;
  const factor = { ArrowUp: 2, ArrowDown: 0.5 }[event.key];
  if (!factor || !(field instanceof HTMLInputElement) || !field.matches("[data-steps]")) return;
  const value = Number(field.value);
  if (!value) return;
  event.preventDefault();
  const stepped = Math.min(LARGEST, value * factor);
  field.value = String(field.inputMode === "decimal" ? stepped : Math.max(1, Math.floor(stepped)));
  followSoon();
}

form.addEventListener("input", ({ target }) => {
  const isReloading = target instanceof Element && target.matches("[data-reload]");
  if (isReloading) location.assign(address());
  else followSoon();
});
form.addEventListener("keydown", step);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  followSoon();
});
for (const button of findAll(HTMLElement, "[data-copy-link]"))
  button.addEventListener("click", () => copyWithFeedback(button, location.href));
// On phones the kinds are one line that scrolls.
for (const kind of findAll(HTMLElement, ".kinds [aria-current]"))
  kind.scrollIntoView({ block: "nearest", inline: "center" });
drawCharts();
document.body.dataset.ready = "true";
