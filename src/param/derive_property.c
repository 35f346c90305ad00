/* Properties as conditions on counters. Quantifiers over processes become quantifiers over occupied
   local states. Subformulas over bound processes only are evaluated by the interpreter, on a configuration in which
   each bound process is in its local state. Everything else is refused. */
#include "param/derive_internal.h"

#include "analysis/action_use.h"
#include "analysis/dataflow.h"
#include "analysis/formula_reads.h"
#include "base/memory.h"

#include <string.h>

enum { BOUND_MAX = 8 };

/* ---- what a property reads ---- */

struct property_reads {
  const struct model *m;
  uint32_t nvars;
  bool *vars; /* by slot: the variables of that process, then its initial values; nvars + 1 each */
  bool *all;  /* the union over all slots */
  bool other; /* reads a process that is not a bound name, or in a definition */
  bool same;  /* compares identities of processes */
};

static bool is_process(const struct node *n) { return n->type && n->type->kind == TYPE_PROCESS; }

static bool is_bound_process(const struct node *n) { return n->op == NODE_SLOT && is_process(n); }

/* Membership in these sets depends only on the status of the process. */
static bool is_status_set(enum op op) { return op == NODE_ROLE_SET || op == NODE_CORRECT || op == NODE_FAULTY; }

static bool collect_reads(void *context, const struct node *n) {
  struct property_reads *r = context;
  r->other |= n->op == NODE_CALL;
  for (uint32_t i = 0; i < n->n; i++) /* any use except p.x and membership in a status set compares identities */
    r->same |= is_process(n->kid[i]) && n->op != NODE_REMOTE && n->op != NODE_INITIAL &&
               !(n->op == NODE_IN && i == 0 && is_status_set(n->kid[1]->op));
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

static bool is_process_generator(const struct generator *g) { return g->type->kind == TYPE_PROCESS; }

uint32_t part_of_name(const struct derivation_builder *d, const struct generator *name) {
  for (size_t i = 0; i < d->parts.of_names.n; i++)
    if (d->parts.of_names.at[i].name == name)
      return d->parts.of_names.at[i].part;
  return d->reached.at[0].sends; /* nothing was read of it */
}

/* Marks the parts that must be counted: those for which the violation needs to know that a local state is empty. Flags
   suffice where the violation only needs an occupied one. holds: this subformula occurs positively, so a violation of
   `forall` is an occupied state. */
static void find_counted(struct derivation_builder *d, const struct node *n, bool holds, bool both) {
  enum op op = n->op;
  for (uint32_t i = 0; i < n->ngen; i++) {
    bool forall = op == NODE_FORALL, exists = op == NODE_EXISTS;
    if (is_process_generator(&n->gen[i]) && (both || !(holds ? forall : exists) || (!forall && !exists)))
      d->parts.counted[part_of_name(d, &n->gen[i])] = true;
    find_counted(d, n->gen[i].range, holds, true);
    if (n->gen[i].cond)
      find_counted(d, n->gen[i].cond, forall ? !holds : holds, both);
  }
  for (uint32_t i = 0; i < n->n; i++) {
    bool turned = op == NODE_NOT || (op == NODE_IMPLIES && i == 0);
    bool plain = op == NODE_NOT || op == NODE_IMPLIES || op == NODE_AND || op == NODE_OR || op == NODE_FORALL ||
                 op == NODE_EXISTS;
    find_counted(d, n->kid[i], turned ? !holds : holds, both || !plain);
  }
}

/* If nothing is read of a process, any part will do. */
static uint32_t merge_read_parts(struct derivation_builder *d, uint32_t *part, const bool *vars) {
  uint32_t n = d->role->nvars + 1;
  for (uint32_t i = 0; i < n && vars; i++)
    if (vars[i])
      return merge_parts(part, n, vars);
  return d->reached.at[0].sends;
}

static void property_reads_find(const struct derivation_builder *d, const struct node *n, struct property_reads *r) {
  uint32_t width = d->role->nvars + 1;
  *r = (struct property_reads){.m = d->m, .nvars = d->role->nvars};
  r->vars = memory_alloc((size_t)width * (d->m->nslots + (size_t)1) * sizeof *r->vars);
  r->all = memory_alloc(width * sizeof *r->all);
  node_walk_deep(d->m, n, collect_reads, r);
}

static void property_reads_release(struct property_reads *r) {
  memory_free(r->vars);
  memory_free(r->all);
}

struct name_search {
  struct derivation_builder *d;
  uint32_t *part, together;
  bool apart; /* names may refer to different parts */
};

static bool find_names(void *context, const struct node *n) {
  struct name_search *s = context;
  struct derivation_builder *d = s->d;
  for (uint32_t i = 0; i < n->ngen; i++) {
    struct property_reads r;
    uint32_t part = s->together;
    if (!is_process_generator(&n->gen[i]))
      continue;
    property_reads_find(d, n, &r);
    if (s->apart)
      part = merge_read_parts(d, s->part, r.vars + (size_t)n->gen[i].slot * (d->role->nvars + 1));
    property_reads_release(&r);
    vec_push(&d->parts.of_names, ((struct bound_part){&n->gen[i], part}));
  }
  return true;
}

static void property_parts_of(struct derivation_builder *d, const struct property *p, uint32_t *part) {
  struct property_reads r;
  property_reads_find(d, p->formula, &r);
  d->parts.identities |= r.same;
  r.other |= r.same; /* comparing identities needs the same part for all names */
  uint32_t together = merge_read_parts(d, part, r.other || p->step ? r.all : NULL);
  if (p->step)
    d->parts.of_step = together;
  if (r.same)
    d->parts.counted[together] = true;
  struct name_search names = {d, part, together, !r.other && !p->step};
  node_walk_deep(d->m, p->formula, find_names, &names);
  property_reads_release(&r);
}

void derive_property_parts(struct derivation_builder *d, uint32_t *part) {
  uint32_t n = d->role->nvars + 1;
  vec_clear(&d->parts.of_names);
  d->parts.counted = arena_array(&d->d->arena, n + (size_t)1, sizeof *d->parts.counted);
  for (uint32_t i = 0; i < d->q->nproperties; i++)
    property_parts_of(d, &d->m->properties[d->q->properties[i]], part);
  for (uint32_t i = 0; i < d->q->nproperties && d->d->part_of; i++) {
    const struct property *p = &d->m->properties[d->q->properties[i]];
    if (!p->step)
      find_counted(d, p->formula, true, false);
  }
  for (uint32_t p = 0; p < d->m->npoints; p++) {
    d->parts.counted[d->reached.at[p].sends] = true;
    d->parts.counted[d->reached.at[p].updates] = true;
  }
}

/* ---- translation to counters ---- */

struct term *local_count(struct derivation_builder *d, uint32_t local) {
  uint32_t counter = d->d->counter.at[local];
  if (counter != NO_COUNTER)
    return make_leaf(d, TERM_COUNTER, counter);
  return make_choice(d, make_leaf(d, TERM_CONTROL, d->d->flag.at[local]), make_number(d, 1), make_number(d, 0));
}

struct property_translation {
  struct derivation_builder *d;
  struct config *before, *after; /* bound process i is in local state in[i] */
  uint32_t bound;                /* number of bound processes; pairwise different if identities are compared */
  uint32_t in[BOUND_MAX];
  struct eval e;
  bool failed;
};

static struct term *no_term(struct property_translation *s, struct span at, const char *why) {
  s->failed = true;
  derive_refuse(s->d, at, "%s", why);
  return NULL;
}

/* ---- formulas that the interpreter may evaluate ---- */

static bool is_local(const struct node *);

static bool are_local(const struct node *n) {
  for (uint32_t i = 0; i < n->n; i++)
    if (!is_local(n->kid[i]))
      return false;
  return true;
}

/* All generators range over values that are local. */
static bool generates_locally(const struct node *n) {
  for (uint32_t i = 0; i < n->ngen; i++) {
    const struct generator *g = &n->gen[i];
    if (type_contains_kind(g->type, TYPE_PROCESS) || !is_local(g->range) || (g->cond && !is_local(g->cond)))
      return false;
  }
  return are_local(n);
}

/* Does the node depend only on the local states of bound processes? Every operator is listed, so that a new one needs a
   decision here. */
static bool is_local(const struct node *n) {
  switch (n->op) {
  case NODE_REMOTE:
  case NODE_INITIAL:
    return is_bound_process(n->kid[0]) && !type_contains_kind(n->type, TYPE_PROCESS);
  case NODE_EQ:
  case NODE_NE:
    return (is_bound_process(n->kid[0]) && is_bound_process(n->kid[1])) || are_local(n);
  case NODE_IN:
    return (is_bound_process(n->kid[0]) && is_status_set(n->kid[1]->op)) || are_local(n);
  case NODE_CONST:
  case NODE_PARAM:
  case NODE_SLOT:
  case NODE_DOMAIN:
    return !type_contains_kind(n->type, TYPE_PROCESS);
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG:
  case NODE_NOT:
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
  case NODE_IF:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
  case NODE_SUBSET:
  case NODE_UNION:
  case NODE_INTERSECTION:
  case NODE_DIFFERENCE:
  case NODE_CARD:
  case NODE_INTERVAL:
  case NODE_SUBSETS:
  case NODE_SET:
  case NODE_WRAP:
  case NODE_NARROW:
  case NODE_OTHERWISE:
  case NODE_RECORD:
  case NODE_SELECT:
  case NODE_INDEX:
  case NODE_SEQUENCE:
  case NODE_APPEND:
  case NODE_FIRST:
  case NODE_LAST:
  case NODE_FRONT:
    return are_local(n);
  case NODE_SET_OF:
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_COUNT:
  case NODE_MIN:
  case NODE_MAX:
  case NODE_SUM:
  case NODE_UNION_OF:
  case NODE_MOSTFREQUENT:
  case NODE_MAJORITY:
  case NODE_ARRAY_OF:
    return generates_locally(n);
  case NODE_ROLE_SET: /* identities as values */
  case NODE_CORRECT:
  case NODE_FAULTY:
  case NODE_NUMBER_OF:
  case NODE_PROCESS_AT:
  case NODE_GLOBAL: /* depends on the whole model, a run or an environment */
  case NODE_ORACLE:
  case NODE_HO:
  case NODE_SHO:
  case NODE_ROUND_NUMBER:
  case NODE_PHASE:
  case NODE_ALWAYS:
  case NODE_EVENTUALLY:
  case NODE_UNTIL:
  case NODE_VAR: /* a variable of the acting process */
  case NODE_ME:
  case NODE_LOOP:
  case NODE_RECEIVED:
  case NODE_HEARD:
  case NODE_FROM:
  case NODE_SENDER:
  case NODE_QUIESCENT: /* of models of steps */
  case NODE_DEADLOCKED:
  case NODE_PENDING:
  case NODE_RECEIVER:
  case NODE_NEXT:
  case NODE_NEIGHBOURS:
  case NODE_PICK: /* nondeterministic */
  case NODE_RANDOM:
  case NODE_CALL: /* a recursive def; other defs were inlined */
  case NODE_OPS:
    return false;
  }
  return false;
}

static bool evaluate(struct property_translation *s, const struct node *n, value *out) {
  jmp_buf failure;
  s->e.failure = &failure;
  if (setjmp(failure)) {
    s->failed = true;
    return derive_refuse(s->d, n->at, "a property may fail: %s", s->e.error.message);
  }
  *out = eval_node(&s->e, n);
  return true;
}

static struct term *translate(struct property_translation *s, const struct node *n);

/* Translates the generators from `gen` on, then the body: exists, or forall if `all`. */
static struct term *quantified(struct property_translation *s, const struct node *n, uint32_t gen, bool all);

static struct term *body_of(struct property_translation *s, const struct node *n, uint32_t gen, bool all) {
  const struct generator *g = &n->gen[gen];
  struct term *rest = quantified(s, n, gen + 1, all);
  if (!g->cond || !rest)
    return rest;
  struct term *condition = translate(s, g->cond);
  if (!condition)
    return NULL;
  return all ? make_or(s->d, make_not(s->d, condition), rest) : make_and(s->d, condition, rest);
}

/* Is the bound process in the range of the generator? Also returns false, and sets failed, if that cannot be
   decided. */
static bool is_member(struct property_translation *s, const struct node *range, const struct generator *g) {
  struct node slot = {.op = NODE_SLOT, .index = g->slot, .type = g->type, .at = g->at};
  struct node *kids[2] = {&slot, (struct node *)range};
  struct node member = {.op = NODE_IN, .n = 2, .at = g->at, .type = range->type, .kid = kids};
  value in = 0;
  if (is_status_set(range->op))
    return evaluate(s, &member, &in) && in;
  if (range->op == NODE_UNION || range->op == NODE_INTERSECTION || range->op == NODE_DIFFERENCE) {
    bool a = is_member(s, range->kid[0], g), b = is_member(s, range->kid[1], g);
    return range->op == NODE_UNION ? a || b : range->op == NODE_INTERSECTION ? a && b : a && !b;
  }
  bool named = range->op == NODE_SET, found = false;
  for (uint32_t i = 0; i < range->n && named; i++) {
    named = is_bound_process(range->kid[i]);
    found |= named && s->e.slot[range->kid[i]->index] == s->e.slot[g->slot];
  }
  if (named)
    return found;
  no_term(s, range->at,
          "a property goes through a set of processes that is neither a role, 'correct', 'faulty' nor "
          "made of these");
  return false;
}

/* Local states with the same body `says`, with the sum of their counts. others: how many processes in the local state
   are already bound, so there must be more than that. */
struct quantifier_case {
  struct term *count, *says;
  uint32_t others;
};
typedef VEC(struct quantifier_case) quantifier_case_vec;

static void quantifier_case_add(struct derivation_builder *d, quantifier_case_vec *said, struct term *count,
                                struct term *says, uint32_t others) {
  size_t i = 0;
  while (i < said->n && (others || said->at[i].others || !said->at[i].count || !term_same(said->at[i].says, says)))
    i++;
  if (i == said->n)
    vec_push(said, ((struct quantifier_case){NULL, says, others}));
  said->at[i].count = make_sum(d, said->at[i].count, count);
}

/* Adds the case for the process just bound: its body, and the count of its local state (NULL: it was bound before). */
static void add_quantifier_case(struct property_translation *s, const struct node *n, uint32_t gen, bool all,
                                struct term *count, uint32_t others, quantifier_case_vec *said) {
  if (s->failed || !is_member(s, n->gen[gen].range, &n->gen[gen]) || s->failed)
    return;
  struct term *says = body_of(s, n, gen, all);
  if (says && count)
    quantifier_case_add(s->d, said, count, says, others);
  else if (says)
    vec_push(said, ((struct quantifier_case){NULL, says, 0}));
}

static uint32_t bound_in_local(const struct property_translation *s, uint32_t local) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->bound; i++)
    n += s->in[i] == local;
  return n;
}

/* If identities are compared, a name may be bound to a process bound before or to a further one. */
static void bind_each(struct property_translation *s, const struct node *n, uint32_t gen, bool all,
                      quantifier_case_vec *said) {
  struct derivation_builder *d = s->d;
  const struct generator *g = &n->gen[gen];
  for (uint32_t i = 0; i < s->bound && d->parts.identities && !s->failed; i++) {
    s->e.slot[g->slot] = (value)(d->role->first + i);
    add_quantifier_case(s, n, gen, all, NULL, 0, said);
  }
  uint32_t process = s->bound;
  for (uint32_t l = 0; l < d->d->locals.n && !s->failed; l++) {
    if (d->d->part_of && d->d->parts.at[l] != part_of_name(d, g))
      continue;
    if (derive_stopped(d)) {
      s->failed = true;
      return;
    }
    uint32_t others = d->parts.identities ? bound_in_local(s, l) : 0;
    memcpy(s->before->local[process], d->d->locals.at[l], d->d->length * sizeof(value));
    s->in[process] = l;
    s->bound = process + 1;
    s->e.slot[g->slot] = (value)(d->role->first + process);
    add_quantifier_case(s, n, gen, all, local_count(d, l), others, said);
    s->bound = process;
  }
}

static struct term *over_processes(struct property_translation *s, const struct node *n, uint32_t gen, bool all) {
  struct derivation_builder *d = s->d;
  quantifier_case_vec said = {0};
  struct term *result = make_number(d, all);
  if (s->bound == BOUND_MAX || s->bound >= d->m->nprocesses)
    return no_term(s, n->at, "a property speaks of too many processes at once");
  bind_each(s, n, gen, all, &said);
  for (size_t i = 0; i < said.n && !s->failed; i++) {
    struct term *few = said.at[i].count ? make_relation(d, TERM_LE, said.at[i].count, make_number(d, said.at[i].others))
                                        : make_number(d, 0);
    if (all)
      result = make_and(d, result, make_or(d, few, said.at[i].says));
    else
      result = make_or(d, result, make_and(d, make_not(d, few), said.at[i].says));
  }
  vec_release(&said);
  return s->failed ? NULL : result;
}

struct range_members {
  uint32_t slot;
  VEC(value) at;
};

static bool collect_member(struct eval *e, void *context, uint64_t weight) {
  struct range_members *m = context;
  (void)weight;
  vec_push(&m->at, e->slot[m->slot]);
  return true;
}

static void collect_members(struct property_translation *s, const struct node *n, const struct generator *g,
                            struct range_members *members) {
  jmp_buf failure;
  s->e.failure = &failure;
  if (setjmp(failure)) {
    s->failed = true;
    derive_refuse(s->d, n->at, "a property may fail: %s", s->e.error.message);
  } else {
    eval_bindings(&s->e, g, 1, collect_member, members);
  }
}

/* A quantifier over values: of a type, or of an option or set of a bound process. */
static struct term *over_values(struct property_translation *s, const struct node *n, uint32_t gen, bool all) {
  struct derivation_builder *d = s->d;
  struct generator g = n->gen[gen];
  struct range_members members = {.slot = g.slot};
  struct term *result = make_number(d, all);
  g.cond = NULL;
  if (type_contains_kind(g.type, TYPE_PROCESS) || !is_local(g.range))
    no_term(s, g.range->at,
            type_contains_kind(g.type, TYPE_PROCESS)
                ? "a property goes through sets of processes, or other values made of processes"
                : "a property makes values of what several processes have");
  else
    collect_members(s, n, &g, &members);
  for (size_t i = 0; i < members.at.n && !s->failed; i++) {
    s->e.slot[g.slot] = members.at.at[i];
    struct term *says = body_of(s, n, gen, all);
    if (says)
      result = all ? make_and(d, result, says) : make_or(d, result, says);
  }
  vec_release(&members.at);
  return s->failed ? NULL : result;
}

static struct term *quantified(struct property_translation *s, const struct node *n, uint32_t gen, bool all) {
  if (s->failed)
    return NULL;
  if (gen == n->ngen)
    return n->n ? translate(s, n->kid[0]) : make_number(s->d, 1);
  return n->gen[gen].type->kind == TYPE_PROCESS ? over_processes(s, n, gen, all) : over_values(s, n, gen, all);
}

static struct term *equivalent(struct property_translation *s, const struct node *n) {
  struct derivation_builder *d = s->d;
  struct term *a = translate(s, n->kid[0]), *b = translate(s, n->kid[1]);
  if (!a || !b)
    return NULL;
  struct term *both = make_and(d, a, b), *none = make_and(d, make_not(d, a), make_not(d, b));
  struct term *same = make_or(d, both, none);
  return n->op == NODE_EQ ? same : make_not(d, same);
}

static struct term *translate(struct property_translation *s, const struct node *n) {
  struct derivation_builder *d = s->d;
  value v;
  if (s->failed)
    return NULL;
  if (is_local(n))
    return evaluate(s, n, &v) ? make_number(d, v != 0) : NULL;
  struct term *a, *b, *c;
  if (n->op == NODE_FORALL || n->op == NODE_EXISTS)
    return quantified(s, n, 0, n->op == NODE_FORALL);
  if ((n->op == NODE_EQ || n->op == NODE_NE) && n->kid[0]->type->kind == TYPE_BOOL)
    return equivalent(s, n);
  if (n->op == NODE_NOT) {
    a = translate(s, n->kid[0]);
    return a ? make_not(d, a) : NULL;
  }
  if (n->op == NODE_AND || n->op == NODE_OR || n->op == NODE_IMPLIES) {
    a = translate(s, n->kid[0]);
    b = translate(s, n->kid[1]);
    if (!a || !b)
      return NULL;
    return n->op == NODE_AND ? make_and(d, a, b) : make_or(d, n->op == NODE_OR ? a : make_not(d, a), b);
  }
  if (n->op == NODE_IF) {
    a = translate(s, n->kid[0]);
    b = translate(s, n->kid[1]);
    c = translate(s, n->kid[2]);
    return a && b && c ? make_or(d, make_and(d, a, b), make_and(d, make_not(d, a), c)) : NULL;
  }
  return no_term(s, n->at,
                 "a property counts processes, compares sets of them, or speaks of more than states "
                 "of processes");
}

static void property_translation_init(struct property_translation *s, struct derivation_builder *d) {
  *s = (struct property_translation){.d = d, .before = config_new(d->m), .after = config_new(d->m)};
  for (uint32_t p = 0; p < d->m->nprocesses; p++) {
    memcpy(s->before->local[p], d->d->locals.at[0], d->d->length * sizeof(value));
    memcpy(s->after->local[p], d->d->locals.at[0], d->d->length * sizeof(value));
  }
  eval_begin(&s->e, d->interp);
  s->e.before = s->before;
  s->e.phase = 1;
  s->e.error.process = UINT32_MAX;
}

static void property_translation_release(struct property_translation *s) {
  config_free(s->before);
  config_free(s->after);
}

struct term *derive_condition(struct derivation_builder *d, const struct node *n) {
  struct property_translation s;
  property_translation_init(&s, d);
  struct term *holds = translate(&s, n);
  property_translation_release(&s);
  return holds;
}

bool derive_property(struct derivation_builder *d, const struct property *p, struct counter_property *out) {
  struct term *holds = derive_condition(d, p->formula);
  if (holds)
    out->unsafe = make_not(d, holds);
  return holds != NULL;
}

bool derive_step_licensed(struct derivation_builder *d, const struct property *p) {
  if (!property_is_one_process_step(p) && !property_is_correct_step(p))
    return derive_refuse(d, p->at,
                         "a step property that is not of the form 'forall p in %s: ...', or 'in correct', with "
                         "fields of p alone",
                         d->role->name);
  d->parts.stays_count |= !property_is_stutter_invariant(p);
  return is_local(p->formula->kid[0]) ||
         derive_refuse(d, p->formula->kid[0]->at, "a step property speaks of more than one process");
}

bool step_forbidden(struct derivation_builder *d, const struct property *p, uint32_t before, uint32_t after,
                    bool *forbidden) {
  struct property_translation s;
  struct model_error error;
  property_translation_init(&s, d);
  for (uint32_t i = 0; i < d->m->nprocesses; i++) {
    memcpy(s.before->local[i], d->d->locals.at[before], d->d->length * sizeof(value));
    memcpy(s.after->local[i], d->d->locals.at[after], d->d->length * sizeof(value));
  }
  enum verdict3 v = config_holds(d->interp, p->formula, s.before, s.after, &error);
  property_translation_release(&s);
  *forbidden = v == V_FALSE;
  return v != V_ERROR || derive_refuse(d, error.at, "a property may fail: %s", error.message);
}
