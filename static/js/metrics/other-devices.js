// The same program on other hardware: how long each op would take at least, and what that tells. Pure.
//
// An op's lower bound on a device is the longest of its FLOPs ÷ compute peak and its bytes ÷ bandwidth: its self
// time × the share of that device's roof which its measured rates are.

import { roofsOfDevice } from "./peaks.js";
import { withRoofs } from "./whatif.js";

/** @import { Column, ComputeRoof, Measure, MemoryRoof, Page, Roofs } from "../types/page-data.js" */
/** @import { DeviceList, KnownDevice } from "../types/device-list.js" */
/** @import { Row, View } from "../types/model.js" */

/**
 * Further from its roof than this, an op waits for something else: that time stays as it is on
 * other hardware.
 */
export const LATENCY_EFFICIENCY = 0.05;
const LEAST_PART = 1e-4; // a smaller part of an op's FLOPs does not make it that unit's

export const MOST_DEVICES = 4;
/** @type {readonly (readonly [token: string, dash: string])[]} */
const STYLES = [
  ["--vs-1", "9px,4px"],
  ["--vs-2", "3px,3px"],
  ["--vs-3", "12px,3px,3px,3px"],
  ["--vs-4", "6px,2px,2px,2px,2px,2px"],
];

/**
 * @typedef {object} Other one other device beside the profile's own
 * @property {string} id
 * @property {string} name
 * @property {KnownDevice} device
 * @property {string} token
 * @property {string} dash
 * @property {MemoryRoof | null} memory its main memory's roof; null: unknown
 * @property {ComputeRoof | null} compute its roof of the unit that is the main one here, else its own main one; null: unknown
 * @property {Measure[]} us lower bound per op and core; null: not known
 * @property {number[]} bound index into `bounds` per op
 * @property {(string | null)[]} why the bound of an op is not known: "cost", "idle", "rate:<unit>" or "bandwidth"
 * @property {string[]} levels memory levels it has a roof for
 * @property {{ unit: string, label: string }[]} standIns units it does not have, and which does their work
 * @property {{ label: string, gflops: number } | null} whole the roof that unsplit FLOPs count against
 */

/**
 * @param {Page} page as shown
 * @param {DeviceList} list
 * @param {readonly string[]} ids of the device list; unknown ones are left out
 * @returns {Other[]}
 */
export function otherDevices(page, list, ids) {
  const devices = ids
    .flatMap((id) => list.devices.find((device) => device.id === id) ?? [])
    .slice(0, MOST_DEVICES);
  return devices.map((device, i) => otherDevice(page, list, device, STYLES[i]));
}

/** Which unit does the work of one that a device does not have: the same precision, only slower. */
/** @type {Record<string, readonly string[]>} */
const STAND_INS = {
  matrix_fp64: ["vector_fp64"],
  matrix_fp32: ["vector_fp32"],
  matrix_tf32: ["matrix_fp32", "vector_fp32"],
};

/**
 * @typedef {ComputeRoof & { standsFor: string[] }} RoofWithStandIns `standsFor`: units whose work it does
 */

/**
 * The roofs with the units that others stand in for.
 * @param {Roofs} roofs
 * @returns {{ compute: RoofWithStandIns[], memory: MemoryRoof[] }}
 */
function withStandIns({ compute, memory }) {
  /** @param {string} unit */
  const has = (unit) => compute.some((roof) => roof.unit === unit || roof.covers.includes(unit));
  const missing = Object.entries(STAND_INS)
    .filter(([unit]) => !has(unit))
    .map(([unit, others]) => ({ unit, by: others.find(has) }));
  /** @param {ComputeRoof} roof */
  const standsFor = (roof) => missing.filter(({ by }) => by === roof.unit).map(({ unit }) => unit);
  return {
    memory,
    compute: compute.map((roof) => ({
      ...roof,
      covers: [...roof.covers, ...standsFor(roof)],
      standsFor: standsFor(roof),
    })),
  };
}

/**
 * @param {Page} page
 * @param {DeviceList} list
 * @param {KnownDevice} device
 * @param {readonly [token: string, dash: string]} style
 * @returns {Other}
 */
function otherDevice(page, list, device, [token, dash]) {
  const roofs = withStandIns(roofsOfDevice(page, list, device));
  const { columns } = withRoofs(page, roofs).ops;
  const memory = roofs.memory.find(({ id }) => id === "hbm" || id === "dram") ?? null;
  const share = columns.roofline_efficiency_ratio;
  // Work that none of its roofs is about, as that of a memory it does not have, says nothing.
  const why = reasonsOf(page, roofs, memory).map(
    (reason, op) => reason ?? (share[op] === null ? "cost" : null),
  );
  const us = columns.self_time_per_core_us.map((self, op) =>
    why[op] === null ? product(self, share[op]) : null,
  );
  const main =
    roofs.compute.find((roof) => roof.unit === page.roofs.compute[0]?.unit) ??
    roofs.compute[0] ??
    null;
  return {
    id: device.id,
    name: device.name,
    device,
    token,
    dash,
    memory,
    compute: main,
    us,
    bound: columns.bound_by,
    why,
    levels: roofs.memory.map(({ id }) => id),
    standIns: standInsOf(page, roofs.compute),
    whole: page.units.length === 0 ? (roofs.compute[0] ?? null) : null,
  };
}

/** @param {Measure} a @param {Measure} b */
const product = (a, b) => (a === null || b === null ? null : a * b);

/**
 * Units of this profile's work that another unit does there.
 * @param {Page} page
 * @param {RoofWithStandIns[]} compute
 */
function standInsOf(page, compute) {
  /** @param {string} unit */
  const isUsed = (unit) => {
    const column = page.units.find(({ id }) => id === unit)?.columns.rate;
    return column !== undefined && page.ops.columns[column]?.some((rate) => (rate ?? 0) > 0);
  };
  return compute.flatMap((roof) =>
    roof.standsFor.filter(isUsed).map((unit) => ({ unit, label: roof.label })),
  );
}

/**
 * Why an op's lower bound is not known on a device with these roofs; null where it is.
 * @param {Page} page
 * @param {Roofs} roofs
 * @param {MemoryRoof | null} memory the main one
 */
function reasonsOf(page, roofs, memory) {
  const { columns, count } = page.ops;
  const units = page.units.map(({ id, columns: named }) => ({
    rates: columns[named.rate],
    reason: `rate:${id}`,
    has: roofs.compute.some((roof) => roof.unit === id || roof.covers.includes(id)),
  }));
  /** @param {number} op */
  const reason = (op) => {
    const rate = columns.flop_rate_gflops[op] ?? 0;
    const moved = columns.memory_bandwidth_gibs[op] ?? 0;
    if (columns.cost[op] === "idle") return "idle";
    if (columns.cost[op] === "transfer") return "cost";
    if (columns.cost[op] === "unknown" || !(rate > 0 || moved > 0)) return "cost";
    const least = rate * LEAST_PART;
    const missing = units.find(({ rates, has }) => !has && (rates?.[op] ?? 0) > least);
    if (missing) return missing.reason;
    if (rate > 0 && roofs.compute.length === 0) return "rate:";
    return moved > 0 && memory === null ? "bandwidth" : null;
  };
  return Array.from({ length: count }, (_, op) => reason(op));
}

/**
 * The time of one op at the same share of its roof; far from both roofs its waits stay.
 * @param {number} selfUs measured
 * @param {Measure} efficiency share of the roof here
 * @param {number} boundUs lower bound there
 */
export function estimate(selfUs, efficiency, boundUs) {
  if (efficiency === null || efficiency <= 0) return selfUs;
  const here = Math.min(1, efficiency);
  return here < LATENCY_EFFICIENCY ? boundUs + selfUs * (1 - here) : boundUs / here;
}

/**
 * @typedef {{ ops: number, share: number, names: string[] }} LeftOut ops that are not counted for one reason
 *
 * @typedef {{ us: Measure[], bound: number[], why: (string | null)[] }} LowerBounds one entry per op
 *
 * @typedef {object} Summary the program on one device, per core, over the ops whose bound is known there
 * @property {number} boundUs
 * @property {number} estimateUs
 * @property {number} measuredUs
 * @property {number} coveredShare of the view's time
 * @property {Map<number, number>} byBound lower-bound time by index into `bounds`
 * @property {{ ops: number, share: number }} changed ops that something else binds there
 * @property {Map<string, LeftOut>} left ops that are not counted, by reason
 */

/**
 * @param {View} view
 * @param {LowerBounds} other
 * @returns {Summary}
 */
export function summarise(view, other) {
  const self = view.reader("self_time_per_core_us");
  const efficiency = view.reader("roofline_efficiency_ratio");
  /** @type {Summary} */
  const found = {
    boundUs: 0,
    estimateUs: 0,
    measuredUs: 0,
    coveredShare: 0,
    byBound: new Map(),
    changed: { ops: 0, share: 0 },
    left: new Map(),
  };
  for (const row of view.rows) {
    const us = other.us[row.op];
    const selfUs = self(row);
    if (us === null || selfUs === null) leave(found.left, other.why[row.op] ?? "cost", row);
    else {
      found.boundUs += us;
      found.estimateUs += estimate(selfUs, efficiency(row), us);
      found.measuredUs += selfUs;
      cover(found, row, other.bound[row.op], us);
    }
  }
  return found;
}

/**
 * @param {Summary} found
 * @param {Row} row an op whose bound is known there
 * @param {number} bound what binds it there
 * @param {number} us its lower bound
 */
function cover(found, row, bound, us) {
  found.coveredShare += row.share;
  found.byBound.set(bound, (found.byBound.get(bound) ?? 0) + us);
  if (bound === row.bound) return;
  found.changed.ops += 1;
  found.changed.share += row.share;
}

const MOST_NAMES = 3;

/** @param {Summary["left"]} left @param {string} reason @param {Row} row */
function leave(left, reason, row) {
  const one = left.get(reason) ?? { ops: 0, share: 0, names: [] };
  one.ops += 1;
  one.share += row.share;
  if (one.names.length < MOST_NAMES) one.names.push(row.name);
  left.set(reason, one);
}

/**
 * The profile's own device in the same terms: the lower bound is self time × share of roof, at most all of it.
 * @param {Page} page
 * @returns {LowerBounds}
 */
export function ownBounds(page) {
  const { columns, count } = page.ops;
  const efficiency = columns.roofline_efficiency_ratio;
  const us = Array.from({ length: count }, (_, op) =>
    product(columns.self_time_per_core_us[op], efficiency[op]),
  );
  const why = us.map((one, op) => {
    if (one !== null) return null;
    return columns.cost[op] === "idle" ? "idle" : "cost";
  });
  return { us, bound: columns.bound_by, why };
}

/**
 * The page with two columns per other device: its lower bound, and what binds there.
 * @param {Page} page
 * @param {Other[]} others
 * @returns {Page}
 */
export function withOthers(page, others) {
  if (others.length === 0) return page;
  const at = 1 + page.columns.findIndex(({ id }) => id === "saving_per_core_us");
  const added = others.flatMap((other) => columnsOf(other, page, others.length));
  const values = Object.fromEntries(
    others.flatMap((other) => [
      [boundTimeId(other.id), other.us],
      [
        bindsId(other.id),
        page.ops.columns.bound_by.map((bound, op) => bindsText(page, other, op, bound)),
      ],
    ]),
  );
  return {
    ...page,
    columns: [...page.columns.slice(0, at), ...added, ...page.columns.slice(at)],
    ops: { ...page.ops, columns: { ...page.ops.columns, ...values } },
  };
}

/** Column of the lower bound on a device. @param {string} id of the device */
export const boundTimeId = (id) => `on_${id}_us`;
/** Column of what binds on a device. @param {string} id of the device */
export const bindsId = (id) => `on_${id}_bound`;

/**
 * @param {Other} other
 * @param {Page} page
 * @param {number} devices how many are compared with
 * @returns {Column[]}
 */
function columnsOf({ id, name }, page, devices) {
  return [
    {
      id: boundTimeId(id),
      label: name,
      unit: "time_us",
      sub: `at least, per ${page.device.core_word}`,
      default: true,
      help: `Least self time on ${name}: the longest of FLOPs ÷ its compute peak and bytes ÷ its bandwidth.`,
    },
    {
      id: bindsId(id),
      label: name,
      unit: "text",
      sub: "bound by",
      default: devices <= 2,
      help: `What would bind the op on ${name}; where that differs from here, this says what binds here.`,
    },
  ];
}

/**
 * @param {Page} page
 * @param {Other} other
 * @param {number} op
 * @param {number} here what binds it here
 */
function bindsText({ bounds }, other, op, here) {
  if (other.us[op] === null) return null;
  const label = bounds[other.bound[op]].label;
  return other.bound[op] === here ? label : `${label}, here ${bounds[here].label}`;
}
