// The page: header, model, the view in the middle, the state below it, the adversary's desk and the history.
import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { Compare } from "./compare";
import { DeskPanel } from "./desk";
import { Diagram } from "./diagram";
import { ModelEditor } from "./editor";
import { Exports } from "./exports";
import { HistoryPanel } from "./history";
import { MapView } from "./map";
import { StatePanel } from "./state";
import { store, type View } from "./store";
import { Verdicts } from "./verdicts";
import { Line, onShowLine } from "./widgets";

/** Processes that do the same: named, or counted. */
const group = (names: string[]) => (names.length > 3 ? `${names.length} processes` : names.join(", "));

function litLines(): Map<number, string> {
  const lit = new Map<number, Map<string, string[]>>();
  const add = (line: number | undefined, text: string, who: string | null) => {
    if (!line) return;
    const here = lit.get(line) ?? new Map<string, string[]>();
    lit.set(line, here);
    if (text) here.set(text, [...(here.get(text) ?? []), ...(who ? [who] : [])]);
  };
  const e = store.entry;
  add(e?.line, "", null);
  for (const s of e?.sent ?? []) add(s.line, s.text, s.from);
  for (const c of e?.changes ?? []) add(c.line, c.text, c.process);
  const words = (here: Map<string, string[]>) => [...here].map(([text, who]) => (who.length ? `${group(who)}: ${text}` : text));
  return new Map([...lit].map(([line, here]) => { const all = words(here); return [line, all.length > 4 ? `${all.slice(0, 3).join(" · ")} · ${all.length - 3} more` : all.join(" · ")]; }));
}

function ModelPanel() {
  const host = useRef<HTMLDivElement>(null), editor = useRef<ModelEditor | null>(null), timer = useRef(0);
  useEffect(() => {
    if (!host.current || editor.current || !store.opened) return;
    editor.current = new ModelEditor(host.current, store.text, (text) => {
      store.text = text;
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => void store.reopen(), 300);
    });
    onShowLine((line) => editor.current?.showLine(line));
  }, [store.opened]);
  useEffect(() => {
    const covered = new Map<number, { never: boolean; words: string }>();
    for (const n of store.nodes.values()) for (const line of n.lines) covered.set(line, { never: false, words: "fired in a step of the history" });
    for (const [line, steps] of store.coverage?.lines ?? []) covered.set(line, { never: steps === 0, words: steps === 0 ? "never fires" : `fires in ${steps.toLocaleString("en")} ${steps === 1 ? "step" : "steps"} of the graph` });
    for (const line of store.coverage?.never ?? []) covered.set(line, { never: true, words: "no run takes this" });
    editor.current?.mark({ lit: litLines(), covered, diagnostics: store.diagnostics });
  });
  useEffect(() => editor.current?.reveal([...litLines().keys()]), [store.entry]);
  useEffect(() => editor.current?.keepCursor(), [store.diagnostics]);
  const first = store.diagnostics.find((d) => d.severity === "error");
  return (
    <section class="panel model" aria-label="model">
      <header><h2>Model</h2><span class="faint file" title={store.opened?.file}>{store.opened?.file}</span>{store.edited && <span class="tag">edited</span>}<span class="spring" />
        {store.edited && <button class="quiet" onClick={() => { editor.current?.setText(store.opened!.text); }}>revert</button>}</header>
      <div class="editor" ref={host} />
      {store.diagnostics.length > 0 && (
        <ul class="diagnostics" role={first ? "alert" : "status"}>{store.diagnostics.slice(0, 6).map((d, i) => <li key={i} class={d.severity}><b>{d.severity}</b> {d.message} {d.placed && d.line > 0 && <Line line={d.line} />}{d.help && <span class="faint"> {d.help}</span>}</li>)}{store.diagnostics.length > 6 && <li class="faint">{store.diagnostics.length - 6} more</li>}</ul>
      )}
    </section>
  );
}

function Parameters() {
  const info = store.info;
  const set = (name: string, value: string) => {
    if (store.params[name] === value || (value === "" && !(name in store.params))) return;
    const { [name]: _, ...others } = store.params;
    store.params = value === "" ? others : { ...others, [name]: value }; // empty: the default
    void store.reopen();
  };
  return (
    <div class="parameters">
      {Object.entries(info?.params ?? store.params).map(([name, v]) => (
        <label key={name}>{name} <input class="tiny" value={store.params[name] ?? String(v)} onChange={(e) => set(name, e.currentTarget.value)} aria-label={`parameter ${name}`} /></label>
      ))}
      {info && <label>environment <select value={info.environment} onChange={(e) => { store.environment = e.currentTarget.value; void store.reopen(); }}>{info.environments.map((x) => <option key={x}>{x}</option>)}</select></label>}
      {info && info.kind !== "shared" && (
        <label>semantics <select value={info.semantics} onChange={(e) => { store.semantics = e.currentTarget.value; void store.reopen(); }}>
          {(info.kind === "rounds" ? ["coarse", "fine"] : ["m", "m-mp", "mp"]).map((x) => <option key={x}>{x}</option>)}
        </select></label>
      )}
    </div>
  );
}

const views: [View, string][] = [["diagram", "Diagram"], ["map", "Map"], ["verdicts", "Verdicts"], ["compare", "Compare"]];

function Centre() {
  return (
    <section class="panel centre" aria-label={store.view}>
      <header><div role="tablist" aria-label="views">{views.map(([v, label], i) => <button key={v} role="tab" aria-selected={store.view === v} class={"tab" + (store.view === v ? " now" : "")} title={`Alt+${i + 1}`} onClick={() => store.setView(v)}>{label}</button>)}</div></header>
      {!store.look && store.diagnostics.length > 0 && <p class="pad" role="status">There is no run yet: the model cannot be opened with these parameters. It is checked as you change it; <b class="bad">{store.diagnostics.find((d) => d.severity === "error")?.message}</b>.</p>}
      {store.view === "diagram" && store.look && <Diagram />}
      {store.view === "map" && store.look && <MapView />}
      <div class="kept" hidden={store.view !== "verdicts"}><Verdicts /></div>
      {store.view === "compare" && <Compare />}
    </section>
  );
}

const help: [string, string][] = [
  ["← →", "back, forward along the run"], ["↑ ↓", "the branch before, after"], ["Enter", "take the round on the desk"], ["1 … 9", "take a choice"], ["Tab, arrows, Space", "move in the grid and change a cell"],
  ["A", "look ahead on or off"], ["V", "follow the nearest violation"], ["Alt+1 … 4", "diagram, map, verdicts, compare"], ["E", "edit the model"], ["+ − 0", "zoom of the diagram or the map"], ["C", "compare with the step that has the focus in the history"], ["?", "this help"],
];

function onKey(e: KeyboardEvent, toggleHelp: () => void): void {
  const target = e.composedPath()[0] as HTMLElement;
  if (target.closest?.("input:not([type=range]):not([type=checkbox]), textarea, select, .cm-content") || e.ctrlKey || e.metaKey) {
    if (e.key === "Escape") target.blur();
    return;
  }
  const button = target.closest?.("button, summary");
  if (e.altKey) {
    const v = views[Number(e.key) - 1];
    if (v) { e.preventDefault(); store.setView(v[0]); }
    return;
  }
  if (e.key === "ArrowLeft" || e.key === "Backspace") store.undo();
  else if (e.key === "ArrowRight") store.redo();
  else if (e.key === "ArrowUp") store.sibling(-1);
  else if (e.key === "ArrowDown") store.sibling(1);
  else if (e.key === "Enter" && (!button || button.classList.contains("cell")) && store.rounds) store.takeRound();
  else if (/^[1-9]$/.test(e.key) && !store.rounds) document.querySelectorAll<HTMLElement>(".take-choice")[Number(e.key) - 1]?.click();
  else if (e.key === "a") store.setAhead(!store.aheadOn);
  else if (e.key === "v") document.querySelector<HTMLElement>(".from-here button.ahead.bad")?.click();
  else if (e.key === "e") document.querySelector(".editor")?.shadowRoot?.querySelector<HTMLElement>(".cm-content")?.focus();
  else if (e.key === "c") {
    const id = Number(target.closest?.<HTMLElement>("[data-node]")?.dataset.node ?? store.other ?? NaN);
    if (id !== store.current && store.at(id)) void store.compareWith(id);
  } else if (/^[-+=0]$/.test(e.key)) document.querySelector<HTMLElement>(`[data-zoom="${e.key === "=" ? "+" : e.key}"]`)?.click();
  else if (e.key === "?" || (e.key === "Escape" && document.querySelector("[role=dialog]"))) toggleHelp();
  else return;
  e.preventDefault();
}

function useTheme(): [string, () => void] {
  const [theme, set] = useState(() => { try { return localStorage.getItem("rondo-theme") ?? "auto"; } catch { return "auto"; } });
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("rondo-theme", theme); } catch { /* private */ }
  }, [theme]);
  const order = ["auto", "light", "dark"];
  return [theme, () => set(order[(order.indexOf(theme) + 1) % 3])];
}

export function App() {
  const [, refresh] = useReducer((n: number) => n + 1, 0);
  const [helping, setHelping] = useState(false);
  const [theme, nextTheme] = useTheme();
  useEffect(() => store.subscribe(() => refresh(0)), []);
  useEffect(() => {
    const f = (e: KeyboardEvent) => onKey(e, () => setHelping((h) => !h));
    addEventListener("keydown", f);
    return () => removeEventListener("keydown", f);
  }, []);
  const bad = store.violated();
  return (
    <div class="page" data-ready={store.look ? "yes" : "no"}>
      <header class="top">
        <h1>rondo</h1><span class="name">{store.info?.name ?? ""}</span>
        <Parameters />
        <span class="spring" />
        {bad.length > 0 && <span class="tag bad" role="status">{bad.join(", ")} violated</span>}
        {store.error && <span class="warning error" role="alert">{store.error}</span>}
        {store.notice && <span class="warning" role="status">{store.notice} <button class="mini" aria-label="dismiss" onClick={() => { store.notice = null; store.changed(); }}>×</button></span>}
        <Exports />
        <button class="quiet" onClick={nextTheme} title="colours: as the system, light, dark" aria-label={`colours: ${theme}`}>colours: {theme}</button>
        <button class="quiet" onClick={() => setHelping(!helping)} aria-expanded={helping} title="keyboard">?</button>
      </header>
      {helping && <div class="help" role="dialog" aria-label="keyboard"><dl>{help.map(([k, t]) => <><dt>{k}</dt><dd>{t}</dd></>)}</dl></div>}
      <main data-view={store.view}>
        <ModelPanel />
        <Centre />
        <StatePanel />
        <DeskPanel />
        <HistoryPanel />
      </main>
    </div>
  );
}
