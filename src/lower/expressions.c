/* Expressions. Constants are folded here, so only terms that depend on free variables reach the solver. */
#include "lower/lowering.h"

#include "lower/environment_clauses.h"
#include "model/node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CALLS_MOST 200
#define DIVISORS_MOST 256

/* ---- refusals ---- */

void lower_refuse(struct lowering *l, struct span at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = snprintf(l->refusal.reason, sizeof l->refusal.reason, "%s", l->refusal_prefix);
  vsnprintf(l->refusal.reason + n, sizeof l->refusal.reason - (size_t)n, format, args);
  va_end(args);
  l->refusal.at = at;
  longjmp(*l->refused, 1);
}

void refuse_unknown_operator(struct lowering *l, const struct node *n) {
  lower_refuse(l, n->at, "'%s' is not encoded", op_text(n->op));
}

void refuse_unknown_type(struct lowering *l) { lower_refuse(l, l->at, "values of this type are not encoded"); }

/* ---- scopes ---- */

void scope_init(struct scope *s, struct lowering *l) {
  *s = (struct scope){.l = l, .path = EXPR_TRUE, .error = EXPR_FALSE, .halted = EXPR_FALSE};
  s->slot = arena_array(l->arena, l->model->nslots + 1, sizeof *s->slot);
  s->slot_sender = arena_array(l->arena, l->model->nslots + 1, sizeof *s->slot_sender);
}

void scope_of_process(struct scope *s, struct lowering *l, const struct sym_state *state, uint32_t p) {
  scope_init(s, l);
  s->me = p;
  s->role = model_role_of(l->model, p);
  s->point = state->point;
  s->phase = state->phase;
  uint32_t n = l->model->roles[s->role].nvars;
  s->vars = arena_array(l->arena, n + 1, sizeof *s->vars);
  if (n && state->of[p].vars)
    memcpy(s->vars, state->of[p].vars, n * sizeof *s->vars);
  s->globals = arena_array(l->arena, l->model->nglobals + 1, sizeof *s->globals);
  memcpy(s->globals, state->globals, l->model->nglobals * sizeof *s->globals);
}

void scope_of_formula(struct scope *s, struct lowering *l, const struct sym_state *before,
                      const struct sym_state *after) {
  scope_init(s, l);
  s->before = before;
  s->after = after;
  s->globals = before->globals;
  s->point = before->point;
  s->phase = before->phase;
}

truth scope_narrow(struct scope *s, truth condition) {
  truth old = s->path;
  s->path = expr_and(s->l->graph, old, condition);
  return old;
}

void scope_fail(struct scope *s, truth condition, struct span at, const char *format, ...) {
  if (condition == EXPR_FALSE)
    return;
  truth when = expr_and(s->l->graph, s->path, condition);
  if (!s->l->fail) {
    s->error = expr_or(s->l->graph, s->error, when);
    return;
  }
  if (when == EXPR_FALSE)
    return;
  char text[200];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  s->l->fail(s, when, at, text);
}

/* Evaluates under a further condition. */
static struct sym_value *under(struct scope *s, truth condition, const struct node *n) {
  truth old = scope_narrow(s, condition);
  struct sym_value *v = lower_node(s, n);
  s->path = old;
  return v;
}

struct sym_value *lower_checked(struct scope *s, const struct type *t, struct sym_value *v, struct span at,
                                const char *what) {
  truth fails = expr_not(s->l->graph, sym_fits(s->l, t, v));
  if (t->kind == TYPE_RANGE)
    scope_fail(s, fails, at, "%s outside %lld..%lld", what, (long long)t->lo, (long long)t->hi);
  else
    scope_fail(s, fails, at, "%s outside its type", what);
  return sym_bounded(s->l, t, v);
}

/* ---- processes and messages ---- */

truth sym_process_active(struct lowering *l, const struct sym_process *p) {
  return expr_not(l->graph, truth_any(l->graph, (truth[]){p->crashed, p->halted, p->byzantine}, 3));
}

truth sym_process_faulty(struct lowering *l, const struct sym_process *p) {
  return truth_any(l->graph, (truth[]){p->crashed, p->recovered, p->omits_send, p->omits_receive, p->byzantine}, 5);
}

/* Faulty processes of a role beyond the role's own limit count against the clauses for all processes. */
truth faults_limited(struct lowering *l, const struct environment *env, enum clause_kind kind, const truth *faulty,
                     bool recovering) {
  const struct model *m = l->model;
  struct number excess = number_of(0);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    int64_t own = fault_limit(env, kind, r, recovering, role->count);
    struct number n = number_count(l->graph, faulty + role->first, role->count), over;
    if (!number_plus(l->graph, n, number_of(-own), &over) ||
        !number_plus(l->graph, excess,
                     number_if(l->graph, number_less(l->graph, number_of(own), n), over, number_of(0)), &excess))
      lower_refuse(l, env->at, "limits too large to follow");
  }
  return number_at_most(l->graph, excess, number_of(fault_limit(env, kind, ROLE_ANY, recovering, m->nprocesses)));
}

truth process_is(struct scope *s, const struct sym_value *v, uint32_t p) {
  return number_is(s->l->graph, v->number, p);
}

static struct sym_value *process_set(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  truth *has = arena_array(l->arena, l->model->nprocesses + 1, sizeof *has);
  for (uint32_t p = 0; p < l->model->nprocesses; p++) {
    if (n->op == NODE_ROLE_SET) {
      bool in = n->index == ROLE_ANY || model_role_of(l->model, p) == n->index;
      /* role sets exclude Byzantine processes in properties but not in clauses, since any process may be heard */
      has[p] = !in ? EXPR_FALSE : s->before && !s->heard ? expr_not(l->graph, s->before->of[p].byzantine) : EXPR_TRUE;
    } else {
      truth faulty = sym_process_faulty(l, &s->before->of[p]);
      has[p] = n->op == NODE_FAULTY ? faulty : expr_not(l->graph, faulty);
    }
  }
  return sym_identities(l, has);
}

static struct sym_value *lower_heard(struct scope *s) {
  struct lowering *l = s->l;
  truth *has = arena_array(l->arena, l->model->nprocesses + 1, sizeof *has);
  for (uint32_t p = 0; p < l->model->nprocesses; p++) {
    has[p] = EXPR_FALSE;
    for (uint32_t k = 0; k < s->nreceived; k++)
      has[p] = expr_or(l->graph, has[p],
                       expr_and(l->graph, s->received[k].there, number_is(l->graph, s->received[k].sender, p)));
  }
  return sym_identities(l, has);
}

static struct sym_value *lower_heard_of(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct sym_value *p = lower_node(s, n->kid[0]);
  truth *has = arena_array(l->arena, l->model->nprocesses + 1, sizeof *has);
  for (uint32_t q = 0; q < l->model->nprocesses; q++) {
    has[q] = EXPR_FALSE;
    for (int64_t i = p->number.lo; i <= p->number.hi; i++) {
      truth heard = s->heard[i][q];
      if (n->op == NODE_SHO)
        heard = expr_and(l->graph, heard, expr_not(l->graph, s->corrupt[i][q]));
      has[q] = expr_or(l->graph, has[q], expr_and(l->graph, process_is(s, p, (uint32_t)i), heard));
    }
  }
  return sym_identities(l, has);
}

static struct sym_value *lower_from(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct sym_value *q = lower_node(s, n->kid[0]), *found = NULL;
  truth there = EXPR_FALSE;
  for (uint32_t k = s->nreceived; k-- > 0;) {
    truth it = expr_and(l->graph, s->received[k].there, number_same(l->graph, q->number, s->received[k].sender));
    if (it == EXPR_FALSE)
      continue;
    found = found ? sym_ite(l, it, s->received[k].message, found) : s->received[k].message;
    there = expr_or(l->graph, there, it);
  }
  return sym_option(l, there, found);
}

static struct sym_value *lower_process_at(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  const struct role *role = &l->model->roles[n->index];
  struct number i = lower_node(s, n->kid[0])->number, at;
  if (!number_plus(l->graph, i, number_of(-1), &i) || !number_modulo(l->graph, i, role->count, &i) ||
      !number_plus(l->graph, i, number_of(role->first), &at))
    lower_refuse(l, n->at, "numbers too large to follow");
  return sym_number(l, at);
}

static struct sym_value *lower_number_of(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct number p = lower_node(s, n->kid[0])->number, at = number_of(1);
  for (int64_t i = p.lo; i <= p.hi; i++) {
    int64_t number = i - l->model->roles[model_role_of(l->model, i)].first + 1;
    at = i == p.lo ? number_of(number) : number_if(l->graph, number_is(l->graph, p, i), number_of(number), at);
  }
  return sym_number(l, at);
}

/* p.x, where p need not be a constant. */
static struct sym_value *lower_remote(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct number p = lower_node(s, n->kid[0])->number;
  const struct sym_state *state = n->primed ? s->after : s->before;
  struct sym_value *found = NULL;
  for (int64_t i = p.lo; i <= p.hi; i++) {
    uint32_t r = model_role_of(l->model, i), var = l->model->fields[n->index].var[r];
    truth it = number_is(l->graph, p, i);
    if (it == EXPR_FALSE)
      continue;
    const struct role *role = &l->model->roles[r];
    uint32_t number = (uint32_t)i - role->first + 1;
    if (var == UINT32_MAX) {
      scope_fail(s, it, n->at, "process %s(%u) has no variable '%s'", role->name, number,
                 l->model->fields[n->index].name);
      continue;
    }
    scope_fail(s, expr_and(l->graph, it, state->of[i].byzantine), n->at,
               "process %s(%u) is Byzantine and has no variables", role->name, number);
    struct sym_value *v = n->op == NODE_INITIAL ? state->of[i].initial[var] : state->of[i].vars[var];
    found = found ? sym_ite(l, it, v, found) : v;
  }
  return found ? found : sym_default(l, n->type);
}

/* Evaluates an expression from another place, such as the body of a definition, with its own frame of slots. */
static struct sym_value *lower_apart(struct scope *s, const struct node *body, struct sym_value **frame) {
  struct sym_value **old = s->slot;
  struct number *old_senders = s->slot_sender;
  s->slot = frame;
  s->slot_sender = arena_array(s->l->arena, s->l->model->nslots + 1, sizeof *s->slot_sender);
  struct sym_value *v = lower_node(s, body);
  s->slot = old;
  s->slot_sender = old_senders;
  return v;
}

static struct sym_value *lower_call(struct scope *s, const struct node *n) {
  const struct def *def = &s->l->model->defs[n->index];
  if (++s->depth > CALLS_MOST)
    lower_refuse(s->l, n->at, "'%s' calls itself too often to be written out", def->name);
  struct sym_value **frame = arena_array(s->l->arena, s->l->model->nslots + 1, sizeof *frame);
  for (uint32_t i = 0; i < n->n; i++)
    frame[i] = lower_node(s, n->kid[i]);
  struct sym_value *v = lower_apart(s, def->body, frame);
  s->depth--;
  return v;
}

struct sym_value *lower_neighbours(struct scope *s) {
  return lower_apart(s, s->l->model->roles[s->role].graph,
                     arena_array(s->l->arena, s->l->model->nslots + 1, sizeof *s->slot));
}

/* ---- arithmetic ---- */

struct number lower_sum(struct lowering *l, struct number a, struct number b) {
  struct number sum;
  if (!number_plus(l->graph, a, b, &sum))
    lower_refuse(l, l->at, "numbers too large to follow");
  return sum;
}

static struct number divided(struct scope *s, const struct node *n, struct number a, int64_t by) {
  struct number result;
  if (!(n->op == NODE_MOD ? number_modulo : number_divide)(s->l->graph, a, by, &result))
    lower_refuse(s->l, n->at, "numbers too large to follow");
  return result;
}

/* A divisor that is no constant: a case distinction over its possible values. */
static struct number lower_division(struct scope *s, const struct node *n, struct number a, struct number b) {
  struct expr_graph *c = s->l->graph;
  struct number result = number_of(0);
  scope_fail(s, number_is(c, b, 0), n->at, "division by zero");
  if (number_constant(b))
    return b.lo == 0 ? result : divided(s, n, a, b.lo);
  if (b.lo == NUMBER_LEAST || b.hi == NUMBER_MOST || b.lo < b.hi - DIVISORS_MOST)
    lower_refuse(s->l, n->at, "a division by one of too many numbers");
  for (int64_t d = b.lo; d <= b.hi; d++)
    if (d != 0)
      result = number_if(c, number_is(c, b, d), divided(s, n, a, d), result);
  return result;
}

/* No format reports an overflow, which is an error of the model, so exporters refuse numbers that some format cannot
   hold. */
void refuse_large_numbers(struct lowering *l, struct span at) {
  if (l->exports && l->graph->large)
    lower_refuse(l, at, "numbers beyond %d", EXPR_NUMBER_MOST);
}

/* The smallest 64-bit number cannot be negated. */
static bool is_smallest(struct number n) { return number_constant(n) && n.lo == INT64_MIN; }

static struct sym_value *lower_arithmetic(struct scope *s, const struct node *n) {
  struct expr_graph *c = s->l->graph;
  struct number a = lower_node(s, n->kid[0])->number, v = number_of(0);
  struct number b = n->n > 1 ? lower_node(s, n->kid[1])->number : number_of(0);
  bool ok = false;
  if (is_smallest(a) || is_smallest(b))
    lower_refuse(s->l, n->at, "numbers too large to follow");
  switch (op_number(n->op)) {
  case NODE_ADD:
    ok = number_plus(c, a, b, &v);
    break;
  case NODE_SUB:
    ok = number_plus(c, a, number_negative(c, b), &v);
    break;
  case NODE_MUL:
    ok = number_times(c, a, b, &v);
    break;
  case NODE_NEG:
    return sym_number(s->l, number_negative(c, a));
  case NODE_DIV:
  case NODE_MOD:
    return sym_number(s->l, lower_division(s, n, a, b));
  }
  if (!ok)
    lower_refuse(s->l, n->at, "numbers too large to follow");
  return sym_number(s->l, v);
}

/* ---- relations and sets ---- */

static truth lower_in(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  const struct node *of = n->kid[1];
  struct sym_value *v = lower_node(s, n->kid[0]);
  truth any = EXPR_FALSE;
  if (of->op == NODE_INTERVAL) {
    truth low = number_at_most(l->graph, lower_node(s, of->kid[0])->number, v->number);
    return expr_and(l->graph, low, number_at_most(l->graph, v->number, under(s, low, of->kid[1])->number));
  }
  if (of->op == NODE_DOMAIN)
    return sym_fits(l, of->type->element, v);
  if (of->op == NODE_RECEIVED) {
    for (uint32_t k = 0; k < s->nreceived; k++)
      any = expr_or(l->graph, any, expr_and(l->graph, s->received[k].there, sym_equal(l, s->received[k].message, v)));
    return any;
  }
  struct sym_value *c = lower_node(s, of);
  if (c->kind == SYM_OPTION)
    return c->part[0] ? expr_and(l->graph, c->truth, sym_equal(l, c->part[0], v)) : EXPR_FALSE;
  if (c->kind == SYM_SEQUENCE) {
    for (uint32_t i = 0; i < c->n; i++)
      any = expr_or(l->graph, any,
                    expr_and(l->graph, number_less(l->graph, number_of(i), c->number), sym_equal(l, c->part[i], v)));
    return any;
  }
  return sym_has(l, c, v);
}

static struct number lower_cardinality(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  const struct node *of = n->kid[0];
  if (of->op == NODE_RECEIVED || of->op == NODE_HEARD) {
    truth *there = arena_array(l->arena, s->nreceived + 1, sizeof *there);
    for (uint32_t k = 0; k < s->nreceived; k++)
      there[k] = s->received[k].there;
    return number_count(l->graph, there, s->nreceived);
  }
  struct sym_value *v = lower_node(s, of);
  if (v->kind == SYM_OPTION)
    return number_count(l->graph, &v->truth, 1);
  return v->kind == SYM_SEQUENCE ? v->number : sym_size(l, v);
}

static truth lower_relation(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct sym_value *a = lower_node(s, n->kid[0]), *b = lower_node(s, n->kid[1]);
  switch (op_number(n->op)) {
  case NODE_EQ:
    return sym_equal(l, a, b);
  case NODE_NE:
    return expr_not(l->graph, sym_equal(l, a, b));
  case NODE_LT:
    return sym_less(l, a, b);
  case NODE_LE:
    return expr_not(l->graph, sym_less(l, b, a));
  case NODE_GT:
    return sym_less(l, b, a);
  case NODE_GE:
    return expr_not(l->graph, sym_less(l, a, b));
  }
  refuse_unknown_operator(l, n);
}

static struct sym_value *lower_set_operator(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct sym_value *a = lower_node(s, n->kid[0]), *b = lower_node(s, n->kid[1]);
  switch (op_number(n->op)) {
  case NODE_UNION:
    return sym_union(l, a, b);
  case NODE_INTERSECTION:
    return sym_intersect(l, a, b);
  case NODE_DIFFERENCE:
    return sym_minus(l, a, b);
  case NODE_SUBSET:
    return sym_truth(l, sym_subset(l, a, b));
  }
  refuse_unknown_operator(l, n);
}

static struct sym_value *lower_set(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  truth *guard = arena_array(l->arena, n->n + 1, sizeof *guard);
  struct sym_value **member = arena_array(l->arena, n->n + 1, sizeof *member);
  for (uint32_t i = 0; i < n->n; i++) {
    guard[i] = EXPR_TRUE;
    member[i] = lower_node(s, n->kid[i]);
  }
  return sym_set_of(l, n->type, guard, member, n->n);
}

static struct sym_value *lower_domain(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  const struct type *t = n->type->element;
  if (t->count > 4096)
    lower_refuse(l, n->at, "a type with too many values to go through");
  size_t count = (size_t)t->count;
  truth *guard = arena_array(l->arena, count + 1, sizeof *guard);
  struct sym_value **member = arena_array(l->arena, count + 1, sizeof *member);
  for (size_t i = 0; i < count; i++) {
    guard[i] = EXPR_TRUE;
    member[i] = sym_nth_value(l, t, i);
  }
  return sym_set_of(l, n->type, guard, member, count);
}

/* ---- records, arrays, sequences ---- */

static struct sym_value *parts(struct lowering *l, enum sym_value_kind kind, uint64_t n) {
  struct sym_value *v = sym_parts(l, kind, n);
  v->number = number_of((int64_t)n);
  return v;
}

static struct sym_value *lower_parts(struct scope *s, const struct node *n) {
  struct sym_value *v = parts(s->l, n->op == NODE_RECORD ? SYM_PARTS : SYM_SEQUENCE, n->n);
  for (uint32_t i = 0; i < n->n; i++)
    v->part[i] = lower_node(s, n->kid[i]);
  return v;
}

static struct sym_value *lower_index(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  const struct type *t = n->kid[0]->type->index;
  struct sym_value *i = lower_checked(s, t, lower_node(s, n->kid[1]), n->kid[1]->at, "index"), *found = NULL;
  struct sym_value *array = lower_node(s, n->kid[0]);
  for (uint32_t k = array->n; k-- > 0;) {
    truth it = sym_equal(l, i, sym_nth_value(l, t, k));
    if (it != EXPR_FALSE)
      found = found ? sym_ite(l, it, array->part[k], found) : array->part[k];
  }
  return found ? found : sym_default(l, n->type);
}

static struct sym_value *lower_array_of(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  const struct type *index = n->type->index;
  if (index->count > 4096)
    lower_refuse(l, n->at, "an array with too many elements");
  struct sym_value *v = parts(l, SYM_PARTS, index->count);
  for (uint32_t i = 0; i < v->n; i++) {
    s->slot[n->gen[0].slot] = sym_nth_value(l, index, i);
    v->part[i] = lower_checked(s, n->type->element, lower_node(s, n->kid[0]), n->kid[0]->at, "value");
  }
  return v;
}

/* The position of the second sequence depends on the length of the first. */
static struct sym_value *lower_append(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct sym_value *a = lower_node(s, n->kid[0]), *b = lower_node(s, n->kid[1]);
  struct sym_value *v = parts(l, SYM_SEQUENCE, (uint64_t)a->n + b->n);
  v->number = lower_sum(l, a->number, b->number);
  for (uint32_t i = 0; i < v->n; i++) {
    struct sym_value *at = i < a->n ? a->part[i] : NULL;
    for (int64_t length = a->number.lo; length <= a->number.hi && length <= i; length++)
      if (i - length < b->n) {
        struct sym_value *other = b->part[i - length];
        at = at ? sym_ite(l, number_is(l->graph, a->number, length), other, at) : other;
      }
    v->part[i] = at ? at : i > 0 ? v->part[i - 1] : NULL; /* beyond the length: never read */
    if (!v->part[i])
      v->n = i;
  }
  return v;
}

static struct sym_value *lower_front(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct sym_value *a = lower_node(s, n->kid[0]), *v = parts(l, SYM_SEQUENCE, a->n);
  truth empty = number_is(l->graph, a->number, 0);
  scope_fail(s, empty, n->at, "'front' of an empty sequence");
  memcpy(v->part, a->part, a->n * sizeof *a->part);
  v->number = lower_sum(l, a->number, number_of(-1));
  v->number = number_if(l->graph, empty, number_of(0), v->number);
  v->number = number_bounded(l->graph, v->number, 0, a->number.hi > 0 ? a->number.hi - 1 : 0);
  return v;
}

/* ---- everything ---- */

truth lower_truth(struct scope *s, const struct node *n) { return lower_node(s, n)->truth; }

static truth lower_logic(struct scope *s, const struct node *n) {
  struct expr_graph *c = s->l->graph;
  truth a = lower_truth(s, n->kid[0]);
  if (n->op == NODE_NOT)
    return expr_not(c, a);
  truth decides = n->op == NODE_OR ? EXPR_TRUE : EXPR_FALSE; /* short circuit: the right side is not evaluated */
  truth go = n->op == NODE_OR ? expr_not(c, a) : a;
  if (a == decides)
    return n->op == NODE_IMPLIES ? EXPR_TRUE : decides;
  truth b = under(s, go, n->kid[1])->truth;
  return n->op == NODE_OR ? expr_or(c, a, b) : n->op == NODE_AND ? expr_and(c, a, b) : expr_implies(c, a, b);
}

static struct sym_value *lower_if(struct scope *s, const struct node *n) {
  truth c = lower_truth(s, n->kid[0]);
  if (c == EXPR_TRUE || c == EXPR_FALSE)
    return lower_node(s, n->kid[c == EXPR_TRUE ? 1 : 2]);
  struct sym_value *a = under(s, c, n->kid[1]);
  return sym_ite(s->l, c, a, under(s, expr_not(s->l->graph, c), n->kid[2]));
}

static struct sym_value *lower_otherwise(struct scope *s, const struct node *n) {
  struct sym_value *v = NULL;
  truth there = lower_maybe(s, n->kid[0], &v);
  for (uint32_t i = v ? otherwise_wraps(n) : 0; i > 0; i--)
    v = sym_option(s->l, EXPR_TRUE, v);
  if (there == EXPR_TRUE)
    return v;
  struct sym_value *other = under(s, expr_not(s->l->graph, there), n->kid[1]);
  return v ? sym_ite(s->l, there, v, other) : other;
}

static struct sym_value *lower_simple(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  const struct role *role = &l->model->roles[s->role];
  switch (op_number(n->op)) {
  case NODE_CONST:
  case NODE_PARAM:
    return sym_const(l, n->type, n->constant);
  case NODE_SLOT:
    return s->slot[n->index];
  case NODE_VAR:
    return s->vars[n->index];
  case NODE_GLOBAL:
    return n->primed ? s->after->globals[n->index] : s->globals[n->index];
  case NODE_ME:
    return sym_number(l, number_of(s->me));
  case NODE_LOOP:
    return sym_number(l, number_of(l->model->points[s->point].loop));
  case NODE_PHASE:
    return sym_number(l, s->phase);
  case NODE_ROUND_NUMBER:
    return sym_number(l, s->before->rounds);
  case NODE_SENDER:
    return sym_number(l, s->slot_sender[n->index]);
  case NODE_NEXT:
    return sym_number(l, number_of(role->first + (s->me - role->first + 1) % role->count));
  }
  refuse_unknown_operator(l, n);
}

struct sym_value *lower_node(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct sym_value *v = NULL;
  struct span outer = l->at;
  l->at = n->at;
  if (l->stop && *l->stop)
    lower_refuse(l, n->at, "stopped");
  switch (n->op) {
  case NODE_CONST:
  case NODE_PARAM:
  case NODE_SLOT:
  case NODE_VAR:
  case NODE_GLOBAL:
  case NODE_ME:
  case NODE_LOOP:
  case NODE_PHASE:
  case NODE_ROUND_NUMBER:
  case NODE_SENDER:
  case NODE_NEXT:
    v = lower_simple(s, n);
    break;
  case NODE_HEARD:
    v = lower_heard(s);
    break;
  case NODE_FROM:
    v = lower_from(s, n);
    break;
  case NODE_NUMBER_OF:
    v = lower_number_of(s, n);
    break;
  case NODE_PROCESS_AT:
    v = lower_process_at(s, n);
    break;
  case NODE_NEIGHBOURS:
    v = lower_neighbours(s);
    break;
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
    v = process_set(s, n);
    break;
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE:
    v = lower_remote(s, n);
    break;
  case NODE_HO:
  case NODE_SHO:
    v = lower_heard_of(s, n);
    break;
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG:
    v = lower_arithmetic(s, n);
    refuse_large_numbers(l, n->at);
    break;
  case NODE_NOT:
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
    v = sym_truth(l, lower_logic(s, n));
    break;
  case NODE_IF:
    v = lower_if(s, n);
    break;
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    v = sym_truth(l, lower_relation(s, n));
    break;
  case NODE_IN:
    v = sym_truth(l, lower_in(s, n));
    break;
  case NODE_SUBSET:
  case NODE_UNION:
  case NODE_INTERSECTION:
  case NODE_DIFFERENCE:
    v = lower_set_operator(s, n);
    break;
  case NODE_CARD:
    v = sym_number(l, lower_cardinality(s, n));
    break;
  case NODE_DOMAIN:
    v = lower_domain(s, n);
    break;
  case NODE_SET:
    v = lower_set(s, n);
    break;
  case NODE_NARROW:
    v = lower_checked(s, n->type, lower_node(s, n->kid[0]), n->at, "value");
    break;
  case NODE_WRAP:
    v = sym_option(l, EXPR_TRUE, lower_node(s, n->kid[0]));
    break;
  case NODE_OTHERWISE:
    v = lower_otherwise(s, n);
    break;
  case NODE_RECORD:
  case NODE_SEQUENCE:
    v = lower_parts(s, n);
    break;
  case NODE_SELECT:
    v = lower_node(s, n->kid[0])->part[n->index];
    break;
  case NODE_ARRAY_OF:
    v = lower_array_of(s, n);
    break;
  case NODE_INDEX:
    v = lower_index(s, n);
    break;
  case NODE_APPEND:
    v = lower_append(s, n);
    break;
  case NODE_FRONT:
    v = lower_front(s, n);
    break;
  case NODE_CALL:
    v = lower_call(s, n);
    break;
  case NODE_RECEIVED:
  case NODE_INTERVAL:
  case NODE_SUBSETS:
  case NODE_ALWAYS:
  case NODE_EVENTUALLY:
  case NODE_UNTIL:
    lower_refuse(l, n->at, "'%s' has no value in a single state", op_text(n->op));
  case NODE_QUIESCENT:
  case NODE_DEADLOCKED:
  case NODE_PENDING:
  case NODE_RECEIVER:
    lower_refuse(l, n->at, "'%s' is about messages in flight", op_text(n->op));
  case NODE_SET_OF:
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_COUNT:
  case NODE_MIN:
  case NODE_MAX:
  case NODE_SUM:
  case NODE_UNION_OF:
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_MOSTFREQUENT:
  case NODE_MAJORITY:
  case NODE_FIRST:
  case NODE_LAST:
    v = lower_aggregate(s, n);
    break;
  case NODE_OPS:
    break;
  }
  if (!v)
    refuse_unknown_operator(l, n);
  l->at = outer;
  return v;
}
