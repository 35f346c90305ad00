/* What can be said only of the complete model. */
#include "lang/check_complete.h"

#include "lang/check_internal.h"
#include "model/failing.h"
#include "model/survey.h"

/* A message of rounds that is made up is any of its type, so they must be few enough to try. */
static void check_forged(const struct model *m, uint32_t environment, struct diags *diags) {
  struct question q = {.environment = environment};
  const struct clause *forges = environment_forges(m, &q);
  for (uint32_t r = 0; r < m->nroles && forges; r++)
    for (uint32_t p = 0; p < m->npoints; p++) {
      const struct type *t = m->roles[r].body[p].received;
      if (!t || t->count <= ELEMENTS_MAX)
        continue;
      uint32_t line, column;
      source_place(&m->source, m->roles[r].body[p].at.from, &line, &column);
      diag_error(diags, forges->at, "messages may be made up here, and those of line %u have too many values", line);
      diag_help(diags, type_mentions(t, TYPE_ROUND) ? "a round grows without bound: send a number of a range instead"
                                                    : "send numbers of small ranges: put them into a variable first");
      return;
    }
}

static void warn_of_failing(const struct model *m, uint32_t environment, struct diags *diags) {
  struct question q = {.environment = environment};
  const struct environment *e = &m->environments[environment];
  for (uint32_t i = 0; i < e->nclauses; i++)
    if (e->clauses[i].pred && node_may_fail(m, &q, e->clauses[i].pred, NULL, NULL))
      diag_warning(diags, e->clauses[i].at,
                   "evaluating this condition may be an error of the model; where it is one, it counts as false");
}

void check_complete(const struct model *m, struct diags *diags) {
  for (uint32_t i = 0; i < m->nenvironments && !model_steps(m); i++) {
    check_forged(m, i, diags);
    warn_of_failing(m, i, diags);
  }
}
