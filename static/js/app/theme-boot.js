// Classic script, loaded in the head on purpose: the chosen theme must be set before the first paint.
(() => {
  try {
    const chosen = localStorage.getItem("roofline-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage can be forbidden; the page then follows the system.
  }
  // A view of its own is not what the server has drawn: that stays unseen until the view is there.
  if (location.search !== "") document.documentElement.dataset.linked = "";
})();
