/* Moves letter by letter. Who takes one message at a time can do, with all that lies in its channels, what it can do with
   each message alone. So that is remembered by local state and message, and what is left of a content by content: tables that
   stay small where there are many contents, and more still together with local states. */
#include "interleave/interleave_space.h"

/* Nothing but taking a message happens to a channel's content, and a move is short unless a step property or an error makes it
   otherwise. */
static bool can_go_by_letter(const struct interleave *s, uint32_t p) {
  bool quiet = !s->loses && !s->duplicates && !s->byzantine && !s->forgets_messages && !s->frozen && !s->fair;
  return quiet && s->options.letters != LETTERS_NEVER && s->meaning->semantics == SEMANTICS_M && !s->base.lotteries &&
         !s->steps.uses[s->role_of[p]] && s->mover.ninbound[p] > 0;
}

static bool gathers(const struct interleave *s, uint32_t p) {
  const struct role *role = &s->model->roles[s->role_of[p]];
  bool any = false;
  for (uint32_t a = 0; a < role->nactions; a++)
    any |= role->actions[a].trigger == TRIGGER_QUORUM;
  return any;
}

/* Where all that a process sees is a short number, one look-up is better; who gathers quorums would often be asked twice. */
static bool is_worth_it(const struct interleave *s, uint32_t p) {
  const struct key_window *w = &s->keys.window[p];
  return s->options.letters == LETTERS_ALWAYS || (!gathers(s, p) && (!w->fits || w->width > DIRECT_BITS));
}

bool letters_suit(const struct interleave *s) {
  bool all = s->model->nglobals == 0;
  for (uint32_t p = 0; p < s->model->nprocesses && all; p++)
    all = can_go_by_letter(s, p) && !gathers(s, p);
  return all && takes_short_ways(s);
}

static void rows_release(struct letters *l) {
  for (uint32_t i = 0; i < l->n; i++)
    memory_free(l->rows[i].of);
  memory_free(l->rows);
  memory_free(l->in);
  *l = (struct letters){0};
}

void letters_release(struct interleave *s) {
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    rows_release(&s->mover.letters[p]);
}

/* Where things stand in keys. */
static void look_up(const struct interleave *s, uint32_t p, struct letters *l) {
  const struct mover *v = &s->mover;
  const struct key_field *f = &s->keys.field[p];
  l->mask = (UINT64_C(1) << f->width) - 1;
  l->word = f->word;
  l->shift = f->shift;
  l->in = l->end = memory_alloc((v->ninbound[p] + 1) * sizeof *l->in);
  for (uint32_t i = 0; i < v->ninbound[p]; i++) {
    uint32_t cell = v->inbound[p][i].cell;
    f = &s->keys.field[cell];
    *l->end++ = (struct letter_channel){.mask = (UINT64_C(1) << f->width) - 1,
                                        .takings = &s->channels.takings[s->cells.cell[cell].table],
                                        .field = f, .word = f->word, .cell = cell, .shift = f->shift};
  }
}

void letters_forget(struct interleave *s) {
  letters_release(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    struct letters *l = &s->mover.letters[p];
    l->used = s->short_ways && can_go_by_letter(s, p) && is_worth_it(s, p);
    if (l->used)
      look_up(s, p, l);
  }
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

__attribute__((cold, noinline)) static struct letter_row *letter_row_make(struct interleave *s, uint32_t p, content local) {
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
__attribute__((cold, noinline)) static struct brief_moves *letter_moves_make(struct interleave *s, uint32_t p, content local, uint32_t in, letter l) {
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

/* What can be taken from a content that nobody has looked at yet. There has to be room for as much from each channel: `able` may
   move. */
__attribute__((cold, noinline)) static const struct taking *takings_found(struct interleave *s, uint32_t cell, content c, struct able **able) {
  const struct taking *all = channel_takings(&s->channels, cell, c);
  uint32_t n = 1, channels = 0;
  size_t at = (size_t)(*able - s->able.at);
  while (all[n - 1].letter != NO_LETTER)
    n++;
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    channels += 1 + s->mover.ninbound[p];
  if ((size_t)n * channels > s->mover.able_most)
    s->mover.able_most = (size_t)n * channels;
  vec_reserve(&s->able, s->model->nprocesses + s->mover.able_most);
  *able = s->able.at + at;
  return all;
}

bool letters_ask(struct interleave *s, uint32_t p) {
  const struct letters *l = &s->mover.letters[p];
  const uint64_t *words = s->words;
  const struct brief_moves *nothing = s->mover.nothing;
  content local = (content)(words[l->word] >> l->shift & l->mask);
  const struct letter_row *row = letter_row(s, p, local);
  struct able *able = s->able.at + s->able.n;
  if (row->at_once)
    return false;
  *able = (struct able){row->none, NULL, 0};
  able += row->none != nothing;
  struct brief_moves **of = row->of;
  for (const struct letter_channel *in = l->in, *end = l->end; in < end; in++, of += row->room) {
    content c = (content)(words[in->word] >> in->shift & in->mask);
    if (c == 0)
      continue;
    const struct taking *t = c < in->takings->n ? in->takings->of[c] : NULL;
    if (!t)
      t = takings_found(s, in->cell, c, &able);
    for (; t->letter != NO_LETTER; t++) {
      struct brief_moves *moves = t->letter < row->room ? of[t->letter] : NULL;
      if (!moves) {
        uint32_t number = (uint32_t)(in - l->in);
        if (!(moves = letter_moves_make(s, p, local, number, t->letter)))
          return false;
        of = row->of + (size_t)number * row->room;
      }
      *able = (struct able){moves, in->field, t->rest};
      able += moves != nothing; /* no branch: nobody could tell which way it goes */
    }
  }
  s->able.n = (size_t)(able - s->able.at);
  return true;
}
