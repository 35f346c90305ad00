/* States as text. */
#include "session/session_internal.h"

#include "interp/async_round.h"
#include "interp/local.h"
#include "trace/event_json.h"
#include "trace/trace.h"

struct state_builder {
  struct session *session;
  const struct config *config, *before; /* before may be NULL */
  struct session_state *out;
};

static const char *shown(struct state_builder *v, const struct type *type, value x) {
  const struct model *m = &v->session->model;
  struct text text = {0};
  value_print(&m->values, m, type, x, &text);
  return text_to_arena(&v->out->arena, &text);
}

static void add_value(struct state_builder *v, struct session_value x) {
  struct session_state *out = v->out;
  out->values = arena_list_grow(&out->arena, out->values, out->nvalues, sizeof *out->values);
  out->values[out->nvalues++] = x;
}

static void view_globals(struct state_builder *v) {
  const struct model *m = &v->session->model;
  for (uint32_t i = 0; i < m->nglobals; i++) {
    const struct var *var = &m->globals[i];
    value now = v->config->globals[i];
    if (!var_is_hidden(var))
      add_value(v, (struct session_value){SESSION_NO_PROCESS, var->name, shown(v, var->type, now),
                                          v->before && v->before->globals[i] != now, var->at});
  }
}

static void view_process(struct state_builder *v, uint32_t p) {
  const struct model *m = &v->session->model;
  const struct role *role = process_role(m, p);
  const value *now = v->config->local[p], *before = v->before ? v->before->local[p] : NULL;
  struct session_process *out = &v->out->processes[p];
  struct text status = {0};
  status_text(now[LOCAL_STATUS], &status);
  out->name = process_text(v->session, &v->out->arena, p);
  out->status = text_to_arena(&v->out->arena, &status);
  out->active = process_active(now[LOCAL_STATUS]);
  out->changed = before && before[LOCAL_STATUS] != now[LOCAL_STATUS];
  out->rounds = v->session->path.async ? v->session->path.async->done[p] : 0;
  if (now[LOCAL_STATUS] & STATUS_BYZANTINE)
    return;
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *var = &role->vars[i];
    bool point = var->kind == VAR_POINT;
    if (point || !var_is_hidden(var))
      add_value(v, (struct session_value){p, point ? "at" : var->name, shown(v, var->type, now[LOCAL_VAR(i)]),
                                          before && before[LOCAL_VAR(i)] != now[LOCAL_VAR(i)],
                                          point ? role->at : var->at});
  }
}

static uint32_t how_many(const struct config *c, const struct packet *like, uint32_t most) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->npackets && i < most; i++) {
    const struct packet *p = &c->packets[i];
    n += p->from == like->from && p->to == like->to && p->kind == like->kind && p->message == like->message;
  }
  return n;
}

static void view_messages(struct state_builder *v) {
  const struct model *m = &v->session->model;
  const struct config *c = v->config;
  struct session_state *out = v->out;
  out->nmessages = c->npackets;
  out->messages = arena_array(&out->arena, c->npackets + (size_t)1, sizeof *out->messages);
  for (uint32_t i = 0; i < c->npackets; i++) {
    const struct packet *p = &c->packets[i];
    struct text text = {0};
    message_print(m, p->kind, p->message, &text);
    bool added = v->before && how_many(c, p, i + 1) > how_many(v->before, p, v->before->npackets);
    out->messages[i] = (struct session_message){
        p->from, p->to, m->messages[p->kind].name, text_to_arena(&out->arena, &text), packet_place_names[p->place],
        added};
  }
}

static void view_clock(struct state_builder *v) {
  const struct model *m = &v->session->model;
  const struct config *c = v->config;
  struct session_state *out = v->out;
  out->async = v->session->path.async != NULL;
  out->rounds = c->rounds;
  out->ended = !model_steps(m) && c->point == POINT_END;
  if (!model_steps(m) && !out->ended) {
    out->round = m->points[c->point].name;
    out->phase = m->points[c->point].endless ? c->phase : 0;
  }
  out->lost = c->lost;
  out->corrupted = c->corrupted;
  out->duplicated = c->duplicated;
}

bool session_state(struct session *s, size_t position, struct session_state *out) {
  const struct config *c = session_config_at(s, position);
  session_clear_error(s);
  *out = (struct session_state){0};
  if (!c)
    return session_fail(s, "there is no state after %zu steps", position);
  struct state_builder v = {s, c, position ? session_config_at(s, position - 1) : NULL, out};
  session_seek(s, position);
  arena_init(&out->arena);
  out->nprocesses = s->model.nprocesses;
  out->processes = arena_array(&out->arena, s->model.nprocesses + (size_t)1, sizeof *out->processes);
  view_globals(&v);
  for (uint32_t p = 0; p < s->model.nprocesses; p++)
    view_process(&v, p);
  view_messages(&v);
  view_clock(&v);
  return true;
}

void session_state_release(struct session_state *out) {
  arena_release(&out->arena);
  *out = (struct session_state){0};
}
