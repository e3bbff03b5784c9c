// Finding and building elements. Text only ever becomes text nodes: names come from strangers' files. HTML is written by
// templates of the server alone, which escape them: page/pieces.js.

/** Whether the page is a file, made of one view: no server answers it. */
export const isFile = () => document.querySelector("#report-documents") !== null;

/** Whether the page is such a file in a widget of a notebook, whose kernel answers what the file does not have. */
export const isHosted = () => isFile() && window.name === "roofline-widget" && parent !== window;

/** Whether the view under a device can be shown: that of every one, where somebody computes it. @param {string} id */
export const hasDevice = (id) =>
  !isFile() || isHosted() || (document.body.dataset.devices ?? "").split(" ").includes(id);

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {string | number | boolean | null | undefined} Attribute null, undefined and false are left out
 * @typedef {{ [Type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Type]) => void }} Listeners
 * @typedef {Node | string | null | undefined} Child null and undefined are left out
 *
 * @typedef {"autocomplete" | "class" | "colspan" | "hidden" | "href" | "placeholder" | "role" | "scope" | "spellcheck" | "tabindex" | "title" | "type" | "value" | `aria-${string}` | `data-${string}`} Name
 * @typedef {{ [name in Name]?: Attribute } & { on?: Listeners, vars?: Record<string, string | number> }} Attributes
 *   `on`: listeners; `vars`: CSS custom properties
 */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function html(tag, { on = {}, vars = {}, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  for (const [type, listener] of Object.entries(on))
    element.addEventListener(type, /** @type {EventListener} */ (listener));
  // Through the CSSOM: style attributes are refused by the page's policy.
  for (const [name, value] of Object.entries(vars)) element.style.setProperty(name, String(value));
  for (const [name, value] of Object.entries(attributes)) write(element, name, value);
  element.append(...children.filter((child) => child != null));
  return element;
}

/** A text in which commands and names stand between backticks, as the filter of that name. @param {string} text */
export const coded = (text) =>
  text.split("`").map((piece, index) => (index % 2 ? html("code", {}, piece) : piece));

/** @param {Element} element @param {string} name @param {Attribute} value */
function write(element, name, value) {
  if (value == null) return;
  if (name.startsWith("aria-")) element.setAttribute(name, String(value));
  else if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | null>} [attributes]
 * @param {...(Node | string)} children
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== null) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * The first element that matches. A missing one, or one of another kind, is a mistake in the template.
 * @template {Element} Kind
 * @param {{ new (): Kind, prototype: Kind }} kind
 * @param {string} selector
 * @param {ParentNode} [root]
 */
export function find(kind, selector, root = document) {
  const element = root.querySelector(selector);
  if (element instanceof kind) return element;
  throw new Error(`The page has no ${kind.name} ${selector}`);
}

/**
 * All elements that match.
 * @template {Element} Kind
 * @param {{ new (): Kind, prototype: Kind }} kind
 * @param {string} selector
 * @param {ParentNode} [root]
 */
export function findAll(kind, selector, root = document) {
  return [...root.querySelectorAll(selector)].flatMap((element) =>
    element instanceof kind ? [element] : [],
  );
}

/** Parts of the page by name: looking through a page of some thousand elements takes a third of a millisecond. @type {Map<string, HTMLElement>} */
const known = new Map();

/** The element marked `data-{name}`. @param {string} name @param {ParentNode} [root] */
export function part(name, root = document) {
  if (root !== document) return find(HTMLElement, `[data-${name}]`, root);
  const before = known.get(name);
  if (before?.isConnected) return before;
  const found = find(HTMLElement, `[data-${name}]`);
  known.set(name, found);
  return found;
}

/** The button marked `data-{name}`. @param {string} name @param {ParentNode} [root] */
export const buttonPart = (name, root = document) =>
  find(HTMLButtonElement, `[data-${name}]`, root);

/** The field marked `data-{name}`. @param {string} name @param {ParentNode} [root] */
export const inputPart = (name, root = document) => find(HTMLInputElement, `[data-${name}]`, root);

/**
 * The nearest element around what an event happened on.
 * @param {Event} event
 * @param {string} selector
 */
export const around = (event, selector) =>
  event.target instanceof Element ? event.target.closest(selector) : null;

/** Term and description of a definition list. @param {string} term @param {...Child} description */
export function entry(term, ...description) {
  return [html("dt", {}, term), html("dd", {}, ...description)];
}
