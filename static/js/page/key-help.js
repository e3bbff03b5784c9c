// All keys of the page, in a dialog.

import { html } from "../ui/dom.js";

/** @type {readonly (readonly [title: string, readonly (readonly [keys: string, what: string])[]])[]} */
const KEYS = [
  [
    "Anywhere",
    [
      ["Ctrl K", "Find any action, operation, group or page"],
      ["/", "Search operations"],
      ["J  K", "Next and previous operation"],
      ["X", "Add the selected operation to a sum; so does a click with Shift or Ctrl"],
      ["P", "Pin the selected operation or step, with a note"],
      ["[  ]", "Previous and next step"],
      ["G", "Next way of grouping"],
      ["Y", "Height of points: FLOP rate, or share of roof"],
      ["Ctrl Z", "Undo the last change of the view"],
      ["Ctrl Shift Z", "Redo it"],
      ["Esc", "Close, then clear the selection"],
      ["?", "These keys"],
    ],
  ],
  [
    "On the chart",
    [
      ["Arrows", "Move"],
      ["+  −", "Zoom"],
      ["Ctrl wheel", "Zoom around the pointer; two fingers do the same"],
      ["0", "Whole range"],
    ],
  ],
  [
    "On a table and a menu",
    [
      ["↑  ↓", "Next and previous row"],
      ["Enter", "Select"],
      ["Tab", "To the next control"],
    ],
  ],
];

export function createKeyHelp() {
  const close = html("button", { type: "button", class: "btn small" }, "Close");
  const dialog = html(
    "dialog",
    { class: "key-help", "aria-labelledby": "title-keys" },
    html("div", { class: "key-help-head" }, withId(html("h2", {}, "Keys"), "title-keys"), close),
    html("div", { class: "key-help-body" }, ...KEYS.map(section)),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
  document.body.append(dialog);
  return { open: () => (dialog.open ? dialog.close() : dialog.showModal()) };
}

/** @param {HTMLElement} element @param {string} id */
const withId = (element, id) => Object.assign(element, { id });

/** @param {(typeof KEYS)[number]} section */
const section = ([title, keys]) =>
  html(
    "section",
    {},
    html("h3", {}, title),
    html("dl", {}, ...keys.flatMap(([key, what]) => [keyTerm(key), html("dd", {}, what)])),
  );

/** @param {string} keys those of one line apart by two spaces */
const keyTerm = (keys) => html("dt", {}, ...keys.split("  ").map((one) => html("kbd", {}, one)));
