// "Open in …": the capture, or the range that is shown, in a viewer of traces. Nothing is sent: a file is saved, or a tab opened.

import { duration } from "../text/format.js";
import { viewerAddress } from "../text/viewer-address.js";
import { find, part } from "../ui/dom.js";
import { remember, remembered } from "../ui/remembered.js";

/** @import { Model } from "../types/model.js" */

const KEPT = "roofline-viewer";
/** The format that ui.perfetto.dev reads, by its label. */
const FOR_PERFETTO = /^PyTorch profiler/;

/** @param {Model} model */
export function wireOpenIn({ timeline, profile, hosts }) {
  part("open-in-range").textContent = rangeText(timeline);
  part("open-in-perfetto").hidden = !FOR_PERFETTO.test(profile.format);
  const field = find(HTMLInputElement, "[data-open-in-address]");
  field.value = remembered(KEPT) ?? "";
  find(HTMLFormElement, "[data-open-in-form]").addEventListener("submit", (event) => {
    event.preventDefault();
    const [from, to] = timeline?.range ?? [0, lastOf(timeline?.edges_us)];
    const address = viewerAddress(field.value, { from, to, host: hosts?.shown ?? "" });
    part("open-in-fault").hidden = address !== null;
    if (address === null) return;
    remember(KEPT, field.value);
    window.open(address, "_blank", "noopener,noreferrer");
  });
}

/** @param {Model["timeline"]} timeline */
function rangeText(timeline) {
  if (!timeline) return "This profile has no events in time: a viewer shows the whole capture.";
  const [from, to] = timeline.range ?? [0, lastOf(timeline.edges_us)];
  return `${timeline.range ? "This range" : "The capture"} is from ${duration(from)} to ${duration(to)} after the first event on a core.`;
}

/** @param {readonly number[] | undefined} edges */
const lastOf = (edges) => edges?.[edges.length - 1] ?? 0;
