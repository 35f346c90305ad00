/* Successors: choose oracles, crashes and sends, make the outcome set of every process, then combine the outcome sets
   as the environment allows. */
#include "lockstep/outcome_product.h"

#include "interp/run_clauses.h"
#include "lockstep/expansion.h"
#include "lockstep/layer_product.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/lockstep_property.h"
#include "lockstep/outcome_set.h"
#include "lockstep/probabilistic_choice.h"

#include <stdlib.h>
#include <string.h>

static bool choose_oracles(struct expansion *, uint32_t member);
static bool choose_crashes(struct expansion *, size_t actor);
static bool choose_sends(struct expansion *, size_t actor);
static bool exchange(struct expansion *);

/* After the first error of a state, only cheaper ones are reported. */
static bool report_error(struct expansion *x, const struct model_error *error, uint32_t cost) {
  struct edge edge = {.error = error, .processes = x->new_crashes, .faults = cost};
  uint64_t fault_cost = (uint64_t)x->new_crashes << 32 | cost;
  if (x->on_derivation) {
    struct round_derivation l = {.actors = x->actors.at,
                                 .nactors = (uint32_t)x->actors.n,
                                 .edge = &edge,
                                 .kernel = x->kernel,
                                 .uniform = x->uniform,
                                 .picks = x->picks.at,
                                 .npicks = (uint32_t)x->picks.n,
                                 .clique = x->clique};
    return x->on_derivation(x->context, &l);
  }
  if (x->failed && x->least_fault_cost <= fault_cost)
    return true;
  x->failed = true;
  x->least_fault_cost = fault_cost;
  if (x->layerwise)
    return layer_product_error(x->layerwise, &edge);
  return x->emit(x->context, NULL, &edge);
}

/* --- oracles --- */

static struct list oracle_locals(struct lockstep *s, local_id id, uint32_t point) {
  uint32_t found;
  if (memo_find(&s->local.oracles_of, id, point, &found))
    return s->local.lists.at[found];
  const struct role *role = &s->model->roles[local_role(&s->pack, id)];
  VEC(uint32_t) locals = {0};
  vec_push(&locals, id);
  value *v = memory_alloc(role_local_length(role) * sizeof *v);
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *var = &role->vars[i];
    if (!oracle_chosen_at(s->model, var, point))
      continue;
    size_t n = locals.n;
    VEC(uint32_t) grown = {0};
    for (size_t k = 0; k < n; k++)
      for (uint64_t c = 0; c < var->type->count; c++) {
        memcpy(v, local_values(&s->pack, locals.at[k]), role_local_length(role) * sizeof *v);
        v[LOCAL_VAR(i)] = type_nth(&s->model->values, var->type, c);
        vec_push(&grown, local_put(&s->pack, local_role(&s->pack, id), v));
      }
    vec_release(&locals);
    locals.at = grown.at;
    locals.n = grown.n;
    locals.cap = grown.cap;
  }
  struct list l = {arena_keep_array(&s->arena, locals.at, locals.n, sizeof *locals.at), (uint32_t)locals.n};
  vec_push(&s->local.lists, l);
  memo_add(&s->local.oracles_of, id, point, (uint32_t)s->local.lists.n - 1);
  vec_release(&locals);
  memory_free(v);
  return l;
}

static struct actor actor_of(const struct expansion *x, uint32_t member) {
  const struct lockstep *s = x->system;
  const struct member *m = &x->from->at[member];
  uint32_t role = local_role(&s->pack, m->local);
  return (struct actor){.original = m->local,
                        .local = m->local,
                        .count = m->count,
                        .role = role,
                        .process = s->pack.bag ? s->model->roles[role].first : member,
                        .origin = member,
                        .idle = !process_active(local_status(&s->pack, m->local)),
                        .sending = UINT32_MAX};
}

/* In bags it is unknown which process an actor is, so the conditions on single processes are evaluated for all
   processes together. */
static bool oracle_clauses_hold(struct expansion *x) {
  struct lockstep *s = x->system;
  const struct rules *r = x->rules;
  uint8_t *nobody = NULL;
  uint32_t nfilters = s->pack.bag ? r->noracle_filters : 0;
  if (!r->noracle_clauses && !nfilters)
    return true;
  struct unpacked_state *g = global_new(&s->pack);
  g->point = x->from->point;
  g->rounds = x->from->rounds;
  g->phase = x->from->phase;
  g->globals = x->from->globals;
  g->inits = x->from->inits;
  g->n = (uint32_t)x->actors.n;
  for (uint32_t i = 0; i < g->n; i++)
    g->at[i] = (struct member){x->actors.at[i].local, x->actors.at[i].count};
  struct config *c = global_to_config(&s->pack, g);
  bool ok = true;
  for (uint32_t i = 0; i < r->noracle_clauses && ok; i++) {
    const struct bound_condition *o = &r->oracle_clauses[i];
    ok = part_holds(s->interp, o->clause, o->pred, o->bound, c, &nobody, NULL);
  }
  for (uint32_t i = 0; i < nfilters && ok; i++) {
    const struct filter *f = &r->oracle_filters[i];
    ok = part_holds(s->interp, f->of.clause, f->whole, f->of.bound, c, &nobody, NULL);
  }
  config_free(c);
  global_free(g);
  return ok;
}

static bool oracles_fit(struct expansion *x, const struct actor *a) {
  return !x->rules->noracle_filters || x->system->pack.bag || a->idle || oracles_admitted(x, a);
}

/* Distributes the member's remaining processes over the oracle values from `alternative` on. */
static bool split_oracles(struct expansion *x, uint32_t member, const struct list *l, uint32_t alternative,
                          uint32_t left) {
  if (left == 0)
    return choose_oracles(x, member + 1);
  if (alternative == l->n)
    return true;
  for (uint32_t take = 0; take <= left; take++) {
    size_t n = x->actors.n;
    if (take) {
      struct actor a = actor_of(x, member);
      a.local = l->at[alternative];
      a.count = take;
      if (!oracles_fit(x, &a))
        return true;
      vec_push(&x->actors, a);
    }
    bool more = split_oracles(x, member, l, alternative + 1, left - take);
    x->actors.n = n;
    if (!more)
      return false;
  }
  return true;
}

static bool choose_oracles(struct expansion *x, uint32_t member) {
  struct lockstep *s = x->system;
  if (member == x->from->n)
    return !oracle_clauses_hold(x) || choose_crashes(x, 0);
  struct actor a = actor_of(x, member);
  const struct role *role = &s->model->roles[a.role];
  bool chosen = false;
  for (uint32_t i = 0; i < role->nvars && !a.idle; i++)
    chosen |= oracle_chosen_at(s->model, &role->vars[i], x->from->point);
  if (!chosen && !oracles_fit(x, &a))
    return true;
  if (!chosen) {
    vec_push(&x->actors, a);
    bool more = choose_oracles(x, member + 1);
    x->actors.n--;
    return more;
  }
  struct list l = oracle_locals(s, a.local, x->from->point);
  if (!x->rules->oracles_common)
    return split_oracles(x, member, &l, 0, a.count);
  /* a common value: the first process to choose decides for all */
  for (uint32_t k = 0; k < l.n; k++) {
    if (x->common != UINT32_MAX && x->common != k)
      continue;
    bool first = x->common == UINT32_MAX;
    a.local = l.at[k];
    if (!oracles_fit(x, &a))
      continue;
    x->common = k;
    vec_push(&x->actors, a);
    bool more = choose_oracles(x, member + 1);
    x->actors.n--;
    if (first)
      x->common = UINT32_MAX;
    if (!more)
      return false;
  }
  return true;
}

/* --- crashes --- */

static bool choose_crashes(struct expansion *x, size_t i) {
  if (!x->rules->crashes || i == x->actors.n)
    return choose_sends(x, 0);
  if (x->actors.at[i].idle || x->actors.at[i].crashing)
    return choose_crashes(x, i + 1);
  uint32_t count = x->actors.at[i].count, role = x->actors.at[i].role;
  bool more = true;
  for (uint32_t down = 0; down <= count && more; down++) {
    x->crashed[role] += down;
    x->new_crashes += down;
    bool allowed = faults_within(x->system->model, x->system->env, CLAUSE_CRASH, x->crashed);
    if (allowed && down == 0) {
      more = choose_crashes(x, i + 1);
    } else if (allowed) {
      struct actor whole = x->actors.at[i], part = whole;
      part.crashing = true;
      part.count = down;
      if (down == count) {
        x->actors.at[i] = part;
        more = choose_crashes(x, i + 1);
      } else {
        x->actors.at[i].count = count - down;
        vec_push(&x->actors, part); /* skipped when its turn comes */
        more = choose_crashes(x, i + 1);
        x->actors.n--;
      }
      x->actors.at[i] = whole;
    }
    x->crashed[role] -= down;
    x->new_crashes -= down;
    if (!allowed)
      break;
  }
  return more;
}

/* --- sends --- */

static bool split_sends(struct expansion *x, size_t i, const struct list *l, uint32_t alternative, uint32_t left) {
  if (alternative == l->n || left == 0)
    return left == 0 ? choose_sends(x, i + 1) : true;
  if (l->at[alternative] & SENDING_ERROR) {
    if (!report_error(x, &x->system->local.errors.at[l->at[alternative] & ~SENDING_ERROR], 0))
      return false;
    return split_sends(x, i, l, alternative + 1, left);
  }
  /* `left` processes of actor i still need an alternative; those already assigned were appended at the end */
  bool more = true;
  for (uint32_t take = left; more; take--) {
    struct actor whole = x->actors.at[i];
    if (take == left) {
      x->actors.at[i].sending = l->at[alternative];
      x->actors.at[i].count = take;
      more = choose_sends(x, i + 1);
    } else if (take > 0) {
      struct actor part = whole;
      part.sending = l->at[alternative];
      part.count = take;
      x->actors.at[i].count = left - take;
      vec_push(&x->actors, part);
      more = split_sends(x, i, l, alternative + 1, left - take);
      x->actors.n--;
    } else {
      more = split_sends(x, i, l, alternative + 1, left);
    }
    x->actors.at[i] = whole;
    if (take == 0)
      break;
  }
  return more;
}

static bool choose_sends(struct expansion *x, size_t i) {
  if (i == x->actors.n)
    return exchange(x);
  struct actor *a = &x->actors.at[i];
  if (a->idle || a->sending != UINT32_MAX)
    return choose_sends(x, i + 1);
  const struct list *l =
      send_alternatives(x->system, a->local, x->from->point, a->process, x->from->phase, x->from->globals);
  struct list copy = *l;
  bool more = split_sends(x, i, &copy, 0, a->count);
  x->actors.at[i].sending = UINT32_MAX;
  return more;
}

/* --- successors: an outcome set applied to a particular local state --- */

static int compare_successors(const void *a, const void *b) {
  const struct lockstep_successor *x = a, *y = b;
  if (x->next != y->next)
    return x->next < y->next ? -1 : 1;
  if (x->error != y->error)
    return x->error < y->error ? -1 : 1;
  if (x->adversary_choice != y->adversary_choice)
    return x->adversary_choice < y->adversary_choice ? -1 : 1;
  return (x->cost > y->cost) - (x->cost < y->cost);
}

static struct lockstep_successors *local_successors_for(struct expansion *x, const struct actor *a) {
  struct lockstep *s = x->system;
  uint64_t key = (uint64_t)a->local << 32 | x->from->point;
  uint32_t found;
  if (memo_find(&s->outcomes.local_successors_of, key, a->outcome_set, &found))
    return &s->outcomes.local_successors.at[found];
  const struct local_outcome_set outcome_set = s->outcomes.outcome_sets.at[a->outcome_set];
  struct lockstep_successors o = {.at = arena_array(&s->arena, outcome_set.n + 1, sizeof *o.at)};
  bool keep_outcomes = x->rules->coupling == COUPLED_NOSPLIT;
  for (uint32_t i = 0; i < outcome_set.n; i++) {
    const struct local_outcome *l = &outcome_set.outcomes[i];
    struct lockstep_successor one = {.cost = l->cost, .outcome = i, .error = update_error(s, l->update)};
    if (update_is_probabilistic(s, l->update)) {
      successor_of_coins(s, a->local, x->from->point, l->update, &one);
    } else if (!one.error) {
      one.next = local_after(s, a->local, x->from->point, l->update);
      one.broken = steps_broken_by(s, a->local, one.next);
    }
    uint32_t k = 0;
    while (k < o.n && !(o.at[k].next == one.next && o.at[k].error == one.error &&
                        o.at[k].adversary_choice == one.adversary_choice &&
                        (!s->form.all_costs || o.at[k].cost == one.cost) && !keep_outcomes))
      k++;
    if (k == o.n)
      o.at[o.n++] = one;
    else if (one.cost < o.at[k].cost)
      o.at[k] = one;
  }
  qsort(o.at, o.n, sizeof *o.at, compare_successors);
  vec_push(&s->outcomes.local_successors, o);
  memo_add(&s->outcomes.local_successors_of, key, a->outcome_set, (uint32_t)s->outcomes.local_successors.n - 1);
  return &s->outcomes.local_successors.at[s->outcomes.local_successors.n - 1];
}

/* --- the product --- */

static bool finish_resolved(struct expansion *x, uint32_t cost) {
  struct lockstep *s = x->system;
  struct unpacked_state *g = x->next;
  const struct point *point = &s->model->points[x->from->point];
  struct edge edge = {.faults = cost, .processes = x->new_crashes, .group = NO_GROUP};
  const struct model_error *error = NULL;
  if (x->variant)
    edge.marks = x->variant->marks;
  edge.adversary_choice = s->coins.adversary_choice;
  for (size_t i = 0; i < x->picks.n; i++) {
    edge.broken |= x->picks.at[i].successor->broken;
    if (x->picks.at[i].successor->error)
      error = &s->local.errors.at[x->picks.at[i].successor->error - 1];
  }
  if (error)
    return report_error(x, error, cost);
  g->point = point->next;
  g->rounds = s->pack.kept.rounds && x->from->rounds < s->pack.kept.rounds_cap ? x->from->rounds + 1 : x->from->rounds;
  g->phase = s->pack.kept.phase ? x->from->phase + (point->phase_end && point->endless) : 1;
  g->lost = s->pack.kept.lost ? x->from->lost + cost : 0;
  g->corrupted = 0;
  g->globals = x->from->globals;
  g->inits = x->from->inits;
  g->obligation = x->variant ? x->variant->obligation : 0;
  if (s->pack.bag) {
    g->n = (uint32_t)x->picks.n;
    for (uint32_t i = 0; i < g->n; i++)
      g->at[i] = (struct member){x->picks.at[i].successor->next, x->picks.at[i].count};
  } else {
    g->n = s->model->nprocesses;
    for (size_t i = 0; i < x->picks.n; i++)
      g->at[x->actors.at[x->picks.at[i].actor].process] = (struct member){x->picks.at[i].successor->next, 1};
  }
  if (s->properties.nglobal_steps)
    edge.broken |= steps_broken_globally(s, x);
  if (x->on_derivation) {
    struct round_derivation l = {
        x->actors.at, (uint32_t)x->actors.n, x->picks.at, (uint32_t)x->picks.n, g, &edge, x->kernel, x->uniform,
        x->clique};
    return x->on_derivation(x->context, &l);
  }
  global_canonical(&s->pack, g, NULL);
  struct state state;
  global_encode(&s->pack, g, &s->buffer, &s->buffer_capacity, &state);
  return x->emit(x->context, &state, &edge);
}

/* --- results of coins --- */

static bool resolve_coins(struct expansion *x, size_t i, uint32_t cost);

/* `left` processes of pick i still need one of the coin results from k on; `placed`: some have one. */
static bool resolve_coins_of(struct expansion *x, size_t i, const struct pick *whole, uint32_t k, uint32_t left,
                             bool placed, uint32_t cost) {
  struct lockstep *s = x->system;
  const struct list coin_results = s->local.lists.at[whole->successor->adversary_choice - 1];
  if (left == 0)
    return resolve_coins(x, i + 1, cost);
  if (k == coin_results.n)
    return true;
  struct lockstep_successor one = *whole->successor;
  bool failing = coin_results.at[k] & COIN_RESULT_ERROR, more = true;
  one.adversary_choice = 0;
  one.error = failing ? 1 + (coin_results.at[k] & ~COIN_RESULT_ERROR) : 0;
  one.next = coin_results.at[k];
  for (uint32_t take = k + 1 == coin_results.n ? left : 0; take <= left && more; take++) {
    size_t n = x->picks.n;
    struct pick before = x->picks.at[i], part = {whole->actor, &one, take};
    if (take && placed)
      vec_push(&x->picks, part);
    else if (take)
      x->picks.at[i] = part;
    more = resolve_coins_of(x, i, whole, k + 1, left - take, placed || take, cost);
    x->picks.n = n;
    x->picks.at[i] = before;
  }
  return more;
}

static bool resolve_coins(struct expansion *x, size_t i, uint32_t cost) {
  while (i < x->picks.n && !x->picks.at[i].successor->adversary_choice)
    i++;
  if (i == x->picks.n)
    return finish_resolved(x, cost);
  struct pick whole = x->picks.at[i];
  return resolve_coins_of(x, i, &whole, 0, whole.count, false, cost);
}

static bool finish(struct expansion *x, uint32_t cost) {
  if (!x->system->coins.used)
    return finish_resolved(x, cost);
  x->system->coins.adversary_choice++;
  return resolve_coins(x, 0, cost);
}

bool in_clique(const struct expansion *x, const struct actor *a, const struct lockstep_successor *o) {
  if (!x->clique || a->idle || a->crashing) /* its heard-of set changes nothing: assume that it hears every process */
    return true;
  const struct local_outcome *l = &x->system->outcomes.outcome_sets.at[a->outcome_set].outcomes[o->outcome];
  for (uint32_t i = 0; i < l->nmasks; i++)
    if (x->clique[a->mask_sets[l->first_mask + i]])
      return true;
  return false;
}

static bool product(struct expansion *x, size_t i, uint32_t successor, uint32_t left, uint32_t cost) {
  if (lockstep_stopped(x->system))
    return false;
  if (left == 0) {
    if (++i == x->actors.n)
      return finish(x, cost);
    return product(x, i, 0, x->actors.at[i].count, cost);
  }
  const struct actor *a = &x->actors.at[i];
  for (uint32_t k = successor; k < a->local_successors->n; k++) {
    const struct lockstep_successor *o = &a->local_successors->at[k];
    if (!in_clique(x, a, o))
      continue;
    for (uint32_t take = left; take > 0; take--) {
      uint64_t price = (uint64_t)o->cost * take;
      if ((int64_t)(cost + price) > x->cost_left)
        continue;
      vec_push(&x->picks, ((struct pick){(uint32_t)i, o, take}));
      bool more = take == left ? product(x, i, 0, 0, cost + (uint32_t)price)
                               : product(x, i, k + 1, left - take, cost + (uint32_t)price);
      x->picks.n--;
      if (!more)
        return false;
    }
  }
  return true;
}

static bool multiply(struct expansion *x) {
  if (x->impossible)
    return true;
  if (x->layerwise)
    return layer_product_take(x->layerwise, x);
  if (x->actors.n == 0)
    return finish(x, 0);
  return product(x, 0, 0, x->actors.at[0].count, 0);
}

/* --- outcome sets for all processes, then the product for the coupling --- */

static void idle_successors(struct expansion *x, struct actor *a) {
  struct lockstep *s = x->system;
  uint32_t update = a->crashing ? UPDATE_CRASH : UPDATE_IDLE, found;
  uint64_t key = (uint64_t)a->original << 32 | x->from->point;
  if (!memo_find(&s->outcomes.local_successors_of, key, update, &found)) {
    struct lockstep_successors o = {.at = arena_array(&s->arena, 1, sizeof *o.at), .n = 1};
    o.at[0] = (struct lockstep_successor){.next = local_after(s, a->original, x->from->point, update)};
    o.at[0].broken = steps_broken_by(s, a->original, o.at[0].next);
    vec_push(&s->outcomes.local_successors, o);
    found = (uint32_t)s->outcomes.local_successors.n - 1;
    memo_add(&s->outcomes.local_successors_of, key, update, found);
  }
  a->local_successors = &s->outcomes.local_successors.at[found];
}

/* All processes of a role have the same receivable messages if no process is faulty and it does not matter whether a
   process hears itself. */
static bool receivables_shared(const struct expansion *x) {
  const struct lockstep *s = x->system;
  if (x->on_derivation) /* a trace needs the groups of each process */
    return false;
  if (!s->form.same_receivables[x->from->point] || x->rules->lossy || x->rules->nsizes || x->rules->nfilters ||
      s->model->nroles > 8)
    return false;
  for (size_t i = 0; i < x->actors.n; i++)
    if (x->actors.at[i].crashing || (local_status(&s->pack, x->actors.at[i].original) & STATUS_FAULTY))
      return false;
  return true;
}

static const struct actor *like_of_role(const struct expansion *x, uint32_t i) {
  for (uint32_t k = 0; k < i; k++) {
    const struct actor *a = &x->actors.at[k];
    if (a->role == x->actors.at[i].role && !a->idle && !a->receivable_shared)
      return a;
  }
  return NULL;
}

static bool make_outcome_sets(struct expansion *x, uint32_t kernel, const uint32_t *uniform) {
  struct lockstep *s = x->system;
  uint32_t shared_id[8];
  bool share = receivables_shared(x);
  x->impossible = false;
  for (size_t i = 0; i < x->actors.n; i++)
    if (x->actors.at[i].receivable_shared) {
      x->actors.at[i].receivable_shared = false;
      x->actors.at[i].receivable = (struct round_receivable){0};
    }
  for (uint32_t i = 0; i < x->actors.n; i++) {
    struct actor *a = &x->actors.at[i];
    if (a->idle || a->crashing) { /* it still has a heard-of set, which a condition may restrict */
      a->receivable.allowed = allowed_sets(x, a);
      x->impossible |= !some_set_allowed(s, a->receivable.allowed);
      continue;
    }
    const struct actor *like = share ? like_of_role(x, i) : NULL;
    uint32_t id;
    if (like) {
      a->receivable = like->receivable;
      a->receivable_shared = true;
      id = shared_id[a->role];
    } else {
      if (!receivable_make(x, i, kernel, uniform))
        return false;
      id = receivable_put(s, x->rules_index, &a->receivable);
      if (share)
        shared_id[a->role] = id;
    }
    uint32_t context = projection_of(s, a->local, x->from->point, a->process, x->from->phase, x->from->globals);
    a->outcome_set = outcome_set_of(s, context, x->rules, &a->receivable, id);
    a->receivable_id = id;
  }
  for (uint32_t i = 0; i < x->actors.n; i++) {
    struct actor *a = &x->actors.at[i];
    if (!a->idle && !a->crashing)
      local_successors_for(x, a);
    else
      idle_successors(x, a);
  }
  /* the tables may have been reallocated */
  for (uint32_t i = 0; i < x->actors.n; i++) {
    struct actor *a = &x->actors.at[i];
    if (!a->idle && !a->crashing)
      a->local_successors = local_successors_for(x, a);
    else
      idle_successors(x, a);
  }
  return true;
}

static bool kernel_rounds(struct expansion *x) {
  for (uint32_t k = 0; k < x->actors.n; k++) {
    if (x->actors.at[k].idle)
      continue;
    x->kernel = k;
    if (!make_outcome_sets(x, k, NULL)) {
      if (x->send_error)
        return report_error(x, x->send_error, 0);
      continue;
    }
    if (!multiply(x))
      return false;
  }
  x->kernel = UINT32_MAX;
  return true;
}

static bool somebody_receives_all(const struct expansion *x) {
  for (size_t i = 0; i < x->actors.n; i++) {
    const struct actor *a = &x->actors.at[i];
    if (!a->idle && !a->crashing && !(local_status(&x->system->pack, a->original) & STATUS_OMITS_RECEIVE))
      return true;
  }
  return false;
}

/* Are all processes allowed to hear this set? (Idle processes are not restricted.) With filters there are no bags. */
static bool uniform_allowed(struct expansion *x) {
  uint64_t set = 0;
  for (size_t i = 0; i < x->actors.n && x->rules->nfilters; i++)
    set |= (uint64_t)x->uniform[i] << x->actors.at[i].process;
  for (size_t i = 0; i < x->actors.n && x->rules->nfilters; i++) {
    uint32_t allowed = x->actors.at[i].idle ? 0 : allowed_sets(x, &x->actors.at[i]);
    if (allowed && !((uint64_t)intern_at(x->system->vectors, allowed - 1)[set / 64] >> set % 64 & 1))
      return false;
  }
  return true;
}

static bool uniform_rounds(struct expansion *x, uint32_t i, uint32_t size) {
  if (lockstep_stopped(x->system))
    return false;
  if (i == x->actors.n) {
    if ((x->rules->uniform_size && !x->rules->uniform_size[size]) || !uniform_allowed(x))
      return true;
    if (!make_outcome_sets(x, UINT32_MAX, x->uniform))
      return report_error(x, x->send_error, 0);
    return multiply(x);
  }
  const struct actor *a = &x->actors.at[i];
  value status = local_status(&x->system->pack, a->original);
  /* an active process must hear itself, so all must hear it; a silent process must be heard if some process receives
     everything */
  bool optional = !x->rules->delivers || a->crashing || (status & (STATUS_CRASHED | STATUS_BYZANTINE)) ||
                  (a->idle && ((status & STATUS_OMITS_SEND) || !somebody_receives_all(x)));
  for (uint32_t take = optional ? 0 : a->count; take <= a->count; take++) {
    x->uniform[i] = take;
    if (!uniform_rounds(x, i + 1, size + take))
      return false;
  }
  return true;
}

static bool exchange(struct expansion *x) {
  bool more = false;
  for (size_t i = 0; i < x->actors.n; i++) {
    x->actors.at[i].receivable = (struct round_receivable){0};
    x->actors.at[i].receivable_shared = false;
  }
  x->send_error = NULL;
  if (!sends_agree(x))
    return report_error(x, x->send_error, 0);
  switch (x->rules->coupling) {
  case COUPLED_KERNEL:
    more = kernel_rounds(x);
    break;
  case COUPLED_UNIFORM:
    x->uniform = memory_alloc((x->actors.n + 1) * sizeof *x->uniform);
    more = uniform_rounds(x, 0, 0);
    memory_free(x->uniform);
    x->uniform = NULL;
    break;
  case COUPLED_NOT:
  case COUPLED_NOSPLIT:
    if (!make_outcome_sets(x, UINT32_MAX, NULL))
      more = report_error(x, x->send_error, 0);
    else
      more = x->rules->coupling == COUPLED_NOSPLIT ? nosplit_rounds(x, multiply) : multiply(x);
    break;
  }
  for (size_t i = 0; i < x->actors.n; i++)
    if (!x->actors.at[i].receivable_shared)
      receivable_release(&x->actors.at[i].receivable);
  return more;
}

static int64_t loss_limit(const struct lockstep *s, const struct unpacked_state *from) {
  int64_t limit = INT64_MAX;
  for (uint32_t i = 0; i < s->env->nclauses; i++) {
    const struct clause *c = &s->env->clauses[i];
    int64_t left = c->per == PER_RUN ? c->limit - from->lost : c->limit;
    if (c->kind == CLAUSE_LOST && left < limit)
      limit = left < 0 ? 0 : left;
  }
  return limit;
}

static bool expand(struct expansion *x) {
  struct lockstep *s = x->system;
  const struct unpacked_state *from = x->from;
  if (from->point == POINT_END)
    return true;
  uint32_t rounds = s->pack.kept.rounds ? from->rounds : s->model->points[from->point].number - 1;
  x->kernel = x->common = UINT32_MAX;
  x->rules = lockstep_rules(s, from->point, rounds, x->variant, &x->rules_index);
  x->cost_left = loss_limit(s, from);
  x->crashed = memory_alloc((s->model->nroles + 1) * sizeof *x->crashed);
  for (uint32_t i = 0; i < from->n; i++)
    if (local_status(&s->pack, from->at[i].local) & STATUS_CRASHED)
      x->crashed[local_role(&s->pack, from->at[i].local)] += from->at[i].count;
  x->next = global_new(&s->pack);
  bool more = choose_oracles(x, 0) && !lockstep_stopped(s); /* if stopped, remaining successors are left out */
  memory_free(x->crashed);
  if (x->config)
    config_free(x->config);
  global_free(x->next);
  vec_release(&x->actors);
  vec_release(&x->picks);
  return more;
}

bool lockstep_successors(struct lockstep *s, const struct unpacked_state *from, const struct round_variant *variant,
                         emit_fn *emit, round_derivation_fn *on_derivation, void *context) {
  struct expansion x = {
      .system = s, .from = from, .variant = variant, .emit = emit, .on_derivation = on_derivation, .context = context};
  return expand(&x);
}

bool lockstep_tasks(struct lockstep *s, const struct unpacked_state *from, struct layer_product *t) {
  struct expansion x = {
      .system = s, .from = from, .layerwise = t, .fast_path = from->point != POINT_END && s->fast_path[from->point]};
  return expand(&x);
}
