// The space-time diagram: the server draws it, window by window; the page zooms, pans, and lights what is selected.
import { useEffect, useRef, useState } from "preact/hooks";
import { store } from "./store";

const WINDOW = 60;
const cache = new Map<string, string>();
let sheet: CSSStyleSheet | null = null;

/** The drawing without its style sheet, which the page's policy would refuse: it becomes one of the document's. */
export function parse(svg: string): SVGSVGElement {
  const style = /<style>([\s\S]*?)<\/style>/.exec(svg);
  if (style && !sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(style[1].replace(/@media[\s\S]*$/, ""));
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }
  const doc = new DOMParser().parseFromString(svg.replace(/<style>[\s\S]*?<\/style>/, ""), "image/svg+xml");
  return document.importNode(doc.documentElement, true) as unknown as SVGSVGElement;
}

const SVG = "http://www.w3.org/2000/svg";

/** The names of the lines stay at the left edge of what is seen: a copy of them that moves along. */
function pinNames(svg: SVGSVGElement): void {
  const names = [...svg.querySelectorAll<SVGTextElement>("text[text-anchor=end]:not([data-step])")];
  if (!names.length) return;
  const group = document.createElementNS(SVG, "g"), paper = document.createElementNS(SVG, "rect");
  const right = Math.max(...names.map((e) => Number(e.getAttribute("x")))) + 6;
  for (const [k, v] of Object.entries({ class: "paper", x: 0, y: 0, width: right, height: svg.viewBox.baseVal.height })) paper.setAttribute(k, String(v));
  group.setAttribute("class", "pinned");
  group.setAttribute("aria-hidden", "true");
  group.append(paper, ...names.map((e) => e.cloneNode(true)));
  svg.append(group);
}

export async function drawing(options: object, id = store.tip): Promise<string> {
  return (await store.on<{ svg: string }>("svg", { path: store.path(id), options })).svg;
}

export function Diagram() {
  const host = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(innerWidth >= 1900 ? 1.3 : 1);
  const [fold, setFold] = useState(true);
  const [shown, setShown] = useState("");
  const chain = store.chain(store.tip);
  const length = chain.length - 1;
  const position = chain.findIndex((n) => n.id === store.current);
  const loop = store.loopAt(store.tip);
  let from = length <= WINDOW ? 0 : Math.max(0, Math.min(length - WINDOW, Math.floor((position - WINDOW / 2) / 10) * 10));
  const to = Math.min(length, from + WINDOW);
  if (loop !== null && to === length && length - loop <= 4 * WINDOW) from = Math.min(from, loop); // all of the loop
  const atEnd = position === length;
  const property = atEnd ? (store.shown() ?? undefined) : undefined;
  const key = `${store.session} ${store.tip} ${length} ${from} ${to} ${fold} ${property} ${loop}`;

  useEffect(() => {
    let stale = false;
    if (!store.session || position < 0) return;
    const known = cache.get(key);
    const put = (svg: string) => {
      if (stale || !host.current) return;
      cache.set(key, svg);
      if (cache.size > 40) cache.delete(cache.keys().next().value!);
      const drawn = parse(svg);
      pinNames(drawn);
      host.current.replaceChildren(drawn);
      setShown(key);
    };
    if (known) put(known);
    else
      drawing({ from, to, fold, ...(property ? { property } : {}) }).then(put, (e) => !stale && host.current?.replaceChildren(String(e.message)));
    return () => { stale = true; };
  }, [key]);

  useEffect(() => {
    const svg = host.current?.querySelector("svg");
    if (!svg) return;
    const [w, h] = ["width", "height"].map((a) => svg.viewBox.baseVal[a as "width" | "height"]);
    svg.setAttribute("width", String(w * zoom));
    svg.setAttribute("height", String(h * zoom));
    let left = Infinity, right = -Infinity;
    svg.querySelectorAll(".selection").forEach((e) => e.remove());
    svg.querySelectorAll<SVGGraphicsElement>("[data-step]").forEach((e) => {
      const step = Number(e.dataset.step);
      e.classList.toggle("selected", step === position && position > 0);
      e.classList.toggle("later", step > position);
      if (step !== position || (position === 0 && from > 0) || (!store.rounds && e.dataset.from !== undefined)) return;
      const box = e.getBBox();
      left = Math.min(left, box.x);
      right = Math.max(right, box.x + box.width);
    });
    if (left < right) {
      const mark = document.createElementNS(SVG, "rect");
      mark.setAttribute("class", "selection");
      const below = Math.max(0, ...[...svg.querySelectorAll("text[data-step], text[data-process]")].map((e) => Number(e.getAttribute("y")))); // the legend is lower
      for (const [k, v] of Object.entries({ x: left - 5, y: 0, width: right - left + 10, height: below ? Math.min(h, below + 12) : h })) mark.setAttribute(k, String(v));
      svg.insertBefore(mark, svg.querySelector(".paper")?.nextSibling ?? svg.firstChild);
      const view = host.current!;
      if (right * zoom > view.scrollLeft + view.clientWidth - 40 || left * zoom < view.scrollLeft) view.scrollTo({ left: Math.max(0, (left + right) / 2 * zoom - view.clientWidth / 2) });
    }
  }, [shown, position, zoom]);

  const dragged = useRef(false);
  const click = (e: MouseEvent) => {
    if (dragged.current) return;
    const step = (e.target as Element).closest("[data-step]")?.getAttribute("data-step");
    if (step !== null && step !== undefined && chain[Number(step)]) void store.go(chain[Number(step)].id);
  };
  const drag = (e: PointerEvent) => {
    const view = host.current!, x = e.clientX + view.scrollLeft, y = e.clientY + view.scrollTop;
    dragged.current = false;
    const move = (m: PointerEvent) => {
      dragged.current ||= Math.hypot(m.clientX - e.clientX, m.clientY - e.clientY) > 4;
      view.scrollTo(x - m.clientX, y - m.clientY);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", () => removeEventListener("pointermove", move), { once: true });
  };
  const pin = () => {
    const view = host.current, names = view?.querySelector(".pinned");
    if (!view || !names) return;
    names.setAttribute("transform", `translate(${Math.max(0, view.scrollLeft - 4) / zoom} 0)`);
    names.classList.toggle("moved", view.scrollLeft > 4);
  };
  useEffect(pin, [shown, position, zoom]);
  const wheel = (e: WheelEvent) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    setZoom((z) => Math.min(3, Math.max(0.4, z * (e.deltaY < 0 ? 1.1 : 1 / 1.1))));
  };
  return (
    <div class="diagram">
      <div class="tools">
        <input type="range" min="0" max={Math.max(1, length)} value={Math.max(0, position)} disabled={length <= 0} aria-label="position in the run"
          onInput={(e) => { const n = chain[Number(e.currentTarget.value)]; if (n) void store.go(n.id); }} />
        <span class="number">{Math.max(0, position)} / {Math.max(0, length)}</span>
        {length > WINDOW && <span class="faint">{store.unit(2)} {from + 1} to {to}</span>}
        {loop !== null && <span class="tag">for ever</span>}
        <span class="spring" />
        {(store.info?.processes.length ?? 0) > 6 && <label><input type="checkbox" checked={fold} onChange={(e) => setFold(e.currentTarget.checked)} /> fold equal processes</label>}
        <button class="quiet" data-zoom="-" aria-label="smaller" onClick={() => setZoom((z) => Math.max(0.4, z / 1.2))}>−</button>
        <button class="quiet number" data-zoom="0" aria-label="original size" onClick={() => setZoom(1)}>{Math.round(zoom * 100)} %</button>
        <button class="quiet" data-zoom="+" aria-label="larger" onClick={() => setZoom((z) => Math.min(3, z * 1.2))}>+</button>
      </div>
      <div class="canvas" ref={host} onClick={click} onPointerDown={drag} onWheel={wheel} onScroll={pin} tabIndex={0} role="region" aria-label="space-time diagram" />
    </div>
  );
}
