"""models/papers/floodset_messages.rondo in the languages of Spin and Murphi: the same atomic steps, and one state for one state. Spin
has one more, before the proposals are chosen, and who may crash.

Sets are bit masks. Those to whom a process has still to send are the last ones: their first is enough. What is pending from one process
to another is a number with two bits for each possible message, which count it."""
import itertools

BITS = 2        # so many equal messages at most are pending: one a round


def masks(k):
    return range(1, 1 << k)


def weight(mask):
    return 1 << BITS * (mask - 1)


def lowest(mask):
    return (mask & -mask).bit_length()


def doomed_sets(n, f):
    return [sum(1 << i for i in chosen) for chosen in itertools.combinations(range(n), f)]


def limits(n, f, k):
    rounds = f + 1
    assert rounds < 1 << BITS and n <= 8
    return rounds, (1 << n) - 1


def promela(n, f, k):
    rounds, everybody = limits(n, f, k)
    size = "byte" if BITS * ((1 << k) - 1) <= 8 else "short" if BITS * ((1 << k) - 1) < 16 else "int"
    choose = "\n".join(f"    if {' '.join(f':: x[{i}] = {v}; seen[{i}] = {1 << (v - 1)}' for v in range(1, k + 1))} fi;" for i in range(n))
    out = [f"""/* FloodSet, messages one by one: {n} processes, {f} may crash, {k} values; 0 is none. Sets are bit masks. */
byte doomed, crashed, ready;
byte clock = 1;
byte absent[{n}];
byte x[{n}], seen[{n}], next[{n}], mine[{n}], decided[{n}];   /* next: to whom it sends next; {n}: to nobody */
byte pc[{n}];                                   /* spread, gather, wait, decide, end, crashed */
{size} pending[{n * n}];                             /* at a process, by sender */

active proctype steps() {{
  atomic {{
{choose}
    if {' '.join(f':: doomed = {mask}' for mask in doomed_sets(n, f))} fi;
    {' '.join(f'mine[{i}] = 1;' for i in range(n))}
  }}
end:
  do"""]
    for i in range(n):
        bit = 1 << i
        for q in range(n):
            done = f"pc[{i}] = 1;" if q == n - 1 else ""
            out.append(f"  :: d_step {{ pc[{i}] == 0 && next[{i}] == {q} -> pending[{q * n + i}] = pending[{q * n + i}]"
                       f" + (1 << ({BITS} * (seen[{i}] - 1))); next[{i}] = {q + 1}; {done} }}")
        miss = " ".join(f"if :: next[{i}] <= {q} -> absent[{q}] = absent[{q}] | {bit} :: else fi;" for q in range(n))
        out.append(f"  :: d_step {{ pc[{i}] == 0 && (doomed & {bit}) -> crashed = crashed | {bit}; {miss} pc[{i}] = 5 }}")
        there = " && ".join(f"(pending[{i * n + p}] || (absent[{i}] & {1 << p}))" for p in range(n))
        take = []
        for p in range(n):
            at = f"pending[{i * n + p}]"
            cases = " ".join(f":: {at} == {weight(mask)} -> seen[{i}] = seen[{i}] | {mask}" for mask in masks(k))
            take.append(f"if {cases} :: else fi; {at} = 0;")
        out.append(f"  :: d_step {{ pc[{i}] == 1 && {there} -> {' '.join(take)} ready = ready | {bit}; pc[{i}] = 2 }}")
        out.append(f"  :: d_step {{ pc[{i}] == 2 && clock > mine[{i}] -> mine[{i}] = clock; next[{i}] = 0;"
                   f" pc[{i}] = (clock <= {rounds} -> 0 : 3) }}")
        cases = " ".join(f":: seen[{i}] == {mask} -> decided[{i}] = {lowest(mask)}" for mask in masks(k))
        agree = " && ".join(f"(!decided[{j}] || decided[{j}] == decided[{i}])" for j in range(n) if j != i) or "true"
        out.append(f"  :: d_step {{ pc[{i}] == 3 -> if {cases} fi; pc[{i}] = 4; assert({agree}) }}")
    reset = " ".join(f"absent[{i}] = crashed;" for i in range(n))
    out.append(f"  :: d_step {{ ready && (ready | crashed) == {everybody} -> ready = 0; {reset} clock = clock + 1 }}")
    return "\n".join([*out, "  od\n}\n"])


def murphi(n, f, k):
    rounds, _ = limits(n, f, k)
    names = [f"v{i}" for i in range(1, n + 1)]
    sets = doomed_sets(n, f)            # a ruleset goes through all values of its parameters: sets of the right size, by number
    binders = "; ".join([f"{v}: Value" for v in names] + [f"who: 0 .. {len(sets) - 1}"])
    cases = "\n".join(f"    if who = {at} then {' '.join(f'doomed[{i + 1}] := true;' for i in range(n) if mask >> i & 1)} end;"
                      for at, mask in enumerate(sets) if mask)
    choose = "\n    ".join(f"x[{i}] := {v}; seen[{i}][{v}] := true;" for i, v in enumerate(names, 1))
    code = " + ".join(f"(seen[p][{v}] ? {1 << (v - 1)} : 0)" for v in range(1, k + 1))
    holds = "\n".join(f"        if s % {1 << v} >= {1 << (v - 1)} then seen[p][{v}] := true; end;" for v in range(1, k + 1))
    return f"""-- FloodSet, messages one by one: {n} processes, {f} may crash, {k} values; 0 is none.
type
  Process: 1 .. {n};
  Value: 1 .. {k};
  Maybe: 0 .. {k};
  Subset: 1 .. {(1 << k) - 1};          -- of values, as a bit mask
  Set: array [Process] of boolean;
var
  doomed, crashed, ready: Set;
  clock: 1 .. {rounds + 1};
  absent: array [Process] of Set;
  x: array [Process] of Value;
  seen: array [Process] of array [Value] of boolean;
  next: array [Process] of 1 .. {n + 1};  -- to whom it sends next
  mine: array [Process] of 1 .. {rounds + 1};
  decided: array [Process] of Maybe;
  pc: array [Process] of 0 .. 5;        -- spread, gather, wait, decide, end, crashed
  pending: array [Process] of array [Process] of array [Subset] of 0 .. {rounds};     -- at a process, by sender

ruleset {binders} do
  startstate begin
    clock := 1;
    for p: Process do
      doomed[p] := false; crashed[p] := false; ready[p] := false;
      next[p] := 1; mine[p] := 1; decided[p] := 0; pc[p] := 0;
      for v: Value do seen[p][v] := false; end;
      for q: Process do
        absent[p][q] := false;
        for s: Subset do pending[p][q][s] := 0; end;
      end;
    end;
{cases}
    {choose}
  end;
end;

ruleset p: Process do
  rule "send" pc[p] = 0 ==>
  var s: Subset;
  begin
    s := {code};
    pending[next[p]][p][s] := pending[next[p]][p][s] + 1;
    next[p] := next[p] + 1;
    if next[p] = {n + 1} then pc[p] := 1; end;
  end;
  rule "crash" pc[p] = 0 & doomed[p] ==> begin
    crashed[p] := true;
    for q: Process do
      if next[p] <= q then absent[q][p] := true; end;
    end;
    pc[p] := 5;
  end;
  rule "gather" pc[p] = 1 & forall q: Process do absent[p][q] | exists s: Subset do pending[p][q][s] > 0 end end ==> begin
    for q: Process do
      for s: Subset do
        if pending[p][q][s] > 0 then
{holds}
        pending[p][q][s] := 0;
        end;
      end;
    end;
    ready[p] := true;
    pc[p] := 2;
  end;
  rule "wait" pc[p] = 2 & clock > mine[p] ==> begin
    mine[p] := clock;
    next[p] := 1;
    if clock <= {rounds} then pc[p] := 0; else pc[p] := 3; end;
  end;
  rule "decide" pc[p] = 3 ==> begin
    for v: Value do
      if decided[p] = 0 & seen[p][v] then decided[p] := v; end;
    end;
    pc[p] := 4;
    for q: Process do
      assert "agreement" decided[q] = 0 | decided[q] = decided[p];
    end;
  end;
end;

rule "tick" exists p: Process do ready[p] end & forall p: Process do ready[p] | crashed[p] end ==> begin
  for p: Process do
    ready[p] := false;
    for q: Process do absent[p][q] := crashed[q]; end;
  end;
  clock := clock + 1;
end;
"""
