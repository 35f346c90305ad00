"""Random types and type-correct expressions of the rondo language, as text.

A Type says how values look. A Scope says what can be read at a place of the
model: names with their types, what was received, bound processes. An Expr
makes expressions of a wanted type from a scope. All randomness comes from one
random.Random, so that a seed determines the text.
"""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Type:
    kind: str                 # bool range enum role opt set rec arr seq round any
    name: str = None          # of a declared type, or of a role
    lo: int = 0
    hi: int = 0
    labels: tuple = ()
    unordered: bool = False
    of: "Type" = None
    index: "Type" = None
    fields: tuple = ()
    size: int = 0
    distinct: bool = False

    def definition(self):
        """The type written out."""
        before = "unordered " if self.unordered else ""
        if self.kind == "range":
            return f"{before}{self.lo}..{self.hi}"
        if self.kind == "enum":
            return before + "{" + ", ".join(self.labels) + "}"
        if self.kind == "opt":
            return self.of.text() + "?"
        if self.kind == "set":
            return "set of " + self.of.text()
        if self.kind == "rec":
            return "(" + ", ".join(f"{n}: {t.text()}" for n, t in self.fields) + ")"
        if self.kind == "arr":
            return f"[{self.index.text()}] {self.of.text()}"
        if self.kind == "seq":
            return f"seq of {self.of.text()} up to {self.size}" + (" distinct" if self.distinct else "")
        return self.name or self.kind

    def text(self):
        """The type as it is written where it is used."""
        return self.name if self.name else self.definition()

    def ordered(self):
        if self.kind == "rec":
            return all(t.ordered() for _, t in self.fields)
        return self.kind in ("range", "enum") and not self.unordered

    def count(self, sizes):
        """How many values there are; sizes gives the number of processes of each role."""
        if self.kind == "bool":
            return 2
        if self.kind == "range":
            return self.hi - self.lo + 1
        if self.kind == "enum":
            return len(self.labels)
        if self.kind == "role":
            return sizes.get(self.name, 2)
        if self.kind == "opt":
            return 1 + self.of.count(sizes)
        if self.kind == "set":
            return 2 ** self.of.count(sizes)
        if self.kind == "rec":
            product = 1
            for _, t in self.fields:
                product *= t.count(sizes)
            return product
        if self.kind == "arr":
            return self.of.count(sizes) ** self.index.count(sizes)
        if self.kind == "seq":
            return sum(self.of.count(sizes) ** i for i in range(self.size + 1))
        return 4


BOOL = Type("bool")
ROUND = Type("round")
ANY = Type("any")             # an identity of an unknown role


def span(lo, hi, name=None, unordered=False):
    return Type("range", name=name, lo=lo, hi=hi, unordered=unordered)


def role_type(name):
    return Type("role", name=name)


def opt(t):
    return Type("opt", of=t)


def set_of(t):
    return Type("set", of=t)


def comparable(a, b):
    """Can values of the two types be compared for equality?"""
    if a == b:
        return True
    if a.kind == b.kind == "range":
        if a.unordered or b.unordered:
            return False
        return a.name is None or b.name is None
    if a.kind == b.kind == "set":
        return a.of.kind == b.of.kind == "range" and comparable(a.of, b.of)
    return False


def within(a, b):
    """Sets of numbers: is every value of type a one of b, perhaps represented differently?"""
    return (a.kind == b.kind == "set" and a.of.kind == b.of.kind == "range" and comparable(a.of, b.of)
            and b.of.lo <= a.of.lo and a.of.hi <= b.of.hi)


@dataclass
class Scope:
    """What can be read at one place of the model."""
    where: str                             # update send init property step live clause trigger def
    names: list = field(default_factory=list)      # (text, Type)
    taken: set = field(default_factory=set)        # names that cannot be bound
    me: Type = None                        # role of the process itself
    received: Type = None                  # type of messages, where `received` can be read
    quorum: tuple = None                   # (name, Type of messages)
    choice: bool = False                   # pick and random
    number: bool = False                   # number(p)
    roles: dict = field(default_factory=dict)      # role -> list of Store, for p.x
    faults: bool = False                   # correct and faulty
    counter: bool = False                  # `round`
    ring: bool = False                     # next
    messages: list = field(default_factory=list)   # names bound to messages: sender(m)
    defs: list = field(default_factory=list)       # (name, parameter types, result type)
    procs: list = field(default_factory=list)      # (name, role name) of bound processes
    places: dict = field(default_factory=dict)     # role -> names of steps, for at(p, x)
    primes: list = field(default_factory=list)     # (text, Type): texts that may have a prime
    oracles: list = field(default_factory=list)    # (name, Type, role)
    rounds: list = field(default_factory=list)     # names of rounds, for HO[p, name]
    byzantine: bool = False
    kinds: dict = field(default_factory=dict)      # kind -> Type of its messages, for pending(KIND)
    flights: list = field(default_factory=list)    # names bound to messages in flight: receiver(m)
    still: bool = False                    # quiescent and deadlocked

    def child(self, names=()):
        inner = replace(self)
        inner.names = list(self.names) + list(names)
        inner.taken = set(self.taken) | {n for n, _ in names}
        inner.messages = list(self.messages)
        inner.flights = list(self.flights)
        inner.procs = list(self.procs)
        inner.primes = list(self.primes)
        return inner

    def fresh(self, pool):
        for name in pool:
            if name not in self.taken:
                return name
        i = 1
        while f"{pool[0]}{i}" in self.taken:
            i += 1
        return f"{pool[0]}{i}"


PROCESS_POOL = ["p", "q", "r", "s"]
VALUE_POOL = ["v", "w", "u", "t"]
SET_POOL = ["S", "R", "W"]
MESSAGE_POOL = ["m", "k", "l"]


def pool_of(t):
    if t.kind in ("role", "any"):
        return PROCESS_POOL
    if t.kind == "set":
        return SET_POOL
    return VALUE_POOL


class Expr:
    """Makes expressions. `use` records which features of the language occur."""

    def __init__(self, rng, use, model):
        self.rng = rng
        self.use = use
        self.model = model             # has .types, .sizes, .errors (probability of risky text)
        self.positions = True          # may records be written without names of fields?

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, options):
        return self.rng.choice(options)

    def weighted(self, options):
        """options: list of (weight, value); weight 0 leaves one out."""
        options = [o for o in options if o[0] > 0]
        total = sum(o[0] for o in options)
        at = self.rng.random() * total
        for weight, value in options:
            at -= weight
            if at <= 0:
                return value
        return options[-1][1]

    # ---- values of any type -------------------------------------------------

    def known(self, scope, t):
        return [n for n, u in scope.names if u == t]

    def value(self, scope, t, d=2):
        """An expression of type t."""
        known = self.known(scope, t)
        if known and self.chance(0.45 if d > 0 else 0.7):
            return self.pick(known)
        if d > 0 and t.kind != "round" and self.chance(0.06):
            self.use("if-then-else")
            return f"(if {self.boolean(scope, d - 1)} then {self.value(scope, t, d - 1)} else {self.value(scope, t, d - 1)})"
        opts = [n for n, u in scope.names if u.kind == "opt" and u.of == t]
        if opts and self.chance(0.12):
            self.use("otherwise")
            return f"({self.pick(opts)} otherwise {self.value(scope, t, 0)})"
        arrays = [(n, u) for n, u in scope.names if u.kind == "arr" and u.of == t]
        if arrays and self.chance(0.3):
            name, u = self.pick(arrays)
            return f"{name}[{self.value(scope, u.index, 0)}]"
        tables = [(n, u) for n, u in scope.names if u.kind == "arr" and u.of.kind == "arr" and u.of.of == t]
        if tables and self.chance(0.4):
            name, u = self.pick(tables)
            self.use("array of arrays")
            return f"{name}[{self.value(scope, u.index, 0)}, {self.value(scope, u.of.index, 0)}]"
        fields = [f"{n}.{f}" for n, u in scope.names if u.kind == "rec" for f, ft in u.fields if ft == t]
        if fields and self.chance(0.3):
            self.use("record field")
            return self.pick(fields)
        if scope.choice and d > 0 and t.kind not in ("set", "opt", "rec", "arr", "seq", "round") and self.chance(0.12):
            return self.choose(scope, t, d)
        seqs = [n for n, u in scope.names if u.kind == "seq" and u.of == t]
        if seqs and self.chance(0.3):
            word = self.pick(["first", "last"])
            self.use("first or last")
            if self.chance(self.model.errors):
                self.use("risk: first of nothing")
                return f"{word}({self.pick(seqs)})"
            return f"({word}({self.pick(seqs)}) otherwise {self.value(scope, t, 0)})"
        defs = [f for f in scope.defs if f[2] == t]
        if defs and self.chance(0.25):
            return self.call(scope, self.pick(defs))
        if scope.received == t and self.chance(0.2):
            self.use("aggregate of received")
            word = self.pick(["majority"] + (["pick"] if scope.choice else []) + (["min", "max"] if t.ordered() else []))
            if word == "pick":
                self.use("pick")
            return f"({word}(received) otherwise {self.value(scope, t, 0)})"
        return getattr(self, "make_" + t.kind)(scope, t, d)

    def choose(self, scope, t, d):
        word = "random" if self.chance(0.4) else "pick"
        self.use(word)
        if t.kind == "bool":
            return f"{word}(true, false)"
        if t.kind in ("range", "enum") and t.name and self.chance(0.5):
            return f"{word}({t.name})"
        if t.kind == "any":
            return f"{word}(all)"
        if t.kind == "role":
            inner, gens, cond = self.comprehension(scope, t, d)
            return f"({word}({inner} for {gens}{cond}) otherwise {self.value(scope, t, 0)})" if cond else f"{word}({t.name})"
        return f"{word}({self.value(scope, t, 0)}, {self.value(scope, t, 0)})"

    def call(self, scope, f):
        name, parameters, _ = f
        self.use("def call")
        if not parameters:
            return name
        return f"{name}({', '.join(self.argument(scope, t) for t in parameters)})"

    def argument(self, scope, t):
        """An argument of a def: evaluated even if the def does not use it, so that it may fail."""
        if t.kind in ("bool", "range") and self.chance(self.model.errors):
            self.use("risk: failing argument")
            least = f"min(k for k in 0..1 if k > {self.pick(['0', '1', '2'])})"
            if t.kind == "bool":
                return f"({least} > 0)"
            return f"(if {least} == 1 then {self.literal(t)} else {self.literal(t)})"
        return self.value(scope, t, 1 if self.chance(0.3) else 0)

    def make_bool(self, scope, t, d):
        if d <= 0:
            return self.pick(["true", "false"])
        return f"({self.boolean(scope, d - 1)})"

    def literal(self, t):
        """A constant of a type, without reading anything; None if there is none."""
        if t.kind == "bool":
            return self.pick(["true", "false"])
        if t.kind == "range":
            return str(self.rng.randint(t.lo, t.hi))
        if t.kind == "enum":
            return self.pick(t.labels)
        if t.kind == "opt":
            return "none"
        if t.kind == "set":
            return "{}"
        if t.kind == "seq":
            return "[]"
        if t.kind == "round":
            return self.pick(["0", "1"])
        return None

    def make_range(self, scope, t, d):
        if t.unordered or d <= 0 or self.chance(0.35):
            return self.literal(t)
        if scope.number and t.lo <= 1 and self.chance(0.1) and t.name is None:
            role = scope.me.name if scope.me else None
            if role and self.model.sizes[role] <= t.hi:
                self.use("number")
                return "number(me)"
        text, lo, hi = self.number(scope, d - 1, t.name)
        return self.fit(text, lo, hi, t)

    def fit(self, text, lo, hi, t):
        """Makes a number with bounds lo..hi one of type t."""
        if t.lo <= lo and hi <= t.hi:
            return text
        if hi >= t.lo and lo <= t.hi and self.chance(self.model.errors):
            self.use("risk: value outside its type")
            return text
        how = self.rng.randrange(3)
        if how == 0:
            return f"max({t.lo}, min({t.hi}, {text}))"
        shift = f" + {t.lo}" if t.lo else ""
        return f"(({text}) mod {t.hi - t.lo + 1}{shift})"

    def make_enum(self, scope, t, d):
        return self.pick(t.labels)

    def identities(self, scope, role):
        return [n for n, u in scope.names if u.kind == "role" and u.name == role]

    def make_role(self, scope, t, d):
        options = []
        if scope.me == t:
            options += ["me", "me"]
            if scope.ring:
                options.append("next")
        options += [n for n, r in scope.procs if r == t.name]
        if options and self.chance(0.9):
            return self.pick(options)
        self.use("P(i)")
        if scope.where in ("update", "trigger") and d > 0 and self.chance(0.2):
            rounds = [n for n, u in scope.names if u.kind == "round"]
            if rounds:
                self.use("P(round)")
                return f"{t.name}({self.pick(rounds)})"
        low, high = (0, 1) if self.chance(0.2) else (1, 0)
        return f"{t.name}({self.rng.randint(low, self.model.sizes[t.name] + high)})"

    def make_any(self, scope, t, d):
        if scope.me:
            return "me"
        role = self.pick(sorted(self.model.sizes))
        return f"{role}(1)"

    def make_opt(self, scope, t, d):
        if self.chance(0.25):
            return "none"
        opts = [n for n, u in scope.names if u.kind == "opt" and (u == t or u == t.of or u.of == t)]
        if opts and self.chance(0.25):
            self.use("otherwise an option")
            return f"({self.pick(opts)} otherwise {self.value(scope, t, 0)})"
        seqs = [n for n, u in scope.names if u.kind == "seq" and (u.of == t.of or u.of == t)]
        if seqs and self.chance(0.4):
            self.use("first or last, otherwise an option")
            return f"({self.pick(['first', 'last'])}({self.pick(seqs)}) otherwise {self.value(scope, t, 0)})"
        if t.of.ordered() and scope.received == t.of and self.chance(0.3):
            self.use("min or max, otherwise none")
            return f"({self.pick(['min', 'max'])}(received) otherwise none)"
        if scope.received == t.of and scope.me and self.chance(0.4):
            self.use("from(q)")
            return f"from({self.value(scope, scope.me, 0)})"
        return self.value(scope, t.of, d)

    def typed_set(self, scope, t, d):
        """A set whose type can be seen from its text."""
        known = self.known(scope, t)
        if known and self.chance(0.4):
            return self.pick(known)
        smaller = [n for n, u in scope.names if u != t and within(u, t)]
        if smaller and self.chance(0.5):
            self.use("set of a smaller type")
            return self.pick(smaller)
        return self.make_set(scope, t, d, True)

    def make_set(self, scope, t, d, typed=False):
        if d <= 0:
            if typed or self.chance(0.5):
                return "{" + self.value(scope, t.of, 0) + "}"
            return self.pick(self.known(scope, t) or ["{}"])
        how = self.weighted([(0 if typed else 1, "empty"), (3, "given"), (3, "operator"), (2, "for"), (2, "whole"),
                             (2 if scope.received and t.of == scope.me else 0, "heard"),
                             (2 if scope.received == t.of else 0, "received"),
                             (3 if scope.faults and t.of.kind in ("role", "any") else 0, "faults"),
                             (0.7, "union")])
        if how == "empty":
            return "{}"
        if how == "given":
            return "{" + ", ".join(self.value(scope, t.of, d - 1) for _ in range(self.rng.randint(1, 2))) + "}"
        if how == "operator":
            sign = self.pick(["|", "&", "-"])
            self.use("set operator")
            return f"({self.typed_set(scope, t, d - 1)} {sign} {self.typed_set(scope, t, d - 1)})"
        if how == "for":
            inner, gens, cond = self.comprehension(scope, t.of, d)
            return "{" + f"{inner} for {gens}{cond}" + "}"
        if how == "heard":
            self.use("heard")
            roles = self.model.sizes
            return "heard" if len(roles) == 1 else f"(heard & {t.of.name})"
        if how == "received":
            if self.chance(0.4):
                self.use("mostfrequent")
                return "mostfrequent(received)"
            m = scope.fresh(MESSAGE_POOL)
            return "{" + f"{m} for {m} in received" + "}"
        if how == "faults":
            word = self.pick(["correct", "faulty"])
            self.use(word)
            if t.of.kind == "any" or len(self.model.sizes) == 1 and self.chance(0.5):
                return word
            return f"({word} & {t.of.name})" if self.chance(0.5) else f"({t.of.name} & {word})"
        if how == "union":
            self.use("union")
            return f"union({self.typed_set(scope, t, d - 1)}, {self.typed_set(scope, t, d - 1)})"
        return self.whole(scope, t.of)

    def whole(self, scope, t):
        """The set of all values of a type."""
        if t.kind == "role":
            return t.name
        if t.kind == "any":
            return "all"
        v = scope.fresh(pool_of(t))
        return "{" + f"{v} for {v} in {self.domain(t)}" + "}"

    def domain(self, t):
        """A type as something to go through."""
        if t.kind == "any":
            return "all"
        if t.kind == "bool":
            return "bool"
        if t.name:
            return t.name
        if t.kind == "range":
            return f"{t.lo}..{t.hi}"
        return None

    def comprehension(self, scope, t, d):
        """(text of e, generators, condition) for {e for gens if c} with e of type t."""
        self.use("comprehension")
        collections = [c for c in self.collections(scope, d) if c[1] == t]
        domain = self.domain(t)
        if domain and (not collections or self.chance(0.5)):
            c = (domain, t)
        elif collections:
            c = self.pick(collections)
        else:
            return self.value(scope, t, 0), self.generators(scope, 1, d - 1)[0], ""
        v = scope.fresh(pool_of(t))
        inner = self.bind(scope, v, c)
        cond = f" if {self.boolean(inner, d - 1)}" if self.chance(0.7) else ""
        return v, f"{v} in {c[0]}", cond

    def make_rec(self, scope, t, d):
        self.use("record")
        if self.positions and self.chance(0.3):
            self.use("record by position")
            return "(" + ", ".join(self.value(scope, u, d - 1) for _, u in t.fields) + ")"
        return "(" + ", ".join(f"{n}: {self.value(scope, u, d - 1)}" for n, u in t.fields) + ")"

    def make_arr(self, scope, t, d):
        v = scope.fresh(pool_of(t.index))
        inner = self.bind(scope, v, (None, t.index))
        self.use("array")
        return f"[{v} in {self.domain(t.index)}: {self.value(inner, t.of, d - 1)}]"

    def make_seq(self, scope, t, d):
        known = self.known(scope, t)
        if known and d > 0 and self.chance(0.7):
            s = self.pick(known)
            if self.chance(0.3):
                if self.chance(self.model.errors):
                    self.use("risk: front of nothing")
                    return f"front({s})"
                self.use("front")
                return f"(if {s} != [] then front({s}) else {s})"
            v = self.value(scope, t.of, 0)
            if self.chance(self.model.errors):
                self.use("risk: sequence too long")
                return f"{s} ++ [{v}]"
            self.use("++")
            guard = f"|{s}| < {t.size}" + (f" and {v} not in {s}" if t.distinct else "")
            both = f"{s} ++ [{v}]" if self.chance(0.7) else f"[{v}] ++ {s}"
            return f"(if {guard} then {both} else {s})"
        if t.size < 1 or self.chance(0.5):
            return "[]"
        return "[" + self.value(scope, t.of, 0) + "]"

    def make_round(self, scope, t, d):
        known = self.known(scope, t)
        if known and self.chance(0.85):
            name = self.pick(known)
            if self.chance(0.15):
                self.use("round + 1")
                return f"{name} + 1"
            return name
        return self.pick(["0", "1"])

    # ---- numbers ------------------------------------------------------------

    def number(self, scope, d, tag=None):
        """(text, lo, hi) of a number that may be used with the named range `tag`."""
        known = [(n, u) for n, u in scope.names
                 if u.kind == "range" and not u.unordered and (u.name is None or u.name == tag or tag is None and d > 0)]
        options = [(1.0 if known else 4, "literal"), (5 if known else 0, "known")]
        if scope.counter:
            options.append((0.7, "round"))
        if d > 0:
            options += [(1.5, "plus"), (0.6, "times"), (0.5, "divide"), (1, "size"), (1, "count"), (0.8, "aggregate"),
                        (0.3, "if"), (0.5 if scope.received or scope.quorum else 0, "sum"), (self.model.errors * 4, "big"), (self.model.errors * 3, "divide")]
        how = self.weighted(options)
        if how == "literal":
            k = self.rng.randint(0, 3)
            return str(k), k, k
        if how == "round":
            self.use("round in a property")
            return "round", 0, 99
        if how == "known":
            n, u = self.pick(known)
            if u.name is not None and u.name != tag:
                return f"({n} + 0)", u.lo, u.hi
            return n, u.lo, u.hi
        if how == "plus":
            a, al, ah = self.number(scope, d - 1, None)
            b, bl, bh = self.number(scope, d - 1, None)
            if self.chance(0.5):
                return f"({a} + {b})", al + bl, ah + bh
            return f"({a} - {b})", al - bh, ah - bl
        if how == "times":
            a, al, ah = self.number(scope, d - 1, None)
            k = self.rng.randint(2, 3)
            return f"{k} * {a}", k * al, k * ah
        if how == "divide":
            a, al, ah = self.number(scope, d - 1, None)
            word = self.pick(["/", "mod"])
            self.use("division" if word == "/" else "mod")
            if self.chance(self.model.errors):
                self.use("risk: division by zero")
                b, bl, bh = self.number(scope, 0, None)
                return f"({a}) {word} ({b})", min(al, -abs(ah)), max(abs(ah), abs(al), abs(bh))
            k = self.pick([2, 2, 3, -2])
            if word == "mod":
                return f"({a}) mod {k if k > 0 else f'({k})'}", 0, abs(k) - 1
            m = max(abs(al), abs(ah)) + 1
            return f"({a}) / {k if k > 0 else f'({k})'}", -m, m
        if how == "size":
            c = self.pick(self.sizeable(scope, d - 1))
            self.use("|C|")
            return f"|{c[0]}|" if self.bars(c[0]) else f"|({c[0]})|", 0, 4
        if how == "count":
            gens, inner = self.generators(scope, self.rng.randint(1, 2), d - 1)
            self.use("count")
            return f"count({gens}: {self.boolean(inner, d - 1)})", 0, 8
        if how == "sum":
            return self.total(scope, d)
        if how == "aggregate":
            return self.extreme(scope, d)
        if how == "if":
            a, al, ah = self.number(scope, d - 1, tag)
            b, bl, bh = self.number(scope, d - 1, tag)
            self.use("if-then-else")
            return f"(if {self.boolean(scope, d - 1)} then {a} else {b})", min(al, bl), max(ah, bh)
        a, al, ah = self.number(scope, d - 1, None)
        self.use("risk: beyond 64 bits")
        if self.chance(0.5):
            return f"({a} * 4611686018427387904)", 0, 1 << 63
        return f"({a} + 9223372036854775806)", 0, 1 << 63

    @staticmethod
    def bars(text):
        """Can the text stand between bars as it is?"""
        if text.startswith("pending("):
            return True
        return all(c.isalnum() or c in "_.'" for c in text) and ".." not in text

    def sizeable(self, scope, d):
        """Collections of which the size can be taken."""
        return [c for c in self.collections(scope, d) if ".." not in c[0] and not c[0].startswith("subsets")]

    def total(self, scope, d):
        gens, inner = self.generators(scope, 1, d - 1)
        e, lo, hi = self.number(inner, 0, None)
        self.use("sum")
        return f"sum({e} for {gens})", min(0, 4 * lo), max(0, 4 * hi)

    def extreme(self, scope, d):
        word = self.pick(["min", "max"])
        self.use(word)
        if self.chance(0.4):
            a, al, ah = self.number(scope, d - 1, None)
            b, bl, bh = self.number(scope, d - 1, None)
            return f"{word}({a}, {b})", min(al, bl), max(ah, bh)
        gens, inner = self.generators(scope, 1, d - 1)
        e, lo, hi = self.number(inner, 0, None)
        cond = f" if {self.boolean(inner, d - 1)}" if self.chance(0.4) else ""
        if self.chance(self.model.errors):
            self.use("risk: min of nothing")
            return f"{word}({e} for {gens}{cond})", lo, hi
        other, ol, oh = self.number(scope, 0, None)
        return f"({word}({e} for {gens}{cond}) otherwise {other})", min(lo, ol), max(hi, oh)

    # ---- collections and generators -----------------------------------------

    def collections(self, scope, d):
        """What can be gone through here: (text, type of members)."""
        found = []
        for n, u in scope.names:
            if u.kind in ("set", "opt", "seq"):
                found += [(n, u.of)] * 4
        if scope.received:
            found += [("received", scope.received)] * 4
            if scope.me:
                found.append(("heard", scope.me if len(self.model.sizes) == 1 else ANY))
        if scope.quorum:
            found += [scope.quorum] * 4
        for kind, t in sorted(scope.kinds.items()):
            found += [(f"pending({kind})", t)] * 3
        for t in self.model.types:
            if self.domain(t):
                found.append((t.name, t))
        for role in sorted(self.model.sizes):
            t = role_type(role)
            found += [(role, t)] * (3 if scope.roles else 1)
            if scope.faults:
                found += [(f"{role} & correct", t), (f"{role} & faulty", t)]
            for name, r in scope.procs:
                if r == role:
                    found.append((f"{role} - {{{name}}}", t))
        if scope.faults or scope.roles:
            all_type = role_type(next(iter(self.model.sizes))) if len(self.model.sizes) == 1 else ANY
            found.append(("all", all_type))
            if scope.faults:
                found += [("correct", all_type), ("faulty", all_type), ("correct", all_type)]
        if self.chance(0.4) or not found:
            lo = self.rng.randint(0, 2)
            found.append((f"{lo}..{lo + self.rng.randint(0, 2)}", span(lo, lo + 2)))
        if self.chance(0.3):
            found.append(("bool", BOOL))
        if self.chance(0.15) and d > 0:
            role = self.pick(sorted(self.model.sizes))
            self.use("subsets")
            found += [(f"subsets({role})", set_of(role_type(role)))] * 3
        if self.chance(0.15) and d > 0:
            t = self.pick(self.element_types(scope))
            found += [(self.typed_set(scope, set_of(t), d - 1), t)] * 2
        return found

    def element_types(self, scope):
        types = [t for t in self.model.types if t.kind in ("range", "enum")]
        types += [role_type(r) for r in self.model.sizes]
        return types + [span(0, 2)]

    def bind(self, scope, name, collection):
        """The scope in which name stands for a member of the collection."""
        text, t = collection
        inner = scope.child([(name, t)])
        if text == "received" or scope.quorum and text == scope.quorum[0]:
            inner.messages.append(name)
            if t.kind == "rec":
                for f, ft in t.fields:
                    inner.names.append((f"{name}.{f}", ft))
        if text and text.startswith("pending("):
            self.use("generator over pending")
            inner.messages.append(name)
            inner.flights.append(name)
            inner.names += [(f"{name}.{f}", ft) for f, ft in t.fields]
        if scope.roles and t.kind in ("role", "any"):
            inner.procs.append((name, t.name))
            self.read_process(inner, name, t.name)
        elif t.kind == "role":
            inner.procs.append((name, t.name))
        return inner

    def read_process(self, scope, name, role):
        """Adds what can be read of a bound process in a property."""
        if role is None:
            return
        for store in scope.roles.get(role, []):
            texts = [f"{name}.{store.name}"]
            if store.kind == "input" and scope.where != "clause":
                texts.append(f"initial({name}.{store.name})")
            for i, text in enumerate(texts):
                if scope.where == "step" and i == 0:
                    scope.names.append((text + "'", store.type))
                    scope.primes.append((text, store.type))
                scope.names.append((text, store.type))

    def generators(self, scope, count, d):
        """`count` generators: (text, inner scope)."""
        parts = []
        inner = scope
        while count > 0:
            c = self.pick(self.collections(inner, d))
            if c[0] in ("correct", "faulty", "all", "received", "heard"):
                self.use("generator over " + c[0])
            elif c[1].kind == "role":
                self.use("generator over a role" if c[0].isidentifier() else "generator over a set of processes")
            elif c[1].kind == "set":
                self.use("generator over subsets")
            if count > 1 and self.chance(0.3):
                a = inner.fresh(pool_of(c[1]))
                inner = self.bind(inner, a, c)
                b = inner.fresh(pool_of(c[1]))
                inner = self.bind(inner, b, c)
                parts.append(f"{a}, {b} in {c[0]}")
                count -= 2
            else:
                pool = MESSAGE_POOL if c[0] == "received" or c[0].startswith("pending(") else pool_of(c[1])
                a = inner.fresh(pool)
                inner = self.bind(inner, a, c)
                parts.append(f"{a} in {c[0]}")
                count -= 1
        return ", ".join(parts), inner

    # ---- conditions -----------------------------------------------------------

    def boolean(self, scope, d):
        """A condition, with parentheses where the context may need them."""
        if d <= 0:
            return self.atom(scope, 0)
        how = self.weighted([(5, "atom"), (1.5, "and"), (1.2, "or"), (1, "implies"), (0.8, "not"), (2.2, "quantifier"),
                             (0.2, "if"), (0.3, "chain"), (0.2, "same")])
        if how == "atom":
            return self.atom(scope, d)
        if how in ("and", "or"):
            return f"({self.boolean(scope, d - 1)} {how} {self.boolean(scope, d - 1)})"
        if how == "implies":
            self.use("=>")
            return f"({self.boolean(scope, d - 1)} => {self.boolean(scope, d - 1)})"
        if how == "not":
            return f"not {self.closed(self.boolean(scope, d - 1))}"
        if how == "if":
            self.use("if-then-else")
            return f"(if {self.boolean(scope, d - 1)} then {self.boolean(scope, d - 1)} else {self.boolean(scope, d - 1)})"
        if how == "chain":
            self.use("chain of comparisons")
            a, b, c = (self.number(scope, d - 1)[0] for _ in range(3))
            return f"{a} <= {b} {self.pick(['<', '<=', '=='])} {c}"
        if how == "same":
            self.use("equality of truth values")
            return f"({self.closed(self.boolean(scope, d - 1))} {self.pick(['==', '!='])} {self.closed(self.boolean(scope, d - 1))})"
        return self.quantifier(scope, d)

    @staticmethod
    def closed(text):
        return text if text.isidentifier() or text.startswith("(") and text.endswith(")") and balanced(text[1:-1]) else f"({text})"

    def quantifier(self, scope, d):
        word = self.pick(["exists", "forall"])
        n = self.weighted([(5, 1), (3, 2), (1, 3)])
        gens, inner = self.generators(scope, n, d - 1)
        self.use(f"{word} with {n} variables")
        if word == "exists" and self.chance(0.1):
            self.use("exists without condition")
            return f"(exists {gens})"
        if self.chance(0.05):
            self.use("unused quantifier")
            outside = scope.child()
            outside.taken |= inner.taken
            return f"({word} {gens}: {self.boolean(outside, d - 1)})"
        return f"({word} {gens}: {self.boolean(inner, d - 1)})"

    def atom(self, scope, d):
        bools = self.known(scope, BOOL)
        opts = [(n, u) for n, u in scope.names if u.kind == "opt"]
        sets = [(n, u) for n, u in scope.names if u.kind == "set"]
        ids = [(n, u) for n, u in scope.names if u.kind == "role"]
        rounds = self.known(scope, ROUND)
        options = [
            (0.1, self.atom_literal),
            (2 if bools else 0, self.atom_known),
            (2.5, self.atom_equal),
            (1.2, self.atom_order),
            (1.2, self.atom_in),
            (1.5 if opts else 0, self.atom_none),
            (1.0 if sets or scope.faults else 0, self.atom_sets),
            (1.2 if ids else 0, self.atom_identity),
            (0.6, self.atom_size),
            (0.8 if rounds else 0, self.atom_round),
            (3 if scope.places and scope.procs else 0, self.atom_at),
            (0.4 if scope.defs else 0, self.atom_def),
            (1.0 if scope.messages and scope.me else 0, self.atom_sender),
            (1.2 if scope.primes else 0, self.atom_step),
            (3 if scope.flights else 0, self.atom_flight),
            (1.0 if scope.still else 0, self.atom_still),
            (0.5 if scope.number and ids else 0, self.atom_number),
            (0.9 if scope.received and scope.me else 0, self.atom_heard),
        ]
        return self.weighted(options)(scope, d)

    def atom_literal(self, scope, d):
        return self.pick(["true", "false"])

    def atom_known(self, scope, d):
        name = self.pick(self.known(scope, BOOL))
        return name if self.chance(0.7) else f"not {name}"

    def atom_equal(self, scope, d):
        candidates = [(n, u) for n, u in scope.names if u.kind != "bool" and (u.kind != "rec" or u.fields)]
        if not candidates:
            return self.atom_order(scope, d)
        n, u = self.pick(candidates)
        sign = self.pick(["==", "==", "!="])
        self.use("equality of " + u.kind)
        if u.kind == "any":
            others = [o for o, v in scope.names if v.kind in ("any", "role") and o != n]
            if not others:
                return f"{n} in {self.pick(sorted(self.model.sizes))}"
            return f"{n} {sign} {self.pick(others)}"
        return f"{n} {sign} {self.another(scope, u, d - 1, n)}"

    def another(self, scope, t, d, text):
        """A value of type t that is not the same text, if possible."""
        for _ in range(4):
            found = self.value(scope, t, d)
            if found != text:
                return found
        return found

    def atom_order(self, scope, d):
        ordered = [(n, u) for n, u in scope.names if u.ordered() and (u.kind == "enum" or u.kind == "rec" and u.fields)]
        sign = self.pick(["<", "<=", ">", ">="])
        if ordered and self.chance(0.3):
            n, u = self.pick(ordered)
            self.use("order of " + u.kind)
            if u.kind == "rec":
                same = self.known(scope, u)
                return f"{n} {sign} {self.pick(same)}"
            return f"{n} {sign} {self.value(scope, u, d - 1)}"
        known = [(n, u) for n, u in scope.names if u.kind == "range" and not u.unordered]
        tag = None
        if known and self.chance(0.8):
            a, u = self.pick(known)
            tag = u.name
        else:
            a = self.number(scope, d)[0]
        b = self.number(scope, d, tag)[0]
        return f"{a} {sign if self.chance(0.7) else self.pick(['==', '!='])} {b}"

    def atom_in(self, scope, d):
        self.use("in")
        found = [c for c in self.collections(scope, d) if c[1].kind != "rec" or c[1].fields]
        c = self.pick(found)
        sign = self.pick(["in", "in", "not in"])
        if c[1].kind == "any":
            values = [n for n, u in scope.names if u.kind in ("any", "role")]
            if not values:
                return self.atom_size(scope, d)
            return f"{self.pick(values)} {sign} {c[0]}"
        positions, self.positions = self.positions, False
        text = f"{self.value(scope, c[1], d - 1)} {sign} {c[0]}"
        self.positions = positions
        return text

    def atom_none(self, scope, d):
        n, u = self.pick([(n, u) for n, u in scope.names if u.kind == "opt"])
        self.use("none")
        return f"{n} {self.pick(['==', '!='])} none"

    def atom_sets(self, scope, d):
        sets = [(n, u) for n, u in scope.names if u.kind == "set"]
        if scope.faults and (not sets or self.chance(0.4)):
            return self.atom_faults(scope, d)
        n, u = self.pick(sets)
        sign = self.pick(["<=", ">=", "==", "!="])
        self.use("comparison of sets")
        return f"{n} {sign} {self.value(scope, u, max(d - 1, 1))}"

    def atom_faults(self, scope, d):
        word = self.pick(["correct", "faulty"])
        self.use(word + " as a value")
        role = self.pick(sorted(self.model.sizes))
        if self.chance(0.35):
            return f"|{word}| {self.pick(['>', '<', '==', '>='])} {self.rng.randint(0, 2)}"
        if self.chance(0.3):
            return f"{word} {self.pick(['==', '!='])} {{}}"
        return f"{word} {self.pick(['==', '!=', '<=', '>='])} {self.pick(['all', role, f'{role} & correct'])}"

    def atom_identity(self, scope, d):
        ids = [(n, u) for n, u in scope.names if u.kind == "role"]
        n, u = self.pick(ids)
        self.use("comparison of identities")
        return f"{n} {self.pick(['==', '!='])} {self.another(scope, u, 0, n)}"

    def atom_size(self, scope, d):
        c = self.pick(self.sizeable(scope, 0))
        self.use("|C|")
        text = c[0] if self.bars(c[0]) else f"({c[0]})"
        factor = self.pick(["", "", "2 * "])
        return f"{factor}|{text}| {self.pick(['<', '<=', '>', '>=', '==', '!='])} {self.rng.randint(0, 3)}"

    def atom_round(self, scope, d):
        rounds = self.known(scope, ROUND)
        a = self.pick(rounds)
        self.use("comparison of rounds")
        if self.chance(0.15):
            self.use("round mod")
            return f"{a} mod 2 == {self.rng.randint(0, 1)}"
        if self.chance(0.15):
            self.use("round and constant")
            return f"{a} {self.pick(['==', '>', '<='])} {self.rng.randint(0, 2)}"
        return f"{a} {self.pick(['==', '!=', '<', '<=', '>', '>='])} {self.pick(rounds)}"

    def atom_at(self, scope, d):
        procs = [(n, r) for n, r in scope.procs if r is None or scope.places.get(r)]
        if not procs:
            return self.atom_order(scope, d)
        n, r = self.pick(procs)
        places = scope.places[r] if r else self.pick([p for p in scope.places.values() if p])
        self.use("at")
        prime = ""
        if scope.where == "step" and self.chance(0.5):
            prime = "'"
            self.use("at'")
        return f"at({n}, {self.pick(places)}){prime}"

    def atom_def(self, scope, d):
        found = [f for f in scope.defs if f[2] == BOOL]
        if not found:
            return self.atom_order(scope, d)
        return self.call(scope, self.pick(found))

    def atom_sender(self, scope, d):
        self.use("sender")
        m = self.pick(scope.messages)
        if len(self.model.sizes) > 1:
            return f"sender({m}) {self.pick(['in', 'not in'])} {self.pick(sorted(self.model.sizes))}"
        return f"sender({m}) {self.pick(['==', '!='])} {self.value(scope, scope.me, 0)}"

    def atom_flight(self, scope, d):
        """Who sent a message that is in flight, and to whom."""
        m = self.pick(scope.flights)
        end = f"{self.pick(['sender', 'receiver', 'receiver'])}({m})"
        self.use("sender or receiver of a message in flight")
        how = self.weighted([(2, "other end"), (3 if scope.procs else 0, "process"), (1, "role"), (1.5 if scope.faults else 0, "faults"),
                             (0.7, "member"), (1.5 if scope.places and len(self.model.sizes) == 1 else 0, "at"),
                             (1 if len(self.model.sizes) == 1 else 0, "variable")])
        if how == "process":
            return f"{end} {self.pick(['==', '!='])} {self.pick(scope.procs)[0]}"
        if how == "role":
            return f"{end} {self.pick(['in', 'not in'])} {self.pick(sorted(self.model.sizes))}"
        if how == "faults":
            return f"{end} {self.pick(['in', 'not in'])} {self.pick(['correct', 'faulty'])}"
        if how == "member":
            role = self.pick(sorted(self.model.sizes))
            return f"{end} {self.pick(['==', '!='])} {role}({self.rng.randint(1, self.model.sizes[role])})"
        if how == "at":
            self.use("place of a receiver")
            return f"at({end}, {self.pick(next(iter(scope.places.values())))})"
        if how == "variable":
            stores = [s for s in scope.roles.get("P", []) if s.type.kind in ("bool", "range", "enum", "role", "opt")]
            if stores:
                s = self.pick(stores)
                self.use("variable of a receiver")
                return f"{end}.{s.name} {self.pick(['==', '!='])} {self.value(scope, s.type, 0)}"
        return f"sender({m}) {self.pick(['==', '!='])} receiver({m})"

    def atom_still(self, scope, d):
        word = self.weighted([(3, "quiescent"), (1, "deadlocked")])
        self.use(word)
        return word if self.chance(0.6) else f"not {word}"

    def atom_heard(self, scope, d):
        self.use("heard")
        role = self.pick(sorted(self.model.sizes))
        q = self.value(scope, role_type(role), 0)
        how = self.rng.randrange(5)
        if how == 0:
            return f"{q} {self.pick(['in', 'not in'])} heard"
        if how == 1:
            self.use("from(q)")
            return f"from({q}) {self.pick(['==', '!='])} none"
        if how == 2 and len(self.model.sizes) == 1:
            return f"heard {self.pick(['==', '!=', '>=', '<='])} {self.typed_set(scope, set_of(role_type(role)), 1)}"
        if how == 3:
            m = scope.fresh(MESSAGE_POOL)
            self.use("generator over from(q)")
            inner = self.bind(scope, m, ("from", scope.received))
            return f"(exists {m} in from({q}): {self.boolean(inner, d - 1)})"
        return f"|heard| {self.pick(['<', '>', '==', '>='])} {self.rng.randint(0, 2)}"

    def atom_number(self, scope, d):
        n, u = self.pick([(n, u) for n, u in scope.names if u.kind == "role"])
        self.use("number")
        if self.chance(0.6):
            return f"number({n}) {self.pick(['<', '==', '>='])} {self.rng.randint(1, self.model.sizes[u.name])}"
        return f"number({n}) {self.pick(['<', '<=', '!='])} number({self.value(scope, u, 0)})"

    def atom_step(self, scope, d):
        n, t = self.pick(scope.primes)
        self.use("prime")
        how = self.rng.randrange(3)
        if how == 0 or not t.ordered() or t.kind == "rec":
            return f"{n}' {self.pick(['==', '!='])} {n if self.chance(0.6) else self.value(scope, t, 0)}"
        return f"{n}' {self.pick(['<=', '>=', '<', '>'])} {n}"


def balanced(text):
    """Do the brackets of a text close in order?"""
    depth = 0
    for c in text:
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0
