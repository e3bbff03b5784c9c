// What proves to the server that a change was asked for by one of its own pages.

/**
 * The header to send along with every change; none where the server wants none.
 * @returns {Record<string, string>}
 */
export function csrfHeaders() {
  const token = document.querySelector('meta[name="csrf-token"]')?.getAttribute("content");
  return token ? { "X-CSRF-Token": token } : {};
}
