#include "analysis/features.h"

#include "model/node.h"

/* ---- the table ---- */

enum { /* as features.def writes them */
       NOBODY = 0,
       SEARCH = 1u << ENGINE_SEARCH,
       SOLVERS = 1u << ENGINE_BMC | 1u << ENGINE_INDUCTION | 1u << ENGINE_SPACER | 1u << ENGINE_SMTLIB,
       RUNS = 1u << ENGINE_PROMELA | 1u << ENGINE_TLA | 1u << ENGINE_SMV,
       PROGRAMS = RUNS | 1u << ENGINE_MURPHI | 1u << ENGINE_DOT,
       ALL = SEARCH | SOLVERS | PROGRAMS
};

static const struct {
  unsigned engines;
  const char *text;
} features[] = {
#define FEATURE(id, engines, text) [FEATURE_##id] = {engines, text},
#include "analysis/features.def"
#undef FEATURE
};

const char *feature_text(enum feature f) { return features[(size_t)f < FEATURES ? f : FEATURE_UNKNOWN].text; }

bool engine_supports(enum engine_id e, enum feature f) {
  return (size_t)e < ENGINES && (size_t)f < FEATURES && (features[f].engines >> e & 1);
}

/* ---- the feature that a construct needs ---- */

static bool is_among(unsigned kind, const unsigned *listed, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (listed[i] == kind)
      return true;
  return false;
}

/* Fails closed: a kind that is not listed is unknown. */
#define IS_AMONG(kind, ...)                                                                                            \
  is_among((unsigned)(kind), (const unsigned[]){__VA_ARGS__},                                                          \
           sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static enum feature operator_feature(enum op op) {
  if (IS_AMONG(op, NODE_ALWAYS, NODE_EVENTUALLY, NODE_UNTIL))
    return FEATURE_TEMPORAL;
  if (IS_AMONG(op, NODE_QUIESCENT, NODE_DEADLOCKED, NODE_PENDING, NODE_RECEIVER))
    return FEATURE_FLIGHT;
  if (IS_AMONG(op, NODE_CONST, NODE_PARAM, NODE_SLOT, NODE_VAR, NODE_GLOBAL, NODE_ME, NODE_LOOP, NODE_PHASE,
               NODE_ROUND_NUMBER, NODE_RECEIVED, NODE_HEARD, NODE_FROM, NODE_SENDER, NODE_NUMBER_OF, NODE_PROCESS_AT,
               NODE_NEXT, NODE_NEIGHBOURS, NODE_ROLE_SET, NODE_CORRECT, NODE_FAULTY, NODE_REMOTE, NODE_INITIAL,
               NODE_ORACLE, NODE_HO, NODE_SHO, NODE_ADD, NODE_SUB, NODE_MUL, NODE_DIV, NODE_MOD, NODE_NEG, NODE_NARROW,
               NODE_NOT, NODE_AND, NODE_OR, NODE_IMPLIES, NODE_IF, NODE_EQ, NODE_NE, NODE_LT, NODE_LE, NODE_GT, NODE_GE,
               NODE_IN, NODE_SUBSET, NODE_UNION, NODE_INTERSECTION, NODE_DIFFERENCE, NODE_CARD, NODE_DOMAIN,
               NODE_INTERVAL, NODE_SET, NODE_SET_OF, NODE_UNION_OF, NODE_SUBSETS, NODE_EXISTS, NODE_FORALL, NODE_COUNT,
               NODE_SUM, NODE_MIN, NODE_MAX, NODE_MOSTFREQUENT, NODE_MAJORITY, NODE_PICK, NODE_RANDOM, NODE_WRAP,
               NODE_OTHERWISE, NODE_RECORD, NODE_SELECT, NODE_ARRAY_OF, NODE_INDEX, NODE_SEQUENCE, NODE_APPEND,
               NODE_FIRST, NODE_LAST, NODE_FRONT, NODE_CALL))
    return FEATURE_COMMON;
  return FEATURE_UNKNOWN_OPERATOR;
}

static bool type_is_common(enum type_kind kind) {
  return IS_AMONG(kind, TYPE_BOOL, TYPE_INT, TYPE_RANGE, TYPE_ENUM, TYPE_PROCESS, TYPE_ROUND, TYPE_OPTION, TYPE_SET,
                  TYPE_RECORD, TYPE_ARRAY, TYPE_SEQUENCE, TYPE_BAG);
}

static bool clause_is_common(const struct clause *c) {
  if (IS_AMONG(c->kind, CLAUSE_LOST, CLAUSE_CORRUPTED))
    return IS_AMONG(c->per, PER_RUN, PER_ROUND, PER_RECEIVER);
  if (c->kind == CLAUSE_OMIT)
    return c->omits_send || c->omits_receive;
  if (c->kind == CLAUSE_CHANNELS)
    return IS_AMONG(c->channel, CHANNEL_BAG, CHANNEL_SET, CHANNEL_FIFO);
  if (c->kind == CLAUSE_FAIR)
    return IS_AMONG(c->fair_to, FAIR_MESSAGES, FAIR_ACTIONS, FAIR_PROCESSES);
  return IS_AMONG(c->kind, CLAUSE_CRASH, CLAUSE_BYZANTINE, CLAUSE_EVERY, CLAUSE_FROM_ROUND, CLAUSE_OFTEN,
                  CLAUSE_FINALLY, CLAUSE_ONCE, CLAUSE_SYNCHRONOUS, CLAUSE_DUPLICATED);
}

static enum feature semantics_feature(enum semantics s) {
  switch (s) {
  case SEMANTICS_FINE:
    return FEATURE_FINE;
  case SEMANTICS_M_MP:
    return FEATURE_M_MP;
  case SEMANTICS_MP:
    return FEATURE_MP;
  case SEMANTICS_COARSE:
  case SEMANTICS_M:
  case SEMANTICS_INTERLEAVING:
    return FEATURE_COMMON;
  }
  return FEATURE_UNKNOWN;
}

static enum feature property_feature(const struct property *p) {
  if (p->kind == PROPERTY_LIVE)
    return FEATURE_LIVE;
  return IS_AMONG(p->kind, PROPERTY_SAFETY, PROPERTY_COVER) ? FEATURE_COMMON : FEATURE_UNKNOWN;
}

/* ---- what the query needs ---- */

struct feature_walk {
  const struct model *model;
  enum engine_id engine;
  bool refused; /* something is not supported: the first in the source */
  enum feature which;
  struct span at;
};

static void need(struct feature_walk *u, enum feature f, struct span at) {
  if (engine_supports(u->engine, f))
    return;
  if (!u->refused || at.from < u->at.from || (at.from == u->at.from && f < u->which)) {
    u->which = f;
    u->at = at;
  }
  u->refused = true;
}

static void need_common(struct feature_walk *u, bool is_common, struct span at) {
  need(u, is_common ? FEATURE_COMMON : FEATURE_UNKNOWN, at);
}

static bool is_uncommon(const void *context, const struct type *t) {
  (void)context;
  return !type_is_common(t->kind);
}

static void need_type(struct feature_walk *u, const struct type *t, struct span at) {
  need_common(u, !type_any(t, is_uncommon, NULL), at);
}

static bool visit(void *context, const struct node *n) {
  struct feature_walk *u = context;
  need(u, operator_feature(n->op), n->at);
  if (n->type)
    need_common(u, type_is_common(n->type->kind), n->at);
  return true;
}

static void need_node(struct feature_walk *u, const struct node *n) { node_walk_deep(u->model, n, visit, u); }

static void need_send(struct feature_walk *u, const struct send *s) {
  need_common(u, IS_AMONG(s->target, TARGET_SET, TARGET_OTHERS, TARGET_ONE, TARGET_EXPR), s->at);
}

static void need_stmt(void *context, const struct stmt *s) {
  struct feature_walk *u = context;
  need_common(u, IS_AMONG(s->kind, STMT_IF, STMT_LET, STMT_ASSIGN, STMT_FOREACH, STMT_HALT, STMT_SEND), s->at);
  if (s->send)
    need_send(u, s->send);
  stmt_walk_deep(u->model, s, visit, u);
}

static void need_variables(struct feature_walk *u, const struct var *vars, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const struct var *v = &vars[i];
    need_common(
        u, IS_AMONG(v->kind, VAR_INPUT, VAR_PLAIN, VAR_GHOST, VAR_ORACLE, VAR_STABLE, VAR_SHARED, VAR_POINT, VAR_ONCE),
        v->at);
    need_type(u, v->type, v->at);
    need_node(u, v->init);
    need_node(u, v->where);
  }
}

static void need_body(struct feature_walk *u, const struct body *b) {
  for (uint32_t i = 0; i < b->nsends; i++) {
    need_send(u, &b->sends[i]);
    send_walk_deep(u->model, &b->sends[i], visit, u);
  }
  block_visit(&b->update, need_stmt, u);
  block_visit(&b->finally, need_stmt, u);
}

static void need_action(struct feature_walk *u, const struct action *a) {
  need_common(u, IS_AMONG(a->trigger, TRIGGER_NONE, TRIGGER_ONE, TRIGGER_QUORUM), a->at);
  need_node(u, a->match);
  need_node(u, a->size);
  guard_walk_deep(u->model, &a->guard, visit, u);
  block_visit(&a->body, need_stmt, u);
}

static void need_role(struct feature_walk *u, const struct role *r) {
  need_node(u, r->graph);
  need_variables(u, r->vars, r->nvars);
  for (uint32_t i = 0; r->body && i < u->model->npoints; i++)
    need_body(u, &r->body[i]);
  for (uint32_t i = 0; i < r->nactions; i++)
    need_action(u, &r->actions[i]);
}

static void need_clause(struct feature_walk *u, const struct clause *c) {
  need(u, clause_is_common(c) ? FEATURE_COMMON : FEATURE_UNKNOWN_CLAUSE, c->at);
  need_node(u, c->limit_node);
  need_node(u, c->pred);
  for (uint32_t i = 0; i < c->nwitness; i++) {
    need_node(u, c->witness[i].range);
    need_node(u, c->witness[i].cond);
  }
  for (uint32_t i = 0; i < c->nparts; i++)
    need_node(u, c->parts[i].pred);
}

static void need_property(struct feature_walk *u, const struct property *p) {
  need(u, property_feature(p), p->at);
  if (p->until)
    need(u, FEATURE_UNTIL_PROPERTY, p->until->at);
  if (p->almost_surely)
    need(u, FEATURE_ALMOST_SURELY, p->at);
  need_node(u, p->formula);
  need_node(u, p->until);
}

bool features_refused(const struct model *m, const struct query *q, enum engine_id e, enum feature *which,
                      struct span *at) {
  const struct environment *env = &m->environments[q->environment];
  struct feature_walk u = {.model = m, .engine = e};
  need_common(&u, IS_AMONG(m->kind, MODEL_ROUNDS, MODEL_MESSAGES, MODEL_SHARED), (struct span){0, 0});
  need(&u, semantics_feature(q->semantics), (struct span){0, 0});
  need_variables(&u, m->globals, m->nglobals);
  for (uint32_t i = 0; i < m->nmessages; i++)
    need_type(&u, m->messages[i].type, m->messages[i].at);
  for (uint32_t i = 0; i < m->nroles; i++)
    need_role(&u, &m->roles[i]);
  for (uint32_t i = 0; i < env->nclauses; i++)
    need_clause(&u, &env->clauses[i]);
  for (uint32_t i = 0; i < q->nproperties; i++)
    need_property(&u, &m->properties[q->properties[i]]);
  for (uint32_t i = 0; i < q->natoms; i++)
    need_node(&u, q->atoms[i]);
  if (u.refused) {
    *which = u.which;
    *at = u.at;
  }
  return u.refused;
}
