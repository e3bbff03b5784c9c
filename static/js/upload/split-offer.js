// An upload that holds several profiles: which files belong together, and buttons that import them so.
// The server kept the files: nothing is sent again.

import { change } from "./change.js";
import { findAll, html, part } from "../ui/dom.js";
import { problemOf } from "../text/problem.js";

/** @import { Problem } from "../text/problem.js" */

/**
 * @typedef {object} FileGroup files that make one profile together
 * @property {string} label their device, or their format
 * @property {readonly string[]} files
 *
 * @typedef {object} UnreadableFile
 * @property {string} name
 * @property {string} message
 *
 * @typedef {object} Division
 * @property {readonly FileGroup[]} groups
 * @property {readonly UnreadableFile[]} unreadable
 *
 * @typedef {{ title: string, url: string, state: string }} Made a profile as the API describes it
 */

/** Names of so many files are shown; a run may have hundreds of hosts. */
const NAMES_SHOWN = 5;

/** @type {Record<string, string>} */
const STATE_WORDS = { importing: " is being imported", failed: " could not be imported" };

/**
 * How the files of a failed upload divide; null for every other problem.
 * @param {Problem} problem
 * @returns {Division | null}
 */
export function divisionOf({ code, details }) {
  if (code !== "mixed-upload" || !Array.isArray(details.groups) || !details.groups.length)
    return null;
  const unreadable = Array.isArray(details.unreadable) ? details.unreadable : [];
  return { groups: details.groups, unreadable };
}

/**
 * The words on the button that imports all groups.
 * @param {Division} division
 */
export function splitLabel({ groups, unreadable }) {
  if (groups.length > 1) return `Make ${groups.length} profiles`;
  if (unreadable.length === 0) return "Import it";
  const [first, ...others] = unreadable;
  return others.length === 0
    ? `Go on without ${first.name}`
    : `Go on without ${unreadable.length} files`;
}

/**
 * File names in one line.
 * @param {readonly string[]} files
 */
export function namesShown(files) {
  const more = files.length - NAMES_SHOWN;
  const shown = files.slice(0, NAMES_SHOWN).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/**
 * Fills the card's box with the groups; with buttons where this visitor may use them.
 * @param {HTMLElement} card
 * @param {Problem} problem
 * @param {object} options
 * @param {string} options.statusUrl of the upload that failed; empty where it is not known
 * @param {boolean} options.mayChange
 * @param {(problem: Problem) => void} options.onProblem
 */
export function offerSplit(card, problem, { statusUrl, mayChange, onProblem }) {
  const box = part("split", card);
  const division = divisionOf(problem);
  box.hidden = division === null;
  if (division === null) return;
  const offered = mayChange && statusUrl !== "";
  /** @param {readonly number[]} numbers */
  const split = async (numbers) => {
    for (const button of findAll(HTMLButtonElement, "button", box)) button.disabled = true;
    try {
      showMade(card, box, await splitUpload(statusUrl, numbers));
    } catch (error) {
      onProblem(problemOf(error));
    }
  };
  box.replaceChildren(
    groupList(division, offered ? (number) => split([number]) : null),
    unreadableList(division),
    ...(offered ? [allButton(division, () => split([]))] : []),
  );
  if (offered) promote(card, box, division);
}

/**
 * The offer is what to do: other files are the second choice, and nothing has to be sent again.
 * @param {HTMLElement} card
 * @param {HTMLElement} box
 * @param {Division} division
 */
function promote(card, box, { groups }) {
  for (const button of findAll(HTMLElement, ".btn.primary", card))
    if (!box.contains(button)) button.classList.remove("primary");
  if (groups.length > 1)
    part("remedy", card).textContent =
      "The server has kept the files: make a profile of each group, or of one of them.";
}

/** @param {Division} division @param {() => void} click */
function allButton(division, click) {
  const attributes = { class: "btn primary", type: "button", on: { click } };
  return html("p", { class: "job-actions" }, html("button", attributes, splitLabel(division)));
}

/**
 * @param {Division} division
 * @param {((number: number) => void) | null} only imports one group
 */
function groupList({ groups }, only) {
  const rows = groups.map((group, number) => {
    const title = group.files.join("\n");
    const names = html("span", { class: "muted", title }, namesShown(group.files));
    const row = html("li", {}, html("b", {}, group.label), " ", names);
    if (only !== null && groups.length > 1)
      row.append(
        " ",
        onlyButton(group, () => only(number)),
      );
    return row;
  });
  return html("ul", { class: "groups" }, ...rows);
}

/** @param {FileGroup} group @param {() => void} click */
function onlyButton(group, click) {
  const label = `Import only the files of ${group.label}`;
  const attributes = { class: "btn small", type: "button", "aria-label": label, on: { click } };
  return html("button", attributes, "Only this");
}

/** @param {Division} division */
function unreadableList({ unreadable }) {
  const rows = unreadable.map(({ name, message }) =>
    html(
      "li",
      {},
      message.startsWith(name) ? null : html("b", {}, `${name} `),
      html("span", { class: "muted" }, message),
    ),
  );
  return html("ul", { class: "groups unreadable small-text", hidden: !rows.length }, ...rows);
}

/**
 * @param {string} statusUrl
 * @param {readonly number[]} groups all of them if there is none
 * @returns {Promise<Made[]>}
 */
async function splitUpload(statusUrl, groups) {
  const chosen = groups.map((number) => `&group=${number}`).join("");
  // The page of one profile shows how its import goes on; a list of several says how each ended.
  const waitS = groups.length === 1 ? 0 : 60;
  return (await change("POST", `${statusUrl}/split?wait=${waitS}${chosen}`)).profiles;
}

/**
 * One profile is opened; several are listed, each with the address that shows it.
 * @param {HTMLElement} card
 * @param {HTMLElement} box
 * @param {readonly Made[]} profiles
 */
function showMade(card, box, profiles) {
  const paths = profiles.map((profile) => new URL(profile.url).pathname);
  if (paths.length === 1) return location.assign(paths[0]);
  const rows = profiles.map(({ title, state }, number) => {
    const words = STATE_WORDS[state];
    const link = html("a", { href: paths[number] }, title);
    return html("li", {}, link, words ? html("span", { class: "muted" }, words) : null);
  });
  part("message", card).textContent = `${profiles.length} profiles were made of this upload.`;
  for (const name of ["remedy-box", "facts", "copy-report"]) part(name, card).hidden = true;
  part("fault", card).classList.remove("fault");
  box.replaceChildren(html("ul", { class: "groups" }, ...rows));
  part("message", card).focus();
}
