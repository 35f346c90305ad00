/* What can have no effect any more is forgotten: variables that nobody will read, messages that nobody will take or whose
   taking would change nothing. Decided from the text (model/actions.h, model/permanent.h) and the local state of the one
   process concerned, so it is remembered by that. */
#include "interleave/interleave_space.h"

#include "model/flow.h"
#include "model/permanent.h"
#include "model/survey.h"
#include "sem/local.h"

#include <string.h>

struct forgetting {
  bool variables;
  const struct step_liveness *liveness;
  const struct permanence *permanence;
  bool *recovers;       /* by role */
  bool loses;           /* messages can be lost, whether that is a step or not */
  bool runs;            /* the question is about runs */
  bool idles;           /* a message may be forgotten because taking it changes nothing */
  struct memo dead;     /* (receiver and local state, sender and letter) -> is it? */
  struct memo channels; /* (receiver and local state, sender and content) -> content */
};

void forgetting_init(struct interleave *s) {
  const struct model *m = s->model;
  const struct licence *of = s->base.licences->of;
  struct forgetting *f = s->forgetting = arena_alloc(&s->arena, sizeof *f);
  f->variables = of[REDUCE_DEAD_VARIABLES].applied;
  if (f->variables)
    f->liveness = step_liveness_of(m, s->base.question, &s->arena);
  /* a message that nobody wants still takes up room */
  s->forgets_messages = of[REDUCE_DEAD_MESSAGES].applied && s->cells.bound == 0 && !s->cells.arrivals;
  f->recovers = arena_array(&s->arena, m->nroles + 1, sizeof *f->recovers);
  for (uint32_t r = 0; r < m->nroles; r++)
    f->recovers[r] = role_recovers(m, s->base.question, r);
  f->loses = environment_has(m, s->base.question, CLAUSE_LOST);
  /* Steps that change nothing can fill a run if they can be taken again and again, and then they are fair to others. */
  f->runs = question_live(m, s->base.question);
  f->idles = !f->runs || (!s->fair && !s->duplicates);
  s->stuck_channels = s->forgets_messages && s->cells.channels == CHANNEL_FIFO;
  if (!s->forgets_messages)
    return;
  f->permanence = permanence_of(m, s->base.question, &s->arena);
}

void forgetting_release(struct interleave *s) {
  memo_release(&s->forgetting->dead);
  memo_release(&s->forgetting->channels);
}

size_t forgetting_bytes(const struct interleave *s) {
  return memo_bytes(&s->forgetting->dead) + memo_bytes(&s->forgetting->channels);
}

/* --- variables --- */

void forget_variables(struct interleave *s, uint32_t r, value *local) {
  const struct forgetting *f = s->forgetting;
  const struct role *role = &s->model->roles[r];
  value status = local[LOCAL_STATUS];
  if (!f->variables || (status & STATUS_BYZANTINE))
    return;
  uint32_t label = role->point_var == NO_VAR ? 0 : (uint32_t)local[LOCAL_VAR(role->point_var)];
  const bool *live = process_active(status) ? f->liveness->live[r][label] : f->liveness->idle[r];
  for (uint32_t i = 0; i < role->nvars; i++)
    if (!live[i])
      local[LOCAL_VAR(i)] = VALUE_BLANK;
}

/* --- messages --- */

struct regard { /* one message as one action sees it */
  struct interleave *space;
  uint32_t role;
  const struct action *action;
  const value *local;   /* as it is packed: some variables may be blank */
  const value *unblank;
  struct eval eval;
  bool unknown;
};

static bool look_unknown(void *context, const struct node *n) {
  struct regard *g = context;
  g->unknown |= (op_traits(n->op) & TRAIT_SHARED) || (n->op == NODE_VAR && g->local[LOCAL_VAR(n->index)] == VALUE_BLANK);
  return !g->unknown;
}

/* Is it false? Not knowing counts as no. */
static bool is_false(struct regard *g, const struct node *n) {
  g->unknown = false;
  node_walk_deep(g->space->model, n, look_unknown, g);
  if (g->unknown)
    return false;
  jmp_buf failure;
  g->eval.failure = &failure;
  if (setjmp(failure))
    return false;
  return !eval_true(&g->eval, n);
}

static bool any_false(struct regard *g, const struct conditions *c) {
  for (uint32_t i = 0; i < c->n; i++)
    if (is_false(g, c->at[i]))
      return true;
  return false;
}

static bool all_false(struct regard *g, const struct conditions *c) {
  for (uint32_t i = 0; i < c->n; i++)
    if (!is_false(g, c->at[i]))
      return false;
  return true;
}

static void regard_message(struct regard *g, uint32_t to, uint32_t from, value message) {
  const struct action *a = g->action;
  size_t n;
  local_begin(&g->eval, g->space->meaning, to, 0, 1, (value *)g->unblank, NULL);
  g->eval.slot[a->slot] = message;
  g->eval.slot_sender[a->slot] = from;
  if (a->from_slot != NO_SLOT)
    g->eval.slot[a->from_slot] = from;
  const value *part = value_parts(&g->space->model->values, message, &n);
  for (uint32_t i = 0; i < a->nparts; i++)
    g->eval.slot[a->parts[i].slot] = part[a->parts[i].field];
}

/* Can the process never come to where the action is taken? */
static bool out_of_reach(const struct regard *g) {
  const struct forgetting *f = g->space->forgetting;
  const struct role *role = &g->space->model->roles[g->role];
  const struct action *a = g->action;
  if (a->once != NO_SLOT && g->local[LOCAL_VAR(a->once)] == 1 && !f->recovers[g->role])
    return true;
  return role->point_var != NO_VAR && a->point != ANY_POINT &&
         !point_reaches(f->permanence, g->role, (uint32_t)g->local[LOCAL_VAR(role->point_var)], a->point);
}

/* Will the action never take the message (or, if that is enough, never do anything with it)? A quorum that is taken takes
   others along. */
static bool has_no_use(struct regard *g, uint32_t to, uint32_t from, value message, bool or_idle) {
  const struct action *a = g->action;
  const struct permanence *permanence = g->space->forgetting->permanence;
  uint32_t number = (uint32_t)(a - g->space->model->roles[g->role].actions);
  const struct conditions *effects;
  if (out_of_reach(g))
    return true;
  regard_message(g, to, from, message);
  return any_false(g, action_vetoes(permanence, g->role, number)) ||
         (or_idle && g->space->forgetting->idles &&
          !(a->trigger == TRIGGER_QUORUM && (a->taken || g->space->forgetting->runs)) &&
          action_effects(permanence, g->role, number, &effects) && all_false(g, effects));
}

/* Nobody will take the message (or, unless it stands in the way of others, taking it would change nothing). */
static bool is_useless(struct interleave *s, uint32_t to, content local, uint32_t from, letter l, bool or_idle) {
  uint32_t r = s->role_of[to], n, kind = letter_kind(&s->channels, l);
  const struct role *role = &s->model->roles[r];
  const value *v = content_values(&s->cells, to, local, &n);
  value *unblank = memory_alloc((n + 1) * sizeof *unblank);
  memcpy(unblank, v, n * sizeof *v);
  local_unblank(&s->cells, r, unblank);
  struct regard *g = memory_alloc(sizeof *g);
  *g = (struct regard){.space = s, .role = r, .local = v, .unblank = unblank};
  bool useless = true;
  for (uint32_t a = 0; a < role->nactions && useless; a++) {
    g->action = &role->actions[a];
    if (g->action->trigger != TRIGGER_NONE && g->action->kind == kind)
      useless = has_no_use(g, to, from, letter_message(&s->channels, l), or_idle);
  }
  memory_free(unblank);
  memory_free(g);
  return useless;
}

/* It will never take a step again. */
static bool is_gone(const struct interleave *s, uint32_t p, content local) {
  uint32_t n;
  value status = content_values(&s->cells, p, local, &n)[LOCAL_STATUS];
  return (status & (STATUS_HALTED | STATUS_BYZANTINE)) ||
         ((status & STATUS_CRASHED) && !s->forgetting->recovers[s->role_of[p]]);
}

bool message_has_no_use(struct interleave *s, uint32_t to, content local, uint32_t from, letter l, uint32_t action) {
  uint32_t r = s->role_of[to], n;
  const value *v = content_values(&s->cells, to, local, &n);
  value *unblank = memory_alloc((n + 1) * sizeof *unblank);
  memcpy(unblank, v, n * sizeof *v);
  local_unblank(&s->cells, r, unblank);
  struct regard *g = memory_alloc(sizeof *g);
  *g = (struct regard){.space = s, .role = r, .local = v, .unblank = unblank};
  g->action = &s->model->roles[r].actions[action];
  bool none = is_gone(s, to, local) || has_no_use(g, to, from, letter_message(&s->channels, l), true);
  memory_free(unblank);
  memory_free(g);
  return none;
}

bool forgets_idle_messages(const struct interleave *s) {
  return s->forgets_messages && s->forgetting->idles && s->cells.channels != CHANNEL_FIFO &&
         s->meaning->semantics != SEMANTICS_MP;
}

bool message_is_dead(struct interleave *s, uint32_t to, content local, uint32_t from, letter l) {
  struct forgetting *f = s->forgetting;
  uint32_t n, known;
  if (content_values(&s->cells, to, local, &n)[LOCAL_STATUS] & STATUS_BYZANTINE)
    return true;
  if (!s->forgets_messages || is_gone(s, to, local))
    return s->forgets_messages;
  if (s->cells.channels == CHANNEL_FIFO || s->meaning->semantics == SEMANTICS_MP)
    return false; /* it stands in the way */
  uint64_t a = (uint64_t)to << 32 | local, b = (uint64_t)from << 32 | l;
  if (memo_find(&f->dead, a, b, &known))
    return known;
  bool dead = is_useless(s, to, local, from, l, true);
  memo_add(&f->dead, a, b, dead);
  return dead;
}

static content without_dead(struct interleave *s, uint32_t to, content local, uint32_t from, content channel) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to], kept = 0;
  uint32_t n = channel_decode(&s->cells, cell, channel, NULL, 0);
  struct channel_packet *packets = memory_alloc((n + 1) * sizeof *packets);
  channel_decode(&s->cells, cell, channel, packets, n);
  if (s->cells.channels == CHANNEL_FIFO) {
    /* what lies behind a message that nobody will ever take is never reached */
    letter first = letter_put(&s->channels, packets[0].kind, packets[0].message);
    bool stuck = n > 1 && !s->forgetting->loses && s->meaning->semantics != SEMANTICS_MP &&
                 is_useless(s, to, local, from, first, false);
    kept = stuck ? 1 : n;
  } else {
    for (uint32_t i = 0; i < n; i++)
      if (!message_is_dead(s, to, local, from, letter_put(&s->channels, packets[i].kind, packets[i].message)))
        packets[kept++] = packets[i];
  }
  content left = kept == n ? channel : channel_encode(&s->cells, cell, packets, kept);
  memory_free(packets);
  return left;
}

content forget_messages(struct interleave *s, uint32_t to, content local, uint32_t from, content channel) {
  struct forgetting *f = s->forgetting;
  if (!s->forgets_messages || channel == 0)
    return channel;
  uint64_t a = (uint64_t)to << 32 | local, b = (uint64_t)from << 32 | channel;
  uint32_t left;
  if (memo_find(&f->channels, a, b, &left))
    return left;
  left = is_gone(s, to, local) ? 0 : without_dead(s, to, local, from, channel);
  memo_add(&f->channels, a, b, left);
  return left;
}

/* --- rows --- */

void row_of_config(struct interleave *s, const struct config *config, content *row) {
  const struct model *m = s->model;
  struct config *kept = config_copy(m, config);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    forget_variables(s, s->role_of[p], kept->local[p]);
  cells_from_config(&s->cells, kept, row);
  config_free(kept);
  for (uint32_t p = 0; p < m->nprocesses && s->frozen; p++)
    row[p] = forget_unread(s, p, row[p], globals_of_row(s, row, s->role_of[p]));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    for (uint32_t i = 0; i < s->mover.ninbound[p]; i++) {
      const struct inbound *in = &s->mover.inbound[p][i];
      row[in->cell] = forget_messages(s, p, row[p], in->from, row[in->cell]);
    }
}
