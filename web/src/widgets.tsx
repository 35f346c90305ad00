// Small parts that several views share.
let show: (line: number) => void = () => undefined;
export const onShowLine = (f: (line: number) => void) => { show = f; };
export const showLine = (line: number) => show(line);

export function Line({ line }: { line: number }) {
  return <button class="link line" onClick={() => show(line)} title="show it in the model">line {line}</button>;
}

export function download(name: string, type: string, content: BlobPart): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([content], { type }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

const INHERITED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];

/** A drawing of the page as a file of its own: with the colours that it has here. */
export function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement, from = [svg, ...svg.querySelectorAll<SVGElement>("*")], to = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  from.forEach((e, i) => { const style = getComputedStyle(e); for (const k of INHERITED) to[i].setAttribute(k, style.getPropertyValue(k)); });
  const { x, y, width, height } = svg.viewBox.baseVal, paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [k, v] of Object.entries({ x, y, width, height, fill: getComputedStyle(document.body).getPropertyValue("--paper") })) paper.setAttribute(k, String(v));
  copy.prepend(paper);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}
