// The page of a run of hosts: draws its data, opens the view of the link, and follows a run that arrives.

import { Marks } from "../chart/marks.js";
import { createChart } from "../chart/sent.js";
import { createHeatMap } from "../page/heat-map.js";
import { createRunCard } from "../page/run-card.js";
import { createRunDrawer } from "../page/run-drawer.js";
import { createRunTables } from "../page/run-tables.js";
import { wireSiteHelp } from "../page/site-working.js";
import { readRun } from "../state/run-model.js";
import { METRICS, parseRun, runQuery, SORTS, TABS } from "../state/run-query.js";
import { METRIC_WORDS } from "../text/run-words.js";
import { hostLinks } from "./run-hosts.js";
import { around, buttonPart, find, findAll, part } from "../ui/dom.js";
import { wireKeyboard, wireTabs } from "../ui/keyboard.js";

/** @import { Pointed } from "../chart/card.js" */
/** @import { ButtonAction } from "../page/site-commands.js" */
/** @import { RunModel, RunState } from "../types/run.js" */

/** @type {readonly ButtonAction[]} */
const BUTTONS = [
  ...METRICS.map(
    (metric) =>
      /** @type {const} */ ([`Map: ${METRIC_WORDS[metric].label}`, `[data-metric="${metric}"]`]),
  ),
  ["Table of operations", "#tab-ops"],
  ["Table of collectives", "#tab-collectives"],
  ["Table of steps", "#tab-steps"],
  ["Table of hosts", "#tab-hosts"],
  ["Download the table, CSV", "[data-csv]"],
];

const BEFORE_TAB = 40; // pixels of the tab before the chosen one that stay in sight

class RunView {
  /** @param {RunModel} model */
  constructor(model) {
    this.model = model;
    this.state = parseRun(location.search);
    const card = createRunCard(model);
    const open = (/** @type {string} */ host) => this.open(host);
    this.map = createHeatMap({ model, onOpen: ({ name }) => open(name), onHover: card.host });
    this.histogram = createChart(part("histogram"));
    this.ring = this.drawOps(card);
    createChart(part("steps"), {
      onClick: ({ row }) => open(model.hosts[Number(row)].name),
    }).show(model.figures.steps);
    this.drawer = createRunDrawer({
      model,
      onClose: () => this.open(""),
      linksOf: (host) => hostLinks(host, model),
    });
    this.tables = createRunTables({ model, onChange: (change) => this.set(change), onOpen: open });
    this.showTab = wireTabs(part("tabs"), (id) => {
      const tab = TABS.find((one) => one === id) ?? "ops";
      this.set({ tab, sort: SORTS[tab], q: "", page: 1 });
    });
    this.opener = /** @type {Element | null} */ (null);
    wireMetrics(this);
  }

  /** Opens a host, or closes the open one, whose opener gets the focus back. @param {string} host */
  open(host) {
    if (host !== "" && this.state.host === "") this.opener = document.activeElement;
    this.set({ host });
    this.drawer.show(this.host, true);
    if (host === "" && this.opener instanceof HTMLElement) this.opener.focus();
  }

  get host() {
    return this.model.hosts.find(({ name }) => name === this.state.host) ?? null;
  }

  /** @param {Partial<RunState>} change */
  set(change) {
    this.state = { ...this.state, ...change };
    writeAddress(this.state);
    this.show();
  }

  show() {
    const { state } = this;
    this.drawer.show(this.host, false);
    this.showTab(state.tab);
    const [tabs, tab] = [part("tabs"), find(HTMLElement, `#tab-${state.tab}`)];
    tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - BEFORE_TAB;
    this.tables.show(state);
    const field = find(HTMLInputElement, "#filter-name");
    if (field.value !== state.q) field.value = state.q;
    for (const button of findAll(HTMLElement, "[data-metric]"))
      button.setAttribute("aria-pressed", String(button.dataset.metric === state.metric));
    for (const link of findAll(HTMLElement, "[data-host]"))
      link.toggleAttribute("aria-current", link.dataset.host === state.host);
    this.draw();
  }

  draw() {
    const { metric, host } = this.state;
    this.map.draw(metric, host);
    this.histogram.show(this.model.histograms[metric]);
    this.ring();
  }

  /** @param {ReturnType<typeof createRunCard>} card */
  drawOps(card) {
    const { ops, figures } = this.model;
    const box = part("roofline");
    const marks = new Marks(box);
    const opOf = (/** @type {Pointed} */ { row }) => ops[Number(row)];
    const ring = () => {
      const deviating = new Set(this.host?.deviations.map(({ name }) => name));
      marks.apply(
        (row) => (deviating.has(ops[row].name) ? "selected" : ""),
        () => true,
      );
    };
    createChart(box, {
      onHover: (pointed, event) => card.op(pointed && opOf(pointed), event),
      onClick: (pointed) =>
        this.set({ tab: "ops", sort: SORTS.ops, q: opOf(pointed).name, page: 1 }),
      onDrawn: () => {
        marks.read(figures.roofline);
        ring();
      },
    }).show(figures.roofline);
    part("chart-empty").hidden = figures.roofline.data.some(
      ({ meta, x }) => meta.role === "marks" && x.length > 0,
    );
    return ring;
  }
}

/** The file of a run that is opened from a disk may not be allowed to. @param {RunState} state */
function writeAddress(state) {
  const query = runQuery(state);
  try {
    history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}`);
  } catch {
    // The view is the same without its address.
  }
}

/** @param {RunView} view */
function wireMetrics(view) {
  for (const button of findAll(HTMLElement, "[data-metric]"))
    button.addEventListener("click", () =>
      view.set({ metric: METRICS.find((one) => one === button.dataset.metric) }),
    );
  for (const button of findAll(HTMLElement, "[data-open-host]"))
    button.addEventListener("click", () => view.open(button.dataset.openHost ?? ""));
}

/** @param {RunView} view */
function wireControls(view) {
  const field = find(HTMLInputElement, "#filter-name");
  field.addEventListener("input", () => view.set({ q: field.value, page: 1 }));
  buttonPart("csv").addEventListener("click", () => view.tables.save());
  part("outliers").addEventListener("click", (event) => {
    const link = around(event, "[data-host]");
    if (!(link instanceof HTMLElement)) return;
    event.preventDefault();
    view.open(link.dataset.host ?? "");
  });
  wireKeyboard({
    search: () => field.focus(),
    move: (step) => walk(view, step),
    close: () => view.state.host && view.open(""),
    ...wireSiteHelp(BUTTONS),
  });
}

/** J and K walk over the hosts that stand out. @param {RunView} view @param {number} step */
function walk(view, step) {
  const links = findAll(HTMLElement, "[data-host]");
  if (links.length === 0) return;
  const at = links.findIndex(({ dataset }) => dataset.host === view.state.host);
  const next = at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + step));
  view.open(links[next].dataset.host ?? "");
}

const data = document.querySelector("[data-run]");
if (data) {
  const view = new RunView(readRun(JSON.parse(data.textContent)));
  wireControls(view);
  view.show();
}
document.body.dataset.ready = "true";
