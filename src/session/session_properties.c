/* Properties and expressions in the states of the path. */
#include "session/session_internal.h"

#include "interp/eval.h"
#include "lang/state_expression.h"
#include "model/type_print.h"
#include "trace/lasso_replay.h"
#include "trace/property_instance.h"

/* --- properties --- */

static const char **list_to_arena(struct arena *arena, char *const *at, size_t n) {
  const char **list = arena_array(arena, n + 1, sizeof *list);
  for (size_t i = 0; i < n; i++)
    list[i] = arena_printf(arena, "%s", at[i]);
  return list;
}

static void fill_instance(struct session *s, const struct property *p, const struct config *before,
                          const struct config *at, bool truth, struct arena *arena, struct session_property *out) {
  struct property_instance found;
  property_instance_explain(&found, s->interp, p->formula, p->step ? before : at, p->step ? at : NULL, truth);
  out->nbindings = (uint32_t)found.bound.n;
  out->bindings = list_to_arena(arena, found.bound.at, found.bound.n);
  out->nreads = (uint32_t)found.read.n;
  out->reads = list_to_arena(arena, found.read.at, found.read.n);
  property_instance_release(&found);
}

/* Did the scope of the property end before that state? */
bool property_over(struct session *s, const struct property *p, size_t position) {
  for (size_t i = 0; i < position && p->until; i++)
    if (property_ends(s->interp, p, session_config_at(s, i)))
      return true;
  return false;
}

static const char *not_asked(struct session *s, const struct property *p, size_t position) {
  if (p->kind == PROPERTY_LIVE)
    return "it is about whole runs";
  if (p->step && position == 0)
    return "it is about steps, and there is none yet";
  return property_over(s, p, position) ? "what it holds 'until' was reached before" : NULL;
}

/* Live properties on the loop in which the path ends. */
static void judge_on_loop(struct session *s, uint32_t index, struct arena *arena, struct session_property *out) {
  struct text why = {0};
  struct trace t;
  if (!session_lasso_trace(s, 0, s->path.loop, index, &t)) {
    out->error = "the path cannot be replayed";
    return;
  }
  if (!lasso_admitted(&t, s->interp, &why)) {
    out->error = arena_printf(arena, "the loop is no run of this environment: %s", text_or_empty(&why));
  } else {
    struct lasso_configs run = trace_configs(&t);
    enum verdict3 v = lasso_satisfies(s->interp, claim_formula(&t), &run, &t.error);
    out->verdict = v == V_TRUE ? SESSION_TRUE : v == V_FALSE ? SESSION_FALSE : SESSION_ERROR;
    out->shown = v == V_FALSE;
    out->error = v == V_ERROR ? arena_printf(arena, "%s", t.error.message) : NULL;
  }
  if (out->shown) {
    struct property_instance found;
    property_instance_find(&found, s->interp, &t);
    out->nbindings = (uint32_t)found.bound.n;
    out->bindings = list_to_arena(arena, found.bound.at, found.bound.n);
    property_instance_release(&found);
  }
  text_release(&why);
  trace_release(&t);
}

static void judge_property(struct session *s, const struct property *p, size_t position, struct arena *arena,
                           struct session_property *out) {
  const struct config *at = session_config_at(s, position),
                      *before = position ? session_config_at(s, position - 1) : NULL;
  struct model_error error = {0};
  *out = (struct session_property){.name = p->name, .kind = p->kind, .step = p->step, .at = p->at};
  for (uint32_t i = 0; i < p->nenvironments; i++)
    out->applies |= p->environments[i] == s->environment;
  out->error = not_asked(s, p, position);
  out->verdict = SESSION_NOT_ASKED;
  if (p->kind == PROPERTY_LIVE && s->path.closed && position == s->path.steps.n) {
    out->error = NULL;
    judge_on_loop(s, (uint32_t)(p - s->model.properties), arena, out);
    return;
  }
  if (out->error)
    return;
  enum verdict3 verdict = property_evaluate(s->interp, p, before, at, &error);
  out->verdict = verdict == V_TRUE ? SESSION_TRUE : verdict == V_FALSE ? SESSION_FALSE : SESSION_ERROR;
  out->shown = verdict == (p->kind == PROPERTY_COVER ? V_TRUE : V_FALSE);
  if (verdict == V_ERROR)
    out->error = arena_printf(arena, "%s", error.message ? error.message : "an error of the model");
  else
    fill_instance(s, p, before, at, verdict == V_TRUE, arena, out);
}

bool session_properties(struct session *s, size_t position, struct session_properties *out) {
  session_clear_error(s);
  *out = (struct session_properties){0};
  if (!session_config_at(s, position))
    return session_fail(s, "there is no state after %zu steps", position);
  arena_init(&out->arena);
  out->n = model_nasked(&s->model);
  out->at = arena_array(&out->arena, out->n + 1, sizeof *out->at);
  for (size_t i = 0; i < out->n; i++)
    judge_property(s, &s->model.properties[i], position, &out->arena, &out->at[i]);
  return true;
}

void session_properties_release(struct session_properties *out) {
  arena_release(&out->arena);
  *out = (struct session_properties){0};
}

/* --- expressions --- */

struct evaluation {
  const struct config *before, *after;
  value value;
  struct model_error error;
};

/* Evaluates in the expression's own model, which has the same states. */
static bool evaluate(struct session *s, const struct state_expression *x, struct evaluation *v) {
  struct interpreter *interp = interpreter_new(x->model);
  struct eval e;
  jmp_buf failure;
  interpreter_follow(interp, s->semantics, false);
  interpreter_observe(interp, s->environment);
  struct quiescence quiescence;
  bool known = quiescence_of(interp, x->node, v->before, &quiescence);
  eval_begin(&e, interp);
  e.quiescence = known ? &quiescence : NULL;
  e.before = v->before;
  e.after = v->after;
  e.globals = v->before->globals;
  e.point = v->before->point == POINT_END ? x->model->npoints - 1 : v->before->point;
  e.phase = v->before->phase;
  e.failure = &failure;
  e.stop = s->stop;
  e.error.process = UINT32_MAX;
  bool ok = setjmp(failure) == 0;
  if (ok)
    v->value = eval_node(&e, x->node);
  else
    v->error = (struct model_error){.message = arena_printf(&x->model->arena, "%s", e.error.message), .at = e.error.at};
  interpreter_free(interp);
  return ok;
}

static char *text_detach(struct text *text) {
  char *copy = memory_strdup(text_or_empty(text));
  text_release(text);
  return copy;
}

static void fill_value(const struct state_expression *x, const struct evaluation *v, struct session_result *out) {
  struct text text = {0}, type = {0};
  value_print(&x->model->values, x->model, x->node->type, v->value, &text);
  type_print(x->model, x->node->type, &type);
  out->ok = true;
  out->is_bool = x->node->type->kind == TYPE_BOOL;
  out->truth = out->is_bool && v->value != 0;
  out->text = text_detach(&text);
  out->type = text_detach(&type);
}

static void fill_failure(const struct state_expression *x, const struct evaluation *v, struct session_result *out) {
  struct text text = {0};
  uint32_t line, column;
  if (v->error.at.to > 0 && v->error.at.from < x->offset) {
    source_place(&x->model->source, v->error.at.from, &line, &column);
    text_addf(&text, "line %u of the model: ", line);
  }
  text_add(&text, v->error.message);
  out->text = text_detach(&text);
}

bool session_evaluate(struct session *s, size_t position, const char *text, bool step, struct session_result *out) {
  session_clear_error(s);
  *out = (struct session_result){0};
  const struct config *at = session_config_at(s, position);
  if (!at)
    return session_fail(s, "there is no state after %zu steps", position);
  if (step && position == 0)
    return session_fail(s, "there is no step before the first state");
  size_t length = 0;
  while (text[length])
    length++;
  struct source source = {"expression", memory_strdup(text), length};
  struct state_expression x;
  struct evaluation v = {.before = step ? session_config_at(s, position - 1) : at, .after = step ? at : NULL};
  out->source = memory_alloc(sizeof *out->source);
  *out->source = source;
  out->diags = memory_alloc(sizeof *out->diags);
  diags_init(out->diags, out->source);
  if (!state_expression_check(&x, s->given, text, length, step, out->diags)) {
    struct text all = {0};
    diags_print(out->diags, false, &all);
    out->text = text_detach(&all);
  } else if (evaluate(s, &x, &v)) {
    fill_value(&x, &v, out);
  } else {
    fill_failure(&x, &v, out);
  }
  state_expression_release(&x);
  if (!session_stop_seen(s))
    return true;
  session_result_release(out);
  return false;
}

void session_result_release(struct session_result *out) {
  if (out->diags)
    diags_release(out->diags);
  if (out->source)
    memory_free((char *)out->source->text);
  memory_free(out->source);
  memory_free(out->diags);
  memory_free(out->text);
  memory_free(out->type);
  *out = (struct session_result){0};
}
