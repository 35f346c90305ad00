"""Tests of the core: run with `python3 -m oracle.selftest` in the directory tests.

Every example of docs/language.md and every file of models is parsed, loaded with the parameters of its first `expect`
line, and compiled as far as the core goes. Then some examples are evaluated.
"""

import re
from pathlib import Path

from . import selftest_deadlock, traces
from . import types as T
from . import with_deep_stack
from .choices import explore
from .errors import ModelError, Rejected
from .expr import Scope
from .model import load
from .schedule import compile_schedule
from .statements import compile_block, run_block
from .syntax import walk
from .types import Proc
from .world import World

ROOT = Path(__file__).resolve().parent.parent.parent
TEMPORAL = {"always", "eventually", "until", "leadsto"}


def texts():
    """(name, text) of all examples and models that are algorithms."""
    page = (ROOT / "docs" / "language.md").read_text()
    found = re.findall(r"^```rondo (\S+)\n(.*?)^```", page, re.S | re.M)
    for path in sorted((ROOT / "models").rglob("*.rondo")):
        found.append((str(path.relative_to(ROOT)), path.read_text()))
    return [(name, text) for name, text in found if re.search(r"^algorithm\b", text, re.M)]


def defines_of(text):
    """The parameters of the first line `// expect:` that expects a verdict."""
    for line in re.findall(r"^// expect: (.*)$", text, re.M):
        if not line.startswith("error"):
            return {name: value_of(value) for name, value in re.findall(r"-D (\w+)=(\w+)", line)}
    return {}


def value_of(text):
    return text == "true" if text in ("true", "false") else int(text)


def check_file(name, text):
    defines = defines_of(text)
    try:
        model = load(text, defines)
    except Rejected:
        model = load(text, dict(defines, n=2))
    model.first_value_codes()
    for p in model.properties:
        if not any(node.kind in TEMPORAL for node in walk(p.expr)):
            model.compile_property(p.expr, p.what != "live" and not p.step)
    for clauses in model.environments.values():
        for clause in clauses:
            if clause.kind in ("every", "from_round"):
                model.compile_clause(clause.cond)
    if not model.takes_steps:
        compile_schedule(model)
    return model


def example(name):
    return dict(texts())[name]


class StateWorld(World):
    """A state of the example in which P has x = 2 and y = none."""

    def read(self, proc, name):
        return {"x": 2, "y": T.NONE}[name]

    def round_number(self):
        return 0


def test_constant_properties():
    model = load(example("expressions.rondo"))
    for p in model.properties:
        assert model.compile_property(p.expr).run(StateWorld(model), {}) is True, p.name


def test_initial_states():
    model = load(example("stores.rondo"), {"n": 2})
    found = [outcome.result for outcome in model.initial_states()]
    assert len(found) == 2 * 2 * 2, len(found)      # chief, who has which name, the rank of 2
    for shared, processes in found:
        first, second = processes[Proc("P", 1)], processes[Proc("P", 2)]
        assert first["name"] != second["name"] and first["rank"] <= first["name"] and second["id"] == 2
        assert shared["chief"] in processes
    model = load(example("herlihy.rondo"), {"n": 2})
    assert len(list(model.initial_states())) == 4


def update_outcomes(text, received):
    """The values of x after an update, over all choices; messages of errors among them."""
    model = load("algorithm A process P[3] { input x: 0..9  round { send x to all  update { %s } } }" % text)
    role = model.roles["P"]
    block = compile_block(role.node.parts[0].update, Scope(model, role, received=T.Num(0, 9)))

    def run(chooser):
        world = World(model, me=role.members[0], vars={"x": 0}, chooser=chooser)
        world.received = [(role.member(k), m) for k, m in enumerate(received, 1)]
        run_block(block, world, {})
        return world.vars["x"]

    found = set()
    for outcome in explore(run):
        found.add(outcome.error.message if outcome.error else outcome.result)
    return found


def test_statements():
    same = lambda text, received, expected: _same(update_outcomes(text, received), expected)
    same("x := pick(received)", [1, 2, 2], {1, 2})
    same("x := min(received)", [], {"'min' of nothing"})
    same("x := min(received) otherwise 7", [], {7})
    same("foreach m in received { x := m }", [1, 2, 3], {1, 2, 3})
    same("foreach m in received { x := x * 2 + m }", [0, 1], {1, 2})
    same("if exists m in received: m > 1 { x := m }", [1, 2, 3], {2, 3})
    same("if x == 0 and exists m in received, v in 5..6: m > 2 { x := v }", [1, 3, 3], {5, 6})
    same("x := 1 halt x := 2", [], {1})
    same("x := 5 + 5", [], {"value '10' is outside 0..9"})
    same("x := count(m in received: m == 2)", [2, 2, 1], {2})
    same("if exists m in received: m == 4 { x := number(sender(m)) }", [4, 5, 4], {1, 3})
    same("x := from(P(2)) otherwise 9", [4, 5], {5})
    same("let a = [i in 0..2: i * i]  x := a[x + 2]", [], {4})
    same("let a = [i in 0..2: i * i]  x := a[x + 3]", [], {"value '3' is outside 0..2"})
    same("x := 1 / x", [], {"division by zero"})
    same("x := random(1..2) + pick(3..4)", [], {4, 5, 6})


def _same(found, expected):
    assert found == expected, (found, expected)


def test_nested_options():
    model = load("""algorithm A process P[1] {
        var o: bool? = none
        var a: bool?? = none
        var b: bool?? = o
        var c: (x: bool?, y: set of bool?) = (none, {none, true})
        round {} }""")
    (outcome,) = model.initial_states()
    own = outcome.result[1][Proc("P", 1)]
    assert own["a"] == () and own["b"] == ((),)
    assert own["c"] == (("x", ()), ("y", frozenset([(), (True,)])))


def test_recursion():
    model = load("algorithm A def f(i: int): int = if i == 0 then 0 else 1 + f(i - 1) "
                 "process P[1] { round {} } safety a: f(1000) == 1000 safety b: f(3000) == 3000")
    good, bad = model.properties
    assert model.compile_property(good.expr).run(World(model), {})
    try:
        model.compile_property(bad.expr).run(World(model), {})
        assert False
    except ModelError as error:
        assert error.message == "'f' calls itself without end"


def test_traces():
    text = """algorithm A process P[1] { var x: 0..3 = 0 round { update { x := pick({x, x + 1}) } } }
        environment e {}
        safety small: forall p in P: p.x < 2
        safety calm: (forall p in P: p.x < 2) until exists p in P: p.x == 1
        safety up: step forall p in P: p.x' > p.x
        cover two: exists p in P: p.x == 2"""

    def problem(name, *xs, error=None):
        states = [x if x is None else {"globals": {}, "processes": [{"process": "P(1)", "status": [], "variables": {"x": x}}]} for x in xs]
        return traces.problem(text, {}, {"model": {"environment": "e", "semantics": "coarse"}, "initial": states[0], "error": error,
                                         "property": name and {"name": name}, "rounds": [{"state": s} for s in states[1:]]})

    assert problem("small", 0, 1, 2) is None and problem("two", 0, 1, 1, 2) is None and problem("up", 0, 1, 1) is None
    assert "initial" in problem("small", 1, 2) and "no state like that" in problem("small", 0, 2)
    assert "not false" in problem("small", 0, 1) and "not true" in problem("two", 0, 1) and "not false" in problem("up", 0, 0, 1)
    assert "'until'" in problem("calm", 0, 1, 2)
    assert problem(None, 0, 1, 2, 3, None, error={"message": "x"}) is None and "error" in problem(None, 0, 1, None, error={"message": "x"})


def run_tests():
    files = texts()
    for name, text in files:
        try:
            check_file(name, text)
        except Exception as error:
            print("%s: %s: %s" % (name, type(error).__name__, error))
            raise
    tests = [value for name, value in globals().items() if name.startswith("test_")] + selftest_deadlock.tests()
    for test in tests:
        test()
    print("oracle core: %d files, %d tests" % (len(files), len(tests)))


if __name__ == "__main__":
    with_deep_stack(run_tests)
