// Which part of the profile the page is of: one of its hosts, and by the peaks of which clock. Both are pages of their own.

import { addressOfClock, addressOfHost } from "../state/time-range.js";
import { significant } from "../text/format.js";
import { find, html, isFile, part } from "../ui/dom.js";
import { choose } from "../ui/select.js";

/** @import { Page } from "../types/page-data.js" */

/** @param {Pick<Page, "hosts" | "dvfs">} page */
export function showWholeOrPart({ hosts, dvfs }) {
  if (isFile()) return;
  if (hosts) showHosts(hosts);
  if (dvfs) showClock(dvfs);
}

/** @param {NonNullable<Page["hosts"]>} hosts */
function showHosts({ names, shown }) {
  const choice = find(HTMLSelectElement, "[data-host-choice]");
  part("host-control").hidden = false;
  choice.append(...names.map((name) => html("option", { value: name }, name)));
  choose(choice, shown);
  choice.addEventListener("change", () => location.assign(addressOfHost(location, choice.value)));
}

/** @param {NonNullable<Page["dvfs"]>} clock */
function showClock({ scale, is_applied: isApplied }) {
  const box = find(HTMLInputElement, "[data-dvfs]");
  part("dvfs-control").hidden = false;
  part("dvfs-scale").textContent = `× ${significant(scale, 3)}`;
  box.checked = isApplied;
  box.addEventListener("change", () => location.assign(addressOfClock(location, box.checked)));
}
