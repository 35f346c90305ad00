"""models/paxos.rondo, with one learner, in the languages of Spin and Murphi: the same processes, messages and atomic
steps under the semantics M, and one state for one state."""
import itertools


def majority(acceptors):
    return acceptors // 2 + 1


def quorums(acceptors):
    return list(itertools.combinations(range(acceptors), majority(acceptors)))


def promela(leaders, acceptors):
    """One process whose options are the steps: nothing but the variables makes a state."""
    out = [f"""/* Paxos: {leaders} leaders, {acceptors} acceptors, one learner. Leader l (from 0) has ballot l + 1; 0 is none.
   A value v + 1 is the proposal of leader v; 0 is none. */
#define L {leaders}
#define A {acceptors}
byte pc[L];                          /* ask, propose, end */
bit prepare[L * A];                  /* pending at an acceptor, by leader */
bit promise[L * A];                  /* pending at a leader, by acceptor; with its last ballot and value */
byte promise_last[L * A], promise_value[L * A];
byte accept[L * A];                  /* the value, 0: nothing pending */
byte promised[A], last[A], value[A];
byte accepted[L * A];                /* pending at the learner, by ballot and acceptor: the value, 0: none */
byte chosen;                         /* a bit for each value */
hidden byte newest, found;

active proctype steps() {{
end:
  do"""]
    for l in range(leaders):
        sends = " ".join(f"prepare[{l * acceptors + a}] = 1;" for a in range(acceptors))
        out.append(f"  :: d_step {{ pc[{l}] == 0 -> pc[{l}] = 1; {sends} }}")
        for q in quorums(acceptors):
            at = [l * acceptors + a for a in q]
            guard = " && ".join(f"promise[{i}]" for i in at)
            body = ["newest = 0; found = 0;"]
            for i in at:
                body.append(f"if :: promise_last[{i}] > newest -> newest = promise_last[{i}]; found = promise_value[{i}] :: else fi;")
                body.append(f"promise[{i}] = 0; promise_last[{i}] = 0; promise_value[{i}] = 0;")
            body.append(f"if :: found == 0 -> found = {l + 1} :: else fi; pc[{l}] = 2;")
            body += [f"accept[{l * acceptors + a}] = found;" for a in range(acceptors)]
            body.append("newest = 0; found = 0")
            out.append(f"  :: d_step {{ pc[{l}] == 1 && {guard} -> {' '.join(body)} }}")
    for l, a in itertools.product(range(leaders), range(acceptors)):
        i, b = l * acceptors + a, l + 1
        out.append(f"  :: d_step {{ prepare[{i}] && {b} > promised[{a}] -> prepare[{i}] = 0; promised[{a}] = {b};"
                   f" promise[{i}] = 1; promise_last[{i}] = last[{a}]; promise_value[{i}] = value[{a}] }}")
        out.append(f"  :: d_step {{ accept[{i}] && {b} >= promised[{a}] -> promised[{a}] = {b}; last[{a}] = {b};"
                   f" value[{a}] = accept[{i}]; accepted[{i}] = accept[{i}]; accept[{i}] = 0 }}")
    for l in range(leaders):
        for q in quorums(acceptors):
            at = [l * acceptors + a for a in q]
            guard = " && ".join([f"accepted[{at[0]}] != 0"] + [f"accepted[{i}] == accepted[{at[0]}]" for i in at[1:]])
            clear = " ".join(f"accepted[{i}] = 0;" for i in at)
            out.append(f"  :: d_step {{ {guard} -> chosen = chosen | (1 << (accepted[{at[0]}] - 1)); {clear}"
                       " assert((chosen & (chosen - 1)) == 0) }")
    out.append("  od\n}\n")
    return "\n".join(out)


def murphi(leaders, acceptors, symmetric):
    """Acceptors are a scalarset if symmetric, so that Murphi's own symmetry reduction applies."""
    acceptor = f"scalarset({acceptors})" if symmetric else f"1 .. {acceptors}"
    many = majority(acceptors)
    names = [f"a{i}" for i in range(1, many + 1)]
    differ = [f"{x} {'!=' if symmetric else '<'} {y}"
              for i, x in enumerate(names) for y in (names[i + 1:] if symmetric else names[i + 1:i + 2])]
    binders = "; ".join(f"{x}: Acceptor" for x in names)
    newest = "\n".join(f"""    if promise_last[l][{x}] > newest then newest := promise_last[l][{x}]; found := promise_value[l][{x}]; end;
    promise[l][{x}] := false; promise_last[l][{x}] := 0; promise_value[l][{x}] := 0;""" for x in names)
    ready = " & ".join([f"promise[l][{x}]" for x in names] + differ)
    agreed = " & ".join(["accepted[l][a1] != 0"] + [f"accepted[l][{x}] = accepted[l][a1]" for x in names[1:]] + differ)
    clear = " ".join(f"accepted[l][{x}] := 0;" for x in names)
    return f"""-- Paxos: {leaders} leaders, {acceptors} acceptors, one learner. Leader l has ballot l; 0 is none. A value is a leader.
const L: {leaders};
type
  Leader: 1 .. L;
  Maybe: 0 .. L;
  Acceptor: {acceptor};
var
  pc: array [Leader] of 0 .. 2;
  prepare, promise: array [Leader] of array [Acceptor] of boolean;
  promise_last, promise_value, accept, accepted: array [Leader] of array [Acceptor] of Maybe;
  promised, last, value: array [Acceptor] of Maybe;
  chosen: array [Leader] of boolean;

startstate begin
  for l: Leader do
    pc[l] := 0; chosen[l] := false;
    for a: Acceptor do
      prepare[l][a] := false; promise[l][a] := false; promise_last[l][a] := 0; promise_value[l][a] := 0;
      accept[l][a] := 0; accepted[l][a] := 0;
    end;
  end;
  for a: Acceptor do promised[a] := 0; last[a] := 0; value[a] := 0; end;
end;

ruleset l: Leader do
  rule "ask" pc[l] = 0 ==> begin
    pc[l] := 1;
    for a: Acceptor do prepare[l][a] := true; end;
  end;
end;

ruleset l: Leader; {binders} do
  rule "propose" pc[l] = 1 & {ready} ==>
  var newest, found: Maybe;
  begin
    newest := 0; found := 0;
{newest}
    if found = 0 then found := l; end;
    pc[l] := 2;
    for a: Acceptor do accept[l][a] := found; end;
  end;
end;

ruleset l: Leader; a: Acceptor do
  rule "promise" prepare[l][a] & l > promised[a] ==> begin
    prepare[l][a] := false; promised[a] := l;
    promise[l][a] := true; promise_last[l][a] := last[a]; promise_value[l][a] := value[a];
  end;
  rule "accept" accept[l][a] != 0 & l >= promised[a] ==> begin
    promised[a] := l; last[a] := l; value[a] := accept[l][a];
    accepted[l][a] := accept[l][a]; accept[l][a] := 0;
  end;
end;

ruleset l: Leader; {binders} do
  rule "learn" {agreed} ==> begin
    chosen[accepted[l][a1]] := true;
    {clear}
  end;
end;

invariant "agreement"
  forall v: Leader do forall w: Leader do chosen[v] & chosen[w] -> v = w end end;
"""
