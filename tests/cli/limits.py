"""The command line: limits and signals in the middle of steps that do not notice them, in models far too large to be checked."""
import json
import re
import signal
import subprocess
import time

from harness import ROOT, must, signals, test

RULE = ("models/one_third_rule.rondo", "-D", "n=3000", "-D", "k=2")
# Kinds of models, commands and phases: making the transition system, initial states, successors, properties, formulas.
HUGE = (("check", *RULE, "--property", "termination"),
        ("check", *RULE),
        ("check", "models/floodset.rondo", "-D", "n=2000", "-D", "f=3"),
        ("check", "models/ben_or.rondo", "-D", "n=2000", "-D", "f=3"),
        ("check", "models/paxos.rondo", "-D", "acceptors=2000"),
        ("check", "models/two_phase_commit.rondo", "-D", "n=1000"),
        ("check", "models/reliable_broadcast_async.rondo", "-D", "n=500", "-D", "t=3"),
        ("check", "models/itai_rodeh.rondo", "-D", "n=500"),
        ("check", "models/raft_terms.rondo", "-D", "n=100"),
        ("check", "models/herlihy.rondo", "-D", "n=2000"),
        ("check", "models/bakery.rondo", "-D", "n=500", "--store", "hash", "--property", "mutual_exclusion"),
        ("check", "models/one_third_rule.rondo", "-D", "n=500", "-D", "k=2", "--engine", "bmc"),
        ("compare", "models/paxos.rondo", "-D", "acceptors=300"),
        ("prove", "models/bbp.rondo", "--property", "unforgeability"),
        ("threshold", "models/bbp.rondo", "unforgeability"))


@test
def every_phase_minds_the_time(rondo):
    for command in HUGE:
        done = rondo(*command, "--max-time", "300ms", status=2)
        must(re.search(r"limit of 0.30 s was reached|stopped by a limit", done.stdout + done.stderr), f"{command}: {done.stdout}{done.stderr}")


@test
def an_answer_that_is_overdue_is_one(rondo):
    for command in (HUGE[0], HUGE[4]):
        answer = rondo.json(*command, "--max-time", "300ms", status=2)
        must(answer["verdict"] == "inconclusive" and answer["stats"]["states"] == 0, answer)
        must(all("limit of 0.30 s" in p["proved"] for p in answer["properties"]), answer["properties"])


@test
def refusals_do_not_depend_on_time(rondo):
    for seconds in ("0.000001", "60"):
        rondo("check", "tests/models/until_run.rondo", "-D", "n=2", "--engine", "bmc", "--depth", "2", "--max-time", seconds, status=3,
              says="engine 'bmc' does not support the 'until' of 'calm'")


@test
def what_was_found_before_is_told(rondo):
    """The second query never ends, because its transition system is never made."""
    path = rondo.file("second.rondo", "algorithm Second\nparam n where n >= 1\nprocess P[n] {\n  var x: 0..1 = 0\n  round { update { x := 1 } }\n}\n"
                      "environment first { synchronous }\nenvironment second {\n"
                      "  infinitely often: exists S in subsets(P): 3 * |S| > 2 * n and forall p in P: HO[p] == S\n}\n"
                      "safety zero in first: forall p in P: p.x == 0\nlive one in second: always eventually exists p in P: p.x == 0\n")
    done = rondo("check", path, "-D", "n=3000", "--max-time", "5", "--no-trace", status=(1, 2))
    must(("VIOLATED" in done.stdout) == (done.returncode == 1) and "inconclusive" in done.stdout, done.stdout)


@test
def signals_end_every_phase(rondo):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
        with subprocess.Popen([rondo.program, *HUGE[0], "--json"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            signals.send(child, number)
            said, error = child.communicate(timeout=120)
        must(child.returncode == 2 and "interrupted" in said + error, f"{number}: exit status {child.returncode}\n{error[:500]}")
        must(json.loads(said)["verdict"] == "inconclusive", said)


@test
def nohup_is_respected(rondo):
    with subprocess.Popen(["nohup", rondo.program, *HUGE[4], "--max-time", "2"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        while child.poll() is None and not signals.minds(child.pid, signal.SIGTERM):
            time.sleep(0.01)
        child.send_signal(signal.SIGHUP)
        said, error = child.communicate(timeout=120)
    must(child.returncode == 2 and "limit of 2.00 s" in said + error, f"{child.returncode} {said} {error}")


@test
def a_reader_who_takes_nothing_is_not_waited_for(rondo):
    """The pipe is full when the signal comes: nothing is left to be done but to write."""
    command = [rondo.program, "export", "models/paxos.rondo", "-D", "acceptors=20", "--to", "promela"]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            signals.full(child)
            child.send_signal(number)
            child.wait(timeout=120)
            error = child.stderr.read()
        must(child.returncode == 2 and "interrupted while the answer was written" in error, f"{number}: exit status {child.returncode} {error}")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        signals.full(child)
        said = child.communicate(timeout=120)[0]
    must(child.returncode == 0 and said == rondo(*command[1:], status=0).stdout, "one who takes it late gets all of it")
