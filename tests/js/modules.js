// The modules of `static/js`, what each loads, and whether it needs a browser.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../static/js", import.meta.url));
const TESTS = fileURLToPath(new URL(".", import.meta.url));

/** Names of all modules, as "folder/name.js". */
export const MODULES = readdirSync(ROOT, { encoding: "utf-8", recursive: true }).filter((name) =>
  name.endsWith(".js"),
);

/** @param {string} name */
const textOf = (name) => readFileSync(join(ROOT, name), "utf-8");

/** The modules that one module loads; imports in comments are of types. @param {string} name */
export const importsOf = (name) =>
  [...textOf(name).matchAll(/^[a-z}].* from "(\.[^"]+)"/gm)].map(([, path]) =>
    normalize(join(dirname(name), path)),
  );

/** What only a browser has, of all that this page uses. */
const BROWSER =
  /\b(?:document|window|location|history|navigator|sessionStorage|localStorage|innerWidth|addEventListener|requestAnimationFrame|getComputedStyle|fetch|EventSource|XMLHttpRequest|ResizeObserver|DOMParser)\b/;

/** The code without comments; words in strings stay, and are rare. @param {string} name */
const codeOf = (name) =>
  textOf(name)
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "");

/**
 * A pure module gives the same for the same: neither it nor what it loads needs a browser.
 * @param {string} name
 * @returns {boolean}
 */
export const isPure = (name) => !BROWSER.test(codeOf(name)) && importsOf(name).every(isPure);

/** Whether its first sentences say so. @param {string} name */
export const saysPure = (name) => /\bPure\./.test(textOf(name).split("\n\n")[0]);

/** The text of its test; null: it has none. @param {string} name */
export function testOf(name) {
  const path = join(TESTS, name.replace(/\.js$/, ".test.js"));
  return existsSync(path) ? readFileSync(path, "utf-8") : null;
}
