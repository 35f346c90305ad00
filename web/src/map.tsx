// The graph of reachable states, or of classes of them; where it is large, layers.
import { graphlib, layout } from "@dagrejs/dagre";
import { useEffect, useRef, useState } from "preact/hooks";
import { stream, type Survey } from "./api";
import { store } from "./store";

const DRAWN = 160;

function Graph({ s }: { s: Survey }) {
  const g = new graphlib.Graph();
  g.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 46, marginx: 16, marginy: 16 });
  g.setDefaultEdgeLabel(() => ({}));
  const label = (text: string) => (text.length > 26 ? text.slice(0, 25) + "…" : text);
  const projected = s.classes.length < s.states;
  s.classes.forEach((c, i) => g.setNode(String(i), projected || s.classes.length <= 40 ? { width: 14 + 6.6 * Math.min(26, c.text.length || 1), height: 24 } : { width: 16, height: 16 }));
  s.edges.forEach(([a, b]) => a !== b && g.setEdge(String(a), String(b)));
  layout(g);
  const { width = 100, height = 100 } = g.graph() as { width?: number; height?: number };
  const visited = new Set(s.path.filter((x) => x !== null)), here = s.path[s.path.length - 1];
  const steps = new Set(s.path.slice(1).map((x, i) => `${s.path[i]} ${x}`));
  const loops = new Set(s.edges.filter(([a, b]) => a === b).map(([a]) => a));
  return (
    <svg class="map-graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`graph of ${s.classes.length} ${projected ? "classes" : "states"}`}>
      <defs><marker id="map-head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 1L8 4L0 7z" /></marker></defs>
      {g.edges().map((e) => {
        const points = (g.edge(e) as { points: { x: number; y: number }[] }).points;
        return <path key={`${e.v} ${e.w}`} class={"edge" + (steps.has(`${e.v} ${e.w}`) ? " taken" : "")} d={"M" + points.map((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("L")} marker-end="url(#map-head)" />;
      })}
      {s.classes.map((c, i) => {
        const n = g.node(String(i)) as { x: number; y: number; width: number; height: number };
        const cls = ["state", c.shown.length && "shown", c.final && "final", visited.has(i) && "visited", here === i && "here"].filter(Boolean).join(" ");
        return (
          <g key={i} class={cls} transform={`translate(${n.x} ${n.y})`}>
            <title>{c.text}{`\n${c.states} ${c.states === 1 ? "state" : "states"}, first after ${c.depth}`}{c.shown.length ? `\n${c.shown.join(", ")}` : ""}{c.final ? "\nnothing can happen here" : ""}{loops.has(i) ? "\nsome steps stay here" : ""}</title>
            <rect x={-n.width / 2} y={-n.height / 2} width={n.width} height={n.height} rx="5" />
            {n.width > 20 && <text text-anchor="middle" dy="4">{label(c.text)}</text>}
          </g>
        );
      })}
    </svg>
  );
}

function Layers({ s }: { s: Survey }) {
  const most = Math.max(...s.layers);
  const position = store.look?.position ?? -1;
  return (
    <table class="layers" aria-label="states by distance"><tbody>
      {s.layers.map((n, i) => <tr key={i} class={i === position ? "here" : ""}><th scope="row">{i}</th><td><span class="bar" style={{ width: `${Math.max(1, (n / most) * 100)}%` }} /></td><td class="number">{n.toLocaleString("en")}</td></tr>)}
    </tbody></table>
  );
}

export function MapView() {
  const [projection, setProjection] = useState("");
  const [survey, setSurvey] = useState<Survey | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const search = useRef<AbortController | null>(null);
  const draw = (text: string) => {
    search.current?.abort();
    const mine = (search.current = new AbortController());
    setBusy(true);
    setError(null);
    stream(`sessions/${store.session}/map`, { path: store.path(), projection: text || null, states: 20000 }, mine.signal, (event, data) => (event === "map" ? setSurvey(data) : setError(data.error.message)))
      .catch((e) => !mine.signal.aborted && setError(e.message))
      .finally(() => search.current === mine && setBusy(false));
  };
  useEffect(() => {
    if (store.session && store.current !== null && !store.fine) draw(projection);
    return () => search.current?.abort();
  }, [store.session, store.current]);
  const variables = [...new Set(store.look?.state.processes.flatMap((p) => p.values.map((v) => `${p.name.replace(/\(.*$/, "")} ${v.name}`)) ?? [])].filter((v) => !v.endsWith(" at"));
  return (
    <div class="map">
      <form class="tools" onSubmit={(e) => { e.preventDefault(); draw(projection); }}>
        <label class="inline grow">only <input class="grow" value={projection} onInput={(e) => setProjection(e.currentTarget.value)} placeholder="every state; or an expression: {p.decided for p in P}" aria-label="projection" /></label>
        {variables.slice(0, 4).map((v) => { const [role, name] = v.split(" "); const x = `{p.${name} for p in ${role}}`; return <button key={v} type="button" class="mini" onClick={() => { setProjection(x); draw(x); }}>{name}</button>; })}
        <button class="quiet" type="submit">draw</button>
        {busy && <button class="quiet" type="button" onClick={() => search.current?.abort()}>stop</button>}
      </form>
      {store.fine && <p class="pad faint">There is no map of asynchronous rounds.</p>}
      {error && <pre class="warning pad">{error}</pre>}
      {busy && !survey && <p class="pad faint">searching…</p>}
      {survey && !error && (
        <>
          <p class="faint caption">{survey.states.toLocaleString("en")} states{survey.complete ? "" : ` (${survey.why})`}, {survey.depth} {store.unit(survey.depth)} deep from the initial state{survey.classes.length < survey.states ? `, ${survey.classes.length} classes` : ""}. Ringed: where you have been; red: a property fails; bold: nothing can happen.</p>
          <div class="scroll">{survey.classes.length <= DRAWN ? <Graph s={survey} /> : <><p class="pad faint">Too many to draw: states by distance. An expression above makes classes of them.</p><Layers s={survey} /></>}</div>
        </>
      )}
    </div>
  );
}
