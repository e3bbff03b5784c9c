// The list of known devices by vendor: one can take the place of the profile's, up to four can be compared with it.

import { html, part } from "../ui/dom.js";
import { MOST_DEVICES } from "../metrics/other-devices.js";
import { GIB_PER_GB } from "../metrics/units.js";
import { bandwidth, flopRate } from "../text/format.js";

const OWN = "own";

/**
 * @param {object} options
 * @param {import("../state/store.js").Store} options.store
 * @param {import("../state/chosen-hardware.js").ChosenHardware} options.hardware
 */
export function createDevicePicker({ store, hardware }) {
  const search = part("device-search");
  const root = part("device-list");
  /** @type {{ id: string, words: string, item: HTMLElement, use: HTMLElement, compare: HTMLButtonElement | null }[]} */
  let entries = [];
  search.addEventListener("input", find);

  /** Reads the list once; says so when that fails, and asks again the next time. */
  async function open() {
    if (entries.length > 0) return render();
    root.replaceChildren(html("p", { class: "muted" }, "Loading the devices…"));
    try {
      fill(await hardware.load());
    } catch {
      root.replaceChildren(
        html(
          "p",
          { class: "muted" },
          "The list of devices could not be read. Close this and open it again to retry; peaks can be set by hand.",
        ),
      );
    }
    return undefined;
  }

  function fill(list) {
    const groups = new Map([["This profile", [createOwn()]]]);
    for (const device of list.devices) {
      const group = device.id === "this-machine" ? "This machine" : device.vendor;
      groups.set(group, [...(groups.get(group) ?? []), createEntry(device)]);
    }
    entries = [...groups.values()].flat();
    root.replaceChildren(
      ...[...groups].map(([name, members]) =>
        html(
          "section",
          { "aria-label": name },
          html("h3", {}, name),
          html("ul", {}, ...members.map(({ item }) => item)),
        ),
      ),
    );
    find();
    render();
  }

  function createOwn() {
    const use = useButton("The profile’s own peaks", "", () =>
      store.set({ dev: null, zoom: null }),
    );
    return { id: OWN, words: "", item: html("li", {}, use), use, compare: null };
  }

  function createEntry(device) {
    const isOwn = hardware.ownPage.device.part?.id === device.id;
    const use = useButton(
      device.name,
      isOwn ? "this device by the catalogue" : peaksText(device),
      () => store.set({ dev: device.id, zoom: null }),
    );
    const compare = /** @type {HTMLButtonElement} */ (
      html(
        "button",
        {
          class: "btn small",
          type: "button",
          "aria-label": `Compare with ${device.name}`,
          on: { click: () => toggle(device.id) },
        },
        "Compare",
      )
    );
    const words = [device.name, device.vendor, device.id, ...device.aliases]
      .join(" ")
      .toLowerCase();
    return { id: device.id, words, item: html("li", {}, use, compare), use, compare };
  }

  function toggle(id) {
    const { vs } = store.get();
    store.set({ vs: vs.includes(id) ? vs.filter((other) => other !== id) : [...vs, id] });
  }

  function find() {
    const wanted = search.value.trim().toLowerCase();
    for (const { words, item } of entries) item.hidden = !words.includes(wanted);
    for (const group of root.querySelectorAll("section"))
      group.hidden = !group.querySelector("li:not([hidden])");
  }

  function render() {
    const { dev, vs } = store.get();
    for (const { id, use, compare } of entries) {
      use.setAttribute("aria-pressed", String(id === (dev ?? OWN)));
      compare?.setAttribute("aria-pressed", String(vs.includes(id)));
      if (compare) compare.disabled = vs.length >= MOST_DEVICES && !vs.includes(id);
    }
  }

  return { open, render };
}

function useButton(name, detail, onClick) {
  return html(
    "button",
    { class: "use", type: "button", on: { click: onClick } },
    html("span", { class: "text" }, name),
    html("span", { class: "hint" }, detail),
  );
}

/** "989 TFLOP/s bf16 · 3,120 GiB/s": what tells parts apart. */
function peaksText({ compute, memory }) {
  const main = compute[0];
  const rate = main ? `${flopRate(main.gflops)} ${main.unit.split("_")[1]}` : null;
  return [rate, memory[0] ? bandwidth(memory[0].gbs * GIB_PER_GB) : null]
    .filter(Boolean)
    .join(" · ");
}
