"""Reads as much of SMV as `rondo export --to smv` writes, and goes through all states: no NuSMV is packaged for Debian. For each value of the
input `rule` the transition relation is simplified and becomes a Python function."""
import re

import ltl
from compiled import Simple, Tokens, explore_from, function, in_temporal, loops, parts_of, unpack

TOKEN = re.compile(r"\s*(?:(\d+)|(\w+)|(:=|->|!=|<=|[-+*/!&|=<?:;()]))")


class Reader(Tokens):
    """Expressions and formulas."""

    def __init__(self, text):
        super().__init__(text, TOKEN)

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

    def compiled(self, rule):
        """f(core, out): all states that come after by the rule."""
        possible, base = f"r{rule}_possible", {"rule": rule}
        asked, idle, taken = (Simple(self.definitions, {**base, **more}) for more in ({}, {possible: False}, {possible: True}))
        stays = [idle.of(self.changes[n]) for n in self.names]
        needed = {n: None for e in stays for n in idle.names(e, {})}
        assert not set(needed) & set(self.inputs)
        guards, after = parts_of(asked.of(self.definitions[possible])), [taken.of(self.changes[n]) for n in self.names]
        return function("core, out", [*unpack(self.names[:self.core], "core"), *idle.lines(needed),
                                      f"stays = ({''.join(idle.text(e) + ', ' for e in stays)})",
                                      *loops(self.inputs, asked, guards, taken, after, ["out.add(stays)"])])

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
        return function("state", [*unpack(self.names, "state"), *self.plain.lines(needed), f"return {self.plain.text(e)}"])

    def violated(self, formula):
        """Does a run violate it?"""
        propositions = {}
        formula = in_temporal(formula, propositions)
        judges = [self.judge(e) for e in propositions]
        return ltl.has_run([self.first], self.successors, lambda state: [bool(j(state)) for j in judges], ("!", formula))


def explore(machine, steps=()):
    """As in compiled.py. steps: likewise for tla.py."""
    return explore_from(machine, [machine.first], r"_broken$|^error_happened$|^met_\d+$")
