/* The short ways to what processes can do: caches that ask only for the bits of the key. */
#include "interleave/interleave_space.h"

static void forget_parties(struct mover *v) {
  for (uint32_t i = 0; i < v->nparties; i++)
    memory_free(v->parties[i].cache);
  v->nparties = 0;
}

void glances_release(struct interleave *s) {
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    memory_free(s->mover.glances[p].cache);
    memory_free(s->mover.glances[p].direct);
  }
  forget_parties(&s->mover);
}

void glances_forget(struct interleave *s) {
  glances_release(s);
  arena_clear(&s->mover.brief); /* short moves are made anew when they are asked for */
  s->mover.brief_bytes = 0;
  overlooked_forget(s);
  letters_forget(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    s->mover.glances[p] = (struct glance){.window = s->keys.window[p],
                                          .role = s->role_of[p],
                                          .overlooked = s->mover.overlooked[s->role_of[p]],
                                          .local_mask = (UINT64_C(1) << s->keys.field[p].width) - 1};
}

#define PARTY_WIDTH 40 /* bits; of more, the same are hardly ever seen twice */

/* From the first bit of one to the last of the other. */
static struct key_window window_across(const struct key_window *first, const struct key_window *last) {
  uint32_t begin = first->word * 64 + first->shift, end = last->word * 64 + last->shift + last->width;
  struct key_window w = *first;
  w.fits = end - begin <= PARTY_WIDTH;
  w.width = (uint8_t)(w.fits ? end - begin : 0);
  w.mask = (UINT64_C(1) << w.width) - 1;
  return w;
}

static bool sees_nothing_else(const struct interleave *s, uint32_t p) {
  return !s->steps.uses[s->role_of[p]] && !s->byzantine && s->keys.window[p].fits && s->keys.window[p].width > 0;
}

static void form_parties(struct interleave *s) {
  struct mover *v = &s->mover;
  uint32_t n = s->model->nprocesses;
  for (uint32_t p = 0; p < n;) {
    struct party *party = &v->parties[v->nparties++];
    uint32_t first = p++;
    *party = (struct party){.first = first, .n = 1, .by_letter = v->letters[first].used};
    while (p < n && party->n < PARTY_MOST && !party->by_letter && !v->letters[p].used && sees_nothing_else(s, first) && sees_nothing_else(s, p)) {
      struct key_window w = window_across(&s->keys.window[first], &s->keys.window[p]);
      if (!w.fits)
        break;
      party->window = w;
      party->n++;
      p++;
    }
    if (party->n == 1 && !party->by_letter)
      party->alone = &v->glances[first];
  }
}

void make_parties(struct interleave *s) {
  struct mover *v = &s->mover;
  uint32_t bits = s->expanded < 1u << 17 ? 11 : s->expanded < 1u << 20 ? 12 : 14;
  if (v->nparties == 0)
    form_parties(s);
  for (uint32_t i = 0; i < v->nparties; i++) {
    struct party *party = &v->parties[i];
    if (party->n == 1 || (party->bits && !party->cache))
      continue;
    bool in_vain = s->expanded > 4096 && party->missed > s->expanded / 2;
    if (bits > party->bits || in_vain) {
      memory_free(party->cache);
      party->cache = in_vain ? NULL : memory_alloc(sizeof *party->cache << bits);
      party->bits = bits;
    }
  }
}

/* The further a search gets with its keys, and the more there is to see, the more room its shortcuts are worth. */
void make_shortcuts(struct interleave *s, uint32_t p) {
  struct glance *g = &s->mover.glances[p];
  const struct key_window *w = &s->keys.window[p];
  const struct key_window *memory = &s->keys.memory;
  uint32_t seen = w->width + (!s->steps.uses[s->role_of[p]] ? 0u : memory->fits ? memory->width : 64u);
  uint32_t bits = s->expanded < 64 ? 0 : s->expanded < 4096 ? 10 : s->expanded < 65536 ? 12 : s->expanded < 1u << 20 ? 14 : 17;
  bool direct = bits >= 12 && seen <= DIRECT_BITS && !s->byzantine;
  while (bits > 8 && !direct && (size_t)1 << bits > 4 * intern_count(s->mover.sights[p].seen))
    bits--;
  if (!w->fits || bits <= g->bits || g->direct)
    return;
  memory_free(g->cache);
  g->cache = NULL;
  g->bits = bits;
  if (direct)
    g->direct = memory_alloc(sizeof *g->direct << seen);
  else
    g->cache = memory_alloc(sizeof *g->cache << bits);
}
