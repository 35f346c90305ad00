#include "report/trace_html.h"

#include "report/diagram.h"
#include "report/svg.h"
#include "report/trace_text.h"

#include <string.h>

#define PAGE_WIDTH 110 /* characters of a line of the run_text */

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

/* A line of the run_text, without its end; NULL after the last. */
static char *next_line(char **rest) {
  char *line = *rest;
  if (!*line)
    return NULL;
  size_t n = strcspn(line, "\n");
  *rest = line + n + (line[n] == '\n');
  line[n] = '\0';
  return line;
}

/* What opens and closes: a heading, and in it, of models of steps, each step with what comes of it. */
struct html_sections {
  struct text *out;
  bool section, step, pre;
};

static void close_pre(struct html_sections *f) {
  text_add(f->out, f->pre ? "</pre>\n" : "");
  f->pre = false;
}

static void close_step(struct html_sections *f) {
  close_pre(f);
  text_add(f->out, f->step ? "</details>\n" : "");
  f->step = false;
}

static void close_section(struct html_sections *f) {
  close_step(f);
  text_add(f->out, f->section ? "</details>\n" : "");
  f->section = false;
}

static void open_summary(struct html_sections *f, const char *line) {
  text_add(f->out, "<details open><summary>");
  text_add_escaped(f->out, line);
  text_add(f->out, "</summary>\n");
}

static void add_line(struct html_sections *f, const char *line) {
  text_add(f->out, f->pre ? "\n" : "<pre>");
  f->pre = true;
  text_add_escaped(f->out, line);
}

/* "  3-4.    P(1) takes ...": a step of a run of steps. */
static bool begins_step(const char *line) {
  const char *number = line + strspn(line, " ");
  size_t n = strspn(number, "0123456789-");
  return n > 0 && number > line && number[n] == '.';
}

static void add_story(const struct trace *t, struct text *out) {
  struct style plain = {.width = PAGE_WIDTH};
  struct text run_text = {0};
  struct html_sections f = {.out = out};
  trace_print(t, &plain, &run_text);
  char *rest = run_text.at, *line;
  while (rest && (line = next_line(&rest)) != NULL) {
    if (!*line)
      continue;
    if (*line != ' ') {
      close_section(&f);
      open_summary(&f, line);
      f.section = true;
    } else if (model_steps(t->model) && begins_step(line)) {
      close_step(&f);
      open_summary(&f, line + strspn(line, " "));
      f.step = true;
    } else {
      add_line(&f, line);
    }
  }
  close_section(&f);
  text_release(&run_text);
}

static void add_verdict(const struct trace *t, struct text *out) {
  const struct claim *c = &t->claim;
  const struct property *p = c->property == NO_PROPERTY ? NULL : &t->model->properties[c->property];
  bool cover = p && p->kind == PROPERTY_COVER;
  text_addf(out, "<h1>");
  text_add_escaped(out, p ? p->name : t->model->name);
  if (c->error)
    text_add(out, " <span class=\"bad\">ends in an error</span>");
  else if (p)
    text_addf(out, cover ? " <span class=\"good\">is reached</span>" : " <span class=\"bad\">is VIOLATED</span>");
  text_add(out, "</h1>\n<p>");
  trace_subject(t, out);
  text_add(out, "; ");
  count_add(out, t->run.nsteps, step_word(t->model), model_steps(t->model) ? "steps" : "rounds");
  text_add(out, "</p>\n");
}

void trace_html(const struct trace *t, struct interpreter *interp, struct text *out) {
  struct style plain = {.width = PAGE_WIDTH};
  struct text explanation = {0};
  text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
  trace_subject(t, out);
  text_addf(out, "</title>\n%s</head>\n<body>\n", style);
  add_verdict(t, out);
  text_add(out, "<div class=\"drawing\">\n");
  trace_svg(t, interp, out);
  text_add(out, "</div>\n<h2>The run</h2>\n");
  add_story(t, out);
  trace_explain(t, interp, &plain, &explanation);
  if (explanation.n > 0) {
    text_add(out, "<pre>");
    text_add_escaped(out, explanation.at);
    text_add(out, "</pre>\n");
  }
  text_release(&explanation);
  text_add(out, "</body>\n</html>\n");
}
