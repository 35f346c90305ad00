"""What an environment of a model of rounds says: its clauses, sorted and compiled.

`Clauses(model, name)` has the limits of faults, what is lost and corrupted, the conditions on heard-of sets and
oracles, and the assumptions about the whole run. It decides nothing; rounds.py asks it.
"""

from itertools import product
from typing import NamedTuple, Optional

from .expr import Generators, Scope, compile_bool, conjuncts
from .syntax import Node, walk
from .system import Assumption, Unsupported
from .types import subsets
from .world import World

ENDLESS = float("inf")


class Limit(NamedTuple):
    """A limit on messages: `each` is None for the whole run, 'round' or 'receiver'."""

    most: float
    each: Optional[str]


class Condition(NamedTuple):
    """A conjunct of `every round` or `from round`: asked in rounds from `start` on, of that name if it names one."""

    start: int
    round_name: Optional[str]
    code: object


class Goodness:
    """A clause about the whole run. `keys` are (number of the clause, bound values): one for each binding of
    `for each` or `for some`."""

    def __init__(self, number, node, model):
        self.number = number
        self.node = node
        self.phase = node.unit == "phase"
        if node.unit not in (None, "phase", "round"):
            raise Unsupported("'%s' of '%s'" % (node.how, node.unit))
        scope = Scope(model, environment=True)
        self.bound = None
        if node.quantifier:
            if len(node.generators) != 1:
                raise Unsupported("several generators of '%s'" % node.quantifier)
            self.bound = Generators(node.generators, scope)
            scope = self.bound.scope
        if self.phase:
            self.read_phase(model, node.cond, scope)
        else:
            self.parts = [(round_named(model, part), compile_bool(part, scope)) for part in conjuncts(node.cond)]

    def read_phase(self, model, cond, scope):
        """The `exists` in front, and the parts below it, through `and` and `forall`."""
        self.witness = None
        if cond.kind == "quant" and cond.which == "exists" and cond.body is not None:
            self.witness = Generators(cond.generators, scope)
            scope, cond = self.witness.scope, cond.body
        self.parts = [(round_named(model, part), compile_bool(part, scope)) for part in phase_parts(cond)]

    def members(self, world):
        """All that `for each` or `for some` speaks of, whoever takes part: bindings, each a tuple of (name, value)."""
        if self.bound is None:
            return [()]
        return [tuple(sorted(self.bound.binding(env).items())) for env in each_binding(self.bound, world, {})]

    def key(self, binding):
        return (self.number, binding)


def each_binding(generators, world, env):
    for _ in generators.each(world, env):
        yield env


def phase_parts(node):
    """The parts of a condition about a phase: conjuncts, also below `forall`."""
    if node.kind == "and":
        return phase_parts(node.left) + phase_parts(node.right)
    if node.kind == "quant" and node.which == "forall" and node.body is not None:
        return [Node("quant", node.line, which="forall", generators=node.generators, body=part)
                for part in phase_parts(node.body)]
    return [node]


def expanded(model, node):
    """The node and everything below it, with the bodies of defs."""
    from .explore import text_of
    return text_of(model, node)


def reads(model, node, *names):
    """Whether an expression reads one of HO, SHO (also by words that stand for something with HO)."""
    words = {"uniform", "nosplit", "kernel", "reflexive", "waits"} if "HO" in names else set()
    for part in expanded(model, node):
        if part.kind == "index" and part.base.kind == "name" and part.base.name in names:
            return True
        if part.kind in ("name", "call") and part.name in words:
            return True
    return False


def round_named(model, node):
    """The name of the round that a condition speaks of, as in HO[p, first], or None."""
    found = set()
    for part in expanded(model, node):
        if part.kind == "index" and part.base.kind == "name" and part.base.name in ("HO", "SHO") and len(part.args) > 1:
            found.add(part.args[1].name)
    if len(found) > 1:
        raise Unsupported("a condition that names two rounds")
    return found.pop() if found else None


class Clauses:
    def __init__(self, model, name, live):
        self.model = model
        self.process_faults = []      # (how, role or None, limit)
        self.lost = []                # Limits; empty: no clause speaks of lost messages
        self.corrupted = []
        self.synchronous = False
        self.conditions = []
        self.goodness = []
        self.may_corrupt = False
        self.reads_heard = False
        self.reads_safely_heard = False
        self.last_start = 0           # rounds that must be counted for `from round k`
        for node in model.environments[name]:
            self.read(node, live)

    def read(self, node, live):
        if node.kind == "synchronous":
            self.synchronous = True
        elif node.kind == "fault":
            self.read_fault(node)
        elif node.kind == "every":
            self.read_condition(node.cond, 1)
        elif node.kind == "from_round":
            self.read_condition(node.cond, self.model.constant(node.start))
        elif node.kind == "going_well":
            if live:
                self.note_reads(node.cond)
                self.goodness.append(Goodness(len(self.goodness), node, self.model))
        else:
            raise Unsupported("clause '%s' of rounds" % node.kind)

    def read_fault(self, node):
        limit = ENDLESS if node.limit is None else self.model.constant(node.limit)
        if node.how in ("lost", "corrupted"):
            (self.lost if node.how == "lost" else self.corrupted).append(Limit(limit, node.each))
            self.may_corrupt = self.may_corrupt or node.how == "corrupted"
        elif node.how in ("crash", "omit", "omit send", "omit receive", "byzantine"):
            role = None if node.of == "processes" else node.of
            self.process_faults.append((node.how, role, limit))
        else:
            raise Unsupported("fault '%s' of rounds" % node.how)

    def read_condition(self, cond, start):
        self.last_start = max(self.last_start, start - 1)
        self.note_reads(cond)
        if reads(self.model, cond, "SHO"):
            self.may_corrupt = True
        for part in conjuncts(cond):
            self.conditions.append(Condition(start, round_named(self.model, part), self.model.compile_clause(part)))

    def note_reads(self, cond):
        self.reads_heard = self.reads_heard or reads(self.model, cond, "HO", "SHO")
        self.reads_safely_heard = self.reads_safely_heard or reads(self.model, cond, "SHO")

    def allows(self, how, procs):
        """Whether so many processes can have that fault. Limits add up: those of a role are for its processes, the
        others for what is left."""
        common = sum(limit for h, role, limit in self.process_faults if h == how and role is None)
        left = 0
        for role in self.model.roles:
            mine = sum(limit for h, r, limit in self.process_faults if h == how and r == role)
            left += max(0, sum(1 for p in procs if p.role == role) - mine)
        return left <= common

    def fault_sets(self, how):
        if not any(h == how for h, _, _ in self.process_faults):
            return [frozenset()]
        return [s for s in subsets(self.model.procs) if self.allows(how, s)]

    def statuses_at_start(self):
        """All ways to choose who is Byzantine or omits: dicts from Proc to a frozenset of words."""
        found = []
        for byzantine in self.fault_sets("byzantine"):
            for both, send, receive in product(self.fault_sets("omit"), self.fault_sets("omit send"), self.fault_sets("omit receive")):
                status = {}
                for p in self.model.procs:
                    words = set()
                    if p in both | send:
                        words.add("omits_send")
                    if p in both | receive:
                        words.add("omits_receive")
                    status[p] = frozenset(["byzantine"]) if p in byzantine else frozenset(words)
                if status not in found:
                    found.append(status)
        return found

    @property
    def loss_is_charged(self):
        return not self.synchronous or bool(self.lost)

    def limit(self, limits, each):
        return min([limit.most for limit in limits if limit.each == each], default=ENDLESS)

    def assumptions(self, world):
        found = []
        for g in self.goodness:
            keys = tuple(g.key(b) for b in g.members(world))
            found.append(Assumption(g.node.how, keys, g.node.quantifier == "some"))
        return found


class ClauseWorld(World):
    """What clauses see of one round. `part` are those that take part, `heard` and `safely` are dicts."""

    def __init__(self, model, shared, part, faulty, rounds_done, heard=None, safely=None, oracles=None):
        super().__init__(model, shared=shared)
        self.part = part
        self.faulty_set = faulty
        self.rounds_done = rounds_done
        self.heard = heard
        self.safely = safely
        self.oracles = oracles or {}

    def role_set(self, role, quantified):
        members = self.model.roles[role].members
        return [p for p in members if p in self.part] if quantified else members

    def all_set(self, quantified):
        return [p for p in self.model.procs if p in self.part] if quantified else self.model.procs

    def correct(self):
        return [p for p in self.model.procs if p not in self.faulty_set]

    def faulty(self):
        return self.faulty_set

    def round_number(self):
        return self.rounds_done

    def heard_of(self, proc, round_name):
        if proc not in self.heard:
            raise NotChosen()
        return self.heard[proc]

    def safely_heard_of(self, proc, round_name):
        if proc not in self.safely:
            raise NotChosen()
        return self.safely[proc]

    def oracle(self, proc, name):
        if proc not in self.oracles:
            raise Unsupported("a clause reads the oracle of a process that does not take part")
        return self.oracles[proc][name]


class NotChosen(Exception):
    """A clause reads the heard-of set of a process that does not take part."""
