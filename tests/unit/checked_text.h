/* What the tests of the checker have in common: a text, and what becomes of it. */
#ifndef RONDO_TESTS_CHECKING_H
#define RONDO_TESTS_CHECKING_H

#include "lang/typecheck.h"
#include "model/type_print.h"

#include "model_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct checked_text {
  struct source source;
  struct arena arena;
  struct diags diags;
  struct model *model;
};

static inline void check_with(struct checked_text *k, const char *text, const struct param_binding *b, size_t n,
                              bool complete) {
  k->source = (struct source){.path = "m", .text = text, .length = strlen(text)};
  arena_init(&k->arena);
  diags_init(&k->diags, &k->source);
  struct ast *file = parse_file(&k->source, &k->arena, &k->diags);
  k->model = k->diags.errors ? NULL : model_typecheck(file, &k->source, b, n, complete, &k->diags);
  arena_release(&k->arena); /* the model must not lean on the tree */
}

static inline void check_text(struct checked_text *k, const char *text) {
  struct param_binding n = {"n", 3};
  check_with(k, text, &n, 1, false);
}

static inline void release(struct checked_text *k) {
  model_free(k->model);
  diags_release(&k->diags);
}

static inline const char *diagnostics_text(struct checked_text *k, struct text *out) {
  diags_print(&k->diags, false, out);
  return text_or_empty(out);
}

static inline void check_good(struct checked_text *k, const char *text) {
  struct text out = {0};
  check_text(k, text);
  if (!k->model)
    print_error("%s\n%s\n", text, diagnostics_text(k, &out));
  text_release(&out);
  assert_non_null(k->model);
}

static inline void assert_node(const struct checked_text *k, const struct node *n, const char *expected) {
  struct text out = {0};
  node_print(k->model, n, &out);
  assert_string_equal(text_or_empty(&out), expected);
  text_release(&out);
}

static inline void assert_type(const struct checked_text *k, const struct type *t, const char *expected) {
  struct text out = {0};
  type_print(k->model, t, &out);
  assert_string_equal(text_or_empty(&out), expected);
  text_release(&out);
}

struct rejected_text {
  const char *text, *message;
};

/* Each text must be refused, with that message. */
static inline void check_rejected(const struct rejected_text *mistakes, size_t n) {
  for (size_t i = 0; i < n; i++) {
    struct checked_text k;
    struct text out = {0};
    check_text(&k, mistakes[i].text);
    const char *said = diagnostics_text(&k, &out);
    if (k.model || !strstr(said, mistakes[i].message))
      fail_msg("%s\nexpected '%s', got:\n%s", mistakes[i].text, mistakes[i].message, said);
    text_release(&out);
    release(&k);
  }
}

#endif
