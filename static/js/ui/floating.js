// Cards beside the pointer, inside the window.

const DISTANCE = 16; // from the pointer
const MARGIN = 8; // from the window's edge

/**
 * @param {HTMLElement} card
 * @param {number} x
 * @param {number} y
 */
export function placeAt(card, x, y) {
  const { width, height } = card.getBoundingClientRect();
  const left = x + DISTANCE + width > innerWidth - MARGIN ? x - width - DISTANCE : x + DISTANCE;
  const top = Math.min(y + DISTANCE, innerHeight - height - MARGIN);
  card.style.left = `${Math.max(MARGIN, left)}px`;
  card.style.top = `${Math.max(MARGIN, top)}px`;
}
