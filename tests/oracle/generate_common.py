"""What random models of all kinds have in common: types, stores, statements, properties."""

import random
from dataclasses import dataclass, field

from .generate_expr import (ANY, BOOL, ROUND, Expr, Scope, Type, opt, role_type, set_of, span,
                           MESSAGE_POOL, VALUE_POOL)


@dataclass
class Store:
    kind: str                     # input var ghost oracle stable shared
    name: str
    type: Type
    text: str = ""                # the declaration
    first: str = None             # the first value, if it is a constant


@dataclass
class Generated:
    """A random model, and how to run it."""
    kind: str
    seed: int
    text: str
    params: dict = field(default_factory=dict)
    features: set = field(default_factory=set)


class Maker:
    """Makes one model. Subclasses fill in what processes do and what environments say."""

    kind = ""
    halts = 0.2                               # how often a statement is `halt`

    def __init__(self, seed):
        self.rng = random.Random(f"{self.kind}-{seed}")
        self.seed = seed
        self.features = set()
        self.types = []
        self.sizes = {}                       # role -> number of processes
        self.errors = 0.2 if self.rng.random() < 0.35 else 0.0
        self.e = Expr(self.rng, self.use, self)
        self.stores = {}                      # role -> list of Store
        self.globals = []                     # Stores at file level
        self.defs = []                        # (name, parameter types, result type) without reading anything
        self.process_defs = {}                # role -> the same
        self.head = []
        self.params = {}
        self.taken = set("me all others received heard correct faulty HO SHO round at".split())
        self.environments = []                # names
        self.live_environments = []
        self.byzantine = False
        self.property_defs = []

    # ---- small helpers ----------------------------------------------------------

    def use(self, feature):
        self.features.add(feature)

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, options):
        return self.rng.choice(options)

    def weighted(self, options):
        return self.e.weighted(options)

    def name(self, *pool):
        for n in pool:
            if n not in self.taken:
                self.taken.add(n)
                return n
        i = 1
        while f"{pool[0]}{i}" in self.taken:
            i += 1
        self.taken.add(f"{pool[0]}{i}")
        return f"{pool[0]}{i}"

    # ---- types --------------------------------------------------------------------

    def declare_types(self):
        for name in ["Value", "Colour", "Rank"][: self.weighted([(2, 0), (4, 1), (3, 2), (1, 3)])]:
            self.taken.add(name)
            unordered = self.chance(0.25)
            if unordered:
                self.use("unordered")
            if self.chance(0.5):
                lo = self.pick([0, 1, 1])
                t = span(lo, lo + self.rng.randint(0 if self.chance(0.1) else 1, 2 if self.chance(0.2) else 1), name, unordered)
                self.use("named range")
            else:
                labels = [self.name(*pool) for pool in [("red", "apples"), ("green", "pears"), ("blue", "plums")]]
                t = Type("enum", name=name, labels=tuple(labels[: self.rng.randint(2, 3) if self.chance(0.3) else 2]),
                         unordered=unordered)
                self.use("labels")
            self.types.append(t)
            self.head.append(f"type {name} = {t.definition()}")

    def scalar(self):
        """A small type without parts."""
        options = [(3, BOOL), (2, span(0, self.rng.randint(1, 2))), (0.5, span(1, 2)),
                   (2.5, role_type(self.pick(sorted(self.sizes))))]
        options += [(3, t) for t in self.types if t.kind in ("range", "enum")]
        return self.weighted(options)

    def any_type(self, budget):
        """A type with at most `budget` values, if that is possible."""
        for _ in range(12):
            how = self.weighted([(6, "scalar"), (3, "opt"), (1.5, "set"), (0.8, "rec"), (0.8, "arr"), (0.7, "seq"), (0.3, "label")])
            if how == "scalar":
                t = self.scalar()
            elif how == "opt":
                t = opt(self.scalar())
                if self.chance(0.15):
                    t = opt(t)
            elif how == "set":
                t = set_of(self.scalar())
            elif how == "rec":
                t = Type("rec", fields=(("fa", self.scalar()), ("fb", self.scalar())))
                if self.chance(0.3):
                    t = Type("rec", fields=(("fa", self.scalar()), ("fb", opt(self.scalar()))))
            elif how == "arr":
                index = self.weighted([(3, role_type(self.pick(sorted(self.sizes)))), (1, self.scalar())])
                if not self.e.domain(index):
                    continue
                t = Type("arr", index=index, of=self.scalar() if self.chance(0.7) else opt(self.scalar()))
                if self.chance(0.12):
                    t = Type("arr", index=index, of=Type("arr", index=index, of=BOOL))
            elif how == "seq":
                element = self.weighted([(6, self.scalar()), (2, opt(self.scalar())), (0.5, opt(opt(self.scalar()))),
                                         (1, set_of(self.scalar()))])
                t = Type("seq", of=element, size=self.rng.randint(1, 2), distinct=self.chance(0.4))
            else:
                t = Type("enum", labels=(self.name("calm"), self.name("cross")))
            if t.count(self.sizes) <= budget:
                self.use("type " + t.kind + (" of " + t.of.kind if t.of else ""))
                return t
        return BOOL

    # ---- stores ----------------------------------------------------------------------

    def process_scope(self, role, where, known):
        """What a process of a role can read, if it has these stores."""
        scope = Scope(where=where, me=role_type(role))
        scope.names = [(s.name, s.type) for s in known if s.kind != "ghost" and (s.kind != "oracle" or where != "init")]
        scope.names += [(s.name, s.type) for s in self.globals
                        if s.kind == "input" or s.kind == "shared" and where != "init"]
        scope.names.append(("me", role_type(role)))
        scope.taken = set(self.taken) | {s.name for s in known}
        scope.defs = list(self.defs)
        if where in ("update", "send", "trigger"):
            scope.defs += self.process_defs.get(role, [])
        scope.number = True
        scope.ring = self.is_ring(role) and where != "init"
        return scope

    def is_ring(self, role):
        return False

    def store_names(self, kind):
        return {"input": ["x", "y"], "var": ["a", "b", "c", "d"], "stable": ["kept"], "ghost": ["g", "h"],
                "oracle": ["o"]}[kind]

    def make_stores(self, role, kinds, budget):
        """Declares stores of a role; budget is the number of values of a whole process."""
        stores = []
        used = set()
        for kind in kinds:
            t = self.store_type(kind, max(2, budget))
            budget //= t.count(self.sizes)
            name = next((n for n in self.store_names(kind) if n not in used), None)
            if name is None:
                continue
            used.add(name)
            scope = self.process_scope(role, "init", stores)
            if kind == "ghost":
                scope.names += [(s.name, s.type) for s in stores if s.kind == "ghost"]
            scope.taken |= used
            text = f"{kind} {name}: {t.text()}"
            if kind == "input":
                text += self.input_rest(role, name, t, scope)
            elif kind == "oracle":
                text += self.pick([" each phase", " each round", ""])
                self.use("oracle")
            else:
                scope.choice = self.chance(0.15)
                text += f" = {self.first_value(scope, t)}"
            self.use("store " + kind)
            first = text.split(" = ", 1)[1] if kind in ("var", "ghost", "stable") else None
            if first is not None and not (first.replace("-", "").isalnum() or first in ("{}", "[]")):
                first = None
            if first in self.taken and first not in [l for u in self.types for l in u.labels]:
                first = None
            if first in [s.name for s in stores] or first == "me":
                first = None
            stores.append(Store(kind, name, t, text, first))
        self.stores[role] = stores

    def store_type(self, kind, budget):
        if kind == "input":
            for _ in range(5):
                t = self.scalar() if self.chance(0.8) else self.any_type(budget)
                if t.count(self.sizes) <= 3:
                    return t
            return BOOL
        if kind == "var" and self.round_numbers() and self.chance(0.35):
            self.use("variable of type round")
            return ROUND
        return self.any_type(budget)

    def round_numbers(self):
        return False

    def input_rest(self, role, name, t, scope):
        if t.kind in ("range", "enum", "role") and t.count(self.sizes) >= self.sizes[role] and self.chance(0.15):
            self.use("distinct")
            return " distinct"
        if self.chance(0.07):
            scope.names.append((name, t))
            self.use("input where")
            return f" where {self.e.boolean(scope, 1)}"
        if self.chance(0.08):
            self.use("input given")
            return f" = {self.first_value(scope, t)}"
        return ""

    def first_value(self, scope, t):
        if t.kind == "round":
            return self.pick(["0", "1"])
        literal = self.e.literal(t)
        if literal and self.chance(0.6):
            return literal
        return self.e.value(scope, t, 1)

    def make_globals(self):
        if self.chance(0.15):
            t = self.scalar()
            name = self.name("chief", "common")
            rest = ""
            if self.chance(0.2):
                scope = Scope(where="init", names=[(name, t)], taken=set(self.taken))
                rest = f" where {self.e.boolean(scope, 1)}"
            self.globals.append(Store("input", name, t))
            self.head.append(f"input {name}: {t.text()}{rest}")
            self.use("file-level input")

    # ---- definitions -------------------------------------------------------------------

    def make_defs(self):
        if self.chance(0.3):
            name = self.name("half", "limit")
            k = self.rng.randint(0, 2)
            self.head.append(f"def {name} = {k}")
            self.use("def without parameters")
            self.defs.append((name, [], span(k, k)))
        if self.chance(0.3):
            name = self.name("like", "differ")
            t = self.pick([t for t in self.types if t.kind != "rec"] + [BOOL, span(0, 2)])
            scope = Scope(where="def", names=[("i", t), ("j", t)], taken=set(self.taken) | {"i", "j"})
            scope.defs = list(self.defs)
            body = self.e.boolean(scope, 2)
            kind = ": bool" if self.chance(0.3) else ""
            self.head.append(f"def {name}(i: {t.text()}, j: {t.text()}){kind} = {body}")
            self.use("def with parameters")
            self.defs.append((name, [t, t], BOOL))
        if self.chance(0.12):
            name = self.name("down")
            self.use("recursive def")
            stop = "i <= 0" if not self.chance(self.errors) else "i == 0"
            self.head.append(f"def {name}(i: int): int = if {stop} then 0 else 1 + {name}(i - 1)")
            if self.chance(0.3):
                self.use("recursive def that nothing calls")
            else:
                self.defs.append((name, [span(0, 2)], span(0, 2)))
        if self.chance(0.15):
            name = self.name("same", "first_of")
            t = self.pick([BOOL, span(0, 2)])
            self.use("def that ignores a parameter")
            self.head.append(f"def {name}(i: {t.text()}, j: {t.text()}): {t.text()} = i")
            self.defs.append((name, [t, t], t))

    def make_property_defs(self):
        """A def about a process, for properties only."""
        if not self.chance(0.2):
            return
        role = self.pick(sorted(self.sizes))
        name = self.name("good", "fine")
        scope = self.property_scope("property")
        scope.faults = self.chance(0.3)
        scope.kinds, scope.still = {}, False
        scope = self.e.bind(scope, "i", (role, role_type(role)))
        self.head.append(f"def {name}(i: {role}) = {self.e.boolean(scope, 2)}")
        self.use("def about a process")
        self.property_defs.append((name, [role_type(role)], BOOL))

    def make_process_defs(self, role):
        self.process_defs[role] = []
        texts = []
        if self.chance(0.2):
            name = self.name("mine", "ready")
            scope = self.process_scope(role, "def", self.stores[role])
            scope.number = False
            with_parameter = self.chance(0.5)
            parameters = []
            if with_parameter:
                t = self.scalar()
                scope.names.append(("i", t))
                scope.taken.add("i")
                parameters = [t]
            body = self.e.boolean(scope, 1)
            texts.append(f"def {name}" + (f"(i: {parameters[0].text()})" if parameters else "") + f" = {body}")
            self.process_defs[role].append((name, parameters, BOOL))
            self.use("def of a process")
        return texts

    # ---- statements ----------------------------------------------------------------------

    def block(self, scope, role, count, d, indent):
        """Lines of `count` statements. scope may grow by let."""
        lines = []
        scope = scope.child()
        for _ in range(count):
            lines += self.statement(scope, role, d, indent)
        return lines

    def assignable(self, role):
        stores = [s for s in self.stores[role] if s.kind in ("var", "stable", "ghost") or s.kind == "input" and s.type.count(self.sizes) > 1]
        return stores + [s for s in self.globals if s.kind in ("shared", "ghost")]

    def statement(self, scope, role, d, indent):
        pad = "  " * indent
        how = self.weighted([(6, "assign"), (3.5 if d > 0 else 0, "if"), (0.6, "let"),
                             (0.8 if d > 0 and (scope.received or scope.quorum) else 0, "foreach"), (self.halts, "halt")])
        if how == "assign":
            return [pad + self.assignment(scope, role)]
        if how == "let":
            t = self.scalar()
            scope.choice, before = scope.choice and self.chance(0.5), scope.choice
            self.e.positions = False
            value = self.e.value(scope, t, 2)
            self.e.positions = True
            scope.choice = before
            name = scope.fresh(["tmp", "aux"])
            scope.taken.add(name)
            if t.kind == "range" and t.name is None:
                t = span(t.lo, t.hi)
            scope.names.append((name, t))
            self.use("let")
            return [f"{pad}let {name} = {value}"]
        if how == "halt":
            self.use("halt")
            cond = self.e.boolean(scope, 1)
            return [f"{pad}if {cond} {{ halt }}"]
        if how == "foreach":
            c, t = ("received", scope.received) if scope.received else scope.quorum
            m = scope.fresh(MESSAGE_POOL)
            inner = self.e.bind(scope, m, (c, t))
            inner.received = None
            inner.quorum = None
            self.use("foreach")
            return [f"{pad}foreach {m} in {c} {{"] + self.block(inner, role, 1, d - 1, indent + 1) + [pad + "}"]
        condition, inner = self.guard(scope, 2)
        lines = [f"{pad}if {condition} {{"] + self.block(inner, role, self.rng.randint(1, 2), d - 1, indent + 1)
        if self.chance(0.25):
            condition, inner = self.guard(scope, 1)
            self.use("else if")
            lines += [f"{pad}}} else if {condition} {{"] + self.block(inner, role, 1, d - 1, indent + 1)
        if self.chance(0.35):
            self.use("else")
            lines += [f"{pad}}} else {{"] + self.block(scope, role, 1, d - 1, indent + 1)
        return lines + [pad + "}"]

    def guard(self, scope, d):
        """A condition that may bind: (text, scope of what it guards)."""
        choice = scope.choice
        scope = scope.child()
        scope.choice = choice and self.chance(0.15)
        if scope.choice:
            self.use("guard with choices")
        if self.chance(0.35) and (scope.received or scope.quorum or scope.names):
            before = ""
            if choice and self.chance(0.15):
                before = f"{self.pick(['random', 'pick'])}({{true, false}}) and "
                self.use("coin in a guard that binds")
            elif self.chance(0.3):
                before = f"{self.e.closed(self.e.boolean(scope, 1))} and "
                if not self.chance(0.15):
                    scope.taken |= bound_names(before)
            gens, inner = self.e.generators(scope, self.weighted([(4, 1), (1, 2)]), 1)
            self.use("guard that binds")
            text = f"{before}exists {gens}"
            if self.chance(0.7):
                text += f": {self.e.boolean(inner, d - 1)}"
            inner.choice = choice
            inner.taken |= existential(text)
            return text, inner
        text = self.e.boolean(scope, d)
        scope.choice = choice
        scope.taken |= existential(text)
        return text, scope

    def assignment(self, scope, role):
        store = self.pick(self.assignable(role) or [None])
        if store is None:
            name = scope.fresh(["tmp", "aux"])
            scope.taken.add(name)
            return f"let {name} = true"
        t = store.type
        place = store.name
        reader = scope
        if store.kind == "ghost":
            reader = scope.child()
            reader.names += [(s.name, s.type) for s in self.stores[role] if s.kind == "ghost"]
            reader.names += [(s.name, s.type) for s in self.globals if s.kind == "ghost"]
            reader.choice = False
        if t.kind == "arr" and self.chance(0.7):
            quiet = reader.child()
            quiet.choice = False
            place += f"[{self.e.value(quiet, t.index, 1)}"
            t = t.of
            if t.kind == "arr":
                place += f", {self.e.value(quiet, t.index, 1)}"
                t = t.of
            place += "]"
            self.use("assignment to an element")
        elif t.kind == "rec" and self.chance(0.6):
            f, t = self.pick(t.fields)
            place += "." + f
            self.use("assignment to a field")
        if t.kind == "range" and not t.unordered and place in [n for n, _ in reader.names] and self.chance(0.35):
            if t.lo == 0:
                return f"{place} := ({place} + 1) mod {t.hi + 1}"
            if t.lo == t.hi:
                return f"{place} := {t.lo}"
            return f"{place} := if {place} < {t.hi} then {place} + 1 else {t.lo}"
        if t.kind == "bool" and place in [n for n, _ in reader.names] and self.chance(0.2):
            return f"{place} := not {place}"
        return f"{place} := {self.e.another(reader, t, 2, place)}"

    # ---- properties ------------------------------------------------------------------------

    def property_scope(self, where):
        scope = Scope(where=where)
        scope.roles = {r: [s for s in stores if s.kind != "oracle"] for r, stores in self.stores.items()}
        scope.faults = True
        scope.taken = set(self.taken)
        scope.defs = self.defs + [f for f in self.property_defs]
        scope.byzantine = self.byzantine
        for s in self.globals:
            scope.names.append((s.name, s.type))
            if where == "step" and s.kind in ("shared", "ghost"):
                scope.names.append((s.name + "'", s.type))
                scope.primes.append((s.name, s.type))
        if self.chance(0.1):
            role = self.pick(sorted(self.sizes))
            self.use("P(i) in a property")
            self.e.read_process(scope, f"{role}({self.rng.randint(1, self.sizes[role])})", role)
        return scope

    def properties(self):
        if self.kind == "rounds" and self.chance(0.03):
            self.use("until of states")
            return [f"safety u1: {self.e.closed(self.state_formula())} until {self.e.closed(self.state_formula())}"]
        lines = []
        kinds = [self.weighted([(5, "safety"), (2, "step"), (2, "cover"), (1.4, "live")])
                 for _ in range(self.rng.randint(1, 4))]
        for i, kind in enumerate(kinds):
            name = f"{ {'safety': 's', 'step': 'st', 'cover': 'c', 'live': 'l'}[kind]}{i + 1}"
            line = getattr(self, "make_" + kind)(name)
            if line:
                lines.append(line)
        if not lines:
            lines.append(self.make_safety("s1"))
        return lines

    def where_checked(self, live=False):
        if len(self.environments) > 1 and self.chance(0.4):
            self.use("property in environments")
            names = self.rng.sample(self.environments, self.rng.randint(1, min(2, len(self.environments))))
            return " in " + ", ".join(names)
        if live and self.live_environments:
            return " in " + self.pick(self.live_environments)
        return ""

    def make_safety(self, name):
        self.use("safety")
        return f"safety {name}{self.where_checked()}: {self.state_formula()}"

    def make_cover(self, name):
        self.use("cover")
        formula = self.state_formula()
        if self.chance(0.4):
            formula = f"not {self.e.closed(formula)}"
        return f"cover {name}{self.where_checked()}: {formula}"

    def make_step(self, name):
        self.use("step property")
        scope = self.property_scope("step")
        if self.chance(0.85):
            return f"safety {name}{self.where_checked()}: step {self.outer(scope, lambda s: self.step_body(s))}"
        return f"safety {name}{self.where_checked()}: step {self.e.boolean(scope, 3)}"

    def step_body(self, scope):
        if not scope.primes:
            return self.e.boolean(scope, 2)
        n, t = self.pick(scope.primes)
        how = self.rng.randrange(4)
        if how == 0:
            return f"{self.e.closed(self.e.boolean(scope, 1))} => {n}' == {n}"
        if how == 1:
            return f"{n}' == {n} or {self.e.boolean(scope, 1)}"
        if how == 2:
            return self.e.atom_step(scope, 1)
        return self.e.boolean(scope, 2)

    def outer(self, scope, body):
        """A formula under one to three outer quantifiers over processes, mostly."""
        gens = []
        inner = scope
        for _ in range(self.weighted([(4, 1), (4, 2), (0.5, 3), (0.5, 0)])):
            found = [c for c in self.e.collections(inner, 1) if c[1].kind in ("role", "any")]
            c = self.pick(found)
            p = inner.fresh(["p", "q", "r", "s"])
            inner = self.e.bind(inner, p, c)
            gens.append(f"{p} in {c[0]}")
            self.use("outer quantifier over " + (c[0] if c[0] in ("correct", "faulty", "all") else
                                                  "a role" if c[0].isidentifier() else "a set"))
        if not gens:
            return body(inner)
        word = self.pick(["forall", "forall", "exists"])
        self.use(word + " outside")
        return f"{word} {', '.join(gens)}: {self.later(inner)}{body(inner)}"

    def later(self, scope):
        """A beginning of a disjunction that makes a formula true of processes that have not changed yet."""
        found = [f"{p}.{s.name} == {s.first}" for p, r in scope.procs for s in scope.roles.get(r, []) if s.first is not None]
        if not found or not self.chance(0.5):
            return ""
        self.use("formula about processes that have changed")
        return self.pick(found) + " or "

    def state_formula(self):
        scope = self.property_scope("property")
        scope.counter = self.kind == "rounds"
        how = self.weighted([(2, "agreement"), (1, "validity"), (1.2, "exclusion"), (3, "outer"), (3, "random"), (1, "faults"), (1, "unique")])
        text = getattr(self, "formula_" + how)(scope)
        if self.kind == "rounds" and self.chance(0.2):
            self.use("round in a property")
            text = f"round {self.pick(['>=', '==', '<='])} {self.rng.randint(1, 2)} => {text}"
        return text

    def formula_random(self, scope):
        return self.e.boolean(scope, 3)

    def formula_outer(self, scope):
        return self.outer(scope, lambda s: self.e.boolean(s, 2))

    def formula_faults(self, scope):
        text = self.e.atom_faults(scope, 2)
        if self.chance(0.6):
            return f"{text} {self.pick(['or', '=>', 'and'])} {self.e.boolean(scope, 2)}"
        return text

    def domain_of_processes(self, role):
        return self.weighted([(5, role), (2, f"{role} & correct"), (1, "correct" if len(self.sizes) == 1 else role)])

    def formula_agreement(self, scope):
        role = self.pick(sorted(self.stores))
        stores = [s for s in self.stores[role] if s.kind != "oracle"]
        if not stores:
            return self.formula_random(scope)
        s = self.pick(stores)
        over = self.domain_of_processes(role)
        self.use("agreement")
        if s.type.kind in ("opt", "set", "seq"):
            return f"forall p, q in {over}, v in p.{s.name}, w in q.{s.name}: v == w"
        inner = self.e.bind(self.e.bind(scope, "p", (role, role_type(role))), "q", (role, role_type(role)))
        condition = f"{self.e.closed(self.e.boolean(inner, 1))} => " if self.chance(0.6) else ""
        return f"forall p, q in {over}: {condition}p.{s.name} == q.{s.name}"

    def formula_validity(self, scope):
        role = self.pick(sorted(self.stores))
        inputs = [s for s in self.stores[role] if s.kind == "input"]
        pairs = [(s, i) for s in self.stores[role] if s.kind != "oracle" for i in inputs
                 if s is not i and (s.type == i.type or s.type.kind in ("opt", "set") and s.type.of == i.type)]
        if not pairs:
            return self.formula_random(scope)
        s, i = self.pick(pairs)
        self.use("validity")
        first = f"initial(q.{i.name})" if self.chance(0.7) else f"q.{i.name}"
        if s.type == i.type:
            return f"forall p in {role}: exists q in {role}: p.{s.name} == {first}"
        return f"forall p in {role}, v in p.{s.name}: exists q in {role}: v == {first}"

    def formula_exclusion(self, scope):
        """At most one process satisfies something."""
        role = self.pick(sorted(self.stores))
        p = self.e.bind(scope, "p", (role, role_type(role)))
        p.taken.add("q")
        condition = self.e.atom(p, 1)
        for _ in range(6):
            if "p." in condition or "(p" in condition:
                break
            condition = self.e.atom(p, 1)
        other = rename(condition, "p", "q")
        self.use("mutual exclusion")
        return f"forall p, q in {self.domain_of_processes(role)}: {self.later(p)}{self.e.closed(condition)} and {self.e.closed(other)} => p == q"

    def formula_unique(self, scope):
        role = self.pick(sorted(self.stores))
        p = self.e.bind(scope, "p", (role, role_type(role)))
        self.use("count of processes")
        return f"count(p in {self.domain_of_processes(role)}: not ({self.later(p)}{self.e.boolean(p, 2)})) {self.pick(['<=', '<', '!=', '>='])} {self.rng.randint(0, 2)}"

    def make_live(self, name):
        self.use("live")
        scope = self.property_scope("live")
        surely = ""
        if self.chance(0.15):
            self.use("almost surely")
            surely = " almost surely"
        return f"live{surely} {name}{self.where_checked(live=True)}: {self.temporal(scope, bool(surely))}"

    def temporal(self, scope, simple):
        gens = []
        inner = scope
        for _ in range(self.weighted([(5, 1), (2, 2), (2, 0)])):
            role = self.pick(sorted(self.sizes))
            over, t = self.weighted([(4, (role, role_type(role))),
                                     (3, ("correct", role_type(role) if len(self.sizes) == 1 else ANY)),
                                     (1, ("faulty", role_type(role) if len(self.sizes) == 1 else ANY)),
                                     (0.7, ("bool", BOOL))])
            v = inner.fresh(["p", "q"] if t.kind != "bool" else ["v", "w"])
            inner = self.e.bind(inner, v, (over, t))
            gens.append(f"{v} in {over}")
            self.use("live quantifier over " + (over if over in ("correct", "faulty") else "a role or type"))
        inner.faults = self.chance(0.15)
        a = lambda: self.e.closed(self.e.boolean(inner, 1))
        body = self.weighted([(4, lambda: f"eventually {a()}"), (2, lambda: f"always eventually {a()}"),
                              (0 if simple else 1.5, lambda: f"eventually always {a()}"), (3, lambda: f"{a()} leads to {a()}"),
                              (0 if simple else 1.5, lambda: f"{a()} until {a()}"), (0 if simple else 1, lambda: f"always {a()}"),
                              (0 if simple else 1, lambda: f"always eventually {a()} => always eventually {a()}"),
                              (0 if simple else 0.7, lambda: f"not (eventually {a()} and always eventually {a()})"),
                              (0 if simple else 0.5, lambda: f"always ({a()} until {a()} or always {a()})")])()
        if not gens:
            return body
        return f"{self.pick(['forall', 'forall', 'forall', 'exists'])} {', '.join(gens)}: {body}"

    # ---- the file -------------------------------------------------------------------------

    def generate(self):
        text = self.make()
        return Generated(self.kind, self.seed, text, dict(self.params), set(self.features))


def bound_names(text):
    """All names that are bound anywhere in a text."""
    import re
    return {n for names in re.findall(r"([\w, ]+?) in ", text) for n in re.split(r"[ ,]+", names) if n}


def existential(text):
    """Names that an `exists` in a condition may bind in what it guards."""
    import re
    return {n for names in re.findall(r"(?:exists|,) ([\w, ]+?) in ", text) for n in names.split(", ")}


def rename(text, old, new):
    """Replaces a bound name by another one."""
    import re
    return re.sub(rf"(?<![\w.]){old}(?!\w)", new, text)
