"""Live properties, by their definition: is there a run that violates the formula and satisfies what is assumed?

1. Build the graph of all reachable states.
2. The negated formula becomes obligations: a node of the product is (state, what the run must still satisfy from here).
   An edge may postpone an `until`; a run on which some `until` is postponed for ever does not count.
3. Look for a strongly connected part of the product, reachable from an initial state, in which everything that is
   assumed happens: then there is such a run.

Formulas are nested tuples: ('atom', k, positive), ('and', a, b), ('or', a, b), ('until', a, b), ('release', a, b),
('true',), ('false',).
"""

from typing import NamedTuple

from .errors import ModelError
from .expr import Generators, Scope, compile_bool
from .syntax import walk
from .system import Unsupported

TEMPORAL = {"always", "eventually", "until", "leadsto"}
TRUE, FALSE = ("true",), ("false",)
EVERYTHING = "everything"      # what a run that stays in a final state takes


class Graph:
    """All reachable states. `edges[k]` is a list of (target, takes, path); final states have an edge to themselves."""

    def __init__(self):
        self.states = []
        self.edges = []
        self.initial = []
        self.error = None


def build_graph(system, limits, with_paths=False):
    graph = Graph()
    numbers = {}

    def number(state):
        if state not in numbers:
            numbers[state] = len(graph.states)
            graph.states.append(state)
            limits.count_states(len(graph.states))
        return numbers[state]

    for step in system.initial():
        if step.error is not None:
            graph.error = step.error
        else:
            k = number(step.target)
            if k not in graph.initial:
                graph.initial.append(k)
    while len(graph.edges) < len(graph.states):
        state = graph.states[len(graph.edges)]
        found = {}
        limits.look_at_clock()
        for step in system.steps(state):
            limits.count_step()
            if step.error is not None:
                graph.error = step.error
            else:
                found[number(step.target), step.takes, step.path if with_paths else None] = True
        edges = list(found)
        if system.is_final(state):
            edges.append((numbers[state], EVERYTHING, None))
        graph.edges.append(edges)
    return graph


# Formulas.


class Atoms:
    """The parts of a formula without temporal operators. An atom is compiled code and values of bound names."""

    def __init__(self, model):
        self.model = model
        self.codes = {}
        self.list = []
        self.positions = {}

    def atom(self, node, scope, env):
        values = tuple(sorted(((k, v) for k, v in env.items() if isinstance(k, str)), key=lambda item: item[0]))
        key = (id(node), values)
        if key not in self.positions:
            if id(node) not in self.codes:
                self.codes[id(node)] = (compile_bool(node, scope), node)
            self.positions[key] = len(self.list)
            self.list.append((self.codes[id(node)][0], dict(values)))
        return self.positions[key]

    def value(self, k, world):
        code, env = self.list[k]
        return code.run(world, dict(env))


def is_temporal(model, node):
    from .explore import text_of
    return any(part.kind in TEMPORAL for part in text_of(model, node))


class Reader:
    """Reads a formula as it is for runs in which `world` says what quantifiers range over."""

    def __init__(self, model, atoms, world):
        self.model = model
        self.atoms = atoms
        self.world = world

    def read(self, node, positive, scope, env):
        if not is_temporal(self.model, node):
            return ("atom", self.atoms.atom(node, scope, env), positive)
        kind = node.kind
        if kind == "not":
            return self.read(node.arg, not positive, scope, env)
        if kind in ("and", "or"):
            return self.both(kind, positive, self.read(node.left, positive, scope, env), self.read(node.right, positive, scope, env))
        if kind == "implies":
            return self.both("or", positive, self.read(node.left, not positive, scope, env), self.read(node.right, positive, scope, env))
        if kind == "until":
            a, b = self.read(node.left, positive, scope, env), self.read(node.right, positive, scope, env)
            return ("until", a, b) if positive else ("release", a, b)
        if kind in ("always", "eventually"):
            a = self.read(node.arg, positive, scope, env)
            return ("until", TRUE, a) if (kind == "eventually") == positive else ("release", FALSE, a)
        if kind == "leadsto":
            return self.leads_to(node, positive, scope, env)
        if kind == "quant":
            return self.quantifier(node, positive, scope, env)
        if kind == "ifelse":
            raise Unsupported("'if' with temporal operators below")
        if kind in ("name", "call"):
            raise Unsupported("a def with temporal operators")
        raise Unsupported("'%s' with temporal operators below" % kind)

    def both(self, kind, positive, a, b):
        return (kind if positive else {"and": "or", "or": "and"}[kind], a, b)

    def leads_to(self, node, positive, scope, env):
        """always (a => eventually b); negated: eventually (a and always not b)."""
        if positive:
            a, b = self.read(node.left, False, scope, env), self.read(node.right, True, scope, env)
            return ("release", FALSE, ("or", a, ("until", TRUE, b)))
        a, b = self.read(node.left, True, scope, env), self.read(node.right, False, scope, env)
        return ("until", TRUE, ("and", a, ("release", FALSE, b)))

    def quantifier(self, node, positive, scope, env):
        generators = Generators(node.generators, scope)
        parts = []
        inner = dict(env)
        for _ in generators.each(self.world, inner):
            parts.append(self.read(node.body, positive, generators.scope, dict(inner)))
        conjunction = (node.which == "forall") == positive
        result = TRUE if conjunction else FALSE
        for part in reversed(parts):
            result = ("and" if conjunction else "or", part, result)
        return result


def untils(formula):
    found = set()
    if formula[0] == "until":
        found.add(formula)
    if formula[0] in ("and", "or", "until", "release"):
        found |= untils(formula[1]) | untils(formula[2])
    return found


class Tableau:
    """What obligations mean in a state, and what they leave for the next one."""

    def __init__(self, formula):
        self.formula = formula
        self.untils = untils(formula)
        self.memo = {}

    def ways(self, obligations, letter):
        """All ways to meet the obligations in a state where the atoms are as `letter`, a tuple of bools, has them: pairs of
        (obligations of the next state, untils that are postponed)."""
        key = (obligations, letter)
        if key not in self.memo:
            self.memo[key] = frozenset(self.expand(sorted(obligations, key=repr), letter))
        return self.memo[key]

    def expand(self, todo, letter):
        if not todo:
            return {(frozenset(), frozenset())}
        first, rest = todo[0], todo[1:]
        kind = first[0]
        if kind == "true":
            return self.expand(rest, letter)
        if kind == "false":
            return set()
        if kind == "atom":
            return self.expand(rest, letter) if letter[first[1]] == first[2] else set()
        if kind == "and":
            return self.expand([first[1], first[2]] + rest, letter)
        if kind == "or":
            return self.expand([first[1]] + rest, letter) | self.expand([first[2]] + rest, letter)
        _, a, b = first
        if kind == "until":
            later = {(next_ | {first}, postponed | {first}) for next_, postponed in self.expand([a] + rest, letter)}
            return self.expand([b] + rest, letter) | later
        later = {(next_ | {first}, postponed) for next_, postponed in self.expand([b] + rest, letter)}
        return self.expand([a, b] + rest, letter) | later


# The product.


class Edge(NamedTuple):
    target: int
    takes: object
    postponed: frozenset


class Product:
    """Nodes are (state, obligations, `eventually` assumptions met so far)."""

    def __init__(self):
        self.nodes = []
        self.numbers = {}
        self.edges = []

    def number(self, node):
        if node not in self.numbers:
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self.numbers[node]


def build_product(graph, initial, tableau, letters, once_keys, limits):
    product = Product()
    for k in initial:
        product.number((k, frozenset([tableau.formula]), frozenset()))
    while len(product.edges) < len(product.nodes):
        k, obligations, met = product.nodes[len(product.edges)]
        limits.look_at_clock()
        edges = set()
        for next_, postponed in tableau.ways(obligations, letters[k]):
            for target, takes, _ in graph.edges[k]:
                now = frozenset(once_keys) if takes == EVERYTHING else met | (takes & once_keys)
                edges.add(Edge(product.number((target, next_, now)), takes, postponed))
        if len(product.nodes) > 20 * limits.max_states:
            limits.count_states(len(product.nodes))
        product.edges.append(list(edges))
    return product


def components(nodes, edges):
    """Strongly connected components of a part of a graph: lists of nodes. `edges(k)` gives targets within the part."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(edges(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(edges(target))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    found.append(component)
    return found


class Question:
    """What a strongly connected part must have. `faulty` is the set that must be faulty in all of it, or None."""

    def __init__(self, system, graph, product, tableau, faulty, infinitely, always):
        self.system = system
        self.graph = graph
        self.product = product
        self.tableau = tableau
        self.faulty = faulty
        self.infinitely = infinitely          # keys that must be taken in it
        self.always = always                  # keys that all of its edges must have
        self.enabled = {}

    def answer(self, nodes, forbidden=frozenset()):
        """Whether there is a part of these nodes in which everything that is asked for happens. `forbidden`: strongly fair
        keys that must not be possible."""
        allowed = {k for k in nodes if self.node_fits(k, forbidden)}

        def edges_of(k):
            return [e for e in self.product.edges[k] if e.target in allowed and self.edge_fits(e)]

        for component in components(allowed, lambda k: [e.target for e in edges_of(k)]):
            members = set(component)
            inside = {k: [e for e in edges_of(k) if e.target in members] for k in component}
            if any(inside.values()) and self.fits(component, inside, forbidden):
                return True
        return False

    def node_fits(self, k, forbidden):
        state = self.product.nodes[k][0]
        if self.faulty is not None and self.system.faulty(self.graph.states[state]) != self.faulty:
            return False
        return not (forbidden and self.can_take(k) & forbidden)

    def edge_fits(self, edge):
        return edge.takes == EVERYTHING or all(key in edge.takes for key in self.always)

    def can_take(self, k):
        state = self.product.nodes[k][0]
        if state not in self.enabled:
            self.enabled[state] = self.system.can_take(self.graph.states[state])
        return self.enabled[state]

    def fits(self, component, inside, forbidden):
        edges = [e for found in inside.values() for e in found]
        if any(all(u in e.postponed for e in edges) for u in self.tableau.untils):
            return False
        if any(e.takes == EVERYTHING for e in edges):
            taken = None
        else:
            taken = frozenset().union(*[e.takes for e in edges])
            if not all(key in taken for key in self.infinitely):
                return False
        if self.system.fairness is None:
            return True
        return self.is_fair(component, taken or frozenset(), forbidden)

    def is_fair(self, component, taken, forbidden):
        possible = [self.can_take(k) for k in component]
        if self.system.fairness == "weak":
            always = frozenset.intersection(*possible)
            return always <= taken
        missing = frozenset().union(*possible) - taken
        if not missing:
            return True
        return self.answer(component, forbidden | missing)


def check_live(system, model, prop, limits):
    """(verdict, None)."""
    coins = prop.almost and any(node.kind == "call" and node.name == "random" for node in walk(model.file))
    system.with_paths = coins
    graph = build_graph(system, limits, coins)
    if graph.error is not None:
        return ("inconclusive", None)
    try:
        if coins:
            from .almost import check_almost
            violated = check_almost(system, model, prop, graph, limits)
        else:
            violated = is_violated(system, model, prop, graph, limits)
    except ModelError:
        return ("inconclusive", None)
    return ("violated" if violated else "holds", None)


def reads_faults(model, node):
    from .explore import text_of
    return any(part.kind == "name" and part.name in ("correct", "faulty") for part in text_of(model, node))


def faulty_sets(system, model, prop, graph):
    """All sets of processes that may be faulty in the end; [None] if nobody asks."""
    if not reads_faults(model, prop.expr):
        return [None]
    return list(dict.fromkeys(system.faulty(state) for state in graph.states))


def is_violated(system, model, prop, graph, limits):
    for faulty in faulty_sets(system, model, prop, graph):
        for formula, initial, atoms in negations(system, model, prop, graph, faulty):
            letters = [letter(system, atoms, state, faulty) for state in graph.states]
            if has_run(system, graph, formula, initial, letters, faulty, limits):
                return True
    return False


def negations(system, model, prop, graph, faulty):
    """The negated formula, for groups of initial states for which quantifiers range over the same."""
    atoms = Atoms(model)
    groups = {}
    for k in graph.initial:
        world = system.world(graph.states[k], None, faulty)
        formula = Reader(model, atoms, world).read(prop.expr, False, Scope(model), {})
        groups.setdefault(formula, []).append(k)
    return [(formula, initial, atoms) for formula, initial in groups.items()]


def letter(system, atoms, state, faulty):
    world = system.world(state, None, faulty)
    return tuple(atoms.value(k, world) for k in range(len(atoms.list)))


def has_run(system, graph, formula, initial, letters, faulty, limits):
    """Whether a run satisfies the formula and all assumptions."""
    tableau = Tableau(formula)
    once, infinitely, always, some = [], [], [], []
    for assumption in system.assumptions:
        if assumption.some:
            some.append(assumption)
        elif assumption.how == "infinitely often":
            infinitely += assumption.keys
        elif assumption.how == "eventually always":
            always += assumption.keys
        else:
            once += assumption.keys
    return any(has_run_with(system, graph, tableau, initial, letters, faulty, limits, *choice)
               for choice in choices_of_some(some, once, infinitely, always))


def choices_of_some(some, once, infinitely, always):
    """`for some`: one key of each such assumption is chosen."""
    if not some:
        return [(once, infinitely, always)]
    first, rest = some[0], some[1:]
    found = []
    for key in first.keys:
        if first.how == "infinitely often":
            found += choices_of_some(rest, once, infinitely + [key], always)
        elif first.how == "eventually always":
            found += choices_of_some(rest, once, infinitely, always + [key])
        else:
            found += choices_of_some(rest, once + [key], infinitely, always)
    return found


def has_run_with(system, graph, tableau, initial, letters, faulty, limits, once, infinitely, always):
    once = frozenset(once)
    product = build_product(graph, initial, tableau, letters, once, limits)
    question = Question(system, graph, product, tableau, faulty, infinitely, always)
    ready = [k for k, (_, _, met) in enumerate(product.nodes) if met == once]
    return question.answer(ready)
