// Native popovers: placed under their button; Escape and a click elsewhere close them by themselves.

import { find, findAll, html } from "./dom.js";

const STOPS = "select, input, button, a";
/** Controls with a use of their own for the arrow keys. */
const OWN_ARROWS = "select, input[type=range]";
/** @type {Record<string, number | undefined>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

/** Places every `[popover]` under its `[popovertarget]` button and keeps the button's state. */
export function wireMenus() {
  for (const button of findAll(HTMLElement, "[popovertarget]")) {
    const menu = find(HTMLElement, `#${button.getAttribute("popovertarget")}`);
    button.setAttribute("aria-expanded", "false");
    menu.addEventListener("toggle", (event) => {
      const open = event.newState === "open";
      button.setAttribute("aria-expanded", String(open));
      // The code that opened it may have chosen a better place already.
      if (open && !menu.contains(document.activeElement))
        findAll(HTMLElement, STOPS, menu)[0]?.focus();
    });
    menu.addEventListener("beforetoggle", (event) => {
      if (event.newState === "open") place(menu, button);
    });
    menu.addEventListener("keydown", (event) => walk(menu, event));
  }
  addEventListener("resize", () => {
    if (placed?.menu.matches(":popover-open")) place(placed.menu, placed.button);
  });
}

/**
 * Opens a menu below a button that is not its own.
 * @param {HTMLElement} menu
 * @param {HTMLElement} anchor
 */
export function showMenu(menu, anchor) {
  menu.showPopover();
  place(menu, anchor);
}

const LEAST_BELOW = 360; // pixels; with less room a menu opens where there is most of it
const MARGIN = 8; // pixels between a menu and the edge of the window

/** @type {{ menu: HTMLElement, button: HTMLElement } | null} the last one: a window that is turned moves it */
let placed = null;

/** @param {HTMLElement} menu @param {HTMLElement} button */
function place(menu, button) {
  placed = { menu, button };
  const frame = button.getBoundingClientRect();
  const room = document.body.clientWidth; // without a gutter for a scroll bar
  const onRight = frame.left > innerWidth / 2;
  // Styles know the width of a menu that is not shown yet.
  const last = room - (parseFloat(getComputedStyle(menu).width) || 0) - MARGIN;
  const below = innerHeight - frame.bottom - 16;
  const isAbove = below < LEAST_BELOW && frame.top > below;
  menu.style.top = isAbove ? "auto" : `${frame.bottom + 4}px`;
  menu.style.bottom = isAbove ? `${innerHeight - frame.top + 4}px` : "auto";
  menu.style.left = onRight ? "auto" : `${Math.max(MARGIN, Math.min(frame.left, last))}px`;
  menu.style.right = onRight ? `${Math.min(room - frame.right, last)}px` : "auto";
  menu.style.maxHeight = `${Math.max(160, isAbove ? frame.top - 16 : below)}px`;
}

/** Arrow keys go through the entries. @param {HTMLElement} menu @param {KeyboardEvent} event */
function walk(menu, event) {
  const step = STEPS[event.key];
  const at = document.activeElement;
  if (!step || at?.matches(OWN_ARROWS)) return;
  const stops = findAll(HTMLElement, STOPS, menu).filter((stop) => !stop.closest("[hidden]"));
  const next = stops[stops.findIndex((stop) => stop === at) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** True while some menu is open: then Escape belongs to it. */
export const isMenuOpen = () => document.querySelector(":popover-open") !== null;

/**
 * A labelled checkbox of a menu list: the label, and the box in it.
 * @param {object} options
 * @param {string} options.value
 * @param {boolean} options.checked
 * @param {(Node | string | null)[]} options.content
 * @param {string} [options.title]
 * @param {(checked: boolean) => void} options.onChange
 */
export function menuCheck({ value, checked, content, title, onChange }) {
  const box = html("input", {
    type: "checkbox",
    value,
    on: { change: () => onChange(box.checked) },
  });
  box.checked = checked;
  return { label: html("label", { title }, box, ...content), box };
}
