// The command palette: one field that finds every action, operation, group and page by a few letters.

import { best } from "../text/fuzzy.js";
import { html } from "../ui/dom.js";

const MOST = 60;
/** @type {Record<string, number | undefined>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

/**
 * @typedef {object} Command
 * @property {string} kind "Action", "Operation" …
 * @property {string} name
 * @property {string} [hint] what stands at its right: a share, a date
 * @property {string} [keys] that do the same
 * @property {() => void} run
 *
 * @typedef {Command & { lower: string }} Entry
 */

/**
 * @param {object} options
 * @param {string} options.kinds what it finds, such as "action or page"
 * @param {() => Command[]} options.commands read each time it opens
 * @param {() => Promise<Command[]>} options.more those that the server knows; they come after the others
 */
export function createPalette({ kinds, commands, more }) {
  const field = html("input", {
    type: "text",
    class: "field",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: `An ${kinds}`,
    "aria-label": `Find an ${kinds}`,
    "aria-expanded": true,
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
  });
  const list = html("ul", { class: "palette-list", role: "listbox", "aria-label": "Found" });
  list.id = "palette-list";
  const note = html("p", { class: "palette-note muted", role: "status" });
  const dialog = html("dialog", { class: "palette", "aria-label": "Commands" }, field, list, note);
  /** @type {Entry[]} */
  let all = [];
  /** @type {Entry[]} */
  let shown = [];
  let at = 0;

  function show() {
    shown = best(all, field.value, MOST);
    at = 0;
    list.replaceChildren(...shown.map(option));
    list.hidden = shown.length === 0;
    note.textContent = shown.length === 0 ? "Nothing has such a name." : "";
    mark();
  }

  function mark() {
    for (const [i, one] of [...list.children].entries())
      one.setAttribute("aria-selected", String(i === at));
    const chosen = list.children[at];
    chosen?.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", chosen?.id ?? "");
  }

  function run() {
    const entry = shown[at];
    if (!entry) return;
    dialog.close();
    entry.run();
  }

  list.addEventListener("click", (event) => {
    const chosen = event.target instanceof Element ? event.target.closest("li") : null;
    at = [...list.children].findIndex((one) => one === chosen);
    run();
  });
  field.addEventListener("input", show);
  dialog.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (event.key === "Enter") run();
    else if (step) at = Math.min(shown.length - 1, Math.max(0, at + step));
    else return;
    event.preventDefault();
    mark();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
  // Until the next frame the hidden field still has the focus, and would take the keys of the page.
  dialog.addEventListener("close", () => field.blur());
  document.body.append(dialog);

  return {
    async open() {
      if (dialog.open) return dialog.close();
      all = commands().map(withLower);
      field.value = "";
      dialog.showModal();
      show();
      const found = await more().catch(() => []);
      all = [...all, ...found.map(withLower)];
      if (found.length > 0 && field.value) show();
    },
  };
}

/** @param {Command} command @returns {Entry} */
const withLower = (command) => ({
  ...command,
  lower: `${command.name} ${command.kind}`.toLowerCase(),
});

/** @param {Entry} entry @param {number} i */
function option({ kind, name, hint, keys }, i) {
  const one = html(
    "li",
    { role: "option", "aria-selected": false },
    html("span", { class: "palette-kind muted" }, kind),
    html("span", { class: "palette-name", title: name }, name),
    hint ? html("span", { class: "palette-hint muted small-text" }, hint) : null,
    keys ? html("kbd", {}, keys) : null,
  );
  one.id = `palette-${i}`;
  return one;
}
