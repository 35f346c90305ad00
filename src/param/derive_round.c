/* The moves of a round. For local states that see the same, and everything that their processes may
   become, there is an amount: how many of them do. If there are any, it must have been possible to
   hear what it takes. Parts of a process that decide neither what is sent nor what becomes of others
   change before that, one after the other. */
#include "param/derive_internal.h"

#include "base/memory.h"
#include "param/project.h"

#include <stdarg.h>
#include <string.h>

/* What may become of a local state. */
struct option {
  uint32_t target;
  struct term *can;
  bool always;
};
typedef VEC(struct option) option_vec;

/* A way to become that; there: condition that somebody decides so, NULL: it is itself. */
struct reason {
  uint32_t target, chance;
  struct term *there;
};
typedef VEC(struct reason) reason_vec;

typedef VEC(uint32_t) chance_vec;
struct joint { /* any of several chances */
  chance_vec of;
  struct term *can;
  bool always;
};

struct rounding {
  struct listening ear;
  struct deriving *d;
  uint32_t point;
  struct counter_move move; /* of the whole round */
  VEC(struct counter_name) amounts;
  VEC(struct chance) chances;
  VEC(struct joint) joints;
  uint64_t only; /* 0: all chances; NOSPLIT: those that go together */
  uint64_t sure; /* NOSPLIT: those that are always possible in this case */
  struct term **may, **must; /* by message: how many may be heard, must be */
  struct term **heard;       /* UNIFORM: by message: how many are, by everybody */
  struct term *byzantine;
  struct term **arrivals; /* by local state: how many come */
  struct term **crashing; /* by local state: how many crash in this round, NULL: none */
  VEC(struct moved) moved;
};

static struct term *amount_new(struct rounding *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static struct term *amount_new(struct rounding *r, const char *format, ...) {
  va_list args;
  struct text name = {0};
  va_start(args, format);
  text_addv(&name, format, args);
  va_end(args);
  struct term *t = make_leaf(r->d, TERM_AMOUNT, (uint32_t)r->amounts.n);
  vec_push(&r->amounts,
           ((struct counter_name){arena_strndup(&r->d->s->arena, name.at, name.n), {0, 0}}));
  r->move.guard = make_and(r->d, r->move.guard, make_relation(r->d, TERM_LE, NULL, t));
  text_release(&name);
  return t;
}

static void require(struct rounding *r, struct term *condition) {
  r->move.guard = make_and(r->d, r->move.guard, condition);
}

static struct term *none_of(struct rounding *r, struct term *amount) {
  return make_relation(r->d, TERM_LE, amount, NULL);
}

static struct term *some_of(struct rounding *r, struct term *amount) {
  return make_relation(r->d, TERM_LE, make_number(r->d, 1), amount);
}

/* ---- what is sent ---- */

/* Who crashes now; at most so many ever do. */
static void choose_crashes(struct rounding *r, uint32_t part) {
  struct deriving *d = r->d;
  const struct round_at *at = &d->at[r->point];
  struct term *crashed = NULL;
  for (size_t i = 0; i < at->locals.n; i++) {
    uint32_t l = at->locals.at[i];
    if (!local_active(d, l) || d->d->parts.at[l] != part)
      continue;
    uint32_t after = local_later(d, l, r->point, STATUS_CRASHED);
    if (after == UINT32_MAX)
      return;
    r->crashing[l] = amount_new(r, "crash_%s", d->s->counters[d->d->counter.at[l]].name);
    require(r, make_relation(d, TERM_LE, r->crashing[l], local_count(d, l)));
    r->arrivals[after] = make_sum(d, r->arrivals[after], r->crashing[l]);
    vec_push(&r->moved, ((struct moved){r->crashing[l], l, after}));
    crashed = make_sum(d, crashed, r->crashing[l]);
  }
  for (uint32_t l = 0; l < d->d->locals.n; l++)
    if (local_has(d, l, STATUS_CRASHED) && d->d->parts.at[l] == part)
      crashed = make_sum(d, crashed, local_count(d, l));
  require(r, make_relation(d, TERM_LE, crashed, limit_term(d, CLAUSE_CRASH)));
}

/* How many messages may be heard, and how many must be. */
static bool count_messages(struct rounding *r) {
  struct deriving *d = r->d;
  const struct round_at *at = &d->at[r->point];
  for (size_t i = 0; i < at->locals.n; i++) {
    uint32_t l = at->locals.at[i];
    value message;
    if (d->d->parts.at[l] != at->sends)
      continue;
    if (local_has(d, l, STATUS_BYZANTINE))
      r->byzantine = make_sum(d, r->byzantine, local_count(d, l));
    if (!local_active(d, l) || !local_message(d, l, r->point, &message)) {
      if (d->coupling != HEARD_FREELY)
        derive_refuse(d, d->coupled->at, "this clause can be told in counts only if all send something");
      r->ear.all_send &= local_has(d, l, STATUS_BYZANTINE);
      continue;
    }
    uint32_t m = message_index(at, message);
    r->may[m] = make_sum(d, r->may[m], local_count(d, l));
    if (d->delivers && !local_has(d, l, STATUS_OMITS_SEND))
      r->must[m] = make_sum(d, r->must[m], make_difference(d, local_count(d, l), r->crashing[l]));
  }
  return !d->d->refused;
}

/* UNIFORM: one set for all, so the same numbers. */
static void choose_heard(struct rounding *r) {
  struct deriving *d = r->d;
  struct term *sum = NULL;
  for (uint32_t m = 0; m < r->ear.nm; m++) {
    r->heard[m] = amount_new(r, "heard_%u", m + 1);
    require(r, make_relation(d, TERM_LE, r->heard[m], r->may[m]));
    sum = make_sum(d, sum, r->heard[m]);
  }
  if (!d->uniform_any) {
    int64_t *row = memory_alloc((d->base->nparams + (size_t)1) * sizeof *row);
    if (d->uniform.limit)
      node_row(d, d->uniform.limit, 1, row);
    require(r, make_relation(d, d->uniform.strict ? TERM_LT : TERM_LE, make_row(d, row),
                             make_times(d, d->uniform.times, sum)));
    memory_free(row);
  }
}

/* ---- chances ---- */

static bool same_ear(const struct ear *a, const struct ear *b) {
  bool faulty = a->deaf || a->mumbles;
  return a->deaf == b->deaf && a->mumbles == b->mumbles && (!faulty || a->own == b->own);
}

static uint32_t chance_of(struct rounding *r, const struct outcomes *o, uint32_t way,
                          const struct ear *ear) {
  for (size_t i = 0; i < r->chances.n; i++)
    if (r->chances.at[i].outcomes == o && r->chances.at[i].way == way &&
        same_ear(&r->chances.at[i].ear, ear) &&
        (!r->chances.at[i].fails || r->chances.at[i].ear.own == ear->own))
      return (uint32_t)i;
  struct chance c = {
      .outcomes = o, .way = way, .ear = *ear, .fails = effect_fails(r->d, o->ways.at[way].effect)};
  chance_find(&r->ear, &c);
  vec_push(&r->chances, c);
  return (uint32_t)r->chances.n - 1;
}

/* The cubes as a condition of the move; index: of the chance, for names. */
static struct term *cubes_term(struct rounding *r, const cube_vec *cubes, bool witness,
                               uint32_t index) {
  struct deriving *d = r->d;
  const struct listening *ear = &r->ear;
  struct term **terms = memory_alloc((columns(ear) + (size_t)1) * sizeof *terms);
  for (uint32_t i = 0; i < columns(ear); i++)
    terms[i] = i < ear->np ? make_leaf(d, TERM_PARAM, d->base->param[i]) : make_number(d, 0);
  for (uint32_t m = 0; m < ear->nm; m++) {
    terms[column_may(ear, m)] = make_sum(d, r->may[m], NULL);
    terms[column_must(ear, m)] = make_sum(d, r->must[m], NULL);
    if (witness)
      terms[column_heard(ear, m)] =
          r->heard[m] ? r->heard[m] : amount_new(r, "heard_%u_%u", index + 1, m + 1);
    if (witness && d->forges)
      terms[column_forged(ear, m)] = amount_new(r, "forged_%u_%u", index + 1, m + 1);
  }
  terms[column_byzantine(ear)] = make_sum(d, r->byzantine, NULL);
  struct term *can = make_number(d, 0);
  for (size_t i = 0; i < cubes->n; i++)
    can = make_or(d, can, make_cube(d, &cubes->at[i], terms));
  memory_free(terms);
  return can;
}

static bool is_sure(const struct rounding *r, uint32_t chance) {
  return r->chances.at[chance].always || (r->only && r->sure >> chance & 1);
}

/* Somebody can have heard it. */
static struct term *can_of(struct rounding *r, uint32_t index) {
  struct chance *c = &r->chances.at[index];
  if (c->never || is_sure(r, index))
    return make_number(r->d, !c->never);
  if (!c->can) {
    struct term *can = cubes_term(r, &c->cubes, c->witness, index);
    r->chances.at[index].can = can;
  }
  return r->chances.at[index].can;
}

/* Something that leads there. Together they often say less than each by itself: who hears enough of
   one value to decide, or who does not, takes that value. */
static void joint_find(struct rounding *r, struct joint *j) {
  struct deriving *d = r->d;
  bool witness = false;
  j->can = make_number(d, 0);
  for (size_t i = 0; i < j->of.n; i++) {
    witness |= r->chances.at[j->of.at[i]].witness;
    j->always |= is_sure(r, j->of.at[i]);
  }
  if (j->always || witness || j->of.n == 1) {
    for (size_t i = 0; i < j->of.n; i++)
      j->can = make_or(d, j->can, can_of(r, j->of.at[i]));
    return;
  }
  cube_vec all = {0};
  struct solver *s = chance_facts(&r->ear);
  for (size_t i = 0; i < j->of.n; i++)
    for (size_t k = 0; k < r->chances.at[j->of.at[i]].cubes.n; k++) {
      struct cube c;
      cube_copy(&c, &r->chances.at[j->of.at[i]].cubes.at[k]);
      vec_push(&all, c);
    }
  cubes_merge(&all, s);
  j->always = cubes_cover(s, &all);
  for (size_t i = 0; i < all.n; i++)
    cube_forget_known(&all.at[i], s);
  j->can = j->always ? make_number(d, 1) : cubes_term(r, &all, false, 0);
  cubes_release(&all);
  solver_free(s);
}

static const struct joint *joint_of(struct rounding *r, const chance_vec *of) {
  for (size_t i = 0; i < r->joints.n; i++)
    if (r->joints.at[i].of.n == of->n &&
        memcmp(r->joints.at[i].of.at, of->at, of->n * sizeof *of->at) == 0)
      return &r->joints.at[i];
  struct joint j = {0};
  for (size_t i = 0; i < of->n; i++)
    vec_push(&j.of, of->at[i]);
  joint_find(r, &j);
  vec_push(&r->joints, j);
  return &r->joints.at[r->joints.n - 1];
}

/* ---- what may become of a local state ---- */

static struct ear ear_of(struct rounding *r, uint32_t decides) {
  struct deriving *d = r->d;
  struct ear ear = {local_has(d, decides, STATUS_OMITS_RECEIVE),
                    local_has(d, decides, STATUS_OMITS_SEND), UINT32_MAX};
  const struct round_at *at = &d->at[r->point];
  value message;
  if (at->sends == at->updates && local_message(d, decides, r->point, &message))
    ear.own = message_index(at, message);
  return ear;
}

/* By what the updates of `decides` do. */
static bool add_reasons(struct rounding *r, uint32_t local, uint32_t decides, struct term *there,
                        reason_vec *out) {
  struct deriving *d = r->d;
  const struct outcomes *o = outcomes_of(d, r->point, decides);
  struct ear ear = ear_of(r, decides);
  for (uint32_t w = 0; o && w < o->ways.n; w++) {
    struct reason reason = {0, chance_of(r, o, w, &ear), there};
    if (r->chances.at[reason.chance].never)
      continue;
    const struct effect *effect = &d->effects.at[o->ways.at[w].effect];
    if (effect->failure)
      return derive_refuse(d, effect->where, "an update may fail: %s", effect->failure);
    reason.target = effect_after(d, local, r->point, o->ways.at[w].effect);
    if (reason.target == UINT32_MAX)
      return false;
    size_t k = 0; /* several local states may decide alike */
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
  return !sum                    ? 0
         : sum->op == TERM_ADD   ? counters_in(sum->kid[0]) + counters_in(sum->kid[1])
                                 : 1;
}

/* All processes: there is one at least. */
static bool is_everybody(const struct rounding *r, const struct term *sum) {
  const struct round_at *at = &r->d->at[r->point];
  uint32_t n = 0;
  for (size_t i = 0; i < at->locals.n; i++)
    n += r->d->d->parts.at[at->locals.at[i]] == at->updates;
  return counters_in(sum) == n;
}

static bool find_reasons(struct rounding *r, uint32_t local, reason_vec *out) {
  struct deriving *d = r->d;
  const struct round_at *at = &d->at[r->point];
  bool ok = true;
  if (d->d->parts.at[local] == at->updates)
    return add_reasons(r, local, local, NULL, out);
  for (size_t i = 0; i < at->locals.n && ok; i++) {
    uint32_t decides = at->locals.at[i];
    if (local_active(d, decides) && d->d->parts.at[decides] == at->updates &&
        d->d->locals.at[decides][LOCAL_STATUS] == d->d->locals.at[local][LOCAL_STATUS])
      ok = add_reasons(r, local, decides, local_count(d, decides), out);
  }
  for (size_t i = 0; i < out->n && ok; i++)
    if (is_everybody(r, out->at[i].there))
      out->at[i].there = NULL;
  return ok;
}

/* All reasons with the same target, and the same deciders, together. */
static struct option option_of(struct rounding *r, const reason_vec *reasons, uint32_t target) {
  struct deriving *d = r->d;
  struct option o = {target, make_number(d, 0), false};
  bool *done = memory_alloc(reasons->n + 1);
  for (size_t i = 0; i < reasons->n; i++) {
    chance_vec of = {0};
    struct term *there = reasons->at[i].there;
    for (size_t k = i; k < reasons->n; k++)
      if (!done[k] && reasons->at[k].target == target &&
          term_same(reasons->at[k].there, there)) {
        vec_push(&of, reasons->at[k].chance);
        done[k] = true;
      }
    if (of.n) {
      const struct joint *j = joint_of(r, &of);
      o.always |= j->always && !there;
      o.can = make_or(d, o.can, there ? make_and(d, some_of(r, there), j->can) : j->can);
    }
    vec_release(&of);
  }
  memory_free(done);
  return o;
}

static const struct option *option_to(const option_vec *v, uint32_t target) {
  for (size_t i = 0; i < v->n; i++)
    if (v->at[i].target == target)
      return &v->at[i];
  return NULL;
}

static bool find_options(struct rounding *r, uint32_t local, option_vec *out) {
  reason_vec reasons = {0};
  bool ok = find_reasons(r, local, &reasons);
  size_t kept = 0;
  for (size_t i = 0; i < reasons.n; i++)
    if (!r->only || r->only >> reasons.at[i].chance & 1)
      reasons.at[kept++] = reasons.at[i];
  reasons.n = kept;
  for (size_t i = 0; i < reasons.n && ok; i++)
    if (!option_to(out, reasons.at[i].target))
      vec_push(out, option_of(r, &reasons, reasons.at[i].target));
  if (out->n == 1) { /* whatever is heard, something becomes of it */
    out->at[0].can = make_number(r->d, 1);
    out->at[0].always = true;
  }
  vec_release(&reasons);
  return ok;
}

/* ---- the whole round ---- */

/* Local states with the same options, but for that of staying as they are: their processes trade
   places. */
struct class {
  VEC(uint32_t) members;
  option_vec stay; /* by member: always, by can; target UINT32_MAX: it cannot */
  option_vec go;   /* to anywhere, for all of them; that of a member to its own state is not here */
};

static void class_release(struct class *c) {
  vec_release(&c->members);
  vec_release(&c->stay);
  vec_release(&c->go);
}

static bool same_option(const struct option *a, const struct option *b) {
  if (!a || !b)
    return a == b;
  return a->always == b->always && (a->always || term_same(a->can, b->can));
}

/* Does it go everywhere where the class does, on the same conditions? own: its own state, if it may
   stay in it; on which condition the others go there is known once there are others. */
static bool fits(const struct class *c, uint32_t own, const option_vec *options) {
  for (size_t i = 0; i < c->go.n; i++) {
    const struct option *o = &c->go.at[i];
    if (o->target != own && !same_option(o, option_to(options, o->target)))
      return false;
  }
  for (size_t i = 0; i < options->n; i++) {
    const struct option *o = &options->at[i];
    if (o->target == own || option_to(&c->go, o->target))
      continue;
    if (c->members.n != 1 || c->members.at[0] != o->target || c->stay.at[0].target == UINT32_MAX)
      return false;
  }
  return true;
}

static void class_add(struct class *c, uint32_t local, uint32_t own, const option_vec *options) {
  struct option stay = {UINT32_MAX, NULL, false};
  for (size_t i = 0; i < options->n; i++)
    if (options->at[i].target == own)
      stay = options->at[i];
    else if (!option_to(&c->go, options->at[i].target))
      vec_push(&c->go, options->at[i]);
  vec_push(&c->members, local);
  vec_push(&c->stay, stay);
}

static struct term *leaving(struct rounding *r, uint32_t local) {
  return make_difference(r->d, local_count(r->d, local), r->crashing[local]);
}

/* So many come to `target`. */
static struct term *arrive(struct rounding *r, const struct class *c, uint32_t target) {
  struct deriving *d = r->d;
  struct term *amount = amount_new(
      r, "%s_%zu", d->s->counters[d->d->counter.at[target]].name, r->amounts.n + 1);
  r->arrivals[target] = make_sum(d, r->arrivals[target], amount);
  if (c->members.n == 1)
    vec_push(&r->moved, ((struct moved){amount, c->members.at[0], target}));
  return amount;
}

static struct term *unless_none(struct rounding *r, struct term *amount, const struct option *o) {
  return o->always ? make_number(r->d, 1) : make_or(r->d, none_of(r, amount), o->can);
}

/* How many of them stay in, or come to, a member's own state. */
static struct term *spread_member(struct rounding *r, const struct class *c, size_t i) {
  struct deriving *d = r->d;
  uint32_t local = c->members.at[i];
  const struct option *stay = &c->stay.at[i], *go = option_to(&c->go, local);
  struct term *amount, *more;
  if (stay->target == UINT32_MAX)
    return NULL; /* there is only what all may do */
  if (go && same_option(stay, go)) {
    amount = arrive(r, c, local);
    require(r, unless_none(r, amount, go));
    return amount;
  }
  amount = arrive(r, c, local);
  if (go && stay->always) {
    struct term *few = make_relation(d, TERM_LE, amount, leaving(r, local));
    require(r, go->always ? make_number(d, 1) : make_or(d, few, go->can));
    return amount;
  }
  require(r, make_relation(d, TERM_LE, amount, leaving(r, local)));
  require(r, unless_none(r, amount, stay));
  if (!go)
    return amount;
  more = arrive(r, c, local);
  require(r, unless_none(r, more, go));
  return make_sum(d, amount, more);
}

static bool spread_class(struct rounding *r, const struct class *c) {
  struct deriving *d = r->d;
  struct term *come = NULL, *all = NULL;
  for (size_t i = 0; i < c->members.n; i++) {
    all = make_sum(d, all, leaving(r, c->members.at[i]));
    come = make_sum(d, come, spread_member(r, c, i));
  }
  for (size_t i = 0; i < c->go.n; i++) {
    const struct option *o = &c->go.at[i];
    bool done = false; /* with the member whose own state it is */
    for (size_t k = 0; k < c->members.n; k++)
      done |= c->members.at[k] == o->target && c->stay.at[k].target != UINT32_MAX;
    if (done)
      continue;
    struct term *amount = arrive(r, c, o->target);
    require(r, unless_none(r, amount, o));
    come = make_sum(d, come, amount);
  }
  require(r, make_relation(d, TERM_EQ, come, all));
  return r->amounts.n <= AMOUNTS_MAX ||
         derive_refuse(d, d->role->body[r->point].at, "a round has too many outcomes");
}

static bool steps_are_seen(const struct deriving *d, uint32_t part) {
  bool step = false;
  for (uint32_t i = 0; i < d->q->nproperties; i++)
    step |= d->m->properties[d->q->properties[i]].step;
  return step && (!d->d->part_of || part == d->part_of_step);
}

static bool spread_part(struct rounding *r, uint32_t part) {
  struct deriving *d = r->d;
  const struct round_at *at = &d->at[r->point];
  VEC(struct class) classes = {0};
  bool ok = true;
  for (size_t i = 0; i < at->locals.n && ok; i++) {
    uint32_t l = at->locals.at[i];
    option_vec options = {0};
    if (!local_active(d, l) || d->d->parts.at[l] != part)
      continue;
    ok = find_options(r, l, &options);
    bool stays = option_to(&options, l) != NULL;
    size_t k = steps_are_seen(d, part) ? classes.n : 0;
    while (k < classes.n && !fits(&classes.at[k], stays ? l : UINT32_MAX, &options))
      k++;
    if (k == classes.n)
      vec_push(&classes, (struct class){0});
    class_add(&classes.at[k], l, stays ? l : UINT32_MAX, &options);
    vec_release(&options);
  }
  for (size_t i = 0; i < classes.n; i++) {
    ok = ok && spread_class(r, &classes.at[i]);
    class_release(&classes.at[i]);
  }
  vec_release(&classes);
  return ok;
}

/* What comes replaces what was there; who takes no part stays. */
static void settle(struct rounding *r, const bool *together) {
  struct deriving *d = r->d;
  const struct round_at *at = &d->at[r->point];
  size_t n = d->d->locals.n;
  bool *leaves = memory_alloc(n + 1);
  for (size_t i = 0; i < at->locals.n; i++) {
    uint32_t l = at->locals.at[i];
    bool takes_part = local_active(d, l) && together[d->d->parts.at[l]];
    uint32_t later = takes_part ? l : local_later(d, l, r->point, 0);
    leaves[l] = takes_part || later != l;
    if (later != l && later != UINT32_MAX)
      r->arrivals[later] = make_sum(d, r->arrivals[later], local_count(d, l));
  }
  for (uint32_t l = 0; l < n; l++) {
    uint32_t counter = d->d->counter.at[l];
    if (counter == NO_COUNTER)
      continue;
    if (leaves[l])
      r->move.counters[counter] = make_sum(d, r->arrivals[l], NULL);
    else if (r->arrivals[l])
      r->move.counters[counter] = make_sum(d, local_count(d, l), r->arrivals[l]);
  }
  memory_free(leaves);
}

/* A step property is broken for good once some of these processes do what it forbids. */
static bool note_broken(struct rounding *r, struct counter_move *move) {
  struct deriving *d = r->d;
  for (uint32_t i = 0; i < d->q->nproperties; i++) {
    const struct property *p = &d->m->properties[d->q->properties[i]];
    struct term *bad = NULL;
    for (size_t k = 0; k < r->moved.n && p->step; k++) {
      bool forbidden = false;
      if (d->d->part_of && d->d->parts.at[r->moved.at[k].before] != d->part_of_step)
        continue;
      if (!step_forbidden(d, p, r->moved.at[k].before, r->moved.at[k].after, &forbidden))
        return false;
      if (forbidden)
        bad = make_sum(d, bad, r->moved.at[k].amount);
    }
    if (bad && bad->op == TERM_NUMBER)
      move->controls[d->broken[i]] = make_number(d, 1);
    else if (bad)
      move->controls[d->broken[i]] =
          make_choice(d, some_of(r, bad), make_number(d, 1),
                      make_leaf(d, TERM_CONTROL, d->broken[i]));
  }
  return true;
}

/* ---- one after the other ---- */

static struct counter_move move_new(struct deriving *d, uint32_t point, const char *name) {
  struct counter_move m = {.name = name, .at = d->role->body[point].at};
  m.counters = arena_array(&d->s->arena, d->s->ncounters + (size_t)1, sizeof *m.counters);
  m.controls = arena_array(&d->s->arena, d->s->ncontrols + (size_t)1, sizeof *m.controls);
  m.guard = make_number(d, 1);
  if (d->d->where != UINT32_MAX)
    m.guard =
        make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->where), round_term(d, point));
  return m;
}

/* Some of one local state become another. */
static bool add_flow(struct rounding *r, uint32_t from, uint32_t to, struct term *can,
                     struct term *limit, move_vec *moves) {
  struct deriving *d = r->d;
  const uint32_t *counter = d->d->counter.at, *flag = d->d->flag.at;
  struct counter_move m = move_new(d, r->point, NULL);
  struct term *amount = make_number(d, 1);
  if (counter[from] == NO_COUNTER) {
    m.name = d->s->controls[flag[to]].name;
    m.controls[flag[to]] = make_number(d, 1);
  } else {
    struct counter_name *amounts = arena_alloc(&d->s->arena, sizeof *amounts);
    amount = make_leaf(d, TERM_AMOUNT, 0);
    amounts[0] = (struct counter_name){"d", {0, 0}};
    m.name = arena_printf(&d->s->arena, "%s_to_%s", d->s->counters[counter[from]].name,
                          d->s->counters[counter[to]].name);
    m.amounts = amounts;
    m.namounts = 1;
    m.counters[counter[from]] = make_difference(d, local_count(d, from), amount);
    m.counters[counter[to]] = make_sum(d, local_count(d, to), amount);
    m.guard = make_and(d, m.guard, some_of(r, amount));
    m.guard = make_and(d, m.guard, make_relation(d, TERM_LE, amount, local_count(d, from)));
  }
  if (limit)
    m.guard = make_and(d, m.guard, make_relation(d, TERM_LE, amount, limit));
  m.guard = make_and(d, m.guard, can);
  if (counter[from] == NO_COUNTER) /* as its left side: merge_flags */
    m.guard = make_pair_and(d, make_leaf(d, TERM_CONTROL, flag[from]), m.guard);
  vec_clear(&r->moved);
  vec_push(&r->moved, ((struct moved){amount, from, to}));
  bool ok = note_broken(r, &m);
  vec_push(moves, m);
  return ok;
}

static bool add_crash(struct rounding *r, uint32_t l, move_vec *moves) {
  struct deriving *d = r->d;
  struct term *left = limit_term(d, CLAUSE_CRASH);
  uint32_t after = local_later(d, l, r->point, STATUS_CRASHED);
  for (uint32_t i = 0; i < d->d->locals.n; i++)
    if (local_has(d, i, STATUS_CRASHED) && d->d->parts.at[i] == d->d->parts.at[l] &&
        d->d->counter.at[i] != NO_COUNTER)
      left = make_difference(d, left, local_count(d, i));
  return after != UINT32_MAX && add_flow(r, l, after, make_number(d, 1), left, moves);
}

/* Of a part of which only matters who is there: one move for all who may become that on the same
   conditions. Step properties tell them apart. */
static void merge_flags(struct rounding *r, move_vec *moves, size_t first) {
  struct deriving *d = r->d;
  for (size_t i = first; i < moves->n; i++)
    for (size_t k = i + 1; k < moves->n;) {
      struct counter_move *a = &moves->at[i], *b = &moves->at[k];
      bool same = a->name == b->name && term_same(a->guard->kid[1], b->guard->kid[1]);
      for (uint32_t c = 0; c < d->s->ncontrols && same; c++)
        same = term_same(a->controls[c], b->controls[c]);
      if (!same) {
        k++;
        continue;
      }
      a->guard =
          make_pair_and(d, make_or(d, a->guard->kid[0], b->guard->kid[0]), a->guard->kid[1]);
      moves->at[k] = moves->at[--moves->n];
    }
}

static bool change_part(struct rounding *r, uint32_t part, move_vec *moves) {
  struct deriving *d = r->d;
  const struct round_at *at = &d->at[r->point];
  size_t first = moves->n;
  bool ok = true;
  for (size_t i = 0; i < at->locals.n && ok; i++) {
    uint32_t l = at->locals.at[i];
    option_vec options = {0};
    if (!local_active(d, l) || d->d->parts.at[l] != part)
      continue;
    ok = find_options(r, l, &options);
    uint32_t stays = local_later(d, l, r->point, 0);
    for (size_t k = 0; k < options.n && ok; k++)
      if (options.at[k].target != l && options.at[k].target != stays)
        ok = add_flow(r, l, options.at[k].target, options.at[k].can, NULL, moves);
    if (ok && d->crashes)
      ok = add_crash(r, l, moves);
    vec_release(&options);
  }
  if (ok && !d->counted[part])
    merge_flags(r, moves, first);
  return ok;
}

/* ---- all of it ---- */

bool derive_together(const struct deriving *d) {
  return d->mode == DERIVE_WHOLE || d->coupling != HEARD_FREELY || (d->delivers && d->crashes);
}

/* Once for each round that may follow. */
static void add_onward(struct rounding *r, move_vec *moves) {
  struct deriving *d = r->d;
  struct onward out[2];
  uint32_t n = rounds_after(d, r->point, out);
  for (uint32_t i = 0; i < n; i++) {
    struct counter_move m = r->move;
    m.counters = arena_copy(&d->s->arena, m.counters, (d->s->ncounters + 1) * sizeof *m.counters);
    m.controls = arena_copy(&d->s->arena, m.controls, (d->s->ncontrols + 1) * sizeof *m.controls);
    m.guard = make_and(d, m.guard, out[i].when);
    if (d->d->where != UINT32_MAX)
      m.controls[d->d->where] = round_term(d, out[i].to);
    if (out[i].passes != PASS_SAME)
      m.counters[d->d->passes] =
          out[i].passes == PASS_FIRST
              ? make_number(d, 0)
              : make_sum(d, make_leaf(d, TERM_COUNTER, d->d->passes), make_number(d, 1));
    vec_push(moves, m);
  }
}

/* The move of the whole round, of these parts; then what the others do before it. */
static bool make_whole(struct rounding *r, const bool *together, move_vec *moves) {
  struct deriving *d = r->d;
  bool ok = true;
  for (uint32_t part = 0; part < d->d->nparts && ok; part++)
    if (together[part])
      ok = spread_part(r, part);
  if (ok)
    settle(r, together);
  ok = ok && note_broken(r, &r->move);
  if (!ok)
    return false;
  struct counter_name *amounts =
      arena_array(&d->s->arena, r->amounts.n + 1, sizeof *amounts);
  for (size_t i = 0; i < r->amounts.n; i++)
    amounts[i] = r->amounts.at[i];
  r->move.amounts = amounts;
  r->move.namounts = (uint32_t)r->amounts.n;
  add_onward(r, moves);
  return true;
}

/* ---- no two processes hear disjoint sets ---- */

/* Those that send the same are alike, so all who hear one of them may hear the same one: two
   processes have somebody in common if there is a message that both have heard. Which messages there
   are is told apart; in each case, sets of chances that go together two by two make a move each. */
static bool go_together(const struct way_to *a, const struct way_to *b, uint32_t there) {
  for (size_t i = 0; i < a->supports.n; i++)
    for (size_t k = 0; k < b->supports.n; k++) {
      uint32_t one = a->supports.at[i], other = b->supports.at[k];
      if (((one | other) & ~there) == 0 && (one & other))
        return true;
    }
  return false;
}

struct nosplit {
  struct rounding *r;
  const bool *together;
  move_vec *moves;
  uint32_t there;           /* the messages that somebody sends */
  uint64_t friends[64];     /* by chance: those that it goes with */
  const char *name;
};

static bool nosplit_move(struct nosplit *x, uint64_t chances) {
  struct rounding *r = x->r;
  struct deriving *d = r->d;
  r->move = move_new(d, r->point, x->name);
  r->only = chances;
  vec_clear(&r->amounts);
  vec_clear(&r->moved);
  for (size_t i = 0; i < r->joints.n; i++)
    vec_release(&r->joints.at[i].of);
  vec_clear(&r->joints);
  for (size_t i = 0; i < r->chances.n; i++) /* amounts in it are of another move */
    r->chances.at[i].can = NULL;
  for (uint32_t l = 0; l < d->d->locals.n; l++)
    r->arrivals[l] = NULL;
  for (uint32_t m = 0; m < r->ear.nm; m++)
    require(r, x->there >> m & 1 ? some_of(r, make_sum(d, r->may[m], NULL))
                                 : none_of(r, r->may[m]));
  return make_whole(r, x->together, x->moves);
}

/* Bron & Kerbosch 1973: the largest sets of chances of which any two go together. */
static bool cliques(struct nosplit *x, uint64_t in, uint64_t may, uint64_t done) {
  if (!may && !done)
    return nosplit_move(x, in);
  for (uint32_t i = 0; i < 64; i++) {
    uint64_t one = (uint64_t)1 << i;
    if (!(may & one))
      continue;
    if (!cliques(x, in | one, may & x->friends[i], done & x->friends[i]))
      return false;
    may &= ~one;
    done |= one;
  }
  return true;
}

/* Which chances there are when those messages, and no others, are sent. */
static uint64_t chances_there(struct nosplit *x) {
  struct rounding *r = x->r;
  const struct listening *ear = &r->ear;
  uint64_t found = 0;
  struct solver *s = chance_facts(ear);
  for (uint32_t m = 0; m < ear->nm; m++) {
    uint32_t column = column_may(ear, m);
    int64_t one[2] = {-1, 1};
    if (x->there >> m & 1)
      solver_add_row(s, one, 2, false, &column);
    else
      solver_add_value(s, column, 0);
  }
  r->sure = 0;
  for (uint32_t i = 0; i < r->chances.n && solver_check(s) == ANSWER_YES; i++) {
    const struct chance *c = &r->chances.at[i];
    bool possible = false;
    for (size_t k = 0; k < c->cubes.n && !possible; k++) {
      solver_push(s);
      solver_add_cube(s, &c->cubes.at[k], NULL);
      possible = solver_check(s) != ANSWER_NO;
      solver_pop(s);
    }
    found |= (uint64_t)possible << i;
    r->sure |= (uint64_t)(!c->witness && cubes_cover(s, &c->cubes)) << i;
  }
  solver_free(s);
  return found;
}

static bool make_nosplit(struct rounding *r, const bool *together, move_vec *moves) {
  struct deriving *d = r->d;
  const struct round_at *at = &d->at[r->point];
  struct nosplit x = {r, together, moves, 0, {0}, r->move.name};
  bool ok = true;
  for (size_t i = 0; i < at->locals.n && ok; i++) { /* finds all chances */
    reason_vec reasons = {0};
    ok = !local_active(d, at->locals.at[i]) || find_reasons(r, at->locals.at[i], &reasons);
    vec_release(&reasons);
  }
  if (ok && r->chances.n > 64)
    return derive_refuse(d, d->coupled->at, "there are too many things to have heard in common");
  for (x.there = 1; ok && x.there < (uint32_t)1 << r->ear.nm; x.there++) {
    uint64_t all = chances_there(&x), alone = 0;
    for (uint32_t i = 0; i < r->chances.n; i++) {
      const struct chance *a = &r->chances.at[i];
      const struct way_to *way = &a->outcomes->ways.at[a->way];
      x.friends[i] = 0;
      if (!(all >> i & 1) || !go_together(way, way, x.there))
        continue;
      alone |= (uint64_t)1 << i;
      for (uint32_t k = 0; k < r->chances.n; k++) {
        const struct chance *b = &r->chances.at[k];
        if (k != i && all >> k & 1 &&
            go_together(way, &b->outcomes->ways.at[b->way], x.there))
          x.friends[i] |= (uint64_t)1 << k;
      }
    }
    ok = !alone || cliques(&x, 0, alone, 0);
  }
  return ok;
}

static bool make_round(struct rounding *r, move_vec *moves) {
  struct deriving *d = r->d;
  const struct round_at *at = &d->at[r->point];
  bool *together = arena_array(&d->d->arena, d->d->nparts + (size_t)1, sizeof *together);
  for (uint32_t part = 0; part < d->d->nparts; part++)
    together[part] = part_exists(d->d, part) && (part == at->sends || part == at->updates ||
                                                 derive_together(d));
  for (uint32_t part = 0; part < d->d->nparts && d->crashes; part++)
    if (together[part])
      choose_crashes(r, part);
  if (!count_messages(r))
    return false;
  if (d->coupling == HEARD_UNIFORM)
    choose_heard(r);
  bool ok = d->coupling == HEARD_NOSPLIT ? make_nosplit(r, together, moves)
                                         : make_whole(r, together, moves);
  for (uint32_t part = 0; part < d->d->nparts && ok; part++)
    if (!together[part] && part_exists(d->d, part))
      ok = change_part(r, part, moves);
  return ok && !d->d->refused;
}

bool derive_round(struct deriving *d, uint32_t point, move_vec *moves) {
  const struct round_at *at = &d->at[point];
  struct arena *arena = &d->s->arena;
  size_t n = d->d->locals.n + 1, nm = at->alphabet.n;
  const char *name = d->m->points[point].name;
  name = name ? arena_strndup(arena, name, strlen(name))
              : arena_printf(arena, "round%u", derived_round(d->d, point) + 1);
  struct rounding r = {.d = d,
                       .point = point,
                       .ear = {.d = d,
                               .point = point,
                               .nm = (uint32_t)nm,
                               .np = d->base->nparams,
                               .all_send = true,
                               .coarse = d->mode != DERIVE_WHOLE},
                       .move = move_new(d, point, name)};
  r.may = arena_array(arena, nm + 1, sizeof *r.may);
  r.must = arena_array(arena, nm + 1, sizeof *r.must);
  r.heard = arena_array(arena, nm + 1, sizeof *r.heard);
  r.arrivals = arena_array(arena, n, sizeof *r.arrivals);
  r.crashing = arena_array(arena, n, sizeof *r.crashing);
  bool ok = make_round(&r, moves);
  for (size_t i = 0; i < r.chances.n; i++)
    cubes_release(&r.chances.at[i].cubes);
  vec_release(&r.chances);
  for (size_t i = 0; i < r.joints.n; i++)
    vec_release(&r.joints.at[i].of);
  vec_release(&r.joints);
  vec_release(&r.amounts);
  vec_release(&r.moved);
  return ok;
}
