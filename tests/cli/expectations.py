"""`rondo test`: what it accepts, what it reports and how; interruptions, limits, broken files."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ET

from harness import ROOT, must, test

MODEL = """algorithm Voting
param n where n >= 1
process P[n] {
  input x: bool
  var decided: bool? = none
  once { round { send x to all  update { if |received| == n { decided := true in received } } } }
}
environment free {}
environment calm { synchronous }
safety agreement: forall p, q in P, v in p.decided, w in q.decided: v == w
safety unanimous: forall p in P, v in p.decided: v == p.x
"""
GOOD = """// expect: holds agreement -D n=3
// expect: depth 1 violated unanimous -D n=2
// expect: holds agreement violated unanimous -D n=2 --env calm
// expect: holds agreement -D n=0..3
// expect: error "has no value"
// expect: error "unknown option" --evn free
// expect: inconclusive agreement -D n=3 --max-states 1
// expect: states 6 -D n=1
// expect: long holds agreement -D n=4
"""


def read_or_nothing(path):
    try:
        return path.read_bytes()
    except OSError:  # the process has ended
        return b""


def by_line(answer):
    return {t["line"]: t for t in answer["tests"]}


@test
def expectations_that_are_met(rondo):
    path = rondo.file("good.rondo", GOOD.replace("states 6", "states %d" % states_of(rondo)) + MODEL)
    answer = rondo.json("test", path, status=0)
    must(answer["schema"] == "rondo-test/1" and answer["passed"] == 9 and answer["failed"] == answer["skipped"] == 0, answer)
    must([t["line"] for t in answer["tests"]] == list(range(1, 10)) and all("answer" not in t for t in answer["tests"]), answer)
    short = rondo.json("test", path, "--short", status=0)
    must(short["passed"] == 8 and by_line(short)[9]["result"] == "skipped", short)
    verbose = rondo.json("test", path, "-v", status=0)
    must(by_line(verbose)[1]["answer"]["schema"] == "rondo-check/1" and by_line(verbose)[5]["answer"]["schema"] == "rondo-diagnostics/1", "answers")
    said = rondo("test", path, "--short", status=0).stdout
    must(re.search(r"^test: 8 passed, 0 failed$", said, re.M) and "\033" not in said, said)
    must("good.rondo:2: depth 1 violated" in rondo("test", path, "-v", status=0).stdout, "verbose text")


def states_of(rondo):
    return rondo.json("check", rondo.file("plain.rondo", MODEL), "-D", "n=1", status=(0, 1))["stats"]["states"]


WRONG = {
    "holds unanimous -D n=2": "unanimous: violated where 'holds' is expected",
    "violated agreement -D n=2": "agreement: holds where 'violated' is expected",
    "depth 7 violated unanimous -D n=2": "depth: 1 where 7 is expected",
    "states 1000000 -D n=2": "where 1000000 is expected",
    "holds agreement": "parameter 'n' has no value",
    "holds agreement -D n=0": "no answer",
    "error \"no such text\"": "no error says \"no such text\"",
    "error \"value\" -D n=2": "there is no error, the exit status is 1",
    "holds nothing -D n=2": "unknown property 'nothing'",
    "violated agreement -D n=1..3": "n = 1: agreement: holds where",
    "holds agreement -D n=2 --property agreement --property unanimous": "unanimous: violated, which the line does not expect",
    "inconclusive agreement -D n=2": "agreement: holds where 'inconclusive'",
    "holds agreement -D n=3 --max-states 1": "agreement: inconclusive where 'holds'",
}


@test
def expectations_that_are_not_met(rondo):
    path = rondo.file("wrong.rondo", "".join(f"// expect: {line}\n" for line in WRONG) + MODEL)
    answer = rondo.json("test", path, status=1)
    must(answer["failed"] == len(WRONG) and answer["passed"] == 0, answer)
    for told, (line, why) in zip(answer["tests"], WRONG.items()):
        must(told["expect"] == line and told["result"] == "failed" and why in told["why"], told)
        must(told["command"].startswith(f"rondo {'prove' if 'prove' in line else 'check'} {path}"), told)
    said = rondo("test", path, status=1).stdout
    must("test: 0 passed, 13 failed" in said and f"{path}:1: holds unanimous" in said and "repeat: rondo check" in said, said)


UNREADABLE = {
    "hold agreement": "did you mean 'holds'?",
    "agreement": "cannot read the expectation at 'agreement'",
    "": "the line expects nothing",
    "holds": "'holds' needs the name of a property",
    "holds agreement violated": "'violated' needs the name of a property",
    "depth holds agreement": "'depth' needs a number",
    "depth 1 depth 2": "'depth' stands twice",
    "holds agreement agreement": "stands twice",
    "error": "'error' needs one text",
    "error \"x\" holds agreement": "no verdicts and no numbers",
    "holds agreement --evn x": "unknown option '--evn'",
    "holds agreement -D n=2 agreement": "stands among the options",
    "holds agreement --json": "no place in an expectation",
    "holds agreement --svg x.svg": "no place in an expectation",
    "holds agreement --checkpoint x": "no place in an expectation",
    "states 5 -D n=1..2": "numbers are about one instance",
    "holds \"agreement": "quotation mark is not closed",
    "states many": "'states' needs a number",
    "holds agreement -D n=x": "option '--define'",
}


@test
def expectations_that_cannot_be_read(rondo):
    text = "".join(f"// expect: {line}\n" for line in UNREADABLE) + "// expect: holds agreement -D n=2\n" + MODEL
    path = rondo.file("unreadable.rondo", text)
    answer = rondo.json("test", path, status=3)
    must(answer["failed"] == len(UNREADABLE) and answer["passed"] == 1, answer)
    errors = {d["line"]: d for d in answer["diagnostics"]}
    for number, (line, why) in enumerate(UNREADABLE.items(), 1):
        must(by_line(answer)[number]["result"] == "unreadable", line)
        error = errors[number]
        must(error["code"] == "E0820" and error["file"] == str(path) and why in f"{error['message']} {error['help']}", (line, error))
    said = rondo("test", path, status=3).stderr
    must(f"{path}:1:1: error[E0820]" in said, said)


@test
def files_and_folders(rondo):
    (rondo.folder / "a/b").mkdir(parents=True)
    (rondo.folder / "a/.hidden").mkdir()
    for name, text in {"a/z.rondo": GOOD + MODEL, "a/b/c.rondo": "// expect: holds agreement -D n=1\n" + MODEL, "a/none.rondo": MODEL,
                       "a/.hidden/x.rondo": "// expect: nonsense\n", "a/readme.txt": "// expect: nonsense\n"}.items():
        rondo.file(name, text.replace("states 6", f"states {states_of(rondo)}"))
    (rondo.folder / "a/loop").symlink_to(rondo.folder / "a")
    answer = rondo.json("test", rondo.folder / "a", status=0)
    must([t["file"].split("/")[-1] for t in answer["tests"]] == ["c.rondo"] + ["z.rondo"] * 9 and answer["files"] == 2, answer)
    one = rondo.json("test", f"{rondo.folder}/a/z.rondo:3", status=0)
    must([t["line"] for t in one["tests"]] == [3], one)
    rondo("test", f"{rondo.folder}/a/z.rondo:12", status=3, says="line 12 of")
    rondo("test", rondo.folder / "a/none.rondo", status=3, says="E0821")
    rondo("test", rondo.folder / "a/none.rondo", rondo.folder / "a/b", status=3, says="test: 1 passed, 0 failed")
    rondo("test", rondo.folder / "a/nowhere.rondo", status=3, says="E0808")
    rondo("test", status=3, says="nothing to test")
    rondo("test", "-", status=3, says="standard input")
    (rondo.folder / "empty").mkdir()
    rondo("test", rondo.folder / "empty", status=3, says="no model has an expectation")
    rondo("test", rondo.folder / "a/b", "--jobs", "0", status=3, says="--jobs")


@test
def files_may_hold_anything(rondo):
    """A file that does not parse has the error that is expected, and bytes are bytes."""
    path = rondo.folder / "bytes.rondo"
    path.write_bytes(b"// expect: error \"unexpected\"\n// expect: holds \xff\xfe\n// expect: holds \x01<&>\"' -D n=2\n\x00\xff algorithm\r\n")
    answer = rondo.json("test", path, "--junit", rondo.folder / "bytes.xml", status=3)
    must([t["result"] for t in answer["tests"]] == ["passed", "failed", "unreadable"], answer)
    ET.parse(rondo.folder / "bytes.xml")
    crlf = rondo.folder / "crlf.rondo"
    crlf.write_bytes(("// expect: holds agreement -D n=2\n" + MODEL).replace("\n", "\r\n").encode())
    rondo("test", crlf, status=0)


@test
def junit_is_well_formed(rondo):
    text = "".join(f"// expect: {line}\n" for line in ("holds agreement -D n=2", "long holds agreement -D n=3", "holds unanimous -D n=2", "hold x"))
    path = rondo.file("junit<&>.rondo", text + MODEL)
    rondo("test", path, "--short", "--junit", rondo.folder / "j.xml", status=3)
    suites = ET.parse(rondo.folder / "j.xml").getroot()
    must(suites.tag == "testsuites" and [suites.get(k) for k in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"], suites.attrib)
    suite, = suites
    must(suite.get("name") == str(path) and suite.get("tests") == "4", suite.attrib)
    kinds = [[child.tag for child in case] for case in suite]
    must(kinds == [[], ["skipped"], ["failure"], ["error"]], kinds)
    must(all(case.get("classname") == str(path) and float(case.get("time")) >= 0 for case in suite), "cases")
    must("unanimous: violated" in suite[2][0].get("message") and "rondo check" in suite[2][0].text, ET.tostring(suite[2]))
    rondo("test", path, "--junit", path, status=3, says="would overwrite")
    rondo("test", path, "--junit", rondo.folder / "no/such/folder.xml", status=3, says="E0809")


@test
def jobs_do_not_change_results(rondo):
    def told(*more):
        return [(t["file"], t["line"], t["result"], t["why"]) for t in rondo.json("test", "models/broken", "tests/errors", "--short", *more, status=0)["tests"]]
    must(told("-j", "1") == told("-j", "7"), "one at a time, and seven")


@test
def counter_systems_are_proved(rondo):
    answer = rondo.json("test", "models/counters/bbp_correctness.rondo", "--short", status=0)
    must(answer["tests"][0]["command"].startswith("rondo prove "), answer)


SLOW = "// expect: holds agreement -D leaders=4 -D acceptors=5\n"


@test
def limits_end_what_takes_long(rondo):
    slow = rondo.file("slow.rondo", SLOW + SLOW.replace("holds", "inconclusive") + (ROOT / "models/paxos.rondo").read_text().replace("// expect", "// was"))
    began = time.monotonic()
    answer = rondo.json("test", slow, "--max-time", "1", status=1)
    must([t["result"] for t in answer["tests"]] == ["failed", "passed"] and "limit" in answer["tests"][0]["why"], answer)
    must(time.monotonic() - began < 100, "it takes far longer than its limit")


@test
def interruptions_report_what_is_known(rondo):
    slow = rondo.file("slow.rondo", "// expect: holds agreement -D leaders=1 -D acceptors=2\n" + SLOW * 3 +
                      (ROOT / "models/paxos.rondo").read_text().replace("// expect", "// was"))
    with subprocess.Popen([rondo.program, "test", str(slow), "--json", "--jobs", "2", "--junit", str(rondo.folder / "j.xml")], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True) as process:
        time.sleep(2)
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=100)
    answer = json.loads(out)
    must(process.returncode == 2 and answer["not_run"] >= 1 and answer["tests"][0]["result"] in ("passed", "not run"), (process.returncode, out[-500:]))
    must(ET.parse(rondo.folder / "j.xml").getroot().get("tests") == "4", "JUnit")
    left = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if str(slow).encode() in read_or_nothing(path)]
    must(not left, f"processes are left: {left}")


@test
def checks_that_die_are_failures(rondo):
    """A process that is killed takes its own line with it, and no other."""
    slow = rondo.file("slow.rondo", SLOW + "// expect: holds agreement -D leaders=1 -D acceptors=2\n" +
                      (ROOT / "models/paxos.rondo").read_text().replace("// expect", "// was"))
    with subprocess.Popen([rondo.program, "test", str(slow), "--json", "--jobs", "1"], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        for _ in range(100):
            child = read_or_nothing(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")).split()
            if child:
                break
            time.sleep(0.1)
        os.kill(int(child[0]), signal.SIGKILL)
        answer = json.loads(process.communicate(timeout=100)[0])
    must(process.returncode == 1 and [t["result"] for t in answer["tests"]] == ["failed", "passed"], answer)
    must("ended without an answer" in answer["tests"][0]["why"], answer)
