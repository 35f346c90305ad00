"""The text of models of rounds: parts, rounds, what is sent and how processes update.

`compile_schedule(model)` returns a Schedule. It decides nothing about what arrives: that is the environment's.
"""

from typing import NamedTuple, Optional

from . import types as T
from .errors import ModelError
from .expr import Guard, Scope, compile_expr
from .syntax import Node
from .statements import compile_block, compile_target


class Segment(NamedTuple):
    """A part of the schedule. `count` is how often it runs: None means for ever. `rounds` are RoundInfo."""

    how: str              # once, repeat or phase
    count: Optional[int]
    rounds: tuple


class RoundInfo(NamedTuple):
    """One round of a segment. `codes` are RoundCode by the name of the role; a role without rounds is missing."""

    name: Optional[str]
    codes: dict
    message_types: dict   # role -> type of the messages that its processes can get; NOTHING if there are none


class RoundCode:
    """What one role does in a round. `number` is the name of the counter of the segment, or None."""

    def __init__(self, role, number, sends, update):
        self.role = role
        self.number = number
        self.sends = sends
        self.update = update      # run(world, env), or None

    def env(self, k):
        """The local names at the beginning of the k-th pass through the segment, counted from 1."""
        return {self.number: k} if self.number else {}

    def messages(self, world, env):
        """What the process sends: a dict from receivers to messages."""
        sent = {}
        for send in self.sends:
            for receiver, message in send.messages(world, dict(env)):
                if receiver in sent:
                    raise ModelError("two messages to one receiver in a round", send.line)
                sent[receiver] = message
        return sent


class SendCode:
    def __init__(self, node, scope):
        self.line = node.line
        self.guard = Guard(node.when, scope) if node.when else None
        if self.guard:
            self.guard.guards(*[n for n in (node.message, node.target) if isinstance(n, Node)])
        inner = self.guard.scope if self.guard else scope
        self.message = compile_expr(node.message, inner)
        self.receivers_type, self.target = compile_target(node.target, inner)
        self.adapt = {}           # role of the receiver -> converter of the message, or None

    def receiver_roles(self, model):
        """The roles that the message may reach, as far as types tell."""
        t = self.receivers_type
        if t.kind == "nothing":
            return []
        return [t.role] if t.role else list(model.roles)

    def messages(self, world, env):
        if self.guard and not self.guard.choose(world, env):
            return []
        message = self.message.run(world, env)
        result = []
        for receiver in self.target(world, env):
            function = self.adapt[receiver.role]
            result.append((receiver, function(message) if function else message))
        return result


class Schedule(NamedTuple):
    segments: tuple
    finally_: dict        # role -> run(world, env); missing if there is none


def parts_of(role):
    """The segments of a role as (how, node of the count, name of the counter, rounds), and the block of `finally`."""
    segments, final = [], None
    bare = None
    for part in role.node.parts:
        if part.kind == "segment":
            segments.append((part.how, part.count, part.name, part.rounds))
        elif part.kind == "round":
            if bare is None:
                bare = []
                segments.append(("phase", None, None, bare))
            bare.append(part)
        elif part.kind == "finally":
            final = part.block
    return segments, final


def compile_schedule(model):
    parts = {name: parts_of(role)[0] for name, role in model.roles.items()}
    active = {name: segments for name, segments in parts.items() if segments}
    length = max((len(segments) for segments in active.values()), default=0)
    segments = []
    for k in range(length):
        segments.append(compile_segment(model, {name: active[name][k] for name in active}))
    finally_ = {}
    for name, role in model.roles.items():
        block = parts_of(role)[1]
        if block is not None:
            finally_[name] = compile_block(block, Scope(model, role))
    return Schedule(tuple(segments), finally_)


def compile_segment(model, parts):
    """`parts` has the same segment of each role."""
    how, count_node, _, rounds = next(iter(parts.values()))
    count = {"once": 1, "phase": None}.get(how)
    if how == "repeat":
        count = model.constant(count_node)
    infos = [compile_round(model, parts, k, how, count) for k in range(len(rounds))]
    return Segment(how, count, tuple(infos))


def compile_round(model, parts, k, how, count):
    sends, scopes = {}, {}
    for name, (_, _, counter, rounds) in parts.items():
        scope = Scope(model, model.roles[name])
        if counter:
            scope = scope.bind(counter, T.ROUND if how == "phase" else T.Num(1, count))
        scopes[name] = scope
        sends[name] = [SendCode(node, scope) for node in rounds[k].sends]
    message_types = find_message_types(model, [send for codes in sends.values() for send in codes])
    codes = {}
    round_name = None
    for name, (_, _, counter, rounds) in parts.items():
        scope = scopes[name]
        inner = Scope(model, scope.role, message_types[name], False, scope.locals)
        update = rounds[k].update
        codes[name] = RoundCode(name, counter, sends[name], compile_block(update, inner) if update is not None else None)
        round_name = round_name or rounds[k].name
    return RoundInfo(round_name, codes, message_types)


def find_message_types(model, sends):
    """The type of the messages that can reach each role: that which joins all that are sent to it."""
    found = {name: T.NOTHING for name in model.roles}
    for send in sends:
        for name in send.receiver_roles(model):
            found[name] = T.join(found[name], send.message.type, send.line)
    for send in sends:
        for name in send.receiver_roles(model):
            send.adapt[name] = T.converter(send.message.type, found[name], send.line)
    return found
