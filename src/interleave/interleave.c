#include "interleave/interleave_space.h"

#include "model/survey.h"
#include "sem/local.h"

#include <string.h>

/* --- keys of states --- */

static void keep_farthest(struct interleave *s, uint32_t distance, const uint64_t *words) {
  s->base.distance = distance;
  s->farthest = memory_resize(s->farthest, s->keys.nwords * sizeof *words);
  memcpy(s->farthest, words, s->keys.nwords * sizeof *words);
  s->base.farthest = keys_state(&s->keys, s->farthest);
}

bool row_key(struct interleave *s, content *row, uint64_t *words, uint32_t *to, uint32_t *value_to) {
  uint32_t distance = row_relative(s, row);
  s->too_far = distance > s->max_distance;
  bool further = !s->too_far && distance > s->base.distance;
  if (s->canonical)
    canonical_form(s->canonical, row, to, value_to);
  if (!keys_pack(&s->keys, row, words))
    return false;
  if (further)
    keep_farthest(s, distance, words);
  return true;
}

bool too_narrow(struct interleave *s) {
  s->too_narrow = s->base.restart = true;
  return false;
}

bool leave_out(struct interleave *s) {
  s->base.distance_cut = true;
  return true;
}

/* There was room for keys of so many words. */
static void use_layout(struct interleave *s, uint32_t before, bool lasting) {
  s->short_ways = s->keys.nwords <= BRIEF_WORDS && takes_short_ways(s);
  glances_forget(s);
  if (s->keys.nwords > before) {
    uint64_t **all[] = {&s->words, &s->next, &s->packed, &s->whole};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
      memory_free(*all[i]);
      *all[i] = memory_alloc((s->keys.nwords + 2) * sizeof **all[i]);
    }
  }
  if (s->normal && !s->settling && lasting) {
    size_t size = FORMS_REMEMBERED * (2 * (size_t)s->keys.nwords + 1) * sizeof *s->forms;
    s->forms = memset(memory_resize(s->forms, size), 0, size);
  }
  s->base.distance = 0;
  s->base.farthest.length = 0;
  s->expanded = 0;
  s->too_narrow = false;
}

static void lay_out_keys(struct interleave *s, enum key_layout how) {
  uint32_t before = s->keys.nwords;
  keys_lay_out(&s->keys, how);
  use_layout(s, before, how != KEYS_WIDE);
}

/* --- what processes see besides their own --- */

uint32_t sight_globals(struct interleave *s, const uint64_t *words, uint32_t role, uint64_t uses) {
  uint32_t n = 0;
  s->vector[n++] = role;
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    if (s->steps.used[role][g])
      s->vector[n++] = g >= 64 || uses >> g & 1 ? key_get(&s->keys, words, s->cells.global[g]) : 0;
  return intern_put(s->steps.global_sets, s->vector, n);
}

value status_of(const struct interleave *s, const uint64_t *words, uint32_t p) {
  uint32_t n;
  return content_values(&s->cells, p, key_get(&s->keys, words, p), &n)[LOCAL_STATUS];
}

uint32_t sight_byzantine(struct interleave *s, const uint64_t *words) {
  uint32_t n = 0;
  for (uint32_t p = 0; s->byzantine && p < s->model->nprocesses; p++)
    if (status_of(s, words, p) & STATUS_BYZANTINE)
      s->vector[n++] = p;
  return intern_put(s->vectors, s->vector, n);
}

/* --- the plain way --- */

struct plain_step {
  struct interleave *space;
  const struct config *from;
  emit_fn *emit;
  void *context;
};

/* Losing adds nothing that not delivering does not do already, if licensed: the same steps are left out as in moves.c. */
static bool left_out(const struct interleave *s, const struct config *from, const struct event *e) {
  if (e->kind == EVENT_LOSE)
    return !s->loses;
  if (e->kind == EVENT_CRASH && !crash_matters(s, s->role_of[e->process], e->action))
    return true;
  if (e->kind != EVENT_CRASH || e->action == NO_ACTION || s->parts)
    return false;
  struct meaning *meaning = s->meaning;
  struct choices choices = {0};
  struct outbox out = {0};
  struct model_error error;
  struct config *next = config_new(s->model);
  choices_give(&choices, &e->script);
  event_happens(meaning, s->env, from, e, &choices, &out, next, NULL, &error);
  bool part = e->nout < out.n;
  choices_release(&choices);
  outbox_release(&out);
  config_free(next);
  return part;
}

static bool plain_next(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  struct plain_step *step = context;
  struct interleave *s = step->space;
  const struct event *e = w->event;
  if (result == STEP_BAD_WITNESS || left_out(s, step->from, e))
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
  const struct question *q = s->base.question;
  for (uint32_t i = 0; i < q->nproperties; i++) {
    const struct property *property = &s->model->properties[q->properties[i]];
    if (property->step && config_holds(s->meaning, property->formula, step->from, next, NULL) != V_TRUE)
      edge.broken |= UINT64_C(1) << (i < 63 ? i : 63);
  }
  edge.group = group_of_event(s, e);
  row_of_config(s, next, s->row);
  if (!row_key(s, s->row, s->packed, NULL, NULL))
    return too_narrow(s);
  if (s->too_far)
    return leave_out(s);
  struct state state = keys_state(&s->keys, s->packed);
  return step->emit(step->context, &state, &edge);
}

static bool plain_successors(struct interleave *s, emit_fn *emit, void *context) {
  keys_unpack(&s->keys, s->words, s->row);
  struct config *c = cells_to_config(&s->cells, s->row);
  struct plain_step step = {s, c, emit, context};
  bool more = config_successors(s->meaning, s->base.question->environment, c, plain_next, &step);
  config_free(c);
  return more;
}

/* --- the waist --- */

static bool space_initial(struct space *space, emit_fn *emit, void *context) {
  struct interleave *s = interleave_of(space);
  if (!s->scouted) {
    s->scouted = true;
    if (!s->plain)
      scout(s);
    lay_out_keys(s, KEYS_SNUG);
  } else if (s->too_narrow || space->restart) {
    lay_out_keys(s, s->keys.narrow ? KEYS_WIDENED : KEYS_GROWN);
  }
  space->restart = false;
  bool more = interleave_initial(s, emit, context);
  s->too_narrow |= s->base.restart;
  return more;
}

static bool space_successors(struct space *space, const struct state *state, emit_fn *emit, void *context) {
  struct interleave *s = interleave_of(space);
  keys_load(&s->keys, state, s->words);
  s->expanded++;
  bool more = s->plain        ? plain_successors(s, emit, context)
              : s->short_ways ? short_successors(s, emit, context)
                              : fast_successors(s, s->stubborn ? STEPS_FIRST : STEPS_ALL, emit, context);
  s->base.channel_bound = s->channels.most;
  return more;
}

static bool space_others(struct space *space, const struct state *state, emit_fn *emit, void *context) {
  struct interleave *s = interleave_of(space);
  keys_load(&s->keys, state, s->words);
  bool more = fast_successors(s, STEPS_OTHERS, emit, context);
  s->base.channel_bound = s->channels.most;
  return more;
}

static enum verdict3 space_holds(struct space *space, uint32_t i, const struct state *state,
                                 struct model_error *error) {
  return interleave_holds(interleave_of(space), i, state, error);
}

static enum verdict3 space_atom(struct space *space, uint32_t i, const struct state *state, struct model_error *error) {
  return interleave_atom(interleave_of(space), i, state, error);
}

static bool space_assignments(struct space *space, struct text *decimal) {
  (void)space;
  (void)decimal;
  return false;
}

static uint32_t space_apart(struct space *space, const struct config *c) {
  struct interleave *s = interleave_of(space);
  row_of_config(s, c, s->row);
  return s->window ? window_measure(s->window, s->row).distance : 0;
}

static struct space *space_another(struct space *space);

static void space_join(struct space *space, struct space *other) {
  struct interleave *s = interleave_of(space), *o = interleave_of(other);
  s->too_narrow |= o->too_narrow;
  space->unsteady |= other->unsteady;
  space->restart |= other->restart;
  space->order_mattered |= other->order_mattered;
  space->distance_cut |= other->distance_cut;
  if (other->distance > space->distance)
    keep_farthest(s, other->distance, o->farthest);
  if (o->channels.most > s->channels.most)
    s->channels.most = o->channels.most;
  if (other->channel_bound > space->channel_bound)
    space->channel_bound = other->channel_bound;
}

static struct state space_widened(struct space *space, const struct state *before) {
  struct interleave *s = interleave_of(space);
  keys_load(&s->before, before, s->words);
  keys_unpack(&s->before, s->words, s->row);
  keys_pack(&s->keys, s->row, s->packed); /* which are wider */
  return keys_state(&s->keys, s->packed);
}

static void space_widen(struct space *space) {
  struct interleave *s = interleave_of(space);
  struct state farthest = space->farthest;
  uint32_t distance = space->distance;
  keys_remember(&s->before, &s->keys);
  lay_out_keys(s, KEYS_WIDENED);
  space->restart = false;
  if (farthest.length == 0)
    return;
  space_widened(space, &farthest);
  keep_farthest(s, distance, s->packed);
}

static void interleave_save(struct space *space, struct saver *to) {
  struct interleave *s = interleave_of(space);
  space_save(space, to);
  save_number(to, s->max_distance);
  save_number(to, s->channels.most);
  save_number(to, s->cells.ntables);
  for (uint32_t i = 0; i < s->cells.ntables; i++) {
    save_number(to, s->keys.width[i]);
    save_names(to, s->cells.tables[i]);
  }
  save_number(to, space->farthest.length);
  save_bytes(to, space->farthest.bytes, space->farthest.length);
}

static void interleave_load(struct space *space, struct loader *from) {
  struct interleave *s = interleave_of(space);
  uint32_t before = s->keys.nwords;
  space_load(space, from);
  from->bad |= load_number(from) != s->max_distance;
  s->channels.most = (uint32_t)load_number(from);
  from->bad |= load_number(from) != s->cells.ntables;
  uint8_t *width = memory_alloc(s->cells.ntables + 1);
  for (uint32_t i = 0; i < s->cells.ntables; i++) {
    width[i] = (uint8_t)load_below(from, 33);
    load_names(from, s->cells.tables[i]);
  }
  size_t length = memory_size(load_number(from));
  const void *farthest = load_place(from, length);
  if (!from->bad) {
    uint32_t distance = space->distance;
    keys_lay_out_like(&s->keys, width);
    use_layout(s, before, true);
    s->scouted = true;
    from->bad |= length > 0 && length != s->keys.nbytes;
    if (length > 0 && !from->bad) {
      memset(s->packed, 0, s->keys.nwords * sizeof *s->packed);
      memcpy(s->packed, farthest, length);
      keep_farthest(s, distance, s->packed);
    }
    space->distance = distance;
  }
  memory_free(width);
}

static struct intern *space_names(struct space *space, uint32_t i) {
  const struct interleave *s = interleave_of(space);
  return i < s->cells.ntables ? s->cells.tables[i] : NULL;
}

static size_t space_memory(const struct space *space) {
  const struct interleave *s = (const struct interleave *)space;
  return cells_bytes(&s->cells) + channel_ops_bytes(&s->channels) + steps_bytes(s) + mover_bytes(s) +
         forgetting_bytes(s) + intern_bytes(s->vectors) + (s->canonical ? canonical_bytes(s->canonical) : 0) +
         (s->window ? window_bytes(s->window) : 0) + relays_bytes(s) +
         settling_bytes(s);
}

static void space_free(struct space *space) {
  struct interleave *s = interleave_of(space);
  properties_release(s);
  mover_release(s);
  steps_release(s);
  forgetting_release(s);
  frozen_release(s);
  relays_release(s);
  settling_release(s);
  channel_ops_release(&s->channels);
  keys_release(&s->keys);
  keys_release(&s->before);
  stubborn_free(s->stubborn);
  hopes_free(s->hopes);
  memory_free(s->enabled);
  memory_free(s->aim);
  memory_free(s->prepare);
  if (s->canonical)
    canonical_free(s->canonical);
  window_free(s->window);
  cells_release(&s->cells);
  intern_free(s->vectors);
  intern_free(s->statuses);
  intern_free(s->group_names);
  intern_free(s->lottery_names);
  vec_release(&s->permits);
  vec_release(&s->able);
  uint64_t *words[] = {s->words, s->next, s->packed, s->whole};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    memory_free(words[i]);
  memory_free(s->forms);
  memory_free(s->farthest);
  arena_release(&s->arena);
  if (s->own_meaning)
    meaning_free(s->meaning);
  memory_free(s);
}

static const struct space_ops interleave_ops = {
    .initial = space_initial,
    .successors = space_successors,
    .others = space_others,
    .holds = space_holds,
    .concretise = interleave_concretise,
    .atom = space_atom,
    .enabled = interleave_enabled,
    .concretise_path = interleave_concretise_path,
    .apart = space_apart,
    .heard_of_assignments = space_assignments,
    .names = space_names,
    .another = space_another,
    .join = space_join,
    .widen = space_widen,
    .widened = space_widened,
    .save = interleave_save,
    .load = interleave_load,
    .memory = space_memory,
    .free = space_free,
};

/* --- making one --- */

/* Rounds that lie so far apart run away from each other; nothing is known to need more than twice the number of processes. */
#define RUNAWAY(nprocesses) (4 + 3 * (nprocesses))

static void read_environment(struct interleave *s) {
  const struct model *m = s->model;
  const struct question *q = s->base.question;
  bool loss = s->base.licences->of[REDUCE_LOSS].applied;
  s->loses = environment_has(m, q, CLAUSE_LOST) && !loss;
  s->duplicates = environment_has(m, q, CLAUSE_DUPLICATED);
  s->crashes = environment_has(m, q, CLAUSE_CRASH);
  s->byzantine = environment_has(m, q, CLAUSE_BYZANTINE);
  s->parts = !loss;
  for (uint32_t r = 0; r < m->nroles; r++)
    s->recovers |= role_recovers(m, q, r);
  s->silent = loss && !s->recovers && !s->use->crash_visible;
}

/* Steps that only lose messages, and what the order of arrival adds, are not among the classes. */
static void use_partial_order(struct interleave *s) {
  if (!s->base.licences->of[REDUCE_PARTIAL_ORDER].applied || s->plain || s->loses)
    return;
  s->hopes = hopes_new(&s->cells);
  s->stubborn = stubborn_new(&s->cells, s->use, s->hopes);
  if (!s->stubborn)
    return;
  size_t classes = (size_t)s->model->nprocesses * stubborn_stride(s->stubborn) + 1;
  s->enabled = memory_alloc(classes * sizeof *s->enabled);
  s->aim = memory_alloc(classes * sizeof *s->aim);
  s->prepare = memory_alloc(classes * sizeof *s->prepare);
  s->base.edges_complete = false;
  s->base.puts_off = true;
}

/* With the names of the first one, if there is one. */
static struct interleave *make(struct meaning *meaning, struct model *m, const struct question *q, const struct licences *l,
                               const struct space_options *options, struct interleave *first) {
  struct interleave *s = memory_alloc(sizeof *s);
  s->base = (struct space){.ops = &interleave_ops, .model = m, .question = q, .licences = l, .edges_complete = true};
  s->meaning = meaning;
  s->options = *options;
  s->model = m;
  s->env = &m->environments[q->environment];
  arena_init(&s->arena);
  s->vectors = intern_new();
  s->statuses = intern_new();
  intern_put(s->vectors, NULL, 0); /* 0: nobody */
  s->use = actions_used(m, q, &s->arena);
  cells_init(&s->cells, meaning, m, q, l);
  if (first)
    cells_share(&s->cells, &first->cells);
  meaning_follow(meaning, q->semantics, s->cells.arrivals);
  keys_init(&s->keys, &s->cells);
  channel_ops_init(&s->channels, &s->cells);
  s->role_of = arena_array(&s->arena, m->nprocesses + 1, sizeof *s->role_of);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    s->role_of[p] = model_role_of(m, p);
  s->row = arena_array(&s->arena, s->cells.ncells + 1, sizeof *s->row);
  s->memory = arena_array(&s->arena, m->nroles + 1, sizeof *s->memory);
  s->status = arena_array(&s->arena, m->nprocesses + 1, sizeof *s->status);
  s->vector = arena_array(&s->arena, m->nprocesses + m->nglobals + 2, sizeof *s->vector);
  read_environment(s);
  groups_init(s);
  s->lottery_names = intern_new();
  s->base.lotteries = question_live(m, q) && m->properties[q->properties[0]].almost_surely &&
                      options->successors != SUCCESSORS_PLAIN && !s->cells.arrivals;
  steps_init(s);
  mover_init(s);
  forgetting_init(s);
  frozen_init(s);
  properties_init(s);
  if (l->of[REDUCE_SYMMETRY].applied || l->of[REDUCE_VALUES].applied)
    s->canonical = canonical_new(&s->cells);
  if (l->of[REDUCE_ROUND_WINDOW].applied)
    s->window = window_new(&s->cells);
  s->base.has_distance = s->window;
  s->base.has_channels = m->nmessages > 0 && options->successors != SUCCESSORS_PLAIN && !s->cells.arrivals;
  s->max_distance = options->max_distance && options->max_distance != ANY_DISTANCE ? options->max_distance
                    : s->window                                                   ? RUNAWAY(m->nprocesses)
                                                                                  : ANY_DISTANCE;
  relays_init(s);
  settling_init(s);
  s->normal = s->canonical || s->window || s->relays;
  s->plain = options->successors == SUCCESSORS_PLAIN || s->cells.arrivals;
  s->base.successors = options->successors == SUCCESSORS_PLAIN ? "plain: asked for"
                       : s->plain                              ? "plain: the order of messages is kept"
                                                               : "local steps";
  use_partial_order(s);
  twins_init(s);
  for (uint32_t r = 0; r < m->nroles; r++) {
    for (uint32_t g = 0; g < m->nglobals; g++)
      s->steps.uses[r] |= s->steps.used[r][g];
    s->steps.uses_any |= s->steps.uses[r];
  }
  s->keys.scatter = !letters_suit(s) ? SCATTER_NEVER : options->letters == LETTERS_ALWAYS ? SCATTER_ALWAYS : SCATTER_TO_SHORTEN;
  s->keys.narrow = options->narrow_keys;
  s->keys.nwords = 0; /* so that there is room for them from the first layout on */
  if (!first) {
    lay_out_keys(s, KEYS_WIDE);
    return s;
  }
  s->scouted = true;
  keys_lay_out_like(&s->keys, first->keys.width);
  use_layout(s, 0, true);
  return s;
}

struct space *interleave_space_new(struct meaning *meaning, struct model *m, const struct question *q,
                                   const struct licences *l, const struct space_options *options) {
  return &make(meaning, m, q, l, options, NULL)->base;
}

static struct space *space_another(struct space *space) {
  struct interleave *first = interleave_of(space);
  if (question_live(first->model, space->question))
    return NULL; /* names of groups and lotteries are not shared */
  struct meaning *meaning = meaning_new(first->model);
  meaning_watch(meaning, first->meaning->stop);
  struct interleave *s = make(meaning, first->model, space->question, space->licences, &first->options, first);
  s->own_meaning = true;
  s->channels.most = first->channels.most; /* what was found before anything was expanded */
  return &s->base;
}
