// Finding entries by a few letters of their names. Pure.

const WORD_START = 8;
const IN_A_ROW = 5;
const WHOLE = 40;

/**
 * How well a text fits what was typed; the words typed may stand in any order, each with gaps between its letters.
 * @param {string} text in lower case
 * @param {readonly string[]} words typed, in lower case
 * @returns {number | null} more is better; null: it does not fit
 */
export function fit(text, words) {
  let total = 0;
  for (const word of words) {
    const score = wordFit(text, word);
    if (score === null) return null;
    total += score;
  }
  return total;
}

/** @param {string} text @param {string} word */
function wordFit(text, word) {
  const whole = text.indexOf(word);
  if (whole >= 0) {
    const end = whole + word.length;
    const edges = Number(isStart(text, whole)) + Number(/^([^a-z0-9]|$)/.test(text.slice(end)));
    return WHOLE + IN_A_ROW * word.length + WORD_START * edges;
  }
  let score = 0;
  let at = -1;
  for (const letter of word) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return null;
    if (next === at + 1) score += IN_A_ROW;
    if (isStart(text, next)) score += WORD_START;
    at = next;
  }
  return score;
}

/** @param {string} text @param {number} at */
const isStart = (text, at) => at === 0 || !/[a-z0-9]/.test(text[at - 1]);

/**
 * The entries that fit best, best first; without words the first ones in their order.
 * @template {{ lower: string }} T
 * @param {readonly T[]} entries
 * @param {string} typed
 * @param {number} most
 * @returns {T[]}
 */
export function best(entries, typed, most) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries.slice(0, most);
  const found = entries.flatMap((entry, order) => {
    const score = fit(entry.lower, words);
    return score === null ? [] : [{ entry, score, order }];
  });
  found.sort((a, b) => b.score - a.score || a.order - b.order);
  return found.slice(0, most).map(({ entry }) => entry);
}
