// The history: a tree of the steps that were tried. A chain without branches is flat; branches are indented.
import { store, type Node } from "./store";

function Item({ node, indent }: { node: Node; indent: number }) {
  const onPath = store.chain(store.tip).some((n) => n.id === node.id);
  const now = node.id === store.current;
  return (
    <li role="treeitem" aria-level={indent + 1} aria-selected={now} class={[now && "now", onPath && "on-path", node.bad && "bad", node.id === store.other && "other"].filter(Boolean).join(" ")} style={{ paddingLeft: `${indent * 14 + 6}px` }}>
      <button class="node" title={node.label} data-node={node.id} onClick={() => void store.go(node.id)}><span class="number">{node.depth}</span> {node.label}</button>
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
  return (
    <section class="panel history" aria-label="history">
      <header><h2>History</h2><span class="faint number">{list.length - store.roots.length} {store.unit(list.length - store.roots.length)}</span><span class="spring" />
        <button class="quiet" title="Backspace or ←" disabled={!store.at(store.current)?.parent} onClick={() => store.undo()}>back</button>
        <button class="quiet" title="→" disabled={store.current === store.tip} onClick={() => store.redo()}>forward</button></header>
      {store.initials.length > 1 && <div class="initials"><label class="inline">starts from
        <select value={String(store.at(store.chain(store.current)[0]?.id ?? null)?.initial ?? "")} onChange={(e) => void store.begin(Number(e.currentTarget.value))} aria-label="initial state">
          {store.initials.map((i) => <option key={i.index} value={i.index}>{i.text || "the initial state"}</option>)}
        </select></label>{store.initialCount.n > store.initials.length && <span class="faint">{store.initials.length} of {store.initialCount.n}{store.initialCount.exact ? "" : " or more"}</span>}</div>}
      <ul class="scroll tree" role="tree" aria-label="steps">{list.slice(from, from + 200).map((x) => <Item key={x.node.id} {...x} />)}</ul>
    </section>
  );
}
