// The dialog that has programs captured which run: asks, shows how each address stands, opens what comes of it.

import { attempt } from "../upload/attempt.js";
import { change, read } from "../upload/change.js";
import { bytes } from "../text/format.js";
import { buttonPart, find, html, part } from "../ui/dom.js";
import { remember, remembered } from "../ui/remembered.js";

const CAPTURES = "/api/v1/captures";
const LAST = "roofline-captured";
const WAIT_S = 20;

/** @typedef {{ address: string, state: string, bytes?: number, text?: string }} Host */
/** @typedef {{ id: string, state: "running" | "ended", hosts: Host[], profile?: string, run?: string, version: number }} Capture */

/** @param {Host} host @param {number} beganAt */
function wordsOf({ state, bytes: size, text }, beganAt) {
  if (state === "failed") return text ?? "";
  if (state === "recording")
    return `recording, ${Math.round((performance.now() - beganAt) / 1000)} s`;
  return size === undefined ? state : `${state} ${bytes(size)}`;
}

/** Brings the dialog to life where there is one. */
export function wireCapture() {
  const dialog = document.querySelector("dialog[data-capture]");
  if (dialog instanceof HTMLDialogElement) new CaptureDialog(dialog).wire();
}

class CaptureDialog {
  /** @param {HTMLDialogElement} dialog */
  constructor(dialog) {
    this.dialog = dialog;
    this.form = find(HTMLFormElement, "[data-capture-form]", dialog);
    this.addresses = find(HTMLTextAreaElement, "[data-capture-addresses]", dialog);
    this.submit = buttonPart("capture-submit", dialog);
    this.stop = buttonPart("capture-stop", dialog);
    this.fault = part("capture-fault", dialog);
    /** @type {string | null} */
    this.url = null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.clock = undefined;
  }

  wire() {
    part("capture-open").addEventListener("click", () => this.open());
    part("capture-close", this.dialog).addEventListener("click", () => this.dialog.close());
    this.stop.addEventListener("click", () => this.end());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.capture();
    });
  }

  open() {
    this.addresses.value ||= remembered(LAST) ?? "";
    this.dialog.showModal();
  }

  async capture() {
    const fields = new FormData(this.form);
    const addresses = this.addresses.value.split(/\s+/).filter(Boolean);
    remember(LAST, addresses.join("\n"));
    this.submit.disabled = true;
    await attempt(this.fault, async () => {
      const asked = {
        addresses,
        duration_ms: Math.round(Number(fields.get("seconds")) * 1000),
        host_level: Number(fields.get("level")),
        python: fields.has("python"),
        retries: Number(fields.get("retries")),
        title: fields.get("title"),
      };
      await this.follow(await change("POST", CAPTURES, asked));
    });
    this.url = null;
    this.stop.hidden = true;
    this.submit.disabled = false;
  }

  /** Shows a capture until it has ended, or until its page can be opened. @param {Capture} capture */
  async follow(capture) {
    const beganAt = performance.now();
    this.url = `${CAPTURES}/${encodeURIComponent(capture.id)}`;
    this.stop.hidden = false;
    for (let now = capture; ; now = await this.next(now.version)) {
      const draw = () => this.draw(now, beganAt);
      draw();
      const page = now.run ?? (now.state === "ended" ? now.profile : undefined);
      if (page) return location.assign(page);
      if (now.state === "ended") return;
      clearInterval(this.clock);
      this.clock = setInterval(draw, 1000);
    }
  }

  /** @param {number} seen @returns {Promise<Capture>} */
  next(seen) {
    return read(`${this.url}?wait=${WAIT_S}&seen=${seen}`).finally(() => clearInterval(this.clock));
  }

  /** @param {Capture} capture @param {number} beganAt */
  draw(capture, beganAt) {
    const rows = capture.hosts.map((host) =>
      html(
        "li",
        { class: host.state },
        html("span", { class: "mono" }, host.address),
        html("span", { class: "muted" }, wordsOf(host, beganAt)),
      ),
    );
    part("capture-hosts", this.dialog).replaceChildren(...rows);
  }

  end() {
    const { url } = this;
    if (url !== null) attempt(this.fault, () => change("DELETE", url));
  }
}
