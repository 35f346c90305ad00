/* Properties: closed formulas over all processes, each checked in the environments that it names. */
#include "lang/typecheck_property.h"
#include "analysis/live_formula.h"

#include "lang/typecheck_environment.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_scope.h"
#include "lang/typechecker.h"

static void find_environments(struct typechecker *c, const struct ast *names, struct property *p) {
  uint32_t room = names ? names->n : 1;
  p->environments = arena_array(&c->m->arena, room, sizeof *p->environments);
  p->nenvironments = names ? 0 : 1; /* default: the first environment of the file */
  for (uint32_t i = 0; names && i < names->n; i++) {
    uint32_t found = environment_named(c, names->kid[i]);
    if (found != UINT32_MAX)
      p->environments[p->nenvironments++] = found;
  }
}

static bool finds_primed(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->primed;
  return !*found;
}

/* --- temporal formulas --- */

/* Only connectives and quantifiers over constant ranges may enclose a temporal operator. */
static void check_temporal(struct typechecker *c, const struct node *n) {
  static const enum op connectives[] = {NODE_NOT, NODE_AND,    NODE_OR,         NODE_IMPLIES, NODE_IF,     NODE_EQ,
                                        NODE_NE,  NODE_ALWAYS, NODE_EVENTUALLY, NODE_UNTIL,   NODE_EXISTS, NODE_FORALL};
  bool connects = false;
  if (!node_is_temporal(n))
    return;
  for (size_t i = 0; i < sizeof connectives / sizeof *connectives; i++)
    connects |= n->op == connectives[i];
  if (!connects) {
    checker_error(c, E0507, n->at, "a formula about what happens later has no value in a single state");
    checker_help(c, "join such formulas by 'and', 'or', 'not', '=>', 'exists' and 'forall' only");
    return;
  }
  for (uint32_t i = 0; i < n->ngen; i++) {
    const struct generator *g = &n->gen[i];
    if (!range_is_state_independent(g->range) || (g->cond && !range_is_state_independent(g->cond))) {
      checker_error(c, E0507, g->range->at, "'%s' ranges over what changes, and what is said of it happens later",
                    g->name);
      checker_help(
          c, "let it range over a role, a type, 'correct' or 'faulty', and state the rest as a condition: '=> ...'");
    } else if (g->type->count == UINT64_MAX) {
      checker_error(c, E0309, g->range->at, "'%s' has too many values for a formula about what happens later", g->name);
    }
  }
  for (uint32_t i = 0; i < n->n; i++)
    check_temporal(c, n->kid[i]);
}

static void check_property(struct typechecker *c, const struct ast *a, struct property *p) {
  bool step = a->flags & AST_FLAG_STEP;
  *p = (struct property){.name = checker_strdup(c, a->name), .at = a->word, .step = step};
  p->almost_surely = a->flags & AST_FLAG_ALMOST;
  p->on_request = a->flags & AST_FLAG_REQUEST;
  p->kind = a->number == 0 ? PROPERTY_SAFETY : a->number == 1 ? PROPERTY_COVER : PROPERTY_LIVE;
  find_environments(c, a->kid[0], p);
  if (step && p->kind == PROPERTY_LIVE)
    checker_error(c, E0506, a->word, "a 'live' property speaks of runs, not of steps");
  if (step && p->kind == PROPERTY_COVER) {
    checker_error(c, E0506, a->word, "a 'cover' property speaks of states, not of steps");
    checker_help(c, "a 'safety' property that says 'step not ...' is violated by such a step, and shows it");
  }
  bool scoped = p->kind == PROPERTY_SAFETY && !step && a->kid[1]->op == OP_UNTIL && c->m->kind == MODEL_ROUNDS;
  c->in = (struct expr_context){
      .where = IN_PROPERTY, .role = ROLE_ANY, .step = step, .live = p->kind == PROPERTY_LIVE || scoped};
  scope_cut(&c->locals, 0);
  c->slots = 0;
  p->formula = lower_bool(c, a->kid[1], "a property");
  if (node_is_error(p->formula))
    return;
  if (scoped && p->formula->op == NODE_UNTIL) {
    if (node_is_temporal(p->formula->kid[0]) || node_is_temporal(p->formula->kid[1]))
      checker_error(c, E0506, a->kid[1]->at,
                    "a 'safety' property says nothing about what happens later, but for one 'until'");
    struct node *before = p->formula->kid[0];
    p->formula->op = NODE_OR; /* the end condition comes first: where it holds, the other operand is not evaluated */
    p->formula->kid[0] = p->formula->kid[1];
    p->formula->kid[1] = before;
    p->until = p->formula->kid[0];
  }
  bool temporal = node_is_temporal(p->formula), primed = false;
  node_walk(p->formula, finds_primed, &primed);
  if (p->kind == PROPERTY_LIVE && !temporal) {
    checker_error(c, E0506, a->kid[1]->at, "'live %s' says nothing about what happens later", a->name);
    checker_help(c, "say 'eventually ...'; what holds in every state is a 'safety' property");
  }
  check_temporal(c, p->formula);
  if (step && !primed)
    diag_warning(c->diags, W0107, a->word, "step property '%s' has no primed variable, so it speaks of states only",
                 a->name);
}

/* "deadlock", if the file does not declare it: no reachable state is deadlocked. */
static void add_deadlock(struct typechecker *c, const struct name_index *names) {
  if (!model_steps(c->m) || name_index_find(names, "deadlock") != NAME_NONE)
    return;
  struct property *p = &c->m->properties[c->m->nproperties];
  c->m->nbuilt_in = 1;
  const struct span nowhere = {0, 0};
  *p = (struct property){.name = "deadlock", .kind = PROPERTY_SAFETY, .on_request = true, .built_in = true};
  find_environments(c, NULL, p);
  struct node *stuck = node_new(c, NODE_DEADLOCKED, nowhere, c->boolean, 0);
  p->formula = node_unary(c, NODE_NOT, nowhere, c->boolean, stuck);
}

void check_properties(struct typechecker *c) {
  uint32_t n = 0;
  struct name_index names = {0}; /* in the order of the model's properties */
  for (uint32_t i = 0; i < c->file->n; i++)
    n += c->file->kid[i]->kind == AST_PROPERTY && c->file->kid[i]->name;
  c->m->properties = arena_array(&c->m->arena, n + 1, sizeof *c->m->properties);
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *a = c->file->kid[i];
    if (a->kind != AST_PROPERTY || !a->name)
      continue;
    uint32_t other = name_index_find(&names, a->name);
    if (other != NAME_NONE) {
      checker_error(c, E0207, a->word, "property '%s' is already declared", a->name);
      checker_help(c, "the other one is at line %u", checker_line(c, c->m->properties[other].at));
    }
    name_index_add(&names, a->name);
    check_property(c, a, &c->m->properties[c->m->nproperties++]);
  }
  add_deadlock(c, &names);
  name_index_release(&names);
  scope_cut(&c->locals, 0);
}
