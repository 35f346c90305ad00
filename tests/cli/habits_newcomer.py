"""More mistakes of people who know another language: those of a second look, many of which had a wrong hint or none. Format: see habits.py."""
from habits import faults_of
from harness import must, test

CASES = r"""
TLA+    | rounds | prop   | \A r, s \in P: r.k = s.k           | write 'forall'
TLA+    | rounds | prop   | p.k \in 0..3                       | write 'in'
TLA+    | rounds | prop   | WF_vars(Next)                      | environment NAME { fair }
TLA+    | rounds | clause | WF_vars(Next)                      | environment NAME { fair }
TLA+    | rounds | prop   | SUBSET p.seen == {}                | subsets(A)
TLA+    | rounds | prop   | p.seen \ q.seen == {}              | write '-'
TLA+    | rounds | prop   | p.k ^ 2 == 0                       | no power
TLA+    | rounds | prop   | IF p.k > 0 THEN TRUE ELSE FALSE    | if C then A else B
TLA+    | rounds | stmt   | x := x EXCEPT ![1] = 2             | 'a[i] := VALUE'
TLA+    | rounds | stmt   | /\ k = 1                           | statements need nothing between them
PlusCal | steps  | stmt   | lbl: k := 1                        | 'step NAME { ... }'
PlusCal | steps  | stmt   | print k                            | nothing is printed
PlusCal | steps  | stmt   | if k = 1 { k := 2 }                | write '=='
PlusCal | steps  | decl   | define { a == 1 }                  | def NAME
PlusCal | steps  | decl   | begin                              | process NAME[n]
PlusCal | steps  | decl   | process (Q = 1) { }                | process P[n]
PlusCal | steps  | decl   | end algorithm                      | with its file
PlusCal | steps  | decl   | --algorithm B                      | algorithm NAME
Promela | steps  | stmt   | timeout -> k := 1                  | no clock
Promela | steps  | stmt   | k == 1                             | when CONDITION
Promela | steps  | stmt   | k -> k := 1                        | when CONDITION
Promela | steps  | stmt   | len(c) > 0                         | no procedures
Promela | steps  | stmt   | select (k : 1..3)                  | pick(S)
Promela | steps  | stmt   | k := _pid                          | number(me)
Promela | steps  | decl   | bool flag[2]                       | shared NAME
Promela | steps  | decl   | active [3] proctype Q() { }        | process NAME[n]
Python  | rounds | prop   | p.k != q.k or not p.k              | compare it
Python  | rounds | prop   | p.k // 2 == 0                      | compare it
Python  | rounds | prop   | [r.k for r in P] == []             | [p in P: VALUE]
Python  | rounds | prop   | {r: 0 for r in P} == {}            | [p in P: VALUE]
Python  | rounds | prop   | isinstance(p, P)                   | leave it out
Python  | rounds | prop   | p.log[-1] == 1                     | last(s)
Python  | rounds | stmt   | seen.add(me)                       § x := x | {e}
Python  | rounds | stmt   | log.append(1)                      § x ++ [e]
Python  | rounds | stmt   | k -= 1                             | write 'k := k - 1'
Python  | rounds | stmt   | k *= 2                             | write 'k := k * 2'
Python  | rounds | stmt   | if k == 1: k := 2                  | a block is in braces
Python  | rounds | stmt   | k, x = 1, 2                        | one assignment for each variable
Python  | rounds | stmt   | del k                              | leave it out
Python  | rounds | stmt   | raise Error                        | no exceptions
Python  | rounds | stmt   | try { k := 1 }                     | no exceptions
Python  | rounds | stmt   | global k                           | leave it out
Python  | rounds | stmt   | k := random.choice([1, 2])         | pick(S)
Python  | rounds | decl   | from math import sqrt              | no modules
C       | rounds | prop   | p->k == 0                          | 'p.x'
C       | rounds | prop   | p.k << 1 == 0                      | cannot be shifted
C       | rounds | prop   | p.k & 1 == 0                       | no bits
C       | rounds | prop   | p.k == 'a'                         | no strings or characters
C       | rounds | prop   | p.k == 1.5                         | numbers are whole
C       | rounds | prop   | p.k == 0x1F                        | numbers are decimal
C       | rounds | stmt   | if (k == 1) k := 2                 | a block is in braces
C       | rounds | stmt   | ++k                                | x := x + 1
C       | rounds | stmt   | { k := 1 }                         | 'foreach'
C       | rounds | stmt   | goto done                          | 'halt'
C       | rounds | decl   | int f(int a) { return a; }         | def NAME(FIELD
C       | rounds | decl   | void main() { }                    | process NAME[n]
new     | steps  | stmt   | foreach r in {q} { send ack to r }  | send MESSAGE to SET
new     | steps  | stmt   | send vote(x) to q, q               | send MESSAGE to {p, q}
new     | steps  | stmt   | send ack to everyone               | write 'all'
new     | steps  | stmt   | send ack to sender                 | from q
new     | steps  | stmt   | send ack to previous               | graph S
new     | steps  | stmt   | set k = 1                          | 'x := VALUE'
new     | steps  | stmt   | decide k                           | a statement is
new     | steps  | stmt   | sleep 3                            | no clock
new     | steps  | stmt   | crash                              | faults belong to an environment
new     | steps  | member | on timeout { k := 1 }              | no clock
new     | steps  | member | on majority of vote { k := 1 }     | SIZE of MESSAGE
new     | steps  | member | def f() { k := 1 }                 | no parentheses
new     | steps  | clause | asynchronous                       | leave it out
new     | steps  | clause | fifo                               | channels fifo
new     | steps  | clause | weak fairness                      | write 'fair'
new     | steps  | clause | messages may be lost               | any messages are lost
new     | steps  | clause | crash 1                            | at most f processes crash
new     | steps  | clause | at most 1 crash and recover        | say who, as in
new     | steps  | clause | at most 1 omit to send             | say who, as in
new     | steps  | prop   | p.votes == 3                       | there are 'x', 'k'
new     | steps  | prop   | eventually p.k == 1                | live NAME
"""


@test
def habits_of_a_second_look(rondo):
    faults = faults_of(rondo, CASES)
    must(not faults, "\n".join(faults))
