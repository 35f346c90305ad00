"""`rondo check --watch`: again after each change, until it is interrupted."""
import json
import os
import pty
import select
import signal
import subprocess
import time

from harness import ROOT, must, test

GOOD, BAD = ((ROOT / path).read_text(encoding="utf-8") for path in ("models/one_third_rule.rondo", "models/broken/one_third_rule_half.rondo"))


class Watching:
    """A check that watches its file."""

    def __init__(self, rondo, path, *arguments, out=subprocess.PIPE):
        self.path = path
        self.process = subprocess.Popen([rondo.program, "check", str(path), "-D", "n=2", "--property", "agreement", "--watch", *arguments], stdout=out,
                                        stderr=subprocess.PIPE, cwd=ROOT)
        self.out = self.process.stdout if out == subprocess.PIPE else None
        self.seen = ""

    def until(self, text, times=1, fd=None):
        fd = fd if fd is not None else self.out.fileno()
        late = time.monotonic() + 60
        while self.seen.count(text) < times:
            must(time.monotonic() < late, f"no \"{text}\" in {self.seen!r}")
            if select.select([fd], [], [], 1)[0]:
                self.seen += os.read(fd, 65536).decode(errors="replace")
            must(self.process.poll() is None, f"it has ended: {self.seen!r}")

    def change(self, text):
        """As editors do: beside it, and then in its place."""
        beside = self.path.with_suffix(".new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self.path)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors.decode()


@test
def a_file_is_checked_again_when_it_changes(rondo):
    watching = Watching(rondo, rondo.file("watched.rondo", GOOD))
    watching.until("watching")
    must("holds" in watching.seen and "\033" not in watching.seen, watching.seen)
    watching.change(BAD.replace("n >= 1", "n >= 1 "))
    watching.until("watching", 2)
    must("changed" in watching.seen and watching.seen.index("changed") > watching.seen.index("holds"), watching.seen)
    watching.change("algorithm\n")
    watching.until("watching", 3)
    watching.path.unlink()
    time.sleep(0.5)
    watching.change(GOOD)
    watching.until("watching", 4)
    must(watching.seen.count("agreement   holds") >= 2, watching.seen)
    status, errors = watching.end()
    must(status == 0 and "E0" in errors, (status, errors))


@test
def watching_ends_with_the_last_status(rondo):
    seen = set()
    for text in (BAD.replace("2 * count(m in received: m == v) > n", "count(m in received: m == v) > 0").replace("2 * |received| > n", "|received| > 0"), "algorithm\n", GOOD):
        path = rondo.file("last.rondo", text)
        due = rondo("check", path, "-D", "n=2", "--property", "agreement").returncode
        watching = Watching(rondo, path)
        watching.until("watching")
        status, _ = watching.end(signal.SIGTERM)
        must(status == due, (status, due))
        seen.add(status)
    must(seen == {0, 1, 3}, seen)


@test
def watching_in_json_is_one_object_each_time(rondo):
    watching = Watching(rondo, rondo.file("watched.rondo", GOOD), "--json")
    watching.until("\n}\n")
    watching.change("algorithm\n")
    watching.until("\n}\n", 2)
    watching.end()
    decoder, text, found = json.JSONDecoder(), watching.seen, []
    while text.strip():
        one, at = decoder.raw_decode(text.lstrip())
        found.append(one)
        text = text.lstrip()[at:]
    must([f["schema"] for f in found] == ["rondo-check/1", "rondo-diagnostics/1"] and len(found[1]["diagnostics"]) >= 1, found)


@test
def watching_clears_a_terminal(rondo):
    leader, follower = pty.openpty()
    watching = Watching(rondo, rondo.file("watched.rondo", GOOD), out=follower)
    os.close(follower)
    watching.until("watching", fd=leader)
    watching.change(GOOD + "\n")
    watching.until("watching", 2, fd=leader)
    must("\033[2J" in watching.seen, watching.seen)
    must(watching.end()[0] == 0, "status")
    os.close(leader)


@test
def watching_has_its_limits(rondo):
    rondo("check", "-", "--watch", status=3, says="E0807")
    rondo("check", "models/paxos.rondo", "--watch", "--checkpoint", rondo.folder / "c", status=3, says="E0807")
    watching = Watching(rondo, rondo.file("slow.rondo", (ROOT / "models/paxos.rondo").read_text(encoding="utf-8").replace("param leaders", "param n = 2\nparam leaders")),
                        "-D", "leaders=4", "-D", "acceptors=5", "--max-time", "1")
    watching.until("watching")
    must("inconclusive" in watching.seen, watching.seen)
    watching.change(GOOD)
    watching.until("watching", 2)
    watching.end()
