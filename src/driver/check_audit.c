#include "driver/check_audit.h"

#include "driver/context.h"

#include "async/async.h"
#include "driver/query_symbolic.h"
#include "report/audit_report.h"

#include <string.h>

#define WAYS_MAX 5
#define DEFAULT_DEPTH 5      /* of bmc, by default */
#define DEFAULT_SECONDS 60.0 /* for the plain successors and for bmc, by default */
#define ASYNC_SECONDS 10.0   /* for asynchronous rounds, by default */
#define ASYNC_DISTANCE 2

static bool no_reductions(const struct reduction_request *requested) {
  bool off = true;
  for (unsigned i = 0; i < REDUCTIONS; i++)
    off &= requested->reduce[i] == REQUEST_OFF;
  return off;
}

/* --- the variants --- */

/* A search without reductions. */
static struct command_options unreduced(const struct command_options *asked) {
  struct command_options o = *asked;
  for (unsigned i = 0; i < REDUCTIONS; i++)
    o.requested.reduce[i] = REQUEST_OFF;
  o.engine = NULL;
  o.output.no_trace = o.lengths_unused = true;
  return o;
}

static struct command_options plain(const struct command_options *asked) {
  struct command_options o = unreduced(asked);
  o.successors = SUCCESSORS_PLAIN;
  if (o.limits.seconds == 0)
    o.limits.seconds = DEFAULT_SECONDS;
  return o;
}

static struct command_options bounded(const struct command_options *asked) {
  struct command_options o = unreduced(asked);
  o.engine = "bmc";
  if (o.depth == 0)
    o.depth = o.limits.rounds > 0 && o.limits.rounds < DEFAULT_DEPTH ? o.limits.rounds : DEFAULT_DEPTH;
  if (o.limits.seconds == 0)
    o.limits.seconds = DEFAULT_SECONDS;
  return o;
}

/* A search in asynchronous rounds, for verdicts that lockstep rounds are said to license. */
static struct command_options asynchronous(const struct command_options *asked) {
  struct command_options o = *asked;
  o.engine = NULL;
  o.output.no_trace = o.lengths_unused = o.has_semantics = true;
  o.semantics = SEMANTICS_FINE;
  o.limits.rounds = 0;
  if (o.limits.seconds == 0)
    o.limits.seconds = ASYNC_SECONDS;
  if (o.max_distance == 0)
    o.max_distance = ASYNC_DISTANCE;
  return o;
}

static bool relies_on_locality(const struct query_context *a, const struct check_result *c) {
  if (a->model->nprocesses > ASYNC_PROCESSES_MAX)
    return false;
  for (uint32_t i = 0; i < c->nruns; i++)
    for (uint32_t k = 0; k < c->runs[i].nproperties; k++)
      if (c->runs[i].semantics == SEMANTICS_COARSE && is_local_result(&c->runs[i].properties[k]))
        return true;
  return false;
}

/* The variants that differ from the check itself. */
static uint32_t audit_ways(const struct query_context *a, const struct check_result *c, struct command_options *options,
                           struct audit_variant *ways) {
  const struct command_options *o = a->options;
  enum symbolic_engine engine;
  bool symbolic = symbolic_engine_find(o->engine, &engine), off = no_reductions(&o->requested) && !symbolic;
  const char *search = symbolic ? "--engine explicit " : "";
  uint32_t n = 0;
  if (!off) {
    options[n] = unreduced(o);
    ways[n++].options = arena_printf(a->arena, "%s--reduce none", search);
  }
  if (!off || o->successors != SUCCESSORS_PLAIN) {
    options[n] = plain(o);
    ways[n++].options = arena_printf(a->arena, "%s--reduce none --successors plain", search);
  }
  if (!symbolic || engine != SYMBOLIC_BOUNDED) {
    options[n] = bounded(o);
    ways[n].options = arena_printf(a->arena, "--reduce none --engine bmc --depth %u", options[n].depth);
    n++;
  }
  if (relies_on_locality(a, c)) {
    options[n] = asynchronous(o);
    ways[n].options =
        arena_printf(a->arena, "%s--semantics fine --max-distance %u", search, (unsigned)options[n].max_distance);
    n++;
  }
  return n;
}

/* Moves the runs of the answer to one query group. */
static void add_runs(struct audit_variant *w, struct check_result *of_one, uint32_t query_group) {
  w->result.runs =
      memory_resize_array(w->result.runs, w->result.nruns + (size_t)of_one->nruns + 1, sizeof *w->result.runs);
  for (uint32_t i = 0; i < of_one->nruns; i++) {
    of_one->runs[i].query_group = query_group;
    w->result.runs[w->result.nruns++] = of_one->runs[i];
  }
  of_one->nruns = 0;
  check_result_release(of_one);
}

/* Answers the groups one by one, because an engine may support one environment and refuse another. crossed: in another
   semantics than the check itself. Returns false on a fault of rondo. */
static bool audit_way_run(const struct query_groups *in, const struct query_context *a, bool crossed,
                          struct audit_variant *w, struct text *fault) {
  enum symbolic_engine engine;
  bool symbolic = symbolic_engine_find(a->options->engine, &engine), ok = true;
  w->nquery_groups = (uint32_t)(in->at.n + in->live.n);
  w->refused = memory_alloc((w->nquery_groups + (size_t)1) * sizeof *w->refused);
  w->result = (struct check_result){.model = a->model, .interp = a->interp};
  for (uint32_t i = 0; i < w->nquery_groups && ok; i++) {
    struct query_groups one = {0};
    struct check_result c = {0};
    struct text refused = {0};
    if (i >= in->at.n && (symbolic || crossed)) {
      w->refused[i] = memory_strdup("it is a live property");
      continue;
    }
    if (i < in->at.n)
      vec_push(&one.at, in->at.at[i]);
    else
      vec_push(&one.live, in->live.at[i - in->at.n]);
    ok = query_groups_answer(&one, a, &c, &refused, fault);
    if (!ok && refused.n > 0) {
      w->refused[i] = memory_strdup(refused.at);
      ok = true;
      check_result_release(&c);
    } else {
      add_runs(w, &c, i);
    }
    text_release(&refused);
    vec_release(&one.at);
    vec_release(&one.live);
  }
  return ok;
}

/* --- the report --- */

/* Quoted for a shell. */
static void add_word(struct text *out, const char *word) {
  static const char plain_ones[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (*word && word[strspn(word, plain_ones)] == '\0') {
    text_addf(out, " %s", word);
    return;
  }
  text_add(out, " '");
  for (; *word; word++)
    text_addf(out, *word == '\'' ? "'\\''" : "%c", *word);
  text_add(out, "'");
}

static void add_command(const struct command_options *o, const char *more, struct text *out) {
  text_add(out, "rondo check");
  for (int i = 0; i < o->nwords; i++)
    if (strcmp(o->words[i], "--audit") != 0)
      add_word(out, o->words[i]);
  text_addf(out, "%s%s", *more ? " " : "", more);
}

/* Finds, for each property, the first two answers that differ. If rondo is at fault, nothing else is reported. */
static enum audit_outcome print_conflicts(const struct conflicts *c, const struct query_context *a,
                                          const struct audit_variant *ways, struct text *why) {
  bool fault = false;
  for (size_t i = 0; i < c->at.n; i++)
    fault |= !c->at.at[i].forced;
  for (size_t i = 0; i < c->at.n; i++) {
    const struct conflict *x = &c->at.at[i];
    bool reported = fault && x->forced;
    for (size_t k = 0; k < i && !reported; k++)
      reported = c->at.at[k].property == x->property && c->at.at[k].run[0]->query_group == x->run[0]->query_group &&
                 !(fault && c->at.at[k].forced);
    if (reported)
      continue;
    text_add(why, "\n  ");
    conflict_print(x, ways, why);
    for (int k = 0; k < 2; k++) {
      text_add(why, k ? "\n    and:     " : "\n    compare: ");
      add_command(a->options, ways[x->way[k]].options, why);
    }
  }
  return fault ? AUDIT_FAULT : AUDIT_FORCED_REDUCTION;
}

static void add_notes(const struct audit_variant *ways, uint32_t n, struct check_result *c) {
  for (uint32_t i = 0; i < c->nruns; i++) {
    struct run_result *r = &c->runs[i];
    r->audits = memory_alloc((n + (size_t)1) * sizeof *r->audits);
    for (uint32_t k = 1; k < n; k++)
      r->audits[r->naudits++] = audit_note_for(&ways[k], r);
  }
}

enum audit_outcome audit_answer(const struct query_groups *in, const struct query_context *asked,
                                struct check_result *c, struct text *why) {
  struct command_options options[WAYS_MAX];
  struct audit_variant ways[WAYS_MAX] = {{.options = "", .result = *c}};
  struct query_context a = *asked;
  struct conflicts conflicts = {0};
  struct text fault = {0};
  uint32_t n = 1 + audit_ways(asked, c, options + 1, ways + 1);
  enum audit_outcome end = AUDIT_CONSISTENT;
  a.interp = interpreter_new(a.model);
  a.quiet = true;
  a.stream = NULL;
  for (uint32_t i = 1; i < n && end == AUDIT_CONSISTENT; i++) {
    a.options = &options[i];
    a.semantics = options[i].has_semantics ? options[i].semantics : asked->semantics;
    a.deadline = options[i].limits.seconds > 0 ? clock_seconds() + options[i].limits.seconds : 0;
    watch_answer(a.options->rondo, a.deadline, options[i].limits.seconds);
    if (!audit_way_run(in, &a, a.semantics != asked->semantics, &ways[i], &fault)) {
      text_addf(why, "\n  with %s: %s", ways[i].options, text_or_empty(&fault));
      end = AUDIT_FAULT;
    }
  }
  if (end == AUDIT_CONSISTENT && !asked->options->ranks.is_helper) {
    audit_compare(ways, n, &conflicts);
    if (conflicts.at.n > 0)
      end = print_conflicts(&conflicts, asked, ways, why);
    else
      add_notes(ways, n, c);
  }
  vec_release(&conflicts.at);
  for (uint32_t i = 1; i < n; i++)
    audit_variant_release(&ways[i]);
  interpreter_free(a.interp);
  text_release(&fault);
  return end;
}
