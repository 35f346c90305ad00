"""Tests of deadlocks, quiescence and messages in flight: small models whose answers are known by hand. selftest.py runs them."""

from . import traces
from .errors import SyntaxProblem, TypeProblem
from .explore import check
from .model import load

PHILOSOPHERS = """algorithm Philosophers
param n where n >= 2
param ordered = false
shared taken: [P] bool = [p in P: false]
process P[n] ring {
  def turned = ordered and next == P(1)
  def one = if turned then next else me
  def other = if turned then me else next
  step think when not taken[one] { taken[one] := true }
  step reach when not taken[other] { taken[other] := true }
  step eat { taken[me] := false  taken[next] := false  goto think }
}
safety deadlock in calm, crash: not deadlocked
safety still in calm, crash: not quiescent
environment calm {}
environment crash { at most 1 processes crash }"""


def verdicts(text, params=None, **how):
    """The verdicts on all properties, with `deadlock`."""
    found = check(text, params or {}, **how)
    assert found.error is None, found.error
    return found.properties


def deadlock(text, params=None, **how):
    return verdicts(text, params, properties=["deadlock"], **how)["deadlock"]


def same(found, expected):
    assert found == expected, (found, expected)


HOLDS = ("holds", None)


def in_all_semantics(text, expected, **how):
    """A verdict that is the same in all semantics; lengths are those of m."""
    same(deadlock(text, semantics="m", **how), expected)
    for semantics in ("m-mp", "mp"):
        same(deadlock(text, semantics=semantics, **how)[0], expected[0])


def test_philosophers():
    for n in (2, 3):
        same(deadlock(PHILOSOPHERS, {"n": n}, environment="calm"), ("violated", n))
        same(deadlock(PHILOSOPHERS, {"n": n, "ordered": True}, environment="calm"), HOLDS)
    # One that crashes at `eat` keeps its forks: the other one waits for ever.
    same(deadlock(PHILOSOPHERS, {"n": 2, "ordered": True}, environment="crash")[0], "violated")
    same(verdicts(PHILOSOPHERS, {"n": 2, "ordered": True}, environment="crash", properties=["still"])["still"][0], "violated")


def test_proper_ends():
    model = "algorithm A message go, stop process P[1] { %s } process Q[1] { final step rest on go { send go to P } }"
    for text, expected in [
            ("on go {} when false {}", HOLDS),                              # no places
            ("start {} on go {}", HOLDS),                                   # end
            ("start {} step s on go {}", ("violated", 1)),
            ("start {} final step s on go {}", HOLDS),
            ("step s on go {}", HOLDS),                                     # the first place, waits for messages
            ("step s on go {} or on k: 2 of stop {}", HOLDS),
            ("step s on go {} or when false {}", ("violated", 0)),
            ("step s when false {}", ("violated", 0)),
            ("step s {} step t on go {}", ("violated", 1)),                 # not the first place
            ("step s {} step t on go { goto t }", HOLDS),                   # leads nowhere else
            ("step s {} step t on go { halt }", HOLDS),
            ("step s {} step t on go { goto s }", ("violated", 1)),
            ("step s {} step t on go { if true { goto t } else { halt } }", HOLDS),
            ("step s {} step t on go { if true { goto t } }", ("violated", 1)),
            ("step s {} step t on go { if true { goto t } else if false { halt } else { goto t } }", HOLDS),
            ("step s {} step t on go { if true { goto t } else { goto s } }", ("violated", 1)),
            ("step s {} step t on go { if true { halt } goto t }", HOLDS),
            ("step s {} step t on go { goto t } or on stop {}", ("violated", 1)),
            ("step s {} step t on go { goto t } or when false { halt }", HOLDS),
            ("step s {} step t when false { goto t }", HOLDS),
            ("step s { halt } step t on go {}", HOLDS),                     # halted, and at t
            ("step s {} on go { goto s }", HOLDS)]:
        in_all_semantics(model % text, expected)


def test_room():
    text = """algorithm A message item
    process P[1] { %s { send item to Q } %s { send item to Q } }
    process Q[1] { %s }
    environment e { channels %s }"""
    takes, never = "on item {}", "on item if false {}"
    steps = ("step one", "step two")
    handlers = ("when true once", "when true once")
    in_all_semantics(text % (*steps, takes, "bag bound 1"), HOLDS)
    in_all_semantics(text % (*steps, never, "bag bound 2"), HOLDS)
    in_all_semantics(text % (*steps, never, "bag bound 1"), ("violated", 1))
    in_all_semantics(text % (*steps, never, "bag"), HOLDS)
    in_all_semantics(text % (*steps, never, "set bound 1"), HOLDS)              # absorbed
    in_all_semantics(text % (*handlers, never, "fifo bound 1"), ("violated", 1))    # handlers wait for room, too
    in_all_semantics(text % (*handlers, never, "fifo"), HOLDS)
    in_all_semantics("""algorithm A message item process P[1] { start { send item to Q  send item to Q } } process Q[1] { on item {} }
        environment e { channels fifo bound 1 }""", ("violated", 0))                # at start
    # Losses make room, but never have to happen.
    in_all_semantics(text % (*steps, never, "bag bound 1 any messages are lost"), ("violated", 1))
    # What an action takes makes room for what it sends.
    in_all_semantics("""algorithm A message item process P[1] { start { send item to me } step two on item { send item to me } }
        environment e { channels fifo bound 1 }""", HOLDS)
    # Messages to one that has halted take room for ever.
    in_all_semantics(text % (*steps, "start { halt } on item {}", "bag bound 1"), ("violated", 2))


CHAIN = """algorithm A message item(v: 0..1), ack
process P[1] { start { send item(1) to Q } step wait on ack {} }
process Q[1] { on item(v == 1) { send ack to P } }
environment calm {}
environment crash { at most 1 Q crash }
environment dies { at most 1 P crash }
environment recovers { channels set at most 1 Q crash and recover }
environment lossy { at most 1 messages are lost }
environment liars { at most 1 Q are byzantine }
environment both { at most 1 P are byzantine }"""


def test_faults():
    in_all_semantics(CHAIN, HOLDS, environment="calm")
    in_all_semantics(CHAIN, ("violated", 2), environment="crash")
    in_all_semantics(CHAIN, HOLDS, environment="dies")
    in_all_semantics(CHAIN, ("violated", 2), environment="recovers")        # recoveries never have to happen
    in_all_semantics(CHAIN, ("violated", 2), environment="lossy")
    in_all_semantics(CHAIN, ("violated", 1), environment="liars")           # nor has a liar to send
    in_all_semantics(CHAIN, HOLDS, environment="both")                      # P is Byzantine, and waits for nothing


def test_mp_and_errors():
    # Under mp, P is blocked once both messages are delivered. That is no deadlock.
    in_all_semantics("""algorithm A message x, y
        process P[1] { start {} step one on x {} step two on y {} }
        process Q[1] { start { send x to P  send y to P } }""", HOLDS)
    # FIFO: the oldest message blocks the other one.
    fifo = """algorithm A message x, y
        process P[1] { start {} step one on x {} step two on y {} }
        process Q[1] { start { send y to P  send x to P } }
        environment e { channels fifo }"""
    in_all_semantics(fifo, ("violated", 2))
    in_all_semantics(fifo.replace("fifo", "bag"), HOLDS)
    # An action that ends in an error can be taken.
    found = check("algorithm A process P[1] { var x: 0..1 = 0 step one when 1 / x == 1 {} }", {})
    same(found.properties["deadlock"], ("inconclusive", None))
    same(found.error[1], 1)
    text = "algorithm A process P[1] { var x: 0..1 = 0 start {} step one when x == 1 { x := x + 5 } when 1 / x == 1 {} } cover c: quiescent"
    same(check(text, {}).properties["c"], ("inconclusive", None))


def test_asked():
    text = "algorithm A shared x: bool = false process P[1] { step one when x {} } safety s in f: true %s environment e {} environment f {}"
    same(check(text % "", {}).by_environment, {("s", "f"): HOLDS, ("deadlock", "e"): ("violated", 0)})
    same(check(text % "", {}, allow_deadlock=True).by_environment, {("s", "f"): HOLDS})
    same(check(text % "", {}, properties=["s"]).by_environment, {("s", "f"): HOLDS})
    same(check(text % "", {}, environment="f", overrule=True).by_environment, {("s", "f"): HOLDS, ("deadlock", "f"): ("violated", 0)})
    same(check(text % "safety deadlock in f: not deadlocked", {}).by_environment, {("s", "f"): HOLDS, ("deadlock", "f"): ("violated", 0)})
    same(check(text % "safety deadlock on request: not deadlocked", {}).by_environment, {("s", "f"): HOLDS})
    same(deadlock(text % "safety deadlock on request: not deadlocked"), ("violated", 0))
    same(check(text % "cover deadlock: deadlocked", {}).by_environment, {("s", "f"): HOLDS, ("deadlock", "e"): ("holds", 0)})
    same(check(text % "safety deadlock: x or not x", {}).by_environment, {("s", "f"): HOLDS, ("deadlock", "e"): HOLDS})
    same(check("algorithm A process P[1] { round {} } safety s: true", {}).by_environment, {("s", "free"): HOLDS})


FLIGHT = """algorithm A message a(v: 0..1), b, c
process P[1] { start { send a(0) to Q  send a(0) to Q  send a(1) to me  send b to all  send c to Q }  on a {} }
process Q[2] { step one on b { halt }  step two on a {}  when false {} }
environment e {}
environment absorbs { channels set }
environment liars { at most 1 Q are byzantine }
environment narrow { channels bag bound 9 }
cover equal: |pending(a)| == 5
cover once: |pending(a)| == 3
cover two: |pending(b)| == 2
cover one: |pending(b)| == 1 and |pending(a)| == 3
cover three: |pending(b)| == 3
cover none_of_c: |pending(c)| > 0
cover senders: forall m in pending(a): sender(m) == P(1) and |pending(a)| > 0
cover mine: exists m in pending(a): receiver(m) == P(1) and sender(m) == receiver(m) and m.v == 1
cover others: exists m in pending(a): receiver(m) == P(1) and m.v == 0
cover sum: count(m in pending(a), k in pending(a): receiver(m) == receiver(k) and m.v == 0) == 8
cover top: (max(m.v for m in pending(a) if receiver(m) in Q) otherwise 1) == 0
cover set: {receiver(m) for m in pending(a)} == all
cover rest: quiescent and |pending(a)| == 4
cover stuck: deadlocked
safety moves: forall q in Q: at(q, one) or forall m in pending(b): receiver(m) != q"""


def test_pending():
    def held(environment):
        found = verdicts(FLIGHT, environment=environment, overrule=True)
        return {name for name, (verdict, _) in found.items() if verdict == "holds" and name != "deadlock"}

    same(held("e"), {"equal", "two", "senders", "mine", "sum", "top", "set", "rest", "moves"})
    same(held("narrow"), held("e"))
    same(held("absorbs") & {"equal", "once", "sum"}, {"once"})
    # Messages to Byzantine processes are never in flight, nor are their own.
    assert {"one", "mine", "two"} <= held("liars")


def test_pending_and_deliveries():
    text = """algorithm A message a process P[1] { start { send a to Q  send a to Q } }
        process Q[1] { step one on a {} step two {} step three on Q2: 2 of a {} }
        cover both: |pending(a)| == 2 and exists q in Q: at(q, one)
        cover left: quiescent and deadlocked and |pending(a)| == 1
        cover gone: |pending(a)| == 0 and exists p in P: at(p, end)
        safety moves: |pending(a)| == 1 => forall q in Q: not at(q, one)"""
    for semantics in ("m", "m-mp", "mp"):
        found = verdicts(text, semantics=semantics)
        same({name: verdict for name, (verdict, _) in found.items()},
             {"both": "holds", "left": "holds", "gone": "violated", "moves": "holds", "deadlock": "violated"})


def test_refused():
    model = "algorithm A message a process P[1] { %s } %s"
    for body, rest in [("on a {}", "safety s: step quiescent"), ("on a {}", "safety s: step |pending(a)| == 0"),
                       ("on a {}", "def d = quiescent safety s: d"), ("on a {}", "environment e { at most |pending(a)| processes crash }"), ("on a {}", "live l: eventually quiescent"),
                       ("on a {}", "def d = |pending(a)| == 0 live l: eventually d"), ("on a {}", "safety s: |pending(b)| == 0"),
                       ("on a {}", "safety s: receiver(P(1)) == P(1)"), ("when quiescent {}", ""), ("on m: a if receiver(m) == me {}", "")]:
        try:
            check(model % (body, rest), {})
        except (SyntaxProblem, TypeProblem):
            continue
        assert False, (body, rest)
    # In rounds these words are free.
    load("algorithm A def pending(i: int) = i process P[1] { var quiescent: bool = false round {} } safety s: forall p in P: not p.quiescent")


def test_trace():
    text = "algorithm A shared x: 0..2 = 0 process P[2] { final step one when x < 2 { x := x + 1 } step two when false {} }"

    def problem(*states, waiting=None):
        shown = [{"pending": [], "globals": {"x": sum(p == "two" for p in s)},
                  "processes": [{"process": "P(%d)" % (k + 1), "status": [], "at": p} for k, p in enumerate(s)]} for s in states]
        return traces.problem(text, {}, {"model": {"environment": "free", "semantics": "interleaving"}, "initial": shown[0], "error": None,
                                         "property": {"name": "deadlock", "waiting": waiting}, "steps": [{"state": s} for s in shown[1:]]})

    same(problem(("one", "one"), ("one", "two"), ("two", "two")), None)
    assert "not false" in problem(("one", "one"), ("one", "two"))
    waits = [{"process": "P(%d)" % k, "middle": True, "room": False} for k in (1, 2)]
    same(problem(("one", "one"), ("one", "two"), ("two", "two"), waiting=waits), None)
    assert "others" in problem(("one", "one"), ("one", "two"), ("two", "two"), waiting=waits[:1])


def tests():
    return [value for name, value in sorted(globals().items()) if name.startswith("test_")]
