"""Makes a failing model small: takes lines, blocks, spans of words away, puts simpler words in their place, as long as
it still fails in the same way. It works on the text; what is no model any more is refused and put back."""
import re
import time

WORD = re.compile(r"\s+|\w+'?|:=|==|!=|<=|>=|=>|\.\.|.")
SIMPLER = ("true", "false", "none", "{}", "x", "me", "0", "1", "all")
PAIRS = {"(": ")", "{": "}", "[": "]"}


def block_end(lines, at):
    """The line that closes what line `at` opens."""
    depth = 0
    for i in range(at, len(lines)):
        depth += lines[i].count("{") - lines[i].count("}")
        if depth == 0:
            return i
    return len(lines) - 1


def fewer_lines(lines):
    for size in (8, 4, 2):
        for at in range(0, len(lines), size):
            yield lines[:at] + lines[at + size:]
    for at in range(len(lines) - 1, -1, -1):
        end = block_end(lines, at) if lines[at].rstrip().endswith("{") else at
        yield lines[:at] + lines[end + 1:]
        if end > at:
            yield lines[:at] + lines[at + 1:end] + lines[end + 1:]


def closing(words, at):
    depth = 0
    for i in range(at, len(words)):
        depth += words[i] in PAIRS
        depth -= words[i] in PAIRS.values()
        if depth == 0:
            return i
    return None


def simpler_lines(line):
    words = WORD.findall(line)
    for i, word in enumerate(words):
        if word.isspace():
            continue
        if word.isdigit() and int(word) > 0:
            yield "".join(words[:i] + [str(int(word) - 1)] + words[i + 1:])
        if word in PAIRS:
            end = closing(words, i)
            if end is not None and end > i:
                yield "".join(words[:i] + words[i + 1:end] + words[end + 1:])
                start = i - 1 if i and re.fullmatch(r"\w+", words[i - 1]) else i
                for other in SIMPLER:
                    yield "".join(words[:start] + [other] + words[end + 1:])
        for length in (len(words) - i, 12, 9, 7, 6, 5, 4, 3, 2, 1):
            if i + length <= len(words):
                yield "".join(words[:i] + words[i + length:]).rstrip()
        for length in (9, 7, 5, 3, 1):
            if i + length <= len(words):
                for other in SIMPLER[:5]:
                    if words[i:i + length] != [other]:
                        yield "".join(words[:i] + [other] + words[i + length:])


def shrink(text, fails, seconds=120):
    deadline = time.monotonic() + seconds
    seen = {text}

    def still(candidate):
        candidate = re.sub(r"\n+", "\n", candidate)
        if candidate in seen or time.monotonic() > deadline:
            return False
        seen.add(candidate)
        return fails(candidate)

    changed = True
    while changed and time.monotonic() < deadline:
        changed = False
        again = True
        while again and time.monotonic() < deadline:
            again = False
            for lines in fewer_lines(text.splitlines()):
                candidate = "\n".join(lines) + "\n"
                if still(candidate):
                    text, again, changed = candidate, True, True
                    break
        lines = text.splitlines()
        for at in range(len(lines)):
            progress = True
            while progress and time.monotonic() < deadline:
                progress = False
                for line in simpler_lines(lines[at]):
                    if len(line) > len(lines[at]):
                        continue
                    candidate = "\n".join(lines[:at] + [line] + lines[at + 1:]) + "\n"
                    if still(candidate):
                        lines[at], progress, changed = line, True, True
                        break
        text = "\n".join(lines) + "\n"
    return text
