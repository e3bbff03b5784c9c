// Names of operations as tables and charts show them. Pure. The server shortens them (`short_names.py`).

const ELLIPSIS = "…";
const END_SHARE = 0.4; // of a cut name: what tells siblings apart is at the end
const SHORTEST = 8; // of a name beside its chips

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

/**
 * Short names in at most so many characters, equal ones with what tells them apart: the chips that not all of them
 * have, else a number. A chip is never cut: half a shape would be another shape.
 * @param {readonly { short: string, chips: readonly string[] }[]} rows
 * @param {number} width
 * @returns {string[]}
 */
export function toldApart(rows, width) {
  /** @type {Map<string, (readonly string[])[]>} */
  const alike = new Map();
  for (const { short, chips } of rows) alike.set(short, [...(alike.get(short) ?? []), chips]);
  /** @type {Map<string, number>} */
  const met = new Map();
  return rows.map(({ short, chips }) => {
    const twins = alike.get(short) ?? [];
    const own = chips.filter((chip) => !twins.every((twin) => twin.includes(chip))).join(" ");
    const cut = middleCut(short, Math.max(width - own.length, SHORTEST));
    const text = own ? `${cut} ${own}` : cut;
    const number = (met.get(text) ?? 0) + 1;
    met.set(text, number);
    return number > 1 ? `${text} ${number}` : text;
  });
}
