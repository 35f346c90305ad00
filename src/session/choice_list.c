/* Choices by index: pages and counts. */
#include "session/session_internal.h"

struct choice_listing {
  struct session *session;
  const struct config *config;
  uint64_t offset, index;
  size_t most;
  struct session_choices *page;
};

static struct session_choice *add_choice(struct choice_listing *l, const struct witness *w, enum step_result result,
                                         const struct model_error *error) {
  struct session_choices *page = l->page;
  page->at = arena_list_grow(&page->arena, page->at, page->n, sizeof *page->at);
  struct session_choice *c = &page->at[page->n++];
  const char *message = error->message ? error->message : "an error of the model";
  choice_describe(l->session, l->config, w, result == STEP_ERROR ? message : NULL, &page->arena, c);
  return c;
}

/* Is the current choice on the page? *more: does the enumeration have to continue after it? */
static bool on_page(struct choice_listing *l, bool *more) {
  uint64_t index = l->index++;
  *more = true;
  if (index < l->offset)
    return false;
  l->page->more = l->page->n == l->most;
  *more = !l->page->more;
  return *more;
}

static bool list_allowed(void *context, uint64_t index, const struct witness *w, enum step_result result,
                         const struct config *next, const struct model_error *error) {
  struct choice_listing *l = context;
  bool more;
  (void)next;
  if (on_page(l, &more))
    add_choice(l, w, result, error)->index = index;
  return more;
}

/* Crashes in the middle of an action are not listed: the crash between two actions represents them. */
static bool list_forbidden(void *context, uint64_t ignored, const struct witness *w, enum step_result result,
                           const struct config *next, const struct model_error *error) {
  struct choice_listing *l = context;
  bool more;
  (void)ignored;
  (void)next;
  if (w->event->kind == EVENT_CRASH && w->event->action != NO_ACTION)
    return true;
  const char *why;
  if (config_allows(l->session->interp, l->session->environment, l->config, w, &why))
    return true;
  uint64_t index = l->index;
  if (on_page(l, &more)) {
    struct session_choice *c = add_choice(l, w, result, error);
    struct clause_blame blame = clause_blame_of(l->session, l->config, w);
    c->index = index;
    c->allowed = false;
    c->why = blame.why;
    c->clause = blame.clause;
    c->clause_at = blame.at;
  }
  return more;
}

static bool list(struct session *s, uint32_t environment, choice_fn *visit, uint64_t offset, size_t max,
                 struct session_choices *page) {
  const struct config *now = session_current(s);
  *page = (struct session_choices){0};
  if (!now)
    return false;
  arena_init(&page->arena);
  struct choice_listing l = {.session = s, .config = now, .offset = offset, .most = max, .page = page};
  if (choices_walk(s, environment, now, visit, &l) != WALK_STOPPED)
    return true;
  session_choices_release(page);
  return false;
}

bool session_choices(struct session *s, uint64_t offset, size_t max, struct session_choices *page) {
  session_clear_error(s);
  return list(s, s->environment, list_allowed, offset, max, page);
}

bool session_forbidden(struct session *s, uint64_t offset, size_t max, struct session_choices *page) {
  session_clear_error(s);
  *page = (struct session_choices){0};
  if (!model_steps(&s->model))
    return session_fail(s, "forbidden rounds are not listed: any round can be judged");
  return list(s, s->relaxed, list_forbidden, offset, max, page);
}

void session_choices_release(struct session_choices *page) {
  arena_release(&page->arena);
  *page = (struct session_choices){0};
}

struct choice_count {
  uint64_t n, most;
};

static bool count_one(void *context, uint64_t index, const struct witness *w, enum step_result result,
                      const struct config *next, const struct model_error *error) {
  struct choice_count *k = context;
  (void)w;
  (void)result;
  (void)next;
  (void)error;
  if (index == k->most)
    return false;
  k->n = index + 1;
  return true;
}

bool session_count_choices(struct session *s, uint64_t most, uint64_t *n, bool *exact) {
  session_clear_error(s);
  const struct config *now = session_current(s);
  struct choice_count k = {0, most};
  enum walk_end walk = now ? choices_walk(s, s->environment, now, count_one, &k) : WALK_STOPPED;
  *n = k.n;
  *exact = walk == WALK_ALL;
  return walk != WALK_STOPPED;
}

bool session_taken(struct session *s, size_t step, struct session_choices *page) {
  session_clear_error(s);
  *page = (struct session_choices){0};
  if (step >= s->path.n)
    return session_fail(s, "the path has only %zu steps", s->path.n);
  arena_init(&page->arena);
  page->at = arena_alloc(&page->arena, sizeof *page->at);
  page->n = 1;
  choice_describe(s, session_config_at(s, step), s->path.at[step].witness, s->path.at[step].error, &page->arena,
                  page->at);
  page->at->index = s->path.at[step].index;
  return true;
}
