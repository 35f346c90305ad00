"""The transition relation of models of rounds, whole rounds at a time (`--semantics coarse`).

A round goes like this. The environment chooses oracles; each process computes its messages from its state at the start;
the environment chooses who crashes, what each process hears and what is forged; each process updates. Everything is
tried. All clauses are asked of the choices of one round together.

Nothing is left out but this: where no clause reads heard-of sets, only what arrives tells choices apart.
"""

from itertools import product
from typing import NamedTuple, Optional

from . import types as T
from .choices import explore
from .clauses import ENDLESS, ClauseWorld, Clauses, NotChosen
from .errors import ModelError
from .schedule import compile_schedule
from .statements import run_block
from .syntax import walk
from .system import Step, TooLarge
from .world import World

MOST_CHOICES = 200000      # of an environment in one round


def holds(code, world, env):
    """A condition of an environment that is an error of the model counts as false."""
    try:
        return code.run(world, env)
    except ModelError:
        return False


class State(NamedTuple):
    place: tuple            # (segment, pass, round), each counted from 0; () at the end. The pass of an endless phase only if it is read
    count: int              # rounds done; in an endless phase only as far as something reads it
    shared: tuple           # values of file-level inputs
    values: tuple           # for each process: its values, or None if it is Byzantine
    status: tuple           # for each process: frozenset of byzantine, omits_send, omits_receive, crashed, halted
    oracles: tuple          # for each process: values of its `each phase` oracles; () between phases
    lost: int               # messages, of those that a limit for the whole run counts
    corrupted: int
    first: tuple            # for each process: first values that a property reads
    phase: tuple = ()       # live: what is still good about this phase, and `eventually` clauses

    @property
    def ended(self):
        return self.place == ()


class Fate(NamedTuple):
    """What happens to the message from one process to another. `message` is an option."""

    hears: bool
    safely: bool
    lost: int
    corrupted: int
    message: tuple


class Outcome(NamedTuple):
    """What an update makes of a process: an error, or values and whether it has halted."""

    values: Optional[tuple]
    halted: bool
    error: Optional[ModelError]


class PropertyWorld(World):
    """What properties see: a state, and for primed expressions the one after it."""

    def __init__(self, system, state, after, faulty):
        super().__init__(system.model, shared=dict(zip(system.shared_names, state.shared)))
        self.system = system
        self.state = state
        self.after = after
        self.given = faulty

    def now(self):
        return self.after if self.primed else self.state

    def role_set(self, role, quantified):
        return [p for p in self.model.roles[role].members if not self.is_byzantine(p)]

    def all_set(self, quantified):
        """READING: `all` leaves out Byzantine processes as roles do."""
        return [p for p in self.model.procs if not self.is_byzantine(p)]

    def is_byzantine(self, p):
        return "byzantine" in self.state.status[self.system.index[p]]

    def need_variables(self, p):
        if self.is_byzantine(p):
            raise ModelError("process %s(%d) is Byzantine and has no variables" % p)

    def faulty(self):
        """READING: in a step property, also inside of ', as before the step."""
        return self.given if self.given is not None else self.system.faulty(self.state)

    def correct(self):
        return frozenset(self.model.procs) - self.faulty()

    def read(self, proc, name):
        self.need_variables(proc)
        k = self.system.index[proc]
        return self.now().values[k][self.system.position[proc.role][name]]

    def initial(self, proc, name):
        self.need_variables(proc)
        return dict(self.state.first[self.system.index[proc]])[name]

    def round_number(self):
        return self.now().count


class RoundSystem:
    fairness = None
    with_paths = False      # whether steps have a path, for `almost surely`

    def __init__(self, model, environment, semantics="coarse", initial_names=frozenset(), live=False, properties=()):
        self.model = model
        self.clauses = Clauses(model, environment, live)
        self.schedule = compile_schedule(model)
        self.initial_names = initial_names
        self.live = live
        self.procs = model.procs
        self.index = {p: k for k, p in enumerate(self.procs)}
        self.shared_names = [store.name for store in model.file_stores]
        self.names = {role.name: [s.name for s in role.stores] for role in model.roles.values()}
        self.position = {role: {name: k for k, name in enumerate(names)} for role, names in self.names.items()}
        self.cap = self.count_cap(properties, environment)
        # How far rounds are counted is nobody's business but the checker's, so numbers of states are not comparable then.
        counts = self.cap > 0 or any(clause.kind == "from_round" for clause in model.environments[environment])
        self.countable = not counts or all(segment.count is not None for segment in self.schedule.segments)
        self.memo = {}
        self.assumption_bindings = [g.members(AllWorld(model)) for g in self.clauses.goodness]
        self.assumptions = self.clauses.assumptions(AllWorld(model)) if live else []

    # Which rounds there are.

    def count_cap(self, properties, environment):
        """How far rounds must be counted in an endless phase: ENDLESS, or a number beyond which nothing tells them apart."""
        nodes = [p.expr for p in properties]
        nodes += [part for clause in self.model.environments[environment] for part in clause.__dict__.values()
                  if hasattr(part, "kind")]
        return max([self.clauses.last_start] + [count_bound(self.model, node) for node in nodes])

    def first_place(self):
        return self.enter(0)

    def enter(self, segment):
        """The beginning of a segment, or of the next one that is not empty."""
        segments = self.schedule.segments
        while segment < len(segments) and (segments[segment].count == 0 or not segments[segment].rounds):
            segment += 1
        return (segment, 0, 0) if segment < len(segments) else ()

    def next_place(self, place):
        segment, k, r = place
        part = self.schedule.segments[segment]
        if r + 1 < len(part.rounds):
            return (segment, k, r + 1)
        if part.count is None:
            return (segment, k + 1 if self.reads_phase_number(segment) else 0, 0)
        if k + 1 < part.count:
            return (segment, k + 1, 0)
        return self.enter(segment + 1)

    def reads_phase_number(self, segment):
        """Whether some text reads the number of the phase."""
        if ("reads", segment) not in self.memo:
            names = {code.number for info in self.schedule.segments[segment].rounds for code in info.codes.values() if code.number}
            used = {node.name for role in self.model.roles.values() for part in role.node.parts for node in walk(part) if node.kind == "name"}
            self.memo["reads", segment] = bool(names & used)
        return self.memo["reads", segment]

    def next_count(self, state, place):
        count = state.count + 1
        if place and self.schedule.segments[place[0]].count is None:
            return min(count, self.cap)
        return count

    # The interface.

    def initial(self):
        for status in self.clauses.statuses_at_start():
            byzantine = frozenset(p for p, words in status.items() if "byzantine" in words)
            for outcome in self.model.initial_states(byzantine):
                if outcome.error is not None:
                    yield Step(None, outcome.error)
                else:
                    yield Step(self.initial_state(status, *outcome.result))

    def initial_state(self, status, shared, values):
        rows, first = [], []
        for p in self.procs:
            if p not in values:
                rows.append(None)
                first.append(())
                continue
            rows.append(tuple(values[p][name] for name in self.names[p.role]))
            first.append(tuple((name, values[p][name]) for name in self.names[p.role] if name in self.initial_names))
        place = self.first_place()
        return State(place, 0, tuple(shared[name] for name in self.shared_names), tuple(rows),
                     tuple(status[p] for p in self.procs), (), 0, 0, tuple(first))

    def world(self, state, after=None, faulty=None):
        return PropertyWorld(self, state, after, faulty)

    def faulty(self, state):
        return frozenset(p for p, words in zip(self.procs, state.status) if words - {"halted"})

    def is_final(self, state):
        return state.ended

    def steps(self, state):
        if state.ended:
            return
        if self.with_paths:
            yield from RoundWithCoins(self, state).steps()
        else:
            yield from Round(self, state).steps()


class AllWorld(ClauseWorld):
    """For the range of `for each p in P`: everybody."""

    def __init__(self, model):
        super().__init__(model, {}, frozenset(model.procs), frozenset(), 0)


def count_bound(model, node):
    """How far `round` must be counted for an expression: 0 if it is not read, beyond the constants that it is compared
    with, ENDLESS if it is used in another way."""
    from .explore import text_of
    bound, fine = 0, set()
    parts = list(text_of(model, node))
    for part in parts:
        if part.kind == "compare":
            sides = [part.first] + [side for _, side in part.rest]
            for k, side in enumerate(sides):
                if side.kind == "name" and side.name == "round":
                    others = sides[max(0, k - 1):k] + sides[k + 1:k + 2]
                    limits = [constant_bound(model, other) for other in others]
                    if None not in limits:
                        fine.add(id(side))
                        bound = max([bound] + limits)
    for part in parts:
        if part.kind == "name" and part.name == "round" and id(part) not in fine:
            return ENDLESS
    return bound


def constant_bound(model, node):
    """One more than the largest number in a constant, a constant range or a set of constants; None if it is none."""
    if node.kind == "range":
        limits = [constant_bound(model, node.low), constant_bound(model, node.high)]
        return None if None in limits else max(limits)
    if node.kind == "set":
        limits = [constant_bound(model, elem) for elem in node.elems]
        return None if None in limits else max(limits, default=0)
    if any(part.kind == "name" and part.name not in model.params for part in walk(node)):
        return None
    try:
        return max(0, model.constant(node)) + 1
    except Exception:
        return None


class Round:
    """One round from one state."""

    def __init__(self, system, state):
        self.system = system
        self.state = state
        self.model = system.model
        self.clauses = system.clauses
        self.procs = system.procs
        segment, k, r = state.place
        self.segment = system.schedule.segments[segment]
        self.info = self.segment.rounds[r]
        self.pass_number = k + 1
        self.begins_phase = r == 0
        self.ends_phase = r + 1 == len(self.segment.rounds)
        self.next_place = system.next_place(state.place)
        self.is_last = self.next_place == ()
        self.shared = dict(zip(system.shared_names, state.shared))
        self.status = dict(zip(self.procs, state.status))
        self.part = frozenset(p for p in self.procs if not self.status[p] & {"byzantine", "crashed", "halted"})
        self.faulty = system.faulty(state)

    def steps(self):
        for oracles in self.oracle_choices():
            for sent in self.all_sent(oracles):
                if isinstance(sent, ModelError):
                    yield from self.error_while_sending(sent, oracles)
                else:
                    yield from self.deliver(oracles, sent)

    # Oracles.

    def oracle_choices(self):
        """All ways to choose oracles: dicts from processes that take part to dicts from names to values."""
        menus = []
        asked = [p for p in self.procs if p in self.part]
        for p in asked:
            kept = dict(self.state.oracles[self.system.index[p]]) if self.state.oracles else {}
            names, options = [], []
            for store in self.model.roles[p.role].oracles:
                names.append(store.name)
                chosen_now = store.each == "round" or self.begins_phase
                options.append(T.values(store.type) if chosen_now else [kept[store.name]])
            menus.append([dict(zip(names, values)) for values in product(*options)])
        for choice in product(*menus):
            yield dict(zip(asked, choice))

    def oracles_after(self, oracles, status):
        """The `each phase` oracles that later rounds of this phase read: those of processes that still take part."""
        if self.ends_phase or not self.model.oracles:
            return ()
        rows = []
        for p, words in zip(self.procs, status):
            takes_part = p in oracles and not words & {"crashed", "halted"}
            stores = self.model.roles[p.role].oracles if takes_part else []
            rows.append(tuple((s.name, oracles[p][s.name]) for s in stores if s.each == "phase"))
        return tuple(rows)

    # Sending.

    def vars_of(self, p, oracles):
        row = self.state.values[self.system.index[p]]
        return {**dict(zip(self.system.names[p.role], row)), **oracles[p]}

    def local_key(self, p, oracles):
        """All that what p does in this round depends on, but what it receives."""
        segment, _, r = self.state.place
        return (p, segment, r, self.pass_number, self.is_last, self.state.shared, self.state.values[self.system.index[p]],
                tuple(sorted(oracles[p].items(), key=lambda item: item[0])))

    def all_sent(self, oracles):
        """All ways to compute messages: dicts from senders to dicts from receivers to messages; or errors."""
        menus = []
        senders = [p for p in self.procs if p in self.part and p.role in self.info.codes]
        for p in senders:
            messages, errors = self.sends_of(p, oracles)
            yield from errors
            menus.append(messages)
        for choice in product(*menus):
            yield {p: dict(items) for p, items in zip(senders, choice)}

    def sends_of(self, p, oracles):
        """(ways to send, errors): a way is a tuple of (receiver, message)."""
        key = ("send",) + self.local_key(p, oracles)
        memo = self.system.memo
        if key not in memo:
            code = self.info.codes[p.role]
            ways, errors = [], []

            def run(chooser):
                world = World(self.model, p, self.vars_of(p, oracles), dict(self.shared), chooser)
                return tuple(sorted(code.messages(world, code.env(self.pass_number)).items(), key=lambda item: item[0]))

            for outcome in explore(run):
                way = self.way(outcome)
                if outcome.error is not None:
                    errors.append(outcome.error)
                elif way not in ways:
                    ways.append(way)
            memo[key] = ways, errors
        return memo[key]

    def way(self, outcome):
        return outcome.result

    def error_while_sending(self, error, oracles):
        """It counts only if the environment allows the round."""
        for step in self.deliver(oracles, {}, updates=False):
            yield Step(None, error)
            return

    # Crashes, heard-of sets, forged messages.

    def crash_choices(self):
        """READING: whoever takes part may crash; one that has halted cannot."""
        crashed = [p for p in self.procs if "crashed" in self.status[p]]
        if not any(how == "crash" for how, _, _ in self.clauses.process_faults):
            return [frozenset()]
        alive = [p for p in self.procs if p in self.part]
        return [c for c in T.subsets(alive) if self.clauses.allows("crash", list(c) + crashed)]

    def deliver(self, oracles, sent, updates=True):
        for crashing in self.crash_choices():
            menus = {}
            for p in self.procs:
                if p in self.part:
                    menus[p] = self.menu_of(p, crashing, oracles, sent, updates)
            yield from self.join(crashing, oracles, menus)

    def may_miss(self, q, p, crashing):
        """Whether a message from q to p may be missing: 'free', 'charged' or ''. READING: who crashes in this round need not
        have heard anything; that matters only where a clause speaks of what it hears."""
        strict = self.clauses.synchronous or self.clauses.lost
        if not strict or p in crashing:
            return "free"
        if q == p:
            return ""
        words = self.status[q]
        if q in crashing or words & {"byzantine", "crashed", "omits_send"} or "omits_receive" in self.status[p]:
            return "free"
        return "charged" if self.clauses.lost else ""

    def fates(self, q, p, crashing, sent):
        """All that can happen to what q sends to p. READING: who would send nothing to p can be missing in HO[p] at no
        charge wherever messages may be lost. READING: what a Byzantine process makes up is no message that arrives as it
        should, so its sender is not in SHO[p]. "Any message of the type" is also the one
        that was sent."""
        message = sent.get(q, {}).get(p)
        has_message = q in sent and p in sent[q]
        type_ = self.info.message_types.get(p.role, T.NOTHING)
        found = []
        miss = self.may_miss(q, p, crashing)
        if miss:
            found.append(Fate(False, False, 1 if miss == "charged" and has_message else 0, 0, ()))
        if "byzantine" in self.status[q]:
            found.append(Fate(True, True, 0, 0, ()))
            if p.role in self.info.codes:
                found += [Fate(True, False, 0, 0, (v,)) for v in T.values(type_)]
            return found
        found.append(Fate(True, True, 0, 0, (message,) if has_message else ()))
        if self.clauses.may_corrupt and has_message:
            found += [Fate(True, False, 0, 1, (v,)) for v in T.values(type_)]
        return found

    def menu_of(self, p, crashing, oracles, sent, updates):
        """What can happen to p: a dict from (HO, SHO), or None if nobody asks, to a set of (lost, corrupted, Outcome)."""
        asks = self.clauses.reads_heard
        fates = []
        for q in self.procs:
            options = self.fates(q, p, crashing, sent)
            if not asks:
                options = list({(f.lost, f.corrupted, f.message): f for f in options}.values())
            fates.append(options)
        size = 1
        for options in fates:
            size *= len(options)
        if size > MOST_CHOICES:
            raise TooLarge("%d ways to hear something in a round" % size)
        menu = {}
        acts = updates and p not in crashing
        for choice in product(*fates):
            lost = sum(f.lost for f in choice) if acts else 0
            corrupted = sum(f.corrupted for f in choice) if acts else 0
            if lost > self.limit("lost", "receiver") or corrupted > self.limit("corrupted", "receiver"):
                continue
            if lost > self.most("lost") or corrupted > self.most("corrupted"):
                continue
            key = None
            if asks:
                key = (frozenset(q for q, f in zip(self.procs, choice) if f.hears),
                       frozenset(q for q, f in zip(self.procs, choice) if f.safely))
            outcomes = [None]
            if acts:
                received = tuple((q, f.message[0]) for q, f in zip(self.procs, choice) if f.message)
                outcomes = self.update_of(p, oracles, received)
            menu.setdefault(key, set()).update((lost, corrupted, outcome) for outcome in outcomes)
        return menu

    def limit(self, what, each):
        return self.clauses.limit(self.clauses.lost if what == "lost" else self.clauses.corrupted, each)

    def most(self, what):
        """How many messages can be lost or corrupted in this round, in all."""
        used = self.state.lost if what == "lost" else self.state.corrupted
        return min(self.limit(what, "round"), self.limit(what, None) - used)

    def join(self, crashing, oracles, menus):
        """All combinations that the clauses allow."""
        procs = list(menus)
        size = 1
        for p in procs:
            size *= max(1, len(menus[p]))
        if size > MOST_CHOICES:
            raise TooLarge("%d heard-of assignments in a round" % size)
        for keys in product(*[list(menus[p]) for p in procs]):
            heard = {p: key[0] for p, key in zip(procs, keys) if key}
            safely = {p: key[1] for p, key in zip(procs, keys) if key}
            for good in self.allowed(heard, safely, oracles):
                rows = [menus[p][key] for p, key in zip(procs, keys)]
                yield from self.targets(crashing, oracles, procs, rows, good)

    def allowed(self, heard, safely, oracles):
        """Nothing if the clauses forbid these choices; else all sets of what they make good. It is one set, unless a clause
        reads heard-of sets of processes that do not take part: these are free."""
        world = self.clause_world(heard, safely, oracles)
        try:
            return [self.goodness(world)] if self.satisfied(world) else []
        except NotChosen:
            pass
        found = []
        others = [p for p in self.procs if p not in self.part]
        for choice in product(T.subsets(self.procs), repeat=len(others)):
            extra = dict(zip(others, choice))
            world = self.clause_world({**heard, **extra}, {**safely, **extra}, oracles)
            if self.satisfied(world):
                good = self.goodness(world)
                if good not in found:
                    found.append(good)
        return found

    def clause_world(self, heard, safely, oracles):
        return ClauseWorld(self.model, self.shared, self.part, self.faulty, self.state.count, heard, safely, oracles)

    def satisfied(self, world):
        for condition in self.clauses.conditions:
            if self.state.count + 1 >= condition.start and condition.round_name in (None, self.info.name):
                if not holds(condition.code, world, {}):
                    return False
        return True

    # Assumptions of live properties.

    def goodness(self, world):
        """(keys that hold in this round, what is kept about the phase)."""
        holds, kept = set(), []
        before = dict(self.state.phase)
        for g, bindings in zip(self.clauses.goodness, self.system.assumption_bindings):
            for binding in bindings:
                key = g.key(binding)
                if not self.takes_part(g, binding):
                    if g.node.quantifier == "each":
                        holds.add(key)
                    continue
                if not g.phase:
                    if self.good_round(g, binding, world):
                        holds.add(key)
                    continue
                alive = self.witnesses(g, binding, world) if self.begins_phase else before.get(key, ())
                alive = tuple(w for w in alive if self.good_part(g, w, world))
                if alive and self.ends_phase or not self.ends_phase and g.node.how == "eventually always":
                    holds.add(key)
                if alive and not self.ends_phase:
                    kept.append((key, alive))
        return frozenset(holds), tuple(kept)

    def takes_part(self, g, binding):
        """READING: nothing is assumed `for each` of those that do not take part, and `for some` must be one that does."""
        return all(value in self.part for _, value in binding if isinstance(value, T.Proc))

    def good_round(self, g, binding, world):
        """READING: a condition with parts about named rounds holds in a round of that name only; what holds in all rounds
        from some round on (`eventually always`) is asked of each part in its own rounds."""
        for name, code in g.parts:
            if name is not None and name != self.info.name:
                if g.node.how == "eventually always":
                    continue
                return False
            if not holds(code, world, dict(binding)):
                return False
        return True

    def witnesses(self, g, binding, world):
        if g.witness is None:
            return (binding,)
        found = []
        env = dict(binding)
        for _ in g.witness.each(world, env):
            found.append(binding + tuple(sorted(g.witness.binding(env).items())))
        return tuple(found)

    def good_part(self, g, witness, world):
        return all(holds(code, world, dict(witness)) for name, code in g.parts if name in (None, self.info.name))

    # Updating.

    def update_of(self, p, oracles, received):
        key = ("update", received) + self.local_key(p, oracles)
        memo = self.system.memo
        if key not in memo:
            memo[key] = self.updates(p, oracles, received)
        return memo[key]

    def updates(self, p, oracles, received):
        found = []
        for _, outcome in self.each_update(p, oracles, received):
            if outcome not in found:
                found.append(outcome)
        return found

    def each_update(self, p, oracles, received):
        """(path, Outcome) for each way to choose."""
        code = self.info.codes.get(p.role)
        final = self.system.schedule.finally_.get(p.role) if self.is_last else None
        names = self.system.names[p.role]

        def run(chooser):
            world = World(self.model, p, self.vars_of(p, oracles), dict(self.shared), chooser)
            world.received = received
            alive = True
            if code is not None and code.update is not None:
                alive = run_block(code.update, world, code.env(self.pass_number))
            if alive and final is not None:
                world.received = ()
                alive = run_block(final, world, {})
            return Outcome(tuple(world.vars[name] for name in names), not alive, None)

        for outcome in explore(run):
            yield path_of(outcome.trail), outcome.result if outcome.error is None else Outcome(None, False, outcome.error)

    def targets(self, crashing, oracles, procs, rows, good):
        holds, kept = good
        seen = set()
        for choice in product(*rows):
            lost = sum(item[0] for item in choice)
            corrupted = sum(item[1] for item in choice)
            if lost > self.most("lost") or corrupted > self.most("corrupted"):
                continue
            errors = [item[2].error for item in choice if item[2] is not None and item[2].error is not None]
            if errors:
                yield Step(None, errors[0], takes=holds)
                continue
            target = self.target(crashing, oracles, dict(zip(procs, choice)), lost, corrupted, kept)
            if target not in seen:
                seen.add(target)
                yield Step(target, takes=holds)

    def target(self, crashing, oracles, chosen, lost, corrupted, kept):
        values, status = list(self.state.values), list(self.state.status)
        for p, (_, _, outcome) in chosen.items():
            k = self.system.index[p]
            if p in crashing:
                status[k] = status[k] | {"crashed"}
            elif outcome is not None:
                values[k] = outcome.values
                if outcome.halted:
                    status[k] = status[k] | {"halted"}
        keep_lost = self.limit("lost", None) != ENDLESS
        keep_corrupted = self.limit("corrupted", None) != ENDLESS
        return State(self.next_place, self.system.next_count(self.state, self.next_place), self.state.shared, tuple(values),
                     tuple(status), self.oracles_after(oracles, status), self.state.lost + lost if keep_lost else 0,
                     self.state.corrupted + corrupted if keep_corrupted else 0, self.state.first, kept)


def path_of(trail):
    return tuple(("coin" if choice.kind == "random" else "adversary", choice.index) for choice in trail)


class RoundWithCoins(Round):
    """The same, with the path of each step: who decides what, in this order: oracles; what each process chooses while it
    sends, one process after the other; crashes and what arrives; what each process chooses in its update.

    READING: the adversary knows all that was decided before, also by other processes."""

    def way(self, outcome):
        return (path_of(outcome.trail), outcome.result)

    def steps(self):
        for number, oracles in enumerate(self.oracle_choices()):
            for sent in self.all_sent(oracles):
                if isinstance(sent, ModelError):
                    yield from self.error_while_sending(sent, oracles)
                    continue
                path, messages = sent
                for step in self.deliver(oracles, messages):
                    if step.error is not None:
                        yield step
                    else:
                        yield step._replace(path=(("adversary", number),) + path + step.path)

    def all_sent(self, oracles):
        menus = []
        senders = [p for p in self.procs if p in self.part and p.role in self.info.codes]
        for p in senders:
            ways, errors = self.sends_of(p, oracles)
            yield from errors
            menus.append(ways)
        for choice in product(*menus):
            path = tuple(part for way, _ in choice for part in way)
            yield path, {p: dict(items) for p, (_, items) in zip(senders, choice)}

    def updates(self, p, oracles, received):
        """One outcome: the whole tree of what the update may decide, as a tuple of (path, Outcome)."""
        return [tuple(self.each_update(p, oracles, received))]

    def targets(self, crashing, oracles, procs, rows, good):
        """Each choice of what arrives is a decision of the adversary; then come those of the updates."""
        held, kept = good
        for choice in product(*rows):
            lost = sum(item[0] for item in choice)
            corrupted = sum(item[1] for item in choice)
            if lost > self.most("lost") or corrupted > self.most("corrupted"):
                continue
            decision = ("adversary", (crashing, good, choice))
            trees = [item[2] if item[2] is not None else (((), None),) for item in choice]
            for leaves in product(*trees):
                errors = [outcome.error for _, outcome in leaves if outcome is not None and outcome.error is not None]
                if errors:
                    yield Step(None, errors[0])
                    continue
                chosen = {p: (0, 0, outcome) for p, (_, outcome) in zip(procs, leaves)}
                path = tuple(part for way, _ in leaves for part in way)
                yield Step(self.target(crashing, oracles, chosen, lost, corrupted, kept), takes=held, path=(decision,) + path)
