"""Lexer and parser.

`parse(text)` returns a Node of kind `file` with `name` and `decls`. A Node has a `kind`, a `line`, and fields that
depend on the kind. The functions follow the grammar at the end of docs/language.md, one for each rule.
"""

import re

from .errors import SyntaxProblem

RESERVED = set(
    "and or not in if then else exists forall always eventually until otherwise mod none true false for "
    "let send goto halt foreach".split()
)

TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|//[^\n]*)
      | (?P<newline>\n)
      | (?P<number>[0-9]+)
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<sign>:=|==|!=|<=|>=|=>|\+\+|\.\.|->|[-+*/|&()\[\]{}<>=:,;.'?])
    """,
    re.VERBOSE,
)


class Node:
    """A node of the syntax tree. The fields are plain attributes."""

    def __init__(self, kind, line, **fields):
        self.kind = kind
        self.line = line
        self.__dict__.update(fields)

    def __repr__(self):
        fields = {k: v for k, v in self.__dict__.items() if k not in ("kind", "line")}
        return "%s(%s)" % (self.kind, ", ".join("%s=%r" % item for item in fields.items()))


class Token:
    """A token: `kind` is 'number', 'name', 'reserved', 'sign' or 'end'."""

    def __init__(self, kind, text, line):
        self.kind = kind
        self.text = text
        self.line = line


def tokens_of(text):
    tokens = []
    line = 1
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise SyntaxProblem("unexpected character %r" % text[position], line)
        position = match.end()
        kind = match.lastgroup
        if kind == "newline":
            line += 1
        elif kind == "word":
            tokens.append(Token("reserved" if match.group() in RESERVED else "name", match.group(), line))
        elif kind != "space":
            tokens.append(Token(kind, match.group(), line))
    tokens.append(Token("end", "end of file", line))
    return tokens


def children(node):
    """All Nodes directly below a node."""
    found = []

    def collect(value):
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            for part in value:
                collect(part)

    for value in node.__dict__.values():
        collect(value)
    return found


def walk(node):
    """The node and everything below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def words(node):
    """Every string in the node and below it: whatever names occur are among them."""
    found = set()

    def collect(value):
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, (list, tuple)):
            for part in value:
                collect(part)

    for below in walk(node):
        collect(list(below.__dict__.values()))
    return found


class Parser:
    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.at = 0
        self.between_bars = False

    # Tokens.

    @property
    def token(self):
        return self.tokens[self.at]

    @property
    def line(self):
        return self.token.line

    def ahead(self, k):
        return self.tokens[min(self.at + k, len(self.tokens) - 1)]

    def advance(self):
        token = self.token
        if token.kind != "end":
            self.at += 1
        return token

    def is_text(self, *texts):
        return self.token.kind != "number" and self.token.kind != "end" and self.token.text in texts

    def accept(self, *texts):
        """Take the next tokens if they are these, all of them."""
        for k, text in enumerate(texts):
            token = self.ahead(k)
            if token.kind in ("number", "end") or token.text != text:
                return False
        self.at += len(texts)
        return True

    def expect(self, *texts):
        for text in texts:
            if not self.accept(text):
                self.fail("'%s'" % text)

    def fail(self, expected):
        raise SyntaxProblem("expected %s, found '%s'" % (expected, self.token.text), self.line)

    def name(self):
        if self.token.kind != "name":
            self.fail("a name")
        return self.advance().text

    def names(self):
        names = [self.name()]
        while self.accept(","):
            names.append(self.name())
        return names

    def word(self, *words):
        """Take one of these words and return it."""
        if not self.is_text(*words):
            self.fail(" or ".join("'%s'" % w for w in words))
        return self.advance().text

    def comma_list(self, rule):
        items = [rule()]
        while self.accept(","):
            items.append(rule())
        return items

    def attempt(self, rule):
        """Try a rule. If it does not fit, return None and go back."""
        position, bars = self.at, self.between_bars
        try:
            return rule()
        except SyntaxProblem:
            self.at, self.between_bars = position, bars
            return None

    # Declarations.

    def file(self):
        line = self.line
        if not self.accept("algorithm"):
            self.fail("'algorithm'")
        name = self.name()
        decls = []
        while self.token.kind != "end":
            decls.append(self.decl())
        return Node("file", line, name=name, decls=decls)

    def decl(self):
        line = self.line
        if self.is_text("input", "shared", "ghost"):
            return self.store()
        if self.accept("param"):
            names = self.names()
            type_ = self.type() if self.accept(":") else None
            default = self.expr() if self.accept("=") else None
            where = self.expr() if self.accept("where") else None
            return Node("param", line, names=names, type=type_, default=default, where=where)
        if self.accept("resilience"):
            return Node("resilience", line, expr=self.expr())
        if self.accept("type"):
            name = self.name()
            self.expect("=")
            return Node("typedef", line, name=name, type=self.type())
        if self.accept("message"):
            return Node("messages", line, signatures=self.comma_list(self.signature))
        if self.is_text("def"):
            return self.definition()
        if self.accept("process"):
            return self.process(line)
        if self.accept("environment"):
            return self.environment(line)
        if self.is_text("safety", "cover", "live"):
            return self.property()
        self.fail("a declaration")

    def signature(self):
        line = self.line
        name = self.name()
        fields = []
        if self.accept("("):
            fields = self.comma_list(self.field)
            self.expect(")")
        return Node("signature", line, name=name, fields=fields)

    def field(self):
        line = self.line
        name = self.name()
        self.expect(":")
        return Node("field", line, name=name, type=self.type())

    def definition(self):
        line = self.line
        self.expect("def")
        name = self.name()
        params = []
        if self.accept("("):
            params = self.comma_list(self.field)
            self.expect(")")
        type_ = self.type() if self.accept(":") else None
        self.expect("=")
        return Node("def", line, name=name, params=params, type=type_, body=self.expr())

    def store(self):
        line = self.line
        kind = self.word("input", "var", "stable", "shared", "ghost", "oracle")
        names = self.names()
        self.expect(":")
        type_ = self.type()
        distinct = self.accept("distinct")
        each = self.word("phase", "round", "step", "receiver") if self.accept("each") else None
        first = self.expr() if self.accept("=") else None
        where = self.expr() if self.accept("where") else None
        return Node("store", line, store=kind, names=names, type=type_, distinct=distinct, each=each, first=first, where=where)

    # Types.

    def type(self):
        line = self.line
        base = self.base_type()
        while self.accept("?"):
            base = Node("t_option", line, elem=base)
        return base

    def base_type(self):
        line = self.line
        if self.accept("bool"):
            return Node("t_bool", line)
        if self.accept("int"):
            return Node("t_int", line)
        if self.accept("round"):
            return Node("t_round", line)
        if self.accept("set", "of"):
            return Node("t_set", line, elem=self.type())
        if self.is_text("signed") and self.ahead(1).text != "..":
            self.advance()
            return Node("t_signed", line, elem=self.type())
        if self.accept("seq", "of"):
            elem = self.type()
            self.expect("up", "to")
            most = self.sum()
            return Node("t_seq", line, elem=elem, most=most, distinct=self.accept("distinct"))
        if self.accept("["):
            index = self.type()
            self.expect("]")
            return Node("t_array", line, index=index, elem=self.type())
        if self.is_text("(") and self.ahead(1).kind == "name" and self.ahead(2).text == ":":
            self.advance()
            fields = self.comma_list(self.field)
            self.expect(")")
            return Node("t_record", line, fields=fields)
        unordered = self.accept("unordered")
        if self.accept("{"):
            labels = self.names()
            self.expect("}")
            return Node("t_enum", line, labels=labels, unordered=unordered)
        low = self.sum()
        if self.accept(".."):
            return Node("t_range", line, low=low, high=self.sum(), unordered=unordered)
        if low.kind != "name" or unordered:
            self.fail("'..'")
        return Node("t_name", line, name=low.name)

    # Processes.

    def process(self, line):
        name = self.name()
        self.expect("[")
        size = self.expr()
        self.expect("]")
        ring = self.accept("ring")
        graph = self.expr() if self.accept("graph") else None
        self.expect("{")
        stores, defs, parts = [], [], []
        while not self.accept("}"):
            if self.is_text("def"):
                defs.append(self.definition())
            elif self.is_text("input", "var", "stable", "shared", "ghost", "oracle"):
                stores.append(self.store())
            else:
                parts.append(self.part())
        return Node("process", line, name=name, size=size, ring=ring, graph=graph, stores=stores, defs=defs, parts=parts)

    def part(self):
        line = self.line
        if self.accept("once"):
            return Node("segment", line, how="once", count=None, name=None, rounds=self.rounds())
        if self.accept("repeat"):
            count = self.expr()
            name = self.name() if self.accept("as") else None
            return Node("segment", line, how="repeat", count=count, name=name, rounds=self.rounds())
        if self.accept("phase"):
            name = self.name() if self.token.kind == "name" else None
            return Node("segment", line, how="phase", count=None, name=name, rounds=self.rounds())
        if self.is_text("round"):
            return self.round()
        if self.accept("finally"):
            return Node("finally", line, block=self.block())
        if self.accept("start"):
            return Node("start", line, block=self.block())
        final = self.accept("final", "step")
        if final or self.accept("step"):
            name = self.name()
            trigger = self.trigger() if self.is_text("when", "on") else None
            ways = [Node("way", line, trigger=trigger, block=self.block())]
            while self.accept("or"):
                way_line = self.line
                trigger = self.trigger()
                ways.append(Node("way", way_line, trigger=trigger, block=self.block()))
            return Node("step", line, name=name, final=final, ways=ways)
        if self.is_text("when", "on"):
            trigger = self.trigger()
            return Node("handler", line, trigger=trigger, block=self.block())
        self.fail("what the process stores or does")

    def rounds(self):
        self.expect("{")
        rounds = []
        while not self.accept("}"):
            rounds.append(self.round())
        return rounds

    def round(self):
        line = self.line
        self.expect("round")
        name = self.name() if self.token.kind == "name" else None
        self.expect("{")
        sends, update = [], None
        while self.is_text("send"):
            send = self.send()
            send.when = self.expr() if self.accept("when") else None
            sends.append(send)
        if self.accept("update"):
            update = self.block()
        self.expect("}")
        return Node("round", line, name=name, sends=sends, update=update)

    def send(self):
        line = self.line
        self.expect("send")
        message = self.expr()
        self.expect("to")
        return Node("send", line, message=message, target=self.expr(), when=None)

    def trigger(self):
        """A trigger: `when` has `cond` and `once`; `on` has the pattern and its modifiers."""
        line = self.line
        if self.accept("when"):
            cond = self.expr()
            return Node("when", line, cond=cond, once=self.accept("once"))
        self.expect("on")
        node = Node("on", line, name=None, quorum=False, exactly=False, size=None, pattern=None,
                    same=[], sender=None, cond=None, once=False, taken=False)
        if self.token.kind == "name" and self.ahead(1).text == ":":
            node.name = self.name()
            self.expect(":")
            size = self.attempt(self.quorum_size)
            if size:
                node.quorum = True
                node.exactly, node.size = size
        node.pattern = self.pattern()
        while True:
            if self.accept("same"):
                node.same += self.names()
            elif self.accept("from"):
                node.sender = self.name()
            elif self.accept("if"):
                node.cond = self.expr()
            elif self.accept("once"):
                node.once = True
            elif self.accept("taken"):
                node.taken = True
            else:
                return node

    def quorum_size(self):
        exactly = self.accept("exactly")
        size = self.sum()
        self.expect("of")
        return exactly, size

    def pattern(self):
        line = self.line
        kind = self.name()
        arguments = []
        if self.accept("("):
            arguments = self.comma_list(self.argument)
            self.expect(")")
        return Node("pattern", line, message=kind, arguments=arguments)

    def argument(self):
        line = self.line
        field = self.name()
        op = self.relop()
        value = self.sum() if op else None
        return Node("argument", line, field=field, op=op, value=value)

    # Statements.

    def block(self):
        self.expect("{")
        statements = []
        while not self.accept("}"):
            statements.append(self.statement())
        return statements

    def statement(self):
        line = self.line
        if self.accept("if"):
            branches = [(self.expr(), self.block())]
            otherwise = []
            while self.accept("else"):
                if self.accept("if"):
                    branches.append((self.expr(), self.block()))
                else:
                    otherwise = self.block()
                    break
            return Node("if", line, branches=branches, otherwise=otherwise)
        if self.accept("let"):
            name = self.name()
            self.expect("=")
            return Node("let", line, name=name, value=self.expr())
        if self.accept("foreach"):
            name = self.name()
            self.expect("in")
            collection = self.expr()
            return Node("foreach", line, name=name, collection=collection, block=self.block())
        if self.accept("halt"):
            return Node("halt", line)
        if self.accept("goto"):
            return Node("goto", line, name=self.name())
        if self.is_text("send"):
            return self.send()
        name = self.name()
        path = []
        while not self.accept(":="):
            if self.accept("["):
                path += [("index", index) for index in self.inside(lambda: self.comma_list(self.expr))]
                self.expect("]")
            elif self.accept("."):
                path.append(("field", self.name()))
            else:
                self.fail("':='")
        return Node("assign", line, name=name, path=path, value=self.expr())

    # Environments and properties.

    def environment(self, line):
        name = self.name()
        extends = self.names() if self.accept("extends") else []
        self.expect("{")
        clauses = []
        while not self.accept("}"):
            clauses.append(self.clause())
            self.accept(";")
        return Node("environment", line, name=name, extends=extends, clauses=clauses)

    def clause(self):
        line = self.line
        if self.accept("at", "most"):
            return self.fault(line, self.sum())
        if self.accept("any"):
            return self.fault(line, None)
        if self.accept("every"):
            unit = self.unit()
            self.expect(":")
            return Node("every", line, unit=unit, cond=self.expr())
        if self.accept("from", "round"):
            start = self.sum()
            self.expect(":")
            return Node("from_round", line, start=start, cond=self.expr())
        if self.is_text("infinitely", "eventually"):
            return self.going_well(line)
        if self.accept("synchronous"):
            return Node("synchronous", line)
        if self.accept("fair"):
            strong = self.accept("strong")
            of = self.advance().text if self.is_text("processes", "actions", "messages") else None
            return Node("fair", line, strong=strong, of=of)
        if self.accept("channels"):
            how = self.word("set", "bag", "fifo")
            return Node("channels", line, how=how, bound=self.sum() if self.accept("bound") else None)
        self.fail("a clause")

    def unit(self):
        return self.word("phase", "round", "step", "receiver")

    def fault(self, line, limit):
        """`limit` is None for `any`. `of` is 'processes', 'messages' or the name of a role."""
        of = self.name()
        of = {"process": "processes", "message": "messages"}.get(of, of)
        if self.accept("crash"):
            how = "crash and recover" if self.accept("and", "recover") else "crash"
        elif self.accept("omit"):
            how = "omit " + self.word("send", "receive") if self.accept("to") else "omit"
        else:
            self.expect("are")
            how = self.word("byzantine", "lost", "corrupted", "duplicated")
        return Node("fault", line, limit=limit, of=of, how=how, each=self.unit() if self.accept("each") else None)

    def going_well(self, line):
        if self.accept("infinitely"):
            self.expect("often")
            how = "infinitely often"
        else:
            self.expect("eventually")
            how = "eventually always" if self.accept("always") else "eventually"
        unit = self.unit() if self.is_text("phase", "round", "step", "receiver") else None
        quantifier, generators = None, []
        if self.accept("for"):
            quantifier = self.word("each", "some")
            generators = self.generator()
        self.expect(":")
        return Node("going_well", line, how=how, unit=unit, quantifier=quantifier, generators=generators, cond=self.expr())

    def property(self):
        line = self.line
        what = self.word("safety", "cover", "live")
        almost = what == "live" and self.accept("almost", "surely")
        name = self.name()
        envs = self.names() if self.accept("in") else []
        on_request = self.accept("on", "request")
        self.expect(":")
        step = self.accept("step")
        return Node("property", line, what=what, almost=almost, name=name, envs=envs, on_request=on_request,
                    step=step, expr=self.expr())

    # Expressions.

    def inside(self, rule):
        """A rule within brackets of any kind: a bar there is a union again."""
        bars, self.between_bars = self.between_bars, False
        result = rule()
        self.between_bars = bars
        return result

    def expr(self):
        line = self.line
        left = self.disjunction()
        if self.accept("otherwise"):
            return Node("otherwise", line, left=left, right=self.expr())
        if self.accept("=>"):
            return Node("implies", line, left=left, right=self.expr())
        if self.accept("leads", "to"):
            return Node("leadsto", line, left=left, right=self.expr())
        return left

    def disjunction(self):
        left = self.conjunction()
        while self.is_text("or"):
            line = self.advance().line
            left = Node("or", line, left=left, right=self.conjunction())
        return left

    def conjunction(self):
        left = self.unary()
        while self.is_text("and", "until"):
            token = self.advance()
            left = Node(token.text, token.line, left=left, right=self.unary())
        return left

    def unary(self):
        line = self.line
        if self.is_text("not", "always", "eventually"):
            kind = self.advance().text
            return Node(kind, line, arg=self.unary())
        if self.is_text("exists", "forall"):
            which = self.advance().text
            generators = self.generators()
            body = self.expr() if self.accept(":") else None
            return Node("quant", line, which=which, generators=generators, body=body)
        if self.accept("if"):
            cond = self.expr()
            self.expect("then")
            yes = self.expr()
            self.expect("else")
            return Node("ifelse", line, cond=cond, yes=yes, no=self.expr())
        first = self.range()
        rest = []
        while True:
            op = self.relop()
            if not op:
                break
            rest.append((op, self.range()))
        return Node("compare", line, first=first, rest=rest) if rest else first

    def relop(self):
        if self.accept("not", "in"):
            return "not in"
        if self.is_text("==", "!=", "<=", ">=", "<", ">", "in"):
            return self.advance().text
        return None

    def range(self):
        line = self.line
        low = self.sum()
        if self.accept(".."):
            return Node("range", line, low=low, high=self.sum())
        return low

    def sum(self):
        left = self.term()
        while self.is_text("+", "-", "++") or (self.is_text("|") and not self.between_bars):
            token = self.advance()
            left = Node("binary", token.line, op=token.text, left=left, right=self.term())
        return left

    def term(self):
        left = self.factor()
        while self.is_text("*", "/", "mod", "&"):
            token = self.advance()
            left = Node("binary", token.line, op=token.text, left=left, right=self.factor())
        return left

    def factor(self):
        line = self.line
        if self.accept("-"):
            return Node("neg", line, arg=self.factor())
        node = self.atom()
        while True:
            line = self.line
            if self.accept("["):
                node = Node("index", line, base=node, args=self.inside(lambda: self.comma_list(self.expr)))
                self.expect("]")
            elif self.accept("."):
                node = Node("field_of", line, base=node, name=self.name())
            elif self.accept("'"):
                node = Node("prime", line, arg=node)
            else:
                return node

    def atom(self):
        line = self.line
        if self.token.kind == "number":
            return Node("num", line, value=int(self.advance().text))
        if self.accept("none"):
            return Node("none", line)
        if self.accept("true"):
            return Node("bool", line, value=True)
        if self.accept("false"):
            return Node("bool", line, value=False)
        if self.accept("|"):
            bars, self.between_bars = self.between_bars, True
            arg = self.sum()
            self.between_bars = bars
            self.expect("|")
            return Node("size", line, arg=arg)
        if self.accept("{"):
            return self.inside(lambda: self.set_atom(line))
        if self.accept("["):
            return self.inside(lambda: self.bracket_atom(line))
        if self.accept("("):
            return self.inside(lambda: self.paren_atom(line))
        if self.accept("count", "("):
            return self.inside(lambda: self.count_atom(line))
        if self.token.kind == "name":
            name = self.name()
            if self.accept("("):
                return self.inside(lambda: self.call_atom(line, name))
            return Node("name", line, name=name)
        self.fail("an expression")

    def set_atom(self, line):
        if self.accept("}"):
            return Node("set", line, elems=[])
        elem = self.expr()
        if self.is_text("for"):
            generators = self.for_generators()
            self.expect("}")
            return Node("setfor", line, elem=elem, generators=generators)
        elems = [elem]
        while self.accept(","):
            elems.append(self.expr())
        self.expect("}")
        return Node("set", line, elems=elems)

    def bracket_atom(self, line):
        array = self.attempt(lambda: self.array_atom(line))
        if array:
            return array
        elems = [] if self.is_text("]") else self.comma_list(self.expr)
        self.expect("]")
        return Node("seq", line, elems=elems)

    def array_atom(self, line):
        name = self.name()
        self.expect("in")
        index = self.range()
        self.expect(":")
        body = self.expr()
        self.expect("]")
        return Node("arrayfor", line, name=name, index=index, body=body)

    def paren_atom(self, line):
        items = self.comma_list(self.item)
        self.expect(")")
        if len(items) == 1 and items[0].name is None:
            return items[0].value
        return Node("record", line, items=items)

    def count_atom(self, line):
        generators = self.generators()
        self.expect(":")
        body = self.expr()
        self.expect(")")
        return Node("count", line, generators=generators, body=body)

    def call_atom(self, line, name):
        args, generators = [], None
        if not self.is_text(")"):
            args.append(self.item())
            if self.is_text("for"):
                generators = self.for_generators()
            else:
                while self.accept(","):
                    args.append(self.item())
        self.expect(")")
        return Node("call", line, name=name, args=args, generators=generators)

    def item(self):
        line = self.line
        name = None
        if self.token.kind == "name" and self.ahead(1).text == ":":
            name = self.name()
            self.expect(":")
        return Node("item", line, name=name, value=self.expr())

    def generator(self):
        """`p, q in P`: a list with one generator for each name. A generator has `name`, `range` and `cond`."""
        line = self.line
        names = self.names()
        self.expect("in")
        range_ = self.range()
        return [Node("generator", line, name=name, range=range_, cond=None) for name in names]

    def generators(self):
        generators = self.generator()
        while self.is_text(",") and self.looks_like_generator():
            self.advance()
            generators += self.generator()
        return generators

    def looks_like_generator(self):
        k = 0
        while self.ahead(k).text == "," and self.ahead(k + 1).kind == "name":
            k += 2
        return k > 0 and self.ahead(k).text == "in"

    def for_generators(self):
        self.expect("for")
        generators = []
        while True:
            generators += self.generator()
            if self.accept("if"):
                generators[-1].cond = self.expr()
            if not self.accept(","):
                return generators


def parse(text):
    return Parser(text).file()


def parse_expr(text):
    """Parse a single expression."""
    parser = Parser(text)
    expr = parser.expr()
    if parser.token.kind != "end":
        parser.fail("the end of the expression")
    return expr
