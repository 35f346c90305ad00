/* Clauses about whole runs: decomposed into a witness and requirements on single rounds; `for each` clauses are
   instantiated for each process. */
#include "lang/typecheck_environment.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_scope.h"
#include "lang/typechecker.h"

#include <string.h>

/* ---- the round that a clause names ---- */

struct round_names_seen {
  uint32_t id;
  bool several;
};

static bool collect_round_name(void *context, const struct node *n) {
  struct round_names_seen *seen = context;
  if ((n->op == NODE_HO || n->op == NODE_SHO) && n->index != NO_NAME) {
    seen->several |= seen->id != NO_NAME && seen->id != n->index;
    seen->id = n->index;
  }
  return true;
}

uint32_t clause_round_name(const struct node *n, bool *several) {
  struct round_names_seen seen = {.id = NO_NAME};
  node_walk(n, collect_round_name, &seen);
  *several = seen.several;
  return seen.several ? NO_NAME : seen.id;
}

void error_two_rounds(struct typechecker *c, struct span at) {
  checker_error(c, E0504, at, "this speaks of two rounds at once");
  checker_help(c, "say it of each round in a condition of its own, joined with 'and'");
}

struct clause_decomposition {
  struct typechecker *c;
  const struct clause *clause;
  VEC(struct generator) witness;
  VEC(struct clause_part) parts;
  VEC(const struct node *) around; /* the enclosing `forall` quantifiers */
};

static bool reads_round(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_HO || n->op == NODE_SHO || n->op == NODE_ORACLE || n->op == NODE_CALL;
  return !*found;
}

/* Can the values be chosen before the first round, independently of the heard-of sets? */
static bool is_witness(struct clause_decomposition *p, const struct node *n) {
  bool reads = n->op != NODE_EXISTS || n->n != 1 || p->around.n > 0;
  for (uint32_t i = 0; i < n->ngen && !reads; i++) {
    node_walk(n->gen[i].range, reads_round, &reads);
    for (size_t k = 0; k < p->witness.n; k++)
      reads |= p->witness.at[k].slot == n->gen[i].slot;
  }
  return !reads;
}

static struct node *requantify(struct clause_decomposition *p, struct node *n) {
  for (size_t i = p->around.n; i-- > 0;) {
    const struct node *q = p->around.at[i];
    n = node_over(p->c, NODE_FORALL, n->at, q->type, n, q->gen, q->ngen);
  }
  return n;
}

static void add_part(struct clause_decomposition *p, struct node *n) {
  struct node *whole = requantify(p, n);
  bool several;
  uint32_t name_id = clause_round_name(whole, &several);
  if (several)
    error_two_rounds(p->c, n->at);
  if (n->op == NODE_EXISTS && p->clause->unit == EACH_PHASE && p->around.n == 0) {
    checker_error(p->c, E0504, n->at, "this may be somebody else in each round of a phase");
    checker_help(p->c, "put one 'exists' in front, over names that do not depend on who is heard");
  }
  vec_push(&p->parts, ((struct clause_part){whole, name_id}));
}

static void decompose(struct clause_decomposition *p, struct node *n) {
  if (n->op == NODE_AND) {
    decompose(p, n->kid[0]);
    decompose(p, n->kid[1]);
  } else if (n->op == NODE_FORALL && n->n == 1) {
    vec_push(&p->around, n);
    decompose(p, n->kid[0]);
    p->around.n--;
  } else if (is_witness(p, n)) {
    for (uint32_t i = 0; i < n->ngen; i++)
      vec_push(&p->witness, n->gen[i]);
    decompose(p, n->kid[0]);
  } else {
    add_part(p, n);
  }
}

void clause_decompose(struct typechecker *c, struct clause *clause) {
  struct clause_decomposition p = {.c = c, .clause = clause};
  decompose(&p, clause->pred);
  if (clause->nrigid && p.witness.n == 0)
    checker_error(c, E0504, clause->pred->at, "whom this is about must not depend on who is heard");
  if (clause->nrigid)
    clause->nrigid = clause->pred->ngen;
  clause->nwitness = (uint32_t)p.witness.n;
  clause->witness = arena_copy(&c->m->arena, p.witness.at, p.witness.n * sizeof *p.witness.at);
  clause->nparts = (uint32_t)p.parts.n;
  clause->parts = arena_copy(&c->m->arena, p.parts.at, p.parts.n * sizeof *p.parts.at);
  vec_release(&p.witness);
  vec_release(&p.parts);
  vec_release(&p.around);
}

/* ---- instances of `for each` ---- */

uint32_t role_of_generator(struct typechecker *c, const struct ast *quantifier) {
  const struct ast *g = quantifier->n == 2 ? quantifier->kid[1] : NULL;
  bool one =
      g && g->kind == AST_GENERATOR && g->kid[0] && g->kid[0]->n == 1 && g->kid[1] && g->kid[1]->kind == AST_NAME;
  const struct scope_symbol *s = one ? symbol_find(c, g->kid[1]->name) : NULL;
  if (s && s->kind == SYMBOL_ROLE)
    return s->index;
  checker_error(c, E0504, quantifier->at, "'for each' needs one name and a role, as in 'for each p in %s'",
                c->m->nroles ? c->m->roles[0].name : "P");
  return ROLE_ANY;
}

static void substitute_process(struct node *n, uint32_t slot, const struct node *process) {
  if (n->op == NODE_SLOT && n->index == slot) {
    struct span at = n->at;
    *n = *process;
    n->at = at;
    return;
  }
  for (uint32_t i = 0; i < n->n; i++)
    substitute_process(n->kid[i], slot, process);
  for (uint32_t i = 0; i < n->ngen; i++) {
    substitute_process(n->gen[i].range, slot, process);
    if (n->gen[i].cond)
      substitute_process(n->gen[i].cond, slot, process);
  }
}

bool clause_instantiate(struct typechecker *c, struct clause *clause, uint32_t each) {
  struct node *n = clause->pred;
  if (n->op != NODE_EXISTS || n->n != 1 || n->ngen != 1 || n->gen[0].range->op != NODE_ROLE_SET)
    return false; /* reported */
  uint32_t role = n->gen[0].range->index;
  struct node *number = node_constant(c, n->at, c->integer, each + 1);
  struct node *process = node_unary(c, NODE_PROCESS_AT, n->at, n->gen[0].type, number);
  process->index = role;
  clause->pred = n->kid[0];
  substitute_process(clause->pred, n->gen[0].slot, process);
  return true;
}
