"""A model: a file together with values for its parameters.

`load(text, defines)` returns a Model. Everything that is declared is in its tables:

    params        name -> int or bool
    labels        name -> (Label, type)
    roles         name -> RoleInfo
    procs         all processes, in order
    file_stores   list of Store: file-level input, shared and ghost variables, in the order of the text
    messages      kind -> Record type
    environments  name -> list of clauses (Nodes), with those of `extends` in front; never empty
    properties    list of Property
    built_in      likewise: the properties that are not in the text
    takes_steps   whether it is a model of steps
"""

import functools
from typing import NamedTuple

from . import types as T
from .choices import Abandoned, explore
from .errors import Rejected, SyntaxProblem, TypeProblem
from .expr import Scope, compile_as, compile_bool, compile_expr, convert
from .syntax import parse, parse_expr, walk
from .types import Proc
from .world import World


class Store(NamedTuple):
    """A variable of a role or of the file. `kind` is input, var, stable, shared, ghost or oracle."""

    name: str
    kind: str
    type: tuple
    node: object

    @property
    def each(self):
        """Of an oracle: 'phase' or 'round'."""
        return self.node.each or "phase"


class RoleInfo:
    def __init__(self, name, size, node):
        self.name = name
        self.size = size
        self.node = node
        self.members = [Proc(name, k) for k in range(1, size + 1)]
        self.type = T.Ident(name, tuple(self.members))
        self.stores = []      # without oracles
        self.oracles = []
        self.types = {}       # name -> type, oracles included
        self.defs = {d.name: d for d in node.defs}

    def member(self, i):
        """P(i), counted round the circle."""
        return self.members[(i - 1) % self.size]


def joined_or_none(a, b):
    """The type of oracles of one name in several roles; None if it is not one type."""
    try:
        return None if a is None else T.join(a, b)
    except TypeProblem:
        return None


class OracleInfo(NamedTuple):
    type: tuple
    roles: tuple

    @property
    def role(self):
        return self.roles[0]


class Definition:
    """A def. `run(world, env)` takes the parameters from env."""

    def __init__(self, params, type_):
        self.params = params
        self.type = type_
        self.run = None


class Property(NamedTuple):
    name: str
    what: str          # safety, cover or live
    almost: bool       # live almost surely
    step: bool         # safety of steps
    environments: tuple
    on_request: bool
    expr: object       # Node
    line: int


def load(text, defines=None):
    """`defines` are the values of `-D`: a dict from names to int or bool."""
    return Model(parse(text), defines or {})


class Model:
    def __init__(self, file, defines):
        self.file = file
        self.name = file.name
        self.params = {}
        self.type_nodes = {d.name: d for d in self.decls("typedef")}
        self.defs = {d.name: d for d in self.decls("def")}
        self.roles = {}
        self.procs = []
        self.labels = {}
        self.file_types = {}
        self.file_stores = []
        self.messages = {}
        self.sent_to = set()      # (role, kind, role of the receivers or None): what the actions compiled so far send
        self.oracles = {}
        self._types = {}
        self._definitions = {}
        self.read_params(defines)
        self.read_roles()
        self.read_labels()
        self.read_stores()
        self.takes_steps = self.is_of_steps()
        self.read_environments()
        self.read_properties()

    def decls(self, kind):
        return [d for d in self.file.decls if d.kind == kind]

    # Parameters.

    def read_params(self, defines):
        left = dict(defines)
        conditions = []
        for node in self.decls("param"):
            for name in node.names:
                self.params[name] = self.param_value(name, node, left)
            if node.type is not None and node.type.kind == "t_range":
                conditions.append((node, None))
            if node.where:
                conditions.append((node, node.where))
        if left:
            raise Rejected("no parameter '%s'" % next(iter(left)))
        conditions += [(node, node.expr) for node in self.decls("resilience")]
        for node, cond in conditions:
            if cond is None:
                t = self.type_of(node.type)
                if not all(T.contains(t, self.params[name]) for name in node.names):
                    raise Rejected("a parameter is outside %s" % T.show_type(t))
            elif not self.constant(cond):
                raise Rejected("parameter condition not met, line %d" % cond.line)

    def param_value(self, name, node, left):
        if name in left:
            value = left.pop(name)
            is_bool = node.type is not None and node.type.kind == "t_bool"
            if node.type is None and node.default is not None:
                is_bool = isinstance(self.constant(node.default), bool)
            return bool(value) if is_bool else value
        if node.default is None:
            raise Rejected("parameter '%s' has no value" % name)
        return self.constant(node.default)

    def constant(self, node):
        """The value of a constant expression."""
        return compile_expr(node, Scope(self)).run(World(self), {})

    # Types.

    def named_type(self, name, line):
        """The type of that name, or None. Roles are not among them."""
        if name == "bool":
            return T.BOOL
        if name not in self.type_nodes:
            return None
        if name not in self._types:
            type_ = self.type_of(self.type_nodes[name].type)
            if type_.kind in ("num", "enum") and type_.name is None:
                type_ = type_._replace(name=name)
            self._types[name] = type_
        return self._types[name]

    def type_of(self, node):
        kind = node.kind
        if kind == "t_bool":
            return T.BOOL
        if kind == "t_int":
            return T.INT
        if kind == "t_round":
            return T.ROUND
        if kind == "t_option":
            return T.Option(self.type_of(node.elem))
        if kind == "t_set":
            return T.Set(self.type_of(node.elem))
        if kind == "t_seq":
            return T.Seq(self.type_of(node.elem), self.constant(node.most), node.distinct)
        if kind == "t_array":
            return T.Array(self.type_of(node.index), self.type_of(node.elem))
        if kind == "t_record":
            return T.Record(tuple((f.name, self.type_of(f.type)) for f in node.fields))
        if kind == "t_enum":
            return self.enum_of(node)
        if kind == "t_range":
            low, high = self.constant(node.low), self.constant(node.high)
            if low > high:
                raise TypeProblem("the range %d..%d is empty" % (low, high), node.line)
            return T.Num(low, high)
        if kind == "t_name":
            if node.name in self.roles:
                return self.roles[node.name].type
            named = self.named_type(node.name, node.line)
            if named is None:
                raise SyntaxProblem("unknown type '%s'" % node.name, node.line)
            return named
        raise TypeProblem("type %s" % kind, node.line)

    def enum_of(self, node):
        for name, decl in self.type_nodes.items():
            if decl.type is node:
                return T.Enum(tuple(T.Label(k, label) for k, label in enumerate(node.labels)), name)
        return T.Enum(tuple(T.Label(k, label) for k, label in enumerate(node.labels)))

    def read_labels(self):
        for node in walk(self.file):
            if node.kind == "t_enum":
                type_ = self.enum_of(node)
                for label in type_.labels:
                    self.labels[label.name] = (label, type_)

    # Roles and stores.

    def read_roles(self):
        for node in self.decls("process"):
            size = self.constant(node.size)
            if size < 1:
                raise Rejected("role %s has %d processes" % (node.name, size))
            self.roles[node.name] = RoleInfo(node.name, size, node)
        self.procs = [p for role in self.roles.values() for p in role.members]
        if len(self.roles) == 1:
            self.any_process = next(iter(self.roles.values())).type
        else:
            self.any_process = T.Ident(None, tuple(self.procs))

    def read_stores(self):
        for node in self.decls("messages"):
            for signature in node.signatures:
                self.messages[signature.name] = T.Record(tuple((f.name, self.type_of(f.type)) for f in signature.fields))
        for node in self.decls("store"):
            for store in self.stores_of(node):
                self.file_stores.append(store)
                self.file_types[store.name] = store.type
        for role in self.roles.values():
            for node in role.node.stores:
                for store in self.stores_of(node):
                    role.types[store.name] = store.type
                    (role.oracles if store.kind == "oracle" else role.stores).append(store)
        for role in self.roles.values():
            for store in role.oracles:
                old = self.oracles.get(store.name, OracleInfo(T.NOTHING, ()))
                self.oracles[store.name] = OracleInfo(joined_or_none(old.type, store.type), old.roles + (role.name,))

    def stores_of(self, node):
        return [Store(name, node.store, self.type_of(node.type), node) for name in node.names]

    def is_of_steps(self):
        if self.messages or any(store.kind == "shared" for store in self.file_stores):
            return True
        parts = [part for role in self.roles.values() for part in role.node.parts]
        return any(part.kind in ("start", "step", "handler") for part in parts)

    # Definitions.

    def definition(self, name, scope):
        """The def of that name that is visible in a scope."""
        own = scope.role is not None and name in scope.role.defs
        key = (scope.role.name if own else None, name, scope.environment)
        if key not in self._definitions:
            node = scope.role.defs[name] if own else self.defs[name]
            self.define(key, node, scope.without_locals() if own else scope.file_level())
        definition = self._definitions[key]
        if definition.type is None:
            raise TypeProblem("'%s' calls itself and needs its type written out" % name)
        return definition

    def define(self, key, node, scope):
        params = [(field.name, self.type_of(field.type)) for field in node.params]
        definition = Definition(params, self.type_of(node.type) if node.type else None)
        self._definitions[key] = definition
        for name, type_ in params:
            scope = scope.bind(name, type_)
        code = compile_expr(node.body, scope)
        if definition.type is None:
            definition.type = code.type
        definition.run = convert(code, definition.type, node.line).run

    # Environments and properties.

    def read_environments(self):
        nodes = {node.name: node for node in self.decls("environment")}

        @functools.lru_cache(maxsize=None)
        def clauses(name):
            """Own clauses come last. One that is inherited in several ways counts once."""
            inherited = []
            for other in nodes[name].extends:
                inherited += [c for c in clauses(other) if not any(c is one for one in inherited)]
            return inherited + nodes[name].clauses

        self.environments = {name: clauses(name) for name in nodes} or {"free": []}

    def read_properties(self):
        first = next(iter(self.environments))
        self.properties = []
        for node in self.decls("property"):
            self.properties.append(Property(node.name, node.what, node.almost, node.step, tuple(node.envs or [first]),
                                            node.on_request, node.expr, node.line))

        self.built_in = []
        if self.takes_steps and not any(p.name == "deadlock" for p in self.properties):
            self.built_in.append(Property("deadlock", "safety", False, False, (first,), False, parse_expr("not deadlocked"), 0))

    def property_named(self, name):
        return next(p for p in self.properties + self.built_in if p.name == name)

    def text_of(self, node):
        """A node and everything below it, with the bodies of the defs that it uses."""
        seen, left = set(), [node]
        while left:
            for part in walk(left.pop()):
                yield part
                if part.kind in ("name", "call") and part.name in self.defs and part.name not in seen:
                    seen.add(part.name)
                    left.append(self.defs[part.name].body)

    # What other modules compile.

    def compile_property(self, node, of_states=False):
        """The code of a property without temporal operators, or of a part of one that has none below. `of_states`: of a safety or
        cover property of states."""
        return compile_bool(node, Scope(self, of_states=of_states))

    def compile_clause(self, node, bound=None):
        """The code of a condition of an environment. `bound` are names that stand for something: name -> type."""
        scope = Scope(self, environment=True)
        for name, type_ in (bound or {}).items():
            scope = scope.bind(name, type_)
        return compile_bool(node, scope)

    # First values.

    def initial_states(self, without=frozenset()):
        """All first values: yields Outcome(trail, (file values, process values), error).

        File values are a dict from names to values, process values a dict from Proc to such a dict. Processes in
        `without` have no variables: they are Byzantine. Oracles are not among the values.
        """
        codes = self.first_value_codes()
        yield from explore(lambda chooser: self.first_values(codes, chooser, without))

    def first_value_codes(self):
        """For each store: (store, code of the first value or None, code of the condition or None)."""
        file_codes = [self.first_value_code(store, Scope(self)) for store in self.file_stores]
        role_codes = {}
        for role in self.roles.values():
            role_codes[role.name] = [self.first_value_code(store, Scope(self, role)) for store in role.stores]
        return file_codes, role_codes

    def first_value_code(self, store, scope):
        first = compile_as(store.node.first, store.type, scope) if store.node.first else None
        where = compile_bool(store.node.where, scope) if store.node.where else None
        return store, first, where

    def first_values(self, codes, chooser, without):
        file_codes, role_codes = codes
        shared = {}
        for code in file_codes:
            world = World(self, shared=shared, chooser=chooser)
            choose_first(code, world, shared, [])
        processes = {}
        for role in self.roles.values():
            members = [p for p in role.members if p not in without]
            for me in members:
                own = {}
                world = World(self, me=me, vars=own, shared=shared, chooser=chooser)
                for code in role_codes[role.name]:
                    taken = [processes[p][code[0].name] for p in members if p in processes]
                    choose_first(code, world, own, taken)
                processes[me] = own
        return shared, processes

    def reset_values(self, me, own, shared, chooser):
        """The variables of a process that recovers: input, stable and ghost variables as before, the others with first
        values again. Those may choose again."""
        role = self.roles[me.role]
        new = {}
        world = World(self, me=me, vars=new, shared=shared, chooser=chooser)
        for store in role.stores:
            if store.kind == "var":
                choose_first(self.first_value_code(store, Scope(self, role)), world, new, [])
            else:
                new[store.name] = own[store.name]
        return new


def choose_first(code, world, values, taken):
    """Choose the first value of one store. `taken` are those of the other processes, which matter if it is distinct."""
    store, first, where = code
    if first:
        value = first.run(world, {})
    else:
        options = [v for v in T.values(store.type) if not (store.node.distinct and v in taken)]
        if not options:
            raise Abandoned()
        value = world.chooser.choose("input", options)
    if store.node.distinct and value in taken:
        raise Abandoned()
    values[store.name] = value
    if where and not where.run(world, {}):
        raise Abandoned()
