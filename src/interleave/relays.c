/* Messages that are only passed on. A process that stands at a place where an action reads nothing of its own and does nothing
   but send is a relay. A message of which all that can come, whatever the processes become, are relays, and takings without
   effect in the end, is of no use wherever it lies, and forgotten. A message to a process that will be a relay for ever is
   passed on at once: nobody sees when that happens, nothing can come in between, and whatever could happen before can happen
   after it. What a process does with a message is remembered by its local state; the way of the message is followed in
   the state at hand (settle.c). */
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
  bool at_once;          /* it will be passed on in this way, sooner or later, and in no other */
  uint32_t ways;         /* in which it can be taken */
  struct passed *passed; /* none but that of these */
  uint32_t n;
};

/* The same in short, as most are: passed on once or never. The ways of messages are followed very often. */
enum { USE_KNOWN = 1, USE_ANY = 2, USE_AT_ONCE = 4, USE_ONE_WAY = 8 /* passed on once, and cell and letter say how */ };
struct brief_use {
  uint32_t cell; /* NO_CELL: nothing ever comes of it */
  letter letter;
  uint32_t is;
};

struct known_uses { /* by letter */
  struct use **of; /* NULL: not known yet */
  struct brief_use *brief;
  uint32_t n;
};

struct relays {
  bool **is;              /* [role][action] */
  bool at_once;           /* messages may be passed on at once */
  const struct permanence *permanence;
  struct known_uses **known; /* [channel's cell][local state of the receiver] */
  uint32_t *nknown;          /* by cell */
  size_t bytes;
  value *local, *after;   /* scratch */
  struct outbox outbox;
};

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
      some |= y->is[r][a] = action_is_relay(m, s->use, r, a);
  }
  y->known = arena_array(&s->arena, s->cells.ncells + 1, sizeof *y->known);
  y->nknown = arena_array(&s->arena, s->cells.ncells + 1, sizeof *y->nknown);
  y->permanence = permanence_of(m, s->base.question, &s->arena);
  y->at_once = s->base.licences->of[REDUCE_RELAYS].applied;
  y->local = arena_array(&s->arena, s->meaning->max_local + 1, sizeof *y->local);
  y->after = arena_array(&s->arena, s->meaning->max_local + 1, sizeof *y->after);
  s->relays = some ? y : NULL;
}

void relays_release(struct interleave *s) {
  struct relays *y = s->relays;
  if (!y)
    return;
  for (uint32_t cell = 0; cell < s->cells.ncells; cell++) {
    for (uint32_t i = 0; i < y->nknown[cell]; i++) {
      for (uint32_t l = 0; l < y->known[cell][i].n; l++)
        if (y->known[cell][i].of[l])
          memory_free(y->known[cell][i].of[l]->passed);
      memory_free(y->known[cell][i].of);
      memory_free(y->known[cell][i].brief);
    }
    memory_free(y->known[cell]);
  }
  outbox_release(&y->outbox);
}

size_t relays_bytes(const struct interleave *s) {
  return s->relays ? s->relays->bytes : 0;
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
    h->use.ways += result == ACTION_DONE;
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

/* At the place where it stands, for as long as the run goes on. */
static bool stays_for_ever(struct interleave *s, uint32_t r, uint32_t p, content local) {
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
        point_reaches(s->relays->permanence, r, (uint32_t)v[LOCAL_VAR(role->point_var)], label))
      return false;
  return true;
}

static struct use use_of(struct interleave *s, uint32_t to, content local, uint32_t from, letter l) {
  struct handing h = {.space = s, .to = to, .role = s->role_of[to], .local = local, .letter = l};
  const struct role *role = &s->model->roles[h.role];
  h.in = (struct inbox_entry){from, letter_kind(&s->channels, l), letter_message(&s->channels, l), PACKET_DELIVERED, false};
  for (uint32_t a = 0; a < role->nactions && !h.use.any; a++)
    if (role->actions[a].trigger != TRIGGER_NONE && role->actions[a].kind == h.in.kind &&
        !message_has_no_use(s, to, local, from, l, a))
      h.use.any = !s->relays->is[h.role][a] || !relays_at(&h, a);
  h.use.at_once = s->relays->at_once && !h.use.any && h.use.ways == 1 && stays_for_ever(s, h.role, to, local);
  return h.use;
}

/* --- its way --- */

static struct brief_use in_short(const struct interleave *s, uint32_t cell, const struct use *use) {
  struct brief_use brief = {.is = USE_KNOWN | (use->any ? USE_ANY : 0) | (use->at_once ? USE_AT_ONCE : 0)};
  if (use->n == 1) {
    brief.is |= USE_ONE_WAY;
    brief.letter = use->passed[0].letter;
    brief.cell = s->cells.channel[(size_t)s->cells.cell[cell].b * s->model->nprocesses + use->passed[0].to];
  }
  return brief;
}

static const struct use *use_make(struct interleave *s, uint32_t cell, content local, letter l) {
  struct relays *y = s->relays;
  if (local >= y->nknown[cell]) {
    uint32_t room = 2 * local + 16;
    y->known[cell] = memory_resize_array(y->known[cell], room, sizeof **y->known);
    memset(y->known[cell] + y->nknown[cell], 0, (room - y->nknown[cell]) * sizeof **y->known);
    y->bytes += (room - y->nknown[cell]) * sizeof **y->known;
    y->nknown[cell] = room;
  }
  struct known_uses *k = &y->known[cell][local];
  if (l >= k->n) {
    uint32_t room = 2 * l + 16;
    k->of = memory_resize_array(k->of, room, sizeof *k->of);
    memset(k->of + k->n, 0, (room - k->n) * sizeof *k->of);
    k->brief = memory_resize_array(k->brief, room, sizeof *k->brief);
    memset(k->brief + k->n, 0, (room - k->n) * sizeof *k->brief);
    y->bytes += (room - k->n) * (sizeof *k->of + sizeof *k->brief);
    k->n = room;
  }
  struct use *use = arena_alloc(&s->arena, sizeof *use);
  *use = use_of(s, s->cells.cell[cell].b, local, s->cells.cell[cell].a, l);
  y->bytes += sizeof *use;
  y->known[cell][local].brief[l] = in_short(s, cell, use);
  return y->known[cell][local].of[l] = use;
}

static const struct use useless;

/* Nothing ever comes of what is sent where no channel is. */
static inline const struct use *known_use(struct interleave *s, uint32_t to, content local, uint32_t from, letter l) {
  const struct relays *y = s->relays;
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell == NO_CELL)
    return &useless;
  if (local < y->nknown[cell] && l < y->known[cell][local].n && y->known[cell][local].of[l])
    return y->known[cell][local].of[l];
  return use_make(s, cell, local, l);
}

static bool is_of_use(struct interleave *, const content *row, uint32_t to, uint32_t from, letter, unsigned way);

static inline struct brief_use use_in_short(struct interleave *s, const content *row, uint32_t cell, letter l) {
  const struct relays *y = s->relays;
  const struct cell *at = &s->cells.cell[cell];
  content local = row[at->b];
  if (local < y->nknown[cell] && l < y->known[cell][local].n && y->known[cell][local].brief[l].is)
    return y->known[cell][local].brief[l];
  use_make(s, cell, local, l);
  return y->known[cell][local].brief[l];
}

static bool is_of_use_after(struct interleave *s, const content *row, uint32_t cell, letter l, unsigned way) {
  struct brief_use use = use_in_short(s, row, cell, l);
  for (; (use.is & (USE_ANY | USE_ONE_WAY)) == USE_ONE_WAY && way <= WAY_MOST; way++) { /* most go to one process */
    if (use.cell == NO_CELL)
      return false;
    cell = use.cell;
    l = use.letter;
    use = use_in_short(s, row, cell, l);
  }
  if (use.is & USE_ANY || way > WAY_MOST)
    return true;
  const struct cell *at = &s->cells.cell[cell];
  const struct use *all = known_use(s, at->b, row[at->b], at->a, l);
  bool any = false;
  for (uint32_t i = 0; i < all->n && !any; i++)
    any = is_of_use(s, row, all->passed[i].to, at->b, all->passed[i].letter, way + 1);
  return any;
}

static bool is_of_use(struct interleave *s, const content *row, uint32_t to, uint32_t from, letter l, unsigned way) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell == NO_CELL)
    return way > WAY_MOST;
  return is_of_use_after(s, row, cell, l, way);
}

/* Does it get to processes that may do something else with it? */
static bool arrives(struct interleave *s, const content *row, uint32_t to, uint32_t from, letter l, unsigned way) {
  const struct use *use = known_use(s, to, row[to], from, l);
  bool yes = way <= WAY_MOST;
  for (uint32_t i = 0; i < use->n && yes && use->at_once; i++)
    yes = arrives(s, row, use->passed[i].to, to, use->passed[i].letter, way + 1);
  return yes;
}

/* As far as it goes; what is of no use on the way is dropped. It is of use itself: so is what alone it becomes. */
static void pass_on(struct interleave *s, const content *row, uint32_t to, uint32_t from, letter l, put_down_fn *put) {
  const struct use *use = known_use(s, to, row[to], from, l);
  for (uint32_t i = 0; i < use->n; i++) {
    struct passed p = use->passed[i];
    if (use->n > 1 && !is_of_use(s, row, p.to, to, p.letter, 0))
      continue;
    if (known_use(s, p.to, row[p.to], to, p.letter)->at_once)
      pass_on(s, row, p.to, to, p.letter, put);
    else
      put(s, to, p.to, p.letter);
  }
}

bool relays_keep(struct interleave *s, const content *row, uint32_t from, uint32_t to, letter l) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to];
  if (cell == NO_CELL)
    return false;
  struct brief_use use = use_in_short(s, row, cell, l);
  if (use.is & USE_ANY) /* then it is not passed on at once */
    return true;
  return is_of_use_after(s, row, cell, l, 0) && !(use.is & USE_AT_ONCE && arrives(s, row, to, from, l, 0));
}

void relays_put(struct interleave *s, const content *row, uint32_t from, uint32_t to, letter l, put_down_fn *put) {
  if (!is_of_use(s, row, to, from, l, 0))
    return;
  if (known_use(s, to, row[to], from, l)->at_once && arrives(s, row, to, from, l, 0))
    pass_on(s, row, to, from, l, put);
  else
    put(s, from, to, l);
}
