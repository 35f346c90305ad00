/* Renaming of contents, computed once for each content and each renaming of its elements. */
#include "steps/content_renaming.h"

#include "steps/occurrences.h"
#include "steps/step_canonical_internal.h"

#include <string.h>

/* The images of a content's elements as a key: one byte each if they are few, else interned. Renamings of contents with
   very many elements hardly ever repeat. */
#define BYTES_MOST 7
#define ELEMENTS_MAX 256
#define INTERNED (UINT64_C(1) << 63) /* packed keys leave the last byte clear */
#define REMEMBERED_MOST 16
#define MEMO_MOST (1 << 20) /* number of cached renamings */

static uint32_t role_of_cell(const struct canonical *k, const struct state_cell *c) {
  return model_role_of(k->model, c->a);
}

static void rename_local(struct canonical *k, const struct role *role, value *v, const struct renaming *r) {
  struct values *values = &k->model->values;
  if (v[LOCAL_STATUS] & STATUS_BYZANTINE)
    return;
  for (uint32_t i = 0, initial = 1 + role->nvars; i < role->nvars; i++) {
    const struct var *var = &role->vars[i];
    if (v[LOCAL_VAR(i)] != VALUE_DONT_CARE)
      v[LOCAL_VAR(i)] = value_rename(values, var->type, v[LOCAL_VAR(i)], r);
    if (var->kind != VAR_INPUT)
      continue;
    if (k->cells->initials == INITIALS_EACH)
      v[initial] = value_rename(values, var->type, v[initial], r);
    initial++;
  }
}

static content rename_channel(struct canonical *k, uint32_t cell, const value *v, uint32_t n,
                              const struct renaming *r) {
  vec_clear(&k->contents.packets);
  for (uint32_t i = 0; i + 2 < n; i += 3) {
    const struct type *t = k->model->messages[v[i + 1]].type;
    struct channel_packet packet = {(enum packet_place)v[i], (uint32_t)v[i + 1],
                                    value_rename(&k->model->values, t, v[i + 2], r)};
    vec_push(&k->contents.packets, packet);
  }
  return channel_encode(k->cells, cell, k->contents.packets.at, (uint32_t)k->contents.packets.n);
}

/* The set of initial values: each member is a role and a value for each input of the role. Members ascend as numbers,
   so the members of a role are adjacent. */
static void rename_initials(struct canonical *k, value *v, uint32_t n, const struct renaming *r) {
  for (uint32_t first = 0, end; first < n; first = end) {
    const struct role *role = &k->model->roles[v[first]];
    uint32_t width = 1 + role_ninputs(role);
    vec_reserve(&k->renamed.images, width);
    value *member = k->renamed.images.at;
    for (end = first; end < n && v[end] == v[first]; end += width) {
      uint32_t w = 0, at = end;
      member[w++] = v[end];
      for (uint32_t i = 0; i < role->nvars; i++)
        if (role->vars[i].kind == VAR_INPUT) {
          member[w] = value_rename(&k->model->values, role->vars[i].type, v[end + w], r);
          w++;
        }
      for (; at > first && numbers_compare(member, v + at - width, width) < 0; at -= width)
        memcpy(v + at, v + at - width, width * sizeof *v);
      memcpy(v + at, member, width * sizeof *v);
    }
  }
}

static content rename_now(struct canonical *k, uint32_t cell, content name, const uint32_t *to) {
  uint32_t n;
  const struct state_cell *c = &k->cells->cell[cell];
  const value *old = content_values(k->cells, cell, name, &n);
  for (uint32_t i = k->nprocesses; i < k->nelements; i++)
    k->renamed.value_map[i - k->nprocesses] = to[i] - k->nprocesses;
  struct renaming r = {.process = to, .type = k->value_type, .to = k->renamed.value_map};
  if (c->kind == CELL_CHANNEL)
    return rename_channel(k, cell, old, n, &r);
  vec_reserve(&k->contents.values, n + 1);
  value *v = k->contents.values.at;
  memcpy(v, old, n * sizeof *v);
  switch (c->kind) {
  case CELL_LOCAL:
    rename_local(k, &k->model->roles[role_of_cell(k, c)], v, &r);
    break;
  case CELL_GLOBAL:
    v[0] = value_rename(&k->model->values, k->model->globals[c->a].type, v[0], &r);
    break;
  case CELL_INITIALS:
    rename_initials(k, v, n, &r);
    break;
  case CELL_ORDER:
    for (uint32_t i = 0; i < n; i++)
      v[i] = to[v[i]];
    break;
  case CELL_CHANNEL: /* handled above */
  case CELL_BUDGET:
    break;
  }
  return content_put(k->cells, cell, v, n);
}

/* Computes the key of the images of the content's elements. False: all elements stay. */
static bool renaming_key(struct canonical *k, const struct occurrence *m, uint32_t n, const uint32_t *to,
                         uint64_t *key) {
  bool moves = false;
  *key = 0;
  if (n <= BYTES_MOST && k->nelements <= ELEMENTS_MAX) {
    for (uint32_t i = 0; i < n; i++) {
      *key = *key << 8 | to[m[i].element];
      moves |= to[m[i].element] != m[i].element;
    }
    return moves;
  }
  for (uint32_t i = 0; i < n && !moves; i++)
    moves = to[m[i].element] != m[i].element;
  if (!moves || n > REMEMBERED_MOST)
    return moves;
  vec_reserve(&k->renamed.images, n);
  for (uint32_t i = 0; i < n; i++)
    k->renamed.images.at[i] = to[m[i].element];
  *key = INTERNED | intern_put(k->renamed.renamings, k->renamed.images.at, n);
  return true;
}

static void clear_renamings(struct canonical *k) {
  memo_release(&k->renamed.of);
  intern_free(k->renamed.renamings);
  k->renamed.renamings = intern_new();
}

content content_renamed(struct canonical *k, uint32_t cell, content name, const uint32_t *to) {
  const struct content_view *view = content_view_of(k, cell, name);
  if (!view->noccurrences)
    return name;
  uint64_t key, what = (uint64_t)k->cells->cell[cell].table << 32 | name;
  uint32_t result;
  if (!renaming_key(k, view->noccurrences > 0 ? k->contents.occurrences.at + view->occurrences : NULL,
                    view->noccurrences, to, &key))
    return name;
  if (view->noccurrences > REMEMBERED_MOST)
    return rename_now(k, cell, name, to);
  if (memo_find(&k->renamed.of, what, key, &result))
    return result;
  result = rename_now(k, cell, name, to);
  if (k->renamed.of.count >= MEMO_MOST)
    clear_renamings(k);
  else
    memo_add(&k->renamed.of, what, key, result);
  return result;
}

uint32_t cell_renamed(const struct canonical *k, uint32_t cell, const uint32_t *to) {
  const struct state_cell *c = &k->cells->cell[cell];
  switch (c->kind) {
  case CELL_LOCAL:
    return to[c->a];
  case CELL_CHANNEL:
    return k->cells->channel[to[c->a] * k->nprocesses + to[c->b]];
  case CELL_ORDER:
    return k->cells->order[to[c->a]];
  case CELL_GLOBAL:
  case CELL_BUDGET:
  case CELL_INITIALS:
    break;
  }
  return cell;
}
