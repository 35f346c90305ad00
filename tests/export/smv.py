"""Reads as much of SMV as `rondo export --to smv` writes, and goes through all states: no NuSMV is packaged for Debian. For each value of the
input `rule` the transition relation is simplified and becomes a Python function: loops over the other inputs, with the parts of the
rule's condition as far outside as they can be."""
import re

import ltl

TOKEN = re.compile(r"\s*(?:(\d+)|(\w+)|(:=|->|!=|<=|[-+*/!&|=<?:;()]))")
DEEPEST = 15  # loops; Python has a limit


class Reader:
    """Expressions and formulas, as tuples: (sign, operands), ("number", value), ("name", name)."""

    def __init__(self, text):
        self.tokens = [next(g for g in m.groups() if g is not None) for m in TOKEN.finditer(text)]
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted=None):
        token = self.peek()
        if wanted is not None and token != wanted:
            raise ValueError(f"'{wanted}' expected, not '{token}', at {self.tokens[self.at - 5:self.at + 5]}")
        self.at += 1
        return token

    def all(self):
        inside = self.expression()
        self.take("")
        return inside

    def expression(self):
        left = self.level(0)
        if self.peek() == "?":
            self.take()
            then = self.expression()
            self.take(":")
            left = ("?", left, then, self.expression())
        if self.peek() == "->":
            self.take()
            left = ("->", left, self.expression())
        return left

    LEVELS = (("|",), ("&",), ("U", "V"), ("=", "!=", "<", "<="), ("+", "-"), ("*", "/", "mod"))

    def level(self, i):
        if i == len(self.LEVELS):
            return self.atom()
        left = self.level(i + 1)
        while self.peek() in self.LEVELS[i]:
            left = (self.take(), left, self.level(i + 1))
        return left

    def atom(self):
        token = self.take()
        if token == "(":
            inside = self.expression()
            self.take(")")
            return inside
        if token in ("!", "G", "F"):
            return (token, self.atom())
        if token == "-":
            return ("-", ("number", 0), self.atom())
        if token == "case":
            out = []
            while self.peek() != "esac":
                condition = self.expression()
                self.take(":")
                out.append((condition, self.expression()))
                self.take(";")
            self.take("esac")
            if out[-1][0] != ("number", True):
                raise ValueError("a case that may have no value")
            inside = out[-1][1]
            for condition, value in reversed(out[:-1]):
                inside = ("?", condition, value, inside)
            return inside
        if token in ("TRUE", "FALSE"):
            return ("number", token == "TRUE")
        if token.isdigit():
            return ("number", int(token))
        if not re.fullmatch(r"[A-Za-z_]\w*", token) or token in ("U", "V", "esac", "next", "mod"):
            raise ValueError(f"not expected: '{token}'")
        return ("name", token)


class Simple:
    """What is left of expressions if some names have values. Definitions stay definitions, unless they are short."""

    FOLD = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "+": lambda a, b: a + b,
            "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b, "mod": lambda a, b: a % b}
    PYTHON = {"|": "or", "&": "and", "=": "==", "/": "//", "mod": "%"}

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
        return f"({self.text(e[1])} {self.PYTHON.get(e[0], e[0])} {self.text(e[2])})"

    def lines(self, names):
        return [f"v_{n} = {self.text(self.body(n))}" for n in names if n in self.definitions]


def parts_of(e):
    return parts_of(e[1]) + parts_of(e[2]) if e[0] == "&" else [e]


class Machine:
    def __init__(self, text):
        text = re.sub(r"--[^\n]*", "", text)
        section, self.states, self.inputs = None, {}, {}
        for line in text.splitlines():
            if line.strip() in ("VAR", "IVAR", "MODULE main"):
                section = line.strip()
            declared = re.match(r"\s+(\w+) : (boolean|(-?\d+)\.\.(-?\d+));", line)
            if declared:
                values = [False, True] if declared.group(2) == "boolean" else list(range(int(declared.group(3)), int(declared.group(4)) + 1))
                (self.states if section == "VAR" else self.inputs)[declared.group(1)] = values

        def each(pattern):
            return {n: Reader(body).all() for n, body in re.findall(pattern, text, re.M)}
        self.definitions = each(r"^DEFINE (\w+) := (.*);")
        self.changes = each(r"^TRANS next\((\w+)\) = (.*);")
        self.invariants = each(r"^INVARSPEC NAME (\w+) := (.*);")
        self.formulas = each(r"^LTLSPEC NAME (\w+) :=([^;]*);")
        first = {}
        for body in re.findall(r"^INIT (.*);", text, re.M):
            negated, equal = re.match(r"!(\w+)$", body), re.match(r"(\w+) = (-?\d+)$", body)
            first[(negated or equal).group(1)] = False if negated else int(equal.group(2))
        if not set(first) == set(self.states) == set(self.changes):
            raise ValueError("not every variable has a first value and a change")
        self.plain = Simple(self.definitions, {})
        read = {n for e in self.changes.values() for n in self.plain.names(e, {})}
        self.names = sorted(self.states, key=lambda n: (n not in read, n))  # what nobody reads is last
        self.core = sum(n in read for n in self.names)
        self.first = tuple(first[n] for n in self.names)
        self.rules = [self.compiled(rule) for rule in self.inputs["rule"]]
        self.known = {}

    def function(self, arguments, lines):
        scope = {}
        exec("\n".join([f"def f({arguments}):", *("  " + line for line in lines)]), scope)
        return scope["f"]

    def unpack(self, names, values):
        return [f"({''.join(f'v_{n}, ' for n in names)}) = {values}"] if names else []

    def compiled(self, rule):
        """f(core, out): all states that come after by the rule."""
        possible = f"r{rule}_possible"
        base = {"rule": rule}
        guards = parts_of(Simple(self.definitions, base).of(self.definitions[possible]))
        idle, taken = Simple(self.definitions, {**base, possible: False}), Simple(self.definitions, {**base, possible: True})
        asked = Simple(self.definitions, base)
        after = [taken.of(self.changes[n]) for n in self.names]
        chosen = [n for n in self.inputs if any(n in s.names(e, {}) for s, some in ((asked, guards), (taken, after)) for e in some)]
        level_of = {n: i + 1 if i < DEEPEST else DEEPEST + 1 for i, n in enumerate(chosen)}

        def level(s, e):
            return max((level_of[n] for n in s.names(e, {}) if n in level_of), default=0)
        stays = [idle.of(self.changes[n]) for n in self.names]
        assert all(level(idle, e) == 0 for e in stays)
        lines = self.unpack(self.names[:self.core], "core")
        known = set()

        def define(s, e, indent, at):
            for n in s.names(e, {}):
                if n in self.definitions and n not in known and level(s, ("name", n)) <= at:
                    known.add(n)
                    lines.extend(indent + line for line in s.lines([n]))
        for e in stays:
            for n in idle.names(e, {}):
                lines.extend(idle.lines([n]))
        lines.append(f"stays = ({''.join(idle.text(e) + ', ' for e in stays)})")
        deepest = max(level_of.values(), default=0)
        for at in range(deepest + 1):
            indent = "  " * at
            if 0 < at <= DEEPEST:
                lines.append(f"{indent[2:]}for v_{chosen[at - 1]} in {tuple(self.inputs[chosen[at - 1]])}:")
            elif at:
                rest = chosen[DEEPEST:]
                lines.append(f"{indent[2:]}for ({''.join(f'v_{n}, ' for n in rest)}) in product({', '.join(str(tuple(self.inputs[n])) for n in rest)}):")
            for g in guards:
                if level(asked, g) == at:
                    define(asked, g, indent, at)
                    lines += [f"{indent}if not {asked.text(g)}:", f"{indent}  out.add(stays)", f"{indent}  {'continue' if at else 'return'}"]
            for e in after:
                define(taken, e, indent, at)
        lines.append("  " * deepest + f"out.add(({''.join(taken.text(e) + ', ' for e in after)}))")
        return self.function("core, out", ["from itertools import product", *lines])

    def successors(self, state):
        core = state[:self.core]
        if core not in self.known:
            out = set()
            for rule in self.rules:
                rule(core, out)
            for after in out:
                for name, value in zip(self.names, after):
                    if value not in self.states[name]:
                        raise ValueError(f"{name} becomes {value}")
            self.known[core] = out
        return self.known[core]

    def judge(self, e):
        """f(state): its value."""
        e = self.plain.of(e)
        needed = self.plain.names(e, {})
        if set(needed) & set(self.inputs):
            raise ValueError("a property speaks of inputs")
        return self.function("state", [*self.unpack(self.names, "state"), *self.plain.lines(needed), f"return {self.plain.text(e)}"])

    def violated(self, formula):
        """Does a run violate it?"""
        propositions = {}

        def split(e):
            if e[0] in ("G", "F", "U", "V", "->") or (e[0] in ("!", "&", "|") and any(map(temporal, e[1:]))):
                return (e[0], *map(split, e[1:]))
            return ("p", propositions.setdefault(e, len(propositions)))

        def temporal(e):
            return e[0] in ("G", "F", "U", "V") or (e[0] not in ("number", "name") and any(map(temporal, e[1:])))
        formula = split(formula)
        judges = [self.judge(e) for e in propositions]
        return ltl.has_run([self.first], self.successors, lambda state: [bool(j(state)) for j in judges], ("!", formula))


def explore(machine):
    """Names of the invariants and formulas that fail, and how many states there are; variables that remember something are not counted."""
    invariants = {n: machine.judge(e) for n, e in machine.invariants.items()}
    seen, waiting, failed = {machine.first}, [machine.first], set()
    while waiting:
        state = waiting.pop()
        failed |= {n for n, holds in invariants.items() if not holds(state)}
        for after in machine.successors(state):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    failed |= {n for n, formula in machine.formulas.items() if machine.violated(formula)}
    kept = [i for i, n in enumerate(machine.names) if not re.search(r"_broken$|^error_happened$|^met_\d+$", n)]
    return failed, len({tuple(state[i] for i in kept) for state in seen})
