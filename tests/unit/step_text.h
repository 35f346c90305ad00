/* For tests of steps: models from text, configurations and events as text, and walking along events by name.

   A configuration: processes with program point, status and variables (`*` for each `once` that is used up), globals,
   what was charged, then what is pending: in transit ~, seen ^.
   An event: P2:name[a(1)<P1 a(0)<P3] takes or looks at messages (! forged, + kept, ^ seen), #0,1 its choices;
   deliver a(1) P1>P2; lose a(1) P1>P2; crash P1; crash P1:name[...] out 0 2; recover P1. */
#ifndef RONDO_TESTS_EVENTS_TEXT_H
#define RONDO_TESTS_EVENTS_TEXT_H

#include "interp/config.h"
#include "lang/typecheck.h"

#include "base/vec.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct step_run {
  struct arena arena;
  struct model *model;
  struct interpreter *interp;
  const char *text;
  VEC(struct config *) initials;
  VEC(struct config *) all; /* owned */
  struct config *at;        /* borrowed */
};

/* --- from text --- */

static inline bool step_run_initial(void *context, const struct config *c) {
  struct step_run *s = context;
  struct config *copy = config_copy(s->model, c);
  vec_push(&s->initials, copy);
  vec_push(&s->all, copy);
  return true;
}

static inline struct model *model_from(struct arena *arena, const char *text, const struct param_binding *bindings,
                                       size_t n) {
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct diags diags;
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, arena, &diags);
  struct model *m = diags.errors ? NULL : model_typecheck(file, &source, bindings, n, false, &diags);
  if (!m) {
    struct text out = {0};
    diags_print(&diags, false, &out);
    print_error("%s\n%s\n", text, text_or_empty(&out));
    text_release(&out);
  }
  diags_release(&diags);
  assert_non_null(m);
  return m;
}

static inline struct step_run step_run_begin(const char *text, enum semantics semantics, bool arrivals) {
  struct step_run s = {.text = text};
  arena_init(&s.arena);
  s.model = model_from(&s.arena, text, NULL, 0);
  s.interp = interpreter_new(s.model);
  interpreter_follow(s.interp, semantics, arrivals);
  assert_true(config_initials(s.interp, 0, step_run_initial, &s, &(struct model_error){0}));
  assert_true(s.initials.n > 0);
  s.at = s.initials.at[0];
  return s;
}

static inline void step_run_end(struct step_run *s) {
  for (size_t i = 0; i < s->all.n; i++)
    config_free(s->all.at[i]);
  vec_release(&s->all);
  vec_release(&s->initials);
  interpreter_free(s->interp);
  model_free(s->model);
  arena_release(&s->arena);
}

/* --- to text --- */

static inline void show_process(const struct model *m, uint32_t p, struct text *out) {
  const struct role *role = &m->roles[model_role_of(m, p)];
  text_addf(out, "%s%u", role->name, p - role->first + 1);
}

static inline void show_message(const struct model *m, uint32_t kind, value message, struct text *out) {
  const struct type *t = m->messages[kind].type;
  size_t n;
  text_add(out, m->messages[kind].name);
  for (uint32_t i = 0; i < t->size; i++) {
    text_add(out, i ? ", " : "(");
    value_print(&m->values, m, t->fields[i].type, value_parts(&m->values, message, &n)[i], out);
  }
  text_add(out, t->size ? ")" : "");
}

static inline const char *place_mark(enum packet_place place) {
  return place == PACKET_IN_TRANSIT ? "~" : place == PACKET_SEEN ? "^" : "";
}

static inline void show_local(const struct model *m, const struct config *c, uint32_t p, struct text *out) {
  const struct role *role = &m->roles[model_role_of(m, p)];
  value status = c->local[p][LOCAL_STATUS];
  show_process(m, p, out);
  if (status & STATUS_BYZANTINE) {
    text_add(out, " byzantine");
    return;
  }
  if (role->point_var != NO_VAR)
    text_addf(out, "@%s", role->vars[role->point_var].type->labels[c->local[p][LOCAL_VAR(role->point_var)]]);
  text_addf(out, "%s%s%s", status & STATUS_CRASHED ? " crashed" : "", status & STATUS_RECOVERED ? " back" : "",
            status & STATUS_HALTED ? " halted" : "");
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    value now = c->local[p][LOCAL_VAR(i)];
    if (v->kind == VAR_ONCE && now)
      text_add(out, "*");
    if (v->kind == VAR_ONCE || v->kind == VAR_POINT)
      continue;
    text_addf(out, " %s=", v->name);
    value_print(&m->values, m, v->type, now, out);
  }
}

static inline void show_config(const struct model *m, const struct config *c, struct text *out) {
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    text_add(out, p ? " " : "");
    show_local(m, c, p, out);
  }
  for (uint32_t i = 0; i < m->nglobals; i++) {
    text_addf(out, " %s=", m->globals[i].name);
    value_print(&m->values, m, m->globals[i].type, c->globals[i], out);
  }
  if (c->lost)
    text_addf(out, " (%" PRId64 " lost)", c->lost);
  if (c->duplicated)
    text_addf(out, " (%" PRId64 " duplicated)", c->duplicated);
  for (uint32_t i = 0; i < c->npackets; i++) {
    const struct packet *p = &c->packets[i];
    text_add(out, i ? ", " : " | ");
    show_process(m, p->from, out);
    text_add(out, ">");
    show_process(m, p->to, out);
    text_add(out, " ");
    show_message(m, p->kind, p->message, out);
    text_add(out, place_mark(p->place));
  }
}

static inline void show_action(const struct model *m, const struct event *e, struct text *out) {
  const struct action *a = &m->roles[model_role_of(m, e->process)].actions[e->action];
  text_addf(out, ":%s", a->name);
  for (uint32_t i = 0; i < e->ntaken; i++) {
    const struct taken_message *t = &e->taken[i];
    text_add(out, i ? " " : "[");
    show_message(m, a->kind, t->message, out);
    text_addf(out, "%s%s<", t->forged ? "" : place_mark(t->place), t->kept ? "+" : "");
    show_process(m, t->from, out);
    text_add(out, t->forged ? "!" : "");
  }
  text_add(out, e->ntaken ? "]" : "");
}

static inline void show_event(const struct model *m, const struct event *e, struct text *out) {
  bool message = e->kind == EVENT_DELIVER || e->kind == EVENT_LOSE;
  text_add(out, e->kind == EVENT_DELIVER   ? "deliver "
                : e->kind == EVENT_LOSE    ? "lose "
                : e->kind == EVENT_CRASH   ? "crash "
                : e->kind == EVENT_RECOVER ? "recover "
                                           : "");
  if (message) {
    show_message(m, e->message_kind, e->taken[0].message, out);
    text_add(out, " ");
    show_process(m, e->taken[0].from, out);
    text_add(out, ">");
  }
  show_process(m, e->process, out);
  if (e->action != NO_ACTION)
    show_action(m, e, out);
  for (uint32_t i = 0; i < e->script.n; i++)
    text_addf(out, "%s%u", i ? "," : " #", e->script.at[i]);
  for (uint32_t i = 0; i < e->nout; i++)
    text_addf(out, "%s%u", i ? " " : " out ", e->out[i]);
}

/* --- walking --- */

struct search_for {
  struct step_run *story;
  const char *event;
  struct config *next;
  struct witness *witness;
};

static inline bool find_event(void *context, const struct witness *w, enum step_result result,
                              const struct config *next, const struct model_error *error) {
  struct search_for *f = context;
  struct text out = {0};
  (void)error;
  show_event(f->story->model, w->event, &out);
  if (result == STEP_OK && strcmp(text_or_empty(&out), f->event) == 0 && !f->next) {
    f->next = config_copy(f->story->model, next);
    f->witness = witness_copy(f->story->model, w);
  }
  text_release(&out);
  return !f->next;
}

static inline struct search_for step_run_find(struct step_run *s, const char *event) {
  struct search_for f = {.story = s, .event = event};
  config_successors(s->interp, 0, s->at, find_event, &f);
  if (!f.next) {
    struct text out = {0};
    show_config(s->model, s->at, &out);
    print_error("%s\nin %s\nthere is no event '%s'\n", s->text, text_or_empty(&out), event);
    text_release(&out);
  }
  assert_non_null(f.next);
  return f;
}

static inline struct witness *step_run_witness(struct step_run *s, const char *event) {
  struct search_for f = step_run_find(s, event);
  config_free(f.next);
  return f.witness;
}

/* ?P2: begins where P2 is Byzantine. */
static inline void step_run_choose(struct step_run *s, const char *process) {
  for (size_t i = 0; i < s->initials.n; i++) {
    struct text out = {0};
    bool right = true;
    for (uint32_t p = 0; p < s->model->nprocesses; p++) {
      out.n = 0;
      show_process(s->model, p, &out);
      bool wanted = strcmp(out.at, process) == 0;
      right &= wanted == ((s->initials.at[i]->local[p][LOCAL_STATUS] & STATUS_BYZANTINE) != 0);
    }
    text_release(&out);
    if (right) {
      s->at = s->initials.at[i];
      return;
    }
  }
  fail_msg("nobody like %s", process);
}

static inline void step_run_follow(struct step_run *s, const char *path) {
  char *copy = memory_strdup(path), *rest = copy;
  for (char *line = strtok_r(rest, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    if (line[0] == '?') {
      step_run_choose(s, line + 1);
      continue;
    }
    struct search_for f = step_run_find(s, line);
    witness_free(f.witness);
    vec_push(&s->all, f.next);
    s->at = f.next;
  }
  memory_free(copy);
}

/* --- all that can happen --- */

struct lines {
  struct step_run *story;
  VEC(char *) at;
};

static inline bool add_line(void *context, const struct witness *w, enum step_result result, const struct config *next,
                            const struct model_error *error) {
  struct lines *l = context;
  struct text out = {0};
  show_event(l->story->model, w->event, &out);
  text_add(&out, " => ");
  if (result == STEP_OK)
    show_config(l->story->model, next, &out);
  else
    text_addf(&out, "error: %s", error->message);
  text_add(&out, "\n");
  vec_push(&l->at, memory_strdup(out.at));
  text_release(&out);
  return true;
}

static inline int compare_lines(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static inline void add_sorted(struct lines *l, struct text *out) {
  if (l->at.n)
    qsort(l->at.at, l->at.n, sizeof *l->at.at, compare_lines);
  for (size_t i = 0; i < l->at.n; i++)
    if (i == 0 || strcmp(l->at.at[i - 1], l->at.at[i]) != 0)
      text_add(out, l->at.at[i]);
  for (size_t i = 0; i < l->at.n; i++)
    memory_free(l->at.at[i]);
  vec_release(&l->at);
}

static inline void assert_lines(struct step_run *s, const char *expected) {
  struct lines got = {.story = s}, wanted = {.story = s};
  struct text got_text = {0}, wanted_text = {0};
  assert_true(config_successors(s->interp, 0, s->at, add_line, &got));
  for (const char *at = expected; *at;) {
    const char *end = strchr(at, '\n') + 1;
    struct text line = {0};
    text_add_n(&line, at, (size_t)(end - at));
    vec_push(&wanted.at, memory_strdup(line.at));
    text_release(&line);
    at = end;
  }
  add_sorted(&got, &got_text);
  add_sorted(&wanted, &wanted_text);
  if (strcmp(text_or_empty(&got_text), text_or_empty(&wanted_text)) != 0)
    print_error("%s\nexpected:\n%sgot:\n%s", s->text, text_or_empty(&wanted_text), text_or_empty(&got_text));
  assert_string_equal(text_or_empty(&got_text), text_or_empty(&wanted_text));
  text_release(&got_text);
  text_release(&wanted_text);
}

static inline void assert_config(struct step_run *s, const char *expected) {
  struct text out = {0};
  show_config(s->model, s->at, &out);
  assert_string_equal(text_or_empty(&out), expected);
  text_release(&out);
}

#endif
