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

const words: Record<string, string> = { outside: "not assumed", unsafe: "it fails", open: "not known", safe: "it holds" };

function Plot({ answer, openTrace }: { answer: any; openTrace: (t: any) => void }) {
  const names = namesIn(answer.unsafe_when ?? "");
  const [x, setX] = useState(names[0] ?? ""), [y, setY] = useState(names[1] ?? "");
  const [fixed, setFixed] = useState<Record<string, number>>({});
  const all = [...new Set([...names, ...namesIn(answer.assuming ?? ""), ...namesIn(answer.safe_when ?? "")])], size = 12;
  let cells: preact.JSX.Element[] = [];
  try {
    const unsafe = condition(answer.unsafe_when), assuming = condition(answer.assuming || "true"), holds = condition(answer.safe_when || "false");
    for (let i = 0; i <= size; i++)
      for (let j = 0; j <= size; j++) {
        const v: Record<string, number> = { ...Object.fromEntries(all.map((n) => [n, fixed[n] ?? 1])), ...(x ? { [x]: i } : {}), ...(y ? { [y]: j } : {}) };
        const cls = !assuming(v) ? "outside" : unsafe(v) ? "unsafe" : holds(v) ? "safe" : "open";
        const left = 34 + i * 17, top = 4 + (size - j) * 17;
        cells.push(<rect key={`${i} ${j}`} class={cls} x={left} y={top} width="15" height="15"><title>{`${x} = ${i}, ${y} = ${j}: ${words[cls]}`}</title></rect>);
        if (cls === "unsafe") cells.push(<path key={`${i} ${j} x`} class="cross" d={`M${left + 4} ${top + 4}l7 7m0 -7l-7 7`} />);
      }
  } catch {
    cells = [];
  }
  const pick = (now: string, set: (s: string) => void) => <select value={now} onChange={(e) => set(e.currentTarget.value)}>{all.map((n) => <option key={n}>{n}</option>)}</select>;
  return (
    <div class="region">
      <div class="words">
        <p>{answer.unsafe_when === "false" ? <b class="good">it fails for no values</b> : <><b class="bad">fails when</b> <code>{answer.unsafe_when}</code></>}{answer.safe_when && <><br /><b class="good">holds when</b> <code>{answer.safe_when}</code></>}{answer.assuming && <><br /><span class="faint">assuming</span> <code>{answer.assuming}</code></>}{answer.edge_trace && <><br /><button class="mini" onClick={() => openTrace(answer.edge_trace)}>open a run at the edge</button></>}</p>
        {cells.length > 0 && names.length > 0 && <>
          <p class="axes">across {pick(x, setX)} up {pick(y, setY)} {all.filter((n) => n !== x && n !== y).map((n) => <label key={n}>{n} <input type="number" class="tiny" value={fixed[n] ?? 1} onInput={(e) => { const v = Number(e.currentTarget.value); setFixed((f) => ({ ...f, [n]: v })); }} /></label>)}</p>
          <p class="legend"><span class="swatch unsafe">✕</span> it fails <span class="swatch safe" /> it holds <span class="swatch open" /> not known <span class="swatch outside" /> not assumed</p>
        </>}
      </div>
      {cells.length > 0 && names.length > 0 && (
        <svg width={34 + (size + 1) * 17} height={24 + (size + 1) * 17} role="img" aria-label={`region in which it fails, by ${x} and ${y}`}>
          {cells}
          <text x={34 + (size + 1) * 17} y={18 + (size + 1) * 17} text-anchor="end" class="axis">{x} →</text><text x="2" y="12" class="axis">{y} ↑</text>
          {[0, 5, 10].map((k) => <g key={k}><text x={34 + k * 17 + 7} y={18 + (size + 1) * 17} text-anchor="middle">{k}</text><text x="28" y={16 + (size - k) * 17} text-anchor="end">{k}</text></g>)}
        </svg>
      )}
    </div>
  );
}

/** One row for each value of a parameter, one column for each property. */
function Table({ table, openTrace }: { table: { over: string; checks: Check[] }; openTrace: (t: any) => void }) {
  const several = new Set(table.checks.flatMap((c) => c.verdicts.map((v) => v.environment))).size > 1;
  const key = (v: Verdict) => v.property + (several && v.environment ? ` (${v.environment})` : "");
  const columns = [...new Set(table.checks.flatMap((c) => c.verdicts.map(key)))];
  return (
    <div class="scroll-x"><table class="verdicts matrix"><caption>by {table.over}</caption>
      <thead><tr><th scope="col">{table.over}</th>{columns.map((k) => <th scope="col" key={k}>{k}</th>)}<th scope="col" class="right">states</th></tr></thead>
      <tbody>{table.checks.map((c, i) => (
        <tr key={i}><th scope="row">{c.params[table.over]}</th>
          {columns.map((k) => {
            const v = c.verdicts.find((x) => key(x) === k);
            return (
              <td key={k} class={v?.verdict} title={v ? `${v.verdict}, ${v.proved}` : undefined}>
                {v && <><i aria-hidden="true">{signs[v.verdict]}</i> {v.trace ? <button class="link" onClick={() => openTrace(v.trace)} title="open the run">{v.verdict}</button> : v.verdict}</>}
              </td>
            );
          })}
          <td class="right faint">{c.failure ? <span class="warning">{c.failure}</span> : c.done ? c.states?.toLocaleString("en") : c.progress || "…"}</td></tr>
      ))}</tbody></table></div>
  );
}

const reductions = "symmetry partition order message-order round-rank round-window dead-variables values dead-messages loss partial-order relays merging".split(" ");

export function Verdicts() {
  const [checks, setChecks] = useState<Check[]>([]);
  const [table, setTable] = useState<{ over: string; checks: Check[] } | null>(null);
  const [params, setParams] = useState<Record<string, string>>({});
  const [environment, setEnvironment] = useState("");
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
  const instance = Object.fromEntries(Object.entries(info.params).map(([k, v]) => [k, String(v)]));
  const values = { ...instance, ...params };
  /** Those that follow from others are left out, unless somebody gave them a value. */
  const given = Object.fromEntries(Object.entries(values).filter(([k]) => k in store.params || k in params));
  const safety = info.properties.filter((p) => p.kind === "safety"), goal = property || safety[0]?.name;
  const env = environment === "" ? info.environment : environment === "*" ? null : environment;
  const openTrace = (trace: any) => { store.setView("diagram"); void store.openTrace(trace); };

  const checkOne = async (p: Record<string, string>, signal: AbortSignal, begun: (c: Check) => void) => {
    const c: Check = { params: p, progress: "", verdicts: [], done: false, failure: null, states: null, seconds: null, reductions: [] };
    begun(c);
    const update = () => { setChecks((all) => [...all]); setTable((now) => now && { ...now }); };
    const options = { "max-time": `${Number(time) || 60}s`, reduce, ...(env ? { env } : {}), ...(info.kind === "shared" ? {} : { semantics: info.semantics }) };
    await stream("check", { ...store.request(), environment: env, params: p, options }, signal, (event, data) => {
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
  const makeTable = () => start(async (signal) => {
    const [low, high] = range.split("..").map(Number), name = over || Object.keys(values)[0];
    if (!Number.isInteger(low)) return;
    setTable({ over: name, checks: [] });
    for (let n = low; n <= Math.min(high || low, low + 30) && !signal.aborted; n++)
      await checkOne({ ...given, [name]: String(n) }, signal, (c) => setTable((now) => ({ over: name, checks: [...(now?.over === name ? now.checks : []), c] })));
  });
  /** Parameters that must have a value get that of the slider. */
  const threshold = () => start(async (signal) => {
    setRegion(null);
    let fixed: Record<string, boolean> = { ...free }, again = true;
    for (let tries = 0; again && tries <= Object.keys(values).length; tries++) {
      again = false;
      const p = Object.fromEntries(Object.entries(values).filter(([k]) => !(fixed[k] ?? true)));
      await stream("threshold", { ...store.request(), environment: env, params: p, property: goal, options: { "max-time": `${Number(time) || 60}s`, ...(env ? { env } : {}) } }, signal, (event, data) => {
        if (event === "progress") setRegion({ progress: data.text });
        const messages = data.answer?.diagnostics ?? (event === "failure" ? [{ message: data.error.message }, ...(data.diagnostics ?? [])] : []);
        const needed = messages.map((d: any) => /^the parameter '(\w+)' .*cannot be left free/.exec(d.message)?.[1]).find((n: string | undefined) => n && n in values && (fixed[n] ?? true));
        if (needed) { fixed = { ...fixed, [needed]: false }; again = true; setFree(fixed); }
        else if (event === "failure") setRegion({ diagnostics: messages });
        else if (event === "result") setRegion(data.answer);
      });
    }
  });
  return (
    <div class="verdict-view scroll">
      <div class="form">
        {Object.entries(values).map(([name, v]) => (
          <label key={name} class="slider">{name} <input type="range" min="0" max={Math.max(8, Number(v) + 2)} value={Number(v)} onInput={(e) => { const w = e.currentTarget.value; setParams((p) => ({ ...p, [name]: w })); }} /> <output>{v}</output></label>
        ))}
        {Object.keys(params).length > 0 && <button class="quiet" onClick={() => setParams({})}>as in the run</button>}
      </div>
      <div class="form">
        <label class="inline">environment <select value={environment} onChange={(e) => setEnvironment(e.currentTarget.value)}><option value="">{info.environment} (the run's)</option><option value="*">as the properties say</option>{info.environments.filter((x) => x !== info.environment).map((x) => <option key={x}>{x}</option>)}</select></label>
        <label class="inline">reductions <select value={reduce} onChange={(e) => setReduce(e.currentTarget.value)}><option>auto</option><option>none</option>{reductions.map((r) => <option key={r} value={r}>only {r}</option>)}</select></label>
        <label class="inline">seconds <input class="tiny" type="number" min="1" value={time} onInput={(e) => setTime(e.currentTarget.value)} /></label>
        <button class="primary" onClick={() => void start((s) => checkOne(given, s, (c) => setChecks((all) => [c, ...all])))}>Check</button>
        {busy && <button class="quiet" onClick={() => work.current?.abort()}>stop</button>}
      </div>
      <div class="form">
        {Object.keys(values).length > 0 && <><label class="inline">table over <select value={over || Object.keys(values)[0]} onChange={(e) => setOver(e.currentTarget.value)}>{Object.keys(values).map((n) => <option key={n}>{n}</option>)}</select></label>
          <input class="small" value={range} onInput={(e) => setRange(e.currentTarget.value)} aria-label="range" /> <button onClick={() => void makeTable()}>Table</button><span class="divider" /></>}
        {safety.length > 0 && <><label class="inline">threshold of <select value={goal} onChange={(e) => setProperty(e.currentTarget.value)}>{safety.map((p) => <option key={p.name}>{p.name}</option>)}</select></label>
          {Object.keys(values).map((n) => <label key={n} class="inline"><input type="checkbox" checked={free[n] ?? true} onChange={(e) => { const on = e.currentTarget.checked; setFree((f) => ({ ...f, [n]: on })); }} /> {n} free</label>)}
          <button onClick={() => void threshold()}>Threshold</button></>}
      </div>
      {region && (region.unsafe_when ? <Plot answer={region} openTrace={openTrace} /> : region.progress ? <p class="faint pad" role="status">{region.progress}</p> : <p class="warning pad" role="status">{(region.diagnostics ?? []).map((d: any) => d.message + (d.help ? ` (${d.help})` : "")).join("; ") || region.verdict || "nothing was found"}</p>)}
      {table && <Table table={table} openTrace={openTrace} />}
      {checks.map((c, i) => <Result key={checks.length - i} c={c} openTrace={openTrace} />)}
      {!checks.length && !region && !table && <p class="pad faint">Verdicts of rondo check appear here as they are found. A counterexample can be opened, and continued differently at any step.</p>}
    </div>
  );
}
