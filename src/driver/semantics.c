#include "driver/semantics.h"

#include "async/async.h"
#include "driver/context.h"

#include <string.h>

static const char *const kind_names[] = {"rounds", "message passing", "shared memory", "counters"};

uint32_t semantics_of_kind(enum model_kind kind, const enum semantics **found) {
  static const enum semantics rounds[] = {SEMANTICS_COARSE, SEMANTICS_FINE};
  static const enum semantics messages[] = {SEMANTICS_M, SEMANTICS_M_MP, SEMANTICS_MP};
  static const enum semantics shared[] = {SEMANTICS_INTERLEAVING};
  switch (kind) {
  case MODEL_MESSAGES:
    *found = messages;
    return 3;
  case MODEL_SHARED:
    *found = shared;
    return 1;
  case MODEL_ROUNDS:
  case MODEL_COUNTERS:
    break;
  }
  *found = rounds;
  return 2;
}

bool semantics_find(const struct model *m, const char *name, enum semantics *chosen, struct text *why) {
  const enum semantics *all;
  uint32_t n = semantics_of_kind(m->kind, &all);
  for (uint32_t i = 0; i < n; i++)
    if (!name || !strcmp(name, semantics_name(all[i]))) {
      *chosen = all[i];
      return true;
    }
  text_addf(why, "'%s' is a model of %s, and semantics '%.60s' is not for it\n  help: ", m->name, kind_names[m->kind],
            name);
  text_add(why, n == 1 ? "it has only " : "it has ");
  for (uint32_t i = 0; i < n; i++)
    text_addf(why, "%s'%s'", i == 0 ? "" : i + 1 < n ? ", " : " and ", semantics_name(all[i]));
  return false;
}

bool semantics_choose(const struct model *m, const struct command_options *o, enum semantics *chosen) {
  struct text why = {0};
  bool ok = semantics_find(m, o->has_semantics ? semantics_name(o->semantics) : NULL, chosen, &why);
  if (ok && o->has_semantics && *chosen == SEMANTICS_FINE && m->nprocesses > ASYNC_PROCESSES_MAX) {
    text_addf(&why, "fine rounds are for at most %u processes", ASYNC_PROCESSES_MAX);
    ok = false;
  }
  if (!ok)
    context_error(o->rondo, E0901, "%s", text_or_empty(&why));
  text_release(&why);
  return ok;
}
