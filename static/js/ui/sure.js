// A button that deletes is pressed twice: the first press asks.

/** The second press must not be the end of a double click. */
const SURE_AFTER_MS = 500;

/**
 * Runs `action` at the second press of `button`, which says after the first what the second does.
 * @param {HTMLElement} button
 * @param {() => void} action
 */
export function onSecondPress(button, action) {
  /** @type {number | null} */
  let askedAt = null;
  button.addEventListener("click", () => {
    if (askedAt === null) {
      askedAt = performance.now();
      button.classList.add("sure");
      button.textContent = button.dataset.sure ?? "Delete it for good";
      return;
    }
    if (performance.now() - askedAt >= SURE_AFTER_MS) action();
  });
}
