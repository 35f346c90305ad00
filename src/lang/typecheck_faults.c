/* Faults of processes and messages, and channels: the clauses that an environment may have in each kind of model. */
#include "lang/typecheck_constant.h"
#include "lang/typecheck_environment.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <inttypes.h>
#include <string.h>

/* ---- faults ---- */

static bool is_any(const char *name, const char *one, const char *many) {
  return strcmp(name, one) == 0 || strcmp(name, many) == 0;
}

static bool on_messages(int64_t fault_kind) {
  return fault_kind == FAULT_LOST || fault_kind == FAULT_CORRUPTED || fault_kind == FAULT_DUPLICATED;
}

static bool check_population(struct typechecker *c, const struct ast *a, struct clause *out) {
  out->role = ROLE_ANY;
  if (on_messages(a->number)) {
    if (is_any(a->name, "message", "messages"))
      return true;
    checker_error(c, E0501, a->word, "expected 'messages', not '%s'", a->name);
    return false;
  }
  if (is_any(a->name, "process", "processes"))
    return true;
  const struct scope_symbol *s = symbol_find(c, a->name);
  if (s && s->kind == SYMBOL_ROLE) {
    out->role = s->index;
    return true;
  }
  checker_error(c, E0501, a->word, "expected 'processes' or a role, not '%s'", a->name);
  VEC(const char *) names = {0};
  for (uint32_t r = 0; r < c->m->nroles; r++)
    vec_push(&names, c->m->roles[r].name);
  vec_push(&names, "processes");
  vec_push(&names, "process");
  if (!s)
    help_nearest(c, a->name, names.at, names.n, "");
  vec_release(&names);
  return false;
}

static bool check_limit(struct typechecker *c, const struct ast *a, struct clause *out) {
  out->limit = INT64_MAX;
  if (a->flags & AST_FLAG_ANY || !a->kid[0])
    return true;
  out->limit_node = lower_expr(c, a->kid[0]);
  if (!constant_number(c, a->kid[0], "the limit", &out->limit))
    return false;
  if (out->limit >= 0)
    return true;
  checker_error(c, E0501, a->kid[0]->at, "at most %" PRId64 " faults is less than none", out->limit);
  return false;
}

static bool check_per(struct typechecker *c, const struct ast *a, struct clause *out) {
  const struct ast *unit = a->n > 1 ? a->kid[1] : NULL;
  out->per = PER_RUN;
  if (!unit || unit->number == UNIT_NONE)
    return true;
  if (!on_messages(a->number)) {
    checker_error(c, E0501, unit->at, "a limit on processes is for the whole run");
    return false;
  }
  if (model_steps(c->m)) {
    checker_error(c, E0501, unit->at, "in a model of steps messages are counted in the whole run");
    checker_help(c, "leave 'each ...' out");
    return false;
  }
  out->per = unit->number == UNIT_RECEIVER ? PER_RECEIVER : PER_ROUND;
  if (unit->number == UNIT_RECEIVER || unit->number == UNIT_ROUND)
    return true;
  checker_error(c, E0501, unit->at, "messages are counted 'each round', 'each receiver', or in the whole run");
  return false;
}

/* ---- which kind of model has which fault ---- */

static bool fault_of_rounds(struct typechecker *c, const struct ast *a) {
  if (a->number == FAULT_DUPLICATED) {
    checker_error(c, E0502, a->at, "messages cannot be duplicated in a round algorithm");
    checker_help(c, "in a round, a process receives at most one message from each sender");
    return false;
  }
  if (!(a->flags & AST_FLAG_RECOVER))
    return true;
  checker_error(c, E0502, a->at, "processes of a round algorithm do not recover");
  checker_help(c, "a process that misses some rounds is one that omits: 'at most f processes omit'");
  return false;
}

static bool fault_of_steps(struct typechecker *c, const struct ast *a) {
  bool omits = a->number == FAULT_OMIT || a->number == FAULT_OMIT_SEND || a->number == FAULT_OMIT_RECEIVE;
  if (omits || a->number == FAULT_CORRUPTED) {
    checker_error(c, E0502, a->at, "'%s' is for processes that proceed in rounds; these take steps",
                  omits ? "omit" : "corrupted");
    if (omits)
      checker_help(c, "what is lost on the way is said with 'any messages are lost'");
    else
      checker_help(c, "false messages come from a process that is byzantine");
    return false;
  }
  if (c->m->kind == MODEL_MESSAGES || a->number == FAULT_CRASH)
    return true;
  checker_error(c, E0502, a->at, "there are no messages in this model");
  checker_help(c, a->number == FAULT_BYZANTINE
                      ? "a Byzantine process does harm with messages only; here processes can crash"
                      : "its processes share variables, which are neither lost nor duplicated");
  return false;
}

bool clause_allowed_in_model(struct typechecker *c, const struct ast *a) {
  if (a->kind == AST_CLAUSE_FAULT)
    return model_steps(c->m) ? fault_of_steps(c, a) : fault_of_rounds(c, a);
  if (a->kind == AST_CLAUSE_CHANNELS && !model_steps(c->m)) {
    checker_error(c, E0502, a->at, "a round algorithm has no channels");
    checker_help(c, "which messages arrive is said with HO[p], 'synchronous', or 'at most f messages are "
                    "lost'");
    return false;
  }
  if (a->kind == AST_CLAUSE_FAIR && !model_steps(c->m)) {
    checker_error(c, E0502, a->at, "'fair' is for processes that take steps; these proceed in rounds");
    checker_help(c, "that rounds are good again and again is said of heard-of sets: 'infinitely often: CONDITION'");
    return false;
  }
  if (a->kind == AST_CLAUSE_CHANNELS && c->m->kind == MODEL_SHARED) {
    checker_error(c, E0502, a->at, "there are no messages in this model, so it has no channels");
    return false;
  }
  bool of_rounds = a->kind == AST_CLAUSE_SYNCHRONOUS || a->kind == AST_CLAUSE_EVERY ||
                   a->kind == AST_CLAUSE_FROM_ROUND || a->kind == AST_CLAUSE_OFTEN || a->kind == AST_CLAUSE_FINALLY ||
                   a->kind == AST_CLAUSE_ONCE;
  if (!of_rounds || !model_steps(c->m))
    return true;
  checker_error(c, E0502, a->at, "this clause is for processes that proceed in rounds; these take steps");
  if (a->kind == AST_CLAUSE_SYNCHRONOUS)
    checker_help(c, "steps come in any order, and no message is lost unless a clause says so");
  else
    checker_help(c, "here an environment says which processes crash or are byzantine, which messages are "
                    "lost or duplicated, "
                    "and how channels are: 'channels fifo'");
  return false;
}

/* ---- clauses ---- */

/* A Byzantine process may send any message of a kind, so the kind must be small enough to enumerate. */
static bool can_be_forged(struct typechecker *c, const struct clause *clause) {
  for (uint32_t i = 0; clause->kind == CLAUSE_BYZANTINE && clause->limit > 0 && i < c->m->nmessages; i++) {
    const struct message_kind *kind = &c->m->messages[i];
    if (kind->type->kind != TYPE_RECORD || kind->type->count <= ELEMENTS_MAX)
      continue;
    checker_error(c, E0309, clause->at, "a Byzantine process can send any '%s', and there are too many of them",
                  kind->name);
    checker_help(c, "give its fields (line %u) small types%s", checker_line(c, kind->at),
                 type_contains_kind(kind->type, TYPE_ROUND) ? ": a range instead of 'round'" : "");
    return false;
  }
  return true;
}

void check_fault(struct typechecker *c, const struct ast *a, clause_vec *out) {
  static const enum clause_kind kinds[] = {
      [FAULT_CRASH] = CLAUSE_CRASH,         [FAULT_OMIT] = CLAUSE_OMIT,
      [FAULT_OMIT_SEND] = CLAUSE_OMIT,      [FAULT_OMIT_RECEIVE] = CLAUSE_OMIT,
      [FAULT_BYZANTINE] = CLAUSE_BYZANTINE, [FAULT_LOST] = CLAUSE_LOST,
      [FAULT_CORRUPTED] = CLAUSE_CORRUPTED, [FAULT_DUPLICATED] = CLAUSE_DUPLICATED};
  struct clause clause = {.at = a->at, .name_id = NO_NAME};
  clause.kind = kinds[a->number];
  clause.omits_send = a->number == FAULT_OMIT || a->number == FAULT_OMIT_SEND;
  clause.omits_receive = a->number == FAULT_OMIT || a->number == FAULT_OMIT_RECEIVE;
  clause.recovers = a->flags & AST_FLAG_RECOVER;
  bool good = check_population(c, a, &clause);
  good &= check_limit(c, a, &clause);
  good &= check_per(c, a, &clause);
  if (good && (!model_steps(c->m) || can_be_forged(c, &clause)))
    vec_push(out, clause);
}

void check_channels(struct typechecker *c, const struct ast *a, clause_vec *out) {
  struct clause clause = {.kind = CLAUSE_CHANNELS, .at = a->at, .name_id = NO_NAME, .role = ROLE_ANY};
  clause.channel = strcmp(a->name, "set") == 0    ? CHANNEL_SET
                   : strcmp(a->name, "fifo") == 0 ? CHANNEL_FIFO
                                                  : CHANNEL_BAG;
  if (a->kid[0] && !constant_number(c, a->kid[0], "the bound", &clause.bound))
    return;
  if (a->kid[0] && clause.bound < 1) {
    checker_error(c, E0501, a->kid[0]->at, "a channel must hold at least one message, not %" PRId64, clause.bound);
    return;
  }
  vec_push(out, clause);
}

static bool clauses_differ(const struct clause *a, const struct clause *b) {
  return a->kind == CLAUSE_CHANNELS ? a->channel != b->channel || a->bound != b->bound
                                    : a->fair_to != b->fair_to || a->strong != b->strong;
}

void merge_single_clause(struct typechecker *c, const struct environment *e, clause_vec *clauses,
                         enum clause_kind kind) {
  const struct clause *first = NULL;
  size_t kept = 0;
  for (size_t i = 0; i < clauses->n; i++) {
    struct clause clause = clauses->at[i];
    bool again = clause.kind == kind && first;
    if (again && clauses_differ(&clause, first)) {
      checker_error(c, E0503, e->at, "environment '%s' %s", e->name,
                    kind == CLAUSE_CHANNELS ? "has two kinds of channels" : "is fair in two ways");
      checker_help(c, "see lines %u and %u", checker_line(c, first->at), checker_line(c, clause.at));
    }
    if (again)
      continue;
    clauses->at[kept] = clause;
    if (clause.kind == kind)
      first = &clauses->at[kept];
    kept++;
  }
  clauses->n = kept;
}
