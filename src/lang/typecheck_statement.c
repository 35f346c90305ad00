/* Statements of updates, and sends. */
#include "lang/typecheck_statement.h"

#include "lang/typecheck_coerce.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_guard.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_process.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <string.h>

static bool is_name(const struct ast *a, const char *name) { return a->kind == AST_NAME && strcmp(a->name, name) == 0; }

/* ---- assignments ---- */

static const struct ast *place_base(const struct ast *place, uint32_t *steps) {
  *steps = 0;
  while (place->kind == AST_INDEX || place->kind == AST_SELECT) {
    *steps += place->kind == AST_INDEX ? place->n - 1 : 1;
    place = place->kid[0];
  }
  return place;
}

/* What is assigned to is no name of the model. */
static void unknown_target(struct typechecker *c, const struct ast *place, const struct ast *base) {
  struct nearest near;
  checker_error(c, E0201, base->word, "unknown variable '%s'", base->name);
  if (place->kind == AST_SELECT) {
    checker_help(c, "a process assigns its own variables, by their names, and shared ones: '%s := VALUE'", place->name);
    return;
  }
  nearest_init(&near, base->name);
  for (size_t i = 0; i < c->members.n && diag_may_search(c->diags, 1); i++)
    if (c->members.at[i].kind == SYMBOL_VAR)
      nearest_offer(&near, c->members.at[i].name);
  for (size_t i = 0; i < c->globals.n && diag_may_search(c->diags, 1); i++)
    if (c->globals.at[i].kind == SYMBOL_SHARED)
      nearest_offer(&near, c->globals.at[i].name);
  const struct scope_symbol *s = near.found ? symbol_find(c, near.found) : NULL;
  if (s)
    checker_help(c, "did you mean '%s' (declared at line %u)?", near.found, checker_line(c, s->at));
  else
    checker_help(
        c, "declare it at the start of the process: 'var %s: TYPE = VALUE'; in a block 'let %s = VALUE' names a value",
        base->name, base->name);
}

static struct var *assignable(struct typechecker *c, const struct ast *place, const struct ast *base,
                              struct stmt *out) {
  if (base->kind != AST_NAME) {
    if (base->kind != AST_ERROR)
      checker_error(c, E0402, base->at, "only a variable can be assigned to");
    return NULL;
  }
  const struct scope_symbol *s = symbol_find(c, base->name);
  if (!s) {
    unknown_target(c, place, base);
    return NULL;
  }
  out->var = s->index;
  out->shared = s->kind == SYMBOL_SHARED;
  if (out->shared)
    return &c->m->globals[s->index];
  if (s->kind == SYMBOL_GLOBAL && model_steps(c->m)) {
    checker_error(c, E0402, base->word, "'%s' cannot be assigned to: it is an input of the whole file", base->name);
    checker_help(c, "a variable that all processes can change is declared with 'shared' (line %u)",
                 checker_line(c, s->at));
    return NULL;
  }
  if (s->kind != SYMBOL_VAR) {
    checker_error(c, E0402, base->word, "'%s' cannot be assigned to", base->name);
    checker_help(c, "it is the %s declared at line %u; only %s change", symbol_kind_text(s->kind),
                 checker_line(c, s->at),
                 model_steps(c->m) ? "variables of the process and shared ones" : "the variables of the process");
    return NULL;
  }
  struct var *v = &c->m->roles[c->in.role].vars[s->index];
  if (v->kind != VAR_ORACLE)
    return v;
  checker_error(c, E0402, base->word, "oracle '%s' cannot be assigned to: the environment chooses it", base->name);
  return NULL;
}

static const struct type *step_field(struct typechecker *c, const struct ast *a, const struct type *t,
                                     struct place_step *step) {
  if (t->kind == TYPE_RECORD)
    for (uint32_t i = 0; i < t->size; i++)
      if (strcmp(t->fields[i].name, a->name) == 0) {
        step->field = i;
        return t->fields[i].type;
      }
  checker_error(c, E0206, a->word, "%s has no field '%s'", type_text(c, t), a->name);
  return NULL;
}

/* The type of the assigned place, with its selectors from the outermost inwards; NULL: reported. */
static const struct type *place_type(struct typechecker *c, const struct ast *a, const struct type *t,
                                     struct place_step *path, uint32_t *n) {
  if (a->kind == AST_NAME)
    return t;
  t = place_type(c, a->kid[0], t, path, n);
  if (!t)
    return NULL;
  if (a->kind == AST_SELECT)
    return step_field(c, a, t, &path[(*n)++]);
  for (uint32_t i = 1; i < a->n; i++) {
    if (t->kind != TYPE_ARRAY) {
      checker_error(c, E0314, a->kid[0]->at, "%s is not an array", type_text(c, t));
      if (t->kind == TYPE_SET)
        checker_help(c, "a set gets an element by 'x := x | {e}', and loses it by 'x := x - {e}'");
      else if (t->kind == TYPE_SEQUENCE)
        checker_help(c, "a sequence grows by 'x := x ++ [e]'; what is indexed is an array, '[0..n - 1] T'");
      return NULL;
    }
    path[*n].index = coerce_or_report(c, lower_expr(c, a->kid[i]), t->index, "the index");
    (*n)++;
    t = t->element;
  }
  return t;
}

static void check_assign(struct typechecker *c, const struct ast *a, struct stmt *s) {
  uint32_t steps;
  const struct ast *base = place_base(a->kid[0], &steps);
  s->kind = STMT_ASSIGN;
  const struct var *v = assignable(c, a->kid[0], base, s);
  bool ghost = c->in.ghost;
  c->in.ghost = v && v->kind == VAR_GHOST;
  const struct type *type = NULL;
  s->path = arena_array(&c->m->arena, steps, sizeof *s->path);
  if (v && v->type)
    type = place_type(c, a->kid[0], v->type, s->path, &s->npath);
  struct node *e = lower_expr(c, a->kid[1]);
  c->in.ghost = ghost;
  if (!type || node_is_error(e)) {
    s->expr = e;
    return;
  }
  struct node *made = coerce(c, e, type, true);
  if (!made) /* reports the reason */
    made = coerce_or_report(c, e, type, arena_printf(&c->m->arena, "'%s'", source_text(c, a->kid[0]->at)));
  s->expr = made;
}

/* ---- other statements ---- */

static void check_let(struct typechecker *c, const struct ast *a, struct stmt *s) {
  s->kind = STMT_LET;
  s->expr = lower_expr(c, a->kid[0]);
  const struct type *type = s->expr->type;
  if (!node_is_error(s->expr) && (!type_is_known(type) || type->kind == TYPE_BAG)) {
    checker_error(c, E0306, a->kid[0]->at,
                  type->kind != TYPE_BAG ? "its type is not known here"
                  : c->in.quorum         ? "a quorum has a name already"
                                         : "what was received cannot be named");
    type = c->error;
  }
  s->slot = slot_new(c);
  slot_declare(c, a->name, a->word, s->slot, type, roles_of_type(c, type), false);
}

static void check_if(struct typechecker *c, const struct ast *a, struct stmt *s) {
  struct guard_builder g;
  s->kind = STMT_IF;
  uint32_t slots = c->slots;
  guard_open(c, a->kid[0], &g);
  check_block(c, a->kid[1], &s->then);
  guard_close(c, &g, &s->guard);
  c->slots = slots;
  if (a->n > 2 && a->kid[2]) {
    c->in.reach = g.other;
    check_block(c, a->kid[2], &s->other);
    c->in.reach = g.outer;
  }
}

static void check_foreach(struct typechecker *c, const struct ast *a, struct stmt *s) {
  s->kind = STMT_FOREACH;
  struct scope_position mark = scope_open(c);
  struct node *from = lower_collection(c, a->kid[0]);
  if (!node_is_error(from) && from->op != NODE_RECEIVED) {
    checker_error(c, E0313, a->kid[0]->at, "'foreach' goes through %s only",
                  model_steps(c->m) ? "a quorum" : "'received'");
    checker_help(c, "a message to each member of a set: 'send MESSAGE to SET'; other collections are read with '... "
                    "for x in ...', 'exists' and 'forall'");
  }
  s->slot = slot_new(c);
  const struct type *type = node_is_error(from) ? c->error : from->type->element;
  slot_declare(c, a->name, a->word, s->slot, type, ROLES_ALL, true);
  c->in.reach = reach_maybe(c);
  check_block(c, a->kid[1], &s->then);
  scope_close(c, mark);
}

static void check_statement(struct typechecker *c, const struct ast *a, struct stmt *s) {
  s->at = a->at;
  switch (ast_kind_among(a->kind)) {
  case AST_IF:
    check_if(c, a, s);
    return;
  case AST_LET:
    check_let(c, a, s);
    return;
  case AST_ASSIGN:
    check_assign(c, a, s);
    return;
  case AST_FOREACH:
    check_foreach(c, a, s);
    return;
  case AST_HALT:
    s->kind = STMT_HALT;
    return;
  case AST_SEND:
    if (model_steps(c->m)) {
      check_step_send(c, a, s);
      return;
    }
    checker_error(c, E0111, a->word, "an update cannot send");
    checker_help(c, "in a round all messages are sent first: 'round { send ... to ...  update { ... } }'");
    return;
  case AST_GOTO:
    if (model_steps(c->m)) {
      check_goto(c, a, s);
      return;
    }
    checker_error(c, E0404, a->word, "'goto' belongs to processes with steps; these proceed in rounds");
    checker_help(c, "a process that is done says 'halt'");
    return;
  case AST_ERROR: /* reported */
    return;
  }
  checker_error(c, E0306, a->at, "this is no statement");
}

static void warn_unused(struct typechecker *c, size_t from) {
  for (size_t i = from; i < c->locals.n; i++) {
    const struct scope_symbol *s = &c->locals.at[i];
    if (s->kind == SYMBOL_SLOT && !s->used && s->type->kind != TYPE_ERROR)
      diag_warning(c->diags, W0102, s->at, "'%s' is never used", s->name);
  }
}

void check_block(struct typechecker *c, const struct ast *a, struct block *out) {
  size_t locals = c->locals.n;
  uint32_t slots = c->slots;
  struct ast **kids = a->kid;
  uint32_t n = a->n;
  struct ast *only[1] = {(struct ast *)(uintptr_t)a}; /* else if */
  if (a->kind == AST_IF) {
    kids = only;
    n = 1;
  }
  out->at = arena_array(&c->m->arena, n, sizeof *out->at);
  for (uint32_t i = 0; i < n; i++) {
    if (!kids[i])
      continue;
    struct stmt *s = arena_alloc(&c->m->arena, sizeof *s);
    check_statement(c, kids[i], s);
    out->at[out->n++] = s;
  }
  warn_unused(c, locals);
  scope_cut(&c->locals, locals);
  c->slots = slots;
}

/* ---- sends ---- */

uint64_t check_target(struct typechecker *c, const struct ast *a, struct send *s) {
  const struct scope_symbol *symbol = a->kind == AST_NAME ? symbol_find(c, a->name) : NULL;
  s->target = TARGET_SET;
  s->to_role = ROLE_ANY;
  if (!symbol && is_name(a, "all"))
    return ROLES_ALL;
  if (!symbol && is_name(a, "others")) {
    s->target = TARGET_OTHERS;
    return ROLES_ALL;
  }
  if (symbol && symbol->kind == SYMBOL_ROLE) {
    s->to_role = symbol->index;
    return symbol->index < 63 ? UINT64_C(1) << symbol->index : ROLES_ALL;
  }
  s->to = lower_expr(c, a);
  if (node_is_error(s->to))
    return ROLES_ALL;
  const struct type *t = s->to->type;
  s->target = t->kind == TYPE_SET ? TARGET_EXPR : TARGET_ONE;
  if (t->kind == TYPE_PROCESS || (t->kind == TYPE_SET && t->element->kind == TYPE_PROCESS))
    return roles_of(c, s->to);
  checker_error(c, E0410, a->at, "one can send to a process or to a set of them, not to %s", type_text(c, t));
  if (t->kind == TYPE_OPTION && t->element->kind == TYPE_PROCESS)
    checker_help(c,
                 model_steps(c->m) ? "it may be none: 'if exists q in %s { send ... to q }'"
                                   : "it may be none: 'send ... to q when exists q in %s'",
                 source_text(c, a->at));
  else if (type_is_number(t))
    checker_help(c, "%s(i) is the process with number i", c->m->roles[c->in.role].name);
  return ROLES_ALL;
}

uint64_t check_send(struct typechecker *c, const struct ast *a, struct send *s) {
  struct guard_builder g;
  c->slots = 0;
  s->at = a->at;
  if (a->kid[2])
    guard_open(c, a->kid[2], &g);
  s->message = lower_expr(c, a->kid[0]);
  uint64_t reach = check_target(c, a->kid[1], s);
  if (a->kid[2])
    guard_close(c, &g, &s->guard);
  if (s->message->type->kind == TYPE_BAG) {
    checker_error(c, E0405, a->kid[0]->at, "what was received cannot be sent as it is");
    s->message = node_error(c, a->kid[0]->at);
  }
  return reach;
}
