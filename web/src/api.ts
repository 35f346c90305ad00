// The protocol of docs/explore-api.md.
export type Place = { from: number; to: number; line: number; column: number } | null;
export type Diagnostic = { code: string; severity: string; message: string; help: string | null; placed: boolean; from: number; to: number; line: number; column: number };
export type Part = { heard: number[]; crashes: boolean; oracles: (number | string)[]; sends: number[]; updates: number[]; forged: { sender: number; payload: number | string }[] };
export type Round = { parts: Part[]; process?: number };
export type Step = number | string | Round;
export type Path = { initial: number | string; steps: Step[]; loop?: number | null };
export type Property = { name: string; kind: string };
export type Info = {
  name: string; file: string; params: Record<string, number | boolean>; environment: string; semantics: string; kind: "rounds" | "messages" | "shared";
  environments: string[]; processes: string[]; properties: Property[]; failed: { message: string; at: Place } | null;
};
export type Value = { name: string; text: string; changed: boolean; at: Place };
export type Process = { name: string; status: string; active: boolean; changed: boolean; values: Value[]; rounds?: number };
export type Message = { from: number; to: number; kind: string; text: string; place: string; added: boolean };
export type State = {
  globals: Value[]; processes: Process[]; messages: Message[]; ended: boolean; rounds: number; round: string | null; phase: number;
  lost: number; corrupted: number; duplicated: number;
};
export type Status = { name: string; kind: string; step: boolean; applies: boolean; verdict: string; shown: boolean; why: string | null; bindings: string[]; reads: string[]; at: Place };
export type Taken = { from: number; kind: string; text: string; forged: boolean; duplicated: boolean };
export type Choice = {
  index: number | string | null; kind: string; text: string; process: number | null; action: string | null; at: Place; messages: Taken[]; picks: number[];
  error: string | null; allowed: boolean; why?: string; clause?: number | null; clause_at?: Place;
};
export type Look = {
  kept: number; length: number; position: number; cut: string | null; repeats?: number | null; info: Info; state: State; properties: { properties: Status[] }; taken?: Choice; failing?: Choice;
  choices?: { choices: Choice[]; more: boolean }; forbidden?: { choices: Choice[]; more: boolean };
};
export type Judgement = { possible: boolean; allowed: boolean; why: string | null; clause: number | null; clause_at: Place; error: string | null };
export type Candidate = {
  active: boolean; may_crash: boolean; may_forge: boolean; payloads: number | string; oracles: { name: string; values: number | string; chosen: boolean }[];
  senders: { must: boolean; byzantine: boolean; sends: boolean; text: string | null }[]; sends: { alternatives: number }[]; updates: { alternatives: number; coin: boolean }[];
};
export type Toggle = null | Judgement;
export type Desk = { candidates: { processes: Candidate[] }; judge: Judgement; round: Round; after: State | null; toggles: Toggle[] };
export type Outcome = { text: string; crashed: boolean; halted: boolean; error: boolean; changed: boolean; search: string; round: Round | null };
export type Target = { property: string | null; kind: string; reach: "reachable" | "unreachable" | "unknown"; steps: number | null; choices: Step[] | null };
export type Survey = {
  complete: boolean; why: string | null; states: number; depth: number; errors: number; failed?: boolean;
  final: { states: number; steps: number; choices: Step[]; ended: boolean } | null; targets: Target[]; layers: number[];
  classes: { text: string; states: number; depth: number; final: boolean; shown: string[] }[]; edges: [number, number][]; path: (number | null)[];
};
export type StepEntry = {
  sent?: { from: string; to: string[]; text: string; line: number; kind?: string }[]; changes?: { process: string | null; variable: string; text: string; line: number }[];
  line?: number; name?: string | null; process?: string; event?: string; crashes?: string[];
};
export type ModelRequest = { text?: string; params: Record<string, string>; environment: string | null; semantics: string | null };
export type Opened = { file: string; text: string; version: string; params: Record<string, string>; environment: string | null; semantics: string | null; trace: unknown };

export class Refused extends Error {
  constructor(public status: number, message: string, public diagnostics: Diagnostic[] = []) {
    super(message);
  }
}

async function answer<T>(response: Response): Promise<T> {
  const body = await response.json().catch(() => ({ error: { message: response.statusText } }));
  if (!response.ok) throw new Refused(response.status, body.error?.message ?? response.statusText, body.diagnostics ?? []);
  return body as T;
}

const json = { "Content-Type": "application/json" };
const gone = () => new Refused(0, "rondo explore has ended: start it again");

export async function get<T>(name: string): Promise<T> {
  return answer<T>(await fetch(`api/v1/${name}`).catch(() => Promise.reject(gone())));
}

export async function post<T>(name: string, body: object, signal?: AbortSignal): Promise<T> {
  const response = await fetch(`api/v1/${name}`, { method: "POST", headers: json, body: JSON.stringify(body), signal }).catch((e) =>
    Promise.reject(signal?.aborted ? e : gone()),
  );
  return answer<T>(response);
}

/** Background work: calls back for each event; it is cancelled with the signal. */
export async function stream(name: string, body: object, signal: AbortSignal, on: (event: string, data: any) => void): Promise<void> {
  const response = await fetch(`api/v1/${name}`, { method: "POST", headers: json, body: JSON.stringify(body), signal });
  if (!response.ok || !response.body) return answer(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const event = lines.find((l) => l.startsWith("event: "))?.slice(7);
      const data = lines.find((l) => l.startsWith("data: "))?.slice(6);
      if (event && data) on(event, JSON.parse(data));
    }
  }
}
