#include "driver/decide.h"

#include "driver/race.h"
#include "driver/context.h"
#include "param/certificate.h"
#include "param/wire.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- in the processes ---- */

struct engine_work {
  const volatile sig_atomic_t *stop; /* or NULL: it is ended with its process */
  const struct engine *engine;
  const struct graph *graph;
};

struct teller_of {
  int wire;
};

static void tell_wire(void *context, const char *reached) {
  const struct teller_of *t = context;
  race_tell(t->wire, reached);
}

static void run_engine(void *context, int wire, struct text *result) {
  const struct engine_work *w = context;
  struct teller_of teller = {wire};
  struct watch watch = {tell_wire, &teller, w->stop};
  struct outcome o;
  outcome_init(&o);
  w->engine->run(w->graph, &watch, &o);
  outcome_write(&o, w->graph, result);
  outcome_release(&o);
}

static void run_check(void *context, int wire, struct text *result) {
  (void)wire;
  certificate_check(context, result); /* empty: confirmed */
}

/* ---- in the judging one ---- */

struct candidate { /* an invariant that is being checked */
  size_t racer, engine;
  char *certificate;
};

struct deciding {
  struct race race;
  const struct graph *graph;
  struct engine_work work[ENGINES];
  struct proof *proof;
  VEC(struct candidate) candidates;
};

static char **reached_by(struct deciding *d, const char *engine) {
  for (uint32_t i = 0; i < d->proof->nreports; i++)
    if (strcmp(d->proof->reports[i].name, engine) == 0)
      return &d->proof->reports[i].reached;
  return NULL;
}

static void report(struct deciding *d, const char *engine, const char *reached) {
  char **at = reached_by(d, engine);
  if (!at)
    return;
  memory_free(*at);
  *at = memory_strdup(reached);
}

static void decided(struct deciding *d, enum outcome_kind kind, const char *engine) {
  d->proof->kind = kind;
  d->proof->by = memory_strdup(engine);
}

/* An engine has ended: what does it say, and is it so? */
static void judge(struct deciding *d, size_t racer) {
  struct racer *r = &d->race.racers.at[racer];
  struct outcome o;
  struct text why = {0};
  if (r->end != RACER_DONE || !outcome_read(&o, d->graph, text_or_empty(&r->result), r->result.n)) {
    struct text said = {0};
    text_addf(&said, "%s%s%s", text_or_empty(&r->progress), r->progress.n ? ", then " : "",
              r->end == RACER_MEMORY ? "out of memory" : "it died");
    report(d, r->name, said.at);
    text_release(&said);
    if (r->end == RACER_DONE)
      outcome_release(&o);
    return;
  }
  report(d, r->name, text_or_empty(&o.reached));
  if (o.kind == OUTCOME_UNSAFE) {
    if (counter_run_replay(&o.run, d->graph->system, d->graph->property, d->graph->open, &why)) {
      decided(d, OUTCOME_UNSAFE, r->name);
      d->proof->run = o.run;
      o.kind = OUTCOME_OPEN; /* the run is the proof's now */
    } else {
      struct text said = {0};
      text_addf(&said, "a run that could not be replayed: %s", text_or_empty(&why));
      report(d, r->name, said.at);
      text_release(&said);
    }
  }
  if (o.kind == OUTCOME_SAFE) {
    struct text script = {0};
    certificate_print(d->graph, o.invariant, &script);
    struct candidate c = {d->race.racers.n, racer, script.at};
    vec_push(&d->candidates, c);
    d->proof->depth = o.depth;
    if (!race_add(&d->race, "check", run_check, script.at))
      report(d, r->name, "an invariant that could not be checked");
  }
  text_release(&why);
  outcome_release(&o);
}

/* The three questions about an invariant were answered. */
static void judge_check(struct deciding *d, struct candidate *c) {
  const struct racer *r = &d->race.racers.at[c->racer];
  const char *engine = d->race.racers.at[c->engine].name;
  if (r->end == RACER_DONE && r->result.n == 0) {
    decided(d, OUTCOME_SAFE, engine);
    d->proof->certificate = c->certificate;
    c->certificate = NULL;
  } else {
    report(d, engine, "an invariant that does not stand the check");
  }
}

static void progress(void *context, const struct race *r) {
  struct text t = {0};
  (void)context;
  for (size_t i = 0; i < r->racers.n; i++)
    if (r->racers.at[i].end == RACER_RUNS && r->racers.at[i].progress.n)
      text_addf(&t, "%s: %s  ", r->racers.at[i].name, r->racers.at[i].progress.at);
  seconds_add(&t, race_clock() - r->start);
  progress_say(r->rondo, t.at);
  text_release(&t);
}

static void start(struct deciding *d, const char *only) {
  for (size_t i = 0; i < ENGINES; i++) {
    if (only && strcmp(only, engines[i].name) != 0)
      continue;
    d->work[i] = (struct engine_work){race_alone(&d->race) ? &d->race.rondo->stop : NULL, &engines[i], d->graph};
    d->proof->reports[d->proof->nreports++] =
        (struct engine_report){engines[i].name, memory_strdup("not started")};
    race_add(&d->race, engines[i].name, run_engine, &d->work[i]);
  }
}

/* How far those got that were still at it. */
static void conclude(struct deciding *d, const struct decide_limits *limits) {
  struct text why = {0};
  for (size_t i = 0; i < d->race.racers.n; i++) {
    const struct racer *r = &d->race.racers.at[i];
    if (r->end == RACER_RUNS && r->progress.n)
      report(d, r->name, r->progress.at);
    else if (r->end == RACER_RUNS)
      report(d, r->name, "had just begun");
  }
  d->proof->seconds = race_clock() - d->race.start;
  d->proof->memory = d->race.most_memory;
  if (d->proof->kind != OUTCOME_OPEN)
    return;
  text_add(&why, "no proof and no counterexample");
  if (d->race.late) {
    text_add(&why, "; the limit of ");
    seconds_add(&why, limits->asked > 0 ? limits->asked : limits->seconds);
    text_add(&why, " was reached");
  } else if (limits->interrupt && *limits->interrupt) {
    text_add(&why, "; interrupted");
  } else {
    text_add(&why, "; every engine gave up");
  }
  d->proof->limit = why.at;
}

void proof_decide(struct graph *g, const char *only, const struct decide_limits *limits,
            struct proof *proof) {
  struct deciding d = {.graph = g, .proof = proof};
  race_init(&d.race, limits->rondo, limits->seconds, limits->memory);
  if (progress_or_null(limits->rondo))
    d.race.progress = progress;
  start(&d, only);
  for (struct racer *r; proof->kind == OUTCOME_OPEN && (r = race_next(&d.race));) {
    size_t at = (size_t)(r - d.race.racers.at);
    struct candidate *checked = NULL;
    for (size_t i = 0; i < d.candidates.n; i++)
      if (d.candidates.at[i].racer == at)
        checked = &d.candidates.at[i];
    if (checked)
      judge_check(&d, checked);
    else
      judge(&d, at);
  }
  progress_say(limits->rondo, NULL);
  conclude(&d, limits);
  race_release(&d.race);
  for (size_t i = 0; i < d.candidates.n; i++)
    memory_free(d.candidates.at[i].certificate);
  vec_release(&d.candidates);
}
