// Two runs from where they part.
import { useEffect, useRef } from "preact/hooks";
import { drawing, parse } from "./diagram";
import { brief } from "./history";
import { StateTable, witnesses } from "./state";
import { store, type Node } from "./store";

function Steps({ title, nodes }: { title: string; nodes: Node[] }) {
  return <div class="steps"><h3>{title}</h3><ol>{nodes.map((n) => <li key={n.id} class={n.bad ? "bad" : ""}><span class="number">{n.depth}</span><button class="link" onClick={() => void store.go(n.id)}>{brief(n.label)}</button></li>)}</ol>{!nodes.length && <p class="faint">stays there</p>}</div>;
}

const DRAWN = 40;

/** The run that ends there, from where the two part. */
function Picture({ title, id, from }: { title: string; id: number; from: number }) {
  const host = useRef<HTMLDivElement>(null), length = store.chain(id).length - 1, first = Math.max(0, Math.min(from, length - 1), length - DRAWN);
  useEffect(() => {
    let stale = false;
    drawing({ from: first, to: length, fold: true }, id).then((svg) => !stale && host.current?.replaceChildren(parse(svg)), () => undefined);
    return () => { stale = true; };
  }, [store.session, id, first, length]);
  return <div class="picture"><h3>{title}</h3><div ref={host} role="region" aria-label={`diagram: ${title}`} /></div>;
}

export function Compare() {
  const other = store.at(store.other), look = store.look, otherLook = store.otherLook;
  if (!other || !look) return <p class="pad faint">Choose “compare” beside a step of the history to compare it with the current state.</p>;
  const mine = store.chain(store.current), theirs = store.chain(other.id);
  let common = 0;
  while (common < mine.length && common < theirs.length && mine[common].id === theirs[common].id) common++;
  const values = (l: typeof look) => new Map([...l.state.globals.map((g) => [`.${g.name}`, g.text] as const), ...l.state.processes.flatMap((p) => p.values.map((v) => [`${p.name}.${v.name}`, v.text] as const))]);
  const a = values(look), b = otherLook ? values(otherLook) : a;
  const differs = (p: string, v: string) => a.get(`${p}.${v}`) !== b.get(`${p}.${v}`);
  const changed = look.properties.properties.filter((p, i) => otherLook && p.shown !== otherLook.properties.properties[i]?.shown);
  return (
    <div class="compare scroll">
      <p class="pad">{common === 0 ? "They begin in different states." : <>They part after <button class="link" onClick={() => void store.go(mine[common - 1].id)}>{common - 1} {store.unit(common - 1)}</button>.</>}</p>
      {changed.length > 0 && <p class="pad differences">{changed.map((p) => <span key={p.name} class="tag bad">{p.name} {p.kind === "cover" ? "is reached" : "fails"} only in the {p.shown ? "current" : "other"} run</span>)}</p>}
      <div class="two"><Steps title="Current run" nodes={mine.slice(common)} /><Steps title="Other run" nodes={theirs.slice(common)} /></div>
      <div class="two">
        <StateTable state={look.state} marked={witnesses(look.properties.properties)} differs={differs} />
        {otherLook && <StateTable state={otherLook.state} marked={witnesses(otherLook.properties.properties)} differs={differs} />}
      </div>
      {!store.fine && <><Picture title="Current run" id={store.current!} from={Math.max(0, common - 1)} /><Picture title="Other run" id={other.id} from={Math.max(0, common - 1)} /></>}
      <p class="pad"><button class="quiet" onClick={() => { const o = store.other; const c = store.current; if (o !== null) void store.go(o).then(() => store.compareWith(c)); }}>swap</button> <button class="quiet" onClick={() => { void store.compareWith(null); store.setView("diagram"); }}>done</button></p>
    </div>
  );
}
