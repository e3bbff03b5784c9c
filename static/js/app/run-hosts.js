// Hosts of a run as profiles of their own: opened from the run's page, one, or against the representative.

import { attempt } from "../upload/attempt.js";
import { change } from "../upload/change.js";
import { html } from "../ui/dom.js";

/** @import { HostRow, RunModel } from "../types/run.js" */

/** The id of the run where a server shows it; a run in a file has none. */
const runId = () => document.querySelector("main")?.dataset.runId ?? "";

/** Links to a host's own page and to a comparison. @param {HostRow} host @param {RunModel} model */
export function hostLinks(host, { representative }) {
  if (runId() === "" || host.state === "unreadable") return [];
  const fault = html("p", { class: "fault", role: "alert", hidden: "" });
  const button = (/** @type {string} */ words, /** @type {string[]} */ names) =>
    html(
      "button",
      { class: "btn small", type: "button", on: { click: () => open(names, fault) } },
      words,
    );
  const buttons = [button("Its own profile", [host.name])];
  if (host.state === "read" && representative && representative !== host.name)
    buttons.push(button(`Against ${representative}`, [representative, host.name]));
  return [html("p", { class: "host-links wrap" }, ...buttons), fault];
}

/** Goes there once the server knows the profiles. @param {string[]} hosts @param {HTMLElement} fault */
const open = (hosts, fault) =>
  attempt(fault, async () => {
    const found = await change("POST", `/api/v1/runs/${runId()}/profiles`, { hosts });
    location.assign(found.compare_url ?? `/p/${found.profiles[0].id}`);
  });
