/* Local states: the initial ones, and all that are reachable from them. */
#include "param/derive_internal.h"

#include "analysis/dataflow.h"
#include "base/memory.h"
#include "model/ages.h"

#include <string.h>

/* Is the variable live at any point? */
static bool is_ever_live(const struct derivation *dv, uint32_t var) {
  for (uint32_t p = 0; p <= dv->model->npoints; p++)
    if (dv->live->live[0][p][var])
      return true;
  return false;
}

bool derived_keeps(const struct derivation *dv, uint32_t point, uint32_t part, value status, uint32_t i) {
  const struct role *role = &dv->model->roles[0];
  if (i > role->nvars)
    return dv->keeps_initial && (!dv->part_of || dv->part_of[role->nvars] == part);
  if (status & STATUS_BYZANTINE)
    return true;
  uint32_t var = i - LOCAL_VAR(0);
  if (var == dv->leader)
    return process_active(status) && point != POINT_END && dv->leader_matters[point] && tells_class(dv, part);
  bool idle = (status & (STATUS_CRASHED | STATUS_HALTED)) != 0;
  bool all = dv->loops && point != POINT_END && !idle;
  const bool *live = idle ? dv->live->idle[0] : dv->live->live[0][point == POINT_END ? dv->model->npoints : point];
  return (all ? is_ever_live(dv, var) : live[var]) && (!dv->part_of || dv->part_of[var] == part);
}

value derived_default(const struct derivation *dv, uint32_t i) {
  const struct role *role = &dv->model->roles[0];
  struct values *values = (struct values *)&dv->model->values;
  return i > role->nvars || i == LOCAL_VAR(dv->leader) ? 0 : type_default(values, role->vars[i - LOCAL_VAR(0)].type);
}

/* Resets dead variables, and variables of other parts, to their default value. */
static void normalise(const struct derivation *dv, uint32_t point, uint32_t part, const value *from, value *to) {
  to[LOCAL_STATUS] = from[LOCAL_STATUS];
  for (uint32_t i = 1; i < dv->length; i++)
    to[i] = derived_keeps(dv, point, part, from[LOCAL_STATUS], i) ? from[i] : derived_default(dv, i);
  if (dv->leader != UINT32_MAX)
    to[LOCAL_VAR(dv->leader)] = derived_class(dv, part, to[LOCAL_VAR(dv->leader)]);
}

uint32_t derived_local(const struct derivation *dv, uint32_t point, uint32_t part, const value *local) {
  value *v = memory_alloc(dv->length * sizeof *v);
  uint32_t found = UINT32_MAX;
  normalise(dv, point, part, local, v);
  for (size_t i = 0; i < dv->locals.n && found == UINT32_MAX; i++)
    if (dv->parts.at[i] == part && memcmp(dv->locals.at[i], v, dv->length * sizeof *v) == 0)
      found = (uint32_t)i;
  memory_free(v);
  return found;
}

bool part_exists(const struct derivation *dv, uint32_t part) { return dv->part_used ? dv->part_used[part] : part == 0; }

uint32_t derived_local_put(struct derivation_builder *d, uint32_t point, uint32_t part, const value *local) {
  uint32_t known = derived_local(d->d, point, part, local);
  if (known != UINT32_MAX)
    return known;
  if (d->reached.closed) { /* all reachable local states are known */
    derive_refuse(d, d->role->at, "internal error: a local state was not derived");
    return UINT32_MAX;
  }
  if (d->d->locals.n == LOCALS_MAX) {
    derive_refuse(d, d->role->at, "there are more than %d local states", LOCALS_MAX);
    return UINT32_MAX;
  }
  value *v = arena_array(&d->d->arena, d->d->length, sizeof *v);
  normalise(d->d, point, part, local, v);
  vec_push(&d->d->locals, v);
  vec_push(&d->d->parts, part);
  return (uint32_t)d->d->locals.n - 1;
}

bool local_active(const struct derivation_builder *d, uint32_t local) {
  return process_active(d->d->locals.at[local][LOCAL_STATUS]);
}

bool local_has(const struct derivation_builder *d, uint32_t local, value status) {
  return (d->d->locals.at[local][LOCAL_STATUS] & status) != 0;
}

/* If there are two possible successors, they have the same live variables, so either will do. */
static uint32_t point_after(struct derivation_builder *d, uint32_t point) {
  struct next_round out[2];
  next_rounds(d, point, out);
  return out[0].to;
}

/* The leader's term ends with the phase. */
static void leader_forget(const struct derivation_builder *d, uint32_t point, value *local) {
  if (d->d->leader != UINT32_MAX && d->m->points[point].phase_end)
    local[LOCAL_VAR(d->d->leader)] = LEADER_FOLLOWS;
}

uint32_t local_after_update(struct derivation_builder *d, uint32_t local, uint32_t point, uint32_t effect) {
  value *v = memory_alloc(d->d->length * sizeof *v);
  const struct local_update *e = &d->reached.updates.at[effect];
  memcpy(v, d->d->locals.at[local], d->d->length * sizeof *v);
  v[LOCAL_STATUS] = e->at[0];
  for (size_t i = 1; i + 1 < e->n; i += 2)
    v[LOCAL_VAR(e->at[i])] = e->at[i + 1];
  leader_forget(d, point, v);
  uint32_t next = derived_local_put(d, point_after(d, point), d->d->parts.at[local], v);
  memory_free(v);
  return next;
}

uint32_t local_unchanged_after(struct derivation_builder *d, uint32_t local, uint32_t point, value more_status) {
  value *v = memory_alloc(d->d->length * sizeof *v);
  memcpy(v, d->d->locals.at[local], d->d->length * sizeof *v);
  v[LOCAL_STATUS] |= more_status;
  leader_forget(d, point, v);
  uint32_t next = derived_local_put(d, point_after(d, point), d->d->parts.at[local], v);
  memory_free(v);
  return next;
}

uint32_t leader_local(struct derivation_builder *d, uint32_t local, uint32_t point, value class) {
  value *v = memory_alloc(d->d->length * sizeof *v);
  memcpy(v, d->d->locals.at[local], d->d->length * sizeof *v);
  v[LOCAL_VAR(d->d->leader)] = class;
  uint32_t other = derived_local_put(d, point, d->d->parts.at[local], v);
  memory_free(v);
  return other;
}

uint32_t local_aged(struct derivation_builder *d, uint32_t local, uint32_t point, value becomes) {
  value *v = memory_alloc(d->d->length * sizeof *v);
  memcpy(v, d->d->locals.at[local], d->d->length * sizeof *v);
  for (uint32_t i = 0; i < d->role->nvars; i++)
    if (d->d->ages[i] && v[LOCAL_VAR(i)] == AGE_THIS_PHASE)
      v[LOCAL_VAR(i)] = becomes;
  uint32_t other = derived_local_put(d, point, d->d->parts.at[local], v);
  memory_free(v);
  return other;
}

/* What the message is besides its content. */
static unsigned message_kind(const struct derivation_builder *d, uint32_t local, uint32_t point,
                             const struct local_send *sent) {
  if (d->d->leader == UINT32_MAX || !d->reached.at[point].knows_leader)
    return 0;
  value class = local_class(d, d->d->locals.at[local]);
  bool few = class == LEADER_OTHER || class == LEADER_RIVAL;
  unsigned to = sent->target != TARGET_ONE ? 0 : few ? MESSAGE_TO_RIVAL : MESSAGE_TO_LEADER;
  bool asked = d->reached.at[point].reads->received >= RECEIVED_NAMED; /* for the message of a process */
  return to | (class == LEADER_LEADS && asked ? MESSAGE_FROM_LEADER : 0);
}

bool local_message(struct derivation_builder *d, uint32_t local, uint32_t point, value *message, unsigned *kind) {
  struct local_send_list out = {memory_alloc(sizeof *out.at), 0, 1};
  struct choices choices = {0};
  struct eval e;
  value *v = memory_alloc((d->interp->max_local + (size_t)1) * sizeof *v);
  memcpy(v, d->d->locals.at[local], d->d->length * sizeof *v);
  if (d->d->leader != UINT32_MAX)
    v[LOCAL_VAR(d->d->leader)] = leader_identity(d, local_class(d, v));
  local_begin(&e, d->interp, d->role->first, point, 1, v, NULL);
  e.choices = &choices;
  bool ok = local_sends(&e, &out);
  if (!ok)
    derive_refuse(d, e.error.at, "a message may fail: %s", e.error.message);
  else if (choices_next(&choices) || out.n > 1)
    derive_refuse(d, d->role->body[point].at, "what is sent in a round is not determined");
  bool sends = ok && out.n == 1;
  if (sends) {
    *message = out.at[0].message;
    *kind = message_kind(d, local, point, &out.at[0]);
  }
  choices_release(&choices);
  memory_free(out.at);
  memory_free(v);
  return sends;
}

uint32_t message_index(const struct schedule_point *at, value message, unsigned kind) {
  for (size_t i = 0; i < at->messages_possible.n; i++)
    if (at->messages_possible.at[i] == message && at->kinds.at[i] == kind)
      return (uint32_t)i;
  return UINT32_MAX;
}

/* ---- reachable local states ---- */

static void round_add(struct derivation_builder *d, uint32_t point, uint32_t local, bool *more) {
  struct schedule_point *at = &d->reached.at[point == POINT_END ? d->m->npoints : point];
  for (size_t i = 0; i < at->locals.n; i++)
    if (at->locals.at[i] == local)
      return;
  vec_push(&at->locals, local);
  *more = true;
}

/* With what the election and aging make of it. */
void derived_local_possible(struct derivation_builder *d, uint32_t point, uint32_t local, bool *more) {
  if (point != POINT_END && ages_end_at(d, point) && local_ages(d, local)) {
    struct schedule_point *at = &d->reached.at[point];
    for (size_t i = 0; i < at->aging.n; i++)
      if (at->aging.at[i] == local)
        return;
    vec_push(&at->aging, local);
    for (value age = AGE_OLD; age <= AGE_SINCE; age++) {
      uint32_t aged = local_aged(d, local, point, age);
      if (aged == UINT32_MAX)
        return;
      derived_local_possible(d, point, aged, more);
    }
    return;
  }
  round_add(d, point, local, more);
  if (point == POINT_END || !leader_begins_at(d, point) || !local_active(d, local) ||
      !tells_class(d->d, d->d->parts.at[local]))
    return;
  for (value class = LEADER_LEADS; class < (d->d->rivals ? LEADER_CLASSES : LEADER_OTHER); class ++) {
    uint32_t other = leader_local(d, local, point, class);
    if (other == UINT32_MAX)
      return;
    round_add(d, point, other, more);
  }
}

static bool add_at_next_rounds(struct derivation_builder *d, uint32_t point, uint32_t local, bool *more) {
  struct next_round out[2];
  uint32_t n = next_rounds(d, point, out);
  for (uint32_t i = 0; i < n && local != UINT32_MAX && !d->d->refused; i++)
    derived_local_possible(d, out[i].to, local, more);
  return local != UINT32_MAX && !d->d->refused;
}

static bool alphabet_add(struct derivation_builder *d, uint32_t point, value message, unsigned kind) {
  struct schedule_point *at = &d->reached.at[point];
  if (message_index(at, message, kind) != UINT32_MAX)
    return true;
  uint32_t heard = 0; /* with this one, by the leader or by others */
  for (size_t i = 0; i < at->kinds.n; i++)
    heard += !((kind | at->kinds.at[i]) & MESSAGE_TO_RIVAL && (kind | at->kinds.at[i]) & MESSAGE_TO_LEADER);
  if (heard >= HEARD_MAX || at->messages_possible.n == MESSAGES_MAX)
    return derive_refuse(d, d->role->body[point].at, "more than %d different messages can be sent in a round",
                         HEARD_MAX);
  vec_push(&at->messages_possible, message);
  vec_push(&at->kinds, kind);
  return true;
}

/* The messages that may be received: those sent, and those that can be forged. */
static bool find_alphabet(struct derivation_builder *d, uint32_t point, bool *more) {
  struct schedule_point *at = &d->reached.at[point];
  const struct type *type = d->role->body[point].received;
  size_t before = at->messages_possible.n;
  value message;
  unsigned kind;
  for (size_t i = 0; i < at->locals.n && !d->d->refused; i++)
    if (local_active(d, at->locals.at[i]) && d->d->parts.at[at->locals.at[i]] == at->sends &&
        local_message(d, at->locals.at[i], point, &message, &kind) && !alphabet_add(d, point, message, kind))
      return false;
  for (uint64_t i = 0; d->heard.forges && type && i < type->count && !d->d->refused; i++)
    if (!alphabet_add(d, point, type_nth(&d->interp->model->values, type, i), 0))
      return false;
  *more |= at->messages_possible.n != before;
  return !d->d->refused;
}

/* All successors of a local state by updates of `decides`, a local state of the same or of another part. */
static bool change(struct derivation_builder *d, uint32_t point, uint32_t local, uint32_t decides, bool *more) {
  const struct update_cases *o = update_cases_of(d, point, decides);
  bool ok = o != NULL;
  for (size_t i = 0; ok && i < o->cases.n; i++)
    if (!update_fails(d, o->cases.at[i].effect))
      ok = add_at_next_rounds(d, point, local_after_update(d, local, point, o->cases.at[i].effect), more);
  return ok;
}

static bool add_successors(struct derivation_builder *d, uint32_t point, uint32_t local, bool *more) {
  struct schedule_point *at = &d->reached.at[point];
  uint32_t part = d->d->parts.at[local];
  if (!local_active(d, local))
    return add_at_next_rounds(d, point, local_unchanged_after(d, local, point, 0), more);
  bool alone = part == at->updates || (at->by_class && tells_class(d->d, part));
  bool ok = !alone || change(d, point, local, local, more);
  for (size_t i = 0; !alone && i < at->locals.n && ok; i++) {
    uint32_t decides = at->locals.at[i];
    if (local_active(d, decides) && d->d->parts.at[decides] == at->updates && locals_agree(d, decides, local))
      ok = change(d, point, local, decides, more);
  }
  if (ok && d->heard.crashes)
    ok = add_at_next_rounds(d, point, local_unchanged_after(d, local, point, STATUS_CRASHED), more);
  if (ok && derive_moves_apart(d, point, part)) /* parts that change one after the other may also stay unchanged */
    ok = add_at_next_rounds(d, point, local_unchanged_after(d, local, point, 0), more);
  return ok;
}

static bool close_locals(struct derivation_builder *d) {
  for (bool more = true; more && !d->d->refused;) {
    more = false;
    for (uint32_t p = 0; p < d->m->npoints && !d->d->refused; p++) {
      if (!find_alphabet(d, p, &more))
        return false;
      for (size_t i = 0; i < d->reached.at[p].locals.n; i++)
        if (derive_stopped(d) || !add_successors(d, p, d->reached.at[p].locals.at[i], &more))
          return false;
    }
  }
  return !d->d->refused;
}

/* ---- parts of a process ---- */

uint32_t merge_parts(uint32_t *part, uint32_t n, const bool *vars) {
  uint32_t first = UINT32_MAX;
  for (uint32_t i = 0; i < n; i++)
    if (vars[i] && part[i] < first)
      first = part[i];
  for (uint32_t i = 0; i < n; i++) {
    uint32_t old = part[i];
    for (uint32_t k = 0; vars[i] && k < n; k++)
      if (part[k] == old)
        part[k] = first;
  }
  return first == UINT32_MAX ? 0 : first;
}

/* If nothing is read, any part will do: takes the part of the first send that reads variables, since it exists. */
static uint32_t merge_read_vars(struct derivation_builder *d, uint32_t *part, const bool *read) {
  uint32_t n = d->role->nvars;
  bool *vars = arena_copy(&d->d->arena, read, (n + (size_t)1) * sizeof *vars);
  if (d->d->leader != UINT32_MAX) /* parts tell the class where it matters */
    vars[d->d->leader] = false;
  for (uint32_t i = 0; i < n; i++)
    if (vars[i])
      return merge_parts(part, n, vars);
  for (uint32_t p = 0; p < d->m->npoints; p++) {
    const bool *sent = read_set_of_sends(d->m, 0, p, &d->d->arena)->vars;
    for (uint32_t i = 0; i < n; i++)
      if (sent[i])
        return merge_parts(part, n, sent);
  }
  return 0;
}

/* Finds the parts: one for the whole process in mode WHOLE, otherwise the variables that sends, updates and properties
   read together. */
static void find_parts(struct derivation_builder *d) {
  uint32_t n = d->role->nvars;
  uint32_t *part = arena_array(&d->d->arena, n + (size_t)1, sizeof *part);
  d->d->nparts = 1;
  if (d->mode != DERIVE_WHOLE) {
    for (uint32_t i = 0; i <= n; i++)
      part[i] = i;
    d->d->part_of = part;
    d->d->nparts = n + 1;
  }
  for (int pass = 0; pass < 2; pass++) { /* the second pass sees the final parts */
    for (uint32_t p = 0; p < d->m->npoints && d->d->part_of; p++) {
      d->reached.at[p].sends = merge_read_vars(d, part, read_set_of_sends(d->m, 0, p, &d->d->arena)->vars);
      d->reached.at[p].updates = merge_read_vars(d, part, d->reached.at[p].reads->vars);
    }
    derive_property_parts(d, part);
  }
  bool *tells = arena_array(&d->d->arena, n + (size_t)2, sizeof *tells);
  d->d->tells_class = tells;
  for (uint32_t p = 0; p < d->m->npoints && d->d->leader != UINT32_MAX; p++)
    if (d->reached.at[p].knows_leader)
      tells[d->reached.at[p].sends] = tells[d->reached.at[p].updates] = true;
  bool *selves = arena_array(&d->d->arena, n + (size_t)2, sizeof *selves);
  d->d->tells_self = selves;
  if (d->d->leader != UINT32_MAX)
    leader_find_selves(d, part, selves);
  for (uint32_t i = 0; i <= n; i++)
    tells[i] &= d->d->rivals || selves[i];
  if (!d->d->part_of)
    return;
  bool *used = arena_array(&d->d->arena, n + (size_t)2, sizeof *used);
  for (uint32_t p = 0; p < d->m->npoints; p++)
    used[d->reached.at[p].sends] = used[d->reached.at[p].updates] = true;
  for (size_t i = 0; i < d->parts.of_names.n; i++)
    used[d->parts.of_names.at[i].part] = true;
  for (uint32_t i = 0; i < d->q->nproperties; i++)
    if (d->m->properties[d->q->properties[i]].step)
      used[d->parts.of_step] = true;
  d->d->part_used = used;
}

static bool find_initial(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_INITIAL;
  return !*found;
}

bool derive_locals(struct derivation_builder *d) {
  d->reached.at = arena_array(&d->d->arena, d->m->npoints + (size_t)1, sizeof *d->reached.at);
  for (uint32_t p = 0; p < d->m->npoints; p++)
    d->reached.at[p].reads = read_set_of_update(d->m, 0, p, &d->d->arena);
  d->d->length = role_local_length(d->role);
  d->d->live = live_variables_of(d->m, d->q, &d->d->arena);
  for (uint32_t i = 0; i < d->q->nproperties; i++)
    node_walk_deep(d->m, d->m->properties[d->q->properties[i]].formula, find_initial, &d->d->keeps_initial);
  leader_find_rounds(d);
  find_parts(d);
  return first_values_find(d) && close_locals(d);
}
