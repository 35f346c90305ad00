"""Models of messages and shared memory on the command line: semantics, compare, traces of steps and their replay."""
import copy
import json
import os
import random
import signal
import subprocess

from harness import ROOT, must, signals, test

ELECTION = """algorithm Election
param voters = 3 where voters >= 1
message ask, vote
process Candidate[2] {
  var leader: bool = false
  start { send ask to Voter }
  on Q: voters / 2 + 1 of vote once { leader := true }
}
process Voter[voters] {
  on ask from c { send vote to c }
}
environment calm {}
environment other { channels fifo }
safety one_leader: forall p, q in Candidate: p.leader and q.leader => p == q
cover elected: exists p in Candidate: p.leader
safety nobody on request: forall p in Candidate: not p.leader
"""
ONCE = ELECTION.replace("  on ask from c { send vote to c }", """  var voted: bool = false
  on ask from c if not voted {
    voted := true
    send vote to c
  }""")
CRASH = ONCE.replace("calm {}", "calm { at most 1 Voter crash and recover }")
TORN = """algorithm Torn
param n where n >= 1
type Value = 1..2
shared register: Value? = none
process P[n] {
  input x: Value
  var free: bool = false
  var decided: Value? = none
  step look { free := register == none }
  step swap { if free { register := x } }
  step decide { decided := register otherwise x }
}
safety agreement: forall p, q in P, v in p.decided, w in q.decided: v == w
safety irrevocable: step forall p in P: p.decided != none => p.decided' == p.decided
safety first: forall p in P: at(p, end) => register == 1
"""
SAFE = TORN.replace("swap { if free {", "swap { if free and register == none {")
TOKEN = """algorithm Token
param n = 3 where n >= 2
message token(hop: 1..n)
process P[n] ring {
  var seen: 0..n = 0
  start { if number(me) == 1 { send token(1) to next } }
  on token(hop) { seen := seen + 1  send token(hop + 1) to next }
}
environment calm {}
environment doubling { at most 1 messages are duplicated }
safety few in calm, doubling: forall p in P: p.seen <= 1
"""
LIARS = """algorithm Liars
message says(v: 1..2)
process P[3] {
  input x: 1..2
  var got: 1..2? = none
  start { send says(x) to others }
  on m: says if got == none { got := m.v }
}
environment traitor { at most 1 processes are byzantine }
safety honest: forall p in correct, v in p.got: exists q in correct: v == initial(q.x)
"""
ORDER = """algorithm Order
message item(k: 1..2)
process A[1] { start { send item(1) to B  send item(2) to B } }
process B[1] { var first: 1..2? = none  on item(k) if first == none { first := k } }
environment lossy { channels fifo; at most 1 messages are lost }
safety in_order: forall b in B: b.first != 2
"""
EVENTS = {"action", "deliver", "lose", "crash", "recover"}


def checked(rondo, text, *arguments, status=1, name="model.rondo"):
    """The answer of check, as JSON."""
    return rondo.json("check", rondo.file(name, text), *arguments, status=status)


def trace_of(answer, name):
    return next(p["trace"] for p in answer["properties"] if p["name"] == name)


# --- what comes out ---

@test
def steps_have_the_json_that_the_document_says(rondo):
    answer = checked(rondo, ELECTION)
    must(answer["model"]["semantics"] == "m" and answer["model"]["params"] == {"voters": 3}, answer["model"])
    names = [r["name"] for r in answer["reductions"]]
    must("partial-order" in names and "loss" in names and "merging" not in names and "round-rank" not in names, names)
    must(answer["stats"]["heard_of_assignments"] is None, answer["stats"])
    trace = trace_of(answer, "one_leader")
    must(list(trace) == ["schema", "model", "property", "error", "initial", "steps"], list(trace))
    must(trace["initial"]["pending"] == [] and trace["initial"]["processes"][0]["at"] == "start", trace["initial"])
    must(len(trace["steps"]) == 8, len(trace["steps"]))
    for number, step in enumerate(trace["steps"], 1):
        must(list(step) == ["step", "event", "process", "action", "name", "line", "taken", "choices", "out", "sent", "changes",
                            "state"], list(step))
        must(step["step"] == number and step["event"] in EVENTS, step)
        for taken in step["taken"]:
            must(list(taken) == ["from", "kind", "message", "text", "place", "forged", "kept"], list(taken))
        for packet in step["state"]["pending"]:
            must(set(packet) == {"from", "to", "kind", "message", "text", "place"}, packet)
    last = trace["steps"][-1]
    must(last["changes"][0]["text"] == "leader false -> true" and last["changes"][0]["line"] == 7, last["changes"])
    must({t["kind"] for t in last["taken"]} == {"vote"} and len(last["taken"]) == 2, last["taken"])


@test
def steps_are_told_in_words(rondo):
    said = rondo("check", rondo.file("e.rondo", ELECTION), status=1).stdout
    for words in ("semantics m", "after 8 steps (shortest)", "1-2.    every Candidate starts  (line 6)", "sends ask to every Voter",
                  " take ask from Candidate(1)  (line 10)", "send vote to Candidate(1)", " vote from Voter(",
                  "leader false -> true", "still in flight", ": ask from ", "now one_leader fails"):
        must(words in said, f"{words!r} in\n{said}")
    must("\033" not in said and max(map(len, said.splitlines())) <= 110, "plain, and not too wide")
    must("round" not in said, "no word of rounds")
    said = rondo("check", rondo.file("t.rondo", TORN), "-D", "n=2", status=1).stdout
    for words in ("does look  (line 9)", "shared register none -> ", "goes to swap", "goes to end", "every run, n = 2"):
        must(words in said, f"{words!r} in\n{said}")
    must("semantics" not in said, "there is only one")


@test
def faults_are_told(rondo):
    said = rondo("check", rondo.file("c.rondo", CRASH), status=1).stdout
    for words in ("1 faulty process", "crashes while it takes ask from Candidate", "only vote to Candidate", "gets out", "recovers"):
        must(words in said, f"{words!r} in\n{said}")
    said = rondo("check", rondo.file("l.rondo", LIARS), status=1).stdout
    must("Byzantine" in said and " made up by P(" in said, said)
    said = rondo("check", rondo.file("o.rondo", ORDER), "--reduce", "none", status=1).stdout
    must("item(k: 1) from A(1) to B(1) is lost" in said and "1 lost message" in said, said)
    said = rondo("check", rondo.file("d.rondo", TOKEN), "--env", "doubling", "--property", "few", status=1).stdout
    must("(a copy stays)" in said and "1 duplicated message" in said, said)
    said = rondo("check", rondo.file("m.rondo", ELECTION), "--semantics", "m-mp", status=1).stdout
    must("ask from Candidate(1) reaches " in said and "(delivered)" in said and "(in transit)" in said, said)


@test
def verbose_steps_show_whole_states(rondo):
    said = rondo("check", rondo.file("t.rondo", TORN), "-D", "n=2", "-v", status=1).stdout
    must("register" in said and "state   " in said and "free = true, decided = none, at swap" in said, said)
    must("holds: reached" in rondo("check", rondo.file("e.rondo", ELECTION), "-v", status=1).stdout, "covers are told, too")


@test
def errors_of_steps_have_a_trace(rondo):
    answer = checked(rondo, TOKEN)
    error = next(p for p in answer["properties"] if p["name"] == "no_error")
    must(error["kind"] == "error" and "(shortest): value" in error["proved"], error)
    must(error["trace"]["error"]["line"] == 7 and error["trace"]["steps"][-1]["state"] is None, error["trace"]["error"])
    path = rondo.file("error.json", json.dumps(error["trace"]))
    rondo("replay", path, status=1, says="still ends in an error")


@test
def many_alike_are_told_briefly(rondo):
    said = rondo("check", rondo.file("e.rondo", ELECTION), "-D", "voters=7", status=1).stdout
    story = said[said.index("\nsteps\n"):said.index("still in flight")]
    must(len(story.splitlines()) <= 14, story)


# --- semantics ---

@test
def every_semantics_has_the_same_verdicts(rondo):
    for text in (ELECTION, ONCE, LIARS, ORDER):
        verdicts, states = set(), {}
        for semantics in ("m", "m-mp", "mp"):
            answer = rondo.json("check", rondo.file("s.rondo", text), "--semantics", semantics)
            must(answer["model"]["semantics"] == semantics, answer["model"])
            verdicts.add(tuple(p["verdict"] for p in answer["properties"]))
            states[semantics] = answer["stats"]["states"]
        must(len(verdicts) == 1 and states["m"] < states["m-mp"], (verdicts, states))


@test
def semantics_must_fit(rondo):
    election, torn = rondo.file("e.rondo", ELECTION), rondo.file("t.rondo", TORN)
    rounds = "models/one_third_rule.rondo"
    rondo("check", election, "--semantics", "coarse", status=3, says="it has 'm', 'm-mp' and 'mp'")
    rondo("check", election, "--semantics", "interleaving", status=3, says="is not for it")
    rondo("check", election, "--semantics", "mmp", status=3, says="unknown semantics 'mmp'")
    rondo("check", election, "--semantics", "interleavin", status=3, says="did you mean 'interleaving'")
    rondo("check", election, "--semantics", status=3, says="needs NAME")
    rondo("check", torn, "-D", "n=2", "--semantics", "m", status=3, says="it has only 'interleaving'")
    rondo("check", torn, "-D", "n=2", "--semantics", "interleaving", status=1)
    rondo("check", rounds, "-D", "n=2", "--semantics", "mp", status=3, says="it has 'coarse' and 'fine'")
    rondo("check", rounds, "-D", "n=2", "--semantics", "coarse", status=0)
    rondo("run", election, "--semantics", "coarse", status=3, says="is not for it")
    rondo("lint", torn, "-D", "n=2", "--semantics", "mp", status=3, says="is not for it")
    rondo("compare", election, "--semantics", "m", status=3, says="does not belong to 'compare'")


@test
def compare_puts_them_side_by_side(rondo):
    path = rondo.file("once.rondo", ONCE)
    said = rondo("compare", path, status=0, says="the verdicts agree").stdout
    rows = [line.split() for line in said.splitlines() if line.startswith("  m")]
    must([row[0] for row in rows] == ["m", "m-mp", "mp"] and rows[0][-3] == "1.0" and rows[0][-1] == "holds", rows)
    answer = rondo.json("compare", path, status=0)
    must(list(answer) == ["schema", "verdict", "agrees", "why", "model", "environments", "diagnostics"], list(answer))
    must(answer["schema"] == "rondo-compare/1" and answer["agrees"] is True and answer["verdict"] == "holds", answer["verdict"])
    rows = answer["environments"][0]["semantics"]
    for row in rows:
        must(list(row) == ["semantics", "max_distance", "complete", "stats", "ratio", "properties", "reductions"], list(row))
        must(row["complete"] and row["stats"]["transitions"] > 0, row["stats"])
        applied = {r["name"] for r in row["reductions"] if r["applied"]}
        must("partial-order" not in applied and "message-order" in applied, applied)
    must(rows[0]["ratio"] == 1.0 and rows[1]["ratio"] == rows[1]["stats"]["states"] / rows[0]["stats"]["states"], "ratio")
    rows = rondo.json("compare", path, "--reduce", "partial-order,symmetry", status=0)["environments"][0]["semantics"]
    must({r["name"] for r in rows[0]["reductions"] if r["applied"]} == {"partial-order", "symmetry"}, rows[0]["reductions"])
    must(rondo.json("compare", rondo.file("e.rondo", ELECTION), status=1)["verdict"] == "violated", "violated everywhere")
    must("partial-order" in rondo("compare", "--help", status=0).stdout, "the help says what is left out")


@test
def compare_knows_its_limits(rondo):
    path = rondo.file("once.rondo", ONCE)
    small = rondo.json("compare", path, "--property", "one_leader", status=0)["environments"][0]["semantics"][0]["stats"]["states"]
    answer = rondo.json("compare", path, "--property", "one_leader", "--max-states", small, status=2)
    rows = answer["environments"][0]["semantics"]
    must(answer["agrees"] and [row["complete"] for row in rows] == [True, False, False], [row["complete"] for row in rows])
    must([row["properties"][0]["verdict"] for row in rows] == ["holds", "inconclusive", "inconclusive"], rows)
    said = rondo("compare", path, "--property", "one_leader", "--max-states", small, status=2).stdout
    must("as far as the limits let them come" in said and ">" in said, said)
    rondo("compare", path, "-D", "voters=2..3", status=3, says="one instance at a time: 'voters' has a range")
    rondo("compare", path, "-D", "voter=3", status=3, says="voter")
    rondo("compare", status=3, says="no file")
    rondo("compare", rondo.file("t.rondo", SAFE), "-D", "n=2", "--property", "agreement", status=0, says="interleaving is the only semantics")
    rondo("compare", "models/one_third_rule.rondo", "-D", "n=2", status=0, says="the verdicts agree")


@test
def lint_licenses_semantics(rondo):
    path = rondo.file("e.rondo", ELECTION)
    said = rondo("lint", path, status=0).stdout
    must("semantics m    granted" in said and "partial-order  granted" in said and "merging" not in said, said)
    must("semantics mp   granted" in rondo("lint", path, "--semantics", "mp", status=0).stdout, "the one that was asked for")
    answer = rondo.json("lint", path, status=0)["questions"][0]
    must(answer["semantics"]["name"] == "m" and answer["semantics"]["granted"] and answer["semantics"]["line"] is None, answer)
    must("nobody" not in answer["properties"], answer["properties"])
    must("semantics" not in rondo("lint", rondo.file("t.rondo", TORN), status=0).stdout, "shared memory has one only")


@test
def properties_on_request_wait_to_be_asked(rondo):
    path = rondo.file("once.rondo", ONCE)
    names = [p["name"] for p in rondo.json("check", path, status=0)["properties"]]
    must(names == ["one_leader", "elected"], names)
    rondo("check", path, "--property", "nobody", status=1, says="nobody")
    must("nobody" not in rondo("run", path, "--seed", 1, status=0).stdout, "nor are they looked at in a run")


@test
def lengths_are_steps(rondo):
    path = rondo.file("e.rondo", ELECTION)
    answer = rondo.json("check", path, "--property", "one_leader", "--max-steps", 3, status=2)
    must(answer["properties"][0]["proved"] == "no violation up to 3 steps", answer["properties"][0]["proved"])
    rondo("check", path, "--property", "one_leader", "--max-steps", 8, status=1)
    for reduce, says in (("none", "no violation within 1 step; the limit of 3 states"), ("partial-order", "no violation found so far; the limit of 3")):
        rondo("check", path, "--property", "one_leader", "--reduce", reduce, "--max-states", 3, status=2, says=says)
    rondo("check", path, "--property", "one_leader", "--reduce", "partial-order", "--max-steps", 3, status=2, says="that partial-order keeps")
    endless = ONCE.replace("start { send ask to Voter }", "when true { send ask to Voter }")
    said = rondo("check", rondo.file("endless.rondo", endless), "--property", "one_leader", "--reduce", "none",
                 "--max-time", "2s", "--max-memory", "500M", status=2).stdout
    must("steps; the limit of" in said, said)


# --- shortest and minimal ---

def partial_order(answer):
    return next(r for r in answer["runs"][0]["reductions"] if r["name"] == "partial-order")


@test
def partial_order_is_used_where_it_pays(rondo):
    """Trials decide, by their numbers of states."""
    asked = ["check", "models/bakery.rondo", "-D", "n=3", "-D", "most=2", "--property", "mutual_exclusion"]
    by_default = rondo.json(*asked)
    must(partial_order(by_default)["granted"] and not partial_order(by_default)["applied"], partial_order(by_default))
    must("too few states" in partial_order(by_default)["reason"], partial_order(by_default))
    must(by_default["stats"]["transitions"], "it leaves out no transitions")
    must(rondo.json(*asked, "--threads", "1")["stats"]["states"] == by_default["stats"]["states"], "states by threads")
    named = rondo.json(*asked, "--reduce", "partial-order,dead-variables")
    must(partial_order(named)["applied"], "it was asked for by name")
    must(named["stats"]["states"] == by_default["stats"]["states"], "it leaves out nothing here")
    pays = rondo.json("check", "models/herlihy.rondo", "-D", "n=9", "--property", "agreement", "--property", "validity")
    must(partial_order(pays)["applied"], partial_order(pays))
    tiny = rondo.json("check", "models/token_ring.rondo", "-D", "n=5", "--property", "exclusion")
    must(partial_order(tiny)["applied"], "the first trial is the answer")
    small = rondo.json("check", "models/bakery.rondo", "-D", "n=2", "--property", "mutual_exclusion")
    must(not partial_order(small)["applied"] and "too few states" in partial_order(small)["reason"], "small searches are not worth more trials")


@test
def counterexamples_are_the_shortest(rondo):
    for text, property_, arguments in ((ELECTION, "one_leader", []), (CRASH, "one_leader", []), (TORN, "agreement", ["-D", "n=3"]),
                                       (TORN, "first", ["-D", "n=2"]), (LIARS, "honest", [])):
        lengths = set()
        for reduce in ("auto", "none", "partial-order"):
            answer = checked(rondo, text, "--property", property_, "--reduce", reduce, *arguments)
            must("(shortest)" in answer["properties"][0]["proved"], answer["properties"][0]["proved"])
            lengths.add(len(answer["properties"][0]["trace"]["steps"]))
        must(len(lengths) == 1, f"{property_}: {lengths}")


@test
def nothing_can_be_left_out(rondo):
    for text, property_, arguments in ((ELECTION, "one_leader", []), (CRASH, "one_leader", []), (TORN, "agreement", ["-D", "n=3"]),
                                       (ORDER, "in_order", ["--reduce", "none"])):
        for semantics in ("m", "mp") if "message" in text else ("interleaving",):
            trace = trace_of(checked(rondo, text, "--property", property_, "--semantics", semantics, *arguments), property_)
            for i in range(len(trace["steps"])):
                less = copy.deepcopy(trace)
                del less["steps"][i]
                done = rondo("replay", rondo.file("less.json", json.dumps(less)))
                must(done.returncode in (0, 3), f"{property_}: step {i + 1} is not needed\n{done.stdout}")


@test
def the_story_stays_with_a_process(rondo):
    trace = trace_of(checked(rondo, TORN, "--property", "agreement", "-D", "n=2"), "agreement")
    names = [step["process"] for step in trace["steps"]]
    must(sum(a != b for a, b in zip(names, names[1:])) <= 3, names)


# --- traces again ---

@test
def traces_of_steps_are_confirmed(rondo):
    for text, property_, arguments in ((ELECTION, "one_leader", []), (CRASH, "one_leader", []), (LIARS, "honest", []),
                                       (TORN, "agreement", ["-D", "n=2"]), (ORDER, "in_order", ["--reduce", "none"]),
                                       (ELECTION, "elected", ["--property", "elected"])):
        for semantics in ("m", "m-mp", "mp") if "message" in text else ("interleaving",):
            good = property_ == "elected"
            answer = checked(rondo, text, "--semantics", semantics, *arguments, status=0 if good else 1)
            path = rondo.file("answer.json", json.dumps(answer))
            rondo("replay", path, "--property", property_, status=0 if good else 1,
                  says="still reaches" if good else "still violates")


@test
def repaired_steps_no_longer_show_it(rondo):
    path = rondo.folder / "trace.json"
    rondo("check", rondo.file("torn.rondo", TORN), "-D", "n=2", "--trace-out", path, status=1)
    rondo("replay", path, rondo.file("safe.rondo", SAFE), status=0, says="no longer shows")
    rondo("check", rondo.file("c.rondo", CRASH), "--trace-out", path, status=1)
    calm = rondo.file("calm.rondo", ONCE)
    rondo("replay", path, calm, status=3, says="does not allow it")
    rondo("check", rondo.file("e.rondo", ELECTION), "--trace-out", path, status=1)
    choosy = rondo.file("choosy.rondo", ELECTION.replace("on ask from c {", "on ask from c if number(c) == 1 {"))
    rondo("replay", path, choosy, status=3, says="it cannot happen there")
    rondo("replay", path, "models/one_third_rule.rondo", status=3)
    must(rondo.json("replay", path, choosy, status=3)["outcome"] == "not_a_run", "outcome")


def put(trace, path, value):
    place = trace
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value


@test
def damaged_steps_are_refused(rondo):
    trace = trace_of(checked(rondo, CRASH), "one_leader")
    at = {name: next(i for i, s in enumerate(trace["steps"]) if s["event"] == name) for name in ("action", "crash", "recover")}
    one = next(i for i, s in enumerate(trace["steps"]) if len(s["taken"]) == 1 and s["event"] == "action")
    for path, value, says in [
            (("steps",), None, "no trace"), (("steps",), 3, "not a list"), (("steps", 0), 7, "unknown event"),
            (("steps", 0, "event"), "explode", "unknown event 'explode'"), (("steps", 0, "process"), "Voter(9)", "no process 'Voter(9)'"),
            (("steps", 0, "process"), None, "a process must be named"), (("steps", 0, "action"), 9, "not the number of an action"),
            (("steps", 0, "action"), 0, "not the number"), (("steps", 0, "action"), None, "not the number"),
            (("steps", 0, "action"), "1", "not the number"), (("steps", at["recover"], "action"), 1, "has no action"),
            (("steps", one, "taken"), [], "cannot happen"), (("steps", one, "taken", 0, "kind"), "vot", "takes messages"),
            (("steps", one, "taken", 0, "message"), {"x": 1}, "no value of type"), (("steps", one, "taken", 0, "message"), None, "'message' is missing"),
            (("steps", one, "taken", 0, "place"), "lost", "not 'lost'"), (("steps", one, "taken", 0, "place"), None, "in_transit"),
            (("steps", one, "taken", 0, "place"), "seen", "cannot happen"), (("steps", one, "taken", 0, "from"), "Voter(1)", "cannot happen"),
            (("steps", one, "taken", 0, "forged"), True, "step"), (("steps", one, "taken", 0, "kept"), True, "step"),
            (("steps", 0, "choices"), [-1], "'choices'"), (("steps", 0, "choices"), ["a"], "'choices'"),
            (("steps", at["crash"], "out"), [5], "cannot happen"), (("steps", at["crash"], "out"), [0, 0], "not ascending"),
            (("steps", at["crash"], "out"), [1.5], "'out'"), (("steps", at["crash"], "event"), "deliver", "has no action"),
            (("steps", at["crash"], "event"), "recover", "has no action"), (("steps", 0, "event"), "lose", "has no action"),
            (("initial", "processes", 0, "at"), "nowhere", "no value of type"), (("initial", "processes", 0, "at"), None, "'at' is missing"),
            (("initial", "processes", 0, "at"), "end", "cannot start like that"),
            (("initial", "processes", 0, "status"), ["recovered"], "cannot start like that"),
            (("initial", "processes", 2, "variables", "voted"), 3, "no value of type"),
            (("initial", "processes", 2, "variables", "extra"), 3, "does not have"),
            (("model", "semantics"), "coarse", "is not for it"), (("model", "semantics"), "xyz", "'xyz'"),
            (("model", "environment"), "clam", "did you mean 'calm'")]:
        broken = copy.deepcopy(trace)
        put(broken, path, value)
        rondo("replay", rondo.file("broken.json", json.dumps(broken)), status=3, says=says)
    deliver = copy.deepcopy(trace)
    deliver["steps"].insert(1, {"event": "deliver", "process": "Voter(1)", "taken": [
        {"from": "Candidate(1)", "kind": "ask", "message": {}, "place": "in_transit"}]})
    rondo("replay", rondo.file("broken.json", json.dumps(deliver)), status=3, says="step 2")
    deliver["steps"][1]["taken"] *= 2
    rondo("replay", rondo.file("broken.json", json.dumps(deliver)), status=3, says="about one message")
    deliver["steps"][1]["taken"] = []
    rondo("replay", rondo.file("broken.json", json.dumps(deliver)), status=3, says="no kind of messages")


@test
def noise_in_steps_does_no_harm(rondo):
    noise = random.Random(5)
    trace = trace_of(checked(rondo, CRASH), "one_leader")
    words = [None, True, -1, 0, 1, 2, 1e9, 2**40, "Voter(1)", "Candidate(2)", "ask", "seen", [], [0], {}, [{}], {"set": []}]

    def places(node, path=()):
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            if key == "state":
                continue
            yield path + (key,)
            if isinstance(value, (dict, list)):
                yield from places(value, path + (key,))

    everywhere = [p for p in places(trace) if p[0] in ("steps", "initial")]
    for _ in range(150):
        broken = copy.deepcopy(trace)
        try:
            for path in noise.sample(everywhere, noise.randrange(1, 4)):
                put(broken, path, noise.choice(words))
        except (KeyError, IndexError, TypeError):
            continue
        rondo("replay", rondo.file("noise.json", json.dumps(broken)), status=(0, 1, 3))


# --- random runs ---

@test
def random_steps_replay(rondo):
    events = set()
    for text, arguments in ((ELECTION, []), (CRASH, []), (LIARS, []), (TORN, ["-D", "n=3"]), (ORDER, []), (TOKEN, ["--env", "doubling"])):
        path = rondo.file("r.rondo", text)
        for semantics in ("m", "m-mp", "mp") if "message" in text else ("interleaving",):
            for seed in range(6):
                command = ["run", path, *arguments, "--seed", seed, "--semantics", semantics, "--trace-out", rondo.folder / "run.json"]
                done = rondo(*command, status=(0, 1))
                must(rondo(*command).stdout == done.stdout, "the same seed, another run")
                trace = json.loads((rondo.folder / "run.json").read_text())
                must(trace["model"]["semantics"] == semantics and trace["seed"] == seed, trace["model"])
                events |= {step["event"] for step in trace["steps"]}
                rondo("replay", rondo.folder / "run.json", status=1 if trace["error"] else 0, says="a run of")
    must({"action", "deliver"} <= events, events)


@test
def random_steps_end(rondo):
    path = rondo.file("t.rondo", SAFE)
    said = rondo("run", path, "-D", "n=2", "--seed", 3, status=(0, 1)).stdout
    must("nothing more can happen" in said and "6." in said and "not violated" in said, said)
    said = rondo("run", path, "-D", "n=2", "--seed", 3, "--steps", 2, status=(0, 1)).stdout
    must("nothing more can happen" not in said and "3." not in said, said)
    must(", semantics mp, seed 3" in rondo("run", rondo.file("e.rondo", ELECTION), "--semantics", "mp", "--seed", 3).stdout, "title")
    rondo("run", path, "-D", "n=2", "--steps", "0", status=3, says="between")


# --- the rest ---

@test
def audits_of_steps_agree(rondo):
    for text in (ELECTION, CRASH, LIARS):
        answer = checked(rondo, text, "--audit")
        must(answer["runs"][0]["audit"]["agrees"] is True, answer["runs"][0]["audit"])


@test
def tables_of_steps(rondo):
    said = rondo("check", rondo.file("once.rondo", ONCE), "-D", "voters=2..4", "--property", "one_leader", status=0).stdout
    must("semantics m" in said.splitlines()[0] and sum("holds" in line for line in said.splitlines()) == 3, said)


@test
def forced_reductions_mark_verdicts_of_steps(rondo):
    path = rondo.file("f.rondo", SAFE + "safety one_or_two: forall p in P: at(p, end) => register == 1 or register == 2\n")
    answer = rondo.json("check", path, "-D", "n=2", "--property", "one_or_two", "--reduce", "partition!", status=0)
    forced = [r["name"] for r in answer["reductions"] if r["forced"]]
    must(forced == ["partition"] and "unlicensed" in answer["properties"][0]["proved"], answer["properties"][0]["proved"])


@test
def readers_of_steps_may_go_away(rondo):
    for arguments in (["check", rondo.file("e.rondo", ELECTION), "-v"], ["compare", rondo.file("once.rondo", ONCE)],
                      ["run", rondo.file("e.rondo", ELECTION), "--seed", "1", "--json"]):
        reader, writer = os.pipe()
        os.close(reader)  # before there is anybody to write
        with subprocess.Popen([rondo.program, *map(str, arguments)], cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True) as child:
            os.close(writer)
            error = child.stderr.read()
            child.wait(timeout=120)
        must(child.returncode in (-signal.SIGPIPE, 141) and error == "", f"{arguments[0]}: exit status {child.returncode}, {error!r}")


@test
def searches_of_steps_can_be_interrupted(rondo):
    endless = ONCE.replace("start { send ask to Voter }", "when true { send ask to Voter }")
    command = [rondo.program, "check", rondo.file("endless.rondo", endless), "-D", "voters=5", "--reduce", "none", "--property",
               "one_leader", "--max-memory", "1G"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ) as child:
        signals.send(child, signal.SIGINT)
        said, _ = child.communicate(timeout=120)
    must(child.returncode == 2 and "interrupted" in said, f"exit status {child.returncode}\n{said[:500]}")


# Steps that can never be taken, each in another way.
BLOCKED = ["when 1 == 2", "when exists v in box: true", "when exists v in box", "when (exists v in box: v == 0)", "on never",
           "on Q: 1 of never", "when 1 == 2 { } or on never", "when box != {} once"]


@test
def a_check_looks_for_deadlocks(rondo):
    """The built-in property is left out only where the text shows that there is none."""
    for how in BLOCKED:
        text = f"""algorithm Blocked
message never
type Value = 0..1
shared box: set of Value = {{}}
process P[1] {{
  var x: 0..1 = 0
  start {{}}
  step wait {how} {{ {"x := v" if how.startswith("when exists") else ""} }}
}}
cover begun: exists p in P: at(p, wait)
"""
        told = rondo.json("check", rondo.file("blocked.rondo", text), status=1)
        must(("deadlock", "violated") in [(p["name"], p["verdict"]) for p in told["properties"]], how)
    text = text.replace(how, "").replace("begun: exists p in P: at(p, wait)", "begun: true")
    told = rondo.json("check", rondo.file("open.rondo", text), status=0)
    must("deadlock" not in [p["name"] for p in told["properties"]], "nothing can block")


@test
def who_has_nothing_left_to_do_waits(rondo):
    """A process that comes back to a step which it could take once is in the middle of something."""
    model = "tests/models/deadlock_once.rondo"
    told = rondo.json("check", model, "--property", "deadlock", status=1)
    waiting = told["properties"][0]["trace"]["property"]["waiting"]
    must([(w["process"], w["at"], w["middle"], w["actions"]) for w in waiting] == [(f"P({i})", "one", True, []) for i in (1, 2)], waiting)
    text = rondo("check", model, "--property", "deadlock", status=1).stdout
    must("everybody waits at one, where each action is 'once' and has been taken" in text, text)
