// Classic script, loaded in the head on purpose: the chosen theme must be set before the first paint.
(() => {
  try {
    const chosen = localStorage.getItem("roofline-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
    const open = localStorage.getItem("roofline-open");
    if (open) document.documentElement.dataset.open = open.replaceAll(",", " ");
    if (localStorage.getItem("roofline-first") !== null)
      document.documentElement.dataset.rooflineFirst = "";
  } catch {
    // Storage can be forbidden; the page then follows the system.
  }
  const { dataset } = document.documentElement;
  // The first frame holds the answer: what lies below comes after it (first-view.css), as does the page's script.
  const runScript = () => {
    const link = document.querySelector("#page-script");
    if (!(link instanceof HTMLLinkElement)) return;
    const script = document.createElement("script");
    script.type = "module";
    script.src = link.href;
    document.head.append(script);
  };
  const start = () => {
    delete dataset.first;
    if (document.readyState !== "loading") runScript();
    else addEventListener("DOMContentLoaded", runScript);
  };
  if (document.hidden) return start();
  dataset.first = "";
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = start;
  requestAnimationFrame(() => port2.postMessage(null));
})();
