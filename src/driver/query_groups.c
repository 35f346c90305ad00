/* Which properties are checked together, in which environment. */
#include "analysis/deadlock.h"
#include "driver/context.h"
#include "driver/load.h"
#include "driver/query.h"
#include "driver/query_symbolic.h"

#include <string.h>

static struct query_group *group_for(struct query_groups *in, uint32_t environment) {
  for (size_t i = 0; i < in->at.n; i++)
    if (in->at.at[i].environment == environment && in->at.at[i].properties.n < QUERY_PROPERTIES_MAX &&
        !in->at.at[i].exclusive)
      return &in->at.at[i];
  vec_push(&in->at, ((struct query_group){.environment = environment}));
  return &in->at.at[in->at.n - 1];
}

static void group_add_property(struct query_groups *in, const struct model *m, uint32_t property,
                               const uint32_t *instead) {
  const struct property *p = &m->properties[property];
  for (uint32_t i = 0; i < p->nenvironments; i++) {
    uint32_t environment = instead ? *instead : p->environments[i];
    if (p->kind == PROPERTY_LIVE)
      vec_push(&in->live, ((struct live_query){property, environment}));
    else if (p->until) { /* its runs end earlier than those of other properties */
      vec_push(&in->at, ((struct query_group){.environment = environment, .exclusive = true}));
      vec_push(&in->at.at[in->at.n - 1].properties, property);
    } else
      vec_push(&group_for(in, environment)->properties, property);
    if (instead)
      return;
  }
}

/* The built-in property `deadlock` has a search of its own, so that the others keep their reductions. It is left out if
   properties were named, if it is allowed, if the engine cannot do it, or if the text excludes deadlocks. */
static void group_add_deadlock(struct query_groups *in, const struct model *m, const struct command_options *o,
                               uint32_t environment) {
  enum symbolic_engine engine;
  if (o->command != COMMAND_CHECK || o->properties.n > 0 || o->deadlock_allowed ||
      symbolic_engine_find(o->engine, &engine))
    return;
  for (uint32_t i = m->nproperties; i < model_nasked(m); i++) {
    const struct property *p = &m->properties[i];
    uint32_t where = o->env ? environment : p->environments[0];
    if (!deadlock_possible(m, where))
      continue;
    vec_push(&in->at, ((struct query_group){.environment = where, .exclusive = true, .unasked = true}));
    vec_push(&in->at.at[in->at.n - 1].properties, i);
  }
}

/* Is it checked if no property is named? */
static bool is_asked_by_default(const struct command_options *o, const struct property *p) {
  return !p->on_request && !(o->deadlock_allowed && !strcmp(p->name, "deadlock"));
}

/* Errors of the model are always checked, so naming them adds nothing. */
static bool is_about_errors(const struct model *m, const char *name) {
  for (uint32_t i = 0; i < m->nproperties; i++)
    if (!strcmp(m->properties[i].name, name))
      return false;
  return !strcmp(name, "no_error");
}

/* Solvers do not check liveness: properties that were not named are left out. Neither does a search with hash
   compaction, which cannot revisit the edges between states. */
static bool live_supported(struct query_groups *in, const struct model *m, const struct command_options *o) {
  enum symbolic_engine engine;
  if (in->live.n > 0 && o->storage.hash_compaction) {
    context_error(o->rondo, E0902,
                  "with '--store hash' no live property can be checked, and '%s' is one\n  help: '--property' names "
                  "those to be checked, "
                  "'--store exact' can do all",
                  m->properties[in->live.at[0].property].name);
    return false;
  }
  if (in->live.n == 0 || !symbolic_engine_find(o->engine, &engine))
    return true;
  if (o->properties.n > 0) {
    context_error(o->rondo, E0902, "engine '%s' cannot do this: '%s' is a live property\n  help: --engine explicit can",
                  o->engine, m->properties[in->live.at[0].property].name);
    return false;
  }
  vec_clear(&in->live);
  return true;
}

bool query_groups_make(struct query_groups *in, const struct model *m, const struct command_options *o) {
  *in = (struct query_groups){0};
  uint32_t environment = 0, property;
  bool *wanted = memory_alloc((model_nasked(m) + (size_t)1) * sizeof *wanted);
  bool ok = !o->env || environment_find(o->rondo, m, o->env, &environment);
  for (size_t i = 0; i < o->properties.n && ok; i++) {
    if (is_about_errors(m, o->properties.at[i]))
      continue;
    ok = property_find(o->rondo, m, o->properties.at[i], &property);
    if (ok)
      wanted[property] = true;
  }
  for (uint32_t i = 0; i < model_nasked(m) && ok; i++)
    if (wanted[i] || (o->properties.n == 0 && is_asked_by_default(o, &m->properties[i])))
      group_add_property(in, m, i, o->env ? &environment : NULL);
  ok = ok && live_supported(in, m, o);
  if (ok && in->at.n == 0 && in->live.n == 0) /* the states are counted, and errors found */
    group_for(in, environment);
  if (ok)
    group_add_deadlock(in, m, o, environment);
  memory_free(wanted);
  if (!ok)
    query_groups_release(in);
  return ok;
}

void query_groups_release(struct query_groups *in) {
  for (size_t i = 0; i < in->at.n; i++)
    vec_release(&in->at.at[i].properties);
  vec_release(&in->at);
  vec_release(&in->live);
}
