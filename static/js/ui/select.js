// Lists of choices, written only where they change: after each writing Chromium looks through all fields of the page, which
// takes 10 ms, before it goes on.

import { html } from "./dom.js";

/** @param {HTMLSelectElement} select @param {string} value */
export function choose(select, value) {
  if (select.value !== value) select.value = value;
}

/** @param {HTMLSelectElement} select @param {readonly { value: string, label: string }[]} options */
export function offer(select, options) {
  const isSame =
    select.options.length === options.length &&
    options.every(({ value, label }, i) => {
      const before = select.options[i];
      return before.value === value && before.text === label;
    });
  if (isSame) return;
  select.replaceChildren(...options.map(({ value, label }) => html("option", { value }, label)));
}
