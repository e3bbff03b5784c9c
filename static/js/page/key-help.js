// All keys of a page, in a dialog.

import { html } from "../ui/dom.js";

/** @typedef {readonly [title: string, keys: readonly (readonly [keys: string, what: string])[]]} KeySection */

/** @type {KeySection} */
const ON_LISTS = [
  "On a table and a menu",
  [
    ["↑  ↓", "Next and previous row"],
    ["Enter", "Select"],
    ["Tab", "To the next control"],
  ],
];

/** @type {KeySection[1][number]} */
const PALETTE = ["Ctrl K", "Find any action, page or profile"];
/** @type {KeySection[1][number]} */
const HELP = ["?", "These keys"];

/** @type {readonly KeySection[]} */
export const PROFILE_KEYS = [
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
  ON_LISTS,
];

/** @type {readonly KeySection[]} */
export const HOME_KEYS = [
  [
    "Anywhere",
    [
      PALETTE,
      ["/", "Search profiles and runs"],
      ["J  K", "Next and previous profile"],
      ["Enter", "Open it"],
      ["X", "Select it, to compare"],
      ["C", "Compare those that are selected"],
      ["Ctrl V", "Add the files of the clipboard"],
      HELP,
    ],
  ],
];

/** @type {readonly KeySection[]} */
export const COMPARE_KEYS = [
  [
    "Anywhere",
    [
      PALETTE,
      ["/", "Search operations"],
      ["J  K", "Next and previous operation"],
      ["S", "Swap A and B"],
      ["1  2  3  4  5", "The tabs of the table"],
      ["Esc", "Clear the selection"],
      HELP,
    ],
  ],
];

/** @type {readonly KeySection[]} */
export const RUN_KEYS = [
  [
    "Anywhere",
    [
      PALETTE,
      ["/", "Search the table"],
      ["J  K", "Next and previous host that stands out"],
      ["Esc", "Close the host"],
      HELP,
    ],
  ],
  [
    "On the map of hosts",
    [
      ["Arrows", "Move"],
      ["PgUp  PgDn", "Previous and next plane"],
      ["Enter", "Open the host"],
    ],
  ],
];

/** @param {readonly KeySection[]} sections */
export function createKeyHelp(sections) {
  const close = html("button", { type: "button", class: "btn small" }, "Close");
  const dialog = html(
    "dialog",
    { class: "key-help", "aria-labelledby": "title-keys" },
    html("div", { class: "key-help-head" }, withId(html("h2", {}, "Keys"), "title-keys"), close),
    html("div", { class: "key-help-body" }, ...sections.map(section)),
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

/** @param {KeySection} section */
const section = ([title, keys]) =>
  html(
    "section",
    {},
    html("h3", {}, title),
    html("dl", {}, ...keys.flatMap(([key, what]) => [keyTerm(key), html("dd", {}, what)])),
  );

/** @param {string} keys those of one line apart by two spaces */
const keyTerm = (keys) => html("dt", {}, ...keys.split("  ").map((one) => html("kbd", {}, one)));
