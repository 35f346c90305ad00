/* Turns a path of the local mode into a run of lockstep rounds and the order in which processes go through them.
   Processes that lag behind continue with arbitrary steps until all rounds are complete. */
#include "async/async_local.h"

#include "interp/round_step.h"

#include <string.h>

struct round_end { /* how a process ended a round */
  bool done, crash;
  uint32_t heard;
  local_id after;
};

struct async_local_replay {
  struct async_system *system;
  struct async_local_state *at, *next;
  uint32_t base;                    /* the number of the window's first round */
  VEC(struct round_end) round_ends; /* [round * n + process] */
  VEC(uint32_t) sent;               /* likewise: its sends */
  struct async_local_step step,
      before[ASYNC_LOCAL_ROUNDS]; /* the step to next; the invisible steps fused with it, the last one first */
  uint32_t nbefore;
  const struct state *target;   /* NULL: any */
  const struct path_goal *goal; /* of the last step; NULL: another step */
  bool found;
};

static void room_for(struct async_local_replay *f, uint32_t round) {
  struct round_end none = {0};
  while (f->sent.n < (size_t)(round + 1) * f->system->n) {
    vec_push(&f->sent, SENT_IRRELEVANT);
    vec_push(&f->round_ends, none);
  }
}

/* Records the step, the fused steps before it first. `round` is that of the process; returns its next round. */
static uint32_t note_step(struct async_local_replay *f, const struct async_local_step *step, uint32_t round) {
  uint32_t n = f->system->n;
  if (step->before)
    round = note_step(f, step->before, round);
  room_for(f, round + 1);
  f->round_ends.at[(size_t)round * n + step->process] = (struct round_end){true, step->crash, step->heard, step->after};
  f->sent.at[(size_t)(round + 1) * n + step->process] = step->sent;
  f->base += step->shift;
  return round + 1;
}

static bool same_state(const struct state *a, const struct state *b) {
  return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}

static bool start_here(void *context, struct async_local_state *l) {
  struct async_local_replay *f = context;
  struct state state = async_local_encode(f->system, l);
  if (!same_state(&state, f->target))
    return true;
  async_local_assign(f->at, l);
  room_for(f, 0);
  for (uint32_t p = 0; p < f->system->n; p++)
    f->sent.at[p] = l->sent[0][p];
  f->found = true;
  return false;
}

static bool follow(void *context, const struct async_local_step *step, const struct async_local_state *next) {
  struct async_local_replay *f = context;
  bool idle = !f->target && next->local[step->process] == f->at->local[step->process];
  if (f->goal && f->goal->kind == GOAL_BROKEN_STEP && !(step->broken >> f->goal->property & 1))
    return true;
  if (f->target) {
    struct state state = async_local_encode(f->system, next);
    if (!same_state(&state, f->target))
      return true;
  } else if (f->found && (!idle || step->crash)) {
    return true; /* any step is correct; prefer one that changes nothing, so that loops stay loops */
  }
  async_local_assign(f->next, next);
  f->step = *step;
  f->nbefore = 0;
  for (struct async_local_step *at = &f->step; at->before; at = &f->before[f->nbefore++]) {
    f->before[f->nbefore] = *at->before;
    at->before = &f->before[f->nbefore];
  }
  f->found = true;
  return !f->target && !idle;
}

static bool replay_step(struct async_local_replay *f, uint32_t p) {
  f->found = false;
  if (p != UINT32_MAX)
    async_local_steps(f->system, f->at, p, follow, f);
  for (uint32_t q = 0; q < f->system->n && p == UINT32_MAX && !f->found; q++)
    async_local_fused_steps(f->system, f->at, q, follow, f);
  if (!f->found)
    return false;
  note_step(f, &f->step, f->base + f->at->done[f->step.process]);
  struct async_local_state *was = f->at;
  f->at = f->next;
  f->next = was;
  return true;
}

/* All processes advance to that round. */
static bool complete_rounds(struct async_local_replay *f, uint32_t round) {
  struct async_system *s = f->system;
  f->target = NULL;
  f->goal = NULL;
  while (true) {
    uint32_t last = UINT32_MAX;
    for (uint32_t p = 0; p < s->n; p++)
      if (async_local_live(s, f->at, p) && f->base + f->at->done[p] < round &&
          (last == UINT32_MAX || f->at->done[p] < f->at->done[last]))
        last = p;
    if (last == UINT32_MAX)
      return true;
    if (!replay_step(f, last))
      return false;
  }
}

/* --- lockstep rounds --- */

static bool find_send(struct async_system *s, const struct config *c, uint32_t p, uint32_t sent, struct witness *w) {
  struct choices choices = {0};
  struct local_send_list out = {0};
  bool found = false;
  value *local = memory_alloc(s->interp->max_local * sizeof *local);
  do {
    struct eval e;
    memcpy(local, c->local[p], role_local_length(&s->model->roles[model_role_of(s->model, p)]) * sizeof *local);
    local_begin(&e, s->interp, p, c->point, c->phase, local, c->globals);
    e.choices = &choices;
    found = local_sends(&e, &out) &&
            (sent == SENT_IRRELEVANT || local_send_lists_equal(&out, &s->rounds->local.round_sends.at[sent]));
    if (found)
      script_keep(&w->sends[p], &choices);
  } while (!found && choices_next(&choices));
  memory_free(local);
  memory_free(out.at);
  choices_release(&choices);
  return found;
}

static bool find_update(struct async_system *s, const struct message_exchange *x, uint32_t p, local_id after,
                        struct witness *w) {
  const struct config *c = x->config;
  uint32_t role = model_role_of(s->model, p), next = s->model->points[c->point].next;
  struct received_entry *entries = memory_alloc((s->n + 1) * sizeof *entries);
  struct choices choices = {0};
  struct received r;
  value *local = memory_alloc(s->interp->max_local * sizeof *local);
  bool found = false;
  exchange_receive(x, w, p, entries, &r, NULL);
  do {
    struct eval e;
    memcpy(local, x->local[p], role_local_length(&s->model->roles[role]) * sizeof *local);
    local_begin(&e, s->interp, p, c->point, c->phase, local, c->globals);
    e.choices = &choices;
    found = local_update(&e, &r) && local_drop_dead(s->pack, local_put(s->pack, role, local), next) == after;
    if (found)
      script_keep(&w->updates[p], &choices);
  } while (!found && choices_next(&choices));
  memory_free(local);
  memory_free(entries);
  choices_release(&choices);
  return found;
}

static bool hear(struct async_local_replay *f, const struct message_exchange *x, uint32_t round, struct witness *w) {
  struct async_system *s = f->system;
  const struct config *c = x->config;
  uint32_t present = 0, set;
  for (uint32_t p = 0; p < s->n; p++)
    present |= (uint32_t)process_active(c->local[p][LOCAL_STATUS]) << p;
  for (uint32_t p = 0; p < s->n; p++) {
    const struct round_end *d = &f->round_ends.at[(size_t)round * s->n + p];
    uint32_t senders = 0;
    for (uint32_t q = 0; q < s->n && d->done && !d->crash; q++) {
      const struct local_send *m;
      struct model_error ignored;
      if (exchange_message(x, q, p, &m, &ignored) && m)
        senders |= 1u << q;
    }
    if (!async_local_heard_of(s, c->point, c->rounds, f->at->globals, p, present, senders, d->heard & senders, &set))
      return false;
    for (uint32_t q = 0; q < s->n; q++)
      w->heard[p][q] = set >> q & 1;
    w->crashes[p] = d->crash;
  }
  return true;
}

static bool lockstep_round(struct async_local_replay *f, const struct config *c, uint32_t round, struct witness *w,
                           struct config *next) {
  struct async_system *s = f->system;
  struct model_error error;
  struct message_exchange x;
  bool ok = true;
  for (uint32_t p = 0; p < s->n && ok; p++)
    if (process_active(c->local[p][LOCAL_STATUS]))
      ok = find_send(s, c, p, f->sent.at[(size_t)round * s->n + p], w);
  if (!ok)
    return false;
  ok = exchange_begin(&x, s->interp, c, w, &error) == STEP_OK && hear(f, &x, round, w);
  for (uint32_t p = 0; p < s->n && ok; p++) {
    const struct round_end *d = &f->round_ends.at[(size_t)round * s->n + p];
    if (process_active(c->local[p][LOCAL_STATUS]) && !d->crash)
      ok = d->done && find_update(s, &x, p, d->after, w);
  }
  exchange_release(&x);
  return ok && config_step(s->interp, s->base.query->environment, c, w, next, NULL, &error) == STEP_OK;
}

static bool lockstep_rounds(struct async_local_replay *f, const struct config *start, uint32_t rounds,
                            struct run *run) {
  struct async_system *s = f->system;
  struct config *at = config_copy(s->model, start), *next = config_new(s->model);
  bool ok = true;
  run->steps = memory_alloc((rounds + 1) * sizeof *run->steps);
  for (uint32_t r = 0; r < rounds && ok; r++) {
    struct witness *w = witness_new(s->model);
    ok = lockstep_round(f, at, r, w, next);
    run->steps[run->nsteps++] = w;
    struct config *was = at;
    at = next;
    next = was;
  }
  config_free(at);
  config_free(next);
  return ok;
}

bool async_local_concretise(struct async_system *s, const struct config *start, const struct state *path, uint32_t n,
                            const struct path_goal *goal, struct run *run) {
  struct async_local_replay f = {
      .system = s, .at = memory_alloc(sizeof *f.at), .next = memory_alloc(sizeof *f.next), .target = &path[0]};
  struct unpacked_state *g = global_new(s->pack);
  global_from_config(s->pack, start, g);
  for (uint32_t p = 0; p < g->n; p++)
    g->at[p].local = local_at_start(s->pack, g->at[p].local);
  async_local_start(s, g, start_here, &f);
  global_free(g);
  bool ok = f.found && goal->kind != GOAL_ERROR;
  for (uint32_t i = 1; i < n && ok; i++) {
    f.target = &path[i];
    f.goal = i + 1 == n ? goal : NULL;
    async_local_state_view(s, f.at, s->view);
    ok = replay_step(&f, UINT32_MAX);
    run->order = memory_resize_array(run->order, run->norder + f.nbefore + 1, sizeof *run->order);
    for (uint32_t k = 0; k <= f.nbefore; k++)
      run->order[run->norder++] = f.step.process;
  }
  uint32_t rounds = f.base + f.at->width;
  ok = ok && complete_rounds(&f, rounds) && lockstep_rounds(&f, start, rounds, run);
  vec_release(&f.round_ends);
  vec_release(&f.sent);
  memory_free(f.at);
  memory_free(f.next);
  return ok;
}
