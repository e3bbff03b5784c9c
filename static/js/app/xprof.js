// XProf's page: its two charts are drawn, and a filter is followed at once.

import { Mount } from "../chart/mount.js";
import { buttonPart, find, findAll } from "../ui/dom.js";
import { onThemeChange } from "../ui/theme.js";

const mounts = findAll(HTMLElement, "[data-figure]").map((box) => {
  const mount = new Mount(box, { onDrawn() {} });
  mount.show(JSON.parse(box.dataset.figure ?? ""));
  return mount;
});
const redraw = () => mounts.forEach((mount) => mount.redraw());
onThemeChange(redraw);
addEventListener("resize", redraw);

const form = find(HTMLFormElement, "#xprof-filters");
form.addEventListener("change", () => form.requestSubmit());
buttonPart("apply").hidden = true;
