/* Scopes: declarations of names, and help for unknown names. */
#include "lang/typecheck_scope.h"

#include "lang/foreign.h"
#include "lang/typechecker.h"

#include <string.h>

struct scope_symbol *scope_find(const struct symbol_scope *scope, const char *name) {
  uint32_t found = name_index_find(&scope->names, name);
  return found == NAME_NONE ? NULL : &scope->at[found];
}

void scope_add(struct symbol_scope *scope, struct scope_symbol s) {
  vec_push(scope, s);
  name_index_add(&scope->names, s.name);
}

void scope_cut(struct symbol_scope *scope, size_t n) {
  scope->n = n;
  name_index_cut(&scope->names, n);
}

void scope_release(struct symbol_scope *scope) {
  vec_release(scope);
  name_index_release(&scope->names);
}

struct scope_symbol *symbol_find(struct typechecker *c, const char *name) {
  struct scope_symbol *s = scope_find(&c->locals, name);
  if (!s)
    s = scope_find(&c->members, name);
  return s ? s : scope_find(&c->globals, name);
}

const char *symbol_kind_text(enum symbol_kind kind) {
  static const char *const text[] = {
      [SYMBOL_PARAM] = "parameter",        [SYMBOL_TYPE] = "type",        [SYMBOL_LABEL] = "enum label",
      [SYMBOL_ROLE] = "process",           [SYMBOL_DEF] = "def",          [SYMBOL_GLOBAL] = "input",
      [SYMBOL_SHARED] = "shared variable", [SYMBOL_MESSAGE] = "message",  [SYMBOL_QUORUM] = "quorum",
      [SYMBOL_VAR] = "variable",           [SYMBOL_SLOT] = "name",        [SYMBOL_LOOP] = "counter",
      [SYMBOL_PHASE] = "phase number",     [SYMBOL_COUNTER] = "counter",  [SYMBOL_CONTROL] = "control",
      [SYMBOL_AMOUNT] = "amount",          [SYMBOL_ARGUMENT] = "argument"};
  return text[kind];
}

/* These are used without a call, so a declaration would hide them. Built-in functions are recognised by their call. */
static const char *const built_in_values[] = {"me",      "all",    "others", "received", "heard",
                                              "correct", "faulty", "HO",     "SHO",      "round"};
static const char *const built_in_functions[] = {"min",          "max",        "sum",     "union",   "pick", "random",
                                                 "mostfrequent", "majority",   "subsets", "first",   "last", "front",
                                                 "from",         "sender",     "number",  "initial", "next", "at",
                                                 "count",        "neighbours", "pending", "receiver"};
/* Where processes take steps. `at` is the name of the program point in traces. */
static const char *const built_in_step_values[] = {"at", "quiescent", "deadlocked"};

static bool among(const char *name, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(list[i], name) == 0)
      return true;
  return false;
}

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static bool name_is_free(struct typechecker *c, const char *name, struct span at, bool callable) {
  if (among(name, built_in_values, LENGTH(built_in_values)) ||
      (callable && among(name, built_in_functions, LENGTH(built_in_functions))) ||
      (model_steps(c->m) && among(name, built_in_step_values, LENGTH(built_in_step_values)))) {
    checker_error(c, E0208, at, "'%s' is a built-in name", name);
    checker_help(c, "choose another name");
    return false;
  }
  const struct scope_symbol *other = symbol_find(c, name);
  if (!other)
    return true;
  checker_error(c, E0207, at, "'%s' is already declared", name);
  checker_help(c, "the %s '%s' is declared at line %u; choose another name", symbol_kind_text(other->kind), name,
               checker_line(c, other->at));
  return false;
}

bool symbol_declare(struct typechecker *c, struct symbol_scope *scope, struct scope_symbol s) {
  bool callable = s.kind == SYMBOL_DEF || s.kind == SYMBOL_ROLE;
  if (!name_is_free(c, s.name, s.at, callable))
    return false;
  scope_add(scope, s);
  return true;
}

uint32_t slot_new(struct typechecker *c) {
  for (size_t i = c->first_reserved; i < c->reserved_slots.n; i++) /* in increasing order */
    c->slots += c->reserved_slots.at[i] == c->slots;
  uint32_t slot = c->slots++;
  if (c->slots > c->slots_peak)
    c->slots_peak = c->slots;
  if (c->slots > c->m->nslots)
    c->m->nslots = c->slots;
  return slot;
}

uint32_t slot_reserve(struct typechecker *c) {
  uint32_t slot = c->m->nslots++;
  vec_push(&c->reserved_slots, slot);
  return slot;
}

bool slot_declare(struct typechecker *c, const char *name, struct span at, uint32_t slot, const struct type *type,
                  uint64_t roles, bool message) {
  struct scope_symbol s = {.name = checker_strdup(c, name), .kind = SYMBOL_SLOT, .at = at, .index = slot, .type = type};
  s.roles = roles;
  s.message = message;
  return symbol_declare(c, &c->locals, s);
}

enum { NAMES_LISTED = 20 };

void name_choice_init(struct name_choice *k, struct typechecker *c, const char *name) {
  *k = (struct name_choice){.c = c, .dropped = !diag_may_search(c->diags, 0)};
  nearest_init(&k->near, name);
}

void name_choice_offer(struct name_choice *k, const char *candidate, struct span at) {
  if (k->dropped || !diag_may_search(k->c->diags, 1))
    return;
  const char *before = k->near.found;
  nearest_offer(&k->near, candidate);
  if (k->near.found != before)
    k->near_at = at;
  if (k->n < NAMES_LISTED)
    text_addf(&k->list, "%s'%s'", k->n ? ", " : "", candidate);
  else if (k->n == NAMES_LISTED)
    text_add(&k->list, ", ...");
  k->n++;
}

void name_choice_help(struct name_choice *k, const char *without_any) {
  const char *near = k->near.found, *is = k->n == 1 ? "there is only" : "there are", *all = text_or_empty(&k->list);
  if (k->dropped || (k->n == 0 && !*without_any))
    ;
  else if (k->n == 0)
    checker_help(k->c, "%s", without_any);
  else if (near && k->near_at.to > 0)
    checker_help(k->c, "did you mean '%s' (declared at line %u)? %s %s", near, checker_line(k->c, k->near_at), is, all);
  else if (near)
    checker_help(k->c, "did you mean '%s'? %s %s", near, is, all);
  else
    checker_help(k->c, "%s %s", is, all);
  text_release(&k->list);
}

void help_nearest(struct typechecker *c, const char *name, const char *const *names, size_t n,
                  const char *without_any) {
  struct name_choice there;
  name_choice_init(&there, c, name);
  for (size_t i = 0; i < n; i++)
    name_choice_offer(&there, names[i], (struct span){0, 0});
  name_choice_help(&there, without_any);
}

/* Is it a variable of a process, used where there is no process? */
static bool is_process_variable(struct typechecker *c, const char *name) {
  for (uint32_t r = 0; r < c->m->nroles; r++)
    if (name_index_find(&c->roles[r].variables, name) != NAME_NONE)
      return true;
  return false;
}

/* Is it a field of the message being taken that is not bound to a name here? */
static bool help_message_field(struct typechecker *c, const char *name) {
  const struct type *t = c->in.where == IN_ACTION && c->in.arrivals ? c->in.arrivals->type : NULL;
  for (uint32_t i = 0; t && t->kind == TYPE_RECORD && i < t->size; i++) {
    if (strcmp(t->fields[i].name, name) != 0)
      continue;
    if (c->in.fixed)
      checker_help(c,
                   "'%s' is a field, and right of the sign stands what the process knows; compare fields "
                   "after 'if'",
                   name);
    else if (c->in.quorum)
      checker_help(c, "'%s' is a field of each message: read it as 'm.%s for m in %s'", name, name, c->in.quorum);
    else
      checker_help(c,
                   "'%s' is a field of the message: name it alone in the pattern, '%s(%s)', or name the "
                   "message, "
                   "'on m: %s', and write m.%s",
                   name, t->name, name, t->name, name);
    return true;
  }
  return false;
}

static void offer_built_in(struct nearest *near, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], near->name) != 0) /* happens if a declaration of this name was rejected */
      nearest_offer(near, names[i]);
}

/* Declared names win ties. */
static void help_nearest_declared(struct typechecker *c, const char *name, bool call) {
  const struct symbol_scope *scopes[] = {&c->locals, &c->members, &c->globals};
  struct nearest near;
  if (!diag_may_search(c->diags, c->locals.n + c->members.n + c->globals.n))
    return;
  nearest_init(&near, name);
  for (size_t i = 0; i < LENGTH(scopes); i++)
    for (size_t j = 0; j < scopes[i]->n; j++)
      nearest_offer(&near, scopes[i]->at[j].name);
  if (strlen(name) > 1) /* one letter is close to every name of two */
    offer_built_in(&near, built_in_values, LENGTH(built_in_values));
  offer_built_in(&near, built_in_functions, LENGTH(built_in_functions));
  if (model_steps(c->m))
    offer_built_in(&near, built_in_step_values, LENGTH(built_in_step_values));
  const struct scope_symbol *s = near.found ? symbol_find(c, near.found) : NULL;
  if (s)
    checker_help(c, "did you mean '%s' (declared at line %u)?", near.found, checker_line(c, s->at));
  else if (near.found)
    checker_help(c, "did you mean '%s'?", near.found);
  else if (!call && c->in.where == IN_ENVIRONMENT)
    checker_help(c, "a number that is fixed for a run is a parameter: 'param %s where %s >= 0'", name, name);
  else if (call)
    checker_help(c, "a function is defined by 'def %s(FIELD: TYPE) = EXPRESSION'", name);
}

/* The types of the file, its roles, and those that every file has. */
static void help_types(struct typechecker *c, const char *name) {
  static const char *const built_in[] = {"bool", "int", "round"};
  struct name_choice there;
  name_choice_init(&there, c, name);
  for (size_t i = 0; i < c->globals.n; i++)
    if (c->globals.at[i].kind == SYMBOL_TYPE || c->globals.at[i].kind == SYMBOL_ROLE)
      name_choice_offer(&there, c->globals.at[i].name, c->globals.at[i].at);
  for (size_t i = 0; i < LENGTH(built_in); i++)
    name_choice_offer(&there, built_in[i], (struct span){0, 0});
  name_choice_help(&there, "");
}

void unknown_name(struct typechecker *c, enum diag_code code, const char *name, struct span at, const char *what) {
  checker_error(c, code, at, "unknown %s '%s'", what, name);
  if ((c->in.where == IN_PROPERTY || c->in.where == IN_ENVIRONMENT) && is_process_variable(c, name)) {
    if (c->in.where == IN_PROPERTY)
      checker_help(c,
                   "'%s' is a variable of a process: write p.%s for a process p, as in 'forall p in %s: "
                   "p.%s ...'",
                   name, name, c->m->roles[0].name, name);
    else
      checker_help(c, "'%s' is a variable of a process, and environments do not see those", name);
    return;
  }
  if (help_message_field(c, name))
    return;
  enum foreign_place place = !strcmp(what, "type")       ? FOREIGN_TYPE
                             : !strcmp(what, "function") ? FOREIGN_CALL
                                                         : FOREIGN_NAME;
  const char *foreign = foreign_word_help(name, strlen(name), place);
  if (foreign) {
    checker_help(c, "%s", foreign);
    return;
  }
  if (place == FOREIGN_TYPE) {
    help_types(c, name);
    return;
  }
  if (c->in.where == IN_GRAPH && is_process_variable(c, name)) {
    checker_help(c, "the graph stays as it is during a run, so it cannot read variables");
    return;
  }
  for (size_t i = c->unbound.n; i-- > 0;)
    if (strcmp(c->unbound.at[i].name, name) == 0 && c->unbound.at[i].under && !strcmp(c->unbound.at[i].under, "if")) {
      checker_help(
          c,
          "in an expression 'exists' binds nothing: write 'pick(%s for %s in ...) otherwise ...', or a statement "
          "'if exists ... { ... }'",
          name, name);
      return;
    } else if (strcmp(c->unbound.at[i].name, name) == 0) {
      checker_help(c,
                   "an 'exists' under '%s' binds nothing: make it a condition of its own, or join it with "
                   "'and'",
                   c->unbound.at[i].under);
      return;
    }
  help_nearest_declared(c, name, place == FOREIGN_CALL);
}
