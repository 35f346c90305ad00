/* Clauses about whole runs (`infinitely often`, `eventually always`, `eventually`), evaluated by definition on rounds
   and on lassos. */
#include "interp/run_clauses.h"

#include <string.h>

/* --- one round --- */

struct visible_round { /* what clauses can read */
  struct message_exchange exchange;
  struct config config; /* with the oracles of this round */
  const struct witness *witness;
  uint8_t **corrupt;
  bool good; /* no send failed */
};

static void visible_round_init(struct visible_round *r, struct interpreter *interp, const struct config *c,
                               const struct witness *w) {
  struct model_error ignored;
  r->good = exchange_begin(&r->exchange, interp, c, w, &ignored) == STEP_OK;
  r->config = *c;
  r->config.local = r->exchange.local;
  r->witness = w;
  r->corrupt = witness_corrupt(w);
}

static void visible_round_release(struct visible_round *r) {
  exchange_release(&r->exchange);
  memory_free(r->corrupt);
}

void eval_round(struct eval *e, struct interpreter *interp, const struct config *c, uint8_t *const *heard,
                uint8_t *const *corrupt) {
  eval_begin(e, interp);
  e->before = c;
  e->globals = c->globals;
  e->point = c->point;
  e->phase = c->phase;
  e->round.heard = heard;
  e->round.corrupt = corrupt;
}

bool part_holds(struct interpreter *interp, const struct clause *clause, const struct node *pred, const value *bound,
                const struct config *c, uint8_t *const *heard, uint8_t *const *corrupt) {
  struct eval e;
  jmp_buf failure;
  eval_round(&e, interp, c, heard, corrupt);
  e.failure = &failure;
  if (setjmp(failure))
    return false;
  for (uint32_t i = 0; bound && i < clause->nwitness; i++)
    e.slot[clause->witness[i].slot] = bound[i];
  return eval_true(&e, pred);
}

bool part_applies(const struct model *m, const struct clause_part *part, uint32_t point) {
  return part->name_id == NO_NAME || m->points[point].name_id == part->name_id;
}

bool clause_parts_hold(struct interpreter *interp, const struct clause *clause, const value *bound,
                       const struct config *c, const struct witness *w) {
  struct visible_round r;
  visible_round_init(&r, interp, c, w);
  bool ok = r.good;
  for (uint32_t i = 0; i < clause->nparts && ok; i++)
    if (part_applies(interp->model, &clause->parts[i], c->point))
      ok = part_holds(interp, clause, clause->parts[i].pred, bound, &r.config, w->heard, r.corrupt);
  visible_round_release(&r);
  return ok;
}

bool clause_pred_holds(struct interpreter *interp, const struct clause *clause, const struct config *c,
                       const struct witness *w) {
  struct visible_round r;
  visible_round_init(&r, interp, c, w);
  bool ok = r.good && part_holds(interp, clause, clause->pred, NULL, &r.config, w->heard, r.corrupt);
  visible_round_release(&r);
  return ok;
}

bool clause_holds(struct interpreter *interp, uint32_t environment, uint32_t clause, const struct config *c,
                  const struct witness *w) {
  const struct model *m = interp->model;
  const struct clause *k = &m->environments[environment].clauses[clause];
  if (c->point == POINT_END || (k->name_id != NO_NAME && m->points[c->point].name_id != k->name_id))
    return k->kind == CLAUSE_FINALLY;
  return clause_pred_holds(interp, k, c, w);
}

/* --- the rounds of a phase --- */

struct witness_bindings {
  const struct clause *clause;
  VEC(value) found; /* nwitness values each */
  uint32_t n;
};

static bool keep_binding(struct eval *e, void *context, uint64_t weight) {
  struct witness_bindings *b = context;
  (void)weight;
  for (uint32_t i = 0; i < b->clause->nwitness; i++)
    vec_push(&b->found, e->slot[b->clause->witness[i].slot]);
  b->n++;
  return true;
}

value *clause_witnesses(struct interpreter *interp, const struct clause *clause, const struct config *c, uint32_t *n) {
  struct witness_bindings b = {.clause = clause};
  struct eval e;
  jmp_buf failure;
  uint8_t *nobody = NULL; /* makes quantifiers range as they do in clauses */
  eval_round(&e, interp, c, &nobody, NULL);
  e.failure = &failure;
  if (setjmp(failure) == 0)
    eval_bindings(&e, clause->witness, clause->nwitness, keep_binding, &b);
  *n = b.n;
  vec_push(&b.found, 0); /* never NULL */
  return b.found.at;
}

/* rigid: the first nrigid values of the witness, or NULL. */
static bool holds_of_rounds(struct interpreter *interp, const struct clause *k, const value *rigid,
                            const struct config *const *configs, const struct witness *const *steps, uint32_t n) {
  uint32_t nfound;
  value *found = clause_witnesses(interp, k, configs[0], &nfound);
  bool ok = false;
  for (uint32_t b = 0; b < nfound && !ok; b++) {
    const value *bound = found + (size_t)b * k->nwitness;
    ok = !rigid || !memcmp(bound, rigid, k->nrigid * sizeof *rigid);
    for (uint32_t i = 0; i < n && ok; i++)
      ok = clause_parts_hold(interp, k, bound, configs[i], steps[i]);
  }
  memory_free(found);
  return ok;
}

bool clause_holds_in_phase(struct interpreter *interp, uint32_t environment, uint32_t clause,
                           const struct config *const *configs, const struct witness *const *steps, uint32_t n) {
  return holds_of_rounds(interp, &interp->model->environments[environment].clauses[clause], NULL, configs, steps, n);
}

/* --- runs --- */

struct clause_lasso {
  struct interpreter *interp;
  uint32_t environment, clause;
  const struct config *const *configs;
  const struct witness *const *steps;
  uint32_t n, loop;
};

static uint32_t place(const struct clause_lasso *l, uint32_t i) {
  return i < l->n ? i : l->loop + (i - l->loop) % (l->n - l->loop);
}

/* Does the clause hold in the round of step i, or in the phase that ends with it? */
static bool holds_at(const struct clause_lasso *l, const value *rigid, uint32_t i) {
  const struct model *m = l->interp->model;
  const struct clause *k = &m->environments[l->environment].clauses[l->clause];
  const struct config *now = l->configs[place(l, i)];
  if (k->unit != EACH_PHASE && !rigid)
    return clause_holds(l->interp, l->environment, l->clause, now, l->steps[place(l, i)]);
  if (k->unit == EACH_PHASE && !m->points[now->point].phase_end)
    return k->kind == CLAUSE_FINALLY;
  uint32_t first = i, count;
  while (k->unit == EACH_PHASE && first > 0 && !m->points[l->configs[place(l, first)]->point].phase_start)
    first--;
  count = i - first + 1;
  const struct config **configs = memory_alloc(count * sizeof *configs);
  const struct witness **steps = memory_alloc(count * sizeof *steps);
  for (uint32_t j = 0; j < count; j++) {
    configs[j] = l->configs[place(l, first + j)];
    steps[j] = l->steps[place(l, first + j)];
  }
  bool ok = holds_of_rounds(l->interp, k, rigid, configs, steps, count);
  memory_free(configs);
  memory_free(steps);
  return ok;
}

/* Does it hold in each of these steps? */
static bool holds_always(const struct clause_lasso *l, const value *rigid, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++)
    if (!holds_at(l, rigid, i))
      return false;
  return true;
}

static bool holds_for_some(const struct clause_lasso *l, const struct clause *k, uint32_t from, uint32_t to) {
  uint32_t nfound;
  value *found = clause_witnesses(l->interp, k, l->configs[l->loop], &nfound);
  bool ok = false;
  for (uint32_t b = 0; b < nfound && !ok; b++)
    ok = holds_always(l, found + (size_t)b * k->nwitness, from, to);
  memory_free(found);
  return ok;
}

bool clause_holds_of_run(struct interpreter *interp, uint32_t environment, uint32_t clause,
                         const struct config *const *configs, const struct witness *const *steps, uint32_t n,
                         uint32_t loop) {
  struct clause_lasso l = {interp, environment, clause, configs, steps, n, loop};
  const struct clause *k = &interp->model->environments[environment].clauses[clause];
  if (loop == n) /* the algorithm has ended: rounds in which nothing happens satisfy every clause */
    return true;
  /* a phase that is incomplete at the end of the loop continues at its start: check the third iteration */
  uint32_t length = n - loop, from = k->kind == CLAUSE_ONCE ? 0 : loop + 2 * length, to = loop + 3 * length;
  if (k->kind == CLAUSE_FINALLY)
    return k->nrigid ? holds_for_some(&l, k, from, to) : holds_always(&l, NULL, from, to);
  for (uint32_t i = from; i < to; i++)
    if (holds_at(&l, NULL, i))
      return true;
  return false;
}
