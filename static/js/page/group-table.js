// "Group by": the ops as a tree above their table. A group filters the page to its ops.

import { groupId, NOT_KNOWN } from "../state/group-keys.js";
import { groupTree, SLOWER } from "../state/groups.js";
import { parseValue } from "../state/query.js";
import { toggled } from "../state/filter.js";
import { DASH, decimalBytes, duration, flops, percent } from "../text/format.js";
import { find, html, part } from "../ui/dom.js";
import { choose } from "../ui/select.js";
import { shownCategory } from "../text/words.js";

/** @import { Model } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Group } from "../state/groups.js" */
/** @import { Store } from "../state/store.js" */
/** @import { VisibleOps } from "./visible-ops.js" */

const MOST_ROWS = 200;
const ALL = 1 - 1e-9;

/**
 * @typedef {object} GroupColumn
 * @property {string} id
 * @property {string} label
 * @property {(group: Group) => string} text
 * @property {(group: Group) => number | string | null} value to sort by
 */

/** @type {GroupColumn[]} */
export const COLUMNS = [
  { id: "name", label: "Group", text: nameOf, value: ({ name }) => name },
  { id: "ops", label: "Ops", text: countOf, value: ({ rows }) => rows.length },
  { id: "time", label: "Time", text: ({ time }) => duration(time), value: ({ time }) => time },
  { id: "share", label: "Share", text: ({ share }) => percent(share), value: ({ share }) => share },
  {
    id: "efficiency",
    label: "Of roof",
    text: ({ efficiency }) => percent(efficiency),
    value: ({ efficiency }) => efficiency,
  },
  {
    id: "saving",
    label: "Saves",
    text: ({ saving }) => duration(saving),
    value: ({ saving }) => saving,
  },
  {
    id: "flop",
    label: "FLOPs",
    text: ({ flop, flopKnown }) => workText(flop, flopKnown, flops),
    value: ({ flop }) => flop,
  },
  {
    id: "bytes",
    label: "Bytes",
    text: ({ bytes, bytesKnown }) => workText(bytes, bytesKnown, decimalBytes),
    value: ({ bytes }) => bytes,
  },
];

/** @param {object} options @param {Model} options.model @param {Store} options.store */
export function createGroupTable({ model, store }) {
  const select = find(HTMLSelectElement, "#group-by");
  const box = part("groups");
  const table = find(HTMLTableElement, "#group-table");
  const more = part("groups-more");
  /** @type {Group[]} */
  let tree = [];
  select.addEventListener("change", () =>
    store.set({ by: parseValue("by", select.value), group: null, open: [], page: 1 }),
  );
  return {
    /** The groups as shown, for a file. */
    get tree() {
      return tree;
    },
    /** @param {VisibleOps} visible @param {ViewState} state */
    render({ view, besidesGroup }, state) {
      choose(select, state.by ?? "");
      box.hidden = state.by === null;
      tree = state.by === null ? [] : groupTree(model, view, besidesGroup, state.by);
      if (state.by === null) return;
      const shown = shownGroups(tree, state);
      const body = shown.slice(0, MOST_ROWS).map((one) => groupRow(one, state, model, store));
      table.tHead?.replaceChildren(headRow(state, store));
      table.tBodies[0].replaceChildren(...body);
      more.hidden = shown.length <= MOST_ROWS;
      more.textContent = `${shown.length - MOST_ROWS} more groups: sort, filter or save them as CSV`;
    },
  };
}

/**
 * The groups in open groups, each before those in it.
 * @param {readonly Group[]} groups
 * @param {Pick<ViewState, "open" | "gsort">} state
 * @returns {Group[]}
 */
export function shownGroups(groups, state) {
  const open = new Set(state.open);
  return sorted(groups, state.gsort).flatMap((one) =>
    open.has(groupId(one.path)) ? [one, ...shownGroups(one.children, state)] : [one],
  );
}

const COLLATOR = new Intl.Collator("en", { numeric: true });

/** Unknown values come last in both directions. @param {readonly Group[]} groups @param {string} sort */
function sorted(groups, sort) {
  const descending = sort.startsWith("-");
  const column = COLUMNS.find(({ id }) => id === sort.replace("-", "")) ?? COLUMNS[2];
  const sign = descending ? -1 : 1;
  return [...groups].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return sign * (typeof x === "number" ? x - Number(y) : COLLATOR.compare(x, String(y)));
  });
}

/** @param {Pick<Group, "name" | "path">} group */
export function nameOf({ name, path }) {
  if (name !== NOT_KNOWN) return shownCategory(name);
  return path.length > 1 ? "(here)" : "(not known)";
}

/** @param {Group} group */
function countOf({ rows }) {
  return String(rows.length);
}

/**
 * A sum of which a part is not known is a lower bound; "at least nothing" says nothing.
 * @param {number | null} value
 * @param {number} known share of the time
 * @param {(value: number | null) => string} write
 */
function workText(value, known, write) {
  if (value !== null && known > ALL) return write(value);
  return value ? `≥ ${write(value)}` : DASH;
}

/** @param {ViewState} state @param {Store} store */
function headRow({ gsort }, store) {
  const heads = COLUMNS.map(({ id, label }) => {
    const isSorted = gsort.replace("-", "") === id;
    const direction = gsort.startsWith("-") ? "descending" : "ascending";
    const other = gsort === `-${id}` ? id : `-${id}`;
    const next = id === "name" && !isSorted ? id : other;
    const button = html(
      "button",
      { type: "button", on: { click: () => store.set({ gsort: next }) } },
      html("span", {}, label),
    );
    return html("th", { scope: "col", "aria-sort": isSorted ? direction : null }, button);
  });
  return html("tr", {}, ...heads);
}

/** @param {Group} group @param {ViewState} state @param {Model} model @param {Store} store */
function groupRow(group, state, model, store) {
  const id = groupId(group.path);
  const isChosen = state.group === id;
  const [, ...numbers] = COLUMNS;
  const choose = html(
    "button",
    {
      type: "button",
      class: "group-name",
      title: group.path.join(" / "),
      "aria-pressed": isChosen,
      on: { click: () => store.set({ group: isChosen ? null : id, page: 1 }) },
    },
    nameOf(group),
  );
  return html(
    "tr",
    { "aria-selected": isChosen },
    html(
      "th",
      { scope: "row" },
      html(
        "span",
        { class: "group-cell", vars: { "--level": group.path.length - 1 } },
        toggleOf(group, id, state, store),
        choose,
        sisterBadge(group),
      ),
    ),
    ...numbers.map((column) =>
      column.id === "share"
        ? html(
            "td",
            { class: "bar", vars: { "--v": group.share * 100, "--fill": "var(--accent)" } },
            column.text(group),
          )
        : html("td", {}, column.text(group)),
    ),
  );
}

/** @param {Group} group @param {string} id @param {ViewState} state @param {Store} store */
function toggleOf(group, id, state, store) {
  if (group.children.length === 0) return html("span", { class: "group-toggle" });
  return html(
    "button",
    {
      type: "button",
      class: "group-toggle",
      "aria-expanded": state.open.includes(id),
      "aria-label": `Groups in ${nameOf(group)}`,
      on: { click: () => store.set({ open: toggled(state.open, id) }) },
    },
    "›",
  );
}

/** Says which layer is slower than its equal sisters. @param {Group} group */
function sisterBadge({ slower }) {
  if (slower === null || slower <= SLOWER) return null;
  return html("span", { class: "slower" }, `${slower.toFixed(2)}× its sisters`);
}
