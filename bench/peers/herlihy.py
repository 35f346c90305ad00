"""models/herlihy.rondo in the languages of Spin and Murphi: the same atomic steps, and one state for one state. Spin has one more,
before the proposals are chosen."""


def promela(n):
    choose = "\n".join(f"    if {' '.join(f':: x[{i}] = {v}' for v in range(1, n + 1))} fi;" for i in range(n))
    out = [f"""/* Herlihy's consensus by compare-and-swap: {n} processes; values from 1, 0 is none. */
byte x[{n}], first[{n}], decided[{n}], pc[{n}];     /* pc: swap, decide, end */
byte reg;

active proctype steps() {{
  atomic {{
{choose}
  }}
end:
  do"""]
    for i in range(n):
        agree = " && ".join(f"(!decided[{j}] || decided[{j}] == decided[{i}])" for j in range(n) if j != i) or "true"
        out.append(f"  :: d_step {{ pc[{i}] == 0 -> first[{i}] = reg; if :: reg == 0 -> reg = x[{i}] :: else fi; pc[{i}] = 1 }}")
        out.append(f"  :: d_step {{ pc[{i}] == 1 -> decided[{i}] = (first[{i}] -> first[{i}] : x[{i}]); pc[{i}] = 2; assert({agree}) }}")
    return "\n".join([*out, "  od\n}\n"])


def murphi(n):
    names = [f"v{i}" for i in range(1, n + 1)]
    binders = "; ".join(f"{v}: Value" for v in names)
    choose = " ".join(f"x[{i}] := {v};" for i, v in enumerate(names, 1))
    return f"""-- Herlihy's consensus by compare-and-swap: {n} processes; values from 1, 0 is none.
type
  Process: 1 .. {n};
  Value: 1 .. {n};
  Maybe: 0 .. {n};
var
  x, first, decided: array [Process] of Maybe;
  pc: array [Process] of 0 .. 2;
  reg: Maybe;

ruleset {binders} do
  startstate begin
    for p: Process do first[p] := 0; decided[p] := 0; pc[p] := 0; end;
    reg := 0;
    {choose}
  end;
end;

ruleset p: Process do
  rule "swap" pc[p] = 0 ==> begin
    first[p] := reg;
    if reg = 0 then reg := x[p]; end;
    pc[p] := 1;
  end;
  rule "decide" pc[p] = 1 ==> begin
    decided[p] := first[p];
    if decided[p] = 0 then decided[p] := x[p]; end;
    pc[p] := 2;
    for q: Process do
      assert "agreement" decided[q] = 0 | decided[q] = decided[p];
    end;
  end;
end;
"""
