/* Shared memory that will never be written again, judged by its own contents: for example, `if register == none {
   register := x }` once the register is not none. A process that reads only such memory and no messages depends on its
   local state alone. Its future is explored once, recording the variables it reads; variables that it never reads
   become don't-cares. (In Herlihy's consensus, a process that arrives late never reads its own input.) */
#include "steps/constant_memory.h"

#include "analysis/action_use.h"
#include "analysis/dataflow.h"
#include "analysis/model_visitor.h"
#include "analysis/stable_predicates.h"
#include "interp/local.h"
#include "steps/step_system_internal.h"

#include <string.h>

#define FUTURE_MOST 256 /* limit on the local states of a future; beyond it, no variable is cleared */

struct write_guards { /* an assignment to a global: it is never executed again once one of these conditions is false */
  uint32_t global;
  const struct node **at;
  uint32_t n;
};

struct constant_memory {
  const struct stable_predicates *stable;
  VEC(struct write_guards) write_guards;
  VEC(const struct node *)
  enclosing_guards;       /* during the walk over the text: the enclosing conditions that read shared memory only */
  bool *becomes_constant; /* by global: never written, or written only until some condition is false */
  struct memo locals;     /* (process and local state, globals) -> local state */
  bool **property_reads;
};

/* --- analysis of the text --- */

#define READS_MEMORY_ONLY                                                                                              \
  (TRAIT_SHARED | TRAIT_PROCESSES | TRAIT_BINDS | TRAIT_MULTIPLICITY | TRAIT_ORDERS | TRAIT_FAILS | TRAIT_CALLS)

static bool of_memory_alone(const struct model *m, const struct node *n) {
  return !node_has_traits_deep(m, n, ~(unsigned)READS_MEMORY_ONLY);
}

static void push_conjuncts(struct step_system *s, uint32_t role, const struct node *n) {
  struct constant_memory *f = s->dead.constant_memory;
  if (n->op == NODE_AND) {
    push_conjuncts(s, role, n->kid[0]);
    push_conjuncts(s, role, n->kid[1]);
  } else if (of_memory_alone(s->model, n) && predicate_stays_false(f->stable, role, n)) {
    vec_push(&f->enclosing_guards, n);
  }
}

static void add_write_guards(struct step_system *s, uint32_t global) {
  struct constant_memory *f = s->dead.constant_memory;
  struct write_guards v = {global, NULL, (uint32_t)f->enclosing_guards.n};
  v.at = arena_array(&s->arena, f->enclosing_guards.n + 1, sizeof *v.at);
  for (size_t i = 0; i < f->enclosing_guards.n; i++)
    v.at[i] = f->enclosing_guards.at[i];
  vec_push(&f->write_guards, v);
  f->becomes_constant[global] &= v.n > 0;
}

static void look_at_block(struct step_system *s, uint32_t role, const struct block *b) {
  struct constant_memory *f = s->dead.constant_memory;
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *t = b->at[i];
    if (t->kind == STMT_ASSIGN && t->shared)
      add_write_guards(s, t->var);
    size_t enclosing_guards = f->enclosing_guards.n;
    if (t->kind == STMT_IF && t->guard.ngen == 0 && t->guard.cond)
      push_conjuncts(s, role, t->guard.cond);
    look_at_block(s, role, &t->then);
    f->enclosing_guards.n = enclosing_guards;
    look_at_block(s, role, &t->other);
  }
}

static void look_at_actions(struct step_system *s, uint32_t r) {
  struct constant_memory *f = s->dead.constant_memory;
  for (uint32_t a = 0; a < s->model->roles[r].nactions; a++) {
    const struct condition_list *write_guards = action_necessary_conditions(f->stable, r, a);
    vec_clear(&f->enclosing_guards);
    for (uint32_t i = 0; i < write_guards->n; i++)
      if (of_memory_alone(s->model, write_guards->at[i]))
        vec_push(&f->enclosing_guards, write_guards->at[i]);
    look_at_block(s, r, &s->model->roles[r].actions[a].body);
  }
}

/* Is there a global that is written, but becomes constant? */
static bool some_becomes_constant(const struct step_system *s) {
  const struct constant_memory *f = s->dead.constant_memory;
  for (size_t i = 0; i < f->write_guards.n; i++)
    if (f->becomes_constant[f->write_guards.at[i].global])
      return true;
  return false;
}

void constant_memory_init(struct step_system *s) {
  const struct model *m = s->model;
  if (!s->base.licences->of[REDUCE_DEAD_VARIABLES].applied)
    return;
  struct constant_memory *f = s->dead.constant_memory = arena_alloc(&s->arena, sizeof *f);
  f->stable = stable_predicates_of(m, s->base.query, &s->arena);
  f->property_reads = s->use->property_reads;
  f->becomes_constant = arena_array(&s->arena, m->nglobals + 1, sizeof *f->becomes_constant);
  memset(f->becomes_constant, true, m->nglobals * sizeof *f->becomes_constant);
  for (uint32_t r = 0; r < m->nroles; r++)
    look_at_actions(s, r);
  vec_release(&f->enclosing_guards);
  if (!some_becomes_constant(s)) {
    vec_release(&f->write_guards);
    s->dead.constant_memory = NULL;
    return;
  }
  for (uint32_t r = 0; r < m->nroles; r++) /* which variables are cleared depends on all globals */
    for (uint32_t g = 0; g < m->nglobals; g++)
      s->steps.used[r][g] = true;
}

void constant_memory_release(struct step_system *s) {
  if (!s->dead.constant_memory)
    return;
  vec_release(&s->dead.constant_memory->write_guards);
  memo_release(&s->dead.constant_memory->locals);
}

/* --- which globals are constant --- */

static bool is_false(struct step_system *s, const struct node *n, const value *globals) {
  struct eval e;
  jmp_buf failure;
  eval_begin(&e, s->interp);
  e.globals = globals;
  e.failure = &failure;
  if (setjmp(failure))
    return false;
  return !eval_true(&e, n);
}

/* Also leaves the values of the globals in steps->globals. */
static const value *constant_globals(struct step_system *s, const struct visible_state *at) {
  struct constant_memory *f = s->dead.constant_memory;
  const struct model *m = s->model;
  local_steps_load(s, at);
  value *constant_memory = memory_alloc((m->nglobals + 1) * sizeof *constant_memory);
  for (uint32_t g = 0; g < m->nglobals; g++)
    constant_memory[g] = f->becomes_constant[g];
  for (size_t i = 0; i < f->write_guards.n; i++) {
    const struct write_guards *v = &f->write_guards.at[i];
    bool out = false;
    for (uint32_t k = 0; k < v->n && !out && constant_memory[v->global]; k++)
      out = is_false(s, v->at[k], s->steps.globals);
    constant_memory[v->global] &= out;
  }
  uint32_t known = intern_put(s->vectors, constant_memory, m->nglobals);
  memory_free(constant_memory);
  return intern_at(s->vectors, known);
}

/* --- the future of a process --- */

struct future_step { /* one outcome of an action */
  uint32_t to;
  bool *reads, *assigns; /* by variable */
};

struct future_state { /* a reachable local state */
  value *local;
  bool *live;
  VEC(struct future_step) ways;
};

struct local_future {
  struct step_system *system;
  const struct visible_state *at;
  const value *constant_memory;
  struct arena arena;
  VEC(struct future_state) states;
  uint32_t length, nvars;
  bool unclear;
};

static uint32_t future_state_of(struct local_future *u, const value *local) {
  for (size_t i = 0; i < u->states.n; i++)
    if (!memcmp(u->states.at[i].local, local, u->length * sizeof *local))
      return (uint32_t)i;
  struct future_state m = {.local = arena_copy(&u->arena, local, u->length * sizeof *local),
                           .live = arena_array(&u->arena, u->nvars + 1, sizeof *m.live)};
  vec_push(&u->states, m);
  u->unclear |= u->states.n > FUTURE_MOST;
  return (uint32_t)u->states.n - 1;
}

static void add_future_step(struct local_future *u, uint32_t from, uint32_t to, const bool *reads,
                            const struct span *assigned) {
  struct future_step w = {to, arena_copy(&u->arena, reads, u->nvars + 1), arena_array(&u->arena, u->nvars + 1, 1)};
  for (uint32_t i = 0; i < u->nvars; i++)
    w.assigns[i] = assigned[i].to != 0;
  vec_push(&u->states.at[from].ways, w);
}

/* Records every outcome of the action in that local state: its successor, and the variables it reads. */
static void follow_action(struct local_future *u, uint32_t from, uint32_t action) {
  struct step_system *s = u->system;
  struct choices choices = {0};
  bool *reads = arena_array(&u->arena, u->nvars + 1, sizeof *reads);
  struct assigned_places places = {arena_array(&u->arena, u->nvars + 1, sizeof(struct span)), NULL};
  value *local = arena_array(&u->arena, u->length, sizeof *local);
  value *globals = arena_array(&u->arena, s->model->nglobals + 1, sizeof *globals);
  do {
    struct model_error error;
    memset(reads, 0, u->nvars + 1);
    memset(places.local, 0, (u->nvars + 1) * sizeof *places.local);
    memcpy(local, u->states.at[from].local, u->length * sizeof *local);
    memcpy(globals, s->steps.globals, s->model->nglobals * sizeof *globals);
    s->interp->reads = reads;
    enum action_result result = action_take(s->interp, action, u->at->process, local, globals, NULL, 0, &choices,
                                            &s->steps.outbox, &places, &error);
    s->interp->reads = NULL;
    if (result == ACTION_DONE) {
      uint32_t to = future_state_of(u, local);
      add_future_step(u, from, to, reads, places.local);
    } else {
      memset(places.local, 0, (u->nvars + 1) * sizeof *places.local);
      add_future_step(u, from, from, reads, places.local);
    }
  } while (!u->unclear && choices_next(&choices));
  choices_release(&choices);
}

/* Does the action depend on nothing but the local state and constant memory? */
static bool depends_on_itself(const struct local_future *u, uint32_t action) {
  const struct step_system *s = u->system;
  const struct action_use *use = &s->use->of[u->at->role][action];
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    if (use->reads_shared[g] && !u->constant_memory[g])
      return false;
  return s->model->roles[u->at->role].actions[action].trigger == TRIGGER_NONE;
}

static void explore_future(struct local_future *u) {
  const struct role *role = &u->system->model->roles[u->at->role];
  for (size_t i = 0; i < u->states.n && !u->unclear; i++)
    for (uint32_t a = 0; a < role->nactions && !u->unclear; a++) {
      if (!action_open(u->system->model, u->at->role, u->states.at[i].local, a))
        continue;
      u->unclear = !depends_on_itself(u, a);
      if (!u->unclear)
        follow_action(u, (uint32_t)i, a);
    }
}

/* Backward fixpoint: a variable is live if a step reads it, or preserves it and it is live afterwards. */
static void find_live(struct local_future *u) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = 0; i < u->states.n; i++)
      for (size_t w = 0; w < u->states.at[i].ways.n; w++) {
        const struct future_step *way = &u->states.at[i].ways.at[w];
        const bool *after = u->states.at[way->to].live;
        bool *live = u->states.at[i].live;
        for (uint32_t v = 0; v < u->nvars; v++)
          if (!live[v] && (way->reads[v] || (after[v] && !way->assigns[v])))
            live[v] = changed = true;
      }
  }
}

static content with_unread_cleared(struct local_future *u) {
  struct step_system *s = u->system;
  const struct role *role = &s->model->roles[u->at->role];
  uint32_t n;
  const value *v = content_values(&s->cells, u->at->process, u->at->local, &n);
  value *copy = arena_copy(&u->arena, v, n * sizeof *v);
  for (uint32_t i = 0; i < u->nvars; i++)
    if (!u->states.at[0].live[i] && !s->dead.constant_memory->property_reads[u->at->role][i] &&
        role->vars[i].kind != VAR_POINT && role->vars[i].kind != VAR_ONCE)
      copy[LOCAL_VAR(i)] = VALUE_DONT_CARE;
  return content_put(&s->cells, u->at->process, copy, n);
}

static content compute_without_unread(struct step_system *s, const struct visible_state *at) {
  const struct role *role = &s->model->roles[at->role];
  const value *constant_memory = constant_globals(s, at);
  if (!process_active(s->steps.local[LOCAL_STATUS]) || role_recovers(s->model, s->base.query, at->role))
    return at->local; /* inactive: dead_data.c suffices; recovering: earlier values may be restored */
  struct local_future u = {.system = s,
                           .at = at,
                           .constant_memory = constant_memory,
                           .length = role_local_length(role),
                           .nvars = role->nvars};
  arena_init(&u.arena);
  future_state_of(&u, s->steps.local);
  explore_future(&u);
  content left = at->local;
  if (!u.unclear) {
    find_live(&u);
    left = with_unread_cleared(&u);
  }
  for (size_t i = 0; i < u.states.n; i++)
    vec_release(&u.states.at[i].ways);
  vec_release(&u.states);
  arena_release(&u.arena);
  return left;
}

content clear_unread_variables(struct step_system *s, uint32_t p, content local, uint32_t globals) {
  struct constant_memory *f = s->dead.constant_memory;
  uint32_t r = s->role_of[p];
  uint64_t who = s->steps.uses_identity[r] ? p : s->model->roles[r].first;
  uint32_t left;
  if (memo_find(&f->locals, who << 32 | local, globals, &left))
    return left;
  struct visible_state at = {.process = p, .role = r, .local = local, .globals = globals};
  left = compute_without_unread(s, &at);
  memo_add(&f->locals, who << 32 | local, globals, left);
  return left;
}

uint32_t globals_of_row(struct step_system *s, const content *row, uint32_t role) {
  uint32_t n = 0;
  s->scratch.vector[n++] = role;
  for (uint32_t g = 0; g < s->model->nglobals; g++)
    if (s->steps.used[role][g])
      s->scratch.vector[n++] = row[s->cells.global[g]];
  return intern_put(s->steps.global_sets, s->scratch.vector, n);
}

uint32_t globals_after(struct step_system *s, uint32_t role, uint32_t globals, uint32_t writes) {
  const value *written = intern_at(s->steps.writes, writes);
  size_t nwritten = intern_length(s->steps.writes, writes), n = intern_length(s->steps.global_sets, globals);
  if (nwritten == 0)
    return globals;
  memcpy(s->scratch.vector, intern_at(s->steps.global_sets, globals), n * sizeof *s->scratch.vector);
  for (size_t i = 0; i < nwritten; i += 2) {
    uint32_t k = 1;
    for (uint32_t g = 0; g < (uint32_t)written[i]; g++)
      k += s->steps.used[role][g];
    s->scratch.vector[k] = written[i + 1];
  }
  return intern_put(s->steps.global_sets, s->scratch.vector, n);
}
