// The size of an element, read once per change: reading it while the page is written to makes the browser lay it out.

/** @typedef {ReturnType<typeof watch>} WatchedSize */

/** @type {WeakMap<Element, WatchedSize>} */
const watched = new WeakMap();

/** Those who ask for the size of one element share its reading. @param {Element} element @returns {WatchedSize} */
export function watchedSize(element) {
  const before = watched.get(element);
  if (before) return before;
  const made = watch(element);
  watched.set(element, made);
  return made;
}

/** @param {Element} element */
function watch(element) {
  /** @type {{ width: number, height: number } | null} */
  let known = null;
  const forget = () => {
    known = null;
  };
  new ResizeObserver(forget).observe(element);
  return {
    /** Of its content and padding, in pixels. */
    get: () => (known ??= { width: element.clientWidth, height: element.clientHeight }),
    /** Reads it anew: the layout of paper comes without a notice. */
    forget,
  };
}
