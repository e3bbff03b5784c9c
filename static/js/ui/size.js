// The size of an element, read once per change: reading it while the page is written to makes the browser lay it out.

/** @param {Element} element */
export function watchedSize(element) {
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
