// The page of a profile that is not ready: follows its import, opens the view when it is there, or says what failed.

import { part } from "./dom.js";
import { showProblem, wireReport } from "./error-card.js";
import { cancelImport, createImportCard, drawnImport, followImport } from "./import-progress.js";
import { connectionProblem, Problem } from "./problem.js";

const page = /** @type {HTMLElement} */ (document.getElementById("main"));
const errorCard = part("error-card", page);
wireReport(errorCard);
if (page.dataset.state === "importing") follow();

async function follow() {
  const statusUrl = /** @type {string} */ (page.dataset.statusUrl);
  const parcel = JSON.parse(page.dataset.parcel ?? "{}");
  const importCard = part("import-card", page);
  const card = createImportCard(importCard);
  const controller = new AbortController();
  part("cancel", importCard).addEventListener("click", () => {
    controller.abort();
    cancelImport(statusUrl).finally(() => location.assign("/"));
  });
  card.begin(parcel);
  if (page.dataset.progress) card.draw(drawnImport(JSON.parse(page.dataset.progress)));
  try {
    await followImport(statusUrl, { signal: controller.signal, onProgress: (at) => card.draw(drawnImport(at)), onTrouble: card.trouble });
    card.finish();
    location.reload();
  } catch (error) {
    if (controller.signal.aborted) return;
    card.end();
    importCard.hidden = true;
    errorCard.hidden = false;
    showProblem(errorCard, error instanceof Problem ? error : connectionProblem(), parcel);
  }
}
