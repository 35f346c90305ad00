/* The syntax tree: uniform nodes, one kind for each construct of the grammar (docs/language.md), so that the
   parser, the formatter and the checker stay small. ast.def lists the kinds with the meaning of name, number
   and children. Optional children that are absent are NULL. Trees live in the source file's arena. */
#ifndef RONDO_LANG_AST_H
#define RONDO_LANG_AST_H

#include "base/arena.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>

enum ast_kind {
#define AST(kind, comment) AST_##kind,
#include "lang/ast.def"
#undef AST
  AST_KINDS
};

/* Operators of AST_BINARY and AST_UNARY, and relations of AST_RELATION. */
enum ast_op {
#define AST_OP(op, text) OP_##op,
#include "lang/ast_op.def"
#undef AST_OP
};

/* Makes it possible to switch over some kinds without `default:` and without -Wswitch-enum warnings. Code after the
   switch handles all other kinds. */
static inline unsigned ast_kind_among(enum ast_kind kind) { return kind; }
static inline unsigned ast_op_among(enum ast_op op) { return op; }

enum ast_store { STORE_INPUT, STORE_VAR, STORE_SHARED, STORE_GHOST, STORE_ORACLE, STORE_STABLE };
enum ast_unit { UNIT_NONE, UNIT_PHASE, UNIT_ROUND, UNIT_STEP, UNIT_RECEIVER };
enum ast_fairness { AST_FAIR_MESSAGES, AST_FAIR_ACTIONS, AST_FAIR_PROCESSES }; /* in the order of enum fairness */
enum ast_fault {
  FAULT_CRASH,
  FAULT_OMIT,
  FAULT_OMIT_SEND,
  FAULT_OMIT_RECEIVE,
  FAULT_BYZANTINE,
  FAULT_LOST,
  FAULT_CORRUPTED,
  FAULT_DUPLICATED
};

struct ast {
  enum ast_kind kind;
  enum ast_op op;
  struct span at;   /* the whole construct */
  struct span word; /* its name or operator, where the caret points */
  const char *name; /* identifier, or NULL */
  int64_t number;
  uint32_t flags; /* AST_FLAG_... */
  uint32_t n;     /* children */
  struct ast **kid;
};

enum {
  AST_FLAG_DISTINCT = 1,   /* STORE, TYPE_SEQ */
  AST_FLAG_UNORDERED = 2,  /* TYPE_ENUM, TYPE_RANGE */
  AST_FLAG_STEP = 4,       /* PROPERTY: a step property */
  AST_FLAG_ALMOST = 8,     /* PROPERTY: almost surely */
  AST_FLAG_ONCE = 16,      /* TRIGGER */
  AST_FLAG_EXACTLY = 32,   /* TRIGGER */
  AST_FLAG_COUNTERS = 64,  /* FILE: "counters", not "algorithm" */
  AST_FLAG_ANY = 128,      /* CLAUSE_FAULT: "any", not "at most" */
  AST_FLAG_STRONG = 256,   /* CLAUSE_FAIR */
  AST_FLAG_RING = 512,     /* PROCESS */
  AST_FLAG_TAKEN = 1024,   /* TRIGGER: "taken": the quorum is consumed */
  AST_FLAG_RECOVER = 2048, /* CLAUSE_FAULT: "crash and recover" */
  AST_FLAG_REQUEST = 4096, /* PROPERTY: "on request" */
  AST_FLAG_EACH = 8192,    /* CLAUSE_OFTEN: "for each" */
  AST_FLAG_SOME = 16384,   /* CLAUSE_FINALLY: "for some" */
  AST_FLAG_FINAL = 32768   /* STEP: "final" */
};

/* Parses the whole file. Errors go to diags; whatever could be parsed is returned (never NULL). The recursion depth is
   bounded, so garbage input cannot exhaust the stack. The tree is no higher than AST_HEIGHT_MAX, so recursive walks are
   safe too. In a chain a <= b <= c both relations share the kid b. */
enum { AST_HEIGHT_MAX = 1000 };
struct ast *parse_file(const struct source *, struct arena *, struct diags *);

/* Parses one expression that must span the whole source (for tests and -D values). */
struct ast *parse_expression(const struct source *, struct arena *, struct diags *);

const char *ast_op_text(enum ast_op); /* "and", "+", "not in", ... */

/* The tree on one line, for tests and dumps: (KIND op name number /flags kids...), "_" where a kid is absent. */
void ast_print(const struct ast *, struct text *);
bool ast_same(const struct ast *, const struct ast *); /* ignoring places */

/* Normalises indentation, spacing and blank lines; keeps line breaks and comments. The result parses to the same tree,
   and formatting is idempotent. The source must parse without errors. */
void format_source(const struct source *, struct text *out);

#endif
