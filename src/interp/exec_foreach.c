/* foreach: the set of results over all orders of the messages. */
#include "interp/action.h"
#include "interp/eval_internal.h"

#include <string.h>

struct progress { /* the messages processed (the count of each entry), and everything that the body may have changed */
  uint32_t *done;
  value *local;
  value *shared; /* NULL: a round */
  struct outgoing_message *sent;
  size_t nsent;
};

struct orders {
  const struct stmt *stmt;
  uint32_t length;           /* of the local state */
  VEC(struct progress) seen; /* all distinct */
  bool body_chooses;
};

static struct progress progress_of(struct eval *e, const struct orders *o, uint32_t *done) {
  struct progress p = {.done = done, .local = arena_copy(e->scratch, e->local, o->length * sizeof *e->local)};
  if (e->shared) {
    p.shared = arena_array(e->scratch, e->model->nglobals + 1, sizeof *p.shared);
    memcpy(p.shared, e->shared, e->model->nglobals * sizeof *p.shared);
  }
  if (e->outbox && e->outbox->n) {
    p.sent = arena_copy(e->scratch, e->outbox->at, e->outbox->n * sizeof *p.sent);
    p.nsent = e->outbox->n;
  }
  return p;
}

/* Restores the state after these messages were processed. */
static void progress_resume(struct eval *e, const struct orders *o, const struct progress *p) {
  memcpy(e->local, p->local, o->length * sizeof *e->local);
  if (e->shared)
    memcpy(e->shared, p->shared, e->model->nglobals * sizeof *e->shared);
  if (e->outbox) { /* it never shrinks, so there is enough room */
    e->outbox->n = p->nsent;
    if (p->nsent)
      memcpy(e->outbox->at, p->sent, p->nsent * sizeof *p->sent);
  }
}

static int compare_sent(struct eval *e, const struct progress *a, const struct progress *b) {
  for (size_t i = 0; i < a->nsent && i < b->nsent; i++) {
    const struct outgoing_message *x = &a->sent[i], *y = &b->sent[i];
    if (x->to != y->to)
      return x->to < y->to ? -1 : 1;
    if (x->kind != y->kind)
      return x->kind < y->kind ? -1 : 1;
    int order = value_compare(e->values, e->model->messages[x->kind].type, x->message, y->message);
    if (order)
      return order;
  }
  return (a->nsent > b->nsent) - (a->nsent < b->nsent);
}

/* By content, so that the meaning of a script does not depend on the order of discovery. */
static int compare_results(struct eval *e, const struct progress *a, const struct progress *b) {
  const struct role *role = &e->model->roles[e->role];
  if (a->local[LOCAL_STATUS] != b->local[LOCAL_STATUS])
    return a->local[LOCAL_STATUS] < b->local[LOCAL_STATUS] ? -1 : 1;
  for (uint32_t i = 0; i < role->nvars; i++) {
    int order = value_compare(e->values, role->vars[i].type, a->local[LOCAL_VAR(i)], b->local[LOCAL_VAR(i)]);
    if (order)
      return order;
  }
  for (uint32_t i = 0; e->shared && i < e->model->nglobals; i++) {
    int order = value_compare(e->values, e->model->globals[i].type, a->shared[i], b->shared[i]);
    if (order)
      return order;
  }
  return compare_sent(e, a, b);
}

static void orders_add(struct eval *e, struct orders *o, const uint32_t *done) {
  uint32_t entries = e->received->n;
  struct progress p = progress_of(e, o, arena_copy(e->scratch, done, (entries + 1) * sizeof *done));
  for (size_t i = 0; i < o->seen.n; i++)
    if (!memcmp(o->seen.at[i].done, done, entries * sizeof *done) && !compare_results(e, &o->seen.at[i], &p))
      return;
  vec_push(&o->seen, p);
}

/* Runs the body once for entry k, with every script of choices inside it. */
static void orders_step(struct eval *e, struct orders *o, size_t from, uint32_t k) {
  uint32_t entries = e->received->n;
  uint32_t *done = arena_copy(e->scratch, o->seen.at[from].done, (entries + 1) * sizeof *done);
  done[k]++;
  struct choices inner = {0}, *outer = e->choices;
  jmp_buf failure, *outer_failure = e->failure;
  e->choices = &inner;
  e->failure = &failure;
  bool failed = setjmp(failure) != 0;
  while (!failed) {
    if (e->stop && *e->stop)
      eval_fail(e, o->stmt->at, "interrupted");
    progress_resume(e, o, &o->seen.at[from]);
    e->slot[o->stmt->slot] = eval_forced(e, e->received->at[k].message);
    e->slot_sender[o->stmt->slot] = e->received->at[k].sender;
    if (!(e->local[LOCAL_STATUS] & STATUS_HALTED))
      eval_block(e, &o->stmt->then);
    orders_add(e, o, done);
    if (inner.at > 0)
      o->body_chooses = true;
    if (inner.coins)
      e->interp->coins_lost = "a coin is tossed in a 'foreach'";
    if (!choices_next(&inner))
      break;
  }
  choices_release(&inner);
  e->choices = outer;
  e->failure = outer_failure;
  if (failed) {
    vec_release(&o->seen);
    longjmp(*e->failure, 1);
  }
}

static bool all_done(const struct received *r, const uint32_t *done) {
  for (uint32_t k = 0; k < r->n; k++)
    if (done[k] < r->at[k].count)
      return false;
  return true;
}

/* The assignments of the body are recorded at the position of the `foreach`. */
static void note_assigned(struct eval *e, const struct stmt *s, const struct progress *first) {
  const struct role *role = &e->model->roles[e->role];
  for (uint32_t i = 0; i < role->nvars; i++)
    if (e->local[LOCAL_VAR(i)] != first->local[LOCAL_VAR(i)]) {
      if (e->record.assigned)
        e->record.assigned[i] = true;
      if (e->record.assigned_at)
        e->record.assigned_at[i] = s->at;
    }
  for (uint32_t i = 0; e->record.shared_at && i < e->model->nglobals; i++)
    if (e->shared[i] != first->shared[i])
      e->record.shared_at[i] = s->at;
}

/* Enumerates the sub-bags of the received messages. The results for a sub-bag depend on its order only through what the
   body changed, so each pair (sub-bag, result so far) is processed once. */
void exec_foreach(struct eval *e, const struct stmt *s) {
  if (e->decisions)
    e->decisions->lost = true;
  struct orders o = {.stmt = s, .length = role_local_length(&e->model->roles[e->role])};
  orders_add(e, &o, arena_array(e->scratch, e->received->n + 1, sizeof(uint32_t)));
  size_t nresults = 0;
  for (size_t i = 0; i < o.seen.n; i++) {
    if (all_done(e->received, o.seen.at[i].done))
      nresults++;
    for (uint32_t k = 0; k < e->received->n; k++)
      if (o.seen.at[i].done[k] < e->received->at[k].count)
        orders_step(e, &o, i, k);
  }
  struct progress first = o.seen.at[0], *results = arena_array(e->scratch, nresults + 1, sizeof *results);
  nresults = 0;
  for (size_t i = 0; i < o.seen.n; i++)
    if (all_done(e->received, o.seen.at[i].done)) {
      size_t at = nresults++;
      for (; at > 0 && compare_results(e, &results[at - 1], &o.seen.at[i]) > 0; at--)
        results[at] = results[at - 1];
      results[at] = o.seen.at[i];
    }
  vec_release(&o.seen);
  if (nresults > 1 && !o.body_chooses)
    e->order_mattered = true;
  progress_resume(e, &o, &results[eval_choose(e, nresults)]);
  note_assigned(e, s, &first);
}
