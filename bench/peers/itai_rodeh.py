"""bench/models/itai_rodeh_bounded.rondo in the languages of Spin and Murphi: the same atomic steps, and one state for one state. Spin
has one more, before the names are chosen.

A channel is a sorted row of messages, of which any can be taken: a bag, in one way only. It holds n of them; more would be an error."""
import itertools


def sizes(n, k):
    """A message is 1 + clean + 2 * (hop - 1) + per_id * (id - 1) + per_round * (round - 1); 0 is none."""
    return 2 * n, 2 * n * k


def promela(n, k, rounds):
    per_id, per_round = sizes(n, k)
    choose = "\n".join(f"    if {' '.join(f':: id[{i}] = {v}' for v in range(1, k + 1))} fi;" for i in range(n))
    out = [f"""/* Itai and Rodeh's election, {rounds} rounds at most: {n} processes on a ring, {k} names. A message is
   1 + clean + 2 * (hop - 1) + {per_id} * (id - 1) + {per_round} * round; 0 is none. Rounds are counted from 0. */
byte r[{n}], id[{n}];
byte pc[{n}];                        /* start, active, passive, leader, halted */
byte row[{n * n}];                       /* what is pending at a process: the largest first */
hidden byte m, last, held;

inline put(at) {{                    /* the message m, where it belongs */
  last = at + {n - 1};
  assert(row[last] == 0);
  do
  :: last > at && row[last - 1] < m -> row[last] = row[last - 1]; last--
  :: else -> break
  od;
  row[last] = m
}}

active proctype steps() {{
  atomic {{
{choose}
  }}
end:
  do"""]
    for i in range(n):
        onward = (i + 1) % n * n
        out.append(f"  :: d_step {{ pc[{i}] == 0 -> pc[{i}] = 1; m = 2 + {per_id} * (id[{i}] - 1); put({onward}) }}")
        for s in range(n):
            there, end = i * n + s, i * n + n - 1
            guard = f"row[{there}]" + (f" && row[{there}] != row[{there - 1}]" if s else "")
            home = f"(row[{there}] - 1) % {per_id} == {2 * (n - 1)}"           # been round the ring, not clean
            again = f"pc[{i}] == 1 && r[{i}] < {rounds - 1} && {home}"
            shift = " ".join(f"row[{j}] = row[{j + 1}];" for j in range(there, end)) + f" row[{end}] = 0;"
            one = " && ".join(f"pc[{j}] != 3" for j in range(n) if j != i)
            for v in range(1, k + 1):
                out.append(f"  :: d_step {{ {guard} && {again} -> {shift} r[{i}] = r[{i}] + 1; id[{i}] = {v};"
                           f" m = {2 + per_id * (v - 1)} + {per_round} * r[{i}]; put({onward}) }}")
            out.append(f"""  :: d_step {{ {guard} && pc[{i}] != 0 && pc[{i}] != 4 && !({again}) -> m = row[{there}]; {shift}
     if
     :: pc[{i}] == 1 ->
        held = (m - 1) / {per_id};          /* round and name */
        if
        :: (m - 1) % {per_id} == {2 * n - 1} -> pc[{i}] = 3; assert({one})
        :: (m - 1) % {per_id} == {2 * n - 2} -> pc[{i}] = 4
        :: else ->
           if
           :: held == {k} * r[{i}] + id[{i}] - 1 -> m = m + 2; if :: m % 2 == 0 -> m-- :: else fi; put({onward})
           :: held > {k} * r[{i}] + id[{i}] - 1 -> m = m + 2; pc[{i}] = 2; put({onward})
           :: else
           fi
        fi
     :: pc[{i}] == 2 -> if :: (m - 1) % {per_id} < {2 * n - 2} -> m = m + 2; put({onward}) :: else fi
     :: else
     fi }}""")
    return "\n".join([*out, "  od\n}\n"])


def murphi(n, k, rounds):
    per_id, per_round = sizes(n, k)
    names = [f"v{i}" for i in range(n)]
    binders = "; ".join(f"{v}: Name" for v in names)
    choose = " ".join(f"id[{i}] := {v};" for i, v in enumerate(names))
    again = f"pc[p] = 1 & r[p] < {rounds - 1} & (row[p][s] - 1) % {per_id} = {2 * n - 2}"
    there = "row[p][s] != 0 & (s = 0 | row[p][s] != row[p][s - 1])"
    begin = f"""  ruleset v: Name do
    rule "again" {there} & {again} ==> begin
      drop(p, s);
      r[p] := r[p] + 1;
      id[p] := v;
      insert((p + 1) % {n}, 2 + {per_id} * (v - 1) + {per_round} * r[p]);
    end;
  end;
""" if rounds > 1 else ""
    return f"""-- Itai and Rodeh's election, {rounds} rounds at most: {n} processes on a ring, {k} names. A message is
-- 1 + clean + 2 * (hop - 1) + {per_id} * (id - 1) + {per_round} * round; 0 is none. Rounds are counted from 0.
type
  Process: 0 .. {n - 1};
  Slot: 0 .. {n - 1};
  Name: 1 .. {k};
  Token: 0 .. {per_round * rounds};
var
  r: array [Process] of 0 .. {rounds - 1};
  id: array [Process] of Name;
  pc: array [Process] of 0 .. 4;        -- start, active, passive, leader, halted
  row: array [Process] of array [Slot] of Token;     -- what is pending at a process: the largest first

procedure insert(p: Process; m: Token);
var last: Slot;
begin
  assert "room" row[p][{n - 1}] = 0;
  last := {n - 1};
  while last > 0 & row[p][last - 1] < m do
    row[p][last] := row[p][last - 1];
    last := last - 1;
  end;
  row[p][last] := m;
end;

procedure drop(p: Process; s: Slot);
begin
  for t: Slot do
    if t >= s & t < {n - 1} then row[p][t] := row[p][t + 1]; end;
  end;
  row[p][{n - 1}] := 0;
end;

ruleset {binders} do
  startstate begin
    for p: Process do
      r[p] := 0; pc[p] := 0;
      for s: Slot do row[p][s] := 0; end;
    end;
    {choose}
  end;
end;

ruleset p: Process do
  rule "start" pc[p] = 0 ==> begin
    pc[p] := 1;
    insert((p + 1) % {n}, 2 + {per_id} * (id[p] - 1));
  end;
end;

ruleset p: Process; s: Slot do
{begin}  rule "take" {there} & pc[p] != 0 & pc[p] != 4
      & !({again}) ==>
  var m: Token;
    held: Token;
  begin
    m := row[p][s];
    drop(p, s);
    if pc[p] = 1 then
      held := (m - 1) / {per_id};           -- round and name
      if (m - 1) % {per_id} = {2 * n - 1} then
        pc[p] := 3;
        for q: Process do assert "one_leader" q = p | pc[q] != 3; end;
      elsif (m - 1) % {per_id} = {2 * n - 2} then
        pc[p] := 4;
      elsif held = {k} * r[p] + id[p] - 1 then
        m := m + 2;
        if m % 2 = 0 then m := m - 1; end;
        insert((p + 1) % {n}, m);
      elsif held > {k} * r[p] + id[p] - 1 then
        pc[p] := 2;
        insert((p + 1) % {n}, m + 2);
      end;
    elsif pc[p] = 2 then
      if (m - 1) % {per_id} < {2 * n - 2} then insert((p + 1) % {n}, m + 2); end;
    end;
  end;
end;
"""
