/* Types: from the syntax tree to one unique type for each shape. */
#include "lang/typecheck_types.h"

#include "lang/typecheck_constant.h"
#include "lang/typecheck_scope.h"
#include "lang/typechecker.h"

#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

static bool same_name(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* The parts are unique, so they are compared by address. Every enum is a type of its own. */
static bool same_type(const struct type *a, const struct type *b) {
  if (a->kind != b->kind || a->kind == TYPE_ENUM || !same_name(a->name, b->name))
    return false;
  if (a->unordered != b->unordered || a->distinct != b->distinct || a->lo != b->lo || a->hi != b->hi ||
      a->size != b->size || a->role != b->role || a->element != b->element || a->index != b->index)
    return false;
  for (uint32_t i = 0; i < a->size; i++)
    if (a->fields[i].type != b->fields[i].type || strcmp(a->fields[i].name, b->fields[i].name) != 0)
      return false;
  return true;
}

static uint32_t type_hash(const struct type *t) {
  uint64_t h = (uint64_t)t->kind + ((uint64_t)t->role << 8) + ((uint64_t)t->size << 40);
  h ^= t->name ? hash_bytes(t->name, strlen(t->name)) : 0;
  h = (h ^ (uint64_t)t->lo) * UINT64_C(0x9E3779B97F4A7C15);
  h = (h ^ (uint64_t)t->hi ^ (h >> 32)) * UINT64_C(0x9E3779B97F4A7C15);
  h ^= (t->element ? t->element->id + UINT64_C(1) : 0) << 40;
  return (uint32_t)(h >> 40) % TYPE_BUCKETS;
}

/* A hash table: every literal has its own type, so there may be many. */
const struct type *type_intern(struct typechecker *c, struct type t) {
  uint32_t *first = &c->types.first[type_hash(&t)];
  for (uint32_t i = t.kind == TYPE_ENUM ? 0 : *first; i; i = c->types.next.at[i - 1])
    if (same_type(c->types.list.at[i - 1], &t))
      return c->types.list.at[i - 1];
  struct type *made = arena_copy(&c->m->arena, &t, sizeof t);
  made->id = (uint32_t)c->types.list.n;
  if (t.kind == TYPE_RECORD)
    made->fields = arena_copy(&c->m->arena, t.fields, t.size * sizeof *t.fields);
  type_finish(made, c->m);
  vec_push(&c->types.list, made);
  vec_push(&c->types.next, *first);
  *first = (uint32_t)c->types.list.n;
  return made;
}

const struct type *range_type(struct typechecker *c, int64_t lo, int64_t hi) {
  return type_intern(c, (struct type){.kind = TYPE_RANGE, .lo = lo, .hi = hi});
}

const struct type *option_type(struct typechecker *c, const struct type *t) {
  return t == c->error ? t : type_intern(c, (struct type){.kind = TYPE_OPTION, .element = t});
}

const struct type *set_type(struct typechecker *c, const struct type *t) {
  return t == c->error ? t : type_intern(c, (struct type){.kind = TYPE_SET, .element = t});
}

const struct type *process_type(struct typechecker *c, uint32_t role) {
  return type_intern(c, (struct type){.kind = TYPE_PROCESS, .role = role});
}

const struct type *any_process_type(struct typechecker *c) { return process_type(c, c->m->nroles == 1 ? 0 : ROLE_ANY); }

bool type_is_number(const struct type *t) { return t->kind == TYPE_INT || t->kind == TYPE_RANGE; }

bool type_is_known(const struct type *t) { return !type_contains_kind(t, TYPE_ERROR); }

uint64_t roles_of_type(const struct typechecker *c, const struct type *t) {
  if (t->kind != TYPE_PROCESS || t->role == ROLE_ANY || t->role >= 63 || c->m->nroles > 63)
    return ROLES_ALL;
  return UINT64_C(1) << t->role;
}

/* ---- from the syntax tree ---- */

/* A declared name belongs to its type: `type Value = 1..3` differs from other types 1..3. */
struct declared_name {
  const char *name;
  struct span at;
};

static const struct type *build(struct typechecker *c, const struct ast *a, struct declared_name by);

static const struct type *named(struct typechecker *c, struct type t, struct declared_name by) {
  t.name = by.name;
  t.at = by.at;
  return type_intern(c, t);
}

static const struct type *build_range(struct typechecker *c, const struct ast *a, struct declared_name by) {
  int64_t lo, hi;
  bool good = constant_number(c, a->kid[0], "a range's bound", &lo);
  if (!constant_number(c, a->kid[1], "a range's bound", &hi) || !good)
    return c->error;
  if (lo > hi) {
    checker_error(c, E0308, a->at, "the range '%s' is empty: from %" PRId64 " to %" PRId64, source_text(c, a->at), lo,
                  hi);
    return c->error;
  }
  bool unordered = a->flags & AST_FLAG_UNORDERED;
  return named(c, (struct type){.kind = TYPE_RANGE, .lo = lo, .hi = hi, .unordered = unordered}, by);
}

static const struct type *build_enum(struct typechecker *c, const struct ast *a, struct declared_name by) {
  struct type t = {.kind = TYPE_ENUM, .size = a->n, .unordered = a->flags & AST_FLAG_UNORDERED};
  t.labels = arena_array(&c->m->arena, a->n, sizeof *t.labels);
  for (uint32_t i = 0; i < a->n; i++)
    t.labels[i] = checker_strdup(c, a->kid[i]->name);
  const struct type *made = named(c, t, by);
  for (uint32_t i = 0; i < a->n; i++) {
    struct scope_symbol s = {
        .name = t.labels[i], .kind = SYMBOL_LABEL, .at = a->kid[i]->word, .index = i, .type = made};
    symbol_declare(c, &c->globals, s);
  }
  return made;
}

static const struct type *build_record(struct typechecker *c, const struct ast *a, struct declared_name by) {
  struct type t = {.kind = TYPE_RECORD, .size = a->n};
  t.fields = arena_array(&c->m->arena, a->n, sizeof *t.fields);
  bool good = true;
  struct name_index names = {0};
  for (uint32_t i = 0; i < a->n; i++) {
    t.fields[i].name = checker_strdup(c, a->kid[i]->name);
    t.fields[i].type = type_of_ast(c, a->kid[i]->kid[0]);
    good &= t.fields[i].type != c->error;
    if (name_index_find(&names, t.fields[i].name) != NAME_NONE) {
      checker_error(c, E0207, a->kid[i]->word, "field '%s' is declared twice", t.fields[i].name);
      good = false;
    }
    name_index_add(&names, t.fields[i].name);
  }
  name_index_release(&names);
  return good ? named(c, t, by) : c->error;
}

static const struct type *build_sequence(struct typechecker *c, const struct ast *a, struct declared_name by) {
  int64_t longest;
  const struct type *element = type_of_ast(c, a->kid[0]);
  if (!constant_number(c, a->kid[1], "a sequence's length", &longest) || element == c->error)
    return c->error;
  if (longest < 0 || longest > 1000) {
    checker_error(c, E0309, a->kid[1]->at, "a sequence's length must be 0 to 1000, not %" PRId64, longest);
    return c->error;
  }
  bool distinct = a->flags & AST_FLAG_DISTINCT;
  return named(c, (struct type){.kind = TYPE_SEQUENCE, .element = element, .hi = longest, .distinct = distinct}, by);
}

static const struct type *build_array(struct typechecker *c, const struct ast *a, struct declared_name by) {
  const struct type *index = type_of_ast(c, a->kid[0]), *element = type_of_ast(c, a->kid[1]);
  if (index == c->error || element == c->error)
    return c->error;
  if (index->count > ELEMENTS_MAX) {
    checker_error(c, E0309, a->kid[0]->at, "%s has too many values to index an array", type_text(c, index));
    return c->error;
  }
  return named(c, (struct type){.kind = TYPE_ARRAY, .index = index, .element = element}, by);
}

static const struct type *resolve(struct typechecker *c, const char *name, struct span use) {
  struct scope_symbol *s = symbol_find(c, name);
  if (s->type)
    return s->type;
  if (s->open) {
    checker_error(c, E0210, use, "type '%s' is made of itself", name);
    return c->error;
  }
  s->open = true;
  const struct ast *d = c->file->kid[s->index];
  const struct type *t = build(c, d->kid[0], (struct declared_name){s->name, s->at});
  s = symbol_find(c, name); /* declaring enum labels may have moved it */
  s->type = t;
  s->open = false;
  return t;
}

static const struct type *build_name(struct typechecker *c, const struct ast *a) {
  struct scope_symbol *s = symbol_find(c, a->name);
  if (!s) {
    unknown_name(c, E0202, a->name, a->word, "type");
    return c->error;
  }
  s->used = true;
  if (s->kind == SYMBOL_TYPE)
    return resolve(c, a->name, a->word);
  if (s->kind == SYMBOL_ROLE)
    return process_type(c, s->index);
  checker_error(c, E0209, a->word, "'%s' is not a type", a->name);
  checker_help(c, "it is the %s declared at line %u", symbol_kind_text(s->kind), checker_line(c, s->at));
  return c->error;
}

static const struct type *build(struct typechecker *c, const struct ast *a, struct declared_name by) {
  switch (ast_kind_among(a->kind)) {
  case AST_TYPE_BOOL:
    return c->boolean;
  case AST_TYPE_INT:
    return c->integer;
  case AST_TYPE_ROUND:
    return c->round;
  case AST_TYPE_NAME:
    return build_name(c, a);
  case AST_TYPE_RANGE:
    return build_range(c, a, by);
  case AST_TYPE_ENUM:
    return build_enum(c, a, by);
  case AST_TYPE_RECORD:
    return build_record(c, a, by);
  case AST_TYPE_SEQ:
    return build_sequence(c, a, by);
  case AST_TYPE_ARRAY:
    return build_array(c, a, by);
  case AST_TYPE_SET:
  case AST_TYPE_OPTION: {
    const struct type *element = type_of_ast(c, a->kid[0]);
    if (element == c->error)
      return element;
    return named(c, (struct type){.kind = a->kind == AST_TYPE_SET ? TYPE_SET : TYPE_OPTION, .element = element}, by);
  }
  case AST_ERROR: /* reported */
    return c->error;
  }
  checker_error(c, E0306, a->at, "this is no type");
  return c->error;
}

const struct type *message_type(struct typechecker *c, const struct ast *signature) {
  return build_record(c, signature, (struct declared_name){checker_strdup(c, signature->name), signature->word});
}

const struct type *type_of_ast(struct typechecker *c, const struct ast *a) {
  return a ? build(c, a, (struct declared_name){0}) : c->error;
}

void declare_types(struct typechecker *c) {
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    struct scope_symbol s = {.kind = SYMBOL_TYPE, .at = d->word, .index = i};
    if (d->kind != AST_TYPEDEF || !d->name)
      continue;
    s.name = checker_strdup(c, d->name);
    symbol_declare(c, &c->globals, s);
  }
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    struct scope_symbol *s = d->kind == AST_TYPEDEF && d->name ? symbol_find(c, d->name) : NULL;
    if (s && s->kind == SYMBOL_TYPE && s->index == i)
      resolve(c, d->name, d->word);
  }
}
