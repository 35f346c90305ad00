#include "driver/query_split.h"

#include "analysis/formula_reads.h"
#include "base/memory.h"
#include "driver/answer_stream.h"
#include "driver/context.h"
#include "driver/query_symbolic.h"
#include "interp/eval.h"

#include <string.h>

/* The search for all properties has so many states when the others are tried. They go as deep as it went with a
   tenth of them, and pay if they have no more than one in PAYS of its states there. So trials take little time in
   comparison, and depend on numbers of states only: every run decides in the same way. What is then left is tried, too:
   the search begins again without the others if all parts together have less than REST_PAYS hundredths of its states.
 */
#define SPLIT_FROM 20000
#define TRIED_PART 10
#define PAYS 3
#define REST_PAYS 67

struct read_class { /* properties that read the same */
  struct formula_reads reads;
  bool step;
  uint32_t *properties, n;
  bool whole;      /* they read all that any of them reads: alone, they would need as many states */
  bool decided;    /* by a trial */
  uint64_t states; /* of the trial; 0: it does not pay to check them alone */
};

struct query_split {
  const struct query_context *of;
  uint32_t environment;
  struct check_result *result;
  struct text *refused, *fault;
  struct read_class *classes;
  uint32_t nclasses;
  uint64_t *layers; /* states of the search for all, by round */
  uint32_t nlayers;
  bool tried, replaces, failed;
  bool *elsewhere; /* by property of the query */
};

/* ---- classes of properties ---- */

static bool same_bits(const bool *a, const bool *b, size_t n) { return n == 0 || !memcmp(a, b, n * sizeof *a); }

static bool same_reads(const struct model *m, const struct formula_reads *a, const struct formula_reads *b) {
  for (uint32_t r = 0; r < m->nroles; r++)
    if (!same_bits(a->vars[r], b->vars[r], m->roles[r].nvars))
      return false;
  return same_bits(a->globals, b->globals, m->nglobals) && a->status == b->status && a->initials == b->initials &&
         a->rounds == b->rounds && a->phase == b->phase && a->quiescence == b->quiescence &&
         a->deadlock == b->deadlock && a->messages == b->messages;
}

static void add_reads(const struct model *m, struct formula_reads *to, const struct formula_reads *more) {
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      to->vars[r][i] |= more->vars[r][i];
  for (uint32_t i = 0; i < m->nglobals; i++)
    to->globals[i] |= more->globals[i];
  to->status |= more->status;
  to->initials |= more->initials;
  to->rounds |= more->rounds;
  to->phase |= more->phase;
  to->quiescence |= more->quiescence;
  to->deadlock |= more->deadlock;
  to->messages |= more->messages;
}

static void add_property(struct query_split *s, uint32_t property, uint32_t most) {
  const struct model *m = s->of->model;
  const struct property *p = &m->properties[property];
  struct formula_reads reads = formula_reads_of(m, p->formula, s->of->arena);
  uint32_t k = 0;
  while (k < s->nclasses && (s->classes[k].step != p->step || !same_reads(m, &s->classes[k].reads, &reads)))
    k++;
  struct read_class *kind = &s->classes[k];
  if (k == s->nclasses) {
    s->nclasses++;
    *kind = (struct read_class){.reads = reads, .step = p->step};
    kind->properties = arena_array(s->of->arena, most, sizeof *kind->properties);
  }
  kind->properties[kind->n++] = property;
}

/* What the class reads, in arrays that may be changed. */
static struct formula_reads reads_of(const struct query_split *s, const struct read_class *kind) {
  const struct model *m = s->of->model;
  return formula_reads_of(m, m->properties[kind->properties[0]].formula, s->of->arena);
}

/* Does this class read all that any of them reads? NULL: do those that neither were decided by a trial nor pay alone?
   Then a search for them is as large as that for all. */
static bool read_everything(const struct query_split *s, const struct read_class *alone) {
  const struct model *m = s->of->model;
  struct formula_reads all = reads_of(s, &s->classes[0]), some = {0};
  bool steps = false, some_steps = false;
  for (uint32_t k = 0; k < s->nclasses; k++) {
    const struct read_class *kind = &s->classes[k];
    add_reads(m, &all, &kind->reads);
    steps |= kind->step;
    if (alone ? kind != alone : kind->decided || kind->states > 0)
      continue;
    if (!some.vars)
      some = reads_of(s, kind);
    add_reads(m, &some, &kind->reads);
    some_steps |= kind->step;
  }
  return some.vars && steps == some_steps && same_reads(m, &all, &some);
}

static bool may_split(const struct query_context *of) {
  const struct command_options *o = of->options;
  enum symbolic_engine engine;
  if (o->ranks.all || o->storage.checkpoints || of->semantics == SEMANTICS_FINE ||
      symbolic_engine_find(o->engine, &engine))
    return false;
  for (unsigned i = 0; i < REDUCTIONS; i++) /* others are meant for what is checked together */
    if (o->requested.reduce[i] != REQUEST_AUTO)
      return false;
  return true;
}

struct query_split *split_new(const struct query_context *of, uint32_t environment, const uint32_t *properties,
                              uint32_t n, struct check_result *c, struct text *refused, struct text *fault) {
  if (n < 2 || !may_split(of))
    return NULL;
  struct query_split *s = memory_alloc(sizeof *s);
  *s = (struct query_split){.of = of, .environment = environment, .result = c, .refused = refused, .fault = fault};
  s->classes = arena_array(of->arena, n, sizeof *s->classes);
  for (uint32_t i = 0; i < n; i++)
    add_property(s, properties[i], n);
  for (uint32_t k = 0; k < s->nclasses; k++)
    s->classes[k].whole = read_everything(s, &s->classes[k]);
  if (s->nclasses > 1)
    return s;
  split_free(s);
  return NULL;
}

void split_free(struct query_split *s) {
  if (!s)
    return;
  memory_free(s->layers);
  memory_free(s->elsewhere);
  memory_free(s);
}

/* ---- trials ---- */

static uint64_t split_from(const struct query_split *s) {
  uint64_t tested = s->of->options->rondo->tests.split_from;
  return tested > 0 ? tested : SPLIT_FROM;
}

static bool is_test(const struct query_split *s) { return s->of->options->rondo->tests.split_from > 0; }

/* The first round with that many states. For tests: the last one. */
static uint32_t trial_rounds(const struct query_split *s) {
  uint32_t i = is_test(s) ? s->nlayers - 1 : 1;
  while (i + 1 < s->nlayers && s->layers[i] < split_from(s) / TRIED_PART)
    i++;
  return i;
}

/* With fewer states a trial pays. For tests it always does, or what follows would not happen in small searches. */
static uint64_t trial_limit(const struct query_split *s, uint32_t rounds) {
  return is_test(s) ? 4 * s->layers[rounds] + 1000 : s->layers[rounds] / PAYS;
}

static bool is_decided(const struct read_class *k, const struct run_result *r) {
  bool all = !search_limited(r->end) && !r->cut && !r->distance_cut && r->nproperties == k->n;
  for (uint32_t i = 0; i < r->nproperties; i++)
    all &= r->properties[i].verdict != VERDICT_INCONCLUSIVE;
  return all;
}

/* With at most so many states. False: refused, or a fault. */
static bool try_alone(struct query_split *s, struct read_class *k, uint64_t most) {
  struct command_options o = *s->of->options;
  struct query_context a = *s->of;
  struct run_result *r = &s->result->runs[s->result->nruns++];
  uint32_t rounds = trial_rounds(s);
  o.limits.trial_rounds = rounds;
  o.limits.states = most;
  a.options = &o;
  a.stream = NULL;
  a.split = NULL;
  a.interp = interpreter_new(a.model); /* the other search is in the middle of something */
  a.interp->coverage = s->of->interp->coverage;
  struct query q = query_make(&a, s->environment, k->properties, k->n);
  bool ok = query_answer(&a, &q, r, s->refused, s->fault);
  k->decided = ok && is_decided(k, r);
  k->states = ok && r->stats.states < most ? r->stats.states : 0;
  if (k->decided) {
    a.options = s->of->options;
    ok = lockstep_recheck(&a, &q, s->result, s->refused, s->fault);
    if (ok && s->of->stream && !s->of->options->audit)
      stream_runs(s->of->stream, s->result);
  } else {
    run_result_release(r);
    s->result->nruns--;
  }
  interpreter_free(a.interp);
  return ok;
}

/* The search for all of them goes on without what was decided. */
static bool go_on_without(struct query_split *s, struct search *search) {
  const struct query *q = search->space->query;
  s->elsewhere = memory_alloc((q->nproperties + (size_t)1) * sizeof *s->elsewhere);
  for (uint32_t i = 0; i < q->nproperties; i++)
    for (uint32_t k = 0; k < s->nclasses; k++)
      for (uint32_t j = 0; j < s->classes[k].n; j++)
        s->elsewhere[i] |= s->classes[k].decided && s->classes[k].properties[j] == q->properties[i];
  search->elsewhere = s->elsewhere;
  return true;
}

static bool is_rest(const struct read_class *k) { return !k->decided && k->states == 0; }

/* Do the parts together have so few states that the search for all of them is better ended? Sets s->failed. */
static bool parts_pay(struct query_split *s) {
  struct read_class rest = {0};
  uint64_t most = is_test(s) ? UINT32_MAX : s->layers[trial_rounds(s)] * REST_PAYS / 100, parts = 0;
  for (uint32_t k = 0; k < s->nclasses; k++) {
    parts += s->classes[k].decided ? 0 : s->classes[k].states;
    rest.n += is_rest(&s->classes[k]) ? s->classes[k].n : 0;
  }
  if (parts >= most || rest.n == 0)
    return parts < most;
  rest.properties = arena_array(s->of->arena, rest.n, sizeof *rest.properties);
  rest.n = 0;
  for (uint32_t k = 0; k < s->nclasses; k++)
    for (uint32_t i = 0; is_rest(&s->classes[k]) && i < s->classes[k].n; i++)
      rest.properties[rest.n++] = s->classes[k].properties[i];
  s->failed = !try_alone(s, &rest, most - parts);
  for (uint32_t k = 0; k < s->nclasses && rest.decided; k++)
    s->classes[k].decided |= is_rest(&s->classes[k]);
  return !s->failed && (rest.decided || rest.states > 0);
}

static bool try_all(struct query_split *s, struct search *search) {
  bool decided = false, pays = false;
  uint64_t most = trial_limit(s, trial_rounds(s));
  for (uint32_t k = 0; k < s->nclasses && !s->failed; k++) {
    if (s->classes[k].whole)
      continue;
    s->failed = !try_alone(s, &s->classes[k], most);
    decided |= s->classes[k].decided;
    pays |= !s->classes[k].decided && s->classes[k].states > 0;
  }
  if (!s->failed)
    s->replaces = (pays || decided) && !read_everything(s, NULL) && parts_pay(s);
  if (s->failed)
    return false;
  query_watch_again(s->of, search);
  return !s->replaces && (!decided || go_on_without(s, search));
}

bool split_after_layer(void *split, struct search *search) {
  struct query_split *s = split;
  uint64_t states = visited_count(search->visited_set);
  if (s->tried)
    return true;
  s->layers = memory_resize_array(s->layers, s->nlayers + 1, sizeof *s->layers);
  s->layers[s->nlayers++] = states;
  if (states < split_from(s) || s->nlayers < 3)
    return true;
  s->tried = true;
  return try_all(s, search);
}

/* ---- what follows ---- */

bool split_failed(const struct query_split *s) { return s && s->failed; }

bool split_replaces(const struct query_split *s) { return s && s->replaces; }

uint32_t split_next(struct query_split *s, uint32_t *properties) {
  struct read_class *least = NULL;
  uint32_t n = 0;
  for (uint32_t k = 0; k < s->nclasses; k++) {
    struct read_class *kind = &s->classes[k];
    if (!kind->decided && kind->states > 0 && (!least || kind->states < least->states))
      least = kind;
  }
  for (uint32_t k = 0; k < s->nclasses; k++) {
    struct read_class *kind = &s->classes[k];
    if (kind->decided || (least && kind != least))
      continue;
    for (uint32_t i = 0; i < kind->n; i++)
      properties[n++] = kind->properties[i];
    kind->decided = true;
  }
  return n;
}

void split_filter(const struct query_split *s, struct run_result *r) {
  uint32_t kept = 0;
  if (!s || !s->elsewhere)
    return;
  for (uint32_t i = 0; i < r->nproperties; i++) {
    bool elsewhere = false;
    for (uint32_t k = 0; k < s->nclasses; k++)
      for (uint32_t j = 0; j < s->classes[k].n; j++)
        elsewhere |=
            r->properties[i].property && s->classes[k].decided && s->classes[k].properties[j] == r->properties[i].index;
    if (elsewhere)
      property_result_release(&r->properties[i]);
    else
      r->properties[kept++] = r->properties[i];
  }
  r->nproperties = kept;
}
