/* Interactive sessions: they do what the interpreter does, in its order; paths can be repeated, saved and loaded;
   looking ahead agrees with what the models expect. The models are those of the repository, at the parameters that
   their expectations name. */
#include "session/round_choices.h"
#include "session/session_internal.h"

#include "analysis/local_properties.h"

#include "checked_text.h"
#include "short.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* --- instances: a model, one of its expectations, an environment and a semantics --- */

struct instance {
  char path[400], line[400];
  struct model *model;
  struct session *session;
  uint32_t environment;
  enum semantics semantics;
  bool env_given, semantics_given;
};

static char *file_text(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f)
    fail_msg("cannot open %s", path);
  char *text = memory_alloc(1 << 20);
  size_t n = fread(text, 1, (1 << 20) - 1, f);
  text[n] = 0;
  fclose(f);
  return text;
}

static struct model *model_of(const char *path, const char *text, const struct param_binding *b, size_t n) {
  struct source source = {path, text, strlen(text)};
  struct arena arena;
  struct diags diags;
  arena_init(&arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &arena, &diags);
  struct model *m = NULL;
  if (!diags.errors && ast_model_kind(file) != MODEL_COUNTERS)
    m = model_typecheck(file, &source, b, n, false, &diags);
  diags_release(&diags);
  arena_release(&arena);
  return m;
}

/* Options of an expectation; false: it asks for more than a session can do. */
static bool read_options(struct instance *in, struct param_binding *b, size_t *n, char *names, const char **env) {
  *n = 0;
  *env = NULL;
  in->semantics_given = false;
  for (char *word = strtok(names, " \n"); word; word = strtok(NULL, " \n")) {
    if (!strcmp(word, "-D")) {
      char *name = strtok(NULL, " \n"), *sign = name ? strchr(name, '=') : NULL;
      if (!sign || *n == 10)
        return false;
      *sign = 0;
      b[(*n)++] = (struct param_binding){name, !strcmp(sign + 1, "true") ? 1 : strtol(sign + 1, NULL, 10)};
    } else if (!strcmp(word, "--env")) {
      *env = strtok(NULL, " \n");
    } else if (!strcmp(word, "--semantics")) {
      const char *name = strtok(NULL, " \n");
      in->semantics_given = true;
      for (unsigned i = SEMANTICS_COARSE; i <= SEMANTICS_INTERLEAVING; i++)
        if (name && !strcmp(name, semantics_name((enum semantics)i)))
          in->semantics = (enum semantics)i;
    } else if (word[0] == '-' || !strcmp(word, "error")) {
      return false;
    }
  }
  return true;
}

static bool instance_open(struct instance *in, const char *text) {
  struct param_binding b[10];
  size_t n;
  const char *env;
  char words[400];
  snprintf(words, sizeof words, "%s", in->line);
  in->model = NULL;
  in->environment = 0;
  if (!read_options(in, b, &n, words, &env))
    return false;
  in->model = model_of(in->path, text, b, n);
  for (uint32_t i = 0; in->model && env && i < in->model->nenvironments; i++)
    if (!strcmp(in->model->environments[i].name, env))
      in->environment = i;
  in->env_given = env != NULL;
  if (in->model && !in->semantics_given)
    in->semantics = in->model->kind == MODEL_MESSAGES ? SEMANTICS_M
                    : in->model->kind == MODEL_SHARED ? SEMANTICS_INTERLEAVING
                                                      : SEMANTICS_COARSE;
  return in->model != NULL;
}

typedef void instance_fn(struct instance *);

/* Rounds are gone through one by one, so there must be few processes. */
static bool small_enough(const struct model *m) { return model_steps(m) ? m->nprocesses <= 6 : m->nprocesses <= 3; }

/* fine: models of rounds, in asynchronous rounds; otherwise in the semantics that the expectation names. */
static void each_instance_of(const char *path, instance_fn *visit, unsigned most, bool fine) {
  struct instance in = {0};
  char *text = file_text(path);
  snprintf(in.path, sizeof in.path, "%s", path);
  unsigned done = 0;
  for (const char *at = strstr(text, "// expect:"); at && done < most; at = strstr(at + 1, "// expect:")) {
    size_t n = strcspn(at + 10, "\n");
    snprintf(in.line, sizeof in.line, "%.*s", (int)n, at + 10);
    if (instance_open(&in, text) && small_enough(in.model) &&
        (fine ? !model_steps(in.model) : in.semantics != SEMANTICS_FINE)) {
      if (fine)
        in.semantics = SEMANTICS_FINE;
      char *why;
      in.session = session_new(in.model, in.environment, in.semantics, &why);
      if (!in.session)
        fail_msg("%s: %s: %s", path, in.line, why);
      visit(&in);
      session_free(in.session);
      done++;
    }
    model_free(in.model);
  }
  memory_free(text);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* In a short run of a sanitized build every fourth model. The tests begin with different ones (`first`), so that
   together they visit all of them. */
static void each_instance_in(instance_fn *visit, unsigned most, size_t first, bool fine) {
  static const char *const folders[] = {"models", "models/broken", "tests/models"};
  const bool few = is_short() && is_sanitized();
  const size_t step = few ? 4 : 1;
  if (few && most > 2)
    most = 2;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    DIR *dir = opendir(folders[i]);
    struct dirent *entry;
    VEC(char *) names = {0};
    assert_non_null(dir);
    while ((entry = readdir(dir)))
      if (strstr(entry->d_name, ".rondo"))
        vec_push(&names, memory_strdup(entry->d_name));
    closedir(dir);
    qsort(names.at, names.n, sizeof *names.at, by_name);
    for (size_t k = 0; k < names.n; k++) {
      char path[400];
      snprintf(path, sizeof path, "%s/%s", folders[i], names.at[k]);
      if (k % step == first % step)
        each_instance_of(path, visit, most, fine);
      memory_free(names.at[k]);
    }
    vec_release(&names);
  }
}

static void each_instance(instance_fn *visit, unsigned most, size_t first) {
  each_instance_in(visit, most, first, false);
}

static void each_instance_and_fine(instance_fn *visit, unsigned most, size_t first) {
  each_instance_in(visit, most, first, false);
  each_instance_in(visit, most, first, true);
}

/* A session of a text at n = 3. */
static struct session *session_of(struct checked_text *k, const char *text, enum semantics semantics) {
  char *why;
  struct param_binding n = {"n", 3};
  check_with(k, text, &n, strstr(text, "param n") ? 1 : 0, false);
  if (!k->model) {
    struct text out = {0};
    fail_msg("%s", diagnostics_text(k, &out));
  }
  struct session *s = session_new(k->model, 0, semantics, &why);
  assert_non_null(s);
  return s;
}

static void session_end(struct checked_text *k, struct session *s) {
  session_free(s);
  release(k);
}

static uint32_t random_state;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return n ? (random_state >> 8) % n : 0;
}

#define GOOD(s, call)                                                                                                  \
  do {                                                                                                                 \
    if (!(call))                                                                                                       \
      fail_msg("%s: %s", #call, session_error(s));                                                                     \
  } while (0)

/* --- paths --- */

#define WALK 5
#define CHOICES 40

struct path {
  uint64_t initial, choices[WALK];
  size_t n;
};

/* Some steps at random; a step that ends in an error is the last. */
static void walk(struct session *s, struct path *p) {
  uint64_t n;
  bool exact;
  const char *error;
  struct span at;
  p->n = 0;
  GOOD(s, session_count_initials(s, 50, &n, &exact));
  if (n == 0)
    return;
  p->initial = random_below((uint32_t)n);
  GOOD(s, session_start(s, p->initial));
  while (p->n < WALK && !session_failed(s, &error, &at)) {
    struct session_choices page;
    GOOD(s, session_choices(s, 0, CHOICES, &page));
    n = page.n;
    if (n)
      p->choices[p->n] = page.at[random_below((uint32_t)n)].index;
    session_choices_release(&page);
    if (n == 0)
      break;
    GOOD(s, session_take(s, p->choices[p->n]));
    p->n++;
  }
}

static void assert_same_paths(struct session *a, struct session *b) {
  assert_int_equal(session_length(a), session_length(b));
  for (size_t i = 0; i <= session_length(a); i++) {
    const struct config *x = session_config_at(a, i), *y = session_config_at(b, i);
    assert_int_equal(x != NULL, y != NULL);
    if (x)
      assert_true(config_equal(&a->model, x, y));
  }
}

static void try_walks(struct instance *in) {
  char *why;
  struct session *again = session_new(in->model, in->environment, in->semantics, &why);
  for (int i = 0; i < 3; i++) {
    struct path p;
    walk(in->session, &p);
    if (!session_started(in->session))
      break;
    GOOD(again, session_replay(again, p.initial, p.choices, p.n));
    assert_same_paths(in->session, again);
    size_t back = random_below((uint32_t)p.n + 1);
    GOOD(again, session_back(again, back));
    assert_int_equal(session_length(again), p.n - back);
    for (size_t k = p.n - back; k < p.n; k++)
      GOOD(again, session_take(again, p.choices[k]));
    assert_same_paths(in->session, again);
    for (size_t k = 0; k < p.n; k++) {
      uint64_t index;
      GOOD(again, session_step_index(again, k, 0, &index));
      assert_int_equal(index, p.choices[k]);
    }
  }
  session_free(again);
}

static void test_walks(void **unused) {
  (void)unused;
  random_state = 1;
  each_instance_and_fine(try_walks, 3, 0);
}

/* --- choices are the interpreter's successors --- */

struct successors {
  struct session *session;
  struct config *next[CHOICES];
  bool error[CHOICES];
  size_t n;
};

static bool add_successor(void *context, const struct witness *w, enum step_result result, const struct config *next,
                          const struct model_error *error) {
  struct successors *k = context;
  (void)w;
  (void)error;
  if (result == STEP_BAD_WITNESS)
    return true;
  if (k->n == CHOICES)
    return false;
  k->error[k->n] = result == STEP_ERROR;
  k->next[k->n++] = result == STEP_OK ? config_copy(&k->session->model, next) : NULL;
  return true;
}

static void try_choices(struct instance *in) {
  struct session *s = in->session;
  struct path p;
  walk(s, &p);
  const char *error;
  struct span at;
  if (!session_started(s))
    return;
  if (session_failed(s, &error, &at))
    GOOD(s, session_back(s, 1));
  struct interpreter *interp = interpreter_new(in->model);
  struct successors k = {.session = s};
  struct session_choices page, half;
  size_t length = session_length(s);
  interpreter_follow(interp, in->semantics, false);
  config_successors(interp, in->environment, session_config_at(s, length), add_successor, &k);
  GOOD(s, session_choices(s, 0, CHOICES, &page));
  assert_int_equal(page.n, k.n);
  GOOD(s, session_choices(s, k.n / 2, CHOICES, &half));
  for (size_t i = 0; i < k.n; i++) {
    assert_int_equal(page.at[i].index, i);
    assert_int_equal(page.at[i].error != NULL, k.error[i]);
    assert_true(page.at[i].text[0] != 0);
    if (i >= k.n / 2)
      assert_string_equal(page.at[i].text, half.at[i - k.n / 2].text);
    GOOD(s, session_take(s, i));
    const struct config *now = session_config_at(s, length + 1);
    assert_int_equal(now != NULL, k.next[i] != NULL);
    if (now)
      assert_true(config_equal(&s->model, now, k.next[i]));
    config_free(k.next[i]);
    GOOD(s, session_back(s, 1));
  }
  session_choices_release(&page);
  session_choices_release(&half);
  interpreter_free(interp);
}

static void test_choices(void **unused) {
  (void)unused;
  random_state = 2;
  each_instance(try_choices, 3, 1);
}

/* Nothing that is forbidden is allowed, and the other way round. */
static void try_forbidden(struct instance *in) {
  struct session *s = in->session;
  struct path p;
  struct session_choices no;
  if (in->semantics == SEMANTICS_COARSE)
    return;
  walk(s, &p);
  const char *error;
  struct span at;
  if (!session_started(s) || session_failed(s, &error, &at))
    return;
  GOOD(s, session_forbidden(s, 0, 20, &no));
  for (size_t i = 0; i < no.n; i++) {
    assert_false(no.at[i].allowed);
    assert_non_null(no.at[i].why);
    if (in->semantics == SEMANTICS_FINE)
      assert_false(session_take(s, no.at[i].index)); /* the process has no choice at all */
    else
      assert_int_equal(no.at[i].index, i);
    if (no.at[i].clause != SESSION_NO_CLAUSE)
      assert_true(no.at[i].clause < in->model->environments[in->environment].nclauses);
  }
  session_choices_release(&no);
}

static void test_forbidden(void **unused) {
  (void)unused;
  random_state = 3;
  each_instance_and_fine(try_forbidden, 3, 2);
}

/* --- rounds by structure --- */

/* Made up, and judged: what is allowed is one of the enumerated rounds, and leads where that one leads. */
static void try_made_up(struct instance *in) {
  struct session *s = in->session;
  struct session_round r;
  struct session_judgement j;
  uint64_t index, most = 100000;
  size_t length = session_length(s);
  if (!session_round_init(s, &r))
    return; /* it is over */
  for (uint32_t p = 0; p < r.nparts; p++) {
    r.parts[p].heard = random_below(2) ? 7 & ((1u << r.nparts) - 1) : random_below(1u << r.nparts);
    r.parts[p].crashes = random_below(6) == 0;
    struct session_candidates all;
    GOOD(s, session_candidates(s, NULL, &all));
    for (uint32_t i = 0; i < r.parts[p].noracles; i++)
      r.parts[p].oracles[i] = random_below((uint32_t)all.at[p].oracles[i].nvalues);
    session_candidates_release(&all);
  }
  r.process = in->semantics == SEMANTICS_FINE ? random_below(r.nparts) : SESSION_NO_PROCESS;
  if (!session_judge(s, &r, &j)) { /* the process has ended all its rounds, or another round has other values */
    assert_int_equal(in->semantics, SEMANTICS_FINE);
    session_round_release(&r);
    return;
  }
  assert_int_equal(session_take_round(s, &r), j.possible && j.allowed);
  if (j.possible && !j.allowed)
    assert_true(j.clause == SESSION_NO_CLAUSE || j.clause < in->model->environments[in->environment].nclauses);
  if (session_length(s) > length) {
    struct config *after =
        session_config_at(s, length + 1) ? config_copy(&s->model, session_config_at(s, length + 1)) : NULL;
    bool found = session_step_index(s, length, most, &index);
    uint64_t n;
    bool exact;
    GOOD(s, session_back(s, 1));
    GOOD(s, session_count_choices(s, most, &n, &exact));
    if (!found && exact)
      fail_msg("%s:%s: an allowed round is not enumerated", in->path, in->line);
    if (found) {
      GOOD(s, session_take(s, index));
      assert_int_equal(session_config_at(s, length + 1) != NULL, after != NULL);
      assert_true(!after || config_equal(&s->model, after, session_config_at(s, length + 1)));
      GOOD(s, session_back(s, 1));
    }
    config_free(after);
  }
  session_round_release(&r);
}

static void try_structure(struct instance *in) {
  struct session *s = in->session;
  struct path p;
  const char *error;
  struct span at;
  if (model_steps(in->model))
    return;
  walk(s, &p);
  if (session_started(s) && session_failed(s, &error, &at))
    GOOD(s, session_back(s, 1));
  for (int i = 0; i < 4 && session_started(s); i++) {
    try_made_up(in);
    GOOD(s, session_back(s, session_length(s) ? 1 : 0));
  }
  for (int i = 0; i < 3; i++) {
    walk(s, &p);
    if (p.n == 0)
      return;
    struct config *after = session_config_at(s, p.n) ? config_copy(&s->model, session_config_at(s, p.n)) : NULL;
    struct session_round round, same;
    struct session_judgement j;
    struct session_candidates all;
    uint64_t index = p.choices[p.n - 1], found;
    GOOD(s, session_round_taken(s, p.n - 1, &round));
    GOOD(s, session_back(s, 1));
    GOOD(s, session_round_nth(s, index, &same));
    for (uint32_t q = 0; q < round.nparts; q++)
      assert_int_equal(round.parts[q].heard, same.parts[q].heard);
    GOOD(s, session_judge(s, &round, &j));
    assert_true(j.possible && j.allowed);
    assert_int_equal(j.error != NULL, after == NULL);
    GOOD(s, session_candidates(s, &round, &all));
    session_candidates_release(&all);
    if (session_candidates(s, NULL, &all)) /* fine: the foremost process may be at the end */
      session_candidates_release(&all);
    else
      assert_int_equal(in->semantics, SEMANTICS_FINE);
    GOOD(s, session_take_round(s, &round));
    assert_int_equal(session_config_at(s, p.n) != NULL, after != NULL);
    if (after) {
      assert_true(config_equal(&s->model, session_config_at(s, p.n), after));
      GOOD(s, session_step_index(s, p.n - 1, 0, &found));
      assert_int_equal(found, index);
    }
    config_free(after);
    session_round_release(&round);
    session_round_release(&same);
  }
}

static void test_structure(void **unused) {
  (void)unused;
  random_state = 4;
  each_instance_and_fine(try_structure, 4, 3);
}

/* --- outcomes --- */

struct outcomes_seen {
  struct session *session;
  struct intern *of[4];    /* by process: local states */
  struct intern *together; /* of all processes */
  bool errors[4];
  uint64_t n;
};
#define PLAIN_MOST 60000

static void put_local(struct session *s, struct intern *to, const struct config *c, uint32_t p) {
  intern_put(to, c->local[p], role_local_length(&s->model.roles[model_role_of(&s->model, p)]));
}

/* All local states as one vector; returns whether it was there. of: one configuration for each process; NULL: c for
 * all. */
static bool put_together(struct session *s, struct intern *to, const struct config *c, struct config *const *of) {
  VEC(int64_t) key = {0};
  for (uint32_t p = 0; p < s->model.nprocesses; p++)
    for (uint32_t i = 0; i < role_local_length(&s->model.roles[model_role_of(&s->model, p)]); i++)
      vec_push(&key, (of ? of[p] : c)->local[p][i]);
  size_t before = intern_count(to);
  bool there =
      of ? intern_find(to, key.at, key.n) != INTERN_NONE : (intern_put(to, key.at, key.n), intern_count(to) == before);
  vec_release(&key);
  return there;
}

static bool see_outcomes(void *context, const struct witness *w, enum step_result result, const struct config *next,
                         const struct model_error *error) {
  struct outcomes_seen *k = context;
  (void)w;
  if (result == STEP_ERROR && error->process < 4)
    k->errors[error->process] = true;
  for (uint32_t p = 0; p < k->session->model.nprocesses && result == STEP_OK; p++)
    put_local(k->session, k->of[p], next, p);
  if (result == STEP_OK)
    put_together(k->session, k->together, next, NULL);
  return ++k->n < PLAIN_MOST;
}

static void compare_outcomes(struct session *s, struct outcomes_seen *k, uint32_t p) {
  struct session_outcomes out;
  struct intern *found = intern_new();
  bool error = false;
  size_t length = session_length(s);
  GOOD(s, session_outcomes(s, p, 0, &out));
  for (size_t i = 0; i < out.n; i++) {
    assert_int_equal(out.at[i].search, SESSION_FOUND);
    GOOD(s, session_take_round(s, &out.at[i].round));
    const struct config *c = session_config_at(s, length + 1);
    assert_int_equal(c == NULL, out.at[i].error);
    error |= out.at[i].error;
    if (c) {
      size_t before = intern_count(found);
      put_local(s, found, c, p);
      assert_int_equal(intern_count(found), before + 1); /* all different */
    }
    GOOD(s, session_back(s, 1));
  }
  assert_true(out.complete);
  assert_int_equal(error, k->errors[p]);
  assert_int_equal(intern_count(found), intern_count(k->of[p]));
  for (uint32_t i = 0; i < intern_count(found); i++)
    assert_int_not_equal(intern_find(k->of[p], intern_at(found, i), intern_length(found, i)), INTERN_NONE);
  session_outcomes_release(&out);
  intern_free(found);
}

static unsigned outcomes_compared, combinations_possible, combinations_not;

/* Outcomes drawn for each process: is there a round with all of them exactly if the plain enumeration has one? */
static void compare_combinations(struct session *s, struct outcomes_seen *k) {
  struct session_outcomes out[4];
  uint32_t n = s->model.nprocesses;
  size_t length = session_length(s);
  for (uint32_t p = 0; p < n; p++)
    GOOD(s, session_outcomes(s, p, 0, &out[p]));
  for (int i = 0; i < 4; i++) {
    const struct session_round *wanted[4];
    struct config *of[4];
    struct session_round found;
    enum session_search search;
    bool ok = true;
    for (uint32_t p = 0; p < n; p++) {
      struct session_outcome *o = &out[p].at[random_below((uint32_t)out[p].n)];
      wanted[p] = &o->round;
      ok &= out[p].n > 0 && !o->error;
    }
    for (uint32_t p = 0; p < n && ok; p++) {
      GOOD(s, session_take_round(s, wanted[p]));
      of[p] = config_copy(&s->model, session_config_at(s, length + 1));
      GOOD(s, session_back(s, 1));
    }
    if (!ok)
      continue;
    GOOD(s, session_find_round(s, wanted, 0, &search, &found));
    bool possible = put_together(s, k->together, NULL, of);
    assert_int_equal(search, possible ? SESSION_FOUND : SESSION_IMPOSSIBLE);
    combinations_possible += possible;
    combinations_not += !possible;
    if (possible) {
      GOOD(s, session_take_round(s, &found));
      assert_true(put_together(s, k->together, session_config_at(s, length + 1), NULL));
      GOOD(s, session_back(s, 1));
    }
    session_round_release(&found);
    for (uint32_t p = 0; p < n; p++)
      config_free(of[p]);
  }
  for (uint32_t p = 0; p < n; p++)
    session_outcomes_release(&out[p]);
}

static void try_outcomes(struct instance *in) {
  struct session *s = in->session;
  struct path path;
  if (model_steps(in->model))
    return;
  walk(s, &path);
  const char *error;
  struct span at;
  if (!session_started(s))
    return;
  if (session_failed(s, &error, &at))
    GOOD(s, session_back(s, 1));
  for (size_t back = session_length(s); back + 1 > 0; back = back > 2 ? back - 2 : SIZE_MAX) {
    GOOD(s, session_back(s, session_length(s) - back));
    const struct config *now = session_config_at(s, session_length(s));
    if (now->point == POINT_END)
      continue;
    struct outcomes_seen k = {.session = s, .together = intern_new()};
    for (uint32_t p = 0; p < 4; p++)
      k.of[p] = intern_new();
    bool all = config_successors(s->interp, s->environment, now, see_outcomes, &k);
    for (uint32_t p = 0; p < s->model.nprocesses && all; p++)
      compare_outcomes(s, &k, p);
    if (all)
      compare_combinations(s, &k);
    outcomes_compared += all;
    intern_free(k.together);
    for (uint32_t p = 0; p < 4; p++)
      intern_free(k.of[p]);
  }
}

static void test_outcomes(void **unused) {
  (void)unused;
  random_state = 5;
  each_instance(try_outcomes, 3, 0);
  print_message("outcomes: %u states; %u combinations are possible, %u are not\n", outcomes_compared,
                combinations_possible, combinations_not);
  assert_true(outcomes_compared > trials(50) && combinations_possible > trials(50));
  assert_true((is_short() && is_sanitized()) || combinations_not > trials(10)); /* few models have any */
}

/* A round that exists is found by what becomes of everybody. */
static void try_find(struct instance *in) {
  struct session *s = in->session;
  struct path path;
  const char *error;
  struct span at;
  if (model_steps(in->model))
    return;
  walk(s, &path);
  if (path.n == 0 || session_failed(s, &error, &at))
    return;
  struct session_round round, found;
  enum session_search search;
  GOOD(s, session_round_taken(s, path.n - 1, &round));
  struct config *after = config_copy(&s->model, session_config_at(s, path.n));
  GOOD(s, session_back(s, 1));
  const struct session_round *wanted[4] = {&round, &round, &round, &round};
  bool asked = session_find_round(s, wanted, 0, &search, &found);
  if (in->semantics == SEMANTICS_FINE && !asked) /* the round was fixed before */
    search = SESSION_GAVE_UP;
  else
    GOOD(s, asked);
  if (search != SESSION_GAVE_UP) {
    assert_int_equal(search, SESSION_FOUND);
    GOOD(s, session_take_round(s, &found));
    const struct config *c = session_config_at(s, path.n);
    for (uint32_t p = 0; p < s->model.nprocesses; p++)
      assert_memory_equal(c->local[p], after->local[p],
                          role_local_length(&s->model.roles[model_role_of(&s->model, p)]) * sizeof(value));
  }
  config_free(after);
  session_round_release(&round);
  session_round_release(&found);
}

static void test_find(void **unused) {
  (void)unused;
  random_state = 6;
  each_instance_and_fine(try_find, 3, 1);
}

/* --- traces --- */

/* A path can be saved for a property exactly if its last state shows it, or evaluating it there fails. */
static void compare_saved(struct session *s) {
  struct session_properties all;
  size_t n = session_length(s);
  if (!session_config_at(s, n))
    return;
  GOOD(s, session_properties(s, n, &all));
  for (size_t k = 0; k < all.n; k++) {
    char *json = session_save(s, (uint32_t)k);
    if ((json != NULL) != (all.at[k].shown || all.at[k].verdict == SESSION_ERROR))
      fail_msg("'%s' is %s: %s", all.at[k].name, json ? "saved" : "not saved", json ? json : session_error(s));
    memory_free(json);
  }
  session_properties_release(&all);
}

static void try_traces(struct instance *in) {
  char *why;
  struct session *s = in->session, *again = session_new(in->model, in->environment, in->semantics, &why);
  struct path p;
  walk(s, &p);
  if (session_started(s)) {
    char *json = session_save(s, UINT32_MAX);
    if (!json)
      fail_msg("%s: %s", in->path, session_error(s));
    compare_saved(s);
    GOOD(again, session_load(again, json, strlen(json)));
    assert_same_paths(s, again);
    uint64_t index;
    GOOD(again, session_initial_index(again, 0, &index));
    assert_int_equal(index, p.initial);
    for (size_t i = 0; i < p.n; i++) {
      if (!session_step_index(again, i, 0, &index))
        fail_msg("%s:%s: %s", in->path, in->line, session_error(again));
      assert_int_equal(index, p.choices[i]);
    }
    for (int i = 0; i < 20; i++) { /* forged ones: refused, or runs */
      size_t k = random_below((uint32_t)strlen(json));
      char kept = json[k];
      json[k] = "0123456789nft{}[]\",:"[random_below(20)];
      session_load(again, json, strlen(json));
      json[k] = kept;
    }
    memory_free(json);
  }
  session_free(again);
}

static void test_traces(void **unused) {
  (void)unused;
  random_state = 7;
  each_instance_and_fine(try_traces, 2, 2);
}

/* --- states and properties can be shown everywhere --- */

static void try_views(struct instance *in) {
  struct session *s = in->session;
  struct path p;
  walk(s, &p);
  for (size_t i = 0; session_started(s) && i <= session_length(s) && session_config_at(s, i); i++) {
    struct session_state state;
    struct session_properties all;
    GOOD(s, session_state(s, i, &state));
    assert_int_equal(state.nprocesses, in->model->nprocesses);
    GOOD(s, session_properties(s, i, &all));
    for (size_t k = 0; k < all.n; k++) {
      const struct property *q = &in->model->properties[k];
      if (all.at[k].verdict == SESSION_NOT_ASKED || q->step || q->until || q->stability_of)
        continue;
      /* the text of the property, evaluated as an expression, says the same */
      char text[2000];
      struct session_result r;
      snprintf(text, sizeof text, "%.*s", (int)(q->formula->at.to - q->formula->at.from),
               in->model->source.text + q->formula->at.from);
      if (q->built_in)
        snprintf(text, sizeof text, "not deadlocked");
      GOOD(s, session_evaluate(s, i, text, false, &r));
      if (r.ok != (all.at[k].verdict != SESSION_ERROR) || (r.ok && r.truth != (all.at[k].verdict == SESSION_TRUE)))
        fail_msg("%s: '%s' is %s", in->path, text, r.text);
      session_result_release(&r);
    }
    session_properties_release(&all);
    session_state_release(&state);
  }
}

static void test_views(void **unused) {
  (void)unused;
  random_state = 8;
  each_instance_and_fine(try_views, 2, 3);
}

/* --- looking ahead --- */

static volatile sig_atomic_t out_of_time;
static void time_is_up(int ignored) {
  (void)ignored;
  out_of_time = 1;
}
static void time_begin(long milliseconds) {
  static timer_t timer;
  static bool made;
  struct itimerspec when = {{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000000}};
  if (!made) {
    signal(SIGALRM, time_is_up);
    assert_int_equal(timer_create(CLOCK_PROCESS_CPUTIME_ID, NULL, &timer), 0);
    made = true;
  }
  timer_settime(timer, 0, &when, NULL);
  out_of_time = 0;
}

static unsigned ahead_decided, ahead_unknown;

/* Is it reachable from some initial state? */
static enum session_reach reach_from_all(struct session *s, uint32_t property) {
  uint64_t n;
  bool exact;
  enum session_reach worst = SESSION_UNREACHABLE;
  if (!session_count_initials(s, 100, &n, &exact) || !exact)
    return SESSION_UNKNOWN;
  for (uint64_t i = 0; i < n && worst != SESSION_REACHABLE; i++) {
    struct session_ahead a;
    if (!session_start(s, i) ||
        !session_ahead(s, SESSION_NONE, &(struct session_goal){property}, &(struct session_limits){5000, 0}, &a))
      return SESSION_UNKNOWN;
    if (a.reach == SESSION_REACHABLE) { /* and so it is, on that way */
      struct session_properties all;
      session_watch(s, NULL);
      GOOD(s, session_replay(s, i, a.choices, (size_t)a.steps));
      const char *error;
      struct span at;
      if (property == UINT32_MAX) {
        assert_true(session_failed(s, &error, &at));
      } else {
        GOOD(s, session_properties(s, (size_t)a.steps, &all));
        assert_true(all.at[property].shown);
        char *json = session_save(s, property);
        assert_non_null(json);
        memory_free(json);
        session_properties_release(&all);
      }
    }
    if (a.reach == SESSION_REACHABLE || (a.reach == SESSION_UNKNOWN && worst == SESSION_UNREACHABLE))
      worst = a.reach;
    session_ahead_release(&a);
  }
  return worst;
}

static bool is_local(const struct instance *in, const struct property *p, uint32_t index) {
  const struct model *m = in->model;
  struct query q = {.properties = &index, .nproperties = 1};
  q.environment = in->env_given ? in->environment : p->environments[0];
  struct arena arena;
  struct refusal why;
  arena_init(&arena);
  enum locality l = locality_of(m, &q, index, &arena, &why);
  arena_release(&arena);
  return l == LOCAL || l == LOCAL_ROUNDS;
}

static void try_property(struct instance *in, const char *name, bool holds) {
  uint32_t found = UINT32_MAX;
  const struct model *m = in->model;
  for (uint32_t i = 0; i < m->nproperties; i++)
    if (!strcmp(m->properties[i].name, name))
      found = i;
  if (found == UINT32_MAX || m->properties[found].kind == PROPERTY_LIVE)
    return;
  const struct property *p = &m->properties[found];
  bool cover = p->kind == PROPERTY_COVER, sure = true, reached = false;
  for (uint32_t i = 0; i < (in->env_given ? 1 : p->nenvironments); i++) {
    char *why;
    struct session *s =
        session_new(in->model, in->env_given ? in->environment : p->environments[i], in->semantics, &why);
    time_begin(is_short() ? 30 : 80);
    session_watch(s, &out_of_time);
    enum session_reach r = reach_from_all(s, found);
    reached |= r == SESSION_REACHABLE;
    sure &= r != SESSION_UNKNOWN;
    session_free(s);
  }
  ahead_decided += sure || reached;
  ahead_unknown += !(sure || reached);
  /* what is not local is checked in fine rounds, unless the line says otherwise: these reach more */
  bool fine = !model_steps(m) && !in->semantics_given && !is_local(in, p, found), expected = cover == holds;
  if (reached ? !expected : expected && sure && !fine)
    fail_msg("%s:%s: '%s' is %s", in->path, in->line, name, reached ? "reached" : "not reached");
}

static void try_ahead(struct instance *in) {
  char words[400], *rest = words, *word;
  bool holds = true;
  snprintf(words, sizeof words, "%s", in->line);
  while ((word = strsep(&rest, " ")) && word[0] != '-') {
    if (!strcmp(word, "holds") || !strcmp(word, "violated"))
      holds = !strcmp(word, "holds");
    else
      try_property(in, word, holds);
  }
}

static void test_ahead(void **unused) {
  (void)unused;
  each_instance(try_ahead, 6, 0);
  print_message("looking ahead: %u decided, %u not\n", ahead_decided, ahead_unknown);
  assert_true(ahead_decided > trials(100));
}

/* --- surveys: rounds one by one, against what can become of each process --- */

static unsigned surveys_compared, survey_targets;

static bool survey(struct instance *in, bool every_round, struct session_survey *out) {
  struct session_survey_request request = {
      .limits = {.states = 200, .steps = 3}, .every_round = every_round, .graph = true};
  GOOD(in->session, session_survey(in->session, &request, out));
  return !out->why || !strcmp(out->why, "the limit on steps");
}

/* Classes are states here: the same ones, each with the same future up to the limit. */
static void compare_classes(const struct session_survey *a, const struct session_survey *b) {
  assert_int_equal(a->nclasses, b->nclasses);
  assert_int_equal(a->nedges, b->nedges);
  for (uint32_t i = 0; i < a->nclasses; i++) {
    bool found = false;
    for (uint32_t k = 0; k < b->nclasses && !found; k++)
      found = !strcmp(a->classes[i].text, b->classes[k].text) && a->classes[i].depth == b->classes[k].depth &&
              a->classes[i].shown == b->classes[k].shown && a->classes[i].final == b->classes[k].final;
    assert_true(found);
  }
}

/* The rounds lead to what was found. */
static void follow_target(struct instance *in, const struct session_target *t) {
  struct session *s = in->session;
  size_t before = session_length(s);
  for (uint64_t i = 0; i < t->steps; i++)
    GOOD(s, session_take_round(s, &t->rounds[i]));
  const char *error;
  struct span at;
  bool there = t->property == UINT32_MAX ? session_failed(s, &error, &at) : false;
  if (t->property != UINT32_MAX) {
    struct session_properties p;
    GOOD(s, session_properties(s, session_length(s), &p));
    there = p.at[t->property].shown;
    session_properties_release(&p);
  }
  assert_true(there);
  GOOD(s, session_back(s, session_length(s) - before));
  survey_targets++;
}

static void try_survey(struct instance *in) {
  struct session_survey a, b;
  if (model_steps(in->model) || in->semantics == SEMANTICS_FINE)
    return;
  uint64_t n = 0;
  bool exact;
  GOOD(in->session, session_count_initials(in->session, 50, &n, &exact));
  for (unsigned k = 0; k < 2 && n; k++) {
    GOOD(in->session, session_start(in->session, random_below((uint32_t)n)));
    bool ok = survey(in, true, &a);
    ok = survey(in, false, &b) && ok;
    if (ok) {
      assert_int_equal(a.complete, b.complete);
      assert_int_equal(a.states, b.states);
      assert_int_equal(a.depth, b.depth);
      assert_memory_equal(a.layers, b.layers, (size_t)(a.depth + 1) * sizeof *a.layers);
      assert_int_equal(a.final, b.final);
      assert_int_equal(a.final_steps, b.final_steps);
      assert_int_equal(a.final_ended, b.final_ended);
      assert_int_equal(a.errors > 0, b.errors > 0);
      compare_classes(&a, &b);
      for (uint32_t i = 0; i < a.ntargets; i++) {
        assert_int_equal(a.targets[i].reach, b.targets[i].reach);
        assert_int_equal(a.targets[i].steps, b.targets[i].steps);
      }
      surveys_compared++;
    }
    for (uint32_t i = 0; i < b.ntargets; i++)
      if (b.targets[i].reach == SESSION_REACHABLE)
        follow_target(in, &b.targets[i]);
    session_survey_release(&a);
    session_survey_release(&b);
  }
}

static void test_surveys(void **unused) {
  (void)unused;
  random_state = 21;
  each_instance(try_survey, 3, 2);
  print_message("surveys: %u compared, %u targets followed\n", surveys_compared, survey_targets);
  assert_true(surveys_compared > trials(30) && survey_targets > trials(40));
}

/* --- by hand --- */

#define FLOOD                                                                                                          \
  "algorithm Flood\nparam n\n"                                                                                         \
  "process P[n] {\n  input x: 0..1\n  var seen: set of 0..1 = {x}\n"                                                   \
  "  repeat 2 { round { send seen to all\n update { seen := seen | union(m for m in received) } } }\n}\n"              \
  "environment crashing {\n  at most 1 processes crash\n  synchronous\n}\n"                                            \
  "environment many { every round: forall p in P: |HO[p]| >= 2 }\n"                                                    \
  "safety same: forall p, q in P: p.seen == q.seen\n"                                                                  \
  "cover both: exists p in P: |p.seen| == 2\n"

static void test_judgements(void **unused) {
  (void)unused;
  struct checked_text k;
  struct session *s = session_of(&k, FLOOD, SEMANTICS_COARSE);
  struct session_round r;
  struct session_judgement j;
  GOOD(s, session_start(s, 1));
  GOOD(s, session_round_init(s, &r));
  GOOD(s, session_judge(s, &r, &j));
  assert_true(j.allowed);
  r.parts[0].heard = 1; /* a message is lost where none may be */
  GOOD(s, session_judge(s, &r, &j));
  assert_true(j.possible && !j.allowed);
  assert_int_equal(j.clause, 1);
  assert_memory_equal(k.model->source.text + j.clause_at.from, "synchronous", 11);
  assert_false(session_take_round(s, &r));
  assert_int_equal(session_length(s), 0);
  r.parts[1].crashes = r.parts[2].crashes = true; /* and two crash */
  GOOD(s, session_judge(s, &r, &j));
  assert_false(j.allowed);
  assert_int_equal(j.clause, 0);
  r.parts[1].crashes = false;
  r.parts[0].heard = 3; /* one may, and then it need not be heard */
  GOOD(s, session_take_round(s, &r));
  struct session_outcomes out;
  GOOD(s, session_outcomes(s, 2, 0, &out));
  assert_int_equal(out.n, 1);
  assert_true(out.complete && out.at[0].crashed && !out.at[0].changed);
  session_outcomes_release(&out);
  session_round_release(&r);
  session_end(&k, s);
}

static void test_heard_of_clause(void **unused) {
  (void)unused;
  struct checked_text k;
  char *why;
  session_free(session_of(&k, FLOOD, SEMANTICS_COARSE));
  struct session *s = session_new(k.model, 1, SEMANTICS_COARSE, &why);
  struct session_round r;
  struct session_judgement j;
  struct session_outcomes out;
  GOOD(s, session_start(s, 1)); /* 0, 0, 1 */
  GOOD(s, session_round_init(s, &r));
  r.parts[1].heard = 4;
  GOOD(s, session_judge(s, &r, &j));
  assert_false(j.allowed);
  assert_int_equal(j.clause, 0);
  session_round_release(&r);
  GOOD(s, session_outcomes(s, 0, 0, &out));
  assert_int_equal(out.n, 2);
  assert_true(out.complete);
  session_outcomes_release(&out);
  session_end(&k, s);
}

static void test_many_processes(void **unused) {
  (void)unused;
  struct checked_text k;
  struct param_binding n = {"n", 9};
  char *why;
  check_with(&k, FLOOD, &n, 1, false);
  struct session *s = session_new(k.model, 1, SEMANTICS_COARSE, &why);
  struct session_outcomes out;
  GOOD(s, session_start(s, 1)); /* all have 0 but the last */
  GOOD(s, session_outcomes(s, 0, 0, &out));
  assert_int_equal(out.n, 2);
  assert_true(out.complete);
  const struct session_round *wanted[9] = {0};
  struct session_round found;
  enum session_search search;
  for (int p = 0; p < 9; p++)
    wanted[p] = &out.at[1].round;
  GOOD(s, session_find_round(s, wanted, 0, &search, &found));
  assert_int_equal(search, SESSION_FOUND);
  GOOD(s, session_take_round(s, &found));
  session_round_release(&found);
  session_outcomes_release(&out);
  session_end(&k, s);
}

#define TWO_STEPS                                                                                                      \
  "algorithm Two\nmessage a(v: 0..1)\n"                                                                                \
  "process S[2] { start { send a(0) to R  send a(1) to R } }\n"                                                        \
  "process R[1] { var x: 0..9 = 0  on a(v) { x := x + v + 1 } }\n"                                                     \
  "environment e {\n  at most 1 processes crash\n  at most 1 messages are lost\n  channels fifo\n}\n"                  \
  "safety small: forall r in R: r.x < 3\n"                                                                             \
  "safety slow: step forall r in R: r.x' <= r.x + 1\n"                                                                 \
  "cover some: exists r in R: r.x > 0\n"

static size_t find_text(const struct session_choices *page, const char *text) {
  for (size_t i = 0; i < page->n; i++)
    if (!strcmp(page->at[i].text, text))
      return i;
  for (size_t i = 0; i < page->n; i++)
    print_error("%s\n", page->at[i].text);
  fail_msg("there is no '%s'", text);
  return 0;
}

static void take_text(struct session *s, const char *text) {
  struct session_choices page;
  GOOD(s, session_choices(s, 0, 1000, &page));
  GOOD(s, session_take(s, page.at[find_text(&page, text)].index));
  session_choices_release(&page);
}

static void test_steps(void **unused) {
  (void)unused;
  struct checked_text k;
  struct session *s = session_of(&k, TWO_STEPS, SEMANTICS_M);
  struct session_choices no, taken;
  struct session_state state;
  GOOD(s, session_start(s, 0));
  take_text(s, "S(1): 'start'");
  take_text(s, "S(1) crashes");
  GOOD(s, session_forbidden(s, 0, 100, &no));
  size_t crash = find_text(&no, "S(2) crashes"), over = find_text(&no, "R(1): 'a' with a(v: 1) from S(1)");
  assert_int_equal(no.at[crash].clause, 0);
  assert_int_equal(no.at[crash].kind, SESSION_CRASH);
  assert_memory_equal(k.model->source.text + no.at[crash].clause_at.from, "at most 1 proc", 14);
  assert_int_equal(no.at[over].clause, 2);
  session_choices_release(&no);
  take_text(s, "a(v: 0) from S(1) to R(1) is lost");
  take_text(s, "R(1): 'a' with a(v: 1) from S(1)");
  GOOD(s, session_taken(s, 3, &taken));
  assert_string_equal(taken.at[0].action, "a");
  assert_int_equal(taken.at[0].ntaken, 1);
  session_choices_release(&taken);
  GOOD(s, session_state(s, 4, &state));
  assert_int_equal(state.lost, 1);
  assert_int_equal(state.nmessages, 0);
  assert_string_equal(state.processes[0].status, "crashed");
  bool x = false;
  for (size_t i = 0; i < state.nvalues; i++)
    if (!strcmp(state.values[i].name, "x")) {
      assert_string_equal(state.values[i].text, "2");
      x = state.values[i].changed;
    }
  assert_true(x);
  session_state_release(&state);
  session_end(&k, s);
}

static void test_properties(void **unused) {
  (void)unused;
  struct checked_text k;
  struct session *s = session_of(&k, TWO_STEPS, SEMANTICS_M);
  struct session_properties all;
  GOOD(s, session_start(s, 0));
  take_text(s, "S(1): 'start'");
  take_text(s, "R(1): 'a' with a(v: 0) from S(1)");
  take_text(s, "R(1): 'a' with a(v: 1) from S(1)");
  GOOD(s, session_properties(s, 0, &all));
  assert_int_equal(all.at[1].verdict, SESSION_NOT_ASKED);
  assert_int_equal(all.at[2].verdict, SESSION_FALSE);
  session_properties_release(&all);
  GOOD(s, session_properties(s, 3, &all));
  assert_int_equal(all.at[0].verdict, SESSION_FALSE);
  assert_true(all.at[0].shown && all.at[1].shown && all.at[2].shown);
  assert_int_equal(all.at[0].nbindings, 1);
  assert_string_equal(all.at[0].bindings[0], "r = R(1)");
  assert_string_equal(all.at[0].reads[0], "R(1).x = 3");
  assert_string_equal(all.at[2].bindings[0], "r = R(1)");
  session_properties_release(&all);
  char *json = session_save(s, 0);
  assert_non_null(json);
  memory_free(json);
  GOOD(s, session_back(s, 2));
  assert_null(session_save(s, 0)); /* it does not show that */
  struct session_ahead a;
  GOOD(s, session_ahead(s, SESSION_NONE, &(struct session_goal){0}, &(struct session_limits){0}, &a));
  assert_int_equal(a.reach, SESSION_REACHABLE);
  assert_int_equal(a.steps, 2);
  session_ahead_release(&a);
  GOOD(s, session_ahead(s, SESSION_NONE, &(struct session_goal){0}, &(struct session_limits){.steps = 1}, &a));
  assert_int_equal(a.reach, SESSION_UNKNOWN);
  assert_int_equal(a.steps, 1);
  session_ahead_release(&a);
  GOOD(s, session_ahead(s, SESSION_NONE, &(struct session_goal){UINT32_MAX}, &(struct session_limits){0}, &a));
  assert_int_equal(a.reach, SESSION_UNREACHABLE);
  session_ahead_release(&a);
  session_end(&k, s);
}

/* How much was lost decides about the future: the way on which nothing was lost yet is longer. Rounds go on for ever,
   and there are few states. */
static void test_ahead_by_hand(void **unused) {
  (void)unused;
  struct checked_text k;
  struct session_ahead a;
  struct session_limits none = {0};
  struct session *s = session_of(&k,
                                 "algorithm L\nmessage a, b, c\n"
                                 "process S[1] { start { send a to R  send b to R  send c to R } }\n"
                                 "process R[1] { var y: bool = false  var bad: bool = false\n"
                                 "  on a { y := y }  on b { y := true }  on c { if not y { bad := true } } }\n"
                                 "environment e { at most 1 messages are lost; channels fifo }\n"
                                 "cover reached: exists r in R: r.bad\n",
                                 SEMANTICS_M_MP);
  GOOD(s, session_start(s, 0));
  GOOD(s, session_ahead(s, SESSION_NONE, &(struct session_goal){0}, &none, &a));
  assert_int_equal(a.reach, SESSION_REACHABLE);
  assert_int_equal(a.steps, 6);
  session_ahead_release(&a);
  take_text(s, "S(1): 'start'");
  struct session_choices page;
  GOOD(s, session_choices(s, 0, 100, &page));
  uint64_t lose = page.at[find_text(&page, "a from S(1) to R(1) is lost")].index;
  session_choices_release(&page);
  GOOD(s, session_ahead(s, lose, &(struct session_goal){0}, &none, &a));
  assert_int_equal(a.reach, SESSION_UNREACHABLE);
  session_ahead_release(&a);
  session_end(&k, s);

  s = session_of(&k,
                 "algorithm E\nparam n\nprocess P[n] { var x: 0..2 = 0\n"
                 "  round { send x to all update { if |received| == 0 and x < 2 { x := x + 1 } } } }\n"
                 "environment e { from round 3: forall p in P: |HO[p]| >= 1 }\n"
                 "safety low: forall p in P: p.x < 2\ncover high: exists p in P: p.x == 2 and round == 3\n",
                 SEMANTICS_COARSE);
  GOOD(s, session_start(s, 0));
  GOOD(s, session_ahead(s, SESSION_NONE, &(struct session_goal){0}, &none, &a));
  assert_int_equal(a.reach, SESSION_REACHABLE);
  assert_int_equal(a.steps, 2);
  session_ahead_release(&a);
  GOOD(s, session_take(s, 0));
  GOOD(s, session_ahead(s, SESSION_NONE, &(struct session_goal){0}, &none, &a));
  assert_int_equal(a.reach, SESSION_UNREACHABLE);
  assert_true(a.states < 50);
  session_ahead_release(&a);
  GOOD(s, session_back(s, 1));
  GOOD(s, session_ahead(s, SESSION_NONE, &(struct session_goal){1}, &none, &a));
  assert_int_equal(a.reach, SESSION_REACHABLE);
  assert_int_equal(a.steps, 3);
  session_ahead_release(&a);
  session_end(&k, s);
}

static void test_expressions(void **unused) {
  (void)unused;
  static const struct {
    const char *text, *value, *error;
    bool step;
  } all[] = {
      {"1 + 2", "3", NULL, false},
      {"R(1).x", "2", NULL, false},
      {"forall r in R: r.x == 2", "true", NULL, false},
      {"{p for p in S}", "{S(1), S(2)}", NULL, false},
      {"count(r in R: r.x > 5)", "0", NULL, false},
      {"max(r.x for r in R if r.x > 5)", NULL, "max", false},
      {"R(1).x' - R(1).x", "1", NULL, true},
      {"R(1).x'", NULL, "step", false},
      {"R(1).y", NULL, "'y'", false},
      {"1 +", NULL, "expected", false},
      {"1 } safety x: true", NULL, "expected", false},
      {"", NULL, "expected", false},
      {"none", NULL, "type", false},
      {"1..3", NULL, "", false},
      {"x", NULL, "unknown name 'x'", false},
      {"eventually true", NULL, "live", false},
      {"pick(r for r in R)", NULL, "pick", false},
      {"received", NULL, "", false},
      {"1 / 0", NULL, "zero", false},
  };
  struct checked_text k;
  struct session *s = session_of(&k, TWO_STEPS, SEMANTICS_M);
  GOOD(s, session_start(s, 0));
  take_text(s, "S(1): 'start'");
  take_text(s, "R(1): 'a' with a(v: 0) from S(1)");
  take_text(s, "S(2): 'start'");
  take_text(s, "R(1): 'a' with a(v: 0) from S(2)");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct session_result r;
    GOOD(s, session_evaluate(s, 4, all[i].text, all[i].step, &r));
    if (r.ok != (all[i].value != NULL) || (r.ok && strcmp(r.text, all[i].value)) ||
        (!r.ok && !strstr(r.text, all[i].error)))
      fail_msg("'%s' is %s", all[i].text, r.text);
    session_result_release(&r);
  }
  struct session_result r;
  assert_false(session_evaluate(s, 5, "1", false, &r));
  assert_false(session_evaluate(s, 0, "1", true, &r));
  session_end(&k, s);
}

static void test_bad_indices(void **unused) {
  (void)unused;
  struct checked_text k;
  char *why;
  struct session *s = session_of(&k, FLOOD, SEMANTICS_COARSE);
  assert_null(session_new(k.model, 9, SEMANTICS_COARSE, &why));
  memory_free(why);
  assert_null(session_new(k.model, 0, SEMANTICS_M, &why));
  memory_free(why);
  struct session_choices page;
  struct session_state state;
  struct session_round r = {0};
  struct session_outcomes out;
  struct session_ahead a;
  struct session_goal goal = {0};
  struct session_limits none = {0};
  assert_false(session_choices(s, 0, 10, &page));
  assert_false(session_take(s, 0));
  assert_false(session_state(s, 0, &state));
  assert_null(session_save(s, UINT32_MAX));
  assert_false(session_ahead(s, SESSION_NONE, &goal, &none, &a));
  assert_false(session_start(s, 8));
  assert_false(session_start(s, SESSION_NONE));
  GOOD(s, session_start(s, 7));
  assert_false(session_take(s, 1000));
  assert_false(session_take(s, SESSION_NONE));
  assert_false(session_back(s, 1));
  assert_false(session_take_round(s, &r));
  assert_false(session_outcomes(s, 3, 0, &out));
  assert_false(session_ahead(s, 1000, &goal, &none, &a));
  goal.property = 2;
  assert_false(session_ahead(s, SESSION_NONE, &goal, &none, &a));
  assert_null(session_payload_text(s, 0, UINT64_MAX));
  assert_null(session_payload_text(s, 9, 0));
  assert_null(session_oracle_text(s, 0, 0, 0));
  GOOD(s, session_round_init(s, &r));
  r.parts[0].heard = 8;
  assert_false(session_take_round(s, &r));
  r.parts[0].heard = 7;
  struct session_forgery lie = {.sender = 5};
  r.parts[0].forged = &lie;
  r.parts[0].nforged = 1;
  assert_false(session_take_round(s, &r));
  lie = (struct session_forgery){.sender = 1, .payload = 99};
  assert_false(session_take_round(s, &r));
  lie.payload = 0; /* nobody lies here */
  assert_false(session_take_round(s, &r));
  uint64_t bad[] = {0, 99999};
  assert_false(session_replay(s, 0, bad, 2));
  assert_int_equal(s->path.initial_index, 7);
  session_round_release(&r);
  assert_false(session_load(s, "{", 1));
  assert_false(session_load(s, "[]", 2));
  assert_false(session_load(s, "{\"schema\": \"rondo-trace/1\"}", 27));
  session_end(&k, s);
}

#define UNTIL                                                                                                          \
  "algorithm Until\nparam n\nprocess P[n] {\n"                                                                         \
  "  var done: bool = false\n  var bad: bool = false\n"                                                                \
  "  repeat 1 {\n    round a { send true to all update { done := |received| == n } }\n"                                \
  "    round b { update { bad := true done := false } }\n  }\n}\n"                                                     \
  "environment free {}\nsafety calm: (forall p in P: not p.bad) until (exists p in P: p.done)\n"

/* The first choice is that P(1) hears everybody: then the property is over. */
static void test_until_is_over(void **unused) {
  (void)unused;
  static const enum semantics all[] = {SEMANTICS_COARSE, SEMANTICS_FINE};
  for (size_t i = 0; i < 2; i++) {
    struct checked_text k;
    struct session *s = session_of(&k, UNTIL, all[i]);
    GOOD(s, session_start(s, 0));
    for (unsigned steps = 0; steps < 2; steps++) {
      GOOD(s, session_take(s, 0));
      compare_saved(s);
    }
    char *json = session_save(s, 0);
    assert_null(json);
    assert_non_null(strstr(session_error(s), "'until'"));
    session_end(&k, s);
  }
}

static void test_stop(void **unused) {
  (void)unused;
  struct checked_text k;
  volatile sig_atomic_t stop = 1;
  struct session *s = session_of(&k, FLOOD, SEMANTICS_COARSE);
  struct session_choices page;
  struct session_outcomes out;
  struct session_ahead a;
  struct session_goal goal = {0};
  struct session_limits none = {0};
  GOOD(s, session_start(s, 1));
  session_watch(s, &stop);
  assert_false(session_choices(s, 0, 10, &page));
  assert_true(session_interrupted(s));
  assert_false(session_take(s, 0));
  assert_int_equal(session_length(s), 0);
  assert_true(session_outcomes(s, 0, 0, &out));
  assert_false(out.complete);
  session_outcomes_release(&out);
  assert_true(session_ahead(s, SESSION_NONE, &(struct session_goal){UINT32_MAX}, &none, &a));
  assert_int_equal(a.reach, SESSION_UNKNOWN);
  session_ahead_release(&a);
  stop = 0;
  GOOD(s, session_take(s, 0));
  GOOD(s, session_ahead(s, SESSION_NONE, &goal, &none, &a));
  session_ahead_release(&a);
  session_end(&k, s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_walks),          cmocka_unit_test(test_choices),
      cmocka_unit_test(test_forbidden),      cmocka_unit_test(test_structure),
      cmocka_unit_test(test_outcomes),       cmocka_unit_test(test_find),
      cmocka_unit_test(test_traces),         cmocka_unit_test(test_views),
      cmocka_unit_test(test_ahead),          cmocka_unit_test(test_surveys),
      cmocka_unit_test(test_judgements),     cmocka_unit_test(test_heard_of_clause),
      cmocka_unit_test(test_many_processes), cmocka_unit_test(test_steps),
      cmocka_unit_test(test_properties),     cmocka_unit_test(test_expressions),
      cmocka_unit_test(test_ahead_by_hand),  cmocka_unit_test(test_bad_indices),
      cmocka_unit_test(test_until_is_over),  cmocka_unit_test(test_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
