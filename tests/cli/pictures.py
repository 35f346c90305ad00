"""--svg and --html: what is drawn, what is not, and what is said then."""
import html.parser
import json
import re
import xml.etree.ElementTree as xml

from harness import ROOT, must, test

HALF = ["models/broken/one_third_rule_half.rondo", "-D", "n=3", "--property", "agreement"]
# One of everything that can be seen: loss, lies, corruption, crashes, messages of steps, shared memory, loops, fine rounds.
SIGHTS = [
    HALF,
    ["models/broken/floodset_forgetful.rondo", "-D", "n=3", "-D", "f=1"],
    ["models/broken/floodset_forgetful.rondo", "-D", "n=3", "-D", "f=1", "--semantics", "fine"],
    ["models/broken/phase_king_weak.rondo", "-D", "n=5", "-D", "t=1", "--property", "agreement"],
    ["models/broken/eig_flat.rondo", "-D", "n=4", "-D", "t=1", "--property", "agreement"],
    ["models/broken/last_voting_minority.rondo", "-D", "n=2"],
    ["models/broken/chang_roberts_relay.rondo", "-D", "n=2"],
    ["models/broken/herlihy_torn.rondo", "-D", "n=2"],
    ["models/broken/peterson_swapped.rondo"],
    ["models/broken/raft_election_forgets.rondo", "-D", "n=3", "-D", "terms=1", "-D", "f=1", "--property", "one_leader"],
    ["models/one_third_rule.rondo", "-D", "n=3", "--env", "free", "--property", "termination"],
]
CARELESS = """algorithm Careless
process P[2] {
  input x: 1..2
  round { send x to all update { x := min(received) } }
}
environment free {}
safety small: forall p in P: p.x <= 2 and p.x < 3 and not (p.x > 2)
"""
LOSSES = """algorithm Losses
message item(k: 1..2)
process A[1] { start { send item(1) to B  send item(2) to B } }
process B[1] { var first: 1..2? = none  on item(k) if first == none { first := k } }
environment lossy { channels fifo; at most 1 messages are lost }
safety in_order: forall b in B: b.first != 2
"""


def draw(rondo, *arguments, command="check", **more):
    svg, page = rondo.folder / "run.svg", rondo.folder / "run.html"
    for file in (svg, page):
        file.unlink(missing_ok=True)
    done = rondo(command, *arguments, "--svg", svg, "--html", page, **more)
    return done, svg.read_text(encoding="utf-8"), page.read_text(encoding="utf-8")


def words(svg):
    """All that is written, and the size of the drawing; every word is within it."""
    tree = xml.fromstring(svg)
    width, height = int(tree.get("width")), int(tree.get("height"))
    found = []
    for text in tree.iter("{http://www.w3.org/2000/svg}text"):
        line = "".join(part for part in [text.text or ""] + [kid.tail or "" for kid in text])
        x, wide = int(text.get("x")), len(line) * (9 if "title" in text.get("class") else 7.3)
        left = {"middle": x - wide / 2, "end": x - wide}.get(text.get("text-anchor"), x)
        must(left >= 0 and left + wide <= width + 2 and 0 < int(text.get("y")) <= height, f"'{line}' is clipped")
        found.append((line, left, left + wide, int(text.get("y"))))
    return found


def is_clear(svg):
    """No arrow goes through a step that it does not begin or end at: it would seem to."""
    dots = [(int(x), int(y)) for x, y in re.findall(r'<circle class="(?:plain|key|bad|good)"[^>]* cx="(\d+)" cy="(\d+)"', svg)]
    for arrow in re.findall(r'<path class="(?:msg|lie)[^"]*"[^>]* d="M(\d+) (\d+)L(\d+) (\d+)"', svg):
        x1, y1, x2, y2 = map(int, arrow)
        for x, y in dots:
            between = min(y1, y2) + 5 < y < max(y1, y2) - 5
            must(not between or abs(x1 + (x2 - x1) * (y - y1) / (y2 - y1) - x) > 4, f"an arrow runs through {x}, {y}")


def drawn(svg, kind):
    """How many there are in the run; the legend has one more of each."""
    return len(re.findall(rf'<path class="{kind}(?: k\d)?" data-', svg))


def table(rondo, *arguments, **more):
    """The rows of a drawing by their names, and the drawing."""
    _, svg, _ = draw(rondo, *arguments, **more)
    names = [line for line, _, right, _ in words(svg) if re.fullmatch(r"(?:everybody|every|P|Participant|Coordinator)\b.*", line)]
    return names, svg


class Page(html.parser.HTMLParser):
    """The elements of a page, and the data in it."""
    def __init__(self):
        super().__init__()
        self.open, self.parts, self.lines, self.data, self.script, self.text = [], [], {}, {}, None, []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        must(tag not in ("link", "img", "iframe", "object", "base", "form"), f"<{tag}>: the page needs more than itself")
        must(not {"src", "href", "action", "srcset"} & set(attrs), f"<{tag}>: the page needs more than itself")
        must(not any(name.startswith("on") for name in attrs), f"<{tag}>: an event handler")
        if tag == "section" and attrs.get("class") == "part" and "data-first" in attrs:
            self.parts.append((int(attrs["data-first"]), int(attrs["data-last"])))
        if tag == "li":
            self.lines[int(attrs["id"].removeprefix("line-"))] = ""
        if tag == "script":
            must(attrs in ({}, {"type": "application/json", "id": "rondo-trace"}, {"type": "application/json", "id": "rondo-view"}), f"{attrs}")
            self.script = attrs.get("id", "viewer")
            must(self.script not in self.data, "a script twice")
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        must(self.open and self.open.pop() == tag, f"</{tag}> closes something else")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.data[self.script] = self.data.get(self.script, "") + data
        elif "li" in self.open:
            self.lines[max(self.lines)] += data.rstrip("\n")
        else:
            self.text.append(data)


def is_page(text, source=None):
    """Every step is in the text; the states that the script makes are those of the trace; lines are those of the model."""
    page = Page()
    page.feed(text)
    page.close()
    must(not page.open, f"not closed: {page.open}")
    must(set(page.data) == {"rondo-trace", "rondo-view", "viewer"}, str(set(page.data)))
    trace, view = json.loads(page.data["rondo-trace"]), json.loads(page.data["rondo-view"])
    steps = trace["steps"] if "steps" in trace else trace["rounds"]
    must(len(steps) == len(view["steps"]) and view["loop"] == trace.get("loop"), "steps")
    must(sorted(k for first, last in page.parts for k in range(first, last + 1)) == list(range(len(steps) + 1)), "the text has other steps")
    for step, seen in zip(steps, view["steps"]):
        changes = [change for change in step["changes"] if "order" not in trace]
        lines = {change["line"] for change in step["changes"]} | {sent["line"] for sent in step["sent"]} | {step.get("line")}
        must(set(seen["lines"]) <= lines | {(trace["error"] or {}).get("line")}, "other lines")
        must(all(line in page.lines for line in seen["lines"]), "no such line")
        for process, name, value in seen["changes"]:
            due = [change for change in changes if change["variable"] == name and
                   (change["process"] == (None if process is None else view["processes"][process]["name"]))]
            must("order" in trace or due and due[0]["text"].endswith(value), f"{name} = {value}")
    if source is not None:
        must([page.lines[k + 1] for k in range(len(page.lines))] == [line.rstrip("\r") for line in source.splitlines()], "another source")
    return page


@test
def every_sight_is_drawn(rondo):
    for arguments in SIGHTS:
        done, svg, page = draw(rondo, *arguments, status=1)
        lines = words(svg)
        for line, left, right, y in lines:
            for other, start, end, z in lines:
                clash = y == z and (left, line) < (start, other) and start < right - 3 and end > left
                must(not clash, f"{arguments}: '{line}' and '{other}' overlap")
        must("http" not in svg.replace("http://www.w3.org/2000/svg", ""), "something from elsewhere")
        is_page(page)
        marks = re.compile(r'<circle class="[^>]*data-step="[^"]*"[^>]*data-process="[^"]*"')
        bare = [re.sub(r'c[xy]="\d+"|data-step', "", mark) for mark in marks.findall(svg)]
        must(bare == [re.sub(r'c[xy]="\d+"|data-step', "", mark) for mark in marks.findall(page)] , "the page has another drawing")
        moral = re.search(r"^(now|so) .* fails", done.stdout, re.M).group()
        must(any(line.startswith(moral) for line, *_ in lines), moral)
        again = draw(rondo, *arguments, status=1)
        must((svg, page) == again[1:], "not the same again")


@test
def drawings_show_what_happens(rondo):
    _, svg, _ = draw(rondo, *HALF, status=1)
    must(drawn(svg, "msg") == 9 and drawn(svg, "lost") == 3 and drawn(svg, "cut") == 3, "messages of the rounds")
    must(svg.count("decided = ") == 3 and '<text class="key"' in svg, "decisions")
    must("p = P(1), q = P(3), v = 1, w = 2" in svg, "the instance")
    for line, at in (("round 1", 1), ("round 2", 1), ("round 3", 0)):
        must(svg.count(f">{line}<") == at, line)
    must('class="crash"' in draw(rondo, *SIGHTS[1], status=1)[1], "a crash")
    must('class="lie"' in draw(rondo, *SIGHTS[3], status=1)[1] and ">Byzantine<" in svg + draw(rondo, *SIGHTS[3])[1], "lies")
    _, svg, _ = draw(rondo, *SIGHTS[7], status=1)
    must(">register<" in svg and drawn(svg, "tie") == 2, "shared memory")
    _, svg, _ = draw(rondo, *SIGHTS[10], status=1)
    must(">loop<" in svg and 'class="loop"' in svg, "a loop")
    losses = rondo.file("losses.rondo", LOSSES)
    _, svg, _ = draw(rondo, losses, status=1)
    must(drawn(svg, "lost") == 1 and drawn(svg, "msg") == 1, "a loss")
    words(svg)


@test
def only_witnesses_are_emphasised(rondo):
    """And of them only the value that the property is about."""
    _, svg, _ = draw(rondo, *HALF, status=1)
    must(svg.count('<text class="key"') == 2, "two decisions are in conflict")
    must(re.findall(r'<circle class="key" data-step="\d" data-process="(\d)"', svg) == ["2", "0"], "those of P(1) and P(3)")
    _, svg, _ = draw(rondo, "models/broken/paxos_quorums.rondo", status=1)
    must(svg.count('<text class="key"') == 1 and svg.count("chosen = ") >= 2, "only the last value")
    _, svg, _ = draw(rondo, "models/paxos.rondo", "--seed", 1, command="run")
    must('class="key"' not in svg, "nothing is claimed")


@test
def many_processes_are_folded(rondo):
    names, svg = table(rondo, "models/broken/two_phase_commit_impatient.rondo", "-D", "n=7", status=1)
    must(names == ["Coordinator(1)", "Participant(1)..Participant(6)", "Participant(7)"], str(names))
    must('data-process="1 2 3 4 5 6"' in svg, "the processes of the row")
    names, _ = table(rondo, "models/broken/two_phase_commit_impatient.rondo", "-D", "n=5", status=1)
    must(len(names) == 6, "few are not folded")
    _, svg, _ = draw(rondo, "models/one_third_rule.rondo", "-D", "n=12", "--seed", 3, command="run", status=(0, 1))
    must('<path class="heard"' in svg and 'class="hole"' in svg and "P(1) does not hear " in svg, "a heard-of matrix")
    must('<path class="msg' not in svg, "and no arrows")
    words(svg)


@test
def losses_say_whose(rondo):
    _, svg, _ = draw(rondo, *HALF, status=1)
    must(svg.count(">misses P(") == 3, "losses of rounds")
    _, svg, _ = draw(rondo, rondo.file("losses.rondo", LOSSES), status=1)
    must(">item to B(1)<" in svg, "losses of steps")


@test
def loops_lead_back(rondo):
    for arguments in (SIGHTS[10], ["models/broken/token_ring_greedy.rondo", "-D", "n=3"]):
        _, svg, _ = draw(rondo, *arguments, status=1)
        must('class="head-loop"' in svg and ">loop<" in svg, "an arrow back")


@test
def colours_follow_kinds(rondo):
    _, svg, _ = draw(rondo, "models/broken/paxos_quorums.rondo", status=1)
    kinds = dict(re.findall(r'<path class="msg (k\d)"[^>]* data-kind="(\w+)"', svg))
    must(sorted(kinds.values()) == ["accept", "accepted", "prepare", "promise"], str(kinds))
    for kind in kinds.values():
        must(f">{kind}</text>" in svg, "the legend")
    for name in re.findall(r"var\(--rondo-(\w+),", svg):
        must(f"--rondo-{name}:#" in svg.split("prefers-color-scheme:dark")[1], f"{name} has no dark colour")


@test
def errors_and_texts_are_drawn(rondo):
    careless = rondo.file("careless.rondo", CARELESS)
    _, svg, page = draw(rondo, careless, status=1)
    words(svg)
    is_page(page)
    must("error of P(" in svg, "the error")
    unequal = rondo.file("unequal.rondo", CARELESS.replace("min(received)", "2").replace("<= 2", "< 2"))
    _, svg, page = draw(rondo, unequal, status=1)
    words(svg)
    is_page(page)
    must("p.x &lt; 2" in svg and "p.x < 2" not in svg, "not escaped")


@test
def hostile_texts_stay_text(rondo):
    text = "// </script><script>alert(1)</script><!-- @@SCRIPT@@ & \u00e9 <img src=x onerror=alert(1)>\n" + CARELESS.replace("min(received)", "2").replace("<= 2", "< 2")
    hostile = rondo.file("x<img src=x onerror=alert(1)>'\"&@@VIEW@@.rondo", text)
    _, svg, page = draw(rondo, hostile, status=1)
    xml.fromstring(svg)
    parsed = is_page(page, text)
    must(page.count("<script") == 3 and "<img" not in page, "something was injected")
    must("x<img src=x onerror=alert(1)>" in "".join(parsed.text), "the name of the file")
    must(json.loads(parsed.data["rondo-trace"])["model"]["file"] == str(hostile), "the file in the trace")


@test
def replay_and_run_draw_too(rondo):
    trace = rondo.folder / "trace.json"
    _, svg, page = draw(rondo, *HALF, "--trace-out", trace, status=1)
    must((svg, page) == draw(rondo, trace, command="replay", status=1)[1:], "replay draws something else")
    copy = rondo.file("copy.json", is_page(page).data["rondo-trace"])
    must(page == draw(rondo, copy, command="replay", status=1)[2], "the trace in the page is another")
    for model in (["models/one_third_rule.rondo", "-D", "n=4"], ["models/paxos.rondo"], ["models/peterson.rondo"],
                  ["models/a_te.rondo", "-D", "n=7", "-D", "alpha=1"], ["models/reliable_broadcast_async.rondo", "-D", "n=4", "-D", "t=1"]):
        for seed in range(3):
            _, svg, page = draw(rondo, *model, "--seed", seed, command="run", status=(0, 1))
            words(svg)
            is_page(page)
            if model[0] in ("models/paxos.rondo", "models/reliable_broadcast_async.rondo"):
                is_clear(svg)


@test
def nothing_to_draw(rondo):
    svg = rondo.folder / "none.svg"
    rondo("check", "models/one_third_rule.rondo", "-D", "n=3", "--svg", svg, status=0, says="no counterexample")
    rondo("check", "models/one_third_rule.rondo", "-D", "n=2..3", "--svg", svg, status=0, says="no counterexample")
    rondo("check", *HALF, "--no-trace", "--svg", svg, status=3, says="nothing to draw")
    must(not svg.exists(), "it was written")
    _, drawn, _ = draw(rondo, "models/one_third_rule.rondo", "-D", "n=3", "--property", "decision", status=0)
    must("decision is reached" in drawn, "a cover asked for by name")
    for option in ("--svg", "--html"):
        rondo("check", *HALF, option, "/no/such/folder/x", status=3, says="cannot write '/no/such/folder/x'")
        rondo("check", *HALF, option, ROOT / "models", status=3, says="cannot write")
        rondo("lint", HALF[0], option, "x", status=3, says="does not belong to 'lint'")
    rondo("run", "models/one_third_rule.rondo", "-D", "n=3", "--rounds", 2001, "--svg", svg, status=3, says="too long to draw")
    must(not svg.exists(), "it was written")
    table = rondo("check", HALF[0], "-D", "n=2..4", "--svg", svg, status=1)
    must("no counterexample" not in table.stderr and svg.exists(), "the first of a table")
