// Which words fit into the segments of a bar. Pure.

const PADDING = 14; // pixels, both sides together

/**
 * The longest of the texts that fits, the first being the longest; "" where none does.
 * @param {number} width of the segment in pixels
 * @param {readonly string[]} texts
 * @param {(text: string) => number} measure pixels
 */
export const fitting = (width, texts, measure) =>
  texts.find((text) => measure(text) + PADDING <= width) ?? "";

/**
 * The texts that a segment may hold: name and amount, or the amount alone.
 * @param {string} label "at the HBM roof", "exposed host transfers", "idle"
 * @param {string} amount
 */
export function segmentTexts(label, amount) {
  const name = label.replace(/^(at the|below the|exposed) | roof$/g, "");
  return [`${name} ${amount}`, amount];
}
