// All keys of a page, in a dialog that the server wrote.

import { find } from "../ui/dom.js";

export function createKeyHelp() {
  const dialog = find(HTMLDialogElement, ".key-help");
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
  return { open: () => (dialog.open ? dialog.close() : dialog.showModal()) };
}
