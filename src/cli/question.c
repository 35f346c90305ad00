#include "cli/question.h"

#include "cli/runaway.h"
#include "cli/symbolic.h"
#include "cli/terminal.h"
#include "fine/fine.h"
#include "interleave/interleave.h"
#include "model/failing.h"
#include "model/features.h"
#include "model/locality.h"
#include "model/round_window.h"
#include "search/ranks.h"
#include "trace/tidy.h"

/* A shorter counterexample is looked for among so many states (or so many times those of the search), for so long. */
#define SHORTER_STATES 200000
#define SHORTER_TIMES 10
#define SHORTER_SECONDS 5.0

/* How far apart processes may get at first, and at last, if nobody says. */
#define FIRST_DISTANCE 4
#define LAST_DISTANCE 64

/* One question being answered. */
struct asking {
  struct model *model;
  struct meaning *meaning;
  struct arena *arena;
  const struct options *options;
  struct question question;
  struct text *refused, *fault;
  const struct asked *asked;
};

struct space *question_space(const struct asked *a, const struct question *q, const struct wishes *wishes,
                             const struct licences **licences) {
  struct space_options options = {.successors = a->options->successors,
                                  .letters = tested_letters(),
                                  .narrow_keys = tested_narrow_keys(),
                                  .max_distance = a->options->max_distance ? a->options->max_distance : ANY_DISTANCE};
  *licences = licences_grant(a->model, q, wishes, a->arena);
  meaning_follow(a->meaning, q->semantics,
                 model_steps(a->model) && !(*licences)->of[REDUCE_MESSAGE_ORDER].applied);
  if (q->semantics == SEMANTICS_FINE)
    return fine_space_new(a->meaning, a->model, q, *licences, &options);
  return model_steps(a->model)
             ? interleave_space_new(a->meaning, a->model, q, *licences, &options)
             : round_space_new(a->meaning, a->model, q, *licences, &options);
}

static void search_by(struct ranks *ranks, struct search *s, struct space *space, const struct asking *a,
                      const struct limits *limits, struct checkpoints *checkpoints) {
  search_init(s, space, limits);
  s->ranks = ranks;
  s->checkpoints = checkpoints;
  s->spill_folder = a->options->spill;
  s->progress = progress_or_null();
  s->progress_context = a->model;
  meaning_watch(a->meaning, checkpoints ? limits->insist : limits->interrupt);
  watch_time(limits->seconds);
  watch_resident_memory(ranks ? 0 : limits->memory);
  search_run(s);
  watch_resident_memory(0);
  watch_time(0);
  meaning_watch(a->meaning, NULL); /* what was found is told in full */
  progress_clear();
}

static void search_within_limits(struct search *s, struct space *space, const struct asking *a,
                                 const struct limits *limits, struct checkpoints *checkpoints) {
  search_by(NULL, s, space, a, limits, checkpoints);
}

/* The ranks that can answer a question together, once they are ready for it; NULL: this process does it alone. */
static struct ranks *ranks_for(const struct asking *a) {
  struct ranks *ranks = a->question.semantics == SEMANTICS_FINE ? NULL : a->options->ranks;
  if (ranks)
    ranks_ready(ranks, a->model->values.vectors);
  return ranks;
}

/* The space of the question has names that can be common; if not, the first rank does it alone. */
static bool is_for_ranks(struct space *space) { return space->ops->names && space->ops->names(space, 0); }

/* A run is told although the search was stopped, unless that takes as long again as the search may take, or there is a signal
   while it is told. */
static void begin_telling(const struct asking *a) {
  const struct limits *limits = &a->options->limits;
  meaning_watch(a->meaning, limits->interrupt && *limits->interrupt ? NULL : limits->interrupt);
  watch_time(limits->seconds);
}

/* Not 0: it was cut short, as search_interrupted says. */
static sig_atomic_t end_telling(const struct asking *a) {
  sig_atomic_t why = meaning_stopped(a->meaning);
  watch_time(0);
  meaning_watch(a->meaning, NULL);
  return why;
}

/* The run that shows a finding, replayed. NULL: the space and the reference disagree, or it was cut short. */
static struct trace *trace_within_limits(const struct asking *a, const struct search *s,
                                         const struct finding *f, const struct property_result *p, struct text *fault) {
  uint32_t n;
  struct goal goal;
  struct run run = {0};
  struct state *path = search_path(s, f, &n, &goal);
  bool ok = path && s->space->ops->concretise(s->space, path, n, &goal, &run);
  memory_free(path);
  if (!ok) {
    text_addf(fault, "no run leads to what was found for '%s', %s", property_result_name(p),
              p->proved);
    return NULL;
  }
  struct claim claim = {.environment = a->question.environment,
                        .semantics = a->question.semantics,
                        .property = f->property == UINT32_MAX
                                        ? NO_PROPERTY
                                        : s->space->question->properties[f->property],
                        .error = f->error.message != NULL};
  struct text why = {0};
  if (claim.property != NO_PROPERTY || claim.error || !model_steps(a->model)) /* else any part of it may be what counts */
    run_tidy(&run, a->meaning, a->model, &claim);
  struct trace *t = trace_confirmed(a->meaning, a->model, &claim, &run, &why);
  if (!t)
    text_addf(fault, "the reference does not confirm what was found for '%s', %s\n  %s",
              property_result_name(p), p->proved, text_or_empty(&why));
  text_release(&why);
  return t;
}

/* NULL without a fault: it was cut short. */
static struct trace *trace_of(const struct asking *a, const struct search *s, const struct finding *f,
                              const struct property_result *p, sig_atomic_t *cut) {
  struct text fault = {0};
  begin_telling(a);
  struct trace *t = trace_within_limits(a, s, f, p, &fault);
  *cut = end_telling(a);
  if (!*cut && !t)
    text_add(a->fault, text_or_empty(&fault));
  text_release(&fault);
  return t;
}

static bool is_faulty(const struct asking *a) { return a->fault->n > 0; }

/* --- step properties that may fail --- */

/* The run as it is, if evaluating the property of its last step is an error of the model. */
static struct trace *failing_step(const struct asking *a, const struct search *s, const struct finding *f) {
  uint32_t n;
  struct goal goal;
  struct run run = {0};
  struct text why = {0};
  begin_telling(a);
  struct state *path = search_has_path(s, f) ? search_path(s, f, &n, &goal) : NULL;
  struct trace *t = NULL;
  if (path && s->space->ops->concretise(s->space, path, n, &goal, &run)) {
    struct claim claim = {.environment = a->question.environment,
                          .semantics = a->question.semantics,
                          .property = s->space->question->properties[f->property],
                          .error = true};
    t = trace_confirmed(a->meaning, a->model, &claim, &run, &why);
  }
  end_telling(a);
  text_release(&why);
  memory_free(path);
  return t;
}

/* The search takes a step of which a property cannot be evaluated for one that breaks it. It is an error of the model. */
static void settle_failing_steps(const struct asking *a, struct search *s) {
  for (uint32_t i = 0; i < question_asked(a->model, s->space->question); i++) {
    const struct property *p = &a->model->properties[s->space->question->properties[i]];
    struct finding *f = &s->findings[i];
    if (!p->step || !f->found || !node_may_fail(a->model, &a->question, p->formula, NULL, NULL))
      continue;
    struct trace *t = failing_step(a, s, f);
    if (!t)
      continue;
    if (!s->error.found || f->rounds < s->error.rounds) {
      s->error = *f;
      s->error.error = t->error;
    }
    f->found = false;
    s->end = SEARCH_MODEL_ERROR;
    s->complete = s->complete < s->error.rounds ? s->complete : s->error.rounds;
    trace_release(t);
    memory_free(t);
  }
}

/* What was found for each of a result's properties; the last may be an error of the model. */
static const struct finding *finding_of(const struct search *s, uint32_t i) {
  return i < question_asked(s->space->model, s->space->question) ? &s->findings[i] : &s->error;
}

/* s found what is told by the way that `told` took to it. */
static bool add_traces(const struct asking *a, const struct search *s, const struct search *told, struct run_result *r) {
  sig_atomic_t cut;
  for (uint32_t i = 0; i < r->nproperties; i++) {
    struct property_result *p = &r->properties[i];
    const struct finding *f = finding_of(s, i), *way = finding_of(told, i);
    if (f->found && (!way->found || f->rounds != way->rounds || f->charge != way->charge)) {
      text_addf(a->fault, "one thread alone does not find what several found for '%s'", property_result_name(p));
      return false;
    }
    if (!f->found || !search_has_path(told, way))
      continue;
    p->trace = trace_of(a, told, way, p, &cut);
    if (is_faulty(a))
      return false;
    if (!p->trace)
      property_result_tell_unshown(p, UNSHOWN_STOPPED, search_interrupted(cut), &a->options->limits);
  }
  return true;
}

/* --- the shortest story --- */

/* A violation or an error with its run. How short a way to a cover is matters to nobody. */
static bool is_told(const struct property_result *p) {
  return p->trace && p->verdict == VERDICT_VIOLATED;
}

static uint32_t longest_told(const struct run_result *r) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (is_told(&r->properties[i]) && r->properties[i].trace->run.nsteps > longest)
      longest = r->properties[i].trace->run.nsteps;
  return longest;
}

/* Takes over the trace of a shorter run for p, or learns that there is none. False: a fault. */
static bool compare_lengths(const struct asking *a, const struct search *s, const struct finding *f,
                            struct property_result *p) {
  uint32_t known = p->trace->run.nsteps;
  bool sure = s->complete >= known;
  sig_atomic_t cut;
  if (f->found && f->state != STORE_NONE && f->rounds < known) {
    struct trace *shorter = trace_of(a, s, f, p, &cut);
    if (is_faulty(a))
      return false;
    if (shorter) {
      trace_release(p->trace);
      memory_free(p->trace);
      p->trace = shorter;
    }
    sure = shorter != NULL;
  } else if (!f->found && s->end == SEARCH_EXHAUSTED && !s->cut) {
    text_addf(a->fault, "without %s nothing is found for '%s', with it a run of %u steps",
              s->space->licences->of[REDUCE_RELAYS].concerns ? "relays" : "partial-order", property_result_name(p), known);
    return false;
  }
  property_result_retell(p, sure);
  return true;
}

/* Partial-order reduction, and passing messages on at once, keep what can be found, not the shortest way to it: the same is looked for without it, among
   the runs that are shorter than those known. */
static bool look_for_shorter(const struct asking *a, uint64_t states, struct run_result *r) {
  struct wishes wishes = a->options->wishes;
  struct limits limits = a->options->limits;
  uint32_t *properties = arena_array(a->arena, r->nproperties + 1, sizeof *properties);
  struct question q = a->question;
  const struct licences *licences;
  struct search s;
  bool ok = true;
  q.nproperties = 0;
  q.properties = properties;
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (is_told(&r->properties[i]) && r->properties[i].property)
      properties[q.nproperties++] = r->properties[i].index;
  wishes.reduce[REDUCE_PARTIAL_ORDER] = wishes.reduce[REDUCE_RELAYS] = WISH_OFF;
  limits.signature = 0; /* what it does not find is not there */
  limits.rounds = longest_told(r) - 1;
  limits.states = states > SHORTER_STATES / SHORTER_TIMES ? states * SHORTER_TIMES : SHORTER_STATES;
  if (limits.seconds == 0 || limits.seconds > SHORTER_SECONDS)
    limits.seconds = SHORTER_SECONDS;
  struct space *space = question_space(a->asked, &q, &wishes, &licences);
  search_within_limits(&s, space, a, &limits, NULL); /* it does not take long */
  for (uint32_t i = 0, k = 0; i < r->nproperties && ok; i++)
    if (is_told(&r->properties[i]))
      ok = compare_lengths(a, &s, r->properties[i].property ? &s.findings[k++] : &s.error,
                           &r->properties[i]);
  search_release(&s);
  space->ops->free(space);
  return ok;
}

/* Steps: whatever is told by its own run, and as short as can be. */
static bool shorten(const struct asking *a, const struct search *s, struct run_result *r) {
  const struct licences *l = r->licences;
  bool reduced = l->of[REDUCE_PARTIAL_ORDER].applied || l->of[REDUCE_RELAYS].applied;
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (r->properties[i].trace)
      property_result_retell(&r->properties[i],
                             is_told(&r->properties[i]) && !reduced && !l->unlicensed);
  if (!reduced || l->unlicensed || a->options->unread || longest_told(r) < 2 ||
      s->end == SEARCH_INTERRUPTED)
    return true;
  return look_for_shorter(a, s->stats.states, r);
}

/* Partial-order reduction takes longer ways: what it does not find within so many steps may be there all the same. */
static struct wishes wishes_of(const struct options *o) {
  struct wishes wishes = o->wishes;
  if (o->limits.rounds > 0 && wishes.reduce[REDUCE_PARTIAL_ORDER] == WISH_AUTO)
    wishes.reduce[REDUCE_PARTIAL_ORDER] = WISH_OFF;
  if (o->limits.rounds > 0 && wishes.reduce[REDUCE_RELAYS] == WISH_AUTO)
    wishes.reduce[REDUCE_RELAYS] = WISH_OFF;
  return wishes;
}

/* --- processes that run apart --- */

/* The run as far as it counts. NULL: that is a fault. */
static struct trace *first_steps(const struct asking *a, struct trace *t, uint32_t n) {
  struct run run = {.initial = config_copy(a->model, t->run.initial), .steps = memory_alloc((n + 1) * sizeof *run.steps)};
  struct text why = {0};
  for (uint32_t i = 0; i < n; i++)
    run.steps[run.nsteps++] = witness_copy(a->model, t->run.steps[i]);
  struct trace *first = trace_confirmed(a->meaning, a->model, &t->claim, &run, &why);
  if (!first)
    text_addf(a->fault, "part of a run is not one: %s", text_or_empty(&why));
  text_release(&why);
  trace_release(t);
  memory_free(t);
  return first;
}

/* The run to the farthest state, if part of it can be repeated for ever. */
static bool find_runaway(const struct asking *a, const struct search *s, struct run_result *r) {
  const struct state *far = &s->space->farthest;
  state_ref ref = far->length ? search_find(s, far) : STORE_NONE;
  sig_atomic_t cut;
  if (!s->space->distance_cut || ref == STORE_NONE)
    return true;
  struct finding f = {.found = true, .state = ref, .target = STORE_NONE, .property = UINT32_MAX};
  struct property_result unnamed = {.proved = (char *)"by how far processes get apart"};
  struct trace *t = trace_of(a, s, &f, &unnamed, &cut);
  if (!t)
    return !is_faulty(a);
  if (model_steps(a->model) ? runaway_find_steps(t, a->meaning, s->space, s->space->licences->window->modulus, &r->stretch)
                            : runaway_find(t, a->meaning, s->space->phase_period, &r->stretch)) {
    r->runaway = model_steps(a->model) ? first_steps(a, t, r->stretch.to) : t;
    return r->runaway;
  }
  trace_release(t);
  memory_free(t);
  return true;
}

/* What the farthest state of several ranks is depends on them. */
static bool find_runaway_alone(const struct asking *a, const struct search *s, const struct wishes *wishes,
                               struct run_result *r) {
  const struct licences *licences;
  struct search alone;
  if (!s->space->distance_cut)
    return true;
  struct space *space = question_space(a->asked, &a->question, wishes, &licences);
  search_within_limits(&alone, space, a, &a->options->limits, NULL);
  bool ok = find_runaway(a, &alone, r);
  search_release(&alone);
  space->ops->free(space);
  return ok;
}

/* With one thread, so far. False: that was more than the limits allow. */
static bool look_again(const struct asking *a, const struct search *s, const struct wishes *wishes, uint32_t rounds,
                       uint32_t signature, struct search *again, struct space **space) {
  struct limits limits = a->options->limits;
  const struct licences *licences;
  limits.rounds = rounds;
  limits.signature = signature;
  limits.threads = 1;
  if (limits.seconds > 0)
    limits.seconds = limits.seconds > s->stats.seconds ? limits.seconds - s->stats.seconds : 1e-3;
  if (limits.memory > 0 && memory_resident() == 0) /* else what s has counts anyway */
    limits.memory = limits.memory > s->stats.memory ? limits.memory - s->stats.memory : 1;
  *space = question_space(a->asked, &a->question, wishes, &licences);
  search_within_limits(again, *space, a, &limits, a->options->checkpoints);
  if (!search_limited(again->end))
    return true;
  search_release(again);
  (*space)->ops->free(*space);
  return false;
}

/* Where states were taken for others, the way to a finding may be lost, and one thread find it elsewhere than several. */
static bool is_retraced(const struct asking *a, const struct search *s, const struct search *again) {
  for (uint32_t i = 0; i <= s->space->question->nproperties; i++) {
    const struct finding *f = i < s->space->question->nproperties ? &s->findings[i] : &s->error;
    const struct finding *g = i < s->space->question->nproperties ? &again->findings[i] : &again->error;
    uint32_t n;
    struct goal goal;
    if (!f->found)
      continue;
    if (!g->found || f->rounds != g->rounds || f->charge != g->charge)
      return false;
    if (g->state == STORE_NONE)
      continue;
    begin_telling(a);
    struct state *path = search_path(again, g, &n, &goal);
    end_telling(a);
    memory_free(path);
    if (!path)
      return false;
  }
  return true;
}

/* Whole keys may find it by another way. */
static bool find_exactly(const struct asking *a, struct search *s, const struct wishes *wishes, struct search *again,
                         struct space **space) {
  uint32_t n = s->space->question->nproperties, rounds = 1;
  for (uint32_t i = 0; i <= n; i++) {
    const struct finding *f = i < n ? &s->findings[i] : &s->error;
    rounds = f->found && f->rounds > rounds ? f->rounds : rounds;
  }
  if (!look_again(a, s, wishes, rounds, 0, again, space))
    return false;
  for (uint32_t i = 0; i <= n; i++) {
    struct finding *f = i < n ? &s->findings[i] : &s->error;
    const struct finding *g = i < n ? &again->findings[i] : &again->error;
    f->rounds = g->found ? g->rounds : f->rounds;
    f->charge = g->found ? g->charge : f->charge;
  }
  return true;
}

/* What several threads or ranks found is looked for again by one, so that the story is the same whatever their number. False: that is not
   needed, or was more than the limits allow; what was found is as short, but may differ from what one thread tells. */
static bool find_again(const struct asking *a, struct search *s, const struct wishes *wishes, struct search *again,
                       struct space **space) {
  uint32_t rounds = tested_without_second_look() ? 0 : search_unsettled(s), signature = s->limits.signature;
  if (a->options->no_trace)
    return false;
  if (rounds > 0 && look_again(a, s, wishes, rounds, signature, again, space)) {
    if (!signature || is_retraced(a, s, again))
      return true;
    search_release(again);
    (*space)->ops->free(*space);
  }
  return signature && !is_retraced(a, s, s) && find_exactly(a, s, wishes, again, space);
}

static bool answer(const struct asking *a, struct run_result *r) {
  const struct licences *licences;
  enum symbolic_engine engine;
  bool symbolic = symbolic_engine_find(a->options->engine, &engine);
  if (a->options->helps && (symbolic || a->question.semantics == SEMANTICS_FINE)) {
    *r = (struct run_result){0}; /* the first rank does that alone */
    return true;
  }
  if (symbolic && a->question.until) {
    text_addf(a->refused, "'%s' has an 'until', which is the search's\n  help: leave out '--engine %s'",
              a->model->properties[a->question.properties[0]].name, a->options->engine);
    if (!a->asked->quiet)
      say_error("%s", a->refused->at);
    return false;
  }
  if (symbolic)
    return symbolic_answer_question(a->asked, &a->question, r, a->refused, a->fault);
  struct wishes wishes = wishes_of(a->options);
  struct search s;
  struct text decimal = {0};
  char *counted = NULL;
  struct ranks *ranks = ranks_for(a);
  struct space *space = question_space(a->asked, &a->question, &wishes, &licences);
  if (ranks && !is_for_ranks(space))
    ranks = NULL;
  if (a->options->helps && !ranks) {
    *r = (struct run_result){0};
    space->ops->free(space);
    return true;
  }
  search_by(ranks, &s, space, a, &a->options->limits, a->options->checkpoints);
  if (space->ops->heard_of_assignments(space, &decimal))
    counted = memory_strdup(text_or_empty(&decimal));
  text_release(&decimal);
  struct search again;
  struct space *own;
  bool anew = find_again(a, &s, &wishes, &again, &own);
  settle_failing_steps(a, &s);
  if (anew)
    settle_failing_steps(a, &again);
  if (anew && again.error.found)
    s.error.error = again.error.error; /* of several as cheap */
  run_result_fill(r, &s, licences);
  r->heard_of_assignments = counted;
  rounds_licences(a->asked, &a->question, &s, r);
  bool ok = a->options->no_trace ||
            (add_traces(a, &s, anew ? &again : &s, r) && (!model_steps(a->model) || shorten(a, &s, r)));
  if (anew) {
    search_release(&again);
    own->ops->free(own);
  }
  if (ok && (a->question.semantics == SEMANTICS_FINE || model_steps(a->model)) && !a->options->helps)
    ok = ranks ? find_runaway_alone(a, &s, &wishes, r) : find_runaway(a, &s, r);
  search_release(&s);
  space->ops->free(space);
  return ok;
}

/* Engines ask for themselves; the search is made of many parts, so it is asked for here. */
bool question_suits(const struct model *m, const struct question *q, struct text *refused) {
  enum feature lacking;
  struct span at;
  struct diags diags;
  if (!features_refused(m, q, ENGINE_SEARCH, &lacking, &at))
    return true;
  diags_init(&diags, &m->source);
  diag_error(&diags, at, "the search cannot do this: %s", feature_text(lacking));
  if (refused)
    text_addf(refused, "the search cannot do this: %s", feature_text(lacking));
  say_diags(&diags);
  diags_release(&diags);
  return false;
}

bool question_answer(const struct asked *of, const struct question *q, struct run_result *r, struct text *refused,
                     struct text *fault) {
  if (!question_suits(of->model, q, refused))
    return false;
  struct options o = *of->options;
  struct asked about = *of;
  about.options = &o;
  struct asking a = {of->model, of->meaning, of->arena, &o, *q, refused, fault, &about};
  if (q->semantics != SEMANTICS_FINE || o.max_distance)
    return answer(&a, r);
  /* Further and further, until there is no further, or no end of it. */
  for (o.max_distance = FIRST_DISTANCE; answer(&a, r); o.max_distance *= 2) {
    if (!r->distance_cut || r->runaway || search_limited(r->end) || r->end != SEARCH_EXHAUSTED ||
        o.max_distance >= LAST_DISTANCE)
      return true;
    run_result_release(r);
  }
  return false;
}

/* Of what is asked in rounds of one's own, that which reads `round`, or that which does not: the former is about whole
   rounds. Adds a run, unless there is nothing of the kind. */
static bool answer_part(const struct inquiry *inquiry, const struct asked *of, bool whole, struct check_result *c,
                        struct text *refused, struct text *fault) {
  bool fine = of->semantics == SEMANTICS_FINE;
  struct asked a = *of;
  uint32_t *properties = arena_array(a.arena, inquiry->properties.n + 1, sizeof *properties), n = 0;
  for (size_t i = 0; i < inquiry->properties.n; i++)
    if (whole == (fine && property_tells_rounds(&a.model->properties[inquiry->properties.at[i]])))
      properties[n++] = inquiry->properties.at[i];
  if (n == 0 && (whole || inquiry->properties.n > 0))
    return true;
  if (whole)
    a.semantics = SEMANTICS_COARSE;
  struct question q = question_for(&a, inquiry->environment, properties, n);
  return question_answer(&a, &q, &c->runs[c->nruns++], refused, fault) && rounds_answer(&a, &q, c, refused, fault);
}

bool inquiries_answer(const struct inquiries *in, const struct asked *of, struct check_result *c,
                      struct text *refused, struct text *fault) {
  *c = (struct check_result){.model = of->model, .meaning = of->meaning};
  c->runs = memory_alloc((2 * in->at.n + in->live.n) * sizeof *c->runs);
  bool ok = true;
  for (size_t i = 0; i < in->at.n && ok; i++) {
    uint32_t first = c->nruns;
    ok = answer_part(&in->at.at[i], of, false, c, refused, fault) && answer_part(&in->at.at[i], of, true, c, refused, fault);
    while (first < c->nruns)
      c->runs[first++].inquiry = (uint32_t)i;
  }
  struct asked for_ever = *of;
  if (of->semantics == SEMANTICS_FINE) /* what happens for ever is asked of whole rounds */
    for_ever.semantics = SEMANTICS_COARSE;
  for (size_t i = 0; i < in->live.n && ok && !of->options->helps; i++) { /* those are one rank's, too */
    struct run_result *r = &c->runs[c->nruns++];
    ok = live_answer(&for_ever, &in->live.at[i], r, fault);
    if (ok)
      live_rounds_licence(of, &in->live.at[i], r);
    r->inquiry = (uint32_t)(in->at.n + i);
  }
  check_result_conclude(c);
  return ok;
}
