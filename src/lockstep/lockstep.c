#include "lockstep/lockstep.h"

#include "analysis/dataflow.h"
#include "interp/run_clauses.h"
#include "lockstep/fast_path.h"
#include "lockstep/heard_of_count.h"
#include "lockstep/layer_product.h"
#include "lockstep/lockstep_concretise.h"
#include "lockstep/lockstep_initial.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/lockstep_property.h"
#include "lockstep/lockstep_system.h"
#include "lockstep/outcome_product.h"
#include "lockstep/outcome_set.h"
#include "lockstep/probabilistic_choice.h"
#include "system/initial_enumeration.h"
#include "system/property_values.h"

#include <string.h>

/* --- rules, made once for each distinct round --- */

uint32_t global_rounds(const struct lockstep *s, const struct unpacked_state *g) {
  return s->pack.kept.rounds ? g->rounds : s->model->points[g->point].number - 1;
}

static uint32_t rules_place(struct lockstep *s, uint32_t point, uint32_t rounds) {
  uint32_t later = rounds < s->pack.kept.from_cap ? rounds : s->pack.kept.from_cap;
  return s->pack.kept.rounds ? point * (s->pack.kept.from_cap + 1) + later : point;
}

const struct rules *lockstep_rules(struct lockstep *s, uint32_t point, uint32_t rounds, const struct round_variant *v,
                                   uint32_t *index) {
  uint32_t i = rules_place(s, point, rounds);
  if (v && v->demanded) { /* stored after those without demands */
    int64_t key[2] = {i, v->demanded};
    i = rules_place(s, s->model->npoints, 0) + intern_put(s->rules.keys, key, 2);
  }
  if (i >= s->rules.n) {
    s->rules.at = memory_resize_array(s->rules.at, i + 1, sizeof *s->rules.at);
    memset(s->rules.at + s->rules.n, 0, (i + 1 - s->rules.n) * sizeof *s->rules.at);
    s->rules.n = i + 1;
  }
  if (!s->rules.at[i])
    s->rules.at[i] = rules_of(s->interp, s->base.query->environment, point, rounds, v ? v->demands : NULL,
                              v ? v->ndemands : 0, &s->arena);
  *index = i;
  return s->rules.at[i];
}

/* --- plain enumeration --- */

struct lockstep_plain_step {
  struct lockstep *system;
  const struct config *from;
  emit_fn *emit;
  void *context;
  struct unpacked_state *next;
  const struct round_variants *variants; /* the variants that need plain enumeration; NULL: there are no marks */
};

static bool emit_plain(struct lockstep *s, const struct config *c, struct unpacked_state *g, uint32_t obligation,
                       struct edge *edge, emit_fn *emit, void *context, bool drop_dead) {
  global_from_config(&s->pack, c, g);
  g->obligation = obligation;
  for (uint32_t i = 0; i < g->n; i++)
    g->at[i].local =
        drop_dead ? local_drop_dead(&s->pack, g->at[i].local, g->point) : local_at_start(&s->pack, g->at[i].local);
  global_canonical(&s->pack, g, NULL);
  struct state state;
  global_encode(&s->pack, g, &s->buffer, &s->buffer_capacity, &state);
  return emit(context, &state, edge);
}

static bool plain_initial(void *context, const struct config *c) {
  struct lockstep_plain_step *p = context;
  struct edge edge = {0};
  for (uint32_t q = 0; q < c->nprocesses; q++)
    edge.processes += (c->local[q][LOCAL_STATUS] & STATUS_FAULTY) != 0;
  p->system->initial_states++;
  return emit_plain(p->system, c, p->next, 0, &edge, p->emit, p->context, false);
}

bool demands_hold(struct interpreter *interp, const struct round_variant *v, const struct config *c,
                  const struct witness *w) {
  for (uint32_t i = 0; i < v->ndemands; i++) {
    const struct demand *d = &v->demands[i];
    if (!(d->parts ? clause_parts_hold(interp, d->clause, d->bound, c, w) : clause_pred_holds(interp, d->clause, c, w)))
      return false;
  }
  return true;
}

static bool plain_next(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  struct lockstep_plain_step *p = context;
  struct lockstep *s = p->system;
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
  edge.broken = broken_step_properties(s->interp, s->base.query, UINT64_MAX, p->from, next);
  uint32_t adversary_choice = s->coins.used ? plain_adversary_choice(s, p->from, w) : 0;
  edge.adversary_choice = s->coins.used ? adversary_choice + 1 : 0;
  if (!p->variants)
    return emit_plain(s, next, p->next, 0, &edge, p->emit, p->context, true);
  bool more = true;
  for (size_t i = 0; i < p->variants->n && more; i++) {
    const struct round_variant *v = &p->variants->at[i];
    edge.marks = v->marks;
    if (s->coins.used)
      edge.adversary_choice = s->coins.adversary_choice + (uint32_t)p->variants->n * adversary_choice + (uint32_t)i + 1;
    if (demands_hold(s->interp, v, p->from, w))
      more = emit_plain(s, next, p->next, v->obligation, &edge, p->emit, p->context, true);
  }
  return more;
}

static bool plain_successors(struct lockstep *s, const struct unpacked_state *g, const struct round_variants *variants,
                             emit_fn *emit, void *context) {
  struct config *c = global_to_config(&s->pack, g);
  struct lockstep_plain_step p = {s, c, emit, context, global_new(&s->pack), variants};
  bool more = config_successors(s->interp, s->base.query->environment, c, plain_next, &p);
  config_free(c);
  global_free(p.next);
  return more;
}

/* Every edge, with every set of marks that it can have. */
static bool marked_successors(struct lockstep *s, const struct unpacked_state *g, emit_fn *emit, void *context) {
  struct round_variants all = {0}, plain = {0};
  uint32_t index;
  bool more = true;
  variants_of(s, g, &all);
  plain.at = memory_alloc((all.n + 1) * sizeof *plain.at);
  for (size_t i = 0; i < all.n && more; i++) {
    bool is_plain = lockstep_rules(s, g->point, global_rounds(s, g), &all.at[i], &index)->plain;
    if (is_plain && all.at[i].optional)
      continue;
    if (s->form.plain || is_plain)
      plain.at[plain.n++] = all.at[i];
    else
      more = lockstep_successors(s, g, &all.at[i], emit, NULL, context);
  }
  if (more && plain.n)
    more = plain_successors(s, g, &plain, emit, context);
  memory_free(all.at);
  memory_free(plain.at);
  return more;
}

/* --- the interface of transition systems --- */

static struct lockstep *lockstep_of(struct system *system) { return (struct lockstep *)system; }

static bool lockstep_initial(struct system *system, emit_fn *emit, void *context) {
  struct lockstep *s = lockstep_of(system);
  if (!s->form.plain)
    return initial_states(s, emit, context);
  struct lockstep_plain_step p = {s, NULL, emit, context, global_new(&s->pack), NULL};
  struct model_error error;
  bool more = config_initials(s->interp, system->query->environment, plain_initial, &p, &error);
  if (!more && error.message)
    emit_initial_error(&s->arena, &error, emit, context);
  global_free(p.next);
  return more;
}

static bool lockstep_all_successors(struct system *system, const struct state *state, emit_fn *emit, void *context) {
  struct lockstep *s = lockstep_of(system);
  struct unpacked_state *g = global_new(&s->pack);
  global_decode(&s->pack, state, g);
  uint32_t index;
  bool more = true;
  s->coins.adversary_choice = 0;
  if (s->coins.used) {
    intern_free(s->coins.plain_adversary_choices);
    s->coins.plain_adversary_choices = intern_new();
  }
  if (g->point != POINT_END && s->pack.nmarks) {
    more = marked_successors(s, g, emit, context);
  } else if (g->point != POINT_END) {
    const struct rules *r = lockstep_rules(s, g->point, global_rounds(s, g), NULL, &index);
    more = s->form.plain || r->plain ? plain_successors(s, g, NULL, emit, context)
                                     : lockstep_successors(s, g, NULL, emit, NULL, context);
  }
  global_free(g);
  return more;
}

/* A frontier is expanded in pieces, to limit the memory for tasks; merging happens within a piece. */
#define TASKS_MOST 2000000

static bool lockstep_expand(struct system *system, frontier_fn *next, emit_from_fn *emit, void *context) {
  struct lockstep *s = lockstep_of(system);
  if (!s->layerwise)
    s->layerwise = layer_product_new(s);
  struct layer_product *t = s->layerwise;
  layer_product_begin(t, emit, context);
  struct unpacked_state *g = global_new(&s->pack);
  struct state state;
  uint64_t origin;
  uint32_t fault_cost;
  bool more = true;
  while (more && next(context, &state, &origin, &fault_cost)) {
    global_decode(&s->pack, &state, g);
    layer_product_from(t, g, origin, fault_cost);
    more = fast_path_task(s, g, t) || lockstep_tasks(s, g, t);
    if (more && layer_product_ntasks(t) > TASKS_MOST)
      more = layer_product_finish(t);
  }
  more = more && layer_product_finish(t);
  global_free(g);
  return more;
}

static enum verdict3 lockstep_holds(struct system *system, uint32_t i, const struct state *state,
                                    struct model_error *error) {
  return formula_holds(lockstep_of(system), i, state, error);
}

static enum verdict3 lockstep_atom(struct system *system, uint32_t i, const struct state *state,
                                   struct model_error *error) {
  return formula_holds(lockstep_of(system), system->query->nproperties + i, state, error);
}

static bool lockstep_stutters_forever(struct system *system, const struct state *state) {
  struct lockstep *s = lockstep_of(system);
  global_decode(&s->pack, state, s->scratch);
  return s->scratch->point == POINT_END;
}

static void lockstep_stored(struct system *system, const struct state *state) {
  struct lockstep *s = lockstep_of(system);
  struct unpacked_state *g = s->scratch;
  /* only the header is needed, but decoding the whole state is cheap compared with storing it */
  global_decode(&s->pack, state, g);
  if (g->point == POINT_END)
    return;
  uint32_t index;
  lockstep_rules(s, g->point, global_rounds(s, g), NULL, &index);
  while (s->stored_at.n <= index)
    vec_push(&s->stored_at, 0);
  s->stored_at.at[index]++;
}

static bool lockstep_assignments(struct system *system, struct text *decimal) {
  return heard_of_count(lockstep_of(system), decimal);
}

static struct system *lockstep_clone(struct system *system);

/* Which states are left out as subsumed depends on the states expanded before. */
static bool omits_subsumed(const struct lockstep *s) { return s->base.layerwise && s->pack.kept.lost; }

/* Counts states that were stored for the rules with that index. */
static void add_stored(struct lockstep *s, uint32_t i, uint64_t states) {
  uint32_t later = s->pack.kept.from_cap + 1, point = s->pack.kept.rounds ? i / later : i, index;
  while (s->stored_at.n <= i)
    vec_push(&s->stored_at, 0);
  s->stored_at.at[i] += states;
  lockstep_rules(s, point, s->pack.kept.rounds ? i % later : s->model->points[point].number - 1, NULL, &index);
}

static void lockstep_join(struct system *system, struct system *other) {
  struct lockstep *s = lockstep_of(system), *o = lockstep_of(other);
  system->order_mattered |= other->order_mattered;
  for (uint32_t i = 0; i < o->stored_at.n; i++) {
    add_stored(s, i, o->stored_at.at[i]);
    o->stored_at.at[i] = 0;
  }
}

static struct intern *lockstep_names(struct system *system, uint32_t i) {
  struct lockstep *s = lockstep_of(system);
  if (omits_subsumed(s))
    return NULL;
  return i == 0 ? s->pack.locals : i == 1 ? s->pack.vectors : NULL;
}

static uint32_t lockstep_counts(struct system *system, const uint64_t **at) {
  *at = lockstep_of(system)->stored_at.at;
  return (uint32_t)lockstep_of(system)->stored_at.n;
}

static void lockstep_set_counts(struct system *system, const uint64_t *at, uint32_t n) {
  vec_clear(&lockstep_of(system)->stored_at);
  for (uint32_t i = 0; i < n; i++)
    add_stored(lockstep_of(system), i, at[i]);
}

void lockstep_save(struct system *system, struct saver *to) {
  struct lockstep *s = lockstep_of(system);
  system_save_common(system, to);
  save_intern(to, s->pack.locals);
  save_intern(to, s->pack.vectors);
  save_number(to, s->initial_states);
  save_number(to, s->stored_at.n);
  for (size_t i = 0; i < s->stored_at.n; i++)
    save_number(to, s->stored_at.at[i]);
}

void lockstep_load(struct system *system, struct loader *from) {
  struct lockstep *s = lockstep_of(system);
  system_load_common(system, from);
  load_intern(from, s->pack.locals);
  load_intern(from, s->pack.vectors);
  s->initial_states = load_number(from);
  uint64_t n = load_below(from, (uint64_t)rules_place(s, s->model->npoints, 0) + 1);
  for (uint32_t i = 0; i < n; i++)
    add_stored(s, i, load_number(from));
  from->bad |= !locals_are_sound(&s->pack);
}

static bool lockstep_valid(struct system *system, const struct state *state) {
  return global_key_is_sound(&lockstep_of(system)->pack, state);
}

static void rule_tables_release(struct rule_tables *r) {
  memory_free(r->at);
  intern_free(r->keys);
  memo_release(&r->demands_of);
  vec_release(&r->demands);
  memo_release(&r->opened);
  memo_release(&r->allowed_of);
}

static size_t rule_tables_bytes(const struct rule_tables *r) {
  return r->n * sizeof *r->at + intern_bytes(r->keys) + memo_bytes(&r->demands_of) + vec_bytes(&r->demands) +
         memo_bytes(&r->opened) + memo_bytes(&r->allowed_of);
}

static size_t lockstep_memory(const struct system *system) {
  const struct lockstep *s = (const struct lockstep *)system;
  return pack_bytes(&s->pack) + arena_bytes(&s->arena) + intern_bytes(s->vectors) + rule_tables_bytes(&s->rules) +
         local_step_tables_bytes(&s->local) + outcome_tables_bytes(&s->outcomes) +
         intern_bytes(s->coins.plain_adversary_choices) + memo_bytes(&s->coins.results_of) + property_tables_bytes(s) +
         (s->layerwise ? layer_product_bytes(s->layerwise) : 0) + memo_bytes(&s->fast_path_lists) +
         vec_bytes(&s->stored_at) + s->buffer_capacity;
}

static void lockstep_free(struct system *system) {
  struct lockstep *s = lockstep_of(system);
  property_tables_release(s);
  layer_product_free(s->layerwise);
  pack_release(&s->pack);
  rule_tables_release(&s->rules);
  local_step_tables_release(&s->local);
  outcome_tables_release(&s->outcomes);
  intern_free(s->coins.plain_adversary_choices);
  memo_release(&s->coins.results_of);
  memo_release(&s->fast_path_lists);
  intern_free(s->vectors);
  vec_release(&s->stored_at);
  memory_free(s->buffer);
  global_free(s->scratch);
  arena_release(&s->arena);
  if (s->owns_interp)
    interpreter_free(s->interp);
  memory_free(s);
}

static const struct system_ops lockstep_ops = {
    .initial = lockstep_initial,
    .successors = lockstep_all_successors,
    .expand = lockstep_expand,
    .holds = lockstep_holds,
    .concretise = lockstep_concretise,
    .atom = lockstep_atom,
    .liveness.stutters_forever = lockstep_stutters_forever,
    .liveness.concretise_path = lockstep_concretise_path,
    .statistics.stored = lockstep_stored,
    .statistics.heard_of_assignments = lockstep_assignments,
    .threads.clone = lockstep_clone,
    .threads.join = lockstep_join,
    .checkpoint.save = lockstep_save,
    .checkpoint.load = lockstep_load,
    .checkpoint.valid = lockstep_valid,
    .ranks.names = lockstep_names,
    .ranks.counts = lockstep_counts,
    .ranks.set_counts = lockstep_set_counts,
    .memory = lockstep_memory,
    .free = lockstep_free,
};

/* --- constructor --- */

/* Does some process use `random` when it sends? */
static bool sends_toss_coins(const struct model *m) {
  bool found = false;
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t p = 0; p < m->npoints; p++)
      for (uint32_t i = 0; i < m->roles[r].body[p].nsends; i++) {
        const struct send *s = &m->roles[r].body[p].sends[i];
        found |= node_has_op_deep(m, s->message, NODE_RANDOM) || node_has_op_deep(m, s->to, NODE_RANDOM) ||
                 node_has_op_deep(m, s->guard.cond, NODE_RANDOM);
        for (uint32_t k = 0; k < s->guard.ngen; k++)
          found |= node_has_op_deep(m, s->guard.gen[k].range, NODE_RANDOM) ||
                   node_has_op_deep(m, s->guard.gen[k].cond, NODE_RANDOM);
      }
  return found;
}

static void find_same_receivables(struct lockstep *s) {
  const struct model *m = s->model;
  s->form.same_receivables = arena_array(&s->arena, m->npoints + 1, sizeof *s->form.same_receivables);
  for (uint32_t p = 0; p < m->npoints; p++) {
    s->form.same_receivables[p] = s->form.group && !s->form.explicit_senders;
    for (uint32_t r = 0; r < m->nroles; r++) {
      enum received_use use = s->local.updates[(size_t)r * m->npoints + p]->received;
      if (!s->pack.bag && (use == RECEIVED_NAMED || use == RECEIVED_SENDERS))
        s->form.same_receivables[p] = false;
      for (uint32_t i = 0; i < m->roles[r].body[p].nsends; i++)
        if (m->roles[r].body[p].sends[i].target != TARGET_SET)
          s->form.same_receivables[p] = false;
    }
  }
}

/* Visits the rules of every round, without marks and with each mark; visit returns false to stop. opened: the mark has
   a witness that must be chosen. */
typedef bool rules_fn(void *context, const struct rules *, uint32_t point, bool opened);

static bool rules_each(struct lockstep *s, rules_fn *visit, void *context) {
  const struct model *m = s->model;
  uint32_t environment = s->base.query->environment;
  for (uint32_t p = 0; p < m->npoints; p++) {
    uint32_t first = s->pack.kept.rounds ? 0 : m->points[p].number - 1;
    uint32_t last = s->pack.kept.rounds ? s->pack.kept.from_cap : first;
    for (uint32_t rounds = first; rounds <= last; rounds++) {
      if (!visit(context, rules_of(s->interp, environment, p, rounds, NULL, 0, &s->arena), p, false))
        return false;
      for (uint32_t i = 0; i < s->pack.nmarks; i++) {
        const struct clause *c = s->pack.marks[i];
        struct demand d = {.clause = c, .parts = c->unit == EACH_PHASE && s->pack.long_phases};
        bool opened = c->nwitness && (d.parts || c->nrigid || !rules_known(s->interp, environment, p, rounds, c));
        if (!visit(context, rules_of(s->interp, environment, p, rounds, &d, 1, &s->arena), p, opened))
          return false;
      }
    }
  }
  return true;
}

struct bag_check {
  struct lockstep *system;
  bool counting, to_others;
  const char *why;
};

static bool check_bag(void *context, const struct rules *r, uint32_t point, bool opened) {
  struct bag_check *b = context;
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

/* Bags require that the receivers of a class are indistinguishable. A condition that couples heard-of sets must depend
   on which groups are heard, not on how many of a group. */
static bool bag_possible(struct lockstep *s, const char **why) {
  const struct model *m = s->model;
  struct bag_check look = {.system = s};
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t p = 0; p < m->npoints; p++) {
      look.counting |= s->local.updates[(size_t)r * m->npoints + p]->counts;
      for (uint32_t i = 0; i < m->roles[r].body[p].nsends; i++) {
        enum target_kind t = m->roles[r].body[p].sends[i].target;
        look.to_others |= t != TARGET_SET;
      }
    }
  bool possible = rules_each(s, check_bag, &look);
  *why = look.why;
  return possible && s->form.group;
}

struct sender_check {
  struct lockstep *system;
  bool kernel, sizes;
};

static bool check_senders(void *context, const struct rules *r, uint32_t point, bool opened) {
  struct sender_check *l = context;
  struct lockstep *s = l->system;
  (void)opened;
  l->kernel |= r->coupling == COUPLED_KERNEL;
  l->sizes |= r->nsizes > 0;
  s->form.explicit_senders |= r->coupling == COUPLED_KERNEL && r->nsizes;
  for (uint32_t role = 0; role < s->model->nroles; role++)
    s->form.explicit_senders |=
        r->coupling == COUPLED_NOSPLIT && s->local.updates[(size_t)role * s->model->npoints + point]->counts;
  return true;
}

static bool check_plain(void *context, const struct rules *r, uint32_t point, bool opened) {
  const char **why = context;
  (void)point;
  if (r->plain && !opened)
    *why = r->plain;
  return !*why;
}

static const char *first_plain(struct lockstep *s) {
  const char *why = NULL;
  rules_each(s, check_plain, &why);
  return why;
}

static bool obligations_name_processes(const struct lockstep *s) {
  for (uint32_t i = 0; i < s->pack.nmarks && s->pack.kept.obligation; i++)
    for (uint32_t k = 0; k < s->pack.marks[i]->nwitness; k++)
      if (type_contains_kind(s->pack.marks[i]->witness[k].type, TYPE_PROCESS))
        return true;
  return false;
}

static void choose_form(struct lockstep *s, bool plain) {
  const struct licences *l = s->base.licences;
  const char *why = NULL;
  bool symmetric = l->of[REDUCE_SYMMETRY].applied;
  s->form.group = l->of[REDUCE_MESSAGE_ORDER].applied;
  s->pack.bag = symmetric && l->anonymous && !plain && bag_possible(s, &why);
  if (symmetric && !s->pack.bag) {
    bool identities = s->model->nglobals > s->pack.nfollowed || obligations_name_processes(s);
    for (uint32_t r = 0; r < s->model->nroles; r++)
      for (uint32_t i = 0; i < s->model->roles[r].nvars; i++)
        identities |= type_contains_kind(s->model->roles[r].vars[i].type, TYPE_PROCESS);
    s->pack.permute = identities;
    s->pack.sort = !identities;
  }
  /* No-split with counting updates, and a kernel with conditions on sizes: senders are distinguished. */
  struct sender_check look = {.system = s};
  if (!s->pack.bag) {
    rules_each(s, check_senders, &look);
    s->form.explicit_senders |= s->pack.nmarks && look.kernel && look.sizes; /* the two may come from different marks */
  }
  const char *reason = first_plain(s);
  s->base.successors = plain    ? "plain: asked for"
                       : reason ? arena_printf(&s->arena, "plain in some rounds: %s", reason)
                                : "outcomes";
}

/* Merging loses edges, so step properties must be decidable for each outcome separately. Only one budget of lost
   messages can be tracked. */
static bool can_expand_layers(struct lockstep *s) {
  uint32_t budgets = 0;
  for (uint32_t i = 0; i < s->env->nclauses; i++)
    budgets += s->env->clauses[i].kind == CLAUSE_LOST;
  return s->base.licences->of[REDUCE_MERGING].applied && !query_is_live(s->model, s->base.query) && !s->form.plain &&
         !first_plain(s) && !s->properties.nglobal_steps && budgets <= 1;
}

/* `first`: the system whose intern tables are shared, or NULL. */
static struct lockstep *lockstep_make(struct interpreter *interp, struct model *m, const struct query *q,
                                      const struct licences *l, const struct system_options *options,
                                      struct lockstep *first) {
  struct lockstep *s = memory_alloc(sizeof *s);
  s->base = (struct system){.ops = &lockstep_ops, .model = m, .query = q, .licences = l, .edges_complete = true};
  s->interp = interp;
  s->model = m;
  s->env = &m->environments[q->environment];
  s->form.plain = options->successors == SUCCESSORS_PLAIN;
  arena_init(&s->arena);
  local_step_tables_init(&s->local, m, &s->arena);
  outcome_tables_init(&s->outcomes, options->successors == SUCCESSORS_ENUMERATE ? OUTCOMES_BY_ENUMERATION
                                    : options->successors == SUCCESSORS_REGIONS ? OUTCOMES_BY_REGIONS
                                                                                : OUTCOMES_BY_EITHER);
  s->vectors = intern_new();
  s->rules.keys = intern_new();
  s->coins.plain_adversary_choices = intern_new();
  s->coins.used = query_is_live(m, q) && m->properties[q->properties[0]].almost_surely;
  s->base.probabilistic = s->coins.used;
  if (s->coins.used && sends_toss_coins(m))
    s->base.coins_lost = "a message depends on a coin that is tossed when it is sent";
  s->made_with = *options;
  pack_init(&s->pack, interp, m, q, l);
  if (first)
    pack_share(&s->pack, &first->pack);
  s->form.all_costs = !l->of[REDUCE_MERGING].applied;
  choose_form(s, s->form.plain);
  find_same_receivables(s);
  step_checks_prepare(s);
  fast_path_prepare(s);
  s->base.layerwise = can_expand_layers(s);
  s->base.edges_complete = !s->base.layerwise;
  s->scratch = global_new(&s->pack);
  return s;
}

struct system *lockstep_new(struct interpreter *interp, struct model *m, const struct query *q,
                            const struct licences *l, const struct system_options *options) {
  return &lockstep_make(interp, m, q, l, options, NULL)->base;
}

static struct system *lockstep_clone(struct system *system) {
  struct lockstep *first = lockstep_of(system);
  if (query_is_live(first->model, system->query) || omits_subsumed(first))
    return NULL;
  struct interpreter *interp = interpreter_new(first->model);
  interpreter_follow(interp, first->interp->semantics, first->interp->arrivals);
  interpreter_watch(interp, first->interp->stop);
  interp->coverage = first->interp->coverage;
  struct lockstep *s = lockstep_make(interp, first->model, system->query, system->licences, &first->made_with, first);
  s->owns_interp = true;
  return &s->base;
}
