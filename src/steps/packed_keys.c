#include "steps/packed_keys.h"

static uint8_t bits_for(size_t names) {
  uint8_t bits = 0;
  while ((UINT64_C(1) << bits) < names)
    bits++;
  return bits;
}

static void place(struct keys *k, uint32_t cell, uint32_t *at) {
  uint8_t width = k->width[k->cells->cell[cell].table];
  if (*at % 64 + width > 64)
    *at += 64 - *at % 64;
  k->field[cell] = (struct key_field){*at / 64, (uint8_t)(*at % 64), width};
  if (width == 0)
    k->field[cell] = (struct key_field){0, 0, 0};
  *at += width;
}

static struct key_window window_between(uint32_t begin, uint32_t end) {
  uint32_t width = end - begin;
  if (width == 0)
    return (struct key_window){.fits = true};
  return (struct key_window){.mask = width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1,
                             .word = begin / 64,
                             .shift = (uint8_t)(begin % 64),
                             .width = (uint8_t)(width <= 64 ? width : 0),
                             .fits = width <= 64};
}

/* Places the fields one after the other: for each process its local state and its inbound channels, then globals, then
   the rest. Returns the end. */
static uint32_t place_in_order(struct keys *k) {
  const struct state_cells *c = k->cells;
  uint32_t n = c->model->nprocesses, at = 0;
  for (uint32_t p = 0; p < n; p++) {
    uint32_t begin = at;
    place(k, p, &at);
    if (k->field[p].width)
      begin = at - k->field[p].width;
    for (uint32_t q = 0; q < n; q++)
      if (c->channel[(size_t)q * n + p] != NO_CELL)
        place(k, c->channel[(size_t)q * n + p], &at);
    k->window[p] = window_between(begin, at);
  }
  uint32_t memory = at, end = at;
  for (uint32_t cell = n; cell < c->ncells; cell++) {
    if (c->cell[cell].kind == CELL_CHANNEL)
      continue;
    place(k, cell, &at);
    if (c->cell[cell].kind == CELL_GLOBAL)
      end = at;
  }
  k->memory = window_between(memory, end);
  return at;
}

#define FASTEST_KEY_WORDS 2 /* keys of at most this many words are the fastest */

/* First fit within FASTEST_KEY_WORDS, wide fields first. Returns the end; 0: there is not enough room. */
static uint32_t place_scattered(struct keys *k) {
  uint32_t used[FASTEST_KEY_WORDS] = {0}, end = 0;
  for (uint32_t width = 64; width > 0; width--)
    for (uint32_t cell = 0; cell < k->cells->ncells; cell++) {
      uint32_t word = 0;
      if (k->width[k->cells->cell[cell].table] != width)
        continue;
      while (word < FASTEST_KEY_WORDS && used[word] + width > 64)
        word++;
      if (word == FASTEST_KEY_WORDS)
        return 0;
      k->field[cell] = (struct key_field){word, (uint8_t)used[word], (uint8_t)width};
      used[word] += width;
      end = 64 * word + used[word] > end ? 64 * word + used[word] : end;
    }
  for (uint32_t p = 0; p < k->cells->model->nprocesses; p++)
    k->window[p] = (struct key_window){.fits = false};
  k->memory = (struct key_window){.fits = true};
  return end;
}

static void lay_out(struct keys *k) {
  uint32_t end = place_in_order(k);
  if (k->scatter == SCATTER_ALWAYS || (end > 64 * FASTEST_KEY_WORDS && k->scatter == SCATTER_TO_SHORTEN)) {
    uint32_t shorter = place_scattered(k);
    end = shorter ? shorter : place_in_order(k);
  }
  k->nbytes = end ? (end + 7) / 8 : 1;
  k->nwords = (k->nbytes + 7) / 8;
  k->layouts++;
}

void keys_init(struct keys *k, const struct state_cells *c) {
  *k = (struct keys){.cells = c};
  k->field = memory_alloc((c->ncells + 1) * sizeof *k->field);
  k->window = memory_alloc((c->model->nprocesses + 1) * sizeof *k->window);
  k->width = memory_alloc(c->ntables + 1);
  keys_lay_out(k, KEYS_WIDE);
}

void keys_release(struct keys *k) {
  memory_free(k->field);
  memory_free(k->window);
  memory_free(k->width);
}

#define WIDE 20

/* A restart discards all states, so keys get spare bits for new names, and more with each restart. The discarded
   searches are then small compared with the last one. If few cells grow, they share two more bytes of the key at
   once. */
#define SPARE_MOST 4
#define SPARE_SHARED 16
#define LARGE                                                                                                          \
  4096 /* names; the contents of such tables are combinations, whose number keeps growing during the                   \
          search */
#define SPARE_LARGE 5

/* Large tables that are nearly full would overflow next. Small tables may already be complete. */
static bool is_full(const struct keys *k, const uint8_t *width, uint32_t table) {
  uint64_t names = intern_count(k->cells->tables[table]), room = UINT64_C(1) << width[table];
  return names > room || (names >= 64 && names + names / 4 > room);
}

static uint8_t spare_bits(const struct keys *k) {
  uint32_t full = 0, share;
  for (uint32_t i = 0; i < k->cells->ncells; i++)
    full += is_full(k, k->width, k->cells->cell[i].table);
  share = full ? SPARE_SHARED / full : 0;
  return (uint8_t)(share > SPARE_MOST ? SPARE_MOST : share > k->grown ? share : k->grown);
}

/* The width for a table that has grown: `less` bits below the maximum of spare bits, but at least one spare bit. */
static uint8_t width_grown(const struct keys *k, const uint8_t *before, uint32_t table, uint8_t spare, uint8_t less) {
  size_t names = intern_count(k->cells->tables[table]);
  if (is_full(k, before, table)) {
    uint8_t more = names > LARGE ? SPARE_LARGE : spare;
    return (uint8_t)(bits_for(names + names / 2) + (more > less + 1 ? more - less : more ? 1 : 0));
  }
  return (uint8_t)(before[table] + (names > 8 && names + names / 4 > UINT64_C(1) << before[table]));
}

/* Uses as many spare bits as fit into that many words. False: the key is longer even with the fewest. */
static bool grow_within(struct keys *k, const uint8_t *before, uint8_t spare, uint32_t words) {
  uint8_t most = spare > SPARE_LARGE ? spare : SPARE_LARGE;
  for (uint8_t less = 0; less < most; less++) {
    for (uint32_t t = 0; t < k->cells->ntables; t++)
      k->width[t] = width_grown(k, before, t, spare, less);
    lay_out(k);
    if (k->nwords <= words)
      return true;
  }
  return false;
}

/* Short keys are so much faster that spare bits are given up for them. */
static void grow(struct keys *k) {
  uint8_t *before = memory_alloc(k->cells->ntables + 1), spare = spare_bits(k);
  memcpy(before, k->width, k->cells->ntables);
  if (k->grown < SPARE_MOST)
    k->grown++;
  if (!grow_within(k, before, spare, FASTEST_KEY_WORDS) && !grow_within(k, before, spare, SHORT_KEY_WORDS))
    grow_within(k, before, spare, UINT32_MAX);
  memory_free(before);
}

static void widen_by(struct keys *k, const uint8_t *before, uint8_t more) {
  for (uint32_t t = 0; t < k->cells->ntables; t++) {
    size_t names = intern_count(k->cells->tables[t]);
    uint8_t width = k->narrow ? before[t] + 1 : (uint8_t)(bits_for(names + names / 2) + more);
    k->width[t] = is_full(k, before, t) ? width : before[t];
  }
  lay_out(k);
}

/* Makes room for half as many names again, and uses up the last byte. */
static void widen(struct keys *k) {
  uint8_t *before = memory_alloc(k->cells->ntables + 1), more = SPARE_MOST;
  memcpy(before, k->width, k->cells->ntables);
  widen_by(k, before, 0);
  uint32_t bytes = k->nbytes;
  do
    widen_by(k, before, more);
  while (k->nbytes > bytes && more-- > 0);
  memory_free(before);
}

void keys_lay_out(struct keys *k, enum key_layout how) {
  if (how == KEYS_GROWN || how == KEYS_WIDENED) {
    (how == KEYS_GROWN ? grow : widen)(k);
    return;
  }
  for (uint32_t t = 0; t < k->cells->ntables; t++) {
    size_t names = intern_count(k->cells->tables[t]);
    k->width[t] = how == KEYS_WIDE ? WIDE : k->narrow ? 0 : bits_for(names + names / 16);
  }
  lay_out(k);
}

void keys_lay_out_like(struct keys *k, const uint8_t *width) {
  memcpy(k->width, width, k->cells->ntables);
  lay_out(k);
}

void keys_remember(struct keys *k, const struct keys *now) {
  size_t cells = now->cells->ncells;
  struct key_field *field = memory_resize_array(k->field, cells + 1, sizeof *field);
  memcpy(field, now->field, cells * sizeof *field);
  *k = (struct keys){.cells = now->cells, .field = field, .nwords = now->nwords, .nbytes = now->nbytes};
}

bool keys_pack(const struct keys *k, const content *row, uint64_t *words) {
  uint64_t lost = 0;
  memset(words, 0, k->nwords * sizeof *words);
  for (uint32_t i = 0; i < k->cells->ncells; i++) {
    const struct key_field *f = &k->field[i];
    words[f->word] |= (uint64_t)row[i] << f->shift;
    lost |= (uint64_t)row[i] >> f->width;
  }
  return lost == 0;
}

void keys_unpack(const struct keys *k, const uint64_t *words, content *row) {
  for (uint32_t i = 0; i < k->cells->ncells; i++)
    row[i] = key_get(k, words, i);
}
