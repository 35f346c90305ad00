/* An expression about the states of a model that has already been checked, with the syntax and scope of a property. */
#ifndef RONDO_LANG_STATE_EXPRESSION_H
#define RONDO_LANG_STATE_EXPRESSION_H

#include "lang/typecheck.h"

struct state_expression {
  /* the same source, checked again together with the expression. It has the same processes, variables and messages
     in the same order, and the same table of values, so configurations fit both models */
  struct model *model;
  struct node *node;
  uint32_t offset; /* start of the expression in model->source: places from here on are in the expression */
};

/* step: variables may be primed; unprimed ones then refer to the state before the step. False: the errors are in diags,
   with places in `text`. The expression must be released before the model that it refers to. */
bool state_expression_check(struct state_expression *, const struct model *about, const char *text, size_t length,
                            bool step, struct diags *);
void state_expression_release(struct state_expression *);

#endif
