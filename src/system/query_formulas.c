#include "system/query_formulas.h"

#include "analysis/dataflow.h"
#include "analysis/model_visitor.h"

struct formula_look {
  bool rounds, initial, initial_each;
  const struct node *formula;
};

static bool look_reads(void *context, const struct node *n) {
  struct formula_look *look = context;
  look->rounds |= n->op == NODE_ROUND_NUMBER || !op_is_known(n->op);
  look->initial |= n->op == NODE_INITIAL || !op_is_known(n->op);
  look->initial_each |= (op_traits(n->op) & TRAIT_CALLS) != 0; /* recursive defs are not analysed: keep everything */
  return true;
}

struct slot_use {
  uint32_t slot;
  bool other; /* used for anything but initial(slot.x) */
};

static bool look_slot(void *context, const struct node *n) {
  struct slot_use *use = context;
  if (n->op == NODE_INITIAL && n->kid[0]->op == NODE_SLOT && n->kid[0]->index == use->slot)
    return false;
  if (n->op == NODE_SLOT && n->index == use->slot)
    use->other = true;
  return true;
}

/* Is only `initial` read of a quantified process? Then only the set of initial values matters. */
static bool binds_initials_only(const struct node *quantifier, uint32_t slot) {
  struct slot_use use = {slot, false};
  node_walk(quantifier, look_slot, &use);
  return !use.other;
}

static bool bound_for_set(const struct node *n, uint32_t slot) {
  for (uint32_t i = 0; i < n->ngen; i++)
    if (n->gen[i].slot == slot)
      return (n->op == NODE_EXISTS || n->op == NODE_FORALL) && n->gen[i].range->op == NODE_ROLE_SET &&
             n->gen[i].range->index != ROLE_ANY && !n->gen[i].cond && binds_initials_only(n, slot);
  return false;
}

struct initial_binder_search {
  uint32_t slot;
  bool found, good;
};

static bool look_binder(void *context, const struct node *n) {
  struct initial_binder_search *s = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    if (n->gen[i].slot == s->slot) {
      s->good = (s->found ? s->good : true) && bound_for_set(n, s->slot);
      s->found = true;
    }
  return true;
}

static bool look_initials(void *context, const struct node *n) {
  struct formula_look *look = context;
  if (n->op != NODE_INITIAL)
    return true;
  struct initial_binder_search s = {n->kid[0]->index, false, false};
  if (n->kid[0]->op == NODE_SLOT)
    node_walk(look->formula, look_binder, &s);
  if (!s.found || !s.good)
    look->initial_each = true;
  return true;
}

static bool inputs_name_processes(const struct model *m) {
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      if (m->roles[r].vars[i].kind == VAR_INPUT && type_contains_kind(m->roles[r].vars[i].type, TYPE_PROCESS))
        return true;
  return false;
}

enum initials_kept initials_asked(const struct model *m, const struct query *q) {
  enum initials_kept kept = INITIALS_NONE;
  for (uint32_t i = 0; i < query_nformulas(q); i++) {
    struct formula_look look = {.formula = query_formula(m, q, i)};
    node_walk_deep(m, look.formula, look_reads, &look);
    if (look.initial)
      node_walk(look.formula, look_initials, &look);
    if (look.initial && (look.initial_each || inputs_name_processes(m)))
      return INITIALS_EACH;
    if (look.initial)
      kept = INITIALS_SET;
  }
  return kept;
}

bool formula_reads_round_number(const struct model *m, const struct node *formula) {
  struct formula_look look = {.formula = formula};
  node_walk_deep(m, formula, look_reads, &look);
  return look.rounds;
}
