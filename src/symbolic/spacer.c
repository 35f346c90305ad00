/* Spacer (Komuravelli, Gurfinkel, Chaki 2014): one predicate per point of the schedule, over the variables of
   a state. A proof counts only after its invariant passed a separate check. For a violation, BMC searches for a run
   that shows it. */
#include "symbolic/unrolling.h"

#include "symbolic/smtlib.h"

struct z3_terms {
  VEC(Z3_ast) at;
};

/* A Horn clause from one place (NO_PREDICATE: an initial state) to another, or to a goal. A place is a point of the
   schedule or the end, and has one predicate. */
struct chc_rule {
  uint32_t from, to; /* places; `to` of a goal: the index of the property, or the number of properties for errors */
  truth body;
  struct z3_terms to_variables; /* variables of the successor state */
  size_t first, last;           /* the range of its fresh variables */
};
#define NO_PREDICATE (UINT32_MAX - 1)

struct chc_predicate { /* of a point of the schedule, or of the end */
  uint32_t point;
  struct sym_state *state;
  struct z3_terms variables;
  Z3_func_decl predicate;
  Z3_ast invariant;
  size_t first, last; /* the range of its fresh variables */
  truth facts;
};

struct chc_system {
  struct unrolling *s;
  struct chc_predicate *places; /* one per point, then the end */
  uint32_t nplaces;
  VEC(struct chc_rule) rules;
  VEC(struct chc_rule) goals;
  Z3_ast missing; /* the invariant for places that Spacer's answer omits */
};

static uint32_t predicate_of_point(const struct chc_system *w, uint32_t point) {
  return point == POINT_END ? w->nplaces - 1 : point;
}

/* ---- the system ---- */

static void variables_of(struct chc_system *w, const struct sym_state *state, struct z3_terms *to) {
  struct leaves all = {0};
  state_variables(&w->s->e, state, &all);
  for (size_t i = 0; i < all.at.n; i++)
    vec_push(&to->at, terms_translate(&w->s->e.t, all.at.at[i]));
  vec_release(&all.at);
}

static void predicate_make(struct chc_system *w, uint32_t i) {
  struct chc_predicate *p = &w->places[i];
  struct encoder *e = &w->s->e;
  p->point = i + 1 == w->nplaces && !model_steps(e->l.model) ? POINT_END : i;
  p->first = e->t.fresh.n;
  p->state = encode_any_state(e, p->point);
  p->facts = terms_facts(&e->t);
  p->last = e->t.fresh.n;
  variables_of(w, p->state, &p->variables);
  p->predicate =
      z3_builder_relation(&e->t.m, arena_printf(&e->arena, "P%u", i), p->variables.at.at, (uint32_t)p->variables.at.n);
}

/* A rule with successor `after`, a state of terms. Predicates take variables, so the head gets a state of fresh
   variables that is constrained to equal it. */
static void rule_to(struct chc_system *w, uint32_t from, const struct sym_state *after, truth body, size_t first) {
  struct encoder *e = &w->s->e;
  struct chc_rule r = {.from = from, .to = predicate_of_point(w, after->point), .first = first};
  struct sym_state *to = encode_any_state(e, after->point);
  body = expr_and(&e->t.graph, body, states_equal(e, to, after));
  r.body = expr_and(&e->t.graph, body, terms_facts(&e->t));
  variables_of(w, to, &r.to_variables);
  r.last = e->t.fresh.n;
  vec_push(&w->rules, r);
}

static void goal_add(struct chc_system *w, uint32_t from, uint32_t property, truth body, size_t first) {
  struct encoder *e = &w->s->e;
  struct chc_rule r = {.from = from, .to = property, .first = first};
  r.body = expr_and(&e->t.graph, body, terms_facts(&e->t));
  r.last = e->t.fresh.n;
  if (r.body != EXPR_FALSE)
    vec_push(&w->goals, r);
}

static void goals_at(struct chc_system *w, uint32_t from, const struct sym_state *before, const struct sym_state *at,
                     truth body, size_t first) {
  struct unrolling *s = w->s;
  for (uint32_t i = 0; i < s->query->nproperties; i++) {
    const struct property *p = &s->model->properties[s->query->properties[i]];
    if (p->step != (before != NULL))
      continue;
    struct verdict_terms goal = unrolling_goal(s, i, before, at);
    goal_add(w, from, i, expr_and(&s->e.t.graph, body, goal.holds), first);
    goal_add(w, from, s->query->nproperties, expr_and(&s->e.t.graph, body, goal.error), first);
  }
}

static void build(struct chc_system *w) {
  struct unrolling *s = w->s;
  struct encoder *e = &s->e;
  truth allowed, error;
  for (uint32_t i = 0; i < w->nplaces; i++)
    predicate_make(w, i);
  size_t first = e->t.fresh.n;
  struct sym_state *start = encode_start(e, &allowed, &error);
  allowed = expr_and(&e->t.graph, allowed, encode_representative(e, start, s->options->licences));
  truth start_facts = terms_facts(&e->t);
  allowed = expr_and(&e->t.graph, allowed, start_facts);
  goal_add(w, NO_PREDICATE, s->query->nproperties, expr_and(&e->t.graph, start_facts, error), first);
  rule_to(w, NO_PREDICATE, start, allowed, first);
  for (uint32_t i = 0; i < w->nplaces; i++) {
    const struct chc_predicate *p = &w->places[i];
    goals_at(w, i, NULL, p->state, p->facts, e->t.fresh.n);
    if (p->point == POINT_END)
      continue;
    first = e->t.fresh.n;
    struct sym_step *step = unrolling_step(s, p->state);
    truth facts = expr_and(&e->t.graph, p->facts, terms_facts(&e->t));
    goal_add(w, i, s->query->nproperties, expr_and(&e->t.graph, facts, step->fails), first);
    goals_at(w, i, p->state, step->after, expr_and(&e->t.graph, facts, step->allowed), first);
    rule_to(w, i, step->after, expr_and(&e->t.graph, facts, step->allowed), first);
  }
}

/* ---- asking Spacer ---- */

static Z3_ast apply(struct chc_system *w, uint32_t place, const struct z3_terms *to) {
  struct z3_builder *m = &w->s->e.t.m;
  return z3_builder_keep(m, Z3_mk_app(m->z3, w->places[place].predicate, (unsigned)to->at.n, to->at.at));
}

/* body => head, for all values of the variables of the rule and of its source place. */
static Z3_ast clause(struct chc_system *w, const struct chc_rule *r, Z3_ast head) {
  struct terms *t = &w->s->e.t;
  Z3_ast body = terms_translate(t, r->body);
  struct z3_terms bound = {0};
  if (r->from != NO_PREDICATE) {
    const struct chc_predicate *from = &w->places[r->from];
    body = z3_builder_and(&t->m, (Z3_ast[]){apply(w, r->from, &from->variables), body}, 2);
    for (size_t i = from->first; i < from->last; i++)
      vec_push(&bound.at, t->fresh.at[i]);
  }
  for (size_t i = r->first; i < r->last; i++)
    vec_push(&bound.at, t->fresh.at[i]);
  Z3_ast made = z3_builder_clause(&t->m, body, head, bound.at.at, (uint32_t)bound.at.n);
  vec_release(&bound.at);
  return made;
}

static void add_rule(struct chc_system *w, Z3_fixedpoint f, const struct chc_rule *r, Z3_ast head) {
  Z3_context z3 = w->s->e.t.m.z3;
  Z3_fixedpoint_add_rule(z3, f, clause(w, r, head), Z3_mk_string_symbol(z3, "rule"));
}

/* ---- checking Spacer's answer ---- */

/* The invariant of a place, with the variables `to` substituted for its own. */
static Z3_ast invariant_of(struct chc_system *w, uint32_t place, const struct z3_terms *to) {
  struct z3_builder *m = &w->s->e.t.m;
  const struct chc_predicate *p = &w->places[place];
  if (!p->invariant)
    return w->missing;
  return z3_builder_keep(m, Z3_substitute(m->z3, p->invariant, (unsigned)to->at.n, p->variables.at.at, to->at.at));
}

/* The rule's body, with its source state inside the invariant. */
static Z3_ast inside(struct chc_system *w, const struct chc_rule *r) {
  struct terms *t = &w->s->e.t;
  Z3_ast body = terms_translate(t, r->body);
  if (r->from == NO_PREDICATE)
    return body;
  return z3_builder_and(&t->m, (Z3_ast[]){invariant_of(w, r->from, &w->places[r->from].variables), body}, 2);
}

/* The three conditions: initial states satisfy the invariant, no step leaves it, no goal intersects it. */
static bool confirmed(struct chc_system *w, uint32_t goal) {
  struct terms *t = &w->s->e.t;
  for (size_t i = 0; i < w->rules.n; i++) {
    const struct chc_rule *r = &w->rules.at[i];
    Z3_ast leaves = z3_builder_not(&t->m, invariant_of(w, r->to, &r->to_variables));
    if (ANSWER_NO != unrolling_ask_term(w->s, z3_builder_and(&t->m, (Z3_ast[]){inside(w, r), leaves}, 2)))
      return false;
  }
  for (size_t i = 0; i < w->goals.n; i++) {
    const struct chc_rule *r = &w->goals.at[i];
    if (r->to == goal && ANSWER_NO != unrolling_ask_term(w->s, inside(w, r)))
      return false;
  }
  return true;
}

static void take_invariants(struct chc_system *w, Z3_fixedpoint f) {
  struct z3_builder *m = &w->s->e.t.m;
  Z3_ast found = z3_builder_keep(m, Z3_fixedpoint_get_answer(m->z3, f));
  for (uint32_t i = 0; i < w->nplaces; i++) {
    struct chc_predicate *p = &w->places[i];
    p->invariant =
        found ? z3_builder_definition(m, found, p->predicate, p->variables.at.at, (uint32_t)p->variables.at.n) : NULL;
  }
}

/* Is the goal reachable? */
static enum answer ask(struct chc_system *w, uint32_t goal) {
  struct z3_builder *m = &w->s->e.t.m;
  Z3_fixedpoint f = z3_builder_fixedpoint(m);
  Z3_func_decl bad = z3_builder_relation(m, "Goal", NULL, 0);
  Z3_ast head = z3_builder_keep(m, Z3_mk_app(m->z3, bad, 0, NULL));
  bool any = false;
  for (uint32_t i = 0; i < w->nplaces; i++)
    Z3_fixedpoint_register_relation(m->z3, f, w->places[i].predicate);
  Z3_fixedpoint_register_relation(m->z3, f, bad);
  for (size_t i = 0; i < w->rules.n; i++)
    add_rule(w, f, &w->rules.at[i], apply(w, w->rules.at[i].to, &w->rules.at[i].to_variables));
  for (size_t i = 0; i < w->goals.n; i++)
    if (w->goals.at[i].to == goal) {
      any = true;
      add_rule(w, f, &w->goals.at[i], head);
    }
  enum answer answer = ANSWER_NO;
  if (any) {
    Z3_lbool said = Z3_fixedpoint_query_relations(m->z3, f, 1, &bad);
    answer = said == Z3_L_TRUE ? ANSWER_YES : said == Z3_L_FALSE ? ANSWER_NO : ANSWER_UNKNOWN;
    if (answer == ANSWER_NO) {
      take_invariants(w, f);
      w->missing = z3_builder_and(m, NULL, 0); /* omitted predicates are irrelevant (true) or unreachable (false) */
      bool stands = confirmed(w, goal);
      w->missing = z3_builder_or(m, NULL, 0);
      answer = stands || confirmed(w, goal) ? ANSWER_NO : ANSWER_UNKNOWN;
    }
  }
  Z3_fixedpoint_dec_ref(m->z3, f);
  return unrolling_stopped(w->s) && answer != ANSWER_NO ? ANSWER_UNKNOWN : answer;
}

static void spacer_release(struct chc_system *w) {
  for (uint32_t i = 0; i < w->nplaces; i++)
    vec_release(&w->places[i].variables.at);
  for (size_t i = 0; i < w->rules.n; i++)
    vec_release(&w->rules.at[i].to_variables.at);
  vec_release(&w->rules);
  vec_release(&w->goals);
}

/* Builds the system in the unrolling; refusals jump to `refused`. */
static void spacer_init(struct chc_system *w, struct unrolling *s, jmp_buf *refused) {
  *w = (struct chc_system){.s = s};
  s->e.l.refused = refused;
  w->nplaces = model_steps(s->model) ? 1 : s->model->npoints + 1;
  w->places = arena_array(&s->e.arena, w->nplaces + (size_t)1, sizeof *w->places);
}

/* Answers by goal; errors are the last goal. */
static void ask_all(struct unrolling *main, enum answer *answers) {
  struct unrolling *s = memory_alloc(sizeof *s);
  struct chc_system *w = memory_alloc(sizeof *w);
  jmp_buf refused;
  volatile bool ok = false;
  unrolling_init(s, main->model, main->query, main->options, main->answer, false);
  spacer_init(w, s, &refused);
  if (setjmp(refused) == 0) {
    build(w);
    for (uint32_t i = 0; i <= main->query->nproperties; i++)
      answers[i] = ask(w, i);
    ok = true;
  }
  main->e.l.refusal = s->e.l.refusal;
  spacer_release(w);
  unrolling_release(s);
  memory_free(w);
  memory_free(s);
  if (!ok)
    longjmp(*main->e.l.refused, 1);
}

void horn_clauses(struct unrolling *s, struct script_parts *p) {
  struct chc_system *w = memory_alloc(sizeof *w);
  jmp_buf refused, *outer = s->e.l.refused;
  volatile bool ok = false;
  spacer_init(w, s, &refused);
  if (setjmp(refused) == 0) {
    build(w);
    for (size_t i = 0; i < w->rules.n; i++) {
      const struct chc_rule *r = &w->rules.at[i];
      arena_push(&s->e.arena, &p->all, clause(w, r, apply(w, r->to, &r->to_variables)));
    }
    p->goal = terms_translate(&s->e.t, EXPR_TRUE);
    for (size_t i = 0; i < w->goals.n; i++) /* goals of the requested property, or of errors */
      if (w->goals.at[i].to == 0)
        arena_push(&s->e.arena, &p->all, clause(w, &w->goals.at[i], terms_translate(&s->e.t, EXPR_FALSE)));
    ok = true;
  }
  spacer_release(w);
  memory_free(w);
  s->e.l.refused = outer;
  if (!ok)
    longjmp(*outer, 1);
}

void spacer_run(struct unrolling *s) {
  struct symbolic_answer *a = s->answer;
  uint32_t n = s->query->nproperties;
  enum answer *answers = arena_array(&s->e.arena, n + (size_t)1, sizeof *answers);
  bool unknown = false, reached = false;
  ask_all(s, answers);
  s->skip = arena_array(&s->e.arena, n + (size_t)1, sizeof *s->skip);
  for (uint32_t i = 0; i <= n; i++) {
    unknown |= answers[i] == ANSWER_UNKNOWN;
    reached |= answers[i] == ANSWER_YES;
    if (i < n)
      s->skip[i] = answers[i] == ANSWER_UNKNOWN;
  }
  /* a property is proved only if no earlier step can fail */
  for (uint32_t i = 0; i < n; i++) {
    a->proved[i] = answers[i] == ANSWER_NO && answers[n] == ANSWER_NO;
    s->skip[i] |= answers[i] == ANSWER_NO && answers[n] != ANSWER_YES; /* otherwise the query ends with the error */
  }
  bool known = !reached || bmc_until_decided(s);
  if (a->error.found)
    a->end = SYMBOLIC_MODEL_ERROR;
  else if (unknown || !known)
    unrolling_give_up(s);
  else
    a->end = !reached ? SYMBOLIC_EXHAUSTED : unrolling_decided(s) ? SYMBOLIC_DECIDED : SYMBOLIC_CUT;
}
