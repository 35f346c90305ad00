// The graph of reachable states, or of classes of them; where it is large, layers.
import { graphlib, layout } from "@dagrejs/dagre";
import { useEffect, useRef, useState } from "preact/hooks";
import { unfinished } from "./ahead";
import { stream, type Survey as Found } from "./api";
import { store } from "./store";
import { download, Line, standalone } from "./widgets";

type Survey = Found & { projected: boolean };
const exportMap = (svg: SVGSVGElement) => download("map.svg", "image/svg+xml", standalone(svg));

const DRAWN = 160, DRAWN_EDGES = 500, NAMED = 40;
const LINES = 5, WIDEST = 30;

/** A state on several lines, one for each process, with what is not as in the first state: "P(1): x = 1, at = swap; P(2): ..." */
function stateLabels(texts: string[]): string[][] {
  const parts = texts.map((text) => text.split("; ").flatMap((part) => {
    const colon = part.indexOf(": "), who = colon < 0 ? (/ = /.test(part) ? "" : part.split(" ")[0]) : part.slice(0, colon).split(" ")[0];
    const status = colon < 0 ? (who ? part.slice(who.length + 1) : "") : part.slice(who.length, colon).trim();
    const values = (colon < 0 ? (who ? "" : part) : part.slice(colon + 2)).split(/, (?=[A-Za-z_]\w* = )/).filter(Boolean);
    return [...(status ? [{ who, name: "status", value: status }] : []), ...values.map((v) => ({ who, name: v.split(" = ")[0], value: v.slice(v.indexOf(" = ") + 3) }))];
  }));
  const first = new Map(parts[0]?.map((v) => [`${v.who}.${v.name}`, v.value] as const));
  return parts.map((state, i) => {
    const lines = new Map<string, string[]>();
    for (const v of state.filter((x) => first.get(`${x.who}.${x.name}`) !== x.value)) lines.set(v.who, [...(lines.get(v.who) ?? []), v.name === "at" || v.name === "status" ? v.value : `${v.name} ${v.value}`]);
    const all = [...lines].map(([who, values]) => `${who}${who ? " " : ""}${values.join(", ")}`);
    if (!all.length) return [i ? "" : "start"];
    return (all.length > LINES ? [...all.slice(0, LINES - 1), "…"] : all).map((l) => (l.length > WIDEST ? l.slice(0, WIDEST - 1) + "…" : l));
  });
}

function Graph({ s, zoom }: { s: Survey; zoom: number }) {
  const g = new graphlib.Graph();
  g.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 46, marginx: 16, marginy: 16 });
  g.setDefaultEdgeLabel(() => ({}));
  const projected = s.projected, named = projected || s.classes.length <= NAMED;
  const texts = s.classes.map((c) => c.text);
  const labels = projected ? texts.map((t) => [t.length > WIDEST ? t.slice(0, WIDEST - 1) + "…" : t]) : named ? stateLabels(texts) : texts.map(() => []);
  const size = (lines: string[]) => (named ? { width: 14 + 6.7 * Math.max(1, ...lines.map((l) => l.length)), height: 10 + 14 * Math.max(1, lines.length) } : { width: 16, height: 16 });
  s.classes.forEach((_, i) => g.setNode(String(i), size(labels[i])));
  s.edges.forEach(([a, b]) => a !== b && g.setEdge(String(a), String(b)));
  layout(g);
  const all = g.edges().flatMap((e) => (g.edge(e) as { points: { x: number; y: number }[] }).points), graph = g.graph() as { width?: number; height?: number };
  const top = Math.min(0, ...all.map((p) => p.y - 8)), width = graph.width ?? 100, height = Math.max(graph.height ?? 100, ...all.map((p) => p.y + 8)) - top; // edges may leave the box of the nodes
  const visited = new Set(s.path.filter((x) => x !== null)), here = s.path[s.path.length - 1];
  const steps = new Set(s.path.slice(1).map((x, i) => `${s.path[i]} ${x}`));
  const chain = store.chain(store.current), visits = new Map<number, number>();
  s.path.forEach((c, i) => c !== null && chain[i] && visits.set(c, chain[i].id));
  const loops = new Set(s.edges.filter(([a, b]) => a === b).map(([a]) => a));
  const covers = new Set(store.info!.properties.filter((p) => p.kind === "cover").map((p) => p.name));
  const scale = zoom || Math.min(1, Math.max(named ? 0.8 : 0.3, ((document.querySelector(".map")?.clientWidth ?? width) - 24) / width));
  return (
    <svg class="map-graph" width={width * scale} height={height * scale} viewBox={`0 ${top} ${width} ${height}`} role="group" aria-label={`graph of ${s.classes.length} ${projected ? "classes" : "states"}`}>
      <defs>
        <marker id="map-head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 1L8 4L0 7z" /></marker>
        <marker id="map-head-taken" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="12" markerHeight="12" markerUnits="userSpaceOnUse" orient="auto"><path class="taken" d="M0 1L8 4L0 7z" /></marker>
      </defs>
      {g.edges().map((e) => {
        const points = (g.edge(e) as { points: { x: number; y: number }[] }).points, taken = steps.has(`${e.v} ${e.w}`);
        return <path key={`${e.v} ${e.w}`} class={"edge" + (taken ? " taken" : "")} d={"M" + points.map((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("L")} marker-end={taken ? "url(#map-head-taken)" : "url(#map-head)"} />;
      })}
      {s.classes.map((c, i) => {
        const n = g.node(String(i)) as { x: number; y: number; width: number; height: number };
        const lead = visits.get(i), bad = c.shown.filter((p) => !covers.has(p)), good = c.shown.filter((p) => covers.has(p));
        const cls = ["state", bad.length ? "shown" : good.length > 0 && "covered", c.final && "final", visited.has(i) && "visited", here === i && "here"].filter(Boolean).join(" ");
        const words = [c.text, `${c.states} ${c.states === 1 ? "state" : "states"}, first after ${c.depth}`, bad.length && `violated: ${bad.join(", ")}`, good.length && `reached: ${good.join(", ")}`, c.final && "nothing can happen here", loops.has(i) && "some steps stay here", lead && "click: back to this step"].filter(Boolean).join("\n");
        const go = () => lead && void store.go(lead);
        return (
          <g key={i} class={cls + (lead ? " reached" : "")} transform={`translate(${n.x} ${n.y})`} data-state={i} onClick={go} {...(lead ? { tabindex: 0, role: "button", "aria-label": words, onKeyDown: (e: KeyboardEvent) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); go(); } } } : {})}>
            <title>{words}</title>
            {c.final && <rect class="outer" x={-n.width / 2 - 3} y={-n.height / 2 - 3} width={n.width + 6} height={n.height + 6} rx="7" />}
            <rect x={-n.width / 2} y={-n.height / 2} width={n.width} height={n.height} rx="5" />
            {bad.length > 0 && <path class="corner" d={`M${n.width / 2 - 9} ${-n.height / 2}h9v9z`} />}
            {good.length > 0 && <circle class="reached-sign" cx={-n.width / 2 + 1} cy={-n.height / 2 + 1} r="4" />}
            {labels[i].map((l, k) => <text key={k} text-anchor="middle" y={4 + 14 * (k - (labels[i].length - 1) / 2)}>{l}</text>)}
          </g>
        );
      })}
    </svg>
  );
}

/** Where states are many: how many at each distance, and how far the states of the run are. */
function Layers({ s }: { s: Survey }) {
  const most = Math.max(...s.layers), chain = store.chain(store.current);
  const at = new Map<number, number[]>();
  s.path.forEach((c, i) => c !== null && chain[i] && at.set(s.classes[c].depth, [...(at.get(s.classes[c].depth) ?? []), i]));
  const here = s.path[s.path.length - 1], depth = here === null || here === undefined ? -1 : s.classes[here].depth;
  return (
    <table class="layers" aria-label="states by distance">
      <thead><tr><th scope="col">{store.unit(1)}</th><th scope="col" class="left">states</th><th /><th scope="col">of your run</th></tr></thead>
      <tbody>
        {s.layers.map((n, i) => <tr key={i} class={(i === depth ? "here " : "") + (at.has(i) ? "visited" : "")}><th scope="row">{i}</th><td><span class="bar" style={{ width: `${Math.max(1, (n / most) * 100)}%` }} /></td><td class="number">{n.toLocaleString("en")}</td>
          <td class="visits">{(at.get(i) ?? []).slice(0, 6).map((k) => <button key={k} class="link line" onClick={() => void store.go(chain[k].id)} title="back to this step">{k}</button>)}</td></tr>)}
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
      <button type="button" onClick={count} disabled={busy}>{busy ? "counting…" : "Coverage of lines"}</button>
      {c && <span role="status">{c.lines.size - idle.length} of {c.lines.size} lines run ({c.of}){idle.length > 0 && <>; {c.complete ? "never: " : "not yet: "}{idle.map((l) => <Line key={l} line={l} />)}</>}</span>}
      {c && <button type="button" class="mini" aria-label="remove the marks of the coverage" onClick={() => { store.coverage = null; store.changed(); }}>×</button>}
      {error && <span class="warning">{error}</span>}
    </div>
  );
}

export function MapView() {
  const projection = store.projection, setProjection = (text: string) => { store.projection = text; store.changed(); store.saveAddress(); };
  const [survey, setSurvey] = useState<Survey | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [zoom, setZoom] = useState(0); // 0: as wide as there is room
  const search = useRef<AbortController | null>(null), box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector(".here")?.scrollIntoView({ block: "center", inline: "center" }), [survey]);
  const draw = (text: string) => {
    search.current?.abort();
    const mine = (search.current = new AbortController());
    setBusy(true);
    setError(null);
    let answered = false;
    stream(`sessions/${store.session}/map`, { path: store.path(), projection: text || null, states: 20000 }, mine.signal, (event, data) => { answered = true; event === "map" ? setSurvey({ ...data, projected: Boolean(text) }) : setError(data.error.message); })
      .then(() => { if (!answered) throw new Error("no answer"); })
      .catch((e) => !mine.signal.aborted && setError(e.message))
      .finally(() => search.current === mine && setBusy(false));
  };
  useEffect(() => {
    if (store.session && store.current !== null && !store.fine) draw(projection);
    return () => search.current?.abort();
  }, [store.session, store.current]);
  const drawn = survey && survey.classes.length <= DRAWN && survey.edges.length <= DRAWN_EDGES;
  const enlarge = (by: number) => setZoom((z) => Math.min(3, Math.max(0.2, (z || (box.current?.querySelector("svg")?.getBoundingClientRect().width ?? 1) / Number(box.current?.querySelector("svg")?.viewBox.baseVal.width || 1)) * by)));
  const variables = [...new Set(store.look?.state.processes.flatMap((p) => p.values.map((v) => `${p.name.replace(/\(.*$/, "")} ${v.name}`)) ?? [])].filter((v) => !v.endsWith(" at"));
  return (
    <div class="map">
      <form class="tools" onSubmit={(e) => { e.preventDefault(); draw(projection); }}>
        <label class="inline grow">only <input class="grow" value={projection} onInput={(e) => setProjection(e.currentTarget.value)} placeholder="every state; or an expression: {p.decided for p in P}" aria-label="projection" /></label>
        {variables.slice(0, 4).map((v) => { const [role, name] = v.split(" "); const x = `{p.${name} for p in ${role}}`; return <button key={v} type="button" class="mini" onClick={() => { setProjection(x); draw(x); }}>{name}</button>; })}
        <button type="submit">Draw</button>
        {busy && <button type="button" onClick={() => search.current?.abort()}>stop</button>}
      </form>
      <CoverageOfLines />
      {store.fine && <p class="pad faint">There is no map of asynchronous rounds.</p>}
      {error && <pre class="warning pad">{error}</pre>}
      {busy && !survey && <p class="pad faint">searching…</p>}
      {survey && !error && (
        <>
          <div class="caption faint">
            <span>{survey.states.toLocaleString("en")} states{survey.complete ? "" : ` (${unfinished(survey)})`}, {survey.depth} {store.unit(survey.depth)} deep from the initial state{survey.projected ? `, ${survey.classes.length} ${survey.classes.length === 1 ? "class" : "classes"}` : ""}</span>
            {drawn && <span class="zoom"><button class="quiet" data-zoom="-" aria-label="smaller" onClick={() => enlarge(1 / 1.25)}>−</button><button class="quiet" data-zoom="0" onClick={() => setZoom(0)}>fit</button><button class="quiet" data-zoom="+" aria-label="larger" onClick={() => enlarge(1.25)}>+</button><button class="quiet" onClick={() => exportMap(box.current!.querySelector("svg")!)}>SVG</button></span>}
          </div>
          {drawn && <p class="caption faint signs"><span><i class="swatch-state visited" />your run (click to go there)</span><span><i class="swatch-state shown" />a property fails</span><span><i class="swatch-state covered" />a cover property is reached</span><span><i class="swatch-state final" />nothing can happen</span></p>}
          <div class="scroll" ref={box}>{drawn ? <Graph s={survey} zoom={zoom} /> : <><p class="pad faint">Too many to draw: states by distance. An expression above makes classes of them.</p><Layers s={survey} /></>}</div>
        </>
      )}
    </div>
  );
}
