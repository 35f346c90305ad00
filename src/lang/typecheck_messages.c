/* Message kinds of step models: their fields, their senders and receivers, and sends. */
#include "lang/foreign.h"
#include "lang/typecheck_coerce.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_process.h"
#include "lang/typecheck_reach.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_statement.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <string.h>

/* ---- kinds ---- */

static void declare_message(struct typechecker *c, const struct ast *a) {
  struct scope_symbol s = {
      .name = checker_strdup(c, a->name), .kind = SYMBOL_MESSAGE, .at = a->word, .index = c->m->nmessages};
  const struct type *type = message_type(c, a);
  for (uint32_t i = 0; i < a->n; i++)
    if (type->kind == TYPE_RECORD && type_contains_kind(type->fields[i].type, TYPE_INT)) {
      checker_error(c, E0312, a->kid[i]->kid[0]->at, "a field of a message cannot be of type int, which has no bounds");
      checker_help(c, "give it a range, such as 0..n");
      type = c->error;
    }
  if (!symbol_declare(c, &c->globals, s))
    return;
  c->m->messages[c->m->nmessages++] = (struct message_kind){.name = s.name, .at = a->word, .type = type};
}

void declare_messages(struct typechecker *c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->file->n; i++)
    n += c->file->kid[i]->kind == AST_MESSAGES ? c->file->kid[i]->n : 0;
  c->m->messages = arena_array(&c->m->arena, n, sizeof *c->m->messages);
  for (uint32_t i = 0; i < c->file->n; i++)
    for (uint32_t j = 0; c->file->kid[i]->kind == AST_MESSAGES && j < c->file->kid[i]->n; j++)
      if (c->file->kid[i]->kid[j]->kind == AST_SIGNATURE)
        declare_message(c, c->file->kid[i]->kid[j]);
  for (uint32_t r = 0; r < c->m->nroles; r++)
    c->roles[r].takes = arena_array(&c->m->arena, n, sizeof *c->roles[r].takes);
}

uint32_t message_named(struct typechecker *c, const char *name, struct span at) {
  const struct scope_symbol *s = symbol_find(c, name);
  if (s && s->kind == SYMBOL_MESSAGE)
    return s->index;
  if (s) {
    checker_error(c, E0209, at, "'%s' is not a message", name);
    checker_help(c, "it is the %s declared at line %u; messages are declared with 'message'", symbol_kind_text(s->kind),
                 checker_line(c, s->at));
    return NO_KIND;
  }
  struct name_choice there;
  checker_error(c, E0204, at, "unknown message '%s'", name);
  const char *foreign = foreign_word_help(name, strlen(name), FOREIGN_MESSAGE);
  if (foreign) {
    checker_help(c, "%s", foreign);
    return NO_KIND;
  }
  name_choice_init(&there, c, name);
  for (uint32_t i = 0; i < c->m->nmessages; i++)
    name_choice_offer(&there, c->m->messages[i].name, c->m->messages[i].at);
  name_choice_help(&there, "declare it at file level: 'message NAME' or 'message NAME(x: T)'");
  return NO_KIND;
}

/* ---- senders and receivers ---- */

static uint64_t all_roles(const struct typechecker *c) {
  return c->m->nroles < 63 ? (UINT64_C(1) << c->m->nroles) - 1 : ROLES_ALL;
}

static uint64_t role_bit(const struct typechecker *c, uint32_t r) {
  return c->m->nroles < 63 ? UINT64_C(1) << r : ROLES_ALL;
}

static uint64_t roles_of_target_type(const struct typechecker *c, const struct type *t) {
  if (t && t->kind == TYPE_SET)
    t = t->element;
  return t && t->kind == TYPE_PROCESS && t->role != ROLE_ANY ? role_bit(c, t->role) : all_roles(c);
}

/* Determined from the syntax alone, before any body is checked: what a handler may know about senders depends on it. */
static uint64_t target_roles(struct typechecker *c, uint32_t r, const struct ast *a) {
  const struct role *role = &c->m->roles[r];
  if (role->ring)
    return role_bit(c, r);
  if (a->kind != AST_NAME && a->kind != AST_CALL)
    return all_roles(c);
  const struct scope_symbol *s = scope_find(&c->roles[r].members, a->name);
  if (s && s->kind == SYMBOL_VAR && a->kind == AST_NAME)
    return roles_of_target_type(c, s->type);
  s = symbol_find(c, a->name);
  if (s && s->kind == SYMBOL_ROLE)
    return role_bit(c, s->index);
  if (s && (s->kind == SYMBOL_GLOBAL || s->kind == SYMBOL_SHARED))
    return roles_of_target_type(c, s->type);
  if (!s && a->kind == AST_NAME && strcmp(a->name, "me") == 0)
    return role_bit(c, r);
  if (!s && a->kind == AST_NAME && strcmp(a->name, "neighbours") == 0 && role->graph)
    return roles_of_target_type(c, role->graph->type);
  return all_roles(c);
}

static void collect_senders(struct typechecker *c, uint32_t r, const struct ast *a) {
  if (a->kind == AST_SEND && (a->kid[0]->kind == AST_NAME || a->kid[0]->kind == AST_CALL)) {
    const struct scope_symbol *s = symbol_find(c, a->kid[0]->name);
    uint64_t reach = s && s->kind == SYMBOL_MESSAGE ? target_roles(c, r, a->kid[1]) : 0;
    for (uint32_t to = 0; to < c->m->nroles; to++)
      if (role_in(reach, to))
        c->messages.senders[s->index * c->m->nroles + to] |= role_bit(c, r);
  }
  for (uint32_t i = 0; i < a->n; i++)
    if (a->kid[i])
      collect_senders(c, r, a->kid[i]);
}

/* Roles with Byzantine processes in some environment: they may send any message to any process. */
static uint64_t byzantine_roles(const struct typechecker *c) {
  uint64_t roles = 0;
  for (uint32_t i = 0; i < c->m->nenvironments; i++)
    for (uint32_t k = 0; k < c->m->environments[i].nclauses; k++) {
      const struct clause *clause = &c->m->environments[i].clauses[k];
      if (clause->kind == CLAUSE_BYZANTINE)
        roles |= clause->role == ROLE_ANY ? all_roles(c) : role_bit(c, clause->role);
    }
  return roles;
}

void find_senders(struct typechecker *c) {
  size_t n = (size_t)c->m->nmessages * c->m->nroles;
  c->messages.senders = arena_array(&c->m->arena, n, sizeof *c->messages.senders);
  scope_cut(&c->locals, 0);
  for (uint32_t r = 0; r < c->m->nroles; r++)
    collect_senders(c, r, c->roles[r].ast);
  uint64_t byzantine = byzantine_roles(c);
  for (size_t i = 0; i < n; i++)
    c->messages.senders[i] |= byzantine;
}

/* ---- sending ---- */

static uint32_t field_of(const struct type *t, const char *name) {
  for (uint32_t i = 0; i < t->size; i++)
    if (strcmp(t->fields[i].name, name) == 0)
      return i;
  return UINT32_MAX;
}

static const char *signature_text(struct typechecker *c, const struct message_kind *k) {
  struct text out = {0};
  text_addf(&out, "'%s", k->name);
  for (uint32_t i = 0; i < k->type->size; i++)
    text_addf(&out, "%s%s: %s", i ? ", " : "(", k->type->fields[i].name, type_text(c, k->type->fields[i].type));
  text_add(&out, k->type->size ? ")'" : "'");
  const char *kept = checker_strdup(c, text_or_empty(&out));
  text_release(&out);
  return kept;
}

/* The field that an argument is assigned to; UINT32_MAX: reported. */
static uint32_t argument_field(struct typechecker *c, const struct ast *a, uint32_t i, const struct message_kind *k,
                               struct node *message) {
  const struct ast *part = a->kid[i];
  if (part->kind != AST_ITEM)
    return i < k->type->size ? i : UINT32_MAX;
  uint32_t field = field_of(k->type, part->name);
  if (field == UINT32_MAX) {
    checker_error(c, E0206, part->word, "message '%s' has no field '%s'", k->name, part->name);
    checker_help(c, "it is declared as %s (line %u)", signature_text(c, k), checker_line(c, k->at));
  } else if (message->kid[field]) {
    checker_error(c, E0112, part->word, "field '%s' is given twice", part->name);
    return UINT32_MAX;
  }
  return field;
}

static bool mixes_names(struct typechecker *c, const struct ast *a) {
  for (uint32_t i = 1; i < a->n; i++)
    if ((a->kid[i]->kind == AST_ITEM) != (a->kid[0]->kind == AST_ITEM)) {
      checker_error(c, E0409, a->kid[i]->at, "either all parts of a message have names, or none has");
      return true;
    }
  return false;
}

static struct node *message_record(struct typechecker *c, const struct ast *a, uint32_t kind) {
  const struct message_kind *k = &c->m->messages[kind];
  uint32_t nargs = a->kind == AST_CALL ? a->n : 0;
  if (k->type->kind != TYPE_RECORD) { /* its declaration was wrong */
    for (uint32_t i = 0; i < nargs; i++)
      lower_expr(c, a->kid[i]->kind == AST_ITEM ? a->kid[i]->kid[0] : a->kid[i]);
    return node_error(c, a->at);
  }
  struct node *message = node_new(c, NODE_RECORD, a->at, k->type, k->type->size);
  bool good = nargs < 2 || !mixes_names(c, a);
  for (uint32_t i = 0; i < nargs; i++) {
    const struct ast *part = a->kid[i]->kind == AST_ITEM ? a->kid[i]->kid[0] : a->kid[i];
    uint32_t field = argument_field(c, a, i, k, message);
    struct node *given = lower_expr(c, part);
    good &= field != UINT32_MAX && !node_is_error(given);
    if (field == UINT32_MAX)
      continue;
    message->kid[field] =
        coerce_or_report(c, given, k->type->fields[field].type,
                         arena_printf(&c->m->arena, "'%s' of '%s'", k->type->fields[field].name, k->name));
    good &= !node_is_error(message->kid[field]);
  }
  if (nargs != k->type->size) {
    if (k->type->size == 0)
      checker_error(c, E0409, a->word, "message '%s' has no fields", k->name);
    else
      checker_error(c, E0409, a->word, "message '%s' has %u field%s, not %u", k->name, k->type->size,
                    k->type->size == 1 ? "" : "s", nargs);
    checker_help(c, "it is declared as %s (line %u)", signature_text(c, k), checker_line(c, k->at));
    good = false;
  }
  return good ? message : node_error(c, a->at);
}

void check_step_send(struct typechecker *c, const struct ast *a, struct stmt *s) {
  const struct ast *what = a->kid[0];
  const struct role *role = &c->m->roles[c->in.role];
  struct send *send = arena_alloc(&c->m->arena, sizeof *send);
  s->kind = STMT_SEND;
  s->send = send;
  send->at = a->at;
  send->kind = NO_KIND;
  if (what->kind == AST_NAME || what->kind == AST_CALL)
    send->kind = message_named(c, what->name, what->word);
  else if (what->kind != AST_ERROR) {
    checker_error(c, E0409, what->at, "only a message can be sent");
    checker_help(c, "declare its kind, 'message vote(v: T)', and write 'send vote(...) to ...'");
  }
  send->message = send->kind == NO_KIND ? node_error(c, what->at) : message_record(c, what, send->kind);
  uint64_t reach = check_target(c, a->kid[1], send);
  if (role->ring && !(send->to && (node_is_error(send->to) || send->to->op == NODE_NEXT))) {
    checker_error(c, E0410, a->kid[1]->at, "on a ring a process can only send to 'next'");
    checker_help(c, "'%s' is declared as a ring (line %u); leave 'ring' out to let it send to anybody", role->name,
                 checker_line(c, role->at));
  }
  if (send->kind != NO_KIND)
    vec_push(&c->messages.sends, ((struct step_send){a->at, send->kind, reach}));
}

/* ---- warnings ---- */

static bool is_taken(const struct typechecker *c, uint32_t kind, uint64_t reach) {
  bool taken = false;
  for (uint32_t r = 0; r < c->m->nroles; r++)
    taken |= c->roles[r].takes[kind] && role_in(reach, r);
  return taken;
}

static void warn_unsent_actions(struct typechecker *c, uint32_t r, const bool *in_use) {
  for (uint32_t i = 0; i < c->m->roles[r].nactions; i++) {
    const struct action *a = &c->m->roles[r].actions[i];
    if (a->trigger != TRIGGER_NONE && a->kind != NO_KIND && in_use[a->kind] &&
        !c->messages.senders[a->kind * c->m->nroles + r])
      diag_warning(c->diags, W0103, a->at, "nobody sends '%s' to '%s'", c->m->messages[a->kind].name,
                   c->m->roles[r].name);
  }
}

void warn_of_messages(struct typechecker *c) {
  bool *sent = arena_array(&c->m->arena, c->m->nmessages, sizeof *sent);
  bool *in_use = arena_array(&c->m->arena, c->m->nmessages, sizeof *in_use); /* sent and taken */
  bool forged = byzantine_roles(c) != 0;
  for (size_t i = 0; i < c->messages.sends.n; i++)
    sent[c->messages.sends.at[i].kind] = true;
  for (uint32_t k = 0; k < c->m->nmessages; k++) {
    const struct message_kind *kind = &c->m->messages[k];
    bool taken = is_taken(c, k, ROLES_ALL);
    in_use[k] = (sent[k] || forged) && taken;
    if (!in_use[k])
      diag_warning(c->diags, W0103, kind->at, "message '%s' is never %s", kind->name,
                   taken               ? "sent"
                   : sent[k] || forged ? "taken"
                                       : "used");
  }
  for (size_t i = 0; i < c->messages.sends.n; i++)
    if (in_use[c->messages.sends.at[i].kind] &&
        !is_taken(c, c->messages.sends.at[i].kind, c->messages.sends.at[i].reach))
      diag_warning(c->diags, W0103, c->messages.sends.at[i].at, "nobody whom this reaches takes '%s'",
                   c->m->messages[c->messages.sends.at[i].kind].name);
  for (uint32_t r = 0; r < c->m->nroles; r++)
    warn_unsent_actions(c, r, in_use);
}
