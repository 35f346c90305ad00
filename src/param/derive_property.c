/* Properties as conditions on counters. Quantifiers over processes become quantifiers over local
   states that are there; everything else is evaluated by the interpreter, with one process in each
   local state that is spoken of. */
#include "param/derive_internal.h"

#include "base/memory.h"
#include "model/flow.h"

#include <string.h>

enum { BOUND_MAX = 8 };

/* ---- who is spoken of ---- */

struct reading {
  const struct model *m;
  uint32_t nvars;
  bool *vars; /* by slot: the variables of that process, then its first values; nvars + 1 each */
  bool *all;  /* of any */
  bool other; /* something else than a bound name, or in a definition */
};

static bool note_read(void *context, const struct node *n) {
  struct reading *r = context;
  r->other |= n->op == NODE_CALL;
  if (n->op != NODE_REMOTE && n->op != NODE_INITIAL)
    return true;
  uint32_t var = n->op == NODE_INITIAL ? r->nvars : r->m->fields[n->index].var[0];
  if (var == UINT32_MAX)
    return true;
  r->all[var] = true;
  if (n->kid[0]->op == NODE_SLOT)
    r->vars[(size_t)n->kid[0]->index * (r->nvars + 1) + var] = true;
  else
    r->other = true;
  return true;
}

static bool is_process_generator(const struct generator *g) {
  return g->type->kind == TYPE_PROCESS;
}

/* Parts of which it must be known that there is nobody must be counted; holds: the formula must be
   true, so where it says `forall` somebody is bad. */
static void find_counted(struct deriving *d, const struct node *n, bool holds, bool both) {
  enum op op = n->op;
  for (uint32_t i = 0; i < n->ngen; i++) {
    bool forall = op == NODE_FORALL, exists = op == NODE_EXISTS;
    if (is_process_generator(&n->gen[i]) &&
        (both || !(holds ? forall : exists) || (!forall && !exists)))
      d->counted[d->part_of_slot[n->gen[i].slot]] = true;
    find_counted(d, n->gen[i].range, holds, true);
    if (n->gen[i].cond)
      find_counted(d, n->gen[i].cond, forall ? !holds : holds, both);
  }
  for (uint32_t i = 0; i < n->n; i++) {
    bool turned = op == NODE_NOT || (op == NODE_IMPLIES && i == 0);
    bool plain = op == NODE_NOT || op == NODE_IMPLIES || op == NODE_AND || op == NODE_OR ||
                 op == NODE_FORALL || op == NODE_EXISTS;
    find_counted(d, n->kid[i], turned ? !holds : holds, both || !plain);
  }
}

/* Of whom nothing is read, any part will do. */
static uint32_t join_some(struct deriving *d, uint32_t *part, const bool *vars) {
  uint32_t n = d->role->nvars + 1;
  for (uint32_t i = 0; i < n && vars; i++)
    if (vars[i])
      return join_parts(part, n, vars);
  return d->at[0].sends;
}

static void speakers_of(struct deriving *d, const struct property *p, uint32_t *part) {
  uint32_t n = d->role->nvars + 1, slots = d->m->nslots;
  struct reading r = {.m = d->m, .nvars = d->role->nvars};
  r.vars = memory_alloc((size_t)n * (slots + (size_t)1) * sizeof *r.vars);
  r.all = memory_alloc(n * sizeof *r.all);
  node_walk_deep(d->m, p->formula, note_read, &r);
  uint32_t together = join_some(d, part, r.other || p->step ? r.all : NULL);
  if (p->step)
    d->part_of_step = together;
  for (uint32_t i = 0; i < slots; i++)
    d->part_of_slot[i] =
        r.other || p->step ? together : join_some(d, part, r.vars + (size_t)i * n);
  memory_free(r.vars);
  memory_free(r.all);
}

void derive_speakers(struct deriving *d, uint32_t *part) {
  uint32_t n = d->role->nvars + 1;
  d->part_of_slot = arena_array(&d->d->arena, d->m->nslots + (size_t)1, sizeof *d->part_of_slot);
  d->counted = arena_array(&d->d->arena, n + (size_t)1, sizeof *d->counted);
  for (uint32_t i = 0; i < d->q->nproperties && d->d->part_of; i++)
    speakers_of(d, &d->m->properties[d->q->properties[i]], part);
  for (uint32_t i = 0; i < d->q->nproperties && d->d->part_of; i++) {
    const struct property *p = &d->m->properties[d->q->properties[i]];
    if (!p->step)
      find_counted(d, p->formula, true, false);
  }
  for (uint32_t p = 0; p < d->m->npoints; p++) {
    d->counted[d->at[p].sends] = true;
    d->counted[d->at[p].updates] = true;
  }
}

/* ---- in counts ---- */

struct term *local_count(struct deriving *d, uint32_t local) {
  uint32_t counter = d->d->counter.at[local];
  if (counter != NO_COUNTER)
    return make_leaf(d, TERM_COUNTER, counter);
  return make_choice(d, make_leaf(d, TERM_CONTROL, d->d->flag.at[local]), make_number(d, 1),
                     make_number(d, 0));
}

struct speaking {
  struct deriving *d;
  struct config *before, *after; /* process i is in the local state of the i-th bound name */
  uint32_t bound;
  struct eval e;
  bool failed;
};

static bool quantifies(void *context, const struct node *n) {
  bool *found = context;
  for (uint32_t i = 0; i < n->ngen; i++) {
    enum op range = n->gen[i].range->op;
    *found |= range == NODE_ROLE_SET || range == NODE_CORRECT || range == NODE_FAULTY ||
              range == NODE_MEET || range == NODE_MINUS;
  }
  *found |= n->op == NODE_CARD && n->kid[0]->type->kind == TYPE_SET &&
            n->kid[0]->type->element->kind == TYPE_PROCESS;
  *found |= n->op == NODE_ROUND_NUMBER;
  return !*found;
}

/* Does it speak of processes that are not bound yet? */
static bool speaks_of_others(const struct node *n) {
  bool found = false;
  node_walk(n, quantifies, &found);
  return found;
}

static bool evaluate(struct speaking *s, const struct node *n, value *out) {
  jmp_buf failure;
  s->e.failure = &failure;
  if (setjmp(failure)) {
    s->failed = true;
    return derive_refuse(s->d, n->at, "a property may fail: %s", s->e.error.message);
  }
  *out = eval_node(&s->e, n);
  return true;
}

static struct term *translate(struct speaking *s, const struct node *n);

/* The generators from `gen` on, then the body: exists (or, with `all`, forall). */
static struct term *quantified(struct speaking *s, const struct node *n, uint32_t gen, bool all);

static struct term *body_of(struct speaking *s, const struct node *n, uint32_t gen, bool all) {
  const struct generator *g = &n->gen[gen];
  struct term *rest = quantified(s, n, gen + 1, all);
  if (!g->cond || !rest)
    return rest;
  struct term *condition = translate(s, g->cond);
  if (!condition)
    return NULL;
  return all ? make_or(s->d, make_not(s->d, condition), rest) : make_and(s->d, condition, rest);
}

/* Local states that say the same are counted together. */
struct spoken {
  struct term *count, *says;
};

static struct term *over_processes(struct speaking *s, const struct node *n, uint32_t gen,
                                   bool all) {
  struct deriving *d = s->d;
  const struct generator *g = &n->gen[gen];
  VEC(struct spoken) said = {0};
  struct term *result = make_number(d, all);
  if (s->bound == BOUND_MAX || s->bound >= d->m->nprocesses) {
    vec_release(&said);
    s->failed = true;
    derive_refuse(d, n->at, "a property speaks of too many processes at once");
    return NULL;
  }
  uint32_t process = s->bound++;
  for (uint32_t l = 0; l < d->d->locals.n && !s->failed; l++) {
    value in;
    if (d->d->locals.at[l][LOCAL_STATUS] & STATUS_BYZANTINE ||
        (d->d->part_of && d->d->parts.at[l] != d->part_of_slot[g->slot]))
      continue;
    memcpy(s->before->local[process], d->d->locals.at[l], d->d->length * sizeof(value));
    struct node member = {.op = NODE_IN, .n = 2, .at = g->at, .type = n->type};
    struct node slot = {.op = NODE_SLOT, .index = g->slot, .type = g->type, .at = g->at};
    struct node *kids[2] = {&slot, g->range};
    member.kid = kids;
    s->e.slot[g->slot] = (value)(d->role->first + process);
    if (!evaluate(s, &member, &in) || !in)
      continue;
    struct term *says = body_of(s, n, gen, all);
    if (!says)
      break;
    size_t i = 0;
    while (i < said.n && !term_same(said.at[i].says, says))
      i++;
    if (i == said.n)
      vec_push(&said, ((struct spoken){NULL, says}));
    said.at[i].count = make_sum(d, said.at[i].count, local_count(d, l));
  }
  for (size_t i = 0; i < said.n && !s->failed; i++) {
    struct term *none = make_relation(d, TERM_LE, said.at[i].count, NULL);
    if (all)
      result = make_and(d, result, make_or(d, none, said.at[i].says));
    else
      result = make_or(d, result, make_and(d, make_not(d, none), said.at[i].says));
  }
  s->bound--;
  vec_release(&said);
  return s->failed ? NULL : result;
}

struct members {
  uint32_t slot;
  VEC(value) at;
};

static bool note_member(struct eval *e, void *context, uint64_t weight) {
  struct members *m = context;
  (void)weight;
  vec_push(&m->at, e->slot[m->slot]);
  return true;
}

/* Over values: those of a type, of an option or set that a bound process has. */
static struct term *over_values(struct speaking *s, const struct node *n, uint32_t gen, bool all) {
  struct deriving *d = s->d;
  struct generator g = n->gen[gen];
  struct members members = {.slot = g.slot};
  struct term *result = make_number(d, all);
  jmp_buf failure;
  g.cond = NULL;
  s->e.failure = &failure;
  if (speaks_of_others(g.range)) {
    s->failed = true;
    derive_refuse(d, g.range->at, "a property makes values of what several processes have");
  } else if (setjmp(failure)) {
    s->failed = true;
    derive_refuse(d, n->at, "a property may fail: %s", s->e.error.message);
  } else {
    eval_bindings(&s->e, &g, 1, note_member, &members);
  }
  for (size_t i = 0; i < members.at.n && !s->failed; i++) {
    s->e.slot[g.slot] = members.at.at[i];
    struct term *says = body_of(s, n, gen, all);
    if (says)
      result = all ? make_and(d, result, says) : make_or(d, result, says);
  }
  vec_release(&members.at);
  return s->failed ? NULL : result;
}

static struct term *quantified(struct speaking *s, const struct node *n, uint32_t gen, bool all) {
  if (s->failed)
    return NULL;
  if (gen == n->ngen)
    return n->n ? translate(s, n->kid[0]) : make_number(s->d, 1);
  return n->gen[gen].type->kind == TYPE_PROCESS ? over_processes(s, n, gen, all)
                                                : over_values(s, n, gen, all);
}

static struct term *translate(struct speaking *s, const struct node *n) {
  struct deriving *d = s->d;
  value v;
  if (s->failed)
    return NULL;
  if (!speaks_of_others(n))
    return evaluate(s, n, &v) ? make_number(d, v != 0) : NULL;
  struct term *a, *b;
  switch (n->op) {
  case NODE_FORALL:
  case NODE_EXISTS:
    return quantified(s, n, 0, n->op == NODE_FORALL);
  case NODE_NOT:
    a = translate(s, n->kid[0]);
    return a ? make_not(d, a) : NULL;
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
    a = translate(s, n->kid[0]);
    b = translate(s, n->kid[1]);
    if (!a || !b)
      return NULL;
    return n->op == NODE_AND ? make_and(d, a, b)
                             : make_or(d, n->op == NODE_OR ? a : make_not(d, a), b);
  default:
    s->failed = true;
    derive_refuse(d, n->at, "a property counts processes, or speaks of rounds");
    return NULL;
  }
}

static void speaking_begin(struct speaking *s, struct deriving *d) {
  *s = (struct speaking){.d = d, .before = config_new(d->m), .after = config_new(d->m)};
  for (uint32_t p = 0; p < d->m->nprocesses; p++) {
    memcpy(s->before->local[p], d->d->locals.at[0], d->d->length * sizeof(value));
    memcpy(s->after->local[p], d->d->locals.at[0], d->d->length * sizeof(value));
  }
  eval_begin(&s->e, d->meaning);
  s->e.before = s->before;
  s->e.phase = 1;
  s->e.error.process = UINT32_MAX;
}

static void speaking_end(struct speaking *s) {
  config_free(s->before);
  config_free(s->after);
}

bool derive_property(struct deriving *d, const struct property *p, struct counter_property *out) {
  struct speaking s;
  speaking_begin(&s, d);
  struct term *holds = translate(&s, p->formula);
  speaking_end(&s);
  if (holds)
    out->unsafe = make_not(d, holds);
  return holds != NULL;
}

bool step_forbidden(struct deriving *d, const struct property *p, uint32_t before, uint32_t after,
                    bool *forbidden) {
  struct speaking s;
  struct model_error error;
  speaking_begin(&s, d);
  for (uint32_t i = 0; i < d->m->nprocesses; i++) {
    memcpy(s.before->local[i], d->d->locals.at[before], d->d->length * sizeof(value));
    memcpy(s.after->local[i], d->d->locals.at[after], d->d->length * sizeof(value));
  }
  enum verdict3 v = config_holds(d->meaning, p->formula, s.before, s.after, &error);
  speaking_end(&s);
  *forbidden = v == V_FALSE;
  return v != V_ERROR || derive_refuse(d, error.at, "a property may fail: %s", error.message);
}
