/* Successors: choose oracles, crashes and what is sent, make everyone's menu, then put the menus together as the
   environment allows. */
#include "space/expansion.h"

#include "sem/marks.h"
#include "space/together.h"

#include <stdlib.h>
#include <string.h>

static bool choose_oracles(struct expansion *, uint32_t member);
static bool choose_crashes(struct expansion *, size_t actor);
static bool choose_sends(struct expansion *, size_t actor);
static bool exchange(struct expansion *);

/* Of the errors of one state only ever cheaper ones are reported. */
static bool report_error(struct expansion *x, const struct model_error *error, uint32_t cost) {
  struct edge edge = {.error = error, .processes = x->new_crashes, .faults = cost};
  uint64_t charge = (uint64_t)x->new_crashes << 32 | cost;
  if (x->leaf) {
    struct leaf l = {.actors = x->actors.at, .nactors = (uint32_t)x->actors.n, .edge = &edge,
                     .kernel = x->kernel, .uniform = x->uniform, .picks = x->picks.at,
                     .npicks = (uint32_t)x->picks.n,
                     .clique = x->clique, .nclique = x->nclique};
    return x->leaf(x->context, &l);
  }
  if (x->failed && x->least_charge <= charge)
    return true;
  x->failed = true;
  x->least_charge = charge;
  if (x->together)
    return together_error(x->together, &edge);
  return x->emit(x->context, NULL, &edge);
}

/* --- oracles --- */

static struct list oracle_locals(struct round_space *s, local_id id, uint32_t point) {
  uint32_t found;
  if (memo_find(&s->oracles_of, id, point, &found))
    return s->lists.at[found];
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
  struct list l = {keep_array(&s->arena, locals.at, locals.n, sizeof *locals.at), (uint32_t)locals.n};
  vec_push(&s->lists, l);
  memo_add(&s->oracles_of, id, point, (uint32_t)s->lists.n - 1);
  vec_release(&locals);
  memory_free(v);
  return l;
}

static struct actor actor_of(const struct expansion *x, uint32_t member) {
  const struct round_space *s = x->space;
  const struct member *m = &x->from->at[member];
  uint32_t role = local_role(&s->pack, m->local);
  return (struct actor){.original = m->local, .local = m->local, .count = m->count, .role = role,
                        .process = s->pack.bag ? s->model->roles[role].first : member, .origin = member,
                        .idle = !process_active(local_status(&s->pack, m->local)), .sending = UINT32_MAX};
}

/* With bags nobody knows which process an actor is, so what is said of one process each is asked of all together. */
static bool oracle_clauses_hold(struct expansion *x) {
  struct round_space *s = x->space;
  const struct rules *r = x->rules;
  uint8_t *nobody = NULL;
  uint32_t nfilters = s->pack.bag ? r->noracle_filters : 0;
  if (!r->noracle_clauses && !nfilters)
    return true;
  struct global *g = global_new(&s->pack);
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
    const struct condition *o = &r->oracle_clauses[i];
    ok = part_holds(s->meaning, o->clause, o->pred, o->bound, c, &nobody, NULL);
  }
  for (uint32_t i = 0; i < nfilters && ok; i++) {
    const struct filter *f = &r->oracle_filters[i];
    ok = part_holds(s->meaning, f->of.clause, f->whole, f->of.bound, c, &nobody, NULL);
  }
  config_free(c);
  global_free(g);
  return ok;
}

static bool oracles_fit(struct expansion *x, const struct actor *a) {
  return !x->rules->noracle_filters || x->space->pack.bag || a->idle || oracles_admitted(x, a);
}

/* Splits member's remaining processes over the oracle values from `alternative` on. */
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
  struct round_space *s = x->space;
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
  /* all the same: the first to choose decides for the others */
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
    bool allowed = faults_within(x->space->model, x->space->env, CLAUSE_CRASH, x->crashed);
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
        vec_push(&x->actors, part); /* passed over when its turn comes */
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
    if (!report_error(x, &x->space->errors.at[l->at[alternative] & ~SENDING_ERROR], 0))
      return false;
    return split_sends(x, i, l, alternative + 1, left);
  }
  /* `left` processes of actor i are still to be given an alternative; those before went to the end */
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
      send_alternatives(x->space, a->local, x->from->point, a->process, x->from->phase, x->from->globals);
  struct list copy = *l;
  bool more = split_sends(x, i, &copy, 0, a->count);
  x->actors.at[i].sending = UINT32_MAX;
  return more;
}

/* --- options: the menu of a particular local state --- */

static int compare_options(const void *a, const void *b) {
  const struct option *x = a, *y = b;
  if (x->next != y->next)
    return x->next < y->next ? -1 : 1;
  if (x->error != y->error)
    return x->error < y->error ? -1 : 1;
  if (x->lottery != y->lottery)
    return x->lottery < y->lottery ? -1 : 1;
  return (x->cost > y->cost) - (x->cost < y->cost);
}

static struct options *options_for(struct expansion *x, const struct actor *a) {
  struct round_space *s = x->space;
  uint64_t key = (uint64_t)a->local << 32 | x->from->point;
  uint32_t found;
  if (memo_find(&s->options_of, key, a->menu, &found))
    return &s->options.at[found];
  const struct menu menu = s->menus.at[a->menu];
  struct options o = {.at = arena_array(&s->arena, menu.n + 1, sizeof *o.at)};
  bool keep_lines = x->rules->coupling == COUPLED_NOSPLIT;
  for (uint32_t i = 0; i < menu.n; i++) {
    const struct line *l = &menu.lines[i];
    struct option one = {.cost = l->cost, .line = i, .error = effect_error(s, l->effect)};
    if (effect_is_lottery(s, l->effect)) {
      option_of_lottery(s, a->local, x->from->point, l->effect, &one);
    } else if (!one.error) {
      one.next = local_after(s, a->local, x->from->point, l->effect);
      one.broken = steps_broken_by(s, a->local, one.next);
    }
    uint32_t k = 0;
    while (k < o.n && !(o.at[k].next == one.next && o.at[k].error == one.error && o.at[k].lottery == one.lottery &&
                        (!s->all_costs || o.at[k].cost == one.cost) && !keep_lines))
      k++;
    if (k == o.n)
      o.at[o.n++] = one;
    else if (one.cost < o.at[k].cost)
      o.at[k] = one;
  }
  qsort(o.at, o.n, sizeof *o.at, compare_options);
  vec_push(&s->options, o);
  memo_add(&s->options_of, key, a->menu, (uint32_t)s->options.n - 1);
  return &s->options.at[s->options.n - 1];
}

/* --- the product --- */

static bool finish_settled(struct expansion *x, uint32_t cost) {
  struct round_space *s = x->space;
  struct global *g = x->next;
  const struct point *point = &s->model->points[x->from->point];
  struct edge edge = {.faults = cost, .processes = x->new_crashes, .group = NO_GROUP};
  const struct model_error *error = NULL;
  if (x->variant)
    edge.marks = x->variant->marks;
  edge.lottery = s->lottery;
  for (size_t i = 0; i < x->picks.n; i++) {
    edge.broken |= x->picks.at[i].option->broken;
    if (x->picks.at[i].option->error)
      error = &s->errors.at[x->picks.at[i].option->error - 1];
  }
  if (error)
    return report_error(x, error, cost);
  g->point = point->next;
  g->rounds = s->pack.keep_rounds && x->from->rounds < s->pack.rounds_cap ? x->from->rounds + 1 : x->from->rounds;
  g->phase = s->pack.keep_phase ? x->from->phase + (point->phase_end && point->endless) : 1;
  g->lost = s->pack.keep_lost ? x->from->lost + cost : 0;
  g->corrupted = 0;
  g->globals = x->from->globals;
  g->inits = x->from->inits;
  g->hope = x->variant ? x->variant->hope : 0;
  if (s->pack.bag) {
    g->n = (uint32_t)x->picks.n;
    for (uint32_t i = 0; i < g->n; i++)
      g->at[i] = (struct member){x->picks.at[i].option->next, x->picks.at[i].count};
  } else {
    g->n = s->model->nprocesses;
    for (size_t i = 0; i < x->picks.n; i++)
      g->at[x->actors.at[x->picks.at[i].actor].process] = (struct member){x->picks.at[i].option->next, 1};
  }
  if (s->nglobal_steps)
    edge.broken |= steps_broken_globally(s, x);
  if (x->leaf) {
    struct leaf l = {x->actors.at, (uint32_t)x->actors.n, x->picks.at, (uint32_t)x->picks.n, g, &edge,
                     x->kernel, x->uniform, x->clique, x->nclique};
    return x->leaf(x->context, &l);
  }
  global_canonical(&s->pack, g, NULL);
  struct state state;
  global_encode(&s->pack, g, &s->buffer, &s->buffer_capacity, &state);
  return x->emit(x->context, &state, &edge);
}

/* --- what coins make of it --- */

static bool settle(struct expansion *x, size_t i, uint32_t cost);

/* `left` processes of pick i still to be given one of the outcomes from k on; `placed`: some have one. */
static bool settle_pick(struct expansion *x, size_t i, const struct pick *whole, uint32_t k, uint32_t left, bool placed,
                        uint32_t cost) {
  struct round_space *s = x->space;
  const struct list outcomes = s->lists.at[whole->option->lottery - 1];
  if (left == 0)
    return settle(x, i + 1, cost);
  if (k == outcomes.n)
    return true;
  struct option one = *whole->option;
  bool failing = outcomes.at[k] & OUTCOME_ERROR, more = true;
  one.lottery = 0;
  one.error = failing ? 1 + (outcomes.at[k] & ~OUTCOME_ERROR) : 0;
  one.next = outcomes.at[k];
  for (uint32_t take = k + 1 == outcomes.n ? left : 0; take <= left && more; take++) {
    size_t n = x->picks.n;
    struct pick before = x->picks.at[i], part = {whole->actor, &one, take};
    if (take && placed)
      vec_push(&x->picks, part);
    else if (take)
      x->picks.at[i] = part;
    more = settle_pick(x, i, whole, k + 1, left - take, placed || take, cost);
    x->picks.n = n;
    x->picks.at[i] = before;
  }
  return more;
}

static bool settle(struct expansion *x, size_t i, uint32_t cost) {
  while (i < x->picks.n && !x->picks.at[i].option->lottery)
    i++;
  if (i == x->picks.n)
    return finish_settled(x, cost);
  struct pick whole = x->picks.at[i];
  return settle_pick(x, i, &whole, 0, whole.count, false, cost);
}

static bool finish(struct expansion *x, uint32_t cost) {
  if (!x->space->lotteries)
    return finish_settled(x, cost);
  x->space->lottery++;
  return settle(x, 0, cost);
}

bool in_clique(const struct expansion *x, const struct actor *a, const struct option *o) {
  if (!x->clique || a->idle || a->crashing) /* whom it hears changes nothing: take it to hear everybody */
    return true;
  const struct line *l = &x->space->menus.at[a->menu].lines[o->line];
  for (uint32_t i = 0; i < l->nmasks; i++) {
    uint64_t members = line_members(&a->offer, l->masks[i]);
    for (uint32_t k = 0; k < x->nclique; k++)
      if (x->clique[k] == members)
        return true;
  }
  return false;
}

static bool product(struct expansion *x, size_t i, uint32_t option, uint32_t left, uint32_t cost) {
  if (left == 0) {
    if (++i == x->actors.n)
      return finish(x, cost);
    return product(x, i, 0, x->actors.at[i].count, cost);
  }
  const struct actor *a = &x->actors.at[i];
  for (uint32_t k = option; k < a->options->n; k++) {
    const struct option *o = &a->options->at[k];
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
  if (x->together)
    return together_take(x->together, x);
  if (x->actors.n == 0)
    return finish(x, 0);
  return product(x, 0, 0, x->actors.at[0].count, 0);
}

/* --- menus for all, then the product that the coupling asks for --- */

static void idle_options(struct expansion *x, struct actor *a) {
  struct round_space *s = x->space;
  uint32_t effect = a->crashing ? EFFECT_CRASH : EFFECT_IDLE, found;
  uint64_t key = (uint64_t)a->original << 32 | x->from->point;
  if (!memo_find(&s->options_of, key, effect, &found)) {
    struct options o = {.at = arena_array(&s->arena, 1, sizeof *o.at), .n = 1};
    o.at[0] = (struct option){.next = local_after(s, a->original, x->from->point, effect)};
    o.at[0].broken = steps_broken_by(s, a->original, o.at[0].next);
    vec_push(&s->options, o);
    found = (uint32_t)s->options.n - 1;
    memo_add(&s->options_of, key, effect, found);
  }
  a->options = &s->options.at[found];
}

/* Everybody of a role is offered the same if nobody is at fault, and whether it hears itself does not matter. */
static bool offers_shared(const struct expansion *x) {
  const struct round_space *s = x->space;
  if (x->leaf) /* a trace wants to know each one's own groups */
    return false;
  if (!s->same_offers[x->from->point] || x->rules->lossy || x->rules->nsizes || x->rules->nfilters || s->model->nroles > 8)
    return false;
  for (size_t i = 0; i < x->actors.n; i++)
    if (x->actors.at[i].crashing || (local_status(&s->pack, x->actors.at[i].original) & STATUS_FAULTY))
      return false;
  return true;
}

static const struct actor *like_of_role(const struct expansion *x, uint32_t i) {
  for (uint32_t k = 0; k < i; k++) {
    const struct actor *a = &x->actors.at[k];
    if (a->role == x->actors.at[i].role && !a->idle && !a->offer_shared)
      return a;
  }
  return NULL;
}

static bool make_menus(struct expansion *x, uint32_t kernel, const uint32_t *uniform) {
  struct round_space *s = x->space;
  uint32_t shared_id[8];
  bool share = offers_shared(x);
  x->impossible = false;
  for (size_t i = 0; i < x->actors.n; i++)
    if (x->actors.at[i].offer_shared) {
      x->actors.at[i].offer_shared = false;
      x->actors.at[i].offer = (struct offer){0};
    }
  for (uint32_t i = 0; i < x->actors.n; i++) {
    struct actor *a = &x->actors.at[i];
    if (a->idle || a->crashing) { /* it hears somebody all the same, whom a condition may speak of */
      a->offer.allowed = allowed_sets(x, a);
      x->impossible |= !some_set_allowed(s, a->offer.allowed);
      continue;
    }
    const struct actor *like = share ? like_of_role(x, i) : NULL;
    uint32_t id;
    if (like) {
      a->offer = like->offer;
      a->offer_shared = true;
      id = shared_id[a->role];
    } else {
      if (!offer_make(x, i, kernel, uniform))
        return false;
      id = offer_put(s, x->rules_index, &a->offer);
      if (share)
        shared_id[a->role] = id;
    }
    uint32_t context = context_of(s, a->local, x->from->point, a->process, x->from->phase, x->from->globals);
    a->menu = menu_of(s, context, x->rules, &a->offer, id);
    a->offer_id = id;
  }
  for (uint32_t i = 0; i < x->actors.n; i++) {
    struct actor *a = &x->actors.at[i];
    if (!a->idle && !a->crashing)
      options_for(x, a);
    else
      idle_options(x, a);
  }
  /* the tables may have moved while they grew */
  for (uint32_t i = 0; i < x->actors.n; i++) {
    struct actor *a = &x->actors.at[i];
    if (!a->idle && !a->crashing)
      a->options = options_for(x, a);
    else
      idle_options(x, a);
  }
  return true;
}

static bool kernel_rounds(struct expansion *x) {
  for (uint32_t k = 0; k < x->actors.n; k++) {
    if (x->actors.at[k].idle)
      continue;
    x->kernel = k;
    if (!make_menus(x, k, NULL)) {
      if (x->offer_error)
        return report_error(x, x->offer_error, 0);
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
    if (!a->idle && !a->crashing && !(local_status(&x->space->pack, a->original) & STATUS_OMITS_RECEIVE))
      return true;
  }
  return false;
}

/* May everybody hear this one set? (The idle hear whom they like.) Filters: there are no bags. */
static bool uniform_allowed(struct expansion *x) {
  uint64_t set = 0;
  for (size_t i = 0; i < x->actors.n && x->rules->nfilters; i++)
    set |= (uint64_t)x->uniform[i] << x->actors.at[i].process;
  for (size_t i = 0; i < x->actors.n && x->rules->nfilters; i++) {
    uint32_t allowed = x->actors.at[i].idle ? 0 : allowed_sets(x, &x->actors.at[i]);
    if (allowed && !((uint64_t)intern_at(x->space->vectors, allowed - 1)[set / 64] >> set % 64 & 1))
      return false;
  }
  return true;
}

static bool uniform_rounds(struct expansion *x, uint32_t i, uint32_t size) {
  if (i == x->actors.n) {
    if ((x->rules->uniform_size && !x->rules->uniform_size[size]) || !uniform_allowed(x))
      return true;
    if (!make_menus(x, UINT32_MAX, x->uniform))
      return report_error(x, x->offer_error, 0);
    return multiply(x);
  }
  const struct actor *a = &x->actors.at[i];
  value status = local_status(&x->space->pack, a->original);
  /* who takes part hears itself, so that all do; the silent must be heard if somebody receives all there is */
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
  for (size_t i = 0; i < x->actors.n; i++)
  {
    x->actors.at[i].offer = (struct offer){0};
    x->actors.at[i].offer_shared = false;
  }
  x->offer_error = NULL;
  if (!sends_agree(x))
    return report_error(x, x->offer_error, 0);
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
    if (!make_menus(x, UINT32_MAX, NULL))
      more = report_error(x, x->offer_error, 0);
    else
      more = x->rules->coupling == COUPLED_NOSPLIT ? nosplit_rounds(x, multiply) : multiply(x);
    break;
  }
  for (size_t i = 0; i < x->actors.n; i++)
    if (!x->actors.at[i].offer_shared)
      offer_release(&x->actors.at[i].offer);
  return more;
}

static int64_t loss_limit(const struct round_space *s, const struct global *from) {
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
  struct round_space *s = x->space;
  const struct global *from = x->from;
  if (from->point == POINT_END)
    return true;
  uint32_t rounds = s->pack.keep_rounds ? from->rounds : s->model->points[from->point].number - 1;
  x->kernel = x->common = UINT32_MAX;
  x->rules = space_rules(s, from->point, rounds, x->variant, &x->rules_index);
  x->cost_left = loss_limit(s, from);
  x->crashed = memory_alloc((s->model->nroles + 1) * sizeof *x->crashed);
  for (uint32_t i = 0; i < from->n; i++)
    if (local_status(&s->pack, from->at[i].local) & STATUS_CRASHED)
      x->crashed[local_role(&s->pack, from->at[i].local)] += from->at[i].count;
  x->next = global_new(&s->pack);
  bool more = choose_oracles(x, 0) && !round_stopped(s); /* what was given up is left out */
  memory_free(x->crashed);
  if (x->config)
    config_free(x->config);
  global_free(x->next);
  vec_release(&x->actors);
  vec_release(&x->picks);
  return more;
}

bool round_successors(struct round_space *s, const struct global *from, const struct variant *variant, emit_fn *emit,
                      leaf_fn *leaf, void *context) {
  struct expansion x = {.space = s, .from = from, .variant = variant, .emit = emit, .leaf = leaf, .context = context};
  return expand(&x);
}

bool round_tasks(struct round_space *s, const struct global *from, struct together *t) {
  struct expansion x = {.space = s, .from = from, .together = t, .quick = from->point != POINT_END && s->quick[from->point]};
  return expand(&x);
}
