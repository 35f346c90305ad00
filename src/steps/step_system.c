#include "steps/step_system_internal.h"

#include "analysis/action_use.h"
#include "analysis/model_visitor.h"
#include "interp/local.h"
#include "steps/automorphic.h"
#include "steps/constant_memory.h"
#include "steps/dead_data.h"
#include "steps/may_enable.h"
#include "steps/move_caches.h"
#include "steps/normalise.h"
#include "steps/per_message.h"
#include "steps/process_moves.h"
#include "steps/relative_rounds.h"
#include "steps/sample_contents.h"
#include "steps/step_concretise.h"
#include "steps/step_fairness.h"
#include "steps/step_initial.h"
#include "steps/step_properties.h"
#include "steps/step_successors.h"
#include "steps/stubborn_sets.h"
#include "steps/transition_fusion.h"
#include "system/property_values.h"

#include <string.h>

/* --- keys of states --- */

static void keep_farthest(struct step_system *s, uint32_t distance, const uint64_t *words) {
  s->base.distance = distance;
  s->distance.farthest = memory_resize(s->distance.farthest, s->keys.nwords * sizeof *words);
  memcpy(s->distance.farthest, words, s->keys.nwords * sizeof *words);
  s->base.farthest = keys_state(&s->keys, s->distance.farthest);
}

bool row_key(struct step_system *s, content *row, uint64_t *words, uint32_t *to, uint32_t *value_to) {
  uint32_t distance = row_normalise(s, row);
  s->distance.too_far = distance > s->distance.most;
  bool further = !s->distance.too_far && distance > s->base.distance;
  if (s->form.canonical)
    canonical_form(s->form.canonical, row, to, value_to);
  if (!keys_pack(&s->keys, row, words))
    return false;
  if (further)
    keep_farthest(s, distance, words);
  return true;
}

bool keys_too_narrow(struct step_system *s) {
  s->layout.keys_too_narrow = s->base.restart = true;
  return false;
}

bool cut_by_distance(struct step_system *s) {
  s->base.distance_cut = true;
  return true;
}

/* before: the number of words that the buffers have room for. */
static void use_layout(struct step_system *s, uint32_t before) {
  s->layout.short_keys = s->keys.nwords <= SHORT_KEY_WORDS && uses_short_keys(s);
  s->base.fast_successors = s->layout.short_keys && !s->plain;
  move_caches_clear(s);
  if (s->keys.nwords > before) {
    uint64_t **all[] = {&s->words, &s->scratch.next, &s->scratch.packed, &s->scratch.whole};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
      memory_free(*all[i]);
      *all[i] = memory_alloc((s->keys.nwords + 2) * sizeof **all[i]);
    }
  }
  s->base.distance = 0;
  s->base.farthest.length = 0;
  s->expanded = 0;
  s->layout.keys_too_narrow = false;
}

static void lay_out_keys(struct step_system *s, enum key_layout how) {
  uint32_t before = s->keys.nwords;
  keys_lay_out(&s->keys, how);
  use_layout(s, before);
}

/* --- the visible state of a process beyond its local state --- */

uint32_t visible_globals(struct step_system *s, const uint64_t *words, uint32_t role, uint64_t uses) {
  uint32_t n = 0;
  s->scratch.vector[n++] = role;
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    if (s->steps.used[role][g])
      s->scratch.vector[n++] = g >= 64 || uses >> g & 1 ? key_get(&s->keys, words, s->cells.global[g]) : 0;
  return intern_put(s->steps.global_sets, s->scratch.vector, n);
}

value status_of(const struct step_system *s, const uint64_t *words, uint32_t p) {
  uint32_t n;
  return content_values(&s->cells, p, key_get(&s->keys, words, p), &n)[LOCAL_STATUS];
}

uint32_t visible_byzantine(struct step_system *s, const uint64_t *words) {
  uint32_t n = 0;
  for (uint32_t p = 0; s->faults.byzantine && p < s->model->nprocesses; p++)
    if (status_of(s, words, p) & STATUS_BYZANTINE)
      s->scratch.vector[n++] = p;
  return intern_put(s->vectors, s->scratch.vector, n);
}

/* --- the plain mode: successors from the interpreter --- */

struct reference_step {
  struct step_system *system;
  const struct config *from;
  emit_fn *emit;
  void *context;
};

/* If licensed, losing a message adds nothing to not delivering it. Omits the same steps as process_moves.c. */
static bool dropped_by_reduction(const struct step_system *s, const struct config *from, const struct event *e) {
  if (e->kind == EVENT_LOSE)
    return !s->faults.loses;
  if (e->kind == EVENT_CRASH && !crash_matters(s, s->role_of[e->process], e->action))
    return true;
  if (e->kind != EVENT_CRASH || e->action == NO_ACTION || s->faults.parts)
    return false;
  struct interpreter *interp = s->interp;
  struct choices choices = {0};
  struct outbox out = {0};
  struct model_error error;
  struct config *next = config_new(s->model);
  choices_give(&choices, &e->script);
  event_apply(interp, s->env, from, e, &choices, &out, next, NULL, &error);
  bool part = e->nout < out.n;
  choices_release(&choices);
  outbox_release(&out);
  config_free(next);
  return part;
}

static bool reference_next(void *context, const struct witness *w, enum step_result result, const struct config *next,
                           const struct model_error *error) {
  struct reference_step *step = context;
  struct step_system *s = step->system;
  const struct event *e = w->event;
  if (result == STEP_BAD_WITNESS || dropped_by_reduction(s, step->from, e))
    return true;
  value before = step->from->local[e->process][LOCAL_STATUS];
  struct edge edge = {.faults = (uint32_t)(next->lost - step->from->lost + next->duplicated - step->from->duplicated),
                      .processes = e->kind == EVENT_CRASH && !(before & STATUS_RECOVERED),
                      .optional = e->kind != EVENT_ACTION && e->kind != EVENT_DELIVER};
  for (uint32_t i = 0; i < e->ntaken; i++)
    edge.optional |= e->taken[i].forged;
  if (result == STEP_ERROR) {
    edge.error = error;
    return step->emit(step->context, NULL, &edge);
  }
  edge.broken = broken_step_properties(s->interp, s->base.query, UINT64_MAX, step->from, next);
  edge.group = group_in_state(s, group_of_event(s, e));
  row_from_config(s, next, s->scratch.row);
  if (!row_key(s, s->scratch.row, s->scratch.packed, NULL, NULL))
    return keys_too_narrow(s);
  if (s->distance.too_far)
    return cut_by_distance(s);
  struct state state = keys_state(&s->keys, s->scratch.packed);
  return step->emit(step->context, &state, &edge);
}

static bool reference_successors(struct step_system *s, emit_fn *emit, void *context) {
  keys_unpack(&s->keys, s->words, s->scratch.row);
  struct config *c = state_cells_to_config(&s->cells, s->scratch.row);
  struct reference_step step = {s, c, emit, context};
  bool more = config_successors(s->interp, s->base.query->environment, c, reference_next, &step);
  config_free(c);
  return more;
}

/* --- the transition system interface --- */

static bool op_initial(struct system *system, emit_fn *emit, void *context) {
  struct step_system *s = step_system_of(system);
  if (!s->layout.sampled) {
    s->layout.sampled = true;
    if (!s->plain && !s->options.few_states)
      sample_contents(s);
    lay_out_keys(s, KEYS_TIGHT);
  } else if (s->layout.keys_too_narrow || system->restart) {
    lay_out_keys(s, s->keys.narrow ? KEYS_WIDENED : KEYS_GROWN);
  }
  system->restart = false;
  bool more = step_system_initial(s, emit, context);
  s->layout.keys_too_narrow |= s->base.restart;
  return more;
}

static bool op_successors(struct system *system, const struct state *state, emit_fn *emit, void *context) {
  struct step_system *s = step_system_of(system);
  keys_load(&s->keys, state, s->words);
  s->expanded++;
  bool more = s->plain ? reference_successors(s, emit, context)
              : s->layout.short_keys
                  ? short_key_successors(s, emit, context)
                  : move_successors(s, s->partial_order.stubborn ? STEPS_STUBBORN : STEPS_ALL, emit, context);
  s->base.channel_bound = s->channels.most;
  return more;
}

static bool op_deferred(struct system *system, const struct state *state, emit_fn *emit, void *context) {
  struct step_system *s = step_system_of(system);
  keys_load(&s->keys, state, s->words);
  bool more = move_successors(s, STEPS_DEFERRED, emit, context);
  s->base.channel_bound = s->channels.most;
  return more;
}

static enum verdict3 op_holds(struct system *system, uint32_t i, const struct state *state, struct model_error *error) {
  return step_system_holds(step_system_of(system), i, state, error);
}

static enum verdict3 op_atom(struct system *system, uint32_t i, const struct state *state, struct model_error *error) {
  return step_system_atom(step_system_of(system), i, state, error);
}

static uint32_t op_round_distance(struct system *system, const struct config *c) {
  struct step_system *s = step_system_of(system);
  row_from_config(s, c, s->scratch.row);
  return s->form.window ? relative_rounds_measure(s->form.window, s->scratch.row).distance : 0;
}

static struct system *op_clone(struct system *system);

static void op_join(struct system *system, struct system *other) {
  struct step_system *s = step_system_of(system), *o = step_system_of(other);
  s->layout.keys_too_narrow |= o->layout.keys_too_narrow;
  system->order_unstable |= other->order_unstable;
  system->restart |= other->restart;
  system->order_mattered |= other->order_mattered;
  system->distance_cut |= other->distance_cut;
  if (other->distance > system->distance)
    keep_farthest(s, other->distance, o->distance.farthest);
  if (o->channels.most > s->channels.most)
    s->channels.most = o->channels.most;
  if (other->channel_bound > system->channel_bound)
    system->channel_bound = other->channel_bound;
}

static struct state op_widened(struct system *system, const struct state *before) {
  struct step_system *s = step_system_of(system);
  keys_load(&s->layout.before, before, s->words);
  keys_unpack(&s->layout.before, s->words, s->scratch.row);
  keys_pack(&s->keys, s->scratch.row, s->scratch.packed); /* with the wider layout */
  return keys_state(&s->keys, s->scratch.packed);
}

static void op_widen(struct system *system) {
  struct step_system *s = step_system_of(system);
  struct state farthest = system->farthest;
  uint32_t distance = system->distance;
  keys_remember(&s->layout.before, &s->keys);
  lay_out_keys(s, KEYS_WIDENED);
  system->restart = false;
  if (farthest.length == 0)
    return;
  op_widened(system, &farthest);
  keep_farthest(s, distance, s->scratch.packed);
}

static void op_save(struct system *system, struct saver *to) {
  struct step_system *s = step_system_of(system);
  system_save_common(system, to);
  save_number(to, s->distance.most);
  save_number(to, s->channels.most);
  save_number(to, s->cells.ntables);
  for (uint32_t i = 0; i < s->cells.ntables; i++) {
    save_number(to, s->keys.width[i]);
    save_intern(to, s->cells.tables[i]);
  }
  save_block(to, system->farthest.bytes, system->farthest.length);
}

static bool op_valid(struct system *system, const struct state *state) {
  struct step_system *s = step_system_of(system);
  if (state->length != s->keys.nbytes)
    return false;
  keys_load(&s->keys, state, s->words);
  keys_unpack(&s->keys, s->words, s->scratch.row);
  return row_is_sound(&s->cells, s->scratch.row);
}

static void op_load(struct system *system, struct loader *from) {
  struct step_system *s = step_system_of(system);
  uint32_t before = s->keys.nwords;
  system_load_common(system, from);
  from->bad |= load_number(from) != s->distance.most;
  s->channels.most = (uint32_t)load_number(from);
  from->bad |= load_number(from) != s->cells.ntables;
  uint8_t *width = memory_alloc(s->cells.ntables + 1);
  for (uint32_t i = 0; i < s->cells.ntables; i++) {
    width[i] = (uint8_t)load_below(from, 33);
    load_intern(from, s->cells.tables[i]);
  }
  from->bad |= !state_cells_are_sound(&s->cells);
  size_t length;
  const void *farthest = load_block(from, &length);
  if (!from->bad) {
    uint32_t distance = system->distance;
    keys_lay_out_like(&s->keys, width);
    use_layout(s, before);
    s->layout.sampled = true;
    from->bad |= length > 0 && length != s->keys.nbytes;
    if (length > 0 && !from->bad) {
      memset(s->scratch.packed, 0, s->keys.nwords * sizeof *s->scratch.packed);
      memcpy(s->scratch.packed, farthest, length);
      from->bad |= !op_valid(system, &(struct state){(const uint8_t *)s->scratch.packed, (uint32_t)length});
      if (!from->bad)
        keep_farthest(s, distance, s->scratch.packed);
    }
    system->distance = distance;
  }
  memory_free(width);
}

static struct intern *op_names(struct system *system, uint32_t i) {
  const struct step_system *s = step_system_of(system);
  return i < s->cells.ntables ? s->cells.tables[i] : NULL;
}

static size_t op_memory(const struct system *system) {
  const struct step_system *s = (const struct step_system *)system;
  return state_cells_bytes(&s->cells) + channel_ops_bytes(&s->channels) + local_steps_bytes(s) + moves_store_bytes(s) +
         dead_data_bytes(s) + intern_bytes(s->vectors) + (s->form.canonical ? canonical_bytes(s->form.canonical) : 0) +
         (s->form.window ? relative_rounds_bytes(s->form.window) : 0) +
         (s->partial_order.may_enable ? may_enable_bytes(s->partial_order.may_enable) : 0) +
         transition_fusion_bytes(s) + normaliser_bytes(s);
}

static void op_free(struct system *system) {
  struct step_system *s = step_system_of(system);
  properties_release(s);
  moves_store_release(s);
  local_steps_release(s);
  dead_data_release(s);
  constant_memory_release(s);
  transition_fusion_release(s);
  normaliser_release(s);
  channel_ops_release(&s->channels);
  keys_release(&s->keys);
  keys_release(&s->layout.before);
  stubborn_free(s->partial_order.stubborn);
  may_enable_free(s->partial_order.may_enable);
  memory_free(s->partial_order.enabled);
  memory_free(s->partial_order.visible_set);
  memory_free(s->partial_order.invisible_set);
  if (s->form.canonical)
    canonical_free(s->form.canonical);
  relative_rounds_free(s->form.window);
  state_cells_release(&s->cells);
  intern_free(s->vectors);
  intern_free(s->fault_permits.statuses);
  intern_free(s->liveness.group_names);
  intern_free(s->liveness.adversary_choice_names);
  vec_release(&s->fault_permits.permits);
  vec_release(&s->enabled_moves);
  uint64_t *words[] = {s->words, s->scratch.next, s->scratch.packed, s->scratch.whole};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    memory_free(words[i]);
  memory_free(s->distance.farthest);
  arena_release(&s->arena);
  if (s->owns_interp)
    interpreter_free(s->interp);
  memory_free(s);
}

static const struct system_ops step_system_ops = {
    .initial = op_initial,
    .successors = op_successors,
    .deferred = op_deferred,
    .holds = op_holds,
    .concretise = step_system_concretise,
    .atom = op_atom,
    .liveness.enabled = step_system_enabled,
    .liveness.concretise_path = step_system_concretise_path,
    .statistics.round_distance = op_round_distance,
    .ranks.names = op_names,
    .threads.clone = op_clone,
    .threads.join = op_join,
    .widening.widen = op_widen,
    .widening.widened = op_widened,
    .checkpoint.save = op_save,
    .checkpoint.load = op_load,
    .checkpoint.valid = op_valid,
    .memory = op_memory,
    .free = op_free,
};

/* --- construction --- */

/* Rounds that differ by this much are taken to diverge. No known algorithm needs more than twice the number of
   processes. */
#define DIVERGENCE_DISTANCE(nprocesses) (4 + 3 * (nprocesses))

/* Do the local steps know what the clause allows? If not, the interpreter enumerates the steps. */
static bool has_local_steps(const struct clause *c) {
  switch (c->kind) {
  case CLAUSE_CRASH:
  case CLAUSE_BYZANTINE:
  case CLAUSE_LOST:
  case CLAUSE_DUPLICATED:
  case CLAUSE_CHANNELS:
  case CLAUSE_FAIR:
    return true;
  case CLAUSE_OMIT: /* rounds only */
  case CLAUSE_CORRUPTED:
  case CLAUSE_EVERY:
  case CLAUSE_FROM_ROUND:
  case CLAUSE_OFTEN:
  case CLAUSE_FINALLY:
  case CLAUSE_ONCE:
  case CLAUSE_SYNCHRONOUS:
    break;
  }
  return false;
}

/* Why the interpreter computes the successors; NULL: local steps do. */
static const char *plain_reason(const struct step_system *s, const struct system_options *options) {
  const struct environment *env = &s->model->environments[s->base.query->environment];
  if (options->successors == SUCCESSORS_PLAIN)
    return "plain: asked for";
  if (s->cells.arrivals)
    return "plain: the order of messages is kept";
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (!has_local_steps(&env->clauses[i]))
      return "plain: a clause of no known kind";
  return NULL;
}

static void read_environment(struct step_system *s) {
  const struct model *m = s->model;
  const struct query *q = s->base.query;
  bool loss = s->base.licences->of[REDUCE_LOSS].applied;
  s->faults.loses = environment_has_fault(m, q, CLAUSE_LOST) && !loss;
  s->faults.duplicates = environment_has_fault(m, q, CLAUSE_DUPLICATED);
  s->faults.crashes = environment_has_fault(m, q, CLAUSE_CRASH);
  s->faults.byzantine = environment_has_fault(m, q, CLAUSE_BYZANTINE);
  s->faults.parts = !loss;
  for (uint32_t r = 0; r < m->nroles; r++)
    s->faults.recovers |= role_recovers(m, q, r);
  s->faults.crash_invisible = loss && !s->faults.recovers && !s->use->crash_visible;
}

/* Not used with steps that only lose messages, or with the order of arrival, because no class of steps covers them. */
static void use_partial_order(struct step_system *s) {
  if (!s->base.licences->of[REDUCE_PARTIAL_ORDER].applied || s->plain || s->faults.loses)
    return;
  s->partial_order.may_enable = may_enable_new(&s->cells);
  s->partial_order.stubborn = stubborn_new(&s->cells, s->use, s->partial_order.may_enable);
  if (!s->partial_order.stubborn)
    return;
  size_t classes = (size_t)s->model->nprocesses * stubborn_stride(s->partial_order.stubborn) + 1;
  s->partial_order.enabled = memory_alloc(classes * sizeof *s->partial_order.enabled);
  s->partial_order.visible_set = memory_alloc(classes * sizeof *s->partial_order.visible_set);
  s->partial_order.invisible_set = memory_alloc(classes * sizeof *s->partial_order.invisible_set);
  s->base.edges_complete = false;
  s->base.uses_proviso = true;
}

/* Shares the names of `first`, if there is one. */
static struct step_system *make(struct interpreter *interp, struct model *m, const struct query *q,
                                const struct licences *l, const struct system_options *options,
                                struct step_system *first) {
  struct step_system *s = memory_alloc(sizeof *s);
  s->base = (struct system){.ops = &step_system_ops, .model = m, .query = q, .licences = l, .edges_complete = true};
  s->interp = interp;
  s->options = *options;
  s->model = m;
  s->env = &m->environments[q->environment];
  arena_init(&s->arena);
  s->vectors = intern_new();
  s->fault_permits.statuses = intern_new();
  intern_put(s->vectors, NULL, 0); /* 0: the empty set of processes */
  s->use = action_uses_of(m, q, &s->arena);
  state_cells_init(&s->cells, interp, m, q, l);
  if (first)
    state_cells_share(&s->cells, &first->cells);
  interpreter_follow(interp, q->semantics, s->cells.arrivals);
  interpreter_observe(interp, q->environment);
  keys_init(&s->keys, &s->cells);
  channel_ops_init(&s->channels, &s->cells);
  s->role_of = arena_array(&s->arena, m->nprocesses + 1, sizeof *s->role_of);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    s->role_of[p] = model_role_of(m, p);
  s->scratch.row = arena_array(&s->arena, s->cells.ncells + 1, sizeof *s->scratch.row);
  s->scratch.memory = arena_array(&s->arena, m->nroles + 1, sizeof *s->scratch.memory);
  s->fault_permits.status = arena_array(&s->arena, m->nprocesses + 1, sizeof *s->fault_permits.status);
  s->scratch.vector = arena_array(&s->arena, m->nprocesses + m->nglobals + 2, sizeof *s->scratch.vector);
  read_environment(s);
  const char *plain = plain_reason(s, options);
  s->plain = plain != NULL;
  s->base.successors = plain ? plain : "local steps";
  groups_init(s);
  s->liveness.adversary_choice_names = intern_new();
  s->base.probabilistic = query_is_live(m, q) && m->properties[q->properties[0]].almost_surely && !s->plain;
  local_steps_init(s);
  moves_store_init(s);
  dead_data_init(s);
  constant_memory_init(s);
  properties_init(s);
  if (l->of[REDUCE_SYMMETRY].applied || l->of[REDUCE_VALUES].applied)
    s->form.canonical = canonical_new(&s->cells);
  if (l->of[REDUCE_ROUND_WINDOW].applied)
    s->form.window = relative_rounds_new(&s->cells);
  s->base.has_distance = s->form.window;
  s->base.has_channels = m->nmessages > 0 && !s->plain;
  s->distance.most = options->max_distance && options->max_distance != ANY_DISTANCE ? options->max_distance
                     : s->form.window                                               ? DIVERGENCE_DISTANCE(m->nprocesses)
                                                                                    : ANY_DISTANCE;
  transition_fusion_init(s);
  normaliser_init(s);
  s->form.normalised = s->form.canonical || s->form.window || s->form.transition_fusion;
  use_partial_order(s);
  automorphic_init(s);
  for (uint32_t r = 0; r < m->nroles; r++) {
    for (uint32_t g = 0; g < m->nglobals; g++)
      s->steps.uses[r] |= s->steps.used[r][g];
    s->steps.uses_any |= s->steps.uses[r];
  }
  s->keys.scatter = !message_moves_suit(s)                       ? SCATTER_NEVER
                    : options->per_message == PER_MESSAGE_ALWAYS ? SCATTER_ALWAYS
                                                                 : SCATTER_TO_SHORTEN;
  s->keys.narrow = options->narrow_keys;
  s->keys.nwords = 0; /* so that the first layout has room for them */
  if (!first) {
    lay_out_keys(s, KEYS_WIDE);
    return s;
  }
  s->layout.sampled = true;
  keys_lay_out_like(&s->keys, first->keys.width);
  use_layout(s, 0);
  return s;
}

struct system *step_system_new(struct interpreter *interp, struct model *m, const struct query *q,
                               const struct licences *l, const struct system_options *options) {
  return &make(interp, m, q, l, options, NULL)->base;
}

static struct system *op_clone(struct system *system) {
  struct step_system *first = step_system_of(system);
  if (query_is_live(first->model, system->query))
    return NULL; /* the names of groups and adversary choices are not shared */
  struct interpreter *interp = interpreter_new(first->model);
  interpreter_watch(interp, first->interp->stop);
  interp->coverage = first->interp->coverage;
  struct step_system *s = make(interp, first->model, system->query, system->licences, &first->options, first);
  s->owns_interp = true;
  s->channels.most = first->channels.most; /* found before the first expansion */
  return &s->base;
}
