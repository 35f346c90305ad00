// The model: an editor in a shadow root, whose style sheets a strict content security policy allows.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, gutter, GutterMarker, hoverTooltip, keymap, lineNumbers, ViewPlugin, type ViewUpdate, WidgetType } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Diagnostic } from "./api";

const keywords = new Set(
  ("algorithm param where type def message process var input oracle ghost shared stable step start final on from if then else let send to all others update finally round phase repeat once as when or and not mod environment safety cover live " +
    "until in for foreach otherwise pick forall exists always eventually infinitely often almost surely count min max sum union mostfrequent taken exactly most every of initial random goto halt unordered set seq bool int " +
    "counters counter control move unsafe crash crashes recover byzantine omit receive lost corrupted duplicated fair strong synchronous uniform channels fifo bag").split(" "),
);
const words = new Set("true false none me received sender correct faulty pending quiescent deadlocked HO SHO".split(" "));

const language = StreamLanguage.define<{ comment: boolean }>({
  startState: () => ({ comment: false }),
  token(s) {
    if (s.match("//")) {
      s.skipToEnd();
      return "comment";
    }
    if (s.match(/^\d+/)) return "number";
    if (s.match(/^[A-Za-z_][A-Za-z_0-9]*'?/)) {
      const word = s.current();
      if (keywords.has(word)) return "keyword";
      if (words.has(word)) return "atom";
      return /^[A-Z]/.test(word) ? "typeName" : "variableName";
    }
    if (s.match(/^(:=|=>|<=|>=|==|!=|\.\.|[-+*/%<>=|&!])/)) return "operator";
    s.next();
    return null;
  },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--syntax-keyword)", fontWeight: "600" },
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: tags.number, color: "var(--syntax-number)" },
  { tag: tags.atom, color: "var(--syntax-number)" },
  { tag: tags.typeName, color: "var(--syntax-type)" },
  { tag: tags.operator, color: "var(--soft)" },
]);

const HANG_MOST = 24;
/** Long lines are wrapped below their own indentation. */
const hanging = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = this.make(view);
    }
    update(u: ViewUpdate): void {
      if (u.docChanged || u.viewportChanged) this.decorations = this.make(u.view);
    }
    make(view: EditorView): DecorationSet {
      const builder = new RangeSetBuilder<Decoration>();
      for (const { from, to } of view.visibleRanges)
        for (let at = from; at <= to; ) {
          const line = view.state.doc.lineAt(at), indent = /^ */.exec(line.text)![0].length;
          builder.add(line.from, line.from, Decoration.line({ class: `cm-hang-${Math.min(indent, HANG_MOST)}` }));
          at = line.to + 1;
        }
      return builder.finish();
    }
  },
  { decorations: (v) => v.decorations },
);

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "var(--code)", color: "var(--ink)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { padding: "6px 0", caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--faint)", border: "none" },
  ...Object.fromEntries(Array.from({ length: HANG_MOST + 1 }, (_, k) => [`.cm-hang-${k}`, { paddingLeft: `calc(6px + ${k + 2}ch)`, textIndent: `-${k + 2}ch` }])),
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 6px 0 4px", minWidth: "24px" },
  ".cm-lit": { backgroundColor: "var(--lit)" },
  ".cm-flash": { backgroundColor: "var(--mark)" },
  ".cm-wrong": { textDecoration: "underline wavy var(--bad)", textDecorationSkipInk: "none" },
  ".cm-warned": { textDecoration: "underline wavy var(--warn)", textDecorationSkipInk: "none" },
  ".cm-values": { color: "var(--accent)", marginLeft: "1.5em", fontStyle: "normal", fontSize: "11px", textIndent: "0" },
  ".cm-covered": { color: "var(--good)", fontSize: "9px", paddingLeft: "2px" },
  ".cm-never": { color: "var(--bad)", fontSize: "9px", paddingLeft: "2px", fontWeight: "700" },
  ".cm-tooltip": { background: "var(--paper)", border: "1px solid var(--rule)", padding: "4px 8px", maxWidth: "44em", fontFamily: "var(--sans)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection) !important" },
});

class Values extends WidgetType {
  constructor(readonly text: string) {
    super();
  }
  eq(other: Values): boolean {
    return other.text === this.text;
  }
  toDOM(): HTMLElement {
    const e = document.createElement("span");
    e.className = "cm-values";
    e.textContent = this.text;
    return e;
  }
}
class Covered extends GutterMarker {
  constructor(readonly never: boolean, readonly words: string) {
    super();
  }
  eq(other: Covered): boolean {
    return other.never === this.never && other.words === this.words;
  }
  toDOM(): HTMLElement {
    const e = document.createElement("span");
    e.className = this.never ? "cm-never" : "cm-covered";
    e.textContent = this.never ? "✕" : "●";
    e.title = this.words;
    return e;
  }
}

type Marks = { lit: Map<number, string>; flash: number | null; covered: Map<number, { never: boolean; words: string }>; diagnostics: Diagnostic[] };
const setMarks = StateEffect.define<Marks>();
const none: Marks = { lit: new Map(), flash: null, covered: new Map(), diagnostics: [] };

const marksField = StateField.define<{ marks: Marks; set: DecorationSet }>({
  create: () => ({ marks: none, set: Decoration.none }),
  update(value, tr) {
    for (const e of tr.effects) if (e.is(setMarks)) return { marks: e.value, set: decorate(e.value, tr.state.doc) };
    return { marks: value.marks, set: value.set.map(tr.changes) };
  },
  provide: (f) => EditorView.decorations.from(f, (v) => v.set),
});

const encoder = new TextEncoder();
/** A place in bytes as one in UTF-16. */
function offsets(text: string, from: number, to: number): [number, number] {
  if (encoder.encode(text).length === text.length) return [Math.min(from, text.length), Math.min(to, text.length)];
  let bytes = 0, a = -1, i = 0;
  for (const c of text) {
    if (bytes >= from && a < 0) a = i;
    if (bytes >= to) return [a, i];
    bytes += encoder.encode(c).length;
    i += c.length;
  }
  return [a < 0 ? text.length : a, text.length];
}

function decorate(m: Marks, doc: { toString(): string; lines: number; line(n: number): { from: number; to: number } }): DecorationSet {
  const all: { from: number; to: number; mark: Decoration }[] = [];
  const line = (n: number, cls: string) => n >= 1 && n <= doc.lines && all.push({ from: doc.line(n).from, to: doc.line(n).from, mark: Decoration.line({ class: cls }) });
  for (const [n, text] of m.lit) {
    line(n, "cm-lit");
    if (text && n <= doc.lines) all.push({ from: doc.line(n).to, to: doc.line(n).to, mark: Decoration.widget({ widget: new Values(text), side: 1 }) });
  }
  if (m.flash) line(m.flash, "cm-flash");
  const text = doc.toString();
  for (const d of m.diagnostics.filter((x) => x.placed)) {
    const [from, to] = offsets(text, d.from, d.to);
    if (to > from) all.push({ from, to, mark: Decoration.mark({ class: d.severity === "error" ? "cm-wrong" : "cm-warned" }) });
  }
  all.sort((a, b) => a.from - b.from || a.mark.startSide - b.mark.startSide || a.to - b.to);
  const builder = new RangeSetBuilder<Decoration>();
  for (const x of all) builder.add(x.from, x.to, x.mark);
  return builder.finish();
}

const explain = hoverTooltip((view, at) => {
  const text = view.state.doc.toString();
  for (const d of view.state.field(marksField).marks.diagnostics.filter((x) => x.placed)) {
    const [from, to] = offsets(text, d.from, d.to);
    if (at < from || at > to) continue;
    return {
      pos: from, end: to,
      create: () => {
        const dom = document.createElement("div");
        dom.textContent = `${d.message} [${d.code}]${d.help ? "\nhelp: " + d.help : ""}`;
        dom.style.whiteSpace = "pre-wrap";
        return { dom };
      },
    };
  }
  return null;
});

export class ModelEditor {
  readonly view: EditorView;
  private marks: Marks = none;
  constructor(host: HTMLElement, text: string, onEdit: (text: string) => void) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const parent = document.createElement("div");
    parent.style.height = "100%";
    root.replaceChildren(parent);
    this.view = new EditorView({
      parent, root, doc: text,
      extensions: [
        lineNumbers(), history(), EditorView.lineWrapping, hanging, language, syntaxHighlighting(colours), theme, marksField, explain,
        gutter({
          class: "cm-coverage",
          lineMarker: (v, line) => {
            const mark = v.state.field(marksField).marks.covered.get(v.state.doc.lineAt(line.from).number);
            return mark ? new Covered(mark.never, mark.words) : null;
          },
          lineMarkerChange: (u) => u.transactions.some((t) => t.effects.some((e) => e.is(setMarks))),
          initialSpacer: () => new Covered(false, ""),
        }),
        keymap.of([...defaultKeymap, ...historyKeymap]), // Tab leaves the editor; Ctrl+] and Ctrl+[ indent
        EditorView.contentAttributes.of({ "aria-label": "source of the model" }),
        EditorView.updateListener.of((u) => u.docChanged && onEdit(u.state.doc.toString())),
      ],
    });
    const first = text.split("\n").findIndex((l) => l.startsWith("algorithm")) + 1;
    if (first > 1) requestAnimationFrame(() => this.view.dispatch({ effects: EditorView.scrollIntoView(this.view.state.doc.line(first).from, { y: "start", yMargin: 6 }) }));
  }
  mark(marks: Partial<Marks>): void {
    this.marks = { ...this.marks, ...marks };
    this.view.dispatch({ effects: setMarks.of(this.marks) });
  }
  /** The messages below take room: the line that is written stays in sight. */
  keepCursor(): void {
    if (this.view.hasFocus) requestAnimationFrame(() => this.view.dispatch({ effects: EditorView.scrollIntoView(this.view.state.selection.main.head) }));
  }
  /** Scrolls to the lines that fired, unless one of them is on the screen, or the user is writing. */
  reveal(lines: number[]): void {
    const doc = this.view.state.doc, inside = lines.filter((n) => n >= 1 && n <= doc.lines).sort((a, b) => a - b);
    if (!inside.length || this.view.hasFocus) return;
    const top = this.view.scrollDOM.scrollTop, bottom = top + this.view.scrollDOM.clientHeight;
    const seen = inside.some((n) => { const block = this.view.lineBlockAt(doc.line(n).from); return block.top >= top && block.bottom <= bottom; });
    if (!seen) this.view.dispatch({ effects: EditorView.scrollIntoView(doc.line(inside[0]).from, { y: "center" }) });
  }
  setText(text: string): void {
    if (text !== this.view.state.doc.toString()) this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }
  showLine(line: number): void {
    const doc = this.view.state.doc;
    if (line < 1 || line > doc.lines) return;
    this.view.dispatch({ effects: EditorView.scrollIntoView(doc.line(line).from, { y: "center" }) });
    this.mark({ flash: line });
    setTimeout(() => this.mark({ flash: null }), 1600);
  }
}
