/* Clauses about how many of the processes that take part are heard:

     forall p in P: count(q in P: q in HO[p]) >= limit
     forall p in P: count(q in P: q in HO[p]) == min(limit, count(q in P: true))

   Quantifiers of clauses range over the processes that take part, so these sets have no members that are crashed,
   halted or Byzantine. If all that take part send a message, such a number is that of the genuine messages heard. */
#include "param/derive_internal.h"

static bool is_slot(const struct node *n, uint32_t slot) { return n->op == NODE_SLOT && n->index == slot; }

static const struct node *plain(const struct node *n) { return n->op == NODE_NARROW ? n->kid[0] : n; }

/* count(q in P: ...) */
static bool counts_processes(const struct node *n) {
  return n->op == NODE_COUNT && n->ngen == 1 && n->gen[0].range->op == NODE_ROLE_SET && !n->gen[0].cond;
}

/* count(q in P: q in HO[p]) */
static bool counts_heard(const struct node *n, uint32_t p) {
  if (!counts_processes(n) || n->n != 1)
    return false;
  const struct node *in = n->kid[0];
  return in->op == NODE_IN && is_slot(in->kid[0], n->gen[0].slot) && in->kid[1]->op == NODE_HO &&
         is_slot(in->kid[1]->kid[0], p);
}

/* count(q in P: true) */
static bool counts_all(const struct node *n) {
  return counts_processes(n) && (n->n == 0 || (n->kid[0]->op == NODE_CONST && n->kid[0]->constant == 1));
}

/* min(a, b), where a or b counts all that take part: the other one. NULL: something else. */
static const struct node *capped_limit(const struct node *n) {
  if (n->op != NODE_MIN || n->ngen != 1 || n->gen[0].cond || n->n != 1 || !is_slot(plain(n->kid[0]), n->gen[0].slot))
    return NULL;
  const struct node *set = n->gen[0].range;
  if (set->op != NODE_SET || set->n != 2)
    return NULL;
  const struct node *a = plain(set->kid[0]), *b = plain(set->kid[1]);
  return counts_all(a) ? b : counts_all(b) ? a : NULL;
}

void heard_size_without_quotient(struct heard_size *size) {
  const struct node *n = size->limit;
  if (!n || n->op != NODE_DIV || n->kid[1]->op != NODE_CONST || n->kid[1]->constant <= 0 ||
      n->kid[1]->constant >= INT32_MAX)
    return;
  int64_t by = n->kid[1]->constant; /* x > a / b if b * x > a; x >= a / b if b * x + b > a */
  size->times *= by;
  size->more = size->strict ? 0 : by;
  size->strict = true;
  size->limit = n->kid[0];
}

bool is_active_size_clause(const struct node *n, struct heard_size *out) {
  if (n->op != NODE_FORALL || n->ngen != 1 || n->n != 1 || n->gen[0].range->op != NODE_ROLE_SET || n->gen[0].cond)
    return false;
  const struct node *compared = n->kid[0];
  if (compared->op != NODE_GE && compared->op != NODE_GT && compared->op != NODE_EQ)
    return false;
  if (!counts_heard(plain(compared->kid[0]), n->gen[0].slot))
    return false;
  const struct node *limit = plain(compared->kid[1]), *capped = capped_limit(limit);
  *out = (struct heard_size){.times = 1,
                             .limit = capped ? capped : limit,
                             .strict = compared->op == NODE_GT,
                             .exact = compared->op == NODE_EQ,
                             .active = true,
                             .capped = capped};
  if (!capped && !out->exact)
    heard_size_without_quotient(out);
  return !capped || compared->op != NODE_GT;
}
