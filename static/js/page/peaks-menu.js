// The menu of peaks: each can be set by hand, another device's can be taken, other devices can be compared with.

import { comparedText, originTag } from "./device-strip.js";
import { createDevicePicker } from "./device-picker.js";
import { html, part } from "../ui/dom.js";
import { peakRate, sheetBandwidth } from "../text/format.js";
import { showMenu } from "../ui/menu.js";
import { isWhatIf, keyOf, mainLevel, parseAmount, unitIds } from "../metrics/peaks.js";

const EXAMPLE = { gflops: "989 TFLOP/s", gbs: "1.2 TB/s" };

/**
 * @param {object} options
 * @param {import("../state/model.js").Model} options.model
 * @param {import("../state/store.js").Store} options.store
 * @param {import("../state/chosen-hardware.js").ChosenHardware} options.hardware
 */
export function createPeaksMenu({ model, store, hardware }) {
  const menu = document.getElementById("menu-peaks");
  const button = part("peaks-button");
  const resets = /** @type {NodeListOf<HTMLButtonElement>} */ (
    document.querySelectorAll("[data-peaks-reset]")
  );
  const list = part("peak-list");
  const picker = createDevicePicker({ hardware, store });
  /** The text of the field that cannot be read, by its key. */
  let wrong = null;
  /** @type {ReturnType<typeof createRow>[]} */
  let rows = [];
  /** The peak that the menu opens at. */
  let wanted = null;
  part("peaks-per").textContent = `per ${model.device.core_word}`;

  const setPeaks = (peaks) => store.set({ peaks, zoom: null });
  for (const reset of resets)
    reset.addEventListener("click", () => store.set({ dev: null, peaks: {}, zoom: null }));
  menu.addEventListener("toggle", (event) => {
    if (event.newState !== "open") return;
    wrong = null;
    render();
    picker.open();
    focusOn(wanted);
    wanted = null;
  });

  function focusOn(key) {
    const field = key === null ? null : list.querySelector(`[data-peak="${key}"]`);
    field?.focus();
    field?.select();
  }

  function set(key, text, kind) {
    const value = text.trim() === "" ? undefined : parseAmount(text, kind);
    wrong = value === null ? key : null;
    const { [key]: before, ...others } = store.get().peaks;
    if (value === null) return render();
    // What already counts needs no setting: leaving a field untouched changes nothing.
    const shown = value !== undefined && isSame(value, valueOf(key)) ? before : value;
    return setPeaks(shown === undefined ? others : { ...others, [key]: shown });
  }

  const roofOf = (key) =>
    [...model.roofs.compute, ...model.roofs.memory].find(
      (roof) => keyOf(model.roofs, roof) === key,
    ) ?? null;
  function valueOf(key) {
    const roof = roofOf(key);
    return roof === null ? null : (roof.gflops ?? roof.gbs);
  }

  function render() {
    const state = store.get();
    const device = hardware.list?.devices.find(({ id }) => id === state.dev)?.name ?? state.dev;
    const edited = Object.keys(state.peaks).length;
    button.firstElementChild.textContent =
      edited > 0 ? `${device ?? "Profile"}, ${edited} set by you` : (device ?? "From the profile");
    button.classList.toggle("changed", isWhatIf(state));
    for (const reset of resets) reset.hidden = !isWhatIf(state);
    if (!menu.matches(":popover-open")) return;
    renderRows(peakRows());
    part("peak-note").hidden =
      hardware.ownPage.roofs.compute.length + hardware.ownPage.roofs.memory.length > 0;
    picker.render();
  }

  /** The main peak and the memories, then further compute units; also what has no peak yet. */
  function peakRows() {
    const { compute, memory } = model.roofs;
    const none = { compute: { key: "compute", kind: "gflops", label: "Compute", roof: null } };
    const rate = (roof) => ({
      key: keyOf(model.roofs, roof),
      kind: "gflops",
      label: roof.label,
      roof,
    });
    const levels = model.levels.filter(
      ({ id, roof }) => roof || id === mainLevel(hardware.ownPage) || isCounted(id),
    );
    const bandwidths = levels.map(({ id, label, roof }) => ({ key: id, kind: "gbs", label, roof }));
    const missing = unitIds(hardware.ownPage)
      .filter(
        (unit) =>
          compute.length > 0 &&
          !compute.some((roof) => roof.unit === unit || roof.covers?.includes(unit)),
      )
      .map((unit) => ({
        key: unit,
        kind: "gflops",
        label: model.column(`${unit}_flop_rate_gflops`).label,
        roof: null,
      }));
    const others = memory
      .filter((roof) => !levels.some(({ id }) => id === roof.id))
      .map((roof) => ({ key: roof.id, kind: "gbs", label: roof.label, roof }));
    return [
      compute.length > 0 ? rate(compute[0]) : none.compute,
      ...bandwidths,
      ...others,
      ...compute.slice(1).map(rate),
      ...missing,
    ];
  }

  const isCounted = (id) =>
    hardware.ownPage.ops.columns[`${id}_bandwidth_gibs`]?.some((value) => value > 0);

  /** Rows stay while their peaks do, so that the keyboard keeps its place. */
  function renderRows(wantedRows) {
    if (String(wantedRows.map(({ key }) => key)) !== String(rows.map(({ key }) => key))) {
      rows = wantedRows.map(createRow);
      list.replaceChildren(...rows.map(({ item }) => item));
    }
    rows.forEach((row, i) => row.show(wantedRows[i]));
  }

  function createRow({ key, kind, label }) {
    const field = /** @type {HTMLInputElement} */ (
      html("input", {
        class: "field",
        type: "text",
        placeholder: "unknown",
        autocomplete: "off",
        spellcheck: "false",
        "data-peak": key,
        on: { change: () => set(key, field.value, kind) },
      })
    );
    const undo = html(
      "button",
      {
        class: "linkish",
        type: "button",
        "aria-label": `Undo the peak of ${label}`,
        on: { click: () => set(key, "", kind) },
      },
      "undo",
    );
    const swatch = html("i", { class: "swatch" });
    const text = html("span", { class: "text" });
    const origin = html("span", { class: "origin-line" });
    const remarks = html("div", { class: "remarks" });

    function show({ label: name, roof }) {
      const isWrong = wrong === key;
      swatch.style.setProperty("--swatch", `var(${roof?.token ?? "--ink-3"})`);
      text.textContent = name;
      text.title = name;
      field.setAttribute("aria-label", `${name} peak per ${model.device.core_word}`);
      field.setAttribute("aria-invalid", String(isWrong));
      // What cannot be read stays to be mended.
      if (!isWrong)
        field.value =
          roof === null ? "" : kind === "gflops" ? peakRate(roof.gflops) : sheetBandwidth(roof.gbs);
      origin.replaceChildren(
        ...[
          originTag(roof?.origin ?? null, roof?.source),
          key in store.get().peaks ? undo : null,
        ].filter(Boolean),
      );
      const message = isWrong
        ? [
            html(
              "p",
              { class: "wrong", role: "alert" },
              `Write a positive number and a unit, as in “${EXAMPLE[kind]}”.`,
            ),
          ]
        : [];
      remarks.replaceChildren(...message, ...differences(roof));
    }
    return {
      key,
      item: html("li", {}, html("label", {}, swatch, text, field), origin, remarks),
      show,
    };
  }

  function differences(roof) {
    const found =
      roof &&
      !isWhatIf(store.get()) &&
      (model.device.comparisons ?? []).find(({ id }) => id === roof.id);
    if (!found) return [];
    const own =
      found.profile === null
        ? "The profile has none"
        : `Profile ${comparedText(found, found.profile)}`;
    return [
      html(
        "p",
        { class: "explained" },
        `${own}, catalogue ${comparedText(found, found.catalogue)}. ${found.explanation} `,
        model.device.part
          ? html(
              "button",
              {
                class: "linkish",
                type: "button",
                on: { click: () => store.set({ dev: model.device.part.id, zoom: null }) },
              },
              "Use the catalogue’s",
            )
          : null,
      ),
    ];
  }

  return {
    render,
    /** Opens the list of devices below a button. @param {HTMLElement} anchor */
    compare(anchor) {
      showMenu(menu, anchor);
      part("device-search").focus();
    },
    /** Opens the menu at one peak. @param {string} key */
    edit(key) {
      wanted = key;
      showMenu(menu, button);
    },
  };
}

/** Six digits, as fields and addresses carry them. */
const isSame = (a, b) => b !== null && Math.abs(a - b) <= Math.abs(b) * 1e-4;
