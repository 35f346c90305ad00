/* What the analyses claim of models of steps, against the interp. Renaming processes, turning rings,
   renaming values, filling in dead variables otherwise and leaving out dead messages must lead to the
   same successors; what an action is said to read and write must be all that it reads and writes;
   what no property is said to see must change no verdict; and conditions that are said to stay false
   must stay false. Tried on models put together from pieces, good and bad ones alike. */
#include "analysis/action_use.h"
#include "analysis/licence.h"
#include "analysis/model_visitor.h"
#include "analysis/stable_predicates.h"
#include "interp/events.h"
#include "interp/local.h"
#include "lang/typecheck.h"

#include "base/vec.h"
#include "model_dump.h"
#include "short.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct step_licence_fixture {
  struct arena arena;
  struct model *model;
  struct interpreter *interp;
  struct query query;
  struct licences *licences;
  struct step_live_variables *live;
  struct action_uses *use;
  struct stable_predicates *stable;
  struct intern *configs; /* written down as numbers */
  const char *broken;
  unsigned long claims[8]; /* how often something was claimed, by test */
};

enum claim {
  CLAIM_SYMMETRY,
  CLAIM_VALUES,
  CLAIM_DEAD,
  CLAIM_STAYS,
  CLAIM_IDLE,
  CLAIM_UNSEEN,
  CLAIM_UNREAD,
  CLAIM_GONE
};

/* --- configurations --- */

static bool fifo(const struct step_licence_fixture *t) {
  const struct clause *c = query_channels(t->model, &t->query);
  return c && c->channel == CHANNEL_FIFO;
}

static const bool *live_vars(const struct step_licence_fixture *t, const struct config *c, uint32_t p) {
  uint32_t r = model_role_of(t->model, p);
  const struct role *role = &t->model->roles[r];
  if (!process_active(c->local[p][LOCAL_STATUS]))
    return t->live->idle[r];
  uint32_t label = role->point_var == NO_VAR ? 0 : (uint32_t)c->local[p][LOCAL_VAR(role->point_var)];
  return t->live->live[r][label];
}

/* Written down as a number; dead variables are left out if asked. */
static uint32_t config_id(struct step_licence_fixture *t, const struct config *c, bool live_only) {
  const struct model *m = t->model;
  VEC(value) v = {0};
  vec_push(&v, c->lost);
  vec_push(&v, c->duplicated);
  for (uint32_t i = 0; i < m->nglobals; i++)
    vec_push(&v, c->globals[i]);
  for (uint32_t p = 0; p < c->nprocesses; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    value status = c->local[p][LOCAL_STATUS];
    const bool *live = live_vars(t, c, p);
    vec_push(&v, status);
    for (uint32_t i = 1; i < role_local_length(role); i++) {
      bool dead = i <= role->nvars && live_only && !(status & STATUS_BYZANTINE) && !live[i - 1];
      vec_push(&v, dead ? 0 : c->local[p][i]);
    }
  }
  for (uint32_t i = 0; i < c->npackets; i++) {
    const struct packet *k = &c->packets[i];
    vec_push(&v, k->from);
    vec_push(&v, k->to);
    vec_push(&v, k->kind);
    vec_push(&v, (value)k->place);
    vec_push(&v, k->message);
  }
  uint32_t id = intern_put(t->configs, v.at, v.n);
  vec_release(&v);
  return id;
}

static bool goes_before(const struct step_licence_fixture *t, const struct packet *a, const struct packet *b) {
  if (!fifo(t))
    return packet_compare(t->model, a, b) < 0;
  return a->to != b->to ? a->to < b->to : a->from < b->from; /* else as they are */
}

static void sort_packets(const struct step_licence_fixture *t, struct config *c) {
  for (uint32_t i = 1; i < c->npackets; i++)
    for (uint32_t k = i; k > 0 && goes_before(t, &c->packets[k], &c->packets[k - 1]); k--) {
      struct packet swap = c->packets[k];
      c->packets[k] = c->packets[k - 1];
      c->packets[k - 1] = swap;
    }
}

static struct config *config_renamed(struct step_licence_fixture *t, const struct renaming *by,
                                     const struct config *c) {
  struct model *m = t->model;
  struct config *out = config_copy(m, c);
  for (uint32_t i = 0; i < m->nglobals; i++)
    out->globals[i] = value_rename(&m->values, m->globals[i].type, c->globals[i], by);
  for (uint32_t p = 0; p < c->nprocesses; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    value *to = out->local[by->process ? by->process[p] : p];
    memcpy(to, c->local[p], role_local_length(role) * sizeof *to);
    if (to[LOCAL_STATUS] & STATUS_BYZANTINE) /* it has no variables */
      continue;
    for (uint32_t i = 0; i < role->nvars; i++) {
      const struct type *type = role->vars[i].type;
      to[LOCAL_VAR(i)] = value_rename(&m->values, type, c->local[p][LOCAL_VAR(i)], by);
      if (role->vars[i].kind == VAR_INPUT) {
        uint32_t at = role_initial_at(role, i);
        to[at] = value_rename(&m->values, type, c->local[p][at], by);
      }
    }
  }
  for (uint32_t i = 0; i < c->npackets; i++) {
    struct packet *k = &out->packets[i];
    k->from = by->process ? by->process[k->from] : k->from;
    k->to = by->process ? by->process[k->to] : k->to;
    k->message = value_rename(&m->values, m->messages[k->kind].type, k->message, by);
  }
  sort_packets(t, out);
  return out;
}

/* All copies of one message of one channel. */
static struct config *config_without(struct step_licence_fixture *t, const struct config *c,
                                     const struct packet *gone) {
  struct config *out = config_copy(t->model, c);
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->npackets; i++) {
    const struct packet *k = &c->packets[i];
    if (k->from != gone->from || k->to != gone->to || k->kind != gone->kind || k->message != gone->message)
      out->packets[n++] = *k;
  }
  out->npackets = n;
  return out;
}

/* --- sets of configurations --- */

struct config_set {
  struct step_licence_fixture *trial;
  const struct renaming *by; /* applied to what is put in, or NULL */
  const struct packet *gone; /* left out of what is put in, or NULL */
  bool live_only;
  VEC(uint32_t) ids;         /* sorted; an error of the model is UINT32_MAX */
  VEC(struct config *) keep; /* if collect */
  bool collect;
};

static bool set_put(struct config_set *s, uint32_t id) {
  size_t lo = 0, hi = s->ids.n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (s->ids.at[mid] < id)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo < s->ids.n && s->ids.at[lo] == id)
    return false;
  vec_push(&s->ids, 0);
  memmove(s->ids.at + lo + 1, s->ids.at + lo, (s->ids.n - 1 - lo) * sizeof *s->ids.at);
  s->ids.at[lo] = id;
  return true;
}

static bool put_config(void *context, const struct config *c) {
  struct config_set *s = context;
  struct config *image = s->by     ? config_renamed(s->trial, s->by, c)
                         : s->gone ? config_without(s->trial, c, s->gone)
                                   : NULL;
  bool fresh = set_put(s, config_id(s->trial, image ? image : c, s->live_only));
  if (fresh && s->collect)
    vec_push(&s->keep, config_copy(s->trial->model, c));
  config_free(image);
  return true;
}

static bool put_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                     const struct model_error *error) {
  (void)w;
  (void)error;
  struct config_set *s = context;
  if (result == STEP_OK)
    return put_config(s, next);
  set_put(s, UINT32_MAX);
  return true;
}

static void set_release(struct config_set *s) {
  for (size_t i = 0; i < s->keep.n; i++)
    config_free(s->keep.at[i]);
  vec_release(&s->keep);
  vec_release(&s->ids);
}

static bool same_sets(const struct config_set *a, const struct config_set *b) {
  return a->ids.n == b->ids.n && (a->ids.n == 0 || !memcmp(a->ids.at, b->ids.at, a->ids.n * sizeof *a->ids.at));
}

static bool same_truth(struct step_licence_fixture *t, const struct config *a, const struct config *b) {
  for (uint32_t i = 0; i < t->query.nproperties; i++) {
    const struct property *p = &t->model->properties[t->query.properties[i]];
    if (!p->step &&
        config_holds(t->interp, p->formula, a, NULL, NULL) != config_holds(t->interp, p->formula, b, NULL, NULL))
      return false;
  }
  return true;
}

/* --- renamings --- */

static bool alike(struct step_licence_fixture *t, const struct renaming *by, const struct config *c) {
  struct config_set images = {.trial = t, .by = by}, of_image = {.trial = t};
  struct config *image = config_renamed(t, by, c);
  config_successors(t->interp, t->query.environment, c, put_step, &images);
  config_successors(t->interp, t->query.environment, image, put_step, &of_image);
  bool good = same_sets(&images, &of_image) && same_truth(t, c, image);
  config_free(image);
  set_release(&images);
  set_release(&of_image);
  return good;
}

static bool symmetric_at(struct step_licence_fixture *t, const struct config *c) {
  uint32_t n = t->model->nprocesses, to[8];
  bool good = true;
  for (uint32_t r = 0; r < t->model->nroles && good; r++) {
    const struct role *role = &t->model->roles[r];
    enum identity_use use = t->licences->identity[r];
    for (uint32_t a = 0; a + 1 < role->count && good && use != IDENTITY_NUMBERED; a++) {
      for (uint32_t i = 0; i < n; i++)
        to[i] = i;
      if (use == IDENTITY_RING) {
        for (uint32_t i = 0; i < role->count; i++)
          to[role->first + i] = role->first + (i + a + 1) % role->count;
      } else { /* neighbours make all the others */
        to[role->first + a] = role->first + a + 1;
        to[role->first + a + 1] = role->first + a;
      }
      struct renaming by = {.process = to};
      t->claims[CLAIM_SYMMETRY]++;
      good = alike(t, &by, c);
    }
  }
  return good;
}

static bool renamed_at(struct step_licence_fixture *t, const struct config *c) {
  const struct type *type = t->licences->value_type;
  uint32_t to[8];
  bool good = true;
  for (uint32_t a = 0; a + 1 < type->count && good; a++) {
    for (uint32_t i = 0; i < type->count; i++)
      to[i] = i == a ? a + 1 : i == a + 1 ? a : i;
    struct renaming by = {.type = type, .to = to};
    t->claims[CLAIM_VALUES]++;
    good = alike(t, &by, c);
  }
  return good;
}

/* --- dead variables --- */

static bool dead_at(struct step_licence_fixture *t, const struct config *c) {
  struct model *m = t->model;
  struct config *other = config_copy(m, c);
  bool some = false;
  for (uint32_t p = 0; p < c->nprocesses; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    const bool *live = live_vars(t, c, p);
    if (c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE)
      continue;
    for (uint32_t v = 0; v < role->nvars; v++)
      if (!live[v]) {
        other->local[p][LOCAL_VAR(v)] = type_nth(&m->values, role->vars[v].type, role->vars[v].type->count - 1);
        some = true;
      }
  }
  struct config_set a = {.trial = t, .live_only = true}, b = {.trial = t, .live_only = true};
  if (some) {
    config_successors(t->interp, t->query.environment, c, put_step, &a);
    config_successors(t->interp, t->query.environment, other, put_step, &b);
    t->claims[CLAIM_DEAD]++;
  }
  bool good = same_sets(&a, &b) && same_truth(t, c, other);
  set_release(&a);
  set_release(&b);
  config_free(other);
  return good;
}

/* --- conditions --- */

struct permanence_query {
  uint32_t process, action, from;
  value message;
};

/* 1, 0, or -1: an error. */
static int truth_of(struct step_licence_fixture *t, const struct config *c, const struct permanence_query *q,
                    const struct node *condition) {
  struct eval e;
  jmp_buf failure;
  const struct role *role = &t->model->roles[model_role_of(t->model, q->process)];
  const struct action *a = &role->actions[q->action];
  local_begin(&e, t->interp, q->process, 0, 1, c->local[q->process], c->globals);
  e.failure = &failure;
  if (setjmp(failure))
    return -1;
  if (a->trigger != TRIGGER_NONE) {
    size_t n;
    e.slot[a->slot] = q->message;
    e.slot_sender[a->slot] = q->from;
    if (a->from_slot != NO_SLOT)
      e.slot[a->from_slot] = q->from;
    const value *parts = value_parts(&t->model->values, q->message, &n);
    for (uint32_t i = 0; i < a->nparts; i++)
      e.slot[a->parts[i].slot] = parts[a->parts[i].field];
  }
  return eval_true(&e, condition);
}

static void complain(struct step_licence_fixture *t, const char *what, const struct node *n) {
  struct text out = {0};
  node_print(t->model, n, &out);
  t->broken = arena_printf(&t->arena, "%s: %s", what, text_or_empty(&out));
  text_release(&out);
}

/* Evaluates never fails, and false stays false, whatever the message. */
static void stays_false(struct step_licence_fixture *t, const struct config *before, const struct config *after,
                        const struct permanence_query *q, const struct node *condition, bool may_fail) {
  int first = truth_of(t, before, q, condition);
  if (first < 0 && !may_fail)
    complain(t, "a condition fails", condition);
  if (first != 0)
    return;
  t->claims[CLAIM_STAYS]++;
  if (truth_of(t, after, q, condition) == 1)
    complain(t, "a condition comes true again", condition);
}

static void check_stays(struct step_licence_fixture *t, const struct config *before, const struct config *after,
                        uint32_t p) {
  const struct model *m = t->model;
  uint32_t r = model_role_of(m, p);
  for (uint32_t i = 0; i < m->roles[r].nactions && !t->broken; i++) {
    const struct action *a = &m->roles[r].actions[i];
    const struct condition_list *vetoes = action_necessary_conditions(t->stable, r, i), *effects;
    bool told = action_change_conditions(t->stable, r, i, &effects);
    const struct type *type = a->trigger == TRIGGER_NONE ? NULL : m->messages[a->kind].type;
    for (uint64_t k = 0; k < (type ? type->count : 1) && !t->broken; k++)
      for (uint32_t from = 0; from < (type ? m->nprocesses : 1) && !t->broken; from++) {
        struct permanence_query q = {p, i, from, type ? type_nth(&t->model->values, type, k) : 0};
        for (uint32_t c = 0; c < vetoes->n; c++)
          stays_false(t, before, after, &q, vetoes->at[c], false);
        for (uint32_t c = 0; c < effects->n && told; c++)
          stays_false(t, before, after, &q, effects->at[c], false);
        if (a->guard.cond && a->guard.ngen == 0 && a->trigger != TRIGGER_QUORUM &&
            predicate_stays_false(t->stable, r, a->guard.cond))
          stays_false(t, before, after, &q, a->guard.cond, true);
      }
  }
}

/* --- one step --- */

/* Nothing that an action took may have been vetoed. */
static void check_taken(struct step_licence_fixture *t, const struct config *c, const struct event *e) {
  uint32_t r = model_role_of(t->model, e->process);
  const struct condition_list *vetoes = action_necessary_conditions(t->stable, r, e->action);
  for (uint32_t i = 0; i < vetoes->n; i++)
    for (uint32_t k = 0; k < e->ntaken; k++) {
      struct permanence_query q = {e->process, e->action, e->taken[k].from, e->taken[k].message};
      if (truth_of(t, c, &q, vetoes->at[i]) == 0)
        complain(t, "taken against a veto", vetoes->at[i]);
    }
}

static bool changes_only_inbox(const struct step_licence_fixture *t, const struct config *before,
                               const struct config *after) {
  return config_stutters(t->model, before, after) && after->npackets <= before->npackets;
}

/* What is told to have no effect has none. */
static void check_idle(struct step_licence_fixture *t, const struct config *c, const struct event *e,
                       enum step_result result, const struct config *next) {
  uint32_t r = model_role_of(t->model, e->process);
  const struct condition_list *effects;
  if (!action_change_conditions(t->stable, r, e->action, &effects))
    return;
  for (uint32_t k = 0; k < (e->ntaken ? e->ntaken : 1); k++) {
    struct permanence_query q = {e->process, e->action, 0, 0};
    bool idle = true;
    if (e->ntaken) {
      q.from = e->taken[k].from;
      q.message = e->taken[k].message;
    } else if (t->model->roles[r].actions[e->action].trigger == TRIGGER_QUORUM) {
      return;
    }
    for (uint32_t i = 0; i < effects->n && idle; i++)
      idle = truth_of(t, c, &q, effects->at[i]) == 0;
    if (!idle)
      continue;
    t->claims[CLAIM_IDLE]++;
    if (result != STEP_OK || !changes_only_inbox(t, c, next))
      t->broken = "an action has an effect after all";
  }
}

static void check_writes(struct step_licence_fixture *t, const struct config *c, const struct event *e,
                         const struct config *next) {
  const struct model *m = t->model;
  uint32_t r = model_role_of(m, e->process);
  const struct action_use *use = &t->use->of[r][e->action];
  for (uint32_t v = 0; v < m->roles[r].nvars; v++)
    if (c->local[e->process][LOCAL_VAR(v)] != next->local[e->process][LOCAL_VAR(v)] && !use->writes[v])
      t->broken = "an action writes what it is not said to";
  for (uint32_t v = 0; v < m->nglobals; v++)
    if (c->globals[v] != next->globals[v] && !use->writes_shared[v])
      t->broken = "an action writes a global that it is not said to";
  if (c->local[e->process][LOCAL_STATUS] != next->local[e->process][LOCAL_STATUS] && !use->halts)
    t->broken = "an action halts that is not said to";
}

/* The same step with other values in what it is not said to read: the same changes. */
static void check_reads(struct step_licence_fixture *t, const struct config *c, const struct witness *w,
                        const struct config *next) {
  struct model *m = t->model;
  uint32_t p = w->event->process, r = model_role_of(m, p), n = m->roles[r].nvars;
  const struct action_use *use = &t->use->of[r][w->event->action];
  struct config *other = config_copy(m, c), *then = config_new(m);
  for (uint32_t v = 0; v < n + m->nglobals && !t->broken; v++) {
    bool shared = v >= n;
    uint32_t i = shared ? v - n : v;
    if (shared ? use->reads_shared[i] : use->reads[i])
      continue;
    const struct type *type = shared ? m->globals[i].type : m->roles[r].vars[i].type;
    value *place = shared ? &other->globals[i] : &other->local[p][LOCAL_VAR(i)], kept = *place;
    *place = type_nth(&m->values, type, (type_index(&m->values, type, kept) + 1) % type->count);
    value set = *place;
    struct model_error error;
    t->claims[CLAIM_UNREAD]++;
    if (config_step(t->interp, t->query.environment, other, w, then, NULL, &error) != STEP_OK) {
      t->broken = "an action needs what it is not said to read";
    } else { /* the one variable is as it was put, or as it was written */
      value *left = shared ? &then->globals[i] : &then->local[p][LOCAL_VAR(i)];
      value written = shared ? next->globals[i] : next->local[p][LOCAL_VAR(i)];
      if (*left != set && *left != written)
        t->broken = "an action reads what it is not said to";
      *left = written;
      if (config_id(t, then, false) != config_id(t, next, false))
        t->broken = "an action does something else with what it is not said to read";
    }
    *place = kept;
  }
  config_free(other);
  config_free(then);
}

static bool step_is_seen(const struct step_licence_fixture *t, const struct event *e) {
  uint32_t r = model_role_of(t->model, e->process);
  switch (e->kind) {
  case EVENT_ACTION:
    return t->use->of[r][e->action].visible;
  case EVENT_CRASH:
    return t->use->crash_visible;
  case EVENT_RECOVER:
    return t->use->recovery_visible[r];
  default:
    return false;
  }
}

/* A step that no property sees changes the truth of none, and breaks none that speaks of steps. */
static void check_seen(struct step_licence_fixture *t, const struct config *c, const struct event *e,
                       const struct config *next) {
  if (step_is_seen(t, e))
    return;
  t->claims[CLAIM_UNSEEN]++;
  if (!same_truth(t, c, next))
    t->broken = "an unseen step changes the truth of a property";
  for (uint32_t i = 0; i < t->query.nproperties; i++) {
    const struct property *p = &t->model->properties[t->query.properties[i]];
    if (p->step && config_holds(t->interp, p->formula, c, next, NULL) != V_TRUE)
      t->broken = "an unseen step breaks a property";
  }
}

static void check_points(struct step_licence_fixture *t, const struct config *c, const struct config *next,
                         uint32_t p) {
  uint32_t r = model_role_of(t->model, p), point = t->model->roles[r].point_var;
  if (point == NO_VAR || (c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE))
    return;
  if (!point_reaches(t->stable, r, (uint32_t)c->local[p][LOCAL_VAR(point)], (uint32_t)next->local[p][LOCAL_VAR(point)]))
    t->broken = "a program point is reached that is not said to be";
}

struct step_walk {
  struct step_licence_fixture *trial;
  const struct config *before;
};

static bool check_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  (void)error;
  struct step_walk *s = context;
  struct step_licence_fixture *t = s->trial;
  const struct event *e = w->event;
  if (e->kind == EVENT_ACTION) {
    check_taken(t, s->before, e);
    check_idle(t, s->before, e, result, next);
  }
  if (result != STEP_OK || t->broken)
    return !t->broken;
  for (uint32_t p = 0; p < next->nprocesses && !t->broken; p++) {
    if (next->local[p][LOCAL_STATUS] & STATUS_BYZANTINE)
      continue;
    check_stays(t, s->before, next, p);
    check_points(t, s->before, next, p);
  }
  if (!t->broken)
    check_seen(t, s->before, e, next);
  if (e->kind == EVENT_ACTION && !t->broken) {
    check_writes(t, s->before, e, next);
    check_reads(t, s->before, w, next);
  }
  return !t->broken;
}

/* --- dead messages --- */

/* Will nobody take the message, or to no effect? As whoever forgets messages finds out. */
static bool message_is_dead(struct step_licence_fixture *t, const struct config *c, const struct packet *k) {
  const struct model *m = t->model;
  uint32_t r = model_role_of(m, k->to);
  const struct role *role = &m->roles[r];
  const value *local = c->local[k->to];
  for (uint32_t i = 0; i < role->nactions; i++) {
    const struct action *a = &role->actions[i];
    const struct condition_list *vetoes = action_necessary_conditions(t->stable, r, i), *effects;
    struct permanence_query q = {k->to, i, k->from, k->message};
    if (a->trigger == TRIGGER_NONE || a->kind != k->kind)
      continue;
    bool useless = role->point_var != NO_VAR && a->point != ANY_POINT &&
                   !point_reaches(t->stable, r, (uint32_t)local[LOCAL_VAR(role->point_var)], a->point);
    useless |= a->once != NO_SLOT && local[LOCAL_VAR(a->once)] == 1 && !role_recovers(m, &t->query, r);
    for (uint32_t v = 0; v < vetoes->n && !useless; v++)
      useless = truth_of(t, c, &q, vetoes->at[v]) == 0;
    if (!useless && !(a->trigger == TRIGGER_QUORUM && a->taken) &&
        action_change_conditions(t->stable, r, i, &effects)) {
      useless = true;
      for (uint32_t v = 0; v < effects->n && useless; v++)
        useless = truth_of(t, c, &q, effects->at[v]) == 0;
    }
    if (!useless)
      return false;
  }
  return true;
}

/* Without it the same happens, but that it is taken, lost or delivered. */
static void check_dead_messages(struct step_licence_fixture *t, const struct config *c) {
  for (uint32_t i = 0; i < c->npackets && !t->broken; i++) {
    const struct packet *k = &c->packets[i];
    if ((c->local[k->to][LOCAL_STATUS] & STATUS_BYZANTINE) || !message_is_dead(t, c, k))
      continue;
    t->claims[CLAIM_GONE]++;
    struct config *without = config_without(t, c, k);
    struct config_set a = {.trial = t, .gone = k}, b = {.trial = t, .gone = k};
    config_successors(t->interp, t->query.environment, c, put_step, &a);
    config_successors(t->interp, t->query.environment, without, put_step, &b);
    put_config(&a, c);
    put_config(&b, c);
    if (!same_sets(&a, &b))
      t->broken = "a dead message matters";
    set_release(&a);
    set_release(&b);
    config_free(without);
  }
}

/* --- trials --- */

static struct step_licence_fixture *trial_new(const char *text, enum semantics semantics) {
  struct step_licence_fixture *t = memory_alloc(sizeof *t);
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct diags diags;
  arena_init(&t->arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &t->arena, &diags);
  t->model = diags.errors ? NULL : model_typecheck(file, &source, NULL, 0, true, &diags);
  if (!t->model) {
    struct text out = {0};
    diags_print(&diags, false, &out);
    print_error("%s\n%s\n", text, text_or_empty(&out));
    text_release(&out);
  }
  diags_release(&diags);
  assert_non_null(t->model);
  uint32_t *all = arena_array(&t->arena, t->model->nproperties + 1, sizeof *all);
  for (uint32_t i = 0; i < t->model->nproperties; i++)
    all[i] = i;
  t->query = (struct query){.semantics = semantics, .properties = all, .nproperties = t->model->nproperties};
  struct reduction_request w;
  struct text error = {0};
  assert_true(reduction_request_parse("auto", &w, &error));
  t->licences = licences_grant(t->model, &t->query, &w, &t->arena);
  t->live = step_live_variables_of(t->model, &t->query, &t->arena);
  t->use = action_uses_of(t->model, &t->query, &t->arena);
  t->stable = stable_predicates_of(t->model, &t->query, &t->arena);
  t->interp = interpreter_new(t->model);
  interpreter_follow(t->interp, semantics, false);
  t->configs = intern_new();
  return t;
}

static void trial_free(struct step_licence_fixture *t) {
  intern_free(t->configs);
  interpreter_free(t->interp);
  model_free(t->model);
  arena_release(&t->arena);
  memory_free(t);
}

static void check_config(struct step_licence_fixture *t, const struct config *c, bool lossless) {
  struct step_walk s = {t, c};
  if (t->licences->of[REDUCE_SYMMETRY].granted && !symmetric_at(t, c))
    t->broken = "symmetry";
  if (t->licences->of[REDUCE_VALUES].granted && !renamed_at(t, c))
    t->broken = "values";
  if (t->licences->of[REDUCE_DEAD_VARIABLES].granted && !dead_at(t, c))
    t->broken = "dead-variables";
  config_successors(t->interp, t->query.environment, c, check_step, &s);
  if (lossless && t->query.semantics == SEMANTICS_M && t->licences->of[REDUCE_DEAD_MESSAGES].granted && !fifo(t) &&
      !t->broken)
    check_dead_messages(t, c);
}

static uint32_t seed;
static uint32_t any_of(size_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (uint32_t)((seed >> 8) % n);
}

static unsigned long claimed[8];
static unsigned granted_ever, refused_ever;

static void try_model(const char *text, enum semantics semantics, size_t limit) {
  struct step_licence_fixture *t = trial_new(text, semantics);
  struct config_set reached = {.trial = t, .collect = true};
  /* what is charged differs where a dead message is lost or duplicated */
  bool lossless = !environment_has_fault(t->model, &t->query, CLAUSE_LOST) &&
                  !environment_has_fault(t->model, &t->query, CLAUSE_DUPLICATED);
  config_initials(t->interp, 0, put_config, &reached, &(struct model_error){0});
  for (size_t i = 0; i < limit && reached.keep.n && !t->broken; i++) {
    size_t recent = reached.keep.n / 3 + 1; /* mostly one of those found last, so as to get far */
    size_t at = i % 3 ? reached.keep.n - 1 - any_of(recent) : any_of(reached.keep.n);
    struct config *c = config_copy(t->model, reached.keep.at[at]);
    check_config(t, c, lossless);
    config_successors(t->interp, 0, c, put_step, &reached);
    config_free(c);
  }
  if (t->broken)
    print_error("%s\n%s: %s\n", text, semantics_name(semantics), t->broken);
  assert_null(t->broken);
  for (int i = 0; i < 8; i++)
    claimed[i] += t->claims[i];
  for (int r = 0; r < REDUCTIONS; r++) {
    granted_ever |= (unsigned)t->licences->of[r].granted << r;
    refused_ever |= (unsigned)!t->licences->of[r].granted << r;
  }
  set_release(&reached);
  trial_free(t);
}

/* --- pieces --- */

/* ~ is all, or next on a ring; ^ somebody in particular, or next */
static const char *const pieces[] = {
    "on ping(v, t) if t > l { l := t  d := v }",
    "on ping(v, t) if t >= l or d == none { l := max(l, t) }",
    "on ping(v, t) if t > l or t == l and d == none { l := t  d := v }",
    "on m: ping(t == l) { d := m.v  send pong(me) to ^ }",
    "on ping(v) from q if q != me { who := q }",
    "on ping(v, t) { if not b { b := true  send pong(who) to ~ } }",
    "on ping(v, t) { if t > l { l := t } else if t == l { d := v } }",
    "on ping(v, t) { let u = t  if u > l { l := u } }",
    "on ping(v, t) if t > l { l := 0  l := t }",
    "on ping(v, t) if t > l { k := l  l := t }",
    "on ping(v, t) if t > l { let u = l + 0  l := t  k := u }",
    "on ping(v, t) { stored := max(stored, t) }",
    "on ping(v, t) if 2 / l == t and not b { b := true }",
    "on ping(v, t) if t < stored {}",
    "on ping(v) if v in seen {}",
    "on ping(v) if v not in seen { seen := seen | {v} }",
    "on ping(v == 1) { b := true }",
    "on m: ping if m.v > x { d := m.v }",
    "on ping(v, t) once { if d == none { d := v } }",
    "on Q: 2 of ping(v) same v if d == none { d := v }",
    "on Q: n of ping(v) same v { seen := seen | {v} }",
    "on Q: l + 1 of ping(v) same v { d := v }",
    "on Q: 1 of ping(t >= l) if not b once { b := true }",
    "on Q: 1 of ping(t >= l) same t { l := max(m.t for m in Q) otherwise l }",
    "on Q: 1 of ping(t > l, v) same v { seen := seen | {v}  l := min(l + 1, 2) }",
    "on Q: 2 of ping { foreach m in Q { if m.t > l { l := m.t } } }",
    "on Q: 2 of ping if l > k { foreach m in Q { k := l  l := 0 } }",
    "on Q: exactly 1 of pong taken { b := false }",
    "on Q: 1 of pong if exists m in Q: m.q == me { b := true }",
    "on pong(q) { who := q }",
    "on pong(q) if q == me { halt }",
    "on pong { d := none }",
    "on pong { if d == none { d := x } }",
    "on pong { l := 0 }",
    "on pong { seen := seen & {x} }",
    "on pong { d := pick(v for v in Value) }",
    "on pong { if l < 2 { l := l + 1  send ping(x, l) to ^ } }",
    "on pong { w[x] := true }",
    "on pong(q) { if not w[x] { w[x] := true  send pong(q) to ^ } }",
    "when l < 2 { l := l + 1 }",
    "when not b and l > 0 once { b := true  send ping(x, l) to ~ }",
    "when b and k < 2 { k := k + 1 }",
    "when k > 0 and k > l { k := 0 }",
    "when l > k { if b { l := 0 }  k := l }",
    "when l > k { k := l }",
    "when l > k { l := 0  k := l }",
    "when k == 0 and l > 0 once { b := true }",
    "when s == none { s := x }",
    "when exists u in s: u != x { d := u }",
    "when d != none and s != none { s := none }",
    "when d != none once { seen := seen | {x}  send ping(x, l) to ^ }",
    "when number(me) == 1 once { send pong(me) to ~ }",
    "when exists q in P: q != me and q != who { who := q }",
    "when mood == calm { mood := cross }",
    "when mood == cross and b { mood := wild }",
    "when mood == wild { mood := calm }",
    "step one on ping { b := true }\n  step two when l > 0 { goto one }",
    "step one when l == 0 { l := 1 }\n  step two on pong { d := x }\n  step three when b { k := 1 }",
    "step one on ping(v) { d := v  if b { goto three } }\n  step two {}\n  step three on ping(t) { stored := t }",
};

static const char *const ring_pieces[] = {
    "on ping(v) { send ping(v, 0) to next  d := v }",
    "on ping(v) from q { who := q }",
    "when who == next once { b := true }",
    "when next != me and not b { b := true  send pong(next) to next }",
    "on pong(q) { if q == me { halt } else { send pong(q) to next } }",
};

static const char *const clauses[] = {
    "",
    "channels set",
    "channels fifo",
    "channels bag bound 2",
    "at most 1 processes crash",
    "at most 1 processes crash and recover",
    "at most 1 processes are byzantine",
    "any messages are lost",
    "at most 1 messages are lost; channels set",
    "at most 1 messages are duplicated",
};

static const char *const claims[] = {
    "safety c: forall p, q in P, i in p.d, j in q.d: i == j",
    "safety c: forall p in P: p.b => p.l > 0",
    "cover c: exists p in correct: not p.b",
    "safety c: k <= 1 and s == none",
    "safety c: forall p in P: p.who == p or p.seen == {}",
    "safety c: step forall p in P: p.l <= p.l'",
    "safety c: step forall p in P: p.d != none => p.d' == p.d",
    "safety c: step forall p in P, i in p.d: p.d' == i",
    "safety c: step k <= k'",
    "safety c: step forall p in P: p.l < p.l' or p.b",
    "safety c: step forall p in P: k <= p.l' or p.b",
    "safety c: forall p in P: p.mood == calm\ncover e: exists p in P: at(p, end)",
};

static void add_piece(struct text *out, const char *piece, bool ring) {
  text_add(out, "  ");
  for (; *piece; piece++) {
    if (*piece == '~')
      text_add(out, ring ? "next" : "all");
    else if (*piece == '^')
      text_add(out, ring ? "next" : "who");
    else
      text_addf(out, "%c", *piece);
  }
  text_add(out, "\n");
}

static bool has_steps(const char *piece) { return strncmp(piece, "step", 4) == 0; }

static void make_model(struct text *out, const char *const *chosen, size_t n, bool ring, const char *environment,
                       const char *claim) {
  text_addf(out, "algorithm A\nparam n = %d\n", ring ? 3 : 2);
  text_add(out, "type Value = 1..2\ntype Level = 0..2\n"
                "message ping(v: Value, t: Level), pong(q: P)\nshared s: Value? = none\nshared k: Level = 0\n");
  text_addf(out, "process P[n]%s {\n", ring ? " ring" : "");
  text_add(out, "  input x: Value\n  var b: bool = false\n  var d: Value? = none\n  var l: Level = 0\n"
                "  var who: P = me\n  var seen: set of Value = {}\n  stable stored: Level = 0\n"
                "  var w: [Value] bool = [v in Value: false]\n"
                "  var mood: {calm, cross, wild} = calm\n");
  if (any_of(4) == 0) /* first values that are told apart */
    text_add(out, any_of(2) ? "  var id: 0..3 = number(me)\n" : "  var y: Value = 1\n");
  add_piece(out, "start { send ping(x, 1) to ~ }", ring);
  for (size_t i = 0; i < n; i++)
    add_piece(out, chosen[i], ring);
  text_addf(out, "}\nenvironment e { %s }\n%s\n", environment, claim);
}

static void try_random(unsigned models, bool ring, enum semantics semantics, size_t limit) {
  size_t npieces = sizeof pieces / sizeof *pieces, nring = sizeof ring_pieces / sizeof *ring_pieces;
  for (unsigned i = 0; i < models; i++) {
    const char *chosen[4];
    bool steps = false;
    for (size_t k = 0; k < 4; k++) {
      bool own = ring && k < 2;
      do
        chosen[k] = own ? ring_pieces[any_of(nring)] : pieces[any_of(npieces)];
      while (steps && has_steps(chosen[k]));
      steps |= has_steps(chosen[k]);
    }
    struct text text = {0};
    const char *claim = claims[any_of(sizeof claims / sizeof *claims - (steps ? 0 : 1))];
    make_model(&text, chosen, 4, ring, clauses[any_of(sizeof clauses / sizeof *clauses)], claim);
    try_model(text.at, semantics, limit);
    text_release(&text);
  }
}

static void test_random(void **state) {
  (void)state;
  seed = 7;
  memset(claimed, 0, sizeof claimed);
  granted_ever = refused_ever = 0;
  try_random(trials(1200), false, SEMANTICS_M, 16);
  /* the pieces must reach both answers, and every claim must have been made */
  unsigned both = 1u << REDUCE_SYMMETRY | 1u << REDUCE_VALUES | 1u << REDUCE_PARTITION | 1u << REDUCE_DEAD_VARIABLES |
                  1u << REDUCE_DEAD_MESSAGES | 1u << REDUCE_LOSS | 1u << REDUCE_PARTIAL_ORDER;
  assert_int_equal(granted_ever & both, both);
  assert_int_equal(refused_ever & both, both);
  for (int i = 0; i < 8; i++) {
    if (claimed[i] <= trials(1200) / 12)
      print_error("claim %d was made %lu times\n", i, claimed[i]);
    assert_true(claimed[i] > trials(1200) / 12);
  }
}

static void test_rings(void **state) {
  (void)state;
  seed = 11;
  try_random(trials(200), true, SEMANTICS_M, 16);
}

static void test_other_semantics(void **state) {
  (void)state;
  seed = 13;
  try_random(trials(100), false, SEMANTICS_M_MP, 12);
  try_random(trials(100), false, SEMANTICS_MP, 12);
}

/* Every piece with every clause, so that nothing is left to chance. */
static void test_pieces(void **state) {
  (void)state;
  size_t npieces = sizeof pieces / sizeof *pieces;
  for (size_t i = 0; i < npieces; i++)
    for (size_t k = 0; k < sizeof clauses / sizeof *clauses; k += 1 + i % 3) {
      const char *chosen[] = {pieces[i], pieces[(7 * i + 5 * k + 3) % npieces]};
      struct text text = {0};
      seed = (uint32_t)(i * 31 + k);
      if (has_steps(chosen[0]) && has_steps(chosen[1]))
        chosen[1] = pieces[0];
      make_model(&text, chosen, 2, false, clauses[k], claims[(i + k) % (sizeof claims / sizeof *claims - 1)]);
      try_model(text.at, SEMANTICS_M, 8);
      text_release(&text);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_rings),
      cmocka_unit_test(test_other_semantics),
      cmocka_unit_test(test_pieces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
