// Numbers to text. Pure. Missing is "–" and never 0; three significant digits, integer digits always kept.

import { inGbs } from "./amounts.js";

/** @import { Maybe, Value } from "../types/page-data.js" */

/** Shown for "not measured". */
export const DASH = "–";
const SPACE = "\u00a0"; // between a number and its unit: never broken over two lines
const NARROW = "\u202f"; // before a percent sign
const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * Not measured, or not a number.
 * @param {Maybe} value
 * @returns {value is null | undefined}
 */
const isMissing = (value) => value == null || !Number.isFinite(value);

/**
 * A number with so many decimals, thousands grouped. The browser's own formatter takes milliseconds when it is first
 * used, while the page opens.
 * @param {number} decimals
 * @param {number} value
 */
function fixed(decimals, value) {
  const written = String(Math.abs(value));
  // One more digit decides a half as it is written: 1.005 becomes 1.01, though its binary number lies below.
  const isSplit = /^\d+\.\d+$/.test(written);
  const above = isSplit ? Number(`${written}${"0".repeat(decimals)}1`) : Math.abs(value);
  const grouped = above.toFixed(decimals).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");
  return value < 0 ? `-${grouped}` : grouped;
}

/**
 * @param {Maybe} value
 * @param {number} [digits] significant digits
 * @returns {string}
 */
export function significant(value, digits = 3) {
  if (isMissing(value)) return DASH;
  if (value === 0) return "0";
  const exponent = exponentOf(value, digits);
  if (exponent < -4 || exponent > 14) return scientific(value);
  return fixed(Math.min(6, Math.max(0, digits - 1 - exponent)), value);
}

/**
 * The exponent after rounding, so that 9.996 is treated as 10.0.
 * @param {number} value
 * @param {number} digits
 */
function exponentOf(value, digits) {
  return Number(value.toExponential(Math.max(0, digits - 1)).split("e")[1]);
}

/** @param {number} value */
function scientific(value) {
  const [mantissa, exponent] = value.toExponential(1).split("e");
  const raised = [...exponent.replace("+", "")].map((c) =>
    c === "-" ? "⁻" : SUPERSCRIPT[Number(c)],
  );
  return `${mantissa}${SPACE}×${SPACE}10${raised.join("")}`;
}

/**
 * A whole number, grouped.
 * @param {Maybe} value
 */
export function count(value) {
  return isMissing(value) ? DASH : fixed(0, value);
}

/** @type {Intl.NumberFormat | undefined} */
let statedFormat;

/**
 * A stated number, such as a peak: as many digits as it has, up to five, "918" and "1,525.5".
 * @param {number} value
 */
export function stated(value) {
  statedFormat ??= new Intl.NumberFormat("en-GB", {
    maximumSignificantDigits: 5,
  });
  return statedFormat.format(value);
}

/** @typedef {readonly [number, string]} Step factor and prefix or unit */

/** @type {readonly Step[]} */
const FLOP_STEPS = [
  [1e6, "P"],
  [1e3, "T"],
  [1, "G"],
  [1e-3, "M"],
  [1e-6, "k"],
];

/**
 * The first step that a value reaches, allowing for rounding; the last for smaller ones.
 * @param {readonly Step[]} steps
 * @param {number} value
 */
const stepOf = (steps, value) =>
  steps.find(([step]) => value >= step * 0.9995) ?? steps[steps.length - 1];

/**
 * GFLOP/s in, "139 TFLOP/s" out.
 * @param {Maybe} gflops
 * @param {number} [digits]
 * @param {(value: number, digits: number) => string} [write] puts down the number
 */
export function flopRate(gflops, digits = 3, write = significant) {
  if (isMissing(gflops)) return DASH;
  if (gflops === 0) return `0${SPACE}FLOP/s`;
  const [factor, prefix] = stepOf(FLOP_STEPS, gflops);
  return `${write(gflops / factor, digits)}${SPACE}${prefix}FLOP/s`;
}

/**
 * Integer operations, 1e9 per second in: "1.2 TOP/s" out.
 * @param {Maybe} gops
 * @param {number} [digits]
 */
export const opRate = (gops, digits) => flopRate(gops, digits).replace("FLOP", "OP");

const TB_FROM = 9_995; // GB/s; from here on three digits round to 10.0 TB/s
const MB_BELOW = 0.1; // GB/s

/**
 * GB/s (1e9) in, as data sheets have it; from 10 TB/s on as TB/s, below 0.1 GB/s as MB/s.
 * @param {Maybe} gbs
 * @param {number} [digits]
 * @param {(value: number, digits: number) => string} [write] puts down the number
 */
export function bandwidth(gbs, digits = 3, write = significant) {
  if (isMissing(gbs)) return DASH;
  if (gbs >= TB_FROM) return `${write(gbs / 1000, digits)}${SPACE}TB/s`;
  if (gbs !== 0 && gbs < MB_BELOW) return `${write(gbs * 1000, digits)}${SPACE}MB/s`;
  return `${write(gbs, digits)}${SPACE}GB/s`;
}

/** @type {readonly Step[]} */
const TIME_STEPS = [
  [1e6, "s"],
  [1e3, "ms"],
  [1, "µs"],
  [1e-3, "ns"],
];

/**
 * Microseconds in, "21.2 ms" out.
 * @param {Maybe} us
 * @param {number} [digits]
 */
export function duration(us, digits = 3) {
  if (isMissing(us)) return DASH;
  if (us === 0) return `0${SPACE}s`;
  const [factor, unit] = stepOf(TIME_STEPS, us);
  return `${significant(us / factor, digits)}${SPACE}${unit}`;
}

const WHOLE = 99.9995; // percent; from here on the rest is rounding
const NEARLY_WHOLE = 99.95;

/**
 * A ratio as percent, never 0 % or 100 % unless it is. From 1,000 % on a multiple reads better ("278×").
 * @param {Maybe} ratio
 * @param {number} [digits] decimals: one in tables, none in prose
 */
export function percent(ratio, digits = 1) {
  if (isMissing(ratio)) return DASH;
  if (ratio >= 10) return `${significant(ratio, 2)}×`;
  const value = ratio * 100;
  if (value > 0 && value < 0.5 * 10 ** -digits) return `<${fixed(digits, 10 ** -digits)}${NARROW}%`;
  if (value >= NEARLY_WHOLE && value < WHOLE) return `>99.9${NARROW}%`;
  return `${fixed(decimalsOf(value, digits), value)}${NARROW}%`;
}

/** @param {number} value in percent @param {number} digits */
function decimalsOf(value, digits) {
  if (value === 0 || value >= WHOLE) return 0;
  return value >= 99.5 ? Math.max(1, digits) : digits;
}

/**
 * A ratio within a sentence: whole percent, a digit more where it is small.
 * @param {Maybe} ratio
 */
export const share = (ratio) => percent(ratio, ratio != null && ratio >= 0.0995 ? 0 : 1);

/**
 * FLOP per byte.
 * @param {Maybe} value
 */
export function intensity(value) {
  return isMissing(value) ? DASH : `${significant(value)}${SPACE}FLOP/B`;
}

/** @type {readonly Step[]} */
const BYTE_STEPS = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
];

/**
 * Bytes in, "1.41 MiB" out.
 * @param {Maybe} value
 */
export function bytes(value) {
  if (isMissing(value)) return DASH;
  const step = BYTE_STEPS.find(([size]) => value >= size);
  return step ? `${significant(value / step[0])}${SPACE}${step[1]}` : `${count(value)}${SPACE}B`;
}

/** @type {readonly Step[]} */
const PREFIXES = [
  [1e18, "E"],
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/**
 * 1e9 and its like by prefix: "2.15 G", with a unit.
 * @param {Maybe} value
 * @param {string} unit
 */
function prefixed(value, unit) {
  if (isMissing(value)) return DASH;
  const [factor, prefix] = PREFIXES.find(([step]) => value >= step * 0.9995) ?? [1, ""];
  return `${significant(value / factor)}${SPACE}${prefix}${unit}`;
}

/** A number of FLOPs, "2.15 GFLOP". @param {Maybe} value */
export const flops = (value) => prefixed(value, "FLOP");
/** Bytes by powers of ten, as FLOPs are: "20.7 MB". @param {Maybe} value */
export const decimalBytes = (value) => prefixed(value, "B");

/** An ISO date as "11 Mar 2025, 20:14 UTC". @param {string | null | undefined} iso */
export function dateTime(iso) {
  const date = new Date(iso ?? NaN);
  if (Number.isNaN(date.getTime())) return DASH;
  /** @type {Intl.DateTimeFormatOptions} */
  const options = {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: "UTC",
  };
  return `${date.toLocaleString("en-GB", options)} UTC`;
}

/** A peak rate, GFLOP/s in. @param {Maybe} gflops */
export const peakRate = (gflops) => flopRate(gflops, 5, stated);
/** A peak bandwidth, GB/s in. @param {Maybe} gbs */
export const peakBandwidth = (gbs) => bandwidth(gbs, 5, stated);

/** @type {Record<string, (value: number, digits?: number) => string>} */
const WITH_UNIT = {
  count,
  bytes,
  time_us: duration,
  gflops: flopRate,
  gops: opRate,
  gibs: (value, digits) => bandwidth(inGbs(value), digits),
  flop_per_byte: intensity,
  ratio: (value) => percent(value),
  number: significant,
  gbs: bandwidth,
};

/**
 * A value with its unit, in the prefix that reads best.
 * @param {Value | undefined} value
 * @param {string} unit a unit of the page data
 * @param {number} [digits] significant digits, where the unit takes them
 */
export function quantity(value, unit, digits) {
  if (value == null || value === "") return DASH;
  const write = WITH_UNIT[unit];
  return typeof value === "number" && write ? write(value, digits) : String(value);
}

/**
 * A value with its unit within a sentence. The server's `quantities.py` writes the same characters.
 * @param {number} value
 * @param {string} unit
 */
export const inSentence = (value, unit) =>
  unit === "ratio" ? share(value) : quantity(value, unit);

/**
 * How one table column writes its numbers: one unit for all rows, named once in the header.
 * @typedef {object} ColumnScale
 * @property {string} unit shown in the header; "" when the values say it themselves
 * @property {(value: Value | undefined) => string} text a value that is not a number is shown as it is
 */

/**
 * @param {string} unit
 * @param {(value: number) => string} write
 * @returns {ColumnScale}
 */
const written = (unit, write) => ({
  unit,
  text: (value) => {
    if (value == null || value === "") return DASH;
    return typeof value === "number" ? write(value) : value;
  },
});

/** @param {number} factor @param {string} unit */
const scaled = (factor, unit) => written(unit, (value) => significant(value / factor));

/**
 * @param {string} unit a unit of the page data
 * @param {number} largest the largest value of the column
 * @returns {ColumnScale}
 */
export function columnScale(unit, largest) {
  switch (unit) {
    case "time_us":
      return largest >= 1e7
        ? scaled(1e6, "s")
        : largest >= 1e3
          ? scaled(1e3, "ms")
          : scaled(1, "µs");
    case "gflops":
      return largest >= 1e4 ? scaled(1e3, "TFLOP/s") : scaled(1, "GFLOP/s");
    case "gops":
      return largest >= 1e4 ? scaled(1e3, "TOP/s") : scaled(1, "GOP/s");
    case "gibs":
      return written("GB/s", (value) => significant(inGbs(value)));
    case "gbs":
      return scaled(1, "GB/s");
    case "flop_per_byte":
      return scaled(1, "FLOP/B");
    case "bytes":
      return written("", bytes);
    case "ratio":
      return written("", (value) => percent(value));
    case "count":
      return written("", count);
    default:
      return written("", String);
  }
}
