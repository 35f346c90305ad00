/* Which types go together, and what it takes to make an expression fit its place. */
#include "lang/check_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---- relations between types ---- */

/* A literal's name for a missing part ("_1") matches every name. */
static bool names_match(const char *a, const char *b) {
  return a[0] == '_' || b[0] == '_' || strcmp(a, b) == 0;
}

bool same_numbers(const struct type *a, const struct type *b) {
  if (a == b)
    return true;
  if ((is_number(a) || a->kind == TYPE_ROUND) && (is_number(b) || b->kind == TYPE_ROUND))
    return true;
  if (a->kind != b->kind)
    return false;
  switch (a->kind) {
  case TYPE_PROCESS:
  case TYPE_BOOL:
    return true;
  case TYPE_OPTION:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
    return same_numbers(a->element, b->element);
  case TYPE_ARRAY:
    return a->index->count == b->index->count && a->index->lo == b->index->lo &&
           same_numbers(a->index, b->index) && same_numbers(a->element, b->element);
  case TYPE_SET:
    if (a->element == b->element)
      return true;
    if (a->mask != b->mask)
      return false;
    if (!a->mask || a->element->kind == TYPE_PROCESS)
      return same_numbers(a->element, b->element);
    return is_number(a->element) && is_number(b->element) && a->element->lo == b->element->lo;
  case TYPE_RECORD:
    if (a->size != b->size)
      return false;
    for (uint32_t i = 0; i < a->size; i++)
      if (!same_numbers(a->fields[i].type, b->fields[i].type))
        return false;
    return true;
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ROUND:
  case TYPE_ENUM: /* they are the same only if they are one */
  case TYPE_ERROR:
    break;
  }
  return false;
}

/* Is every value of a one of b? Only for types of the same numbers. */
static bool within(const struct checker *c, const struct type *a, const struct type *b) {
  if (a == b || b->kind == TYPE_INT)
    return true;
  switch (b->kind) {
  case TYPE_RANGE:
    return a->kind == TYPE_RANGE && b->lo <= a->lo && a->hi <= b->hi;
  case TYPE_ROUND:
    return a->kind == TYPE_ROUND;
  case TYPE_PROCESS:
    return b->role == ROLE_ANY || a->role == b->role || c->m->nroles == 1;
  case TYPE_SEQUENCE:
    if (a->hi > b->hi || (b->distinct && !a->distinct && a->hi > 1))
      return false;
    return within(c, a->element, b->element);
  case TYPE_OPTION:
  case TYPE_SET:
  case TYPE_ARRAY:
  case TYPE_BAG:
    return within(c, a->element, b->element);
  case TYPE_RECORD:
    for (uint32_t i = 0; i < a->size; i++)
      if (!within(c, a->fields[i].type, b->fields[i].type))
        return false;
    return true;
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_ENUM:
  case TYPE_ERROR:
    return true;
  }
  return false;
}

static const struct type *join_numbers(struct checker *c, const struct type *a,
                                       const struct type *b) {
  if (a->kind == TYPE_INT || b->kind == TYPE_INT)
    return c->integer;
  if (a->name && b->name && strcmp(a->name, b->name) != 0)
    return NULL;
  bool a_in_b = b->lo <= a->lo && a->hi <= b->hi, b_in_a = a->lo <= b->lo && b->hi <= a->hi;
  if (a_in_b && (!b_in_a || b->name))
    return b;
  if (b_in_a)
    return a;
  return type_made(c, (struct type){.kind = TYPE_RANGE,
                                    .lo = a->lo < b->lo ? a->lo : b->lo,
                                    .hi = a->hi > b->hi ? a->hi : b->hi,
                                    .unordered = a->unordered || b->unordered});
}

static const struct type *join_records(struct checker *c, const struct type *a,
                                       const struct type *b, bool loose) {
  if (a->size != b->size)
    return NULL;
  struct type t = {.kind = TYPE_RECORD, .size = a->size};
  t.fields = arena_array(&c->m->arena, a->size, sizeof *t.fields);
  for (uint32_t i = 0; i < a->size; i++) {
    const char *x = a->fields[i].name, *y = b->fields[i].name;
    if (!loose && !names_match(x, y))
      return NULL;
    t.fields[i].name = x[0] == '_' ? y : x;
    t.fields[i].type = type_join(c, a->fields[i].type, b->fields[i].type);
    if (!t.fields[i].type)
      return NULL;
  }
  return type_made(c, t);
}

static const struct type *join_parts(struct checker *c, const struct type *a,
                                     const struct type *b) {
  const struct type *element = type_join(c, a->element, b->element);
  if (!element)
    return NULL;
  struct type t = {.kind = a->kind, .element = element};
  if (a->kind == TYPE_SEQUENCE) {
    t.hi = a->hi > b->hi ? a->hi : b->hi;
    t.distinct = (a->distinct || a->hi <= 1) && (b->distinct || b->hi <= 1);
  }
  if (a->kind == TYPE_ARRAY) {
    t.index = type_join(c, a->index, b->index);
    if (!t.index || t.index->count != a->index->count || t.index->count != b->index->count)
      return NULL;
  }
  return type_made(c, t);
}

const struct type *type_join(struct checker *c, const struct type *a, const struct type *b) {
  if (a == b || b->kind == TYPE_ERROR)
    return a;
  if (a->kind == TYPE_ERROR)
    return b;
  if (is_number(a) && is_number(b))
    return join_numbers(c, a, b);
  if (a->kind == TYPE_ROUND && b->kind == TYPE_RANGE)
    return b->lo == b->hi && b->lo >= 0 ? a : NULL;
  if (b->kind == TYPE_ROUND && a->kind == TYPE_RANGE)
    return type_join(c, b, a);
  if (a->kind == TYPE_OPTION && b->kind != TYPE_OPTION) {
    const struct type *element = type_join(c, a->element, b);
    return element ? option_of(c, element) : NULL;
  }
  if (b->kind == TYPE_OPTION && a->kind != TYPE_OPTION)
    return type_join(c, b, a);
  if (a->kind != b->kind)
    return NULL;
  switch (a->kind) {
  case TYPE_PROCESS:
    return process_type(c, ROLE_ANY);
  case TYPE_OPTION:
  case TYPE_SET:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return join_parts(c, a, b);
  case TYPE_RECORD:
    return join_records(c, a, b, false);
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_ROUND:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return NULL;
}

/* ---- making a node fit ---- */

static struct node *fit_kid(struct checker *c, struct node *n, uint32_t i, const struct type *t) {
  struct node *kid = fit(c, n->kid[i], t, false);
  if (kid)
    n->kid[i] = kid;
  return kid;
}

static struct node *fit_kids(struct checker *c, struct node *n, const struct type *each,
                             const struct type *t) {
  for (uint32_t i = 0; i < n->n; i++)
    if (!fit_kid(c, n, i, each))
      return NULL;
  n->type = t;
  return n;
}

static struct node *narrowed(struct checker *c, struct node *n, const struct type *t) {
  struct node *check = node_new(c, NODE_NARROW, n->at, t, 1);
  check->kid[0] = n;
  return check;
}

/* Named parts go to the field of their name; parts without names of their own go by position. */
static struct node *fit_record(struct checker *c, struct node *n, const struct type *t) {
  if (t->kind != TYPE_RECORD || t->size != n->n)
    return NULL;
  struct node **kid = arena_array(&c->m->arena, n->n, sizeof *kid);
  bool by_name = true;
  for (uint32_t i = 0; i < t->size; i++)
    for (uint32_t j = 0; j < n->n; j++)
      if (strcmp(n->type->fields[j].name, t->fields[i].name) == 0)
        kid[i] = n->kid[j];
  for (uint32_t i = 0; i < t->size; i++)
    by_name &= kid[i] != NULL;
  if (!by_name && n->index) /* names that were written out must be right */
    return NULL;
  if (by_name)
    n->kid = kid;
  for (uint32_t i = 0; i < n->n; i++)
    if (!fit_kid(c, n, i, t->fields[i].type))
      return NULL;
  n->type = t;
  return n;
}

static struct node *fit_sequence(struct checker *c, struct node *n, const struct type *t) {
  if (t->kind != TYPE_SEQUENCE)
    return NULL;
  struct type own = {
      .kind = TYPE_SEQUENCE, .element = t->element, .hi = n->n, .distinct = n->n <= 1};
  if (!fit_kids(c, n, t->element, type_made(c, own)))
    return NULL;
  if (n->n > (uint64_t)t->hi) {
    fault(c, n->at, "a sequence of %u is too long for %s", n->n, shown(c, t));
    return node_error(c, n->at);
  }
  if (!within(c, n->type, t))
    return narrowed(c, n, t);
  n->type = t;
  return n;
}

static struct node *fit_array(struct checker *c, struct node *n, const struct type *t) {
  if (t->kind != TYPE_ARRAY || n->type->kind != TYPE_ARRAY)
    return NULL;
  const struct type *index = type_join(c, n->type->index, t->index);
  if (!index || index->count != t->index->count || n->type->index->count != t->index->count)
    return NULL;
  return fit_kids(c, n, t->element, t);
}

static struct node *fit_choice(struct checker *c, struct node *n, const struct type *t) {
  if (!fit_kid(c, n, 1, t) || !fit_kid(c, n, 2, t))
    return NULL;
  n->type = t;
  return n;
}

static bool yields_element(enum op op) {
  return op == NODE_MIN || op == NODE_MAX || op == NODE_PICK || op == NODE_RANDOM ||
         op == NODE_MAJORITY;
}

/* Into the element, not around it: 'otherwise' must still see that there may be nothing. */
struct node *fit_aggregate(struct checker *c, struct node *n, const struct type *t) {
  return fit_kids(c, n, t, t);
}

static struct node *fit_otherwise(struct checker *c, struct node *n, const struct type *t) {
  bool aggregate = yields_element(n->kid[0]->op);
  bool option = n->kid[0]->type->kind == TYPE_OPTION && n->type->kind != TYPE_OPTION;
  struct node *left = aggregate ? fit_aggregate(c, n->kid[0], t)
                                : fit(c, n->kid[0], option ? option_of(c, t) : t, false);
  if (!left || !fit_kid(c, n, 1, t))
    return NULL;
  n->kid[0] = left;
  n->type = t;
  return n;
}

/* Constructors take the wanted type into their parts. NULL: no way in, *tried says so. */
static struct node *fit_parts(struct checker *c, struct node *n, const struct type *t,
                              bool *tried) {
  const struct node *chooser = n->op == NODE_OTHERWISE ? n->kid[0] : n;
  *tried = !(yields_element(chooser->op) && is_number(n->type) && is_number(t));
  if (!*tried)
    return NULL; /* only the number that comes out must fit: 'min(a, 2)' bounds a */
  switch (op_among(n->op)) {
  case NODE_CONST:
    if (n->type->kind == TYPE_OPTION && n->constant == VALUE_NONE && t->kind == TYPE_OPTION) {
      n->type = t;
      return n;
    }
    break;
  case NODE_SET:
  case NODE_SET_OF:
    return t->kind == TYPE_SET ? fit_kids(c, n, t->element, t) : NULL;
  case NODE_RECORD:
    return fit_record(c, n, t);
  case NODE_SEQUENCE:
    return fit_sequence(c, n, t);
  case NODE_ARRAY_OF:
    return fit_array(c, n, t);
  case NODE_IF:
    return fit_choice(c, n, t);
  case NODE_WRAP:
    return t->kind == TYPE_OPTION && fit_kid(c, n, 0, t->element) ? (n->type = t, n) : NULL;
  case NODE_OTHERWISE:
    if (n->kid[0]->op != NODE_FIRST && n->kid[0]->op != NODE_LAST)
      return fit_otherwise(c, n, t);
    break;
  }
  if (yields_element(n->op))
    return fit_kids(c, n, t, t);
  *tried = false;
  return NULL;
}

/* {x for x in set}, with each x made to fit: where the two kinds of set are kept differently. */
static struct node *fit_members(struct checker *c, struct node *n, const struct type *t) {
  uint32_t slot =
      c->m->nslots++; /* of nobody else: the names around n may be out of scope already */
  struct node *member = fit(c, node_slot(c, n->at, slot, n->type->element), t->element, false);
  if (!member)
    return NULL;
  struct node *set = node_new(c, NODE_SET_OF, n->at, t, 1);
  set->kid[0] = member;
  set->ngen = 1;
  set->gen = arena_alloc(&c->m->arena, sizeof *set->gen);
  *set->gen = (struct generator){
      .slot = slot, .range = n, .type = n->type->element, .name = "x", .at = n->at};
  return set;
}

static struct node *fit_number(struct checker *c, struct node *n, const struct type *t,
                               bool assigned) {
  const struct type *from = n->type;
  if (t->kind == TYPE_ROUND) {
    bool literal =
        (n->op == NODE_CONST || n->op == NODE_PARAM) && from->kind == TYPE_RANGE && from->lo >= 0;
    if (!literal)
      return NULL;
    n->type = t;
    return n;
  }
  if (!is_number(t) || (from->name && t->name && strcmp(from->name, t->name) != 0))
    return NULL;
  if (within(c, from, t)) {
    if (n->op == NODE_CONST)
      n->type = t;
    return n;
  }
  if (from->kind == TYPE_RANGE && (from->hi < t->lo || t->hi < from->lo)) {
    if (from->lo == from->hi)
      fault(c, n->at, "value %" PRId64 " is outside %s", from->lo, shown(c, t));
    else
      fault(c, n->at, "values %" PRId64 "..%" PRId64 " are outside %s", from->lo, from->hi,
            shown(c, t));
    return node_error(c, n->at);
  }
  return assigned ? n : narrowed(c, n, t);
}

static uint32_t options_around(const struct type *t) {
  uint32_t n = 0;
  for (; t->kind == TYPE_OPTION; t = t->element)
    n++;
  return n;
}

struct node *fit(struct checker *c, struct node *n, const struct type *t, bool assigned) {
  const struct type *from = n->type;
  if (from == t || from->kind == TYPE_ERROR || t->kind == TYPE_ERROR)
    return n;
  bool tried;
  struct node *made = NULL;
  bool none = n->op == NODE_CONST && from->kind == TYPE_OPTION;
  if (options_around(t) > options_around(from) && !none) {
    made = fit(c, n, t->element, assigned);
    if (!made || bad(made))
      return made;
    struct node *some = node_new(c, NODE_WRAP, n->at, t, 1);
    some->kid[0] = made;
    return some;
  }
  made = fit_parts(c, n, t, &tried);
  if (tried)
    return made;
  if (is_number(from))
    return fit_number(c, n, t, assigned);
  const struct type *join = type_join(c, from, t);
  if (!join || join->kind != t->kind || (t->kind == TYPE_RECORD && join->size != t->size))
    return NULL;
  if (from->kind == TYPE_PROCESS && t->role != ROLE_ANY && from->role != ROLE_ANY &&
      from->role != t->role)
    return NULL;
  if (same_numbers(from, t))
    return within(c, from, t) || assigned ? n : narrowed(c, n, t);
  return from->kind == TYPE_SET && t->kind == TYPE_SET ? fit_members(c, n, t) : NULL;
}

static void explain(struct checker *c, const struct type *from, const struct type *to) {
  if (from->kind == TYPE_OPTION && from->element == c->unknown)
    help(c, "what may be none is declared with '?': '%s?'", to->name ? to->name : shown(c, to));
  else if (to->kind == TYPE_SET && type_join(c, from, to->element))
    help(c, "a set of one is written {x}");
  else if (from->kind == TYPE_OPTION && to->kind != TYPE_OPTION && type_join(c, from->element, to))
    help(c, "it may be none: take its value with 'exists v in ...', or say what else with '... "
            "otherwise ...'");
  else if (to->kind == TYPE_ROUND && is_number(from))
    help(c, "a round is only copied, compared, and advanced by a constant");
  else if (from->kind == TYPE_ROUND && is_number(to))
    help(c, "a round grows without bound: it is only copied, compared, and advanced by a constant");
  else if (is_number(from) && is_number(to) && from->name && to->name)
    help(c, "'%s' and '%s' are declared as different types (lines %u and %u)", from->name, to->name,
         line_of(c, from->at), line_of(c, to->at));
  else if (from->kind == TYPE_BAG)
    help(c, "write {m for m in %s} for the set of the messages", received_text(c));
}

struct node *want(struct checker *c, struct node *n, const struct type *t, const char *what) {
  const struct type *from = n->type;
  if (bad(n) || t->kind == TYPE_ERROR)
    return n;
  const char *found = shown(c, from);
  struct node *made = fit(c, n, t, false);
  if (made)
    return made;
  if (from->kind == TYPE_OPTION && from->element == c->unknown)
    found = "none";
  fault(c, n->at, "expected %s for %s, found %s", shown(c, t), what, found);
  explain(c, from, t);
  return node_error(c, n->at);
}

bool unify(struct checker *c, struct node **a, struct node **b) {
  const struct type *x = (*a)->type, *y = (*b)->type;
  bool loose =
      ((*a)->op == NODE_RECORD && !(*a)->index) || ((*b)->op == NODE_RECORD && !(*b)->index);
  const struct type *t = NULL;
  if (x->kind == TYPE_RECORD && y->kind == TYPE_RECORD &&
      loose) /* the names of what is not a literal stay */
    t = (*a)->op == NODE_RECORD ? join_records(c, y, x, true) : join_records(c, x, y, true);
  else
    t = type_join(c, x, y);
  struct node *p = t ? fit(c, *a, t, false) : NULL, *q = t ? fit(c, *b, t, false) : NULL;
  if (!p || !q)
    return false;
  *a = p;
  *b = q;
  return true;
}

const char *why_no_order(const struct type *t) {
  if (t->unordered)
    return "its type is declared 'unordered'";
  switch (t->kind) {
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_ROUND:
  case TYPE_ERROR:
    return NULL;
  case TYPE_PROCESS:
    return "identities have no order";
  case TYPE_BOOL:
    return "truth values have no order";
  case TYPE_OPTION:
    return "what may be none has no order";
  case TYPE_RECORD:
    for (uint32_t i = 0; i < t->size; i++)
      if (why_no_order(t->fields[i].type))
        return why_no_order(t->fields[i].type);
    return NULL;
  case TYPE_SET:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
    break;
  }
  return "sets, arrays and sequences have no order";
}
