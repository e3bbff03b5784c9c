// The clocks of an op: the time that its work needs at each resource, beside the time it took. Pure.

import { amount, plainText, say } from "./sentences.js";

/** @import { Clock } from "../types/page-data.js" */
/** @import { Model } from "../types/model.js" */
/** @import { Get } from "./op-facts.js" */

/**
 * @typedef {{ clock: Clock, us: number, isLongest: boolean }} ClockTime per core
 *
 * @typedef {object} Clocks times in us per core
 * @property {ClockTime[]} times
 * @property {number} measured
 * @property {number} longest of all, for the scale of the bars
 * @property {string} sentence
 */

/**
 * @param {Model} model
 * @param {Get} get
 * @returns {Clocks | null} null: nothing is known of them
 */
export function clocksOf(model, get) {
  const [all, measured] = [get("total_time_us"), get("total_time_per_core_us")];
  const [least, most] = [get("t_min_us"), get("t_max_us")];
  if (!all || !measured || least === null || most === null) return null;
  const perCore = measured / all;
  const known = (model.clocks ?? []).flatMap((clock) => {
    const us = get(clock.column);
    return us !== null && us > 0 ? [{ clock, us: us * perCore }] : [];
  });
  if (known.length === 0) return null;
  const top = Math.max(...known.map(({ us }) => us));
  return {
    times: known.map((one) => ({ ...one, isLongest: one.us === top })),
    measured,
    longest: Math.max(measured, top),
    sentence: clockSentence(model, get, {
      least: least * perCore,
      most: most * perCore,
      measured,
      n: known.length,
      above: (get("above_t_max_us") ?? 0) * perCore,
    }),
  };
}

/**
 * @param {Model} model
 * @param {Get} get
 * @param {{ least: number, most: number, measured: number, above: number, n: number }} times
 */
function clockSentence({ words }, get, { least, most, measured, above, n }) {
  const templates = words.sentences;
  const between = measured < least ? "op_clocks_below" : "op_clocks_between";
  return plainText([
    ...(n === 1
      ? say(templates, "op_clocks_one", { t_min: amount(least, "time_us") })
      : say(templates, "op_clocks", {
          t_min: amount(least, "time_us"),
          t_max: amount(most, "time_us"),
        })),
    ...(above > 0
      ? say(templates, "op_clocks_above", { above: amount(above, "time_us") })
      : n === 1 && between === "op_clocks_between"
        ? []
        : say(templates, between)),
    ...(get("at_ridge") === 1 ? say(templates, "op_clocks_ridge") : []),
  ]).trimEnd();
}
