"""Types and values.

A type is a tuple of one of the classes below. A value is a hashable Python object; which one depends on its type:

    bool                True, False
    numbers, rounds     int
    labels              Label(position, name)
    identities          Proc(role, number), numbers from 1
    options             () for none, (v,) for v
    sets                frozenset
    records             tuple of (name, value), in the order of the type
    arrays              tuple of (index, value), in the order of the index type
    sequences           tuple of values

Options, records, arrays and sequences are all tuples, so a value means nothing without its type. The language is typed
statically, so the type is always known.
"""

from itertools import product
from typing import NamedTuple, Optional

from .errors import ModelError, TypeProblem

MAX_INT = 2 ** 63 - 1
MIN_INT = -(2 ** 63)

NONE = ()


def some(value):
    return (value,)


class Label(NamedTuple):
    position: int
    name: str


class Proc(NamedTuple):
    role: str
    number: int


# Types.


class Bool(NamedTuple):
    kind: str = "bool"


class Num(NamedTuple):
    """Whole numbers from low to high. A bound that is not known is None."""

    low: Optional[int]
    high: Optional[int]
    name: Optional[str] = None
    kind: str = "num"


class Round(NamedTuple):
    kind: str = "round"


class Enum(NamedTuple):
    labels: tuple  # of Label
    name: Optional[str] = None
    kind: str = "enum"


class Ident(NamedTuple):
    """Identities of a role of that size; or of any role: then `role` is None and `members` holds all of them."""

    role: Optional[str]
    members: tuple
    kind: str = "ident"


class Option(NamedTuple):
    elem: tuple
    kind: str = "option"


class Set(NamedTuple):
    elem: tuple
    kind: str = "set"


class Record(NamedTuple):
    """`fields` are (name, type). `lent` are the names that a part lends (`x` in `(x, 1)`) or that it has for want of a
    name (`_2`): these do not insist on their field."""

    fields: tuple
    lent: frozenset = frozenset()
    kind: str = "record"


class Array(NamedTuple):
    index: tuple
    elem: tuple
    kind: str = "array"


class Seq(NamedTuple):
    elem: tuple
    most: Optional[int]
    distinct: bool
    kind: str = "seq"


class Route(NamedTuple):
    """Where a message in flight comes from, and where it goes."""

    sender: object
    receiver: object


class Bag(NamedTuple):
    """`received`, or a quorum: messages with their senders; `pending(KIND)`: messages with their Route. Never stored."""

    elem: tuple
    in_flight: bool = False
    kind: str = "bag"


class Nothing(NamedTuple):
    """The type of the elements of `none`, `{}` and `[]`: it goes with every other type."""

    kind: str = "nothing"


BOOL = Bool()
INT = Num(None, None)
ROUND = Round()
NOTHING = Nothing()


def show_type(t):
    if t.kind == "num":
        bounds = "int" if t.low is None or t.high is None else "%d..%d" % (t.low, t.high)
        return "%s = %s" % (t.name, bounds) if t.name else bounds
    if t.kind == "enum":
        return t.name or "{%s}" % ", ".join(label.name for label in t.labels)
    if t.kind == "ident":
        return t.role or "all"
    if t.kind == "option":
        return show_type(t.elem) + "?"
    if t.kind == "set":
        return "set of " + show_type(t.elem)
    if t.kind == "record":
        return "(%s)" % ", ".join("%s: %s" % (name, show_type(f)) for name, f in t.fields)
    if t.kind == "array":
        return "[%s] %s" % (show_type(t.index), show_type(t.elem))
    if t.kind == "seq":
        return "seq of %s up to %s%s" % (show_type(t.elem), t.most, " distinct" if t.distinct else "")
    return t.kind


def show(value, t):
    """A value as rondo writes it."""
    if t.kind == "bool":
        return "true" if value else "false"
    if t.kind == "enum":
        return value.name
    if t.kind == "ident":
        return "%s(%d)" % value
    if t.kind == "option":
        return show(value[0], t.elem) if value else "none"
    if t.kind == "set":
        return "{%s}" % ", ".join(show(v, t.elem) for v in in_order(value))
    if t.kind == "record":
        return "(%s)" % ", ".join("%s: %s" % (name, show(v, f)) for (name, v), (_, f) in zip(value, t.fields))
    if t.kind == "array":
        return "[%s]" % ", ".join("%s: %s" % (show(i, t.index), show(v, t.elem)) for i, v in value)
    if t.kind == "seq":
        return "[%s]" % ", ".join(show(v, t.elem) for v in value)
    return str(value)


def order_key(value):
    """A total order of the values of one type, to go through sets in a fixed order. It has no meaning in the language."""
    if isinstance(value, frozenset):
        return (len(value), sorted(order_key(v) for v in value))
    if isinstance(value, tuple):
        return tuple(order_key(v) for v in value)
    return value


def in_order(values):
    return sorted(values, key=order_key)


# All values of a type.

_values_cache = {}
MOST_VALUES = 2000000


def values(t):
    """A list of all values of a finite type, in their order."""
    if t not in _values_cache:
        if size(t) > MOST_VALUES:
            raise TypeProblem("too many values: %s" % show_type(t))
        _values_cache[t] = list(_values(t))
    return _values_cache[t]


def _values(t):
    if t.kind == "bool":
        return [False, True]
    if t.kind == "num":
        return range(t.low, t.high + 1)
    if t.kind == "enum":
        return t.labels
    if t.kind == "ident":
        return t.members
    if t.kind == "option":
        return [NONE] + [some(v) for v in values(t.elem)]
    if t.kind == "set":
        return subsets(values(t.elem))
    if t.kind == "record":
        names = [name for name, _ in t.fields]
        return [tuple(zip(names, parts)) for parts in product(*[values(f) for _, f in t.fields])]
    if t.kind == "array":
        indices = values(t.index)
        return [tuple(zip(indices, parts)) for parts in product(values(t.elem), repeat=len(indices))]
    if t.kind == "seq":
        elems = values(t.elem)
        found = []
        for length in range(t.most + 1):
            for parts in product(elems, repeat=length):
                if not t.distinct or len(set(parts)) == length:
                    found.append(parts)
        return found
    if t.kind == "nothing":
        return []
    raise TypeProblem("the values of %s cannot be gone through" % show_type(t))


def subsets(elems):
    """All subsets of a list of different values."""
    found = [frozenset()]
    for elem in elems:
        found += [s | {elem} for s in found]
    return found


def size(t):
    """How many values a type has. Of sequences without repetition: at most that many."""
    if t.kind == "bool":
        return 2
    if t.kind == "num":
        if t.low is None or t.high is None:
            raise TypeProblem("the values of int cannot be gone through")
        return max(0, t.high - t.low + 1)
    if t.kind == "enum":
        return len(t.labels)
    if t.kind == "ident":
        return len(t.members)
    if t.kind == "option":
        return 1 + size(t.elem)
    if t.kind == "set":
        elems = size(t.elem)
        return 2 ** elems if elems <= 24 else MOST_VALUES + 1
    if t.kind == "record":
        count = 1
        for _, f in t.fields:
            count *= size(f)
        return count
    if t.kind == "array":
        return size(t.elem) ** size(t.index)
    if t.kind == "seq":
        if t.most is None:
            raise TypeProblem("the values of a sequence without bound cannot be gone through")
        return sum(size(t.elem) ** k for k in range(t.most + 1))
    if t.kind == "nothing":
        return 0
    raise TypeProblem("the values of %s cannot be gone through" % show_type(t))


def contains(t, value):
    """Whether a value, represented as one of this shape, belongs to the type."""
    if t.kind == "num":
        return (t.low is None or value >= t.low) and (t.high is None or value <= t.high)
    if t.kind == "round":
        return value >= 0
    if t.kind == "ident":
        return value in t.members
    if t.kind == "enum":
        return value in t.labels
    if t.kind == "option":
        return not value or contains(t.elem, value[0])
    if t.kind == "set":
        return all(contains(t.elem, v) for v in value)
    if t.kind == "record":
        return all(contains(f, v) for (_, v), (_, f) in zip(value, t.fields))
    if t.kind == "array":
        return all(contains(t.elem, v) for _, v in value)
    if t.kind == "seq":
        return (
            (t.most is None or len(value) <= t.most)
            and not (t.distinct and len(set(value)) < len(value))
            and all(contains(t.elem, v) for v in value)
        )
    return True


# Joining types: the type of `if c then a else b`, of the elements of `{a, b}`, of `a == b`.


def join(a, b, line=None):
    """The smallest type that values of both types can be converted to."""
    if a == b or b.kind == "nothing":
        return a
    if a.kind == "nothing":
        return b
    if a.kind == "option" or b.kind == "option":
        return Option(_join_options(a, b, line))
    if {a.kind, b.kind} == {"num", "round"}:
        return ROUND
    if a.kind != b.kind:
        raise TypeProblem("%s and %s do not go together" % (show_type(a), show_type(b)), line)
    if a.kind == "num":
        return join_numbers(a, b)
    if a.kind == "ident":
        return a if a.role is None else b if b.role is None else Ident(None, tuple(in_order(set(a.members + b.members))))
    if a.kind in ("set", "bag"):
        return a._replace(elem=join(a.elem, b.elem, line))
    if a.kind == "seq":
        most = None if a.most is None or b.most is None else max(a.most, b.most)
        return Seq(join(a.elem, b.elem, line), most, a.distinct and b.distinct)
    if a.kind == "array":
        if values(a.index) != values(b.index):
            raise TypeProblem("arrays with different indices", line)
        return Array(a.index, join(a.elem, b.elem, line))
    if a.kind == "record":
        return _join_records(a, b, line)
    raise TypeProblem("%s and %s do not go together" % (show_type(a), show_type(b)), line)


def _join_options(a, b, line):
    """The type of what is in the option that joins a and b, of which at least one is an option."""
    while depth(a) > depth(b) and not is_bare_none(a):
        b = Option(b)
    while depth(b) > depth(a) and not is_bare_none(b):
        a = Option(a)
    inner_a = a.elem if a.kind == "option" else a
    inner_b = b.elem if b.kind == "option" else b
    return join(inner_a, inner_b, line)


def is_bare_none(t):
    return t.kind == "option" and t.elem.kind == "nothing"


def depth(t):
    return 1 + depth(t.elem) if t.kind == "option" else 0


def join_numbers(a, b):
    low = None if a.low is None or b.low is None else min(a.low, b.low)
    high = None if a.high is None or b.high is None else max(a.high, b.high)
    return Num(low, high, a.name if a.name == b.name else None)


def field_sources(source, wanted):
    """For each field of the record type `wanted`, the position in `source` that it comes from; None if it does not fit.

    READING: docs/language.md, "Records": named parts go to the field of that name, unnamed ones by position. A part that
    lends its name goes by name if all names of the record are fields of the wanted type; else all of them go by position.
    """
    if len(source.fields) != len(wanted.fields):
        return None
    names = [name for name, _ in source.fields]
    if sorted(names) == sorted(name for name, _ in wanted.fields):
        return [names.index(name) for name, _ in wanted.fields]
    for (name, _), (target, _) in zip(source.fields, wanted.fields):
        if name not in source.lent and name != target:
            return None
    return list(range(len(names)))


def _join_records(a, b, line):
    sources = field_sources(b, a)
    if sources is None:
        sources = field_sources(a, b)
        a, b = b, a
    if sources is None:
        raise TypeProblem("%s and %s do not go together" % (show_type(a), show_type(b)), line)
    # Where one of the two lends its names, those of the other are the ones that stay.
    if a.lent and not b.lent and sources == list(range(len(sources))):
        a, b = b, a
    fields = tuple((name, join(f, b.fields[k][1], line)) for (name, f), k in zip(a.fields, sources))
    return Record(fields, a.lent & b.lent)


# Converting values.


def outside(value, source, t, line):
    shown = show(value, source if source.kind == t.kind else t)
    raise ModelError("value '%s' is outside %s" % (shown, show_type(t)), line)


def converter(source, target, line=None):
    """A function that makes a value of type `source` one of type `target`, or None if nothing is to be done.

    It raises ModelError if the value does not fit, and this raises TypeProblem if no value can.
    """
    if source == target or source.kind == "nothing":
        return None
    if target.kind == "option":
        return _option_converter(source, target, line)
    if source.kind == "num" and target.kind == "round":
        return None
    if source.kind != target.kind:
        raise TypeProblem("%s where %s is wanted" % (show_type(source), show_type(target)), line)
    if target.kind == "num":
        if target.low is None and target.high is None:
            return None

        def check(v):
            if target.low is not None and v < target.low or target.high is not None and v > target.high:
                outside(v, source, target, line)
            return v

        return check
    if target.kind == "ident":
        if target.role is None or target.role == source.role:
            return None

        def check_role(p):
            if p.role != target.role:
                outside(p, source, target, line)
            return p

        return check_role
    if target.kind in ("set", "bag"):
        convert = converter(source.elem, target.elem, line)
        return convert and (lambda s: frozenset(convert(v) for v in s))
    if target.kind == "seq":
        return _seq_converter(source, target, line)
    if target.kind == "array":
        if values(source.index) != values(target.index):
            raise TypeProblem("arrays with different indices", line)
        convert = converter(source.elem, target.elem, line)
        return convert and (lambda a: tuple((i, convert(v)) for i, v in a))
    if target.kind == "record":
        return _record_converter(source, target, line)
    raise TypeProblem("%s where %s is wanted" % (show_type(source), show_type(target)), line)


def _option_converter(source, target, line):
    if source.kind == "option" and (is_bare_none(source) or depth(source) >= depth(target)):
        convert = converter(source.elem, target.elem, line)
        return convert and (lambda o: some(convert(o[0])) if o else NONE)
    convert = converter(source, target.elem, line)
    return (lambda v: some(convert(v))) if convert else some


def _seq_converter(source, target, line):
    convert = converter(source.elem, target.elem, line)

    def run(s):
        if convert:
            s = tuple(convert(v) for v in s)
        if target.most is not None and len(s) > target.most:
            outside(s, target, target, line)
        if target.distinct and len(set(s)) < len(s):
            outside(s, target, target, line)
        return s

    return run


def _record_converter(source, target, line):
    sources = field_sources(source, target)
    if sources is None:
        raise TypeProblem("%s where %s is wanted" % (show_type(source), show_type(target)), line)
    converts = [converter(source.fields[k][1], f, line) for k, (_, f) in zip(sources, target.fields)]
    names = [name for name, _ in target.fields]
    if not any(converts) and [name for name, _ in source.fields] == names:
        return None

    def run(r):
        parts = [r[k][1] for k in sources]
        return tuple((name, convert(v) if convert else v) for name, convert, v in zip(names, converts, parts))

    return run
