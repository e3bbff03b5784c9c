// Classic script, loaded in the head on purpose: the chosen theme must be set before the first paint.
(() => {
  try {
    const chosen = localStorage.getItem("roofline-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage can be forbidden; the page then follows the system.
  }
  // A view of its own is not what the server has drawn: that stays unseen until the view is there.
  const { dataset } = document.documentElement;
  if (location.search !== "") dataset.linked = "";
  // The first frame holds the answer; what lies below comes with the next one: first-view.css.
  if (document.hidden) return;
  dataset.first = "";
  requestAnimationFrame(() => setTimeout(() => delete dataset.first));
})();
