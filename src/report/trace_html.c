/* The page is viewer/viewer.html, in which @@NAME@@ is replaced. Without scripts it still shows everything but states.
 */
#include "report/trace_html.h"

#include "report/diagram.h"
#include "report/svg.h"
#include "report/trace_view.h"
#include "report/viewer_files.h"
#include "trace/trace_json.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_WIDTH 90 /* characters per line of the run */

struct page {
  const struct trace *trace;
  struct interpreter *interp;
  struct trace_document document;
};

/* --- the run --- */

/* The part that a mark starts. Its first line is a heading, unless it is a step. */
static void add_part(const struct trace_mark *m, const char *text, size_t n, struct text *out) {
  struct text part = {0};
  while (n > 0 && *text == '\n')
    text++, n--;
  while (n > 0 && text[n - 1] == '\n')
    n--;
  text_add_n(&part, text, n);
  text_add(out, "<section class=\"part\"");
  if (m->first != PART_OTHER)
    text_addf(out, " data-first=\"%u\" data-last=\"%u\"", m->first, m->last);
  text_add(out, "><pre>");
  text_add_escaped(out, text_or_empty(&part));
  text_add(out, "</pre></section>\n");
  text_release(&part);
}

static void add_run(const struct page *p, struct text *out) {
  const struct trace_document *d = &p->document;
  const struct style plain = {.width = PAGE_WIDTH};
  struct text explanation = {0};
  for (size_t i = 0; i < d->marks.n; i++) {
    const struct trace_mark *m = &d->marks.at[i];
    size_t end = i + 1 < d->marks.n ? m[1].at : d->run.n;
    add_part(m, d->run.at + m->at, end - m->at, out);
  }
  trace_document_explanation(d, &plain, &explanation);
  const struct trace_mark rest = {.first = PART_OTHER};
  if (explanation.n > 0)
    add_part(&rest, explanation.at, explanation.n, out);
  text_release(&explanation);
}

/* --- the verdict --- */

static void add_verdict(const struct page *p, struct text *out) {
  const struct property *property = trace_property(p->trace);
  bool error = p->trace->claim.error, good = p->document.good;
  text_add_escaped(out, property ? property->name : p->trace->model->name);
  if (error)
    text_add(out, " <span class=\"bad\">ends in an error</span>");
  else if (property)
    text_add(out, good ? " <span class=\"good\">is reached</span>" : " <span class=\"bad\">is VIOLATED</span>");
}

static void add_subject(const struct page *p, struct text *out) {
  const struct trace *t = p->trace;
  text_add_escaped(out, p->document.subject.at);
  text_add(out, "; ");
  count_add(out, t->run.nsteps, step_word(t->model), model_steps(t->model) ? "steps" : "rounds");
}

static void add_details(const struct page *p, struct text *out) {
  text_add_escaped(out, text_or_empty(&p->document.title));
  text_add_escaped(out, text_or_empty(&p->document.place));
  text_add(out, p->document.title.n ? "\n" : "");
  text_add_escaped(out, text_or_empty(&p->document.details));
}

/* --- the model --- */

static void add_source(const struct page *p, struct text *out) {
  const struct source *source = &p->trace->model->source;
  const struct property *property = trace_property(p->trace);
  uint32_t claimed = property ? source_line_number(source, property->at) : 0;
  const char *at = source->text, *end = source->text + source->length;
  for (uint32_t line = 1; at < end; line++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    struct text words = {0};
    text_add_n(&words, at, (size_t)((stop ? stop : end) - at));
    text_addf(out, "<li id=\"line-%u\"%s><code>", line, line == claimed ? " class=\"claimed\"" : "");
    text_add_escaped(out, text_or_empty(&words));
    text_add(out, "</code></li>\n");
    text_release(&words);
    at = stop ? stop + 1 : end;
  }
}

/* JSON inside HTML: the signs that could end the element are written as escapes. They only occur in strings. */
static void add_json(json_t *j, struct text *out) {
  char *dump = j ? json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
  for (const char *s = dump ? dump : "null"; *s; s++) {
    if (*s == '<' || *s == '>' || *s == '&')
      text_addf(out, "\\u%04x", (unsigned)*s);
    else
      text_add_n(out, s, 1);
  }
  free(dump);
  json_decref(j);
}

static void add_diagram(const struct page *p, struct text *out) {
  const struct diagram_options how = {.caption = false, .fold = true};
  trace_document_svg(&p->document, p->trace, &how, out);
}

/* --- the page --- */

static void add_title(const struct page *p, struct text *out) {
  const struct property *property = trace_property(p->trace);
  if (property) {
    text_add_escaped(out, property->name);
    text_add(out, ": ");
  }
  text_add_escaped(out, p->document.subject.at);
}
static void add_file(const struct page *p, struct text *out) { text_add_escaped(out, p->trace->model->source.path); }
static void add_style(const struct page *p, struct text *out) {
  (void)p;
  text_add(out, viewer_css);
}
static void add_script(const struct page *p, struct text *out) {
  (void)p;
  text_add(out, viewer_js);
}
static void add_trace(const struct page *p, struct text *out) { add_json(trace_to_json(p->trace, p->interp), out); }
static void add_view(const struct page *p, struct text *out) { add_json(trace_view(p->trace), out); }

static const struct {
  const char *name;
  void (*add)(const struct page *, struct text *);
} places[] = {{"TITLE", add_title},     {"STYLE", add_style}, {"VERDICT", add_verdict}, {"SUBJECT", add_subject},
              {"DETAILS", add_details}, {"RUN", add_run},     {"SOURCE", add_source},   {"FILE", add_file},
              {"DIAGRAM", add_diagram}, {"TRACE", add_trace}, {"VIEW", add_view},       {"SCRIPT", add_script}};

void trace_html(const struct trace *t, struct interpreter *interp, struct text *out) {
  const struct style plain = {.width = PAGE_WIDTH};
  struct page p = {.trace = t, .interp = interp};
  const char *at = viewer_body;
  trace_document_make(&p.document, t, interp, &plain);
  for (const char *place = strstr(at, "@@"); place; place = strstr(at, "@@")) {
    text_add_n(out, at, (size_t)(place - at));
    at = place + 2;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
      if (!strncmp(at, places[i].name, strlen(places[i].name)) && !strncmp(at + strlen(places[i].name), "@@", 2)) {
        places[i].add(&p, out);
        at += strlen(places[i].name) + 2;
        break;
      }
  }
  text_add(out, at);
  trace_document_release(&p.document);
}
