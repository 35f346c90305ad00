#include "lang/ast.h"

#include <inttypes.h>
#include <string.h>

static const char *ast_kind_name(enum ast_kind kind) {
  static const char *const names[] = {
#define AST(kind, comment) #kind,
#include "lang/ast.def"
#undef AST
  };
  return (unsigned)kind < AST_KINDS ? names[kind] : "?";
}

const char *ast_op_text(enum ast_op op) {
  static const char *const texts[] = {
#define AST_OP(op, text) text,
#include "lang/ast_op.def"
#undef AST_OP
  };
  return (size_t)op < sizeof texts / sizeof *texts ? texts[op] : "?";
}

/* Does 'number' carry information in addition to the kind? */
static bool ast_has_number(enum ast_kind kind) {
  return kind == AST_NUMBER || kind == AST_STORE || kind == AST_UNIT || kind == AST_CLAUSE_FAULT ||
         kind == AST_PROPERTY || kind == AST_QUANTIFIER;
}

void ast_print(const struct ast *a, struct text *out) {
  if (!a) {
    text_add(out, "_");
    return;
  }
  text_addf(out, "(%s", ast_kind_name(a->kind));
  if (a->op)
    text_addf(out, " %s", ast_op_text(a->op));
  if (a->name)
    text_addf(out, " %s", a->name);
  if (ast_has_number(a->kind))
    text_addf(out, " %" PRId64, a->number);
  if (a->flags)
    text_addf(out, " /%" PRIu32, a->flags);
  for (uint32_t i = 0; i < a->n; i++) {
    text_add(out, " ");
    ast_print(a->kid[i], out);
  }
  text_add(out, ")");
}

bool ast_same(const struct ast *a, const struct ast *b) {
  if (!a || !b)
    return a == b;
  if (a->kind != b->kind || a->op != b->op || a->number != b->number || a->flags != b->flags || a->n != b->n ||
      !a->name != !b->name || (a->name && strcmp(a->name, b->name) != 0))
    return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!ast_same(a->kid[i], b->kid[i]))
      return false;
  return true;
}
