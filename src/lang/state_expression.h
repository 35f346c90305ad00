/* An expression about the states of a model that was checked before, read as a property would be. */
#ifndef RONDO_LANG_STATE_EXPRESSION_H
#define RONDO_LANG_STATE_EXPRESSION_H

#include "lang/typecheck.h"

struct state_expression {
  struct model *model; /* the same text, checked once more with the expression. It has the same processes, variables and
                          messages in the same order, and the same table of values: configurations fit both */
  struct node *node;
  uint32_t offset; /* where the expression starts in model->source: places behind it are in the expression */
};

/* step: variables may be primed; unprimed ones are then those before the step. False: the errors are in diags, with
   places in `text`. The expression is to be released before the model that it is about. */
bool state_expression_check(struct state_expression *, const struct model *about, const char *text, size_t length,
                            bool step, struct diags *);
void state_expression_release(struct state_expression *);

#endif
