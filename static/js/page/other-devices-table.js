// The fold "Other hardware": what the subject would take on other parts. The server writes the cells.

import { count } from "../text/format.js";
import { find, html, part } from "../ui/dom.js";
import { notify } from "./toast.js";
import { viewAddress } from "../state/chosen-hardware.js";

/** @import { DeviceLine, OnParts } from "../types/other-devices.js" */
/** @import { Model } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */

/**
 * @param {object} options
 * @param {Model} options.model
 * @param {Store} options.store
 * @param {string} options.partsUrl
 * @param {(url: string) => Promise<OnParts>} options.read
 * @param {(anchor: HTMLElement) => void} options.onAdd
 */
export function createOtherDevicesTable({ model, store, partsUrl, read, onAdd }) {
  const add = part("hardware-add");
  add.addEventListener("click", () => onAdd(add));
  let shown = "";

  /** @param {string} id */
  const remove = (id) => store.set({ vs: store.get().vs.filter((other) => other !== id) });

  /** @param {OnParts} found */
  function fill({ here, devices, usual }) {
    const all = [...devices, ...usual];
    part("hardware-rows").replaceChildren(
      row(`${here.name}, here`, here),
      ...all.map((line) => row(line.name, line, chosen(line.id))),
    );
    part("hardware-note").replaceChildren(...notesOf([here, ...all]).map(noteLine));
    find(HTMLElement, "#hardware-table").hidden = false;
  }

  /** Swatch and button of a part that was chosen. @param {string} id */
  function chosen(id) {
    const at = model.others.findIndex((other) => other.id === id);
    if (at < 0) return [];
    const { name, token } = model.others[at];
    return [
      html("i", { class: `swatch vs-${at + 1}`, vars: { "--swatch": `var(${token})` } }),
      html(
        "button",
        {
          class: "linkish",
          type: "button",
          "aria-label": `Remove ${name}`,
          on: { click: () => remove(id) },
        },
        "remove",
      ),
    ];
  }

  return {
    /** Reads the rows when the fold is open, or parts were chosen, which a print shows. */
    async render() {
      const state = store.get();
      part("hardware-count").textContent = state.vs.length > 0 ? count(state.vs.length) : "";
      if (state.tab !== "hardware" && state.vs.length === 0) return;
      const wanted = viewAddress(partsUrl, { ...state, infeed: "in" }, state.vs);
      if (wanted === shown) return;
      shown = wanted;
      try {
        const found = await read(`${wanted}${wanted.includes("?") ? "&" : "?"}usual=true`);
        if (shown === wanted) fill(found);
      } catch (error) {
        shown = "";
        notify(error instanceof Error ? error.message : String(error));
      }
    },
  };
}

/** @param {string} name @param {DeviceLine} line @param {HTMLElement[]} [own] */
function row(name, { texts }, own = []) {
  const [time, ...rest] = texts;
  const isUnknown = rest[0] === "" && rest[1] === "";
  const cells = isUnknown
    ? [html("td", { class: "left muted", colspan: "3" }, time), html("td", {}, rest[2])]
    : texts.map((text, k) => html("td", { class: k === 2 ? "left" : null }, text));
  return html("tr", {}, html("th", { scope: "row", class: "left" }, name, ...own), ...cells);
}

/**
 * The notes on the parts, each sentence once, with those that it is about.
 * @param {readonly DeviceLine[]} lines
 * @returns {[text: string, names: string[]][]}
 */
function notesOf(lines) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const { name, notes } of lines)
    for (const text of notes) found.set(text, [...(found.get(text) ?? []), name]);
  return [...found];
}

/** @param {[text: string, names: string[]]} note */
const noteLine = ([text, names]) => html("p", {}, html("b", {}, `${names.join(", ")}: `), text);
