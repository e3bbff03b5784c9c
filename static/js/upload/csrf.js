// The token that proves to the server that one of its own pages asks for a change.

/**
 * The header to send along with every change; none where the server wants none.
 * @returns {Record<string, string>}
 */
export function csrfHeaders() {
  const token = document.querySelector('meta[name="csrf-token"]')?.getAttribute("content");
  return token ? { "X-CSRF-Token": token } : {};
}
