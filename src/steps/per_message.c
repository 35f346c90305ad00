/* Moves cached per message. The moves of a process that takes one message at a time are the union of its moves on each
   message in its channels. They are therefore cached by local state and message, and the rest of a channel is cached by
   its content. These tables stay small even if there are many contents, and even more combinations of contents and
   local states. */
#include "steps/per_message.h"

#include "steps/move_caches.h"
#include "steps/process_moves.h"
#include "steps/relevant_fields.h"
#include "steps/step_system_internal.h"

/* The only change to a channel's content is that a message is taken, and a move is short unless it has an error or
   violates a step property. */
static bool can_move_by_message(const struct step_system *s, uint32_t p) {
  bool simple = !s->faults.loses && !s->faults.duplicates && !s->faults.byzantine && !s->dead.drops_dead_messages &&
                !s->dead.constant_memory && !s->liveness.fair;
  return simple && s->options.per_message != PER_MESSAGE_NEVER && s->interp->semantics == SEMANTICS_M &&
         !s->base.probabilistic && !s->steps.uses[s->role_of[p]] && s->moves_store.ninbound[p] > 0;
}

static bool takes_quorums(const struct step_system *s, uint32_t p) {
  const struct role *role = &s->model->roles[s->role_of[p]];
  bool any = false;
  for (uint32_t a = 0; a < role->nactions; a++)
    any |= role->actions[a].trigger == TRIGGER_QUORUM;
  return any;
}

/* If everything that a process sees is a short number, a single look-up is faster. A process that takes quorums would
   often need two look-ups. */
static bool message_moves_pay(const struct step_system *s, uint32_t p) {
  const struct key_window *w = &s->keys.window[p];
  return s->options.per_message == PER_MESSAGE_ALWAYS || (!takes_quorums(s, p) && (!w->fits || w->width > DIRECT_BITS));
}

bool message_moves_suit(const struct step_system *s) {
  bool all = s->model->nglobals == 0;
  for (uint32_t p = 0; p < s->model->nprocesses && all; p++)
    all = can_move_by_message(s, p) && !takes_quorums(s, p);
  return all && uses_short_keys(s);
}

static void rows_release(struct message_moves *l) {
  for (uint32_t i = 0; i < l->n; i++)
    memory_free(l->rows[i].of);
  memory_free(l->rows);
  memory_free(l->in);
  *l = (struct message_moves){0};
}

void message_moves_release(struct step_system *s) {
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    rows_release(&s->moves_store.per_message[p]);
}

/* Determines the positions of the fields in keys. */
static void message_moves_locate(const struct step_system *s, uint32_t p, struct message_moves *l) {
  const struct moves_store *v = &s->moves_store;
  const struct key_field *f = &s->keys.field[p];
  l->mask = (UINT64_C(1) << f->width) - 1;
  l->word = f->word;
  l->shift = f->shift;
  l->in = l->end = memory_alloc((v->ninbound[p] + 1) * sizeof *l->in);
  for (uint32_t i = 0; i < v->ninbound[p]; i++) {
    uint32_t cell = v->inbound[p][i].cell;
    f = &s->keys.field[cell];
    *l->end++ = (struct message_moves_channel){.mask = (UINT64_C(1) << f->width) - 1,
                                               .receives = &s->channels.receives[s->cells.cell[cell].table],
                                               .field = f,
                                               .word = f->word,
                                               .cell = cell,
                                               .shift = f->shift};
  }
}

void message_moves_clear(struct step_system *s) {
  message_moves_release(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    struct message_moves *l = &s->moves_store.per_message[p];
    l->used = s->layout.short_keys && can_move_by_message(s, p) && message_moves_pay(s, p);
    if (l->used)
      message_moves_locate(s, p, l);
  }
}

size_t message_moves_bytes(const struct step_system *s) {
  size_t bytes = 0;
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    const struct message_moves *l = &s->moves_store.per_message[p];
    bytes += l->n * sizeof *l->rows;
    for (uint32_t i = 0; i < l->n; i++)
      bytes += (size_t)l->rows[i].room * s->moves_store.ninbound[p] * sizeof *l->rows[i].of;
  }
  return bytes;
}

/* --- one local state --- */

__attribute__((cold, noinline)) static struct message_moves_row *message_moves_row_make(struct step_system *s,
                                                                                        uint32_t p, content local) {
  struct message_moves *l = &s->moves_store.per_message[p];
  indexed_reserve(l->rows, l->n, local, 0);
  struct message_moves_row *row = &l->rows[local];
  if (!row->none) {
    row->none = moves_on_message(s, p, local, 0, NO_MESSAGE_ID);
    row->at_once = !row->none || relevant_fields_of(s, p, local).reads_quorum;
    if (!row->none)
      row->none = s->moves_store.nothing;
  }
  return row;
}

/* NULL: some moves are not short, or are not cached. */
__attribute__((cold, noinline)) static struct short_moves *
message_moves_make(struct step_system *s, uint32_t p, content local, uint32_t in, message_id l) {
  struct message_moves_row *row = &s->moves_store.per_message[p].rows[local];
  uint32_t nin = s->moves_store.ninbound[p];
  if (l >= row->room) {
    uint32_t room = 2 * l + 8;
    struct short_moves **of = memory_alloc((size_t)room * nin * sizeof *of);
    for (uint32_t i = 0; i < nin; i++)
      for (uint32_t k = 0; k < row->room; k++)
        of[(size_t)i * room + k] = row->of[(size_t)i * row->room + k];
    memory_free(row->of);
    row->of = of;
    row->room = room;
  }
  struct short_moves *moves = moves_on_message(s, p, local, in, l);
  row->of[(size_t)in * row->room + l] = moves;
  row->at_once |= !moves;
  return moves;
}

/* --- all messages of a process --- */

static inline struct message_moves_row *message_moves_row(struct step_system *s, uint32_t p, content local) {
  struct message_moves *l = &s->moves_store.per_message[p];
  return local < l->n && l->rows[local].none ? &l->rows[local] : message_moves_row_make(s, p, local);
}

/* The messages that can be taken from a content seen for the first time. Reserves room for as many from each channel,
   so `able` may move. */
__attribute__((cold, noinline)) static const struct channel_receive *
receives_found(struct step_system *s, uint32_t cell, content c, struct enabled_moves **able) {
  const struct channel_receive *all = channel_receives_of(&s->channels, cell, c);
  uint32_t n = 1, channels = 0;
  size_t at = (size_t)(*able - s->enabled_moves.at);
  while (all[n - 1].message_id != NO_MESSAGE_ID)
    n++;
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    channels += 1 + s->moves_store.ninbound[p];
  if ((size_t)n * channels > s->moves_store.enabled_most)
    s->moves_store.enabled_most = (size_t)n * channels;
  vec_reserve(&s->enabled_moves, s->model->nprocesses + s->moves_store.enabled_most);
  *able = s->enabled_moves.at + at;
  return all;
}

bool message_moves_lookup(struct step_system *s, uint32_t p) {
  const struct message_moves *l = &s->moves_store.per_message[p];
  const uint64_t *words = s->words;
  const struct short_moves *nothing = s->moves_store.nothing;
  content local = (content)(words[l->word] >> l->shift & l->mask);
  const struct message_moves_row *row = message_moves_row(s, p, local);
  struct enabled_moves *able = s->enabled_moves.at + s->enabled_moves.n;
  if (row->at_once)
    return false;
  *able = (struct enabled_moves){row->none, NULL, 0};
  able += row->none != nothing;
  struct short_moves **of = row->of;
  for (const struct message_moves_channel *in = l->in, *end = l->end; in < end; in++, of += row->room) {
    content c = (content)(words[in->word] >> in->shift & in->mask);
    if (c == 0)
      continue;
    const struct channel_receive *t = c < in->receives->n ? in->receives->of[c] : NULL;
    if (!t)
      t = receives_found(s, in->cell, c, &able);
    for (; t->message_id != NO_MESSAGE_ID; t++) {
      struct short_moves *moves = t->message_id < row->room ? of[t->message_id] : NULL;
      if (!moves) {
        uint32_t number = (uint32_t)(in - l->in);
        if (!(moves = message_moves_make(s, p, local, number, t->message_id)))
          return false;
        of = row->of + (size_t)number * row->room;
      }
      *able = (struct enabled_moves){moves, in->field, t->rest};
      able += moves != nothing; /* branch-free, because the outcome is unpredictable */
    }
  }
  s->enabled_moves.n = (size_t)(able - s->enabled_moves.at);
  return true;
}
