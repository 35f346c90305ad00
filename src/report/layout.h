/* Formatting for reports: colours, numbers, lists of processes, wrapped lines. */
#ifndef RONDO_REPORT_LAYOUT_H
#define RONDO_REPORT_LAYOUT_H

#include "base/vec.h"
#include "model/model.h"

struct style {
  bool colour;
  bool verbose;
  unsigned width; /* columns */
};

enum paint { PAINT_GOOD, PAINT_BAD, PAINT_UNSURE, PAINT_TITLE, PAINT_FAINT, PAINT_NONE };
void paint_add(struct text *, const struct style *, enum paint, const char *);

void number_add(struct text *, uint64_t);                                   /* 9,830,401 */
void decimal_add(struct text *, const char *);                              /* the same for a string of digits */
void bytes_add(struct text *, uint64_t);                                    /* 1.2 MiB */
void seconds_add(struct text *, double);                                    /* 0.02 s, 3 min 20 s */
void count_add(struct text *, uint64_t, const char *one, const char *many); /* 1 round, 2 rounds */
void param_add(struct text *, const struct param *);                        /* its value */
void params_add(struct text *, const struct model *);                       /* n = 4, k = 2 */

/* members[p] != 0: P(1), P(3)..P(6); everybody; every Acceptor, everybody but P(2); nobody */
void processes_add(struct text *, const struct model *, const uint8_t *members);

/* The display width of n bytes: escape sequences count 0, UTF-8 characters 1. */
size_t text_columns(const char *, size_t n);

/* Items after a label, wrapped; continuation lines have the same indentation. Items are owned. */
struct text_items {
  VEC(char *) at;
};
void items_add(struct text_items *, struct text *); /* takes ownership of the text */
void items_print(struct text_items *, const struct style *, const char *label, bool one_each, struct text *out);
void items_release(struct text_items *);
/* Prints one item on its own line; under: with more indentation, below another item. */
void item_print(const char *label, const char *item, const struct style *, bool under, struct text *out);

#endif
