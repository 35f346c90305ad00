// What is seen, as files.
import { drawing } from "./diagram";
import { store } from "./store";
import { download } from "./widgets";

const name = () => (store.opened?.file ?? "run").replace(/\.rondo$/, "");

async function png(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * 2;
  canvas.height = image.naturalHeight * 2;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((b) => (b ? resolve(b) : reject(new Error("no picture"))), "image/png"));
}

async function write(format: string): Promise<void> {
  try {
    const path = store.path(), length = path?.steps.length ?? 0;
    const picture = () => drawing({ caption: true, from: Math.max(0, length - 500), to: length, ...(store.shown() ? { property: store.shown() } : {}) }, store.current);
    if (format === "svg") download(`${name()}.svg`, "image/svg+xml", await picture());
    else if (format === "png") download(`${name()}.png`, "image/png", await png(await picture()));
    else if (format === "link") {
      if (!(await store.writeAddress())) throw new Error("the run is too long for an address: export a trace");
      await navigator.clipboard.writeText(location.href);
    }
    else {
      const { text } = await store.on<{ text: string }>("save", { path, property: store.shown(), format });
      const [end, type] = { trace: ["json", "application/json"], itf: ["itf.json", "application/json"], html: ["html", "text/html"] }[format] ?? ["txt", "text/plain"];
      download(`${name()}.${end}`, type, text);
    }
  } catch (e) {
    store.fail(e);
  }
}

export function Exports() {
  return (
    <select class="menu" value="" aria-label="export" onChange={(e) => { void write(e.currentTarget.value); e.currentTarget.value = ""; }}>
      <option value="" disabled>Export</option>
      <option value="link">copy the link</option>
      <option value="svg">diagram, SVG</option>
      <option value="png">diagram, PNG</option>
      <option value="trace">trace, JSON</option>
      <option value="itf">trace, ITF</option>
      <option value="html">page, HTML</option>
    </select>
  );
}
