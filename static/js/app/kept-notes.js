// Notes that are kept with the profile: those the server wrote into the page, and the way to change them.

import { notify } from "../page/toast.js";
import { problemWords } from "../text/problem.js";
import { change } from "../upload/change.js";

/** @import { KeptNote } from "../types/pins.js" */
/** @import { NoteKeeper } from "../page/pins.js" */

/** @param {HTMLElement} page @returns {{ notes: KeptNote[], keeper: NoteKeeper | null }} */
export function keptNotes(page) {
  const { notes, notesUrl } = page.dataset;
  return { notes: JSON.parse(notes ?? "[]"), keeper: notesUrl ? keeperAt(notesUrl) : null };
}

/** @param {string} url @returns {NoteKeeper} */
const keeperAt = (url) => ({
  keep: (note) => change("POST", url, note),
  remove: (id) => change("DELETE", `${url}/${encodeURIComponent(id)}`),
  onFault: (error) => notify(problemWords(error)),
});
