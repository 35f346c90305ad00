#include "analysis/three_valued.h"

enum ternary ternary_connective(const struct node *n, ternary_fn *operand, void *context) {
  switch (op_number(n->op)) {
  case NODE_CONST:
  case NODE_PARAM:
    return ternary_of(n->constant != 0);
  case NODE_NOT:
    return ternary_not(operand(context, n->kid[0]));
  case NODE_AND:
    return ternary_and(operand(context, n->kid[0]), operand(context, n->kid[1]));
  case NODE_OR:
    return ternary_not(ternary_and(ternary_not(operand(context, n->kid[0])), ternary_not(operand(context, n->kid[1]))));
  case NODE_IMPLIES:
    return ternary_not(ternary_and(operand(context, n->kid[0]), ternary_not(operand(context, n->kid[1]))));
  }
  return MAYBE;
}
