"""Replays the runs that rondo shows on the oracle's transition relation.

`problem(text, params, trace)` is None if the trace (docs/json.md) is a run of the model and shows what it says, else what is
wrong with it. Only the states of a trace are read, not the choices: each must be a successor of the one before. Several states
of the oracle may look the same in a trace, so all of them are kept. The end must show the property: of a safety property a state
(or step) in which it is false and, with `until`, no earlier state in which it is over; of a cover a state in which it is true; of an error an error.
Of a deadlock the processes that wait in the middle of something must be those that the trace names.
Of a live property the steps are replayed, and the loop must close; that it violates the property is not checked.
"""

from collections import Counter

from . import with_deep_stack
from .errors import ModelError
from .explore import Limits, make_system
from .model import load
from .system import Unsupported

MAX_STEPS = 60000
MAX_SECONDS = 4


def problem(text, params, trace):
    """Raises TooLarge and Unsupported."""
    return with_deep_stack(lambda: Replay(load(text, params), trace).run())


# ---- values ----

def value_of(value, t):
    """A value of the oracle, as plain() makes it of the JSON of a trace."""
    if t.kind == "enum":
        return value.name
    if t.kind == "ident":
        return name_of(value)
    if t.kind == "option":
        if not value:
            return None
        inner = value_of(value[0], t.elem)
        return (("some", inner),) if t.elem.kind == "option" else inner
    if t.kind == "set":
        return frozenset(value_of(v, t.elem) for v in value)
    if t.kind == "record":
        return tuple(sorted((name, value_of(v, f)) for (name, v), (_, f) in zip(value, t.fields)))
    if t.kind == "array":
        return tuple(value_of(v, t.elem) for _, v in value)
    if t.kind == "seq":
        return tuple(value_of(v, t.elem) for v in value)
    return value


def plain(j):
    if isinstance(j, list):
        return tuple(plain(v) for v in j)
    if isinstance(j, dict):
        if list(j) == ["set"] and isinstance(j["set"], list):
            return frozenset(plain(v) for v in j["set"])
        return tuple(sorted((name, plain(v)) for name, v in j.items()))
    return j


def name_of(proc):
    return "%s(%d)" % proc


# ---- states ----

STATUSES = ("byzantine", "crashed", "halted", "omits_send", "omits_receive")


def process_in_trace(p, stores):
    """Oracles are left out: what the environment chose is not kept by both in the same way."""
    variables = tuple(plain(p["variables"][s.name]) for s in stores) if p.get("variables") and "byzantine" not in p["status"] else None
    return frozenset(w for w in p["status"] if w in STATUSES), variables if stores else None, p.get("at")


class Replay:
    def __init__(self, model, trace):
        self.model, self.trace = model, trace
        self.procs = {name_of(p): p for p in model.procs}
        self.semantics = trace["model"]["semantics"]
        self.property = None
        if trace["property"] is not None:
            self.property = model.property_named(trace["property"]["name"])
        self.properties = [self.property] if self.property else []
        self.environment = trace["model"]["environment"]
        # Evaluating any of its properties may be the error.
        read = self.properties or [p for p in model.properties if p.what != "live"]
        self.system = make_system(model, self.environment, self.semantics, read, False)
        if self.semantics == "fine":
            if not all(self.system.can_judge(model, self.environment, p) for p in self.properties):
                raise Unsupported("a property that is about whole rounds")
            self.system.max_distance = len(trace["rounds"]) + 1
        self.limits = Limits(MAX_STEPS, MAX_STEPS, MAX_SECONDS)
        self.read = read

    def stores(self, proc):
        return self.model.roles[proc.role].stores

    # What a trace shows of a state: its globals, then for each process its status, variables and place; pending messages.

    def shown(self, j):
        """None: the step to it is an error."""
        if j is None:
            return None
        globals_ = tuple(plain(j["globals"][s.name]) for s in self.model.file_stores)
        rows = tuple(process_in_trace(p, self.stores(proc)) for p, proc in zip(j["processes"], self.model.procs))
        pending = None
        if "pending" in j:
            gone = {p["process"] for p in j["processes"] if "byzantine" in p["status"]}
            pending = Counter((m["from"], m["to"], m["kind"], plain(m["message"])) for m in j["pending"]
                              if m["to"] not in gone and self.system.matters(self.procs[m["from"]], self.procs[m["to"]]))
        return globals_, rows, pending

    def look(self, state):
        globals_ = tuple(value_of(v, s.type) for v, s in zip(state.shared, self.model.file_stores))
        if not self.model.takes_steps:
            rows = [(rows[0].status, rows[0].values) for rows in state.rows] if self.semantics == "fine" else zip(state.status, state.values)
            return globals_, tuple(self.row(p, frozenset(status), values, None) for p, (status, values) in zip(self.model.procs, rows)), None
        rows, byzantine = [], set()
        for p, process in zip(self.model.procs, state.processes):
            if process is None:
                byzantine.add(p)
                rows.append((frozenset({"byzantine"}), None, None))
            else:
                status = frozenset() if process.status == "up" else frozenset({process.status})
                rows.append(self.row(p, status, process.values, process.place))
        pending = Counter((name_of(a), name_of(b), kind, value_of(content, self.model.messages[kind]))
                          for (a, b), entries in state.channels for (kind, content), _ in entries if b not in byzantine)
        return globals_, tuple(rows), pending

    def row(self, p, status, values, place):
        stores = self.stores(p)
        variables = None if values is None or not stores else tuple(value_of(v, s.type) for v, s in zip(values, stores))
        return status, variables, place

    def expected(self):
        """What the trace shows of each state, the first one included; None for an error."""
        start = self.shown(self.trace["initial"])
        yield start
        if self.semantics == "fine":
            after = [self.shown(r["state"]) for r in self.trace["rounds"]]
            rows = list(start[1])
            for e in self.trace["order"]:
                state = after[e["round"] - 1]
                if state is None:
                    yield None
                    continue
                k = self.system.index[self.procs[e["process"]]]
                rows[k] = state[1][k]
                yield start[0], tuple(rows), None
        else:
            for step in self.trace["steps" if self.model.takes_steps else "rounds"]:
                yield self.shown(step["state"])

    def same(self, state, wanted):
        seen = self.look(state)
        if seen[0] != wanted[0] or seen[2] != wanted[2]:
            return False
        return all(a[:2] == b[:2] and (a[2] is None or b[2] is None or a[2] == b[2]) for a, b in zip(seen[1], wanted[1]))

    # ---- the run ----

    def run(self):
        pairs = None                # (state before or None, state): where the run may be
        for number, wanted in enumerate(self.expected()):
            going = None if pairs is None else {last for _, last in pairs if not self.is_over(last)}
            if going is not None and not going:
                return f"what it holds 'until' is reached after {number - 1} steps, before the end"
            if wanted is None:
                return None if self.trace["error"] and self.has_error(going) else f"step {number} cannot end in an error"
            pairs = set()
            for before, step in self.successors(going):
                self.limits.count_step()
                if step.target is not None and (before, step.target) not in pairs and self.same(step.target, wanted):
                    pairs.add((before, step.target))
            if not pairs:
                return f"no state like that after {number} steps" if number else "no such initial state"
        return self.end(pairs)

    def successors(self, states):
        if states is None:
            for step in self.system.initial():
                yield None, step
            return
        for state in states:
            for step in self.system.steps(state):
                yield state, step

    def has_error(self, states):
        for _, step in self.successors(states):
            self.limits.count_step()
            if step.error is not None:
                return True
        return False

    # ---- the property ----

    def is_over(self, state):
        p = self.property
        if p is None or p.what != "safety" or p.expr.kind != "until" or self.trace["error"]:
            return False
        return bool(self.value(p.expr.right, state))

    def value(self, node, state, after=None):
        """True, False, or None: an error."""
        try:
            return bool(self.model.compile_property(node, after is None).run(self.system.world(state, after), {}))
        except ModelError:
            return None

    def verdict(self, p, before, state):
        if p.step:
            return True if before is None else self.value(p.expr, before, state)
        if p.expr.kind != "until":
            return self.value(p.expr, state)
        end = self.value(p.expr.right, state)
        return self.value(p.expr.left, state) if end is False else end

    def loop(self, pairs):
        """The last state is that in which the loop begins, or nothing can happen in it any more. Messages may accumulate."""
        states = list(self.expected())
        if self.trace["loop"] == len(states) - 1:
            return None if any(self.system.is_final(last) for _, last in pairs) else "something can still happen at its end"
        stores = self.model.file_stores + [s for role in self.model.roles.values() for s in role.stores]
        if any("kind='round'" in repr(s.type) for s in stores):     # these grow from loop to loop
            return None
        return None if states[self.trace["loop"]][:2] == states[-1][:2] else "its loop does not close"

    def waits_as_shown(self, state):
        """Whether the processes that are said to wait in the middle of something do, and no others."""
        shown = {w["process"] for w in self.trace["property"]["waiting"] if w["middle"] or w["room"]}
        return {name_of(p) for p in self.system.waiting(state)} == shown

    def end(self, pairs):
        if self.trace["error"]:
            found = any(self.verdict(p, *pair) is None for p in self.read for pair in pairs)
            return None if found else "its end has no error"
        if self.property is None or self.property.what == "live":
            return self.loop(pairs) if "loop" in self.trace else None
        wanted = self.property.what == "cover"
        if self.trace["property"].get("waiting"):
            pairs = {pair for pair in pairs if self.waits_as_shown(pair[1])}
            if not pairs:
                return "the processes that wait in the middle of something are others than it says"
        if any(self.verdict(self.property, *pair) is wanted for pair in pairs):
            return None
        return f"'{self.property.name}' is not {'true' if wanted else 'false'} at its end"
