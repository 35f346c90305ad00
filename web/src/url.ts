// The address of a run: everything after '#'. Steps are numbers, or rounds in short form.
import type { Path, Round, Step } from "./api";

export type Address = { params: Record<string, string>; environment: string | null; semantics: string | null; path: Path | null; at: number | null; text: string | null; view: string | null; watch: string[]; projection: string; other: Path | null };

const plain = (r: Round) =>
  r.process === undefined && r.parts.length <= 32 && r.parts.every((p) => !p.crashes && ![...p.oracles, ...p.sends, ...p.updates].some((x) => x !== 0) && p.forged.length === 0);
const base64 = (bytes: Uint8Array) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const unbase64 = (text: string) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

function shortPart(p: Partial<Round["parts"][number]>, n: number): object {
  const out: Record<string, unknown> = {};
  if (p.heard && p.heard.length < n) out.heard = p.heard;
  if (p.crashes) out.crashes = true;
  for (const key of ["oracles", "sends", "updates"] as const) if (p[key]?.some((x) => x !== 0)) out[key] = p[key];
  if (p.forged?.length) out.forged = p.forged;
  return out;
}

/** A round without what is as in the full round. */
export const shortRound = (r: Round): object => ({ parts: r.parts.map((p) => shortPart(p, r.parts.length)), ...(r.process === undefined ? {} : { process: r.process }) });

function writeStep(s: Step): string {
  if (typeof s !== "object") return String(s);
  const full = () => ({ heard: s.parts.map((_, i) => i), crashes: false, oracles: [], sends: [], updates: [], forged: [] });
  const whole: Round = { ...s, parts: s.parts.map((p) => Object.assign(full(), p)) };
  if (plain(whole)) return "r" + whole.parts.map((p) => p.heard.reduce((mask, q) => mask + 2 ** q, 0).toString(36)).join("_");
  return "j" + base64(new TextEncoder().encode(JSON.stringify(shortRound(whole))));
}

function readStep(text: string): Step {
  if (text[0] === "j") return JSON.parse(new TextDecoder().decode(unbase64(text.slice(1)))) as Round;
  if (text[0] !== "r") return Number(text) <= Number.MAX_SAFE_INTEGER ? Number(text) : text;
  const masks = text.slice(1).split("_").map((m) => parseInt(m, 36));
  return { parts: masks.map((m) => ({ heard: masks.map((_, q) => q).filter((q) => Math.floor(m / 2 ** q) % 2 === 1) })) } as unknown as Round;
}

const writePath = (p: Path) => [p.initial, ...p.steps.map(writeStep)].join(".");
function readPath(text: string): Path | null {
  const [initial, ...steps] = text.split(".");
  return initial ? { initial: Number(initial), steps: steps.map((s) => { const step = readStep(s); return typeof step === "object" ? (shortRound(step) as Step) : step; }) } : null;
}

async function through(stream: CompressionStream | DecompressionStream, bytes: Uint8Array): Promise<Uint8Array> {
  const out = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, BlobPart>);
  return new Uint8Array(await new Response(out as ReadableStream).arrayBuffer());
}

export async function writeAddress(a: Address): Promise<string> {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(a.params)) out.append("D", `${name}=${value}`);
  if (a.environment) out.set("env", a.environment);
  if (a.semantics) out.set("semantics", a.semantics);
  if (a.path) out.set("path", writePath(a.path));
  if (a.path?.loop != null) out.set("loop", String(a.path.loop));
  if (a.at !== null) out.set("at", String(a.at));
  if (a.view) out.set("view", a.view);
  if (a.other) out.set("other", writePath(a.other));
  for (const x of a.watch) out.append("watch", x);
  if (a.projection) out.set("only", a.projection);
  if (a.text !== null) out.set("text", base64(await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(a.text))));
  return out.toString().replaceAll("%3D", "=");
}

export async function readAddress(hash: string): Promise<Address | null> {
  const q = new URLSearchParams(hash.replace(/^#/, ""));
  if (![...q.keys()].length) return null;
  const params: Record<string, string> = {};
  for (const define of q.getAll("D")) params[define.split("=")[0]] = define.split("=")[1] ?? "";
  let path: Path | null = null, other: Path | null = null, text: string | null = null;
  try {
    path = readPath(q.get("path") ?? "");
    if (path && q.has("loop")) path.loop = Number(q.get("loop"));
    other = readPath(q.get("other") ?? "");
    const packed = q.get("text");
    if (packed) text = new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), unbase64(packed)));
  } catch {
    /* a damaged address: as much of it as can be read */
  }
  return { params, environment: q.get("env"), semantics: q.get("semantics"), path, at: q.has("at") ? Number(q.get("at")) : null, text, view: q.get("view"), watch: q.getAll("watch"), projection: q.get("only") ?? "", other };
}
