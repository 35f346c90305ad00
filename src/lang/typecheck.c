/* The passes of the checker. Everything with a name is declared before any expression is checked, so the declarations
   of a file may be in any order. */
#include "lang/typecheck.h"

#include "lang/typecheck_constant.h"
#include "lang/typecheck_def.h"
#include "lang/typecheck_environment.h"
#include "lang/typecheck_expr.h"
#include "lang/typecheck_nodes.h"
#include "lang/typecheck_params.h"
#include "lang/typecheck_process.h"
#include "lang/typecheck_property.h"
#include "lang/typecheck_scope.h"
#include "lang/typecheck_types.h"
#include "lang/typecheck_variables.h"
#include "lang/typechecker.h"

#include "analysis/local_properties.h"
#include "model/def_inlining.h"
#include "model/type_print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

const char *checker_strdup(struct typechecker *c, const char *name) {
  return arena_strndup(&c->m->arena, name, strlen(name));
}

void checker_error(struct typechecker *c, enum diag_code code, struct span at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_errorv(c->diags, code, at, format, args);
  va_end(args);
}

void checker_help(struct typechecker *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_helpv(c->diags, format, args);
  va_end(args);
}

uint32_t checker_line(struct typechecker *c, struct span at) {
  uint32_t line, column;
  if (!c->lines.source)
    source_lines_init(&c->lines, &c->m->source);
  source_lines_place(&c->lines, at.from, &line, &column);
  return line;
}

struct source source_copy(struct arena *arena, const struct source *s) {
  const char *path = s->path ? s->path : "";
  return (struct source){.path = arena_strndup(arena, path, strlen(path)),
                         .text = arena_strndup(arena, s->text, s->length),
                         .length = s->length};
}

const char *source_text_in(struct arena *arena, const struct source *source, struct span at) {
  struct text out = {0};
  source_add_text(source, at, &out);
  const char *kept = arena_copy(arena, text_or_empty(&out), out.n + 1);
  text_release(&out);
  return kept;
}

const char *source_text(struct typechecker *c, struct span at) {
  return source_text_in(&c->m->arena, &c->m->source, at);
}

const char *type_text(struct typechecker *c, const struct type *t) {
  struct text out = {0};
  if (t->kind == TYPE_RANGE && t->lo == t->hi && !t->name) /* a literal */
    text_addf(&out, "the number %" PRId64, t->lo);
  else
    type_print(c->m, t, &out);
  if (t->name && t->kind == TYPE_RANGE)
    text_addf(&out, " = %" PRId64 "..%" PRId64, t->lo, t->hi);
  const char *kept = checker_strdup(c, text_or_empty(&out));
  text_release(&out);
  return kept;
}

/* The first `start`, step or handler of a process. takes: the first that takes a message. */
static const struct ast *first_reaction(const struct ast *process, bool takes) {
  for (uint32_t i = 2; i < process->n; i++) {
    const struct ast *k = process->kid[i];
    bool reacts = k->kind == AST_START || k->kind == AST_STEP || k->kind == AST_ALTERNATIVE;
    if (reacts && !takes)
      return k;
    for (uint32_t j = 0; takes && (k->kind == AST_STEP || k->kind == AST_ALTERNATIVE) && j < k->n; j++) {
      const struct ast *trigger = k->kind == AST_STEP && k->kid[j]->n ? k->kid[j]->kid[0] : k->kid[j];
      if (trigger && trigger->kind == AST_TRIGGER && trigger->n > 2 && trigger->kid[2])
        return k;
    }
  }
  return NULL;
}

enum model_kind ast_model_kind(const struct ast *file) {
  bool steps = false;
  if (file->flags & AST_FLAG_COUNTERS)
    return MODEL_COUNTERS;
  for (uint32_t i = 0; i < file->n; i++) {
    const struct ast *d = file->kid[i];
    if (d->kind == AST_MESSAGES || (d->kind == AST_PROCESS && first_reaction(d, true)))
      return MODEL_MESSAGES;
    steps |=
        (d->kind == AST_STORE && d->number == STORE_SHARED) || (d->kind == AST_PROCESS && first_reaction(d, false));
  }
  return steps ? MODEL_SHARED : MODEL_ROUNDS;
}

struct span first_step_construct(const struct ast *file) {
  for (uint32_t i = 0; i < file->n; i++) {
    const struct ast *d = file->kid[i];
    if (d->kind == AST_MESSAGES || (d->kind == AST_STORE && d->number == STORE_SHARED))
      return d->word;
    const struct ast *reacts = d->kind == AST_PROCESS ? first_reaction(d, false) : NULL;
    if (reacts)
      return reacts->word;
  }
  return file->word;
}

static bool kind_supported(struct typechecker *c) {
  if (c->m->kind != MODEL_COUNTERS)
    return true;
  checker_error(c, E0601, c->file->word, "counter systems cannot be checked by this version of rondo");
  checker_help(c, "it checks algorithms whose processes proceed in rounds or take steps");
  return false;
}

static void intern_basic_types(struct typechecker *c) {
  c->error = type_intern(c, (struct type){.kind = TYPE_ERROR});
  c->unknown = type_intern(c, (struct type){.kind = TYPE_ERROR, .name = "?"});
  c->boolean = type_intern(c, (struct type){.kind = TYPE_BOOL});
  c->integer = type_intern(c, (struct type){.kind = TYPE_INT});
  c->round = type_intern(c, (struct type){.kind = TYPE_ROUND});
}

static void warn_unread(struct typechecker *c) {
  for (uint32_t r = 0; r < c->m->nroles; r++)
    for (uint32_t i = 0; i < c->m->roles[r].nvars; i++) {
      const struct var *v = &c->m->roles[r].vars[i];
      if (!c->roles[r].read[i])
        diag_warning(c->diags, W0101, v->at, "variable '%s' is never read", v->name);
    }
  for (uint32_t i = 0; i < c->m->nglobals; i++)
    if (!c->global_read[i])
      diag_warning(c->diags, W0101, c->m->globals[i].at, "variable '%s' is never read", c->m->globals[i].name);
}

static void check_processes(struct typechecker *c) {
  if (model_steps(c->m)) {
    check_environments(c);
    find_senders(c);
    check_steps(c);
  } else {
    check_schedule(c);
    check_environments(c); /* they refer to rounds by name */
  }
}

static void check_all(struct typechecker *c, const struct param_binding *bindings, size_t nbindings, bool complete) {
  size_t before = c->diags->errors;
  collect_constant_defs(c);
  declare_params(c);
  assign_params(c, bindings, nbindings, complete);
  if (c->diags->errors > before) /* without sizes, nothing else can be checked */
    return;
  intern_basic_types(c);
  declare_roles(c);
  if (c->diags->errors > before)
    return;
  declare_types(c);
  declare_messages(c);
  declare_defs(c, ROLE_ANY);
  check_stores(c);
  check_processes(c);
  check_properties(c);
  if (c->diags->errors > before)
    return;
  warn_unread(c);
  warn_of_messages(c);
}

static struct model *model_new(const struct ast *file, const struct source *source) {
  struct model *m = memory_alloc(sizeof *m);
  arena_init(&m->arena);
  values_init(&m->values);
  m->source = source_copy(&m->arena, source);
  const char *name = file->name ? file->name : "?";
  m->name = arena_strndup(&m->arena, name, strlen(name));
  m->kind = ast_model_kind(file);
  return m;
}

static void checker_release(struct typechecker *c) {
  for (uint32_t r = 0; r < c->m->nroles; r++) {
    scope_release(&c->roles[r].members);
    name_index_release(&c->roles[r].variables);
    name_index_release(&c->roles[r].point_names);
  }
  source_lines_release(&c->lines);
  name_index_release(&c->fields);
  name_index_release(&c->environments);
  name_index_release(&c->constants.names);
  vec_release(&c->constants.list);
  scope_release(&c->globals);
  scope_release(&c->members);
  scope_release(&c->locals);
  vec_release(&c->types.list);
  vec_release(&c->types.next);
  vec_release(&c->defs.list);
  vec_release(&c->defs.info);
  vec_release(&c->params.list);
  vec_release(&c->params.conditions);
  vec_release(&c->messages.sends);
  vec_release(&c->unbound);
  vec_release(&c->reserved_slots);
}

/* The shape of properties and environments is analysed, so calls of defs in them are expanded. */
static void inline_defs(struct model *m) {
  for (uint32_t i = 0; i < m->nproperties; i++) {
    struct property *p = &m->properties[i];
    p->formula = node_inlined(m, p->formula);
    p->until = p->until ? p->formula->kid[0] : NULL;
  }
  for (uint32_t i = 0; i < m->nenvironments; i++)
    for (uint32_t k = 0; k < m->environments[i].nclauses; k++)
      m->environments[i].clauses[k].pred = node_inlined(m, m->environments[i].clauses[k].pred);
}

static void checker_end(struct typechecker *c) {
  struct model *m = c->m;
  m->types = arena_copy(&m->arena, c->types.list.at, c->types.list.n * sizeof *c->types.list.at);
  m->ntypes = (uint32_t)c->types.list.n;
  m->defs = arena_copy(&m->arena, c->defs.list.at, c->defs.list.n * sizeof *c->defs.list.at);
  m->ndefs = (uint32_t)c->defs.list.n;
  checker_release(c);
}

struct model *model_typecheck(const struct ast *file, const struct source *source, const struct param_binding *bindings,
                              size_t nbindings, bool complete_params, struct diags *diags) {
  struct typechecker c = {.m = model_new(file, source), .file = file, .diags = diags, .errors_before = diags->errors};
  c.in.role = ROLE_ANY;
  struct model *m = c.m;
  size_t before = diags->errors;
  if (kind_supported(&c))
    check_all(&c, bindings, nbindings, complete_params);
  checker_end(&c);
  if (diags->errors == before) {
    inline_defs(m);
    check_whole_model(m, diags);
  }
  if (diags->errors == before) {
    locality_add_stabilities(m);
    return m;
  }
  model_free(m);
  return NULL;
}

/* Can the expression be evaluated and printed on its own? */
static bool has_value_in_state(struct typechecker *c, const struct node *n) {
  if (node_is_error(n))
    return false;
  if (n->type->kind == TYPE_BAG || n->op == NODE_INTERVAL || n->op == NODE_SUBSETS) {
    checker_error(c, E0306, n->at, "this is for quantifiers to range over and has no value by itself");
    return false;
  }
  if (!type_is_known(n->type)) {
    checker_error(c, E0306, n->at, "the type of this expression is not known");
    return false;
  }
  return true;
}

struct model *model_typecheck_with(const struct ast *file, const struct source *source,
                                   const struct param_binding *bindings, size_t nbindings, const struct values *values,
                                   const struct ast *expression, bool step, struct node **lowered,
                                   struct diags *diags) {
  struct typechecker c = {.m = model_new(file, source), .file = file, .diags = diags, .errors_before = diags->errors};
  struct model *m = c.m;
  size_t before = diags->errors;
  values_release(&m->values);
  m->values = *values;
  c.in.role = ROLE_ANY;
  *lowered = NULL;
  if (kind_supported(&c))
    check_all(&c, bindings, nbindings, false);
  if (diags->errors == before) {
    c.in = (struct expr_context){.where = IN_PROPERTY, .role = ROLE_ANY, .step = step};
    c.slots = 0;
    struct node *n = lower_expr(&c, expression);
    if (has_value_in_state(&c, n))
      *lowered = n;
    else if (diags->errors == before)
      checker_error(&c, E0306, expression->at, "this expression cannot be evaluated");
  }
  checker_end(&c);
  if (diags->errors == before) {
    inline_defs(m);
    *lowered = node_inlined(m, *lowered);
    return m;
  }
  m->values = (struct values){0}; /* owned by the caller */
  model_free(m);
  return NULL;
}
