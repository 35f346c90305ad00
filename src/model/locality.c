#include "model/locality.h"

#include "base/vec.h"
#include "model/actions.h"
#include "model/failing.h"
#include "model/formula.h"
#include "model/live.h"

#include <string.h>

/* --- what a formula looks at that changes in time --- */

struct subjects {
  uint32_t slot;      /* the first process that is asked for a variable */
  bool some, several; /* there is one; there are others */
  bool status;        /* `correct`, `faulty` */
  bool rounds;
  const struct node *strange; /* not simply a variable of a process that a quantifier names */
};

/* What an operator may have that reads nothing that changes in time. (In rounds, variables of the whole file are inputs.) */
#define RIGID                                                                                                      \
  (TRAIT_NAME | TRAIT_SHARED | TRAIT_PROCESSES | TRAIT_NUMBERED | TRAIT_BINDS | TRAIT_WEIGHS | TRAIT_ORDERS |       \
   TRAIT_FAILS | TRAIT_TEMPORAL)

static bool look_subjects(void *context, const struct node *n) {
  struct subjects *s = context;
  if (n->op == NODE_CORRECT || n->op == NODE_FAULTY)
    s->status = true;
  else if (n->op == NODE_ROUND_NUMBER)
    s->rounds = true;
  else if (n->op != NODE_REMOTE && n->op != NODE_INITIAL && (op_traits(n->op) & ~(unsigned)RIGID) && !s->strange)
    s->strange = n; /* it may read anything */
  if (n->op != NODE_REMOTE)
    return true;
  const struct node *who = n->kid[0];
  if (who->op != NODE_SLOT && who->op != NODE_PROCESS_AT && who->op != NODE_CONST && !s->strange)
    s->strange = n;
  uint32_t slot = who->op == NODE_SLOT ? who->index : NO_SLOT;
  s->several |= slot == NO_SLOT || (s->some && s->slot != slot);
  s->slot = slot;
  s->some = true;
  return true;
}

static struct subjects subjects_of(const struct node *n) {
  struct subjects s = {.slot = NO_SLOT};
  node_walk(n, look_subjects, &s);
  return s;
}

bool property_tells_rounds(const struct property *p) { return subjects_of(p->formula).rounds; }

struct binder_look {
  uint32_t slot;
  bool found;
};

static bool look_binder(void *context, const struct node *n) {
  struct binder_look *b = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    b->found |= n->gen[i].slot == b->slot;
  return true;
}

static bool binds_inside(const struct node *n, uint32_t slot) {
  struct binder_look b = {slot, false};
  node_walk(n, look_binder, &b);
  return b.found;
}

/* correct, faulty, R & correct, ...: whether a process is in it depends on that process alone. */
static bool is_status_set(const struct node *n) {
  if (n->op == NODE_CORRECT || n->op == NODE_FAULTY)
    return true;
  if (n->op == NODE_MEET)
    return (is_status_set(n->kid[0]) || n->kid[0]->op == NODE_ROLE_SET) &&
           (is_status_set(n->kid[1]) || n->kid[1]->op == NODE_ROLE_SET) &&
           (is_status_set(n->kid[0]) || is_status_set(n->kid[1]));
  return false;
}

/* --- going through a formula --- */

enum stay { STAYS_TRUE, STAYS_FALSE, STAYS_THE_SAME };

struct local_look {
  struct model *model;      /* to add stabilities; NULL: only to look */
  const struct model *read;
  bool crashes;             /* some process that is correct may not be later */
  uint32_t property;
  struct refusal why;       /* it is not local */
  bool so_far;              /* because of who is correct so far */
  VEC(const struct generator *) bound;
  struct arena *arena;
  VEC(struct property) *made;
};

static void refuse(struct local_look *l, const struct node *n, const char *says) {
  l->so_far |= subjects_of(n).status && l->crashes;
  if (!l->why.reason)
    l->why = (struct refusal){arena_printf(l->arena, "'%s' %s", source_quote(l->read, n->at, l->arena), says), n->at};
}

/* --- stabilities --- */

static struct node *node_make(struct model *m, const struct node *like, enum op op, const struct type *type, uint32_t n) {
  struct node *made = arena_alloc(&m->arena, sizeof *made);
  *made = (struct node){.op = op, .at = like->at, .type = type, .n = n, .kid = arena_array(&m->arena, n + 1, sizeof *made->kid)};
  return made;
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

struct fields_look {
  const struct model *model;
  uint32_t role;
  bool missing;
};

static bool look_fields(void *context, const struct node *n) {
  struct fields_look *f = context;
  if (n->op == NODE_REMOTE)
    f->missing |= f->model->fields[n->index].var[f->role] == UINT32_MAX;
  return true;
}

struct free_look {
  uint32_t subject;
  VEC(uint32_t) used, bound;
};

static bool look_free(void *context, const struct node *n) {
  struct free_look *f = context;
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

/* Names of outer quantifiers, whatever they stand for. NULL: for one of them everything cannot be tried. */
static struct node *for_all_others(struct local_look *l, struct node *body, uint32_t subject, const struct node *about) {
  struct model *m = l->model;
  struct free_look f = {.subject = subject};
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
    any.range = node_make(m, about, NODE_DOMAIN, NULL, 0);
    struct type *set = arena_alloc(&m->arena, sizeof *set);
    *set = (struct type){.kind = TYPE_SET, .element = g->type, .count = UINT64_MAX};
    any.range->type = set;
    vec_push(&all, any);
  }
  vec_release(&f.used);
  vec_release(&f.bound);
  if (ok && all.n > 0) {
    struct node *forall = node_make(m, about, NODE_FORALL, body->type, 1);
    forall->kid[0] = body;
    forall->ngen = (uint32_t)all.n;
    forall->gen = arena_array(&m->arena, all.n + 1, sizeof *forall->gen);
    memcpy(forall->gen, all.at, all.n * sizeof *all.at);
    body = forall;
  }
  vec_release(&all);
  return ok ? body : NULL;
}

/* False: whether it stays cannot be seen process by process. */
static bool add_stability(struct local_look *l, uint32_t subject, struct node *body) {
  struct model *m = l->model;
  bool some = false;
  for (uint32_t r = 0; r < m->nroles; r++) {
    struct fields_look f = {m, r, false};
    node_walk(body, look_fields, &f);
    if (f.missing)
      continue;
    struct node *forall = node_make(m, body, NODE_FORALL, body->type, 1);
    struct node *range = node_make(m, body, NODE_ROLE_SET, m->process_set, 0);
    range->index = r;
    forall->kid[0] = body;
    forall->ngen = 1;
    forall->gen = arena_array(&m->arena, 2, sizeof *forall->gen);
    forall->gen[0] = (struct generator){.slot = subject, .range = range, .type = m->processes, .name = "p", .at = body->at};
    struct property p = m->properties[l->property];
    p.kind = PROPERTY_SAFETY;
    p.step = true;
    p.at = body->at;
    p.formula = forall;
    p.stability_of = l->property + 1;
    if (!property_step_of_one(&p))
      return false;
    vec_push(l->made, p);
    some = true;
  }
  return some;
}

/* n speaks of one process, and stays as it is. */
static void must_stay(struct local_look *l, const struct node *n, uint32_t subject, enum stay how) {
  if (!l->model)
    return;
  struct model *m = l->model;
  struct node *before = arena_copy(&m->arena, n, sizeof *n), *after = node_after(m, n);
  const struct type *truth = m->properties[l->property].formula->type;
  struct node *body = node_make(m, n, how == STAYS_THE_SAME ? NODE_EQ : NODE_IMPLIES, truth, 2);
  body->kid[0] = how == STAYS_FALSE ? after : before;
  body->kid[1] = how == STAYS_FALSE ? before : after;
  body = for_all_others(l, body, subject, n);
  if (!body || !add_stability(l, subject, body))
    m->properties[l->property].unfollowed = true;
}

/* What a quantifier goes through is something of a process: no member leaves (no new one comes). */
static void members_must_stay(struct local_look *l, const struct generator *g, uint32_t subject, enum stay how) {
  if (!l->model)
    return;
  struct model *m = l->model;
  const struct type *truth = m->properties[l->property].formula->type;
  struct node *before = arena_copy(&m->arena, g->range, sizeof *g->range), *after = node_after(m, g->range);
  struct node *body = node_make(m, g->range, NODE_FORALL, truth, 1), *in = node_make(m, g->range, NODE_IN, truth, 2);
  struct node *member = node_make(m, g->range, NODE_SLOT, g->type, 0);
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
    m->properties[l->property].unfollowed = true;
}

/* --- what is wrong, and must stay --- */

/* Several processes compared, counted, ...: nothing that is read of any of them may change. */
static void look_parts(struct local_look *l, const struct node *n) {
  struct subjects s = subjects_of(n);
  if (!s.some && !s.status && !s.strange)
    return;
  bool inside = s.some && binds_inside(n, s.slot);
  if (s.status || s.strange || (n->ngen > 0 && (inside || s.several))) {
    refuse(l, n, "looks at several processes at once");
    return;
  }
  if (!s.several && !inside) {
    must_stay(l, n, s.slot, STAYS_THE_SAME);
    return;
  }
  if (n->op == NODE_REMOTE)
    refuse(l, n, "is of a particular process");
  for (uint32_t i = 0; i < n->n; i++)
    look_parts(l, n->kid[i]);
}

static void look_generator(struct local_look *l, const struct generator *g, bool wrong_if_inside);

/* n is part of what is wrong: as it stands (wrong), or its negation. */
static void look_formula(struct local_look *l, const struct node *n, bool wrong) {
  struct subjects s = subjects_of(n);
  if (!s.some && !s.status && !s.strange)
    return;
  if (s.strange) {
    refuse(l, s.strange, "is not simply a variable of a process");
    return;
  }
  switch (op_among(n->op)) {
  case NODE_NOT:
    look_formula(l, n->kid[0], !wrong);
    return;
  case NODE_AND:
  case NODE_OR:
    look_formula(l, n->kid[0], wrong);
    look_formula(l, n->kid[1], wrong);
    return;
  case NODE_IMPLIES:
    look_formula(l, n->kid[0], !wrong);
    look_formula(l, n->kid[1], wrong);
    return;
  case NODE_FORALL:
  case NODE_EXISTS: {
    if (s.some && !s.several && !s.status && !binds_inside(n, s.slot))
      break; /* all of it is about one process that is named further out */
    size_t outer = l->bound.n;
    for (uint32_t i = 0; i < n->ngen; i++) {
      look_generator(l, &n->gen[i], (n->op == NODE_EXISTS) == wrong);
      vec_push(&l->bound, &n->gen[i]);
      if (n->gen[i].cond)
        look_formula(l, n->gen[i].cond, (n->op == NODE_EXISTS) == wrong);
    }
    look_formula(l, n->kid[0], wrong);
    l->bound.n = outer;
    return;
  }
  case NODE_IN:
    if (s.status && !s.some && n->kid[0]->op == NODE_SLOT && (n->kid[1]->op == NODE_CORRECT || n->kid[1]->op == NODE_FAULTY)) {
      if (l->crashes && (n->kid[1]->op == NODE_CORRECT) == wrong)
        refuse(l, n, "may change: a process that is correct may crash later");
      return;
    }
    break;
  }
  if (s.status)
    refuse(l, n, "looks at several processes at once");
  else if (s.several || binds_inside(n, s.slot))
    look_parts(l, n);
  else
    must_stay(l, n, s.slot, wrong ? STAYS_TRUE : STAYS_FALSE);
}

static void look_generator(struct local_look *l, const struct generator *g, bool wrong_if_inside) {
  struct subjects s = subjects_of(g->range);
  if (!s.some && !s.status && !s.strange)
    return;
  if (s.status && !s.some && !s.strange && !l->crashes)
    return;
  if (g->range->op == (wrong_if_inside ? NODE_FAULTY : NODE_CORRECT))
    return; /* who is faulty stays so */
  if (s.status)
    refuse(l, g->range, "may change: a process that is correct may crash later");
  else if (s.several || s.strange)
    refuse(l, g->range, "looks at several processes at once");
  else
    members_must_stay(l, g, s.slot, wrong_if_inside ? STAYS_TRUE : STAYS_FALSE);
}

static bool process_dies(const struct model *m, const struct question *q) {
  const struct environment *e = &m->environments[q->environment];
  for (uint32_t i = 0; i < e->nclauses; i++)
    if (e->clauses[i].kind == CLAUSE_CRASH)
      return true;
  return false;
}

/* --- is all that is wrong wrong with one process? --- */

enum wrong_with {
  WRONG_NOBODY,
  WRONG_ONE,    /* the process that an outer quantifier calls `slot` */
  WRONG_SOMEONE, /* one process that a quantifier inside has found */
  WRONG_EITHER, /* one of the two */
  WRONG_SEVERAL
};
struct wrongs {
  enum wrong_with with;
  uint32_t slot; /* ONE, EITHER */
};

static struct wrongs wrong_together(struct wrongs a, struct wrongs b) {
  if (a.with == WRONG_NOBODY)
    return b;
  if (b.with == WRONG_NOBODY || (a.with == WRONG_ONE && b.with == WRONG_ONE && a.slot == b.slot))
    return a;
  return (struct wrongs){WRONG_SEVERAL, NO_SLOT};
}

static struct wrongs wrong_either(struct wrongs a, struct wrongs b) {
  if (a.with == WRONG_NOBODY)
    return b;
  if (b.with == WRONG_NOBODY)
    return a;
  bool sa = a.with == WRONG_ONE || a.with == WRONG_EITHER, sb = b.with == WRONG_ONE || b.with == WRONG_EITHER;
  if (a.with == WRONG_SEVERAL || b.with == WRONG_SEVERAL || (sa && sb && a.slot != b.slot))
    return (struct wrongs){WRONG_SEVERAL, NO_SLOT};
  if (a.with == WRONG_ONE && b.with == WRONG_ONE)
    return a;
  return sa || sb ? (struct wrongs){WRONG_EITHER, sa ? a.slot : b.slot} : (struct wrongs){WRONG_SOMEONE, NO_SLOT};
}

static struct wrongs wrongs_of(const struct node *n, bool wrong, bool crashes);

/* n is no combination of formulas. */
static struct wrongs wrongs_of_atom(const struct node *n, bool crashes) {
  struct subjects s = subjects_of(n);
  bool status = s.status && crashes;
  if (s.strange || s.several || (s.some && binds_inside(n, s.slot)))
    return (struct wrongs){WRONG_SEVERAL, NO_SLOT};
  if (!s.some && !status)
    return (struct wrongs){WRONG_NOBODY, NO_SLOT};
  if (!status)
    return (struct wrongs){WRONG_ONE, s.slot};
  if (!s.some && n->op == NODE_IN && n->kid[0]->op == NODE_SLOT && is_status_set(n->kid[1]))
    return (struct wrongs){WRONG_ONE, n->kid[0]->index};
  return (struct wrongs){WRONG_SEVERAL, NO_SLOT};
}

static struct wrongs wrongs_of_range(const struct generator *g, bool crashes) {
  if (is_status_set(g->range))
    return crashes ? (struct wrongs){WRONG_ONE, g->slot} : (struct wrongs){WRONG_NOBODY, NO_SLOT};
  return wrongs_of_atom(g->range, crashes);
}

static struct wrongs wrongs_of_quantifier(const struct node *n, bool wrong, bool crashes) {
  bool some = (n->op == NODE_EXISTS) == wrong; /* what is wrong is wrong with some, not with all */
  struct wrongs w = wrongs_of(n->kid[0], wrong, crashes);
  for (uint32_t i = n->ngen; i-- > 0;) {
    const struct generator *g = &n->gen[i];
    if (g->cond)
      w = wrong_together(wrongs_of(g->cond, some, crashes), w);
    w = wrong_together(wrongs_of_range(g, crashes), w);
    bool about = (w.with == WRONG_ONE || w.with == WRONG_EITHER) && w.slot == g->slot;
    if (about)
      w = (struct wrongs){some ? WRONG_SOMEONE : WRONG_SEVERAL, NO_SLOT};
    else if (!some && w.with == WRONG_SOMEONE)
      w.with = WRONG_SEVERAL; /* for each another one */
  }
  return w;
}

static struct wrongs wrongs_of(const struct node *n, bool wrong, bool crashes) {
  switch (op_among(n->op)) {
  case NODE_NOT:
    return wrongs_of(n->kid[0], !wrong, crashes);
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES: {
    struct wrongs a = wrongs_of(n->kid[0], n->op == NODE_IMPLIES ? !wrong : wrong, crashes);
    struct wrongs b = wrongs_of(n->kid[1], wrong, crashes);
    return (n->op == NODE_AND) == wrong ? wrong_together(a, b) : wrong_either(a, b);
  }
  case NODE_FORALL:
  case NODE_EXISTS:
    return wrongs_of_quantifier(n, wrong, crashes);
  }
  return wrongs_of_atom(n, crashes);
}

/* --- live properties --- */

/* One process, whose steps come in the same order everywhere. */
static bool tells_of_one(const struct node *n) {
  struct subjects s = subjects_of(n);
  return !s.strange && !s.several && !(s.some && binds_inside(n, s.slot));
}

/* Quantifiers of that kind, and what they say of one process at a time. */
static bool tells_of_each(const struct node *n, enum op quantifier) {
  for (; n->op == quantifier; n = n->kid[0])
    for (uint32_t i = 0; i < n->ngen; i++)
      if (n->gen[i].cond)
        return false;
  return !node_is_temporal(n) && tells_of_one(n);
}

/* `always` and `eventually always` are said of all if they are said of each, `eventually` and `always eventually` of someone
   if they are said of one of them: processes are finitely many. */
static bool tells_apart(const struct node *n) {
  const struct node *in = n->kid[0];
  if (n->op == NODE_ALWAYS)
    return in->op == NODE_EVENTUALLY ? tells_of_each(in->kid[0], NODE_EXISTS) : tells_of_each(in, NODE_FORALL);
  return n->op == NODE_EVENTUALLY &&
         (in->op == NODE_ALWAYS ? tells_of_each(in->kid[0], NODE_FORALL) : tells_of_each(in, NODE_EXISTS));
}

/* The start is the same for all. */
static void look_live(struct local_look *l, const struct node *n) {
  if (op_traits(n->op) & TRAIT_TEMPORAL) {
    if (!tells_of_one(n) && !tells_apart(n))
      refuse(l, n, "speaks of several processes at the same time");
    return;
  }
  for (uint32_t i = 0; i < n->n && node_is_temporal(n); i++)
    look_live(l, n->kid[i]);
}

static enum locality look_at(struct local_look *l, const struct property *p) {
  struct subjects s = subjects_of(p->formula);
  if (p->kind == PROPERTY_LIVE && !s.rounds) {
    look_live(l, p->formula);
    return l->why.reason ? LOCAL_NOT : LOCAL;
  }
  if (p->until) {
    refuse(l, p->until, "may come earlier or later for some than for others");
    return LOCAL_NOT;
  }
  if (s.rounds)
    return LOCAL_ROUNDS;
  if (p->step) { /* while one process moves all the others are looked at, too */
    if (wrongs_of(p->formula, false, l->crashes).with >= WRONG_SEVERAL)
      refuse(l, p->formula, "speaks of steps of several processes together");
    else if (!property_holds_of_stuttering(p))
      refuse(l, p->formula, "may be false of a process that stays as it is");
    return l->so_far ? LOCAL_SO_FAR : l->why.reason ? LOCAL_NOT : LOCAL;
  }
  if (wrongs_of(p->formula, p->kind == PROPERTY_COVER, l->crashes).with < WRONG_SEVERAL)
    return LOCAL;
  look_formula(l, p->formula, p->kind == PROPERTY_COVER);
  vec_release(&l->bound);
  return l->so_far ? LOCAL_SO_FAR : l->why.reason ? LOCAL_NOT : LOCAL_IF_STABLE;
}

enum locality locality_of(const struct model *m, const struct question *q, uint32_t property, struct arena *arena,
                          struct refusal *why) {
  struct local_look l = {.read = m, .crashes = process_dies(m, q), .property = property, .arena = arena};
  if (node_may_fail(m, q, m->properties[property].formula, NULL, NULL)) {
    refuse(&l, m->properties[property].formula, "may be an error in a state that whole rounds do not have");
    *why = l.why;
    return l.so_far ? LOCAL_SO_FAR : LOCAL_NOT;
  }
  enum locality found = look_at(&l, &m->properties[property]);
  *why = l.why;
  if (found != LOCAL_IF_STABLE)
    return found;
  if (!m->properties[property].unfollowed)
    return found;
  *why = (struct refusal){"what it reads of several processes cannot be followed process by process",
                          m->properties[property].at};
  return LOCAL_NOT;
}

void locality_prepare(struct model *m) {
  VEC(struct property) made = {0};
  struct arena scratch;
  arena_init(&scratch);
  for (uint32_t i = 0; i < m->nproperties && m->kind == MODEL_ROUNDS; i++) {
    struct local_look l = {.model = m, .read = m, .property = i, .arena = &scratch, .made = (void *)&made};
    size_t before = made.n;
    if (m->properties[i].kind != PROPERTY_LIVE && look_at(&l, &m->properties[i]) != LOCAL_IF_STABLE)
      made.n = before;
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
