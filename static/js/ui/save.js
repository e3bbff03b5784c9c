// Files made in the browser.

const LIFETIME_MS = 30_000; // the click only starts the download; the address must outlive it

/** @param {Blob} content @param {string} name */
export function save(content, name) {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), LIFETIME_MS);
}

/** @param {string} text @param {string} name */
export const saveCsv = (text, name) =>
  save(new Blob([text], { type: "text/csv;charset=utf-8" }), name);
