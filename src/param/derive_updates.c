/* All possible results of an update, by concolic execution. The update is run with concrete numbers of messages and
   concrete parameters; its decisions are signs of linear forms over these numbers. For every sign of every form that
   occurs there is a run if the solver finds numbers for it. The leaves of this decision tree therefore cover all
   behaviour, for any number of processes. */
#include "param/derive_internal.h"

#include "base/memory.h"

#include <string.h>

struct concolic_search {
  struct derivation_builder *d;
  uint32_t point, nmessages;
  const value *context;            /* the local state of the process */
  int64_t *params;                 /* by parameter of the model: its value in the current run */
  struct solver *solver;           /* columns: parameters, then the number of each message */
  uint32_t heard[MESSAGES_MAX], n; /* the messages present: indices of messages_possible */
  uint32_t
      mine; /* the message of a coordinator other than the leader, in which the process believes; NO_SENDER: none */
  VEC(struct sign_decision) path;
  guarded_update_vec *cases;
  size_t leaves;
  bool failed;
};

static uint32_t columns_of(const struct concolic_search *x) { return x->d->params.base->nparams + x->nmessages; }

/* The form as a row over the columns. Overflow of 64 bits is refused. */
static void form_row(struct concolic_search *x, const struct form *f, int64_t *row) {
  struct derivation_builder *d = x->d;
  struct span at = d->role->body[x->point].at;
  uint32_t np = d->params.base->nparams;
  memset(row, 0, (columns_of(x) + (size_t)1) * sizeof *row);
  bool ok = derive_row_add(d, at, row, &f->constant, 1, 1);
  for (uint32_t i = 0; i < FORM_PARAMS && i < d->m->nparams && ok; i++)
    ok = !f->param[i] || derive_row_add(d, at, row, d->params.row[i], np + 1, f->param[i]);
  for (uint32_t i = 0; i < x->n && ok; i++)
    ok = derive_row_add(d, at, &row[1 + np + x->heard[i]], &f->of[i], 1, 1);
  x->failed |= !ok;
}

/* The sign as a constraint row >= 0 or row == 0. */
static bool sign_row(struct concolic_search *x, const struct sign_decision *dec, int64_t *row) {
  form_row(x, &dec->form, row);
  for (uint32_t i = 0; i <= columns_of(x) && dec->sign < 0; i++)
    row[i] = -row[i];
  if (dec->sign)
    row[0]--;
  return dec->sign == 0;
}

/* ---- runs ---- */

static uint32_t update_put(struct derivation_builder *d, const value *at, size_t n) {
  for (size_t i = 0; i < d->reached.updates.n; i++)
    if (!d->reached.updates.at[i].failure && d->reached.updates.at[i].n == n &&
        memcmp(d->reached.updates.at[i].at, at, n * sizeof *at) == 0)
      return (uint32_t)i;
  vec_push(&d->reached.updates, ((struct local_update){.at = arena_copy(&d->d->arena, at, n * sizeof *at), .n = n}));
  return (uint32_t)d->reached.updates.n - 1;
}

static uint32_t update_failure_put(struct derivation_builder *d, const struct model_error *error) {
  for (size_t i = 0; i < d->reached.updates.n; i++)
    if (d->reached.updates.at[i].failure && d->reached.updates.at[i].where.from == error->at.from)
      return (uint32_t)i;
  vec_push(&d->reached.updates, ((struct local_update){.failure = error->message, .where = error->at}));
  return (uint32_t)d->reached.updates.n - 1;
}

bool update_fails(const struct derivation_builder *d, uint32_t effect) {
  return d->reached.updates.at[effect].failure != NULL;
}

/* Finds numbers that satisfy the path condition. */
static bool solve_path(struct concolic_search *x, uint32_t *counts) {
  struct derivation_builder *d = x->d;
  int64_t *row = memory_alloc((columns_of(x) + (size_t)1) * sizeof *row), v = 0;
  solver_push(x->solver);
  for (size_t i = 0; i < x->path.n; i++) {
    bool equal = sign_row(x, &x->path.at[i], row);
    solver_add_row(x->solver, row, columns_of(x) + 1, equal, NULL);
  }
  enum answer answer = x->failed ? ANSWER_UNKNOWN : solver_check(x->solver);
  bool ok = answer == ANSWER_YES;
  x->failed |= answer == ANSWER_UNKNOWN;
  for (uint32_t i = 0; i < x->n && ok; i++) {
    ok = solver_value(x->solver, d->params.base->nparams + x->heard[i], &v) && v > 0 && v < UINT32_MAX;
    counts[i] = (uint32_t)v;
    x->failed |= !ok;
  }
  if (ok) {
    ok = derive_solved_params(d, x->solver, x->params);
    x->failed |= !ok;
  }
  solver_pop(x->solver);
  memory_free(row);
  return ok;
}

static uint32_t sender_of(const struct concolic_search *x, uint32_t message) {
  const struct derivation_builder *d = x->d;
  if (d->d->leader == UINT32_MAX)
    return NO_SENDER;
  if (message == x->mine)
    return (uint32_t)leader_identity(d, local_class(d, x->context));
  return leader_sender(d, local_class(d, x->context), d->reached.at[x->point].kinds.at[message]);
}

/* All results of the update with these numbers. */
static void run(struct concolic_search *x, const uint32_t *counts, struct decisions *taken, uint32_t *found,
                size_t *nfound) {
  struct derivation_builder *d = x->d;
  struct received_entry entries[MESSAGES_MAX];
  struct received received = {entries, x->n};
  struct choices choices = {0};
  value *local = memory_alloc((d->interp->max_local + (size_t)1) * sizeof *local);
  value *changes = memory_alloc((2 * (size_t)d->role->nvars + 2) * sizeof *changes);
  bool *assigned = memory_alloc(d->interp->max_vars + (size_t)1);
  for (uint32_t i = 0; i < x->n; i++)
    entries[i] = (struct received_entry){d->reached.at[x->point].messages_possible.at[x->heard[i]],
                                         sender_of(x, x->heard[i]), counts[i], false};
  *nfound = 0;
  do {
    struct eval e;
    size_t n = 1;
    memset(assigned, 0, d->interp->max_vars + (size_t)1);
    memcpy(local, x->context, d->d->length * sizeof *local);
    if (d->d->leader != UINT32_MAX)
      local[LOCAL_VAR(d->d->leader)] = leader_identity(d, local_class(d, x->context));
    local_begin(&e, d->interp, d->role->first, x->point, 1, local, NULL);
    e.choices = &choices;
    e.record.assigned = assigned;
    e.decisions = taken;
    bool went_well = local_update(&e, &received);
    changes[0] = local[LOCAL_STATUS];
    for (uint32_t i = 0; i < d->role->nvars; i++)
      if (assigned[i]) {
        changes[n++] = i;
        changes[n++] = local[LOCAL_VAR(i)];
      }
    uint32_t effect = went_well ? update_put(d, changes, n) : update_failure_put(d, &e.error);
    size_t k = 0;
    while (k < *nfound && found[k] != effect)
      k++;
    if (k == *nfound && *nfound < LOCALS_MAX)
      found[(*nfound)++] = effect;
    else if (k == *nfound)
      derive_refuse(d, d->role->body[x->point].at, "an update has more than %d results", LOCALS_MAX);
  } while (choices_next(&choices) && !derive_stopped(d));
  choices_release(&choices);
  memory_free(local);
  memory_free(changes);
  memory_free(assigned);
}

/* ---- the decision tree ---- */

static void add_case(struct concolic_search *x, uint32_t effect) {
  size_t at = 0;
  struct cube leaf;
  int64_t *row = memory_alloc((columns_of(x) + (size_t)1) * sizeof *row);
  while (at < x->cases->n && x->cases->at[at].effect != effect)
    at++;
  if (at == x->cases->n)
    vec_push(x->cases, ((struct guarded_update){.effect = effect}));
  uint32_t support = 0;
  for (uint32_t k = 0; k < x->n; k++)
    support |= (uint32_t)1 << x->heard[k];
  vec_push(&x->cases->at[at].message_sets, support);
  cube_init(&leaf, columns_of(x));
  for (uint32_t i = 0; i < x->nmessages; i++) {
    bool there = support >> i & 1;
    memset(row, 0, (columns_of(x) + (size_t)1) * sizeof *row);
    row[1 + x->d->params.base->nparams + i] = 1;
    row[0] = there ? -1 : 0;
    cube_add(&leaf, row, !there);
  }
  for (size_t i = 0; i < x->path.n; i++) {
    bool equal = sign_row(x, &x->path.at[i], row);
    cube_add(&leaf, row, equal);
  }
  vec_push(&x->cases->at[at].heard, leaf);
  memory_free(row);
}

static bool same_form(const struct form *a, const struct form *b) { return memcmp(a, b, sizeof *a) == 0; }

static void concolic_explore(struct concolic_search *x) {
  struct decisions taken = {.entry = UINT32_MAX, .params = x->params, .open = x->d->params.open};
  uint32_t counts[MESSAGES_MAX], found[LOCALS_MAX];
  size_t nfound = 0;
  if (x->failed || (x->failed = derive_stopped(x->d)) || !solve_path(x, counts))
    return;
  run(x, counts, &taken, found, &nfound);
  if (x->d->d->refused) {
    x->failed = true;
  } else if (taken.lost) {
    x->failed = true;
    if (taken.lost_at.to)
      derive_refuse(x->d, taken.lost_at,
                    "the value of a parameter matters here, not only how it compares with numbers of "
                    "messages");
    else
      derive_refuse(x->d, x->d->role->body[x->point].at,
                    "what this update does cannot be followed as comparisons of numbers");
  } else if (++x->leaves > LEAVES_MAX) {
    x->failed = true;
    derive_refuse(x->d, x->d->role->body[x->point].at, "this update tells too many numbers of messages apart");
  }
  const struct sign_decision *open = NULL;
  for (size_t i = 0; i < taken.taken.n && !open && !x->failed; i++) {
    bool known = false;
    for (size_t k = 0; k < x->path.n && !known; k++)
      known = same_form(&x->path.at[k].form, &taken.taken.at[i].form);
    if (!known)
      open = &taken.taken.at[i];
  }
  for (size_t i = 0; i < nfound && !open && !x->failed; i++)
    add_case(x, found[i]);
  for (int sign = -1; sign <= 1 && open && !x->failed; sign++) {
    vec_push(&x->path, ((struct sign_decision){open->form, sign}));
    concolic_explore(x);
    x->path.n--;
  }
  vec_release(&taken.taken);
}

/* ---- the cases of a local state ---- */

/* Facts about the numbers: parameters satisfy their conditions, and no process hears more messages than there are
   processes. */
static struct solver *facts(const struct concolic_search *x) {
  const struct derivation_builder *d = x->d;
  uint32_t np = d->params.base->nparams, n = columns_of(x);
  struct solver *s = derive_solver(d);
  int64_t *row = memory_alloc((n + (size_t)1) * sizeof *row);
  solver_variables(s, n);
  solver_add_any(s, d->params.base->conditions.at, d->params.base->conditions.n, NULL);
  for (uint32_t i = 0; i < x->nmessages; i++) {
    memset(row, 0, (n + (size_t)1) * sizeof *row);
    row[1 + np + i] = 1;
    solver_add_row(s, row, n + 1, false, NULL);
  }
  memset(row, 0, (n + (size_t)1) * sizeof *row);
  memcpy(row, d->params.size, (np + (size_t)1) * sizeof *row);
  for (uint32_t i = 0; i < x->nmessages; i++)
    row[1 + np + i] = -1;
  solver_add_row(s, row, n + 1, false, NULL);
  for (uint32_t i = 0; i < x->nmessages && d->d->leader != UINT32_MAX; i++)
    if (!leader_hears(local_class(d, x->context), d->reached.at[x->point].kinds.at[i]))
      solver_add_value(s, np + i, 0);
  memset(row, 0, (n + (size_t)1) * sizeof *row); /* there is one leader */
  row[0] = 1;
  for (uint32_t i = 0; i < x->nmessages; i++)
    row[1 + np + i] = d->reached.at[x->point].kinds.at[i] & MESSAGE_FROM_LEADER ? -1 : 0;
  solver_add_row(s, row, n + 1, false, NULL);
  if (d->d->leader != UINT32_MAX && local_class(d, x->context) == LEADER_RIVAL) { /* most do not believe in it */
    memset(row, 0, (n + (size_t)1) * sizeof *row);
    memcpy(row, d->params.size, (np + (size_t)1) * sizeof *row);
    for (uint32_t i = 0; i < x->nmessages; i++)
      row[1 + np + i] = d->reached.at[x->point].kinds.at[i] & MESSAGE_TO_RIVAL ? -2 : 0;
    solver_add_row(s, row, n + 1, false, NULL);
  }
  memory_free(row);
  return s;
}

static value *read_projection(struct derivation_builder *d, uint32_t point, uint32_t local) {
  const value *v = d->d->locals.at[local];
  value *context = arena_copy(&d->d->arena, v, d->d->length * sizeof *v);
  for (uint32_t i = 0; i < d->role->nvars; i++)
    if (i == d->d->leader)
      context[LOCAL_VAR(i)] = d->reached.at[point].knows_leader ? v[LOCAL_VAR(i)] : 0;
    else if (!d->reached.at[point].reads->vars[i])
      context[LOCAL_VAR(i)] = type_default(&d->interp->model->values, d->role->vars[i].type);
  for (uint32_t i = 1 + d->role->nvars; i < d->d->length; i++)
    context[i] = 0;
  return context;
}

static void guarded_updates_release(guarded_update_vec *cases) {
  for (size_t i = 0; i < cases->n; i++) {
    cubes_release(&cases->at[i].heard);
    vec_release(&cases->at[i].message_sets);
  }
  vec_release(cases);
}

void update_cases_release(struct update_cases *o) { guarded_updates_release(&o->cases); }

/* Does it believe in another process than the leader, and ask for its message? That may be any that was sent. */
static bool asks_rivals(const struct concolic_search *x) {
  value class = local_class(x->d, x->context);
  return (class == LEADER_OTHER || class == LEADER_RIVAL) &&
         x->d->reached.at[x->point].reads->received >= RECEIVED_NAMED;
}

static bool concolic_explore_all(struct concolic_search *x) {
  bool reads = x->d->reached.at[x->point].reads->received != RECEIVED_UNREAD;
  x->solver = facts(x);
  uint32_t never = 0; /* messages that do not reach it */
  for (uint32_t i = 0; i < x->nmessages && x->d->d->leader != UINT32_MAX; i++)
    if (!leader_hears(local_class(x->d, x->context), x->d->reached.at[x->point].kinds.at[i]))
      never |= 1u << i;
  for (uint32_t set = 0; set < (reads ? 1u << x->nmessages : 1u) && !x->failed; set++) {
    int64_t one[2] = {-1, 1};
    if (set & never)
      continue;
    solver_push(x->solver);
    x->n = 0;
    for (uint32_t i = 0; i < x->nmessages && reads; i++) {
      uint32_t column = x->d->params.base->nparams + i;
      if (set >> i & 1) {
        x->heard[x->n++] = i;
        solver_add_row(x->solver, one, 2, false, &column);
      } else {
        solver_add_value(x->solver, column, 0);
      }
    }
    x->mine = NO_SENDER;
    concolic_explore(x);
    for (uint32_t i = 0; i < x->n && asks_rivals(x); i++) {
      x->mine = x->heard[i];
      if (!(x->d->reached.at[x->point].kinds.at[x->mine] & MESSAGE_FROM_LEADER))
        concolic_explore(x);
    }
    solver_pop(x->solver);
  }
  for (size_t i = 0; i < x->cases->n && !reads; i++) { /* no message is read: any set of messages will do */
    for (size_t k = 0; k < x->cases->at[i].heard.n; k++)
      while (x->cases->at[i].heard.at[k].n)
        cube_drop(&x->cases->at[i].heard.at[k], 0);
    for (uint32_t m = 0; m < x->nmessages; m++)
      vec_push(&x->cases->at[i].message_sets, (uint32_t)1 << m);
  }
  x->failed |= derive_stopped(x->d);
  for (size_t i = 0; i < x->cases->n && !x->failed; i++)
    cubes_merge(&x->cases->at[i].heard, x->solver);
  solver_free(x->solver);
  vec_release(&x->path);
  return !x->failed;
}

const struct update_cases *update_cases_of(struct derivation_builder *d, uint32_t point, uint32_t local) {
  struct schedule_point *at = &d->reached.at[point];
  value *context = read_projection(d, point, local);
  for (size_t i = 0; i < at->outcomes.n; i++)
    if (at->outcomes.at[i]->messages == at->messages_possible.n && at->outcomes.at[i]->coin == d->interp->fixed_coin &&
        memcmp(at->outcomes.at[i]->context, context, d->d->length * sizeof *context) == 0)
      return at->outcomes.at[i];
  struct update_cases o = {point, context, (uint32_t)at->messages_possible.n, d->interp->fixed_coin, {0}};
  struct concolic_search x = {.d = d, .point = point, .nmessages = o.messages, .context = context, .cases = &o.cases};
  x.params = arena_array(&d->d->arena, d->m->nparams + (size_t)1, sizeof *x.params);
  if (!concolic_explore_all(&x)) {
    if (!d->d->refused)
      derive_refuse(d, d->role->body[point].at, "the solver gave up on this update");
    guarded_updates_release(&o.cases);
    return NULL;
  }
  struct update_cases *kept = arena_copy(&d->d->arena, &o, sizeof o);
  vec_push(&at->outcomes, kept);
  return kept;
}
