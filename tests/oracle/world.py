"""What expressions and statements ask for while they run.

A World answers the questions in which rounds, steps, properties and environments differ. The next modules derive their
own classes from it. The defaults are those of a process that acts: roles are all of their processes.
"""

from .choices import NoChooser


class Halted(Exception):
    """The statement `halt`: nothing after it happens."""


class World:
    def __init__(self, model, me=None, vars=None, shared=None, chooser=None):
        self.model = model
        self.me = me                              # Proc, or None
        self.vars = vars                          # dict: name -> value, of the process itself, oracles included; assignments change it
        self.shared = shared if shared is not None else {}   # dict: file-level inputs, shared variables and ghosts; likewise
        self.chooser = chooser or NoChooser()
        self.received = ()                        # rounds: list of (sender, message)
        self.primed = False                       # inside the ' of a step property
        self.depth = 0                            # of calls of defs

    # Sets of processes. `quantified`: it is what a generator goes through, as in `forall p in P`, not a value.

    def role_set(self, role, quantified):
        return self.model.roles[role].members

    def all_set(self, quantified):
        return self.model.procs

    def correct(self):
        raise NotImplementedError("correct")

    def faulty(self):
        raise NotImplementedError("faulty")

    # Reading from outside, in properties and environments.

    def read(self, proc, name):
        """p.x, or p.x' if `primed`."""
        raise NotImplementedError("p.x")

    def file_value(self, name):
        """A file-level variable; its value after the step if `primed`."""
        return self.shared[name]

    def initial(self, proc, name):
        raise NotImplementedError("initial")

    def at(self, proc, place):
        """at(p, NAME), after the step if `primed`."""
        raise NotImplementedError("at")

    def quiescent(self):
        raise NotImplementedError("quiescent")

    def deadlocked(self):
        raise NotImplementedError("deadlocked")

    def pending(self, kind):
        """pending(KIND): a list of (Route, message)."""
        raise NotImplementedError("pending")

    def round_number(self):
        raise NotImplementedError("round")

    def heard_of(self, proc, round_name):
        """HO[p], or HO[p, name]. A frozenset."""
        raise NotImplementedError("HO")

    def safely_heard_of(self, proc, round_name):
        """SHO[p], or SHO[p, name]. A frozenset."""
        raise NotImplementedError("SHO")

    def oracle(self, proc, name):
        """c[p] in an environment."""
        raise NotImplementedError("an oracle")

    # What statements do, besides assignments.

    def send(self, kind, message, receivers, line):
        """A `send` in the block of an action, to a list of processes in their order."""
        raise NotImplementedError("send")

    def goto(self, name):
        raise NotImplementedError("goto")
