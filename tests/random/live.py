"""Random live properties: the random models of rounds and of steps, with what their properties say put under temporal
operators and quantifiers, and assumptions about runs put into their environments. Every way to check them must give the same
verdicts, and every lasso must replay (which judges it by definition)."""
import random
import re

import generate
import generate_steps
from compare import Answer, Comparison, Failure, Skipped

PROPERTY = re.compile(r"^(?:safety|cover) \w+(?: in (\w+))?: (?!step )(.*)$", re.M)
ANY_PROPERTY = re.compile(r"^(?:safety|cover|live) .*\n?", re.M)
QUANTIFIED = re.compile(r"^(forall|exists) ([pqv](?:, [pqv])*) in ([\w& ]+): (.*)$")
OFTEN = ["forall p in all: HO[p] == all", "forall p, q in all: HO[p] == HO[q]", "exists q in all: forall p in all: q in HO[p]",
         "forall p in all: |HO[p]| >= 2", "forall p in all: p in HO[p]", "exists p in all: HO[p] == {}",
         "exists q in all: |HO[q]| >= 2 and forall p in all: q in HO[p]", "nosplit"]
FOR_EVER = ["infinitely often", "infinitely often", "infinitely often", "infinitely often phase", "eventually", "eventually phase",
            "eventually always", "eventually always phase", "eventually always for some q in all"]
FAIR = ["fair", "fair strong", "fair processes", "fair strong processes", "fair actions", "fair strong actions"]
REDUCTIONS = ("symmetry", "partition", "order", "message-order", "round-rank", "dead-variables", "values", "dead-messages",
              "round-window", "relays")


def operators(rng, a, b):
    return rng.choice([f"eventually ({a})", f"always ({a})", f"always eventually ({a})", f"eventually always ({a})",
                       f"({a}) leads to ({b})", f"({a}) until ({b})", f"(always eventually ({a})) => always eventually ({b})",
                       f"eventually (({a}) and always ({b}))", f"not (({a}) until ({b}))", f"(eventually ({a})) or always ({b})"])


def formula(rng, states):
    """Atoms are whole formulas about states; where they are quantified over processes, the quantifier may go outside."""
    a, b = rng.choice(states), rng.choice(states)
    quantified = QUANTIFIED.match(a)
    if quantified and rng.random() < 0.7:
        word, names, who, body = quantified.groups()
        if rng.random() < 0.3:
            word = "exists" if word == "forall" else "forall"
        inner = operators(rng, body, rng.choice([re.sub(r"\b([pqvw])\b", r"\g<1>2", b), body]))
        text = f"{word} {names} in {who}: {inner}"
        return f"always eventually {text}" if rng.random() < 0.1 else text
    return operators(rng, a, b)


def of_runs(rng, text):
    """A clause about whole runs."""
    if rng.random() < 0.2:
        role = rng.choice(re.findall(r"^process (\w+)", text, re.M))
        return f"infinitely often for each p in {role}: |HO[p]| >= 2"
    word = rng.choice(FOR_EVER)
    said = "forall p in all: q in HO[p]" if "some" in word else rng.choice(OFTEN)
    return f"{word}: {said}"


def livened(text, seed, steps):
    rng = random.Random(seed)
    states = [m.group(2) for m in PROPERTY.finditer(text) if m.group(2) != "true" and "round " not in m.group(2)]
    if not states:
        raise Skipped("no formula about states")
    environments = re.findall(r"^environment (\w+)", text, re.M)
    text = ANY_PROPERTY.sub("", text)
    for name in environments:
        clauses = []
        if steps and rng.random() < 0.75:
            clauses.append(rng.choice(FAIR))
        if not steps:
            clauses += [of_runs(rng, text) for _ in range(rng.choice([0, 1, 1, 2]))]
        lines = "".join(f"\n  {clause}" for clause in clauses)
        text = re.sub(rf"^(environment {name}\b[^{{]*\{{)", lambda m: m.group(1) + lines, text, flags=re.M)
    for i in range(3):
        text += f"live prop{i + 1} in {rng.choice(environments)}: {formula(rng, states)}\n"
    return text


def generate_live(seed, steps):
    source = generate_steps if steps else generate
    return livened(source.generate(random.Random(seed)), seed, steps)


def verdicts(answer):
    return {(p["name"], p["environment"]): (p["verdict"], p.get("vacuous")) for p in answer.json["properties"] if p["kind"] == "live"}


class LiveComparison(Comparison):
    def __init__(self, program, folder, name, steps):
        super().__init__(program, folder, name)
        self.steps = steps

    def ask(self, *extra, setting=None):
        answer = Answer(self.program, self.path, [*extra, *([] if self.steps else ["--semantics", "coarse"])], setting=setting)
        if answer.status == 3:
            raise Skipped("refused: " + answer.stderr.strip().split("\n")[0][-80:])
        if answer.limited or any(p["kind"] == "error" for p in answer.json["properties"]):
            raise Skipped("limited")
        return answer

    def same(self, base, answer, way):
        if verdicts(base) != verdicts(answer):
            raise Failure(f"{way} verdicts", f"{verdicts(base)} and {verdicts(answer)}")

    def everything(self, text):
        self.write(text)
        base = self.ask("--reduce", "none")
        self.same(base, self.ask("--reduce", "none", "--successors", "plain"), "plain")
        reduced = self.ask()
        self.same(base, reduced, "default")
        if self.steps:
            for way in ([], ["--reduce", "none"]):
                self.same(base, self.ask(*way, setting={"RONDO_TEST_SIEVE_FROM": "1"}), "sieve " + " ".join(way))
        granted = {r["name"]: r["applied"] for run in reduced.json["runs"] for r in run["reductions"] if r["granted"]}
        for how in REDUCTIONS:
            if granted.get(how):
                self.same(base, self.ask("--reduce", how), how)
        if "semantics" in base.json["model"] and base.json["model"]["semantics"] == "m":
            for semantics in ("m-mp", "mp"):
                try:
                    other = self.ask("--reduce", "none", "--semantics", semantics)
                except Skipped:
                    continue
                if semantics == "m-mp":
                    self.same(base, other, semantics)
                elif any(v == "violated" and verdicts(other)[key][0] != v for key, (v, _) in verdicts(base).items()):
                    raise Failure("mp verdicts", f"{verdicts(base)} and {verdicts(other)}")  # mp has more runs: some are blocked
        self.replays(base, "none")
        self.replays(reduced, "default")
        found = {v for v, _ in verdicts(base).values()} | {name for name, applied in granted.items() if applied}
        found |= {"vacuous"} if any(v for _, v in verdicts(base).values()) else set()
        return 0, found

    def again(self, text, kind):
        try:
            self.everything(text)
        except Failure as failure:
            return failure.kind == kind
        except Skipped:
            pass
        return False
