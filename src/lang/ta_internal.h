/* Private to the reader of threshold automata (ta_*.c). */
#ifndef RONDO_LANG_TA_INTERNAL_H
#define RONDO_LANG_TA_INTERNAL_H

#include "lang/ta_lexer.h"
#include "lang/threshold_automaton.h"
#include "lang/typecheck_counters_internal.h"

enum {
  TA_HEIGHT_MAX = 500,    /* of an expression */
  TA_SIZE_MAX = 100000,   /* of an expression with its definitions written out */
  TA_SIZES_MAX = 1000000, /* of all expressions together */
  TA_COUNTERS_MAX = 500,  /* locations and shared variables */
  TA_RULES_MAX = 5000,
  TA_SPECIFICATIONS_MAX = 500,
  TA_PARAMS_MAX = 100,
};

/* What becomes of a quotient that is not a whole number. */
enum ta_rounding { TA_EXACT, TA_DOWN, TA_UP };

/* A number or a formula. */
struct ta_value {
  struct term *term;          /* a number, else NULL; if `divisor` is not 0, what it divides */
  int64_t divisor;            /* 0: none, else more than 1 */
  enum ta_rounding rounding;  /* of the quotient */
  struct ta_formula *formula; /* a formula, else NULL */
  bool literal;               /* a number as written: 0 and 1 are also conditions */
  bool nameless;              /* made of such numbers alone, whatever values the parameters have */
  struct span at;
  uint32_t height;
  size_t size;
};

struct ta_definition {
  const char *name;
  struct ta_value value;
};

struct ta_reader {
  struct counter_checker check; /* makes terms; its globals are the names of the file */
  const struct source *source;
  struct diags *diags;
  struct arena *arena; /* of the system */
  struct ta_token token;
  bool failed;     /* a syntax error was reported: nothing more is read */
  bool reads;      /* counters can be read here, not only parameters */
  bool formula;    /* temporal operators can be used here */
  bool rules_read; /* from now on there are no new counters */
  bool rounded;    /* a quotient, which was said */
  bool open;       /* unknowns without a value are left open */
  const char *where;
  uint32_t nesting;
  size_t sizes;  /* of all expressions so far */
  uint32_t last; /* the end of the token before */
  VEC(struct ta_definition) definitions;
  VEC(struct counter_param) params;
  VEC(uint32_t) unknowns; /* those that are left open */
  VEC(struct counter_condition) conditions;
  VEC(struct counter_name) counters;
  VEC(bool) is_location;
  VEC(struct counter_move) moves;
  VEC(struct ta_rule) rules;
  VEC(struct ta_specification) specifications;
  struct term *start;
};

/* ta_expression.c */
void ta_advance(struct ta_reader *);
void ta_syntax_error(struct ta_reader *, const char *expected);
bool ta_is_sign(const struct ta_reader *, int sign);
bool ta_is_word(const struct ta_reader *, const char *word);
bool ta_take_sign(struct ta_reader *, int sign, const char *expected); /* false: reported */
const char *ta_take_name(struct ta_reader *, struct span *at);         /* NULL: reported */
/* These never return NULL; after an error, which was reported, a harmless constant. */
struct term *ta_read_number(struct ta_reader *, struct span *at);
struct term *ta_read_condition(struct ta_reader *, struct span *at);
struct ta_formula *ta_read_formula(struct ta_reader *, struct span *at);
struct ta_value ta_read_definition(struct ta_reader *);

#endif
