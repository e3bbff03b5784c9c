// The page of a comparison whose runs are not all ready: follows their imports, then opens it.

import { findAll, part } from "../ui/dom.js";
import { percent } from "../text/format.js";
import { problemWords } from "../text/problem.js";
import { followImportEvents } from "../upload/follow-import.js";

/** @param {HTMLElement} run @param {AbortSignal} signal */
async function follow(run, signal) {
  const said = part("said", run);
  await followImportEvents(run.dataset.statusUrl ?? "", {
    signal,
    onProgress: ({ overall }) => {
      said.textContent = `being imported, ${percent(overall, 0)}`;
    },
    onTrouble: () => {
      said.textContent = "The server does not answer. The import goes on there; asking again…";
    },
  });
  said.textContent = "ready";
}

async function main() {
  const runs = findAll(HTMLElement, '[data-run-state="importing"]');
  if (part("sides").dataset.state !== "importing") return;
  const { signal } = new AbortController();
  const ends = await Promise.allSettled(runs.map((run) => follow(run, signal)));
  ends.forEach((end, i) => {
    if (end.status === "rejected") part("said", runs[i]).textContent = problemWords(end.reason);
  });
  if (ends.every(({ status }) => status === "fulfilled")) location.reload();
}

main();
