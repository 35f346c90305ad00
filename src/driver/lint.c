/* rondo lint: warnings, and for each question the licences of the reductions. */
#include "driver/commands.h"
#include "driver/load.h"
#include "driver/question.h"
#include "driver/semantics.h"
#include "driver/context.h"
#include "model/live.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "trace/event_json.h"

struct linting {
  const struct options *options;
  const struct syntax *syntax;
  const struct binding *bindings;
  struct model *model; /* the one that is being asked about */
  struct arena arena;
  struct style style;
};

static void lint_line(const struct linting *l, const char *name, const struct licence *licence,
                      struct text *out) {
  uint32_t line, column;
  text_addf(out, "  %-14s ", name);
  paint_add(out, &l->style, licence->granted ? PAINT_GOOD : PAINT_UNSURE,
            licence->granted ? "granted" : "refused");
  text_add(out, "  ");
  if (licence->at.to > 0) {
    source_place(&l->model->source, licence->at.from, &line, &column);
    text_addf(out, "%s:%u: ", l->model->source.path, line);
  }
  text_addf(out, "%s\n", licence->reason);
}

static void lint_text(struct linting *l, const struct question *q, const struct licences *licences,
                      const struct licence *semantics) {
  struct text out = {0}, title = {0}, name = {0};
  const struct model *m = l->model;
  text_addf(&title, "in environment %s", m->environments[q->environment].name);
  for (uint32_t i = 0; i < q->nproperties; i++)
    text_addf(&title, "%s%s", i ? ", " : ": ", m->properties[q->properties[i]].name);
  paint_add(&out, &l->style, PAINT_TITLE, title.at);
  text_add(&out, "\n");
  text_addf(&name, "semantics %s", semantics_name(q->semantics));
  if (m->kind == MODEL_MESSAGES)
    lint_line(l, name.at, semantics, &out);
  for (unsigned i = 0; i < REDUCTIONS; i++) {
    if (!licences->of[i].concerns)
      continue;
    lint_line(l, reduction_name(i), &licences->of[i], &out);
    if (l->options->verbose)
      text_addf(&out, "  %-14s          %s\n", "", reduction_text(i));
  }
  text_release(&title);
  text_release(&name);
  say(l->options->rondo, &out);
}

static json_t *lint_json(struct linting *l, const struct question *q,
                         const struct licences *licences, const struct licence *semantics) {
  const struct model *m = l->model;
  json_t *names = json_array();
  for (uint32_t i = 0; i < q->nproperties; i++)
    json_array_append_new(names, json_string(m->properties[q->properties[i]].name));
  return json_pack("{s:s, s:o, s:{s:s, s:b, s:s, s:o}, s:o}", "environment",
                   m->environments[q->environment].name, "properties", names, "semantics", "name",
                   semantics_name(q->semantics), "granted", semantics->granted, "reason",
                   semantics->reason, "line", line_to_json(m, semantics->at), "reductions",
                   licences_json(licences, m));
}

static void lint_question(struct linting *l, const struct question *q, json_t *questions) {
  const struct licences *licences = licences_grant(l->model, q, &l->options->wishes, &l->arena);
  struct licence chosen = semantics_licence(l->model, q, &l->arena);
  if (l->options->json)
    json_array_append_new(questions, lint_json(l, q, licences, &chosen));
  else
    lint_text(l, q, licences, &chosen);
}

/* A live property is asked about a model of its own. */
static bool lint_live(struct linting *l, const struct inquiry_live *in, enum semantics semantics, json_t *questions) {
  struct text error = {0};
  struct live_form form;
  struct model *whole = l->model;
  l->model = model_load(l->syntax, l->bindings, l->options->defines.n, true, true, &error);
  bool ok = l->model;
  if (ok) {
    live_form_make(&form, l->model, in->property, in->environment);
    lint_question(l,
                  &(struct question){.environment = in->environment,
                                     .semantics = semantics,
                                     .properties = &in->property,
                                     .nproperties = 1,
                                     .atoms = form.atoms,
                                     .natoms = form.natoms},
                  questions);
    live_form_release(&form);
    model_free(l->model);
  }
  l->model = whole;
  text_release(&error);
  return ok;
}

static int lint_model(struct linting *l) {
  struct inquiries in;
  enum semantics semantics;
  if (!semantics_choose(l->model, l->options, &semantics) ||
      !inquiries_make(&in, l->model, l->options))
    return EXIT_BAD_INPUT;
  json_t *questions = json_array();
  for (size_t i = 0; i < in.at.n; i++)
    lint_question(l,
                  &(struct question){.environment = in.at.at[i].environment,
                                     .semantics = semantics,
                                     .properties = in.at.at[i].properties.at,
                                     .nproperties = (uint32_t)in.at.at[i].properties.n},
                  questions);
  bool ok = true;
  for (size_t i = 0; i < in.live.n && ok; i++)
    ok = lint_live(l, &in.live.at[i], semantics, questions);
  if (l->options->json) {
    struct text out = {0};
    json_t *j = json_pack("{s:s, s:s, s:O}", "schema", "rondo-lint/1", "model", l->model->name,
                          "questions", questions);
    json_text(j, &out);
    json_decref(j);
    say(l->options->rondo, &out);
  }
  json_decref(questions);
  inquiries_release(&in);
  return ok ? EXIT_HOLDS : EXIT_BAD_INPUT;
}

int command_lint(const struct options *o) {
  struct syntax syntax;
  struct text error = {0};
  const char *path = only_file(o);
  if (!path || !syntax_load(&syntax, o->rondo, path))
    return EXIT_BAD_INPUT;
  struct binding *bindings = first_bindings(o);
  struct linting l = {.options = o, .style = context_style(o->rondo, o->verbose), .syntax = &syntax, .bindings = bindings};
  int status = EXIT_BAD_INPUT;
  arena_init(&l.arena);
  if (syntax_is_algorithm(&syntax))
    l.model = model_load(&syntax, bindings, o->defines.n, true, false, &error);
  if (l.model)
    status = lint_model(&l);
  model_free(l.model);
  arena_release(&l.arena);
  memory_free(bindings);
  text_release(&error);
  syntax_release(&syntax);
  return status;
}
