// Pins on operations and program points: the list of them, their marks, and the field of the note.

import {
  LONGEST_NOTE,
  noteToKeep,
  placeOfOp,
  placeOfPoint,
  shownPins,
  withPin,
  withoutPin,
} from "../state/pins.js";
import { numberOrNull, pinFacts } from "../text/pin-words.js";
import { programName } from "../text/words.js";
import { buttonPart, find, html, part } from "../ui/dom.js";

/** @import { KeptNote, Pin } from "../types/pins.js" */
/** @import { ViewState } from "../types/view-state.js" */
/** @import { Model } from "../types/model.js" */
/** @import { ShownPin } from "../state/pins.js" */
/** @import { Store } from "../state/store.js" */
/** @import { PinRecord } from "../text/pin-words.js" */

/**
 * @typedef {object} NoteKeeper keeps notes with the profile; for people who may change it
 * @property {(note: ReturnType<typeof noteToKeep>) => Promise<KeptNote>} keep
 * @property {(id: string) => Promise<unknown>} remove
 * @property {(error: unknown) => void} onFault
 *
 * @typedef {object} PinsOptions
 * @property {Model} model
 * @property {Store} store
 * @property {readonly KeptNote[]} notes
 * @property {NoteKeeper | null} keeper
 * @property {(pin: ShownPin) => void} onSelect
 * @property {(pins: readonly ShownPin[]) => void} onChange marks change
 *
 * @typedef {object} Line
 * @property {HTMLLIElement} item
 * @property {HTMLElement} number
 * @property {HTMLButtonElement} name
 * @property {HTMLElement} facts
 * @property {HTMLTextAreaElement} note
 * @property {HTMLElement} printed the note on paper
 * @property {HTMLButtonElement} keep
 * @property {HTMLButtonElement} remove
 */

export class Pins {
  #options;
  /** @type {readonly KeptNote[]} */
  #notes;
  /** @type {ShownPin[]} */
  #shown = [];
  /** @type {Map<string, Line>} by place: a line keeps its field while it is typed into */
  #lines = new Map();
  #list = part("pin-list");
  #note = find(HTMLTextAreaElement, "[data-pin-note]");
  #opButton = buttonPart("pin-op");
  #stepButton = buttonPart("pin-step");

  /** @param {PinsOptions} options */
  constructor(options) {
    this.#options = options;
    this.#notes = options.notes;
    this.#list.replaceChildren();
    this.#opButton.addEventListener("click", () => this.toggle(this.#chosenOp()));
    this.#stepButton.addEventListener("click", () => this.toggle(this.#chosenStep()));
    this.#note.addEventListener("input", () => this.#write(this.#chosenOp(), this.#note.value));
  }

  /** All pins, numbered as they are shown. */
  get shown() {
    return this.#shown;
  }

  /** @param {string | null} at */
  pinAt(at) {
    return this.#shown.find((pin) => pin.at === at) ?? null;
  }

  /** Pins the selected operation, or else the selected step; pinned ones are freed. */
  toggleSelected() {
    this.toggle(this.#chosenOp() ?? this.#chosenStep());
  }

  /** @param {string | null} at */
  toggle(at) {
    if (at === null) return;
    const { store } = this.#options;
    const { pins } = store.get();
    const pin = this.pinAt(at);
    if (pin?.kept && !pins.some((one) => one.at === at)) {
      this.#field(at).focus(); // it stays with the profile: its note can be changed
      return;
    }
    store.set(
      { pins: pin ? withoutPin(pins, at) : withPin(pins, { at, note: "" }) },
      { isStep: true },
    );
    if (!pin) this.#field(at).focus();
  }

  /** @param {ViewState} state */
  render(state) {
    const { model, onChange } = this.#options;
    this.#shown = shownPins(model.view(state.infeed), this.#notes, state.pins);
    part("pins").hidden = this.#shown.length === 0;
    part("pins-note").textContent = this.#whereText(state.pins);
    this.#renderLines(state.pins);
    this.#renderButton(this.#opButton, this.#chosenOp());
    this.#renderButton(this.#stepButton, this.#chosenStep());
    const pin = this.pinAt(this.#chosenOp());
    part("pin-note-box").hidden = pin === null;
    setValue(this.#note, pin?.note ?? "");
    onChange(this.#shown);
  }

  /** The numbers of all pins. @returns {PinRecord[]} */
  records() {
    return this.#shown.map((pin) => this.#record(pin));
  }

  /** @param {ShownPin} pin @returns {PinRecord} */
  #record(pin) {
    const { model, store } = this.#options;
    const view = model.view(store.get().infeed);
    const { row, point } = pin;
    /** @param {string} id */
    const read = (id) => (row ? view.reader(id)(row) : point?.[id]);
    const bound = model.bounds[row ? row.bound : (point?.bound_by ?? -1)];
    const time = row ? "self_time_per_core_us" : "total_time_per_core_us";
    return {
      pin: pin.number,
      kind: row ? "operation" : "program",
      program: row ? String(read("program") ?? "") : "",
      name: point ? programName(point) : pin.name,
      note: pin.note,
      time_per_core_us: numberOrNull(read(time)),
      self_share_ratio: row ? row.share : null,
      roofline_efficiency_ratio: numberOrNull(read("roofline_efficiency_ratio")),
      bound_by: bound && bound.kind !== "none" ? bound.id : null,
    };
  }

  #chosenOp() {
    const { op } = this.#options.store.get();
    return op === null ? null : placeOfOp(op);
  }

  #chosenStep() {
    const { model, store } = this.#options;
    const { infeed, step } = store.get();
    const index = model.view(infeed).program.findIndex(({ label }) => label === step);
    return step === null || index < 0 ? null : placeOfPoint(index);
  }

  /** The field of a pin's note: in the drawer for the selected operation. @param {string} at */
  #field(at) {
    return at === this.#chosenOp() ? this.#note : (this.#lines.get(at)?.note ?? this.#note);
  }

  /** @param {string | null} at @param {string} note */
  #write(at, note) {
    const { store } = this.#options;
    if (at !== null) store.set({ pins: withPin(store.get().pins, { at, note }) });
  }

  /** @param {readonly Pin[]} pins of the link */
  #whereText(pins) {
    const inLink = this.#shown.filter(({ at }) => pins.some((pin) => pin.at === at)).length;
    const kept = this.#shown.length - inLink;
    return [
      inLink > 0 ? `${inLink} in the link` : "",
      kept > 0 ? `${kept} kept with this profile` : "",
    ]
      .filter(Boolean)
      .join(" · ");
  }

  /** @param {HTMLButtonElement} button @param {string | null} at */
  #renderButton(button, at) {
    const pin = this.pinAt(at);
    if (button === this.#stepButton) button.hidden = at === null;
    button.setAttribute("aria-pressed", String(pin !== null));
    button.textContent = pin ? `Pin ${pin.number}` : "Pin";
  }

  /** @param {readonly Pin[]} pins of the link */
  #renderLines(pins) {
    for (const [at, { item }] of this.#lines)
      if (!this.pinAt(at)) {
        item.remove();
        this.#lines.delete(at);
      }
    this.#shown.forEach((pin, i) => {
      const line = this.#lines.get(pin.at) ?? this.#newLine(pin.at);
      const before = this.#list.children[i];
      if (before !== line.item) this.#list.insertBefore(line.item, before ?? null);
      this.#fillLine(
        line,
        pin,
        pins.some(({ at }) => at === pin.at),
      );
    });
  }

  /** @param {Line} line @param {ShownPin} pin @param {boolean} isInLink */
  #fillLine(line, pin, isInLink) {
    const { model, keeper } = this.#options;
    const record = this.#record(pin);
    const bound = model.bounds.find(({ id }) => id === record.bound_by);
    line.number.textContent = String(pin.number);
    line.name.firstElementChild?.replaceChildren(pin.row?.short ?? record.name);
    line.name.title = record.name;
    const by = !isInLink && pin.kept?.by ? `by ${pin.kept.by}` : "";
    line.facts.textContent = [pinFacts(record, bound), by].filter(Boolean).join(" · ");
    setValue(line.note, pin.note);
    line.note.setAttribute("aria-label", `Note on ${record.name}`);
    line.printed.textContent = pin.note;
    line.keep.hidden = !keeper;
    line.keep.textContent = isInLink ? "Keep" : "Unkeep";
    line.keep.title = isInLink
      ? "Keep this note with the profile, for everybody who opens it"
      : "Take the note off the profile; it stays in the link";
    line.remove.hidden = !isInLink;
  }

  /** @param {string} at @returns {Line} */
  #newLine(at) {
    const { store, onSelect } = this.#options;
    const select = () => {
      const pin = this.pinAt(at);
      if (pin) onSelect(pin);
    };
    const note = html("textarea", { class: "field", placeholder: "Note" });
    note.rows = 1;
    note.maxLength = LONGEST_NOTE;
    note.addEventListener("input", () => this.#write(at, note.value));
    const free = () => store.set({ pins: withoutPin(store.get().pins, at) }, { isStep: true });
    const line = {
      number: html("span", { class: "pin-number", "aria-hidden": "true" }),
      name: html(
        "button",
        { type: "button", class: "pin-name", on: { click: select } },
        html("bdi"),
      ),
      facts: html("span", { class: "pin-facts muted small-text" }),
      note,
      printed: html("p", { class: "pin-text" }),
      keep: html("button", {
        type: "button",
        class: "btn small",
        on: { click: () => this.#turnKept(at) },
      }),
      remove: html(
        "button",
        { type: "button", class: "btn small ghost", on: { click: free } },
        "Remove",
      ),
    };
    const words = html("div", { class: "pin-words" }, line.name, line.facts, note, line.printed);
    const made = { ...line, item: html("li", {}, line.number, words, line.keep, line.remove) };
    this.#lines.set(at, made);
    return made;
  }

  /** Keeps the pin of a link with the profile, or takes a kept one off it into the link. @param {string} at */
  async #turnKept(at) {
    const { keeper, store, model } = this.#options;
    const pin = this.pinAt(at);
    if (!keeper || !pin) return;
    const { infeed, pins } = store.get();
    const isInLink = pins.some((one) => one.at === at);
    try {
      if (isInLink) {
        const kept = await keeper.keep(noteToKeep(model.view(infeed), pin));
        this.#notes = [
          ...this.#notes.filter(({ id }) => id !== kept.id && id !== pin.kept?.id),
          kept,
        ];
        store.set({ pins: withoutPin(store.get().pins, at) }, { isStep: true });
      } else if (pin.kept) {
        const { id } = pin.kept;
        await keeper.remove(id);
        this.#notes = this.#notes.filter((one) => one.id !== id);
        store.set({ pins: withPin(store.get().pins, { at, note: pin.note }) }, { isStep: true });
      }
    } catch (error) {
      keeper.onFault(error);
    }
  }
}

/** A field that is typed into keeps its cursor. @param {HTMLTextAreaElement} field @param {string} text */
function setValue(field, text) {
  if (field.value !== text) field.value = text;
}
