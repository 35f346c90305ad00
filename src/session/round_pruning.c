#include "session/round_pruning.h"

#include "interp/async_round.h"
#include "interp/run_clauses.h"
#include "model/node.h"

#include <string.h>

void round_pruning_init(struct round_pruning *r, struct session *s, uint32_t environment, const struct config *c) {
  *r = (struct round_pruning){.session = s,
                              .environment = environment,
                              .env = &s->model.environments[environment],
                              .config = c,
                              .ends = SESSION_NO_PROCESS};
  r->reads = environment_reads_heard_of(r->env);
  r->budget = environment_clause(r->env, CLAUSE_LOST) || environment_clause(r->env, CLAUSE_CORRUPTED);
  r->heard = memory_alloc((s->model.nprocesses + (size_t)1) * sizeof *r->heard);
  for (uint32_t i = 0; i < r->env->nclauses && c->point != POINT_END; i++) {
    const struct clause *k = &r->env->clauses[i];
    if (clause_applies(&s->model, k, c) && node_has_traits(k->pred, TRAIT_HEARD_OF))
      vec_push(&r->known, k);
  }
}

void round_pruning_release(struct round_pruning *r) {
  vec_release(&r->known);
  memory_free(r->heard);
}

void round_pruning_ends(struct round_pruning *r, uint32_t process) {
  const struct async_run *run = r->session->path.async;
  r->ends = process;
  for (uint32_t q = 0; q < run->n; q++)
    r->absent |= (uint64_t)(run->done[q] < run->nrounds) << q;
}

/* --- clauses --- */

struct binding_query {
  const struct node *body;
  bool truth;
  bool found; /* a binding with which the body may have that value */
  bool all;   /* stop at the first binding with which it cannot */
};

static bool may_be(struct eval *e, const struct node *n, bool truth);

static bool ask_binding(struct eval *e, void *context, uint64_t weight) {
  struct binding_query *q = context;
  (void)weight;
  q->found = may_be(e, q->body, q->truth);
  return q->found == q->all;
}

/* Restores what an evaluation that has no value leaves behind. */
struct eval_mark {
  jmp_buf *failure;
  unsigned depth;
};

static bool quantifier_may_be(struct eval *e, const struct node *n, bool truth) {
  bool all = (n->op == NODE_FORALL) == truth;
  struct binding_query q = {.body = n->kid[0], .truth = truth, .found = all, .all = all};
  struct eval_mark mark = {e->failure, e->depth};
  jmp_buf unknown;
  e->failure = &unknown;
  bool may = true;
  if (!setjmp(unknown)) {
    eval_bindings(e, n->gen, n->ngen, ask_binding, &q);
    may = q.found;
  } else {
    may = true;
  }
  e->failure = mark.failure;
  e->depth = mark.depth;
  return may;
}

static bool leaf_may_be(struct eval *e, const struct node *n, bool truth) {
  struct eval_mark mark = {e->failure, e->depth};
  jmp_buf unknown;
  volatile bool may = true;
  e->failure = &unknown;
  if (!setjmp(unknown))
    may = eval_true(e, n) == truth;
  e->failure = mark.failure;
  e->depth = mark.depth;
  return may;
}

/* May the formula have that value, once all heard-of sets are known? True if it cannot be told. */
static bool may_be(struct eval *e, const struct node *n, bool truth) {
  switch (op_number(n->op)) {
  case NODE_NOT:
    return may_be(e, n->kid[0], !truth);
  case NODE_AND:
    return truth ? may_be(e, n->kid[0], true) && may_be(e, n->kid[1], true)
                 : may_be(e, n->kid[0], false) || may_be(e, n->kid[1], false);
  case NODE_OR:
    return truth ? may_be(e, n->kid[0], true) || may_be(e, n->kid[1], true)
                 : may_be(e, n->kid[0], false) && may_be(e, n->kid[1], false);
  case NODE_IMPLIES:
    return truth ? may_be(e, n->kid[0], false) || may_be(e, n->kid[1], true)
                 : may_be(e, n->kid[0], true) && may_be(e, n->kid[1], false);
  }
  if (n->op == NODE_FORALL || n->op == NODE_EXISTS)
    return quantifier_may_be(e, n, truth);
  return leaf_may_be(e, n, truth);
}

/* Can the clause be true, given the heard-of sets that are known? */
static bool clause_may_hold(struct round_pruning *r, const struct clause *k, const struct message_exchange *x,
                            uint8_t *const *corrupt) {
  struct config seen = *x->config;
  struct eval e;
  seen.local = x->local; /* with the oracles of this round */
  eval_round(&e, r->session->interp, &seen, r->heard, corrupt);
  return may_be(&e, k->pred, true);
}

bool reception_may_be_allowed(struct round_pruning *r, const struct message_exchange *x, const struct witness *w,
                              uint32_t p) {
  uint8_t **corrupt = r->known.n ? witness_corrupt(w) : NULL;
  bool may = true;
  memset(r->heard, 0, w->nprocesses * sizeof *r->heard);
  r->heard[p] = w->heard[p];
  for (size_t i = 0; i < r->known.n && may; i++) /* other formulas are hardly ever false because of one set */
    may = r->known.at[i]->pred->op != NODE_FORALL || clause_may_hold(r, r->known.at[i], x, corrupt);
  memory_free(corrupt);
  return may;
}

/* The heard-of sets of these processes and of those that are chosen before them are known; what is forged is not. */
static bool rows_may_be_allowed(struct round_pruning *r, const struct message_exchange *x, const struct witness *w,
                                uint32_t p) {
  uint32_t last = r->ends == SESSION_NO_PROCESS ? w->nprocesses - 1 : r->ends;
  for (uint32_t q = 0; q < w->nprocesses; q++)
    r->heard[q] = p == last || (q <= p && q != last) ? w->heard[q] : NULL;
  for (size_t i = 0; i < r->known.n; i++)
    if (!node_has_op(r->known.at[i]->pred, NODE_SHO) && !clause_may_hold(r, r->known.at[i], x, NULL))
      return false;
  return true;
}

/* --- the filter --- */

bool message_is_absent(const struct round_pruning *r, const struct message_exchange *x, const struct witness *w,
                       uint32_t p, uint32_t q) {
  const struct local_send *sent = NULL;
  struct model_error ignored;
  return p == r->ends && r->absent >> q & 1 && !w->crashes[p] && exchange_message(x, q, p, &sent, &ignored) && sent;
}

static bool can_be_forged(const struct message_exchange *x, uint32_t p, uint32_t q) {
  const struct local_send *sent = NULL;
  struct model_error ignored;
  return x->config->local[q][LOCAL_STATUS] & STATUS_BYZANTINE || (exchange_message(x, q, p, &sent, &ignored) && sent);
}

static bool is_stopped(struct round_pruning *r) {
  r->stopped |= interpreter_stopped(r->session->interp) != 0;
  return r->stopped;
}

static bool keep_pair(void *context, const struct witness *w, const struct message_exchange *x, uint32_t p, uint32_t q,
                      bool forged) {
  struct round_pruning *r = context;
  if (is_stopped(r) || (forged && !can_be_forged(x, p, q)) || (w->heard[p][q] && message_is_absent(r, x, w, p, q)))
    return false;
  if (r->budget && (forged || !w->heard[p][q]) && !exchange_within_budget(x, r->env, w))
    return false;
  return forged || q + 1 < w->nprocesses || rows_may_be_allowed(r, x, w, p);
}

/* Asynchronous rounds: is there a heard-of set with which the process can end the round, from pair q on? */
static bool some_row(struct round_pruning *r, struct witness *w, const struct message_exchange *x, uint32_t q) {
  uint32_t p = r->ends;
  if (q == w->nprocesses)
    return reception_may_be_allowed(r, x, w, p);
  w->heard[p][q] = 1;
  if (!message_is_absent(r, x, w, p, q) && some_row(r, w, x, q + 1))
    return true;
  w->heard[p][q] = 0;
  return exchange_may_miss(x, r->env, w, r->reads, p, q) && !is_stopped(r) && some_row(r, w, x, q + 1);
}

static enum round_part keep_sent(void *context, struct witness *w, const struct message_exchange *x,
                                 enum step_result begun, const struct model_error *error) {
  struct round_pruning *r = context;
  if (is_stopped(r))
    return ROUND_STOP;
  if (r->ends == SESSION_NO_PROCESS)
    return ROUND_KEEP;
  return (begun == STEP_ERROR ? error->process == r->ends : some_row(r, w, x, 0)) ? ROUND_KEEP : ROUND_SKIP;
}

static bool keep_crash(void *context, const struct witness *w, uint32_t p) {
  struct round_pruning *r = context;
  (void)p;
  return r->environment != r->session->environment || crashes_within_limits(r->session, r->config, w);
}

struct round_filter round_pruning_filter(struct round_pruning *r) {
  uint32_t last = r->ends == SESSION_NO_PROCESS ? r->session->model.nprocesses - 1 : r->ends;
  return (struct round_filter){
      .context = r, .last_row = last, .crash = keep_crash, .sent = keep_sent, .pair = keep_pair};
}
