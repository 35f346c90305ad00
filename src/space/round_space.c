#include "space/round_space.h"

#include "sem/marks.h"
#include "space/concretise.h"
#include "space/count.h"
#include "model/flow.h"
#include "space/initial.h"
#include "space/together.h"

#include <string.h>

/* --- rules, once for each round that differs --- */

uint32_t global_rounds(const struct round_space *s, const struct global *g) {
  return s->pack.keep_rounds ? g->rounds : s->model->points[g->point].number - 1;
}

static uint32_t rules_place(struct round_space *s, uint32_t point, uint32_t rounds) {
  uint32_t later = rounds < s->pack.from_cap ? rounds : s->pack.from_cap;
  return s->pack.keep_rounds ? point * (s->pack.from_cap + 1) + later : point;
}

const struct rules *space_rules(struct round_space *s, uint32_t point, uint32_t rounds, const struct variant *v,
                                uint32_t *index) {
  uint32_t i = rules_place(s, point, rounds);
  if (v && v->demanded) { /* behind those without demands */
    int64_t key[2] = {i, v->demanded};
    i = rules_place(s, s->model->npoints, 0) + intern_put(s->rules_keys, key, 2);
  }
  if (i >= s->nrules) {
    s->rules = memory_resize_array(s->rules, i + 1, sizeof *s->rules);
    memset(s->rules + s->nrules, 0, (i + 1 - s->nrules) * sizeof *s->rules);
    s->nrules = i + 1;
  }
  if (!s->rules[i])
    s->rules[i] = rules_of(s->meaning, s->base.question->environment, point, rounds, v ? v->demands : NULL,
                           v ? v->ndemands : 0, &s->arena);
  *index = i;
  return s->rules[i];
}

/* --- the plain way --- */

struct plain_step {
  struct round_space *space;
  const struct config *from;
  emit_fn *emit;
  void *context;
  struct global *next;
  const struct variants *variants; /* those that are made the plain way; NULL: there are no marks */
};

static bool emit_plain(struct round_space *s, const struct config *c, struct global *g, uint32_t hope,
                       struct edge *edge, emit_fn *emit, void *context, bool forget) {
  global_from_config(&s->pack, c, g);
  g->hope = hope;
  for (uint32_t i = 0; i < g->n; i++)
    g->at[i].local = forget ? local_forget(&s->pack, g->at[i].local, g->point) : local_start(&s->pack, g->at[i].local);
  global_canonical(&s->pack, g, NULL);
  struct state state;
  global_encode(&s->pack, g, &s->buffer, &s->buffer_capacity, &state);
  return emit(context, &state, edge);
}

static bool plain_initial(void *context, const struct config *c) {
  struct plain_step *p = context;
  struct edge edge = {0};
  for (uint32_t q = 0; q < c->nprocesses; q++)
    edge.processes += (c->local[q][LOCAL_STATUS] & STATUS_FAULTY) != 0;
  p->space->initial_states++;
  return emit_plain(p->space, c, p->next, 0, &edge, p->emit, p->context, false);
}

bool demands_hold(struct meaning *meaning, const struct variant *v, const struct config *c, const struct witness *w) {
  for (uint32_t i = 0; i < v->ndemands; i++) {
    const struct demand *d = &v->demands[i];
    if (!(d->parts ? clause_parts_hold(meaning, d->clause, d->bound, c, w) : clause_pred_holds(meaning, d->clause, c, w)))
      return false;
  }
  return true;
}

static bool plain_next(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  struct plain_step *p = context;
  struct round_space *s = p->space;
  struct edge edge = {.group = NO_GROUP};
  for (uint32_t q = 0; q < w->nprocesses; q++)
    edge.processes += w->crashes[q];
  if (result == STEP_BAD_WITNESS)
    return true;
  edge.faults = (uint32_t)(next->lost - p->from->lost + next->corrupted - p->from->corrupted);
  if (result == STEP_ERROR) {
    edge.error = error;
    return p->emit(p->context, NULL, &edge);
  }
  const struct question *q = s->base.question;
  for (uint32_t i = 0; i < q->nproperties; i++)
    if (s->step_checks[i].step &&
        config_holds(s->meaning, s->model->properties[q->properties[i]].formula, p->from, next, NULL) != V_TRUE)
      edge.broken |= UINT64_C(1) << (i < 63 ? i : 63);
  uint32_t lottery = s->lotteries ? plain_lottery(s, p->from, w) : 0;
  edge.lottery = s->lotteries ? lottery + 1 : 0;
  if (!p->variants)
    return emit_plain(s, next, p->next, 0, &edge, p->emit, p->context, true);
  bool more = true;
  for (size_t i = 0; i < p->variants->n && more; i++) {
    const struct variant *v = &p->variants->at[i];
    edge.marks = v->marks;
    if (s->lotteries)
      edge.lottery = s->lottery + (uint32_t)p->variants->n * lottery + (uint32_t)i + 1;
    if (demands_hold(s->meaning, v, p->from, w))
      more = emit_plain(s, next, p->next, v->hope, &edge, p->emit, p->context, true);
  }
  return more;
}

static bool plain_successors(struct round_space *s, const struct global *g, const struct variants *variants,
                             emit_fn *emit, void *context) {
  struct config *c = global_to_config(&s->pack, g);
  struct plain_step p = {s, c, emit, context, global_new(&s->pack), variants};
  bool more = config_successors(s->meaning, s->base.question->environment, c, plain_next, &p);
  config_free(c);
  global_free(p.next);
  return more;
}

/* Every edge, with every mark that it can have. */
static bool marked_successors(struct round_space *s, const struct global *g, emit_fn *emit, void *context) {
  struct variants all = {0}, plain = {0};
  uint32_t index;
  bool more = true;
  variants_of(s, g, &all);
  plain.at = memory_alloc((all.n + 1) * sizeof *plain.at);
  for (size_t i = 0; i < all.n && more; i++) {
    bool is_plain = space_rules(s, g->point, global_rounds(s, g), &all.at[i], &index)->plain;
    if (is_plain && all.at[i].optional)
      continue;
    if (s->plain || is_plain)
      plain.at[plain.n++] = all.at[i];
    else
      more = round_successors(s, g, &all.at[i], emit, NULL, context);
  }
  if (more && plain.n)
    more = plain_successors(s, g, &plain, emit, context);
  memory_free(all.at);
  memory_free(plain.at);
  return more;
}

/* --- the waist --- */

static struct round_space *round_of(struct space *space) { return (struct round_space *)space; }

static bool space_initial(struct space *space, emit_fn *emit, void *context) {
  struct round_space *s = round_of(space);
  if (!s->plain)
    return initial_states(s, emit, context);
  struct plain_step p = {s, NULL, emit, context, global_new(&s->pack), NULL};
  struct model_error error;
  bool more = config_initials(s->meaning, space->question->environment, plain_initial, &p, &error);
  if (!more && error.message)
    emit(context, NULL, &(struct edge){.error = arena_copy(&s->arena, &error, sizeof error)});
  global_free(p.next);
  return more;
}

static bool space_successors(struct space *space, const struct state *state, emit_fn *emit, void *context) {
  struct round_space *s = round_of(space);
  struct global *g = global_new(&s->pack);
  global_decode(&s->pack, state, g);
  uint32_t index;
  bool more = true;
  s->lottery = 0;
  if (s->lotteries) {
    intern_free(s->plain_lotteries);
    s->plain_lotteries = intern_new();
  }
  if (g->point != POINT_END && s->pack.nmarks) {
    more = marked_successors(s, g, emit, context);
  } else if (g->point != POINT_END) {
    const struct rules *r = space_rules(s, g->point, global_rounds(s, g), NULL, &index);
    more = s->plain || r->plain ? plain_successors(s, g, NULL, emit, context)
                                : round_successors(s, g, NULL, emit, NULL, context);
  }
  global_free(g);
  return more;
}

/* A frontier is cut where its tasks would take much room; what is merged is merged within a piece. */
#define TASKS_MOST 2000000

static bool space_expand(struct space *space, frontier_fn *next, emit_from_fn *emit, void *context) {
  struct round_space *s = round_of(space);
  if (!s->together)
    s->together = together_new(s);
  struct together *t = s->together;
  together_begin(t, emit, context);
  struct global *g = global_new(&s->pack);
  struct state state;
  uint64_t origin;
  uint32_t charge;
  bool more = true;
  while (more && next(context, &state, &origin, &charge)) {
    global_decode(&s->pack, &state, g);
    together_from(t, g, origin, charge);
    more = quick_task(s, g, t) || round_tasks(s, g, t);
    if (more && together_tasks(t) > TASKS_MOST)
      more = together_finish(t);
  }
  more = more && together_finish(t);
  global_free(g);
  return more;
}

static enum verdict3 space_holds(struct space *space, uint32_t i, const struct state *state,
                                 struct model_error *error) {
  return formula_holds(round_of(space), i, state, error);
}

static enum verdict3 space_atom(struct space *space, uint32_t i, const struct state *state, struct model_error *error) {
  return formula_holds(round_of(space), space->question->nproperties + i, state, error);
}

static bool space_stays(struct space *space, const struct state *state) {
  struct round_space *s = round_of(space);
  global_decode(&s->pack, state, s->scratch);
  return s->scratch->point == POINT_END;
}

static void space_stored(struct space *space, const struct state *state) {
  struct round_space *s = round_of(space);
  struct global *g = s->scratch;
  /* only the header is needed, but decoding all of it is cheap beside storing it */
  global_decode(&s->pack, state, g);
  if (g->point == POINT_END)
    return;
  uint32_t index;
  space_rules(s, g->point, global_rounds(s, g), NULL, &index);
  while (s->stored_at.n <= index)
    vec_push(&s->stored_at, 0);
  s->stored_at.at[index]++;
}

static bool space_assignments(struct space *space, struct text *decimal) {
  return count_assignments(round_of(space), decimal);
}

static struct space *space_another(struct space *space);

/* What is left out because something cheaper covers it depends on what came before. */
static bool leaves_out_covered(const struct round_space *s) { return s->base.together && s->pack.keep_lost; }

/* More states were stored at the rules of that index. */
static void add_stored(struct round_space *s, uint32_t i, uint64_t states) {
  uint32_t later = s->pack.from_cap + 1, point = s->pack.keep_rounds ? i / later : i, index;
  while (s->stored_at.n <= i)
    vec_push(&s->stored_at, 0);
  s->stored_at.at[i] += states;
  space_rules(s, point, s->pack.keep_rounds ? i % later : s->model->points[point].number - 1, NULL, &index);
}

static void space_join(struct space *space, struct space *other) {
  struct round_space *s = round_of(space), *o = round_of(other);
  space->order_mattered |= other->order_mattered;
  for (uint32_t i = 0; i < o->stored_at.n; i++) {
    add_stored(s, i, o->stored_at.at[i]);
    o->stored_at.at[i] = 0;
  }
}

static struct intern *space_names(struct space *space, uint32_t i) {
  struct round_space *s = round_of(space);
  if (leaves_out_covered(s))
    return NULL;
  return i == 0 ? s->pack.locals : i == 1 ? s->pack.vectors : NULL;
}

static uint32_t space_counts(struct space *space, const uint64_t **at) {
  *at = round_of(space)->stored_at.at;
  return (uint32_t)round_of(space)->stored_at.n;
}

static void space_set_counts(struct space *space, const uint64_t *at, uint32_t n) {
  vec_clear(&round_of(space)->stored_at);
  for (uint32_t i = 0; i < n; i++)
    add_stored(round_of(space), i, at[i]);
}

void round_space_save(struct space *space, struct saver *to) {
  struct round_space *s = round_of(space);
  space_save(space, to);
  save_names(to, s->pack.locals);
  save_names(to, s->pack.vectors);
  save_number(to, s->initial_states);
  save_number(to, s->stored_at.n);
  for (size_t i = 0; i < s->stored_at.n; i++)
    save_number(to, s->stored_at.at[i]);
}

void round_space_load(struct space *space, struct loader *from) {
  struct round_space *s = round_of(space);
  space_load(space, from);
  load_names(from, s->pack.locals);
  load_names(from, s->pack.vectors);
  s->initial_states = load_number(from);
  uint64_t n = load_below(from, (uint64_t)rules_place(s, s->model->npoints, 0) + 1);
  for (uint32_t i = 0; i < n; i++)
    add_stored(s, i, load_number(from));
}

static size_t space_memory(const struct space *space) {
  const struct round_space *s = (const struct round_space *)space;
  return pack_bytes(&s->pack) + intern_bytes(s->contexts) + intern_bytes(s->bags) + intern_bytes(s->offers) +
         intern_bytes(s->effects) + intern_bytes(s->vectors) + memo_bytes(&s->steps) + memo_bytes(&s->menus_of) +
         memo_bytes(&s->options_of) + memo_bytes(&s->after) + memo_bytes(&s->context_of);
}

static void space_free(struct space *space) {
  struct round_space *s = round_of(space);
  property_memos_free(s);
  together_free(s->together);
  pack_release(&s->pack);
  struct intern *tables[] = {s->contexts, s->bags, s->offers, s->effects, s->vectors, s->next_lists, s->rules_keys,
                             s->plain_lotteries};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    intern_free(tables[i]);
  struct memo *memos[] = {&s->context_of, &s->steps, &s->menus_of, &s->options_of, &s->after,
                          &s->sendings_of, &s->named_of, &s->quick_lists, &s->region_roots, &s->within_bag, &s->united, &s->oracles_of, &s->steps_broken,
                          &s->allowed_of, &s->demands_of, &s->opened, &s->outcomes_of};
  for (size_t i = 0; i < sizeof memos / sizeof *memos; i++)
    memo_release(memos[i]);
  vec_release(&s->lists);
  vec_release(&s->menus);
  vec_release(&s->options);
  vec_release(&s->errors);
  vec_release(&s->sendings);
  vec_release(&s->alternatives);
  vec_release(&s->stored_at);
  vec_release(&s->quick_sends);
  vec_release(&s->regions);
  vec_release(&s->demands);
  memory_free(s->rules);
  memory_free(s->buffer);
  global_free(s->scratch);
  arena_release(&s->arena);
  if (s->own_meaning)
    meaning_free(s->meaning);
  memory_free(s);
}

static const struct space_ops round_space_ops = {
    .initial = space_initial,
    .successors = space_successors,
    .expand = space_expand,
    .holds = space_holds,
    .concretise = round_concretise,
    .atom = space_atom,
    .stays = space_stays,
    .concretise_path = round_concretise_path,
    .stored = space_stored,
    .heard_of_assignments = space_assignments,
    .another = space_another,
    .join = space_join,
    .save = round_space_save,
    .load = round_space_load,
    .names = space_names,
    .counts = space_counts,
    .set_counts = space_set_counts,
    .memory = space_memory,
    .free = space_free,
};

/* --- making one --- */

static bool finds_coin(void *context, const struct node *n) {
  *(bool *)context |= n->op == NODE_RANDOM || !op_is_known(n->op);
  return true;
}

/* Is there a `random` in what some process sends? */
static bool sends_toss(const struct model *m) {
  bool found = false;
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t p = 0; p < m->npoints; p++)
      for (uint32_t i = 0; i < m->roles[r].body[p].nsends; i++) {
        const struct send *s = &m->roles[r].body[p].sends[i];
        node_walk_deep(m, s->message, finds_coin, &found);
        node_walk_deep(m, s->to, finds_coin, &found);
        node_walk_deep(m, s->guard.cond, finds_coin, &found);
        for (uint32_t k = 0; k < s->guard.ngen; k++) {
          node_walk_deep(m, s->guard.gen[k].range, finds_coin, &found);
          node_walk_deep(m, s->guard.gen[k].cond, finds_coin, &found);
        }
      }
  return found;
}

static bool reads_identity(void *context, const struct node *n) {
  bool *found = context;
  *found |= (op_traits(n->op) & (TRAIT_SELF | TRAIT_NUMBERED)) != 0;
  return !*found;
}

static void find_same_offers(struct round_space *s) {
  const struct model *m = s->model;
  s->same_offers = arena_array(&s->arena, m->npoints + 1, sizeof *s->same_offers);
  for (uint32_t p = 0; p < m->npoints; p++) {
    s->same_offers[p] = s->group && !s->explicit_senders;
    for (uint32_t r = 0; r < m->nroles; r++) {
      enum received_use use = s->updates[(size_t)r * m->npoints + p]->received;
      if (!s->pack.bag && (use == RECEIVED_NAMED || use == RECEIVED_SENDERS))
        s->same_offers[p] = false;
      for (uint32_t i = 0; i < m->roles[r].body[p].nsends; i++)
        if (m->roles[r].body[p].sends[i].target != TARGET_SET)
          s->same_offers[p] = false;
    }
  }
}

static void find_same_starts(struct round_space *s) {
  s->same_start = arena_array(&s->arena, s->model->nroles + 1, sizeof *s->same_start);
  for (uint32_t r = 0; r < s->model->nroles; r++) {
    bool found = false;
    for (uint32_t i = 0; i < s->model->roles[r].nvars; i++) {
      if (s->model->roles[r].vars[i].init)
        node_walk(s->model->roles[r].vars[i].init, reads_identity, &found);
      if (s->model->roles[r].vars[i].where)
        node_walk(s->model->roles[r].vars[i].where, reads_identity, &found);
    }
    s->same_start[r] = !found && s->model->ndefs == 0;
  }
}

/* The rules of every round, without marks and with each of them; false stops. opened: the mark has a witness that must be
   chosen. */
typedef bool rules_fn(void *context, const struct rules *, uint32_t point, bool opened);

static bool rules_each(struct round_space *s, rules_fn *visit, void *context) {
  const struct model *m = s->model;
  uint32_t environment = s->base.question->environment;
  for (uint32_t p = 0; p < m->npoints; p++) {
    uint32_t first = s->pack.keep_rounds ? 0 : m->points[p].number - 1;
    uint32_t last = s->pack.keep_rounds ? s->pack.from_cap : first;
    for (uint32_t rounds = first; rounds <= last; rounds++) {
      if (!visit(context, rules_of(s->meaning, environment, p, rounds, NULL, 0, &s->arena), p, false))
        return false;
      for (uint32_t i = 0; i < s->pack.nmarks; i++) {
        const struct clause *c = s->pack.marks[i];
        struct demand d = {.clause = c, .parts = c->unit == EACH_PHASE && s->pack.long_phases};
        bool opened = c->nwitness && (d.parts || c->nrigid || !rules_know(s->meaning, environment, p, rounds, c));
        if (!visit(context, rules_of(s->meaning, environment, p, rounds, &d, 1, &s->arena), p, opened))
          return false;
      }
    }
  }
  return true;
}

struct bag_look {
  struct round_space *space;
  bool counting, to_others;
  const char *why;
};

static bool look_for_bag(void *context, const struct rules *r, uint32_t point, bool opened) {
  struct bag_look *b = context;
  (void)point;
  if (r->plain)
    b->why = r->plain;
  else if (opened || r->nfilters)
    b->why = "a condition on whom a certain process hears";
  else if (r->coupling == COUPLED_NOSPLIT && b->counting)
    b->why = "no-split rounds with updates that count";
  else if (r->coupling == COUPLED_KERNEL && r->nsizes)
    b->why = "a kernel together with another condition on heard-of sets";
  else if (r->coupling != COUPLED_NOT && b->to_others)
    b->why = "coupled heard-of sets with messages to some";
  return !b->why;
}

/* Bags need every receiver of a class to be alike in all respects; what couples heard-of sets must be decided by
   which groups are heard, not by how many of a group. */
static bool bag_possible(struct round_space *s, const char **why) {
  const struct model *m = s->model;
  struct bag_look look = {.space = s};
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t p = 0; p < m->npoints; p++) {
      look.counting |= s->updates[(size_t)r * m->npoints + p]->counts;
      for (uint32_t i = 0; i < m->roles[r].body[p].nsends; i++) {
        enum target_kind t = m->roles[r].body[p].sends[i].target;
        look.to_others |= t != TARGET_SET;
      }
    }
  bool possible = rules_each(s, look_for_bag, &look);
  *why = look.why;
  return possible && s->group;
}

struct sender_look {
  struct round_space *space;
  bool kernel, sizes;
};

static bool look_for_senders(void *context, const struct rules *r, uint32_t point, bool opened) {
  struct sender_look *l = context;
  struct round_space *s = l->space;
  (void)opened;
  l->kernel |= r->coupling == COUPLED_KERNEL;
  l->sizes |= r->nsizes > 0;
  s->explicit_senders |= r->coupling == COUPLED_KERNEL && r->nsizes;
  for (uint32_t role = 0; role < s->model->nroles; role++)
    s->explicit_senders |=
        r->coupling == COUPLED_NOSPLIT && s->updates[(size_t)role * s->model->npoints + point]->counts;
  return true;
}

struct plain_look {
  const struct round_space *space;
  const char *why;
};

static bool look_for_plain(void *context, const struct rules *r, uint32_t point, bool opened) {
  struct plain_look *l = context;
  (void)point;
  if (r->plain && !opened)
    l->why = r->plain;
  else if (r->coupling == COUPLED_NOSPLIT && l->space->model->nprocesses > 63 && !l->space->pack.bag)
    l->why = "no-split rounds of more than 63 processes that can be told apart";
  return !l->why;
}

static const char *first_plain(struct round_space *s) {
  struct plain_look look = {.space = s};
  rules_each(s, look_for_plain, &look);
  return look.why;
}

static bool hopes_name_processes(const struct round_space *s) {
  for (uint32_t i = 0; i < s->pack.nmarks && s->pack.keep_hope; i++)
    for (uint32_t k = 0; k < s->pack.marks[i]->nwitness; k++)
      if (type_mentions(s->pack.marks[i]->witness[k].type, TYPE_PROCESS))
        return true;
  return false;
}

static void choose_form(struct round_space *s, bool plain) {
  const struct licences *l = s->base.licences;
  const char *why = NULL;
  bool symmetric = l->of[REDUCE_SYMMETRY].applied;
  s->group = l->of[REDUCE_MESSAGE_ORDER].applied;
  s->pack.bag = symmetric && l->anonymous && !plain && bag_possible(s, &why);
  if (symmetric && !s->pack.bag) {
    bool identities = s->model->nglobals > s->pack.nfollowed || hopes_name_processes(s);
    for (uint32_t r = 0; r < s->model->nroles; r++)
      for (uint32_t i = 0; i < s->model->roles[r].nvars; i++)
        identities |= type_mentions(s->model->roles[r].vars[i].type, TYPE_PROCESS);
    s->pack.permute = identities;
    s->pack.sort = !identities;
  }
  /* No-split with counting updates, and a kernel with conditions on sizes: sender by sender. */
  struct sender_look look = {.space = s};
  if (!s->pack.bag) {
    rules_each(s, look_for_senders, &look);
    s->explicit_senders |= s->pack.nmarks && look.kernel && look.sizes; /* of two marks at once */
  }
  const char *reason = first_plain(s);
  s->base.successors = plain ? "plain: asked for"
                       : reason ? arena_printf(&s->arena, "plain in some rounds: %s", reason)
                                : "outcomes";
}

/* Edges are lost, so step properties must be seen line by line; one budget of lost messages can be kept. */
static bool can_expand_together(struct round_space *s) {
  uint32_t budgets = 0;
  for (uint32_t i = 0; i < s->env->nclauses; i++)
    budgets += s->env->clauses[i].kind == CLAUSE_LOST;
  return s->base.licences->of[REDUCE_MERGING].applied && !question_live(s->model, s->base.question) && !s->plain && !first_plain(s) && !s->nglobal_steps &&
         budgets <= 1;
}

/* With the names of the first one, if there is one. */
static struct round_space *make(struct meaning *meaning, struct model *m, const struct question *q, const struct licences *l,
                                const struct space_options *options, struct round_space *first) {
  struct round_space *s = memory_alloc(sizeof *s);
  s->base = (struct space){.ops = &round_space_ops, .model = m, .question = q, .licences = l,
                           .edges_complete = true};
  s->meaning = meaning;
  s->model = m;
  s->env = &m->environments[q->environment];
  s->plain = options->successors == SUCCESSORS_PLAIN;
  s->menus_by = options->successors == SUCCESSORS_ENUMERATE ? MENUS_BY_ENUMERATION
                : options->successors == SUCCESSORS_REGIONS ? MENUS_BY_REGIONS : MENUS_BY_EITHER;
  arena_init(&s->arena);
  s->contexts = intern_new();
  s->bags = intern_new();
  s->offers = intern_new();
  s->effects = intern_new();
  s->vectors = intern_new();
  s->next_lists = intern_new();
  s->rules_keys = intern_new();
  s->plain_lotteries = intern_new();
  s->lotteries = question_live(m, q) && m->properties[q->properties[0]].almost_surely;
  s->base.lotteries = s->lotteries;
  if (s->lotteries && sends_toss(m))
    s->base.coins_lost = "a message depends on a coin that is tossed when it is sent";
  s->made_with = *options;
  pack_init(&s->pack, meaning, m, q, l);
  if (first)
    pack_share(&s->pack, &first->pack);
  size_t n = (size_t)m->nroles * m->npoints;
  s->sends = arena_array(&s->arena, n + 1, sizeof *s->sends);
  s->updates = arena_array(&s->arena, n + 1, sizeof *s->updates);
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t p = 0; p < m->npoints; p++) {
      s->sends[(size_t)r * m->npoints + p] = reads_of_sends(m, r, p, &s->arena);
      s->updates[(size_t)r * m->npoints + p] = reads_of_update(m, r, p, &s->arena);
    }
  s->all_costs = !l->of[REDUCE_MERGING].applied;
  choose_form(s, s->plain);
  find_same_starts(s);
  find_same_offers(s);
  step_checks_prepare(s);
  quick_prepare(s);
  s->base.together = can_expand_together(s);
  s->base.edges_complete = !s->base.together;
  s->scratch = global_new(&s->pack);
  return s;
}

struct space *round_space_new(struct meaning *meaning, struct model *m, const struct question *q,
                              const struct licences *l, const struct space_options *options) {
  return &make(meaning, m, q, l, options, NULL)->base;
}

static struct space *space_another(struct space *space) {
  struct round_space *first = round_of(space);
  if (question_live(first->model, space->question) || leaves_out_covered(first))
    return NULL;
  struct meaning *meaning = meaning_new(first->model);
  meaning_follow(meaning, first->meaning->semantics, first->meaning->arrivals);
  meaning_watch(meaning, first->meaning->stop);
  struct round_space *s = make(meaning, first->model, space->question, space->licences, &first->made_with, first);
  s->own_meaning = true;
  return &s->base;
}
