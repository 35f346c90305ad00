/* Shared memory that nobody will write again, as far as its own contents tell: `if register == none { register := x }` once it
   is not none. What a process that reads no other memory and no messages will do is then its own affair: its future is gone through once, with a
   note of what it reads, and variables that it never asks for are forgotten (Herlihy's consensus: whoever comes late does not
   read its own input any more). */
#include "interleave/interleave_space.h"

#include "model/flow.h"
#include "model/permanent.h"
#include "model/survey.h"
#include "sem/local.h"

#include <string.h>

#define FUTURE_MOST 256 /* local states looked at; beyond that nothing is forgotten */

struct veto { /* one assignment to a global: as soon as one of these conditions is false it is out of the question */
  uint32_t global;
  const struct node **at;
  uint32_t n;
};

struct frozen {
  const struct permanence *permanence;
  VEC(struct veto) vetoes;
  VEC(const struct node *) above; /* while the text is gone through: conditions on memory alone */
  bool *freezes;                  /* by global: frozen at once, or as soon as conditions are false */
  struct memo of;                 /* globals -> which are frozen, in space->vectors */
  struct memo locals;             /* (process and local state, globals) -> local state */
  bool **property_reads;
};

/* --- from the text --- */

#define READS_MEMORY_ONLY                                                                                         \
  (TRAIT_SHARED | TRAIT_PROCESSES | TRAIT_BINDS | TRAIT_WEIGHS | TRAIT_ORDERS | TRAIT_FAILS | TRAIT_CALLS)

static bool look_beyond_memory(void *context, const struct node *n) {
  bool *other = context;
  *other |= (op_traits(n->op) & ~(unsigned)READS_MEMORY_ONLY) != 0;
  return !*other;
}

static bool of_memory_alone(const struct model *m, const struct node *n) {
  bool other = false;
  node_walk_deep(m, n, look_beyond_memory, &other);
  return !other;
}

static void push_conjuncts(struct interleave *s, uint32_t role, const struct node *n) {
  struct frozen *f = s->frozen;
  if (n->op == NODE_AND) {
    push_conjuncts(s, role, n->kid[0]);
    push_conjuncts(s, role, n->kid[1]);
  } else if (of_memory_alone(s->model, n) && permanent_falsehood(f->permanence, role, n)) {
    vec_push(&f->above, n);
  }
}

static void add_veto(struct interleave *s, uint32_t global) {
  struct frozen *f = s->frozen;
  struct veto v = {global, NULL, (uint32_t)f->above.n};
  v.at = arena_array(&s->arena, f->above.n + 1, sizeof *v.at);
  for (size_t i = 0; i < f->above.n; i++)
    v.at[i] = f->above.at[i];
  vec_push(&f->vetoes, v);
  f->freezes[global] &= v.n > 0;
}

static void look_at_block(struct interleave *s, uint32_t role, const struct block *b) {
  struct frozen *f = s->frozen;
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *t = b->at[i];
    if (t->kind == STMT_ASSIGN && t->shared)
      add_veto(s, t->var);
    size_t above = f->above.n;
    if (t->kind == STMT_IF && t->guard.ngen == 0 && t->guard.cond)
      push_conjuncts(s, role, t->guard.cond);
    look_at_block(s, role, &t->then);
    f->above.n = above;
    look_at_block(s, role, &t->other);
  }
}

static void look_at_actions(struct interleave *s, uint32_t r) {
  struct frozen *f = s->frozen;
  for (uint32_t a = 0; a < s->model->roles[r].nactions; a++) {
    const struct conditions *vetoes = action_vetoes(f->permanence, r, a);
    vec_clear(&f->above);
    for (uint32_t i = 0; i < vetoes->n; i++)
      if (of_memory_alone(s->model, vetoes->at[i]))
        vec_push(&f->above, vetoes->at[i]);
    look_at_block(s, r, &s->model->roles[r].actions[a].body);
  }
}

/* Is there memory that is written, but not for ever? */
static bool something_freezes(const struct interleave *s) {
  const struct frozen *f = s->frozen;
  for (size_t i = 0; i < f->vetoes.n; i++)
    if (f->freezes[f->vetoes.at[i].global])
      return true;
  return false;
}

void frozen_init(struct interleave *s) {
  const struct model *m = s->model;
  if (!s->base.licences->of[REDUCE_DEAD_VARIABLES].applied)
    return;
  struct frozen *f = s->frozen = arena_alloc(&s->arena, sizeof *f);
  f->permanence = permanence_of(m, s->base.question, &s->arena);
  f->property_reads = s->use->property_reads;
  f->freezes = arena_array(&s->arena, m->nglobals + 1, sizeof *f->freezes);
  memset(f->freezes, true, m->nglobals * sizeof *f->freezes);
  for (uint32_t r = 0; r < m->nroles; r++)
    look_at_actions(s, r);
  vec_release(&f->above);
  if (!something_freezes(s)) {
    vec_release(&f->vetoes);
    s->frozen = NULL;
    return;
  }
  for (uint32_t r = 0; r < m->nroles; r++) /* what is forgotten depends on all of them */
    for (uint32_t g = 0; g < m->nglobals; g++)
      s->steps.used[r][g] = true;
}

void frozen_release(struct interleave *s) {
  if (!s->frozen)
    return;
  vec_release(&s->frozen->vetoes);
  memo_release(&s->frozen->of);
  memo_release(&s->frozen->locals);
}

/* --- which memory is frozen --- */

static bool is_false(struct interleave *s, const struct node *n, const value *globals) {
  struct eval e;
  jmp_buf failure;
  eval_begin(&e, s->meaning);
  e.globals = globals;
  e.failure = &failure;
  if (setjmp(failure))
    return false;
  return !eval_true(&e, n);
}

/* Leaves the values of globals in steps->globals. */
static const value *frozen_globals(struct interleave *s, const struct sight *at) {
  struct frozen *f = s->frozen;
  const struct model *m = s->model;
  uint32_t known;
  steps_unfold(s, at);
  if (memo_find(&f->of, at->globals, 0, &known))
    return intern_at(s->vectors, known);
  value *frozen = memory_alloc((m->nglobals + 1) * sizeof *frozen);
  for (uint32_t g = 0; g < m->nglobals; g++)
    frozen[g] = f->freezes[g];
  for (size_t i = 0; i < f->vetoes.n; i++) {
    const struct veto *v = &f->vetoes.at[i];
    bool out = false;
    for (uint32_t k = 0; k < v->n && !out && frozen[v->global]; k++)
      out = is_false(s, v->at[k], s->steps.globals);
    frozen[v->global] &= out;
  }
  known = intern_put(s->vectors, frozen, m->nglobals);
  memory_free(frozen);
  memo_add(&f->of, at->globals, 0, known);
  return intern_at(s->vectors, known);
}

/* --- a process's own future --- */

struct passage { /* one way to take an action */
  uint32_t to;
  bool *reads, *assigns; /* by variable */
};

struct moment { /* a local state that it may come to */
  value *local;
  bool *live;
  VEC(struct passage) ways;
};

struct future {
  struct interleave *space;
  const struct sight *at;
  const value *frozen;
  struct arena arena;
  VEC(struct moment) moments;
  uint32_t length, nvars;
  bool unclear;
};

static uint32_t moment_of(struct future *u, const value *local) {
  for (size_t i = 0; i < u->moments.n; i++)
    if (!memcmp(u->moments.at[i].local, local, u->length * sizeof *local))
      return (uint32_t)i;
  struct moment m = {.local = arena_copy(&u->arena, local, u->length * sizeof *local),
                     .live = arena_array(&u->arena, u->nvars + 1, sizeof *m.live)};
  vec_push(&u->moments, m);
  u->unclear |= u->moments.n > FUTURE_MOST;
  return (uint32_t)u->moments.n - 1;
}

static void add_way(struct future *u, uint32_t from, uint32_t to, const bool *reads, const struct span *assigned) {
  struct passage w = {to, arena_copy(&u->arena, reads, u->nvars + 1), arena_array(&u->arena, u->nvars + 1, 1)};
  for (uint32_t i = 0; i < u->nvars; i++)
    w.assigns[i] = assigned[i].to != 0;
  vec_push(&u->moments.at[from].ways, w);
}

/* Everything that the action may do from there: where it leads, what it reads on the way. */
static void follow(struct future *u, uint32_t from, uint32_t action) {
  struct interleave *s = u->space;
  struct choices choices = {0};
  bool *reads = arena_array(&u->arena, u->nvars + 1, sizeof *reads);
  struct assigned_places places = {arena_array(&u->arena, u->nvars + 1, sizeof(struct span)), NULL};
  value *local = arena_array(&u->arena, u->length, sizeof *local);
  value *globals = arena_array(&u->arena, s->model->nglobals + 1, sizeof *globals);
  do {
    struct model_error error;
    memset(reads, 0, u->nvars + 1);
    memset(places.local, 0, (u->nvars + 1) * sizeof *places.local);
    memcpy(local, u->moments.at[from].local, u->length * sizeof *local);
    memcpy(globals, s->steps.globals, s->model->nglobals * sizeof *globals);
    s->meaning->reads = reads;
    enum action_result result = action_take(s->meaning, action, u->at->process, local, globals, NULL, 0, &choices,
                                            &s->steps.outbox, &places, &error);
    s->meaning->reads = NULL;
    if (result == ACTION_DONE) {
      uint32_t to = moment_of(u, local);
      add_way(u, from, to, reads, places.local);
    } else {
      memset(places.local, 0, (u->nvars + 1) * sizeof *places.local);
      add_way(u, from, from, reads, places.local);
    }
  } while (!u->unclear && choices_next(&choices));
  choices_release(&choices);
}

/* It must depend on nothing but frozen memory. */
static bool depends_on_itself(const struct future *u, uint32_t action) {
  const struct interleave *s = u->space;
  const struct action_use *use = &s->use->of[u->at->role][action];
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    if (use->reads_shared[g] && !u->frozen[g])
      return false;
  return s->model->roles[u->at->role].actions[action].trigger == TRIGGER_NONE;
}

static void go_through(struct future *u) {
  const struct role *role = &u->space->model->roles[u->at->role];
  for (size_t i = 0; i < u->moments.n && !u->unclear; i++)
    for (uint32_t a = 0; a < role->nactions && !u->unclear; a++) {
      if (!action_open(u->space->model, u->at->role, u->moments.at[i].local, a))
        continue;
      u->unclear = !depends_on_itself(u, a);
      if (!u->unclear)
        follow(u, (uint32_t)i, a);
    }
}

/* Backwards, until nothing changes: what is read on some way, or kept on it and read after it. */
static void find_live(struct future *u) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = 0; i < u->moments.n; i++)
      for (size_t w = 0; w < u->moments.at[i].ways.n; w++) {
        const struct passage *way = &u->moments.at[i].ways.at[w];
        const bool *after = u->moments.at[way->to].live;
        bool *live = u->moments.at[i].live;
        for (uint32_t v = 0; v < u->nvars; v++)
          if (!live[v] && (way->reads[v] || (after[v] && !way->assigns[v])))
            live[v] = changed = true;
      }
  }
}

static content blanked(struct future *u) {
  struct interleave *s = u->space;
  const struct role *role = &s->model->roles[u->at->role];
  uint32_t n;
  const value *v = content_values(&s->cells, u->at->process, u->at->local, &n);
  value *copy = arena_copy(&u->arena, v, n * sizeof *v);
  for (uint32_t i = 0; i < u->nvars; i++)
    if (!u->moments.at[0].live[i] && !s->frozen->property_reads[u->at->role][i] && role->vars[i].kind != VAR_POINT &&
        role->vars[i].kind != VAR_ONCE)
      copy[LOCAL_VAR(i)] = VALUE_BLANK;
  return content_put(&s->cells, u->at->process, copy, n);
}

static content without_unread(struct interleave *s, const struct sight *at) {
  const struct role *role = &s->model->roles[at->role];
  const value *frozen = frozen_globals(s, at);
  if (!process_active(s->steps.local[LOCAL_STATUS]) || role_recovers(s->model, s->base.question, at->role))
    return at->local; /* point and status alone decide; or what it was comes back */
  struct future u = {.space = s, .at = at, .frozen = frozen, .length = role_local_length(role), .nvars = role->nvars};
  arena_init(&u.arena);
  moment_of(&u, s->steps.local);
  go_through(&u);
  content left = at->local;
  if (!u.unclear) {
    find_live(&u);
    left = blanked(&u);
  }
  for (size_t i = 0; i < u.moments.n; i++)
    vec_release(&u.moments.at[i].ways);
  vec_release(&u.moments);
  arena_release(&u.arena);
  return left;
}

content forget_unread(struct interleave *s, uint32_t p, content local, uint32_t globals) {
  struct frozen *f = s->frozen;
  uint32_t r = s->role_of[p];
  uint64_t who = s->steps.by_me[r] ? p : s->model->roles[r].first;
  uint32_t left;
  if (memo_find(&f->locals, who << 32 | local, globals, &left))
    return left;
  struct sight at = {.process = p, .role = r, .local = local, .globals = globals};
  left = without_unread(s, &at);
  memo_add(&f->locals, who << 32 | local, globals, left);
  return left;
}

uint32_t globals_of_row(struct interleave *s, const content *row, uint32_t role) {
  uint32_t n = 0;
  s->vector[n++] = role;
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    if (s->steps.used[role][g])
      s->vector[n++] = row[s->cells.global[g]];
  return intern_put(s->steps.global_sets, s->vector, n);
}

uint32_t globals_after(struct interleave *s, uint32_t role, uint32_t globals, uint32_t writes) {
  const value *written = intern_at(s->steps.writes, writes);
  size_t nwritten = intern_length(s->steps.writes, writes), n = intern_length(s->steps.global_sets, globals);
  if (nwritten == 0)
    return globals;
  memcpy(s->vector, intern_at(s->steps.global_sets, globals), n * sizeof *s->vector);
  for (size_t i = 0; i < nwritten; i += 2) {
    uint32_t k = 1;
    for (uint32_t g = 0; g < (uint32_t)written[i]; g++)
      k += s->steps.used[role][g];
    s->vector[k] = written[i + 1];
  }
  return intern_put(s->steps.global_sets, s->vector, n);
}
