// Tables as text to paste: Markdown for people, tab-separated numbers for spreadsheets. Pure.

/** @typedef {string | number | boolean | null | undefined} Cell */

/**
 * A table of Markdown. Names come from files: they stand in code, where no markup is read.
 * @param {readonly string[]} header
 * @param {readonly (readonly string[])[]} rows the first cell of each is a name
 */
export function toMarkdown(header, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(" | ")} |`;
  const rule = header.map((_, column) => (column === 0 ? "---" : "---:"));
  const body = rows.map(([name, ...cells]) => line([code(name), ...cells.map(plain)]));
  return [line(header.map(plain)), line(rule), ...body, ""].join("\n");
}

/** Backticks around that occur nowhere inside; a bar would end the cell even there. @param {string} text */
function code(text) {
  const inside = oneLine(text).replaceAll("|", "\\|");
  const runs = inside.match(/\x60+/g) ?? [];
  const fence = "`".repeat(1 + Math.max(0, ...runs.map((run) => run.length)));
  const pad = runs.length > 0 ? " " : "";
  return `${fence}${pad}${inside}${pad}${fence}`;
}

/** @param {string} text */
const plain = (text) => oneLine(text).replace(/[\\\x60*_[\]<>|#&]/g, "\\$&");

/** @param {string} text */
const oneLine = (text) => text.replace(/\s*[\r\n\t]+\s*/g, " ");

/**
 * Raw numbers between tabs, as spreadsheets take them; text that one would run as a formula gets an apostrophe.
 * @param {readonly string[]} header
 * @param {readonly (readonly Cell[])[]} rows
 */
export const toTsv = (header, rows) =>
  [header, ...rows].map((row) => row.map(cell).join("\t")).join("\n") + "\n";

/** @param {Cell} value */
function cell(value) {
  if (value == null) return "";
  if (typeof value !== "string") return String(value);
  const text = oneLine(value);
  return /^[=+\-@]/.test(text) ? `'${text}` : text;
}
