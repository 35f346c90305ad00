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

/* ---- the number of values of a type ---- */

static bool is_name(const struct ast *a, const char *name) {
  return a && a->kind == AST_NAME && a->name && strcmp(a->name, name) == 0;
}

/* `k >= 1`, `k > 0`, `1 <= k`, `0 < k`: raises the least value. */
static bool is_lower_bound(const struct ast *a, const char *name, int64_t *least) {
  if (a->kind != AST_RELATION || a->n != 2)
    return false;
  bool left = is_name(a->kid[0], name) && a->kid[1]->kind == AST_NUMBER;
  bool right = is_name(a->kid[1], name) && a->kid[0]->kind == AST_NUMBER;
  bool strict = a->op == (left ? OP_GT : OP_LT), weak = a->op == (left ? OP_GE : OP_LE);
  if (!(left || right) || !(strict || weak))
    return false;
  int64_t bound = a->kid[left ? 1 : 0]->number + (strict ? 1 : 0);
  *least = bound > *least ? bound : *least;
  return true;
}

/* A condition on parameters; {0, 0}: of this one it asks for no more than a lower bound. */
static struct span beyond_lower_bound(const struct param_dependence *s, const struct ast *a, const char *name,
                                      int64_t *least) {
  if (a && a->kind == AST_BINARY && a->op == OP_AND && a->n == 2) {
    struct span at = beyond_lower_bound(s, a->kid[0], name, least);
    return at.to ? at : beyond_lower_bound(s, a->kid[1], name, least);
  }
  struct span at = find_read(s, a);
  return at.to && is_lower_bound(a, name, least) ? (struct span){0, 0} : at;
}

static bool declares(const struct ast *param, const char *name) {
  for (uint32_t i = 0; i < param->kid[0]->n; i++)
    if (is_name(param->kid[0]->kid[i], name))
      return true;
  return false;
}

static struct span read_by_param(const struct param_dependence *s, const struct ast *d, const char *name,
                                 int64_t *least) {
  bool own = declares(d, name);
  if (own && d->kid[1] && d->kid[1]->kind != AST_TYPE_INT)
    return d->kid[1]->at;
  struct span at = find_read(s, d->kid[1]);
  if (!at.to && (!own || d->kid[0]->n > 1))
    at = find_read(s, d->kid[2]);
  return at.to ? at : beyond_lower_bound(s, d->kid[3], name, least);
}

bool param_is_type_size(const struct ast *file, const char *name, struct param_type_size *out, struct span *other) {
  struct counter_system none = {0};
  struct param_dependence s = {.file = file, .params = &none};
  *out = (struct param_type_size){.least = INT64_MIN};
  *other = (struct span){0, 0};
  vec_push(&s.names, name);
  for (uint32_t i = 0; i < file->n; i++) {
    const struct ast *d = file->kid[i];
    const struct ast *type = d->kind == AST_TYPEDEF ? d->kid[0] : NULL;
    struct span at = {0, 0};
    if (d->kind == AST_PARAM) {
      at = read_by_param(&s, d, name, &out->least);
    } else if (type && type->kind == AST_TYPE_RANGE && is_name(type->kid[1], name) &&
               type->kid[0]->kind == AST_NUMBER && !out->type) {
      out->type = d->name;
      out->low = type->kid[0]->number;
    } else {
      at = find_read(&s, d);
    }
    *other = other->to ? *other : at;
  }
  for (uint32_t i = 0; i < file->n && out->type && !other->to; i++) { /* another name of the type is another type */
    const struct ast *type = file->kid[i]->kind == AST_TYPEDEF ? file->kid[i]->kid[0] : NULL;
    if (type && type->kind == AST_TYPE_NAME && strcmp(type->name, out->type) == 0)
      *other = type->at;
  }
  vec_release(&s.names);
  if (out->least < out->low) /* no range is empty */
    out->least = out->low;
  return out->type && !other->to;
}
