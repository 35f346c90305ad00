/* Locations and rules as a counter system. */
#include "param/handlers_internal.h"

#include "analysis/type_usage.h"
#include "base/memory.h"
#include "model/node.h"

#include <string.h>

static struct term *count_of(struct handler_builder *h, uint32_t class) {
  return make_leaf(&h->b, TERM_COUNTER, class);
}

static const struct handler_location *location_in(const struct handler_system *s, uint32_t class) {
  return &s->locations.at[s->members.at[class]];
}

static value status_of(const struct handler_system *s, uint32_t class) {
  return s->locals.at[location_in(s, class)->local][LOCAL_STATUS];
}

static uint32_t byzantine_class(const struct handler_system *s) {
  return s->byzantine == UINT32_MAX ? UINT32_MAX : s->class_of.at[s->byzantine];
}

/* How many processes, Byzantine ones apart, have sent a message of the set. */
static struct term *senders_of(struct handler_builder *h, content_set set, bool certain) {
  struct term *sum = NULL;
  for (size_t i = 0; i < h->h->senders.n; i++)
    if (h->h->senders.at[i].set == set && h->h->senders.at[i].certain == certain)
      return h->h->senders.at[i].term;
  for (uint32_t c = 0; c < h->h->members.n; c++) {
    const struct handler_location *at = location_in(h->h, c);
    if (c != byzantine_class(h->h) && ((at->sent | (certain ? 0 : at->partly)) & set))
      sum = make_sum(&h->b, sum, count_of(h, c));
  }
  sum = sum ? sum : make_number(&h->b, 0);
  vec_push(&h->h->senders, ((struct sender_count){set, certain, sum}));
  return sum;
}

struct term *guard_term(struct handler_builder *h, const struct sent_guard *g, bool certain) {
  uint32_t np = h->b.params.base->nparams;
  struct term **at = arena_array(&h->h->arena, np + (size_t)2 + g->nsets, sizeof *at);
  for (uint32_t i = 0; i < np; i++)
    at[i] = make_leaf(&h->b, TERM_PARAM, h->b.params.base->param[i]);
  at[np] = h->h->byzantine == UINT32_MAX || certain ? make_number(&h->b, 0) : count_of(h, byzantine_class(h->h));
  for (uint32_t i = 0; i < g->nsets; i++)
    at[np + 1 + i] = senders_of(h, g->sets[i], certain);
  return make_cube(&h->b, &g->cube, at);
}

/* ---- moves ---- */

static struct term *crashed_count(struct handler_builder *h) {
  struct term *sum = NULL;
  for (uint32_t c = 0; c < h->h->members.n; c++)
    if (status_of(h->h, c) & STATUS_CRASHED)
      sum = make_sum(&h->b, sum, count_of(h, c));
  return sum;
}

static const char *rule_name(struct handler_builder *h, const struct handler_rule *r) {
  return r->crashes ? "crash" : h->b.role->actions[r->action].name;
}

static bool add_move(struct handler_builder *h, const struct handler_rule *r, struct term *guard, move_vec *all) {
  struct derivation_builder *d = &h->b;
  struct counter_move m = {.name = rule_name(h, r),
                           .at = r->action == NO_ACTION ? d->role->at : d->role->actions[r->action].at};
  uint32_t from = h->h->class_of.at[r->from], to = h->h->class_of.at[r->to];
  if (guard->op == TERM_NUMBER && !guard->number)
    return true;
  m.counters = arena_array(&d->s->arena, d->s->ncounters + (size_t)1, sizeof *m.counters);
  m.controls = arena_array(&d->s->arena, 1, sizeof *m.controls);
  m.amounts = arena_array(&d->s->arena, 1, sizeof *m.amounts);
  struct term *one = make_number(d, 1), *source = count_of(h, from);
  m.counters[from] = make_difference(d, source, one);
  m.counters[to] = make_sum(d, count_of(h, to), one);
  m.guard = make_and(d, make_relation(d, TERM_LE, one, source), guard);
  for (size_t i = 0; i < all->n; i++) /* the same, or one that only needs a process to move */
    if (h->h->moves.at[i].from == from && h->h->moves.at[i].to == to &&
        (all->at[i].guard->op == TERM_LE || term_same(all->at[i].guard, m.guard)))
      return true;
  vec_push(all, m);
  vec_push(&h->h->moves, ((struct handler_move){from, to}));
  return !d->d->refused;
}

static bool add_moves(struct handler_builder *h, const struct handler_rule *r, move_vec *all) {
  struct derivation_builder *d = &h->b;
  struct term *budget = make_number(d, 1);
  uint32_t class = h->h->class_of.at[r->from];
  if (h->h->members.at[class] != r->from || h->h->class_of.at[r->to] == class)
    return true;
  if (r->crashes && !h->live)
    budget = make_relation(d, TERM_LT, crashed_count(h), limit_term(d, CLAUSE_CRASH));
  if (!r->outcome)
    return add_move(h, r, budget, all);
  for (size_t i = 0; i < r->outcome->guards.n; i++)
    if (!add_move(h, r, make_and(d, guard_term(h, &r->outcome->guards.at[i], false), budget), all))
      return false;
  return true;
}

/* ---- counters and the start ---- */

static void add_counters(struct handler_builder *h) {
  struct derivation_builder *d = &h->b;
  struct handler_system *s = h->h;
  d->s->counters = arena_array(&d->s->arena, s->members.n + 1, sizeof *d->s->counters);
  d->s->controls = arena_array(&d->s->arena, 1, sizeof *d->s->controls);
  d->d->nparts = 1;
  for (uint32_t c = 0; c < s->members.n; c++) { /* for names and properties: doomed processes are not correct */
    value *v = arena_copy(&d->d->arena, s->locals.at[location_in(s, c)->local], h->length * sizeof *v);
    v[LOCAL_STATUS] |= location_in(s, c)->doomed ? STATUS_CRASHED : 0;
    vec_push(&d->d->locals, v);
    vec_push(&d->d->parts, 0);
    vec_push(&d->d->counter, c);
    vec_push(&d->d->flag, 0);
  }
  for (uint32_t c = 0; c < s->members.n; c++) {
    const char *name = derive_local_name(d, c);
    d->s->counters[d->s->ncounters++] = (struct counter_name){name, d->role->at};
  }
}

/* Does a process begin in a location of the class? */
static bool begins_in(const struct handler_system *s, uint32_t class) {
  for (uint32_t l = 0; l < s->locations.n; l++)
    if (s->class_of.at[l] == class && s->locations.at[l].begins)
      return true;
  return false;
}

static struct term *sum_where(struct handler_builder *h, bool doomed, bool byzantine) {
  struct term *sum = NULL;
  for (uint32_t c = 0; c < h->h->members.n; c++) {
    bool fits = doomed ? location_in(h->h, c)->doomed : !byzantine || c == byzantine_class(h->h);
    if (begins_in(h->h, c) && fits)
      sum = make_sum(&h->b, sum, count_of(h, c));
  }
  return sum ? sum : make_number(&h->b, 0);
}

static void make_beginning(struct handler_builder *h) {
  struct derivation_builder *d = &h->b;
  struct term *start = make_relation(d, TERM_EQ, sum_where(h, false, false), d->shape->size);
  for (uint32_t c = 0; c < h->h->members.n; c++)
    start = make_and(d, start,
                     begins_in(h->h, c) ? make_relation(d, TERM_LE, make_number(d, 0), count_of(h, c))
                                        : make_relation(d, TERM_EQ, count_of(h, c), make_number(d, 0)));
  if (h->h->byzantine != UINT32_MAX)
    start = make_and(d, start, make_relation(d, TERM_LE, sum_where(h, false, true), limit_term(d, CLAUSE_BYZANTINE)));
  if (h->live && h->crashes)
    start = make_and(d, start, make_relation(d, TERM_LE, sum_where(h, true, false), limit_term(d, CLAUSE_CRASH)));
  d->s->start = start;
}

/* ---- identities in properties ---- */

static bool compares_identities(void *context, const struct node *n) {
  bool *found = context;
  for (uint32_t i = 0; i < n->n; i++) {
    const struct node *kid = n->kid[i];
    bool field = n->op == NODE_REMOTE || n->op == NODE_INITIAL;
    bool member = n->op == NODE_IN && i == 0 &&
                  (n->kid[1]->op == NODE_ROLE_SET || n->kid[1]->op == NODE_CORRECT || n->kid[1]->op == NODE_FAULTY);
    *found |= kid->type && kid->type->kind == TYPE_PROCESS && !field && !member;
  }
  return !*found;
}

bool handlers_system(struct handler_builder *h) {
  struct derivation_builder *d = &h->b;
  const struct property *p = &d->m->properties[d->q->properties[0]];
  move_vec all = {0};
  bool ok = true;
  add_counters(h);
  make_beginning(h);
  for (size_t i = 0; i < h->h->rules.n && ok; i++)
    ok = !derive_stopped(d) && add_moves(h, &h->h->rules.at[i], &all);
  d->s->moves = arena_copy(&d->s->arena, all.at, all.n * sizeof *all.at);
  d->s->nmoves = (uint32_t)all.n;
  vec_release(&all);
  node_walk_deep(d->m, p->formula, compares_identities, &d->parts.identities);
  if (!ok || d->d->refused)
    return false;
  if (h->live)
    return handlers_fairness(h);
  struct counter_property *out = arena_alloc(&d->s->arena, sizeof *out);
  *out = (struct counter_property){.name = arena_strndup(&d->s->arena, p->name, strlen(p->name)), .at = p->at};
  out->from = make_number(d, 1);
  out->text = arena_printf(&d->s->arena, "not (%s)", source_quote(d->m, p->formula->at, &d->s->arena));
  struct term *holds = handler_state_term(h, p->formula);
  ok = holds != NULL;
  out->unsafe = holds ? make_not(d, holds) : NULL;
  d->s->properties = out;
  d->s->nproperties = ok;
  return ok && !d->d->refused;
}

/* ---- the whole derivation ---- */

bool handlers_derive(struct derivation *out, struct handler_system **kept, const struct round_shape *shape,
                     struct interpreter *interp, const struct query *q, const volatile sig_atomic_t *stop) {
  struct handler_system *s = memory_alloc(sizeof *s);
  *s = (struct handler_system){.byzantine = UINT32_MAX};
  arena_init(&s->arena);
  *out = (struct derivation){.system = shape->system,
                             .model = interp->model,
                             .violated = UINT32_MAX,
                             .where = UINT32_MAX,
                             .turn = UINT32_MAX,
                             .passes = NO_COUNTER};
  arena_init(&out->arena);
  struct handler_builder h = {.h = s,
                              .b = {.d = out,
                                    .shape = shape,
                                    .s = shape->system,
                                    .interp = interp,
                                    .m = interp->model,
                                    .q = q,
                                    .env = &interp->model->environments[q->environment],
                                    .role = &interp->model->roles[0],
                                    .mode = DERIVE_WHOLE,
                                    .stop = stop}};
  h.live = interp->model->properties[q->properties[0]].kind == PROPERTY_LIVE;
  h.length = out->length = role_local_length(h.b.role);
  if (!derive_stopped(&h.b) && derive_params(&h.b) && handlers_licensed(&h) && handlers_locations(&h) &&
      handlers_quotient(&h))
    handlers_system(&h);
  if (stop && *stop)
    out->stopped = true;
  if (out->stopped && !out->refused)
    derive_stopped(&h.b);
  counter_graph_free(h.b.params.base);
  *kept = s;
  return !out->refused;
}

void handler_system_free(struct handler_system *s) {
  if (!s)
    return;
  for (size_t i = 0; i < s->outcomes.n; i++)
    outcomes_release(s->outcomes.at[i]);
  vec_release(&s->outcomes);
  vec_release(&s->locals);
  vec_release(&s->contents);
  vec_release(&s->locations);
  vec_release(&s->rules);
  vec_release(&s->class_of);
  vec_release(&s->members);
  vec_release(&s->senders);
  vec_release(&s->moves);
  arena_release(&s->arena);
  memory_free(s);
}

const struct handler_formula *handlers_live(const struct handler_system *s) { return s->live; }
const struct handler_move *handlers_moves(const struct handler_system *s) { return s->moves.at; }
