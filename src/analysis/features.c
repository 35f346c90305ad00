#include "analysis/features.h"

#include "analysis/dataflow.h"

/* ---- the tables ---- */

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

/* What has no row here is FEATURE_UNKNOWN, which is 0. */
static const enum feature of_operator[] = {[NODE_CONST] = FEATURE_NAMES,
                                           [NODE_PARAM] = FEATURE_NAMES,
                                           [NODE_SLOT] = FEATURE_NAMES,
                                           [NODE_VAR] = FEATURE_NAMES,
                                           [NODE_GLOBAL] = FEATURE_NAMES,
                                           [NODE_ME] = FEATURE_NAMES,
                                           [NODE_LOOP] = FEATURE_CLOCKS,
                                           [NODE_PHASE] = FEATURE_CLOCKS,
                                           [NODE_ROUND_NUMBER] = FEATURE_CLOCKS,
                                           [NODE_RECEIVED] = FEATURE_RECEIVED,
                                           [NODE_HEARD] = FEATURE_RECEIVED,
                                           [NODE_FROM] = FEATURE_RECEIVED,
                                           [NODE_SENDER] = FEATURE_RECEIVED,
                                           [NODE_NUMBER_OF] = FEATURE_NUMBERED,
                                           [NODE_PROCESS_AT] = FEATURE_NUMBERED,
                                           [NODE_NEXT] = FEATURE_NEIGHBOURHOOD,
                                           [NODE_NEIGHBOURS] = FEATURE_NEIGHBOURHOOD,
                                           [NODE_ROLE_SET] = FEATURE_PROCESS_SETS,
                                           [NODE_CORRECT] = FEATURE_PROCESS_SETS,
                                           [NODE_FAULTY] = FEATURE_PROCESS_SETS,
                                           [NODE_REMOTE] = FEATURE_FIELDS,
                                           [NODE_INITIAL] = FEATURE_FIRST_VALUES,
                                           [NODE_ORACLE] = FEATURE_ORACLE_VALUES,
                                           [NODE_HO] = FEATURE_HEARD_OF,
                                           [NODE_SHO] = FEATURE_HEARD_OF,
                                           [NODE_ADD] = FEATURE_ARITHMETIC,
                                           [NODE_SUB] = FEATURE_ARITHMETIC,
                                           [NODE_MUL] = FEATURE_ARITHMETIC,
                                           [NODE_DIV] = FEATURE_ARITHMETIC,
                                           [NODE_MOD] = FEATURE_ARITHMETIC,
                                           [NODE_NEG] = FEATURE_ARITHMETIC,
                                           [NODE_NARROW] = FEATURE_ARITHMETIC,
                                           [NODE_NOT] = FEATURE_LOGIC,
                                           [NODE_AND] = FEATURE_LOGIC,
                                           [NODE_OR] = FEATURE_LOGIC,
                                           [NODE_IMPLIES] = FEATURE_LOGIC,
                                           [NODE_IF] = FEATURE_LOGIC,
                                           [NODE_EQ] = FEATURE_LOGIC,
                                           [NODE_NE] = FEATURE_LOGIC,
                                           [NODE_LT] = FEATURE_ORDER,
                                           [NODE_LE] = FEATURE_ORDER,
                                           [NODE_GT] = FEATURE_ORDER,
                                           [NODE_GE] = FEATURE_ORDER,
                                           [NODE_IN] = FEATURE_SET_OPERATORS,
                                           [NODE_SUBSET] = FEATURE_SET_OPERATORS,
                                           [NODE_UNION] = FEATURE_SET_OPERATORS,
                                           [NODE_INTERSECTION] = FEATURE_SET_OPERATORS,
                                           [NODE_DIFFERENCE] = FEATURE_SET_OPERATORS,
                                           [NODE_CARD] = FEATURE_SET_OPERATORS,
                                           [NODE_DOMAIN] = FEATURE_SET_OPERATORS,
                                           [NODE_INTERVAL] = FEATURE_SET_OPERATORS,
                                           [NODE_SET] = FEATURE_SET_OPERATORS,
                                           [NODE_SET_OF] = FEATURE_SET_OPERATORS,
                                           [NODE_UNION_OF] = FEATURE_SET_OPERATORS,
                                           [NODE_SUBSETS] = FEATURE_SUBSETS,
                                           [NODE_EXISTS] = FEATURE_QUANTIFIERS,
                                           [NODE_FORALL] = FEATURE_QUANTIFIERS,
                                           [NODE_COUNT] = FEATURE_AGGREGATES,
                                           [NODE_SUM] = FEATURE_AGGREGATES,
                                           [NODE_MIN] = FEATURE_AGGREGATES,
                                           [NODE_MAX] = FEATURE_AGGREGATES,
                                           [NODE_MOSTFREQUENT] = FEATURE_FREQUENCY,
                                           [NODE_MAJORITY] = FEATURE_FREQUENCY,
                                           [NODE_PICK] = FEATURE_PICK,
                                           [NODE_RANDOM] = FEATURE_RANDOM,
                                           [NODE_WRAP] = FEATURE_OPTION_OPERATORS,
                                           [NODE_OTHERWISE] = FEATURE_OPTION_OPERATORS,
                                           [NODE_RECORD] = FEATURE_COMPOUND,
                                           [NODE_SELECT] = FEATURE_COMPOUND,
                                           [NODE_ARRAY_OF] = FEATURE_COMPOUND,
                                           [NODE_INDEX] = FEATURE_COMPOUND,
                                           [NODE_SEQUENCE] = FEATURE_COMPOUND,
                                           [NODE_APPEND] = FEATURE_COMPOUND,
                                           [NODE_FIRST] = FEATURE_COMPOUND,
                                           [NODE_LAST] = FEATURE_COMPOUND,
                                           [NODE_FRONT] = FEATURE_COMPOUND,
                                           [NODE_CALL] = FEATURE_CALLS,
                                           [NODE_ALWAYS] = FEATURE_TEMPORAL,
                                           [NODE_EVENTUALLY] = FEATURE_TEMPORAL,
                                           [NODE_UNTIL] = FEATURE_TEMPORAL};

static const enum feature of_type[] = {
    [TYPE_BOOL] = FEATURE_TRUTH,     [TYPE_INT] = FEATURE_INTEGER,        [TYPE_RANGE] = FEATURE_RANGE,
    [TYPE_ENUM] = FEATURE_LABELS,    [TYPE_PROCESS] = FEATURE_IDENTITIES, [TYPE_ROUND] = FEATURE_ROUND_VALUES,
    [TYPE_OPTION] = FEATURE_OPTIONS, [TYPE_SET] = FEATURE_SETS,           [TYPE_RECORD] = FEATURE_RECORDS,
    [TYPE_ARRAY] = FEATURE_ARRAYS,   [TYPE_SEQUENCE] = FEATURE_SEQUENCES, [TYPE_BAG] = FEATURE_BAGS};

static const enum feature of_variable[] = {[VAR_INPUT] = FEATURE_INPUT,
                                           [VAR_PLAIN] = FEATURE_PLAIN_VARIABLE,
                                           [VAR_GHOST] = FEATURE_GHOST,
                                           [VAR_ORACLE] = FEATURE_ORACLE_OF_ROUNDS,
                                           [VAR_STABLE] = FEATURE_STABLE_VARIABLE,
                                           [VAR_SHARED] = FEATURE_SHARED_VARIABLE,
                                           [VAR_POINT] = FEATURE_PROGRAM_POINT,
                                           [VAR_ONCE] = FEATURE_ONCE_FLAG};

static const enum feature of_statement[] = {
    [STMT_IF] = FEATURE_IF,           [STMT_LET] = FEATURE_LET,   [STMT_ASSIGN] = FEATURE_ASSIGN,
    [STMT_FOREACH] = FEATURE_FOREACH, [STMT_HALT] = FEATURE_HALT, [STMT_SEND] = FEATURE_SEND};

static const enum feature of_target[] = {[TARGET_SET] = FEATURE_TO_ROLE,
                                         [TARGET_OTHERS] = FEATURE_TO_OTHERS,
                                         [TARGET_ONE] = FEATURE_TO_ONE,
                                         [TARGET_EXPR] = FEATURE_TO_SOME};

static const enum feature of_trigger[] = {
    [TRIGGER_NONE] = FEATURE_STEP, [TRIGGER_ONE] = FEATURE_ON_MESSAGE, [TRIGGER_QUORUM] = FEATURE_QUORUM};

static const enum feature of_clause[] = {[CLAUSE_CRASH] = FEATURE_CRASH,
                                         [CLAUSE_OMIT] = FEATURE_SEND_OMISSION, /* or of receiving */
                                         [CLAUSE_BYZANTINE] = FEATURE_BYZANTINE,
                                         [CLAUSE_LOST] = FEATURE_LOST,
                                         [CLAUSE_CORRUPTED] = FEATURE_CORRUPTED,
                                         [CLAUSE_EVERY] = FEATURE_EVERY_ROUND,
                                         [CLAUSE_FROM_ROUND] = FEATURE_FROM_ROUND,
                                         [CLAUSE_OFTEN] = FEATURE_OFTEN,
                                         [CLAUSE_FINALLY] = FEATURE_EVENTUALLY_ALWAYS,
                                         [CLAUSE_ONCE] = FEATURE_EVENTUALLY_ONCE,
                                         [CLAUSE_SYNCHRONOUS] = FEATURE_SYNCHRONOUS,
                                         [CLAUSE_FAIR] = FEATURE_WEAKLY_FAIR, /* or strongly */
                                         [CLAUSE_DUPLICATED] = FEATURE_DUPLICATED,
                                         [CLAUSE_CHANNELS] = FEATURE_CHANNELS_BAG /* or another channel */};

static const enum feature of_lost[] = {
    [PER_RUN] = FEATURE_LOST, [PER_ROUND] = FEATURE_LOST_EACH_ROUND, [PER_RECEIVER] = FEATURE_LOST_EACH_RECEIVER};
static const enum feature of_corrupted[] = {[PER_RUN] = FEATURE_CORRUPTED,
                                            [PER_ROUND] = FEATURE_CORRUPTED_EACH_ROUND,
                                            [PER_RECEIVER] = FEATURE_CORRUPTED_EACH_RECEIVER};

static const enum feature of_fairness[] = {[FAIR_MESSAGES] = FEATURE_FAIR_TO_MESSAGES,
                                           [FAIR_ACTIONS] = FEATURE_FAIR_TO_ACTIONS,
                                           [FAIR_PROCESSES] = FEATURE_FAIR_TO_PROCESSES};

static const enum feature of_channel[] = {
    [CHANNEL_BAG] = FEATURE_CHANNELS_BAG, [CHANNEL_SET] = FEATURE_CHANNELS_SET, [CHANNEL_FIFO] = FEATURE_CHANNELS_FIFO};

static const enum feature of_model[] = {
    [MODEL_ROUNDS] = FEATURE_ROUNDS, [MODEL_MESSAGES] = FEATURE_MESSAGES, [MODEL_SHARED] = FEATURE_SHARED_MEMORY};

static const enum feature of_semantics[] = {
    [SEMANTICS_COARSE] = FEATURE_COARSE, [SEMANTICS_FINE] = FEATURE_FINE,
    [SEMANTICS_M] = FEATURE_M,           [SEMANTICS_M_MP] = FEATURE_M_MP,
    [SEMANTICS_MP] = FEATURE_MP,         [SEMANTICS_INTERLEAVING] = FEATURE_INTERLEAVING};

static const enum feature of_property[] = {
    [PROPERTY_SAFETY] = FEATURE_STATE_PROPERTY, [PROPERTY_COVER] = FEATURE_COVER, [PROPERTY_LIVE] = FEATURE_LIVE};

#define SIZE(table) (sizeof(table) / sizeof *(table))
#define LOOK_UP(table, i) ((size_t)(i) < SIZE(table) ? (table)[i] : FEATURE_UNKNOWN)

const char *feature_text(enum feature f) { return features[(size_t)f < FEATURES ? f : FEATURE_UNKNOWN].text; }

bool engine_supports(enum engine_id e, enum feature f) {
  return (size_t)e < ENGINES && (size_t)f < FEATURES && (features[f].engines >> e & 1);
}

/* ---- what is used ---- */

struct feature_walk {
  const struct model *model;
  struct features *of;
};

static void use(const struct feature_walk *u, enum feature f, struct span at) {
  struct features *of = u->of;
  if (!of->used[f] || (at.to > 0 && (of->at[f].to == 0 || at.from < of->at[f].from)))
    of->at[f] = at;
  of->used[f] = true;
}

static void use_type(const struct feature_walk *u, const struct type *t, struct span at) {
  if (!t)
    return;
  use(u, LOOK_UP(of_type, t->kind), at);
  if (t->kind == TYPE_OPTION || t->kind == TYPE_SET || t->kind == TYPE_ARRAY || t->kind == TYPE_SEQUENCE ||
      t->kind == TYPE_BAG)
    use_type(u, t->element, at);
  if (t->kind == TYPE_ARRAY)
    use_type(u, t->index, at);
  for (uint32_t i = 0; t->kind == TYPE_RECORD && i < t->size; i++)
    use_type(u, t->fields[i].type, at);
}

static bool visit(void *context, const struct node *n) {
  const struct feature_walk *u = context;
  enum feature f = LOOK_UP(of_operator, n->op);
  use(u, f == FEATURE_UNKNOWN ? FEATURE_UNKNOWN_OPERATOR : f, n->at);
  if (n->type)
    use(u, LOOK_UP(of_type, n->type->kind), n->at);
  return true;
}

static void use_node(const struct feature_walk *u, const struct node *n) {
  node_walk_deep(u->model, n, visit, (void *)u);
}

static void use_generators(const struct feature_walk *u, const struct generator *gen, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    use_node(u, gen[i].range);
    use_node(u, gen[i].cond);
  }
}

static void use_guard(const struct feature_walk *u, const struct guard *g) {
  if (g->ngen > 0)
    use(u, FEATURE_BINDING_GUARD, g->gen[0].at);
  use_generators(u, g->gen, g->ngen);
  use_node(u, g->cond);
}

static void use_send(const struct feature_walk *u, const struct send *s) {
  use(u, FEATURE_SEND, s->at);
  use(u, LOOK_UP(of_target, s->target), s->at);
  use_guard(u, &s->guard);
  use_node(u, s->message);
  use_node(u, s->to);
}

static void use_block(const struct feature_walk *u, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    use(u, LOOK_UP(of_statement, s->kind), s->at);
    use_guard(u, &s->guard);
    use_node(u, s->expr);
    for (uint32_t k = 0; k < s->npath; k++)
      use_node(u, s->path[k].index);
    if (s->send)
      use_send(u, s->send);
    use_block(u, &s->then);
    use_block(u, &s->other);
  }
}

static void use_variable(const struct feature_walk *u, const struct var *v) {
  bool of_phases = v->kind == VAR_ORACLE && v->each == EACH_PHASE;
  use(u, of_phases ? FEATURE_ORACLE_OF_PHASES : LOOK_UP(of_variable, v->kind), v->at);
  use_type(u, v->type, v->at);
  if (v->hidden)
    use(u, FEATURE_HIDDEN, v->at);
  if (v->distinct)
    use(u, FEATURE_DISTINCT_INPUT, v->at);
  if (v->init)
    use(u, FEATURE_FIRST_VALUE, v->at);
  if (v->where)
    use(u, FEATURE_CONDITION, v->at);
  use_node(u, v->init);
  use_node(u, v->where);
}

static void use_action(const struct feature_walk *u, const struct action *a) {
  bool quorum = a->trigger == TRIGGER_QUORUM;
  use(u, LOOK_UP(of_trigger, a->trigger), a->at);
  if (quorum && a->taken)
    use(u, FEATURE_TAKEN_QUORUM, a->at);
  if (quorum && a->exactly)
    use(u, FEATURE_EXACT_QUORUM, a->at);
  if (quorum && a->nparts > 0)
    use(u, FEATURE_SAME_QUORUM, a->at);
  use_node(u, a->match);
  use_node(u, a->size);
  use_guard(u, &a->guard);
  use_block(u, &a->body);
}

static void use_role(const struct feature_walk *u, const struct role *r) {
  if (r->ring)
    use(u, FEATURE_RING, r->at);
  if (r->graph)
    use(u, FEATURE_GRAPH, r->graph->at);
  use_node(u, r->graph);
  for (uint32_t i = 0; i < r->nvars; i++)
    use_variable(u, &r->vars[i]);
  for (uint32_t i = 0; r->body && i < u->model->npoints; i++) {
    const struct body *b = &r->body[i];
    if (b->finally.n > 0)
      use(u, FEATURE_FINALLY_BLOCK, b->at);
    for (uint32_t k = 0; k < b->nsends; k++)
      use_send(u, &b->sends[k]);
    use_block(u, &b->update);
    use_block(u, &b->finally);
  }
  for (uint32_t i = 0; i < r->nactions; i++)
    use_action(u, &r->actions[i]);
}

static void use_clause(const struct feature_walk *u, const struct clause *c) {
  enum feature f = LOOK_UP(of_clause, c->kind);
  if (c->kind == CLAUSE_OMIT && !c->omits_send)
    f = c->omits_receive ? FEATURE_RECEIVE_OMISSION : FEATURE_UNKNOWN;
  if (c->kind == CLAUSE_OMIT && c->omits_receive)
    use(u, FEATURE_RECEIVE_OMISSION, c->at);
  if (c->kind == CLAUSE_LOST)
    f = LOOK_UP(of_lost, c->per);
  if (c->kind == CLAUSE_CORRUPTED)
    f = LOOK_UP(of_corrupted, c->per);
  if (c->kind == CLAUSE_CHANNELS)
    f = LOOK_UP(of_channel, c->channel);
  if (c->kind == CLAUSE_CHANNELS && c->bound > 0)
    use(u, FEATURE_BOUNDED_CHANNELS, c->at);
  if (c->kind == CLAUSE_FAIR)
    use(u, LOOK_UP(of_fairness, c->fair_to), c->at);
  if (c->kind == CLAUSE_FAIR && c->strong)
    f = FEATURE_STRONGLY_FAIR;
  if (c->recovers)
    use(u, FEATURE_RECOVERY, c->at);
  if (c->unit == EACH_PHASE)
    use(u, FEATURE_WHOLE_PHASES, c->at);
  use(u, f == FEATURE_UNKNOWN ? FEATURE_UNKNOWN_CLAUSE : f, c->at);
  use_node(u, c->limit_node);
  use_node(u, c->pred);
  use_generators(u, c->witness, c->nwitness);
  for (uint32_t i = 0; i < c->nparts; i++)
    use_node(u, c->parts[i].pred);
}

static void use_property(const struct feature_walk *u, const struct property *p) {
  use(u, p->step && p->kind == PROPERTY_SAFETY ? FEATURE_STEP_PROPERTY : LOOK_UP(of_property, p->kind), p->at);
  if (p->step)
    use(u, FEATURE_STEP_PROPERTY, p->at);
  if (p->until)
    use(u, FEATURE_UNTIL_PROPERTY, p->until->at);
  if (p->almost_surely)
    use(u, FEATURE_ALMOST_SURELY, p->at);
  use_node(u, p->formula);
  use_node(u, p->until);
}

struct features features_used(const struct model *m, const struct query *q) {
  struct features of = {0};
  const struct feature_walk u = {m, &of};
  const struct environment *env = &m->environments[q->environment];
  use(&u, LOOK_UP(of_model, m->kind), (struct span){0, 0});
  use(&u, LOOK_UP(of_semantics, q->semantics), (struct span){0, 0});
  for (uint32_t i = 0; i < m->npoints; i++)
    if (m->points[i].endless)
      use(&u, FEATURE_ENDLESS, (struct span){0, 0});
  for (uint32_t i = 0; i < m->nglobals; i++)
    use_variable(&u, &m->globals[i]);
  for (uint32_t i = 0; i < m->nmessages; i++)
    use_type(&u, m->messages[i].type, m->messages[i].at);
  for (uint32_t i = 0; i < m->nroles; i++)
    use_role(&u, &m->roles[i]);
  for (uint32_t i = 0; i < env->nclauses; i++)
    use_clause(&u, &env->clauses[i]);
  for (uint32_t i = 0; i < q->nproperties; i++)
    use_property(&u, &m->properties[q->properties[i]]);
  for (uint32_t i = 0; i < q->natoms; i++)
    use_node(&u, q->atoms[i]);
  return of;
}

bool features_refused(const struct model *m, const struct query *q, enum engine_id e, enum feature *which,
                      struct span *at) {
  struct features of = features_used(m, q);
  bool refused = false;
  for (unsigned f = 0; f < FEATURES; f++) {
    if (!of.used[f] || engine_supports(e, (enum feature)f))
      continue;
    if (!refused || of.at[f].from < at->from) {
      *which = (enum feature)f;
      *at = of.at[f];
    }
    refused = true;
  }
  return refused;
}
