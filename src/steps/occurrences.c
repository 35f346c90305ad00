/* The occurrences of movable elements in a content: which elements occur in it, and at which positions. Computed once
   for each content. */
#include "steps/occurrences.h"

#include "base/hash.h"
#include "steps/indices_sort.h"
#include "steps/message_routes.h"
#include "steps/scalarsets.h"
#include "steps/step_canonical_internal.h"

#include <string.h>

/* Contents with more parts are treated as a whole. This distinguishes fewer elements, but is still correct. */
#define PARTS_MOST 4096

/* --- types --- */

static bool type_contains_role(const struct type *t, uint32_t role) {
  if (!t)
    return false;
  if (t->kind == TYPE_PROCESS)
    return t->role == ROLE_ANY || t->role == role;
  if (type_contains_role(t->element, role) || type_contains_role(t->index, role))
    return true;
  for (uint32_t i = 0; t->kind == TYPE_RECORD && i < t->size; i++)
    if (type_contains_role(t->fields[i].type, role))
      return true;
  return false;
}

static bool type_contains_scalarset(const struct canonical *k, const struct type *t,
                                    const struct element_scalarset *f) {
  if (f->first >= k->nprocesses)
    return type_contains(t, k->value_type);
  return type_contains_role(t, model_role_of(k->model, f->first));
}

static bool type_moves(const struct canonical *k, const struct type *t) {
  for (uint32_t f = 0; f < k->nscalarsets; f++)
    if (type_contains_scalarset(k, t, &k->scalarsets[f]))
      return true;
  return false;
}

static bool role_may_contain(const struct canonical *k, const struct role *role, bool inputs_only,
                             const struct element_scalarset *f) {
  for (uint32_t i = 0; i < role->nvars; i++)
    if ((!inputs_only || role->vars[i].kind == VAR_INPUT) && type_contains_scalarset(k, role->vars[i].type, f))
      return true;
  return false;
}

/* Can a process of the scalarset send to the process? */
static bool scalarset_reaches(const struct canonical *k, const struct element_scalarset *f, uint32_t to) {
  for (uint32_t p = f->first; p < f->first + f->count && p < k->nprocesses; p++)
    if (k->cells->channel[p * k->nprocesses + to] != NO_CELL)
      return true;
  return false;
}

bool cell_may_contain(const struct canonical *k, uint32_t cell, const struct element_scalarset *f) {
  const struct model *m = k->model;
  const struct state_cell *c = &k->cells->cell[cell];
  switch (c->kind) {
  case CELL_LOCAL:
    return role_may_contain(k, &m->roles[model_role_of(m, c->a)], false, f);
  case CELL_CHANNEL:
    for (uint32_t i = 0; i < m->nmessages; i++)
      if (message_route_carries(k->routes, c->a, c->b, i) && type_contains_scalarset(k, m->messages[i].type, f))
        return true;
    return false;
  case CELL_GLOBAL:
    return type_contains_scalarset(k, m->globals[c->a].type, f);
  case CELL_INITIALS:
    for (uint32_t r = 0; r < m->nroles; r++)
      if (role_may_contain(k, &m->roles[r], true, f))
        return true;
    return false;
  case CELL_ORDER:
    return scalarset_reaches(k, f, c->a);
  case CELL_BUDGET:
    return false;
  }
  return true;
}

/* --- occurrences in a value --- */

static uint64_t note(struct canonical *k, uint32_t element, uint64_t tag) {
  if (k->scalarset_of[element] == NO_SCALARSET)
    return hash_mix(hash_mix(tag, 2), element);
  vec_push(&k->contents.scratch, ((struct occurrence){element, tag}));
  return hash_mix(hash_mix(tag, 3), k->scalarset_of[element]);
}

/* Merges the occurrences of each element and sorts them by element. The tags of an element are summed. */
static uint32_t gather(struct occurrence *at, uint32_t n) {
  uint32_t kept = 0;
  for (uint32_t i = 1; i < n; i++) {
    struct occurrence m = at[i];
    uint32_t j = i;
    for (; j > 0 && at[j - 1].element > m.element; j--)
      at[j] = at[j - 1];
    at[j] = m;
  }
  for (uint32_t i = 0; i < n; i++) {
    /* a sum is independent of the order; the order in sets depends on the numbers of elements */
    uint64_t tag = hash_scramble(at[i].tag, 5);
    if (kept && at[kept - 1].element == at[i].element)
      at[kept - 1].tag += tag;
    else
      at[kept++] = (struct occurrence){at[i].element, tag};
  }
  return kept;
}

/* The occurrences since `from` are in one part (an element of a set, or one entry of an array). The shape of the part
   distinguishes them from occurrences in other parts. */
static void close_part(struct canonical *k, uint32_t from, uint64_t shape) {
  uint32_t n = (uint32_t)k->contents.scratch.n - from;
  for (uint32_t i = from; i < k->contents.scratch.n; i++)
    k->contents.scratch.at[i].tag = hash_mix(k->contents.scratch.at[i].tag, shape);
  if (n < 2)
    return;
  uint32_t first = (uint32_t)k->contents.occurrences.n;
  for (uint32_t i = from; i < k->contents.scratch.n; i++)
    vec_push(&k->contents.occurrences, k->contents.scratch.at[i]);
  n = gather(k->contents.occurrences.at + first, n);
  k->contents.occurrences.n = first + n;
  vec_push(&k->contents.parts, ((struct content_part){shape, first, n}));
}

static uint64_t look(struct canonical *k, const struct type *t, value v, uint64_t tag);

static uint64_t look_at_set(struct canonical *k, const struct type *t, value v, uint64_t tag) {
  uint64_t sum = 0, members = 0;
  value member;
  for (uint64_t cursor = 0; set_member(&k->model->values, t, v, &cursor, &member); members++) {
    uint32_t from = (uint32_t)k->contents.scratch.n;
    uint64_t shape = look(k, t->element, member, hash_mix(tag, 7));
    close_part(k, from, shape);
    sum += hash_scramble(shape, 11);
  }
  return hash_mix(hash_mix(tag, sum), members);
}

/* If the index moves under renaming, an entry is identified by its index and value, not by its position. */
static uint64_t look_at_map(struct canonical *k, const struct type *t, value v, uint64_t tag) {
  size_t n;
  uint64_t sum = 0;
  const value *part = value_parts(&k->model->values, v, &n);
  for (size_t i = 0; i < n; i++) {
    uint32_t from = (uint32_t)k->contents.scratch.n;
    uint64_t shape = look(k, t->index, type_nth(&k->model->values, t->index, i), hash_mix(tag, 13));
    shape = hash_mix(shape, look(k, t->element, part[i], hash_mix(tag, 17)));
    close_part(k, from, shape);
    sum += hash_scramble(shape, 19);
  }
  return hash_mix(tag, sum);
}

static uint64_t look_at_parts(struct canonical *k, const struct type *t, value v, uint64_t tag) {
  size_t n;
  uint64_t shape = tag;
  const value *part = value_parts(&k->model->values, v, &n);
  for (size_t i = 0; i < n; i++)
    shape = hash_mix(shape,
                     look(k, t->kind == TYPE_RECORD ? t->fields[i].type : t->element, part[i], hash_mix(tag, 23 + i)));
  return hash_mix(shape, n);
}

/* Records every element in the value with a tag that is invariant under renaming. Returns the shape of the value. */
static uint64_t look(struct canonical *k, const struct type *t, value v, uint64_t tag) {
  if (t == k->value_type)
    return note(k, k->nprocesses + (uint32_t)type_index(&k->model->values, t, v), tag);
  if (!type_moves(k, t))
    return hash_mix(tag, value_hash(&k->model->values, t, v));
  switch (t->kind) {
  case TYPE_PROCESS:
    return note(k, (uint32_t)v, tag);
  case TYPE_OPTION:
    return v == VALUE_NONE ? hash_mix(tag, 1) : look(k, t->element, value_unwrap(v), hash_mix(tag, 4));
  case TYPE_SET:
    return look_at_set(k, t, v, tag);
  case TYPE_ARRAY:
    return type_moves(k, t->index) ? look_at_map(k, t, v, tag) : look_at_parts(k, t, v, tag);
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_ROUND:
  case TYPE_RECORD:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return look_at_parts(k, t, v, tag);
}

/* --- occurrences in a content --- */

struct hashes {
  uint64_t key, shape;
};

static void look_into(struct canonical *k, struct hashes *h, const struct type *t, value v, uint64_t place) {
  h->shape = hash_mix(h->shape, look(k, t, v, hash_mix(place, 29)));
  h->key = hash_mix(hash_mix(h->key, place), value_hash(&k->model->values, t, v));
}

static void look_at_number(struct hashes *h, value v) {
  h->shape = hash_mix(h->shape, (uint64_t)v);
  h->key = hash_mix(h->key, (uint64_t)v);
}

static void look_at_local(struct canonical *k, struct hashes *h, const struct role *role, const value *v) {
  look_at_number(h, v[LOCAL_STATUS]);
  if (v[LOCAL_STATUS] & STATUS_BYZANTINE)
    return;
  for (uint32_t i = 0, initial = 1 + role->nvars; i < role->nvars; i++) {
    const struct var *var = &role->vars[i];
    if (v[LOCAL_VAR(i)] == VALUE_DONT_CARE)
      look_at_number(h, i);
    else
      look_into(k, h, var->type, v[LOCAL_VAR(i)], 2 * i + 100);
    if (var->kind != VAR_INPUT)
      continue;
    if (k->cells->initials == INITIALS_EACH)
      look_into(k, h, var->type, v[initial], 2 * i + 101);
    initial++;
  }
}

static void look_at_channel(struct canonical *k, struct hashes *h, const value *v, uint32_t n) {
  for (uint32_t i = 0; i + 2 < n; i += 3) {
    uint32_t from = (uint32_t)k->contents.scratch.n;
    struct hashes packet = {hash_mix((uint64_t)v[i], (uint64_t)v[i + 1]), hash_mix((uint64_t)v[i], (uint64_t)v[i + 1])};
    uint64_t place = k->cells->in_order ? i + 200 : 200;
    look_into(k, &packet, k->model->messages[v[i + 1]].type, v[i + 2], hash_mix(place, (uint64_t)v[i + 1]));
    packet.shape = hash_mix(packet.shape, place);
    close_part(k, from, packet.shape);
    h->key = hash_mix(h->key, packet.key);
    h->shape += hash_scramble(packet.shape, 31);
  }
}

static void look_at_order(struct canonical *k, struct hashes *h, const value *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    look_into(k, h, k->model->process_types.any, v[i], i + 300);
}

/* The order of the members of the set may depend on the names of values. */
static void look_at_initials(struct canonical *k, struct hashes *h, const value *v, uint32_t n) {
  for (uint32_t i = 0; i < n;) {
    const struct role *role = &k->model->roles[v[i]];
    uint32_t from = (uint32_t)k->contents.scratch.n;
    struct hashes member = {(uint64_t)v[i] + 400, (uint64_t)v[i] + 400};
    i++;
    for (uint32_t j = 0; j < role->nvars; j++)
      if (role->vars[j].kind == VAR_INPUT)
        look_into(k, &member, role->vars[j].type, v[i++], j + 500);
    close_part(k, from, member.shape);
    h->key += hash_scramble(member.key, 37);
    h->shape += hash_scramble(member.shape, 37);
  }
}

static struct hashes look_at_cell(struct canonical *k, uint32_t cell, content name) {
  uint32_t n;
  const struct state_cell *c = &k->cells->cell[cell];
  const value *v = content_values(k->cells, cell, name, &n);
  struct hashes h = {hash_mix(0xCE11, n), hash_mix(0xCE11, n)};
  switch (c->kind) {
  case CELL_LOCAL:
    look_at_local(k, &h, &k->model->roles[model_role_of(k->model, c->a)], v);
    break;
  case CELL_CHANNEL:
    look_at_channel(k, &h, v, n);
    break;
  case CELL_GLOBAL:
    look_into(k, &h, k->model->globals[c->a].type, v[0], 600);
    break;
  case CELL_INITIALS:
    look_at_initials(k, &h, v, n);
    break;
  case CELL_ORDER:
    look_at_order(k, &h, v, n);
    break;
  case CELL_BUDGET:
    for (uint32_t i = 0; i < n; i++)
      look_at_number(&h, v[i]);
    break;
  }
  return h;
}

const struct content_view *content_view_make(struct canonical *k, uint32_t cell, content name) {
  struct content_views *content_views = &k->contents.views[k->cells->cell[cell].table];
  indexed_reserve(content_views->at, content_views->n, name, 0);
  uint32_t parts = (uint32_t)k->contents.parts.n, room = (uint32_t)k->contents.occurrences.n;
  vec_clear(&k->contents.scratch);
  struct hashes h = look_at_cell(k, cell, name);
  if (k->contents.parts.n - parts > PARTS_MOST) {
    k->contents.parts.n = parts;
    k->contents.occurrences.n = room;
  }
  uint32_t occurrences = (uint32_t)k->contents.occurrences.n, n = (uint32_t)k->contents.scratch.n;
  if (n)
    n = gather(k->contents.scratch.at, n);
  for (uint32_t i = 0; i < n; i++)
    vec_push(&k->contents.occurrences, k->contents.scratch.at[i]);
  struct content_view *view = &content_views->at[name];
  *view = (struct content_view){.key = h.key ? h.key : 1,
                                .shape = h.shape,
                                .occurrences = occurrences,
                                .parts = parts,
                                .noccurrences = n,
                                .nparts = (uint16_t)(k->contents.parts.n - parts)};
  return view;
}

/* --- order by content --- */

static int compare_typed(const struct canonical *k, const struct type *t, value a, value b) {
  if (a == b)
    return 0;
  if (a == VALUE_DONT_CARE || b == VALUE_DONT_CARE)
    return a == VALUE_DONT_CARE ? -1 : 1;
  return value_compare(&k->model->values, t, a, b);
}

static int compare_locals(const struct canonical *k, const struct role *role, const value *a, const value *b) {
  int order = numbers_compare(&a[LOCAL_STATUS], &b[LOCAL_STATUS], 1);
  for (uint32_t i = 0, initial = 1 + role->nvars; i < role->nvars && !order; i++) {
    order = compare_typed(k, role->vars[i].type, a[LOCAL_VAR(i)], b[LOCAL_VAR(i)]);
    if (!order && role->vars[i].kind == VAR_INPUT) {
      order = compare_typed(k, role->vars[i].type, a[initial], b[initial]);
      initial++;
    }
  }
  return order;
}

static int compare_channels(const struct canonical *k, const value *a, const value *b, uint32_t n) {
  int order = 0;
  for (uint32_t i = 0; i + 2 < n && !order; i += 3) {
    order = numbers_compare(a + i, b + i, 2);
    if (!order)
      order = compare_typed(k, k->model->messages[a[i + 1]].type, a[i + 2], b[i + 2]);
  }
  return order;
}

int content_compare_deeply(struct canonical *k, uint32_t cell, content x, content y) {
  uint32_t nx, ny;
  const value *a = content_values(k->cells, cell, x, &nx), *b = content_values(k->cells, cell, y, &ny);
  if (nx != ny)
    return nx < ny ? -1 : 1;
  const struct state_cell *c = &k->cells->cell[cell];
  switch (c->kind) {
  case CELL_LOCAL:
    return compare_locals(k, &k->model->roles[model_role_of(k->model, c->a)], a, b);
  case CELL_CHANNEL:
    return compare_channels(k, a, b, nx);
  case CELL_GLOBAL:
    return compare_typed(k, k->model->globals[c->a].type, a[0], b[0]);
  case CELL_BUDGET:
  case CELL_INITIALS:
  case CELL_ORDER:
    break;
  }
  return numbers_compare(a, b, nx);
}
