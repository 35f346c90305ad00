/* Parser internals: the token stream, errors and recovery, and construction of nodes. Only src/lang/parser*.c and
   the formatter include this header; other code includes lang/ast.h.

   Errors: parser_fail reports an error and puts the parser into panic mode, in which it sees only T_END. Every rule
   therefore ends by itself, without a check in each rule. The enclosing loop over statements, declarations or
   clauses calls parser_recover_... and continues. If the intention is clear, a rule reports with parser_complain and
   continues. */
#ifndef RONDO_LANG_PARSER_H
#define RONDO_LANG_PARSER_H

#include "lang/ast.h"
#include "lang/foreign.h"
#include "lang/lexer.h"

struct parser {
  const struct source *source;
  struct arena *arena;
  struct diags *diags;
  struct tokens *tokens;
  size_t at;         /* index of the current token */
  struct token stop; /* the token seen in panic mode */
  bool panic;
  bool reported;   /* the last complaint was reported, so help may follow */
  bool semicolons; /* already reported */
  bool in_round;   /* in the update of a round */
  unsigned depth;
  VEC(struct ast *) kids;      /* of the nodes under construction */
  VEC(size_t) braces;          /* indices of the '{' of open blocks */
  VEC(struct ast *) misplaced; /* declarations of the file that stand in a process */
  struct {                     /* the search for a '{' without its '}', which continues where it stopped */
    VEC(size_t) open;          /* indices of the '{' without a '}' so far */
    size_t scanned;            /* number of tokens */
    bool found;                /* the last of `open` is the one */
  } unclosed;
};

void parser_init(struct parser *, const struct source *, struct arena *, struct diags *, struct tokens *);
void parser_release(struct parser *);
struct ast *parser_file(struct parser *);

/* ---- tokens ---- */
const struct token *parser_look(const struct parser *, size_t ahead);
bool parser_sees(const struct parser *, enum token_kind);
bool parser_sees_word(const struct parser *, enum word);
/* A name that is not reserved and does not obviously start the next declaration. */
bool parser_sees_name(const struct parser *, size_t ahead);
bool parser_take(struct parser *, enum token_kind);
bool parser_take_word(struct parser *, enum word);
bool parser_expect(struct parser *, enum token_kind);
bool parser_expect_word(struct parser *, enum word);
/* The ')' or ']' of a construct that began at `from`; a missing one is said to be open since that line. */
bool parser_expect_close(struct parser *, enum token_kind, uint32_t from);
/* Takes a name. 'what' describes the expected name, as in "a variable's name". */
const char *parser_expect_name(struct parser *, const char *what);
const char *parser_text(struct parser *, const struct token *); /* allocated in the arena */
void parser_mark(struct parser *, enum token_role);             /* sets the role of the current token */
void parser_begin(struct parser *, enum token_begin); /* sets the construct that begins at the current token */

/* ---- errors ---- */
void parser_complain(struct parser *, enum diag_code, const char *format, ...) __attribute__((format(printf, 3, 4)));
void parser_fail(struct parser *, enum diag_code, const char *expected); /* "expected E, found F"; enters panic mode */
void parser_help(struct parser *, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *parser_found(struct parser *); /* the current token, quoted */
/* If the current token is a word or sign of another language in this place: an error with help, and panic mode. */
bool parser_reject_foreign(struct parser *, enum foreign_place);
/* False, with an error, if constructs are nested too deeply; otherwise parser_leave must follow. */
bool parser_enter(struct parser *);
void parser_leave(struct parser *);
void parser_skip_semicolons(struct parser *); /* semicolons are not allowed here: reported once */

/* ---- recovery (parser_recovery.c): all end panic mode; 'before' is where the failed construct began ---- */
bool token_declares(const struct token *, const struct token *next); /* at file level only */
bool parser_at_declaration(const struct parser *);
bool parser_at_member(const struct parser *); /* a round, a handler ... of a process */
void parser_recover_declaration(struct parser *, size_t before);
void parser_recover_member(struct parser *, size_t before);
void parser_recover_statement(struct parser *, size_t before);
void parser_recover_clause(struct parser *, size_t before);
void parser_recover_header(struct parser *); /* skips to a '{' at the end of this line, if there is one */
bool parser_open(struct parser *);           /* the '{' of a block */
/* Does the indentation say that the line of the current token is inside the innermost block? */
bool parser_is_inside(const struct parser *);
void parser_close(struct parser *); /* its '}'; a missing one is reported and assumed */

/* ---- nodes ---- */
struct construct_start { /* the start of a construct, and of its kids in parser.kids */
  uint32_t from;
  struct span word;
  size_t kids;
};
struct construct_start parser_place(const struct parser *);
void parser_add(struct parser *, struct ast *); /* NULL: an absent optional kid */
/* Makes a node with all kids added since the start. */
struct ast *parser_node(struct parser *, enum ast_kind, struct construct_start);
struct ast *parser_named(struct parser *, enum ast_kind, struct construct_start, const char *name);
struct ast *parser_error_node(struct parser *);

/* ---- constructs that are known by their first word ---- */
typedef struct ast *parse_rule(struct parser *);
struct word_rule {
  enum word word;
  parse_rule *rule;
};
#define WORD_RULES(list) (list), sizeof(list) / sizeof *(list)
parse_rule *parser_rule(const struct parser *, const struct word_rule *, size_t n); /* NULL: another word, or none */
/* The word of the list that is nearest to the current token; W_ORDINARY: none is near. */
enum word parser_nearest_word(struct parser *, const struct word_rule *, size_t n);

/* ---- rules used across the files ---- */
struct ast *parse_expr(struct parser *); /* parser_expr.c */
struct ast *parse_quantified(struct parser *, struct construct_start, bool all);
struct ast *parse_sum(struct parser *);
struct ast *parse_range(struct parser *);
struct ast *parse_place(struct parser *);
bool parse_relation_sign(struct parser *, enum ast_op *op);
struct ast *parse_names(struct parser *, const char *what); /* parser_decl.c */
struct ast *parse_type(struct parser *);
void parse_misplaced(struct parser *); /* a declaration of the file, in a process */
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
