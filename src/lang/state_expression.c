#include "lang/state_expression.h"

#include "base/memory.h"

#include <string.h>

#define EXPRESSION_LONGEST 65536

/* The source of the model followed by the expression on its own lines, so that all places refer to one text. blank:
   replaces the source of the model by spaces, for a parser that must see the expression only. */
static char *joined_source(const struct model *m, const char *text, size_t length, bool blank) {
  size_t n = m->source.length;
  char *all = memory_alloc(n + length + 2);
  memcpy(all, m->source.text, n);
  for (size_t i = 0; blank && i < n; i++)
    if (all[i] != '\n')
      all[i] = ' ';
  all[n] = '\n';
  memcpy(all + n + 1, text, length);
  return all;
}

/* Passes on errors, with places relative to the expression. */
static void forward_errors(const struct diags *found, uint32_t offset, struct diags *out) {
  for (size_t i = 0; i < found->n; i++) {
    const struct diag *d = &found->at[i];
    struct span at = d->at;
    if (diag_code_level(d->code) != DIAG_ERROR)
      continue;
    at.from = at.from >= offset ? at.from - offset : 0;
    at.to = at.to >= offset ? at.to - offset : 0;
    diag_error(out, d->code, at, "%s", d->message);
    if (d->help)
      diag_help(out, "%s", d->help);
  }
}

/* Do configurations of one model fit the other? */
static bool same_roles(const struct model *a, const struct model *b) {
  for (uint32_t r = 0; r < a->nroles; r++) {
    const struct role *x = &a->roles[r], *y = &b->roles[r];
    if (x->first != y->first || x->count != y->count || x->nvars != y->nvars)
      return false;
    for (uint32_t i = 0; i < x->nvars; i++)
      if (x->vars[i].kind != y->vars[i].kind || strcmp(x->vars[i].name, y->vars[i].name) != 0)
        return false;
  }
  return true;
}

static bool same_layout(const struct model *a, const struct model *b) {
  if (a->kind != b->kind || a->nroles != b->nroles || a->nprocesses != b->nprocesses || a->nglobals != b->nglobals ||
      a->npoints != b->npoints || a->nmessages != b->nmessages)
    return false;
  for (uint32_t i = 0; i < a->nglobals; i++)
    if (strcmp(a->globals[i].name, b->globals[i].name) != 0)
      return false;
  return same_roles(a, b);
}

static bool check_joined(struct state_expression *x, const struct model *about, const char *text, size_t length,
                         bool step, struct diags *diags) {
  char *all = joined_source(about, text, length, false), *blank = joined_source(about, text, length, true);
  struct source source = {about->source.path, all, about->source.length + 1 + length};
  struct source alone = {about->source.path, blank, source.length};
  struct param_binding *bindings = memory_alloc((about->nparams + 1) * sizeof *bindings);
  for (uint32_t i = 0; i < about->nparams; i++)
    bindings[i] = (struct param_binding){about->params[i].name, about->params[i].value};
  struct diags found;
  struct arena arena;
  arena_init(&arena);
  diags_init(&found, &source);
  struct ast *tree = parse_file(&about->source, &arena, &found), *expression = parse_expression(&alone, &arena, &found);
  if (found.errors == 0)
    x->model = model_typecheck_with(tree, &source, bindings, about->nparams, &about->values, expression, step, &x->node,
                                    &found);
  forward_errors(&found, x->offset, diags);
  diags_release(&found);
  arena_release(&arena);
  memory_free(bindings);
  memory_free(all);
  memory_free(blank);
  return x->model != NULL;
}

bool state_expression_check(struct state_expression *x, const struct model *about, const char *text, size_t length,
                            bool step, struct diags *diags) {
  *x = (struct state_expression){.offset = (uint32_t)about->source.length + 1};
  if (length > EXPRESSION_LONGEST || about->source.length > UINT32_MAX - EXPRESSION_LONGEST - 2) {
    diag_error(diags, E0105, (struct span){0, 0}, "the expression is too long");
    return false;
  }
  if (!check_joined(x, about, text, length, step, diags)) {
    if (diags->errors == 0)
      diag_error(diags, E0306, (struct span){0, 0}, "the expression cannot be checked");
    return false;
  }
  if (same_layout(about, x->model))
    return true;
  diag_error(diags, E1001, (struct span){0, 0}, "the model is not the one that its text describes");
  state_expression_release(x);
  return false;
}

void state_expression_release(struct state_expression *x) {
  if (x->model)
    x->model->values = (struct values){0}; /* owned by the original model */
  model_free(x->model);
  *x = (struct state_expression){0};
}
