"""Random models of steps: by messages, or on shared memory."""

from .generate_common import Maker, Store, existential
from .generate_expr import ANY, BOOL, ROUND, Scope, Type, opt, role_type, set_of, span


class Steps(Maker):
    kind = "steps"
    memory = False

    def make(self):
        self.choose_shape()
        self.declare_types()
        self.make_globals()
        self.make_shared()
        self.make_defs()
        if not self.memory:
            self.make_messages()
        self.choose_channels()
        roles = self.make_roles()
        self.make_environments()
        self.make_property_defs()
        return "\n".join(["algorithm Random"] + self.head + [""] + roles + [""] + self.environment_lines + [""] + self.properties()) + "\n"

    # ---- shape ------------------------------------------------------------------------

    def choose_shape(self):
        self.taken |= {"P", "Q", "n"}
        self.messages = {}                    # kind -> list of (field, Type)
        self.places = {}                      # role -> names of steps
        self.rings = set()
        self.graphs = {}
        if self.chance(0.7):
            self.sizes = {"P": self.weighted([(1, 1), (6, 2), (1.5, 3)])}
        else:
            self.use("several roles")
            self.sizes = {"P": self.weighted([(3, 1), (1, 2)]), "Q": 1}
        self.size_texts = {r: str(k) for r, k in self.sizes.items()}
        if self.chance(0.3):
            self.size_texts["P"] = "n"
            if self.chance(0.5):
                self.head.append("param n where n >= 1")
                self.params["n"] = self.sizes["P"]
                self.use("parameter by -D")
            else:
                self.head.append(f"param n = {self.sizes['P']}")
        self.rounds = self.chance(0.12)
        # Channels with little room to processes that take nothing any more, and messages that are lost there.
        self.crowded = not self.memory and self.chance(0.15)
        if self.crowded:
            self.use("crowded")
        self.halts = 1.2 if self.crowded else 0.4

    def round_numbers(self):
        return self.rounds

    def make_shared(self):
        count = self.rng.randint(1, 2) if self.memory else (1 if self.chance(0.15) else 0)
        for i in range(count):
            t = self.any_type(9)
            name = self.name("reg", "lock")
            scope = Scope(where="init", taken=set(self.taken))
            scope.names = [(s.name, s.type) for s in self.globals if s.kind == "input"]
            text = f"shared {name}: {t.text()}"
            if t.count(self.sizes) > 4 or self.chance(0.8):
                text += f" = {self.first_value(scope, t)}"
            else:
                self.use("shared without first value")
            self.head.append(text)
            self.use("shared")
            self.globals.append(Store("shared", name, t))
        if self.chance(0.1):
            t = self.scalar()
            name = self.name("trace")
            scope = Scope(where="init", taken=set(self.taken))
            self.head.append(f"ghost {name}: {t.text()} = {self.first_value(scope, t)}")
            self.use("file-level ghost")
            self.globals.append(Store("ghost", name, t))

    def make_messages(self):
        signatures = []
        for name in ["ask", "vote", "done"][: self.weighted([(3, 1), (4, 2), (1, 3)])]:
            self.taken.add(name)
            fields = []
            for f in ["fv", "fw"][: self.weighted([(2, 0), (4, 1), (1, 2)])]:
                t = self.scalar()
                if self.rounds and self.chance(0.5):
                    t = ROUND
                    self.use("round in a message")
                elif self.chance(0.1):
                    t = opt(t)
                elif self.chance(0.05):
                    t = set_of(t)
                fields.append((f, t))
            self.messages[name] = fields
            signatures.append(name + ("(" + ", ".join(f"{f}: {t.text()}" for f, t in fields) + ")" if fields else ""))
        self.taken |= {"fv", "fw"}
        self.head.append("message " + ", ".join(signatures))

    def choose_channels(self):
        """Sends that can be repeated for ever need channels with finitely many contents."""
        self.channels = self.weighted([(5, ""), (2, "channels set"), (1.5, "channels fifo"), (0.7, "channels bag"),
                                       (1, "channels bag bound 1"), (1, "channels fifo bound 1"), (0.5, "channels set bound 1"),
                                       (0.3, "channels fifo bound 2")])
        if self.crowded:
            self.channels = self.pick(["channels bag bound 1", "channels fifo bound 1", "channels set bound 1", "channels bag bound 2"])
        if self.memory:
            self.channels = ""
        self.finite = "set" in self.channels or "bound" in self.channels
        if self.channels:
            self.use(self.channels)

    # ---- roles ---------------------------------------------------------------------------

    def is_ring(self, role):
        return role in self.rings

    def make_roles(self):
        lines = []
        n = sum(self.sizes.values())
        budget = {1: 40, 2: 16, 3: 6}[min(n, 3)]
        for role in sorted(self.sizes):
            kinds = ["input"] if self.chance(0.55) else []
            kinds += ["var"] * self.rng.randint(1, 2)
            if self.chance(0.15):
                kinds.append("stable")
            if self.chance(0.12):
                kinds.append("ghost")
            if not self.memory and self.chance(0.1):
                self.rings.add(role)
            elif not self.memory and self.chance(0.1):
                self.graphs[role] = self.graph(role)
            self.make_stores(role, kinds, budget)
            self.places[role] = []
        self.plan = {role: self.plan_role(role) for role in sorted(self.sizes)}
        self.process_def_lines = {r: self.make_process_defs(r) for r in sorted(self.sizes)}
        for role in sorted(self.sizes):
            shape = ""
            if role in self.rings:
                shape = " ring"
                self.use("ring")
            elif role in self.graphs:
                shape = " graph " + self.graphs[role]
                self.use("graph")
            lines.append(f"process {role}[{self.size_texts[role]}]{shape} {{")
            lines += ["  " + s.text for s in self.stores[role]]
            lines += ["  " + d for d in self.process_def_lines[role]]
            for part in self.plan[role]:
                lines += self.reaction(role, part)
            lines.append("}")
        return lines

    def graph(self, role):
        return self.pick([f"{{q for q in {role} if number(q) != number(me)}}", f"{{{role}(1)}}",
                          f"{{q for q in {role} if number(q) - number(me) in {{-1, 1}}}}", f"({role} - {{me}})"])

    def plan_role(self, role):
        """The parts of a role, in order: ('start',), ('step', name), ('handler',)."""
        parts = []
        if self.chance(0.75 if not self.memory else 0.15):
            parts.append(("start",))
            self.use("start")
        steps = self.weighted([(4, 0), (2, 1), (3, 2), (1.5, 3)]) if not self.memory else self.rng.randint(1, 4)
        names = ["one", "two", "three", "four"][:steps]
        if len(self.sizes) > 1 and role == "Q":
            names = [n + "_q" for n in names]
        self.places[role] = names
        self.taken |= set(names)
        parts += [("step", n) for n in names]
        if steps:
            self.use("steps")
        handlers = self.weighted([(1 if steps else 0, 0), (3, 1), (3, 2), (1, 3)])
        for _ in range(handlers):
            parts.insert(self.rng.randint(1 if parts and parts[0] == ("start",) else 0, len(parts)), ("handler",))
        return parts

    def action_scope(self, role):
        scope = self.process_scope(role, "update", self.stores[role])
        scope.choice = self.chance(0.4)
        return scope

    def reaction(self, role, part):
        if part[0] == "start":
            scope = self.action_scope(role)
            return ["  start {"] + self.action(scope, role, True, 2, start=True) + ["  }"]
        if part[0] == "step":
            return self.step(role, part[1])
        trigger, scope, repeated = self.trigger(role, handler=True)
        return [f"  {trigger} {{"] + self.action(scope, role, not repeated, 2, handler=True) + ["  }"]

    def step(self, role, name):
        lines = []
        ways = 1 if self.chance(0.85) else 2
        final = ""
        if self.chance(0.2):
            final = "final "
            self.use("final step")
        for i in range(ways):
            start = f"  {final}step {name}" if i == 0 else "  } or"
            if ways == 1 and self.chance(0.35):
                scope = self.action_scope(role)
                lines.append(f"{start} {{")
                lines += self.action(scope, role, True, 2, name)
            else:
                trigger, scope, _ = self.trigger(role, handler=False)
                lines.append(f"{start} {trigger} {{")
                lines += self.action(scope, role, True, 2, name)
                if i > 0:
                    self.use("or")
        return lines + ["  }"]

    def action(self, scope, role, may_send, indent, place=None, handler=False, start=False):
        """The block of an action: statements, sends, and perhaps goto."""
        lines = self.block(scope, role, self.rng.randint(0 if may_send else 1, 2), 1, indent)
        scope = scope.child()
        scope.taken |= {"tmp", "aux"}
        if self.messages and (may_send or self.finite) and self.chance(0.95 if start else 0.65):
            for _ in range(self.weighted([(5, 1), (1, 2)])):
                lines += self.send_lines(scope, role, indent)
        places = self.places[role]
        repeatable = self.finite or self.memory or not any("send" in l for l in lines)
        if self.chance(0.12) and (place is None or repeatable):
            return lines + self.stay_lines(scope, place, indent)
        if places and self.chance(0.25 if place else 0.12):
            target = self.pick(places + ["end"])
            later = target == "end" or place and places.index(target) > places.index(place)
            if later or self.finite or not any("send" in l for l in lines) or self.memory:
                self.use("goto")
                if self.chance(0.5):
                    lines.append("  " * indent + f"if {self.e.boolean(quiet(scope), 1)} {{ goto {target} }}")
                else:
                    lines.append("  " * indent + f"goto {target}")
        return lines

    def stay_lines(self, scope, place, indent):
        """The end of an action that leads nowhere else, in most branches."""
        pad = "  " * indent
        self.use("step that leads nowhere else" if place else "halt at the end of an action")
        same = f"goto {place}" if place else "halt"
        how = self.rng.randrange(6)
        if how < 3:
            return [pad + (same if how else "halt")]
        condition = self.e.boolean(quiet(scope), 1)
        if how == 3:
            return [f"{pad}if {condition} {{ halt }} else {{ {same} }}"]
        if how == 4:
            return [f"{pad}if {condition} {{ halt }}"] + ([pad + same] if place else [])
        return [f"{pad}if {condition} {{ {same} }}"]

    def send_lines(self, scope, role, indent):
        pad = "  " * indent
        if self.chance(0.3):
            condition, inner = self.guard(scope, 1)
            self.use("send under a condition")
            return [f"{pad}if {condition} {{ {self.send_text(inner, role)} }}"]
        return [pad + self.send_text(scope, role)]

    def send_text(self, scope, role):
        kind = self.pick(sorted(self.messages))
        fields = self.messages[kind]
        text = kind
        if fields:
            if self.chance(0.3):
                text += "(" + ", ".join(f"{f}: {self.e.value(scope, t, 1)}" for f, t in fields) + ")"
            else:
                text += "(" + ", ".join(self.e.value(scope, t, 1) for f, t in fields) + ")"
        return f"send {text} to {self.target(quiet(scope), role)}"

    def target(self, scope, role):
        if role in self.rings:
            return "next"
        if role in self.graphs and not self.chance(self.errors * 2):
            return "neighbours"
        how = self.weighted([(4, "all"), (3, "others"), (2, "role"), (3, "identity"), (1, "set")])
        self.use("send to " + how)
        if how in ("all", "others"):
            return how
        other = self.pick(sorted(self.sizes))
        if how == "role":
            return other
        if how == "identity":
            senders = [n for n, t in scope.names if t.kind == "any"]
            if senders and self.chance(0.6):
                return self.pick(senders)
            return self.e.value(scope, role_type(other), 0)
        return self.e.typed_set(scope, set_of(role_type(other)), 1)

    # ---- triggers ------------------------------------------------------------------------

    def trigger(self, role, handler):
        """(text, scope of the block, can it be repeated for ever without taking a message)."""
        scope = self.action_scope(role)
        choice = scope.choice
        scope.choice = False
        how = self.weighted([(1.5 if handler else 3, "when"), (5 if self.messages else 0, "on"), (2 if self.messages else 0, "quorum")])
        once = self.chance(0.3)
        if how == "when":
            self.use("when")
            condition, inner = self.guard(scope, 2)
            text = f"when {condition}"
            repeated = True
        elif how == "on":
            text, inner = self.single(role, scope)
            repeated = False
        else:
            text, inner, repeated = self.quorum(role, scope)
            if repeated and handler and self.chance(0.5):
                once = True
        if once:
            self.use("once")
            if text.endswith(" taken"):
                text = text[:-6] + " once taken"
            else:
                text += " once"
            repeated = False
        inner.choice = choice
        return text, inner, repeated

    def sender_type(self):
        return role_type("P") if len(self.sizes) == 1 else ANY

    def arguments(self, kind, scope, may_bind):
        """(text of the arguments, names bound)."""
        parts = []
        bound = []
        for f, t in self.messages[kind]:
            if self.chance(0.45):
                continue
            if may_bind and self.chance(0.6) and f not in scope.taken:
                parts.append(f)
                bound.append((f, t))
                self.use("pattern binds a field")
            elif may_bind and self.chance(0.6):
                parts.append(f)
                bound.append((f, t))
            else:
                signs = ["==", "!="] + (["<", "<=", ">", ">="] if t.ordered() or t.kind == "round" else [])
                sign = self.pick(signs)
                if self.chance(0.1) and t.kind in ("range", "enum", "role"):
                    parts.append(f"{f} in {self.e.typed_set(scope, set_of(t), 1)}")
                    self.use("pattern with in")
                else:
                    parts.append(f"{f} {sign} {self.e.value(scope, t, 1)}")
                    self.use("pattern with a relation")
        return ("(" + ", ".join(parts) + ")" if parts else ""), bound

    def single(self, role, scope):
        kind = self.pick(sorted(self.messages))
        self.use("on")
        text = "on "
        inner = scope.child()
        inner.taken -= {"fv", "fw"}
        name = None
        if self.chance(0.4):
            name = "m"
            text += "m: "
            self.use("named message")
        arguments, bound = self.arguments(kind, scope, True)
        text += kind + arguments
        inner = inner.child(bound)
        inner.taken |= {"fv", "fw"}
        if name:
            inner.taken.add(name)
            inner.messages.append(name)
            inner.names += [(f"{name}.{f}", t) for f, t in self.messages[kind]]
        if self.chance(0.4):
            q = inner.fresh(["q", "r"])
            text += f" from {q}"
            inner = inner.child([(q, self.sender_type())])
            if len(self.sizes) == 1:
                inner.procs.append((q, "P"))
            self.use("from")
        if self.chance(0.35):
            condition, inner = self.guard(inner, 1)
            text += f" if {condition}"
            self.use("on if")
        return text, inner

    def quorum(self, role, scope):
        kind = self.pick(sorted(self.messages))
        fields = self.messages[kind]
        self.use("quorum")
        exact = ""
        if self.chance(0.25):
            exact = "exactly "
            self.use("exactly")
        size = str(self.weighted([(3, 1), (4, 2), (0.6, 0)]))
        if self.chance(0.2):
            size = "(" + self.e.fit(*self.e.number(scope, 1), span(0, 2)) + ")"
            self.use("quorum of variable size")
        arguments, _ = self.arguments(kind, scope, False)
        text = f"on Q: {exact}{size} of {kind}{arguments}"
        if "Q" in self.sizes:
            text = text.replace("on Q:", "on Z:")
        name = text[3]
        inner = scope.child()
        inner.taken.add(name)
        if fields and self.chance(0.4):
            f, t = self.pick(fields)
            text += f" same {f}"
            inner = inner.child([(f, t)])
            self.use("same")
        inner.quorum = (name, Type("rec", fields=tuple(fields)))
        if self.chance(0.3):
            condition, inner = self.guard(inner, 1)
            text += f" if {condition}"
        repeated = True
        if self.chance(0.25):
            text += " taken"
            self.use("taken")
            repeated = size == "0" or "(" in size
        return text, inner, repeated

    # ---- environments ----------------------------------------------------------------------

    def make_environments(self):
        self.environment_lines = []
        count = self.weighted([(1 if not self.channels else 0, 0), (5, 1), (2, 2)])
        for i, name in enumerate(["env", "other"][:count]):
            clauses = self.clauses(i == 0)
            extends = ""
            if i > 0 and (self.channels or self.chance(0.4)):
                extends = " extends env"
                self.use("extends")
            self.environment_lines.append(f"environment {name}{extends} {{" + ("" if clauses else "}"))
            if clauses:
                self.environment_lines += ["  " + c for c in clauses] + ["}"]
            self.environments.append(name)
        if count == 0:
            self.use("no environment")

    def group(self):
        if len(self.sizes) > 1 and self.chance(0.5):
            self.use("fault of a role")
            return self.pick(sorted(self.sizes))
        return "processes"

    def clauses(self, first):
        found = []
        if self.channels and first:
            found.append(self.channels)
        for _ in range(self.weighted([(2 if self.crowded else 5, 0), (4, 1), (0.7, 2)])):
            fault = self.weighted([(4, "crash"), (1.5, "crash and recover"),
                                   (1.2 if not self.memory and not self.byzantine and not self.rounds else 0, "are byzantine")])
            limit = "any" if self.chance(0.1) else f"at most {self.weighted([(6, 1), (1, 2), (0.3, 0)])}"
            if fault == "are byzantine":
                self.byzantine = True
                limit = "at most 1"
            self.use("fault " + fault)
            found.append(f"{limit} {self.group()} {fault}")
        if not self.memory and self.chance(0.9 if self.crowded and first else 0.25):
            what = self.pick(["lost", "lost", "duplicated"]) if not self.crowded else "lost"
            self.use("messages are " + what)
            limit = "any" if self.chance(0.3) and (what == "lost" or "set" in self.channels) else f"at most {self.rng.randint(0, 2)}"
            found.append(f"{limit} messages are {what}")
        if self.chance(0.35) and (first or not self.fair):
            self.fair = first
            text = "fair" + self.pick(["", "", " strong"]) + self.pick(["", " processes", " actions"] + ([" messages"] if not self.memory else []))
            self.use(text)
            found.append(text)
        return found

    fair = False

    def property_scope(self, where):
        scope = super().property_scope(where)
        scope.places = {r: p + ["end"] + (["start"] if ("start",) in self.plan[r] else []) if p or ("start",) in self.plan[r] else []
                        for r, p in self.places.items()}
        scope.places = {r: p for r, p in scope.places.items() if p}
        if where == "property":
            scope.still = True
            # Which message is looked at first is not decided, and matters where looking at it may be an error.
            if not self.errors:
                scope.kinds = {kind: Type("rec", fields=tuple(fields)) for kind, fields in self.messages.items()}
        return scope

    # ---- properties about what is in flight, and what can still happen ------------------------

    def state_formula(self):
        if not self.chance(0.35):
            return super().state_formula()
        scope = self.property_scope("property")
        how = self.weighted([(2, "quiescent"), (1, "deadlocked"), (3 if self.messages else 0, "each"), (2 if self.messages else 0, "size"),
                             (2 if self.messages else 0, "settled"), (2 if self.messages else 0, "ends")])
        return getattr(self, "flight_" + how)(scope)

    def flight_quiescent(self, scope):
        self.use("formula about quiescent")
        scope.still = False
        return f"quiescent => {self.outer(scope, lambda s: self.e.boolean(s, 2))}"

    def flight_deadlocked(self, scope):
        self.use("formula about deadlocked")
        scope.still = False
        return f"deadlocked {self.pick(['=>', 'or', 'and'])} {self.outer(scope, lambda s: self.e.boolean(s, 1))}"

    def flight_each(self, scope):
        """How many messages there are to a process."""
        self.use("formula about messages to each")
        role, kind = self.pick(sorted(self.sizes)), self.pick(sorted(self.messages))
        end = self.pick(["receiver", "receiver", "sender"])
        return f"forall p in {role}: count(m in pending({kind}): {end}(m) == p) {self.pick(['<=', '<', '!='])} {self.rng.randint(0, 2)}"

    def flight_size(self, scope):
        self.use("formula about the number of messages")
        kind = self.pick(sorted(self.messages))
        return f"|pending({kind})| {self.pick(['<', '<=', '!=', '=='])} {self.rng.randint(0, 3)}"

    def flight_settled(self, scope):
        self.use("formula about messages left over")
        kind = self.pick(sorted(self.messages))
        return f"quiescent => |pending({kind})| {self.pick(['==', '==', '<='])} {self.rng.randint(0, 1)}"

    def flight_ends(self, scope):
        """The messages in flight, and the state of those who sent and receive them."""
        self.use("formula about who has sent what is in flight")
        kind = self.pick(sorted(self.messages))
        scope.still = False
        inner = self.e.bind(scope, "m", (f"pending({kind})", Type("rec", fields=tuple(self.messages[kind]))))
        return f"{self.pick(['forall', 'exists'])} m in pending({kind}): {self.e.atom_flight(inner, 1)} {self.pick(['or', 'and'])} {self.e.atom_flight(inner, 1)}"

    def properties(self):
        lines = super().properties()
        if not self.chance(0.25):
            return lines
        how = self.weighted([(3, "in"), (1, "request"), (1, "cover"), (0.5, "other")])
        self.use("declared deadlock: " + how)
        if how == "in":
            text = f"safety deadlock{self.where_checked()}: not deadlocked"
        elif how == "request":
            text = f"safety deadlock{self.where_checked()} on request: not deadlocked"
        elif how == "cover":
            text = f"cover deadlock{self.where_checked()}: deadlocked"
        else:
            text = self.make_safety("deadlock")
        return lines + [text]


def quiet(scope):
    """The same scope without free choice."""
    inner = scope.child()
    inner.choice = False
    return inner


class Memory(Steps):
    kind = "memory"
    memory = True
