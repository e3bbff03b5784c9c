// Whether this tab began an import. The user who uploaded may cancel, also on the profile's own page. Others with the
// link may not: to cancel is to delete, and the profile may be an old one whose results are being computed again.

const KEY = "roofline-import";

/** @param {string} statusUrl */
export function rememberOwnImport(statusUrl) {
  try {
    sessionStorage.setItem(KEY, statusUrl);
  } catch {
    // Storage can be forbidden; cancelling then ends with the home page.
  }
}

/** @param {string} statusUrl */
export function isOwnImport(statusUrl) {
  try {
    return sessionStorage.getItem(KEY) === statusUrl;
  } catch {
    return false;
  }
}

/** Once the import is over, there is nothing left to cancel. */
export function forgetOwnImport() {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was remembered either.
  }
}
