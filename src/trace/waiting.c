#include "trace/waiting.h"

#include "base/memory.h"
#include "base/text.h"
#include "interp/action.h"
#include "model/node.h"
#include "trace/trace.h"

#include <string.h>

static struct waiting_process process_waiting(struct interpreter *interp, uint32_t environment, const struct config *c,
                                              uint32_t p) {
  const struct model *m = interp->model;
  uint32_t r = model_role_of(m, p);
  const struct role *role = &m->roles[r];
  struct waiting_process w = {.process = p, .how = config_waits(interp, environment, c, p)};
  if (role->point_var != NO_VAR) {
    const struct type *points = role->vars[role->point_var].type;
    value at = c->local[p][LOCAL_VAR(role->point_var)];
    w.place = points->labels[at];
    w.at_end = at + 1 == (value)points->size;
  }
  w.actions = memory_alloc((role->nactions + (size_t)1) * sizeof *w.actions);
  for (uint32_t a = 0; a < role->nactions; a++)
    if (action_open(m, r, c->local[p], a))
      w.actions[w.nactions++] = a;
  return w;
}

bool waiting_list_make(struct waiting_list *list, struct interpreter *interp, uint32_t environment,
                       const struct config *c) {
  const struct model *m = interp->model;
  *list = (struct waiting_list){0};
  if (!model_steps(m) || !config_quiescent(interp, environment, c))
    return false;
  list->at = memory_alloc((m->nprocesses + (size_t)1) * sizeof *list->at);
  for (int middle = 1; middle >= 0; middle--)
    for (uint32_t p = 0; p < m->nprocesses; p++) {
      struct waiting_process w = process_waiting(interp, environment, c, p);
      if ((w.nactions > 0 || middle) && (w.how != WAITING_NOT) == (middle == 1)) {
        list->at[list->n++] = w;
        list->nmiddle += (uint32_t)middle;
      } else {
        memory_free(w.actions);
      }
    }
  return true;
}

void waiting_list_release(struct waiting_list *list) {
  for (uint32_t i = 0; i < list->n; i++)
    memory_free(list->at[i].actions);
  memory_free(list->at);
  *list = (struct waiting_list){0};
}

/* --- text --- */

void waiting_print_action(const struct model *m, const struct role *role, uint32_t action, struct text *out) {
  const struct action *a = &role->actions[action];
  bool triggered = a->trigger != TRIGGER_NONE || a->guard.ngen > 0 || a->guard.cond || a->once != NO_SLOT;
  if (triggered)
    source_add_text(&m->source, a->at, out);
  else
    text_addf(out, "its turn");
  text_addf(out, "  (line %u)", source_line_number(&m->source, a->at));
}

static bool asks(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_QUIESCENT || n->op == NODE_DEADLOCKED;
  return !*found;
}

bool formula_asks_quiescence(const struct node *formula) {
  bool found = false;
  node_walk(formula, asks, &found);
  return found;
}
