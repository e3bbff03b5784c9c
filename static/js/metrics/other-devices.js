// The same program on other hardware: how long each op would take at least, and what that tells. Pure.
//
// An op's lower bound on a device is the longest of its FLOPs ÷ compute peak and its bytes ÷ bandwidth: its self
// time × the share of that device's roof which its measured rates are.

import { roofsOfDevice, unitIds } from "./peaks.js";
import { withRoofs } from "./whatif.js";

/** Further from its roof than this, an op waits for something else: that time stays as it is on other hardware. */
export const LATENCY_EFFICIENCY = 0.05;
const LEAST_PART = 1e-4; // a smaller part of an op's FLOPs does not make it that unit's

export const MOST_DEVICES = 4;
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
 * @property {any} device of the device list
 * @property {string} token
 * @property {string} dash
 * @property {any} memory its main memory's roof; null: unknown
 * @property {any} compute its roof of the unit that is the main one here, else its own main one; null: unknown
 * @property {(number | null)[]} us lower bound per op and core; null: not known
 * @property {number[]} bound index into `bounds` per op
 * @property {(string | null)[]} why the bound of an op is not known: "cost", "idle", "rate:<unit>" or "bandwidth"
 * @property {string[]} levels memory levels it has a roof for
 * @property {{ unit: string, label: string }[]} standIns units it does not have, and which does their work
 * @property {{ label: string, gflops: number } | null} whole the roof that unsplit FLOPs count against
 */

/**
 * @param {any} page the page as shown
 * @param {any} list the device list
 * @param {string[]} ids of the device list; unknown ones are left out
 * @returns {Other[]}
 */
export function otherDevices(page, list, ids) {
  const devices = ids
    .map((id) => list.devices.find((device) => device.id === id))
    .filter(Boolean)
    .slice(0, MOST_DEVICES);
  return devices.map((device, i) => otherDevice(page, list, device, STYLES[i]));
}

/** Which unit does the work of one that a device does not have: the same precision, only slower. */
const STAND_INS = {
  matrix_fp64: ["vector_fp64"],
  matrix_fp32: ["vector_fp32"],
  matrix_tf32: ["matrix_fp32", "vector_fp32"],
};

/** The roofs with the units that others stand in for. */
function withStandIns({ compute, memory }) {
  const has = (unit) => compute.some((roof) => roof.unit === unit || roof.covers.includes(unit));
  const missing = Object.entries(STAND_INS)
    .filter(([unit]) => !has(unit))
    .map(([unit, others]) => [unit, others.find(has)]);
  const standsFor = (roof) =>
    missing.filter(([, other]) => other === roof.unit).map(([unit]) => unit);
  return {
    memory,
    compute: compute.map((roof) => ({
      ...roof,
      covers: [...roof.covers, ...standsFor(roof)],
      standsFor: standsFor(roof),
    })),
  };
}

function otherDevice(page, list, device, [token, dash]) {
  const roofs = withStandIns(roofsOfDevice(page, list, device));
  const { columns } = withRoofs(page, roofs).ops;
  const isMain = (roof) => roof.id === "hbm" || roof.id === "dram";
  const memory = roofs.memory.find(isMain) ?? null;
  const share = columns.roofline_efficiency_ratio;
  // Work that none of its roofs is about, as that of a memory it does not have, says nothing.
  const why = reasonsOf(page, roofs, memory).map(
    (reason, op) => reason ?? (share[op] === null ? "cost" : null),
  );
  const us = columns.self_time_per_core_us.map((self, op) =>
    why[op] === null && self !== null ? self * share[op] : null,
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
    whole: unitIds(page).length === 0 ? (roofs.compute[0] ?? null) : null,
  };
}

/** Units of this profile's work that another unit does there. */
function standInsOf(page, compute) {
  const isUsed = (unit) => page.ops.columns[`${unit}_flop_rate_gflops`]?.some((rate) => rate > 0);
  return compute.flatMap((roof) =>
    roof.standsFor.filter(isUsed).map((unit) => ({ unit, label: roof.label })),
  );
}

/** Why an op's lower bound is not known on a device with these roofs; null where it is. */
function reasonsOf(page, roofs, memory) {
  const { columns, count } = page.ops;
  const units = unitIds(page).map((id) => ({
    rates: columns[`${id}_flop_rate_gflops`],
    reason: `rate:${id}`,
    has: roofs.compute.some((roof) => roof.unit === id || roof.covers.includes(id)),
  }));
  const reason = (op) => {
    const rate = columns.flop_rate_gflops[op];
    const moved = columns.memory_bandwidth_gibs?.[op] ?? null;
    if (columns.cost[op] === "idle") return "idle";
    if (columns.cost[op] === "unknown" || !((rate ?? 0) > 0 || (moved ?? 0) > 0)) return "cost";
    const missing = units.find(({ rates, has }) => !has && rates[op] > rate * LEAST_PART);
    if (missing) return missing.reason;
    if (rate > 0 && roofs.compute.length === 0) return "rate:";
    return moved > 0 && memory === null ? "bandwidth" : null;
  };
  return Array.from({ length: count }, (_, op) => reason(op));
}

/**
 * What one op would take at the same share of its roof; far from both roofs, what it waits for stays.
 * @param {number} selfUs measured
 * @param {number | null} efficiency share of the roof here
 * @param {number} boundUs lower bound there
 */
export function estimate(selfUs, efficiency, boundUs) {
  if (efficiency === null || efficiency <= 0) return selfUs;
  const here = Math.min(1, efficiency);
  return here < LATENCY_EFFICIENCY ? boundUs + selfUs * (1 - here) : boundUs / here;
}

/**
 * @typedef {object} Summary the program on one device, per core, over the ops whose bound is known there
 * @property {number} boundUs
 * @property {number} estimateUs
 * @property {number} measuredUs
 * @property {number} coveredShare of the view's time
 * @property {Map<number, number>} byBound lower-bound time by index into `bounds`
 * @property {{ ops: number, share: number }} changed ops that something else binds there
 * @property {Map<string, { ops: number, share: number, names: string[] }>} left ops that are not counted, by reason
 */

/**
 * @param {import("../state/model.js").View} view
 * @param {{ us: (number | null)[], bound: number[], why: (string | null)[] }} other
 * @returns {Summary}
 */
export function summarise(view, other) {
  const self = view.reader("self_time_per_core_us");
  const efficiency = view.reader("roofline_efficiency_ratio");
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
    if (us === null) leave(found.left, other.why[row.op] ?? "cost", row);
    else {
      found.boundUs += us;
      found.estimateUs += estimate(self(row), efficiency(row), us);
      found.measuredUs += self(row);
      found.coveredShare += row.share;
      found.byBound.set(other.bound[row.op], (found.byBound.get(other.bound[row.op]) ?? 0) + us);
      if (other.bound[row.op] !== row.bound) {
        found.changed.ops += 1;
        found.changed.share += row.share;
      }
    }
  }
  return found;
}

const MOST_NAMES = 3;

function leave(left, reason, row) {
  const one = left.get(reason) ?? { ops: 0, share: 0, names: [] };
  one.ops += 1;
  one.share += row.share;
  if (one.names.length < MOST_NAMES) one.names.push(row.name);
  left.set(reason, one);
}

/** The profile's own device in the same terms: the lower bound is self time × share of roof, at most all of it. */
export function ownBounds(page) {
  const { columns, count } = page.ops;
  const efficiency = columns.roofline_efficiency_ratio;
  const isKnown = (op) => efficiency[op] !== null && columns.self_time_per_core_us[op] !== null;
  return {
    us: Array.from({ length: count }, (_, op) =>
      isKnown(op) ? columns.self_time_per_core_us[op] * efficiency[op] : null,
    ),
    bound: columns.bound_by,
    why: Array.from({ length: count }, (_, op) =>
      isKnown(op) ? null : columns.cost[op] === "idle" ? "idle" : "cost",
    ),
  };
}

/**
 * The page with two columns per other device: its lower bound, and what binds there.
 * @param {any} page
 * @param {Other[]} others
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

export const boundTimeId = (id) => `on_${id}_us`;
export const bindsId = (id) => `on_${id}_bound`;

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

function bindsText({ bounds }, other, op, here) {
  if (other.us[op] === null) return null;
  const label = bounds[other.bound[op]].label;
  return other.bound[op] === here ? label : `${label}, here ${bounds[here].label}`;
}
