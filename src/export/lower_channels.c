/* Channels. Bags and sets: for each kind and each pair of processes, an array with the number of pending messages by
   message code. FIFO: for each pair, a queue of codes, the oldest first, 0 beyond the last. */
#include "export/lower_steps.h"

#define MOST_CELLS 60000 /* different pending messages */
#define MOST_EQUAL 7     /* equal messages in one bag */
#define FIFO_LENGTH 4    /* capacity of an unbounded channel */

struct route *route_of(struct channel_layout *s, uint32_t kind, uint32_t q, uint32_t p) {
  return &s->routes[((size_t)(s->channel == CHANNEL_FIFO ? 0 : kind) * s->n + q) * s->n + p];
}

/* --- possible messages by channel --- */

static void mark_send(struct channel_layout *s, uint32_t role, const struct send *send) {
  const struct model *m = s->l->base.model;
  const struct role *from = &m->roles[role];
  for (uint32_t q = from->first; q < from->first + from->count; q++)
    for (uint32_t p = 0; p < s->n; p++) {
      uint32_t to = model_role_of(m, p);
      bool may = true; /* a send with unknown receivers marks all */
      if (send->target == TARGET_SET)
        may = send->to_role == ROLE_ANY || send->to_role == to;
      else if (send->target == TARGET_OTHERS)
        may = p != q;
      else if (send->target == TARGET_ONE)
        may = send->to->type->role == ROLE_ANY || send->to->type->role == to;
      else if (send->target == TARGET_EXPR && send->to->type->element->kind == TYPE_PROCESS)
        may = send->to->type->element->role == ROLE_ANY || send->to->type->element->role == to;
      if (from->ring)
        may = may && p == from->first + (q - from->first + 1) % from->count;
      if (may) {
        route_of(s, send->kind, q, p)->exists = true;
        s->carried[((size_t)q * s->n + p) * m->nmessages + send->kind] = true;
      }
    }
}

static void mark_block(struct channel_layout *s, uint32_t role, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *t = b->at[i];
    if (t->kind == STMT_SEND)
      mark_send(s, role, t->send);
    mark_block(s, role, &t->then);
    mark_block(s, role, &t->other);
  }
}

static bool takes(const struct role *role, uint32_t kind) {
  for (uint32_t i = 0; i < role->nactions; i++)
    if (role->actions[i].trigger != TRIGGER_NONE && role->actions[i].kind == kind)
      return true;
  return false;
}

/* Messages that are never received have no effect, unless they count against a bound. The explicit engine drops such
   channels too. */
static void drop_unread_route(struct channel_layout *s, uint32_t q, uint32_t p, const bool *carried) {
  const struct model *m = s->l->base.model;
  bool read = false;
  for (uint32_t k = 0; k < m->nmessages; k++)
    read |= carried[k] && takes(&m->roles[model_role_of(m, p)], k);
  for (uint32_t k = 0; k < m->nmessages && !read; k++)
    route_of(s, k, q, p)->exists = false;
}

const char *route_name(struct channel_layout *s, uint32_t kind, uint32_t q, uint32_t p) {
  struct model_lowering *l = s->l;
  const char *what = s->channel == CHANNEL_FIFO ? "channel" : l->base.model->messages[kind].name;
  return arena_printf(l->base.arena, "%s_%s_to_%s", what, process_name(l, q), process_name(l, p));
}

static const char *code_comment(struct model_lowering *l, uint32_t kind) {
  const struct type *t = l->base.model->messages[kind].type;
  struct text out = {0};
  text_add(&out, "how many are pending, by code:");
  for (uint32_t i = 0; i < t->size; i++)
    text_addf(&out, " %s (%llu)", t->fields[i].name,
              (unsigned long long)code_count(l, t->fields[i].type, l->base.model->messages[kind].at));
  const char *copy = arena_printf(l->base.arena, "%s", out.at);
  text_release(&out);
  return copy;
}

static void declare_route(struct channel_layout *s, uint32_t kind, uint32_t q, uint32_t p, int64_t all) {
  struct model_lowering *l = s->l;
  struct route *r = route_of(s, kind, q, p);
  const char *name = route_name(s, kind, q, p);
  if (s->channel != CHANNEL_FIFO) {
    r->cell = variable_new(l, name, false, 0, s->channel == CHANNEL_SET ? 1 : MOST_EQUAL, false, code_comment(l, kind));
    l->program->variables.at[r->cell].length = (uint32_t)s->codes[kind];
    return;
  }
  for (uint32_t i = 0; i < s->length; i++) {
    uint32_t cell = variable_new(l, arena_printf(l->base.arena, "%s_%u", name, i + 1), false, 0, all, false,
                                 i ? NULL : "1 + the message's code, kind after kind; 0: none");
    r->cell = i ? r->cell : cell;
  }
}

void channels_declare(struct model_lowering *l) {
  const struct model *m = l->base.model;
  struct channel_layout *s = l->steps = arena_alloc(l->base.arena, sizeof *s);
  const struct clause *k = clause_of_kind(l->program->environment, CLAUSE_CHANNELS);
  *s = (struct channel_layout){.l = l, .n = m->nprocesses, .channel = k ? k->channel : CHANNEL_BAG};
  s->length = k && k->bound ? (uint32_t)k->bound : FIFO_LENGTH;
  s->overflows = !(k && k->bound);
  s->routes = arena_array(l->base.arena, (size_t)(m->nmessages + 1) * s->n * s->n, sizeof *s->routes);
  s->carried = arena_array(l->base.arena, (size_t)s->n * s->n * (m->nmessages + 1), sizeof *s->carried);
  s->codes = arena_array(l->base.arena, m->nmessages + 1, sizeof *s->codes);
  int64_t all = 0;
  for (uint32_t i = 0; i < m->nmessages; i++) {
    s->codes[i] = code_count(l, m->messages[i].type, m->messages[i].at);
    all += (int64_t)s->codes[i];
  }
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nactions; i++)
      mark_block(s, r, &m->roles[r].actions[i].body);
  for (uint32_t q = 0; q < s->n; q++)
    for (uint32_t p = 0; p < s->n && !(k && k->bound); p++)
      drop_unread_route(s, q, p, s->carried + ((size_t)q * s->n + p) * m->nmessages);
  uint64_t cells = 0;
  for (uint32_t i = 0; i < (s->channel == CHANNEL_FIFO ? 1 : m->nmessages); i++)
    for (uint32_t q = 0; q < s->n; q++)
      for (uint32_t p = 0; p < s->n; p++) {
        if (!route_of(s, i, q, p)->exists)
          continue;
        cells += s->channel == CHANNEL_FIFO ? s->length : s->codes[i];
        if (cells > MOST_CELLS)
          refuse(l, m->messages[i].at, "too many messages can be told apart: more than %d counters", MOST_CELLS);
        declare_route(s, i, q, p, all);
      }
}

/* --- pending messages --- */

/* FIFO: the codes of all kinds are numbered consecutively. */
static int64_t code_base(const struct channel_layout *s, uint32_t kind) {
  int64_t base = 1;
  for (uint32_t i = 0; i < kind; i++)
    base += (int64_t)s->codes[i];
  return base;
}

expr_id row_at(struct channel_layout *s, const struct route *r, uint32_t i) { return variable_expr(s->l, r->cell + i); }

/* For bags and sets, any pending message is receivable; in a FIFO channel, only the oldest. */
expr_id pending(struct channel_layout *s, uint32_t kind, uint32_t q, uint32_t p, expr_id code) {
  struct model_lowering *l = s->l;
  struct expr_graph *c = l->base.graph;
  const struct route *r = route_of(s, kind, q, p);
  if (!r->exists)
    return EXPR_FALSE;
  if (s->channel == CHANNEL_FIFO)
    return expr_equal(c, row_at(s, r, 0), expr_arithmetic(c, EXPR_ADD, code, expr_number(c, code_base(s, kind))));
  const struct state_variable *cell = &l->program->variables.at[r->cell];
  return expr_less(c, expr_number(c, 0), expr_array_read(c, r->cell, code, cell->lo, cell->hi));
}

/* --- updates of channels --- */

bool consumes(const struct action *a) {
  return a->trigger == TRIGGER_ONE || (a->trigger == TRIGGER_QUORUM && a->taken);
}

static expr_id row_now(struct action_lowering *a, const struct route *r, uint32_t i) {
  expr_id w = a->row[r->cell + i];
  return w == NO_EXPR ? row_at(a->s, r, i) : w;
}

static void shift_row(struct action_lowering *a, const struct route *r, expr_id when) {
  struct expr_graph *c = a->s->l->base.graph;
  for (uint32_t i = 0; i < a->s->length; i++) {
    expr_id next = i + 1 < a->s->length ? row_now(a, r, i + 1) : expr_number(c, 0);
    a->row[r->cell + i] = expr_ite(c, when, next, row_now(a, r, i));
  }
}

void counter_add(struct model_lowering *l, uint32_t cell, expr_id when, expr_id index, int64_t by, bool absorbed) {
  if (!expr_is_constant(l->base.graph, when, 0))
    vec_push(&l->rule->changes,
             ((struct variable_update){
                 .cell = cell, .value = NO_EXPR, .condition = when, .index = index, .by = by, .absorbed = absorbed}));
}

void consume(struct action_lowering *a) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  for (uint32_t i = 0; i < a->ntaken && consumes(a->action); i++) {
    const struct message_taking *t = &a->taken[i];
    const struct route *r = route_of(a->s, a->action->kind, t->sender, a->p);
    expr_id gone = expr_and(c, t->when, expr_not(c, expr_or(c, t->forged, t->kept)));
    if (!r->exists)
      continue;
    if (a->s->channel == CHANNEL_FIFO)
      shift_row(a, r, gone);
    else
      counter_add(l, r->cell, gone, t->code, -1, a->s->channel == CHANNEL_SET);
  }
}

static void post(struct action_lowering *a, const struct sym_sent *m, expr_id when) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  const struct route *r = route_of(a->s, m->kind, a->p, m->to);
  expr_id code = code_of_value(l, l->base.model->messages[m->kind].type, m->message);
  when = expr_and(c, when, expr_not(c, l->now.of[m->to].byzantine));
  if (expr_is_constant(c, when, 0) || !r->exists)
    return;
  if (a->s->channel != CHANNEL_FIFO) {
    counter_add(l, r->cell, when, code, 1, a->s->channel == CHANNEL_SET);
    return;
  }
  code = expr_arithmetic(c, EXPR_ADD, code, expr_number(c, code_base(a->s, m->kind)));
  expr_id placed = expr_not(c, when);
  for (uint32_t i = 0; i < a->s->length; i++) {
    expr_id now = row_now(a, r, i);
    expr_id here = expr_and(c, expr_not(c, placed), expr_equal(c, now, expr_number(c, 0)));
    a->row[r->cell + i] = expr_ite(c, here, code, now);
    placed = expr_or(c, placed, here);
  }
  if (!a->s->overflows)
    assume_evaluated(l, placed);
  else
    scope_fail(&l->scope, expr_not(c, placed), m->at, "export limit: more than %d messages in a channel", FIFO_LENGTH);
}

void post_all(struct action_lowering *a, const expr_id *out) {
  for (size_t i = 0; i < a->s->l->scope.posted.n; i++)
    post(a, &a->s->l->scope.posted.at[i], out[i]);
}

/* Bounded bags and sets: the number of pending messages of all kinds in one channel after the step. A message absorbed
   by a set adds nothing, nor does a message that the same action sends twice. */
static expr_id held(struct action_lowering *a, uint32_t q, uint32_t p, const struct sym_sent *sent, const expr_id *out,
                    size_t n) {
  struct channel_layout *s = a->s;
  struct model_lowering *l = s->l;
  struct expr_graph *c = l->base.graph;
  expr_id sum = expr_number(c, 0);
  for (uint32_t kind = 0; kind < l->base.model->nmessages; kind++) {
    const struct route *r = route_of(s, kind, q, p);
    if (!r->exists)
      continue;
    for (int64_t code = 0; code < (int64_t)s->codes[kind]; code++) {
      const struct state_variable *cell = &l->program->variables.at[r->cell];
      expr_id now = expr_array_read(c, r->cell, expr_number(c, code), cell->lo, cell->hi), at = expr_number(c, code);
      for (uint32_t i = 0; i < a->ntaken && consumes(a->action); i++)
        if (a->taken[i].sender == q && p == a->p && a->action->kind == kind) {
          expr_id gone = expr_and(c, a->taken[i].when, expr_not(c, expr_or(c, a->taken[i].forged, a->taken[i].kept)));
          gone = expr_and(c, gone, expr_equal(c, a->taken[i].code, at));
          now = expr_arithmetic(c, EXPR_SUB, now, expr_bool_to_int(c, gone));
        }
      for (size_t i = 0; i < n; i++)
        if (sent[i].to == p && sent[i].kind == kind && a->p == q) {
          expr_id more = expr_and(
              c, out[i], expr_equal(c, code_of_value(l, l->base.model->messages[kind].type, sent[i].message), at));
          now = expr_arithmetic(c, EXPR_ADD, now, expr_bool_to_int(c, more));
          if (s->channel == CHANNEL_SET)
            now = expr_ite(c, expr_less(c, expr_number(c, 1), now), expr_number(c, 1), now);
        }
      sum = expr_arithmetic(c, EXPR_ADD, sum, now);
    }
  }
  return sum;
}

void require_channel_bound(struct action_lowering *a, const expr_id *out) {
  struct model_lowering *l = a->s->l;
  const struct clause *k = clause_of_kind(l->program->environment, CLAUSE_CHANNELS);
  if (!k || !k->bound || a->s->channel == CHANNEL_FIFO)
    return;
  for (uint32_t p = 0; p < a->s->n; p++) {
    bool sends = false;
    for (size_t i = 0; i < l->scope.posted.n; i++)
      sends |= l->scope.posted.at[i].to == p;
    if (sends)
      assume_evaluated(l, expr_at_most(l->base.graph, held(a, a->p, p, l->scope.posted.at, out, l->scope.posted.n),
                                       expr_number(l->base.graph, k->bound)));
  }
}

/* Exceeding the range of a channel's variable is reported as an error. */
void fail_on_overflow(struct action_lowering *a, const expr_id *out) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  if (a->s->channel != CHANNEL_BAG)
    return;
  for (size_t i = 0; i < l->scope.posted.n; i++) {
    const struct sym_sent *m = &l->scope.posted.at[i];
    const struct route *r = route_of(a->s, m->kind, a->p, m->to);
    if (!r->exists)
      continue;
    expr_id room = expr_array_read(c, r->cell, code_of_value(l, l->base.model->messages[m->kind].type, m->message), 0,
                                   MOST_EQUAL),
            same = expr_number(c, 1);
    for (size_t k = 0; k < i; k++)
      if (l->scope.posted.at[k].to == m->to && l->scope.posted.at[k].kind == m->kind)
        same = expr_arithmetic(
            c, EXPR_ADD, same,
            expr_bool_to_int(c, expr_and(c, out[k], sym_equal(&l->base, l->scope.posted.at[k].message, m->message))));
    expr_id over = expr_less(c, expr_number(c, MOST_EQUAL), expr_arithmetic(c, EXPR_ADD, room, same));
    scope_fail(&l->scope, expr_and(c, out[i], over), m->at, "export limit: more than %d equal messages in a channel",
               MOST_EQUAL);
  }
}

void change_rows(struct action_lowering *a) {
  for (uint32_t i = 0; i < a->s->l->program->variables.n; i++)
    if (a->row[i] != NO_EXPR)
      rule_change(a->s->l, i, a->row[i]);
}
