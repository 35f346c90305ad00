"""The explicit search and a solver asked the same question, up to the same depth."""
import json
import os
import re
import subprocess

import fork_server


class Failure(Exception):
    pass


class Skipped(Exception):
    pass


class Answer:
    """What `rondo check --json` says of each property: found (violated, or reached) and how, or not, and whether for good."""

    def __init__(self, program, arguments, seconds=1000):
        command = [program, "check", *arguments, "--deadlock", "allow", "--json"]  # which solvers do not decide
        shown = " ".join(map(str, command[1:]))
        try:
            done = fork_server.run(command, timeout=seconds, env=dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1"))
        except subprocess.TimeoutExpired as late:
            raise Skipped(f"slow: {shown}") from late
        self.status, self.stderr = done.returncode, done.stderr
        if self.status not in (0, 1, 2, 3) or "Sanitizer" in done.stderr or "runtime error:" in done.stderr:
            raise Failure(f"{shown}: exit status {self.status}: {done.stderr.strip()[-2500:]}")
        self.found, self.sure, self.properties = {}, {}, []
        if self.status == 3:
            return
        self.json = json.loads(done.stdout)
        self.properties = [p for p in self.json["properties"] if p["kind"] != "live"]  # those are a search's
        self.limited = any("the limit of" in p["proved"] for p in self.properties)
        for p in self.properties:
            key = p["name"], p["environment"]
            found = p["verdict"] == ("holds" if p["kind"] == "cover" else "violated") and not p["proved"].startswith("never")
            proved = p["proved"].split(":")[0] if p["kind"] == "error" else p["proved"]  # which of several errors is free
            self.found[key] = re.sub(r" \(shortest\)", "", proved) if found else None  # a search may not know that it is
            self.sure[key] = p["verdict"] != "inconclusive"


def asked(program, base):
    """All properties but live ones, which only a search can answer."""
    listed = Answer(program, [*base, "--max-states", "1", "--max-time", "1", "--no-trace"])
    if listed.status == 3:
        raise Skipped("refused by both: " + listed.stderr.strip().splitlines()[0])
    return [word for name in dict.fromkeys(p["name"] for p in listed.properties if p["kind"] != "error") for word in ("--property", name)]


def agree(program, model, arguments, depth, engine="bmc", solver_seconds=600, limits=("--max-states", "300000", "--max-time", "300")):
    """Compares; returns how many properties were. Raises Failure, or Skipped with the reason."""
    word = "--max-rounds"  # the same as --max-steps
    base = [model, *arguments]
    rounds = [] if re.search(r"^ *(message|shared|step|start|on) ", open(model, encoding="utf-8").read(), re.M) else ["--semantics", "coarse"]
    base += rounds + asked(program, base)
    explicit = Answer(program, [*base, word, depth, *limits])
    if explicit.status == 3:
        raise Skipped("refused by both: " + explicit.stderr.strip().splitlines()[0])
    if explicit.limited:
        raise Skipped("too large for a search")
    symbolic = Answer(program, [*base, "--engine", engine, "--depth", depth, "--max-time", solver_seconds])
    if symbolic.status == 3:
        raise Skipped("refused: " + symbolic.stderr.strip().splitlines()[0])
    if symbolic.limited:
        raise Skipped("too large for the solver")
    for key in explicit.found.keys() | symbolic.found.keys():
        a, b = explicit.found.get(key), symbolic.found.get(key)
        if a != b:
            raise Failure(f"{model} {' '.join(map(str, arguments))} depth {depth}: {key}: search '{a}', {engine} '{b}'")
        if a is None and symbolic.sure.get(key) and not explicit.sure.get(key):
            raise Failure(f"{model} {' '.join(map(str, arguments))} depth {depth}: {key}: {engine} is sure, the search is not")
    return len(symbolic.found)


def instances(path, most=3):
    """The arguments of the model's expectations, without what belongs to a search."""
    seen = []
    for line in path.read_text(encoding="utf-8").splitlines():
        said = re.match(r"//\s*expect:(.*)", line)
        if not said or " error " in said.group(1) or " --semantics" in line:
            continue
        words, kept = said.group(1).split(), []
        while words:
            word = words.pop(0)
            if word in ("-D", "--env") and words:
                kept += [word, words.pop(0)]
        if kept not in seen:
            seen.append(kept)
    return seen[:most]
