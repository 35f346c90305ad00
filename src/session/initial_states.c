/* Initial states: listing, counting and choosing them. */
#include "session/session_internal.h"

#include <inttypes.h>

static bool walk_initials(struct session *s, config_initial_fn *visit, void *context, bool *all) {
  struct model_error error = {0};
  session_clear_error(s);
  *all = config_initials(s->interp, s->environment, visit, context, &error);
  if (session_stop_seen(s))
    return false;
  if (!error.message)
    return true;
  uint32_t line, column;
  source_place(&s->model.source, error.at.from, &line, &column);
  return session_fail(s, "line %u: %s", line, error.message);
}

/* --- listing --- */

static void add_inputs(struct session *s, const struct config *c, uint32_t p, struct text *text) {
  const struct model *m = &s->model;
  const struct role *role = &m->roles[model_role_of(m, p)];
  const char *before = " ";
  for (uint32_t i = 0; i < role->nvars; i++) {
    if (role->vars[i].kind != VAR_INPUT)
      continue;
    text_addf(text, "%s%s = ", before, role->vars[i].name);
    value_print(&m->values, m, role->vars[i].type, c->local[p][LOCAL_VAR(i)], text);
    before = ", ";
  }
}

/* What distinguishes initial states: file-level values, inputs and faults. */
static const char *initial_text(struct session *s, struct arena *arena, const struct config *c) {
  const struct model *m = &s->model;
  struct text text = {0};
  for (uint32_t i = 0; i < m->nglobals; i++) {
    text_addf(&text, "%s%s = ", text.n ? ", " : "", m->globals[i].name);
    value_print(&m->values, m, m->globals[i].type, c->globals[i], &text);
  }
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    value status = c->local[p][LOCAL_STATUS];
    text_add(&text, text.n ? "; " : "");
    value_print(&m->values, m, m->process_types.any, p, &text);
    text_add(&text, status ? " " : "");
    status_text(status, &text);
    if (!(status & STATUS_BYZANTINE))
      add_inputs(s, c, p, &text);
  }
  return text_to_arena(arena, &text);
}

struct initial_listing {
  struct session *session;
  uint64_t index, offset;
  size_t most;
  struct session_initials *page;
};

static bool list_initial(void *context, const struct config *c) {
  struct initial_listing *l = context;
  struct session_initials *page = l->page;
  uint64_t index = l->index++;
  if (index < l->offset)
    return true;
  page->more = page->n == l->most;
  if (page->more)
    return false;
  page->at = arena_list_grow(&page->arena, page->at, page->n, sizeof *page->at);
  page->at[page->n++] = (struct session_initial){index, initial_text(l->session, &page->arena, c)};
  return true;
}

bool session_initials(struct session *s, uint64_t offset, size_t max, struct session_initials *page) {
  bool all;
  *page = (struct session_initials){0};
  arena_init(&page->arena);
  struct initial_listing l = {.session = s, .offset = offset, .most = max, .page = page};
  if (walk_initials(s, list_initial, &l, &all))
    return true;
  session_initials_release(page);
  return false;
}

void session_initials_release(struct session_initials *page) {
  arena_release(&page->arena);
  *page = (struct session_initials){0};
}

/* --- choosing --- */

struct initial_search {
  const struct model *model;
  uint64_t seen, most;       /* number of states to examine */
  uint64_t wanted;           /* index, or SESSION_NONE */
  const struct config *like; /* or NULL */
  struct config *found;
};

static bool seek_initial(void *context, const struct config *c) {
  struct initial_search *k = context;
  if (k->seen == k->most)
    return false;
  if (k->seen++ == k->wanted || (k->like && config_equal(k->model, c, k->like)))
    k->found = config_copy(k->model, c);
  return !k->found;
}

bool session_count_initials(struct session *s, uint64_t most, uint64_t *n, bool *exact) {
  struct initial_search k = {.model = &s->model, .most = most, .wanted = SESSION_NONE};
  if (!walk_initials(s, seek_initial, &k, exact))
    return false;
  *n = k.seen;
  return true;
}

bool session_start(struct session *s, uint64_t index) {
  bool all;
  struct initial_search k = {.model = &s->model, .most = UINT64_MAX, .wanted = index};
  bool ok = index != SESSION_NONE && walk_initials(s, seek_initial, &k, &all);
  if (ok && k.found) {
    session_set_initial(s, k.found, index);
    return true;
  }
  config_free(k.found);
  if (index == SESSION_NONE || ok)
    session_fail(s, "there is no initial state %" PRIu64, index);
  return false;
}

bool session_initial_index(struct session *s, uint64_t most, uint64_t *index) {
  bool all;
  session_clear_error(s);
  if (!s->path.initial)
    return session_fail(s, "the session has not started");
  if (s->path.initial_index == SESSION_NONE) {
    struct initial_search k = {
        .model = &s->model, .most = most ? most : UINT64_MAX, .wanted = SESSION_NONE, .like = s->path.initial};
    if (!walk_initials(s, seek_initial, &k, &all)) {
      config_free(k.found);
      return false;
    }
    if (!k.found)
      return session_fail(s, "it is not among the initial states that were looked at");
    s->path.initial_index = k.seen - 1;
    config_free(k.found);
  }
  *index = s->path.initial_index;
  return true;
}
