"""Reads as much of SMV as `rondo export --to smv` writes, and goes through all states: no NuSMV is packaged for Debian."""
import itertools
import re

TOKEN = re.compile(r"\s*(?:(\d+)|(\w+)|(:=|!=|<=|[-+*/!&|=<?:;()]))")


class Reader:
    """Expressions, as text for Python."""

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

    def expression(self):
        condition = self.level(0)
        if self.peek() != "?":
            return condition
        self.take()
        then = self.expression()
        self.take(":")
        return f"({then} if {condition} else {self.expression()})"

    LEVELS = (("|",), ("&",), ("=", "!=", "<", "<="), ("+", "-"), ("*", "/", "mod"))
    PYTHON = {"|": "or", "&": "and", "=": "==", "/": "//", "mod": "%"}

    def level(self, i):
        if i == len(self.LEVELS):
            return self.atom()
        left = self.level(i + 1)
        while self.peek() in self.LEVELS[i]:
            sign = self.take()
            left = f"({left} {self.PYTHON.get(sign, sign)} {self.level(i + 1)})"
        return left

    def atom(self):
        token = self.take()
        if token == "(":
            inside = self.expression()
            self.take(")")
            return inside
        if token == "!":
            return f"(not {self.atom()})"
        if token == "-":
            return f"(-{self.atom()})"
        if token == "case":
            out = []
            while self.peek() != "esac":
                condition = self.expression()
                self.take(":")
                out.append((condition, self.expression()))
                self.take(";")
            self.take("esac")
            text = "None"
            for condition, value in reversed(out):
                text = f"({value} if {condition} else {text})"
            return text
        if token == "next":
            self.take("(")
            name = self.take()
            self.take(")")
            return f"next_{name}"
        return {"TRUE": "True", "FALSE": "False"}.get(token, token if token.isdigit() else f"v_{token}()" if token in self.defined else f"s[{token!r}]")

    defined = frozenset()


def explore(text):
    """Names of the invariants that fail, and how many states there are; those that remember something are not counted."""
    text = re.sub(r"--[^\n]*", "", text)
    section, states, inputs = None, {}, {}
    for line in text.splitlines():
        if line.strip() in ("VAR", "IVAR", "MODULE main"):
            section = line.strip()
        declared = re.match(r"\s+(\w+) : (boolean|(-?\d+)\.\.(-?\d+));", line)
        if declared:
            values = [False, True] if declared.group(2) == "boolean" else list(range(int(declared.group(3)), int(declared.group(4)) + 1))
            (states if section == "VAR" else inputs)[declared.group(1)] = values
        if re.match(r"rule : ", line.strip()):
            inputs["rule"] = list(range(int(re.search(r"\.\.(\d+)", line).group(1)) + 1))
    reader = type("R", (Reader,), {"defined": frozenset(re.findall(r"^DEFINE (\w+) :=", text, re.M))})
    s = {}
    scope = {"s": s}
    for name, body in re.findall(r"^DEFINE (\w+) := (.*);", text, re.M):
        exec(f"def v_{name}(): return {reader(body).expression()}", scope)
    changes = {n: eval(f"lambda: {reader(body).expression()}", scope) for n, body in re.findall(r"^TRANS next\((\w+)\) = (.*);", text, re.M)}
    invariants = {n: eval(f"lambda: {reader(body).expression()}", scope) for n, body in re.findall(r"^INVARSPEC NAME (\w+) := (.*);", text, re.M)}
    first = {}
    for body in re.findall(r"^INIT (.*);", text, re.M):
        negated, equal = re.match(r"!(\w+)$", body), re.match(r"(\w+) = (-?\d+)$", body)
        first[(negated or equal).group(1)] = False if negated else int(equal.group(2))
    assert set(first) == set(states) == set(changes)
    names = sorted(states)
    kept = [n for n in names if not n.endswith("_broken") and n != "error_happened"]
    seen, waiting, failed = set(), [tuple(first[n] for n in names)], set()
    seen.add(waiting[0])
    by_rule = {r: [n for n in inputs if n.startswith(f"r{r}_")] for r in inputs["rule"]}
    while waiting:
        state = waiting.pop()
        s.clear()
        s.update(zip(names, state))
        failed |= {n for n, holds in invariants.items() if not holds()}
        for rule in inputs["rule"]:
            for chosen in itertools.product(*(inputs[n] for n in by_rule[rule])):
                s.update(zip(names, state))
                s.update({n: inputs[n][0] for n in inputs})
                s.update(zip(by_rule[rule], chosen))
                s["rule"] = rule
                after = tuple(changes[n]() for n in names)
                for name, value in zip(names, after):
                    assert value in states[name], (name, value)
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
    return failed, len({tuple(v for n, v in zip(names, state) if n in kept) for state in seen})
