// The state of the page and what changes it. The server keeps nothing that is not here: every request has its path.
import { get, post, Refused, stream } from "./api";
import type { Choice, Desk, Diagnostic, Info, Look, ModelRequest, Opened, Outcome, Path, Round, Step, StepEntry, Survey, Toggle } from "./api";
import { readAddress, shortRound, writeAddress } from "./url";

export type Node = { id: number; parent: number | null; initial: number | string; step: Step | null; label: string; depth: number; children: number[]; bad: boolean; lines: number[]; loop: number | null };
export type View = "diagram" | "map" | "verdicts" | "compare";
export type Ahead = { survey: Survey | null; why: string | null; violated: string[] };
/** A run as it was before an edit: its steps by number, and what they were. */
type Kept = { path: Path; labels: string[]; at: number };
export type Coverage = { of: string; lines: Map<number, number>; never: Set<number>; complete: boolean };

export const itemKey = (item: Step | null) => JSON.stringify(item && typeof item === "object" ? shortRound(item) : item);
/** Without the processes of which there is nothing to say. */
const told = (i: { index: number; text: string }) => ({ ...i, text: i.text.split("; ").filter((t) => /\s/.test(t)).join("; ") });
const AHEAD_CHOICES = 120, AHEAD_OUTCOMES = 60;
const OUTCOMES_AT_ONCE = 8; // processes
const WATCHED = 32; // expressions, as the server permits

export class Store {
  opened: Opened | null = null;
  text = "";
  params: Record<string, string> = {};
  environment: string | null = null;
  semantics: string | null = null;
  session: string | null = null;
  info: Info | null = null;
  diagnostics: Diagnostic[] = [];
  error: string | null = null;
  notice: string | null = null;
  nodes = new Map<number, Node>();
  roots: number[] = [];
  current: number | null = null;
  tip: number | null = null;
  look: Look | null = null;
  entry: StepEntry | null = null;
  initials: { index: number; text: string }[] = [];
  initialCount = { n: 0, exact: true };
  desk: Desk | null = null;
  outcomes: (Outcome[] | null)[] = [];
  allOutcomes: boolean[] = []; // by process: there are no others
  picked: (number | null)[] = [];
  found: string | null = null;
  ahead = new Map<string, Ahead>();
  aheadOn = true;
  aheadRunning = false;
  view: View = "diagram";
  other: number | null = null; // compared with the current node
  otherLook: Look | null = null;
  watch: string[] = [];
  coverage: Coverage | null = null;
  projection = "";
  private kept: Kept | null = null; // what the edited model does not have at the moment
  private nextNode = 1;
  private version = 0;
  private roundVersion = 0;
  private opening = 0;
  private search: AbortController | null = null;
  private asking = new AbortController(); // what is asked about the current step
  private askingRound = new AbortController(); // and about the round on the desk
  private watchers = new Set<() => void>();

  subscribe(f: () => void): () => void {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  }
  changed(): void {
    for (const f of this.watchers) f();
  }

  get rounds(): boolean {
    return this.info?.kind === "rounds";
  }
  get fine(): boolean {
    return this.info?.semantics === "fine";
  }
  unit(k: number): string {
    return (this.rounds && !this.fine ? "round" : "step") + (k === 1 ? "" : "s");
  }
  get edited(): boolean {
    return this.text !== this.opened?.text;
  }
  request(): ModelRequest {
    return { ...(this.edited ? { text: this.text } : {}), params: this.params, environment: this.environment, semantics: this.semantics };
  }
  /** What the end of a run shows, for its diagram and trace; of properties that are not for this environment last. */
  shown(): string | null {
    const all = this.look?.properties.properties.filter((p) => p.shown) ?? [];
    return (all.find((p) => p.kind !== "cover" && p.applies) ?? all.find((p) => p.kind !== "cover") ?? all.find((p) => p.applies))?.name ?? null;
  }
  at(id: number | null): Node | null {
    return id === null ? null : (this.nodes.get(id) ?? null);
  }
  chain(id: number | null): Node[] {
    const out: Node[] = [];
    for (let n = this.at(id); n; n = this.at(n.parent)) out.unshift(n);
    return out;
  }
  path(id: number | null = this.current): Path | null {
    const chain = this.chain(id), loop = this.loopAt(id);
    return chain.length ? { initial: chain[0].initial, steps: chain.slice(1).map((n) => n.step!), ...(loop === null ? {} : { loop }) } : null;
  }
  /** Where the run that ends there goes on again and again. */
  loopAt(id: number | null): number | null {
    const n = this.at(id);
    return n && !n.children.length ? n.loop : null;
  }
  /** Properties that are violated where one is. */
  violated(look: Look | null = this.look): string[] {
    return look?.properties.properties.filter((p) => p.shown && p.kind !== "cover" && p.applies).map((p) => p.name) ?? [];
  }
  on<T>(verb: string, body: object, signal?: AbortSignal): Promise<T> {
    return post<T>(`sessions/${this.session}/${verb}`, body, signal);
  }
  fail(e: unknown): void {
    if (e instanceof DOMException && e.name === "AbortError") return;
    if (e instanceof Refused && e.status === 404 && this.session) return void this.reopen(); // it made room for others
    this.error = e instanceof Error ? e.message : String(e);
    this.changed();
  }

  // ---- opening ----

  async start(): Promise<void> {
    try {
      this.opened = await get<Opened>("model");
      const address = await readAddress(location.hash);
      this.text = address?.text ?? this.opened.text;
      this.params = address ? address.params : { ...this.opened.params };
      this.environment = address ? address.environment : this.opened.environment;
      this.semantics = address ? address.semantics : this.opened.semantics;
      this.view = (["map", "verdicts", "compare"] as const).find((v) => v === address?.view) ?? "diagram";
      this.watch = (address?.watch ?? []).slice(0, WATCHED);
      this.projection = address?.projection ?? "";
      this.kept = null;
      const trace = address ? null : (this.opened.trace as any);
      await this.open(address?.path ?? null, address?.at ?? null, trace);
      if (address?.other && this.current !== null) await this.compareWith(await this.graft(address.other), false);
    } catch (e) {
      this.fail(e);
    }
  }

  /** A session of the model as it is now, on the given path as far as it exists. */
  async open(path: Path | null, at: number | null, trace: unknown = null, labels: string[] | null = null): Promise<void> {
    const opening = ++this.opening;
    if (trace) this.takeHead(trace as any);
    try {
      let answer: { session: string; info: Info; diagnostics: Diagnostic[] };
      try {
        answer = await post("sessions", this.request());
      } catch (e) {
        const missing = e instanceof Refused ? this.missingParams(e.diagnostics) : [];
        if (!missing.length) throw e;
        answer = await this.openWithout(missing);
      }
      if (opening !== this.opening) return;
      const before = this.session;
      this.session = answer.session;
      this.info = answer.info;
      this.diagnostics = answer.diagnostics;
      this.error = null;
      this.forget();
      if (before) void fetch(`api/v1/sessions/${before}`, { method: "DELETE" });
      const initials = await this.on<{ count: number; exact: boolean; initials: { initials: { index: number; text: string }[] } }>("initials", { max: 200 });
      if (opening !== this.opening) return;
      this.initials = initials.initials.initials.map(told);
      this.initialCount = { n: initials.count, exact: initials.exact };
      if (trace) path = (await this.on<{ path: Path }>("load", { trace })).path;
      const lost = path && labels ? await this.follows(path, labels) : null;
      if (opening !== this.opening) return;
      await this.adopt(path ?? { initial: this.favourite(), steps: [] }, at, lost);
      if (labels && !this.notice) this.kept = null;
    } catch (e) {
      if (opening !== this.opening) return;
      if (e instanceof Refused && e.diagnostics.length) {
        this.diagnostics = e.diagnostics;
        this.changed();
      } else this.fail(e);
    }
  }
  /** The same run again, after a change of the model or an instance of it; also what an earlier change cut off. */
  reopen(): Promise<void> {
    const path = this.path(this.tip);
    if (path && !this.kept) this.kept = { path, labels: this.chain(this.tip).map((n) => n.label), at: this.chain(this.current).length - 1 };
    return this.kept ? this.open(structuredClone(this.kept.path), this.kept.at, null, this.kept.labels) : this.open(null, null);
  }
  /** Numbers of choices may mean others now: each step is the choice that reads the same. Cuts the path where there is none, and says why. */
  private async follows(path: Path, labels: string[]): Promise<string | null> {
    const start = this.initials.find((i) => i.text === labels[0]);
    if (start) path.initial = start.index;
    for (let tries = 0; tries <= labels.length; tries++) {
      const { loop: _, ...open } = path;
      const look = await this.on<Look>("look", { path: open, lenient: true }).catch(() => null);
      if (!look) return null;
      const steps = path.steps.slice(0, look.kept);
      const { taken } = await this.on<{ taken: Choice[] }>("taken", { path: { initial: path.initial, steps } });
      let i = taken.findIndex((c, k) => c.text !== labels[k + 1]);
      if (i < 0) i = look.kept;
      if (i >= path.steps.length) return null;
      if (typeof path.steps[i] === "object") { // a round means the same in every model of as many processes
        if (i < look.kept) labels = [...labels.slice(0, i + 1), taken[i].text, ...labels.slice(i + 2)];
        else return null;
        continue;
      }
      const before = { initial: path.initial, steps: path.steps.slice(0, i) };
      const { choices } = await this.on<{ choices: { choices: Choice[] } }>("choices", { path: before, max: 2000 });
      const same = choices.choices.find((c) => c.text === labels[i + 1]);
      if (!same || same.index === null || same.index === path.steps[i]) {
        path.steps = before.steps;
        delete path.loop;
        return `there is no choice "${labels[i + 1]}"`;
      }
      path.steps[i] = same.index;
    }
    return null;
  }
  /** Gives parameters without a value those of an expectation of the file, or small ones. */
  private async openWithout(missing: string[]): Promise<{ session: string; info: Info; diagnostics: Diagnostic[] }> {
    const given = this.params, lines = [...this.text.matchAll(/^\/\/ expect: (?!error|long)(.*)$/gm)];
    const expected = lines.map((l) => Object.fromEntries([...l[1].matchAll(/-D (\w+)=(\d+)(?!\S)/g)].map((d) => [d[1], d[2]])));
    const sum = (p: Record<string, string>) => missing.reduce((all, name) => all + Number(p[name]), 0);
    const known = expected.filter((p) => missing.every((name) => name in p)).sort((a, b) => sum(a) - sum(b)).slice(0, 4);
    const small = ["3", "1"].map((v) => Object.fromEntries(missing.map((name, i) => [name, i ? v : v === "3" ? "3" : "4"])));
    for (const [i, values] of [...known, ...small].entries()) {
      this.params = { ...Object.fromEntries(missing.map((name) => [name, values[name]])), ...given };
      try {
        return await post("sessions", this.request());
      } catch (e) {
        if (i === known.length + small.length - 1) throw e;
      }
    }
    throw new Error("unreachable");
  }
  private missingParams(diagnostics: Diagnostic[]): string[] {
    return diagnostics.filter((d) => d.code === "E0701").flatMap((d) => /'([^']+)'/.exec(d.message)?.[1] ?? []).filter((name) => !(name in this.params));
  }
  /** Initial values that differ are more interesting than equal ones. */
  private favourite(): number {
    const distinct = (text: string) => new Set(text.split("; ").map((t) => t.replace(/^\S+ /, ""))).size;
    return this.initials.reduce((best, one) => (distinct(one.text) > distinct(best.text) ? one : best), this.initials[0] ?? { index: 0, text: "" }).index;
  }
  private takeHead(trace: { model?: { params?: Record<string, unknown>; environment?: string; semantics?: string } }): void {
    const head = trace.model ?? {};
    this.params = Object.fromEntries(Object.entries(head.params ?? {}).map(([k, v]) => [k, String(v)]));
    this.environment = head.environment ?? null;
    this.semantics = head.semantics ?? null;
  }
  private forget(): void {
    this.version++;
    this.search?.abort();
    this.nodes.clear();
    this.roots = [];
    this.current = this.tip = this.other = null;
    this.look = this.otherLook = null;
    this.desk = null;
    this.coverage = null;
    this.ahead.clear();
  }
  /** Makes a path the only branch of the history, as far as it can be taken. */
  private async adopt(path: Path, at: number | null, lost: string | null = null): Promise<void> {
    const start = { initial: 0, steps: [] };
    const look = await this.on<Look>("look", { path, lenient: true }).catch((e) => ((path = start), (this.notice = e.message), this.on<Look>("look", { path })));
    const steps = path.steps.slice(0, look.kept), whole = look.kept === path.steps.length;
    if (look.cut) this.notice = whole ? `It is no loop any more: ${look.cut}` : `Step ${look.kept + 1} does not exist any more: ${look.cut}`;
    else if (lost) this.notice = `Step ${look.kept + 1} does not exist any more: ${lost}`;
    else if (path !== start) this.notice = null;
    const taken = steps.length ? (await this.on<{ taken: Choice[] }>("taken", { path: { initial: path.initial, steps } })).taken : [];
    let id = this.addRoot(path.initial);
    steps.forEach((step, i) => (id = this.addChild(id, step, taken[i].text, taken[i].error !== null)));
    if (whole && !look.cut) this.at(id)!.loop = path.loop ?? null;
    this.tip = id;
    const chain = this.chain(id);
    await this.go(chain[Math.min(at ?? steps.length, steps.length)].id, false);
  }
  /** Adds a run to the history, as far as it exists, and returns its end. */
  private async graft(path: Path): Promise<number | null> {
    try {
      const look = await this.on<Look>("look", { path, lenient: true }), steps = path.steps.slice(0, look.kept);
      const { taken } = await this.on<{ taken: Choice[] }>("taken", { path: { initial: path.initial, steps } });
      let id = this.addRoot(path.initial);
      steps.forEach((step, i) => (id = this.addChild(id, step, taken[i].text, taken[i].error !== null)));
      return id;
    } catch {
      return null; // it is of another instance
    }
  }

  /** The run of a trace: a branch of the history if it is of the same instance. */
  async openTrace(trace: any): Promise<void> {
    const head = trace.model ?? {}, info = this.info;
    const same = info && head.environment === info.environment && (head.semantics ?? info.semantics) === info.semantics && JSON.stringify(head.params) === JSON.stringify(info.params);
    if (!same || this.current === null) return this.open(null, null, trace);
    try {
      await this.adopt((await this.on<{ path: Path }>("load", { trace })).path, null);
    } catch (e) {
      this.fail(e);
    }
  }

  // ---- the history ----

  private add(node: Omit<Node, "id" | "children" | "bad" | "lines" | "loop">): number {
    const id = this.nextNode++;
    this.nodes.set(id, { ...node, id, children: [], bad: false, lines: [], loop: null });
    return id;
  }
  private addRoot(initial: number | string): number {
    const known = this.roots.find((r) => this.at(r)!.initial === initial);
    if (known) return known;
    const label = this.initials.length === 1 ? "initial state" : this.initials.find((i) => i.index === initial)?.text || `initial state ${initial}`;
    const id = this.add({ parent: null, initial, step: null, label, depth: 0 });
    this.roots.push(id);
    return id;
  }
  private addChild(parent: number, step: Step, label: string, bad = false): number {
    const up = this.at(parent)!;
    const known = up.children.find((c) => itemKey(this.at(c)!.step) === itemKey(step));
    if (known) return known;
    const id = this.add({ parent, initial: up.initial, step, label, depth: up.depth + 1 });
    this.at(id)!.bad = bad;
    up.children.push(id);
    return id;
  }
  /** The end of the branch through a node: the latest children. */
  private endOf(id: number): number {
    let n = this.at(id)!;
    while (n.children.length) n = this.at(n.children[n.children.length - 1])!;
    return n.id;
  }
  async begin(initial: number): Promise<void> {
    if (!this.initials.some((i) => i.index === initial)) {
      const more = await this.on<{ initials: { initials: { index: number; text: string }[] } }>("initials", { offset: initial, max: 1 }).catch(() => null);
      this.initials = [...this.initials, ...(more?.initials.initials ?? []).filter((i) => i.index === initial).map(told)];
    }
    return this.go(this.addRoot(initial));
  }
  async take(step: Step, label: string): Promise<void> {
    if (this.current === null || this.look?.info.failed) return;
    const clean = typeof step === "object" ? (shortRound(step) as Step) : step;
    await this.go(this.addChild(this.current, clean, label));
  }
  undo(): void {
    const parent = this.at(this.current)?.parent;
    if (parent) void this.go(parent);
  }
  redo(): void {
    const chain = this.chain(this.tip);
    const next = chain[chain.findIndex((n) => n.id === this.current) + 1], loop = this.loopAt(this.current);
    if (next) void this.go(next.id);
    else if (loop !== null && chain[loop + 1]) void this.go(chain[loop + 1].id); // the first step of the loop again
  }
  /** Makes the run go on from here as from that step, again and again; null: it ends here. */
  closeLoop(position: number | null): void {
    const n = this.at(this.current);
    if (!n || n.children.length) return;
    n.loop = position;
    void this.go(n.id);
  }
  sibling(by: number): void {
    const n = this.at(this.current);
    const all = n?.parent ? this.at(n.parent)!.children : this.roots;
    const next = all[all.indexOf(this.current ?? -1) + by];
    if (next) void this.go(next);
  }
  remove(id: number): void {
    const n = this.at(id);
    if (!n?.parent) return;
    const up = this.at(n.parent)!;
    up.children = up.children.filter((c) => c !== id);
    const inside = this.chain(this.current).some((x) => x.id === id);
    this.tip = inside ? up.id : this.tip;
    if (this.chain(this.tip).some((x) => x.id === id)) this.tip = up.id;
    if (inside) void this.go(up.id);
    else this.changed();
  }

  /** Shows a node: one request for what is seen first, then the rest. */
  async go(id: number, byUser = true): Promise<void> {
    const version = ++this.version;
    this.asking.abort();
    this.askingRound.abort();
    this.asking = new AbortController();
    if (byUser) this.kept = null;
    if (!this.chain(this.tip).some((n) => n.id === id)) this.tip = this.endOf(id);
    try {
      const look = await this.on<Look>("look", { path: this.path(id), max: 300 }, this.asking.signal);
      if (version !== this.version) return;
      this.current = id;
      this.look = look;
      this.error = null;
      this.entry = null;
      this.desk = null;
      this.found = null;
      this.outcomes = [];
      this.picked = look.state.processes.map(() => null);
      this.ahead = new Map();
      const node = this.at(id)!;
      if (look.taken && look.position === node.depth) node.label = look.taken.text;
      if (look.failing) node.label = look.failing.text;
      node.bad = look.info.failed !== null || this.violated(look).length > 0;
      this.changed();
      this.saveAddress();
      if (node.parent && !this.fine) void this.readEntry(id, version);
      if (this.rounds && !look.state.ended && !look.info.failed) await this.setRound(null, version);
      else this.lookAhead(version);
    } catch (e) {
      if (version !== this.version) return;
      const n = this.at(id);
      if (n && !n.parent && id !== this.current && e instanceof Refused && e.status === 409) { // no such initial state
        this.roots = this.roots.filter((r) => r !== id);
        this.tip = this.current === null ? null : this.endOf(this.current);
      }
      if (n && n.parent && !n.children.length && id !== this.current && e instanceof Refused && e.status === 409) this.remove(id);
      this.fail(e);
    }
  }
  private async readEntry(id: number, version: number): Promise<void> {
    const { step } = await this.on<{ step: StepEntry | null }>("step", { path: this.path(id) });
    if (version !== this.version) return;
    this.entry = step;
    const lines = [...(step?.sent ?? []), ...(step?.changes ?? []), ...(step?.line ? [{ line: step.line }] : [])].map((x) => x.line);
    this.at(id)!.lines = [...new Set(lines)].filter((l) => l > 0);
    this.changed();
  }
  private addressTimer = 0;
  /** Not at each of many steps in a row. */
  saveAddress(): void {
    clearTimeout(this.addressTimer);
    this.addressTimer = window.setTimeout(() => void this.writeAddress(), 120);
  }
  /** False: the run is too long for an address. */
  async writeAddress(): Promise<boolean> {
    const chain = this.chain(this.tip);
    const position = chain.findIndex((n) => n.id === this.current);
    const address = await writeAddress({
      params: this.params, environment: this.environment, semantics: this.semantics, path: this.path(this.tip),
      at: position >= 0 && position < chain.length - 1 ? position : null, text: this.edited ? this.text : null, view: this.view === "diagram" ? null : this.view,
      watch: this.watch, projection: this.projection, other: this.view === "compare" ? this.path(this.other) : null,
    });
    const fits = address.length < 60000;
    if (fits) history.replaceState(null, "", "#" + address);
    return fits;
  }

  // ---- rounds ----

  /** The round on the desk: what it needs, whether it is allowed, where it leads. */
  async setRound(round: Round | null, version = this.version): Promise<void> {
    const mine = ++this.roundVersion;
    this.askingRound.abort();
    this.askingRound = new AbortController();
    try {
      const desk = await this.on<Desk>("desk", { path: this.path(), ...(round ? { round } : {}) }, this.askingRound.signal);
      if (version !== this.version || mine !== this.roundVersion) return;
      if (this.fine && !round) return this.setRound({ ...desk.round, process: 0 }, version); // some process must end its round
      this.desk = desk;
      this.changed();
      this.lookAhead(version);
      if (!this.outcomes.length) await this.readOutcomes(version).then(() => version === this.version && this.lookAhead(version));
      void this.readToggles(version, mine).catch(() => undefined); // the desk can do without
    } catch (e) {
      if (version === this.version && mine === this.roundVersion) this.fail(e);
    }
  }
  /** What the desk had no time to find out: which cells can be changed. */
  private async readToggles(version: number, mine: number): Promise<void> {
    const n = this.look!.state.processes.length;
    for (const desk = this.desk!; desk.toggles.length < n * (n + 1); ) {
      const { toggles } = await this.on<{ toggles: Toggle[] }>("toggles", { path: this.path(), round: desk.round, from: desk.toggles.length }, this.askingRound.signal);
      if (version !== this.version || mine !== this.roundVersion || !toggles.length) return;
      desk.toggles.push(...toggles);
      this.changed();
    }
  }
  private async readOutcomes(version: number): Promise<void> {
    const n = this.look!.state.processes.length;
    this.outcomes = Array.from({ length: n }, () => null);
    for (let p = 0; n <= OUTCOMES_AT_ONCE && p < n && version === this.version; p++) await this.readOutcomesOf(p, version); // one by one: a click waits for one of them at most
  }
  async readOutcomesOf(p: number, version = this.version): Promise<void> {
    if (!this.desk?.candidates.processes[p].active) return;
    try {
      const { outcomes } = await this.on<{ outcomes: { outcomes: Outcome[]; complete: boolean } }>("outcomes", { path: this.path(), process: p, most: 10000 }, this.asking.signal);
      if (version !== this.version) return;
      this.outcomes[p] = outcomes.outcomes;
      this.allOutcomes[p] = outcomes.complete;
      this.changed();
    } catch (e) {
      if (version === this.version) this.fail(e);
    }
  }
  /** Picks an outcome of a process (again: drops it), and finds a round with all that are picked. */
  async pick(p: number, i: number): Promise<void> {
    const version = this.version;
    this.picked = this.picked.map((x, q) => (q === p ? (x === i ? null : i) : x));
    this.changed();
    const wanted = this.picked.map((x, q) => (x === null ? null : (this.outcomes[q]?.[x].round ?? null)));
    if (wanted.every((w) => !w)) return this.setRound(null);
    this.askingRound.abort();
    this.askingRound = new AbortController();
    try {
      const { found } = await this.on<{ found: { search: string; round: Round | null } }>("find-round", { path: this.path(), wanted }, this.askingRound.signal);
      if (version !== this.version) return;
      this.found = found.search === "found" ? null : found.search === "impossible" ? "No round gives all these outcomes at once." : "No such round was found in time.";
      if (found.round) await this.setRound(found.round);
      else this.changed();
    } catch (e) {
      this.fail(e);
    }
  }
  edit(change: (r: Round) => void): void {
    if (!this.desk) return;
    const round = structuredClone(this.desk.round);
    change(round);
    this.picked = this.picked.map(() => null);
    this.found = null;
    void this.setRound(round);
  }
  takeRound(): void {
    if (this.desk?.judge.allowed) void this.take(this.desk.round, "round");
  }

  // ---- ahead ----

  /** What is searched from: where we are, and what each choice leads to. */
  items(): (Step | null)[] {
    if (!this.rounds) return [null, ...(this.look?.choices?.choices ?? []).slice(0, AHEAD_CHOICES).map((c) => c.index as Step)];
    const outcomes = this.outcomes.flatMap((o) => (o ?? []).flatMap((x) => (x.round ? [x.round] : []))).slice(0, AHEAD_OUTCOMES);
    const all = [null, ...(this.desk?.judge.allowed ? [this.desk.round] : []), ...outcomes];
    const known = new Set<string>();
    return all.filter((x) => !known.has(itemKey(x)) && known.add(itemKey(x)));
  }
  /** First what is in front of the user, then the other choices, for each of which there is less time. */
  lookAhead(version = this.version): void {
    this.search?.abort();
    const look = this.look;
    if (!this.aheadOn || !look || look.info.failed || look.state.ended || this.fine) return;
    const items = this.items().filter((i) => !this.ahead.has(itemKey(i)));
    if (!items.length) return;
    const search = (this.search = new AbortController()), near = this.rounds ? 2 : 6;
    const part = (of: (Step | null)[], seconds: number) =>
      of.length && !search.signal.aborted
        ? stream(`sessions/${this.session}/ahead`, { path: this.path(), items: of, seconds }, search.signal, (event, data) => {
            if (version !== this.version || event !== "ahead") return;
            this.ahead.set(itemKey(of[data.item]), { survey: data.ahead, why: data.why, violated: data.violated });
            this.changed();
          })
        : Promise.resolve();
    this.aheadRunning = true;
    new Promise((soon) => setTimeout(soon, 120)) // not at each of many steps in a row
      .then(() => part(items.slice(0, near), 4))
      .then(() => part(items.slice(near), 1))
      .catch(() => undefined)
      .finally(() => {
        if (this.search !== search) return;
        this.aheadRunning = false;
        this.changed();
      });
  }
  setAhead(on: boolean): void {
    this.aheadOn = on;
    if (on) this.lookAhead();
    else this.search?.abort();
    this.changed();
  }
  /** Takes a step (null: none) and the choices after it. */
  async follow(item: Step | null, choices: Step[]): Promise<void> {
    if (this.current === null) return;
    const start = this.current;
    const steps = [...(item === null ? [] : [item]), ...choices].map((s) => (typeof s === "object" ? (shortRound(s) as Step) : s));
    const { loop: _, ...before } = this.path(start)!;
    try {
      const { taken } = await this.on<{ taken: Choice[] }>("taken", { path: { ...before, steps: [...before.steps, ...steps] }, from: before.steps.length });
      let id = start;
      steps.forEach((s, i) => (id = this.addChild(id, s, taken[i].text, taken[i].error !== null)));
      this.tip = id;
      await this.go(id);
    } catch (e) {
      this.fail(e);
    }
  }

  // ---- comparing ----

  async compareWith(id: number | null, show = true): Promise<void> {
    this.other = id;
    this.otherLook = null;
    if (id !== null) {
      if (show) this.view = "compare";
      try {
        this.otherLook = await this.on<Look>("look", { path: this.path(id), position: this.at(id)!.depth });
      } catch (e) {
        this.fail(e);
      }
    }
    this.changed();
    this.saveAddress();
  }
  setWatch(watch: string[]): void {
    this.watch = watch.slice(0, WATCHED);
    this.changed();
    this.saveAddress();
  }

  setView(view: View): void {
    this.view = view;
    this.changed();
    this.saveAddress();
  }
}

export const store = new Store();
