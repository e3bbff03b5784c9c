// Which chart comes first: Time to gain, or the roofline, large. The page remembers it; theme-boot.js reads it.

import { buttonPart } from "../ui/dom.js";
import { remember } from "../ui/remembered.js";

const KEY = "roofline-first";

export function wireFirstChart() {
  const root = document.documentElement;
  const button = buttonPart("roofline-first");
  const isFirst = () => "rooflineFirst" in root.dataset;
  const show = () => button.setAttribute("aria-pressed", String(isFirst()));
  show();
  button.addEventListener("click", () => {
    if (isFirst()) delete root.dataset.rooflineFirst;
    else root.dataset.rooflineFirst = "";
    show();
    remember(KEY, isFirst() ? "" : null);
  });
}
