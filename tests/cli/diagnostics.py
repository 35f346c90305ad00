"""Errors in JSON, what to type instead, limits while a model is read, and files that are written."""
import json
import os
import stat

from harness import must, test

FIELDS = ["code", "severity", "file", "line", "column", "end_line", "end_column", "message", "help"]
WRONG = "algorithm W\nparam n where n >= 1\nprocess P[n] {\n  input ready: bool\n  round { send redy to all }\n}\nsafety s: forall p in P: p.ready\n"
RIGHT = WRONG.replace("redy", "ready")


def diagnosed(rondo, *arguments, status, env=None):
    """The diagnostics of an answer that has nothing else."""
    done = rondo(*arguments, "--json", status=status, env=env)
    answer = json.loads(done.stdout)
    must(answer["schema"] == "rondo-diagnostics/1" and answer["status"] == status, answer)
    must(answer["verdict"] == ("inconclusive" if status == 2 else None), answer)
    for d in answer["diagnostics"]:
        must(list(d) == FIELDS, list(d))
        must(f"[{d['code']}]" in done.stderr, f"{d['code']} is not on standard error:\n{done.stderr}")
    return answer["diagnostics"]


@test
def wrong_models_in_json(rondo):
    path = rondo.file("wrong.rondo", WRONG)
    for command in ("check", "lint", "compare", "run"):
        found, = diagnosed(rondo, command, path, "-D", "n=2", status=3)
        must([found[f] for f in FIELDS[:7]] == ["E0201", "error", str(path), 5, 16, 5, 20], found)
        must("unknown name 'redy'" in found["message"] and "did you mean 'ready'" in found["help"], found)
    found, = diagnosed(rondo, "prove", rondo.file("counters.rondo", "counters C\nparam n\ncounter a\nstart a == n * n\nunsafe u: a > n\n"), status=3)
    must(found["code"] == "E0602" and found["line"] == 4, found)
    found = diagnosed(rondo, "check", rondo.file("bytes.rondo", "algorithm A\x01\nß"), status=3)
    must(found and all(d["code"][:3] == "E01" or d["code"] == "E0401" for d in found), found)
    answer = rondo.json("check", rondo.file("right.rondo", RIGHT + "environment e { at most 1 processes crash }\n"), "-D", "n=2", status=1)
    must([d["code"] for d in answer["diagnostics"]] == ["W0106"], answer["diagnostics"])


@test
def usage_errors_limits_and_faults_in_json(rondo):
    path = rondo.file("right.rondo", RIGHT)
    for arguments, code in ((("verify", path), "E0801"), (("check", path, "--no-such"), "E0802"), (("check",), "E0806"), (("fmt", path), "E0803"),
                            (("check", path, "--max-time", "soon"), "E0805"), (("check", "no_such.rondo"), "E0808"),
                            (("check", path, "-D", "n=2", "--property", "t"), "E0810"), (("check", path), "E0701")):
        found = diagnosed(rondo, *arguments, status=3)
        must([d["code"] for d in found] == [code], found)
    found, = diagnosed(rondo, "check", path, "-D", "n=2", status=4, env={"RONDO_TEST_FAULT": "1"})
    must(found["code"] == "E1001", found)
    path = rondo.file("holds.rondo", RIGHT.replace(": p.ready", ": p.ready or not p.ready"))
    answer = rondo.json("check", path, "-D", "n=4", "--max-states", 2, "--reduce", "none", status=2)
    must(answer["verdict"] == "inconclusive" and [d["code"] for d in answer["diagnostics"]] == ["N0106"], answer["diagnostics"])
    must("limit of 2 states" in answer["diagnostics"][0]["message"], answer["diagnostics"])


@test
def what_to_type(rondo):
    path = rondo.file("right.rondo", RIGHT)
    for arguments, says in (((path,), f"rondo check {path}"), (("verify", path), f"rondo check {path}"), (("check", path, "n=3"), f"rondo check {path} -D n=3"),
                            (("-D", "n=3", path), f"rondo check -D n=3 {path}"), (("chek", path), "did you mean 'check'?"),
                            (("simulate", path), f"rondo run {path}"), (("export", path, "n=3", "--to", "tla"), "-D n=3"),
                            (("check", path, "n=3", "k=2"), "-D n=3 -D k=2")):
        rondo(*arguments, status=3, says=says)


@test
def codes_are_explained(rondo):
    listed = rondo("explain", status=0).stdout.splitlines()
    codes = [line.split()[0] for line in listed]
    must(len(codes) > 100 and len(set(codes)) == len(codes), codes)
    for code in codes:
        rondo("explain", code.lower(), status=0, says=code)
    done = rondo("explain", "E0299", status=3, says="unknown code 'E0299'")
    must("E0301" in done.stderr, done.stderr)
    rondo("explain", "", status=3, says="unknown code")
    rondo("explain", "99999999999999999999", status=3, says="unknown code")


@test
def what_there_is_is_listed(rondo):
    head = "algorithm L\ntype Value = 1..2\nmessage vote(v: Value), ack\n"
    process = "process P[2] {\n  var k: %s = 1\n  step one { send vote(k) to all  goto %s }\n  on %s { k := 1 }\n  on ack { k := 2 }\n}\n"
    for arguments, says in ((("Colour", "end", "vote"), "there are 'P', 'Value', 'bool', 'int', 'round'"), (("Value", "two", "vote"), "'one'"),
                            (("Value", "end", "nack"), "there are 'vote', 'ack'")):
        rondo("check", rondo.file("list.rondo", head + process % arguments + "safety s: forall p in P: p.k >= 1\n"), status=3, says=says)
    text = RIGHT.replace("safety s:", "safety s in lossy:") + "environment calm {}\nenvironment rough {}\n"
    rondo("check", rondo.file("list.rondo", text), "-D", "n=2", status=3, says="there are 'calm', 'rough'")
    path = rondo.file("list.rondo", RIGHT)
    rondo("check", path, "-D", "m=2", status=3, says="its parameters are: n")
    rondo("check", path, "-D", "n=2", "--property", "t", status=3, says="the model has 's'")
    rondo("check", path, "-D", "n=2", "--env", "t", status=3, says="the model has")


@test
def reading_heeds_limits(rondo):
    lines = "".join(f"def d{i} = {i} + 1\nsafety p{i}: forall p in P: p.ready => d{i} > {i}\n" for i in range(100000))
    path = rondo.file("long.rondo", RIGHT + lines)
    answer = rondo.json("check", path, "-D", "n=2", "--max-time", "1ms", status=2)
    must(answer["verdict"] == "inconclusive" and "N0106" in [d["code"] for d in answer["diagnostics"]], answer["diagnostics"][:3])


@test
def proofs_name_their_environments(rondo):
    text = RIGHT.replace("safety s:", "safety s in calm, rough:").replace(": p.ready\n", ": p.ready or not p.ready\n")
    path = rondo.file("two.rondo", text + "environment calm { synchronous }\nenvironment rough {}\n")
    done = rondo("prove", path, status=0)
    must("s in calm " in done.stdout and "s in rough " in done.stdout and "environment" not in done.stdout, done.stdout)


@test
def output_files_are_tried_first(rondo):
    """The model would take very long: nothing is searched."""
    long = ("models/herlihy.rondo", "-D", "n=9", "--reduce", "none")
    model = rondo.file("model.rondo", RIGHT)
    link = rondo.folder / "link.json"
    link.symlink_to(rondo.folder / "aim.json")
    for option in ("--trace-out", "--svg", "--html"):
        rondo("check", *long, option, rondo.folder / "no" / "such", status=3, says="cannot write")
        rondo("check", *long, option, rondo.folder, status=3, says="cannot write")
        rondo("check", *long, option, link, status=3, says="is a symbolic link")
        rondo("check", model, "-D", "n=2", option, model, status=3, says="would overwrite a file that is read")
    rondo("check", *long, "--svg", rondo.folder / "x", "--html", rondo.folder / "x", status=3, says="name the same file")
    rondo("prove", "models/counters/cba.rondo", "--certificate", rondo.folder / "no" / "such", status=3, says="cannot write")
    must(model.read_text() == RIGHT and not (rondo.folder / "aim.json").exists(), "the model and the aim of the link are as they were")


@test
def output_files_are_replaced_as_a_whole(rondo):
    folder = rondo.folder / "out"
    folder.mkdir()
    model, trace = rondo.file("model.rondo", RIGHT), folder / "trace.json"
    rondo("check", model, "-D", "n=2", "--trace-out", trace, status=1)
    first, mode = json.loads(trace.read_text()), stat.S_IMODE(trace.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    must(mode == 0o666 & ~umask, oct(mode))
    trace.chmod(0o640)
    other = trace.stat().st_ino
    rondo("check", model, "-D", "n=3", "--trace-out", trace, status=1)
    must(json.loads(trace.read_text())["model"]["params"] != first["model"]["params"], "it was replaced")
    must(trace.stat().st_ino != other and stat.S_IMODE(trace.stat().st_mode) == 0o640, "by another file with the same permissions")
    rondo("check", model, "-D", "n=2", "--trace-out", "/dev/null", status=1)
    must(os.listdir(folder) == ["trace.json"], os.listdir(folder))
