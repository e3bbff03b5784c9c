// "4 min ago": when something was, seen from now. Pure.

import { DASH } from "./format.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * @param {string} iso
 * @param {Date} now
 */
export function relativeTime(iso, now) {
  const then = new Date(iso);
  const age = now.getTime() - then.getTime();
  if (Number.isNaN(age)) return DASH;
  // The server's clock may be a little ahead of the browser's.
  if (age < MINUTE) return "just now";
  if (age < HOUR) return `${Math.floor(age / MINUTE)}\u00a0min ago`;
  if (age < DAY && then.getDate() === now.getDate()) return `${Math.floor(age / HOUR)}\u00a0h ago`;
  if (startOfDay(now) - startOfDay(then) <= DAY * 1.1) return "yesterday";
  const sameYear = then.getFullYear() === now.getFullYear();
  return then.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    ...(sameYear ? {} : { year: "numeric" }),
  });
}

/** @param {Date} date */
function startOfDay(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
