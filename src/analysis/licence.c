#include "analysis/licence.h"

#include "analysis/action_use.h"
#include "analysis/formula_reads.h"
#include "analysis/local_properties.h"
#include "analysis/model_visitor.h"
#include "analysis/read_sets.h"
#include "analysis/round_window.h"
#include "analysis/scalarset_typing.h"
#include "analysis/type_usage.h"

#include <ctype.h>
#include <string.h>

struct licence_builder {
  const struct model *model;
  const struct query *query;
  const struct reduction_request *requested;
  struct arena *arena;
  struct licences *out;
};

/* Quotes in reasons: long constructs are cut, line breaks and comments become one space. */
#define QUOTE_MAX 40

const char *source_quote(const struct model *m, struct span at, struct arena *arena) {
  char text[QUOTE_MAX + 4];
  size_t n = 0;
  uint32_t end = at.to < m->source.length ? at.to : (uint32_t)m->source.length;
  for (uint32_t i = at.from; i < end && n < QUOTE_MAX; i++) {
    char c = m->source.text[i];
    if (c == '/' && i + 1 < end && m->source.text[i + 1] == '/')
      while (i + 1 < end && m->source.text[i + 1] != '\n')
        i++;
    else if (!isspace((unsigned char)c))
      text[n++] = c;
    else if (n && text[n - 1] != ' ')
      text[n++] = ' ';
  }
  bool cut = n == QUOTE_MAX;
  while (n && text[n - 1] == ' ')
    n--;
  if (cut)
    memcpy(text + n, "...", 3);
  return arena_strndup(arena, text, n + (cut ? 3 : 0));
}

static void builder_grants(struct licence_builder *g, enum reduction r, bool useful, const char *reason) {
  g->out->of[r] = (struct licence){.concerns = true, .granted = true, .useful = useful, .reason = reason};
}

static void builder_refuses(struct licence_builder *g, enum reduction r, struct refusal why) {
  g->out->of[r] = (struct licence){.concerns = true, .reason = why.reason, .at = why.at};
}

/* The reduction is not for such models. */
static void builder_not_applicable(struct licence_builder *g, enum reduction r, const char *reason) {
  g->out->of[r] = (struct licence){.reason = reason};
}

/* --- process symmetry --- */

static struct refusal live_property(const struct licence_builder *g) {
  const struct model *m = g->model;
  for (uint32_t i = 0; i < g->query->nproperties; i++) {
    const struct property *p = &m->properties[g->query->properties[i]];
    if (p->kind == PROPERTY_LIVE)
      return (struct refusal){arena_printf(g->arena, "'%s' follows single processes through infinite runs", p->name),
                              p->at};
  }
  return (struct refusal){0};
}

/* Steps: a property that observes messages in flight, or whether anything can happen. `messages`: only the former. */
static struct refusal observes_flight(const struct licence_builder *g, bool messages) {
  const struct model *m = g->model;
  for (uint32_t i = 0; i < g->query->nproperties; i++) {
    const struct property *p = &m->properties[g->query->properties[i]];
    struct formula_reads reads = formula_reads_of(m, p->formula, g->arena);
    if (reads.messages)
      return (struct refusal){arena_printf(g->arena, "'%s' observes messages in flight", p->name), p->at};
    if (reads.quiescence && !messages)
      return (struct refusal){arena_printf(g->arena, "'%s' asks whether anything can happen any more", p->name), p->at};
  }
  return (struct refusal){0};
}

/* Fairness to each process or message distinguishes them. */
static struct refusal fairness_distinguishes(const struct licence_builder *g, enum fairness least) {
  const struct clause *fair = environment_fairness(&g->model->environments[g->query->environment]);
  if (!fair || fair->to_followed || fair->fair_to > least || !model_steps(g->model) ||
      !query_is_live(g->model, g->query))
    return (struct refusal){0};
  return (struct refusal){least == FAIR_MESSAGES ? "fairness to messages distinguishes them by their values"
                                                 : "fairness distinguishes processes",
                          fair->at};
}

/* The reason of a granted licence: how identities are used, and which roles are excluded. */
static const char *symmetry_reason(struct licence_builder *g, const struct identity_usage *used) {
  const struct model *m = g->model;
  struct text text = {0};
  bool of[IDENTITY_NUMBERED + 1] = {false}, several = false;
  for (uint32_t r = 0; r < m->nroles; r++)
    if (m->roles[r].count > 1)
      several = of[used[r].use] = true;
  if (!several)
    return "no role has more than one process";
  if (of[IDENTITY_EQUALITY])
    text_add(&text, "identities are only compared for equality");
  else if (of[IDENTITY_ANONYMOUS])
    text_add(&text, "identities are not read");
  for (uint32_t r = 0; r < m->nroles; r++)
    if (m->roles[r].count > 1 && used[r].use == IDENTITY_RING)
      text_addf(&text, "%sthe ring of %s can be turned", text.n ? "; " : "", m->roles[r].name);
  for (uint32_t r = 0; r < m->nroles; r++)
    if (m->roles[r].count > 1 && used[r].use == IDENTITY_NUMBERED)
      text_addf(&text, ", except that %s", used[r].why.reason);
  const char *reason = arena_strndup(g->arena, text_or_empty(&text), text.n);
  text_release(&text);
  return reason;
}

static void grant_symmetry(struct licence_builder *g) {
  const struct model *m = g->model;
  struct licences *out = g->out;
  struct identity_usage *used = identity_usage_of(m, g->query, g->arena);
  struct refusal why = fairness_distinguishes(g, FAIR_PROCESSES);
  bool some = false;
  out->identity = arena_array(g->arena, m->nroles + 1, sizeof *out->identity);
  out->identity_at = arena_array(g->arena, m->nroles + 1, sizeof *out->identity_at);
  out->anonymous = true;
  for (uint32_t r = 0; r < m->nroles; r++) {
    out->identity[r] = used[r].use;
    out->identity_at[r] = used[r].why.at;
    out->anonymous &= used[r].use == IDENTITY_ANONYMOUS;
    some |= m->roles[r].count > 1 && used[r].use != IDENTITY_NUMBERED;
  }
  for (uint32_t r = 0; r < m->nroles && !why.reason && !some; r++)
    if (m->roles[r].count > 1)
      why = used[r].why;
  for (uint32_t r = 0; r < m->nroles && !why.reason && g->query->semantics == SEMANTICS_FINE; r++)
    if (used[r].use != IDENTITY_ANONYMOUS)
      why = (struct refusal){"identities are read, and each process is in a round of its own", used[r].why.at};
  if (why.reason)
    builder_refuses(g, REDUCE_SYMMETRY, why);
  else
    builder_grants(g, REDUCE_SYMMETRY, some, symmetry_reason(g, used));
}

/* --- initial values --- */

static struct refusal first_of(const struct refusal *r, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (r[i].reason)
      return r[i];
  return (struct refusal){0};
}

static void grant_initial_values(struct licence_builder *g) {
  const struct value_usage *u = value_usage_of(g->model, g->query, g->arena);
  g->out->value_type = u->type;
  bool several = u->type && u->type->count > 1;
  struct refusal order[] = {u->none, u->fixed, u->shape, u->made_up, u->unbounded};
  struct refusal why_not_order = first_of(order, sizeof order / sizeof *order);
  struct refusal partition[] = {u->none, u->fixed, u->ordered, u->shape, u->made_up};
  struct refusal why_not = first_of(partition, sizeof partition / sizeof *partition);
  if (!why_not_order.reason)
    builder_grants(g, REDUCE_ORDER, several && why_not.reason,
                   u->use == VALUE_ORDER ? "values are only compared by order, and none is made up"
                                         : "values are only compared for equality: 'partition' does more");
  else
    builder_refuses(g, REDUCE_ORDER, why_not_order);
  if (!why_not.reason) {
    builder_grants(g, REDUCE_PARTITION, several, "values are only compared for equality");
    return;
  }
  if (why_not.reason == u->ordered.reason && !why_not_order.reason)
    why_not.reason = arena_printf(g->arena, "%s; 'order' applies instead", why_not.reason);
  builder_refuses(g, REDUCE_PARTITION, why_not);
}

/* --- the others --- */

static void grant_message_order(struct licence_builder *g) {
  const struct model *m = g->model;
  struct arena scratch;
  bool read = false;
  arena_init(&scratch);
  for (uint32_t r = 0; r < m->nroles && !read; r++)
    for (uint32_t p = 0; p < m->npoints && !read; p++)
      read = read_set_of_update(m, r, p, &scratch)->received != RECEIVED_UNREAD;
  arena_release(&scratch);
  builder_grants(g, REDUCE_MESSAGE_ORDER, read,
                 read ? "what is received is read through aggregates, or in every order"
                      : "no update reads what it receives");
}

static void grant_round_rank(struct licence_builder *g) {
  const struct round_usage *u = round_usage_of(g->model, g->query, g->arena);
  bool endless = false;
  for (uint32_t p = 0; p < g->model->npoints; p++)
    endless |= g->model->points[p].endless;
  g->out->phase_residue = u->residue;
  if (u->why.reason)
    builder_refuses(g, REDUCE_ROUND_RANK, u->why);
  else
    builder_grants(g, REDUCE_ROUND_RANK, endless && u->read,
                   !(endless && u->read) ? "no round numbers are kept"
                   : u->residue > 1
                       ? "round numbers are copies of the phase number, and only compared; its residue is kept"
                       : "round numbers are copies of the phase number, and only compared");
}

static bool has_dead_variables_rounds(const struct licence_builder *g, const struct live_variables *l, uint32_t r) {
  const struct model *m = g->model;
  bool crash = environment_has_fault(m, g->query, CLAUSE_CRASH);
  for (uint32_t i = 0; i < m->roles[r].nvars; i++) {
    if (crash && !l->idle[r][i])
      return true;
    for (uint32_t p = 0; p < m->npoints; p++)
      if (!l->live[r][p][i] || (m->points[p].next == POINT_END && !l->live[r][m->npoints][i]))
        return true;
  }
  return false;
}

/* stops: processes may crash. Of crashed and halted processes, fewer variables are live. */
static bool has_dead_variables_steps(const struct step_live_variables *l, const struct action_uses *use,
                                     const struct role *role, uint32_t r, bool stops) {
  for (uint32_t i = 0; i < role->nactions; i++)
    stops |= use->of[r][i].halts;
  for (uint32_t i = 0; i < role->nvars; i++) {
    if (stops && !l->idle[r][i])
      return true;
    for (uint32_t label = 0; label < role_npoints(role); label++)
      if (!l->live[r][label][i])
        return true;
  }
  return false;
}

static bool has_dead_variables(const struct licence_builder *g) {
  const struct model *m = g->model;
  struct arena scratch;
  bool dead = false;
  arena_init(&scratch);
  if (model_steps(m)) {
    const struct step_live_variables *l = step_live_variables_of(m, g->query, &scratch);
    const struct action_uses *use = action_uses_of(m, g->query, &scratch);
    bool crash = environment_has_fault(m, g->query, CLAUSE_CRASH);
    for (uint32_t r = 0; r < m->nroles && !dead; r++)
      dead = has_dead_variables_steps(l, use, &m->roles[r], r, crash);
  } else {
    const struct live_variables *l = live_variables_of(m, g->query, &scratch);
    for (uint32_t r = 0; r < m->nroles && !dead; r++)
      dead = has_dead_variables_rounds(g, l, r);
  }
  arena_release(&scratch);
  return dead;
}

/* Step properties are not evaluated on steps that change nothing. So it must not matter to them whether a step changes
   a dead variable. */
static struct refusal observes_stuttering(struct licence_builder *g) {
  const struct model *m = g->model;
  for (uint32_t i = 0; i < g->query->nproperties && model_steps(m); i++) {
    const struct property *p = &m->properties[g->query->properties[i]];
    if (property_observes_stuttering(m, g->query, p))
      return (struct refusal){
          arena_printf(g->arena, "'%s' may be broken by a step that changes nothing it reads", p->name), p->at};
  }
  return (struct refusal){0};
}

static void grant_dead_variables(struct licence_builder *g) {
  struct refusal why = observes_stuttering(g);
  if (why.reason) {
    builder_refuses(g, REDUCE_DEAD_VARIABLES, why);
    return;
  }
  bool dead = has_dead_variables(g);
  builder_grants(g, REDUCE_DEAD_VARIABLES, dead,
                 dead ? "some variables are not read again before they are overwritten"
                      : "every variable may be read again");
}

/* Merging keeps all reachable states, but not every transition between them. */
static void grant_merging(struct licence_builder *g) {
  const struct model *m = g->model;
  for (uint32_t i = 0; i < g->query->nproperties; i++) {
    const struct property *p = &m->properties[g->query->properties[i]];
    if (p->kind != PROPERTY_LIVE && (!p->step || property_is_one_process_step(p)))
      continue;
    const char *what = p->kind == PROPERTY_LIVE ? "infinite runs" : "steps of several processes";
    builder_refuses(g, REDUCE_MERGING,
                    (struct refusal){arena_printf(g->arena, "'%s' speaks of %s, not of states", p->name, what), p->at});
    return;
  }
  builder_grants(g, REDUCE_MERGING, m->nprocesses > 1,
                 m->nprocesses > 1 ? "only states, and steps of one process, are checked"
                                   : "there is only one process");
}

/* --- steps --- */

static bool type_is_stored(const struct model *m, const struct type *t) {
  const struct scalarset o = {.model = m, .value = t};
  for (uint32_t i = 0; i < m->nglobals; i++)
    if (scalarset_occurs_in(&o, m->globals[i].type))
      return true;
  for (uint32_t i = 0; i < m->nmessages; i++)
    if (scalarset_occurs_in(&o, m->messages[i].type))
      return true;
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      if (scalarset_occurs_in(&o, m->roles[r].vars[i].type))
        return true;
  return false;
}

/* Program points are enumerations, too, but their values are not interchangeable. */
static bool is_point_type(const struct model *m, const struct type *t) {
  for (uint32_t r = 0; r < m->nroles; r++)
    if (m->roles[r].point_var != NO_VAR && m->roles[r].vars[m->roles[r].point_var].type == t)
      return true;
  return false;
}

/* The type whose values are permuted: that of the inputs, if its values are interchangeable. If they are not, and no
   reduction of initial values is tied to it, the largest other type whose values are. */
static void grant_value_symmetry(struct licence_builder *g) {
  const struct model *m = g->model;
  struct licences *out = g->out;
  struct refusal fair = fairness_distinguishes(g, FAIR_MESSAGES);
  if (fair.reason) {
    builder_refuses(g, REDUCE_VALUES, fair);
    return;
  }
  struct refusal why = {.reason = "no named type has several values"};
  const struct type *found = NULL;
  bool tied = out->of[REDUCE_PARTITION].granted || out->of[REDUCE_ORDER].granted ||
              g->requested->reduce[REDUCE_PARTITION] == REQUEST_FORCED ||
              g->requested->reduce[REDUCE_ORDER] == REQUEST_FORCED;
  if (out->value_type) {
    why = values_distinguished(m, g->query, out->value_type, g->arena);
    found = why.reason ? NULL : out->value_type;
  }
  for (uint32_t i = 0; i < m->ntypes && !(out->value_type && (found == out->value_type || tied)); i++) {
    const struct type *t = m->types[i];
    if (!is_value_type(t) || is_point_type(m, t) || t->count < 2 || !type_is_stored(m, t) ||
        (found && t->count <= found->count))
      continue;
    struct refusal w = values_distinguished(m, g->query, t, g->arena);
    if (!w.reason)
      found = t;
    else if (!why.at.to)
      why = w;
  }
  if (!found) {
    builder_refuses(g, REDUCE_VALUES, why);
    return;
  }
  out->value_type = found;
  builder_grants(g, REDUCE_VALUES, found->count > 1,
                 arena_printf(g->arena, "the values of %s are only compared for equality", found->name));
}

static void grant_channels(struct licence_builder *g) {
  const struct model *m = g->model;
  const struct clause *c = query_channels(m, g->query);
  bool fifo = c && c->channel == CHANNEL_FIFO, bounded = c && c->bound > 0;
  bool lost = environment_has_fault(m, g->query, CLAUSE_LOST);
  bool crash = environment_has_fault(m, g->query, CLAUSE_CRASH);
  const char *room = "in a bounded channel a message takes up room";
  builder_grants(g, REDUCE_MESSAGE_ORDER, true,
                 "what can be taken does not depend on the order in which different processes sent it");
  struct refusal flight = observes_flight(g, false);
  if (flight.reason)
    builder_refuses(g, REDUCE_DEAD_MESSAGES, flight);
  else if (bounded)
    builder_refuses(g, REDUCE_DEAD_MESSAGES, (struct refusal){room, c->at});
  else
    builder_grants(g, REDUCE_DEAD_MESSAGES, true,
                   fifo ? "a message behind one that nobody takes changes nothing"
                        : "a message that is never taken, or taken without effect, changes nothing");
  if (query_is_live(m, g->query))
    builder_refuses(g, REDUCE_LOSS,
                    (struct refusal){"fairness requires that a pending message is taken, but not a lost one", {0, 0}});
  else if (flight.reason && (lost || crash))
    builder_refuses(g, REDUCE_LOSS, flight);
  else if (fifo || bounded)
    builder_refuses(g, REDUCE_LOSS,
                    (struct refusal){bounded ? room : "in a FIFO channel a message blocks those behind it", c->at});
  else
    builder_grants(g, REDUCE_LOSS, lost || crash,
                   lost || crash ? "channels have no bound and no order: a message need not arrive"
                                 : "no message is lost");
}

/* Dependences between steps of different processes beyond what they read, write and send. */
static struct refusal couples_processes(struct licence_builder *g) {
  const struct licence *window = &g->out->of[REDUCE_ROUND_WINDOW];
  if (window->granted && window->useful && g->requested->reduce[REDUCE_ROUND_WINDOW] != REQUEST_OFF)
    return (struct refusal){"which rounds are old depends on all processes", {0, 0}};
  const struct model *m = g->model;
  const struct environment *env = &m->environments[g->query->environment];
  bool losing = !g->out->of[REDUCE_LOSS].granted || g->requested->reduce[REDUCE_LOSS] == REQUEST_OFF;
  if (g->query->semantics == SEMANTICS_M_MP || g->query->semantics == SEMANTICS_MP)
    return (struct refusal){"delivering a message is a step of its own", {0, 0}};
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == CLAUSE_DUPLICATED && c->limit > 0 && c->limit < INT64_MAX)
      return (struct refusal){"all processes share the budget of duplicated messages", c->at};
    if (c->kind == CLAUSE_LOST && c->limit > 0 && losing)
      return (struct refusal){"losing a message is a step of its own", c->at};
    if (c->kind == CLAUSE_CHANNELS && c->bound > 0)
      return (struct refusal){"in a bounded channel the sender waits for the receiver", c->at};
  }
  return (struct refusal){0};
}

static void grant_partial_order(struct licence_builder *g) {
  struct refusal why = live_property(g);
  if (!why.reason)
    why = observes_flight(g, false);
  if (!why.reason)
    why = couples_processes(g);
  if (why.reason)
    builder_refuses(g, REDUCE_PARTIAL_ORDER, why);
  else
    builder_grants(g, REDUCE_PARTIAL_ORDER, g->model->nprocesses > 1,
                   g->model->nprocesses > 1 ? "what actions read, write and send is known from the text"
                                            : "there is only one process");
}

static void grant_round_window(struct licence_builder *g) {
  const struct round_window *w = round_window_of(g->model, g->query, g->arena);
  struct refusal flight = observes_flight(g, true);
  g->out->window = w;
  if (!w->any)
    builder_not_applicable(g, REDUCE_ROUND_WINDOW, "no round numbers are kept");
  else if (w->why.reason || flight.reason)
    builder_refuses(g, REDUCE_ROUND_WINDOW, w->why.reason ? w->why : flight);
  else
    builder_grants(g, REDUCE_ROUND_WINDOW, true,
                   w->modulus > 1
                       ? arena_printf(g->arena, "round numbers are only compared and advanced, and read modulo %lld",
                                      (long long)w->modulus)
                       : "round numbers are only compared and advanced");
}

/* Nothing may interfere between the arrival of a message and its being forwarded, and the moment must not be observed.
 */
static struct refusal prevents_fusion(struct licence_builder *g) {
  static const struct {
    enum clause_kind kind;
    const char *reason;
  } faults[] = {{CLAUSE_CRASH, "a process may crash before it passes a message on"},
                {CLAUSE_LOST, "a message may be lost before it is passed on"},
                {CLAUSE_DUPLICATED, "a forwarded message may be duplicated"},
                {CLAUSE_BYZANTINE, "a process that should pass a message on may be Byzantine"}};
  const struct environment *env = &g->model->environments[g->query->environment];
  const struct clause *channels = query_channels(g->model, g->query), *fair = environment_fairness(env);
  if (g->query->semantics != SEMANTICS_M)
    return (struct refusal){"delivering a message is a step of its own", {0, 0}};
  struct refusal flight = observes_flight(g, false);
  if (flight.reason)
    return flight;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    for (uint32_t k = 0; k < env->nclauses; k++)
      if (env->clauses[k].kind == faults[i].kind && env->clauses[k].limit > 0)
        return (struct refusal){faults[i].reason, env->clauses[k].at};
  if (channels && (channels->channel != CHANNEL_BAG || channels->bound > 0))
    return (struct refusal){"a message blocks others in its channel", channels->at};
  if (fair && query_is_live(g->model, g->query))
    return (struct refusal){"fairness concerns the step that forwards a message", fair->at};
  return (struct refusal){0};
}

static void grant_fusion(struct licence_builder *g) {
  const struct model *m = g->model;
  const struct action_uses *use = action_uses_of(m, g->query, g->arena);
  struct refusal why = prevents_fusion(g);
  bool some = false;
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t a = 0; a < m->roles[r].nactions; a++)
      some |= action_can_fuse(m, use, r, a);
  if (!some)
    builder_not_applicable(g, REDUCE_FUSION, "no action only forwards a message");
  else if (why.reason)
    builder_refuses(g, REDUCE_FUSION, why);
  else
    builder_grants(g, REDUCE_FUSION, true,
                   "no property observes when a message is forwarded, and no other step depends on it");
}

static void grant_steps(struct licence_builder *g) {
  static const enum reduction messages[] = {REDUCE_MESSAGE_ORDER, REDUCE_DEAD_MESSAGES, REDUCE_LOSS};
  grant_value_symmetry(g);
  if (g->model->nmessages > 0)
    grant_channels(g);
  else
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
      builder_not_applicable(g, messages[i], "there are no messages");
  grant_round_window(g);
  grant_fusion(g);
  grant_partial_order(g);
  builder_not_applicable(g, REDUCE_ROUND_RANK, "processes take steps");
  builder_not_applicable(g, REDUCE_MERGING, "processes take steps");
}

/* --- semantics --- */

struct licence semantics_licence(const struct model *m, const struct query *q, struct arena *arena) {
  struct licence l = {.concerns = true, .granted = true};
  switch (q->semantics) {
  case SEMANTICS_COARSE:
    l.reason = "all processes take the whole round in one step";
    for (uint32_t i = 0; i < q->nproperties && l.granted; i++) {
      struct refusal why;
      if (m->properties[q->properties[i]].kind == PROPERTY_LIVE)
        continue;
      enum locality local = locality_of(m, q, q->properties[i], arena, &why);
      l.granted = local != LOCAL_NOT && local != LOCAL_STATUS_DEPENDENT;
      if (!l.granted)
        l = (struct licence){.concerns = true, .reason = why.reason, .at = why.at};
    }
    break;
  case SEMANTICS_FINE:
    l.reason = "sending, receiving and updating are steps of their own";
    break;
  case SEMANTICS_INTERLEAVING:
    l.reason = "one process takes a step at a time";
    break;
  case SEMANTICS_M_MP:
    l.reason = "delivering a message is a step of its own";
    break;
  case SEMANTICS_MP:
    l.reason = "delivering is a step, and an action takes or reads all that was delivered";
    break;
  case SEMANTICS_M: /* Bokor 2010, theorems 1 and 2 */
    l.reason = "properties read processes and globals only, and no guard asks for the absence of a "
               "message: nothing observes when one is delivered";
    if (query_is_live(m, q))
      l.reason =
          "properties read processes and globals only, and a message on its way counts as one that can be taken: "
          "as in m-mp (in mp, messages that no action takes together block a process)";
    break;
  }
  return l;
}

/* --- the request of the user --- */

static void apply(struct licence_builder *g, enum reduction r) {
  struct licence *l = &g->out->of[r];
  switch (g->requested->reduce[r]) {
  case REQUEST_AUTO:
    l->applied = l->granted && l->useful;
    break;
  case REQUEST_OFF:
    l->reason = l->granted ? "not asked for" : l->reason;
    break;
  case REQUEST_IDLE:
    l->reason = l->granted ? "it would save too few states to be worth its time" : l->reason;
    break;
  case REQUEST_ON:
    l->applied = l->granted;
    break;
  case REQUEST_FORCED:
    l->applied = l->concerns;
    l->forced = l->concerns && !l->granted;
    break;
  }
}

static void apply_request(struct licence_builder *g) {
  struct licences *out = g->out;
  for (int r = 0; r < REDUCTIONS; r++)
    apply(g, (enum reduction)r);
  struct licence *partition = &out->of[REDUCE_PARTITION], *order = &out->of[REDUCE_ORDER];
  struct licence *values = &out->of[REDUCE_VALUES];
  if (!out->value_type) /* there is no type to apply them to */
    partition->applied = partition->forced = order->applied = order->forced = values->applied = values->forced = false;
  if (partition->applied && order->applied) {
    order->applied = order->forced = false;
    order->reason = "'partition' is applied, which does more";
  }
  for (int r = 0; r < REDUCTIONS; r++) {
    struct licence *l = &out->of[r];
    if (l->forced)
      l->reason = arena_printf(g->arena, "forced, although %s", l->reason);
    out->unlicensed |= l->forced;
  }
}

/* Fine rounds: invisible steps of a process may be fused with its next step. Counterexamples are then no longer
   shortest, so this is only for queries about the round distance. */
static void grant_invisible_steps(struct licence_builder *g) {
  const struct environment *env = &g->model->environments[g->query->environment];
  bool stops = false, shown = false;
  for (uint32_t i = 0; i < env->nclauses; i++)
    stops |= env->clauses[i].kind == CLAUSE_CRASH;
  for (uint32_t r = 0; r < g->model->nroles; r++)
    stops |= role_halts(g->model, &g->model->roles[r]);
  for (uint32_t i = 0; i < g->query->nproperties; i++) {
    const struct property *p = &g->model->properties[g->query->properties[i]];
    const struct node *f = p->until ? p->formula->kid[1] : p->formula; /* true until ... */
    shown |= f->op != NODE_CONST || !f->constant;
  }
  if (g->query->semantics != SEMANTICS_FINE || stops || shown)
    builder_not_applicable(g, REDUCE_PARTIAL_ORDER, "processes proceed in rounds");
  else
    builder_grants(g, REDUCE_PARTIAL_ORDER, g->model->nprocesses > 1,
                   "the property only asks how far apart processes get");
}

static void grant_rounds(struct licence_builder *g) {
  static const enum reduction others[] = {REDUCE_ROUND_WINDOW, REDUCE_FUSION, REDUCE_VALUES, REDUCE_DEAD_MESSAGES,
                                          REDUCE_LOSS};
  grant_message_order(g);
  grant_round_rank(g);
  if (g->query->semantics == SEMANTICS_FINE)
    builder_not_applicable(g, REDUCE_MERGING, "each process is in a round of its own");
  else
    grant_merging(g);
  grant_invisible_steps(g);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    builder_not_applicable(g, others[i], "processes proceed in rounds");
}

struct licences *licences_grant(const struct model *m, const struct query *q, const struct reduction_request *w,
                                struct arena *arena) {
  struct licence_builder g = {m, q, w, arena, arena_alloc(arena, sizeof *g.out)};
  grant_symmetry(&g);
  grant_initial_values(&g);
  grant_dead_variables(&g);
  if (model_steps(m))
    grant_steps(&g);
  else
    grant_rounds(&g);
  apply_request(&g);
  return g.out;
}
