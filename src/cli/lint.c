/* rondo lint: warnings, and for each question the licences of the reductions. */
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/question.h"
#include "cli/terminal.h"
#include "report/json_report.h"
#include "report/text_report.h"

struct linting {
  const struct options *options;
  struct model *model;
  struct arena arena;
  struct style style;
};

static void lint_text(struct linting *l, const struct inquiry *q, const struct licences *licences) {
  struct text out = {0}, title = {0};
  const struct model *m = l->model;
  text_addf(&title, "in environment %s", m->environments[q->environment].name);
  for (size_t i = 0; i < q->properties.n; i++)
    text_addf(&title, "%s%s", i ? ", " : ": ", m->properties[q->properties.at[i]].name);
  paint_add(&out, &l->style, PAINT_TITLE, title.at);
  text_add(&out, "\n");
  for (unsigned i = 0; i < REDUCTIONS; i++) {
    const struct licence *licence = &licences->of[i];
    uint32_t line, column;
    if (!licence->concerns)
      continue;
    text_addf(&out, "  %-14s ", reduction_name(i));
    paint_add(&out, &l->style, licence->granted ? PAINT_GOOD : PAINT_UNSURE,
              licence->granted ? "granted" : "refused");
    text_add(&out, "  ");
    if (licence->at.to > 0) {
      source_place(&m->source, licence->at.from, &line, &column);
      text_addf(&out, "%s:%u: ", m->source.path, line);
    }
    text_addf(&out, "%s\n", licence->reason);
    if (l->options->verbose)
      text_addf(&out, "  %-14s          %s\n", "", reduction_text(i));
  }
  text_release(&title);
  say(&out);
}

static json_t *lint_json(struct linting *l, const struct inquiry *q,
                         const struct licences *licences) {
  const struct model *m = l->model;
  json_t *names = json_array();
  for (size_t i = 0; i < q->properties.n; i++)
    json_array_append_new(names, json_string(m->properties[q->properties.at[i]].name));
  return json_pack("{s:s, s:o, s:o}", "environment", m->environments[q->environment].name,
                   "properties", names, "reductions", licences_json(licences, m));
}

static int lint_model(struct linting *l) {
  struct inquiries in;
  if (!inquiries_make(&in, l->model, l->options))
    return EXIT_BAD_INPUT;
  json_t *questions = json_array();
  for (size_t i = 0; i < in.at.n; i++) {
    const struct inquiry *q = &in.at.at[i];
    struct question question = {.environment = q->environment,
                                .properties = q->properties.at,
                                .nproperties = (uint32_t)q->properties.n};
    const struct licences *licences =
        licences_grant(l->model, &question, &l->options->wishes, &l->arena);
    if (l->options->json)
      json_array_append_new(questions, lint_json(l, q, licences));
    else
      lint_text(l, q, licences);
  }
  if (l->options->json) {
    struct text out = {0};
    json_t *j = json_pack("{s:s, s:s, s:O}", "schema", "rondo-lint/1", "model", l->model->name,
                          "questions", questions);
    json_text(j, &out);
    json_decref(j);
    say(&out);
  }
  json_decref(questions);
  inquiries_release(&in);
  return EXIT_HOLDS;
}

int command_lint(const struct options *o) {
  struct syntax syntax;
  struct text error = {0};
  const char *path = only_file(o);
  if (!path || !syntax_load(&syntax, path))
    return EXIT_BAD_INPUT;
  struct binding *bindings = memory_alloc((o->defines.n + 1) * sizeof *bindings);
  for (size_t d = 0; d < o->defines.n; d++)
    bindings[d] = (struct binding){o->defines.at[d].name, o->defines.at[d].low};
  struct linting l = {.options = o, .style = terminal_style(o->verbose)};
  int status = EXIT_BAD_INPUT;
  arena_init(&l.arena);
  if (syntax_is_rounds(&syntax))
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
