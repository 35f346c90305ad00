/* Calls: built-in functions, aggregates, processes by number, and defs. */
#include "lang/typecheck_coerce.h"
#include "lang/typecheck_def.h"
#include "lang/typecheck_environment.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_process.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <string.h>

static bool is(const struct ast *a, const char *name) { return strcmp(a->name, name) == 0; }

/* ---- aggregates ---- */

static const struct {
  const char *name;
  enum op op;
} aggregates[] = {
    {"min", NODE_MIN},   {"max", NODE_MAX},       {"sum", NODE_SUM},           {"union", NODE_UNION_OF},
    {"pick", NODE_PICK}, {"random", NODE_RANDOM}, {"majority", NODE_MAJORITY}, {"mostfrequent", NODE_MOSTFREQUENT},
};

bool is_aggregate(const char *name, enum op *op) {
  for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++)
    if (strcmp(aggregates[i].name, name) == 0) {
      *op = aggregates[i].op;
      return true;
    }
  return false;
}

static bool choice_allowed(const struct typechecker *c) {
  bool process = in_process(c) && c->in.where != IN_GRAPH && !c->in.fixed;
  return process || c->in.where == IN_DEF || c->in.where == IN_FILE;
}

/* Only processes make free choices: properties and environments must be deterministic. */
static bool may_choose(struct typechecker *c, const struct ast *a) {
  if (c->in.where == IN_DEF || c->in.where == IN_MEMBER_DEF)
    c->defs.current->chooses = true;
  if (choice_allowed(c))
    return true;
  if (c->in.fixed) {
    checker_error(c, E0406, a->word, "'%s' is a free choice, and what is waited for is no choice", a->name);
    checker_help(c, "choose in the block");
    return false;
  }
  checker_error(c, E0406, a->word, "'%s' is a free choice, which only processes can make", a->name);
  checker_help(c, "a property says 'exists' or 'forall'");
  return false;
}

/* The range of a sum, if that many numbers of the type cannot overflow 64 bits in any order. */
static const struct type *sum_type(struct typechecker *c, const struct type *t, uint64_t most) {
  int64_t lo, hi;
  if (t->kind != TYPE_RANGE || most > INT32_MAX || __builtin_mul_overflow(t->lo < 0 ? t->lo : 0, (int64_t)most, &lo) ||
      __builtin_mul_overflow(t->hi > 0 ? t->hi : 0, (int64_t)most, &hi) || !number_fits(lo) || !number_fits(hi))
    return c->integer;
  return range_type(c, lo, hi);
}

/* The type of the aggregate; NULL: reported. */
static const struct type *aggregate_type(struct typechecker *c, const struct ast *a, enum op op,
                                         const struct node *element, uint64_t most) {
  const struct type *t = element->type;
  if (op == NODE_MIN || op == NODE_MAX) {
    const char *why = order_missing_reason(t);
    if (!why)
      return t;
    checker_error(c, E0415, a->word, "'%s' cannot be used here: %s", a->name, why);
    if (t->kind == TYPE_OPTION)
      checker_help(c, "take the values that are there: '%s(v for m in ..., v in m.field)'", a->name);
    else if (t->kind == TYPE_PROCESS)
      checker_help(c, "number(p) is the number of process p, counted from 1");
    return NULL;
  }
  if (op == NODE_SUM) {
    if (type_is_number(t))
      return sum_type(c, t, most);
    checker_error(c, E0303, element->at, "'sum' needs numbers, not %s", type_text(c, t));
    return NULL;
  }
  if (op == NODE_UNION_OF && t->kind != TYPE_SET) {
    checker_error(c, E0303, element->at, "'union' needs sets, not %s", type_text(c, t));
    return NULL;
  }
  if ((op == NODE_PICK || op == NODE_RANDOM) && !may_choose(c, a))
    return NULL;
  return op == NODE_MOSTFREQUENT ? set_type(c, t) : t;
}

struct node *aggregate_over(struct typechecker *c, const struct ast *a, enum op op, struct node *element,
                            struct generator *gen, uint32_t ngen) {
  const struct type *type = aggregate_type(c, a, op, element, bindings_max(c, gen, ngen));
  return type ? node_over(c, op, a->at, type, element, gen, ngen) : node_error(c, a->at);
}

/* f(collection) is f(x for x in collection); f(a, b) ranges over its arguments. */
static struct node *aggregate_call(struct typechecker *c, const struct ast *a, enum op op) {
  if (a->n == 0) {
    checker_error(c, E0313, a->word, "'%s' needs something to go through", a->name);
    return node_error(c, a->at);
  }
  bool counts = op == NODE_SUM || op == NODE_MAJORITY || op == NODE_MOSTFREQUENT; /* duplicates count */
  struct ast given = {.kind = counts ? AST_SEQUENCE : AST_SET, .at = a->at, .word = a->word, .n = a->n, .kid = a->kid};
  struct node *range = a->n == 1 ? lower_collection(c, a->kid[0]) : lower_expr(c, &given);
  if (node_is_error(range))
    return range;
  const struct type *type = range->type->element;
  if (!type_is_known(type)) {
    checker_error(c, E0315, a->at, "'%s' of nothing", a->name);
    return node_error(c, a->at);
  }
  uint32_t slots = c->slots;
  struct generator *gen = generator_over(c, a->at, "x", slot_new(c), range);
  c->slots = slots;
  return aggregate_over(c, a, op, node_slot(c, range->at, gen->slot, type), gen, 1);
}

/* ---- built-in functions ---- */

static struct node *one_argument(struct typechecker *c, const struct ast *a, const char *what) {
  if (a->n == 1 && a->kid[0]->kind != AST_ITEM)
    return lower_expr(c, a->kid[0]);
  checker_error(c, E0307, a->word, "'%s' needs %s", a->name, what);
  return node_error(c, a->at);
}

static struct node *one_process(struct typechecker *c, const struct ast *a) {
  struct node *p = one_argument(c, a, "one process");
  if (node_is_error(p) || p->type->kind == TYPE_PROCESS)
    return p;
  checker_error(c, E0303, a->kid[0]->at, "'%s' needs a process, not %s", a->name, type_text(c, p->type));
  if (p->type->kind == TYPE_OPTION && p->type->element->kind == TYPE_PROCESS)
    checker_help(c, "it may be none: take its value with 'exists q in ...'");
  else if (type_is_number(p->type))
    checker_help(c, "%s(i) is the process with number i", c->m->roles[0].name);
  return node_error(c, a->at);
}

static struct node *call_from(struct typechecker *c, const struct ast *a) {
  if (model_steps(c->m) && c->in.where == IN_PROPERTY) {
    checker_error(c, E0404, a->word, "'from' belongs to rounds; these processes take steps");
    checker_help(c, "the sender of a message in flight is 'sender(m)', its receiver 'receiver(m)'");
    return node_error(c, a->at);
  }
  if (!may_read_received(c, a, "from"))
    return node_error(c, a->at);
  struct node *p = one_process(c, a);
  return node_is_error(p) ? p : node_unary(c, NODE_FROM, a->at, option_type(c, c->in.arrivals->type), p);
}

static void help_kinds(struct typechecker *c, const char *name) {
  struct name_choice there;
  name_choice_init(&there, c, name);
  for (uint32_t i = 0; i < c->m->nmessages; i++)
    name_choice_offer(&there, c->m->messages[i].name, c->m->messages[i].at);
  name_choice_help(&there, "");
}

/* pending(KIND): the messages of that kind in flight. */
static struct node *call_pending(struct typechecker *c, const struct ast *a) {
  if (!may_read_flight(c, a))
    return node_error(c, a->at);
  struct scope_symbol *s = a->n == 1 && a->kid[0]->kind == AST_NAME ? symbol_find(c, a->kid[0]->name) : NULL;
  if (!s || s->kind != SYMBOL_MESSAGE) {
    checker_error(c, E0307, a->word, "'pending' needs a kind of messages");
    if (a->n == 1 && a->kid[0]->kind == AST_NAME && !s && c->m->nmessages > 0)
      help_kinds(c, a->kid[0]->name);
    else if (c->m->nmessages > 0)
      checker_help(c, "write 'pending(%s)'", c->m->messages[0].name);
    return node_error(c, a->at);
  }
  s->used = true;
  struct type t = {.kind = TYPE_BAG, .element = c->m->messages[s->index].type};
  if (!t.element || t.element->kind == TYPE_ERROR)
    return node_error(c, a->at);
  struct node *n = node_new(c, NODE_PENDING, a->at, type_intern(c, t), 0);
  n->index = s->index;
  return n;
}

static struct node *call_receiver(struct typechecker *c, const struct ast *a) {
  struct scope_symbol *s = a->n == 1 && a->kid[0]->kind == AST_NAME ? symbol_find(c, a->kid[0]->name) : NULL;
  if (!s || s->kind != SYMBOL_SLOT || !s->message || c->in.where != IN_PROPERTY) {
    checker_error(c, E0411, a->word, "'receiver' needs a message that 'm in pending(...)' binds");
    return node_error(c, a->at);
  }
  struct node *n = node_new(c, NODE_RECEIVER, a->at, any_process_type(c), 0);
  n->index = s->index;
  s->used = true;
  return n;
}

static struct node *call_sender(struct typechecker *c, const struct ast *a) {
  const struct scope_symbol *s = a->n == 1 && a->kid[0]->kind == AST_NAME ? symbol_find(c, a->kid[0]->name) : NULL;
  if (!s || s->kind != SYMBOL_SLOT || !s->message) {
    if (model_steps(c->m)) {
      checker_error(c, E0411, a->word, "'sender' needs a message: one that 'on m: ...' or 'm in Q' binds");
      checker_help(c, c->in.where == IN_PROPERTY
                          ? "in a property: 'exists m in pending(KIND): sender(m) == p'"
                          : "write 'on m: KIND { ... }', or name the sender: 'on KIND from q { ... }'");
    } else
      checker_error(c, E0405, a->word, "'sender' needs a message that 'm in received' binds");
    return node_error(c, a->at);
  }
  const struct type *type = c->in.where == IN_PROPERTY ? any_process_type(c) : sender_type(c);
  struct node *n = node_new(c, NODE_SENDER, a->at, type, 0);
  n->index = s->index;
  symbol_find(c, a->kid[0]->name)->used = true;
  return n;
}

static struct node *call_number(struct typechecker *c, const struct ast *a) {
  struct node *p = one_process(c, a);
  if (node_is_error(p))
    return p;
  if (c->in.where == IN_PROPERTY || c->in.where == IN_ENVIRONMENT) {
    checker_error(c, E0415, a->word, "'number' cannot be used in a property or an environment");
    checker_help(
        c,
        "they speak of processes by 'forall' and 'exists', or of a certain one, '%s(1)'; a variable can store a "
        "number: 'var id: 1..n = number(me)'",
        c->m->roles[0].name);
    return node_error(c, a->at);
  }
  uint32_t most = p->type->role == ROLE_ANY ? c->m->nprocesses : c->m->roles[p->type->role].count;
  return node_unary(c, NODE_NUMBER_OF, a->at, range_type(c, 1, most), p);
}

static struct node *call_sequence(struct typechecker *c, const struct ast *a) {
  enum op op = is(a, "first") ? NODE_FIRST : is(a, "last") ? NODE_LAST : NODE_FRONT;
  struct node *s = one_argument(c, a, "one sequence");
  if (node_is_error(s))
    return s;
  if (s->type->kind != TYPE_SEQUENCE || !type_is_known(s->type)) {
    checker_error(c, E0303, a->kid[0]->at, "'%s' needs a sequence, not %s", a->name, type_text(c, s->type));
    return node_error(c, a->at);
  }
  return node_unary(c, op, a->at, op == NODE_FRONT ? s->type : s->type->element, s);
}

static struct node *call_built_in(struct typechecker *c, const struct ast *a) {
  enum op op;
  if (is_aggregate(a->name, &op))
    return aggregate_call(c, a, op);
  if (is(a, "from"))
    return call_from(c, a);
  if (is(a, "sender"))
    return call_sender(c, a);
  if (is(a, "pending"))
    return call_pending(c, a);
  if (is(a, "receiver"))
    return call_receiver(c, a);
  if (is(a, "number"))
    return call_number(c, a);
  if (is(a, "initial"))
    return lower_initial(c, a);
  if (is(a, "first") || is(a, "last") || is(a, "front"))
    return call_sequence(c, a);
  if (is(a, "subsets")) {
    checker_error(c, E0313, a->word, "'subsets' can only be gone through: 'S in subsets(...)'");
    return node_error(c, a->at);
  }
  if (is(a, "at") && model_steps(c->m))
    return lower_at(c, a);
  if (is(a, "at")) {
    checker_error(c, E0404, a->word, "'at' belongs to processes with steps; these proceed in rounds");
    return node_error(c, a->at);
  }
  if (is(a, "HO") || is(a, "SHO")) {
    checker_error(c, E0314, a->word, "write %s[...] with brackets", a->name);
    return node_error(c, a->at);
  }
  unknown_name(c, E0201, a->name, a->word, "function");
  return node_error(c, a->at);
}

/* ---- processes and defs ---- */

/* P(i): numbers start at 1 and wrap around. */
static struct node *call_role(struct typechecker *c, const struct ast *a, uint32_t role) {
  struct node *i = one_argument(c, a, "one number");
  if (node_is_error(i))
    return i;
  if (!type_is_number(i->type) && i->type->kind != TYPE_ROUND) {
    checker_error(c, E0303, a->kid[0]->at, "'%s' needs a number, not %s", a->name, type_text(c, i->type));
    return node_error(c, a->at);
  }
  struct node *n = node_unary(c, NODE_PROCESS_AT, a->at, process_type(c, role), i);
  n->index = role;
  return n;
}

static bool def_allowed(struct typechecker *c, const struct ast *a, const struct def_info *info) {
  if (info->reads_processes && in_process(c)) {
    checker_error(c, E0403, a->word, "'%s' looks at processes from outside, so a process cannot use it", a->name);
    return false;
  }
  if (info->chooses && !choice_allowed(c)) {
    checker_error(c, E0406, a->word,
                  c->in.fixed ? "'%s' makes a free choice, and what is waited for is no choice"
                              : "'%s' makes a free choice, which only processes can",
                  a->name);
    return false;
  }
  if (info->reads_shared && (c->in.where == IN_INIT || c->in.where == IN_FILE || c->in.where == IN_GRAPH)) {
    checker_error(c, E0403, a->word, "'%s' reads what is shared, which cannot be read here", a->name);
    return false;
  }
  if (info->reads_ghost && in_process(c) && !c->in.ghost) {
    checker_error(c, E0403, a->word, "'%s' reads a ghost, so only ghosts and properties can use it", a->name);
    return false;
  }
  if (c->defs.current) {
    c->defs.current->reads_ghost |= info->reads_ghost;
    c->defs.current->reads_processes |= info->reads_processes;
    c->defs.current->chooses |= info->chooses;
    c->defs.current->reads_shared |= info->reads_shared;
  }
  return true;
}

static struct node *call_def(struct typechecker *c, const struct ast *a, uint32_t index) {
  uint32_t wanted = c->defs.list.at[index].nargs;
  const struct def_info *info = def_typecheck(c, index, a->word);
  struct node *n = node_new(c, NODE_CALL, a->at, info ? info->type : c->error, a->n);
  n->index = index;
  bool good = info && info->type->kind != TYPE_ERROR;
  if (a->n != wanted) {
    checker_error(c, E0307, a->word, "'%s' needs %u argument%s, not %u", a->name, wanted, wanted == 1 ? "" : "s", a->n);
    good = false;
  }
  for (uint32_t i = 0; i < a->n; i++) {
    const struct ast *kid = a->kid[i]->kind == AST_ITEM ? a->kid[i]->kid[0] : a->kid[i];
    n->kid[i] = lower_expr(c, kid);
    if (i < wanted)
      n->kid[i] = coerce_or_report(c, n->kid[i], c->defs.info.at[index].args[i],
                                   arena_printf(&c->m->arena, "argument %u of '%s'", i + 1, a->name));
    good &= !node_is_error(n->kid[i]);
  }
  return good && def_allowed(c, a, &c->defs.info.at[index]) ? n : node_error(c, a->at);
}

struct node *lower_call(struct typechecker *c, const struct ast *a) {
  struct scope_symbol *s = symbol_find(c, a->name);
  if (s && (s->kind == SYMBOL_DEF || s->kind == SYMBOL_ROLE)) {
    s->used = true;
    return s->kind == SYMBOL_DEF ? call_def(c, a, s->index) : call_role(c, a, s->index);
  }
  struct node *detector = !s && c->in.where == IN_ENVIRONMENT ? detector_predicate(c, a) : NULL;
  if (detector)
    return detector;
  enum op op;
  bool built_in = is_aggregate(a->name, &op) || is(a, "first") || is(a, "last") || is(a, "front") || is(a, "from") ||
                  is(a, "sender") || is(a, "number") || is(a, "initial") || is(a, "subsets") || is(a, "at");
  if (s && s->kind == SYMBOL_MESSAGE && !built_in)
    return lower_name(c, a);
  if (!s || built_in)
    return call_built_in(c, a);
  checker_error(c, E0209, a->word, "'%s' cannot be called", a->name);
  checker_help(c, "it is the %s declared at line %u", symbol_kind_text(s->kind), checker_line(c, s->at));
  return node_error(c, a->at);
}
