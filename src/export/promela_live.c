/* A liveness property in Promela: an LTL formula that no run may satisfy. The variable `assumed` counts through the
   assumptions: it advances when the current one is satisfied or idle, and starts again after the last. All assumptions
   hold for a run in which it completes the cycle infinitely often. An attempt at a rule that is not completed does not
   count. An assumption that holds only eventually is guessed once, when it is its turn; a wrong guess ends the
   count. */
#include "export/promela.h"

static const struct program_live *live_of(const struct expr_printer *p) {
  return p->program->live.property ? &p->program->live : NULL;
}

void promela_live_declare(struct expr_printer *p) {
  const struct program_live *live = live_of(p);
  if (!live)
    return;
  text_add(p->out, "\n/* what the property speaks of */\n");
  for (size_t i = 0; i < live->atoms.n; i++)
    text_addf(p->out, "bool atom_%zu;\n", i + 1);
  text_addf(p->out, "\nbyte assumed;  /* so many assumptions have held since all have, %zu: all */\n",
            live->assumptions.n);
  for (size_t i = 0; i < live->assumptions.n; i++) {
    const struct assumption *a = &live->assumptions.at[i];
    text_addf(p->out, "bool idle_%zu;", i + 1);
    printer_assumption(p, a);
    if (a->kind != ASSUME_AGAIN)
      text_addf(p->out, "bool sure_%zu;\n", i + 1);
    text_addf(p->out, "hidden byte met_%zu;\n", i + 1);
  }
}

const char *promela_live_guard(const struct expr_printer *p) { return live_of(p) ? "    assumed != 255 && " : "    "; }

void promela_live_attempt(struct expr_printer *p) {
  const struct program_live *live = live_of(p);
  if (live)
    text_addf(p->out, "    d_step { if :: assumed == %zu -> assumed = 0 :: else fi };\n", live->assumptions.n);
}

void promela_live_satisfied(struct expr_printer *p, const char *indent) {
  for (size_t i = 0; i < p->rule->satisfies.n; i++) {
    printer_define(p, p->rule->satisfies.at[i].when, promela_define, (void *)indent);
    text_addf(p->out, "%smet_%u = ", indent, p->rule->satisfies.at[i].assumption + 1);
    printer_add(p, p->rule->satisfies.at[i].when);
    text_add(p->out, ";\n");
  }
}

void promela_live_count_uses(struct expr_printer *p) {
  const struct program_live *live = live_of(p);
  for (size_t i = 0; live && i < live->atoms.n; i++)
    printer_count_uses(p, live->atoms.at[i]);
  for (size_t i = 0; live && i < live->assumptions.n; i++)
    printer_count_uses(p, live->assumptions.at[i].idle);
}

static void add_judgement(struct expr_printer *p, const char *name, size_t number, expr_id w) {
  printer_define(p, w, promela_define, "  ");
  text_addf(p->out, "  %s_%zu = ", name, number);
  printer_add(p, w);
  text_add(p->out, ";\n");
}

void promela_live_evaluate(struct expr_printer *p) {
  const struct program_live *live = live_of(p);
  for (size_t i = 0; live && i < live->atoms.n; i++)
    add_judgement(p, "atom", i + 1, live->atoms.at[i]);
  for (size_t i = 0; live && i < live->assumptions.n; i++)
    add_judgement(p, "idle", i + 1, live->assumptions.at[i].idle);
}

/* Printed after each step, for evaluation in its successor state. */
void promela_live_advance(struct expr_printer *p) {
  const struct program_live *live = live_of(p);
  if (!live)
    return;
  size_t n = live->assumptions.n;
  text_add(p->out, "inline follow() {\n");
  for (size_t i = 0; i < n; i++) {
    const struct assumption *a = &live->assumptions.at[i];
    static const char *const enough[] = {[ASSUME_AGAIN] = "met_%zu || idle_%zu",
                                         [ASSUME_STRONG] = "met_%zu || sure_%zu",
                                         [ASSUME_FINALLY] = "sure_%zu || idle_%zu",
                                         [ASSUME_ONCE] = "sure_%zu || idle_%zu"};
    if (a->kind == ASSUME_ONCE)
      text_addf(p->out, "  sure_%zu = sure_%zu || met_%zu;\n", i + 1, i + 1, i + 1);
    text_addf(p->out, "  if :: assumed == %zu && (", i);
    text_addf(p->out, enough[a->kind], i + 1, i + 1);
    text_addf(p->out, ") -> assumed = %zu :: else fi;\n", i + 1);
  }
  for (size_t i = 0; i < n; i++) {
    if (live->assumptions.at[i].kind == ASSUME_STRONG)
      text_addf(p->out, "  if :: sure_%zu && !idle_%zu -> assumed = 255 :: else fi;\n", i + 1, i + 1);
    if (live->assumptions.at[i].kind == ASSUME_FINALLY)
      text_addf(p->out, "  if :: sure_%zu && !idle_%zu && !met_%zu -> assumed = 255 :: else fi;\n", i + 1, i + 1,
                i + 1);
  }
  for (size_t i = 0; i < n; i++)
    text_addf(p->out, "  met_%zu = 0;\n", i + 1);
  text_add(p->out, "  skip\n}\n\n");
}

void promela_live_options(struct expr_printer *p) {
  const struct program_live *live = live_of(p);
  if (!live)
    return;
  text_add(p->out, "  :: atomic {  /* nothing can happen */\n    assumed != 255 && started && idle_1 ->\n");
  promela_live_attempt(p);
  text_add(p->out, "    d_step { follow() }\n  }\n");
  for (size_t i = 0; i < live->assumptions.n; i++) {
    const struct assumption *a = &live->assumptions.at[i];
    if (a->kind == ASSUME_STRONG)
      text_addf(p->out, "  :: assumed == %zu && !sure_%zu && idle_%zu -> sure_%zu = 1  /* from now on idle */\n", i,
                i + 1, i + 1, i + 1);
    if (a->kind == ASSUME_FINALLY)
      text_addf(p->out, "  :: assumed == %zu && started && !sure_%zu -> sure_%zu = 1  /* from now on met */\n", i,
                i + 1, i + 1);
  }
}

/* --- the formula --- */

void promela_live_claim(struct expr_printer *p) {
  const struct program_live *live = live_of(p);
  if (!live)
    return;
  text_add(p->out, "\n");
  printer_comment(p, "No run of which all is assumed, and which from the start on violates the property.");
  text_add(p->out, " ");
  printer_line(p, live->property->at);
  text_addf(p->out, "\nltl %s { !(([] (<> (assumed == %zu))) && (!started U (started && ", live->name,
            live->assumptions.n);
  printer_add_formula(p, live->violated);
  text_add(p->out, "))) }\n");
}
