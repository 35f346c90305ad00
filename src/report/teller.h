/* What the parts of a told run share: values, groups of processes that do the same, lines with a
 * label. */
#ifndef RONDO_REPORT_TELLER_H
#define RONDO_REPORT_TELLER_H

#include "report/layout.h"
#include "trace/trace.h"

struct teller {
  const struct trace *trace;
  const struct model *model;
  const struct style *style;
  struct text *out;
  uint32_t until; /* steps: told together are only those before it */
};

/* Processes that do the same are told together. */
struct group {
  char *what;
  uint8_t *members;
};
struct groups {
  VEC(struct group) at;
};
void groups_add(struct groups *, const struct teller *, uint32_t process,
                struct text *what); /* takes the text */
/* "P(1), P(3): what" for each group, and releases them. */
void groups_print(struct groups *, const struct teller *, const char *label, bool one_each);
void groups_release(struct groups *);

uint32_t teller_line(const struct model *, struct span);
void teller_value(const struct teller *, struct text *, const struct type *,
                  value); /* shortened unless verbose */
void teller_heading(const struct teller *, const char *);
void teller_phrase(const struct teller *, const char *label, const char *phrase);

/* Each part of an array or record that differs; of other types, the whole. */
typedef void teller_part_fn(const struct teller *, const struct type *, const char *place,
                            value before, value after, void *context);
void teller_parts(const struct teller *, const struct type *, const char *place, value before,
                  value after, teller_part_fn *, void *context);
/* "x 2 -> 1"; of arrays and records only the parts that differ; after a comma if there is something already. */
void teller_change(const struct teller *, const struct type *, const char *place, value before,
                   value after, struct text *);
/* "  (lines 3, 4)": where the changes were made, unless that is known. */
void teller_lines(const struct teller *, const struct change *, size_t n, uint32_t known,
                  struct text *);

/* Is its first value chosen, so that the start has to tell it? Verbose: all. */
bool teller_tells_start(const struct teller *, const struct var *);
/* "round 3: vote, phase 2" */
void teller_round_title(const struct teller *, uint32_t step, struct text *);
/* "coord = P(1), ...": what is chosen for the process in that round. */
void teller_oracles(const struct teller *, uint32_t step, uint32_t process, struct text *);
/* Round number step + 1: what was chosen and sent, who heard whom, what changed. */
void teller_round(const struct teller *, uint32_t step);

/* Fine rounds: who ended which round when, and where everybody is. */
void teller_order(const struct teller *);

/* Steps from .. to - 1 of a run of them, under a heading. */
void teller_steps(const struct teller *, const char *heading, uint32_t from, uint32_t to);
/* Of a run that goes on for ever: how it can, although the environment assumes what it does. */
void teller_assumptions(const struct teller *, struct meaning *);
/* Messages on their way, by receiver, after a label. */
void teller_flight(const struct teller *, const struct config *, const char *label);

#endif
