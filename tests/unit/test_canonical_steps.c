/* Canonical forms of rows against brute force: two rows have the same form exactly if one of all the renamings, tried
   one by one with a renaming written for this test alone, takes the one to the other. */
#include "lang/parser.h"
#include "lang/typecheck.h"
#include "steps/message_routes.h"
#include "steps/ring_rotations.h"
#include "steps/step_canonical_internal.h"

#include "base/vec.h"
#include "short.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* --- a model with its cells --- */

struct canonical_fixture {
  struct arena arena;
  struct model *model;
  struct interpreter *interp;
  struct query query;
  struct licences *licences;
  struct state_cells cells;
  const struct message_routes *routes;
  struct canonical *canonical;
  uint32_t bare; /* rows whose form was found from what is remembered of a ring's contents */
  uint64_t seed;
  uint32_t width;        /* of a renaming: processes, then values */
  VEC(uint32_t *) group; /* all renamings */
  /* what was found: rows by least renaming and by form, and that the one goes with the other */
  struct intern *leasts, *forms;
  VEC(uint32_t) form_of, least_of;
};

static uint64_t roll(struct canonical_fixture *t, uint64_t below) {
  t->seed = t->seed * 6364136223846793005u + 1442695040888963407u;
  return (t->seed >> 33) % below;
}

static const struct type *value_type(const struct canonical_fixture *t) {
  return t->licences->of[REDUCE_VALUES].applied ? t->licences->value_type : NULL;
}

static void parse(struct canonical_fixture *t, const char *text) {
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct diags diags;
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &t->arena, &diags);
  t->model = diags.errors ? NULL : model_typecheck(file, &source, NULL, 0, true, &diags);
  if (!t->model) {
    struct text out = {0};
    diags_print(&diags, false, &out);
    print_error("%s\n%s\n", text, text_or_empty(&out));
    text_release(&out);
  }
  diags_release(&diags);
  assert_non_null(t->model);
}

static bool moves_freely(const struct canonical_fixture *t, uint32_t r) {
  return t->licences->of[REDUCE_SYMMETRY].applied && t->licences->identity[r] != IDENTITY_NUMBERED &&
         t->licences->identity[r] != IDENTITY_RING;
}

static bool moves_round(const struct canonical_fixture *t, uint32_t r) {
  return t->licences->of[REDUCE_SYMMETRY].applied && t->licences->identity[r] == IDENTITY_RING;
}

/* All renamings of [first, first + count) after each of those that there are. */
static void extend_group(struct canonical_fixture *t, uint32_t first, uint32_t count, bool ring) {
  for (uint32_t place = 1; place < count && !ring; place++) {
    size_t n = t->group.n; /* the next one goes to any place up to its own */
    for (size_t i = 0; i < n; i++)
      for (uint32_t other = 0; other < place; other++) {
        uint32_t *to = arena_copy(&t->arena, t->group.at[i], t->width * sizeof *to);
        uint32_t kept = to[first + place];
        to[first + place] = to[first + other];
        to[first + other] = kept;
        vec_push(&t->group, to);
      }
  }
  size_t n = t->group.n;
  for (uint32_t turn = 1; turn < count && ring; turn++)
    for (size_t i = 0; i < n; i++) {
      uint32_t *to = arena_copy(&t->arena, t->group.at[i], t->width * sizeof *to);
      for (uint32_t p = 0; p < count; p++)
        to[first + p] = first + (p + turn) % count;
      vec_push(&t->group, to);
    }
}

static void make_group(struct canonical_fixture *t) {
  const struct model *m = t->model;
  uint32_t *same = arena_array(&t->arena, t->width + 1, sizeof *same);
  for (uint32_t x = 0; x < t->width; x++)
    same[x] = x;
  vec_push(&t->group, same);
  for (uint32_t r = 0; r < m->nroles; r++)
    if (moves_freely(t, r))
      extend_group(t, m->roles[r].first, m->roles[r].count, false);
    else if (moves_round(t, r))
      extend_group(t, m->roles[r].first, m->roles[r].count, true);
  if (value_type(t))
    extend_group(t, m->nprocesses, t->width - m->nprocesses, false);
}

static struct canonical_fixture *trial_new(const char *text, const char *requested, enum semantics semantics) {
  struct canonical_fixture *t = memory_alloc(sizeof *t);
  struct reduction_request w;
  struct text error = {0};
  arena_init(&t->arena);
  parse(t, text);
  uint32_t *all = arena_array(&t->arena, t->model->nproperties + 1, sizeof *all);
  for (uint32_t i = 0; i < t->model->nproperties; i++)
    all[i] = i;
  t->query = (struct query){.properties = all, .nproperties = t->model->nproperties, .semantics = semantics};
  assert_true(reduction_request_parse(requested, &w, &error));
  t->interp = interpreter_new(t->model);
  t->licences = licences_grant(t->model, &t->query, &w, &t->arena);
  t->leasts = intern_new();
  t->forms = intern_new();
  t->seed = 1;
  return t;
}

/* Everything that has no order is renamed, whatever the text says: the rows need not be reachable. */
static void rename_all(struct canonical_fixture *t) {
  const struct model *m = t->model;
  t->licences->of[REDUCE_SYMMETRY].applied = true;
  for (uint32_t r = 0; r < m->nroles; r++)
    t->licences->identity[r] = m->roles[r].ring ? IDENTITY_RING : IDENTITY_EQUALITY;
  for (uint32_t i = 0; i < m->ntypes; i++)
    if (m->types[i]->name && m->types[i]->unordered) {
      t->licences->of[REDUCE_VALUES].applied = true;
      t->licences->value_type = m->types[i];
    }
}

static void trial_start(struct canonical_fixture *t) {
  interpreter_follow(t->interp, t->query.semantics, !t->licences->of[REDUCE_MESSAGE_ORDER].applied);
  state_cells_init(&t->cells, t->interp, t->model, &t->query, t->licences);
  t->routes = message_routes_of(t->interp, t->model, action_uses_of(t->model, &t->query, &t->arena), &t->arena);
  t->canonical = canonical_new(&t->cells);
  t->width = t->model->nprocesses + (value_type(t) ? (uint32_t)value_type(t)->count : 0);
}

static void trial_free(struct canonical_fixture *t) {
  canonical_free(t->canonical);
  state_cells_release(&t->cells);
  interpreter_free(t->interp);
  model_free(t->model);
  intern_free(t->leasts);
  intern_free(t->forms);
  vec_release(&t->form_of);
  vec_release(&t->least_of);
  vec_release(&t->group);
  arena_release(&t->arena);
  memory_free(t);
}

/* --- renaming, the obvious way --- */

static value mapped(struct canonical_fixture *t, const struct type *type, value v, const uint32_t *to) {
  struct values *vs = &t->model->values;
  if (type == value_type(t))
    return type_nth(vs, type, to[t->model->nprocesses + type_index(vs, type, v)] - t->model->nprocesses);
  if (type->kind == TYPE_PROCESS)
    return to[v];
  if (type->kind == TYPE_OPTION)
    return v == VALUE_NONE ? v : value_wrap(mapped(t, type->element, value_unwrap(v), to));
  if (type->kind == TYPE_SET) {
    value out = set_empty(vs, type), member;
    for (uint64_t cursor = 0; set_member(vs, type, v, &cursor, &member);)
      out = set_insert(vs, type, out, mapped(t, type->element, member, to));
    return out;
  }
  if (type->kind != TYPE_RECORD && type->kind != TYPE_ARRAY && type->kind != TYPE_SEQUENCE)
    return v;
  size_t n;
  value_parts(vs, v, &n);
  value *out = memory_alloc((n + 1) * sizeof *out);
  for (size_t i = 0; i < n; i++) {
    size_t place = i;
    if (type->kind == TYPE_ARRAY)
      place = type_index(vs, type->index, mapped(t, type->index, type_nth(vs, type->index, i), to));
    out[place] =
        mapped(t, type->kind == TYPE_RECORD ? type->fields[i].type : type->element, value_parts(vs, v, &n)[i], to);
  }
  value made = value_vector(vs, out, n);
  memory_free(out);
  return made;
}

static const struct role *role_at(const struct canonical_fixture *t, uint32_t process) {
  return &t->model->roles[model_role_of(t->model, process)];
}

static content local_mapped(struct canonical_fixture *t, uint32_t cell, const value *v, uint32_t n,
                            const uint32_t *to) {
  const struct role *role = role_at(t, t->cells.cell[cell].a);
  value out[64];
  assert_true(n <= 64 && n == role_local_length(role));
  memcpy(out, v, n * sizeof *out);
  for (uint32_t i = 0; i < role->nvars && !(v[LOCAL_STATUS] & STATUS_BYZANTINE); i++) {
    if (v[LOCAL_VAR(i)] != VALUE_DONT_CARE)
      out[LOCAL_VAR(i)] = mapped(t, role->vars[i].type, v[LOCAL_VAR(i)], to);
    if (role->vars[i].kind == VAR_INPUT && t->cells.initials == INITIALS_EACH)
      out[role_initial_at(role, i)] = mapped(t, role->vars[i].type, v[role_initial_at(role, i)], to);
  }
  return content_put(&t->cells, cell, out, n);
}

static content initials_mapped(struct canonical_fixture *t, uint32_t cell, const value *v, uint32_t n,
                               const uint32_t *to) {
  value out[256], member[16];
  uint32_t filled = 0;
  assert_true(n <= 256);
  for (uint32_t i = 0; i < n;) {
    const struct role *role = &t->model->roles[v[i]];
    uint32_t k = 0, at = 0;
    member[k++] = v[i++];
    for (uint32_t x = 0; x < role->nvars; x++)
      if (role->vars[x].kind == VAR_INPUT)
        member[k++] = mapped(t, role->vars[x].type, v[i++], to);
    for (; at < filled; at += 1 + role_ninputs(&t->model->roles[out[at]])) { /* the first that is larger */
      uint32_t same = 0;
      while (same < k && out[at + same] == member[same])
        same++;
      if (same < k && out[at + same] > member[same])
        break;
    }
    memmove(out + at + k, out + at, (filled - at) * sizeof *out);
    memcpy(out + at, member, k * sizeof *out);
    filled += k;
  }
  return content_put(&t->cells, cell, out, n);
}

static content content_mapped(struct canonical_fixture *t, uint32_t cell, content name, const uint32_t *to) {
  uint32_t n;
  const struct state_cell *c = &t->cells.cell[cell];
  const value *v = content_values(&t->cells, cell, name, &n);
  if (c->kind == CELL_LOCAL)
    return local_mapped(t, cell, v, n, to);
  if (c->kind == CELL_INITIALS)
    return initials_mapped(t, cell, v, n, to);
  if (c->kind == CELL_GLOBAL) {
    value out = mapped(t, t->model->globals[c->a].type, v[0], to);
    return content_put(&t->cells, cell, &out, 1);
  }
  if (c->kind == CELL_ORDER) {
    value out[64];
    assert_true(n <= 64);
    for (uint32_t i = 0; i < n; i++)
      out[i] = to[v[i]];
    return content_put(&t->cells, cell, out, n);
  }
  if (c->kind == CELL_CHANNEL) {
    struct channel_packet packets[32];
    n = channel_decode(&t->cells, cell, name, packets, 32);
    assert_true(n <= 32);
    for (uint32_t i = 0; i < n; i++)
      packets[i].message = mapped(t, t->model->messages[packets[i].kind].type, packets[i].message, to);
    return channel_encode(&t->cells, cell, packets, n);
  }
  return name;
}

static uint32_t cell_mapped(const struct canonical_fixture *t, uint32_t cell, const uint32_t *to) {
  const struct state_cell *c = &t->cells.cell[cell];
  if (c->kind == CELL_LOCAL)
    return to[c->a];
  if (c->kind == CELL_ORDER)
    return t->cells.order[to[c->a]];
  if (c->kind == CELL_CHANNEL)
    return t->cells.channel[to[c->a] * t->model->nprocesses + to[c->b]];
  return cell;
}

static content *row_new(const struct canonical_fixture *t) {
  return memory_alloc((t->cells.ncells + 1) * sizeof(content));
}

static void row_mapped(struct canonical_fixture *t, const content *row, const uint32_t *to, content *out) {
  for (uint32_t c = 0; c < t->cells.ncells; c++)
    out[cell_mapped(t, c, to)] = content_mapped(t, c, row[c], to);
}

static void row_least(struct canonical_fixture *t, const content *row, content *least) {
  size_t bytes = t->cells.ncells * sizeof *row;
  content *other = row_new(t);
  memcpy(least, row, bytes);
  for (size_t i = 0; i < t->group.n; i++) {
    row_mapped(t, row, t->group.at[i], other);
    if (memcmp(other, least, bytes) < 0)
      memcpy(least, other, bytes);
  }
  memory_free(other);
}

/* --- forms and orbits --- */

static uint32_t put_row(struct canonical_fixture *t, struct intern *table, const content *row) {
  value *v = memory_alloc((t->cells.ncells + 1) * sizeof *v);
  for (uint32_t c = 0; c < t->cells.ncells; c++)
    v[c] = row[c];
  uint32_t name = intern_put(table, v, t->cells.ncells);
  memory_free(v);
  return name;
}

/* Moves [first, first + count) among themselves. */
static bool permutes(const uint32_t *to, uint32_t first, uint32_t count, bool ring) {
  for (uint32_t x = first; x < first + count; x++) {
    if (to[x] < first || to[x] >= first + count)
      return false;
    if (ring && to[x] != first + (x - first + to[first] - first) % count)
      return false;
    for (uint32_t y = first; y < x; y++)
      if (to[x] == to[y])
        return false;
  }
  return true;
}

static bool is_renaming(const struct canonical_fixture *t, const uint32_t *to) {
  const struct model *m = t->model;
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    bool moves = moves_freely(t, r) || moves_round(t, r);
    for (uint32_t p = role->first; p < role->first + role->count && !moves; p++)
      if (to[p] != p)
        return false;
    if (!permutes(to, role->first, role->count, moves_round(t, r)))
      return false;
  }
  return permutes(to, m->nprocesses, t->width - m->nprocesses, false);
}

/* Where turns of a ring are compared by what is remembered of contents: the search finds the same. */
static void check_search(struct canonical_fixture *t, const content *row, const content *form, const uint32_t *to) {
  struct bare_ring *bare = t->canonical->bare;
  content *other = row_new(t);
  uint32_t found[64];
  if (bare) {
    memcpy(other, row, t->cells.ncells * sizeof *row);
    t->canonical->bare = NULL;
    canonical_form(t->canonical, other, found, NULL);
    t->canonical->bare = bare;
    assert_memory_equal(other, form, t->cells.ncells * sizeof *row);
    assert_memory_equal(found, to, t->model->nprocesses * sizeof *to);
    t->bare++;
  }
  memory_free(other);
}

/* The form is what its renaming makes of the row, and the renaming is one of ours. */
static void check_renaming(struct canonical_fixture *t, const content *row, const content *form, const uint32_t *to,
                           const uint32_t *value_to) {
  uint32_t n = t->model->nprocesses, all[64];
  size_t bytes = t->cells.ncells * sizeof *row;
  content *other = row_new(t);
  memcpy(all, to, n * sizeof *all);
  for (uint32_t x = n; x < t->width; x++)
    all[x] = value_to[x - n] + n;
  assert_true(is_renaming(t, all));
  row_mapped(t, row, all, other);
  assert_memory_equal(other, form, bytes);
  memcpy(other, row, bytes);
  canonical_rename(t->canonical, other, to, value_to);
  assert_memory_equal(other, form, bytes);
  memcpy(other, row, bytes);
  canonical_form(t->canonical, other, NULL, NULL);
  assert_memory_equal(other, form, bytes);
  canonical_form(t->canonical, other, NULL, NULL);
  assert_memory_equal(other, form, bytes);
  check_search(t, row, form, to);
  memory_free(other);
}

/* Same form, same orbit, and the other way round. */
static void check_row(struct canonical_fixture *t, const content *row) {
  uint32_t to[64], value_to[64];
  content *form = row_new(t), *least = row_new(t);
  assert_true(t->width <= 64);
  memcpy(form, row, t->cells.ncells * sizeof *row);
  canonical_form(t->canonical, form, to, value_to);
  check_renaming(t, row, form, to, value_to);
  row_least(t, row, least);
  uint32_t f = put_row(t, t->forms, form), l = put_row(t, t->leasts, least);
  while (t->least_of.n <= f)
    vec_push(&t->least_of, UINT32_MAX);
  while (t->form_of.n <= l)
    vec_push(&t->form_of, UINT32_MAX);
  if (t->least_of.at[f] == UINT32_MAX)
    t->least_of.at[f] = l;
  if (t->form_of.at[l] == UINT32_MAX)
    t->form_of.at[l] = f;
  assert_int_equal(t->least_of.at[f], l); /* no more than an orbit */
  assert_int_equal(t->form_of.at[l], f);  /* and no less */
  memory_free(form);
  memory_free(least);
}

/* --- random rows --- */

static value random_value(struct canonical_fixture *t, const struct type *type) {
  struct values *vs = &t->model->values;
  if (type->kind == TYPE_OPTION)
    return roll(t, 2) ? VALUE_NONE : value_wrap(random_value(t, type->element));
  return type_nth(vs, type, roll(t, type->count));
}

static content random_local(struct canonical_fixture *t, uint32_t cell) {
  const struct role *role = role_at(t, t->cells.cell[cell].a);
  value v[64] = {0};
  uint32_t n = role_local_length(role);
  v[LOCAL_STATUS] = roll(t, 4) ? 0 : roll(t, 2) ? STATUS_CRASHED : STATUS_BYZANTINE;
  for (uint32_t i = 0; i < role->nvars && v[LOCAL_STATUS] != STATUS_BYZANTINE; i++) {
    v[LOCAL_VAR(i)] = roll(t, 6) ? random_value(t, role->vars[i].type) : VALUE_DONT_CARE;
    if (role->vars[i].kind == VAR_INPUT && t->cells.initials == INITIALS_EACH)
      v[role_initial_at(role, i)] = random_value(t, role->vars[i].type);
  }
  return content_put(&t->cells, cell, v, n);
}

/* One that can be sent there. */
static uint32_t random_kind(struct canonical_fixture *t, const struct state_cell *c) {
  for (;;) {
    uint32_t kind = (uint32_t)roll(t, t->model->nmessages);
    if (message_route_carries(t->routes, c->a, c->b, kind))
      return kind;
  }
}

static content random_channel(struct canonical_fixture *t, uint32_t cell) {
  struct channel_packet packets[3];
  uint32_t n = (uint32_t)roll(t, 8);
  n = n < 4 ? 0 : n - 4;
  for (uint32_t i = 0; i < n; i++) {
    packets[i].place = roll(t, 3) ? PACKET_DELIVERED : PACKET_SEEN;
    packets[i].kind = random_kind(t, &t->cells.cell[cell]);
    packets[i].message = random_value(t, t->model->messages[packets[i].kind].type);
  }
  return channel_encode(&t->cells, cell, packets, n);
}

/* A set of first values, one role's after the other's, each ascending. */
static content random_initials(struct canonical_fixture *t, uint32_t cell) {
  value v[64];
  uint32_t n = 0;
  for (uint32_t r = 0; r < t->model->nroles; r++) {
    const struct role *role = &t->model->roles[r];
    const struct type *type = NULL;
    for (uint32_t i = 0; i < role->nvars; i++)
      if (role->vars[i].kind == VAR_INPUT)
        type = role->vars[i].type;
    for (uint64_t x = 0; type && x < type->count; x++)
      if (roll(t, 2)) {
        assert_int_equal(role_ninputs(role), 1);
        v[n++] = r;
        v[n++] = type_nth(&t->model->values, type, x);
      }
  }
  return content_put(&t->cells, cell, v, n);
}

static content random_content(struct canonical_fixture *t, uint32_t cell) {
  const struct state_cell *c = &t->cells.cell[cell];
  value v[4] = {0};
  switch (c->kind) {
  case CELL_LOCAL:
    return random_local(t, cell);
  case CELL_CHANNEL:
    return random_channel(t, cell);
  case CELL_GLOBAL:
    v[0] = random_value(t, t->model->globals[c->a].type);
    return content_put(&t->cells, cell, v, 1);
  case CELL_ORDER: {
    uint32_t n = (uint32_t)roll(t, 4);
    for (uint32_t i = 0; i < n; i++)
      v[i] = (value)roll(t, t->model->nprocesses);
    return content_put(&t->cells, cell, v, n);
  }
  case CELL_INITIALS:
    return random_initials(t, cell);
  default:
    v[0] = v[1] = (value)roll(t, 3);
    return content_put(&t->cells, cell, v, 2);
  }
}

/* Contents of one table are mostly renamings of each other: rows with many symmetries, and with nearly as many. */
static void random_row(struct canonical_fixture *t, content *row, uint64_t odd) {
  uint32_t *base = memory_alloc((t->cells.ntables + 1) * sizeof *base);
  content *made = memory_alloc((t->cells.ntables + 1) * sizeof *made);
  for (uint32_t c = 0; c < t->cells.ncells; c++) {
    uint32_t table = t->cells.cell[c].table;
    bool found = false;
    if (!base[table]) {
      base[table] = c + 1;
      made[table] = random_content(t, c);
    }
    for (int i = 0; i < 200 && !found && roll(t, 100) >= odd; i++) {
      const uint32_t *to = t->group.at[roll(t, t->group.n)];
      found = cell_mapped(t, base[table] - 1, to) == c;
      if (found)
        row[c] = content_mapped(t, base[table] - 1, made[table], to);
    }
    if (!found)
      row[c] = random_content(t, c);
  }
  memory_free(base);
  memory_free(made);
}

static void check_random_rows(struct canonical_fixture *t, int most) {
  int rows = (int)trials((uint32_t)most);
  content *row = row_new(t), *other = row_new(t);
  for (int i = 0; i < rows; i++) {
    static const uint64_t odd[] = {0, 0, 2, 10, 100};
    random_row(t, row, odd[i % 5]);
    check_row(t, row);
    row_mapped(t, row, t->group.at[roll(t, t->group.n)], other);
    check_row(t, other);
    uint32_t changed = (uint32_t)roll(t, t->cells.ncells);
    row[changed] = random_content(t, changed);
    check_row(t, row);
    row_mapped(t, row, t->group.at[roll(t, t->group.n)], other);
    check_row(t, other);
  }
  memory_free(row);
  memory_free(other);
}

static void try_random_rows(const char *text, const char *requested, int rows) {
  struct canonical_fixture *t = trial_new(text, requested, SEMANTICS_M);
  rename_all(t);
  trial_start(t);
  make_group(t);
  check_random_rows(t, rows);
  assert_true(intern_count(t->forms) > 1);
  trial_free(t);
}

/* Identities everywhere: in variables, sets, messages, shared memory; of several roles; with values. */
static const char talk[] = "algorithm Talk\n"
                           "type Value = unordered 1..3\n"
                           "message hello(p: A?, v: Value), tell(b: B, s: set of A), pair(x: A, y: A)\n"
                           "shared leader: A? = none\n"
                           "shared best: Value? = none\n"
                           "process A[3] {\n"
                           "  var friend: A? = none\n"
                           "  var boss: B? = none\n"
                           "  var x: Value? = none\n"
                           "  start { send hello(me, pick(Value)) to all  send pair(me, me) to A }\n"
                           "  on hello(p) { friend := p }\n"
                           "  on pair(x == me) {}\n"
                           "}\n"
                           "process B[2] {\n"
                           "  var seen: set of A = {}\n"
                           "  start { send tell(me, {}) to A }\n"
                           "  on hello(p) from q { if q in A { seen := seen | {q} } }\n"
                           "  on tell(b) {}\n"
                           "}\n";

static void test_talk(void **state) {
  (void)state;
  try_random_rows(talk, "auto", 400);
}

/* Messages in the order of arrival: orders of senders are contents, too. */
static void test_talk_in_order(void **state) {
  (void)state;
  try_random_rows(talk, "none", 400);
}

static const char fifo[] = "algorithm Fifo\n"
                           "type Value = unordered {a, b, c}\n"
                           "message say(v: Value, p: P)\n"
                           "process P[3] {\n"
                           "  input x: Value\n"
                           "  var from_whom: seq of P up to 2 = []\n"
                           "  start { send say(x, me) to others }\n"
                           "  on say(v) from q { from_whom := [q] }\n"
                           "}\n"
                           "environment pipes { channels fifo }\n"
                           "safety kept: forall p in P: p.x == initial(p.x)\n";

static void test_fifo(void **state) {
  (void)state;
  try_random_rows(fifo, "auto", 400);
}

/* Contents that speak of several points at once. */
static const char matrix[] = "algorithm Matrix\n"
                             "type Value = unordered 1..2\n"
                             "shared edges: [P] [P] bool = [p in P: [q in P: false]]\n"
                             "shared pairs: set of (p: P, v: Value) = {}\n"
                             "shared votes: [Value] P? = [v in Value: none]\n"
                             "shared likes: [P] P? = [p in P: none]\n"
                             "process P[4] {\n"
                             "  var done: bool = false\n"
                             "  step one { edges[me][me] := true  votes[pick(Value)] := me  likes[me] := me }\n"
                             "}\n";

static void test_matrix(void **state) {
  (void)state;
  try_random_rows(matrix, "auto", 150);
}

/* Many processes that are told apart by what they sent to each other, and by nothing else. */
static const char graph[] = "algorithm Graph\n"
                            "message a, b\n"
                            "process P[5] {\n"
                            "  var done: bool = false\n"
                            "  start { send a to others  send b to others }\n"
                            "  on a { done := true }\n"
                            "  on b { done := true }\n"
                            "}\n";

static void test_graph(void **state) {
  (void)state;
  try_random_rows(graph, "auto", 150);
}

/* Values that were there at the start. */
static const char values[] = "algorithm Values\n"
                             "type Value = unordered 1..4\n"
                             "process P[3] { input x: Value  var y: Value? = none  step go { y := x } }\n"
                             "process Q[2] { input x: Value  var p: P? = none  step go { p := pick(P) } }\n"
                             "safety valid: forall p in P, v in p.y: exists q in P: v == initial(q.x)\n";

static void test_values(void **state) {
  (void)state;
  try_random_rows(values, "auto", 300);
}

/* Two rings, and processes and values beside them. */
static const char rings[] = "algorithm Rings\n"
                            "type Value = unordered 1..2\n"
                            "message token(v: Value, p: P?)\n"
                            "shared holder: P? = none\n"
                            "shared other: Q? = none\n"
                            "process P[4] ring {\n"
                            "  var x: Value? = none\n"
                            "  var leader: P? = none\n"
                            "  var who: R? = none\n"
                            "  start { send token(pick(Value), me) to next }\n"
                            "  on token(v) { x := v }\n"
                            "}\n"
                            "process Q[3] ring {\n"
                            "  var x: Value? = none\n"
                            "  start { send token(pick(Value), none) to next }\n"
                            "  on token(v) { x := v }\n"
                            "}\n"
                            "process R[2] { var p: P? = none  step go { p := holder } }\n";

static void test_rings(void **state) {
  (void)state;
  try_random_rows(rings, "auto", 300);
}

/* Nobody speaks of anybody; somebody who stays sends to all of them. */
static const char bare[] = "algorithm Bare\n"
                           "message token(k: 1..3), news(k: 1..2)\n"
                           "process P[5] ring {\n"
                           "  var k: 1..2 = 1\n"
                           "  start { send token(k) to next }\n"
                           "  on m: token { send token(m.k) to next }\n"
                           "  on m: news { k := m.k }\n"
                           "}\n"
                           "process Q[1] { start { send news(2) to P } }\n";

static void test_bare_ring(void **state) {
  (void)state;
  struct canonical_fixture *t = trial_new(bare, "auto", SEMANTICS_M);
  rename_all(t);
  trial_start(t);
  make_group(t);
  check_random_rows(t, 300);
  assert_true(t->bare >= trials(300));
  trial_free(t);
}

/* Columns: nobody speaks of workers, and they speak to nobody but the boss. Beside them, processes that do. */
static const char columns[] = "algorithm Columns\n"
                              "message go(k: 1..3), done(k: 1..3), hint(p: C)\n"
                              "process Boss[1] {\n"
                              "  start { send go(1) to Worker  send go(2) to Worker }\n"
                              "  on done(k) {}\n"
                              "}\n"
                              "process Worker[5] {\n"
                              "  var k: 1..3 = 1\n"
                              "  on m: go { k := m.k  send done(m.k) to Boss }\n"
                              "}\n"
                              "process C[2] {\n"
                              "  var other: C? = none\n"
                              "  start { other := me }\n"
                              "}\n";

static void test_columns(void **state) {
  (void)state;
  try_random_rows(columns, "auto", 300);
}

/* Every way in which four processes can speak of each other: two that speak of each other are not two that speak of
   themselves, and wherever they stand they are the same two. */
static void test_friends(void **state) {
  (void)state;
  struct canonical_fixture *t = trial_new("algorithm Friends\n"
                                          "process P[4] { var friend: P? = none  step meet { friend := me } }\n",
                                          "auto", SEMANTICS_INTERLEAVING);
  rename_all(t);
  trial_start(t);
  make_group(t);
  content *row = row_new(t);
  for (uint32_t code = 0; code < 5 * 5 * 5 * 5; code++) {
    for (uint32_t p = 0, rest = code; p < 4; p++, rest /= 5) {
      value v[8] = {0};
      for (uint32_t i = 0; i < t->model->roles[0].nvars; i++)
        if (t->model->roles[0].vars[i].type->kind == TYPE_OPTION)
          v[LOCAL_VAR(i)] = rest % 5 == 4 ? VALUE_NONE : (value)(rest % 5);
      row[p] = content_put(&t->cells, p, v, role_local_length(&t->model->roles[0]));
    }
    check_row(t, row);
  }
  assert_int_equal(intern_count(t->forms), 45); /* partial functions on four points: OEIS A126285 */
  memory_free(row);
  trial_free(t);
}

/* --- graphs: rows that no refinement tells apart --- */

#define NODES_MOST 12
struct graph {
  bool edge[NODES_MOST][NODES_MOST];
};

/* Who has written to whom; a matrix in shared memory; sets of friends; letters between processes with values of their
   own. */
static const char *const graphs[] = {
    "algorithm Letters\nparam n = %d\nmessage a\nprocess P[n] { start { send a to others }  on a {} }\n",
    "algorithm Memory\nparam n = %d\nshared edge: [P] [P] bool = [p in P: [q in P: false]]\n"
    "process P[n] { step go { edge[me][me] := true } }\n",
    "algorithm Friends\nparam n = %d\nprocess P[n] { var friends: set of P = {}  step go { friends := {me} } }\n",
    "algorithm Owners\nparam n = %d\ntype Value = unordered 1..n\nmessage a\n"
    "process P[n] { input x: Value  start { send a to others }  on a {} }\n",
};

static void write_to(struct canonical_fixture *t, content *row, uint32_t from, uint32_t to) {
  uint32_t cell = t->cells.channel[from * t->model->nprocesses + to];
  struct channel_packet packet = {PACKET_DELIVERED, 0, value_vector(&t->model->values, NULL, 0)};
  row[cell] = channel_encode(&t->cells, cell, &packet, 1);
}

static void graph_row(struct canonical_fixture *t, const struct graph *g, content *row) {
  struct values *vs = &t->model->values;
  uint32_t n = t->model->nprocesses;
  value lines[NODES_MOST], line[NODES_MOST];
  memset(row, 0, t->cells.ncells * sizeof *row);
  for (uint32_t p = 0; p < n; p++) {
    value local[4] = {0};
    const struct role *role = &t->model->roles[0];
    uint64_t friends = 0;
    for (uint32_t q = 0; q < n; q++) {
      line[q] = g->edge[p][q];
      friends |= (uint64_t)g->edge[p][q] << q;
      if (t->model->nmessages && g->edge[p][q])
        write_to(t, row, p, q);
    }
    for (uint32_t i = 0; i < role->nvars; i++)
      if (role->vars[i].type->kind == TYPE_SET)
        local[LOCAL_VAR(i)] = (value)friends;
      else if (role->vars[i].type == value_type(t))
        local[LOCAL_VAR(i)] = type_nth(vs, value_type(t), p);
    row[p] = content_put(&t->cells, p, local, role_local_length(role));
    lines[p] = value_vector(vs, line, n);
  }
  if (t->model->nglobals) {
    value all = value_vector(vs, lines, n);
    row[t->cells.global[0]] = content_put(&t->cells, t->cells.global[0], &all, 1);
  }
}

static void shuffle(struct canonical_fixture *t, uint32_t *at, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    at[i] = i;
  for (uint32_t i = n; i-- > 1;) {
    uint32_t j = (uint32_t)roll(t, i + 1), kept = at[i];
    at[i] = at[j];
    at[j] = kept;
  }
}

/* Wherever its nodes stand, the graph has one form. (That the form is a renaming of it is checked as well, so no two
   graphs share one.) */
static void check_graph(struct canonical_fixture *t, const struct graph *g) {
  uint32_t n = t->model->nprocesses, to[2 * NODES_MOST], to_form[NODES_MOST], value_to[NODES_MOST];
  content *row = row_new(t), *form = row_new(t), *other = row_new(t);
  graph_row(t, g, row);
  if (t->group.n)
    check_row(t, row);
  memcpy(form, row, t->cells.ncells * sizeof *row);
  canonical_form(t->canonical, form, to_form, value_to);
  check_renaming(t, row, form, to_form, value_to);
  for (int i = 0; i < 6; i++) {
    shuffle(t, to, n);
    shuffle(t, to + n, t->width - n);
    for (uint32_t x = n; x < t->width; x++)
      to[x] += n;
    row_mapped(t, row, to, other);
    if (t->group.n)
      check_row(t, other);
    canonical_form(t->canonical, other, NULL, NULL);
    assert_memory_equal(other, form, t->cells.ncells * sizeof *form);
  }
  memory_free(row);
  memory_free(form);
  memory_free(other);
}

static void join(struct graph *g, uint32_t a, uint32_t b, bool both) {
  if (a != b) {
    g->edge[a][b] = true;
    g->edge[b][a] |= both;
  }
}

/* Circles of the given sizes, one after the other; 0 ends. */
static void check_circles(struct canonical_fixture *t, const uint32_t *sizes, bool both) {
  struct graph g = {0};
  for (uint32_t first = 0, i = 0; sizes[i]; first += sizes[i++])
    for (uint32_t p = 0; p < sizes[i]; p++)
      join(&g, first + p, first + (p + 1) % sizes[i], both);
  check_graph(t, &g);
}

static void check_graphs(struct canonical_fixture *t) {
  uint32_t n = t->model->nprocesses, to[NODES_MOST];
  for (uint32_t steps = 1; steps < 32; steps++) { /* everybody is joined to those so many steps on */
    struct graph g = {0};
    for (uint32_t p = 0; p < n; p++)
      for (uint32_t d = 1; d < 6; d++)
        if (steps >> (d - 1) & 1)
          join(&g, p, (p + d) % n, false);
    check_graph(t, &g);
  }
  for (int both = 0; both < 2; both++) {
    check_circles(t, (uint32_t[]){3, n - 3, 0}, both);
    check_circles(t, (uint32_t[]){2, 2, n - 4, 0}, both);
    if (n >= 10) {
      check_circles(t, (uint32_t[]){3, 3, n - 6, 0}, both);
      check_circles(t, (uint32_t[]){3, 3, 4, 0}, both);
      check_circles(t, (uint32_t[]){5, n - 5, 0}, both);
    }
  }
  for (int i = 0; i < (int)trials(60); i++) { /* as many edges to and from everybody: sums of permutations */
    struct graph g = {0};
    for (int k = 0; k <= i % 3; k++) {
      shuffle(t, to, n);
      for (uint32_t p = 0; p < n; p++)
        join(&g, p, to[p], i % 2);
    }
    check_graph(t, &g);
  }
}

static void test_graphs(void **state) {
  (void)state;
  static const int sizes[] = {6, 10, 12};
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      struct text text = {0};
      text_addf(&text, graphs[i], sizes[k]);
      struct canonical_fixture *t = trial_new(text_or_empty(&text), "auto", SEMANTICS_M);
      rename_all(t);
      trial_start(t);
      if (t->width <= 6)
        make_group(t);
      check_graphs(t);
      trial_free(t);
      text_release(&text);
    }
}

/* --- every run agrees --- */

static void row_print(struct canonical_fixture *t, const content *row, struct text *out) {
  const struct model *m = t->model;
  for (uint32_t c = 0; c < t->cells.ncells; c++) {
    uint32_t n;
    const struct state_cell *cell = &t->cells.cell[c];
    const value *v = content_values(&t->cells, c, row[c], &n);
    if (cell->kind == CELL_LOCAL)
      for (uint32_t i = 0; i < role_at(t, c)->nvars; i++) {
        if (v[LOCAL_VAR(i)] == VALUE_DONT_CARE || v[LOCAL_STATUS] == STATUS_BYZANTINE)
          text_addf(out, "blank%d", (int)v[LOCAL_STATUS]);
        else
          value_print(&m->values, m, role_at(t, c)->vars[i].type, v[LOCAL_VAR(i)], out);
        text_add(out, " ");
      }
    else if (cell->kind == CELL_GLOBAL)
      value_print(&m->values, m, m->globals[cell->a].type, v[0], out);
    else
      for (uint32_t i = 0; cell->kind == CELL_CHANNEL && i < n; i += 3) {
        text_addf(out, "%d %d ", (int)v[i], (int)v[i + 1]);
        value_print(&m->values, m, m->messages[v[i + 1]].type, v[i + 2], out);
      }
    text_add(out, "\n");
  }
}

/* The same rows in two runs that have seen other things before, and so have other names for contents and values. */
static void test_runs_agree(void **state) {
  (void)state;
  static const char *const texts[] = {talk, matrix, rings, graph, fifo};
  for (size_t m = 0; m < sizeof texts / sizeof *texts; m++) {
    struct text out[2] = {{0}, {0}};
    for (uint64_t run = 0; run < 2; run++) {
      struct canonical_fixture *t = trial_new(texts[m], "auto", SEMANTICS_M);
      rename_all(t);
      trial_start(t);
      make_group(t);
      content *row = row_new(t);
      t->seed = 77 + run;
      for (uint64_t i = 0; i < 20 * run; i++) {
        random_row(t, row, 50);
        canonical_form(t->canonical, row, NULL, NULL);
      }
      t->seed = 5;
      for (uint64_t i = 0; i < 60; i++) {
        random_row(t, row, i % 20);
        canonical_form(t->canonical, row, NULL, NULL);
        row_print(t, row, &out[run]);
      }
      memory_free(row);
      trial_free(t);
    }
    assert_string_equal(text_or_empty(&out[0]), text_or_empty(&out[1]));
    text_release(&out[0]);
    text_release(&out[1]);
  }
}

/* --- states that are reached --- */

struct reach {
  struct canonical_fixture *trial;
  struct intern *rows;
  VEC(struct config *) configs;
};

static bool reach_config(void *context, const struct config *c) {
  struct reach *r = context;
  content *row = row_new(r->trial);
  state_cells_from_config(&r->trial->cells, c, row);
  if (put_row(r->trial, r->rows, row) == r->configs.n) {
    vec_push(&r->configs, config_copy(r->trial->model, c));
    check_row(r->trial, row);
  }
  memory_free(row);
  return true;
}

static bool reach_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  (void)w;
  (void)error;
  return result != STEP_OK || reach_config(context, next);
}

/* All states of the reference, or the first `most`: as many forms as orbits; exactly so many, if not 0. */
static void try_reachable(const char *text, enum semantics semantics, size_t most, size_t states, size_t orbits) {
  struct canonical_fixture *t = trial_new(text, "auto", semantics);
  if (!states)
    most = trials((uint32_t)most);
  trial_start(t);
  make_group(t);
  struct reach r = {.trial = t, .rows = intern_new()};
  config_initials(t->interp, 0, reach_config, &r, &(struct model_error){0});
  for (size_t i = 0; i < r.configs.n && r.configs.n < most; i++)
    config_successors(t->interp, 0, r.configs.at[i], reach_step, &r);
  assert_int_equal(intern_count(t->forms), intern_count(t->leasts));
  if (states)
    assert_int_equal(r.configs.n, states);
  if (orbits)
    assert_int_equal(intern_count(t->forms), orbits);
  for (size_t i = 0; i < r.configs.n; i++)
    config_free(r.configs.at[i]);
  vec_release(&r.configs);
  intern_free(r.rows);
  trial_free(t);
}

static void test_paxos(void **state) {
  (void)state;
  try_reachable("algorithm Paxos\n"
                "type Ballot = 0..2\n"
                "message prepare(b: Ballot), promise(b: Ballot, last: Ballot, v: Leader?)\n"
                "message accept(b: Ballot, v: Leader), accepted(b: Ballot, v: Leader)\n"
                "process Leader[2] {\n"
                "  def ballot = number(me)\n"
                "  step ask { send prepare(ballot) to Acceptor }\n"
                "  step propose on Q: exactly 2 of promise(b == ballot) taken {\n"
                "    let newest = max(m.last for m in Q)\n"
                "    send accept(ballot, pick(v for m in Q, v in m.v if m.last == newest) otherwise me) to Acceptor\n"
                "  }\n"
                "}\n"
                "process Acceptor[3] {\n"
                "  var promised: Ballot = 0\n"
                "  var last: Ballot = 0\n"
                "  var value: Leader? = none\n"
                "  on prepare(b) from l if b > promised { promised := b  send promise(b, last, value) to l }\n"
                "  on accept(b, v) if b >= promised {\n"
                "    promised := b  last := b  value := v  send accepted(b, v) to Learner }\n"
                "}\n"
                "process Learner[2] {\n"
                "  var chosen: set of Leader = {}\n"
                "  on Q: exactly 2 of accepted(b, v) same b, v taken { chosen := chosen | {v} }\n"
                "}\n"
                "safety agreement: forall p, q in Learner, v in p.chosen, w in q.chosen: v == w\n",
                SEMANTICS_M, 4000, 0, 0);
}

/* Lieutenants relay to each other what they were told: under MP what one has seen of the other's message tells them
   apart, and two that are in each other's way look alike only to a renaming of both. */
static void test_oral_messages(void **state) {
  (void)state;
  try_reachable("algorithm OralMessages\n"
                "type Value = unordered {attack, retreat}\n"
                "message order(v: Value), relay(v: Value, by: Lieutenant)\n"
                "process General[1] {\n"
                "  input x: Value\n"
                "  start { send order(x) to Lieutenant }\n"
                "}\n"
                "process Lieutenant[3] {\n"
                "  var told: Value? = none\n"
                "  var by: Lieutenant? = none\n"
                "  on order(v) from g if g in General { told := v  send relay(v, me) to others }\n"
                "  on relay(v, by == me) { told := v }\n"
                "  on m: relay if m.by != me { by := m.by }\n"
                "}\n"
                "safety agreement: forall p, q in Lieutenant, v in p.told, w in q.told: v == w\n",
                SEMANTICS_MP, 3000, 0, 0);
}

static void test_herlihy(void **state) {
  (void)state;
  try_reachable("algorithm Herlihy\n"
                "type Value = unordered 1..3\n"
                "shared register: Value? = none\n"
                "process P[3] {\n"
                "  input x: Value\n"
                "  var first: Value? = none\n"
                "  var decided: Value? = none\n"
                "  step swap { first := register  if register == none { register := x } }\n"
                "  step decide { decided := first otherwise x }\n"
                "}\n"
                "safety agreement: forall p, q in P, v in p.decided, w in q.decided: v == w\n"
                "safety validity: forall p in P, v in p.decided: exists q in P: v == initial(q.x)\n",
                SEMANTICS_INTERLEAVING, 100000, 1485, 57);
}

static void test_raft(void **state) {
  (void)state;
  try_reachable("algorithm Raft\n"
                "type Term = 0..2\n"
                "message ask(t: Term), grant(t: Term)\n"
                "ghost leaders: [Term] set of Server = [t in Term: {}]\n"
                "process Server[3] {\n"
                "  var term: Term = 0\n"
                "  var vote: Server? = none\n"
                "  var leads: bool = false\n"
                "  when not leads and term < 2 { term := term + 1  vote := me  send ask(term) to others }\n"
                "  on ask(t) from c if t > term { term := t  vote := c  send grant(t) to c }\n"
                "  on grant(t == term) if not leads { leads := true  leaders[term] := leaders[term] | {me} }\n"
                "}\n"
                "safety one: forall t in Term: |leaders[t]| <= 1\n",
                SEMANTICS_M, 3000, 954, 168);
}

static void test_ring(void **state) {
  (void)state;
  try_reachable("algorithm Ring\n"
                "message token(p: P)\n"
                "process P[4] ring {\n"
                "  var leader: P? = none\n"
                "  var passive: bool = false\n"
                "  start { send token(me) to next }\n"
                "  on token(p) if not passive {\n"
                "    if p == me { leader := me } else { passive := true  send token(p) to next } }\n"
                "  on token(p) if passive { send token(p) to next }\n"
                "}\n"
                "safety one: forall p, q in P, v in p.leader, w in q.leader: v == w\n",
                SEMANTICS_M, 3000, 646, 170);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_talk),      cmocka_unit_test(test_talk_in_order), cmocka_unit_test(test_fifo),
      cmocka_unit_test(test_matrix),    cmocka_unit_test(test_graph),         cmocka_unit_test(test_rings),
      cmocka_unit_test(test_bare_ring), cmocka_unit_test(test_values),        cmocka_unit_test(test_graphs),
      cmocka_unit_test(test_columns),   cmocka_unit_test(test_friends),       cmocka_unit_test(test_runs_agree),
      cmocka_unit_test(test_paxos),     cmocka_unit_test(test_oral_messages), cmocka_unit_test(test_herlihy),
      cmocka_unit_test(test_raft),      cmocka_unit_test(test_ring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
