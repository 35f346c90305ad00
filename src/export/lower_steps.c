/* Steps under M, and shared memory: a rule for each action of each process (and, if it takes one message, of each sender),
   and for each fault. Which messages are taken is a choice; whether they are there, match and suffice are conditions
   (sem/action.c, sem/event_step.c and sem/event_judge.c say the same).

   Bags and sets: for each kind and each pair of processes an array that says how many of each message are pending, by the
   message's code. FIFO: for each pair a row of codes, the oldest first, 0 beyond the last. */
#include "export/lower.h"

#include <string.h>

#define MOST_CELLS 60000 /* pending messages that are told apart */
#define MOST_EQUAL 7     /* equal messages in one bag */
#define FIFO_LENGTH 4    /* of a channel without bound */

struct route { /* messages of a kind from q to p; FIFO: kind is 0, and all kinds share one */
  bool exists;
  uint32_t cell; /* of the array, or the first of the row */
};

struct steps {
  struct lowering *l;
  uint32_t n;
  enum channel channel;
  uint32_t length;       /* FIFO: of a row */
  bool overflows;        /* FIFO: because we said so */
  struct route *routes;  /* by kind, q, p */
  bool *carried;         /* by q, p, kind */
  uint64_t *codes;       /* by kind: how many messages */
};

static struct route *route_of(struct steps *s, uint32_t kind, uint32_t q, uint32_t p) {
  return &s->routes[((size_t)(s->channel == CHANNEL_FIFO ? 0 : kind) * s->n + q) * s->n + p];
}

/* --- which messages can go where --- */

static void mark_send(struct steps *s, uint32_t role, const struct send *send) {
  const struct model *m = s->l->model;
  const struct role *from = &m->roles[role];
  for (uint32_t q = from->first; q < from->first + from->count; q++)
    for (uint32_t p = 0; p < s->n; p++) {
      uint32_t to = model_role_of(m, p);
      bool may = true;
      if (send->target == TARGET_SET)
        may = send->to_role == ROLE_ANY || send->to_role == to;
      else if (send->target == TARGET_OTHERS)
        may = p != q;
      else if (send->target == TARGET_ONE)
        may = send->to->type->role == ROLE_ANY || send->to->type->role == to;
      else if (send->to->type->element->kind == TYPE_PROCESS)
        may = send->to->type->element->role == ROLE_ANY || send->to->type->element->role == to;
      if (from->ring)
        may = may && p == from->first + (q - from->first + 1) % from->count;
      if (may) {
        route_of(s, send->kind, q, p)->exists = true;
        s->carried[((size_t)q * s->n + p) * m->nmessages + send->kind] = true;
      }
    }
}

static void mark_block(struct steps *s, uint32_t role, const struct block *b) {
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

/* What nobody ever takes changes nothing, unless it counts against a bound: rondo does not keep such channels either. */
static void forget_unread(struct steps *s, uint32_t q, uint32_t p, const bool *carried) {
  const struct model *m = s->l->model;
  bool read = false;
  for (uint32_t k = 0; k < m->nmessages; k++)
    read |= carried[k] && takes(&m->roles[model_role_of(m, p)], k);
  for (uint32_t k = 0; k < m->nmessages && !read; k++)
    route_of(s, k, q, p)->exists = false;
}

static const char *route_name(struct steps *s, uint32_t kind, uint32_t q, uint32_t p) {
  struct lowering *l = s->l;
  const char *what = s->channel == CHANNEL_FIFO ? "channel" : l->model->messages[kind].name;
  return arena_printf(l->arena, "%s_%s_to_%s", what, process_name(l, q), process_name(l, p));
}

static const char *code_comment(struct lowering *l, uint32_t kind) {
  const struct type *t = l->model->messages[kind].type;
  struct text out = {0};
  text_add(&out, "how many are pending, by code:");
  for (uint32_t i = 0; i < t->size; i++)
    text_addf(&out, " %s (%llu)", t->fields[i].name,
              (unsigned long long)code_count(l, t->fields[i].type, l->model->messages[kind].at));
  const char *copy = arena_printf(l->arena, "%s", out.at);
  text_release(&out);
  return copy;
}

static void declare_route(struct steps *s, uint32_t kind, uint32_t q, uint32_t p, int64_t all) {
  struct lowering *l = s->l;
  struct route *r = route_of(s, kind, q, p);
  const char *name = route_name(s, kind, q, p);
  if (s->channel != CHANNEL_FIFO) {
    r->cell = cell_new(l, name, false, 0, s->channel == CHANNEL_SET ? 1 : MOST_EQUAL, false, code_comment(l, kind));
    l->program->cells.at[r->cell].length = (uint32_t)s->codes[kind];
    return;
  }
  for (uint32_t i = 0; i < s->length; i++) {
    uint32_t cell = cell_new(l, arena_printf(l->arena, "%s_%u", name, i + 1), false, 0, all, false,
                             i ? NULL : "1 + the message's code, kind after kind; 0: none");
    r->cell = i ? r->cell : cell;
  }
}

void steps_declare(struct lowering *l) {
  const struct model *m = l->model;
  struct steps *s = l->steps = arena_alloc(l->arena, sizeof *s);
  const struct clause *k = clause_of(l, CLAUSE_CHANNELS);
  *s = (struct steps){.l = l, .n = m->nprocesses, .channel = k ? k->channel : CHANNEL_BAG};
  s->length = k && k->bound ? (uint32_t)k->bound : FIFO_LENGTH;
  s->overflows = !(k && k->bound);
  s->routes = arena_array(l->arena, (size_t)(m->nmessages + 1) * s->n * s->n, sizeof *s->routes);
  s->carried = arena_array(l->arena, (size_t)s->n * s->n * (m->nmessages + 1), sizeof *s->carried);
  s->codes = arena_array(l->arena, m->nmessages + 1, sizeof *s->codes);
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
      forget_unread(s, q, p, s->carried + ((size_t)q * s->n + p) * m->nmessages);
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

/* --- what is pending --- */

/* FIFO: codes of kinds follow each other. */
static int64_t code_base(const struct steps *s, uint32_t kind) {
  int64_t base = 1;
  for (uint32_t i = 0; i < kind; i++)
    base += (int64_t)s->codes[i];
  return base;
}

static wire row_at(struct steps *s, const struct route *r, uint32_t i) { return cell_wire(s->l, r->cell + i); }

/* Under way from q: is there a message with this code that may be taken? */
static wire pending(struct steps *s, uint32_t kind, uint32_t q, uint32_t p, wire code) {
  struct lowering *l = s->l;
  struct circuit *c = l->circuit;
  const struct route *r = route_of(s, kind, q, p);
  if (!r->exists)
    return circuit_truth(c, false);
  if (s->channel == CHANNEL_FIFO)
    return circuit_equal(c, row_at(s, r, 0), circuit_arithmetic(c, GATE_ADD, code, circuit_number(c, code_base(s, kind))));
  const struct cell *cell = &l->program->cells.at[r->cell];
  return circuit_less(c, circuit_number(c, 0), circuit_read(c, r->cell, code, cell->lo, cell->hi));
}

/* --- an action --- */

struct taking { /* what a process takes or looks at in a step */
  uint32_t sender;
  wire when, code, forged, kept;
};

struct acting {
  struct steps *s;
  uint32_t p;
  const struct action *action;
  struct taking *taken;
  uint32_t ntaken;
  struct local_state after;
  struct symbol *globals;
  /* messages, changed in order */
  wire *row;           /* FIFO: by cell, what it has become; NO_WIRE: as it was */
};

static bool consumes(const struct action *a) {
  return a->trigger == TRIGGER_ONE || (a->trigger == TRIGGER_QUORUM && a->taken);
}

static wire channel_to(struct lowering *l, uint32_t q, uint32_t p) {
  const struct role *role = &l->model->roles[model_role_of(l->model, q)];
  if (role->ring)
    return circuit_truth(l->circuit, p == role->first + (q - role->first + 1) % role->count);
  if (!role->graph)
    return circuit_truth(l->circuit, true);
  struct local_state nobody = {0};
  begin_process(l, q, &nobody, l->now.globals);
  l->quiet = true;
  l->failed = circuit_truth(l->circuit, false);
  wire in = neighbours_of(l).leaf[p];
  l->quiet = false;
  return circuit_and(l->circuit, in, circuit_not(l->circuit, l->failed));
}

/* Whether it can be asked: place, `once`, alive. */
static void guard_action(struct acting *a) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  const struct role *role = &l->model->roles[model_role_of(l->model, a->p)];
  const struct local_state *now = &l->now.local[a->p];
  rule_guard(l, active(l, now));
  if (role->point_var != NO_VAR) {
    wire at = now->vars[role->point_var].leaf[0];
    const char *first = role->vars[role->point_var].type->labels[0];
    if (a->action->point != ANY_POINT)
      rule_guard(l, circuit_equal(c, at, circuit_number(c, a->action->point)));
    else if (!strcmp(first, "start"))
      rule_guard(l, circuit_not(c, circuit_equal(c, at, circuit_number(c, 0))));
  }
  if (a->action->once != NO_SLOT)
    rule_guard(l, circuit_not(c, now->vars[a->action->once].leaf[0]));
}

static void bind(struct lowering *l, const struct action *a, struct symbol message, uint32_t sender) {
  wire from = circuit_number(l->circuit, sender);
  l->slot[a->slot] = message;
  l->slot_sender[a->slot] = from;
  if (a->from_slot != NO_SLOT)
    l->slot[a->from_slot] = symbol_number(l, l->model->processes, from);
  for (uint32_t i = 0; i < a->nparts; i++)
    l->slot[a->parts[i].slot] = symbol_part(l, message, a->parts[i].field);
}

/* Is the message there (or made up by a liar), and does it match? */
static void check_taking(struct acting *a, struct taking *t, struct symbol message) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  wire liar = l->now.local[t->sender].byzantine;
  wire there = pending(a->s, a->action->kind, t->sender, a->p, t->code);
  t->forged = circuit_truth(c, false);
  if (!circuit_is(c, liar, 0)) {
    wire path = l->path;
    t->forged = circuit_and(c, liar, channel_to(l, t->sender, a->p));
    begin_process(l, a->p, &a->after, a->globals);
    l->path = path;
    there = circuit_if(c, liar, t->forged, there);
  }
  rule_guard(l, circuit_implies(c, t->when, there));
  if (!a->action->match)
    return;
  bind(l, a->action, message, t->sender);
  wire path = path_and(l, circuit_and(c, t->when, there));
  wire fits = lower_truth(l, a->action->match);
  l->path = path;
  assume(l, circuit_implies(c, t->when, fits));
}

/* `at most k messages are duplicated`: what is taken may stay. */
static void choose_kept(struct acting *a, struct taking *t) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  t->kept = circuit_truth(c, false);
  if (!clause_of(l, CLAUSE_DUPLICATED) || !consumes(a->action))
    return;
  t->kept = choice_truth(l, arena_printf(l->arena, "stays_from_%s", process_name(l, t->sender)));
  rule_guard(l, circuit_implies(c, t->kept, circuit_and(c, t->when, circuit_not(c, t->forged))));
}

static void charge_kept(struct acting *a) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  if (l->duplicated_cell == UINT32_MAX)
    return;
  wire sum = circuit_number(c, 0);
  for (uint32_t i = 0; i < a->ntaken; i++)
    sum = circuit_arithmetic(c, GATE_ADD, sum, circuit_count(c, a->taken[i].kept));
  int64_t most = l->program->cells.at[l->duplicated_cell].hi;
  wire after = circuit_arithmetic(c, GATE_ADD, cell_wire(l, l->duplicated_cell), sum);
  assume(l, circuit_at_most(c, after, circuit_number(c, most)));
  rule_change_allowed(l, l->duplicated_cell, after);
}

/* One message, from one sender: any code. */
static bool take_one(struct acting *a, uint32_t q) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  uint32_t kind = a->action->kind;
  const struct route *r = route_of(a->s, kind, q, a->p);
  if (!r->exists && circuit_is(c, l->now.local[q].byzantine, 0))
    return false;
  struct taking *t = a->taken = arena_alloc(l->arena, sizeof *t);
  a->ntaken = 1;
  *t = (struct taking){.sender = q, .when = circuit_truth(c, true)};
  t->code = choice_number(l, l->model->messages[kind].name, 0, (int64_t)a->s->codes[kind] - 1);
  struct symbol message = symbol_of_code(l, l->model->messages[kind].type, t->code);
  check_taking(a, t, message);
  choose_kept(a, t);
  bind(l, a->action, message, q);
  return true;
}

/* Codes of messages that can match at all, whatever the state: the others are no choices. */
static uint32_t matching_codes(struct acting *a, uint32_t q, int64_t *codes) {
  struct lowering *l = a->s->l;
  uint32_t n = 0, kind = a->action->kind;
  for (int64_t code = 0; code < (int64_t)a->s->codes[kind]; code++) {
    if (a->action->match) {
      bind(l, a->action, symbol_of_code(l, l->model->messages[kind].type, circuit_number(l->circuit, code)), q);
      l->quiet = true;
      wire failed = l->failed, fits = lower_truth(l, a->action->match);
      bool fails = l->failed != failed;
      l->failed = failed;
      l->quiet = false;
      if (circuit_is(l->circuit, fits, 0) && !fails)
        continue;
    }
    codes[n++] = code;
  }
  return n;
}

/* A set of messages, one from each sender at most: for each sender none, or which. */
static void take_quorum(struct acting *a) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  uint32_t kind = a->action->kind, n = a->s->n;
  const struct type *type = l->model->messages[kind].type;
  int64_t *codes = arena_array(l->arena, a->s->codes[kind] + 1, sizeof *codes);
  struct received_message *received = arena_array(l->arena, n + 1, sizeof *received);
  a->taken = arena_array(l->arena, n + 1, sizeof *a->taken);
  for (uint32_t q = 0; q < n; q++) {
    if (!route_of(a->s, kind, q, a->p)->exists && circuit_is(c, l->now.local[q].byzantine, 0))
      continue;
    uint32_t ncodes = matching_codes(a, q, codes);
    wire which = choice_number(l, arena_printf(l->arena, "%s_from_%s", l->model->messages[kind].name, process_name(l, q)), 0, ncodes);
    struct taking *t = &a->taken[a->ntaken];
    *t = (struct taking){.sender = q, .when = circuit_less(c, circuit_number(c, 0), which), .code = circuit_number(c, 0)};
    struct symbol message = symbol_default(l, type);
    if (ncodes == a->s->codes[kind]) {
      t->code = circuit_if(c, t->when, circuit_arithmetic(c, GATE_SUB, which, circuit_number(c, 1)), circuit_number(c, 0));
      circuit_within(c, t->code, 0, (int64_t)a->s->codes[kind] - 1);
      message = symbol_if(l, t->when, symbol_of_code(l, type, t->code), message);
    } else {
      for (uint32_t i = 0; i < ncodes; i++) {
        wire is = circuit_equal(c, which, circuit_number(c, i + 1));
        t->code = circuit_if(c, is, circuit_number(c, codes[i]), t->code);
        message = symbol_if(l, is, symbol_of_code(l, type, circuit_number(c, codes[i])), message);
      }
    }
    check_taking(a, t, message);
    choose_kept(a, t);
    received[a->ntaken++] = (struct received_message){t->when, q, message};
  }
  wire size = lower_number(l, a->action->size), sum = circuit_number(c, 0), first = circuit_truth(c, false);
  for (uint32_t i = 0; i < a->ntaken; i++) {
    sum = circuit_arithmetic(c, GATE_ADD, sum, circuit_count(c, received[i].when));
    for (uint32_t k = 0; k < i; k++) /* they agree on what must be the same */
      for (uint32_t j = 0; j < a->action->nparts; j++) {
        uint32_t field = a->action->parts[j].field;
        wire same = symbol_equal(l, symbol_part(l, received[i].message, field), symbol_part(l, received[k].message, field));
        assume(l, circuit_implies(c, circuit_and(c, received[i].when, received[k].when), same));
      }
    first = circuit_or(c, first, received[i].when);
  }
  assume(l, a->action->exactly ? circuit_equal(c, sum, size) : circuit_at_most(c, size, sum));
  if (a->action->nparts > 0)
    assume(l, first);
  l->received = received;
  l->nreceived = a->ntaken;
  for (uint32_t j = 0; j < a->action->nparts; j++) {
    struct symbol part = symbol_default(l, type->fields[a->action->parts[j].field].type);
    for (uint32_t i = 0; i < a->ntaken; i++)
      part = symbol_if(l, received[i].when, symbol_part(l, received[i].message, a->action->parts[j].field), part);
    l->slot[a->action->parts[j].slot] = part;
  }
}

/* --- what becomes of the messages --- */

static wire row_now(struct acting *a, const struct route *r, uint32_t i) {
  wire w = a->row[r->cell + i];
  return w == NO_WIRE ? row_at(a->s, r, i) : w;
}

static void shift_row(struct acting *a, const struct route *r, wire when) {
  struct circuit *c = a->s->l->circuit;
  for (uint32_t i = 0; i < a->s->length; i++) {
    wire next = i + 1 < a->s->length ? row_now(a, r, i + 1) : circuit_number(c, 0);
    a->row[r->cell + i] = circuit_if(c, when, next, row_now(a, r, i));
  }
}

static void bump(struct lowering *l, uint32_t cell, wire when, wire index, int64_t by, bool absorbed) {
  if (!circuit_is(l->circuit, when, 0))
    vec_push(&l->rule->changes, ((struct cell_change){.cell = cell, .value = NO_WIRE, .condition = when, .index = index, .by = by, .absorbed = absorbed}));
}

static void consume(struct acting *a) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  for (uint32_t i = 0; i < a->ntaken && consumes(a->action); i++) {
    const struct taking *t = &a->taken[i];
    const struct route *r = route_of(a->s, a->action->kind, t->sender, a->p);
    wire gone = circuit_and(c, t->when, circuit_not(c, circuit_or(c, t->forged, t->kept)));
    if (!r->exists)
      continue;
    if (a->s->channel == CHANNEL_FIFO)
      shift_row(a, r, gone);
    else
      bump(l, r->cell, gone, t->code, -1, a->s->channel == CHANNEL_SET);
  }
}

static void post(struct acting *a, const struct sent_message *m, wire when) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  const struct route *r = route_of(a->s, m->kind, a->p, m->to);
  wire code = symbol_code(l, m->message);
  when = circuit_and(c, when, circuit_not(c, l->now.local[m->to].byzantine));
  if (circuit_is(c, when, 0) || !r->exists)
    return;
  if (a->s->channel != CHANNEL_FIFO) {
    bump(l, r->cell, when, code, 1, a->s->channel == CHANNEL_SET);
    return;
  }
  code = circuit_arithmetic(c, GATE_ADD, code, circuit_number(c, code_base(a->s, m->kind)));
  wire placed = circuit_not(c, when);
  for (uint32_t i = 0; i < a->s->length; i++) {
    wire now = row_now(a, r, i);
    wire here = circuit_and(c, circuit_not(c, placed), circuit_equal(c, now, circuit_number(c, 0)));
    a->row[r->cell + i] = circuit_if(c, here, code, now);
    placed = circuit_or(c, placed, here);
  }
  if (!a->s->overflows)
    assume(l, placed);
  else
    fail_if(l, circuit_not(c, placed), m->at, "export limit: more than %d messages in a channel", FIFO_LENGTH);
}

/* Bags and sets with a bound: pending messages of all kinds from p to each receiver, counted after the step. An absorbed
   message adds nothing; nor does what the same action sends twice. */
static wire held(struct acting *a, uint32_t q, uint32_t p, const struct sent_message *sent, const wire *out, size_t n) {
  struct steps *s = a->s;
  struct lowering *l = s->l;
  struct circuit *c = l->circuit;
  wire sum = circuit_number(c, 0);
  for (uint32_t kind = 0; kind < l->model->nmessages; kind++) {
    const struct route *r = route_of(s, kind, q, p);
    if (!r->exists)
      continue;
    for (int64_t code = 0; code < (int64_t)s->codes[kind]; code++) {
      const struct cell *cell = &l->program->cells.at[r->cell];
      wire now = circuit_read(c, r->cell, circuit_number(c, code), cell->lo, cell->hi), at = circuit_number(c, code);
      for (uint32_t i = 0; i < a->ntaken && consumes(a->action); i++)
        if (a->taken[i].sender == q && p == a->p && a->action->kind == kind) {
          wire gone = circuit_and(c, a->taken[i].when, circuit_not(c, circuit_or(c, a->taken[i].forged, a->taken[i].kept)));
          gone = circuit_and(c, gone, circuit_equal(c, a->taken[i].code, at));
          now = circuit_arithmetic(c, GATE_SUB, now, circuit_count(c, gone));
        }
      for (size_t i = 0; i < n; i++)
        if (sent[i].to == p && sent[i].kind == kind && a->p == q) {
          wire more = circuit_and(c, out[i], circuit_equal(c, symbol_code(l, sent[i].message), at));
          now = circuit_arithmetic(c, GATE_ADD, now, circuit_count(c, more));
          if (s->channel == CHANNEL_SET)
            now = circuit_if(c, circuit_less(c, circuit_number(c, 1), now), circuit_number(c, 1), now);
        }
      sum = circuit_arithmetic(c, GATE_ADD, sum, now);
    }
  }
  return sum;
}

static void keep_bound(struct acting *a, const wire *out) {
  struct lowering *l = a->s->l;
  const struct clause *k = clause_of(l, CLAUSE_CHANNELS);
  if (!k || !k->bound || a->s->channel == CHANNEL_FIFO)
    return;
  for (uint32_t p = 0; p < a->s->n; p++) {
    bool sends = false;
    for (size_t i = 0; i < l->outbox.n; i++)
      sends |= l->outbox.at[i].to == p;
    if (sends)
      assume(l, circuit_at_most(l->circuit, held(a, a->p, p, l->outbox.at, out, l->outbox.n), circuit_number(l->circuit, k->bound)));
  }
}

/* More than a cell can hold: said, not wrapped round. */
static void check_room(struct acting *a, const wire *out) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  if (a->s->channel != CHANNEL_BAG)
    return;
  for (size_t i = 0; i < l->outbox.n; i++) {
    const struct sent_message *m = &l->outbox.at[i];
    const struct route *r = route_of(a->s, m->kind, a->p, m->to);
    if (!r->exists)
      continue;
    wire room = circuit_read(c, r->cell, symbol_code(l, m->message), 0, MOST_EQUAL), same = circuit_number(c, 1);
    for (size_t k = 0; k < i; k++)
      if (l->outbox.at[k].to == m->to && l->outbox.at[k].kind == m->kind)
        same = circuit_arithmetic(c, GATE_ADD, same, circuit_count(c, circuit_and(c, out[k], symbol_equal(l, l->outbox.at[k].message, m->message))));
    wire over = circuit_less(c, circuit_number(c, MOST_EQUAL), circuit_arithmetic(c, GATE_ADD, room, same));
    fail_if(l, circuit_and(c, out[i], over), m->at, "export limit: more than %d equal messages in a channel", MOST_EQUAL);
  }
}

static void change_rows(struct acting *a) {
  for (uint32_t i = 0; i < a->s->l->program->cells.n; i++)
    if (a->row[i] != NO_WIRE)
      rule_change(a->s->l, i, a->row[i]);
}

static struct global_state state_after(struct acting *a) {
  struct lowering *l = a->s->l;
  struct global_state after = {arena_array(l->arena, a->s->n + 1, sizeof *after.local), a->globals, circuit_number(l->circuit, 0)};
  memcpy(after.local, l->now.local, a->s->n * sizeof *after.local);
  after.local[a->p] = a->after;
  return after;
}

/* --- rules --- */

static wire *no_rows(struct lowering *l) {
  wire *row = arena_array(l->arena, l->program->cells.n + 1, sizeof *row);
  for (size_t i = 0; i < l->program->cells.n; i++)
    row[i] = NO_WIRE;
  return row;
}

static bool may_crash(const struct lowering *l, uint32_t p) {
  return node_of(l->circuit, l->now.local[p].crashed)->gate == GATE_CELL;
}

static void guard_crash(struct lowering *l, uint32_t p) {
  struct circuit *c = l->circuit;
  wire *down = arena_array(l->arena, l->model->nprocesses + 1, sizeof *down);
  for (uint32_t q = 0; q < l->model->nprocesses; q++)
    down[q] = q == p ? circuit_truth(c, true) : circuit_or(c, l->now.local[q].crashed, l->now.local[q].recovered);
  rule_guard(l, active(l, &l->now.local[p]));
  rule_guard(l, faults_fit(l, CLAUSE_CRASH, down, false));
}

/* The body, and what it sends; false: there is nothing to take. crashing: in the middle of it, some messages are out. */
static bool run_action(struct acting *a, uint32_t sender, bool crashing) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  const struct role *role = &l->model->roles[model_role_of(l->model, a->p)];
  const struct local_state *now = &l->now.local[a->p];
  a->after = local_copy(l, model_role_of(l->model, a->p), now);
  a->globals = globals_copy(l, l->now.globals);
  a->row = no_rows(l);
  a->ntaken = 0;
  begin_process(l, a->p, &a->after, a->globals);
  if (crashing)
    guard_crash(l, a->p);
  guard_action(a);
  if (a->action->trigger == TRIGGER_ONE && !take_one(a, sender))
    return false;
  if (a->action->trigger == TRIGGER_QUORUM)
    take_quorum(a);
  wire guard = lower_guard(l, &a->action->guard);
  circuit_note(c, guard, a->action->at);
  assume(l, guard);
  a->after.halted = circuit_truth(c, false);
  if (role->point_var != NO_VAR && a->action->next != ANY_POINT)
    a->after.vars[role->point_var] = symbol_number(l, a->after.vars[role->point_var].type, circuit_number(c, a->action->next));
  if (a->action->once != NO_SLOT)
    a->after.vars[a->action->once] = symbol_as(l, symbol_truth(l, circuit_truth(c, true)), a->after.vars[a->action->once].type);
  vec_clear(&l->outbox);
  lower_block(l, &a->action->body);
  l->path = circuit_truth(c, true);
  return true;
}

static void finish_action(struct acting *a) {
  struct lowering *l = a->s->l;
  wire *out = arena_array(l->arena, l->outbox.n + 1, sizeof *out);
  for (size_t i = 0; i < l->outbox.n; i++)
    out[i] = circuit_and(l->circuit, l->outbox.at[i].when, circuit_not(l->circuit, l->now.local[l->outbox.at[i].to].byzantine));
  charge_kept(a);
  consume(a);
  keep_bound(a, out);
  check_room(a, out);
  for (size_t i = 0; i < l->outbox.n; i++)
    post(a, &l->outbox.at[i], out[i]);
  change_rows(a);
  struct global_state after = state_after(a);
  rule_end(l, &after);
}

/* In the middle of an action: any part of its messages is out (at least one), and nothing else has happened. That it could
   have been taken as a whole is a condition. */
static void finish_crash(struct acting *a) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  size_t n = l->outbox.n;
  wire *out = arena_array(l->arena, n + 1, sizeof *out), *whole = arena_array(l->arena, n + 1, sizeof *whole), any = circuit_truth(c, false);
  const struct clause *k = clause_of(l, CLAUSE_CHANNELS);
  for (size_t i = 0; i < n; i++) {
    wire sent = l->outbox.at[i].when, listens = circuit_not(c, l->now.local[l->outbox.at[i].to].byzantine);
    wire chosen = choice_truth(l, arena_printf(l->arena, "out_%zu", i + 1));
    assume(l, circuit_implies(c, chosen, sent));
    whole[i] = circuit_and(c, sent, listens);
    out[i] = circuit_and(c, chosen, listens);
    any = circuit_or(c, any, chosen);
  }
  assume(l, any);
  for (size_t i = 0; i < l->rule->failures.n; i++) /* an action that fails is not crashed in */
    assume(l, circuit_not(c, l->rule->failures.at[i].when));
  l->rule->failures.n = 0;
  if (k && k->bound) {
    if (a->s->channel == CHANNEL_FIFO)
      refuse(l, k->at, "crashes in the middle of an action, with bounded fifo channels, cannot be written in this format");
    keep_bound(a, whole);
  }
  a->ntaken = 0; /* what it took is still there */
  keep_bound(a, out);
  check_room(a, out);
  for (size_t i = 0; i < n; i++)
    post(a, &l->outbox.at[i], out[i]);
  change_rows(a);
  a->after = local_copy(l, model_role_of(l->model, a->p), &l->now.local[a->p]);
  a->after.crashed = circuit_truth(c, true);
  a->after.recovered = circuit_truth(c, false);
  a->globals = l->now.globals;
  struct global_state after = state_after(a);
  rule_end(l, &after);
}

static void drop_rule(struct lowering *l) {
  struct rule *r = &l->program->rules.at[--l->program->rules.n];
  vec_release(&r->choices);
  vec_release(&r->guards);
  vec_release(&r->failures);
  vec_release(&r->changes);
  vec_release(&r->steps);
  l->rule = NULL;
}

static void action_rules(struct steps *s, uint32_t p, const struct action *action) {
  struct lowering *l = s->l;
  uint32_t senders = action->trigger == TRIGGER_ONE ? s->n : 1;
  for (uint32_t q = 0; q < senders; q++)
    for (int crashing = 0; crashing <= may_crash(l, p); crashing++) {
      struct acting a = {.s = s, .p = p, .action = action};
      const char *from = action->trigger == TRIGGER_ONE ? arena_printf(l->arena, "_from_%s", process_name(l, q)) : "";
      const char *verb = crashing ? "crashes_in" : "does";
      rule_begin(l, arena_printf(l->arena, "%s_%s_%s%s", process_name(l, p), verb, action->name, from), action->at);
      bool possible = run_action(&a, q, crashing);
      if (!possible || (crashing && l->outbox.n == 0))
        drop_rule(l);
      else if (crashing)
        finish_crash(&a);
      else
        finish_action(&a);
    }
}

static void crash_rules(struct steps *s, uint32_t p) {
  struct lowering *l = s->l;
  struct circuit *c = l->circuit;
  struct acting a = {.s = s, .p = p};
  if (!may_crash(l, p))
    return;
  uint32_t r = model_role_of(l->model, p);
  const struct role *role = &l->model->roles[r];
  rule_begin(l, arena_printf(l->arena, "%s_crashes", process_name(l, p)), (struct span){0, 0});
  guard_crash(l, p);
  a.after = local_copy(l, r, &l->now.local[p]);
  a.after.crashed = circuit_truth(c, true);
  a.after.recovered = circuit_truth(c, false);
  a.globals = l->now.globals;
  struct global_state after = state_after(&a);
  rule_end(l, &after);
  if (node_of(c, l->now.local[p].recovered)->gate != GATE_CELL)
    return;
  rule_begin(l, arena_printf(l->arena, "%s_recovers", process_name(l, p)), (struct span){0, 0});
  wire *back = arena_array(l->arena, s->n + 1, sizeof *back);
  for (uint32_t q = 0; q < s->n; q++)
    back[q] = q == p ? circuit_truth(c, true) : l->now.local[q].recovered;
  rule_guard(l, l->now.local[p].crashed);
  rule_guard(l, faults_fit(l, CLAUSE_CRASH, back, true));
  a.after = local_copy(l, r, &l->now.local[p]);
  begin_process(l, p, &a.after, globals_copy(l, l->now.globals));
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (v->kind == VAR_INPUT || v->kind == VAR_STABLE || v->kind == VAR_GHOST)
      continue;
    a.after.vars[i] = first_value(l, v, arena_printf(l->arena, "%s_%s", process_name(l, p), v->name), circuit_truth(c, true));
  }
  if (role->point_var != NO_VAR && !strcmp(role->vars[role->point_var].type->labels[0], "start"))
    a.after.vars[role->point_var] = symbol_number(l, role->vars[role->point_var].type, circuit_number(c, 1));
  a.after.crashed = circuit_truth(c, false);
  a.after.recovered = circuit_truth(c, true);
  after = state_after(&a);
  rule_end(l, &after);
}

/* A pending message to a process that could still take it may be lost; of a FIFO channel any one. */
static void loss_rule(struct steps *s, uint32_t kind, uint32_t q, uint32_t p) {
  struct lowering *l = s->l;
  struct circuit *c = l->circuit;
  const struct route *r = route_of(s, kind, q, p);
  if (!r->exists)
    return;
  struct acting a = {.s = s, .p = p, .row = no_rows(l), .globals = l->now.globals};
  rule_begin(l, arena_printf(l->arena, "%s_is_lost", route_name(s, kind, q, p)), clause_of(l, CLAUSE_LOST)->at);
  rule_guard(l, active(l, &l->now.local[p]));
  if (s->channel == CHANNEL_FIFO) {
    wire which = choice_number(l, "place", 0, s->length - 1), lost = circuit_truth(c, false);
    for (uint32_t i = 0; i < s->length; i++) {
      wire is = circuit_equal(c, which, circuit_number(c, i));
      assume(l, circuit_implies(c, is, circuit_not(c, circuit_equal(c, row_at(s, r, i), circuit_number(c, 0)))));
      lost = circuit_or(c, lost, is);
      wire next = i + 1 < s->length ? row_at(s, r, i + 1) : circuit_number(c, 0);
      a.row[r->cell + i] = circuit_if(c, lost, next, row_at(s, r, i));
    }
    change_rows(&a);
  } else {
    wire code = choice_number(l, l->model->messages[kind].name, 0, (int64_t)s->codes[kind] - 1);
    rule_guard(l, pending(s, kind, q, p, code));
    bump(l, r->cell, circuit_truth(c, true), code, -1, s->channel == CHANNEL_SET);
  }
  if (l->lost_cell != UINT32_MAX) {
    wire after = circuit_arithmetic(c, GATE_ADD, cell_wire(l, l->lost_cell), circuit_number(c, 1));
    rule_guard(l, circuit_less(c, cell_wire(l, l->lost_cell), circuit_number(c, l->program->cells.at[l->lost_cell].hi)));
    rule_change_allowed(l, l->lost_cell, after);
  }
  a.after = l->now.local[p];
  struct global_state after = state_after(&a);
  rule_end(l, &after);
}

void lower_steps(struct lowering *l) {
  struct steps *s = l->steps;
  const struct model *m = l->model;
  for (uint32_t p = 0; p < s->n; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    for (uint32_t i = 0; i < role->nactions; i++)
      action_rules(s, p, &role->actions[i]);
    crash_rules(s, p);
  }
  for (uint32_t kind = 0; clause_of(l, CLAUSE_LOST) && kind < (s->channel == CHANNEL_FIFO ? 1 : m->nmessages); kind++)
    for (uint32_t q = 0; q < s->n; q++)
      for (uint32_t p = 0; p < s->n; p++)
        loss_rule(s, kind, q, p);
}
