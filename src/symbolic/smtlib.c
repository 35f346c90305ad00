/* A query as an SMT-LIB script for any solver: runs of bounded length with bit-vectors, or all runs as Horn clauses. */
#include "symbolic/unrolling.h"

#include "symbolic/smtlib.h"

static void add(struct script_parts *p, struct unrolling *s, truth formula) {
  if (formula != EXPR_TRUE)
    arena_push(&s->e.arena, &p->all, terms_translate(&s->e.t, formula));
}

/* The condition that the run reaches the property's goal after the last step; without a property, that the
   step fails. */
static truth goal_after(struct unrolling *s, const struct sym_step *last, const struct sym_state *state) {
  if (s->query->nproperties == 0)
    return last ? last->fails : EXPR_FALSE;
  return unrolling_goal(s, 0, last ? last->before : NULL, state).holds;
}

/* A run of any length up to the depth that ends in the property's goal. */
static void unroll(struct unrolling *s, uint32_t depth, struct script_parts *p) {
  struct terms *t = &s->e.t;
  bool errors = s->query->nproperties == 0;
  truth allowed, error, goal;
  struct sym_state *at = encode_start(&s->e, &allowed, &error);
  struct number length = number_new(t, "length", 0, depth);
  add(p, s, expr_and(&t->graph, terms_facts(t), allowed));
  add(p, s, encode_representative(&s->e, at, s->options->licences));
  goal = expr_and(&t->graph, number_is(&t->graph, length, 0), goal_after(s, NULL, at));
  for (uint32_t i = 0; i < depth && at->point != POINT_END; i++) {
    struct sym_step *step = unrolling_step(s, at);
    truth taken = number_less(&t->graph, number_of(errors ? (int64_t)i + 1 : i), length);
    truth shown = goal_after(s, step, step->after);
    at = step->after;
    add(p, s, terms_facts(t));
    add(p, s, expr_implies(&t->graph, taken, step->allowed));
    goal = expr_or(&t->graph, goal, expr_and(&t->graph, number_is(&t->graph, length, (int64_t)i + 1), shown));
  }
  add(p, s, terms_facts(t));
  p->goal = terms_translate(t, goal);
}

static void write_script(struct unrolling *s, const char *logic, struct script_parts *p, struct text *out) {
  Z3_context z3 = s->e.t.m.z3;
  Z3_set_ast_print_mode(z3, Z3_PRINT_SMTLIB2_COMPLIANT);
  const char *said =
      Z3_benchmark_to_smtlib_string(z3, s->model->name, logic, "unknown", "", (unsigned)p->all.n, p->all.at, p->goal);
  text_add(out, said ? said : "");
}

bool symbolic_export(struct model *m, const struct query *q, uint32_t depth, const struct licences *licences,
                     struct text *out, struct span *refused_at, struct text *refusal) {
  struct unrolling *s = memory_alloc(sizeof *s);
  struct symbolic_answer scratch = {0};
  struct symbolic_options o = {
      .engine = depth ? SYMBOLIC_BOUNDED : SYMBOLIC_SPACER, .depth = depth, .licences = licences};
  struct script_parts p = {0};
  jmp_buf refused;
  bool ok = true;
  unrolling_init(s, m, q, &o, &scratch, depth > 0);
  s->e.l.refused = &refused;
  if (setjmp(refused)) {
    *refused_at = s->e.l.refusal.at;
    text_add(refusal, s->e.l.refusal.reason);
    ok = false;
  } else {
    unrolling_check(s, ENGINE_SMTLIB);
    if (depth)
      unroll(s, depth, &p);
    else
      horn_clauses(s, &p);
    write_script(s, depth ? "QF_BV" : "HORN", &p, out);
  }
  unrolling_release(s);
  memory_free(s);
  return ok;
}
