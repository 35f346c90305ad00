/* Fairness groups as numbers, which are private to a run. interp/fairness_groups.c defines the groups. */
#include "steps/step_fairness.h"

#include "steps/process_moves.h"
#include "steps/step_system_internal.h"

void groups_init(struct step_system *s) {
  const struct query *q = s->base.query;
  s->liveness.group_names = intern_new();
  if (query_is_live(s->model, q))
    s->liveness.fair = environment_fairness(s->env);
  for (uint32_t g = 0; g < s->model->nglobals && s->liveness.fair && s->liveness.fair->to_followed; g++)
    if (s->model->globals[g].followed && s->model->globals[g].type->kind == TYPE_PROCESS)
      s->liveness.followed[s->liveness.nfollowed++] = g;
}

/* Several inputs may name one process: the first of them counts, in every state, because they never change. */
uint32_t group_in_state(const struct step_system *s, uint32_t group) {
  if (group == NO_GROUP || !s->liveness.fair->to_followed)
    return group;
  const value *named = intern_at(s->liveness.group_names, group);
  for (uint32_t i = 0; i < s->liveness.nfollowed; i++) {
    uint32_t n, cell = s->cells.global[s->liveness.followed[i]];
    if (*content_values(&s->cells, cell, key_get(&s->keys, s->words, cell), &n) == named[0])
      return intern_put(s->liveness.group_names, (value[]){-1 - (value)i, named[1]}, 2);
  }
  return NO_GROUP;
}

static uint32_t group_put(struct step_system *s, const struct fair_group *g) {
  return intern_put(s->liveness.group_names, (value[]){g->process, g->action, g->sender, g->message}, 4);
}

uint32_t group_of_event(struct step_system *s, const struct event *e) {
  struct fair_group group;
  if (!s->liveness.fair || !event_fair_group(s->interp, s->base.query->environment, e, &group))
    return NO_GROUP;
  return group_put(s, &group);
}

uint32_t group_of_action(struct step_system *s, uint32_t p, uint32_t action, const struct inbox_entry *in) {
  struct taken_message one = {0};
  struct event e = {.kind = EVENT_ACTION, .process = p, .action = action, .taken = &one, .ntaken = in != NULL};
  if (in)
    one = (struct taken_message){.from = in->from, .place = in->place, .forged = in->forged, .message = in->message};
  return group_of_event(s, &e);
}

/* --- enabled groups --- */

struct step_enabled_groups {
  struct step_system *system;
  group_fn *visit;
  void *context;
  VEC(uint32_t) seen;
};

static void note_possible(void *context, const struct fair_group *group) {
  struct step_enabled_groups *p = context;
  uint32_t id = group_in_state(p->system, group_put(p->system, group));
  if (id == NO_GROUP)
    return;
  for (size_t i = 0; i < p->seen.n; i++)
    if (p->seen.at[i] == id)
      return;
  vec_push(&p->seen, id);
  p->visit(p->context, id);
}

/* In these cases, whether a group is enabled depends on more than what a process sees: room in a channel, messages in
   transit. */
static bool needs_interpreter(const struct step_system *s) {
  return s->plain || s->cells.bound > 0 || (s->model->nmessages > 0 && !semantics_delivers(s->base.query->semantics));
}

void step_system_enabled(struct system *system, const struct state *state, group_fn *visit, void *context) {
  struct step_system *s = step_system_of(system);
  if (!s->liveness.fair)
    return;
  keys_load(&s->keys, state, s->words);
  if (needs_interpreter(s)) {
    struct step_enabled_groups possible = {.system = s, .visit = visit, .context = context};
    keys_unpack(&s->keys, s->words, s->scratch.row);
    struct config *c = state_cells_to_config(&s->cells, s->scratch.row);
    config_groups(s->interp, s->base.query->environment, c, note_possible, &possible);
    config_free(c);
    vec_release(&possible.seen);
    return;
  }
  uint32_t byzantine = load_visible_memory(s);
  for (uint32_t p = 0; p < s->model->nprocesses; p++) {
    const struct moves *moves = moves_of(s, p, byzantine);
    for (uint32_t i = 0; i < moves->ngroups; i++) {
      uint32_t group = group_in_state(s, moves->groups[i]);
      if (group != NO_GROUP)
        visit(context, group);
    }
  }
}
