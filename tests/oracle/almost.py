"""`live almost surely`: is there an adversary with whom a violating run has a chance?

Steps of one state form a tree of decisions (`Step.path`), each made by the adversary or by a coin. A violating run has a chance
if a part of the graph can be reached in which the adversary can stay whatever the coins show (an end component), and in
which everything that is assumed happens. For `eventually`, `always eventually` and `leads to` the violation is, after some
moment, that something holds for ever; at that moment the adversary commits itself.

A node is a tuple: ('arrive', state, committed, met), ('state', ...) or ('choice', state, committed, met, prefix of a path).
"""

from .live import EVERYTHING, FALSE, TRUE, components, choices_of_some, faulty_sets, letter, negations
from .system import Unsupported
from .types import subsets


class Forever:
    """A part of the negated formula: from a moment on at which `when` holds, `what` holds for ever. `now`: from the beginning."""

    def __init__(self, when, what, now):
        self.when = when
        self.what = what
        self.now = now


def is_state_formula(f):
    return f[0] in ("true", "false", "atom") or f[0] in ("and", "or") and is_state_formula(f[1]) and is_state_formula(f[2])


def holds(f, values):
    kind = f[0]
    if kind == "atom":
        return values[f[1]] == f[2]
    if kind == "and":
        return holds(f[1], values) and holds(f[2], values)
    if kind == "or":
        return holds(f[1], values) or holds(f[2], values)
    return kind == "true"


def alternatives(f):
    """The negated formula as a list of lists of parts, one of which must be satisfied as a whole. A part is a formula about the first
    state, or a Forever."""
    if is_state_formula(f):
        return [[f]]
    kind = f[0]
    if kind == "or":
        return alternatives(f[1]) + alternatives(f[2])
    if kind == "and":
        return [a + b for a in alternatives(f[1]) for b in alternatives(f[2])]
    if kind == "release" and f[1] == FALSE and is_state_formula(f[2]):
        return [[Forever(TRUE, f[2], True)]]
    if kind == "until" and f[1] == TRUE:
        return [[Forever(*split(f[2]), False)]]
    raise Unsupported("almost surely, of a formula of this form")


def split(f):
    """`always b` or `a and always b`, as (a, b)."""
    if f[0] == "release" and f[1] == FALSE and is_state_formula(f[2]):
        return TRUE, f[2]
    if f[0] == "and" and is_state_formula(f[1]) and f[2][0] == "release" and f[2][1] == FALSE and is_state_formula(f[2][2]):
        return f[1], f[2][2]
    raise Unsupported("almost surely, of a formula of this form")


class Game:
    def __init__(self, system, graph, parts, values, faulty, once, infinitely, always, limits):
        self.system = system
        self.graph = graph
        self.parts = parts
        self.values = values
        self.faulty = faulty
        self.once = frozenset(once)
        self.infinitely = infinitely
        self.always = always
        self.limits = limits
        self.trees = {}
        self.coins = set()            # nodes that a coin decides
        self.edges = {}               # node -> list of (target, takes or None)

    def tree(self, k):
        """The decisions in a state: a dict from prefixes of paths to (who decides, list of (longer prefix or None, leaf))."""
        if k not in self.trees:
            tree = {(): ("adversary", {})}
            for number, (target, takes, path) in enumerate(self.graph.edges[k]):
                if path is None:
                    if takes != EVERYTHING:
                        raise Unsupported("almost surely: random choices are not told apart")
                    path = (("adversary", "stay"),)
                path = tuple(path) + (("adversary", ("end", number)),)
                for length in range(len(path)):
                    who, what = path[length]
                    prefix = path[:length]
                    old = tree.setdefault(prefix, (who, {}))
                    if old[0] != who:
                        if not old[1]:
                            tree[prefix] = old = (who, {})
                        else:
                            raise Unsupported("almost surely: a decision of both")
                    leaf = (target, takes) if length == len(path) - 1 else None
                    old[1][path[:length + 1]] = leaf
            self.trees[k] = tree
        return self.trees[k]

    def successors(self, node):
        kind, k, committed, met = node[:4]
        if kind == "arrive":
            values = self.values[k]
            ready = [i for i, part in enumerate(self.parts) if i not in committed and holds(part.when, values)]
            found = []
            for more in subsets(ready):
                now = committed | more
                if all(holds(self.parts[i].what, values) for i in now):
                    found.append((("state", k, now, met), None))
            return found
        prefix = node[4] if kind == "choice" else ()
        found = []
        for longer, leaf in self.tree(k)[prefix][1].items():
            if leaf is None:
                found.append((("choice", k, committed, met, longer), None))
            else:
                target, takes = leaf
                now = self.once if takes == EVERYTHING else met | (takes & self.once)
                found.append((("arrive", target, committed, now), takes))
        return found

    def is_coin(self, node):
        if node[0] == "arrive":
            return False
        prefix = node[4] if node[0] == "choice" else ()
        return self.tree(node[1])[prefix][0] == "coin"

    def explore(self, initial):
        start = frozenset(i for i, part in enumerate(self.parts) if part.now)
        left = []
        for k in initial:
            if all(holds(self.parts[i].what, self.values[k]) for i in start):
                left.append(("arrive", k, start, frozenset()))
        while left:
            node = left.pop()
            if node in self.edges:
                continue
            self.limits.look_at_clock()
            self.limits.count_states(len(self.edges) // 50)
            self.edges[node] = self.successors(node)
            if self.is_coin(node):
                self.coins.add(node)
            left += [target for target, _ in self.edges[node]]

    def is_won(self, initial):
        self.explore(initial)
        everything = frozenset(range(len(self.parts)))
        nodes = {node for node in self.edges if node[2] == everything and node[3] == self.once and self.node_fits(node)}
        return self.search(nodes)

    def node_fits(self, node):
        return self.faulty is None or self.system.faulty(self.graph.states[node[1]]) == self.faulty

    def allowed(self, takes):
        return takes is None or takes == EVERYTHING or all(key in takes for key in self.always)

    def inside(self, nodes, node):
        """Edges of a node that stay; None if a coin may lead out."""
        edges = [e for e in self.edges[node] if e[0] in nodes and self.allowed(e[1])]
        if node in self.coins and len(edges) < len(self.edges[node]):
            return None
        return edges

    def closed(self, nodes):
        """What is left if all nodes go that cannot be stayed at."""
        nodes = set(nodes)
        while True:
            bad = [node for node in nodes if not self.inside(nodes, node)]
            if not bad:
                return nodes
            nodes.difference_update(bad)

    def search(self, nodes):
        nodes = self.closed(nodes)
        for component in components(nodes, lambda node: [t for t, _ in self.inside(nodes, node)]):
            members = set(component)
            smaller = self.closed(members)
            if not smaller:
                continue
            if len(smaller) < len(members):
                if self.search(smaller):
                    return True
            elif self.fits(smaller):
                return True
        return False

    def fits(self, nodes):
        taken, stays = set(), False
        for node in nodes:
            for _, takes in self.inside(nodes, node):
                if takes == EVERYTHING:
                    stays = True
                elif takes is not None:
                    taken |= takes
        if not stays and not all(key in taken for key in self.infinitely):
            return False
        if self.system.fairness is None:
            return True
        possible = {node: self.system.can_take(self.graph.states[node[1]]) for node in nodes if node[0] == "state"}
        if self.system.fairness == "weak":
            return frozenset.intersection(*possible.values()) <= taken
        missing = frozenset().union(*possible.values()) - taken
        if not missing:
            return True
        smaller = {node for node in nodes if not self.system.can_take(self.graph.states[node[1]]) & missing}
        return self.search(smaller)


def check_almost(system, model, prop, graph, limits):
    """Whether the property is violated."""
    for faulty in faulty_sets(system, model, prop, graph):
        for formula, initial, atoms in negations(system, model, prop, graph, faulty):
            values = [letter(system, atoms, state, faulty) for state in graph.states]
            for parts in alternatives(formula):
                if alternative_is_won(system, graph, parts, values, initial, faulty, limits):
                    return True
    return False


def alternative_is_won(system, graph, parts, values, initial, faulty, limits):
    first = [f for f in parts if not isinstance(f, Forever)]
    later = [f for f in parts if isinstance(f, Forever)]
    starts = [k for k in initial if all(holds(f, values[k]) for f in first)]
    once, infinitely, always, some = [], [], [], []
    for assumption in system.assumptions:
        if assumption.some:
            some.append(assumption)
        else:
            {"infinitely often": infinitely, "eventually always": always, "eventually": once}[assumption.how].extend(assumption.keys)
    for choice in choices_of_some(some, once, infinitely, always):
        if Game(system, graph, later, values, faulty, *choice, limits).is_won(starts):
            return True
    return False
