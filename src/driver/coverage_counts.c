/* A breadth-first search over configurations. Each step that the environment allows is executed once more, with its
   coverage recorded, so that nothing is counted that only the enumeration has tried. */
#include "driver/coverage_counts.h"

#include "analysis/read_sets.h"
#include "base/intern.h"
#include "interp/events.h"
#include "interp/round_step.h"
#include "model/node.h"

#include <string.h>

struct count_pass {
  struct coverage_counting *given;
  struct coverage_report *report;
  const struct model *model;
  const struct environment *env;
  struct intern *states; /* configurations as vectors; ids are in the order of discovery */
  VEC(value) key;
  struct config *config, *next;
  struct coverage *tried, *step; /* by the enumeration of steps; by one step */
  bool keeps_phase;
  uint32_t keeps_rounds; /* the number of rounds done matters up to here */
  size_t bytes;
};

/* ---- configurations as vectors ---- */

/* Does anything that processes do depend on the number of the phase? */
static bool reads_phase(const struct model *m) {
  struct arena scratch;
  bool read = false;
  arena_init(&scratch);
  for (uint32_t r = 0; r < m->nroles && !read; r++)
    for (uint32_t p = 0; p < m->npoints && !read && m->roles[r].body; p++)
      read = read_set_of_sends(m, r, p, &scratch)->phase || read_set_of_update(m, r, p, &scratch)->phase;
  arena_release(&scratch);
  return read;
}

static uint32_t rounds_that_matter(const struct model *m, const struct environment *env) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->pred && node_has_traits_deep(m, c->pred, TRAIT_CLOCK))
      return UINT32_MAX;
    if (c->kind == CLAUSE_FROM_ROUND && c->from > most)
      most = c->from;
  }
  return most;
}

/* Is the number of such faults in the whole run limited? Otherwise it does not matter. */
static bool is_budgeted(const struct environment *env, enum clause_kind kind) {
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == kind && env->clauses[i].per == PER_RUN && env->clauses[i].limit < INT64_MAX)
      return true;
  return false;
}

static uint32_t config_put(struct count_pass *c, const struct config *from) {
  const struct model *m = c->model;
  vec_clear(&c->key);
  vec_push(&c->key, from->point);
  vec_push(&c->key, from->rounds < c->keeps_rounds ? from->rounds : c->keeps_rounds);
  vec_push(&c->key, c->keeps_phase ? from->phase : 1);
  vec_push(&c->key, is_budgeted(c->env, CLAUSE_LOST) ? from->lost : 0);
  vec_push(&c->key, is_budgeted(c->env, CLAUSE_CORRUPTED) ? from->corrupted : 0);
  vec_push(&c->key, is_budgeted(c->env, CLAUSE_DUPLICATED) ? from->duplicated : 0);
  for (uint32_t i = 0; i < m->nglobals; i++)
    vec_push(&c->key, from->globals[i]);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    for (uint32_t i = 0; i < role_local_length(&m->roles[model_role_of(m, p)]); i++)
      vec_push(&c->key, from->local[p][i]);
  for (uint32_t i = 0; i < from->npackets; i++) {
    const struct packet *k = &from->packets[i];
    const value parts[] = {k->from, k->to, k->kind, k->place, k->message};
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++)
      vec_push(&c->key, parts[n]);
  }
  return intern_put(c->states, c->key.at, c->key.n);
}

static void config_get(struct count_pass *c, uint32_t id) {
  const struct model *m = c->model;
  struct config *to = c->config;
  const value *v = intern_at(c->states, id), *end = v + intern_length(c->states, id);
  to->point = (uint32_t)*v++;
  to->rounds = (uint32_t)*v++;
  to->phase = *v++;
  to->lost = *v++;
  to->corrupted = *v++;
  to->duplicated = *v++;
  for (uint32_t i = 0; i < m->nglobals; i++)
    to->globals[i] = *v++;
  for (uint32_t p = 0; p < m->nprocesses; p++)
    for (uint32_t i = 0; i < role_local_length(&m->roles[model_role_of(m, p)]); i++)
      to->local[p][i] = *v++;
  to->npackets = (uint32_t)((end - v) / 5);
  if (to->npackets > to->packets_cap) {
    to->packets = memory_resize_array(to->packets, to->npackets, sizeof *to->packets);
    to->packets_cap = to->npackets;
  }
  for (uint32_t i = 0; i < to->npackets; i++, v += 5)
    to->packets[i] = (struct packet){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2], (enum packet_place)v[3], v[4]};
}

/* ---- what a step takes ---- */

static bool of_role(const struct count_pass *c, const struct clause *clause, uint32_t process) {
  return clause->role == ROLE_ANY || clause->role == model_role_of(c->model, process);
}

static bool some_status(const struct count_pass *c, const struct clause *clause, const struct config *at, value bits) {
  for (uint32_t p = 0; p < c->model->nprocesses; p++)
    if ((at->local[p][LOCAL_STATUS] & bits) && of_role(c, clause, p))
      return true;
  return false;
}

static bool some_crash(const struct count_pass *c, const struct clause *clause, const struct witness *w) {
  for (uint32_t p = 0; p < w->nprocesses; p++)
    if (w->crashes[p] && of_role(c, clause, p))
      return true;
  return w->event && w->event->kind == EVENT_CRASH && of_role(c, clause, w->event->process);
}

static bool keeps_some(const struct event *e) {
  for (uint32_t i = 0; e && i < e->ntaken; i++)
    if (e->taken[i].kept)
      return true;
  return false;
}

/* Does the step have the fault? lost, corrupted: messages of this round. */
static bool has_fault(const struct count_pass *c, const struct coverage_item *item, const struct witness *w,
                      int64_t lost, int64_t corrupted) {
  const struct clause *clause = &c->env->clauses[item->clause];
  const struct event *e = w->event;
  if (item->recovery)
    return e && e->kind == EVENT_RECOVER && of_role(c, clause, e->process);
  switch (clause->kind) {
  case CLAUSE_CRASH:
    return some_crash(c, clause, w);
  case CLAUSE_OMIT:
    return some_status(c, clause, c->config, STATUS_OMITS_SEND | STATUS_OMITS_RECEIVE);
  case CLAUSE_BYZANTINE:
    return some_status(c, clause, c->config, STATUS_BYZANTINE);
  case CLAUSE_LOST:
    return e ? e->kind == EVENT_LOSE : lost > 0;
  case CLAUSE_CORRUPTED:
    return corrupted > 0;
  case CLAUSE_DUPLICATED:
    return keeps_some(e);
  case CLAUSE_EVERY:
  case CLAUSE_FROM_ROUND:
  case CLAUSE_OFTEN:
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
  case CLAUSE_SYNCHRONOUS:
  case CLAUSE_FAIR:
  case CLAUSE_CHANNELS:
    break;
  }
  return false;
}

static void messages_lost(const struct count_pass *c, const struct witness *w, int64_t *lost, int64_t *corrupted) {
  struct message_exchange x;
  struct model_error error;
  *lost = *corrupted = 0;
  if (w->event || !(environment_clause(c->env, CLAUSE_LOST) || environment_clause(c->env, CLAUSE_CORRUPTED)))
    return;
  if (exchange_begin(&x, c->given->interp, c->config, w, &error) == STEP_OK)
    exchange_faults(&x, c->env, w, lost, corrupted);
  exchange_release(&x);
}

unsigned coverage_mark_of(enum coverage_kind kind) {
  switch (kind) {
  case COVER_ROUND:
  case COVER_STATEMENT:
    return COVERED_RUN;
  case COVER_ACTION:
  case COVER_THEN:
    return COVERED_TRUE;
  case COVER_ELSE:
    return COVERED_FALSE;
  case COVER_FAULT:
  case COVER_CLAUSE:
    break;
  }
  return 0;
}

static void count_items(struct count_pass *c, const struct witness *w) {
  struct coverage_report *r = c->report;
  int64_t lost, corrupted;
  messages_lost(c, w, &lost, &corrupted);
  for (size_t i = 0; i < r->items.at.n; i++) {
    const struct coverage_item *item = &r->items.at.at[i];
    bool taken;
    if (coverage_item_is_code(item))
      taken = coverage_has(c->step, item->at.from, coverage_mark_of(item->kind));
    else if (item->environment != c->given->environment)
      continue;
    else if (item->kind == COVER_FAULT)
      taken = has_fault(c, item, w, lost, corrupted);
    else
      continue; /* see note_exclusions */
    r->counts[i] += taken;
    if (taken)
      r->states[i] = ITEM_TAKEN;
  }
}

/* A clause is taken if it excludes a step that all clauses before it allow. */
static void note_exclusions(struct count_pass *c) {
  struct coverage_report *r = c->report;
  for (size_t i = 0; i < r->items.at.n; i++) {
    const struct coverage_item *item = &r->items.at.at[i];
    if (item->kind == COVER_CLAUSE && item->environment == c->given->environment &&
        coverage_has(c->tried, item->at.from, COVERED_FALSE)) {
      r->counts[i]++;
      r->states[i] = ITEM_TAKEN;
    }
  }
}

/* ---- the pass ---- */

static bool all_faults_taken(const struct count_pass *c) {
  const struct coverage_report *r = c->report;
  for (size_t i = 0; i < r->items.at.n; i++)
    if (!coverage_item_is_code(&r->items.at.at[i]) && r->items.at.at[i].environment == c->given->environment &&
        r->states[i] != ITEM_TAKEN)
      return false;
  return true;
}

static bool store(struct count_pass *c, const struct config *found) {
  config_put(c, found);
  c->bytes = intern_bytes(c->states);
  return (c->given->most_memory == 0 || c->bytes < c->given->most_memory) &&
         (c->given->most_states == 0 || intern_count(c->states) <= c->given->most_states);
}

static bool visit_initial(void *context, const struct config *found) {
  struct count_pass *c = context;
  return store(c, found) && intern_count(c->states) <= c->given->most_steps;
}

static bool visit_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  struct count_pass *c = context;
  struct interpreter *interp = c->given->interp;
  struct model_error again;
  (void)error;
  if (c->given->nsteps >= c->given->most_steps)
    return false;
  c->given->nsteps++;
  coverage_clear(c->step);
  interp->coverage = c->step;
  config_step(interp, c->given->environment, c->config, w, c->next, NULL, &again);
  interp->coverage = c->tried;
  count_items(c, w);
  if (c->given->faults_only && all_faults_taken(c))
    return false;
  return result != STEP_OK || store(c, next);
}

void coverage_count(struct coverage_counting *given, struct coverage_report *report) {
  struct interpreter *interp = given->interp;
  const struct model *m = interp->model;
  struct count_pass c = {.given = given,
                         .report = report,
                         .model = m,
                         .env = &m->environments[given->environment],
                         .states = intern_new(),
                         .config = config_new(m),
                         .next = config_new(m),
                         .tried = coverage_new(m->source.length),
                         .step = coverage_new(m->source.length)};
  struct coverage *before = interp->coverage;
  struct model_error error;
  c.keeps_phase = !model_steps(m) && reads_phase(m);
  c.keeps_rounds = rounds_that_matter(m, c.env);
  interpreter_follow(interp, given->semantics, false);
  interp->coverage = c.tried;
  bool more = config_initials(interp, given->environment, visit_initial, &c, &error) && !error.message;
  uint32_t id = 0;
  for (; more && id < intern_count(c.states); id++) {
    config_get(&c, id);
    coverage_clear(c.tried);
    more = config_successors(interp, given->environment, c.config, visit_step, &c);
    note_exclusions(&c);
    more = more && !(given->faults_only && all_faults_taken(&c));
  }
  given->complete = more && !interpreter_stopped(interp);
  given->nstates = intern_count(c.states);
  interp->coverage = before;
  vec_release(&c.key);
  intern_free(c.states);
  config_free(c.config);
  config_free(c.next);
  coverage_free(c.tried);
  coverage_free(c.step);
}
