"""What the tests of the command line share."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests"))
import signals  # noqa: E402, F401, for its tests  pylint: disable=unused-import
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Wrong(Exception):
    pass


def must(condition, what):
    if not condition:
        raise Wrong(what)


class Rondo:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def __call__(self, *arguments, status=None, says=None, stdin=None, env=None):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                              cwd=ROOT, input=stdin or "", timeout=300, env={**os.environ, **(env or {})})
        shown = f"rondo {' '.join(map(str, arguments))}"
        said = done.stdout + done.stderr
        must("Sanitizer" not in said and "runtime error:" not in said, f"{shown}: a sanitizer speaks\n{said[-3000:]}")
        if status is not None:
            allowed = status if isinstance(status, tuple) else (status,)
            must(done.returncode in allowed, f"{shown}: exit status {done.returncode} where {status} was due\n{said[:1500]}")
        if says is not None:
            must(says in said, f"{shown}: does not say \"{says}\"\n{said[:1500]}")
        return done

    def json(self, *arguments, status=None, **more):
        return json.loads(self(*arguments, "--json", status=status, **more).stdout)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path
