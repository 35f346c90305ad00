"""Large and deeply nested files: the time that the lexer, the parser, the checker and the formatter take is proportional to the size of the
file. Nothing here looks at a clock; the time limit of the harness ends what is not proportional."""
from harness import must, test

LINES = 200000
MODEL = ["algorithm Large", "process P[2] {", "  var x: 0..1 = 0", "  phase {", "    round {", "      send x to all",
         "      update { x := 1 }", "    }", "  }", "}"]
PROPERTY = "safety small: forall p in P: p.x <= 1"


def text(lines):
    return "\n".join(lines) + "\n"


def formatted(rondo, path):
    before = path.read_text(encoding="utf-8")
    rondo("fmt", path, status=0)
    must(path.read_text(encoding="utf-8") == before, f"{path.name}: was formatted already")


@test
def many_properties(rondo):
    path = rondo.file("properties.rondo", text(MODEL + [f"safety p{i}: forall p in P: p.x <= 1" for i in range(LINES)]))
    rondo("lint", path, status=0)
    formatted(rondo, path)


@test
def many_unknown_names(rondo):
    path = rondo.file("unknown.rondo", text(MODEL + [f"safety p{i}: forall p in P: xx{i} <= 1" for i in range(LINES)]))
    said = rondo("check", path, status=3, says="unknown name 'xx0'").stderr
    must(f"and {LINES - 50} more errors" in said, said[-300:])
    path = rondo.file("same.rondo", text(MODEL + [PROPERTY] * LINES))
    said = rondo("check", path, status=3, says="property 'small' is already declared").stderr
    must(f"and {LINES - 51} more errors" in said, said[-300:])


@test
def many_unknown_names_near_many_others(rondo):
    variables = [f"  var value{i}: 0..1 = 0" for i in range(LINES // 2)]
    properties = [f"safety p{i}: forall p in P: p.valeu{i} <= 1" for i in range(LINES // 2)]
    path = rondo.file("near.rondo", text(MODEL[:3] + variables + MODEL[3:] + properties))
    rondo("check", path, status=3, says="did you mean 'value0' (declared at line 4)?")


@test
def many_comments(rondo):
    comments = [f"  // comment {i}" for i in range(LINES)]
    path = rondo.file("comments.rondo", text(MODEL[:3] + comments + MODEL[3:] + [PROPERTY]))
    rondo("check", path, status=0)
    formatted(rondo, path)


@test
def many_variables(rondo):
    path = rondo.file("variables.rondo", text(MODEL[:3] + [f"  var v{i}: 0..1 = 0" for i in range(LINES)] + MODEL[3:] + [PROPERTY]))
    rondo("lint", path, status=0, says="warning[W0101]: variable 'v0' is never read")
    formatted(rondo, path)


@test
def many_defs_types_and_parameters(rondo):
    each = LINES // 4
    chain = ["def d0: int = 0"] + [f"def d{i}: int = d{i - 1}" for i in range(1, each)]
    path = rondo.file("names.rondo", text(
        MODEL[:1] + [f"param a{i} = 1" for i in range(each)] + [f"type T{i} = 0..1" for i in range(each)] +
        ["type Colour = {" + ", ".join(f"label{i}" for i in range(each)) + "}"] + MODEL[1:] + chain + [PROPERTY]))
    rondo("lint", path, status=0)


@test
def many_syntax_errors(rondo):
    for name, line in (("words", "safety p q: forall"), ("braces", "process Q[1] {"), ("bytes", "\x01"), ("foreign", "/* never closed")):
        rondo("check", rondo.file(f"{name}.rondo", text(MODEL + [line] * LINES)), status=3, says="error[E")


@test
def many_declarations_of_a_counter_system(rondo):
    start = ["counters Large", "param n", "counter a, b", "start a == n and b == 0", "move go: 1 of a -> b"]
    path = rondo.file("unknown_counters.rondo", text(start + [f"unsafe u{i}: xx{i} > n" for i in range(LINES)]))
    said = rondo("prove", path, status=3, says="unknown name 'xx0'").stderr
    must("more errors" in said, said[-300:])


@test
def deep_nesting(rondo):
    for name, formula in (("parentheses", "(" * LINES + "true" + ")" * LINES), ("negations", "not " * LINES + "true"),
                          ("sums", " + ".join(["1"] * LINES) + " > 1")):
        path = rondo.file(f"{name}.rondo", text(MODEL + [f"safety deep: {formula}"]))
        for command in ("check", "fmt"):
            rondo(command, path, status=3, says="error[E")
    blocks = "      update { " + "if x == 1 { " * LINES + "x := 1" + " }" * LINES + " }"
    rondo("check", rondo.file("blocks.rondo", text(MODEL[:6] + [blocks] + MODEL[7:] + [PROPERTY])), status=3, says="nested too deep")


@test
def many_handlers_steps_and_clauses(rondo):
    """Read and checked up to the mistake in the last line."""
    count = LINES // 5
    messages = [f"message m{i}" for i in range(count)]
    handlers = ["process P[2] {", "  var x: 0..1 = 0", "  start {", *(f"    send m{i} to all" for i in range(count)), "  }",
                *(f"  on m{i} {{ x := 1 }}" for i in range(count)), "}"]
    steps = ["process P[2] {", "  var x: 0..1 = 0", *(f"  step s{i} {{ x := 1 }}" for i in range(count)), "}"]
    clauses = ["environment e {", *["  every round: forall p in P: p in HO[p]"] * (count // 4), "}"]
    for name, lines in (("handlers", ["algorithm Large", *messages, *handlers]), ("steps", ["algorithm Large", *steps]), ("clauses", MODEL + clauses)):
        rondo("check", rondo.file(f"{name}.rondo", text(lines + ["safety s: nosuch"])), status=3, says="unknown name 'nosuch'")
