// The profile page: loads the page data once and wires state, charts, tables and menus to each other.

import { createCategories } from "../page/categories.js";
import { copyText } from "../ui/clipboard.js";
import { shownColumns } from "../page/columns.js";
import { fileName } from "../text/csv.js";
import { showDevice, wireDevice } from "../page/device-strip.js";
import { reasons, showDiagnostics } from "../page/diagnostics.js";
import { html, part } from "../ui/dom.js";
import { saveAllCsv, saveChart, saveShownCsv } from "../page/downloads.js";
import { createDrawer } from "../page/drawer.js";
import { categoryTotals, filterRows, shareOf } from "../state/filter.js";
import { createFilters, toggled } from "../page/filter-bar.js";
import { count } from "../text/format.js";
import { createOtherDevicesTable } from "../page/other-devices-table.js";
import { createHoverCard } from "../page/hover-card.js";
import { wireChartKeys, wireKeyboard, wireTabs } from "../ui/keyboard.js";
import { watchFilterBar, watchSize } from "../page/follow-size.js";
import { createChosenHardware, isSameChoice } from "../state/chosen-hardware.js";
import { wireMenus } from "../ui/menu.js";
import { createModel, unpacked } from "../state/model.js";
import { createOpChart, opPlaces } from "../chart/op-chart.js";
import { isWhatIf } from "../metrics/peaks.js";
import { createPeaksMenu } from "../page/peaks-menu.js";
import { wirePrinting } from "../page/printing.js";
import { createProgramChart, createProgramList } from "../chart/program.js";
import { parseQuery, withFilter, withoutFilters } from "../state/query.js";
import { addressOf, createStore } from "../state/store.js";
import { createNoFlopsStrip } from "../chart/no-flops-strip.js";
import { createColumnMenu, createOpTable, createProgramTable } from "../page/tables.js";
import { colour, onThemeChange } from "../ui/theme.js";
import { showVerdict } from "../page/verdict.js";
import { whatIfVerdict } from "../text/whatif-words.js";

const page = part("profile");
// Not from the page data, which stay as they are when a title is edited.
const title = page.dataset.title;

/** The chart library is read while the words and the table are already there. */
function plotlyReady() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return new Promise((resolve, reject) => {
    document.getElementById("plotly-script").addEventListener("load", () => resolve(window.Plotly));
    // The page's load event waits for the script, also for one that failed before we could listen.
    const conclude = () =>
      window.Plotly
        ? resolve(window.Plotly)
        : reject(new Error("The chart library could not be loaded."));
    if (document.readyState === "complete") conclude();
    else addEventListener("load", conclude, { once: true });
  });
}

async function loadPage(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return unpacked(await response.json());
}

function notify(text) {
  const notice = part("notice");
  notice.hidden = false;
  notice.textContent = text;
}

/** The state with only those devices and peaks of a link that are known here; the others are named. */
async function withDevices(hardware, state) {
  if (hardware.needsList(state)) {
    try {
      await hardware.load();
    } catch {
      notify(
        "The list of devices could not be read, so the devices of this link are left out. Reload the page to try again.",
      );
      return { ...state, dev: null, vs: [] };
    }
  }
  const { unknown } = hardware.pageFor(state);
  if (unknown.length === 0) return state;
  notify(
    `This link names ${unknown.map((name) => `“${name}”`).join(", ")}, which this profile or the list of devices does not have. The rest of the link is shown.`,
  );
  const isKnown = (name) => !unknown.includes(name);
  return {
    ...state,
    dev: state.dev !== null && isKnown(state.dev) ? state.dev : null,
    vs: state.vs.filter(isKnown),
    peaks: Object.fromEntries(Object.entries(state.peaks).filter(([key]) => isKnown(key))),
  };
}

/** A link may name what this profile does not have; the view then shows its default instead of nothing. */
function fitToProfile(state, model) {
  return {
    ...state,
    x: model.axis(state.x).id,
    bound: state.bound.filter((id) => model.bounds.some((bound) => bound.id === id)),
    cols: state.cols.filter((id) => model.column(id) !== null),
    sort: model.column(state.sort.replace(/^-/, "")) ? state.sort : "-self_share_ratio",
    op: model.view(state.infeed).byOp.has(state.op) ? state.op : null,
  };
}

/**
 * @param {import("../state/model.js").Model} model
 * @param {import("../state/chosen-hardware.js").ChosenHardware} hardware
 * @param {Promise<any>} library Plotly, once it is there
 * @param {import("../state/query.js").ViewState} initial
 */
function createPage(model, hardware, library, initial) {
  const store = createStore(initial);
  /** The profile by its own peaks, beside the model that follows the chosen ones. */
  const ownModel = createModel(hardware.ownPage);
  const paint = { colour, family: getComputedStyle(document.body).fontFamily };
  const card = createHoverCard(model);
  const view = () => model.view(store.get().infeed);
  const follow = (filter) => store.set(withFilter(store.get(), filter));
  /** What the filters leave: recomputed on every change of state. */
  let visible = computeVisible(store.get());

  function computeVisible(state) {
    const current = model.view(state.infeed);
    const context = {
      categories: model.categories,
      bounds: model.bounds,
      place: opPlaces(model, current, state.x),
    };
    const result = filterRows(current.rows, state, context);
    return { ...result, set: new Set(result.shown), place: context.place };
  }

  // ---- selection and light, in both directions -------------------------------------------------
  function select(row) {
    const op = store.get().op === row.op ? null : row.op;
    store.set({
      op,
      ...(op === null ? {} : { page: opTable.grid.pageOf(String(op)) ?? store.get().page }),
    });
    if (op !== null) opTable.grid.scrollTo(String(op));
  }
  function lightRow(row, event) {
    opTable.grid.light(row ? String(row.op) : null);
    charts?.op.light(row);
    charts?.strip.light(row);
    if (row && event) card.showOp(view(), row, event);
    else card.hide();
  }
  const programTotal = () => view().program[0];
  function hoverChart(place, event) {
    lightRow(place?.row ?? null, event);
    if (place?.ridge) card.showRidge(place.ridge, event);
    else if (place?.isProgram) card.showProgram(programTotal(), event);
  }
  function clickChart(place) {
    if (place.row) select(place.row);
    else if (place.isProgram) selectPoint(programTotal());
  }
  function selectPoint(point) {
    store.set({ step: store.get().step === point.label ? null : point.label });
  }
  function lightPoint(point, event) {
    programTable.light(point);
    programList.light(point, Boolean(event));
    charts?.program.light(point);
    if (point && event) card.showProgram(point, event);
    else card.hide();
  }
  const help = (column, anchor) => (column ? card.showHelp(column, anchor) : card.hide());

  // ---- parts -----------------------------------------------------------------------------------
  const opTable = createOpTable({
    model,
    store,
    onSelect: select,
    onLight: (row) => lightRow(row, null),
    onHelp: help,
  });
  const programTable = createProgramTable({
    model,
    store,
    onSelect: selectPoint,
    onLight: (point) => lightPoint(point, null),
    onHelp: help,
  });
  const programList = createProgramList({
    model,
    store,
    paint,
    onLight: (point) => lightPoint(point, null),
    onClick: selectPoint,
  });
  const columnMenu = createColumnMenu({ model, store });
  const peaksMenu = createPeaksMenu({ model, store, hardware });
  const filters = createFilters({ model, store });
  const categories = createCategories({
    model,
    onToggle: (name) => store.set({ cat: toggled(store.get().cat, name), page: 1 }),
  });
  const drawer = createDrawer({
    model,
    opsUrl: page.dataset.opsUrl,
    onClose: () => store.set({ op: null }),
    onMove: move,
  });
  const otherDevicesTable = createOtherDevicesTable({
    model,
    store,
    hardware,
    onAdd: peaksMenu.compare,
  });
  const showTab = wireTabs(document.querySelector("[role=tablist]"), (tab) => store.set({ tab }));
  /** @type {{ Plotly: any, op: any, strip: any, program: any } | null} made once the library is there */
  let charts = null;

  /** J and K: through the operations in the table's order. */
  function move(step) {
    const rows = opTable.grid.rows;
    const index = rows.findIndex((row) => row.op === store.get().op);
    const next = rows[index < 0 ? 0 : index + step];
    if (!next) return;
    store.set({ op: next.op, page: opTable.grid.pageOf(String(next.op)) ?? 1 });
    opTable.grid.scrollTo(String(next.op));
  }

  // ---- drawing ---------------------------------------------------------------------------------
  function boundCounts() {
    const counts = new Map();
    for (const row of view().rows) counts.set(row.bound, (counts.get(row.bound) ?? 0) + 1);
    return counts;
  }

  function showWords(state) {
    const all = view().rows;
    const efficiency = view().reader("roofline_efficiency_ratio");
    filters.render(state, {
      shown: visible.shown.length,
      all: all.length,
      share: shareOf(visible.shown),
      error: visible.error,
      boundCounts: boundCounts(),
    });
    categories.render(categoryTotals(all, visible.besidesCategory, efficiency), state.cat);
    columnMenu.render();
    opTable.show(visible.shown, state);
    programTable.show();
    otherDevicesTable.render();
    showTab(state.tab);
    part("columns-button").hidden = state.tab !== "ops";
    part("csv-shown").hidden = state.tab === "hardware";
    drawer.show(view(), state.op === null ? null : (view().byOp.get(state.op) ?? null), {
      hidden: !visible.shown.some((row) => row.op === state.op),
    });
    showEmptiness();
  }

  function showEmptiness() {
    const drawn = visible.shown.filter((row) => visible.place(row) !== null);
    part("chart-note").textContent =
      `${count(drawn.length)} with FLOPs${model.roofs.memory.length + model.roofs.compute.length === 0 ? ", no peak known: no roofs" : ""}`;
    fillEmpty(part("chart-empty"), drawn.length > 0, emptyChartWords());
    fillEmpty(opTable.grid.empty, visible.shown.length > 0, emptyChartWords());
  }

  function emptyChartWords() {
    if (view().rows.length === 0)
      return {
        title: "This profile has no operations",
        lines: reasons(model.diagnostics),
        clear: false,
      };
    if (visible.shown.length === 0)
      return {
        title: "No operation matches the filters",
        lines: ["Loosen one, or start over."],
        clear: true,
      };
    const every = visible.shown.length === view().rows.length;
    const axis = model.axis(store.get().x).label;
    return {
      title: "Nothing to draw here",
      lines: [
        `None of the ${every ? "" : "filtered "}operations has both FLOPs and bytes of ${axis}; they are in the table, those without FLOPs also in the strip below.`,
        ...(every ? reasons(model.diagnostics) : []),
      ],
      clear: !every,
    };
  }

  function fillEmpty(element, hidden, { title, lines, clear }) {
    element.hidden = hidden;
    if (hidden) return;
    element.replaceChildren(html("b", {}, title), ...lines.map((line) => html("span", {}, line)));
    if (clear)
      element.append(
        html(
          "button",
          {
            class: "btn",
            type: "button",
            on: { click: () => store.set(withoutFilters(store.get())) },
          },
          "Clear all filters",
        ),
      );
  }

  function drawOps() {
    charts.strip.draw(visible.place);
    return charts.op.draw();
  }

  const drawCharts = () => Promise.all([drawOps(), charts.program.draw()]);

  /** Other peaks, another device or a comparison: the same page from other data. */
  function look(state) {
    const { page: seen, others } = hardware.pageFor(state);
    model.use(seen, others);
    columnMenu.fill();
    drawer.forget();
    showDevice(model, peaksMenu.edit);
  }

  function update(state, previous) {
    const newLook = !isSameChoice(state, previous);
    if (newLook) look(state);
    visible = computeVisible(state);
    const newView = newLook || state.infeed !== previous.infeed;
    if (newView) showView();
    if (newView || state.cols !== previous.cols) opTable.setColumns(state);
    if (newView || state.step !== previous.step) programList.draw();
    card.hide();
    showWords(state);
    if (!charts) return;
    const draws = newView || charts.op.needsDrawing(state, previous);
    charts.op.show(visible.set, draws);
    charts.strip.show(visible.set);
    charts.program.markSelection();
    if (draws && !newView) drawOps();
    if (newView) {
      charts.op.draw();
      // The small charts may come a frame later: what was asked for is seen sooner.
      requestAnimationFrame(() => {
        charts.strip.draw(visible.place);
        charts.program.draw();
      });
    }
  }

  function showView() {
    const state = store.get();
    const { device } = hardware.pageFor(state);
    const verdict = isWhatIf(state)
      ? whatIfVerdict({ model, ownModel, infeed: state.infeed, device, peaks: state.peaks })
      : view().verdict;
    const hasCounts = view().rows.some((row) => row.cost === "known" || row.cost === "no_flops");
    showVerdict(verdict, hasCounts ? model.profile.provenance : undefined, follow);
    peaksMenu.render();
    programTable.setColumns();
  }

  // ---- wiring ----------------------------------------------------------------------------------
  function wire() {
    wireMenus();
    wireKeyboard({
      search: () => document.getElementById("filter-name").focus(),
      move,
      close: () => store.set({ op: null, step: null }),
    });
    part("show-program-table").addEventListener("click", () => {
      store.set({ tab: "program" });
      document.getElementById("tab-program").focus();
      document.querySelector(".tables").scrollIntoView({ block: "start" });
    });
    part("copy-link").addEventListener("click", () => copyLink(store.get()));
    part("csv-shown").addEventListener("click", saveShown);
    for (const button of document.querySelectorAll("[data-download]")) {
      button.addEventListener("click", () => {
        document.getElementById("menu-download").hidePopover();
        download(button.dataset.download);
      });
    }
    onThemeChange(redraw);
    wirePrinting();
  }

  function saveShown() {
    const state = store.get();
    const name = (kind) => fileName(title, `${kind}.csv`);
    if (state.tab === "program")
      saveShownCsv(
        model,
        name("program"),
        model.program_columns,
        view().program,
        (id) => (point) => point[id] ?? null,
      );
    else
      saveShownCsv(
        model,
        name("operations"),
        shownColumns(model.columns, state.cols),
        opTable.grid.rows,
        view().reader,
      );
  }

  function download(what) {
    if (what === "csv-shown") saveShown();
    else if (what === "csv-all") saveAllCsv(model, title);
    else if (charts)
      saveChart({
        Plotly: charts.Plotly,
        model,
        title,
        state: store.get(),
        paint,
        shown: visible.set,
        format: what,
      });
  }

  function redraw() {
    if (!charts) return;
    programList.draw();
    drawCharts();
  }

  function wireChart({ op }) {
    const tools = document.querySelectorAll("[data-tool]");
    for (const button of tools) {
      button.addEventListener("click", () => {
        for (const other of tools) other.setAttribute("aria-pressed", String(other === button));
        op.setTool(button.dataset.tool);
      });
    }
    for (const button of document.querySelectorAll("[data-zoom-by]"))
      button.addEventListener("click", () => op.zoomBy(Number(button.dataset.zoomBy)));
    const reset = () => store.set({ zoom: null });
    part("zoom-reset").addEventListener("click", reset);
    wireChartKeys(document.getElementById("op-chart"), { pan: op.panBy, zoom: op.zoomBy, reset });
  }

  async function start() {
    const state = store.get();
    showView();
    showDevice(model, peaksMenu.edit);
    wireDevice();
    showDiagnostics(model.diagnostics, model.profile, follow);
    opTable.setColumns(state);
    programList.draw();
    showWords(state);
    store.subscribe(update);
    wire();
    const Plotly = await library;
    charts = {
      Plotly,
      op: createOpChart({ Plotly, model, store, paint, onHover: hoverChart, onClick: clickChart }),
      strip: createNoFlopsStrip({ model, store, onHover: lightRow, onClick: select }),
      program: createProgramChart({
        Plotly,
        model,
        store,
        paint,
        onHover: lightPoint,
        onClick: selectPoint,
      }),
    };
    wireChart(charts);
    charts.op.show(visible.set);
    charts.strip.show(visible.set);
    await drawCharts();
    watchSize(redraw);
  }
  return { start };
}

async function copyLink(state) {
  const address = new URL(addressOf(state), location.href).href;
  const toast = part("toast");
  const copied = await copyText(address);
  toast.textContent = copied
    ? "Link copied: it opens this very view"
    : "Copying is not allowed here: the address bar holds the same link";
  toast.classList.add("shown");
  setTimeout(() => toast.classList.remove("shown"), 2400);
}

async function main() {
  const { state, newer } = parseQuery(location.search);
  if (newer !== null)
    notify(
      `This link was made by a newer Roofline (view version ${newer}), so its view cannot be restored. You see the profile as it opens by default.`,
    );
  const library = plotlyReady();
  try {
    const hardware = createChosenHardware(
      await loadPage(page.dataset.pageUrl),
      page.dataset.devicesUrl,
    );
    const chosen = await withDevices(hardware, state);
    const model = createModel(hardware.ownPage);
    const { page: seen, others } = hardware.pageFor(chosen);
    model.use(seen, others);
    watchFilterBar();
    await createPage(model, hardware, library, fitToProfile(chosen, model)).start();
  } catch (error) {
    notify(
      `The view could not be drawn. ${error instanceof Error ? error.message : ""} Reload the page to try again.`,
    );
    throw error;
  }
  document.body.dataset.ready = "true";
  performance.mark("roofline:ready");
}

main();
