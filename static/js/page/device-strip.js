// What the program ran on: one line, and every field with its origin on demand.

import { entry, html, part } from "../ui/dom.js";
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
import { keyOf } from "../metrics/peaks.js";
import { GIB_PER_GB } from "../metrics/units.js";
import { counted } from "../text/words.js";

/** Origin of a peak: the word beside it, and what it means. */
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

/** @param {string | null} origin @param {string} [source] */
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

function item(term, ...description) {
  return html("div", {}, html("dt", {}, ...[term].flat()), html("dd", {}, ...description));
}

const swatch = (roof) =>
  html("i", {
    class: `swatch ${roof.dash === "solid" ? "" : "broken"}`,
    vars: { "--swatch": `var(${roof.token})` },
  });
const small = (text) => html("small", {}, text);

/**
 * @param {import("../state/model.js").Model} model
 * @param {(key: string) => void} onEdit a peak was clicked, by its key
 */
export function showDevice(model, onEdit) {
  const { device, profile, roofs } = model;
  const per = `per ${device.core_word}`;
  const peak = (roof, label, text) => peakItem(model, roof, `${label} ${per}`, text, onEdit);
  const computeItem = (roof) => peak(roof, `${roof.label} peak`, peakRate(roof.gflops));
  const memoryItem = (roof) => peak(roof, roof.label, peakBandwidth(roof.gibs));
  const cores =
    device.cores > 0 ? [counted(device.cores, count(device.cores), model.coreWord)] : [];
  const shape = [...cores, counted(device.hosts, count(device.hosts), "host")].join(" · ");
  part("device-pill").textContent = `${device.name} · ${shape}`;
  part("device-strip").replaceChildren(
    item("Device", device.name, " ", small(shape)),
    // What does not fit is cut from the end: the main peak and the outermost memory count most.
    ...roofs.compute.slice(0, 1).map(computeItem),
    ...roofs.memory.slice(0, 1).map(memoryItem),
    ...ridgeItems(roofs.memory),
    item("Measured", duration(device.wall_time_us), " ", small(stepsText(device))),
    ...roofs.memory.slice(1).map(memoryItem),
    ...missingPeaks(model),
    item(
      "Captured",
      small(profile.captured_at ? dateTime(profile.captured_at) : "date not in the file"),
    ),
    item(profile.files.length === 1 ? "File" : "Files", small(filesText(profile.files))),
  );
  document
    .getElementById("device-fields")
    .replaceChildren(fieldList(device), fileList(profile, model.coreWord));
}

/** A peak of the strip: its value opens the peaks for editing. */
function peakItem(model, roof, label, text, onEdit) {
  const key = keyOf(model.roofs, roof);
  const value = html(
    "button",
    {
      class: "peak-value",
      type: "button",
      "aria-label": `${label}: ${text}. Change`,
      title: "Change this peak",
      on: { click: () => onEdit(key) },
    },
    text,
  );
  return item(
    [swatch(roof), label],
    value,
    originTag(roof.origin, roof.source),
    differsTag(model.device, roof),
  );
}

/** Profile and catalogue differ: both are shown, with the reason. */
function differsTag(device, roof) {
  const found = comparisonOf(device, roof);
  if (!found) return null;
  return html(
    "span",
    { class: "differs", title: found.explanation },
    `catalogue ${comparedText(found, found.catalogue)}`,
  );
}

/** What the catalogue says otherwise about a peak of the profile. */
function comparisonOf(device, roof) {
  if (roof.origin !== "profile" && roof.origin !== "measured") return null;
  return (
    (device.comparisons ?? []).find((one) => one.id === roof.id && one.profile !== null) ?? null
  );
}

/** A value of a comparison, in the unit peaks are shown in. */
export const comparedText = ({ unit }, value) =>
  unit === "gflops" ? peakRate(value) : peakBandwidth(value * GIB_PER_GB);

const stepsText = ({ steps }) => (steps === 0 ? "no steps" : counted(steps, count(steps), "step"));

/** Levels whose traffic is known but not their peak: said, since their roof is missing. */
function missingPeaks(model) {
  if (model.roofs.compute.length + model.roofs.memory.length === 0)
    return [item("Peaks", small("none known: no roofs can be drawn"))];
  const without = model.levels.filter(({ roof }) => roof === null).map(({ label }) => label);
  if (model.roofs.compute.length === 0) without.unshift("Compute");
  return without.length === 0 ? [] : [item(without.join(", "), small("no peak known"))];
}

function ridgeItems(memory) {
  const known = memory.filter((roof) => roof.ridge_flop_per_byte !== null);
  if (known.length === 0) return [];
  return [
    item(
      `Ridge point, ${known[0].label}`,
      significant(known[0].ridge_flop_per_byte),
      " ",
      small("FLOP/B"),
    ),
  ];
}

function filesText(files) {
  if (files.length === 0) return DASH;
  const total = files.reduce((sum, file) => sum + (file.size_bytes ?? 0), 0);
  return files.length === 1
    ? `${files[0].name} · ${bytes(total)}`
    : `${files.length} files · ${bytes(total)}`;
}

/** Peaks with all their digits, the rest as everywhere. */
function fieldText({ value, unit }) {
  if (unit === "gflops") return peakRate(value);
  return unit === "gibs" ? peakBandwidth(value) : quantity(value, unit, 4);
}

function fieldList(device) {
  return html(
    "dl",
    { class: "fields" },
    ...device.fields.map((field) =>
      html(
        "div",
        {},
        html("dt", {}, field.label),
        html(
          "dd",
          {},
          fieldText(field),
          originTag(field.origin),
          field.help ? html("p", {}, field.help) : null,
        ),
      ),
    ),
  );
}

function fileList(profile, coreWord) {
  const row = (file) =>
    html(
      "li",
      {},
      html("b", {}, file.name),
      ` ${[bytes(file.size_bytes), file.host && `host ${file.host}`, file.cores != null && counted(file.cores, count(file.cores), coreWord)].filter(Boolean).join(" · ")}`,
    );
  return html(
    "div",
    { class: "files" },
    html(
      "dl",
      {},
      ...entry("Format", profile.format),
      ...entry("Added", dateTime(profile.created_at)),
      ...entry("Captured", dateTime(profile.captured_at)),
    ),
    html("ul", {}, ...profile.files.map(row)),
  );
}

export function wireDevice() {
  const button = part("device-toggle");
  const fields = document.getElementById("device-fields");
  button.addEventListener("click", () => {
    const open = fields.hidden;
    fields.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  });
}
