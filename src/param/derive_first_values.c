/* The initial local states of a process, by concolic execution of the first values. They are evaluated with concrete
   parameters; what they compare with parameters without a fixed value is recorded as signs of linear forms. So the
   parameters are divided into regions with the same initial local states. */
#include "param/derive_internal.h"

#include "base/memory.h"

#include <string.h>

enum { REGIONS_MAX = 100 };

struct first_region { /* parameters with the same initial local states */
  struct cube where;
  bool *begins; /* by local state */
};

struct first_values {
  struct derivation_builder *d;
  struct solver *solver; /* columns: parameters */
  int64_t *params;       /* by parameter of the model: its value in the current run */
  VEC(struct sign_decision) path;
  VEC(struct first_region) regions;
};

/* The sign as a constraint row >= 0 or row == 0. Returns false, after a refusal, if numbers do not fit 64 bits. */
static bool sign_row(struct derivation_builder *d, const struct sign_decision *s, int64_t *row, bool *equal) {
  uint32_t width = d->params.base->nparams + 1;
  memset(row, 0, width * sizeof *row);
  bool ok = derive_row_add(d, d->role->at, row, &s->form.constant, 1, 1);
  for (uint32_t i = 0; i < FORM_PARAMS && i < d->m->nparams && ok; i++)
    ok = !s->form.param[i] || derive_row_add(d, d->role->at, row, d->params.row[i], width, s->form.param[i]);
  for (uint32_t i = 0; i < width && s->sign < 0; i++)
    row[i] = -row[i];
  if (s->sign)
    row[0]--;
  *equal = s->sign == 0;
  return ok;
}

/* The path as a cube. */
static bool path_cube(struct first_values *x, struct cube *out) {
  int64_t *row = memory_alloc((x->d->params.base->nparams + (size_t)1) * sizeof *row);
  bool ok = true, equal;
  cube_init(out, x->d->params.base->nparams);
  for (size_t i = 0; i < x->path.n && ok; i++)
    if ((ok = sign_row(x->d, &x->path.at[i], row, &equal)))
      cube_add(out, row, equal);
  memory_free(row);
  return ok;
}

/* Finds parameters in the region. False: there are none, or it was refused. */
static bool solve_region(struct first_values *x, const struct cube *region) {
  struct derivation_builder *d = x->d;
  solver_push(x->solver);
  solver_add_cube(x->solver, region, NULL);
  enum answer answer = region->empty ? ANSWER_NO : solver_check(x->solver);
  bool ok = answer == ANSWER_YES && derive_solved_params(d, x->solver, x->params);
  solver_pop(x->solver);
  if (!ok && answer != ANSWER_NO && !derive_stopped(d))
    derive_refuse(d, d->role->at, "the solver gave up on the first values");
  return ok;
}

/* Are the local states from `at` on those of an initial state before? */
static bool was_initial(const struct derivation_builder *d, size_t at) {
  uint32_t n = d->d->nparts;
  const uint32_t *all = d->reached.initial.at;
  bool found = false;
  for (size_t i = 0; i < at && !found; i += n)
    found = memcmp(all + i, all + at, n * sizeof *all) == 0;
  return found;
}

static bool region_add(struct first_values *x, const struct cube *where, const struct locals *initial) {
  struct derivation_builder *d = x->d;
  struct next_round first[2];
  uint32_t rounds = first_rounds(d, first);
  struct first_region region = {.begins = arena_array(&d->d->arena, LOCALS_MAX + (size_t)1, sizeof *region.begins)};
  bool more = false, ok = true;
  if (x->regions.n == REGIONS_MAX)
    return derive_refuse(d, d->role->at, "first values tell too many values of the parameters apart");
  for (size_t i = 0; i < initial->n && ok; i++) {
    size_t known = d->reached.initial.n;
    for (uint32_t part = 0; part < d->d->nparts && ok; part++) {
      bool used = part_exists(d->d, part);
      uint32_t l = used ? derived_local_put(d, first[0].to, part, initial->at + i * initial->length) : 0;
      ok = l != UINT32_MAX;
      vec_push(&d->reached.initial, l);
      for (uint32_t k = 0; k < rounds && ok && used; k++)
        derived_local_possible(d, first[k].to, l, &more);
      if (ok && used)
        region.begins[l] = d->reached.begins[l] = true;
    }
    if (ok && was_initial(d, known))
      d->reached.initial.n = known;
  }
  cube_copy(&region.where, where);
  vec_push(&x->regions, region);
  return ok;
}

static bool is_known(const struct first_values *x, const struct sign_decision *s) {
  bool known = false;
  for (size_t i = 0; i < x->path.n && !known; i++)
    known = memcmp(&x->path.at[i].form, &s->form, sizeof s->form) == 0;
  return known;
}

/* Divides the region of the path until the first values of each part do not depend on the parameters any more. */
static bool explore(struct first_values *x) {
  struct derivation_builder *d = x->d;
  struct decisions taken = {.entry = UINT32_MAX, .params = x->params, .open = d->params.open};
  struct locals initial = {0};
  struct model_error error;
  struct cube region;
  if (derive_stopped(d))
    return false;
  bool ok = path_cube(x, &region), there = ok && solve_region(x, &region);
  if (there) {
    d->interp->decisions = &taken;
    ok = local_initials(d->interp, d->q->environment, d->role->first, NULL, &initial, &error);
    d->interp->decisions = NULL;
    if (!ok)
      derive_refuse(d, error.at, "a first value may fail: %s", error.message);
    else if (taken.lost)
      ok = derive_refuse(d, taken.lost_at.to ? taken.lost_at : d->role->at,
                         "the value of a parameter matters to a first value, not only how it compares");
    size_t next = 0;
    while (next < taken.taken.n && is_known(x, &taken.taken.at[next]))
      next++;
    if (ok && next == taken.taken.n)
      ok = region_add(x, &region, &initial);
    for (int sign = -1; sign <= 1 && ok && next < taken.taken.n; sign++) {
      vec_push(&x->path, ((struct sign_decision){taken.taken.at[next].form, sign}));
      ok = explore(x);
      x->path.n--;
    }
  }
  cube_release(&region);
  locals_release(&initial);
  vec_release(&taken.taken);
  return ok && !d->d->refused;
}

/* A local state with which processes begin in every region needs no condition. */
static void find_conditions(struct first_values *x) {
  struct derivation_builder *d = x->d;
  uint32_t np = d->params.base->nparams;
  struct term **params = memory_alloc((np + (size_t)1) * sizeof *params);
  for (uint32_t i = 0; i < np; i++)
    params[i] = make_leaf(d, TERM_PARAM, d->params.base->param[i]);
  for (uint32_t l = 0; l < d->d->locals.n; l++) {
    struct term *when = make_number(d, 0);
    bool always = true;
    for (size_t i = 0; i < x->regions.n; i++)
      if (x->regions.at[i].begins[l])
        when = make_or(d, when, make_cube(d, &x->regions.at[i].where, params));
      else
        always = false;
    d->reached.begins_when[l] = always ? NULL : when;
  }
  memory_free(params);
}

bool first_values_find(struct derivation_builder *d) {
  struct first_values x = {.d = d};
  x.params = arena_array(&d->d->arena, d->m->nparams + (size_t)1, sizeof *x.params);
  d->reached.begins = arena_array(&d->d->arena, LOCALS_MAX + (size_t)1, sizeof *d->reached.begins);
  d->reached.begins_when = arena_array(&d->d->arena, LOCALS_MAX + (size_t)1, sizeof *d->reached.begins_when);
  x.solver = derive_solver(d);
  solver_variables(x.solver, d->params.base->nparams);
  solver_add_any(x.solver, d->params.base->conditions.at, d->params.base->conditions.n, NULL);
  bool ok = explore(&x);
  if (ok)
    find_conditions(&x);
  for (size_t i = 0; i < x.regions.n; i++)
    cube_release(&x.regions.at[i].where);
  vec_release(&x.regions);
  vec_release(&x.path);
  solver_free(x.solver);
  return ok;
}
