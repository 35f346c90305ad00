/* The moves of a round. Local states with the same successors share one amount per successor: the number of processes
   that change to it. If an amount is not 0, a process must have been able to hear the required messages. Parts of a
   process that decide neither what is sent nor what becomes of other parts change before that, one after the other. */
#include "param/derive_round_internal.h"

#include "base/memory.h"

#include <stdarg.h>

enum { CASES_JOINT_MAX = 300 }; /* a joint move with more cases is replaced by moves in turns */

struct term *round_amount(struct round_builder *r, const char *format, ...) {
  va_list args;
  struct text name = {0};
  va_start(args, format);
  text_addv(&name, format, args);
  va_end(args);
  struct term *t = make_leaf(r->d, TERM_AMOUNT, (uint32_t)r->amounts.n);
  vec_push(&r->amounts, ((struct counter_name){arena_strndup(&r->d->s->arena, name.at, name.n), {0, 0}}));
  r->move.guard = make_and(r->d, r->move.guard, make_relation(r->d, TERM_LE, NULL, t));
  text_release(&name);
  return t;
}

void round_require(struct round_builder *r, struct term *condition) {
  r->move.guard = make_and(r->d, r->move.guard, condition);
}

struct term *amount_none(struct round_builder *r, struct term *amount) {
  return make_relation(r->d, TERM_LE, amount, NULL);
}

struct term *amount_some(struct round_builder *r, struct term *amount) {
  return make_relation(r->d, TERM_LE, make_number(r->d, 1), amount);
}

/* ---- crashes and messages ---- */

/* Chooses the numbers of crashes in this round, within the limit for the run. */
static void choose_crashes(struct round_builder *r, uint32_t part) {
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  struct term *crashed = NULL;
  for (size_t i = 0; i < at->locals.n; i++) {
    uint32_t l = at->locals.at[i];
    if (!local_active(d, l) || d->d->parts.at[l] != part)
      continue;
    uint32_t after = local_unchanged_after(d, l, r->point, STATUS_CRASHED);
    if (after == UINT32_MAX)
      return;
    r->crashing[l] = round_amount(r, "crash_%s", local_label(d, l));
    round_require(r, make_relation(d, TERM_LE, r->crashing[l], local_count(d, l)));
    r->arrivals[after] = make_sum(d, r->arrivals[after], r->crashing[l]);
    vec_push(&r->local_moves, ((struct local_move){r->crashing[l], l, after}));
    crashed = make_sum(d, crashed, r->crashing[l]);
  }
  for (uint32_t l = 0; l < d->d->locals.n; l++)
    if (local_has(d, l, STATUS_CRASHED) && d->d->parts.at[l] == part)
      crashed = make_sum(d, crashed, local_count(d, l));
  round_require(r, make_relation(d, TERM_LE, crashed, limit_term(d, CLAUSE_CRASH)));
}

/* Computes how many of each message may be heard and how many must be. */
static bool count_messages(struct round_builder *r) {
  struct derivation_builder *d = r->d;
  const struct schedule_point *at = &d->reached.at[r->point];
  for (size_t i = 0; i < at->locals.n; i++) {
    uint32_t l = at->locals.at[i];
    value message;
    unsigned kind;
    if (d->d->parts.at[l] != at->sends)
      continue;
    if (local_has(d, l, STATUS_BYZANTINE))
      r->byzantine = make_sum(d, r->byzantine, local_count(d, l));
    if (!local_active(d, l) || !local_message(d, l, r->point, &message, &kind)) {
      if (leader_coupling(d, r->point) != HEARD_FREELY)
        derive_refuse(d, d->heard.coupling_clause->at,
                      "this clause can be expressed by counters only if every process sends a message");
      r->columns.all_send &= local_has(d, l, STATUS_BYZANTINE);
      r->columns.active_send &= !local_active(d, l);
      for (size_t k = 0; k < d->heard.sizes.n && local_active(d, l) && d->d->leader == UINT32_MAX; k++)
        if (d->heard.sizes.at[k].active && size_applies(d, &d->heard.sizes.at[k], r->point))
          derive_refuse(
              d, d->heard.sizes.at[k].of->at,
              "this clause can be expressed by counters only if every process that takes part sends a message");
      continue;
    }
    if (!derive_others_licensed(d, l, r->point))
      return false;
    uint32_t m = message_index(at, message, kind);
    r->may[m] = make_sum(d, r->may[m], local_count(d, l));
    if (d->heard.delivers && !(kind & MESSAGE_TO_RIVAL) && /* which of these reach a rival is not known */
        !local_has(d, l, STATUS_OMITS_SEND))
      r->must[m] = make_sum(d, r->must[m], make_difference(d, local_count(d, l), r->crashing[l]));
  }
  return !d->d->refused;
}

/* ---- moves ---- */

bool round_mark_violations(struct round_builder *r, struct counter_move *move) {
  struct derivation_builder *d = r->d;
  for (uint32_t i = 0; i < d->q->nproperties; i++) {
    const struct property *p = &d->m->properties[d->q->properties[i]];
    struct term *bad = NULL;
    for (size_t k = 0; k < r->local_moves.n && p->step; k++) {
      bool forbidden = false;
      if (d->d->part_of && d->d->parts.at[r->local_moves.at[k].before] != d->parts.of_step)
        continue;
      if (!step_forbidden(d, p, r->local_moves.at[k].before, r->local_moves.at[k].after, &forbidden))
        return false;
      if (forbidden)
        bad = make_sum(d, bad, r->local_moves.at[k].amount);
    }
    if (bad && bad->op == TERM_NUMBER)
      move->controls[d->parts.violated[i]] = make_number(d, 1);
    else if (bad)
      move->controls[d->parts.violated[i]] =
          make_choice(d, amount_some(r, bad), make_number(d, 1), make_leaf(d, TERM_CONTROL, d->parts.violated[i]));
  }
  return true;
}

struct counter_move round_move_new(struct derivation_builder *d, uint32_t point, const char *name) {
  struct counter_move m = {.name = name, .at = d->role->body[point].at};
  m.counters = arena_array(&d->s->arena, d->counters_max, sizeof *m.counters);
  m.controls = arena_array(&d->s->arena, d->controls_max, sizeof *m.controls);
  m.guard = make_number(d, 1);
  if (d->d->where != UINT32_MAX)
    m.guard = make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->where), round_term(d, point));
  if (leader_begins_at(d, point))
    m.guard = make_and(d, m.guard, make_leaf(d, TERM_CONTROL, d->d->elected));
  if (ages_end_at(d, point))
    m.guard = make_and(d, m.guard, make_leaf(d, TERM_CONTROL, d->d->aged));
  return m;
}

bool derive_moves_jointly(const struct derivation_builder *d) {
  return d->mode == DERIVE_WHOLE || d->jointly || d->parts.stays_count || d->heard.coupling != HEARD_FREELY ||
         (d->heard.delivers && d->heard.crashes);
}

bool derive_moves_apart(const struct derivation_builder *d, uint32_t point, uint32_t part) {
  const struct schedule_point *at = &d->reached.at[point];
  return part != at->sends && part != at->updates && !derive_moves_jointly(d) && !tells_class(d->d, part);
}

void round_add_onward(struct round_builder *r, move_vec *moves) {
  struct derivation_builder *d = r->d;
  struct next_round out[2];
  uint32_t n = next_rounds(d, r->point, out);
  for (uint32_t i = 0; i < n; i++) {
    struct counter_move m = r->move;
    m.counters = arena_copy(&d->s->arena, m.counters, d->counters_max * sizeof *m.counters);
    m.controls = arena_copy(&d->s->arena, m.controls, d->controls_max * sizeof *m.controls);
    m.guard = make_and(d, m.guard, out[i].when);
    if (d->d->where != UINT32_MAX)
      m.controls[d->d->where] = round_term(d, out[i].to);
    if (d->d->elected != UINT32_MAX && d->m->points[r->point].phase_end)
      m.controls[d->d->elected] = make_number(d, 0);
    if (d->d->ages && d->m->points[r->point].phase_end)
      m.controls[d->d->aged] = make_number(d, 0);
    if (out[i].passes != PASS_SAME)
      m.counters[d->d->passes] = out[i].passes == PASS_FIRST
                                     ? make_number(d, 0)
                                     : make_sum(d, make_leaf(d, TERM_COUNTER, d->d->passes), make_number(d, 1));
    vec_push(moves, m);
  }
}

void round_move_finish(struct round_builder *r) {
  struct counter_name *amounts = arena_array(&r->d->s->arena, r->amounts.n + 1, sizeof *amounts);
  for (size_t i = 0; i < r->amounts.n; i++)
    amounts[i] = r->amounts.at[i];
  r->move.amounts = amounts;
  r->move.namounts = (uint32_t)r->amounts.n;
}

bool round_make_joint_move(struct round_builder *r, const bool *together, move_vec *moves) {
  return r->d->d->leader == UINT32_MAX ? round_make_one_joint_move(r, together, moves)
                                       : leader_joint_moves(r, together, moves);
}

bool round_make_one_joint_move(struct round_builder *r, const bool *together, move_vec *moves) {
  struct derivation_builder *d = r->d;
  bool ok = true;
  for (uint32_t part = 0; part < d->d->nparts && ok; part++)
    if (together[part])
      ok = round_distribute(r, part);
  if (ok)
    round_update_counters(r, together);
  ok = ok && round_mark_violations(r, &r->move);
  if (!ok)
    return false;
  round_move_finish(r);
  round_add_onward(r, moves);
  return true;
}

static bool make_moves_together(struct round_builder *r, const bool *together, move_vec *moves) {
  struct derivation_builder *d = r->d;
  enum coupling_kind coupling = leader_coupling(d, r->point);
  if (coupling == HEARD_NOSPLIT)
    return round_make_nosplit_moves(r, together, moves);
  if (coupling == HEARD_UNIFORM && !r->in_turns)
    return round_make_uniform_moves(r, together, moves);
  return r->in_turns ? round_make_turns(r, together, moves) : round_make_joint_move(r, together, moves);
}

static bool make_round(struct round_builder *r, bool in_turns, move_vec *moves) {
  struct derivation_builder *d = r->d;
  bool *together = arena_array(&d->d->arena, d->d->nparts + (size_t)1, sizeof *together);
  for (uint32_t part = 0; part < d->d->nparts; part++)
    together[part] =
        part_exists(d->d, part) && (!derive_moves_apart(d, r->point, part) || (in_turns && d->parts.counted[part]));
  for (uint32_t part = 0; part < d->d->nparts && d->heard.crashes; part++)
    if (together[part])
      choose_crashes(r, part);
  if (d->heard.crashes && d->d->leader != UINT32_MAX)
    leader_crashes_together(r, together);
  if (!count_messages(r))
    return false;
  if (leader_coupling(d, r->point) == HEARD_UNIFORM && in_turns)
    round_choose_heard(r);
  struct term **must = arena_copy(&d->d->arena, r->must, (r->columns.nm + (size_t)1) * sizeof *must);
  struct term *byzantine = r->byzantine;
  memcpy(r->sent, r->may, r->columns.nm * sizeof *r->sent);
  if (in_turns)
    round_freeze(r);
  bool ok = make_moves_together(r, together, moves);
  if (in_turns)
    round_unfreeze(r, must, byzantine);
  while (d->d->is_part_move.n < moves->n)
    vec_push(&d->d->is_part_move, false);
  for (uint32_t part = 0; part < d->d->nparts && ok; part++)
    if (!together[part] && part_exists(d->d, part))
      ok = round_add_part_moves(r, part, moves);
  while (d->d->is_part_move.n < moves->n)
    vec_push(&d->d->is_part_move, true);
  while (d->d->turns.n < moves->n)
    vec_push(&d->d->turns, (struct turn_move){0});
  return ok && !d->d->refused;
}

static bool derive_round_as(struct derivation_builder *d, uint32_t point, bool in_turns, move_vec *moves) {
  const struct schedule_point *at = &d->reached.at[point];
  struct arena *arena = &d->s->arena;
  size_t n = d->d->locals.n + 1, nm = at->messages_possible.n;
  const char *name = d->m->points[point].name;
  name =
      name ? arena_strndup(arena, name, strlen(name)) : arena_printf(arena, "round%u", derived_round(d->d, point) + 1);
  struct round_builder r = {.d = d,
                            .point = point,
                            .columns = {.d = d,
                                        .point = point,
                                        .nm = (uint32_t)nm,
                                        .np = d->params.base->nparams,
                                        .all_send = true,
                                        .active_send = true,
                                        .coarse = d->mode != DERIVE_WHOLE},
                            .move = round_move_new(d, point, name)};
  r.may = arena_array(arena, nm + 1, sizeof *r.may);
  r.must = arena_array(arena, nm + 1, sizeof *r.must);
  r.sent = arena_array(arena, nm + 1, sizeof *r.sent);
  r.heard = arena_array(arena, nm + 1, sizeof *r.heard);
  r.pool = arena_array(arena, n, sizeof *r.pool);
  r.arrivals = arena_array(arena, n, sizeof *r.arrivals);
  r.crashing = arena_array(arena, n, sizeof *r.crashing);
  bool ok = make_round(&r, in_turns, moves);
  for (size_t i = 0; i < r.receptions.n; i++)
    cubes_release(&r.receptions.at[i].cubes);
  vec_release(&r.receptions);
  for (size_t i = 0; i < r.unions.n; i++)
    vec_release(&r.unions.at[i].of);
  vec_release(&r.unions);
  vec_release(&r.amounts);
  vec_release(&r.local_moves);
  vec_release(&r.frozen);
  return ok;
}

/* ---- joint or in turns ---- */

/* How many cases the condition unfolds into, at most. */
static uint32_t cases_of(const struct term *t, bool positive) {
  enum { MANY = 1000000 };
  if (t->op == TERM_NOT)
    return cases_of(t->kid[0], !positive);
  if (t->op == TERM_EQ)
    return positive ? 1 : 2;
  if (t->op != TERM_AND && t->op != TERM_OR)
    return 1;
  uint64_t a = cases_of(t->kid[0], positive), b = cases_of(t->kid[1], positive);
  uint64_t n = (t->op == TERM_AND) == positive ? a * b : a + b;
  return n > MANY ? MANY : (uint32_t)n;
}

static uint64_t cases_from(const move_vec *moves, size_t first) {
  uint64_t n = 0;
  for (size_t i = first; i < moves->n; i++)
    n += cases_of(moves->at[i].guard, true);
  return n;
}

static void moves_drop(struct derivation_builder *d, move_vec *moves, size_t first) {
  moves->n = first;
  d->d->is_part_move.n = first;
  d->d->turns.n = first;
}

/* In the joint form, counted parts that change before the round may also stay unchanged. */
static bool has_counted_parts_apart(const struct derivation_builder *d, uint32_t point) {
  bool apart = false;
  for (uint32_t part = 0; part < d->d->nparts; part++)
    apart |= part_exists(d->d, part) && d->parts.counted[part] && derive_moves_apart(d, point, part);
  return apart;
}

bool derive_round(struct derivation_builder *d, uint32_t point, move_vec *moves) {
  if ((ages_end_at(d, point) && !ages_moves(d, point, moves)) ||
      (leader_begins_at(d, point) && !leader_elections(d, point, moves)))
    return false;
  size_t first = moves->n;
  if (d->form == ROUND_IN_TURNS)
    return derive_round_as(d, point, true, moves);
  bool joint = derive_round_as(d, point, false, moves);
  if (derive_stopped(d) || d->form == ROUND_JOINT || (joint && cases_from(moves, first) <= CASES_JOINT_MAX)) {
    d->d->leaves_apart |= has_counted_parts_apart(d, point);
    return joint;
  }
  d->d->refused = NULL; /* what is refused of the joint move may be too large only */
  moves_drop(d, moves, first);
  return derive_round_as(d, point, true, moves);
}
