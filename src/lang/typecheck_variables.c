/* Roles and their variables: inputs, variables, ghosts, oracles; file-level inputs. */
#include "lang/typecheck_variables.h"

#include "lang/foreign.h"
#include "lang/typecheck_coerce.h"
#include "lang/typecheck_constant.h"
#include "lang/typecheck_def.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_process.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

#include <inttypes.h>
#include <string.h>

enum { PROCESSES_MAX = 1000000 };

/* ---- roles ---- */

static void declare_role(struct typechecker *c, const struct ast *p, struct role *role, int64_t *total) {
  int64_t count = 1;
  role->ring = p->flags & AST_FLAG_RING;
  if (p->kid[1] && !model_steps(c->m)) {
    checker_error(c, E0404, p->kid[1]->at, "'graph' is for processes that take steps; these proceed in rounds");
    checker_help(c, "who hears whom is said in an environment: 'every round: forall p in P: HO[p] <= ...'");
  } else if (p->kid[1] && role->ring)
    checker_error(c, E0410, p->kid[1]->at, "a ring has a graph already: each process can send to 'next'");
  if (!constant_number(c, p->kid[0], "the number of processes", &count))
    return;
  if (count < 1) {
    checker_error(c, E0401, p->kid[0]->at, "process '%s' needs at least one member, not %" PRId64, p->name, count);
    return;
  }
  if (count > PROCESSES_MAX - *total) {
    checker_error(c, E0401, p->kid[0]->at, "too many processes: %" PRId64 ", of at most %d", count, (int)PROCESSES_MAX);
    return;
  }
  role->first = (uint32_t)*total;
  role->count = (uint32_t)count;
  *total += count;
}

void declare_roles(struct typechecker *c) {
  uint32_t n = 0;
  int64_t total = 0;
  for (uint32_t i = 0; i < c->file->n; i++)
    n += c->file->kid[i]->kind == AST_PROCESS && c->file->kid[i]->name;
  c->m->roles = arena_array(&c->m->arena, n, sizeof *c->m->roles);
  c->roles = arena_array(&c->m->arena, n, sizeof *c->roles);
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *p = c->file->kid[i];
    if (p->kind != AST_PROCESS || !p->name)
      continue;
    struct scope_symbol s = {
        .name = checker_strdup(c, p->name), .kind = SYMBOL_ROLE, .at = p->word, .index = c->m->nroles};
    struct role *role = &c->m->roles[c->m->nroles];
    c->roles[c->m->nroles++].ast = p;
    role->name = s.name;
    role->at = p->word;
    role->point_var = NO_VAR;
    symbol_declare(c, &c->globals, s);
    declare_role(c, p, role, &total);
  }
  c->m->nprocesses = (uint32_t)total;
  if (n == 0) {
    checker_error(c, E0401, c->file->word, "'%s' has no process", c->m->name);
    checker_help(c, "what takes part is declared by 'process P[n] { ... }'");
  } else {
    c->m->process_types.any = process_type(c, ROLE_ANY);
    c->m->process_types.set = set_type(c, c->m->process_types.any);
  }
}

void enter_role(struct typechecker *c, uint32_t role) {
  c->members = c->roles[role].members;
  c->in = (struct expr_context){.where = IN_INIT, .role = role};
  c->slots = 0;
}

void leave_role(struct typechecker *c) {
  c->roles[c->in.role].members = c->members;
  memset(&c->members, 0, sizeof c->members);
  c->in = (struct expr_context){.role = ROLE_ANY};
}

/* ---- declarations ---- */

static const char *variable_kind_text(int64_t kind) {
  static const char *const text[] = {
      [STORE_INPUT] = "input", [STORE_VAR] = "variable",  [STORE_SHARED] = "shared variable",
      [STORE_GHOST] = "ghost", [STORE_ORACLE] = "oracle", [STORE_STABLE] = "stable variable"};
  return text[kind];
}

/* Can a variable of this kind have this type? */
static bool type_allowed(struct typechecker *c, const struct ast *d, const struct type *t) {
  const struct ast *at = d->kid[1];
  const char *what = variable_kind_text(d->number);
  bool chosen = d->number == STORE_ORACLE || ((d->number == STORE_INPUT || d->number == STORE_SHARED) && !d->kid[2]);
  if (t->kind == TYPE_ERROR)
    return false;
  if (type_contains_kind(t, TYPE_INT)) {
    checker_error(c, E0312, at->at, "a %s cannot be of type int, which has no bounds", what);
    checker_help(c, "give it a range, such as 0..n");
    return false;
  }
  if (chosen && type_contains_kind(t, TYPE_ROUND)) {
    checker_error(c, E0312, at->at, "a %s cannot be of type round, which has no bounds", what);
    if (d->number == STORE_SHARED)
      checker_help(c, "unless it has a first value: '= 0'");
    return false;
  }
  if (chosen && t->count > ELEMENTS_MAX) {
    checker_error(c, E0309, at->at, "%s has too many values to choose from", type_text(c, t));
    return false;
  }
  return true;
}

static enum unit store_unit(struct typechecker *c, const struct ast *d) {
  const struct ast *unit = d->kid[4];
  if (!unit)
    return EACH_NONE;
  if (d->number != STORE_ORACLE)
    checker_error(c, E0413, unit->at, "'each' is for oracles");
  else if (model_steps(c->m)) /* reported */
    return EACH_NONE;
  else if (unit->number != UNIT_PHASE && unit->number != UNIT_ROUND) {
    checker_error(c, E0413, unit->at, "an oracle of a round algorithm is chosen each phase or each round");
    return EACH_NONE;
  }
  return unit->number == UNIT_PHASE ? EACH_PHASE : EACH_ROUND;
}

static void check_variable_clauses(struct typechecker *c, const struct ast *d) {
  const struct ast *init = d->kid[2], *where = d->kid[3];
  const char *name = d->kid[0]->n ? d->kid[0]->kid[0]->name : "?";
  struct span at = d->kid[0]->n ? d->kid[0]->kid[0]->word : d->at;
  if ((d->number == STORE_VAR || d->number == STORE_GHOST || d->number == STORE_STABLE) && !init) {
    checker_error(c, E0413, at, "%s '%s' has no first value", variable_kind_text(d->number), name);
    checker_help(c, "add '= ...'; if it may start with any value, declare it with 'input'");
  }
  if (d->number == STORE_ORACLE && init)
    checker_error(c, E0413, init->at, "an oracle is chosen by the environment: it has no first value");
  if (d->number != STORE_INPUT && where)
    checker_error(c, E0413, where->at, "'where' is for inputs");
  if (d->number != STORE_INPUT && d->flags & AST_FLAG_DISTINCT)
    checker_error(c, E0413, at, "'distinct' is for inputs");
}

/* Kinds of variables that exist only in models of rounds, or only in models of steps. */
static void check_variable_kind(struct typechecker *c, const struct ast *d) {
  if (d->number == STORE_ORACLE && model_steps(c->m)) {
    checker_error(c, E0404, d->at, "an oracle is for processes that proceed in rounds; these take steps");
    checker_help(c, "any choice can be made in a step: 'x := pick(...)'");
  }
  if (d->number == STORE_STABLE && !model_steps(c->m)) {
    checker_error(c, E0404, d->at, "a stable variable is for processes that take steps; these proceed in rounds");
    checker_help(c, "nobody recovers in a round algorithm: declare it with 'var'");
  }
}

static void declare_variables(struct typechecker *c, const struct ast *d, struct var *vars, uint32_t *n,
                              struct symbol_scope *scope, uint32_t processes) {
  static const enum var_kind kinds[] = {
      [STORE_INPUT] = VAR_INPUT, [STORE_VAR] = VAR_PLAIN,     [STORE_SHARED] = VAR_SHARED,
      [STORE_GHOST] = VAR_GHOST, [STORE_ORACLE] = VAR_ORACLE, [STORE_STABLE] = VAR_STABLE};
  bool global = scope == &c->globals;
  enum symbol_kind kind = !global ? SYMBOL_VAR : d->number == STORE_INPUT ? SYMBOL_GLOBAL : SYMBOL_SHARED;
  const struct type *type = type_of_ast(c, d->kid[1]);
  bool suits = type_allowed(c, d, type);
  check_variable_kind(c, d);
  check_variable_clauses(c, d);
  enum unit each = store_unit(c, d);
  bool distinct = d->flags & AST_FLAG_DISTINCT;
  if (distinct && suits && type->count < processes) {
    checker_error(c, E0413, d->kid[1]->at, "%s has too few values for %u processes to be distinct", type_text(c, type),
                  processes);
    suits = false;
  }
  for (uint32_t i = 0; i < d->kid[0]->n; i++) {
    const struct ast *name = d->kid[0]->kid[i];
    struct scope_symbol s = {.name = checker_strdup(c, name->name), .kind = kind, .at = name->word};
    s.index = *n;
    s.type = suits ? type : NULL;
    symbol_declare(c, scope, s);
    vars[(*n)++] = (struct var){
        .name = s.name, .kind = kinds[d->number], .at = name->word, .type = s.type, .distinct = distinct, .each = each};
    if (!global)
      name_index_add(&c->roles[c->in.role].variables, s.name);
  }
}

static uint32_t count_names(const struct ast *in) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < in->n; i++)
    if (in->kid[i] && in->kid[i]->kind == AST_STORE)
      n += in->kid[i]->kid[0]->n;
  return n;
}

static void declare_members(struct typechecker *c, uint32_t r) {
  const struct ast *p = c->roles[r].ast;
  struct role *role = &c->m->roles[r];
  uint32_t n = count_names(p) + count_hidden_variables(p);
  role->vars = arena_array(&c->m->arena, n, sizeof *role->vars);
  c->roles[r].read = arena_array(&c->m->arena, n, sizeof *c->roles[r].read);
  enter_role(c, r);
  for (uint32_t i = 2; i < p->n; i++) {
    const struct ast *d = p->kid[i];
    if (d->kind != AST_STORE)
      continue;
    if (d->number == STORE_SHARED) {
      checker_error(c, E0413, d->at, "a shared variable is declared at file level");
      checker_help(c, "move it out of the process: all processes share it");
    }
    declare_variables(c, d, role->vars, &role->nvars, &c->members, role->count);
  }
  declare_points(c, r);
  declare_defs(c, r);
  leave_role(c);
}

static void declare_globals(struct typechecker *c) {
  uint32_t n = count_names(c->file);
  c->m->globals = arena_array(&c->m->arena, n, sizeof *c->m->globals);
  c->global_read = arena_array(&c->m->arena, n, sizeof *c->global_read);
  for (uint32_t i = 0; i < c->file->n; i++) {
    const struct ast *d = c->file->kid[i];
    if (d->kind != AST_STORE)
      continue;
    if (d->number == STORE_GHOST && !model_steps(c->m)) {
      checker_error(c, E0413, d->at, "a ghost of a round algorithm belongs to a process");
      checker_help(c, "move it into the process that it belongs to");
    } else if (d->number != STORE_INPUT && d->number != STORE_SHARED && d->number != STORE_GHOST) {
      checker_error(c, E0413, d->at, "only inputs, shared variables and ghosts can stand outside the processes");
      checker_help(c, "move it into the process that it belongs to%s",
                   d->number == STORE_VAR ? ", or declare it 'shared'" : "");
    }
    if (d->flags & AST_FLAG_DISTINCT)
      checker_error(c, E0413, d->at, "'distinct' is for the inputs of processes");
    declare_variables(c, d, c->m->globals, &c->m->nglobals, &c->globals, 0);
  }
}

/* ---- fields ---- */

/* One field for each pair of name and type: roles that give a name different types get different fields. */
static void declare_field(struct typechecker *c, uint32_t r, uint32_t v, uint32_t *room) {
  const struct var *var = &c->m->roles[r].vars[v];
  if (!var->type)
    return;
  uint32_t found = name_index_find(&c->fields, var->name);
  while (found != NAME_NONE && c->m->fields[found].type != var->type)
    found = name_index_before(&c->fields, found);
  struct field *f = found == NAME_NONE ? NULL : &c->m->fields[found];
  if (!f) {
    if (c->m->nfields == *room)
      return;
    f = &c->m->fields[c->m->nfields++];
    name_index_add(&c->fields, var->name);
    *f = (struct field){.name = var->name, .type = var->type};
    f->var = arena_array(&c->m->arena, c->m->nroles, sizeof *f->var);
    memset(f->var, 0xff, c->m->nroles * sizeof *f->var);
  }
  f->var[r] = v;
}

static void declare_fields(struct typechecker *c) {
  uint32_t room = 0;
  for (uint32_t r = 0; r < c->m->nroles; r++)
    room += c->m->roles[r].nvars;
  c->m->fields = arena_array(&c->m->arena, room, sizeof *c->m->fields);
  for (uint32_t r = 0; r < c->m->nroles; r++)
    for (uint32_t v = 0; v < c->m->roles[r].nvars; v++)
      declare_field(c, r, v, &room);
}

static bool role_has(const struct typechecker *c, uint32_t r, const char *name, bool *sound) {
  uint32_t v = name_index_find(&c->roles[r].variables, name), first = v;
  for (; v != NAME_NONE; v = name_index_before(&c->roles[r].variables, v))
    first = v;
  if (first == NAME_NONE)
    return false;
  *sound &= c->m->roles[r].vars[first].type != NULL;
  return true;
}

/* Names the variables that there are. */
static void help_variables(struct typechecker *c, uint64_t roles) {
  struct text list = {0};
  for (uint32_t r = 0; r < c->m->nroles; r++)
    for (uint32_t v = 0; v < c->m->roles[r].nvars && diag_may_search(c->diags, 1); v++) {
      const struct var *var = &c->m->roles[r].vars[v];
      if (role_in(roles, r) && var->kind != VAR_POINT && var->kind != VAR_ONCE)
        text_addf(&list, "%s'%s'", list.n > 0 ? ", " : "", var->name);
    }
  if (list.n > 0)
    checker_help(c, "there are %s", list.at);
  text_release(&list);
}

static void unknown_field(struct typechecker *c, const char *name, uint64_t roles, struct span at) {
  struct nearest near;
  struct span declared = {0};
  checker_error(c, E0201, at, "unknown variable '%s'", name);
  const struct scope_symbol *shared = symbol_find(c, name);
  const char *foreign = foreign_word_help(name, strlen(name), FOREIGN_FIELD);
  if (shared && shared->kind == SYMBOL_SHARED) {
    checker_help(c, "'%s' is shared by all processes: write '%s' alone", name, name);
    return;
  }
  nearest_init(&near, name);
  for (uint32_t r = 0; r < c->m->nroles; r++)
    for (uint32_t v = 0; v < c->m->roles[r].nvars && diag_may_search(c->diags, 1); v++) {
      const struct var *var = &c->m->roles[r].vars[v];
      if (role_in(roles, r) && var->kind != VAR_POINT && var->kind != VAR_ONCE)
        nearest_offer(&near, var->name);
      if (near.found == var->name)
        declared = var->at;
    }
  if (near.found)
    checker_help(c, "did you mean '%s' (declared at line %u)?", near.found, checker_line(c, declared));
  else if (foreign)
    checker_help(c, "%s", foreign);
  else
    help_variables(c, roles);
}

uint32_t field_find(struct typechecker *c, const char *name, uint64_t roles, struct span at) {
  bool sound = true;
  uint32_t having = 0, lacking = UINT32_MAX;
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    if (!role_in(roles, r))
      continue;
    bool has = role_has(c, r, name, &sound);
    having += has;
    if (!has && lacking == UINT32_MAX)
      lacking = r;
  }
  if (having == 0)
    unknown_field(c, name, roles, at);
  else if (lacking != UINT32_MAX) {
    checker_error(c, E0414, at, "process '%s' has no variable '%s'", c->m->roles[lacking].name, name);
    checker_help(c, "say of which processes: 'forall p in ...' with the roles that have one");
  }
  if (having == 0 || lacking != UINT32_MAX || !sound)
    return UINT32_MAX;
  uint32_t found = UINT32_MAX;
  for (uint32_t i = name_index_find(&c->fields, name); i != NAME_NONE; i = name_index_before(&c->fields, i)) {
    bool fits = true;
    for (uint32_t r = 0; r < c->m->nroles && fits; r++)
      fits = !role_in(roles, r) || c->m->fields[i].var[r] != UINT32_MAX;
    found = fits ? i : found;
  }
  if (found == UINT32_MAX)
    checker_error(c, E0414, at, "variable '%s' has different types in different processes", name);
  return found;
}

/* ---- initial values ---- */

/* Shared memory without an initial value may hold any value: pick(v for v in T). */
static struct node *any_of_type(struct typechecker *c, const struct var *v) {
  struct node *domain = node_new(c, NODE_DOMAIN, v->at, set_type(c, v->type), 0);
  struct generator *gen = generator_over(c, v->at, "v", slot_new(c), domain);
  return node_over(c, NODE_PICK, v->at, v->type, node_slot(c, v->at, gen->slot, v->type), gen, 1);
}

static void check_initial(struct typechecker *c, const struct ast *in, struct var *vars, enum expr_site where) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < in->n; i++) {
    const struct ast *d = in->kid[i];
    for (uint32_t j = 0; d && d->kind == AST_STORE && j < d->kid[0]->n; j++) {
      struct var *v = &vars[at];
      const char *what = arena_printf(&c->m->arena, "%s '%s'", variable_kind_text(d->number), v->name);
      c->in.where = where;
      c->in.ghost = v->kind == VAR_GHOST;
      c->in.ready = at;
      c->slots = 0;
      if (d->kid[2] && v->kind != VAR_ORACLE) {
        struct node *init = lower_expr(c, d->kid[2]);
        v->init = v->type ? coerce_or_report(c, init, v->type, what) : init;
      } else if (v->kind == VAR_SHARED && v->type)
        v->init = any_of_type(c, v);
      c->in.ready = ++at;
      if (d->kid[3] && v->kind == VAR_INPUT)
        v->where = lower_bool(c, d->kid[3], "the condition after 'where'");
    }
  }
}

void check_stores(struct typechecker *c) {
  declare_globals(c);
  for (uint32_t r = 0; r < c->m->nroles; r++)
    declare_members(c, r);
  declare_fields(c);
  check_defs(c, ROLE_ANY);
  check_initial(c, c->file, c->m->globals, IN_FILE);
  check_graphs(c);
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    enter_role(c, r);
    check_defs(c, r);
    check_initial(c, c->roles[r].ast, c->m->roles[r].vars, IN_INIT);
    leave_role(c);
  }
}
