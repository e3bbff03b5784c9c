// Native popovers: placed under their button; Escape and a click elsewhere close them by themselves.

import { html } from "./dom.js";

/** Places every `[popover]` under its `[popovertarget]` button and keeps the button's state. */
export function wireMenus() {
  for (const button of document.querySelectorAll("[popovertarget]")) {
    const menu = document.getElementById(button.getAttribute("popovertarget"));
    button.setAttribute("aria-expanded", "false");
    menu.addEventListener("toggle", (event) => {
      const open = event.newState === "open";
      button.setAttribute("aria-expanded", String(open));
      if (open) menu.querySelector("input, button, a")?.focus();
    });
    menu.addEventListener("beforetoggle", (event) => {
      if (event.newState === "open") place(menu, button);
    });
    menu.addEventListener("keydown", (event) => walk(menu, event));
  }
}

function place(menu, button) {
  const frame = button.getBoundingClientRect();
  const onRight = frame.left > innerWidth / 2;
  menu.style.top = `${frame.bottom + 4}px`;
  menu.style.left = onRight ? "auto" : `${frame.left}px`;
  menu.style.right = onRight ? `${document.documentElement.clientWidth - frame.right}px` : "auto";
  menu.style.maxHeight = `${Math.max(160, innerHeight - frame.bottom - 16)}px`;
}

/** Arrow keys go through the entries. */
function walk(menu, event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const stops = [...menu.querySelectorAll("input, button, a")].filter((stop) => !stop.closest("[hidden]"));
  const next = stops[stops.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** True while some menu is open: then Escape belongs to it. */
export const isMenuOpen = () => document.querySelector(":popover-open") !== null;

/**
 * A labelled checkbox of a menu list.
 * @param {object} options
 * @param {string} options.value
 * @param {boolean} options.checked
 * @param {(Node | string | null)[]} options.content
 * @param {string} [options.title]
 * @param {(checked: boolean) => void} options.onChange
 */
export function menuCheck({ value, checked, content, title, onChange }) {
  const box = html("input", { type: "checkbox", value, on: { change: (event) => onChange(event.target.checked) } });
  box.checked = checked;
  return html("label", { title: title ?? null }, box, ...content);
}
