/* Fusion of forwarding steps. A process is a relay for a message if its action on the message reads none of its
   variables and only sends. A message is useless, and is dropped, if it can only be forwarded by relays, whatever the
   processes do, and is finally taken without effect. A message to a process that remains a relay forever is forwarded
   at once: no property observes when that happens, nothing can interfere, and everything that could happen before it
   can happen after it. The use of a message by a process is cached by its local state. The path of the message is
   followed in the row that is being normalised (normalise.c). */
#include "steps/transition_fusion.h"

#include "analysis/action_use.h"
#include "analysis/stable_predicates.h"
#include "interp/local.h"
#include "steps/dead_data.h"
#include "steps/step_system_internal.h"

#include <string.h>

#define FORWARDING_MAX 64 /* a longer path may be infinite */

struct forwarded_message {
  uint32_t to;
  message_id message_id;
};

enum {
  USE_ANY = 1,     /* it may have an effect */
  USE_AT_ONCE = 2, /* it will eventually be forwarded in this way, and in no other */
};
struct message_use { /* the use of a message to a process in some local state */
  uint32_t is;
  uint32_t ways; /* number of ways to take it */
  uint32_t n;    /* the messages that it may be forwarded as */
  uint32_t cell; /* n is 1: the channel of the forwarded message; NO_CELL: it is never read */
  struct forwarded_message *forwarded;
};

struct message_uses {      /* by message_id */
  struct message_use **of; /* NULL: not computed */
  uint32_t n;
};

struct transition_fusion {
  bool **is;    /* [role][action] */
  bool at_once; /* messages may be forwarded at once */
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
  s->form.transition_fusion = some ? y : NULL;
}

void transition_fusion_release(struct step_system *s) {
  struct transition_fusion *y = s->form.transition_fusion;
  if (!y)
    return;
  for (uint32_t cell = 0; cell < s->cells.ncells; cell++) {
    for (uint32_t i = 0; i < y->nknown[cell]; i++) {
      for (uint32_t l = 0; l < y->known[cell][i].n; l++)
        if (y->known[cell][i].of[l])
          memory_free(y->known[cell][i].of[l]->forwarded);
      memory_free(y->known[cell][i].of);
    }
    memory_free(y->known[cell]);
  }
  outbox_release(&y->outbox);
}

size_t transition_fusion_bytes(const struct step_system *s) {
  return s->form.transition_fusion ? s->form.transition_fusion->bytes : 0;
}

/* --- the use of a message by a process --- */

struct message_use_builder {
  struct step_system *system;
  uint32_t to, role;
  content local;
  struct inbox_entry in;
  struct message_use use;
};

static void add_forwarded(struct message_use_builder *h, const struct outgoing_message *p) {
  message_id l = message_id_put(&h->system->channels, p->kind, p->message);
  for (uint32_t i = 0; i < h->use.n; i++)
    if (h->use.forwarded[i].to == p->to && h->use.forwarded[i].message_id == l)
      return;
  h->use.forwarded = memory_resize_array(h->use.forwarded, h->use.n + 1, sizeof *h->use.forwarded);
  h->use.forwarded[h->use.n++] = (struct forwarded_message){p->to, l};
}

/* Does the process stay unchanged for every choice? Records what it sends. */
static bool forward_message(struct message_use_builder *h, uint32_t action) {
  struct step_system *s = h->system;
  struct transition_fusion *y = s->form.transition_fusion;
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
  struct step_system *s = h->system;
  struct transition_fusion *y = s->form.transition_fusion;
  const struct role *role = &s->model->roles[h->role];
  const struct action *a = &role->actions[action];
  struct model_error error;
  uint32_t n;
  bool failed;
  const value *v = content_values(&s->cells, h->to, h->local, &n);
  memcpy(y->local, v, n * sizeof *v);
  local_fill_dont_care(s->model, h->role, y->local);
  if (a->point != ANY_POINT)
    y->local[LOCAL_VAR(role->point_var)] = a->point;
  if (!action_matches(s->interp, action, h->to, y->local, s->steps.globals, &h->in, &failed, &error))
    return !failed;
  return forward_message(h, action);
}

/* Does the process stay at its program point for the rest of the run? */
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
        point_reaches(s->form.transition_fusion->stable, r, (uint32_t)v[LOCAL_VAR(role->point_var)], label))
      return false;
  return true;
}

static struct message_use message_use_compute(struct step_system *s, uint32_t cell, content local, message_id l) {
  uint32_t from = s->cells.cell[cell].a, to = s->cells.cell[cell].b;
  struct message_use_builder h = {.system = s, .to = to, .role = s->role_of[to], .local = local};
  const struct role *role = &s->model->roles[h.role];
  bool any = false;
  h.in = (struct inbox_entry){from, message_id_kind(&s->channels, l), message_id_value(&s->channels, l),
                              PACKET_DELIVERED, false};
  for (uint32_t a = 0; a < role->nactions && !any; a++)
    if (role->actions[a].trigger != TRIGGER_NONE && role->actions[a].kind == h.in.kind &&
        !message_never_affects(s, to, local, from, l, a))
      any = !s->form.transition_fusion->is[h.role][a] || !forwards_at(&h, a);
  if (any)
    h.use.is = USE_ANY;
  else if (s->form.transition_fusion->at_once && h.use.ways == 1 && stays_at_point(s, h.role, to, local))
    h.use.is = USE_AT_ONCE;
  if (h.use.n == 1)
    h.use.cell = s->cells.channel[(size_t)to * s->model->nprocesses + h.use.forwarded[0].to];
  return h.use;
}

/* --- the path of a message --- */

static const struct message_use *message_use_make(struct step_system *s, uint32_t cell, content local, message_id l) {
  struct transition_fusion *y = s->form.transition_fusion;
  uint32_t before = y->nknown[cell];
  indexed_reserve(y->known[cell], y->nknown[cell], local, 0);
  y->bytes += (y->nknown[cell] - before) * sizeof **y->known;
  struct message_uses *k = &y->known[cell][local];
  before = k->n;
  indexed_reserve(k->of, k->n, l, 0);
  y->bytes += (k->n - before) * sizeof *k->of;
  struct message_use *use = arena_alloc(&s->arena, sizeof *use);
  *use = message_use_compute(s, cell, local, l);
  y->bytes += sizeof *use;
  return y->known[cell][local].of[l] = use;
}

/* For a message in a channel. */
static inline const struct message_use *message_use_in(struct step_system *s, const content *row, uint32_t cell,
                                                       message_id l) {
  const struct transition_fusion *y = s->form.transition_fusion;
  content local = row[s->cells.cell[cell].b];
  if (local < y->nknown[cell] && l < y->known[cell][local].n && y->known[cell][local].of[l])
    return y->known[cell][local].of[l];
  return message_use_make(s, cell, local, l);
}

static const struct message_use no_use;

/* A message without a channel is never read. */
static inline const struct message_use *message_use_of(struct step_system *s, const content *row, uint32_t to,
                                                       uint32_t from, message_id l) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  return cell == NO_CELL ? &no_use : message_use_in(s, row, cell, l);
}

static bool is_useful(struct step_system *, const content *row, uint32_t to, uint32_t from, message_id, unsigned way);

static bool is_useful_along_path(struct step_system *s, const content *row, uint32_t cell, message_id l, unsigned way) {
  const struct message_use *use = message_use_in(s, row, cell, l);
  for (; use->n == 1 && !(use->is & USE_ANY) && way <= FORWARDING_MAX; way++) { /* usually there is one receiver */
    if (use->cell == NO_CELL)
      return false;
    cell = use->cell;
    use = message_use_in(s, row, cell, use->forwarded[0].message_id);
  }
  if (use->is & USE_ANY || way > FORWARDING_MAX)
    return true;
  bool any = false;
  for (uint32_t i = 0; i < use->n && !any; i++)
    any = is_useful(s, row, use->forwarded[i].to, s->cells.cell[cell].b, use->forwarded[i].message_id, way + 1);
  return any;
}

static bool is_useful(struct step_system *s, const content *row, uint32_t to, uint32_t from, message_id l,
                      unsigned way) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell == NO_CELL)
    return way > FORWARDING_MAX;
  return is_useful_along_path(s, row, cell, l, way);
}

/* Does forwarding end, at processes that may use the message in another way? */
static bool reaches_consumer(struct step_system *s, const content *row, uint32_t to, uint32_t from, message_id l,
                             unsigned way) {
  const struct message_use *use = message_use_of(s, row, to, from, l);
  bool yes = way <= FORWARDING_MAX;
  for (uint32_t i = 0; i < use->n && yes && use->is & USE_AT_ONCE; i++)
    yes = reaches_consumer(s, row, use->forwarded[i].to, to, use->forwarded[i].message_id, way + 1);
  return yes;
}

/* Forwards the message as far as possible, and drops useless messages. The message is useful, and so is its forwarded
   form if that is a single message. */
static void forward_to_end(struct step_system *s, const content *row, uint32_t to, uint32_t from, message_id l,
                           place_message_fn *put) {
  const struct message_use *use = message_use_of(s, row, to, from, l);
  for (uint32_t i = 0; i < use->n; i++) {
    struct forwarded_message p = use->forwarded[i];
    if (use->n > 1 && !is_useful(s, row, p.to, to, p.message_id, 0))
      continue;
    if (message_use_of(s, row, p.to, to, p.message_id)->is & USE_AT_ONCE)
      forward_to_end(s, row, p.to, to, p.message_id, put);
    else
      put(s, to, p.to, p.message_id);
  }
}

bool transition_fusion_keeps(struct step_system *s, const content *row, uint32_t from, uint32_t to, message_id l) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell == NO_CELL)
    return false;
  const struct message_use *use = message_use_in(s, row, cell, l);
  if (use->is & USE_ANY) /* then it is not forwarded at once */
    return true;
  return is_useful_along_path(s, row, cell, l, 0) &&
         !(use->is & USE_AT_ONCE && reaches_consumer(s, row, to, from, l, 0));
}

void transition_fusion_place(struct step_system *s, const content *row, uint32_t from, uint32_t to, message_id l,
                             place_message_fn *put) {
  if (!is_useful(s, row, to, from, l, 0))
    return;
  if (message_use_of(s, row, to, from, l)->is & USE_AT_ONCE && reaches_consumer(s, row, to, from, l, 0))
    forward_to_end(s, row, to, from, l, put);
  else
    put(s, from, to, l);
}
