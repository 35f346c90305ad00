#include "report/trace_html.h"

#include "report/diagram.h"
#include "report/svg.h"

#include <string.h>

#define PAGE_WIDTH 110 /* characters per line of the run */

static const char style[] =
    "<style>\n"
    "body{font:16px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:100rem;padding:0 "
    "1rem;color:#24292f;background:#fff}\n"
    ".bad{color:#c4232b}.good{color:#1a7f37}.drawing{overflow-x:auto;border:1px solid #d0d7de;border-radius:6px}\n"
    "pre,summary{font:14px/1.45 ui-monospace,Menlo,Consolas,'DejaVu Sans "
    "Mono',monospace;margin:0;white-space:pre-wrap}\n"
    "summary{cursor:pointer}details{margin:.3rem 0}details details,details pre{margin-left:1.2rem}\n"
    "@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}.bad{color:#ff7b72}.good{color:#56d364}"
    ".drawing{border-color:#30363d}}\n"
    "</style>\n";

/* The part that a mark starts: its first line, which stays visible when collapsed, and the others. */
static void add_part(const char *text, size_t n, struct text *out) {
  bool first = true, pre = false;
  for (size_t i = 0, length; i < n; i += length + 1) {
    struct text line = {0};
    length = strcspn(text + i, "\n");
    text_add_n(&line, text + i, length);
    if (length > 0 && first) {
      text_add(out, "<details open><summary>");
      text_add_escaped(out, line.at + strspn(line.at, " "));
      text_add(out, "</summary>\n");
    } else if (length > 0) {
      text_add(out, pre ? "\n" : "<pre>");
      text_add_escaped(out, line.at);
      pre = true;
    }
    first &= length == 0;
    text_release(&line);
  }
  text_add(out, pre ? "</pre>\n" : "");
}

/* Sections; in step models, they contain the steps with their effects. */
static void add_run(const struct trace_document *d, struct text *out) {
  bool section = false, step = false;
  for (size_t i = 0; i < d->marks.n; i++) {
    const struct trace_mark *m = &d->marks.at[i];
    size_t end = i + 1 < d->marks.n ? m[1].at : d->run.n;
    text_add(out, step ? "</details>\n" : "");
    text_add(out, section && !m->step ? "</details>\n" : "");
    step = m->step;
    section = true;
    add_part(d->run.at + m->at, end - m->at, out);
  }
  text_add(out, step ? "</details>\n" : "");
  text_add(out, section ? "</details>\n" : "");
}

static void add_verdict(const struct trace_document *d, const struct trace *t, struct text *out) {
  const struct property *p = trace_property(t);
  text_addf(out, "<h1>");
  text_add_escaped(out, p ? p->name : t->model->name);
  if (t->claim.error)
    text_add(out, " <span class=\"bad\">ends in an error</span>");
  else if (p)
    text_add(out, d->good ? " <span class=\"good\">is reached</span>" : " <span class=\"bad\">is VIOLATED</span>");
  text_addf(out, "</h1>\n<p>%s; ", d->subject.at);
  count_add(out, t->run.nsteps, step_word(t->model), model_steps(t->model) ? "steps" : "rounds");
  text_add(out, "</p>\n");
}

void trace_html(const struct trace *t, struct interpreter *interp, struct text *out) {
  struct style plain = {.width = PAGE_WIDTH};
  struct trace_document d;
  struct text explanation = {0};
  trace_document_make(&d, t, interp, &plain);
  text_addf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n%s</head>\n<body>\n",
            d.subject.at, style);
  add_verdict(&d, t, out);
  text_add(out, "<div class=\"drawing\">\n");
  trace_document_svg(&d, t, &diagram_whole, out);
  text_add(out, "</div>\n<h2>The run</h2>\n");
  add_run(&d, out);
  trace_document_explanation(&d, &plain, &explanation);
  if (explanation.n > 0) {
    text_add(out, "<pre>");
    text_add_escaped(out, explanation.at);
    text_add(out, "</pre>\n");
  }
  text_release(&explanation);
  trace_document_release(&d);
  text_add(out, "</body>\n</html>\n");
}
