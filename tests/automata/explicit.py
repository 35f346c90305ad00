"""Threshold automata by brute force: a second reader of the format and a second meaning of its specifications.

It shares nothing with rondo. An instance has values for all parameters; its states are computed one by one. A run may
stop anywhere and then repeats its last state forever. For each state, `outcomes` is the set of all truth values that the
subformulas of a specification can have along the runs from there; a specification is violated if it is false in an
outcome of an initial state. (Runs around a cycle that never stop are not considered: they matter only for formulas about
infinite runs of automata with cycles.)
"""
import fractions
import itertools
import re

TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\s+|([A-Za-z_]\w*|\d+|==|!=|=!|<=|>=|->|:=|&&|\|\||\[\]|<>|.)", re.S)


class Reader:
    def __init__(self, text):
        self.tokens = [m.group(1) for m in TOKEN.finditer(text) if m.group(1)] + ["<end>"]
        self.at = 0
        self.shared, self.params, self.unknowns, self.locations, self.defines = [], [], [], [], {}
        self.assumptions, self.inits, self.rules, self.specs = [], [], [], {}
        assert self.next() in ("skel", "thresholdAutomaton", "threshAuto", "TA", "ta")
        self.name = self.next()
        self.want("{")
        while self.peek() != "}":
            self.declaration(self.next())

    def peek(self):
        return self.tokens[self.at]

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def want(self, token):
        got = self.next()
        assert got == token, (got, token, self.tokens[self.at - 8:self.at + 3])

    def names(self, end):
        out = [self.next()]
        while self.peek() == ",":
            self.next()
            out.append(self.next())
        self.want(end)
        return out

    def section(self):
        if self.peek() == "(":
            self.next(), self.next(), self.want(")")
        self.want("{")
        while self.peek() != "}":
            yield
        self.want("}")

    def semicolon(self):
        if self.peek() == ";":
            self.next()

    def declaration(self, word):
        if word in ("local", "shared", "parameters", "unknowns"):
            names = self.names(";")
            if word == "shared":
                self.shared += names
            if word == "parameters":
                self.params += names
            if word == "unknowns":
                self.unknowns += names
        elif word == "define":
            name = self.next()
            self.want("==")
            self.defines[name] = self.sum()
            self.want(";")
        elif word in ("assumptions", "assume", "inits"):
            for _ in self.section():
                (self.inits if word == "inits" else self.assumptions).append(self.formula())
                self.semicolon()
        elif word == "locations":
            for _ in self.section():
                self.locations.append(self.next())
                while self.next() != "]":
                    pass
                self.want(";")
        elif word == "rules":
            for _ in self.section():
                self.rule()
        elif word in ("specifications", "spec"):
            for _ in self.section():
                name = self.next()
                self.want(":")
                self.specs[name] = self.formula()
                self.semicolon()
        else:
            raise AssertionError(word)

    def rule(self):
        number = self.next()
        self.want(":")
        source = self.next()
        self.want("->")
        target = self.next()
        self.want("when")
        guard = self.formula()
        self.want("do")
        self.want("{")
        changes = {}
        while self.peek() != "}":
            name = self.next()
            if name in ("unchanged", "reset") and self.peek() == "(":
                self.next()
                for other in self.names(")"):
                    if name == "reset":
                        changes[other] = ("number", 0)
            else:
                self.want("'")
                assert self.next() in ("==", ":=")
                changes[name] = self.sum()
            self.semicolon()
        self.want("}")
        self.want(";")
        self.rules.append((number, source, target, guard, changes))

    # formulas: tuples, the operator first
    def formula(self):
        left = self.conjunction()
        while self.peek() == "||":
            self.next()
            left = ("or", left, self.conjunction())
        if self.peek() == "->":
            self.next()
            return ("or", ("not", left), self.formula())
        return left

    def conjunction(self):
        left = self.comparison()
        while self.peek() == "&&":
            self.next()
            left = ("and", left, self.comparison())
        return left

    def comparison(self):
        sign = self.peek()
        if sign in ("!", "[]", "<>"):
            self.next()
            return ({"!": "not", "[]": "always", "<>": "eventually"}[sign], self.comparison())
        left = self.sum()
        if self.peek() in ("==", "!=", "=!", "<=", ">=", "<", ">"):
            return (self.next().replace("=!", "!="), left, self.sum())
        return left

    def sum(self):
        left = self.product()
        while self.peek() in ("+", "-"):
            left = (self.next(), left, self.product())
        return left

    def product(self):
        left = self.atom()
        while self.peek() in ("*", "/"):
            left = (self.next(), left, self.atom())
        return left

    def atom(self):
        token = self.next()
        if token == "(":
            inner = self.formula()
            self.want(")")
            return inner
        if token == "-":
            return ("-", ("number", 0), self.atom())
        if token in ("true", "false"):
            return ("number", int(token == "true"))
        if token.isdigit():
            return ("number", int(token))
        if token in self.defines:
            return self.defines[token]
        return ("name", token)


def value(e, names):
    op = e[0]
    if op == "number":
        return e[1]
    if op == "name":
        return names[e[1]]
    if op == "not":
        return not value(e[1], names)
    if op == "and":
        return bool(value(e[1], names)) and bool(value(e[2], names))
    if op == "or":
        return bool(value(e[1], names)) or bool(value(e[2], names))
    a, b = value(e[1], names), value(e[2], names)
    if op == "/":  # numbers: a fraction; otherwise rounded down
        return a // b if has_name(e[1]) else fractions.Fraction(a, b)
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "==": lambda: a == b, "!=": lambda: a != b,
            "<=": lambda: a <= b, ">=": lambda: a >= b, "<": lambda: a < b, ">": lambda: a > b}[op]()


def has_name(e):
    return isinstance(e, tuple) and (e[0] == "name" or any(has_name(k) for k in e[1:]))


def has_temporal(e):
    return isinstance(e, tuple) and (e[0] in ("always", "eventually") or any(has_temporal(k) for k in e[1:]))


class TooLarge(Exception):
    pass


class Instance:
    """An automaton with values for its parameters and unknowns."""

    def __init__(self, automaton, params, most=20000, bound=None):
        self.a, self.params, self.most = automaton, params, most
        self.names = automaton.locations + automaton.shared
        self.bound = bound if bound is not None else max(params.values()) + 1

    def admissible(self):
        return all(self.params[p] >= 0 for p in self.a.params) and all(value(c, self.params) for c in self.a.assumptions)

    def env(self, state):
        return {**self.params, **dict(zip(self.names, state))}

    def initial(self):
        fixed = {}
        for c in self.a.inits:
            if c[0] == "==" and c[1][0] == "name" and c[1][1] in self.names:
                try:
                    fixed[c[1][1]] = value(c[2], self.params)
                except KeyError:
                    pass
        free = [n for n in self.names if n not in fixed]
        if (self.bound + 1) ** len(free) > 10 ** 6:
            raise TooLarge
        for values in itertools.product(range(self.bound + 1), repeat=len(free)):
            env = {**self.params, **fixed, **dict(zip(free, values))}
            state = tuple(env[n] for n in self.names)
            if min(state) >= 0 and all(value(c, env) for c in self.a.inits):
                yield state

    def successors(self, state):
        env = self.env(state)
        for rule in self.a.rules:
            number, source, target, guard, changes = rule
            if env[source] < 1 or not value(guard, env):
                continue
            new = dict(env)
            for name, term in changes.items():
                new[name] = value(term, env)
            new[source] -= 1
            new[target] += 1
            after = tuple(new[n] for n in self.names)
            if min(after) >= 0:
                yield number, after

    def explore(self):
        self.first = list(self.initial())
        self.next, todo = {}, list(self.first)
        while todo:
            state = todo.pop()
            if state in self.next:
                continue
            self.next[state] = {after for _, after in self.successors(state) if after != state}
            todo += self.next[state]
            if len(self.next) > self.most:
                raise TooLarge
        return self

    def violates(self, formula):
        """Is there a run on which the formula is false?"""
        subs = []

        def collect(e):
            if has_temporal(e):
                for kid in e[1:]:
                    collect(kid)
            if e not in subs:
                subs.append(e)
        collect(formula)
        index = {e: i for i, e in enumerate(subs)}

        def outcome(env, later):  # later: of the next state; None: this state is repeated forever
            out = []
            for e in subs:
                if not has_temporal(e):
                    out.append(bool(value(e, env)))
                    continue
                kids = [out[index[k]] for k in e[1:]]
                if e[0] == "not":
                    out.append(not kids[0])
                elif e[0] == "and":
                    out.append(kids[0] and kids[1])
                elif e[0] == "or":
                    out.append(kids[0] or kids[1])
                elif later is None:
                    out.append(kids[0])
                elif e[0] == "always":
                    out.append(kids[0] and later[index[e]])
                else:
                    out.append(kids[0] or later[index[e]])
            return tuple(out)

        before = {s: set() for s in self.next}
        for s, afters in self.next.items():
            for after in afters:
                before[after].add(s)
        outcomes = {s: {outcome(self.env(s), None)} for s in self.next}
        todo = [(s, o) for s, all_of in outcomes.items() for o in all_of]
        while todo:
            s, o = todo.pop()
            for p in before[s] | {s}:
                new = outcome(self.env(p), o)
                if new not in outcomes[p]:
                    outcomes[p].add(new)
                    todo.append((p, new))
        return any(not o[index[formula]] for s in self.first for o in outcomes[s])


def run_satisfies(automaton, params, states, formula):
    """The value of the formula on the run through these states (dictionaries), the last of which is repeated."""
    def at(e, i):
        if not has_temporal(e):
            return bool(value(e, {**params, **states[i]}))
        if e[0] == "not":
            return not at(e[1], i)
        if e[0] == "and":
            return at(e[1], i) and at(e[2], i)
        if e[0] == "or":
            return at(e[1], i) or at(e[2], i)
        rest = range(i, len(states))
        return all(at(e[1], k) for k in rest) if e[0] == "always" else any(at(e[1], k) for k in rest)
    return at(formula, 0)


def check_run(automaton, params, states, formula):
    """None if the states are a run on which the formula is false; else what is wrong."""
    instance = Instance(automaton, params)
    if not instance.admissible():
        return "an assumption does not hold"
    rows = [tuple(s[n] for n in instance.names) for s in states]
    if min(rows[0]) < 0 or not all(value(c, instance.env(rows[0])) for c in automaton.inits):
        return "not an initial state"
    for i, (a, b) in enumerate(zip(rows, rows[1:])):
        if a != b and b not in {after for _, after in instance.successors(a)}:
            return f"step {i + 1} is none of the automaton"
    return "the formula holds" if run_satisfies(automaton, params, states, formula) else None
