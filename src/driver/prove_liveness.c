/* A live property of a model of rounds, for all values of its parameters. Few processes are searched for a violation
   first. Then the property is reduced to the safety of a product (param/liveness.h), with more and more good rounds. */
#include "driver/prove_rounds.h"

#include "driver/context.h"
#include "driver/jobs.h"
#include "interp/counter_run.h"

#include <inttypes.h>
#include <string.h>

#define FIRST_SEARCH_SECONDS 2.0
#define LAST_SEARCH_SECONDS 20.0
#define PROMISE_SECONDS 5.0
enum { TIMES_MAX = 4, COINS_LAST = COINS_FIRST + 1 };

struct liveness_proof {
  struct rounds_proof *p;
  struct liveness_request request;
  struct proof_result out;
  struct text ignored;      /* clauses that are not used, with the reasons */
  uint32_t vacuous;         /* instances in which the search found that no run satisfies the environment's promise */
  bool unsafe;              /* some product was unsafe */
  uint32_t searched;        /* instances in which it found that the property holds */
  bool hopeless;            /* refused for good */
  sig_atomic_t interrupted; /* what stopped the derivation */
};

static double left_of(const struct rounds_proof *p) { return p->deadline - clock_seconds(); }

/* ---- few processes ---- */

static struct proof_attempt *search_few(struct liveness_proof *l, double most) {
  struct small_verdicts few;
  struct proof_attempt *a = search_violation(l->p, &l->out, most, &few);
  l->searched = few.holds;
  l->vacuous = few.vacuous;
  return a;
}

/* ---- the product ---- */

static void note_ignored(struct liveness_proof *l, struct span clause, const char *why) {
  uint32_t line, column;
  source_place(&l->p->model->source, clause.from, &line, &column);
  text_addf(&l->ignored, "%sthe clause of line %" PRIu32 " is not used%s%s", l->ignored.n ? "; " : "", line,
            why ? ": " : "", why ? why : "");
}

/* The product for a request; a->derivation.refused says why there is none. */
static bool derive_product(struct liveness_proof *l, struct proof_attempt *a, const struct round_shape *shape,
                           enum derive_mode mode) {
  struct rounds_proof *p = l->p;
  a->request = &l->request;
  a->product_model = rounds_proof_copy(p);
  if (!a->product_model || !liveness_prepare(&a->liveness, a->product_model, &l->request)) {
    a->derivation.refused =
        a->product_model ? a->liveness.formula.refused : "a model that was read cannot be read again";
    a->derivation.at = a->liveness.formula.at;
    l->hopeless = true;
    return false;
  }
  a->product_interp = interpreter_new(a->product_model);
  interpreter_watch(a->product_interp, p->limits.interrupt);
  struct query q = {.environment = l->request.environment,
                    .semantics = SEMANTICS_COARSE,
                    .properties = &l->request.property,
                    .nproperties = 1};
  watch_time(p->options->rondo, left_of(p) > 0.001 ? left_of(p) : 0.001);
  bool ok = derive_live(&a->derivation, shape, a->product_interp, &q, &a->liveness, mode, ROUND_AUTOMATIC,
                        p->limits.interrupt);
  l->interrupted = *p->limits.interrupt;
  watch_time(p->options->rondo, 0);
  return ok;
}

/* Drops clauses of which counters can make nothing, one after the other. */
static struct proof_attempt *product_new(struct liveness_proof *l, struct round_shape *shape, enum derive_mode mode) {
  for (;;) {
    struct proof_attempt *a = attempt_new(l->p, shape, false);
    if (derive_product(l, a, shape, mode) || a->derivation.stopped || a->derivation.refused_clause == UINT32_MAX ||
        l->hopeless)
      return a;
    l->request.ignored |= UINT64_C(1) << a->derivation.refused_clause;
    note_ignored(l, a->derivation.at, a->derivation.refused);
    attempt_free(a);
  }
}

static struct proof_limits limits_for(const struct liveness_proof *l, double share, double most) {
  struct proof_limits limits = l->p->limits;
  limits.seconds = left_of(l->p) * share;
  if (limits.seconds > most)
    limits.seconds = most;
  if (limits.seconds < 0.001)
    limits.seconds = 0.001;
  return limits;
}

/* Does no run have so many good rounds? Only a proof counts. */
static bool promise_is_empty(struct liveness_proof *l, enum derive_mode mode) {
  struct liveness_proof other = {.p = l->p, .request = l->request};
  struct round_shape shape;
  struct proof proof;
  bool empty = false;
  other.request.promise_only = true;
  struct proof_attempt *a = attempt_new(l->p, &shape, false);
  if (left_of(l->p) > 0.1 && derive_product(&other, a, &shape, mode)) {
    struct proof_limits limits = limits_for(l, 0.5, PROMISE_SECONDS);
    prove_property(a->system, &a->system->properties[0], l->p->options, &limits, &proof);
    empty = proof.kind == ENGINE_SAFE;
    proof_release(&proof);
  }
  attempt_free(a);
  text_release(&other.ignored);
  return empty;
}

static void certificate_note_reduction(struct proof_result *of, const struct liveness *l) {
  struct text t = {0};
  if (!of->proof.certificate)
    return;
  if (l->coins != COINS_FREE)
    text_add(&t, "; Coins show fixed values in the rounds that count. From every state such values come up with a "
                 "probability that "
                 "has a lower\n; bound for given parameters, so runs that always miss the goal have probability 0.\n");
  if (l->last == NO_STAGE)
    text_addf(
        &t,
        "; Liveness: every run ends, and its last state is repeated. Unsafe are last states of runs that miss the goal "
        "of '%s'.\n%s",
        of->name, of->proof.certificate);
  else
    text_addf(&t,
              "; Liveness: a run that violates '%s' has good rounds without end and misses the goal in every state.\n"
              "; The system is a product: the control `stage` counts the good rounds of runs that miss the goal, and "
              "the last "
              "stage,\n"
              "; after %" PRIu32
              " of them, is unsafe if the goal is still missed. That the environment promises these rounds is "
              "not part of it.\n%s",
              of->name, l->events, of->proof.certificate);
  memory_free(of->proof.certificate);
  of->proof.certificate = t.at;
}

/* A proof counts only if the product passes the comparison with the interpreter, and the search finds no violation. */
static void confirm_proof(struct liveness_proof *l, struct proof_attempt *a, const struct round_shape *shape,
                          enum derive_mode mode, struct proof_result *out) {
  struct query q = {.environment = l->request.environment,
                    .semantics = SEMANTICS_COARSE,
                    .properties = &l->request.property,
                    .nproperties = 1};
  out->vacuous = a->liveness.last != NO_STAGE && promise_is_empty(l, mode);
  cross_check(l->p, a, shape, &q, out);
  if (out->is_compared)
    certificate_note_reduction(out, &a->liveness);
}

/* ---- attempts ---- */

/* Returns false if no further attempt makes sense. *kept: the attempt whose result is in l->out. */
static bool prove_with(struct liveness_proof *l, uint32_t times, enum derive_mode mode, enum liveness_coins coins,
                       struct proof_attempt **kept) {
  struct round_shape shape;
  struct proof_result next = l->out;
  l->request.times = times;
  l->request.coins = coins;
  struct proof_attempt *a = product_new(l, &shape, mode);
  next.system = a->system;
  next.proof = (struct proof){0};
  next.compared = (struct validation){0};
  if (a->derivation.refused) {
    struct text why = {0};
    if (a->derivation.stopped)
      next.proof.limit = proof_undecided(&l->p->limits, l->interrupted == INTERRUPT_TIME, true,
                                         " while the counter system was derived");
    else
      refusal_print(l->p, a, &why);
    if (!next.proof.limit)
      next.proof.limit = why.at;
  } else {
    struct proof_limits limits = limits_for(l, mode == DERIVE_WHOLE && times == TIMES_MAX ? 0.8 : 0.25, 1e9);
    prove_property(a->system, &a->system->properties[0], l->p->options, &limits, &next.proof);
    l->unsafe |= next.proof.kind == ENGINE_UNSAFE;
    if (next.proof.kind == ENGINE_SAFE)
      confirm_proof(l, a, &shape, mode, &next);
  }
  bool refused = a->derivation.refused != NULL, decided = next.proof.kind == ENGINE_SAFE,
       ends = a->liveness.last == NO_STAGE;
  bool better = !*kept || decided || !refused;
  if (next.proof.kind == ENGINE_UNSAFE) { /* says nothing about the property */
    counter_run_release(&next.proof.run);
    next.proof.kind = ENGINE_UNDECIDED;
  }
  if (better && *kept) {
    proof_release(&l->out.proof);
    validation_release(&l->out.compared);
    attempt_free(*kept);
  }
  if (better) {
    l->out = next;
    *kept = a;
  } else {
    proof_release(&next.proof);
    validation_release(&next.compared);
    attempt_free(a);
  }
  return !decided && !refused && !ends && !l->p->fault.n && !*l->p->limits.interrupt && left_of(l->p) > 0.01;
}

static void add_reasons(struct liveness_proof *l, const struct proof_attempt *a) {
  struct text t = {0};
  if (l->out.proof.limit)
    text_add(&t, l->out.proof.limit);
  else if (l->unsafe && a && a->liveness.last == NO_STAGE)
    text_add(&t,
             "the counter system has a run that ends and misses the goal, and the search found none in the algorithm");
  else if (l->unsafe)
    text_addf(
        &t,
        "with up to %d good rounds of each kind, the counter system has a run that misses the goal, and the search "
        "found none in the algorithm",
        TIMES_MAX);
  else
    text_add(&t, "not decided");
  for (uint32_t i = 0; a && i < a->liveness.nignored; i++)
    if (a->liveness.ignored[i].why)
      note_ignored(l, a->liveness.ignored[i].at, a->liveness.ignored[i].why);
  if (l->ignored.n)
    text_addf(&t, "; %s", l->ignored.at);
  memory_free(l->out.proof.limit);
  l->out.proof.limit = t.at;
}

static void drop(struct liveness_proof *l, struct proof_attempt *a) {
  proof_release(&l->out.proof);
  validation_release(&l->out.compared);
  if (a)
    attempt_free(a);
}

/* More and more good rounds; with coins, first whatever they show. Returns false if no other mode is worth trying. */
static bool prove_by_mode(struct liveness_proof *l, enum derive_mode mode, struct proof_attempt **kept) {
  struct rounds_proof *p = l->p;
  const struct property *property = &p->model->properties[l->request.property];
  bool more = true;
  int last = property->almost_surely ? COINS_LAST : COINS_FREE;
  for (int coins = COINS_FREE; coins <= last && more; coins++) {
    bool again = true;
    uint32_t most = property->almost_surely && coins == COINS_FREE ? 1 : TIMES_MAX;
    for (uint32_t times = 1; times <= most && again; times++)
      again = prove_with(l, times, mode, (enum liveness_coins)coins, kept);
    more = l->out.proof.kind == ENGINE_UNDECIDED && !l->hopeless && !p->fault.n && !*p->limits.interrupt &&
           left_of(p) > 0.01 && (*kept)->liveness.last != NO_STAGE;
  }
  return l->out.proof.kind == ENGINE_UNDECIDED && !l->hopeless && !p->fault.n && !*p->limits.interrupt &&
         left_of(p) > 0.01;
}

void prove_live(struct rounds_proof *p, uint32_t property, uint32_t environment) {
  struct liveness_proof l = {.p = p, .request = {.property = property, .environment = environment}};
  l.out = (struct proof_result){.name = p->model->properties[property].name,
                                .environment = p->model->environments[environment].name,
                                .live = true};
  double start = p->proofs.n > 0 ? clock_seconds() : p->deadline - p->limits.seconds;
  p->deadline = start + p->limits.seconds;
  watch_answer(p->options->rondo, p->deadline, p->limits.asked);
  struct proof_attempt *a = NULL;
  if (!p->options->engine) /* else that engine is asked first */
    a = search_few(&l, left_of(p) / 4 < FIRST_SEARCH_SECONDS ? left_of(p) / 4 : FIRST_SEARCH_SECONDS);
  bool more = !a;
  for (int mode = DERIVE_COUNTED; mode <= DERIVE_WHOLE && more; mode++)
    more = prove_by_mode(&l, (enum derive_mode)mode, &a);
  if (l.out.proof.kind == ENGINE_UNDECIDED && !p->fault.n && !*p->limits.interrupt && left_of(p) > 0.1) {
    struct proof_result kept = l.out;
    struct proof_attempt *found =
        search_few(&l, left_of(p) / 2 < LAST_SEARCH_SECONDS ? left_of(p) / 2 : LAST_SEARCH_SECONDS);
    if (found) {
      struct proof_result violated = l.out;
      l.out = kept;
      drop(&l, a);
      l.out = violated;
      l.out.compared = (struct validation){0};
      a = found;
    }
  }
  if (l.out.proof.kind == ENGINE_UNDECIDED)
    add_reasons(&l, a);
  l.out.vacuous_for_few = l.out.proof.kind == ENGINE_SAFE && l.vacuous > 0 && l.vacuous == l.searched;
  l.out.proof.seconds = clock_seconds() - start;
  text_release(&l.ignored);
  vec_push(&p->proofs, l.out);
  vec_push(&p->attempts, a);
}
