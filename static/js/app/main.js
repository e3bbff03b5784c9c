// The page of a profile: loads the page data once, opens the view of the link, and wires what is around it.

import { wireCompareEntry } from "./compare-entry.js";
import { keptNotes } from "./kept-notes.js";
import { createDownload } from "../page/download-menu.js";
import { wireDevice } from "../page/device-strip.js";
import { showDiagnostics } from "../page/diagnostics.js";
import { watchFilterBar, watchSize } from "../page/follow-size.js";
import { wireOpenIn } from "../page/open-in.js";
import { PageView } from "../page/page-view.js";
import { wirePrinting } from "../page/printing.js";
import { showServing } from "../page/serving.js";
import { showTimeline } from "../page/timeline.js";
import { copyLink, notify } from "../page/toast.js";
import { showWholeOrPart } from "../page/whole-or-part.js";
import { wireWorking } from "../page/working.js";
import { createChosenHardware } from "../state/chosen-hardware.js";
import { fitToProfile, leftOutText, withoutHardware } from "../state/fit-state.js";
import { createModel, unpacked } from "../state/model.js";
import { parseQuery } from "../state/query.js";
import { createStore } from "../state/store.js";
import { buttonPart, find, findAll, part } from "../ui/dom.js";
import { wireMenus } from "../ui/menu.js";
import { painted } from "../ui/turns.js";
import { colour, onThemeChange } from "../ui/theme.js";

/** @import { Page } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Paint } from "../chart/save.js" */
/** @import { ChosenHardware } from "../state/chosen-hardware.js" */
/** @import { Fitted } from "../state/fit-state.js" */
/** @import { Store } from "../state/store.js" */

const page = part("profile");

/** The template's value. @param {string} name */
const written = (name) => page.dataset[name] ?? "";

/** @param {string} url @returns {Promise<Page>} */
async function loadPage(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return unpacked(await response.json());
}

const NO_LIST =
  "The list of devices could not be read, so the devices of this link are left out. Reload the page to try again.";

/**
 * The state with only those devices and peaks of a link that are known here, and the names of the others.
 * @param {ChosenHardware} hardware
 * @param {ViewState} state
 * @returns {Promise<Fitted>}
 */
async function withDevices(hardware, state) {
  const hasList = !hardware.needsList(state) || (await hardware.load().catch(() => null));
  if (!hasList) {
    notify(NO_LIST);
    return { state: { ...state, dev: null, vs: [] }, unknown: [] };
  }
  const { unknown } = hardware.pageFor(state);
  return {
    state: withoutHardware(state, unknown),
    unknown: unknown.map((name) => `“${name}”`),
  };
}

/**
 * @param {ChosenHardware} hardware
 * @param {Fitted} link its state, and what of it is left out so far
 */
function open(hardware, { state, unknown }) {
  const model = createModel(hardware.ownPage);
  const { page: seen, others } = hardware.pageFor(state);
  model.use(seen, others);
  const fitted = fitToProfile(state, model);
  const leftOut = leftOutText([...unknown, ...fitted.unknown]);
  if (leftOut) notify(leftOut);
  const store = createStore(fitted.state);
  const paint = { colour, family: getComputedStyle(document.body).fontFamily };
  const view = new PageView({
    model,
    store,
    hardware,
    figuresUrl: written("figuresUrl"),
    opsUrl: written("opsUrl"),
    opsQuery: written("opsQuery"),
    ...keptNotes(page),
  });
  wireHistory(store, model, hardware);
  wireDevice();
  showServing(model.serving);
  showWholeOrPart(model);
  wireOpenIn(model);
  showDiagnostics(model.diagnostics, model.profile, view.parts.follow);
  view.start({ isWritten: isWritten() });
  wire(view, store, model, paint);
  return view;
}

/** Back and forward of the browser. @param {Store} store @param {Model} model @param {ChosenHardware} hardware */
function wireHistory(store, model, hardware) {
  addEventListener("popstate", async () => {
    const { state } = await withDevices(hardware, parseQuery(location.search).state);
    const { page: seen, others } = hardware.pageFor(state);
    model.use(seen, others);
    store.restore(fitToProfile(state, model).state);
  });
}

/** @param {PageView} view @param {Store} store @param {Model} model @param {Paint} paint */
function wire(view, store, model, paint) {
  wireMenus();
  wireWorking({ view, model, store });
  buttonPart("show-program-table").addEventListener("click", () => showProgramTable(store));
  buttonPart("copy-link").addEventListener("click", () => copyLink(store.get()));
  if (findAll(HTMLElement, "[data-run-picker]").length > 0) wireCompareEntry(); // not behind a link
  // The title is not of the page data, which stay as they are when it is edited.
  const download = createDownload({ view, store, model, paint, title: written("title") });
  buttonPart("csv-shown").addEventListener("click", () => download("csv-shown"));
  buttonPart("csv-groups").addEventListener("click", () => download("csv-groups"));
  for (const button of findAll(HTMLElement, "[data-download]"))
    button.addEventListener("click", () => {
      find(HTMLElement, "#menu-download").hidePopover();
      download(button.dataset.download ?? "");
    });
  const redraw = () => view.redraw();
  onThemeChange(redraw);
  wirePrinting({ redraw, showTab: () => view.parts.showTab(store.get().tab) });
}

/** @param {Store} store */
function showProgramTable(store) {
  store.set({ tab: "program" });
  find(HTMLElement, "#tab-program").focus();
  find(HTMLElement, ".tables").scrollIntoView({ block: "start" });
}

/** Whether the server has written this very view; the address may hold another one: theme-boot.js. */
const isWritten = () => document.documentElement.dataset.linked === undefined;

async function main() {
  const { state, newer, unreadable } = parseQuery(location.search);
  if (newer !== null)
    notify(
      `This link was made by a newer Roofline (view version ${newer}), so its view cannot be restored. You see the profile as it opens by default.`,
    );
  try {
    const own = await loadPage(written("pageUrl"));
    await painted();
    const hardware = createChosenHardware(own, written("devicesUrl"));
    watchFilterBar();
    const found = await withDevices(hardware, state);
    const view = open(hardware, { ...found, unknown: [...unreadable, ...found.unknown] });
    performance.mark("roofline:interactive");
    await painted();
    await view.startCharts();
    performance.mark("roofline:chart");
    await view.finish();
    showTimeline(own.timeline);
    watchSize(() => view.resize());
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    notify(`The view could not be drawn. ${reason} Reload the page to try again.`);
    throw error;
  } finally {
    delete document.documentElement.dataset.linked;
  }
  document.body.dataset.ready = "true";
  performance.mark("roofline:ready");
}

main();
