/* rondo lint: warnings, and for each query the licences of the reductions. */
#include "analysis/live_formula.h"
#include "base/printable.h"
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/load.h"
#include "driver/prove.h"
#include "driver/query.h"
#include "driver/semantics.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "trace/event_json.h"

struct lint_command {
  const struct command_options *options;
  const struct parsed_file *parsed;
  const struct param_binding *bindings;
  struct model *model; /* the one that is being asked about */
  struct arena arena;
  struct style style;
};

static void lint_line(const struct lint_command *l, const char *name, const struct licence *licence, struct text *out) {
  uint32_t line, column;
  text_addf(out, "  %-14s ", name);
  paint_add(out, &l->style, licence->granted ? PAINT_GOOD : PAINT_UNSURE, licence->granted ? "granted" : "refused");
  text_add(out, "  ");
  if (licence->at.to > 0) {
    source_place(&l->model->source, licence->at.from, &line, &column);
    text_add_printable(out, l->model->source.path);
    text_addf(out, ":%u: ", line);
  }
  text_addf(out, "%s\n", licence->reason);
}

static void lint_text(struct lint_command *l, const struct query *q, const struct licences *licences,
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
    if (l->options->output.verbose)
      text_addf(&out, "  %-14s          %s\n", "", reduction_text(i));
  }
  text_release(&title);
  text_release(&name);
  context_write(l->options->rondo, &out);
}

static json_t *lint_json(struct lint_command *l, const struct query *q, const struct licences *licences,
                         const struct licence *semantics) {
  const struct model *m = l->model;
  json_t *names = json_array();
  for (uint32_t i = 0; i < q->nproperties; i++)
    json_array_append_new(names, json_string(m->properties[q->properties[i]].name));
  return json_pack("{s:s, s:o, s:{s:s, s:b, s:s, s:o}, s:o}", "environment", m->environments[q->environment].name,
                   "properties", names, "semantics", "name", semantics_name(q->semantics), "granted",
                   semantics->granted, "reason", semantics->reason, "line", line_to_json(m, semantics->at),
                   "reductions", licences_json(licences, m));
}

static void lint_query(struct lint_command *l, const struct query *q, json_t *queries) {
  const struct licences *licences = licences_grant(l->model, q, &l->options->requested, &l->arena);
  struct licence chosen = semantics_licence(l->model, q, &l->arena);
  if (l->options->output.json || l->options->rondo->sarif)
    json_array_append_new(queries, lint_json(l, q, licences, &chosen));
  if (!l->options->output.json)
    lint_text(l, q, licences, &chosen);
}

/* The query of a liveness property has a model of its own. */
static bool lint_live(struct lint_command *l, const struct live_query *in, enum semantics semantics, json_t *queries) {
  struct text error = {0};
  struct live_formula form;
  struct model *whole = l->model;
  l->model = model_load(l->parsed, l->bindings, l->options->defines.n, true, true, &error);
  bool ok = l->model;
  if (ok) {
    live_formula_init(&form, l->model, in->property, in->environment);
    lint_query(l,
               &(struct query){.environment = in->environment,
                               .semantics = semantics,
                               .properties = &in->property,
                               .nproperties = 1,
                               .atoms = form.atoms,
                               .natoms = form.natoms},
               queries);
    live_formula_release(&form);
    model_free(l->model);
  }
  l->model = whole;
  text_release(&error);
  return ok;
}

/* ---- how many values are enough for a proof (rondo prove) ---- */

static void lint_cutoff(struct lint_command *l, const char *param, int64_t number, const struct value_cutoff *c,
                        const char *environment, const char *property, json_t *cutoffs) {
  const char *reason = c->why.reason, *also = NULL;
  if (c->granted && c->also != UINT32_MAX)
    also = l->model->properties[c->also].name;
  if (c->granted)
    reason = arena_printf(&l->arena, "%s = %lld is enough, %s%s%s%s", param, (long long)number, c->by,
                          also ? ", if " : "", also ? also : "", also ? " holds" : "");
  json_array_append_new(cutoffs, json_pack("{s:s, s:s, s:s, s:b, s:o, s:s?, s:s, s:o}", "param", param, "environment",
                                           environment, "property", property, "granted", (int)c->granted, "value",
                                           c->granted ? json_integer(number) : json_null(), "also", also, "reason",
                                           reason, "line", line_to_json(l->model, c->why.at)));
  if (l->options->output.json)
    return;
  struct text out = {0};
  lint_line(l, property, &(struct licence){.granted = c->granted, .reason = reason, .at = c->why.at}, &out);
  context_write(l->options->rondo, &out);
}

static void lint_cutoffs_of(struct lint_command *l, const char *param, const struct param_type_size *size,
                            json_t *cutoffs) {
  const struct model *m = l->model;
  for (uint32_t e = 0; e < m->nenvironments; e++) {
    bool titled = l->options->output.json;
    for (uint32_t i = 0; i < m->nproperties; i++) {
      const struct property *p = &m->properties[i];
      bool there = false;
      for (uint32_t k = 0; k < p->nenvironments; k++)
        there |= p->environments[k] == e;
      if (!there || p->kind == PROPERTY_COVER || p->stability_of)
        continue;
      struct query q = {.environment = e, .semantics = SEMANTICS_COARSE, .properties = &i, .nproperties = 1};
      struct value_cutoff c = value_cutoff_of(m, &q, size, l->parsed->tree, &l->arena);
      struct text title = {0};
      text_addf(&title, "for all %s in environment %s", param, m->environments[e].name);
      if (!titled) {
        struct text out = {0};
        paint_add(&out, &l->style, PAINT_TITLE, title.at);
        text_add(&out, "\n");
        context_write(l->options->rondo, &out);
      }
      text_release(&title);
      titled = true;
      lint_cutoff(l, param, param_for_values(size, c.values), &c, m->environments[e].name, p->name, cutoffs);
    }
  }
}

/* The name of each parameter that is the upper bound of a type: looking for all that reads a parameter goes through the
   whole file, so it is done for these alone. */
static const char **upper_bounds(const struct ast *file, size_t *n) {
  const char **names = memory_alloc((file->n + (size_t)1) * sizeof *names);
  *n = 0;
  for (uint32_t i = 0; i < file->n; i++) {
    const struct ast *type = file->kid[i]->kind == AST_TYPEDEF ? file->kid[i]->kid[0] : NULL;
    if (type && type->kind == AST_TYPE_RANGE && type->kid[1]->kind == AST_NAME)
      names[(*n)++] = type->kid[1]->name;
  }
  return names;
}

static bool among(const char *const *names, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

/* Of each parameter that is the number of values of a type, in models of rounds. */
static void lint_cutoffs(struct lint_command *l, json_t *cutoffs) {
  const struct model *m = l->model;
  struct param_type_size size;
  struct span other;
  size_t nbounds;
  const char **bounds = upper_bounds(l->parsed->tree, &nbounds);
  for (uint32_t i = 0; i < m->nparams && m->kind == MODEL_ROUNDS; i++) {
    if (!among(bounds, nbounds, m->params[i].name) ||
        !param_is_type_size(l->parsed->tree, m->params[i].name, &size, &other))
      continue;
    lint_cutoffs_of(l, m->params[i].name, &size, cutoffs);
  }
  memory_free(bounds);
}

static int lint_model(struct lint_command *l) {
  struct query_groups in;
  enum semantics semantics;
  if (!semantics_choose(l->model, l->options, &semantics) || !query_groups_make(&in, l->model, l->options))
    return EXIT_BAD_INPUT;
  json_t *queries = json_array();
  for (size_t i = 0; i < in.at.n; i++)
    lint_query(l,
               &(struct query){.environment = in.at.at[i].environment,
                               .semantics = semantics,
                               .properties = in.at.at[i].properties.at,
                               .nproperties = (uint32_t)in.at.at[i].properties.n},
               queries);
  bool ok = true;
  for (size_t i = 0; i < in.live.n && ok; i++)
    ok = lint_live(l, &in.live.at[i], semantics, queries);
  json_t *cutoffs = json_array();
  lint_cutoffs(l, cutoffs);
  if (l->options->rondo->sarif) {
    json_t *answer = json_pack("{s:O}", "questions", queries);
    sarif_add_lint(l->options->rondo->sarif, answer, l->model->source.path);
    json_decref(answer);
  }
  if (l->options->output.json) {
    struct text out = {0};
    context_json(l->options->rondo,
                 json_pack("{s:s, s:s, s:O, s:O}", "schema", "rondo-lint/1", "model", l->model->name, "questions",
                           queries, "cutoffs", cutoffs),
                 &out);
    context_write(l->options->rondo, &out);
  }
  json_decref(queries);
  json_decref(cutoffs);
  query_groups_release(&in);
  return ok ? EXIT_HOLDS : EXIT_BAD_INPUT;
}

int command_lint(const struct command_options *o) {
  struct loaded_model loaded;
  if (!loaded_model_open(&loaded, o, true))
    return EXIT_BAD_INPUT;
  struct lint_command l = {.options = o,
                           .style = context_style(o->rondo, o->output.verbose),
                           .parsed = &loaded.parsed,
                           .bindings = loaded.bindings,
                           .model = loaded.model};
  arena_init(&l.arena);
  int status = lint_model(&l);
  arena_release(&l.arena);
  loaded_model_close(&loaded);
  return status;
}
