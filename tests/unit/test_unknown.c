/* What nobody has heard of: an operator, a clause, a statement without a name is put into every place of a typed model,
   one after the other. Whoever answers queries must refuse it, at its place; every analysis must give the answer of
   somebody who knows nothing. */
#include "checked_text.h"

#include "analysis/features.h"
#include "analysis/formula_reads.h"
#include "analysis/independence.h"
#include "analysis/licence.h"
#include "analysis/local_properties.h"
#include "analysis/may_fail.h"
#include "analysis/monotonicity.h"
#include "analysis/read_sets.h"
#include "analysis/stable_predicates.h"
#include "export/lower.h"
#include "symbolic/unrolling.h"

/* ---- models with something everywhere ---- */

#define ROUNDS_TEXT                                                                                                    \
  "algorithm Rounds\n"                                                                                                 \
  "type Value = 0..2\n"                                                                                                \
  "def larger(a: Value, b: Value) = if a < b then b else a\n"                                                          \
  "process P[2] {\n"                                                                                                   \
  "  input x: Value where x <= 2\n"                                                                                    \
  "  var d: Value? = none\n"                                                                                           \
  "  var seen: set of Value = {}\n"                                                                                    \
  "  oracle leader: P each round\n"                                                                                    \
  "  round {\n"                                                                                                        \
  "    send x to P when x > 0 or d == none\n"                                                                          \
  "    update {\n"                                                                                                     \
  "      seen := seen | {m for m in received}\n"                                                                       \
  "      if |received| == 2 and exists m in received: m == x { d := larger(m, x) }\n"                                  \
  "      else { let y = max(m for m in received) otherwise x  x := y }\n"                                              \
  "    }\n"                                                                                                            \
  "  }\n"                                                                                                              \
  "}\n"                                                                                                                \
  "environment e {\n"                                                                                                  \
  "  at most 1 process crash\n"                                                                                        \
  "  any messages are lost\n"                                                                                          \
  "  every round: forall p in P: |HO[p]| >= 1\n"                                                                       \
  "}\n"                                                                                                                \
  "safety agreement: forall p, q in P: p.d != none and q.d != none => p.d == q.d\n"                                    \
  "safety stays: step forall p in P: p.seen <= p.seen'\n"                                                              \
  "cover decided: exists p in correct: p.d == initial(p.x)\n"

#define MESSAGES_TEXT                                                                                                  \
  "algorithm Messages\n"                                                                                               \
  "message ask(v: 0..2)\n"                                                                                             \
  "message answer(v: 0..2)\n"                                                                                          \
  "process A[2] {\n"                                                                                                   \
  "  input x: 0..2\n"                                                                                                  \
  "  var got: set of A = {}\n"                                                                                         \
  "  var done: bool = false\n"                                                                                         \
  "  start { send ask(x) to all }\n"                                                                                   \
  "  on ask(v) from p if v < 2 { send answer(v) to p  got := got | {p} }\n"                                            \
  "  on Q: 2 of answer if not done { done := true  foreach m in Q { if m.v == 1 { x := 1 } } }\n"                      \
  "}\n"                                                                                                                \
  "environment e {\n"                                                                                                  \
  "  channels set\n"                                                                                                   \
  "  at most 1 process crash\n"                                                                                        \
  "}\n"                                                                                                                \
  "safety bounded: forall a in A: a.done => |a.got| <= 2\n"                                                            \
  "safety grows: step forall a in A: a.got <= a.got'\n"

#define SHARED_TEXT                                                                                                    \
  "algorithm Shared\n"                                                                                                 \
  "shared turn: 0..1 = 0\n"                                                                                            \
  "process P[2] {\n"                                                                                                   \
  "  var n: 0..2 = 0\n"                                                                                                \
  "  step try when turn == 0 { turn := 1 }\n"                                                                          \
  "  step leave { turn := 0  n := if n < 2 then n + 1 else n  goto try }\n"                                            \
  "}\n"                                                                                                                \
  "environment e { at most 1 process crash }\n"                                                                        \
  "safety alone: forall p, q in P: at(p, leave) and at(q, leave) => p == q\n"                                          \
  "safety few: forall p in P: p.n <= 2\n"

static const char *const texts[] = {ROUNDS_TEXT, MESSAGES_TEXT, SHARED_TEXT};
#define TEXTS (sizeof texts / sizeof *texts)

/* ---- every place ---- */

enum where { IN_FIRST_VALUE, IN_PROCESS, IN_CLAUSE, IN_PROPERTY };

struct position {
  enum where where;
  uint32_t index; /* of the role, the clause, the property; of a file-level variable: 0 */
  struct node *node;
};

struct unknown_fixture {
  struct checked_text checking;
  struct model *model;
  struct query query;
  VEC(uint32_t) properties;
  VEC(struct position) positions;
  VEC(struct stmt *) statements;
};

static void gather(struct unknown_fixture *t, enum where where, uint32_t index, struct node *n) {
  if (!n)
    return;
  for (size_t i = 0; i < t->positions.n; i++)
    if (t->positions.at[i].node == n)
      return;
  vec_push(&t->positions, ((struct position){where, index, n}));
  for (uint32_t i = 0; i < n->ngen; i++) {
    gather(t, where, index, n->gen[i].range);
    gather(t, where, index, n->gen[i].cond);
  }
  for (uint32_t i = 0; i < n->n; i++)
    gather(t, where, index, n->kid[i]);
}

static void gather_guard(struct unknown_fixture *t, uint32_t role, const struct guard *g) {
  for (uint32_t i = 0; i < g->ngen; i++) {
    gather(t, IN_PROCESS, role, g->gen[i].range);
    gather(t, IN_PROCESS, role, g->gen[i].cond);
  }
  gather(t, IN_PROCESS, role, g->cond);
}

static void gather_send(struct unknown_fixture *t, uint32_t role, const struct send *s) {
  gather_guard(t, role, &s->guard);
  gather(t, IN_PROCESS, role, s->message);
  gather(t, IN_PROCESS, role, s->to);
}

static void gather_block(struct unknown_fixture *t, uint32_t role, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    struct stmt *s = b->at[i];
    vec_push(&t->statements, s);
    gather_guard(t, role, &s->guard);
    gather(t, IN_PROCESS, role, s->expr);
    for (uint32_t k = 0; k < s->npath; k++)
      gather(t, IN_PROCESS, role, s->path[k].index);
    if (s->send)
      gather_send(t, role, s->send);
    gather_block(t, role, &s->then);
    gather_block(t, role, &s->other);
  }
}

static void gather_role(struct unknown_fixture *t, uint32_t r) {
  const struct role *role = &t->model->roles[r];
  for (uint32_t i = 0; i < role->nvars; i++) {
    gather(t, IN_FIRST_VALUE, r, role->vars[i].init);
    gather(t, IN_FIRST_VALUE, r, role->vars[i].where);
  }
  for (uint32_t i = 0; role->body && i < t->model->npoints; i++) {
    for (uint32_t k = 0; k < role->body[i].nsends; k++)
      gather_send(t, r, &role->body[i].sends[k]);
    gather_block(t, r, &role->body[i].update);
    gather_block(t, r, &role->body[i].finally);
  }
  for (uint32_t i = 0; i < role->nactions; i++) {
    gather(t, IN_PROCESS, r, role->actions[i].match);
    gather(t, IN_PROCESS, r, role->actions[i].size);
    gather_guard(t, r, &role->actions[i].guard);
    gather_block(t, r, &role->actions[i].body);
  }
}

static void trial_init(struct unknown_fixture *t, const char *text) {
  *t = (struct unknown_fixture){0};
  struct text out = {0};
  check_with(&t->checking, text, NULL, 0, false);
  if (!t->checking.model)
    print_error("%s\n%s\n", text, diagnostics_text(&t->checking, &out));
  text_release(&out);
  assert_non_null(t->checking.model);
  struct model *m = t->model = t->checking.model;
  for (uint32_t i = 0; i < m->nglobals; i++)
    gather(t, IN_FIRST_VALUE, 0, m->globals[i].init);
  for (uint32_t i = 0; i < m->nroles; i++)
    gather_role(t, i);
  for (uint32_t i = 0; i < m->ndefs; i++)
    gather(t, IN_PROCESS, 0, m->defs[i].body);
  for (uint32_t i = 0; i < m->environments[0].nclauses; i++)
    gather(t, IN_CLAUSE, i, m->environments[0].clauses[i].pred);
  for (uint32_t i = 0; i < m->nproperties; i++) {
    gather(t, IN_PROPERTY, i, m->properties[i].formula);
    vec_push(&t->properties, i);
  }
  t->query = (struct query){.semantics = m->kind == MODEL_ROUNDS     ? SEMANTICS_COARSE
                                         : m->kind == MODEL_MESSAGES ? SEMANTICS_M
                                                                     : SEMANTICS_INTERLEAVING,
                            .properties = t->properties.at,
                            .nproperties = m->nproperties};
  assert_true(t->positions.n > 20);
}

static void trial_release(struct unknown_fixture *t) {
  vec_release(&t->properties);
  vec_release(&t->positions);
  vec_release(&t->statements);
  release(&t->checking);
}

static struct licences *license(struct unknown_fixture *t, enum request_mode wish, struct arena *arena) {
  struct reduction_request requested;
  for (unsigned i = 0; i < REDUCTIONS; i++)
    requested.reduce[i] = wish;
  return licences_grant(t->model, &t->query, &requested, arena);
}

/* ---- who answers ---- */

static bool same_place(struct span a, struct span b) { return a.from == b.from && a.to == b.to; }

static void assert_features(struct unknown_fixture *t, bool refused, enum feature which, struct span at) {
  for (unsigned e = 0; e < ENGINES; e++) {
    enum feature lacking = FEATURES;
    struct span found = {0, 0};
    assert_int_equal(features_refused(t->model, &t->query, (enum engine_id)e, &lacking, &found), refused);
    if (refused) {
      assert_int_equal(lacking, which);
      assert_true(same_place(found, at));
    }
  }
}

/* Solvers, queries for them, and programs. */
static void assert_engines(struct unknown_fixture *t, bool refused, struct span at) {
  struct arena arena;
  arena_init(&arena);
  const struct licences *licences = license(t, REQUEST_OFF, &arena);
  for (int e = SYMBOLIC_BOUNDED; e <= SYMBOLIC_SPACER; e++) {
    struct symbolic_options o = {.engine = (enum symbolic_engine)e, .depth = 1, .licences = licences};
    struct symbolic_answer a;
    symbolic_check(t->model, &t->query, &o, &a);
    assert_int_equal(a.refused, refused);
    if (refused)
      assert_true(same_place(a.refused_at, at));
    symbolic_answer_release(&a, &t->query);
  }
  struct text out = {0}, reason = {0};
  struct span found = {0, 0};
  struct query one = t->query;
  one.nproperties = 1;
  assert_int_equal(symbolic_export(t->model, refused ? &t->query : &one, 1, licences, &out, &found, &reason), !refused);
  text_release(&out);
  text_release(&reason);
  for (int e = ENGINE_PROMELA; e <= ENGINE_DOT; e++) {
    struct diags diags;
    diags_init(&diags, &t->model->source);
    struct program *p =
        program_new(t->model, 0, t->properties.at, (uint32_t)t->properties.n, 2, (enum engine_id)e, &diags);
    assert_int_equal(p == NULL, refused);
    assert_true(!refused || (diags.errors == 1 && same_place(diags.at[0].at, at)));
    program_free(p);
    diags_release(&diags);
  }
  arena_release(&arena);
}

static void everything_known_is_done(void **state) {
  (void)state;
  for (size_t i = 0; i < TEXTS; i++) {
    struct unknown_fixture t;
    trial_init(&t, texts[i]);
    assert_features(&t, false, FEATURES, (struct span){0, 0});
    assert_engines(&t, false, (struct span){0, 0});
    trial_release(&t);
  }
}

static void operators_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < TEXTS; i++) {
    struct unknown_fixture t;
    bool set = false;
    trial_init(&t, texts[i]);
    for (size_t k = 0; k < t.positions.n; k++) {
      struct node *n = t.positions.at[k].node;
      enum op op = n->op;
      set |= n->type->kind == TYPE_SET;
      n->op = NODE_OPS;
      assert_features(&t, true, FEATURE_UNKNOWN_OPERATOR, n->at);
      if (k % 7 == 0) /* a solver is started for each */
        assert_engines(&t, true, n->at);
      n->op = op;
    }
    assert_true(set || t.model->kind == MODEL_SHARED);
    trial_release(&t);
  }
}

static void clauses_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < TEXTS; i++) {
    struct unknown_fixture t;
    trial_init(&t, texts[i]);
    for (uint32_t k = 0; k < t.model->environments[0].nclauses; k++) {
      struct clause *c = &t.model->environments[0].clauses[k];
      enum clause_kind kind = c->kind;
      c->kind = (enum clause_kind)CLAUSE_KINDS;
      assert_features(&t, true, FEATURE_UNKNOWN_CLAUSE, c->at);
      assert_engines(&t, true, c->at);
      c->kind = kind;
    }
    trial_release(&t);
  }
}

/* Everything else that has a kind. */
static void kinds_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < TEXTS; i++) {
    struct unknown_fixture t;
    trial_init(&t, texts[i]);
    for (size_t k = 0; k < t.statements.n; k++) {
      struct stmt *s = t.statements.at[k];
      enum stmt_kind kind = s->kind;
      s->kind = (enum stmt_kind)(STMT_SEND + 1u);
      assert_features(&t, true, FEATURE_UNKNOWN, s->at);
      s->kind = kind;
      if (s->send) {
        enum target_kind target = s->send->target;
        s->send->target = (enum target_kind)(TARGET_EXPR + 1u);
        assert_features(&t, true, FEATURE_UNKNOWN, s->send->at);
        s->send->target = target;
      }
    }
    for (uint32_t r = 0; r < t.model->nroles; r++) {
      struct role *role = &t.model->roles[r];
      for (uint32_t k = 0; k < role->nactions; k++) {
        enum trigger trigger = role->actions[k].trigger;
        role->actions[k].trigger = (enum trigger)(TRIGGER_QUORUM + 1u);
        assert_features(&t, true, FEATURE_UNKNOWN, role->actions[k].at);
        role->actions[k].trigger = trigger;
      }
      for (uint32_t k = 0; k < role->nvars; k++) {
        enum var_kind kind = role->vars[k].kind;
        role->vars[k].kind = (enum var_kind)(VAR_ONCE + 1u);
        assert_features(&t, true, FEATURE_UNKNOWN, role->vars[k].at);
        role->vars[k].kind = kind;
      }
    }
    for (uint32_t k = 0; k < t.model->nproperties; k++) {
      struct property *p = &t.model->properties[k];
      struct property old = *p;
      p->kind = (enum property_kind)(PROPERTY_LIVE + 1u);
      p->step = false;
      assert_features(&t, true, FEATURE_UNKNOWN, p->at);
      *p = old;
    }
    t.query.semantics = (enum semantics)(SEMANTICS_INTERLEAVING + 1u);
    assert_features(&t, true, FEATURE_UNKNOWN, (struct span){0, 0});
    trial_release(&t);
  }
}

/* ---- the second line: translations that were started all the same ---- */

static void encode_all(struct unrolling *s) {
  truth allowed, error;
  encode_start(&s->e, &allowed, &error);
  environment_check_clauses(&s->e);
  uint32_t points = model_steps(s->model) ? 1 : s->model->npoints;
  for (uint32_t i = 0; i < points; i++) {
    struct sym_step *step = unrolling_step(s, encode_any_state(&s->e, i));
    for (uint32_t k = 0; k < s->query->nproperties; k++)
      unrolling_goal(s, k, step->before, step->after);
  }
}

static bool encoding_refuses(struct unknown_fixture *t) {
  struct symbolic_options o = {.engine = SYMBOLIC_INDUCTION, .depth = 1};
  struct symbolic_answer a = {0};
  struct unrolling *s = memory_alloc(sizeof *s);
  jmp_buf refused;
  volatile bool refuses = true;
  unrolling_init(s, t->model, &t->query, &o, &a, false);
  s->e.l.refused = &refused;
  if (!setjmp(refused)) {
    encode_all(s);
    refuses = false;
  }
  unrolling_release(s);
  memory_free(s);
  return refuses;
}

static bool lowering_refuses(struct unknown_fixture *t, const struct node *n) {
  struct program p = {.model = t->model};
  jmp_buf refused;
  volatile bool refuses = true;
  arena_init(&p.arena);
  expr_graph_init(&p.expr_graph, false);
  struct model_lowering l;
  model_lowering_init(&l, &p, t->model, 0, &refused);
  if (!setjmp(refused)) {
    lower_node(&l.scope, n);
    refuses = false;
  }
  bool said = same_place(l.base.refusal.at, n->at);
  expr_graph_release(&p.expr_graph);
  arena_release(&p.arena);
  return refuses && said;
}

static void translations_refuse(void **state) {
  (void)state;
  for (size_t i = 0; i < TEXTS; i++) {
    struct unknown_fixture t;
    trial_init(&t, texts[i]);
    assert_false(encoding_refuses(&t));
    for (size_t k = 0; k < t.positions.n; k++) {
      struct node *n = t.positions.at[k].node;
      enum op op = n->op;
      n->op = NODE_OPS;
      bool refuses = encoding_refuses(&t) && lowering_refuses(&t, n);
      if (!refuses)
        print_error("not refused: '%.*s'\n", (int)(n->at.to - n->at.from), t.model->source.text + n->at.from);
      assert_true(refuses);
      n->op = op;
    }
    for (size_t k = 0; k < t.statements.n; k++) {
      enum stmt_kind kind = t.statements.at[k]->kind;
      t.statements.at[k]->kind = (enum stmt_kind)(STMT_SEND + 1u);
      assert_true(encoding_refuses(&t));
      t.statements.at[k]->kind = kind;
    }
    for (uint32_t k = 0; k < t.model->environments[0].nclauses; k++) {
      struct clause *c = &t.model->environments[0].clauses[k];
      enum clause_kind kind = c->kind;
      c->kind = (enum clause_kind)CLAUSE_KINDS;
      assert_true(encoding_refuses(&t));
      c->kind = kind;
    }
    trial_release(&t);
  }
}

/* ---- analyses ---- */

static const char *text_of(const struct unknown_fixture *t, const struct node *n) {
  static char text[200];
  snprintf(text, sizeof text, "'%.*s' in %s", (int)(n->at.to - n->at.from < 100 ? n->at.to - n->at.from : 100),
           t->model->source.text + n->at.from, t->model->name);
  return text;
}

/* Calls check for every position with an operator that nobody knows; false is a failure, and all of them are
 * diagnostics_text. */
static void at_every_position(bool (*check)(struct unknown_fixture *, const struct position *), const char *what) {
  unsigned wrong = 0;
  for (size_t i = 0; i < TEXTS; i++) {
    struct unknown_fixture t;
    trial_init(&t, texts[i]);
    for (size_t k = 0; k < t.positions.n; k++) {
      struct node *n = t.positions.at[k].node;
      enum op op = n->op;
      n->op = NODE_OPS;
      if (!check(&t, &t.positions.at[k])) {
        print_error("%s: %s (%s)\n", what, text_of(&t, n), op_text(op));
        wrong++;
      }
      n->op = op;
    }
    trial_release(&t);
  }
  assert_int_equal(wrong, 0);
}

static bool fails(struct unknown_fixture *t, const struct position *p) {
  return node_may_fail(t->model, &t->query, p->node, NULL, NULL);
}

static bool chooses(struct unknown_fixture *t, const struct position *p) { return node_chooses(t->model, p->node); }

static bool reads_all(struct unknown_fixture *t, const struct position *p) {
  struct arena arena;
  arena_init(&arena);
  struct formula_reads r = formula_reads_of(t->model, p->node, &arena);
  bool all = r.status && r.initials && r.rounds && r.phase;
  for (uint32_t i = 0; i < t->model->nglobals; i++)
    all &= r.globals[i];
  for (uint32_t i = 0; i < t->model->nroles; i++)
    for (uint32_t k = 0; k < t->model->roles[i].nvars; k++)
      all &= r.vars[i][k];
  arena_release(&arena);
  return all;
}

static bool counts(struct unknown_fixture *t, const struct position *p) {
  uint32_t quantifiers = 0;
  return p->where != IN_PROPERTY ||
         formula_counts_processes(t->model, t->model->properties[p->index].formula, &quantifiers);
}

static bool is_no_step_of_one(struct unknown_fixture *t, const struct position *p) {
  const struct property *property = &t->model->properties[p->index];
  return p->where != IN_PROPERTY || !property->step || !property_is_one_process_step(property);
}

static bool may_see_stuttering(struct unknown_fixture *t, const struct position *p) {
  const struct property *property = &t->model->properties[p->index];
  return p->where != IN_PROPERTY || !property->step || !property_is_stutter_invariant(property);
}

static bool is_not_local(struct unknown_fixture *t, const struct position *p) {
  struct arena arena;
  struct refusal why = {0};
  if (p->where != IN_PROPERTY || t->model->kind != MODEL_ROUNDS)
    return true;
  arena_init(&arena);
  enum locality l = locality_of(t->model, &t->query, p->index, &arena, &why);
  arena_release(&arena);
  return l != LOCAL;
}

static bool is_not_permanent(struct unknown_fixture *t, const struct position *p) {
  struct arena arena;
  if (p->where != IN_PROCESS || !model_steps(t->model))
    return true;
  arena_init(&arena);
  struct stable_predicates *of = stable_predicates_of(t->model, &t->query, &arena);
  bool permanent = predicate_stays_false(of, p->index, p->node);
  arena_release(&arena);
  return !permanent;
}

/* The reductions that the text as a whole allows or not; first values need not be alike for symmetry. The others are
   always granted, and go by what is read where. */
static bool is_not_granted(struct unknown_fixture *t, const struct position *p) {
  static const enum reduction all_or_nothing[] = {REDUCE_SYMMETRY,   REDUCE_PARTITION,    REDUCE_ORDER,
                                                  REDUCE_ROUND_RANK, REDUCE_ROUND_WINDOW, REDUCE_VALUES,
                                                  REDUCE_FUSION};
  struct arena arena;
  bool ok = true;
  arena_init(&arena);
  const struct licences *l = license(t, REQUEST_AUTO, &arena);
  for (size_t i = 0; i < sizeof all_or_nothing / sizeof *all_or_nothing; i++) {
    enum reduction r = all_or_nothing[i];
    bool alike = r == REDUCE_SYMMETRY && p->where == IN_FIRST_VALUE;
    if (l->of[r].concerns && l->of[r].applied && !alike) {
      print_error("  %s\n", reduction_name(r));
      ok = false;
    }
  }
  ok &= p->where != IN_PROPERTY || !l->of[REDUCE_DEAD_VARIABLES].applied || !l->of[REDUCE_DEAD_VARIABLES].useful;
  ok &= p->where != IN_PROPERTY || !t->model->properties[p->index].step || !l->of[REDUCE_MERGING].applied;
  arena_release(&arena);
  return ok;
}

/* Rounds: what a step of a process reads, by which it is remembered. */
static bool round_reads_all(struct unknown_fixture *t, const struct position *p) {
  struct arena arena;
  if (p->where != IN_PROCESS || model_steps(t->model))
    return true;
  arena_init(&arena);
  const struct read_set *s = read_set_of_sends(t->model, p->index, 0, &arena),
                        *u = read_set_of_update(t->model, p->index, 0, &arena);
  bool sends = s->me && s->phase && s->globals && s->chooses;
  bool update = u->me && u->phase && u->globals && u->chooses && u->received == RECEIVED_SENDERS && u->counts;
  arena_release(&arena);
  return sends || update;
}

/* Steps: likewise, and what depends on it. */
static bool action_reads_all(struct unknown_fixture *t, const struct position *p) {
  const struct model *m = t->model;
  struct arena arena;
  bool found = p->where != IN_PROCESS || !model_steps(m);
  arena_init(&arena);
  for (uint32_t i = 0; !found && i < m->roles[p->index].nactions; i++) {
    const struct action_uses *use = action_uses_of(m, &t->query, &arena);
    const struct action_use *a = &use->of[p->index][i];
    bool shared = true;
    for (uint32_t k = 0; k < m->nglobals; k++)
      shared &= a->reads_shared[k] || a->writes_shared[k];
    found =
        a->me && a->senders && a->chooses && shared && independence_of(m, &t->query, use, &arena)->fails[p->index][i];
  }
  arena_release(&arena);
  return found;
}

static bool sees_all(struct unknown_fixture *t, const struct position *p) {
  const struct model *m = t->model;
  struct arena arena;
  if (p->where != IN_PROPERTY || !model_steps(m))
    return true;
  arena_init(&arena);
  const struct action_uses *use = action_uses_of(m, &t->query, &arena);
  bool all = use->crash_visible;
  for (uint32_t i = 0; i < m->nglobals; i++)
    all &= use->property_shared[i];
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      all &= use->property_reads[r][i];
  arena_release(&arena);
  return all;
}

static void unknown_may_fail(void **state) {
  (void)state;
  at_every_position(fails, "cannot fail");
}
static void unknown_may_choose(void **state) {
  (void)state;
  at_every_position(chooses, "does not choose");
}
static void unknown_reads_everything(void **state) {
  (void)state;
  at_every_position(reads_all, "does not read everything");
}
static void unknown_counts_processes(void **state) {
  (void)state;
  at_every_position(counts, "does not count processes");
}
static void unknown_is_no_step_of_one(void **state) {
  (void)state;
  at_every_position(is_no_step_of_one, "speaks of one process");
}
static void unknown_may_see_stuttering(void **state) {
  (void)state;
  at_every_position(may_see_stuttering, "holds of stuttering");
}
static void unknown_is_not_local(void **state) {
  (void)state;
  at_every_position(is_not_local, "is local");
}
static void unknown_is_not_permanent(void **state) {
  (void)state;
  at_every_position(is_not_permanent, "stays false");
}
static void unknown_grants_nothing(void **state) {
  (void)state;
  at_every_position(is_not_granted, "is granted");
}
static void unknown_is_read_in_rounds(void **state) {
  (void)state;
  at_every_position(round_reads_all, "a round does not read everything");
}
static void unknown_is_read_in_steps(void **state) {
  (void)state;
  at_every_position(action_reads_all, "an action does not read everything");
}
static void unknown_sees_every_step(void **state) {
  (void)state;
  at_every_position(sees_all, "does not see everything");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_known_is_done),   cmocka_unit_test(operators_are_refused),
      cmocka_unit_test(clauses_are_refused),        cmocka_unit_test(kinds_are_refused),
      cmocka_unit_test(translations_refuse),        cmocka_unit_test(unknown_may_fail),
      cmocka_unit_test(unknown_may_choose),         cmocka_unit_test(unknown_reads_everything),
      cmocka_unit_test(unknown_counts_processes),   cmocka_unit_test(unknown_is_no_step_of_one),
      cmocka_unit_test(unknown_may_see_stuttering), cmocka_unit_test(unknown_is_not_local),
      cmocka_unit_test(unknown_is_not_permanent),   cmocka_unit_test(unknown_grants_nothing),
      cmocka_unit_test(unknown_is_read_in_rounds),  cmocka_unit_test(unknown_is_read_in_steps),
      cmocka_unit_test(unknown_sees_every_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
