/* Plain enumeration: every initial configuration, every oracle, every crash, every heard-of assignment, every forgery,
   every free choice. There are no optimisations: faster implementations must agree with this one. */
#include "interp/round_step.h"

#include "model/node.h"

#include <string.h>

/* --- file-level variables: inputs first, then shared ones and ghosts --- */

/* False: `where` rejects the value. */
static bool global_first_value(struct eval *e, uint32_t i, value *globals) {
  const struct var *g = &e->model->globals[i];
  if (g->init) {
    globals[i] = eval_node(e, g->init);
    check_in_type(e, g->type, globals[i], g->init->at, "value");
  } else {
    if (g->type->count == UINT64_MAX)
      eval_fail(e, g->at, "'%s' has too many values to choose from", g->name);
    globals[i] = type_nth(e->values, g->type, eval_choose(e, g->type->count));
  }
  return !g->where || eval_true(e, g->where);
}

static bool globals_run(struct interpreter *interp, bool followed, struct choices *choices, value *globals,
                        bool *refused, struct model_error *error) {
  const struct model *m = interp->model;
  struct eval e;
  jmp_buf failure;
  eval_begin(&e, interp);
  e.globals = globals;
  e.choices = choices;
  e.failure = &failure;
  e.error.process = UINT32_MAX;
  *refused = false;
  if (setjmp(failure)) {
    *error = e.error;
    return false;
  }
  for (uint32_t i = 0; i < m->nglobals && !*refused; i++)
    if (m->globals[i].kind == VAR_INPUT && (followed || !m->globals[i].followed))
      *refused = !global_first_value(&e, i, globals);
  for (uint32_t i = 0; i < m->nglobals && !*refused; i++)
    if (m->globals[i].kind != VAR_INPUT)
      *refused = !global_first_value(&e, i, globals);
  return true;
}

static bool globals_chosen_each(struct interpreter *interp, bool followed, globals_fn *visit, void *context,
                                struct model_error *error) {
  struct choices choices = {0};
  value *globals = memory_alloc((interp->model->nglobals + 1) * sizeof *globals);
  bool more = true;
  do {
    bool refused;
    more = globals_run(interp, followed, &choices, globals, &refused, error);
    if (more && !refused)
      more = visit(context, globals);
  } while (more && choices_next(&choices));
  choices_release(&choices);
  memory_free(globals);
  return more;
}

bool globals_each(struct interpreter *interp, globals_fn *visit, void *context, struct model_error *error) {
  return globals_chosen_each(interp, true, visit, context, error);
}

bool globals_each_but_followed(struct interpreter *interp, globals_fn *visit, void *context,
                               struct model_error *error) {
  return globals_chosen_each(interp, false, visit, context, error);
}

struct sought_globals {
  const value *globals;
  uint32_t n;
  bool found;
};

static bool is_sought(void *context, const value *globals) {
  struct sought_globals *s = context;
  s->found = !memcmp(globals, s->globals, s->n * sizeof *globals);
  return !s->found;
}

bool globals_chosen(struct interpreter *interp, const value *globals) {
  struct sought_globals s = {globals, interp->model->nglobals, false};
  struct model_error ignored;
  globals_each(interp, is_sought, &s, &ignored);
  return s.found;
}

/* --- initial configurations --- */

struct initial_enumeration {
  struct interpreter *interp;
  uint32_t environment;
  config_initial_fn *visit;
  void *context;
  struct model_error *error;
  struct config *config;
  struct locals *choices; /* by process */
};

static bool initials_from(struct initial_enumeration *in, uint32_t p) {
  const struct model *m = in->interp->model;
  if (p == m->nprocesses) {
    if (interpreter_stopped(in->interp))
      return false;
    if (!initial_allowed(m, in->environment, (const value *const *)in->config->local))
      return true;
    return in->visit(in->context, in->config);
  }
  const struct locals *l = &in->choices[p];
  for (size_t i = 0; i < l->n; i++) {
    memcpy(in->config->local[p], l->at + i * l->length, l->length * sizeof *l->at);
    if (!initials_from(in, p + 1))
      return false;
  }
  return true;
}

static bool initials_with(void *context, const value *globals) {
  struct initial_enumeration *in = context;
  const struct model *m = in->interp->model;
  memcpy(in->config->globals, globals, m->nglobals * sizeof *globals);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (!local_initials(in->interp, in->environment, p, in->config->globals, &in->choices[p], in->error))
      return false;
  return initials_from(in, 0);
}

bool config_initials(struct interpreter *interp, uint32_t environment, config_initial_fn *visit, void *context,
                     struct model_error *error) {
  const struct model *m = interp->model;
  struct initial_enumeration in = {interp,
                                   environment,
                                   visit,
                                   context,
                                   error,
                                   config_new(m),
                                   memory_alloc((m->nprocesses + 1) * sizeof *in.choices)};
  *error = (struct model_error){0};
  bool more = globals_each(interp, initials_with, &in, error);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    locals_release(&in.choices[p]);
  memory_free(in.choices);
  config_free(in.config);
  return more;
}

/* --- steps --- */

struct round_enumeration {
  struct interpreter *interp;
  const struct model *model;
  const struct environment *env;
  uint32_t environment;
  const struct config *config;
  struct witness *witness;
  config_step_fn *visit;
  void *context;
  struct config *next;
  const struct message_exchange *exchange; /* set once all sends are computed */
  const struct round_filter *filter;
  bool reads; /* some clause reads HO */
};

/* May the round go on like this? The pairs that follow are heard, and nothing is forged in them. */
static bool keep_pair(struct round_enumeration *s, uint32_t p, uint32_t q, bool forged) {
  const struct round_filter *f = s->filter;
  return !f->pair || f->pair(f->context, s->witness, s->exchange, p, q, forged);
}

/* Every script of the update of process p, given what is heard; then those of the next process. */
static bool enumerate_updates(struct round_enumeration *s, uint32_t p) {
  struct witness *w = s->witness;
  const struct model *m = s->model;
  if (p == m->nprocesses) {
    struct model_error error;
    enum step_result result = exchange_step(s->exchange, s->environment, w, s->next, NULL, &error);
    return s->visit(s->context, w, result, s->next, &error);
  }
  if (!process_active(s->config->local[p][LOCAL_STATUS]) || w->crashes[p])
    return enumerate_updates(s, p + 1);
  /* Run the process to learn how many choices it has; the scripts of the others do not matter for that. */
  struct choices choices = {0};
  struct received_entry *entries = memory_alloc((m->nprocesses + 1) * sizeof *entries);
  value *local = memory_alloc(s->interp->max_local * sizeof *local);
  struct received r;
  bool more = true, possible = exchange_receive(s->exchange, w, p, entries, &r, NULL);
  do {
    struct eval e;
    memcpy(local, s->exchange->local[p], role_local_length(&m->roles[model_role_of(m, p)]) * sizeof *local);
    local_begin(&e, s->interp, p, s->config->point, s->config->phase, local, s->config->globals);
    e.choices = &choices;
    if (possible)
      local_update(&e, &r);
    w->updates[p] = (struct script){(uint32_t)choices.at, choices.taken.at};
    more = enumerate_updates(s, p + 1);
    w->updates[p] = (struct script){0, NULL};
  } while (more && choices_next(&choices));
  memory_free(entries);
  memory_free(local);
  choices_release(&choices);
  return more;
}

/* Every message that a Byzantine sender or a corrupted channel can make p receive from q. */
static bool enumerate_forgeries(struct round_enumeration *s, uint32_t pair) {
  struct witness *w = s->witness;
  const struct model *m = s->model;
  uint32_t n = m->nprocesses;
  if (pair == n * n) {
    const char *why;
    if (interpreter_stopped(s->interp))
      return false;
    if (!exchange_allowed(s->exchange, s->environment, w, &why))
      return true;
    return enumerate_updates(s, 0);
  }
  uint32_t p = pair / n, q = pair % n;
  if (!enumerate_forgeries(s, pair + 1)) /* no forgery here */
    return false;
  bool receives = process_active(s->config->local[p][LOCAL_STATUS]) && !w->crashes[p] && w->heard[p][q];
  bool byzantine = s->config->local[q][LOCAL_STATUS] & STATUS_BYZANTINE;
  const struct type *type = m->roles[model_role_of(m, p)].body[s->config->point].received;
  if (!receives || !type || !(byzantine || environment_corrupts(s->env)))
    return true;
  for (uint64_t i = 0; i < type->count; i++) {
    w->forged = memory_resize_array(w->forged, w->nforged + 1, sizeof *w->forged);
    w->forged[w->nforged++] = (struct forgery){p, q, type_nth(&s->interp->model->values, type, i)};
    bool more = !keep_pair(s, p, q, true) || enumerate_forgeries(s, pair + 1);
    w->nforged--;
    if (!more)
      return false;
  }
  return true;
}

/* The process whose heard-of set is chosen in the i-th place. */
static uint32_t row_process(const struct round_enumeration *s, uint32_t i) {
  uint32_t last = s->filter->last_row;
  return i < last ? i : i + 1 < s->model->nprocesses ? i + 1 : last;
}

/* Pairs that were not decided yet are heard. */
static bool enumerate_heard_of(struct round_enumeration *s, uint32_t pair) {
  uint32_t n = s->model->nprocesses;
  if (pair == n * n)
    return enumerate_forgeries(s, 0);
  uint32_t p = row_process(s, pair / n), q = pair % n;
  if (keep_pair(s, p, q, false) && !enumerate_heard_of(s, pair + 1))
    return false;
  if (!exchange_may_miss(s->exchange, s->env, s->witness, s->reads, p, q))
    return true;
  s->witness->heard[p][q] = 0;
  bool more = !keep_pair(s, p, q, false) || enumerate_heard_of(s, pair + 1);
  s->witness->heard[p][q] = 1;
  return more;
}

/* All messages are computed, or a process failed in sending. */
static bool enumerate_after_sends(struct round_enumeration *s, enum step_result begun,
                                  const struct model_error *error) {
  const struct round_filter *f = s->filter;
  struct witness *w = s->witness;
  const char *why;
  enum round_part part =
      f->sent && begun != STEP_BAD_WITNESS ? f->sent(f->context, w, s->exchange, begun, error) : ROUND_KEEP;
  if (part != ROUND_KEEP)
    return part != ROUND_STOP;
  for (uint32_t p = 0; p < w->nprocesses; p++)
    memset(w->heard[p], begun == STEP_OK, w->nprocesses);
  if (begun == STEP_OK)
    return enumerate_heard_of(s, 0);
  if (begun == STEP_ERROR && !round_allows(s->interp, s->environment, s->config, w, &why))
    return true;
  s->next->lost = s->config->lost; /* independent of what is heard: nothing need be lost */
  s->next->corrupted = s->config->corrupted;
  return s->visit(s->context, w, begun, s->next, error);
}

/* Every script of every sender. */
static bool enumerate_sends(struct round_enumeration *s, uint32_t p) {
  struct witness *w = s->witness;
  const struct model *m = s->model;
  struct model_error error;
  if (p == m->nprocesses) {
    struct message_exchange x;
    enum step_result begun = exchange_begin(&x, s->interp, s->config, w, &error);
    s->exchange = &x;
    bool more = enumerate_after_sends(s, begun, &error);
    exchange_release(&x);
    return more;
  }
  if (!process_active(s->config->local[p][LOCAL_STATUS]))
    return enumerate_sends(s, p + 1);
  struct choices choices = {0};
  struct local_send_list out = {0};
  value *local = local_with_oracles(m, s->config, w, p);
  bool more;
  do {
    struct eval e;
    local_begin(&e, s->interp, p, s->config->point, s->config->phase, local, s->config->globals);
    e.choices = &choices;
    local_sends(&e, &out);
    w->sends[p] = (struct script){(uint32_t)choices.at, choices.taken.at};
    more = enumerate_sends(s, p + 1);
    w->sends[p] = (struct script){0, NULL};
  } while (more && choices_next(&choices));
  memory_free(local);
  memory_free(out.at);
  choices_release(&choices);
  return more;
}

static bool enumerate_crashes(struct round_enumeration *s, uint32_t p) {
  if (p == s->model->nprocesses)
    return enumerate_sends(s, 0);
  s->witness->crashes[p] = false;
  if (!enumerate_crashes(s, p + 1))
    return false;
  if (!environment_clause(s->env, CLAUSE_CRASH) || !process_active(s->config->local[p][LOCAL_STATUS]))
    return true;
  const struct round_filter *f = s->filter;
  s->witness->crashes[p] = true;
  bool more = (f->crash && !f->crash(f->context, s->witness, p)) || enumerate_crashes(s, p + 1);
  s->witness->crashes[p] = false;
  return more;
}

static bool enumerate_oracles(struct round_enumeration *s, uint32_t p, uint32_t var, uint32_t position) {
  const struct model *m = s->model;
  if (p == m->nprocesses)
    return enumerate_crashes(s, 0);
  const struct role *role = &m->roles[model_role_of(m, p)];
  if (var == role->nvars)
    return enumerate_oracles(s, p + 1, 0, 0);
  const struct var *v = &role->vars[var];
  if (v->kind != VAR_ORACLE)
    return enumerate_oracles(s, p, var + 1, position);
  if (!s->witness->oracles[p])
    s->witness->oracles[p] = memory_alloc(role_noracles(role) * sizeof(value));
  if (!oracle_chosen_at(m, v, s->config->point) || !process_active(s->config->local[p][LOCAL_STATUS])) {
    s->witness->oracles[p][position] = s->config->local[p][LOCAL_VAR(var)];
    return enumerate_oracles(s, p, var + 1, position + 1);
  }
  for (uint64_t i = 0; i < v->type->count; i++) {
    s->witness->oracles[p][position] = type_nth(&s->interp->model->values, v->type, i);
    if (!enumerate_oracles(s, p, var + 1, position + 1))
      return false;
  }
  return true;
}

bool round_some_steps(struct interpreter *interp, uint32_t environment, const struct config *c,
                      const struct round_filter *filter, config_step_fn *visit, void *context) {
  struct model *m = interp->model;
  if (c->point == POINT_END)
    return true;
  struct round_enumeration s = {.interp = interp,
                                .model = m,
                                .env = &m->environments[environment],
                                .environment = environment,
                                .config = c,
                                .witness = witness_new(m),
                                .visit = visit,
                                .context = context,
                                .next = config_new(m),
                                .filter = filter};
  s.reads = environment_reads_heard_of(s.env);
  bool more = enumerate_oracles(&s, 0, 0, 0);
  witness_free(s.witness);
  config_free(s.next);
  return more;
}

bool round_all_steps(struct interpreter *interp, uint32_t environment, const struct config *c, config_step_fn *visit,
                     void *context) {
  struct round_filter all = {.last_row = interp->model->nprocesses - 1};
  return round_some_steps(interp, environment, c, &all, visit, context);
}
