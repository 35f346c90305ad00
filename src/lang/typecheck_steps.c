/* Processes that take steps: their program points, hidden variables, communication graphs, and actions in source
   order. */
#include "lang/typecheck_coerce.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_process.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typecheck_variables.h"
#include "lang/typechecker.h"

#include <string.h>

/* ---- program points ---- */

static bool has_points(const struct ast *process) {
  for (uint32_t i = 2; i < process->n; i++)
    if (process->kid[i]->kind == AST_START || process->kid[i]->kind == AST_STEP)
      return true;
  return false;
}

static bool is_once(const struct ast *alternative) {
  const struct ast *trigger = alternative->n ? alternative->kid[0] : NULL;
  return alternative->kind == AST_ALTERNATIVE && trigger && trigger->flags & AST_FLAG_ONCE;
}

static uint32_t count_once(const struct ast *process) {
  uint32_t n = 0;
  for (uint32_t i = 2; i < process->n; i++) {
    const struct ast *a = process->kid[i];
    n += is_once(a);
    for (uint32_t j = 0; a->kind == AST_STEP && j < a->n; j++)
      n += is_once(a->kid[j]);
  }
  return n;
}

uint32_t count_hidden_variables(const struct ast *process) { return has_points(process) + count_once(process); }

static void check_step_name(struct typechecker *c, const struct ast *step, const struct name_index *points) {
  if (strcmp(step->name, "start") == 0 || strcmp(step->name, "end") == 0) {
    checker_error(c, E0207, step->word, "a step cannot be called '%s'", step->name);
    checker_help(c, "a process stands at 'start' before its 'start { ... }', at 'end' after its last step");
  } else if (name_index_find(points, step->name) != NAME_NONE) {
    checker_error(c, E0207, step->word, "step '%s' is declared twice", step->name);
    checker_help(c, "several ways to take a step are joined with 'or': 'step %s on ... { ... } or on ... { ... }'",
                 step->name);
  }
}

static void add_point(struct type *t, struct name_index *points, const char *name) {
  t->labels[t->size++] = name;
  name_index_add(points, name);
}

/* "start" if there is one, the steps in order, "end". */
static const struct type *points_of(struct typechecker *c, const struct ast *process, struct name_index *points) {
  struct type t = {.kind = TYPE_ENUM};
  t.labels = arena_array(&c->m->arena, process->n + 1, sizeof *t.labels);
  for (uint32_t i = 2; i < process->n; i++)
    if (process->kid[i]->kind == AST_START && t.size == 0)
      add_point(&t, points, "start");
  for (uint32_t i = 2; i < process->n; i++) {
    const struct ast *a = process->kid[i];
    if (a->kind == AST_STEP && a->name) {
      check_step_name(c, a, points);
      add_point(&t, points, checker_strdup(c, a->name));
    }
  }
  add_point(&t, points, "end");
  return type_intern(c, t);
}

static struct var *declare_hidden(struct typechecker *c, uint32_t r, enum var_kind kind, const char *name,
                                  const struct type *type) {
  struct role *role = &c->m->roles[r];
  struct var *v = &role->vars[role->nvars];
  *v = (struct var){.name = name, .kind = kind, .at = role->at, .type = type};
  v->init = node_constant(c, role->at, type, 0);
  c->roles[r].read[role->nvars++] = true;
  name_index_add(&c->roles[r].variables, name);
  return v;
}

void declare_points(struct typechecker *c, uint32_t r) {
  const struct ast *process = c->roles[r].ast;
  if (!model_steps(c->m))
    return;
  if (has_points(process)) {
    c->roles[r].points = points_of(c, process, &c->roles[r].point_names);
    c->m->roles[r].point_var = c->m->roles[r].nvars;
    declare_hidden(c, r, VAR_POINT, "at", c->roles[r].points);
  }
  c->roles[r].once = c->m->roles[r].nvars;
  uint32_t n = count_once(process);
  for (uint32_t i = 1; i <= n; i++) /* the space makes the name distinct from all names of the language */
    declare_hidden(c, r, VAR_ONCE, arena_printf(&c->m->arena, "once %u", i), c->boolean);
}

uint32_t point_find(struct typechecker *c, uint32_t role, const char *name) {
  return name_index_find(&c->roles[role].point_names, name);
}

static void unknown_step(struct typechecker *c, uint32_t role, const struct ast *a) {
  const struct type *t = c->roles[role].points;
  if (!t) {
    checker_error(c, E0205, a->word, "process '%s' has no steps", c->m->roles[role].name);
    checker_help(c, "a step has a name: 'step %s { ... }'", a->name);
    return;
  }
  checker_error(c, E0205, a->word, "unknown step '%s' of process '%s'", a->name, c->m->roles[role].name);
  struct name_choice there;
  name_choice_init(&there, c, a->name);
  for (uint32_t i = 0; i < t->size; i++)
    if (c->in.where != IN_ACTION || strcmp(t->labels[i], "start") != 0) /* no 'goto' leads there */
      name_choice_offer(&there, t->labels[i], (struct span){0, 0});
  name_choice_help(&there, "");
}

void check_goto(struct typechecker *c, const struct ast *a, struct stmt *s) {
  uint32_t r = c->in.role, point = point_find(c, r, a->name);
  s->kind = STMT_ASSIGN;
  s->var = c->m->roles[r].point_var;
  if (point == UINT32_MAX)
    unknown_step(c, r, a);
  else if (strcmp(a->name, "start") == 0) {
    checker_error(c, E0412, a->word, "nobody goes back to 'start'");
    checker_help(c, "what is done again stands in a step: 'step NAME { ... }'");
  } else {
    s->expr = node_constant(c, a->word, c->roles[r].points, point);
    return;
  }
  s->expr = node_error(c, a->word);
}

/* ---- at(p, step) ---- */

static struct node *node_at_step(struct typechecker *c, const struct ast *a, struct node *p, uint32_t role) {
  uint32_t field = name_index_find(&c->fields, "at"); /* it exists: declare_points made it */
  while (c->m->fields[field].type != c->roles[role].points)
    field = name_index_before(&c->fields, field);
  struct node *where = node_unary(c, NODE_REMOTE, a->at, c->roles[role].points, p);
  where->index = field;
  struct node *step = node_constant(c, a->kid[1]->at, c->roles[role].points, point_find(c, role, a->kid[1]->name));
  return node_binary(c, NODE_EQ, a->at, c->boolean, where, step);
}

/* p in Role and p.at == step, for a p that may have one of several roles */
static struct node *node_at_step_of_role(struct typechecker *c, const struct ast *a, struct node *p, uint32_t role) {
  struct node *in = node_binary(c, NODE_IN, a->at, c->boolean, p, node_role_set(c, a->at, role));
  return node_and(c, in, node_at_step(c, a, p, role));
}

static struct node *at_some_role(struct typechecker *c, const struct ast *a, struct node *p) {
  uint64_t roles = roles_of(c, p);
  uint32_t possible = 0, last = 0;
  struct node *some = NULL;
  for (uint32_t r = 0; r < c->m->nroles; r++)
    if (role_in(roles, r)) {
      possible++;
      last = r;
    }
  if (possible == 1 && point_find(c, last, a->kid[1]->name) != UINT32_MAX)
    return node_at_step(c, a, p, last);
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    if (!role_in(roles, r) || point_find(c, r, a->kid[1]->name) == UINT32_MAX)
      continue;
    struct node *here = node_at_step_of_role(c, a, p, r);
    some = some ? node_binary(c, NODE_OR, a->at, c->boolean, some, here) : here;
  }
  if (!some)
    unknown_step(c, last, a->kid[1]);
  return some ? some : node_error(c, a->at);
}

struct node *lower_at(struct typechecker *c, const struct ast *a) {
  if (a->n != 2 || a->kid[1]->kind != AST_NAME) {
    checker_error(c, E0415, a->word, "'at' needs a process and the name of a step: at(p, critical)");
    return node_error(c, a->at);
  }
  if (c->in.where != IN_PROPERTY && c->in.where != IN_DEF) {
    checker_error(c, E0415, a->word, "'at' can only be used in a property");
    if (in_process(c))
      checker_help(c, "the step in which this stands says where the process is");
    return node_error(c, a->at);
  }
  may_observe_processes(c);
  struct node *p = lower_expr(c, a->kid[0]);
  if (node_is_error(p))
    return p;
  if (p->type->kind == TYPE_PROCESS)
    return at_some_role(c, a, p);
  checker_error(c, E0303, a->kid[0]->at, "'at' needs a process, not %s", type_text(c, p->type));
  return node_error(c, a->at);
}

/* ---- graphs ---- */

/* The receivers of a process. The variables of the process cannot be read, so its members are not in scope. */
void check_graphs(struct typechecker *c) {
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    struct role *role = &c->m->roles[r];
    const struct ast *graph = c->roles[r].ast->kid[1];
    if (!graph || !model_steps(c->m))
      continue;
    c->in = (struct expr_context){.where = IN_GRAPH, .role = r};
    scope_cut(&c->locals, 0);
    c->slots = 0;
    role->graph = lower_expr(c, graph);
    if (node_is_error(role->graph))
      continue;
    const struct type *t = role->graph->type;
    if (t->kind != TYPE_SET || (t->element->kind != TYPE_PROCESS && t->element != c->unknown)) {
      checker_error(c, E0410, graph->at, "a graph is the set of processes that 'me' can send to, not %s",
                    type_text(c, t));
      role->graph = node_error(c, graph->at);
    } else if (t->element == c->unknown)
      role->graph = coerce_or_report(c, role->graph, set_type(c, any_process_type(c)), "the graph");
  }
  c->in = (struct expr_context){.role = ROLE_ANY};
}

/* ---- actions ---- */

static bool is_of_rounds(const struct ast *a) {
  return a->kind == AST_ONCE || a->kind == AST_REPEAT || a->kind == AST_PHASE || a->kind == AST_ROUND ||
         a->kind == AST_FINALLY;
}

static void refuse_rounds(struct typechecker *c, const struct ast *a) {
  const char *what = a->kind == AST_FINALLY  ? "finally"
                     : a->kind == AST_ONCE   ? "once"
                     : a->kind == AST_REPEAT ? "repeat"
                     : a->kind == AST_PHASE  ? "phase"
                                             : "round";
  struct span place = first_step_construct(c->file);
  checker_error(c, E0404, a->word, "'%s' in a model of steps: rounds and steps cannot be mixed", what);
  checker_help(c, "'%s' at line %u makes it one", source_text(c, place), checker_line(c, place));
}

static void add_action(struct typechecker *c, uint32_t r, const char *name, const struct ast *trigger,
                       const struct ast *block, struct span at, uint32_t point, uint32_t next) {
  struct role *role = &c->m->roles[r];
  struct action *action = &role->actions[role->nactions++];
  *action = (struct action){.name = name, .at = trigger ? trigger->at : at, .point = point, .next = next};
  action->once = trigger && trigger->flags & AST_FLAG_ONCE ? c->roles[r].once++ : NO_SLOT;
  enter_role(c, r);
  c->in.where = IN_ACTION;
  scope_cut(&c->locals, 0);
  check_action(c, trigger, block, action);
  scope_cut(&c->locals, 0);
  leave_role(c);
}

static const char *handler_name(struct typechecker *c, const struct ast *trigger) {
  const struct ast *pattern = trigger && trigger->n > 2 ? trigger->kid[2] : NULL;
  return pattern && pattern->name ? checker_strdup(c, pattern->name) : "when";
}

static uint32_t count_actions(const struct ast *process) {
  uint32_t n = 0;
  for (uint32_t i = 2; i < process->n; i++) {
    const struct ast *a = process->kid[i];
    n += a->kind == AST_STEP ? a->n : a->kind == AST_START || a->kind == AST_ALTERNATIVE;
  }
  return n;
}

static void check_role_steps(struct typechecker *c, uint32_t r) {
  const struct ast *process = c->roles[r].ast, *start = NULL;
  struct role *role = &c->m->roles[r];
  role->actions = arena_array(&c->m->arena, count_actions(process), sizeof *role->actions);
  uint32_t point = point_find(c, r, "start") == 0; /* the point of the next step */
  for (uint32_t i = 2; i < process->n; i++) {
    const struct ast *a = process->kid[i];
    if (is_of_rounds(a))
      refuse_rounds(c, a);
    else if (a->kind == AST_START && start) {
      checker_error(c, E0112, a->word, "second 'start' in a process");
      checker_help(c, "the other one is at line %u", checker_line(c, start->word));
    } else if (a->kind == AST_START) {
      start = a;
      add_action(c, r, "start", NULL, a->kid[0], a->word, 0, 1);
    } else if (a->kind == AST_STEP && a->name) {
      for (uint32_t j = 0; j < a->n; j++)
        if (a->kid[j]->kind == AST_ALTERNATIVE)
          add_action(c, r, checker_strdup(c, a->name), a->kid[j]->kid[0], a->kid[j]->kid[1], a->word, point, point + 1);
      point++;
    } else if (a->kind == AST_ALTERNATIVE)
      add_action(c, r, handler_name(c, a->kid[0]), a->kid[0], a->kid[1], a->word, ANY_POINT, ANY_POINT);
  }
}

void check_steps(struct typechecker *c) {
  uint32_t actions = 0;
  size_t before = c->diags->errors;
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    check_role_steps(c, r);
    find_final_steps(c, r);
    actions += c->m->roles[r].nactions;
  }
  if (actions || c->diags->errors > before)
    return;
  checker_error(c, E0412, c->m->roles[0].at, "'%s' never does anything", c->m->roles[0].name);
  checker_help(c, "write what it does: 'step NAME { ... }', 'on MESSAGE { ... }', 'when CONDITION { ... }'");
}
