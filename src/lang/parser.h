/* Inside the parser: the token stream, errors and recovery, and how nodes are built. Only
   src/lang/parser*.c and the formatter include this; everybody else reads lang/ast.h.

   Errors: parser_fail reports and puts the parser into panic. A parser in panic sees only T_END, so
   every rule ends on its own without a check in each; the loop over statements, declarations or
   clauses that the failed one stands in calls parser_recover_... and goes on. Where it is clear
   what was meant, a rule reports with parser_complain and carries on. */
#ifndef RONDO_LANG_PARSER_H
#define RONDO_LANG_PARSER_H

#include "lang/ast.h"
#include "lang/lexer.h"

struct parser {
  const struct source *source;
  struct arena *arena;
  struct diags *diags;
  struct tokens *tokens;
  size_t at;         /* index of the current token */
  struct token stop; /* what is seen in panic */
  bool panic;
  bool reported;   /* the newest complaint was reported, so help may follow */
  bool semicolons; /* already reported */
  unsigned depth;
  VEC(struct ast *) kids; /* of the nodes under construction */
  VEC(size_t) braces;     /* indices of the blocks' '{' that are open */
};

void parser_init(struct parser *, const struct source *, struct arena *, struct diags *, struct tokens *);
void parser_release(struct parser *);
struct ast *parser_file(struct parser *);

/* ---- tokens ---- */
const struct token *parser_look(const struct parser *, size_t ahead);
bool parser_sees(const struct parser *, enum token_kind);
bool parser_sees_word(const struct parser *, enum word);
/* A name that is not reserved, and does not obviously start the next declaration. */
bool parser_sees_name(const struct parser *, size_t ahead);
bool parser_take(struct parser *, enum token_kind);
bool parser_take_word(struct parser *, enum word);
bool parser_expect(struct parser *, enum token_kind);
bool parser_expect_word(struct parser *, enum word);
/* Takes a name; 'what' says what it should have been, as in "a variable's name". */
const char *parser_expect_name(struct parser *, const char *what);
const char *parser_text(struct parser *, const struct token *); /* in the arena */
void parser_mark(struct parser *, enum token_role);             /* the role of the current token */
void parser_begin(struct parser *, enum token_begin);           /* what begins at it */

/* ---- errors ---- */
void parser_complain(struct parser *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void parser_fail(struct parser *, const char *expected); /* "expected E, found F", and panic */
void parser_help(struct parser *, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *parser_found(struct parser *); /* the current token, quoted */
/* False, with an error, when constructs are nested too deep; else parser_leave must follow. */
bool parser_enter(struct parser *);
void parser_leave(struct parser *);
void parser_skip_semicolons(struct parser *); /* they have no place here: reported once */

/* ---- recovery (parser_recovery.c): all end the panic; 'before' is where the failed construct began
 * ---- */
bool token_declares(const struct token *, const struct token *next); /* at file level only */
bool parser_at_declaration(const struct parser *);
bool parser_at_member(const struct parser *); /* a round, a handler ... of a process */
void parser_recover_declaration(struct parser *, size_t before);
void parser_recover_member(struct parser *, size_t before);
void parser_recover_statement(struct parser *, size_t before);
void parser_recover_clause(struct parser *, size_t before);
void parser_recover_header(struct parser *); /* to a '{' that ends this line, if there is one */
bool parser_open(struct parser *);           /* the '{' of a block */
void parser_close(struct parser *);          /* its '}'; a missing one is reported, and supplied */

/* ---- nodes ---- */
struct construct_start { /* where a construct starts, and its kids in parser.kids */
  uint32_t from;
  struct span word;
  size_t kids;
};
struct construct_start parser_place(const struct parser *);
void parser_add(struct parser *, struct ast *); /* or NULL: an optional kid that is absent */
/* The node with all kids added since the place was taken. */
struct ast *parser_node(struct parser *, enum ast_kind, struct construct_start);
struct ast *parser_named(struct parser *, enum ast_kind, struct construct_start, const char *name);
struct ast *parser_error_node(struct parser *);

/* ---- rules used across the files ---- */
struct ast *parse_expr(struct parser *); /* parser_expr.c */
struct ast *parse_quantified(struct parser *, struct construct_start, bool all);
struct ast *parse_sum(struct parser *);
struct ast *parse_range(struct parser *);
struct ast *parse_place(struct parser *);
bool parse_relation_sign(struct parser *, enum ast_op *op);
struct ast *parse_names(struct parser *, const char *what); /* parser_decl.c */
struct ast *parse_type(struct parser *);
struct ast *parse_store(struct parser *);
struct ast *parse_def(struct parser *);
struct ast *parse_unit(struct parser *, bool required);
struct ast *parse_process(struct parser *); /* parser_process.c */
struct ast *parse_block(struct parser *);   /* parser_stmt.c */
struct ast *parse_send(struct parser *, bool with_when);
struct ast *parse_environment(struct parser *); /* parser_environment.c */
struct ast *parse_property(struct parser *);
struct ast *parse_move(struct parser *);
struct ast *parse_unsafe(struct parser *);

#endif
