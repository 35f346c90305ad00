/* Outcomes of actions, each computed once by the interpreter. */
#include "steps/action_outcomes.h"

#include "analysis/action_use.h"
#include "analysis/dataflow.h"
#include "analysis/model_visitor.h"
#include "steps/dead_data.h"
#include "steps/process_moves.h"
#include "steps/step_system_internal.h"

#include <string.h>

/* Marks a global as used by every role: who can send to whom may depend on it, which affects every receiver. */
static bool look_global(void *context, const struct node *n) {
  struct step_system *s = context;
  for (uint32_t r = 0; r < s->model->nroles; r++)
    for (uint32_t g = 0; g < s->model->nglobals; g++)
      s->steps.used[r][g] |= (n->op == NODE_GLOBAL && n->index == g) || !op_is_known(n->op);
  return true;
}

void local_steps_init(struct step_system *s) {
  struct local_steps *t = &s->steps;
  const struct model *m = s->model;
  arena_init(&t->arena);
  t->projections = intern_new();
  t->global_sets = intern_new();
  t->sends = intern_new();
  t->writes = intern_new();
  t->quorum_keys = intern_new();
  t->message_lists = intern_new();
  t->free_choice_lists = intern_new();
  intern_put(t->sends, NULL, 0); /* 0: the empty list */
  intern_put(t->writes, NULL, 0);
  t->local = arena_array(&t->arena, s->interp->max_local + 1, sizeof *t->local);
  t->globals = arena_array(&t->arena, m->nglobals + 1, sizeof *t->globals);
  t->uses_identity = arena_array(&t->arena, m->nroles + 1, sizeof *t->uses_identity);
  t->used = arena_array(&t->arena, m->nroles + 1, sizeof *t->used);
  t->uses = arena_array(&t->arena, m->nroles + 1, sizeof *t->uses);
  for (uint32_t r = 0; r < m->nroles; r++)
    t->used[r] = arena_array(&t->arena, m->nglobals + 1, sizeof **t->used);
  for (uint32_t r = 0; r < m->nroles; r++) {
    for (uint32_t a = 0; a < m->roles[r].nactions; a++) {
      const struct action_use *use = &s->use->of[r][a];
      t->uses_identity[r] |= use->me;
      for (uint32_t g = 0; g < m->nglobals; g++)
        t->used[r][g] |= use->reads_shared[g] || use->writes_shared[g];
    }
    if (m->roles[r].graph)
      node_walk_deep(m, m->roles[r].graph, look_global, s);
    if (role_recovers(m, s->base.query, r)) /* a recovery computes initial values again */
      for (uint32_t i = 0; i < m->roles[r].nvars; i++)
        node_walk_deep(m, m->roles[r].vars[i].init, look_global, s);
  }
}

void local_steps_release(struct step_system *s) {
  struct local_steps *t = &s->steps;
  struct intern *tables[] = {t->projections,   t->global_sets,      t->sends, t->writes, t->quorum_keys,
                             t->message_lists, t->free_choice_lists};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    intern_free(tables[i]);
  struct memo *memos[] = {&t->none, &t->one, &t->forged, &t->quorum};
  for (size_t i = 0; i < sizeof memos / sizeof *memos; i++)
    memo_release(memos[i]);
  for (size_t i = 0; i < t->lists.n; i++)
    memory_free(t->lists.at[i].at);
  for (size_t i = 0; i < t->quorum_lists.n; i++)
    memory_free(t->quorum_lists.at[i].at);
  vec_release(&t->lists);
  vec_release(&t->quorum_lists);
  vec_release(&t->scratch);
  vec_release(&t->errors);
  outbox_release(&t->outbox);
  arena_release(&t->arena);
}

size_t local_steps_bytes(const struct step_system *s) {
  const struct local_steps *t = &s->steps;
  return intern_bytes(t->projections) + intern_bytes(t->global_sets) + intern_bytes(t->sends) +
         intern_bytes(t->writes) + intern_bytes(t->quorum_keys) + memo_bytes(&t->none) + memo_bytes(&t->one) +
         memo_bytes(&t->forged) + memo_bytes(&t->quorum) + t->lists.cap * sizeof *t->lists.at +
         t->quorum_lists.cap * sizeof *t->quorum_lists.at;
}

/* --- preparing a process for the interpreter --- */

/* The process that represents all processes with the same behaviour. */
static uint32_t actor(const struct step_system *s, const struct visible_state *at) {
  return s->steps.uses_identity[at->role] ? at->process : s->model->roles[at->role].first;
}

static uint32_t projection_of(struct step_system *s, const struct visible_state *at) {
  return intern_put(s->steps.projections, (value[]){actor(s, at), at->local, at->globals}, 3);
}

/* Loads variables and globals as values; don't-cares become the first value of their type. */
void local_steps_load(struct step_system *s, const struct visible_state *at) {
  struct local_steps *t = &s->steps;
  uint32_t n, k = 1;
  const value *v = content_values(&s->cells, at->process, at->local, &n);
  memcpy(t->local, v, n * sizeof *v);
  local_fill_dont_care(s->model, at->role, t->local);
  const value *set = intern_at(t->global_sets, at->globals);
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    t->globals[g] = t->used[at->role][g] ? *content_values(&s->cells, s->cells.global[g], (content)set[k++], &n)
                                         : type_default(&s->model->values, s->model->globals[g].type);
}

static uint32_t error_put(struct local_steps *t, const struct model_error *error) {
  for (size_t i = 0; i < t->errors.n; i++)
    if (t->errors.at[i].at.from == error->at.from && !strcmp(t->errors.at[i].message, error->message))
      return (uint32_t)i;
  vec_push(&t->errors, *error);
  return (uint32_t)t->errors.n - 1;
}

/* --- outcomes --- */

static uint32_t sends_put(struct local_steps *t) {
  vec_clear(&t->scratch);
  for (size_t i = 0; i < t->outbox.n; i++) {
    vec_push(&t->scratch, t->outbox.at[i].to);
    vec_push(&t->scratch, t->outbox.at[i].kind);
    vec_push(&t->scratch, t->outbox.at[i].message);
  }
  return intern_put(t->sends, t->scratch.at, t->scratch.n);
}

static uint32_t writes_put(struct step_system *s, const struct visible_state *at) {
  struct local_steps *t = &s->steps;
  const value *set = intern_at(t->global_sets, at->globals);
  uint32_t k = 1;
  vec_clear(&t->scratch);
  for (uint32_t g = 0; g < s->model->nglobals; g++) {
    if (!t->used[at->role][g])
      continue;
    content now = content_put(&s->cells, s->cells.global[g], &t->globals[g], 1);
    if (now != (content)set[k++]) {
      vec_push(&t->scratch, g);
      vec_push(&t->scratch, now);
    }
  }
  return intern_put(t->writes, t->scratch.at, t->scratch.n);
}

static struct step_outcome outcome_now(struct step_system *s, const struct visible_state *at, uint32_t action) {
  struct local_steps *t = &s->steps;
  clear_dead_variables(s, at->role, t->local);
  return (struct step_outcome){
      .action = action,
      .next = content_put(&s->cells, at->process, t->local, role_local_length(&s->model->roles[at->role])),
      .sends = sends_put(t),
      .writes = writes_put(s, at)};
}

static struct step_outcome outcome_failed(struct step_system *s, uint32_t action, const struct model_error *error) {
  return (struct step_outcome){.action = action, .error = 1 + error_put(&s->steps, error)};
}

static bool same_outcome(const struct step_outcome *a, const struct step_outcome *b) {
  return a->action == b->action && a->next == b->next && a->sends == b->sends && a->writes == b->writes &&
         a->error == b->error && a->free_choices == b->free_choices;
}

/* Almost-sure properties: records the choices that are not coins. An adversary that chooses after a coin toss knows its
   result, which a single number cannot express. */
static void record_free_choices(struct step_system *s, const struct choices *choices, struct step_outcome *o) {
  struct local_steps *t = &s->steps;
  if (!s->base.probabilistic)
    return;
  vec_clear(&t->scratch);
  vec_push(&t->scratch, t->forged_index);
  for (size_t i = 0; i < choices->at; i++) {
    bool coin = i < 64 && choices->coins >> i & 1;
    if (!coin && o->used_coin)
      s->base.coins_lost = "a process chooses freely after it has tossed a coin, in one step";
    o->used_coin |= coin;
    if (!coin)
      vec_push(&t->scratch, choices->taken.at[i]);
  }
  o->free_choices = intern_put(t->free_choice_lists, t->scratch.at, t->scratch.n);
  if (s->interp->coins_lost)
    s->base.coins_lost = s->interp->coins_lost;
}

typedef VEC(struct step_outcome) outcome_vec;

static void add_outcome(outcome_vec *list, struct step_outcome o) {
  for (size_t i = 0; i < list->n; i++)
    if (same_outcome(&list->at[i], &o))
      return;
  vec_push(list, o);
}

/* Enumerates the outcomes of one action with these messages. */
typedef void outcome_fn(void *context, struct step_outcome);
static void take(struct step_system *s, const struct visible_state *at, uint32_t action, const struct inbox_entry *in,
                 uint32_t n, outcome_fn *add, void *context) {
  struct local_steps *t = &s->steps;
  struct choices choices = {0};
  do {
    struct model_error error = {0};
    struct step_outcome o;
    local_steps_load(s, at);
    switch (
        action_take(s->interp, action, actor(s, at), t->local, t->globals, in, n, &choices, &t->outbox, NULL, &error)) {
    case ACTION_DONE:
      o = outcome_now(s, at, action);
      record_free_choices(s, &choices, &o);
      add(context, o);
      break;
    case ACTION_ERROR:
      add(context, outcome_failed(s, action, &error));
      break;
    case ACTION_REFUSED:
    case ACTION_BAD_SCRIPT:
      break;
    }
  } while (choices_next(&choices));
  choices_release(&choices);
}

static void add_outcome_to_list(void *context, struct step_outcome o) { add_outcome(context, o); }

/* Memos hold indices into t->lists. After an interruption a list may be incomplete and is not cached. */
static struct step_outcomes remember_outcomes(struct step_system *s, struct memo *memo, uint64_t a, uint64_t b,
                                              outcome_vec *list) {
  struct local_steps *t = &s->steps;
  vec_push(&t->lists, ((struct step_outcomes){list->at, (uint32_t)list->n}));
  if (!step_system_interrupted(s))
    memo_add(memo, a, b, (uint32_t)t->lists.n - 1);
  return t->lists.at[t->lists.n - 1];
}

struct step_outcomes local_steps_spontaneous(struct step_system *s, const struct visible_state *at) {
  struct local_steps *t = &s->steps;
  uint32_t context = projection_of(s, at), known;
  if (memo_find(&t->none, context, 0, &known))
    return t->lists.at[known];
  const struct role *role = &s->model->roles[at->role];
  outcome_vec list = {0};
  for (uint32_t a = 0; a < role->nactions; a++) {
    local_steps_load(s, at);
    if (role->actions[a].trigger == TRIGGER_NONE && action_open(s->model, at->role, t->local, a))
      take(s, at, a, NULL, 0, add_outcome_to_list, &list);
  }
  return remember_outcomes(s, &t->none, context, 0, &list);
}

static void try_on_message(struct step_system *s, const struct visible_state *at, uint32_t action,
                           const struct inbox_entry *in, outcome_vec *list) {
  struct local_steps *t = &s->steps;
  struct model_error error = {0};
  bool failed;
  local_steps_load(s, at);
  if (!action_open(s->model, at->role, t->local, action))
    return;
  if (action_matches(s->interp, action, actor(s, at), t->local, t->globals, in, &failed, &error))
    take(s, at, action, in, 1, add_outcome_to_list, list);
  else if (failed)
    add_outcome(list, outcome_failed(s, action, &error));
}

/* Do actions that take one message of this kind depend on its sender? */
static bool asks_sender(const struct step_system *s, uint32_t r, uint32_t kind) {
  const struct role *role = &s->model->roles[r];
  for (uint32_t a = 0; a < role->nactions; a++)
    if (role->actions[a].trigger == TRIGGER_ONE && role->actions[a].kind == kind && s->use->of[r][a].senders)
      return true;
  return false;
}

struct step_outcomes local_steps_on_message(struct step_system *s, const struct visible_state *at, uint32_t from,
                                            message_id l) {
  struct local_steps *t = &s->steps;
  uint32_t kind = message_id_kind(&s->channels, l), context = projection_of(s, at), known;
  uint64_t who = asks_sender(s, at->role, kind) ? (uint64_t)from + 1 : 0;
  if (memo_find(&t->one, (uint64_t)context << 32 | l, who, &known))
    return t->lists.at[known];
  const struct role *role = &s->model->roles[at->role];
  struct inbox_entry in = {from, kind, message_id_value(&s->channels, l), PACKET_DELIVERED, false};
  outcome_vec list = {0};
  for (uint32_t a = 0; a < role->nactions; a++)
    if (role->actions[a].trigger == TRIGGER_ONE && role->actions[a].kind == kind)
      try_on_message(s, at, a, &in, &list);
  return remember_outcomes(s, &t->one, (uint64_t)context << 32 | l, who, &list);
}

/* A Byzantine process may send any message. */
struct step_outcomes local_steps_on_forged(struct step_system *s, const struct visible_state *at, uint32_t from) {
  struct local_steps *t = &s->steps;
  uint32_t context = projection_of(s, at), known;
  if (memo_find(&t->forged, context, from, &known))
    return t->lists.at[known];
  const struct role *role = &s->model->roles[at->role];
  outcome_vec list = {0};
  for (uint32_t a = 0; a < role->nactions; a++) {
    if (role->actions[a].trigger != TRIGGER_ONE)
      continue;
    const struct type *type = s->model->messages[role->actions[a].kind].type;
    for (uint64_t i = 0; i < type->count && !step_system_interrupted(s); i++) {
      struct inbox_entry in = {from, role->actions[a].kind, type_nth(&s->model->values, type, i), PACKET_DELIVERED,
                               true};
      t->forged_index = 1 + (value)i;
      try_on_message(s, at, a, &in, &list);
    }
  }
  t->forged_index = 0;
  return remember_outcomes(s, &t->forged, context, from, &list);
}

struct step_outcomes local_steps_of_recovery(struct step_system *s, const struct visible_state *at) {
  struct local_steps *t = &s->steps;
  struct choices choices = {0};
  outcome_vec list = {0};
  do {
    struct model_error error = {0};
    struct step_outcome o;
    local_steps_load(s, at);
    t->outbox.n = 0;
    if (action_recover(s->interp, at->process, t->local, t->globals, &choices, &error)) {
      o = outcome_now(s, at, NO_ACTION);
      record_free_choices(s, &choices, &o);
      add_outcome(&list, o);
    } else
      add_outcome(&list, outcome_failed(s, NO_ACTION, &error));
  } while (choices_next(&choices));
  choices_release(&choices);
  vec_push(&t->lists, ((struct step_outcomes){list.at, (uint32_t)list.n}));
  return t->lists.at[t->lists.n - 1];
}

/* --- quorums --- */

struct quorum_builder {
  struct step_system *system;
  const struct visible_state *at;
  uint32_t action;
  bool which;   /* it matters which messages were chosen, because they are taken or marked as seen */
  bool senders; /* it matters who sent them; if neither is set, only the number of each message matters */
  VEC(struct inbox_entry) in;
  const struct inbox_entry *chosen;
  uint32_t nchosen;
  VEC(struct quorum_outcome) found;
};

/* Collects the messages of the kind that the process can read or that Byzantine processes may forge. */
static void gather(struct quorum_builder *g) {
  struct step_system *s = g->system;
  const struct model *m = s->model;
  uint32_t p = g->at->process, kind = m->roles[g->at->role].actions[g->action].kind, k = 0;
  size_t nliars = intern_length(s->vectors, g->at->byzantine), liar = 0;
  const value *liars = intern_at(s->vectors, g->at->byzantine);
  const struct type *type = m->messages[kind].type;
  for (uint32_t q = 0; q < m->nprocesses; q++) { /* ascending by sender */
    bool lies = liar < nliars && liars[liar] == (value)q;
    liar += lies;
    lies = lies && channel_exists(s->interp, s->steps.globals, q, p);
    for (uint64_t i = 0; lies && i < type->count && !step_system_interrupted(s); i++)
      vec_push(&g->in, ((struct inbox_entry){q, kind, type_nth(&s->model->values, type, i), PACKET_DELIVERED, true}));
    if (k == s->moves_store.ninbound[p] || s->moves_store.inbound[p][k].from != q)
      continue;
    const struct channel_view *v = channel_view(&s->channels, s->moves_store.inbound[p][k].cell, g->at->inbox[k]);
    k++;
    for (uint32_t i = 0; i < v->nreceivable; i++)
      if (message_id_kind(&s->channels, v->receivable[i].message_id) == kind)
        vec_push(&g->in, ((struct inbox_entry){q, kind, message_id_value(&s->channels, v->receivable[i].message_id),
                                               v->receivable[i].place, false}));
  }
}

static void add_quorum_outcome(void *context, struct step_outcome o) {
  struct quorum_builder *g = context;
  struct step_system *s = g->system;
  struct quorum_outcome q = {.outcome = o};
  if (o.used_coin) /* several quorums may have the same result */
    s->base.coins_lost = "a process tosses a coin in an action that looks at a quorum";
  if (g->which) {
    struct quorum_message *chosen = arena_array(&s->steps.arena, g->nchosen + 1, sizeof *chosen);
    for (uint32_t i = 0; i < g->nchosen; i++) {
      const struct inbox_entry *in = &g->chosen[i];
      chosen[i] = (struct quorum_message){
          in->from, in->forged ? 0 : message_id_put(&s->channels, in->kind, in->message), in->place, in->forged};
    }
    q.chosen = chosen;
    q.nchosen = g->nchosen;
  }
  for (size_t i = 0; i < g->found.n; i++) {
    const struct quorum_outcome *old = &g->found.at[i];
    if (same_outcome(&old->outcome, &o) && old->nchosen == q.nchosen &&
        (!q.nchosen || !memcmp(old->chosen, q.chosen, q.nchosen * sizeof *q.chosen)))
      return;
  }
  vec_push(&g->found, q);
}

static bool take_quorum(void *context, const struct inbox_entry *in, uint32_t n) {
  struct quorum_builder *g = context;
  g->chosen = in;
  g->nchosen = n;
  take(g->system, g->at, g->action, in, n, add_quorum_outcome, g);
  return true;
}

/* Keeps the messages that match. An error in the pattern is an outcome of the action. */
static void keep_matching(struct quorum_builder *g) {
  struct step_system *s = g->system;
  struct local_steps *t = &s->steps;
  size_t n = 0;
  for (size_t i = 0; i < g->in.n; i++) {
    struct model_error error = {0};
    bool failed;
    local_steps_load(s, g->at);
    if (action_matches(s->interp, g->action, actor(s, g->at), t->local, t->globals, &g->in.at[i], &failed, &error)) {
      g->in.at[n++] = g->in.at[i];
    } else if (failed) {
      g->chosen = &g->in.at[i];
      g->nchosen = 1;
      add_quorum_outcome(g, outcome_failed(s, g->action, &error));
    }
  }
  g->in.n = n;
}

/* --- by count: senders with the same messages are interchangeable --- */

struct sender_class {        /* senders with the same messages */
  uint32_t first, nmessages; /* in builder->in: the messages of one of them */
  uint32_t *senders, n;
};

struct quorum_counter {
  struct quorum_builder *builder;
  const struct action *action;
  int64_t size;
  VEC(struct sender_class) sender_classes;
  struct inbox_entry *chosen;
  uint32_t n;
};

static uint32_t messages_from(const struct quorum_builder *g, size_t i) {
  size_t end = i;
  while (end < g->in.n && g->in.at[end].from == g->in.at[i].from)
    end++;
  return (uint32_t)(end - i);
}

static bool same_messages(const struct quorum_builder *g, size_t a, size_t b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (g->in.at[a + i].message != g->in.at[b + i].message || g->in.at[a + i].forged != g->in.at[b + i].forged)
      return false;
  return true;
}

static void group_senders(struct quorum_counter *k, struct arena *arena) {
  const struct quorum_builder *g = k->builder;
  uint32_t n;
  for (size_t i = 0; i < g->in.n; i += n) {
    n = messages_from(g, i);
    struct sender_class *found = NULL;
    for (size_t j = 0; j < k->sender_classes.n && !found; j++)
      if (k->sender_classes.at[j].nmessages == n && same_messages(g, k->sender_classes.at[j].first, i, n))
        found = &k->sender_classes.at[j];
    if (!found) {
      vec_push(&k->sender_classes,
               ((struct sender_class){(uint32_t)i, n, arena_array(arena, g->system->model->nprocesses, 4), 0}));
      found = &k->sender_classes.at[k->sender_classes.n - 1];
    }
    found->senders[found->n++] = g->in.at[i].from;
  }
}

static bool agrees_with_first(const struct quorum_counter *k, value message) {
  const struct values *values = &k->builder->system->model->values;
  size_t n;
  for (uint32_t i = 0; i < k->action->nparts && k->n > 0; i++) {
    value part = value_parts(values, k->chosen[0].message, &n)[k->action->parts[i].field];
    if (value_parts(values, message, &n)[k->action->parts[i].field] != part)
      return false;
  }
  return true;
}

static void count_complete(struct quorum_counter *k) {
  bool complete = k->action->exactly ? k->n == k->size : k->n >= k->size;
  if (!complete || (k->n == 0 && k->action->nparts > 0))
    return;
  struct inbox_entry *in = memory_alloc((k->n + 1) * sizeof *in);
  for (uint32_t i = 0; i < k->n; i++) { /* ascending by sender */
    uint32_t at = i;
    for (; at > 0 && in[at - 1].from > k->chosen[i].from; at--)
      in[at] = in[at - 1];
    in[at] = k->chosen[i];
  }
  take_quorum(k->builder, in, k->n);
  memory_free(in);
}

/* Tries every count of message j of sender class i, the first `used` senders of which are assigned, then the remaining
   messages and classes. */
static void count_each(struct quorum_counter *k, size_t i, uint32_t j, uint32_t used) {
  if (step_system_interrupted(k->builder->system))
    return;
  if (i == k->sender_classes.n) {
    count_complete(k);
    return;
  }
  const struct sender_class *a = &k->sender_classes.at[i];
  if (j == a->nmessages) {
    count_each(k, i + 1, 0, 0);
    return;
  }
  const struct inbox_entry *sent = &k->builder->in.at[a->first + j];
  uint32_t before = k->n;
  count_each(k, i, j + 1, used);
  while (used < a->n && agrees_with_first(k, sent->message)) {
    k->chosen[k->n] = *sent;
    k->chosen[k->n++].from = a->senders[used++];
    count_each(k, i, j + 1, used);
  }
  k->n = before;
}

static void quorums_by_count(struct quorum_builder *g, int64_t size) {
  struct step_system *s = g->system;
  struct arena arena;
  arena_init(&arena);
  struct quorum_counter k = {.builder = g,
                             .action = &s->model->roles[g->at->role].actions[g->action],
                             .size = size,
                             .chosen = arena_array(&arena, s->model->nprocesses + 1, sizeof *k.chosen)};
  group_senders(&k, &arena);
  count_each(&k, 0, 0, 0);
  vec_release(&k.sender_classes);
  arena_release(&arena);
}

static void quorums(struct quorum_builder *g) {
  struct step_system *s = g->system;
  struct local_steps *t = &s->steps;
  struct model_error error = {0};
  int64_t size;
  keep_matching(g);
  local_steps_load(s, g->at);
  if (!action_size(s->interp, g->action, actor(s, g->at), t->local, t->globals, &size, &error)) {
    g->nchosen = 0;
    add_quorum_outcome(g, outcome_failed(s, g->action, &error));
    return;
  }
  if (!g->senders) {
    quorums_by_count(g, size);
    return;
  }
  struct inbox inbox = {g->in.at, (uint32_t)g->in.n};
  action_quorums(s->interp, g->at->role, g->action, size, &inbox, take_quorum, g);
}

/* The key of the messages: the projection, the action, then each message with its sender and place. */
static uint32_t quorum_key_with_senders(const struct quorum_builder *g) {
  struct step_system *s = g->system;
  struct local_steps *t = &s->steps;
  vec_clear(&t->scratch);
  vec_push(&t->scratch, projection_of(s, g->at));
  vec_push(&t->scratch, g->action);
  for (size_t i = 0; i < g->in.n; i++) {
    const struct inbox_entry *in = &g->in.at[i];
    if (in->forged && i > 0 && g->in.at[i - 1].from == in->from)
      continue;
    vec_push(&t->scratch, in->from);
    vec_push(&t->scratch, in->forged ? -1 : (value)message_id_put(&s->channels, in->kind, in->message));
    vec_push(&t->scratch, in->place);
  }
  return intern_put(t->quorum_keys, t->scratch.at, t->scratch.n);
}

/* The same with numbers of senders instead of the senders. */
static uint32_t quorum_key_by_count(const struct quorum_builder *g) {
  struct step_system *s = g->system;
  uint32_t nsenders = 0, nmessages;
  value *lists = memory_alloc((s->model->nprocesses + 3) * sizeof *lists);
  value *list = memory_alloc((g->in.n + 1) * sizeof *list);
  for (size_t i = 0; i < g->in.n; i += nmessages) {
    nmessages = messages_from(g, i);
    uint32_t n = 0, at = 2 + nsenders++;
    for (uint32_t k = 0; k < nmessages && !(g->in.at[i].forged && k > 0); k++)
      list[n++] =
          g->in.at[i].forged ? -1 : (value)message_id_put(&s->channels, g->in.at[i + k].kind, g->in.at[i + k].message);
    value id = intern_put(s->steps.message_lists, list, n);
    for (; at > 2 && lists[at - 1] > id; at--)
      lists[at] = lists[at - 1];
    lists[at] = id;
  }
  lists[0] = projection_of(s, g->at);
  lists[1] = -1 - (value)g->action; /* differs from every key with senders */
  uint32_t id = intern_put(s->steps.quorum_keys, lists, 2 + nsenders);
  memory_free(lists);
  memory_free(list);
  return id;
}

struct quorum_outcomes local_steps_on_quorum(struct step_system *s, const struct visible_state *at, uint32_t action) {
  struct local_steps *t = &s->steps;
  const struct action *a = &s->model->roles[at->role].actions[action];
  struct quorum_builder g = {
      .system = s, .at = at, .action = action, .which = a->taken || s->interp->semantics == SEMANTICS_MP};
  g.senders = g.which || s->use->of[at->role][action].senders;
  local_steps_load(s, at);
  if (action_open(s->model, at->role, t->local, action))
    gather(&g);
  uint32_t tuple = g.senders ? quorum_key_with_senders(&g) : quorum_key_by_count(&g), known;
  if (memo_find(&t->quorum, tuple, 0, &known)) {
    vec_release(&g.in);
    return t->quorum_lists.at[known];
  }
  local_steps_load(s, at);
  if (action_open(s->model, at->role, t->local, action))
    quorums(&g);
  vec_release(&g.in);
  vec_push(&t->quorum_lists, ((struct quorum_outcomes){g.found.at, (uint32_t)g.found.n}));
  if (!step_system_interrupted(s))
    memo_add(&t->quorum, tuple, 0, (uint32_t)t->quorum_lists.n - 1);
  return t->quorum_lists.at[t->quorum_lists.n - 1];
}
