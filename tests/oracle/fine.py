"""Rounds of one's own (`--semantics fine`), for safety properties, up to a distance.

By definition a fine run is a run of whole rounds in which processes take their parts one by one, and nobody receives what was
not sent yet. So whoever is the first to end a round decides for all what happens in it: a step of whole rounds. The others end that
round later, as it was decided. A process can end a round if everybody whose message it receives in it has come to that round.

A state has the last whole round that was decided (`head`), and for each process what it has become after each round from
the one that it ended last.
"""

from itertools import product
from typing import NamedTuple

from .explore import text_of
from .rounds import PropertyWorld, Round, RoundSystem
from .system import Step, Unsupported

MAX_DISTANCE = 2


class Row(NamedTuple):
    """A process after a round. `waits_for` are those whose messages it received in it."""

    values: tuple
    status: frozenset
    waits_for: frozenset

    @property
    def is_live(self):
        return not self.status & {"byzantine", "crashed", "halted"}


class FineState(NamedTuple):
    head: object        # State of whole rounds
    rows: tuple         # for each process a tuple of Rows: as it is, then after each round that it has not ended yet

    @property
    def shared(self):
        return self.head.shared


class OrderedOutcome(NamedTuple):
    values: tuple
    halted: bool
    error: object
    waits_for: frozenset


class OrderedRound(Round):
    """A whole round, with who received messages of whom. The path of a step is a tuple of these sets."""

    def update_of(self, p, oracles, received):
        senders = frozenset(q for q, _ in received if q != p and "byzantine" not in self.status[q])
        return [OrderedOutcome(*outcome, senders) for outcome in super().update_of(p, oracles, received)]

    def targets(self, crashing, oracles, procs, rows, good):
        seen = set()
        for choice in product(*rows):
            lost = sum(item[0] for item in choice)
            corrupted = sum(item[1] for item in choice)
            if lost > self.most("lost") or corrupted > self.most("corrupted"):
                continue
            errors = [item[2].error for item in choice if item[2] is not None and item[2].error is not None]
            if errors:
                yield Step(None, errors[0])
                continue
            chosen = dict(zip(procs, choice))
            target = self.target(crashing, oracles, chosen, lost, corrupted, good[1])
            waits = tuple(chosen[p][2].waits_for if p in chosen and chosen[p][2] is not None else frozenset() for p in self.procs)
            if (target, waits) not in seen:
                seen.add((target, waits))
                yield Step(target, path=waits)


class FineWorld(PropertyWorld):
    """Every process as it is in its own round."""

    def is_byzantine(self, p):
        return "byzantine" in self.state.rows[self.system.index[p]][0].status

    def read(self, proc, name):
        self.need_variables(proc)
        return self.now().rows[self.system.index[proc]][0].values[self.system.position[proc.role][name]]

    def initial(self, proc, name):
        self.need_variables(proc)
        return dict(self.state.head.first[self.system.index[proc]])[name]

    def round_number(self):
        raise Unsupported("'round' in rounds of one's own")


class FineSystem:
    fairness = None
    assumptions = []
    countable = False

    def __init__(self, model, environment, semantics="fine", initial_names=frozenset(), live=False, properties=()):
        if live:
            raise Unsupported("live properties in rounds of one's own")
        self.whole = RoundSystem(model, environment, "coarse", initial_names, False, properties)
        self.model = model
        self.index = self.whole.index
        self.position = self.whole.position
        self.shared_names = self.whole.shared_names
        self.max_distance = MAX_DISTANCE
        self.cut_off = False            # whether some step was left out, because processes would get too far apart
        self.memo = {}

    @staticmethod
    def can_judge(model, environment, prop):
        """`round`, and who is correct so far, speak of whole rounds. READING: where nobody crashes, who is correct never
        changes, and can be asked."""
        words = {"round"}
        if any(clause.kind == "fault" and clause.how == "crash" for clause in model.environments[environment]):
            words |= {"correct", "faulty"}
        return not any(part.kind == "name" and part.name in words for part in text_of(model, prop.expr))

    def initial(self):
        for step in self.whole.initial():
            if step.error is not None:
                yield step
                continue
            head = step.target
            rows = tuple((Row(values, status, frozenset()),) for values, status in zip(head.values, head.status))
            yield Step(FineState(head, rows))

    def world(self, state, after=None, faulty=None):
        return FineWorld(self, state, after, faulty)

    def faulty(self, state):
        return frozenset(p for p, rows in zip(self.model.procs, state.rows) if rows[0].status - {"halted"})

    def is_final(self, state):
        return state.head.ended and all(len(rows) == 1 for rows in state.rows)

    def steps(self, state):
        for k, rows in enumerate(state.rows):
            if not rows[0].is_live:
                continue
            if len(rows) > 1:
                if self.has_come(state.rows, rows[1].waits_for, len(rows)):
                    yield Step(self.moved(state.head, state.rows, k))
            elif not state.head.ended:
                yield from self.first_to_end(state, k)

    def whole_steps(self, head):
        if head not in self.memo:
            self.memo[head] = list(OrderedRound(self.whole, head).steps())
        return self.memo[head]

    def first_to_end(self, state, k):
        """The k-th process ends a round that nobody has ended before."""
        for step in self.whole_steps(state.head):
            if step.error is not None:
                yield Step(None, step.error)
                continue
            rows = tuple(self.extended(rows, step, j) for j, rows in enumerate(state.rows))
            if not self.has_come(rows, rows[k][1].waits_for, 2):
                continue
            target = self.moved(step.target, rows, k)
            if max(len(r) for r in target.rows) - 1 > self.max_distance:
                self.cut_off = True
            else:
                yield Step(target)

    def extended(self, rows, step, j):
        """What is decided for the j-th process. One that takes no part any more stays as it is."""
        if not rows[0].is_live:
            return rows
        return rows + (Row(step.target.values[j], step.target.status[j], step.path[j]),)

    def has_come(self, rows, procs, pending):
        """Whether these processes have come to the round that somebody with so many rows is about to end: they have at most as many."""
        return all(not rows[self.index[q]][0].is_live or len(rows[self.index[q]]) <= pending for q in procs)

    def moved(self, head, rows, k):
        """The k-th process ends its round. What it waited for is past; if it has stopped, so is all that was to come."""
        rest = rows[k][1:]
        first = rest[0]._replace(waits_for=frozenset())
        rest = (first,) + rest[1:] if first.is_live else (first,)
        return FineState(head, rows[:k] + (rest,) + rows[k + 1:])
