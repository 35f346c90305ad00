"""Pictures of what the bench found, in SVG, for light and for dark backgrounds."""
import math
from xml.sax.saxutils import escape

import report

STYLE = """<style>text{fill:#24292f;font:11px sans-serif}.title{font-size:14px;font-weight:bold}.faint{fill:#656d76}.grid{stroke:#d8dce0}.paper{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.faint{fill:#9198a1}.grid{stroke:#3a4048}.paper{fill:#0d1117}}</style>
"""
INKS = {"rondo": "#2471a3", "bare, 128 bits": "#7f8c8d", "spin": "#c0392b", "spin, collapse": "#e59866", "spin, exported": "#7b241c",
        "rumur": "#1e8449", "rumur, exported": "#82c99b"}
LINES = ["#2471a3", "#c0392b", "#1e8449", "#af601a", "#7d3c98", "#148f77", "#b03a2e", "#5d6d7e"]


class Picture:
    def __init__(self, title, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n', STYLE,
                      f'<rect class="paper" width="{width}" height="{height}"/>\n']
        self.words(20, 24, title, "title")

    def words(self, x, y, text, kind="", anchor="start"):
        self.parts.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>\n')

    def line(self, x1, y1, x2, y2, ink=None, dashed=False):
        style = f'stroke="{ink}" stroke-width="1.5"' if ink else 'class="grid"'
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}{dash}/>\n')

    def bar(self, x, y, width, height, ink):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height}" fill="{ink}"/>\n')

    def path(self, points, ink, dashed=False):
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline fill="none" stroke="{ink}" stroke-width="1.5"{dash} points="{at}"/>\n')
        self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{ink}"/>\n' for x, y in points]

    def done(self):
        return "".join(self.parts) + "</svg>\n"


def power(k):
    return f"{10 ** k:,}" if k >= 0 else f"{10.0 ** k:.{-k}f}"


def bars(title, note, rows, what):
    """For each case a group, in it a bar for each tool, on a logarithmic scale."""
    f = report.Figures(rows, "peers")
    left, width, thick = 240, 420, 12
    groups = [(case, [(who, f.get(case, who, what)) for who in f.who() if who in INKS and f.get(case, who, what)]) for case in f.cases()]
    values = [value for _, group in groups for _, value in group]
    if not values:
        return None
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 1e-9)
    height = 70 + sum(len(group) * thick + 26 for _, group in groups)
    p = Picture(title, left + width + 80, height + 10)
    p.words(20, 42, note, "faint")
    x = lambda value: left + (math.log10(value) - low) * width / (high - low)
    for k in range(low, high + 1):
        p.line(x(10.0 ** k), 56, x(10.0 ** k), height - 12)
        p.words(x(10.0 ** k), height + 2, power(k), "faint", "middle")
    y = 60
    for (model, size), group in groups:
        p.words(20, y + 12, model)
        p.words(20, y + 26, size, "faint")
        for who, value in group:
            p.bar(left, y + 3, x(value) - left, thick - 3, INKS[who])
            p.words(x(value) + 5, y + thick, f"{report.rough(value)}  {who}", "faint")
            y += thick
        y += 26
    return p.done()


def scaling(rows):
    f = report.Figures(rows, "scaling")
    what = "speed to one thread of rondo's"
    series = {}
    for row in f.rows:
        if row.what == what:
            who, n = row.who.split(": ")
            series.setdefault(who, []).append((int(n), row.value))
    if not series:
        return None
    left, top, width, height = 60, 60, 420, 240
    most = max(n for points in series.values() for n, _ in points)
    high = max(2.0, math.ceil(max(value for points in series.values() for _, value in points)))
    case = f.cases()[0]
    p = Picture(f"Threads and ranks: {case[0]}, {case[1]}", left + width + 40, top + height + 50 + 18 * (len(series) + 1))
    p.words(20, 44, "speed, one thread of rondo's is 1; by the clock", "faint")
    x = lambda n: left + (n - 1) * width / max(most - 1, 1)
    y = lambda value: top + height - value * height / high
    for value in range(int(high) + 1):
        p.line(left, y(value), left + width, y(value))
        p.words(left - 8, y(value) + 4, str(value), "faint", "end")
    for n in sorted({n for points in series.values() for n, _ in points}):
        p.words(x(n), top + height + 16, str(n), "faint", "middle")
    top_n = min(most, high)
    p.line(x(1), y(1), x(top_n), y(top_n), "#9aa0a6", True)
    for i, (who, points) in enumerate(series.items()):
        p.path([(x(n), y(value)) for n, value in sorted(points)], LINES[i])
        p.line(left, top + height + 36 + 18 * i, left + 28, top + height + 36 + 18 * i, LINES[i])
        p.words(left + 36, top + height + 40 + 18 * i, who)
    i = len(series)
    p.line(left, top + height + 36 + 18 * i, left + 28, top + height + 36 + 18 * i, "#9aa0a6", True)
    p.words(left + 36, top + height + 40 + 18 * i, "as many times as fast as there are threads")
    return p.done()


def growth(rows):
    """Both axes logarithmic; one colour for each question, the plain way dashed."""
    found = [row for row in rows if row.part == "growth" and row.what == "time to the limit"]
    best = {}                 # of each question, the way that gets furthest
    for row in found:
        who, how = row.who.split(", ", 1)
        n = int(row.size.removeprefix("n = "))
        best.setdefault((row.model, who), {}).setdefault(how, []).append((n, max(row.value, 0.0005)))
    chosen = {key: max(ways.values(), key=lambda points: max(n for n, _ in points)) for key, ways in best.items()}
    questions = list(dict.fromkeys(model for model, _ in chosen))
    if not questions:
        return None
    left, top, width, height = 70, 60, 560, 300
    most = max(n for points in chosen.values() for n, _ in points)
    high = math.ceil(math.log10(most) + 1e-9)
    p = Picture("Time against the number of processes", left + width + 40, top + height + 60 + 16 * (len(questions) + 1))
    p.words(20, 44, "processor time, to the limit of a run", "faint")
    x = lambda n: left + math.log10(n) * width / high
    y = lambda value: top - math.log10(min(value, 1)) * height / 4 if value > 1e-4 else top + height
    for k in range(high + 1):
        p.line(x(10 ** k), top, x(10 ** k), top + height)
        p.words(x(10 ** k), top + height + 16, f"{10 ** k:,}", "faint", "middle")
    for k in range(-4, 1):
        p.line(left, y(10.0 ** k), left + width, y(10.0 ** k))
        p.words(left - 8, y(10.0 ** k) + 4, power(k), "faint", "end")
    p.words(left + width, top + height + 30, "n", "faint", "end")
    for i, question in enumerate(questions):
        ink = LINES[i % len(LINES)]
        for who in ("rondo", "plain"):
            if (question, who) in chosen:
                p.path([(x(n), y(value)) for n, value in sorted(chosen[question, who])], ink, who == "plain")
        p.line(left, top + height + 46 + 16 * i, left + 28, top + height + 46 + 16 * i, ink)
        p.words(left + 36, top + height + 50 + 16 * i, question)
    p.words(left, top + height + 50 + 16 * len(questions), "dashed: the plain way", "faint")
    return p.done()


def draw(rows):
    pictures = {
        "states.svg": bars("States a second", "the bare loop is 1; longer is better; logarithmic", rows, "speed to the bare loop's"),
        "bytes.svg": bars("Bytes a state", "peak of the process; shorter is better; logarithmic", rows, "bytes a state"),
        "scaling.svg": scaling(rows),
        "growth.svg": growth(rows),
    }
    return {name: picture for name, picture in pictures.items() if picture}
