/* Where a process may stay forever without being in the middle of something: the proper ends of a role. */
#include "lang/typecheck_process.h"
#include "lang/typechecker.h"

enum path_end {
  PATH_GOES_ON, /* some path reaches the end of the block, and the others stay */
  PATH_STAYS,   /* every path ends with `goto` to the same step, or with `halt` */
  PATH_LEAVES   /* some path goes to another step */
};

static enum path_end path_of_block(const struct block *, uint32_t point_var, value point);

static enum path_end path_of_stmt(const struct stmt *s, uint32_t point_var, value point) {
  switch (s->kind) {
  case STMT_HALT:
    return PATH_STAYS;
  case STMT_ASSIGN:
    if (s->shared || s->var != point_var)
      return PATH_GOES_ON;
    return s->expr->op == NODE_CONST && s->expr->constant == point ? PATH_STAYS : PATH_LEAVES;
  case STMT_IF: {
    enum path_end then = path_of_block(&s->then, point_var, point), other = path_of_block(&s->other, point_var, point);
    if (then == PATH_LEAVES || other == PATH_LEAVES)
      return PATH_LEAVES;
    return then == PATH_STAYS && other == PATH_STAYS ? PATH_STAYS : PATH_GOES_ON;
  }
  case STMT_LET:
  case STMT_SEND:
  case STMT_FOREACH: /* its body has no `goto`, and may not be executed */
    return PATH_GOES_ON;
  }
  return PATH_LEAVES;
}

static enum path_end path_of_block(const struct block *b, uint32_t point_var, value point) {
  for (uint32_t i = 0; i < b->n; i++) {
    enum path_end end = path_of_stmt(b->at[i], point_var, point);
    if (end != PATH_GOES_ON)
      return end;
  }
  return PATH_GOES_ON;
}

/* Does every way to take the step wait for messages, or lead back to it? */
static void look_at_step(const struct role *role, uint32_t point, bool *waits_for_messages, bool *stays) {
  *waits_for_messages = *stays = true;
  for (uint32_t i = 0; i < role->nactions; i++) {
    const struct action *a = &role->actions[i];
    if (a->point != point)
      continue;
    *waits_for_messages &= a->trigger != TRIGGER_NONE;
    *stays &= path_of_block(&a->body, role->point_var, (value)point) == PATH_STAYS;
  }
}

void find_final_steps(struct typechecker *c, uint32_t r) {
  const struct ast *process = c->roles[r].ast;
  struct role *role = &c->m->roles[r];
  if (role->point_var == NO_VAR)
    return;
  uint32_t nlabels = role->vars[role->point_var].type->size, point = point_find(c, r, "start") == 0;
  bool starts = point > 0;
  role->final = arena_array(&c->m->arena, nlabels + 1, sizeof *role->final);
  role->final[nlabels - 1] = true; /* end */
  for (uint32_t i = 2; i < process->n; i++) {
    const struct ast *a = process->kid[i];
    if (a->kind != AST_STEP || !a->name)
      continue;
    bool waits_for_messages, stays;
    look_at_step(role, point, &waits_for_messages, &stays);
    role->final[point] = (a->flags & AST_FLAG_FINAL) || (!starts && point == 0 && waits_for_messages) || stays;
    point++;
  }
}
