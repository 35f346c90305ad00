"""The ways to run rondo, and what each run answers.

A Mode is a name with command line options, the group of modes with which its
verdicts must agree, and what it promises: that counterexamples are shortest,
that it counts plain states.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import fork_server  # noqa: E402


@dataclass(frozen=True)
class Mode:
    name: str
    options: tuple
    semantics: str                # coarse, fine, default; m, m-mp, mp, interleaving
    shortest: bool = True         # lengths of counterexamples are the shortest there are
    counts: str = None            # modes with the same word have the same number of states
    exact: bool = False           # it counts the states of the language, as the oracle does
    command: str = "check"
    safety_only: bool = False     # live properties are refused
    spill: bool = False           # wants a folder for --spill
    setting: tuple = ()           # of the environment: ((name, value), ...)


@dataclass
class Verdict:
    verdict: str                  # holds violated inconclusive
    kind: str                     # safety cover live error
    length: int = None            # rounds or steps of the counterexample, or of the run that reaches a cover
    proved: str = ""
    complete: bool = False        # rests on all states
    granted: bool = None          # whole rounds are enough
    semantics: str = None
    trace: dict = None
    search: int = None            # which search of the command answered


@dataclass
class Answer:
    mode: Mode
    command: list
    status: int
    refused: str = None           # the message of exit status 3
    failure: str = None           # a crash, a signal, exit status 4, nonsense
    properties: dict = field(default_factory=dict)    # (name, environment) -> Verdict
    runs: list = field(default_factory=list)          # dicts: environment, properties, states, complete, live, semantics
    warnings: str = ""            # standard error


ROUND_REDUCTIONS = ["symmetry", "partition", "order", "message-order", "round-rank", "dead-variables", "merging"]
STEP_REDUCTIONS = ["symmetry", "message-order", "round-window", "relays", "dead-variables", "values", "dead-messages", "loss",
                   "partial-order"]

SMALL = ("--max-states", "30000")

# Whether partial-order reduction pays is tried on a few states, so that the trial is seldom the answer; and properties
# are tried alone after a few states.
TRIAL = (("RONDO_TEST_TRIAL_STATES", "3"),)
SPLIT = (("RONDO_TEST_SPLIT_FROM", "8"),) + TRIAL


def rounds_modes():
    coarse = ("--semantics", "coarse")
    one = ("--threads", "1")
    yield Mode("coarse", coarse + one + SMALL, "coarse", counts="auto")
    yield Mode("plain", coarse + one + ("--reduce", "none", "--successors", "plain") + SMALL, "coarse", counts="plain", exact=True)
    yield Mode("none", coarse + one + ("--reduce", "none") + SMALL, "coarse", counts="plain", exact=True)
    yield Mode("successors-plain", coarse + one + ("--successors", "plain") + SMALL, "coarse")
    yield Mode("successors-enumerate", coarse + one + ("--successors", "enumerate") + SMALL, "coarse")
    yield Mode("successors-regions", coarse + one + ("--successors", "regions") + SMALL, "coarse")
    for name in ROUND_REDUCTIONS:
        yield Mode("reduce-" + name, coarse + one + ("--reduce", name) + SMALL, "coarse")
    for name in ROUND_REDUCTIONS:
        others = ",".join(r for r in ROUND_REDUCTIONS if r != name)
        yield Mode("without-" + name, coarse + one + ("--reduce", others) + SMALL, "coarse")
    yield Mode("threads", coarse + ("--threads", "2") + SMALL, "coarse", counts="auto")
    yield Mode("hash", coarse + one + ("--store", "hash") + SMALL, "coarse", counts="auto", safety_only=True)
    yield Mode("hash-plain", coarse + one + ("--store", "hash", "--reduce", "none") + SMALL, "coarse", counts="plain", safety_only=True)
    yield Mode("spill", coarse + one + ("--max-memory", "40M", "--reduce", "none") + SMALL, "coarse", counts="plain", spill=True)
    yield Mode("split", coarse + one + SMALL, "coarse", setting=SPLIT)
    yield Mode("no-trace", coarse + one + ("--no-trace",) + SMALL, "coarse", counts="auto")
    yield Mode("audit", coarse + one + ("--audit",) + SMALL, "coarse", counts="auto")
    yield Mode("default", one + SMALL, "default")
    yield Mode("fine", ("--semantics", "fine") + one + SMALL, "fine", shortest=False)
    yield Mode("fine-none", ("--semantics", "fine", "--reduce", "none") + one + SMALL, "fine", shortest=False)
    yield Mode("fine-plain", ("--semantics", "fine", "--reduce", "none", "--successors", "plain") + one + SMALL, "fine", shortest=False)
    yield Mode("bmc", coarse + ("--engine", "bmc", "--depth", "3"), "coarse", safety_only=True)
    yield Mode("bmc-none", coarse + ("--engine", "bmc", "--depth", "3", "--reduce", "none"), "coarse", safety_only=True)
    yield Mode("induction", coarse + ("--engine", "induction", "--depth", "3"), "coarse", safety_only=True)
    yield Mode("spacer", coarse + ("--engine", "spacer"), "coarse", shortest=False, safety_only=True)


def steps_modes(memory):
    base = "interleaving" if memory else "m"
    one = ("--threads", "1")
    yield Mode("auto", one + SMALL, base, shortest=False, counts="auto")
    # Without message-order the order in which different processes have sent is part of a state.
    yield Mode("plain", one + ("--reduce", "none", "--successors", "plain") + SMALL, base, counts="plain", exact=memory)
    yield Mode("none", one + ("--reduce", "none") + SMALL, base, counts="plain", exact=memory)
    if not memory:
        yield Mode("unordered", one + ("--reduce", "message-order", "--successors", "plain") + SMALL, base, exact=True)
    yield Mode("successors-plain", one + ("--successors", "plain") + SMALL, base, shortest=False)
    for name in STEP_REDUCTIONS:
        yield Mode("reduce-" + name, one + ("--reduce", name) + SMALL, base, shortest=False)
    for name in STEP_REDUCTIONS:
        others = ",".join(r for r in STEP_REDUCTIONS if r != name)
        yield Mode("without-" + name, one + ("--reduce", others) + SMALL, base, shortest=False)
    yield Mode("threads", ("--threads", "2") + SMALL, base, shortest=False, counts="auto")
    yield Mode("threads-none", ("--threads", "2", "--reduce", "none") + SMALL, base, counts="plain")
    yield Mode("hash", one + ("--store", "hash") + SMALL, base, shortest=False, counts="auto", safety_only=True)
    yield Mode("hash-none", one + ("--store", "hash", "--reduce", "none") + SMALL, base, counts="plain", safety_only=True)
    yield Mode("spill", one + ("--max-memory", "40M", "--reduce", "none") + SMALL, base, counts="plain", spill=True)
    yield Mode("split", one + SMALL, base, shortest=False, setting=SPLIT)
    yield Mode("split-threads", ("--threads", "2") + SMALL, base, shortest=False, setting=SPLIT)
    yield Mode("trial", one + SMALL, base, shortest=False, setting=TRIAL)
    yield Mode("no-trace", one + ("--no-trace",) + SMALL, base, shortest=False, counts="auto")
    yield Mode("audit", one + ("--audit",) + SMALL, base, shortest=False)
    yield Mode("deadlock", one + ("--property", "deadlock") + SMALL, base, shortest=False)
    yield Mode("deadlock-none", one + ("--property", "deadlock", "--reduce", "none") + SMALL, base)
    if not memory:
        for s in ("m-mp", "mp"):
            yield Mode(s, ("--semantics", s) + one + SMALL, s, shortest=False)
            yield Mode(s + "-none", ("--semantics", s, "--reduce", "none") + one + SMALL, s, shortest=False, counts=s)
            yield Mode(s + "-plain", ("--semantics", s, "--reduce", "none", "--successors", "plain") + one + SMALL, s, shortest=False, counts=s)
    yield Mode("bmc", ("--engine", "bmc", "--depth", "5"), base, safety_only=True)
    yield Mode("bmc-none", ("--engine", "bmc", "--depth", "5", "--reduce", "none"), base, safety_only=True)
    yield Mode("induction", ("--engine", "induction", "--depth", "4"), base, safety_only=True)
    yield Mode("spacer", ("--engine", "spacer"), base, shortest=False, safety_only=True)


def prove_modes():
    yield Mode("prove", (), "prove", shortest=False, command="prove", safety_only=True)


def modes(kind):
    if kind == "rounds":
        return list(rounds_modes())
    if kind == "prove":
        return list(prove_modes())
    return list(steps_modes(kind == "memory"))


# Modes that are always run, and how many of the others.
ALWAYS = {"rounds": ["coarse", "plain", "none", "default"], "steps": ["auto", "plain", "none", "unordered", "m-mp"],
          "memory": ["auto", "plain", "none"], "prove": ["prove"]}


def some_modes(kind, rng, count):
    """The modes that are always run, and `count` others. None: all."""
    found = modes(kind)
    if count is None:
        return found
    always = [m for m in found if m.name in ALWAYS[kind]]
    others = [m for m in found if m.name not in ALWAYS[kind]]
    return always + rng.sample(others, min(count, len(others)))


# ---- running ------------------------------------------------------------------------

def live_names(text):
    return re.findall(r"^live\s+(?:almost\s+surely\s+)?(\w+)", text, re.M)


def takes_steps(text):
    return re.search(r"^(?:message|shared) |^ +(?:start|(?:final )?step|on|when)\b", text, re.M) is not None


def other_names(text):
    return re.findall(r"^(?:safety|cover)\s+(\w+)", text, re.M)


def run(rondo, mode, path, text, params, max_time, properties=None):
    """Runs one mode on the model in the file `path`. Returns an Answer, or None if there is nothing to ask."""
    command = [rondo, mode.command, path, "--json", "--max-time", str(max_time)] + list(mode.options)
    for name, value in sorted(params.items()):
        command += ["-D", f"{name}={value}"]
    if properties:
        for name in properties:
            command += ["--property", name]
    elif mode.safety_only and live_names(text):
        names = other_names(text)
        if takes_steps(text) and "--engine" not in mode.options and "deadlock" not in names:
            names.append("deadlock")
        if not names:
            return None
        for name in names:
            command += ["--property", name]
    with tempfile.TemporaryDirectory(prefix="rondo-oracle-") as folder:
        if mode.spill:
            command += ["--spill", folder]
        try:
            done = fork_server.run(command, timeout=20 * max_time + 30, env=dict(os.environ, **dict(mode.setting)))
        except subprocess.TimeoutExpired:
            return Answer(mode, command, -1, failure=f"does not end within {20 * max_time + 30} s")
    return read(mode, command, done)


def read(mode, command, done):
    answer = Answer(mode, command, done.returncode, warnings=done.stderr)
    if done.returncode == 3:
        lines = [l for l in done.stderr.splitlines() if "error" in l or l.startswith("rondo")]
        answer.refused = (lines or done.stderr.splitlines() or ["no message"])[0]
        if done.stdout.strip() and json.loads(done.stdout).get("schema") != "rondo-diagnostics/1":
            answer.failure = "exit status 3, but an answer on standard output"
        return answer
    if done.returncode == 2 and "rondo-diagnostics/1" in done.stdout and "stopped by a limit" in done.stderr:
        answer.refused = done.stderr.splitlines()[0]      # `prove`, before it knows of any property
        return answer
    if done.returncode not in (0, 1, 2):
        answer.failure = f"exit status {done.returncode}: {done.stderr.strip()[-600:]}"
    if "Sanitizer" in done.stderr or "runtime error" in done.stderr:
        answer.failure = done.stderr.strip()[:600]
    try:
        document = json.loads(done.stdout)
    except ValueError:
        answer.failure = answer.failure or f"no JSON on standard output: {done.stdout[:200]!r} {done.stderr[:300]}"
        return answer
    read_document(answer, document)
    if answer.failure is None:
        worst = expected_status(document)
        if worst != done.returncode:
            answer.failure = f"exit status {done.returncode}, but the verdict is {document.get('verdict')}"
    return answer


def expected_status(document):
    return {"holds": 0, "violated": 1, "inconclusive": 2}.get(document.get("verdict"), 4)


LENGTH = re.compile(r"after (\d+) (?:round|step)")


def read_document(answer, document):
    runs = document.get("runs", [])
    for p in document.get("properties", []):
        proved = p.get("proved") or ""
        length = None
        found = LENGTH.search(proved)
        if found:
            length = int(found.group(1))
        elif "in an initial state" in proved:
            length = 0
        granted = (p.get("whole_rounds") or {}).get("granted")
        semantics = None
        if runs and p.get("run") is not None and p["run"] < len(runs):
            semantics = runs[p["run"]].get("model", {}).get("semantics")
        complete = p["kind"] in ("safety", "cover") and ("every run" in proved)
        v = Verdict(p["verdict"], p["kind"], length, proved, complete, granted, semantics, p.get("trace"), p.get("run"))
        name = p["name"]
        if name == "no_error" and any(q["kind"] == "live" and q.get("run") == p.get("run") for q in document["properties"]):
            name = "no_error of a live property"
        answer.properties[name, p.get("environment")] = v
    for index, r in enumerate(runs):
        stats = r.get("stats") or {}
        environment = (r.get("model") or {}).get("environment")
        names = r.get("properties") or []
        complete = any(answer.properties.get((n, environment), Verdict("", "")).complete for n in names)
        kinds = {answer.properties[n, environment].kind for n in names if (n, environment) in answer.properties}
        answer.runs.append({"environment": environment, "properties": tuple(names), "states": stats.get("states"),
                            "transitions": stats.get("transitions"), "complete": complete, "live": "live" in kinds,
                            "semantics": (r.get("model") or {}).get("semantics")})
