"""Linear temporal logic on the runs of a finite graph. A formula is a tuple: ("p", k) and ("!p", k) for proposition k, ("true",), ("false",),
("&" | "|" | "U" | "V", a, b), ("G" | "F" | "!", a), ("->", a, b). Conjuncts that are fairness, G F p, F G p and their disjunction, are asked
of strongly connected parts; the rest becomes an automaton, a set of obligations at a time."""

TRUE, FALSE = ("true",), ("false",)
DUAL = {"&": "|", "|": "&", "U": "V", "V": "U"}


def normal(f, negated=False):
    """In negation normal form, of & | U V alone."""
    op = f[0]
    if op in ("p", "!p"):
        return "p" if (op == "p") != negated else "!p", f[1]
    if op in ("true", "false"):
        return TRUE if (op == "true") != negated else FALSE
    if op == "!":
        return normal(f[1], not negated)
    if op == "->":
        return normal(("|", ("!", f[1]), f[2]), negated)
    if op in ("F", "G"):
        return normal(("U", TRUE, f[1]) if op == "F" else ("V", FALSE, f[1]), negated)
    return DUAL[op] if negated else op, normal(f[1], negated), normal(f[2], negated)


def is_state(f):
    return f[0] in ("p", "!p", "true", "false") or (f[0] in ("&", "|") and is_state(f[1]) and is_state(f[2]))


def in_state(f, truth):
    if f[0] in ("p", "!p"):
        return truth[f[1]] == (f[0] == "p")
    if f[0] in ("&", "|"):
        return (in_state(f[1], truth) and in_state(f[2], truth)) if f[0] == "&" else (in_state(f[1], truth) or in_state(f[2], truth))
    return f == TRUE


def conjuncts(f):
    return conjuncts(f[1]) + conjuncts(f[2]) if f[0] == "&" else [f]


def again(f):
    """p, of G F p, which may be one of several that are enough."""
    if f[0] == "|":
        p, q = again(f[1]), again(f[2])
        return None if p is None or q is None else ("|", p, q)
    return f[2][2] if f[0] == "V" and f[1] == FALSE and f[2][0] == "U" and f[2][1] == TRUE and is_state(f[2][2]) else None


def finally_always(f):
    return f[2][2] if f[0] == "U" and f[1] == TRUE and f[2][0] == "V" and f[2][1] == FALSE and is_state(f[2][2]) else None


def fairness(f):
    """(asked, met): if asked holds again and again, so does met. None: it is no fairness."""
    for a, b in ((f, FALSE), (FALSE, f), *(((f[1], f[2]), (f[2], f[1])) if f[0] == "|" else ())):
        p = FALSE if a == FALSE else again(a)
        q = FALSE if b == FALSE else finally_always(b)
        if p is not None and q is not None:
            return normal(q, True), p
    return None


def expand(obligations, truth):
    """Ways to meet them all in a state: (what is left for the next one, which untils are put off)."""
    out, stack = set(), [(list(obligations), frozenset(), frozenset(), frozenset())]
    while stack:
        todo, done, later, put_off = stack.pop()
        while todo:
            f = todo.pop()
            if f in done:
                continue
            done |= {f}
            if is_state(f):
                if not in_state(f, truth):
                    break
            elif f[0] == "&":
                todo += [f[1], f[2]]
            elif f[0] == "|":
                stack.append((todo + [f[2]], done, later, put_off))
                todo.append(f[1])
            elif f[0] == "U":
                stack.append((todo + [f[1]], done, later | {f}, put_off | {f}))
                todo.append(f[2])
            else:
                stack.append((todo + [f[2]], done, later | {f}, put_off))
                todo += [f[1], f[2]]
        else:
            out.add((later, put_off))
    return out


def components(nodes, edges):
    """Strongly connected, those with an edge inside; Tarjan's, without recursion."""
    index, low, on, stack, parts = {}, {}, set(), [], []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            v, rest = work[-1]
            for w in rest:
                if w not in nodes:
                    continue
                if w not in index:
                    index[w] = low[w] = len(index)
                    stack.append(w)
                    on.add(w)
                    work.append((w, iter(edges[w])))
                    break
                if w in on:
                    low[v] = min(low[v], index[w])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
                if low[v] == index[v]:
                    part = set()
                    while not part or w != v:
                        w = stack.pop()
                        on.discard(w)
                        part.add(w)
                    if len(part) > 1 or v in edges[v]:
                        parts.append(part)
    return parts


def has_run(first, successors, truth, formula, shortcuts=True):
    """Does a run from a state of `first` satisfy it? successors(state), truth(state): values of the propositions."""
    todo, fair = [], []
    for f in conjuncts(normal(formula)):
        pair = fairness(f) if shortcuts else None
        (todo if pair is None else fair).append(f if pair is None else pair)
    ways, truths = {}, {}

    def enter(state, obligations):
        if state not in truths:
            truths[state] = tuple(truth(state))
        key = obligations, truths[state]
        if key not in ways:
            ways[key] = expand(*key)
        return [(state, *way) for way in ways[key]]
    edges, waiting = {}, [n for state in first for n in enter(state, frozenset(todo))]
    while waiting:
        node = waiting.pop()
        if node not in edges:
            edges[node] = [n for after in successors(node[0]) for n in enter(after, node[1])]
            waiting += edges[node]
    untils = {f for _, _, put_off in edges for f in put_off}
    asked = {(f, t): in_state(f, t) for f in {f for pair in fair for f in pair} for t in set(truths.values())}
    parts = components(edges.keys(), edges)
    while parts:
        part = parts.pop()
        if any(all(u in put_off for _, _, put_off in part) for u in untils):
            continue
        here = {truths[state] for state, _, _ in part}
        bad = [a for a, met in fair if not any(asked[met, t] for t in here) and any(asked[a, t] for t in here)]
        if not bad:
            return True
        left = {n for n in part if not any(asked[a, truths[n[0]]] for a in bad)}
        parts += components(left, edges)
    return False


def on_lasso(f, word, loop):
    """By the definition, on word[0] ... word[-1] word[loop] ...: a list, position by position. For tests of the above."""
    n = len(word)
    after = [i + 1 if i + 1 < n else loop for i in range(n)]
    if f[0] in ("p", "!p"):
        return [word[i][f[1]] == (f[0] == "p") for i in range(n)]
    if f[0] in ("true", "false"):
        return [f[0] == "true"] * n
    if f[0] == "!":
        return [not x for x in on_lasso(f[1], word, loop)]
    if f[0] in ("F", "G"):
        return on_lasso(("U", TRUE, f[1]) if f[0] == "F" else ("V", FALSE, f[1]), word, loop)
    a, b = on_lasso(f[1], word, loop), on_lasso(f[2], word, loop)
    if f[0] in ("&", "|", "->"):
        return [x and y if f[0] == "&" else x or y if f[0] == "|" else y or not x for x, y in zip(a, b)]
    least = f[0] == "U"
    out = [not least] * n
    for _ in range(n + 1):
        out = [b[i] or (a[i] and out[after[i]]) if least else b[i] and (a[i] or out[after[i]]) for i in range(n)]
    return out
