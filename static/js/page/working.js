// Working with the page of a profile: its keys, the palette of commands, and the help on keys.

import { redo, undo } from "../state/store.js";
import { find, findAll, part } from "../ui/dom.js";
import { wireKeyboard } from "../ui/keyboard.js";
import { followCommands } from "./arrivals.js";
import { nextGrouping } from "./by-module.js";
import { commandsOf } from "./commands.js";
import { turnHeight } from "./filter-bar.js";
import { createKeyHelp } from "./key-help.js";
import { createPalette } from "./palette.js";
import { profileCommands } from "./site-commands.js";

/** @import { Model } from "../types/model.js" */
/** @import { Store } from "../state/store.js" */
/** @import { Command } from "./palette.js" */
/** @import { PageView } from "./page-view.js" */

/** @param {object} options @param {PageView} options.view @param {Model} options.model @param {Store} options.store */
export function wireWorking({ view, model, store }) {
  const { selection } = view;
  const help = createKeyHelp();
  const step = (/** @type {number} */ by) => selectStep(model, store, by);
  const isShared = findAll(HTMLElement, "[data-drop-compare]").length === 0;
  /** @type {Command[]} */
  const own = [
    { kind: "Action", name: "All keys", keys: "?", run: help.open },
    { kind: "Action", name: "Undo the last change of the view", keys: "Ctrl Z", run: undo },
    { kind: "Action", name: "Redo it", keys: "Ctrl Shift Z", run: redo },
    { kind: "Action", name: "Next step", keys: "]", run: () => step(1) },
    { kind: "Action", name: "Previous step", keys: "[", run: () => step(-1) },
    {
      kind: "Action",
      name: "Pin the selected operation or step",
      keys: "P",
      run: () => view.parts.pins.toggleSelected(),
    },
    { kind: "Action", name: "Clear the selection", keys: "Esc", run: selection.close },
  ];
  const follow = isShared ? () => [] : followCommands(part("profile").dataset.title ?? "");
  const palette = createPalette({
    kinds: "action, operation, group or page",
    commands: () => commandsOf({ view, model, store, own: [...own, ...follow()], isShared }),
    more: async () => (isShared ? [] : profileCommands()),
  });
  part("palette-open").addEventListener("click", palette.open);
  wireKeyboard({
    search() {
      view.parts.folds.open("ops");
      find(HTMLElement, "#filter-name").focus();
    },
    move: selection.move,
    close: selection.close,
    own: {
      y: () => turnHeight(store),
      g: () => nextGrouping(model, store),
      p: () => view.parts.pins.toggleSelected(),
      x: () => pickSelected(view, model, store),
      "[": () => step(-1),
      "]": () => step(1),
      "?": help.open,
    },
    withCtrl: { k: palette.open, z: undo, y: redo, "shift z": redo },
  });
}

/** The program point before or after the selected one. @param {Model} model @param {Store} store @param {number} by */
function selectStep(model, store, by) {
  const points = model.view(store.get().infeed).program;
  const at = points.findIndex(({ label }) => label === store.get().step);
  const next = at < 0 ? points[by > 0 ? 0 : points.length - 1] : points[at + by];
  if (next) store.set({ step: next.label });
}

/** The selected op into the sum, or out of it. @param {PageView} view @param {Model} model @param {Store} store */
function pickSelected(view, model, store) {
  const { op, sel, infeed } = store.get();
  const row = op === null ? undefined : model.view(infeed).byOp.get(op);
  if (!row) return;
  if (sel.length === 0) store.set({ sel: [row.op] });
  else view.selection.pick(row);
}
