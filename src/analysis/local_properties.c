#include "analysis/local_properties.h"

#include "analysis/action_use.h"
#include "analysis/formula_reads.h"
#include "analysis/live_formula.h"
#include "analysis/may_fail.h"
#include "base/vec.h"
#include "model/node.h"

#include <string.h>

/* --- what a formula reads of processes --- */

struct process_reads {
  uint32_t slot;      /* the last process of which a variable is read */
  bool some, several; /* a variable of a process is read; of different processes */
  bool status;        /* `correct`, `faulty` */
  bool rounds;
  const struct node *unsupported; /* not simply a variable of a process that a quantifier names */
};

/* Traits of operators that read nothing that changes. (In rounds, file-level variables are inputs.) */
#define RIGID                                                                                                          \
  (TRAIT_NAME | TRAIT_SHARED | TRAIT_PROCESSES | TRAIT_NUMBERED | TRAIT_BINDS | TRAIT_MULTIPLICITY | TRAIT_ORDERS |    \
   TRAIT_FAILS | TRAIT_TEMPORAL)

static bool visit_process_reads(void *context, const struct node *n) {
  struct process_reads *s = context;
  if (n->op == NODE_CORRECT || n->op == NODE_FAULTY)
    s->status = true;
  else if (n->op == NODE_ROUND_NUMBER)
    s->rounds = true;
  else if (n->op != NODE_REMOTE && n->op != NODE_INITIAL && (op_traits(n->op) & ~(unsigned)RIGID) && !s->unsupported)
    s->unsupported = n; /* it may read anything */
  if (n->op != NODE_REMOTE)
    return true;
  const struct node *who = n->kid[0];
  if (who->op != NODE_SLOT && who->op != NODE_PROCESS_AT && who->op != NODE_CONST && !s->unsupported)
    s->unsupported = n;
  uint32_t slot = who->op == NODE_SLOT ? who->index : NO_SLOT;
  s->several |= slot == NO_SLOT || (s->some && s->slot != slot);
  s->slot = slot;
  s->some = true;
  return true;
}

static struct process_reads process_reads_of(const struct node *n) {
  struct process_reads s = {.slot = NO_SLOT};
  node_walk(n, visit_process_reads, &s);
  return s;
}

bool property_reads_round(const struct model *m, const struct property *p) {
  struct process_reads s = {.slot = NO_SLOT};
  node_walk_deep(m, p->formula, visit_process_reads, &s);
  return s.rounds;
}

struct binder_slot_search {
  uint32_t slot;
  bool found;
};

static bool look_binder(void *context, const struct node *n) {
  struct binder_slot_search *b = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    b->found |= n->gen[i].slot == b->slot;
  return true;
}

static bool binds_inside(const struct node *n, uint32_t slot) {
  struct binder_slot_search b = {slot, false};
  node_walk(n, look_binder, &b);
  return b.found;
}

/* correct, faulty, R & correct, ...: membership of a process depends on its own status only. */
static bool is_status_set(const struct node *n) {
  if (n->op == NODE_CORRECT || n->op == NODE_FAULTY)
    return true;
  if (n->op == NODE_INTERSECTION)
    return (is_status_set(n->kid[0]) || n->kid[0]->op == NODE_ROLE_SET) &&
           (is_status_set(n->kid[1]) || n->kid[1]->op == NODE_ROLE_SET) &&
           (is_status_set(n->kid[0]) || is_status_set(n->kid[1]));
  return false;
}

/* --- checking a formula --- */

enum stability { STAYS_TRUE, STAYS_FALSE, STAYS_THE_SAME };

struct locality_check {
  struct model *model; /* to add stabilities; NULL: none are added */
  const struct model *read;
  bool crashes; /* `correct` may change */
  uint32_t property;
  struct refusal why;    /* it is not local */
  bool status_dependent; /* because it reads `correct` or `faulty` */
  bool needs_stability;
  VEC(const struct generator *) bound;
  struct arena *arena;
  VEC(struct property) * made;
};

static void refuse(struct locality_check *l, const struct node *n, const char *says) {
  l->status_dependent |= process_reads_of(n).status && l->crashes;
  if (!l->why.reason)
    l->why = (struct refusal){arena_printf(l->arena, "'%s' %s", source_quote(l->read, n->at, l->arena), says), n->at};
}

/* --- stabilities --- */

static struct node *node_like(struct model *m, const struct node *like, enum op op, const struct type *type,
                              uint32_t n) {
  return node_make(&m->arena, op, like->at, type, n);
}

/* The same after the step. */
static struct node *node_after(struct model *m, const struct node *n) {
  struct node *made = arena_alloc(&m->arena, sizeof *made);
  *made = *n;
  made->primed = n->op == NODE_REMOTE || n->primed;
  made->kid = arena_array(&m->arena, n->n + 1, sizeof *made->kid);
  for (uint32_t i = 0; i < n->n; i++)
    made->kid[i] = node_after(m, n->kid[i]);
  made->gen = arena_array(&m->arena, n->ngen + 1, sizeof *made->gen);
  for (uint32_t i = 0; i < n->ngen; i++) {
    made->gen[i] = n->gen[i];
    made->gen[i].range = node_after(m, n->gen[i].range);
    made->gen[i].cond = n->gen[i].cond ? node_after(m, n->gen[i].cond) : NULL;
  }
  return made;
}

struct field_search {
  const struct model *model;
  uint32_t role;
  bool missing;
};

static bool look_fields(void *context, const struct node *n) {
  struct field_search *f = context;
  if (n->op == NODE_REMOTE)
    f->missing |= f->model->fields[n->index].var[f->role] == UINT32_MAX;
  return true;
}

struct free_slot_search {
  uint32_t subject;
  VEC(uint32_t) used, bound;
};

static bool look_free(void *context, const struct node *n) {
  struct free_slot_search *f = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    vec_push(&f->bound, n->gen[i].slot);
  if (n->op == NODE_SLOT && n->index != f->subject)
    vec_push(&f->used, n->index);
  return true;
}

static bool is_among(const uint32_t *at, size_t n, uint32_t x) {
  for (size_t i = 0; i < n; i++)
    if (at[i] == x)
      return true;
  return false;
}

/* The body for all values of the outer names that it reads. NULL: one of these has too many values, or is a process. */
static struct node *for_all_others(struct locality_check *l, struct node *body, uint32_t subject,
                                   const struct node *about) {
  struct model *m = l->model;
  struct free_slot_search f = {.subject = subject};
  bool ok = true;
  node_walk(about, look_free, &f);
  VEC(struct generator) all = {0};
  for (size_t i = 0; i < l->bound.n && ok; i++) {
    const struct generator *g = l->bound.at[i];
    if (!is_among(f.used.at, f.used.n, g->slot) || is_among(f.bound.at, f.bound.n, g->slot))
      continue;
    ok = g->type->kind != TYPE_PROCESS && g->type->count <= 4096;
    struct generator any = *g;
    any.cond = NULL;
    any.range = node_like(m, about, NODE_DOMAIN, NULL, 0);
    struct type *set = arena_alloc(&m->arena, sizeof *set);
    *set = (struct type){.kind = TYPE_SET, .element = g->type, .count = UINT64_MAX};
    any.range->type = set;
    vec_push(&all, any);
  }
  vec_release(&f.used);
  vec_release(&f.bound);
  if (ok && all.n > 0) {
    struct node *forall = node_like(m, about, NODE_FORALL, body->type, 1);
    forall->kid[0] = body;
    forall->ngen = (uint32_t)all.n;
    forall->gen = arena_array(&m->arena, all.n + 1, sizeof *forall->gen);
    memcpy(forall->gen, all.at, all.n * sizeof *all.at);
    body = forall;
  }
  vec_release(&all);
  return ok ? body : NULL;
}

/* False: it cannot be checked process by process. */
static bool add_stability(struct locality_check *l, uint32_t subject, struct node *body) {
  struct model *m = l->model;
  bool some = false;
  for (uint32_t r = 0; r < m->nroles; r++) {
    struct field_search f = {m, r, false};
    node_walk(body, look_fields, &f);
    if (f.missing)
      continue;
    struct node *forall = node_like(m, body, NODE_FORALL, body->type, 1);
    struct node *range = node_like(m, body, NODE_ROLE_SET, m->process_types.set, 0);
    range->index = r;
    forall->kid[0] = body;
    forall->ngen = 1;
    forall->gen = arena_array(&m->arena, 2, sizeof *forall->gen);
    forall->gen[0] =
        (struct generator){.slot = subject, .range = range, .type = m->process_types.any, .name = "p", .at = body->at};
    struct property p = m->properties[l->property];
    p.kind = PROPERTY_SAFETY;
    p.step = true;
    p.at = body->at;
    p.formula = forall;
    p.stability_of = l->property + 1;
    if (!property_is_one_process_step(&p))
      return false;
    vec_push(l->made, p);
    some = true;
  }
  return some;
}

/* Requires that n, which is about one process, is stable. */
static void require_stable(struct locality_check *l, const struct node *n, uint32_t subject, enum stability how) {
  l->needs_stability = true;
  if (!l->model)
    return;
  struct model *m = l->model;
  struct node *before = arena_copy(&m->arena, n, sizeof *n), *after = node_after(m, n);
  const struct type *truth = m->properties[l->property].formula->type;
  struct node *body = node_like(m, n, how == STAYS_THE_SAME ? NODE_EQ : NODE_IMPLIES, truth, 2);
  body->kid[0] = how == STAYS_FALSE ? after : before;
  body->kid[1] = how == STAYS_FALSE ? before : after;
  body = for_all_others(l, body, subject, n);
  if (!body || !add_stability(l, subject, body))
    m->properties[l->property].stability_unknown = true;
}

/* The range of a quantifier is a variable of a process: requires that members are never removed (or never added). */
static void require_members_stable(struct locality_check *l, const struct generator *g, uint32_t subject,
                                   enum stability how) {
  l->needs_stability = true;
  if (!l->model)
    return;
  struct model *m = l->model;
  const struct type *truth = m->properties[l->property].formula->type;
  struct node *before = arena_copy(&m->arena, g->range, sizeof *g->range), *after = node_after(m, g->range);
  struct node *body = node_like(m, g->range, NODE_FORALL, truth, 1), *in = node_like(m, g->range, NODE_IN, truth, 2);
  struct node *member = node_like(m, g->range, NODE_SLOT, g->type, 0);
  member->index = g->slot;
  in->kid[0] = member;
  in->kid[1] = how == STAYS_FALSE ? before : after;
  body->kid[0] = in;
  body->ngen = 1;
  body->gen = arena_array(&m->arena, 2, sizeof *body->gen);
  body->gen[0] = *g;
  body->gen[0].cond = NULL;
  body->gen[0].range = how == STAYS_FALSE ? after : before;
  body = for_all_others(l, body, subject, g->range);
  if (!body || !add_stability(l, subject, body))
    m->properties[l->property].stability_unknown = true;
}

/* --- what violates the property, and must be stable --- */

/* Several processes are compared: nothing that is read of any of them may change. */
static void check_parts(struct locality_check *l, const struct node *n) {
  struct process_reads s = process_reads_of(n);
  if (!s.some && !s.status && !s.unsupported)
    return;
  bool inside = s.some && binds_inside(n, s.slot);
  if (s.status || s.unsupported || (n->ngen > 0 && (inside || s.several))) {
    refuse(l, n, "looks at several processes at once");
    return;
  }
  if (!s.several && !inside) {
    require_stable(l, n, s.slot, STAYS_THE_SAME);
    return;
  }
  if (n->op == NODE_REMOTE)
    refuse(l, n, "is of a particular process");
  for (uint32_t i = 0; i < n->n; i++)
    check_parts(l, n->kid[i]);
}

static void check_generator(struct locality_check *l, const struct generator *g, bool wrong_if_inside);

/* n is part of the violation: n itself (wrong), or its negation. */
static void check_formula(struct locality_check *l, const struct node *n, bool wrong) {
  struct process_reads s = process_reads_of(n);
  if (!s.some && !s.status && !s.unsupported)
    return;
  if (s.unsupported) {
    refuse(l, s.unsupported, "is not simply a variable of a process");
    return;
  }
  switch (op_number(n->op)) {
  case NODE_NOT:
    check_formula(l, n->kid[0], !wrong);
    return;
  case NODE_AND:
  case NODE_OR:
    check_formula(l, n->kid[0], wrong);
    check_formula(l, n->kid[1], wrong);
    return;
  case NODE_IMPLIES:
    check_formula(l, n->kid[0], !wrong);
    check_formula(l, n->kid[1], wrong);
    return;
  case NODE_FORALL:
  case NODE_EXISTS: {
    if (s.some && !s.several && !s.status && !binds_inside(n, s.slot))
      break; /* it is about one process that an outer quantifier names */
    size_t outer = l->bound.n;
    for (uint32_t i = 0; i < n->ngen; i++) {
      check_generator(l, &n->gen[i], (n->op == NODE_EXISTS) == wrong);
      vec_push(&l->bound, &n->gen[i]);
      if (n->gen[i].cond)
        check_formula(l, n->gen[i].cond, (n->op == NODE_EXISTS) == wrong);
    }
    check_formula(l, n->kid[0], wrong);
    l->bound.n = outer;
    return;
  }
  case NODE_IN:
    if (s.status && !s.some && n->kid[0]->op == NODE_SLOT &&
        (n->kid[1]->op == NODE_CORRECT || n->kid[1]->op == NODE_FAULTY)) {
      if (l->crashes && (n->kid[1]->op == NODE_CORRECT) == wrong)
        refuse(l, n, "may change: a process that is correct may crash later");
      return;
    }
    break;
  }
  if (s.status)
    refuse(l, n, "looks at several processes at once");
  else if (s.several || binds_inside(n, s.slot))
    check_parts(l, n);
  else
    require_stable(l, n, s.slot, wrong ? STAYS_TRUE : STAYS_FALSE);
}

static void check_generator(struct locality_check *l, const struct generator *g, bool wrong_if_inside) {
  struct process_reads s = process_reads_of(g->range);
  if (!s.some && !s.status && !s.unsupported)
    return;
  if (s.status && !s.some && !s.unsupported && !l->crashes)
    return;
  if (g->range->op == (wrong_if_inside ? NODE_FAULTY : NODE_CORRECT))
    return; /* faulty processes stay faulty */
  if (s.status)
    refuse(l, g->range, "may change: a process that is correct may crash later");
  else if (s.several || s.unsupported)
    refuse(l, g->range, "looks at several processes at once");
  else
    require_members_stable(l, g, s.slot, wrong_if_inside ? STAYS_TRUE : STAYS_FALSE);
}

static bool has_crash_clause(const struct model *m, const struct query *q) {
  const struct environment *e = &m->environments[q->environment];
  for (uint32_t i = 0; i < e->nclauses; i++)
    if (e->clauses[i].kind == CLAUSE_CRASH)
      return true;
  return false;
}

/* --- does one process violate the property alone? --- */

enum violator_kind {
  VIOLATORS_NONE,
  VIOLATORS_NAMED,  /* the process that an outer quantifier binds to `slot` */
  VIOLATORS_ONE,    /* one process, bound by an inner quantifier */
  VIOLATORS_EITHER, /* NAMED or ONE */
  VIOLATORS_SEVERAL
};
struct violators {
  enum violator_kind with;
  uint32_t slot; /* NAMED, EITHER */
};

static struct violators violators_conjunction(struct violators a, struct violators b) {
  if (a.with == VIOLATORS_NONE)
    return b;
  if (b.with == VIOLATORS_NONE || (a.with == VIOLATORS_NAMED && b.with == VIOLATORS_NAMED && a.slot == b.slot))
    return a;
  return (struct violators){VIOLATORS_SEVERAL, NO_SLOT};
}

static struct violators violators_disjunction(struct violators a, struct violators b) {
  if (a.with == VIOLATORS_NONE)
    return b;
  if (b.with == VIOLATORS_NONE)
    return a;
  bool sa = a.with == VIOLATORS_NAMED || a.with == VIOLATORS_EITHER,
       sb = b.with == VIOLATORS_NAMED || b.with == VIOLATORS_EITHER;
  if (a.with == VIOLATORS_SEVERAL || b.with == VIOLATORS_SEVERAL || (sa && sb && a.slot != b.slot))
    return (struct violators){VIOLATORS_SEVERAL, NO_SLOT};
  if (a.with == VIOLATORS_NAMED && b.with == VIOLATORS_NAMED)
    return a;
  return sa || sb ? (struct violators){VIOLATORS_EITHER, sa ? a.slot : b.slot}
                  : (struct violators){VIOLATORS_ONE, NO_SLOT};
}

static struct violators violators_of(const struct node *n, bool wrong, bool crashes);

/* n is no connective and no quantifier. */
static struct violators violators_of_atom(const struct node *n, bool crashes) {
  struct process_reads s = process_reads_of(n);
  bool status = s.status && crashes;
  if (s.unsupported || s.several || (s.some && binds_inside(n, s.slot)))
    return (struct violators){VIOLATORS_SEVERAL, NO_SLOT};
  if (!s.some && !status)
    return (struct violators){VIOLATORS_NONE, NO_SLOT};
  if (!status)
    return (struct violators){VIOLATORS_NAMED, s.slot};
  if (!s.some && n->op == NODE_IN && n->kid[0]->op == NODE_SLOT && is_status_set(n->kid[1]))
    return (struct violators){VIOLATORS_NAMED, n->kid[0]->index};
  return (struct violators){VIOLATORS_SEVERAL, NO_SLOT};
}

static struct violators violators_of_range(const struct generator *g, bool crashes) {
  if (is_status_set(g->range))
    return crashes ? (struct violators){VIOLATORS_NAMED, g->slot} : (struct violators){VIOLATORS_NONE, NO_SLOT};
  return violators_of_atom(g->range, crashes);
}

static struct violators violators_of_quantifier(const struct node *n, bool wrong, bool crashes) {
  bool some = (n->op == NODE_EXISTS) == wrong; /* one binding is enough for a violation */
  struct violators w = violators_of(n->kid[0], wrong, crashes);
  for (uint32_t i = n->ngen; i-- > 0;) {
    const struct generator *g = &n->gen[i];
    if (g->cond)
      w = violators_conjunction(violators_of(g->cond, some, crashes), w);
    w = violators_conjunction(violators_of_range(g, crashes), w);
    bool about = (w.with == VIOLATORS_NAMED || w.with == VIOLATORS_EITHER) && w.slot == g->slot;
    if (about)
      w = (struct violators){some ? VIOLATORS_ONE : VIOLATORS_SEVERAL, NO_SLOT};
    else if (!some && w.with == VIOLATORS_ONE)
      w.with = VIOLATORS_SEVERAL; /* possibly a different one for each binding */
  }
  return w;
}

static struct violators violators_of(const struct node *n, bool wrong, bool crashes) {
  switch (op_number(n->op)) {
  case NODE_NOT:
    return violators_of(n->kid[0], !wrong, crashes);
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES: {
    struct violators a = violators_of(n->kid[0], n->op == NODE_IMPLIES ? !wrong : wrong, crashes);
    struct violators b = violators_of(n->kid[1], wrong, crashes);
    return (n->op == NODE_AND) == wrong ? violators_conjunction(a, b) : violators_disjunction(a, b);
  }
  case NODE_FORALL:
  case NODE_EXISTS:
    return violators_of_quantifier(n, wrong, crashes);
  }
  return violators_of_atom(n, crashes);
}

/* --- live properties --- */

/* About one process, whose states come in the same order in fine and whole rounds. */
static bool is_about_one(const struct node *n) {
  struct process_reads s = process_reads_of(n);
  return !s.unsupported && !s.several && !(s.some && binds_inside(n, s.slot));
}

/* A prefix of quantifiers of that kind, followed by a formula about one process. Ranges may read that process. */
static bool is_about_each(const struct node *n, enum op quantifier) {
  struct process_reads s = {.slot = NO_SLOT};
  for (; n->op == quantifier; n = n->kid[0])
    for (uint32_t i = 0; i < n->ngen; i++) {
      node_walk(n->gen[i].range, visit_process_reads, &s);
      if (n->gen[i].cond || !is_about_one(n->gen[i].range))
        return false;
    }
  node_walk(n, visit_process_reads, &s);
  return !s.unsupported && !s.several && !node_is_temporal(n) && is_about_one(n);
}

/* `always` and `eventually always` distribute over forall, `eventually` and `always eventually` over exists, because
   there are finitely many processes. */
static bool distributes_over_processes(const struct node *n) {
  const struct node *in = n->kid[0];
  if (n->op == NODE_ALWAYS)
    return in->op == NODE_EVENTUALLY ? is_about_each(in->kid[0], NODE_EXISTS) : is_about_each(in, NODE_FORALL);
  return n->op == NODE_EVENTUALLY &&
         (in->op == NODE_ALWAYS ? is_about_each(in->kid[0], NODE_FORALL) : is_about_each(in, NODE_EXISTS));
}

/* Formulas without temporal operators are about the initial state, which fine and whole rounds share. */
static void check_live(struct locality_check *l, const struct node *n) {
  if (op_traits(n->op) & TRAIT_TEMPORAL) {
    if (!is_about_one(n) && !distributes_over_processes(n))
      refuse(l, n, "speaks of several processes at the same time");
    return;
  }
  for (uint32_t i = 0; i < n->n && node_is_temporal(n); i++)
    check_live(l, n->kid[i]);
}

static enum locality check_property_locality(struct locality_check *l, const struct property *p) {
  bool rounds = property_reads_round(l->read, p);
  if (p->kind == PROPERTY_LIVE && !rounds) {
    check_live(l, p->formula);
    return l->why.reason ? LOCAL_NOT : LOCAL;
  }
  if (p->until) {
    refuse(l, p->until, "may come earlier or later for some than for others");
    return LOCAL_NOT;
  }
  if (rounds)
    return LOCAL_ROUNDS;
  if (p->step) { /* quantifiers range over all processes, including those that do not move */
    if (violators_of(p->formula, false, l->crashes).with >= VIOLATORS_SEVERAL)
      refuse(l, p->formula, "speaks of steps of several processes together");
    else if (!property_is_stutter_invariant(p))
      refuse(l, p->formula, "may be false of a process that stays as it is");
    return l->status_dependent ? LOCAL_STATUS_DEPENDENT : l->why.reason ? LOCAL_NOT : LOCAL;
  }
  if (violators_of(p->formula, p->kind == PROPERTY_COVER, l->crashes).with < VIOLATORS_SEVERAL)
    return LOCAL;
  check_formula(l, p->formula, p->kind == PROPERTY_COVER);
  vec_release(&l->bound);
  return l->status_dependent ? LOCAL_STATUS_DEPENDENT : l->why.reason ? LOCAL_NOT : LOCAL_IF_STABLE;
}

/* Has the model any stability for it? */
static bool has_stability(const struct model *m, uint32_t property) {
  for (uint32_t i = 0; i < m->nstabilities; i++)
    if (m->properties[m->nproperties + i].stability_of == property + 1)
      return true;
  return false;
}

enum locality locality_of(const struct model *m, const struct query *q, uint32_t property, struct arena *arena,
                          struct refusal *why) {
  struct locality_check l = {.read = m, .crashes = has_crash_clause(m, q), .property = property, .arena = arena};
  if (node_may_fail(m, q, m->properties[property].formula, NULL, NULL)) {
    refuse(&l, m->properties[property].formula, "may be an error in a state that whole rounds do not have");
    *why = l.why;
    return l.status_dependent ? LOCAL_STATUS_DEPENDENT : LOCAL_NOT;
  }
  enum locality found = check_property_locality(&l, &m->properties[property]);
  *why = l.why;
  if (found != LOCAL_IF_STABLE)
    return found;
  if (!m->properties[property].stability_unknown && (!l.needs_stability || has_stability(m, property)))
    return found;
  *why = (struct refusal){"what it reads of several processes cannot be followed process by process",
                          m->properties[property].at};
  return LOCAL_NOT;
}

/* Environments with and without crashes may need stabilities for different properties. Where both need some, they are
   the same: crashes only decide whether a property needs any, or is refused. */
void locality_add_stabilities(struct model *m) {
  VEC(struct property) made = {0};
  struct arena scratch;
  arena_init(&scratch);
  for (uint32_t i = 0; i < m->nproperties && m->kind == MODEL_ROUNDS; i++) {
    if (m->properties[i].kind == PROPERTY_LIVE)
      continue;
    size_t before = made.n;
    for (int crashes = 0; crashes < 2 && made.n == before; crashes++) {
      struct locality_check l = {
          .model = m, .read = m, .crashes = crashes, .property = i, .arena = &scratch, .made = (void *)&made};
      if (check_property_locality(&l, &m->properties[i]) != LOCAL_IF_STABLE)
        made.n = before;
    }
  }
  if (made.n > 0) {
    struct property *all = arena_array(&m->arena, m->nproperties + made.n + 1, sizeof *all);
    memcpy(all, m->properties, m->nproperties * sizeof *all);
    memcpy(all + m->nproperties, made.at, made.n * sizeof *all);
    m->properties = all;
    m->nstabilities = (uint32_t)made.n;
  }
  vec_release(&made);
  arena_release(&scratch);
}
