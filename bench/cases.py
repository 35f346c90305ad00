"""The models that rondo, Spin and Rumur all check, with the same states; and their sizes."""
import dataclasses
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))
import floodset  # noqa: E402
import herlihy  # noqa: E402
import itai_rodeh  # noqa: E402
import paxos  # noqa: E402


@dataclasses.dataclass
class Model:
    name: str
    path: str
    property: str
    names: tuple              # of the parameters
    peers: object             # the module that writes it for Spin and Rumur
    choices: object           # size -> in how many ways each part of an initial state can be chosen
    smallest: tuple           # sizes: for tests
    small: tuple              # for the plain way
    counted: tuple            # for counting instructions, from the small one on
    sizes: list               # for measuring; the last one is the largest
    exported: tuple           # the one on which Spin also runs what `rondo export` writes
    largest: tuple            # the one on which rondo, Spin, Rumur and the bare loop run once more, as it takes long
    long: bool = False        # does that take over ten seconds? Then it is also for threads
    symmetric: list = dataclasses.field(default_factory=list)  # for Rumur's symmetry, if it is written with it; the last one is the largest
    hours: bool = False       # would Rumur take that on the largest one? Then it is left out there


def flood_choices(n, f, k):
    return [k] * n + [math.comb(n, f)]


MODELS = [
    Model("Paxos", "models/paxos.rondo", "agreement", ("leaders", "acceptors"), paxos, lambda *size: [],
          (2, 2), (2, 4), (3, 3), [(2, 4), (3, 3), (2, 5)], (2, 4), (2, 6), True, [(3, 3), (2, 5), (3, 4)], hours=True),
    Model("Herlihy", "models/herlihy.rondo", "agreement", ("n",), herlihy, lambda n: [n] * n,
          (2,), (4,), (5,), [(5,)], (5,), (6,), True),
    Model("FloodSet, messages", "models/papers/floodset_messages.rondo", "agreement", ("n", "f", "k"), floodset, flood_choices,
          (2, 1, 2), (3, 1, 2), (4, 1, 2), [(4, 1, 2), (4, 2, 2)], (4, 1, 2), (5, 1, 2)),
    Model("Itai-Rodeh, bounded", "bench/models/itai_rodeh_bounded.rondo", "one_leader", ("n", "k", "rounds"), itai_rodeh,
          lambda n, k, rounds: [k] * n, (2, 2, 2), (3, 2, 3), (4, 2, 2), [(4, 2, 2), (4, 2, 4)], (4, 2, 2), (5, 2, 3), True),
]


@dataclasses.dataclass
class Case:
    model: Model
    size: tuple

    @property
    def text(self):
        return ", ".join(f"{name} = {value}" for name, value in zip(self.model.names, self.size))

    @property
    def defines(self):
        return [word for name, value in zip(self.model.names, self.size) for word in ("-D", f"{name}={value}")]

    @property
    def initial(self):
        return math.prod(self.model.choices(*self.size))

    @property
    def halfway(self):
        """States in the middle of choosing the initial one, which Spin's parallel search stores as well."""
        choices = self.model.choices(*self.size)
        return sum(math.prod(choices[:i]) for i in range(1, len(choices)))

    @property
    def chosen(self):
        """Is there a state before the initial ones in Spin?"""
        return 1 if self.model.choices(*self.size) else 0
