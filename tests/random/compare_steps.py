"""One model of steps checked in every way that must give the same answer.

In each of the three semantics: `--successors plain` runs the interpreter event by event, with every order of arrival or without
(`message-order`), and the fast space must agree with it state by state; every reduction must find the same violations, covers and
errors, after as many steps and with as many faults, except that partial order reduction may take a longer way. Between the
semantics the verdicts must be the same. Where actions consume all that they use, M-MP has as many states as M has states
and sets of messages pending in them, and MP as many as M-MP. Every trace must replay.
"""
import re

from compare import Answer, Comparison, Failure, Skipped, certain, difference

REDUCTIONS = ("symmetry", "partition", "order", "values", "dead-variables", "dead-messages", "loss", "partial-order", "round-window",
              "relays")
SEMANTICS = ("m", "m-mp", "mp")
STATES_MOST = 4000  # under M, without reductions: the plain way has to follow
STATES_FEW = 500    # and in the other semantics, and in every order of arrival
STATES, SECONDS = 12000, 2


def verdicts(answer):
    """What each property came to, whatever the way there. An error ends the search, and may hide the rest."""
    told = {key: verdict for key, (verdict, _) in answer.said.items()}
    errors = {key: verdict for key, verdict in told.items() if key[0] == "no_error" and verdict == "violated"}
    return errors or told


class StepComparison(Comparison):
    def check(self, *extra, setting=None):
        answer = Answer(self.program, self.path, list(extra), STATES, SECONDS, setting)
        if answer.status == 3:
            raise Skipped("refused")
        if not answer.json["properties"] or self.semantics(answer) == "coarse":
            raise Skipped("asks nothing of steps")
        return answer

    def limited(self, answer):
        if answer.limited:
            raise Skipped("large")
        return answer

    def same_states(self, a, b, what):
        if a.states != b.states:
            raise Failure(f"{what} states", f"{a.states} and {b.states}")

    def same(self, a, b, what):
        wrong = difference(a, b) or certain(a, b)
        if wrong:
            raise Failure(f"{what} verdicts", wrong)

    def same_but_longer(self, a, b, what):
        """Partial order reduction: the same verdicts, on ways that are no shorter."""
        if verdicts(a) != verdicts(b):
            raise Failure(f"{what} verdicts", f"{verdicts(a)} and {verdicts(b)}")
        for key, told in a.found.items():
            if key not in verdicts(a):
                continue
            short, long = ([int(n) for n in re.findall(r"after (\d+)", words or "")] for words in (told, b.found[key]))
            if long < short:
                raise Failure(f"{what} depth", f"{key[0]}: '{told}' and '{b.found[key]}'")

    def sees_all(self, answer):
        """Nothing ended the search early."""
        return any(p["name"] == "whole" for p in answer.json["properties"]) and all(p["kind"] != "error" for p in answer.json["properties"])

    def semantics(self, answer):
        return answer.json["runs"][0]["model"]["semantics"]

    def one(self, semantics, thorough=True):
        """All ways of one semantics; the unreduced answer, and the licences of the default one."""
        how = ["--semantics", semantics] if semantics else []
        base = self.limited(self.check("--reduce", "message-order", *how))
        if not semantics and sum(base.states) > STATES_MOST:
            raise Skipped("large")
        name = semantics or self.semantics(base)
        plain = self.limited(self.check("--reduce", "message-order", "--successors", "plain", *how))
        self.same(base, plain, f"plain {name}")
        self.same_states(base, plain, f"plain {name}")
        reduced = self.limited(self.check(*how))
        self.same_but_longer(base, reduced, f"default {name}")
        self.replays(base, f"message-order {name}")
        self.replays(reduced, f"default {name}")
        granted = {r["name"]: r["applied"] for run in reduced.json["runs"] for r in run["reductions"] if r["granted"]}
        for reduction in REDUCTIONS if thorough else ():
            if reduction in granted:
                alone = self.limited(self.check("--reduce", f"message-order,{reduction}", *how))
                (self.same_but_longer if reduction == "partial-order" else self.same)(base, alone, f"{reduction} {name}")
                if self.sees_all(base) and sum(alone.states) > sum(base.states):
                    raise Failure(f"{reduction} {name} states", f"{base.states} without, {alone.states} with")
        if thorough and "partial-order" in granted:
            self.one_by_one(base, how, name)
            # whether it pays is decided after a few states instead of thousands
            tried = self.limited(self.check(*how, setting={"RONDO_TEST_TRIAL_STATES": "3"}))
            self.same_but_longer(base, tried, f"trial {name}")
            self.replays(tried, f"trial {name}")
        if thorough and not any(p["kind"] == "error" for p in base.json["properties"]):
            split = self.limited(self.check(*how, setting={"RONDO_TEST_SPLIT_FROM": "8", "RONDO_TEST_TRIAL_STATES": "3"}))
            self.same_but_longer(base, split, f"split {name}")
            self.replays(split, f"split {name}")
        return base, granted

    def one_by_one(self, base, how, name):
        """Partial order reduction looks at what is asked: it leaves out more if that is little."""
        if any(p["kind"] == "error" for p in base.json["properties"]):
            return  # whichever comes first
        for p in base.json["properties"]:
            if p["name"] == "whole":
                continue
            alone = self.limited(self.check("--property", p["name"], *how))
            if alone.json["properties"][0]["verdict"] != p["verdict"]:
                raise Failure(f"single {name} verdicts", f"{p['name']}: {p['verdict']} together, {alone.said} alone")
            self.replays(alone, f"single {name}")

    def arrivals(self, base, semantics):
        """Every order in which messages arrive: more states, the same answers."""
        ordered = self.check("--reduce", "none", "--semantics", semantics)
        if ordered.limited:
            return
        self.same(base, ordered, f"none {semantics}")
        plain = self.limited(self.check("--reduce", "none", "--successors", "plain", "--semantics", semantics))
        self.same(ordered, plain, f"plain none {semantics}")
        self.same_states(ordered, plain, f"plain none {semantics}")

    def everything(self, text):
        self.write(text)
        base, granted = self.one(None)
        first = self.semantics(base)
        found = {first, *(name for name, applied in granted.items() if applied)}
        if first != "interleaving" and sum(base.states) <= STATES_FEW:
            self.arrivals(base, first)
            bases = {first: base}
            for semantics in SEMANTICS:
                if semantics == first:
                    continue
                try:
                    bases[semantics], _ = self.one(semantics, thorough=False)
                except Skipped:
                    continue
                found.add(semantics)
                if verdicts(base) != verdicts(bases[semantics]):
                    raise Failure(f"{first} and {semantics} verdicts", f"{verdicts(base)} and {verdicts(bases[semantics])}")
            if "m-mp" in bases and "mp" in bases and consumes(text):
                self.same_states(bases["m-mp"], bases["mp"], "m-mp and mp")
        return sum(base.states), found

    def again(self, text, kind):
        try:
            self.everything(text)
        except Failure as failure:
            return failure.kind == kind
        except Skipped:
            pass
        return False


def consumes(text):
    """Does everybody take every kind of message, and every action all that it uses, and does nothing end the search early?"""
    quorums = re.findall(r"^.*\bon \w+: .*\bof .*$", text, re.M)
    kinds = re.findall(r"\b(k\d)\b", (re.search(r"^message .*$", text, re.M) or [""])[0])
    roles = re.split(r"^process ", text, flags=re.M)[1:]
    return (all(" taken" in line for line in quorums) and "duplicated" not in text and "crash" not in text
            and "safety whole: true" in text
            and all(re.search(rf"\bon (?:\w+: )?(?:.* of )?{kind}\b", role) for role in roles for kind in kinds))
