"""Compares answers of rondo with the oracle, and with each other."""

import re
from dataclasses import dataclass


@dataclass
class Disagreement:
    mode: str                     # name of the mode that is wrong, or the first of two
    against: str                  # the oracle, or another mode
    subject: str                  # verdict, length, states, error, failure
    what: str                     # in words
    property: str = None

    def key(self):
        """What must persist while a model is made smaller."""
        return self.mode, self.against, self.subject

    def __str__(self):
        return f"{self.mode} against {self.against}: {self.what}"


def failures(answers):
    return [Disagreement(a.mode.name, "itself", "failure: " + kind_of_failure(a.failure), a.failure) for a in answers if a.failure]


def kind_of_failure(text):
    """What stays the same of a failure when the model becomes smaller."""
    found = re.search(r"fault of rondo itself: [^']*", text)
    return found.group() if found else " ".join(text.split()[:3])


def countable(text, answer):
    """Can numbers of states be compared with the oracle's?

    rondo keeps first values only as far as properties read them, and forgets messages to Byzantine processes, messages that
    nobody waits for, and oracles that are not read any more; messages to crashed processes are never lost. Who crashes for
    ever and who may recover is told apart by the oracle only.
    """
    if "initial(" in text or re.search(r"^ +oracle ", text, re.M) or "is never taken" in answer.warnings:
        return False
    if "crash and recover" in text and re.search(r"crash *$", text, re.M):
        return False
    if "crash" in text and "are lost" in text and re.search(r"^message ", text, re.M):
        return False
    return not ("byzantine" in text and re.search(r"^message ", text, re.M))


def against_oracle(answers, oracle, text):
    """oracle: {(semantics, environment): result of explore.check}."""
    found = []
    for a in answers:
        for (name, environment), v in a.properties.items():
            result = oracle.get((a.mode.semantics, environment))
            if result is None:
                continue
            found += one_verdict(a, name, environment, v, result)
        found += left_out(a, oracle, text)
        if countable(text, a):
            found += state_counts(a, oracle)
    return found


def only_deadlock(a):
    """Whether a mode asks for `deadlock` alone, so that other properties are not evaluated."""
    return [a.command[i + 1] for i, word in enumerate(a.command) if word == "--property"] == ["deadlock"]


def left_out(a, oracle, text):
    """A deadlock that a mode says nothing about. Engines that do not support the property may leave it out."""
    if a.refused or a.failure or "--engine" in a.mode.options or "--property" in a.command and "deadlock" not in a.command:
        return []
    if re.search(r"^(safety|cover|live) deadlock\b", text, re.M):
        return []
    found = []
    for (semantics, environment), result in oracle.items():
        if semantics != a.mode.semantics or result.error is not None or result.properties.get("deadlock", ("", 0))[0] != "violated":
            continue
        # Asked for in the first environment only; an answer for another one does not speak of it.
        if first_environment(text) == environment and ("deadlock", environment) not in a.properties:
            found.append(Disagreement(a.mode.name, "oracle", "missing", f"no answer on deadlock in {environment}, where the oracle finds one", "deadlock"))
    return found


def first_environment(text):
    found = re.search(r"^environment (\w+)", text, re.M)
    return found.group(1) if found else "free"


def one_verdict(a, name, environment, v, result):
    """Compares the verdict on one property with what the oracle says."""
    if v.semantics is not None and v.semantics != a.mode.semantics:
        return []
    if name == "no_error":
        if result.error is None:
            if not result.complete:
                return []
            # A property that is decided need not be looked at in the other states of that layer, where it may be an error.
            if any(length == v.length for _, length in result.properties.values()):
                return []
            return [Disagreement(a.mode.name, "oracle", "error", f"{name} in {environment}: violated ({v.proved}), the oracle finds no error", name)]
        if only_deadlock(a):
            return []             # the oracle's error may be in a property that was not asked for
        if a.mode.shortest and v.length is not None and v.length != result.error[1]:
            return [Disagreement(a.mode.name, "oracle", "error length", f"{name} in {environment}: {v.proved}, the oracle needs {result.error[1]}", name)]
        return []
    if result.error is not None and v.complete:
        # `deadlock` alone, or in a search of its own: another property may be the error.
        if name == "deadlock" and (only_deadlock(a) or ("no_error", environment) in a.properties):
            return []
        # Likewise a property that was tried alone: the error is in another property, which has a search of its own.
        own = a.properties.get(("no_error", environment))
        if own is not None and own.search != v.search and ((own.trace or {}).get("property") or {}).get("name", name) != name:
            return []
        # A prover may be done with one property before another one turns out to fail.
        if "--engine" in a.mode.options and ("no_error", environment) in a.properties:
            return []
        if any(w.length == result.error[1] for w in a.properties.values() if w.kind != "error"):
            return []
        return [Disagreement(a.mode.name, "oracle", "error", f"{name} in {environment}: {v.verdict} ({v.proved}), the oracle finds an error: {result.error}", name)]
    if name not in result.properties or v.verdict == "inconclusive":
        return []
    verdict, length = result.properties[name]
    if verdict not in ("holds", "violated"):
        return []
    if verdict != v.verdict:
        return [Disagreement(a.mode.name, "oracle", "verdict", f"{name} in {environment}: {v.verdict} ({v.proved}), the oracle says {verdict} ({length})", name)]
    if a.mode.shortest and v.kind in ("safety", "cover") and length is not None and v.length is not None and length != v.length:
        return [Disagreement(a.mode.name, "oracle", "length", f"{name} in {environment}: {v.proved}, the oracle needs {length}", name)]
    return []


def state_counts(a, oracle):
    if not a.mode.exact:
        return []
    found = []
    for r in a.runs:
        result = oracle.get((a.mode.semantics, r["environment"]))
        if result is None or r["live"] or not r["complete"] or r["states"] is None or result.states is None:
            continue
        if r["semantics"] != a.mode.semantics or result.error is not None:
            continue
        if r["states"] != result.states:
            found.append(Disagreement(a.mode.name, "oracle", "states", f"{r['states']} states in {r['environment']}, the oracle has {result.states}"))
    return found


# ---- modes against each other --------------------------------------------------------

def against_each_other(answers, text):
    """Disagreements between modes that must agree."""
    found = []
    groups = {}
    for a in answers:
        groups.setdefault(a.mode.semantics, []).append(a)
    for semantics, group in groups.items():
        for i, a in enumerate(group):
            for b in group[i + 1:]:
                found += pair(a, b)
    found += across_semantics(groups, text)
    return found


def pair(a, b):
    """Two modes of the same semantics."""
    found = []
    names = f"{a.mode.name} and {b.mode.name}"
    for key, v in a.properties.items():
        w = b.properties.get(key)
        if w is None:
            if key[0] == "no_error":
                found += unseen_error(a, v, b, key[1])
            continue
        found += two_verdicts(a, v, b, w, key)
    for key, w in b.properties.items():
        if key not in a.properties and key[0] == "no_error":
            found += unseen_error(b, w, a, key[1])
    if a.mode.counts and a.mode.counts == b.mode.counts:
        found += two_counts(a, b)
    return found


def unseen_error(a, v, b, environment):
    """a found an error that b has not; b must not say that it saw everything.

    A property that is decided need not be looked at in the other states of that layer, where it may be an error.
    """
    found = []
    if only_deadlock(b) or any(w.length == v.length for w in b.properties.values() if w.length is not None):
        return []
    for (name, env), w in b.properties.items():
        if env == environment and w.complete and w.semantics == v.semantics:
            found.append(Disagreement(b.mode.name, a.mode.name, "error",
                                      f"{name} in {env}: {w.verdict} ({w.proved}), but {a.mode.name} finds an error ({v.proved})", name))
            break
    return found


def shortest(a, v):
    return a.mode.shortest or "(shortest)" in v.proved


def two_verdicts(a, v, b, w, key):
    name, environment = key
    if "inconclusive" in (v.verdict, w.verdict):
        return []
    if v.semantics != w.semantics:
        return []
    where = f"{name} in {environment}"
    if v.verdict != w.verdict:
        return [Disagreement(a.mode.name, b.mode.name, "verdict", f"{where}: {v.verdict} ({v.proved}) and {w.verdict} ({w.proved})", name)]
    if v.kind == "live" or name == "no_error of a live property" or v.length is None or w.length is None:
        return []                 # searches for live properties do not go by depth
    if name == "no_error" and only_deadlock(a) != only_deadlock(b):
        return []                 # the first error may be in a property that one of them does not evaluate
    if shortest(a, v) and shortest(b, w):
        if v.length != w.length:
            return [Disagreement(a.mode.name, b.mode.name, "length", f"{where}: {v.proved} and {w.proved}", name)]
    elif shortest(a, v) and v.length > w.length or shortest(b, w) and w.length > v.length:
        return [Disagreement(a.mode.name, b.mode.name, "length", f"{where}: {v.proved} and {w.proved}", name)]
    return []


def two_counts(a, b):
    found = []
    theirs = {(r["environment"], r["properties"], r["semantics"]): r for r in b.runs}
    for r in a.runs:
        s = theirs.get((r["environment"], r["properties"], r["semantics"]))
        if s is None or not (r["complete"] and s["complete"]) or None in (r["states"], s["states"]):
            continue
        if r["states"] != s["states"]:
            found.append(Disagreement(a.mode.name, b.mode.name, "states", f"{r['states']} and {s['states']} states in {r['environment']}"))
    return found


def whole_rounds_only(name, text):
    """Does a property read `round`, or who is correct so far? These are questions about whole rounds. Step properties
    are left out as well: a step of fine rounds is one of a single process."""
    found = re.search(rf"^(?:safety|cover)\s+{re.escape(name)}\b.*$", text, re.M)
    return name.startswith("st") or found is not None and re.search(r"\b(round|correct|faulty)\b", found.group()) is not None


def across_semantics(groups, text):
    """Modes of different semantics: what must be the same all the same."""
    found = []
    for a in groups.get("fine", []):
        for b in groups.get("coarse", []):
            found += fine_and_coarse(a, b, text)
        for b in groups.get("default", []):
            found += fine_and_default(a, b, text)
    for a in groups.get("default", []):
        for b in groups.get("coarse", []):
            found += default_and_coarse(a, b)
    for one, other in (("m", "m-mp"), ("m", "mp"), ("m-mp", "mp")):
        for a in groups.get(one, []):
            for b in groups.get(other, []):
                found += messages(a, b, other == "mp")
    return found


def opposite(v, w):
    return {v.verdict, w.verdict} == {"holds", "violated"}


def fine_and_coarse(a, b, text):
    found = []
    for key, v in a.properties.items():
        w = b.properties.get(key)
        if whole_rounds_only(key[0], text):
            continue
        if w and w.granted and v.kind in ("safety", "cover") and v.semantics == "fine" and opposite(v, w):
            found.append(Disagreement(a.mode.name, b.mode.name, "verdict",
                                      f"{key[0]} in {key[1]}: fine {v.verdict} ({v.proved}), whole rounds {w.verdict} ({w.proved}), which are said to be enough", key[0]))
    return found


def fine_and_default(a, b, text):
    found = []
    for key, v in a.properties.items():
        w = b.properties.get(key)
        if whole_rounds_only(key[0], text):
            continue
        if w and v.kind in ("safety", "cover") and v.semantics == "fine" and opposite(v, w) and "whole rounds" not in w.proved:
            if w.verdict == "violated" and w.semantics == "coarse":
                continue
            found.append(Disagreement(a.mode.name, b.mode.name, "verdict", f"{key[0]} in {key[1]}: fine {v.verdict} ({v.proved}), default {w.verdict} ({w.proved})", key[0]))
    return found


def default_and_coarse(a, b):
    found = []
    for key, v in a.properties.items():
        w = b.properties.get(key)
        if w is None or not opposite(v, w):
            continue
        if v.semantics == "fine" and v.kind != "cover" and v.verdict == "violated" or v.semantics == "fine" and v.kind == "cover" and v.verdict == "holds":
            continue
        found.append(Disagreement(a.mode.name, b.mode.name, "verdict", f"{key[0]} in {key[1]}: default {v.verdict} ({v.proved}), coarse {w.verdict} ({w.proved})", key[0]))
    return found


def messages(a, b, mp):
    found = []
    for key, v in a.properties.items():
        w = b.properties.get(key)
        if w is None or not opposite(v, w) or v.kind == "error" or mp and v.kind == "live":
            continue
        found.append(Disagreement(a.mode.name, b.mode.name, "verdict", f"{key[0]} in {key[1]}: {v.verdict} ({v.proved}) and {w.verdict} ({w.proved})", key[0]))
    return found


def compare(answers, oracle=None, text=""):
    """All disagreements; those with the oracle first."""
    found = failures(answers)
    if oracle:
        found += against_oracle(answers, oracle, text)
    found += against_each_other(answers, text)
    return found
