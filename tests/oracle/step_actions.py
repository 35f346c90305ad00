"""The text of models of steps: what actions there are, what they wait for, and what they do.

`compile_actions(model, role)` returns the list of Actions of a role. Actions decide nothing about channels and faults: that is in steps.py.
"""

from . import types as T
from .errors import SyntaxProblem, TypeProblem
from .expr import Guard, Scope, comparison, compile_expr, sender_key
from .statements import compile_block
from .syntax import Node, walk

START, END = "start", "end"


class Places:
    """Where a process of a role can stand. A role without `start` and steps has no places."""

    def __init__(self, role):
        parts = role.node.parts
        self.has_start = any(part.kind == "start" for part in parts)
        self.steps = [part.name for part in parts if part.kind == "step"]
        self.any = self.has_start or bool(self.steps)
        self.proper_ends = {part.name for part in parts if part.kind == "step" and self.is_proper_end(part)} | {None, END}

    @property
    def first(self):
        """Where a process stands at the beginning. None: it has no places."""
        if self.has_start:
            return START
        return self.first_step

    @property
    def first_step(self):
        """Where it stands after `start`, and after it recovered."""
        if self.steps:
            return self.steps[0]
        return END if self.any else None

    def is_proper_end(self, step):
        """Whether a process may stay at a step for ever."""
        if step.final or all(stays(way.block, step.name) for way in step.ways):
            return True
        waits = all(way.trigger is not None and way.trigger.kind == "on" for way in step.ways)
        return waits and not self.has_start and step.name == self.steps[0]

    def after(self, step):
        """The place that follows a step in the text."""
        k = self.steps.index(step)
        return self.steps[k + 1] if k + 1 < len(self.steps) else END


def stays(block, place):
    """Whether a block ends, in every branch, with `goto` to that place or with `halt`.

    READING: a `halt` ends its branch also where something follows it, which then never happens. Conditions are not looked at, and
    the block of a `foreach` may be executed not at all.
    """
    for statement in block:
        if statement.kind == "halt" or statement.kind == "goto" and statement.name == place:
            return True
        if statement.kind == "goto":
            return False
        if statement.kind == "if" and all(stays(b, place) for b in [b for _, b in statement.branches] + [statement.otherwise]):
            return True
        if any(part.kind == "goto" and part.name != place for part in walk(statement)):
            return False
    return False


class Action:
    """One way to act: `start`, a handler, or one of the alternatives of a step.

    `place` is where it can be taken (None: everywhere but at `start`), `next` where it moves the process (None: nowhere).
    `trigger` is None, or a Trigger. `number` tells the actions of a role apart.
    """

    def __init__(self, role, number, name, place, next_, trigger_node, block_node, scope):
        self.role = role
        self.number = number
        self.name = name
        self.place = place
        self.next = next_
        self.once = bool(trigger_node and trigger_node.once)
        self.trigger = compile_trigger(trigger_node, scope)
        if self.trigger.guard:
            self.trigger.guard.guards(*block_node)
        self.block = compile_block(block_node, self.trigger.scope)

    @property
    def key(self):
        return self.number

    def possible_at(self, place):
        if self.place is None:
            return place != START
        return place == self.place


def compile_actions(model, role):
    scope = Scope(model, role)
    places = Places(role)
    actions = []

    def add(name, place, next_, trigger, block):
        actions.append(Action(role.name, len(actions), name, place, next_, trigger, block, scope))

    for part in role.node.parts:
        if part.kind == "start":
            add("start", START, places.first_step, None, part.block)
        elif part.kind == "step":
            for way in part.ways:
                add("step %s" % part.name, part.name, places.after(part.name), way.trigger, way.block)
        elif part.kind == "handler":
            add("line %d" % part.line, None, None, part.trigger, part.block)
        else:
            raise TypeProblem("rounds in a model of steps", part.line)
    return actions


# Triggers. A trigger has `waits`: None, 'one' or 'quorum'; `guard`: a Guard or None; and `scope`: that of the block.


class NoMessage:
    """No trigger, or `when c`."""

    waits = None

    def __init__(self, cond, scope):
        self.guard = Guard(cond, scope) if cond is not None else None
        self.scope = self.guard.scope if self.guard else scope


class Pattern:
    """`KIND(field, field == e, ...)`."""

    def __init__(self, node, scope):
        self.kind = node.message
        if self.kind not in scope.model.messages:
            raise SyntaxProblem("unknown kind of messages '%s'" % self.kind, node.line)
        self.type = scope.model.messages[self.kind]
        self.types = dict(self.type.fields)
        self.alone = []       # fields that stand alone
        self.relations = []   # (field, left, right, test)
        for argument in node.arguments:
            if argument.field not in self.types:
                raise TypeProblem("'%s' has no field '%s'" % (self.kind, argument.field), argument.line)
            if argument.op is None:
                self.alone.append(argument.field)
            else:
                self.relations.append(self.relation(argument, scope))

    def relation(self, argument, scope):
        """Left of the sign is the field, whatever else has its name; right of it is an expression of the process."""
        hidden = "." + argument.field
        inner = scope.bind(hidden, self.types[argument.field])
        left = Node("name", argument.line, name=hidden)
        return (argument.field, hidden) + comparison(argument.op, left, argument.value, inner, argument.line)

    def fits(self, world, content):
        """Whether a message of this kind satisfies the relations. READING: they are looked at from left to right, for each message
        that could be taken; without a message nothing is computed."""
        fields = dict(content)
        for field, hidden, left, right, test in self.relations:
            env = {hidden: fields[field]}
            if not test(left(world, env), right(world, env)):
                return False
        return True


class OneMessage:
    waits = "one"

    def __init__(self, node, scope):
        self.pattern = Pattern(node.pattern, scope)
        self.name = node.name
        self.sender = node.sender
        for field in self.pattern.alone:
            scope = scope.bind(field, self.pattern.types[field])
        if node.name:
            scope = scope.bind(node.name, self.pattern.type, True)
        if node.sender:
            scope = scope.bind(node.sender, scope.model.any_process)
        if node.same or node.taken:
            raise TypeProblem("'same' and 'taken' are for quorums", node.line)
        self.guard = Guard(node.cond, scope) if node.cond is not None else None
        self.scope = self.guard.scope if self.guard else scope

    def bind(self, sender, content):
        """The local names, for a message that fits."""
        env = {}
        fields = dict(content)
        for field in self.pattern.alone:
            env[field] = fields[field]
        if self.name:
            env[self.name] = content
            env[sender_key(self.name)] = sender
        if self.sender:
            env[self.sender] = sender
        return env


class Quorum:
    waits = "quorum"

    def __init__(self, node, scope):
        self.pattern = Pattern(node.pattern, scope)
        self.size = compile_expr(node.size, scope)
        if self.size.type.kind != "num":
            raise TypeProblem("the size of a quorum is a number", node.line)
        self.exactly = node.exactly
        self.taken = node.taken
        self.same = list(node.same)
        self.name = node.name
        if node.sender:
            raise TypeProblem("'from' is for single messages", node.line)
        for field in self.pattern.alone:
            if field not in self.same:
                raise TypeProblem("'%s' is not among those that are the same" % field, node.line)
        for field in self.same:
            scope = scope.bind(field, self.pattern.types[field])
        scope = scope.bind(node.name, T.Bag(self.pattern.type))
        self.guard = Guard(node.cond, scope) if node.cond is not None else None
        self.scope = self.guard.scope if self.guard else scope

    def enough(self, count, size):
        return count == size if self.exactly else count >= size

    def agree(self, contents):
        """The common values of the fields after `same`, as a dict; None if the messages do not agree.

        READING: of no messages at all (size 0) the common value of a field does not exist, so that an empty set does not fit
        where there is a `same`.
        """
        if not contents:
            return None if self.same else {}
        first = dict(contents[0])
        for content in contents[1:]:
            fields = dict(content)
            if any(fields[field] != first[field] for field in self.same):
                return None
        return {field: first[field] for field in self.same}

    def bind(self, messages, common):
        """`messages` are (sender, content)."""
        env = dict(common)
        env[self.name] = list(messages)
        return env


def compile_trigger(node, scope):
    if node is None:
        return NoMessage(None, scope)
    if node.kind == "when":
        return NoMessage(node.cond, scope)
    if node.quorum:
        return Quorum(node, scope)
    return OneMessage(node, scope)
