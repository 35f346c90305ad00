// The state: variables by processes, properties with their witnesses, watch expressions along the path.
import { useEffect, useState } from "preact/hooks";
import type { Process, State, Status } from "./api";
import { brief } from "./history";
import { store } from "./store";
import { Line, showLine } from "./widgets";

/** The cells that a violation is about: what its innermost part reads, and of the processes that it names, the variables that it names. */
export function witnesses(properties: Status[]): Set<string> {
  const out = new Set<string>();
  for (const p of properties.filter((x) => x.shown && x.kind !== "cover")) {
    for (const r of p.reads) out.add(r.split(" = ")[0]);
    const line = p.at ? (store.text.split("\n")[p.at.line - 1] ?? "") : "";
    const variables = [...line.matchAll(/\.(\w+)/g)].map((m) => m[1]);
    for (const b of p.bindings) for (const v of variables) out.add(`${b.split(" = ")[1]}.${v}`);
  }
  return out;
}

const role = (name: string) => name.replace(/\(.*$/, "");

export function StateTable({ state, marked, differs }: { state: State; marked: Set<string>; differs?: (process: string, variable: string) => boolean }) {
  const roles = new Map<string, Process[]>();
  state.processes.forEach((p) => roles.set(role(p.name), [...(roles.get(role(p.name)) ?? []), p]));
  const cls = (key: string, changed: boolean, other: boolean) => [changed && "changed", marked.has(key) && "witness", other && "differs"].filter(Boolean).join(" ");
  return (
    <div class="states">
      {state.globals.length > 0 && (
        <table class="state"><tbody>{state.globals.map((g) => <tr key={g.name}><th scope="row">{g.name}</th><td class={cls(g.name, g.changed, differs?.("", g.name) ?? false)}>{g.text}</td></tr>)}</tbody></table>
      )}
      {[...roles].map(([name, list]) => {
        const variables = [...new Set(list.flatMap((p) => p.values.map((v) => v.name)))];
        const status = list.some((p) => p.status);
        return (
          <table class="state" key={name}>
            <thead><tr><th scope="col"><span class="faint">{name}</span></th>{list.map((p) => <th scope="col" key={p.name} class={p.active ? "" : "inactive"}>{p.name.slice(name.length) || p.name}</th>)}</tr></thead>
            <tbody>
              {status && <tr><th scope="row" class="faint">status</th>{list.map((p) => <td key={p.name} class={cls(`${p.name}.status`, p.changed, false) + (p.status ? " status" : "")}>{p.status}</td>)}</tr>}
              {variables.map((v) => (
                <tr key={v}><th scope="row">{v}</th>
                  {list.map((p) => {
                    const value = p.values.find((x) => x.name === v);
                    return <td key={p.name} class={cls(`${p.name}.${v}`, value?.changed ?? false, differs?.(p.name, v) ?? false) + ((value?.text.length ?? 0) <= 24 ? " short" : "")} title={`${p.name}.${v}`}>{value?.text ?? ""}</td>;
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        );
      })}
    </div>
  );
}

function PropertyRow({ p }: { p: Status }) {
  const bad = p.shown && p.kind !== "cover", good = p.shown && p.kind === "cover";
  const word = bad ? "violated" : good ? "reached" : p.verdict === "error" ? "error" : p.verdict === "not_asked" ? "–" : p.kind === "cover" ? "not here" : p.kind === "live" ? "holds of it" : "holds here";
  return (
    <li class={(bad ? "bad" : good ? "good" : "") + (p.applies ? "" : " elsewhere")}>
      <i aria-hidden="true">{bad ? "✕" : good ? "✓" : p.verdict === "error" ? "!" : "·"}</i>
      <button class="link" onClick={() => p.at && showLine(p.at.line)} title={`${p.kind}${p.step ? ", about steps" : ""}${p.applies ? "" : "; not checked in this environment"}`}>{p.name.split("_").flatMap((word, i) => (i ? [<wbr />, `_${word}`] : [word]))}</button>
      <span class="verdict" title={p.why ?? ""}>{word}</span>
      {bad && !p.applies && <span class="note">not checked in this environment</span>}
      {bad && (p.bindings.length > 0 || p.reads.length > 0) && <span class="why">{[...p.bindings, ...p.reads].join(", ")}</span>}
      {p.kind === "live" && p.why && store.loopAt(store.current) !== null && <span class="why">{p.why}</span>}
    </li>
  );
}

type Evaluated = { ok: boolean; text: string; truth: boolean | null };
const COLUMNS = 24;

function Watch() {
  const [values, setValues] = useState<{ from: number; values: Evaluated[][] } | null>(null);
  const [draft, setDraft] = useState("");
  const chain = store.chain(store.tip), position = chain.findIndex((n) => n.id === store.current), length = chain.length - 1;
  const from = Math.max(0, Math.min(position - COLUMNS / 2, length - COLUMNS)), to = Math.min(length, from + COLUMNS);
  const key = JSON.stringify([store.session, store.tip, length, from, to, store.watch]);
  useEffect(() => {
    let stale = false;
    if (!store.watch.length || position < 0) return setValues(null);
    void store.on<{ from: number; values: Evaluated[][] }>("evaluate", { path: store.path(store.tip), expressions: store.watch, from, to }).then((a) => !stale && setValues(a), (e) => store.fail(e));
    return () => { stale = true; };
  }, [key]);
  const add = (e: Event) => {
    e.preventDefault();
    const x = draft.trim();
    setDraft("");
    if (x && !store.watch.includes(x)) store.setWatch([...store.watch, x]);
  };
  return (
    <div class="watch">
      <form onSubmit={add}><input value={draft} onInput={(e) => setDraft(e.currentTarget.value)} placeholder="watch an expression: count(p in P: p.decided != none)" aria-label="new watch expression" /></form>
      {store.watch.length > 0 && (
        <div class="scroll-x"><table>
          <thead><tr><th />{Array.from({ length: to - from + 1 }, (_, i) => <th key={i} class={from + i === position ? "now" : ""} scope="col">{from + i}</th>)}</tr></thead>
          <tbody>{store.watch.map((x, i) => {
            const row = values?.values[i] ?? [], error = row.length && !row[0].ok ? row[0].text : null;
            return (
              <tr key={x}><th scope="row"><button class="link remove" aria-label={`remove ${x}`} onClick={() => store.setWatch(store.watch.filter((y) => y !== x))}>×</button> <code>{x}</code></th>
                {error ? <td class="warning" colSpan={to - from + 1} title={error}>{error.split("\n")[0].replace(/^expression:/, "")}</td> : row.map((v, k) => <td key={k} class={(from + k === position ? "now " : "") + (k > 0 && row[k - 1].text !== v.text ? "changed" : "")}>{v.ok ? v.text : "!"}</td>)}
              </tr>
            );
          })}</tbody>
        </table></div>
      )}
    </div>
  );
}

export function StatePanel() {
  const look = store.look;
  return (
    <section class="panel state-panel" aria-label="state">
      <header><h2>State</h2><span class="faint">{look && `after ${look.position} ${store.unit(look.position)}`}</span>
        {look && look.state.lost + look.state.corrupted + look.state.duplicated > 0 && <span class="faint">lost {look.state.lost}, corrupted {look.state.corrupted}, duplicated {look.state.duplicated}</span>}</header>
      {look && (
        <div class="scroll split">
          <div>
            <StateTable state={look.state} marked={witnesses(look.properties.properties)} />
            <Watch />
          </div>
          <div class="side">
            <h3>Properties</h3>
            <ul class="properties">{look.properties.properties.map((p) => <PropertyRow key={p.name} p={p} />)}</ul>
            {look.taken && <><h3>Last {store.unit(1)}</h3><p class="last">{brief(look.taken.text)} {look.taken.at && <Line line={look.taken.at.line} />}</p></>}
          </div>
        </div>
      )}
    </section>
  );
}
