// The command palette on the page of a profile: its controls, operations, groups, and the pages beside it.

import { groupId } from "../state/group-keys.js";
import { toggled } from "../state/filter.js";
import { percent } from "../text/format.js";
import { findAll } from "../ui/dom.js";
import { byOf, regroup } from "./by-module.js";
import { buttonCommands, isOffered, pageCommands } from "./site-commands.js";

/** @import { Model } from "../types/model.js" */
/** @import { GroupRow } from "../types/contract.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Command } from "./palette.js" */
/** @import { PageView } from "./page-view.js" */

/** @type {readonly import("./site-commands.js").ButtonAction[]} */
const BUTTONS = [
  ["Copy the link to this view", "[data-copy-link]"],
  ["Add a file of the same program…", "[data-add-file]"],
  ["Compare with another run…", "[data-compare]"],
  ["Clear all filters", "[data-clear]"],
  ["Set peaks or choose another device…", "[data-peaks-button]"],
  ["Reset the peaks", "[data-peaks-reset]"],
  ["Peaks at the clock that ran, or at the default one (DVFS)", "[data-dvfs]"],
  ["Choose columns…", "[data-columns-button]"],
  ["Zoom in", '[data-zoom-by="0.5"]'],
  ["Zoom out", '[data-zoom-by="2"]'],
  ["Reset the zoom", "[data-zoom-reset]"],
  ["Drag to zoom", '[data-tool="zoom"]'],
  ["Drag to move", '[data-tool="pan"]'],
  ["Drag to select operations", '[data-tool="select"]'],
  ["Height: FLOP rate", '[data-set="y"][value="rate"]', "Y"],
  ["Height: share of roof", '[data-set="y"][value="share"]', "Y"],
  ["Range of 99 % of the time", '[data-set="fit"][value="time"]'],
  ["Range of all operations", '[data-set="fit"][value="all"]'],
  ["Marker area: time", '[data-set="size"][value="time"]'],
  ["Markers of one size", '[data-set="size"][value="equal"]'],
  ["With or without infeed and outfeed", "#filter-infeed"],
  ["Open the capture in Perfetto, XProf or TensorBoard…", '[popovertarget="menu-open-in"]'],
  ["XProf view: XProf’s page, with its numbers", "[data-xprof-view]"],
  ["Operations", "#fold-ops"],
  ["Timeline", "#fold-timeline"],
  ["Other hardware", "#fold-hardware"],
  ["Details: program and steps, transfers, notes", "#fold-details"],
  ["Add a part to compare with…", "[data-hardware-add]"],
  ["Every peak and field of the device", '[data-fold="device"]'],
  ["Download the table as shown, CSV", '[data-download="csv-shown"]'],
  ["Download all operations, CSV", '[data-download="csv-all"]'],
  ["Copy the table as Markdown", '[data-download="copy-markdown"]'],
  ["Copy the table as TSV", '[data-download="copy-tsv"]'],
  ["Copy the chart as a picture", '[data-download="copy-image"]'],
  ["Clear the sum of operations", "[data-picked-clear]"],
  ["Download the chart, PNG", '[data-download="png"]'],
  ["Download the chart, SVG", '[data-download="svg"]'],
  ["Download the analysis, JSON", '#menu-share a[download$=".json"]'],
  ["About this profile: title, note, tags", "[data-about-open]"],
  ["Visibility and links…", "[data-share-open]"],
  ["Roofline first, or Time to gain", "[data-roofline-first]"],
  ["Copy for pandas", "[data-copy-pandas]"],
  ["Colour theme: next", "[data-theme-switch]"],
];

/**
 * @typedef {object} CommandSources
 * @property {PageView} view
 * @property {Model} model
 * @property {Store} store
 * @property {readonly Command[]} own actions that have no button
 * @property {boolean} isShared opened by a share link: other pages are not the reader's
 */

/** @param {CommandSources} sources @returns {Command[]} */
export const commandsOf = (sources) => [
  ...sources.own,
  ...buttonCommands(BUTTONS),
  ...choiceCommands(),
  ...groupingCommands(sources),
  ...filterCommands(sources),
  ...opCommands(sources),
  ...groupCommands(sources),
  ...(sources.isShared ? [] : pageCommands()),
];

/** The entries of the chart's lists. @returns {Command[]} */
const choiceCommands = () =>
  /** @type {const} */ ([
    ["Intensity of", "#chart-axis"],
    ["Roofs", "#chart-roofs"],
    ["Compute roof", "#chart-precision"],
    ["Step", "[data-timeline-step]"],
    ["Host", "[data-host-choice]"],
  ]).flatMap(([what, selector]) => {
    const [select] = findAll(HTMLSelectElement, selector);
    if (!select || !isOffered(select) || select.disabled) return [];
    return [...select.options].map((option) => ({
      kind: "Action",
      name: `${what}: ${option.label}`,
      run: () => {
        select.value = option.value;
        select.dispatchEvent(new Event("change"));
      },
    }));
  });

/** @param {CommandSources} sources @returns {Command[]} */
const groupingCommands = ({ model, store }) =>
  model.groups.lists.map(({ id, label }) => ({
    kind: "Action",
    name: `Group by ${label}`,
    keys: "G",
    run: () => regroup(store, id),
  }));

/** @param {CommandSources} sources @returns {Command[]} */
const filterCommands = ({ model, store }) => [
  ...model.categories.map(({ name }) => ({
    kind: "Category",
    name,
    run: () => store.set({ cat: toggled(store.get().cat, name), page: 1 }),
  })),
  ...model.bounds.map(({ id, label }) => ({
    kind: "Bound by",
    name: label,
    run: () => store.set({ bound: toggled(store.get().bound, id), page: 1 }),
  })),
];

/** @param {CommandSources} sources @returns {Command[]} */
const opCommands = ({ view, model, store }) =>
  model.view(store.get().infeed).rows.map((row) => ({
    kind: "Operation",
    name: row.name,
    hint: percent(row.share),
    run: () => {
      if (store.get().op !== row.op) view.selection.toggle(row);
    },
  }));

/** Groups of the grouping that is shown. @param {CommandSources} sources */
function groupCommands({ model, store }) {
  const by = byOf(model, store.get());
  const shown = model.groups.lists.find(({ id }) => id === by);
  return flat(shown?.rows ?? [])
    .filter(({ path }) => path.length > 0)
    .map(({ path, cells, name }) => ({
      kind: "Group",
      name: path.at(-1) ? path.join(" / ") : name,
      hint: `${cells[0]} ${model.groups.unit}`,
      run: () => store.set({ by, group: groupId(path), page: 1, tab: "ops" }),
    }));
}

/** @param {readonly GroupRow[]} rows @returns {GroupRow[]} */
const flat = (rows) => rows.flatMap((one) => [one, ...flat(one.groups)]);
