#include "trace/property_instance.h"

#include "interp/eval.h"
#include "trace/lasso_replay.h"

#include <string.h>

struct instance_finder {
  struct property_instance *instance;
  bool wanted; /* the truth value being explained */
  const struct node *body;
};

static void add(struct property_instance *to, bool bound, struct text *text) {
  char *v = memory_strdup(text_or_empty(text));
  text_release(text);
  for (size_t i = 0; i < (bound ? 0 : to->read.n); i++)
    if (!strcmp(to->read.at[i], v)) {
      memory_free(v);
      return;
    }
  if (bound)
    vec_push(&to->bound, v);
  else
    vec_push(&to->read, v);
}

struct field_reader {
  struct property_instance *instance;
  struct eval *eval;
  bool primed;
};

/* "turn = P(2)": shared memory. Inputs are reported at the start. */
static void read_global(struct field_reader *r, const struct node *n) {
  const struct model *m = r->eval->model;
  const struct var *var = &m->globals[n->index];
  struct text t = {0};
  if (var->kind == VAR_INPUT)
    return;
  value v = eval_node(r->eval, n);
  text_addf(&t, "%s%s = ", var->name, n->primed ? "'" : "");
  value_print(&m->values, m, n->type, v, &t);
  add(r->instance, false, &t);
}

/* at(p, critical) */
static bool is_point(const struct model *m, const struct node *n) {
  for (uint32_t i = 0; n->op == NODE_REMOTE && i < m->nroles; i++)
    if (m->fields[n->index].var[i] != NO_VAR)
      return m->roles[i].vars[m->fields[n->index].var[i]].kind == VAR_POINT;
  return false;
}

/* Evaluates first: an error of the model unwinds the stack, and a partial text would leak. */
static bool read_field(void *context, const struct node *n) {
  struct field_reader *r = context;
  if (n->ngen > 0)
    return false; /* bound variables have no value outside their quantifier */
  if (n->primed != r->primed)
    return true;
  if (n->op == NODE_GLOBAL)
    read_global(r, n);
  if (n->op != NODE_REMOTE && n->op != NODE_INITIAL)
    return true;
  struct text t = {0};
  const struct model *m = r->eval->model;
  const char *name = m->fields[n->index].name;
  uint32_t process = (uint32_t)eval_node(r->eval, n->kid[0]);
  value v = eval_node(r->eval, n);
  if (is_point(m, n)) {
    process_print(m, process, &t);
    text_addf(&t, " is %sat ", n->primed ? "then " : "");
    value_print(&m->values, m, n->type, v, &t);
    add(r->instance, false, &t);
    return true;
  }
  text_add(&t, n->op == NODE_INITIAL ? "initial(" : "");
  process_print(m, process, &t);
  text_addf(&t, ".%s%s%s = ", name, n->primed ? "'" : "", n->op == NODE_INITIAL ? ")" : "");
  value_print(&m->values, m, n->type, v, &t);
  add(r->instance, false, &t);
  return true;
}

static void bind(struct property_instance *to, const struct generator *g, value v) {
  if (g->type->kind == TYPE_PROCESS)
    vec_push(&to->processes, (uint32_t)v);
}

static bool has_generator(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->ngen > 0;
  return !*found;
}

static void explain(struct instance_finder *, struct eval *, const struct node *, bool truth);

/* A binding that decides the quantifier: its names identify the instance. */
static bool decides(struct eval *e, void *context, uint64_t weight) {
  struct instance_finder *f = context;
  (void)weight;
  if (eval_true(e, f->body->kid[0]) != f->wanted)
    return true;
  for (uint32_t i = 0; i < f->body->ngen; i++) {
    const struct generator *g = &f->body->gen[i];
    struct text t = {0};
    text_addf(&t, "%s = ", g->name);
    value_print(&e->model->values, e->model, g->type, e->slot[g->slot], &t);
    add(f->instance, true, &t);
    bind(f->instance, g, e->slot[g->slot]);
  }
  explain(f, e, f->body->kid[0], f->wanted);
  return false;
}

/* Descends to the part that makes n true or false (`truth` is its value). */
static void explain(struct instance_finder *f, struct eval *e, const struct node *n, bool truth) {
  switch (op_number(n->op)) {
  case NODE_NOT:
    explain(f, e, n->kid[0], !truth);
    return;
  case NODE_IMPLIES:
    if (!truth) {
      explain(f, e, n->kid[1], false);
      return;
    }
    break;
  case NODE_AND:
  case NODE_OR:
    if (truth == (n->op == NODE_OR)) {
      explain(f, e, n->kid[eval_true(e, n->kid[0]) == truth ? 0 : 1], truth);
      return;
    }
    break;
  case NODE_FORALL:
  case NODE_EXISTS:
    if (truth == (n->op == NODE_EXISTS)) {
      f->body = n;
      f->wanted = truth;
      eval_bindings(e, n->gen, n->ngen, decides, f);
      return;
    }
    break;
  }
  node_walk(n, has_generator, &f->instance->everyone);
  struct field_reader before = {f->instance, e, false}, after = {f->instance, e, true};
  node_walk(n, read_field, &before);
  node_walk(n, read_field, &after);
}

struct lasso_finder {
  struct property_instance *instance;
  const struct model *model;
};

static void add_binding(void *context, const struct generator *g, value v) {
  struct lasso_finder *f = context;
  struct text t = {0};
  text_addf(&t, "%s = ", g->name);
  value_print(&f->model->values, f->model, g->type, v, &t);
  add(f->instance, true, &t);
  bind(f->instance, g, v);
}

void property_instance_explain(struct property_instance *out, struct interpreter *interp, const struct node *formula,
                               const struct config *before, const struct config *after, bool truth) {
  struct eval e;
  jmp_buf failure;
  *out = (struct property_instance){0};
  eval_begin(&e, interp);
  e.before = before;
  e.after = after;
  e.globals = before->globals;
  e.point = before->point == POINT_END ? interp->model->npoints - 1 : before->point;
  e.phase = before->phase;
  e.failure = &failure;
  if (setjmp(failure))
    return;
  struct instance_finder f = {.instance = out};
  explain(&f, &e, formula, truth);
}

void property_instance_find(struct property_instance *out, struct interpreter *interp, const struct trace *t) {
  *out = (struct property_instance){0};
  const struct property *p = trace_property(t);
  if (t->claim.error || !p || t->nconfigs == 0)
    return;
  if (t->claim.lasso) {
    struct lasso_configs run = trace_configs(t);
    struct lasso_finder f = {out, t->model};
    lasso_instance(interp, claim_formula(t), &run, add_binding, &f);
    return;
  }
  const struct config *last = trace_last(t);
  const struct config *before = p->step && trace_before_last(t) ? trace_before_last(t) : last;
  property_instance_explain(out, interp, p->formula, before, p->step ? last : NULL, p->kind == PROPERTY_COVER);
}

void property_instance_release(struct property_instance *i) {
  for (size_t k = 0; k < i->bound.n; k++)
    memory_free(i->bound.at[k]);
  for (size_t k = 0; k < i->read.n; k++)
    memory_free(i->read.at[k]);
  vec_release(&i->bound);
  vec_release(&i->read);
  vec_release(&i->processes);
}
