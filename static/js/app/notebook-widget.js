// What anywidget loads in a notebook: the page of a profile in a closed frame, and what it and the kernel tell each other.

/**
 * @typedef {object} Model of anywidget
 * @property {(name: string) => any} get
 * @property {(name: string, value: unknown) => void} set
 * @property {() => void} save_changes
 * @property {(content: unknown) => void} send
 * @property {(event: string, listener: (content: any) => void) => void} on
 * @property {(event: string, listener: (content: any) => void) => void} off
 */

const KINDS = new Set(["state", "ready"]);

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.name = "roofline-widget";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0`;
  frame.srcdoc = model.get("page");
  /** @param {string} roofline @param {unknown} value */
  const say = (roofline, value) => frame.contentWindow?.postMessage({ roofline, value }, "*");
  const tellState = () => say("state", model.get("state"));
  const tellTheme = () => say("theme", model.get("theme"));
  /** @param {unknown} view */
  const tellView = (view) => say("view", view);
  /** @param {MessageEvent} event */
  const hear = ({ source, data }) => {
    if (source !== frame.contentWindow || typeof data?.value !== "string") return;
    if (data.roofline === "view?") model.send({ view: data.value });
    if (!KINDS.has(data.roofline)) return;
    if (data.roofline === "ready") {
      tellTheme();
      if (model.get("state")) return tellState();
    }
    model.set("state", data.value);
    model.set("rows", data.ops);
    model.save_changes();
  };
  addEventListener("message", hear);
  model.on("change:state", tellState);
  model.on("change:theme", tellTheme);
  model.on("msg:custom", tellView);
  el.append(frame);
  return () => {
    removeEventListener("message", hear);
    model.off("change:state", tellState);
    model.off("change:theme", tellTheme);
    model.off("msg:custom", tellView);
  };
}

export default { render };
