/* A live query about a model, for tests that look into its space: #define LIVE_SYSTEM_TYPE, the type of that, before.
 */
#ifndef RONDO_TESTS_TRIAL_H
#define RONDO_TESTS_TRIAL_H

#include "analysis/licence.h"
#include "analysis/live_formula.h"
#include "interp/config.h"
#include "lang/typecheck.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct live_system {
  struct source source;
  struct arena arena;
  struct diags diags;
  struct model *model;
  struct interpreter *interp;
  struct query query;
  uint32_t property; /* the first live one */
  bool otherwise;    /* what is said for each is said otherwise */
  struct live_formula form;
  LIVE_SYSTEM_TYPE *space;
};

static inline void live_system_read(struct live_system *t, const char *text, const struct param_binding *bindings,
                                    size_t nbindings) {
  *t = (struct live_system){.source = {.path = "m", .text = text, .length = strlen(text)}};
  arena_init(&t->arena);
  diags_init(&t->diags, &t->source);
  struct ast *file = parse_file(&t->source, &t->arena, &t->diags);
  t->model = t->diags.errors ? NULL : model_typecheck(file, &t->source, bindings, nbindings, true, &t->diags);
  if (!t->model) {
    struct text said = {0};
    diags_print(&t->diags, false, &said);
    fail_msg("%s\n%s", text, text_or_empty(&said));
  }
  while (t->model->properties[t->property].kind != PROPERTY_LIVE)
    t->property++;
}

/* Once it has its form. */
static inline void live_system_query(struct live_system *t, uint32_t environment, enum semantics semantics) {
  t->interp = interpreter_new(t->model);
  t->query = (struct query){.environment = environment,
                            .semantics = semantics,
                            .properties = &t->property,
                            .nproperties = 1,
                            .atoms = t->form.atoms,
                            .natoms = t->form.natoms};
}

static inline struct reduction_request live_system_reductions(bool reduce) {
  struct reduction_request w = {{0}};
  for (int i = 0; i < REDUCTIONS && !reduce; i++)
    w.reduce[i] = REQUEST_OFF;
  return w;
}

static inline void live_system_release(struct live_system *t) {
  t->space->base.ops->free(&t->space->base);
  live_formula_release(&t->form);
  interpreter_free(t->interp);
  model_free(t->model);
  diags_release(&t->diags);
  arena_release(&t->arena);
}

#endif
