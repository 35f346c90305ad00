/* Fairness in the fast space of models of steps against its interp (interp/fairness_groups.c): in every state that it
   reaches, what can be taken is what the reference finds by trying every event, and each step is a taking of what the
   reference says. In all semantics, with and without reductions, on models of ours and on random ones. */
#include "search/visited_set.h"
#include "steps/dead_data.h"
#include "steps/step_system_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define LIVE_SYSTEM_TYPE struct step_system
#include "live_system.h"
#include "short.h"

#ifdef __SANITIZE_ADDRESS__ /* slow */
#define STATES 20
#define RANDOM_MODELS 12
#else
#define STATES 120
#define RANDOM_MODELS 40
#endif

/* --- a space to look at --- */

static void trial_init(struct live_system *t, const char *text, const struct param_binding *bindings, size_t nbindings,
                       const char *environment, enum semantics semantics, bool reduce) {
  live_system_read(t, text, bindings, nbindings);
  uint32_t e = 0;
  while (environment && strcmp(t->model->environments[e].name, environment) != 0)
    e++;
  live_formula_init(&t->form, t->model, t->property, e);
  live_system_query(t, e, semantics);
  struct reduction_request w = live_system_reductions(reduce);
  struct licences *l = licences_grant(t->model, &t->query, &w, &t->arena);
  interpreter_follow(t->interp, semantics, !l->of[REDUCE_MESSAGE_ORDER].applied);
  struct system_options o = {.max_distance = ANY_DISTANCE};
  t->space = step_system_of(step_system_new(t->interp, t->model, &t->query, l, &o));
}

/* --- what each way finds in a state --- */

struct found { /* names of vectors of numbers: a group, perhaps after a row that the step leads to */
  struct live_system *trial;
  struct intern *names;
  VEC(uint32_t) at;
};

static void add(struct found *f, const content *row, const value *group) {
  uint32_t n = row ? f->trial->space->cells.ncells : 0;
  value *v = memory_alloc((n + 4) * sizeof *v);
  for (uint32_t i = 0; i < n; i++)
    v[i] = row[i];
  memcpy(v + n, group, 4 * sizeof *v);
  uint32_t id = intern_put(f->names, v, n + 4);
  bool known = false;
  for (size_t i = 0; i < f->at.n; i++)
    known |= f->at.at[i] == id;
  if (!known)
    vec_push(&f->at, id);
  memory_free(v);
}

static void fast_group(void *context, uint32_t group) {
  struct found *f = context;
  add(f, NULL, intern_at(f->trial->space->liveness.group_names, group));
}

static void slow_group(void *context, const struct fair_group *g) {
  add(context, NULL, (value[]){g->process, g->action, g->sender, g->message});
}

static bool fast_step(void *context, const struct state *state, const struct edge *edge) {
  struct found *f = context;
  struct step_system *s = f->trial->space;
  if (edge->error || edge->group == NO_GROUP)
    return true;
  uint64_t *words = memory_alloc((s->keys.nwords + 2) * sizeof *words);
  content *row = memory_alloc((s->cells.ncells + 1) * sizeof *row);
  keys_load(&s->keys, state, words);
  keys_unpack(&s->keys, words, row);
  add(f, row, intern_at(s->liveness.group_names, edge->group));
  memory_free(words);
  memory_free(row);
  return true;
}

static bool slow_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  struct found *f = context;
  struct step_system *s = f->trial->space;
  struct fair_group g;
  (void)error;
  if (result != STEP_OK || !event_fair_group(f->trial->interp, f->trial->query.environment, w->event, &g))
    return true;
  uint64_t *words = memory_alloc((s->keys.nwords + 2) * sizeof *words);
  row_from_config(s, next, s->scratch.row);
  if (!row_key(s, s->scratch.row, words, NULL, NULL)) {
    s->base.restart = true;
  } else if (!s->distance.too_far) { /* rounds lie further apart than anybody looks */
    keys_unpack(&s->keys, words, s->scratch.row);
    add(f, s->scratch.row, (value[]){g.process, g.action, g.sender, g.message});
  }
  memory_free(words);
  return !s->base.restart;
}

static int compare_names(const void *a, const void *b) {
  return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static void check_same(struct found *fast, struct found *slow, const char *what, const char *text) {
  if (fast->at.n)
    qsort(fast->at.at, fast->at.n, sizeof *fast->at.at, compare_names);
  if (slow->at.n)
    qsort(slow->at.at, slow->at.n, sizeof *slow->at.at, compare_names);
  bool same =
      fast->at.n == slow->at.n && (!fast->at.n || !memcmp(fast->at.at, slow->at.at, fast->at.n * sizeof *fast->at.at));
  if (!same)
    fail_msg("%s: %zu, the reference has %zu\n%s", what, fast->at.n, slow->at.n, text);
  vec_release(&fast->at);
  vec_release(&slow->at);
}

/* False: keys have become too narrow. */
static bool compare_state(struct live_system *t, const struct state *state, const char *text) {
  struct step_system *s = t->space;
  struct system *space = &s->base;
  struct intern *names = intern_new();
  struct found fast = {t, names, {0}}, slow = {t, names, {0}};
  space->ops->liveness.enabled(space, state, fast_group, &fast);
  keys_load(&s->keys, state, s->words);
  keys_unpack(&s->keys, s->words, s->scratch.row);
  struct config *c = state_cells_to_config(&s->cells, s->scratch.row);
  config_groups(t->interp, t->query.environment, c, slow_group, &slow);
  check_same(&fast, &slow, "groups that are possible", text);
  fast.at = slow.at = (__typeof__(fast.at)){0};
  bool more = space->ops->successors(space, state, fast_step, &fast) && !space->restart &&
              config_successors(t->interp, t->query.environment, c, slow_step, &slow) && !space->restart;
  if (more)
    check_same(&fast, &slow, "steps with their groups", text);
  else {
    vec_release(&fast.at);
    vec_release(&slow.at);
  }
  config_free(c);
  intern_free(names);
  return more;
}

static bool reach(void *context, const struct state *state, const struct edge *edge) {
  state_ref ref;
  if (!edge->error)
    visited_insert(context, state->bytes, state->length, key_hash(state->bytes, state->length), 0, STATE_REF_NONE, 0,
                   &ref);
  return true;
}

static uint32_t compare_states(struct live_system *t, const char *text) {
  struct system *space = &t->space->base;
  uint32_t n;
  do {
    struct visited_set *store = visited_new();
    space->restart = false;
    n = 0;
    if (space->ops->initial(space, reach, store))
      for (state_ref r = visited_first(); r < visited_end(store) && n < STATES && !space->restart;
           r = visited_next(store, r), n++) {
        struct stored at = visited_get(store, r);
        struct state state = {at.bytes, at.length};
        if (compare_state(t, &state, text))
          space->ops->successors(space, &state, reach, store);
      }
    visited_free(store);
  } while (space->restart);
  return n;
}

static void compare(const char *text, const struct param_binding *bindings, size_t n, const char *environment,
                    bool messages) {
  static const enum semantics all[] = {SEMANTICS_M, SEMANTICS_M_MP, SEMANTICS_MP};
  for (size_t i = 0; i < (messages ? sizeof all / sizeof *all : 1); i++)
    for (int reduce = 0; reduce < 2; reduce++) {
      struct live_system t;
      trial_init(&t, text, bindings, n, environment, messages ? all[i] : SEMANTICS_INTERLEAVING, reduce);
      assert_true(compare_states(&t, text) > 0);
      live_system_release(&t);
    }
}

/* --- models of ours --- */

static void compare_file(const char *path, const struct param_binding *bindings, size_t n, const char *environment,
                         bool messages) {
  char *text = calloc(1, 1 << 16);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
  fclose(f);
  compare(text, bindings, n, environment, messages);
  free(text);
}

#define COMPARE(path, environment, messages, ...)                                                                      \
  do {                                                                                                                 \
    const struct param_binding b[] = {__VA_ARGS__};                                                                    \
    compare_file(path, b, sizeof b / sizeof *b, environment, messages);                                                \
  } while (0)

static void test_models(void **state) {
  (void)state;
  COMPARE("models/paxos.rondo", NULL, true, {"acceptors", 2});
  COMPARE("models/paxos_retry.rondo", NULL, true, {"acceptors", 1});
  COMPARE("models/raft_election.rondo", NULL, true, {"n", 2}, {"terms", 1});
  COMPARE("models/raft_election.rondo", "crash", true, {"n", 2}, {"terms", 1});
  COMPARE("models/token_ring.rondo", NULL, true, {"n", 3});
  COMPARE("models/reliable_broadcast_async.rondo", NULL, true, {"n", 2}, {"t", 0}, {"f", 1});
  COMPARE("tests/models/live_symmetry.rondo", NULL, false, {"n", 3});
  COMPARE("tests/models/live_symmetry.rondo", "processes", false, {"n", 2});
}

/* --- random ones --- */

#define ONE_OF(list) (list)[(size_t)rand() % (sizeof(list) / sizeof *(list))]

static const char *const fairness[] = {"fair", "fair processes", "fair actions", "fair strong messages",
                                       "fair strong processes"};
static const char *const channels[] = {
    "", "channels bag", "channels set", "channels fifo", "channels bag bound 1", "channels set bound 1"};
static const char *const faults[] = {"",
                                     "",
                                     "at most 1 processes crash",
                                     "at most 1 processes crash and recover",
                                     "any messages are lost",
                                     "at most 1 messages are lost",
                                     "at most 1 messages are duplicated",
                                     "at most 1 processes are byzantine"};
static const char *const actions[] = {
    "when x < 2 { x := x + 1  send a(x) to others }",
    "when b { b := false  send c to all }",
    "when x == 1 { r := r + 1  send t(r, b) to others }",
    "on a(v) from q if v > x { x := v  seen := seen | {q} }",
    "on a(v) if v <= x { b := not b }",
    "on a(v) { x := v }",
    "on c { x := pick(0..2) }",
    "on c from q { seen := seen - {q}  send a(0) to q }",
    "on m: t { if m.r > r { r := m.r } else { send t(m.r, not m.hot) to others } }",
    "on m: t if m.r == r and m.hot { b := true }",
    "on Q: 2 of a(v) same v { b := true }",
    "on Q: 1 of a(v) same v taken { x := 0 }",
    "on Q: exactly 1 of c taken if not b { b := true  seen := {me} }",
};

static void replace(char *text, const char *from, const char *to) { /* as long */
  for (char *at = text; (at = strstr(at, from));)
    memcpy(at, to, strlen(to));
}

static void write_model(char *out, size_t size) {
  size_t n =
      (size_t)snprintf(out, size,
                       "algorithm M\nparam n = %d\nmessage a(v: 0..2), c, t(r: round, hot: bool)\nprocess P[n] {\n"
                       "  var x: 0..2 = 0\n  var b: bool = false\n  var seen: set of P = {}\n  var r: round = 1\n"
                       "  %s\n",
                       2 + rand() % 2, rand() % 2 ? actions[0] : actions[2 * (rand() % 2)]);
  n += (size_t)snprintf(out + n, size - n,
                        "  when not b and x == 0 { b := true  x := 1  send a(1) to all  send t(r, b) to others }\n");
  for (int i = 1 + rand() % 4; i > 0; i--)
    n += (size_t)snprintf(out + n, size - n, "  %s\n", ONE_OF(actions));
  const char *channel = ONE_OF(channels), *fault = ONE_OF(faults);
  snprintf(out + n, size - n, "}\nenvironment e { %s%s%s%s%s }\nlive l in e: eventually forall p in P: p.b\n",
           ONE_OF(fairness), *channel ? "; " : "", channel, *fault ? "; " : "", fault);
  if (strstr(fault, "byzantine")) { /* who could send any round */
    replace(out, "round", "0..3 ");
    replace(out, "r + 1", "3    ");
  }
}

static void test_random(void **state) {
  (void)state;
  srand(1);
  for (int i = 0; i < (int)trials(RANDOM_MODELS); i++) {
    char text[4096];
    write_model(text, sizeof text);
    compare(text, NULL, 0, NULL, true);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models), cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
