// What lies behind a choice, in words.
import type { Step, Survey } from "./api";
import { itemKey, store } from "./store";

/** Why a search did not visit all states. */
export const unfinished = (s: Survey) => (s.why === "interrupted" ? "out of time" : s.why);

export type Finding = { tone: "bad" | "good" | "plain"; text: string; choices: Step[] | null; sure: boolean };

/** violated: by the step to where the survey begins. */
export function findings(s: Survey, violated: string[]): Finding[] {
  const out: Finding[] = violated.map((p) => ({ tone: "bad", text: `${p} fails in this ${store.unit(1)}`, choices: [], sure: true }));
  const within = (k: number) => (k === 0 ? "here" : `in ${k} ${store.unit(k)}`);
  if (s.failed) return [{ tone: "bad", text: "ends in an error of the model", choices: null, sure: true }];
  for (const t of s.targets) {
    if (t.reach !== "reachable" || t.kind === "cover") continue;
    out.push({ tone: "bad", text: t.kind === "error" ? `an error of the model ${within(t.steps!)}` : `${t.property} fails ${within(t.steps!)}`, choices: t.choices, sure: true });
  }
  out.sort((a, b) => (a.choices?.length ?? 0) - (b.choices?.length ?? 0));
  const stuck = s.final && !s.final.ended ? s.final : null;
  if (stuck) out.push({ tone: store.rounds ? "plain" : "bad", text: stuck.steps === 0 ? "stuck: nothing can happen" : `can get stuck ${within(stuck.steps)}`, choices: stuck.choices, sure: true });
  const safety = s.targets.filter((t) => t.kind !== "cover"), asked = safety.some((t) => t.kind !== "error");
  const left = (store.look?.properties.properties ?? []).filter((p) => p.kind === "safety" && p.applies && !s.targets.some((t) => t.property === p.name) && (store.rounds || p.name !== "deadlock")).map((p) => p.name); // those with 'until'
  const safe = (!asked ? "no error from here on" : stuck ? "no violation from here on" : "safe from here on") + (left.length ? ` (${left.join(", ")}: not searched)` : "");
  if (safety.every((t) => t.reach === "unreachable")) out[out.some((f) => f.tone === "bad") ? "push" : "unshift"]({ tone: "good", text: safe, choices: null, sure: true });
  else if (!out.some((f) => f.tone === "bad")) out.push({ tone: "plain", text: s.depth > 1 ? `no violation within ${s.depth - 1} ${store.unit(s.depth - 1)}` : "not known", choices: null, sure: false });
  for (const t of s.targets.filter((x) => x.kind === "cover")) {
    if (t.reach === "reachable") out.push({ tone: "good", text: t.steps === 0 ? `${t.property} is reached` : `${t.property} is reachable ${within(t.steps!)}`, choices: t.choices, sure: true });
    if (t.reach === "unreachable") out.push({ tone: "plain", text: `${t.property} can no longer be reached`, choices: null, sure: true });
  }
  if (s.final?.ended) out.push({ tone: "plain", text: s.final.steps === 0 ? "everything is done" : `can end ${within(s.final.steps)}`, choices: s.final.choices, sure: true });
  return out;
}

const signs = { bad: "✕", good: "✓", plain: "·" };

/** all: every finding; else the first, with the others in its tooltip. */
export function AheadNote({ item, all = false }: { item: Step | null; all?: boolean }) {
  if (!store.aheadOn || store.fine) return null;
  const found = store.ahead.get(itemKey(item));
  if (!found) return store.items().some((i) => itemKey(i) === itemKey(item)) && store.aheadRunning ? <span class="ahead waiting" aria-label="searching">…</span> : null;
  if (!found.survey) return <span class="ahead plain" title={found.why ?? ""}>unknown</span>;
  const list = findings(found.survey, found.violated);
  const note = `${found.survey.states.toLocaleString("en")} ${found.survey.states === 1 ? "state" : "states"}${found.survey.complete ? ", all of them" : `; ${unfinished(found.survey)}`}`;
  const one = (f: Finding) =>
    f.choices && (f.choices.length || item !== null) ? (
      <button class={`ahead ${f.tone}`} title={`${list.map((x) => x.text).join("\n")}\n(${note})\nClick to be led there.`} onClick={(e) => { e.stopPropagation(); void store.follow(item, f.choices!); }}>
        <i aria-hidden="true">{signs[f.tone]}</i>{f.text}
      </button>
    ) : (
      <span class={`ahead ${f.tone}`} title={`${list.map((x) => x.text).join("\n")}\n(${note})`}><i aria-hidden="true">{signs[f.tone]}</i>{f.text}</span>
    );
  return all ? <span class="aheads">{list.map(one)}<span class="ahead note">{note}</span></span> : one(list[0]);
}
