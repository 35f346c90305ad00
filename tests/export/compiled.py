"""Expressions of exported models, as tuples: (sign, operands), ("number", value), ("name", name). They are simplified where names have values;
rules become Python functions: loops over what is chosen, with the parts of the rule's condition as far outside as they can be."""
import re

DEEPEST = 15  # loops; Python has a limit


def put(array, index, change):
    if not 0 <= index < len(array):
        return array  # as TLA+ has it
    return (*array[:index], change(array[index]), *array[index + 1:])


def function(arguments, lines):
    scope = {"put": put}
    exec("\n".join([f"def f({arguments}):", "  from itertools import product", *("  " + line for line in lines)]), scope)
    return scope["f"]


def unpack(names, values):
    return [f"({''.join(f'v_{n}, ' for n in names)}) = {values}"] if names else []


def parts_of(e):
    return parts_of(e[1]) + parts_of(e[2]) if e[0] == "&" else [e]


class Simple:
    """What is left of expressions if some names have values. Definitions stay definitions, unless they are short."""

    FOLD = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "+": lambda a, b: a + b,
            "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b, "mod": lambda a, b: a % b}
    KINDS = ("number", "name", "?", "!", "&", "|")
    PYTHON = {"|": "or", "&": "and", "=": "==", "/": "//", "mod": "%", "cup": "|"}

    def __init__(self, definitions, known):
        self.definitions, self.known, self.bodies = definitions, known, {}

    def body(self, name):
        if name not in self.bodies:
            self.bodies[name] = self.of(self.definitions[name])
        return self.bodies[name]

    def of(self, e):
        op = e[0]
        if op == "number":
            return e
        if op not in self.FOLD and op not in self.KINDS:
            return (op, *map(self.of, e[1:]))
        if op == "name":
            if e[1] in self.known:
                return ("number", self.known[e[1]])
            body = self.body(e[1]) if e[1] in self.definitions else None
            return body if body and body[0] in ("number", "name") else e
        if op == "?":
            condition = self.of(e[1])
            return self.of(e[2] if condition[1] else e[3]) if condition[0] == "number" else (op, condition, self.of(e[2]), self.of(e[3]))
        if op == "!":
            inside = self.of(e[1])
            return ("number", not inside[1]) if inside[0] == "number" else (op, inside)
        a = self.of(e[1])
        if op in ("&", "|"):
            if a[0] == "number":
                return a if a[1] == (op == "|") else self.of(e[2])
            b = self.of(e[2])
            if b[0] == "number":
                return b if b[1] == (op == "|") else a
            return (op, a, b)
        b = self.of(e[2])
        if a[0] == b[0] == "number":
            return ("number", self.FOLD[op](a[1], b[1]))
        return (op, a, b)

    def names(self, e, out):
        """Those that it needs, definitions after what they need."""
        if e[0] == "name":
            if e[1] not in out:
                if e[1] in self.definitions:
                    self.names(self.body(e[1]), out)
                out[e[1]] = None
        elif e[0] != "number":
            for inside in e[1:]:
                self.names(inside, out)
        return out

    def text(self, e):
        if e[0] == "number":
            return repr(e[1])
        if e[0] == "name":
            return f"v_{e[1]}"
        if e[0] == "?":
            return f"({self.text(e[2])} if {self.text(e[1])} else {self.text(e[3])})"
        if e[0] == "!":
            return f"(not {self.text(e[1])})"
        if e[0] == "element":
            return f"{self.text(e[1])}[{self.text(e[2])}]"
        if e[0] == "except":  # inside, "it" is what was there
            return f"put({self.text(e[1])}, {self.text(e[2])}, lambda v_it: {self.text(e[3])})"
        if e[0] == "all":
            return f"({self.text(e[2])},) * ({self.text(e[1])} + 1)"
        if e[0] == "set":
            return f"frozenset(({''.join(self.text(x) + ', ' for x in e[1:])}))"
        return f"({self.text(e[1])} {self.PYTHON.get(e[0], e[0])} {self.text(e[2])})"

    def lines(self, names):
        return [f"v_{n} = {self.text(self.body(n))}" for n in names if n in self.definitions]


def loops(choices, asked, guards, taken, after, otherwise):
    """Lines of a function: for all values of the choices (name: values) for which the guards hold, out.add of the tuple `after`; `otherwise` is
    done where one does not. asked, taken: what is known in guards, and in the rest."""
    chosen = [n for n in choices if any(n in s.names(e, {}) for s, some in ((asked, guards), (taken, after)) for e in some)]
    level_of = {n: min(i, DEEPEST) + 1 for i, n in enumerate(chosen)}
    lines, known = [], set()

    def level(s, e):
        return max((level_of[n] for n in s.names(e, {}) if n in level_of), default=0)

    def define(s, e, indent, at):
        for n in s.names(e, {}):
            if n in s.definitions and n not in known and level(s, ("name", n)) <= at:
                known.add(n)
                lines.extend(indent + line for line in s.lines([n]))
    deepest = max(level_of.values(), default=0)
    for at in range(deepest + 1):
        indent = "  " * at
        if 0 < at <= DEEPEST:
            lines.append(f"{indent[2:]}for v_{chosen[at - 1]} in {tuple(choices[chosen[at - 1]])}:")
        elif at:
            rest = chosen[DEEPEST:]
            lines.append(f"{indent[2:]}for ({''.join(f'v_{n}, ' for n in rest)}) in product({', '.join(str(tuple(choices[n])) for n in rest)}):")
        for g in guards:
            if level(asked, g) == at:
                define(asked, g, indent, at)
                lines += [f"{indent}if not {asked.text(g)}:", *(f"{indent}  {line}" for line in otherwise), f"{indent}  {'continue' if at else 'return'}"]
        for e in after:
            define(taken, e, indent, at)
    return lines + ["  " * deepest + f"out.add(({''.join(taken.text(e) + ', ' for e in after)}))"]


def in_temporal(formula, propositions):
    """The formula for ltl.py; what it says of states goes into the dictionary of propositions."""
    temporal = ("G", "F", "U", "V")

    def is_temporal(e):
        return e[0] in temporal or (e[0] not in ("number", "name") and any(map(is_temporal, e[1:])))
    if formula[0] in (*temporal, "->") or (formula[0] in ("!", "&", "|") and is_temporal(formula)):
        return (formula[0], *(in_temporal(e, propositions) for e in formula[1:]))
    return ("p", propositions.setdefault(formula, len(propositions)))


class Tokens:
    """A text, token by token."""

    def __init__(self, text, token):
        if token.sub("", text).strip():
            raise ValueError(f"not expected: '{token.sub('', text).strip()[:40]}'")
        self.tokens = [next(g for g in m.groups() if g is not None) for m in token.finditer(text)]
        self.at = 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self, wanted=None):
        token = self.peek()
        if wanted is not None and token != wanted:
            raise ValueError(f"'{wanted}' expected, not '{token}', at {self.tokens[max(0, self.at - 5):self.at + 5]}")
        self.at += 1
        return token


def explore_from(machine, first, left_out):
    """Names of the invariants and formulas that fail, and how many states there are; variables that remember something are left out."""
    invariants = {n: machine.judge(e) for n, e in machine.invariants.items()}
    seen, failed = set(first), set()
    waiting = list(seen)
    while waiting:
        state = waiting.pop()
        failed |= {n for n, holds in invariants.items() if not holds(state)}
        for after in machine.successors(state):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    failed |= {n for n, formula in machine.formulas.items() if machine.violated(formula)}
    kept = [i for i, n in enumerate(machine.names) if not re.search(left_out, n)]
    return failed, len({tuple(state[i] for i in kept) for state in seen})
