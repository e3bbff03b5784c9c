// Amounts as people write them, and units that the page data mix. GFLOP/s, GB/s (1e9), GiB/s (2 ** 30). Pure.

const GIB = 2 ** 30 / 1e9; // in GB

/** @type {Record<"gflops" | "gbs", Record<string, number>>} */
const UNITS = {
  gflops: {
    "gflop/s": 1,
    "tflop/s": 1e3,
    "pflop/s": 1e6,
    gflops: 1,
    tflops: 1e3,
    pflops: 1e6,
    "gop/s": 1,
    "top/s": 1e3,
    g: 1,
    t: 1e3,
    p: 1e6,
  },
  gbs: {
    "mb/s": 1e-3,
    "gb/s": 1,
    "tb/s": 1e3,
    "gib/s": GIB,
    "tib/s": 1024 * GIB,
    g: 1,
    t: 1e3,
  },
};

/** A bandwidth of the page data, in GiB/s, as GB/s. @param {number} value */
export const inGbs = (value) => value * GIB;

/**
 * No device is outside of these, in GFLOP/s and GB/s: other values were written in another unit.
 */
const LEAST = 1e-6;
const MOST = 1e12;

/**
 * A number as people write it, without groups and with a decimal point: of a comma and a point the last
 * one is the decimal mark, as in German "1.555,2"; a comma alone groups thousands where three digits
 * follow each. `model/written_numbers.py` reads the same in forms of the server.
 * @param {string} text digits, spaces, commas and points
 */
export function plainNumber(text) {
  const plain = text.replace(/[\s\u00a0\u202f'’]/g, "");
  const [comma, point] = [plain.lastIndexOf(","), plain.lastIndexOf(".")];
  if (comma >= 0 && point >= 0)
    return comma > point
      ? plain.replaceAll(".", "").replaceAll(",", ".")
      : plain.replaceAll(",", "");
  const isGrouped = /^[1-9]\d{0,2}(?:,\d{3})+$/.test(plain);
  return plain.replaceAll(",", isGrouped ? "" : ".");
}

/**
 * "1.2 TB/s", "1555 GB/s", "989 TFLOP/s": what people write.
 * @param {string} text
 * @param {"gflops" | "gbs"} kind
 * @param {string} [unit] what a number without a unit is in
 * @returns {number | null} GFLOP/s or GB/s; null: not understood, or no positive number
 */
export function parseAmount(text, kind, unit = kind === "gflops" ? "gflop/s" : "gb/s") {
  const match = /^([\d.,\s\u00a0\u202f'’]*\d(?:\.|e[+-]?\d+)?)\s*([a-z/]*)$/i.exec(text.trim());
  if (!match) return null;
  const value =
    Number(plainNumber(match[1])) * (UNITS[kind][(match[2] || unit).toLowerCase()] ?? NaN);
  return value >= LEAST && value <= MOST ? value : null;
}
