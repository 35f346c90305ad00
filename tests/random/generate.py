"""Small random round models in rondo's language: every construct, little of each.

A model is text, one declaration or statement a line, so that the shrinker can take lines away. What is generated is
well-typed; the few that the checker refuses are thrown away by the runner, which counts them.

Types here: ("bool",) ("val",) ("opt", t) ("set", t) ("proc", role) ("round",) ("int", lo, hi) ("rec", ((name, t), ...));
a role is a name, or "all" for any process.
"""

BOOL, VAL, ROUND = ("bool",), ("val",), ("round",)


def opt(t):
    return ("opt", t)


def set_of(t):
    return ("set", t)


def shown(t):
    kind = t[0]
    if kind == "opt":
        return shown(t[1]) + "?"
    if kind == "set":
        return "set of " + shown(t[1])
    if kind == "proc":
        return t[1]
    if kind == "int":
        return f"{t[1]}..{t[2]}"
    if kind == "rec":
        return "(" + ", ".join(f"{name}: {shown(f)}" for name, f in t[1]) + ")"
    return {"bool": "bool", "val": "Value", "round": "round"}[kind]


class Role:
    def __init__(self, name, size):
        self.name, self.size = name, size
        self.vars = []   # (name, type, kind)
        self.defs = []   # (name, argument type or None, type)


class Scope:
    """What an expression may name: variables, bound names (with their types), the message type of the round."""

    def __init__(self, role, names, message=None, senders="all", bound=None, phase=False, loop=None, where="update"):
        self.role, self.names, self.message, self.senders = role, names, message, senders
        self.bound = bound  # names that stand for messages, of which 'sender' may be asked
        self.phase, self.loop, self.where = phase, loop, where

    def with_name(self, name, type_, message=False):
        names = dict(self.names)
        names[name] = type_
        return Scope(self.role, names, self.message, self.senders, (self.bound or []) + [name] if message else self.bound,
                     self.phase, self.loop, self.where)


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.fresh = 0

    # --- chance ---

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, items):
        return items[self.rng.randrange(len(items))]

    def weighted(self, pairs):
        total = sum(w for w, _ in pairs)
        at = self.rng.random() * total
        for w, item in pairs:
            at -= w
            if at < 0:
                return item
        return pairs[-1][1]

    def name(self, letter):
        self.fresh += 1
        return f"{letter}{self.fresh}"

    # --- the model ---

    def model(self):
        g = self
        self.kind = self.weighted([(4, "corrupt"), (6, "byzantine"), (60, "heard"), (14, "crash"), (8, "omit"), (12, "lost")])
        sizes = [(55, 2), (40, 3), (5, 1)]
        if self.kind in ("crash", "omit"):
            sizes = [(30, 2), (50, 3), (15, 4)]
        if self.kind == "corrupt":
            sizes = [(10, 1), (90, 2)]
        size = self.weighted(sizes)
        self.roles = [Role("P", size)]
        if self.chance(0.17):
            a = self.pick([1, 1, 2]) if self.kind != "corrupt" else 1
            self.roles = [Role("P", min(size, 2)), Role("Q", a)]
        # one role whose numbers matter beside one whose do not: some processes may trade places, others not
        self.mixed = self.kind in ("crash", "omit", "lost") and self.chance(0.25)
        if self.mixed:
            self.roles = [Role("P", 2), Role("Q", 2)]
        self.total = sum(r.size for r in self.roles)
        self.single = len(self.roles) == 1
        self.values = self.weighted([(30, "1..2"), (15, "0..1"), (12, "1..3"), (12, "unordered 1..2"), (8, "unordered 1..3"),
                                     (12, "{a, b}"), (5, "{a, b, c}"), (6, "unordered {a, b}")])
        if self.kind in ("corrupt", "byzantine") and "3" in self.values:
            self.values = "1..2"
        self.unordered = self.values.startswith("unordered")
        base = self.values.replace("unordered ", "")
        self.numeric = ".." in base
        if self.numeric:
            lo, hi = map(int, base.split(".."))
            self.literals = [str(v) for v in range(lo, hi + 1)]
        else:
            self.literals = base.strip("{}").split(", ")
        # how much the model may say about identities and values: models that say little allow more reductions
        self.identities = self.weighted([(45, 0), (30, 1), (25, 2)])  # none, equality, numbers
        if self.mixed:
            self.identities = 2
        self.fixed = self.chance(0.35)   # literals of Value
        self.ordered = not self.unordered and self.chance(0.6)
        self.careful = self.chance(0.85)  # mostly no model errors
        self.rounds_kept = self.chance(0.2)

        lines = ["algorithm Random", f"param n = {self.roles[0].size}", f"type Value = {self.values}"]
        self.globals = []
        if self.chance(0.1):
            t = VAL if self.identities == 0 or self.chance(0.5) else ("proc", self.roles[0].name)
            self.globals.append(("g", t))
            lines.append(f"input g: {shown(t)}")
        self.file_def = None
        if self.chance(0.1):
            self.file_def = "same"
            lines.append("def same(u1: Value, u2: Value): bool = u1 == u2")
        self.plan()
        for role in self.roles:
            self.declare(role)
        for i, role in enumerate(self.roles):
            lines += self.process(role)
        self.environments = []
        for i in range(2 if self.chance(0.15) else 1):
            lines += self.environment(f"env{i + 1}")
        for i in range(self.rng.randint(2, 4)):
            lines += self.property(i)
        return "\n".join(lines) + "\n"

    def plan(self):
        self.segments = []
        kind = self.weighted([(45, "phase"), (20, "once"), (15, "repeat"), (12, "once+phase"), (8, "repeat+finally")])
        budget = self.rng.randint(1, 3)
        self.finally_ = kind == "repeat+finally" or (kind in ("once", "repeat") and self.chance(0.4))
        self.round_names = []
        for what in kind.replace("+finally", "").split("+"):
            n = max(1, min(budget, self.rng.randint(1, 2)))
            rounds = []
            for _ in range(n):
                name = self.name("r") if self.chance(0.5) else None
                if name:
                    self.round_names.append(name)
                rounds.append((name, self.message_type()))
            counter = None
            if what == "phase" and self.rounds_kept:
                counter = "ph"
            if what == "repeat" and self.chance(0.6):
                counter = "k"
            self.segments.append((what, rounds, counter, self.rng.randint(1, 2) if n > 1 else self.rng.randint(1, 3)))
        self.endless = self.segments[-1][0] == "phase"
        self.finally_ = self.finally_ and not self.endless

    def message_type(self):
        small = self.kind in ("corrupt", "byzantine")
        pairs = [(40, VAL), (12, BOOL), (12, opt(VAL)), (10, set_of(VAL)), (10, ("rec", (("a", VAL), ("b", BOOL)))),
                 (8, ("rec", (("a", VAL), ("b", opt(VAL)))))]
        if self.rounds_kept and not small:
            pairs += [(20, ("rec", (("a", VAL), ("b", ROUND)))), (8, ROUND)]
        if self.identities and not small:
            pairs += [(6, self.proc()), (4, set_of(self.proc()))]
        if small:
            pairs = pairs[:4]
        return self.weighted(pairs)

    def sent_types(self):
        types = []
        for _, rounds, _, _ in self.segments:
            for _, message in rounds:
                types += [f for _, f in message[1]] if message[0] == "rec" else [message]
        return types

    def proc(self):
        return ("proc", self.roles[0].name)

    # --- variables ---

    def declare(self, role):
        role.vars.append(("x", VAL, "input"))
        kinds = [(30, opt(VAL)), (25, BOOL), (12, set_of(VAL)), (10, VAL), (12, ("int", 0, self.rng.randint(1, 3))),
                 (6, ("rec", (("a", VAL), ("b", BOOL))))]
        if self.rounds_kept:
            kinds.append((40, ROUND))
        if self.identities:
            kinds += [(12, opt(self.proc())), (10, self.proc()), (8, set_of(self.proc()))]
        if not self.single:
            role.vars[0] = ("x", VAL, "input") if self.chance(0.7) else ("x", VAL, "var")
        for i in range(self.rng.randint(1, 3)):
            t = self.weighted(kinds)
            role.vars.append((f"v{i + 1}" if self.single or self.chance(0.5) else f"{role.name.lower()}{i + 1}", t,
                              "ghost" if self.chance(0.05) else "var"))
        for t in self.sent_types():
            if not any(has == t and kind == "var" for _, has, kind in role.vars) and t not in (VAL, BOOL, self.proc()):
                role.vars.append((f"v{len(role.vars) + 3}", t, "var"))
        if self.chance(0.1):
            role.vars.append(("y", self.pick([VAL, BOOL]), "input"))
        if self.chance(0.22):
            t = self.weighted([(60, self.proc()), (20, BOOL), (20, VAL)]) if self.identities else self.pick([BOOL, VAL])
            role.vars.append(("o", t, "oracle"))

    def readable(self, role, where):
        """Names and types that an expression of this process may read there."""
        names = {}
        for name, t, kind in role.vars:
            if kind == "ghost" or (kind == "oracle" and where in ("finally", "init")):
                continue
            names[name] = t
        for name, t in self.globals:
            names[name] = t
        return names

    def process(self, role):
        lines = [f"process {role.name}[{'n' if role is self.roles[0] else role.size}] {{"]
        known = {name: t for name, t in self.globals}
        for name, t, kind in role.vars:
            scope = Scope(role, dict(known), where="init")
            if kind == "oracle":
                endless_only = self.chance(0.6)
                unit = "phase" if endless_only else "round"
                lines.append(f"  oracle {name}: {shown(t)} each {unit}")
                continue
            if kind == "input":
                text = f"  input {name}: {shown(t)}"
                if t == VAL and len(self.literals) >= role.size and self.chance(0.12):
                    text += " distinct"
                elif t == VAL and self.numeric and self.chance(0.08):
                    text += f" where {name} != {self.pick(self.literals)}" if self.fixed else f" where {name} == {name}"
                elif t == VAL and self.identities == 2 and not (self.mixed and role.name == "Q") and self.numeric and self.literals[0] == "1" and self.chance(0.3):
                    text += " = number(me)" if len(self.literals) >= role.size else f" = min(number(me), {len(self.literals)})"
                elif t == BOOL and self.chance(0.2):
                    text += " = false"
                lines.append(text)
            else:
                lines.append(f"  {kind} {name}: {shown(t)} = {self.first_value(t, scope)}")
            if kind != "ghost":
                known[name] = t
        if self.chance(0.15):
            scope = Scope(role, self.readable(role, "init"), where="init")
            role.defs.append(("pred", VAL, BOOL))
            inner = scope.with_name("z", VAL)
            lines.append(f"  def pred(z: Value): bool = {self.boolean(inner, 1)}")
        for what, rounds, counter, times in self.segments:
            header = what
            if what == "repeat":
                header = f"repeat {times}" + (f" as {counter}" if counter else "")
            elif what == "phase" and counter:
                header = "phase ph"
            lines.append(f"  {header} {{")
            for name, message in rounds:
                lines += self.round(role, name, message, what == "phase" and bool(counter), counter if what == "repeat" else None)
            lines.append("  }")
        if self.finally_:
            scope = Scope(role, self.readable(role, "finally"), where="finally")
            lines.append("  finally {")
            lines += self.block(role, scope, 2, "    ")
            lines.append("  }")
        lines.append("}")
        return lines

    def first_value(self, t, scope):
        kind = t[0]
        if t == ROUND:
            return "0"
        if kind == "opt":
            return "none" if self.chance(0.8) else self.expr(t, scope, 0)
        if kind == "set":
            return "{}" if self.chance(0.6) else self.expr(t, scope, 0)
        if kind == "bool":
            return self.pick(["true", "false"])
        if kind == "int":
            return str(self.rng.randint(t[1], t[2]))
        if t == VAL:
            if "x" in scope.names:
                return "x" if self.chance(0.8) or not self.fixed else self.pick(self.literals)
            return self.pick(self.literals)
        if kind == "proc":
            return "me" if scope.role.name == t[1] and self.chance(0.8) else f"{t[1]}(1)"
        return self.expr(t, scope, 0)

    # --- rounds ---

    def round(self, role, name, message, phase, loop):
        lines = [f"    round {name or ''} {{".replace("  {", " {")]
        silent = not self.single and self.chance(0.2)
        scope = Scope(role, self.readable(role, "send"), phase=phase, loop=loop, where="send")
        sends = 0 if silent else (2 if self.chance(0.08) else 1)
        for _ in range(sends):
            inner, when = scope, ""
            if self.chance(0.3):
                options = [n for n, t in scope.names.items() if t[0] == "opt"]
                if options and self.chance(0.6):
                    source, bound = self.pick(options), self.name("w")
                    inner = scope.with_name(bound, scope.names[source][1])
                    when = f"exists {bound} in {source}"
                    if self.chance(0.3):
                        when = f"{self.boolean(scope, 0)} and {when}"
                elif self.chance(0.2):
                    bound = self.name("w")
                    inner = scope.with_name(bound, VAL)
                    when = f"exists {bound} in Value: {self.boolean(inner, 0)}"
                else:
                    when = self.boolean(scope, 1)
            lines.append(f"      send {self.sent(message, inner)} to {self.target(role, inner)}{' when ' + when if when else ''}")
        if self.chance(0.95):
            scope = Scope(role, self.readable(role, "update"), message, self.senders(), None, phase, loop)
            lines.append("      update {")
            lines += self.block(role, scope, self.rng.randint(1, 3), "        ")
            lines.append("      }")
        lines.append("    }")
        return lines

    def senders(self):
        return self.roles[0].name if self.single else "all"

    def target(self, role, scope):
        if not self.single and self.chance(0.75):
            return "all"
        pairs = [(60, "all"), (12, "others"), (8, self.pick(self.roles).name)]
        if self.identities:
            places = [n for n, t in scope.names.items() if t[0] == "proc"]
            if places:
                pairs.append((30, self.pick(places)))
            sets = [n for n, t in scope.names.items() if t == set_of(self.proc())]
            if sets:
                pairs.append((15, self.pick(sets)))
            pairs.append((5, "me"))
        if self.identities == 2:
            p = self.roles[0].name
            pairs.append((20, self.pick([f"{p}(1)", f"{p}({scope.loop})" if scope.loop else f"{p}(2)",
                                         f"{p}(ph)" if scope.phase else f"{p}(1)",
                                         f"{p}(1)" if self.mixed else f"{p}(number(me) + 1)"])))
        return self.weighted(pairs)

    def sent(self, t, scope):
        """An expression whose type is just t, whatever the other senders of the round say."""
        kind = t[0]
        names = self.named(scope, t)
        if kind == "rec":
            if names and self.chance(0.3):
                return self.pick(names)
            return "(" + ", ".join(f"{name}: {self.sent(f, scope)}" for name, f in t[1]) + ")"
        if kind == "bool":
            return self.boolean(scope, 1)
        if t == ROUND:
            return self.pick(names + ["ph"] if scope.phase else names)
        if kind == "proc":
            return self.process_(t, scope, 0)
        pairs = [(40, lambda: self.pick(names)),
                 (8, lambda: f"(if {self.boolean(scope, 0)} then {self.pick(names)} else {self.pick(names)})")]
        if t == VAL and self.fixed and not self.numeric:
            pairs.append((8, lambda: self.pick(self.literals)))
        options = self.named(scope, opt(VAL))
        if t == VAL and options:
            pairs.append((8, lambda: f"({self.pick(options)} otherwise {self.pick(names)})"))
        if t == set_of(VAL):
            pairs.append((15, lambda: f"({self.pick(names)} | {{{self.pick(self.named(scope, VAL))}}})"))
        return self.weighted(pairs)()

    # --- statements ---

    def block(self, role, scope, n, indent):
        lines = []
        for _ in range(n):
            new, scope = self.statement(role, scope, indent)
            lines += new
        return lines

    def assign(self, role, scope, indent):
        places = [(name, t, kind) for name, t, kind in role.vars if kind != "oracle"]
        name, t, kind = self.pick(places)
        inner = scope
        if t[0] == "rec" and self.chance(0.3):
            field, t = self.pick(t[1])
            return f"{indent}{name}.{field} := {self.expr(t, inner, 2)}"
        return f"{indent}{name} := {self.expr(t, inner, 2)}"

    def statement(self, role, scope, indent):
        kind = self.weighted([(55, "assign"), (28, "if"), (7, "let"), (2, "halt"), (8, "foreach")])
        if kind == "let":
            t = self.pick([VAL, BOOL, opt(VAL), ("int", 0, 3)])
            bound = self.name("l")
            inner = scope.with_name(bound, t)
            value = self.expr(t, scope, 1)
            if t[0] == "opt" or value in ("none", "{}"):
                value, inner = self.expr(VAL, scope, 1), scope.with_name(bound, VAL)
            if self.numeric and inner.names[bound] == VAL and value in self.literals:
                value = "x" if "x" in scope.names else f"pick({value})"
            lines = [f"{indent}let {bound} = {value}"]
            used = [self.assign(role, inner, indent)]
            return lines + used, inner
        if kind == "halt" and scope.where == "update":
            return [f"{indent}if {self.boolean(scope, 1)} {{", f"{indent}  halt", f"{indent}}}"], scope
        if kind == "foreach" and scope.message:
            bound = self.name("m")
            inner = scope.with_name(bound, scope.message, True)
            return [f"{indent}foreach {bound} in received {{", *self.block(role, inner, self.rng.randint(1, 2), indent + "  "),
                    f"{indent}}}"], scope
        if kind == "if":
            inner, guard = scope, None
            choice = self.rng.random()
            if scope.message and choice < 0.35:
                bound = self.name("m")
                inner = scope.with_name(bound, scope.message, True)
                guard = f"exists {bound} in received"
                if scope.message[0] == "opt" and self.chance(0.5):
                    inside = self.name("w")
                    inner = inner.with_name(inside, scope.message[1])
                    guard += f", {inside} in {bound}"
                if self.chance(0.4):
                    guard += f": {self.boolean(inner, 0)}"
                if self.chance(0.2):
                    guard = f"{self.boolean(scope, 0)} and {guard}"
            elif choice < 0.5:
                bound = self.name("w")
                inner = scope.with_name(bound, VAL)
                guard = f"exists {bound} in Value: {self.boolean(inner, 1)}"
            elif choice < 0.62:
                options = [n for n, t in scope.names.items() if t[0] == "opt"]
                if options:
                    source, bound = self.pick(options), self.name("w")
                    inner = scope.with_name(bound, scope.names[source][1])
                    guard = f"exists {bound} in {source}"
            if guard is None:
                guard = self.boolean(scope, 2)
            lines = [f"{indent}if {guard} {{", *self.block(role, inner, self.rng.randint(1, 2), indent + "  "), f"{indent}}}"]
            if self.chance(0.35):
                lines += [f"{indent}else {{", *self.block(role, scope, 1, indent + "  "), f"{indent}}}"]
            return lines, scope
        return [self.assign(role, scope, indent)], scope

    # --- expressions ---

    def expr(self, t, scope, depth):
        kind = t[0]
        if kind == "bool":
            return self.boolean(scope, depth)
        if kind == "rec":
            same = self.named(scope, t)
            if same and self.chance(0.5):
                return self.pick(same)
            return "(" + ", ".join(f"{name}: {self.expr(f, scope, depth - 1)}" for name, f in t[1]) + ")"
        return {"val": self.value, "opt": self.option, "set": self.set, "proc": self.process_, "int": self.number,
                "round": self.round_number}[kind](t, scope, depth)

    def named(self, scope, t):
        """Names, and fields of names, that have this very type."""
        found = [n for n, has in scope.names.items() if has == t]
        for n, has in scope.names.items():
            if has[0] == "rec":
                found += [f"{n}.{field}" for field, f in has[1] if f == t]
        return found

    def source(self, scope, t):
        """A generator over received whose element has type t: (element, generator), or None."""
        m = scope.message
        if not m:
            return None
        bound = self.name("m")
        if m == t:
            return bound, f"{bound} in received"
        if m == opt(t):
            inside = self.name("w")
            return inside, f"{bound} in received, {inside} in {bound}"
        if m == set_of(t):
            inside = self.name("w")
            return inside, f"{bound} in received, {inside} in {bound}"
        if m[0] == "rec":
            fits = [field for field, f in m[1] if f == t]
            if fits:
                return f"{bound}.{self.pick(fits)}", f"{bound} in received"
            fits = [field for field, f in m[1] if f == opt(t)]
            if fits:
                inside = self.name("w")
                return inside, f"{bound} in received, {inside} in {bound}.{self.pick(fits)}"
        return None

    def gathered(self, scope, t, depth):
        """Something an aggregate can go through: a collection, or a comprehension over received."""
        if scope.message == t and self.chance(0.5):
            return "received"
        found = self.source(scope, t)
        if not found:
            return None
        element, gen = found
        bound = gen.split(" ")[0]
        text = f"{element} for {gen}"
        if self.chance(0.3):
            inner = scope.with_name(bound, scope.message, True)
            text += f" if {self.boolean(inner, 0)}"
        return text

    def fallback(self, scope, t):
        return f" otherwise {self.pick(self.named(scope, t))}" if self.named(scope, t) else f" otherwise {self.base(t, scope)}"

    def base(self, t, scope):
        kind = t[0]
        if kind == "val":
            return "x" if "x" in scope.names and (not self.fixed or self.chance(0.6)) else self.pick(self.literals)
        if kind == "proc":
            return "me" if scope.role and scope.role.name == t[1] else f"{t[1]}(1)"
        if kind == "opt":
            return "none"
        if kind == "set":
            return "{}"
        if kind == "int":
            return str(self.rng.randint(t[1], t[2]))
        if kind == "round":
            return "ph" if scope.phase else "0"
        return "true"

    def value(self, t, scope, depth):
        names = self.named(scope, VAL)
        pairs = [(30, lambda: self.pick(names))] if names else [(30, lambda: self.base(VAL, scope))]
        if self.fixed:
            pairs.append((12, lambda: self.pick(self.literals)))
        if depth > 0:
            got = self.gathered(scope, VAL, depth)
            need = self.fallback(scope, VAL) if self.careful or self.chance(0.5) else ""
            if got:
                if self.ordered:
                    pairs += [(16, lambda: f"({self.pick(['min', 'max'])}({got}){need})"),
                              (10, lambda: f"(min(mostfrequent({got})){need})")]
                pairs += [(7, lambda: f"(pick({got}){need})"), (5, lambda: f"(pick(mostfrequent({got})){need})"),
                          (8, lambda: f"(majority({got}){need})")]
            sets = [n for n in self.named(scope, set_of(VAL))]
            if sets:
                pairs.append((10, lambda: f"({'min' if self.ordered else 'pick'}({self.pick(sets)}){self.fallback(scope, VAL)})"))
            options = self.named(scope, opt(VAL))
            if options:
                pairs.append((10, lambda: f"({self.pick(options)}{self.fallback(scope, VAL)})"))
            if self.can_name(scope) and scope.message == VAL:
                pairs.append((14, lambda: f"(from({self.process_(self.sender_type(), scope, 0)}){self.fallback(scope, VAL)})"))
            if scope.where == "update" or scope.where == "finally":
                pairs += [(3, lambda: "random(Value)"), (2, lambda: f"pick(u for u in Value){''}")]
            pairs.append((6, lambda: f"(if {self.boolean(scope, depth - 1)} then {self.value(t, scope, depth - 1)} else {self.value(t, scope, depth - 1)})"))
            if self.numeric and self.fixed and self.chance(0.1) and not self.careful:
                pairs.append((10, lambda: f"({self.pick(names or self.literals)} + 1)"))
        return self.weighted(pairs)()

    def option(self, t, scope, depth):
        inner = t[1]
        names = self.named(scope, t)
        pairs = [(10, lambda: "none"), (25, lambda: self.expr(inner, scope, depth))]
        if names:
            pairs.append((20, lambda: self.pick(names)))
        if depth > 0:
            if self.can_name(scope) and scope.message == inner:
                pairs.append((15, lambda: f"from({self.process_(self.sender_type(), scope, 0)})"))
            if names:
                pairs.append((8, lambda: f"(if {self.boolean(scope, depth - 1)} then {self.pick(names)} else none)"))
        return self.weighted(pairs)()

    def set(self, t, scope, depth):
        inner = t[1]
        names = self.named(scope, t)
        pairs = [(8, lambda: "{}" if not names else self.pick(names)), (15, lambda: "{" + self.expr(inner, scope, depth - 1) + "}")]
        if names:
            pairs.append((20, lambda: self.pick(names)))
        if inner[0] == "proc":
            role = inner[1]
            if scope.message and scope.senders == role:
                pairs.append((25, lambda: "heard"))
                bound = self.name("m")
                pairs.append((8, lambda: f"{{sender({bound}) for {bound} in received if {self.boolean(scope.with_name(bound, scope.message, True), 0)}}}"))
            elif scope.message:
                pairs.append((25, lambda: f"(heard & {role})"))
            pairs += [(6, lambda: role), (5, lambda: f"{{q for q in {role} if q != {self.process_(inner, scope, 0)}}}")]
        if depth > 0:
            got = self.gathered(scope, inner, depth)
            if got:
                whole = got if got != "received" else "u for u in received"
                pairs.append((20, lambda: "{" + whole + "}"))
                pairs.append((8, lambda: f"mostfrequent({got})"))
            more = self.gathered(scope, t, depth)
            if more:
                pairs.append((20, lambda: f"union({more})"))
            pairs.append((14, lambda: f"({self.set(t, scope, depth - 1)} {self.pick(['|', '|', '&', '-'])} {self.set(t, scope, depth - 1)})"))
            if inner == VAL:
                each = self.name("w")
                pairs.append((6, lambda: f"{{{each} for {each} in Value if {self.boolean(scope.with_name(each, VAL), depth - 1)}}}"))
        return self.weighted(pairs)()

    def can_name(self, scope):
        return self.identities and scope.message and scope.where == "update"

    def sender_type(self):
        return self.proc()

    def process_(self, t, scope, depth):
        role = t[1]
        names = self.named(scope, t)
        pairs = []
        if scope.role and scope.role.name == role:
            pairs.append((10, lambda: "me"))
        if names:
            pairs.append((25, lambda: self.pick(names)))
        if scope.bound and scope.senders == role:
            pairs.append((20, lambda: f"sender({self.pick(scope.bound)})"))
        if self.identities == 2 and scope.role:
            pairs.append((12, lambda: self.pick([f"{role}(1)", f"{role}(2)", f"{role}({scope.loop})" if scope.loop else f"{role}(1)",
                                                 f"{role}(ph)" if scope.phase else f"{role}(1)"])))
        if depth > 0 and scope.message and scope.senders == role:
            pairs.append((10, lambda: f"(pick(heard){self.fallback(scope, t)})"))
        if not pairs:
            return f"{role}(1)" if self.identities == 2 or not scope.role else (names or [f"{role}(1)"])[0]
        return self.weighted(pairs)()

    def number(self, t, scope, depth):
        lo, hi = t[1], t[2]
        names = [n for n, has in scope.names.items() if has[0] == "int" and has[2] <= hi and has[1] >= lo]
        pairs = [(10, lambda: str(self.rng.randint(lo, hi)))]
        if names:
            pairs.append((20, lambda: self.pick(names)))
        if depth > 0:
            if scope.message:
                pairs += [(20, lambda: f"min(|received|, {hi})"), (8, lambda: f"min(|heard|, {hi})"),
                          (15, lambda: f"min({self.count(scope, depth)}, {hi})")]
                if self.numeric and scope.message == VAL and self.fixed:
                    pairs.append((10, lambda: f"min(sum(received), {hi})"))
                if not self.careful:
                    pairs.append((10, lambda: "|received|"))
            grown = [n for n, has in scope.names.items() if has[0] == "int"]
            if grown:
                pairs.append((15, lambda: f"({self.pick(grown)} + 1) mod {hi + 1}" if self.chance(0.6) else f"min({self.pick(grown)} + 1, {hi})"))
            if self.identities == 2 and scope.role and not (self.mixed and scope.role.name == "Q"):
                pairs.append((4, lambda: f"min(number(me), {hi})"))
        return self.weighted(pairs)()

    def round_number(self, t, scope, depth):
        names = self.named(scope, ROUND)
        pairs = [(4, lambda: "0")]
        if scope.phase:
            pairs.append((25, lambda: "ph"))
        if names:
            pairs.append((20, lambda: self.pick(names)))
        if depth > 0:
            got = self.gathered(scope, ROUND, depth)
            if got:
                pairs.append((25, lambda: f"({self.pick(['max', 'max', 'min'])}({got}){self.fallback(scope, ROUND)})"))
        return self.weighted(pairs)()

    def count(self, scope, depth):
        bound = self.name("m")
        inner = scope.with_name(bound, scope.message, True)
        return f"count({bound} in received: {self.boolean(inner, 0)})"

    def boolean(self, scope, depth):
        names = self.named(scope, BOOL)
        pairs = [(3, lambda: self.pick(["true", "false"]))]
        if names:
            pairs += [(14, lambda: self.pick(names)), (5, lambda: f"not {self.pick(names)}")]
        pairs.append((25, lambda: self.comparison(scope, depth)))
        if scope.message and scope.where == "update":
            k = self.rng.randint(1, max(1, self.total))
            pairs += [(10, lambda: self.pick([f"|received| >= {k}", f"2 * |received| > {self.total}", f"|received| == {k}", "|received| < n"])),
                      (4, lambda: f"|heard| >= {k}")]
            if depth > 0:
                bound = self.name("m")
                inner = scope.with_name(bound, scope.message, True)
                pairs += [(10, lambda: f"(exists {bound} in received: {self.boolean(inner, 0)})"),
                          (8, lambda: f"(forall {bound} in received: {self.boolean(inner, 0)})"),
                          (12, lambda: self.pick([f"{self.count(scope, depth)} >= {k}", f"2 * {self.count(scope, depth)} > {self.total}"]))]
                got = self.gathered(scope, VAL, depth)
                values = self.named(scope, VAL)
                if got and values:
                    whole = got if got != "received" else "u for u in received"
                    pairs.append((10, lambda: f"{{{whole}}} == {{{self.pick(values)}}}"))
                if self.identities:
                    pairs.append((6, lambda: f"{self.process_(self.proc(), scope, 0)} in heard{'' if self.single else ' & ' + self.roles[0].name}"))
        if depth > 0:
            pairs += [(8, lambda: f"({self.boolean(scope, depth - 1)} and {self.boolean(scope, depth - 1)})"),
                      (7, lambda: f"({self.boolean(scope, depth - 1)} or {self.boolean(scope, depth - 1)})"),
                      (5, lambda: f"not ({self.boolean(scope, depth - 1)})"),
                      (3, lambda: f"({self.boolean(scope, depth - 1)} => {self.boolean(scope, depth - 1)})")]
            options = self.named(scope, opt(VAL))
            if options:
                some = self.name("w")
                pairs.append((5, lambda: f"({self.pick(['exists', 'forall'])} {some} in {self.pick(options)}: {self.boolean(scope.with_name(some, VAL), 0)})"))
        values = self.named(scope, VAL)
        if scope.role and scope.role.defs and values and scope.where in ("send", "update"):
            pairs.append((8, lambda: f"pred({self.pick(values)})"))
        if self.file_def and len(values) > 1:
            pairs.append((6, lambda: f"same({self.pick(values)}, {self.pick(values)})"))
        if scope.loop:
            pairs.append((4, lambda: f"{scope.loop} == 1"))
        return self.weighted(pairs)()

    def comparison(self, scope, depth):
        choices = []
        for n, t in scope.names.items():
            kind = t[0]
            if t == VAL or kind in ("opt", "proc") and t[1] != "all":
                choices.append((n, t))
            if kind == "int" or t == ROUND:
                choices.append((n, t))
            if kind == "set":
                choices.append((n, t))
            if kind == "rec":
                choices += [(f"{n}.{field}", f) for field, f in t[1] if f != BOOL]
        if not choices:
            return self.pick(["true", "false"])
        n, t = self.pick(choices)
        kind = t[0]
        if kind == "set":
            pairs = [(10, lambda: f"{self.expr(t[1], scope, 0)} in {n}"), (8, lambda: f"|{n}| {self.pick(['>=', '=='])} {self.rng.randint(1, 2)}"),
                     (4, lambda: f"{n} == {self.set(t, scope, 0)}"), (3, lambda: f"{n} == {{}}")]
            return self.weighted(pairs)()
        if kind == "opt":
            return self.weighted([(10, lambda: f"{n} {self.pick(['==', '!='])} none"),
                                  (6, lambda: f"{n} {self.pick(['==', '!='])} {self.option(t, scope, 0)}")])()
        relation = self.pick(["==", "==", "!="])
        if kind in ("int", "round") or (t == VAL and self.ordered):
            relation = self.pick(["==", "==", "!=", "<", "<=", ">", ">="])
        return f"{n} {relation} {self.expr(t, scope, 0)}"

    # --- environments ---

    def roles_text(self):
        return "all" if not self.single and self.chance(0.6) else self.pick(self.roles).name

    def environment(self, name):
        clauses = []
        n = self.total
        kind = self.kind
        everybody = "P" if self.single and self.chance(0.7) else "all"
        limit = self.pick([0, 1, 1, 1, 2])
        who = "processes" if self.chance(0.8) else self.roles[0].name
        if kind == "corrupt":
            clauses.append(self.weighted([(40, f"at most {self.pick([0, 1, 1, 2])} messages are corrupted each receiver"),
                                          (12, f"at most {self.pick([1, 1, 2])} messages are corrupted each round"),
                                          (12, "at most 1 messages are corrupted"),
                                          (20, f"every round: forall p in {everybody}: |HO[p] - SHO[p]| <= {self.pick([0, 1])}"),
                                          (8, f"every round: forall p in {everybody}: |SHO[p]| >= 1")]))
        elif kind == "byzantine":
            clauses.append(f"at most 1 {who} are byzantine")
        elif kind == "crash":
            clauses.append(f"at most {limit} {who} crash")
        elif kind == "omit":
            clauses.append(f"at most {limit} {who} omit{self.pick(['', ' to send', ' to receive'])}")
        elif kind == "lost":
            clauses.append(f"at most {self.pick([0, 1, 1, 2, 3])} messages are lost{self.pick(['', ' each round', ' each round', ' each receiver'])}")
        if kind != "heard" and kind != "corrupt" and self.chance(0.7 if n < 4 else 1.0):
            clauses.append("synchronous")
        extra = self.weighted([(70, 1), (25, 2), (5, 3)]) if kind == "heard" else self.weighted([(55, 0), (37, 1), (8, 2)])
        for _ in range(extra):
            pred = self.heard_predicate(everybody)
            if pred:
                start = "every round" if self.chance(0.85) else f"from round {self.rng.randint(1, 4)}"
                clauses.append(f"{start}: {pred}")
        if kind == "heard" and self.chance(0.06):
            clauses.append(self.pick(["at most 1 processes crash", "at most 1 messages are lost each round", "at most 1 processes omit",
                                      "at most 1 messages are lost", "synchronous"]))
        oracle = self.oracle_clause()
        if oracle:
            clauses.append(oracle)
        self.rng.shuffle(clauses)
        if self.environments and self.chance(0.4):
            name_line = f"environment {name} extends {self.environments[0]} {{"
        else:
            name_line = f"environment {name} {{"
        self.environments.append(name)
        return [name_line] + [f"  {c}" for c in clauses] + ["}"]

    def heard_predicate(self, everybody):
        k = self.rng.randint(0, self.total)
        k1 = self.rng.randint(1, self.total)
        r = self.roles_text()
        ho = "HO[p]"
        hq = "HO[q]"
        if self.round_names and self.chance(0.15):
            name = self.pick(self.round_names)
            ho, hq = f"HO[p, {name}]", f"HO[q, {name}]"
        e = everybody
        size = lambda s: self.pick([f"|{s}| >= {k1}", f"|{s}| <= {k}", f"|{s}| == {k}", f"2 * |{s}| > {self.total}", f"|{s}| != {k}"])
        return self.weighted([
            (14, None),
            (16, f"forall p in {r}: {size(ho)}"),
            (4, f"forall p in {r}: {ho} == {e}"),
            (5, f"forall p in {r}: {ho} != {{}}"),
            (4, f"forall p in {r}: {size(ho)} and p in {ho}"),
            (5, "reflexive"),
            (4, f"forall p in {r}: p in {ho}"),
            (2, f"forall p in {r}: p not in {ho}"),
            (9, "nosplit"),
            (8, f"forall p, q in {e}: {ho} & {hq} != {{}}"),
            (5, "kernel"),
            (5, f"exists q in {e}: forall p in {e}: q in {ho}"),
            (6, "uniform"),
            (5, f"exists S in subsets({e}): {self.pick([size('S'), 'S != {}'])} and forall p in {e}: {ho} == S"),
            (4, f"forall p, q in {e}: {ho} == {hq}"),
            (2, f"exists p in {r}: {size(ho)}"),
            (2, f"forall p, q in {e}: p in {hq} or q in {ho}"),
            (2, f"forall p, q in {e}: {ho} <= {hq} or {hq} <= {ho}"),
            (2, f"forall p in {r}: |{ho} & correct| >= 1"),
            (2, f"forall p in correct: |{ho}| >= {k1}"),
            (2, f"forall p, q in {r}: p != q => {ho} & {hq} != {{}}"),
        ])

    def oracle_clause(self):
        for role in self.roles:
            for name, t, kind in role.vars:
                if kind != "oracle":
                    continue
                if not self.single and any(not any(v[0] == name and v[2] == "oracle" for v in other.vars) for other in self.roles):
                    e = role.name
                else:
                    e = role.name
                unit = self.pick(["round", "phase"])
                preds = [None, f"forall p, q in {e}: {name}[p] == {name}[q]", f"forall p, q in {e}: {name}[p] == {name}[q]",
                         f"exists p in {e}: forall q in {e}: p != q => {name}[q] == {name}[p]"]
                if t[0] == "proc" and t[1] == e:
                    preds += [f"exists q in {e}: {name}[q] == q", f"forall p in {e}: {name}[p] in HO[p]", f"forall p in {e}: {name}[p] != p",
                              f"exists q in correct & {e}: forall p in {e}: {name}[p] == q"]
                if t == BOOL:
                    preds += [f"exists p in {e}: {name}[p]", f"forall p in {e}: {name}[p] => |HO[p]| >= 1"]
                pred = self.pick(preds)
                return f"every {unit}: {pred}" if pred else None
        return None

    # --- properties ---

    def property(self, i):
        kind = self.weighted([(60, "safety"), (20, "step"), (20, "cover")])
        where = f" in {self.pick(self.environments)}" if len(self.environments) > 1 and self.chance(0.7) else ""
        word = "cover" if kind == "cover" else "safety"
        text = self.formula(kind == "step")
        if self.chance(0.15):
            bound = self.rng.randint(0, 3)
            guard = self.pick([f"round == {bound}", f"round >= {bound}", "|faulty| == 0", "|correct| >= 1"])
            text = f"{guard} {'and' if kind == 'cover' else '=>'} ({text})"
        return [f"{word} prop{i + 1}{where}: {'step ' if kind == 'step' else ''}{text}"]

    def who(self, role):
        return self.weighted([(70, role.name), (15, f"{role.name} & correct" if not self.single else "correct"),
                              (3, f"{role.name} & faulty" if not self.single or self.kind == "byzantine" else "faulty")])

    def atom(self, p, role, step, q=None):
        """A condition on the variables of process p (and of q)."""
        names = {}
        for name, t, kind in role.vars:
            if kind == "oracle":
                continue
            names[f"{p}.{name}"] = t
            if step:
                names[f"{p}.{name}'"] = t
            if q:
                names[f"{q}.{name}"] = t
                if step:
                    names[f"{q}.{name}'"] = t
            if kind == "input" and not step and self.chance(0.15):
                names[f"initial({p}.{name})"] = t
        if step:
            primed = {n: t for n, t in names.items() if n.endswith("'")}
            n, t = self.pick(sorted(primed.items()))
            return self.relate(n, t, names)
        n, t = self.pick(sorted(names.items()))
        return self.relate(n, t, names)

    def relate(self, n, t, names):
        same = sorted(m for m, has in names.items() if has == t and m != n)
        kind = t[0]
        if kind == "bool":
            return self.pick([n, f"not {n}"] + [f"{n} == {m}" for m in same])
        if kind == "set":
            if t[1] == VAL and self.chance(0.4) and self.fixed:
                return f"{self.pick(self.literals)} in {n}"
            return self.pick([f"|{n}| {self.pick(['<=', '==', '>='])} {self.rng.randint(0, 2)}"] + [f"{n} == {m}" for m in same] + [f"{n} <= {m}" for m in same])
        if kind == "opt":
            return self.pick([f"{n} == none", f"{n} != none"] + [f"{n} == {m}" for m in same])
        if kind == "rec":
            field, f = self.pick(t[1])
            return self.relate(f"{n}.{field}", f, names) if "'" not in n else f"{n} == {n.replace(chr(39), '')}"
        relations = ["==", "==", "!="]
        if kind in ("int", "round") or (t == VAL and self.ordered):
            relations += ["<", "<=", ">="]
        others = same[:]
        if kind == "int":
            others.append(str(self.rng.randint(t[1], t[2])))
        if kind == "round":
            others.append("0")
        if t == VAL and (self.fixed or not same):
            others.append(self.pick(self.literals))
        if not others:
            return f"{n} == {n}"
        return f"{n} {self.pick(relations)} {self.pick(others)}"

    def formula(self, step):
        role = self.pick(self.roles)
        who = self.who(role)
        kind = self.weighted([(20, "agree"), (20, "one"), (20, "two"), (12, "count"), (10, "valid"), (8, "mixed"), (6, "exists")])
        if kind == "agree":
            opts = [name for name, t, k in role.vars if t == opt(VAL) and k != "oracle"]
            if opts:
                v = self.pick(opts)
                if step:
                    return f"forall p in {who}: p.{v} != none => p.{v}' == p.{v}"
                return f"forall p, q in {who}, v in p.{v}, w in q.{v}: v == w"
            return f"forall p, q in {who}: p.x{chr(39) if step else ''} == q.x"
        if kind == "one" or (kind == "valid" and step):
            return f"forall p in {who}: {self.atom('p', role, step)}" + (f" {self.pick(['=>', 'or'])} {self.atom('p', role, step)}" if self.chance(0.6) else "")
        if kind == "two":
            return f"forall p, q in {who}: {self.atom('p', role, step, 'q')}" + (f" {self.pick(['=>', 'or'])} {self.atom('p', role, step, 'q')}" if self.chance(0.7) else "")
        if kind == "count":
            k = self.rng.randint(0, role.size)
            rel = self.pick(["<=", "==", ">="])
            plain = [n for n, t, kk in role.vars if t == VAL and kk != "oracle"]
            if plain and self.chance(0.4):
                return f"|{{p.{self.pick(plain)}{chr(39) if step else ''} for p in {who}}}| {rel} {max(1, k)}"
            return f"count(p in {who}: {self.atom('p', role, step)}) {rel} {k}"
        if kind == "valid":
            inputs = [n for n, t, kk in role.vars if kk == "input" and t == VAL]
            if inputs:
                v = self.pick([n for n, t, kk in role.vars if t == VAL and kk != "oracle"])
                return self.pick([f"forall p in {who}: exists q in {role.name}: p.{v} == initial(q.{inputs[0]})",
                                  f"forall v in Value: (forall p in {role.name}: initial(p.{inputs[0]}) == v) => forall q in {who}: q.{v} == v",
                                  f"forall p in {who}: p.{v} == initial(p.{inputs[0]})"])
            return f"forall p in {who}: {self.atom('p', role, step)}"
        if kind == "mixed":
            other = self.pick(self.roles)
            return f"(exists p in {who}: {self.atom('p', role, step)}) {self.pick(['=>', 'or'])} (forall q in {other.name}: {self.atom('q', other, step)})"
        return f"exists p in {who}: {self.atom('p', role, step)}"


def generate(rng):
    return Generator(rng).model()
