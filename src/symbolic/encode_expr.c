/* Expressions. Constants are folded here, so only terms that depend on free variables reach the solver. */
#include "symbolic/encode.h"

#include <string.h>

#define CALLS_MOST 200
#define DIVISORS_MOST 256

/* ---- scopes ---- */

void scope_init(struct scope *s, struct encoder *e) {
  *s = (struct scope){.e = e, .path = e->t.yes, .error = e->t.no, .halted = e->t.no};
  s->slot = arena_array(&e->arena, e->model->nslots + 1, sizeof *s->slot);
  s->slot_sender = arena_array(&e->arena, e->model->nslots + 1, sizeof *s->slot_sender);
}

void scope_of_process(struct scope *s, struct encoder *e, const struct sym_state *state, uint32_t p) {
  scope_init(s, e);
  s->me = p;
  s->role = model_role_of(e->model, p);
  s->point = state->point;
  s->phase = state->phase;
  uint32_t n = e->model->roles[s->role].nvars;
  s->vars = arena_array(&e->arena, n + 1, sizeof *s->vars);
  if (n && state->of[p].vars)
    memcpy(s->vars, state->of[p].vars, n * sizeof *s->vars);
  s->globals = arena_array(&e->arena, e->model->nglobals + 1, sizeof *s->globals);
  memcpy(s->globals, state->globals, e->model->nglobals * sizeof *s->globals);
}

void *arena_grown(struct arena *a, void *at, size_t *cap, size_t n, size_t each) {
  if (n < *cap)
    return at;
  *cap = *cap ? 2 * *cap : 8;
  void *grown = arena_array(a, *cap, each);
  if (n)
    memcpy(grown, at, n * each);
  return grown;
}

truth scope_narrow(struct scope *s, truth condition) {
  truth old = s->path;
  s->path = truth_and(&s->e->t, old, condition);
  return old;
}

void scope_fail(struct scope *s, truth condition) {
  if (condition != s->e->t.no)
    s->error = truth_or(&s->e->t, s->error, truth_and(&s->e->t, s->path, condition));
}

/* Evaluates under a further condition. */
static struct sym_value *under(struct scope *s, truth condition, const struct node *n) {
  truth old = scope_narrow(s, condition);
  struct sym_value *v = encode_node(s, n);
  s->path = old;
  return v;
}

struct sym_value *encode_checked(struct scope *s, const struct type *t, struct sym_value *v) {
  scope_fail(s, truth_not(&s->e->t, sym_fits(s->e, t, v)));
  return sym_bounded(s->e, t, v);
}

/* ---- processes and messages ---- */

truth sym_process_active(struct encoder *e, const struct sym_process *p) {
  return truth_not(&e->t, truth_any(&e->t, (truth[]){p->crashed, p->halted, p->byzantine}, 3));
}

truth sym_process_faulty(struct encoder *e, const struct sym_process *p) {
  return truth_any(&e->t, (truth[]){p->crashed, p->recovered, p->omits_send, p->omits_receive, p->byzantine}, 5);
}

truth process_is(struct scope *s, const struct sym_value *v, uint32_t p) { return number_is(&s->e->t, v->number, p); }

static struct sym_value *process_set(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  truth *has = arena_array(&e->arena, e->model->nprocesses + 1, sizeof *has);
  for (uint32_t p = 0; p < e->model->nprocesses; p++) {
    if (n->op == NODE_ROLE_SET) {
      bool in = n->index == ROLE_ANY || model_role_of(e->model, p) == n->index;
      /* role sets exclude Byzantine processes in properties but not in clauses, since any process may be heard */
      has[p] = !in ? e->t.no : s->before && !s->heard ? truth_not(&e->t, s->before->of[p].byzantine) : e->t.yes;
    } else {
      truth faulty = sym_process_faulty(e, &s->before->of[p]);
      has[p] = n->op == NODE_FAULTY ? faulty : truth_not(&e->t, faulty);
    }
  }
  return sym_identities(e, has);
}

static struct sym_value *encode_heard(struct scope *s) {
  struct encoder *e = s->e;
  truth *has = arena_array(&e->arena, e->model->nprocesses + 1, sizeof *has);
  for (uint32_t p = 0; p < e->model->nprocesses; p++) {
    has[p] = e->t.no;
    for (uint32_t k = 0; k < s->nreceived; k++)
      has[p] =
          truth_or(&e->t, has[p], truth_and(&e->t, s->received[k].there, number_is(&e->t, s->received[k].sender, p)));
  }
  return sym_identities(e, has);
}

static struct sym_value *encode_heard_of(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct sym_value *p = encode_node(s, n->kid[0]);
  truth *has = arena_array(&e->arena, e->model->nprocesses + 1, sizeof *has);
  for (uint32_t q = 0; q < e->model->nprocesses; q++) {
    has[q] = e->t.no;
    for (int64_t i = p->number.lo; i <= p->number.hi; i++) {
      truth heard = s->heard[i][q];
      if (n->op == NODE_SHO)
        heard = truth_and(&e->t, heard, truth_not(&e->t, s->corrupt[i][q]));
      has[q] = truth_or(&e->t, has[q], truth_and(&e->t, process_is(s, p, (uint32_t)i), heard));
    }
  }
  return sym_identities(e, has);
}

static struct sym_value *some(struct encoder *e, truth there, struct sym_value *element) {
  struct sym_value *v = arena_alloc(&e->arena, sizeof *v);
  v->kind = SYM_OPTION;
  v->truth = there;
  v->n = 1;
  v->part = arena_array(&e->arena, 1, sizeof *v->part);
  v->part[0] = element;
  return v;
}

static struct sym_value *encode_from(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct sym_value *q = encode_node(s, n->kid[0]), *found = NULL;
  truth there = e->t.no;
  for (uint32_t k = s->nreceived; k-- > 0;) {
    truth it = truth_and(&e->t, s->received[k].there, number_same(&e->t, q->number, s->received[k].sender));
    if (it == e->t.no)
      continue;
    found = found ? sym_ite(e, it, s->received[k].message, found) : s->received[k].message;
    there = truth_or(&e->t, there, it);
  }
  return some(e, there, found);
}

static struct sym_value *encode_process_at(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  const struct role *role = &e->model->roles[n->index];
  struct number i = encode_node(s, n->kid[0])->number, at;
  if (!number_plus(&e->t, i, number_of(-1), &i) || !number_modulo(&e->t, i, role->count, &i) ||
      !number_plus(&e->t, i, number_of(role->first), &at))
    encode_refuse(e, n->at, "numbers too large to follow");
  return sym_number(e, at);
}

static struct sym_value *encode_number_of(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct number p = encode_node(s, n->kid[0])->number, at = number_of(1);
  for (int64_t i = p.lo; i <= p.hi; i++) {
    int64_t number = i - e->model->roles[model_role_of(e->model, i)].first + 1;
    at = i == p.lo ? number_of(number) : number_if(&e->t, number_is(&e->t, p, i), number_of(number), at);
  }
  return sym_number(e, at);
}

/* p.x, where p need not be a constant. */
static struct sym_value *encode_remote(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct number p = encode_node(s, n->kid[0])->number;
  const struct sym_state *state = n->primed ? s->after : s->before;
  struct sym_value *found = NULL;
  for (int64_t i = p.lo; i <= p.hi; i++) {
    uint32_t r = model_role_of(e->model, i), var = e->model->fields[n->index].var[r];
    truth it = number_is(&e->t, p, i);
    if (it == e->t.no)
      continue;
    if (var == UINT32_MAX) {
      scope_fail(s, it);
      continue;
    }
    scope_fail(s, truth_and(&e->t, it, state->of[i].byzantine));
    struct sym_value *v = n->op == NODE_INITIAL ? state->of[i].initial[var] : state->of[i].vars[var];
    found = found ? sym_ite(e, it, v, found) : v;
  }
  return found ? found : sym_default(e, n->type);
}

/* Evaluates an expression from another place, such as the body of a definition, with its own frame of slots. */
static struct sym_value *encode_apart(struct scope *s, const struct node *body, struct sym_value **frame) {
  struct sym_value **old = s->slot;
  struct number *old_senders = s->slot_sender;
  s->slot = frame;
  s->slot_sender = arena_array(&s->e->arena, s->e->model->nslots + 1, sizeof *s->slot_sender);
  struct sym_value *v = encode_node(s, body);
  s->slot = old;
  s->slot_sender = old_senders;
  return v;
}

static struct sym_value *encode_call(struct scope *s, const struct node *n) {
  const struct def *def = &s->e->model->defs[n->index];
  if (++s->depth > CALLS_MOST)
    encode_refuse(s->e, n->at, "'%s' calls itself too often to be written out", def->name);
  struct sym_value **frame = arena_array(&s->e->arena, s->e->model->nslots + 1, sizeof *frame);
  for (uint32_t i = 0; i < n->n; i++)
    frame[i] = encode_node(s, n->kid[i]);
  struct sym_value *v = encode_apart(s, def->body, frame);
  s->depth--;
  return v;
}

struct sym_value *encode_neighbours(struct scope *s) {
  return encode_apart(s, s->e->model->roles[s->role].graph,
                      arena_array(&s->e->arena, s->e->model->nslots + 1, sizeof *s->slot));
}

/* ---- arithmetic ---- */

struct number encode_sum(struct encoder *e, struct number a, struct number b) {
  struct number sum;
  if (!number_plus(&e->t, a, b, &sum))
    encode_refuse(e, e->at, "numbers too large to follow");
  return sum;
}

static struct number divided(struct scope *s, const struct node *n, struct number a, int64_t by) {
  struct number result;
  if (!(n->op == NODE_MOD ? number_modulo : number_divide)(&s->e->t, a, by, &result))
    encode_refuse(s->e, n->at, "numbers too large to follow");
  return result;
}

/* A divisor that is no constant: a case distinction over its possible values. */
static struct number encode_division(struct scope *s, const struct node *n, struct number a, struct number b) {
  struct terms *t = &s->e->t;
  struct number result = number_of(0);
  scope_fail(s, number_is(t, b, 0));
  if (number_constant(b))
    return b.lo == 0 ? result : divided(s, n, a, b.lo);
  if (b.lo == NUMBER_LEAST || b.hi == NUMBER_MOST || b.lo < b.hi - DIVISORS_MOST)
    encode_refuse(s->e, n->at, "a division by one of too many numbers");
  for (int64_t d = b.lo; d <= b.hi; d++)
    if (d != 0)
      result = number_if(t, number_is(t, b, d), divided(s, n, a, d), result);
  return result;
}

/* The smallest 64-bit number cannot be negated. */
static bool is_smallest(struct number n) { return number_constant(n) && n.lo == INT64_MIN; }

static struct sym_value *encode_arithmetic(struct scope *s, const struct node *n) {
  struct terms *t = &s->e->t;
  struct number a = encode_node(s, n->kid[0])->number, v = number_of(0);
  struct number b = n->n > 1 ? encode_node(s, n->kid[1])->number : number_of(0);
  bool ok = false;
  if (is_smallest(a) || is_smallest(b))
    encode_refuse(s->e, n->at, "numbers too large to follow");
  switch (op_number(n->op)) {
  case NODE_ADD:
    ok = number_plus(t, a, b, &v);
    break;
  case NODE_SUB:
    ok = number_plus(t, a, number_negative(t, b), &v);
    break;
  case NODE_MUL:
    ok = number_times(t, a, b, &v);
    break;
  case NODE_NEG:
    return sym_number(s->e, number_negative(t, a));
  case NODE_DIV:
  case NODE_MOD:
    return sym_number(s->e, encode_division(s, n, a, b));
  }
  if (!ok)
    encode_refuse(s->e, n->at, "numbers too large to follow");
  return sym_number(s->e, v);
}

/* ---- relations and sets ---- */

static truth encode_in(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  const struct node *of = n->kid[1];
  struct sym_value *v = encode_node(s, n->kid[0]);
  truth any = e->t.no;
  if (of->op == NODE_INTERVAL) {
    truth low = number_at_most(&e->t, encode_node(s, of->kid[0])->number, v->number);
    return truth_and(&e->t, low, number_at_most(&e->t, v->number, under(s, low, of->kid[1])->number));
  }
  if (of->op == NODE_DOMAIN)
    return sym_fits(e, of->type->element, v);
  if (of->op == NODE_RECEIVED) {
    for (uint32_t k = 0; k < s->nreceived; k++)
      any = truth_or(&e->t, any, truth_and(&e->t, s->received[k].there, sym_equal(e, s->received[k].message, v)));
    return any;
  }
  struct sym_value *c = encode_node(s, of);
  if (c->kind == SYM_OPTION)
    return c->part[0] ? truth_and(&e->t, c->truth, sym_equal(e, c->part[0], v)) : e->t.no;
  if (c->kind == SYM_SEQUENCE) {
    for (uint32_t i = 0; i < c->n; i++)
      any = truth_or(&e->t, any,
                     truth_and(&e->t, number_less(&e->t, number_of(i), c->number), sym_equal(e, c->part[i], v)));
    return any;
  }
  return sym_has(e, c, v);
}

static struct number encode_cardinality(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  const struct node *of = n->kid[0];
  if (of->op == NODE_RECEIVED || of->op == NODE_HEARD) {
    truth *there = arena_array(&e->arena, s->nreceived + 1, sizeof *there);
    for (uint32_t k = 0; k < s->nreceived; k++)
      there[k] = s->received[k].there;
    return number_count(&e->t, there, s->nreceived);
  }
  struct sym_value *v = encode_node(s, of);
  if (v->kind == SYM_OPTION)
    return number_count(&e->t, &v->truth, 1);
  return v->kind == SYM_SEQUENCE ? v->number : sym_size(e, v);
}

static truth encode_relation(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct sym_value *a = encode_node(s, n->kid[0]), *b = encode_node(s, n->kid[1]);
  switch (op_number(n->op)) {
  case NODE_EQ:
    return sym_equal(e, a, b);
  case NODE_NE:
    return truth_not(&e->t, sym_equal(e, a, b));
  case NODE_LT:
    return sym_less(e, a, b);
  case NODE_LE:
    return truth_not(&e->t, sym_less(e, b, a));
  case NODE_GT:
    return sym_less(e, b, a);
  case NODE_GE:
    return truth_not(&e->t, sym_less(e, a, b));
  }
  refuse_unknown_operator(e, n);
}

static struct sym_value *encode_set_operator(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct sym_value *a = encode_node(s, n->kid[0]), *b = encode_node(s, n->kid[1]);
  switch (op_number(n->op)) {
  case NODE_UNION:
    return sym_union(e, a, b);
  case NODE_INTERSECTION:
    return sym_intersect(e, a, b);
  case NODE_DIFFERENCE:
    return sym_minus(e, a, b);
  case NODE_SUBSET:
    return sym_truth(e, sym_subset(e, a, b));
  }
  refuse_unknown_operator(e, n);
}

static struct sym_value *encode_set(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  truth *guard = arena_array(&e->arena, n->n + 1, sizeof *guard);
  struct sym_value **member = arena_array(&e->arena, n->n + 1, sizeof *member);
  for (uint32_t i = 0; i < n->n; i++) {
    guard[i] = e->t.yes;
    member[i] = encode_node(s, n->kid[i]);
  }
  return sym_set_of(e, n->type, guard, member, n->n);
}

static struct sym_value *encode_domain(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  const struct type *t = n->type->element;
  if (t->count > 4096)
    encode_refuse(e, n->at, "a type with too many values to go through");
  truth *guard = arena_array(&e->arena, t->count + 1, sizeof *guard);
  struct sym_value **member = arena_array(&e->arena, t->count + 1, sizeof *member);
  for (uint64_t i = 0; i < t->count; i++) {
    guard[i] = e->t.yes;
    member[i] = sym_nth_value(e, t, i);
  }
  return sym_set_of(e, n->type, guard, member, t->count);
}

/* ---- records, arrays, sequences ---- */

static struct sym_value *parts(struct encoder *e, enum sym_value_kind kind, uint64_t n) {
  struct sym_value *v = arena_alloc(&e->arena, sizeof *v);
  v->kind = kind;
  v->n = (uint32_t)n;
  v->number = number_of((int64_t)n);
  v->part = arena_array(&e->arena, n + 1, sizeof *v->part);
  return v;
}

static struct sym_value *encode_parts(struct scope *s, const struct node *n) {
  struct sym_value *v = parts(s->e, n->op == NODE_RECORD ? SYM_PARTS : SYM_SEQUENCE, n->n);
  for (uint32_t i = 0; i < n->n; i++)
    v->part[i] = encode_node(s, n->kid[i]);
  return v;
}

static struct sym_value *encode_index(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  const struct type *t = n->kid[0]->type->index;
  struct sym_value *i = encode_checked(s, t, encode_node(s, n->kid[1])), *found = NULL;
  struct sym_value *array = encode_node(s, n->kid[0]);
  for (uint32_t k = array->n; k-- > 0;) {
    truth it = sym_equal(e, i, sym_nth_value(e, t, k));
    if (it != e->t.no)
      found = found ? sym_ite(e, it, array->part[k], found) : array->part[k];
  }
  return found ? found : sym_default(e, n->type);
}

static struct sym_value *encode_array_of(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  const struct type *index = n->type->index;
  if (index->count > 4096)
    encode_refuse(e, n->at, "an array with too many elements");
  struct sym_value *v = parts(e, SYM_PARTS, index->count);
  for (uint32_t i = 0; i < v->n; i++) {
    s->slot[n->gen[0].slot] = sym_nth_value(e, index, i);
    v->part[i] = encode_checked(s, n->type->element, encode_node(s, n->kid[0]));
  }
  return v;
}

/* The position of the second sequence depends on the length of the first. */
static struct sym_value *encode_append(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct sym_value *a = encode_node(s, n->kid[0]), *b = encode_node(s, n->kid[1]);
  struct sym_value *v = parts(e, SYM_SEQUENCE, (uint64_t)a->n + b->n);
  v->number = encode_sum(e, a->number, b->number);
  for (uint32_t i = 0; i < v->n; i++) {
    struct sym_value *at = i < a->n ? a->part[i] : NULL;
    for (int64_t length = a->number.lo; length <= a->number.hi && length <= i; length++)
      if (i - length < b->n) {
        struct sym_value *other = b->part[i - length];
        at = at ? sym_ite(e, number_is(&e->t, a->number, length), other, at) : other;
      }
    v->part[i] = at ? at : i > 0 ? v->part[i - 1] : NULL; /* beyond the length: never read */
    if (!v->part[i])
      v->n = i;
  }
  return v;
}

static struct sym_value *encode_front(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct sym_value *a = encode_node(s, n->kid[0]), *v = parts(e, SYM_SEQUENCE, a->n);
  truth empty = number_is(&e->t, a->number, 0);
  scope_fail(s, empty);
  memcpy(v->part, a->part, a->n * sizeof *a->part);
  v->number = encode_sum(e, a->number, number_of(-1));
  v->number = number_if(&e->t, empty, number_of(0), v->number);
  v->number = number_bounded(&e->t, v->number, 0, a->number.hi > 0 ? a->number.hi - 1 : 0);
  return v;
}

/* ---- everything ---- */

truth encode_truth(struct scope *s, const struct node *n) { return encode_node(s, n)->truth; }

static truth encode_logic(struct scope *s, const struct node *n) {
  struct terms *t = &s->e->t;
  truth a = encode_truth(s, n->kid[0]);
  if (n->op == NODE_NOT)
    return truth_not(t, a);
  truth decides = n->op == NODE_OR ? t->yes : t->no; /* short circuit: the right side is not evaluated */
  truth go = n->op == NODE_OR ? truth_not(t, a) : a;
  if (a == decides)
    return n->op == NODE_IMPLIES ? t->yes : decides;
  truth b = under(s, go, n->kid[1])->truth;
  return n->op == NODE_OR ? truth_or(t, a, b) : n->op == NODE_AND ? truth_and(t, a, b) : truth_implies(t, a, b);
}

static struct sym_value *encode_if(struct scope *s, const struct node *n) {
  truth c = encode_truth(s, n->kid[0]);
  if (c == s->e->t.yes || c == s->e->t.no)
    return encode_node(s, n->kid[c == s->e->t.yes ? 1 : 2]);
  struct sym_value *a = under(s, c, n->kid[1]);
  return sym_ite(s->e, c, a, under(s, truth_not(&s->e->t, c), n->kid[2]));
}

static struct sym_value *encode_otherwise(struct scope *s, const struct node *n) {
  struct sym_value *v = NULL;
  truth there = encode_maybe(s, n->kid[0], &v);
  if (there == s->e->t.yes)
    return v;
  struct sym_value *other = under(s, truth_not(&s->e->t, there), n->kid[1]);
  return v ? sym_ite(s->e, there, v, other) : other;
}

static struct sym_value *encode_simple(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  const struct role *role = &e->model->roles[s->role];
  switch (op_number(n->op)) {
  case NODE_CONST:
  case NODE_PARAM:
    return sym_const(e, n->type, n->constant);
  case NODE_SLOT:
    return s->slot[n->index];
  case NODE_VAR:
    return s->vars[n->index];
  case NODE_GLOBAL:
    return n->primed ? s->after->globals[n->index] : s->globals[n->index];
  case NODE_ME:
    return sym_number(e, number_of(s->me));
  case NODE_LOOP:
    return sym_number(e, number_of(e->model->points[s->point].loop));
  case NODE_PHASE:
    return sym_number(e, s->phase);
  case NODE_ROUND_NUMBER:
    return sym_number(e, s->before->rounds);
  case NODE_SENDER:
    return sym_number(e, s->slot_sender[n->index]);
  case NODE_NEXT:
    return sym_number(e, number_of(role->first + (s->me - role->first + 1) % role->count));
  }
  refuse_unknown_operator(e, n);
}

struct sym_value *encode_node(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct sym_value *v = NULL;
  struct span outer = e->at;
  e->at = n->at;
  if (e->stop && *e->stop)
    encode_refuse(e, n->at, "stopped");
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
    v = encode_simple(s, n);
    break;
  case NODE_HEARD:
    v = encode_heard(s);
    break;
  case NODE_FROM:
    v = encode_from(s, n);
    break;
  case NODE_NUMBER_OF:
    v = encode_number_of(s, n);
    break;
  case NODE_PROCESS_AT:
    v = encode_process_at(s, n);
    break;
  case NODE_NEIGHBOURS:
    v = encode_neighbours(s);
    break;
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
    v = process_set(s, n);
    break;
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE:
    v = encode_remote(s, n);
    break;
  case NODE_HO:
  case NODE_SHO:
    v = encode_heard_of(s, n);
    break;
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG:
    v = encode_arithmetic(s, n);
    break;
  case NODE_NOT:
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
    v = sym_truth(e, encode_logic(s, n));
    break;
  case NODE_IF:
    v = encode_if(s, n);
    break;
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    v = sym_truth(e, encode_relation(s, n));
    break;
  case NODE_IN:
    v = sym_truth(e, encode_in(s, n));
    break;
  case NODE_SUBSET:
  case NODE_UNION:
  case NODE_INTERSECTION:
  case NODE_DIFFERENCE:
    v = encode_set_operator(s, n);
    break;
  case NODE_CARD:
    v = sym_number(e, encode_cardinality(s, n));
    break;
  case NODE_DOMAIN:
    v = encode_domain(s, n);
    break;
  case NODE_SET:
    v = encode_set(s, n);
    break;
  case NODE_NARROW:
    v = encode_checked(s, n->type, encode_node(s, n->kid[0]));
    break;
  case NODE_WRAP:
    v = some(e, e->t.yes, encode_node(s, n->kid[0]));
    break;
  case NODE_OTHERWISE:
    v = encode_otherwise(s, n);
    break;
  case NODE_RECORD:
  case NODE_SEQUENCE:
    v = encode_parts(s, n);
    break;
  case NODE_SELECT:
    v = encode_node(s, n->kid[0])->part[n->index];
    break;
  case NODE_ARRAY_OF:
    v = encode_array_of(s, n);
    break;
  case NODE_INDEX:
    v = encode_index(s, n);
    break;
  case NODE_APPEND:
    v = encode_append(s, n);
    break;
  case NODE_FRONT:
    v = encode_front(s, n);
    break;
  case NODE_CALL:
    v = encode_call(s, n);
    break;
  case NODE_RECEIVED:
  case NODE_INTERVAL:
  case NODE_SUBSETS:
  case NODE_ALWAYS:
  case NODE_EVENTUALLY:
  case NODE_UNTIL:
    encode_refuse(e, n->at, "'%s' has no value in a single state", op_text(n->op));
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
    v = encode_aggregate(s, n);
    break;
  case NODE_OPS:
    break;
  }
  if (!v)
    refuse_unknown_operator(e, n);
  e->at = outer;
  return v;
}
