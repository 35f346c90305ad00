#include "report/verdict_text.h"

#include <string.h>

const char *verdict_word(enum verdict v, bool brief) {
  static const char *const words[] = {"holds", "inconclusive", "VIOLATED"};
  return brief && v == VERDICT_INCONCLUSIVE ? "inconcl." : words[v];
}

enum paint verdict_paint(enum verdict v) {
  static const enum paint paints[] = {PAINT_GOOD, PAINT_UNSURE, PAINT_BAD};
  return paints[v];
}

void verdict_table_init(struct text_table *t) {
  *t = (struct text_table){.indent = 2, .gap = 3};
  text_table_column(t, "", ALIGN_LEFT, 0);
  text_table_column(t, "", ALIGN_LEFT, strlen(verdict_word(VERDICT_INCONCLUSIVE, false)));
  text_table_column(t, "", ALIGN_LEFT, 0);
}

void verdict_table_add(struct text_table *t, const char *name, enum verdict v, const char *proved) {
  text_table_add_word(t, name, PAINT_NONE);
  text_table_add_word(t, verdict_word(v, false), verdict_paint(v));
  text_table_add_word(t, proved, PAINT_NONE);
}

void verdict_table_print(struct text_table *t, const struct style *style, struct text *out) {
  text_table_print_rows(t, style, out);
  text_table_release(t);
}

void verdict_add_every_run(struct text *out, const struct model *m, const struct licences *l) {
  text_add(out, "every run");
  if (m->nparams > 0)
    text_add(out, ", ");
  params_add(out, m);
  const char *between = " (unlicensed: ";
  for (unsigned i = 0; i < REDUCTIONS; i++)
    if (l->of[i].forced) {
      text_addf(out, "%s%s was forced", between, reduction_name(i));
      between = ", ";
    }
  if (l->unlicensed)
    text_add(out, between[0] == ' ' ? " (unlicensed)" : ")");
}

void verdict_add_missed(struct text *out, const struct search *s) {
  double missed = search_omission_probability(s);
  if (s->limits.signature && missed < 1)
    text_addf(out, ", but for a state missed with probability at most %.2g", missed);
  else if (s->limits.signature)
    text_add(out, ", but for states that are likely to have been missed");
}

void verdict_add_length(struct text *out, bool steps, uint64_t n) {
  count_add(out, n, steps ? "step" : "round", steps ? "steps" : "rounds");
}

void verdict_add_limit(struct text *out, enum search_end end, const struct limits *limits, const char *why) {
  switch (end) {
  case SEARCH_STATES:
    text_add(out, "the limit of ");
    count_add(out, limits->states, "state", "states");
    text_add(out, " was reached");
    break;
  case SEARCH_MEMORY:
    text_add(out, "the limit of ");
    bytes_add(out, limits->memory);
    text_add(out, " of memory was reached");
    break;
  case SEARCH_TIME:
    text_add(out, "the limit of ");
    seconds_add(out, limits->seconds_asked > 0 ? limits->seconds_asked : limits->seconds);
    text_add(out, " was reached");
    break;
  case SEARCH_INTERRUPTED:
    text_add(out, "interrupted");
    break;
  case SEARCH_GAVE_UP:
    text_add(out, why ? why : "the solver gave up");
    break;
  case SEARCH_MODEL_ERROR:
    text_add(out, "the model has an error");
    break;
  case SEARCH_EXHAUSTED:
  case SEARCH_DECIDED:
    break;
  }
}

void verdict_add_after(struct text *out, bool steps, uint64_t n) {
  if (n == 0) {
    text_add(out, "in an initial state");
  } else {
    text_add(out, "after ");
    verdict_add_length(out, steps, n);
  }
}

void verdict_add_faulty(struct text *out, uint64_t n) {
  if (n > 0) {
    text_add(out, ", ");
    count_add(out, n, "faulty process", "faulty processes");
  }
}
