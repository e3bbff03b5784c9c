// The chips above the headline say what the page is of: another subject is a page of its own, with the filters kept.
// The line below it leads to the first finding.

import { addressOfSubject } from "../state/time-range.js";
import { findAll, part } from "../ui/dom.js";

export function wireSubject() {
  part("do-first").addEventListener("click", () => {
    const [first] = findAll(HTMLDetailsElement, ".advice details");
    if (first) first.open = true;
  });
  for (const link of findAll(HTMLAnchorElement, "[data-of]"))
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      location.assign(addressOfSubject(location, link.dataset.of ?? ""));
    });
}
