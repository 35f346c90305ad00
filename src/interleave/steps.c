/* Local steps, each computed once by the interpreter. */
#include "interleave/interleave_space.h"

#include "model/flow.h"
#include "model/survey.h"

#include <string.h>

/* Who can send to whom may depend on it: that concerns all who receive. */
static bool look_global(void *context, const struct node *n) {
  struct interleave *s = context;
  for (uint32_t r = 0; r < s->model->nroles; r++)
    for (uint32_t g = 0; g < s->model->nglobals; g++)
      s->steps.used[r][g] |= (n->op == NODE_GLOBAL && n->index == g) || !op_is_known(n->op);
  return true;
}

void steps_init(struct interleave *s) {
  struct steps *t = &s->steps;
  const struct model *m = s->model;
  arena_init(&t->arena);
  t->contexts = intern_new();
  t->global_sets = intern_new();
  t->posts = intern_new();
  t->writes = intern_new();
  t->tuples = intern_new();
  t->letter_lists = intern_new();
  t->tickets = intern_new();
  intern_put(t->posts, NULL, 0); /* 0: nothing */
  intern_put(t->writes, NULL, 0);
  t->local = arena_array(&t->arena, s->meaning->max_local + 1, sizeof *t->local);
  t->globals = arena_array(&t->arena, m->nglobals + 1, sizeof *t->globals);
  t->by_me = arena_array(&t->arena, m->nroles + 1, sizeof *t->by_me);
  t->used = arena_array(&t->arena, m->nroles + 1, sizeof *t->used);
  t->uses = arena_array(&t->arena, m->nroles + 1, sizeof *t->uses);
  for (uint32_t r = 0; r < m->nroles; r++)
    t->used[r] = arena_array(&t->arena, m->nglobals + 1, sizeof **t->used);
  for (uint32_t r = 0; r < m->nroles; r++) {
    for (uint32_t a = 0; a < m->roles[r].nactions; a++) {
      const struct action_use *use = &s->use->of[r][a];
      t->by_me[r] |= use->me;
      for (uint32_t g = 0; g < m->nglobals; g++)
        t->used[r][g] |= use->reads_shared[g] || use->writes_shared[g];
    }
    if (m->roles[r].graph)
      node_walk_deep(m, m->roles[r].graph, look_global, s);
    if (role_recovers(m, s->base.question, r)) /* which computes first values again */
      for (uint32_t i = 0; i < m->roles[r].nvars; i++)
        node_walk_deep(m, m->roles[r].vars[i].init, look_global, s);
  }
}

void steps_release(struct interleave *s) {
  struct steps *t = &s->steps;
  struct intern *tables[] = {t->contexts, t->global_sets, t->posts, t->writes, t->tuples, t->letter_lists, t->tickets};
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
  vec_release(&t->errors);
  outbox_release(&t->outbox);
  arena_release(&t->arena);
}

size_t steps_bytes(const struct interleave *s) {
  const struct steps *t = &s->steps;
  return intern_bytes(t->contexts) + intern_bytes(t->global_sets) + intern_bytes(t->posts) +
         intern_bytes(t->writes) + intern_bytes(t->tuples) + memo_bytes(&t->none) + memo_bytes(&t->one) +
         memo_bytes(&t->forged) + memo_bytes(&t->quorum) + t->lists.cap * sizeof *t->lists.at +
         t->quorum_lists.cap * sizeof *t->quorum_lists.at;
}

/* --- one process, ready for the interpreter --- */

/* Who stands for all processes that do the same. */
static uint32_t actor(const struct interleave *s, const struct sight *at) {
  return s->steps.by_me[at->role] ? at->process : s->model->roles[at->role].first;
}

static uint32_t context_of(struct interleave *s, const struct sight *at) {
  return intern_put(s->steps.contexts, (value[]){actor(s, at), at->local, at->globals}, 3);
}

/* Variables and globals as values; anything that nobody reads has its type's first value. */
void steps_unfold(struct interleave *s, const struct sight *at) {
  struct steps *t = &s->steps;
  uint32_t n, k = 1;
  const value *v = content_values(&s->cells, at->process, at->local, &n);
  memcpy(t->local, v, n * sizeof *v);
  local_unblank(&s->cells, at->role, t->local);
  const value *set = intern_at(t->global_sets, at->globals);
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    t->globals[g] = t->used[at->role][g]
                        ? *content_values(&s->cells, s->cells.global[g], (content)set[k++], &n)
                        : type_default(&s->model->values, s->model->globals[g].type);
}

static uint32_t error_put(struct steps *t, const struct model_error *error) {
  for (size_t i = 0; i < t->errors.n; i++)
    if (t->errors.at[i].at.from == error->at.from && !strcmp(t->errors.at[i].message, error->message))
      return (uint32_t)i;
  vec_push(&t->errors, *error);
  return (uint32_t)t->errors.n - 1;
}

/* --- what comes of it --- */

static uint32_t posts_put(struct steps *t) {
  size_t n = t->outbox.n;
  value small[48] = {0}, *v = 3 * n <= 48 ? small : memory_alloc(3 * n * sizeof *v);
  for (size_t i = 0; i < n; i++) {
    v[3 * i] = t->outbox.at[i].to;
    v[3 * i + 1] = t->outbox.at[i].kind;
    v[3 * i + 2] = t->outbox.at[i].message;
  }
  uint32_t id = intern_put(t->posts, v, 3 * n);
  if (v != small)
    memory_free(v);
  return id;
}

static uint32_t writes_put(struct interleave *s, const struct sight *at) {
  struct steps *t = &s->steps;
  const value *set = intern_at(t->global_sets, at->globals);
  value *v = memory_alloc((2 * (size_t)s->model->nglobals + 1) * sizeof *v);
  uint32_t n = 0, k = 1;
  for (uint32_t g = 0; g < s->model->nglobals; g++) {
    if (!t->used[at->role][g])
      continue;
    content now = content_put(&s->cells, s->cells.global[g], &t->globals[g], 1);
    if (now != (content)set[k++]) {
      v[n++] = g;
      v[n++] = now;
    }
  }
  uint32_t id = intern_put(t->writes, v, n);
  memory_free(v);
  return id;
}

static struct outcome outcome_now(struct interleave *s, const struct sight *at, uint32_t action) {
  struct steps *t = &s->steps;
  forget_variables(s, at->role, t->local);
  return (struct outcome){.action = action,
                          .next = content_put(&s->cells, at->process, t->local,
                                              role_local_length(&s->model->roles[at->role])),
                          .posts = posts_put(t),
                          .writes = writes_put(s, at)};
}

static struct outcome outcome_failed(struct interleave *s, uint32_t action, const struct model_error *error) {
  return (struct outcome){.action = action, .error = 1 + error_put(&s->steps, error)};
}

static bool same_outcome(const struct outcome *a, const struct outcome *b) {
  return a->action == b->action && a->next == b->next && a->posts == b->posts && a->writes == b->writes &&
         a->error == b->error && a->ticket == b->ticket;
}

/* Almost surely: all that was chosen but by coins. An adversary that chooses once a coin is tossed has seen it, which one number
   cannot say. */
static void write_ticket(struct interleave *s, const struct choices *choices, struct outcome *o) {
  value small[65], *v = choices->at < 64 ? small : memory_alloc((choices->at + 1) * sizeof *v);
  size_t n = 0;
  if (!s->base.lotteries)
    return;
  v[n++] = s->steps.salt;
  for (size_t i = 0; i < choices->at; i++) {
    bool coin = i < 64 && choices->coins >> i & 1;
    if (!coin && o->tossed)
      s->base.coins_lost = "a process chooses freely after it has tossed a coin, in one step";
    o->tossed |= coin;
    if (!coin)
      v[n++] = choices->taken.at[i];
  }
  o->ticket = intern_put(s->steps.tickets, v, n);
  if (s->meaning->coins_lost)
    s->base.coins_lost = s->meaning->coins_lost;
  if (v != small)
    memory_free(v);
}

typedef VEC(struct outcome) outcome_vec;

static void add_outcome(outcome_vec *list, struct outcome o) {
  for (size_t i = 0; i < list->n; i++)
    if (same_outcome(&list->at[i], &o))
      return;
  vec_push(list, o);
}

/* Every script of one action with these messages. */
typedef void outcome_fn(void *context, struct outcome);
static void take(struct interleave *s, const struct sight *at, uint32_t action, const struct inbox_entry *in,
                 uint32_t n, outcome_fn *add, void *context) {
  struct steps *t = &s->steps;
  struct choices choices = {0};
  do {
    struct model_error error = {0};
    struct outcome o;
    steps_unfold(s, at);
    switch (action_take(s->meaning, action, actor(s, at), t->local, t->globals, in, n, &choices, &t->outbox, NULL,
                        &error)) {
    case ACTION_DONE:
      o = outcome_now(s, at, action);
      write_ticket(s, &choices, &o);
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

static void add_to_list(void *context, struct outcome o) { add_outcome(context, o); }

/* Memos name lists by place; what was cut short by an interruption is not remembered. */
static bool interrupted(const struct interleave *s) { return s->meaning->stop && *s->meaning->stop; }

static struct outcomes keep_list(struct interleave *s, struct memo *memo, uint64_t a, uint64_t b,
                                        outcome_vec *list) {
  struct steps *t = &s->steps;
  vec_push(&t->lists, ((struct outcomes){list->at, (uint32_t)list->n}));
  if (!interrupted(s))
    memo_add(memo, a, b, (uint32_t)t->lists.n - 1);
  return t->lists.at[t->lists.n - 1];
}

struct outcomes steps_none(struct interleave *s, const struct sight *at) {
  struct steps *t = &s->steps;
  uint32_t context = context_of(s, at), known;
  if (memo_find(&t->none, context, 0, &known))
    return t->lists.at[known];
  const struct role *role = &s->model->roles[at->role];
  outcome_vec list = {0};
  for (uint32_t a = 0; a < role->nactions; a++) {
    steps_unfold(s, at);
    if (role->actions[a].trigger == TRIGGER_NONE && action_open(s->model, at->role, t->local, a))
      take(s, at, a, NULL, 0, add_to_list, &list);
  }
  return keep_list(s, &t->none, context, 0, &list);
}

static void take_one(struct interleave *s, const struct sight *at, uint32_t action, const struct inbox_entry *in,
                     outcome_vec *list) {
  struct steps *t = &s->steps;
  struct model_error error = {0};
  bool failed;
  steps_unfold(s, at);
  if (!action_open(s->model, at->role, t->local, action))
    return;
  if (action_matches(s->meaning, action, actor(s, at), t->local, t->globals, in, &failed, &error))
    take(s, at, action, in, 1, add_to_list, list);
  else if (failed)
    add_outcome(list, outcome_failed(s, action, &error));
}

/* Does it matter to actions on one such message who sent it? */
static bool asks_sender(const struct interleave *s, uint32_t r, uint32_t kind) {
  const struct role *role = &s->model->roles[r];
  for (uint32_t a = 0; a < role->nactions; a++)
    if (role->actions[a].trigger == TRIGGER_ONE && role->actions[a].kind == kind && s->use->of[r][a].senders)
      return true;
  return false;
}

struct outcomes steps_one(struct interleave *s, const struct sight *at, uint32_t from, letter l) {
  struct steps *t = &s->steps;
  uint32_t kind = letter_kind(&s->channels, l), context = context_of(s, at), known;
  uint64_t who = asks_sender(s, at->role, kind) ? (uint64_t)from + 1 : 0;
  if (memo_find(&t->one, (uint64_t)context << 32 | l, who, &known))
    return t->lists.at[known];
  const struct role *role = &s->model->roles[at->role];
  struct inbox_entry in = {from, kind, letter_message(&s->channels, l), PACKET_DELIVERED, false};
  outcome_vec list = {0};
  for (uint32_t a = 0; a < role->nactions; a++)
    if (role->actions[a].trigger == TRIGGER_ONE && role->actions[a].kind == kind)
      take_one(s, at, a, &in, &list);
  return keep_list(s, &t->one, (uint64_t)context << 32 | l, who, &list);
}

/* A Byzantine process may have sent anything. */
struct outcomes steps_forged(struct interleave *s, const struct sight *at, uint32_t from) {
  struct steps *t = &s->steps;
  uint32_t context = context_of(s, at), known;
  if (memo_find(&t->forged, context, from, &known))
    return t->lists.at[known];
  const struct role *role = &s->model->roles[at->role];
  outcome_vec list = {0};
  for (uint32_t a = 0; a < role->nactions; a++) {
    if (role->actions[a].trigger != TRIGGER_ONE)
      continue;
    const struct type *type = s->model->messages[role->actions[a].kind].type;
    for (uint64_t i = 0; i < type->count && !interrupted(s); i++) {
      struct inbox_entry in = {from, role->actions[a].kind, type_nth(&s->model->values, type, i), PACKET_DELIVERED,
                               true};
      t->salt = 1 + (value)i;
      take_one(s, at, a, &in, &list);
    }
  }
  t->salt = 0;
  return keep_list(s, &t->forged, context, from, &list);
}

struct outcomes steps_recover(struct interleave *s, const struct sight *at) {
  struct steps *t = &s->steps;
  struct choices choices = {0};
  outcome_vec list = {0};
  do {
    struct model_error error = {0};
    struct outcome o;
    steps_unfold(s, at);
    t->outbox.n = 0;
    if (action_recover(s->meaning, at->process, t->local, t->globals, &choices, &error)) {
      o = outcome_now(s, at, NO_ACTION);
      write_ticket(s, &choices, &o);
      add_outcome(&list, o);
    } else
      add_outcome(&list, outcome_failed(s, NO_ACTION, &error));
  } while (choices_next(&choices));
  choices_release(&choices);
  vec_push(&t->lists, ((struct outcomes){list.at, (uint32_t)list.n}));
  return t->lists.at[t->lists.n - 1];
}

/* --- quorums --- */

struct gathering {
  struct interleave *space;
  const struct sight *at;
  uint32_t action;
  bool which;   /* it matters which messages were chosen: they are taken, or marked as seen */
  bool senders; /* or at least from whom; else only how many of which message */
  VEC(struct inbox_entry) in;
  const struct inbox_entry *chosen;
  uint32_t nchosen;
  VEC(struct quorum_outcome) found;
};

/* Messages of the kind that the process can look at, or that Byzantine processes may have sent it. */
static void gather(struct gathering *g) {
  struct interleave *s = g->space;
  const struct model *m = s->model;
  uint32_t p = g->at->process, kind = m->roles[g->at->role].actions[g->action].kind, k = 0;
  size_t nliars = intern_length(s->vectors, g->at->byzantine), liar = 0;
  const value *liars = intern_at(s->vectors, g->at->byzantine);
  const struct type *type = m->messages[kind].type;
  for (uint32_t q = 0; q < m->nprocesses; q++) { /* ascending by sender */
    bool lies = liar < nliars && liars[liar] == (value)q;
    liar += lies;
    for (uint64_t i = 0; lies && i < type->count && channel_exists(s->meaning, s->steps.globals, q, p); i++)
      vec_push(&g->in, ((struct inbox_entry){q, kind, type_nth(&s->model->values, type, i), PACKET_DELIVERED, true}));
    if (k == s->mover.ninbound[p] || s->mover.inbound[p][k].from != q)
      continue;
    const struct channel_view *v = channel_view(&s->channels, s->mover.inbound[p][k].cell, g->at->inbox[k]);
    k++;
    for (uint32_t i = 0; i < v->noffered; i++)
      if (letter_kind(&s->channels, v->offered[i].letter) == kind)
        vec_push(&g->in, ((struct inbox_entry){q, kind, letter_message(&s->channels, v->offered[i].letter),
                                               v->offered[i].place, false}));
  }
}

static void add_quorum_outcome(void *context, struct outcome o) {
  struct gathering *g = context;
  struct interleave *s = g->space;
  struct quorum_outcome q = {.outcome = o};
  if (o.tossed) /* one result may come of several quorums */
    s->base.coins_lost = "a process tosses a coin in an action that looks at a quorum";
  if (g->which) {
    struct chosen *chosen = arena_array(&s->steps.arena, g->nchosen + 1, sizeof *chosen);
    for (uint32_t i = 0; i < g->nchosen; i++) {
      const struct inbox_entry *in = &g->chosen[i];
      chosen[i] = (struct chosen){in->from, in->forged ? 0 : letter_put(&s->channels, in->kind, in->message), in->place,
                                  in->forged};
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
  struct gathering *g = context;
  g->chosen = in;
  g->nchosen = n;
  take(g->space, g->at, g->action, in, n, add_quorum_outcome, g);
  return true;
}

/* What matches stays; a pattern that fails is an error that the action ends in. */
static void keep_matching(struct gathering *g) {
  struct interleave *s = g->space;
  struct steps *t = &s->steps;
  size_t n = 0;
  for (size_t i = 0; i < g->in.n; i++) {
    struct model_error error = {0};
    bool failed;
    steps_unfold(s, g->at);
    if (action_matches(s->meaning, g->action, actor(s, g->at), t->local, t->globals, &g->in.at[i], &failed, &error)) {
      g->in.at[n++] = g->in.at[i];
    } else if (failed) {
      g->chosen = &g->in.at[i];
      g->nchosen = 1;
      add_quorum_outcome(g, outcome_failed(s, g->action, &error));
    }
  }
  g->in.n = n;
}

/* --- by number: senders who may have sent the same are as good as each other --- */

struct alike { /* senders with the same messages */
  uint32_t first, letters; /* in gathering->in: what one of them may have sent */
  uint32_t *senders, n;
};

struct numbering {
  struct gathering *gathering;
  const struct action *action;
  int64_t size;
  VEC(struct alike) alike;
  struct inbox_entry *chosen;
  uint32_t n;
};

static uint32_t letters_from(const struct gathering *g, size_t i) {
  size_t end = i;
  while (end < g->in.n && g->in.at[end].from == g->in.at[i].from)
    end++;
  return (uint32_t)(end - i);
}

static bool same_letters(const struct gathering *g, size_t a, size_t b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (g->in.at[a + i].message != g->in.at[b + i].message || g->in.at[a + i].forged != g->in.at[b + i].forged)
      return false;
  return true;
}

static void numbering_group(struct numbering *k, struct arena *arena) {
  const struct gathering *g = k->gathering;
  uint32_t n;
  for (size_t i = 0; i < g->in.n; i += n) {
    n = letters_from(g, i);
    struct alike *found = NULL;
    for (size_t j = 0; j < k->alike.n && !found; j++)
      if (k->alike.at[j].letters == n && same_letters(g, k->alike.at[j].first, i, n))
        found = &k->alike.at[j];
    if (!found) {
      vec_push(&k->alike, ((struct alike){(uint32_t)i, n, arena_array(arena, g->space->model->nprocesses, 4), 0}));
      found = &k->alike.at[k->alike.n - 1];
    }
    found->senders[found->n++] = g->in.at[i].from;
  }
}

static bool goes_with_first(const struct numbering *k, value message) {
  const struct values *values = &k->gathering->space->model->values;
  size_t n;
  for (uint32_t i = 0; i < k->action->nparts && k->n > 0; i++) {
    value part = value_parts(values, k->chosen[0].message, &n)[k->action->parts[i].field];
    if (value_parts(values, message, &n)[k->action->parts[i].field] != part)
      return false;
  }
  return true;
}

static void number_taken(struct numbering *k) {
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
  take_quorum(k->gathering, in, k->n);
  memory_free(in);
}

/* Every number of letter number j of group number i, whose first `used` senders have sent something else, then the rest. */
static void number_each(struct numbering *k, size_t i, uint32_t j, uint32_t used) {
  if (interrupted(k->gathering->space))
    return;
  if (i == k->alike.n) {
    number_taken(k);
    return;
  }
  const struct alike *a = &k->alike.at[i];
  if (j == a->letters) {
    number_each(k, i + 1, 0, 0);
    return;
  }
  const struct inbox_entry *sent = &k->gathering->in.at[a->first + j];
  uint32_t before = k->n;
  number_each(k, i, j + 1, used);
  while (used < a->n && goes_with_first(k, sent->message)) {
    k->chosen[k->n] = *sent;
    k->chosen[k->n++].from = a->senders[used++];
    number_each(k, i, j + 1, used);
  }
  k->n = before;
}

static void quorums_by_number(struct gathering *g, int64_t size) {
  struct interleave *s = g->space;
  struct arena arena;
  arena_init(&arena);
  struct numbering k = {.gathering = g, .action = &s->model->roles[g->at->role].actions[g->action], .size = size,
                        .chosen = arena_array(&arena, s->model->nprocesses + 1, sizeof *k.chosen)};
  numbering_group(&k, &arena);
  number_each(&k, 0, 0, 0);
  vec_release(&k.alike);
  arena_release(&arena);
}

static void quorums(struct gathering *g) {
  struct interleave *s = g->space;
  struct steps *t = &s->steps;
  struct model_error error = {0};
  int64_t size;
  keep_matching(g);
  steps_unfold(s, g->at);
  if (!action_size(s->meaning, g->action, actor(s, g->at), t->local, t->globals, &size, &error)) {
    g->nchosen = 0;
    add_quorum_outcome(g, outcome_failed(s, g->action, &error));
    return;
  }
  if (!g->senders) {
    quorums_by_number(g, size);
    return;
  }
  struct inbox inbox = {g->in.at, (uint32_t)g->in.n};
  action_quorums(s->meaning, g->at->role, g->action, size, &inbox, take_quorum, g);
}

/* What is there, as a key: the context, the action, then each message with its sender and place. */
static uint32_t tuple_with_senders(const struct gathering *g) {
  struct interleave *s = g->space;
  size_t n = 2;
  value small[122], *v = 3 * g->in.n + 2 <= 122 ? small : memory_alloc((3 * g->in.n + 2) * sizeof *v);
  v[0] = context_of(s, g->at);
  v[1] = g->action;
  for (size_t i = 0; i < g->in.n; i++) {
    const struct inbox_entry *in = &g->in.at[i];
    if (in->forged && i > 0 && g->in.at[i - 1].from == in->from)
      continue;
    v[n++] = in->from;
    v[n++] = in->forged ? -1 : (value)letter_put(&s->channels, in->kind, in->message);
    v[n++] = in->place;
  }
  uint32_t id = intern_put(s->steps.tuples, v, n);
  if (v != small)
    memory_free(v);
  return id;
}

/* Likewise, with how many senders may have sent what instead of who they are. */
static uint32_t tuple_by_number(const struct gathering *g) {
  struct interleave *s = g->space;
  uint32_t nsenders = 0, letters;
  value *lists = memory_alloc((s->model->nprocesses + 3) * sizeof *lists);
  value *list = memory_alloc((g->in.n + 1) * sizeof *list);
  for (size_t i = 0; i < g->in.n; i += letters) {
    letters = letters_from(g, i);
    uint32_t n = 0, at = 2 + nsenders++;
    for (uint32_t k = 0; k < letters && !(g->in.at[i].forged && k > 0); k++)
      list[n++] = g->in.at[i].forged ? -1 : (value)letter_put(&s->channels, g->in.at[i + k].kind, g->in.at[i + k].message);
    value id = intern_put(s->steps.letter_lists, list, n);
    for (; at > 2 && lists[at - 1] > id; at--)
      lists[at] = lists[at - 1];
    lists[at] = id;
  }
  lists[0] = context_of(s, g->at);
  lists[1] = -1 - (value)g->action; /* unlike any with senders */
  uint32_t id = intern_put(s->steps.tuples, lists, 2 + nsenders);
  memory_free(lists);
  memory_free(list);
  return id;
}

struct quorum_outcomes steps_quorum(struct interleave *s, const struct sight *at, uint32_t action) {
  struct steps *t = &s->steps;
  const struct action *a = &s->model->roles[at->role].actions[action];
  struct gathering g = {.space = s, .at = at, .action = action,
                        .which = a->taken || s->meaning->semantics == SEMANTICS_MP};
  g.senders = g.which || s->use->of[at->role][action].senders;
  steps_unfold(s, at);
  if (action_open(s->model, at->role, t->local, action))
    gather(&g);
  uint32_t tuple = g.senders ? tuple_with_senders(&g) : tuple_by_number(&g), known;
  if (memo_find(&t->quorum, tuple, 0, &known)) {
    vec_release(&g.in);
    return t->quorum_lists.at[known];
  }
  steps_unfold(s, at);
  if (action_open(s->model, at->role, t->local, action))
    quorums(&g);
  vec_release(&g.in);
  vec_push(&t->quorum_lists, ((struct quorum_outcomes){g.found.at, (uint32_t)g.found.n}));
  if (!interrupted(s))
    memo_add(&t->quorum, tuple, 0, (uint32_t)t->quorum_lists.n - 1);
  return t->quorum_lists.at[t->quorum_lists.n - 1];
}
