/* The successors of a local state in a round, each with its condition: the messages that must have been heard (a
   reception, computed once). Receptions that lead to the same local state are joined. */
#include "param/derive_round_internal.h"

#include "param/cube_projection.h"

/* ---- receptions ---- */

static bool same_receiver(const struct receiver *a, const struct receiver *b) {
  bool told = a->omits_receive || a->omits_send || a->spares_own; /* its own message makes a difference */
  return a->class == b->class && a->omits_receive == b->omits_receive && a->omits_send == b->omits_send &&
         a->spares_own == b->spares_own && a->may_spare == b->may_spare && (!told || a->own == b->own);
}

static uint32_t reception_of(struct round_builder *r, const struct update_cases *o, uint32_t way,
                             const struct receiver *receiver) {
  for (size_t i = 0; i < r->receptions.n; i++)
    if (r->receptions.at[i].outcomes == o && r->receptions.at[i].way == way &&
        same_receiver(&r->receptions.at[i].receiver, receiver) &&
        (!r->receptions.at[i].fails || r->receptions.at[i].receiver.own == receiver->own))
      return (uint32_t)i;
  struct reception c = {
      .outcomes = o, .way = way, .receiver = *receiver, .fails = update_fails(r->d, o->cases.at[way].effect)};
  reception_find(&r->columns, &c);
  vec_push(&r->receptions, c);
  return (uint32_t)r->receptions.n - 1;
}

/* The cubes as a condition of the move. index: of the reception, used in names. */
static struct term *cubes_term(struct round_builder *r, const cube_vec *cubes, bool witness, uint32_t index) {
  struct derivation_builder *d = r->d;
  const struct reception_columns *columns = &r->columns;
  struct term **terms = memory_alloc((reception_ncolumns(columns) + (size_t)1) * sizeof *terms);
  for (uint32_t i = 0; i < reception_ncolumns(columns); i++)
    terms[i] = i < columns->np ? make_leaf(d, TERM_PARAM, d->params.base->param[i]) : make_number(d, 0);
  for (uint32_t m = 0; m < columns->nm; m++) {
    terms[column_may(columns, m)] = make_sum(d, r->may[m], NULL);
    terms[column_must(columns, m)] = make_sum(d, r->must[m], NULL);
    if (witness)
      terms[column_heard(columns, m)] = r->heard[m] ? r->heard[m] : round_amount(r, "heard_%u_%u", index + 1, m + 1);
    if (witness && d->heard.forges)
      terms[column_forged(columns, m)] = round_amount(r, "forged_%u_%u", index + 1, m + 1);
  }
  terms[column_byzantine(columns)] = make_sum(d, r->byzantine, NULL);
  struct term *can = make_number(d, 0);
  for (size_t i = 0; i < cubes->n; i++)
    can = make_or(d, can, make_cube(d, &cubes->at[i], terms));
  memory_free(terms);
  return can;
}

static bool is_certain(const struct round_builder *r, uint32_t chance) {
  return r->receptions.at[chance].always || (r->only && r->certain_receptions >> chance & 1);
}

/* The condition that a process can have heard this. */
struct term *reception_condition(struct round_builder *r, uint32_t index) {
  struct reception *c = &r->receptions.at[index];
  if (c->never || is_certain(r, index))
    return make_number(r->d, !c->never);
  if (!c->can) {
    struct term *can = cubes_term(r, &c->cubes, c->witness, index);
    r->receptions.at[index].can = can;
  }
  return r->receptions.at[index].can;
}

/* The disjunction of several receptions. It is often simpler than its parts: a process may take a value both if it
   hears enough to decide and if it does not. */
static void reception_union_find(struct round_builder *r, struct reception_union *j) {
  struct derivation_builder *d = r->d;
  bool witness = false;
  j->can = make_number(d, 0);
  for (size_t i = 0; i < j->of.n; i++) {
    witness |= r->receptions.at[j->of.at[i]].witness;
    j->always |= is_certain(r, j->of.at[i]);
  }
  if (j->always || witness || j->of.n == 1) {
    for (size_t i = 0; i < j->of.n; i++)
      j->can = make_or(d, j->can, reception_condition(r, j->of.at[i]));
    return;
  }
  cube_vec all = {0};
  struct solver *s = reception_facts(&r->columns);
  for (size_t i = 0; i < j->of.n; i++)
    for (size_t k = 0; k < r->receptions.at[j->of.at[i]].cubes.n; k++) {
      struct cube c;
      cube_copy(&c, &r->receptions.at[j->of.at[i]].cubes.at[k]);
      vec_push(&all, c);
    }
  cubes_merge(&all, s);
  j->always = cubes_cover(s, &all);
  for (size_t i = 0; i < all.n; i++)
    cube_remove_implied(&all.at[i], s);
  j->can = j->always ? make_number(d, 1) : cubes_term(r, &all, false, 0);
  cubes_release(&all);
  solver_free(s);
}

static const struct reception_union *reception_union_of(struct round_builder *r, const reception_set *of) {
  for (size_t i = 0; i < r->unions.n; i++)
    if (r->unions.at[i].of.n == of->n && memcmp(r->unions.at[i].of.at, of->at, of->n * sizeof *of->at) == 0)
      return &r->unions.at[i];
  struct reception_union j = {0};
  for (size_t i = 0; i < of->n; i++)
    vec_push(&j.of, of->at[i]);
  reception_union_find(r, &j);
  vec_push(&r->unions, j);
  return &r->unions.at[r->unions.n - 1];
}

void round_forget_conditions(struct round_builder *r) {
  for (size_t i = 0; i < r->unions.n; i++)
    vec_release(&r->unions.at[i].of);
  vec_clear(&r->unions);
  for (size_t i = 0; i < r->receptions.n; i++)
    r->receptions.at[i].can = NULL;
}

/* ---- successors of a local state ---- */

static struct receiver receiver_of(struct round_builder *r, uint32_t decides) {
  struct derivation_builder *d = r->d;
  struct receiver receiver = {.omits_receive = local_has(d, decides, STATUS_OMITS_RECEIVE),
                              .omits_send = local_has(d, decides, STATUS_OMITS_SEND),
                              .class = LEADER_FOLLOWS,
                              .own = UINT32_MAX};
  const struct schedule_point *at = &d->reached.at[r->point];
  value message;
  unsigned kind;
  if (at->knows_leader)
    receiver.class = local_class(d, d->d->locals.at[decides]);
  if (at->sends == at->updates && local_message(d, decides, r->point, &message, &kind) &&
      leader_hears(receiver.class, kind))
    receiver.own = message_index(at, message, kind);
  if (at->sends == at->updates)
    receiver.spares_own = local_spares_itself(d, decides, r->point);
  else
    receiver.may_spare = round_may_spare(d, r->point);
  return receiver;
}

/* Adds the successors of `local` by the updates of `decides`. */
static bool add_reasons(struct round_builder *r, uint32_t local, uint32_t decides, struct term *there,
                        successor_reason_vec *out) {
  struct derivation_builder *d = r->d;
  const struct update_cases *o = update_cases_of(d, r->point, decides);
  struct receiver receiver = receiver_of(r, decides);
  for (uint32_t w = 0; o && w < o->cases.n && !derive_stopped(d); w++) {
    struct successor_reason reason = {0, reception_of(r, o, w, &receiver), there};
    if (r->receptions.at[reason.chance].never)
      continue;
    const struct local_update *effect = &d->reached.updates.at[o->cases.at[w].effect];
    if (effect->failure)
      return derive_refuse(d, effect->where, "an update may fail: %s", effect->failure);
    reason.target = local_after_update(d, local, r->point, o->cases.at[w].effect);
    if (reason.target == UINT32_MAX)
      return false;
    size_t k = 0; /* several deciding local states may share a reception */
    while (k < out->n && (out->at[k].target != reason.target || out->at[k].chance != reason.chance))
      k++;
    if (k == out->n)
      vec_push(out, reason);
    else
      out->at[k].there = make_sum(d, out->at[k].there, there);
  }
  return o != NULL && !d->d->refused;
}

static uint32_t counters_in(const struct term *sum) {
  return !sum ? 0 : sum->op == TERM_ADD ? counters_in(sum->kid[0]) + counters_in(sum->kid[1]) : 1;
}

/* Do all deciding local states lead there? Then some process is in one of them: the process that changes is. */
static bool is_everybody(const struct round_builder *r, uint32_t local, const struct term *sum) {
  const struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  uint32_t n = 0;
  for (size_t i = 0; i < at->locals.n; i++)
    n += d->d->parts.at[at->locals.at[i]] == at->updates && locals_agree(d, at->locals.at[i], local);
  return counters_in(sum) == n;
}

bool successor_reasons_find(struct round_builder *r, uint32_t local, successor_reason_vec *out) {
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  bool ok = true;
  if (d->d->parts.at[local] == at->updates || (at->by_class && tells_class(d->d, d->d->parts.at[local])))
    return add_reasons(r, local, local, NULL, out);
  for (size_t i = 0; i < at->locals.n && ok; i++) {
    uint32_t decides = at->locals.at[i];
    if (local_active(d, decides) && d->d->parts.at[decides] == at->updates && locals_agree(d, decides, local))
      ok = add_reasons(r, local, decides, r->pool[decides] ? r->pool[decides] : local_count(d, decides), out);
  }
  for (size_t i = 0; i < out->n && ok; i++)
    if (is_everybody(r, local, out->at[i].there))
      out->at[i].there = NULL;
  return ok;
}

/* Merges all reasons with the same target and the same deciding local states. */
static struct local_successor local_successor_of(struct round_builder *r, const successor_reason_vec *reasons,
                                                 uint32_t target) {
  struct derivation_builder *d = r->d;
  struct local_successor o = {target, make_number(d, 0), false};
  bool *done = memory_alloc(reasons->n + 1);
  for (size_t i = 0; i < reasons->n; i++) {
    reception_set of = {0};
    struct term *there = reasons->at[i].there;
    for (size_t k = i; k < reasons->n; k++)
      if (!done[k] && reasons->at[k].target == target && term_same(reasons->at[k].there, there)) {
        vec_push(&of, reasons->at[k].chance);
        done[k] = true;
      }
    if (of.n) {
      const struct reception_union *j = reception_union_of(r, &of);
      o.always |= j->always && !there;
      o.can = make_or(d, o.can, there ? make_and(d, amount_some(r, there), j->can) : j->can);
    }
    vec_release(&of);
  }
  memory_free(done);
  return o;
}

const struct local_successor *successor_to(const local_successor_vec *v, uint32_t target) {
  for (size_t i = 0; i < v->n; i++)
    if (v->at[i].target == target)
      return &v->at[i];
  return NULL;
}

bool successors_find(struct round_builder *r, uint32_t local, local_successor_vec *out) {
  successor_reason_vec reasons = {0};
  bool ok = successor_reasons_find(r, local, &reasons);
  size_t kept = 0;
  for (size_t i = 0; i < reasons.n; i++)
    if (!r->only || r->only >> reasons.at[i].chance & 1)
      reasons.at[kept++] = reasons.at[i];
  reasons.n = kept;
  for (size_t i = 0; i < reasons.n && ok; i++)
    if (!successor_to(out, reasons.at[i].target))
      vec_push(out, local_successor_of(r, &reasons, reasons.at[i].target));
  if (out->n == 1) { /* every process has a successor, so a single one is certain */
    out->at[0].can = make_number(r->d, 1);
    out->at[0].always = true;
  }
  vec_release(&reasons);
  return ok;
}
