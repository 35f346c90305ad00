"""Rounds of one's own on the command line: distances, runaways, locality, traces and their replay."""
import json

from harness import must, test

TAKEN_BACK = "tests/models/taken_back.rondo"
BRACHA_TOUEG = ("models/bracha_toueg.rondo", "-D", "n=3", "-D", "t=1")
FINE = ("--semantics", "fine")


@test
def distances_are_found(rondo):
    answer = rondo.json("check", *BRACHA_TOUEG, *FINE, "--property", "apart", status=0)
    must(answer["stats"]["round_distance"] == 3, answer["stats"])
    answer = rondo.json("check", *BRACHA_TOUEG, *FINE, "--property", "agreement", status=0)
    must(answer["stats"]["round_distance"] == 5, answer["stats"])
    answer = rondo.json("check", *BRACHA_TOUEG, "--property", "agreement", status=0)
    must(answer["stats"]["round_distance"] is None and answer["runs"][0]["runaway"] is None, "whole rounds have none")
    rondo("check", *BRACHA_TOUEG, *FINE, "--property", "agreement", "--max-distance", "2", status=2, says="up to distance 2")
    rondo("check", *BRACHA_TOUEG, *FINE, "--max-distance", "0", status=3)


@test
def propositions_of_an_and_pang(rondo):
    for n in (3, 4, 5):
        answer = rondo.json("check", "models/bracha_toueg.rondo", "-D", f"n={n}", "-D", "t=1", *FINE, "--property", "apart", status=0)
        must(answer["stats"]["round_distance"] == 3 and answer["stats"]["channel_bound"] == 4 * n - 3, answer["stats"])
    answer = rondo.json("check", "models/rotating_coordinator.rondo", "-D", "n=4", "-D", "t=1", *FINE, "--property", "apart", status=0)
    must(answer["stats"]["round_distance"] == 16 and answer["stats"]["channel_bound"] == 7, answer["stats"])
    answer = rondo.json("check", "models/bracha_toueg.rondo", "-D", "n=5", "-D", "t=2", *FINE, "--property", "apart", status=2)
    must(answer["stats"]["round_distance"] == "unbounded" and answer["runs"][0]["runaway"]["trace"]["order"], answer["stats"])


@test
def runaways_are_shown(rondo):
    answer = rondo.json("check", "models/one_third_rule.rondo", "-D", "n=2", *FINE, "--property", "agreement", status=2)
    run = answer["runs"][0]
    must(answer["stats"]["round_distance"] == "unbounded", answer["stats"])
    must(run["runaway"]["from"] < run["runaway"]["to"] and run["runaway"]["trace"]["order"], run["runaway"])
    rondo("check", "models/one_third_rule.rondo", "-D", "n=2", *FINE, status=2, says="get apart without bound")


@test
def whole_rounds_need_a_licence(rondo):
    answer = rondo.json("check", TAKEN_BACK, "--property", "agreement", "--property", "range", status=1)
    by_name = {p["name"]: p for p in answer["properties"]}
    must(answer["runs"][by_name["agreement"]["run"]]["model"]["semantics"] == "fine", by_name["agreement"])
    must(by_name["agreement"]["verdict"] == "violated" and by_name["range"]["whole_rounds"]["granted"] is True, by_name)
    answer = rondo.json("check", TAKEN_BACK, "--semantics", "coarse", "--property", "agreement", status=0)
    licence = answer["properties"][0]["whole_rounds"]
    must(licence["granted"] is False and licence["line"], licence)
    rondo("check", TAKEN_BACK, "--semantics", "coarse", status=0, says="in whole rounds")
    rondo("compare", TAKEN_BACK, says="as they may of what is not local", status=1)
    rondo("compare", *BRACHA_TOUEG, "--property", "agreement", status=0, says="the verdicts agree")
    rondo("run", TAKEN_BACK, *FINE, status=3, says="whole rounds")


@test
def traces_have_an_order(rondo):
    file = rondo.file("t.json", "")
    rondo("check", TAKEN_BACK, *FINE, "--property", "agreement", "--trace-out", file, status=1)
    with open(file, encoding="utf-8") as saved:
        trace = json.load(saved)
    must([e["process"] for e in trace["order"]] and trace["end"]["processes"], trace["order"])
    rondo("replay", file, TAKEN_BACK, status=1, says="now agreement fails")
    trace["order"].append(trace["order"][0])
    rondo("replay", rondo.file("u.json", json.dumps(trace)), TAKEN_BACK, says="")
    trace["order"] = trace["order"] * 5
    rondo("replay", rondo.file("v.json", json.dumps(trace)), TAKEN_BACK, status=3, says="cannot end its round")


SMALL = (("one_third_rule", "n=3", "k=2"), ("one_third_rule_unordered", "n=3", "k=2"), ("uniform_voting", "n=3", "k=2"), ("ben_or", "n=3", "f=1"),
         ("coord_uniform_voting", "n=2"), ("last_voting", "n=2"), ("floodset", "n=3", "f=1"), ("floodset_early", "n=3", "f=1"),
         ("three_phase_commit", "n=3", "f=1"), ("two_phase_commit", "n=2", "f=1"), ("phase_king", "n=3", "t=0"),
         ("bracha_toueg", "n=3", "t=1"))
ENDLESS = (("chandra_toueg", "n=2"),)  # phases by their order and residue are the whole rounds' only: finely they grow without bound


@test
def every_model_of_rounds_agrees(rondo):
    for name, *values in SMALL:
        defines = [x for v in values for x in ("-D", v)]
        answer = rondo.json("compare", f"models/{name}.rondo", *defines, "--max-time", "100", status=(0, 1, 2))
        rows = [row for e in answer["environments"] for row in e["semantics"]]
        must(answer["agrees"] and all(row["complete"] for row in rows), f"{name}: {answer['why']}")
        must({row["semantics"] for row in rows} == {"coarse", "fine"}, name)
    for name, *values in ENDLESS:
        defines = [x for v in values for x in ("-D", v)]
        answer = rondo.json("compare", f"models/{name}.rondo", *defines, "--max-rounds", "60", "--max-time", "150", status=2)
        rows = [row for e in answer["environments"] for row in e["semantics"]]
        must(answer["agrees"] and {row["semantics"] for row in rows} == {"coarse", "fine"}, f"{name}: {answer['why']}")
