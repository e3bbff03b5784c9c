// Sentences about a comparison with another device. Pure.

import { bytes, count, percent } from "./format.js";
import { counted } from "./words.js";

/** @import { Bound } from "../types/page-data.js" */
/** @import { DeviceList, KnownDevice } from "../types/device-list.js" */
/** @import { Level, Model } from "../types/model.js" */
/** @import { LeftOut, Other, Summary } from "../metrics/other-devices.js" */

/**
 * "HBM 66 % · compute 34 %".
 * @param {Pick<Summary, "byBound" | "boundUs">} summary
 * @param {readonly Bound[]} bounds
 */
export function limitsText({ byBound, boundUs }, bounds) {
  if (!(boundUs > 0)) return "–";
  return [...byBound]
    .filter(([, us]) => us > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([code, us]) => `${bounds[code].label} ${percent(us / boundUs, 0)}`)
    .join(" · ");
}

/** @param {Model} model @param {string} unit */
const unitLabel = (model, unit) => model.units.find(({ id }) => id === unit)?.label ?? unit;

/**
 * Which operations are not counted, and why: they keep nothing, so neither time has them.
 * @param {Summary} summary
 * @param {Model} model
 * @param {readonly string[]} [absent] compute units that the device is known not to have
 */
export function leftText({ left }, model, absent = []) {
  /** @param {LeftOut} one */
  const ops = (one) =>
    `${counted(one.ops, count(one.ops), "operation")} (${percent(one.share)} of the time: ${one.names.join(", ")}${one.ops > one.names.length ? " …" : ""})`;
  const parts = [...left].map(([reason, one]) => {
    if (reason === "idle") return `Idle time (${percent(one.share)}) is left out.`;
    if (reason === "cost")
      return `${ops(one)} without counted work ${one.ops === 1 ? "is" : "are"} left out.`;
    if (reason === "bandwidth") return `No memory bandwidth is known: ${ops(one)} left out.`;
    const unit = reason.slice("rate:".length);
    if (absent.includes(unit)) return `It has no ${unitLabel(model, unit)}: ${ops(one)} left out.`;
    return `No rate is known for ${unit ? unitLabel(model, unit) : "compute"}: ${ops(one)} left out.`;
  });
  return parts.join(" ");
}

/**
 * A least time cannot be longer than the measured one, and estimates that follow from it are wrong, too.
 * @param {Pick<Summary, "boundUs" | "measuredUs">} own
 */
export const impossibleText = ({ boundUs, measuredUs }) =>
  boundUs > measuredUs
    ? "The least time is longer than the measured one: the peaks in use or the counted work are not those of this device, so do not rely on the estimates."
    : "";

/** @param {{ other: Other, summary: Summary, model: Model, list: DeviceList | null }} options */
export function deviceNotes({ other, summary, model, list }) {
  const { device } = other;
  return [
    device.devices_per_chip > 1 ? `One device is a part of a chip: ${device.scope}.` : "",
    memoryText(device, model, list),
    precisionText(other, model),
    ...other.standIns.map(
      ({ unit, label }) => `${unitLabel(model, unit)} work is held against ${label}.`,
    ),
    levelsText(other, model),
    leftText(summary, model, device.absent),
  ].filter(Boolean);
}

/** @param {KnownDevice} device @param {Model} model @param {DeviceList | null} list */
function memoryText(device, model, list) {
  const here = list?.devices.find(({ id }) => id === model.device.part?.id)?.memory_bytes ?? null;
  if (device.memory_bytes === null || here === null || device.memory_bytes >= here) return "";
  return `Less memory: ${bytes(device.memory_bytes)} instead of ${bytes(here)}, so the program may not fit.`;
}

/**
 * Traffic of a memory whose bandwidth there is not known bounds nothing there.
 * @param {Other} other
 * @param {Model} model
 */
function levelsText({ levels }, model) {
  /** @param {Level["columns"]} columns */
  const isCounted = ({ bandwidth }) =>
    model.ops.columns[bandwidth]?.some((value) => (value ?? 0) > 0);
  const missing = model.levels
    .filter(
      ({ id, roof, columns }, i) => i > 0 && roof && !levels.includes(id) && isCounted(columns),
    )
    .map(({ label }) => label);
  return missing.length === 0
    ? ""
    : `No bandwidth is known there for ${missing.join(", ")}: that traffic bounds nothing.`;
}

/**
 * FLOPs that are not split by precision count as the other device's main rate.
 * @param {Other} other
 * @param {Model} model
 */
function precisionText({ whole }, model) {
  if (model.units.length > 0 || whole === null) return "";
  return `Precisions are not in the profile: all FLOPs are held against ${whole.label}.`;
}
