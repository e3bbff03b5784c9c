// Pieces of the page that each view has anew: the server writes them (templates/_pieces.html), here they are put in
// their places.

import { around, part } from "../ui/dom.js";

/** @import { Filter } from "../types/page-data.js" */

/** @param {Record<string, string>} pieces HTML by the names of their places */
export function showPieces(pieces) {
  for (const [name, text] of Object.entries(pieces)) part(name).innerHTML = text;
}

/**
 * Makes links of sentences and the peaks of the device strip do what they say, whichever view they are of.
 * @param {object} options
 * @param {(filter: Filter) => void} options.onFollow
 * @param {(key: string) => void} options.onEdit a peak was clicked, by its key
 */
export function wirePieces({ onFollow, onEdit }) {
  part("profile").addEventListener("click", (event) => {
    const button = around(event, "[data-follow], [data-edit-peak]");
    if (!(button instanceof HTMLElement)) return;
    const { follow, editPeak } = button.dataset;
    if (follow) onFollow(JSON.parse(follow));
    if (editPeak) onEdit(editPeak);
  });
}
