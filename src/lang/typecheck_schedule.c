/* The schedule: the segments of all roles must have the same shape; `repeat` is unrolled into points. The sends of all
   roles in a round are lowered before any update, because they determine the type of `received`. */
#include "lang/typecheck_coerce.h"
#include "lang/typecheck_constant.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_process.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_statement.h"
#include "lang/typecheck_types.h"
#include "lang/typecheck_variables.h"
#include "lang/typechecker.h"

#include <inttypes.h>
#include <string.h>

enum { POINTS_MAX = 100000 };

struct schedule_segment {
  enum ast_kind kind; /* ONCE, REPEAT or PHASE */
  struct span at;
  const char *name; /* the name of the counter or phase number, or NULL */
  struct span name_at;
  int64_t count; /* REPEAT; else 1 */
  const struct ast **round;
  uint32_t nrounds;
};

struct role_schedule { /* for one role */
  struct schedule_segment *at;
  uint32_t n;
  const struct ast *finally;
};

/* ---- reading a role's schedule ---- */

static bool is_segment(const struct ast *a) {
  return a->kind == AST_ONCE || a->kind == AST_REPEAT || a->kind == AST_PHASE || a->kind == AST_ROUND;
}

static void fill_segment(struct typechecker *c, const struct ast *a, struct schedule_segment *s) {
  uint32_t from = a->kind == AST_REPEAT ? 1 : 0;
  s->kind = a->kind;
  s->at = a->word;
  s->count = 1;
  s->name = a->name;
  s->name_at = a->word;
  s->round = arena_array(&c->m->arena, a->n, sizeof *s->round);
  for (uint32_t i = from; i < a->n; i++)
    if (a->kid[i] && a->kid[i]->kind == AST_ROUND)
      s->round[s->nrounds++] = a->kid[i];
  if (a->kind != AST_REPEAT)
    return;
  if (!constant_number(c, a->kid[0], "the count of 'repeat'", &s->count))
    s->count = 1;
  else if (s->count < 0) {
    checker_error(c, E0408, a->kid[0]->at, "'repeat' needs a count of at least 0, not %" PRId64, s->count);
    s->count = 1;
  } else if (s->count > POINTS_MAX) {
    checker_error(c, E0408, a->kid[0]->at, "'repeat' of %" PRId64 " is too long: at most %d rounds", s->count,
                  (int)POINTS_MAX);
    s->count = 1;
  }
}

/* Rounds outside of segments form one phase that repeats forever. */
static void read_schedule(struct typechecker *c, uint32_t r, struct role_schedule *schedule) {
  const struct ast *p = c->roles[r].ast;
  bool endless = false, bare = false;
  schedule->at = arena_array(&c->m->arena, p->n, sizeof *schedule->at);
  for (uint32_t i = 2; i < p->n; i++) {
    const struct ast *a = p->kid[i];
    if (!is_segment(a) && a->kind != AST_FINALLY)
      continue;
    if (schedule->finally) {
      checker_error(c, E0408, a->word, "nothing can follow 'finally'");
      continue;
    }
    if (endless && !(bare && a->kind == AST_ROUND)) {
      checker_error(c, E0408, a->word, "this is never reached: the phase before it goes on for ever");
      checker_help(c, "a part that runs once is written 'once { ... }', one that runs k times 'repeat k { "
                      "... }'");
      continue;
    }
    if (a->kind == AST_FINALLY) {
      schedule->finally = a;
      continue;
    }
    struct schedule_segment *s =
        bare && a->kind == AST_ROUND ? &schedule->at[schedule->n - 1] : &schedule->at[schedule->n++];
    if (a->kind != AST_ROUND) {
      fill_segment(c, a, s);
      bare = false;
    } else if (!bare) {
      *s = (struct schedule_segment){.kind = AST_PHASE, .at = a->word, .count = 1};
      s->round = arena_array(&c->m->arena, p->n, sizeof *s->round);
      bare = true;
    }
    if (a->kind == AST_ROUND)
      s->round[s->nrounds++] = a;
    endless = s->kind == AST_PHASE;
  }
}

/* ---- comparing schedules ---- */

static const char *segment_text(enum ast_kind kind) {
  return kind == AST_ONCE ? "once" : kind == AST_REPEAT ? "repeat" : "phase";
}

static bool same_segment(struct typechecker *c, const struct schedule_segment *a, const struct schedule_segment *b,
                         const char *first, const char *other) {
  if (a->kind != b->kind) {
    checker_error(c, E0407, b->at, "'%s' has '%s' where '%s' has '%s'", other, segment_text(b->kind), first,
                  segment_text(a->kind));
    return false;
  }
  if (a->count != b->count) {
    checker_error(c, E0407, b->at, "'%s' repeats %" PRId64 " times where '%s' repeats %" PRId64 " times", other,
                  b->count, first, a->count);
    return false;
  }
  if (a->nrounds != b->nrounds) {
    checker_error(c, E0407, b->at, "'%s' has %u round%s here, but '%s' has %u", other, b->nrounds,
                  b->nrounds == 1 ? "" : "s", first, a->nrounds);
    return false;
  }
  bool good = true;
  for (uint32_t i = 0; i < a->nrounds; i++) {
    const char *x = a->round[i]->name, *y = b->round[i]->name;
    if (!x || !y || strcmp(x, y) == 0)
      continue;
    checker_error(c, E0407, b->round[i]->word, "'%s' calls this round '%s', but '%s' calls it '%s'", other, y, first,
                  x);
    good = false;
  }
  return good;
}

static bool same_schedule(struct typechecker *c, const struct role_schedule *schedules, uint32_t first,
                          uint32_t other) {
  const struct role_schedule *a = &schedules[first], *b = &schedules[other];
  const char *x = c->m->roles[first].name, *y = c->m->roles[other].name;
  for (uint32_t i = 0; i < a->n && i < b->n; i++)
    if (!same_segment(c, &a->at[i], &b->at[i], x, y)) {
      checker_help(c, "all processes go through the same rounds; a round in which one does nothing is "
                      "written 'round {}'");
      return false;
    }
  if (a->n == b->n)
    return true;
  checker_error(c, E0407, c->m->roles[other].at, "'%s' and '%s' do not go through the same rounds", x, y);
  checker_help(c, "a round in which a process does nothing is written 'round {}'");
  return false;
}

/* All roles must follow the first role that has rounds; roles without rounds are passive. */
static bool schedules_agree(struct typechecker *c, const struct role_schedule *schedules, uint32_t *leader) {
  bool good = true;
  *leader = UINT32_MAX;
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    if (schedules[r].n == 0)
      continue;
    if (*leader == UINT32_MAX)
      *leader = r;
    else
      good &= same_schedule(c, schedules, *leader, r);
  }
  if (*leader != UINT32_MAX)
    return good;
  checker_error(c, E0408, c->m->roles[0].at, "'%s' has no rounds", c->m->roles[0].name);
  checker_help(c, "write what it does: 'round { send ... to all  update { ... } }'");
  return false;
}

/* ---- points ---- */

static uint32_t name_id(struct typechecker *c, const char *name) {
  if (!name)
    return NO_NAME;
  for (uint32_t i = 0; i < c->m->round_names.n; i++)
    if (strcmp(c->m->round_names.at[i], name) == 0)
      return i;
  c->m->round_names.at[c->m->round_names.n] = checker_strdup(c, name);
  return c->m->round_names.n++;
}

static const char *round_name(const struct role_schedule *schedules, uint32_t nroles, uint32_t segment,
                              uint32_t round) {
  for (uint32_t r = 0; r < nroles; r++)
    if (segment < schedules[r].n && schedules[r].at[segment].round[round]->name)
      return schedules[r].at[segment].round[round]->name;
  return NULL;
}

static bool make_points(struct typechecker *c, const struct role_schedule *schedules, uint32_t leader) {
  const struct role_schedule *schedule = &schedules[leader];
  int64_t total = 0;
  uint32_t names = 0;
  for (uint32_t i = 0; i < schedule->n; i++) {
    /* both are bounded, by POINTS_MAX and by the size of the file */
    total += schedule->at[i].count * (int64_t)schedule->at[i].nrounds;
    names += schedule->at[i].nrounds;
    if (total > POINTS_MAX) {
      checker_error(c, E0408, schedule->at[i].at, "too many rounds: more than %d", (int)POINTS_MAX);
      return false;
    }
  }
  if (total == 0) {
    checker_error(c, E0408, c->m->roles[leader].at, "'%s' has no rounds for these parameters",
                  c->m->roles[leader].name);
    return false;
  }
  c->m->points = arena_array(&c->m->arena, (size_t)total, sizeof *c->m->points);
  c->m->round_names.at = arena_array(&c->m->arena, names, sizeof *c->m->round_names.at);
  for (uint32_t i = 0; i < schedule->n; i++) {
    const struct schedule_segment *s = &schedule->at[i];
    uint32_t start = c->m->npoints;
    for (int64_t k = 1; k <= s->count; k++)
      for (uint32_t j = 0; j < s->nrounds; j++) {
        uint32_t at = c->m->npoints++;
        const char *name = round_name(schedules, c->m->nroles, i, j);
        uint32_t id = name_id(c, name);
        c->m->points[at] = (struct point){.name = name ? c->m->round_names.at[id] : NULL,
                                          .name_id = id,
                                          .loop = s->kind == AST_REPEAT ? k : 0,
                                          .next = at + 1,
                                          .number = at + 1,
                                          .phase_start = j == 0,
                                          .phase_end = j + 1 == s->nrounds,
                                          .endless = s->kind == AST_PHASE};
      }
    if (s->kind == AST_PHASE && s->nrounds)
      c->m->points[c->m->npoints - 1].next = start;
  }
  struct point *last = &c->m->points[c->m->npoints - 1];
  if (!last->endless)
    last->next = POINT_END;
  return true;
}

/* ---- arriving messages ---- */

struct schedule_send {
  const struct ast *ast;
  struct send *send;
  uint32_t role;
  uint64_t reach;
};

static bool reaches(const struct schedule_send *s, uint32_t role) { return role_in(s->reach, role); }

static void add_arrival(struct typechecker *c, struct arrivals *in, const struct schedule_send *s) {
  const struct type *type = s->send->message->type;
  in->senders |= s->role < 63 && c->m->nroles <= 63 ? UINT64_C(1) << s->role : ROLES_ALL;
  if (!in->type) {
    in->type = in->first_type = type;
    in->first = s->ast;
    return;
  }
  const struct type *join = type_join(c, in->type, type);
  /* the join must not require a conversion: the receiver gets the values that the senders made */
  bool alike =
      join && (join->kind == TYPE_ERROR || ((!type_is_known(type) || same_representation(type, join)) &&
                                            (!type_is_known(in->type) || same_representation(in->type, join))));
  if (alike)
    in->type = join;
  else if (!in->clash) {
    in->clash = s->ast;
    in->clash_type = type;
  }
}

/* What clashed before still does. */
static void find_arrivals(struct typechecker *c, struct arrivals *in, const struct schedule_send *sent, uint32_t n) {
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    struct arrivals before = in[r];
    in[r] = (struct arrivals){0};
    for (uint32_t i = 0; i < n; i++)
      if (reaches(&sent[i], r))
        add_arrival(c, &in[r], &sent[i]);
    if (before.clash) {
      before.type = in[r].type;
      in[r] = before;
    }
  }
}

/* `none`, {} and [] alone take the type of the other messages to the same receivers. */
static void infer_message_type(struct typechecker *c, struct schedule_send *s, const struct arrivals *in) {
  struct send *send = s->send;
  for (uint32_t r = 0; r < c->m->nroles && !node_is_error(send->message) && !type_is_known(send->message->type); r++)
    if (reaches(s, r) && in[r].type && type_is_known(in[r].type)) {
      struct node *made = coerce(c, send->message, in[r].type, false);
      send->message = made ? made : send->message;
    }
  if (node_is_error(send->message) || type_is_known(send->message->type))
    return;
  checker_error(c, E0306, s->ast->kid[0]->at, "the type of this message is not known");
  checker_help(c, "send a variable of the type that is meant");
  send->message = node_error(c, s->ast->kid[0]->at);
}

/* ---- bodies ---- */

static void name_counter(struct typechecker *c, const struct schedule_segment *s) {
  if (!s->name)
    return;
  struct scope_symbol name = {.name = checker_strdup(c, s->name), .at = s->name_at};
  name.kind = s->kind == AST_REPEAT ? SYMBOL_LOOP : SYMBOL_PHASE;
  name.type = s->kind == AST_REPEAT ? range_type(c, 1, s->count > 0 ? s->count : 1) : c->round;
  symbol_declare(c, &c->locals, name);
}

static void open_round(struct typechecker *c, uint32_t r, const struct schedule_segment *s, enum expr_site where) {
  enter_role(c, r);
  scope_cut(&c->locals, 0);
  c->in.where = where;
  c->in.reach = s->count == 0 ? REACH_NEVER : REACH_ALWAYS;
  name_counter(c, s);
}

static void close_round(struct typechecker *c) {
  scope_cut(&c->locals, 0);
  leave_role(c);
}

static void check_sends(struct typechecker *c, uint32_t r, const struct schedule_segment *s, uint32_t j,
                        struct body *body, struct schedule_send *out, uint32_t *n) {
  const struct ast *round = s->round[j];
  open_round(c, r, s, IN_SEND);
  body->at = round->at;
  body->sends = arena_array(&c->m->arena, round->n, sizeof *body->sends);
  for (uint32_t i = 0; i + 1 < round->n; i++) {
    if (!round->kid[i] || round->kid[i]->kind != AST_SEND)
      continue;
    struct send *send = &body->sends[body->nsends++];
    uint64_t reach = check_send(c, round->kid[i], send);
    out[(*n)++] = (struct schedule_send){round->kid[i], send, r, reach};
  }
  close_round(c);
}

static void check_update(struct typechecker *c, uint32_t r, const struct schedule_segment *s, uint32_t j,
                         struct body *body, struct arrivals *in) {
  const struct ast *round = s->round[j], *update = round->n ? round->kid[round->n - 1] : NULL;
  if (!update || update->kind != AST_BLOCK)
    return;
  open_round(c, r, s, IN_UPDATE);
  c->in.arrivals = in;
  body->has_update = true;
  check_block(c, update, &body->update);
  close_round(c);
}

/* Checks one round of one segment in all roles that have it. The bodies are shared by all points that the segment is
   unrolled to. shape: the segment as all roles have it; NULL: they disagree. */
static void check_round(struct typechecker *c, const struct role_schedule *schedules, uint32_t segment, uint32_t j,
                        const struct schedule_segment *shape, uint32_t point) {
  uint32_t most = 0, n = 0;
  for (uint32_t r = 0; r < c->m->nroles; r++)
    if (segment < schedules[r].n && j < schedules[r].at[segment].nrounds)
      most += schedules[r].at[segment].round[j]->n;
  struct schedule_send *sent = arena_array(&c->m->arena, most, sizeof *sent);
  struct arrivals *in = arena_array(&c->m->arena, c->m->nroles, sizeof *in);
  struct body *body = arena_array(&c->m->arena, c->m->nroles, sizeof *body);
  for (uint32_t r = 0; r < c->m->nroles; r++)
    if (segment < schedules[r].n && j < schedules[r].at[segment].nrounds)
      check_sends(c, r, &schedules[r].at[segment], j, &body[r], sent, &n);
  find_arrivals(c, in, sent, n);
  for (uint32_t i = 0; i < n; i++)
    infer_message_type(c, &sent[i], in);
  find_arrivals(c, in, sent, n); /* again, with the types that were not known */
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    if (segment < schedules[r].n && j < schedules[r].at[segment].nrounds)
      check_update(c, r, &schedules[r].at[segment], j, &body[r], shape ? &in[r] : NULL);
    body[r].received = in[r].type;
    body[r].mixed = in[r].clash != NULL;
    for (int64_t k = 0; shape && k < shape->count; k++)
      c->m->roles[r].body[point + (uint32_t)k * shape->nrounds + j] = body[r];
  }
}

static void check_finally(struct typechecker *c, uint32_t r, const struct role_schedule *schedule) {
  struct block block = {0};
  enter_role(c, r);
  c->in.where = IN_FINALLY;
  scope_cut(&c->locals, 0);
  check_block(c, schedule->finally->kid[0], &block);
  leave_role(c);
  if (c->m->npoints)
    c->m->roles[r].body[c->m->npoints - 1].finally = block;
}

void check_schedule(struct typechecker *c) {
  uint32_t leader, longest = 0, point = 0;
  struct role_schedule *schedules = arena_array(&c->m->arena, c->m->nroles, sizeof *schedules);
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    read_schedule(c, r, &schedules[r]);
    longest = schedules[r].n > longest ? schedules[r].n : longest;
  }
  bool agreed = schedules_agree(c, schedules, &leader) && make_points(c, schedules, leader);
  for (uint32_t r = 0; r < c->m->nroles; r++)
    c->m->roles[r].body = arena_array(&c->m->arena, c->m->npoints, sizeof *c->m->roles[r].body);
  for (uint32_t i = 0; i < longest; i++) {
    uint32_t rounds = 0;
    for (uint32_t r = 0; r < c->m->nroles; r++)
      if (i < schedules[r].n && schedules[r].at[i].nrounds > rounds)
        rounds = schedules[r].at[i].nrounds;
    for (uint32_t j = 0; j < rounds; j++)
      check_round(c, schedules, i, j, agreed ? &schedules[leader].at[i] : NULL, point);
    if (agreed)
      point += (uint32_t)schedules[leader].at[i].count * schedules[leader].at[i].nrounds;
  }
  for (uint32_t r = 0; r < c->m->nroles; r++)
    if (schedules[r].finally)
      check_finally(c, r, &schedules[r]);
}
