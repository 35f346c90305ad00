/* Calls: built-in functions, aggregates, processes by number, defs. */
#include "lang/check_internal.h"

#include <string.h>

static bool is(const struct ast *a, const char *name) { return strcmp(a->name, name) == 0; }

/* ---- aggregates ---- */

static const struct {
  const char *name;
  enum op op;
} aggregates[] = {
    {"min", NODE_MIN},           {"max", NODE_MAX},
    {"sum", NODE_SUM},           {"union", NODE_UNION_OF},
    {"pick", NODE_PICK},         {"random", NODE_RANDOM},
    {"majority", NODE_MAJORITY}, {"mostfrequent", NODE_MOSTFREQUENT},
};

bool is_aggregate(const char *name, enum op *op) {
  for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++)
    if (strcmp(aggregates[i].name, name) == 0) {
      *op = aggregates[i].op;
      return true;
    }
  return false;
}

static bool choice_allowed(const struct checker *c) {
  bool process = in_process(c) && c->in.where != IN_GRAPH && !c->in.fixed;
  return process || c->in.where == IN_DEF || c->in.where == IN_FILE;
}

/* Free choice belongs to the processes: a property or an environment must mean one thing. */
static bool may_choose(struct checker *c, const struct ast *a) {
  if (c->in.where == IN_DEF || c->in.where == IN_MEMBER_DEF)
    c->def->chooses = true;
  if (choice_allowed(c))
    return true;
  if (c->in.fixed) {
    fault(c, a->word, "'%s' is a free choice, and what is waited for is no choice", a->name);
    help(c, "choose in the block");
    return false;
  }
  fault(c, a->word, "'%s' is a free choice, which only processes can make", a->name);
  help(c, "a property says 'exists' or 'forall'");
  return false;
}

/* The aggregate's type, or NULL: reported. */
/* The interval that a sum lies in, if so many numbers of that type cannot leave 64 bits, in whatever order. */
static const struct type *sum_type(struct checker *c, const struct type *t, uint64_t most) {
  int64_t lo, hi;
  if (t->kind != TYPE_RANGE || most > INT32_MAX || __builtin_mul_overflow(t->lo < 0 ? t->lo : 0, (int64_t)most, &lo) ||
      __builtin_mul_overflow(t->hi > 0 ? t->hi : 0, (int64_t)most, &hi))
    return c->integer;
  return range_type(c, lo, hi);
}

static const struct type *aggregate_type(struct checker *c, const struct ast *a, enum op op,
                                         const struct node *element, uint64_t most) {
  const struct type *t = element->type;
  if (op == NODE_MIN || op == NODE_MAX) {
    const char *why = why_no_order(t);
    if (!why)
      return t;
    fault(c, a->word, "'%s' cannot be used here: %s", a->name, why);
    if (t->kind == TYPE_OPTION)
      help(c, "take the values that are there: '%s(v for m in ..., v in m.field)'", a->name);
    else if (t->kind == TYPE_PROCESS)
      help(c, "number(p) is the number of process p, counted from 1");
    return NULL;
  }
  if (op == NODE_SUM) {
    if (is_number(t))
      return sum_type(c, t, most);
    fault(c, element->at, "'sum' needs numbers, not %s", shown(c, t));
    return NULL;
  }
  if (op == NODE_UNION_OF && t->kind != TYPE_SET) {
    fault(c, element->at, "'union' needs sets, not %s", shown(c, t));
    return NULL;
  }
  if ((op == NODE_PICK || op == NODE_RANDOM) && !may_choose(c, a))
    return NULL;
  return op == NODE_MOSTFREQUENT ? set_of(c, t) : t;
}

struct node *aggregate_over(struct checker *c, const struct ast *a, enum op op,
                            struct node *element, struct generator *gen, uint32_t ngen) {
  const struct type *type = aggregate_type(c, a, op, element, most_bindings(c, gen, ngen));
  if (!type)
    return node_error(c, a->at);
  struct node *n = node_new(c, op, a->at, type, 1);
  n->kid[0] = element;
  n->gen = gen;
  n->ngen = ngen;
  return n;
}

/* f(collection) is f(x for x in collection); f(a, b) goes through the values given. */
static struct node *aggregate_call(struct checker *c, const struct ast *a, enum op op) {
  if (a->n == 0) {
    fault(c, a->word, "'%s' needs something to go through", a->name);
    return node_error(c, a->at);
  }
  bool counts = op == NODE_SUM || op == NODE_MAJORITY ||
                op == NODE_MOSTFREQUENT; /* repeated values count again */
  struct ast given = {.kind = counts ? AST_SEQUENCE : AST_SET,
                      .at = a->at,
                      .word = a->word,
                      .n = a->n,
                      .kid = a->kid};
  struct node *range = a->n == 1 ? lower_collection(c, a->kid[0]) : lower(c, &given);
  if (bad(range))
    return range;
  const struct type *type = range->type->element;
  if (!is_known(type)) {
    fault(c, a->at, "'%s' of nothing", a->name);
    return node_error(c, a->at);
  }
  uint32_t slots = c->slots;
  struct generator *gen = arena_alloc(&c->m->arena, sizeof *gen);
  *gen = (struct generator){
      .slot = slot_new(c), .range = range, .type = type, .name = "x", .at = a->at};
  c->slots = slots;
  return aggregate_over(c, a, op, node_slot(c, range->at, gen->slot, type), gen, 1);
}

/* ---- built-in functions ---- */

static struct node *one_argument(struct checker *c, const struct ast *a, const char *what) {
  if (a->n == 1 && a->kid[0]->kind != AST_ITEM)
    return lower(c, a->kid[0]);
  fault(c, a->word, "'%s' needs %s", a->name, what);
  return node_error(c, a->at);
}

static struct node *with_kid(struct checker *c, enum op op, const struct ast *a,
                             const struct type *type, struct node *kid) {
  struct node *n = node_new(c, op, a->at, type, 1);
  n->kid[0] = kid;
  return n;
}

static struct node *one_process(struct checker *c, const struct ast *a) {
  struct node *p = one_argument(c, a, "one process");
  if (bad(p) || p->type->kind == TYPE_PROCESS)
    return p;
  fault(c, a->kid[0]->at, "'%s' needs a process, not %s", a->name, shown(c, p->type));
  if (p->type->kind == TYPE_OPTION && p->type->element->kind == TYPE_PROCESS)
    help(c, "it may be none: take its value with 'exists q in ...'");
  else if (is_number(p->type))
    help(c, "%s(i) is the process with number i", c->m->roles[0].name);
  return node_error(c, a->at);
}

static struct node *call_from(struct checker *c, const struct ast *a) {
  if (!may_read_received(c, a, "from"))
    return node_error(c, a->at);
  struct node *p = one_process(c, a);
  return bad(p) ? p : with_kid(c, NODE_FROM, a, option_of(c, c->in.arrivals->type), p);
}

static struct node *call_sender(struct checker *c, const struct ast *a) {
  const struct symbol *s =
      a->n == 1 && a->kid[0]->kind == AST_NAME ? symbol_find(c, a->kid[0]->name) : NULL;
  if (!s || s->kind != SYMBOL_SLOT || !s->message) {
    if (model_steps(c->m))
      fault(c, a->word, "'sender' needs a message: one that 'on m: ...' or 'm in Q' binds");
    else
      fault(c, a->word, "'sender' needs a message that 'm in received' binds");
    return node_error(c, a->at);
  }
  struct node *n = node_new(c, NODE_SENDER, a->at, sender_type(c), 0);
  n->index = s->index;
  symbol_find(c, a->kid[0]->name)->used = true;
  return n;
}

static struct node *call_number(struct checker *c, const struct ast *a) {
  struct node *p = one_process(c, a);
  if (bad(p))
    return p;
  if (c->in.where == IN_PROPERTY || c->in.where == IN_ENVIRONMENT) {
    fault(c, a->word, "'number' cannot be used in a property or an environment");
    help(c, "they speak of processes by 'forall' and 'exists', so that processes may trade places");
    return node_error(c, a->at);
  }
  uint32_t most = p->type->role == ROLE_ANY ? c->m->nprocesses : c->m->roles[p->type->role].count;
  return with_kid(c, NODE_NUMBER_OF, a, range_type(c, 1, most), p);
}

static struct node *call_sequence(struct checker *c, const struct ast *a) {
  enum op op = is(a, "first") ? NODE_FIRST : is(a, "last") ? NODE_LAST : NODE_FRONT;
  struct node *s = one_argument(c, a, "one sequence");
  if (bad(s))
    return s;
  if (s->type->kind != TYPE_SEQUENCE || !is_known(s->type)) {
    fault(c, a->kid[0]->at, "'%s' needs a sequence, not %s", a->name, shown(c, s->type));
    return node_error(c, a->at);
  }
  return with_kid(c, op, a, op == NODE_FRONT ? s->type : s->type->element, s);
}

static struct node *call_built_in(struct checker *c, const struct ast *a) {
  enum op op;
  if (is_aggregate(a->name, &op))
    return aggregate_call(c, a, op);
  if (is(a, "from"))
    return call_from(c, a);
  if (is(a, "sender"))
    return call_sender(c, a);
  if (is(a, "number"))
    return call_number(c, a);
  if (is(a, "initial"))
    return lower_initial(c, a);
  if (is(a, "first") || is(a, "last") || is(a, "front"))
    return call_sequence(c, a);
  if (is(a, "subsets")) {
    fault(c, a->word, "'subsets' can only be gone through: 'S in subsets(...)'");
    return node_error(c, a->at);
  }
  if (is(a, "at") && model_steps(c->m))
    return lower_at(c, a);
  if (is(a, "at")) {
    fault(c, a->word, "'at' belongs to processes with steps; these proceed in rounds");
    return node_error(c, a->at);
  }
  if (is(a, "HO") || is(a, "SHO")) {
    fault(c, a->word, "write %s[...] with brackets", a->name);
    return node_error(c, a->at);
  }
  unknown_name(c, a->name, a->word, "function");
  return node_error(c, a->at);
}

/* ---- processes and defs ---- */

/* P(i): counting round the circle from 1. */
static struct node *call_role(struct checker *c, const struct ast *a, uint32_t role) {
  struct node *i = one_argument(c, a, "one number");
  if (bad(i))
    return i;
  if (!is_number(i->type) && i->type->kind != TYPE_ROUND) {
    fault(c, a->kid[0]->at, "'%s' needs a number, not %s", a->name, shown(c, i->type));
    return node_error(c, a->at);
  }
  struct node *n = with_kid(c, NODE_PROCESS_AT, a, process_type(c, role), i);
  n->index = role;
  return n;
}

static bool def_allowed(struct checker *c, const struct ast *a, const struct def_info *info) {
  if (info->remote && in_process(c)) {
    fault(c, a->word, "'%s' looks at processes from outside, so a process cannot use it", a->name);
    return false;
  }
  if (info->chooses && !choice_allowed(c)) {
    fault(c, a->word,
          c->in.fixed ? "'%s' makes a free choice, and what is waited for is no choice"
                      : "'%s' makes a free choice, which only processes can",
          a->name);
    return false;
  }
  if (info->shares &&
      (c->in.where == IN_INIT || c->in.where == IN_FILE || c->in.where == IN_GRAPH)) {
    fault(c, a->word, "'%s' reads what is shared, which cannot be read here", a->name);
    return false;
  }
  if (info->watches && in_process(c) && !c->in.ghost) {
    fault(c, a->word, "'%s' reads a ghost, so only ghosts and properties can use it", a->name);
    return false;
  }
  if (c->def) {
    c->def->watches |= info->watches;
    c->def->remote |= info->remote;
    c->def->chooses |= info->chooses;
    c->def->shares |= info->shares;
  }
  return true;
}

static struct node *call_def(struct checker *c, const struct ast *a, uint32_t index) {
  uint32_t wanted = c->defs.at[index].nargs;
  const struct def_info *info = def_ready(c, index, a->word);
  struct node *n = node_new(c, NODE_CALL, a->at, info ? info->type : c->error, a->n);
  n->index = index;
  bool good = info && info->type->kind != TYPE_ERROR;
  if (a->n != wanted) {
    fault(c, a->word, "'%s' needs %u argument%s, not %u", a->name, wanted, wanted == 1 ? "" : "s",
          a->n);
    good = false;
  }
  for (uint32_t i = 0; i < a->n; i++) {
    const struct ast *kid = a->kid[i]->kind == AST_ITEM ? a->kid[i]->kid[0] : a->kid[i];
    n->kid[i] = lower(c, kid);
    if (i < wanted)
      n->kid[i] = want(c, n->kid[i], c->def_info.at[index].args[i],
                       arena_printf(&c->m->arena, "argument %u of '%s'", i + 1, a->name));
    good &= !bad(n->kid[i]);
  }
  return good && def_allowed(c, a, &c->def_info.at[index]) ? n : node_error(c, a->at);
}

struct node *lower_call(struct checker *c, const struct ast *a) {
  struct symbol *s = symbol_find(c, a->name);
  if (s && (s->kind == SYMBOL_DEF || s->kind == SYMBOL_ROLE)) {
    s->used = true;
    return s->kind == SYMBOL_DEF ? call_def(c, a, s->index) : call_role(c, a, s->index);
  }
  struct node *detector = !s && c->in.where == IN_ENVIRONMENT ? detector_predicate(c, a) : NULL;
  if (detector)
    return detector;
  enum op op;
  bool built_in = is_aggregate(a->name, &op) || is(a, "first") || is(a, "last") || is(a, "front") ||
                  is(a, "from") || is(a, "sender") || is(a, "number") || is(a, "initial") ||
                  is(a, "subsets") || is(a, "at") || is(a, "sign");
  if (s && s->kind == SYMBOL_MESSAGE && !built_in)
    return lower_name(c, a);
  if (!s || built_in)
    return call_built_in(c, a);
  fault(c, a->word, "'%s' cannot be called", a->name);
  help(c, "it is the %s declared at line %u", symbol_kind_text(s->kind), line_of(c, s->at));
  return node_error(c, a->at);
}
