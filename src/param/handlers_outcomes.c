/* All that an action can do in a local state, and when.

   What is read of a quorum is how many messages of each content it has. As in derive_updates.c, the action is run by
   the interpreter at points that a solver chooses, and its decisions, signs of linear forms over these numbers and the
   parameters, are followed until every sign is covered. handlers_guards.c
   turns these numbers into numbers of senders. */
#include "param/handlers_outcomes_internal.h"

#include "base/memory.h"
#include "interp/action.h"
#include "model/node.h"

#include <string.h>

uint32_t content_find(const struct handler_system *s, uint32_t kind, value message) {
  for (size_t i = 0; i < s->contents.n; i++)
    if (s->contents.at[i].kind == kind && s->contents.at[i].message == message)
      return (uint32_t)i;
  return UINT32_MAX;
}

void outcome_refuse(struct outcome_search *x, struct span at, const char *why) {
  x->failed = true;
  derive_refuse(&x->h->b, at, "%s", why);
}

/* ---- the size of a quorum ---- */

/* A linear term, or one that is divided by a positive number, plus numbers that are linear. */
static bool size_row(struct handler_builder *h, const struct node *n, struct quorum_size *size) {
  struct derivation_builder *d = &h->b;
  if (n->op == NODE_NARROW)
    return size_row(h, n->kid[0], size);
  if (n->op == NODE_CALL && n->n == 0 && size->defs++ < d->m->ndefs) /* a def without arguments; it may call itself */
    return size_row(h, d->m->defs[n->index].body, size);
  if (n->op == NODE_DIV && n->kid[1]->op == NODE_CONST && n->kid[1]->constant > 0 && n->kid[1]->constant < INT32_MAX &&
      size->by == 1) {
    size->by = n->kid[1]->constant;
    return node_row(d, n->kid[0], 1, size->row);
  }
  if ((n->op == NODE_ADD || n->op == NODE_SUB) && node_has_op_deep(d->m, n->kid[0], NODE_DIV))
    return size_row(h, n->kid[0], size) && node_row(d, n->kid[1], n->op == NODE_SUB ? -size->by : size->by, size->row);
  if (n->op == NODE_ADD && node_has_op_deep(d->m, n->kid[1], NODE_DIV))
    return size_row(h, n->kid[1], size) && node_row(d, n->kid[0], size->by, size->row);
  return node_row(d, n, 1, size->row);
}

/* The number of messages is at least (or exactly) that size, as rows over the columns. */
void quorum_size_add(struct outcome_search *x, struct cube *c) {
  uint32_t np = search_nparams(x);
  int64_t *row = memory_alloc((search_ncolumns(x) + (size_t)1) * sizeof *row);
  for (int high = 0; high <= (x->action->exactly ? 1 : 0); high++) {
    int64_t sign = high ? 1 : -1; /* by * sum >= row - by + 1; by * sum <= row */
    memset(row, 0, (search_ncolumns(x) + (size_t)1) * sizeof *row);
    x->failed |= !derive_row_add(&x->h->b, x->action->at, row, x->size.row, np + 1, sign);
    row[0] += high ? 0 : x->size.by - 1;
    for (uint32_t i = 0; i < x->ngroup; i++)
      row[1 + np + i] = -sign * x->size.by;
    cube_add(c, row, false);
  }
  memset(row, 0, (search_ncolumns(x) + (size_t)1) * sizeof *row);
  row[0] = -1; /* messages agree on something, so there is one */
  for (uint32_t i = 0; i < x->ngroup; i++)
    row[1 + np + i] = 1;
  if (x->action->nparts)
    cube_add(c, row, false);
  memory_free(row);
}

/* ---- decisions ---- */

static void form_row(struct outcome_search *x, const struct form *f, int64_t *row) {
  struct derivation_builder *d = &x->h->b;
  uint32_t np = search_nparams(x);
  memset(row, 0, (search_ncolumns(x) + (size_t)1) * sizeof *row);
  bool ok = derive_row_add(d, x->action->at, row, &f->constant, 1, 1);
  for (uint32_t i = 0; i < FORM_PARAMS && i < d->m->nparams && ok; i++)
    ok = !f->param[i] || derive_row_add(d, x->action->at, row, d->params.row[i], np + 1, f->param[i]);
  for (uint32_t i = 0; i < x->n && ok; i++)
    ok = derive_row_add(d, x->action->at, &row[1 + np + x->heard[i]], &f->of[i], 1, 1);
  x->failed |= !ok;
}

/* The sign as a constraint row >= 0 or row == 0. */
static bool sign_row(struct outcome_search *x, const struct sign_decision *taken, int64_t *row) {
  form_row(x, &taken->form, row);
  for (uint32_t i = 0; i <= search_ncolumns(x) && taken->sign < 0; i++)
    row[i] = -row[i];
  if (taken->sign)
    row[0]--;
  return taken->sign == 0;
}

/* The condition of the current path: which messages there are, the size of the quorum, and the decisions. */
static void path_cube(struct outcome_search *x, struct cube *c) {
  int64_t *row = memory_alloc((search_ncolumns(x) + (size_t)1) * sizeof *row);
  cube_init(c, search_ncolumns(x));
  for (uint32_t i = 0; i < x->ngroup; i++) {
    bool there = false;
    for (uint32_t k = 0; k < x->n; k++)
      there |= x->heard[k] == i;
    memset(row, 0, (search_ncolumns(x) + (size_t)1) * sizeof *row);
    row[1 + search_nparams(x) + i] = 1;
    row[0] = x->reads && there ? -1 : 0;
    cube_add(c, row, x->reads && !there);
  }
  if (x->action->trigger == TRIGGER_QUORUM)
    quorum_size_add(x, c);
  for (size_t i = 0; i < x->path.n; i++) {
    bool equal = sign_row(x, &x->path.at[i], row);
    cube_add(c, row, equal);
  }
  memory_free(row);
}

/* Numbers that satisfy the condition. */
static bool solve_path(struct outcome_search *x, uint32_t *counts) {
  struct derivation_builder *d = &x->h->b;
  struct cube c;
  int64_t v = 0;
  path_cube(x, &c);
  solver_push(x->solver);
  solver_add_cube(x->solver, &c, NULL);
  enum answer answer = x->failed || c.overflow ? ANSWER_UNKNOWN : c.empty ? ANSWER_NO : solver_check(x->solver);
  bool ok = answer == ANSWER_YES;
  if (answer == ANSWER_UNKNOWN)
    outcome_refuse(x, x->action->at, "the solver gave up on what this action does");
  for (uint32_t i = 0; i < x->n && ok; i++) {
    ok = solver_value(x->solver, search_nparams(x) + x->heard[i], &v) && v >= 0 && v < INT32_MAX;
    counts[i] = v ? (uint32_t)v : 1;
    x->failed |= !ok;
  }
  for (uint32_t i = 0; i < d->m->nparams && ok; i++) {
    __int128 sum = d->params.row[i][0];
    for (uint32_t k = 0; k < search_nparams(x); k++)
      if (d->params.row[i][k + 1]) {
        ok = ok && solver_value(x->solver, k, &v);
        sum += (__int128)d->params.row[i][k + 1] * v;
      }
    ok = ok && sum >= INT64_MIN && sum <= INT64_MAX;
    x->failed |= !ok;
    x->params[i] = (int64_t)sum;
  }
  solver_pop(x->solver);
  cube_release(&c);
  return ok;
}

/* ---- runs ---- */

bool kind_is_read(const struct role *role, uint32_t kind) {
  for (uint32_t i = 0; i < role->nactions; i++)
    if (role->actions[i].trigger != TRIGGER_NONE && role->actions[i].kind == kind)
      return true;
  return false;
}

/* The messages that were sent, each to all. */
static content_set sent_to_all(struct outcome_search *x, const struct outbox *out) {
  struct handler_system *s = x->h->h;
  content_set sent = 0;
  for (size_t i = 0; i < out->n; i++) {
    uint32_t content = content_find(s, out->at[i].kind, out->at[i].message), receivers = 0;
    for (size_t k = 0; k < out->n; k++)
      receivers += out->at[k].kind == out->at[i].kind && out->at[k].message == out->at[i].message;
    if (receivers % x->h->b.m->nprocesses)
      outcome_refuse(x, out->at[i].at, "a message does not go to all");
    if (!kind_is_read(x->h->b.role, out->at[i].kind))
      continue;
    if (content == UINT32_MAX && s->contents.n == CONTENTS_MAX) {
      outcome_refuse(x, out->at[i].at, "there are too many different messages");
    } else if (content == UINT32_MAX) {
      content = (uint32_t)s->contents.n;
      vec_push(&s->contents, ((struct message_content){out->at[i].kind, out->at[i].message}));
      s->sends = true;
    }
    if (!x->failed)
      sent |= (content_set)1 << content;
  }
  return sent;
}

static size_t outcome_put(struct outcome_search *x, uint32_t after, content_set sent) {
  for (size_t i = 0; i < x->out->at.n; i++)
    if (x->out->at.at[i].after == after && x->out->at.at[i].sent == sent && x->out->at.at[i].message == x->message)
      return i;
  vec_push(&x->out->at, ((struct action_outcome){.after = after, .sent = sent, .message = x->message}));
  return x->out->at.n - 1;
}

/* All results with these numbers: indices of outcomes, LEAF_FAILS. */
static void run(struct outcome_search *x, const uint32_t *counts, struct decisions *taken, size_t *found,
                size_t *nfound) {
  struct derivation_builder *d = &x->h->b;
  struct inbox_entry in[GROUP_MAX];
  struct choices choices = {0};
  struct outbox out = {0};
  struct model_error error = {0};
  value *local = memory_alloc((x->h->length + (size_t)1) * sizeof *local), none = 0;
  for (uint32_t i = 0; i < x->n; i++) {
    const struct message_content *c = &x->h->h->contents.at[x->group[x->heard[i]]];
    in[i] =
        (struct inbox_entry){.from = d->role->first, .kind = c->kind, .message = c->message, .place = PACKET_DELIVERED};
  }
  taken->quorum = counts;
  *nfound = 0;
  d->interp->decisions = taken;
  do {
    memcpy(local, x->h->h->locals.at[x->local], x->h->length * sizeof *local);
    enum action_result result =
        action_take(d->interp, x->index, d->role->first, local, &none, in, x->n, &choices, &out, NULL, &error);
    if (result == ACTION_REFUSED)
      continue;
    size_t outcome = LEAF_FAILS;
    if (result == ACTION_DONE) {
      uint32_t after = handler_local_put(x->h, local);
      content_set sent = sent_to_all(x, &out);
      outcome = outcome_put(x, after, sent);
    } else {
      x->failure = error.message ? error.message : "an error";
      x->failed_at = error.at;
    }
    size_t k = 0;
    while (k < *nfound && found[k] != outcome)
      k++;
    if (k == *nfound && *nfound == LOCALS_MAX)
      outcome_refuse(x, x->action->at, "an action has too many results");
    else if (k == *nfound)
      found[(*nfound)++] = outcome;
  } while (choices_next(&choices) && !x->failed && !derive_stopped(d));
  d->interp->decisions = NULL;
  choices_release(&choices);
  outbox_release(&out);
  memory_free(local);
}

static bool same_form(const struct form *a, const struct form *b) { return memcmp(a, b, sizeof *a) == 0; }

static const struct sign_decision *open_decision(const struct outcome_search *x, const struct decisions *taken) {
  for (size_t i = 0; i < taken->taken.n; i++) {
    bool known = false;
    for (size_t k = 0; k < x->path.n && !known; k++)
      known = same_form(&x->path.at[k].form, &taken->taken.at[i].form);
    if (!known)
      return &taken->taken.at[i];
  }
  return NULL;
}

static void explore(struct outcome_search *x) {
  struct decisions taken = {.entry = UINT32_MAX, .params = x->params, .open = x->h->b.params.open};
  uint32_t counts[GROUP_MAX];
  size_t found[LOCALS_MAX], nfound = 0;
  if (x->failed || (x->failed = derive_stopped(&x->h->b)) || !solve_path(x, counts))
    return;
  run(x, counts, &taken, found, &nfound);
  if (taken.lost && taken.lost_at.to)
    outcome_refuse(x, taken.lost_at,
                   "the value of a parameter matters here, not only how it compares with numbers of messages");
  else if (taken.lost)
    outcome_refuse(x, x->action->at, "what this action does cannot be followed as comparisons of numbers");
  else if (++x->nleaves > LEAVES_MAX)
    outcome_refuse(x, x->action->at, "this action tells too many numbers of messages apart");
  const struct sign_decision *open = x->failed ? NULL : open_decision(x, &taken);
  for (size_t i = 0; i < nfound && !open && !x->failed; i++) {
    struct cube leaf;
    path_cube(x, &leaf);
    vec_push(&x->leaves, leaf);
    vec_push(&x->leaf_of, found[i]);
  }
  for (int sign = -1; sign <= 1 && open && !x->failed; sign++) {
    vec_push(&x->path, ((struct sign_decision){open->form, sign}));
    explore(x);
    x->path.n--;
  }
  vec_release(&taken.taken);
}

/* ---- which messages ---- */

static bool matches(struct outcome_search *x, uint32_t content) {
  struct derivation_builder *d = &x->h->b;
  const struct message_content *c = &x->h->h->contents.at[content];
  struct decisions taken = {.entry = UINT32_MAX, .params = x->params, .open = d->params.open};
  struct inbox_entry in = {.from = d->role->first, .kind = c->kind, .message = c->message, .place = PACKET_DELIVERED};
  struct model_error error;
  value none = 0;
  bool fails = false;
  d->interp->decisions = &taken;
  bool yes =
      action_matches(d->interp, x->index, d->role->first, x->h->h->locals.at[x->local], &none, &in, &fails, &error);
  d->interp->decisions = NULL;
  if (fails)
    outcome_refuse(x, error.at, "a pattern may fail");
  else if (taken.lost || taken.taken.n)
    outcome_refuse(x, x->action->at, "which messages match depends on numbers");
  vec_release(&taken.taken);
  return yes && !x->failed;
}

static bool agree(const struct outcome_search *x, uint32_t a, uint32_t b) {
  const struct values *values = &x->h->b.m->values;
  size_t n;
  const value *one = value_parts(values, x->h->h->contents.at[a].message, &n);
  const value *other = value_parts(values, x->h->h->contents.at[b].message, &n);
  for (uint32_t i = 0; i < x->action->nparts; i++)
    if (one[x->action->parts[i].field] != other[x->action->parts[i].field])
      return false;
  return true;
}

static void explore_group(struct outcome_search *x) {
  struct derivation_builder *d = &x->h->b;
  if (x->failed)
    return;
  x->solver = derive_solver(d);
  solver_variables(x->solver, search_ncolumns(x));
  solver_add_any(x->solver, d->params.base->conditions.at, d->params.base->conditions.n, NULL);
  bool quorum = x->action->trigger == TRIGGER_QUORUM;
  if (!quorum || !x->reads) { /* any of the messages stands for all */
    x->n = quorum && x->action->nparts == 0 ? 0 : x->ngroup ? 1 : 0;
    x->heard[0] = 0;
    explore(x);
  }
  for (uint32_t set = x->action->nparts ? 1 : 0; quorum && x->reads && set < 1u << x->ngroup && !x->failed; set++) {
    x->n = 0;
    for (uint32_t i = 0; i < x->ngroup; i++)
      if (set >> i & 1)
        x->heard[x->n++] = i;
    explore(x);
  }
  solver_free(x->solver);
  x->solver = NULL;
}

static void group_push(struct outcome_search *x, uint32_t content) {
  if (x->ngroup == GROUP_MAX)
    outcome_refuse(x, x->action->at, "too many different messages may be in this quorum");
  else
    x->group[x->ngroup++] = content;
}

/* Quorums of equal parts, one after the other. */
static void explore_quorums(struct outcome_search *x, const bool *fits) {
  size_t n = x->h->h->contents.n;
  bool any = false;
  for (size_t i = 0; i < n && !x->failed; i++) {
    bool first = fits[i];
    for (size_t k = 0; k < i && first; k++)
      first = !fits[k] || !agree(x, (uint32_t)i, (uint32_t)k);
    if (!first)
      continue;
    any = true;
    x->ngroup = 0;
    for (size_t k = i; k < n; k++)
      if (fits[k] && agree(x, (uint32_t)i, (uint32_t)k))
        group_push(x, (uint32_t)k);
    explore_group(x);
    if (!x->failed)
      finish_leaves(x);
  }
  x->ngroup = 0;
  if (any || x->action->nparts || x->failed)
    return;
  explore_group(x); /* no message matches: the empty quorum, if it is large enough */
  if (!x->failed)
    finish_leaves(x);
}

/* One message: somebody has sent it, or a Byzantine process does. */
static void explore_singles(struct outcome_search *x, const bool *fits) {
  for (size_t i = 0; i < x->h->h->contents.n && !x->failed; i++) {
    if (!fits[i])
      continue;
    x->ngroup = 0;
    group_push(x, (uint32_t)i);
    x->message = (uint32_t)i;
    explore_group(x);
    for (size_t k = 0; k < x->leaves.n; k++) { /* exactly one message is taken */
      int64_t *row = memory_alloc((search_ncolumns(x) + (size_t)1) * sizeof *row);
      row[0] = -1;
      row[1 + search_nparams(x)] = 1;
      cube_add(&x->leaves.at[k], row, true);
      memory_free(row);
    }
    if (!x->failed)
      finish_leaves(x);
  }
}

static bool reads_messages(void *context, const struct node *n) {
  bool *found = context;
  *found |= (op_traits(n->op) & TRAIT_MESSAGES) != 0;
  return !*found;
}

/* ---- the outcomes ---- */

static void search(struct outcome_search *x) {
  struct handler_builder *h = x->h;
  bool fits[CONTENTS_MAX] = {false};
  if (x->action->trigger == TRIGGER_NONE) {
    explore_group(x);
    if (!x->failed)
      finish_leaves(x);
    return;
  }
  for (size_t i = 0; i < h->h->contents.n && !x->failed; i++)
    fits[i] = h->h->contents.at[i].kind == x->action->kind && matches(x, (uint32_t)i);
  if (x->action->trigger == TRIGGER_ONE) {
    explore_singles(x, fits);
    return;
  }
  guard_walk_deep(h->b.m, &x->action->guard, reads_messages, &x->reads);
  for (uint32_t i = 0; i < x->action->body.n; i++)
    stmt_walk_deep(h->b.m, x->action->body.at[i], reads_messages, &x->reads);
  x->out->always = !x->action->guard.cond && x->action->guard.ngen == 0;
  if (size_row(h, x->action->size, &x->size))
    explore_quorums(x, fits);
  else
    x->failed = true;
}

const struct action_outcomes *outcomes_of(struct handler_builder *h, uint32_t local, uint32_t action) {
  struct derivation_builder *d = &h->b;
  for (size_t i = 0; i < h->h->outcomes.n; i++)
    if (h->h->outcomes.at[i]->local == local && h->h->outcomes.at[i]->action == action)
      return h->h->outcomes.at[i];
  struct action_outcomes *out = arena_alloc(&h->h->arena, sizeof *out);
  *out = (struct action_outcomes){.local = local, .action = action};
  vec_push(&h->h->outcomes, out);
  struct outcome_search x = {
      .h = h, .local = local, .action = &d->role->actions[action], .index = action, .message = UINT32_MAX, .out = out};
  x.size = (struct quorum_size){arena_array(&h->h->arena, d->params.base->nparams + (size_t)1, sizeof *x.size.row), 1, 0};
  x.params = arena_array(&h->h->arena, d->m->nparams + (size_t)1, sizeof *x.params);
  search(&x);
  vec_release(&x.path);
  for (size_t i = 0; i < x.leaves.n; i++)
    cube_release(&x.leaves.at[i]);
  vec_release(&x.leaves);
  vec_release(&x.leaf_of);
  if (!x.failed)
    return out;
  derive_refuse(d, x.action->at, "the solver gave up on what this action does");
  return NULL;
}

static void guards_release(sent_guard_vec *guards) {
  for (size_t i = 0; i < guards->n; i++)
    cube_release(&guards->at[i].cube);
  vec_release(guards);
}

void outcomes_release(struct action_outcomes *o) {
  for (size_t i = 0; i < o->at.n; i++)
    guards_release(&o->at.at[i].guards);
  vec_release(&o->at);
  guards_release(&o->enabled);
}
