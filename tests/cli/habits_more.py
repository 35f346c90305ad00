"""Command lines of people who know another tool: each is told what to type, and none is told something wrong."""
import re

from harness import ROOT, must, test

M = "models/one_third_rule.rondo"
# What is typed, and what the help must say.
LINES = f"""
{M} | rondo check {M}
{M} -D n=3 | rondo check {M} -D n=3
verify {M} -D n=3 | write: rondo check {M} -D n=3
tlc {M} | write: rondo check {M}
spin {M} | write: rondo check {M}
mc {M} | write: rondo check {M}
model-check {M} | write: rondo check {M}
watch {M} | write: rondo check --watch {M}
simulate {M} | write: rondo run {M}
chekc {M} | did you mean 'check'?
tset {M} | did you mean 'test'?
-a {M} | rondo check
check {M} n=3 | -D n=3
check {M} n=3 k=2 | -D n=3 -D k=2
check {M} -n 3 | -D n=3
check {M} --n=3 | -D n=3
check {M} --n 3 | -D n=3
check {M} -D n 3 | -D n=4
check {M} -D n=three | -D n=4
check {M} -D N=3 | its parameters are: n, k, f
check {M} --param n=3 | -D NAME=VALUE
check {M} --const n=3 | -D NAME=VALUE
check {M} -config x.cfg | -D NAME=VALUE
check {M} -workers 4 | '--threads N'
check {M} --workers 4 | '--threads N'
check {M} -D n=3 --invariant agreement | '--property NAME'
check {M} -D n=3 --inv agreement | '--property NAME'
check {M} -D n=3 --prop agreement | '--property NAME'
check {M} -D n=3 --ltl agreement | live NAME: FORMULA
check {M} -D n=3 --property agreemnt | did you mean 'agreement'?
check {M} -D n=3 --env fre | did you mean 'free'?
check {M} -D n=3 --fair | '--env NAME'
check {M} -D n=3 -deadlock | no errors
check {M} -D n=3 --simulate | 'rondo run FILE'
check {M} -D n=3 --seed 1 | it belongs to 'run'
check {M} -D n=3 --jobs 4 | it belongs to 'test'
check {M} -D n=3 --timeout 5 | '--max-time TIME'
check {M} -D n=3 --memory 4G | '--max-memory SIZE'
check {M} -D n=3 --max-depth 4 | '--max-rounds N'
check {M} -D n=3 --bmc | '--engine bmc'
check {M} -D n=3 --ic3 | '--engine spacer'
check {M} -D n=3 --no-por | '--reduce none'
check {M} -D n=3 --symmetry | '--reduce LIST'
check {M} -D n=3 -o out.json | '--trace-out'
check {M} -D n=3 --output json | '--json'
check {M} -D n=3 --trace t.json | '--trace-out FILE'
check {M} -D n=3 --quiet | '--no-trace'
check {M} -D n=3 --max-sates 5 | did you mean '--max-states'?
check {M} -D n=3 --recover x | 'rondo resume DIR'
check -D n=3 | name a model
check models | name a file
check models/paxos | did you mean 'models/paxos.rondo'?
export {M} -D n=2 --to spin | write: --to promela
export {M} -D n=2 --to tlaplus | write: --to tla
export {M} -D n=2 -f dot | '--to FORMAT'
test | name models or folders
help chekc | did you mean 'check'?
check {M} --version | 'rondo --version'
-v | rondo --version shows the version
check {M} n 3 | -D n=3
check {M} -D n=3 --property agreement,validity | name one at a time
check models/one_thrid_rule.rondo | did you mean 'models/one_third_rule.rondo'?
replay {M} | rondo check --trace-out FILE
explain 0201 | E0201
explain X1 | lists them all
run {M} -D n=3..5 | rondo check makes tables
export {M} -D n=2 | --to promela
threshold models/bbp.rondo | rondo threshold FILE PROPERTY
resume | '--checkpoint'
check {M} -D n=3 --semantics m | it has 'coarse' and 'fine'
"""


@test
def habits_on_the_command_line(rondo):
    faults = []
    lines = [line.rsplit(" | ", 1) for line in LINES.strip().splitlines()]
    must(len(lines) >= 50, len(lines))
    for line, wanted in lines:
        done = rondo(*line.split(), status=3)
        helps = [text for text in done.stderr.splitlines() if text.startswith("  help: ")]
        if len(helps) != 1 or wanted not in helps[0]:
            faults.append(f"rondo {line}: {done.stderr.strip()!r} does not say \"{wanted}\"")
    must(not faults, "\n".join(faults))


@test
def hints_name_options_that_exist(rondo):
    """Every --option in the table of hints is one of ours."""
    known = set(re.findall(r"^OPTION\(\w+, [^,]*, \"([\w-]+)\"", (ROOT / "src/driver/options.def").read_text(encoding="utf-8"), re.M)) | {"version"}
    rows = re.findall(r"^FOREIGN\(\"([\w-]+)\", \"(.*)\"\)", (ROOT / "src/driver/foreign_options.def").read_text(encoding="utf-8"), re.M)
    must(len(rows) > 40 and len({word for word, _ in rows}) == len(rows), "rows")
    for word, text in rows:
        must(set(re.findall(r"--([\w-]+)", text)) <= known, f"{word}: {text}")
