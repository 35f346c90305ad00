"""`--sarif`: the structure that SARIF 2.1.0 (OASIS) demands, the places, the steps of counterexamples; the same bytes every time."""
import json
import re

from harness import ROOT, must, test

BROKEN, TORN = "models/broken/one_third_rule_half.rondo", "models/broken/herlihy_torn.rondo"
LEVELS = ("none", "note", "warning", "error")


def a_message(message, where):
    must(isinstance(message, dict) and isinstance(message.get("text"), str) and message["text"], f"{where}: no message")


def a_location(location, where):
    physical = location["physicalLocation"]
    uri = physical["artifactLocation"]["uri"]
    must(re.fullmatch(r"(file://)?[A-Za-z0-9._~/%-]+", uri), f"{where}: uri {uri}")
    region = physical.get("region")
    if region is not None:
        must(region["startLine"] >= 1 and region.get("startColumn", 1) >= 1, f"{where}: {region}")
        end = (region.get("endLine", region["startLine"]), region.get("endColumn", 10**9))
        must(end >= (region["startLine"], region.get("startColumn", 1)), f"{where}: {region}")
    if "message" in location:
        a_message(location["message"], where)


def a_log(path):
    """What the standard requires, or what its readers insist on."""
    log = json.loads(path.read_text(encoding="utf-8"))
    must(set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0" and "sarif-2.1.0" in log["$schema"], list(log))
    run, = log["runs"]
    driver = run["tool"]["driver"]
    must(driver["name"] == "rondo" and re.match(r"\d+\.\d+", driver["version"]) and run["columnKind"] == "unicodeCodePoints", driver)
    rules = driver["rules"]
    must(len({r["id"] for r in rules}) == len(rules), "two rules with one id")
    for rule in rules:
        a_message(rule["shortDescription"], rule["id"])
        must(rule["defaultConfiguration"]["level"] in LEVELS, rule)
    must(isinstance(run["invocations"][0]["executionSuccessful"], bool), run["invocations"])
    for result in run["results"]:
        must(rules[result["ruleIndex"]]["id"] == result["ruleId"] and result["level"] in LEVELS, result["ruleId"])
        a_message(result["message"], result["ruleId"])
        for location in result["locations"]:
            a_location(location, result["ruleId"])
        for flow in result.get("codeFlows", ()):
            must(flow["threadFlows"], "no thread flow")
            for thread in flow["threadFlows"]:
                must(thread["locations"], "no locations")
                for step in thread["locations"]:
                    a_location(step["location"], "step")
                    must(step["nestingLevel"] >= 0 and step["location"]["message"]["text"], step)
    return run


def line_of(result):
    return result["locations"][0]["physicalLocation"]["region"]["startLine"]


@test
def sarif_of_a_violation_has_the_run(rondo):
    out = rondo.folder / "a.sarif"
    said = rondo("check", BROKEN, "-D", "n=3", "--property", "agreement", "--sarif", out, status=1).stdout
    must("VIOLATED" in said, "the text is as ever")
    run = a_log(out)
    result, = run["results"]
    must(result["ruleId"] == "violated" and result["level"] == "error" and "'agreement' is violated, after 2 rounds" in result["message"]["text"], result["message"])
    must(line_of(result) == 28 and result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == BROKEN, result["locations"])
    steps = [s["location"] for s in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    texts = [s["message"]["text"] for s in steps]
    must(texts[0].startswith("start; P(1): x = ") and texts[-1].startswith("now 'agreement' fails") and "p = P(1)" in texts[-1], texts)
    must(sum(t.startswith("round ") for t in texts) == 2 and any("decided none -> 2" in t for t in texts), texts)
    changed = next(s for s in steps if "decided none -> 2" in s["message"]["text"])
    must(changed["physicalLocation"]["region"]["startLine"] == 20, changed)
    again = rondo.folder / "b.sarif"
    rondo("check", BROKEN, "-D", "n=3", "--property", "agreement", "--sarif", again, "--json", status=1)
    must(out.read_bytes() == again.read_bytes(), "the same bytes every time")
    must(run["invocations"][0]["exitCode"] == 1, run["invocations"])


@test
def sarif_of_steps_tables_and_lassos(rondo):
    out = rondo.folder / "a.sarif"
    rondo("check", TORN, "-D", "n=2", "--sarif", out, status=1)
    texts = [s["location"]["message"]["text"] for s in a_log(out)["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]]
    must(sum(t.startswith("step ") for t in texts) == 6 and "step 3: P(1): swap" in texts, texts)
    rondo("check", BROKEN, "-D", "n=2..3", "--property", "agreement", "--sarif", out, status=1)
    must([r["message"]["text"].count("n = 3") for r in a_log(out)["results"]][-1] == 1, "tables")
    live = rondo.file("live.rondo", "algorithm L\nprocess P[2] {\n  var d: bool = false\n  round { send true to all  update { if |received| == 2 { d := true } } }\n}\n"
                      "environment free {}\nlive ends: forall p in P: eventually p.d\n")
    rondo("check", live, "--sarif", out, status=1)
    texts = [s["location"]["message"]["text"] for s in a_log(out)["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]]
    must(any("repeats from position 0" in t for t in texts), texts)
    error = rondo.file("error.rondo", "algorithm E\nprocess P[1] {\n  var d: 0..9 = 0\n  round { update { d := min({x in 0..9: x > 9}) } }\n}\nenvironment free {}\nsafety s: true\n")
    if rondo("check", error, "--sarif", out).returncode == 1:
        must(any(r["ruleId"] == "model-error" and line_of(r) == 4 for r in a_log(out)["results"]), "an error of the model")


@test
def sarif_of_errors_and_limits(rondo):
    out = rondo.folder / "a.sarif"
    bad = rondo.file("bad name%.rondo", "algorithm A\nprocess P[1] {\n  var x: bool = fasle\n  round { send x to all }\n}\nsafety s: true\n")
    rondo("check", bad, "--sarif", out, status=3)
    run = a_log(out)
    must(run["results"] and all(r["ruleId"].startswith("E") and r["level"] == "error" for r in run["results"]), run["results"])
    must(line_of(run["results"][0]) == 3 and "bad%20name%25" in run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], run["results"][0])
    must(run["invocations"][0]["executionSuccessful"] is False and run["invocations"][0]["exitCode"] == 3, run["invocations"])
    rondo("check", "models/one_third_rule.rondo", "-D", "n=3", "--max-states", "2", "--property", "agreement", "--sarif", out, status=2)
    result, = a_log(out)["results"]
    must(result["ruleId"] == "inconclusive" and result["level"] == "warning" and line_of(result) > 1, result)
    rondo("check", "models/one_third_rule.rondo", "-D", "n=2", "--property", "agreement", "--sarif", out, status=0)
    must(a_log(out)["results"] == [], "nothing to report")
    rondo("check", "no/such/file.rondo", "--sarif", out, status=3)
    must(a_log(out)["results"][0]["locations"] == [], "no place")
    rondo("check", BROKEN, "-D", "n=2", "--sarif", BROKEN, status=3, says="would overwrite")
    rondo("check", BROKEN, "-D", "n=2", "--sarif", rondo.folder / "no/where", status=3, says="E0809")
    must(ROOT.joinpath(BROKEN).read_text().startswith("//"), "the model is as it was")


@test
def sarif_of_lint_and_test(rondo):
    out = rondo.folder / "a.sarif"
    plain = rondo("lint", "models/one_third_rule.rondo", status=0).stdout
    said = rondo("lint", "models/one_third_rule.rondo", "--sarif", out, status=0).stdout
    must(said == plain, "the text is as ever")
    refused = [r for r in a_log(out)["results"] if "'partition'" in r["message"]["text"]]
    must(refused and refused[0]["level"] == "note" and line_of(refused[0]) > 1, refused)
    path = rondo.file("t.rondo", "// expect: violated agreement -D n=2\n// expect: hold agreement\n// expect: holds agreement -D n=2\n" +
                      (ROOT / "models/one_third_rule.rondo").read_text(encoding="utf-8").replace("// expect", "// was"))
    rondo("test", path, "--sarif", out, status=3)
    results = {(r["ruleId"], line_of(r)) for r in a_log(out)["results"]}
    must(results == {("expectation", 1), ("E0820", 2)}, results)
