"""Answers as they become known: `--json=lines`, titles and progress of long searches; statistics of many runs."""
import json

from harness import must, test

BROKEN = "models/broken/one_third_rule_half.rondo"
# agreement fails at once; the other property takes all of a million states
EARLY = """algorithm Early
param n where n >= 1
process P[n] {
  var x: 0..9 = 0
  step go { x := (if x < 9 then x + 1 else 0)  goto go }
}
environment scheduler {}
safety soon: forall p in P: p.x == 0
safety never: forall p in P: p.x <= 9
"""


def events(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


@test
def lines_are_events(rondo):
    whole = rondo.json("check", BROKEN, "-D", "n=3", status=1)
    lines = events(rondo("check", BROKEN, "-D", "n=3", "--json=lines", status=1))
    must(all(e["schema"] == "rondo-check-lines/1" and e["instance"] == 0 for e in lines), lines[0])
    must(lines[0]["event"] == "header" and lines[-1]["event"] == "summary", [e["event"] for e in lines])
    must(lines[-1]["verdict"] == whole["verdict"], lines[-1])
    must(lines[0]["model"]["params"] == whole["model"]["params"], lines[0])
    verdicts = [e for e in lines if e["event"] == "verdict"]
    must([e["name"] for e in verdicts] == [p["name"] for p in whole["properties"]], verdicts)
    for event, p in zip(verdicts, whole["properties"]):
        must(all(event[key] == p[key] for key in p), f"{p['name']} differs from the answer of one object")
    must({p["name"] for p in lines[0]["properties"]} == {p["name"] for p in whole["properties"]}, lines[0])
    must(len([e for e in lines if e["event"] == "run"]) == len(whole["runs"]), "runs")
    found = [e["name"] for e in lines if e["event"] == "found"]
    must("agreement" in found and "integrity" not in found, found)
    must(lines.index(next(e for e in lines if e["event"] == "found")) < lines.index(verdicts[0]), "found comes first")


@test
def lines_of_tables(rondo):
    lines = events(rondo("check", "models/herlihy.rondo", "-D", "n=0..2", "--json=lines", status=1))
    must([e["event"] for e in lines if e["instance"] == 0] == ["refused"] and lines[0]["params"] == {"n": 0}, lines[0])
    for instance in 1, 2:
        mine = [e["event"] for e in lines if e["instance"] == instance]
        must(mine[0] == "header" and mine[-1] == "summary", mine)


@test
def lines_are_for_check(rondo):
    rondo("run", BROKEN, "-D", "n=3", "--json=lines", status=3, says="only 'check' answers in lines")
    rondo("check", BROKEN, "-D", "n=3", "--json=line", status=3, says="'lines'")


@test
def limits_end_lines_well(rondo):
    lines = events(rondo("check", "models/herlihy.rondo", "-D", "n=9", "--reduce", "none", "--json=lines", "--max-time", "1", status=2))
    must(lines[0]["event"] == "header" and lines[-1] == {**lines[-1], "event": "summary", "verdict": "inconclusive"}, lines[-1])
    must(len([e for e in lines if e["event"] == "verdict"]) == len(lines[0]["properties"]), "a verdict for each property")


@test
def a_violation_is_told_while_the_search_goes_on(rondo):
    model = rondo.file("early.rondo", EARLY)
    done = rondo("check", model, "-D", "n=12", "--reduce", "none", "--max-time", "4", status=1,
                 env={"RONDO_TEST_PROGRESS_SECONDS": "0.5"})
    must("rondo: 'soon' is violated after 1 step; the search goes on" in done.stderr, done.stderr[-600:])
    must("states/s" in done.stderr, "progress is told where it is not a terminal")
    must(done.stdout.count("Early, n = 12, environment scheduler") == 1, done.stdout[:300])
    must("soon    VIOLATED" in done.stdout and "never   inconclusive" in done.stdout, done.stdout[:400])


@test
def many_runs_are_counted(rondo):
    ask = ["run", BROKEN, "-D", "n=3", "--runs", "200", "--seed", "1"]
    told = rondo.json(*ask, status=1)
    must(told == rondo.json(*ask, status=1), "the same seed, the same numbers")
    must(told["schema"] == "rondo-runs/1" and told["runs"] == 200 and told["seed"] == 1, told)
    must(told["lengths"] == {"min": 10, "mean": 10.0, "max": 10}, told["lengths"])
    single = {p["name"]: [] for p in told["properties"]}
    for seed in range(1, 31):
        text = rondo("run", BROKEN, "-D", "n=3", "--seed", seed).stdout
        for name in single:
            single[name] += [seed] * any(line.split()[:2] == [name, "VIOLATED"] for line in text.splitlines())
    few = rondo.json("run", BROKEN, "-D", "n=3", "--runs", "30", "--seed", "1")
    for p in few["properties"]:
        seeds = single[p["name"]]
        must(p["violated"] == {"runs": len(seeds), "first_seed": seeds[0] if seeds else None}, f"{p} but {seeds}")
    rondo(*ask, status=1, says="VIOLATED in ")


@test
def many_runs_of_steps_are_counted(rondo):
    told = rondo.json("run", "models/paxos.rondo", "--runs", "50", "--seed", "3", status=0)
    must(sum(a["count"] for a in told["actions"]) == told["events"]["action"], told["actions"])
    must(told["events"]["action"] == round(told["lengths"]["mean"] * 50), told["lengths"])
    must(told["ended"]["runs"] == 50, "Paxos ends within 30 steps")
    first = next(p for p in told["properties"] if p["name"] == "inherited")["reached"]["first_seed"]
    rondo("run", "models/paxos.rondo", "--seed", first, says="inherited        reached")
    rondo("run", "models/paxos.rondo", "-D", "acceptors=3..5", "--runs", "5", status=3, says="has a range")
    rondo("run", "models/paxos.rondo", "--runs", "5", "--svg", rondo.folder / "x.svg", status=3, says="no run is shown")
    rondo("run", "models/paxos.rondo", "--runs", "1000000000", "--max-time", "1", status=2, says="Paxos")


@test
def properties_that_read_less_are_decided_first(rondo):
    """Together they take tens of thousands of states, each alone at most a thousand."""
    names = ["agreement", "validity", "irrevocability", "all_decide", "late"]
    ask = ["check", "models/herlihy.rondo", "-D", "n=12", *[a for name in names for a in ("--property", name)]]
    told = rondo.json(*ask, status=0)
    must(sorted(p["name"] for p in told["properties"]) == sorted(names), told["properties"])
    must(len(told["runs"]) > 1 and all(r["stats"]["states"] < 5000 for r in told["runs"]), [r["stats"]["states"] for r in told["runs"]])
    must([r["stats"]["states"] for r in rondo.json(*ask, "--threads", "1")["runs"]] == [r["stats"]["states"] for r in told["runs"]],
         "whatever the number of threads")
    asked = "symmetry,partition,dead-variables,values,partial-order"
    together = rondo.json(*ask, "--reduce", asked, status=0)
    must(len(together["runs"]) == 1 and together["stats"]["states"] > 20000, "reductions that are named are for all of them")
    lines = events(rondo(*ask, "--json=lines", status=0))
    must([e["name"] for e in lines if e["event"] == "verdict"] == [p["name"] for p in told["properties"]], "lines are in the same order")
    small = rondo.json("check", "models/herlihy.rondo", "-D", "n=5", *ask[4:], status=0)
    must(len(small["runs"]) == 1, "small searches are not split")


@test
def a_search_goes_on_if_its_parts_are_no_smaller(rondo):
    """One property is decided alone; a search for the others would be as large as that for all, which goes on, with the
    properties in the order of the file."""
    told = rondo.json("check", "models/abd.rondo", "-D", "readers=2", "-D", "reads=1", "-D", "writes=1", "--deadlock", "allow", status=0)
    runs = [(r["properties"], r["stats"]["states"]) for r in told["runs"]]
    must(runs == [(["new_while_old"], 689), (["atomicity", "regularity", "catches_up"], 82180)], runs)


@test
def what_is_split_is_audited(rondo):
    rondo("check", "models/herlihy.rondo", "-D", "n=3", *[a for n in ("agreement", "validity", "late") for a in ("--property", n)],
          "--audit", status=0, env={"RONDO_TEST_SPLIT_FROM": "10"}, says="audit: ")


APART = """algorithm Apart
process P[3] {
  var x: 0..4 = 0
  when x < 4 { x := x + 1 }
}
process Q[2] {
  var y: 0..4 = 0
  when y < 4 { y := y + 1 }
}
environment worse extends faulty { at most 1 P crash }
environment faulty { at most 1 Q crash }
environment calm {}
safety small in calm, faulty, worse: forall p in P: p.x <= 3
safety rises in calm, faulty, worse: step forall q in Q: q.y' == q.y + 1 or q.y' == q.y
cover full in calm, faulty, worse: forall q in Q: q.y == 4
cover one in calm, faulty, worse: |faulty| == 1
cover two in calm, faulty, worse: |faulty| == 2
"""


@test
def parts_of_a_search_are_in_its_environment(rondo):
    """Properties that are tried alone: the same answers as without reductions, in each environment."""
    path = rondo.file("apart.rondo", APART)

    def verdicts(*options, **more):
        told = rondo.json("check", path, "--deadlock", "allow", *options, status=1, **more)
        return {(p["name"], p["environment"]): p["verdict"] for p in told["properties"]}, len(told["runs"])

    plain, together = verdicts("--reduce", "none")
    split, runs = verdicts(env={"RONDO_TEST_SPLIT_FROM": "8", "RONDO_TEST_TRIAL_STATES": "3"})
    must(together == 3 and runs > 3, f"{together} searches, split into {runs}")
    must(plain == split, f"{plain}\n{split}")
    must([split[n, e] for n in ("one", "two") for e in ("calm", "faulty", "worse")] ==
         ["violated", "holds", "holds", "violated", "violated", "holds"], str(split))


WIDE = """algorithm Wide
param n where n >= 1
process P[n] {
  var x: 0..8 = 0
  round { send x to all  update { if x == 0 { x := pick(v for v in 1..8) } } }
}
environment lockstep { synchronous }
safety small: forall p in P: p.x <= 8
safety still: forall p in P: p.x == 0
"""


@test
def a_search_ends_when_everything_is_decided(rondo):
    """Before a large layer is complete, if nothing in it can change the answer."""
    ask = ["check", "models/broken/a_te_low.rondo", "-D", "n=100", "-D", "alpha=1", "-D", "E=2", "-D", "T=2", "--property", "agreement"]
    told = rondo.json(*ask, status=1)
    must(told["properties"][0]["proved"] == "after 1 round" and told["properties"][0]["trace"], told["properties"][0]["proved"])
    must(told["stats"]["states"] < 1500000, told["stats"])
    must(rondo.json(*ask, "--threads", "3", status=1)["stats"]["states"] == told["stats"]["states"], "whatever the number of threads")


@test
def a_large_layer_is_looked_at_and_finished(rondo):
    model = rondo.file("wide.rondo", WIDE)
    ask = ["check", model, "-D", "n=6", "--reduce", "none"]
    soon = {"RONDO_TEST_LOOK_FROM": "100000"}
    told, on_disk = (json.loads(rondo(*ask, "--json", "--property", "small", *more, status=0, env=soon).stdout)["stats"]
                     for more in ([], ["--spill", rondo.folder]))
    must(told["states"] == 8 ** 6 + 1 == on_disk["states"], f"{told['states']} states")
    must(told["transitions"] == on_disk["transitions"], f"{told['transitions']} and {on_disk['transitions']} transitions")
    few = json.loads(rondo(*ask, "--json", "--property", "still", status=1, env=soon).stdout)
    must(few["stats"]["states"] < 150000 and few["properties"][0]["proved"] == "after 1 round", few["stats"])


@test
def lassos_of_steps_are_short(rondo):
    def proved(*arguments):
        return rondo.json("check", *arguments, status=1)["properties"][0]["proved"]
    must(proved("models/peterson.rondo", "--env", "lazy", "--property", "progress") == "after 3 steps, a loop of 2 steps", "Peterson")
    must(proved("models/token_ring.rondo", "-D", "n=3", "--env", "unfair", "--property", "always_again") == "after 3 steps, a loop of 3 steps",
         "token ring")
    bit = ("tests/models/alternating_bit.rondo", "--env", "lossy", "--property", "progress")
    must(proved(*bit) == "a loop of 2 steps", "alternating bit")
    must(proved(*bit, "--max-steps", "100") == "a loop of 2 steps", "with a limit on its length")
    must(proved(*bit, "--successors", "plain") in ("a loop of 2 steps", "after 1 step, a loop of 2 steps (perhaps not the shortest)"),
         "shortest with the automaton, but not without it")
    must(proved("models/broken/token_ring_greedy.rondo", "-D", "n=2", "--env", "processes", "--property", "service").endswith(
        "(perhaps not the shortest)"), "a component that was split")


@test
def partial_order_is_chosen_by_trials(rondo):
    """By the first trial, by one while the other search is under way, or not at all; and by all threads alike."""
    def of(model, *arguments):
        told = rondo.json("check", model, *arguments, "--no-trace", status=0)
        run = told["runs"][0]
        return run["stats"]["states"], next(r["applied"] for r in run["reductions"] if r["name"] == "partial-order")
    token, later = ("models/token_ring.rondo", "-D", "n=8", "--property", "exclusion"), ("models/paxos.rondo", "-D", "leaders=3", "-D", "acceptors=5",
                                                                                        "--property", "agreement")
    must(of(*token) == (56, True), of(*token))
    for model, n in (("raft_election", 4), ("herlihy", 5), ("chang_roberts", 5)):
        states, used = of(f"models/{model}.rondo", "-D", f"n={n}", "--deadlock", "allow", *(["--property", "one_leader"] if model == "raft_election" else []))
        must(not used, f"{model}: used, {states} states")
    states, used = of(*later)
    must(used, f"{states} states")
    must(of(*later, "--threads", "1") == of(*later, "--threads", "3") == (states, used), "whatever the number of threads")
