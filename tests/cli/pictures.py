"""--svg and --html: what is drawn, what is not, and what is said then."""
import html.parser
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


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.summaries = [], 0

    def handle_starttag(self, tag, attrs):
        must(tag not in ("script", "link", "img", "iframe"), f"<{tag}>: the page needs more than itself")
        self.summaries += tag == "summary"
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        must(self.open and self.open.pop() == tag, f"</{tag}> closes something else")


def is_page(text):
    page = Page()
    page.feed(text)
    page.close()
    must(not page.open, f"not closed: {page.open}")
    must(page.summaries > 0, "nothing opens and closes")


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
        must(svg in page, "the page has another drawing")
        moral = re.search(r"^(now|so) .* fails", done.stdout, re.M).group()
        must(any(line.startswith(moral) for line, *_ in lines), moral)
        again = draw(rondo, *arguments, status=1)
        must((svg, page) == again[1:], "not the same again")


@test
def drawings_show_what_happens(rondo):
    _, svg, _ = draw(rondo, *HALF, status=1)
    must(svg.count('<path class="msg') == 9 and svg.count('<path class="lost"') == 3 and svg.count('<path class="cut"') == 3, "messages of the rounds")
    must(svg.count("decided = ") == 3 and '<text class="key"' in svg, "decisions")
    must("p = P(1), q = P(3), v = 1, w = 2" in svg, "the instance")
    for line, at in (("round 1", 1), ("round 2", 1), ("round 3", 0)):
        must(svg.count(f">{line}<") == at, line)
    must('class="crash"' in draw(rondo, *SIGHTS[1], status=1)[1], "a crash")
    must('class="lie"' in draw(rondo, *SIGHTS[3], status=1)[1] and ">Byzantine<" in svg + draw(rondo, *SIGHTS[3])[1], "lies")
    _, svg, _ = draw(rondo, *SIGHTS[7], status=1)
    must(">register<" in svg and svg.count('<path class="tie"') == 2, "shared memory")
    _, svg, _ = draw(rondo, *SIGHTS[10], status=1)
    must(">loop<" in svg and 'class="loop"' in svg, "a loop")
    losses = rondo.file("losses.rondo", LOSSES)
    _, svg, _ = draw(rondo, losses, status=1)
    must(svg.count('<path class="lost"') == 1 and svg.count('<path class="msg') == 1, "a loss")
    words(svg)


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
def replay_and_run_draw_too(rondo):
    trace = rondo.folder / "trace.json"
    _, svg, page = draw(rondo, *HALF, "--trace-out", trace, status=1)
    must((svg, page) == draw(rondo, trace, command="replay", status=1)[1:], "replay draws something else")
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
