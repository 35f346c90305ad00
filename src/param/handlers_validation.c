/* Compares the counter system that was derived from message handlers with the interpreter, on instances with few
   processes. What a process has sent and taken is observed from the events, not computed as in the derivation. */
#include "param/handlers_internal.h"

#include "base/intern.h"
#include "base/memory.h"
#include "interp/counter_run.h"
#include "interp/event_step.h"
#include "model/node.h"

#include <inttypes.h>
#include <string.h>

enum { CONFIGS_MAX = 30000, DOOMED_MAX = 10 };

struct process_history { /* what is counted of a process besides its local state */
  content_set sent, partly;
  uint32_t taken;
  bool doomed;
};

struct reached_config {
  struct config *config;
  struct process_history *of; /* by process */
  int64_t *counters;
};

struct handler_validator {
  const struct handler_system *h;
  const struct derivation *dv;
  const struct counter_system *s;
  const struct round_shape *shape;
  uint32_t environment, property;
  const volatile sig_atomic_t *stop;
  struct interpreter *interp;
  const struct model *m;
  struct validation *out;
  int64_t *params;
  struct intern *texts, *known;
  VEC(struct reached_config) reached;
  const struct reached_config *at; /* being expanded */
  bool crashes, live;
  /* groups of fairness at a state */
  VEC(struct fair_group) enabled, resting;
};

static bool is_stopped(const struct handler_validator *v) { return v->stop && *v->stop; }

static bool differ(struct handler_validator *v, const char *what, const int64_t *from, const int64_t *to) {
  struct text *t = &v->out->difference;
  if (t->n)
    return false;
  text_add(t, what);
  for (uint32_t i = 0; i < v->m->nparams; i++)
    text_addf(t, "%s%s = %" PRId64, i ? ", " : " with ", v->m->params[i].name, v->params[i]);
  for (int k = 0; k < 2; k++) {
    const int64_t *at = k ? to : from;
    if (at)
      text_add(t, k ? "\n  after:" : "\n  state:");
    for (uint32_t i = 0; at && i < v->s->ncounters; i++)
      if (at[i])
        text_addf(t, " %s = %" PRId64, v->s->counters[i].name, at[i]);
  }
  return false;
}

/* ---- values of different instances, compared in printed form ---- */

static uint32_t printed(struct handler_validator *v, const struct model *m, const struct type *type, value x) {
  struct text t = {0};
  if (type)
    value_print(&m->values, m, type, x, &t);
  int64_t *key = memory_alloc((t.n + (size_t)1) * sizeof *key);
  for (size_t i = 0; i < t.n; i++)
    key[i] = (unsigned char)t.at[i];
  uint32_t name = intern_put(v->texts, key, t.n);
  memory_free(key);
  text_release(&t);
  return name;
}

static const struct type *type_at(const struct role *role, uint32_t i) {
  if (i <= role->nvars)
    return role->vars[i - 1].type;
  for (uint32_t k = 0; k < role->nvars; k++)
    if (role->vars[k].kind == VAR_INPUT && role_initial_at(role, k) == i)
      return role->vars[k].type;
  return NULL;
}

static bool same_local(struct handler_validator *v, const value *derived, const value *local) {
  const struct role *ours = &v->dv->model->roles[0], *theirs = &v->m->roles[0];
  uint32_t last = v->h->keeps_initial ? v->dv->length : 1 + ours->nvars;
  if (derived[LOCAL_STATUS] != local[LOCAL_STATUS])
    return false;
  for (uint32_t i = 1; i < last; i++)
    if (printed(v, v->dv->model, type_at(ours, i), derived[i]) != printed(v, v->m, type_at(theirs, i), local[i]))
      return false;
  return true;
}

static uint32_t location_of(struct handler_validator *v, const value *local, const struct process_history *of) {
  if (local[LOCAL_STATUS] & STATUS_BYZANTINE)
    return v->h->byzantine;
  for (uint32_t l = 0; l < v->h->locations.n; l++) {
    const struct handler_location *at = &v->h->locations.at[l];
    if (l != v->h->byzantine && at->sent == of->sent && at->partly == of->partly && at->taken == of->taken &&
        at->doomed == of->doomed && same_local(v, v->h->locals.at[at->local], local))
      return l;
  }
  return UINT32_MAX;
}

/* The index of a message of the instance; UINT32_MAX: it was not derived. */
static uint32_t content_of(struct handler_validator *v, uint32_t kind, value message) {
  const struct model *ours = v->dv->model;
  uint32_t name = printed(v, v->m, v->m->messages[kind].type, message);
  for (uint32_t i = 0; i < v->h->contents.n; i++)
    if (v->h->contents.at[i].kind == kind &&
        printed(v, ours, ours->messages[kind].type, v->h->contents.at[i].message) == name)
      return i;
  return UINT32_MAX;
}

/* ---- states ---- */

static bool count_locations(struct handler_validator *v, const struct config *c, const struct process_history *of,
                            int64_t *counters) {
  memset(counters, 0, v->s->ncounters * sizeof *counters);
  for (uint32_t p = 0; p < c->nprocesses; p++) {
    uint32_t l = location_of(v, c->local[p], &of[p]);
    if (l == UINT32_MAX)
      return false;
    counters[v->h->class_of.at[l]]++;
  }
  return true;
}

static bool holds_in(const struct handler_validator *v, const struct term *t, const int64_t *counters) {
  struct counter_values values = {.params = v->params, .counters = counters};
  int64_t x = 0;
  return term_value(t, &values, &x) && x;
}

static bool is_new(struct handler_validator *v, const struct config *c, const struct process_history *of) {
  size_t length = v->dv->length + (size_t)4, n = 0, before = intern_count(v->known);
  int64_t *key = memory_alloc((c->nprocesses * length + 5 * (size_t)c->npackets + 1) * sizeof *key);
  for (uint32_t p = 0; p < c->nprocesses; p++) {
    memcpy(key + n, c->local[p], v->dv->length * sizeof *key);
    n += v->dv->length;
    key[n++] = of[p].sent;
    key[n++] = of[p].partly;
    key[n++] = of[p].taken;
    key[n++] = of[p].doomed;
  }
  for (uint32_t i = 0; i < c->npackets; i++) {
    key[n++] = c->packets[i].from;
    key[n++] = c->packets[i].to;
    key[n++] = c->packets[i].kind;
    key[n++] = c->packets[i].message;
  }
  key[n++] = c->lost;
  intern_put(v->known, key, n);
  memory_free(key);
  return intern_count(v->known) > before;
}

/* ---- the property ---- */

/* Doomed processes are not correct, although they have not crashed yet. */
static enum verdict3 says(struct handler_validator *v, const struct node *n, const struct config *c,
                          const struct process_history *of) {
  struct model_error error;
  struct config *marked = config_copy(v->m, c);
  for (uint32_t p = 0; p < c->nprocesses; p++)
    if (of[p].doomed)
      marked->local[p][LOCAL_STATUS] |= STATUS_CRASHED;
  enum verdict3 result = config_holds(v->interp, n, marked, NULL, &error);
  config_free(marked);
  return result;
}

/* Safety, of the instance: a violation must be unsafe. */
static bool check_safety(struct handler_validator *v, const struct config *c, int64_t *counters) {
  struct model_error error;
  int64_t none = 0;
  struct counter_state state = {counters, &none};
  enum verdict3 holds = config_holds(v->interp, v->m->properties[v->property].formula, c, NULL, &error);
  if (holds == V_ERROR)
    return differ(v, "the property fails in a state", counters, NULL);
  if (holds == V_FALSE && !counter_unsafe(v->s, &v->s->properties[0], v->params, &state))
    return differ(v, "a state violates the property, and its counts are not unsafe", counters, NULL);
  return true;
}

/* Live: the nodes belong to another instance of the model, so the parts about states are found again by their place. */
struct place_of_node {
  struct span at;
  enum op op;
  const struct node *found;
  uint32_t n;
};

static bool find_node(void *context, const struct node *n) {
  struct place_of_node *s = context;
  if (n->op == s->op && n->at.from == s->at.from && n->at.to == s->at.to) {
    s->found = n;
    s->n++;
  }
  return true;
}

static bool check_states(struct handler_validator *v, const struct handler_formula *f, const struct config *c,
                         const struct process_history *of, const int64_t *counters) {
  if (f->op != LIVE_STATE)
    return check_states(v, f->kid[0], c, of, counters) && (!f->kid[1] || check_states(v, f->kid[1], c, of, counters));
  if (!f->node)
    return true;
  struct place_of_node s = {f->node->at, f->node->op, NULL, 0};
  node_walk_deep(v->m, v->m->properties[v->property].formula, find_node, &s);
  if (s.n != 1 || node_has_traits_deep(v->m, s.found, TRAIT_TEMPORAL))
    return true; /* a quantifier that was moved behind a temporal operator is not in the text */
  enum verdict3 holds = says(v, s.found, c, of);
  if (holds == V_ERROR)
    return differ(v, "the property fails in a state", counters, NULL);
  return (holds == V_TRUE) == holds_in(v, f->term, counters) ||
         differ(v, "a part of the property has another value", counters, NULL);
}

/* ---- fairness ---- */

static bool same_group(const struct fair_group *a, const struct fair_group *b) {
  return a->process == b->process && a->action == b->action && a->sender == b->sender && a->message == b->message;
}

static void on_group(void *context, const struct fair_group *g) {
  struct handler_validator *v = context;
  vec_push(&v->enabled, *g);
}

/* Every group that must be taken can be taken without a change: then a fair run can stay here. */
static bool can_stay(const struct handler_validator *v) {
  for (size_t i = 0; i < v->enabled.n; i++) {
    bool rests = false;
    for (size_t k = 0; k < v->resting.n && !rests; k++)
      rests = same_group(&v->enabled.at[i], &v->resting.at[k]);
    if (!rests)
      return false;
  }
  return true;
}

static bool check_last(struct handler_validator *v, const struct reached_config *r) {
  bool doomed = false;
  for (uint32_t p = 0; p < r->config->nprocesses; p++)
    doomed |= r->of[p].doomed && !(r->config->local[p][LOCAL_STATUS] & STATUS_CRASHED);
  vec_clear(&v->enabled);
  config_groups(v->interp, v->environment, r->config, on_group, v);
  if (is_stopped(v) || doomed || !can_stay(v) || holds_in(v, v->h->last, r->counters))
    return true;
  return differ(v, "a fair run can stay in a state, and not in the counter system", r->counters, NULL);
}

/* ---- steps ---- */

static bool moves_to(struct handler_validator *v, const int64_t *from, const int64_t *to) {
  int64_t *next = memory_alloc((v->s->ncounters + (size_t)1) * sizeof *next), none[2] = {0}, amount = 0;
  int64_t *copy = memory_alloc((v->s->ncounters + (size_t)1) * sizeof *copy);
  memcpy(copy, from, v->s->ncounters * sizeof *copy);
  bool found = memcmp(from, to, v->s->ncounters * sizeof *from) == 0;
  for (uint32_t m = 0; m < v->s->nmoves && !found; m++) {
    struct counter_state before = {copy, &none[0]}, after = {next, &none[1]};
    uint32_t a = v->h->moves.at[m].from, b = v->h->moves.at[m].to;
    found = to[a] == from[a] - 1 && to[b] == from[b] + 1 &&
            counter_moves(v->s, m, v->params, &before, &amount, &after) &&
            memcmp(next, to, v->s->ncounters * sizeof *next) == 0;
  }
  memory_free(next);
  memory_free(copy);
  return found;
}

static uint32_t count_pending(const struct config *c, const struct packet *like) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->npackets; i++)
    n += c->packets[i].from == like->from && c->packets[i].to == like->to && c->packets[i].kind == like->kind &&
         c->packets[i].message == like->message;
  return n;
}

/* What the process sent in this step: messages that are pending now and were not, or more often. A message that it
   sends to itself and takes at once cannot be: an action sends after it has taken. */
static bool observe_sent(struct handler_validator *v, const struct event *e, const struct config *next,
                         struct process_history *of) {
  for (uint32_t i = 0; i < next->npackets; i++) {
    const struct packet *p = &next->packets[i];
    if (p->from != e->process || count_pending(next, p) <= count_pending(v->at->config, p))
      continue;
    if (!kind_is_read(&v->m->roles[0], p->kind))
      continue;
    uint32_t content = content_of(v, p->kind, p->message);
    if (content == UINT32_MAX)
      return differ(v, "a message is sent that was not derived", v->at->counters, NULL);
    content_set set = (content_set)1 << content;
    if (e->kind == EVENT_CRASH)
      of->partly |= set & ~of->sent;
    else
      of->sent |= set;
  }
  return true;
}

static bool put_config(struct handler_validator *v, const struct config *c, const struct process_history *of,
                       const int64_t *counters) {
  if (!is_new(v, c, of))
    return true;
  v->out->states++;
  if (v->reached.n >= CONFIGS_MAX) {
    v->out->cut = true;
    return true;
  }
  struct reached_config r = {config_copy(v->m, c), memory_alloc((c->nprocesses + (size_t)1) * sizeof *r.of),
                             memory_alloc((v->s->ncounters + (size_t)1) * sizeof *r.counters)};
  memcpy(r.of, of, c->nprocesses * sizeof *r.of);
  memcpy(r.counters, counters, v->s->ncounters * sizeof *r.counters);
  vec_push(&v->reached, r);
  return true;
}

static bool follow(struct handler_validator *v, const struct event *e, const struct config *next,
                   struct process_history *of, int64_t *counters) {
  const struct action *a = event_action(v->m, e);
  struct process_history *mine = &of[e->process];
  if (e->kind == EVENT_CRASH)
    mine->taken = 0;
  else if (a && action_consumes(a))
    mine->taken |= 1u << a->kind;
  if ((e->kind == EVENT_ACTION || e->kind == EVENT_CRASH) && !observe_sent(v, e, next, mine))
    return false;
  if (!count_locations(v, next, of, counters))
    return differ(v, "a step leads to a local state that was not derived", v->at->counters, NULL);
  if (!moves_to(v, v->at->counters, counters))
    return differ(v, "a step of the algorithm is none of the counter system", v->at->counters, counters);
  v->out->steps++;
  struct fair_group group;
  bool rests = memcmp(v->at->counters, counters, v->s->ncounters * sizeof *counters) == 0; /* only one process acts */
  if (v->live && rests && event_fair_group(v->interp, v->environment, e, &group))
    vec_push(&v->resting, group);
  return (v->live || check_safety(v, next, counters)) && put_config(v, next, of, counters);
}

static bool on_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                    const struct model_error *error) {
  struct handler_validator *v = context;
  const struct event *e = w->event;
  (void)error;
  if (is_stopped(v))
    return false;
  if (result != STEP_OK)
    return differ(v, "the algorithm fails in a step, and the counter system leaves that out", v->at->counters, NULL);
  if (e->kind == EVENT_CRASH && v->live && !v->at->of[e->process].doomed)
    return true; /* this one never crashes */
  struct process_history *of = memory_alloc((next->nprocesses + (size_t)1) * sizeof *of);
  int64_t *counters = memory_alloc((v->s->ncounters + (size_t)1) * sizeof *counters);
  memcpy(of, v->at->of, next->nprocesses * sizeof *of);
  bool ok = follow(v, e, next, of, counters);
  memory_free(of);
  memory_free(counters);
  return ok;
}

/* ---- initial states ---- */

static bool add_initial(struct handler_validator *v, const struct config *c, uint32_t doomed) {
  struct process_history *of = memory_alloc((c->nprocesses + (size_t)1) * sizeof *of);
  int64_t *counters = memory_alloc((v->s->ncounters + (size_t)1) * sizeof *counters), none = 0;
  const struct environment *env = &v->m->environments[v->environment];
  int64_t n = 0, most = 0;
  bool ok = true, possible = true;
  for (uint32_t p = 0; p < c->nprocesses; p++)
    if (doomed >> p & 1) {
      of[p].doomed = true;
      possible &= !(c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE);
      n++;
    }
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CRASH)
      most += env->clauses[i].limit;
  if (possible && n <= most) {
    struct counter_state start = {counters, &none};
    static const struct term yes = {.op = TERM_NUMBER, .number = 1};
    struct counter_property nothing = {.from = (struct term *)&yes, .unsafe = (struct term *)&yes};
    if (!count_locations(v, c, of, counters))
      ok = differ(v, "an initial state has a local state that was not derived", NULL, NULL);
    else if (!counter_starts(v->s, &nothing, v->params, &start))
      ok = differ(v, "an initial state is no start of the counter system", counters, NULL);
    else
      ok = (v->live || check_safety(v, c, counters)) && put_config(v, c, of, counters);
  }
  memory_free(of);
  memory_free(counters);
  return ok;
}

static bool on_initial(void *context, const struct config *c) {
  struct handler_validator *v = context;
  uint32_t all = v->live && v->crashes && c->nprocesses <= DOOMED_MAX ? 1u << c->nprocesses : 1;
  bool ok = !is_stopped(v);
  for (uint32_t doomed = 0; doomed < all && ok; doomed++)
    ok = add_initial(v, c, doomed);
  return ok;
}

/* ---- an instance ---- */

/* All parameters of the system: those of the instance, and quotients that their conditions define. */
static bool fill_params(struct handler_validator *v) {
  for (uint32_t i = 0; i < v->m->nparams; i++)
    v->params[i] = v->m->params[i].value;
  for (uint32_t i = v->m->nparams; i < v->s->nparams; i++) {
    struct counter_values values = {.params = v->params};
    int64_t of = 0;
    bool found = false;
    if (!v->s->params[i].of || !term_value(v->s->params[i].of, &values, &of))
      return false;
    for (int64_t q = of < 0 ? of : 0; q <= (of < 0 ? 0 : of) && !found; q++) {
      v->params[i] = q;
      found = counter_params_hold(v->s, v->shape->open, v->params);
    }
    if (!found)
      return false;
  }
  return counter_params_hold(v->s, v->shape->open, v->params);
}

static void compare_all(struct handler_validator *v) {
  struct model_error error = {0};
  config_initials(v->interp, v->environment, on_initial, v, &error);
  if (error.message)
    differ(v, "the algorithm fails in a first value, and the counter system leaves that out", NULL, NULL);
  for (size_t i = 0; i < v->reached.n && !v->out->difference.n && !is_stopped(v); i++) {
    struct reached_config r = v->reached.at[i];
    v->at = &r;
    vec_clear(&v->resting);
    if (v->live && !check_states(v, v->h->live, r.config, r.of, r.counters))
      return;
    config_successors(v->interp, v->environment, r.config, on_step, v);
    if (v->live && !v->out->difference.n && !is_stopped(v))
      check_last(v, &r);
  }
}

bool handlers_validate(const struct handler_system *h, const struct derivation *dv, const struct round_shape *shape,
                       const struct query *q, struct interpreter *interp, const volatile sig_atomic_t *stop,
                       struct validation *out) {
  struct handler_validator v = {.h = h,
                                .dv = dv,
                                .s = dv->system,
                                .shape = shape,
                                .environment = q->environment,
                                .property = q->properties[0],
                                .stop = stop,
                                .interp = interp,
                                .m = interp->model,
                                .out = out,
                                .live = h->live != NULL};
  v.params = memory_alloc((v.s->nparams + v.m->nparams + (size_t)1) * sizeof *v.params);
  v.texts = intern_new();
  v.known = intern_new();
  for (uint32_t i = 0; i < v.m->environments[v.environment].nclauses; i++)
    v.crashes |= v.m->environments[v.environment].clauses[i].kind == CLAUSE_CRASH;
  interpreter_watch(interp, stop);
  out->instances++;
  if (v.m->nprocesses > out->processes)
    out->processes = v.m->nprocesses;
  if (!fill_params(&v))
    differ(&v, "the conditions on the parameters do not hold in an instance", NULL, NULL);
  else
    compare_all(&v);
  interpreter_watch(interp, NULL);
  for (size_t i = 0; i < v.reached.n; i++) {
    config_free(v.reached.at[i].config);
    memory_free(v.reached.at[i].of);
    memory_free(v.reached.at[i].counters);
  }
  vec_release(&v.reached);
  vec_release(&v.enabled);
  vec_release(&v.resting);
  intern_free(v.texts);
  intern_free(v.known);
  memory_free(v.params);
  return !out->difference.n && !is_stopped(&v);
}
