#include "interp/local.h"

#include <string.h>

uint32_t role_ninputs(const struct role *role) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < role->nvars; i++)
    n += role->vars[i].kind == VAR_INPUT;
  return n;
}

uint32_t role_noracles(const struct role *role) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < role->nvars; i++)
    n += role->vars[i].kind == VAR_ORACLE;
  return n;
}

uint32_t role_local_length(const struct role *role) { return 1 + role->nvars + role_ninputs(role); }

uint32_t role_initial_at(const struct role *role, uint32_t var) {
  uint32_t at = 1 + role->nvars;
  for (uint32_t i = 0; i < var; i++)
    at += role->vars[i].kind == VAR_INPUT;
  return at;
}

bool process_active(value status) { return !(status & (STATUS_CRASHED | STATUS_HALTED | STATUS_BYZANTINE)); }

bool local_send_lists_equal(const struct local_send_list *a, const struct local_send_list *b) {
  bool same = a->n == b->n;
  for (size_t i = 0; i < a->n && same; i++)
    same = a->at[i].target == b->at[i].target && a->at[i].to_role == b->at[i].to_role && a->at[i].to == b->at[i].to &&
           a->at[i].message == b->at[i].message;
  return same;
}

bool round_send_reaches(const struct model *m, const struct local_send *s, uint32_t from, uint32_t to) {
  switch (s->target) {
  case TARGET_SET:
    return s->to_role == ROLE_ANY || model_role_of(m, to) == s->to_role;
  case TARGET_OTHERS:
    return from != to;
  case TARGET_ONE:
    return s->to == (value)to;
  case TARGET_EXPR:
    break;
  }
  return set_contains(&m->values, m->process_types.set, s->to, to);
}

void local_begin(struct eval *e, struct interpreter *interp, uint32_t me, uint32_t point, value phase, value *local,
                 const value *globals) {
  eval_begin(e, interp);
  e->me = me;
  e->role = model_role_of(interp->model, me);
  e->point = point;
  e->phase = phase;
  e->local = local;
  e->globals = globals;
  e->error.process = me;
}

bool local_sends(struct eval *e, struct local_send_list *out) {
  const struct body *body = &e->model->roles[e->role].body[e->point];
  jmp_buf failure;
  e->failure = &failure;
  e->interp->interpreted++;
  out->n = 0;
  coverage_mark(e->interp->coverage, body->at, COVERED_RUN);
  if (setjmp(failure))
    return false;
  for (uint32_t i = 0; i < body->nsends; i++) {
    const struct send *s = &body->sends[i];
    bool sends = eval_guard(e, &s->guard);
    coverage_mark(e->interp->coverage, s->at, COVERED_RUN | (sends ? COVERED_TRUE : COVERED_FALSE));
    if (!sends)
      continue;
    struct local_send one = {.target = s->target, .to_role = s->to_role, .type = s->message->type, .at = s->at};
    one.message = eval_node(e, s->message);
    if (s->to)
      one.to = eval_node(e, s->to);
    if (out->n == out->cap)
      out->at = vec_grow(out->at, &out->cap, out->n + 1, sizeof *out->at);
    out->at[out->n++] = one;
  }
  return true;
}

bool local_update(struct eval *e, const struct received *received) {
  const struct body *body = &e->model->roles[e->role].body[e->point];
  jmp_buf failure;
  e->failure = &failure;
  e->received = received;
  e->received_type = body->received;
  e->interp->interpreted++;
  coverage_mark(e->interp->coverage, body->at, COVERED_RUN);
  if (setjmp(failure))
    return false;
  eval_block(e, &body->update);
  eval_block(e, &body->finally);
  return true;
}

bool oracle_chosen_at(const struct model *m, const struct var *var, uint32_t point) {
  return var->kind == VAR_ORACLE && (var->each == EACH_ROUND || m->points[point].phase_start);
}

const value *oracle_choice(const struct model *m, const struct config *c, const struct witness *w, uint32_t p,
                           uint32_t var) {
  const struct role *role = &m->roles[model_role_of(m, p)];
  uint32_t position = 0;
  if (!w->oracles[p] || !process_active(c->local[p][LOCAL_STATUS]) || !oracle_chosen_at(m, &role->vars[var], c->point))
    return NULL;
  for (uint32_t i = 0; i < var; i++)
    position += role->vars[i].kind == VAR_ORACLE;
  return &w->oracles[p][position];
}

static bool oracle_reset_after(const struct model *m, const struct var *var, uint32_t point) {
  return var->kind == VAR_ORACLE && (var->each == EACH_ROUND || m->points[point].phase_end);
}

void local_reset_oracles(struct interpreter *interp, uint32_t r, uint32_t point, value *local) {
  const struct role *role = &interp->model->roles[r];
  bool idle = !process_active(local[LOCAL_STATUS]);
  for (uint32_t i = 0; i < role->nvars; i++)
    if (oracle_reset_after(interp->model, &role->vars[i], point) || (idle && role->vars[i].kind == VAR_ORACLE))
      local[LOCAL_VAR(i)] = type_default(&interp->model->values, role->vars[i].type);
}

/* --- initial local states --- */

void locals_release(struct locals *l) {
  memory_free(l->at);
  memset(l, 0, sizeof *l);
}

static void locals_add(struct locals *l, const value *local) {
  if ((l->n + 1) * l->length > l->cap)
    l->at = vec_grow(l->at, &l->cap, (l->n + 1) * l->length, sizeof *l->at);
  memcpy(l->at + l->n * l->length, local, l->length * sizeof *local);
  l->n++;
}

/* Without an initialiser, oracles, program points and `once` flags start with their type's first value. */
void local_first_value(struct eval *e, uint32_t i) {
  const struct var *var = &e->model->roles[e->role].vars[i];
  value *place = &e->local[LOCAL_VAR(i)];
  if (var->init) {
    *place = eval_node(e, var->init);
    check_in_type(e, var->type, *place, var->init->at, "value");
  } else if (var->kind == VAR_ORACLE || var->kind == VAR_POINT || var->kind == VAR_ONCE) {
    *place = type_default(e->values, var->type);
  } else {
    if (var->type->count == UINT64_MAX)
      eval_fail(e, var->at, "input '%s' has too many values to choose from", var->name);
    *place = type_nth(e->values, var->type, eval_choose(e, var->type->count));
  }
}

/* One run: an input without a given value is a free choice among the values of its type. */
static bool initial_run(struct eval *e, bool *refused) {
  const struct role *role = &e->model->roles[e->role];
  jmp_buf failure;
  e->failure = &failure;
  *refused = false;
  if (setjmp(failure))
    return false;
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *var = &role->vars[i];
    local_first_value(e, i);
    *refused = var->where && !eval_true(e, var->where);
    if (*refused) /* later initialisers need not be defined for such an input */
      return true;
    if (var->kind == VAR_INPUT)
      e->local[role_initial_at(role, i)] = e->local[LOCAL_VAR(i)];
  }
  return true;
}

/* The faults that a process of this role can have from the start, as sets of status bits. */
static uint32_t initial_faults(const struct model *m, uint32_t environment, uint32_t role, value *status) {
  const struct environment *env = &m->environments[environment];
  uint32_t n = 0;
  status[n++] = 0;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if ((c->role != ROLE_ANY && c->role != role) || c->limit == 0)
      continue;
    value s = c->kind == CLAUSE_BYZANTINE ? STATUS_BYZANTINE : 0;
    if (c->kind == CLAUSE_OMIT)
      s = (c->omits_send ? STATUS_OMITS_SEND : 0) | (c->omits_receive ? STATUS_OMITS_RECEIVE : 0);
    bool known = s == 0;
    for (uint32_t k = 0; k < n; k++)
      known |= status[k] == s;
    if (!known)
      status[n++] = s;
  }
  return n;
}

bool local_initials(struct interpreter *interp, uint32_t environment, uint32_t p, const value *globals,
                    struct locals *out, struct model_error *error) {
  const struct model *m = interp->model;
  uint32_t r = model_role_of(m, p);
  const struct role *role = &m->roles[r];
  out->length = role_local_length(role);
  out->n = 0;
  value status[32];
  uint32_t nstatus = initial_faults(m, environment, r, status);
  value *local = memory_alloc(out->length * sizeof *local);
  struct choices choices = {0};
  bool ok = true;
  for (uint32_t s = 0; s < nstatus && ok; s++) {
    if (status[s] == STATUS_BYZANTINE) {
      memset(local, 0, out->length * sizeof *local);
      local[LOCAL_STATUS] = STATUS_BYZANTINE;
      locals_add(out, local);
      continue;
    }
    choices_clear(&choices);
    do {
      struct eval e;
      bool refused;
      memset(local, 0, out->length * sizeof *local);
      local[LOCAL_STATUS] = status[s];
      local_begin(&e, interp, p, 0, 1, local, globals);
      e.choices = &choices;
      e.decisions = interp->decisions;
      ok = initial_run(&e, &refused);
      if (!ok)
        *error = e.error;
      else if (!refused)
        locals_add(out, local);
    } while (ok && choices_next(&choices));
  }
  choices_release(&choices);
  memory_free(local);
  return ok;
}
