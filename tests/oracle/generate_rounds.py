"""Random models of rounds."""

from .generate_common import Maker, Store
from .generate_expr import ANY, BOOL, ROUND, Scope, Type, opt, role_type, set_of, span


class Rounds(Maker):
    kind = "rounds"

    def make(self):
        self.choose_shape()
        self.declare_types()
        self.make_globals()
        self.make_defs()
        roles = self.make_roles()
        self.make_environments()
        self.make_property_defs()
        return "\n".join(["algorithm Random"] + self.head + [""] + roles + [""] + self.environment_lines + [""] + self.properties()) + "\n"

    def choose_shape(self):
        names = ["P"] if self.chance(0.75) else ["P", "Q"]
        self.taken |= {"P", "Q"}
        total = self.weighted([(1, 1), (6, 2), (2.5, 3)]) if len(names) == 1 else 3
        if len(names) == 1:
            self.sizes = {"P": total}
        else:
            self.use("several roles")
            a = self.rng.randint(1, 2)
            self.sizes = {"P": a, "Q": 3 - a}
        self.size_texts = {r: str(k) for r, k in self.sizes.items()}
        if self.chance(0.4):
            self.taken.add("n")
            self.size_texts["P"] = "n"
            if self.chance(0.5):
                self.head.append(f"param n where n >= 1")
                self.params["n"] = self.sizes["P"]
                self.use("parameter by -D")
            else:
                self.head.append(f"param n = {self.sizes['P']}")
                self.use("parameter by default")
        self.shape = self.choose_schedule()

    def choose_schedule(self):
        """A list of parts: (kind, count or None, variable, [names of rounds])."""
        parts = []
        self.round_names = []
        shape = self.weighted([(4, "endless"), (2, "phase"), (2, "once"), (1.5, "repeat"), (1, "mixed")])
        self.ends = shape in ("once", "repeat")
        self.use("schedule " + shape)

        def rounds(k):
            found = []
            for _ in range(k):
                if self.chance(0.4):
                    name = self.pick(["one", "two"])
                    if name not in self.round_names:
                        self.round_names.append(name)
                        self.use("named round")
                        found.append(name)
                        continue
                found.append("")
            return found

        if shape in ("once", "mixed"):
            parts.append(("once", None, None, rounds(self.rng.randint(1, 2))))
        if shape == "repeat":
            if self.chance(0.3):
                parts.append(("once", None, None, rounds(1)))
            parts.append(("repeat", self.rng.randint(0 if parts and self.chance(0.2) else 1, 2), "i" if self.chance(0.5) else None, rounds(self.rng.randint(1, 2))))
        if shape in ("phase", "mixed"):
            parts.append(("phase", None, "ph" if self.chance(0.5) else None, rounds(self.rng.randint(1, 2))))
        if shape == "endless":
            parts.append(("rounds", None, None, rounds(self.weighted([(4, 1), (1, 2)]))))
        self.ph = any(p[2] == "ph" for p in parts)
        self.taken |= {"ph", "i"}
        return parts

    def round_numbers(self):
        return self.ph

    def make_roles(self):
        lines = []
        n = sum(self.sizes.values())
        budget = {1: 80, 2: 40, 3: 12}[min(n, 3)]
        self.message_types = {}
        for role in sorted(self.sizes):
            kinds = []
            if self.chance(0.8):
                kinds.append("input")
            if self.chance(0.15):
                kinds.append("oracle")
            kinds += ["var"] * self.rng.randint(1, 3)
            if self.chance(0.15):
                kinds.append("ghost")
            self.make_stores(role, kinds, budget)
        if self.chance(0.17):
            for role in self.sizes:
                if not any(s.kind == "oracle" for s in self.stores[role]):
                    each = self.pick(["each round", "each round", "each phase"])
                    t = set_of(role_type(self.pick(sorted(self.sizes))))
                    self.stores[role].append(Store("oracle", "sus", t, f"oracle sus: {t.text()} {each}"))
                    self.use("failure detector")
                    break
        idle = self.pick(sorted(self.sizes)) if len(self.sizes) > 1 and self.chance(0.15) else None
        self.idle = idle
        for role in sorted(self.sizes):
            if self.chance(0.08):
                self.rings.add(role)
                self.use("ring")
        self.make_sends()
        for role in sorted(self.sizes):
            ring = " ring" if role in self.rings else ""
            lines.append(f"process {role}[{self.size_texts[role]}]{ring} {{")
            lines += ["  " + s.text for s in self.stores[role]]
            lines += ["  " + d for d in self.process_def_lines[role]]
            if role != idle:
                lines += self.schedule(role)
            else:
                self.use("role without rounds")
            lines.append("}")
        return lines

    def is_ring(self, role):
        return role in self.rings

    def __init__(self, seed):
        super().__init__(seed)
        self.rings = set()

    def make_sends(self):
        """Writes all sends first, since updates depend on who is sent something."""
        self.process_def_lines = {r: self.make_process_defs(r) for r in sorted(self.sizes)}
        self.sends = {}
        self.reached = {}
        for role in sorted(self.sizes):
            for index, (kind, count, variable, rounds) in enumerate(self.shape):
                for j, name in enumerate(rounds):
                    self.reached.setdefault((index, j), set())
                    self.sends[role, (index, j)] = [] if role == self.idle else self.round_sends(role, (index, j), self.extra(variable, count))

    @staticmethod
    def extra(variable, count):
        """The variable of a phase or repeat, as names of a scope."""
        if variable == "ph":
            return [("ph", ROUND)]
        if variable == "i":
            return [("i", span(1, max(1, count)))]
        return []

    def round_sends(self, role, place, extra):
        scope = self.process_scope(role, "send", self.stores[role])
        scope.names += extra
        scope.taken |= {n for n, _ in extra}
        t = self.message_type(place, role)
        sends = self.weighted([(0.4, 0), (6, 1), (1, 2)])
        self.e.positions = False
        lines = []
        if sends == 1:
            lines = [self.send(scope, role, t, place, self.chance(0.3))]
        elif sends == 2:
            lines = self.two_sends(scope, role, t, place)
        self.e.positions = True
        return lines

    def message_value(self, scope, t):
        """A message whose type can be seen from its text."""
        if t.kind == "rec" and t.fields[0][0] == "ma":
            return "(" + ", ".join(f"{n}: {self.message_value(scope, u)}" for n, u in t.fields) + ")"
        if t.kind in ("opt", "set", "seq", "arr", "rec", "round"):
            known = self.e.known(scope, t)
            if known:
                return self.pick(known)
            self.use("message of a type that only its literal shows")
        return self.e.value(scope, t, 1)

    def schedule(self, role):
        lines = []
        for index, (kind, count, variable, rounds) in enumerate(self.shape):
            indent = 2
            if kind == "once":
                lines.append("  once {")
            elif kind == "repeat":
                lines.append(f"  repeat {count}" + (f" as {variable}" if variable else "") + " {")
            elif kind == "phase":
                lines.append("  phase" + (f" {variable}" if variable else "") + " {")
            else:
                indent = 1
            extra = []
            if variable == "ph":
                extra = [("ph", ROUND)]
            elif variable == "i":
                extra = [("i", span(1, max(1, count)))]
            for j, name in enumerate(rounds):
                lines += self.round(role, (index, j), name, extra, indent)
            if indent == 2:
                lines.append("  }")
        if self.ends and self.chance(0.3):
            self.use("finally")
            scope = self.process_scope(role, "update", [s for s in self.stores[role] if s.kind != "oracle"])
            lines += ["  finally {"] + self.block(scope, role, 1, 1, 2) + ["  }"]
        return lines

    def message_type(self, place, role):
        """The type of messages of a round; the same for all roles."""
        if place not in self.message_types:
            scalars = [s.type for r in self.stores for s in self.stores[r] if s.kind != "oracle" and s.kind != "ghost"]
            t = self.pick(scalars + [BOOL])
            if self.chance(0.25):
                u = self.pick(scalars + [BOOL])
                t = Type("rec", fields=(("ma", t), ("mb", u)))
                self.use("message record")
            self.message_types[place] = t
        return self.message_types[place]

    def round(self, role, place, name, extra, indent):
        pad = "  " * indent
        lines = [f"{pad}round{' ' + name if name else ''} {{"]
        known = self.stores[role]
        lines += [pad + "  " + s for s in self.sends[role, place]]
        if self.chance(0.95):
            scope = self.process_scope(role, "update", known)
            scope.names += extra
            scope.taken |= {n for n, _ in extra}
            scope.received = self.message_types[place] if role in self.reached[place] else None
            scope.choice = self.chance(0.5)
            lines.append(pad + "  update {")
            lines += self.block(scope, role, self.rng.randint(1, 3), 2, indent + 2)
            lines.append(pad + "  }")
        else:
            self.use("round without update")
        return lines + [pad + "}"]

    def target(self, scope, role, place):
        how = self.weighted([(6, "all"), (1, "others"), (1 if len(self.sizes) == 1 else 2, "role"), (1, "identity"), (1, "set")])
        self.use("send to " + how)
        if how in ("all", "others"):
            self.reached[place] |= set(self.sizes)
            return how
        if self.is_ring(role) and self.chance(0.5):
            self.reached[place].add(role)
            return "next"
        other = self.pick(sorted(self.sizes))
        self.reached[place].add(other)
        if how == "role":
            return other
        if how == "identity":
            return self.e.value(scope, role_type(other), 0)
        return self.e.typed_set(scope, set_of(role_type(other)), 1)

    def send(self, scope, role, t, place, conditional):
        """One send statement. A condition may bind names that the message uses."""
        if conditional:
            condition, inner = self.guard(scope, 2)
            self.use("send when")
            return f"send {self.message_value(inner, t)} to {self.target(inner, role, place)} when {condition}"
        return f"send {self.message_value(scope, t)} to {self.target(scope, role, place)}"

    def two_sends(self, scope, role, t, place):
        condition = self.e.boolean(scope, 1)
        self.use("two sends")
        first = f"send {self.message_value(scope, t)} to {self.target(scope, role, place)} when {condition}"
        second = f"send {self.message_value(scope, t)} to {self.target(scope, role, place)}"
        if self.chance(self.errors):
            self.use("risk: two messages to one receiver")
            return [first, second]
        return [first, f"{second} when not {self.e.closed(condition)}"]

    # ---- environments ---------------------------------------------------------------------

    def clause_scope(self):
        scope = Scope(where="clause")
        scope.taken = set(self.taken)
        scope.faults = True
        scope.counter = True
        scope.names = [(s.name, s.type) for s in self.globals if s.kind == "input"]
        scope.defs = list(self.defs)
        return scope

    def make_environments(self):
        self.errors, before = 0.0, self.errors          # what an error in a clause means is not said
        self.environment_texts()
        self.errors = before

    def environment_texts(self):
        self.environment_lines = []
        count = self.weighted([(1, 0), (5, 1), (2, 2)])
        names = ["env", "other"]
        for i in range(count):
            clauses = self.clauses()
            extends = ""
            if i > 0 and self.chance(0.4):
                extends = " extends env"
                self.use("extends")
            self.environment_lines.append(f"environment {names[i]}{extends} {{" + ("" if clauses else "}"))
            if clauses:
                self.environment_lines += ["  " + c for c in clauses] + ["}"]
            self.environments.append(names[i])
        if count == 0:
            self.use("no environment")

    def limit(self):
        if self.chance(0.2):
            if "f" not in self.taken:
                self.taken.add("f")
                self.head.append(f"param f = {self.rng.randint(0, 2)} where f >= 0")
            self.use("limit by a parameter")
            return "f"
        return self.weighted([(5, 1), (1, 2), (0.3, 0)])

    def group(self):
        if len(self.sizes) > 1 and self.chance(0.4):
            self.use("fault of a role")
            return self.pick(sorted(self.sizes))
        return "processes"

    def clauses(self):
        found = []
        n = sum(self.sizes.values())
        faults = self.weighted([(4, 0), (4, 1), (1, 2)])
        for _ in range(faults):
            fault = self.weighted([(4, "crash"), (1, "omit"), (0.7, "omit to send"), (0.7, "omit to receive"),
                                   (1.2 if not self.byzantine else 0, "are byzantine")])
            limit = "any" if self.chance(0.1) else f"at most {self.limit()}"
            if fault == "are byzantine":
                self.byzantine = True
                limit = "at most 1"
            self.use("fault " + fault)
            found.append(f"{limit} {self.group()} {fault}")
        how = self.weighted([(3, "nothing"), (4, "synchronous"), (1.5, "lost"), (3, "predicate"), (0.7, "corrupted")])
        self.use("delivery " + how)
        if how == "synchronous":
            found.append("synchronous")
        elif how == "lost":
            found.append(f"at most {self.rng.randint(0, 2)} messages are lost{self.pick(['', ' each round', ' each receiver'])}")
        elif how == "corrupted":
            found.append(f"at most 1 messages are corrupted{self.pick(['', ' each round', ' each receiver'])}")
            if self.chance(0.6):
                found.append(self.pick(["synchronous", "at most 1 messages are lost"]))
        elif how == "predicate":
            for _ in range(self.weighted([(4, 1), (1, 2)])):
                start = self.weighted([(5, "every round"), (1, f"from round {self.rng.randint(1, 3)}"), (0.7, "every phase")])
                self.use("clause " + start.split(" 1")[0].split(" 2")[0].split(" 3")[0])
                found.append(f"{start}: {self.predicate(True)}")
        for role, s in self.oracles():
            if self.chance(0.6):
                found.append(f"{self.pick(['every round', 'every phase'])}: {self.oracle_clause(role, s)}")
        if self.chance(0.35):
            for _ in range(self.weighted([(3, 1), (1, 2)])):
                found.append(self.going_well())
        return found

    def oracles(self):
        return [(r, s) for r in sorted(self.stores) for s in self.stores[r] if s.kind == "oracle"]

    def oracle_clause(self, role, s):
        self.use("oracle clause")
        options = [f"forall p, q in {role}: {s.name}[p] == {s.name}[q]"]
        if s.type.kind == "set" and s.type.of.kind == "role":
            options += [f"complete({s.name})", f"accurate({s.name})", f"perfect({s.name})", f"waits({s.name})"] * 2
            options += [f"exists q in {s.type.of.name}: trusts({s.name}, q)"] * 2 + [f"forall p in {role} & correct: faulty <= {s.name}[p]"]
        elif s.type.kind == "role":
            options += [f"exists q in {s.type.name}: forall p in {role}: {s.name}[p] == q",
                        f"forall p in {role}: {s.name}[p] in HO[p]", f"forall p in {role}: {s.name}[p] in correct"]
        else:
            inner = self.clause_scope()
            inner.names.append((f"{s.name}[p]", s.type))
            inner.taken.add("p")
            options += [f"forall p in {role}: {self.e.boolean(inner, 1)}"] * 2
        text = self.pick(options)
        for word in ("complete", "accurate", "perfect", "waits", "trusts"):
            if word in text:
                self.use("word " + word)
        return text

    def heard(self, p, name=None):
        return f"HO[{p}, {name}]" if name else f"HO[{p}]"

    def predicate(self, named):
        """A condition on heard-of sets."""
        role = self.pick(sorted(self.sizes))
        over = self.weighted([(4, role), (3, "all"), (1, f"{role} & correct"), (0.7, "correct")])
        n = sum(self.sizes.values())
        name = self.pick(self.round_names) if named and self.round_names and self.chance(0.3) else None
        if name:
            self.use("HO of a named round")
        h = self.heard("p", name)
        options = [
            (2, "uniform"), (2, "nosplit"), (1.5, "kernel"), (1.5, "reflexive"),
            (3, f"forall p in {over}: {self.pick(['', '2 * '])}|{h}| {self.pick(['>', '>='])} {self.rng.randint(0, n)}"),
            (1, f"forall p in {over}: p in {h}"),
            (1, f"forall p in {over}: {h} == {role}"),
            (1, f"forall p, q in {over}: {self.heard('p', name)} == {self.heard('q', name)}"),
            (1, f"exists p in {over}: {h} >= {role}"),
            (1, f"exists S in subsets(all): |S| > {self.rng.randint(0, n - 1)} and forall p in {over}: {h} == S"),
            (1, f"forall p in {over}: {h} != {{}}"),
            (1.5, None),
        ]
        if any(s.type.kind == "role" for r, s in self.oracles()):
            r, s = self.pick([(r, s) for r, s in self.oracles() if s.type.kind == "role"])
            options.append((2, f"forall p in {r}: {s.name}[p] in HO[p]"))
        if named:
            options.append((0.8, f"forall p in {over}: |HO[p] - SHO[p]| <= 1"))
        text = self.weighted(options)
        if text is None:
            scope = self.clause_scope()
            inner = self.e.bind(scope, "p", (role, role_type(role)))
            all_type = role_type(role) if len(self.sizes) == 1 else ANY
            inner.names += [(h, set_of(all_type))] * 2
            self.use("random clause")
            text = f"{self.pick(['forall', 'forall', 'exists'])} p in {over}: {self.e.boolean(inner, 2)}"
        word = text.split()[0]
        if word in ("uniform", "nosplit", "kernel", "reflexive"):
            self.use("predicate " + word)
            if self.chance(0.2):
                text += f" and {self.pick(['reflexive', 'kernel', 'nosplit'])}"
        return text

    def going_well(self):
        words = self.pick(["infinitely often", "infinitely often", "eventually always", "eventually"])
        unit = " phase" if self.chance(0.2) else ""
        self.use(words + unit)
        role = self.pick(sorted(self.sizes))
        n = sum(self.sizes.values())
        if self.chance(0.35):
            which = "some" if words == "eventually always" else "each"
            self.use("for " + which)
            body = self.pick([f"|HO[q]| >= {n}", f"2 * |HO[q]| > {n}", f"forall p in {role}: q in HO[p]", "q in HO[q]"])
            return f"{words}{unit} for {which} q in {role}: {body}"
        detectors = [s for r, s in self.oracles() if s.type.kind == "set" and s.type.of.kind == "role"]
        if detectors and self.chance(0.6):
            s = self.pick(detectors)
            if self.chance(0.4):
                return f"eventually always for some q in {s.type.of.name}: trusts({s.name}, q)"
            return f"{words}{unit}: {self.pick(['perfect', 'complete', 'accurate'])}({s.name})"
        return f"{words}{unit}: {self.predicate(bool(unit) or self.chance(0.5))}"
