"""Runs the examples of docs/language.md and the models in tests/models through the oracle, as their `// expect:` lines say.

    python3 -m oracle.validate [FILE...]        in the directory tests

Lines with options or expectations that the oracle does not know are skipped, and counted.
"""

import collections
import pathlib
import re
import shlex
import sys
import time

from . import errors, explore

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VERDICTS = ("holds", "violated", "inconclusive")
NUMBERS = ("states", "transitions", "assignments", "depth", "distance", "channels")


class Skip(Exception):
    pass


def models(paths):
    """(name, text) of all models."""
    for path in paths:
        text = path.read_text()
        if path.suffix == ".md":
            for name, body in re.findall(r"```rondo (\S+)\n(.*?)```", text, re.S):
                yield name, body
        else:
            yield path.name, text


def expectations(text):
    return re.findall(r"^// expect: (.*)$", text, re.M)


def read(line):
    """(verdicts, numbers, error, params, options)."""
    words = shlex.split(line)
    cut = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    verdicts, numbers, error, verdict = {}, {}, None, None
    left = words[:cut]
    while left:
        word = left.pop(0)
        if word in VERDICTS:
            verdict = word
        elif word in NUMBERS:
            numbers[word] = left.pop(0)
        elif word == "error":
            error = left.pop(0)
        elif word == "long":
            continue
        else:
            verdicts[word] = verdict
    params, options = {}, {}
    left = words[cut:]
    while left:
        word = left.pop(0)
        if word == "-D":
            name, value = left.pop(0).split("=")
            if ".." in value:
                raise Skip("a range of parameters")
            params[name] = {"true": True, "false": False}.get(value, value)
            if isinstance(params[name], str):
                params[name] = int(value)
        elif word == "--deadlock":
            options[word] = left.pop(0)
        elif word in ("--env", "--semantics", "--property", "--max-distance"):
            options[word] = left.pop(0)
        elif word == "--reduce" and left[0] == "none":
            left.pop(0)
            options["--reduce"] = "none"
        else:
            raise Skip("option " + word)
    return verdicts, numbers, error, params, options


def run(text, line, limits):
    """A list of differences."""
    verdicts, numbers, error, params, options = read(line)
    if text.lstrip().startswith("counters") or re.search(r"^counters ", text, re.M):
        raise Skip("a counter system")
    if error is not None:
        raise Skip("an error before the search")
    if "--max-distance" in options:
        raise Skip("option --max-distance")
    names = [name for name in verdicts if name != "no_error"]
    if "--property" in options:
        names = [options["--property"]]
    result = explore.check(text, params, environment=options.get("--env"), semantics=options.get("--semantics"),
                           properties=names or None, overrule=True, partial=True, allow_deadlock=options.get("--deadlock") == "allow", **limits)
    if "--semantics" not in options and needs_fine(verdicts, result):
        fine = explore.check(text, params, environment=options.get("--env"), semantics="fine", properties=names or None,
                             overrule=True, partial=True, **limits)
        result.properties.update({name: v for name, v in fine.properties.items() if v[0] != "inconclusive"})
    found = []
    for name, expected in verdicts.items():
        if name == "no_error":
            if expected == "violated" and result.error is None:
                found.append("no error found")
            continue
        verdict, length = result.properties[name]
        if expected == "inconclusive":
            pass        # what rondo cannot tell the oracle may know
        elif verdict == "inconclusive" and (result.too_large or options.get("--semantics") == "fine"):
            raise explore.TooLarge(result.too_large or "not decided in rounds of one's own")
        elif verdict != expected:
            found.append("%s: %s, the oracle says %s (%s)" % (name, expected, verdict, length))
    lengths = [length for _, length in result.properties.values() if length is not None]
    if result.error is not None:
        lengths.append(result.error[1])
    if "depth" in numbers and lengths and min(lengths) != int(numbers["depth"]):
        found.append("depth %s, the oracle says %s" % (numbers["depth"], min(lengths)))
    whole = any(length is None for _, length in result.properties.values())     # else rondo ends once all are decided
    if "states" in numbers and options.get("--reduce") == "none" and result.states is not None and whole:
        if result.states != int(numbers["states"]):
            found.append("states %s, the oracle says %s" % (numbers["states"], result.states))
    return found


def needs_fine(verdicts, result):
    """Unless told otherwise rondo also looks at rounds of one's own: then more may be violated."""
    return any(expected == "violated" and result.properties.get(name, ("",))[0] == "holds" for name, expected in verdicts.items())


def main(arguments):
    paths = [pathlib.Path(a) for a in arguments] or [ROOT / "docs" / "language.md"] + sorted((ROOT / "tests" / "models").glob("*.rondo"))
    counts = collections.Counter()
    limits = {"max_states": 20000, "max_steps": 400000, "max_seconds": 6}
    for name, text in models(paths):
        for line in expectations(text):
            started = time.monotonic()
            try:
                found = run(text, line, limits)
                counts["differ" if found else "agree"] += 1
                for difference in found:
                    print("%s: %s\n    %s" % (name, line, difference))
            except Skip as reason:
                counts["skipped: %s" % reason] += 1
            except explore.TooLarge as reason:
                counts["too large"] += 1
                print("%s: %s\n    too large: %s (%.1f s)" % (name, line, reason, time.monotonic() - started))
            except explore.Unsupported as reason:
                counts["unsupported: %s" % reason] += 1
                print("%s: %s\n    unsupported: %s" % (name, line, reason))
            except (errors.SyntaxProblem, errors.TypeProblem, errors.Rejected, ImportError) as problem:
                counts["problem"] += 1
                print("%s: %s\n    %s: %s" % (name, line, type(problem).__name__, problem))
    for what, number in sorted(counts.items()):
        print("%s: %d" % (what, number))
    return 1 if counts["differ"] or counts["problem"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
