"""Reads as much of TLA+ as `rondo export --to tla` writes, and goes through all states, since TLC is not packaged for Debian. Temporal formulas are
read as they are meant, with steps that change nothing everywhere: a step of the model is one that changes what stands under <<A>>_v or [A]_v."""
import re

import ltl
from compiled import Simple, Tokens, explore_from, function, in_temporal, loops, unpack

TOKEN = re.compile(r"""\s*(?:(\d+)|(\\/|\\?\w+)|("[^"]*")|(\|->|<<|>>_|>>|\]_|\[\]|<>|=>|==|<=|/\\|\.\.|->|[-+*%=#<~()\[\]{},:!@']))""")


class Reader(Tokens):
    """Tokens of one definition. Names of LET are looked up where they are used."""

    def __init__(self, text):
        super().__init__(text, TOKEN)
        self.local = {}  # name: body

    def maybe(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def number(self):
        if self.maybe("("):
            self.take("-")
            value = -int(self.take())
            self.take(")")
            return value
        return int(self.take())

    def values(self):
        if self.maybe("BOOLEAN"):
            return [False, True]
        low = self.number()
        self.take("..")
        return list(range(low, self.number() + 1))

    def let(self):
        if self.maybe("LET"):
            while self.peek() != "IN":
                name = self.take()
                self.take("==")
                self.local[name] = self.expression()
            self.take("IN")

    def body(self):
        self.let()
        inside = self.expression()
        self.take("")
        return inside

    def expression(self):
        left = self.disjunction()
        return ("->", left, self.expression()) if self.maybe("=>") else left

    def disjunction(self):
        left = self.conjunction()
        while self.maybe("\\/"):
            left = ("|", left, self.conjunction())
        return left

    def conjunction(self):
        self.maybe("/\\")
        left = self.part()
        while self.maybe("/\\"):
            left = ("&", left, self.part())
        return left

    def part(self):
        if self.maybe("~"):
            return ("!", self.part())
        if self.maybe("<>"):
            return ("F", self.action("<<", ">>_") or self.part())
        if self.maybe("[]"):
            return ("G", self.action("[", "]_") or self.part())
        return self.level(0)

    def action(self, opening, closing):
        if not self.maybe(opening):
            return None
        inside = self.expression()
        self.take(closing)
        return ("step", closing, inside, self.take())

    LEVELS = ((("=", "="), ("#", "!="), ("<", "<"), ("<=", "<="), ("\\in", "in")), (("\\cup", "cup"),), (("+", "+"), ("-", "-")),
              (("*", "*"), ("\\div", "/"), ("%", "mod")))

    def level(self, i):
        if i == len(self.LEVELS):
            return self.primary()
        left = self.level(i + 1)
        while self.peek() in dict(self.LEVELS[i]):
            left = (dict(self.LEVELS[i])[self.take()], left, self.level(i + 1))
        return left

    def primary(self):
        token = self.take()
        if token == "~":  # x' = ~y
            return ("!", self.primary())
        if token == "(":
            if self.maybe("-"):
                inside = ("number", -int(self.take()))
            else:
                inside = self.expression()
            self.take(")")
        elif token == "IF":
            condition = self.expression()
            self.take("THEN")
            then = self.expression()
            self.take("ELSE")
            return ("?", condition, then, self.expression())
        elif token == "[":
            inside = self.array()
        elif token == "{":
            inside = ["set"]
            while not self.maybe("}"):
                inside.append(self.expression())
                self.maybe(",")
            inside = tuple(inside)
        elif token in ("TRUE", "FALSE"):
            inside = ("number", token == "TRUE")
        elif token.isdigit():
            inside = ("number", int(token))
        elif token == "@":
            inside = ("name", "it")
        elif re.fullmatch(r"[A-Za-z_]\w*", token):
            inside = ("name", token)
        else:
            raise ValueError(f"not expected: '{token}' at {self.tokens[max(0, self.at - 6):self.at + 5]}")
        while self.peek() in ("[", "'"):
            if self.take() == "'":
                inside = ("'", inside)
            else:
                inside = ("element", inside, self.expression())
                self.take("]")
        return inside

    def array(self):
        if self.peek(1) == "\\in":  # all elements the same
            self.take()
            self.take("\\in")
            last = self.values()[-1]
            self.take("|->")
            inside = ("all", ("number", last), self.expression())
        else:
            inside = self.expression()
            for token in ("EXCEPT", "!", "["):
                self.take(token)
            index = self.expression()
            self.take("]")
            self.take("=")
            inside = ("except", inside, index, self.expression())
        self.take("]")
        return inside


class Rule:
    """choices: values by name; guards, asserted: (condition, message); changes by variable."""

    def __init__(self, text, variables, initial):
        r = Reader(text)
        self.choices, self.guards, self.asserted, self.changes = {}, [], [], {}
        while r.maybe("\\E"):
            name = r.take()
            r.take("\\in")
            self.choices[name] = r.values()
            r.take(":")
        r.let()
        while r.maybe("/\\"):
            if r.maybe("UNCHANGED"):
                r.take("<<")
                while not r.maybe(">>"):
                    name = r.take()
                    self.change(name, ("name", name))
                    r.maybe(",")
            elif r.maybe("Assert"):
                r.take("(")
                condition = r.expression()
                r.take(",")
                self.asserted.append((condition, r.take().strip('"')))
                r.take(")")
            elif r.peek() in variables and r.peek(1) == ("=" if initial else "'"):
                name = r.take()
                r.take()
                if not initial:
                    r.take("=")
                self.change(name, r.level(0))
            else:
                self.guards.append(r.part())
        r.take("")
        self.definitions = r.local
        if set(self.changes) != set(variables):
            raise ValueError(f"not every variable has a value after the rule: {set(variables) ^ set(self.changes)}")

    def change(self, name, value):
        if name in self.changes:
            raise ValueError(f"{name} has two values after the rule")
        self.changes[name] = value


def unprimed(e):
    """Of the state after the step, which is all that is spoken of."""
    if e[0] == "'":
        return e[1]
    if e[0] == "name":
        raise ValueError(f"{e[1]} before the step")
    return e if e[0] == "number" else (e[0], *map(unprimed, e[1:]))


def stepwise(e, moved):
    """Formulas about steps as such about states, with a name that says that the last step was one."""
    if e[0] == "step":
        moved.add(e[3])
        inside = unprimed(e[2])
        return ("&", ("name", "moved"), inside) if e[1] == ">>_" else ("|", ("!", ("name", "moved")), inside)
    return e if e[0] in ("number", "name") else (e[0], *(stepwise(x, moved) for x in e[1:]))


class Machine:
    def __init__(self, text):
        text = re.sub(r"\(\*.*?\*\)", " ", text, flags=re.S)
        head, *parts = re.split(r"^(\w+) ==", text, flags=re.M)
        if not re.match(r"---- MODULE \w+ ----\n", head) or not parts[-1].rstrip().endswith("===="):
            raise ValueError("no module")
        parts[-1] = parts[-1].rstrip()[:-4]
        bodies = dict(zip(parts[::2], parts[1::2]))
        if 2 * len(bodies) != len(parts):
            raise ValueError("a name is defined twice")
        self.names = re.findall(r"\w+", head.split("VARIABLES")[1])
        order = list(bodies)
        if re.findall(r"\w+", bodies["vars"]) != self.names or bodies["Spec"].strip() != "Init /\\ [][Next]_vars":
            raise ValueError("vars, or Spec")
        self.types = {}
        for line in bodies["TypeOK"].strip().splitlines():
            r = Reader(line)
            r.take("/\\")
            name = r.take()
            r.take("\\in")
            self.types[name] = self.type_of(r)
        rules = order[order.index("Init") + 1:order.index("Next")]
        if re.findall(r"\w+", bodies["Next"]) != rules:
            raise ValueError("Next is not all rules")
        self.init = self.compiled(Rule(bodies["Init"], self.names, True), True)
        self.rules = [self.compiled(Rule(bodies[n], self.names, False), False) for n in rules]
        self.definitions, self.invariants, self.formulas = {}, {}, {}
        for name in order[order.index("Spec") + 1:] + (["started"] if "started" in bodies else []):
            r = Reader(bodies[name])
            body = r.body()
            renamed = {n: f"{name}__{n}" for n in r.local}
            for n, e in r.local.items():
                self.definitions[renamed[n]] = self.rename(e, renamed)
            self.definitions[name] = self.rename(body, renamed)
            if not re.fullmatch(r"(atom|idle)_\d+|started", name):
                (self.formulas if is_temporal(body) else self.invariants)[name] = self.definitions[name]
        self.failed, self.known = set(), {}

    def type_of(self, r):
        if r.maybe("SUBSET"):
            r.take("(")
            members = r.values()
            return lambda v: isinstance(v, frozenset) and v <= set(members)
        if r.maybe("["):
            n = len(r.values())
            r.take("->")
            values = r.values()
            return lambda v: isinstance(v, tuple) and len(v) == n and all(x in values for x in v)
        values = r.values()
        return lambda v: v in values and isinstance(v, bool) == isinstance(values[0], bool)

    def rename(self, e, renamed):
        if e[0] == "name":
            return ("name", renamed.get(e[1], e[1]))
        return e if e[0] == "number" else (e[0], *(self.rename(x, renamed) if isinstance(x, tuple) else x for x in e[1:]))

    def compiled(self, rule, initial):
        """f(state, out): states after the rule, each followed by the truth of what is asserted."""
        s = Simple(rule.definitions, {})
        after = [s.of(rule.changes[n]) for n in self.names] + [s.of(e) for e, _ in rule.asserted]
        lines = loops(rule.choices, s, [s.of(g) for g in rule.guards], s, after, [])
        return function("state, out", [*([] if initial else unpack(self.names, "state")), *lines]), [message for _, message in rule.asserted]

    def after(self, rule, state):
        f, messages = rule
        out, n = set(), len(self.names)
        f(state, out)
        for told in out:
            failed = {m for m, holds in zip(messages, told[n:]) if not holds}
            if failed - self.steps:
                self.failed.add("no_error")
                continue
            self.failed |= failed
            for name, value in zip(self.names, told):
                if not self.types[name](value):
                    raise ValueError(f"{name} becomes {value}")
            yield told[:n]

    steps = frozenset()  # names of properties that are asserted

    def successors(self, state):
        if state not in self.known:
            self.known[state] = {after for rule in self.rules for after in self.after(rule, state)}
        return self.known[state]

    def judge(self, e, *more):
        s = Simple(self.definitions, {})
        e = s.of(e)
        return function("state", [*unpack([*self.names, *more], "state"), *s.lines(s.names(e, {})), f"return {s.text(e)}"])

    def violated(self, formula):
        """Does a run violate it, one with steps that change nothing wherever one likes?"""
        propositions, under = {}, set()
        formula = in_temporal(stepwise(formula, under), propositions)
        if under - {"flip"}:
            raise ValueError(f"steps that change {under}")
        flip = self.names.index("flip")
        judges = [self.judge(e, "moved") for e in propositions]

        def successors(node):
            return {(*after, after[flip] != node[flip]) for after in self.successors(node[:-1])} | {(*node[:-1], False)}
        first = [(*state, False) for state in self.after(self.init, ())]
        return ltl.has_run(first, successors, lambda node: [bool(j(node)) for j in judges], ("!", formula))


def is_temporal(e):
    return e[0] in ("G", "F") or (e[0] not in ("number", "name") and any(is_temporal(x) for x in e[1:] if isinstance(x, tuple)))


def explore(machine, steps=()):
    """As in compiled.py. steps: names of properties, which may be assertions, like errors."""
    machine.steps = set(steps)
    failed, states = explore_from(machine, machine.after(machine.init, ()), r"^(met|flip)$")
    return failed | machine.failed, states
