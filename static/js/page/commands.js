// The command palette on the page of a profile: its controls, operations, groups, and the pages beside it.

import { DIMENSIONS, groupId } from "../state/group-keys.js";
import { toggled } from "../state/filter.js";
import { groupTree } from "../state/groups.js";
import { percent } from "../text/format.js";
import { find, findAll } from "../ui/dom.js";
import { buttonCommands, isOffered, pageCommands } from "./site-commands.js";

/** @import { Model } from "../types/model.js" */
/** @import { GroupBy } from "../types/view-state.js" */
/** @import { Group } from "../state/groups.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Command } from "./palette.js" */
/** @import { PageView } from "./page-view.js" */

const MOST_GROUPS = 400;

/** @type {readonly import("./site-commands.js").ButtonAction[]} */
const BUTTONS = [
  ["Copy the link to this view", "[data-copy-link]"],
  ["Compare with another run…", '[popovertarget="menu-runs"]'],
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
  ["Table of operations", "#tab-ops"],
  ["Table of program and steps", "#tab-program"],
  ["Other hardware", "#tab-hardware"],
  ["Compare with a device…", "[data-hardware-add]"],
  ["Show all fields of the device", "[data-device-toggle]"],
  ["Show diagnostics", "[data-diagnostics-toggle]"],
  ["Download the table as shown, CSV", '[data-download="csv-shown"]'],
  ["Download all operations, CSV", '[data-download="csv-all"]'],
  ["Copy the table as Markdown", '[data-download="copy-markdown"]'],
  ["Copy the table as TSV", '[data-download="copy-tsv"]'],
  ["Copy the chart as a picture", '[data-download="copy-image"]'],
  ["Clear the sum of operations", "[data-picked-clear]"],
  ["Download the groups, CSV", "[data-csv-groups]"],
  ["Download the chart, PNG", '[data-download="png"]'],
  ["Download the chart, SVG", '[data-download="svg"]'],
  ["Download the analysis, JSON", '#menu-download a[download$=".json"]'],
  ["About this profile: title, note, tags", "[data-about-open]"],
  ["Share…", "[data-share-open]"],
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
const groupingCommands = ({ store }) =>
  [...find(HTMLSelectElement, "#group-by").options].map(({ value, label }) => ({
    kind: "Action",
    name: `Group by ${label}`,
    keys: "G",
    run: () => groupBy(store, DIMENSIONS.find((one) => one === value) ?? null),
  }));

/** @param {Store} store @param {GroupBy | null} by */
export function groupBy(store, by) {
  store.set({ by, group: null, open: [], page: 1, tab: "ops" });
  find(HTMLElement, ".group-bar").scrollIntoView({ block: "nearest" });
}

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

/** Groups of the chosen grouping, else of layers and modules. @param {CommandSources} sources */
function groupCommands({ view, model, store }) {
  const by = store.get().by ?? "layer";
  const infeed = model.view(store.get().infeed);
  const tree = groupTree(model, infeed, view.visible.besidesGroup, by);
  return flat(tree)
    .filter(({ name }) => name)
    .slice(0, MOST_GROUPS)
    .map(({ path, share }) => ({
      kind: "Group",
      name: path.join(" / "),
      hint: percent(share),
      run: () => store.set({ by, group: groupId(path), open: parents(path), page: 1, tab: "ops" }),
    }));
}

/** @param {readonly Group[]} groups @returns {Group[]} */
const flat = (groups) => groups.flatMap((one) => [one, ...flat(one.children)]);

/** @param {readonly string[]} path */
const parents = (path) => path.slice(1).map((_, i) => groupId(path.slice(0, i + 1)));
