/* Environments: predicates over heard-of sets and oracles, and inheritance between environments. Faults and channels
   are in typecheck_faults.c. */
#include "lang/typecheck_environment.h"

#include "lang/typecheck_constant.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_scope.h"
#include "lang/typechecker.h"

#include <inttypes.h>

/* ---- predicates ---- */

static bool reads_heard_of(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_HO || n->op == NODE_SHO || n->op == NODE_ORACLE;
  return true;
}

/* each: for a clause `for each`, the process of its role that this instance is for. */
static void add_predicate(struct typechecker *c, const struct ast *a, struct clause clause, uint32_t each,
                          clause_vec *out) {
  c->slots = 0;
  scope_cut(&c->locals, 0);
  clause.at = a->at;
  clause.pred = lower_bool(c, a, "what an environment says");
  if (each != NO_PROCESS && !node_is_error(clause.pred) && !clause_instantiate(c, &clause, each))
    return;
  bool several;
  clause.name_id = clause_round_name(clause.pred, &several);
  if (several && !(clause_is_of_runs(&clause) && clause.unit == EACH_PHASE))
    error_two_rounds(c, a->at);
  if (clause_is_of_runs(&clause) && !node_is_error(clause.pred))
    clause_decompose(c, &clause);
  bool says = node_is_error(clause.pred);
  node_walk(clause.pred, reads_heard_of, &says);
  if (!says)
    diag_warning(c->diags, W0105, a->at, "this says nothing about heard-of sets or oracles");
  vec_push(out, clause);
}

/* "always" distributes over "and", so each conjunct becomes a clause; "infinitely often" does not. */
static void split_predicate(struct typechecker *c, const struct ast *a, struct clause clause, clause_vec *out) {
  bool always = clause.kind != CLAUSE_OFTEN && clause.kind != CLAUSE_ONCE;
  if (a->kind == AST_BINARY && a->op == OP_AND && always) {
    split_predicate(c, a->kid[0], clause, out);
    split_predicate(c, a->kid[1], clause, out);
    return;
  }
  add_predicate(c, a, clause, NO_PROCESS, out);
}

/* "for each p in P": one clause for each process; they need not hold at the same time. "for some q in P": the same q at
   all times. */
static void check_for(struct typechecker *c, const struct ast *a, struct clause clause, clause_vec *out) {
  const struct ast *body = a->kid[1];
  if (a->flags & AST_FLAG_SOME) {
    if (clause.kind != CLAUSE_FINALLY) {
      checker_error(c, E0504, body->at, "'for some' is for what holds 'eventually always'");
      checker_help(c, clause_is_of_runs(&clause) ? "say 'exists' after the colon, which means the same"
                                                 : "make it a file-level 'input'");
      return;
    }
    clause.nrigid = 1; /* at least one; clause_decompose sets the number */
    add_predicate(c, body, clause, NO_PROCESS, out);
    return;
  }
  if (clause.kind != CLAUSE_OFTEN && clause.kind != CLAUSE_ONCE) {
    checker_error(c, E0504, body->at, "'for each' is for what holds 'infinitely often', or 'eventually'");
    checker_help(c, "say 'forall' after the colon, which means the same");
    return;
  }
  uint32_t role = role_of_generator(c, body);
  size_t first = out->n;
  for (uint32_t i = 0; role != ROLE_ANY && i < c->m->roles[role].count; i++)
    add_predicate(c, body, clause, i, out);
  if (first == out->n || c->diags->errors)
    return;
  c->slots = 0;
  scope_cut(&c->locals, 0);
  const struct node *each = lower_bool(c, body, "what an environment says");
  for (size_t i = first; i < out->n; i++)
    out->at[i].each = each;
}

static void check_predicate(struct typechecker *c, const struct ast *a, clause_vec *out) {
  struct clause clause = {.at = a->at, .name_id = NO_NAME, .role = ROLE_ANY, .unit = EACH_ROUND};
  const struct ast *first = a->kid[0];
  clause.kind = a->kind == AST_CLAUSE_EVERY        ? CLAUSE_EVERY
                : a->kind == AST_CLAUSE_FROM_ROUND ? CLAUSE_FROM_ROUND
                : a->kind == AST_CLAUSE_OFTEN      ? CLAUSE_OFTEN
                : a->kind == AST_CLAUSE_ONCE       ? CLAUSE_ONCE
                                                   : CLAUSE_FINALLY;
  if (a->kind == AST_CLAUSE_FROM_ROUND) {
    int64_t from;
    if (constant_number(c, first, "the round", &from)) {
      if (from < 1 || from > UINT32_MAX)
        checker_error(c, E0501, first->at, "rounds are counted from 1, so there is no round %" PRId64, from);
      clause.from = (uint32_t)from;
    }
  } else if (first && first->number == UNIT_PHASE)
    clause.unit = EACH_PHASE;
  else if (first && (first->number == UNIT_STEP || first->number == UNIT_RECEIVER))
    checker_error(c, E0502, first->at, "a round algorithm has rounds and phases");
  if (a->flags & (AST_FLAG_EACH | AST_FLAG_SOME))
    check_for(c, a, clause, out);
  else
    split_predicate(c, a->kid[1], clause, out);
}

/* ---- environments ---- */

static void check_clause(struct typechecker *c, const struct ast *a, clause_vec *out) {
  struct clause clause = {.at = a->at, .name_id = NO_NAME, .role = ROLE_ANY};
  if (!clause_allowed_in_model(c, a))
    return;
  switch (ast_kind_among(a->kind)) {
  case AST_CLAUSE_FAULT:
    check_fault(c, a, out);
    return;
  case AST_CLAUSE_EVERY:
  case AST_CLAUSE_FROM_ROUND:
  case AST_CLAUSE_OFTEN:
  case AST_CLAUSE_FINALLY:
  case AST_CLAUSE_ONCE:
    check_predicate(c, a, out);
    return;
  case AST_CLAUSE_SYNCHRONOUS:
  case AST_CLAUSE_FAIR:
    clause.kind = a->kind == AST_CLAUSE_FAIR ? CLAUSE_FAIR : CLAUSE_SYNCHRONOUS;
    clause.fair_to = (enum fairness)a->number;
    clause.strong = a->flags & AST_FLAG_STRONG;
    vec_push(out, clause);
    return;
  case AST_CLAUSE_CHANNELS:
    check_channels(c, a, out);
    return;
  case AST_ERROR: /* reported */
    return;
  }
  checker_error(c, E0502, a->at, "this clause cannot be checked by this version of rondo");
}

uint32_t environment_named(struct typechecker *c, const struct ast *name) {
  uint32_t found = name_index_find(&c->environments, name->name);
  if (found != NAME_NONE)
    return found;
  struct name_choice there;
  checker_error(c, E0203, name->word, "unknown environment '%s'", name->name);
  name_choice_init(&there, c, name->name);
  for (uint32_t i = 0; i < c->m->nenvironments; i++)
    name_choice_offer(&there, c->m->environments[i].name, c->m->environments[i].at);
  name_choice_help(&there, "there is no environment");
  return NAME_NONE;
}

struct environment_merge {
  const struct ast **ast;
  clause_vec *own; /* clauses without those of the extended environments */
  uint8_t *state;  /* 0: new, 1: in progress, 2: done */
  bool *extended;  /* by another environment */
};

/* Copies of one source clause share its place and its lowered nodes. */
static bool contains_clause(const clause_vec *clauses, const struct clause *k) {
  for (size_t i = 0; i < clauses->n; i++) {
    const struct clause *other = &clauses->at[i];
    if (other->kind == k->kind && other->at.from == k->at.from && other->at.to == k->at.to && other->pred == k->pred &&
        other->limit_node == k->limit_node)
      return true;
  }
  return false;
}

/* Own clauses come after the inherited ones. A clause inherited along several paths counts once, because limits on
   processes add up. */
static void merge_extended(struct typechecker *c, struct environment_merge *w, uint32_t i) {
  const struct ast *extended = w->ast[i]->kid[0];
  clause_vec all = {0};
  w->state[i] = 1;
  for (uint32_t j = 0; extended && j < extended->n; j++) {
    uint32_t other = environment_named(c, extended->kid[j]);
    if (other == NAME_NONE)
      continue;
    if (w->state[other] == 1) {
      checker_error(c, E0210, extended->kid[j]->word, "environment '%s' extends itself", w->ast[i]->name);
      continue;
    }
    w->extended[other] = true;
    if (w->state[other] == 0)
      merge_extended(c, w, other);
    for (uint32_t k = 0; k < c->m->environments[other].nclauses; k++)
      if (j == 0 || !contains_clause(&all, &c->m->environments[other].clauses[k]))
        vec_push(&all, c->m->environments[other].clauses[k]);
  }
  for (size_t k = 0; k < w->own[i].n; k++)
    vec_push(&all, w->own[i].at[k]);
  merge_single_clause(c, &c->m->environments[i], &all, CLAUSE_CHANNELS);
  merge_single_clause(c, &c->m->environments[i], &all, CLAUSE_FAIR);
  c->m->environments[i].clauses = arena_copy(&c->m->arena, all.at, all.n * sizeof *all.at);
  c->m->environments[i].nclauses = (uint32_t)all.n;
  vec_release(&all);
  w->state[i] = 2;
}

static bool on_processes(const struct clause *k) {
  return k->kind == CLAUSE_CRASH || k->kind == CLAUSE_OMIT || k->kind == CLAUSE_BYZANTINE;
}

/* If no clause mentions messages, any of them may be lost, which few users expect in addition to faulty processes. */
static void warn_implicit_losses(struct typechecker *c, const struct environment *e) {
  const struct clause *faulty = NULL;
  for (uint32_t i = 0; i < e->nclauses; i++) {
    if (!on_processes(&e->clauses[i]))
      return;
    faulty = faulty ? faulty : &e->clauses[i];
  }
  if (!faulty)
    return;
  diag_warning(c->diags, W0106, faulty->at,
               "in '%s' any message may be lost, also between processes that are not faulty", e->name);
  diag_help(c->diags, "add 'synchronous' if only faults lose messages, else say what is lost or heard: "
                      "'any messages are lost'");
}

static void declare_environment(struct typechecker *c, const struct ast *a, struct environment_merge *w) {
  uint32_t other = name_index_find(&c->environments, a->name);
  if (other != NAME_NONE) {
    checker_error(c, E0207, a->word, "environment '%s' is already declared", a->name);
    checker_help(c, "the other one is at line %u", checker_line(c, c->m->environments[other].at));
    return;
  }
  uint32_t i = c->m->nenvironments++;
  c->m->environments[i] = (struct environment){.name = checker_strdup(c, a->name), .at = a->word};
  name_index_add(&c->environments, a->name);
  w->ast[i] = a;
  for (uint32_t j = 1; j < a->n; j++)
    if (a->kid[j])
      check_clause(c, a->kid[j], &w->own[i]);
}

void check_environments(struct typechecker *c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->file->n; i++)
    n += c->file->kid[i]->kind == AST_ENVIRONMENT && c->file->kid[i]->name;
  struct environment_merge w = {.ast = arena_array(&c->m->arena, n, sizeof *w.ast),
                                .own = arena_array(&c->m->arena, n, sizeof *w.own),
                                .state = arena_array(&c->m->arena, n, sizeof *w.state),
                                .extended = arena_array(&c->m->arena, n, sizeof *w.extended)};
  c->m->environments = arena_array(&c->m->arena, n ? n : 1, sizeof *c->m->environments);
  c->in = (struct expr_context){.where = IN_ENVIRONMENT, .role = ROLE_ANY};
  for (uint32_t i = 0; i < c->file->n; i++)
    if (c->file->kid[i]->kind == AST_ENVIRONMENT && c->file->kid[i]->name)
      declare_environment(c, c->file->kid[i], &w);
  for (uint32_t i = 0; i < c->m->nenvironments; i++)
    if (w.state[i] == 0)
      merge_extended(c, &w, i);
  for (uint32_t i = 0; i < c->m->nenvironments; i++)
    if (!w.extended[i] && !model_steps(c->m)) /* an extended environment is only a part of others */
      warn_implicit_losses(c, &c->m->environments[i]);
  for (uint32_t i = 0; i < n; i++)
    vec_release(&w.own[i]);
  if (c->m->nenvironments == 0) {
    c->m->environments[c->m->nenvironments++] = (struct environment){.name = "free"};
    name_index_add(&c->environments, "free");
  }
  scope_cut(&c->locals, 0);
}
