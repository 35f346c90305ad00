/* Defs: checked at their first use, each in its own frame. A recursive def needs an explicit type. */
#include "lang/typecheck_def.h"

#include "lang/typecheck_coerce.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <string.h>

static void declare_def(struct typechecker *c, const struct ast *d, uint32_t role, struct symbol_scope *scope) {
  const struct ast *fields = d->kid[0];
  uint32_t nargs = fields ? fields->n : 0;
  struct scope_symbol s = {
      .name = checker_strdup(c, d->name), .kind = SYMBOL_DEF, .at = d->word, .index = (uint32_t)c->defs.list.n};
  struct def def = {.name = s.name, .at = d->word, .nargs = nargs};
  struct def_info info = {.ast = d, .role = role};
  info.args = arena_array(&c->m->arena, nargs, sizeof *info.args);
  for (uint32_t i = 0; i < nargs; i++)
    info.args[i] = type_of_ast(c, fields->kid[i]->kid[0]);
  if (d->kid[1])
    info.type = def.type = type_of_ast(c, d->kid[1]);
  vec_push(&c->defs.list, def);
  vec_push(&c->defs.info, info);
  symbol_declare(c, scope, s);
}

void declare_defs(struct typechecker *c, uint32_t role) {
  const struct ast *in = role == ROLE_ANY ? c->file : c->roles[role].ast;
  struct symbol_scope *scope = role == ROLE_ANY ? &c->globals : &c->members;
  for (uint32_t i = 0; i < in->n; i++)
    if (in->kid[i] && in->kid[i]->kind == AST_DEF && in->kid[i]->name)
      declare_def(c, in->kid[i], role, scope);
}

static void bind_arguments(struct typechecker *c, const struct def_info *info) {
  const struct ast *fields = info->ast->kid[0];
  for (uint32_t i = 0; fields && i < fields->n; i++) {
    const struct type *type = info->args[i];
    slot_declare(c, fields->kid[i]->name, fields->kid[i]->word, slot_new(c), type, roles_of_type(c, type), false);
  }
}

static void check_body(struct typechecker *c, uint32_t index) {
  struct def_info *info = &c->defs.info.at[index];
  struct node *body;
  bind_arguments(c, info);
  body = lower_expr(c, info->ast->kid[2]);
  if (info->type)
    body = coerce_or_report(c, body, info->type, arena_printf(&c->m->arena, "'%s'", info->ast->name));
  else if (!node_is_error(body) && !type_is_known(body->type)) {
    checker_error(c, E0306, info->ast->kid[2]->at, "the type of '%s' is not known", info->ast->name);
    checker_help(c, "write it out: 'def %s: ... = ...'", info->ast->name);
    body = node_error(c, body->at);
  } else if (body->type->kind == TYPE_BAG) {
    checker_error(c, E0405, info->ast->kid[2]->at, "a def cannot be what was received");
    body = node_error(c, body->at);
  }
  if (!info->type)
    info->type = body->type;
  c->defs.list.at[index].type = info->type;
  c->defs.list.at[index].body = body;
}

/* Saves and restores the caller's names, slots and context. */
static void check_def(struct typechecker *c, uint32_t index) {
  struct def_info *info = &c->defs.info.at[index], *outer_def = c->defs.current;
  struct expr_context outer = c->in;
  struct symbol_scope locals = c->locals;
  uint32_t slots = c->slots;
  size_t first_reserved = c->first_reserved;
  memset(&c->locals, 0, sizeof c->locals);
  c->slots = 0;
  c->first_reserved = c->reserved_slots.n; /* the arguments are in the first slots of the frame */
  c->defs.current = info;
  c->in = (struct expr_context){.where = info->role == ROLE_ANY ? IN_DEF : IN_MEMBER_DEF,
                                .role = info->role,
                                .reach = REACH_MAYBE}; /* it may be called only in a branch */
  info->state = DEF_OPEN;
  check_body(c, index);
  info->state = DEF_DONE;
  scope_release(&c->locals);
  c->locals = locals;
  c->slots = slots;
  c->first_reserved = first_reserved;
  c->defs.current = outer_def;
  c->in = outer;
}

const struct def_info *def_typecheck(struct typechecker *c, uint32_t index, struct span use) {
  struct def_info *info = &c->defs.info.at[index];
  if (info->state == DEF_NEW) {
    if (c->defs.depth >= 200) {
      checker_error(c, E0210, use, "defs use each other too deeply");
      return NULL;
    }
    c->defs.depth++;
    check_def(c, index);
    c->defs.depth--;
  }
  if (info->type)
    return info;
  checker_error(c, E0210, use, "'%s' uses itself, so its type must be written out", info->ast->name);
  checker_help(c, "declare it as 'def %s%s: ... = ...'", info->ast->name, info->ast->kid[0] ? "(...)" : "");
  return NULL;
}

struct def_traits_walk {
  struct typechecker *c;
  struct def_info *to;
  bool changed;
};

static bool propagate_call(void *context, const struct node *n) {
  struct def_traits_walk *s = context;
  if (n->op != NODE_CALL)
    return true;
  const struct def_info *from = &s->c->defs.info.at[n->index];
  s->changed |= (from->reads_processes && !s->to->reads_processes) || (from->chooses && !s->to->chooses) ||
                (from->reads_shared && !s->to->reads_shared) || (from->reads_ghost && !s->to->reads_ghost);
  s->to->reads_processes |= from->reads_processes;
  s->to->chooses |= from->chooses;
  s->to->reads_shared |= from->reads_shared;
  s->to->reads_ghost |= from->reads_ghost;
  return true;
}

/* A def has the traits of the defs that it calls. Mutual recursion requires iteration to a fixpoint. */
static void propagate_def_traits(struct typechecker *c) {
  struct def_traits_walk s = {.c = c};
  do {
    s.changed = false;
    for (size_t i = 0; i < c->defs.list.n; i++) {
      s.to = &c->defs.info.at[i];
      if (s.to->state == DEF_DONE)
        node_walk(c->defs.list.at[i].body, propagate_call, &s);
    }
  } while (s.changed);
}

void check_defs(struct typechecker *c, uint32_t role) {
  for (uint32_t i = 0; i < c->defs.list.n; i++)
    if (c->defs.info.at[i].role == role && c->defs.info.at[i].state == DEF_NEW)
      check_def(c, i);
  propagate_def_traits(c);
}
