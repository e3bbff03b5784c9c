// The device that the program ran on: one line, and every field with its origin on demand.

import { buttonPart, entry, find, html, part } from "../ui/dom.js";
import {
  bytes,
  count,
  DASH,
  dateTime,
  duration,
  peakBandwidth,
  peakRate,
  quantity,
  significant,
} from "../text/format.js";
import { keyOf } from "../text/roofs.js";
import { inGbs } from "../text/amounts.js";
import { counted } from "../text/words.js";

/** @import { Comparison, ComputeRoof, Device, DeviceField, MemoryRoof, Origin, Profile, ProfileFile } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { Child } from "../ui/dom.js" */

/**
 * Origin of a peak: the word beside it, and what it means.
 * @type {Record<string, readonly [word: string, meaning: string] | undefined>}
 */
const ORIGINS = {
  profile: ["profile", "The profile states it."],
  measured: ["measured", "The profiler measured it."],
  catalogue: ["catalogue", "Published for this part."],
  calibrated: [
    "calibrated",
    "Measured on this machine by roofline calibrate, not a data-sheet value.",
  ],
  user: ["set by you", "Set by you, in this page’s address."],
};

/** @param {Origin | null} origin @param {string} [source] */
export function originTag(origin, source = "") {
  if (!origin) return null;
  const [word, meaning] = ORIGINS[origin] ?? [origin, ""];
  return html(
    "span",
    {
      class: origin === "user" ? "origin mine" : "origin",
      title: [meaning, source].filter(Boolean).join(" "),
    },
    word,
  );
}

/** @param {string | Child[]} term @param {...Child} description */
function item(term, ...description) {
  const words = typeof term === "string" ? [term] : term;
  return html("div", {}, html("dt", {}, ...words), html("dd", {}, ...description));
}

/** @param {ComputeRoof | MemoryRoof} roof */
const swatch = (roof) =>
  html("i", {
    class: `swatch ${roof.dash === "solid" ? "" : "broken"}`,
    vars: { "--swatch": `var(${roof.token})` },
  });
/** @param {string} text */
const small = (text) => html("small", {}, text);

/**
 * @param {Model} model
 * @param {(key: string) => void} onEdit a peak was clicked, by its key
 */
export function showDevice(model, onEdit) {
  const { device, profile, roofs } = model;
  const [mainRates, mainMemory] = [roofs.compute.slice(0, 1), roofs.memory.slice(0, 1)];
  /** @param {ComputeRoof | MemoryRoof} roof */
  const peak = (roof) => peakItem(model, roof, onEdit);
  part("peaks-core").textContent = ` per ${model.coreWord}`;
  // Without a peak there is no roof: setting one is the first thing to do.
  const hasPeak = roofs.compute.length + roofs.memory.length > 0;
  buttonPart("peaks-button").classList.toggle("primary", !hasPeak);
  part("device-pill").textContent = device.name;
  part("device-peaks").textContent = chipPeaks(model);
  part("device-strip").replaceChildren(
    item("Device", device.name, " ", small(shapeText(model))),
    // Items that do not fit are cut from the end: the main peak and the outermost memory count most.
    ...mainRates.map(peak),
    ...mainMemory.map(peak),
    ...linkPeaks(model).map(peak),
    ...ridgeItems(roofs.memory),
    item("Measured", duration(device.wall_time_us), " ", small(stepsText(device))),
    ...otherMemory(model).map(peak),
    ...missingPeaks(model),
    item("Captured", capturedText(profile)),
    item(profile.files.length === 1 ? "File" : "Files", filesText(profile.files)),
  );
}

/** The list behind *Details*. @param {Model} model */
export function showFields({ device, profile, coreWord }) {
  fields().replaceChildren(fieldList(device), fileList(profile, coreWord));
}

/** Peaks of links: read beside the main memory; chips wait for each other more than for the host. @param {Model} model */
const linkPeaks = ({ roofs, levels }) =>
  roofs.memory
    .slice(1)
    .filter(({ id }) => levels.some((level) => level.id === id && level.is_link))
    .sort((a, b) => Number(a.id === "host") - Number(b.id === "host"));

/** Inner memories. @param {Model} model */
function otherMemory(model) {
  const links = linkPeaks(model);
  return model.roofs.memory.slice(1).filter((roof) => !links.includes(roof));
}

const fields = () => find(HTMLElement, "#device-fields");

/** The peaks that bind most programs: "989 TFLOP/s · 3,350 GB/s". @param {Model} model */
const chipPeaks = ({ roofs: { compute, memory } }) =>
  [
    ...compute.slice(0, 1).map(({ gflops }) => peakRate(gflops)),
    ...memory.slice(0, 1).map(({ gbs }) => peakBandwidth(gbs)),
  ].join(" · ");

/** "4 cores · 1 host". @param {Model} model */
function shapeText({ device, coreWord }) {
  const cores = device.cores > 0 ? [counted(device.cores, count(device.cores), coreWord)] : [];
  return [...cores, counted(device.hosts, count(device.hosts), "host")].join(" · ");
}

/**
 * A peak of the strip: its value opens the peaks for editing.
 * @param {Model} model
 * @param {ComputeRoof | MemoryRoof} roof
 * @param {(key: string) => void} onEdit
 */
function peakItem({ device, roofs }, roof, onEdit) {
  const isRate = "gflops" in roof;
  const label = `${roof.label}${isRate ? " peak" : ""} per ${device.core_word}`;
  const source = `Per ${device.core_word}. ${roof.source}`;
  const text = isRate ? peakRate(roof.gflops) : peakBandwidth(roof.gbs);
  const value = html(
    "button",
    {
      class: "peak-value",
      type: "button",
      "aria-label": `${label}: ${text}. Change`,
      title: "Change this peak",
      on: { click: () => onEdit(keyOf(roofs, roof)) },
    },
    text,
  );
  const tags = [originTag(roof.origin, source), differsTag(device, roof)];
  return item([swatch(roof), roof.label], value, ...tags);
}

/**
 * Profile and catalogue differ: both are shown, with the reason.
 * @param {Device} device
 * @param {ComputeRoof | MemoryRoof} roof
 */
function differsTag(device, roof) {
  const found = comparisonOf(device, roof);
  if (!found) return null;
  const text = `catalogue ${comparedText(found, found.catalogue)}`;
  return html("span", { class: "differs", title: found.explanation }, text);
}

/**
 * The catalogue's other value of a peak of the profile.
 * @param {Device} device
 * @param {ComputeRoof | MemoryRoof} roof
 */
function comparisonOf({ comparisons }, { id, origin }) {
  if (origin !== "profile" && origin !== "measured") return null;
  return comparisons.find((one) => one.id === id && one.profile !== null) ?? null;
}

/**
 * A value of a comparison, in the unit peaks are shown in.
 * @param {Comparison} comparison
 * @param {number} value
 */
export const comparedText = ({ unit }, value) =>
  unit === "gflops" ? peakRate(value) : peakBandwidth(value);

/** @param {Device} device */
const stepsText = ({ steps }) => (steps === 0 ? "no steps" : counted(steps, count(steps), "step"));

/** @param {Profile} profile */
const capturedText = ({ captured_at: at }) => (at ? dateTime(at) : "date not in the file");

/**
 * Levels whose traffic is known but not their peak: the strip names them, since their roof is missing.
 * @param {Model} model
 */
function missingPeaks({ roofs, levels }) {
  if (roofs.compute.length + roofs.memory.length === 0)
    return [item("Peaks", "none known: no roofs can be drawn")];
  const without = levels.filter(({ roof }) => roof === null).map(({ label }) => label);
  if (roofs.compute.length === 0) without.unshift("Compute");
  return without.length === 0 ? [] : [item(without.join(", "), "no peak known")];
}

/** @param {MemoryRoof[]} memory */
function ridgeItems(memory) {
  const known = memory.find((roof) => roof.ridge_flop_per_byte !== null);
  if (!known) return [];
  return [item("Ridge", `${significant(known.ridge_flop_per_byte)} FLOP/B`)];
}

/** @param {ProfileFile[]} files */
function filesText(files) {
  if (files.length === 0) return DASH;
  const total = bytes(files.reduce((sum, file) => sum + (file.size_bytes ?? 0), 0));
  return files.length === 1 ? `${files[0].name} · ${total}` : `${files.length} files · ${total}`;
}

/** Peaks with all their digits, the rest as everywhere. @param {DeviceField} field */
function fieldText({ value, unit }) {
  if (typeof value === "number" && unit === "gflops") return peakRate(value);
  if (typeof value === "number" && unit === "gibs") return peakBandwidth(inGbs(value));
  return quantity(value, unit, 4);
}

/** @param {Device} device */
const fieldList = (device) => html("dl", { class: "fields" }, ...device.fields.map(fieldItem));

/** @param {DeviceField} field */
function fieldItem(field) {
  const help = field.help ? html("p", {}, field.help) : null;
  const value = html("dd", {}, fieldText(field), originTag(field.origin), help);
  return html("div", {}, html("dt", {}, field.label), value);
}

/** @param {Profile} profile @param {string} coreWord */
function fileList({ format, created_at: added, captured_at: captured, files }, coreWord) {
  const facts = html(
    "dl",
    {},
    ...entry("Format", format),
    ...entry("Added", dateTime(added)),
    ...entry("Captured", dateTime(captured)),
  );
  const list = html("ul", {}, ...files.map((file) => fileItem(file, coreWord)));
  return html("div", { class: "files" }, facts, list);
}

/** @param {ProfileFile} file @param {string} coreWord */
function fileItem({ name, size_bytes: size, host, cores }, coreWord) {
  const words = [
    bytes(size),
    host && `host ${host}`,
    cores !== null && counted(cores, count(cores), coreWord),
  ];
  return html("li", {}, html("b", {}, name), ` ${words.filter(Boolean).join(" · ")}`);
}
