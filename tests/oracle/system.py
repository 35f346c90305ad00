"""What rounds and steps have in common: the interface of transition systems. README.md describes it."""

from typing import NamedTuple, Optional

from .errors import ModelError


class TooLarge(Exception):
    """A limit was reached. `partial` is the Result so far, if there is one."""

    def __init__(self, reason, partial=None):
        super().__init__(reason)
        self.partial = partial


class Unsupported(Exception):
    """The oracle cannot do this, and says why."""


class Step(NamedTuple):
    target: object
    error: Optional[ModelError] = None
    changed: bool = True
    label: str = ""
    takes: frozenset = frozenset()
    path: Optional[tuple] = None


class Assumption(NamedTuple):
    """A clause about the whole run, on keys in `Step.takes`. `how` is 'infinitely often', 'eventually always' or
    'eventually'. All of `keys` must satisfy it, each for itself; if `some`, one of them."""

    how: str
    keys: tuple
    some: bool = False
