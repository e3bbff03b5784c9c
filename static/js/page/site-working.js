// The palette of commands and the help on keys, for pages that are not the page of a profile.

import { findAll } from "../ui/dom.js";
import { createKeyHelp } from "./key-help.js";
import { createPalette } from "./palette.js";
import { buttonCommands, pageCommands, profileCommands } from "./site-commands.js";

/** @import { KeyActions } from "../ui/keyboard.js" */
/** @import { ButtonAction } from "./site-commands.js" */

/** @type {ButtonAction} */
const THEME = ["Colour theme: next", "[data-theme-switch]"];

/**
 * The actions of Ctrl K and of the question mark, for `wireKeyboard`.
 * @param {readonly ButtonAction[]} buttons
 * @returns {{ own: KeyActions, withCtrl: KeyActions }}
 */
export function wireSiteHelp(buttons) {
  const help = createKeyHelp();
  const isServed = location.protocol !== "file:"; // a run may be a file, with no pages beside it
  const palette = createPalette({
    kinds: isServed ? "action, page or profile" : "action",
    commands: () => [
      { kind: "Action", name: "All keys", keys: "?", run: help.open },
      ...buttonCommands([...buttons, THEME]),
      ...(isServed ? pageCommands() : []),
    ],
    more: async () => (isServed ? profileCommands() : []),
  });
  for (const button of findAll(HTMLElement, "[data-palette-open]"))
    button.addEventListener("click", palette.open);
  return { own: { "?": help.open }, withCtrl: { k: palette.open } };
}
