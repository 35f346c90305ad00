/* One step: a nondeterministic choice of an event. The state after it merges the results of all possible events. */
#include "symbolic/encode.h"

#include "interp/config.h"

#include <string.h>

struct step_encoder {
  struct encoder *e;
  const struct sym_state *before;
  struct sym_step *step;
  truth it;       /* the current event happens */
  VEC(truth) may; /* by event: possible, and ends without an error */
  VEC(struct sym_event) events;
  truth fails;
};

/* ---- which event ---- */

/* Events are numbered in order of creation. Their number is known only at the end, so each has its own truth
   variable. */
static truth event_begin(struct step_encoder *h, uint32_t process, uint32_t action) {
  h->it = truth_new(&h->e->t, "event");
  arena_push(&h->e->arena, &h->events, ((struct sym_event){process, action, h->it}));
  return h->it;
}

static void end(struct step_encoder *h, truth possible, truth error) {
  struct terms *t = &h->e->t;
  truth happens = expr_and(&t->graph, h->it, possible);
  h->fails = expr_or(&t->graph, h->fails, expr_and(&t->graph, happens, error));
  arena_push(&h->e->arena, &h->may,
             expr_or(&t->graph, expr_not(&t->graph, h->it), expr_and(&t->graph, possible, expr_not(&t->graph, error))));
}

/* Removes the last event, on which nothing depends yet. */
static void event_drop(struct step_encoder *h) {
  h->events.n--;
  terms_fact(&h->e->t, expr_not(&h->e->t.graph, h->it));
}

/* ---- actions ---- */

static bool begins_with_start(const struct role *role) {
  return !strcmp(role->vars[role->point_var].type->labels[0], "start");
}

static truth action_at_its_point(struct encoder *e, const struct sym_process *of, const struct role *role,
                                 const struct action *a) {
  struct terms *t = &e->t;
  truth open = sym_process_active(&e->l, of);
  if (role->point_var != NO_VAR) {
    struct number at = of->vars[role->point_var]->number;
    if (a->point != ANY_POINT)
      open = expr_and(&t->graph, open, number_is(&t->graph, at, a->point));
    else if (begins_with_start(role))
      open = expr_and(&t->graph, open, expr_not(&t->graph, number_is(&t->graph, at, 0)));
  }
  if (a->once != NO_SLOT)
    open = expr_and(&t->graph, open, expr_not(&t->graph, of->vars[a->once]->truth));
  return open;
}

static truth crashes_allowed(struct encoder *e, const struct sym_state *s, uint32_t p) {
  uint32_t n = e->l.model->nprocesses;
  truth *down = arena_array(&e->arena, n + (size_t)1, sizeof *down);
  for (uint32_t q = 0; q < n; q++)
    down[q] = q == p ? EXPR_TRUE : expr_or(&e->t.graph, s->of[q].crashed, s->of[q].recovered);
  return expr_and(&e->t.graph, sym_process_active(&e->l, &s->of[p]),
                  faults_limited(&e->l, &e->l.model->environments[e->environment], CLAUSE_CRASH, down, false));
}

static bool may_crash(const struct encoder *e, uint32_t p) {
  const struct environment *env = &e->l.model->environments[e->environment];
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == CLAUSE_CRASH && c->limit > 0 && (c->role == ROLE_ANY || c->role == model_role_of(e->l.model, p)))
      return true;
  }
  return false;
}

static truth duplicates_allowed(struct encoder *e, const struct sym_state *s, struct number kept, struct number *sum) {
  const struct environment *env = &e->l.model->environments[e->environment];
  truth ok = EXPR_TRUE;
  *sum = lower_sum(&e->l, s->duplicated, kept);
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_DUPLICATED && env->clauses[i].limit < INT64_MAX)
      ok = expr_and(&e->t.graph, ok, number_at_most(&e->t.graph, *sum, number_of(env->clauses[i].limit)));
  return expr_or(&e->t.graph, number_is(&e->t.graph, kept, 0), ok);
}

/* Merges the result of the event into the state after the step: it counts if the event happens. */
static void merge_process(struct step_encoder *h, uint32_t p, struct sym_value **vars, truth halted) {
  struct encoder *e = h->e;
  struct sym_process *next = &h->step->after->of[p];
  for (uint32_t i = 0; i < e->l.model->roles[model_role_of(e->l.model, p)].nvars; i++)
    next->vars[i] = sym_ite(&e->l, h->it, vars[i], next->vars[i]);
  next->halted = expr_or(&e->t.graph, next->halted, expr_and(&e->t.graph, h->it, halted));
}

static void merge_globals(struct step_encoder *h, struct sym_value **globals) {
  for (uint32_t i = 0; i < h->e->l.model->nglobals; i++)
    h->step->after->globals[i] = sym_ite(&h->e->l, h->it, globals[i], h->step->after->globals[i]);
}

static void crash_process(struct step_encoder *h, uint32_t p) {
  struct terms *t = &h->e->t;
  struct sym_process *next = &h->step->after->of[p];
  next->crashed = expr_or(&t->graph, next->crashed, h->it);
  next->recovered = expr_and(&t->graph, next->recovered, expr_not(&t->graph, h->it));
}

/* A crash during the action: some of its messages are sent, and the action has no other effect. */
static void crash_in_action(struct step_encoder *h, const struct scope *s, const struct sym_state *after,
                            truth possible) {
  struct encoder *e = h->e;
  size_t n = s->posted.n;
  uint32_t action = h->events.at[h->events.n - 1].action;
  if (n == 0 || !may_crash(e, s->me))
    return;
  truth *out = arena_array(&e->arena, n + 1, sizeof *out), *sent = arena_array(&e->arena, n + 1, sizeof *sent);
  event_begin(h, s->me, action);
  for (size_t i = 0; i < n; i++) {
    out[i] = truth_new(&e->t, "out");
    sent[i] = expr_and(&e->t.graph, out[i], s->posted.at[i].when);
  }
  struct sym_state left = *h->before; /* the received messages are still pending */
  left.of = h->step->after->of;
  encode_sends(e, &left, s, EXPR_TRUE, out);
  truth bounded = expr_and(&e->t.graph, channels_bounded(e, after), channels_bounded(e, &left));
  possible = truth_all(&e->t.graph,
                       (truth[]){possible, crashes_allowed(e, h->before, s->me), bounded,
                                 truth_any(&e->t.graph, sent, n), expr_not(&e->t.graph, s->error)},
                       5);
  crash_process(h, s->me);
  encode_sends(e, h->step->after, s, h->it, out);
  end(h, possible, EXPR_FALSE);
}

static void take_action(struct step_encoder *h, uint32_t p, uint32_t number) {
  struct encoder *e = h->e;
  struct terms *t = &e->t;
  const struct role *role = &e->l.model->roles[model_role_of(e->l.model, p)];
  const struct action *a = &role->actions[number];
  truth open = action_at_its_point(e, &h->before->of[p], role, a);
  struct scope s;
  struct sym_taken sym_taken;
  if (open == EXPR_FALSE)
    return;
  scope_of_process(&s, &e->l, h->before, p);
  e->l.at = a->at;
  event_begin(h, p, number);
  scope_narrow(&s, open);
  truth taken = encode_receive(&s, h->before, a, &sym_taken);
  scope_narrow(&s, taken);
  truth guard = taken == EXPR_FALSE ? EXPR_FALSE : lower_guard(&s, &a->guard);
  if (guard == EXPR_FALSE && s.error == EXPR_FALSE) {
    event_drop(h);
    return;
  }
  scope_narrow(&s, guard);
  if (role->point_var != NO_VAR && a->next != ANY_POINT)
    s.vars[role->point_var] = sym_number(&e->l, number_of(a->next));
  if (a->once != NO_SLOT)
    s.vars[a->once] = sym_truth(&e->l, EXPR_TRUE);
  if (guard != EXPR_FALSE)
    lower_block(&s, &a->body);
  struct number duplicated = h->before->duplicated;
  truth ready = truth_all(&t->graph, (truth[]){open, taken, guard}, 3);
  truth kept = duplicates_allowed(e, h->before, sym_taken.kept, &duplicated);
  /* the result of this action alone, to check the channel bounds */
  struct sym_state after = *h->before;
  after.packets = sym_taken.packets;
  encode_sends(e, &after, &s, EXPR_TRUE, NULL);
  truth roomy = expr_or(&t->graph, s.error, channels_bounded(e, &after));
  truth possible = truth_all(&t->graph, (truth[]){expr_or(&t->graph, ready, s.error), kept, roomy}, 3);
  for (uint32_t i = 0; i < h->before->npackets; i++) {
    struct sym_packet *packet = &h->step->after->packets[i];
    if (sym_taken.packets[i].pending != h->before->packets[i].pending)
      packet->pending = expr_ite(&t->graph, h->it, sym_taken.packets[i].pending, packet->pending);
  }
  merge_process(h, p, s.vars, s.halted);
  merge_globals(h, s.globals);
  h->step->after->duplicated = number_if(&t->graph, h->it, duplicated, h->step->after->duplicated);
  encode_sends(e, h->step->after, &s, h->it, NULL);
  end(h, possible, s.error);
  crash_in_action(h, &s, &after, ready);
}

/* ---- other events ---- */

static void crash(struct step_encoder *h, uint32_t p) {
  truth possible = may_crash(h->e, p) ? crashes_allowed(h->e, h->before, p) : EXPR_FALSE;
  if (possible == EXPR_FALSE)
    return;
  event_begin(h, p, NO_ACTION);
  crash_process(h, p);
  end(h, possible, EXPR_FALSE);
}

static bool survives(enum var_kind kind) { return kind == VAR_INPUT || kind == VAR_STABLE || kind == VAR_GHOST; }

static void recover(struct step_encoder *h, uint32_t p) {
  struct encoder *e = h->e;
  const struct role *role = &e->l.model->roles[model_role_of(e->l.model, p)];
  uint32_t n = e->l.model->nprocesses;
  truth *back = arena_array(&e->arena, n + (size_t)1, sizeof *back);
  struct scope s;
  for (uint32_t q = 0; q < n; q++)
    back[q] = q == p ? EXPR_TRUE : h->before->of[q].recovered;
  truth possible = expr_and(&e->t.graph, h->before->of[p].crashed,
                            faults_limited(&e->l, &e->l.model->environments[e->environment], CLAUSE_CRASH, back, true));
  if (possible == EXPR_FALSE)
    return;
  event_begin(h, p, NO_ACTION);
  scope_of_process(&s, &e->l, h->before, p);
  scope_narrow(&s, possible);
  for (uint32_t i = 0; i < role->nvars; i++)
    if (!survives(role->vars[i].kind))
      s.vars[i] = encode_first_value(&s, &role->vars[i], role->vars[i].name);
  if (role->point_var != NO_VAR && begins_with_start(role))
    s.vars[role->point_var] = sym_number(&e->l, number_of(1));
  merge_process(h, p, s.vars, EXPR_FALSE);
  struct sym_process *next = &h->step->after->of[p];
  next->crashed = expr_and(&e->t.graph, next->crashed, expr_not(&e->t.graph, h->it));
  next->recovered = expr_or(&e->t.graph, next->recovered, h->it);
  end(h, possible, s.error);
}

/* Losing messages: any that are pending. */
static void lose(struct step_encoder *h) {
  struct encoder *e = h->e;
  struct terms *t = &e->t;
  const struct environment *env = &e->l.model->environments[e->environment];
  struct number sum = lower_sum(&e->l, h->before->lost, number_of(1));
  truth allowed = expr_truth(clause_of_kind(env, CLAUSE_LOST) != NULL);
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_LOST && env->clauses[i].limit < INT64_MAX)
      allowed = expr_and(&t->graph, allowed, number_at_most(&t->graph, sum, number_of(env->clauses[i].limit)));
  for (uint32_t i = 0; i < h->before->npackets && allowed != EXPR_FALSE; i++) {
    const struct sym_packet *p = &h->before->packets[i];
    struct sym_packet *next = &h->step->after->packets[i];
    truth possible = expr_and(&t->graph, allowed, p->pending);
    if (possible == EXPR_FALSE)
      continue;
    event_begin(h, p->to, NO_ACTION);
    next->pending = expr_and(&t->graph, next->pending, expr_not(&t->graph, h->it));
    h->step->after->lost = number_if(&t->graph, h->it, sum, h->step->after->lost);
    end(h, possible, EXPR_FALSE);
  }
}

static struct sym_state *copy_state(struct encoder *e, const struct sym_state *s) {
  const struct model *m = e->l.model;
  struct sym_state *next = arena_copy(&e->arena, s, sizeof *s);
  next->globals = arena_array(&e->arena, m->nglobals + (size_t)1, sizeof *next->globals);
  memcpy(next->globals, s->globals, m->nglobals * sizeof *next->globals);
  next->of = arena_copy(&e->arena, s->of, (m->nprocesses + (size_t)1) * sizeof *s->of);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    uint32_t n = m->roles[model_role_of(m, p)].nvars;
    next->of[p].vars = arena_array(&e->arena, n + (size_t)1, sizeof *next->of[p].vars);
    memcpy(next->of[p].vars, s->of[p].vars, n * sizeof *next->of[p].vars);
  }
  next->packets = arena_array(&e->arena, s->npackets + (size_t)1, sizeof *next->packets);
  if (s->npackets)
    memcpy(next->packets, s->packets, s->npackets * sizeof *next->packets);
  return next;
}

/* Drops packets that are certainly not pending any more. */
static void remove_consumed_packets(struct sym_state *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->npackets; i++)
    if (s->packets[i].pending != EXPR_FALSE)
      s->packets[n++] = s->packets[i];
  s->npackets = n;
}

/* Asserts, as facts, that exactly one event happens. False if there are no events. */
static truth one_of(struct step_encoder *h) {
  struct terms *t = &h->e->t;
  if (h->events.n == 0)
    return EXPR_FALSE;
  struct number chosen = number_new(t, "step", 0, (int64_t)h->events.n - 1);
  for (size_t i = 0; i < h->events.n; i++)
    terms_fact(t, expr_equal(&t->graph, h->events.at[i].it, number_is(&t->graph, chosen, (int64_t)i)));
  return EXPR_TRUE;
}

struct sym_step *encode_step(struct encoder *e, const struct sym_state *s) {
  struct step_encoder h = {.e = e, .before = s, .fails = EXPR_FALSE};
  if (e->semantics != SEMANTICS_M && e->semantics != SEMANTICS_INTERLEAVING)
    lower_refuse(&e->l, (struct span){0, 0}, "semantics '%s', only 'm'", semantics_name(e->semantics));
  h.step = arena_alloc(&e->arena, sizeof *h.step);
  h.step->before = s;
  h.step->after = copy_state(e, s);
  for (uint32_t p = 0; p < e->l.model->nprocesses; p++) {
    uint32_t actions = e->l.model->roles[model_role_of(e->l.model, p)].nactions;
    for (uint32_t a = 0; a < actions; a++)
      take_action(&h, p, a);
    crash(&h, p);
    recover(&h, p);
  }
  lose(&h);
  if (!e->prefix && e->l.model->kind == MODEL_MESSAGES)
    normalise_packets(e, h.step->after);
  else
    remove_consumed_packets(h.step->after);
  truth one = one_of(&h);
  h.step->allowed = expr_and(&e->t.graph, one, truth_all(&e->t.graph, h.may.at, h.may.n));
  h.step->fails = expr_and(&e->t.graph, one, h.fails);
  h.step->events = h.events.at;
  h.step->nevents = (uint32_t)h.events.n;
  return h.step;
}
