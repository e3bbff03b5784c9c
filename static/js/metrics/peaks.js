// Which peaks count: the profile's own, another device's, single ones set by hand. Pure. GFLOP/s and GB/s (1e9).

import { GIB_PER_GB } from "./units.js";

/**
 * @typedef {object} Choice
 * @property {string | null} dev id of a device of the device list; null: the profile's own peaks
 * @property {Readonly<Record<string, number>>} peaks set by hand: "compute" is the main rate, else a unit or a memory level
 *
 * @typedef {{ compute: any[], memory: any[] }} Roofs as the page data have them
 */

const MAIN_LEVELS = ["hbm", "dram"];
const SCRATCH = ["shared", "lds"];
const MORE_DASHES = ["dash", "dot", "dashdot", "longdash"];
const BANDWIDTH = "_bandwidth_gibs";
const RATE = "_flop_rate_gflops";

const idsOf = (page, suffix, besides) =>
  page.columns
    .filter(({ id }) => id.endsWith(suffix))
    .map(({ id }) => id.slice(0, -suffix.length))
    .filter((id) => !besides.includes(id));

/** Memory levels that have columns, outermost first. */
export const levelIds = (page) => idsOf(page, BANDWIDTH, ["memory"]);
/** Compute units that the profile's work is split by. */
export const unitIds = (page) => idsOf(page, RATE, ["model", ""]);
/** The level that is the profile's main memory. */
export const mainLevel = (page) =>
  page.bounds.find((bound) => MAIN_LEVELS.includes(bound.level))?.level ?? "hbm";

/** Where the profile has what a device list calls `level`. */
function ownLevel(page, level) {
  if (MAIN_LEVELS.includes(level)) return mainLevel(page);
  return SCRATCH.includes(level) && page.bounds.some((bound) => bound.level === "shared_l1")
    ? "shared_l1"
    : level;
}

function memoryRoof(page, id, gbs, origin, source) {
  const like = page.bounds.find((bound) => bound.level === id);
  return (
    like && {
      id,
      label: like.label,
      gbs,
      gibs: gbs * GIB_PER_GB,
      origin,
      source,
      token: like.token,
      dash: like.dash,
    }
  );
}

const inOrder = (page, roofs) => {
  const order = page.bounds.map((bound) => bound.level);
  return roofs.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
};

const styled = (roofs) =>
  roofs.map((roof, i) => ({
    ...roof,
    token: "--roof-compute",
    dash: i === 0 ? "solid" : MORE_DASHES[(i - 1) % MORE_DASHES.length],
  }));

/** On a CPU the matrix products of a precision run on its vector unit. */
function covers(device, unit) {
  const [kind, precision] = unit.split("_");
  return device.kind === "cpu" && ["fp32", "fp64"].includes(precision)
    ? [`${kind === "matrix" ? "vector" : "matrix"}_${precision}`]
    : [];
}

/** Where a number of the device list comes from, in words. */
export function sourceText(list, device, { source, note }) {
  return [`${device.name}. ${list.sources[source]?.title ?? source}`, note]
    .filter(Boolean)
    .join(". ");
}

/**
 * A device's peaks as roofs of this page; levels that the profile does not have are left out.
 * @param {any} page
 * @param {any} list the device list
 * @param {any} device one of it
 * @returns {Roofs}
 */
export function roofsOfDevice(page, list, device) {
  const origin = device.id === "this-machine" ? "calibrated" : "catalogue";
  const compute = device.compute.map((peak) => ({
    id: peak.unit,
    unit: peak.unit,
    covers: covers(device, peak.unit),
    label: peak.label,
    gflops: peak.gflops,
    origin,
    source: sourceText(list, device, peak),
  }));
  const memory = device.memory.map((peak) =>
    memoryRoof(page, ownLevel(page, peak.level), peak.gbs, origin, sourceText(list, device, peak)),
  );
  return { compute: styled(compute), memory: inOrder(page, memory.filter(Boolean)) };
}

/** The roofs that `choice` means on this page, and what in it this page does not know. */
export function chosenRoofs(page, list, choice) {
  const device =
    choice.dev === null ? null : (list?.devices.find((one) => one.id === choice.dev) ?? null);
  const unknown = choice.dev !== null && device === null ? [choice.dev] : [];
  let roofs = device ? roofsOfDevice(page, list, device) : page.roofs;
  for (const [key, value] of Object.entries(choice.peaks)) {
    const next = withPeak(page, roofs, key, value);
    if (next) roofs = next;
    else unknown.push(key);
  }
  return { roofs, device, unknown };
}

/** `roofs` with one peak set by hand; null for a key that means nothing here. */
function withPeak(page, roofs, key, value) {
  const set = { origin: "user", source: "Set by you" };
  const level = ownLevel(page, key);
  if (page.bounds.some((bound) => bound.level === level)) {
    const roof = { ...memoryRoof(page, level, value, set.origin, set.source) };
    return {
      ...roofs,
      memory: inOrder(page, [...roofs.memory.filter((one) => one.id !== level), roof]),
    };
  }
  const at = key === "compute" ? 0 : roofs.compute.findIndex((roof) => roof.unit === key);
  if (at < 0 && !unitIds(page).includes(key)) return null;
  const before = roofs.compute[at];
  const blank = {
    id: key === "compute" ? "peak" : key,
    unit: key === "compute" ? null : key,
    covers: [],
    label: unitLabel(page, key),
  };
  const roof = { ...(before ?? blank), ...set, gflops: value };
  return {
    ...roofs,
    compute: styled(
      before ? roofs.compute.map((one) => (one === before ? roof : one)) : [...roofs.compute, roof],
    ),
  };
}

const unitLabel = (page, key) =>
  page.columns.find(({ id }) => id === `${key}${RATE}`)?.label ?? "Compute";

/** The key under which a roof is set by hand. */
export function keyOf(roofs, roof) {
  if (roof.gbs !== undefined) return roof.id;
  return roof === roofs.compute[0] || !roof.unit ? "compute" : roof.unit;
}

/** True for keys of rates; the others are memory levels. */
export const isRateKey = (key) => key === "compute" || /^(matrix|vector)_/.test(key);

/** True where anything but the profile's own peaks was chosen. */
export const isWhatIf = ({ dev, peaks }) => dev !== null || Object.keys(peaks).length > 0;

const isPeakField = ({ id }) => /^peak_.*_(rate|bandwidth)$|_ridge_point$/.test(id);

/**
 * The device's fields with these roofs in place of its own.
 * @param {any} page
 * @param {Roofs} roofs memory roofs with their ridges
 */
export function deviceFields(page, { compute, memory }) {
  const { fields, core_word: core } = page.device;
  const peaks = [
    ...compute.map((roof, i) => ({
      id: i === 0 ? "peak_flop_rate" : `peak_${roof.id}_flop_rate`,
      label: i === 0 ? `Peak FLOP rate per ${core}` : `${roof.label} per ${core}`,
      value: roof.gflops,
      unit: "gflops",
      origin: roof.origin,
      help: roof.source,
    })),
    ...memory.map((roof) => ({
      id: `peak_${roof.id}_bandwidth`,
      label: `Peak ${roof.label} bandwidth per ${core}`,
      value: roof.gibs,
      unit: "gibs",
      origin: roof.origin,
      help: roof.source,
    })),
    ...memory
      .filter((roof) => roof.ridge_flop_per_byte !== null)
      .map((roof) => ({
        id: `${roof.id}_ridge_point`,
        label: `Ridge point, ${roof.label}`,
        value: roof.ridge_flop_per_byte,
        unit: "flop_per_byte",
        origin: null,
        help: "Peak FLOP rate ÷ peak bandwidth: below it memory binds, above it compute.",
      })),
  ];
  const others = fields.filter((field) => !isPeakField(field));
  const first = fields.findIndex(isPeakField);
  const at = first < 0 ? others.findIndex(({ id }) => id === "hosts") + 1 : first;
  return [...others.slice(0, at), ...peaks, ...others.slice(at)];
}

const UNITS = {
  gflops: {
    "gflop/s": 1,
    "tflop/s": 1e3,
    "pflop/s": 1e6,
    gflops: 1,
    tflops: 1e3,
    pflops: 1e6,
    "gop/s": 1,
    "top/s": 1e3,
    g: 1,
    t: 1e3,
    p: 1e6,
  },
  gbs: {
    "mb/s": 1e-3,
    "gb/s": 1,
    "tb/s": 1e3,
    "gib/s": 1 / GIB_PER_GB,
    "tib/s": 1024 / GIB_PER_GB,
    g: 1,
    t: 1e3,
  },
};

/** No device is outside of these, in GFLOP/s and GB/s: what is, was written in another unit. */
const LEAST = 1e-6;
const MOST = 1e12;

/**
 * "1.2 TB/s", "1555 GB/s", "989 TFLOP/s": what people write.
 * @param {string} text
 * @param {"gflops" | "gbs"} kind
 * @param {string} [unit] what a number without a unit is in
 * @returns {number | null} GFLOP/s or GB/s; null: not understood, or no positive number
 */
export function parseAmount(text, kind, unit = kind === "gflops" ? "gflop/s" : "gb/s") {
  const match = /^([\d.,\s\u00a0\u202f]*\d(?:\.|e[+-]?\d+)?)\s*([a-z/]*)$/i.exec(text.trim());
  if (!match) return null;
  const digits = match[1]
    .replace(/[\s\u00a0\u202f]/g, "")
    .replace(/,(?=\d{3}(?:\D|$))/g, "")
    .replace(",", ".");
  const value = Number(digits) * (UNITS[kind][(match[2] || unit).toLowerCase()] ?? NaN);
  return value >= LEAST && value <= MOST ? value : null;
}
