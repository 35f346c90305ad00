/* Environments: predicates over heard-of sets and oracles, and what extends what. Faults and
 * channels are in check_fault.c. */
#include "lang/check_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---- predicates with names ---- */

static struct node *generated(struct checker *c, enum op op, struct span at, struct node *body,
                              struct generator *gen, uint32_t n) {
  struct node *q = node_new(c, op, at, c->boolean, 1);
  q->kid[0] = body;
  q->gen = gen;
  q->ngen = n;
  return q;
}

static struct node *all_processes(struct checker *c, struct span at) {
  struct node *n = node_new(c, NODE_ROLE_SET, at, set_of(c, any_process(c)), 0);
  n->index = ROLE_ANY;
  return n;
}

static struct generator bound(struct checker *c, struct span at, const char *name,
                              struct node *range) {
  return (struct generator){
      .slot = slot_new(c), .range = range, .type = range->type->element, .name = name, .at = at};
}

static struct node *heard_of(struct checker *c, struct span at, const struct generator *p) {
  struct node *n = node_new(c, NODE_HO, at, set_of(c, any_process(c)), 1);
  n->index = NO_NAME;
  n->kid[0] = node_slot(c, at, p->slot, p->type);
  return n;
}

static struct node *two(struct checker *c, enum op op, struct span at, const struct type *type,
                        struct node *a, struct node *b) {
  struct node *n = node_new(c, op, at, type, 2);
  n->kid[0] = a;
  n->kid[1] = b;
  return n;
}

struct node *named_predicate(struct checker *c, const struct ast *a) {
  struct span at = a->at;
  const char *name = a->name;
  struct generator *gen = arena_array(&c->m->arena, 2, sizeof *gen);
  const struct type *set = set_of(c, any_process(c));
  if (strcmp(name, "uniform") == 0) { /* exists S in subsets(all): forall p in all: HO[p] == S */
    struct node *subsets = node_new(c, NODE_SUBSETS, at, set_of(c, set), 1);
    subsets->kid[0] = all_processes(c, at);
    gen[0] = bound(c, at, "S", subsets);
    gen[1] = bound(c, at, "p", all_processes(c, at));
    struct node *same = two(c, NODE_EQ, at, c->boolean, heard_of(c, at, &gen[1]),
                            node_slot(c, at, gen[0].slot, set));
    return generated(c, NODE_EXISTS, at, generated(c, NODE_FORALL, at, same, &gen[1], 1), &gen[0],
                     1);
  }
  if (strcmp(name, "nosplit") == 0) { /* forall p, q in all: HO[p] & HO[q] != {} */
    gen[0] = bound(c, at, "p", all_processes(c, at));
    gen[1] = bound(c, at, "q", all_processes(c, at));
    struct node *meet =
        two(c, NODE_MEET, at, set, heard_of(c, at, &gen[0]), heard_of(c, at, &gen[1]));
    return generated(c, NODE_FORALL, at,
                     two(c, NODE_NE, at, c->boolean, meet, node_new(c, NODE_SET, at, set, 0)), gen,
                     2);
  }
  if (strcmp(name, "kernel") == 0) { /* exists q in all: forall p in all: q in HO[p] */
    gen[0] = bound(c, at, "q", all_processes(c, at));
    gen[1] = bound(c, at, "p", all_processes(c, at));
    struct node *in = two(c, NODE_IN, at, c->boolean, node_slot(c, at, gen[0].slot, gen[0].type),
                          heard_of(c, at, &gen[1]));
    return generated(c, NODE_EXISTS, at, generated(c, NODE_FORALL, at, in, &gen[1], 1), &gen[0], 1);
  }
  if (strcmp(name, "reflexive") == 0) { /* forall p in all: p in HO[p] */
    gen[0] = bound(c, at, "p", all_processes(c, at));
    struct node *in = two(c, NODE_IN, at, c->boolean, node_slot(c, at, gen[0].slot, gen[0].type),
                          heard_of(c, at, &gen[0]));
    return generated(c, NODE_FORALL, at, in, gen, 1);
  }
  return NULL;
}

/* ---- predicates ---- */

struct names_seen {
  uint32_t id;
  bool several;
};

static bool see_name(void *context, const struct node *n) {
  struct names_seen *seen = context;
  if ((n->op == NODE_HO || n->op == NODE_SHO) && n->index != NO_NAME) {
    seen->several |= seen->id != NO_NAME && seen->id != n->index;
    seen->id = n->index;
  }
  return true;
}

static bool sees_heard_of(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_HO || n->op == NODE_SHO || n->op == NODE_ORACLE;
  return true;
}

static void fault_two_rounds(struct checker *c, struct span at) {
  fault(c, at, "this speaks of two rounds at once");
  help(c, "say it of each round in a condition of its own, joined with 'and'");
}

/* ---- what is said of whole runs, taken apart ---- */

struct parting {
  struct checker *c;
  const struct clause *clause;
  VEC(struct generator) witness;
  VEC(struct clause_part) parts;
  VEC(const struct node *) around; /* quantifiers `forall` that what is looked at stands in */
};

static bool sees_round(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_HO || n->op == NODE_SHO || n->op == NODE_ORACLE || n->op == NODE_CALL;
  return !*found;
}

/* Can the values be chosen before the first round, whatever is heard in it? */
static bool is_witness(struct parting *p, const struct node *n) {
  bool reads = n->op != NODE_EXISTS || n->n != 1 || p->around.n > 0;
  for (uint32_t i = 0; i < n->ngen && !reads; i++) {
    node_walk(n->gen[i].range, sees_round, &reads);
    for (size_t k = 0; k < p->witness.n; k++)
      reads |= p->witness.at[k].slot == n->gen[i].slot;
  }
  return !reads;
}

static struct node *within(struct parting *p, struct node *n) {
  for (size_t i = p->around.n; i-- > 0;) {
    const struct node *q = p->around.at[i];
    n = generated(p->c, NODE_FORALL, n->at, n, q->gen, q->ngen);
  }
  return n;
}

static void part_of(struct parting *p, struct node *n) {
  struct names_seen seen = {.id = NO_NAME};
  node_walk(n, see_name, &seen);
  for (size_t i = 0; i < p->around.n; i++)
    for (uint32_t k = 0; k < p->around.at[i]->ngen; k++)
      node_walk(p->around.at[i]->gen[k].range, see_name, &seen);
  if (seen.several)
    fault_two_rounds(p->c, n->at);
  if (n->op == NODE_EXISTS && p->clause->unit == EACH_PHASE && p->around.n == 0) {
    fault(p->c, n->at, "this may be somebody else in each round of a phase");
    help(p->c, "put one 'exists' in front, over names that do not depend on who is heard");
  }
  vec_push(&p->parts, ((struct clause_part){within(p, n), seen.id}));
}

static void take_apart(struct parting *p, struct node *n) {
  if (n->op == NODE_AND) {
    take_apart(p, n->kid[0]);
    take_apart(p, n->kid[1]);
  } else if (n->op == NODE_FORALL && n->n == 1) {
    vec_push(&p->around, n);
    take_apart(p, n->kid[0]);
    p->around.n--;
  } else if (is_witness(p, n)) {
    for (uint32_t i = 0; i < n->ngen; i++)
      vec_push(&p->witness, n->gen[i]);
    take_apart(p, n->kid[0]);
  } else {
    part_of(p, n);
  }
}

static void clause_take_apart(struct checker *c, struct clause *clause) {
  struct parting p = {.c = c, .clause = clause};
  take_apart(&p, clause->pred);
  clause->nwitness = (uint32_t)p.witness.n;
  clause->witness =
      arena_copy(&c->m->arena, p.witness.at, p.witness.n * sizeof *p.witness.at);
  clause->nparts = (uint32_t)p.parts.n;
  clause->parts = arena_copy(&c->m->arena, p.parts.at, p.parts.n * sizeof *p.parts.at);
  vec_release(&p.witness);
  vec_release(&p.parts);
  vec_release(&p.around);
}

static void add_predicate(struct checker *c, const struct ast *a, struct clause clause,
                          clause_vec *out) {
  c->slots = 0;
  c->locals.n = 0;
  clause.at = a->at;
  clause.pred = lower_bool(c, a, "what an environment says");
  struct names_seen seen = {.id = NO_NAME};
  node_walk(clause.pred, see_name, &seen);
  bool of_runs = clause.kind == CLAUSE_OFTEN || clause.kind == CLAUSE_FINALLY;
  if (seen.several && !(of_runs && clause.unit == EACH_PHASE))
    fault_two_rounds(c, a->at);
  clause.name_id = seen.several ? NO_NAME : seen.id;
  if (of_runs && !bad(clause.pred))
    clause_take_apart(c, &clause);
  bool says = bad(clause.pred);
  node_walk(clause.pred, sees_heard_of, &says);
  if (!says)
    diag_warning(c->diags, a->at, "this says nothing about heard-of sets or oracles");
  vec_push(out, clause);
}

/* "always a and b" is "always a" and "always b"; "again and again a and b" is not. */
static void split_predicate(struct checker *c, const struct ast *a, struct clause clause,
                            clause_vec *out) {
  if (a->kind == AST_BINARY && a->op == OP_AND && clause.kind != CLAUSE_OFTEN) {
    split_predicate(c, a->kid[0], clause, out);
    split_predicate(c, a->kid[1], clause, out);
    return;
  }
  add_predicate(c, a, clause, out);
}

static void check_predicate(struct checker *c, const struct ast *a, clause_vec *out) {
  struct clause clause = {.at = a->at, .name_id = NO_NAME, .role = ROLE_ANY, .unit = EACH_ROUND};
  const struct ast *first = a->kid[0];
  clause.kind = a->kind == AST_CLAUSE_EVERY        ? CLAUSE_EVERY
                : a->kind == AST_CLAUSE_FROM_ROUND ? CLAUSE_FROM_ROUND
                : a->kind == AST_CLAUSE_OFTEN      ? CLAUSE_OFTEN
                                                   : CLAUSE_FINALLY;
  if (a->kind == AST_CLAUSE_FROM_ROUND) {
    int64_t from;
    if (constant_number(c, first, "the round", &from)) {
      if (from < 1 || from > UINT32_MAX)
        fault(c, first->at, "rounds are counted from 1, so there is no round %" PRId64, from);
      clause.from = (uint32_t)from;
    }
  } else if (first && first->number == UNIT_PHASE)
    clause.unit = EACH_PHASE;
  else if (first && (first->number == UNIT_STEP || first->number == UNIT_RECEIVER))
    fault(c, first->at, "a round algorithm has rounds and phases");
  split_predicate(c, a->kid[1], clause, out);
}

/* ---- environments ---- */

static void check_clause(struct checker *c, const struct ast *a, clause_vec *out) {
  struct clause clause = {.at = a->at, .name_id = NO_NAME, .role = ROLE_ANY};
  if (!clause_suits(c, a))
    return;
  switch (a->kind) {
  case AST_CLAUSE_FAULT:
    check_fault(c, a, out);
    return;
  case AST_CLAUSE_EVERY:
  case AST_CLAUSE_FROM_ROUND:
  case AST_CLAUSE_OFTEN:
  case AST_CLAUSE_FINALLY:
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
  default:
    return; /* a syntax error, reported */
  }
}

static uint32_t environment_find(const struct model *m, const char *name) {
  for (uint32_t i = 0; i < m->nenvironments; i++)
    if (strcmp(m->environments[i].name, name) == 0)
      return i;
  return UINT32_MAX;
}

uint32_t environment_named(struct checker *c, const struct ast *name) {
  uint32_t found = environment_find(c->m, name->name);
  if (found != UINT32_MAX)
    return found;
  VEC(const char *) names = {0};
  for (uint32_t i = 0; i < c->m->nenvironments; i++)
    vec_push(&names, c->m->environments[i].name);
  fault(c, name->word, "unknown environment '%s'", name->name);
  const char *near = nearest_name(name->name, names.at, names.n);
  if (near)
    help(c, "did you mean '%s' (declared at line %u)?", near,
         line_of(c, c->m->environments[environment_find(c->m, near)].at));
  vec_release(&names);
  return UINT32_MAX;
}

struct environment_work {
  const struct ast **ast;
  clause_vec *own; /* clauses without those of the extended */
  uint8_t *state;  /* 0 new, 1 open, 2 done */
  bool *extended;  /* by another one */
};

/* Own clauses come after those of the environments that are extended. */
static void merge(struct checker *c, struct environment_work *w, uint32_t i) {
  const struct ast *extended = w->ast[i]->kid[0];
  clause_vec all = {0};
  w->state[i] = 1;
  for (uint32_t j = 0; extended && j < extended->n; j++) {
    uint32_t other = environment_named(c, extended->kid[j]);
    if (other == UINT32_MAX)
      continue;
    if (w->state[other] == 1) {
      fault(c, extended->kid[j]->word, "environment '%s' extends itself", w->ast[i]->name);
      continue;
    }
    w->extended[other] = true;
    if (w->state[other] == 0)
      merge(c, w, other);
    for (uint32_t k = 0; k < c->m->environments[other].nclauses; k++)
      vec_push(&all, c->m->environments[other].clauses[k]);
  }
  for (size_t k = 0; k < w->own[i].n; k++)
    vec_push(&all, w->own[i].at[k]);
  settle_clause(c, &c->m->environments[i], &all, CLAUSE_CHANNELS);
  settle_clause(c, &c->m->environments[i], &all, CLAUSE_FAIR);
  c->m->environments[i].clauses = arena_copy(&c->m->arena, all.at, all.n * sizeof *all.at);
  c->m->environments[i].nclauses = (uint32_t)all.n;
  vec_release(&all);
  w->state[i] = 2;
}

static bool on_processes(const struct clause *k) {
  return k->kind == CLAUSE_CRASH || k->kind == CLAUSE_OMIT || k->kind == CLAUSE_BYZANTINE;
}

/* Where nothing is said of messages any may be lost, which few expect beside faulty processes. */
static void warn_of_losses(struct checker *c, const struct environment *e) {
  const struct clause *faulty = NULL;
  for (uint32_t i = 0; i < e->nclauses; i++) {
    if (!on_processes(&e->clauses[i]))
      return;
    faulty = faulty ? faulty : &e->clauses[i];
  }
  if (!faulty)
    return;
  diag_warning(c->diags, faulty->at,
               "in '%s' any message may be lost, also between processes that are not faulty",
               e->name);
  diag_help(c->diags,
            "add 'synchronous' if only faults lose messages, else say what is lost or heard: "
            "'any messages are lost'");
}

static void declare_environment(struct checker *c, const struct ast *a,
                                struct environment_work *w) {
  uint32_t other = environment_find(c->m, a->name);
  if (other != UINT32_MAX) {
    fault(c, a->word, "environment '%s' is already declared", a->name);
    help(c, "the other one is at line %u", line_of(c, c->m->environments[other].at));
    return;
  }
  uint32_t i = c->m->nenvironments++;
  c->m->environments[i] = (struct environment){.name = keep(c, a->name), .at = a->word};
  w->ast[i] = a;
  for (uint32_t j = 1; j < a->n; j++)
    if (a->kid[j])
      check_clause(c, a->kid[j], &w->own[i]);
}

void check_environments(struct checker *c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->file->n; i++)
    n += c->file->kid[i]->kind == AST_ENVIRONMENT && c->file->kid[i]->name;
  struct environment_work w = {.ast = arena_array(&c->m->arena, n, sizeof *w.ast),
                               .own = arena_array(&c->m->arena, n, sizeof *w.own),
                               .state = arena_array(&c->m->arena, n, sizeof *w.state),
                               .extended = arena_array(&c->m->arena, n, sizeof *w.extended)};
  c->m->environments = arena_array(&c->m->arena, n ? n : 1, sizeof *c->m->environments);
  c->in = (struct context){.where = IN_ENVIRONMENT, .role = ROLE_ANY};
  for (uint32_t i = 0; i < c->file->n; i++)
    if (c->file->kid[i]->kind == AST_ENVIRONMENT && c->file->kid[i]->name)
      declare_environment(c, c->file->kid[i], &w);
  for (uint32_t i = 0; i < c->m->nenvironments; i++)
    if (w.state[i] == 0)
      merge(c, &w, i);
  for (uint32_t i = 0; i < c->m->nenvironments; i++)
    if (!w.extended[i] && !model_steps(c->m)) /* else it is a part of something */
      warn_of_losses(c, &c->m->environments[i]);
  for (uint32_t i = 0; i < n; i++)
    vec_release(&w.own[i]);
  if (c->m->nenvironments == 0)
    c->m->environments[c->m->nenvironments++] = (struct environment){.name = "free"};
  c->locals.n = 0;
}
