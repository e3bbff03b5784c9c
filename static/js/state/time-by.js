// The list "Time by …": which groups it shows, in which order, and what equal siblings are held against. Pure.

import { NOT_KNOWN } from "./group-keys.js";
import { groupTree } from "./groups.js";

/** @import { Model, View } from "../types/model.js" */
/** @import { GroupBy } from "../types/view-state.js" */
/** @import { Group } from "./groups.js" */

/** Siblings whose names are equal up to a number, from so many on. */
const FEWEST_TWINS = 4;
/** Times the median of the twins, from which one stands out. */
const STANDS_OUT = 1.3;

/**
 * A group with the median of its twins; null: it has too few of them.
 * @typedef {Group & { median: number | null }} Listed
 */

/**
 * Layers where the paths have them, else categories.
 * @param {Model} model
 * @param {View} view
 * @returns {GroupBy}
 */
export function usualGrouping(model, view) {
  const found = listed(groupTree(model, view, view.rows, "layer"));
  return found.some(({ median }) => median !== null) ? "layer" : "category";
}

/**
 * The outermost groups that tell something: a single module around all others gives way to those in it.
 * @param {readonly Group[]} groups
 * @returns {Listed[]} the longest first, twins together and in their natural order
 */
export function listed(groups) {
  const shown = outermost(groups);
  /** @type {Map<string, Group[]>} */
  const families = new Map();
  for (const one of shown) {
    const key = familyOf(one);
    families.set(key, [...(families.get(key) ?? []), one]);
  }
  return [...families.values()]
    .flatMap((family) => (family.length < FEWEST_TWINS ? family.map((one) => [one]) : [family]))
    .sort((a, b) => timeOf(b) - timeOf(a))
    .flatMap((block) => (block.length > 1 ? twins(block) : [{ ...block[0], median: null }]));
}

/** @param {Listed} one */
export const standsOut = ({ time, median }) => median !== null && time > STANDS_OUT * median;

/** @param {readonly Group[]} groups @returns {readonly Group[]} */
function outermost(groups) {
  const inner = groups.filter(({ children }) => children.length > 0);
  const others = groups.filter(({ children }) => children.length === 0);
  if (inner.length !== 1 || !others.every(isRest)) return groups;
  return [...outermost(inner[0].children), ...others];
}

/** @param {Group} group */
const isRest = ({ name, rows }) => name === NOT_KNOWN || rows.every(({ cost }) => cost === "idle");

/** @param {Group} group */
const familyOf = ({ name, path }) =>
  /\d/.test(name) ? name.replace(/\d+/g, "#") : JSON.stringify(path);

/** @param {readonly Group[]} groups */
const timeOf = (groups) => groups.reduce((sum, { time }) => sum + time, 0);

const NATURAL = new Intl.Collator("en", { numeric: true });

/** @param {readonly Group[]} family @returns {Listed[]} */
function twins(family) {
  const times = family.map(({ time }) => time).sort((a, b) => a - b);
  const middle = times.length >> 1;
  const median = times.length % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
  return [...family]
    .sort((a, b) => NATURAL.compare(a.name, b.name))
    .map((one) => ({ ...one, median }));
}
