// Linear conditions on parameters, as `rondo threshold` answers them, for the plot of a region.
type Values = Record<string, number>;
type Condition = (v: Values) => number | boolean;

export function condition(text: string): Condition {
  const tokens = text.match(/\d+|[A-Za-z_]\w*|<=|>=|==|!=|[-+*()<>=]/g) ?? [];
  let at = 0;
  const next = (...words: string[]) => (words.includes(tokens[at]) ? tokens[at++] : null);
  const atom = (): Condition => {
    if (next("(")) { const inner = or(); next(")"); return inner; }
    if (next("-")) { const a = atom(); return (v) => -Number(a(v)); }
    if (next("not")) { const a = atom(); return (v) => !a(v); }
    const t = tokens[at++];
    if (t === undefined) throw new Error("the condition cannot be read");
    if (t === "true" || t === "false") return () => t === "true";
    if (/^\d/.test(t)) return () => Number(t);
    return (v) => { if (!(t in v)) throw new Error(`no value for ${t}`); return v[t]; };
  };
  const product = (): Condition => { let a = atom(); while (next("*")) { const x = a, y = atom(); a = (v) => Number(x(v)) * Number(y(v)); } return a; };
  const sum = (): Condition => { let a = product(); for (let o = next("+", "-"); o; o = next("+", "-")) { const x = a, y = product(), s = o === "+" ? 1 : -1; a = (v) => Number(x(v)) + s * Number(y(v)); } return a; };
  const compare = (): Condition => {
    const a = sum(), o = next("<=", ">=", "<", ">", "==", "=", "!=");
    if (!o) return a;
    const b = sum();
    return (v) => { const [x, y] = [Number(a(v)), Number(b(v))]; return o === "<=" ? x <= y : o === ">=" ? x >= y : o === "<" ? x < y : o === ">" ? x > y : o === "!=" ? x !== y : x === y; };
  };
  const and = (): Condition => { let a = compare(); while (next("and")) { const x = a, y = compare(); a = (v) => Boolean(x(v)) && Boolean(y(v)); } return a; };
  const or = (): Condition => { let a = and(); while (next("or")) { const x = a, y = and(); a = (v) => Boolean(x(v)) || Boolean(y(v)); } return a; };
  const all = or();
  if (at < tokens.length) throw new Error("the condition cannot be read");
  return all;
}

export const namesIn = (text: string) => [...new Set(text.match(/[A-Za-z_]\w*/g) ?? [])].filter((w) => !["and", "or", "not", "true", "false"].includes(w));
