// A button that deletes is pressed twice: the first press asks.

/** The second press must not be the end of a double click. */
const SURE_AFTER_MS = 500;

/** @type {WeakMap<HTMLElement, number>} */
const asked = new WeakMap();

/**
 * True at the second press of `button`, which says after the first what the second does.
 * @param {HTMLElement} button
 */
export function isSure(button) {
  const askedAt = asked.get(button);
  if (askedAt !== undefined) return performance.now() - askedAt >= SURE_AFTER_MS;
  asked.set(button, performance.now());
  button.classList.add("sure");
  button.textContent = button.dataset.sure ?? "Delete it for good";
  return false;
}

/** @param {HTMLElement} button @param {() => void} action at the second press */
export const onSecondPress = (button, action) =>
  button.addEventListener("click", () => isSure(button) && action());
