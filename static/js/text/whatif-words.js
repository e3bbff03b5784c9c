// The effect of other peaks, in one sentence each for the headline and below it. Pure.

import { isRateKey } from "../metrics/peaks.js";
import { amount, say } from "./sentences.js";

/** @import { Bound, Lines, Measure, ProgramPoint, Segment } from "../types/page-data.js" */
/** @import { KnownDevice } from "../types/device-list.js" */
/** @import { Infeed, Model, View } from "../types/model.js" */
/** @import { PeaksByKey } from "../types/view-state.js" */

/** More peaks than these are counted, not listed. */
const MOST_NAMED = 3;

/**
 * The word for the program, in the colour of its bound.
 * @param {Bound} bound
 * @returns {Segment}
 */
const boundSegment = ({ spoken, token, kind }) =>
  kind === "none" ? { kind: "plain", text: spoken } : { kind: "bound", text: spoken, token };

/**
 * "With the peaks of H100 SXM5 80GB", "… with HBM at 1.2 TB/s", "With compute at 989 TFLOP/s".
 * @param {Model} model
 * @param {KnownDevice | null} device
 * @param {PeaksByKey} peaks
 */
function peaksSegments(model, device, peaks) {
  const templates = model.words.sentences;
  const edits = editsOf(model, peaks);
  if (!device) return [...say(templates, "whatif_edits"), ...edits];
  const opening = say(templates, "whatif_device", {
    device: { kind: "strong", text: device.name },
  });
  return edits.length === 0 ? opening : [...opening, ...say(templates, "whatif_with"), ...edits];
}

/** @param {Model} model @param {PeaksByKey} peaks */
function editsOf(model, peaks) {
  const templates = model.words.sentences;
  /** @param {string} key */
  const label = (key) =>
    model.roofs.memory.find(({ id }) => id === key)?.label ??
    model.roofs.compute.find((roof) => roof.unit === key)?.label ??
    "compute";
  const entries = Object.entries(peaks);
  if (entries.length > MOST_NAMED)
    return say(templates, "whatif_many_peaks", { count: amount(entries.length, "count") });
  return entries.flatMap(([key, value], i) => [
    ...(i === 0 ? [] : say(templates, "whatif_and")),
    ...say(templates, "whatif_peak", {
      name: label(key),
      peak: amount(value, isRateKey(key) ? "gflops" : "gbs"),
    }),
  ]);
}

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
 * @returns {Pick<Lines, "headline" | "lead">} as the server's
 */
export function whatIfVerdict({ model, ownModel, infeed, device, peaks }) {
  const [view, ownView] = [model.view(infeed), ownModel.view(infeed)];
  const point = view.program[0];
  const own = ownView.program[0];
  const change = compare(view, ownView);
  const hasOwn = ownModel.roofs.compute.length + ownModel.roofs.memory.length > 0;
  const isLeast = view.share_is_least;
  return {
    headline: [
      ...peaksSegments(model, device, peaks),
      ...placeSegments(model, point, own, isLeast),
    ],
    lead: hasOwn ? leadSegments(model, change) : newLead(model, change),
  };
}

/**
 * @param {Model} model
 * @param {ProgramPoint | undefined} point
 * @param {ProgramPoint | undefined} own
 * @param {boolean} isLeast the share is a lower bound
 */
function placeSegments(model, point, own, isLeast) {
  const templates = model.words.sentences;
  const [bound, share] = placeOf(model, point);
  const [ownBound, ownShare] = placeOf(model, own);
  if (!bound || share === null) return say(templates, "whatif_unplaced");
  const placed = say(templates, isLeast ? "whatif_placed_or_more" : "whatif_placed", {
    bound: boundSegment(bound),
    share: amount(share, "ratio"),
  });
  if (!ownBound || ownShare === null) return placed;
  const before = { bound: boundSegment(ownBound), share: amount(ownShare, "ratio") };
  const name = bound.id === ownBound.id ? "whatif_same_bound" : "whatif_other_bound";
  return [...placed, ...say(templates, name, before)];
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
  const core = model.coreWord;
  return say(model.words.sentences, "whatif_first_peaks", {
    saving: amount(saving, "time_us"),
    core,
  });
}

/** @param {Model} model @param {Change} change */
function leadSegments(model, { ops, share, saving, ownSaving }) {
  const templates = model.words.sentences;
  const changes = { count: amount(ops, "count"), share: amount(share, "ratio") };
  return [
    ...(ops === 0 ? say(templates, "whatif_no_change") : say(templates, "whatif_changes", changes)),
    ...say(templates, "whatif_saving", {
      saving: amount(saving, "time_us"),
      core: model.coreWord,
      own: amount(ownSaving, "time_us"),
    }),
    ...say(templates, "whatif_stay"),
  ];
}
