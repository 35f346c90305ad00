/* A fast path for the common case: no process is faulty, nothing is chosen, every process sends at most one message to
   all, and the outcome set of a process depends only on its local state and on the bag of messages. Then a state's task
   takes one lookup for each process, once the outcome sets are known. Otherwise the general path is taken, which stores
   its lists for the fast path. Without it, one_third_rule with n = 6, k = 3 takes 9 % more instructions. */
#include "lockstep/fast_path.h"

#include "lockstep/expansion.h"
#include "lockstep/layer_product.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_product.h"
#include "lockstep/outcome_set.h"

#include <string.h>

void fast_path_prepare(struct lockstep *s) {
  const struct model *m = s->model;
  s->fast_path = arena_array(&s->arena, m->npoints + 1, sizeof *s->fast_path);
  for (uint32_t p = 0; p < m->npoints; p++) {
    uint32_t last = s->pack.kept.rounds ? s->pack.kept.rounds_cap : m->points[p].number - 1;
    const struct rules *r = rules_of(s->interp, s->base.query->environment, p, last, NULL, 0, &s->arena);
    bool fast_path = s->form.same_receivables[p] && m->nroles == 1 && !s->pack.kept.rounds && !r->plain &&
                     !r->crashes && !r->lossy && !r->nsizes && !r->nfilters && !r->corrupts &&
                     r->coupling == COUPLED_NOT && !r->delivers;
    const struct read_set *sends = s->local.sends[p], *updates = s->local.updates[p];
    fast_path = fast_path && !sends->me && !sends->phase && !sends->globals && !updates->me && !updates->phase &&
                !updates->globals && m->roles[0].body[p].nsends <= 1;
    for (uint32_t i = 0; i < m->roles[0].nvars; i++)
      fast_path = fast_path && !oracle_chosen_at(m, &m->roles[0].vars[i], p);
    s->fast_path[p] = fast_path;
  }
}

void fast_path_remember(struct lockstep *s, const struct actor *a, uint32_t point, uint32_t list) {
  uint64_t key = (uint64_t)a->original << 32 | point;
  uint32_t known;
  if (!lockstep_stopped(s) && !memo_find(&s->fast_path_lists, key, a->receivable_id, &known))
    memo_add(&s->fast_path_lists, key, a->receivable_id, list);
}

/* 1 + the sends of a process in this local state; 0: there is a choice or an error, or it takes no part. */
static uint32_t fast_path_sends(struct lockstep *s, local_id id, uint32_t point) {
  if (local_status(&s->pack, id) != 0)
    return 0;
  const struct list *l = send_alternatives(s, id, point, 0, 1, 0);
  bool one = l->n == 1 && !(l->at[0] & SENDING_ERROR) && s->local.round_sends.at[l->at[0]].n <= 1;
  return one ? 1 + l->at[0] : 0;
}

static void add_message(const struct model *m, const struct type *received, struct round_receivable *o, value message,
                        uint32_t count) {
  uint32_t at = 0;
  while (at < o->n && o->groups[at].message != message && message_before(m, received, o->groups[at].message, message))
    at++;
  if (at < o->n && o->groups[at].message == message) {
    o->groups[at].count += count;
    o->groups[at].must += count;
    return;
  }
  memmove(o->groups + at + 1, o->groups + at, (o->n - at) * sizeof *o->groups);
  o->groups[at] = (struct sender_group){.message = message, .tag = NO_SENDER, .count = count, .must = count};
  o->n++;
}

bool fast_path_task(struct lockstep *s, const struct unpacked_state *g, struct layer_product *t) {
  struct sender_group groups[64];
  uint32_t lists[64];
  struct round_receivable receivable = {.groups = groups, .need = UINT32_MAX};
  if (g->point == POINT_END || !s->fast_path[g->point] || g->n > 60)
    return false;
  bool unread = s->local.updates[g->point]->received == RECEIVED_UNREAD;
  for (uint32_t i = 0; i < g->n; i++) {
    uint32_t sending = fast_path_sends(s, g->at[i].local, g->point);
    if (!sending)
      return false;
    const struct local_send_list *out = &s->local.round_sends.at[sending - 1];
    if (out->n)
      add_message(s->model, s->model->roles[0].body[g->point].received, &receivable, unread ? 0 : out->at[0].message,
                  g->at[i].count);
  }
  uint32_t index;
  lockstep_rules(s, g->point, s->model->points[g->point].number - 1, NULL, &index);
  uint32_t id = receivable_find(s, index, &receivable);
  for (uint32_t i = 0; i < g->n && id != INTERN_NONE; i++)
    if (!memo_find(&s->fast_path_lists, (uint64_t)g->at[i].local << 32 | g->point, id, &lists[i]))
      return false;
  if (id == INTERN_NONE)
    return false;
  layer_product_task(t, g, lists);
  return true;
}
