"""rondo, Spin, Rumur and the bare loop on a case: built once, run as often as one likes, each with its numbers of states and transitions
read from what it says, and held against rondo's."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess

import measure

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
UNREDUCED = ["--reduce", "message-order"]
SPIN = ["-w", "-DSAFETY", "-DNOREDUCE", "-DNOFAIR", "-DNOBOUNDCHECK", "-DVECTORSZ=4096"]
NATIVE = ["-O3", "-march=native"]
PORTABLE = ["-O3"]            # what valgrind understands, and the same on every machine
HASTY = ["-O0"]               # where time does not matter


@dataclasses.dataclass
class Tried:
    states: int
    transitions: int          # 0: not said
    run: measure.Run


@dataclasses.dataclass
class Tool:
    """command: to be run in where. reads: its output -> states, transitions, both as rondo counts them."""
    name: str
    command: list
    where: pathlib.Path
    reads: object
    elapsed: bool = False     # what counts is time, not processor time: it has several threads

    def run(self, limit=300):
        run = measure.measured(self.command, self.where, limit)
        if run.late:
            return None
        got = self.reads(run.out)
        if got is None:
            raise SystemExit(f"{self.name} says otherwise, status {run.status}: {' '.join(map(str, self.command))}\n{run.out[-2000:]}")
        return Tried(*got, run)

    def count(self):
        return measure.counted(self.command, self.where)


# --- rondo ---

def read_rondo(out):
    begins = re.search(r"^\{", out, re.M)  # after warnings, if there are some
    report = json.loads(out[begins.start():]) if begins else {"verdict": ""}
    return (report["stats"]["states"], report["stats"]["transitions"]) if report["verdict"] == "holds" else None


def rondo(program, case, more=(), threads=1, name="rondo", launcher=()):
    many = [] if launcher else ["--threads", threads]
    command = [*launcher, program, "check", case.model.path, *case.defines, "--property", case.model.property, *(more or UNREDUCED), *many,
               "--json", "--no-trace"]
    return Tool(name, command, ROOT, read_rondo, elapsed=threads > 1 or bool(launcher))


def plain(program, case):
    return rondo(program, case, [*UNREDUCED, "--successors", "plain"], name="plain")


# --- Spin ---

NUMBER = r"(\d[\d.]*(?:e\+\d+)?)"      # large ones with eight digits


def number(text):
    return int(float(text))


def same(one, other):
    """As far as Spin says."""
    return one == other or (min(one, other) > 10 ** 8 and abs(one - other) < 1e-7 * other)


def log2(states):
    """A table with a place for every state."""
    return max(16, (states - 1).bit_length())


def spin(case, states, where, flags=(), text=None, name="spin", compiler=NATIVE, cores=0):
    """text: the model, if not the one written by hand. The state in which nothing is chosen yet is not counted, nor how it is left."""
    where.mkdir(parents=True, exist_ok=True)
    model = text or case.model.peers.promela(*case.size)
    (where / "m.pml").write_text(model.replace("hidden ", "") if cores else model)     # its parallel search cannot hide variables
    measure.build(["spin", "-o2", "-a", "m.pml"], where)       # without -o2, what nobody reads is no part of the state
    measure.build(["gcc", *compiler, *SPIN, *flags, "-o", "pan", "pan.c"], where)

    def reads(out):
        found = re.search(rf"{NUMBER} states, stored.*?{NUMBER} transitions", out, re.S)
        if "errors: 0" not in out or "too small" in out or not found:
            return None
        before = case.chosen + (case.halfway if cores else 0)
        if text:                                               # rondo's export: one choice of the initial state, by a rule
            return number(found.group(1)) - 1, 0
        return number(found.group(1)) - before, 0 if cores else number(found.group(2)) - 1 - (case.initial if case.chosen else 0)

    return Tool(name, ["./pan", "-m10000", f"-w{log2(states)}", *([f"-u{cores}"] if cores else [])], where, reads, elapsed=cores > 0)


# --- Rumur ---

def rumur(case, states, where, text=None, name="rumur", compiler=NATIVE, symmetric=False):
    """One thread, and a table that need not grow: one to three slots for every state."""
    where.mkdir(parents=True, exist_ok=True)
    extra = [symmetric] if case.model.name == "Paxos" else []
    (where / "m.m").write_text(text or case.model.peers.murphi(*case.size, *extra))

    def write(capacity):
        measure.build(["rumur", "--threads", 1, "--deadlock-detection", "off", "--counterexample-trace", "off", "--set-capacity", capacity,
                       "--output", "m.c", "m.m"], where)

    write(1 << 20)
    bits = int(re.search(r"STATE_SIZE_BITS = (\d+)", (where / "m.c").read_text()).group(1))
    write(max(1 << 20, 3 * states * 8 * (bits // 8 + 1)))      # it takes that by the bytes of a pointer, and of a state, for the number of slots
    measure.build(["gcc", "-w", *compiler, "-mcx16", "-o", "m", "m.c", "-lpthread"], where)

    def reads(out):
        found = re.search(r"(\d+) states, (\d+) rules fired", out)
        if "No error found" not in out or not found:
            return None
        return (int(found.group(1)) - 1, 0) if text else (int(found.group(1)), int(found.group(2)))

    return Tool(name, ["./m"], where, reads)


def exported(program, case, form):
    command = [program, "export", case.model.path, *case.defines, "--property", case.model.property, "--to", form]
    return subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=True).stdout


# --- the bare loop ---

def bare(case, states, transitions, where, bytes_a_key=16, compiler=NATIVE):
    where.mkdir(parents=True, exist_ok=True)
    measure.build(["gcc", *compiler, "-o", "insert", HERE / "bare/insert.c"], where)
    return Tool(f"bare, {8 * bytes_a_key} bits", ["./insert", states, transitions, bytes_a_key], where,
                lambda out: (int(out), transitions) if out.strip().isdigit() else None)


def mpi(ranks):
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *root, "--oversubscribe", "-q", "-n", str(ranks)]
