// The history: a tree of the steps that were tried. A chain without branches is flat; branches are indented.
import { useEffect, useRef } from "preact/hooks";
import { store, type Node } from "./store";

/** A round in few words: who does not hear everybody. */
export function brief(text: string): string {
  const parts = text.split("; "), all = parts.filter((p) => p.endsWith(" hears all")).length;
  if (all < 2) return text;
  return all === parts.length ? "all hear all" : [...parts.filter((p) => !p.endsWith(" hears all")), all === 1 ? "" : "the others hear all"].filter(Boolean).join("; ");
}

function Item({ node, indent }: { node: Node; indent: number }) {
  const onPath = store.chain(store.tip).some((n) => n.id === node.id);
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
  const at = list.findIndex((x) => x.node.id === store.current);
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
      <ul class="scroll tree" ref={tree} role="tree" aria-label="steps">{list.slice(from, from + 200).map((x) => <Item key={x.node.id} {...x} />)}</ul>
    </section>
  );
}
