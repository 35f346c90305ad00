#include "param/derive_internal.h"

#include "analysis/type_usage.h"
#include "base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

bool derive_refuse(struct derivation_builder *d, struct span at, const char *format, ...) {
  va_list args;
  struct text t = {0};
  if (d->d->refused)
    return false;
  va_start(args, format);
  text_addv(&t, format, args);
  va_end(args);
  d->d->refused = arena_strndup(&d->s->arena, text_or_empty(&t), t.n);
  d->d->at = at;
  text_release(&t);
  return false;
}

bool derive_stopped(struct derivation_builder *d) {
  if (!d->stop || !*d->stop)
    return false;
  d->d->stopped = true;
  derive_refuse(d, (struct span){0, 0}, "it was stopped");
  return true;
}

struct solver *derive_solver(const struct derivation_builder *d) {
  struct solver *s = solver_new();
  solver_watch(s, d->stop);
  return s;
}

/* ---- parameters ---- */

bool derive_row_add(struct derivation_builder *d, struct span at, int64_t *row, const int64_t *more, uint32_t width,
                    int64_t times) {
  return row_add_times(row, more, width, times) || derive_beyond(d, at);
}

bool derive_beyond(struct derivation_builder *d, struct span at) {
  return derive_refuse(d, at, "there are numbers beyond 64 bits");
}

/* *times *= x. Returns false, after a refusal, on overflow of 64 bits. */
static bool scale(struct derivation_builder *d, struct span at, int64_t *times, int64_t x) {
  return (!__builtin_mul_overflow(*times, x, times) && *times != INT64_MIN) || derive_beyond(d, at);
}

static bool term_row(struct derivation_builder *d, const struct term *t, int64_t times, int64_t *row) {
  const int64_t one = 1;
  switch (t->op) {
  case TERM_NUMBER:
    return derive_row_add(d, t->at, row, &t->number, 1, times);
  case TERM_PARAM:
    for (uint32_t i = 0; i < d->params.base->nparams; i++)
      if (d->params.base->param[i] == t->index && !derive_row_add(d, t->at, &row[1 + i], &one, 1, times))
        return false;
    return true;
  case TERM_ADD:
  case TERM_SUB:
    return term_row(d, t->kid[0], times, row) && term_row(d, t->kid[1], t->op == TERM_SUB ? -times : times, row);
  case TERM_TIMES:
    return scale(d, t->at, &times, t->kid[0]->number) && term_row(d, t->kid[1], times, row);
  case TERM_COUNTER: /* not over parameters only, or not linear */
  case TERM_CONTROL:
  case TERM_AMOUNT:
  case TERM_IF:
  case TERM_NOT:
  case TERM_AND:
  case TERM_OR:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    break;
  }
  return false;
}

/* All other operators are refused. */
bool node_row(struct derivation_builder *d, const struct node *n, int64_t times, int64_t *row) {
  if (n->op == NODE_CONST)
    return derive_row_add(d, n->at, row, &n->constant, 1, times);
  if (n->op == NODE_PARAM)
    return derive_row_add(d, n->at, row, d->params.row[n->index], d->params.base->nparams + 1, times);
  if (n->op == NODE_ADD || n->op == NODE_SUB)
    return node_row(d, n->kid[0], times, row) && node_row(d, n->kid[1], n->op == NODE_SUB ? -times : times, row);
  if (n->op == NODE_MUL && n->kid[0]->op == NODE_CONST)
    return scale(d, n->at, &times, n->kid[0]->constant) && node_row(d, n->kid[1], times, row);
  if (n->op == NODE_MUL && n->kid[1]->op == NODE_CONST)
    return scale(d, n->at, &times, n->kid[1]->constant) && node_row(d, n->kid[0], times, row);
  if (n->op == NODE_NARROW)
    return node_row(d, n->kid[0], times, row);
  return derive_refuse(d, n->at, "this is not linear in the parameters");
}

/* Columns and conditions come from unfolding a system that has only parameters. */
bool derive_params(struct derivation_builder *d) {
  struct text why = {0};
  struct term *yes = make_number(d, 1);
  struct counter_property *nothing = arena_alloc(&d->d->arena, sizeof *nothing);
  nothing->from = yes;
  nothing->unsafe = make_number(d, 0);
  d->s->start = yes;
  d->params.base = counter_graph_unfold(d->s, nothing, d->shape->open, d->stop, &why);
  if (!d->params.base) {
    derive_refuse(d, (struct span){0, 0}, "the conditions on the parameters: %s", text_or_empty(&why));
    text_release(&why);
    return false;
  }
  size_t width = d->params.base->nparams + (size_t)1;
  d->params.row = arena_array(&d->d->arena, d->m->nparams + (size_t)1, sizeof *d->params.row);
  d->params.open = arena_array(&d->d->arena, d->m->nparams + (size_t)1, sizeof *d->params.open);
  d->params.size = arena_array(&d->d->arena, width, sizeof *d->params.size);
  for (uint32_t i = 0; i < d->m->nparams; i++) { /* the system's first parameters are the model's */
    const struct counter_param *p = &d->s->params[i];
    struct term self = {.op = TERM_PARAM, .index = i};
    d->params.row[i] = arena_array(&d->d->arena, width, sizeof **d->params.row);
    if (!term_row(d, p->is ? p->is : &self, 1, d->params.row[i]))
      return derive_refuse(d, p->at, "the definition of '%s' is not linear", p->name);
    for (size_t k = 1; k < width; k++)
      d->params.open[i] |= d->params.row[i][k] != 0;
    if (d->params.open[i] && i >= FORM_PARAMS)
      return derive_refuse(d, p->at, "there are too many parameters");
  }
  return term_row(d, d->shape->size, 1, d->params.size) ||
         derive_refuse(d, d->role->at, "the number of processes is not linear");
}

bool derive_solved_params(struct derivation_builder *d, struct solver *solver, int64_t *params) {
  bool ok = true;
  for (uint32_t i = 0; i < d->m->nparams && ok; i++) {
    __int128 sum = d->params.row[i][0];
    int64_t v = 0;
    for (uint32_t k = 0; k < d->params.base->nparams; k++)
      if (d->params.row[i][k + 1]) {
        ok = ok && solver_value(solver, k, &v);
        sum += (__int128)d->params.row[i][k + 1] * v;
      }
    ok = ok && sum >= INT64_MIN && sum <= INT64_MAX;
    params[i] = (int64_t)sum;
  }
  return ok;
}

/* ---- the schedule ---- */

/* The passes of a `repeat` without constant length: the first pass of the instance represents all but the last one,
   which `finally` may distinguish. */
static bool init_schedule(struct derivation_builder *d) {
  const struct round_shape *shape = d->shape;
  int64_t *row = arena_array(&d->d->arena, d->params.base->nparams + (size_t)1, sizeof *row);
  if (!shape->passes)
    return true;
  if (!term_row(d, shape->passes, 1, row))
    return derive_refuse(d, shape->at, "how often this goes is not linear in the parameters");
  if (shape->rounds == 0)
    return derive_refuse(d, shape->at, "this repeats nothing");
  struct solver *s = derive_solver(d);
  for (uint32_t i = 0; i <= d->params.base->nparams; i++)
    row[i] = -row[i];
  solver_variables(s, d->params.base->nparams); /* passes <= 0? */
  solver_add_any(s, d->params.base->conditions.at, d->params.base->conditions.n, NULL);
  solver_add_row(s, row, d->params.base->nparams + 1, false, NULL);
  bool never = solver_check(s) == ANSWER_NO;
  solver_free(s);
  if (derive_stopped(d))
    return false;
  if (!never)
    return derive_refuse(d, shape->at, "there may be no pass at all: say that there is at least one");
  d->reached.last_pass = shape->first; /* passes are numbered in the instance */
  while (d->reached.last_pass + shape->rounds < d->m->npoints &&
         d->m->points[d->reached.last_pass + shape->rounds].loop == d->m->points[d->reached.last_pass].loop + 1)
    d->reached.last_pass += shape->rounds;
  d->d->loops = true;
  d->d->skipped = d->reached.last_pass - shape->first - shape->rounds;
  d->d->skip_after = shape->first + shape->rounds;
  return d->reached.last_pass > shape->first ||
         derive_refuse(d, shape->at,
                       "with these parameters the loop runs at most once: set the parameters to concrete values");
}

uint32_t derived_round(const struct derivation *dv, uint32_t point) {
  point = point == POINT_END ? dv->model->npoints : point;
  return point >= dv->skip_after ? point - dv->skipped : point;
}

struct term *round_term(struct derivation_builder *d, uint32_t point) {
  return make_number(d, derived_round(d->d, point));
}

static struct term *passes_left(struct derivation_builder *d, enum term_op op, int64_t more) {
  struct term *done = make_leaf(d, TERM_COUNTER, d->d->passes);
  return make_relation(d, op, make_sum(d, done, make_number(d, more)), d->shape->passes);
}

static uint32_t rounds_from(struct derivation_builder *d, uint32_t point, struct next_round out[2]) {
  out[0] = (struct next_round){point, NULL, PASS_SAME};
  if (!d->d->loops || point != d->shape->first)
    return 1;
  struct term *one = make_number(d, 1);
  out[0] = (struct next_round){point, make_relation(d, TERM_LT, one, d->shape->passes), PASS_FIRST};
  out[1] = (struct next_round){d->reached.last_pass, make_relation(d, TERM_EQ, d->shape->passes, one), PASS_FIRST};
  return 2;
}

uint32_t first_rounds(struct derivation_builder *d, struct next_round out[2]) { return rounds_from(d, 0, out); }

uint32_t next_rounds(struct derivation_builder *d, uint32_t point, struct next_round out[2]) {
  if (!d->d->loops || point != d->shape->first + d->shape->rounds - 1)
    return rounds_from(d, d->m->points[point].next, out);
  out[0] = (struct next_round){d->shape->first, passes_left(d, TERM_LT, 2), PASS_NEXT};
  out[1] = (struct next_round){d->reached.last_pass, passes_left(d, TERM_EQ, 2), PASS_NEXT};
  return 2;
}

/* ---- names ---- */

static void add_word(struct text *out, const char *word) {
  for (; *word; word++)
    if (isalnum((unsigned char)*word))
      text_add_n(out, word, 1);
    else if (out->n && out->at[out->n - 1] != '_')
      text_add(out, "_");
  while (out->n && out->at[out->n - 1] == '_')
    out->at[--out->n] = '\0';
}

static bool distinguishes(const struct derivation_builder *d, uint32_t part, uint32_t var) {
  const value *first = NULL;
  for (uint32_t i = 0; i < d->d->locals.n; i++) {
    const value *v = d->d->locals.at[i];
    if (d->d->parts.at[i] != part || local_has(d, i, STATUS_BYZANTINE)) /* which has no variables */
      continue;
    if (first && first[var] != v[var])
      return true;
    first = v;
  }
  return false;
}

static bool name_taken(const struct counter_system *s, const char *name) {
  for (uint32_t i = 0; i < s->ncounters; i++)
    if (strcmp(s->counters[i].name, name) == 0)
      return true;
  for (uint32_t i = 0; i < s->ncontrols; i++)
    if (strcmp(s->controls[i].name, name) == 0)
      return true;
  for (uint32_t i = 0; i < s->nparams; i++)
    if (strcmp(s->params[i].name, name) == 0)
      return true;
  return false;
}

/* For example x_1_decided_none: only the variables that differ between local states. */
const char *derive_local_name(struct derivation_builder *d, uint32_t local) {
  static const char *const faults[] = {"halted", "crashed", "omits_send", "omits_receive", "byzantine"};
  struct text out = {0}, one = {0};
  const value *v = d->d->locals.at[local];
  bool byzantine = v[LOCAL_STATUS] & STATUS_BYZANTINE;
  for (uint32_t i = 0; i < d->role->nvars && !byzantine; i++) {
    if (!distinguishes(d, d->d->parts.at[local], LOCAL_VAR(i)))
      continue;
    if (i == d->d->leader) {
      static const char *const classes[] = {"follows", "leads", "follows_another", "rival"};
      text_addf(&out, "%s%s", out.n ? "_" : "", classes[v[LOCAL_VAR(i)]]);
      continue;
    }
    one.n = 0;
    value_print(&d->m->values, d->m, d->role->vars[i].type, v[LOCAL_VAR(i)], &one);
    text_addf(&out, "%s%s_", out.n ? "_" : "", d->role->vars[i].name);
    add_word(&out, one.n ? one.at : "");
  }
  for (uint32_t i = 1 + d->role->nvars; i < d->d->length && !byzantine; i++)
    if (distinguishes(d, d->d->parts.at[local], i))
      text_addf(&out, "%sfirst_%" PRId64, out.n ? "_" : "", v[i]);
  for (uint32_t i = 0; i < 5; i++)
    if (v[LOCAL_STATUS] >> i & 1)
      text_addf(&out, "%s%s", out.n ? "_" : "", faults[i]);
  if (out.n == 0)
    text_add(&out, "all");
  if (name_taken(d->s, out.at)) /* concatenated names of values may collide */
    text_addf(&out, "_%" PRIu32, local + 1);
  const char *kept = arena_strndup(&d->s->arena, out.at, out.n);
  text_release(&out);
  text_release(&one);
  return kept;
}

/* ---- the system ---- */

/* The number of processes in initial local states with one of these faults (0: any). */
static struct term *initial_count(struct derivation_builder *d, uint32_t part, value status) {
  struct term *sum = NULL;
  for (uint32_t l = 0; l < d->d->locals.n; l++)
    if (d->reached.begins[l] && d->d->parts.at[l] == part && (!status || local_has(d, l, status)))
      sum = make_sum(d, sum, local_count(d, l));
  return sum;
}

struct term *limit_term(struct derivation_builder *d, enum clause_kind kind) {
  int64_t *row = memory_alloc((d->params.base->nparams + (size_t)1) * sizeof *row);
  for (uint32_t i = 0; i < d->env->nclauses; i++)
    if (d->env->clauses[i].kind == kind)
      node_row(d, d->env->clauses[i].limit_node, 1, row);
  struct term *sum = make_row(d, row);
  memory_free(row);
  return sum;
}

static bool has_clause(const struct derivation_builder *d, enum clause_kind kind) {
  for (uint32_t i = 0; i < d->env->nclauses; i++)
    if (d->env->clauses[i].kind == kind)
      return true;
  return false;
}

/* A part whose local state determines the whole initial state of a process, so that its counts determine those of all
   other parts. Returns nparts if there is none. */
static uint32_t distinguishing_part(const struct derivation_builder *d) {
  uint32_t n = d->d->nparts;
  for (uint32_t part = 0; part < n; part++) {
    bool is_distinguishing = part_exists(d->d, part) && d->parts.counted[part];
    for (size_t i = 0; i < d->reached.initial.n / n && is_distinguishing; i++)
      for (size_t k = 0; k < i && is_distinguishing; k++)
        is_distinguishing = d->reached.initial.at[i * n + part] != d->reached.initial.at[k * n + part];
    if (is_distinguishing)
      return part;
  }
  return n;
}

/* The initial count of a local state, expressed with the counts of another part. */
static struct term *initial_count_by_part(struct derivation_builder *d, uint32_t local, uint32_t by) {
  uint32_t n = d->d->nparts;
  struct term *sum = NULL;
  for (size_t i = 0; i < d->reached.initial.n / n; i++)
    if (d->reached.initial.at[i * n + d->d->parts.at[local]] == local)
      sum = make_sum(d, sum, local_count(d, d->reached.initial.at[i * n + by]));
  return sum;
}

static struct term *initial_condition_of(struct derivation_builder *d, uint32_t l, uint32_t distinguishing) {
  if (d->d->counter.at[l] == NO_COUNTER)
    return make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->flag.at[l]),
                         make_number(d, d->reached.begins[l]));
  struct term *count = local_count(d, l);
  if (!d->reached.begins[l])
    return make_relation(d, TERM_EQ, count, NULL);
  struct term *when = d->reached.begins_when[l];
  struct term *can = when ? make_or(d, when, make_relation(d, TERM_EQ, count, NULL)) : NULL;
  if (distinguishing < d->d->nparts && d->d->parts.at[l] != distinguishing)
    return make_and(d, can, make_relation(d, TERM_EQ, count, initial_count_by_part(d, l, distinguishing)));
  return make_and(d, can, make_relation(d, TERM_LE, NULL, count));
}

/* The start condition: all processes are in initial local states, and faults are within their limits. */
static void make_start(struct derivation_builder *d) {
  struct counter_system *s = d->s;
  struct next_round first[2];
  uint32_t distinguishing = distinguishing_part(d), n = first_rounds(d, first);
  struct term *where = make_number(d, 0);
  s->start = make_and(d, turns_between(d), NULL);
  for (uint32_t i = 0; i < FROZEN_MAX; i++)
    if (d->turns.frozen[i] != NO_COUNTER)
      s->start = make_and(d, s->start, make_relation(d, TERM_EQ, make_leaf(d, TERM_COUNTER, d->turns.frozen[i]), NULL));
  for (uint32_t l = 0; l < d->d->locals.n; l++)
    s->start = make_and(d, s->start, initial_condition_of(d, l, distinguishing));
  for (uint32_t part = 0; part < d->d->nparts; part++) {
    if (!part_exists(d->d, part) || !d->parts.counted[part])
      continue;
    s->start = make_and(d, s->start, make_relation(d, TERM_EQ, initial_count(d, part, 0), d->shape->size));
    if (has_clause(d, CLAUSE_BYZANTINE))
      s->start = make_and(
          d, s->start,
          make_relation(d, TERM_LE, initial_count(d, part, STATUS_BYZANTINE), limit_term(d, CLAUSE_BYZANTINE)));
    if (has_clause(d, CLAUSE_OMIT))
      s->start = make_and(d, s->start,
                          make_relation(d, TERM_LE, initial_count(d, part, STATUS_OMITS_SEND | STATUS_OMITS_RECEIVE),
                                        limit_term(d, CLAUSE_OMIT)));
  }
  for (uint32_t i = 0; i < n && d->d->where != UINT32_MAX; i++) {
    struct term *here = make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->where), round_term(d, first[i].to));
    where = make_or(d, where, make_and(d, here, first[i].when));
  }
  if (d->d->where != UINT32_MAX)
    s->start = make_and(d, s->start, where);
  if (d->d->passes != NO_COUNTER)
    s->start = make_and(d, s->start, make_relation(d, TERM_EQ, make_leaf(d, TERM_COUNTER, d->d->passes), NULL));
  if (d->d->ages)
    s->start = make_and(d, s->start,
                        make_and(d, make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->aged), NULL),
                                 make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->began), NULL)));
  if (d->d->elected != UINT32_MAX)
    s->start = make_and(d, s->start, make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->d->elected), NULL));
  if (d->liveness)
    s->start = make_and(d, s->start, liveness_start(d));
  for (uint32_t i = 0; i < d->q->nproperties; i++)
    if (d->parts.violated[i] != UINT32_MAX)
      s->start =
          make_and(d, s->start, make_relation(d, TERM_EQ, make_leaf(d, TERM_CONTROL, d->parts.violated[i]), NULL));
}

/* A part that need not be counted gets flags if it has exactly one initial local state and no local state changes
   without an update. */
static void find_flags(struct derivation_builder *d) {
  for (uint32_t part = 0; part < d->d->nparts; part++) {
    uint32_t begin = 0, all = 0;
    for (uint32_t l = 0; l < d->d->locals.n; l++) {
      bool concerns = d->d->parts.at[l] == part && !local_has(d, l, STATUS_BYZANTINE);
      begin += concerns && d->reached.begins[l];
      all += concerns;
    }
    d->parts.counted[part] |= begin != 1 || all > FLAGS_MAX || d->mode != DERIVE_FLAGS;
  }
  for (uint32_t p = 0; p < d->m->npoints; p++)
    for (size_t i = 0; i < d->reached.at[p].locals.n; i++) {
      uint32_t l = d->reached.at[p].locals.at[i];
      bool *counted = &d->parts.counted[d->d->parts.at[l]];
      *counted = *counted || derive_moves_jointly(d) || local_unchanged_after(d, l, p, 0) != l;
    }
}

uint32_t derive_control_new(struct derivation_builder *d, const char *name, enum control_kind kind, int64_t high) {
  struct counter_system *s = d->s;
  if (name_taken(s, name))
    name = arena_printf(&s->arena, "%s_%" PRIu32, name, s->ncontrols + 1);
  s->controls[s->ncontrols] = (struct control){name, {0, 0}, kind, 0, high, NULL};
  return s->ncontrols++;
}

uint32_t derive_counter_new(struct derivation_builder *d, const char *name) {
  if (name_taken(d->s, name))
    name = arena_printf(&d->s->arena, "%s_%" PRIu32, name, d->s->ncounters + 1);
  d->s->counters[d->s->ncounters] = (struct counter_name){name, d->role->at};
  return d->s->ncounters++;
}

const char *local_label(const struct derivation_builder *d, uint32_t local) {
  uint32_t counter = d->d->counter.at[local];
  return counter == NO_COUNTER ? d->s->controls[d->d->flag.at[local]].name : d->s->counters[counter].name;
}

void move_set_count(struct derivation_builder *d, struct counter_move *m, uint32_t local, struct term *count) {
  uint32_t counter = d->d->counter.at[local];
  if (counter != NO_COUNTER)
    m->counters[counter] = make_sum(d, count, NULL);
  else
    m->controls[d->d->flag.at[local]] =
        make_choice(d, make_relation(d, TERM_LE, make_number(d, 1), count), make_number(d, 1), make_number(d, 0));
}

static void make_state(struct derivation_builder *d) {
  struct counter_system *s = d->s;
  size_t n = d->d->locals.n;
  d->counters_max = (uint32_t)(2 * n) + FROZEN_MAX + 2; /* with a pool for each local state */
  d->controls_max = (uint32_t)n + d->q->nproperties + 7;
  s->counters = arena_array(&s->arena, d->counters_max, sizeof *s->counters);
  s->controls = arena_array(&s->arena, d->controls_max, sizeof *s->controls);
  for (uint32_t i = 0; i < FROZEN_MAX; i++)
    d->turns.frozen[i] = NO_COUNTER;
  for (uint32_t l = 0; l < n; l++) {
    bool counted = d->parts.counted[d->d->parts.at[l]];
    const char *name = derive_local_name(d, l);
    counted &= !derived_leads(d->d, l);
    vec_push(&d->d->counter, counted ? derive_counter_new(d, name) : NO_COUNTER);
    vec_push(&d->d->flag, counted ? UINT32_MAX : derive_control_new(d, name, CONTROL_TRUTH, 1));
  }
  if (d->d->loops)
    d->d->passes = derive_counter_new(d, name_taken(s, "passes") ? "passes_done" : "passes");
  if (d->m->npoints > 1 || d->m->points[0].next == POINT_END)
    d->d->where = derive_control_new(d, "round_at", CONTROL_NUMBERS, derived_round(d->d, POINT_END));
  if (d->d->ages) {
    d->d->aged = derive_control_new(d, "aged", CONTROL_TRUTH, 1);
    d->d->began = derive_control_new(d, "fixed", CONTROL_NUMBERS, FIXED_OVER);
  }
  for (uint32_t p = 0; p < d->m->npoints && d->d->elected == UINT32_MAX; p++)
    if (leader_begins_at(d, p))
      d->d->elected = derive_control_new(d, "elected", CONTROL_TRUTH, 1);
  if (d->liveness)
    d->d->stage =
        derive_control_new(d, "stage", CONTROL_NUMBERS, d->liveness->nstages + (int64_t)d->liveness->nedges - 1);
  d->parts.violated = arena_array(&d->d->arena, d->q->nproperties + (size_t)1, sizeof *d->parts.violated);
  for (uint32_t i = 0; i < d->q->nproperties; i++) {
    const struct property *p = &d->m->properties[d->q->properties[i]];
    d->parts.violated[i] =
        p->step ? derive_control_new(d, arena_printf(&s->arena, "%s_broken", p->name), CONTROL_TRUTH, 1) : UINT32_MAX;
    d->d->violated = d->parts.violated[i];
  }
}

static bool make_moves(struct derivation_builder *d) {
  struct counter_system *s = d->s;
  move_vec moves = {0};
  bool ok = true;
  for (uint32_t p = 0; p < d->m->npoints && ok; p++)
    ok = !derive_stopped(d) &&
         (d->reached.at[p].locals.n == 0 || (d->liveness ? liveness_rounds(d, p, &moves) : derive_round(d, p, &moves)));
  s->nmoves = (uint32_t)moves.n;
  s->moves = arena_array(&s->arena, moves.n + 1, sizeof *s->moves);
  for (size_t i = 0; i < moves.n; i++)
    s->moves[i] = moves.at[i];
  vec_release(&moves);
  return ok;
}

static bool make_properties(struct derivation_builder *d) {
  struct counter_system *s = d->s;
  s->properties = arena_array(&s->arena, d->q->nproperties + (size_t)1, sizeof *s->properties);
  for (uint32_t i = 0; i < d->q->nproperties; i++) {
    const struct property *p = &d->m->properties[d->q->properties[i]];
    struct counter_property *out = &s->properties[i];
    struct span at = p->formula->at;
    *out = (struct counter_property){.name = arena_strndup(&s->arena, p->name, strlen(p->name)), .at = p->at};
    out->from = make_number(d, 1);
    out->text = arena_printf(&s->arena, "not (%s)", source_quote(d->m, at, &s->arena));
    if (p->step)
      out->unsafe = make_leaf(d, TERM_CONTROL, d->parts.violated[i]);
    else if (!(d->liveness ? liveness_property(d, out) : derive_property(d, p, out)))
      return false;
    else
      out->unsafe = make_and(d, turns_between(d), out->unsafe);
    s->nproperties++;
  }
  return true;
}

static bool make_system(struct derivation_builder *d) {
  d->reached.closed = true;
  find_flags(d);
  if (d->d->ages)
    ages_watch(d);
  make_state(d);
  if (!make_moves(d))
    return false;
  turns_finish(d);
  if (!make_properties(d))
    return false;
  make_start(d);
  return !d->d->refused;
}

bool derive(struct derivation *out, const struct round_shape *shape, struct interpreter *interp, const struct query *q,
            enum derive_mode mode, const volatile sig_atomic_t *stop) {
  return derive_as(out, shape, interp, q, mode, ROUND_AUTOMATIC, stop);
}

bool derive_as(struct derivation *out, const struct round_shape *shape, struct interpreter *interp,
               const struct query *q, enum derive_mode mode, enum round_form form, const volatile sig_atomic_t *stop) {
  return derive_live(out, shape, interp, q, NULL, mode, form, stop);
}

bool derive_live(struct derivation *out, const struct round_shape *shape, struct interpreter *interp,
                 const struct query *q, const struct liveness *live, enum derive_mode mode, enum round_form form,
                 const volatile sig_atomic_t *stop) {
  *out = (struct derivation){.system = shape->system,
                             .model = interp->model,
                             .where = UINT32_MAX,
                             .violated = UINT32_MAX,
                             .turn = UINT32_MAX,
                             .passes = NO_COUNTER,
                             .liveness = live,
                             .stage = UINT32_MAX,
                             .leader = UINT32_MAX,
                             .elected = UINT32_MAX,
                             .aged = UINT32_MAX,
                             .began = UINT32_MAX,
                             .refused_clause = UINT32_MAX};
  arena_init(&out->arena);
  struct derivation_builder d = {.d = out,
                                 .shape = shape,
                                 .s = shape->system,
                                 .interp = interp,
                                 .m = interp->model,
                                 .q = q,
                                 .env = &interp->model->environments[q->environment],
                                 .role = &interp->model->roles[0],
                                 .mode = mode,
                                 .liveness = live,
                                 .form = form,
                                 .stop = stop};
  if (!derive_stopped(&d) && derive_params(&d) && derive_licensed(&d) && init_schedule(&d) && derive_locals(&d))
    make_system(&d);
  if (stop && *stop) /* whatever the reason of the refusal was */
    out->stopped = true;
  if (out->stopped && !out->refused)
    derive_stopped(&d);
  for (uint32_t p = 0; d.reached.at && p <= d.m->npoints; p++) {
    for (size_t i = 0; i < d.reached.at[p].outcomes.n; i++)
      update_cases_release(d.reached.at[p].outcomes.at[i]);
    vec_release(&d.reached.at[p].outcomes);
    vec_release(&d.reached.at[p].locals);
    vec_release(&d.reached.at[p].messages_possible);
    vec_release(&d.reached.at[p].kinds);
    vec_release(&d.reached.at[p].aging);
  }
  vec_release(&d.turns.pools);
  vec_release(&d.parts.of_names);
  vec_release(&d.reached.updates);
  vec_release(&d.heard.sizes);
  vec_release(&d.reached.initial);
  counter_graph_free(d.params.base);
  return !out->refused;
}

void derivation_release(struct derivation *d) {
  vec_release(&d->locals);
  vec_release(&d->parts);
  vec_release(&d->counter);
  vec_release(&d->flag);
  vec_release(&d->is_part_move);
  vec_release(&d->turns);
  arena_release(&d->arena);
  *d = (struct derivation){0};
}
