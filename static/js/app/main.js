// The page of a profile: loads the page data once, opens the view of the link, and wires what is around it.

import { wireCompareEntry } from "./compare-entry.js";
import { wireHost } from "./host.js";
import { keptNotes } from "./kept-notes.js";
import { plotlyReady } from "../chart/mount.js";
import { findingsOf } from "../page/advice.js";
import { createDownload } from "../page/download-menu.js";
import { watchSize } from "../page/follow-size.js";
import { wireOpenIn } from "../page/open-in.js";
import { wireFirstChart } from "../page/first-chart.js";
import { PageView } from "../page/page-view.js";
import { wirePrinting } from "../page/printing.js";
import { showTimeline } from "../page/timeline.js";
import { wireSubject } from "../page/subject.js";
import { copyLink, copyPandas, notify, showChangesOnce } from "../page/toast.js";
import { showWholeOrPart } from "../page/whole-or-part.js";
import { wireWorking } from "../page/working.js";
import { createChosenHardware, isSameChoice, withQuery } from "../state/chosen-hardware.js";
import { fitToProfile, leftOutText, withoutHardware } from "../state/fit-state.js";
import { createModel } from "../state/model.js";
import { listingOf, parseQuery, toQuery } from "../state/query.js";
import { addressOf, createStore } from "../state/store.js";
import { problemFromAnswer } from "../text/problem.js";
import { isPeakOf } from "../text/roofs.js";
import { buttonPart, find, findAll, part } from "../ui/dom.js";
import { wireMenus } from "../ui/menu.js";
import { painted } from "../ui/turns.js";
import { colour, onThemeChange } from "../ui/theme.js";

/** @import { DeviceList } from "../types/device-list.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Paint } from "../chart/save.js" */
/** @import { ChosenHardware, Seen } from "../state/chosen-hardware.js" */
/** @import { Fitted } from "../state/fit-state.js" */
/** @import { Store } from "../state/store.js" */

const page = part("profile");

/** The template's value. @param {string} name */
const written = (name) => page.dataset[name] ?? "";

/** A document of the server; fails with its words. @param {string} url @param {AbortSignal} [signal] */
async function read(url, signal) {
  const response = await fetch(url, signal ? { signal } : {});
  if (!response.ok) {
    const { message, remedy } = problemFromAnswer(response.status, await response.text());
    throw new Error([message, remedy].filter(Boolean).join(" "));
  }
  return response.json();
}

const NO_LIST =
  "The list of devices could not be read, so the devices of this link are left out. Reload the page to try again.";

/**
 * The state with only those devices of a link that are known here, and the names of the others.
 * @param {ChosenHardware} hardware
 * @param {ViewState} state
 * @returns {Promise<Fitted>}
 */
async function withDevices(hardware, state) {
  if (!hardware.needsList(state)) return { state, unknown: [] };
  /** @type {DeviceList | null} */
  const list = await hardware.load().catch(() => null);
  if (!list) {
    notify(NO_LIST);
    return { state: { ...state, dev: null, vs: [] }, unknown: [] };
  }
  const known = new Set(list.devices.map(({ id }) => id));
  const names = [...(state.dev === null ? [] : [state.dev]), ...state.vs];
  const unknown = names.filter((name) => !known.has(name));
  return {
    state: withoutHardware(state, unknown),
    unknown: unknown.map((name) => `“${name}”`),
  };
}

/**
 * What a link shows: the page under its peaks, its state, and what of it is left out.
 * @param {ChosenHardware} hardware
 * @param {Fitted} link
 * @returns {Promise<{ seen: Seen, fitted: Fitted }>}
 */
async function seenBy(hardware, link) {
  const { state, unknown } = link;
  const longest = await hardware.ask({ ...state, listing: "" });
  // Of an unknown order the server finds nothing; the page then says so.
  const seen = state.listing ? await hardware.ask(state).catch(() => longest) : longest;
  if (!seen) throw new Error("Another view was asked for meanwhile.");
  const strange = Object.keys(state.peaks).filter((key) => !isPeakOf(seen.page, key));
  if (strange.length === 0) return { seen, fitted: link };
  const names = strange.map((key) => `“${key}”`);
  return seenBy(hardware, {
    state: withoutHardware(state, strange),
    unknown: [...unknown, ...names],
  });
}

/**
 * @param {ChosenHardware} hardware
 * @param {Awaited<ReturnType<typeof seenBy>>} link
 */
function open(hardware, { seen, fitted: link }) {
  const model = createModel(seen.page, seen.others);
  model.findings = findingsOf(document);
  const fitted = fitToProfile(link.state, model);
  const unknown = [...link.unknown, ...fitted.unknown];
  const leftOut = leftOutText(unknown);
  if (leftOut) notify(leftOut);
  const store = createStore(fitted.state, (next, state) =>
    isSameChoice(next, state) ? null : shown(next),
  );
  /** Shows the view of the server; where it has none, the old one stays. @param {ViewState} next */
  async function shown(next) {
    const done = waiting();
    try {
      const found = await hardware.ask(next);
      if (found) model.use(found.page, found.others);
      return found !== null;
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error));
      view.parts.peaksMenu.render();
      view.parts.filterBar.render(store.get(), view.filterResult);
      return false;
    } finally {
      done();
    }
  }
  const paint = { colour, family: getComputedStyle(document.body).fontFamily };
  const view = new PageView({
    model,
    store,
    hardware,
    figuresUrl: written("figuresUrl"),
    partsUrl: written("partsUrl"),
    read,
    opsUrl: written("opsUrl"),
    opsQuery: written("opsQuery"),
    ...keptNotes(page),
  });
  wireHistory(store, model, hardware, view);
  if (HAS_MORE) followListing(store);
  showWholeOrPart(model);
  wireOpenIn(model);
  view.start({ isWritten: unknown.length === 0 && isWritten() });
  wire({ view, store, model, hardware, paint });
  return view;
}

/** Whether the profile has more operations than the page lists, and a server that finds them. */
const HAS_MORE = "hasMore" in page.dataset;
const SEARCH_AFTER_MS = 150;

/** @param {ViewState} state */
const withListing = (state) => (HAS_MORE ? { ...state, listing: listingOf(state) } : state);

/** Finds operations beside the longest when no key was pressed for a moment. @param {Store} store */
function followListing(store) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  store.subscribe((state) => {
    clearTimeout(timer);
    const listing = listingOf(state);
    // Those found before have other places now.
    const change = { listing, op: null, sel: [] };
    if (listing !== state.listing) timer = setTimeout(() => store.set(change), SEARCH_AFTER_MS);
  });
}

const BAR_AFTER_MS = 300;
let waits = 0;

/** Says that the page waits for the server, after a moment with a bar; returns what ends that. */
function waiting() {
  waits += 1;
  page.setAttribute("aria-busy", "true");
  const bar = setTimeout(() => page.classList.add("waits"), BAR_AFTER_MS);
  return () => {
    clearTimeout(bar);
    waits -= 1;
    if (waits > 0) return;
    page.removeAttribute("aria-busy");
    page.classList.remove("waits");
  };
}

/** Those whose sum is shown, else those in the area that was selected, else the one in sight. @param {ViewState} state @param {PageView} view */
function chosenOps({ sel, box, op }, view) {
  if (sel.length > 0) return sel;
  if (box) return view.visible.shown.map((row) => row.op);
  return op === null ? [] : [op];
}

/** Back and forward of the browser. @param {Store} store @param {Model} model @param {ChosenHardware} hardware @param {PageView} view */
function wireHistory(store, model, hardware, view) {
  addEventListener("popstate", () => go(searched()));
  wireHost({
    query: () => toQuery(store.get()),
    ops: () => chosenOps(store.get(), view),
    open: go,
    subscribe: store.subscribe,
  });

  /** Shows the state of an address. @param {string} query */
  async function go(query) {
    const done = waiting();
    try {
      const found = await withDevices(hardware, withListing(parseQuery(query).state));
      const { seen, fitted } = isSameChoice(found.state, store.get())
        ? { seen: null, fitted: found }
        : await seenBy(hardware, found);
      if (seen) model.use(seen.page, seen.others);
      store.restore(fitToProfile(fitted.state, model).state);
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error));
    } finally {
      done();
    }
  }
}

/** @param {{ view: PageView, store: Store, model: Model, hardware: ChosenHardware, paint: Paint }} page */
function wire({ view, store, model, hardware, paint }) {
  wireMenus();
  wireWorking({ view, model, store });
  wireSubject();
  wireFirstChart();
  buttonPart("copy-link").addEventListener("click", () => copyLink(addressOf(store.get())));
  buttonPart("copy-pandas").addEventListener("click", copyPandas);
  buttonPart("print").addEventListener("click", () => print());
  if (findAll(HTMLElement, "[data-drop-compare]").length > 0) wireCompareEntry(); // not behind a link
  // The title is not of the page data, which stay as they are when it is edited.
  const download = createDownload({ view, store, model, hardware, paint, title: written("title") });
  buttonPart("csv-shown").addEventListener("click", () => download("csv-shown"));
  buttonPart("csv-program").addEventListener("click", () => download("csv-program"));
  for (const button of findAll(HTMLElement, "[data-download]"))
    button.addEventListener("click", () => {
      find(HTMLElement, "#menu-share").hidePopover();
      download(button.dataset.download ?? "");
    });
  const redraw = () => view.redraw();
  onThemeChange(redraw);
  wirePrinting({ redraw, folds: view.parts.folds });
}

/** What the server draws: all else in an address is the browser's. */
const DRAWN = new Set(["v", "dev", "device", "peak", "host", "dvfs", "of", "from_us", "to_us"]);

/** The view of the address; a page that is one file has that of the link that it was made of. */
const searched = () => location.search || (document.body.dataset.search ?? "");

/** Whether the server has written this very view. */
const isWritten = () =>
  parseQuery(searched()).newer === null &&
  part("steps").hasChildNodes() &&
  [...new URLSearchParams(searched()).keys()].every(
    (key) => DRAWN.has(key) || key.startsWith("peak."),
  );

async function main() {
  const { state, newer, unreadable } = parseQuery(searched());
  if (newer !== null)
    notify(
      `This link was made by a newer Roofline (view version ${newer}), so its view cannot be restored. You see the profile as it opens by default.`,
    );
  try {
    const facts = read(written("factsUrl")); // of the longest alone: kept
    const hardware = createChosenHardware({
      facts: (listing) => (listing ? read(withQuery(written("factsUrl"), listing)) : facts),
      viewUrl: written("viewUrl"),
      partsUrl: written("partsUrl"),
      devicesUrl: written("devicesUrl"),
      read,
    });
    const found = await withDevices(hardware, withListing(state));
    const link = { state: found.state, unknown: [...unreadable, ...found.unknown] };
    const opened = await seenBy(hardware, link);
    plotlyReady().catch(() => undefined); // compiled beside `open`; a failure is told at the charts
    await painted();
    const view = open(hardware, opened);
    performance.mark("roofline:interactive");
    showChangesOnce();
    await painted();
    await view.startCharts();
    performance.mark("roofline:chart");
    await view.finish();
    view.parts.folds.whenOpen("timeline", () => showTimeline(opened.seen.page.timeline));
    watchSize(() => view.redraw());
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    notify(`The view could not be drawn. ${reason} Reload the page to try again.`);
    throw error;
  }
  document.body.dataset.ready = "true";
  performance.mark("roofline:ready");
}

main();
