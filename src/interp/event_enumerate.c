/* Plain enumeration of events: every candidate is applied (event_apply) and checked (event_allowed). There are no
   optimisations, and the same configuration may occur many times. */
#include "interp/event_step.h"
#include "interp/round_step.h"

struct event_enumeration {
  struct interpreter *interp;
  const struct model *model;
  const struct environment *env;
  const struct config *config;
  struct witness *witness;
  struct event *event; /* that of the witness; its arrays are borrowed from below */
  struct config *next;
  config_step_fn *visit;
  void *context;
};

/* One event with given choices, if it is possible and allowed. */
static bool try_once(struct event_enumeration *s, struct choices *choices, struct outbox *out,
                     enum step_result *result) {
  struct model_error error = {0};
  const char *why;
  *result = event_apply(s->interp, s->env, s->config, s->event, choices, out, s->next, NULL, &error);
  if (*result == STEP_BAD_WITNESS)
    return true;
  s->event->script = (struct script){(uint32_t)choices->at, choices->taken.at};
  bool more = !event_allowed(s->interp, s->env, s->config, s->event, *result, s->next, &why) ||
              s->visit(s->context, s->witness, *result, s->next, &error);
  s->event->script = (struct script){0, NULL};
  return more;
}

/* --- crashes in the middle of an action: every subset of its messages --- */

static bool try_crash(struct event_enumeration *s, const struct choices *taken) {
  struct choices choices = {0};
  struct outbox out = {0};
  struct script script = {(uint32_t)taken->at, taken->taken.at};
  enum step_result result;
  choices_give(&choices, &script);
  bool more = try_once(s, &choices, &out, &result);
  choices_release(&choices);
  outbox_release(&out);
  return more;
}

static bool try_parts(struct event_enumeration *s, const struct choices *taken, uint32_t i, size_t nsent) {
  if (interpreter_stopped(s->interp))
    return false;
  if (i == nsent)
    return s->event->nout == 0 || try_crash(s, taken);
  if (!try_parts(s, taken, i + 1, nsent))
    return false;
  s->event->out[s->event->nout++] = i;
  bool more = try_parts(s, taken, i + 1, nsent);
  s->event->nout--;
  return more;
}

static bool try_crashes(struct event_enumeration *s, const struct choices *taken, size_t nsent) {
  if (!environment_clause(s->env, CLAUSE_CRASH) || nsent == 0)
    return true;
  s->event->kind = EVENT_CRASH;
  s->event->out = memory_alloc(nsent * sizeof *s->event->out);
  bool more = try_parts(s, taken, 0, nsent);
  memory_free(s->event->out);
  s->event->out = NULL;
  s->event->kind = EVENT_ACTION;
  return more;
}

/* --- every script of choices --- */

static bool keeps_nothing(const struct event *e) {
  for (uint32_t i = 0; i < e->ntaken; i++)
    if (e->taken[i].kept)
      return false;
  return true;
}

static bool try_event(struct event_enumeration *s) {
  struct choices choices = {0};
  struct outbox out = {0};
  bool more;
  do {
    enum step_result result;
    more = !interpreter_stopped(s->interp) && try_once(s, &choices, &out, &result);
    if (more && result == STEP_OK && s->event->kind == EVENT_ACTION && keeps_nothing(s->event))
      more = try_crashes(s, &choices, out.n);
  } while (more && choices_next(&choices));
  choices_release(&choices);
  outbox_release(&out);
  return more;
}

/* --- every set of messages --- */

/* Each message that is taken may also stay, as a duplicate. */
static bool try_kept(struct event_enumeration *s, const struct action *a, uint32_t i) {
  if (i == s->event->ntaken)
    return try_event(s);
  struct taken_message *t = &s->event->taken[i];
  t->kept = false;
  if (!try_kept(s, a, i + 1))
    return false;
  if (t->forged || !action_consumes(a) || !environment_clause(s->env, CLAUSE_DUPLICATED))
    return true;
  t->kept = true;
  bool more = try_kept(s, a, i + 1);
  t->kept = false;
  return more;
}

static bool try_messages(void *context, const struct inbox_entry *in, uint32_t n) {
  struct event_enumeration *s = context;
  struct event *e = s->event;
  const struct role *role = &s->model->roles[model_role_of(s->model, e->process)];
  e->taken = memory_alloc((n + 1) * sizeof *e->taken);
  e->ntaken = n;
  for (uint32_t i = 0; i < n; i++)
    e->taken[i] = (struct taken_message){in[i].from, in[i].place, in[i].forged, false, in[i].message};
  bool more = try_kept(s, &role->actions[e->action], 0);
  memory_free(e->taken);
  e->taken = NULL;
  e->ntaken = 0;
  return more;
}

struct matching_messages {
  VEC(struct inbox_entry) in; /* by sender, all distinct */
};

static bool already_matching(const struct matching_messages *o, const struct packet *p) {
  for (size_t i = 0; i < o->in.n; i++)
    if (o->in.at[i].from == p->from && o->in.at[i].message == p->message && o->in.at[i].place == p->place)
      return true;
  return false;
}

/* An error in matching is an error of the action. False: stopped. */
static bool consider(struct event_enumeration *s, struct matching_messages *o, struct inbox_entry in) {
  const struct event *e = s->event;
  struct model_error error;
  bool failed;
  if (interpreter_stopped(s->interp))
    return false;
  if (action_matches(s->interp, e->action, e->process, s->config->local[e->process], s->config->globals, &in, &failed,
                     &error))
    vec_push(&o->in, in);
  return !failed || try_messages(s, &in, 1);
}

/* Collects the matching messages out of those pending from a sender or, if it is Byzantine, of those it can forge.
   False: stopped. */
static bool collect_matching(struct event_enumeration *s, struct matching_messages *o, uint32_t from, uint32_t kind) {
  const struct config *c = s->config;
  uint32_t to = s->event->process;
  bool byzantine = c->local[from][LOCAL_STATUS] & STATUS_BYZANTINE;
  for (uint32_t i = 0; i < c->npackets && !byzantine; i++) {
    const struct packet *p = &c->packets[i];
    if (p->from == from && p->to == to && p->kind == kind && p->place != PACKET_IN_TRANSIT && !already_matching(o, p) &&
        !consider(s, o, (struct inbox_entry){from, kind, p->message, p->place, false}))
      return false;
  }
  if (!byzantine || !channel_exists(s->interp, c->globals, from, to))
    return true;
  struct values *values = &s->interp->model->values;
  const struct type *type = s->model->messages[kind].type;
  for (uint64_t i = 0; i < type->count; i++)
    if (!consider(s, o, (struct inbox_entry){from, kind, type_nth(values, type, i), PACKET_DELIVERED, true}))
      return false;
  return true;
}

static bool try_quorums(struct event_enumeration *s, struct matching_messages *o) {
  const struct event *e = s->event;
  struct model_error error;
  int64_t size;
  if (!action_size(s->interp, e->action, e->process, s->config->local[e->process], s->config->globals, &size, &error))
    return try_messages(s, NULL, 0);
  struct inbox inbox = {o->in.at, (uint32_t)o->in.n};
  return action_quorums(s->interp, model_role_of(s->model, e->process), e->action, size, &inbox, try_messages, s);
}

static bool try_action(struct event_enumeration *s, const struct action *a) {
  if (a->trigger == TRIGGER_NONE)
    return try_messages(s, NULL, 0);
  struct matching_messages o = {0};
  bool more = true;
  for (uint32_t q = 0; q < s->model->nprocesses && more; q++)
    more = collect_matching(s, &o, q, a->kind);
  if (more && a->trigger == TRIGGER_QUORUM)
    more = try_quorums(s, &o);
  for (size_t i = 0; i < o.in.n && more && a->trigger == TRIGGER_ONE; i++)
    more = try_messages(s, &o.in.at[i], 1);
  vec_release(&o.in);
  return more;
}

/* --- all events --- */

static void begin_event(struct event_enumeration *s, enum event_kind kind, uint32_t process, uint32_t action) {
  s->event->kind = kind;
  s->event->process = process;
  s->event->action = action;
}

static bool try_faults(struct event_enumeration *s, uint32_t p) {
  begin_event(s, EVENT_CRASH, p, NO_ACTION);
  if (!try_event(s))
    return false;
  begin_event(s, EVENT_RECOVER, p, NO_ACTION);
  return try_event(s);
}

static bool try_process(struct event_enumeration *s, uint32_t p) {
  uint32_t r = model_role_of(s->model, p);
  const struct role *role = &s->model->roles[r];
  for (uint32_t a = 0; a < role->nactions; a++) {
    begin_event(s, EVENT_ACTION, p, a);
    if (action_open(s->model, r, s->config->local[p], a) && !try_action(s, &role->actions[a]))
      return false;
  }
  return try_faults(s, p);
}

static bool try_packet(struct event_enumeration *s, const struct packet *p) {
  struct taken_message one = {p->from, p->place, false, false, p->message};
  s->event->message_kind = p->kind;
  s->event->taken = &one;
  s->event->ntaken = 1;
  begin_event(s, EVENT_DELIVER, p->to, NO_ACTION);
  bool more = try_event(s);
  begin_event(s, EVENT_LOSE, p->to, NO_ACTION);
  more = more && try_event(s);
  s->event->message_kind = 0;
  s->event->taken = NULL;
  s->event->ntaken = 0;
  return more;
}

static struct event_enumeration event_enumeration_begin(struct interpreter *interp, const struct environment *env,
                                                        const struct config *c, config_step_fn *visit, void *context) {
  struct model *m = interp->model;
  struct event_enumeration s = {.interp = interp,
                                .model = m,
                                .env = env,
                                .config = c,
                                .witness = witness_new(m),
                                .next = config_new(m),
                                .visit = visit,
                                .context = context};
  s.event = s.witness->event;
  return s;
}

static void event_enumeration_end(struct event_enumeration *s) {
  witness_free(s->witness);
  config_free(s->next);
}

static bool try_packets(struct event_enumeration *s, uint32_t to) {
  const struct config *c = s->config;
  bool more = true;
  for (uint32_t i = 0; i < c->npackets && more; i++)
    if ((to == UINT32_MAX || c->packets[i].to == to) &&
        packet_find(c, &c->packets[i]) == i) /* equal packets are tried once */
      more = try_packet(s, &c->packets[i]);
  return more;
}

bool event_all_steps(struct interpreter *interp, uint32_t environment, const struct config *c, config_step_fn *visit,
                     void *context) {
  struct event_enumeration s =
      event_enumeration_begin(interp, &interp->model->environments[environment], c, visit, context);
  bool more = true;
  for (uint32_t p = 0; p < s.model->nprocesses && more; p++)
    more = try_process(&s, p);
  more = more && try_packets(&s, UINT32_MAX);
  event_enumeration_end(&s);
  return more;
}

bool event_steps_of(struct interpreter *interp, uint32_t environment, const struct config *c, uint32_t p,
                    uint32_t action, config_step_fn *visit, void *context) {
  return event_steps_in(interp, &interp->model->environments[environment], c, p, action, visit, context);
}

bool event_steps_in(struct interpreter *interp, const struct environment *env, const struct config *c, uint32_t p,
                    uint32_t action, config_step_fn *visit, void *context) {
  struct event_enumeration s = event_enumeration_begin(interp, env, c, visit, context);
  uint32_t r = model_role_of(s.model, p);
  bool more = true;
  if (action == NO_ACTION) {
    more = try_faults(&s, p) && try_packets(&s, p);
  } else if (action_open(s.model, r, c->local[p], action)) {
    begin_event(&s, EVENT_ACTION, p, action);
    more = try_action(&s, &s.model->roles[r].actions[action]);
  }
  event_enumeration_end(&s);
  return more;
}
