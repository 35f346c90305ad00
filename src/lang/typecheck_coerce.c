/* Compatibility of types, and conversion of an expression to the type that its context requires. */
#include "lang/typecheck_coerce.h"

#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"
#include "model/node.h"

#include <inttypes.h>
#include <string.h>

/* ---- relations between types ---- */

/* The placeholder for a missing name in a literal ("_1") matches every name. */
static bool field_names_match(const char *a, const char *b) { return a[0] == '_' || b[0] == '_' || strcmp(a, b) == 0; }

bool same_representation(const struct type *a, const struct type *b) {
  if (a == b)
    return true;
  if ((type_is_number(a) || a->kind == TYPE_ROUND) && (type_is_number(b) || b->kind == TYPE_ROUND))
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
    return same_representation(a->element, b->element);
  case TYPE_ARRAY:
    return a->index->count == b->index->count && a->index->lo == b->index->lo &&
           same_representation(a->index, b->index) && same_representation(a->element, b->element);
  case TYPE_SET:
    if (a->element == b->element)
      return true;
    if (a->mask != b->mask)
      return false;
    if (!a->mask || a->element->kind == TYPE_PROCESS)
      return same_representation(a->element, b->element);
    return type_is_number(a->element) && type_is_number(b->element) && a->element->lo == b->element->lo;
  case TYPE_RECORD:
    if (a->size != b->size)
      return false;
    for (uint32_t i = 0; i < a->size; i++)
      if (!same_representation(a->fields[i].type, b->fields[i].type))
        return false;
    return true;
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ROUND:
  case TYPE_ENUM: /* equal only if identical */
  case TYPE_ERROR:
    break;
  }
  return false;
}

/* Is every value of a also a value of b? Only for types with the same representation. */
static bool is_subtype(const struct typechecker *c, const struct type *a, const struct type *b) {
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
    return is_subtype(c, a->element, b->element);
  case TYPE_OPTION:
  case TYPE_SET:
  case TYPE_ARRAY:
  case TYPE_BAG:
    return is_subtype(c, a->element, b->element);
  case TYPE_RECORD:
    for (uint32_t i = 0; i < a->size; i++)
      if (!is_subtype(c, a->fields[i].type, b->fields[i].type))
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

static const struct type *join_numbers(struct typechecker *c, const struct type *a, const struct type *b) {
  if (a->kind == TYPE_INT || b->kind == TYPE_INT)
    return c->integer;
  if (a->name && b->name && strcmp(a->name, b->name) != 0)
    return NULL;
  bool a_in_b = b->lo <= a->lo && a->hi <= b->hi, b_in_a = a->lo <= b->lo && b->hi <= a->hi;
  if (a_in_b && (!b_in_a || b->name))
    return b;
  if (b_in_a)
    return a;
  return type_intern(c, (struct type){.kind = TYPE_RANGE,
                                      .lo = a->lo < b->lo ? a->lo : b->lo,
                                      .hi = a->hi > b->hi ? a->hi : b->hi,
                                      .unordered = a->unordered || b->unordered});
}

static const struct type *join_records(struct typechecker *c, const struct type *a, const struct type *b, bool loose) {
  if (a->size != b->size)
    return NULL;
  struct type t = {.kind = TYPE_RECORD, .size = a->size};
  t.fields = arena_array(&c->m->arena, a->size, sizeof *t.fields);
  for (uint32_t i = 0; i < a->size; i++) {
    const char *x = a->fields[i].name, *y = b->fields[i].name;
    if (!loose && !field_names_match(x, y))
      return NULL;
    t.fields[i].name = x[0] == '_' ? y : x;
    t.fields[i].type = type_join(c, a->fields[i].type, b->fields[i].type);
    if (!t.fields[i].type)
      return NULL;
  }
  return type_intern(c, t);
}

static const struct type *join_parts(struct typechecker *c, const struct type *a, const struct type *b) {
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
  return type_intern(c, t);
}

const struct type *type_join(struct typechecker *c, const struct type *a, const struct type *b) {
  if (a == b || b->kind == TYPE_ERROR)
    return a;
  if (a->kind == TYPE_ERROR)
    return b;
  if (type_is_number(a) && type_is_number(b))
    return join_numbers(c, a, b);
  if (a->kind == TYPE_ROUND && b->kind == TYPE_RANGE)
    return b->lo == b->hi && b->lo >= 0 ? a : NULL;
  if (b->kind == TYPE_ROUND && a->kind == TYPE_RANGE)
    return type_join(c, b, a);
  if (a->kind == TYPE_OPTION && b->kind != TYPE_OPTION) {
    const struct type *element = type_join(c, a->element, b);
    return element ? option_type(c, element) : NULL;
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

/* ---- conversion ---- */

static struct node *coerce_kid(struct typechecker *c, struct node *n, uint32_t i, const struct type *t) {
  struct node *kid = coerce(c, n->kid[i], t, false);
  if (kid)
    n->kid[i] = kid;
  return kid;
}

static struct node *coerce_kids(struct typechecker *c, struct node *n, const struct type *each, const struct type *t) {
  for (uint32_t i = 0; i < n->n; i++)
    if (!coerce_kid(c, n, i, each))
      return NULL;
  n->type = t;
  return n;
}

/* For the elements of generators, which may yield nothing. */
static struct node *coerce_generated(struct typechecker *c, struct node *n, const struct type *each,
                                     const struct type *t) {
  enum reach outer = c->in.reach;
  c->in.reach = reach_maybe(c);
  struct node *made = coerce_kids(c, n, each, t);
  c->in.reach = outer;
  return made;
}

static struct node *node_narrow(struct typechecker *c, struct node *n, const struct type *t) {
  return node_unary(c, NODE_NARROW, n->at, t, n);
}

/* Parts with names are assigned to the fields of these names, parts without names by position. */
static struct node *coerce_record(struct typechecker *c, struct node *n, const struct type *t) {
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
  if (!by_name && n->index) /* explicit names must match */
    return NULL;
  if (by_name)
    n->kid = kid;
  for (uint32_t i = 0; i < n->n; i++)
    if (!coerce_kid(c, n, i, t->fields[i].type))
      return NULL;
  n->type = t;
  return n;
}

static struct node *coerce_sequence(struct typechecker *c, struct node *n, const struct type *t) {
  if (t->kind != TYPE_SEQUENCE)
    return NULL;
  struct type own = {.kind = TYPE_SEQUENCE, .element = t->element, .hi = n->n, .distinct = n->n <= 1};
  if (!coerce_kids(c, n, t->element, type_intern(c, own)))
    return NULL;
  if (n->n > (uint64_t)t->hi && c->in.reach != REACH_NEVER) {
    checker_error(c, E0302, n->at, "a sequence of %u is too long for %s", n->n, type_text(c, t));
    return node_error(c, n->at);
  }
  if (!is_subtype(c, n->type, t))
    return node_narrow(c, n, t);
  n->type = t;
  return n;
}

static struct node *coerce_array(struct typechecker *c, struct node *n, const struct type *t) {
  if (t->kind != TYPE_ARRAY || n->type->kind != TYPE_ARRAY)
    return NULL;
  const struct type *index = type_join(c, n->type->index, t->index);
  if (!index || index->count != t->index->count || n->type->index->count != t->index->count)
    return NULL;
  return coerce_kids(c, n, t->element, t);
}

static struct node *coerce_conditional(struct typechecker *c, struct node *n, const struct type *t) {
  enum reach outer = c->in.reach;
  c->in.reach = reach_if(c, n->kid[0], true);
  bool good = coerce_kid(c, n, 1, t);
  c->in.reach = outer;
  c->in.reach = reach_if(c, n->kid[0], false);
  good = good && coerce_kid(c, n, 2, t);
  c->in.reach = outer;
  if (!good)
    return NULL;
  n->type = t;
  return n;
}

static bool yields_element(enum op op) {
  return op == NODE_MIN || op == NODE_MAX || op == NODE_PICK || op == NODE_RANDOM || op == NODE_MAJORITY;
}

/* Converts the element, not the aggregate as a whole: 'otherwise' must still detect an empty collection. */
static struct node *coerce_aggregate(struct typechecker *c, struct node *n, const struct type *t) {
  return coerce_generated(c, n, t, t);
}

/* x without `depth` options around it; NULL: it has not as many. */
static const struct type *unwrapped(const struct type *x, uint32_t depth) {
  for (; depth > 0 && x->kind == TYPE_OPTION; depth--)
    x = x->element;
  return depth == 0 ? x : NULL;
}

/* majority(v converted for v in x): what is in the option, or nothing. It evaluates x once and chooses nothing. */
static struct node *convert_found(struct typechecker *c, struct node *x, const struct type *t) {
  uint32_t slot = slot_reserve(c);
  struct node *v = coerce(c, node_slot(c, x->at, slot, x->type->element), t, false);
  return v ? node_over(c, NODE_MAJORITY, x->at, t, v, generator_over(c, x->at, "v", slot, x), 1) : NULL;
}

struct node *coerce_found(struct typechecker *c, struct node *x, const struct type *t) {
  if (yields_element(x->op))
    return coerce_aggregate(c, x, t);
  bool end = op_may_be_empty(x->op); /* first, last: a conversion must not come between these and 'otherwise' */
  const struct type *found = end ? x->type : x->type->element;
  const struct type *inner = unwrapped(t, option_depth_beyond(t, found));
  if (!type_is_known(found))
    return coerce(c, x, option_type(c, inner), false);
  if (same_representation(found, inner))
    return x;
  if (end) {
    const struct type *option = option_type(c, found);
    x = node_binary(c, NODE_OTHERWISE, x->at, option, x, node_constant(c, x->at, option, VALUE_NONE));
  }
  return convert_found(c, x, t);
}

static struct node *coerce_otherwise(struct typechecker *c, struct node *n, const struct type *t) {
  const struct type *found = unwrapped(t, otherwise_wraps(n));
  struct node *left = !found                          ? NULL
                      : yields_element(n->kid[0]->op) ? coerce_aggregate(c, n->kid[0], t)
                                                      : coerce(c, n->kid[0], option_type(c, found), false);
  enum reach outer = c->in.reach;
  c->in.reach = reach_maybe(c);
  bool good = left && coerce_kid(c, n, 1, t);
  c->in.reach = outer;
  if (!good)
    return NULL;
  n->kid[0] = left;
  n->type = t;
  return n;
}

/* A 'none' that no neighbour has given a type: it takes whatever option type its context requires. Beside a value, as
   in [none, 0], it is already a value of an option type and is converted as any other value. */
static bool is_bare_none(const struct typechecker *c, const struct node *n) {
  return n->op == NODE_CONST && n->type->kind == TYPE_OPTION && n->type->element == c->unknown;
}

/* Constructors pass the required type on to their parts. *tried: n is such a constructor, and NULL means that it cannot
   be converted; otherwise the caller converts it as a whole. */
static struct node *coerce_parts(struct typechecker *c, struct node *n, const struct type *t, bool *tried) {
  const struct node *chooser = n->op == NODE_OTHERWISE ? n->kid[0] : n;
  *tried = !(yields_element(chooser->op) && type_is_number(n->type) && type_is_number(t));
  if (!*tried)
    return NULL; /* only the result must fit: 'min(a, 2)' bounds a */
  switch (op_number(n->op)) {
  case NODE_CONST:
    if (n->type->kind == TYPE_OPTION && n->constant == VALUE_NONE && t->kind == TYPE_OPTION) {
      n->type = t;
      return n;
    }
    break;
  case NODE_SET:
    return t->kind == TYPE_SET ? coerce_kids(c, n, t->element, t) : NULL;
  case NODE_SET_OF:
    return t->kind == TYPE_SET ? coerce_generated(c, n, t->element, t) : NULL;
  case NODE_RECORD:
    return coerce_record(c, n, t);
  case NODE_SEQUENCE:
    return coerce_sequence(c, n, t);
  case NODE_ARRAY_OF:
    return coerce_array(c, n, t);
  case NODE_IF:
    return coerce_conditional(c, n, t);
  case NODE_WRAP:
    return t->kind == TYPE_OPTION && coerce_kid(c, n, 0, t->element) ? (n->type = t, n) : NULL;
  case NODE_OTHERWISE:
    if (n->kid[0]->op != NODE_FIRST && n->kid[0]->op != NODE_LAST)
      return coerce_otherwise(c, n, t);
    break;
  }
  if (yields_element(n->op))
    return coerce_generated(c, n, t, t);
  *tried = false;
  return NULL;
}

/* {x for x in set} with each x converted, for two set types with different representations. */
static struct node *coerce_members(struct typechecker *c, struct node *n, const struct type *t) {
  uint32_t slot = slot_reserve(c);
  struct node *member = coerce(c, node_slot(c, n->at, slot, n->type->element), t->element, false);
  if (!member)
    return NULL;
  return node_over(c, NODE_SET_OF, n->at, t, member, generator_over(c, n->at, "x", slot, n), 1);
}

static struct node *coerce_number(struct typechecker *c, struct node *n, const struct type *t, bool assigned) {
  const struct type *from = n->type;
  if (t->kind == TYPE_ROUND) {
    bool literal = (n->op == NODE_CONST || n->op == NODE_PARAM) && from->kind == TYPE_RANGE && from->lo >= 0;
    if (!literal)
      return NULL;
    n->type = t;
    return n;
  }
  if (!type_is_number(t) || (from->name && t->name && strcmp(from->name, t->name) != 0))
    return NULL;
  if (is_subtype(c, from, t)) {
    if (n->op == NODE_CONST)
      n->type = t;
    return n;
  }
  if (from->kind == TYPE_RANGE && (from->hi < t->lo || t->hi < from->lo) && refused_here(c, n)) {
    if (from->lo == from->hi)
      checker_error(c, E0302, n->at, "value %" PRId64 " is outside %s", from->lo, type_text(c, t));
    else
      checker_error(c, E0302, n->at, "values %" PRId64 "..%" PRId64 " are outside %s", from->lo, from->hi,
                    type_text(c, t));
    return node_error(c, n->at);
  }
  return assigned ? n : node_narrow(c, n, t);
}

struct node *coerce(struct typechecker *c, struct node *n, const struct type *t, bool assigned) {
  const struct type *from = n->type;
  if (from == t || from->kind == TYPE_ERROR || t->kind == TYPE_ERROR)
    return n;
  bool tried;
  struct node *made = NULL;
  if (option_depth_beyond(t, from) > 0 && !is_bare_none(c, n)) {
    made = coerce(c, n, t->element, assigned);
    if (!made || node_is_error(made))
      return made;
    return node_unary(c, NODE_WRAP, n->at, t, made);
  }
  made = coerce_parts(c, n, t, &tried);
  if (tried)
    return made;
  if (type_is_number(from))
    return coerce_number(c, n, t, assigned);
  const struct type *join = type_join(c, from, t);
  if (!join || join->kind != t->kind || (t->kind == TYPE_RECORD && join->size != t->size))
    return NULL;
  if (from->kind == TYPE_PROCESS && t->role != ROLE_ANY && from->role != ROLE_ANY && from->role != t->role)
    return NULL;
  if (same_representation(from, t))
    return is_subtype(c, from, t) || assigned ? n : node_narrow(c, n, t);
  return from->kind == TYPE_SET && t->kind == TYPE_SET ? coerce_members(c, n, t) : NULL;
}

static void help_mismatch(struct typechecker *c, const struct type *from, const struct type *to) {
  if (from->kind == TYPE_OPTION && from->element == c->unknown)
    checker_help(c, "what may be none is declared with '?': '%s?'", to->name ? to->name : type_text(c, to));
  else if (to->kind == TYPE_SET && type_join(c, from, to->element))
    checker_help(c, "a set of one is written {x}");
  else if (from->kind == TYPE_OPTION && to->kind != TYPE_OPTION && type_join(c, from->element, to))
    checker_help(c, "it may be none: take its value with 'exists v in ...', or say what else with '... "
                    "otherwise ...'");
  else if (to->kind == TYPE_ROUND && type_is_number(from))
    checker_help(c, "a round is only copied, compared, and advanced by a constant");
  else if (from->kind == TYPE_ROUND && type_is_number(to))
    checker_help(c, "a round grows without bound: it is only copied, compared, and advanced by a constant");
  else if (type_is_number(from) && type_is_number(to) && from->name && to->name)
    checker_help(c, "'%s' and '%s' are declared as different types (lines %u and %u)", from->name, to->name,
                 checker_line(c, from->at), checker_line(c, to->at));
  else if (to->kind == TYPE_ARRAY)
    checker_help(c, "say what each index has: '[p in %s: VALUE]'", type_text(c, to->index));
  else if ((from->kind == TYPE_SET || from->kind == TYPE_BAG || from->kind == TYPE_SEQUENCE) && type_is_number(to))
    checker_help(c, "|...| is the number of elements");
  else if (from->kind == TYPE_BAG)
    checker_help(c, "write {m for m in %s} for the set of the messages", received_name_text(c));
  else if (from->kind == TYPE_PROCESS && type_is_number(to) && in_process(c))
    checker_help(c, "number(p) is the number of process p, counted from 1");
  else if (type_is_number(from) && to->kind == TYPE_PROCESS && to->role != ROLE_ANY)
    checker_help(c, "%s(i) is the process with number i, counted from 1", c->m->roles[to->role].name);
  else if (from->kind == TYPE_SEQUENCE && to->kind == TYPE_SET)
    checker_help(c, "a set is written {a, b}");
  else if (from->kind == TYPE_SET && to->kind == TYPE_SEQUENCE)
    checker_help(c, "a sequence is written [a, b]");
  else if (type_is_number(from) && to->kind == TYPE_BOOL)
    checker_help(c, "write 'false' or 'true', or compare the number, as in 'x != 0'");
  else if (from->kind == TYPE_BOOL && type_is_number(to))
    checker_help(c, "write 'if c then 1 else 0'");
}

struct node *coerce_or_report(struct typechecker *c, struct node *n, const struct type *t, const char *what) {
  const struct type *from = n->type;
  if (node_is_error(n) || t->kind == TYPE_ERROR)
    return n;
  const char *found = type_text(c, from);
  struct node *made = coerce(c, n, t, false);
  if (made)
    return made;
  if (from->kind == TYPE_OPTION && from->element == c->unknown)
    found = "none";
  checker_error(c, E0301, n->at, "expected %s for %s, found %s", type_text(c, t), what, found);
  help_mismatch(c, from, t);
  return node_error(c, n->at);
}

bool coerce_to_join(struct typechecker *c, struct node **a, struct node **b) {
  const struct type *x = (*a)->type, *y = (*b)->type;
  bool loose = ((*a)->op == NODE_RECORD && !(*a)->index) || ((*b)->op == NODE_RECORD && !(*b)->index);
  const struct type *t = NULL;
  if (x->kind == TYPE_RECORD && y->kind == TYPE_RECORD && loose) /* keeps the field names of the operand that is not a
                                                                    literal */
    t = (*a)->op == NODE_RECORD ? join_records(c, y, x, true) : join_records(c, x, y, true);
  else
    t = type_join(c, x, y);
  struct node *p = t ? coerce(c, *a, t, false) : NULL, *q = t ? coerce(c, *b, t, false) : NULL;
  if (!p || !q)
    return false;
  *a = p;
  *b = q;
  return true;
}

const char *order_missing_reason(const struct type *t) {
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
      if (order_missing_reason(t->fields[i].type))
        return order_missing_reason(t->fields[i].type);
    return NULL;
  case TYPE_SET:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
    break;
  }
  return "sets, arrays and sequences have no order";
}
