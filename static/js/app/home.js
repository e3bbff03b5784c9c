// The home page: takes files and samples, follows their import, finds recent profiles.

import { wireCopyButtons } from "../ui/clipboard.js";
import { around, find, findAll, part } from "../ui/dom.js";
import { carriesFiles, droppedFiles, wireFileDrop } from "../upload/dropped-files.js";
import { showProblem, wireReport } from "../ui/error-card.js";
import { bytes } from "../text/format.js";
import { wireCapture } from "./home-capture.js";
import { wireFound } from "./home-found.js";
import { wireHomeKeys } from "./home-keys.js";
import { wireList } from "./home-list.js";
import { Problem, problemOf } from "../text/problem.js";
import { change } from "../upload/change.js";
import { cancelImport, followImportEvents } from "../upload/follow-import.js";
import { ImportCard } from "../upload/import-card.js";
import { QUEUED, drawnImport, drawnUpload } from "../upload/import-steps.js";
import { rememberOwnImport } from "../upload/own-import.js";
import { refusal, totalBytes } from "../upload/refusal.js";
import { sendFiles } from "../upload/send-files.js";
import { offerRetry, retryImport } from "../upload/retry-import.js";
import { offerSplit } from "../upload/split-offer.js";

/** A sample that was opened before is there sooner than this: its card would only flash. */
const SAMPLE_CARD_DELAY_MS = 50;
/** Imports that take longer go on at the profile's own address, which survives a reload. */
const PATIENCE_MS = 2000;

/** Limits are round numbers: "4 GiB", not "4.00 GiB". @param {number} value */
const roundBytes = (value) => bytes(value).replace(/\.0+(?=\s)/, "");

const zone = find(HTMLElement, "#drop-zone");
const picker = find(HTMLInputElement, "#file");
const importCard = part("import-card");
const errorCard = part("error-card");
const progress = new ImportCard(importCard);
const limits = { maxBytes: Number(zone.dataset.maxBytes), maxFiles: Number(zone.dataset.maxFiles) };
const uploadUrl = zone.dataset.uploadUrl ?? "";
/** The profile to which a file is added: its files belong to the new profile, too. */
const joined = zone.dataset.with;
const dropTitle = part("drop-title").textContent;

/**
 * The import under way; null while the drop zone or an error is shown.
 * @type {{ controller: AbortController, cardTimer?: ReturnType<typeof setTimeout>, ownStatusUrl: string | null, page: string, parcel: Parcel } | null}
 */
let job = null;
let retry = () => {};

/** @typedef {import("../text/problem.js").Parcel} Parcel */
/** @typedef {import("../upload/import-steps.js").Drawn} Drawn */
const NOTHING = Object.freeze({ names: [], size: 0 });

/** @param {readonly File[]} files @returns {Parcel} */
const parcelOf = (files) => ({ names: files.map((file) => file.name), size: totalBytes(files) });

/**
 * Shows the drop zone, the progress or the error: one of the three.
 * @param {HTMLElement} element
 */
function show(element) {
  for (const each of [zone, importCard, errorCard]) each.hidden = each !== element;
  zone.classList.remove("taken");
}

// --- imports

/** Fetches what a profile's page loads, so that it lies in the browser's cache when the page opens. */
function fetchAhead() {
  for (const url of (zone.dataset.next ?? "").split(" "))
    fetch(url, { priority: "low" })
      .then((answer) => answer.arrayBuffer())
      .catch(() => {}); // the page itself asks for it again
}

/**
 * Imports the hosts of one profile. The card is there at once, also while folders are searched.
 * @param {readonly File[] | Promise<File[]>} found
 * @param {Parcel} parcel as far as it is known
 */
async function importFiles(found, parcel) {
  if (job !== null) return;
  await run(parcel, (signal) => sendFound(found, signal), { isOwn: true });
}

/** @param {readonly File[] | Promise<File[]>} found @param {AbortSignal} signal */
async function sendFound(found, signal) {
  const files = await found;
  signal.throwIfAborted();
  if (files.length === 0) throw noProfiles();
  const parcel = parcelOf(files);
  retry = () => importFiles(files, parcel);
  if (job) job.parcel = parcel;
  progress.begin(parcel);
  const refused = refusal(files, limits);
  if (refused) throw refused;
  return upload(files, signal);
}

function noProfiles() {
  return new Problem("The folder holds no profile files.", {
    remedy:
      "Drop a folder that holds what a profiler wrote (`.xplane.pb`, `.ncu-rep`, `.csv`, `.json`), or the files themselves.",
    code: "no-files",
  });
}

/** Has the server import files again that it has kept. @param {string} retryUrl @param {Parcel} parcel */
async function importAgain(retryUrl, parcel) {
  retry = () => importAgain(retryUrl, parcel);
  await run(parcel, () => retryImport(retryUrl), { isOwn: true, first: drawnImport(QUEUED) });
}

/** @param {readonly File[]} files @param {AbortSignal} signal */
async function upload(files, signal) {
  const startedAt = performance.now();
  addEventListener("beforeunload", warnOfLoss);
  try {
    const answer = await sendFiles(
      `${uploadUrl}?${new URLSearchParams({ wait: "0", ...(joined && { with: joined }) })}`,
      files,
      {
        signal,
        onProgress: (sent) => progress.draw(drawnUpload(sent)),
      },
    );
    progress.noteUpload(totalBytes(files), performance.now() - startedAt);
    return answer;
  } finally {
    removeEventListener("beforeunload", warnOfLoss);
  }
}

/**
 * Leaving during an upload ends it; during the import it does not.
 * @param {BeforeUnloadEvent} event
 */
function warnOfLoss(event) {
  event.preventDefault();
}

/** @param {HTMLElement} button */
async function openSample(button) {
  if (job !== null) return;
  const name = button.querySelector("b")?.textContent ?? "";
  const parcel = { names: [name], size: Number(button.dataset.sampleSize) };
  retry = () => openSample(button);
  // A sample belongs to everyone: a user who does not want to wait for it must not delete it.
  const { sample = "", beside } = button.dataset;
  const start = (/** @type {AbortSignal} */ signal) =>
    beside ? startPair(sample, beside, signal) : startSample(`${sample}?wait=0`, signal);
  await run(parcel, start, { isOwn: false, delayMs: SAMPLE_CARD_DELAY_MS });
}

/** Both samples, and the page that compares them. @param {string} a @param {string} b @param {AbortSignal} signal */
async function startPair(a, b, signal) {
  const first = await startSample(a, signal);
  const second = await startSample(b, signal);
  const ids = [first, second].map(({ id }) => encodeURIComponent(id));
  return { ...second, url: new URL(`/c/${ids.join("..")}`, location.href).href };
}

/** @param {string} url @param {AbortSignal} signal */
const startSample = (url, signal) => change("POST", url, undefined, signal);

/**
 * From the first byte to the profile's page.
 * @param {Parcel} parcel
 * @param {(signal: AbortSignal) => Promise<{ id: string, url: string }>} start
 * @param {object} options
 * @param {boolean} options.isOwn the profile is this visitor's, to be cancelled like it was begun
 * @param {number} [options.delayMs] before the card is shown; 0 shows it in the next frame
 * @param {Drawn} [options.first] what the card shows first, if that is not an upload
 */
async function run(parcel, start, { isOwn, delayMs = 0, first }) {
  const controller = new AbortController();
  const { signal } = controller;
  job = { controller, ownStatusUrl: null, page: "/", parcel };
  progress.begin(parcel);
  if (first) progress.draw(first);
  if (delayMs > 0) {
    zone.classList.add("taken");
    job.cardTimer = setTimeout(showCard, delayMs);
  } else showCard();
  setTimeout(fetchAhead); // after the upload, which is asked for first
  try {
    const answer = await start(signal);
    const statusUrl = `${uploadUrl}/${encodeURIComponent(answer.id)}`;
    if (signal.aborted) return isOwn ? await cancelImport(statusUrl) : undefined;
    job.ownStatusUrl = isOwn ? statusUrl : null;
    job.page = new URL(answer.url).pathname;
    await follow(job.page, statusUrl, signal);
  } catch (error) {
    if (!signal.aborted) fail(error, job?.parcel);
  }
}

function showCard() {
  show(importCard);
  part("name", importCard).focus({ preventScroll: true });
}

/** @param {string} page @param {string} statusUrl @param {AbortSignal} signal */
async function follow(page, statusUrl, signal) {
  const ready = await followImportEvents(statusUrl, {
    signal,
    patienceMs: PATIENCE_MS,
    onProgress: (at) => progress.draw(drawnImport(at)),
    onTrouble: () => progress.trouble(),
  });
  if (ready) progress.finish();
  else if (job?.ownStatusUrl) rememberOwnImport(statusUrl);
  location.assign(page);
}

async function cancel() {
  if (job === null) return;
  const { controller, ownStatusUrl } = job;
  controller.abort();
  end();
  show(zone);
  picker.focus();
  if (ownStatusUrl) await cancelImport(ownStatusUrl).catch(fail);
}

/**
 * @param {unknown} error
 * @param {Parcel} [parcel]
 */
function fail(error, parcel = NOTHING) {
  const statusUrl = job?.ownStatusUrl ?? "";
  end();
  const problem = problemOf(error);
  show(errorCard);
  showProblem(errorCard, problem, parcel);
  const onProblem = (/** @type {Problem} */ other) => fail(other, parcel);
  offerRetry(errorCard, problem.retryUrl, () => importAgain(problem.retryUrl, parcel));
  if (problem.canRetry) offerResend();
  offerSplit(errorCard, problem, { statusUrl, mayChange: true, onProblem });
}

/** The same button sends the files again where the server did not take them. */
function offerResend() {
  const button = part("retry", errorCard);
  button.hidden = false;
  button.onclick = () => retry();
  part("choose", errorCard).classList.remove("primary");
}

/** Nothing is under way any more. */
function end() {
  clearTimeout(job?.cardTimer);
  job = null;
  progress.end();
}

// --- where files come from

function wirePicker() {
  picker.addEventListener("change", () => {
    const files = Array.from(picker.files ?? []);
    picker.value = ""; // so that the same file can be chosen again
    if (files.length > 0) importFiles(files, parcelOf(files));
  });
  zone.addEventListener("click", (event) => {
    if (!around(event, "label, input")) picker.click();
  });
}

/** @param {boolean} isOver */
function markDrop(isOver) {
  document.body.classList.toggle("dragging", isOver);
  part("drop-title").textContent = isOver ? "Release to add the files" : dropTitle;
}

function wirePaste() {
  document.addEventListener("paste", (event) => {
    const transfer = event.clipboardData;
    if (!carriesFiles(transfer)) return;
    event.preventDefault();
    if (job === null) take(transfer);
  });
}

/** @param {DataTransfer} transfer */
function take(transfer) {
  const names = Array.from(transfer.files, (file) => file.name);
  const found = droppedFiles(transfer).catch(() => {
    throw new Problem("The files could not be read.", {
      remedy: "Choose them with the button instead.",
      code: "unreadable-file",
    });
  });
  importFiles(found, { names, size: 0 });
}

for (const element of findAll(HTMLElement, "[data-bytes]"))
  element.textContent = roundBytes(Number(element.dataset.bytes));
wireList();
wireFound();
wireCapture();
wireHomeKeys();
wireCopyButtons();
wireReport(errorCard);
wirePicker();
wireFileDrop({ isBusy: () => job !== null, onOver: markDrop, onDrop: take });
wirePaste();
part("cancel", importCard).addEventListener("click", cancel);
part("choose", errorCard).addEventListener("click", () => {
  show(zone);
  picker.click();
});
for (const button of findAll(HTMLElement, "[data-sample]"))
  button.addEventListener("click", () => openSample(button));
for (const button of findAll(HTMLElement, "[data-retry-upload]"))
  button.addEventListener("click", () => {
    const { retryUpload = "", title = "" } = button.dataset;
    if (job === null) importAgain(retryUpload, { names: [title], size: 0 });
  });
// Back from a profile: the list has changed since.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
