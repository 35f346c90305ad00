"""What no run takes: claims, counts, files, and when nothing is said."""
import json

from harness import must, test

UNUSED = """algorithm Unused
param n where n >= 1
param odd = false
process P[n] {
  var x: 0..3 = 0
  var d: bool? = none
  round first {
    send x to all when x < 3
    update {
      if x > 1 {
        x := 0
      } else {
        x := 1 - x
      }
      if odd { halt }
    }
  }
  round second {
    update { if x == 3 { d := true } }
  }
}
environment lossy {
  at most 1 messages are lost
  every round: forall p in P: |HO[p]| <= n
}
safety implied: forall p, q in P: p.x == 2 => q.x == 2
safety decided: forall p in P, v in p.d: v
safety said: forall p in P: p.x == 1 => p.d == none
"""
STEPS = """algorithm Steps
message ping(v: 0..2), pong
process P[2] {
  var got: 0..2 = 0
  start { send ping(1) to others }
  on ping(v == 2) { got := 2 }
  on ping(v) from p if v < 2 {
    got := v
    send pong to p
  }
  on pong {}
}
environment e {
  any messages are duplicated
  channels bag bound 3
}
environment f { at most 1 processes crash and recover }
safety s: forall p in P: p.got <= 2
live l in f: forall p in P: p.got == 2 leads to p.got == 1
"""
HIDDEN = """algorithm Dead
message ping, pong, hop(n: 0..4)
process P[3] ring {
  var done: bool = false
  start { send ping to next  send hop(3) to next }
  on ping { done := true  send pong to next }
  on pong {
    if done {}
  }
  on hop(n) if n > 0 {
    send hop(n - 1) to next
  }
  on hop(n) if n == 0 {}
}
safety s: forall p in P: p.done or not p.done
safety t: true
"""


def never(answer):
    return {(c["line"], c["code"]) for c in answer["coverage"]["never"]}


@test
def code_faults_clauses_and_implications(rondo):
    path = rondo.file("unused.rondo", UNUSED)
    answer = rondo.json("check", path, "-D", "n=2", status=0)
    expected = {(8, "W0121"), (11, "W0120"), (15, "W0120"), (19, "W0120"), (24, "W0123"), (26, "W0124"), (27, "W0124")}
    must(never(answer) == expected, answer["coverage"])
    must({(d["line"], d["code"]) for d in answer["diagnostics"]} == expected, answer["diagnostics"])
    must(all("n = 2" in d["help"] for d in answer["diagnostics"]), answer["diagnostics"])
    exact = rondo.json("check", path, "-D", "n=2", "--coverage", status=0)
    must(never(exact) == expected and exact["coverage"]["complete"], exact["coverage"])
    for way in (["--reduce", "none"], ["--successors", "plain"], ["--threads", "2"], ["--semantics", "fine"]):
        must(never(rondo.json("check", path, "-D", "n=2", *way)) <= expected, way)
    # with another value of a parameter it is executed, and what follows is not
    halted = never(rondo.json("check", path, "-D", "n=2", "-D", "odd=true", status=0))
    must((15, "W0120") not in halted and (18, "W0120") in halted and (19, "W0120") not in halted, halted)
    text = rondo("check", path, "-D", "n=2", status=0).stdout
    must("in no run, n = 2, odd = false\n  line 8: the condition 'x < 3' is never false\n" in text and "and 2 more: see --coverage" in text, text)


@test
def steps_handlers_and_channels(rondo):
    path = rondo.file("steps.rondo", STEPS)
    found = never(rondo.json("check", path, "--property", "s", status=0))
    must((6, "W0120") in found and not {7, 8, 9, 11} & {line for line, _ in found}, found)
    must(found == {(6, "W0120")}, found)
    live = never(rondo.json("check", path, "--property", "l", status=0))
    must(live == {(19, "W0124")}, live)
    for semantics in ("m", "m-mp", "mp"):
        exact = rondo.json("check", path, "--property", "s", "--semantics", semantics, "--coverage", status=0)["coverage"]
        must(exact["complete"], exact)
        counts = {i["line"]: i["steps"] for i in exact["items"] if i["kind"] == "action"}
        must(counts[6] == 0 and counts[5] > 0 and counts[7] > 0 and counts[11] > 0, counts)


@test
def lines_are_counted(rondo):
    path = rondo.file("one.rondo", "algorithm One\nprocess P[1] {\n  var x: 0..2 = 0\n  once {\n    round { send x to all\n      update {\n        x := 1\n"
                      "        if exists m in received { x := 2 }\n      }\n    }\n  }\n}\nsafety s: forall p in P: p.x < 3\n")
    answer = rondo.json("check", path, "--coverage", status=0)["coverage"]
    # one state before the round, in which P(1) hears itself or does not
    must((answer["complete"], answer["steps"], answer["states"]) == (True, 2, 3), answer)
    must({line["line"]: line["steps"] for line in answer["lines"]} == {5: 2, 7: 2, 8: 2}, answer["lines"])
    branches = {(i["line"], i["taken"]): i["steps"] for i in answer["items"] if i["kind"] == "branch"}
    must(branches == {(8, True): 1, (8, False): 1}, branches)
    text = rondo("check", path, "--coverage", status=0).stdout
    must("everything is taken in some run; counts are of all 2 steps, from 3 states" in text, text)
    must("           2     7          x := 1\n" in text, text)


@test
def coverage_files(rondo):
    path = rondo.file("unused.rondo", UNUSED)
    info, data = rondo.folder / "c.info", rondo.folder / "c.json"
    rondo("check", path, "-D", "n=2", f"--coverage={info}", status=0)
    lines = info.read_text().splitlines()
    must(lines[0] == "TN:Unused" and lines[1] == f"SF:{path}" and lines[-1] == "end_of_record", lines)
    must("DA:11,0" in lines and "LF:8" in lines and "LH:7" in lines and any(line.startswith("BRDA:10,") for line in lines), lines)
    rondo("check", path, "-D", "n=2", f"--coverage={data}", "--json", status=0)
    must(json.loads(data.read_text())["complete"] is True, data.read_text())
    rondo("check", path, "-D", "n=2", "--coverage=c.txt", status=3, says="ends in '.info' (lcov) or '.json'")
    rondo("check", path, "-D", "n=2", f"--coverage={rondo.folder}/no/c.info", status=3, says="cannot write")
    rondo("check", path, "-D", "n=1..2", f"--coverage={info}", status=3, says="does not support a file for several instances")
    rondo("check", path, "-D", "n=2", "--coverage", "--engine", "bmc", status=3, says="does not support engines other than the search")
    rondo("check", path, "-D", "n=2", "--coverage", "--checkpoint", rondo.folder / "p", status=3, says="does not support '--checkpoint'")


@test
def nothing_is_said_unless_all_states_were_seen(rondo):
    path = rondo.file("unused.rondo", UNUSED)
    for options, status in ((["--max-states", "2"], 2), (["--store", "hash"], 0), (["--max-rounds", "1"], 2)):
        answer = rondo.json("check", path, "-D", "n=2", *options, status=status)
        must(not {c for _, c in never(answer)} & {"W0120", "W0121"} and answer["coverage"]["unknown"], answer["coverage"])
    violated = rondo.file("violated.rondo", UNUSED.replace("safety said: forall p in P: p.x == 1 => p.d == none", ""). replace("p.x == 2 => q.x == 2", "p.x == 1 => q.x == 2")
                          .replace("safety decided: forall p in P, v in p.d: v", ""))
    answer = rondo.json("check", violated, "-D", "n=2", status=1)
    must(not never(answer) and "decided" in answer["coverage"]["unknown"], answer["coverage"])
    must(rondo.json("check", path, "-D", "n=2", "--engine", "bmc", "--depth", "2")["coverage"] is None, "bmc")
    counted = rondo.json("check", path, "-D", "n=2", "--coverage", "--max-states", "3")["coverage"]
    must(not counted["complete"], counted)


@test
def tables_name_what_no_instance_takes(rondo):
    path = rondo.file("unused.rondo", UNUSED)
    text = rondo("check", path, "-D", "n=1..3", status=0).stdout
    must("in no run of these instances\n" in text and "line 11" in text, text)
    text = rondo("check", path, "-D", "n=2", "-D", "odd=0..1", status=0).stdout
    must("line 11" in text and "line 15" not in text, text)
    instances = rondo.json("check", path, "-D", "n=1..2", status=0)["instances"]
    must(all((11, "W0120") in never(i) for i in instances), instances)


@test
def reductions_that_leave_out_steps_hide_no_code(rondo):
    """Messages that are taken without effect, or only passed on, are dropped by the check, but their handlers are executed in some run."""
    path = rondo.file("hidden.rondo", HIDDEN)
    for options in ([], ["--property", "t"], ["--property", "t", "--reduce", "dead-messages,relays"], ["--property", "t", "--reduce", "partial-order"]):
        answer = rondo.json("check", path, *options, status=0)
        must(answer["coverage"] == {"never": [], "unknown": None}, (options, answer["coverage"]))
    reductions = {r["name"] for r in rondo.json("check", path, status=0)["reductions"] if r["applied"]}
    must({"dead-messages", "relays"} <= reductions, reductions)  # else this tests nothing
    exact = rondo.json("check", path, "--coverage", status=0)["coverage"]
    must(exact["complete"] and not exact["never"], exact)
