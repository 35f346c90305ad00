/* User errors, collected with their place in the source and reported together, sorted by place. Messages are in lower
   case without a full stop: the fault first, with the subject in quotes, then the help. */
#ifndef RONDO_BASE_DIAG_H
#define RONDO_BASE_DIAG_H

#include "base/text.h"
#include "base/vec.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
  uint32_t from, to; /* byte offsets, [from, to); both 0: no place */
};

struct source {
  const char *path;
  const char *text; /* terminated; may hold any bytes */
  size_t length;
};

enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE, DIAG_LEVELS };

/* What can be reported. Every reporting function takes a code, so nothing is reported without one. */
enum diag_code {
#define CODE(code, title, explanation, command, model) code,
#include "base/diag_codes.def"
#undef CODE
  DIAG_CODES
};

struct diag_entry {
  const char *code, *title, *explanation;
  const char *command, *model; /* an example; the model may be "" */
};
const struct diag_entry *diag_entry(enum diag_code);
enum diag_level diag_code_level(enum diag_code);
const char *diag_level_name(enum diag_level);            /* "error" */
bool diag_code_find(const char *text, enum diag_code *); /* in upper or lower case */

struct diag {
  enum diag_code code; /* its first letter says whether it is an error or a warning */
  struct span at;
  char *message;
  char *help; /* or NULL */
};

struct diags {
  const struct source *source; /* borrowed */
  struct diag *at;
  size_t n, cap, errors;
  size_t searched;                   /* candidates compared for suggestions so far */
  bool dropped;                      /* the last diagnostic was dropped, so its help is dropped too */
  const volatile sig_atomic_t *stop; /* not 0: give up; borrowed, or NULL */
  bool stopped;                      /* it was given up: counts as an error, and nothing is reported any more */
};

void diags_init(struct diags *, const struct source *);
void diags_release(struct diags *);
/* Must the text be given up? To be asked again and again by all that reads it. */
bool diags_stopped(struct diags *);

/* Only the first error at each starting offset is kept; it usually describes the fault best. */
void diag_error(struct diags *, enum diag_code, struct span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_errorv(struct diags *, enum diag_code, struct span, const char *format, va_list)
    __attribute__((format(printf, 4, 0)));
void diag_warning(struct diags *, enum diag_code, struct span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Added to the last diagnostic; dropped if that one was dropped. */
void diag_help(struct diags *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_helpv(struct diags *, const char *format, va_list) __attribute__((format(printf, 2, 0)));

/* Prints all diagnostics: path:line:column: error[E0123]: message / source line / caret / help. */
void diags_print(const struct diags *, bool colour, struct text *);
/* Passes the diagnostics to a callback one by one, in the same order. If there are too many, the last call has a NULL
   diag and the number of the remaining ones. */
typedef void diag_fn(void *context, const struct diag *, const char *shown);
void diags_each(const struct diags *, bool colour, diag_fn *, void *context);

void source_place(const struct source *, uint32_t offset, uint32_t *line, uint32_t *column); /* 1-based */
uint32_t source_line_number(const struct source *, struct span); /* the line of the first byte */
/* Adds the text on one line: blanks, line breaks and comments between two words become one blank. */
void source_add_text(const struct source *, struct span, struct text *out);
/* The line's text without its newline; *length bytes. */
const char *source_line(const struct source *, uint32_t line, size_t *length);

/* The same line numbers by binary search, for code that asks for many. */
struct source_lines {
  const struct source *source; /* borrowed */
  VEC(uint32_t) starts;        /* the offset of each line */
};
void source_lines_init(struct source_lines *, const struct source *);
void source_lines_release(struct source_lines *);
void source_lines_place(const struct source_lines *, uint32_t offset, uint32_t *line, uint32_t *column);

/* The candidate nearest to a name in edit distance, found by offering one candidate after the other. */
struct nearest {
  const char *name;
  size_t length, distance;
  const char *found; /* NULL: none was near */
};
void nearest_init(struct nearest *, const char *name);
void nearest_offer(struct nearest *, const char *candidate);
const char *nearest_name(const char *name, const char *const *candidates, size_t n); /* NULL: none is near */
/* May the help for the last diagnostic search through so many candidates? Not if the diagnostic was dropped, or if all
   searches together have taken too long. */
bool diag_may_search(struct diags *, size_t candidates);

#endif
