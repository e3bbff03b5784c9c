// Which peaks count: the profile's own, another device's, single ones set by hand. Pure. GFLOP/s and GB/s (1e9).

import { GIB_PER_GB } from "./units.js";

/** @import { DeviceList, KnownDevice, KnownPeak } from "../types/device-list.js" */
/** @import { ComputeRoof, DeviceField, LineStyle, Maybe, MemoryRoof, Origin, Page, Roofs, Sustained } from "../types/page-data.js" */
/** @import { ViewState } from "../types/view-state.js" */

/** @typedef {Pick<ViewState, "dev" | "peaks">} Choice */

/** The names of a main memory in a device list; a profile has one of them, and says which. */
const MAIN_LEVELS = ["hbm", "dram"];
const SCRATCH = ["shared", "lds"];
const MORE_DASHES = ["dash", "dot", "dashdot", "longdash"];

/** Memory levels that have columns, outermost first. @param {Pick<Page, "levels">} page */
export const shownLevels = (page) => page.levels.filter((level) => level.is_shown);

/** The id of the profile's main memory. @param {Pick<Page, "levels">} page */
export const mainLevel = (page) => page.levels.find((level) => level.is_main)?.id ?? "hbm";

/**
 * Where the profile has what a device list calls `level`.
 * @param {Pick<Page, "levels">} page
 * @param {string} level
 */
function ownLevel(page, level) {
  if (MAIN_LEVELS.includes(level)) return mainLevel(page);
  return SCRATCH.includes(level) && page.levels.some(({ id }) => id === "shared_l1")
    ? "shared_l1"
    : level;
}

/**
 * The roof of one memory level, its ridge not known yet; null for a level that the profile does not have.
 * @param {Pick<Page, "levels">} page
 * @param {string} id
 * @param {number} gbs
 * @param {{ origin: Origin, source: string }} from
 * @returns {MemoryRoof | null}
 */
function memoryRoof(page, id, gbs, { origin, source }) {
  const like = page.levels.find((level) => level.id === id);
  if (!like) return null;
  const { label, token, dash } = like;
  const gibs = gbs * GIB_PER_GB;
  const none = { ridge_flop_per_byte: null, sustained: null };
  return { id, label, gbs, gibs, ...none, origin, source, token, dash };
}

/** @param {Pick<Page, "levels">} page @param {MemoryRoof[]} roofs */
const inOrder = (page, roofs) => {
  const order = page.levels.map(({ id }) => id);
  return roofs.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
};

/**
 * @param {Omit<ComputeRoof, keyof LineStyle>[]} roofs
 * @returns {ComputeRoof[]}
 */
const styled = (roofs) =>
  roofs.map((roof, i) => ({
    ...roof,
    token: "--roof-compute",
    dash: i === 0 ? "solid" : MORE_DASHES[(i - 1) % MORE_DASHES.length],
  }));

/**
 * On a CPU the matrix products of a precision run on its vector unit.
 * @param {KnownDevice} device
 * @param {string} unit
 */
function covers(device, unit) {
  const [kind, precision] = unit.split("_");
  return device.kind === "cpu" && ["fp32", "fp64"].includes(precision)
    ? [`${kind === "matrix" ? "vector" : "matrix"}_${precision}`]
    : [];
}

/**
 * Where a number of the device list comes from, in words.
 * @param {DeviceList} list
 * @param {KnownDevice} device
 * @param {KnownPeak} peak
 */
export function sourceText(list, device, { source, note }) {
  return [`${device.name}. ${list.sources[source]?.title ?? source}`, note]
    .filter(Boolean)
    .join(". ");
}

/**
 * The rate that programs reach at best; a measured one was reached.
 * @param {DeviceList} list
 * @param {KnownDevice} device
 * @param {string} unit
 * @returns {Sustained | null}
 */
function sustained(list, { id, sustained_matrix: known }, unit) {
  if (known === null || id === "this-machine" || !unit.startsWith("matrix_")) return null;
  return { ...known, source: list.sources[known.source]?.title ?? known.source };
}

/**
 * A device's peaks as roofs of this page; levels that the profile does not have are left out.
 * @param {Pick<Page, "levels">} page
 * @param {DeviceList} list
 * @param {KnownDevice} device
 * @returns {Roofs}
 */
export function roofsOfDevice(page, list, device) {
  /** @type {Origin} */
  const origin = device.id === "this-machine" ? "calibrated" : "catalogue";
  const compute = device.compute.map((peak) => ({
    id: peak.unit,
    unit: peak.unit,
    covers: covers(device, peak.unit),
    label: peak.label,
    gflops: peak.gflops,
    origin,
    source: sourceText(list, device, peak),
    sustained: sustained(list, device, peak.unit),
  }));
  const memory = [...device.memory, ...(device.links ?? [])].flatMap((peak) => {
    const from = { origin, source: sourceText(list, device, peak) };
    return memoryRoof(page, ownLevel(page, peak.level), peak.gbs, from) ?? [];
  });
  return { compute: styled(compute), memory: inOrder(page, memory) };
}

/**
 * The roofs that `choice` means on this page, and what in it this page does not know.
 * @param {Page} page
 * @param {DeviceList | null} list
 * @param {Choice} choice
 */
export function chosenRoofs(page, list, choice) {
  const device = list?.devices.find((one) => one.id === choice.dev) ?? null;
  const unknown = choice.dev !== null && device === null ? [choice.dev] : [];
  let roofs = list && device ? roofsOfDevice(page, list, device) : page.roofs;
  for (const [key, value] of Object.entries(choice.peaks)) {
    const next = withPeak(page, roofs, key, value);
    if (next) roofs = next;
    else unknown.push(key);
  }
  return { roofs, device, unknown };
}

/** @type {{ origin: Origin, source: string, sustained: null }} */
const BY_HAND = { origin: "user", source: "Set by you", sustained: null };

/**
 * `roofs` with one peak set by hand; null for a key that means nothing here.
 * @param {Page} page
 * @param {Roofs} roofs
 * @param {string} key
 * @param {number} value
 * @returns {Roofs | null}
 */
function withPeak(page, roofs, key, value) {
  const memory = memoryRoof(page, ownLevel(page, key), value, BY_HAND);
  if (memory) {
    const others = roofs.memory.filter((one) => one.id !== memory.id);
    return { ...roofs, memory: inOrder(page, [...others, memory]) };
  }
  const at = key === "compute" ? 0 : roofs.compute.findIndex((roof) => roof.unit === key);
  if (at < 0 && !page.units.some(({ id }) => id === key)) return null;
  return { ...roofs, compute: withRate(page, roofs.compute, at, key, value) };
}

/**
 * @param {Page} page
 * @param {ComputeRoof[]} compute
 * @param {number} at index of the roof that changes; a missing one is added
 * @param {string} key
 * @param {number} gflops
 */
function withRate(page, compute, at, key, gflops) {
  const isWhole = key === "compute";
  const blank = {
    id: isWhole ? "peak" : key,
    unit: isWhole ? null : key,
    covers: [],
    label: unitLabel(page, key),
  };
  const before = compute[at];
  const roof = { ...(before ?? blank), ...BY_HAND, gflops };
  return styled(before ? compute.map((one) => (one === before ? roof : one)) : [...compute, roof]);
}

/** @param {Page} page @param {string} key */
const unitLabel = (page, key) => page.units.find(({ id }) => id === key)?.label ?? "Compute";

/**
 * The key under which a roof is set by hand.
 * @param {Roofs} roofs
 * @param {ComputeRoof | MemoryRoof} roof
 */
export function keyOf(roofs, roof) {
  if ("gbs" in roof) return roof.id;
  return roof === roofs.compute[0] || !roof.unit ? "compute" : roof.unit;
}

/**
 * The compute roof that an op or program point is held against.
 * @param {Pick<Page, "roofs">} page
 * @param {Maybe} unit its `compute_unit`, null without one
 */
export const computeRoof = ({ roofs }, unit) => roofs.compute[unit ?? 0] ?? null;

/** True for keys of rates; the others are memory levels. @param {string} key */
export const isRateKey = (key) => key === "compute" || /^(matrix|vector)_/.test(key);

/** True where anything but the profile's own peaks was chosen. @param {Choice} choice */
export const isWhatIf = ({ dev, peaks }) => dev !== null || Object.keys(peaks).length > 0;

/** @param {DeviceField} field */
const isPeakField = ({ id }) => /^peak_.*_(rate|bandwidth)$|_ridge_point$/.test(id);

/**
 * The device's fields with these roofs in place of its own.
 * @param {Page} page
 * @param {Roofs} roofs memory roofs with their ridges
 * @returns {DeviceField[]}
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
  // Shares of the peaks that the server knew say nothing about others.
  const others = fields.filter((field) => !isPeakField(field) && !OF_PEAKS.includes(field.id));
  const first = fields.findIndex(isPeakField);
  const at = first < 0 ? others.findIndex(({ id }) => id === "hosts") + 1 : first;
  return [...others.slice(0, at), ...peaks, ...others.slice(at)];
}

const OF_PEAKS = ["mfu", "hfu", "memory_bandwidth_utilisation"];

/** @type {Record<"gflops" | "gbs", Record<string, number>>} */
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

/**
 * No device is outside of these, in GFLOP/s and GB/s: other values were written in another unit.
 */
const LEAST = 1e-6;
const MOST = 1e12;

/**
 * A number as people write it, without groups and with a decimal point: of a comma and a point the last
 * one is the decimal mark, as in German "1.555,2"; a comma alone groups thousands where three digits
 * follow each. `model/written_numbers.py` reads the same in forms of the server.
 * @param {string} text digits, spaces, commas and points
 */
export function plainNumber(text) {
  const plain = text.replace(/[\s\u00a0\u202f'’]/g, "");
  const [comma, point] = [plain.lastIndexOf(","), plain.lastIndexOf(".")];
  if (comma >= 0 && point >= 0)
    return comma > point
      ? plain.replaceAll(".", "").replaceAll(",", ".")
      : plain.replaceAll(",", "");
  const isGrouped = /^[1-9]\d{0,2}(?:,\d{3})+$/.test(plain);
  return plain.replaceAll(",", isGrouped ? "" : ".");
}

/**
 * "1.2 TB/s", "1555 GB/s", "989 TFLOP/s": what people write.
 * @param {string} text
 * @param {"gflops" | "gbs"} kind
 * @param {string} [unit] what a number without a unit is in
 * @returns {number | null} GFLOP/s or GB/s; null: not understood, or no positive number
 */
export function parseAmount(text, kind, unit = kind === "gflops" ? "gflop/s" : "gb/s") {
  const match = /^([\d.,\s\u00a0\u202f'’]*\d(?:\.|e[+-]?\d+)?)\s*([a-z/]*)$/i.exec(text.trim());
  if (!match) return null;
  const value =
    Number(plainNumber(match[1])) * (UNITS[kind][(match[2] || unit).toLowerCase()] ?? NaN);
  return value >= LEAST && value <= MOST ? value : null;
}
