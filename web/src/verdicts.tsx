// Checks from the page: progress and verdicts as they come, a table over a parameter, the region of a threshold.
import { useRef, useState } from "preact/hooks";
import { stream } from "./api";
import { condition, namesIn } from "./region";
import { store } from "./store";

type Verdict = { property: string; environment: string | null; verdict: string; proved: string; final: boolean; trace?: any };
type Check = { params: Record<string, string>; progress: string; verdicts: Verdict[]; done: boolean; failure: string | null; states: number | null; seconds: number | null; reductions: string[] };
const signs: Record<string, string> = { holds: "✓", violated: "✕", inconclusive: "?" };

function readResult(c: Check, data: any): void {
  const answer = data.answer ?? {};
  c.done = true;
  c.progress = "";
  if (answer.properties) {
    c.verdicts = answer.properties.map((p: any) => ({ property: p.name, environment: p.environment, verdict: p.verdict, proved: p.proved, final: true, trace: p.trace }));
    const runs = [answer, ...(answer.runs ?? [])].filter((r: any) => r.stats);
    c.states = answer.stats?.states ?? runs[0]?.stats.states ?? null;
    c.seconds = answer.stats?.seconds ?? runs[0]?.stats.seconds ?? null;
    c.reductions = (answer.reductions ?? []).filter((r: any) => r.applied).map((r: any) => r.name);
  } else c.failure = (answer.diagnostics ?? []).map((d: any) => d.message).join("; ") || "no answer";
}

function Result({ c, openTrace }: { c: Check; openTrace: (t: any) => void }) {
  return (
    <table class="verdicts"><caption>{Object.entries(c.params).map(([k, v]) => `${k} = ${v}`).join(", ") || "no parameters"}{c.done && c.states !== null && <span class="faint"> · {c.states.toLocaleString("en")} states, {c.seconds?.toFixed(2)} s{c.reductions.length ? ` · ${c.reductions.join(", ")}` : ""}</span>}</caption>
      <tbody>
        {c.verdicts.map((v, i) => (
          <tr key={i} class={v.verdict}><td class="sign"><i aria-hidden="true">{signs[v.verdict]}</i></td><th scope="row">{v.property}</th><td>{v.verdict}</td><td class="faint">{v.proved}</td><td class="faint">{v.environment}</td>
            <td>{v.trace && <button class="mini" onClick={() => openTrace(v.trace)}>open the run</button>}</td></tr>
        ))}
        {!c.done && <tr><td class="sign">…</td><td colSpan={5} class="faint" role="status">{c.progress || "searching"}</td></tr>}
        {c.failure && <tr><td class="sign">!</td><td colSpan={5} class="warning">{c.failure}</td></tr>}
      </tbody></table>
  );
}

function Plot({ answer }: { answer: any }) {
  const names = namesIn(answer.unsafe_when ?? "");
  const [x, setX] = useState(names[0] ?? ""), [y, setY] = useState(names[1] ?? "");
  const [fixed, setFixed] = useState<Record<string, number>>({});
  const all = [...new Set([...names, ...namesIn(answer.assuming ?? "")])], size = 15;
  let cells: preact.JSX.Element[] = [];
  try {
    const unsafe = condition(answer.unsafe_when), assuming = condition(answer.assuming || "true");
    for (let i = 0; i <= size; i++)
      for (let j = 0; j <= size; j++) {
        const v: Record<string, number> = { ...Object.fromEntries(all.map((n) => [n, fixed[n] ?? 1])), ...(x ? { [x]: i } : {}), ...(y ? { [y]: j } : {}) };
        const cls = !assuming(v) ? "outside" : unsafe(v) ? "unsafe" : answer.safe_when === null ? "open" : "safe";
        cells.push(<rect key={`${i} ${j}`} class={cls} x={34 + i * 17} y={4 + (size - j) * 17} width="15" height="15"><title>{`${x} = ${i}, ${y} = ${j}: ${cls === "outside" ? "not assumed" : cls}`}</title></rect>);
      }
  } catch {
    cells = [];
  }
  const pick = (now: string, set: (s: string) => void) => <select value={now} onChange={(e) => set(e.currentTarget.value)}>{all.map((n) => <option key={n}>{n}</option>)}</select>;
  return (
    <div class="region">
      <p><b class="bad">fails when</b> <code>{answer.unsafe_when}</code>{answer.safe_when && <><br /><b class="good">holds when</b> <code>{answer.safe_when}</code></>}{answer.assuming && <><br /><span class="faint">assuming</span> <code>{answer.assuming}</code></>}</p>
      {cells.length > 0 && names.length > 0 && (
        <>
          <p class="inline">across {pick(x, setX)} up {pick(y, setY)} {all.filter((n) => n !== x && n !== y).map((n) => <label key={n}>{n} <input type="number" class="tiny" value={fixed[n] ?? 1} onInput={(e) => { const v = Number(e.currentTarget.value); setFixed((f) => ({ ...f, [n]: v })); }} /></label>)}</p>
          <svg width={34 + (size + 1) * 17} height={24 + (size + 1) * 17} role="img" aria-label={`region in which it fails, by ${x} and ${y}`}>
            {cells}
            {[0, 5, 10, 15].map((k) => <g key={k}><text x={34 + k * 17 + 7} y={18 + (size + 1) * 17} text-anchor="middle">{k}</text><text x="28" y={16 + (size - k) * 17} text-anchor="end">{k}</text></g>)}
          </svg>
        </>
      )}
    </div>
  );
}

export function Verdicts() {
  const [checks, setChecks] = useState<Check[]>([]);
  const [params, setParams] = useState<Record<string, string>>({});
  const [reduce, setReduce] = useState("auto");
  const [time, setTime] = useState("60");
  const [over, setOver] = useState("");
  const [range, setRange] = useState("2..5");
  const [property, setProperty] = useState("");
  const [free, setFree] = useState<Record<string, boolean>>({});
  const [region, setRegion] = useState<any>(null);
  const [busy, setBusy] = useState(false);
  const work = useRef<AbortController | null>(null);
  const info = store.info;
  if (!info) return null;
  const values = { ...Object.fromEntries(Object.entries(info.params).map(([k, v]) => [k, String(v)])), ...params };
  const given = Object.fromEntries(Object.entries(values).filter(([k]) => k in store.params || k in params));
  const openTrace = (trace: any) => { store.setView("diagram"); void store.open(null, null, trace); };

  const checkOne = async (p: Record<string, string>, signal: AbortSignal) => {
    const c: Check = { params: p, progress: "", verdicts: [], done: false, failure: null, states: null, seconds: null, reductions: [] };
    setChecks((all) => [c, ...all]);
    const update = () => setChecks((all) => [...all]);
    await stream("check", { ...store.request(), params: p, options: { "max-time": `${Number(time) || 60}s`, reduce, ...(store.environment ? { env: store.environment } : {}), ...(store.semantics ? { semantics: store.semantics } : {}) } }, signal, (event, data) => {
      if (event === "progress") c.progress = data.text;
      if (event === "verdict") c.verdicts = [...c.verdicts.filter((v) => v.property !== data.property || v.environment !== data.environment), data];
      if (event === "result") readResult(c, data);
      if (event === "failure") { c.failure = [data.error.message, ...(data.diagnostics ?? []).map((d: any) => d.message)].join(": "); c.done = true; }
      update();
    }).catch(() => { c.failure = "stopped"; c.done = true; update(); });
  };
  const start = async (f: (signal: AbortSignal) => Promise<void>) => {
    work.current?.abort();
    const mine = (work.current = new AbortController());
    setBusy(true);
    await f(mine.signal).catch((e) => store.fail(e));
    if (work.current === mine) setBusy(false);
  };
  const table = () => start(async (signal) => {
    const [low, high] = range.split("..").map(Number);
    for (let n = low; n <= Math.min(high, low + 30) && !signal.aborted; n++) await checkOne({ ...given, [over || Object.keys(values)[0]]: String(n) }, signal);
  });
  const threshold = () => start(async (signal) => {
    setRegion(null);
    const p = Object.fromEntries(Object.entries(given).filter(([k]) => !(free[k] ?? true)));
    await stream("threshold", { ...store.request(), params: p, property: property || info.properties.find((x) => x.kind === "safety")?.name, options: { "max-time": `${Number(time) || 60}s`, ...(store.environment ? { env: store.environment } : {}) } }, signal, (event, data) => {
      if (event === "result") setRegion(data.answer);
      if (event === "failure") setRegion({ diagnostics: [{ message: data.error.message }] });
    });
  });
  return (
    <div class="verdict-view scroll">
      <div class="form">
        {Object.entries(values).map(([name, v]) => (
          <label key={name} class="slider">{name} <input type="range" min="0" max={Math.max(8, Number(v) + 2)} value={Number(v)} onInput={(e) => { const w = e.currentTarget.value; setParams((p) => ({ ...p, [name]: w })); }} /> <output>{v}</output></label>
        ))}
        <label class="inline">reductions <select value={reduce} onChange={(e) => setReduce(e.currentTarget.value)}><option>auto</option><option>none</option></select></label>
        <label class="inline">seconds <input class="tiny" type="number" min="1" value={time} onInput={(e) => setTime(e.currentTarget.value)} /></label>
        <button class="primary" onClick={() => void start((s) => checkOne(given, s))}>Check</button>
        {busy && <button class="quiet" onClick={() => work.current?.abort()}>stop</button>}
      </div>
      <div class="form">
        {Object.keys(values).length > 0 && <><label class="inline">table over <select value={over || Object.keys(values)[0]} onChange={(e) => setOver(e.currentTarget.value)}>{Object.keys(values).map((n) => <option key={n}>{n}</option>)}</select></label>
          <input class="small" value={range} onInput={(e) => setRange(e.currentTarget.value)} aria-label="range" /> <button class="quiet" onClick={() => void table()}>Table</button></>}
        <span class="divider" />
        <label class="inline">threshold of <select value={property || info.properties.find((x) => x.kind === "safety")?.name} onChange={(e) => setProperty(e.currentTarget.value)}>{info.properties.filter((p) => p.kind === "safety").map((p) => <option key={p.name}>{p.name}</option>)}</select></label>
        {Object.keys(given).map((n) => <label key={n} class="inline"><input type="checkbox" checked={free[n] ?? true} onChange={(e) => { const on = e.currentTarget.checked; setFree((f) => ({ ...f, [n]: on })); }} /> {n} free</label>)}
        <button class="quiet" onClick={() => void threshold()}>Threshold</button>
      </div>
      {region && (region.unsafe_when ? <Plot answer={region} /> : <p class="warning pad">{(region.diagnostics ?? []).map((d: any) => d.message + (d.help ? ` (${d.help})` : "")).join("; ")}</p>)}
      {checks.map((c, i) => <Result key={checks.length - i} c={c} openTrace={openTrace} />)}
      {!checks.length && !region && <p class="pad faint">Verdicts of rondo check appear here as they are found. A counterexample can be opened, and continued differently at any step.</p>}
    </div>
  );
}
