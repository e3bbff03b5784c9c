// The map of hosts: a cell for each, whose shade says how far it is from the median host.

import { hostSaid, metricText } from "../text/run-words.js";
import { around, html, part } from "../ui/dom.js";

/** @import { HostRow, MetricId, RunModel } from "../types/run.js" */

const NODE = 8; // rows of a page
const NAMED = 8; // outliers with a name beside their cell
const STATES = /** @type {Record<string, string>} */ ({ x: "unread", "-": "unknown" });

/** Where a key leads from a host; null: the key is not one of the map's. @param {string} key @param {number} at @param {number} columns @param {number} count */
export function moved(key, at, columns, count) {
  /** @type {Record<string, number | undefined>} */
  const steps = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: NODE * columns,
    PageUp: -NODE * columns,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  if (step === undefined) return null;
  const wanted = at + step;
  if (Math.abs(step) === columns && (wanted < 0 || wanted >= count)) return at;
  return Math.max(0, Math.min(count - 1, wanted));
}

/**
 * @param {object} options
 * @param {RunModel} options.model
 * @param {(host: HostRow) => void} options.onOpen
 * @param {(host: HostRow | null, event: PointerEvent) => void} options.onHover
 */
export function createHeatMap({ model: { hosts, shades }, onOpen, onHover }) {
  const root = part("heat");
  const columns = Number(root.dataset.heat);
  const isFew = root.classList.contains("few");
  let current = -1;
  let metric = /** @type {MetricId} */ ("ratio");
  const named = new Set(hosts.filter(({ kind }) => kind !== "").slice(0, NAMED));
  const values = hosts.map(() => html("span", {}));
  const cells = hosts.map((host, at) => {
    const name = html("bdi", {}, host.name);
    const words = isFew ? [html("span", {}, name), values[at]] : [];
    const side = at % columns > columns * 0.6 ? "call before" : "call";
    const call = named.has(host) ? [html("b", { class: side }, host.name)] : [];
    return html("i", { "data-at": String(at) }, ...words, ...call);
  });
  root.style.setProperty("--columns", String(columns));
  root.replaceChildren(...cells);

  /** @param {Event} event */
  const under = (event) => {
    const cell = around(event, "[data-at]");
    return cell instanceof HTMLElement ? hosts[Number(cell.dataset.at)] : null;
  };
  root.addEventListener("pointermove", (event) => onHover(under(event), event));
  root.addEventListener("pointerleave", (event) => onHover(null, event));
  root.addEventListener("click", (event) => {
    const host = under(event);
    if (host) onOpen(host);
  });
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && current >= 0) {
      event.preventDefault(); // the focus moves: the same key would press what gets it
      onOpen(hosts[current]);
    }
    const next = moved(event.key, Math.max(0, current), columns, hosts.length);
    if (next === null) return;
    event.preventDefault();
    goTo(current < 0 ? 0 : next);
    part("said").textContent = hostSaid(hosts[current], metric);
  });

  /** @param {number} at */
  function goTo(at) {
    cells[current]?.classList.remove("at");
    current = at;
    cells[current]?.classList.add("at");
  }

  return {
    /** @param {MetricId} wanted @param {string} open name of the open host */
    draw(wanted, open) {
      metric = wanted;
      hosts.forEach((host, at) => {
        const shade = shades[metric][at];
        const ring = host.kind === "" ? "" : " ring";
        cells[at].className = (STATES[shade] ?? `heat-${shade}`) + ring;
        values[at].textContent =
          host.state === "read" ? metricText(metric, host[metric]) : host.state;
      });
      const place = hosts.findIndex(({ name }) => name === open);
      goTo(place >= 0 ? place : current);
    },
  };
}
