// A range of the capture's time: snapping to bins, and the address that shows it. Pure.

import { plainNumber } from "../text/amounts.js";

/** @import { TimeStrip } from "../types/page-data.js" */

/** @typedef {[number, number]} Range places of two edges, the first before the second */

/** The bin that holds a time, by its place. @param {TimeStrip} strip @param {number} us */
export function binAt({ edges_us: edges }, us) {
  let low = 0;
  let high = edges.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (edges[middle] <= us) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The edges around two times in any order: whole bins, at least one.
 * @param {TimeStrip} strip @param {number} a @param {number} b
 * @returns {Range}
 */
export function rangeAround(strip, a, b) {
  const [from, to] = a < b ? [a, b] : [b, a];
  const first = binAt(strip, from);
  const last = binAt(strip, to);
  const ends = strip.edges_us[last] === to && last > first ? last : last + 1;
  return [first, ends];
}

/** The step that holds a time. @param {TimeStrip} strip @param {number} us */
export const stepAt = ({ steps }, us) =>
  steps.find(({ begin_us, end_us }) => begin_us <= us && us < end_us) ?? null;

const LETTER_PX = 7.5; // with room for fonts that are wider
const BESIDE_PX = 10; // a label's line and the room after it

/**
 * The names of steps that have room before the next one: "step 3" where all of them have, else numbers.
 * @param {TimeStrip} strip
 * @param {number} pixels length of the strip
 */
export function stepLabels({ edges_us: edges, steps }, pixels) {
  const perUs = pixels / edges[edges.length - 1];
  /** @param {TimeStrip["steps"][number]} step @param {string} text */
  const label = (step, text) => {
    const left = step.begin_us * perUs;
    return { step, text, left, right: left + text.length * LETTER_PX + BESIDE_PX };
  };
  /** @param {ReturnType<typeof label>[]} labels */
  const free = (labels) => {
    let end = 0;
    return labels.filter(({ left, right }) => {
      const hasRoom = left >= end && right <= pixels;
      if (hasRoom) end = right;
      return hasRoom;
    });
  };
  const full = free(steps.map((step) => label(step, `step ${step.label}`)));
  return full.length === steps.length ? full : free(steps.map((step) => label(step, step.label)));
}

/**
 * A range moved by bins, or its end alone; it stays in the capture.
 * @param {TimeStrip} strip @param {Range} range @param {number} bins @param {boolean} endOnly
 * @returns {Range}
 */
export function moved({ edges_us: edges }, [first, last], bins, endOnly) {
  const most = edges.length - 1;
  if (endOnly) return [first, Math.min(Math.max(last + bins, first + 1), most)];
  const by = Math.min(Math.max(bins, -first), most - last);
  return [first + by, last + by];
}

// Places in a list of ops, and what was chosen in it: the range has another list.
const OF_THE_LIST = ["op", "sel", "pin", "page", "step", "box", "zoom", "from_us", "to_us"];

/**
 * The address of this page for a range, all filters kept; null shows the whole capture.
 * @param {{ pathname: string, search: string }} place
 * @param {[number, number] | null} us
 */
export function addressOfRange({ pathname, search }, us) {
  const params = new URLSearchParams(search);
  for (const key of [...OF_THE_LIST, "of"]) params.delete(key);
  if (us) {
    params.set("from_us", String(us[0]));
    params.set("to_us", String(us[1]));
  }
  return params.size ? `${pathname}?${params}` : pathname;
}

/**
 * The address of this page for one host, or for all (""), with the filters kept: each has a list and times of its own.
 * @param {{ pathname: string, search: string }} place
 * @param {string} host
 */
export function addressOfHost({ pathname, search }, host) {
  const params = new URLSearchParams(search);
  for (const key of OF_THE_LIST) params.delete(key);
  if (host) params.set("host", host);
  else params.delete("host");
  return params.size ? `${pathname}?${params}` : pathname;
}

/**
 * The address of this page for another subject, with the filters kept; "" is the default one.
 * @param {{ pathname: string, search: string }} place
 * @param {string} of
 */
export function addressOfSubject({ pathname, search }, of) {
  const params = new URLSearchParams(search);
  for (const key of OF_THE_LIST) params.delete(key);
  if (of) params.set("of", of);
  else params.delete("of");
  return params.size ? `${pathname}?${params}` : pathname;
}

/** The same page by peaks at another clock. @param {{ pathname: string, search: string }} place @param {boolean} isOn */
export function addressOfClock({ pathname, search }, isOn) {
  const params = new URLSearchParams(search);
  if (isOn) params.set("dvfs", "on");
  else params.delete("dvfs");
  return params.size ? `${pathname}?${params}` : pathname;
}

/** Milliseconds as a person writes them, "12,5" too, in us; null where it is not a number. @param {string} text */
export function readMs(text) {
  const plain = plainNumber(text);
  const ms = Number(plain);
  return plain && Number.isFinite(ms) && ms >= 0 ? ms * 1000 : null;
}

/**
 * The outlines of a lane's kinds, stacked from the bottom of a box of width `edges` in us and height 100.
 * @param {TimeStrip} strip @param {Readonly<Record<string, readonly number[]>>} parts percent of each bin, by kind
 * @returns {Map<string, string>} path by kind
 */
export function lanePaths({ edges_us: edges, kinds }, parts) {
  const height = new Array(edges.length - 1).fill(0);
  /** @type {Map<string, string>} */
  const paths = new Map();
  for (const { id } of kinds) {
    const share = parts[id];
    if (!share) continue;
    const drawn = [];
    for (let bin = 0; bin < height.length; bin++) {
      if (!share[bin]) continue;
      // A wait of a hundredth would be a third of a pixel high.
      const tall = id === "work" ? share[bin] : Math.max(share[bin], LEAST_HEIGHT);
      const top = Math.min(height[bin] + tall, 100);
      const bottom = Math.min(height[bin], 100 - LEAST_HEIGHT);
      drawn.push(`M${edges[bin]} ${100 - bottom}V${100 - top}H${edges[bin + 1]}V${100 - bottom}Z`);
      height[bin] = top;
    }
    paths.set(id, drawn.join(""));
  }
  return paths;
}

const LEAST_HEIGHT = 4;
