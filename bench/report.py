"""What the bench found, as CSV, one figure a line, and as Markdown."""
import csv
import dataclasses

TARGETS = [
    ("Spin, by hand", "spin", "time to rondo's, best", 5),
    ("Spin, exported by rondo", "spin, exported", "time to rondo's, best", 5),
    ("Rumur, by hand", "rumur", "time to rondo's, best", 30),
]


@dataclasses.dataclass
class Row:
    part: str
    model: str
    size: str
    who: str
    what: str
    value: object


def write_csv(rows, path):
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([field.name for field in dataclasses.fields(Row)])
        for row in rows:
            value = f"{row.value:.4g}" if isinstance(row.value, float) else row.value
            out.writerow([row.part, row.model, row.size, row.who, row.what, value])


class Figures:
    def __init__(self, rows, part):
        self.rows = [row for row in rows if row.part == part]
        self.at = {(row.model, row.size, row.who, row.what): row.value for row in self.rows}

    def cases(self):
        return list(dict.fromkeys((row.model, row.size) for row in self.rows))

    def who(self):
        return list(dict.fromkeys(row.who for row in self.rows))

    def get(self, case, who, what):
        return self.at.get((*case, who, what))

    def cell(self, case, who, what):
        """To two figures; (!): not the same states, so that it says nothing."""
        value = self.get(case, who, what)
        if value is None:
            return "out of time" if self.get(case, who, "out of time") else "-"
        return rough(value) + (" (!)" if self.get(case, who, "equal") == "no" else "")


def rough(value):
    if value == "" or value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str):
        return value
    if value >= 100:
        digits = len(str(int(value))) - 2
        return f"{round(value / 10 ** digits) * 10 ** digits:,}"
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def table(heads, lines, left=2):
    out = ["| " + " | ".join(heads) + " |", "| " + " | ".join(["---"] * left + ["---:"] * (len(heads) - left)) + " |"]
    return "\n".join([*out, *("| " + " | ".join(line) + " |" for line in lines)]) + "\n"


def peers(rows):
    f = Figures(rows, "peers")
    if not f.rows:
        return ""
    cases, others = f.cases(), [who for who in f.who() if who != "rondo"]
    size = [[*case, rough(f.get(case, "rondo", "states")), rough(f.get(case, "rondo", "transitions"))] for case in cases]

    def times(what):
        return table(["model", "size", *others], [[*case, *(f.cell(case, who, what) for who in others)] for case in cases])

    everybody = ["rondo", *others]
    space = table(["model", "size", *everybody], [[*case, *(f.cell(case, who, "bytes a state") for who in everybody)] for case in cases])
    bare = table(["model", "size", *(who for who in everybody if who != "bare, 128 bits")],
                 [[*case, *(f.cell(case, who, "speed to the bare loop's") for who in everybody if who != "bare, 128 bits")] for case in cases])
    return f"""## The same states
Every tool visits these, without reductions; the bench insists on it. Spin's and Rumur's models are written by hand ([peers](peers)), or by `rondo export` ("exported": on one size each, since Paxos's quorums are written out there, which makes it slow; Rumur takes longer still).

{table(["model", "size", "states", "transitions"], size)}
## Processor time
How many times as long as rondo, one core each: the best of the runs.

{times("time to rondo's, best")}
The median:

{times("time to rondo's, median")}
## Against the bare loop
How fast each is, if a loop that only puts as many keys of 128 bits into a table, as many of them new, is 1.

{bare}
![states a second](states.svg)

## Memory
Bytes a state, of all that the process had at its peak.

{space}
![bytes a state](bytes.svg)

## What was asked for
{targets(f)}
"""


def targets(f):
    """On the largest size of each model that the tool was run on."""
    lines = []
    for name, who, what, wanted in TARGETS:
        for model in dict.fromkeys(model for model, _ in f.cases()):
            sizes = [case for case in f.cases() if case[0] == model and f.get(case, who, what) is not None]
            if sizes:
                got = f.get(sizes[-1], who, what)
                lines.append([f"time of {name}", f"{model}, {sizes[-1][1]}", f"at least {wanted}", rough(got), "yes" if got >= wanted else "no"])
    for model in dict.fromkeys(model for model, _ in f.cases()):
        case = [case for case in f.cases() if case[0] == model][-1]
        name = f"{model}, {case[1]}"
        if f.get(case, "spin", "bytes a state"):
            got = f.get(case, "spin", "bytes a state") / f.get(case, "rondo", "bytes a state")
            lines.append(["memory of Spin", name, "at least 3", rough(got), "yes" if got >= 3 else "no"])
        got = 1 / f.get(case, "rondo", "speed to the bare loop's")
        lines.append(["rondo's time to the bare loop's", name, "at most 2", rough(got), "yes" if got <= 2 else "no"])
    return table(["ratio", "model", "wanted", "found", "reached"], lines)


def plain(rows):
    f = Figures(rows, "plain")
    if not f.rows:
        return ""
    lines = [[*case, f.cell(case, "plain", "states"), f.cell(case, "plain", "time to rondo's, best")] for case in f.cases()]
    return "## The plain way\n`--successors plain`: the interpreter for every step, nothing remembered. How many times as long as rondo:\n\n" + table(
        ["model", "size", "states", "time"], lines) + "\n"


def symmetry(rows):
    f = Figures(rows, "symmetry")
    if not f.rows:
        return ""
    lines = [[*case, who, f.cell(case, who, "states"), f.cell(case, who, "time to rondo's, best")] for case in f.cases() for who in f.who()]
    return "## With symmetry\nOf the acceptors. Rumur's way leaves some symmetric states apart, rondo's does not. How many times as long as rondo (40 on the largest was asked for):\n\n" + table(
        ["model", "size", "who", "states", "time"], lines, 3) + "\n"


def counts(rows):
    f = Figures(rows, "counts")
    if not f.rows:
        return ""
    def of(what):
        return table(["model", "size", *f.who()], [[*case, *(f.cell(case, who, what) for who in f.who())] for case in f.cases()])
    return f"""## Instructions a transition
By cachegrind, the same on every machine with this compiler and these libraries: what a transition more costs, from a smaller size to this one. What rondo does once for each
local step is in it as far as the larger size has new ones.

{of("instructions a transition")}
Misses of data a transition in a simulated last cache of 2 MiB. Processor counters, and the bandwidth of memory with them, were not measured: virtual machines
seldom have them.

{of("misses a transition, simulated")}
"""


def scaling(rows):
    f = Figures(rows, "scaling")
    if not f.rows:
        return ""
    case = f.cases()[0]
    lines = [[*who.split(": "), f.cell(case, who, "speed to one thread of rondo's"), f.cell(case, who, "processor time to one thread's")] for who in f.who()]
    return f"""## Threads and ranks
{case[0]}, {case[1]}: how fast, if one thread of rondo's is 1; by the clock, so that on a busy machine it says little. Work: processor time of all threads, if that of one is 1. Ranks beyond the number of cores share them. Spin's parallel search
(`-DBFS_PAR`) keeps hashes of states (hash compaction), not states.

{table(["who", "how many", "speed", "work"], lines)}
![scaling](scaling.svg)

{long_runs(rows)}"""


def long_runs(rows):
    """On runs of over ten seconds two threads were asked to be at least 1.7 times as fast as one."""
    f = Figures(rows, "long")
    lines = []
    for case in f.cases():
        for who in f.who():
            speed, threads = f.get(case, who, "speed to one thread of rondo's"), who.split(": ")[1]
            reached = ("yes" if speed >= 1.7 else "no") if threads == "2" else "-"
            lines.append([*case, f.cell(case, who, "states"), threads, rough(speed), f.cell(case, who, "processor time to one thread's"), reached])
    if not lines:
        return ""
    return f"""Runs of over ten seconds on one thread; two threads were to be at least 1.7 times as fast:

{table(["model", "size", "states", "threads", "speed", "work", "reached"], lines)}"""


def growth(rows):
    f = Figures(rows, "growth")
    if not f.rows:
        return ""
    lines = []
    for case in f.cases():
        if f.get(case, "rondo", "largest n") is not None:
            lines.append([*case, f.cell(case, "rondo", "largest n"), f.cell(case, "rondo", "states"), f.cell(case, "rondo", "beyond"),
                          f.cell(case, "plain", "largest n"), f.cell(case, "plain", "time to rondo's, best")])
    return f"""## Time against n
The largest n that is decided within a limit of a few seconds and 1 GiB, and what happened beyond; beside it the plain way, which tries every heard-of set and reduces nothing, with its time to
rondo's at its own largest n. `bench/reach.py` does the same with a minute for each.

{table(["question", "rondo uses", "largest n", "states", "beyond", "plain n", "plain time"], lines)}
![time against n](growth.svg)
"""


def markdown(rows):
    head = """# Results of the bench
Written by `make bench`. Ratios, and what is the same everywhere: no times. (!): other numbers of states than rondo's, so that the row says nothing. What to make of it:
[docs/performance.md](../docs/performance.md). All figures: [results.csv](results.csv).
"""
    parts = [head, peers(rows), plain(rows), symmetry(rows), counts(rows), scaling(rows), growth(rows)]
    return "\n".join(part.strip("\n") + "\n" for part in parts if part)
