"""Expressions: from syntax to functions.

`compile_expr(node, scope)` returns Code(type, run). `run(world, env)` is the value: `world` is a World (world.py), `env`
a dict with the values of local names. Types are found on the way, because what an expression means depends on them:
where a T? is wanted a T may stand, and `<=` is something else for sets than for numbers.

Names cannot shadow each other, so one dict for all local names of an activation is enough: it is changed in place.
A name that is bound to a message has a second entry, sender_key(name).
"""

from typing import Callable, NamedTuple, Optional

from . import types as T
from .errors import ModelError, SyntaxProblem, TypeProblem
from .syntax import parse_expr, words

CALL_DEPTH = 2000


class Code(NamedTuple):
    type: tuple
    run: Callable


IN_FLIGHT = "in flight"


class Collection(NamedTuple):
    """What a generator goes through. `run` returns a list of values, or of (sender, value) if it `has_senders`.
    `most` is how many there can be, or None if that is not known. Of messages in flight `has_senders` is IN_FLIGHT, and
    instead of the sender there is a Route."""

    elem: tuple
    has_senders: object
    run: Callable
    most: Optional[int] = None


class Scope:
    """Which names stand for what. `role` is the RoleInfo of the process whose text it is, or None."""

    def __init__(self, model, role=None, received=None, environment=False, locals=None, of_states=False):
        self.model = model
        self.role = role
        self.received = received          # the type of messages of this round, where `received` can be read
        self.environment = environment    # in a clause of an environment
        self.locals = locals or {}        # name -> (type, has a sender)
        self.of_states = of_states        # in a safety or cover property of states, and not in a def

    def bind(self, name, type_, has_sender=False):
        """A new scope in which the name is bound as well."""
        locals_ = dict(self.locals)
        locals_[name] = (type_, has_sender)
        return Scope(self.model, self.role, self.received, self.environment, locals_, self.of_states)

    def without_locals(self):
        return Scope(self.model, self.role, None, self.environment)

    def file_level(self):
        return Scope(self.model, None, None, self.environment)


def sender_key(name):
    return ("sender", name)


def constant(value, type_):
    return Code(type_, lambda world, env: value)


def number(value):
    return constant(value, T.Num(value, value))


def convert(code, target, line):
    """The same expression as a value of that type."""
    function = T.converter(code.type, target, line)
    if function is None:
        return Code(target, code.run)
    run = code.run
    return Code(target, lambda world, env: function(run(world, env)))


def compile_as(node, target, scope):
    return convert(compile_expr(node, scope), target, node.line)


def compile_bool(node, scope):
    code = compile_expr(node, scope)
    if code.type.kind != "bool":
        raise TypeProblem("a condition is wanted, not %s" % T.show_type(code.type), node.line)
    return code


def compile_expr(node, scope):
    handler = HANDLERS.get(node.kind)
    if handler is None:
        raise TypeProblem("'%s' cannot stand here" % node.kind, node.line)
    return handler(node, scope)


# Literals and names.


def on_num(node, scope):
    return number(node.value)


def on_bool(node, scope):
    return constant(node.value, T.BOOL)


def on_none(node, scope):
    return constant(T.NONE, T.Option(T.NOTHING))


def on_name(node, scope):
    name, model, role = node.name, scope.model, scope.role
    if name in scope.locals:
        type_, _ = scope.locals[name]
        return Code(type_, lambda world, env: env[name])
    if role and name in role.types:
        return Code(role.types[name], lambda world, env: world.vars[name])
    if (role and name in role.defs) or name in model.defs:
        return compile_call_of_def(name, [], scope, node.line)
    if name in model.params:
        value = model.params[name]
        return constant(value, T.BOOL) if isinstance(value, bool) else number(value)
    if name in model.labels:
        return constant(*model.labels[name])
    if name in model.roles:
        members = model.roles[name].type
        return Code(T.Set(members), lambda world, env: frozenset(world.role_set(name, False)))
    if name in model.file_types:
        return Code(model.file_types[name], lambda world, env: world.file_value(name))
    if name in BUILT_IN:
        return BUILT_IN[name](node, scope)
    if scope.environment and name in HEARD_OF_WORDS:
        return compile_expr(parse_expr(HEARD_OF_WORDS[name]), scope)
    raise SyntaxProblem("unknown name '%s'" % name, node.line)


def needs_role(node, scope):
    if scope.role is None:
        raise TypeProblem("'%s' is for processes" % node.name, node.line)
    return scope.role


def on_me(node, scope):
    return Code(needs_role(node, scope).type, lambda world, env: world.me)


def on_all(node, scope):
    return Code(T.Set(scope.model.any_process), lambda world, env: frozenset(world.all_set(False)))


def on_others(node, scope):
    needs_role(node, scope)
    return Code(T.Set(scope.model.any_process), lambda world, env: frozenset(world.all_set(False)) - {world.me})


def on_received(node, scope):
    if scope.received is None:
        raise TypeProblem("'received' is for updates", node.line)
    return Code(T.Bag(scope.received), lambda world, env: world.received)


def on_heard(node, scope):
    if scope.received is None:
        raise TypeProblem("'heard' is for updates", node.line)
    return Code(T.Set(scope.model.any_process), lambda world, env: frozenset(s for s, _ in world.received))


def on_correct(node, scope):
    return Code(T.Set(scope.model.any_process), lambda world, env: frozenset(world.correct()))


def on_faulty(node, scope):
    return Code(T.Set(scope.model.any_process), lambda world, env: frozenset(world.faulty()))


def on_round(node, scope):
    return Code(T.Num(0, None), lambda world, env: world.round_number())


def on_next(node, scope):
    role = needs_role(node, scope)
    return Code(role.type, lambda world, env: role.member(world.me.number + 1))


def on_neighbours(node, scope):
    role = needs_role(node, scope)
    if role.node.graph is None:
        raise TypeProblem("'neighbours' needs a graph", node.line)
    code = compile_expr(role.node.graph, scope.without_locals())
    return Code(code.type, lambda world, env: code.run(world, {}))


def on_quiescent(node, scope):
    needs_property_of_steps(node, scope)
    return Code(T.BOOL, lambda world, env: world.quiescent())


def on_deadlocked(node, scope):
    needs_property_of_steps(node, scope)
    return Code(T.BOOL, lambda world, env: world.deadlocked())


def needs_property_of_steps(node, scope):
    if not scope.of_states or not scope.model.takes_steps:
        raise TypeProblem("'%s' is for properties of states, in models of steps" % node.name, node.line)


BUILT_IN = {
    "me": on_me,
    "all": on_all,
    "others": on_others,
    "received": on_received,
    "heard": on_heard,
    "correct": on_correct,
    "faulty": on_faulty,
    "round": on_round,
    "next": on_next,
    "neighbours": on_neighbours,
    "quiescent": on_quiescent,
    "deadlocked": on_deadlocked,
}

HEARD_OF_WORDS = {
    "uniform": "exists S_ in subsets(all): forall p_ in all: HO[p_] == S_",
    "nosplit": "forall p_, q_ in all: HO[p_] & HO[q_] != {}",
    "kernel": "exists q_ in all: forall p_ in all: q_ in HO[p_]",
    "reflexive": "forall p_ in all: p_ in HO[p_]",
}


# Arithmetic. The bounds of results matter only where a message can be made up or corrupted: then its type is asked for.


def checked(value, line):
    if not T.MIN_INT <= value <= T.MAX_INT:
        raise ModelError("arithmetic beyond 64 bits", line)
    return value


def floor_div(a, b, line):
    if b == 0:
        raise ModelError("division by zero", line)
    return checked(a // b, line)


def never_negative_mod(a, b, line):
    if b == 0:
        raise ModelError("division by zero", line)
    return a % abs(b)


ARITHMETIC = {
    "+": lambda a, b, line: checked(a + b, line),
    "-": lambda a, b, line: checked(a - b, line),
    "*": lambda a, b, line: checked(a * b, line),
    "/": floor_div,
    "mod": never_negative_mod,
}


def bounded(t):
    return t.kind == "num" and t.low is not None and t.high is not None


def clip(low, high):
    """Bounds of a result. What is beyond 64 bits is an error of the model, so the type need not hold it."""
    return T.Num(max(low, T.MIN_INT), min(high, T.MAX_INT))


def arithmetic_type(op, a, b):
    if op == "mod":
        return T.Num(0, max(abs(b.low), abs(b.high), 1) - 1) if bounded(b) else T.INT
    if a.kind == "round" or b.kind == "round":
        return T.ROUND
    if not bounded(a) or not bounded(b):
        return T.INT
    if op == "+":
        return clip(a.low + b.low, a.high + b.high)
    if op == "-":
        return clip(a.low - b.high, a.high - b.low)
    corners = [(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    if op == "*":
        products = [x * y for x, y in corners]
        return clip(min(products), max(products))
    if op == "/" and 0 < b.low <= b.high:        # an empty range has its bounds the other way round
        quotients = [x // y for x, y in corners]
        return clip(min(quotients), max(quotients))
    return T.INT


def on_neg(node, scope):
    code = compile_expr(node.arg, scope)
    if code.type.kind != "num":
        raise TypeProblem("a number is wanted", node.line)
    type_ = clip(-code.type.high, -code.type.low) if bounded(code.type) else T.INT
    run, line = code.run, node.line
    return Code(type_, lambda world, env: checked(-run(world, env), line))


SET_OPERATIONS = {
    "|": lambda a, b: a | b,
    "&": lambda a, b: a & b,
    "-": lambda a, b: a - b,
}


def set_type(op, left, right, joined_type):
    """`P & correct` and `P - faulty` are sets of processes of P, though the other set is not."""
    if joined_type.kind == "set" and joined_type.elem.kind == "ident" and joined_type.elem.role is None:
        sides = [left, right] if op == "&" else [left] if op == "-" else []
        for side in sides:
            if side.kind == "set" and side.elem.kind == "ident" and side.elem.role is not None:
                return side
    return joined_type


def on_binary(node, scope):
    left, right = compile_expr(node.left, scope), compile_expr(node.right, scope)
    op, line = node.op, node.line
    if op == "++":
        return concatenation(left, right, line)
    if left.type.kind in ("set", "nothing") and right.type.kind in ("set", "nothing") and op in SET_OPERATIONS:
        type_ = T.join(left.type, right.type, line)
        a, b = convert(left, type_, line).run, convert(right, type_, line).run
        operation = SET_OPERATIONS[op]
        type_ = set_type(op, left.type, right.type, type_)
        return Code(type_, lambda world, env: operation(a(world, env), b(world, env)))
    for side in (left, right):
        if side.type.kind not in ("num", "round") or op not in ARITHMETIC:
            raise TypeProblem("'%s' of %s" % (op, T.show_type(side.type)), line)
    a, b, operation = left.run, right.run, ARITHMETIC[op]
    return Code(arithmetic_type(op, left.type, right.type), lambda world, env: operation(a(world, env), b(world, env), line))


def narrowed(op, left, right, joined_type):
    """The type of an operation on sets. Of processes: `P & correct` is a set of P, and so is `P - {q}`."""
    sides = {"&": [left, right], "-": [left]}.get(op, [])
    for side in sides:
        if joined_type.elem.kind == "ident" and side.kind == "set" and side.elem.kind == "ident" and side.elem.role is not None:
            return side
    return joined_type


def concatenation(left, right, line):
    if left.type.kind != "seq" or right.type.kind != "seq":
        raise TypeProblem("'++' is for sequences", line)
    elem = T.join(left.type.elem, right.type.elem, line)
    known = left.type.most is not None and right.type.most is not None
    type_ = T.Seq(elem, left.type.most + right.type.most if known else None, False)
    a = convert(left, T.Seq(elem, None, False), line).run
    b = convert(right, T.Seq(elem, None, False), line).run
    return Code(type_, lambda world, env: a(world, env) + b(world, env))


# Truth values. The right side is looked at only if the left does not decide.


def on_and(node, scope):
    a, b = compile_bool(node.left, scope).run, compile_bool(node.right, scope).run
    return Code(T.BOOL, lambda world, env: a(world, env) and b(world, env))


def on_or(node, scope):
    a, b = compile_bool(node.left, scope).run, compile_bool(node.right, scope).run
    return Code(T.BOOL, lambda world, env: a(world, env) or b(world, env))


def on_implies(node, scope):
    a, b = compile_bool(node.left, scope).run, compile_bool(node.right, scope).run
    return Code(T.BOOL, lambda world, env: not a(world, env) or b(world, env))


def on_not(node, scope):
    a = compile_bool(node.arg, scope).run
    return Code(T.BOOL, lambda world, env: not a(world, env))


def on_ifelse(node, scope):
    cond = compile_bool(node.cond, scope).run
    yes, no = compile_expr(node.yes, scope), compile_expr(node.no, scope)
    type_ = T.join(yes.type, no.type, node.line)
    a, b = convert(yes, type_, node.line).run, convert(no, type_, node.line).run
    return Code(type_, lambda world, env: a(world, env) if cond(world, env) else b(world, env))


# Comparisons.


def on_compare(node, scope):
    """A chain: `a <= b < c` is `a <= b and b < c`. READING: literally so: where b is a free choice, it is made twice."""
    links = []
    left = node.first
    for op, right in node.rest:
        links.append(comparison(op, left, right, scope, node.line))
        left = right
    if len(links) == 1:
        left_run, right_run, test = links[0]
        return Code(T.BOOL, lambda world, env: test(left_run(world, env), right_run(world, env)))

    def run(world, env):
        return all(test(a(world, env), b(world, env)) for a, b, test in links)

    return Code(T.BOOL, run)


ORDER = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def comparison(op, left_node, right_node, scope, line):
    """(left, right, test): two functions for the sides and one that compares their values."""
    if op in ("in", "not in"):
        return membership(op, left_node, right_node, scope, line)
    left, right = compile_expr(left_node, scope), compile_expr(right_node, scope)
    type_ = T.join(left.type, right.type, line)
    if type_.kind == "seq":
        type_ = T.Seq(type_.elem, None, False)
    a, b = convert(left, type_, line).run, convert(right, type_, line).run
    if op == "==":
        return a, b, lambda x, y: x == y
    if op == "!=":
        return a, b, lambda x, y: x != y
    if type_.kind == "set":
        if op not in ("<=", ">="):
            raise TypeProblem("'%s' of sets" % op, line)
    elif not is_ordered(type_):
        raise TypeProblem("no order: %s" % T.show_type(type_), line)
    # Labels are compared by position, records by their parts from left to right: as tuples of Python are.
    return a, b, ORDER[op]


def is_ordered(t):
    if t.kind == "record":
        return all(is_ordered(f) for _, f in t.fields)
    return t.kind in ("num", "round", "enum", "nothing")


def membership(op, left_node, right_node, scope, line):
    left = compile_expr(left_node, scope)
    wanted = op == "in"
    if right_node.kind == "range":
        low, high = compile_expr(right_node.low, scope).run, compile_expr(right_node.high, scope).run
        bounds = lambda world, env: (low(world, env), high(world, env))
        return left.run, bounds, lambda v, b: (b[0] <= v <= b[1]) == wanted
    named = type_named(right_node, scope)
    if named is not None and named.kind == "num":
        return left.run, lambda world, env: None, lambda v, _: T.contains(named, v) == wanted
    collection = compile_collection(right_node, scope, quantified=False)
    type_ = T.join(left.type, collection.elem, line)
    a = convert(left, type_, line).run
    adapt = T.converter(collection.elem, type_, line) or (lambda v: v)
    elements, has_senders = collection.run, collection.has_senders

    def members(world, env):
        found = elements(world, env)
        return [adapt(item[1] if has_senders else item) for item in found]

    return a, members, lambda v, found: (v in found) == wanted


# Collections and generators.


def type_named(node, scope):
    """The type that a name stands for, where it stands for one. A role is no type here, but the set of its processes."""
    if node.kind == "name" and node.name not in scope.locals:
        return scope.model.named_type(node.name, node.line)
    return None


def compile_collection(node, scope, quantified):
    """What `x in C` goes through. `quantified`: C stands in a generator."""
    if node.kind == "range":
        low, high = compile_expr(node.low, scope), compile_expr(node.high, scope)
        known = bounded(low.type) and bounded(high.type)
        elem = T.Num(low.type.low, high.type.high) if known else T.INT
        most = max(0, high.type.high - low.type.low + 1) if known else None
        return Collection(elem, False, lambda world, env: range(low.run(world, env), high.run(world, env) + 1), most)
    named = type_named(node, scope)
    if named is not None:
        return Collection(named, False, lambda world, env: T.values(named), T.size(named))
    if quantified and node.kind == "name" and node.name not in scope.locals:
        if node.name in scope.model.roles:
            role = scope.model.roles[node.name]
            return Collection(role.type, False, lambda world, env: T.in_order(world.role_set(role.name, True)), role.size)
        if node.name == "all":
            any_process = scope.model.any_process
            return Collection(any_process, False, lambda world, env: T.in_order(world.all_set(True)), len(any_process.members))
    return collection_of_value(compile_expr(node, scope), scope, node.line)


def collection_of_value(code, scope, line):
    run, kind = code.run, code.type.kind
    if kind == "set":
        return Collection(code.type.elem, False, lambda world, env: T.in_order(run(world, env)), most_members(code.type.elem))
    if kind == "option":
        return Collection(code.type.elem, False, run, 1)
    if kind == "seq":
        return Collection(code.type.elem, False, run, code.type.most)
    if kind == "bag" and code.type.in_flight:
        return Collection(code.type.elem, IN_FLIGHT, run, None)
    if kind == "bag":
        return Collection(code.type.elem, True, run, len(scope.model.procs))
    raise TypeProblem("%s is not a collection" % T.show_type(code.type), line)


def most_members(elem):
    try:
        return T.size(elem)
    except TypeProblem:
        return None


class Generators:
    """`x in C, y in D if c ...`. `scope` is that of what follows; `each(world, env)` yields once for each binding, with
    the names bound in env."""

    def __init__(self, nodes, scope):
        self.parts = []
        self.names = []
        self.most = 1
        for node in nodes:
            collection = compile_collection(node.range, scope, quantified=True)
            scope = scope.bind(node.name, collection.elem, collection.has_senders)
            cond = compile_bool(node.cond, scope).run if node.cond else None
            self.parts.append((node.name, collection.run, collection.has_senders, cond))
            self.names.append((node.name, collection.has_senders))
            self.most = None if self.most is None or collection.most is None else self.most * collection.most
        self.scope = scope

    def each(self, world, env, k=0):
        if k == len(self.parts):
            yield
            return
        name, elements, has_senders, cond = self.parts[k]
        for item in elements(world, env):
            bind(env, name, has_senders, item)
            if cond is None or cond(world, env):
                yield from self.each(world, env, k + 1)

    def binding(self, env):
        """What is bound now, as a dict to update an env with."""
        keys = []
        for name, has_senders in self.names:
            keys += [name, sender_key(name)] if has_senders else [name]
        return {key: env[key] for key in keys}


def bind(env, name, has_senders, item):
    if has_senders:
        env[sender_key(name)], env[name] = item
    else:
        env[name] = item


def on_quant(node, scope):
    """READING: bindings are tried in the order of the type, and the first that decides ends it. That matters only where a
    later one would be an error of the model."""
    generators = Generators(node.generators, scope)
    body = compile_bool(node.body, generators.scope).run if node.body else (lambda world, env: True)
    if node.which == "exists":
        return Code(T.BOOL, lambda world, env: any(body(world, env) for _ in generators.each(world, env)))
    return Code(T.BOOL, lambda world, env: all(body(world, env) for _ in generators.each(world, env)))


def on_count(node, scope):
    generators = Generators(node.generators, scope)
    body = compile_bool(node.body, generators.scope).run
    type_ = T.Num(0, generators.most)
    return Code(type_, lambda world, env: sum(1 for _ in generators.each(world, env) if body(world, env)))


def on_size(node, scope):
    if node.arg.kind == "set":
        code = compile_expr(node.arg, scope)
        return Code(T.Num(0, len(node.arg.elems)), lambda world, env: len(code.run(world, env)))
    collection = compile_collection(node.arg, scope, quantified=False)
    return Code(T.Num(0, collection.most), lambda world, env: len(collection.run(world, env)))


# Sets, sequences, arrays, records.


def joined(nodes, scope, line):
    """Several expressions as values of one type: (type, list of run)."""
    codes = [compile_expr(node, scope) for node in nodes]
    type_ = T.NOTHING
    for code in codes:
        type_ = T.join(type_, code.type, line)
    return type_, [convert(code, type_, line).run for code in codes]


def on_set(node, scope):
    elem, runs = joined(node.elems, scope, node.line)
    return Code(T.Set(elem), lambda world, env: frozenset([run(world, env) for run in runs]))


def on_setfor(node, scope):
    generators = Generators(node.generators, scope)
    elem = compile_expr(node.elem, generators.scope)
    return Code(T.Set(elem.type), lambda world, env: frozenset([elem.run(world, env) for _ in generators.each(world, env)]))


def on_seq(node, scope):
    elem, runs = joined(node.elems, scope, node.line)
    return Code(T.Seq(elem, len(runs), len(runs) <= 1), lambda world, env: tuple([run(world, env) for run in runs]))


def on_arrayfor(node, scope):
    index = index_type(node.index, scope)
    body = compile_expr(node.body, scope.bind(node.name, index))
    keys, name = T.values(index), node.name

    def run(world, env):
        elements = []
        for key in keys:
            env[name] = key
            elements.append((key, body.run(world, env)))
        return tuple(elements)

    return Code(T.Array(index, body.type), run)


def index_type(node, scope):
    if node.kind == "range":
        return T.Num(scope.model.constant(node.low), scope.model.constant(node.high))
    if node.kind == "name" and node.name in scope.model.roles:
        return scope.model.roles[node.name].type
    if node.kind == "name" and node.name == "all":
        return scope.model.any_process
    named = type_named(node, scope)
    if named is None:
        raise TypeProblem("an array needs a type, a role or a constant range", node.line)
    return named


def on_record(node, scope):
    fields, lent, runs = [], set(), []
    for position, item in enumerate(node.items, 1):
        code = compile_expr(item.value, scope)
        name = item.name
        if name is None:
            name = item.value.name if item.value.kind in ("name", "field_of") else "_%d" % position
            lent.add(name)
        fields.append((name, code.type))
        runs.append((name, code.run))
    if len(set(name for name, _ in fields)) < len(fields):
        fields, lent, runs = number_repeated(node, fields, runs)
    return Code(T.Record(tuple(fields), frozenset(lent)), lambda world, env: tuple([(name, run(world, env)) for name, run in runs]))


def number_repeated(node, fields, runs):
    """READING: where two parts would lend the same name, as in (p.x, q.x), a part after the first has its position for a name."""
    seen, new_fields, new_runs, lent = set(), [], [], set()
    for position, (item, (name, type_), (_, run)) in enumerate(zip(node.items, fields, runs), 1):
        if item.name is None:
            name = "_%d" % position if name in seen else name
            lent.add(name)
        seen.add(name)
        new_fields.append((name, type_))
        new_runs.append((name, run))
    return new_fields, lent, new_runs


# Looking into values.


def on_index(node, scope):
    if node.base.kind == "name" and node.base.name not in scope.locals:
        name = node.base.name
        if name in ("HO", "SHO"):
            return heard_of(node, scope)
        if scope.role is None and name in scope.model.oracles:
            return oracle_of(node, scope)
    code = compile_expr(node.base, scope)
    for arg in node.args:
        code = element(code, compile_expr(arg, scope), node.line)
    return code


def heard_of(node, scope):
    proc = compile_as(node.args[0], scope.model.any_process, scope).run
    round_name = node.args[1].name if len(node.args) > 1 else None
    type_ = T.Set(scope.model.any_process)
    if node.base.name == "HO":
        return Code(type_, lambda world, env: frozenset(world.heard_of(proc(world, env), round_name)))
    return Code(type_, lambda world, env: frozenset(world.safely_heard_of(proc(world, env), round_name)))


def oracle_of(node, scope):
    name = node.base.name
    code = compile_expr(node.args[0], scope)
    proc = convert(code, scope.model.any_process, node.line).run
    type_ = scope.model.oracles[name].type
    if code.type.kind == "ident" and code.type.role is not None:
        type_ = scope.model.roles[code.type.role].types[name]
    if type_ is None:
        raise TypeProblem("'%s' is of different types" % name, node.line)
    return Code(type_, lambda world, env: world.oracle(proc(world, env), name))


def element(array, index, line):
    """array[index]"""
    if array.type.kind != "array":
        raise TypeProblem("%s has no elements" % T.show_type(array.type), line)
    key = convert(index, array.type.index, line).run
    positions = {v: k for k, v in enumerate(T.values(array.type.index))}
    index_shown = array.type.index

    def run(world, env):
        elements = array.run(world, env)
        k = key(world, env)
        if k not in positions:
            T.outside(k, index_shown, index_shown, line)
        return elements[positions[k]][1]

    return Code(array.type.elem, run)


def on_field_of(node, scope):
    base = compile_expr(node.base, scope)
    if base.type.kind == "ident":
        return variable_of(base, node.name, scope, node.line)
    if base.type.kind == "record":
        names = [name for name, _ in base.type.fields]
        if node.name not in names:
            raise TypeProblem("no field '%s' in %s" % (node.name, T.show_type(base.type)), node.line)
        k = names.index(node.name)
        return Code(base.type.fields[k][1], lambda world, env: base.run(world, env)[k][1])
    raise TypeProblem("%s has no fields" % T.show_type(base.type), node.line)


def variable_of(proc, name, scope, line):
    """p.x, where p may be of several roles: then x has the type that joins those of the roles that have it."""
    type_, adapt = variable_type(proc, name, scope, line)

    def run(world, env):
        p = proc.run(world, env)
        value = world.read(p, name)
        function = adapt[p.role]
        return function(value) if function else value

    return Code(type_, run)


def variable_type(proc, name, scope, line):
    roles = [role for role in scope.model.roles.values() if proc.type.role in (None, role.name) and name in role.types]
    if not roles:
        raise TypeProblem("no variable '%s'" % name, line)
    type_ = T.NOTHING
    for role in roles:
        type_ = T.join(type_, role.types[name], line)
    return type_, {role.name: T.converter(role.types[name], type_, line) for role in roles}


def on_prime(node, scope):
    """READING: everything inside is read after the step: in a[i]' the index, too."""
    code = compile_expr(node.arg, scope)

    def run(world, env):
        before, world.primed = world.primed, True
        try:
            return code.run(world, env)
        finally:
            world.primed = before

    return Code(code.type, run)


# Calls.


def on_call(node, scope):
    name = node.name
    if (scope.role and name in scope.role.defs) or name in scope.model.defs:
        return compile_call_of_def(name, node.args, scope, node.line)
    if name in scope.model.roles:
        return member_of_role(node, scope)
    if name in CHOOSING:
        type_, maybe = compile_choosing(node, scope)
        return Code(type_, lambda world, env: chosen(maybe(world, env), name, node.line))
    if name in FUNCTIONS:
        return FUNCTIONS[name](node, scope)
    if scope.environment and name in DETECTOR_WORDS:
        return detector(node, scope)
    raise SyntaxProblem("unknown function '%s'" % name, node.line)


def chosen(option, name, line):
    if not option:
        raise ModelError("'%s' of nothing" % name, line)
    return option[0]


def member_of_role(node, scope):
    role = scope.model.roles[node.name]
    code = compile_expr(node.args[0].value, scope)
    if code.type.kind not in ("num", "round"):
        raise TypeProblem("%s(i) needs a number" % role.name, node.line)
    return Code(role.type, lambda world, env: role.member(code.run(world, env)))


def compile_call_of_def(name, items, scope, line):
    definition = scope.model.definition(name, scope)
    if len(items) != len(definition.params):
        raise TypeProblem("'%s' has %d parameters" % (name, len(definition.params)), line)
    args = [(param, compile_as(item.value, type_, scope).run) for (param, type_), item in zip(definition.params, items)]

    def run(world, env):
        inner = {param: arg(world, env) for param, arg in args}
        if world.depth >= CALL_DEPTH:
            raise ModelError("'%s' calls itself without end" % name, line)
        world.depth += 1
        try:
            return definition.run(world, inner)
        finally:
            world.depth -= 1

    return Code(definition.type, run)


def on_number_of(node, scope):
    code = compile_expr(node.args[0].value, scope)
    if code.type.kind != "ident":
        raise TypeProblem("'number' needs an identity", node.line)
    most = max(p.number for p in code.type.members)
    return Code(T.Num(1, most), lambda world, env: code.run(world, env).number)


def on_sender(node, scope):
    arg = node.args[0].value
    if arg.kind != "name" or not scope.locals.get(arg.name, (None, False))[1]:
        raise TypeProblem("'sender' needs a name that is bound to a message", node.line)
    key = sender_key(arg.name)
    if scope.locals[arg.name][1] == IN_FLIGHT:
        return Code(scope.model.any_process, lambda world, env: env[key].sender)
    return Code(scope.model.any_process, lambda world, env: env[key])


def on_receiver(node, scope):
    arg = node.args[0].value
    if arg.kind != "name" or scope.locals.get(arg.name, (None, False))[1] != IN_FLIGHT:
        raise TypeProblem("'receiver' needs a name that is bound to a message in flight", node.line)
    key = sender_key(arg.name)
    return Code(scope.model.any_process, lambda world, env: env[key].receiver)


def on_pending(node, scope):
    needs_property_of_steps(node, scope)
    arg = node.args[0].value if len(node.args) == 1 else None
    if arg is None or arg.kind != "name" or arg.name not in scope.model.messages:
        raise TypeProblem("'pending' needs a kind of messages", node.line)
    kind = arg.name
    return Code(T.Bag(scope.model.messages[kind], True), lambda world, env: world.pending(kind))


def on_from(node, scope):
    if scope.received is None:
        raise TypeProblem("'from' is for updates", node.line)
    proc = compile_as(node.args[0].value, scope.model.any_process, scope).run

    def run(world, env):
        p = proc(world, env)
        for sender, message in world.received:
            if sender == p:
                return T.some(message)
        return T.NONE

    return Code(T.Option(scope.received), run)


def on_initial(node, scope):
    arg = node.args[0].value
    if arg.kind != "field_of":
        raise TypeProblem("'initial' needs a variable of a process", node.line)
    proc = compile_expr(arg.base, scope)
    type_, adapt = variable_type(proc, arg.name, scope, node.line)

    def run(world, env):
        p = proc.run(world, env)
        value = world.initial(p, arg.name)
        return adapt[p.role](value) if adapt[p.role] else value

    return Code(type_, run)


def on_at(node, scope):
    proc = compile_expr(node.args[0].value, scope)
    place = node.args[1].value.name
    return Code(T.BOOL, lambda world, env: world.at(proc.run(world, env), place))


def on_subsets(node, scope):
    collection = compile_collection(node.args[0].value, scope, quantified=False)
    return Code(T.Set(T.Set(collection.elem)), lambda world, env: frozenset(T.subsets(list(dict.fromkeys(collection.run(world, env))))))


def on_front(node, scope):
    code = sequence_argument(node, scope)
    most = None if code.type.most is None else max(0, code.type.most - 1)

    def run(world, env):
        s = code.run(world, env)
        if not s:
            raise ModelError("'front' of nothing", node.line)
        return s[:-1]

    return Code(T.Seq(code.type.elem, most, code.type.distinct), run)


def sequence_argument(node, scope):
    code = compile_expr(node.args[0].value, scope)
    if code.type.kind != "seq":
        raise TypeProblem("'%s' needs a sequence" % node.name, node.line)
    return code


# Aggregates.


def aggregated(node, scope):
    """What an aggregate goes through: (type of elements, function that gives the list of them, how many at most)."""
    if node.generators is not None:
        generators = Generators(node.generators, scope)
        elem = compile_expr(node.args[0].value, generators.scope)
        return elem.type, (lambda world, env: [elem.run(world, env) for _ in generators.each(world, env)]), generators.most
    if len(node.args) == 1:
        collection = compile_collection(node.args[0].value, scope, quantified=True)
        if collection.has_senders:
            return collection.elem, (lambda world, env: [m for _, m in collection.run(world, env)]), collection.most
        return collection.elem, (lambda world, env: list(collection.run(world, env))), collection.most
    elem, runs = joined([item.value for item in node.args], scope, node.line)
    return elem, (lambda world, env: [run(world, env) for run in runs]), len(runs)


def on_sum(node, scope):
    elem, elements, most = aggregated(node, scope)
    if elem.kind not in ("num", "nothing"):
        raise TypeProblem("'sum' needs numbers", node.line)

    def run(world, env):
        total = 0
        for value in elements(world, env):
            total = checked(total + value, node.line)
        return total

    return Code(T.INT, run)


def on_union(node, scope):
    elem, elements, _ = aggregated(node, scope)
    if elem.kind not in ("set", "nothing"):
        raise TypeProblem("'union' needs sets", node.line)
    return Code(elem, lambda world, env: frozenset().union(*elements(world, env)))


def occurrences(values):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def on_mostfrequent(node, scope):
    elem, elements, _ = aggregated(node, scope)

    def run(world, env):
        counts = occurrences(elements(world, env))
        highest = max(counts.values(), default=0)
        return frozenset(value for value, count in counts.items() if count == highest)

    return Code(T.Set(elem), run)


FUNCTIONS = {
    "number": on_number_of,
    "sender": on_sender,
    "receiver": on_receiver,
    "pending": on_pending,
    "from": on_from,
    "initial": on_initial,
    "at": on_at,
    "subsets": on_subsets,
    "front": on_front,
    "sum": on_sum,
    "union": on_union,
    "mostfrequent": on_mostfrequent,
}

CHOOSING = {"min", "max", "majority", "pick", "random", "first", "last"}


def compile_choosing(node, scope):
    """An aggregate that has no value of nothing: (type, function that returns an option)."""
    name = node.name
    if name in ("first", "last"):
        code = sequence_argument(node, scope)
        position = 0 if name == "first" else -1

        def run(world, env):
            s = code.run(world, env)
            return T.some(s[position]) if s else T.NONE

        return code.type.elem, run
    elem, elements, _ = aggregated(node, scope)
    if name in ("min", "max"):
        if not is_ordered(elem):
            raise TypeProblem("'%s' of what has no order" % name, node.line)
        best = min if name == "min" else max

        def run(world, env):
            found = elements(world, env)
            return T.some(best(found)) if found else T.NONE

    elif name == "majority":

        def run(world, env):
            found = elements(world, env)
            for value, count in occurrences(found).items():
                if 2 * count > len(found):
                    return T.some(value)
            return T.NONE

    else:

        def run(world, env):
            options = T.in_order(set(elements(world, env)))
            return T.some(world.chooser.choose(name, options)) if options else T.NONE

    return elem, run


def on_otherwise(node, scope):
    """READING: after an aggregate, `otherwise` is about nothing to choose from only. What is chosen may be an option, and none."""
    left = node.left
    if left.kind == "call" and left.name in CHOOSING:
        elem, maybe = compile_choosing(left, scope)
    else:
        option = compile_expr(left, scope)
        if option.type.kind != "option":
            raise TypeProblem("'otherwise' after what always has a value", node.line)
        elem, maybe = option.type.elem, option.run
    right = compile_expr(node.right, scope)
    type_ = T.join(elem, right.type, node.line)
    adapt = T.converter(elem, type_, node.line) or (lambda v: v)
    other = convert(right, type_, node.line).run

    def run(world, env):
        found = maybe(world, env)
        return adapt(found[0]) if found else other(world, env)

    return Code(type_, run)


# Failure detectors.

DETECTOR_WORDS = {"complete", "accurate", "perfect", "trusts", "waits"}


def detector(node, scope):
    """The words for failure detectors, written out. R is the role that has the oracle, M the processes that it can suspect.
    Generators over R and M go through those that take part."""
    name = node.args[0].value.name
    info = scope.model.oracles[name]
    parts = {
        "s": name,
        "R": info.role if len(info.roles) == 1 else "all",
        "M": info.type.elem.role or "all",
    }
    complete = "(forall p_ in {R}: p_ in correct => faulty & {M} <= {s}[p_])"
    accurate = "(forall p_ in {R}: p_ in correct => {s}[p_] <= faulty)"
    texts = {
        "complete": complete,
        "accurate": accurate,
        "perfect": complete + " and " + accurate,
        "trusts": "q_ in correct and forall p_ in {R}: p_ in correct => q_ not in {s}[p_]",
        "waits": complete + " and forall p_ in {R}, r_ in {M}: p_ in correct => r_ in HO[p_] or r_ in {s}[p_]",
    }
    expr = parse_expr(texts[node.name].format(**parts))
    if node.name != "trusts":
        return compile_expr(expr, scope)
    q = compile_expr(node.args[1].value, scope)
    code = compile_expr(expr, scope.bind("q_", q.type))

    def run(world, env):
        env["q_"] = q.run(world, env)
        return code.run(world, env)

    return Code(T.BOOL, run)


HANDLERS = {
    "num": on_num,
    "bool": on_bool,
    "none": on_none,
    "name": on_name,
    "neg": on_neg,
    "binary": on_binary,
    "and": on_and,
    "or": on_or,
    "implies": on_implies,
    "not": on_not,
    "ifelse": on_ifelse,
    "compare": on_compare,
    "quant": on_quant,
    "count": on_count,
    "size": on_size,
    "set": on_set,
    "setfor": on_setfor,
    "seq": on_seq,
    "arrayfor": on_arrayfor,
    "record": on_record,
    "index": on_index,
    "field_of": on_field_of,
    "prime": on_prime,
    "call": on_call,
    "otherwise": on_otherwise,
}


# Guards that bind.


def conjuncts(node):
    """The conjuncts of a condition. Parentheses around conjunctions make no difference."""
    if node.kind == "and":
        return conjuncts(node.left) + conjuncts(node.right)
    return [node]


class Guard:
    """A condition whose `exists` conjuncts bind names in what is guarded.

    `bindings(world, env)` is the list of all bindings that satisfy the condition, each a dict to update env with: empty
    if the condition is false, [{}] if it is true and binds nothing. `scope` is that of what is guarded.
    """

    def __init__(self, node, scope):
        self.parts = []
        self.nodes = []
        self.outer = self.scope = scope
        for part in conjuncts(node):
            self.nodes.append(part)
            if part.kind == "quant" and part.which == "exists":
                generators = Generators(part.generators, scope)
                body = compile_bool(part.body, generators.scope).run if part.body else None
                self.parts.append((generators, body))
                for name, _ in generators.names:
                    self.scope = self.scope.bind(name, *generators.scope.locals[name])
            else:
                self.parts.append((None, compile_bool(part, scope).run))

    def guards(self, *guarded):
        """What is guarded. An `exists` none of whose names occur there binds nothing: it is a condition like any other, and ends
        at the first binding that satisfies it."""
        found = set().union(*map(words, guarded))
        for i, (generators, _) in enumerate(self.parts):
            if generators is not None and not any(name in found for name, _ in generators.names):
                self.parts[i] = (None, compile_bool(self.nodes[i], self.outer).run)

    def bindings(self, world, env):
        """Conjuncts are looked at from left to right, until one is false."""
        found = [{}]
        for generators, body in self.parts:
            if generators is None:
                if not body(world, env):
                    return []
            else:
                here = []
                for _ in generators.each(world, env):
                    if body is None or body(world, env):
                        binding = generators.binding(env)
                        if binding not in here:
                            here.append(binding)
                found = [a | b for a in found for b in here]
                if not found:
                    return []
        return found

    def choose(self, world, env):
        """Choose a binding freely and bind it in env. False if the condition does not hold."""
        found = self.bindings(world, env)
        if not found:
            return False
        env.update(world.chooser.choose("guard", found))
        return True
