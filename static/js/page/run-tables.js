// The tables of a run: operations by time lost, collectives, steps, hosts.

import { columnScale, count, duration, percent, significant } from "../text/format.js";
import { METRIC_WORDS, metricText, waitNote } from "../text/run-words.js";
import { fileName, toCsv } from "../text/csv.js";
import { find, html, part, svg } from "../ui/dom.js";
import { mark } from "../ui/marks.js";
import { saveCsv } from "../ui/save.js";
import { Table } from "../ui/table.js";

/** @import { HostRow, RunCollective, RunModel, RunOp, RunStep, RunState, RunTab } from "../types/run.js" */
/** @import { TableColumn } from "../ui/table.js" */

/** @typedef {RunOp | RunCollective | RunStep | HostRow} Row */
/** @typedef {number | string | null} Value */

/**
 * @template R
 * @typedef {object} Column
 * @property {string} id
 * @property {string} label
 * @property {string} [sub]
 * @property {string} help
 * @property {(row: R) => Value} read
 * @property {(row: R) => string} [text]
 * @property {(cell: HTMLElement, row: R) => void} [paint]
 */

const WIDTH = 90; // pixels of the glyph of a spread
/** @type {Record<RunTab, string>} */
const CAPTIONS = {
  ops: "Operations by time lost over hosts",
  collectives: "Collectives: transfer and wait",
  steps: "Steps",
  hosts: "Hosts",
};

/**
 * @param {object} options
 * @param {RunModel} options.model
 * @param {(change: Partial<RunState>) => void} options.onChange
 * @param {(host: string) => void} options.onOpen
 */
export function createRunTables({ model, onChange, onOpen }) {
  const columns = columnsOf(model, onOpen);
  /** @type {Record<RunTab, Row[]>} */
  const rows = {
    ops: model.ops,
    collectives: model.collectives,
    steps: model.steps,
    hosts: model.hosts,
  };
  /** @type {RunState | null} */
  let shown = null;
  /** @type {Row[]} */
  let listed = [];
  const element = find(HTMLTableElement, "[data-table]");
  const table = new Table({
    table: element,
    caption: CAPTIONS.ops,
    sortable: true,
    keyOf: (/** @type {Row} */ row) => row.key,
    onSelect: (row) => onOpen(hostOf(row)),
    onLight: () => {},
    onSort: (id) => onChange({ sort: nextSort(shown?.sort ?? "", id), page: 1 }),
    onPage: (page) => onChange({ page }),
    onHelp: (column, anchor) => {
      anchor.title = column?.help ?? "";
    },
  });
  element.caption?.classList.add("sr");

  return {
    /** @param {RunState} state */
    show(state) {
      if (shown?.tab !== state.tab)
        table.setColumns(columns[state.tab].map(tableColumn), state.sort);
      shown = state;
      element.dataset.tab = state.tab; // phones show fewer columns of each
      table.showSort(state.sort);
      listed = sorted(matching(rows[state.tab], state.q), columns[state.tab], state.sort);
      if (element.caption) element.caption.textContent = CAPTIONS[state.tab];
      table.show(listed, state.page);
      part("empty").hidden = listed.length > 0;
      part("empty").textContent = state.q ? "No name matches." : `There are no ${state.tab}.`;
      if (state.tab === "ops" && model.totalOps > model.ops.length)
        part("page-text").textContent +=
          `, those that lose the most time of ${count(model.totalOps)}; the JSON has all`;
    },
    save() {
      const of = columns[shown?.tab ?? "ops"];
      const cells = listed.map((row) => of.map(({ read }) => read(row)));
      const ids = of.map(({ id }) => id);
      saveCsv(toCsv(ids, cells), fileName("run", `${shown?.tab ?? "ops"}.csv`));
    },
  };
}

/** The host that a row leads to. @param {Row} row */
function hostOf(row) {
  if ("worst" in row) return row.worst;
  if ("critical" in row && typeof row.critical === "string") return row.critical;
  return "waited_for" in row ? row.waited_for : row.name;
}

/** Numbers descend first, words ascend. @param {string} sort @param {string} id */
function nextSort(sort, id) {
  if (sort === `-${id}`) return id;
  if (sort === id) return `-${id}`;
  return ["name", "category", "kind", "state"].includes(id) ? id : `-${id}`;
}

/** @template {Row} R @param {R[]} rows @param {string} q */
const matching = (rows, q) =>
  q === "" ? rows : rows.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));

/** Unknown values come last. @param {Row[]} rows @param {Column<any>[]} columns @param {string} sort */
function sorted(rows, columns, sort) {
  const isDown = sort.startsWith("-");
  const column = columns.find(({ id }) => id === (isDown ? sort.slice(1) : sort));
  if (!column) return rows;
  const sign = isDown ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.read(a), column.read(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * (x < y ? -1 : Number(x > y));
  });
}

/** @param {Column<any>} column @returns {TableColumn<Row>} */
function tableColumn({ id, label, sub = "", help, read, text, paint }) {
  const isText = ["name", "category", "kind", "state", "spread", "group"].includes(id) || !!paint;
  return {
    id,
    label,
    sub,
    help,
    align: isText && id !== "lost" ? "left" : "right",
    head: id === "name",
    paint: (cell, row) => {
      if (paint) paint(cell, row);
      else if (id === "name") paintName(cell, row.name);
      else cell.textContent = text ? text(row) : String(read(row) ?? "–");
    },
  };
}

/** @param {HTMLElement} cell @param {string} name */
function paintName(cell, name) {
  const button = find(HTMLButtonElement, "button", cell);
  button.textContent = name;
  button.title = name;
}

/**
 * @param {RunModel} model @param {(host: string) => void} onOpen
 * @returns {Record<RunTab, Column<any>[]>}
 */
const columnsOf = (model, onOpen) => ({
  ops: opColumns(model, onOpen),
  collectives: collectiveColumns(model, onOpen),
  steps: stepColumns(model, onOpen),
  hosts: hostColumns(model),
});

/** A host's name as a button. @param {(host: string) => void} onOpen */
const hostLink = (onOpen) => (/** @type {HTMLElement} */ cell, /** @type {string} */ name) => {
  const click = (/** @type {MouseEvent} */ event) => {
    event.stopPropagation();
    onOpen(name);
  };
  cell.replaceChildren(
    html("button", { type: "button", class: "who", tabindex: -1, on: { click } }, name),
  );
};

/** @param {RunModel} model @param {(host: string) => void} onOpen @returns {Column<RunOp>[]} */
function opColumns({ ops, styles }, onOpen) {
  const scale = columnScale("time_us", Math.max(0, ...ops.map(({ maxUs }) => maxUs)));
  const lost = columnScale("time_us", Math.max(0, ...ops.map(({ lostUs }) => lostUs)));
  const most = Math.max(0, ...ops.map(({ lostUs }) => lostUs));
  const link = hostLink(onOpen);
  /** @param {string} id @param {string} label @param {(op: RunOp) => number} read @returns {Column<RunOp>} */
  const time = (id, label, read) => ({
    id,
    label,
    sub: scale.unit,
    help: `${label} of all hosts, self time per core`,
    read,
    text: (op) => scale.text(read(op)),
  });
  return [
    { id: "name", label: "Operation", help: "Its name in the program", read: ({ name }) => name },
    {
      id: "category",
      label: "Category",
      help: "Kind of the operation",
      read: ({ category }) => category,
      paint: (cell, { category }) => {
        const style = styles[category];
        const sign = mark(style?.symbol ?? "circle", `var(${style?.token ?? "--c12"})`);
        cell.replaceChildren(html("span", { class: "badge" }, sign, category));
      },
    },
    {
      id: "spread",
      label: "Spread",
      sub: "least · median · p95 · most",
      help: "Over hosts, by the median",
      read: ({ maxUs, medianUs }) => (medianUs > 0 ? maxUs / medianUs : null),
      paint: (cell, op) => cell.replaceChildren(spreadOf(op)),
    },
    time("median_us", "Median", ({ medianUs }) => medianUs),
    time("p95_us", "p95", ({ p95Us }) => p95Us),
    time("max_us", "Most", ({ maxUs }) => maxUs),
    {
      id: "worst",
      label: "Slowest on",
      help: "The host that takes the most time",
      read: ({ worst }) => worst,
      paint: (cell, { worst }) => link(cell, worst),
    },
    {
      id: "imbalance",
      label: "Imbalance",
      sub: "most ÷ mean − 1",
      help: "How far the slowest host is above the mean",
      read: ({ imbalance }) => imbalance,
      text: ({ imbalance }) => percent(imbalance),
    },
    {
      id: "lost",
      label: "Time lost",
      sub: `${lost.unit}, over hosts`,
      help: "Sum over hosts of what each is below the slowest",
      read: ({ lostUs }) => lostUs,
      paint: (cell, { lostUs }) => {
        cell.className = "lost";
        cell.replaceChildren(lane(lostUs, most), html("span", {}, lost.text(lostUs)));
      },
    },
  ];
}

/** @param {number} value @param {number} most */
function lane(value, most) {
  const width = most > 0 ? (60 * value) / most : 0;
  return svg(
    "svg",
    { class: "lane-bar", viewBox: "0 0 60 8", "aria-hidden": "true" },
    svg("rect", { class: "lane", width: 60, height: 8, rx: 2 }),
    svg("rect", { class: "loss", width, height: 8, rx: 2 }),
  );
}

/** @param {RunOp} op */
function spreadOf({ minUs, medianUs, p95Us, maxUs }) {
  const span = maxUs - minUs;
  const toX = (/** @type {number} */ us) =>
    3 + (span > 0 ? (us - minUs) / span : 0.5) * (WIDTH - 6);
  return svg(
    "svg",
    { class: "spread", viewBox: `0 0 ${WIDTH} 14`, "aria-hidden": "true" },
    svg("line", { x1: toX(minUs), x2: toX(maxUs), y1: 7, y2: 7 }),
    svg("rect", {
      x: toX(minUs),
      y: 4,
      width: Math.max(1, toX(p95Us) - toX(minUs)),
      height: 6,
      rx: 2,
    }),
    svg("line", { class: "median", x1: toX(medianUs), x2: toX(medianUs), y1: 2, y2: 12 }),
    svg("circle", { cx: toX(maxUs), cy: 7, r: 3 }),
  );
}

/** @param {RunModel} model @param {(host: string) => void} onOpen @returns {Column<RunCollective>[]} */
function collectiveColumns({ collectives }, onOpen) {
  const link = hostLink(onOpen);
  const note = waitNote(collectives[0]?.wait_is ?? null);
  return [
    { id: "name", label: "Collective", help: "Its name in the program", read: ({ name }) => name },
    { id: "kind", label: "Kind", help: "What it does", read: ({ kind }) => kind },
    {
      id: "ranks",
      label: "Ranks",
      help: "Chips that take part",
      read: ({ ranks }) => ranks,
      text: ({ ranks }) => count(ranks),
    },
    {
      id: "instances",
      label: "Occurrences",
      help: "Of each rank; – where only sums are known",
      read: ({ instances }) => instances,
    },
    {
      id: "transfer",
      label: "Transfer",
      sub: "shortest of any rank",
      help: "Sum over occurrences of the shortest time of any rank",
      read: ({ transfer_us: us }) => us,
      text: ({ transfer_us: us }) => duration(us),
    },
    {
      id: "wait",
      label: "Wait",
      sub: note ? `mean over ranks, ${note}` : "mean over ranks",
      help: "The rest of the time: waiting for others",
      read: ({ mean_wait_us: us }) => us,
      text: ({ mean_wait_us: us }) => duration(us),
    },
    {
      id: "waited_for",
      label: "Waited for",
      help: "The host that waited least",
      read: ({ waited_for: host }) => host,
      paint: (cell, { waited_for: host }) => link(cell, host),
    },
  ];
}

/** @param {RunModel} _model @param {(host: string) => void} onOpen @returns {Column<RunStep>[]} */
function stepColumns(_model, onOpen) {
  const link = hostLink(onOpen);
  /** @param {string} id @param {string} label @param {string} sub @param {(step: RunStep) => number} read @returns {Column<RunStep>} */
  const time = (id, label, sub, read) => ({
    id,
    label,
    sub,
    help: `${label}: ${sub}`,
    read,
    text: (step) => duration(read(step)),
  });
  return [
    { id: "name", label: "Step", help: "Its label", read: ({ name }) => name },
    time("duration_us", "Length", "slowest host", ({ lengthUs }) => lengthUs),
    time("least_us", "Work", "least", ({ least }) => least),
    time("middle_us", "Work", "median host", ({ middle }) => middle),
    time("p95_us", "Work", "p95", ({ p95 }) => p95),
    time("most_us", "Work", "slowest host", ({ most }) => most),
    {
      id: "critical",
      label: "Critical host",
      help: "The host whose slowest chip works longest",
      read: ({ critical }) => critical,
      paint: (cell, { critical }) => link(cell, critical),
    },
  ];
}

/** @param {RunModel} model @returns {Column<HostRow>[]} */
function hostColumns({ waitIs }) {
  const note = waitNote(waitIs);
  /** @param {"ratio" | "work" | "wait" | "bandwidth"} id @param {string} [sub] @returns {Column<HostRow>} */
  const metric = (id, sub) => ({
    id,
    label: METRIC_WORDS[id].label,
    sub,
    help: METRIC_WORDS[id].label,
    read: (host) => host[id],
    text: (host) => metricText(id, host[id]),
  });
  return [
    { id: "name", label: "Host", help: "Its name or rank", read: ({ name }) => name },
    { id: "state", label: "State", help: "How its file stands", read: ({ state }) => state },
    {
      id: "kind",
      label: "Verdict",
      help: "Slow chip or host, straggler, more work, or intermittent",
      read: ({ kind }) => kind || null,
    },
    {
      id: "step",
      label: "Step",
      sub: "median",
      help: "Length of a step on this host",
      read: ({ step }) => step,
      text: ({ step }) => duration(step),
    },
    metric("ratio", "of its slowest chip"),
    metric("work", "per core"),
    metric("wait", note ? `per core, ${note}` : "per core"),
    metric("bandwidth", "per core"),
    {
      id: "score",
      label: "Score",
      help: "How far its work is above the median",
      read: ({ score }) => score,
      text: ({ score }) => significant(score).replace("-", "−"),
    },
    {
      id: "critical",
      label: "Critical",
      sub: "steps",
      help: "Steps in which it works longest",
      read: ({ critical }) => critical,
    },
  ];
}
