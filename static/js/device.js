// What the program ran on: one line, and every field with its origin on demand.

import { entry, html, part } from "./dom.js";
import { bytes, count, DASH, dateTime, duration, peakBandwidth, peakRate, quantity, significant } from "./format.js";
import { counted } from "./words.js";

const ORIGIN_WORDS = { profile: "profile", catalogue: "catalogue", user: "set by you" };

const originTag = (origin) => (origin ? html("span", { class: "origin" }, ORIGIN_WORDS[origin] ?? origin) : null);

function item(term, ...description) {
  return html("div", {}, html("dt", {}, ...[term].flat()), html("dd", {}, ...description));
}

const swatch = (roof) => html("i", { class: `swatch ${roof.dash === "solid" ? "" : "broken"}`, vars: { "--swatch": `var(${roof.token})` } });
const small = (text) => html("small", {}, text);

/** @param {import("./model.js").Model} model */
export function showDevice(model) {
  const { device, profile, roofs } = model;
  const per = `per ${device.core_word}`;
  const cores = device.cores > 0 ? [counted(device.cores, count(device.cores), model.coreWord)] : [];
  const shape = [...cores, counted(device.hosts, count(device.hosts), "host")].join(" · ");
  part("device-pill").textContent = `${device.name} · ${shape}`;
  part("device-strip").replaceChildren(
    item("Device", device.name, " ", small(shape)),
    ...roofs.compute.map((roof) => item([swatch(roof), `${roof.label} peak ${per}`], peakRate(roof.gflops), originTag(roof.origin))),
    // What does not fit is cut from the end: the outermost memory counts most.
    ...roofs.memory.slice(0, 1).map((roof) => memoryItem(roof, per)),
    ...ridgeItems(roofs.memory),
    item("Measured", duration(device.wall_time_us), " ", small(stepsText(device))),
    ...roofs.memory.slice(1).map((roof) => memoryItem(roof, per)),
    ...missingPeaks(model),
    item("Captured", small(profile.captured_at ? dateTime(profile.captured_at) : "date not in the file")),
    item(profile.files.length === 1 ? "File" : "Files", small(filesText(profile.files))),
  );
  document.getElementById("device-fields").replaceChildren(fieldList(device), fileList(profile, model.coreWord));
  wireToggle();
}

const memoryItem = (roof, per) => item([swatch(roof), `${roof.label} ${per}`], peakBandwidth(roof.gibs), originTag(roof.origin));

const stepsText = ({ steps }) => (steps === 0 ? "no steps" : counted(steps, count(steps), "step"));

/** Levels whose traffic is known but not their peak: said, since their roof is missing. */
function missingPeaks(model) {
  if (model.roofs.compute.length + model.roofs.memory.length === 0) return [item("Peaks", small("none known: no roofs can be drawn"))];
  const without = model.levels.filter(({ roof }) => roof === null).map(({ label }) => label);
  if (model.roofs.compute.length === 0) without.unshift("Compute");
  return without.length === 0 ? [] : [item(without.join(", "), small("no peak known"))];
}

function ridgeItems(memory) {
  const known = memory.filter((roof) => roof.ridge_flop_per_byte !== null);
  if (known.length === 0) return [];
  return [item(`Ridge point, ${known[0].label}`, significant(known[0].ridge_flop_per_byte), " ", small("FLOP/B"))];
}

function filesText(files) {
  if (files.length === 0) return DASH;
  const total = files.reduce((sum, file) => sum + (file.size_bytes ?? 0), 0);
  return files.length === 1 ? `${files[0].name} · ${bytes(total)}` : `${files.length} files · ${bytes(total)}`;
}

/** Peaks with all their digits, the rest as everywhere. */
function fieldText({ value, unit }) {
  if (unit === "gflops") return peakRate(value);
  return unit === "gibs" ? peakBandwidth(value) : quantity(value, unit, 4);
}

function fieldList(device) {
  return html("dl", { class: "fields" }, ...device.fields.map((field) => html("div", {},
    html("dt", {}, field.label),
    html("dd", {}, fieldText(field), originTag(field.origin), field.help ? html("p", {}, field.help) : null))));
}

function fileList(profile, coreWord) {
  const row = (file) => html("li", {}, html("b", {}, file.name), ` ${[bytes(file.size_bytes), file.host && `host ${file.host}`, file.cores != null && counted(file.cores, count(file.cores), coreWord)].filter(Boolean).join(" · ")}`);
  return html("div", { class: "files" },
    html("dl", {}, ...entry("Format", profile.format), ...entry("Added", dateTime(profile.created_at)), ...entry("Captured", dateTime(profile.captured_at))),
    html("ul", {}, ...profile.files.map(row)));
}

function wireToggle() {
  const button = part("device-toggle");
  const fields = document.getElementById("device-fields");
  button.addEventListener("click", () => {
    const open = fields.hidden;
    fields.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  });
}
