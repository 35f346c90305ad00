"""`make demo`: what it shows, without a terminal and on one."""
import os
import pty
import subprocess
import xml.etree.ElementTree as ET

from harness import ROOT, must, test

DUE = ("all n with n >= 1", "unsafe when   N <= 3 * t", "now agreement fails", "million states a second", "five answers in")


def run_demo(rondo, **more):
    link = rondo.folder / "rondo"
    if not link.exists():
        link.symlink_to(rondo.program)
    return [str(ROOT / "scripts/demo"), "--quick", str(link)], dict(cwd=rondo.folder, stdin=subprocess.DEVNULL, **more)


@test
def the_demo_shows_five_answers(rondo):
    command, more = run_demo(rondo)
    done = subprocess.run(command, **more, capture_output=True, text=True, timeout=600, check=False)
    must(done.returncode == 0 and not done.stderr, f"status {done.returncode}\n{done.stderr}")
    for text in DUE:
        must(text in done.stdout, text)
    must("\033" not in done.stdout, "escape sequences")
    must(ET.parse(rondo.folder / "demo/run.svg").getroot().tag.endswith("svg") and (rondo.folder / "demo/run.html").stat().st_size > 1000, "pictures")
    must(str(rondo.folder / "demo/run.svg") in done.stdout, "where the picture is")
    must(all(len(line) <= 160 for line in done.stdout.splitlines()), "long lines")


@test
def the_demo_on_a_terminal(rondo):
    command, more = run_demo(rondo)
    leader, follower = pty.openpty()
    with subprocess.Popen(command, **more, stdout=follower, stderr=follower, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(follower)
        said = b""
        while True:
            try:
                got = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not got:
                break
            said += got
    os.close(leader)
    must(process.returncode == 0 and b"\033[1m1. A proof" in said, said[-500:])
