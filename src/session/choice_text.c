/* Choices as text. */
#include "session/session_internal.h"

#include "interp/local.h"
#include "interp/round_step.h"
#include "trace/status_names.h"
#include "trace/trace.h"

const char *process_text(struct session *s, struct arena *arena, uint32_t process) {
  struct text text = {0};
  process_print(&s->model, process, &text);
  return text_to_arena(arena, &text);
}

void status_text(value status, struct text *out) {
  const char *before = "";
  for (unsigned i = 0; i < NSTATUSES; i++)
    if (status & status_names[i].bit) {
      text_addf(out, "%s%s", before, status_names[i].name);
      before = ", ";
    }
}

static void add_picks(const struct script *script, const char *what, struct text *out) {
  for (uint32_t i = 0; i < script->n; i++)
    text_addf(out, "%s%u", i ? "," : what, script->at[i]);
}

/* --- steps --- */

static void describe_taken(struct session *s, const struct event *e, struct arena *arena, struct session_choice *out) {
  const struct model *m = &s->model;
  uint32_t kind = event_message_kind(m, e);
  out->ntaken = e->ntaken;
  out->taken = arena_array(arena, e->ntaken + 1, sizeof *out->taken);
  for (uint32_t i = 0; i < e->ntaken; i++) {
    const struct taken_message *t = &e->taken[i];
    struct text text = {0};
    message_print(m, kind, t->message, &text);
    out->taken[i] =
        (struct session_taken){t->from, m->messages[kind].name, text_to_arena(arena, &text), t->forged, t->kept};
  }
}

static void add_taken(struct session *s, const struct session_choice *c, struct text *out) {
  for (uint32_t i = 0; i < c->ntaken; i++) {
    const struct session_taken *t = &c->taken[i];
    text_addf(out, "%s%s%s from ", i ? ", " : "", t->forged ? "forged " : "", t->text);
    process_print(&s->model, t->from, out);
    text_add(out, t->duplicated ? " (duplicated)" : "");
  }
}

static void add_action(struct session *s, const struct session_choice *c, const char *verb, struct text *out) {
  process_print(&s->model, c->process, out);
  text_addf(out, "%s '%s'", verb, c->action);
  if (c->ntaken) {
    text_add(out, " with ");
    add_taken(s, c, out);
  }
}

static void describe_event(struct session *s, const struct event *e, struct arena *arena, struct session_choice *out) {
  static const enum session_choice_kind kinds[] = {[EVENT_ACTION] = SESSION_ACTION,
                                                   [EVENT_DELIVER] = SESSION_DELIVER,
                                                   [EVENT_LOSE] = SESSION_LOSE,
                                                   [EVENT_CRASH] = SESSION_CRASH,
                                                   [EVENT_RECOVER] = SESSION_RECOVER};
  const struct model *m = &s->model;
  const struct action *a = event_action(m, e);
  struct text text = {0};
  out->kind = e->kind == EVENT_CRASH && a ? SESSION_CRASH_IN_ACTION : kinds[e->kind];
  out->process = e->process;
  out->action = a ? a->name : NULL;
  out->at = a ? a->at : (struct span){0, 0};
  describe_taken(s, e, arena, out);
  switch (out->kind) {
  case SESSION_ACTION:
    add_action(s, out, ":", &text);
    break;
  case SESSION_CRASH_IN_ACTION:
    add_action(s, out, " crashes in", &text);
    add_picks(&(struct script){e->nout, e->out}, ", messages sent: ", &text);
    break;
  case SESSION_DELIVER:
  case SESSION_LOSE:
    add_taken(s, out, &text);
    text_add(&text, out->kind == SESSION_LOSE ? " to " : " reaches ");
    process_print(m, e->process, &text);
    text_add(&text, out->kind == SESSION_LOSE ? " is lost" : "");
    break;
  case SESSION_CRASH:
  case SESSION_RECOVER:
  case SESSION_ROUND:
  case SESSION_END_ROUND:
    process_print(m, e->process, &text);
    text_add(&text, out->kind == SESSION_CRASH ? " crashes" : " recovers");
    break;
  }
  add_picks(&e->script, ", picks ", &text);
  out->npicks = e->script.n;
  if (e->script.n)
    out->picks = arena_copy(arena, e->script.at, e->script.n * sizeof *e->script.at);
  out->text = text_to_arena(arena, &text);
}

/* --- rounds --- */

static void add_heard(struct session *s, const struct witness *w, uint32_t p, struct text *out) {
  uint32_t n = w->nprocesses, heard = 0;
  for (uint32_t q = 0; q < n; q++)
    heard += w->heard[p][q];
  text_add(out, heard == n ? " hears all" : heard == 0 ? " hears nobody" : " hears ");
  const char *before = "";
  for (uint32_t q = 0; q < n && heard < n; q++)
    if (w->heard[p][q]) {
      text_add(out, before);
      process_print(&s->model, q, out);
      before = ", ";
    }
}

static void add_oracles(struct session *s, const struct config *c, const struct witness *w, uint32_t p,
                        struct text *out) {
  const struct model *m = &s->model;
  const struct role *role = process_role(m, p);
  for (uint32_t i = 0; i < role->nvars; i++) {
    const value *chosen = oracle_choice(m, c, w, p, i);
    if (chosen) {
      text_addf(out, ", %s = ", role->vars[i].name);
      value_print(&m->values, m, role->vars[i].type, *chosen, out);
    }
  }
}

static void add_forged(struct session *s, const struct config *c, const struct witness *w, uint32_t p,
                       struct text *out) {
  const struct model *m = &s->model;
  const struct type *type = process_role(m, p)->body[c->point].received;
  for (uint32_t i = 0; i < w->nforged && type; i++)
    if (w->forged[i].receiver == p) {
      text_add(out, ", gets forged ");
      value_print(&m->values, m, type, w->forged[i].message, out);
      text_add(out, " from ");
      process_print(m, w->forged[i].sender, out);
    }
}

/* What happens to p in the round, after its name. */
static void add_part(struct session *s, const struct config *c, const struct witness *w, uint32_t p, struct text *out) {
  if (w->crashes[p])
    text_add(out, " crashes");
  else
    add_heard(s, w, p, out);
  add_oracles(s, c, w, p, out);
  add_forged(s, c, w, p, out);
  add_picks(&w->sends[p], ", picks for sending ", out);
  add_picks(&w->updates[p], ", picks ", out);
}

/* Everybody's part, or everybody's but that of one process. */
static void add_parts(struct session *s, const struct config *c, const struct witness *w, uint32_t but,
                      struct text *out) {
  for (uint32_t p = 0; p < w->nprocesses; p++) {
    if (!process_active(c->local[p][LOCAL_STATUS]) || p == but)
      continue;
    text_add(out, out->n ? "; " : "");
    process_print(&s->model, p, out);
    add_part(s, c, w, p, out);
  }
}

static void describe_round(struct session *s, const struct config *c, const struct witness *w, struct arena *arena,
                           struct session_choice *out) {
  struct text text = {0};
  out->kind = SESSION_ROUND;
  out->process = SESSION_NO_PROCESS;
  add_parts(s, c, w, SESSION_NO_PROCESS, &text);
  if (!text.n)
    text_add(&text, "nobody takes part");
  out->text = text_to_arena(arena, &text);
}

/* "P(1) ends round 2: hears all", followed by what is fixed for the others. */
static void describe_end_of_round(struct session *s, const struct config *c, const struct numbered_choice *choice,
                                  struct arena *arena, struct session_choice *out) {
  const struct witness *w = session_ended_round(s, choice->witness, choice->process, &c);
  struct text text = {0};
  out->kind = SESSION_END_ROUND;
  out->process = choice->process;
  process_print(&s->model, choice->process, &text);
  text_addf(&text, " ends round %u:", c->rounds + 1);
  add_part(s, c, w, choice->process, &text);
  if (choice->witness)
    add_parts(s, c, w, choice->process, &text);
  out->text = text_to_arena(arena, &text);
}

void choice_describe(struct session *s, const struct config *c, const struct numbered_choice *choice,
                     struct arena *arena, struct session_choice *out) {
  *out = (struct session_choice){.index = choice->index, .allowed = true, .clause = SESSION_NO_CLAUSE};
  if (choice->result == STEP_ERROR) {
    const char *message = choice->error->message;
    out->error = arena_printf(arena, "%s", message ? message : "an error of the model");
  }
  if (choice->process != SESSION_NO_PROCESS)
    describe_end_of_round(s, c, choice, arena, out);
  else if (choice->witness->event)
    describe_event(s, choice->witness->event, arena, out);
  else
    describe_round(s, c, choice->witness, arena, out);
}
