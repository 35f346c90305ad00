/* Messages that are only passed on until nobody wants them. A process that stands at a place where an action reads nothing of
   its own and does nothing but send is a relay; a message of which all that can come, whatever the processes become, are
   relays, and takings without effect in the end, is of no use wherever it lies. What a process does with a message is
   remembered by its local state; the way of the message is followed in the state at hand. */
#include "interleave/interleave_space.h"

#include "model/permanent.h"
#include "sem/local.h"

#include <string.h>

#define WAY_MOST 64 /* beyond that a message may be on its way for ever */

struct passed { /* on */
  uint32_t to;
  letter letter;
};

struct use { /* of a message to a process in a local state */
  bool any;              /* it may have one */
  struct passed *passed; /* none but that of these */
  uint32_t n;
};

struct relays {
  bool **is;              /* [role][action] */
  struct memo known;      /* (receiver and local state, sender and letter) -> place in uses */
  VEC(struct use) uses;
  VEC(struct channel_packet) packets;
  value *local, *after;   /* scratch */
  struct outbox outbox;
};

/* Does nothing but send, and reads nothing that could change: its place is known. */
static bool is_relay(const struct interleave *s, uint32_t r, uint32_t action) {
  const struct role *role = &s->model->roles[r];
  const struct action_use *use = &s->use->of[r][action];
  if (role->actions[action].trigger != TRIGGER_ONE || use->halts || use->nsends == 0)
    return false;
  for (uint32_t i = 0; i < role->nvars; i++)
    if (i != role->point_var && (use->reads[i] || use->writes[i]))
      return false;
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    if (use->reads_shared[g] || use->writes_shared[g])
      return false;
  return true;
}

void relays_init(struct interleave *s) {
  const struct model *m = s->model;
  bool some = false;
  if (!forgets_idle_messages(s))
    return;
  struct relays *y = arena_alloc(&s->arena, sizeof *y);
  y->is = arena_array(&s->arena, m->nroles + 1, sizeof *y->is);
  for (uint32_t r = 0; r < m->nroles; r++) {
    y->is[r] = arena_array(&s->arena, m->roles[r].nactions + 1, sizeof **y->is);
    for (uint32_t a = 0; a < m->roles[r].nactions; a++)
      some |= y->is[r][a] = is_relay(s, r, a);
  }
  y->local = arena_array(&s->arena, s->meaning->max_local + 1, sizeof *y->local);
  y->after = arena_array(&s->arena, s->meaning->max_local + 1, sizeof *y->after);
  s->relays = some ? y : NULL;
}

void relays_release(struct interleave *s) {
  struct relays *y = s->relays;
  if (!y)
    return;
  for (size_t i = 0; i < y->uses.n; i++)
    memory_free(y->uses.at[i].passed);
  memo_release(&y->known);
  vec_release(&y->uses);
  vec_release(&y->packets);
  outbox_release(&y->outbox);
}

size_t relays_bytes(const struct interleave *s) {
  return s->relays ? memo_bytes(&s->relays->known) + s->relays->uses.cap * sizeof *s->relays->uses.at : 0;
}

/* --- what a process does with a message --- */

struct handing {
  struct interleave *space;
  uint32_t to, role;
  content local;
  struct inbox_entry in;
  letter letter;
  struct use use;
};

static void add_passed(struct handing *h, const struct posted *p) {
  letter l = letter_put(&h->space->channels, p->kind, p->message);
  for (uint32_t i = 0; i < h->use.n; i++)
    if (h->use.passed[i].to == p->to && h->use.passed[i].letter == l)
      return;
  h->use.passed = memory_resize_array(h->use.passed, h->use.n + 1, sizeof *h->use.passed);
  h->use.passed[h->use.n++] = (struct passed){p->to, l};
}

/* With every choice: it stays as it is, and sends. */
static bool hand_on(struct handing *h, uint32_t action) {
  struct interleave *s = h->space;
  struct relays *y = s->relays;
  size_t size = role_local_length(&s->model->roles[h->role]) * sizeof *y->local;
  struct choices choices = {0};
  bool stays = true;
  do {
    struct model_error error;
    memcpy(y->after, y->local, size);
    enum action_result result = action_take(s->meaning, action, h->to, y->after, s->steps.globals, &h->in, 1, &choices,
                                            &y->outbox, NULL, &error);
    stays = result == ACTION_REFUSED || (result == ACTION_DONE && !memcmp(y->after, y->local, size));
    for (size_t i = 0; i < y->outbox.n && stays && result == ACTION_DONE; i++)
      add_passed(h, &y->outbox.at[i]);
  } while (stays && choices_next(&choices));
  choices_release(&choices);
  return stays;
}

static bool relays_at(struct handing *h, uint32_t action) {
  struct interleave *s = h->space;
  struct relays *y = s->relays;
  const struct role *role = &s->model->roles[h->role];
  const struct action *a = &role->actions[action];
  struct model_error error;
  uint32_t n;
  bool failed;
  const value *v = content_values(&s->cells, h->to, h->local, &n);
  memcpy(y->local, v, n * sizeof *v);
  local_unblank(&s->cells, h->role, y->local);
  if (a->point != ANY_POINT)
    y->local[LOCAL_VAR(role->point_var)] = a->point;
  if (!action_matches(s->meaning, action, h->to, y->local, s->steps.globals, &h->in, &failed, &error))
    return !failed;
  return hand_on(h, action);
}

static struct use use_of(struct interleave *s, uint32_t to, content local, uint32_t from, letter l) {
  struct handing h = {.space = s, .to = to, .role = s->role_of[to], .local = local, .letter = l};
  const struct role *role = &s->model->roles[h.role];
  h.in = (struct inbox_entry){from, letter_kind(&s->channels, l), letter_message(&s->channels, l), PACKET_DELIVERED, false};
  for (uint32_t a = 0; a < role->nactions && !h.use.any; a++)
    if (role->actions[a].trigger != TRIGGER_NONE && role->actions[a].kind == h.in.kind &&
        !message_has_no_use(s, to, local, from, l, a))
      h.use.any = !s->relays->is[h.role][a] || !relays_at(&h, a);
  return h.use;
}

/* --- its way --- */

static bool is_of_use(struct interleave *s, const content *row, uint32_t to, uint32_t from, letter l, unsigned way) {
  struct relays *y = s->relays;
  uint64_t a = (uint64_t)to << 32 | row[to], b = (uint64_t)from << 32 | l;
  uint32_t known;
  if (!memo_find(&y->known, a, b, &known)) {
    vec_push(&y->uses, use_of(s, to, row[to], from, l));
    known = (uint32_t)y->uses.n - 1;
    memo_add(&y->known, a, b, known);
  }
  struct use use = y->uses.at[known];
  bool any = use.any || way > WAY_MOST;
  for (uint32_t i = 0; i < use.n && !any; i++)
    any = is_of_use(s, row, use.passed[i].to, to, use.passed[i].letter, way + 1);
  return any;
}

static content without_useless(struct interleave *s, const content *row, uint32_t cell) {
  const struct cell *c = &s->cells.cell[cell];
  struct relays *y = s->relays;
  uint32_t n = channel_decode(&s->cells, cell, row[cell], NULL, 0), kept = 0;
  vec_reserve(&y->packets, n + 1);
  channel_decode(&s->cells, cell, row[cell], y->packets.at, n);
  for (uint32_t i = 0; i < n; i++) {
    struct channel_packet p = y->packets.at[i];
    if (is_of_use(s, row, c->b, c->a, letter_put(&s->channels, p.kind, p.message), 0))
      y->packets.at[kept++] = p;
  }
  return kept == n ? row[cell] : channel_encode(&s->cells, cell, y->packets.at, kept);
}

bool relays_forget(struct interleave *s, content *row) {
  bool some = false;
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    for (uint32_t i = 0; i < s->mover.ninbound[p]; i++) {
      uint32_t cell = s->mover.inbound[p][i].cell;
      content left = row[cell] ? without_useless(s, row, cell) : 0;
      some |= left != row[cell];
      row[cell] = left;
    }
  return some;
}
