/* Words and signs of other languages (foreign.def), with what rondo has instead. */
#ifndef RONDO_LANG_FOREIGN_H
#define RONDO_LANG_FOREIGN_H

#include <stddef.h>

enum foreign_place {
  FOREIGN_DECLARATION = 1 << 0, /* starts a declaration */
  FOREIGN_MEMBER = 1 << 1,      /* starts a part of a process */
  FOREIGN_TRIGGER = 1 << 2,     /* after 'on' */
  FOREIGN_STATEMENT = 1 << 3,   /* starts a statement */
  FOREIGN_SECOND = 1 << 4,      /* a sign after the first name of a statement */
  FOREIGN_INFIX = 1 << 5,       /* after an expression */
  FOREIGN_PREFIX = 1 << 6,      /* before an expression */
  FOREIGN_NAME = 1 << 7,        /* an unknown name */
  FOREIGN_CALL = 1 << 8,        /* an unknown function */
  FOREIGN_TYPE = 1 << 9,        /* an unknown type */
  FOREIGN_CLAUSE = 1 << 10,     /* starts a clause of an environment */
  FOREIGN_MESSAGE = 1 << 11,    /* an unknown message */
  FOREIGN_UPDATE = 1 << 12,     /* starts a statement of a round */
  FOREIGN_METHOD = 1 << 13,     /* after a dot, where there is no field */
  FOREIGN_FIELD = 1 << 14,      /* after a dot, an unknown variable of a process */
};

/* NULL: it is not foreign there. */
const char *foreign_word_help(const char *word, size_t length, enum foreign_place);

struct foreign_sign {
  const char *sign, *ours, *help; /* ours: what is meant, or "" */
};
/* The sign at the start of the text, or NULL. */
const struct foreign_sign *foreign_sign_find(const char *text, size_t length);

#endif
