/* A trace as text: the start; for each round the messages sent, the heard-of sets and the changes with their lines, or
   for each step the process, its action, its messages and its effects; at the end what fails, with the values
   involved. */
#ifndef RONDO_REPORT_TRACE_TEXT_H
#define RONDO_REPORT_TRACE_TEXT_H

#include "report/layout.h"
#include "trace/trace.h"

/* The trace as structured text, from which text output, HTML pages and captions of diagrams are made. */
#define PART_OTHER UINT32_MAX
struct trace_mark {     /* the start of a part, whose first line summarises it */
  size_t at;            /* offset in `run` */
  bool step;            /* steps; otherwise a section: the start, a round, the steps, ... */
  uint32_t first, last; /* the numbers of the steps or rounds that it is about; the start: 0; PART_OTHER: none */
};
struct trace_document {
  struct text subject; /* "OneThirdRule, n = 3, environment free" */
  struct text run;     /* the start, the rounds or steps */
  VEC(struct trace_mark) marks;
  struct text reasons;      /* why the run may continue forever */
  struct text title, place; /* "now agreement fails", "  (line 28)"; an empty title: no claim */
  struct text details;      /* the formula and its values, or the place of the error */
  bool good;                /* nothing fails: a cover is reached */
  /* The processes that the instance of the property that fails (or is reached) is about; all: everyone, or unknown. */
  VEC(uint32_t) witnesses;
  bool all_witnesses;
};
void trace_document_make(struct trace_document *, const struct trace *, struct interpreter *, const struct style *);
void trace_document_release(struct trace_document *);

/* Parts of the document as text. */
void trace_document_explanation(const struct trace_document *, const struct style *, struct text *);
void trace_print(const struct trace *, const struct style *, struct text *); /* the start, the rounds or steps */
void trace_explain(const struct trace *, struct interpreter *, const struct style *, struct text *); /* the end */

#endif
