// What this browser remembers of its person. Storage can be forbidden: then it lasts until the page is left.

/** The text under a key; null where there is none. @param {string} key */
export function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string | null} text null: forget it */
export function remember(key, text) {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // As said above.
  }
}
