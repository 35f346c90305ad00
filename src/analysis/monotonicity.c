#include "analysis/monotonicity.h"

#include "analysis/dataflow.h"
#include "analysis/model_visitor.h"
#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

#define PROOF_DEPTH 16

struct fact {
  const struct node *cond; /* is true, or false if negated; NULL: a definition */
  bool negated;
  uint32_t slot; /* definition: this local name is the value that expr has */
  const struct node *expr;
};

typedef VEC(struct fact) fact_vec;

struct prover {
  const struct model *model;
  const struct role *role;
  uint32_t role_index;
  const struct action *action;
  struct monotonicity *own, *shared;
  struct arena *arena;
};

/* --- expressions that have the same value --- */

static bool visit_choice(void *context, const struct node *n) {
  bool *found = context;
  *found |= (op_traits(n->op) & TRAIT_CHOOSES) != 0;
  return !*found;
}

bool node_chooses(const struct model *m, const struct node *n) {
  bool found = false;
  node_walk_deep(m, n, visit_choice, &found);
  return found;
}

static const struct node *bare(const struct node *n) {
  while (n->op == NODE_NARROW)
    n = n->kid[0];
  return n;
}

/* A bare field of a pattern and the field of the message are the same. */
static bool is_part(const struct prover *p, const struct node *n, uint32_t *field) {
  const struct action *a = p->action;
  if (a->trigger != TRIGGER_ONE)
    return false;
  if (n->op == NODE_SELECT && n->kid[0]->op == NODE_SLOT && n->kid[0]->index == a->slot) {
    *field = n->index;
    return true;
  }
  for (uint32_t i = 0; i < a->nparts; i++)
    if (n->op == NODE_SLOT && n->index == a->parts[i].slot) {
      *field = a->parts[i].field;
      return true;
    }
  return false;
}

/* Evaluated in the same state. Expressions with generators are never the same. */
static bool same(const struct prover *p, const struct node *a, const struct node *b) {
  uint32_t f, g;
  a = bare(a);
  b = bare(b);
  if (is_part(p, a, &f) && is_part(p, b, &g))
    return f == g;
  if (!op_is_known(a->op) || a->op != b->op || a->index != b->index || a->constant != b->constant || a->n != b->n ||
      a->ngen || b->ngen || a->primed != b->primed)
    return false;
  if ((a->op == NODE_CALL && node_chooses(p->model, a)) || (a->op == NODE_DOMAIN && a->type != b->type))
    return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!same(p, a->kid[i], b->kid[i]))
      return false;
  return true;
}

/* --- facts --- */

static void facts_add(fact_vec *facts, const struct node *n, bool negated) {
  if (!n)
    return;
  if (n->op == NODE_NOT) {
    facts_add(facts, n->kid[0], !negated);
  } else if (n->op == (negated ? NODE_OR : NODE_AND)) {
    facts_add(facts, n->kid[0], negated);
    facts_add(facts, n->kid[1], negated);
  } else if (n->op == NODE_IMPLIES && negated) {
    facts_add(facts, n->kid[0], false);
    facts_add(facts, n->kid[1], true);
  } else {
    vec_push(facts, ((struct fact){.cond = n, .negated = negated}));
  }
}

static fact_vec facts_copy(const fact_vec *facts) {
  fact_vec copy = {0};
  for (size_t i = 0; i < facts->n; i++)
    vec_push(&copy, facts->at[i]);
  return copy;
}

struct occurrence_search {
  enum op op;
  uint32_t index;
  bool found;
};

static bool visit_occurrence(void *context, const struct node *n) {
  struct occurrence_search *m = context;
  m->found |= (n->op == m->op && n->index == m->index) || !op_is_known(n->op);
  if (m->op == NODE_SLOT)
    m->found |= n->op == NODE_SENDER && n->index == m->index;
  return !m->found;
}

/* Defs have slots of their own, and variables in common. */
static bool occurs_in(const struct model *m, const struct node *n, enum op op, uint32_t index) {
  struct occurrence_search occurrence = {op, index, false};
  if (op == NODE_SLOT)
    node_walk(n, visit_occurrence, &occurrence);
  else
    node_walk_deep(m, n, visit_occurrence, &occurrence);
  return occurrence.found;
}

static void facts_forget(const struct prover *p, fact_vec *facts, enum op op, uint32_t index) {
  size_t kept = 0;
  for (size_t i = 0; i < facts->n; i++) {
    const struct fact *f = &facts->at[i];
    bool gone = f->cond ? occurs_in(p->model, f->cond, op, index)
                        : (op == NODE_SLOT && f->slot == index) || occurs_in(p->model, f->expr, op, index);
    if (!gone)
      facts->at[kept++] = *f;
  }
  facts->n = kept;
}

struct assigned_facts {
  const struct prover *prover;
  fact_vec *facts;
};

static void forget_assigned(void *context, const struct stmt *s) {
  const struct assigned_facts *a = context;
  if (s->kind == STMT_ASSIGN)
    facts_forget(a->prover, a->facts, s->shared ? NODE_GLOBAL : NODE_VAR, s->var);
}

static void facts_forget_assigned(const struct prover *p, fact_vec *facts, const struct block *b) {
  block_visit(b, forget_assigned, &(struct assigned_facts){p, facts});
}

/* The generators bind names. Facts about earlier names in the same slots are dropped. */
static void facts_bind(const struct prover *p, fact_vec *facts, const struct generator *gen, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    facts_forget(p, facts, NODE_SLOT, gen[i].slot);
  for (uint32_t i = 0; i < n; i++)
    facts_add(facts, gen[i].cond, false);
}

/* --- what follows from facts --- */

/* The relation between the operands of the comparison that the fact states. */
static enum op relation(const struct fact *f) {
  enum op op = f->cond->op;
  if (!f->negated)
    return op;
  switch (op_number(op)) {
  case NODE_LT:
    return NODE_GE;
  case NODE_LE:
    return NODE_GT;
  case NODE_GT:
    return NODE_LE;
  case NODE_GE:
    return NODE_LT;
  case NODE_EQ:
    return NODE_NE;
  case NODE_NE:
    return NODE_EQ;
  }
  return NODE_OPS;
}

static bool known_at_least(const struct prover *p, const fact_vec *facts, const struct node *a, const struct node *b) {
  for (size_t i = 0; i < facts->n; i++) {
    const struct fact *f = &facts->at[i];
    if (!f->cond || f->cond->n != 2)
      continue;
    enum op op = relation(f);
    const struct node *x = f->cond->kid[0], *y = f->cond->kid[1];
    while (x->op == NODE_RECORD && y->op == NODE_RECORD && x->n > 0 && x->n == y->n) { /* by their first parts first */
      x = bare(x->kid[0]);
      y = bare(y->kid[0]);
    }
    if ((op == NODE_GE || op == NODE_GT || op == NODE_EQ) && same(p, x, a) && same(p, y, b))
      return true;
    if ((op == NODE_LE || op == NODE_LT || op == NODE_EQ) && same(p, x, b) && same(p, y, a))
      return true;
  }
  return false;
}

static bool known_within(const struct prover *p, const fact_vec *facts, const struct node *a, const struct node *b) {
  for (size_t i = 0; i < facts->n; i++) {
    const struct fact *f = &facts->at[i];
    if (f->cond && !f->negated && f->cond->op == NODE_SUBSET && same(p, f->cond->kid[0], a) &&
        same(p, f->cond->kid[1], b))
      return true;
  }
  return false;
}

/* Facts of the form n == constant, n != constant, with the operands in either order. */
static bool compared_with(const struct prover *p, const struct fact *f, const struct node *n, bool *equal,
                          value *constant) {
  enum op op = f->cond ? relation(f) : NODE_OPS;
  if (op != NODE_EQ && op != NODE_NE)
    return false;
  for (int side = 0; side < 2; side++) {
    const struct node *c = bare(f->cond->kid[1 - side]);
    if ((c->op == NODE_CONST || c->op == NODE_PARAM) && same(p, f->cond->kid[side], n)) {
      *equal = op == NODE_EQ;
      *constant = c->constant;
      return true;
    }
  }
  return false;
}

static bool known_truth(const struct prover *p, const fact_vec *facts, const struct node *n, bool wanted) {
  for (size_t i = 0; i < facts->n; i++) {
    const struct fact *f = &facts->at[i];
    bool equal;
    value c;
    if (f->cond && f->negated != wanted && same(p, f->cond, n))
      return true;
    if (compared_with(p, f, n, &equal, &c) && equal == ((c != 0) == wanted))
      return true;
  }
  return false;
}

/* An option: is it known to be none, or not to be? */
static bool known_none(const struct prover *p, const fact_vec *facts, const struct node *n, bool none) {
  for (size_t i = 0; i < facts->n; i++) {
    bool equal;
    value c;
    if (compared_with(p, &facts->at[i], n, &equal, &c) && c == VALUE_NONE && equal == none)
      return true;
  }
  return false;
}

static const struct node *definition_of(const fact_vec *facts, const struct node *n) {
  for (size_t i = facts->n; i-- > 0 && n->op == NODE_SLOT;)
    if (!facts->at[i].cond && facts->at[i].slot == n->index)
      return facts->at[i].expr;
  return NULL;
}

/* --- bounds --- */

struct number_bounds {
  int64_t lo, hi;
};

static struct number_bounds type_bounds(const struct type *t) {
  if (t->kind == TYPE_RANGE)
    return (struct number_bounds){t->lo, t->hi};
  if (t->kind == TYPE_ENUM)
    return (struct number_bounds){0, (int64_t)t->size - 1};
  return (struct number_bounds){t->kind == TYPE_ROUND ? 0 : INT64_MIN, INT64_MAX};
}

static struct number_bounds bounds_of(const struct prover *p, const fact_vec *facts, const struct node *n) {
  struct number_bounds b = type_bounds(n->type);
  n = bare(n);
  if (n->op == NODE_CONST || n->op == NODE_PARAM)
    return (struct number_bounds){n->constant, n->constant};
  if (n->op == NODE_CARD || n->op == NODE_COUNT)
    b.lo = 0;
  for (size_t i = 0; i < facts->n; i++) {
    const struct fact *f = &facts->at[i];
    enum op op = f->cond && f->cond->n == 2 ? relation(f) : NODE_OPS;
    for (int side = 0; side < 2 && op != NODE_OPS; side++) {
      const struct node *c = bare(f->cond->kid[1 - side]);
      if ((c->op != NODE_CONST && c->op != NODE_PARAM) || c->constant == INT64_MIN || c->constant == INT64_MAX ||
          !same(p, f->cond->kid[side], n))
        continue;
      bool less = op == (side ? NODE_GT : NODE_LT), more = op == (side ? NODE_LT : NODE_GT);
      bool most = less || op == NODE_EQ || op == (side ? NODE_GE : NODE_LE);
      bool least = more || op == NODE_EQ || op == (side ? NODE_LE : NODE_GE);
      if (most && c->constant - less < b.hi)
        b.hi = c->constant - less;
      if (least && c->constant + more > b.lo)
        b.lo = c->constant + more;
    }
  }
  return b;
}

/* --- proofs: the value of an expression compared with the present value of a place --- */

enum proof_claim { CLAIM_UP, CLAIM_DOWN, CLAIM_STAYS_SOME };

struct proof_goal {
  enum proof_claim claim;
  const struct node *place; /* the variable or its part, as an expression */
  unsigned depth;
};

static bool proves(const struct prover *, const fact_vec *, const struct node *, struct proof_goal);

static bool proves_any(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  for (uint32_t i = 0; i < n->n; i++)
    if (proves(p, facts, n->kid[i], g))
      return true;
  return false;
}

static bool proves_all(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  for (uint32_t i = 0; i < n->n; i++)
    if (!proves(p, facts, n->kid[i], g))
      return false;
  return n->n > 0;
}

static bool proves_if(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  fact_vec then = facts_copy(facts), other = facts_copy(facts);
  if (!node_chooses(p->model, n->kid[0])) {
    facts_add(&then, n->kid[0], false);
    facts_add(&other, n->kid[0], true);
  }
  bool result = proves(p, &then, n->kid[1], g) && proves(p, &other, n->kid[2], g);
  vec_release(&then);
  vec_release(&other);
  return result;
}

/* min, max, pick, random: one of the elements, each of which satisfies the conditions. */
static bool proves_element(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  bool given = n->ngen == 1 && n->gen[0].range->op == NODE_SET && !n->gen[0].cond && n->kid[0]->op == NODE_SLOT &&
               n->kid[0]->index == n->gen[0].slot;
  if (given && n->op == (g.claim == CLAIM_UP ? NODE_MAX : NODE_MIN) && g.claim != CLAIM_STAYS_SOME)
    return proves_any(p, facts, n->gen[0].range, g);
  if (given)
    return proves_all(p, facts, n->gen[0].range, g);
  fact_vec inner = facts_copy(facts);
  facts_bind(p, &inner, n->gen, n->ngen);
  bool result = proves(p, &inner, n->kid[0], g);
  vec_release(&inner);
  return result;
}

static bool proves_truth(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  bool up = g.claim == CLAIM_UP;
  if (n->op == NODE_CONST || n->op == NODE_PARAM)
    return (n->constant != 0) == up;
  if (n->op == (up ? NODE_OR : NODE_AND) && proves_any(p, facts, n, g))
    return true;
  if (n->op == (up ? NODE_AND : NODE_OR) && proves_all(p, facts, n, g))
    return true;
  return known_truth(p, facts, n, up) || known_truth(p, facts, g.place, !up);
}

static bool proves_number(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  bool up = g.claim == CLAIM_UP;
  const struct node *a = n->n > 0 ? n->kid[0] : NULL, *b = n->n > 1 ? n->kid[1] : NULL;
  if (known_at_least(p, facts, up ? n : g.place, up ? g.place : n))
    return true;
  struct number_bounds of = bounds_of(p, facts, n), place = bounds_of(p, facts, g.place);
  if (up ? of.lo >= place.hi : of.hi <= place.lo)
    return true;
  if (n->op == NODE_ADD || n->op == NODE_SUB) {
    struct number_bounds x = bounds_of(p, facts, a), y = bounds_of(p, facts, b);
    bool grows = up == (n->op == NODE_ADD); /* the claim needs b >= 0; otherwise b <= 0 */
    if (proves(p, facts, a, g) && (grows ? y.lo >= 0 : y.hi <= 0))
      return true;
    return n->op == NODE_ADD && proves(p, facts, b, g) && (up ? x.lo >= 0 : x.hi <= 0);
  }
  return false;
}

static bool proves_set(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  bool up = g.claim == CLAIM_UP;
  if (n->op == (up ? NODE_UNION : NODE_INTERSECTION) && proves_any(p, facts, n, g))
    return true;
  if (n->op == (up ? NODE_INTERSECTION : NODE_UNION) && proves_all(p, facts, n, g))
    return true;
  if (n->op == NODE_DIFFERENCE && !up && proves(p, facts, n->kid[0], g))
    return true;
  if (!up && n->op == NODE_SET && n->n == 0)
    return true;
  return known_within(p, facts, up ? g.place : n, up ? n : g.place);
}

static bool proves_stays_some(const struct prover *p, const fact_vec *facts, const struct node *n,
                              struct proof_goal g) {
  if (n->op == NODE_WRAP || known_none(p, facts, g.place, true) || known_none(p, facts, n, false))
    return true;
  if (n->op == NODE_CONST || n->op == NODE_PARAM)
    return n->constant != VALUE_NONE;
  return false;
}

static bool proves_outright(const struct prover *, const fact_vec *, const struct node *, struct proof_goal);

/* By cases of a disjunction that is a fact. */
static bool proves_by_cases(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  bool result = false;
  g.depth += PROOF_DEPTH / 2; /* limits nested case distinctions */
  for (size_t i = 0; i < facts->n && !result; i++) {
    const struct fact *f = &facts->at[i];
    if (!f->cond || f->cond->op != (f->negated ? NODE_AND : NODE_OR))
      continue;
    result = true;
    for (uint32_t k = 0; k < 2 && result; k++) {
      fact_vec one = facts_copy(facts);
      one.at[i] = one.at[--one.n];
      facts_add(&one, f->cond->kid[k], f->negated);
      result = proves(p, &one, n, g);
      vec_release(&one);
    }
  }
  return result;
}

static bool proves(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  if (g.depth++ > PROOF_DEPTH)
    return false;
  return proves_outright(p, facts, n, g) || proves_by_cases(p, facts, n, g);
}

static bool proves_outright(const struct prover *p, const fact_vec *facts, const struct node *n, struct proof_goal g) {
  n = bare(n);
  if (same(p, n, g.place))
    return true;
  const struct node *defined = definition_of(facts, n);
  if (defined && proves(p, facts, defined, g))
    return true;
  if (n->op == NODE_IF)
    return proves_if(p, facts, n, g);
  if ((n->op == NODE_MIN || n->op == NODE_MAX || n->op == NODE_PICK || n->op == NODE_RANDOM) &&
      proves_element(p, facts, n, g))
    return true;
  if (g.claim == CLAIM_STAYS_SOME)
    return g.place->type->kind == TYPE_OPTION && proves_stays_some(p, facts, n, g);
  switch (g.place->type->kind) {
  case TYPE_BOOL:
    return proves_truth(p, facts, n, g);
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_ROUND:
    /* max(...) otherwise d: one of the two */
    if (n->op == NODE_OTHERWISE && n->kid[0]->type->kind != TYPE_OPTION && proves_all(p, facts, n, g))
      return true;
    return proves_number(p, facts, n, g);
  case TYPE_SET:
    return proves_set(p, facts, n, g);
  case TYPE_PROCESS:
  case TYPE_OPTION:
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return false;
}

/* --- statements --- */

/* The assigned place as an expression: x, x[i], x.f. */
static const struct node *place_node(const struct prover *p, const struct stmt *s) {
  struct node *n = arena_alloc(p->arena, sizeof *n);
  *n = (struct node){.op = s->shared ? NODE_GLOBAL : NODE_VAR, .index = s->var, .at = s->at};
  n->type = assigned_type(p->model, p->role_index, s);
  for (uint32_t i = 0; i < s->npath; i++) {
    struct node *part = arena_alloc(p->arena, sizeof *part);
    const struct place_step *step = &s->path[i];
    part->at = s->at;
    part->n = step->index ? 2 : 1;
    part->kid = arena_array(p->arena, part->n, sizeof *part->kid);
    part->kid[0] = n;
    if (step->index) {
      part->op = NODE_INDEX;
      part->kid[1] = step->index;
      part->type = n->type->element;
    } else {
      part->op = NODE_SELECT;
      part->index = step->field;
      part->type = n->type->fields[step->field].type;
    }
    n = part;
  }
  return n;
}

static void prove_assign(const struct prover *p, const fact_vec *facts, const struct stmt *s) {
  struct monotonicity *change = s->shared ? &p->shared[s->var] : &p->own[s->var];
  const struct node *place = place_node(p, s);
  if (!s->shared && s->var == p->role->point_var) { /* see point_reaches */
    *change = (struct monotonicity){0};
    return;
  }
  for (uint32_t i = 0; i < s->npath; i++)
    if (s->path[i].index && node_chooses(p->model, s->path[i].index)) {
      *change = (struct monotonicity){0};
      return;
    }
  change->nondecreasing = change->nondecreasing && proves(p, facts, s->expr, (struct proof_goal){CLAIM_UP, place, 0});
  change->nonincreasing = change->nonincreasing && proves(p, facts, s->expr, (struct proof_goal){CLAIM_DOWN, place, 0});
  change->stays_some = change->stays_some && proves(p, facts, s->expr, (struct proof_goal){CLAIM_STAYS_SOME, place, 0});
}

static void prove_block(const struct prover *, fact_vec *, const struct block *);

static void prove_if(const struct prover *p, fact_vec *facts, const struct stmt *s) {
  fact_vec then = facts_copy(facts), other = facts_copy(facts);
  facts_bind(p, &then, s->guard.gen, s->guard.ngen);
  if (s->guard.cond && !node_chooses(p->model, s->guard.cond)) {
    facts_add(&then, s->guard.cond, false);
    if (s->guard.ngen == 0)
      facts_add(&other, s->guard.cond, true);
  }
  prove_block(p, &then, &s->then);
  prove_block(p, &other, &s->other);
  vec_release(&then);
  vec_release(&other);
  facts_forget_assigned(p, facts, &s->then);
  facts_forget_assigned(p, facts, &s->other);
}

/* The body is executed any number of times: only facts that it does not invalidate hold at its start. */
static void prove_foreach(const struct prover *p, fact_vec *facts, const struct stmt *s) {
  facts_forget_assigned(p, facts, &s->then);
  fact_vec inner = facts_copy(facts);
  facts_forget(p, &inner, NODE_SLOT, s->slot);
  prove_block(p, &inner, &s->then);
  vec_release(&inner);
}

static void prove_block(const struct prover *p, fact_vec *facts, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    switch (s->kind) {
    case STMT_IF:
      prove_if(p, facts, s);
      break;
    case STMT_LET:
      facts_forget(p, facts, NODE_SLOT, s->slot);
      if (!node_chooses(p->model, s->expr))
        vec_push(facts, ((struct fact){.slot = s->slot, .expr = s->expr}));
      break;
    case STMT_ASSIGN:
      prove_assign(p, facts, s);
      facts_forget(p, facts, s->shared ? NODE_GLOBAL : NODE_VAR, s->var);
      break;
    case STMT_FOREACH:
      prove_foreach(p, facts, s);
      break;
    case STMT_HALT:
    case STMT_SEND:
      break;
    }
  }
}

/* --- quorums --- */

/* A condition on each message, with the fields on which all messages agree replaced by the names that are bound to
   them. NULL: it reads something else of the message. */
static struct node *of_common_parts(const struct prover *p, const struct node *n) {
  const struct action *a = p->action;
  if (n->ngen || n->op == NODE_SENDER || n->op == NODE_CALL || (n->op == NODE_SLOT && n->index == a->slot))
    return NULL;
  struct node *copy = arena_copy(p->arena, n, sizeof *n);
  if (n->op == NODE_SELECT && n->kid[0]->op == NODE_SLOT && n->kid[0]->index == a->slot) {
    for (uint32_t i = 0; i < a->nparts; i++)
      if (a->parts[i].field == n->index) {
        *copy = (struct node){.op = NODE_SLOT, .index = a->parts[i].slot, .at = n->at};
        copy->type = n->type;
        return copy;
      }
    return NULL;
  }
  copy->kid = arena_array(p->arena, n->n + 1, sizeof *copy->kid);
  for (uint32_t i = 0; i < n->n; i++)
    if (!(copy->kid[i] = of_common_parts(p, n->kid[i])))
      return NULL;
  return copy;
}

static void add_common(const struct prover *p, fact_vec *facts, const struct node *n) {
  if (n->op == NODE_AND) {
    add_common(p, facts, n->kid[0]);
    add_common(p, facts, n->kid[1]);
    return;
  }
  const struct node *common = of_common_parts(p, n);
  if (common)
    facts_add(facts, common, false);
}

void action_monotonicity(const struct model *m, uint32_t role, const struct action *a, struct monotonicity *own,
                         struct monotonicity *shared, struct arena *arena) {
  struct prover p = {.model = m, .role = &m->roles[role], .role_index = role, .action = a};
  fact_vec facts = {0};
  p.own = own;
  p.shared = shared;
  p.arena = arena;
  if (a->match && !node_chooses(m, a->match)) {
    if (a->trigger == TRIGGER_ONE)
      facts_add(&facts, a->match, false);
    else if (a->nparts > 0) /* `same`: there is at least one message */
      add_common(&p, &facts, a->match);
  }
  facts_bind(&p, &facts, a->guard.gen, a->guard.ngen);
  if (a->guard.cond && !node_chooses(m, a->guard.cond))
    facts_add(&facts, a->guard.cond, false);
  prove_block(&p, &facts, &a->body);
  vec_release(&facts);
}
