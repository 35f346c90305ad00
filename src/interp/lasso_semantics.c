#include "interp/lasso_semantics.h"

#include "model/node.h"

#include "interp/events.h"

#include "interp/eval.h"

#include <stdlib.h>
#include <string.h>

/* --- formulas --- */

struct lasso_evaluation {
  struct eval eval;
  struct config **at; /* a process that is ever faulty is marked faulty from the start: `correct` means never faulty */
  uint32_t n, loop;
};

static bool is_temporal_operator(const struct node *n) {
  return n->op == NODE_ALWAYS || n->op == NODE_EVENTUALLY || n->op == NODE_UNTIL;
}

static bool is_temporal(const struct node *n) { return node_has(n, is_temporal_operator); }

static void evaluate_at(struct lasso_evaluation *j, uint32_t i) {
  const struct config *c = j->at[i];
  j->eval.before = c;
  j->eval.globals = c->globals;
  j->eval.point = c->point == POINT_END ? j->eval.model->npoints - 1 : c->point;
  j->eval.phase = c->phase;
}

static bool *truths(struct lasso_evaluation *j) { return arena_array(j->eval.scratch, j->n, sizeof(bool)); }

static void lasso_evaluate(struct lasso_evaluation *, const struct node *, bool *out);

/* Least fixpoints for eventualities, greatest fixpoints for invariants: two passes around the loop are enough. */
static void lasso_evaluate_temporal(struct lasso_evaluation *j, const struct node *n, bool *out) {
  bool *a = truths(j), *b = truths(j);
  lasso_evaluate(j, n->kid[0], a);
  if (n->op == NODE_UNTIL)
    lasso_evaluate(j, n->kid[1], b);
  for (uint32_t i = 0; i < j->n; i++)
    out[i] = n->op == NODE_ALWAYS;
  for (uint32_t times = 0; times < 2; times++)
    for (uint32_t i = j->n; i-- > 0;) {
      bool later = out[i + 1 < j->n ? i + 1 : j->loop];
      out[i] = n->op == NODE_ALWAYS       ? a[i] && later
               : n->op == NODE_EVENTUALLY ? a[i] || later
                                          : b[i] || (a[i] && later);
    }
}

struct instances {
  struct lasso_evaluation *evaluation;
  const struct node *node;
  bool *out;
};

static bool lasso_evaluate_instance(struct eval *e, void *context, uint64_t weight) {
  struct instances *i = context;
  struct lasso_evaluation *j = i->evaluation;
  bool *one = truths(j), exists = i->node->op == NODE_EXISTS;
  (void)e;
  (void)weight;
  lasso_evaluate(j, i->node->kid[0], one);
  for (uint32_t k = 0; k < j->n; k++)
    i->out[k] = exists ? i->out[k] || one[k] : i->out[k] && one[k];
  evaluate_at(j, 0);
  return true;
}

static void lasso_evaluate_parts(struct lasso_evaluation *j, const struct node *n, bool *out) {
  bool *of[3] = {NULL, NULL, NULL};
  for (uint32_t i = 0; i < n->n && i < 3; i++)
    lasso_evaluate(j, n->kid[i], of[i] = truths(j));
  for (uint32_t i = 0; i < j->n; i++)
    if (n->op == NODE_NOT)
      out[i] = !of[0][i];
    else if (n->op == NODE_AND)
      out[i] = of[0][i] && of[1][i];
    else if (n->op == NODE_OR)
      out[i] = of[0][i] || of[1][i];
    else if (n->op == NODE_IMPLIES)
      out[i] = !of[0][i] || of[1][i];
    else if (n->op == NODE_EQ)
      out[i] = of[0][i] == of[1][i];
    else if (n->op == NODE_NE)
      out[i] = of[0][i] != of[1][i];
    else if (n->op == NODE_IF)
      out[i] = of[0][i] ? of[1][i] : of[2][i];
    else
      eval_fail(&j->eval, n->at, "'%s' has no value in a single state", op_text(n->op));
}

/* The truth value of n at every position. */
static void lasso_evaluate(struct lasso_evaluation *j, const struct node *n, bool *out) {
  if (!is_temporal(n)) {
    for (uint32_t i = 0; i < j->n; i++) {
      evaluate_at(j, i);
      out[i] = eval_true(&j->eval, n);
    }
  } else if (n->op == NODE_ALWAYS || n->op == NODE_EVENTUALLY || n->op == NODE_UNTIL) {
    lasso_evaluate_temporal(j, n, out);
  } else if (n->op == NODE_EXISTS || n->op == NODE_FORALL) {
    struct instances i = {j, n, out};
    for (uint32_t k = 0; k < j->n; k++)
      out[k] = n->op == NODE_FORALL;
    evaluate_at(j, 0);
    eval_bindings(&j->eval, n->gen, n->ngen, lasso_evaluate_instance, &i);
  } else {
    lasso_evaluate_parts(j, n, out);
  }
}

static void lasso_evaluation_begin(struct lasso_evaluation *j, struct interpreter *interp,
                                   const struct lasso_configs *run) {
  const struct model *m = interp->model;
  const struct config *last = run->at[run->n - 1];
  *j = (struct lasso_evaluation){.at = memory_alloc(run->n * sizeof *j->at), .n = run->n, .loop = run->loop};
  for (uint32_t i = 0; i < run->n; i++) {
    j->at[i] = config_copy(m, run->at[i]);
    for (uint32_t p = 0; p < m->nprocesses; p++)
      j->at[i]->local[p][LOCAL_STATUS] = last->local[p][LOCAL_STATUS];
  }
  eval_begin(&j->eval, interp);
  j->eval.error.process = UINT32_MAX;
}

static void lasso_evaluation_end(struct lasso_evaluation *j) {
  for (uint32_t i = 0; i < j->n; i++)
    config_free(j->at[i]);
  memory_free(j->at);
}

enum verdict3 lasso_satisfies(struct interpreter *interp, const struct node *formula, const struct lasso_configs *run,
                              struct model_error *error) {
  struct lasso_evaluation j;
  jmp_buf failure;
  volatile enum verdict3 verdict = V_ERROR;
  lasso_evaluation_begin(&j, interp, run);
  j.eval.failure = &failure;
  if (setjmp(failure) == 0) {
    bool *out = truths(&j);
    lasso_evaluate(&j, formula, out);
    verdict = out[0] ? V_TRUE : V_FALSE;
  } else if (error) {
    *error = j.eval.error;
  }
  lasso_evaluation_end(&j);
  return verdict;
}

/* --- the failing instance --- */

struct failing_instance {
  struct lasso_evaluation *evaluation;
  const struct node *node;
  lasso_binding_fn *report;
  void *context;
};

static void find_failing(struct lasso_evaluation *, const struct node *, lasso_binding_fn *, void *context);

static bool fails_here(struct eval *e, void *context, uint64_t weight) {
  struct failing_instance *f = context;
  bool *out = truths(f->evaluation);
  (void)weight;
  lasso_evaluate(f->evaluation, f->node->kid[0], out);
  evaluate_at(f->evaluation, 0);
  if (out[0])
    return true;
  for (uint32_t i = 0; i < f->node->ngen; i++)
    f->report(f->context, &f->node->gen[i], e->slot[f->node->gen[i].slot]);
  find_failing(f->evaluation, f->node->kid[0], f->report, f->context);
  return false;
}

static void find_failing(struct lasso_evaluation *j, const struct node *n, lasso_binding_fn *report, void *context) {
  if (n->op == NODE_FORALL) {
    struct failing_instance f = {j, n, report, context};
    evaluate_at(j, 0);
    eval_bindings(&j->eval, n->gen, n->ngen, fails_here, &f);
  } else if (n->op == NODE_IMPLIES) {
    find_failing(j, n->kid[1], report, context);
  } else if (n->op == NODE_AND) {
    bool *left = truths(j);
    lasso_evaluate(j, n->kid[0], left);
    find_failing(j, n->kid[left[0]], report, context);
  }
}

void lasso_instance(struct interpreter *interp, const struct node *formula, const struct lasso_configs *run,
                    lasso_binding_fn *report, void *context) {
  struct lasso_evaluation j;
  jmp_buf failure;
  lasso_evaluation_begin(&j, interp, run);
  j.eval.failure = &failure;
  if (setjmp(failure) == 0)
    find_failing(&j, formula, report, context);
  lasso_evaluation_end(&j);
}

/* --- round numbers --- */

typedef VEC(value) round_vec;

static void add_round(void *context, value round) {
  round_vec *out = context;
  vec_push(out, round);
}

static int by_number(const void *a, const void *b) {
  value x = *(const value *)a, y = *(const value *)b;
  return (x > y) - (x < y);
}

/* The type of an entry of a local state: a variable, or the first value of an input. */
static const struct type *local_type(const struct role *role, uint32_t i) {
  if (i < LOCAL_VAR(role->nvars))
    return role->vars[i - LOCAL_VAR(0)].type;
  for (uint32_t v = 0; v < role->nvars; v++)
    if (role->vars[v].kind == VAR_INPUT && role_initial_at(role, v) == i)
      return role->vars[v].type;
  return NULL;
}

/* All round numbers of a configuration, ascending, without duplicates. 0 is always included, because it is a first
   value. */
static void rounds_of(struct model *m, const struct config *c, round_vec *out) {
  vec_push(out, 0);
  if (m->npoints > 0)
    vec_push(out, c->phase);
  for (uint32_t i = 0; i < m->nglobals; i++)
    value_each_round(&m->values, m->globals[i].type, c->globals[i], add_round, out);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    for (uint32_t i = LOCAL_VAR(0); i < role_local_length(role); i++) {
      const struct type *t = local_type(role, i);
      if (t)
        value_each_round(&m->values, t, c->local[p][i], add_round, out);
    }
  }
  for (uint32_t i = 0; i < c->npackets; i++)
    value_each_round(&m->values, m->messages[c->packets[i].kind].type, c->packets[i].message, add_round, out);
  qsort(out->at, out->n, sizeof *out->at, by_number);
  size_t n = 0;
  for (size_t i = 0; i < out->n; i++)
    if (n == 0 || out->at[i] != out->at[n - 1])
      out->at[n++] = out->at[i];
  out->n = n;
}

static void rename_rounds(struct model *m, struct config *c, const struct renaming *r, const value *rounds) {
  if (m->npoints > 0)
    c->phase = rounds[c->phase];
  for (uint32_t i = 0; i < m->nglobals; i++)
    c->globals[i] = value_rename(&m->values, m->globals[i].type, c->globals[i], r);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    for (uint32_t i = LOCAL_VAR(0); i < role_local_length(role); i++) {
      const struct type *t = local_type(role, i);
      if (t)
        c->local[p][i] = value_rename(&m->values, t, c->local[p][i], r);
    }
  }
  for (uint32_t i = 0; i < c->npackets; i++)
    c->packets[i].message = value_rename(&m->values, m->messages[c->packets[i].kind].type, c->packets[i].message, r);
}

/* Does any stored value contain round numbers? */
static bool keeps_rounds(const struct model *m) {
  bool keeps = false;
  for (uint32_t i = 0; i < m->nglobals; i++)
    keeps |= type_contains_kind(m->globals[i].type, TYPE_ROUND);
  for (uint32_t i = 0; i < m->nmessages; i++)
    keeps |= type_contains_kind(m->messages[i].type, TYPE_ROUND);
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      keeps |= type_contains_kind(m->roles[r].vars[i].type, TYPE_ROUND);
  return keeps;
}

/* Equality up to the number of completed rounds and an order-preserving renaming of round numbers. exact: no stored
   round number differs. */
static bool config_equal_up_to_rounds(struct model *m, const struct config *a, const struct config *b, bool *exact) {
  struct config *x = config_copy(m, a);
  round_vec from = {0}, to = {0};
  bool keeps = keeps_rounds(m);
  x->rounds = b->rounds;
  if (!keeps)
    x->phase = b->phase;
  *exact = config_equal(m, x, b);
  bool equal = *exact;
  if (!equal && keeps) {
    rounds_of(m, a, &from);
    rounds_of(m, b, &to);
    equal = from.n == to.n && from.at[0] == 0 && to.at[0] == 0;
  }
  if (equal && !*exact) {
    value *rounds = memory_alloc(((size_t)from.at[from.n - 1] + 1) * sizeof *rounds);
    for (size_t i = 0; i < from.n; i++)
      rounds[from.at[i]] = to.at[i];
    struct renaming r = {.rounds = rounds};
    rename_rounds(m, x, &r, rounds);
    equal = config_equal(m, x, b);
    memory_free(rounds);
  }
  vec_release(&from);
  vec_release(&to);
  config_free(x);
  return equal;
}

/* --- messages that accumulate --- */

/* Renames the round numbers of processes and globals by their order. Those that occur only in messages stay unchanged,
   because these messages were not touched. Indexed by round number, up to the largest of a. NULL: the renaming does not
   preserve the order. */
static value *rounds_accumulated(struct model *m, const struct config *a, const struct config *b) {
  struct config *x = config_copy(m, a), *y = config_copy(m, b);
  round_vec from = {0}, to = {0}, all = {0};
  x->npackets = y->npackets = 0;
  rounds_of(m, x, &from);
  rounds_of(m, y, &to);
  rounds_of(m, a, &all);
  value largest = all.at[all.n - 1], before = -1, *rounds = memory_alloc(((size_t)largest + 1) * sizeof *rounds);
  bool ok = from.n == to.n;
  for (value r = 0; r <= largest; r++)
    rounds[r] = r;
  for (size_t i = 0; i < from.n && ok; i++)
    rounds[from.at[i]] = to.at[i];
  for (size_t i = 0; i < all.n && ok; i++) {
    ok = rounds[all.at[i]] > before;
    before = rounds[all.at[i]];
  }
  vec_release(&from);
  vec_release(&to);
  vec_release(&all);
  config_free(x);
  config_free(y);
  if (!ok)
    memory_free(rounds);
  return ok ? rounds : NULL;
}

static bool is_pending(struct config *c, const struct packet *p) {
  for (uint32_t i = 0; i < c->npackets; i++)
    if (c->packets[i].from == p->from && c->packets[i].to == p->to && c->packets[i].kind == p->kind &&
        c->packets[i].place == p->place && c->packets[i].message == p->message) {
      c->packets[i] = c->packets[--c->npackets]; /* match each packet once */
      return true;
    }
  return false;
}

/* FIFO: each channel of a is a prefix of that channel of b, and channels that are empty in a are empty in b. */
static bool begins_alike(const struct config *a, const struct config *b) {
  uint32_t i = 0;
  for (uint32_t k = 0; k < b->npackets; k++) {
    const struct packet *p = &b->packets[k], *q = &a->packets[i];
    bool first = k == 0 || b->packets[k - 1].from != p->from || b->packets[k - 1].to != p->to;
    bool same_channel = i < a->npackets && q->from == p->from && q->to == p->to;
    if (same_channel && (q->kind != p->kind || q->place != p->place || q->message != p->message))
      return false;
    if (!same_channel && first)
      return false;
    i += same_channel;
  }
  return i == a->npackets;
}

/* Additional messages never disable anything if channels are unbounded and no message has to be taken. (The order in
   which messages arrived may be kept, but has no effect.) In FIFO channels the additional messages are behind all
   others. */
static bool may_accumulate(const struct interpreter *interp, struct channels channels) {
  return interp->semantics != SEMANTICS_MP && channels.bound == 0;
}

/* The number of faults matters only if a clause limits it for the whole run. */
static void without_counts(const struct environment *env, struct config *a, const struct config *b) {
  bool lost = false, corrupted = false, duplicated = false;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    bool budget = c->per == PER_RUN && c->limit < INT64_MAX;
    lost |= c->kind == CLAUSE_LOST && budget;
    corrupted |= c->kind == CLAUSE_CORRUPTED && budget;
    duplicated |= c->kind == CLAUSE_DUPLICATED && budget;
  }
  if (!lost)
    a->lost = b->lost;
  if (!corrupted)
    a->corrupted = b->corrupted;
  if (!duplicated)
    a->duplicated = b->duplicated;
}

bool config_recurs(struct interpreter *interp, uint32_t environment, const struct config *before,
                   const struct config *b, struct recurrence *r) {
  struct model *m = interp->model;
  struct config counted = *before, *a = &counted;
  *r = (struct recurrence){.rounds = NULL};
  without_counts(&m->environments[environment], a, b);
  if (config_equal_up_to_rounds(m, a, b, &r->exact)) {
    round_vec from = {0}, to = {0};
    rounds_of(m, a, &from);
    rounds_of(m, b, &to);
    r->rounds = memory_alloc(((size_t)from.at[from.n - 1] + 1) * sizeof *r->rounds);
    for (size_t i = 0; i < from.n; i++)
      r->rounds[from.at[i]] = i < to.n ? to.at[i] : from.at[i];
    vec_release(&from);
    vec_release(&to);
    return true;
  }
  struct channels channels = environment_channels(&m->environments[environment]);
  if (!model_steps(m) || !may_accumulate(interp, channels) || a->npackets >= b->npackets ||
      !(r->rounds = rounds_accumulated(m, a, b)))
    return false;
  const struct renaming rename = {.rounds = r->rounds};
  struct config *x = config_copy(m, a), *y = config_copy(m, b);
  rename_rounds(m, x, &rename, r->rounds);
  bool fifo = channels.kind == CHANNEL_FIFO, all = !fifo || begins_alike(x, y);
  for (uint32_t i = 0; i < x->npackets && all && !fifo; i++)
    all = is_pending(y, &x->packets[i]);
  x->npackets = y->npackets = 0;
  r->piles = true;
  all = all && config_equal(m, x, y);
  config_free(x);
  config_free(y);
  if (!all)
    recurrence_release(r);
  return all;
}

void recurrence_release(struct recurrence *r) {
  memory_free(r->rounds);
  r->rounds = NULL;
}

struct witness *witness_renumbered(struct model *m, const struct recurrence *again, const struct witness *w) {
  struct witness *copy = witness_copy(m, w);
  const struct renaming r = {.rounds = again->rounds};
  struct event *e = copy->event;
  uint32_t kind = event_message_kind(m, e);
  for (uint32_t i = 0; i < e->ntaken; i++)
    if (!e->taken[i].forged)
      e->taken[i].message = value_rename(&m->values, m->messages[kind].type, e->taken[i].message, &r);
  return copy;
}
