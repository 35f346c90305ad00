"""Answers about all n in the words of the model: no generated counters, and each line says which environment it is about."""
import re

from harness import must, test

TWO = """algorithm Two
param n where n >= 1
process P[n] {
  input x: bool
  var d: bool = false
  once { round { send x to all  update { if |received| == n { d := true } } } }
}
environment free {}
environment lossy { }
safety small in free, lossy: forall p in P: p.d or not p.d
safety other in lossy: forall p in P: not p.d or p.d
"""


@test
def thresholds_show_runs_of_the_algorithm(rondo):
    said = rondo("threshold", "models/a_te_thresholds.rondo", "agreement", status=0).stdout
    must("on the edge, agreement is VIOLATED after 1 round, n = " in said and "now agreement fails" in said and "round 1" in said, said)
    must("move 1" not in said and not re.search(r"\b\w+_\d+ \d", said), said)
    answer = rondo.json("threshold", "models/a_te_thresholds.rondo", "agreement", status=0)
    must(answer["edge"]["schema"] == "rondo-counter-trace/1" and answer["edge_trace"]["schema"] == "rondo-trace/1", answer["edge_trace"])
    must(answer["edge_trace"]["property"]["name"] == "agreement", answer["edge_trace"]["property"])
    counters = rondo.json("threshold", "models/counters/bbp_unforgeability.rondo", "unforgeability", status=0)
    must(counters["edge_trace"] is None and counters["edge"], "a counter system has its own words")


@test
def each_proof_names_its_environment(rondo):
    said = rondo("prove", rondo.file("two.rondo", TWO), status=(0, 2)).stdout
    for name in ("free", "lossy"):
        must(re.search(rf"^Two, for all n.*{name}|^  \w+.*\b{name}\b", said, re.M), said)
    answer = rondo.json("prove", rondo.folder / "two.rondo", status=(0, 2))
    must([(p["name"], p["environment"]) for p in answer["properties"]] == [("small", "free"), ("small", "lossy"), ("other", "lossy")], answer["properties"])


@test
def progress_of_messages_moves(rondo):
    done = rondo("check", "models/paxos.rondo", "-D", "leaders=3", "-D", "acceptors=4", "--reduce", "message-order", "--property", "agreement", "--max-states", "30000",
                 env={"RONDO_TEST_PROGRESS_SECONDS": "0.001"}, status=2)
    steps = [int(n) for n in re.findall(r"^rondo: [\d,]+ states, step (\d+),", done.stderr, re.M)]
    must(steps == sorted(steps) and 0 not in steps, done.stderr)
    must(len(steps) < 3 or len(set(steps)) > 1, f"it does not move: {steps}")
