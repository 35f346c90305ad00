/* A trace in words: how it starts; for each round what was sent, who heard whom, what changed and on which line, or
   for each step who does what with which messages, and what comes of it; and at the end what fails and with which
   values. */
#ifndef RONDO_REPORT_TRACE_TEXT_H
#define RONDO_REPORT_TRACE_TEXT_H

#include "report/layout.h"
#include "trace/trace.h"

/* The trace in words, with its structure: text, HTML pages and captions of diagrams are made of it. */
struct trace_mark { /* something begins there, with a line that stands for all of it */
  size_t at;        /* in `run` */
  bool step;        /* a step; else a section: the start, a round, the steps, ... */
};
struct trace_document {
  struct text subject; /* "OneThirdRule, n = 3, environment free" */
  struct text run;     /* the start, the rounds or steps */
  VEC(struct trace_mark) marks;
  struct text reasons;      /* why the run may go on for ever */
  struct text title, place; /* "now agreement fails", "  (line 28)"; no title: nothing is claimed */
  struct text details;      /* the formula and its values, or where the error is */
  bool good;                /* nothing fails: a cover is reached */
};
void trace_document_make(struct trace_document *, const struct trace *, struct interpreter *, const struct style *);
void trace_document_release(struct trace_document *);

/* Parts of it as text. */
void trace_document_explanation(const struct trace_document *, const struct style *, struct text *);
void trace_print(const struct trace *, const struct style *, struct text *); /* the start, the rounds or steps */
void trace_explain(const struct trace *, struct interpreter *, const struct style *, struct text *); /* the end */

#endif
