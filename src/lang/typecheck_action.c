/* A single action: its trigger, the names it binds, and its body. */
#include "lang/typecheck_expr.h"
#include "lang/typecheck_guard.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_process.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_statement.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <string.h>

enum { ON_WHEN, ON_SIZE, ON_PATTERN, ON_SAME, ON_FROM, ON_IF }; /* indices of the kids of a TRIGGER */

/* ---- goto ---- */

/* A `goto` ends the step: nothing may follow it, neither in its block nor after the enclosing blocks. after: the
   statement that would follow; loop: inside a foreach. */
static void check_goto_is_last(struct typechecker *c, const struct ast *a, const struct ast *after, bool loop) {
  if (a->kind == AST_IF) {
    check_goto_is_last(c, a->kid[1], after, loop);
    if (a->n > 2 && a->kid[2])
      check_goto_is_last(c, a->kid[2], after, loop);
    return;
  }
  for (uint32_t i = 0; a->kind == AST_BLOCK && i < a->n; i++) {
    const struct ast *s = a->kid[i], *next = i + 1 < a->n ? a->kid[i + 1] : after;
    if (s->kind == AST_IF)
      check_goto_is_last(c, s, next, loop);
    else if (s->kind == AST_FOREACH)
      check_goto_is_last(c, s->kid[1], NULL, true);
    else if (s->kind == AST_GOTO && loop) {
      checker_error(c, E0412, s->at, "'goto' inside 'foreach'");
      checker_help(c, "put it behind the 'foreach': it is the last thing that an action does");
    } else if (s->kind == AST_GOTO && next) {
      checker_error(c, E0412, s->at, "'goto' must be the last thing that an action does");
      if (i + 1 == a->n)
        checker_help(c, "what follows would still be done (line %u): put it into 'else { ... }'",
                     checker_line(c, next->at));
      else
        checker_help(c, "what follows would still be done (line %u): put it before", checker_line(c, next->at));
    }
  }
}

/* ---- patterns ---- */

struct bound_field { /* a bound field, and the index of its name among the locals */
  struct message_part part;
  size_t local;
};

struct pattern {
  const struct message_kind *kind; /* NULL: unknown, which was reported; its fields are unknown too */
  struct action *action;
  struct bound_field *parts;
  uint32_t nparts;
};

static uint32_t field_index(struct typechecker *c, const struct pattern *p, const char *name, struct span at) {
  const struct type *t = p->kind ? p->kind->type : c->error;
  if (t->kind != TYPE_RECORD)
    return UINT32_MAX;
  struct nearest near;
  nearest_init(&near, name);
  for (uint32_t i = 0; i < t->size; i++) {
    if (strcmp(t->fields[i].name, name) == 0)
      return i;
    nearest_offer(&near, t->fields[i].name);
  }
  checker_error(c, E0206, at, "message '%s' has no field '%s'", p->kind->name, name);
  if (near.found)
    checker_help(c, "did you mean '%s'?", near.found);
  else if (t->size == 0)
    checker_help(c, "it has no fields at all (line %u)", checker_line(c, p->kind->at));
  else
    checker_help(c, "a pattern names fields of the message (line %u): '%s(%s)', '%s(%s == VALUE)'",
                 checker_line(c, p->kind->at), p->kind->name, t->fields[0].name, p->kind->name, t->fields[0].name);
  return UINT32_MAX;
}

/* field relop expression: the field belongs to the message, all names in the expression to the process. */
static void add_match(struct typechecker *c, const struct pattern *p, const struct ast *argument) {
  size_t locals = c->locals.n;
  struct scope_symbol message = {.name = " message",
                                 .kind = SYMBOL_SLOT,
                                 .at = argument->word,
                                 .index = p->action->slot,
                                 .type = p->kind->type,
                                 .roles = ROLES_ALL};
  struct ast whole = {.kind = AST_NAME, .name = message.name, .at = argument->word, .word = argument->word};
  struct ast *of[] = {&whole};
  struct ast field = {
      .kind = AST_SELECT, .name = argument->name, .at = argument->word, .word = argument->word, .n = 1, .kid = of};
  struct ast *sides[] = {&field, argument->kid[0]};
  struct ast relation = {
      .kind = AST_RELATION, .op = argument->op, .at = argument->at, .word = argument->word, .n = 2, .kid = sides};
  scope_add(&c->locals, message);
  struct node *match = lower_expr(c, &relation);
  scope_cut(&c->locals, locals);
  p->action->match = node_is_error(match) ? match : node_and(c, p->action->match, match);
}

/* Binds the value of the field to the field's name. */
static void bind_field(struct typechecker *c, struct pattern *p, const char *name, struct span at) {
  uint32_t field = field_index(c, p, name, at);
  const struct scope_symbol *other = symbol_find(c, name);
  if (other) {
    bool twice = other->kind == SYMBOL_SLOT && other->at.from >= p->action->at.from;
    checker_error(c, E0207, at, "'%s' is already declared", name);
    if (twice)
      checker_help(c, "it is bound twice");
    else if (p->action->trigger == TRIGGER_ONE && p->kind)
      checker_help(c,
                   "there is the %s '%s' (line %u): write '%s == ...' to compare, or name the message, 'on "
                   "m: %s', and write m.%s",
                   symbol_kind_text(other->kind), name, checker_line(c, other->at), name, p->kind->name, name);
    else
      checker_help(c, "there is the %s '%s' (line %u): the name of a field that is bound must be free",
                   symbol_kind_text(other->kind), name, checker_line(c, other->at));
    return;
  }
  const struct type *type = field == UINT32_MAX ? c->error : p->kind->type->fields[field].type;
  uint32_t slot = slot_new(c);
  if (slot_declare(c, name, at, slot, type, roles_of_type(c, type), false) && field != UINT32_MAX)
    p->parts[p->nparts++] = (struct bound_field){{slot, field}, c->locals.n - 1};
}

static bool is_same_field(const struct ast *same, const char *name) {
  for (uint32_t i = 0; same && i < same->n; i++)
    if (same->kid[i]->name && strcmp(same->kid[i]->name, name) == 0)
      return true;
  return false;
}

/* A bare field in the pattern of a quorum repeats a field listed in `same`. */
static void check_bare_field(struct typechecker *c, struct pattern *p, const struct ast *trigger,
                             const struct ast *argument) {
  if (p->action->trigger == TRIGGER_ONE) {
    bind_field(c, p, argument->name, argument->word);
    return;
  }
  if (is_same_field(trigger->kid[ON_SAME], argument->name) || /* checked there */
      field_index(c, p, argument->name, argument->word) == UINT32_MAX)
    return;
  checker_error(c, E0411, argument->word, "'%s' may differ from one message of a quorum to another", argument->name);
  checker_help(c,
               "add 'same %s' if all of them must agree on it, or leave it out and read it as 'm.%s for m "
               "in %s'",
               argument->name, argument->name, trigger->name);
}

static void check_pattern(struct typechecker *c, struct pattern *p, const struct ast *trigger) {
  const struct ast *pattern = trigger->kid[ON_PATTERN], *same = trigger->kid[ON_SAME];
  for (uint32_t i = 0; i < pattern->n; i++) { /* conditions first: bound names are not in scope there */
    const struct ast *argument = pattern->kid[i];
    if (argument->kind != AST_ARGUMENT || !argument->kid[0])
      continue;
    if (field_index(c, p, argument->name, argument->word) != UINT32_MAX)
      add_match(c, p, argument);
    else
      lower_expr(c, argument->kid[0]);
  }
  for (uint32_t i = 0; i < pattern->n; i++)
    if (pattern->kid[i]->kind == AST_ARGUMENT && !pattern->kid[i]->kid[0])
      check_bare_field(c, p, trigger, pattern->kid[i]);
  for (uint32_t i = 0; same && i < same->n; i++)
    if (p->action->trigger == TRIGGER_QUORUM)
      bind_field(c, p, same->kid[i]->name, same->kid[i]->word);
}

/* ---- triggers ---- */

static void check_modifiers(struct typechecker *c, const struct ast *trigger, bool quorum) {
  const struct ast *same = trigger->kid[ON_SAME], *from = trigger->kid[ON_FROM];
  if (quorum && from) {
    checker_error(c, E0411, from->at, "the messages of a quorum have several senders");
    checker_help(c, "ask each: 'sender(m)' for an 'm in %s'", trigger->name);
  }
  if (!quorum && same) {
    checker_error(c, E0411, same->at, "'same' is for the messages of a quorum, and this takes one");
    checker_help(c, "a quorum is written 'on Q: SIZE of MESSAGE same ...'");
  }
  if (!quorum && trigger->flags & AST_FLAG_TAKEN) {
    checker_error(c, E0411, trigger->at, "'taken' is for the messages of a quorum");
    checker_help(c, "a single message is always taken");
  }
}

static void check_size(struct typechecker *c, const struct ast *a, struct action *out, uint64_t senders) {
  out->size = lower_expr(c, a);
  if (node_is_error(out->size))
    return;
  const struct type *t = out->size->type;
  if (!type_is_number(t)) {
    checker_error(c, E0301, a->at, "the size of a quorum must be a number, not %s", type_text(c, t));
    if (t->kind == TYPE_SET)
      checker_help(c, "|...| is the size of a set");
    out->size = node_error(c, a->at);
    return;
  }
  int64_t most = 0;
  for (uint32_t r = 0; r < c->m->nroles; r++)
    most += role_in(senders, r) ? c->m->roles[r].count : 0;
  if (out->kind != NO_KIND && senders && t->kind == TYPE_RANGE && t->lo > most)
    diag_warning(c->diags, W0104, a->at, "there can be no such quorum: only %d process%s send%s '%s' to '%s'",
                 (int)most, most == 1 ? "" : "es", most == 1 ? "s" : "", c->m->messages[out->kind].name,
                 c->m->roles[c->in.role].name);
}

static void declare_message_name(struct typechecker *c, const struct ast *trigger, const struct action *action,
                                 const struct type *type, bool quorum) {
  if (!trigger->name)
    return;
  struct scope_symbol s = {.name = checker_strdup(c, trigger->name),
                           .kind = quorum ? SYMBOL_QUORUM : SYMBOL_SLOT,
                           .at = trigger->word,
                           .index = action->slot,
                           .type = type,
                           .roles = ROLES_ALL,
                           .message = true,
                           .used = true};
  if (symbol_declare(c, &c->locals, s) && quorum)
    c->in.quorum = s.name;
}

static void declare_sender(struct typechecker *c, const struct ast *from, struct action *action) {
  uint32_t slot = slot_new(c);
  if (slot_declare(c, from->name, from->word, slot, sender_type(c), c->in.arrivals->senders, false))
    action->from_slot = slot;
}

/* `on`: its names stay in scope. */
static void check_on(struct typechecker *c, const struct ast *trigger, struct pattern *p) {
  const struct ast *pattern = trigger->kid[ON_PATTERN];
  struct action *action = p->action;
  bool quorum = trigger->kid[ON_SIZE] != NULL;
  action->trigger = quorum ? TRIGGER_QUORUM : TRIGGER_ONE;
  action->exactly = trigger->flags & AST_FLAG_EXACTLY;
  action->taken = trigger->flags & AST_FLAG_TAKEN;
  action->slot = slot_new(c);
  action->kind = message_named(c, pattern->name, pattern->word);
  check_modifiers(c, trigger, quorum);
  c->in.arrivals = arena_alloc(&c->m->arena, sizeof *c->in.arrivals);
  *c->in.arrivals = (struct arrivals){.type = c->error, .senders = ROLES_ALL};
  if (action->kind != NO_KIND) {
    p->kind = &c->m->messages[action->kind];
    c->in.arrivals->type = p->kind->type;
    c->in.arrivals->senders = c->messages.senders[action->kind * c->m->nroles + c->in.role];
    c->roles[c->in.role].takes[action->kind] = true;
  }
  c->in.fixed = true;
  if (quorum)
    check_size(c, trigger->kid[ON_SIZE], action, c->in.arrivals->senders);
  uint32_t same = trigger->kid[ON_SAME] ? trigger->kid[ON_SAME]->n : 0;
  p->parts = arena_array(&c->m->arena, pattern->n + same, sizeof *p->parts);
  check_pattern(c, p, trigger);
  c->in.fixed = false;
  declare_message_name(c, trigger, action, c->in.arrivals->type, quorum);
  if (trigger->kid[ON_FROM] && trigger->kid[ON_FROM]->name && !quorum)
    declare_sender(c, trigger->kid[ON_FROM], action);
}

/* Unused names need not be bound. The fields that a quorum agrees on are conditions nevertheless. */
static void drop_unused_bindings(struct typechecker *c, struct pattern *p, const struct ast *trigger) {
  struct action *action = p->action;
  action->parts = arena_array(&c->m->arena, p->nparts, sizeof *action->parts);
  for (uint32_t i = 0; i < p->nparts; i++) {
    const struct scope_symbol *s = &c->locals.at[p->parts[i].local];
    bool used = s->used || action->trigger == TRIGGER_QUORUM;
    if (used)
      action->parts[action->nparts++] = p->parts[i].part;
    else if (s->type->kind != TYPE_ERROR)
      diag_warning(c->diags, W0102, s->at, "'%s' is never used", s->name);
  }
  const struct scope_symbol *from = action->from_slot != NO_SLOT ? symbol_find(c, trigger->kid[ON_FROM]->name) : NULL;
  if (from && !from->used) {
    action->from_slot = NO_SLOT;
    diag_warning(c->diags, W0102, from->at, "'%s' is never used", from->name);
  }
}

void check_action(struct typechecker *c, const struct ast *trigger, const struct ast *block, struct action *action) {
  struct pattern p = {.action = action};
  struct guard_builder guard;
  const struct ast *condition = NULL;
  if (strcmp(action->name, "start") != 0) /* a step may be skipped, and a handler may never be triggered */
    c->in.reach = REACH_MAYBE;
  action->trigger = TRIGGER_NONE;
  action->kind = NO_KIND;
  action->slot = action->from_slot = NO_SLOT;
  if (trigger && trigger->kind == AST_TRIGGER) {
    if (trigger->kid[ON_PATTERN] && trigger->kid[ON_PATTERN]->kind == AST_PATTERN)
      check_on(c, trigger, &p);
    condition = trigger->kid[ON_WHEN] ? trigger->kid[ON_WHEN] : trigger->kid[ON_IF];
  }
  if (condition)
    guard_open(c, condition, &guard);
  check_goto_is_last(c, block, NULL, false);
  check_block(c, block, &action->body);
  if (condition)
    guard_close(c, &guard, &action->guard);
  drop_unused_bindings(c, &p, trigger);
}
