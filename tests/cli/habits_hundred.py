"""A hundred and more mistakes of newcomers from TLA+, PlusCal, Promela, Quint, Ivy, Python, Java, C, Erlang and Go: syntax, types, scopes, clauses,
properties over messages, misplaced blocks, missing braces, characters outside ASCII. Format: see habits.py."""
from habits import faults_of
from harness import must, test

CASES = r"""
new     | rounds | prop   | p.k == “one” § there are no strings; a type can list
new     | rounds | prop   | p.k == ‘a’ § there are no strings or characters; a type
new     | rounds | prop   | p.k – 1 == 0 § write '-'
new     | rounds | prop   | forall r in P. r.k == 0 § a colon stands before the condition:
new     | rounds | prop   | forall r in P, r.k == 0 § a colon stands before the condition:
new     | rounds | prop   | forall r: r.k == 0 § say what it ranges over: 'x in SET'
new     | rounds | prop   | forall r: P. r.k == 0 § say what it ranges over: 'x in SET'
new     | rounds | prop   | forall (r in P) r.k == 0 § write it without parentheses: 'x in SET'
new     | rounds | prop   | (forall r in P: r.k == 0 § the '(' at line 21 is not closed
new     | rounds | prop   | p.k == 0) § no '(' is open here
new     | rounds | prop   | p.k == 0; § leave it out: statements and declarations
new     | rounds | prop   | p.k == 0, § conditions are joined by 'and'
new     | rounds | prop   | G(p.k >= 0) § write 'always', in a live property; 'safety
new     | rounds | prop   | always(p.k >= 0) § leave 'always' out: 'safety NAME: C' says
Quint   | rounds | prop   | next(p.k) == 1 § there is no 'next'; in 'safety NAME: step
new     | rounds | prop   | X p.k == 1 § there is no 'next'; in 'safety NAME: step
new     | rounds | prop   | p.K == 0 § did you mean 'k'
Erlang  | rounds | prop   | p.received == {} § what a process received is gone when
Erlang  | rounds | prop   | received == {} § properties see what processes store: keep
new     | rounds | prop   | me.k == 0 § a property says of which processes it
new     | rounds | prop   | p.k == q § P(i) is the process with number i, counted
new     | rounds | prop   | p == 1 § P(i) is the process with number i, counted
new     | rounds | prop   | number(p) == 1 § they speak of processes by 'forall' and
new     | rounds | prop   | P(1).k == 0 or p.id == 1 § two processes are compared by 'p == q'; a
Python  | rounds | prop   | p.seen.size() == 0 § there are no methods: write |S|
Python  | rounds | prop   | p.seen.length == 0 § write |s|
Python  | rounds | prop   | p.seen.contains(q) § there are no methods: write 'x in S'
Python  | rounds | prop   | p.log.length() == 0 § there are no methods: write |s|
new     | rounds | prop   | #p.seen == 0 § the size of a set is written |S|; a comment
Python  | rounds | prop   | p.seen.exists(r => r == p) § there are no methods: write 'exists x in S:
Quint   | rounds | prop   | P.forall(r => r.k == 0) § there are no methods: write 'forall x in S:
Quint   | rounds | prop   | P.filter(r => r.k == 0).size() == 0 § there are no methods: write '{x for x in S
new     | rounds | prop   | p.x in 1-3 § a range is written 'a..b', a set '{a, b}'
new     | rounds | prop   | p.x in [1..3] § it stands alone after 'in': 'x in 1..3';
new     | rounds | prop   | p.x in {1..3} § it stands alone after 'in': 'x in 1..3';
new     | rounds | prop   | sum(r in P: r.k) == 3 § write 'sum(VALUE for x in SET)', with 'if
new     | rounds | prop   | max(r in P: r.k) == 3 § write 'max(VALUE for x in SET)', with 'if
new     | rounds | prop   | max(p.k; q.k) == 3 § arguments are separated by commas
new     | rounds | prop   | p.seen == {p, 1} § P(i) is the process with number i, counted
new     | rounds | prop   | crashed(p) or p.k == 0 § write 'p in faulty'
new     | rounds | prop   | p in crashed § write 'faulty' for the set of the processes
new     | rounds | prop   | correct(p) => p.k == 0 § write 'p in correct'
new     | rounds | prop   | faulty(p) § write 'p in faulty'
new     | rounds | prop   | HO[p] == P § properties see what processes store: 'ghost
new     | rounds | stmt   | k := x + § the line before is not complete
new     | rounds | stmt   | x, k := 1, 2 § one assignment for each variable: 'x := 1',
new     | rounds | stmt   | (x, k) := (1, 2) § one assignment for each variable: 'x := 1',
new     | rounds | stmt   | me.k := 1 § a process assigns its own variables, by
Python  | rounds | stmt   | self.k := 1 § a process assigns its own variables, by
Java    | rounds | stmt   | this.k := 1 § a process assigns its own variables, by
new     | rounds | stmt   | p.k := 1 § a process assigns its own variables, by
new     | rounds | stmt   | if k == 1 { k := 2 } else k := 3 § a block is in braces: 'if CONDITION { ... }
Erlang  | rounds | stmt   | if not received { k := 2 } § say what is asked of its elements: '|S| >
Erlang  | rounds | stmt   | if received { k := 2 } § say what is asked of its elements: '|S| >
Erlang  | rounds | stmt   | if received > 2 { k := 2 } § the number of messages is |...|, as in
Erlang  | rounds | stmt   | if received.size > 2 { k := 2 } § write |S|
Erlang  | rounds | stmt   | foreach m in received: k := m § a block is in braces: 'foreach m in
Erlang  | rounds | stmt   | foreach (m in received) { k := m } § write it without parentheses: 'foreach m in
Java    | rounds | stmt   | for (int i = 0; i < n; i++) { k := i } § 'foreach m in Q { ... }' goes through the
new     | rounds | stmt   | while k < 3 { k := k + 1 } § there is no 'while'; 'foreach m in received
new     | rounds | stmt   | loop { k := 1 } § there are no loops in a block; rounds
Erlang  | rounds | stmt   | k := min(received, x) § the messages and a value together are a
Erlang  | rounds | stmt   | k := received.min() § there are no methods: write min(S)
Erlang  | rounds | stmt   | k := min received § a statement is 'x := VALUE', 'send MESSAGE
Erlang  | rounds | stmt   | k := average(received) § write 'sum(S) / |S|', if S is not empty
Erlang  | rounds | stmt   | k := count(received) § the number of elements is |SET|; 'count(x
new     | rounds | stmt   | k := true § write 'if c then 1 else 0'
new     | rounds | stmt   | k := me § number(p) is the number of process p,
new     | rounds | stmt   | seen := seen union {me} § write '|'
new     | rounds | stmt   | seen += me § write 'seen := seen + 1'; a set grows by
new     | rounds | stmt   | seen := {me | me in P} § a set of one is written {p}; the elements
new     | rounds | stmt   | seen := [me] § a set is written {a, b}
new     | rounds | stmt   | seen[me] := true § a set gets an element by 'x := x | {e}',
Erlang  | rounds | stmt   | log := [x | log] § sequences are joined by '++': [x] ++ s
new     | rounds | stmt   | log := log + [1] § sequences are joined by '++': s ++ [x]; |s|
Python  | rounds | stmt   | log := log.append(1) § there are no methods: a sequence with one
new     | rounds | stmt   | log[0] := 1 § a sequence grows by 'x := x ++ [e]'; what
Java    | rounds | stmt   | let y: int = 3 § a 'let' has the type of its value: 'let x =
new     | rounds | stmt   | y := 3 § declare it at the start of the process:
new     | rounds | stmt   | decided := k § declare it at the start of the process:
new     | rounds | stmt   | decide(k) § a statement is an assignment here, such as
new     | rounds | stmt   | if x == 1 k := 1 } § a block is in braces: 'if CONDITION { ... }
new     | rounds | stmt   | if x == 1 { k := 1 }} § a statement stands in 'update { ... }'; is
new     | rounds | stmt   | halt() § 'halt' has no parentheses
new     | rounds | stmt   | k := coin() § write 'random(false, true)', or
new     | rounds | stmt   | k := flip § write 'random(false, true)', or
new     | rounds | stmt   | goto 10 § steps have names: 'step NAME { ... }'
Erlang  | rounds | stmt   | wait |received| > 2 § a round does not wait: the environment says
Erlang  | rounds | stmt   | wait until |received| > 2 § a round does not wait: the environment says
new     | rounds | stmt   | all.k := 1 § a process assigns its own variables, by
new     | rounds | stmt   | k = k + 1; § an assignment is written ':='
new     | rounds | stmt   | k := phase § 'phase r { ... }' gives the number of the
new     | rounds | stmt   | k := f(x) § a function is defined by 'def f(FIELD:
Erlang  | rounds | stmt   | if m in received { k := m } § to go through the elements write 'exists m
Erlang  | rounds | stmt   | if any m in received: m == 1 { k := 1 } § write 'exists x in S: C'
Erlang  | rounds | stmt   | k := (m for m in received) § a set is '{x for x in S if C}'
Erlang  | rounds | stmt   | k := max{m in received} § arguments are in parentheses: 'max(...)'
new     | rounds | stmt   | k := min(x,k)) § no '(' is open here
new     | rounds | stmt   | k := min((x,k) § the '(' at line 13 is not closed
new     | rounds | stmt   | k := heard § |...| is the number of elements
Java    | rounds | stmt   | null § leave it out: a block may be empty, '{}'
new     | steps  | stmt   | send vote{v: 1} to all § arguments are in parentheses: 'vote(...)'
new     | steps  | stmt   | send vote 1 to all § fields are in parentheses: 'send vote(1) to
new     | steps  | stmt   | send {type: vote, v: 1} to all § a record is written '(a: 1, b: 2)', an
new     | steps  | stmt   | send to all ack § write 'send MESSAGE to all', 'to others',
new     | steps  | stmt   | send ack to any § write 'all', 'others', a role, or 'pick(S)'
new     | steps  | stmt   | send ack to Q § did you mean 'q'
new     | steps  | stmt   | send ack to process q § a statement is 'x := VALUE', 'send MESSAGE
new     | steps  | stmt   | q.send(ack) § there are no methods: write 'send MESSAGE
new     | steps  | stmt   | on ack { k := 2 } § 'on MESSAGE { ... }' stands in the process,
Erlang  | steps  | stmt   | if received(ack) { k := 2 } § what arrived in a round is 'received',
new     | steps  | stmt   | if count(vote) > 2 { k := 2 } § the number of elements is |SET|; 'count(x
new     | steps  | stmt   | if |pending(vote)| > 2 { k := 2 } § a process takes a message by 'on MESSAGE',
new     | steps  | stmt   | lock = true; § an assignment is written ':='
new     | steps  | stmt   | goto nowhere § what follows would still be done (line 13):
new     | steps  | stmt   | become leader § assign a variable, 'x := VALUE', or go to
new     | steps  | stmt   | k := sender(v) § write 'on m: KIND { ... }', or name the
new     | steps  | stmt   | yield § leave it out: after each action any process
new     | steps  | stmt   | cas(lock, false, true) § a block is one step, which nothing
new     | steps  | stmt   | k := P § |...| is the number of elements
new     | steps  | stmt   | start § a statement is 'x := VALUE', 'send MESSAGE
new     | steps  | stmt   | async { k := 1 } § leave it out: processes act in any order
Java    | steps  | stmt   | synchronized { k := 1 } § leave it out: a block is one step, which
new     | steps  | stmt   | mutex { k := 1 } § leave it out: a block is one step, which
Erlang  | steps  | stmt   | send ack to q when k == 1 § write 'if CONDITION { send ... }'
new     | steps  | stmt   | send ack to q if k == 1 § write 'if CONDITION { send ... }'
new     | steps  | stmt   | forall r in P: send ack to r § a message to each member of a set is 'send
new     | steps  | member | on vote(v: 1..3) { k := v } § a pattern names the field alone,
new     | steps  | member | on vote(v, w) { k := v } § a pattern names fields of the message (line
new     | steps  | member | on vote(w) { k := w } § a pattern names fields of the message (line
new     | steps  | member | on vote v { k := v } § a block is in braces: 'on MESSAGE { ... }'
new     | steps  | member | on vote(v) && v > 1 { k := v } § the condition of a handler follows 'if':
new     | steps  | member | on vote(k) { k := 1 } § a pattern names fields of the message (line
new     | steps  | member | on m: { k := 1 } § say which kind: 'on m: KIND { ... }'
new     | steps  | member | on vote or ack { k := 1 } § one handler for each: 'on A { ... }' and
new     | steps  | member | on vote, ack { k := 1 } § one handler for each: 'on A { ... }' and
new     | steps  | member | on vote(v) do { k := v } § a block is in braces: 'on MESSAGE { ... }'
new     | steps  | member | on vote(v): k := v § a block is in braces: 'on MESSAGE { ... }'
new     | steps  | member | on vote(v) => k := v § a block is in braces: 'on MESSAGE { ... }'
new     | steps  | member | on vote(v) -> k := v § a block is in braces: 'on MESSAGE { ... }'
new     | steps  | member | on Q: majority of vote { k := 1 } § more than half of n is 'n / 2 + 1';
new     | steps  | member | on Q: at least 2 of vote { k := 1 } § 'on Q: k of MESSAGE' waits for k messages
new     | steps  | member | on |vote| > 2 { k := 1 } § that many messages are waited for by 'on Q:
new     | steps  | member | on count(vote) >= 2 { k := 1 } § that many messages are waited for by 'on Q:
new     | steps  | member | on Q: >= 2 of vote { k := 1 } § 'on Q: k of MESSAGE' waits for k messages
Erlang  | steps  | member | when (k == 1) then { k := 2 } § a block is in braces: 'when CONDITION { ...
Erlang  | steps  | member | when k == 1: k := 2 § a block is in braces: 'when CONDITION { ...
Erlang  | steps  | member | when k == 1 do k := 2 § a block is in braces: 'when CONDITION { ...
new     | steps  | member | step { k := 2 } § a step has a name: 'step NAME { ... }'
Erlang  | steps  | member | step a when k == 1 k := 2 § a block is in braces: 'when CONDITION { ...
new     | steps  | member | step a: k := 2 § a block is in braces: 'step NAME { ... }'
new     | steps  | member | step a { k := 2 } goto a § 'goto' is the last statement of a block:
new     | steps  | member | step a await k == 1 { k := 2 } § write 'when CONDITION { ... }'
new     | steps  | member | a: k := 1 § there are no labels: what a process does in
new     | steps  | member | start k := 1 § a block is in braces: 'start { ... }'
new     | steps  | member | timeout { k := 1 } § there is no clock: a step that may happen
new     | steps  | member | after 5 { k := 1 } § there is no clock: a step that may happen
new     | steps  | member | every 5 { k := 1 } § there is no clock: a step that may happen
new     | steps  | member | on start { k := 1 } § what a process does first is 'start { ... }'
new     | steps  | member | on init { k := 1 } § what a process does first is 'start { ... }'
new     | steps  | member | on suspect(q) { k := 1 } § failure detectors are for rounds: 'oracle
new     | steps  | member | handle_vote(v) { k := v } § there are no methods: a message is handled
new     | steps  | member | states { idle, busy } § places are steps: 'step NAME when CONDITION
new     | steps  | member | message x § it stands outside: move it before the
new     | steps  | member | var y: bool = 0 § write 'false' or 'true', or compare the
new     | steps  | member | var y: Set(int) = {} § write 'set of T'
new     | steps  | member | var y: Set[P] = {} § write 'set of T'
new     | steps  | member | var y: set<P> = {} § write 'set of T'
new     | steps  | member | var y: set P = {} § write 'set of T'
new     | steps  | member | var y: List(P) = [] § write 'seq of T up to n'
new     | steps  | member | var y: list of P = [] § write 'seq of T up to n'
new     | steps  | member | var y: seq of P up to 3 = {} § a sequence is written [a, b]
new     | steps  | member | var y: queue of P = [] § write 'seq of T up to n'
new     | steps  | member | var y: map P to bool = {} § write '[INDEX] T', with a type or a role as
new     | steps  | member | var y: P -> bool = {} § an array is written '[INDEX] T', with a
new     | steps  | member | var y: array[P] of bool = {} § write '[INDEX] T', with a type or a role as
new     | steps  | member | var y: bool[3] § an array is written '[INDEX] T': '[1..3]
new     | steps  | member | var y: P = 1 § P(i) is the process with number i, counted
new     | steps  | member | var y: Option[P] = none § write 'T?'
new     | steps  | member | var y: (P, bool) = (me, true) § a record type names its parts: '(a: T, b:
new     | steps  | member | var y: {0, 1} = 0 § a range of numbers is written '0..1';
new     | steps  | member | var y: [0..3] = 0 § an array says what it has for each index:
new     | steps  | member | var y: 0...3 = 0 § a range has two dots: '0..3'
Python  | steps  | member | var y: range(3) = 0 § write '0..n - 1'
new     | steps  | member | var y : {red green} = red § commas stand between names: {red, green}
new     | steps  | clause | at most f processes crash § a number that is fixed for a run is a
new     | steps  | clause | at most 1 processes are faulty § as in 'at most f processes crash', 'at most
new     | steps  | clause | at most one process crash § numbers are written with digits: 1
new     | steps  | clause | less than n/2 processes crash § write 'at most k processes crash'
new     | steps  | clause | up to 1 processes crash § write 'at most k processes crash'
new     | steps  | clause | f < n/3 § a condition on parameters stands with them:
new     | steps  | clause | messages are lost § write 'any messages are lost', or 'at most
new     | steps  | clause | no messages are lost § leave it out: a fault that no clause names
Promela | steps  | clause | reliable channels § leave it out in steps: no message is lost
new     | steps  | clause | reliable links § leave it out in steps: no message is lost
Promela | steps  | clause | channels reliable § fifo: in order; bag: in any order; set: in
Promela | steps  | clause | channels lossy § fifo: in order; bag: in any order; set: in
Promela | steps  | clause | channels ordered § fifo: in order; bag: in any order; set: in
Promela | steps  | clause | channels unordered § fifo: in order; bag: in any order; set: in
new     | steps  | clause | partially synchronous § in rounds: 'eventually always: uniform' or
new     | steps  | clause | fair scheduler § write 'fair', 'fair processes' or 'fair
new     | steps  | clause | fair process § write 'fair processes'
new     | steps  | clause | always p.k < 3 § a property stands outside: 'safety NAME:
new     | steps  | clause | eventually p.k == 3 § a colon stands before the condition: 'every
new     | steps  | clause | crash and recover § write 'at most f processes crash', or 'at
new     | steps  | clause | at most 1 messages are reordered § messages may always take any time, and
new     | steps  | clause | at most 1 messages are delayed § messages may always take any time, and
new     | steps  | clause | messages take at most 3 steps § write 'any messages are lost', or 'at most
new     | steps  | clause | network partition § which messages are lost or arrive is said
new     | steps  | clause | async § leave it out: messages take any time unless
new     | steps  | clause | eventually synchronous § say which messages arrive: 'eventually
new     | steps  | clause | GST § in rounds: 'eventually always: uniform' or
new     | rounds | clause | every round forall p in P: |HO[p]| > 1 § a colon stands before the condition: 'every
new     | rounds | clause | every round: forall p: HO[p] == P § say what it ranges over: 'x in SET'
new     | rounds | clause | forall p in P: HO[p] == P § write 'every round: forall ...'
new     | rounds | clause | HO[p] == P § write 'every round: CONDITION'
new     | rounds | clause | each round: uniform § write 'every round: CONDITION'
new     | rounds | clause | all rounds: uniform § write 'every round: CONDITION'
new     | rounds | clause | uniform § write 'every round: uniform'
new     | rounds | clause | nosplit § write 'every round: nosplit'
new     | rounds | clause | every round: no split § write 'every round: nosplit'
new     | rounds | clause | no split § leave it out: a fault that no clause names
new     | rounds | clause | some round: uniform § write 'eventually: CONDITION', for live
new     | rounds | clause | infinitely often uniform § a colon stands before the condition: 'every
new     | rounds | clause | fair § that rounds are good again and again is
new     | rounds | clause | messages may be lost § write 'any messages are lost', or 'at most
new     | rounds | clause | synchronous rounds § write 'synchronous' alone, or 'every round:
new     | rounds | clause | asynchronous § leave it out: messages take any time unless
new     | rounds | clause | at most f < n processes crash § what parameters must satisfy stands with
new     | rounds | clause | at most 1 processes crash in each round § faults are counted in the whole run; lost
new     | rounds | clause | extends free § it stands before the block: 'environment
new     | rounds | decl   | param m > 1 § a condition follows 'where': 'param n where
new     | rounds | decl   | param m where m > n, § conditions are joined by 'and'
new     | rounds | decl   | param m = 3; § leave it out: statements and declarations
new     | rounds | decl   | param m := 3 § a default is given with '=': 'param n = 3'
new     | rounds | decl   | param m 3 § a default is given with '=': 'param n = 3'
new     | rounds | decl   | type Value = {0, 1} § a range of numbers is written '0..1';
new     | rounds | decl   | type Value = bool | none § names are listed in braces: {a, b}; 'T?' is
new     | rounds | decl   | type Value = {a, b,} § names stand in braces, with commas between
new     | rounds | decl   | type Value: {a, b} § a type says what its values are: 'type T =
new     | rounds | decl   | type Value = enum {a, b} § write '{a, b}'
new     | rounds | decl   | type Value = a | b § names are listed in braces: {a, b}; 'T?' is
new     | rounds | decl   | data Value = A | B § write 'type NAME = {a, b}', or for a record
new     | rounds | decl   | process Q[3]: { } § what it stores and does is in braces:
new     | rounds | decl   | PROCESS Q[3] { } § did you mean 'process'?
Python  | rounds | decl   | def f(x: int) { x + 1 } § write 'def NAME(FIELD: TYPE) = EXPRESSION'
Python  | rounds | decl   | def f(x: int) -> int = x § the type of the result follows a colon:
new     | rounds | decl   | algorithm B § a file holds one algorithm; put the other
new     | rounds | decl   | -- a comment § a comment starts with '//' and ends with
Erlang  | rounds | decl   | % a comment § a comment starts with '//' and ends with
Java    | rounds | decl   | public class Q { } § nothing is private: leave it out
Ivy     | rounds | decl   | object a § write 'process NAME[n] { ... }', or for
Ivy     | rounds | decl   | relation r(x: P) § a relation is a set or an array: in a
Ivy     | rounds | decl   | individual x: P § a variable of a process is 'var x: TYPE =
Ivy     | rounds | decl   | type node § a type says what its values are: 'type T =
Ivy     | rounds | decl   | export a § nothing is exported: leave it out
Ivy     | rounds | decl   | isolate a § there are no modules: a model is one file
Ivy     | rounds | decl   | after init { } § what a process does first is 'start { ...
new     | rounds | decl   | environment e2 synchronous § clauses are in braces: 'environment NAME {
new     | rounds | decl   | environment { synchronous } § an environment has a name: 'environment
new     | rounds | decl   | environment e2: synchronous § clauses are in braces: 'environment NAME {
new     | rounds | decl   | env e2 { synchronous } § write 'environment NAME { ... }'
new     | rounds | end    | safety: true § a property has a name: 'safety NAME:
new     | rounds | end    | safety t: always true § leave 'always' out: 'safety NAME: C' says
TLA+    | rounds | end    | live t: forall p in P: p.k == 1 leadsto p.k == 2 § write 'leads to', in a live property: 'live
new     | rounds | end    | live t: forall p in P: p.k == 1 leads-to p.k == 2 § write 'leads to'
new     | rounds | end    | live t: GF (exists p in P: p.k == 3) § write 'always eventually', in a live
new     | rounds | end    | live t: infinitely often exists p in P: p.k == 3 § write 'always eventually'
new     | rounds | end    | live t: next (exists p in P: p.k == 3) § there is no 'next'; in 'safety NAME: step
new     | rounds | end    | live t: A (forall p in P: p.k == 0) until true § properties are about all runs: leave it out
new     | rounds | end    | live t: true U true § write 'until', in a live property: 'live
new     | rounds | end    | reach t: true § write 'cover NAME: CONDITION'
new     | rounds | end    | reachable t: true § write 'cover NAME: CONDITION'
new     | rounds | end    | check t: true § write 'safety NAME: CONDITION', 'live NAME:
new     | rounds | end    | live almost sure t: eventually true § write 'live almost surely NAME: FORMULA'
new     | rounds | end    | safety t: forall p in P: p.k == old(p.k) § in 'safety NAME: step C' p.x is the value
Quint   | rounds | end    | safety t: step forall p in P: p.k <= next(p.k) § there is no 'next'; in 'safety NAME: step
new     | rounds | end    | safety t: deadlocked § in rounds the environment decides what
new     | rounds | end    | safety t: no deadlock § write 'not'; 'not exists x in S: C' says
new     | rounds | end    | safety t: forall p in P: pending(vote) == {} § in rounds the environment decides what
new     | rounds | end    | safety t: forall m in messages: true § messages in flight are 'pending(KIND)', in
new     | steps  | prop   | forall m in vote: m.v == 1 § its messages in flight are 'pending(vote)',
new     | steps  | prop   | forall m in pending: m.v == 1 § write 'pending(KIND)', with the name of a
new     | steps  | prop   | pending(vote) == {} § the number of messages is |...|, as in
new     | steps  | prop   | pending(vote) == 0 § the number of messages is |...|, as in
new     | steps  | prop   | forall m in pending(vot): m.v == 1 § did you mean 'vote'
new     | steps  | prop   | forall m in pending(vote): m == 1 § it has fields: compare one of them, as in
new     | steps  | prop   | forall m in pending(vote): from(m) == p § the sender of a message in flight is
new     | steps  | prop   | forall m in pending(vote): m.sender == p § write sender(m)
new     | steps  | prop   | forall m in pending(vote): m.from == p § write sender(m)
new     | steps  | prop   | forall m in sent(vote): m.v == 1 § messages in flight are 'pending(KIND)', in
new     | steps  | prop   | forall m in messages: m.v == 1 § messages in flight are 'pending(KIND)', in
Promela | steps  | prop   | exists m in channel(p, q): m == vote § messages in flight are 'pending(KIND)', in
new     | steps  | prop   | vote in msgs § its messages in flight are 'pending(vote)',
Promela | steps  | prop   | empty(channel) § write '|S| == 0'
new     | steps  | prop   | at p start § where a process is: 'at(p, STEP)'
new     | steps  | prop   | p at start § where a process is: 'at(p, STEP)'
new     | steps  | prop   | p.pc == start § where a process is: 'at(p, STEP)'
new     | steps  | prop   | p.lock § 'lock' is shared by all processes: write
new     | steps  | prop   | round == 1 § where a process is: 'at(p, STEP)'; a count
new     | steps  | prop   | deadlock § write 'deadlocked', where processes take
new     | steps  | prop   | not deadlock § write 'deadlocked', where processes take
new     | rounds | stmt   | if m in received { k := 2 } § exists m in
new     | steps  | member | message late(v: 1..3) § it stands outside
"""


@test
def habits_of_newcomers(rondo):
    faults = faults_of(rondo, CASES)
    must(not faults, "\n".join(faults))


@test
def files_that_are_not_plain_text(rondo):
    """Line ends, byte order marks and tabs of other systems are read; what is no text gets one error, with the reason."""
    text = "algorithm A\nprocess P[2] {\n  input x: 1..3\n  round { send x to all }\n}\nsafety s: forall p in P: p.x <= 3  // so\n"
    for name, data in [("bom", b"\xef\xbb\xbf" + text.encode()), ("crlf", text.replace("\n", "\r\n").encode()),
                       ("tabs", text.replace("  ", "\t").encode())]:
        path = rondo.folder / f"{name}.rondo"
        path.write_bytes(data)
        rondo("check", path, status=0)
    for name, data, code, wanted in [("utf16", text.encode("utf-16"), "E0101", "UTF-16"),
                                     ("zeros", b"algorithm A\x00\x00\x00", "E0101", "not text"),
                                     ("cr", b"algorithm A\r// hidden\rprocess P[2] {}\r", "E0102", "line feed"),
                                     ("space", text.replace("A\n", "A\u00a0\n", 1).encode(), "E0101", "plain space"),
                                     ("letter", text.replace("x", "\u00fc").encode(), "E0101", "ASCII"),
                                     ("empty", b"", "E0109", "algorithm NAME")]:
        path = rondo.folder / f"{name}.rondo"
        path.write_bytes(data)
        first = rondo.json("check", path, status=3)["diagnostics"][0]
        must(first["code"] == code and wanted in (first["help"] or ""), f"{name}: {first}")


@test
def warnings_of_newcomers(rondo):
    """What has a meaning, but not the one that is meant: 2 / 3 is 0, and a value without '?' is never none."""
    model = """algorithm A
param n = 3
process P[n] {
  input x: 1..3
  var many: bool = false
  round {
    send x to all
    update { many := |received| > 2 / 3 * n }
  }
}
safety s: forall p in P: p.x != none or p.many
"""
    answer = rondo.json("check", rondo.file("warned.rondo", model), status=0)
    codes = {d["code"] for d in answer["diagnostics"]}
    must({"W0110", "W0111"} <= codes, codes)
    exact = model.replace("2 / 3 * n", "4 / 2 * n").replace("p.x != none", "p.x > 0")
    answer = rondo.json("check", rondo.file("exact.rondo", exact), status=0)
    must(not {"W0110", "W0111"} & {d["code"] for d in answer["diagnostics"]}, answer["diagnostics"])
