"""Random models for `rondo prove`: one role, alike processes, thresholds, free parameters.

Properties are of all shapes: inside of what can be told in counts, and just outside.
"""

from .generate_common import Maker, Store
from .generate_expr import BOOL, Type, opt, role_type, span


class Prove(Maker):
    kind = "prove"

    def make(self):
        self.errors = 0.0
        self.sizes = {"P": 2}
        self.taken |= {"P", "n", "t"}
        self.declare_parameters()
        self.types = [Type("enum", name="Value", labels=("red", "green"), unordered=self.chance(0.3))]
        self.taken |= {"Value", "red", "green"}
        self.head.append(f"type Value = {self.types[0].definition()}")
        process = self.make_process()
        self.make_environments()
        self.make_property_defs()
        return "\n".join(["algorithm Random"] + self.head + [""] + process + [""] + self.environment_lines + [""] + self.properties()) + "\n"

    def declare_parameters(self):
        self.head.append("param n where n >= 1")
        self.t = self.chance(0.7)
        if self.t:
            self.head.append(f"param t where t >= 0 and {self.pick(['t < n', 't <= n', '2 * t < n', 't <= 1'])}")
            if self.chance(0.4):
                self.head.append(f"resilience {self.pick(['n > 2 * t', 'n > 3 * t', 'n >= 2 * t', 'n > t'])}")
                self.use("resilience")

    def threshold(self):
        options = ["n", "n - 1", "1", "2", "0"]
        if self.t:
            options += ["n - t", "t + 1", "t", "n - 2 * t", "2 * t + 1"]
        return self.pick(options)

    def counting(self, scope):
        """A comparison of a number of messages with a threshold."""
        self.use("threshold")
        if self.chance(0.5):
            number = "|received|"
        else:
            m = scope.fresh(["m", "k"])
            inner = self.e.bind(scope, m, ("received", scope.received))
            number = f"count({m} in received: {self.simple(inner, [m] if scope.received == BOOL else None)})"
        if self.chance(0.35):
            k, l = self.pick([(2, "n"), (3, "2 * n"), (2, "(n + 1)"), (3, "n")])
            return f"{k} * {number} {self.pick(['>', '>=', '<'])} {l}"
        return f"{number} {self.pick(['>=', '>', '<', '==', '<=', '!='])} {self.threshold()}"

    def simple(self, scope, bools=None):
        """A comparison of what is read, without identities."""
        names = [(n, t) for n, t in scope.names if t.kind in ("bool", "enum", "opt", "range")]
        if bools and self.chance(0.5):
            return self.pick(bools)
        if not names:
            return "true"
        n, t = self.pick(names)
        if t.kind == "bool":
            return n if self.chance(0.6) else f"not {n}"
        if t.kind == "range" and self.chance(0.4):
            return f"{n} {self.pick(['<', '>='])} {self.rng.randint(t.lo, t.hi)}"
        return f"{n} {self.pick(['==', '==', '!='])} {self.val(scope, t)}"

    def val(self, scope, t):
        known = self.e.known(scope, t)
        if known and self.chance(0.55):
            return self.pick(known)
        if t.kind == "opt":
            return "none" if self.chance(0.4) else self.val(scope, t.of)
        if scope.received == t and scope.where == "update" and self.chance(0.3):
            word = self.pick(["majority", "pick"] + (["min", "max"] if t.ordered() else []))
            return f"({word}(received) otherwise {self.val(scope, t) if self.chance(0.3) else self.e.literal(t)})"
        if t.kind == "bool" and scope.where == "update" and self.chance(0.5):
            return self.cond(scope, 1)
        return self.e.literal(t)

    def cond(self, scope, d):
        how = self.weighted([(4, "count"), (3, "simple"), (1.5 if d else 0, "and"), (1 if d else 0, "or"), (0.5 if d else 0, "not"), (1, "exists"), (0.7, "forall")])
        if how == "count":
            return "(" + self.counting(scope) + ")"
        if how == "simple":
            return self.simple(scope)
        if how in ("and", "or"):
            return f"({self.cond(scope, d - 1)} {how} {self.cond(scope, d - 1)})"
        if how == "not":
            return f"not ({self.cond(scope, d - 1)})"
        m = scope.fresh(["m", "k"])
        inner = self.e.bind(scope, m, ("received", scope.received))
        return f"({how} {m} in received: {self.simple(inner)})"

    def make_process(self):
        value = self.types[0]
        stores = []
        if self.chance(0.85):
            t = value if self.chance(0.7) else BOOL
            stores.append(Store("input", "x", t, f"input x: {t.text()}"))
        for name in ["a", "b"][: self.rng.randint(1, 2)]:
            t = self.weighted([(3, BOOL), (4, opt(value)), (2, value), (1.5, span(0, self.rng.randint(1, 2)))])
            first = self.e.literal(t)
            stores.append(Store("var", name, t, f"var {name}: {t.text()} = {first}", first))
        self.stores["P"] = stores
        lines = ["process P[n] {"] + ["  " + s.text for s in stores]
        shape = self.weighted([(5, "rounds"), (2, "once"), (2, "repeat"), (1, "phase")])
        self.use("schedule " + shape)
        if shape == "rounds":
            lines += self.round(1)
        else:
            head = {"once": "once", "phase": "phase", "repeat": f"repeat {self.pick(['2', 't + 1' if self.t else 'n', '1'])}"}[shape]
            lines.append(f"  {head} {{")
            for _ in range(self.rng.randint(1, 2)):
                lines += self.round(2)
            lines.append("  }")
            if shape in ("once", "repeat") and self.chance(0.15):
                self.use("finally")
                scope = self.process_scope("P", "update", stores)
                scope.names = [(s.name, s.type) for s in stores]
                s = self.pick(stores)
                lines.append(f"  finally {{ {s.name} := {self.val_plain(scope, s.type)} }}")
        return lines + ["}"]

    def val_plain(self, scope, t):
        known = self.e.known(scope, t)
        return self.pick(known) if known and self.chance(0.5) else self.e.literal(t)

    def round(self, indent):
        pad = "  " * indent
        stores = self.stores["P"]
        scope = self.process_scope("P", "send", stores)
        scope.names = [(s.name, s.type) for s in stores]
        sent = self.pick(stores)
        t = sent.type
        message = sent.name
        if self.chance(0.2):
            other = self.pick(stores)
            t = Type("rec", fields=(("ma", sent.type), ("mb", other.type)))
            message = f"(ma: {sent.name}, mb: {other.name})"
            self.use("message record")
        elif self.chance(0.2):
            t, message = BOOL, "true"
        when = f" when {self.simple(scope)}" if self.chance(0.3) else ""
        lines = [f"{pad}round {{", f"{pad}  send {message} to all{when}", f"{pad}  update {{"]
        scope = self.process_scope("P", "update", stores)
        scope.names = [(s.name, s.type) for s in stores]
        scope.received = t
        for _ in range(self.rng.randint(1, 3)):
            lines += self.statement_lines(scope, indent + 2)
        return lines + [f"{pad}  }}", f"{pad}}}"]

    def statement_lines(self, scope, indent):
        pad = "  " * indent
        s = self.pick(self.stores["P"])
        how = self.weighted([(2, "assign"), (4, "if"), (2, "exists"), (0.3, "halt"), (0.5, "pick")])
        if how == "halt":
            self.use("halt")
            return [f"{pad}if {self.cond(scope, 1)} {{ halt }}"]
        if how == "assign":
            return [f"{pad}{s.name} := {self.val(scope, s.type)}"]
        if how == "pick":
            self.use("pick")
            if s.type.kind == "bool":
                return [f"{pad}{s.name} := {self.pick(['pick', 'random'])}(true, false)"]
            return [f"{pad}{s.name} := {self.val(scope, s.type)}"]
        if how == "exists" and any(x.type in (self.types[0], opt(self.types[0])) for x in self.stores["P"]):
            targets = [x for x in self.stores["P"] if x.type in (self.types[0], opt(self.types[0]))]
            v = scope.fresh(["v", "w"])
            inner = self.e.bind(scope, v, ("Value", self.types[0]))
            self.use("guard that binds")
            return [f"{pad}if exists {v} in Value: {self.counting_of(inner, v)} {{ {self.pick(targets).name} := {v} }}"]
        lines = [f"{pad}if {self.cond(scope, 1)} {{ {s.name} := {self.val(scope, s.type)} }}"]
        if self.chance(0.3):
            s = self.pick(self.stores["P"])
            lines[-1] += f" else {{ {s.name} := {self.val(scope, s.type)} }}"
        return lines

    def counting_of(self, scope, v):
        """How many messages carry the value v, against a threshold."""
        t = scope.received
        reads = ["m"] if t == self.types[0] else [f"m.{f}" for f, u in t.fields if u == self.types[0]] if t.kind == "rec" else []
        if t == opt(self.types[0]):
            reads = ["m"]
        if not reads:
            return self.counting(scope)
        self.use("threshold for a value")
        number = f"count(m in received: {self.pick(reads)} == {v})"
        if self.chance(0.4):
            k, l = self.pick([(2, "n"), (3, "2 * n"), (3, "n")])
            return f"{k} * {number} {self.pick(['>', '>='])} {l}"
        return f"{number} {self.pick(['>=', '>'])} {self.threshold()}"

    def make_environments(self):
        clauses = []
        limit = self.pick(["t", "1"]) if self.t else "1"
        how = self.weighted([(3, "nothing"), (4, "synchronous"), (3, "predicate"), (1, "corrupted")])
        if self.chance(0.6 if how in ("nothing", "synchronous") else 0.15):
            fault = self.weighted([(4, "crash"), (1, "omit"), (1, "omit to send"), (1, "omit to receive"), (2, "are byzantine")])
            self.use("fault " + fault)
            clauses.append(f"at most {limit} processes {fault}")
        self.use("delivery " + how)
        if how == "synchronous":
            clauses.append("synchronous")
        elif how == "corrupted":
            clauses.append(f"at most {limit} messages are corrupted each receiver")
            if self.chance(0.2):
                clauses.append("synchronous")
        elif how == "predicate":
            clauses.append("every round: " + self.pick([
                f"forall p in P: |HO[p]| >= {self.threshold()}", "forall p in P: 2 * |HO[p]| > n", "forall p in P: HO[p] != {}",
                "nosplit", "uniform", "nosplit", "uniform", "forall p in P: HO[p] != {}", "forall p, q in P: HO[p] & HO[q] != {}", "forall p in P: 3 * |HO[p]| > 2 * n",
                "exists S in subsets(P): 2 * |S| > n and forall p in P: HO[p] == S", "reflexive", "kernel",
                "forall p, q in P: HO[p] == HO[q]"]))
        self.environment_lines = ["environment env {"] + ["  " + c for c in clauses] + ["}"]
        self.environments = ["env"]

    def properties(self):
        lines = []
        for i in range(self.rng.randint(1, 3)):
            kind = self.weighted([(6, "safety"), (2, "step")])
            name = f"{'s' if kind == 'safety' else 'st'}{i + 1}"
            lines.append(getattr(self, "make_" + kind)(name))
        return lines

    def make_step(self, name):
        if self.chance(0.3):
            return super().make_step(name)
        self.use("step property of one process")
        scope = self.e.bind(self.property_scope("step"), "p", ("P", role_type("P")))
        over = self.pick(["P", "P", "correct", "P & correct", "all"])
        return f"safety {name}: step forall p in {over}: {self.step_body(scope)}"

    def state_formula(self):
        """Like that of all models, without `round` and mostly about one or two processes."""
        scope = self.property_scope("property")
        how = self.weighted([(3, "agreement"), (2, "validity"), (1, "exclusion"), (4, "outer"), (2, "random"), (1.2, "faults"), (0.4, "unique"),
                             (2.5, "premise")])
        return getattr(self, "formula_" + how)(scope)

    def formula_premise(self, scope):
        """(forall p: start) => forall q: ..."""
        inputs = [s for s in self.stores["P"] if s.kind == "input"]
        if not inputs:
            return self.formula_outer(scope)
        self.use("premise about all processes")
        over = self.pick(["P", "correct", "correct", "P & correct"])
        then = self.pick(["P", "correct", "correct"])
        premise = f"(forall p in {over}: initial(p.x) == {self.e.literal(inputs[0].type)})"
        inner = self.e.bind(scope, "q", ("P", role_type("P")))
        return f"{premise} => forall q in {then}: {self.e.boolean(inner, 1)}"
