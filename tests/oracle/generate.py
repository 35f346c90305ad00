"""Random models of rondo: generate(kind, seed) -> Generated.

Kinds: rounds, steps, memory, prove. The text depends on kind and seed only.
"""

from .generate_common import Generated
from .generate_rounds import Rounds


def makers():
    found = {"rounds": Rounds}
    try:
        from .generate_steps import Steps, Memory
        found["steps"] = Steps
        found["memory"] = Memory
    except ImportError:
        pass
    try:
        from .generate_prove import Prove
        found["prove"] = Prove
    except ImportError:
        pass
    return found


MAKERS = makers()
KINDS = list(MAKERS)


def generate(kind, seed):
    return MAKERS[kind](seed).generate()


if __name__ == "__main__":
    import sys
    print(generate(sys.argv[1], int(sys.argv[2])).text, end="")
