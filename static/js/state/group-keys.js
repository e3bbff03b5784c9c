// Which groups an op belongs to, and the name of a group in the address. Pure.

/** @import { Model, Row, View } from "../types/model.js" */
/** @import { GroupBy } from "../types/view-state.js" */

/** The keys of groups of ops; docs/groups.md. @type {readonly GroupBy[]} */
export const DIMENSIONS = [
  "module",
  "layer",
  "source",
  "category",
  "program",
  "kernel",
  "dtype",
  "phase",
  "bound",
];

/** The name of a group of ops of which the profile does not say it. */
export const NOT_KNOWN = "";

const BETWEEN = " › ";

/** @param {readonly string[]} path */
export const groupId = (path) => path.join(BETWEEN);

/** Whether an op with this key is in the group. @param {string} id @param {readonly string[]} key */
export function isOf(id, key) {
  const path = id.split(BETWEEN);
  return path.every((name, level) => (key[level] ?? NOT_KNOWN) === name);
}

/**
 * The names of an op's groups, outermost first; fewer than in others where the profile does not say more.
 * @param {Model} model
 * @param {View} view
 * @param {GroupBy} by
 * @returns {(row: Row) => readonly string[]}
 */
export function keysOf(model, view, by) {
  const program = view.reader("program");
  /** @param {string | number | null} name */
  const one = (name) => (name === null || name === "" ? [] : [String(name)]);
  /** @param {(row: Row) => readonly string[]} keyOf @returns {(row: Row) => readonly string[]} */
  const besidesIdle = (keyOf) => (row) => (row.cost === "idle" ? [row.name] : keyOf(row));
  switch (by) {
    case "category":
      return besidesIdle((row) => [model.categories[row.category].name]);
    case "program":
      return besidesIdle((row) => one(program(row)));
    case "bound":
      return besidesIdle((row) => boundOf(model, row));
    default: {
      const groups = model.ops.groups;
      return (row) => groups?.[by][row.op]?.map((place) => groups.names[place]) ?? [];
    }
  }
}

/** @param {Model} model @param {Row} row */
function boundOf(model, { bound }) {
  const { kind, label } = model.bounds[bound];
  return kind === "none" ? [] : [label];
}

/** The ops of one group. @param {Model} model @param {View} view @param {GroupBy} by @param {string} id */
export function groupFilter(model, view, by, id) {
  const keyOf = keysOf(model, view, by);
  /** @param {Row} row */
  return (row) => isOf(id, keyOf(row));
}
