"""Statements: from syntax to functions.

`compile_block(statements, scope)` returns run(world, env), which changes world.vars and world.shared, and calls
world.send and world.goto. `halt` raises Halted; `run_block` catches it.
"""

from . import types as T
from .errors import SyntaxProblem, TypeProblem
from .expr import Code, Guard, bind, compile_as, compile_collection, compile_expr
from .world import Halted


def compile_block(statements, scope):
    runs = []
    for statement in statements:
        run, scope = COMPILERS[statement.kind](statement, scope)
        runs.append(run)

    def run_all(world, env):
        for run in runs:
            run(world, env)

    return run_all


def run_block(block, world, env):
    """Run a compiled block. True if it came to its end, False if the process halted."""
    try:
        block(world, env)
        return True
    except Halted:
        return False


def on_if(node, scope):
    branches = []
    for cond, block in node.branches:
        guard = Guard(cond, scope)
        guard.guards(*block)
        branches.append((guard, compile_block(block, guard.scope)))
    otherwise = compile_block(node.otherwise, scope)

    def run(world, env):
        for guard, block in branches:
            if guard.choose(world, env):
                return block(world, env)
        return otherwise(world, env)

    return run, scope


def on_let(node, scope):
    code = compile_expr(node.value, scope)
    name = node.name

    def run(world, env):
        env[name] = code.run(world, env)

    return run, scope.bind(name, code.type)


def on_foreach(node, scope):
    collection = compile_collection(node.collection, scope, quantified=True)
    if not collection.has_senders:
        raise TypeProblem("foreach goes through received messages, or a quorum", node.line)
    name = node.name
    block = compile_block(node.block, scope.bind(name, collection.elem, True))

    def run(world, env):
        left = list(collection.run(world, env))
        while left:
            k = world.chooser.choose("order", list(range(len(left))))
            bind(env, name, True, left.pop(k))
            block(world, env)

    return run, scope


def on_halt(node, scope):
    def run(world, env):
        raise Halted()

    return run, scope


def on_goto(node, scope):
    return (lambda world, env: world.goto(node.name)), scope


def on_assign(node, scope):
    """`x := e`, `a[i] := e`, `r.field := e`. The value is computed first, then the indices from left to right."""
    own = scope.role is not None and node.name in scope.role.types
    if not own and node.name not in scope.model.file_types:
        raise SyntaxProblem("'%s' cannot be assigned" % node.name, node.line)
    root = scope.role.types[node.name] if own else scope.model.file_types[node.name]
    type_ = root
    steps = []
    for kind, what in node.path:
        if kind == "index":
            key = compile_as(what, type_.index, scope).run
            positions = {v: k for k, v in enumerate(T.values(type_.index))}
            steps.append(lambda world, env, key=key, positions=positions, t=type_.index: at(key(world, env), positions, t, node.line))
            type_ = type_.elem
        else:
            names = [name for name, _ in type_.fields]
            k = names.index(what)
            steps.append(lambda world, env, k=k: k)
            type_ = type_.fields[k][1]
    value = compile_as(node.value, type_, scope).run
    name = node.name

    def run(world, env):
        new = value(world, env)
        path = [step(world, env) for step in steps]
        store = world.vars if own else world.shared
        store[name] = replaced(store[name], path, new)

    return run, scope


def at(key, positions, index_type, line):
    if key not in positions:
        T.outside(key, index_type, index_type, line)
    return positions[key]


def replaced(value, path, new):
    """An array or record, whose parts are (key, value), with one part inside replaced."""
    if not path:
        return new
    k = path[0]
    key, old = value[k]
    return value[:k] + ((key, replaced(old, path[1:], new)),) + value[k + 1:]


def compile_target(node, scope):
    """Whom a message goes to: (type of the receivers, function that gives the list of them in order)."""
    code = compile_expr(node, scope)
    if code.type.kind == "ident":
        return code.type, lambda world, env: [code.run(world, env)]
    if code.type.kind == "set" and code.type.elem.kind in ("ident", "nothing"):
        return code.type.elem, lambda world, env: T.in_order(code.run(world, env))
    raise TypeProblem("messages go to processes, not to %s" % T.show_type(code.type), node.line)


def on_send(node, scope):
    """A send in a step."""
    kind, message = compile_message(node.message, scope)
    receivers, target = compile_target(node.target, scope)
    if receivers.kind == "ident":
        scope.model.sent_to.add((scope.role.name, kind, receivers.role))
    line = node.line

    def run(world, env):
        content = message.run(world, env)
        world.send(kind, content, target(world, env), line)

    return run, scope


def compile_message(node, scope):
    """`KIND` or `KIND(e, ...)`: the kind, and the code of the record of its fields."""
    kind = node.name if node.kind in ("name", "call") else None
    if kind not in scope.model.messages:
        raise TypeProblem("a kind of messages is wanted", node.line)
    type_ = scope.model.messages[kind]
    items = node.args if node.kind == "call" else []
    if len(items) != len(type_.fields):
        raise TypeProblem("'%s' has %d fields" % (kind, len(type_.fields)), node.line)
    named = {item.name: item for item in items if item.name is not None}
    if named and len(named) < len(items):
        raise TypeProblem("some arguments have names, some have none", node.line)
    runs = []
    for position, (name, field_type) in enumerate(type_.fields):
        item = named[name] if named else items[position]
        runs.append((name, compile_as(item.value, field_type, scope).run))
    return kind, Code(type_, lambda world, env: tuple([(name, run(world, env)) for name, run in runs]))


COMPILERS = {
    "if": on_if,
    "let": on_let,
    "foreach": on_foreach,
    "halt": on_halt,
    "goto": on_goto,
    "assign": on_assign,
    "send": on_send,
}
