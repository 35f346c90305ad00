// The graph of reachable states, or of classes of them; where it is large, layers.
import { graphlib, layout } from "@dagrejs/dagre";
import { useEffect, useRef, useState } from "preact/hooks";
import { stream, type Survey } from "./api";
import { store } from "./store";
import { Line } from "./widgets";

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
  const chain = store.chain(store.current), visits = new Map<number, number>();
  s.path.forEach((c, i) => c !== null && chain[i] && visits.set(c, chain[i].id));
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
        const lead = visits.get(i);
        const cls = ["state", c.shown.length && "shown", c.final && "final", visited.has(i) && "visited", here === i && "here"].filter(Boolean).join(" ");
        return (
          <g key={i} class={cls + (lead ? " reached" : "")} transform={`translate(${n.x} ${n.y})`} data-state={i} onClick={() => lead && void store.go(lead)}>
            <title>{c.text}{`\n${c.states} ${c.states === 1 ? "state" : "states"}, first after ${c.depth}`}{c.shown.length ? `\n${c.shown.join(", ")}` : ""}{c.final ? "\nnothing can happen here" : ""}{loops.has(i) ? "\nsome steps stay here" : ""}{lead ? "\nclick: back to this step" : ""}</title>
            {c.final && <rect class="outer" x={-n.width / 2 - 3} y={-n.height / 2 - 3} width={n.width + 6} height={n.height + 6} rx="7" />}
            <rect x={-n.width / 2} y={-n.height / 2} width={n.width} height={n.height} rx="5" />
            {c.shown.length > 0 && <path class="corner" d={`M${n.width / 2 - 9} ${-n.height / 2}h9v9z`} />}
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

/** Which lines run at all: counted over all states, without reductions; the marks are in the model. */
function CoverageOfLines() {
  const [busy, setBusy] = useState(false), [error, setError] = useState<string | null>(null);
  const work = useRef<AbortController | null>(null), c = store.coverage;
  useEffect(() => () => work.current?.abort(), []);
  const count = () => {
    work.current?.abort();
    const mine = (work.current = new AbortController()), info = store.info!;
    const params = Object.fromEntries(Object.entries(info.params).map(([k, v]) => [k, String(v)]));
    setBusy(true);
    setError(null);
    stream("check", { ...store.request(), params, options: { env: info.environment, ...(info.kind === "shared" ? {} : { semantics: info.semantics }), "max-time": "20s", coverage: true } }, mine.signal, (event, data) => {
      const found = data.answer?.coverage;
      if (event === "failure" || (event === "result" && !found?.lines)) setError(data.error?.message ?? found?.unknown ?? data.answer?.diagnostics?.[0]?.message ?? "nothing is known");
      else if (event === "result") {
        const lines = new Map<number, number>(found.lines.map((l: { line: number; steps: number }) => [l.line, l.steps]));
        store.coverage = { of: `${found.steps.toLocaleString("en")} steps from ${found.states.toLocaleString("en")} states${found.complete ? "" : ", not all"}`, complete: found.complete, lines, never: new Set(found.never.map((x: { line: number }) => x.line)) };
        store.changed();
      }
    }).catch((e) => !mine.signal.aborted && setError(e.message)).finally(() => work.current === mine && setBusy(false));
  };
  const idle = c ? [...c.lines].filter(([, n]) => n === 0).map(([l]) => l) : [];
  return (
    <div class="tools">
      <button type="button" class="quiet" onClick={count} disabled={busy}>{busy ? "counting…" : "Coverage of lines"}</button>
      {c && <span role="status">{c.lines.size - idle.length} of {c.lines.size} lines run ({c.of}){idle.length > 0 && <>; {c.complete ? "never: " : "not yet: "}{idle.map((l) => <Line key={l} line={l} />)}</>}</span>}
      {c && <button type="button" class="mini" aria-label="remove the marks of the coverage" onClick={() => { store.coverage = null; store.changed(); }}>×</button>}
      {error && <span class="warning">{error}</span>}
    </div>
  );
}

export function MapView() {
  const projection = store.projection, setProjection = (text: string) => { store.projection = text; store.changed(); };
  const [survey, setSurvey] = useState<Survey | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const search = useRef<AbortController | null>(null), box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector(".here")?.scrollIntoView({ block: "center", inline: "center" }), [survey]);
  const draw = (text: string) => {
    search.current?.abort();
    const mine = (search.current = new AbortController());
    setBusy(true);
    setError(null);
    let answered = false;
    stream(`sessions/${store.session}/map`, { path: store.path(), projection: text || null, states: 20000 }, mine.signal, (event, data) => { answered = true; event === "map" ? setSurvey(data) : setError(data.error.message); })
      .then(() => { if (!answered) throw new Error("no answer"); })
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
      <CoverageOfLines />
      {store.fine && <p class="pad faint">There is no map of asynchronous rounds.</p>}
      {error && <pre class="warning pad">{error}</pre>}
      {busy && !survey && <p class="pad faint">searching…</p>}
      {survey && !error && (
        <>
          <p class="faint caption">{survey.states.toLocaleString("en")} states{survey.complete ? "" : ` (${survey.why})`}, {survey.depth} {store.unit(survey.depth)} deep from the initial state{survey.classes.length < survey.states ? `, ${survey.classes.length} classes` : ""}. Blue: where you have been (click to go there); red, with a corner: a property fails; double: nothing can happen.</p>
          <div class="scroll" ref={box}>{survey.classes.length <= DRAWN ? <Graph s={survey} /> : <><p class="pad faint">Too many to draw: states by distance. An expression above makes classes of them.</p><Layers s={survey} /></>}</div>
        </>
      )}
    </div>
  );
}
