"""Small random models of steps: processes that react to messages, to quorums, to shared memory, or just go on.

Like the models of rounds (generate.py, whose types and expressions it takes over): text, a statement a line, well-typed. They
are finite: who sends burns fuel, unless the channels are finite by themselves. Some models have a bit of everything, others are
threads: a few steps that hand a value on, of which properties see only the last.
"""
import random
import re

from generate import BOOL, VAL, Generator, Role, Scope, opt, set_of, shown

SENDER = ("proc", "all")
ROUND = ("round",)


class StepScope(Scope):
    """Names; of a quorum action also the record that each of its messages is."""

    def __init__(self, role, names, quorum=None, sender=None, rounds=()):
        super().__init__(role, names, where="step")
        self.quorum, self.sender = quorum, sender
        self.rounds = rounds  # of the message that is taken: they are in nothing but what is made for them

    def with_name(self, name, type_, message=False):
        inner = StepScope(self.role, {**self.names, name: type_}, self.quorum, self.sender, self.rounds)
        return inner


class Kind:
    def __init__(self, name, fields):
        self.name, self.fields = name, fields  # ((name, type), ...)

    def declared(self):
        inside = ", ".join(f"{name}: {shown(t)}" for name, t in self.fields)
        return f"{self.name}({inside})" if inside else self.name


class StepGenerator(Generator):
    # --- the model ---

    def model(self):
        self.kind = self.weighted([(26, "none"), (16, "crash"), (18, "recover"), (14, "lost"), (8, "duplicated"), (12, "byzantine"),
                                   (6, "both")])
        self.messages = self.chance(0.85)
        if not self.messages:
            self.kind = self.weighted([(50, "none"), (30, "crash"), (20, "recover")])
        self.shared_memory = not self.messages or self.chance(0.3)
        self.quiet = self.chance(0.5)     # properties read one variable: most steps are seen by nobody
        self.growing = self.chance(0.5)   # variables and guards that go one way, as ballots and flags do
        self.choose_roles()
        self.choose_values()
        self.mixed, self.careful, self.rounds_kept, self.file_def = False, self.chance(0.9), False, None
        self.identities = self.weighted([(35, 0), (45, 1), (20, 2)])
        self.fixed = self.chance(0.3)
        self.x_is = "input" if self.chance(0.75) else "var"
        self.ordered = not self.unordered and self.chance(0.5)
        self.channel = self.weighted([(42, ""), (22, "set"), (14, "fifo"), (8, "bag bound 1"), (5, "fifo bound 1"), (5, "set bound 1"),
                                      (4, "bag bound 2")])
        self.fuelled = not ("bound" in self.channel or self.channel == "set") or self.chance(0.6)

        # rounds without bound: an epoch for each process, in messages, too; who moves on burns fuel, so they come to an end
        self.epochs = self.messages and self.fuelled and self.kind != "byzantine" and self.chance(0.4)

        lines = ["algorithm Random", f"param n = {self.roles[0].size}", f"type Value = {self.values}"]
        self.globals = []
        if self.chance(0.08):
            self.globals.append(("g", self.proc() if self.identities and self.chance(0.5) else VAL))
            lines.append(f"input g: {shown(self.globals[0][1])}")
        self.shared = []
        for i in range(self.rng.randint(1, 2) if self.shared_memory else 0):
            lines.append(self.declare_shared(f"s{i + 1}"))
        self.kinds = [self.message_kind(i + 1) for i in range(self.rng.randint(1, 2) if self.messages else 0)]
        if self.kinds:
            lines.append("message " + ", ".join(k.declared() for k in self.kinds))
        for role in self.roles:
            self.declare(role)
        for role in self.roles:
            lines += self.process(role)
        self.environments = []
        lines += self.environment("env1")
        for i in range(self.rng.randint(2, 4)):
            lines += self.property(i)
        if self.epochs:
            lines += self.about_epochs()
        if self.chance(0.8):
            lines.append("safety whole: true")  # so that the search does not end before everything is seen
        return "\n".join(lines) + "\n"

    def choose_roles(self):
        shapes = [(14, (1,)), (40, (2,)), (16, (3,)), (12, (1, 2)), (8, (2, 1)), (4, (1, 1, 1)), (3, (2, 2)), (3, (1, 1))]
        if self.kind in ("recover", "both"):
            shapes = [(20, (1,)), (50, (2,)), (15, (1, 1)), (10, (1, 2))]
        self.roles = [Role(name, size) for name, size in zip("PQR", self.weighted(shapes))]
        self.total = sum(r.size for r in self.roles)
        self.single = len(self.roles) == 1
        self.ring = self.single and self.messages and self.kind != "both" and self.chance(0.12)
        self.graph = not self.ring and self.messages and self.chance(0.06)

    def choose_values(self):
        self.values = self.weighted([(30, "1..2"), (12, "0..1"), (6, "1..3"), (20, "unordered 1..2"), (8, "unordered 1..3"), (12, "{a, b}"),
                                     (8, "unordered {a, b}")])
        if self.kind == "byzantine" and "3" in self.values:
            self.values = "unordered 1..2"
        self.unordered = self.values.startswith("unordered")
        base = self.values.replace("unordered ", "")
        self.numeric = ".." in base
        if self.numeric:
            low, high = map(int, base.split(".."))
            self.literals = [str(v) for v in range(low, high + 1)]
        else:
            self.literals = base.strip("{}").split(", ")

    def declare_shared(self, name):
        kinds = [(25, BOOL), (25, opt(VAL)), (10, ("int", 0, 2))]
        if self.identities:
            kinds += [(20, opt(self.proc())), (15, ("array", self.proc(), BOOL)), (8, set_of(self.proc()))]
        t = self.weighted(kinds)
        if t[0] == "array":
            self.shared.append((name, t))
            return f"shared {name}: [{shown(t[1])}] bool = [p in {t[1][1]}: {self.pick(['true', 'false'])}]"
        self.globals.append((name, t))
        self.shared.append((name, t))
        first = {"bool": self.pick(["true", "false"]), "opt": "none", "int": "0", "set": "{}"}[t[0]]
        return f"shared {name}: {shown(t)} = {first}"

    def message_kind(self, i):
        types = [(40, VAL), (20, BOOL), (60 if self.growing else 15, ("int", 0, 2)), (12, opt(VAL))]
        if self.identities and self.kind != "byzantine":
            types += [(18, self.proc()), (8, opt(self.proc()))]
        count = self.weighted([(18, 0), (60, 1), (22, 2)])
        if self.kind == "byzantine":
            count, types = min(count, 1), types[:2]
        fields = tuple((f"{letter}{i}", self.weighted(types)) for letter in "ab"[:count])
        return Kind(f"k{i}", fields + (((f"r{i}", ROUND),) if self.epochs and self.chance(0.8) else ()))

    def about_epochs(self):
        p, q = (self.pick(self.roles).name for _ in range(2))
        sign = self.pick(["<=", "<", "==", "!="])
        return self.weighted([(50, [f"safety epochs: forall p in {p}, q in {q}: p.e {sign} q.e"]),
                              (25, [f"cover apart: exists p in {p}, q in {q}: p.e > q.e + 1"]),
                              (25, [])])

    # --- processes ---

    def declare(self, role):
        role.vars = [("x", VAL, self.x_is)]
        kinds = [(30, opt(VAL)), (30, BOOL), (8, set_of(VAL)), (10, VAL), (15, ("int", 0, self.rng.randint(1, 2)))]
        if self.identities:
            kinds += [(20, opt(self.proc())), (8, set_of(self.proc()))]
        if self.growing:
            kinds.append((60, ("int", 0, 2)))
        if self.quiet and role is self.roles[0]:
            role.vars.append(("d", self.pick([opt(VAL), BOOL]), "var"))
        for i in range(self.rng.randint(1, 2)):
            word = self.weighted([(70, "var"), (22 if self.kind in ("recover", "both") else 4, "stable"), (6, "ghost")])
            role.vars.append((f"v{i + 1}" if self.single or self.chance(0.5) else f"{role.name.lower()}{i + 1}", self.weighted(kinds), word))
        role.steps, role.start = [], False

    def readable(self, role, where="step"):
        names = {name: t for name, t, kind in role.vars if kind != "ghost"}
        names.update(self.globals)
        return names

    def process(self, role):
        shape = " ring" if self.ring else ""
        if self.graph and role is self.roles[0]:
            shape = f" graph {self.pick([role.name, role.name + ' - {me}', 'all'])}"
        lines = [f"process {role.name}[{'n' if role is self.roles[0] else role.size}]{shape} {{"]
        known = dict((name, t) for name, t in self.globals if (name, t) not in self.shared)
        for name, t, kind in role.vars:
            if kind == "input":
                more = " distinct" if len(self.literals) >= role.size and self.chance(0.1) else ""
                lines.append(f"  input {name}: {shown(t)}{more}")
            else:
                lines.append(f"  {kind} {name}: {shown(t)} = {self.first_value(t, Scope(role, dict(known), where='init'))}")
            if kind != "ghost":
                known[name] = t
        role.fuel = self.fuelled and bool(self.kinds)
        if role.fuel:
            full = self.weighted([(55, 1), (40, 2), (5, 3)])
            lines.append(f"  stable fuel: 0..{full} = {full}")
        if self.epochs:
            lines.append(f"  {self.pick(['var', 'var', 'stable'])} e: round = {self.pick(['1', '1', '0'])}")
        role.start = self.chance(0.3)
        role.steps = [f"st{i + 1}{role.name}" for i in range(self.weighted([(45, 0), (25, 1), (20, 2), (10, 3)]))]
        if role.start:
            lines += ["  start {", *self.body(role, StepScope(role, self.readable(role)), "    ", self.rng.randint(1, 2), True), "  }"]
        for name in role.steps:
            lines += self.step(role, name)
        handlers = self.rng.randint(0 if role.steps else 1, 3 if not role.steps else 2)
        if self.kinds and not role.steps and not role.start:
            handlers += 1
        for i in range(handlers):
            lines += self.action(role, "  ", None, first=i == 0 and not role.steps and not role.start)
        lines.append("}")
        return lines

    def step(self, role, name):
        lines = self.action(role, "  ", f"step {name}")
        if self.chance(0.3):
            extra = self.action(role, "  ", "or")
            if not extra[0].strip().startswith("or {") and not lines[0].strip().startswith(f"step {name} {{"):
                lines += extra
        return lines

    def action(self, role, indent, head, first=False):
        """One action, its header and body; head: `step NAME`, `or`, or None for a handler."""
        names = self.readable(role)
        scope = StepScope(role, names)
        trigger, guards, modifiers = "", [], []
        sends = bool(self.kinds) and self.chance(0.6)
        what = self.weighted([(34, "one"), (26, "quorum"), (30, "when"), (10, "bare")])
        if first and self.kinds:
            what, sends = "when", True
            if self.chance(0.85):
                what, scope, guards = "first", scope, [] if role.fuel else ["true"]
        if not self.kinds and what in ("one", "quorum"):
            what = "when"
        if what == "bare" and head != None and head.startswith("step"):
            trigger = ""
        elif what == "first":
            pass
        elif what in ("when", "bare"):
            scope, guard = self.guard(scope)
            guards.append(guard)
        elif what == "one":
            trigger, scope = self.one(role, scope)
        else:
            trigger, scope, modifiers = self.quorum(role, scope)
        if what in ("one", "quorum") and self.chance(0.4):
            guards.append(self.boolean(scope, 1))
        if scope.rounds and self.chance(0.4):
            guards.append(f"{self.pick(scope.rounds)} {self.pick(['>', '>=', '==', '<'])} e")
        growth = self.grows(role, scope) if self.growing and self.chance(0.6) else None
        if growth:
            guards.append(growth[0])
        once = (head is None or head == "or") and what != "bare" and self.chance(0.25)
        burns = sends and role.fuel and not (once and self.chance(0.5))
        if burns and not (trigger == "" and not guards):
            guards.insert(0, "fuel > 0")
        if burns and trigger == "" and not guards:
            guards.append("fuel > 0")
        if trigger:
            text = "on " + trigger
            modifiers += ["if " + " and ".join(guards)] if guards else []
        else:
            text = "when " + " and ".join(guards) if guards else ""
        if once and text:
            modifiers.append("once")
        if head is None and not text:
            text = "when true"
        header = " ".join(part for part in [head, text, *modifiers] if part)
        lines = [f"{indent}{header} {{"]
        if burns:
            lines.append(f"{indent}  fuel := fuel - 1")
        if growth:
            lines.append(f"{indent}  {growth[1]}")
        if self.epochs:
            lines += self.epoch(scope, burns, indent + "  ")
        lines += self.body(role, scope, indent + "  ", self.rng.randint(0 if sends else 1, 2), sends)
        if head and len(role.steps) > 1 and self.chance(0.3):
            lines.append(f"{indent}  goto {self.pick(role.steps)}")
        elif head is None and role.steps and self.chance(0.06):
            lines.append(f"{indent}  goto {self.pick(role.steps)}")
        return lines + [f"{indent}}}"]

    def epoch(self, scope, burns, indent):
        """It moves on, or takes over what it is told, most often only if that is later."""
        if scope.rounds and self.chance(0.6):
            told = self.pick(scope.rounds)
            if self.chance(0.2):
                return [f"{indent}e := {told}"]
            return [f"{indent}if {told} {self.pick(['>', '>', '>='])} e {{", f"{indent}  e := {told}", f"{indent}}}"]
        return [f"{indent}e := e + {self.pick('112')}"] if burns and self.chance(0.6) else []

    def grows(self, role, scope):
        """A guard and an assignment after which it is false, and stays so unless somebody turns back; or None."""
        own = {name: t for name, t, kind in role.vars if kind in ("var", "stable") and name != "x"}
        own.update((name, t) for name, t in self.shared if t[0] != "array")
        if not own:
            return None
        name, t = self.pick(sorted(own.items()))
        if t == BOOL:
            return f"not {name}", f"{name} := true"
        if t[0] == "opt":
            return f"{name} == none", f"{name} := {self.expr(t[1], scope, 1)}"
        if t[0] == "int":
            told = [n for n, has in scope.names.items() if has[0] == "int" and n not in own]
            told += [f"{n}.{field}" for n, has in scope.names.items() if has[0] == "rec" for field, f in has[1] if f[0] == "int"]
            if told and self.chance(0.8):
                told = self.pick(told)
                return f"{told} {self.pick(['>', '>', '>='])} {name}", f"{name} := min({told}, {t[2]})"
            return f"{name} < {t[2]}", f"{name} := {name} + 1"
        return None

    def guard(self, scope):
        """A condition that may bind: (what may be named after it, its text)."""
        choice = self.rng.random()
        if choice < 0.12:
            bound = self.name("w")
            inner = scope.with_name(bound, VAL)
            return inner, f"exists {bound} in Value: {self.boolean(inner, 0)}"
        options = [n for n, t in scope.names.items() if t[0] in ("opt", "set")]
        if choice < 0.3 and options:
            source, bound = self.pick(options), self.name("w")
            return scope.with_name(bound, scope.names[source][1]), f"exists {bound} in {source}"
        arrays = [n for n, t in self.shared if t[0] == "array"]
        if choice < 0.5 and arrays:
            bound = self.name("w")
            inner = scope.with_name(bound, self.proc())
            return inner, f"exists {bound} in {self.roles[0].name}: {self.pick(['', 'not '])}{self.pick(arrays)}[{bound}]"
        return scope, self.boolean(scope, 1)

    def pattern(self, kind, scope, binds):
        """(the text, what it binds): each field free, constrained, or bound."""
        arguments, bound = [], {}
        for name, t in kind.fields:
            choice = self.rng.random()
            if t == ROUND:
                if choice < 0.2:
                    arguments.append(f"{name} {self.pick(['==', '>=', '<'])} e")
                elif binds and choice < 0.9:
                    arguments.append(name)
                    bound[name] = t
            elif choice < 0.25:
                right = self.pick(self.named(scope, BOOL) + ["true", "false"]) if t == BOOL else self.expr(t, scope, 0)
                arguments.append(f"{name} == {right}")
            elif choice < 0.33 and t[0] == "int":
                arguments.append(f"{name} {self.pick(['<', '>=', '!='])} {self.rng.randint(t[1], t[2])}")
            elif binds and choice < 0.8:
                arguments.append(name)
                bound[name] = t
        return kind.name + (f"({', '.join(arguments)})" if arguments else ""), bound

    def one(self, role, scope):
        kind = self.pick(self.kinds)
        names, sender = dict(scope.names), None
        if self.chance(0.35):
            m = self.name("m")
            text, _ = self.pattern(kind, scope, False)
            text = f"{m}: {text}"
            names[m] = ("rec", tuple(f for f in kind.fields if f[1] != ROUND))
            rounds = tuple(f"{m}.{name}" for name, t in kind.fields if t == ROUND)
        else:
            text, bound = self.pattern(kind, scope, True)
            names.update((name, t) for name, t in bound.items() if t != ROUND)
            rounds = tuple(name for name, t in bound.items() if t == ROUND)
        if self.chance(0.4) and (self.identities or self.chance(0.3)):
            sender = self.name("f")
            text += f" from {sender}"
        return text, StepScope(role, names, None, sender, rounds)

    def quorum(self, role, scope):
        kind = self.pick(self.kinds)
        exactly = "exactly " if self.chance(0.35) else ""
        size = self.weighted([(6, "0"), (45, "1"), (35, "2"), (8, "n"), (6, "n / 2 + 1")])
        text, _ = self.pattern(kind, scope, False)
        modifiers = []
        names = dict(scope.names)
        free = [f for f, _ in kind.fields if f not in text]
        if free and self.chance(0.5):
            same = [f for f in free if self.chance(0.7)] or free[:1]
            inside = text[text.index("(") + 1:-1] + ", " if "(" in text else ""
            text = f"{kind.name}({inside}{', '.join(same)})"
            modifiers.append("same " + ", ".join(same))
            names.update((f, t) for f, t in kind.fields if f in same and t != ROUND)
            if size == "0":
                size = "1"
        if self.chance(0.5):
            modifiers.append("taken")
        return f"S: {exactly}{size} of {text}", StepScope(role, names, kind), modifiers

    # --- bodies ---

    def body(self, role, scope, indent, statements, sends):
        lines = []
        for _ in range(statements):
            new, scope = self.statement(role, scope, indent)
            lines += new
        for _ in range(self.weighted([(85, 1), (15, 2)]) if sends and self.kinds else 0):
            send = self.send(role, scope, indent)
            if self.chance(0.2):
                send = [f"{indent}if {self.boolean(scope, 1)} {{"] + ["  " + line for line in send] + [f"{indent}}}"]
            lines += send
        if self.chance(0.05):
            lines += [f"{indent}if {self.boolean(scope, 0)} {{", f"{indent}  halt", f"{indent}}}"]
        return lines

    def send(self, role, scope, indent):
        kind = self.pick(self.kinds)
        arguments = ", ".join(self.argument(t, scope) for _, t in kind.fields)
        return [f"{indent}send {kind.name}{'(' + arguments + ')' if arguments else ''} to {self.receivers(role, scope)}"]

    def argument(self, t, scope):
        if t == ROUND:
            return self.pick(["e", "e", "e + 1", *scope.rounds, *scope.rounds])
        return self.number(t, scope, 1) if t[0] == "int" else self.expr(t, scope, 1)

    def receivers(self, role, scope):
        if self.ring:
            return "next"
        pairs = [(30, "all"), (20, "others"), (25, self.pick(self.roles).name)]
        if scope.sender:
            pairs.append((45, scope.sender))
        if self.graph and role is self.roles[0]:
            pairs = [(80, "neighbours")] + pairs
        if self.identities:
            pairs += [(25, n) for n, t in scope.names.items() if t[0] == "proc"]
            pairs += [(10, n) for n, t in scope.names.items() if t == set_of(self.proc())]
            pairs += [(6, "me"), (8, f"{role.name} - {{me}}")]
        if self.identities == 2:
            pairs.append((10, self.pick([f"{self.roles[0].name}(1)", f"{role.name}(number(me) + 1)"])))
        return self.weighted(pairs)

    def assign(self, role, scope, indent):
        places = [(name, t) for name, t, _ in role.vars]
        scalars = [(name, t) for name, t in self.shared if t[0] != "array"]
        arrays = [name for name, t in self.shared if t[0] == "array"]
        if arrays and self.chance(0.4) and role is self.roles[0]:
            return f"{indent}{self.pick(arrays)}[me] := {self.boolean(scope, 0)}"
        if scalars and self.chance(0.4):
            places = scalars
        if self.quiet and len(places) > 2 and self.chance(0.7):
            places = [place for place in places if place[0] != "d"]
        name, t = self.pick(places)
        for _ in range(4):
            text = self.expr(t, scope, 2)
            if text != name:
                break
        return f"{indent}{name} := {text}"

    def statement(self, role, scope, indent):
        kind = self.weighted([(70, "assign"), (24, "if"), (6, "let")])
        if kind == "let":
            bound = self.name("l")
            text = self.boolean(scope, 1)
            inner = scope.with_name(bound, BOOL)
            return [f"{indent}let {bound} = {text}", self.assign(role, inner, indent)], inner
        if kind == "if":
            inner, guard = self.guard(scope)
            lines = [f"{indent}if {guard} {{", self.assign(role, inner, indent + "  "), f"{indent}}}"]
            if self.chance(0.3):
                lines += [f"{indent}else {{", self.assign(role, scope, indent + "  "), f"{indent}}}"]
            return lines, scope
        return [self.assign(role, scope, indent)], scope

    # --- expressions: what is said of a quorum, of senders, of shared arrays ---

    def gather(self, scope, t):
        """`e for m in S`, of that type; or None."""
        fields = [f for f, has in scope.quorum.fields if has == t] if getattr(scope, "quorum", None) else []
        options = [f for f, has in scope.quorum.fields if has == opt(t)] if getattr(scope, "quorum", None) else []
        m = self.name("m")
        if fields:
            return f"{m}.{self.pick(fields)} for {m} in S"
        if options:
            w = self.name("w")
            return f"{w} for {m} in S, {w} in {m}.{self.pick(options)}"
        return None

    def value(self, t, scope, depth):
        got = self.gather(scope, VAL) if depth > 0 else None
        if got and self.chance(0.5):
            how = self.pick(["min", "max"] if self.ordered else ["pick", "majority"])
            return f"({how}({got}){self.fallback(scope, VAL) if self.careful else ''})"
        if depth > 1 and self.chance(0.04):
            return "random(Value)"
        return super().value(t, scope, depth)

    def set(self, t, scope, depth):
        got = self.gather(scope, t[1]) if depth > 0 else None
        if got and self.chance(0.5):
            return "{" + got + "}"
        return super().set(t, scope, depth)

    def number(self, t, scope, depth):
        if depth > 0 and getattr(scope, "quorum", None) and self.chance(0.4):
            return f"min(|S|, {t[2]})" if self.careful else "|S|"
        return super().number(t, scope, depth)

    def boolean(self, scope, depth):
        if getattr(scope, "quorum", None) and self.chance(0.3):
            if not scope.quorum.fields or self.chance(0.3):
                return f"|S| {self.pick(['>=', '==', '<'])} {self.rng.randint(1, 2)}"
            m = self.name("m")
            inner = StepScope(scope.role, {**scope.names, m: ("rec", scope.quorum.fields)})
            return f"({self.pick(['exists', 'forall'])} {m} in S: {self.boolean(inner, 0)})"
        if getattr(scope, "sender", None) and self.identities and self.chance(0.2):
            return f"{scope.sender} {self.pick(['==', '!='])} me"
        arrays = [n for n, t in self.shared if t[0] == "array"] if scope.where == "step" else []
        if arrays and self.chance(0.2):
            return f"(forall q in {self.roles[0].name}: {self.pick(['', 'not '])}{self.pick(arrays)}[q])"
        return super().boolean(scope, depth)

    def comparison(self, scope, depth):
        for _ in range(6):
            text = super().comparison(scope, depth)
            words = text.split()
            if len(words) != 3 or words[0] != words[2]:
                break
        return text

    # --- environments and properties ---

    def environment(self, name):
        clauses = []
        who = "processes" if self.chance(0.8) else self.roles[0].name
        limit = self.pick([1, 1, 1, 2])
        if self.kind in ("crash", "both"):
            clauses.append(f"at most {limit} {who} crash")
        if self.kind == "recover":
            clauses.append(f"at most 1 {who} crash and recover")
        if self.kind in ("lost", "both"):
            clauses.append(self.pick(["any messages are lost", f"at most {self.pick([1, 2])} messages are lost"]))
        if self.kind == "duplicated":
            clauses.append(self.pick(["any messages are duplicated", f"at most {self.pick([1, 1, 2])} messages are duplicated"]))
        if self.kind == "byzantine":
            clauses.append(f"at most 1 {who} are byzantine")
        if self.channel and self.kinds:
            clauses.append(f"channels {self.channel}")
        if self.chance(0.1):
            clauses.append("fair")
        self.environments.append(name)
        return [f"environment {name} {{"] + [f"  {c}" for c in clauses] + ["}"]

    def property(self, i):
        kind = self.weighted([(55, "safety"), (20, "step"), (25, "cover")])
        word = "cover" if kind == "cover" else "safety"
        if self.quiet:
            text = self.quiet_formula(kind == "step")
        elif self.shared and self.chance(0.35):
            text = self.shared_formula(kind == "step")
        else:
            text = self.formula(kind == "step")
        if self.chance(0.02 if self.quiet else 0.1):
            guard = self.pick(["|faulty| == 0", "|correct| >= 1", "faulty != {}"])
            text = f"{guard} {'and' if kind == 'cover' else '=>'} ({text})"
        return [f"{word} prop{i + 1}: {'step ' if kind == 'step' else ''}{text}"]

    def quiet_formula(self, step):
        """About one variable of the first role alone."""
        role = self.roles[0]
        everything, role.vars = role.vars, [v for v in role.vars if v[0] == "d"]
        kind = role.vars[0][1]
        if step:
            text = f"forall p in {role.name}: {self.pick(['p.d != none => p.d == p.d' + chr(39), 'p.d' + chr(39) + ' == p.d']) if kind != BOOL else self.pick(['p.d => p.d' + chr(39), 'p.d' + chr(39) + ' => p.d'])}"
        elif kind == BOOL:
            text = self.pick([f"forall p in {role.name}: not p.d", f"exists p in {role.name}: p.d", f"count(p in {role.name}: p.d) <= 1",
                              f"forall p, q in {role.name}: p.d == q.d"])
        else:
            text = self.pick([f"forall p, q in {role.name}, v in p.d, w in q.d: v == w", f"forall p in {role.name}: p.d == none",
                              f"exists p in {role.name}: p.d != none", f"forall p in {role.name}, v in p.d: v == p.x",
                              f"|{{v for p in {role.name}, v in p.d}}| <= 1"])
        role.vars = everything
        return text

    def shared_formula(self, step):
        name, t = self.pick(self.shared)
        role = self.roles[0]
        if t[0] == "array":
            return f"{self.pick(['forall', 'exists'])} p in {role.name}: {name}[p] {self.pick(['=>', 'or', '=='])} ({self.atom('p', role, False)})"
        names = {name: t, f"{name}'": t} if step else {name: t}
        return self.relate(f"{name}'" if step else name, t, names)

    def atom(self, p, role, step, q=None):
        points = role.steps + (["start"] if role.start else []) + (["end"] if role.steps or role.start else [])
        if points and not step and self.chance(0.25):
            return f"{self.pick(['', 'not '])}at({self.pick([p, q]) if q else p}, {self.pick(points)})"
        return super().atom(p, role, step, q)


def with_flight(text):
    """The model with some final steps, and properties of messages in flight and of the end. What it draws depends on the text only."""
    rng = random.Random(text)
    text = re.sub(r"^  step (?=\w)", lambda step: "  final step " if rng.random() < 0.12 else step[0], text, flags=re.M)
    kinds = re.findall(r"\b(k\d)\b", (re.search(r"^message .*$", text, re.M) or [""])[0])
    if rng.random() > 0.35:
        return text
    found = ["safety stuck: not quiescent", "cover ends: quiescent", "safety deadlock: not deadlocked", "cover blocks: deadlocked"]
    for kind in kinds:
        found += [f"safety few: |pending({kind})| <= {rng.randint(0, 2)}", f"safety taken: quiescent => |pending({kind})| == 0",
                  f"cover back: exists m in pending({kind}): sender(m) == receiver(m)",
                  f"safety apart: forall l, m in pending({kind}): receiver(l) == receiver(m) => sender(l) == sender(m)"]
    return text + "\n".join(rng.sample(found, min(2, len(found)))) + "\n"


class Threads(Generator):
    """Little programs that hand one value on, and show it in the end: what is shown depends on who came first."""

    def model(self):
        self.type, self.values, self.change = self.weighted([
            (40, ("bool", ["false", "true"], "not {}")), (40, ("Colour", ["red", "green", "blue"], "(if {0} == red then green else if {0} == green then blue else red)")), (20, ("Value?", ["none"], "x"))])
        sizes = self.weighted([(22, (2,)), (10, (3,)), (30, (1, 1)), (15, (1, 2)), (13, (2, 1)), (10, (1, 1, 1))])
        self.memory = [f"s{i + 1}" for i in range(self.weighted([(25, 0), (50, 1), (25, 2)]))]
        self.messages = not self.memory or self.chance(0.55)
        self.chatty = self.messages and self.chance(0.5)
        self.faults = self.weighted([(62, ""), (16, "at most 1 processes crash"), (10, "at most 1 processes crash and recover"),
                                     (6, "at most 1 processes are byzantine"), (6, "any messages are lost")])
        channels = self.weighted([(70, ""), (12, "channels set"), (12, "channels fifo"), (6, "channels bag bound 1")])
        if "recover" in self.faults:
            channels = "channels set"  # or there would be no end to it
        if not self.messages:
            channels, self.faults = "", "" if "messages" in self.faults else self.faults
        self.roles = list(zip("PQR", sizes))
        lines = ["algorithm Random", "type Value = unordered 1..2", "type Colour = {red, green, blue}", *(f"shared {s}: {self.type} = {self.pick(self.values)}" for s in self.memory)]
        if self.messages:
            lines.append(f"message k1(a: {self.type}), k2")
        for role, size in self.roles:
            lines += self.thread(role, size)
        lines += ["environment env1 {", *(f"  {c}" for c in (self.faults, channels) if c), "}"]
        lines += [f"{kind} prop{i + 1}: {text}" for i, (kind, text) in enumerate(self.properties(sizes))]
        return "\n".join(lines + ["safety whole: true"]) + "\n"

    def thread(self, role, size):
        lines = [f"process {role}[{size}] {{", "  input x: Value" if self.type == "Value?" else None,
                 f"  {self.pick(['var', 'var', 'stable'])} v: {self.type} = {self.pick(self.values)}",
                 f"  var d: {self.type} = {self.values[0]}" if role == "P" else None]
        lines = [line for line in lines if line]
        for i in range(self.weighted([(20, 1), (45, 2), (25, 3), (10, 4)])):
            heads = [self.head(i, role)]
            if self.chance(0.25 if heads[0].startswith("on") else 0.15):
                heads.append(self.head(i, role) or "when true")
            for k, head in enumerate(heads):
                if len(heads) > 1:
                    head = head or "when true"
                lines.append(f"  {f'step t{i + 1}{role}' if k == 0 else 'or'}{' ' + head if head else ''} {{")
                lines += self.body(role, head)
                lines.append("  }")
        if role == "P":
            lines += ["  step show {", "    d := v", "  }"]
        if self.messages and self.chance(0.08):
            lines += ["  on k1(a) once {", *self.body(role, "k1(a)"), "  }"]
        return lines + ["}"]

    def head(self, i, role):
        if self.messages and i == 0 and role == "P" and self.chance(0.4):
            i = 1
        pairs = [(100 if self.chatty and role != "P" else 50, "")]
        if self.messages and i > 0:
            pairs += [(70 if self.chatty else 30, "on k1(a)"), (6, "on k2"), (8, f"on S: {self.pick(['1', '2', 'exactly 1', 'exactly 2'])} of k1(a) same a{self.pick(['', ' taken'])}"),
                      (4, f"on S: {self.pick(['1', '2'])} of k2{self.pick(['', ' taken'])}")]
        if self.memory:
            pairs.append((14, f"when {self.condition(self.memory)}"))
        return self.weighted(pairs)

    def condition(self, names):
        return f"{self.pick(names)} {self.pick(['==', '!='])} {self.pick(self.values + ['v'])}"

    def body(self, role, head):
        told = ["a"] if "(a)" in head else []
        lines = []
        for _ in range(self.weighted([(85, 1), (15, 2)])):
            pairs = [(14, f"v := {self.change.format('v')}"), (3, f"v := {self.pick(self.values)}")]
            if told:
                pairs.append((90, "v := a"))
            if self.memory:
                s = self.pick(self.memory)
                pairs += [(22, f"v := {s}"), (22, f"{s} := v"), (12, f"{s} := {self.change.format(s)}"), (6, f"{s} := {self.pick(self.values)}")]
            if self.messages:
                to = self.pick([name for name, _ in self.roles] + ["others"])
                pairs += [(90 if self.chatty and role != "P" else 25, f"send k1({self.pick(['v', 'v', self.change.format('v')] + told)}) to {to}"), (6, f"send k2 to {to}")]
            line = self.weighted(pairs)
            lines += [f"    if {self.condition(['v'] + told + self.memory)} {{", f"      {line}", "    }"] if self.chance(0.06) else [f"    {line}"]
        return lines

    def properties(self, sizes):
        """Which values can two of them show, or one and the memory? Whatever is left out of the search is missed here."""
        results = ["== none", "!= none"] if self.type == "Value?" else [f"== {v}" for v in self.values]
        pairs = [(a, b) for a in results for b in results]
        if sizes[0] > 1:
            covers = [f"exists p, q in P: p != q and p.d {a} and q.d {b}" for a, b in pairs if a <= b]
        elif self.memory and self.chance(0.4):
            covers = [f"s1 {a} and exists p in P: p.d {b}" for a, b in pairs]
        else:
            covers = [f"exists p in P: {'at(p, end) and ' if self.chance(0.1) else ''}p.d {a}" for a in results]
        if self.type == "Value?":
            covers += ["exists p in P, v in p.d: v == p.x", "exists p in P, v in p.d: v != p.x"]
        self.rng.shuffle(covers)
        found = [("cover", text) for text in covers[:6]]
        if self.chance(0.3):
            found.append(("safety", self.pick(["forall p, q in P: p.d == q.d", f"step forall p in P: p.d {results[0]} or p.d' == p.d"])))
        return found


def generate(rng):
    return (Threads if rng.random() < 0.5 else StepGenerator)(rng).model()
