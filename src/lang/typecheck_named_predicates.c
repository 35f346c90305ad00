/* Named predicates: on heard-of sets, and on failure detectors. */
#include "lang/typecheck_environment.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typecheck_variables.h"
#include "lang/typechecker.h"

#include <string.h>

static struct node *all_processes(struct typechecker *c, struct span at) { return node_role_set(c, at, ROLE_ANY); }

static struct node *heard_of(struct typechecker *c, struct span at, const struct generator *p) {
  struct node *n = node_unary(c, NODE_HO, at, set_type(c, any_process_type(c)), node_slot(c, at, p->slot, p->type));
  n->index = NO_NAME;
  return n;
}

struct node *named_predicate(struct typechecker *c, const struct ast *a) {
  struct span at = a->at;
  const char *name = a->name;
  struct generator *gen = arena_array(&c->m->arena, 2, sizeof *gen);
  const struct type *set = set_type(c, any_process_type(c));
  if (strcmp(name, "uniform") == 0) { /* exists S in subsets(all): forall p in all: HO[p] == S */
    struct node *subsets = node_unary(c, NODE_SUBSETS, at, set_type(c, set), all_processes(c, at));
    gen[0] = *generator_over(c, at, "S", slot_new(c), subsets);
    gen[1] = *generator_over(c, at, "p", slot_new(c), all_processes(c, at));
    struct node *same =
        node_binary(c, NODE_EQ, at, c->boolean, heard_of(c, at, &gen[1]), node_slot(c, at, gen[0].slot, set));
    return node_over(c, NODE_EXISTS, at, c->boolean, node_over(c, NODE_FORALL, at, c->boolean, same, &gen[1], 1),
                     &gen[0], 1);
  }
  if (strcmp(name, "nosplit") == 0) { /* forall p, q in all: HO[p] & HO[q] != {} */
    gen[0] = *generator_over(c, at, "p", slot_new(c), all_processes(c, at));
    gen[1] = *generator_over(c, at, "q", slot_new(c), all_processes(c, at));
    struct node *meet = node_binary(c, NODE_INTERSECTION, at, set, heard_of(c, at, &gen[0]), heard_of(c, at, &gen[1]));
    return node_over(c, NODE_FORALL, at, c->boolean,
                     node_binary(c, NODE_NE, at, c->boolean, meet, node_new(c, NODE_SET, at, set, 0)), gen, 2);
  }
  if (strcmp(name, "kernel") == 0) { /* exists q in all: forall p in all: q in HO[p] */
    gen[0] = *generator_over(c, at, "q", slot_new(c), all_processes(c, at));
    gen[1] = *generator_over(c, at, "p", slot_new(c), all_processes(c, at));
    struct node *in =
        node_binary(c, NODE_IN, at, c->boolean, node_slot(c, at, gen[0].slot, gen[0].type), heard_of(c, at, &gen[1]));
    return node_over(c, NODE_EXISTS, at, c->boolean, node_over(c, NODE_FORALL, at, c->boolean, in, &gen[1], 1), &gen[0],
                     1);
  }
  if (strcmp(name, "reflexive") == 0) { /* forall p in all: p in HO[p] */
    gen[0] = *generator_over(c, at, "p", slot_new(c), all_processes(c, at));
    struct node *in =
        node_binary(c, NODE_IN, at, c->boolean, node_slot(c, at, gen[0].slot, gen[0].type), heard_of(c, at, &gen[0]));
    return node_over(c, NODE_FORALL, at, c->boolean, in, gen, 1);
  }
  return NULL;
}

/* ---- failure detectors: oracles that are sets of processes ---- */

struct detector {
  struct typechecker *c;
  struct span at;
  uint32_t field;     /* the oracle */
  uint32_t suspects;  /* the role of the processes that it can suspect; ROLE_ANY: all */
  struct generator p; /* the process that queries its detector */
};

static struct node *member(struct detector *d, const struct generator *g, struct node *set) {
  return node_binary(d->c, NODE_IN, d->at, d->c->boolean, node_slot(d->c, d->at, g->slot, g->type), set);
}

static struct node *status_set(struct detector *d, enum op op) {
  return node_new(d->c, op, d->at, set_type(d->c, any_process_type(d->c)), 0);
}

static struct node *suspected_set(struct detector *d) {
  struct node *p = node_slot(d->c, d->at, d->p.slot, d->p.type);
  struct node *n = node_unary(d->c, NODE_ORACLE, d->at, d->c->m->fields[d->field].type, p);
  n->index = d->field;
  return n;
}

static struct node *detector_binary(struct detector *d, enum op op, struct node *a, struct node *b) {
  return node_binary(d->c, op, d->at, d->c->boolean, a, b);
}

enum detector_axiom { COMPLETE, ACCURATE, ANSWERED, TRUSTED };

/* The axiom for a correct process p. In clauses, a role as a set contains all its processes, but quantifiers range over
   those that take part. */
static struct node *axiom_for_process(struct detector *d, enum detector_axiom says, struct node *trusted) {
  struct typechecker *c = d->c;
  struct node *faulty = status_set(d, NODE_FAULTY), *n;
  switch (says) {
  case COMPLETE: /* faulty & Role <= s[p] */
    n = node_binary(c, NODE_INTERSECTION, d->at, faulty->type, faulty, node_role_set(c, d->at, d->suspects));
    return detector_binary(d, NODE_SUBSET, n, suspected_set(d));
  case ACCURATE:
    return detector_binary(d, NODE_SUBSET, suspected_set(d), faulty);
  case ANSWERED: { /* forall q in Role: q in HO[p] or q in s[p] */
    struct generator *q = generator_over(c, d->at, "q", slot_new(c), node_role_set(c, d->at, d->suspects));
    n = detector_binary(d, NODE_OR, member(d, q, heard_of(c, d->at, &d->p)), member(d, q, suspected_set(d)));
    return node_over(c, NODE_FORALL, d->at, c->boolean, n, q, 1);
  }
  case TRUSTED:
    return node_unary(c, NODE_NOT, d->at, c->boolean, detector_binary(d, NODE_IN, trusted, suspected_set(d)));
  }
  return NULL;
}

/* The same for all processes that have the detector. */
static struct node *axiom_for_all(struct detector *d, enum detector_axiom says, struct node *trusted) {
  struct typechecker *c = d->c;
  struct node *all = NULL;
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    uint32_t var = c->m->fields[d->field].var[r];
    if (var == UINT32_MAX || c->m->roles[r].vars[var].kind != VAR_ORACLE)
      continue;
    uint32_t slots = c->slots;
    struct generator *p = generator_over(c, d->at, "p", slot_new(c), node_role_set(c, d->at, r));
    d->p = *p;
    struct node *n = detector_binary(d, NODE_IMPLIES, member(d, p, status_set(d, NODE_CORRECT)),
                                     axiom_for_process(d, says, trusted));
    n = node_over(c, NODE_FORALL, d->at, c->boolean, n, p, 1);
    all = all ? detector_binary(d, NODE_AND, all, n) : n;
    c->slots = slots;
  }
  return all;
}

static bool detector_find(struct detector *d, const struct ast *name) {
  struct typechecker *c = d->c;
  uint32_t found = UINT32_MAX;
  for (uint32_t i = 0; name->kind == AST_NAME && i < c->m->nfields; i++) {
    if (strcmp(c->m->fields[i].name, name->name) != 0 || !field_has_kind(c, i, ROLES_ALL, VAR_ORACLE))
      continue;
    if (found != UINT32_MAX) {
      checker_error(c, E0414, name->at, "oracle '%s' has different types in different processes", name->name);
      return false;
    }
    found = i;
  }
  const struct type *t = found == UINT32_MAX ? NULL : c->m->fields[found].type;
  if (t && t->kind == TYPE_SET && t->element->kind == TYPE_PROCESS) {
    d->field = found;
    d->suspects = t->element->role;
    mark_read(c, found);
    return true;
  }
  checker_error(c, E0505, name->at, "a failure detector is an oracle that is a set of processes");
  checker_help(c, "as in 'oracle suspected: set of P each round'");
  return false;
}

static struct node *trusted_by_all(struct detector *d, const struct ast *process) {
  struct typechecker *c = d->c;
  struct node *q = lower_expr(c, process);
  if (node_is_error(q))
    return q;
  if (q->type->kind != TYPE_PROCESS) {
    checker_error(c, E0505, process->at, "'trusts' needs a process, not %s", type_text(c, q->type));
    return node_error(c, process->at);
  }
  struct node *correct = detector_binary(d, NODE_IN, q, status_set(d, NODE_CORRECT));
  return detector_binary(d, NODE_AND, correct, axiom_for_all(d, TRUSTED, q));
}

struct node *detector_predicate(struct typechecker *c, const struct ast *a) {
  static const char *const names[] = {"complete", "accurate", "perfect", "waits", "trusts"};
  bool known = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    known |= strcmp(a->name, names[i]) == 0;
  if (!known)
    return NULL;
  bool trusts = strcmp(a->name, "trusts") == 0;
  struct detector d = {.c = c, .at = a->at};
  if (a->n != (trusts ? 2u : 1u)) {
    checker_error(c, E0505, a->at,
                  trusts ? "'trusts' needs a failure detector and a process" : "'%s' needs a failure detector",
                  a->name);
    return node_error(c, a->at);
  }
  if (!detector_find(&d, a->kid[0]))
    return node_error(c, a->at);
  if (trusts)
    return trusted_by_all(&d, a->kid[1]);
  bool accurate = strcmp(a->name, "accurate") == 0;
  struct node *n = axiom_for_all(&d, accurate ? ACCURATE : COMPLETE, NULL);
  if (strcmp(a->name, "perfect") == 0)
    n = detector_binary(&d, NODE_AND, n, axiom_for_all(&d, ACCURATE, NULL));
  if (strcmp(a->name, "waits") == 0)
    n = detector_binary(&d, NODE_AND, n, axiom_for_all(&d, ANSWERED, NULL));
  return n;
}
