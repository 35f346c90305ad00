"""Makes a failing model smaller while it still fails in the same way.

The text is cut by lines and blocks first, then by bracketed parts, then by
operands of `and`, `or` and `=>`, then numbers and expressions become simpler.
"""

import re
import time


def shrink(text, fails, seconds=60):
    """fails(text) says whether the text still shows the failure."""
    end = time.time() + seconds
    changed = True
    while changed and time.time() < end:
        changed = False
        for candidates in (blocks, lines, parts, operands, simpler):
            again = True
            while again and time.time() < end:
                again = False
                for smaller in candidates(text):
                    if time.time() > end:
                        break
                    if smaller != text and fails(smaller):
                        text = smaller
                        changed = again = True
                        break
    return text


def matching(lines_, start):
    """The last line of the block that line `start` opens, by braces."""
    depth = 0
    for i in range(start, len(lines_)):
        depth += lines_[i].count("{") - lines_[i].count("}")
        if depth <= 0:
            return i
    return None


def blocks(text):
    """Without a whole block; or with only what is inside."""
    all_lines = text.split("\n")
    for i, line in enumerate(all_lines):
        if not line.rstrip().endswith("{"):
            continue
        end = matching(all_lines, i)
        if end is None or end == i:
            continue
        yield "\n".join(all_lines[:i] + all_lines[end + 1:])
        yield "\n".join(all_lines[:i] + all_lines[i + 1:end] + all_lines[end + 1:])


def lines(text):
    all_lines = text.split("\n")
    for size in (4, 2, 1):
        for i in range(len(all_lines) - size, -1, -1):
            yield "\n".join(all_lines[:i] + all_lines[i + size:])


def brackets(text):
    """(start, end) of all bracketed parts, outermost first."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    stack = []
    found = []
    for i, c in enumerate(text):
        if c in pairs:
            stack.append((pairs[c], i))
        elif stack and c == stack[-1][0]:
            found.append((stack.pop()[1], i + 1))
    return sorted(found, key=lambda p: p[0] - p[1])


def parts(text):
    """Bracketed parts become simple values, or lose their brackets."""
    for start, end in brackets(text):
        if "\n" in text[start:end]:
            continue
        for simple in ("true", "false", "0", "1", "none", "{}"):
            yield text[:start] + simple + text[end:]
        if text[start] == "(":
            yield text[:start] + text[start + 1:end - 1] + text[end:]


OPERATOR = re.compile(r" (?:and|or|=>|otherwise|if|when|where|else|[-+*|&]|mod|/) ")


def operands(text):
    """Without the left or the right side of an operator."""
    for found in OPERATOR.finditer(text):
        left = operand_start(text, found.start())
        right = operand_end(text, found.end())
        yield text[:left] + text[found.end():]
        yield text[:found.start()] + text[right:]
    for found in re.finditer(r", ", text):
        yield text[:operand_start(text, found.start())] + text[found.end():]
        yield text[:found.start()] + text[operand_end(text, found.end()):]


def operand_start(text, at):
    depth = 0
    i = at
    while i > 0:
        c = text[i - 1]
        if c in ")}]":
            depth += 1
        elif c in "({[":
            if depth == 0:
                return i
            depth -= 1
        elif depth == 0 and (c in "\n," or text[max(0, i - 2):i] == ": "):
            return i
        i -= 1
    return i


def operand_end(text, at):
    depth = 0
    i = at
    while i < len(text):
        c = text[i]
        if c in "({[":
            depth += 1
        elif c in ")}]":
            if depth == 0:
                return i
            depth -= 1
        elif depth == 0 and (c in "\n," or OPERATOR.match(text, i)):
            return i
        i += 1
    return i


def simpler(text):
    """Smaller numbers, and the simplest words for longer ones."""
    for found in re.finditer(r"\b\d+\b", text):
        k = int(found.group())
        for smaller in {0, 1, k // 2, k - 1}:
            if 0 <= smaller < k:
                yield text[:found.start()] + str(smaller) + text[found.end():]
    for found in re.finditer(r"(forall|exists) [\w, ]+ in [^:,]+[:,] ?", text):
        yield text[:found.start()] + text[found.end():]
    for found in re.finditer(r"not ", text):
        yield text[:found.start()] + text[found.end():]
    for found in re.finditer(r":= [^\n}]+", text):
        for value in ("true", "false", "0", "1", "none"):
            if found.group() != ":= " + value:
                yield text[:found.start()] + ":= " + value + text[found.end():]
    for found in re.finditer(r"[\w.']+ (?:==|!=|<=|>=|<|>|in|not in) [\w.']+", text):
        for value in ("true", "false"):
            yield text[:found.start()] + value + text[found.end():]
