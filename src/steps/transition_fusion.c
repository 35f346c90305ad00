/* Messages that are only forwarded on. A process that stands at a place where an action reads nothing of its own and
   does nothing but send is a relay. A message of which all that can come, whatever the processes become, are relays,
   and receives without effect in the end, is of no use wherever it lies, and forgotten. A message to a process that
   will be a relay for ever is forwarded on at once: nobody sees when that happens, nothing can come in between, and
   whatever could happen before can happen after it. What a process does with a message is remembered by its local
   state; the way of the message is followed in the state at hand (normalise.c). */
#include "steps/step_system_internal.h"

#include "analysis/stable_predicates.h"
#include "interp/local.h"

#include <string.h>

#define FORWARDING_MAX 64 /* beyond that a message may be on its way for ever */

struct forwarded_message { /* on */
  uint32_t to;
  message_id message_id;
};

struct message_use {                   /* of a message to a process in a local state */
  bool any;                            /* it may have one */
  bool at_once;                        /* it will be forwarded on in this way, sooner or later, and in no other */
  uint32_t ways;                       /* in which it can be taken */
  struct forwarded_message *forwarded; /* none but that of these */
  uint32_t n;
};

/* The same in short, as most are: forwarded on once or never. The ways of messages are followed very often. */
enum {
  USE_KNOWN = 1,
  USE_ANY = 2,
  USE_AT_ONCE = 4,
  USE_ONE_WAY = 8 /* forwarded on once, and cell and message_id say how */
};
struct short_message_use {
  uint32_t cell; /* NO_CELL: nothing ever comes of it */
  message_id message_id;
  uint32_t is;
};

struct message_uses {      /* by message_id */
  struct message_use **of; /* NULL: not known yet */
  struct short_message_use *short_uses;
  uint32_t n;
};

struct transition_fusion {
  bool **is;    /* [role][action] */
  bool at_once; /* messages may be forwarded on at once */
  const struct stable_predicates *stable;
  struct message_uses **known; /* [channel's cell][local state of the receiver] */
  uint32_t *nknown;            /* by cell */
  size_t bytes;
  value *local, *after; /* scratch */
  struct outbox outbox;
};

void transition_fusion_init(struct step_system *s) {
  const struct model *m = s->model;
  bool some = false;
  if (!drops_ineffective_messages(s))
    return;
  struct transition_fusion *y = arena_alloc(&s->arena, sizeof *y);
  y->is = arena_array(&s->arena, m->nroles + 1, sizeof *y->is);
  for (uint32_t r = 0; r < m->nroles; r++) {
    y->is[r] = arena_array(&s->arena, m->roles[r].nactions + 1, sizeof **y->is);
    for (uint32_t a = 0; a < m->roles[r].nactions; a++)
      some |= y->is[r][a] = action_can_fuse(m, s->use, r, a);
  }
  y->known = arena_array(&s->arena, s->cells.ncells + 1, sizeof *y->known);
  y->nknown = arena_array(&s->arena, s->cells.ncells + 1, sizeof *y->nknown);
  y->stable = stable_predicates_of(m, s->base.query, &s->arena);
  y->at_once = s->base.licences->of[REDUCE_FUSION].applied;
  y->local = arena_array(&s->arena, s->interp->max_local + 1, sizeof *y->local);
  y->after = arena_array(&s->arena, s->interp->max_local + 1, sizeof *y->after);
  s->transition_fusion = some ? y : NULL;
}

void transition_fusion_release(struct step_system *s) {
  struct transition_fusion *y = s->transition_fusion;
  if (!y)
    return;
  for (uint32_t cell = 0; cell < s->cells.ncells; cell++) {
    for (uint32_t i = 0; i < y->nknown[cell]; i++) {
      for (uint32_t l = 0; l < y->known[cell][i].n; l++)
        if (y->known[cell][i].of[l])
          memory_free(y->known[cell][i].of[l]->forwarded);
      memory_free(y->known[cell][i].of);
      memory_free(y->known[cell][i].short_uses);
    }
    memory_free(y->known[cell]);
  }
  outbox_release(&y->outbox);
}

size_t transition_fusion_bytes(const struct step_system *s) {
  return s->transition_fusion ? s->transition_fusion->bytes : 0;
}

/* --- what a process does with a message --- */

struct message_use_builder {
  struct step_system *space;
  uint32_t to, role;
  content local;
  struct inbox_entry in;
  struct message_use use;
};

static void add_forwarded(struct message_use_builder *h, const struct outgoing_message *p) {
  message_id l = message_id_put(&h->space->channels, p->kind, p->message);
  for (uint32_t i = 0; i < h->use.n; i++)
    if (h->use.forwarded[i].to == p->to && h->use.forwarded[i].message_id == l)
      return;
  h->use.forwarded = memory_resize_array(h->use.forwarded, h->use.n + 1, sizeof *h->use.forwarded);
  h->use.forwarded[h->use.n++] = (struct forwarded_message){p->to, l};
}

/* With every choice: it stays as it is, and sends. */
static bool forward_message(struct message_use_builder *h, uint32_t action) {
  struct step_system *s = h->space;
  struct transition_fusion *y = s->transition_fusion;
  size_t size = role_local_length(&s->model->roles[h->role]) * sizeof *y->local;
  struct choices choices = {0};
  bool stays = true;
  do {
    struct model_error error;
    memcpy(y->after, y->local, size);
    enum action_result result = action_take(s->interp, action, h->to, y->after, s->steps.globals, &h->in, 1, &choices,
                                            &y->outbox, NULL, &error);
    stays = result == ACTION_REFUSED || (result == ACTION_DONE && !memcmp(y->after, y->local, size));
    h->use.ways += result == ACTION_DONE;
    for (size_t i = 0; i < y->outbox.n && stays && result == ACTION_DONE; i++)
      add_forwarded(h, &y->outbox.at[i]);
  } while (stays && choices_next(&choices));
  choices_release(&choices);
  return stays;
}

static bool forwards_at(struct message_use_builder *h, uint32_t action) {
  struct step_system *s = h->space;
  struct transition_fusion *y = s->transition_fusion;
  const struct role *role = &s->model->roles[h->role];
  const struct action *a = &role->actions[action];
  struct model_error error;
  uint32_t n;
  bool failed;
  const value *v = content_values(&s->cells, h->to, h->local, &n);
  memcpy(y->local, v, n * sizeof *v);
  local_fill_dont_care(&s->cells, h->role, y->local);
  if (a->point != ANY_POINT)
    y->local[LOCAL_VAR(role->point_var)] = a->point;
  if (!action_matches(s->interp, action, h->to, y->local, s->steps.globals, &h->in, &failed, &error))
    return !failed;
  return forward_message(h, action);
}

/* At the place where it stands, for as long as the run goes on. */
static bool stays_at_point(struct step_system *s, uint32_t r, uint32_t p, content local) {
  const struct role *role = &s->model->roles[r];
  uint32_t n;
  const value *v = content_values(&s->cells, p, local, &n);
  if (!process_active(v[LOCAL_STATUS]))
    return false;
  for (uint32_t a = 0; a < role->nactions; a++)
    if (s->use->of[r][a].halts)
      return false;
  for (uint32_t label = 0; label < role_npoints(role) && role->point_var != NO_VAR; label++)
    if (label != (uint32_t)v[LOCAL_VAR(role->point_var)] &&
        point_reaches(s->transition_fusion->stable, r, (uint32_t)v[LOCAL_VAR(role->point_var)], label))
      return false;
  return true;
}

static struct message_use message_use_compute(struct step_system *s, uint32_t to, content local, uint32_t from,
                                              message_id l) {
  struct message_use_builder h = {.space = s, .to = to, .role = s->role_of[to], .local = local};
  const struct role *role = &s->model->roles[h.role];
  h.in = (struct inbox_entry){from, message_id_kind(&s->channels, l), message_id_value(&s->channels, l),
                              PACKET_DELIVERED, false};
  for (uint32_t a = 0; a < role->nactions && !h.use.any; a++)
    if (role->actions[a].trigger != TRIGGER_NONE && role->actions[a].kind == h.in.kind &&
        !message_never_affects(s, to, local, from, l, a))
      h.use.any = !s->transition_fusion->is[h.role][a] || !forwards_at(&h, a);
  h.use.at_once =
      s->transition_fusion->at_once && !h.use.any && h.use.ways == 1 && stays_at_point(s, h.role, to, local);
  return h.use;
}

/* --- its way --- */

static struct short_message_use short_message_use_make(const struct step_system *s, uint32_t cell,
                                                       const struct message_use *use) {
  struct short_message_use short_uses = {.is = USE_KNOWN | (use->any ? USE_ANY : 0) | (use->at_once ? USE_AT_ONCE : 0)};
  if (use->n == 1) {
    short_uses.is |= USE_ONE_WAY;
    short_uses.message_id = use->forwarded[0].message_id;
    short_uses.cell = s->cells.channel[(size_t)s->cells.cell[cell].b * s->model->nprocesses + use->forwarded[0].to];
  }
  return short_uses;
}

static const struct message_use *message_use_make(struct step_system *s, uint32_t cell, content local, message_id l) {
  struct transition_fusion *y = s->transition_fusion;
  if (local >= y->nknown[cell]) {
    uint32_t room = 2 * local + 16;
    y->known[cell] = memory_resize_array(y->known[cell], room, sizeof **y->known);
    memset(y->known[cell] + y->nknown[cell], 0, (room - y->nknown[cell]) * sizeof **y->known);
    y->bytes += (room - y->nknown[cell]) * sizeof **y->known;
    y->nknown[cell] = room;
  }
  struct message_uses *k = &y->known[cell][local];
  if (l >= k->n) {
    uint32_t room = 2 * l + 16;
    k->of = memory_resize_array(k->of, room, sizeof *k->of);
    memset(k->of + k->n, 0, (room - k->n) * sizeof *k->of);
    k->short_uses = memory_resize_array(k->short_uses, room, sizeof *k->short_uses);
    memset(k->short_uses + k->n, 0, (room - k->n) * sizeof *k->short_uses);
    y->bytes += (room - k->n) * (sizeof *k->of + sizeof *k->short_uses);
    k->n = room;
  }
  struct message_use *use = arena_alloc(&s->arena, sizeof *use);
  *use = message_use_compute(s, s->cells.cell[cell].b, local, s->cells.cell[cell].a, l);
  y->bytes += sizeof *use;
  y->known[cell][local].short_uses[l] = short_message_use_make(s, cell, use);
  return y->known[cell][local].of[l] = use;
}

static const struct message_use no_use;

/* Nothing ever comes of what is sent where no channel is. */
static inline const struct message_use *message_use_of(struct step_system *s, uint32_t to, content local, uint32_t from,
                                                       message_id l) {
  const struct transition_fusion *y = s->transition_fusion;
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell == NO_CELL)
    return &no_use;
  if (local < y->nknown[cell] && l < y->known[cell][local].n && y->known[cell][local].of[l])
    return y->known[cell][local].of[l];
  return message_use_make(s, cell, local, l);
}

static bool is_useful(struct step_system *, const content *row, uint32_t to, uint32_t from, message_id, unsigned way);

static inline struct short_message_use short_message_use_of(struct step_system *s, const content *row, uint32_t cell,
                                                            message_id l) {
  const struct transition_fusion *y = s->transition_fusion;
  const struct state_cell *at = &s->cells.cell[cell];
  content local = row[at->b];
  if (local < y->nknown[cell] && l < y->known[cell][local].n && y->known[cell][local].short_uses[l].is)
    return y->known[cell][local].short_uses[l];
  message_use_make(s, cell, local, l);
  return y->known[cell][local].short_uses[l];
}

static bool is_useful_along_path(struct step_system *s, const content *row, uint32_t cell, message_id l, unsigned way) {
  struct short_message_use use = short_message_use_of(s, row, cell, l);
  for (; (use.is & (USE_ANY | USE_ONE_WAY)) == USE_ONE_WAY && way <= FORWARDING_MAX;
       way++) { /* most go to one process */
    if (use.cell == NO_CELL)
      return false;
    cell = use.cell;
    l = use.message_id;
    use = short_message_use_of(s, row, cell, l);
  }
  if (use.is & USE_ANY || way > FORWARDING_MAX)
    return true;
  const struct state_cell *at = &s->cells.cell[cell];
  const struct message_use *all = message_use_of(s, at->b, row[at->b], at->a, l);
  bool any = false;
  for (uint32_t i = 0; i < all->n && !any; i++)
    any = is_useful(s, row, all->forwarded[i].to, at->b, all->forwarded[i].message_id, way + 1);
  return any;
}

static bool is_useful(struct step_system *s, const content *row, uint32_t to, uint32_t from, message_id l,
                      unsigned way) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell == NO_CELL)
    return way > FORWARDING_MAX;
  return is_useful_along_path(s, row, cell, l, way);
}

/* Does it get to processes that may do something else with it? */
static bool reaches_consumer(struct step_system *s, const content *row, uint32_t to, uint32_t from, message_id l,
                             unsigned way) {
  const struct message_use *use = message_use_of(s, to, row[to], from, l);
  bool yes = way <= FORWARDING_MAX;
  for (uint32_t i = 0; i < use->n && yes && use->at_once; i++)
    yes = reaches_consumer(s, row, use->forwarded[i].to, to, use->forwarded[i].message_id, way + 1);
  return yes;
}

/* As far as it goes; what is of no use on the way is dropped. It is of use itself: so is what alone it becomes. */
static void forward_to_end(struct step_system *s, const content *row, uint32_t to, uint32_t from, message_id l,
                           place_message_fn *put) {
  const struct message_use *use = message_use_of(s, to, row[to], from, l);
  for (uint32_t i = 0; i < use->n; i++) {
    struct forwarded_message p = use->forwarded[i];
    if (use->n > 1 && !is_useful(s, row, p.to, to, p.message_id, 0))
      continue;
    if (message_use_of(s, p.to, row[p.to], to, p.message_id)->at_once)
      forward_to_end(s, row, p.to, to, p.message_id, put);
    else
      put(s, to, p.to, p.message_id);
  }
}

bool transition_fusion_keeps(struct step_system *s, const content *row, uint32_t from, uint32_t to, message_id l) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell == NO_CELL)
    return false;
  struct short_message_use use = short_message_use_of(s, row, cell, l);
  if (use.is & USE_ANY) /* then it is not forwarded on at once */
    return true;
  return is_useful_along_path(s, row, cell, l, 0) &&
         !(use.is & USE_AT_ONCE && reaches_consumer(s, row, to, from, l, 0));
}

void transition_fusion_place(struct step_system *s, const content *row, uint32_t from, uint32_t to, message_id l,
                             place_message_fn *put) {
  if (!is_useful(s, row, to, from, l, 0))
    return;
  if (message_use_of(s, to, row[to], from, l)->at_once && reaches_consumer(s, row, to, from, l, 0))
    forward_to_end(s, row, to, from, l, put);
  else
    put(s, from, to, l);
}
