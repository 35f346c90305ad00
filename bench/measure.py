"""Programs run and measured: processor time, time, peak memory; instructions and cache misses by valgrind's simulation, which are the same
every time."""
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Run:
    out: str
    status: int
    cpu: float                # user and system seconds, of all its threads and children
    elapsed: float
    peak: int                 # bytes
    late: bool                # ended because it took too long


class Clock:
    """The program by which others are started; made when it is needed first."""
    folder = None
    lock = threading.Lock()

    @classmethod
    def program(cls):
        with cls.lock:
            if not cls.folder:
                cls.folder = tempfile.TemporaryDirectory()
                build(["gcc", "-O2", "-o", "timed", HERE / "timed.c"], cls.folder.name)
        return f"{cls.folder.name}/timed"


def measured(command, where=None, limit=300):
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.NamedTemporaryFile("r") as told:
        process = subprocess.Popen([Clock.program(), told.name, *map(str, command)], cwd=where, stdout=out, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        late = False
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            late = True
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        status, cpu, elapsed, peak = map(int, told.read().split()) if not late else (-signal.SIGKILL, 0, 0, 0)
        return Run(out.read(), status, cpu / 1e6, elapsed / 1e6, peak * 1024, late)


def build(command, where):
    done = subprocess.run(list(map(str, command)), cwd=where, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


LL = 2 << 20                  # of the simulated machine: the small models of the bench are larger than this


@dataclasses.dataclass
class Count:
    instructions: int
    misses: int               # of data, in the last cache


def counted(command, where=None, limit=300):
    """By cachegrind; None: it is not there, or cannot."""
    run = measured(["valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--LL={LL},16,64", "--D1=32768,8,64", "--I1=32768,8,64",
                    "--cachegrind-out-file=/dev/null", *command], where, limit)
    found = {name: int(number.replace(",", "")) for name, number in re.findall(r"==\d+== (I +refs|LLd misses): +([\d,]+)", run.out)}
    if run.late or len(found) != 2:
        return None
    return Count(*(found[name] for name in sorted(found, key=lambda name: name[0] != "I")))
