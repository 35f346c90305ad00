#include "steps/relative_rounds.h"

#include "analysis/round_window.h"
#include "base/vec.h"
#include "system/memo.h"

#include <string.h>

/* The rounds in one content. */
struct rounds_in {
  bool known, any;
  bool untidy;            /* a message is obsolete, and its fields that are no longer read have not been cleared */
  struct round_span kept; /* rounds in variables, and in fields of messages that do not expire */
  value anchor;           /* the smallest round in variables that never decrease; INT64_MAX: none */
  value expiring;         /* the smallest non-zero round among those that may expire; INT64_MAX: none */
};

struct rounds_of { /* by content of a table */
  struct rounds_in *at;
  uint32_t n;
};

/* The part of struct rounds_in that determines whether a content changes. Most contents do not affect the shift, so
   they need only this. */
struct rounds_summary {
  int32_t expiring;                 /* INT32_MAX: none */
  uint8_t known, any, untidy, wide; /* wide: `expiring` does not fit */
};
struct rounds_summaries {
  struct rounds_summary *at;
  uint32_t n;
};

struct relative_rounds {
  struct state_cells *cells;
  struct model *model;
  const struct round_window *use;
  struct rounds_of *tables;
  struct rounds_summaries *summaries; /* by table */
  uint32_t *cell, ncells; /* cells whose contents can hold rounds; those that determine the shift come first */
  uint32_t ndeciding;
  struct memo moved; /* (table and content, shift and expiry) -> content */
  VEC(struct channel_packet) packets;
  VEC(value) values;
};

static bool may_hold_rounds(const struct state_cells *c, uint32_t cell) {
  const struct model *m = c->model;
  const struct state_cell *at = &c->cell[cell];
  bool any = false;
  if (at->kind == CELL_GLOBAL)
    return type_contains_kind(m->globals[at->a].type, TYPE_ROUND);
  if (at->kind == CELL_LOCAL) {
    const struct role *role = &m->roles[model_role_of(m, at->a)];
    for (uint32_t i = 0; i < role->nvars; i++)
      any |= type_contains_kind(role->vars[i].type, TYPE_ROUND);
  }
  for (uint32_t k = 0; k < m->nmessages && at->kind == CELL_CHANNEL; k++)
    any |= type_contains_kind(m->messages[k].type, TYPE_ROUND);
  return any;
}

bool relative_rounds_of_messages(const struct relative_rounds *w) {
  const struct model *m = w->model;
  bool some = false;
  for (uint32_t k = 0; k < m->nmessages; k++)
    for (uint32_t i = 0; i < m->messages[k].type->size; i++)
      some |= type_contains_kind(m->messages[k].type->fields[i].type, TYPE_ROUND) && !w->use->expires[k][i];
  return some;
}

struct relative_rounds *relative_rounds_new(struct state_cells *cells) {
  struct relative_rounds *w = memory_alloc(sizeof *w);
  w->cells = cells;
  w->model = cells->model;
  w->use = cells->licences->window;
  w->tables = memory_alloc((cells->ntables + 1) * sizeof *w->tables);
  w->summaries = memory_alloc((cells->ntables + 1) * sizeof *w->summaries);
  w->cell = memory_alloc((cells->ncells + 1) * sizeof *w->cell);
  bool kept = relative_rounds_of_messages(w);
  for (int deciding = 1; deciding >= 0; deciding--)
    for (uint32_t i = 0; i < cells->ncells; i++)
      if (may_hold_rounds(cells, i) && (kept || cells->cell[i].kind != CELL_CHANNEL) == deciding) {
        w->cell[w->ncells++] = i;
        w->ndeciding += (uint32_t)deciding;
      }
  return w;
}

void relative_rounds_free(struct relative_rounds *w) {
  if (!w)
    return;
  for (uint32_t t = 0; t < w->cells->ntables; t++) {
    memory_free(w->tables[t].at);
    memory_free(w->summaries[t].at);
  }
  memory_free(w->tables);
  memory_free(w->summaries);
  memory_free(w->cell);
  memo_release(&w->moved);
  vec_release(&w->packets);
  vec_release(&w->values);
  memory_free(w);
}

size_t relative_rounds_bytes(const struct relative_rounds *w) {
  size_t bytes = memo_bytes(&w->moved);
  for (uint32_t t = 0; t < w->cells->ntables; t++)
    bytes += w->tables[t].n * sizeof *w->tables[t].at + w->summaries[t].n * sizeof *w->summaries[t].at;
  return bytes;
}

/* --- the rounds of a content --- */

static value smaller(value a, value b) { return a < b ? a : b; }

static void look_at_value(const struct relative_rounds *w, const struct type *t, value v, bool anchor,
                          struct rounds_in *in) {
  struct round_span span = ROUND_SPAN_EMPTY;
  if (!type_contains_kind(t, TYPE_ROUND) || v == VALUE_DONT_CARE)
    return;
  value_round_span(&w->model->values, t, v, &span);
  in->any |= span.lo <= span.hi;
  in->kept.lo = smaller(in->kept.lo, span.lo);
  in->kept.hi = span.hi > in->kept.hi ? span.hi : in->kept.hi;
  if (anchor)
    in->anchor = smaller(in->anchor, v);
}

static void look_at_local(const struct relative_rounds *w, uint32_t p, const value *v, struct rounds_in *in) {
  uint32_t r = model_role_of(w->model, p);
  const struct role *role = &w->model->roles[r];
  if (v[LOCAL_STATUS] & STATUS_BYZANTINE)
    return;
  for (uint32_t i = 0; i < role->nvars; i++)
    look_at_value(w, role->vars[i].type, v[LOCAL_VAR(i)], w->use->anchor[r][i], in);
}

/* May the field of a message whose round is obsolete be cleared? Not if another reduction would rename it. */
static bool is_unread(const struct relative_rounds *w, uint32_t kind, uint32_t obsolete, uint32_t field) {
  const struct type *t = w->model->messages[kind].type->fields[field].type, *renamed = w->cells->licences->value_type;
  return w->use->unread[kind][obsolete][field] && !type_contains_kind(t, TYPE_PROCESS) &&
         !type_contains_kind(t, TYPE_ROUND) && !(renamed && type_contains(t, renamed));
}

static bool has_unread(const struct relative_rounds *w, uint32_t kind, uint32_t obsolete, const value *part,
                       uint32_t n) {
  const struct type *t = w->model->messages[kind].type;
  for (uint32_t i = 0; i < n; i++)
    if (is_unread(w, kind, obsolete, i) && part[i] != type_default(&w->model->values, t->fields[i].type))
      return true;
  return false;
}

static void look_at_message(const struct relative_rounds *w, uint32_t kind, value message, struct rounds_in *in) {
  const struct type *t = w->model->messages[kind].type;
  size_t n;
  if (!type_contains_kind(t, TYPE_ROUND))
    return;
  const value *part = value_parts(&w->model->values, message, &n);
  for (uint32_t i = 0; i < n; i++) {
    if (!w->use->expires[kind][i]) {
      look_at_value(w, t->fields[i].type, part[i], false, in);
      continue;
    }
    in->any = true;
    if (part[i] != ROUND_OBSOLETE)
      in->expiring = smaller(in->expiring, part[i]);
    else
      in->untidy |= has_unread(w, kind, i, part, (uint32_t)n);
  }
}

static struct rounds_in rounds_of_content(const struct relative_rounds *w, uint32_t cell, content name) {
  struct rounds_in in = {.known = true, .kept = ROUND_SPAN_EMPTY, .anchor = INT64_MAX, .expiring = INT64_MAX};
  const struct state_cell *c = &w->cells->cell[cell];
  uint32_t n;
  const value *v = content_values(w->cells, cell, name, &n);
  if (c->kind == CELL_LOCAL)
    look_at_local(w, c->a, v, &in);
  else if (c->kind == CELL_GLOBAL)
    look_at_value(w, w->model->globals[c->a].type, v[0], w->use->shared_anchor[c->a], &in);
  for (uint32_t i = 0; c->kind == CELL_CHANNEL && i + 2 < n; i += 3)
    look_at_message(w, (uint32_t)v[i + 1], v[i + 2], &in);
  return in;
}

static const struct rounds_in *rounds_in(struct relative_rounds *w, uint32_t cell, content name) {
  struct rounds_of *t = &w->tables[w->cells->cell[cell].table];
  indexed_reserve(t->at, t->n, name, 0);
  if (!t->at[name].known)
    t->at[name] = rounds_of_content(w, cell, name);
  return &t->at[name];
}

static const struct rounds_summary *rounds_summary_make(struct relative_rounds *w, uint32_t cell, content name) {
  struct rounds_summaries *t = &w->summaries[w->cells->cell[cell].table];
  struct rounds_in in = rounds_of_content(w, cell, name);
  indexed_reserve(t->at, t->n, name, 0);
  bool fits = in.expiring > INT32_MIN && in.expiring < INT32_MAX;
  t->at[name] = (struct rounds_summary){.known = true,
                                        .any = in.any,
                                        .untidy = in.untidy,
                                        .wide = !fits && in.expiring != INT64_MAX,
                                        .expiring = fits ? (int32_t)in.expiring : INT32_MAX};
  return &t->at[name];
}

/* --- shifting rounds --- */

value relative_rounds_message(struct relative_rounds *w, uint32_t kind, value message,
                              const struct round_normalisation *m) {
  const struct type *t = w->model->messages[kind].type;
  struct values *values = &w->model->values;
  const struct round_shift shift = {.from = INT64_MIN, .by = m->by};
  const struct renaming kept = {.shift = &shift};
  size_t n;
  if (!type_contains_kind(t, TYPE_ROUND))
    return message;
  value_parts(values, message, &n);
  vec_reserve(&w->values, n + 1);
  value *part = w->values.at;
  memcpy(part, value_parts(values, message, &n), n * sizeof *part);
  for (uint32_t i = 0; i < n; i++) {
    if (!w->use->expires[kind][i])
      part[i] = value_rename(values, t->fields[i].type, part[i], &kept);
    else
      part[i] = part[i] < m->expires ? ROUND_OBSOLETE : part[i] + m->by;
  }
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < n && w->use->expires[kind][i] && part[i] == ROUND_OBSOLETE; k++)
      if (is_unread(w, kind, i, k))
        part[k] = type_default(values, t->fields[k].type);
  return value_vector(values, part, n);
}

static content move_channel(struct relative_rounds *w, uint32_t cell, content name,
                            const struct round_normalisation *m) {
  uint32_t n = channel_decode(w->cells, cell, name, NULL, 0);
  vec_reserve(&w->packets, n + 1);
  channel_decode(w->cells, cell, name, w->packets.at, n);
  for (uint32_t i = 0; i < n; i++)
    w->packets.at[i].message = relative_rounds_message(w, w->packets.at[i].kind, w->packets.at[i].message, m);
  return channel_encode(w->cells, cell, w->packets.at, n);
}

static content move_values(struct relative_rounds *w, uint32_t cell, content name,
                           const struct round_normalisation *m) {
  const struct state_cell *c = &w->cells->cell[cell];
  const struct round_shift shift = {.from = INT64_MIN, .by = m->by};
  const struct renaming r = {.shift = &shift};
  struct values *values = &w->model->values;
  uint32_t n;
  const value *old = content_values(w->cells, cell, name, &n);
  value *v = memory_alloc((n + 1) * sizeof *v);
  memcpy(v, old, n * sizeof *v);
  if (c->kind == CELL_GLOBAL) {
    v[0] = value_rename(values, w->model->globals[c->a].type, v[0], &r);
  } else {
    const struct role *role = &w->model->roles[model_role_of(w->model, c->a)];
    for (uint32_t i = 0; i < role->nvars; i++)
      if (v[LOCAL_VAR(i)] != VALUE_DONT_CARE)
        v[LOCAL_VAR(i)] = value_rename(values, role->vars[i].type, v[LOCAL_VAR(i)], &r);
  }
  content to = content_put(w->cells, cell, v, n);
  memory_free(v);
  return to;
}

content relative_rounds_shifted(struct relative_rounds *w, uint32_t cell, content name,
                                const struct round_normalisation *m) {
  uint64_t what = (uint64_t)w->cells->cell[cell].table << 32 | name;
  uint64_t how;
  uint32_t to;
  bool cached = round_normalisation_key(m, &how);
  if (cached && memo_find(&w->moved, what, how, &to))
    return to;
  to = w->cells->cell[cell].kind == CELL_CHANNEL ? move_channel(w, cell, name, m) : move_values(w, cell, name, m);
  if (cached)
    memo_add(&w->moved, what, how, to);
  return to;
}

/* --- normalising a row --- */

/* The shift that makes the smallest round 1, or slightly more: a multiple of the modulus. */
static value moved_by(value least, value modulus) { return least > 0 ? -((least - 1) / modulus) * modulus : modulus; }

struct round_normalisation relative_rounds_measure(struct relative_rounds *w, const content *row) {
  struct round_span all = ROUND_SPAN_EMPTY, held = ROUND_SPAN_EMPTY; /* held: by processes */
  struct round_normalisation m = {.expires = INT64_MAX};
  for (uint32_t i = 0; i < w->ndeciding; i++) {
    uint32_t cell = w->cell[i];
    const struct rounds_in *in = rounds_in(w, cell, row[cell]);
    all.lo = smaller(all.lo, in->kept.lo);
    m.expires = smaller(m.expires, in->anchor);
    if (w->cells->cell[cell].kind == CELL_LOCAL) {
      held.lo = smaller(held.lo, in->kept.lo);
      held.hi = in->kept.hi > held.hi ? in->kept.hi : held.hi;
    }
  }
  if (all.lo != INT64_MAX)
    m.by = moved_by(all.lo, w->use->modulus);
  if (held.lo < held.hi)
    m.distance = held.hi - held.lo < UINT32_MAX ? (uint32_t)(held.hi - held.lo) : UINT32_MAX;
  return m;
}

bool relative_rounds_change(struct relative_rounds *w, uint32_t cell, content name,
                            const struct round_normalisation *m) {
  const struct rounds_summaries *t = &w->summaries[w->cells->cell[cell].table];
  const struct rounds_summary *in =
      name < t->n && t->at[name].known ? &t->at[name] : rounds_summary_make(w, cell, name);
  if (!in->any || m->by != 0 || in->untidy)
    return in->any;
  if (in->wide)
    return rounds_of_content(w, cell, name).expiring < m->expires;
  return in->expiring != INT32_MAX && in->expiring < m->expires;
}

uint32_t relative_rounds_normalise(struct relative_rounds *w, content *row) {
  struct round_normalisation m = relative_rounds_measure(w, row);
  for (uint32_t i = 0; i < w->ncells; i++) {
    uint32_t cell = w->cell[i];
    if (relative_rounds_change(w, cell, row[cell], &m))
      row[cell] = relative_rounds_shifted(w, cell, row[cell], &m);
  }
  return m.distance;
}
