/* The condition under which a process can have heard what an update requires: the numbers heard lie between those that
   must be heard and those that may be, plus the forged ones. */
#include "param/derive_internal.h"

#include "base/memory.h"
#include "param/cube_projection.h"

#include <string.h>

/* ---- columns ---- */

uint32_t column_heard(const struct reception_columns *r, uint32_t m) { return r->np + m; }
uint32_t column_forged(const struct reception_columns *r, uint32_t m) { return r->np + r->nm + m; }
uint32_t column_may(const struct reception_columns *r, uint32_t m) { return r->np + 2 * r->nm + m; }
uint32_t column_must(const struct reception_columns *r, uint32_t m) { return r->np + 3 * r->nm + m; }
uint32_t column_byzantine(const struct reception_columns *r) { return r->np + 4 * r->nm; }
uint32_t reception_ncolumns(const struct reception_columns *r) { return r->np + 4 * r->nm + 1; }

struct row_builder { /* a cube under construction */
  const struct reception_columns *r;
  struct cube *c;
  int64_t *row;
  const struct receiver *receiver; /* NULL: any */
};

static void row_begin(struct row_builder *w) {
  memset(w->row, 0, (reception_ncolumns(w->r) + (size_t)1) * sizeof *w->row);
}

static void row_end(struct row_builder *w, bool equal) {
  cube_add(w->c, w->row, equal);
  row_begin(w);
}

static unsigned kind_of(const struct reception_columns *r, uint32_t m) {
  return r->d->reached.at[r->point].kinds.at[m];
}

static bool is_for(const struct reception_columns *r, const struct receiver *receiver, uint32_t m) {
  return leader_hears(receiver->class, kind_of(r, m));
}

/* Constraints on the numbers of messages sent, for every receiver. */
static void add_sent(struct row_builder *w) {
  const struct reception_columns *r = w->r;
  for (uint32_t m = 0; m < r->nm; m++) {
    w->row[1 + column_must(r, m)] = 1; /* 0 <= must <= may */
    row_end(w, false);
    w->row[1 + column_may(r, m)] = 1;
    w->row[1 + column_must(r, m)] = -1;
    row_end(w, false);
  }
  memcpy(w->row, r->d->params.size,
         (r->np + (size_t)1) * sizeof *w->row); /* their sum is at most the number of processes */
  for (uint32_t m = 0; m < r->nm; m++)
    w->row[1 + column_may(r, m)] = -1;
  w->row[1 + column_byzantine(r)] = -1;
  row_end(w, r->all_send);
  w->row[1 + column_byzantine(r)] = 1;
  row_end(w, !r->d->heard.byzantine);
  bool leads = false;
  for (uint32_t m = 0; m < r->nm; m++)
    leads |= (kind_of(r, m) & MESSAGE_FROM_LEADER) != 0;
  w->row[0] = 1; /* there is at most one leader */
  for (uint32_t m = 0; m < r->nm && leads; m++)
    w->row[1 + column_may(r, m)] = kind_of(r, m) & MESSAGE_FROM_LEADER ? -1 : 0;
  row_end(w, false);
}

/* must <= heard - forged <= may. */
static void add_genuine(struct row_builder *w, uint32_t m) {
  const struct reception_columns *r = w->r;
  const struct receiver *receiver = w->receiver;
  if (!is_for(r, receiver, m)) {
    w->row[1 + column_heard(r, m)] = 1;
    row_end(w, true);
    w->row[1 + column_forged(r, m)] = 1;
    row_end(w, true);
    return;
  }
  bool faulty = receiver->omits_receive || receiver->omits_send;
  bool spares = receiver->spares_own && receiver->own == m;
  w->row[1 + column_heard(r, m)] = 1;
  w->row[1 + column_forged(r, m)] = -1;
  if (r->d->heard.delivers && !receiver->omits_receive)
    w->row[1 + column_must(r, m)] = -1;
  if (r->d->heard.delivers && faulty)
    w->row[0] = receiver->own == m && !spares ? -1 : 0; /* it hears itself, although `must` does not include that */
  else if (r->d->heard.delivers)
    w->row[0] = spares || receiver->may_spare ? 1 : 0; /* it does not hear itself, although `must` includes that */
  row_end(w, false);
  w->row[1 + column_may(r, m)] = 1;
  w->row[1 + column_heard(r, m)] = -1;
  w->row[1 + column_forged(r, m)] = 1;
  w->row[0] = spares ? -1 : 0;
  row_end(w, false);
  w->row[1 + column_forged(r, m)] = 1;
  row_end(w, !r->d->heard.forges);
}

static bool add_limit(struct row_builder *w, const struct node *limit, int64_t times) {
  return node_row(w->r->d, limit, times, w->row);
}

/* Forged messages: one per Byzantine process, or corrupted ones. */
static void add_forged(struct row_builder *w) {
  const struct reception_columns *r = w->r;
  if (!r->d->heard.forges)
    return;
  for (uint32_t m = 0; m < r->nm; m++)
    w->row[1 + column_forged(r, m)] = -1;
  if (r->d->heard.byzantine)
    w->row[1 + column_byzantine(r)] = 1;
  else
    add_limit(w, r->d->heard.corrupted->limit_node, 1);
  row_end(w, false);
  if (!r->d->heard.corrupted)
    return;
  for (uint32_t m = 0; m < r->nm; m++) { /* a corrupted message replaces one that was sent */
    w->row[1 + column_may(r, m)] = 1;
    w->row[1 + column_heard(r, m)] = -1;
  }
  row_end(w, false);
}

/* The set may also contain the process itself, which sends itself nothing. */
static void add_itself(struct row_builder *w, const struct receiver *receiver, const struct heard_size *size) {
  if ((receiver->spares_own || receiver->may_spare) && __builtin_add_overflow(w->row[0], size->times, &w->row[0]))
    derive_beyond(w->r->d, w->r->d->role->at);
}

/* times * heard + more - limit, where genuine messages and, if all, forged ones of Byzantine processes are heard. */
static void add_heard_beyond(struct row_builder *w, const struct heard_size *size, bool all, int64_t sign) {
  const struct reception_columns *r = w->r;
  int64_t more = 0;
  if (size->limit)
    add_limit(w, size->limit, -sign);
  if (size->all)
    derive_row_add(r->d, r->d->role->at, w->row, r->d->params.size, r->np + 1, -sign * size->times);
  if (__builtin_mul_overflow(sign, size->more, &more) || __builtin_add_overflow(w->row[0], more, &w->row[0]))
    derive_beyond(r->d, r->d->role->at);
  for (uint32_t m = 0; m < r->nm; m++) {
    if (!is_for(r, w->receiver, m)) /* whether its sender is heard makes no difference */
      continue;
    w->row[1 + column_heard(r, m)] = sign * size->times;
    if (r->d->heard.byzantine && !all)
      w->row[1 + column_forged(r, m)] = -sign * size->times;
  }
}

static void add_strict(struct row_builder *w, bool strict) {
  if (strict && __builtin_sub_overflow(w->row[0], 1, &w->row[0]))
    derive_beyond(w->r->d, w->r->d->role->at);
}

/* every round: |HO[p]| >= limit. The set may contain processes that send nothing, Byzantine ones too: it has at most
   everybody, without those whose genuine messages are not heard. |HO[p]| == limit: it has at least those that are
   heard. */
static void add_size(struct row_builder *w, const struct heard_size *size) {
  const struct reception_columns *r = w->r;
  add_heard_beyond(w, size, false, 1);
  derive_row_add(r->d, r->d->role->at, w->row, r->d->params.size, r->np + 1, size->times);
  for (uint32_t m = 0; m < r->nm; m++) {
    bool elsewhere = (kind_of(r, m) & MESSAGE_TO_RIVAL) != 0; /* its sender may be heard: it may go to another rival */
    w->row[1 + column_may(r, m)] = is_for(r, w->receiver, m) && !elsewhere ? -size->times : 0;
    if (elsewhere)
      w->row[1 + column_heard(r, m)] = 0;
  }
  add_itself(w, w->receiver, size);
  add_strict(w, size->strict);
  row_end(w, false);
  if (!size->exact)
    return;
  add_heard_beyond(w, size, true, -1);
  row_end(w, false);
}

/* Of those that take part, all of whom send, so many are heard. least: which of the two that a capped limit is the
   smaller of is meant here: the limit, or their number. */
static void add_active_size(struct row_builder *w, const struct heard_size *size, bool least) {
  const struct reception_columns *r = w->r;
  if (size->capped && !least) { /* all of them are heard */
    for (uint32_t m = 0; m < r->nm; m++) {
      w->row[1 + column_may(r, m)] = -1;
      w->row[1 + column_heard(r, m)] = 1;
      if (r->d->heard.byzantine)
        w->row[1 + column_forged(r, m)] = -1;
    }
    row_end(w, true);
  } else {
    add_heard_beyond(w, size, false, 1);
    add_strict(w, size->strict);
    row_end(w, size->exact);
  }
  if (!size->capped || !size->exact)
    return;
  int64_t sign = least ? 1 : -1; /* their number is at least, or at most, the limit */
  add_limit(w, size->limit, -sign);
  for (uint32_t m = 0; m < r->nm; m++)
    w->row[1 + column_may(r, m)] = sign;
  row_end(w, false);
}

/* Do all that take part send a message to this receiver? Where there is a coordinator, it depends: what goes to a rival
   may go to another one. If they do not, the condition is left out. */
static bool all_send_to_it(const struct row_builder *w) {
  const struct reception_columns *r = w->r;
  bool all = r->active_send;
  for (uint32_t m = 0; m < r->nm; m++)
    all &= is_for(r, w->receiver, m) && !(kind_of(r, m) & MESSAGE_TO_RIVAL);
  return all;
}

/* least: by size with a capped limit, as bits. */
static void add_sizes(struct row_builder *w, uint32_t least) {
  const struct reception_columns *r = w->r;
  uint32_t capped = 0;
  for (size_t i = 0; i < r->d->heard.sizes.n; i++) {
    const struct heard_size *size = &r->d->heard.sizes.at[i];
    if (!size_applies(r->d, size, r->point) || (size->active && !all_send_to_it(w)))
      continue;
    if (!size->active)
      add_size(w, size);
    else
      add_active_size(w, size, least >> capped & 1);
    capped += size->capped;
  }
}

/* At most half of all processes believe in a coordinator that is not the leader. */
static void add_rivals(struct row_builder *w) {
  const struct reception_columns *r = w->r;
  if (w->receiver->class != LEADER_RIVAL)
    return;
  memcpy(w->row, r->d->params.size, (r->np + (size_t)1) * sizeof *w->row);
  for (uint32_t m = 0; m < r->nm; m++)
    w->row[1 + column_heard(r, m)] = kind_of(r, m) & MESSAGE_TO_RIVAL ? -2 : 0;
  row_end(w, false);
}

/* How many ways there are to choose `least`. */
static uint32_t size_cases(const struct derivation_builder *d) {
  uint32_t capped = 0;
  for (size_t i = 0; i < d->heard.sizes.n; i++)
    capped += d->heard.sizes.at[i].capped;
  return (uint32_t)1 << capped;
}

/* An empty heard-of set intersects no other one. */
static void add_coupled(struct row_builder *w) {
  const struct derivation_builder *d = w->r->d;
  if (leader_coupling(d, w->r->point) != HEARD_NOSPLIT)
    return;
  for (uint32_t m = 0; m < w->r->nm; m++)
    w->row[1 + column_heard(w->r, m)] = 1;
  w->row[0] = -1;
  row_end(w, false);
}

/* If no message is lost, a process hears itself. Its own message is known only here. */
static void add_own(struct row_builder *w, const struct reception *c) {
  if (!w->r->d->heard.delivers || !c->fails || c->receiver.own == UINT32_MAX || c->receiver.omits_receive ||
      c->receiver.omits_send)
    return;
  w->row[1 + column_must(w->r, c->receiver.own)] = 1;
  w->row[0] = -1;
  row_end(w, false);
}

/* The leaf as a cube over all columns, with the constraints of the environment. */
static void constrain(const struct reception_columns *r, const struct reception *c, const struct cube *leaf,
                      uint32_t least, struct cube *out) {
  struct row_builder w = {r, out, memory_alloc((reception_ncolumns(r) + (size_t)1) * sizeof *w.row), &c->receiver};
  cube_init(out, reception_ncolumns(r));
  for (uint32_t i = 0; i < leaf->n; i++) {
    memcpy(w.row, cube_row(leaf, i),
           leaf->width * sizeof *w.row); /* both start with the parameters and the numbers heard */
    row_end(&w, leaf->equal.at[i]);
  }
  add_sent(&w);
  for (uint32_t m = 0; m < r->nm; m++)
    add_genuine(&w, m);
  add_forged(&w);
  add_sizes(&w, least);
  add_rivals(&w);
  add_coupled(&w);
  add_own(&w, c);
  memory_free(w.row);
}

/* ---- receptions ---- */

struct solver *reception_facts(const struct reception_columns *r) {
  struct solver *s = derive_solver(r->d);
  struct cube sent;
  struct row_builder w = {r, &sent, memory_alloc((reception_ncolumns(r) + (size_t)1) * sizeof *w.row), NULL};
  solver_variables(s, reception_ncolumns(r));
  solver_add_any(s, r->d->params.base->conditions.at, r->d->params.base->conditions.n, NULL);
  cube_init(&sent, reception_ncolumns(r));
  add_sent(&w);
  solver_add_cube(s, &sent, NULL);
  cube_release(&sent);
  memory_free(w.row);
  return s;
}

static bool possible(struct solver *s, const struct cube *c) {
  solver_push(s);
  solver_add_cube(s, c, NULL);
  bool yes = solver_check(s) != ANSWER_NO;
  solver_pop(s);
  return yes;
}

/* Projects the numbers heard and forged away if that is exact. Under UNIFORM they are kept, because all processes share
   them. */
void reception_find(const struct reception_columns *r, struct reception *c) {
  struct solver *s = reception_facts(r);
  const cube_vec *leaves = &c->outcomes->cases.at[c->way].heard;
  bool *away = memory_alloc(reception_ncolumns(r) + (size_t)1);
  cube_vec projected = {0};
  for (uint32_t m = 0; m < r->nm; m++)
    away[column_heard(r, m)] = away[column_forged(r, m)] = true;
  uint32_t cases = size_cases(r->d);
  for (size_t i = 0; i < leaves->n * cases && !derive_stopped(r->d); i++) {
    struct cube full, less;
    constrain(r, c, &leaves->at[i / cases], (uint32_t)(i % cases), &full);
    if (full.empty || !possible(s, &full)) {
      cube_release(&full);
      continue;
    }
    cube_copy(&less, &full);
    bool exact = cube_project(&less, away, s, NULL, 0) == PROJECT_EXACT;
    c->witness |= (!exact && !r->coarse) || leader_coupling(r->d, r->point) == HEARD_UNIFORM;
    cube_simplify(&less, s);
    vec_push(&projected, less);
    vec_push(&c->cubes, full);
  }
  c->never = c->cubes.n == 0;
  c->always = !c->witness && cubes_cover(s, &projected);
  if (!c->witness) {
    cubes_merge(&projected, s);
    for (size_t i = 0; i < projected.n; i++)
      cube_remove_implied(&projected.at[i], s);
    cubes_release(&c->cubes);
    c->cubes = projected;
  } else {
    cubes_release(&projected);
  }
  memory_free(away);
  solver_free(s);
}
