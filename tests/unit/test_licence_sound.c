/* Licences against the interp. Whatever the analysis grants must be true of the reference
   interpreter: renaming processes or values, relabelling values or rounds by their order, and
   filling in dead variables otherwise must lead to the same successors and the same truth of the
   properties. Tried on models put together from pieces, good and bad ones alike: where the analysis
   refuses nothing is claimed. */
#include "analysis/licence.h"
#include "analysis/read_sets.h"
#include "interp/config.h"
#include "lang/typecheck.h"

#include "base/vec.h"
#include "short.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* --- a change of names --- */

struct mapping {
  const struct type *value_type; /* values of this type become value[their index]; VALUE_NONE: undefined */
  const value *value;
  const uint32_t *process;
  value rounds[64];
  bool rank;
  bool undefined; /* out: a value without an image was met */
};

struct licence_fixture {
  struct arena arena;
  struct model *model;
  struct interpreter *interp;
  struct query query;
  struct licences *licences;
  struct live_variables *live;
  struct intern *configs; /* written down as numbers */
};

static value mapped(struct licence_fixture *t, struct mapping *m, const struct type *type, value v);

static value mapped_set(struct licence_fixture *t, struct mapping *m, const struct type *type, value v) {
  struct values *vs = &t->model->values;
  value out = set_empty(vs, type), member;
  for (uint64_t cursor = 0; set_member(vs, type, v, &cursor, &member);)
    out = set_insert(vs, type, out, mapped(t, m, type->element, member));
  return out;
}

static value mapped_parts(struct licence_fixture *t, struct mapping *m, const struct type *type, value v) {
  struct values *vs = &t->model->values;
  size_t n;
  value_parts(vs, v, &n);
  value *out = memory_alloc((n + 1) * sizeof *out);
  for (size_t i = 0; i < n; i++) {
    const struct type *part = type->kind == TYPE_RECORD ? type->fields[i].type : type->element;
    size_t to = i;
    if (type->kind == TYPE_ARRAY)
      to = type_index(vs, type->index, mapped(t, m, type->index, type_nth(vs, type->index, i)));
    out[to] = mapped(t, m, part, value_parts(vs, v, &n)[i]);
  }
  value made = value_vector(vs, out, n);
  memory_free(out);
  return made;
}

static value mapped(struct licence_fixture *t, struct mapping *m, const struct type *type, value v) {
  if (type == m->value_type) {
    value to = m->value[type_index(&t->model->values, type, v)];
    m->undefined |= to == VALUE_NONE;
    return to == VALUE_NONE ? v : to;
  }
  switch (type->kind) {
  case TYPE_PROCESS:
    return m->process ? (value)m->process[v] : v;
  case TYPE_ROUND:
    return m->rank ? m->rounds[v < 63 ? v : 63] : v;
  case TYPE_OPTION:
    return v == VALUE_NONE ? v : value_wrap(mapped(t, m, type->element, value_unwrap(v)));
  case TYPE_SET:
    return mapped_set(t, m, type, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return mapped_parts(t, m, type, v);
  default:
    return v;
  }
}

static struct config *config_mapped(struct licence_fixture *t, struct mapping *m, const struct config *c) {
  struct config *out = config_copy(t->model, c);
  for (uint32_t i = 0; i < t->model->nglobals; i++)
    out->globals[i] = mapped(t, m, t->model->globals[i].type, c->globals[i]);
  if (m->rank)
    out->phase = m->rounds[c->phase];
  for (uint32_t p = 0; p < c->nprocesses; p++) {
    const struct role *role = &t->model->roles[model_role_of(t->model, p)];
    value *to = out->local[m->process ? m->process[p] : p];
    to[LOCAL_STATUS] = c->local[p][LOCAL_STATUS];
    if (to[LOCAL_STATUS] & STATUS_BYZANTINE) { /* it has no variables */
      memset(to + 1, 0, (role_local_length(role) - 1) * sizeof *to);
      continue;
    }
    for (uint32_t i = 0; i < role->nvars; i++) {
      to[LOCAL_VAR(i)] = mapped(t, m, role->vars[i].type, c->local[p][LOCAL_VAR(i)]);
      if (role->vars[i].kind == VAR_INPUT) {
        uint32_t at = role_initial_at(role, i);
        to[at] = mapped(t, m, role->vars[i].type, c->local[p][at]);
      }
    }
  }
  return out;
}

static void mark_round(void *context, value round) { *(uint64_t *)context |= UINT64_C(1) << (round < 63 ? round : 63); }

/* The k-th smallest round number becomes k, 0 stays 0; the phase number keeps its residue. */
static void rank_of(struct licence_fixture *t, const struct config *c, struct mapping *m) {
  uint64_t seen = 1 | UINT64_C(1) << c->phase;
  for (uint32_t p = 0; p < c->nprocesses; p++) {
    const struct role *role = &t->model->roles[model_role_of(t->model, p)];
    for (uint32_t i = 0; i < role->nvars; i++)
      value_each_round(&t->model->values, role->vars[i].type, c->local[p][LOCAL_VAR(i)], mark_round, &seen);
  }
  value next = 0;
  for (int i = 0; i < 64; i++) {
    while (i == c->phase && (i - next) % (value)t->licences->phase_residue != 0)
      next++;
    m->rounds[i] = seen >> i & 1 ? next++ : 0;
  }
  m->rank = true;
}

/* --- sets of configurations --- */

/* Dead variables are left out: they may be anything. What an idle process still has is read by
 * properties alone. */
static uint32_t config_id(struct licence_fixture *t, const struct config *c) {
  const struct model *m = t->model;
  VEC(value) v = {0};
  vec_push(&v, c->point);
  vec_push(&v, c->phase);
  vec_push(&v, c->lost);
  vec_push(&v, c->corrupted);
  for (uint32_t i = 0; i < m->nglobals; i++)
    vec_push(&v, c->globals[i]);
  for (uint32_t p = 0; p < c->nprocesses; p++) {
    uint32_t r = model_role_of(m, p);
    value status = c->local[p][LOCAL_STATUS];
    const bool *live = status & (STATUS_CRASHED | STATUS_HALTED)
                           ? t->live->idle[r]
                           : t->live->live[r][c->point == POINT_END ? m->npoints : c->point];
    vec_push(&v, status);
    for (uint32_t i = 0; i < role_local_length(&m->roles[r]) - 1; i++)
      vec_push(&v, i < m->roles[r].nvars && !live[i] ? 0 : c->local[p][LOCAL_VAR(i)]);
  }
  uint32_t id = intern_put(t->configs, v.at, v.n);
  vec_release(&v);
  return id;
}

struct config_set {
  struct licence_fixture *trial;
  struct mapping *mapping;   /* applied to what is put in, or NULL */
  bool rank;                 /* by rank of its own */
  VEC(uint32_t) ids;         /* sorted; an error of the model is UINT32_MAX */
  VEC(struct config *) keep; /* if collect */
  bool collect;
};

static bool set_put(struct config_set *s, uint32_t id) {
  size_t at = 0;
  while (at < s->ids.n && s->ids.at[at] < id)
    at++;
  if (at < s->ids.n && s->ids.at[at] == id)
    return false;
  vec_push(&s->ids, 0);
  memmove(s->ids.at + at + 1, s->ids.at + at, (s->ids.n - 1 - at) * sizeof *s->ids.at);
  s->ids.at[at] = id;
  return true;
}

static bool put_config(void *context, const struct config *c) {
  struct config_set *s = context;
  struct mapping own = {0};
  struct config *image = NULL;
  if (s->rank) {
    rank_of(s->trial, c, &own);
    image = config_mapped(s->trial, &own, c);
  } else if (s->mapping) {
    image = config_mapped(s->trial, s->mapping, c);
  }
  bool fresh = set_put(s, config_id(s->trial, image ? image : c));
  if (fresh && s->collect)
    vec_push(&s->keep, config_copy(s->trial->model, c));
  config_free(image);
  return true;
}

static bool put_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                     const struct model_error *error) {
  (void)w;
  (void)error;
  struct config_set *s = context;
  if (result == STEP_OK)
    return put_config(s, next);
  set_put(s, UINT32_MAX);
  return true;
}

static void set_release(struct config_set *s) {
  for (size_t i = 0; i < s->keep.n; i++)
    config_free(s->keep.at[i]);
  vec_release(&s->keep);
  vec_release(&s->ids);
}

static bool same_sets(const struct config_set *a, const struct config_set *b) {
  return a->ids.n == b->ids.n && (a->ids.n == 0 || !memcmp(a->ids.at, b->ids.at, a->ids.n * sizeof *a->ids.at));
}

/* --- trials --- */

static struct licence_fixture *trial_new(const char *text) {
  struct licence_fixture *t = memory_alloc(sizeof *t);
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct diags diags;
  arena_init(&t->arena);
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
  uint32_t *all = arena_array(&t->arena, t->model->nproperties + 1, sizeof *all);
  for (uint32_t i = 0; i < t->model->nproperties; i++)
    all[i] = i;
  t->query = (struct query){.properties = all, .nproperties = t->model->nproperties};
  struct reduction_request w;
  struct text error = {0};
  assert_true(reduction_request_parse("auto", &w, &error));
  t->interp = interpreter_new(t->model);
  t->licences = licences_grant(t->model, &t->query, &w, &t->arena);
  t->live = live_variables_of(t->model, &t->query, &t->arena);
  t->configs = intern_new();
  return t;
}

static void trial_free(struct licence_fixture *t) {
  interpreter_free(t->interp);
  model_free(t->model);
  intern_free(t->configs);
  arena_release(&t->arena);
  memory_free(t);
}

static bool granted(const struct licence_fixture *t, enum reduction r) { return t->licences->of[r].granted; }

/* The same truth of every property before and after renaming. */
static bool same_truth(struct licence_fixture *t, const struct config *a, const struct config *b) {
  for (uint32_t i = 0; i < t->query.nproperties; i++) {
    const struct property *p = &t->model->properties[t->query.properties[i]];
    if (!p->step &&
        config_holds(t->interp, p->formula, a, NULL, NULL) != config_holds(t->interp, p->formula, b, NULL, NULL))
      return false;
  }
  return true;
}

/* Does c behave like its image? */
static bool alike(struct licence_fixture *t, struct mapping *m, const struct config *c, bool rank) {
  struct config_set images = {.trial = t, .mapping = m, .rank = rank}, of_image = {.trial = t, .rank = rank};
  struct config *image = config_mapped(t, m, c);
  config_successors(t->interp, 0, c, put_step, &images);
  config_successors(t->interp, 0, image, put_step, &of_image);
  bool good = same_sets(&images, &of_image) && same_truth(t, c, image) && !m->undefined;
  config_free(image);
  set_release(&images);
  set_release(&of_image);
  return good;
}

static bool symmetric_at(struct licence_fixture *t, const struct config *c) {
  uint32_t n = t->model->nprocesses, to[8];
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = a + 1; b < n; b++) {
      uint32_t r = model_role_of(t->model, a);
      if (r != model_role_of(t->model, b) || t->licences->identity[r] == IDENTITY_NUMBERED)
        continue;
      for (uint32_t i = 0; i < n; i++)
        to[i] = i == a ? b : i == b ? a : i;
      struct mapping m = {.process = to};
      if (!alike(t, &m, c, false))
        return false;
    }
  return true;
}

static bool partition_at(struct licence_fixture *t, const struct config *c) {
  const struct type *type = t->licences->value_type;
  value to[8];
  for (uint64_t a = 0; a < type->count; a++)
    for (uint64_t b = a + 1; b < type->count; b++) {
      for (uint64_t i = 0; i < type->count; i++)
        to[i] = type_nth(&t->model->values, type, i == a ? b : i == b ? a : i);
      struct mapping m = {.value_type = type, .value = to};
      if (!alike(t, &m, c, false))
        return false;
    }
  return true;
}

static bool ranked_at(struct licence_fixture *t, const struct config *c) {
  struct mapping m = {0};
  rank_of(t, c, &m);
  return alike(t, &m, c, true);
}

/* Relabels the values that some initial configuration starts with by their rank, and follows it for
 * a while. */
static bool ordered_from(struct licence_fixture *t, const struct config *initial) {
  const struct type *type = t->licences->value_type;
  const struct model *model = t->model;
  value to[8], next = 0;
  bool used[8] = {false};
  for (uint32_t p = 0; p < initial->nprocesses; p++) {
    const struct role *role = &model->roles[model_role_of(model, p)];
    for (uint32_t i = 0; i < role->nvars; i++)
      if (role->vars[i].type == type && role->vars[i].kind == VAR_INPUT)
        used[type_index(&model->values, type, initial->local[p][LOCAL_VAR(i)])] = true;
  }
  for (uint64_t i = 0; i < type->count; i++)
    to[i] = used[i] ? type_nth(&t->model->values, type, (uint64_t)next++) : VALUE_NONE;
  struct config_set layer = {.trial = t, .collect = true};
  put_config(&layer, initial);
  bool good = true;
  for (size_t i = 0; i < layer.keep.n && i < 3 && good; i++) {
    struct mapping m = {.value_type = type, .value = to};
    good = alike(t, &m, layer.keep.at[i], false);
    config_successors(t->interp, 0, layer.keep.at[i], put_step, &layer);
  }
  set_release(&layer);
  return good;
}

static const char *broken_licence(struct licence_fixture *t, size_t limit) {
  struct config_set reached = {.trial = t, .collect = true};
  const char *broken = NULL;
  config_initials(t->interp, 0, put_config, &reached, &(struct model_error){0});
  size_t initials = reached.keep.n;
  for (size_t i = 0; i < initials && i < limit && granted(t, REDUCE_ORDER) && !broken; i++)
    if (!ordered_from(t, reached.keep.at[i]))
      broken = "order";
  for (size_t i = 0; i < reached.keep.n && i < limit && !broken; i++) {
    const struct config *c = reached.keep.at[i];
    if (granted(t, REDUCE_SYMMETRY) && !symmetric_at(t, c))
      broken = "symmetry";
    if (granted(t, REDUCE_PARTITION) && !partition_at(t, c))
      broken = "partition";
    if (granted(t, REDUCE_ROUND_RANK) && !ranked_at(t, c))
      broken = "round-rank";
    config_successors(t->interp, 0, c, put_step, &reached);
  }
  set_release(&reached);
  return broken;
}

/* Dead variables: whatever they hold, the next states are the same as far as anybody reads them. */
static bool dead_are_dead(struct licence_fixture *t, size_t limit) {
  const struct model *m = t->model;
  struct config_set reached = {.trial = t, .collect = true};
  bool good = true;
  config_initials(t->interp, 0, put_config, &reached, &(struct model_error){0});
  for (size_t i = 0; i < reached.keep.n && i < limit && good; i++) {
    const struct config *c = reached.keep.at[i];
    struct config *other = config_copy(m, c);
    for (uint32_t p = 0; p < c->nprocesses; p++) {
      uint32_t r = model_role_of(m, p);
      const bool *live = t->live->live[r][c->point == POINT_END ? m->npoints : c->point];
      if (c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE)
        continue;
      if (c->local[p][LOCAL_STATUS] & (STATUS_CRASHED | STATUS_HALTED))
        live = t->live->idle[r];
      for (uint32_t v = 0; v < m->roles[r].nvars; v++)
        if (!live[v] && m->roles[r].vars[v].type->count < UINT64_MAX)
          other->local[p][LOCAL_VAR(v)] =
              type_nth(&t->model->values, m->roles[r].vars[v].type, m->roles[r].vars[v].type->count - 1);
    }
    struct config_set a = {.trial = t}, b = {.trial = t};
    config_successors(t->interp, 0, c, put_step, &a);
    config_successors(t->interp, 0, other, put_step, &b);
    good = same_sets(&a, &b) && same_truth(t, c, other);
    set_release(&a);
    set_release(&b);
    config_free(other);
    config_successors(t->interp, 0, c, put_step, &reached);
  }
  set_release(&reached);
  return good;
}

static unsigned try_model(const char *text, size_t limit) {
  struct licence_fixture *t = trial_new(text);
  unsigned grants = 0;
  const char *broken = broken_licence(t, limit);
  if (!broken && !dead_are_dead(t, limit))
    broken = "dead-variables";
  if (broken)
    print_error("%s\n%s is granted but does not hold\n", text, broken);
  assert_null(broken);
  for (int r = 0; r < REDUCTIONS; r++)
    grants |= granted(t, (enum reduction)r) ? 1u << r : 0;
  trial_free(t);
  return grants;
}

/* --- pieces --- */

/* Values, conditions on values, and what to do with them; %s is a hole for another piece. */
static const char *const conditions[] = {
    "x in received",
    "v == x",
    "v != x",
    "v < x",
    "x <= v",
    "v == 2",
    "v in received",
    "v not in received",
    "count(m in received: m == v) > 0",
    "2 * count(m in received: m == v) > n",
    "count(m in received: m == v) >= 0",
    "count(m in received: m < v) > 0",
    "{m for m in received} == {v}",
    "{v} <= {m for m in received}",
    "forall m in received: m == v",
    "exists m in received: m >= v",
    "exists u in Value: u > v and u in received",
    "exists u in Value: u == v and v in received",
    "forall u in Value: u in received => u <= v",
    "(exists u in Value: u != v) and v in received",
    "v in mostfrequent(received)",
    "v == (min(received) otherwise v)",
    "v == (max(received) otherwise x)",
    "v == (majority(received) otherwise x)",
    "v mod 2 == 1 and v in received",
    "|{m for m in received if m == v}| == 1",
    "d == v or v in received",
    "d == none and v in received",
    "v in seen",
    "v in seen - {x}",
    "seen == {v}",
    "not (v not in seen)",
    "6 / (v + 1) > 1",
    "exists m in received: 6 / (m - 2) > 0 and m == v",
    "same(v, x)",
    "same(v, 1)",
    "least(v, seen)",
    "exists u in seen: least(u, seen) and u == v",
};

static const char *const frames[] = {
    "if exists v in Value: %s { d := v }",
    "if exists v in received: %s { d := v }",
    "if exists v in seen: %s { x := v }",
    "if forall v in Value: %s { d := x }",
    "if exists v in Value, w in seen: v == w and (%s) { d := w }",
    "if (exists v in Value: %s) and |received| == 1 { d := x }",
    "x := min(v for v in Value if %s) otherwise x",
    "x := pick(v for v in Value if %s) otherwise x",
    "seen := seen | {v for v in Value if %s}",
    "seen := {v for v in received if %s}",
    "d := if |{v for v in seen if %s}| > 1 then x else none",
    "if exists v in {x}: %s { seen := {} }",
    "foreach v in received { if %s { x := v } }",
};

static char *with_hole_filled(struct arena *arena, const char *frame, const char *piece) {
  const char *hole = strstr(frame, "%s");
  return arena_printf(arena, "%.*s%s%s", (int)(hole - frame), frame, piece, hole + 2);
}

#define VALUE_MODEL                                                                                                    \
  "algorithm A\nparam n = 2\ntype Value = 1..3\nprocess P[n] {\n  input x: Value\n"                                    \
  "  var d: Value? = none\n  var seen: set of Value = {x}\n"                                                           \
  "  def same(a: Value, b: Value) = a == b\n"                                                                          \
  "  def least(a: Value, s: set of Value) = forall b in s: a <= b\n"                                                   \
  "  round {\n    send x to all\n    update { %s }\n  }\n}\nenvironment free {}\n"                                     \
  "safety agreement: forall p, q in P, v in p.d, w in q.d: v == w\n"

static void test_values(void **state) {
  (void)state;
  unsigned seen = 0, refused = 0;
  for (size_t f = 0; f < sizeof frames / sizeof *frames; f++)
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
      struct arena arena;
      arena_init(&arena);
      char *update = with_hole_filled(&arena, frames[f], conditions[i]);
      unsigned grants = try_model(with_hole_filled(&arena, VALUE_MODEL, update), 4);
      seen |= grants;
      refused |= ~grants;
      arena_release(&arena);
    }
  /* the pieces must reach both answers */
  unsigned both = 1u << REDUCE_PARTITION | 1u << REDUCE_ORDER;
  assert_int_equal(seen & both, both);
  assert_int_equal(refused & both, both);
}

static const char *const steps[] = {
    "b := me in heard",
    "b := l == me",
    "if exists q in heard { l := q }",
    "if exists q in P: from(q) == true { l := q }",
    "l := pick(sender(m) for m in received) otherwise l",
    "s := heard - {me}",
    "s := s | {me}",
    "b := number(me) == 1",
    "l := P(1)",
    "l := P(number(me) + 1)",
    "w := [q in P: q in heard]",
    "if exists q in P: w[q] and q != me { l := q }",
    "b := exists q in s: q == me",
    "b := |heard| > 1",
    "b := exists q in P: from(q) == b",
    "foreach m in received { b := m  l := sender(m) }",
    "l := pick(heard) otherwise me",
    "b := boss in heard",
    "if from(boss) == true { s := {boss} } else { s := {} }",
    "l := c",
    "if me == c { b := true  halt }",
};

static const char *const clauses[] = {
    "",
    "every round: forall p in P: p in HO[p]",
    "every round: forall p, q in P: HO[p] & HO[q] != {}",
    "every round: forall p, q in P: c[p] == c[q]",
    "every round: forall p in P: c[p] in HO[p]",
    "every round: forall p in P, q in HO[p]: c[q] == c[p]",
    "every round: forall p in P: P(1) in HO[p]",
    "at most 1 processes crash; synchronous",
    "at most 1 processes omit to send; synchronous",
    "at most 1 processes are byzantine; synchronous",
};

static const char *const claims[] = {
    "forall p, q in P: p.b and q.b => p == q",
    "forall p in P: p.l in p.s",
    "exists p in P: p.l == p and not p.b",
    "forall p in correct: p.s <= correct",
    "P(1) in correct",
    "boss in correct => exists p in P: p.l == boss",
    "exists p in P: 1 / |p.s| == 1",
};

#define PROCESS_MODEL                                                                                                  \
  "algorithm A\nparam n = 2\ninput boss: P\nprocess P[n] {\n  input start: bool\n"                                     \
  "  oracle c: P each phase\n  var b: bool = start\n  var l: P = me\n  var s: set of P = {}\n"                         \
  "  var w: [P] bool = [q in P: false]\n  phase {\n    round one {\n      send b to all\n"                             \
  "      update { %s }\n    }\n    round two { send b to c  update { %s } }\n  }\n}\n"                                 \
  "environment e { %s }\nsafety claim: %s\n"

static void test_processes(void **state) {
  (void)state;
  unsigned seen = 0, refused = 0;
  size_t nsteps = sizeof steps / sizeof *steps, nclauses = sizeof clauses / sizeof *clauses;
  size_t nclaims = sizeof claims / sizeof *claims;
  for (size_t i = 0; i < nsteps; i++)
    for (size_t k = i % one_in(); k < nclauses; k += one_in()) {
      struct arena arena;
      arena_init(&arena);
      char *text = with_hole_filled(&arena, PROCESS_MODEL, steps[i]);
      text = with_hole_filled(&arena, text, steps[(i * 7 + k * 3 + 1) % nsteps]);
      text = with_hole_filled(&arena, text, clauses[k]);
      text = with_hole_filled(&arena, text, claims[(i + k) % nclaims]);
      unsigned grants = try_model(text, 4);
      seen |= grants;
      refused |= ~grants;
      arena_release(&arena);
    }
  assert_true(seen & 1u << REDUCE_SYMMETRY);
  assert_true(refused & 1u << REDUCE_SYMMETRY);
}

static const char *const stamps[] = {
    "r := ph",
    "r := max(received) otherwise r",
    "r := min(received) otherwise ph",
    "if r == ph { r := 0 }",
    "if r < ph { r := ph }",
    "if exists m in received: m > r { r := m }",
    "r := r + 1",
    "if r > 1 { r := ph }",
    "b := r == 0",
    "b := r mod 2 == 1",
    "b := P(r) == P(ph)",
    "b := P(ph) == me and r < ph",
    "r := if ph mod 3 == 1 then ph else r",
    "s := s | {r}",
    "b := |s| > 1",
    "b := ph in s",
    "s := {m for m in received if m != r}",
};

#define ROUND_MODEL                                                                                                    \
  "algorithm A\nparam n = 2\nprocess P[n] {\n  input b: bool\n  var r: round = 0\n"                                    \
  "  var s: set of round = {}\n  phase ph {\n    round { send r to all  update { %s } }\n"                             \
  "    round { send r to all  update { %s } }\n  }\n}\nenvironment e { synchronous }\n"                                \
  "safety claim: forall p, q in P: p.b => p.r <= q.r\n"

static void test_rounds(void **state) {
  (void)state;
  unsigned seen = 0, refused = 0;
  size_t n = sizeof stamps / sizeof *stamps;
  for (size_t i = 0; i < n; i++)
    for (size_t k = i % one_in(); k < n; k += one_in()) {
      struct arena arena;
      arena_init(&arena);
      char *text = with_hole_filled(&arena, ROUND_MODEL, stamps[i]);
      unsigned grants = try_model(with_hole_filled(&arena, text, stamps[k]), 10);
      seen |= grants;
      refused |= ~grants;
      arena_release(&arena);
    }
  assert_true(seen & 1u << REDUCE_ROUND_RANK);
  assert_true(refused & 1u << REDUCE_ROUND_RANK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_processes),
      cmocka_unit_test(test_rounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
