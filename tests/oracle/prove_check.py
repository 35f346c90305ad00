"""`rondo prove` against `rondo check` for all small values of the parameters.

What is proved for all parameters must hold for each of them; what is violated
must be violated for the parameters that prove names.
"""

import json
import os
import re
import subprocess
import tempfile

from . import compare
from . import modes

PROVE = modes.Mode("prove", (), "prove", shortest=False, command="prove", safety_only=True)
SEARCH = ("--semantics", "coarse", "--threads", "1", "--max-states", "30000", "--no-trace")
WAYS = [("check", ()), ("check-none", ("--reduce", "none", "--successors", "plain"))]


def examine(text, params, options, statistics):
    """(accepted, answers, disagreements), like the driver's own."""
    with tempfile.TemporaryDirectory(prefix="rondo-oracle-") as folder:
        path = os.path.join(folder, "model.rondo")
        with open(path, "w") as f:
            f.write(text)
        proof = modes.run(options.rondo, PROVE, path, text, params, options.max_time * 2)
        if proof is None or proof.refused:
            statistics["rejected: " + (proof.refused if proof else "").split("error: ")[-1]] += 1
            return False, [proof] if proof else [], compare.failures([proof]) if proof else []
        found = compare.failures([proof])
        answers = [proof]
        for name, extra in WAYS:
            if name == "check-none" and options.max_time > 0 and not any(v.verdict != "inconclusive" for v in proof.properties.values()):
                continue
            table = instances(options, path, text, extra)
            found += against(proof, name, table)
        found += named_instances(options, path, proof)
        return True, answers, found


def free(text):
    return re.findall(r"^param (\w+)", text, re.M)


def instances(options, path, text, extra):
    """[(parameters, {(property, environment): (verdict, proved)})] for small values."""
    ranges = {"n": "1..3", "t": "0..2"}
    command = [options.rondo, "check", path, "--json", "--max-time", str(options.max_time)] + list(SEARCH) + list(extra)
    for name in free(text):
        command += ["-D", f"{name}={ranges.get(name, '1..2')}"]
    done = subprocess.run(command, capture_output=True, text=True)
    return read_table(done.stdout)


def read_table(output):
    try:
        document = json.loads(output)
    except ValueError:
        return []
    table = []
    for i in document.get("instances", [document]):
        if i.get("error") or "properties" not in i:
            continue
        verdicts = {(p["name"], p.get("environment")): (p["verdict"], p.get("proved")) for p in i["properties"]}
        table.append((i["model"]["params"], verdicts))
    return table


def against(proof, name, table):
    """What is proved for all must hold in each instance."""
    found = []
    for (prop, environment), v in proof.properties.items():
        if v.verdict != "holds":
            continue
        for params, verdicts in table:
            other = verdicts.get((prop, environment))
            if other and other[0] == "violated":
                found.append(compare.Disagreement("prove", name, "verdict", f"{prop}: proved ({v.proved}), but violated with {params} ({other[1]})", prop))
                break
    return found


def named_instances(options, path, proof):
    """What is violated for the parameters that prove names must be violated there."""
    found = []
    for (prop, environment), v in proof.properties.items():
        if v.verdict != "violated":
            continue
        values = dict(re.findall(r"(\w+) = (\d+)", v.proved))
        command = [options.rondo, "check", path, "--json", "--max-time", str(options.max_time), "--property", prop] + list(SEARCH)
        command += ["--reduce", "none"]
        for name, value in values.items():
            command += ["-D", f"{name}={value}"]
        done = subprocess.run(command, capture_output=True, text=True)
        for params, verdicts in read_table(done.stdout):
            other = verdicts.get((prop, environment))
            if other and other[0] == "holds":
                found.append(compare.Disagreement("prove", "check-none", "verdict", f"{prop}: {v.proved}, but it holds there ({other[1]})", prop))
    return found
