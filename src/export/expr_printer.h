/* Writing expressions as expressions of a foreign language. What is used more than once, or is long, gets a name of its
   own: an assignment, a definition, whatever the language has. Internal to src/export. */
#ifndef RONDO_EXPORT_EXPR_PRINTER_H
#define RONDO_EXPORT_EXPR_PRINTER_H

#include "export/program.h"

struct target_syntax { /* the signs of a language */
  const char *truth[2];
  const char *negation, *conjunction, *disjunction, *equal, *differ, *less, *at_most, *plus, *minus, *times, *over,
      *modulo;
  const char *if_open, *if_then, *if_else, *if_close;
  const char *count_open, *count_close;              /* around a truth value: 1 or 0 */
  const char *eventually, *always, *until, *release; /* of runs; NULL: it has none */
  const char *comment_open, *comment_close;
};

struct expr_printer {
  const struct program *program;
  const struct rule *rule; /* whose choices are meant; or NULL */
  const struct target_syntax *syntax;
  struct text *out;
  const char *prefix;        /* of names that are made up */
  const char *choice_prefix; /* of choices, or NULL */
  uint32_t *named;           /* by expr_id: number of its name, 0: none */
  uint32_t *uses;
  uint32_t *seen;       /* by expr_id: the last pass of printer_define that came here */
  VEC(expr_id) touched; /* all that may have a name or uses */
  uint32_t names, pass; /* so far */
  /* NULL: name[index] */
  void (*read)(struct expr_printer *, const struct expr_node *);
};

void printer_begin(struct expr_printer *, const struct program *, const struct target_syntax *, struct text *);
void printer_release(struct expr_printer *);
/* Notes that these expressions will be written, so that what they share is known; then names what is worth it. */
void printer_count_uses(struct expr_printer *, expr_id);
/* Calls define for each expr_id that gets a name and is needed for w, kids first, each once. */
typedef void define_fn(struct expr_printer *, expr_id, void *context);
void printer_define(struct expr_printer *, expr_id, define_fn *, void *context);
void printer_define_always(struct expr_printer *, expr_id, define_fn *,
                           void *context); /* w itself gets a name, unless it is a constant */
void printer_add(struct expr_printer *, expr_id);
/* Rules. From here on names and choices are those of this one (NULL: of none), and nothing has a name yet. */
void printer_begin_rule(struct expr_printer *, const struct rule *);
void printer_count_rule(struct expr_printer *); /* all that is computed in it but its guards */
void printer_define_rule(struct expr_printer *, define_fn *, void *context);
void printer_force_changes(struct expr_printer *, define_fn *, void *context);
/* cell[index] ASSIGN its next value, of a change of one place. */
void printer_add_place(struct expr_printer *, const struct variable_update *, const char *assign);
/* The end of the line on which w is defined: where it comes from. */
void printer_end_definition(struct expr_printer *, expr_id);
void printer_name(struct expr_printer *, expr_id); /* of one that has a name */
/* " / * line 12: x := 3 * / ", or nothing if the place is nowhere. */
void printer_line(struct expr_printer *, struct span);
void printer_comment(struct expr_printer *, const char *text);
/* What the live property's formula says of runs, in terms of atom_1 ...; can_say: the language has the signs for it. */
bool printer_supports_formula(const struct expr_printer *, ltl);
void printer_add_formula(struct expr_printer *, ltl);
void printer_assumption(struct expr_printer *,
                        const struct assumption *); /* the end of its line: what it is, where it comes from */
/* The head of every export: what it is, where it comes from, how it is meant. */
void printer_head(struct expr_printer *, const char *how);

#endif
