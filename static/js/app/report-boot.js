// Classic script at the end of a page that is one file: data and scripts are in it, packed, and nothing is fetched.
(async () => {
  const NOT_HERE = {
    message: "This file has the view that it was made of.",
    remedy: "Other devices, peaks and axes need the server: roofline serve.",
  };
  /** What is packed (gzip, base64) in the element. @param {string} id */
  const unpacked = (id) => {
    const packed = atob(document.querySelector(`#${id}`)?.textContent ?? "");
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };
  /** @param {string} text */
  const run = (text) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.addEventListener("load", resolve);
      script.addEventListener("error", reject);
      script.src = URL.createObjectURL(new Blob([`"use strict";\n${text}`]));
      document.head.append(script);
    });
  /** The figures of an address that differ in nothing but the op in sight and the zoom. @param {Record<string, any>} documents @param {string} address */
  const drawn = (documents, address) => {
    if (!address.startsWith("figures?")) return undefined;
    const query = new URLSearchParams(address.slice("figures?".length));
    for (const key of ["op", "ops", "zoom"]) query.delete(key);
    if (query.has("y")) return documents[`figures?${query}`];
    const device = query.get("device");
    query.delete("device");
    const view = new URLSearchParams([...(device ? [["dev", device]] : []), ...query]);
    return documents[view.size > 0 ? `view?${view}` : "view"]?.figures;
  };
  /** What the kernel of a notebook makes for the widget that shows the page. @param {string} address @returns {Promise<any>} */
  const computed = (address) =>
    new Promise((resolve) => {
      /** @param {MessageEvent} event */
      const hear = ({ source, data }) => {
        if (source !== parent || data?.roofline !== "view" || data.value?.view !== address) return;
        removeEventListener("message", hear);
        resolve(data.value.document ?? null);
      };
      addEventListener("message", hear);
      parent.postMessage({ roofline: "view?", value: address }, "*");
    });
  /** Addresses of files cannot be changed in every browser: the state is in memory then. @param {"pushState" | "replaceState"} name */
  const tolerant = (name) => {
    const change = history[name].bind(history);
    history[name] = (data, unused, url) => {
      try {
        change(data, unused, url);
      } catch {
        change(data, unused);
      }
    };
  };
  try {
    const documents = JSON.parse(await unpacked("report-documents"));
    for (const [name, one] of Object.entries(documents))
      if (one?.like) documents[name] = { ...documents[one.like], ...one };
    document.body.dataset.search = documents.search ?? "";
    document.body.dataset.devices = (documents.embedded ?? []).join(" ");
    const isHosted = window.name === "roofline-widget" && parent !== window;
    globalThis.fetch = async (input) => {
      const address = String(input);
      let found = documents[address] ?? drawn(documents, address);
      if (!found && isHosted) documents[address] = found = await computed(address);
      return new Response(JSON.stringify(found ?? NOT_HERE), { status: found ? 200 : 404 });
    };
    tolerant("pushState");
    tolerant("replaceState");
    await run(await unpacked("report-chart"));
    await run(await unpacked("report-script"));
  } catch {
    const notice = document.querySelector("[data-notice]");
    if (!(notice instanceof HTMLElement)) return;
    notice.hidden = false;
    notice.textContent = "This viewer runs no scripts of a file: charts and filters are missing.";
  }
})();
