// While a profile is imported: asks how far it is, and opens the view when it is ready.

const INTERVAL_MS = 400;
const page = document.getElementById("main");

async function poll() {
  try {
    const response = await fetch(page.dataset.statusUrl, { cache: "no-store" });
    const status = await response.json();
    if (status.state !== "importing") {
      location.reload();
      return;
    }
    show(status.progress);
  } catch {
    // The server may be restarting: ask again.
  }
  setTimeout(poll, INTERVAL_MS);
}

function show(progress) {
  if (!progress) return;
  page.querySelector("[data-phase]").textContent = progress.phase;
  page.querySelector("[data-percent]").textContent = `${Math.round(progress.overall * 100)}\u202f%`;
  page.querySelector("[data-progress]").value = progress.overall;
}

if (page.dataset.state === "importing") poll();
