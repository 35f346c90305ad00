"""One model checked in every way that must give the same answer.

The reference is `--reduce none`, which tries outcomes instead of heard-of sets; `--successors plain` tries every
heard-of assignment with the interpreter and must agree with it state by state; every reduction must find the same
violations, covers and errors, after as many rounds and with as many faults. Every trace must replay.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import fork_server  # noqa: E402

REDUCTIONS = ("symmetry", "partition", "order", "message-order", "round-rank", "dead-variables", "merging")
STATES, SECONDS = 2000, 1
ASSIGNMENTS_MOST = 40000


class Skipped(Exception):
    """Refused by the checker, or too large to compare."""


class Failure(Exception):
    def __init__(self, kind, detail):
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


class Answer:
    """What `rondo check --json` said, as far as it must not depend on the way."""

    def __init__(self, program, path, extra, states=STATES, seconds=SECONDS, setting=None):
        extra = [*extra, "--max-states", str(states), "--max-time", str(seconds)]
        self.command = [program, "check", path, "--json", *extra]
        environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1", **(setting or {}))
        way = " ".join(a for a in extra if not re.fullmatch(r"--max-\w+|\d+", a)) or "default"
        try:
            done = fork_server.run(self.command, timeout=20, env=environment)
        except subprocess.TimeoutExpired as late:
            raise Skipped("slow") from late
        self.status, self.stderr, self.stdout = done.returncode, done.stderr, done.stdout
        if self.status not in (0, 1, 2, 3) or "Sanitizer" in done.stderr or "runtime error:" in done.stderr:
            raise Failure(f"exit status {self.status} ({way})", done.stderr.strip()[-2500:])
        if self.status == 3:
            return
        try:
            self.json = json.loads(done.stdout)
        except ValueError as bad:
            raise Failure(f"no JSON ({way})", str(bad)) from bad
        self.limited = any("the limit of" in p["proved"] for p in self.json["properties"]) or any(
            run["stats"]["seconds"] >= 0.9 * seconds or run["stats"]["states"] >= states for run in self.json["runs"])
        self.found, self.said, self.traces = {}, {}, []
        for p in self.json["properties"]:
            key = (p["name"], p.get("environment") or str(p.get("run")))
            found = p["verdict"] == ("holds" if p["kind"] == "cover" else "violated") and not p["proved"].startswith("never")
            proved = p["proved"]
            if p["kind"] == "error":
                proved = proved.split(":")[0]  # which of several errors is shown is free
            self.found[key] = proved if found else None
            self.said[key] = (p["verdict"], re.sub(r"^every run.*", "every run", proved))
            if found:
                if not p.get("trace") and p["kind"] == "error" and proved == "in an initial state":
                    continue  # there is no run yet
                self.traces.append(p["name"])
                if not p.get("trace"):
                    raise Failure(f"no trace ({way})", str(key))
                if p["kind"] == "live":
                    continue
                events = trace_events(p["trace"])
                told = re.search(r"after (\d+) (?:round|step)", proved)
                length = len(p["trace"].get("order") or events)
                if length != (int(told.group(1)) if told else 0):
                    raise Failure(f"trace length ({way})", f"{key}: a trace of {length} for '{proved}'")
                if not p["trace"].get("order"):  # whole rounds go on where somebody has not come yet
                    check_faults(p, way)
        self.erred = any(p["kind"] == "error" and p["verdict"] == "violated" for p in self.json["properties"])
        # the search for deadlocks ends with the first one, after as many states as it takes
        ends = {p["run"] for p in self.json["properties"] if p["name"] == "deadlock" and p["verdict"] == "violated"}
        self.states = [run["stats"]["states"] for i, run in enumerate(self.json["runs"]) if i not in ends]
        counts = [run["stats"]["heard_of_assignments"] for run in self.json["runs"]]
        self.assignments = None if None in counts else sum(int(c) for c in counts)


def trace_events(trace):
    return trace["steps" if "steps" in trace else "rounds"]


def check_faults(p, way):
    """The faulty processes that the answer speaks of are those of the trace."""
    told = re.search(r"(\d+) faulty", p["proved"])
    events = trace_events(p["trace"])
    states = [p["trace"]["initial"]] + [r["state"] for r in events if r["state"]]
    faulty = sum(any(s != "halted" for s in q["status"]) for q in states[-1]["processes"])
    if events and not events[-1]["state"]:
        faulty += len(events[-1].get("crashes", ()))
    if faulty != (int(told.group(1)) if told else 0):
        raise Failure(f"faulty processes ({way})", f"{p['name']}: {faulty} in a trace for '{p['proved']}'")


def difference(a, b):
    """The first property that was found in one answer only, or differently."""
    for key in a.found.keys() | b.found.keys():
        if a.found.get(key) != b.found.get(key):
            return f"{key[0]} in {key[1]}: '{a.found.get(key)}' and '{b.found.get(key)}'"
    return None


def certain(a, b):
    """A property that one answer proves for every run and the other violates."""
    for key in a.said.keys() & b.said.keys():
        if {a.said[key][0], b.said[key][0]} == {"holds", "violated"}:
            return f"{key[0]} in {key[1]}: {a.said[key]} and {b.said[key]}"
    return None


class Comparison:
    def __init__(self, program, folder, name="model"):
        self.program, self.folder, self.name = program, folder, name
        self.path = os.path.join(folder, f"{name}.rondo")
        self.fine = {}  # what was said in fine rounds, by way

    def check(self, *extra):
        return Answer(self.program, self.path, [*extra, "--semantics", "coarse"])

    def finely(self, reduce):
        """Each process in a round of its own: what is local has the same verdict there."""
        command = [self.program, "compare", self.path, "--json", "--reduce", reduce, "--max-states", "3000", "--max-time", "1"]
        done = fork_server.run(command, timeout=60)
        if done.returncode not in (0, 1, 2):
            raise Failure(f"fine rounds ({reduce})", f"exit status {done.returncode}: {done.stderr.strip()[-1500:]}")
        solo = self.in_fine_rounds("--reduce", reduce)
        whole = solo and self.in_fine_rounds("--reduce", "none", "--successors", "plain")
        if not whole:
            return
        if solo.erred and whole.erred:  # whose of several errors in a round is seen, and so when the search ends, is free
            return
        if difference(solo, whole):
            raise Failure(f"fine rounds, solo and whole ({reduce})", difference(solo, whole))

    def in_fine_rounds(self, *way):
        """The answer; None where it is refused or limited. Every way is asked once for a model."""
        if way not in self.fine:
            try:
                answer = Answer(self.program, self.path, [*way, "--semantics", "fine", "--max-distance", "1"], 3000, 2)
                self.fine[way] = None if answer.status == 3 or answer.limited else answer
            except Skipped:
                self.fine[way] = None
        return self.fine[way]

    def base(self, bounds=(4, 2, 1)):
        """The reference answer and the plain one, looking as far as the plain way can follow; (answer, rounds)."""
        for bound in bounds:
            answer = self.check("--reduce", "none", "--max-rounds", str(bound))
            if answer.status == 3:
                raise Skipped("refused")
            if answer.limited or (answer.assignments or 0) > ASSIGNMENTS_MOST:
                continue
            plain = self.check("--reduce", "none", "--successors", "plain", "--max-rounds", str(bound))
            if plain.status == 3:
                raise Failure("plain refuses", plain.stderr[-500:])
            if not plain.limited:
                return answer, plain, bound
        raise Skipped("large")

    @staticmethod
    def plain(base, answer):
        wrong = difference(base, answer)
        if wrong:
            raise Failure("plain verdicts", wrong)
        if base.states != answer.states:
            raise Failure("plain states", f"outcomes {base.states}, plain {answer.states}")
        if base.said != answer.said:
            raise Failure("plain words", f"{base.said} and {answer.said}")

    def reduced(self, base, rounds, how):
        answer = self.check(*(["--reduce", how] if how else []), "--max-rounds", str(rounds))
        how = how or "default"
        if answer.status == 3:
            raise Failure(f"{how} refuses", answer.stderr[-500:])
        if answer.limited and sum(answer.states) > sum(base.states):
            raise Failure(f"{how} is limited", f"where none has {base.states} states")
        if answer.limited:
            raise Skipped("slow")
        wrong = difference(base, answer) or certain(base, answer)
        if wrong:
            raise Failure(f"{how} verdicts", f"none and {how} say of {wrong}")
        return answer

    def regions(self, base, rounds, how):
        """Menus by regions of numbers instead of every number."""
        answer = self.check("--reduce", how, "--successors", "regions", "--max-rounds", str(rounds))
        if answer.limited:
            raise Skipped("slow")
        wrong = difference(base, answer) or certain(base, answer)
        if wrong:
            raise Failure(f"regions verdicts ({how})", wrong)
        if base.states != answer.states:
            raise Failure(f"regions states ({how})", f"enumerated {base.states}, by regions {answer.states}")

    def replays(self, answer, way):
        file = os.path.join(self.folder, f"{self.name}.json")
        with open(file, "w", encoding="utf-8") as out:
            out.write(answer.stdout)
        for name in sorted(set(answer.traces)):
            done = fork_server.run([self.program, "replay", file, self.path, "--json"] + ([] if name == "no_error" else ["--property", name]),
                                   timeout=60)
            if name == "no_error" and len(answer.traces) > 1:
                continue  # replay takes the first trace
            if done.returncode != 1 and not (done.returncode == 0 and '"confirmed"' in done.stdout):
                raise Failure(f"replay ({way})", f"{name}: exit status {done.returncode}: {done.stdout.strip()} {done.stderr.strip()[-800:]}")

    def everything(self, text):
        """Raises Failure or Skipped; returns the rounds looked at."""
        self.write(text)
        base, plain, rounds = self.base()
        self.plain(base, plain)
        reduced = self.reduced(base, rounds, None)
        granted = {r["name"] for run in reduced.json["runs"] for r in run["reductions"] if r["granted"]}
        for how in REDUCTIONS:
            if how in granted:
                self.reduced(base, rounds, how)
        self.regions(base, rounds, "none")
        self.regions(reduced, rounds, "auto")
        self.replays(base, "none")
        self.replays(reduced, "default")
        self.finely("auto")
        self.finely("none")
        return rounds, granted

    def again(self, text, kind):
        """Does the model still fail in this way? Runs no more than that needs."""
        self.write(text)
        try:
            base, plain, rounds = self.base()
            if kind.startswith("fine"):
                self.finely("auto")
                self.finely("none")
            elif "plain" in kind:
                self.plain(base, plain)
            elif "regions" in kind:
                self.regions(base, rounds, "none")
                self.regions(self.reduced(base, rounds, None), rounds, "auto")
            elif kind.startswith("replay") or "none" in kind:
                self.replays(base, "none")
                if "default" in kind:
                    self.replays(self.reduced(base, rounds, None), "default")
            else:
                for how in REDUCTIONS:
                    if re.search(rf"\b{how}\b", kind):
                        self.reduced(base, rounds, how)
                self.reduced(base, rounds, None)
        except Failure as failure:
            return failure.kind == kind
        except Skipped:
            return False
        return False

    def write(self, text):
        self.fine = {}
        with open(self.path, "w", encoding="utf-8") as out:
            out.write(text)
