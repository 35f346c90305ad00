#include "trace/random_run.h"

#include "base/hash.h"
#include "base/vec.h"
#include "interp/round_step.h"
#include "trace/choice_scripts.h"
#include "trace/random_walk.h"

#include <string.h>

#define START_TRIES 1000
#define STEP_TRIES 300
#define SOME_STEPS 20000 /* how many successors are enumerated when guessing fails */

/* --- initial states --- */

struct reservoir { /* reservoir sampling: each of those seen is equally likely */
  struct random_walk *walker;
  uint64_t seen, most;
  value *globals;
  struct witness *witness;
};

static bool sample_globals(void *context, const value *globals) {
  struct reservoir *s = context;
  if (below(s->walker, ++s->seen) == 0)
    memcpy(s->globals, globals, s->walker->model->nglobals * sizeof *globals);
  return s->seen < s->most;
}

/* Does the state violate the requirement that an input differs between processes? */
static bool clashes(const struct role *role, const value *local, value *const *chosen, uint32_t nchosen) {
  for (uint32_t i = 0; i < role->nvars; i++)
    for (uint32_t p = role->first; role->vars[i].distinct && p < nchosen; p++)
      if (!((chosen[p][LOCAL_STATUS] | local[LOCAL_STATUS]) & STATUS_BYZANTINE) &&
          chosen[p][LOCAL_VAR(i)] == local[LOCAL_VAR(i)])
        return true;
  return false;
}

static bool draw_local(struct random_walk *r, const struct locals *all, uint32_t p, double faulty, value **chosen) {
  const struct model *m = r->model;
  const struct role *role = &m->roles[model_role_of(m, p)];
  bool want_faulty = chance(r, faulty);
  uint64_t seen = 0;
  for (size_t i = 0; i < all->n; i++) {
    const value *local = all->at + i * all->length;
    if ((local[LOCAL_STATUS] != 0) == want_faulty && !clashes(role, local, chosen, p) && below(r, ++seen) == 0)
      memcpy(chosen[p], local, all->length * sizeof *local);
  }
  return seen > 0;
}

static bool draw_locals(struct random_walk *r, const struct locals *all, struct config *c) {
  for (uint32_t try = 0; try < START_TRIES; try++) {
    bool ok = true;
    double faulty = try < START_TRIES / 2 ? 0.3 : 0;
    for (uint32_t p = 0; p < c->nprocesses && ok; p++)
      ok = draw_local(r, &all[p], p, faulty, c->local);
    if (ok && initial_allowed(r->model, r->environment, (const value *const *)c->local))
      return true;
  }
  return false;
}

static struct config *draw_initial(struct random_walk *r, struct text *why) {
  const struct model *m = r->model;
  struct config *c = config_new(m);
  struct model_error error = {.message = "there is no choice of global inputs"};
  struct reservoir s = {.walker = r, .most = SOME_STEPS, .globals = c->globals};
  globals_each(r->interp, sample_globals, &s, &error);
  struct locals *all = memory_alloc((m->nprocesses + 1) * sizeof *all);
  bool ok = s.seen > 0;
  for (uint32_t p = 0; p < m->nprocesses && ok; p++)
    ok = local_initials(r->interp, r->environment, p, c->globals, &all[p], &error);
  if (!ok)
    text_add(why, error.message);
  else if (!draw_locals(r, all, c))
    text_add(why, "no initial state was found");
  for (uint32_t p = 0; p < m->nprocesses; p++)
    locals_release(&all[p]);
  memory_free(all);
  if (why->n == 0)
    return c;
  config_free(c);
  return NULL;
}

/* --- one round --- */

static void draw_oracles(struct random_walk *r, const struct config *c, struct witness *w) {
  struct model *m = r->model;
  bool together = chance(r, 0.5); /* all processes have the same oracle values */
  uint64_t common = draw(r);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    if (!w->oracles[p])
      w->oracles[p] = memory_alloc((role_noracles(role) + 1) * sizeof **w->oracles);
    for (uint32_t i = 0, k = 0; i < role->nvars; i++)
      if (role->vars[i].kind == VAR_ORACLE) {
        const struct type *t = role->vars[i].type;
        uint64_t which = (together ? hash_mix(common, i) : draw(r)) % t->count;
        w->oracles[p][k++] =
            oracle_chosen_at(m, &role->vars[i], c->point) ? type_nth(&m->values, t, which) : c->local[p][LOCAL_VAR(i)];
      }
  }
}

/* Ways to lose messages, from many to none; environments differ in which they allow. */
enum { HEAR_HALF, HEAR_MOST, HEAR_SAME, HEAR_WITH_KERNEL, HEAR_ALL_BUT_FEW, HEAR_ALL, HEAR_WAYS };

static void draw_heard(struct random_walk *r, struct witness *w, unsigned way) {
  uint32_t n = w->nprocesses, kernel = (uint32_t)below(r, n);
  for (uint32_t p = 0; p < n; p++)
    for (uint32_t q = 0; q < n; q++)
      w->heard[p][q] = way == HEAR_SAME && p > 0 ? w->heard[0][q]
                       : way == HEAR_ALL || way == HEAR_ALL_BUT_FEW
                           ? 1
                           : chance(r, way == HEAR_MOST ? 0.8 : 0.6) || (way == HEAR_WITH_KERNEL && q == kernel);
  for (uint64_t few = way == HEAR_ALL_BUT_FEW ? 1 + below(r, n) : 0; few > 0; few--)
    w->heard[below(r, n)][below(r, n)] = 0;
  if (way != HEAR_HALF)
    for (uint32_t p = 0; p < n; p++)
      w->heard[p][p] |= way != HEAR_SAME;
}

static void draw_forgeries(struct random_walk *r, const struct config *c, struct witness *w) {
  struct model *m = r->model;
  bool corrupts = environment_corrupts(&m->environments[r->environment]);
  double often = chance(r, 0.5) ? 0.2 : 0;
  w->nforged = 0;
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct type *t = m->roles[model_role_of(m, p)].body[c->point].received;
    if (!t || t->count == 0 || !process_active(c->local[p][LOCAL_STATUS]) || w->crashes[p])
      continue;
    for (uint32_t q = 0; q < m->nprocesses; q++) {
      bool liar = c->local[q][LOCAL_STATUS] & STATUS_BYZANTINE;
      if (!w->heard[p][q] || !(liar ? chance(r, 0.8) : corrupts && chance(r, often)))
        continue;
      w->forged = memory_resize_array(w->forged, w->nforged + 1, sizeof *w->forged);
      w->forged[w->nforged++] = (struct forgery){p, q, type_nth(&m->values, t, below(r, t->count))};
    }
  }
}

/* --- free choices: each is discovered by running up to it --- */

typedef void script_fn(struct random_walk *, struct choices *, void *context);

static void draw_script(struct random_walk *r, script_fn *run, void *context, struct script *out) {
  struct choices c = {0};
  size_t fixed = 0;
  for (run(r, &c, context); c.at > fixed; run(r, &c, context)) {
    c.taken.at[fixed] = (uint32_t)below(r, c.arity.at[fixed]);
    fixed++;
    c.taken.n = c.arity.n = c.given = fixed;
    c.at = 0;
  }
  script_keep(out, &c);
  choices_release(&c);
}

struct process_round { /* one process's part of the round */
  const struct config *config;
  const struct witness *witness;
  const struct received *received;
  uint32_t process;
};

static void run_sends(struct random_walk *r, struct choices *choices, void *context) {
  const struct process_round *part = context;
  struct eval e;
  struct local_send_list out = {0};
  value *local = local_with_oracles(r->model, part->config, part->witness, part->process);
  local_begin(&e, r->interp, part->process, part->config->point, part->config->phase, local, part->config->globals);
  e.choices = choices;
  local_sends(&e, &out);
  memory_free(out.at);
  memory_free(local);
}

static void run_update(struct random_walk *r, struct choices *choices, void *context) {
  const struct process_round *part = context;
  struct eval e;
  value *local = local_with_oracles(r->model, part->config, part->witness, part->process);
  local_begin(&e, r->interp, part->process, part->config->point, part->config->phase, local, part->config->globals);
  e.choices = choices;
  local_update(&e, part->received);
  memory_free(local);
}

static void draw_send_scripts(struct random_walk *r, const struct config *c, struct witness *w) {
  for (uint32_t p = 0; p < c->nprocesses; p++)
    if (process_active(c->local[p][LOCAL_STATUS]))
      draw_script(r, run_sends, &(struct process_round){.config = c, .witness = w, .process = p}, &w->sends[p]);
}

static void draw_update_scripts(struct random_walk *r, const struct config *c, struct witness *w) {
  struct message_exchange x;
  struct model_error error;
  struct received_entry *entries = memory_alloc((c->nprocesses + 1) * sizeof *entries);
  bool ok = exchange_begin(&x, r->interp, c, w, &error) == STEP_OK;
  for (uint32_t p = 0; p < c->nprocesses && ok; p++) {
    struct received received;
    if (!process_active(c->local[p][LOCAL_STATUS]) || w->crashes[p])
      continue;
    exchange_receive(&x, w, p, entries, &received, NULL);
    struct process_round part = {c, w, &received, p};
    draw_script(r, run_update, &part, &w->updates[p]);
  }
  exchange_release(&x);
  memory_free(entries);
}

static struct witness *guess_step(struct random_walk *r, const struct config *c) {
  const struct environment *env = &r->model->environments[r->environment];
  struct witness *w = witness_new(r->model);
  bool crashes = environment_clause(env, CLAUSE_CRASH) != NULL;
  unsigned first = (unsigned)below(r, HEAR_WAYS);
  for (unsigned try = 0; try < STEP_TRIES; try++) {
    const char *why;
    draw_oracles(r, c, w);
    for (uint32_t p = 0; p < c->nprocesses; p++)
      w->crashes[p] = crashes && try < STEP_TRIES / 2 && chance(r, 0.15) && process_active(c->local[p][LOCAL_STATUS]);
    draw_send_scripts(r, c, w);
    draw_heard(r, w, (first + try) % HEAR_WAYS);
    draw_forgeries(r, c, w);
    if (config_allows(r->interp, r->environment, c, w, &why)) {
      draw_update_scripts(r, c, w);
      return w;
    }
  }
  witness_free(w);
  return NULL;
}

/* --- slow path, if the environment allows none of the guesses: one of the first of all successors --- */

static bool sample_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                        const struct model_error *error) {
  struct reservoir *s = context;
  (void)next;
  (void)error;
  if (result != STEP_BAD_WITNESS && below(s->walker, ++s->seen) == 0) {
    witness_free(s->witness);
    s->witness = witness_copy(s->walker->model, w);
  }
  return s->seen < s->most;
}

static struct witness *draw_round(struct random_walk *r, const struct config *c) {
  struct witness *w = guess_step(r, c);
  if (w)
    return w;
  struct reservoir s = {.walker = r, .most = SOME_STEPS};
  config_successors(r->interp, r->environment, c, sample_step, &s);
  return s.witness;
}

/* A random next step; NULL: there is none. */
static struct witness *draw_step(struct random_walk *r, const struct config *c) {
  if (model_steps(r->model))
    return random_event(r, c);
  return c->point == POINT_END ? NULL : draw_round(r, c);
}

static void say_end(const struct random_walk *r, const struct config *c, uint32_t rounds, struct text *why) {
  const struct model *m = r->model;
  if (model_steps(m))
    text_add(why, "nothing more can happen");
  else if (c->point == POINT_END)
    text_add(why, "the algorithm ends here");
  else
    text_addf(why, "environment '%s' allows nothing in round %u", m->environments[r->environment].name, rounds + 1);
}

bool random_run(struct interpreter *interp, struct model *m, uint32_t environment, uint32_t length, uint64_t seed,
                struct run *run, bool *failed, struct text *why) {
  struct random_walk r = {interp, m, environment, seed};
  *failed = false;
  *run = (struct run){.initial = draw_initial(&r, why)};
  if (!run->initial)
    return false;
  run->steps = memory_alloc((length + (size_t)1) * sizeof *run->steps);
  struct config *at = config_copy(m, run->initial), *next = config_new(m);
  while (!*failed) {
    struct model_error error;
    struct witness *w = run->nsteps < length ? draw_step(&r, at) : NULL;
    if (!w)
      break;
    run->steps[run->nsteps++] = w;
    *failed = config_step(interp, environment, at, w, next, NULL, &error) == STEP_ERROR;
    struct config *swap = at;
    at = next;
    next = swap;
  }
  if (!*failed && (run->nsteps < length || at->point == POINT_END))
    say_end(&r, at, run->nsteps, why);
  config_free(at);
  config_free(next);
  return true;
}
