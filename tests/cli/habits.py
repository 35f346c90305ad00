"""Mistakes that people make who know another language: the first error has the right help, and no error has a wrong one."""
import re

from harness import must, test

ROUNDS = """algorithm A
param n = 3
@decl
process P[n] {
  input x: 1..3
  var k: 0..3 = 0
  var seen: set of P = {}
  var log: seq of 1..3 up to 3 = []
  @member
  round {
    send x to all
    update {
      @stmt
      k := @expr0
    }
  }
}
environment e {
  @clause
}
safety s: forall p, q in P: @prop
@end
"""
STEPS = """algorithm A
param n = 3
message vote(v: 1..3), ack
@decl
shared lock: bool = false
process P[n] {
  input x: 1..3
  var k: 0..3 = 0
  @member
  start { send vote(x) to all }
  on vote(v) from q if v > 1 {
    @stmt
    k := v
    send ack to q
  }
  on ack { k := 1 }
}
environment e {
  @clause
}
safety s: forall p, q in P: @prop
@end
"""

# Language, kind of model, place, text, and what the help must say (after '§' if it has a bar).
CASES = """
TLA+    | rounds | prop   | p.k > 0 ~> p.k > 1                  | live NAME: A leads to B
TLA+    | rounds | prop   | [](p.k >= 0)                        | 'always'
TLA+    | rounds | prop   | <>(p.k >= 0)                        | 'eventually'
TLA+    | rounds | prop   | []<>(p.k >= 0)                      | 'always'
TLA+    | rounds | prop   | \\A r \\in P : r.k >= 0             | write 'forall'
TLA+    | rounds | prop   | \\E r \\in P : r.k >= 0             | write 'exists'
TLA+    | rounds | prop   | p.k >= 0 /\\ q.k >= 0               | write 'and'
TLA+    | rounds | prop   | p.k >= 0 \\/ q.k >= 0               | write 'or'
TLA+    | rounds | prop   | ~(p.k == 3)                         | write 'not'
TLA+    | rounds | prop   | p.k # q.k                           | write '!='
TLA+    | rounds | prop   | p.k /= q.k                          | write '!='
TLA+    | rounds | prop   | p.k =< q.k                          | write '<='
TLA+    | rounds | prop   | p.k <=> q.k                         | write '=='
TLA+    | rounds | prop   | p.k > 1 -> q.k > 1                  | write '=>'
TLA+    | rounds | prop   | p.seen \\subseteq q.seen            | write 'forall x in A: x in B'
TLA+    | rounds | prop   | p.seen \\cup q.seen == {}           § write '|'
TLA+    | rounds | prop   | p.seen \\cap q.seen == {}           | write '&'
TLA+    | rounds | prop   | p \\notin q.seen                    | write 'not in'
TLA+    | rounds | prop   | p.k' = p.k + 1                      | write '=='
TLA+    | rounds | prop   | Cardinality(p.seen) >= 0            § write |S|
TLA+    | rounds | prop   | Len(p.log) >= 0                     § write |s|
TLA+    | rounds | prop   | p.log[1] == 1                       | first(s)
TLA+    | rounds | prop   | ENABLED a                           | no 'ENABLED'
TLA+    | rounds | prop   | TRUE                                | 'true'
TLA+    | rounds | prop   | {r \\in P : r.k > 0} == {}          | write 'in'
TLA+    | rounds | prop   | {r in P: r.k > 0} == {}             | {x for x in S if C}
TLA+    | rounds | prop   | <<1, 2>> == p.log                   | written '[' and ']'
TLA+    | rounds | stmt   | x' = 2                              | 'x := VALUE'
TLA+    | rounds | stmt   | UNCHANGED k                         | what is not assigned keeps its value
TLA+    | rounds | decl   | CONSTANT N                          | param N
TLA+    | rounds | decl   | CONSTANTS N, M                      | param N
TLA+    | rounds | decl   | VARIABLE y                          | var x: TYPE
TLA+    | rounds | decl   | EXTENDS Naturals                    | no modules
TLA+    | rounds | decl   | ASSUME n > 1                        | where
TLA+    | rounds | end    | THEOREM s                           | safety NAME
TLA+    | rounds | end    | Spec == Init                        | def NAME = EXPRESSION
TLA+    | rounds | decl   | \\* a comment                       | a comment starts with '//'
TLA+    | rounds | decl   | (* a comment *)                     | a comment starts with '//'
TLA+    | rounds | decl   | ---- MODULE A ----                  | algorithm NAME
PlusCal | steps  | stmt   | either { k := 1 } or { k := 2 }     | step NAME
PlusCal | steps  | stmt   | await k == 1                        | when CONDITION
PlusCal | steps  | stmt   | skip                                | empty
PlusCal | steps  | stmt   | with (i \\in 1..3) { k := i }       | pick(S)
PlusCal | steps  | stmt   | k := 1;                             | need no semicolon
PlusCal | steps  | stmt   | while (k < 3) { k := k + 1 }        | 'foreach
PlusCal | steps  | stmt   | if (k == 1) then k := 2             | if CONDITION { ... }
PlusCal | steps  | stmt   | assert k == 1                       | safety NAME
PlusCal | steps  | stmt   | call f(1)                           | def
PlusCal | steps  | stmt   | k := self                           | 'me'
PlusCal | steps  | decl   | variables y = 1                     | shared NAME: TYPE
PlusCal | steps  | decl   | macro f(a) { k := a }               | def NAME
PlusCal | steps  | decl   | procedure f(a) { k := a }           | def NAME
PlusCal | steps  | member | variables y = 1                     | var NAME: TYPE
PlusCal | steps  | decl   | fair process Q = 1 { }              | process NAME[n]
Promela | steps  | stmt   | c!1                                 | send MESSAGE to
Promela | steps  | stmt   | c?v                                 | on MESSAGE
Promela | steps  | stmt   | printf("x")                         | nothing is printed
Promela | steps  | stmt   | do :: k := 1 od                     | 'step NAME
Promela | steps  | stmt   | if :: k == 1 -> k := 2 fi           | if CONDITION { ... }
Promela | steps  | stmt   | atomic { k := 1 }                   | one step
Promela | steps  | stmt   | d_step { k := 1 }                   | one step
Promela | steps  | stmt   | run Q()                             | process NAME[n]
Promela | steps  | stmt   | int y = 0                           | let NAME = VALUE
Promela | steps  | stmt   | byte y                              | let NAME = VALUE
Promela | steps  | decl   | proctype Q() { }                    | process NAME[n]
Promela | steps  | decl   | active proctype Q() { }             | process NAME[n]
Promela | steps  | decl   | chan c = [1] of { byte }            | message NAME
Promela | steps  | decl   | mtype = { a, b }                    | message NAME
Promela | steps  | decl   | ltl f { [] true }                   | live NAME
Promela | steps  | decl   | byte y = 0                          | shared NAME: TYPE
Promela | steps  | decl   | init { }                            | start { ... }
Promela | steps  | decl   | inline f(a) { }                     | def NAME
Promela | steps  | decl   | #define N 3                         | param NAME
Promela | steps  | decl   | never { }                           | live NAME
Python  | rounds | expr0  | k % 2                               | write 'mod'
Python  | rounds | expr0  | len(log)                            § write |s|
Python  | rounds | expr0  | k ** 2                              | no power
Python  | rounds | prop   | True                                | 'true'
Python  | rounds | prop   | p.k is q.k                          | write '=='
Python  | rounds | prop   | all(r.k > 0 for r in P)             | forall x in S: C
Python  | rounds | prop   | any(r.k > 0 for r in P)             | exists x in S: C
Python  | rounds | prop   | p.k == None                         | 'none'
Python  | rounds | stmt   | k += 1                              | write 'k := k + 1'
Python  | rounds | stmt   | pass                                | empty
Python  | rounds | stmt   | elif k == 1 { k := 2 }              | else if
Python  | rounds | stmt   | for i in range(3) { k := i }        | foreach
Python  | rounds | stmt   | return k                            | 'halt'
Python  | rounds | stmt   | print(k)                            | nothing is printed
Python  | rounds | stmt   | k = 1                               | an assignment is written ':='
Python  | rounds | decl   | def f(x):                           | each field has a type
Python  | rounds | decl   | import math                         | no modules
Python  | rounds | decl   | class Q:                            | process NAME[n]
Python  | rounds | decl   | # a comment                         | a comment starts with '//'
Python  | rounds | expr0  | 1 if k == 1 else 2                  | if C then A else B
Python  | rounds | expr0  | seen[0]                             | a set has no order
C       | rounds | prop   | p.k > 0 && q.k > 0                  | write 'and'
C       | rounds | prop   | p.k > 0 || q.k > 0                  | write 'or'
C       | rounds | prop   | !(p.k == 3)                         | write 'not'
C       | rounds | expr0  | k == 1 ? 2 : 3                      | if C then A else B
C       | rounds | stmt   | k++                                 | write 'k := k + 1'
C       | rounds | stmt   | int i = 0;                          | let NAME = VALUE
C       | rounds | stmt   | break                               | no 'break'
C       | rounds | stmt   | switch (k) { }                      | if CONDITION { ... } else if
C       | rounds | stmt   | var y: 0..3 = 0                     | let NAME = VALUE
C       | rounds | decl   | /* a comment */                     | a comment starts with '//'
C       | rounds | decl   | #include <stdio.h>                  | no modules
C       | rounds | decl   | const N = 3                         | def NAME = EXPRESSION
C       | rounds | decl   | enum colour { red, green }          | type NAME = {a, b}
C       | rounds | decl   | struct pair { int a; }              | type NAME = (a: T, b: U)
C       | rounds | decl   | typedef int pair                    | type NAME = TYPE
C       | rounds | prop   | p.x == null                         | 'none'
C       | rounds | prop   | p.x == "one"                        | no strings
Go      | steps  | stmt   | c <- 1                              | send MESSAGE to
Go      | steps  | stmt   | k = <-c                             | ':='
Go      | steps  | stmt   | select { }                          | step NAME
Go      | steps  | decl   | func f(a int) int { return a }      | def NAME
Go      | steps  | stmt   | go f()                              | process NAME[n]
Quint   | steps  | decl   | invariant i: 1 < 2                  | safety NAME
Quint   | steps  | decl   | temporal t = 1 < 2                  | live NAME
Quint   | steps  | decl   | action a = 1                        | step NAME
Quint   | steps  | decl   | val a = 1                           | def NAME = EXPRESSION
Quint   | steps  | decl   | pure def f(a: int): int = a         | def NAME
Quint   | steps  | decl   | module A { }                        | algorithm NAME
Quint   | rounds | prop   | p.k iff q.k                         | write '=='
Quint   | rounds | prop   | p.k > 1 implies q.k > 1             | write '=>'
Quint   | rounds | decl   | property a: 1 < 2                   | safety NAME
Quint   | rounds | decl   | specification a                     | algorithm NAME
rondo   | rounds | prop   | P[0].k == 0                         | P(1)
rondo   | rounds | prop   | P.k == 0                            | forall p in P: p.k
rondo   | rounds | expr0  | received[me]                        | m in received
rondo   | rounds | stmt   | send x to all                       | all messages are sent first
rondo   | rounds | member | var y: [P] bool = false             | [p in P: 
rondo   | steps  | member | on 2 of vote { k := 1 }             | on Q: SIZE of MESSAGE
rondo   | steps  | member | on received vote { k := 1 }         | on MESSAGE
rondo   | steps  | member | when vote { k := 1 }                | 'on vote'
rondo   | steps  | member | y: 0..3 = 0                         | var NAME: TYPE
rondo   | steps  | clause | at most 1 crashes                   | processes
rondo   | steps  | clause | reliable                            | no message is lost unless a clause says so
"""


def cases(text):
    for line in text.strip().splitlines():
        language, kind, place, rest = line.split("|", 3)
        wrong, _, wanted = rest.rpartition("§" if "§" in rest else "|")
        yield language.strip(), kind.strip(), place.strip(), wrong.strip(), wanted.strip()


def model(kind, place, wrong):
    text = ROUNDS if kind == "rounds" else STEPS
    text = text.replace("@" + place, wrong)
    return re.sub(r"@\w+", lambda hole: {"@prop": "p.k + q.k >= 0", "@expr0": "1"}.get(hole.group(0), ""), text)


def faults_of(rondo, text):
    """What has no help, or another one."""
    faults = []
    for language, kind, place, wrong, wanted in cases(text):
        answer = rondo.json("check", rondo.file("habit.rondo", model(kind, place, wrong)), status=3)
        first = next(d for d in answer["diagnostics"] if d["severity"] == "error")
        if wanted not in (first["help"] or ""):
            faults.append(f"{language}: {wrong}: '{first['message']}' has the help '{first['help']}', not '{wanted}'")
    return faults


@test
def habits_of_other_languages(rondo):
    faults = faults_of(rondo, CASES)
    must(not faults, "\n".join(faults))
