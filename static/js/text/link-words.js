// Words about links and transfers: the card and the drawer. Pure.

import { count, DASH, decimalBytes, duration, percent, quantity, peakBandwidth } from "./format.js";

/** @import { Measure, MemoryRoof } from "../types/page-data.js" */
/** @import { Model, Row } from "../types/model.js" */
/** @import { Fact, Get } from "./op-facts.js" */

/** @type {Record<string, string>} */
const ORIGINS = {
  profile: "from the profile",
  measured: "measured",
  catalogue: "from the catalogue",
  calibrated: "measured here",
  user: "set by you",
};

/**
 * The words of card and drawer on a transfer; nothing of other ops.
 * @param {Model} model
 * @param {Row} row
 * @param {Get} get
 * @returns {Fact[]}
 */
export function transferFacts(model, { op, cost }, get) {
  if (cost !== "transfer") return [];
  const link = model.ops.columns.link?.[op] ?? null;
  const level = model.levels.find(({ id }) => id === link) ?? null;
  const sums = sumsOf(model, op);
  const cores = Math.max(1, model.device.cores);
  const gibs = level ? get(level.columns.bandwidth) : null;
  const rate = quantity(gibs, "gibs");
  const share = get("roofline_efficiency_ratio");
  /** @type {Fact[]} */
  const group = sums.group === null ? [] : [["Devices in a group", count(sums.group)]];
  /** @param {Measure} us over all cores */
  const perCore = (us) => (us === null ? DASH : `${duration(us / cores)} per ${model.coreWord}`);
  return [
    ["Link", level?.label ?? "not known"],
    [
      "Achieved",
      `${sums.isLeast ? "≥ " : ""}${rate}${share === null ? "" : ` · ${percent(share)}`}`,
    ],
    ["Peak of the link", peakText(level?.roof ?? null)],
    ["Bytes on the wire", decimalBytes(model.ops.columns.link_bytes?.[op] ?? null)],
    ...group,
    ["From start to end", perCore(sums.time)],
    ["Exposed", perCore(get("exposed_us"))],
  ];
}

/** @param {MemoryRoof | null} roof */
const peakText = (roof) =>
  roof ? `${peakBandwidth(roof.gbs)}, ${ORIGINS[roof.origin] ?? roof.origin}` : "not known";

/** The kinds of transfers that an op waits for, together. @param {Model} model @param {number} op */
function sumsOf({ transfers }, op) {
  /** @type {{ time: Measure, group: Measure, isLeast: boolean }} */
  const sums = { time: null, group: null, isLeast: false };
  transfers?.op.forEach((one, i) => {
    if (one !== op) return;
    sums.time = (sums.time ?? 0) + (transfers.time_us[i] ?? 0);
    sums.group = transfers.group_size[i];
    sums.isLeast ||= transfers.is_least[i];
  });
  return sums;
}
