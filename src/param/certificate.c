#include "param/certificate.h"

#include "base/memory.h"
#include "symbolic/solver.h"

#include <inttypes.h>
#include <string.h>

struct certificate_printer {
  const struct counter_graph *g;
  const struct counter_system *s;
  struct arena arena;
  struct text *out;
  const char **params, **counters, **controls;
  const char **columns; /* names of the graph's columns */
  uint32_t move;        /* the move whose amounts are in scope */
};

/* ---- terms ---- */

static void add_number(struct certificate_printer *p, int64_t x) {
  if (x < 0)
    text_addf(p->out, "(- %" PRIu64 ")", 0 - (uint64_t)x);
  else
    text_addf(p->out, "%" PRId64, x);
}

static void add_amount(struct certificate_printer *p, uint32_t i) {
  text_addf(p->out, "%s.%" PRIu32 ".%s", p->s->moves[p->move].name, p->move + 1, p->s->moves[p->move].amounts[i].name);
}

static void add_truth(struct certificate_printer *p, const struct term *t);
static void add_value(struct certificate_printer *p, const struct term *t);

static void add_pair(struct certificate_printer *p, const char *operator, const struct term * t,
                     void (*add)(struct certificate_printer *, const struct term *)) {
  text_addf(p->out, "(%s ", operator);
  add(p, t->kid[0]);
  text_add(p->out, " ");
  add(p, t->kid[1]);
  text_add(p->out, ")");
}

static void add_value(struct certificate_printer *p, const struct term *t) {
  switch (t->op) {
  case TERM_NUMBER:
    add_number(p, t->number);
    return;
  case TERM_PARAM:
    text_add(p->out, p->params[t->index]);
    return;
  case TERM_COUNTER:
    text_add(p->out, p->counters[t->index]);
    return;
  case TERM_CONTROL:
    text_add(p->out, p->controls[t->index]);
    return;
  case TERM_AMOUNT:
    add_amount(p, t->index);
    return;
  case TERM_ADD:
    add_pair(p, "+", t, add_value);
    return;
  case TERM_SUB:
    add_pair(p, "-", t, add_value);
    return;
  case TERM_TIMES:
    add_pair(p, "*", t, add_value);
    return;
  case TERM_IF:
    text_add(p->out, "(ite ");
    add_truth(p, t->kid[0]);
    text_add(p->out, " ");
    add_value(p, t->kid[1]);
    text_add(p->out, " ");
    add_value(p, t->kid[2]);
    text_add(p->out, ")");
    return;
  case TERM_NOT:
  case TERM_AND:
  case TERM_OR:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    text_add(p->out, "(ite ");
    add_truth(p, t);
    text_add(p->out, " 1 0)");
  }
}

static void add_truth(struct certificate_printer *p, const struct term *t) {
  switch (t->op) {
  case TERM_NUMBER:
    text_add(p->out, t->number ? "true" : "false");
    return;
  case TERM_CONTROL:
    text_addf(p->out, "(= %s 1)", p->controls[t->index]);
    return;
  case TERM_NOT:
    text_add(p->out, "(not ");
    add_truth(p, t->kid[0]);
    text_add(p->out, ")");
    return;
  case TERM_AND:
    add_pair(p, "and", t, add_truth);
    return;
  case TERM_OR:
    add_pair(p, "or", t, add_truth);
    return;
  case TERM_EQ:
    add_pair(p, "=", t, add_value);
    return;
  case TERM_LE:
    add_pair(p, "<=", t, add_value);
    return;
  case TERM_LT:
    add_pair(p, "<", t, add_value);
    return;
  case TERM_PARAM:
  case TERM_COUNTER:
  case TERM_AMOUNT:
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_IF:
    text_add(p->out, "(= ");
    add_value(p, t);
    text_add(p->out, " 1)");
  }
}

/* ---- declarations ---- */

static void name_all(struct certificate_printer *p) {
  const struct counter_system *s = p->s;
  p->columns = counter_graph_names(p->g, &p->arena);
  p->params = arena_array(&p->arena, s->nparams + (size_t)1, sizeof *p->params);
  p->counters = arena_array(&p->arena, s->ncounters + (size_t)1, sizeof *p->counters);
  p->controls = arena_array(&p->arena, s->ncontrols + (size_t)1, sizeof *p->controls);
  for (uint32_t i = 0; i < s->nparams; i++)
    p->params[i] = smt_name(&p->arena, s->params[i].name);
  for (uint32_t i = 0; i < s->ncounters; i++)
    p->counters[i] = smt_name(&p->arena, s->counters[i].name);
  for (uint32_t i = 0; i < s->ncontrols; i++)
    p->controls[i] = smt_name(&p->arena, s->controls[i].name);
}

static void declare(struct certificate_printer *p, const char *name, const char *suffix) {
  text_addf(p->out, "(declare-fun %s%s () Int)\n", name, suffix);
}

static void declare_state(struct certificate_printer *p, const char *suffix) {
  for (uint32_t i = 0; i < p->s->ncounters; i++)
    declare(p, p->counters[i], suffix);
  for (uint32_t i = 0; i < p->s->ncontrols; i++)
    declare(p, p->controls[i], suffix);
}

static void declare_all(struct certificate_printer *p) {
  for (uint32_t i = 0; i < p->s->nparams; i++)
    if (!p->s->params[i].is)
      declare(p, p->params[i], "");
  declare_state(p, "");
  text_add(p->out, "; after a move\n");
  declare_state(p, ".next");
  text_add(p->out, "; amounts\n");
  for (p->move = 0; p->move < p->s->nmoves; p->move++)
    for (uint32_t i = 0; i < p->s->moves[p->move].namounts; i++) {
      text_add(p->out, "(declare-fun ");
      add_amount(p, i);
      text_add(p->out, " () Int)\n");
    }
}

/* ---- the parts ---- */

static void define_conditions(struct certificate_printer *p) {
  text_add(p->out, "\n; the conditions on the parameters\n(define-fun params () Bool (and true");
  for (uint32_t i = 0; i < p->s->nconditions; i++) {
    if (p->g->open && p->s->conditions[i].resilience)
      continue;
    text_add(p->out, "\n  ");
    add_truth(p, p->s->conditions[i].term);
  }
  for (size_t i = 0; i < p->g->excluded.n; i++) {
    text_add(p->out, "\n  (not ");
    cube_print(&p->g->excluded.at[i], p->columns, p->out);
    text_add(p->out, ")");
  }
  text_add(p->out, "))\n");
}

static void add_place(struct certificate_printer *p, uint32_t i) {
  text_addf(p->out, "\n  ; %s (line %" PRIu32 ")\n  (and ", p->s->moves[i].name,
            source_line_number(&p->s->source, p->s->moves[i].at));
}

static void define_step(struct certificate_printer *p) {
  const struct counter_system *s = p->s;
  text_add(p->out, "\n(define-fun step () Bool (or false");
  for (p->move = 0; p->move < s->nmoves; p->move++) {
    const struct counter_move *m = &s->moves[p->move];
    add_place(p, p->move);
    add_truth(p, m->guard);
    for (uint32_t i = 0; i < s->ncounters + s->ncontrols; i++) {
      bool counter = i < s->ncounters;
      const struct term *next = counter ? m->counters[i] : m->controls[i - s->ncounters];
      const char *name = counter ? p->counters[i] : p->controls[i - s->ncounters];
      text_addf(p->out, " (= %s.next ", name);
      if (next)
        add_value(p, next);
      else
        text_add(p->out, name);
      text_add(p->out, ")");
    }
    text_add(p->out, ")");
  }
  text_add(p->out, "))\n");
}

static void define(struct certificate_printer *p, const char *name, const struct term *a, const struct term *b) {
  text_addf(p->out, "\n(define-fun %s () Bool (and ", name);
  add_truth(p, a);
  text_add(p->out, " ");
  if (b)
    add_truth(p, b);
  else
    text_add(p->out, "true");
  text_add(p->out, "))\n");
}

static void define_invariant(struct certificate_printer *p, const char *const *invariant) {
  const struct counter_graph *g = p->g;
  text_add(p->out, "\n; the invariant: natural counters, conserved sums, and what holds at each "
                   "value of the control\n"
                   "(define-fun invariant (");
  for (uint32_t i = 0; i < p->s->ncounters; i++)
    text_addf(p->out, "(%s Int) ", p->counters[i]);
  for (uint32_t i = 0; i < p->s->ncontrols; i++)
    text_addf(p->out, "(%s Int) ", p->controls[i]);
  text_add(p->out, ") Bool (and\n  ");
  cube_print(&g->naturals, p->columns, p->out);
  text_add(p->out, "\n  ");
  cube_print(&g->conserved, p->columns, p->out);
  text_add(p->out, "\n  (or false");
  for (uint32_t l = 0; l < g->locations.n; l++) {
    text_add(p->out, "\n    (and (or false");
    for (size_t k = 0; k < g->locations.at[l].controls.n; k++) {
      text_add(p->out, " (and true");
      for (uint32_t i = 0; i < p->s->ncontrols; i++) {
        text_addf(p->out, " (= %s ", p->controls[i]);
        add_number(p, g->locations.at[l].controls.at[k][i]);
        text_add(p->out, ")");
      }
      text_add(p->out, ")");
    }
    text_addf(p->out, ")\n      %s)", invariant[l]);
  }
  text_add(p->out, ")))\n");
}

static void apply_invariant(struct certificate_printer *p, const char *suffix) {
  bool none = p->s->ncounters + p->s->ncontrols == 0;
  text_add(p->out, none ? "invariant" : "(invariant");
  for (uint32_t i = 0; i < p->s->ncounters; i++)
    text_addf(p->out, " %s%s", p->counters[i], suffix);
  for (uint32_t i = 0; i < p->s->ncontrols; i++)
    text_addf(p->out, " %s%s", p->controls[i], suffix);
  text_add(p->out, none ? "" : ")");
}

static void ask(struct certificate_printer *p, const char *comment, bool inside, const char *what,
                const char *outside) {
  text_addf(p->out, "\n; %s\n(push 1)\n(assert params)\n", comment);
  if (inside) {
    text_add(p->out, "(assert ");
    apply_invariant(p, "");
    text_add(p->out, ")\n");
  }
  text_addf(p->out, "(assert %s)\n", what);
  if (outside) {
    text_add(p->out, "(assert (not ");
    apply_invariant(p, outside);
    text_add(p->out, "))\n");
  }
  text_add(p->out, "(check-sat)\n(pop 1)\n");
}

void certificate_print(const struct counter_graph *g, const char *const *invariant, struct text *out) {
  struct certificate_printer p = {.g = g, .s = g->system, .out = out};
  struct text all = {0}, conditions = {0};
  arena_init(&p.arena);
  name_all(&p);
  counter_params_print(p.s, &all);
  counter_conditions_print(p.s, !g->open, &conditions);
  text_addf(out, "; %s: no run violates '%s'\n", p.s->name, g->property->name);
  if (all.n)
    text_addf(out, "; for all %s%s%s\n", all.at, conditions.n ? " with " : "", text_or_empty(&conditions));
  text_add(out, "; Three questions, all to be answered \"unsat\": z3 FILE, cvc5 --incremental FILE\n"
                "(set-logic QF_LIA)\n");
  text_release(&all);
  text_release(&conditions);
  declare_all(&p);
  define_conditions(&p);
  define(&p, "start", p.s->start, g->property->from);
  define_step(&p);
  define(&p, "unsafe", g->property->unsafe, NULL);
  define_invariant(&p, invariant);
  ask(&p, "1: no start is outside the invariant", false, "start", "");
  ask(&p, "2: no move leaves it", true, "step", ".next");
  ask(&p, "3: no unsafe state is inside", true, "unsafe", NULL);
  arena_release(&p.arena);
}

bool certificate_check(const char *script, uint32_t questions, const volatile sig_atomic_t *stop, struct text *why) {
  struct text said = {0}, wanted = {0};
  bool ended = smtlib_run(script, stop, &said);
  for (uint32_t i = 0; i < questions; i++)
    text_add(&wanted, "unsat\n");
  bool ok = ended && questions > 0 && strcmp(text_or_empty(&said), text_or_empty(&wanted)) == 0;
  text_release(&wanted);
  if (!ended)
    text_add(why, "stopped");
  else if (!ok)
    text_addf(why, "the questions were answered: %.200s", text_or_empty(&said));
  text_release(&said);
  return ok;
}
