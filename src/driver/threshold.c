/* rondo threshold: for which parameters does a property fail, when the condition of `resilience` is
   left open?

   As long as a counterexample is found, the parameters are taken for which the same way leads to it
   (param/region.h), and excluded; what is left in the end is proved safe. Every region is confirmed
   by a question of its own. */
#include "driver/commands.h"
#include "driver/decide.h"
#include "driver/files.h"
#include "driver/prove.h"
#include "driver/race.h"
#include "driver/context.h"
#include "param/region.h"
#include "param/wire.h"
#include "report/json_report.h"
#include "report/threshold_report.h"
#include "symbolic/solver.h"

#include <string.h>

enum { WAYS_MOST = 60 };

struct finding_region {
  const struct graph *graph; /* with nothing excluded */
  const struct counter_run *run;
  const bool *kept;
  enum generality generality;
  const char *script;
};

struct thresholding {
  const struct counter_system *system;
  const struct counter_property *property;
  struct rounds *rounds; /* whose counter system it is; NULL: nobody's */
  const struct options *options;
  struct decide_limits limits;
  double start;
  struct graph *open, *rest; /* nothing is excluded; what was found so far is */
  bool *kept;
  struct threshold t;
};

/* ---- in processes of their own ---- */

static void work_region(void *context, int wire, struct text *result) {
  const struct finding_region *f = context;
  struct cube region;
  struct text script = {0};
  (void)wire;
  if (region_of_run(f->graph, f->run, f->kept, f->generality, &region, &script)) {
    cube_write(&region, result);
    text_addf(result, "\n%s", script.at);
  }
}

static void work_confirm(void *context, int wire, struct text *result) {
  const struct finding_region *f = context;
  (void)wire;
  smtlib_run(f->script, result);
}

static double seconds_left(const struct thresholding *h) {
  double left = h->limits.seconds - (race_clock() - h->start);
  return left > 0.001 ? left : 0.001;
}

/* One piece of work, within the limits; false: it did not end well. */
static bool work_alone(const struct thresholding *h, race_work_fn *work, void *context,
                       struct text *result) {
  struct race race;
  race_init(&race, h->limits.rondo, seconds_left(h), h->limits.memory);
  bool ok = race_add(&race, "region", work, context);
  struct racer *r = ok ? race_next(&race) : NULL;
  ok = r && r->end == RACER_DONE;
  if (ok)
    text_add_n(result, text_or_empty(&r->result), r->result.n);
  race_release(&race);
  return ok;
}

/* ---- regions ---- */

static bool contains(const struct thresholding *h, const struct cube *region,
                     const struct counter_run *run) {
  int64_t *point = memory_alloc((h->open->nvars + (size_t)1) * sizeof *point);
  for (uint32_t i = 0; i < h->open->nparams; i++)
    point[i] = run->params[h->open->param[i]];
  bool inside = cube_holds(region, point);
  memory_free(point);
  return inside;
}

/* Parameters like those of the run, confirmed. */
static bool take_one(struct thresholding *h, const struct counter_run *run,
                     enum generality generality) {
  struct finding_region f = {h->open, run, h->kept, generality, NULL};
  struct text found = {0}, said = {0};
  struct cube region;
  bool ok = work_alone(h, work_region, &f, &found) && found.n > 0;
  size_t n = found.n;
  if (ok && (ok = cube_read(&region, found.at, &n))) {
    f.script = found.at + n;
    ok = contains(h, &region, run) && work_alone(h, work_confirm, &f, &said) &&
         !strcmp(said.at, "unsat\n");
    if (ok) {
      text_addf(&h->t.scripts, "(reset)\n%s", f.script + strspn(f.script, "\n"));
      vec_push(&h->t.unsafe, region);
      graph_exclude(h->rest, &region);
    } else {
      cube_release(&region);
    }
  }
  text_release(&found);
  text_release(&said);
  return ok;
}

/* What repeats says little about the rest, and the other way round: both. */
static bool take_region(struct thresholding *h, const struct counter_run *run) {
  bool some = run_repeats(h->open, run) && take_one(h, run, REGION_REPEATED);
  for (int g = REGION_WIDE; g < GENERALITIES; g++) {
    if (some && g == REGION_POINT)
      break;
    if (take_one(h, run, (enum generality)g))
      return true;
  }
  return some;
}

static bool late(const struct thresholding *h) {
  return race_clock() - h->start >= h->limits.seconds || *h->limits.interrupt;
}

/* A run of a derived system counts only if the algorithm goes wrong there, too. */
static void disbelieve(const struct thresholding *h, struct proof *proof) {
  if (!h->rounds || proof->kind != OUTCOME_UNSAFE || rounds_violate(h->rounds, proof->run.params))
    return;
  struct text why = {0};
  text_add(&why,
           "the counter system allows too much: it has a run that the search did not find in the "
           "algorithm");
  counter_run_release(&proof->run);
  proof->kind = OUTCOME_OPEN;
  proof->limit = why.at;
}

static void find_threshold(struct thresholding *h) {
  while (!h->t.exact && !late(h) && h->t.ways < WAYS_MOST) {
    struct proof proof;
    struct decide_limits limits = h->limits;
    limits.seconds = seconds_left(h);
    proof_init(&proof, h->property);
    proof_decide(h->rest, h->options->engine, &limits, &proof);
    if (proof.memory > h->t.memory)
      h->t.memory = proof.memory;
    disbelieve(h, &proof);
    enum outcome_kind kind = proof.kind;
    bool more = kind == OUTCOME_UNSAFE && take_region(h, &proof.run);
    h->t.ways += more;
    h->t.exact = kind == OUTCOME_SAFE;
    if (!more) {
      h->t.proof = proof; /* of the rest, or how far it got */
      h->t.has_proof = true;
      return;
    }
    proof_release(&proof);
  }
}

/* Are the parameters outside of all regions, so that the property holds there? */
static bool is_safe(void *context, const int64_t *params) {
  const struct thresholding *h = context;
  int64_t *point = memory_alloc((h->open->nvars + (size_t)1) * sizeof *point);
  bool safe = true;
  for (uint32_t i = 0; i < h->open->nparams; i++) {
    safe &= !h->system->params[h->open->param[i]].of; /* quotients are not known here */
    point[i] = params[h->open->param[i]];
  }
  for (size_t i = 0; i < h->t.unsafe.n && safe; i++)
    safe = !cube_holds(&h->t.unsafe.at[i], point);
  memory_free(point);
  return safe;
}

/* ---- the edge ---- */

static uint32_t parameters_in(const struct graph *g, const int64_t *row) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->nparams; i++)
    n += row[i + 1] != 0;
  return n;
}

/* Are there parameters with nothing to spare (shift 0), or just beyond (shift 1)? Those are in none
 * of the regions. */
static bool edge_exists(const struct thresholding *h, const int64_t *row, int shift) {
  struct solver *s = solver_new();
  int64_t *at = memory_resize(NULL, (h->open->nvars + (size_t)1) * sizeof *at);
  solver_variables(s, h->open->nvars);
  solver_add_any(s, h->open->conditions.at, h->open->conditions.n, NULL);
  memcpy(at, row, (h->open->nvars + (size_t)1) * sizeof *at);
  at[0] += shift;
  solver_add_row(s, at, h->open->nvars + 1, true, NULL);
  uint32_t literal = solver_literals(s, 1);
  solver_add_clause(s, &literal, 1);
  for (size_t i = 0; shift && i < h->t.unsafe.n; i++)
    solver_add_excluded(s, literal, &h->t.unsafe.at[i], NULL);
  bool there = solver_check(s) == ANSWER_YES;
  memory_free(at);
  solver_free(s);
  return there;
}

/* A counterexample where one constraint of a region holds with nothing to spare. */
static bool run_on_edge(struct thresholding *h, const struct cube *region, uint32_t constraint) {
  struct text why = {0};
  struct graph *g = graph_new(h->system, h->property, true, NULL, &why);
  text_release(&why);
  if (!g)
    return false;
  struct cube edge;
  struct decide_limits limits = h->limits;
  cube_copy(&edge, region);
  cube_add(&edge, cube_row(region, constraint), true);
  graph_restrict(g, &edge);
  cube_release(&edge);
  limits.seconds = seconds_left(h);
  proof_init(&h->t.edge, h->property);
  proof_decide(g, "bounded", &limits, &h->t.edge);
  disbelieve(h, &h->t.edge);
  graph_free(g);
  if (h->t.edge.kind == OUTCOME_UNSAFE)
    return h->t.has_edge = true;
  proof_release(&h->t.edge);
  return false;
}

/* Conditions between parameters make the best edges. */
static void find_edge(struct thresholding *h) {
  for (uint32_t wanted = h->open->nparams; wanted > 0 && !h->t.has_edge; wanted--)
    for (size_t i = 0; i < h->t.unsafe.n && !h->t.has_edge; i++) {
      const struct cube *c = &h->t.unsafe.at[i];
      for (uint32_t k = 0; k < c->n && !h->t.has_edge; k++)
        if (parameters_in(h->open, cube_row(c, k)) == wanted && edge_exists(h, cube_row(c, k), 0) &&
            edge_exists(h, cube_row(c, k), 1))
          run_on_edge(h, c, k);
    }
}

/* ---- the command ---- */

static void mark_params(const struct term *t, const struct graph *g, bool *kept) {
  if (t->op == TERM_PARAM && g->system->params[t->index].of) {
    mark_params(g->system->params[t->index].of, g, kept);
    return;
  }
  for (uint32_t i = 0; t->op == TERM_PARAM && i < g->nparams; i++)
    kept[i] |= g->param[i] == t->index;
  for (int i = 0; i < 3; i++)
    if (t->kid[i])
      mark_params(t->kid[i], g, kept);
}

static const struct counter_property *property_of(const struct counter_system *s,
                                                  const struct options *o) {
  const char **names = memory_alloc((s->nproperties + (size_t)1) * sizeof *names);
  const struct counter_property *found = NULL;
  for (uint32_t i = 0; i < s->nproperties; i++) {
    names[i] = s->properties[i].name;
    if (o->files.n == 2 && !strcmp(names[i], o->files.at[1]))
      found = &s->properties[i];
  }
  if (o->files.n == 1 && s->nproperties == 1)
    found = &s->properties[0];
  else if (o->files.n == 1)
    say_error(o->rondo, "which property?\n  help: rondo threshold FILE PROPERTY; the first is '%s'",
              names[0]);
  else if (!found)
    say_unknown(o->rondo, "property", o->files.at[1], names, s->nproperties);
  memory_free(names);
  return found;
}

static bool something_is_open(struct rondo *context, const struct counter_system *s) {
  for (uint32_t i = 0; i < s->nconditions; i++)
    if (s->conditions[i].resilience)
      return true;
  say_error(context, "'%s' leaves nothing open\n  help: mark the condition in question with 'resilience' "
            "instead of 'where'",
            s->name);
  return false;
}

static bool write_certificate(const struct thresholding *h) {
  struct text out = {0};
  if (!h->options->certificate)
    return true;
  text_addf(&out, "%s%s", h->t.exact ? h->t.proof.certificate : "", text_or_empty(&h->t.scripts));
  bool ok = file_write(h->options->rondo, h->options->certificate, &out);
  text_release(&out);
  return ok;
}

static int answer(struct thresholding *h) {
  struct text why = {0}, out = {0};
  watch_time(h->options->rondo, seconds_left(h));
  h->open = graph_new(h->system, h->property, true, h->limits.interrupt, &why);
  h->rest = h->open ? graph_new(h->system, h->property, true, h->limits.interrupt, &why) : NULL;
  bool stopped = *h->limits.interrupt != 0;
  watch_time(h->options->rondo, 0);
  if (!h->rest) {
    if (stopped)
      say_error(h->options->rondo, "stopped by a limit or a signal before the counter system was unfolded");
    else
      say_error(h->options->rondo, "too large to unfold: %s", why.at);
    text_release(&why);
    graph_free(h->open);
    return EXIT_INCONCLUSIVE;
  }
  h->kept = memory_alloc(h->open->nparams + (size_t)1);
  for (uint32_t i = 0; i < h->system->nconditions; i++)
    if (h->system->conditions[i].resilience)
      mark_params(h->system->conditions[i].term, h->open, h->kept);
  find_threshold(h);
  regions_tidy(&h->t.unsafe, &h->open->conditions);
  if (h->rounds && h->t.exact && rounds_disagree(h->rounds, is_safe, h)) {
    say_error(h->options->rondo, "a fault of rondo itself: the search finds '%s' violated where it was proved",
              h->property->name);
    threshold_release(&h->t);
    memory_free(h->kept);
    graph_free(h->open);
    graph_free(h->rest);
    return EXIT_FAULT;
  }
  find_edge(h);
  h->t.seconds = race_clock() - h->start;
  h->t.graph = h->open;
  if (h->options->json) {
    json_t *j = threshold_json(&h->t);
    json_text(j, &out);
    json_decref(j);
  } else {
    struct style style = context_style(h->options->rondo, h->options->verbose);
    threshold_text(&h->t, &style, &out);
  }
  say(h->options->rondo, &out);
  int status = h->t.exact ? EXIT_HOLDS : EXIT_INCONCLUSIVE;
  if (!write_certificate(h))
    status = EXIT_BAD_INPUT;
  threshold_release(&h->t);
  memory_free(h->kept);
  graph_free(h->open);
  graph_free(h->rest);
  return status;
}

int command_threshold(const struct options *o) {
  struct syntax syntax;
  int status = EXIT_BAD_INPUT;
  if (o->files.n == 0 || o->files.n > 2) {
    say_error(o->rondo, "threshold needs a file and a property\n  help: rondo threshold FILE PROPERTY");
    return EXIT_BAD_INPUT;
  }
  if (!syntax_load(&syntax, o->rondo, o->files.at[0]))
    return EXIT_BAD_INPUT;
  bool rounds = ast_model_kind(syntax.tree) == MODEL_ROUNDS;
  struct thresholding h = {.options = o, .start = race_clock()};
  struct counter_system *s = rounds ? NULL : counters_load(&syntax, o);
  h.limits = prove_limits(o);
  if (rounds && o->files.n == 1)
    say_error(o->rondo, "which property?\n  help: rondo threshold FILE PROPERTY");
  else if (rounds)
    h.rounds = rounds_open(&syntax, o, o->files.at[1], true, &status);
  h.system = h.rounds ? rounds_system(h.rounds) : s;
  h.property = h.rounds ? &h.system->properties[0] : s ? property_of(s, o) : NULL;
  h.t.property = h.property;
  if (h.property)
    status = something_is_open(o->rondo, h.system) ? answer(&h) : EXIT_BAD_INPUT;
  counter_system_free(s);
  rounds_close(h.rounds);
  syntax_release(&syntax);
  return status;
}
