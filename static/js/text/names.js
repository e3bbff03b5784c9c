// Names of operations as tables and charts show them. Pure. The server shortens them (`short_names.py`).

const ELLIPSIS = "…";
const END_SHARE = 0.4; // of a cut name: what tells siblings apart is at the end

/**
 * A text in at most so many characters; the middle is left out.
 * @param {string} text
 * @param {number} width
 */
export function middleCut(text, width) {
  if (text.length <= width) return text;
  const letters = [...text]; // whole characters: half of a pair is not text
  if (letters.length <= width) return text;
  const end = Math.floor((width - 1) * END_SHARE);
  const start = letters.slice(0, width - 1 - end);
  return `${start.join("")}${ELLIPSIS}${letters.slice(letters.length - end).join("")}`;
}

/**
 * A text without its beginning, where it has it.
 * @param {string} text
 * @param {string} prefix
 */
export const withoutPrefix = (text, prefix) =>
  prefix && text.startsWith(prefix) ? text.slice(prefix.length) : text;
