#include "analysis/round_window.h"

#include "analysis/dataflow.h"
#include "analysis/may_fail.h"
#include "analysis/model_visitor.h"
#include "analysis/scalarset_typing.h"
#include "analysis/stable_predicates.h"
#include "analysis/three_valued.h"
#include "base/memory.h"

#include <string.h>

/* --- may all rounds be shifted by the same amount? --- */

struct shift_check {
  const struct model *model;
  struct arena *arena;
  struct round_window *out;
};

static int64_t common_multiple(int64_t a, int64_t b) {
  int64_t x = a, y = b;
  while (y) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return a / x * b;
}

static void forbid(struct shift_check *m, const struct node *n, const char *says) {
  if (!m->out->why.reason)
    m->out->why =
        (struct refusal){arena_printf(m->arena, "'%s' %s", source_quote(m->model, n->at, m->arena), says), n->at};
}

static bool is_number(const struct node *n) { return n->op == NODE_CONST || n->op == NODE_PARAM; }

/* r mod k, or P(r), which is taken modulo the size of the role. */
static void keep_residue(struct shift_check *m, const struct node *n) {
  int64_t k = n->op == NODE_PROCESS_AT ? (int64_t)m->model->roles[n->index].count
              : is_number(n->kid[1])   ? n->kid[1]->constant
                                       : 0;
  if (k < 1 || k > 1000 || m->out->modulus > 1000000)
    forbid(m, n, "reads the residue of a round number by something large or unknown");
  else
    m->out->modulus = common_multiple(m->out->modulus, k);
}

static bool advances(const struct node *n) {
  return n->op == NODE_ADD && n->kid[0]->type->kind == TYPE_ROUND && is_number(n->kid[1]) && n->kid[1]->constant >= 0;
}

static void on_event(void *context, enum scalarset_event e, const struct node *n, bool initial) {
  struct shift_check *m = context;
  switch (e) {
  case SCALARSET_ORDER:
    return;
  case SCALARSET_RESIDUE:
    keep_residue(m, n);
    return;
  case SCALARSET_ARITHMETIC:
    if (!advances(n))
      forbid(m, n, "computes with round numbers");
    return;
  case SCALARSET_LITERAL:
    if (!initial)
      forbid(m, n, "is a particular round number");
    return;
  case SCALARSET_MIXED:
    forbid(m, n, "makes round numbers of something else, or the other way round");
    return;
  case SCALARSET_SIZE:
    forbid(m, n, "goes through round numbers");
    return;
  }
}

/* What scalarset typing permits, but a shift changes: the round 0, and initial values. */
static bool look_for_constants(void *context, const struct node *n) {
  struct shift_check *m = context;
  if (is_number(n) && n->type->kind == TYPE_ROUND)
    forbid(m, n, "is a particular round number");
  if (n->op == NODE_CONST && n->type->kind != TYPE_ROUND && type_contains_kind(n->type, TYPE_ROUND) &&
      n->constant != VALUE_NONE) {
    struct round_span span = ROUND_SPAN_EMPTY;
    value_round_span(&m->model->values, n->type, n->constant, &span);
    if (span.lo <= span.hi)
      forbid(m, n, "holds a particular round number");
  }
  if (n->op == NODE_INITIAL && type_contains_kind(n->type, TYPE_ROUND))
    forbid(m, n, "remembers a round number for ever");
  return true;
}

static void on_node(void *context, const struct visit_site *site, const struct node *n) {
  struct shift_check *m = context;
  if (site->place != SITE_INITIAL)
    node_walk_deep(m->model, n, look_for_constants, m);
}

static void look_at_vars(struct shift_check *m, const struct scalarset *o, const struct var *vars, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const struct var *v = &vars[i];
    if (!type_contains_kind(v->type, TYPE_ROUND))
      continue;
    m->out->any = true;
    const char *says = v->kind == VAR_INPUT && !v->init ? "is a round number that is chosen freely"
                       : scalarset_indexes(o, v->type)  ? "is indexed by round numbers"
                                                        : NULL;
    if (says && !m->out->why.reason)
      m->out->why = (struct refusal){arena_printf(m->arena, "'%s' %s", v->name, says), v->at};
  }
}

static void check_shift(const struct model *model, const struct query *q, struct arena *arena,
                        struct round_window *out) {
  struct shift_check m = {model, arena, out};
  struct model_visitor s = {.model = model, .query = q, .context = &m, .node = on_node};
  struct scalarset o = {.model = model, .query = q, .context = &m, .raise = on_event};
  out->modulus = 1;
  scalarset_check(&o);
  model_visit(&s);
  look_at_vars(&m, &o, model->globals, model->nglobals);
  for (uint32_t r = 0; r < model->nroles; r++)
    look_at_vars(&m, &o, model->roles[r].vars, model->roles[r].nvars);
  for (uint32_t k = 0; k < model->nmessages; k++)
    out->any |= type_contains_kind(model->messages[k].type, TYPE_ROUND);
}

/* --- anchors --- */

static void find_anchors(const struct model *m, const struct query *q, struct arena *arena, struct round_window *out) {
  const struct stable_predicates *p = stable_predicates_of(m, q, arena);
  out->anchor = arena_array(arena, m->nroles + 1, sizeof *out->anchor);
  out->shared_anchor = arena_array(arena, m->nglobals + 1, sizeof *out->shared_anchor);
  for (uint32_t r = 0; r < m->nroles; r++) {
    out->anchor[r] = arena_array(arena, m->roles[r].nvars + 1, sizeof **out->anchor);
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      out->anchor[r][i] = m->roles[r].vars[i].type->kind == TYPE_ROUND && variable_is_nondecreasing(p, r, i);
  }
  for (uint32_t g = 0; g < m->nglobals; g++)
    out->shared_anchor[g] = m->globals[g].type->kind == TYPE_ROUND && global_is_nondecreasing(p, g);
}

/* --- which rounds of messages expire --- */

/* The sources of the rounds in a value: fields of messages that expire, as far as is known; anchors; others. */
struct round_origin {
  uint64_t fields; /* bit i: expiring->field[i] */
  bool anchor, other;
};

#define FIELDS_MOST 64
#define CALL_DEPTH 12
#define CALLS_MAX 10000 /* a def may call another several times, and so on */

struct slot_origin { /* a local name: a message of that kind, or a value */
  uint32_t kind;
  struct round_origin from;
};

struct expiry_analysis {
  const struct model *model;
  struct round_window *out;
  uint32_t (*field)[2]; /* kind, field */
  uint32_t nfields;
  bool changed;
  /* the action at hand */
  uint32_t role;
  const struct action *action;
  struct slot_origin *name; /* by slot */
  unsigned depth;           /* of calls */
  unsigned calls;           /* so far */
};

static const struct round_origin nowhere = {0, false, false};

static struct round_origin joined(struct round_origin a, struct round_origin b) {
  return (struct round_origin){a.fields | b.fields, a.anchor || b.anchor, a.other || b.other};
}

static void rule_out(struct expiry_analysis *f, uint64_t fields) {
  for (uint32_t i = 0; i < f->nfields; i++)
    if (fields >> i & 1 && f->out->expires[f->field[i][0]][f->field[i][1]]) {
      f->out->expires[f->field[i][0]][f->field[i][1]] = false;
      f->changed = true;
    }
}

/* An expired round is smaller than all anchors. The result of other comparisons is not known. */
static void compare(struct expiry_analysis *f, struct round_origin a, struct round_origin b) {
  if (b.fields || b.other)
    rule_out(f, a.fields);
  if (a.fields || a.other)
    rule_out(f, b.fields);
}

static struct round_origin field_origin(const struct expiry_analysis *f, uint32_t kind, uint32_t field) {
  if (!type_contains_kind(f->model->messages[kind].type->fields[field].type, TYPE_ROUND))
    return nowhere;
  for (uint32_t i = 0; i < f->nfields && f->out->expires[kind][field]; i++)
    if (f->field[i][0] == kind && f->field[i][1] == field)
      return (struct round_origin){.fields = UINT64_C(1) << i};
  return (struct round_origin){.other = true};
}

static struct round_origin message_origin(const struct expiry_analysis *f, uint32_t kind) {
  struct round_origin all = nowhere;
  for (uint32_t i = 0; i < f->model->messages[kind].type->size; i++)
    all = joined(all, field_origin(f, kind, i));
  return all;
}

static struct round_origin look(struct expiry_analysis *, const struct node *);

static void look_generators(struct expiry_analysis *f, const struct generator *gen, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    struct round_origin range = look(f, gen[i].range);
    bool message = gen[i].range->op == NODE_RECEIVED;
    f->name[gen[i].slot] = (struct slot_origin){message ? f->action->kind : NO_KIND, range};
    if (gen[i].cond)
      look(f, gen[i].cond);
  }
}

static struct round_origin look_kids(struct expiry_analysis *f, const struct node *n) {
  struct round_origin all = nowhere;
  look_generators(f, n->gen, n->ngen);
  for (uint32_t i = 0; i < n->n; i++)
    all = joined(all, look(f, n->kid[i]));
  return all;
}

static struct round_origin look_call(struct expiry_analysis *f, const struct node *n) {
  const struct def *def = &f->model->defs[n->index];
  struct slot_origin *inner = memory_alloc((f->model->nslots + n->n + 1) * sizeof *inner), *outer = f->name;
  struct round_origin all = nowhere, result;
  for (uint32_t i = 0; i <= f->model->nslots + n->n; i++)
    inner[i].kind = NO_KIND;
  for (uint32_t i = 0; i < n->n; i++) {
    inner[i].from = look(f, n->kid[i]);
    all = joined(all, inner[i].from);
  }
  if (f->depth >= CALL_DEPTH || ++f->calls > CALLS_MAX) {
    rule_out(f, all.fields);
    result = (struct round_origin){.other = true};
  } else {
    f->name = inner;
    f->depth++;
    result = look(f, def->body);
    f->depth--;
    f->name = outer;
  }
  memory_free(inner);
  return result;
}

static const struct node *bare(const struct node *n) {
  while (n->op == NODE_NARROW)
    n = n->kid[0];
  return n;
}

static void look_comparison(struct expiry_analysis *f, const struct node *a, const struct node *b) {
  a = bare(a);
  b = bare(b);
  if (a->op == NODE_RECORD && b->op == NODE_RECORD && a->n == b->n) {
    for (uint32_t i = 0; i < a->n; i++)
      look_comparison(f, a->kid[i], b->kid[i]);
    return;
  }
  struct round_origin x = look(f, a), y = look(f, b);
  compare(f, x, y);
}

/* max(a, b) of listed values: one of them. Each is compared with each. */
static bool look_extreme(struct expiry_analysis *f, const struct node *n, struct round_origin *all) {
  const struct generator *gen = n->gen;
  if (n->ngen != 1 || gen->cond || gen->range->op != NODE_SET || n->kid[0]->op != NODE_SLOT ||
      n->kid[0]->index != gen->slot)
    return false;
  *all = nowhere;
  for (uint32_t i = 0; i < gen->range->n; i++) {
    struct round_origin o = look(f, gen->range->kid[i]);
    for (uint32_t j = 0; j < i; j++)
      compare(f, o, look(f, gen->range->kid[j]));
    *all = joined(*all, o);
  }
  return true;
}

static struct round_origin look_inside(struct expiry_analysis *f, const struct node *n) {
  struct round_origin o;
  switch (op_number(n->op)) {
  case NODE_SLOT: {
    const struct slot_origin *name = &f->name[n->index];
    return name->kind != NO_KIND ? message_origin(f, name->kind) : name->from;
  }
  case NODE_VAR:
    return f->out->anchor[f->role][n->index] ? (struct round_origin){.anchor = true}
                                             : (struct round_origin){.other = true};
  case NODE_GLOBAL:
    return f->out->shared_anchor[n->index] ? (struct round_origin){.anchor = true}
                                           : (struct round_origin){.other = true};
  case NODE_SELECT:
    if (n->kid[0]->op == NODE_SLOT && f->name[n->kid[0]->index].kind != NO_KIND)
      return field_origin(f, f->name[n->kid[0]->index].kind, n->index);
    return look(f, n->kid[0]);
  case NODE_RECEIVED:
    return f->action->trigger == TRIGGER_NONE ? nowhere : message_origin(f, f->action->kind);
  case NODE_CALL:
    return look_call(f, n);
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    look_comparison(f, n->kid[0], n->kid[1]);
    return nowhere;
  case NODE_IN:
    o = look(f, n->kid[0]);
    compare(f, o, look(f, n->kid[1]));
    return nowhere;
  case NODE_AND:
  case NODE_OR:
  case NODE_NOT:
  case NODE_IMPLIES:
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_COUNT:
    look_kids(f, n);
    return nowhere;
  case NODE_IF:
    look(f, n->kid[0]);
    o = look(f, n->kid[1]);
    return joined(o, look(f, n->kid[2]));
  case NODE_RECORD:
  case NODE_NARROW:
  case NODE_WRAP:
  case NODE_OTHERWISE:
    return look_kids(f, n);
  case NODE_MIN:
  case NODE_MAX:
    if (look_extreme(f, n, &o))
      return o;
    break;
  }
  /* any other operator may distinguish the values */
  o = look_kids(f, n);
  rule_out(f, o.fields);
  return (struct round_origin){.anchor = o.anchor && n->op == NODE_ADD, .other = !(o.anchor && n->op == NODE_ADD)};
}

static struct round_origin look(struct expiry_analysis *f, const struct node *n) {
  struct round_origin o = look_inside(f, n);
  return type_contains_kind(n->type, TYPE_ROUND) ? o : nowhere;
}

static void look_guard(struct expiry_analysis *f, const struct guard *g) {
  look_generators(f, g->gen, g->ngen);
  if (g->cond)
    look(f, g->cond);
}

/* An expired round may only be sent in a field that expires, too. */
static void look_send(struct expiry_analysis *f, const struct send *s) {
  const struct node *message = bare(s->message);
  if (s->to)
    look(f, s->to);
  if (message->op != NODE_RECORD) {
    rule_out(f, look(f, message).fields);
    return;
  }
  for (uint32_t i = 0; i < message->n; i++) {
    struct round_origin o = look(f, message->kid[i]);
    if (!f->out->expires[s->kind][i])
      rule_out(f, o.fields);
  }
}

static void look_stmt(void *context, const struct stmt *s) {
  struct expiry_analysis *f = context;
  struct round_origin o = nowhere;
  switch (s->kind) {
  case STMT_IF:
    look_guard(f, &s->guard);
    break;
  case STMT_LET:
    o = look(f, s->expr);
    f->name[s->slot] = (struct slot_origin){NO_KIND, o};
    if (s->expr->op == NODE_SLOT)
      f->name[s->slot] = f->name[s->expr->index];
    break;
  case STMT_ASSIGN:
    o = look(f, s->expr);
    for (uint32_t k = 0; k < s->npath; k++)
      if (s->path[k].index)
        look(f, s->path[k].index);
    if (s->npath > 0 || !(s->shared ? f->out->shared_anchor[s->var] : f->out->anchor[f->role][s->var]))
      rule_out(f, o.fields);
    break;
  case STMT_FOREACH:
    f->name[s->slot] = (struct slot_origin){f->action->kind, nowhere};
    break;
  case STMT_SEND:
    look_send(f, s->send);
    break;
  case STMT_HALT:
    break;
  }
}

static void look_action(struct expiry_analysis *f, uint32_t role, const struct action *a) {
  f->role = role;
  f->action = a;
  for (uint32_t i = 0; i <= f->model->nslots; i++)
    f->name[i] = (struct slot_origin){NO_KIND, nowhere};
  if (a->trigger != TRIGGER_NONE)
    f->name[a->slot].kind = a->kind;
  for (uint32_t i = 0; i < a->nparts; i++) {
    f->name[a->parts[i].slot].from = field_origin(f, a->kind, a->parts[i].field);
    if (a->trigger == TRIGGER_QUORUM) /* `same` compares the fields of the messages */
      rule_out(f, f->name[a->parts[i].slot].from.fields);
  }
  if (a->match)
    look(f, a->match);
  if (a->size)
    look(f, a->size);
  look_guard(f, &a->guard);
  block_visit(&a->body, look_stmt, f);
}

static void find_expiring(struct expiry_analysis *f, const struct query *q, struct arena *arena) {
  const struct model *m = f->model;
  const struct clause *channels = query_channels(m, q);
  bool set = channels && channels->channel == CHANNEL_SET; /* such a channel compares messages */
  f->out->expires = arena_array(arena, m->nmessages + 1, sizeof *f->out->expires);
  f->field = arena_array(arena, FIELDS_MOST, sizeof *f->field);
  f->name = arena_array(arena, m->nslots + 1, sizeof *f->name);
  for (uint32_t k = 0; k < m->nmessages; k++) {
    const struct type *t = m->messages[k].type;
    f->out->expires[k] = arena_array(arena, t->size + 1, sizeof **f->out->expires);
    for (uint32_t i = 0; i < t->size && !set && f->nfields < FIELDS_MOST; i++)
      if (t->fields[i].type->kind == TYPE_ROUND) {
        f->out->expires[k][i] = true;
        f->field[f->nfields][0] = k;
        f->field[f->nfields++][1] = i;
      }
  }
  do {
    f->changed = false;
    for (uint32_t r = 0; r < m->nroles; r++)
      for (uint32_t a = 0; a < m->roles[r].nactions; a++)
        look_action(f, r, &m->roles[r].actions[a]);
  } while (f->changed);
}

/* --- what of a message whose round has expired is still read --- */

struct expired_reads_walk {
  const struct model *model;
  const struct query *query;
  struct round_window *out;
  uint32_t role, kind, expiring;
  const struct action *action;
  bool *read; /* by field */
  bool changed;
};

static void read_all(struct expired_reads_walk *r) {
  for (uint32_t i = 0; i < r->model->messages[r->kind].type->size; i++)
    r->read[i] = true;
}

/* Is it a field of the message? */
static bool is_field(const struct expired_reads_walk *r, const struct node *n, uint32_t *field) {
  const struct action *a = r->action;
  n = bare(n);
  if (n->op == NODE_SELECT && n->kid[0]->op == NODE_SLOT && n->kid[0]->index == a->slot) {
    *field = n->index;
    return true;
  }
  for (uint32_t i = 0; i < a->nparts && n->op == NODE_SLOT; i++)
    if (n->index == a->parts[i].slot) {
      *field = a->parts[i].field;
      return true;
    }
  return false;
}

static bool is_expired(const struct expired_reads_walk *r, const struct node *n) {
  uint32_t field;
  return is_field(r, n, &field) && field == r->expiring;
}

static bool is_anchor(const struct expired_reads_walk *r, const struct node *n) {
  n = bare(n);
  return (n->op == NODE_VAR && r->out->anchor[r->role][n->index]) ||
         (n->op == NODE_GLOBAL && r->out->shared_anchor[n->index]);
}

/* expired < anchor. Records are compared by their first parts. */
static enum ternary decide_comparison(const struct expired_reads_walk *r, const struct node *n) {
  const struct node *a = bare(n->kid[0]), *b = bare(n->kid[1]);
  while (a->op == NODE_RECORD && b->op == NODE_RECORD && a->n > 0 && a->n == b->n) {
    a = bare(a->kid[0]);
    b = bare(b->kid[0]);
  }
  bool less = is_expired(r, a) && is_anchor(r, b), more = is_anchor(r, a) && is_expired(r, b);
  if (!less && !more)
    return MAYBE;
  switch (op_number(n->op)) {
  case NODE_EQ:
    return NO;
  case NODE_NE:
    return YES;
  case NODE_LT:
  case NODE_LE:
    return ternary_of(less);
  case NODE_GT:
  case NODE_GE:
    return ternary_of(more);
  }
  return MAYBE;
}

static enum ternary decide(void *context, const struct node *n) {
  switch (op_number(n->op)) {
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    return decide_comparison(context, n);
  }
  return ternary_connective(n, decide, context);
}

/* Is the second operand of a connective evaluated? Not if the first one decides. */
static bool evaluates_second(struct expired_reads_walk *r, const struct node *n) {
  return decide(r, n->kid[0]) != (n->op == NODE_OR ? YES : NO);
}

static bool is_connective(const struct node *n) {
  return n->op == NODE_AND || n->op == NODE_OR || n->op == NODE_IMPLIES;
}

/* Can a condition on an expired message fail? */
static bool condition_may_fail(struct expired_reads_walk *r, const struct node *n) {
  if (is_connective(n))
    return condition_may_fail(r, n->kid[0]) || (evaluates_second(r, n) && condition_may_fail(r, n->kid[1]));
  return node_may_fail(r->model, r->query, n, NULL, NULL);
}

/* The truth of a condition on an expired message (NULL: true). MAYBE if it may fail: whether it does is read. */
static enum ternary decide_safely(struct expired_reads_walk *r, const struct node *n) {
  return !n ? YES : condition_may_fail(r, n) ? MAYBE : decide(r, n);
}

static bool visit_read(void *context, const struct node *n) {
  struct expired_reads_walk *r = context;
  uint32_t field;
  if (is_field(r, n, &field)) {
    r->read[field] |= field != r->expiring; /* that it has expired is stored */
    return false;
  }
  if (n->op == NODE_SLOT && n->index == r->action->slot)
    read_all(r);
  if ((op_traits(n->op) & TRAIT_MESSAGES) && n->op != NODE_SENDER)
    read_all(r);
  return true;
}

static void reads(struct expired_reads_walk *r, const struct node *n) {
  if (n)
    node_walk(n, visit_read, r);
}

/* What decides a condition. Parts that are decided and cannot fail, or are not evaluated, read nothing. */
static void reads_condition(struct expired_reads_walk *r, const struct node *n) {
  if (decide_safely(r, n) != MAYBE)
    return;
  if (is_connective(n)) {
    reads_condition(r, n->kid[0]);
    if (evaluates_second(r, n))
      reads_condition(r, n->kid[1]);
  } else if (n->op == NODE_NOT) {
    reads_condition(r, n->kid[0]);
  } else {
    reads(r, n);
  }
}

static void reads_guard(struct expired_reads_walk *r, const struct guard *g) {
  if (g->ngen)
    guard_walk(g, visit_read, r);
  else
    reads_condition(r, g->cond);
}

static enum ternary decide_guard(struct expired_reads_walk *r, const struct guard *g) {
  return g->ngen ? MAYBE : decide_safely(r, g->cond);
}

/* A field that is forwarded in a message with the same expired round is read only if it is read there. */
static void reads_send(struct expired_reads_walk *r, const struct send *s) {
  const struct node *message = bare(s->message);
  reads(r, s->to);
  if (message->op != NODE_RECORD) {
    reads(r, message);
    return;
  }
  uint32_t expired = UINT32_MAX, field;
  for (uint32_t i = 0; i < message->n && expired == UINT32_MAX; i++)
    if (r->out->expires[s->kind][i] && is_expired(r, message->kid[i]))
      expired = i;
  for (uint32_t i = 0; i < message->n; i++)
    if (expired == UINT32_MAX || !is_field(r, message->kid[i], &field) || !r->out->unread[s->kind][expired][i])
      reads(r, message->kid[i]);
}

static void reads_block(struct expired_reads_walk *r, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    enum ternary t = MAYBE;
    switch (s->kind) {
    case STMT_IF:
      t = decide_guard(r, &s->guard);
      reads_guard(r, &s->guard);
      break;
    case STMT_LET:
    case STMT_ASSIGN:
      reads(r, s->expr);
      for (uint32_t k = 0; k < s->npath; k++)
        reads(r, s->path[k].index);
      break;
    case STMT_SEND:
      reads_send(r, s->send);
      break;
    case STMT_FOREACH:
      read_all(r);
      break;
    case STMT_HALT:
      break;
    }
    if (t != NO)
      reads_block(r, &s->then);
    if (t != YES)
      reads_block(r, &s->other);
  }
}

static void reads_action(struct expired_reads_walk *r, const struct action *a) {
  r->action = a;
  if (a->trigger == TRIGGER_NONE || a->kind != r->kind || decide_safely(r, a->match) == NO)
    return;
  if (a->trigger == TRIGGER_QUORUM) {
    read_all(r);
    return;
  }
  bool never = decide_guard(r, &a->guard) == NO;
  if (!never || (a->match && condition_may_fail(r, a->match))) /* the match is evaluated before the guard */
    reads_condition(r, a->match);
  if (never)
    return;
  reads_guard(r, &a->guard);
  reads_block(r, &a->body);
}

static void find_unread_of(struct expired_reads_walk *r) {
  const struct model *m = r->model;
  uint32_t n = m->messages[r->kind].type->size;
  bool *unread = r->out->unread[r->kind][r->expiring];
  memset(r->read, 0, n);
  for (r->role = 0; r->role < m->nroles; r->role++)
    for (uint32_t a = 0; a < m->roles[r->role].nactions; a++)
      reads_action(r, &m->roles[r->role].actions[a]);
  for (uint32_t i = 0; i < n; i++) {
    r->changed |= unread[i] && r->read[i];
    unread[i] &= !r->read[i];
  }
}

static void find_unread(const struct model *m, const struct query *q, struct arena *arena, struct round_window *out) {
  struct expired_reads_walk r = {.model = m, .query = q, .out = out};
  uint32_t longest = 1;
  out->unread = arena_array(arena, m->nmessages + 1, sizeof *out->unread);
  for (uint32_t k = 0; k < m->nmessages; k++) {
    uint32_t n = m->messages[k].type->size;
    longest = n > longest ? n : longest;
    out->unread[k] = arena_array(arena, n + 1, sizeof **out->unread);
    for (uint32_t i = 0; i < n; i++) {
      out->unread[k][i] = arena_array(arena, n + 1, sizeof ***out->unread);
      for (uint32_t j = 0; j < n; j++)
        out->unread[k][i][j] = out->expires[k][i] && j != i;
    }
  }
  r.read = arena_array(arena, longest + 1, sizeof *r.read);
  do {
    r.changed = false;
    for (r.kind = 0; r.kind < m->nmessages; r.kind++)
      for (r.expiring = 0; r.expiring < m->messages[r.kind].type->size; r.expiring++)
        if (out->expires[r.kind][r.expiring])
          find_unread_of(&r);
  } while (r.changed);
}

/* --- all of it --- */

struct round_window *round_window_of(const struct model *m, const struct query *q, struct arena *arena) {
  struct round_window *out = arena_alloc(arena, sizeof *out);
  struct expiry_analysis f = {.model = m, .out = out};
  check_shift(m, q, arena, out);
  find_anchors(m, q, arena, out);
  find_expiring(&f, q, arena);
  find_unread(m, q, arena, out);
  return out;
}
