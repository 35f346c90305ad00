/* Numbers of phases as ages. Processes keep numbers of phases, as in `ts := ph`, and compare them. There are infinitely
   many, so a counter cannot be kept for each. Of every run, one phase is fixed, and a number is known only as old
   (before it), since (from it on, before this phase) or of this phase. An older number never has a greater age, so the
   age of a maximum is the maximum of the ages; a number is that of this phase if and only if its age says so. Other
   comparisons are refused, but for the choice of a message with the greatest number: among those of its age.

   Every choice of that phase is sound, or of none for a run. Chosen is the first phase at whose end one of the watched
   variables, those that the property reads, does not have its first value, since the argument for agreement is usually
   about what is newer than the first decision. So no such value is there when an earlier phase ends, and one is there
   when that phase ends. Between phases, an aging move makes numbers of this phase old, or since. */
#include "param/derive_round_internal.h"

#include "analysis/dataflow.h"
#include "base/memory.h"
#include "model/ages.h"

static bool is_age(const void *context, const struct type *t) {
  (void)context;
  return t->name && strcmp(t->name, AGE_TYPE) == 0;
}

static bool has_age(const struct type *t) { return t && type_any(t, is_age, NULL); }

/* ---- licence ---- */

struct age_search {
  struct derivation_builder *d;
  VEC(const struct node *) allowed; /* comparisons of ages that choose a newest message */
  VEC(const struct node *) lets;    /* by let: its expression */
  VEC(uint32_t) slots;              /* by let */
  struct span at;
};

static bool is_this_phase(const struct node *a, const struct node *b) {
  return is_age(NULL, a->type) && b->op == NODE_CONST && b->constant == AGE_THIS_PHASE;
}

/* max(m.ts for m in received): the field; UINT32_MAX: it is something else. */
static uint32_t newest_field(const struct node *n) {
  bool is = (n->op == NODE_MAX || n->op == NODE_MIN) && n->ngen == 1 && n->gen[0].range->op == NODE_RECEIVED &&
            !n->gen[0].cond && n->kid[0]->op == NODE_SELECT && n->kid[0]->kid[0]->op == NODE_SLOT &&
            n->kid[0]->kid[0]->index == n->gen[0].slot;
  return is ? n->kid[0]->index : UINT32_MAX;
}

static const struct node *let_value(const struct age_search *s, const struct node *n) {
  for (size_t i = s->slots.n; i-- > 0 && n->op == NODE_SLOT;)
    if (s->slots.at[i] == n->index)
      return s->lets.at[i];
  return n;
}

/* pick(... for m in received if m.ts == newest): a message of the greatest age is one of those that it chooses from. */
static void allow_newest(struct age_search *s, const struct node *n) {
  const struct node *c = n->ngen == 1 ? n->gen[0].cond : NULL;
  if (!c || c->op != NODE_EQ || n->gen[0].range->op != NODE_RECEIVED)
    return;
  for (int i = 0; i < 2; i++) {
    const struct node *own = c->kid[i];
    uint32_t field = newest_field(let_value(s, c->kid[1 - i]));
    if (field != UINT32_MAX && own->op == NODE_SELECT && own->index == field && own->kid[0]->op == NODE_SLOT &&
        own->kid[0]->index == n->gen[0].slot)
      vec_push(&s->allowed, c);
  }
}

static bool is_allowed(const struct age_search *s, const struct node *n) {
  bool found = ((n->op == NODE_EQ || n->op == NODE_NE) &&
                (is_this_phase(n->kid[0], n->kid[1]) || is_this_phase(n->kid[1], n->kid[0])));
  for (size_t i = 0; i < s->allowed.n; i++)
    found |= s->allowed.at[i] == n;
  return found;
}

/* Is this operator, of which some child holds an age, true to what ages mean? */
static bool is_true_to_ages(const struct age_search *s, const struct node *n) {
  const struct type *element = n->n ? n->kid[0]->type : NULL;
  switch (op_number(n->op)) {
  case NODE_SELECT:
  case NODE_RECORD:
  case NODE_WRAP:
  case NODE_IF:
  case NODE_OTHERWISE:
  case NODE_PICK:
    return true;
  case NODE_EQ:
  case NODE_NE:
    return is_allowed(s, n);
  case NODE_MAX:
  case NODE_MIN:
    return n->ngen && (is_age(NULL, element) || !has_age(element));
  case NODE_CARD:
    return n->kid[0]->op == NODE_RECEIVED;
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_COUNT:
  case NODE_SUM:
  case NODE_SET_OF:
  case NODE_MOSTFREQUENT:
  case NODE_MAJORITY:
    return !has_age(element);
  }
  return false;
}

static bool visit_age(void *context, const struct node *n) {
  struct age_search *s = context;
  bool ages = false;
  if (s->at.to)
    return false;
  if (n->op == NODE_PICK)
    allow_newest(s, n);
  for (uint32_t i = 0; i < n->n; i++)
    ages |= has_age(n->kid[i]->type);
  for (uint32_t i = 0; i < n->ngen; i++)
    ages |= has_age(n->gen[i].type);
  if ((ages && !is_true_to_ages(s, n)) || (n->op == NODE_CALL && has_age(n->type)))
    s->at = n->at;
  return true;
}

static void visit_stmt(void *context, const struct stmt *stmt) {
  struct age_search *s = context;
  if (stmt->kind == STMT_LET) {
    vec_push(&s->lets, stmt->expr);
    vec_push(&s->slots, stmt->slot);
  }
  if (stmt->kind == STMT_FOREACH && !s->at.to)
    s->at = stmt->at;
  stmt_walk_deep(s->d->m, stmt, visit_age, s);
}

static bool find_age_field(void *context, const struct node *n) {
  struct age_search *s = context;
  if (has_age(n->type) && !s->at.to)
    s->at = n->at;
  return !s->at.to;
}

static void search_release(struct age_search *s) {
  vec_release(&s->allowed);
  vec_release(&s->lets);
  vec_release(&s->slots);
}

bool ages_licensed(struct derivation_builder *d) {
  struct age_search s = {.d = d};
  bool *ages = arena_array(&d->d->arena, d->role->nvars + (size_t)1, sizeof *ages), any = false;
  for (uint32_t i = 0; i < d->role->nvars; i++) {
    ages[i] = is_age(NULL, d->role->vars[i].type);
    any |= ages[i];
    if (!ages[i] && has_age(d->role->vars[i].type))
      return derive_refuse(d, d->role->vars[i].at, "the variable '%s' holds numbers of phases and something else",
                           d->role->vars[i].name);
  }
  if (!any)
    return true;
  d->d->ages = ages;
  if (d->liveness)
    return derive_refuse(d, d->role->at, "liveness is not proved of models that keep numbers of phases");
  for (uint32_t p = 0; p < d->m->npoints; p++) {
    const struct body *b = &d->role->body[p];
    for (uint32_t i = 0; i < b->nsends; i++)
      send_walk_deep(d->m, &b->sends[i], visit_age, &s);
    block_visit(&b->update, visit_stmt, &s);
    block_visit(&b->finally, visit_stmt, &s);
  }
  search_release(&s);
  if (s.at.to)
    return derive_refuse(d, s.at,
                         "numbers of phases can only be copied, compared with that of this phase, and used to "
                         "pick a message with the greatest one");
  for (uint32_t i = 0; i < d->q->nproperties; i++)
    node_walk_deep(d->m, d->m->properties[d->q->properties[i]].formula, find_age_field, &s);
  return !s.at.to || derive_refuse(d, s.at, "a property reads numbers of phases");
}

/* ---- local states ---- */

bool ages_end_at(const struct derivation_builder *d, uint32_t point) {
  return d->d->ages && d->m->points[point].phase_start;
}

bool local_ages(const struct derivation_builder *d, uint32_t local) {
  for (uint32_t i = 0; i < d->role->nvars && d->d->ages; i++)
    if (d->d->ages[i] && d->d->locals.at[local][LOCAL_VAR(i)] == AGE_THIS_PHASE)
      return true;
  return false;
}

/* ---- the watched variables ---- */

/* Those that the property reads and that have one first value. */
void ages_watch(struct derivation_builder *d) {
  uint32_t n = d->role->nvars;
  bool *watched = arena_array(&d->d->arena, n + (size_t)1, sizeof *watched);
  value *first = arena_array(&d->d->arena, n + (size_t)1, sizeof *first);
  for (uint32_t v = 0; v < n; v++) {
    size_t found = 0;
    watched[v] = d->d->live->idle[0][v] && v != d->d->leader && !d->d->ages[v];
    for (size_t i = 0; i < d->reached.initial.n && watched[v]; i++) {
      uint32_t part = (uint32_t)(i % d->d->nparts), l = d->reached.initial.at[i];
      if (!part_exists(d->d, part) || (d->d->part_of && d->d->part_of[v] != part) || local_has(d, l, STATUS_BYZANTINE))
        continue;
      watched[v] = found++ == 0 || first[v] == d->d->locals.at[l][LOCAL_VAR(v)];
      first[v] = d->d->locals.at[l][LOCAL_VAR(v)];
    }
    watched[v] &= found > 0;
  }
  d->d->watched = watched;
  d->d->watched_first = first;
}

static bool has_changed(const struct derivation_builder *d, uint32_t local) {
  for (uint32_t v = 0; v < d->role->nvars; v++)
    if (d->d->watched[v] && (!d->d->part_of || d->d->part_of[v] == d->d->parts.at[local]) &&
        d->d->locals.at[local][LOCAL_VAR(v)] != d->d->watched_first[v])
      return true;
  return false;
}

/* ---- aging ---- */

struct age_step {
  const char *name;
  enum fixed_phase before, after;
  value becomes;
};
static const struct age_step age_steps[] = {{"ages", FIXED_AHEAD, FIXED_AHEAD, AGE_OLD},
                                            {"begins", FIXED_AHEAD, FIXED_NOW, AGE_OLD},
                                            {"ends", FIXED_NOW, FIXED_OVER, AGE_SINCE},
                                            {"ages_since", FIXED_OVER, FIXED_OVER, AGE_SINCE}};

static bool add_aging(struct derivation_builder *d, uint32_t point, const struct age_step *step, move_vec *moves) {
  const struct schedule_point *at = &d->reached.at[point];
  const uint32_t *counter = d->d->counter.at;
  struct counter_move m = round_move_new(d, point, step->name);
  struct term **sums = memory_alloc((d->d->locals.n + 1) * sizeof *sums), *changed = NULL;
  bool ok = true;
  m.guard = make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->aged), NULL);
  if (d->d->where != UINT32_MAX)
    m.guard =
        make_and(d, m.guard, make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->where), round_term(d, point)));
  m.guard = make_and(d, m.guard,
                     make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->began), make_number(d, step->before)));
  m.controls[d->d->aged] = make_number(d, 1);
  m.controls[d->d->began] = make_number(d, step->after);
  for (size_t i = 0; i < at->aging.n && ok; i++) {
    uint32_t l = at->aging.at[i], to = local_aged(d, l, point, step->becomes);
    ok = to != UINT32_MAX;
    if (!ok)
      break;
    sums[to] = make_sum(d, sums[to], local_count(d, l));
    m.counters[counter[l]] = make_number(d, 0);
  }
  for (uint32_t l = 0; l < d->d->locals.n && ok; l++) {
    if (sums[l])
      m.counters[counter[l]] = make_sum(d, local_count(d, l), sums[l]);
    if (step->before != FIXED_OVER && has_changed(d, l))
      changed = make_sum(d, changed, local_count(d, l));
  }
  if (step->before == FIXED_NOW)
    m.guard = make_and(d, m.guard, make_relation(d, TERM_LE, make_number(d, 1), changed));
  else if (changed)
    m.guard = make_and(d, m.guard, make_relation(d, TERM_LE, changed, NULL));
  memory_free(sums);
  vec_push(moves, m);
  vec_push(&d->d->is_part_move, false);
  vec_push(&d->d->turns, (struct turn_move){0});
  return ok;
}

bool ages_moves(struct derivation_builder *d, uint32_t point, move_vec *moves) {
  bool ok = true;
  for (size_t i = 0; i < sizeof age_steps / sizeof *age_steps && ok; i++)
    ok = add_aging(d, point, &age_steps[i], moves);
  return ok;
}
