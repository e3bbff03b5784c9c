// The inputs and outputs of an op, line by line, and the devices of a group. Pure.

/** @import { OpDetails } from "../types/page-data.js" */

/**
 * `reads SHAPE from PRODUCER` per operand, `makes SHAPE` per result. Without shapes of the operands
 * their producers alone are told.
 * @param {Pick<OpDetails, "shapes" | "producers">} found
 */
export function shapeLines({ shapes, producers = [] }) {
  const operands = shapes?.operands ?? [];
  // A producer belongs to an operand only where each of them has a shape.
  const isPaired = operands.length === producers.length;
  const read = operands.map((shape, i) =>
    isPaired ? `reads ${shape} from ${producers[i]}` : `reads ${shape}`,
  );
  const from = isPaired ? [] : producers.map((name) => `reads from ${name}`);
  return [...read, ...from, ...(shapes?.results ?? []).map((shape) => `makes ${shape}`)];
}

/** @param {Pick<OpDetails, "group_size" | "replica_groups">} found */
export function groupText({ group_size: size, replica_groups: groups = "" }) {
  if (!size) return groups;
  return `${size} devices in a group${groups ? `: ${groups}` : ""}`;
}
