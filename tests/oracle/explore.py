"""Checks a model: a breadth-first search over all states, and the verdicts on all properties.

    result = check(text, {"n": 2})
    result.properties[name]                   (verdict, length or None)
    result.by_environment[name, environment]  likewise, where properties name several environments
    result.states                             number of reachable states; None if the search ended before it had all
    result.error                              None, or (message, length of the shortest run to it)

A verdict is 'holds', 'violated' or 'inconclusive'. A length counts rounds or steps: of a counterexample, or of the run
that reaches a cover.
"""

import time
from dataclasses import dataclass, field

from . import with_deep_stack
from .errors import ModelError
from .model import load
from .system import Step, TooLarge, Unsupported

__all__ = ["check", "Result", "TooLarge", "Unsupported", "Step"]

MAX_STATES = 20000
MAX_STEPS = 400000
MAX_SECONDS = 30


@dataclass
class Result:
    properties: dict = field(default_factory=dict)
    by_environment: dict = field(default_factory=dict)
    states: int = None
    states_by_environment: dict = field(default_factory=dict)
    error: tuple = None
    errors: dict = field(default_factory=dict)
    complete: bool = True
    depth: int = None                 # how many rounds or steps were searched completely
    too_large: str = None             # the limit that was reached: what was not decided by then is inconclusive
    ended_early: bool = False         # a search for safety properties reached it
    unsupported: list = field(default_factory=list)   # reasons, of live properties that are inconclusive for that


class Limits:
    def __init__(self, max_states, max_steps, max_seconds):
        self.max_states = max_states
        self.max_steps = max_steps
        self.deadline = time.monotonic() + max_seconds
        self.steps = 0

    def count_step(self):
        self.steps += 1
        if self.steps > self.max_steps:
            raise TooLarge("more than %d steps" % self.max_steps)
        if self.steps % 64 == 0:
            self.look_at_clock()

    def look_at_clock(self):
        if time.monotonic() > self.deadline:
            raise TooLarge("time")

    def count_states(self, number):
        if number > self.max_states:
            raise TooLarge("more than %d states" % self.max_states)


def check(text, params, environment=None, semantics=None, properties=None, max_states=MAX_STATES, max_steps=MAX_STEPS,
          max_seconds=MAX_SECONDS, overrule=False, live=True, partial=False, allow_deadlock=False, also=()):
    """Check the properties of a model.

    `environment`: only what is asked in that environment; with `overrule`, or if nothing is, all properties in it, as
    `--env` does. `properties`: only these. `live=False`: leave out live properties. `partial`: where a limit is reached,
    return what is known by then, instead of raising TooLarge. `allow_deadlock`: `deadlock` is checked only if it is among
    `properties`. `also`: the names of properties that are checked even if they are `on request`.
    """
    run = lambda: check_all(load(text, params), environment, semantics, properties, overrule, live, allow_deadlock, also,
                            lambda: Limits(max_states, max_steps, max_seconds))
    result = with_deep_stack(run)
    if result.ended_early and result.error is None and not partial:
        raise TooLarge(result.too_large, result)
    return result


def check_all(model, environment, semantics, names, overrule, live, allow_deadlock, also, limits):
    result = Result()
    groups = asked(model, environment, names, overrule, allow_deadlock, also)
    for env, properties in groups.items():
        check_environment(model, env, semantics, properties, live, limits, result)
    if len(groups) == 1:
        result.states = next(iter(result.states_by_environment.values()), None)
    for (name, _), verdict in result.by_environment.items():
        result.properties[name] = verdict
    for env in groups:
        result.error = result.error or result.errors.get(env)
    return result


def asked(model, environment, names, overrule, allow_deadlock, also):
    """Environment -> list of properties. `deadlock` is among them, declared or built in, unless others are asked for.

    READING: `--deadlock allow` is about a declared property as well.
    """
    def is_asked(p):
        if names:
            return p.name in names
        if p.name in also:
            return True
        return not p.on_request and not (allow_deadlock and p.name == "deadlock")

    chosen = [p for p in model.properties + model.built_in if is_asked(p)]
    if environment is not None:
        mine = [p for p in chosen if environment in p.environments]
        return {environment: chosen if overrule or not mine else mine}
    groups = {}
    for p in chosen:
        for env in p.environments:
            groups.setdefault(env, []).append(p)
    return groups or {next(iter(model.environments)): []}


def make_system(model, environment, semantics, properties, live):
    from .rounds import RoundSystem
    names = initial_names(model, properties)
    if model.takes_steps:
        from .steps import StepSystem
        return StepSystem(model, environment, semantics or "m", names, live)
    if semantics == "fine":
        from .fine import FineSystem
        return FineSystem(model, environment, "fine", names, live, properties)
    return RoundSystem(model, environment, semantics or "coarse", names, live, properties)


def text_of(model, node):
    """A node and everything below it, with the bodies of the defs that it uses."""
    return model.text_of(node)


def initial_names(model, properties):
    """The names x of all initial(p.x) that properties read."""
    found = set()
    for p in properties:
        for node in text_of(model, p.expr):
            if node.kind == "call" and node.name == "initial":
                found.add(node.args[0].value.name)
    return frozenset(found)


def check_environment(model, env, semantics, properties, live, limits, result):
    asked = any(p.what != "live" and p.expr.kind != "until" for p in properties) or not properties
    if semantics == "fine":
        from .fine import FineSystem
        for p in [p for p in properties if p.what == "live" or not FineSystem.can_judge(model, env, p)]:
            result.by_environment[p.name, env] = ("inconclusive", None)
        properties = [p for p in properties if (p.name, env) not in result.by_environment]
    until = [p for p in properties if p.what == "safety" and p.expr.kind == "until"]
    plain = [p for p in properties if p.what != "live" and p not in until]
    if plain or asked:      # errors are looked for even where no property can be judged
        system = make_system(model, env, semantics, plain, False)
        record(result, env, search(system, model, plain, limits()), True)
    for p in until:
        system = make_system(model, env, semantics, [p], False)
        record(result, env, search(system, model, [p], limits()), False)
    for p in properties:
        if p.what == "live" and live:
            result.by_environment[p.name, env] = live_verdict(model, env, semantics, p, limits(), result)


def live_verdict(model, env, semantics, prop, limits, result):
    from .live import check_live
    try:
        return check_live(make_system(model, env, semantics, [prop], True), model, prop, limits)
    except TooLarge as problem:
        result.too_large = str(problem)
    except Unsupported as problem:
        result.unsupported.append(str(problem))
    return ("inconclusive", None)


def record(result, env, found, counts):
    for name, verdict in found.verdicts().items():
        result.by_environment[name, env] = verdict
    if counts:
        result.states_by_environment[env] = found.count if found.complete and found.countable else None
        result.depth = found.depth
    if found.error is not None and env not in result.errors:
        result.errors[env] = found.error
    result.complete = result.complete and found.complete
    result.too_large = result.too_large or found.too_large
    result.ended_early = result.ended_early or found.too_large is not None


class Judge:
    """A property in a search. `at` is the length of the shortest run that decides it, or None."""

    def __init__(self, prop, model):
        self.prop = prop
        self.at = None
        if prop.expr.kind == "until":
            self.before = model.compile_property(prop.expr.left)
            self.end = model.compile_property(prop.expr.right)
        else:
            self.code = model.compile_property(prop.expr, not prop.step)

    def look_at(self, world, depth):
        """Judge a state. True if the search need not go on from it."""
        if self.prop.expr.kind == "until":
            if self.end.run(world, {}):
                return True
            if not self.before.run(world, {}):
                self.at = depth
        elif not self.prop.step and self.code.run(world, {}) == (self.prop.what == "cover"):
            self.at = depth
        return False

    def look_at_step(self, world, depth):
        if self.prop.step and not self.code.run(world, {}):
            self.at = depth

    def verdict(self, complete):
        cover = self.prop.what == "cover"
        if self.at is not None:
            return ("holds" if cover else "violated", self.at)
        if not complete:
            return ("inconclusive", None)
        return ("violated" if cover else "holds", None)


class Search:
    def __init__(self, judges):
        self.judges = judges
        self.seen = set()
        self.count = 0
        self.error = None
        self.complete = True
        self.too_large = None
        self.countable = True
        self.depth = -1

    def verdicts(self):
        return {j.prop.name: j.verdict(self.complete) for j in self.judges}

    def found_error(self, error, depth):
        if self.error is None or depth < self.error[1]:
            self.error = (error.message, depth)

    def open(self, depth):
        """READING: properties are judged on all states of the layer in which they are decided, and not any more after
        that. It matters only where judging them is an error of the model."""
        return [j for j in self.judges if j.at in (None, depth)]


def search(system, model, properties, limits):
    """Search layer by layer. An error of the model ends the search after the layer in which it was found."""
    found = Search([Judge(p, model) for p in properties])
    found.countable = getattr(system, "countable", True)
    try:
        layer = first_layer(system, found, limits)
        found.depth = 0
        while layer and found.error is None:
            layer = next_layer(system, layer, found, limits)
            found.depth += 1
    except TooLarge as problem:
        found.too_large = str(problem)
    found.count = len(found.seen)
    found.seen = set()
    if found.error is not None or found.too_large or getattr(system, "cut_off", False):
        found.complete = False
    return found


def first_layer(system, found, limits):
    layer = []
    for step in system.initial():
        limits.count_step()
        if step.error is not None:
            found.found_error(step.error, 0)
        elif step.target not in found.seen:
            add(system, step.target, 0, found, limits, layer)
    return layer


def next_layer(system, layer, found, limits):
    new = []
    depth = found.depth + 1
    for state in layer:
        judged = set()
        limits.look_at_clock()
        for step in system.steps(state):
            limits.count_step()
            if step.error is not None:
                found.found_error(step.error, depth)
                continue
            if step.changed and step.target not in judged:
                judged.add(step.target)
                judge_step(system, state, step.target, depth, found)
            if step.target not in found.seen:
                add(system, step.target, depth, found, limits, new)
    return new


def add(system, state, depth, found, limits, layer):
    found.seen.add(state)
    limits.count_states(len(found.seen))
    ends = False
    world = system.world(state)
    for judge in found.open(depth):
        try:
            ends = judge.look_at(world, depth) or ends
        except ModelError as error:
            found.found_error(error, depth)
    if not ends:
        layer.append(state)


def judge_step(system, state, target, depth, found):
    judges = [j for j in found.open(depth) if j.prop.step]
    if not judges:
        return
    world = system.world(state, target)
    for judge in judges:
        try:
            judge.look_at_step(world, depth)
        except ModelError as error:
            found.found_error(error, depth)
