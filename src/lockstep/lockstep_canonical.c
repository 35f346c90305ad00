/* Canonical forms: states that differ only by a renaming of processes, or by an order-preserving renaming of round
   numbers, become equal. The form is exact: two states get the same form exactly if such a renaming exists. */
#include "base/hash.h"
#include "base/memory.h"
#include "lockstep/round_rank.h"
#include "lockstep/state_pack.h"

#include <stdlib.h>
#include <string.h>

/* --- renaming one local state --- */

static local_id local_rename(struct pack *p, local_id id, const struct renaming *renaming, uint32_t key) {
  uint32_t result;
  if (memo_find(&p->renamed, id, key, &result))
    return result;
  uint32_t r = local_role(p, id);
  const struct role *role = &p->model->roles[r];
  result = id;
  if (!(local_status(p, id) & STATUS_BYZANTINE)) {
    uint32_t length = role_local_length(role);
    value *v = memory_alloc(length * sizeof *v);
    memcpy(v, local_values(p, id), length * sizeof *v);
    for (uint32_t i = 0, k = 1 + role->nvars; i < role->nvars; i++) {
      const struct var *var = &role->vars[i];
      if (v[LOCAL_VAR(i)] != VALUE_DONT_CARE)
        v[LOCAL_VAR(i)] = value_rename(&p->model->values, var->type, v[LOCAL_VAR(i)], renaming);
      if (var->kind == VAR_INPUT) {
        if (p->kept.initials == INITIALS_EACH)
          v[k] = value_rename(&p->model->values, var->type, v[k], renaming);
        k++;
      }
    }
    result = local_put(p, r, v);
    memory_free(v);
  }
  memo_add(&p->renamed, id, key, result);
  return result;
}

static uint32_t renaming_key(struct pack *p, value kind, const value *map, size_t n) {
  value *v = memory_alloc((n + 1) * sizeof *v);
  v[0] = kind;
  memcpy(v + 1, map, n * sizeof *v);
  uint32_t key = intern_put(p->renamings, v, n + 1);
  memory_free(v);
  return key;
}

static local_id local_rename_processes(struct pack *p, local_id id, const uint32_t *to) {
  uint32_t n = p->model->nprocesses;
  value *map = memory_alloc((n + 1) * sizeof *map);
  for (uint32_t i = 0; i < n; i++)
    map[i] = to[i];
  uint32_t key = renaming_key(p, 0, map, n);
  memory_free(map);
  return local_rename(p, id, &(struct renaming){.process = to}, key);
}

local_id local_rename_rounds(struct pack *p, local_id id, const value *rounds, size_t n) {
  uint32_t key = renaming_key(p, 1, rounds, n);
  return local_rename(p, id, &(struct renaming){.rounds = rounds}, key);
}

/* --- round rank --- */

value rank_of_phase(const struct pack *p, value least, value phase) {
  while ((phase - least) % (value)p->licences->phase_residue != 0)
    least++;
  return least;
}

static void rank_rounds(struct pack *p, struct unpacked_state *g) {
  struct round_ranks ranks;
  round_ranks_begin(&ranks);
  for (uint32_t i = 0; i < g->n; i++)
    round_ranks_note_local(&ranks, p, g->at[i].local);
  round_ranks_note(&ranks, g->phase);
  if (round_ranks_assign(&ranks, p, g->phase)) {
    for (uint32_t i = 0; i < g->n; i++)
      g->at[i].local = round_ranks_rename(&ranks, p, g->at[i].local);
    g->phase = ranks.rank[g->phase];
  }
  round_ranks_release(&ranks);
}

/* --- renaming of processes: colour refinement, then search over the remaining choices --- */

struct canonical_search {
  struct pack *pack;
  uint32_t n;
  const local_id *local;     /* not canonical */
  uint32_t nglobals;         /* file-level variables and the values of the obligation */
  const struct type **types; /* of these */
  const value *globals;
  local_id *best; /* renamed vector of the best leaf, by position */
  value *best_globals;
  uint32_t *best_to;
  bool any;
};

/* Visits every identity inside a value, with a tag that depends on its position but on no identity. */
typedef void occurrence_fn(void *context, uint64_t tag, value process);

static uint64_t walk_occurrences(struct values *vs, const struct type *t, value v, uint64_t tag, occurrence_fn *visit,
                                 void *context);

static uint64_t walk_parts(struct values *vs, const struct type *t, value v, uint64_t tag, occurrence_fn *visit,
                           void *context) {
  size_t n;
  const value *parts = value_parts(vs, v, &n);
  uint64_t h = tag;
  for (size_t i = 0; i < n; i++) {
    const struct type *part = t->kind == TYPE_RECORD ? t->fields[i].type : t->element;
    uint64_t place = hash_mix(tag, i + 1);
    if (t->kind == TYPE_ARRAY && type_contains_kind(t->index, TYPE_PROCESS)) {
      /* the index names processes: use the element as the tag instead, and visit the identities in the index */
      uint64_t element = walk_occurrences(vs, part, parts[i], hash_mix(tag, 7), NULL, NULL);
      walk_occurrences(vs, part, parts[i], hash_mix(tag, 7), visit, context);
      walk_occurrences(vs, t->index, type_nth(vs, t->index, i), hash_mix(element, 11), visit, context);
      h += element;
    } else {
      h = hash_mix(h, walk_occurrences(vs, part, parts[i], place, visit, context));
    }
  }
  return hash_mix(h, n);
}

static uint64_t walk_occurrences(struct values *vs, const struct type *t, value v, uint64_t tag, occurrence_fn *visit,
                                 void *context) {
  switch (t->kind) {
  case TYPE_PROCESS:
    if (visit)
      visit(context, tag, v);
    return hash_mix(tag, 3);
  case TYPE_OPTION:
    if (v == VALUE_NONE)
      return hash_mix(tag, 5);
    return walk_occurrences(vs, t->element, value_unwrap(v), hash_mix(tag, 6), visit, context);
  case TYPE_SET: {
    uint64_t cursor = 0, sum = 0, members = 0;
    value member;
    while (set_member(vs, t, v, &cursor, &member)) {
      sum += walk_occurrences(vs, t->element, member, hash_mix(tag, 9), visit, context);
      members++;
    }
    return hash_mix(hash_mix(tag, sum), members);
  }
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return walk_parts(vs, t, v, tag, visit, context);
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_ROUND:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return hash_mix(tag, (uint64_t)v);
}

struct colour_refinement {
  const uint64_t *colour;
  uint64_t *next; /* sums for every process: from its owner and from processes that refer to it */
  uint32_t owner;
};

static void refine_by_occurrence(void *context, uint64_t tag, value process) {
  struct colour_refinement *f = context;
  uint64_t self = (uint32_t)process == f->owner;
  f->next[f->owner] += hash_mix(hash_mix(tag, f->colour[process]), self);
  f->next[process] += hash_mix(hash_mix(tag, f->colour[f->owner]), self + 17);
}

static void refine_by_global(void *context, uint64_t tag, value process) {
  struct colour_refinement *f = context;
  f->next[process] += hash_mix(tag, 23);
}

static uint64_t walk_local(struct pack *p, local_id id, occurrence_fn *visit, void *context) {
  const struct role *role = &p->model->roles[local_role(p, id)];
  const value *v = local_values(p, id);
  uint64_t h = hash_mix(local_role(p, id), (uint64_t)v[LOCAL_STATUS]);
  if (v[LOCAL_STATUS] & STATUS_BYZANTINE)
    return h;
  for (uint32_t i = 0, k = 1 + role->nvars; i < role->nvars; i++) {
    if (v[LOCAL_VAR(i)] == VALUE_DONT_CARE)
      h = hash_mix(h, i + 401);
    else
      h = hash_mix(h,
                   walk_occurrences(&p->model->values, role->vars[i].type, v[LOCAL_VAR(i)], i + 101, visit, context));
    if (role->vars[i].kind == VAR_INPUT) {
      if (p->kept.initials == INITIALS_EACH)
        h = hash_mix(h, walk_occurrences(&p->model->values, role->vars[i].type, v[k], i + 211, visit, context));
      k++;
    }
  }
  return h;
}

static uint32_t count_colours(const uint64_t *colour, uint32_t n) {
  uint32_t distinct = 0;
  for (uint32_t i = 0; i < n; i++) {
    bool seen = false;
    for (uint32_t k = 0; k < i && !seen; k++)
      seen = colour[k] == colour[i];
    distinct += !seen;
  }
  return distinct;
}

static void refine(struct canonical_search *s, uint64_t *colour) {
  uint64_t *next = memory_alloc((s->n + 1) * sizeof *next);
  uint32_t before = count_colours(colour, s->n);
  for (;;) {
    memset(next, 0, s->n * sizeof *next);
    struct colour_refinement f = {colour, next, 0};
    for (uint32_t i = 0; i < s->n; i++) {
      f.owner = i;
      walk_local(s->pack, s->local[i], refine_by_occurrence, &f);
    }
    for (uint32_t i = 0; i < s->n; i++)
      colour[i] = hash_mix(colour[i], next[i]);
    uint32_t after = count_colours(colour, s->n);
    if (after == before || after == s->n)
      break;
    before = after;
  }
  memory_free(next);
}

/* Assigns positions within each role by colour; all colours differ within a role. */
static void canonical_leaf(struct canonical_search *s, const uint64_t *colour) {
  const struct model *m = s->pack->model;
  uint32_t *to = memory_alloc((s->n + 1) * sizeof *to);
  local_id *renamed = memory_alloc((s->n + 1) * sizeof *renamed);
  value *globals = memory_alloc((s->nglobals + 1) * sizeof *globals);
  for (uint32_t i = 0; i < s->n; i++) {
    const struct role *role = &m->roles[model_role_of(m, i)];
    uint32_t place = role->first;
    for (uint32_t k = role->first; k < role->first + role->count; k++)
      place += colour[k] < colour[i];
    bool numbered = s->pack->licences->identity[model_role_of(m, i)] == IDENTITY_NUMBERED;
    to[i] = numbered ? i : place;
  }
  for (uint32_t i = 0; i < s->n; i++)
    renamed[to[i]] = local_rename_processes(s->pack, s->local[i], to);
  for (uint32_t i = 0; i < s->nglobals; i++)
    globals[i] = value_rename(&s->pack->model->values, s->types[i], s->globals[i], &(struct renaming){.process = to});
  int order = s->any ? memcmp(renamed, s->best, s->n * sizeof *renamed) : -1;
  if (order == 0)
    order = memcmp(globals, s->best_globals, s->nglobals * sizeof *globals);
  if (order < 0) {
    memcpy(s->best, renamed, s->n * sizeof *renamed);
    memcpy(s->best_globals, globals, s->nglobals * sizeof *globals);
    memcpy(s->best_to, to, s->n * sizeof *to);
    s->any = true;
  }
  memory_free(to);
  memory_free(renamed);
  memory_free(globals);
}

/* Is the state invariant under swapping a and b? Then only one of them needs to be tried. */
static bool interchangeable(struct canonical_search *s, uint32_t a, uint32_t b) {
  uint32_t *swap = memory_alloc((s->n + 1) * sizeof *swap);
  for (uint32_t i = 0; i < s->n; i++)
    swap[i] = i == a ? b : i == b ? a : i;
  bool same = true;
  for (uint32_t i = 0; i < s->n && same; i++)
    same = local_rename_processes(s->pack, s->local[i], swap) == s->local[swap[i]];
  for (uint32_t i = 0; i < s->nglobals && same; i++)
    same = value_rename(&s->pack->model->values, s->types[i], s->globals[i], &(struct renaming){.process = swap}) ==
           s->globals[i];
  memory_free(swap);
  return same;
}

static bool same_cell(struct canonical_search *s, const uint64_t *colour, uint32_t a, uint32_t b) {
  const struct model *m = s->pack->model;
  return colour[a] == colour[b] && model_role_of(m, a) == model_role_of(m, b);
}

static void explore(struct canonical_search *s, const uint64_t *colour) {
  /* the ambiguous cell with the smallest colour: this choice does not depend on process numbers */
  uint32_t cell = UINT32_MAX;
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = i + 1; k < s->n; k++)
      if (same_cell(s, colour, i, k) && (cell == UINT32_MAX || colour[i] < colour[cell]))
        cell = i;
  if (cell == UINT32_MAX) {
    canonical_leaf(s, colour);
    return;
  }
  uint64_t *inner = memory_alloc((s->n + 1) * sizeof *inner);
  uint32_t *tried = memory_alloc((s->n + 1) * sizeof *tried), ntried = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    if (!same_cell(s, colour, cell, i))
      continue;
    bool automorphic = false;
    for (uint32_t k = 0; k < ntried && !automorphic; k++)
      automorphic = interchangeable(s, tried[k], i);
    if (automorphic)
      continue;
    tried[ntried++] = i;
    memcpy(inner, colour, s->n * sizeof *inner);
    inner[i] = hash_mix(inner[i], 0xC0FFEE);
    refine(s, inner);
    explore(s, inner);
  }
  memory_free(inner);
  memory_free(tried);
}

static const struct type nothing = {.kind = TYPE_BOOL};

/* The parts of a state other than local states: file-level variables and the values of the obligation. */
static void shared_values(struct canonical_search *s, const struct unpacked_state *g, value **globals) {
  const struct model *m = s->pack->model;
  const value *obligation;
  uint32_t nobligation = obligation_values(s->pack, g->obligation, NULL, NULL);
  s->nglobals = m->nglobals + nobligation;
  *globals = memory_alloc((s->nglobals + 1) * sizeof **globals);
  s->types = memory_alloc((s->nglobals + 1) * sizeof *s->types);
  memcpy(*globals, intern_at(s->pack->vectors, g->globals), m->nglobals * sizeof **globals);
  for (uint32_t i = 0; i < m->nglobals; i++)
    s->types[i] = m->globals[i].type;
  for (uint32_t i = 0; i < s->pack->nfollowed; i++)
    s->types[s->pack->followed[i]] = &nothing; /* these are status bits */
  obligation_values(s->pack, g->obligation, &obligation, s->types + m->nglobals);
  if (nobligation)
    memcpy(*globals + m->nglobals, obligation, nobligation * sizeof *obligation);
  s->globals = *globals;
}

static void global_permute(struct pack *p, struct unpacked_state *g, struct renumbering *how) {
  const struct model *m = p->model;
  uint32_t n = g->n;
  local_id *local = memory_alloc((n + 1) * sizeof *local);
  uint64_t *colour = memory_alloc((n + 1) * sizeof *colour);
  value *globals;
  struct canonical_search s = {.pack = p,
                               .n = n,
                               .local = local,
                               .best = memory_alloc((n + 1) * sizeof *s.best),
                               .best_to = memory_alloc((n + 1) * sizeof *s.best_to)};
  shared_values(&s, g, &globals);
  s.best_globals = memory_alloc((s.nglobals + 1) * sizeof *s.best_globals);
  for (uint32_t i = 0; i < n; i++) {
    local[i] = g->at[i].local;
    colour[i] = walk_local(p, local[i], NULL, NULL);
    /* numbered processes are distinguishable and keep their positions */
    if (p->licences->identity[model_role_of(m, i)] == IDENTITY_NUMBERED)
      colour[i] = hash_mix(i + 1, 0x5EED);
  }
  struct colour_refinement f = {NULL, colour, 0};
  for (uint32_t i = 0; i < s.nglobals; i++)
    walk_occurrences(&p->model->values, s.types[i], globals[i], i + 307, refine_by_global, &f);
  refine(&s, colour);
  explore(&s, colour);
  for (uint32_t i = 0; i < n; i++)
    g->at[i].local = s.best[i];
  g->globals = intern_put(p->vectors, s.best_globals, m->nglobals);
  g->obligation = obligation_renamed(p, g->obligation, &(struct renaming){.process = s.best_to});
  if (how)
    memcpy(how->to, s.best_to, n * sizeof *how->to);
  memory_free(local);
  memory_free(colour);
  memory_free(globals);
  memory_free(s.types);
  memory_free(s.best);
  memory_free(s.best_globals);
  memory_free(s.best_to);
}

/* --- the canonical form of a state --- */

static int compare_members(const void *a, const void *b) {
  const struct member *x = a, *y = b;
  return (x->local > y->local) - (x->local < y->local);
}

static void merge_equal(struct unpacked_state *g) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < g->n; i++) {
    if (g->at[i].count == 0)
      continue;
    if (kept && g->at[kept - 1].local == g->at[i].local)
      g->at[kept - 1].count += g->at[i].count;
    else
      g->at[kept++] = g->at[i];
  }
  g->n = kept;
}

static void sort_members(struct member *at, uint32_t n) {
  if (n > 32) {
    qsort(at, n, sizeof *at, compare_members);
    return;
  }
  for (uint32_t i = 1; i < n; i++) {
    struct member m = at[i];
    uint32_t k = i;
    for (; k > 0 && at[k - 1].local > m.local; k--)
      at[k] = at[k - 1];
    at[k] = m;
  }
}

/* Sorts a role and records the permutation (equal members keep their order). */
static void sort_role(struct pack *p, struct unpacked_state *g, uint32_t r, struct renumbering *how) {
  const struct role *role = &p->model->roles[r];
  if (p->licences->identity[r] == IDENTITY_NUMBERED)
    return;
  if (how)
    for (uint32_t i = role->first; i < role->first + role->count; i++) {
      uint32_t place = role->first;
      for (uint32_t k = role->first; k < role->first + role->count; k++)
        place += g->at[k].local < g->at[i].local || (g->at[k].local == g->at[i].local && k < i);
      how->to[i] = place;
    }
  sort_members(g->at + role->first, role->count);
}

void global_canonical(struct pack *p, struct unpacked_state *g, struct renumbering *how) {
  if (p->rank)
    rank_rounds(p, g);
  if (p->kept.phase_period)
    g->phase = (g->phase - 1) % p->kept.phase_period + 1;
  if (how)
    for (uint32_t i = 0; i < p->model->nprocesses; i++)
      how->to[i] = i;
  if (p->bag) {
    sort_members(g->at, g->n);
    merge_equal(g);
  } else if (p->permute) {
    global_permute(p, g, how);
  } else if (p->sort) {
    for (uint32_t r = 0; r < p->model->nroles; r++)
      sort_role(p, g, r, how);
  }
}
