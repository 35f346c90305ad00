/* All states that are reachable from a state of the path, by breadth-first search over the interpreter's successors:
   which properties can still be violated or reached, where runs end, and the graph of states or of classes of them. */
#include "session/session_internal.h"

#include "base/intern.h"
#include "interp/eval.h"
#include "interp/local.h"
#include "lang/state_expression.h"
#include "session/outcome_steps.h"
#include "session/state_keys.h"
#include "trace/trace.h"

#include <string.h>

#define SURVEY_STATES_MAX 1000000
#define NO_NODE SIZE_MAX

struct survey_node {
  struct config *config; /* NULL after it was expanded */
  size_t parent;
  uint64_t choice, depth;
  struct witness *round; /* rounds: the step to it; NULL: the start */
  uint32_t class;
};

struct survey_target {
  const struct property *property; /* NULL: errors of the model */
  size_t node;                     /* NO_NODE: not found */
  bool step;                       /* it is about a step from that node; otherwise the node itself */
  uint64_t choice;
  struct witness *round; /* rounds: that step */
};

struct survey_search {
  struct session *session;
  const struct session_survey_request *request;
  struct session_survey *out;
  struct future_fields relevant;
  struct intern *seen, *class_names, *edges_seen;
  key_vec key;
  VEC(struct survey_node) nodes;
  VEC(struct session_class) classes;
  VEC(struct session_class_edge) edges;
  VEC(uint64_t) layers;
  struct survey_target *targets;
  uint32_t ntargets;
  struct state_expression projection;
  struct interpreter *projector; /* of the projection's model; NULL: none */
  size_t at;
  uint64_t nchoices; /* of the node that is being expanded */
  size_t first_final;
  bool full;
  bool every_round; /* as the request says, or since some combination of outcomes was not allowed */
};

/* --- classes --- */

static const char *projected(struct survey_search *b, const struct config *c) {
  struct state_expression *x = &b->projection;
  struct eval e;
  jmp_buf failure;
  struct text text = {0};
  eval_begin(&e, b->projector);
  e.before = c;
  e.globals = c->globals;
  e.point = c->point == POINT_END ? x->model->npoints - 1 : c->point;
  e.phase = c->phase;
  e.failure = &failure;
  e.stop = b->session->stop;
  e.error.process = UINT32_MAX;
  if (setjmp(failure) == 0) {
    value v = eval_node(&e, x->node);
    value_print(&x->model->values, x->model, x->node->type, v, &text);
  } else {
    text_addf(&text, "error: %s", e.error.message);
  }
  arena_clear(&b->projector->strings);
  return text_to_arena(&b->out->arena, &text);
}

static void put_locals(struct survey_search *b, const struct config *c, uint32_t p, struct text *text) {
  const struct model *m = &b->session->model;
  const struct role *role = process_role(m, p);
  value status = c->local[p][LOCAL_STATUS];
  text_add(text, text->n ? "; " : "");
  value_print(&m->values, m, m->process_types.any, p, text);
  text_add(text, status ? " " : "");
  status_text(status, text);
  const char *between = ": ";
  for (uint32_t i = 0; i < role->nvars && !(status & STATUS_BYZANTINE); i++) {
    const struct var *var = &role->vars[i];
    if (var->kind != VAR_POINT && var_is_hidden(var))
      continue;
    text_addf(text, "%s%s = ", between, var->kind == VAR_POINT ? "at" : var->name);
    value_print(&m->values, m, var->type, c->local[p][LOCAL_VAR(i)], text);
    between = ", ";
  }
}

static const char *state_text(struct survey_search *b, const struct config *c) {
  const struct model *m = &b->session->model;
  struct text text = {0};
  for (uint32_t i = 0; i < m->nglobals; i++)
    if (!var_is_hidden(&m->globals[i])) {
      text_addf(&text, "%s%s = ", text.n ? ", " : "", m->globals[i].name);
      value_print(&m->values, m, m->globals[i].type, c->globals[i], &text);
    }
  for (uint32_t p = 0; p < m->nprocesses; p++)
    put_locals(b, c, p, &text);
  return text_to_arena(&b->out->arena, &text);
}

/* Texts are compared as vectors of bytes. */
static uint32_t class_named(struct survey_search *b, const char *name, bool *is_new) {
  size_t before = intern_count(b->class_names);
  vec_clear(&b->key);
  for (; *name; name++)
    vec_push(&b->key, (int64_t)(unsigned char)*name);
  uint32_t id = intern_put(b->class_names, b->key.at, b->key.n);
  *is_new = intern_count(b->class_names) > before;
  return id;
}

static uint32_t class_of(struct survey_search *b, const struct config *c, uint64_t depth) {
  if (!b->request->graph)
    return 0;
  const char *text = b->projector ? projected(b, c) : state_text(b, c);
  bool is_new = true;
  uint32_t id = b->projector ? class_named(b, text, &is_new) : (uint32_t)b->classes.n;
  if (is_new)
    vec_push(&b->classes, ((struct session_class){.text = text, .depth = depth}));
  b->classes.at[id].states++;
  return id;
}

static void add_edge(struct survey_search *b, uint32_t to, uint64_t choice) {
  int64_t pair[] = {b->nodes.at[b->at].class, to};
  size_t before = intern_count(b->edges_seen);
  if (!b->request->graph)
    return;
  intern_put(b->edges_seen, pair, 2);
  if (intern_count(b->edges_seen) > before)
    vec_push(&b->edges, ((struct session_class_edge){(uint32_t)pair[0], to, choice}));
}

/* --- states and steps --- */

static struct witness *round_copy(const struct survey_search *b, const struct witness *w) {
  return w && !model_steps(&b->session->model) ? witness_copy(&b->session->model, w) : NULL;
}

static void found_target(struct survey_search *b, struct survey_target *t, size_t node,
                         const struct numbered_choice *by) {
  t->node = node;
  t->step = by != NULL;
  t->choice = by ? by->index : SESSION_NONE;
  t->round = by ? round_copy(b, by->witness) : NULL;
}

/* by: the step to the state. */
static void find_targets(struct survey_search *b, const struct config *before, const struct config *c, size_t node,
                         const struct numbered_choice *by, uint32_t class) {
  struct model_error ignored;
  for (uint32_t i = 0; i < b->ntargets; i++) {
    struct survey_target *t = &b->targets[i];
    const struct property *p = t->property;
    if (!p || p->step != (before != NULL) || (t->node != NO_NODE && !b->request->graph))
      continue;
    if (property_evaluate(b->session->interp, p, before, c, &ignored) != (p->kind == PROPERTY_COVER ? V_TRUE : V_FALSE))
      continue;
    uint32_t number = (uint32_t)(p - b->session->model.properties);
    if (b->request->graph && number < 64)
      b->classes.at[class].shown |= UINT64_C(1) << number;
    if (t->node == NO_NODE)
      found_target(b, t, node, before ? by : NULL);
  }
}

static void add_state(struct survey_search *b, const struct config *c, size_t parent,
                      const struct numbered_choice *by) {
  struct survey_node v = {.config = config_copy(&b->session->model, c),
                          .parent = parent,
                          .choice = by ? by->index : SESSION_NONE,
                          .round = round_copy(b, by ? by->witness : NULL)};
  if (b->nodes.n)
    v.depth = b->nodes.at[parent].depth + 1;
  v.class = class_of(b, c, v.depth);
  if (v.depth >= b->layers.n)
    vec_push(&b->layers, 0);
  b->layers.at[v.depth]++;
  vec_push(&b->nodes, v);
  find_targets(b, NULL, c, b->nodes.n - 1, NULL, v.class);
}

/* The number of the state in b->nodes; a new one gets the next number. */
static size_t state_number(struct survey_search *b, const struct config *c, bool *is_new) {
  size_t before = intern_count(b->seen);
  config_key(b->session, &b->relevant, c, &b->key);
  uint32_t id = intern_put(b->seen, b->key.at, b->key.n);
  *is_new = intern_count(b->seen) > before;
  return id;
}

static bool visit_successor(void *context, const struct numbered_choice *c) {
  struct survey_search *b = context;
  b->nchoices++;
  if (c->result == STEP_ERROR) {
    struct survey_target *t = &b->targets[b->ntargets - 1];
    b->out->errors++;
    if (t->node == NO_NODE)
      found_target(b, t, b->at, c);
    return true;
  }
  bool is_new;
  size_t limit = b->request->limits.states ? (size_t)b->request->limits.states : SURVEY_STATES_MAX;
  size_t number = state_number(b, c->after, &is_new);
  if (is_new && b->nodes.n >= limit) {
    b->full = true;
    return false;
  }
  if (is_new)
    add_state(b, c->after, b->at, c);
  uint32_t class = b->nodes.at[number].class;
  find_targets(b, b->nodes.at[b->at].config, c->after, b->at, c, class);
  add_edge(b, class, model_steps(&b->session->model) ? c->index : SESSION_NONE);
  return true;
}

/* Nothing can happen: has the algorithm ended, or is some process in the middle of something? */
static bool has_ended(const struct session *s, const struct config *c) {
  if (!model_steps(&s->model))
    return c->point == POINT_END;
  for (uint32_t p = 0; p < c->nprocesses; p++)
    if (config_waits(s->interp, s->environment, c, p) != WAITING_NOT)
      return false;
  return true;
}

static void note_final(struct survey_search *b) {
  const struct survey_node *v = &b->nodes.at[b->at];
  bool ended = has_ended(b->session, v->config), first = b->out->final++ == 0;
  if (first || (b->out->final_ended && !ended))
    b->first_final = b->at;
  b->out->final_ended = (first || b->out->final_ended) && ended;
  if (b->request->graph)
    b->classes.at[v->class].final = true;
}

/* False: interrupted, or too many states. */
static bool visit_successors(struct survey_search *b, const struct config *c) {
  struct session *s = b->session;
  b->nchoices = 0;
  if (!b->every_round)
    switch (outcome_steps_walk(s, c, visit_successor, b)) {
    case OUTCOMES_ALL:
      return true;
    case OUTCOMES_ENDED:
    case OUTCOMES_STOPPED:
      return false;
    case OUTCOMES_REFUSED:
      b->every_round = true;
      break;
    }
  return choices_walk(s, s->environment, c, SESSION_NO_PROCESS, visit_successor, b) == WALK_ALL;
}

/* False: the search is finished. */
static bool expand(struct survey_search *b) {
  struct survey_node *v = &b->nodes.at[b->at];
  b->out->depth = v->depth;
  if (b->request->limits.steps && v->depth >= b->request->limits.steps) {
    b->out->why = "the limit on steps";
    return false;
  }
  if (!visit_successors(b, v->config)) {
    b->out->why = b->full ? "the limit on states" : "interrupted";
    return false;
  }
  if (b->nchoices == 0)
    note_final(b);
  config_free(b->nodes.at[b->at].config);
  b->nodes.at[b->at].config = NULL;
  return ++b->at < b->nodes.n;
}

/* --- the answer --- */

static const uint64_t *choices_to(struct survey_search *b, const struct survey_target *t) {
  uint64_t depth = b->nodes.at[t->node].depth;
  uint64_t *out = arena_array(&b->out->arena, (size_t)depth + 2, sizeof *out);
  if (t->step)
    out[depth] = t->choice;
  for (size_t node = t->node; depth-- > 0; node = b->nodes.at[node].parent)
    out[depth] = b->nodes.at[node].choice;
  return out;
}

/* The interpreter goes there once more, as a round is described relative to the state before it. */
static struct session_round *rounds_to(struct survey_search *b, const struct survey_target *t) {
  struct session *s = b->session;
  uint64_t depth = b->nodes.at[t->node].depth, n = depth + t->step;
  struct session_round *out = arena_array(&b->out->arena, (size_t)n + 1, sizeof *out);
  struct witness **taken = memory_alloc(((size_t)n + 1) * sizeof *taken);
  struct config *now = config_copy(&s->model, session_config_at(s, b->request->position));
  struct config *next = config_new(&s->model);
  if (t->step)
    taken[depth] = t->round;
  for (size_t node = t->node, i = (size_t)depth; i-- > 0; node = b->nodes.at[node].parent)
    taken[i] = b->nodes.at[node].round;
  for (uint64_t i = 0; i < n; i++) {
    struct model_error ignored;
    witness_normalise(s, now, taken[i]);
    round_of_witness(s, now, taken[i], SESSION_NO_PROCESS, &out[i]);
    config_step(s->interp, s->environment, now, taken[i], next, NULL, &ignored);
    config_assign(&s->model, now, next);
  }
  config_free(now);
  config_free(next);
  memory_free(taken);
  return out;
}

/* How it is reached: choices, or for rounds the rounds. */
static void fill_way(struct survey_search *b, const struct survey_target *t, uint64_t *steps, const uint64_t **choices,
                     struct session_round **rounds) {
  *steps = b->nodes.at[t->node].depth + t->step;
  if (model_steps(&b->session->model))
    *choices = choices_to(b, t);
  else
    *rounds = rounds_to(b, t);
}

static void fill_targets(struct survey_search *b) {
  struct session_survey *out = b->out;
  out->targets = arena_array(&out->arena, b->ntargets + (size_t)1, sizeof *out->targets);
  out->ntargets = b->ntargets;
  for (uint32_t i = 0; i < b->ntargets; i++) {
    const struct survey_target *t = &b->targets[i];
    struct session_target *o = &out->targets[i];
    *o = (struct session_target){.property = UINT32_MAX, .steps = out->depth};
    if (t->property)
      o->property = (uint32_t)(t->property - b->session->model.properties);
    o->reach = t->node != NO_NODE ? SESSION_REACHABLE : out->complete ? SESSION_UNREACHABLE : SESSION_UNKNOWN;
    if (t->node != NO_NODE)
      fill_way(b, t, &o->steps, &o->choices, &o->rounds);
  }
}

static void *list_copy(struct arena *arena, const void *at, size_t n, size_t each) {
  void *copy = arena_array(arena, n + 1, each);
  if (n)
    memcpy(copy, at, n * each);
  return copy;
}

static void fill_path(struct survey_search *b) {
  struct session *s = b->session;
  size_t n = s->path.steps.n;
  b->out->path = arena_array(&b->out->arena, n + 2, sizeof *b->out->path);
  for (size_t i = b->request->position; i <= n && b->request->graph; i++) {
    const struct config *c = session_config_at(s, i);
    uint32_t id = INTERN_NONE;
    if (c) {
      config_key(s, &b->relevant, c, &b->key);
      id = intern_find(b->seen, b->key.at, b->key.n);
    }
    b->out->path[b->out->npath++] = id == INTERN_NONE || id >= b->nodes.n ? UINT32_MAX : b->nodes.at[id].class;
  }
}

static void fill_survey(struct survey_search *b) {
  struct session_survey *out = b->out;
  out->complete = !out->why;
  out->states = b->nodes.n;
  if (out->final)
    fill_way(b, &(struct survey_target){.node = b->first_final}, &out->final_steps, &out->final_choices,
             &out->final_rounds);
  fill_targets(b);
  fill_path(b);
  out->depth = b->layers.n - 1;
  out->layers = list_copy(&out->arena, b->layers.at, b->layers.n, sizeof *b->layers.at);
  out->classes = list_copy(&out->arena, b->classes.at, b->classes.n, sizeof *b->classes.at);
  out->nclasses = (uint32_t)b->classes.n;
  out->edges = list_copy(&out->arena, b->edges.at, b->edges.n, sizeof *b->edges.at);
  out->nedges = b->edges.n;
}

/* --- the search --- */

static bool applies_here(const struct session *s, const struct property *p) {
  bool applies = false;
  for (uint32_t i = 0; i < p->nenvironments; i++)
    applies |= p->environments[i] == s->environment;
  return applies && p->kind != PROPERTY_LIVE && !p->until;
}

static void choose_targets(struct survey_search *b) {
  const struct model *m = &b->session->model;
  const struct node **read = memory_alloc((m->nproperties + (size_t)1) * sizeof *read);
  b->targets = memory_alloc((m->nproperties + (size_t)1) * sizeof *b->targets);
  for (uint32_t i = 0; i < m->nproperties; i++)
    if (applies_here(b->session, &m->properties[i])) {
      read[b->ntargets] = m->properties[i].formula;
      b->targets[b->ntargets++] = (struct survey_target){.property = &m->properties[i], .node = NO_NODE};
    }
  read[b->ntargets] = b->projector ? b->projection.node : NULL;
  b->targets[b->ntargets++] = (struct survey_target){.node = NO_NODE};
  b->relevant = future_fields_of(b->session, read, b->ntargets);
  memory_free(read);
}

static bool read_projection(struct survey_search *b) {
  const char *text = b->request->graph ? b->request->projection : NULL;
  struct session *s = b->session;
  struct diags diags;
  if (!text || !*text)
    return true;
  struct source source = {"projection", text, strlen(text)};
  diags_init(&diags, &source);
  bool ok = state_expression_check(&b->projection, s->given, text, source.length, false, &diags);
  if (ok) {
    b->projector = interpreter_new(b->projection.model);
    interpreter_follow(b->projector, s->semantics, false);
  } else {
    struct text all = {0};
    diags_print(&diags, false, &all);
    session_fail(s, "%s", text_or_empty(&all));
    text_release(&all);
    state_expression_release(&b->projection);
  }
  diags_release(&diags);
  return ok;
}

static void survey_search_release(struct survey_search *b) {
  for (size_t i = 0; i < b->nodes.n; i++) {
    config_free(b->nodes.at[i].config);
    witness_free(b->nodes.at[i].round);
  }
  for (uint32_t i = 0; i < b->ntargets; i++)
    witness_free(b->targets[i].round);
  vec_release(&b->nodes);
  vec_release(&b->classes);
  vec_release(&b->edges);
  vec_release(&b->layers);
  vec_release(&b->key);
  intern_free(b->seen);
  intern_free(b->class_names);
  intern_free(b->edges_seen);
  memory_free(b->targets);
  if (b->projector) {
    interpreter_free(b->projector);
    state_expression_release(&b->projection);
  }
}

bool session_survey(struct session *s, const struct session_survey_request *request, struct session_survey *out) {
  session_clear_error(s);
  *out = (struct session_survey){0};
  if (s->path.async || s->semantics == SEMANTICS_FINE)
    return session_fail(s, "the states of asynchronous rounds are not surveyed");
  const struct config *start = s->path.initial ? session_config_at(s, request->position) : NULL;
  if (!start)
    return session_fail(s, "there is no state after %zu steps", request->position);
  struct survey_search b = {.session = s, .request = request, .out = out};
  b.every_round = request->every_round || !outcome_steps_apply(s);
  bool is_new;
  if (!read_projection(&b))
    return false;
  arena_init(&out->arena);
  b.seen = intern_new();
  b.class_names = intern_new();
  b.edges_seen = intern_new();
  choose_targets(&b);
  state_number(&b, start, &is_new);
  add_state(&b, start, 0, NULL);
  while (expand(&b))
    ;
  fill_survey(&b);
  survey_search_release(&b);
  session_clear_error(s); /* an incomplete search is not a failure */
  return true;
}

static void rounds_release(struct session_round *rounds, uint64_t n) {
  for (uint64_t i = 0; i < n && rounds; i++)
    session_round_release(&rounds[i]);
}

void session_survey_release(struct session_survey *out) {
  for (uint32_t i = 0; i < out->ntargets; i++)
    rounds_release(out->targets[i].rounds, out->targets[i].steps);
  rounds_release(out->final_rounds, out->final_steps);
  arena_release(&out->arena);
  *out = (struct session_survey){0};
}
