#!/usr/bin/env python3
"""How far rondo gets: for each row the largest n that it decides within a minute and 4 GiB on one core, beside the largest n
of the plain way, which tries every heard-of set and reduces nothing. A Markdown table on stdout, progress on stderr.

usage: bench/reach.py [RONDO] [--quick | --smoke] [--rows WORDS] [--properties all] ...

Only the verdict `holds` counts. Time is processor time, so that other programs on the machine matter little. A larger n is
not tried when, going by the slowest growth so far, it would take far more than the limit; the table then says `growth`.
Where n is large, it is found to within a few per cent.
"""
import argparse
import dataclasses
import json
import math
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VECTORS = "message-order,dead-variables,merging,round-rank"        # states are vectors of processes
PROCESSES = "symmetry," + VECTORS
MIB = 1 << 20


@dataclasses.dataclass
class Row:
    name: str                 # of the model and the question
    how: str                  # what rondo may use
    model: str
    fixed: str                # parameters and environment; {n} stands for n
    reduce: str
    start: int                # the smallest n
    reference: str            # how far a prototype made for this one algorithm got, if there was one
    plain: str = "none"       # what the plain way may use: nothing, unless it would never end


OTR, UV = "models/one_third_rule.rondo", "models/uniform_voting.rondo"
OTR_P, UV_P = "models/papers/one_third_rule_tla.rondo", "models/papers/uniform_voting_tla.rondo"
LV, LV_ONE = "models/last_voting.rondo", "bench/models/last_voting_one_coordinator.rondo"
FLOOD, LOSSES = "models/floodset.rondo", "bench/models/one_third_rule_losses.rondo"

ROWS = [
    Row("one-third rule, p proposes p", "vectors", OTR_P, "-D n={n}", VECTORS, 2, "11"),
    Row("one-third rule, p proposes p", "symmetry", OTR_P, "-D n={n}", "auto", 2, "16"),
    Row("one-third rule, all inputs, 2 values", "all", OTR, "-D n={n} -D k=2", "auto", 2, "10,000"),
    Row("one-third rule, all inputs, 3 values", "all", OTR, "-D n={n} -D k=3", "auto", 2, "300"),
    Row("one-third rule, all inputs, 4 values", "all", OTR, "-D n={n} -D k=4", "auto", 2, "80"),
    Row("UniformVoting, p proposes p", "vectors", UV_P, "-D n={n}", VECTORS, 2, "7"),
    Row("UniformVoting, p proposes p", "symmetry", UV_P, "-D n={n}", "auto", 2, "12"),
    Row("UniformVoting, all inputs, 2 values", "all", UV, "-D n={n} -D k=2", "auto", 2, "10,000"),
    Row("UniformVoting, all inputs, 3 values", "all", UV, "-D n={n} -D k=3", "auto", 2, "1,000"),
    Row("LastVoting, 2 values", "vectors", LV, "-D n={n} -D k=2", VECTORS, 1, "6", "round-rank"),
    Row("LastVoting, 2 values", "all", LV, "-D n={n} -D k=2", "auto", 1, "8", "round-rank"),
    Row("LastVoting, 2 values, one coordinator", "vectors", LV_ONE, "-D n={n} -D k=2", VECTORS, 1, "", "round-rank"),
    Row("LastVoting, 2 values, one coordinator", "all", LV_ONE, "-D n={n} -D k=2", "auto", 1, "", "round-rank"),
    Row("FloodSet, f = 3", "vectors", FLOOD, "-D n={n} -D f=3", VECTORS, 4, "6"),
    Row("FloodSet, f = 3", "symmetry", FLOOD, "-D n={n} -D f=3", PROCESSES, 4, "8"),
    Row("FloodSet, f = 3", "symmetry, order", FLOOD, "-D n={n} -D f=3", "auto", 4, "12"),
    Row("FloodSet, f = 2", "symmetry, order", FLOOD, "-D n={n} -D f=2", "auto", 3, "24"),
    Row("one-third rule, n losses", "vectors, order by hand", LOSSES, "-D n={n} -D f={n}", VECTORS, 2, "11"),
    Row("one-third rule, n losses", "symmetry, order", OTR, "-D n={n} -D f={n} --env lossy", "auto", 2, "17"),
    Row("one-third rule, 4 losses", "symmetry, order", OTR, "-D n={n} -D f=4 --env lossy", "auto", 2, "20"),
]
SMALL, LARGEST = 16, 100_000      # n goes up by one at first; it goes no further than this


@dataclasses.dataclass
class Answer:
    holds: bool
    why: str                  # it does not: time, memory, or what happened
    seconds: float            # of the processor
    states: int = 0
    bytes: int = 0
    assignments: float = 0    # heard-of assignments that the plain way tries for these states


class Runner:
    """Runs rondo with the limits, on one core, and remembers the answers."""

    def __init__(self, options):
        self.options = options
        self.known = {}
        self.prefix = []
        if shutil.which("taskset") and hasattr(os, "sched_getaffinity"):
            self.prefix = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]

    def properties(self, model):
        if self.options.properties != "all":
            return [self.options.properties]
        lines = [line for line in (ROOT / model).read_text().splitlines() if line.startswith("safety ")]
        return [line.split()[1].rstrip(":") for line in lines]

    def ask(self, model, fixed, ways, n):
        command = [self.options.rondo, "check", model, *fixed.format(n=n).split(), *ways]
        for name in self.properties(model):
            command += ["--property", name]
        key = tuple(command)
        if key not in self.known:
            self.known[key] = self.run(command)
            answer = self.known[key]
            what = "holds" if answer.holds else answer.why
            log(f"  n={n}: {what}, {answer.seconds:.2f} s, {answer.states:,} states")
        return self.known[key]

    def run(self, command):
        limit, memory = self.options.limit, self.options.memory
        command = [*command, "--json", "--no-trace", "--max-memory", f"{memory}M"]
        command += ["--max-time", str(4 * math.ceil(limit))]       # of the clock: only for a machine that is very busy

        def restrict():       # a run that does not watch its limits is ended
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(1.05 * limit), math.ceil(1.05 * limit) + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(self.prefix + command, cwd=ROOT, stdout=out, stderr=errors, preexec_fn=restrict)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
            out.seek(0)
            errors.seek(0)
            text, complaint = out.read(), errors.read().decode(errors="replace").strip()
        seconds, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        if os.WIFSIGNALED(status):
            ended = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
            return Answer(False, "time" if ended else f"signal {os.WTERMSIG(status)}", seconds, bytes=peak)
        try:
            report = json.loads(text)
        except ValueError:
            return Answer(False, complaint.splitlines()[0] if complaint else "no answer", seconds, bytes=peak)
        states = report["stats"]["states"]
        why = ""
        if report["verdict"] == "violated":
            why = "VIOLATED"
        elif peak > memory * MIB:
            why = "memory"
        elif seconds > limit:
            why = "time"
        elif report["verdict"] != "holds":
            why = "memory" if "of memory" in report["properties"][0]["proved"] else "time"
        return Answer(not why, why, seconds, states, peak, float(report["stats"]["heard_of_assignments"] or 0))


def log(text):
    print(text, file=sys.stderr, flush=True)


@dataclasses.dataclass
class Reach:
    n: int                    # the largest that holds; 0: none
    answer: Answer
    stop: str                 # what happened beyond


def growth(points):
    """The slower growth of the last two steps, in log seconds for one more process; 0 if times are too short to tell."""
    points = [(n, max(answer.seconds, 0.005)) for n, answer in points]
    rates = [max(0.0, math.log(t2 / t1) / (n2 - n1)) for (n1, t1), (n2, t2) in zip(points, points[1:]) if t2 > 0.02]
    return min(rates[-2:]) if len(rates) > 1 else 0.0


def stride(points, limit):
    """The next n to try: one more while n is small, then as far as a power of n, from the last two times, lets us go."""
    n, t = points[-1][0], points[-1][1].seconds
    if n < SMALL:
        return n + 1
    before, earlier = points[-2][0], points[-2][1].seconds
    if t < 0.05 or earlier < 0.005:
        return n + n // 2
    power = max(1.0, math.log(t / earlier) / math.log(n / before))
    return max(n + 1, int(n * min(2.0, (0.85 * limit / t) ** (1 / power))))


def search(ask, start, limit, hopeless=None):
    """Goes up, then halves what is between the largest n that holds and the smallest that does not."""
    good, bad, spent, n = [], None, 0.0, start
    while True:
        if good and hopeless and hopeless(n, good):
            return Reach(low, last, "growth")
        answer = ask(n)
        spent += answer.seconds
        if answer.holds:
            good.append((n, answer))
        else:
            bad = (n, answer.why)
        if not good:
            return Reach(0, answer, f"{answer.why} at {n}")
        good.sort()
        low, last = good[-1]
        if bad and bad[0] - low <= max(1, low // 25):
            return Reach(low, last, f"{bad[1]} at {bad[0]}")
        if low >= LARGEST or low >= SMALL and spent > 2 * limit:
            return Reach(low, last, f"{bad[1]} at {bad[0]}" if bad else "not tried further")
        if last.seconds > limit / 30 and last.seconds * math.exp(growth(good)) > 1.5 * limit:
            return Reach(low, last, "growth")
        n = min(stride(good, limit), LARGEST)
        if not bad and low >= 4 * SMALL and n - low <= low // 25:
            return Reach(low, last, "growth")
        if bad and n >= bad[0]:
            n = max(low + 1, int(math.sqrt(low * bad[0])))


def plainly(row):
    return ["--reduce", row.plain, "--successors", "plain"]


def measure(runner, row):
    options = runner.options
    log(f"{row.name}: {row.how}")

    times = {"rondo": {}, "plain": {}}

    def ask(ways, who=None):
        def asked(n):
            answer = runner.ask(row.model, row.fixed, ways, n)
            if who and answer.holds:
                times[who][n] = answer.seconds
            return answer
        return asked

    rondo = ask(["--reduce", row.reduce], "rondo")
    reach = search(rondo, row.start, options.limit)
    log("  the plain way")

    def hopeless(n, good):    # the number of heard-of assignments says how long all of them take
        work = ask(["--reduce", row.plain])(n)
        rate = max(answer.assignments / max(answer.seconds, 0.02) for _, answer in good)
        return not work.holds or work.assignments / max(rate, 100_000) > 1.5 * options.limit

    plain = search(ask(plainly(row), "plain"), row.start, options.limit, hopeless)
    speed = None
    if plain.n:
        here = rondo(plain.n)
        if here.holds:
            speed = plain.answer.seconds / max(here.seconds, 0.001)
    return reach, plain, speed, times


def rough(number):
    """To two figures: more would not be true the next time."""
    if number >= 100:
        digits = int(math.log10(number)) - 1
        return f"{round(number / 10 ** digits) * 10 ** digits:,}"
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"


HEADS = ["question", "rondo uses", "largest n", "states", "seconds", "MiB", "beyond", "prototype", "plain n", "ratio of n",
         "times as fast"]


def line(row, reach, plain, speed):
    ratio = f"{reach.n / plain.n:.1f}" if plain.n and reach.n else "-"
    answer = reach.answer
    found = [f"**{reach.n:,}**", f"{answer.states:,}", f"{answer.seconds:.1f}", f"{answer.bytes / MIB:.0f}"]
    if not reach.n:
        found = ["none", "-", "-", "-"]
    beside = [f"{plain.n}" if plain.n else "none", ratio, rough(speed) if speed else "-"]
    return [row.name, row.how, *found, reach.stop, row.reference or "-", *beside]


def smoke(runner, rows):
    """Every row at its smallest n, both ways. Says nothing about time."""
    passed = failed = 0
    for row in rows:
        for ways in (["--reduce", row.reduce], plainly(row)):
            answer = runner.ask(row.model, row.fixed, ways, row.start)
            if answer.holds or answer.why == "time":
                passed += 1
            else:
                failed += 1
                print(f"{row.name}, {row.how}, {' '.join(ways)}: {answer.why}")
    print(f"bench: {passed} passed, {failed} failed")
    return failed == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rondo", nargs="?", default="build/rondo")
    parser.add_argument("--quick", action="store_true", help="limits of 5 s and 1 GiB: three minutes instead of twenty")
    parser.add_argument("--smoke", action="store_true", help="only see that every row can be run")
    parser.add_argument("--rows", metavar="WORDS", help="only rows with all of these words in them")
    parser.add_argument("--properties", default="agreement", help="a property, or `all` for every safety property of a model")
    parser.add_argument("--limit", type=float, help="seconds for one run (60)")
    parser.add_argument("--memory", type=int, help="MiB for one run (4096)")
    options = parser.parse_args()
    options.rondo = str(pathlib.Path(options.rondo).resolve())
    options.limit = options.limit or (1 if options.smoke else 5 if options.quick else 60)
    options.memory = options.memory or (1024 if options.quick else 4096)
    words = (options.rows or "").split()
    rows = [row for row in ROWS if all(word in f"{row.name} {row.how}" for word in words)]
    runner = Runner(options)
    if options.smoke:
        sys.exit(0 if smoke(runner, rows) else 1)

    began = time.monotonic()
    lines = [HEADS]
    for row in rows:
        lines.append(line(row, *measure(runner, row)[:3]))
    widths = [max(len(cells[i]) for cells in lines) for i in range(len(HEADS))]
    lines.insert(1, ["-" * width for width in widths])
    for cells in lines:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths)) + " |")
    print(f"\nLimits of a run: {options.limit:g} s of one core, {options.memory} MiB. Checked: {options.properties}.")
    log(f"{time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()
