#include "model/licence.h"

#include "model/reads.h"
#include "model/survey.h"
#include "model/usage.h"

#include <ctype.h>
#include <string.h>

struct grant {
  const struct model *model;
  const struct question *question;
  const struct wishes *wishes;
  struct arena *arena;
  struct licences *out;
};

/* The quotes in reasons: long constructs are cut, line breaks and comments become one space. */
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

static void grants(struct grant *g, enum reduction r, bool useful, const char *reason) {
  g->out->of[r] = (struct licence){.granted = true, .useful = useful, .reason = reason};
}

static void refuses(struct grant *g, enum reduction r, struct refusal why) {
  g->out->of[r] = (struct licence){.reason = why.reason, .at = why.at};
}

/* --- process symmetry --- */

static struct refusal live_property(const struct grant *g) {
  const struct model *m = g->model;
  for (uint32_t i = 0; i < g->question->nproperties; i++) {
    const struct property *p = &m->properties[g->question->properties[i]];
    if (p->kind == PROPERTY_LIVE)
      return (struct refusal){
          arena_printf(g->arena, "'%s' follows single processes through infinite runs", p->name),
          p->at};
  }
  return (struct refusal){0};
}

/* What the granted licence says: how the identities of the roles that it is for are used, and which
 * roles stay. */
static const char *symmetry_reason(struct grant *g, const struct identity_usage *used) {
  const struct model *m = g->model;
  struct text text = {0};
  bool numbered = false, equality = false, several = false;
  for (uint32_t r = 0; r < m->nroles; r++) {
    several |= m->roles[r].count > 1;
    numbered |= m->roles[r].count > 1 && used[r].use == IDENTITY_NUMBERED;
    equality |= m->roles[r].count > 1 && used[r].use == IDENTITY_EQUALITY;
  }
  if (!several)
    return "no role has more than one process";
  text_add(&text,
           equality ? "identities are only compared for equality" : "identities are not read");
  for (uint32_t r = 0; r < m->nroles && numbered; r++)
    if (m->roles[r].count > 1 && used[r].use == IDENTITY_NUMBERED)
      text_addf(&text, ", except that %s", used[r].why.reason);
  const char *reason = arena_strndup(g->arena, text_or_empty(&text), text.n);
  text_release(&text);
  return reason;
}

static void grant_symmetry(struct grant *g) {
  const struct model *m = g->model;
  struct licences *out = g->out;
  struct identity_usage *used = identities_used(m, g->question, g->arena);
  struct refusal why = live_property(g);
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
  if (why.reason)
    refuses(g, REDUCE_SYMMETRY, why);
  else
    grants(g, REDUCE_SYMMETRY, some, symmetry_reason(g, used));
}

/* --- initial values --- */

static struct refusal first_of(const struct refusal *r, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (r[i].reason)
      return r[i];
  return (struct refusal){0};
}

static void grant_values(struct grant *g) {
  const struct value_usage *u = values_used(g->model, g->question, g->arena);
  g->out->value_type = u->type;
  bool several = u->type && u->type->count > 1;
  struct refusal order[] = {u->none, u->fixed, u->shape, u->made_up, u->unbounded};
  struct refusal why_not_order = first_of(order, sizeof order / sizeof *order);
  struct refusal partition[] = {u->none, u->fixed, u->ordered, u->shape, u->made_up};
  struct refusal why_not = first_of(partition, sizeof partition / sizeof *partition);
  if (!why_not_order.reason)
    grants(g, REDUCE_ORDER, several && why_not.reason,
           u->use == VALUE_ORDER ? "values are only compared by order, and none is made up"
                                 : "values are only compared for equality: 'partition' does more");
  else
    refuses(g, REDUCE_ORDER, why_not_order);
  if (!why_not.reason) {
    grants(g, REDUCE_PARTITION, several, "values are only compared for equality");
    return;
  }
  if (why_not.reason == u->ordered.reason && !why_not_order.reason)
    why_not.reason = arena_printf(g->arena, "%s; 'order' applies instead", why_not.reason);
  refuses(g, REDUCE_PARTITION, why_not);
}

/* --- the others --- */

static void grant_message_order(struct grant *g) {
  const struct model *m = g->model;
  struct arena scratch;
  bool read = false;
  arena_init(&scratch);
  for (uint32_t r = 0; r < m->nroles && !read; r++)
    for (uint32_t p = 0; p < m->npoints && !read; p++)
      read = reads_of_update(m, r, p, &scratch)->received != RECEIVED_UNREAD;
  arena_release(&scratch);
  grants(g, REDUCE_MESSAGE_ORDER, read,
         read ? "what is received is read through aggregates, or in every order"
              : "no update reads what it receives");
}

static void grant_round_rank(struct grant *g) {
  const struct round_usage *u = rounds_used(g->model, g->question, g->arena);
  bool endless = false;
  for (uint32_t p = 0; p < g->model->npoints; p++)
    endless |= g->model->points[p].endless;
  if (u->why.reason)
    refuses(g, REDUCE_ROUND_RANK, u->why);
  else
    grants(g, REDUCE_ROUND_RANK, endless && u->read,
           endless && u->read ? "round numbers are copies of the phase number, and only compared"
                              : "no round numbers are kept");
}

static bool some_dead(const struct grant *g, const struct liveness *l, uint32_t r) {
  const struct model *m = g->model;
  bool crash = environment_has(m, g->question, CLAUSE_CRASH);
  for (uint32_t i = 0; i < m->roles[r].nvars; i++) {
    if (crash && !l->idle[r][i])
      return true;
    for (uint32_t p = 0; p < m->npoints; p++)
      if (!l->live[r][p][i] || (m->points[p].next == POINT_END && !l->live[r][m->npoints][i]))
        return true;
  }
  return false;
}

static void grant_dead_variables(struct grant *g) {
  struct arena scratch;
  bool dead = false;
  arena_init(&scratch);
  const struct liveness *l = liveness_of(g->model, g->question, &scratch);
  for (uint32_t r = 0; r < g->model->nroles && !dead; r++)
    dead = some_dead(g, l, r);
  arena_release(&scratch);
  grants(g, REDUCE_DEAD_VARIABLES, dead,
         dead ? "some variables are not read again before they are overwritten"
              : "every variable may be read again");
}

/* It keeps the states that can be reached, but not every step between them. */
static void grant_merging(struct grant *g) {
  const struct model *m = g->model;
  for (uint32_t i = 0; i < g->question->nproperties; i++) {
    const struct property *p = &m->properties[g->question->properties[i]];
    if (p->kind != PROPERTY_LIVE && (!p->step || property_step_of_one(p)))
      continue;
    const char *what = p->kind == PROPERTY_LIVE ? "infinite runs" : "steps of several processes";
    refuses(g, REDUCE_MERGING,
            (struct refusal){
                arena_printf(g->arena, "'%s' speaks of %s, not of states", p->name, what), p->at});
    return;
  }
  grants(g, REDUCE_MERGING, m->nprocesses > 1,
         m->nprocesses > 1 ? "only states, and steps of one process, are checked"
                           : "there is only one process");
}

/* --- wishes --- */

static void apply(struct grant *g, enum reduction r) {
  struct licence *l = &g->out->of[r];
  switch (g->wishes->reduce[r]) {
  case WISH_AUTO:
    l->applied = l->granted && l->useful;
    break;
  case WISH_OFF:
    l->reason = l->granted ? "not asked for" : l->reason;
    break;
  case WISH_ON:
    l->applied = l->granted;
    break;
  case WISH_FORCED:
    l->applied = true;
    l->forced = !l->granted;
    break;
  }
}

static void apply_wishes(struct grant *g) {
  struct licences *out = g->out;
  for (int r = 0; r < REDUCTIONS; r++)
    apply(g, (enum reduction)r);
  struct licence *partition = &out->of[REDUCE_PARTITION], *order = &out->of[REDUCE_ORDER];
  if (!out->value_type) /* there is nothing that could be forced */
    partition->applied = partition->forced = order->applied = order->forced = false;
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

struct licences *licences_grant(const struct model *m, const struct question *q,
                                const struct wishes *w, struct arena *arena) {
  struct grant g = {m, q, w, arena, arena_alloc(arena, sizeof *g.out)};
  grant_symmetry(&g);
  grant_values(&g);
  grant_message_order(&g);
  grant_round_rank(&g);
  grant_dead_variables(&g);
  grant_merging(&g);
  apply_wishes(&g);
  return g.out;
}
