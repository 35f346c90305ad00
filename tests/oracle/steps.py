"""The transition relation of models of steps. README.md has the interface, `step_actions.py` what actions there are.

A state has the variables, place and status of each process, what is in each channel, and what faults have happened so far. A step is an
action of one process, the delivery of a message (semantics m-mp and mp), or a fault. Everything is tried, and nothing is left out.
"""

from itertools import product
from typing import NamedTuple, Optional

from . import types as T
from .choices import Abandoned, explore
from .errors import ModelError, TypeProblem
from .expr import Scope, compile_expr
from .statements import run_block
from .step_actions import Places, compile_actions
from .system import Step, TooLarge, Unsupported
from .world import World

UP, HALTED, CRASHED = "up", "halted", "crashed"

# Where a message is. Under m all messages that are pending are SENT, and can be taken at once.
# NEW: delivered, and the receiver has not acted since then. Only mp tells it from DELIVERED.
SENT, DELIVERED, NEW = 0, 1, 2

# taken wherever it lies, which says the opposite. True: a process that is stuck can take nothing.
STUCK_RUNS_COUNT = False

MOST_MADE_UP = 2000        # messages that a Byzantine process can send
MOST_SELECTIONS = 20000    # sets of messages for one quorum


class Process(NamedTuple):
    values: tuple              # in the order of the stores
    place: Optional[str]
    once: frozenset            # numbers of the `once` actions that are done
    status: str


class State(NamedTuple):
    shared: tuple              # in the order of the file's stores
    processes: tuple           # in the order of model.procs; None: Byzantine
    channels: tuple            # ((sender, receiver), entries), those that are not empty; an entry is ((kind, content), where)
    crashed: frozenset         # those that have crashed so far
    recovered: frozenset       # those of them that have recovered, where that matters
    lost: int                  # how many messages; 0 where there is no limit
    duplicated: int
    first: tuple               # first values that properties read


class Chosen(NamedTuple):
    """A message that an action takes or looks at. `where` is None if a Byzantine process made it up."""

    sender: T.Proc
    message: tuple             # (kind, content)
    where: Optional[int]


class Done(NamedTuple):
    """What an action did."""

    values: dict
    shared: dict
    place: Optional[str]
    status: str
    sent: tuple                # (receiver, message), in order
    channels: dict


def part_of(proc, of):
    return of == "processes" or proc.role == of


# Environments.


class Faults:
    """What an environment of steps says."""

    def __init__(self, model, clauses):
        self.how, self.bound = "bag", None
        self.fair = None
        self.crash, self.byzantine = [], []     # (limit or None, of, recovers)
        self.lost, self.duplicated = 0, 0       # limit; None: any number
        lost, duplicated = [], []
        for clause in clauses:
            if clause.kind == "channels":
                self.how = clause.how
                self.bound = None if clause.bound is None else model.constant(clause.bound)
            elif clause.kind == "fair":
                self.fair = clause
            elif clause.kind == "fault" and clause.each is None:
                limit = None if clause.limit is None else model.constant(clause.limit)
                self.read_fault(model, clause, limit, lost, duplicated)
            else:
                raise TypeProblem("a clause that is for rounds", clause.line)
        self.lost = smallest(lost)
        self.duplicated = smallest(duplicated)

    def read_fault(self, model, clause, limit, lost, duplicated):
        if clause.how in ("crash", "crash and recover", "byzantine"):
            if clause.of != "processes" and clause.of not in model.roles:
                raise TypeProblem("'%s' is no role" % clause.of, clause.line)
            slot = (limit, clause.of, clause.how == "crash and recover")
            (self.byzantine if clause.how == "byzantine" else self.crash).append(slot)
        elif clause.how == "lost":
            lost.append(limit)
        elif clause.how == "duplicated":
            duplicated.append(limit)
        else:
            raise TypeProblem("'%s' is for rounds" % clause.how, clause.line)

    @property
    def tells_recovered(self):
        """Whether some crashes recover and some do not, so that it matters who has recovered."""
        kinds = {recovers for limit, _, recovers in self.crash if limit is None or limit > 0}
        return len(kinds) == 2

    def allow_crashed(self, crashed, recovered):
        return fits_limits(T.in_order(crashed), self.crash, recovered)

    def allow_byzantine(self, procs):
        return fits_limits(T.in_order(procs), self.byzantine, frozenset())


def smallest(limits):
    """Of several limits all must be kept. No clause: 0. None stands for `any`."""
    if not limits:
        return 0
    numbers = [limit for limit in limits if limit is not None]
    return min(numbers) if numbers else None


def fits_limits(procs, slots, recovered):
    """Limits on processes add up: whether each process can be charged to some clause.

    READING: where there are both `crash` and `crash and recover`, one that has recovered is charged to a clause of the second kind, one that
    has not to either.
    """
    if not procs:
        return True
    p, rest = procs[0], procs[1:]
    for k, (limit, of, recovers) in enumerate(slots):
        if not part_of(p, of) or (limit is not None and limit <= 0):
            continue
        if p in recovered and not recovers:
            continue
        less = slots if limit is None else slots[:k] + [(limit - 1, of, recovers)] + slots[k + 1:]
        if fits_limits(rest, less, recovered):
            return True
    return False


# Channels. While a step is made, they are a dict from (sender, receiver) to a tuple of entries.


def entry_key(entry):
    (kind, content), where = entry
    return kind, T.order_key(content), where


class Channels:
    """The rules of channels: `how` is bag, set or fifo."""

    def __init__(self, how, bound):
        self.how = how
        self.bound = bound

    def freeze(self, channels):
        return tuple(sorted((key, entries) for key, entries in channels.items() if entries))

    def laid_out(self, entries):
        """The order matters in a FIFO channel only."""
        return tuple(entries) if self.how == "fifo" else tuple(sorted(entries, key=entry_key))

    def add(self, channels, key, message):
        """Send a message. False if there is no room."""
        entries = channels.get(key, ())
        if self.how == "set" and any(m == message for m, _ in entries):
            return True
        if self.bound is not None and len(entries) >= self.bound:
            return False
        channels[key] = self.laid_out(entries + ((message, SENT),))
        return True

    def remove(self, channels, key, entry):
        entries = list(channels[key])
        entries.remove(entry)
        channels[key] = tuple(entries)

    def within_reach(self, entries):
        """What can be taken or looked at, as far as the order goes. Equal entries are there once."""
        if self.how == "fifo":
            return list(entries[:1])
        return list(dict.fromkeys(entries))

    def delivered(self, entries, where):
        """The channel after each delivery that is possible.

        READING: a FIFO channel delivers in order. It delivers further messages also while one that was delivered waits.
        """
        found = []
        for k, (message, state) in enumerate(entries):
            if state == SENT:
                found.append((message, self.laid_out(entries[:k] + ((message, where),) + entries[k + 1:])))
                if self.how == "fifo":
                    break
        return list(dict.fromkeys(found))

    def without_one(self, entries):
        """The channel after each loss that is possible."""
        return list(dict.fromkeys((entries[k][0], entries[:k] + entries[k + 1:]) for k in range(len(entries))))


# Worlds.


class ActionWorld(World):
    """A process that acts."""

    def __init__(self, system, state, me, chooser):
        super().__init__(system.model, me, system.values_of(state, me), system.shared_of(state), chooser)
        self.system = system
        self.place = None          # where `goto` says
        # READING: a message to a Byzantine process is gone at once. It takes no room in a bounded channel, is not delivered, and cannot be lost.
        self.liars = system.byzantine(state)
        self.sent = []

    def send(self, kind, message, receivers, line):
        allowed = self.system.receivers(self.me, self.shared)
        for receiver in receivers:
            if allowed is not None and receiver not in allowed:
                raise ModelError("a message from %s to %s, but there is no channel" % (show(self.me), show(receiver)), line)
            if receiver in self.liars or not self.system.matters(self.me, receiver):
                continue
            self.sent.append((receiver, (kind, message)))

    def goto(self, name):
        self.place = name


class View(World):
    """What properties see."""

    def __init__(self, system, state, after, faulty):
        super().__init__(system.model)
        self.system = system
        self.before = state
        self.after = after
        self.fixed_faulty = faulty
        self.honest = [p for p in system.model.procs if system.process(state, p) is not None]

    @property
    def now(self):
        return self.after if self.primed else self.before

    def role_set(self, role, quantified):
        return [p for p in self.honest if p.role == role]

    def all_set(self, quantified):
        return self.honest

    def faulty(self):
        return self.system.faulty(self.before) if self.fixed_faulty is None else self.fixed_faulty

    def correct(self):
        return frozenset(self.model.procs) - self.faulty()

    def process(self, proc):
        found = self.system.process(self.now, proc)
        if found is None:
            raise ModelError("process %s is Byzantine and has no variables" % show(proc))
        return found

    def read(self, proc, name):
        return self.process(proc).values[self.system.positions[proc.role][name]]

    def file_value(self, name):
        return self.now.shared[self.system.file_positions[name]]

    def initial(self, proc, name):
        self.process(proc)
        return dict(self.before.first)[proc, name]

    def at(self, proc, place):
        return self.process(proc).place == place

    def quiescent(self):
        return self.system.is_quiescent(self.before)

    def deadlocked(self):
        return self.system.is_quiescent(self.before) and bool(self.system.waiting(self.before))

    def pending(self, kind):
        return self.system.pending(self.before, kind)


def show(proc):
    return "%s(%d)" % proc


# The system.


class StepSystem:
    assumptions = []

    def __init__(self, model, environment, semantics="m", initial_names=frozenset(), live=False):
        self.model = model
        self.faults = Faults(model, model.environments[environment])
        self.channels = Channels(self.faults.how, self.faults.bound)
        if semantics not in ("m", "m-mp", "mp", "interleaving"):
            raise Unsupported("semantics %s" % semantics)
        self.semantics = semantics
        self.live = live
        self.delivers = semantics in ("m-mp", "mp") and bool(model.messages)
        self.initial_names = initial_names
        self.numbers = {p: k for k, p in enumerate(model.procs)}
        self.positions = {r.name: {s.name: k for k, s in enumerate(r.stores)} for r in model.roles.values()}
        self.file_positions = {s.name: k for k, s in enumerate(model.file_stores)}
        self.without_bound = Channels(self.faults.how, None)
        self.places = {r.name: Places(r) for r in model.roles.values()}
        self.actions = {r.name: compile_actions(model, r) for r in model.roles.values()}
        self.waited = {name: {a.trigger.pattern.kind for a in actions if a.trigger.waits} for name, actions in self.actions.items()}
        self.graphs = {r.name: compile_expr(r.node.graph, Scope(model, r)) for r in model.roles.values() if r.node.graph is not None}
        self.made_up = self.messages_to_make_up() if self.faults.byzantine else []
        self.fairness = None
        if self.faults.fair is not None:
            self.fairness = "strong" if self.faults.fair.strong else "weak"
        self.fair_of = (self.faults.fair.of or "messages") if self.faults.fair is not None else None

    # Parts of a state.

    def process(self, state, proc):
        return state.processes[self.numbers[proc]]

    def values_of(self, state, proc):
        stores = self.model.roles[proc.role].stores
        return {store.name: value for store, value in zip(stores, self.process(state, proc).values)}

    def shared_of(self, state):
        return {store.name: value for store, value in zip(self.model.file_stores, state.shared)}

    def values_tuple(self, proc, values):
        return tuple(values[store.name] for store in self.model.roles[proc.role].stores)

    def shared_tuple(self, shared):
        return tuple(shared[store.name] for store in self.model.file_stores)

    def with_process(self, state, proc, new):
        k = self.numbers[proc]
        return state._replace(processes=state.processes[:k] + (new,) + state.processes[k + 1:])

    def is_up(self, state, proc):
        process = self.process(state, proc)
        return process is not None and process.status == UP

    def byzantine(self, state):
        return [p for p in self.model.procs if self.process(state, p) is None]

    def faulty(self, state):
        return state.crashed | frozenset(self.byzantine(state))

    def world(self, state, after=None, faulty=None):
        return View(self, state, after, faulty)

    def receivers(self, proc, shared):
        """Whom a process can send to; None: everybody."""
        role = self.model.roles[proc.role]
        if role.node.ring:
            return frozenset([role.member(proc.number + 1)])
        if role.name in self.graphs:
            return self.graphs[role.name].run(World(self.model, proc, {}, shared), {})
        return None

    def matters(self, sender, receiver):
        """Whether messages of one process to another can make any difference to anybody.

        This changes no verdict and no length, only the number of states: rondo does not keep messages from one role to another that
        waits for none of the kinds which the first sends to it, where they are in nobody's way, and the numbers are compared.
        """
        if self.delivers or self.channels.bound is not None:
            return True
        waited = self.waited[receiver.role]
        return any(role == sender.role and kind in waited and to in (None, receiver.role) for role, kind, to in self.model.sent_to)

    # Initial states.

    def initial(self):
        for liars in T.subsets(self.model.procs):
            if not self.faults.allow_byzantine(liars):
                continue
            for outcome in self.model.initial_states(liars):
                if outcome.error:
                    yield Step(None, outcome.error, label="a first value")
                else:
                    yield Step(self.initial_state(*outcome.result))

    def initial_state(self, shared, values):
        processes, first = [], []
        for p in self.model.procs:
            if p not in values:
                processes.append(None)
                continue
            processes.append(Process(self.values_tuple(p, values[p]), self.places[p.role].first, frozenset(), UP))
            for store in self.model.roles[p.role].stores:
                if store.kind == "input" and store.name in self.initial_names:
                    first.append(((p, store.name), values[p][store.name]))
        return State(self.shared_tuple(shared), tuple(processes), (), frozenset(), frozenset(), 0, 0, tuple(first))

    # Steps.

    def steps(self, state):
        for p in self.model.procs:
            if self.is_up(state, p):
                yield from self.actions_of(state, p)
        yield from self.deliveries(state)
        yield from self.losses(state)
        for p in self.model.procs:
            yield from self.crashes(state, p)
            yield from self.recoveries(state, p)

    def step_to(self, state, target, label, takes=frozenset(), path=None):
        return Step(target, None, self.changed(state, target), label, takes, path)

    def changed(self, before, after):
        """Whether step properties are judged on it.

        READING: file-level ghosts count as shared variables.
        READING, undecided: a step that uses up a `once`, and changes nothing else, is judged.
        """
        return before.shared != after.shared or before.processes != after.processes

    # Actions.

    def actions_of(self, state, me):
        process = self.process(state, me)
        for action in self.actions[me.role]:
            if not action.possible_at(process.place) or (action.once and action.number in process.once):
                continue
            yield from self.ways_to_act(state, me, action)

    def ways_to_act(self, state, me, action):
        """The steps in which this action is taken, or begun."""
        seen = set()
        for chosen, env, error in self.selections(state, me, action, self.at_hand(state, me)):
            if error is not None:
                yield Step(None, error, label="%s: %s" % (show(me), action.name))
                continue
            for stay in self.ways_to_stay(state, action, chosen):
                for step in self.take(state, me, action, chosen, env, stay):
                    if step not in seen:
                        seen.add(step)
                        yield step

    def at_hand(self, state, me):
        """What the process can take or look at: a dict from senders to lists of Chosen."""
        return self.reachable(state, me, lambda where: where != SENT or not self.delivers, True)

    def reachable(self, state, me, allowed, with_made_up):
        found = {}
        for (sender, receiver), entries in state.channels:
            if receiver == me:
                entries = [e for e in self.channels.within_reach(entries) if allowed(e[1])]
                found[sender] = [Chosen(sender, message, where) for message, where in entries]
        if with_made_up:
            for liar in self.byzantine(state):
                allowed_receivers = self.receivers(liar, self.shared_of(state))
                if allowed_receivers is None or me in allowed_receivers:
                    found[liar] = [Chosen(liar, message, None) for message in self.made_up]
        return found

    def messages_to_make_up(self):
        found = []
        for kind, type_ in self.model.messages.items():
            if T.size(type_) > MOST_MADE_UP:
                raise Unsupported("too many messages to make up")
            found += [(kind, content) for content in T.values(type_)]
        if len(found) > MOST_MADE_UP:
            raise Unsupported("too many messages to make up")
        return found

    def new_messages(self, state, me):
        """mp: how many messages were delivered since the last action."""
        return sum(1 for (_, receiver), entries in state.channels if receiver == me for _, where in entries if where == NEW)

    def selections(self, state, me, action, at_hand, all_new=True):
        """What an action can take or look at: yields (list of Chosen, local names, None) or (None, None, error).

        READING: under mp all messages that were delivered since the last action must be among these; where they are not, nothing is
        computed, so that there is no error either.
        """
        trigger = action.trigger
        new = self.new_messages(state, me) if self.semantics == "mp" and all_new else None
        world = World(self.model, me, self.values_of(state, me), self.shared_of(state))
        if trigger.waits is None:
            if covers([], new):
                yield [], {}, None
        elif trigger.waits == "one":
            for messages in at_hand.values():
                for chosen in messages:
                    if chosen.message[0] == trigger.pattern.kind and covers([chosen], new):
                        yield from self.selection_of_one(trigger, world, chosen)
        else:
            yield from self.selections_of_quorum(trigger, world, at_hand, new)

    def selection_of_one(self, trigger, world, chosen):
        content = chosen.message[1]
        try:
            if trigger.pattern.fits(world, content):
                yield [chosen], trigger.bind(chosen.sender, content), None
        except ModelError as error:
            yield None, None, error

    def selections_of_quorum(self, trigger, world, at_hand, new):
        """READING: the size is computed first, then for each message whether it fits, then how many there are."""
        options = []
        for messages in at_hand.values():
            of_kind = [chosen for chosen in messages if chosen.message[0] == trigger.pattern.kind]
            options.append([None] + of_kind)
        count = 1
        for several in options:
            count *= len(several)
        if count > MOST_SELECTIONS:
            raise TooLarge("sets of messages")
        for several in product(*options):
            chosen = [c for c in several if c is not None]
            if not covers(chosen, new):
                continue
            try:
                size = trigger.size.run(world, {})
                if not all(trigger.pattern.fits(world, c.message[1]) for c in chosen):
                    continue
            except ModelError as error:
                yield None, None, error
                continue
            common = trigger.agree([c.message[1] for c in chosen])
            if trigger.enough(len(chosen), size) and common is not None:
                yield chosen, trigger.bind([(c.sender, c.message[1]) for c in chosen], common), None

    def takes_messages(self, action):
        """Whether the messages of an action are gone afterwards."""
        return action.trigger.waits == "one" or (action.trigger.waits == "quorum" and action.trigger.taken)

    def ways_to_stay(self, state, action, chosen):
        """Which of the messages that are taken stay all the same: sets of positions.

        READING: of a quorum that is taken any part may stay; each message that does is counted.
        """
        if not self.takes_messages(action):
            return [frozenset()]
        real = [k for k, c in enumerate(chosen) if c.where is not None]
        limit = self.faults.duplicated
        return [s for s in T.subsets(real) if limit is None or state.duplicated + len(s) <= limit]

    def take(self, state, me, action, chosen, env, stay):
        """The steps in which the action is taken with these messages, or begun."""
        label = "%s: %s" % (show(me), action.name)
        head = (me, action.number, tuple(chosen), tuple(sorted(stay)))
        for outcome in explore(lambda chooser: self.act(state, me, action, chosen, env, stay, chooser)):
            path = self.path_of(("act",) + head, outcome.trail)
            if outcome.error:
                yield Step(None, outcome.error, label=label, path=path)
                continue
            takes = self.taken_keys(me, action, chosen)
            yield self.step_to(state, self.after_action(state, me, action, outcome.result, stay), label, takes, path)
            if not stay:
                yield from self.crashes_within(state, me, outcome, head, label)

    def path_of(self, first, trail):
        """For `almost surely`: what is decided one after the other."""
        path = [("adversary", first)]
        for choice in trail:
            path.append(("coin" if choice.kind == "random" else "adversary", choice.index))
        return tuple(path)

    def act(self, state, me, action, chosen, env, stay, chooser, rules=None):
        """`rules` are those of the channels."""
        rules = rules or self.channels
        channels = dict(state.channels)
        if self.takes_messages(action):
            for k, c in enumerate(chosen):
                if c.where is not None and k not in stay:
                    rules.remove(channels, (c.sender, me), (c.message, c.where))
        world = ActionWorld(self, state, me, chooser)
        local = dict(env)
        guard = action.trigger.guard
        if guard is not None and not guard.choose(world, local):
            raise Abandoned()
        alive = run_block(action.block, world, local)
        # READING: room is asked for when the action is complete, and what it takes is gone by then. An error in an action that has no room counts.
        if not all(rules.add(channels, (me, receiver), message) for receiver, message in world.sent):
            raise Abandoned()
        place = world.place or action.next or self.process(state, me).place
        return Done(world.vars, world.shared, place, UP if alive else HALTED, tuple(world.sent), channels)

    def after_action(self, state, me, action, done, stay):
        once = self.process(state, me).once
        if action.once:
            once = once | {action.number}
        new = Process(self.values_tuple(me, done.values), done.place, once, done.status)
        limited = self.faults.duplicated is not None
        state = self.with_process(state, me, new)
        return state._replace(shared=self.shared_tuple(done.shared),
                              channels=self.channels.freeze(self.looked_at(done.channels, me)),
                              duplicated=state.duplicated + len(stay) if limited else 0)

    def looked_at(self, channels, me):
        """Nothing is new to a process that has just acted or recovered."""
        result = {}
        for key, entries in channels.items():
            if key[1] == me:
                entries = self.channels.laid_out([(m, DELIVERED if where == NEW else where) for m, where in entries])
            result[key] = entries
        return result

    # Deliveries and faults.

    def deliveries(self, state):
        """READING: messages are delivered to everybody, also to processes that are crashed or halted."""
        if not self.delivers:
            return
        where = NEW if self.semantics == "mp" else DELIVERED
        for key, entries in state.channels:
            for message, new in self.channels.delivered(entries, where):
                yield self.step_to(state, self.with_channel(state, key, new), "delivered to %s: %s" % (show(key[1]), message[0]),
                                   path=(("adversary", ("deliver", key, message)),))

    def with_channel(self, state, key, entries):
        channels = dict(state.channels)
        channels[key] = entries
        return state._replace(channels=self.channels.freeze(channels))

    def losses(self, state):
        limit = self.faults.lost
        if limit is not None and state.lost >= limit:
            return
        for key, entries in state.channels:
            for message, new in self.channels.without_one(entries):
                target = self.with_channel(state, key, new)
                target = target._replace(lost=0 if limit is None else state.lost + 1)
                yield self.step_to(state, target, "lost: %s" % message[0], path=(("adversary", ("lose", key, message, new)),))

    def may_crash(self, state, me):
        """READING: a process that has halted has stopped already, and does not crash."""
        return bool(self.faults.crash) and self.is_up(state, me) and self.faults.allow_crashed(state.crashed | {me}, state.recovered)

    def crashed(self, state, me):
        process = self.process(state, me)
        return self.with_process(state, me, process._replace(status=CRASHED))._replace(crashed=state.crashed | {me})

    def crashes(self, state, me):
        if self.may_crash(state, me):
            yield self.step_to(state, self.crashed(state, me), "%s crashes" % show(me), path=(("adversary", ("crash", me)),))

    def crashes_within(self, state, me, outcome, head, label):
        """In the middle of an action: any part of its messages are out, and nothing else of it has happened.

        READING: any part is any subset, also in a FIFO channel. An action that is not possible for want of room is not begun either.
        """
        if not self.may_crash(state, me):
            return
        sent = outcome.result.sent
        for part in T.subsets(list(range(len(sent)))):
            if not part:
                continue
            channels = dict(state.channels)
            if all(self.channels.add(channels, (me, sent[k][0]), sent[k][1]) for k in sorted(part)):
                target = self.crashed(state, me)._replace(channels=self.channels.freeze(channels))
                path = self.path_of(("crash in",) + head, outcome.trail) + (("adversary", tuple(sorted(part))),)
                yield self.step_to(state, target, "%s, and crashes" % label, path=path)

    def recoveries(self, state, me):
        """READING: a process that crashed before it did `start` stands at its first step, too."""
        process = self.process(state, me)
        if process is None or process.status != CRASHED:
            return
        recovered = state.recovered | {me}
        if not any(recovers for _, _, recovers in self.faults.crash) or not self.faults.allow_crashed(state.crashed, recovered):
            return
        own, shared = self.values_of(state, me), self.shared_of(state)
        for outcome in explore(lambda chooser: self.model.reset_values(me, own, shared, chooser)):
            label = "%s recovers" % show(me)
            path = self.path_of(("recover", me), outcome.trail)
            if outcome.error:
                yield Step(None, outcome.error, label=label, path=path)
                continue
            new = Process(self.values_tuple(me, outcome.result), self.places[me.role].first_step, frozenset(), UP)
            target = self.with_process(state, me, new)
            channels = self.looked_at(dict(state.channels), me)
            target = target._replace(channels=self.channels.freeze(channels),
                                     recovered=recovered if self.faults.tells_recovered else frozenset())
            yield self.step_to(state, target, label, path=path)

    # Deadlocks.

    def is_quiescent(self, state):
        return not any(self.can_act(state, p, self.channels) for p in self.model.procs)

    def can_act(self, state, me, rules):
        """Whether a process can take an action: all messages in flight count as delivered, none is made up, and mp does not ask for all.

        READING: an error in a pattern, or in the size of a quorum, is an action that ends in an error.
        """
        if not self.is_up(state, me):
            return False
        process = self.process(state, me)
        at_hand = self.reachable(state, me, lambda where: True, False)
        for action in self.actions[me.role]:
            if not action.possible_at(process.place) or (action.once and action.number in process.once):
                continue
            for chosen, env, error in self.selections(state, me, action, at_hand, False):
                if error is not None:
                    return True
                for _ in explore(lambda chooser: self.act(state, me, action, chosen, env, frozenset(), chooser, rules)):
                    return True
        return False

    def waiting(self, state):
        """The processes that wait in the middle of something. Asked of quiescent states."""
        return [p for p in self.model.procs if self.is_up(state, p)
                and (self.process(state, p).place not in self.places[p.role].proper_ends or self.can_act(state, p, self.without_bound))]

    def pending(self, state, kind):
        """The messages of a kind in flight: a list of (Route, content). Those to Byzantine processes are gone at once.

        READING: in a bounded channel a message to a role that has no trigger for its kind takes room, and is not among these.
        """
        return [(T.Route(sender, receiver), content) for (sender, receiver), entries in state.channels if kind in self.waited[receiver.role]
                for (of, content), _ in entries if of == kind]

    # What happens for ever.

    def is_final(self, state):
        """No process can take a step for certain, and no message can be delivered.

        READING: an action that needs a message which a Byzantine process has to make up is not one that can be taken.
        """
        for p in self.model.procs:
            if self.is_up(state, p):
                at_hand = self.reachable(state, p, lambda where: where != SENT or not self.delivers, False)
                if any(True for _ in self.certain(state, p, at_hand)):
                    return False
        return not any(True for _ in self.deliveries(state))

    def certain(self, state, me, at_hand, all_new=True):
        """(action, chosen) for the actions that are possible with the messages at hand. `all_new`: mp asks for all that are new."""
        process = self.process(state, me)
        for action in self.actions[me.role]:
            if not action.possible_at(process.place) or (action.once and action.number in process.once):
                continue
            for chosen, env, error in self.selections(state, me, action, at_hand, all_new):
                if error is None:
                    outcomes = explore(lambda chooser: self.act(state, me, action, chosen, env, frozenset(), chooser))
                    if any(True for _ in outcomes):
                        yield action, chosen

    def can_take(self, state):
        """A message can be taken wherever it lies, delivered or not; those of Byzantine processes need not come."""
        found = set()
        for p in self.model.procs:
            if self.is_up(state, p):
                at_hand = self.reachable(state, p, lambda where: True, False)
                for action, chosen in self.certain(state, p, at_hand, STUCK_RUNS_COUNT):
                    found |= self.taken_keys(p, action, chosen)
        return frozenset(found)

    def taken_keys(self, me, action, chosen):
        """What fairness is served by."""
        if self.fair_of is None:
            return frozenset()
        if self.fair_of == "processes":
            return frozenset([("process", me)])
        if self.fair_of == "messages" and action.trigger.waits == "one":
            c = chosen[0]
            if c.where is None:
                return frozenset()
            kind, content = c.message
            return frozenset([("message", me, action.number, c.sender, kind, without_rounds(content, self.model.messages[kind]))])
        return frozenset([("action", me, action.number)])


def covers(chosen, new):
    """mp: whether all messages that are new are among those chosen. `new` is how many there are, or None if that does not matter."""
    return new is None or sum(1 for c in chosen if c.where == NEW) == new


def without_rounds(value, t):
    """The value with 0 for each number of a round in it: messages that differ only in these are one, to fairness."""
    if t.kind == "round":
        return 0
    if t.kind == "record":
        return tuple((name, without_rounds(v, f)) for (name, v), (_, f) in zip(value, t.fields))
    if t.kind == "option":
        return tuple(without_rounds(v, t.elem) for v in value)
    if t.kind == "set":
        return frozenset(without_rounds(v, t.elem) for v in value)
    if t.kind == "array":
        return tuple((i, without_rounds(v, t.elem)) for i, v in value)
    if t.kind == "seq":
        return tuple(without_rounds(v, t.elem) for v in value)
    return value
