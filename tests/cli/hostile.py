"""Files that somebody else may have made: control characters in them do not reach the terminal, and they name no other files."""
import json
import os

from harness import must, test

BROKEN = "models/broken/one_third_rule_half.rondo"
ESCAPE = "\033]0;owned\007\033[31m\u009b5m\x7f"


def plain(done):
    said = done.stdout + done.stderr
    bad = [c for c in said if c != "\n" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0)]
    must(not bad, f"control characters {bad}: {said!r}")
    return said


@test
def control_characters_are_escaped(rondo):
    text = "algorithm A\nprocess P[1] { var x: 0..1 = 0  round { update { x := y } } }\nenvironment e {}\nsafety s: forall p in P: p.x == 0\n"
    path = rondo.file(f"m{ESCAPE.replace('/', '')}.rondo", text + f"// {ESCAPE}\n")
    must("\\x1b" in plain(rondo("check", path, status=3)), "the name is shown escaped")
    plain(rondo("check", rondo.folder / f"none{ESCAPE}", status=3))
    plain(rondo("check", path, f"--{ESCAPE}", status=3))
    plain(rondo("check", path, "--property", ESCAPE, status=3))
    plain(rondo("lint", rondo.file(f"l{ESCAPE}.rondo", text.replace("x := y", "x := 0")), status=0))
    plain(rondo("check", rondo.file("c.rondo", text + ESCAPE + "\n"), status=3))


def trace_of(rondo, model=BROKEN):
    path = rondo.folder / "trace.json"
    rondo("check", model, "-D", "n=3", "--property", "agreement", "--trace-out", path, status=1)
    return json.loads(path.read_text())


@test
def traces_are_shown_escaped(rondo):
    trace = trace_of(rondo)

    def damaged(value):
        """Every copy in which one string is another."""
        if isinstance(value, dict):
            for key in value:
                for other in damaged(value[key]):
                    yield {**value, key: other}
                yield {ESCAPE if k == key else k: v for k, v in value.items()}
        elif isinstance(value, list):
            for i, one in enumerate(value[:2]):
                for other in damaged(one):
                    yield value[:i] + [other] + value[i + 1:]
        elif isinstance(value, str):
            yield ESCAPE
    for other in list(damaged(trace))[::3]:
        plain(rondo("replay", rondo.file("other.json", json.dumps(other)), BROKEN, status=(0, 1, 3)))


@test
def a_trace_names_only_what_is_beside_it(rondo):
    trace = trace_of(rondo)
    name = next(key for key in trace["model"] if str(trace["model"][key]).endswith(".rondo"))
    must(trace["model"][name] == BROKEN, trace["model"])
    rondo("replay", rondo.folder / "trace.json", status=1)  # in this directory
    secret = rondo.folder / "secret.rondo"
    secret.write_text("this is secret\n")
    folder = rondo.folder / "traces"
    folder.mkdir()
    for path in (str(secret), "../secret.rondo", "/etc/passwd", "/dev/stdin", "", "..", os.path.relpath(secret)):
        trace["model"][name] = path
        (folder / "t.json").write_text(json.dumps(trace))
        done = rondo("replay", folder / "t.json", status=3)
        must("secret\n" not in done.stderr.replace("secret.rondo", "") and "root:" not in done.stderr, done.stderr)
    (folder / "half.rondo").write_text(open(BROKEN, encoding="utf-8").read())
    trace["model"][name] = "/somewhere/else/half.rondo"
    (folder / "t.json").write_text(json.dumps(trace))
    rondo("replay", folder / "t.json", status=1)  # beside it
    rondo("replay", folder / "t.json", BROKEN, status=1)  # given
