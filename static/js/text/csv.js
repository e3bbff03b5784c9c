// Rows to CSV text. Pure. Raw numbers in raw units (the unit is part of the column id), dot decimals.

/**
 * A text cell that a spreadsheet would run as a formula gets a leading apostrophe.
 * @param {string | number | boolean | null | undefined} value
 */
export function csvCell(value) {
  if (value == null) return "";
  if (typeof value !== "string") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[\x22,\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * @param {readonly string[]} header
 * @param {Iterable<readonly (string | number | boolean | null | undefined)[]>} rows
 */
export function toCsv(header, rows) {
  return [header, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

/** A name that every file system takes. @param {...string} parts */
export function fileName(...parts) {
  const joined = parts
    .join("-")
    .normalize("NFKD")
    .replace(/[^\w.-]+/g, "-")
    .replace(/-{2,}/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  return joined.slice(0, 100) || "roofline";
}
