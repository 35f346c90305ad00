/* A live property: from its text to a verdict and the run that shows it. */
#include "driver/question.h"
#include "driver/symbolic.h"
#include "driver/context.h"
#include "model/flow.h"
#include "model/live.h"
#include "model/survey.h"
#include "search/live.h"
#include "trace/lasso.h"

struct asking {
  struct asked asked; /* about a model of its own */
  uint32_t property;
  struct question question;
  struct live_form form;
  struct environment said;      /* as the text has it: what is assumed may be less, or more (live_each) */
  const struct property *shown; /* as reports name it */
  struct text *fault;
};

/* What the environment assumes of runs. */
static struct assumptions assumptions_of(const struct model *m, uint32_t environment) {
  const struct environment *env = &m->environments[environment];
  const struct clause *marks[MARKS_MOST], *fair = environment_fairness(env);
  uint32_t n = model_steps(m) ? 0 : environment_marks(env, marks);
  struct assumptions a = {.fair = fair && model_steps(m), .strong = fair && fair->strong};
  for (uint32_t i = 0; i < n; i++)
    *(marks[i]->kind == CLAUSE_FINALLY ? &a.finally : &a.often) |= UINT64_C(1) << i;
  return a;
}

static void run_within_limits(struct live *l, const struct asking *a) {
  const struct limits *limits = &a->asked.options->limits;
  l->graph.progress = progress_or_null(a->asked.options->rondo);
  l->graph.progress_context = &(struct searching){a->asked.options->rondo, a->asked.model};
  meaning_watch(a->asked.meaning, limits->interrupt);
  watch_time(a->asked.options->rondo, limits->seconds);
  watch_resident_memory(a->asked.options->rondo, limits->memory);
  live_run(l);
  watch_resident_memory(a->asked.options->rondo, 0);
  meaning_watch(a->asked.meaning, NULL);
  progress_say(a->asked.options->rondo, NULL);
}

/* --- runs --- */

static struct trace *replayed(const struct asking *a, const struct claim *claim, struct run *run) {
  struct text why = {0};
  struct trace *t = trace_confirmed(a->asked.meaning, a->asked.model, claim, run, &why);
  if (!t)
    text_addf(a->fault, "the reference does not confirm what was found for '%s'\n  %s", a->shown->name,
              text_or_empty(&why));
  text_release(&why);
  return t;
}

static bool add_lasso(const struct asking *a, const struct live *l, struct property_result *p) {
  struct run run = {0};
  struct claim claim = {.environment = a->question.environment,
                        .semantics = a->question.semantics,
                        .property = a->question.properties[0],
                        .lasso = true,
                        .text = a->form.text};
  meaning_watch(a->asked.meaning, a->asked.options->limits.interrupt);
  enum lasso_made made =
      lasso_run(l->graph.space, a->asked.meaning, claim.environment, &l->lasso, &run, &claim.loop);
  meaning_watch(a->asked.meaning, NULL);
  if (made == LASSO_UNFOLLOWED) {
    text_addf(a->fault, "no run goes along the one that was found for '%s'", a->shown->name);
    return false;
  }
  if (made != LASSO_MADE) {
    property_result_tell_unshown(p, made == LASSO_STOPPED ? UNSHOWN_STOPPED : made == LASSO_PILES ? UNSHOWN_PILES : UNSHOWN_OPEN,
                                 search_interrupted(*a->asked.options->limits.interrupt), &a->asked.options->limits);
    return true;
  }
  a->asked.model->environments[claim.environment] = a->said; /* by which it is judged */
  p->trace = replayed(a, &claim, &run);
  if (p->trace)
    property_result_tell_lasso(p);
  return p->trace;
}

static bool add_error(const struct asking *a, const struct live *l, struct property_result *p) {
  uint32_t n, atom = l->graph.error_atom;
  struct goal goal;
  struct run run = {0};
  if (l->graph.error_from == UINT32_MAX)
    return true; /* in the choice of initial states */
  struct claim claim = {.environment = a->question.environment,
                        .semantics = a->question.semantics,
                        .property = atom == UINT32_MAX ? NO_PROPERTY : a->question.properties[0],
                        .error = true,
                        .text = atom == UINT32_MAX ? NULL : a->form.atoms[atom]};
  struct space *space = l->graph.space;
  struct state *path = live_error_path(l, &n, &goal);
  struct step_wish *wish = memory_alloc(n * sizeof *wish);
  for (uint32_t i = 0; i < n; i++)
    wish[i].group = NO_GROUP;
  bool ok = goal.kind == GOAL_ERROR ? space->ops->concretise(space, path, n, &goal, &run)
                                    : space->ops->concretise_path(space, path, n, wish, &run);
  memory_free(path);
  memory_free(wish);
  if (!ok) {
    text_addf(a->fault, "no run leads to the error that was found for '%s'", a->shown->name);
    return false;
  }
  p->trace = replayed(a, &claim, &run);
  if (p->trace)
    property_result_tell_error(p);
  return p->trace;
}

static bool add_traces(const struct asking *a, const struct live *l, struct run_result *r) {
  bool told = !a->asked.options->no_trace;
  if (told && live_shows(l) && !add_lasso(a, l, &r->properties[0]))
    return false;
  if (!l->graph.error.found)
    return true;
  struct property_result *error = &r->properties[1];
  if (!add_error(a, l, error))
    return false;
  if (!told && error->trace) { /* its length is told all the same */
    trace_release(error->trace);
    memory_free(error->trace);
    error->trace = NULL;
  }
  return true;
}

/* --- vacuity --- */

/* Which assumption no run satisfies; NULL: some run satisfies all. */
static const char *unsatisfied(const struct asking *a, struct live *l) {
  const struct model *m = a->asked.model;
  const struct environment *env = &m->environments[a->question.environment];
  const struct clause *marks[MARKS_MOST];
  struct assumptions whole = l->assumptions;
  const struct assumptions *all = &whole;
  whole.coins = false;
  if (l->found || l->graph.end != SEARCH_EXHAUSTED || l->graph.cut || l->graph.space->distance_cut ||
      live_satisfiable(l, all) || l->graph.end != SEARCH_EXHAUSTED)
    return NULL;
  uint32_t n = model_steps(m) ? 0 : environment_marks(env, marks);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t mark = UINT64_C(1) << i;
    struct assumptions one = {.often = all->often & mark, .finally = all->finally & mark};
    if (!live_satisfiable(l, &one) && l->graph.end == SEARCH_EXHAUSTED) {
      struct text said = {0};
      clause_tell(m, marks[i], &said);
      const char *quoted = arena_printf(a->asked.arena, "'%s'", text_or_empty(&said));
      text_release(&said);
      return quoted;
    }
  }
  return arena_printf(a->asked.arena, "all that environment '%s' assumes", env->name);
}

/* --- the question --- */

static bool finds_coin(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_RANDOM;
  return !*found;
}

struct coin_search {
  const struct model *model;
  bool found;
};

static void look_for_coin(void *context, const struct site *at, const struct node *n) {
  struct coin_search *s = context;
  if (at->place == PLACE_PROCESS)
    node_walk_deep(s->model, n, finds_coin, &s->found);
}

/* Is there a `random` in what processes do? */
static bool uses_coins(const struct asking *a) {
  struct coin_search s = {a->asked.model, false};
  const struct survey survey = {.model = a->asked.model, .question = &a->question, .node = look_for_coin, .context = &s};
  survey_run(&survey);
  return s.found;
}

/* Why it cannot be asked, or NULL. */
static const char *refusal(const struct asking *a, const struct space *space, const struct automaton *automaton) {
  enum symbolic_engine engine;
  if (symbolic_engine_find(a->asked.options->engine, &engine))
    return "this engine looks at states only";
  if (!space->ops->atom || !space->ops->concretise_path)
    return "this semantics is not for runs that go on for ever";
  if (!environment_has_all_marks(&a->asked.model->environments[a->question.environment]))
    return "its environment says more than 64 things about whole runs";
  if (a->form.refused)
    return a->form.refused;
  if (!automaton)
    return "its automaton would become too large";
  if (a->shown->almost_surely && !automaton_suits_coins(automaton))
    return "'almost surely' is for 'eventually', 'always eventually' and 'leads to'";
  if (a->shown->almost_surely && !space->lotteries && uses_coins(a))
    return "'random' is not told from free choice in models like this one";
  return NULL;
}

static bool ask(const struct asking *a, const struct wishes *wishes, struct run_result *r, bool traces) {
  const struct licences *licences;
  struct space *space = question_space(&a->asked, &a->question, wishes, &licences);
  struct assumptions assumptions = assumptions_of(a->asked.model, a->question.environment);
  assumptions.coins = a->shown->almost_surely;
  struct automaton *automaton = a->form.refused ? NULL : automaton_of(a->form.pool, a->form.violated);
  const char *refused = refusal(a, space, automaton);
  struct live l;
  bool ok = true;
  live_init(&l, space, automaton, &assumptions, &a->asked.options->limits);
  if (!refused)
    run_within_limits(&l, a);
  if (!refused && assumptions.coins)
    refused = space->coins_lost;
  run_result_fill_live(r, space, &l, licences, a->shown, refused, refused ? NULL : unsatisfied(a, &l));
  if (!refused && traces)
    ok = add_traces(a, &l, r);
  watch_time(a->asked.options->rondo, 0);
  live_release(&l);
  automaton_free(automaton);
  space->ops->free(space);
  return ok;
}

/* --- a model for the question --- */

/* Results speak of the model they are about, and keep it. */
static void asking_release(struct asking *a, struct run_result *keeps) {
  live_form_release(&a->form);
  if (keeps) {
    keeps->model = a->asked.model;
    keeps->meaning = a->asked.meaning;
    return;
  }
  meaning_free(a->asked.meaning);
  model_free(a->asked.model);
}

static bool asking_init(struct asking *a, const struct asked *about, const struct inquiry_live *in, struct text *fault) {
  struct text error = {0};
  *a = (struct asking){.asked = *about, .property = in->property, .shown = &about->model->properties[in->property],
                       .fault = fault};
  a->asked.model = model_load(about->syntax, about->bindings, about->nbindings, false, true, &error);
  text_release(&error);
  if (!a->asked.model) {
    text_add(fault, "a model that was read cannot be read again");
    return false;
  }
  live_form_make(&a->form, a->asked.model, in->property, in->environment);
  a->asked.meaning = meaning_new(a->asked.model);
  a->said = a->asked.model->environments[in->environment];
  a->question = (struct question){.environment = in->environment,
                                  .semantics = about->semantics,
                                  .properties = &a->property,
                                  .nproperties = 1,
                                  .atoms = a->form.atoms,
                                  .natoms = a->form.natoms};
  if (question_suits(a->asked.options->rondo, a->asked.model, &a->question, fault))
    return true;
  asking_release(a, NULL);
  return false;
}

/* --- what is said `for each` --- */

/* Is there a run that satisfies more than all assumptions? */
static bool surely_satisfiable(const struct asked *about, const struct inquiry_live *in, struct text *fault) {
  struct asking a;
  if (!asking_init(&a, about, in, fault))
    return false;
  live_each(a.asked.model, in->property, in->environment, EACH_TOGETHER);
  const struct licences *licences;
  struct space *space = question_space(&a.asked, &a.question, &about->options->wishes, &licences);
  struct assumptions assumptions = assumptions_of(a.asked.model, in->environment);
  struct live l;
  live_init(&l, space, NULL, &assumptions, &about->options->limits);
  bool found = graph_begin(&l.graph) && live_satisfiable(&l, &assumptions);
  live_release(&l);
  space->ops->free(space);
  asking_release(&a, NULL);
  return found;
}

/* The question with less, or more, assumed. True: that is an answer. */
static bool answered_otherwise(const struct asked *about, const struct inquiry_live *in, enum each how, struct run_result *r) {
  struct asking a;
  struct text ignored = {0};
  if (!asking_init(&a, about, in, &ignored))
    return false;
  if (!live_each(a.asked.model, in->property, in->environment, how)) {
    asking_release(&a, NULL);
    return false;
  }
  bool ok = ask(&a, &about->options->wishes, r, how == EACH_TOGETHER);
  a.asked.model->environments[in->environment] = a.said;
  asking_release(&a, r);
  enum verdict v = r->properties[0].verdict;
  bool limited = search_limited(r->end), error = r->nproperties > 1;
  bool decided = v == (how == EACH_FOLLOWED ? VERDICT_HOLDS : VERDICT_VIOLATED);
  if (ok && decided && !error && how == EACH_FOLLOWED && !r->properties[0].vacuous)
    decided = surely_satisfiable(about, in, &ignored);
  text_release(&ignored);
  if (ok && !error && (decided || limited))
    return true;
  run_result_release(r);
  return false;
}

bool live_answer(const struct asked *about, const struct inquiry_live *in, struct run_result *r, struct text *fault) {
  struct asking a;
  bool symmetry = about->options->wishes.reduce[REDUCE_SYMMETRY] != WISH_OFF; /* what it is done for */
  bool answered = symmetry && (answered_otherwise(about, in, EACH_FOLLOWED, r) ||
                               answered_otherwise(about, in, EACH_TOGETHER, r));
  if (answered)
    return true;
  if (!asking_init(&a, about, in, fault))
    return false;
  bool ok = ask(&a, &about->options->wishes, r, true);
  asking_release(&a, r);
  return ok;
}
