#include "model/counter_system.h"

#include "base/memory.h"

#include <inttypes.h>

void counter_system_free(struct counter_system *s) {
  if (!s)
    return;
  arena_release(&s->arena);
  memory_free(s);
}

void control_value_print(const struct control *c, int64_t value, struct text *out) {
  if (c->kind == CONTROL_TRUTH)
    text_add(out, value ? "true" : "false");
  else if (c->kind == CONTROL_LABELS)
    text_add(out, c->labels[value]);
  else
    text_addf(out, "%" PRId64, value);
}

void counter_params_print(const struct counter_system *s, struct text *out) {
  const char *between = "";
  for (uint32_t i = 0; i < s->nparams; i++)
    if (!s->params[i].is && !s->params[i].of) {
      text_addf(out, "%s%s", between, s->params[i].name);
      between = ", ";
    }
}

void counter_conditions_print(const struct counter_system *s, bool resilience, struct text *out) {
  const char *between = "";
  for (uint32_t i = 0; i < s->nconditions; i++)
    if (!s->conditions[i].hidden && (resilience || !s->conditions[i].resilience)) {
      text_addf(out, "%s%s", between, s->conditions[i].text);
      between = " and ";
    }
}
