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
