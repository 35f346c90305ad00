"""Free choice: running something once for each way to choose.

What chooses calls `chooser.choose(kind, options)` and gets one of the options. `explore(run)` calls `run(chooser)` again
and again, depth first, until every sequence of choices has been taken:

    for outcome in explore(lambda chooser: run_it(chooser)):
        outcome.trail    # the choices, a list of Choice(kind, options, index)
        outcome.result   # what the function returned
        outcome.error    # the ModelError that it raised, or None

Kinds: 'pick' and 'random' (the two aggregates), 'guard' (which binding of a guard), 'order' (the next message of
`foreach`), 'input' (a first value). Where there is one option only, nothing is recorded.
"""

from typing import NamedTuple, Optional

from .errors import ModelError


class Choice(NamedTuple):
    kind: str
    options: tuple
    index: int

    @property
    def value(self):
        return self.options[self.index]


class Outcome(NamedTuple):
    trail: tuple
    result: object
    error: Optional[ModelError]


class Abandoned(Exception):
    """Raised by what is run: this sequence of choices is none that counts."""


class Chooser:
    """Takes the choices that it is told, then always the first one."""

    def __init__(self, told=()):
        self.told = told
        self.trail = []

    def choose(self, kind, options):
        if len(options) == 1:
            return options[0]
        at = len(self.trail)
        index = self.told[at] if at < len(self.told) else 0
        self.trail.append(Choice(kind, tuple(options), index))
        return options[index]


class NoChooser:
    """For properties, environments and constants, where nothing is free."""

    def choose(self, kind, options):
        raise AssertionError("a free choice where there is none")


def explore(run):
    told = ()
    while told is not None:
        chooser = Chooser(told)
        try:
            result = run(chooser)
        except ModelError as error:
            yield Outcome(tuple(chooser.trail), None, error)
        except Abandoned:
            pass
        else:
            yield Outcome(tuple(chooser.trail), result, None)
        told = next_choices(chooser.trail)


def next_choices(trail):
    """The next sequence of choices in lexicographic order, or None if that was the last."""
    indices = [choice.index for choice in trail]
    while indices:
        last = trail[len(indices) - 1]
        if last.index + 1 < len(last.options):
            return tuple(indices[:-1]) + (last.index + 1,)
        indices.pop()
    return None
