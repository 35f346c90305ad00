/* Renaming contents: worked out once for each content and each way its points can go. */
#include "interleave/canonical.h"

#include <string.h>

/* Where a content's points go, packed: a byte for each while they are few. */
#define BYTES_MOST 7
#define POINTS_MOST 256
#define INTERNED (UINT64_C(1) << 63) /* the others leave the last byte alone */

static uint32_t role_of_cell(const struct canonical *k, const struct cell *c) { return model_role_of(k->model, c->a); }

static void rename_local(struct canonical *k, const struct role *role, value *v, const struct renaming *r) {
  struct values *values = &k->model->values;
  if (v[LOCAL_STATUS] & STATUS_BYZANTINE)
    return;
  for (uint32_t i = 0, initial = 1 + role->nvars; i < role->nvars; i++) {
    const struct var *var = &role->vars[i];
    if (v[LOCAL_VAR(i)] != VALUE_BLANK)
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
  vec_clear(&k->packets);
  for (uint32_t i = 0; i + 2 < n; i += 3) {
    const struct type *t = k->model->messages[v[i + 1]].type;
    struct channel_packet packet = {(enum packet_place)v[i], (uint32_t)v[i + 1],
                                    value_rename(&k->model->values, t, v[i + 2], r)};
    vec_push(&k->packets, packet);
  }
  return channel_encode(k->cells, cell, k->packets.at, (uint32_t)k->packets.n);
}

static int compare_members(const value *a, uint32_t na, const value *b, uint32_t nb) {
  for (uint32_t i = 0; i < na && i < nb; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return na < nb ? -1 : na > nb;
}

/* Members of the set of first values: the role, and a value for each of its inputs. Ascending as numbers. */
static void rename_initials(struct canonical *k, value *v, uint32_t n, const struct renaming *r) {
  for (uint32_t i = 0, from; i < n;) {
    const struct role *role = &k->model->roles[v[i]];
    from = i++;
    for (uint32_t j = 0; j < role->nvars; j++)
      if (role->vars[j].kind == VAR_INPUT) {
        v[i] = value_rename(&k->model->values, role->vars[j].type, v[i], r);
        i++;
      }
    /* its place among those before it */
    uint32_t at = 0, width = i - from;
    while (at < from) {
      uint32_t other = 1 + role_ninputs(&k->model->roles[v[at]]);
      if (compare_members(v + at, other, v + from, width) > 0)
        break;
      at += other;
    }
    vec_reserve(&k->images, width);
    memcpy(k->images.at, v + from, width * sizeof *v);
    memmove(v + at + width, v + at, (from - at) * sizeof *v);
    memcpy(v + at, k->images.at, width * sizeof *v);
  }
}

static content rename_now(struct canonical *k, uint32_t cell, content name, const uint32_t *to) {
  uint32_t n;
  const struct cell *c = &k->cells->cell[cell];
  const value *old = content_values(k->cells, cell, name, &n);
  for (uint32_t i = k->nprocesses; i < k->npoints; i++)
    k->value_map[i - k->nprocesses] = to[i] - k->nprocesses;
  struct renaming r = {.process = to, .type = k->value_type, .to = k->value_map};
  if (c->kind == CELL_CHANNEL)
    return rename_channel(k, cell, old, n, &r);
  vec_reserve(&k->values, n + 1);
  value *v = k->values.at;
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
  default:
    break;
  }
  return content_put(k->cells, cell, v, n);
}

/* Names the way of the content's points; false: they all stay. */
static bool renaming_key(struct canonical *k, const struct mention *m, uint32_t n, const uint32_t *to, uint64_t *key) {
  bool moves = false;
  *key = 0;
  if (n <= BYTES_MOST && k->npoints <= POINTS_MOST) {
    for (uint32_t i = 0; i < n; i++) {
      *key = *key << 8 | to[m[i].point];
      moves |= to[m[i].point] != m[i].point;
    }
    return moves;
  }
  for (uint32_t i = 0; i < n && !moves; i++)
    moves = to[m[i].point] != m[i].point;
  if (!moves)
    return false;
  vec_reserve(&k->images, n);
  for (uint32_t i = 0; i < n; i++)
    k->images.at[i] = to[m[i].point];
  *key = INTERNED | intern_put(k->renamings, k->images.at, n);
  return true;
}

content content_renamed(struct canonical *k, uint32_t cell, content name, const uint32_t *to) {
  const struct view *view = view_of(k, cell, name);
  if (!view->nmentions)
    return name;
  uint64_t key, what = (uint64_t)k->cells->cell[cell].table << 32 | name;
  uint32_t result;
  if (!renaming_key(k, k->mentions.at + view->mentions, view->nmentions, to, &key))
    return name;
  if (memo_find(&k->renamed, what, key, &result))
    return result;
  result = rename_now(k, cell, name, to);
  memo_add(&k->renamed, what, key, result);
  return result;
}

uint32_t cell_renamed(const struct canonical *k, uint32_t cell, const uint32_t *to) {
  const struct cell *c = &k->cells->cell[cell];
  switch (c->kind) {
  case CELL_LOCAL:
    return to[c->a];
  case CELL_CHANNEL:
    return k->cells->channel[to[c->a] * k->nprocesses + to[c->b]];
  case CELL_ORDER:
    return k->cells->order[to[c->a]];
  default:
    return cell;
  }
}
