/* Cached values of properties, by a digest of what a formula reads where there are few, else by its view
   (property_values.h). */
#include "steps/step_properties.h"

#include "analysis/action_use.h"
#include "analysis/may_fail.h"
#include "interp/events.h"
#include "steps/process_moves.h"
#include "steps/step_system_internal.h"
#include "system/property_values.h"

#include <string.h>

#define DIGESTS_MOST (1u << 22)
#define CONTENT_BITS 16
#define DIGESTS_AFTER_MISSES 256

/* The position of a cell in the key, and the contribution of its content to the digest. */
struct digest_cell {
  uint64_t mask;
  uint32_t *contribution; /* by content; CONTRIBUTION_UNKNOWN: not computed */
  uint32_t word;
  uint32_t step; /* number of digests of the preceding cells */
  uint8_t shift;
};
#define CONTRIBUTION_UNKNOWN (UINT32_C(1) << 31)

struct step_property_memo {
  struct property_cache values;
  bool step;
  uint32_t *cells, ncells; /* the cells that the formula reads */
  uint32_t **class_of;     /* [role][content]: the class of a local state; 0: not computed */
  uint32_t *nclass_of;
  uint32_t layout; /* the key layout for which the following fields are valid */
  /* The digest: everything that the formula reads as one number, if that is small enough. Without digests, Herlihy
     takes 4 to 6 % more instructions. */
  struct digest_cell *seen;
  uint8_t *verdict_by_digest; /* by digest: 1 + verdict, 0: not computed; NULL: digests are not in use */
  bool too_many;              /* there would be too many digests */
  uint32_t nclasses;          /* number of classes that digests can represent */
  uint64_t missed;            /* evaluations without a digest, or with a new one */
  bool sees_quiescence;       /* the value depends on whether anything can happen */
  bool only_quiescent;        /* `not deadlocked`: it holds wherever something can happen */
  bool local;    /* a step property about single processes, which always holds for processes that do not change */
  uint32_t role; /* local: the role; ROLE_ANY: all roles */
};

/* A quantifier over the processes of a role depends on which of them are Byzantine. */
static bool reads_locals(const struct step_system *s, const struct step_property_memo *m, uint32_t r) {
  bool any =
      m->values.reads.status || s->faults.byzantine || (m->values.reads.initials && s->cells.initials == INITIALS_EACH);
  for (uint32_t v = 0; v < s->model->roles[r].nvars && !any; v++)
    any = m->values.reads.vars[r][v];
  return any;
}

/* Does it matter to the formula who could act if there was room in the channels? That depends on the whole state. */
static bool waits_for_room_count(const struct step_system *s, const struct step_property_memo *m) {
  return m->values.reads.deadlock && s->cells.bound > 0;
}

static void find_cells(struct step_system *s, struct step_property_memo *m) {
  const struct model *model = s->model;
  m->cells = arena_array(&s->arena, s->cells.ncells + 1, sizeof *m->cells);
  for (uint32_t p = 0; p < model->nprocesses; p++)
    if (reads_locals(s, m, s->role_of[p]))
      m->cells[m->ncells++] = p;
  for (uint32_t g = 0; g < model->nglobals; g++)
    if (m->values.reads.globals[g])
      m->cells[m->ncells++] = s->cells.global[g];
  if (m->values.reads.initials && s->cells.initials_set != NO_CELL)
    m->cells[m->ncells++] = s->cells.initials_set;
  if (m->values.reads.messages || waits_for_room_count(s, m))
    for (uint32_t i = 0; i < model->nprocesses * model->nprocesses; i++)
      if (s->cells.channel[i] != NO_CELL)
        m->cells[m->ncells++] = s->cells.channel[i];
}

/* Determines the cells that the formula reads. */
static void memo_init(struct step_system *s, struct step_property_memo *m, const struct node *formula) {
  const struct model *model = s->model;
  property_cache_init(&m->values, model, formula, &s->arena);
  if (waits_for_room_count(s, m))
    formula_reads_variables(model, &m->values.reads);
  m->class_of = arena_array(&s->arena, model->nroles + 1, sizeof *m->class_of);
  m->nclass_of = arena_array(&s->arena, model->nroles + 1, sizeof *m->nclass_of);
  find_cells(s, m);
  m->sees_quiescence = m->values.reads.quiescence;
  m->only_quiescent = formula->op == NODE_NOT && formula->kid[0]->op == NODE_DEADLOCKED;
}

void properties_init(struct step_system *s) {
  const struct query *q = s->base.query;
  s->checked.digests_from = DIGESTS_AFTER_MISSES;
  s->checked.memos = arena_array(&s->arena, query_nformulas(q) + 1, sizeof *s->checked.memos);
  for (uint32_t i = 0; i < q->nproperties; i++) {
    struct step_property_memo *m = &s->checked.memos[i];
    const struct property *property = &s->model->properties[q->properties[i]];
    memo_init(s, m, property->formula);
    m->step = property->step;
    if (!m->step)
      continue;
    m->local = property_is_one_process_step(property) && property_is_stutter_invariant(property) &&
               !node_may_fail(s->model, q, property->formula, NULL, NULL) && i < 64 &&
               !(m->values.reads.initials && s->cells.initials == INITIALS_SET);
    m->role = m->local ? m->values.formula->gen[0].range->index : ROLE_ANY;
    s->checked.nlocal_steps += m->local;
    s->checked.nglobal_steps += !m->local;
  }
  for (uint32_t i = 0; i < q->natoms; i++)
    memo_init(s, &s->checked.memos[q->nproperties + i], q->atoms[i]);
}

static void clear_digest(struct step_property_memo *m) {
  for (uint32_t i = 0; i < m->ncells && m->seen; i++)
    memory_free(m->seen[i].contribution);
  memory_free(m->seen);
  memory_free(m->verdict_by_digest);
  m->seen = NULL;
  m->verdict_by_digest = NULL;
}

void properties_release(struct step_system *s) {
  for (uint32_t i = 0; i < query_nformulas(s->base.query); i++) {
    struct step_property_memo *m = &s->checked.memos[i];
    property_cache_release(&m->values);
    for (uint32_t r = 0; r < s->model->nroles; r++)
      memory_free(m->class_of[r]);
    clear_digest(m);
  }
}

/* --- the view of a property --- */

static uint32_t class_make(struct step_system *s, struct step_property_memo *m, uint32_t p, content local) {
  uint32_t r = s->role_of[p], length;
  uint32_t class = property_class(&m->values, s->model, r, content_values(&s->cells, p, local, &length));
  indexed_reserve(m->class_of[r], m->nclass_of[r], local, 0);
  m->class_of[r][local] = class;
  return class;
}

static uint32_t class_of(struct step_system *s, struct step_property_memo *m, uint32_t p, content local) {
  uint32_t r = s->role_of[p];
  uint32_t known = local < m->nclass_of[r] ? m->class_of[r][local] : 0;
  return known ? known : class_make(s, m, p, local);
}

static uint32_t project_state(struct step_system *s, struct step_property_memo *m, const uint64_t *words, value *view) {
  for (uint32_t i = 0; i < m->ncells; i++) {
    content c = key_get(&s->keys, words, m->cells[i]);
    view[i] = m->cells[i] < s->model->nprocesses ? class_of(s, m, m->cells[i], c) : c;
  }
  return m->ncells;
}

/* --- can anything happen? --- */

static struct config *config_at(struct step_system *s, const uint64_t *words) {
  content *row = memory_alloc((s->cells.ncells + 1) * sizeof *row);
  keys_unpack(&s->keys, words, row);
  struct config *c = state_cells_to_config(&s->cells, row);
  memory_free(row);
  return c;
}

/* The interpreter decides where more than the moves of the state counts: room in a channel, messages in transit. */
static bool quiescence_needs_interpreter(const struct step_system *s) {
  return s->plain || s->cells.bound > 0 || (s->model->nmessages > 0 && !semantics_delivers(s->base.query->semantics));
}

/* Is it an action that needs no forged message? A quorum may contain some. */
static bool is_certain(const struct step_system *s, uint32_t p, const struct move *m) {
  if (m->kind != EVENT_ACTION || m->lie)
    return false;
  return !s->faults.byzantine || s->model->roles[s->role_of[p]].actions[m->action].trigger != TRIGGER_QUORUM;
}

/* Of the state in system->words. */
static bool is_quiescent(struct step_system *s) {
  bool unclear = quiescence_needs_interpreter(s);
  uint32_t byzantine = s->plain ? 0 : load_visible_memory(s);
  for (uint32_t p = 0; p < s->model->nprocesses && !s->plain && s->cells.bound == 0; p++) {
    const struct moves *moves = moves_of(s, p, byzantine);
    for (uint32_t i = 0; i < moves->n; i++) {
      if (is_certain(s, p, &moves->at[i]))
        return false;
      unclear |= moves->at[i].kind == EVENT_ACTION && !moves->at[i].lie;
    }
  }
  if (!unclear)
    return true;
  struct config *c = config_at(s, s->words);
  bool quiescent = config_quiescent(s->interp, s->base.query->environment, c);
  config_free(c);
  return quiescent;
}

/* --- verdicts --- */

static uint32_t evaluate(struct step_system *s, struct step_property_memo *m, const uint64_t *before,
                         const uint64_t *after) {
  struct config *b = config_at(s, before), *a = after ? config_at(s, after) : NULL;
  struct model_error error = {0};
  enum verdict3 verdict = config_holds(s->interp, m->values.formula, b, a, &error);
  config_free(b);
  config_free(a);
  return property_verdict_number(&m->values, verdict, &error);
}

__attribute__((noinline)) static uint32_t verdict_on(struct step_system *s, struct step_property_memo *m,
                                                     const uint64_t *before, const uint64_t *after, bool quiescent) {
  value small[128], *view = 2 * m->ncells + 2 <= 128 ? small : memory_alloc((2 * m->ncells + 2) * sizeof *view);
  uint32_t n = project_state(s, m, before, view);
  if (after)
    n += project_state(s, m, after, view + n);
  if (m->sees_quiescence)
    view[n++] = quiescent;
  uint32_t *verdict = property_verdict_slot(&m->values, view, n);
  if (view != small)
    memory_free(view);
  if (!*verdict)
    *verdict = 1 + evaluate(s, m, before, after);
  return *verdict - 1;
}

/* --- digests --- */

/* Lays out digests for the current keys and classes, unless there are too many. */
static void lay_out_digest(struct step_system *s, struct step_property_memo *m) {
  uint64_t digests = 1;
  clear_digest(m);
  m->nclasses = (uint32_t)intern_count(m->values.classes);
  m->too_many = false;
  m->seen = memory_alloc((m->ncells + 1) * sizeof *m->seen);
  for (uint32_t i = 0; i < m->ncells && !m->too_many; i++) {
    const struct key_field *f = &s->keys.field[m->cells[i]];
    m->seen[i] = (struct digest_cell){
        .mask = (UINT64_C(1) << f->width) - 1, .word = f->word, .step = (uint32_t)digests, .shift = f->shift};
    m->too_many = f->width > CONTENT_BITS;
    digests *= m->cells[i] < s->model->nprocesses ? m->nclasses : m->seen[i].mask + 1;
    m->too_many |= digests > DIGESTS_MOST;
  }
  if (m->too_many) {
    clear_digest(m);
    return;
  }
  m->verdict_by_digest = memory_alloc((size_t)digests);
  for (uint32_t i = 0; i < m->ncells; i++) {
    size_t contents = (size_t)m->seen[i].mask + 1;
    m->seen[i].contribution = memory_alloc(contents * sizeof *m->seen[i].contribution);
    for (size_t c = 0; c < contents; c++)
      m->seen[i].contribution[c] = CONTRIBUTION_UNKNOWN;
  }
}

/* Computes the missing contributions. False: there are more classes than at the time of the layout. */
__attribute__((noinline)) static bool fill_contributions(struct step_system *s, struct step_property_memo *m,
                                                         const uint64_t *words) {
  for (uint32_t i = 0; i < m->ncells; i++) {
    uint32_t cell = m->cells[i];
    bool local = cell < s->model->nprocesses;
    content c = key_get(&s->keys, words, cell);
    uint32_t is = local ? class_of(s, m, cell, c) : c;
    if (local && is >= m->nclasses)
      return false;
    m->seen[i].contribution[c] = is * m->seen[i].step;
  }
  return true;
}

/* CONTRIBUTION_UNKNOWN: the contribution of some content is not computed. */
static inline uint32_t digest_of(const struct step_property_memo *m, const uint64_t *words) {
  uint32_t digest = 0, any = 0;
  for (const struct digest_cell *at = m->seen, *end = at + m->ncells; at < end; at++) {
    uint32_t is = at->contribution[words[at->word] >> at->shift & at->mask];
    any |= is;
    digest += is;
  }
  return any & CONTRIBUTION_UNKNOWN ? CONTRIBUTION_UNKNOWN : digest;
}

/* The slot of the verdict; NULL: digests are not in use. */
static inline uint8_t *verdict_slot(struct step_system *s, struct step_property_memo *m, const uint64_t *words) {
  uint32_t digest = 0;
  while (m->verdict_by_digest && (digest = digest_of(m, words)) == CONTRIBUTION_UNKNOWN)
    if (!fill_contributions(s, m, words))
      lay_out_digest(s, m);
  return m->verdict_by_digest ? &m->verdict_by_digest[digest] : NULL;
}

static void lay_out(struct step_system *s, struct step_property_memo *m) {
  m->layout = s->keys.layouts;
  clear_digest(m);
  m->too_many = false;
  m->missed = 0;
}

/* The digest has no verdict yet, or there are no digests. If that is frequent, digests are laid out. */
__attribute__((noinline)) static uint32_t verdict_missed(struct step_system *s, struct step_property_memo *m,
                                                         const uint64_t *words) {
  if (++m->missed > s->checked.digests_from && m->missed > s->expanded / 4 && !m->verdict_by_digest && !m->too_many)
    lay_out_digest(s, m);
  return verdict_on(s, m, words, NULL, false);
}

/* A property that asks whether anything can happen: no digests, because that is in no cell. */
static uint32_t verdict_by_quiescence(struct step_system *s, struct step_property_memo *m) {
  bool quiescent = is_quiescent(s);
  return !quiescent && m->only_quiescent ? V_TRUE : verdict_on(s, m, s->words, NULL, quiescent);
}

static uint32_t verdict_in(struct step_system *s, struct step_property_memo *m, const uint64_t *words) {
  if (m->layout != s->keys.layouts)
    lay_out(s, m);
  uint8_t *verdict_by_digest = verdict_slot(s, m, words);
  if (verdict_by_digest) {
    uint32_t verdict = *verdict_by_digest ? *verdict_by_digest - 1u : verdict_missed(s, m, words);
    if (verdict < V_ERROR)
      *verdict_by_digest = (uint8_t)(verdict + 1);
    return verdict;
  }
  return verdict_missed(s, m, words);
}

static enum verdict3 memo_holds(struct step_system *s, struct step_property_memo *m, const struct state *state,
                                struct model_error *error) {
  keys_load(&s->keys, state, s->words);
  uint32_t verdict = m->sees_quiescence ? verdict_by_quiescence(s, m) : verdict_in(s, m, s->words);
  return property_verdict(&m->values, verdict, error);
}

/* Whether anything can happen is not known where the search was interrupted meanwhile. Then nothing is found: the
   search ends without having seen everything. */
enum verdict3 step_system_holds(struct step_system *s, uint32_t i, const struct state *state,
                                struct model_error *error) {
  enum verdict3 verdict = memo_holds(s, &s->checked.memos[i], state, error);
  if (!s->checked.memos[i].sees_quiescence || !step_system_interrupted(s))
    return verdict;
  return s->model->properties[s->base.query->properties[i]].kind == PROPERTY_COVER ? V_FALSE : V_TRUE;
}

enum verdict3 step_system_atom(struct step_system *s, uint32_t i, const struct state *state,
                               struct model_error *error) {
  return memo_holds(s, &s->checked.memos[s->base.query->nproperties + i], state, error);
}

static bool is_seen(const struct step_property_memo *m, uint32_t cell) {
  bool seen = false;
  for (uint32_t i = 0; i < m->ncells && !seen; i++)
    seen = m->cells[i] == cell;
  return seen;
}

bool move_is_invisible(struct step_system *s, uint32_t p, content local, const struct move *move) {
  for (uint32_t i = 0; i < s->base.query->nproperties; i++) {
    struct step_property_memo *m = &s->checked.memos[i];
    if (m->sees_quiescence || m->values.reads.messages)
      return false;
    for (uint32_t k = 0; k < move->npatches && !m->step; k++) {
      const struct patch *patch = &move->patches[k];
      bool own = patch->cell == p;
      if (is_seen(m, patch->cell) && !(own && class_of(s, m, p, local) == class_of(s, m, p, patch->to)))
        return false;
    }
  }
  return true;
}

/* --- steps --- */

/* A step that changes nothing is not evaluated, because it violates nothing. */
static bool stutters(const struct step_system *s, const uint64_t *before, const uint64_t *after) {
  for (uint32_t p = 0; p < s->model->nprocesses; p++)
    if (key_get(&s->keys, before, p) != key_get(&s->keys, after, p))
      return false;
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    if (key_get(&s->keys, before, s->cells.global[g]) != key_get(&s->keys, after, s->cells.global[g]))
      return false;
  return true;
}

uint64_t step_properties_broken_by_step(struct step_system *s, const uint64_t *before, const uint64_t *after) {
  uint64_t broken = 0;
  if (stutters(s, before, after))
    return 0;
  for (uint32_t i = 0; i < s->base.query->nproperties; i++) {
    struct step_property_memo *m = &s->checked.memos[i];
    if (m->step && !m->local && verdict_on(s, m, before, after, false) != V_TRUE)
      broken |= UINT64_C(1) << i;
  }
  return broken;
}

static bool holds_of_one(struct step_system *s, const struct step_property_memo *m, uint32_t p, content before,
                         content after) {
  uint32_t n;
  return one_process_step_holds(s->interp, m->values.formula, s->role_of[p], content_values(&s->cells, p, before, &n),
                                content_values(&s->cells, p, after, &n));
}

uint64_t step_properties_broken_by_process(struct step_system *s, uint32_t p, content before, content after) {
  uint64_t broken = 0;
  if (s->checked.nlocal_steps == 0 || before == after)
    return 0;
  for (uint32_t i = 0; i < s->base.query->nproperties; i++) {
    struct step_property_memo *m = &s->checked.memos[i];
    if (m->local && (m->role == ROLE_ANY || m->role == s->role_of[p]) && !holds_of_one(s, m, p, before, after))
      broken |= UINT64_C(1) << i;
  }
  return broken;
}
