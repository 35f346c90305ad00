/* Lookahead: breadth-first search over the interpreter's successors, from one configuration. */
#include "session/session_internal.h"

#include "base/intern.h"
#include "interp/async_round.h"
#include "interp/local.h"
#include "session/state_keys.h"
#include "trace/trace.h"

#include <string.h>

#define STATES_MAX 1000000

/* Asynchronous rounds: what the rounds that are fixed have in store for each process, from its own round on. It matters
   whom it still has to wait for. */
static void async_key(const struct session *s, const struct future_fields *r, key_vec *key) {
  const struct async_run *run = s->path.async;
  config_key(s, r, run->at.at[run->nrounds], key);
  for (uint32_t p = 0; p < run->n; p++) {
    bool active = process_active(run->at.at[run->done[p]]->local[p][LOCAL_STATUS]);
    vec_push(key, active ? (int64_t)(run->nrounds - run->done[p]) : -1);
    local_key(&s->model, run->at.at[run->done[p]], p, key);
    for (uint32_t round = run->done[p]; round < run->nrounds && active; round++) {
      uint64_t waits = run->messages.at[(size_t)round * run->n + p];
      for (uint32_t q = 0; q < run->n; q++)
        waits &= ~((uint64_t)(run->done[q] >= round) << q);
      vec_push(key, (int64_t)waits);
      local_key(&s->model, run->at.at[round + 1], p, key);
    }
  }
}

/* --- the search --- */

struct lookahead_node {
  struct config *config; /* NULL after it was expanded */
  size_t parent;
  uint64_t choice, depth;
  /* Asynchronous rounds: the step to this node, as async_run needs it. These live as long as the search. */
  uint32_t process;
  struct config *fixed; /* NULL: it fixes no round */
  uint64_t *messages;
};

struct lookahead_search {
  struct session *session;
  const struct property *property; /* NULL: the goal is an error of the model */
  struct future_fields relevant;
  uint64_t states_most, first_choice;
  struct intern *seen;
  key_vec key;
  VEC(struct lookahead_node) nodes; /* nodes.at[0] is the start */
  size_t at;                        /* the node being expanded */
  VEC(size_t) entered; /* asynchronous rounds: the nodes after the start that path.async has gone through */
  bool found, full, errors;
  uint64_t found_choice; /* the choice at node `at` that leads to the goal */
};

/* Is this state, or the step to it, the goal? */
static bool is_goal(struct lookahead_search *b, const struct config *before, const struct config *c) {
  const struct property *p = b->property;
  struct model_error ignored;
  if (!p || (p->step && !before))
    return false;
  enum verdict3 v = property_evaluate(b->session->interp, p, before, c, &ignored);
  b->errors |= v == V_ERROR;
  return v == (p->kind == PROPERTY_COVER ? V_TRUE : V_FALSE);
}

/* Does the scope of the property end in this state? */
static bool is_last(struct lookahead_search *b, const struct config *c) {
  return b->property && property_ends(b->session->interp, b->property, c);
}

/* Asynchronous rounds: path.async is at this state. */
static bool is_new(struct lookahead_search *b, const struct config *c) {
  size_t before = intern_count(b->seen);
  if (b->session->path.async)
    async_key(b->session, &b->relevant, &b->key);
  else
    config_key(b->session, &b->relevant, c, &b->key);
  intern_put(b->seen, b->key.at, b->key.n);
  return intern_count(b->seen) > before;
}

static bool leads_to_new(struct lookahead_search *b, const struct numbered_choice *c) {
  struct async_run *run = b->session->path.async;
  const char *why;
  if (run)
    async_run_end_round(run, c->process, &why);
  bool found = is_new(b, c->after);
  if (run)
    async_run_undo(run, c->process);
  return found;
}

static void add_node(struct lookahead_search *b, const struct numbered_choice *c) {
  const struct model *m = &b->session->model;
  const struct async_run *run = b->session->path.async;
  struct lookahead_node v = {config_copy(m, c->after), b->at, c->index, 0, c->process, NULL, NULL};
  if (b->nodes.n)
    v.depth = b->nodes.at[b->at].depth + 1;
  if (c->fixed) {
    v.fixed = config_copy(m, c->fixed);
    v.messages = memory_alloc((run->n + (size_t)1) * sizeof *v.messages);
    memcpy(v.messages, run->messages.at + (run->nrounds - (size_t)1) * run->n, run->n * sizeof *v.messages);
  }
  vec_push(&b->nodes, v);
}

/* Asynchronous rounds: moves path.async to this node. */
static void enter_node(struct lookahead_search *b, size_t at) {
  struct async_run *run = b->session->path.async;
  const char *why;
  if (!run)
    return;
  for (; b->entered.n; b->entered.n--) {
    const struct lookahead_node *v = &b->nodes.at[b->entered.at[b->entered.n - 1]];
    async_run_undo(run, v->process);
    if (v->fixed)
      async_run_drop_round(run);
  }
  for (; at; at = b->nodes.at[at].parent)
    vec_push(&b->entered, at);
  vec_reverse(&b->entered, 0);
  for (size_t i = 0; i < b->entered.n; i++) {
    const struct lookahead_node *v = &b->nodes.at[b->entered.at[i]];
    if (v->fixed)
      async_run_add_messages(run, v->messages, v->fixed);
    async_run_end_round(run, v->process, &why);
  }
}

static bool visit(void *context, const struct numbered_choice *c) {
  struct lookahead_search *b = context;
  if (b->at == 0 && b->first_choice != SESSION_NONE && c->index != b->first_choice)
    return c->index < b->first_choice;
  b->errors |= c->result == STEP_ERROR;
  if (c->result == STEP_ERROR ? !b->property : is_goal(b, b->nodes.at[b->at].config, c->after)) {
    b->found = true;
    b->found_choice = c->index;
    return false;
  }
  if (c->result == STEP_ERROR || !leads_to_new(b, c))
    return true;
  b->full = b->nodes.n >= b->states_most;
  if (!b->full)
    add_node(b, c);
  return !b->full;
}

/* Asynchronous rounds: the choices of one process after the other, except that a first choice is of a known one. */
static enum walk_end walk_choices(struct lookahead_search *b, const struct config *c) {
  struct session *s = b->session;
  uint32_t process =
      b->at == 0 && b->first_choice != SESSION_NONE ? choice_process(s, b->first_choice) : SESSION_NO_PROCESS;
  enter_node(b, b->at);
  if (s->path.async)
    c = s->path.async->at.at[s->path.async->nrounds];
  return choices_walk(s, s->environment, c, process, visit, b);
}

static void fill_path(const struct lookahead_search *b, struct session_ahead *out) {
  uint64_t depth = b->nodes.at[b->at].depth;
  out->reach = SESSION_REACHABLE;
  out->steps = depth + 1;
  out->choices = memory_alloc(((size_t)depth + 1) * sizeof *out->choices);
  out->choices[depth] = b->found_choice;
  for (size_t at = b->at; depth-- > 0; at = b->nodes.at[at].parent)
    out->choices[depth] = b->nodes.at[at].choice;
}

/* False: the search is finished. */
static bool expand_next(struct lookahead_search *b, const struct session_limits *limits, struct session_ahead *out) {
  struct lookahead_node *v = &b->nodes.at[b->at];
  struct config *c = v->config;
  uint64_t depth = v->depth;
  out->steps = depth;
  if (limits->steps && depth >= limits->steps) {
    out->reach = SESSION_UNKNOWN;
    out->why = "the limit on steps";
    return false;
  }
  enum walk_end walk = is_last(b, c) ? WALK_ALL : walk_choices(b, c);
  if (b->found) {
    fill_path(b, out);
  } else if (b->full || walk == WALK_STOPPED) {
    out->reach = SESSION_UNKNOWN;
    out->why = b->full ? "the limit on states" : "interrupted";
  }
  if (b->found || out->reach == SESSION_UNKNOWN)
    return false;
  config_free(c);
  b->nodes.at[b->at].config = NULL;
  return ++b->at < b->nodes.n;
}

static void search_from(struct lookahead_search *b, const struct config *start, const struct session_limits *limits,
                        struct session_ahead *out) {
  add_node(b, &(struct numbered_choice){.index = SESSION_NONE, .after = start, .process = SESSION_NO_PROCESS});
  if (b->first_choice == SESSION_NONE) {
    /* Mark the start as visited. After a first choice it is not marked: it is expanded in full if a run returns to it.
     */
    is_new(b, start);
    if (b->property && !b->property->step && is_goal(b, NULL, start)) {
      out->reach = SESSION_REACHABLE;
      out->choices = memory_alloc(sizeof *out->choices);
      return;
    }
  }
  while (expand_next(b, limits, out))
    ;
}

static void search_release(struct lookahead_search *b) {
  enter_node(b, 0);
  vec_release(&b->entered);
  for (size_t i = 0; i < b->nodes.n; i++) {
    config_free(b->nodes.at[i].config);
    config_free(b->nodes.at[i].fixed);
    memory_free(b->nodes.at[i].messages);
  }
  vec_release(&b->nodes);
  vec_release(&b->key);
  intern_free(b->seen);
}

static bool goal_fits(struct session *s, const struct session_goal *goal, const struct property **p) {
  *p = NULL;
  if (goal->property == UINT32_MAX)
    return true;
  if (goal->property >= model_nasked(&s->model))
    return session_fail(s, "there is no property %u", goal->property);
  *p = &s->model.properties[goal->property];
  return (*p)->kind != PROPERTY_LIVE || session_fail(s, "'%s' is about whole runs", (*p)->name);
}

struct choice_query {
  uint64_t wanted;
  bool found;
};

static bool is_wanted(void *context, const struct numbered_choice *c) {
  struct choice_query *q = context;
  q->found = c->index == q->wanted;
  return !q->found;
}

static bool choice_exists(struct session *s, const struct config *now, uint64_t choice) {
  struct choice_query q = {.wanted = choice, .found = choice == SESSION_NONE};
  if (!q.found && choices_walk(s, s->environment, now, choice_process(s, choice), is_wanted, &q) == WALK_STOPPED)
    return false;
  return q.found || session_fail(s, "there is no choice %llu", (unsigned long long)choice);
}

bool session_ahead(struct session *s, uint64_t choice, const struct session_goal *goal,
                   const struct session_limits *limits, struct session_ahead *out) {
  const struct property *p;
  session_clear_error(s);
  *out = (struct session_ahead){.reach = SESSION_UNREACHABLE};
  const struct config *now = session_current(s);
  if (!now || !goal_fits(s, goal, &p) || !choice_exists(s, now, choice))
    return false;
  size_t length = s->path.steps.n;
  if (p && (property_over(s, p, length) || (choice != SESSION_NONE && property_over(s, p, length + 1))))
    return true; /* the scope of the property has ended */
  const struct node *read[] = {p ? p->formula : NULL, p ? p->until : NULL};
  struct lookahead_search b = {.session = s,
                               .property = p,
                               .relevant = future_fields_of(s, read, 2),
                               .first_choice = choice,
                               .states_most = limits->states ? limits->states : STATES_MAX,
                               .seen = intern_new()};
  search_from(&b, session_config_at(s, length), limits, out);
  out->states = b.nodes.n;
  out->errors = b.errors;
  search_release(&b);
  return true;
}

void session_ahead_release(struct session_ahead *out) {
  memory_free(out->choices);
  *out = (struct session_ahead){0};
}
