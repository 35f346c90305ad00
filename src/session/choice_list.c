/* Choices by index: pages and counts. */
#include "session/session_internal.h"

#include "interp/async_round.h"
#include "interp/local.h"

#include <stdlib.h>

struct choice_listing {
  struct session *session;
  const struct config *config;
  uint64_t offset, index;
  size_t most;
  struct session_choices *page;
};

static struct session_choice *add_choice(struct choice_listing *l, const struct numbered_choice *choice) {
  struct session_choices *page = l->page;
  page->at = arena_list_grow(&page->arena, page->at, page->n, sizeof *page->at);
  struct session_choice *c = &page->at[page->n++];
  choice_describe(l->session, l->config, choice, &page->arena, c);
  return c;
}

static void forbid(struct session_choice *c, const struct clause_blame *blame) {
  c->allowed = false;
  c->why = blame->why;
  c->clause = blame->clause;
  c->clause_at = blame->at;
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

static bool list_allowed(void *context, const struct numbered_choice *c) {
  struct choice_listing *l = context;
  bool more;
  if (on_page(l, &more))
    add_choice(l, c);
  return more;
}

/* Crashes in the middle of an action are not listed: the crash between two actions represents them. */
static bool list_forbidden(void *context, const struct numbered_choice *choice) {
  struct choice_listing *l = context;
  const struct witness *w = choice->witness;
  const char *why;
  bool more;
  if ((w->event->kind == EVENT_CRASH && w->event->action != NO_ACTION) ||
      config_allows(l->session->interp, l->session->environment, l->config, w, &why))
    return true;
  uint64_t index = l->index;
  if (on_page(l, &more)) {
    struct session_choice *c = add_choice(l, choice);
    struct clause_blame blame = clause_blame_of(l->session, l->config, w);
    c->index = index;
    forbid(c, &blame);
  }
  return more;
}

/* --- asynchronous rounds --- */

/* The choices of one process that are on a page. */
struct process_page {
  struct choice_listing *listing;
  uint64_t from, to; /* indices */
  uint64_t n;        /* of the choices in this range */
  bool list;         /* or only count them */
};

static bool see_choice(void *context, const struct numbered_choice *c) {
  struct process_page *k = context;
  if (c->index >= k->to)
    return false;
  if (c->index >= k->from) {
    k->n++;
    if (k->list)
      add_choice(k->listing, c);
  }
  return true;
}

static int by_index(const void *a, const void *b) {
  uint64_t x = ((const struct session_choice *)a)->index, y = ((const struct session_choice *)b)->index;
  return x < y ? -1 : x > y;
}

static bool see_processes(struct choice_listing *l, uint64_t from, uint64_t to, bool list, uint64_t *n) {
  struct session *s = l->session;
  for (uint32_t p = 0; p < s->model.nprocesses; p++) {
    struct process_page k = {l, from, to, 0, list};
    if (choices_walk(s, s->environment, l->config, p, see_choice, &k) == WALK_STOPPED)
      return false;
    *n += k.n;
  }
  return true;
}

/* The choices of a process are every n-th index at most, so that the end of a page has to be found first. */
static bool list_async(struct choice_listing *l) {
  uint32_t processes = l->session->model.nprocesses;
  uint64_t from = l->offset, to = from, n = 0, step = (l->most / processes + 1) * processes;
  if (from > UINT64_MAX / 2)
    return true;                                               /* nobody has so many choices */
  uint64_t limit = from + (uint64_t)(l->most + 1) * processes; /* enough, even if one process has all choices */
  do {
    to = to + step < limit ? to + step : limit;
    step *= 2;
    n = 0;
    if (!see_processes(l, from, to, false, &n))
      return false;
  } while (n <= l->most && to < limit);
  if (!see_processes(l, from, to, true, &n))
    return false;
  if (l->page->n)
    qsort(l->page->at, l->page->n, sizeof *l->page->at, by_index);
  l->page->more = l->page->n > l->most;
  if (l->page->more)
    l->page->n = l->most;
  return true;
}

struct first_choice {
  struct session *session;
  bool found;
  struct witness *witness; /* or NULL */
};

static bool keep_first(void *context, const struct numbered_choice *c) {
  struct first_choice *k = context;
  k->found = true;
  k->witness = c->witness ? witness_copy(&k->session->model, c->witness) : NULL;
  return false;
}

/* A process that cannot end its round now is listed once: with the round in which it would hear as much as it can. */
static bool list_waiting(struct choice_listing *l, uint32_t p) {
  struct session *s = l->session;
  const struct async_run *run = s->path.async;
  const struct config *now = run->at.at[run->done[p]];
  struct first_choice allowed = {.session = s}, any = {.session = s};
  bool more;
  if (!process_active(now->local[p][LOCAL_STATUS]) || now->point == POINT_END)
    return true;
  if (choices_walk(s, s->environment, l->config, p, keep_first, &allowed) == WALK_STOPPED)
    return false;
  witness_free(allowed.witness);
  if (allowed.found || !on_page(l, &more))
    return true;
  struct clause_blame blame = {.clause = SESSION_NO_CLAUSE, .why = "no round can be ended now"};
  bool fixed = run->done[p] < run->nrounds;
  if (!fixed && choices_walk(s, s->relaxed, l->config, p, keep_first, &any) == WALK_STOPPED)
    return false;
  if (fixed)
    blame.why = session_cannot_end(s, NULL, p);
  else if (any.witness)
    blame = clause_blame_of(s, l->config, any.witness);
  if (fixed || any.witness) {
    struct session_choice *c =
        add_choice(l, &(struct numbered_choice){.index = p, .witness = any.witness, .process = p});
    forbid(c, &blame);
  }
  witness_free(any.witness);
  return true;
}

static bool list_async_forbidden(struct choice_listing *l) {
  for (uint32_t p = 0; p < l->session->model.nprocesses && !l->page->more; p++)
    if (!list_waiting(l, p))
      return false;
  return true;
}

/* --- pages --- */

static bool list_by_index(struct choice_listing *l, uint32_t environment, choice_fn *visit) {
  return choices_walk(l->session, environment, l->config, SESSION_NO_PROCESS, visit, l) != WALK_STOPPED;
}

static bool list(struct session *s, bool allowed, uint64_t offset, size_t max, struct session_choices *page) {
  session_clear_error(s);
  *page = (struct session_choices){0};
  const struct config *now = session_current(s);
  if (!now)
    return false;
  arena_init(&page->arena);
  struct choice_listing l = {.session = s, .config = now, .offset = offset, .most = max, .page = page};
  bool ok = s->path.async ? (allowed ? list_async(&l) : list_async_forbidden(&l))
            : allowed     ? list_by_index(&l, s->environment, list_allowed)
                          : list_by_index(&l, s->relaxed, list_forbidden);
  if (!ok)
    session_choices_release(page);
  return ok;
}

bool session_choices(struct session *s, uint64_t offset, size_t max, struct session_choices *page) {
  return list(s, true, offset, max, page);
}

bool session_forbidden(struct session *s, uint64_t offset, size_t max, struct session_choices *page) {
  if (s->semantics != SEMANTICS_COARSE)
    return list(s, false, offset, max, page);
  *page = (struct session_choices){0};
  session_clear_error(s);
  return session_fail(s, "forbidden rounds are not listed: any round can be judged");
}

void session_choices_release(struct session_choices *page) {
  arena_release(&page->arena);
  *page = (struct session_choices){0};
}

struct choice_count {
  uint64_t n, most;
};

static bool count_one(void *context, const struct numbered_choice *c) {
  struct choice_count *k = context;
  (void)c;
  if (k->n == k->most)
    return false;
  k->n++;
  return true;
}

bool session_count_choices(struct session *s, uint64_t most, uint64_t *n, bool *exact) {
  session_clear_error(s);
  const struct config *now = session_current(s);
  struct choice_count k = {0, most};
  enum walk_end walk = now ? choices_walk(s, s->environment, now, SESSION_NO_PROCESS, count_one, &k) : WALK_STOPPED;
  *n = k.n;
  *exact = walk == WALK_ALL;
  return walk != WALK_STOPPED;
}

bool session_taken(struct session *s, size_t step, struct session_choices *page) {
  session_clear_error(s);
  *page = (struct session_choices){0};
  if (step >= s->path.steps.n)
    return session_fail(s, "the path has only %zu steps", s->path.steps.n);
  const struct path_step *at = &s->path.steps.at[step];
  struct model_error error = {.message = at->error};
  struct numbered_choice c = {.index = at->index,
                              .witness = at->witness,
                              .process = at->process,
                              .result = at->after ? STEP_OK : STEP_ERROR,
                              .error = &error};
  arena_init(&page->arena);
  page->at = arena_alloc(&page->arena, sizeof *page->at);
  page->n = 1;
  choice_describe(s, session_choice_config(s, step), &c, &page->arena, page->at);
  return true;
}
