/* The third theorem on the number of values: rounds in which values are voted on.

   Each process has an input x and a decision d. In each round it sends x to all, and may then set x to one of the
   values received that occur most often (or to the least of them, to the least value received, ...), and d to a value
   that it has received more than some number of times. Everything else that it does depends on numbers of messages
   only.

   Let u be a value. Map u to U and all other values to N, where N precedes U for `min` (follows it for `max`). Take the
   same heard-of sets. Then there is a run with the two values N and U in which, whenever a process has x other than u,
   it has x = N there, if that is so at the start:
   - If `mostfrequent` has a value w other than u, then of the messages at least as many are N as are w, which is at
   least as many as are u, which is at least as many as are U. So N is among the most frequent, and `min` and `pick` may
     choose it. The same is true of the least of all values received, and of any of them.
   - If more than T messages are some w other than u, more than T are N. If more than T are U, more than T are u. So if
     d becomes w, it can become N there; and if d stays as it is, it stays or can become N there.
   So whenever d is a value other than u, and became it after the start, it can be N there.

   Irrevocability. A process sets d to u in round r, and to another value later. Begin with what the processes have as x
   at the start of round r, without decisions, which is an initial state: d is not read. In this first round messages
   are mapped exactly, so d can become U. Later it is N. Agreement. A process sets d to u in round r, and another
   process sets d to another value in round r or later. As above, one is U after the first round, and the other one is N
   in the end; so decisions of two values are there at the same time, or the first one was replaced, against
   irrevocability. Both must hold with two values. Validity. All start with u, and d becomes another value. Begin at the
   same start: there, d becomes N. Integrity. The values of x are those of the start. So if d becomes another one, there
   is no message with it. If all start with U, d can become N in that round.

   For the first two, what is left of a run must be allowed as a run: the environment has no memory. */
#include "analysis/value_cutoff.h"

#include "model/node.h"

struct voting {
  const struct model *model;
  const struct query *query;
  const struct type *type;
  struct arena *arena;
  uint32_t x, d; /* the variables */
  uint32_t decisions;
  bool least, greatest; /* `min` or `max` is used */
  bool memory;          /* the environment may depend on the past, or on the number of the round */
  struct refusal why;
};

static void refuse(struct voting *v, struct span at, const char *reason) {
  if (!v->why.reason)
    v->why = (struct refusal){reason, at};
}

static bool is_slot(const struct node *n, uint32_t slot) { return n->op == NODE_SLOT && n->index == slot; }

/* ---- numbers of messages ---- */

static bool visit_number(void *context, const struct node *n) {
  bool *fine = context;
  switch (op_number(n->op)) {
  case NODE_CONST:
    *fine &= n->type->kind == TYPE_RANGE || n->type->kind == TYPE_INT || n->type->kind == TYPE_BOOL;
    return true;
  case NODE_PARAM:
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG:
  case NODE_NOT:
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    return true;
  case NODE_CARD:
    *fine &= n->kid[0]->op == NODE_RECEIVED;
    return false;
  }
  *fine = false;
  return false;
}

/* It depends on parameters and on how many messages were received. */
static bool is_number(const struct voting *v, const struct node *n) {
  bool fine = n->type != v->type;
  node_walk(n, visit_number, &fine);
  return fine;
}

static bool is_positive_constant(const struct node *n) {
  return n->op == NODE_CONST && (n->type->kind == TYPE_RANGE || n->type->kind == TYPE_INT) && n->constant > 0;
}

/* count(m in received: m == v), or so many times that */
static bool is_count_of(const struct node *n, uint32_t slot) {
  if (n->op == NODE_MUL && is_positive_constant(n->kid[0]))
    n = n->kid[1];
  else if (n->op == NODE_MUL && is_positive_constant(n->kid[1]))
    n = n->kid[0];
  if (n->op != NODE_COUNT || n->ngen != 1 || n->n != 1 || n->gen[0].range->op != NODE_RECEIVED || n->gen[0].cond)
    return false;
  const struct node *is = n->kid[0];
  uint32_t m = n->gen[0].slot;
  return is->op == NODE_EQ && ((is_slot(is->kid[0], m) && is_slot(is->kid[1], slot)) ||
                               (is_slot(is->kid[1], m) && is_slot(is->kid[0], slot)));
}

static bool is_more_than(const struct voting *v, const struct node *n, uint32_t slot) {
  bool right = n->op == NODE_LT || n->op == NODE_LE;
  if (!right && n->op != NODE_GT && n->op != NODE_GE)
    return false;
  return is_count_of(n->kid[right ? 1 : 0], slot) && is_number(v, n->kid[right ? 0 : 1]);
}

/* ---- the update ---- */

/* One generator without a condition, and its values as they are. */
static bool is_each(const struct node *n) {
  return n->ngen == 1 && !n->gen[0].cond && n->n == 1 && is_slot(n->kid[0], n->gen[0].slot);
}

/* Of all values received, or of the most frequent ones: the least, the greatest, any. */
static bool is_vote(struct voting *v, const struct node *n) {
  if (n->op == NODE_OTHERWISE)
    return n->type == v->type && otherwise_wraps(n) == 0 && n->kid[0]->op != NODE_OTHERWISE &&
           n->kid[0]->op != NODE_VAR && is_vote(v, n->kid[0]) && is_vote(v, n->kid[1]);
  if (n->op == NODE_VAR)
    return n->index == v->x;
  if ((n->op != NODE_MIN && n->op != NODE_MAX && n->op != NODE_PICK) || n->type != v->type || !is_each(n))
    return false;
  v->least |= n->op == NODE_MIN;
  v->greatest |= n->op == NODE_MAX;
  const struct node *from = n->gen[0].range;
  if (from->op == NODE_MOSTFREQUENT && is_each(from))
    from = from->gen[0].range;
  return from->op == NODE_RECEIVED && from->type->element == v->type;
}

static void look_at_block(struct voting *v, const struct block *b);

/* if exists v in Value: count(m in received: m == v) > T { d := v } */
static bool is_decision(struct voting *v, const struct stmt *s) {
  const struct guard *g = &s->guard;
  if (g->ngen != 1 || g->gen[0].range->op != NODE_DOMAIN || g->gen[0].range->type->element != v->type ||
      g->gen[0].cond || !g->cond || !is_more_than(v, g->cond, g->gen[0].slot))
    return false;
  if (s->other.n != 0 || s->then.n != 1)
    return false;
  const struct stmt *a = s->then.at[0];
  return a->kind == STMT_ASSIGN && !a->shared && a->npath == 0 && a->var == v->d && a->expr->op == NODE_WRAP &&
         is_slot(a->expr->kid[0], g->gen[0].slot);
}

static void look_at_statement(struct voting *v, const struct stmt *s) {
  switch (s->kind) {
  case STMT_IF:
    if (is_decision(v, s)) {
      if (v->decisions++ > 0)
        refuse(v, s->at, "there is a second way to decide");
    } else if (s->guard.ngen == 0 && s->guard.cond && is_number(v, s->guard.cond)) {
      look_at_block(v, &s->then);
      look_at_block(v, &s->other);
    } else {
      refuse(v, s->at, "this depends on more than the number of messages");
    }
    return;
  case STMT_ASSIGN:
    if (s->shared || s->npath > 0 || s->var != v->x || !is_vote(v, s->expr))
      refuse(v, s->at, "this is no vote");
    return;
  case STMT_LET:
  case STMT_FOREACH:
  case STMT_HALT:
  case STMT_SEND:
    break;
  }
  refuse(v, s->at, "this is no vote");
}

static void look_at_block(struct voting *v, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++)
    look_at_statement(v, b->at[i]);
}

/* ---- the rest of the model ---- */

static bool is_none(const struct node *n) { return n && n->op == NODE_CONST && n->constant == VALUE_NONE; }

static void look_at_variables(struct voting *v) {
  const struct role *r = &v->model->roles[0];
  v->x = v->d = NO_VAR;
  for (uint32_t i = 0; i < r->nvars; i++) {
    const struct var *var = &r->vars[i];
    bool option = var->type->kind == TYPE_OPTION && var->type->element == v->type;
    if (var->hidden || var->distinct)
      refuse(v, var->at, "there are more variables than an input and a decision");
    else if (v->x == NO_VAR && var->kind == VAR_INPUT && var->type == v->type && !var->init && !var->where)
      v->x = i;
    else if (v->d == NO_VAR && var->kind == VAR_PLAIN && option && is_none(var->init))
      v->d = i;
    else
      refuse(v, var->at, "there are more variables than an input and a decision");
  }
  if (v->x == NO_VAR || v->d == NO_VAR)
    refuse(v, r->at, "there is no input, or no decision");
}

static void look_at_role(struct voting *v) {
  const struct model *m = v->model;
  const struct role *r = &m->roles[0];
  if (m->kind != MODEL_ROUNDS || m->nroles != 1 || m->nglobals || m->npoints != 1) {
    refuse(v, r->at, "there is more than one round, or more than one role");
    return;
  }
  const struct body *b = &r->body[0];
  look_at_variables(v);
  if (v->why.reason)
    return;
  if (b->nsends != 1 || b->sends[0].guard.ngen || b->sends[0].guard.cond || b->sends[0].target != TARGET_SET ||
      b->sends[0].message->op != NODE_VAR || b->sends[0].message->index != v->x || b->received != v->type || b->mixed)
    refuse(v, b->at, "not just the input is sent to all");
  if (b->finally.n)
    refuse(v, b->at, "there is something to do in the end");
  look_at_block(v, &b->update);
  if (v->least && v->greatest)
    refuse(v, b->at, "both 'min' and 'max' are used");
}

static bool visit_clause(void *context, const struct node *n) {
  struct voting *v = context;
  unsigned traits = op_traits(n->op);
  if (traits & (TRAIT_UNKNOWN | TRAIT_FIELD | TRAIT_CHOOSES | TRAIT_FLIGHT | TRAIT_TEMPORAL | TRAIT_STATUS) ||
      n->op == NODE_SHO)
    refuse(v, n->at, "the environment looks at more than who hears whom");
  v->memory |= (traits & TRAIT_CLOCK) != 0;
  return true;
}

static void look_at_clause(struct voting *v, const struct clause *c) {
  switch (c->kind) {
  case CLAUSE_CRASH:
  case CLAUSE_OMIT:
  case CLAUSE_BYZANTINE:
  case CLAUSE_CORRUPTED:
  case CLAUSE_DUPLICATED:
    refuse(v, c->at, "processes or messages may be faulty");
    return;
  case CLAUSE_FROM_ROUND:
    v->memory = true;
    node_walk_deep(v->model, c->pred, visit_clause, v);
    return;
  case CLAUSE_EVERY:
    v->memory |= c->unit == EACH_PHASE;
    node_walk_deep(v->model, c->pred, visit_clause, v);
    return;
  case CLAUSE_LOST: /* the rest of a run loses no more */
  case CLAUSE_SYNCHRONOUS:
    return;
  case CLAUSE_OFTEN: /* these say nothing about finite runs */
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
    return;
  case CLAUSE_FAIR:
  case CLAUSE_CHANNELS:
    break;
  }
  refuse(v, c->at, "the environment looks at more than who hears whom");
}

/* ---- the property ---- */

/* p.d of the process in the slot */
static bool is_field(const struct voting *v, const struct node *n, enum op op, uint32_t slot, uint32_t var,
                     bool primed) {
  return n->op == op && is_slot(n->kid[0], slot) && v->model->fields[n->index].var[0] == var && n->primed == primed;
}

static bool is_all_processes(const struct generator *g) { return g->range->op == NODE_ROLE_SET && !g->cond; }

static bool is_decision_of(const struct voting *v, const struct generator *g, uint32_t process) {
  return is_field(v, g->range, NODE_REMOTE, process, v->d, false) && !g->cond;
}

static bool are_equal(const struct node *n, uint32_t a, uint32_t b) {
  return n->op == NODE_EQ &&
         ((is_slot(n->kid[0], a) && is_slot(n->kid[1], b)) || (is_slot(n->kid[0], b) && is_slot(n->kid[1], a)));
}

/* v == initial(p.x) */
static bool is_initial(const struct voting *v, const struct node *n, uint32_t process, uint32_t slot) {
  return n->op == NODE_EQ &&
         ((is_field(v, n->kid[0], NODE_INITIAL, process, v->x, false) && is_slot(n->kid[1], slot)) ||
          (is_field(v, n->kid[1], NODE_INITIAL, process, v->x, false) && is_slot(n->kid[0], slot)));
}

/* forall p, q in P, v in p.d, w in q.d: v == w */
static bool is_agreement(const struct voting *v, const struct node *n) {
  return n->op == NODE_FORALL && n->ngen == 4 && n->n == 1 && is_all_processes(&n->gen[0]) &&
         is_all_processes(&n->gen[1]) && is_decision_of(v, &n->gen[2], n->gen[0].slot) &&
         is_decision_of(v, &n->gen[3], n->gen[1].slot) && are_equal(n->kid[0], n->gen[2].slot, n->gen[3].slot);
}

/* forall v in Value: (forall p in P: initial(p.x) == v) => forall q in P, w in q.d: w == v */
static bool is_validity(const struct voting *v, const struct node *n) {
  if (n->op != NODE_FORALL || n->ngen != 1 || n->n != 1 || n->gen[0].range->op != NODE_DOMAIN ||
      n->gen[0].range->type->element != v->type || n->gen[0].cond || n->kid[0]->op != NODE_IMPLIES)
    return false;
  const struct node *start = n->kid[0]->kid[0], *then = n->kid[0]->kid[1];
  uint32_t slot = n->gen[0].slot;
  return start->op == NODE_FORALL && start->ngen == 1 && start->n == 1 && is_all_processes(&start->gen[0]) &&
         is_initial(v, start->kid[0], start->gen[0].slot, slot) && then->op == NODE_FORALL && then->ngen == 2 &&
         then->n == 1 && is_all_processes(&then->gen[0]) && is_decision_of(v, &then->gen[1], then->gen[0].slot) &&
         are_equal(then->kid[0], then->gen[1].slot, slot);
}

/* forall p in P, v in p.d: exists q in P: v == initial(q.x) */
static bool is_integrity(const struct voting *v, const struct node *n) {
  if (n->op != NODE_FORALL || n->ngen != 2 || n->n != 1 || !is_all_processes(&n->gen[0]) ||
      !is_decision_of(v, &n->gen[1], n->gen[0].slot))
    return false;
  const struct node *there = n->kid[0];
  return there->op == NODE_EXISTS && there->ngen == 1 && there->n == 1 && is_all_processes(&there->gen[0]) &&
         is_initial(v, there->kid[0], there->gen[0].slot, n->gen[1].slot);
}

/* step forall p in P: p.d != none => p.d' == p.d */
static bool is_irrevocability(const struct voting *v, const struct property *p) {
  const struct node *n = p->formula;
  if (!p->step || n->op != NODE_FORALL || n->ngen != 1 || n->n != 1 || !is_all_processes(&n->gen[0]) ||
      n->kid[0]->op != NODE_IMPLIES)
    return false;
  const struct node *before = n->kid[0]->kid[0], *same = n->kid[0]->kid[1];
  uint32_t slot = n->gen[0].slot;
  return before->op == NODE_NE && is_field(v, before->kid[0], NODE_REMOTE, slot, v->d, false) &&
         is_none(before->kid[1]) && same->op == NODE_EQ &&
         ((is_field(v, same->kid[0], NODE_REMOTE, slot, v->d, true) &&
           is_field(v, same->kid[1], NODE_REMOTE, slot, v->d, false)) ||
          (is_field(v, same->kid[1], NODE_REMOTE, slot, v->d, true) &&
           is_field(v, same->kid[0], NODE_REMOTE, slot, v->d, false)));
}

static uint32_t find_irrevocability(const struct voting *v) {
  for (uint32_t i = 0; i < v->model->nproperties; i++)
    if (v->model->properties[i].kind == PROPERTY_SAFETY && !v->model->properties[i].until &&
        !v->model->properties[i].stability_of && is_irrevocability(v, &v->model->properties[i]))
      return i;
  return UINT32_MAX;
}

static void look_at_property(struct voting *v, struct value_cutoff *out) {
  const struct property *p = &v->model->properties[v->query->properties[0]];
  bool state = p->kind == PROPERTY_SAFETY && !p->until && !p->stability_of && !p->step;
  bool step = p->kind == PROPERTY_SAFETY && !p->until && !p->stability_of && is_irrevocability(v, p);
  if (state && (is_validity(v, p->formula) || is_integrity(v, p->formula)))
    return;
  if (!step && !(state && is_agreement(v, p->formula)))
    refuse(v, p->at, "the property is none of agreement, validity, integrity and irrevocability");
  if (v->memory)
    refuse(v, p->at, "the environment depends on the number of the round");
  if (step || v->why.reason)
    return;
  out->also = find_irrevocability(v);
  if (out->also == UINT32_MAX)
    refuse(v, p->at, "no property says that decisions do not change");
}

struct value_cutoff value_cutoff_by_voting(const struct model *m, const struct query *q, const struct type *type,
                                           struct arena *arena) {
  struct voting v = {.model = m, .query = q, .type = type, .arena = arena};
  struct value_cutoff out = {.values = 2, .by = "by majorities of one value", .also = UINT32_MAX};
  const struct environment *env = &m->environments[q->environment];
  look_at_role(&v);
  out.fits = !v.why.reason;
  for (uint32_t i = 0; i < env->nclauses && !v.why.reason; i++)
    look_at_clause(&v, &env->clauses[i]);
  if (!v.why.reason && (q->nproperties != 1 || q->natoms || q->until))
    refuse(&v, env->at, "several properties are asked for");
  if (!v.why.reason)
    look_at_property(&v, &out);
  out.granted = !v.why.reason;
  out.why = v.why;
  return out;
}
