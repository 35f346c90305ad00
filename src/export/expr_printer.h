/* Prints expressions in the syntax of another language. Shared and long subexpressions get a name: by an assignment or
   a definition, depending on the language. Private to src/export. */
#ifndef RONDO_EXPORT_EXPR_PRINTER_H
#define RONDO_EXPORT_EXPR_PRINTER_H

#include "export/program.h"

struct target_syntax { /* operators of the language */
  const char *truth[2];
  const char *negation, *conjunction, *disjunction, *equal, *differ, *less, *at_most, *plus, *minus, *times, *over,
      *modulo;
  const char *if_open, *if_then, *if_else, *if_close;
  const char *eventually, *always, *until, *release; /* temporal operators; NULL: the language has none */
  const char *comment_open, *comment_close;
};

struct expr_printer {
  const struct program *program;
  const struct rule *rule; /* the rule whose choices are printed, or NULL */
  const struct target_syntax *syntax;
  struct text *out;
  const char *prefix;        /* prefix of generated names */
  const char *choice_prefix; /* prefix of choices, or NULL */
  uint32_t *named;           /* by expr_id: number of its name; 0: none */
  uint32_t *uses;
  uint32_t *seen;       /* by expr_id: the last pass of printer_define that visited it */
  VEC(expr_id) touched; /* all nodes that may have a name or uses */
  uint32_t names, pass; /* numbers used so far */
  /* NULL: name[index] */
  void (*read)(struct expr_printer *, const struct expr_node *);
};

void printer_begin(struct expr_printer *, const struct program *, const struct target_syntax *, struct text *);
void printer_release(struct expr_printer *);
/* Counts the uses of an expression that will be printed; afterwards names are given to shared and long
   subexpressions. */
void printer_count_uses(struct expr_printer *, expr_id);
/* Calls define once for each named subexpression of w, kids first. */
typedef void define_fn(struct expr_printer *, expr_id, void *context);
void printer_define(struct expr_printer *, expr_id, define_fn *, void *context);
void printer_add(struct expr_printer *, expr_id);
/* Rules. Starts a rule (or none, if NULL): its choices are in scope, and no expression has a name yet. */
void printer_begin_rule(struct expr_printer *, const struct rule *);
void printer_count_rule(struct expr_printer *); /* counts all expressions of the rule except its guards */
void printer_define_rule(struct expr_printer *, define_fn *, void *context);
void printer_force_changes(struct expr_printer *, define_fn *, void *context);
/* Prints `cell[index] ASSIGN next value` for an update of one array element. */
void printer_add_place(struct expr_printer *, const struct variable_update *, const char *assign);
/* Ends the line that defines w, with a comment that gives its source line. */
void printer_end_definition(struct expr_printer *, expr_id);
/* " / * line 12: x := 3 * / ", or nothing if there is no place. */
void printer_line(struct expr_printer *, struct span);
void printer_comment(struct expr_printer *, const char *text);
/* The temporal formula of the liveness property, over atom_1 ...; printer_supports_formula: the language has all the
   operators that it needs. */
bool printer_supports_formula(const struct expr_printer *, ltl);
void printer_add_formula(struct expr_printer *, ltl);
void printer_assumption(struct expr_printer *,
                        const struct assumption *); /* ends its line with a comment: description and source line */
/* The header comment of every export: its content, its source, and how to read it. */
void printer_head(struct expr_printer *, const char *how);

#endif
