// The page of a profile that is not ready: follows its import, opens the view when it is there, or says what failed.

import { find, part } from "../ui/dom.js";
import { showProblem, wireReport } from "../ui/error-card.js";
import { Problem, problemOf } from "../text/problem.js";
import { cancelImport, followImportEvents } from "../upload/follow-import.js";
import { ImportCard } from "../upload/import-card.js";
import { QUEUED, drawnImport } from "../upload/import-steps.js";
import { forgetOwnImport, isOwnImport } from "../upload/own-import.js";
import { offerRetry, retryImport } from "../upload/retry-import.js";
import { offerSplit } from "../upload/split-offer.js";

const page = find(HTMLElement, "#main");
const errorCard = part("error-card", page);
const statusUrl = page.dataset.statusUrl ?? "";
const parcel = JSON.parse(page.dataset.parcel ?? "{}");

/** @param {Problem} problem */
function show(problem) {
  showProblem(errorCard, problem, parcel);
  offer(problem);
  offerAgain(problem.retryUrl);
}

/** @param {Problem} problem */
function offer(problem) {
  const mayChange = page.dataset.mayChange !== undefined;
  offerSplit(errorCard, problem, { statusUrl, mayChange, onProblem: show });
}

/** @param {string} retryUrl */
function offerAgain(retryUrl) {
  const offered = page.dataset.mayChange !== undefined ? retryUrl : "";
  offerRetry(errorCard, offered, () => follow(() => retryImport(retryUrl)));
}

/** Shows how the import goes on. @param {() => Promise<unknown>} [start] begins it, if it has not begun */
async function follow(start) {
  const importCard = part("import-card", page);
  errorCard.hidden = true;
  importCard.hidden = false;
  const card = new ImportCard(importCard);
  const controller = new AbortController();
  const { signal } = controller;

  /** @param {unknown} error */
  function fail(error) {
    card.end();
    importCard.hidden = true;
    show(problemOf(error));
  }

  const cancel = part("cancel", importCard);
  cancel.hidden = !isOwnImport(statusUrl);
  cancel.onclick = () => {
    controller.abort();
    cancelImport(statusUrl).then(() => location.assign("/"), fail);
  };
  card.begin(parcel);
  card.draw(drawnImport(page.dataset.progress ? JSON.parse(page.dataset.progress) : QUEUED));
  try {
    await start?.();
    await followImportEvents(statusUrl, {
      signal,
      onProgress: (at) => card.draw(drawnImport(at)),
      onTrouble: () => card.trouble(),
    });
    forgetOwnImport();
    card.finish();
    location.reload();
  } catch (error) {
    if (!signal.aborted) fail(error);
  }
}

wireReport(errorCard);
if (page.dataset.state === "importing") follow();
if (page.dataset.state === "failed") offerAgain(page.dataset.retryUrl ?? "");
if (page.dataset.failure) {
  const failure = JSON.parse(page.dataset.failure);
  offer(new Problem(failure.message, failure));
}
