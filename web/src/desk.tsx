// The adversary's desk: the next round, or the next step.
import { useEffect, useState } from "preact/hooks";
import { AheadNote, findings } from "./ahead";
import type { Choice, Judgement, Message, Round, Toggle } from "./api";
import { itemKey, store } from "./store";
import { Line } from "./widgets";

/** Why a cell cannot be changed; the last of a row is the crash. */
const forbids = (p: number, q: number): Judgement | null => {
  const t: Toggle | undefined = store.desk!.toggles[p * (store.info!.processes.length + 1) + q];
  return t && !t.allowed ? t : null;
};
const COMPACT = 9; // from so many processes on, cells are small and columns have numbers
const reason = (j: Judgement | null) => (j ? `${j.why ?? "not possible"}${j.clause_at ? ` (line ${j.clause_at.line})` : ""}` : "");

function Cell({ p, q }: { p: number; q: number }) {
  const desk = store.desk!, part = desk.round.parts[p], sender = desk.candidates.processes[p].senders[q];
  const hears = part.heard.includes(q), forged = part.forged.some((f) => f.sender === q);
  const no = forbids(p, q), names = store.info!.processes;
  const what = `${names[p]} ${hears ? "hears" : "does not hear"} ${names[q]}${forged ? ": a forged message" : sender.text !== null ? `: ${sender.text}` : sender.sends ? "" : sender.byzantine ? ", which is Byzantine: choose below what it sends" : ", which sends nothing to it"}`;
  const classes = ["cell", hears ? "heard" : "lost", forged && "forged", no && "forbidden", !sender.sends && !forged && "silent"].filter(Boolean).join(" ");
  return (
    <td>
      <button class={classes} aria-pressed={hears} aria-label={what + (no ? `; changing it is forbidden: ${reason(no)}` : "")} title={what + (no ? `\nForbidden: ${reason(no)}` : "")} data-cell={`${p},${q}`}
        onClick={() => store.edit((r) => { const h = r.parts[p].heard; r.parts[p].heard = hears ? h.filter((x) => x !== q) : [...h, q].sort((a, b) => a - b); })}>
        <span aria-hidden="true">{forged ? "!" : sender.sends ? (hears ? "●" : "×") : "–"}</span>
      </button>
    </td>
  );
}

/** What becomes of a process. */
function After({ p }: { p: number }) {
  const after = store.desk?.after?.processes[p];
  if (!after) return <td class="after" />;
  const changes = after.values.filter((v) => v.changed).map((v) => `${v.name} = ${v.text}`);
  if (after.changed) changes.unshift(after.status);
  return <td class={"after" + (changes.length ? " changed" : "")}>{changes.join(", ") || "as before"}</td>;
}

function moveInGrid(e: KeyboardEvent): void {
  const at = (e.target as HTMLElement).dataset.cell?.split(",").map(Number);
  const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
  if (!at || !by) return;
  e.preventDefault();
  e.stopPropagation();
  (e.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-cell="${at[0] + by[0]},${at[1] + by[1]}"]`)?.focus();
}

function Grid() {
  const desk = store.desk!, names = store.info!.processes, n = names.length;
  const crashes = desk.candidates.processes.some((c) => c.may_crash);
  const short = (name: string) => (n > COMPACT ? (/\((\d+)\)$/.exec(name)?.[1] ?? name) : name);
  const column = (q: number) => store.edit((r) => {
    const listeners = r.parts.filter((_, p) => p !== q && desk.candidates.processes[p].active), on = !listeners.every((x) => x.heard.includes(q));
    for (const x of listeners) x.heard = on ? [...new Set([...x.heard, q])].sort((a, b) => a - b) : x.heard.filter((y) => y !== q);
  });
  const all = (heard: (p: number, q: number) => boolean) => store.edit((r) => r.parts.forEach((part, p) => (part.heard = names.map((_, q) => q).filter((q) => heard(p, q)))));
  return (
    <div class="grid-box">
      <table class={"grid" + (n > COMPACT ? " compact" : "")} onKeyDown={moveInGrid} aria-label="who hears whom">
        <thead>
          <tr><th scope="col" class="corner">hears</th>{names.map((name, q) => <th scope="col" key={q}><button class="link" aria-label={`the others hear ${name}, or not`} title={`${name}${desk.candidates.processes[q].senders[q]?.byzantine ? " is Byzantine" : ""}: the others hear it, or not`} onClick={() => column(q)}>{short(name)}</button></th>)}
            {crashes && <th scope="col" class="crash">crash</th>}<th scope="col" class="after">then</th></tr>
        </thead>
        <tbody>
          {names.map((name, p) => {
            const c = desk.candidates.processes[p], no = forbids(p, n);
            return (
              <tr key={p} class={c.active ? "" : "inactive"}>
                <th scope="row"><button class="link" title={`${name} hears everybody, or nobody`} aria-label={`${name} hears everybody, or nobody`} disabled={!c.active} onClick={() => store.edit((r) => (r.parts[p].heard = r.parts[p].heard.length === n ? [] : names.map((_, q) => q)))}>{name}</button></th>
                {c.active ? names.map((_, q) => <Cell key={q} p={p} q={q} />) : <td colSpan={n} class="faint">takes no part</td>}
                {crashes && <td class="crash"><input type="checkbox" checked={desk.round.parts[p].crashes} disabled={!c.may_crash} aria-label={`${name} crashes in this round`} title={no ? `Forbidden: ${reason(no)}` : `${name} crashes in this round`}
                  class={no ? "forbidden" : ""} onChange={(e) => { const on = e.currentTarget.checked; store.edit((r) => (r.parts[p].crashes = on)); }} /></td>}
                <After p={p} />
              </tr>
            );
          })}
        </tbody>
      </table>
      <div class="buttons">
        <button class="quiet" onClick={() => void store.setRound(null)}>all hear all</button>
        <button class="quiet" onClick={() => all((p, q) => p === q)}>only themselves</button>
        <button class="quiet" onClick={() => all((p, q) => p < n / 2 === q < n / 2)}>two halves</button>
      </div>
    </div>
  );
}

function Picks() {
  const desk = store.desk!, names = store.info!.processes;
  const rows: preact.JSX.Element[] = [];
  desk.candidates.processes.forEach((c, p) => {
    if (!c.active) return;
    c.oracles.forEach((o, i) => o.chosen && rows.push(<OraclePick key={`o${p}.${i}`} p={p} i={i} name={o.name} values={Number(o.values)} />));
    (["sends", "updates"] as const).forEach((kind) =>
      c[kind].forEach((x, i) => x.alternatives > 1 && rows.push(
        <label key={`${kind}${p}.${i}`}>{names[p]} {"coin" in x && x.coin ? "tosses" : "chooses"}
          <select value={desk.round.parts[p][kind][i] ?? 0} onChange={(e) => { const v = Number(e.currentTarget.value); store.edit((r) => { const list = r.parts[p][kind]; while (list.length <= i) list.push(0); list[i] = v; }); }}>
            {Array.from({ length: Math.min(x.alternatives, 100) }, (_, v) => <option key={v} value={v}>{v + 1} of {x.alternatives}</option>)}
          </select></label>)));
  });
  const pairs = forgeable();
  if (pairs.length <= FEW_PAIRS) for (const [p, q] of pairs) rows.push(<Forgery key={`f${p}.${q}`} p={p} q={q} />);
  if (pairs.length <= FEW_PAIRS) return rows.length ? <div class="picks">{rows}</div> : null;
  desk.round.parts.forEach((part, p) => part.forged.forEach((x) => rows.push(<Forgery key={`f${p}.${x.sender}`} p={p} q={x.sender} />)));
  return <div class="picks">{rows}<AddForgery pairs={pairs} /></div>;
}

const FEW_PAIRS = 12;

/** Whose message to whom can be replaced: receiver, sender. */
function forgeable(): [number, number][] {
  const pairs: [number, number][] = [];
  store.desk!.candidates.processes.forEach((c, p) => {
    if (!c.active || !c.may_forge) return;
    const liars = c.senders.some((s) => s.byzantine);
    c.senders.forEach((s, q) => q !== p && (s.byzantine || !liars) && pairs.push([p, q]));
  });
  return pairs;
}

/** Where there are many pairs, forged messages are added one by one. */
function AddForgery({ pairs }: { pairs: [number, number][] }) {
  const names = store.info!.processes, round = store.desk!.round;
  const [from, setFrom] = useState(pairs[0][1]), [to, setTo] = useState(pairs[0][0]);
  const senders = [...new Set(pairs.map(([, q]) => q))], receivers = pairs.filter(([, q]) => q === from).map(([p]) => p);
  const receiver = receivers.includes(to) ? to : receivers[0];
  const there = receiver === undefined || round.parts[receiver].forged.some((x) => x.sender === from);
  const pick = (label: string, now: number, all: number[], set: (v: number) => void) => (
    <label>{label} <select value={now} onChange={(e) => set(Number(e.currentTarget.value))}>{all.map((v) => <option key={v} value={v}>{names[v]}</option>)}</select></label>
  );
  return (
    <span class="inline">{pick("a message of", from, senders, setFrom)} {pick("to", receiver, receivers, setTo)}
      <button class="mini" disabled={there} onClick={() => store.edit((r) => { r.parts[receiver].forged.push({ sender: from, payload: 0 }); })}>forge</button></span>
  );
}

const known = new Map<string, Promise<string[]>>();

function useTexts(body: { process: number; oracle?: number }, count: number): string[] {
  const [texts, set] = useState<string[]>([]);
  const key = JSON.stringify([store.session, store.current, body]);
  useEffect(() => {
    let stale = false;
    if (!known.has(key)) {
      if (known.size > 200) known.clear();
      known.set(key, store.on<{ texts: string[] }>("texts", { path: store.path(), ...body, count: Math.min(count, TEXTS) }).then((a) => a.texts));
    }
    known.get(key)!.then((texts) => !stale && set(texts), () => known.delete(key));
    return () => { stale = true; };
  }, [key, count]);
  return texts;
}
const TEXTS = 200;

function OraclePick({ p, i, name, values }: { p: number; i: number; name: string; values: number }) {
  const texts = useTexts({ process: p, oracle: i }, values);
  return (
    <label>{store.info!.processes[p]}: {name}
      <select value={String(store.desk!.round.parts[p].oracles[i] ?? 0)} onChange={(e) => { const v = Number(e.currentTarget.value); store.edit((r) => (r.parts[p].oracles[i] = v)); }}>
        {texts.map((t, v) => <option key={v} value={v}>{t}</option>)}
      </select></label>
  );
}

function Forgery({ p, q }: { p: number; q: number }) {
  const payloads = Number(store.desk!.candidates.processes[p].payloads), texts = useTexts({ process: p }, payloads), names = store.info!.processes;
  const now = store.desk!.round.parts[p].forged.find((f) => f.sender === q);
  return (
    <label class="forgery">{names[q]} to {names[p]}
      <select aria-label={`forged message from ${names[q]} to ${names[p]}`} value={now ? String(now.payload) : ""} onChange={(e) => {
        const v = e.currentTarget.value;
        store.edit((r) => { r.parts[p].forged = r.parts[p].forged.filter((f) => f.sender !== q); if (v !== "") r.parts[p].forged.push({ sender: q, payload: Number(v) }); });
      }}>
        <option value="">{store.desk!.candidates.processes[p].senders[q].sends ? "as sent" : "nothing"}</option>
        {texts.map((t, v) => <option key={v} value={v}>forged: {t}</option>)}
        {payloads > TEXTS && <option disabled>{payloads - TEXTS} more</option>}
      </select></label>
  );
}

const variables = (text: string) => text.split(/, (?=[A-Za-z_]\w* = )/);
/** What tells the outcomes of a process apart. */
function differences(all: string[]): string[] {
  const common = all.length > 1 ? variables(all[0]).filter((v) => all.every((t) => variables(t).includes(v))) : [];
  return all.map((t) => variables(t).filter((v) => !common.includes(v)).join(", ") || t);
}

function Outcomes() {
  const names = store.info!.processes;
  return (
    <div class="outcomes">
      <h3>Outcomes <span class="faint">pick some; the grid shows a round that leads there</span></h3>
      {store.outcomes.map((list, p) => store.desk!.candidates.processes[p].active && (
        <div class="outcome-row" key={p} role="group" aria-label={`outcomes of ${names[p]}`}>
          <span class="name">{names[p]}</span>
          <span class="chips">
            {list && ((short) => list.map((o, i) => (
              <button key={i} class={"chip" + (store.picked[p] === i ? " picked" : "") + (o.changed ? " changed" : "") + (o.error || o.crashed ? " bad" : "")} aria-pressed={store.picked[p] === i}
                disabled={o.search !== "found"} title={o.search === "found" ? o.text : `${o.text}\nno allowed round leads there`} onClick={() => void store.pick(p, i)}>
                {short[i] || "no variables"}{o.round && store.picked[p] !== i ? <ChipAhead round={o.round} /> : null}
              </button>
            )))(differences(list.map((o) => o.text)))}
            {list && !store.allOutcomes[p] && <span class="faint">perhaps others</span>}
            {list === null && (store.outcomes.length <= 8 ? <span class="faint">…</span> : <button class="mini" onClick={() => void store.readOutcomesOf(p)}>show</button>)}
          </span>
        </div>
      ))}
      {store.found && <p class="warning" role="status">{store.found}</p>}
    </div>
  );
}

/** What is behind an outcome: a violation, so many rounds from here; or nothing but safe states. */
function ChipAhead({ round }: { round: Round }) {
  const found = store.ahead.get(itemKey(round)), survey = found?.survey;
  const near = survey?.targets.filter((t) => t.kind !== "cover" && t.reach === "reachable").sort((a, b) => a.steps! - b.steps!)[0];
  if (found?.violated.length) return <i class="dot" title={`${found.violated.join(", ")} fails in this round`}>✕1</i>;
  if (survey?.failed) return <i class="dot" title="ends in an error of the model">✕1</i>;
  if (survey && !near && findings(survey, []).some((f) => f.text === "safe from here on")) return <i class="dot safe" title="safe after this round">✓</i>;
  return near ? <i class="dot" title={`by this round ${near.property ?? "an error"} can fail ${near.steps === 0 ? "at once" : `${near.steps} ${store.unit(near.steps!)} later`}`}>✕{near.steps! + 1}</i> : null;
}

function FineProcess() {
  const round = store.desk!.round;
  return (
    <label class="inline">who ends its round
      <select value={round.process ?? ""} onChange={(e) => { const v = Number(e.currentTarget.value); store.edit((r) => (r.process = v)); }}>
        <option value="" disabled>choose a process</option>
        {store.info!.processes.map((name, p) => <option key={p} value={p}>{name}</option>)}
      </select></label>
  );
}

function RoundDesk() {
  const desk = store.desk;
  if (!desk) return <p class="faint pad">…</p>;
  const j = desk.judge;
  return (
    <div class="round-desk">
      <div class="take">
        <button class="primary" disabled={!j.allowed} onClick={() => store.takeRound()} title="Enter">Take this round</button>
        {j.allowed && store.fine ? null : j.allowed ? <span class="then"><span class="faint">after it</span> <AheadNote item={desk.round} /></span> : <span class="warning" role="status">{reason(j)} {j.clause_at && <Line line={j.clause_at.line} />}</span>}
        {j.error && <span class="warning">ends in an error: {j.error}</span>}
      </div>
      {store.fine && <FineProcess />}
      <div class="choose">
        <div><Grid /><Picks /></div>
        <Outcomes />
      </div>
    </div>
  );
}

// ---- steps ----

const kinds: Record<string, string> = { action: "", deliver: "deliver", lose: "lose", crash: "crash", crash_in_action: "crash in", recover: "recover", end_round: "end round" };

function ChoiceRow({ choice, number }: { choice: Choice; number: number }) {
  const text = choice.text.replace(/^[^:]+: /, "");
  return (
    <li class={`choice ${choice.kind}`}>
      <button class="take-choice" onClick={() => void store.take(choice.index as number, choice.text)} data-index={choice.index} title={choice.text + (choice.error ? `\nends in an error: ${choice.error}` : "")}>
        <span class="key" aria-hidden="true">{number < 9 ? number + 1 : ""}</span>
        {kinds[choice.kind] && <em>{kinds[choice.kind]}</em>} <span class="what">{text}</span>
        {choice.messages.some((m) => m.forged) && <b class="tag bad">forged</b>}{choice.messages.some((m) => m.duplicated) && <b class="tag">duplicated</b>}{choice.error && <b class="tag bad">error</b>}
      </button>
      <AheadNote item={choice.index as number} />
    </li>
  );
}

const sameMessage = (m: Message, c: Choice) => c.process === m.to && c.messages.some((t) => t.from === m.from && t.text === m.text && t.kind === m.kind);

function InFlight({ picked, toggle }: { picked: Set<string>; toggle: (k: string) => void }) {
  const look = store.look!, names = store.info!.processes, choices = look.choices?.choices ?? [];
  if (!look.state.messages.length) return null;
  const short = (kind: string, c: Choice) => <button key={`${c.index}`} class="mini" title={c.text} onClick={() => void store.take(c.index as number, c.text)}>{kind}</button>;
  return (
    <section class="in-flight">
      <h3>Messages in flight <span class="number">{look.state.messages.length}</span> <span class="faint">click messages to see what can take them together</span></h3>
      <ul>
        {look.state.messages.slice(0, 200).map((m, i) => {
          const key = `${m.from} ${m.to} ${m.kind} ${m.text}`, mine = choices.filter((c) => sameMessage(m, c));
          const single = (kind: string, label: string) => mine.filter((c) => c.kind === kind && c.messages.length === 1).slice(0, 1).map((c) => short(label, c));
          const alone = mine.filter((c) => c.kind === "action" && c.messages.length === 1);
          return (
            <li key={i} class={(m.added ? "added " : "") + (picked.has(key) ? "picked" : "")}>
              <button class="message" aria-pressed={picked.has(key)} onClick={() => toggle(key)}><span class="route">{names[m.from]} → {names[m.to]}</span> <span class="what">{m.text}</span>{m.place !== "delivered" && <span class="faint"> {m.place.replace("_", " ")}</span>}</button>
              {single("deliver", "deliver")}{alone.filter((c) => !c.messages[0].duplicated && !c.messages[0].forged).slice(0, 1).map((c) => short("take", c))}
              {alone.filter((c) => c.messages[0].duplicated).slice(0, 1).map((c) => short("duplicate", c))}{single("lose", "lose")}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function StepDesk() {
  const look = store.look!, names = store.info!.processes;
  const [filter, setFilter] = useState("");
  const [picked, setPicked] = useState(new Set<string>());
  const [shown, setShown] = useState(60);
  useEffect(() => { setPicked(new Set()); setShown(60); }, [store.current]);
  const toggle = (k: string) => setPicked((s) => { const n = new Set(s); if (!n.delete(k)) n.add(k); return n; });
  const all = look.choices?.choices ?? [];
  const messages = look.state.messages.filter((m) => picked.has(`${m.from} ${m.to} ${m.kind} ${m.text}`));
  const matching = all.filter((c) => (!filter || c.text.toLowerCase().includes(filter.toLowerCase())) && messages.every((m) => sameMessage(m, c)));
  const groups = new Map<number | null, Choice[]>();
  matching.slice(0, shown).forEach((c) => groups.set(c.process, [...(groups.get(c.process) ?? []), c]));
  const forbidden = look.forbidden?.choices ?? [];
  let number = 0;
  return (
    <div class="step-desk">
      {all.length > 8 && <input class="filter" type="search" placeholder="filter: accept, lose, P(2) …" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} aria-label="filter choices" />}
      {[...groups].map(([p, list]) => (
        <section key={p}><h3>{p === null ? "Everybody" : names[p]}</h3><ul class="choices">{list.map((c) => <ChoiceRow key={`${c.index}`} choice={c} number={number++} />)}</ul></section>
      ))}
      {!all.length && !look.info.failed && <p class="pad">Nothing can happen any more.</p>}
      {all.length > 0 && !matching.length && <p class="pad faint">{messages.length ? (messages.length === 1 ? "Nothing can take this message now." : "Nothing takes these messages together.") : "No choice has this text."}</p>}
      {(matching.length > shown || look.choices?.more) && <p class="pad"><button class="quiet" onClick={() => setShown(shown + 200)}>show more</button> <span class="faint">{shown} of {matching.length}{look.choices?.more ? " and more" : ""}</span></p>}
      <InFlight picked={picked} toggle={toggle} />
      {forbidden.length > 0 && (
        <details><summary>Forbidden <span class="number">{forbidden.length}</span></summary>
          <ul class="forbidden-list">{forbidden.map((c, i) => <li key={i}><span>{c.text}</span> <span class="warning">{c.why}</span> {c.clause_at && <Line line={c.clause_at.line} />}</li>)}</ul></details>
      )}
    </div>
  );
}

/** A run that goes on for ever. */
function Loop() {
  const look = store.look!, node = store.at(store.current), loop = store.loopAt(store.current), repeats = look.repeats ?? null;
  if (!node || node.children.length || store.fine || (loop === null && repeats === null)) return null;
  const at = loop ?? repeats!, stays = at === look.length;
  if (stays && loop === null && !store.info!.properties.some((p) => p.kind === "live")) return null;
  return (
    <div class="loop-note" role="status">
      <span>{loop !== null ? (stays ? "The run stays like this for ever." : `The run repeats ${at + 1 < look.length ? `${store.unit(2)} ${at + 1} to ${look.length}` : `${store.unit(1)} ${at + 1}`} for ever.`)
        : stays ? "Nothing can happen any more." : `This is the state after ${at} ${store.unit(at)} again.`}</span>
      <button class="mini" onClick={() => store.closeLoop(loop === null ? at : null)}>{loop !== null ? "let it end here" : stays ? "stay for ever" : "repeat for ever"}</button>
    </div>
  );
}

export function DeskPanel() {
  const look = store.look;
  return (
    <section class="panel desk" aria-label="the adversary's desk">
      <header>
        <h2>Adversary</h2>
        <span class="faint">{look && (store.rounds ? (look.state.ended ? "the algorithm has ended" : `round ${look.state.rounds + 1}${look.state.round ? `, ${look.state.round}` : ""}${look.state.phase ? `, phase ${look.state.phase}` : ""}`) : `step ${look.length + 1}`)}</span>
        <span class="spring" />
        <label class="inline"><input type="checkbox" checked={store.aheadOn} onChange={(e) => store.setAhead(e.currentTarget.checked)} /> look ahead</label>
      </header>
      <div class="scroll">
        {look && !look.info.failed && <div class="from-here"><span class="faint">from here</span> {store.fine ? <span class="faint">not for asynchronous rounds</span> : <AheadNote item={null} all />}</div>}
        {look && <Loop />}
        {look?.info.failed ? <p class="pad warning" role="status">The step ended in an error of the model: {look.info.failed.message} {look.info.failed.at && <Line line={look.info.failed.at.line} />}. Go back to continue.</p> : null}
        {look && !look.info.failed && (store.rounds ? !look.state.ended && <RoundDesk /> : <StepDesk />)}
      </div>
    </section>
  );
}
