/* Checks that require the complete model. */
#include "lang/typecheck_property.h"
#include "lang/typecheck_types.h"

#include "analysis/may_fail.h"
#include "analysis/model_visitor.h"

/* Every node of an accepted model has a type: what has none was not checked, and the engines would give it a meaning of
   their own. */
static bool find_untyped(void *context, const struct node *n) {
  const struct node **found = context;
  if (!*found && n->type->kind == TYPE_ERROR)
    *found = n;
  return !*found;
}

static void visit_untyped(void *context, const struct visit_site *site, const struct node *n) {
  (void)site;
  node_walk(n, find_untyped, context);
}

static void check_types(const struct model *m, uint32_t environment, struct diags *diags) {
  const struct node *found = NULL;
  struct query q = {.environment = environment};
  struct model_visitor v = {.model = m, .query = &q, .context = &found, .node = visit_untyped};
  model_visit(&v);
  for (uint32_t i = 0; i < m->environments[environment].nclauses; i++)
    if (m->environments[environment].clauses[i].pred)
      node_walk(m->environments[environment].clauses[i].pred, find_untyped, &found);
  for (uint32_t i = 0; i < m->nproperties; i++)
    node_walk(m->properties[i].formula, find_untyped, &found);
  for (uint32_t i = 0; i < m->ndefs; i++)
    if (m->defs[i].body)
      node_walk(m->defs[i].body, find_untyped, &found);
  if (found)
    diag_error(diags, E0306, found->at, "the type of this is not known");
}

/* A forged message of a round may be any value of its type, so the type must be small enough to enumerate. */
static void check_forged(const struct model *m, uint32_t environment, struct diags *diags) {
  struct query q = {.environment = environment};
  const struct clause *forges = environment_forging_clause(m, &q);
  for (uint32_t r = 0; r < m->nroles && forges; r++)
    for (uint32_t p = 0; p < m->npoints; p++) {
      const struct type *t = m->roles[r].body[p].received;
      if (!t || t->count <= ELEMENTS_MAX)
        continue;
      uint32_t line, column;
      source_place(&m->source, m->roles[r].body[p].at.from, &line, &column);
      diag_error(diags, E0309, forges->at, "messages may be made up here, and those of line %u have too many values",
                 line);
      diag_help(diags, type_contains_kind(t, TYPE_ROUND)
                           ? "a round grows without bound: send a number of a range instead"
                           : "send numbers of small ranges: put them into a variable first");
      return;
    }
}

static bool share_roles(const struct clause *a, const struct clause *b) {
  return a->role == ROLE_ANY || b->role == ROLE_ANY || a->role == b->role;
}

/* Some pairs of faults are counted together: omission in both directions and in one, crashes with and without recovery.
   A process could then exhibit a fault that is allowed only for another one, so such pairs are rejected. */
static bool is_stronger_fault(const struct clause *c) {
  return c->limit > 0 &&
         ((c->kind == CLAUSE_OMIT && c->omits_send && c->omits_receive) || (c->kind == CLAUSE_CRASH && c->recovers));
}

static void check_fault_pair(const struct environment *e, const struct clause *more, const struct clause *c,
                             struct diags *diags) {
  if (c->kind != more->kind || c->limit <= 0 || is_stronger_fault(c) || !share_roles(more, c))
    return;
  if (c->kind == CLAUSE_OMIT) {
    diag_error(diags, E0503, c->at, "'omit to send' and 'omit to receive' cannot stand beside 'omit' in '%s'", e->name);
    diag_help(diags, "say instead of 'omit' how many omit to send and how many omit to receive");
  } else {
    diag_error(diags, E0503, c->at, "'crash' cannot stand beside 'crash and recover' in '%s'", e->name);
    diag_help(diags, "who recovers may as well not: one limit on 'crash and recover' allows both");
  }
}

static void check_faults(const struct environment *e, struct diags *diags) {
  for (uint32_t i = 0; i < e->nclauses; i++)
    for (uint32_t k = 0; k < e->nclauses && is_stronger_fault(&e->clauses[i]); k++)
      check_fault_pair(e, &e->clauses[i], &e->clauses[k], diags);
}

static void warn_may_fail(const struct model *m, uint32_t environment, struct diags *diags) {
  struct query q = {.environment = environment};
  const struct environment *e = &m->environments[environment];
  const struct node *last = NULL;
  for (uint32_t i = 0; i < e->nclauses; i++) {
    const struct clause *c = &e->clauses[i];
    const struct node *says = c->each ? c->each : c->pred; /* `for each`: checked once for all processes */
    if (says && says != last && node_may_fail(m, &q, says, NULL, NULL))
      diag_warning(diags, W0108, c->at,
                   "evaluating this condition may be an error of the model; where it is one, it counts as false");
    last = says;
  }
}

void check_whole_model(const struct model *m, struct diags *diags) {
  size_t before = diags->errors;
  for (uint32_t i = 0; i < m->nenvironments && diags->errors == before; i++)
    check_types(m, i, diags);
  if (diags->errors > before)
    return;
  for (uint32_t i = 0; i < m->nenvironments; i++) {
    check_faults(&m->environments[i], diags);
    if (model_steps(m))
      continue;
    check_forged(m, i, diags);
    warn_may_fail(m, i, diags);
  }
}
