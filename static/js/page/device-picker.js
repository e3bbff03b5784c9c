// The list of known devices by vendor: one can take the place of the profile's, up to four can be compared with it.

import { MOST_DEVICES } from "../state/chosen-hardware.js";
import { toggled } from "../state/filter.js";
import { bandwidth, flopRate } from "../text/format.js";
import { findAll, hasDevice, html, inputPart, isFile, part } from "../ui/dom.js";

/** @import { DeviceList, KnownDevice } from "../types/device-list.js" */
/** @import { ChosenHardware } from "../state/chosen-hardware.js" */
/** @import { Store } from "../state/store.js" */

const OWN = "own";
/** @type {Record<string, string>} Groups of what is not of the catalogue, by how their ids begin. */
const MEASURED = { "this-machine": "This machine", measured: "Measured" };
const NOT_READ =
  "The list of devices could not be read. Close this and open it again to retry; peaks can be set by hand.";

/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {string} words that a search looks through
 * @property {HTMLElement} item
 * @property {HTMLElement} use
 * @property {HTMLButtonElement | null} compare
 */

/**
 * @param {object} options
 * @param {Store} options.store
 * @param {ChosenHardware} options.hardware
 */
export function createDevicePicker({ store, hardware }) {
  const search = inputPart("device-search");
  const root = part("device-list");
  /** @type {Entry[]} */
  let entries = [];
  search.addEventListener("input", showFound);

  /** Reads the list once; says so when that fails, and asks again the next time. */
  async function open() {
    if (entries.length > 0) return render();
    root.replaceChildren(html("p", { class: "muted" }, "Loading the devices…"));
    const list = await hardware.load().catch(() => null);
    if (list) return fill(list);
    return root.replaceChildren(html("p", { class: "muted" }, NOT_READ));
  }

  /** @param {DeviceList} list */
  function fill(list) {
    const groups = groupsOf(list, createOwn(), createEntry);
    entries = [...groups.values()].flat();
    root.replaceChildren(...[...groups].map(([name, members]) => section(name, members)));
    showFound();
    render();
  }

  function createOwn() {
    const take = () => store.set({ dev: null, zoom: null });
    const use = useButton("The profile’s own peaks", "", take);
    return { id: OWN, words: "", item: html("li", {}, use), use, compare: null };
  }

  /** @param {KnownDevice} device */
  function createEntry(device) {
    const { id, name } = device;
    const isOwn = hardware.own?.device.part?.id === id;
    const isHere = hasDevice(id);
    const known = isOwn ? "this device by the catalogue" : peaksText(device);
    const detail = isHere ? known : "Needs the server: roofline serve";
    const use = useButton(name, detail, () => store.set({ dev: id, zoom: null }));
    use.disabled = !isHere;
    if (isFile())
      return { id, words: searchWords(device), item: html("li", {}, use), use, compare: null };
    const compare = compareButton(name, () => store.set({ vs: toggled(store.get().vs, id) }));
    return { id, words: searchWords(device), item: html("li", {}, use, compare), use, compare };
  }

  function showFound() {
    const wanted = search.value.trim().toLowerCase();
    for (const { words, item } of entries) item.hidden = !words.includes(wanted);
    for (const group of findAll(HTMLElement, "section", root))
      group.hidden = !group.querySelector("li:not([hidden])");
  }

  function render() {
    const { dev, vs } = store.get();
    for (const { id, use, compare } of entries) {
      use.setAttribute("aria-pressed", String(id === (dev ?? OWN)));
      compare?.setAttribute("aria-pressed", String(vs.includes(id)));
      if (compare) compare.disabled = vs.length >= MOST_DEVICES && !vs.includes(id);
    }
  }

  return { open, render };
}

/**
 * @param {DeviceList} list
 * @param {Entry} own
 * @param {(device: KnownDevice) => Entry} createEntry
 */
function groupsOf({ devices }, own, createEntry) {
  const groups = new Map([["This profile", [own]]]);
  for (const device of devices) {
    const group = MEASURED[device.id.split(":")[0]] ?? device.vendor;
    const [entry, others] = [createEntry(device), groups.get(group) ?? []];
    // The newest first; those without a known roof of memory last.
    groups.set(group, mainMemory(device) ? [entry, ...others] : [...others, entry]);
  }
  return groups;
}

/** @param {string} name @param {Entry[]} members */
function section(name, members) {
  const list = html("ul", {}, ...members.map(({ item }) => item));
  return html("section", { "aria-label": name }, html("h3", {}, name), list);
}

/** @param {KnownDevice} device */
const searchWords = ({ name, vendor, id, aliases }) =>
  [name, vendor, id, ...aliases].join(" ").toLowerCase();

/** @param {string} name @param {string} detail @param {() => void} onClick */
const useButton = (name, detail, onClick) =>
  html(
    "button",
    { class: "use", type: "button", on: { click: onClick } },
    html("span", { class: "text" }, name),
    html("span", { class: "hint" }, detail),
  );

/** @param {string} name @param {() => void} onClick */
const compareButton = (name, onClick) =>
  html(
    "button",
    {
      class: "btn small",
      type: "button",
      "aria-label": `Compare with ${name}`,
      on: { click: onClick },
    },
    "Compare",
  );

/** "989 TFLOP/s bf16 · 3,350 GB/s": what tells parts apart. @param {KnownDevice} device */
function peaksText(device) {
  const rates = device.compute
    .slice(0, 1)
    .map((one) => `${flopRate(one.gflops)} ${one.unit.split("_")[1]}`);
  const found = mainMemory(device);
  return [...rates, found ? bandwidth(found.gbs) : "memory bandwidth unknown"].join(" · ");
}

/** @param {KnownDevice} device */
const mainMemory = ({ memory, main_level: main }) => memory.find(({ level }) => level === main);
