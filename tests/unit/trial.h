/* A live question about a model, for tests that look into its space: #define TRIAL_SPACE, the type of that, before. */
#ifndef RONDO_TESTS_TRIAL_H
#define RONDO_TESTS_TRIAL_H

#include "lang/check.h"
#include "model/licence.h"
#include "model/live.h"
#include "sem/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct trial {
  struct source source;
  struct arena arena;
  struct diags diags;
  struct model *model;
  struct meaning *meaning;
  struct question question;
  uint32_t property; /* the first live one */
  bool otherwise;    /* what is said for each is said otherwise */
  struct live_form form;
  TRIAL_SPACE *space;
};

static inline void trial_read(struct trial *t, const char *text, const struct binding *bindings, size_t nbindings) {
  *t = (struct trial){.source = {.path = "m", .text = text, .length = strlen(text)}};
  arena_init(&t->arena);
  diags_init(&t->diags, &t->source);
  struct ast *file = parse_file(&t->source, &t->arena, &t->diags);
  t->model = t->diags.errors ? NULL : model_check(file, &t->source, bindings, nbindings, true, &t->diags);
  if (!t->model) {
    struct text said = {0};
    diags_print(&t->diags, false, &said);
    fail_msg("%s\n%s", text, text_or_empty(&said));
  }
  while (t->model->properties[t->property].kind != PROPERTY_LIVE)
    t->property++;
}

/* Once it has its form. */
static inline void trial_ask(struct trial *t, uint32_t environment, enum semantics semantics) {
  t->meaning = meaning_new(t->model);
  t->question = (struct question){.environment = environment,
                                  .semantics = semantics,
                                  .properties = &t->property,
                                  .nproperties = 1,
                                  .atoms = t->form.atoms,
                                  .natoms = t->form.natoms};
}

static inline struct wishes trial_wishes(bool reduce) {
  struct wishes w = {{0}};
  for (int i = 0; i < REDUCTIONS && !reduce; i++)
    w.reduce[i] = WISH_OFF;
  return w;
}

static inline void trial_release(struct trial *t) {
  t->space->base.ops->free(&t->space->base);
  live_form_release(&t->form);
  meaning_free(t->meaning);
  model_free(t->model);
  diags_release(&t->diags);
  arena_release(&t->arena);
}

#endif
