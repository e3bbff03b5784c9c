// What other peaks change, in one sentence each for the headline and below it. Pure.

import { count, duration, peakRate, percent, sheetBandwidth } from "./format.js";
import { isRateKey } from "../metrics/peaks.js";
import { counted } from "./words.js";

/** @import { Bound, Measure, ProgramPoint, Segment, Verdict } from "../types/page-data.js" */
/** @import { KnownDevice } from "../types/device-list.js" */
/** @import { Infeed, Model, View } from "../types/model.js" */
/** @import { PeaksByKey } from "../types/view-state.js" */

/** @param {string} text @returns {Segment} */
const plain = (text) => ({ text, style: "plain" });
/** @param {string} text @returns {Segment} */
const strong = (text) => ({ text, style: "strong" });

/**
 * "compute-bound", in its colour; "without a known bound" where nothing binds.
 * @param {Bound | undefined} bound
 * @returns {Segment}
 */
function boundSegment(bound) {
  if (!bound || bound.kind === "none") return plain("without a known bound");
  return { text: `${bound.label}-bound`, style: "bound", token: bound.token };
}

/**
 * "H100 SXM5 80GB", "H100 with HBM at 1.2 TB/s", "compute at 989 TFLOP/s".
 * @param {Model} model
 * @param {KnownDevice | null} device
 * @param {PeaksByKey} peaks
 */
function peaksText(model, device, peaks) {
  /** @param {string} key */
  const label = (key) =>
    model.roofs.memory.find(({ id }) => id === key)?.label ??
    model.roofs.compute.find((roof) => roof.unit === key)?.label ??
    "compute";
  const edits = Object.entries(peaks).map(
    ([key, value]) =>
      `${label(key)} at ${isRateKey(key) ? peakRate(value) : sheetBandwidth(value)}`,
  );
  const set = edits.length > 3 ? `${edits.length} peaks set by you` : edits.join(" and ");
  return [device?.name, set].filter(Boolean).join(" with ");
}

/**
 * Small shares keep a decimal: two roofs may differ by less than a percent.
 * @param {Measure} share
 */
const shareText = (share) => percent(share, share !== null && share < 0.1 ? 1 : 0);

/** @typedef {{ ops: number, share: number, saving: number, ownSaving: number }} Change */

/**
 * Ops that something else binds, and the time they could save altogether; ops above their roof save nothing.
 * @param {View} view
 * @param {View} ownView
 * @returns {Change}
 */
function compare(view, ownView) {
  /** @param {View} one */
  const saving = (one) => {
    const read = one.reader("saving_per_core_us");
    return one.rows.reduce((sum, row) => sum + (read(row) ?? 0), 0);
  };
  const changed = view.rows.filter((row, i) => row.bound !== ownView.rows[i].bound);
  return {
    ops: changed.length,
    share: changed.reduce((sum, row) => sum + row.share, 0),
    saving: saving(view),
    ownSaving: saving(ownView),
  };
}

/**
 * @param {object} options
 * @param {Model} options.model under the chosen peaks
 * @param {Model} options.ownModel under the profile's own peaks
 * @param {Infeed} options.infeed
 * @param {KnownDevice | null} options.device the chosen one; null: the profile's own
 * @param {PeaksByKey} options.peaks set by hand
 * @returns {Verdict} as the server's
 */
export function whatIfVerdict({ model, ownModel, infeed, device, peaks }) {
  const [view, ownView] = [model.view(infeed), ownModel.view(infeed)];
  const point = view.program[0];
  const own = ownView.program[0];
  const change = compare(view, ownView);
  const headline = [
    plain("With the peaks of "),
    strong(peaksText(model, device, peaks)),
    plain(", the program "),
  ];
  if (!device) headline[0] = plain("With ");
  headline.push(...placeSegments(model, point, own));
  const hasOwn = ownModel.roofs.compute.length + ownModel.roofs.memory.length > 0;
  return { headline, lead: hasOwn ? leadSegments(model, change) : newLead(model, change) };
}

/**
 * @param {Model} model
 * @param {ProgramPoint | undefined} point
 * @param {ProgramPoint | undefined} own
 */
function placeSegments(model, point, own) {
  const [bound, share] = placeOf(model, point);
  const [ownBound, ownShare] = placeOf(model, own);
  if (share === null) return [plain("has no place under a known roof.")];
  const before =
    bound === ownBound || bound?.id === ownBound?.id
      ? ` instead of ${shareText(ownShare)}.`
      : `; by the profile’s own peaks it is ${boundSegment(ownBound).text} at ${shareText(ownShare)}.`;
  return [
    plain("is "),
    boundSegment(bound),
    plain(" at "),
    strong(shareText(share)),
    plain(` of the roof${ownShare === null ? "." : before}`),
  ];
}

/**
 * @param {Model} model
 * @param {ProgramPoint | undefined} point
 * @returns {[Bound | undefined, Measure]}
 */
const placeOf = (model, point) =>
  point
    ? [model.bounds[point.bound_by], point.roofline_efficiency_ratio ?? null]
    : [undefined, null];

/**
 * The profile itself has no peaks: there is nothing to compare with.
 * @param {Model} model
 * @param {Change} change
 */
function newLead(model, { saving }) {
  return [
    plain("The profile has no peaks of its own. Reaching every roof would save "),
    strong(duration(saving)),
    plain(` per ${model.coreWord}.`),
  ];
}

/** @param {Model} model @param {Change} change */
function leadSegments(model, { ops, share, saving, ownSaving }) {
  const changed =
    ops === 0
      ? [plain("No operation changes what binds it. ")]
      : [
          strong(counted(ops, count(ops), "operation")),
          plain(
            `, ${percent(share)} of the time, ${ops === 1 ? "is" : "are"} bound by something else. `,
          ),
        ];
  const saved = `Reaching every roof would save ${duration(saving)} per ${model.coreWord} (own peaks: ${duration(ownSaving)}). `;
  return [...changed, plain(saved), plain("Measured times and rates stay; only the roofs move.")];
}
