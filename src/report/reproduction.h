/* The tables of the five papers, row by row, beside rondo's results. */
#ifndef RONDO_REPORT_REPRODUCTION_H
#define RONDO_REPORT_REPRODUCTION_H

#include "report/layout.h"

#include <stdbool.h>

enum row_verdict { /* verdict of a row */
                   ROW_HOLDS,
                   ROW_VIOLATED,
                   ROW_UNDECIDED /* the paper: out of memory or time, or not tried; ours: inconclusive */
};
const char *row_verdict_name(enum row_verdict);

struct published_row {
  const char *setting; /* "n = 3" */
  const char *way;     /* the paper's method: "partition", "M-MP, symmetry", ... */
  enum row_verdict paper;
  double states;         /* 0: not given */
  const char *memory;    /* as printed, or NULL */
  double seconds;        /* negative: not given; 0: "~0" */
  const char *command;   /* for rondo: "check herlihy.rondo -D n=3"; file names refer to models/ */
  enum row_verdict ours; /* the correct verdict; if the paper differs, note says why */
  const char *note;      /* or NULL */
};

struct published_table {
  const char *name; /* "barbosa-1" */
  const char *title;
  const char *tool;                 /* the tool used in the paper */
  bool growth;                      /* the table shows the growth of the state space: draw a chart */
  const char *about;                /* differences that concern all rows */
  const struct published_row *rows; /* terminated by a row without a setting */
};

struct published { /* all tables */
  struct published_table *tables;
  size_t n;
  struct json_t *document; /* owns the texts */
};
/* Returns false with the reason in *why. The result must be released in either case. */
bool published_read(struct published *, const char *text, size_t length, struct text *why);
void published_release(struct published *);
size_t published_nrows(const struct published_table *);

struct reproduced_row {
  bool done; /* false: the run ended before this row */
  enum row_verdict verdict;
  bool has_states;
  double states, seconds;
  double memory;  /* bytes; 0: unknown */
  char *distance; /* round distance found; owned, or NULL */
  char *fault;    /* what went wrong, or NULL; owned */
};

struct reproduction {
  const struct published_table *table;
  struct reproduced_row *rows; /* by row of the table */
};
bool reproduction_right(const struct reproduction *); /* every row has the correct verdict */
void reproduction_release(struct reproduction *);

void reproduction_text(const struct reproduction *, const struct style *, struct text *);
void reproduction_markdown(const struct reproduction *, struct text *);
void reproduction_csv(const struct reproduction *, bool head, struct text *);
void reproduction_json(const struct reproduction *, size_t n, struct text *);
void reproduction_svg(const struct reproduction *,
                      struct text *); /* a chart of states by row, on a logarithmic scale */

#endif
