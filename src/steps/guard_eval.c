#include "steps/guard_eval.h"

#include "analysis/dataflow.h"
#include "interp/local.h"

#include <string.h>

void guard_eval_begin(struct guard_eval *g, struct state_cells *c, uint32_t process, content local, unsigned unknown) {
  uint32_t n;
  const value *v = content_values(c, process, local, &n);
  *g =
      (struct guard_eval){.cells = c, .process = process, .role = model_role_of(c->model, process), .unknown = unknown};
  g->local = memory_alloc(2 * (size_t)n * sizeof *g->local);
  g->filled = g->local + n;
  memcpy(g->local, v, n * sizeof *v);
  memcpy(g->filled, v, n * sizeof *v);
  local_fill_dont_care(c->model, g->role, g->filled);
}

void guard_eval_end(struct guard_eval *g) {
  memory_free(g->local);
  choices_release(&g->choices);
}

struct guard_reads {
  const struct guard_eval *guard;
  bool unknown; /* it reads data that is not available */
};

static bool note_guard_read(void *context, const struct node *n) {
  struct guard_reads *r = context;
  const struct guard_eval *g = r->guard;
  if (n->op == NODE_VAR)
    r->unknown |= g->local[LOCAL_VAR(n->index)] == VALUE_DONT_CARE;
  else if (n->op == NODE_SLOT || n->op == NODE_SENDER)
    r->unknown |= !g->in;
  else
    r->unknown |= (op_traits(n->op) & g->unknown) != 0;
  return !r->unknown;
}

static void bind_message(struct eval *e, const struct action *a, const struct inbox_entry *in) {
  size_t n;
  e->slot[a->slot] = in->message;
  e->slot_sender[a->slot] = in->from;
  if (a->from_slot != NO_SLOT)
    e->slot[a->from_slot] = in->from;
  const value *part = a->nparts ? value_parts(e->values, in->message, &n) : NULL;
  for (uint32_t i = 0; i < a->nparts; i++)
    e->slot[a->parts[i].slot] = part[a->parts[i].field];
}

static bool guard_is_false(struct guard_eval *g, const struct node *condition) {
  struct guard_reads reads = {g, false};
  node_walk_deep(g->cells->model, condition, note_guard_read, &reads);
  if (reads.unknown)
    return false;
  struct eval e;
  jmp_buf failure;
  choices_clear(&g->choices);
  local_begin(&e, g->cells->interp, g->process, 0, 1, g->filled, NULL);
  e.choices = &g->choices;
  e.failure = &failure;
  if (setjmp(failure))
    return false;
  if (g->in)
    bind_message(&e, g->action, g->in);
  /* certainly false only if no choice was made: another choice might make it true */
  return !eval_true(&e, condition) && g->choices.taken.n == 0;
}

bool guard_any_false(struct guard_eval *g, const struct condition_list *c) {
  for (uint32_t i = 0; i < c->n; i++)
    if (guard_is_false(g, c->at[i]))
      return true;
  return false;
}

bool guard_all_false(struct guard_eval *g, const struct condition_list *c) {
  for (uint32_t i = 0; i < c->n; i++)
    if (!guard_is_false(g, c->at[i]))
      return false;
  return true;
}

bool guard_out_of_reach(const struct guard_eval *g, const struct stable_predicates *stable) {
  const struct role *role = &g->cells->model->roles[g->role];
  if (role->point_var == NO_VAR || g->action->point == ANY_POINT)
    return false;
  value at = g->local[LOCAL_VAR(role->point_var)];
  return at != VALUE_DONT_CARE && !point_reaches(stable, g->role, (uint32_t)at, g->action->point);
}

bool guard_used_up(const struct guard_eval *g) {
  return g->action->once != NO_VAR && g->local[LOCAL_VAR(g->action->once)] == 1;
}
