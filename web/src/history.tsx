// The history: a tree of the steps that were tried. A chain without branches is flat; branches are indented.
import { useEffect, useRef } from "preact/hooks";
import { store, type Node } from "./store";

/** Names that stand together: P(1), P(2), P(3) become P(1)..P(3). */
export function span(names: string[]): string {
  const number = (name: string) => Number(/\((\d+)\)$/.exec(name)?.[1] ?? NaN), role = (name: string) => name.replace(/\(\d+\)$/, "");
  const out: string[] = [];
  for (let i = 0; i < names.length; ) {
    let k = i;
    while (k + 1 < names.length && role(names[k + 1]) === role(names[i]) && number(names[k + 1]) === number(names[k]) + 1) k++;
    out.push(...(k - i >= 2 ? [`${names[i]}..${names[k]}`] : names.slice(i, k + 1)));
    i = k + 1;
  }
  return out.join(", ");
}

/** A round in few words: who misses whom, processes of which the same is said together. */
export function brief(text: string): string {
  const all = store.info?.processes ?? [];
  const said = new Map<string, string[]>();
  for (const part of text.split("; ")) {
    const match = /^(\S+) (hears (?:all|nobody|\w+\(\d+\)(?:, \w+\(\d+\))*)(?=$|, )|crashes)(.*)$/.exec(part);
    if (!match || !all.includes(match[1])) return text;
    const [, who, what, more] = match, heard = what.startsWith("hears ") ? what.slice(6).split(", ") : [];
    const missed = heard.length && all.includes(heard[0]) ? all.filter((q) => !heard.includes(q)) : [];
    const words = missed.length && missed.length < heard.length ? (missed.length === 1 && missed[0] === who ? "misses itself" : `misses ${span(missed)}`) : heard.length === 1 && heard[0] === who ? "hears itself only" : all.includes(heard[0]) ? `hears ${span(heard)}` : what;
    said.set(words + more, [...(said.get(words + more) ?? []), who]);
  }
  const plural = (words: string, n: number) => (n === 1 ? words : words.replace(/^(hear|misse|crashe)(s)(?=$|\s)/, (_, verb: string) => ({ hear: "hear", misse: "miss", crashe: "crash" })[verb] ?? verb).replace("itself", "themselves"));
  const full = said.get("hears all");
  said.delete("hears all");
  const out = [...said].map(([words, who]) => `${span(who)} ${plural(words, who.length)}`);
  if (full) out.push(!out.length ? "all hear all" : full.length === 1 ? `${full[0]} hears all` : "the others hear all");
  return out.join("; ");
}

function Item({ node, indent, onPath }: { node: Node; indent: number; onPath: boolean }) {
  const now = node.id === store.current;
  return (
    <li role="treeitem" aria-level={indent + 1} aria-selected={now} class={[now && "now", onPath && "on-path", node.bad && "bad", node.id === store.other && "other"].filter(Boolean).join(" ")} style={{ paddingLeft: `${indent * 14 + 6}px` }}>
      <button class="node" title={node.label} data-node={node.id} onClick={() => void store.go(node.id)}><span class="number">{node.depth}</span> {brief(node.label)}{node.loop !== null && !node.children.length ? " ↻" : ""}</button>
      <span class="actions">
        {!now && <button class="mini" title="compare with the current state" onClick={() => void store.compareWith(node.id)}>compare</button>}
        {node.parent !== null && <button class="mini" aria-label="remove this branch" title="remove from here on" onClick={() => store.remove(node.id)}>×</button>}
      </span>
    </li>
  );
}

function rows(id: number, indent: number, out: { node: Node; indent: number }[]): void {
  for (let node = store.at(id); node; ) {
    out.push({ node, indent });
    const [first, ...others] = node.children;
    for (const other of others) rows(other, indent + 1, out);
    node = store.at(first ?? null);
  }
}

export function HistoryPanel() {
  const list: { node: Node; indent: number }[] = [];
  store.roots.forEach((r) => rows(r, 0, list));
  const at = list.findIndex((x) => x.node.id === store.current), path = new Set(store.chain(store.tip).map((n) => n.id));
  const from = Math.max(0, Math.min(at - 100, list.length - 200));
  const tree = useRef<HTMLUListElement>(null);
  useEffect(() => tree.current?.querySelector(".now")?.scrollIntoView({ block: "nearest" }), [store.current, list.length]);
  return (
    <section class="panel history" aria-label="history">
      <header><h2>History</h2><span class="faint number">{list.length - store.roots.length} {store.unit(list.length - store.roots.length)}</span><span class="spring" />
        <button class="quiet" title="Backspace or ←" disabled={!store.at(store.current)?.parent} onClick={() => store.undo()}>back</button>
        <button class="quiet" title="→" disabled={store.current === store.tip} onClick={() => store.redo()}>forward</button></header>
      {store.initials.length > 1 && <div class="initials"><label class="inline">starts from
        <select value={String(store.at(store.chain(store.current)[0]?.id ?? null)?.initial ?? "")} onChange={(e) => void store.begin(Number(e.currentTarget.value))} aria-label="initial state">
          {store.initials.map((i) => <option key={i.index} value={i.index}>{i.text || "the initial state"}</option>)}
        </select></label>{store.initialCount.n > store.initials.length && <label class="inline" title={`${store.initials.length} of ${store.initialCount.n}${store.initialCount.exact ? "" : " or more"} are in the list`}>number
          <input class="tiny" type="number" min="0" value={String(store.chain(store.current)[0]?.initial ?? 0)} onChange={(e) => e.currentTarget.value !== "" && void store.begin(Number(e.currentTarget.value))} aria-label={`number of the initial state, of ${store.initialCount.n}${store.initialCount.exact ? "" : " or more"}`} /></label>}</div>}
      <ul class="scroll tree" ref={tree} role="tree" aria-label="steps">{list.slice(from, from + 200).map((x) => <Item key={x.node.id} {...x} onPath={path.has(x.node.id)} />)}</ul>
    </section>
  );
}
