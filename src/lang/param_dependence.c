/* Which parameters the types of a model depend on. */
#include "lang/typecheck_counters.h"

#include "base/vec.h"

#include <string.h>

struct param_dependence {
  const struct ast *file;
  const struct counter_system *params; /* parameters with a numeric value depend on nothing */
  VEC(const char *) names;             /* the parameter, and the names whose definitions read it */
};

static bool named(const struct param_dependence *s, const char *name) {
  for (size_t i = 0; i < s->names.n; i++)
    if (strcmp(s->names.at[i], name) == 0)
      return true;
  return false;
}

/* The first place in the tree that reads one of the names; {0, 0}: none. */
static struct span find_read(const struct param_dependence *s, const struct ast *a) {
  if (!a)
    return (struct span){0, 0};
  if ((a->kind == AST_NAME || a->kind == AST_TYPE_NAME || a->kind == AST_CALL) && a->name && named(s, a->name))
    return a->word;
  for (uint32_t i = 0; i < a->n; i++) {
    struct span at = find_read(s, a->kid[i]);
    if (at.to)
      return at;
  }
  return (struct span){0, 0};
}

static bool has_value(const struct param_dependence *s, const char *name) {
  for (uint32_t i = 0; i < s->params->nparams; i++)
    if (strcmp(s->params->params[i].name, name) == 0)
      return s->params->params[i].is && s->params->params[i].is->op == TERM_NUMBER;
  return false;
}

/* Adds the defs and defaults that read one of the names. */
static void add_names(struct param_dependence *s) {
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < s->file->n; i++) {
      const struct ast *d = s->file->kid[i];
      if (d->kind == AST_DEF && !named(s, d->name) && find_read(s, d->kid[2]).to) {
        vec_push(&s->names, d->name);
        more = true;
      }
      for (uint32_t k = 0; d->kind == AST_PARAM && d->kid[2] && k < d->kid[0]->n; k++)
        if (!named(s, d->kid[0]->kid[k]->name) && !has_value(s, d->kid[0]->kid[k]->name) &&
            find_read(s, d->kid[2]).to) {
          vec_push(&s->names, d->kid[0]->kid[k]->name);
          more = true;
        }
    }
  }
}

static struct span find_dependent_type(const struct param_dependence *s, const struct ast *a) {
  if (!a || a->kind == AST_PARAM) /* the range of a parameter is a condition */
    return (struct span){0, 0};
  bool type = a->kind == AST_TYPE_RANGE || a->kind == AST_TYPE_SEQ;
  struct span at = type ? find_read(s, a) : (struct span){0, 0};
  for (uint32_t i = 0; i < a->n && !at.to; i++)
    at = find_dependent_type(s, a->kid[i]);
  return at;
}

struct span param_decides_type(const struct ast *file, const struct counter_system *params, const char *name) {
  struct param_dependence s = {.file = file, .params = params};
  vec_push(&s.names, name);
  add_names(&s);
  struct span at = find_dependent_type(&s, file);
  vec_release(&s.names);
  return at;
}
