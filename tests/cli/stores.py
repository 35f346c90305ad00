"""The command line: `--store`."""
from harness import must, test

GOOD = "models/one_third_rule.rondo"
BROKEN = "models/broken/one_third_rule_half.rondo"


@test
def a_store_of_signatures_says_how_sure_it_is(rondo):
    ask = ("check", GOOD, "-D", "n=4", "-D", "k=3", "--property", "agreement")
    exact, hashed = rondo.json(*ask, status=0), rondo.json(*ask, "--store", "hash", status=0)
    must(rondo.json(*ask, "--store", "exact", status=0)["stats"]["missed_probability"] is None, "exact by name")
    must(exact["stats"]["missed_probability"] is None, "exact")
    n = exact["stats"]["states"]
    must(hashed["stats"]["states"] == n, hashed["stats"])
    told = hashed["stats"]["missed_probability"]
    must(abs(told / (n * (n - 1) / 2 / 2 ** 69) - 1) < 1e-3, told)
    must(hashed["properties"][0]["proved"].startswith("every run, n = 4, k = 3, f = 4, but for a state missed with probability at most "),
         hashed["properties"][0]["proved"])
    rondo(*ask, "--store", "hash", status=0, says="but for a state missed with probability at most ")
    rondo(*ask, "--store", "hash", "--max-rounds", "1", status=2, says="up to 1 round, but for a state missed")
    rondo("check", "models/herlihy.rondo", "-D", "n=5", "--reduce", "none", "--property", "agreement", "--store", "hash", "--max-states", "5000",
          status=2, says=", but for a state missed with probability at most ")
    rondo(*ask, "--store", "hash", status=0, env={"RONDO_TEST_HASH_BITS": "4"}, says="likely to have been missed")


@test
def what_is_found_without_keys_is_told_as_ever(rondo):
    for ask in (("check", BROKEN, "-D", "n=3"), ("check", "models/broken/floodset_forgetful.rondo", "-D", "n=3", "-D", "f=1", "--property", "agreement"),
                ("check", "models/broken/paxos_own_value.rondo", "--property", "agreement"),
                ("check", "models/broken/herlihy_torn.rondo", "-D", "n=2", "--property", "agreement")):
        exact, hashed = rondo(*ask, status=1), rondo(*ask, "--store", "hash", status=1)
        story = exact.stdout.find(" is VIOLATED ")
        must(story >= 0 and exact.stdout[story:] == hashed.stdout[hashed.stdout.find(" is VIOLATED "):], f"{ask}: another story")


@test
def a_store_of_signatures_is_not_for_everything(rondo):
    live = ("check", GOOD, "-D", "n=3", "--property", "termination")
    rondo(*live, "--store", "hash", status=3, says="'termination' is one")
    rondo(*live, "--store", "exact", status=0)
    rondo("check", GOOD, "--store", "hash", "--checkpoint", rondo.folder / "kept", status=3, says="leave out '--checkpoint'")
    must(not (rondo.folder / "kept").exists(), "a folder for nothing")
    rondo("check", GOOD, "--property", "agreement", "--store", "hash", "--engine", "bmc", status=3, says="stores no states")
    rondo("check", GOOD, "--store", "bits", status=3, says="stores are 'exact' and 'hash'")
    rondo("compare", GOOD, GOOD, "--store", "hash", status=3, says="it belongs to 'check'")


# a state has so many successors that enumerating all of them takes minutes; a violation is among the first
MANY_SUCCESSORS = """algorithm Many
input chief: P
process P[3] {
  input x: P
  var a: bool = true
  oracle sus: set of P each round
  phase { round { send x to {x, me}  update { a := forall m in received: m == chief } } }
}
environment env {
  at most 1 processes crash
  at most 1 messages are corrupted each round
  at most 1 messages are lost
  every phase: forall p in correct: faulty <= sus[p]
}
safety st: step forall p, q in P: p.x == q or (p.a => q.a')
"""


@test
def what_is_found_in_time_without_keys_is_told(rondo):
    model = rondo.file("many.rondo", MANY_SUCCESSORS)
    rondo("check", model, "--max-time", "2", "--store", "hash", status=1, says="st is VIOLATED after 1 round")
