// Theme switch (system, light, dark) and token look-up for code that needs plain colours.

const STORAGE_KEY = "roofline-theme";
/** @typedef {"system" | "light" | "dark"} Theme */

/** @type {Record<Theme, Theme>} */
const NEXT = { system: "light", light: "dark", dark: "system" };
const root = document.documentElement;

/** @type {Map<string, string>} A look-up forces a style pass, so answers are kept per theme. */
const resolved = new Map();
/** @type {HTMLElement | null} */
let probe = null;

/**
 * The current colour of a design token, as `rgb(…)`: `light-dark()` is resolved by a probe element.
 * @param {string} token a custom property name such as `--roof-hbm`
 * @returns {string}
 */
export function colour(token) {
  let value = resolved.get(token);
  if (value === undefined) {
    probe ??= makeProbe();
    probe.style.color = `var(${token}, currentColor)`;
    value = getComputedStyle(probe).color;
    resolved.set(token, value);
  }
  return value;
}

function makeProbe() {
  const element = document.createElement("i");
  element.hidden = true;
  // Where the system forces colours, every token would be that of text: charts had one colour.
  element.style.setProperty("forced-color-adjust", "none");
  document.body.append(element);
  return element;
}

/** @returns {Theme} */
function chosenTheme() {
  const chosen = root.dataset.theme;
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

/** @param {Theme} theme */
function choose(theme) {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, theme);
  } catch {
    // Storage can be forbidden; the choice then lasts until the page is left.
  }
}

/** Shows the page so: light, dark or system; anything else changes nothing. @param {string} theme */
export function chooseTheme(theme) {
  if (theme !== "light" && theme !== "dark" && theme !== "system") return;
  choose(theme);
  announce();
}

/** Wires every `[data-theme-switch]` button of the page. Colours change by CSS alone. */
function wireSwitches() {
  /** @param {HTMLElement} button */
  const label = (button) => {
    button.setAttribute("aria-label", `Colour theme: ${chosenTheme()}. Change`);
    button.title = `Colour theme: ${chosenTheme()}`;
  };
  /** @type {NodeListOf<HTMLElement>} */
  const buttons = document.querySelectorAll("[data-theme-switch]");
  for (const button of buttons) {
    label(button);
    button.addEventListener("click", () => {
      chooseTheme(NEXT[chosenTheme()]);
      label(button);
    });
  }
}

/** @type {Set<() => void>} */
const listeners = new Set();

function announce() {
  resolved.clear();
  for (const listener of listeners) listener();
}

/**
 * Calls back when colours have changed, by the switch or by the system.
 * @param {() => void} listener
 */
export function onThemeChange(listener) {
  listeners.add(listener);
}

/** Paper is white: while printing the page is light, charts included. */
function wirePrinting() {
  /** @type {string | undefined} */
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    announce();
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    announce();
  });
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce);
wireSwitches();
wirePrinting();
