// From a profile to a comparison: by dropping a second file on the page.

import { Problem, problemWords } from "../text/problem.js";
import { percent } from "../text/format.js";
import { find, part } from "../ui/dom.js";
import { droppedFiles, wireFileDrop } from "../upload/dropped-files.js";
import { refusal } from "../upload/refusal.js";
import { sendFiles } from "../upload/send-files.js";
import { notify } from "../page/toast.js";

const UPLOADS = "/api/v1/profiles";

export function wireCompareEntry() {
  const { profile: id = "", maxBytes, maxFiles } = part("profile").dataset;
  wireDrop(id, { maxBytes: Number(maxBytes), maxFiles: Number(maxFiles) });
}

/**
 * A second file, dropped anywhere on the page, is the run to compare this one with.
 * @param {string} id
 * @param {{ maxBytes: number, maxFiles: number }} limits
 */
function wireDrop(id, limits) {
  const target = find(HTMLElement, "[data-drop-compare]");
  let isBusy = false;
  /** @param {DataTransfer} transfer */
  async function onDrop(transfer) {
    isBusy = true;
    say(0); // at once: a folder may take long to search, and a server to answer
    try {
      await upload(await droppedFiles(transfer), id, limits);
    } catch (error) {
      notify(problemWords(error));
    }
    isBusy = false;
  }
  wireFileDrop({
    isBusy: () => isBusy,
    onOver: (isOver) => {
      target.hidden = !isOver;
    },
    onDrop,
  });
}

/** @param {number} fraction of the file that was sent */
const say = (fraction) =>
  notify(`Sending the second run: ${percent(fraction, 0)}. The comparison opens when it is read.`);

/** @param {File[]} files @param {string} id @param {{ maxBytes: number, maxFiles: number }} limits */
async function upload(files, id, limits) {
  if (files.length === 0) throw new Problem("The folder holds no profile files.");
  const refused = refusal(files, limits);
  if (refused) throw refused;
  const answer = await sendFiles(`${UPLOADS}?wait=0`, files, {
    signal: new AbortController().signal,
    onProgress: ({ fraction }) => say(fraction),
  });
  location.assign(`/c/${encodeURIComponent(id)}..${encodeURIComponent(answer.id)}`);
}
