/* The parts that change in the joint move of a round. Local states with the same successors share amounts, and the
   arrivals replace the old counts. */
#include "param/derive_round_internal.h"

/* Local states with the same successors, except for staying unchanged. Their processes are interchangeable. */
struct successor_class {
  VEC(uint32_t) members;
  local_successor_vec stay; /* by member: the option to stay; target UINT32_MAX: it cannot stay */
  local_successor_vec go;   /* common successors; without a member's option to stay */
};

static void class_release(struct successor_class *c) {
  vec_release(&c->members);
  vec_release(&c->stay);
  vec_release(&c->go);
}

bool same_successor(const struct local_successor *a, const struct local_successor *b) {
  if (!a || !b)
    return a == b;
  return a->always == b->always && (a->always || term_same(a->can, b->can));
}

/* Does the local state have the same successors as the class, under the same conditions? own: the state in which it
   stays unchanged. The condition under which other members enter `own` is known only once there are other members. */
static bool class_accepts(const struct successor_class *c, uint32_t own, const local_successor_vec *options) {
  for (size_t i = 0; i < c->go.n; i++) {
    const struct local_successor *o = &c->go.at[i];
    if (o->target != own && !same_successor(o, successor_to(options, o->target)))
      return false;
  }
  for (size_t i = 0; i < options->n; i++) {
    const struct local_successor *o = &options->at[i];
    if (o->target == own || successor_to(&c->go, o->target))
      continue;
    if (c->members.n != 1 || c->members.at[0] != o->target || c->stay.at[0].target == UINT32_MAX)
      return false;
  }
  return true;
}

static void class_add(struct successor_class *c, uint32_t local, uint32_t own, const local_successor_vec *options) {
  struct local_successor stay = {UINT32_MAX, NULL, false};
  for (size_t i = 0; i < options->n; i++)
    if (options->at[i].target == own)
      stay = options->at[i];
    else if (!successor_to(&c->go, options->at[i].target))
      vec_push(&c->go, options->at[i]);
  vec_push(&c->members, local);
  vec_push(&c->stay, stay);
}

struct term *remaining_count(struct round_builder *r, uint32_t local) {
  return make_difference(r->d, local_count(r->d, local), r->crashing[local]);
}

/* Adds a fresh amount of processes that enter `target`. */
static struct term *add_arrivals(struct round_builder *r, const struct successor_class *c, uint32_t target) {
  struct derivation_builder *d = r->d;
  struct term *amount = round_amount(r, "%s_%zu", local_label(d, target), r->amounts.n + 1);
  r->arrivals[target] = make_sum(d, r->arrivals[target], amount);
  if (c->members.n == 1)
    vec_push(&r->local_moves, ((struct local_move){amount, c->members.at[0], target}));
  return amount;
}

static struct term *unless_none(struct round_builder *r, struct term *amount, const struct local_successor *o) {
  return o->always ? make_number(r->d, 1) : make_or(r->d, amount_none(r, amount), o->can);
}

/* The number of processes that stay in, or enter, a member's own state. */
static struct term *distribute_member(struct round_builder *r, const struct successor_class *c, size_t i) {
  struct derivation_builder *d = r->d;
  uint32_t local = c->members.at[i];
  const struct local_successor *stay = &c->stay.at[i], *go = successor_to(&c->go, local);
  struct term *amount, *more;
  if (stay->target == UINT32_MAX)
    return NULL; /* only the common successors */
  if (go && same_successor(stay, go)) {
    amount = add_arrivals(r, c, local);
    round_require(r, unless_none(r, amount, go));
    return amount;
  }
  amount = add_arrivals(r, c, local);
  if (go && stay->always) {
    struct term *few = make_relation(d, TERM_LE, amount, remaining_count(r, local));
    round_require(r, go->always ? make_number(d, 1) : make_or(d, few, go->can));
    return amount;
  }
  round_require(r, make_relation(d, TERM_LE, amount, remaining_count(r, local)));
  round_require(r, unless_none(r, amount, stay));
  if (!go)
    return amount;
  more = add_arrivals(r, c, local);
  round_require(r, unless_none(r, more, go));
  return make_sum(d, amount, more);
}

void round_arrive(struct round_builder *r, uint32_t local, uint32_t to) {
  struct term *count = remaining_count(r, local);
  r->arrivals[to] = make_sum(r->d, r->arrivals[to], count);
  vec_push(&r->local_moves, ((struct local_move){count, local, to}));
}

/* The only successor of all members: UINT32_MAX if each stays as it is. Returns false if there is something to choose.
 */
static bool only_successor(const struct successor_class *c, uint32_t *to) {
  bool stays = c->go.n == 0, goes = c->go.n == 1;
  for (size_t i = 0; i < c->members.n; i++) {
    stays &= c->stay.at[i].target != UINT32_MAX;
    goes &= c->stay.at[i].target == UINT32_MAX;
  }
  *to = stays ? UINT32_MAX : c->go.n ? c->go.at[0].target : UINT32_MAX;
  return stays || goes;
}

/* Where there is nothing to choose, no amount is needed. Models with a coordinator have many such local states. */
static bool distribute_all(struct round_builder *r, const struct successor_class *c) {
  struct derivation_builder *d = r->d;
  uint32_t to;
  if ((d->d->leader == UINT32_MAX && !d->d->ages) || !only_successor(c, &to))
    return false;
  for (size_t i = 0; i < c->members.n; i++)
    round_arrive(r, c->members.at[i], to == UINT32_MAX ? c->members.at[i] : to);
  return true;
}

static bool distribute_class(struct round_builder *r, const struct successor_class *c) {
  struct derivation_builder *d = r->d;
  if (distribute_all(r, c))
    return true;
  struct term *come = NULL, *all = NULL;
  for (size_t i = 0; i < c->members.n; i++) {
    all = make_sum(d, all, remaining_count(r, c->members.at[i]));
    come = make_sum(d, come, distribute_member(r, c, i));
  }
  for (size_t i = 0; i < c->go.n; i++) {
    const struct local_successor *o = &c->go.at[i];
    bool done = false; /* handled with the member whose own state it is */
    for (size_t k = 0; k < c->members.n; k++)
      done |= c->members.at[k] == o->target && c->stay.at[k].target != UINT32_MAX;
    if (done)
      continue;
    struct term *amount = add_arrivals(r, c, o->target);
    round_require(r, unless_none(r, amount, o));
    come = make_sum(d, come, amount);
  }
  round_require(r, make_relation(d, TERM_EQ, come, all));
  return r->amounts.n <= AMOUNTS_MAX || derive_refuse(d, d->role->body[r->point].at, "a round has too many outcomes");
}

bool part_has_step_property(const struct derivation_builder *d, uint32_t part) {
  bool step = false;
  for (uint32_t i = 0; i < d->q->nproperties; i++)
    step |= d->m->properties[d->q->properties[i]].step;
  return step && (!d->d->part_of || part == d->parts.of_step);
}

bool round_distribute(struct round_builder *r, uint32_t part) {
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  VEC(struct successor_class) classes = {0};
  bool ok = true;
  for (size_t i = 0; i < at->locals.n && ok; i++) {
    uint32_t l = at->locals.at[i];
    local_successor_vec options = {0};
    if (!local_active(d, l) || d->d->parts.at[l] != part)
      continue;
    if (r->chooses && r->chooses[l]) {
      if (l == r->leads)
        round_arrive(r, l, r->leads_to);
      continue;
    }
    ok = successors_find(r, l, &options);
    bool stays = successor_to(&options, l) != NULL;
    size_t k = part_has_step_property(d, part) ? classes.n : 0;
    while (k < classes.n && !class_accepts(&classes.at[k], stays ? l : UINT32_MAX, &options))
      k++;
    if (k == classes.n)
      vec_push(&classes, (struct successor_class){0});
    class_add(&classes.at[k], l, stays ? l : UINT32_MAX, &options);
    vec_release(&options);
  }
  for (size_t i = 0; i < classes.n; i++) {
    ok = ok && distribute_class(r, &classes.at[i]);
    class_release(&classes.at[i]);
  }
  vec_release(&classes);
  return ok;
}

void round_update_counters(struct round_builder *r, const bool *together) {
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  size_t n = d->d->locals.n;
  bool *leaves = memory_alloc(n + 1);
  for (size_t i = 0; i < at->locals.n; i++) {
    uint32_t l = at->locals.at[i];
    bool takes_part = local_active(d, l) && together[d->d->parts.at[l]];
    uint32_t later = takes_part ? l : local_unchanged_after(d, l, r->point, 0);
    leaves[l] = takes_part || later != l;
    if (later != l && later != UINT32_MAX)
      r->arrivals[later] = make_sum(d, r->arrivals[later], local_count(d, l));
    if (!takes_part && later != UINT32_MAX) /* it stays unchanged, which a step property may forbid too */
      vec_push(&r->local_moves, ((struct local_move){local_count(d, l), l, later}));
  }
  for (uint32_t l = 0; l < n; l++) {
    if (d->d->counter.at[l] == NO_COUNTER && !derived_leads(d->d, l))
      continue;
    if (leaves[l])
      move_set_count(d, &r->move, l, r->arrivals[l]);
    else if (r->arrivals[l])
      move_set_count(d, &r->move, l, make_sum(d, local_count(d, l), r->arrivals[l]));
  }
  memory_free(leaves);
}
