/* The tables of the five papers, row by row beside what rondo says. */
#ifndef RONDO_REPORT_REPRODUCTION_H
#define RONDO_REPORT_REPRODUCTION_H

#include "report/layout.h"

#include <stdbool.h>

enum row_verdict { /* what a row says of its query */
                   ROW_HOLDS,
                   ROW_VIOLATED,
                   ROW_UNDECIDED /* the paper: out of memory or time, or not tried; ours: inconclusive */
};
const char *row_verdict_name(enum row_verdict);

struct published_row {
  const char *setting; /* "n = 3" */
  const char *way;     /* how it was checked there: "partition", "M-MP, symmetry", ... */
  enum row_verdict paper;
  double states;         /* 0: not said */
  const char *memory;    /* as printed, or NULL */
  double seconds;        /* below 0: not said; 0: "~0" */
  const char *command;   /* of rondo: "check herlihy.rondo -D n=3"; files are those of models/ */
  enum row_verdict ours; /* what is right; where the paper says otherwise, note says why */
  const char *note;      /* or NULL */
};

struct published_table {
  const char *name; /* "barbosa-1" */
  const char *title;
  const char *tool;                 /* the paper's */
  bool growth;                      /* its point is how states grow: drawn */
  const char *about;                /* what differs, for all rows */
  const struct published_row *rows; /* the last one has no setting */
};

struct published { /* all of them */
  struct published_table *tables;
  size_t n;
  struct json_t *document; /* owns the texts */
};
/* False: *why. To be released in either case. */
bool published_read(struct published *, const char *text, size_t length, struct text *why);
void published_release(struct published *);
size_t published_nrows(const struct published_table *);

struct reproduced_row {
  bool done; /* else the run ended before it */
  enum row_verdict verdict;
  bool has_states;
  double states, seconds;
  double memory;  /* bytes; 0: not known */
  char *distance; /* of rounds, found; owned, or NULL */
  char *fault;    /* what went wrong, if it did; owned */
};

struct reproduction {
  const struct published_table *table;
  struct reproduced_row *rows; /* of the table's */
};
bool reproduction_right(const struct reproduction *); /* every row is what it should be */
void reproduction_release(struct reproduction *);

void reproduction_text(const struct reproduction *, const struct style *, struct text *);
void reproduction_markdown(const struct reproduction *, struct text *);
void reproduction_csv(const struct reproduction *, bool head, struct text *);
void reproduction_json(const struct reproduction *, size_t n, struct text *);
void reproduction_svg(const struct reproduction *, struct text *); /* states against rows, on a logarithmic scale */

#endif
