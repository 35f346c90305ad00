/* Moves letter by letter. Who takes one message at a time can do, with all that lies in its channels, what it can do with
   each message alone. So that is remembered by local state and message, and what is left of a content by content: tables that
   stay small where there are many contents, and more still together with local states. */
#include "interleave/interleave_space.h"

/* Nothing but taking a message happens to a channel's content, and a move is short unless a step property or an error makes it
   otherwise. */
static bool goes_by_letter(const struct interleave *s, uint32_t p) {
  bool quiet = !s->loses && !s->duplicates && !s->byzantine && !s->forgets_messages && !s->frozen && !s->fair;
  return quiet && goes_short_ways(s) && s->meaning->semantics == SEMANTICS_M && !s->base.lotteries &&
         !s->steps.uses[s->role_of[p]] && s->mover.ninbound[p] > 0;
}

/* Where all that a process sees is a short number, one look-up is better; who gathers quorums would often be asked twice. */
static bool is_worth_it(const struct interleave *s, uint32_t p) {
  const struct key_window *w = &s->keys.window[p];
  const struct role *role = &s->model->roles[s->role_of[p]];
  bool gathers = false;
  for (uint32_t a = 0; a < role->nactions; a++)
    gathers |= role->actions[a].trigger == TRIGGER_QUORUM;
  return s->options.letters == LETTERS_ALWAYS || (!gathers && (!w->fits || w->width > DIRECT_BITS));
}

static void rows_release(struct letters *l) {
  for (uint32_t i = 0; i < l->n; i++)
    memory_free(l->rows[i].of);
  memory_free(l->rows);
  *l = (struct letters){0};
}

void letters_release(struct interleave *s) {
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    rows_release(&s->mover.letters[p]);
}

void letters_forget(struct interleave *s) {
  letters_release(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    s->mover.letters[p].used = s->options.letters != LETTERS_NEVER && goes_by_letter(s, p) && is_worth_it(s, p);
}

size_t letters_bytes(const struct interleave *s) {
  size_t bytes = 0;
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    const struct letters *l = &s->mover.letters[p];
    bytes += l->n * sizeof *l->rows;
    for (uint32_t i = 0; i < l->n; i++)
      bytes += (size_t)l->rows[i].room * s->mover.ninbound[p] * sizeof *l->rows[i].of;
  }
  return bytes;
}

/* --- one local state --- */

static struct letter_row *letter_row_make(struct interleave *s, uint32_t p, content local) {
  struct letters *l = &s->mover.letters[p];
  if (local >= l->n) {
    uint32_t room = 2 * local + 16;
    l->rows = memory_resize_array(l->rows, room, sizeof *l->rows);
    for (uint32_t i = l->n; i < room; i++)
      l->rows[i] = (struct letter_row){0};
    l->n = room;
  }
  struct letter_row *row = &l->rows[local];
  if (!row->none) {
    row->none = moves_on_letter(s, p, local, 0, NO_LETTER);
    row->at_once = !row->none || outlook_of(s, p, local).gathers;
    if (!row->none)
      row->none = s->mover.nothing;
  }
  return row;
}

/* NULL: some are not short, or are not remembered. */
static struct brief_moves *letter_moves_make(struct interleave *s, uint32_t p, content local, uint32_t in, letter l) {
  struct letter_row *row = &s->mover.letters[p].rows[local];
  uint32_t nin = s->mover.ninbound[p];
  if (l >= row->room) {
    uint32_t room = 2 * l + 8;
    struct brief_moves **of = memory_alloc((size_t)room * nin * sizeof *of);
    for (uint32_t i = 0; i < nin; i++)
      for (uint32_t k = 0; k < row->room; k++)
        of[(size_t)i * room + k] = row->of[(size_t)i * row->room + k];
    memory_free(row->of);
    row->of = of;
    row->room = room;
  }
  struct brief_moves *moves = moves_on_letter(s, p, local, in, l);
  row->of[(size_t)in * row->room + l] = moves;
  row->at_once |= !moves;
  return moves;
}

/* --- all that lies there --- */

static inline struct letter_row *letter_row(struct interleave *s, uint32_t p, content local) {
  struct letters *l = &s->mover.letters[p];
  return local < l->n && l->rows[local].none ? &l->rows[local] : letter_row_make(s, p, local);
}

static inline struct brief_moves *letter_moves(struct interleave *s, uint32_t p, content local, const struct letter_row *row,
                                               uint32_t in, letter l) {
  struct brief_moves *known = l < row->room ? row->of[(size_t)in * row->room + l] : NULL;
  return known ? known : letter_moves_make(s, p, local, in, l);
}

static void add_one_more(struct interleave *s, struct brief_moves *moves, const struct key_field *channel, content rest) {
  vec_reserve(&s->able, s->able.n + 1 + s->model->nprocesses);
  able_add(s, moves, channel, rest);
}

bool letters_ask(struct interleave *s, uint32_t p) {
  const struct mover *v = &s->mover;
  content local = key_get(&s->keys, s->words, p);
  const struct letter_row *row = letter_row(s, p, local);
  size_t before = s->able.n;
  if (row->none->n)
    add_one_more(s, row->none, NULL, 0);
  for (uint32_t in = 0; in < v->ninbound[p] && !row->at_once; in++) {
    uint32_t cell = v->inbound[p][in].cell;
    content c = key_get(&s->keys, s->words, cell);
    const struct taking *t = c ? channel_takings(&s->channels, s->cells.cell[cell].table, cell, c) : NULL;
    for (; t && t->letter != NO_LETTER && !row->at_once; t++) {
      struct brief_moves *moves = letter_moves(s, p, local, row, in, t->letter);
      if (moves && moves->n)
        add_one_more(s, moves, &s->keys.field[cell], t->rest);
    }
  }
  if (row->at_once)
    s->able.n = before;
  return !row->at_once;
}
