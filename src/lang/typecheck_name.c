/* Names, fields and indices, and their meaning in each context. */
#include "lang/foreign.h"
#include "lang/typecheck_coerce.h"
#include "lang/typecheck_environment.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typecheck_variables.h"
#include "lang/typechecker.h"

#include <string.h>

bool in_process(const struct typechecker *c) {
  return c->in.where == IN_INIT || c->in.where == IN_SEND || c->in.where == IN_UPDATE || c->in.where == IN_FINALLY ||
         c->in.where == IN_MEMBER_DEF || c->in.where == IN_GRAPH || c->in.where == IN_ACTION;
}

bool may_observe_processes(struct typechecker *c) {
  if (c->in.where == IN_DEF)
    c->defs.current->reads_processes = true;
  return c->in.where == IN_PROPERTY || c->in.where == IN_ENVIRONMENT || c->in.where == IN_DEF;
}

uint64_t roles_of(struct typechecker *c, const struct node *n) {
  const struct type *t = n->type->kind == TYPE_PROCESS ? n->type : n->type->element;
  uint64_t by_type = t && t->kind == TYPE_PROCESS ? roles_of_type(c, t) : ROLES_ALL;
  switch (op_number(n->op)) {
  case NODE_SLOT:
    for (size_t i = c->locals.n; i-- > 0;)
      if (c->locals.at[i].kind == SYMBOL_SLOT && c->locals.at[i].index == n->index)
        return by_type & c->locals.at[i].roles;
    return by_type;
  case NODE_UNION:
    return roles_of(c, n->kid[0]) | roles_of(c, n->kid[1]);
  case NODE_INTERSECTION:
    return roles_of(c, n->kid[0]) & roles_of(c, n->kid[1]);
  case NODE_DIFFERENCE:
  case NODE_SUBSETS:
    return roles_of(c, n->kid[0]);
  case NODE_SET_OF:
    return roles_of(c, n->kid[0]);
  }
  return by_type;
}

/* ---- received messages ---- */

static const char *send_description(struct typechecker *c, const struct ast *send, const struct type *type) {
  const char *what = type_is_known(type) ? type_text(c, type) : type->kind == TYPE_OPTION ? "none" : "an empty one";
  return arena_printf(&c->m->arena, "line %u sends %s", checker_line(c, send->at), what);
}

const char *received_name_text(const struct typechecker *c) { return c->in.quorum ? c->in.quorum : "received"; }

/* Steps: messages are taken one by one, or read as a quorum with a name. */
static void received_of_steps(struct typechecker *c, const struct ast *a, const char *what) {
  const char *quorum = c->in.quorum ? c->in.quorum : "Q";
  checker_error(c, E0404, a->word, "'%s' belongs to rounds; these processes take steps", what);
  if (strcmp(what, "from") == 0)
    checker_help(c, "the sender of a message is named in the trigger: 'on MESSAGE from q'");
  else if (strcmp(what, "heard") == 0)
    checker_help(c, "the senders of a quorum '%s' are '{sender(m) for m in %s}'", quorum, quorum);
  else if (c->in.quorum)
    checker_help(c, "the messages of this quorum are '%s'", quorum);
  else
    checker_help(c, "a message is taken with 'on MESSAGE', several are read with 'on Q: SIZE of MESSAGE'");
}

bool may_read_received(struct typechecker *c, const struct ast *a, const char *what) {
  if (model_steps(c->m)) {
    received_of_steps(c, a, what);
    return false;
  }
  if (c->in.where != IN_UPDATE) {
    checker_error(c, E0405, a->word, "'%s' can only be used in an update", what);
    if (c->in.where == IN_PROPERTY)
      checker_help(c,
                   "properties see what processes store: keep it in a variable, or in a 'ghost' for properties only");
    else if (c->in.where == IN_SEND)
      checker_help(c, "the messages of a round are computed before any is received");
    return false;
  }
  const struct arrivals *in = c->in.arrivals;
  if (!in) /* the schedule has an error, so the senders are unknown */
    return false;
  if (in->clash) {
    checker_error(c, E0405, a->word, "the messages that reach '%s' in this round are of different types",
                  c->m->roles[c->in.role].name);
    checker_help(c, "%s, %s", send_description(c, in->first, in->first_type),
                 send_description(c, in->clash, in->clash_type));
    return false;
  }
  if (in->type)
    return in->type->kind != TYPE_ERROR;
  checker_error(c, E0405, a->word, "'%s' is always empty here: nobody sends to '%s' in this round", what,
                c->m->roles[c->in.role].name);
  return false;
}

const struct type *sender_type(struct typechecker *c) {
  uint64_t senders = c->in.arrivals->senders;
  for (uint32_t r = 0; r < c->m->nroles && r < 63; r++)
    if (senders == UINT64_C(1) << r)
      return process_type(c, r);
  return any_process_type(c);
}

static struct node *received_name(struct typechecker *c, const struct ast *a) {
  bool bag = strcmp(a->name, "received") == 0;
  if (!may_read_received(c, a, a->name))
    return node_error(c, a->at);
  if (!bag)
    return node_new(c, NODE_HEARD, a->at, set_type(c, sender_type(c)), 0);
  struct type t = {.kind = TYPE_BAG, .element = c->in.arrivals->type};
  return node_new(c, NODE_RECEIVED, a->at, type_intern(c, t), 0);
}

/* ---- built-in names ---- */

static struct node *not_here(struct typechecker *c, const struct ast *a, const char *where) {
  checker_error(c, E0403, a->word, "'%s' can only be used in %s", a->name, where);
  if (c->in.where == IN_PROPERTY && strcmp(a->name, "me") == 0)
    checker_help(c, "a property says of which processes it speaks: 'forall p in %s: p.x ...'",
                 c->m->nroles > 0 ? c->m->roles[0].name : "P");
  else if (c->in.where == IN_PROPERTY && (strcmp(a->name, "HO") == 0 || strcmp(a->name, "SHO") == 0))
    checker_help(c, "properties see what processes store: 'ghost seen: set of P = {}' and 'seen := heard' keep it");
  return node_error(c, a->at);
}

static struct node *me_node(struct typechecker *c, struct span at) {
  return node_new(c, NODE_ME, at, process_type(c, c->in.role), 0);
}

/* The neighbour in a ring: P(number(me) + 1), wrapping around. */
static struct node *next_name(struct typechecker *c, const struct ast *a) {
  if (!in_process(c))
    return not_here(c, a, "a process");
  const struct role *role = &c->m->roles[c->in.role];
  if (!role->ring) {
    checker_error(c, E0410, a->word, "'next' needs a ring");
    checker_help(c, "declare it: 'process %s[...] ring { ... }'", role->name);
    return node_error(c, a->at);
  }
  if (model_steps(c->m))
    return node_new(c, NODE_NEXT, a->at, process_type(c, c->in.role), 0);
  struct node *number = node_unary(c, NODE_NUMBER_OF, a->at, range_type(c, 1, role->count), me_node(c, a->at));
  struct node *one = node_constant(c, a->at, range_type(c, 1, 1), 1);
  struct node *after = node_binary(c, NODE_ADD, a->at, range_type(c, 2, (int64_t)role->count + 1), number, one);
  struct node *next = node_unary(c, NODE_PROCESS_AT, a->at, process_type(c, c->in.role), after);
  next->index = c->in.role;
  return next;
}

static struct node *neighbours_name(struct typechecker *c, const struct ast *a) {
  if (!in_process(c) || c->in.where == IN_GRAPH)
    return not_here(c, a, "a process");
  const struct role *role = &c->m->roles[c->in.role];
  if (role->graph)
    return node_is_error(role->graph) ? node_error(c, a->at)
                                      : node_new(c, NODE_NEIGHBOURS, a->at, role->graph->type, 0);
  checker_error(c, E0410, a->word, "'neighbours' needs a graph");
  if (role->ring)
    checker_help(c, "the neighbour on a ring is 'next'");
  else
    checker_help(c, "say whom a process can send to: 'process %s[...] graph {...} { ... }'", role->name);
  return node_error(c, a->at);
}

static struct node *round_name(struct typechecker *c, const struct ast *a) {
  if (model_steps(c->m)) {
    checker_error(c, E0404, a->word, "'round' counts rounds; these processes take steps");
    checker_help(c, "where a process is: 'at(p, STEP)'; a count is a variable, such as a 'ghost'");
    return node_error(c, a->at);
  }
  if (may_observe_processes(c))
    return node_new(c, NODE_ROUND_NUMBER, a->at, c->integer, 0);
  not_here(c, a, "a property or an environment");
  checker_help(c, "a process knows its phase number as 'phase r { ... }', its place in 'repeat n as r { "
                  "... }'");
  return node_error(c, a->at);
}

/* What properties of states can see of messages in flight and enabled actions. */
bool may_read_flight(struct typechecker *c, const struct ast *a) {
  const char *why = NULL;
  if (!model_steps(c->m))
    why = "is for processes that take steps; these proceed in rounds";
  else if (c->in.where != IN_PROPERTY)
    why = "can only be used in a property";
  else if (c->in.step || c->in.live)
    why = "can only be used in a 'safety' or 'cover' property about states";
  if (why)
    checker_error(c, model_steps(c->m) ? E0403 : E0404, a->word, "'%s' %s", a->name, why);
  if (why && !model_steps(c->m))
    checker_help(
        c, "in rounds the environment decides what arrives: no process waits, and no message is in flight between "
           "rounds");
  else if (why && in_process(c))
    checker_help(c, "a process takes a message by 'on MESSAGE', and waits for several by 'on Q: SIZE of MESSAGE'");
  return !why;
}

static bool is(const struct ast *a, const char *name) { return strcmp(a->name, name) == 0; }

static struct node *built_in_name(struct typechecker *c, const struct ast *a) {
  if (is(a, "me"))
    return in_process(c) ? me_node(c, a->at) : not_here(c, a, "a process");
  if (is(a, "all"))
    return node_role_set(c, a->at, ROLE_ANY);
  if (is(a, "received") || is(a, "heard"))
    return received_name(c, a);
  if (is(a, "correct") || is(a, "faulty")) {
    if (!may_observe_processes(c))
      return not_here(c, a, "a property or an environment");
    enum op op = is(a, "correct") ? NODE_CORRECT : NODE_FAULTY;
    return node_new(c, op, a->at, set_type(c, any_process_type(c)), 0);
  }
  if (is(a, "round"))
    return round_name(c, a);
  if (is(a, "next"))
    return next_name(c, a);
  if (is(a, "neighbours") && model_steps(c->m))
    return neighbours_name(c, a);
  if (model_steps(c->m) && (is(a, "quiescent") || is(a, "deadlocked")))
    return may_read_flight(c, a)
               ? node_new(c, is(a, "quiescent") ? NODE_QUIESCENT : NODE_DEADLOCKED, a->at, c->boolean, 0)
               : node_error(c, a->at);
  if (is(a, "others")) {
    not_here(c, a, "the target of a send");
    checker_help(c, "the set of all but me is written 'all - {me}'");
    return node_error(c, a->at);
  }
  if (is(a, "HO") || is(a, "SHO")) {
    checker_error(c, E0314, a->word, "'%s' needs a process: write %s[p]", a->name, a->name);
    return node_error(c, a->at);
  }
  struct node *predicate = c->in.where == IN_ENVIRONMENT ? named_predicate(c, a) : NULL;
  if (predicate)
    return predicate;
  unknown_name(c, E0201, a->name, a->word, "name");
  return node_error(c, a->at);
}

/* ---- declared names ---- */

static struct node *variable_name(struct typechecker *c, const struct ast *a, const struct scope_symbol *s) {
  const struct var *v = &c->m->roles[c->in.role].vars[s->index];
  if (v->kind == VAR_GHOST && !c->in.ghost) {
    checker_error(c, E0403, a->word, "ghost '%s' can only be read by ghosts and properties", a->name);
    checker_help(c, "a ghost watches the algorithm and must not change it; make it a 'var' if it belongs "
                    "to it");
    return node_error(c, a->at);
  }
  if (v->kind == VAR_ORACLE && (c->in.where == IN_INIT || c->in.where == IN_FINALLY)) {
    checker_error(c, E0403, a->word, "oracle '%s' has no value here: it is chosen at the start of a %s", a->name,
                  v->each == EACH_ROUND ? "round" : "phase");
    return node_error(c, a->at);
  }
  if (!v->type) /* its declaration was wrong */
    return node_error(c, a->at);
  if (c->in.where == IN_INIT && s->index >= c->in.ready) {
    checker_error(c, E0403, a->word, "variable '%s' has no value yet", a->name);
    checker_help(c, "first values are computed in the order of declaration, and '%s' comes later (line %u)", a->name,
                 checker_line(c, v->at));
    return node_error(c, a->at);
  }
  c->roles[c->in.role].read[s->index] = true;
  struct node *n = node_new(c, NODE_VAR, a->at, v->type, 0);
  n->index = s->index;
  return n;
}

static struct node *global_name(struct typechecker *c, const struct ast *a, const struct scope_symbol *s) {
  if (!s->type) /* its declaration was wrong */
    return node_error(c, a->at);
  if (c->in.where == IN_FILE && s->index >= c->in.ready) {
    checker_error(c, E0403, a->word, "'%s' has no value yet", a->name);
    checker_help(c, "first values are computed in the order of declaration, and '%s' comes later (line %u)", a->name,
                 checker_line(c, s->at));
    return node_error(c, a->at);
  }
  c->global_read[s->index] = true;
  struct node *n = node_new(c, NODE_GLOBAL, a->at, s->type, 0);
  n->index = s->index;
  return n;
}

/* A shared variable, or a file-level ghost. */
static struct node *shared_name(struct typechecker *c, const struct ast *a, const struct scope_symbol *s) {
  const struct var *v = &c->m->globals[s->index];
  if (v->kind == VAR_GHOST && in_process(c) && !c->in.ghost) {
    checker_error(c, E0403, a->word, "ghost '%s' can only be read by ghosts and properties", a->name);
    checker_help(c, "a ghost watches the algorithm and must not change it; make it 'shared' if it belongs "
                    "to it");
    return node_error(c, a->at);
  }
  if (c->in.where == IN_ENVIRONMENT || c->in.where == IN_GRAPH) {
    checker_error(c, E0403, a->word, "'%s' changes during a run and cannot be read here", a->name);
    return node_error(c, a->at);
  }
  if (c->in.where == IN_INIT) {
    checker_error(c, E0403, a->word, "a first value cannot read the %s '%s'",
                  v->kind == VAR_GHOST ? "ghost" : "shared variable", a->name);
    checker_help(c, "read it in a step");
    return node_error(c, a->at);
  }
  if (c->defs.current) {
    c->defs.current->reads_shared = true;
    c->defs.current->reads_ghost |= v->kind == VAR_GHOST;
  }
  return global_name(c, a, s);
}

static struct node *quorum_name(struct typechecker *c, const struct ast *a) {
  struct type t = {.kind = TYPE_BAG, .element = c->in.arrivals->type};
  if (!t.element || t.element->kind == TYPE_ERROR)
    return node_error(c, a->at);
  return node_new(c, NODE_RECEIVED, a->at, type_intern(c, t), 0);
}

/* A def without parameters is used as a name. */
static struct node *def_name(struct typechecker *c, const struct ast *a) {
  struct ast call = *a;
  call.kind = AST_CALL;
  call.n = 0;
  return lower_call(c, &call);
}

static struct node *param_name(struct typechecker *c, const struct ast *a, uint32_t index) {
  int64_t v = c->m->params[index].value;
  const struct type *type = c->params.list.at[index].is_bool ? c->boolean : range_type(c, v, v);
  struct node *n = node_new(c, NODE_PARAM, a->at, type, 0);
  n->index = index;
  n->constant = v;
  return n;
}

struct node *lower_name(struct typechecker *c, const struct ast *a) {
  struct scope_symbol *s = symbol_find(c, a->name);
  if (!s)
    return built_in_name(c, a);
  s->used = true;
  struct node *n = NULL;
  switch (s->kind) {
  case SYMBOL_PARAM:
    return param_name(c, a, s->index);
  case SYMBOL_TYPE:
    checker_error(c, E0209, a->word, "type '%s' is not a value", a->name);
    checker_help(c, "its values are gone through with 'v in %s'", a->name);
    return node_error(c, a->at);
  case SYMBOL_LABEL:
    return node_constant(c, a->at, s->type, s->index);
  case SYMBOL_ROLE:
    return node_role_set(c, a->at, s->index);
  case SYMBOL_DEF:
    return def_name(c, a);
  case SYMBOL_GLOBAL:
    return global_name(c, a, s);
  case SYMBOL_SHARED:
    return shared_name(c, a, s);
  case SYMBOL_MESSAGE:
    checker_error(c, E0209, a->word, "message '%s' is not a value", a->name);
    if (c->in.where == IN_PROPERTY)
      checker_help(c, "its messages in flight are 'pending(%s)', as in 'forall m in pending(%s): ...'", a->name,
                   a->name);
    else
      checker_help(c, "it can be sent, 'send %s... to ...', and taken, 'on %s'", a->name, a->name);
    return node_error(c, a->at);
  case SYMBOL_QUORUM:
    return quorum_name(c, a);
  case SYMBOL_VAR:
    return variable_name(c, a, s);
  case SYMBOL_SLOT:
    if (s->open) {
      checker_error(c, E0207, a->word, "'%s' is bound twice by the condition around it", a->name);
      checker_help(c, "use two names, so that it is clear which one is meant");
      return node_error(c, a->at);
    }
    n = node_new(c, NODE_SLOT, a->at, s->type, 0);
    break;
  case SYMBOL_LOOP:
    return node_new(c, NODE_LOOP, a->at, s->type, 0);
  case SYMBOL_PHASE:
    return node_new(c, NODE_PHASE, a->at, c->round, 0);
  case SYMBOL_COUNTER: /* a counter system has a checker of its own */
  case SYMBOL_CONTROL:
  case SYMBOL_AMOUNT:
  case SYMBOL_ARGUMENT:
    checker_error(c, E0209, a->word, "the %s '%s' is not a value", symbol_kind_text(s->kind), a->name);
    return node_error(c, a->at);
  }
  n->index = s->index;
  return n;
}

/* ---- fields ---- */

static struct node *record_field(struct typechecker *c, const struct ast *a, struct node *of) {
  const struct type *t = of->type;
  VEC(const char *) names = {0};
  for (uint32_t i = 0; i < t->size; i++) {
    if (strcmp(t->fields[i].name, a->name) == 0) {
      struct node *n = node_unary(c, NODE_SELECT, a->at, t->fields[i].type, of);
      n->index = i;
      vec_release(&names);
      return n;
    }
    vec_push(&names, t->fields[i].name);
  }
  checker_error(c, E0206, a->word, "unknown field '%s' of %s", a->name, type_text(c, t));
  const char *method = foreign_word_help(a->name, strlen(a->name), FOREIGN_METHOD);
  if (method && of->op == NODE_SLOT)
    checker_help(c, "%s", method);
  else
    help_nearest(c, a->name, names.at, names.n, "");
  vec_release(&names);
  return node_error(c, a->at);
}

void mark_read(struct typechecker *c, uint32_t field) {
  for (uint32_t r = 0; r < c->m->nroles; r++)
    if (c->m->fields[field].var[r] != UINT32_MAX)
      c->roles[r].read[c->m->fields[field].var[r]] = true;
}

/* Roles that declare a name with one type share a field, whatever kind of variable it is in each. */
static bool has_kind(const struct typechecker *c, uint32_t field, uint32_t r, enum var_kind kind) {
  uint32_t var = c->m->fields[field].var[r];
  return var != UINT32_MAX && c->m->roles[r].vars[var].kind == kind;
}

bool field_has_kind(const struct typechecker *c, uint32_t field, uint64_t roles, enum var_kind kind) {
  for (uint32_t r = 0; r < c->m->nroles; r++)
    if (role_in(roles, r) && has_kind(c, field, r, kind))
      return true;
  return false;
}

static bool field_is_kind(const struct typechecker *c, uint32_t field, uint64_t roles, enum var_kind kind) {
  for (uint32_t r = 0; r < c->m->nroles; r++)
    if (role_in(roles, r) && !has_kind(c, field, r, kind))
      return false;
  return true;
}

static struct node *process_field(struct typechecker *c, const struct ast *a, struct node *of, enum op op) {
  if (in_process(c)) {
    checker_error(c, E0403, a->word, "a process cannot read '%s' of another process", a->name);
    checker_help(c, "what others know reaches it in messages; its own variable is just '%s'", a->name);
    return node_error(c, a->at);
  }
  if (c->in.where == IN_ENVIRONMENT) {
    checker_error(c, E0403, a->word, "an environment cannot read the variables of processes");
    checker_help(c, "it speaks of HO[p], SHO[p], oracles c[p], correct, faulty and parameters");
    return node_error(c, a->at);
  }
  if (!may_observe_processes(c)) {
    checker_error(c, E0403, a->word, "the variables of processes cannot be read here");
    return node_error(c, a->at);
  }
  if (model_steps(c->m) && is(a, "at")) {
    checker_error(c, E0415, a->word, "where a process stands is asked with 'at(p, STEP)'");
    return node_error(c, a->at);
  }
  uint32_t field = field_find(c, a->name, roles_of(c, of), a->word);
  if (field == UINT32_MAX)
    return node_error(c, a->at);
  mark_read(c, field);
  if (op == NODE_REMOTE && field_has_kind(c, field, roles_of(c, of), VAR_ORACLE)) {
    checker_error(c, E0403, a->word, "oracle '%s' belongs to the environment: a property cannot read it", a->name);
    return node_error(c, a->at);
  }
  if (op == NODE_INITIAL && !field_is_kind(c, field, roles_of(c, of), VAR_INPUT)) {
    checker_error(c, E0415, a->word, "'initial' is for inputs, and '%s' is not one", a->name);
    checker_help(c, "every run starts with the value that its declaration gives");
    return node_error(c, a->at);
  }
  struct node *n = node_unary(c, op, a->at, c->m->fields[field].type, of);
  n->index = field;
  return n;
}

struct node *lower_select(struct typechecker *c, const struct ast *a) {
  struct node *of = lower_expr(c, a->kid[0]);
  if (node_is_error(of))
    return of;
  if (of->type->kind == TYPE_RECORD)
    return record_field(c, a, of);
  if (of->type->kind == TYPE_PROCESS)
    return process_field(c, a, of, NODE_REMOTE);
  const char *method = foreign_word_help(a->name, strlen(a->name), FOREIGN_METHOD);
  checker_error(c, E0206, a->word, "%s has no field '%s'", type_text(c, of->type), a->name);
  if (of->type->kind == TYPE_OPTION)
    checker_help(c, "it may be none: take its value with 'exists m in ...' first");
  else if (a->kid[0]->kind == AST_NAME && symbol_find(c, a->kid[0]->name) &&
           symbol_find(c, a->kid[0]->name)->kind == SYMBOL_ROLE)
    checker_help(c, "say of which processes: 'forall p in %s: p.%s ...'", a->kid[0]->name, a->name);
  else if (method)
    checker_help(c, "%s", method);
  else if (of->type->kind == TYPE_SET || of->type->kind == TYPE_BAG)
    checker_help(c, "go through its members: '... for m in ...'");
  return node_error(c, a->at);
}

struct node *lower_initial(struct typechecker *c, const struct ast *a) {
  const struct ast *what = a->n == 1 ? a->kid[0] : NULL;
  if (!what || what->kind != AST_SELECT) {
    checker_error(c, E0415, a->word, "'initial' needs an input of a process: initial(p.x)");
    return node_error(c, a->at);
  }
  struct node *of = lower_expr(c, what->kid[0]);
  if (node_is_error(of))
    return of;
  if (of->type->kind != TYPE_PROCESS) {
    checker_error(c, E0415, what->kid[0]->at, "'initial' needs an input of a process, and this is %s",
                  type_text(c, of->type));
    return node_error(c, a->at);
  }
  struct node *n = process_field(c, what, of, NODE_INITIAL);
  n->at = a->at;
  return n;
}

/* at(p, s)' means that p is at s after the step. */
static bool prime_points(void *context, const struct node *n) {
  const struct typechecker *c = context;
  if (n->op == NODE_REMOTE && field_has_kind(c, n->index, ROLES_ALL, VAR_POINT))
    ((struct node *)(uintptr_t)n)->primed = true; /* the node was created here */
  return true;
}

struct node *lower_primed(struct typechecker *c, const struct ast *a) {
  struct node *n = lower_expr(c, a->kid[0]);
  if (node_is_error(n))
    return n;
  if (c->in.where != IN_PROPERTY || !c->in.step) {
    checker_error(c, E0508, a->at, "a primed variable can only be used in a step property");
    checker_help(c, "it is the value after a step: write 'safety name: step ...'");
    return node_error(c, a->at);
  }
  bool changes = n->op == NODE_GLOBAL && c->m->globals[n->index].kind != VAR_INPUT;
  if (a->kid[0]->kind == AST_CALL && is(a->kid[0], "at") && model_steps(c->m))
    node_walk(n, prime_points, c);
  else if (n->op == NODE_REMOTE || changes)
    n->primed = true;
  else {
    checker_error(c, E0508, a->at,
                  model_steps(c->m) ? "only a variable can be primed: p.x', or a shared one"
                                    : "only a variable of a process can be primed: p.x'");
    if (n->op == NODE_INDEX || n->op == NODE_SELECT)
      checker_help(c, "put the prime behind the variable itself: x'[...], p.x'.field");
    return node_error(c, a->at);
  }
  n->at = a->at;
  return n;
}

/* ---- indices ---- */

static uint32_t round_name_id(struct typechecker *c, const struct ast *a) {
  if (a->kind != AST_NAME) {
    checker_error(c, E0205, a->at, "expected the name of a round");
    return NO_NAME;
  }
  for (uint32_t i = 0; i < c->m->round_names.n; i++)
    if (strcmp(c->m->round_names.at[i], a->name) == 0)
      return i;
  checker_error(c, E0205, a->word, "unknown round '%s'", a->name);
  help_nearest(c, a->name, c->m->round_names.at, c->m->round_names.n, "no round of the algorithm has a name");
  return NO_NAME;
}

static bool is_some_oracle(const struct typechecker *c, const char *name) {
  for (uint32_t i = 0; i < c->m->nfields; i++)
    if (!strcmp(c->m->fields[i].name, name) && field_has_kind(c, i, ROLES_ALL, VAR_ORACLE))
      return true;
  return false;
}

/* HO[p], HO[p, name], c[p]: NULL if it is none of these. */
static struct node *environment_index(struct typechecker *c, const struct ast *a) {
  const struct ast *base = a->kid[0];
  if (base->kind != AST_NAME || symbol_find(c, base->name))
    return NULL;
  bool heard_of = is(base, "HO") || is(base, "SHO");
  if (!heard_of && c->in.where != IN_ENVIRONMENT)
    return NULL;
  if (c->in.where != IN_ENVIRONMENT)
    return not_here(c, base, "an environment");
  if (!heard_of && !is_some_oracle(c, base->name))
    return NULL;
  struct node *p = lower_expr(c, a->kid[1]);
  if (node_is_error(p))
    return p;
  if (p->type->kind != TYPE_PROCESS) {
    checker_error(c, E0303, a->kid[1]->at, "'%s' needs a process, not %s", base->name, type_text(c, p->type));
    return node_error(c, a->at);
  }
  enum op op = is(base, "HO") ? NODE_HO : is(base, "SHO") ? NODE_SHO : NODE_ORACLE;
  uint32_t field = heard_of ? NO_NAME : field_find(c, base->name, roles_of(c, p), base->word);
  if (!heard_of && field == UINT32_MAX)
    return node_error(c, a->at);
  if (!heard_of && !field_is_kind(c, field, roles_of(c, p), VAR_ORACLE)) {
    checker_error(c, E0403, base->word, "'%s' is not an oracle of every process here", base->name);
    checker_help(c, "an environment cannot read the variables of processes; say of which processes it speaks: "
                    "'forall p in ...' with the roles that have the oracle");
    return node_error(c, a->at);
  }
  struct node *n = node_unary(c, op, a->at, heard_of ? set_type(c, any_process_type(c)) : c->m->fields[field].type, p);
  n->index = field;
  if (heard_of && a->n == 3 && (n->index = round_name_id(c, a->kid[2])) == NO_NAME)
    return node_error(c, a->at);
  if (a->n > (heard_of ? 3u : 2u)) {
    checker_error(c, E0314, a->kid[a->n - 1]->at, "'%s' has too many indices", base->name);
    return node_error(c, a->at);
  }
  if (!heard_of)
    mark_read(c, n->index);
  return n;
}

/* What people who index it look for. */
static void help_index(struct typechecker *c, const struct ast *a, const struct type *t) {
  if (a->kind == AST_NAME && symbol_find(c, a->name) && symbol_find(c, a->name)->kind == SYMBOL_ROLE)
    checker_help(c, "a process is written %s(1), %s(2), ...; 'forall p in %s' goes through all of them", a->name,
                 a->name, a->name);
  else if (t->kind == TYPE_SEQUENCE)
    checker_help(c, "a sequence is taken apart with first(s), last(s) and front(s)");
  else if (t->kind == TYPE_SET)
    checker_help(c, "a set has no order: 'x in S' asks whether it has an element, 'exists x in S: C' goes through it");
  else if (t->kind == TYPE_BAG)
    checker_help(c, "go through it: 'exists m in %s: C', 'count(m in %s: C)', with 'sender(m)' for who sent m",
                 received_name_text(c), received_name_text(c));
}

struct node *lower_index(struct typechecker *c, const struct ast *a) {
  struct node *n = environment_index(c, a);
  if (n)
    return n;
  n = lower_expr(c, a->kid[0]);
  for (uint32_t i = 1; i < a->n; i++) {
    struct node *index = lower_expr(c, a->kid[i]);
    if (node_is_error(n) || node_is_error(index))
      return node_error(c, a->at);
    if (n->type->kind != TYPE_ARRAY) {
      checker_error(c, E0314, a->kid[0]->at, "%s is not an array", type_text(c, n->type));
      help_index(c, a->kid[0], n->type);
      return node_error(c, a->at);
    }
    index = coerce_or_report(c, index, n->type->index, "the index");
    if (node_is_error(index))
      return node_error(c, a->at);
    n = node_binary(c, NODE_INDEX, a->at, n->type->element, n, index);
  }
  return n;
}
