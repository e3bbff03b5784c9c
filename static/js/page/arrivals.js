// Runs that arrive on the server while a page is open.

import { toast } from "./toast.js";

/** @import { Command } from "./palette.js" */

/** @typedef {{ id: string, url: string, title: string }} Arrived */

/**
 * Calls `arrived` for each run of a title or tag that is newer than what there is now.
 * @param {{ name: string, by: string }} series
 * @param {(run: Arrived) => void} arrived
 * @returns {() => void} ends it
 */
export function onArrival(series, arrived) {
  const source = new EventSource(`/api/v1/series/events?${new URLSearchParams(series)}`);
  /** @type {string | null} */
  let known = null;
  source.addEventListener("newest", (event) => {
    /** @type {Arrived} */
    const run = JSON.parse(event.data);
    if (known !== null && run.id && run.id !== known) arrived(run);
    known = run.id;
  });
  return () => source.close();
}

/** The part of this view that means something for another run, as a query string. */
function sameView() {
  const query = new URLSearchParams(location.search);
  for (const key of ["op", "sel", "step", "page", "from_us", "to_us"]) query.delete(key);
  return query.size > 0 ? `?${query}` : "";
}

const FOLLOWED = "roofline-followed";

/**
 * Commands that let this tab go to each new run of the profile's title, in the same view; a tab that followed goes on.
 * @param {string} title
 * @returns {() => Command[]}
 */
export function followCommands(title) {
  /** @type {(() => void) | null} */
  let end = null;
  const start = () => {
    end = onArrival({ name: title, by: "title" }, ({ url }) => location.assign(url + sameView()));
  };
  if (sessionStorage.getItem(FOLLOWED) === title) {
    start();
    toast(`This tab follows new runs of “${title}”`);
  }
  return () => [
    end
      ? {
          kind: "Action",
          name: "Stop following new runs",
          run: () => {
            end?.();
            end = null;
            sessionStorage.removeItem(FOLLOWED);
          },
        }
      : {
          kind: "Action",
          name: `Follow new runs of this title: this tab shows each as it arrives`,
          run: () => {
            start();
            sessionStorage.setItem(FOLLOWED, title);
            toast(`This tab follows new runs of “${title}”`);
          },
        },
  ];
}
